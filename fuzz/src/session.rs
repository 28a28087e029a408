//! A run of the tester: workers that take one kind after the other, failures as they come, and the summary.

use crate::args::Args;
use anyhow::{Context as _, Result};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use trommel_fuzz::kind::{Kind, Live, MANY_ITEMS, Scope};
use trommel_fuzz::machine::{Machine, Opening};
use trommel_fuzz::profiles::Forced;
use trommel_fuzz::shrink::{Failure, describe};
use trommel_fuzz::tally::Tally;
use trommel_fuzz::tester::{Outcome, Submission, Tester, Verdict};

/// Most items of a request on a CPU.
const FEW_ITEMS: u32 = 2500;
/// Failures that are simplified; all others are only reported.
const MOST_SHRUNK: u32 = 3;
/// Failures that are reported.
const MOST_TOLD: u64 = 30;
/// How often a failing case is run by itself, to say how often it fails.
const AGAIN: u32 = 10;
/// How long a worker may take for a kind's handles or for a submission, besides what the device may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// After how long a worker is reported as slow, and again each time that it has taken twice as long.
const SLOW: Duration = Duration::from_secs(15);

/// How often the numbers so far are printed: a run that is killed says this much.
const PERIOD: Duration = Duration::from_secs(60);

/// Begin and description of a task.
type Task = (Instant, String);

/// The present task of a worker.
#[derive(Default)]
struct Doing {
    /// None: it has not begun, or has ended.
    task: Mutex<Option<Task>>,
    /// Whether it waits for a submission, once it has a device.
    is_waiting: OnceLock<Arc<AtomicBool>>,
}

impl Doing {
    fn begin(&self, what: String) {
        *lock(&self.task) = Some((Instant::now(), what));
    }

    /// Where the task is at this moment.
    fn place(&self) -> &'static str {
        let is_waiting = self.is_waiting.get().is_some_and(|is_waiting| is_waiting.load(Ordering::Relaxed));
        if is_waiting { "waits for the device" } else { "on the host" }
    }
}

/// What was printed while the workers ran.
struct Told {
    /// The time that was last reported of a task.
    reported: HashMap<Task, Duration>,
    /// After how long the numbers are printed next.
    next_line: Duration,
}

/// State that all workers share.
struct Session<'a> {
    args: &'a Args,
    opening: Opening,
    scope: Scope,
    started: Instant,
    next_kind: AtomicU64,
    cases: AtomicU64,
    failures: AtomicU64,
    /// Workers end as soon as it is set.
    stop: AtomicBool,
    /// Whether a device hangs or is lost.
    is_broken: AtomicBool,
    tally: Mutex<Tally>,
    errors: Mutex<Vec<String>>,
    /// Reports of failures so far.
    reported: Mutex<Vec<String>>,
    /// Of each worker.
    doing: Vec<Doing>,
    /// Workers that have not tested all of their cases yet.
    working: AtomicUsize,
    /// Workers, the first ones, that may close their device and end.
    ending: AtomicUsize,
    /// How long a submission may take.
    patience: Duration,
    /// How long a failure is simplified.
    shrink_time: Duration,
    bar: ProgressBar,
}

/// Runs the tests that the command line selects. Returns false if a case is wrong.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let session = Session::new(args)?;
    session.run();
    session.finish()
}

/// The numbers of the first and of the last case.
fn ends(submission: &Submission) -> [u64; 2] {
    [submission.cases.first(), submission.cases.last()].map(|case| case.map_or(0, |(number, _)| *number))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Session<'a> {
    fn new(args: &'a Args) -> Result<Self> {
        let opening = Opening { device: args.device.clone(), validate: args.validate, patience: None };
        let machine = Machine::open(&opening)?;
        let (device, patience) = (machine.context().device(), machine.patience());
        let (facts, forced) = (device.facts().clone(), Forced::new(&args.set)?);
        let built_in = forced.apply(device.profile().clone())?.checked(&facts)?;
        let max_items = args.max_items.unwrap_or(if facts.is_cpu { FEW_ITEMS } else { MANY_ITEMS });
        let (least, most) = (facts.min_lanes, facts.max_lanes);
        println!(
            "{}, {least} to {most} lanes: seed {}, at most {max_items} items",
            machine.context().name(),
            args.seed
        );
        let scope = Scope {
            seed: args.seed,
            facts,
            built_in,
            forced,
            which: args.profile.into(),
            only: args.only.clone(),
            max_items,
        };
        let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = if args.kind.is_some() { 1 } else { args.threads.unwrap_or(cores).max(1) };
        Ok(Self {
            args,
            opening,
            scope,
            started: Instant::now(),
            next_kind: AtomicU64::new(args.kind.unwrap_or(args.from)),
            cases: AtomicU64::new(0),
            failures: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            is_broken: AtomicBool::new(false),
            tally: Mutex::default(),
            errors: Mutex::default(),
            reported: Mutex::default(),
            doing: (0..threads).map(|_| Doing::default()).collect(),
            working: AtomicUsize::new(threads),
            ending: AtomicUsize::new(0),
            patience,
            shrink_time: Duration::from_secs(60),
            bar: ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner())),
        })
    }

    /// Runs all workers until the last of them ends.
    ///
    /// Devices are closed one after the other, after the last case, and the thread of each ends before the next is
    /// closed: a driver (NVIDIA 580.159.04) waits forever if other threads use it or end meanwhile.
    fn run(&self) {
        thread::scope(|scope| {
            let workers: Vec<_> = (0..self.doing.len()).map(|worker| scope.spawn(move || self.work(worker))).collect();
            let mut told = Told { reported: HashMap::new(), next_line: PERIOD };
            self.watch_while(&mut told, || self.working.load(Ordering::Acquire) > 0);
            for (worker, handle) in workers.into_iter().enumerate() {
                self.ending.store(worker + 1, Ordering::Release);
                handle.thread().unpark();
                self.watch_while(&mut told, || !handle.is_finished());
                if handle.join().is_err() {
                    lock(&self.errors).push("a worker panicked while it closed its device".into());
                }
            }
        });
        self.bar.finish_and_clear();
    }

    /// Says how far the run is and which workers are slow, while the condition holds. Ends the process if one is stuck.
    fn watch_while(&self, told: &mut Told, condition: impl Fn() -> bool) {
        while condition() {
            let [kinds, cases, wrong] =
                [&self.next_kind, &self.cases, &self.failures].map(|count| count.load(Ordering::Relaxed));
            let numbers = format!("{kinds} kinds, {cases} cases, {wrong} wrong");
            if self.started.elapsed() >= told.next_line {
                self.bar.suspend(|| println!("after {} s: {numbers}", told.next_line.as_secs()));
                told.next_line += PERIOD;
            }
            self.bar.set_message(numbers);
            if let Some(text) = self.stuck() {
                self.bar.finish_and_clear();
                println!("{text}{}", lock(&self.tally).summary(self.started.elapsed()));
                // A worker that does not end cannot be waited for.
                std::process::exit(1);
            }
            self.report_slow(&mut told.reported);
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Reports tasks that take long.
    fn report_slow(&self, reported: &mut HashMap<Task, Duration>) {
        for doing in &self.doing {
            let Some(task) = lock(&doing.task).clone() else { continue };
            let next = reported.get(&task).map_or(SLOW, |last| *last * 2);
            if task.0.elapsed() >= next {
                self.bar.suspend(|| println!("slow: {}, for {} s so far, {}", task.1, next.as_secs(), doing.place()));
                reported.insert(task, next);
            }
        }
    }

    /// If a worker takes too long: what all workers do.
    fn stuck(&self) -> Option<String> {
        // Failures of one submission are simplified one after the other.
        let simplified = if self.args.no_shrink { Duration::ZERO } else { self.shrink_time * MOST_SHRUNK };
        let patience = self.patience + PATIENCE + simplified;
        let is_patient = |doing: &Doing| lock(&doing.task).as_ref().is_none_or(|(since, _)| since.elapsed() < patience);
        (!self.doing.iter().all(is_patient)).then(|| format!("STUCK\n{}", self.tasks()))
    }

    /// What each worker does, a line for each.
    fn tasks(&self) -> String {
        let line = |doing: &Doing| {
            let (since, what) = lock(&doing.task).clone()?;
            Some(format!("{what}, for {:.1} s, {}\n", since.elapsed().as_secs_f64(), doing.place()))
        };
        self.doing.iter().filter_map(line).collect()
    }

    /// Runs one worker on its own device: kind after kind until the run is over, or the kind of the command line.
    fn work(&self, worker: usize) {
        let doing = &self.doing[worker];
        let mut tester = None;
        let tested = panic::catch_unwind(AssertUnwindSafe(|| self.test(doing, &mut tester)))
            .unwrap_or_else(|_| Err(anyhow::anyhow!("a worker panicked")));
        if let Err(error) = tested {
            // At once: another worker may not end.
            self.bar.suspend(|| println!("error: {error:#}"));
            lock(&self.errors).push(format!("{error:#}"));
            self.stop.store(true, Ordering::Relaxed);
        }
        *lock(&doing.task) = None;
        self.working.fetch_sub(1, Ordering::Release);
        while self.ending.load(Ordering::Acquire) <= worker {
            thread::park();
        }
        doing.begin("closing a device".into());
        drop(tester);
        *lock(&doing.task) = None;
    }

    /// Tests kind after kind. The tester is the caller's: it is closed later.
    fn test<'s>(&'s self, doing: &Doing, tester: &mut Option<Tester<'s>>) -> Result<()> {
        let machine = Machine::open(&self.opening)?;
        let _ = doing.is_waiting.set(machine.is_waiting());
        let tester = tester.insert(Tester::new(&self.scope, machine, self.args.plant));
        let mut tally = Tally::default();
        while !self.is_over() {
            let number = self.next_kind.fetch_add(1, Ordering::Relaxed);
            let done = self.kind(tester, (doing, number), &mut tally);
            done.with_context(|| format!("kind {number}: {}", self.args.reproducer(number, None)))?;
            if self.args.kind.is_some() {
                break;
            }
        }
        tally.variants = tester.machine.variants();
        lock(&self.tally).add(&tally);
        Ok(())
    }

    fn is_over(&self) -> bool {
        let by_cases = self.args.cases.is_some_and(|cases| self.cases.load(Ordering::Relaxed) >= cases);
        let by_time = self.args.cases.is_none() && self.started.elapsed().as_secs_f64() >= 60.0 * self.args.minutes;
        self.stop.load(Ordering::Relaxed) || self.args.kind.is_none() && (by_cases || by_time)
    }

    fn kind(&self, tester: &mut Tester<'_>, (doing, number): (&Doing, u64), tally: &mut Tally) -> Result<()> {
        doing.begin(format!("drawing kind {number}"));
        let kind = Kind::draw(&self.scope, number, &tester.machine)?;
        let live = kind.live(&self.scope, &tester.machine)?;
        tally.kinds += 1;
        tally.refused.iter_mut().zip(kind.refused).for_each(|(all, more)| *all += u64::from(more));
        let mut submissions = tester.submissions(&kind, &live, number, tally);
        if let Some(wanted) = self.args.case {
            let all = submissions.into_iter().flat_map(|submission| submission.cases);
            let case = all.into_iter().find(|(number, _)| *number == wanted).context("the kind has no such case")?;
            println!(
                "{}",
                describe(&Failure { kind: kind.clone(), case: case.1.clone(), verdict: Verdict::Right }, &self.scope)
            );
            submissions = vec![Submission::alone(case.0, case.1)];
        }
        let mut again = (0..self.args.repeat.max(1)).flat_map(|_| &submissions).take_while(|_| !self.is_over());
        let done = again.try_for_each(|submission| {
            let [first, last] = ends(submission);
            doing.begin(format!("executing kind {number}, cases {first} to {last}"));
            self.submission(tester, (number, &kind, &live), submission, tally)
        });
        doing.begin(format!("ending kind {number}"));
        tester.machine.retire(&live.device);
        done
    }

    /// Describes all cases of a submission.
    fn describe(&self, kind: &Kind, submission: &Submission) -> String {
        let cases = submission.cases.iter().map(|(index, case)| {
            let failure = Failure { kind: kind.clone(), case: case.clone(), verdict: Verdict::Right };
            format!("case {index}:\n{}", describe(&failure, &self.scope))
        });
        cases.collect()
    }

    fn submission(
        &self,
        tester: &mut Tester<'_>,
        (number, kind, live): (u64, &Kind, &Live),
        submission: &Submission,
        tally: &mut Tally,
    ) -> Result<()> {
        let [first, last] = ends(submission);
        if self.args.trace {
            eprintln!("kind {number}, cases {first} to {last}:\n{}", self.describe(kind, submission));
        }
        // Of failures that were simplified.
        tester.machine.take_device_time();
        let outcome = tester.execute(live, submission, tally)?;
        let on_device = tester.machine.take_device_time();
        if on_device >= SLOW {
            self.bar.suspend(|| {
                println!(
                    "slow: {} s from submission to fence in kind {number}, cases {first} to {last}",
                    on_device.as_secs()
                );
            });
        }
        match outcome {
            Outcome::Broken(end) => {
                let others = self.tasks();
                let text = format!("{end:?} in cases {first} to {last}: {}", self.args.reproducer(number, None));
                self.bar.suspend(|| println!("{text}\n{}", tester.machine.fault(&end)));
                if self.is_broken.swap(true, Ordering::Relaxed) {
                    // The worker of the first broken device ends the process.
                    loop {
                        thread::park();
                    }
                }
                self.bar.suspend(|| println!("at the same time:\n{others}"));
                // Other devices may break by the same fault.
                thread::sleep(Duration::from_secs(2));
                self.bar.finish_and_clear();
                println!("{}", self.describe(kind, submission));
                tally.wrong += 1;
                tally.cases += 1;
                tally.variants = tester.machine.variants();
                lock(&self.tally).add(tally);
                // Nothing can be destroyed on a device that hangs.
                println!("{}", lock(&self.tally).summary(self.started.elapsed()));
                std::process::exit(1);
            }
            Outcome::Done(verdicts) => {
                Tester::count(kind, submission, &verdicts, tally);
                self.cases.fetch_add(submission.cases.len() as u64, Ordering::Relaxed);
                for ((case_number, case), verdict) in submission.cases.iter().zip(verdicts) {
                    if verdict != Verdict::Right {
                        let failure = Failure { kind: kind.clone(), case: case.clone(), verdict };
                        self.failure(tester, number, *case_number, failure)?;
                    }
                }
                self.messages(tester, number)
            }
        }
    }

    /// Fails if the validation layer has reported messages.
    fn messages(&self, tester: &Tester<'_>, number: u64) -> Result<()> {
        let messages = tester.machine.messages();
        anyhow::ensure!(
            messages.is_empty(),
            "the validation layer says, by {}:\n{}",
            self.args.reproducer(number, None),
            messages.join("\n")
        );
        Ok(())
    }

    /// Reports a failing case: its differences, how often it fails by itself, and its simplified form.
    fn failure(&self, tester: &mut Tester<'_>, number: u64, case_number: u64, failure: Failure) -> Result<()> {
        let count = self.failures.fetch_add(1, Ordering::Relaxed);
        if count >= MOST_TOLD {
            return Ok(());
        }
        let mut text =
            format!("WRONG {}\n{}", self.args.reproducer(number, Some(case_number)), describe(&failure, &self.scope));
        if count < MOST_SHRUNK.into() {
            let mut wrong = 0;
            for _ in 0..AGAIN {
                let verdict = tester.verdict(&failure.kind, case_number, &failure.case, 1);
                let verdict = verdict.with_context(|| text.clone())?;
                wrong += u32::from(verdict != Verdict::Right);
            }
            text += &format!("  by itself wrong {wrong} of {AGAIN} times\n");
            if wrong == 0 {
                text += &format!("  together with others: {}\n", self.args.reproducer(number, None));
            } else if !self.args.no_shrink {
                let simple = tester.shrink(case_number, failure, self.shrink_time)?;
                text += &format!("simplified:\n{}", describe(&simple, &self.scope));
            }
        }
        self.bar.suspend(|| println!("{text}"));
        lock(&self.reported).push(text);
        Ok(())
    }

    fn finish(&self) -> Result<bool> {
        let tally = lock(&self.tally);
        let errors = lock(&self.errors);
        println!("{}", tally.summary(self.started.elapsed()));
        Ok(tally.wrong == 0 && errors.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;
    use trommel_fuzz::random::Random;

    fn args(line: &str) -> Args {
        Args::try_parse_from(format!("trommel-fuzz --threads 1 --max-items 300 {line}").split_whitespace()).unwrap()
    }

    #[test]
    fn what_is_right_passes() {
        let args = args("--seed 5 --cases 20 --profile built-in --only sort");
        let session = Session::new(&args).unwrap();
        session.run();
        let tally = lock(&session.tally).clone();
        assert!(tally.cases >= 20 && tally.requests["sort"] >= 20, "{tally:?}");
        assert!(!tally.variants.is_empty(), "kernels ran");
        assert_eq!(*lock(&session.reported), [""; 0]);
        assert!(session.finish().unwrap());
    }

    #[test]
    fn a_planted_error_is_reported_with_its_reproducer_and_simplified() {
        let args = args("--seed 5 --kind 0 --case 3 --profile built-in --only split --plant 2");
        let session = Session { shrink_time: Duration::from_secs(3), ..Session::new(&args).unwrap() };
        session.run();
        let reported = lock(&session.reported).clone();
        assert_eq!(reported.len(), 1);
        let reproducer =
            "WRONG trommel-fuzz --seed 5 --kind 0 --case 3 --profile built-in --only split --max-items 300\n";
        for part in [
            reproducer,
            "wrong: ",
            "items wrong, first at",
            "by itself wrong 10 of 10 times",
            "simplified:\n",
            "handle 0: SplitterInfo",
        ] {
            assert!(reported[0].contains(part), "{} should say: {part}", reported[0]);
        }
        assert_eq!(lock(&session.tally).wrong, 1);
        assert!(!session.finish().unwrap());
    }

    #[test]
    fn a_stuck_worker_is_named() {
        let args = args("--seed 5 --no-shrink");
        let session = Session { patience: Duration::ZERO, ..Session::new(&args).unwrap() };
        let begun = |ago| {
            *lock(&session.doing[0].task) = Instant::now().checked_sub(ago).map(|since| (since, "waiting".into()))
        };
        assert_eq!(session.stuck(), None, "it has not begun");
        begun(PATIENCE - Duration::from_secs(30));
        assert_eq!(session.stuck(), None, "it may take so long");
        begun(PATIENCE + Duration::from_secs(1));
        assert_eq!(session.stuck().as_deref(), Some("STUCK\nwaiting, for 61.0 s, on the host\n"));
    }

    #[test]
    fn kinds_and_cases_are_the_same_again() {
        let args = args("--seed 8");
        let session = Session::new(&args).unwrap();
        let draw = || {
            let tester = Tester::new(&session.scope, Machine::open(&session.opening).unwrap(), 0);
            let mut all = Vec::new();
            for number in 0..6 {
                let kind = Kind::draw(&session.scope, number, &tester.machine).unwrap();
                let live = kind.live(&session.scope, &tester.machine).unwrap();
                let handles: Vec<_> = kind.handles.iter().map(|info| info.describe()).collect();
                let submissions = tester.submissions(&kind, &live, number, &mut Tally::default());
                let cases: Vec<_> = submissions.into_iter().flat_map(|submission| submission.cases).collect();
                let (_, case) = &cases[Random::of(&[number]).index(cases.len())];
                let image = case.image(&live, case.scratch_size(&live).unwrap());
                all.push((kind.profile.to_string(), handles, cases, image.before, image.expected));
            }
            all
        };
        let [first, second] = [draw(), draw()];
        for (number, (first, second)) in first.iter().zip(&second).enumerate() {
            assert!(first == second, "kind {number} is another one");
        }
        assert!(first.windows(2).all(|pair| pair[0].1 != pair[1].1), "kinds differ");
    }
}
