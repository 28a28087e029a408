//! Runs steps, whatever becomes of them, and adds up.

use crate::{
    budgets::{self, Time},
    log::{Count, binaries, count, failures, not_run},
    process::{End, Ended, Interrupt, run_logged},
    progress::Progress,
    report::{self, Report, Verdict},
    workspace,
};
use anyhow::{Context, Result};
use indicatif::{HumanDuration, MultiProgress};
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// Commands that run until one fails, under one name, one log and one limit of time.
pub(crate) struct Step {
    pub(crate) name: String,
    /// Names of earlier steps without which this one makes no sense.
    pub(crate) needs: Vec<String>,
    /// Why this machine cannot run it.
    unavailable: Option<String>,
    /// Whether it may run at the same time as neighbors that may, too.
    beside: bool,
    /// Tests that must have run.
    expected: Vec<String>,
    limit: Duration,
    pub(crate) commands: Vec<Command>,
}

impl Step {
    pub(crate) fn new(name: impl Into<String>, minutes: u64, commands: impl IntoIterator<Item = Command>) -> Self {
        Self {
            name: name.into(),
            needs: Vec::new(),
            unavailable: None,
            beside: false,
            expected: Vec::new(),
            limit: minutes_long(minutes),
            commands: commands.into_iter().collect(),
        }
    }

    /// A step that this machine cannot run, for this reason.
    pub(crate) fn unavailable(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self { unavailable: Some(why.into()), ..Self::new(name, 0, []) }
    }

    pub(crate) fn needs(mut self, names: &[&str]) -> Self {
        self.needs.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }

    /// Lets it run at the same time as its neighbors of this kind. It needs none of them.
    pub(crate) fn beside(mut self) -> Self {
        self.beside = true;
        self
    }

    /// Fails it unless tests of these names have run and passed.
    pub(crate) fn expects(mut self, tests: &[&str]) -> Self {
        self.expected.extend(tests.iter().map(|test| (*test).to_owned()));
        self
    }
}

pub(crate) fn minutes_long(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// How many steps run at a time. At the ends of test binaries, a single step leaves cores idle.
const WORKERS: usize = 2;

/// The environment variable with the number of test threads.
pub(crate) const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// Test threads of each of these. Tests wait for threads of a CPU driver: as many as there are cores kept 1.4 of two
/// busy.
fn test_threads(workers: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (2 * cores).div_ceil(workers)
}

/// Lines of a failed step's log that are printed.
const LOG_LINES: usize = 400;

/// When a run must end.
#[derive(Clone, Copy)]
struct Deadline {
    start: Instant,
    limit: Option<Duration>,
}

impl Deadline {
    /// The end of a step that starts now, and whether that is the deadline and not the step's own limit. `None`: too
    /// late to start.
    fn end_of(self, now: Instant, limit: Duration) -> Option<(Instant, bool)> {
        let own = now + limit;
        let Some(end) = self.limit.map(|limit| self.start + limit) else { return Some((own, false)) };
        (now < end).then(|| if end < own { (end, true) } else { (own, false) })
    }
}

/// What has been run so far.
pub(crate) struct Runner {
    logs: PathBuf,
    interrupt: Interrupt,
    bars: MultiProgress,
    deadline: Deadline,
    reports: Mutex<Vec<Report>>,
}

impl Runner {
    /// No step starts or goes on when the whole run has taken `limit`.
    pub(crate) fn new(limit: Option<Duration>) -> Result<Self> {
        let logs = workspace::target().join("test-logs");
        fs::create_dir_all(&logs)?;
        Self::logging_to(logs, limit)
    }

    fn logging_to(logs: PathBuf, limit: Option<Duration>) -> Result<Self> {
        let deadline = Deadline { start: Instant::now(), limit };
        Ok(Self {
            logs,
            interrupt: Interrupt::watch()?,
            bars: MultiProgress::new(),
            deadline,
            reports: Mutex::default(),
        })
    }

    /// Runs them all, but those that need one that failed.
    pub(crate) fn run(&self, steps: Vec<Step>) {
        let done = self.lock().len();
        let total = done + steps.len();
        let mut steps = (done + 1..).zip(steps).peekable();
        while let Some(step) = steps.next() {
            let beside = step.1.beside;
            let mut group = vec![step];
            while let Some(step) = steps.next_if(|(_, step)| beside && step.beside) {
                group.push(step);
            }
            self.run_group(group, total);
        }
    }

    /// Those that may run beside one another, or a single one.
    fn run_group(&self, group: Vec<(usize, Step)>, total: usize) {
        let workers = WORKERS.min(group.len());
        let test_threads = test_threads(workers).to_string();
        let queue = Mutex::new(group.into_iter());
        let work = || {
            // The lock is not held while a step runs.
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some((number, mut step)) = next() {
                for command in &mut step.commands {
                    // A step may say it itself.
                    if command.get_envs().all(|(name, _)| name != TEST_THREADS) {
                        command.env(TEST_THREADS, &test_threads);
                    }
                }
                let report = self.report(number, total, step);
                self.lock().push(report);
            }
        };
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work);
            }
        });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Report>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, number: usize, total: usize, step: Step) -> Report {
        let title = format!("[{number:2}/{total}] {}", step.name);
        let not_run = |verdict, why: &str| {
            println!("{title}: {why}");
            Report::not_run(number, step.name.clone(), verdict)
        };
        if let Some(why) = &step.unavailable {
            return not_run(Verdict::Skipped(why.clone()), &format!("left out: {why}"));
        }
        if let Some(need) = step.needs.iter().find(|need| !self.passed(need)) {
            let why = format!("it needs `{need}`");
            return not_run(Verdict::Skipped(why.clone()), &format!("left out: {why}"));
        }
        let too_late = || HumanDuration(self.deadline.limit.unwrap_or_default());
        let Some((end, cut)) = self.deadline.end_of(Instant::now(), step.limit) else {
            let why = format!("not started: the run's limit of {} is over", too_late());
            return not_run(Verdict::Failed(why.clone()), &why);
        };
        if let Err(error) = self.interrupt.check() {
            return not_run(Verdict::Failed(format!("not started: {error}")), &format!("{error}"));
        }
        let limit = if cut {
            format!("the run's limit of {}", too_late())
        } else {
            format!("its limit of {}", HumanDuration(step.limit))
        };
        let path = self.logs.join(format!("{number:02}.log"));
        self.run_step(number, step, &title, &path, end, &limit)
    }

    fn passed(&self, name: &str) -> bool {
        self.lock().iter().any(|report| report.name == name && report.verdict == Verdict::Passed)
    }

    /// `limit` names what ends at `end`.
    fn run_step(&self, number: usize, step: Step, title: &str, path: &Path, end: Instant, limit: &str) -> Report {
        let start = Instant::now();
        let progress = Progress::new(&self.bars, title, path);
        let tick = || {
            progress.tick(start.elapsed());
            self.interrupt.check()
        };
        let mut cpu = Duration::ZERO;
        let trouble = run_commands(step.commands, path, end, limit, tick, &mut cpu);
        let elapsed = start.elapsed();
        let text = String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let failed = |error: anyhow::Error| [vec![format!("{error:#}")], failures(&text)].concat().join(", ");
        let trouble = trouble.err().map(failed).or_else(|| missing(&step.expected, &text));
        let count = count(&text, trouble.is_some());
        let seconds = elapsed.as_secs_f64();
        progress.finish(&match &trouble {
            None => format!("{title}: ok, {}{seconds:.1} s", tests(count)),
            Some(trouble) => {
                format!("{title}: FAILED, {trouble}, {}{seconds:.1} s\n{}", tests(count), tail(&text, path))
            }
        });
        let verdict = trouble.map_or(Verdict::Passed, Verdict::Failed);
        Report { number, name: step.name, verdict, count, elapsed, cpu, binaries: binaries(&text) }
    }

    /// Prints the table, why steps failed or were left out, and what took too long, which fails the run when `enforce`;
    /// returns the sum.
    pub(crate) fn finish(self, budgets: Option<&[Time]>, enforce: bool) -> Result<Count> {
        let mut reports = self.reports.into_inner().unwrap_or_else(PoisonError::into_inner);
        reports.sort_by_key(|report| report.number);
        let whole = self.deadline.start.elapsed();
        let times = report::times(&reports, whole);
        println!("\n{}\n{}", report::table(&reports, whole), report::reasons(&reports));
        let mut sum = report::sum(&reports);
        for overrun in budgets.map(|budgets| budgets::overruns(budgets, &times)).unwrap_or_default() {
            println!("{}: {overrun}", if enforce { "failed" } else { "slow" });
            sum.failed += u32::from(enforce);
        }
        let path = self.logs.join("times.txt");
        fs::write(&path, budgets::rows(&times)).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(sum)
    }
}

/// Runs the commands until one fails. Their CPU time is added to `cpu`.
fn run_commands(
    commands: Vec<Command>,
    path: &Path,
    end: Instant,
    limit: &str,
    tick: impl Fn() -> Result<()>,
    cpu: &mut Duration,
) -> Result<()> {
    let mut log = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    for command in commands {
        writeln!(log, "$ {}", shown(&command))?;
        let ended: Ended = run_logged(command, &log, end, &tick)?;
        *cpu += ended.cpu;
        match ended.end {
            End::Exited(status) => anyhow::ensure!(status.success(), "{status}"),
            End::TimedOut => anyhow::bail!("ended after {limit}"),
        }
    }
    Ok(())
}

/// What to say of expected tests that have not run.
fn missing(expected: &[String], log: &str) -> Option<String> {
    let missing = not_run(expected, log);
    (!missing.is_empty()).then(|| format!("these tests did not run: {}", missing.join(", ")))
}

fn tests(count: Count) -> String {
    match count {
        Count { passed: 0 | 1, failed: 0 | 1, .. } => String::new(),
        Count { passed, failed: 0, .. } => format!("{passed} tests, "),
        Count { passed, failed, .. } => format!("{failed} of {} tests, ", passed + failed),
    }
}

/// The last lines of a log, indented.
fn tail(text: &str, path: &Path) -> String {
    let lines: Vec<_> = text.lines().collect();
    let left_out = lines.len().saturating_sub(LOG_LINES);
    let note = (left_out > 0).then(|| format!("({left_out} lines before these in {})", workspace::shown(path)));
    let lines = note.iter().map(String::as_str).chain(lines[left_out..].iter().copied());
    lines.map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// The command as a shell would take it, with the variables that it adds.
fn shown(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={} ", name.to_string_lossy(), value?.to_string_lossy())) //
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.to_string_lossy());
    variables.collect::<String>() + &words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Deadline, Report, Runner, Step, Verdict, report};
    use crate::log::Count;
    use std::{
        fs,
        path::Path,
        process::Command,
        time::{Duration, Instant},
    };

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    /// The reports of these steps, in order, with logs in a folder of this name.
    fn run(name: &str, limit: Option<Duration>, steps: Vec<Step>) -> Vec<Report> {
        let logs = std::env::temp_dir().join(format!("trommel-xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(&logs).unwrap();
        let runner = Runner::logging_to(logs.clone(), limit).unwrap();
        runner.run(steps);
        let mut reports = runner.reports.into_inner().unwrap();
        reports.sort_by_key(|report| report.number);
        fs::remove_dir_all(Path::new(&logs)).unwrap();
        reports
    }

    #[test]
    fn the_nearer_limit_ends_a_step() {
        let start = Instant::now();
        let seconds = Duration::from_secs;
        let deadline = Deadline { start, limit: Some(seconds(80)) };
        assert_eq!(deadline.end_of(start + seconds(10), seconds(20)), Some((start + seconds(30), false)));
        assert_eq!(deadline.end_of(start + seconds(70), seconds(20)), Some((start + seconds(80), true)));
        assert_eq!(deadline.end_of(start + seconds(80), seconds(20)), None);
        let none = Deadline { start, limit: None };
        assert_eq!(none.end_of(start + seconds(100), seconds(20)), Some((start + seconds(120), false)));
    }

    #[test]
    fn a_run_ends_at_its_deadline() {
        let start = Instant::now();
        let steps = vec![
            Step::new("quick", 1, [shell("true")]),
            Step::new("slow", 1, [shell("sleep 60")]),
            Step::new("late", 1, [shell("true")]),
            Step::unavailable("missing", "not here"),
        ];
        let reports = run("deadline", Some(Duration::from_secs(2)), steps);
        assert!(start.elapsed() < Duration::from_secs(40));
        assert_eq!(reports[0].verdict, Verdict::Passed);
        assert_eq!(reports[1].verdict, Verdict::Failed("ended after the run's limit of 2 seconds".to_owned()));
        assert_eq!(reports[2].verdict, Verdict::Failed("not started: the run's limit of 2 seconds is over".to_owned()));
        assert_eq!(reports[3].verdict, Verdict::Skipped("not here".to_owned()));
        assert_eq!(report::sum(&reports), Count { passed: 1, failed: 2, skipped: 1 });
    }

    #[test]
    fn steps_that_need_a_failed_one_are_left_out() {
        let steps = vec![
            Step::new("build", 1, [shell("false")]),
            Step::new("tests", 1, [shell("true")]).needs(&["build"]),
            Step::new("docs", 1, [shell("true")]),
        ];
        let reports = run("needs", None, steps);
        assert_eq!(reports[0].verdict, Verdict::Failed("exit status: 1".to_owned()));
        assert_eq!(reports[1].verdict, Verdict::Skipped("it needs `build`".to_owned()));
        assert_eq!(reports[2].verdict, Verdict::Passed);
        assert_eq!(report::sum(&reports), Count { passed: 1, failed: 1, skipped: 1 });
    }

    #[test]
    fn neighbors_run_at_the_same_time() {
        // Each ends when the other has started.
        let folder = std::env::temp_dir().join(format!("trommel-xtask-meet-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let meet = |mine: &str, other: &str| {
            let mut command = shell(&format!("touch {mine}; until [ -e {other} ]; do sleep 0.05; done"));
            command.current_dir(&folder);
            command
        };
        let steps = vec![
            Step::new("before", 1, [shell("true")]),
            Step::new("a", 1, [meet("a", "b")]).needs(&["before"]).beside(),
            Step::new("b", 1, [meet("b", "a")]).needs(&["before"]).beside(),
            Step::new("c", 1, [shell("true")]).beside(),
            Step::new("after", 1, [shell("true")]).needs(&["a", "b", "c"]),
        ];
        let reports = run("beside", Some(Duration::from_secs(40)), steps);
        fs::remove_dir_all(&folder).unwrap();
        assert!(reports.iter().all(|report| report.verdict == Verdict::Passed), "{reports:?}");
        assert_eq!(
            reports.iter().map(|report| report.name.as_str()).collect::<Vec<_>>(),
            ["before", "a", "b", "c", "after"]
        );
    }

    #[test]
    fn a_failed_step_names_what_failed() {
        let log = "echo 'test a ... ok'; echo 'test b ... FAILED'; false";
        let reports = run("named", None, vec![Step::new("tests", 1, [shell(log)])]);
        assert_eq!(reports[0].verdict, Verdict::Failed("exit status: 1, b".to_owned()));
    }

    #[test]
    fn tests_that_did_not_run_fail_a_step() {
        let log = "echo 'test a ... ok'; echo 'test result: ok. 1 passed; 0 failed; 0 ignored'";
        let steps = vec![
            Step::new("all there", 1, [shell(log)]).expects(&["a"]),
            Step::new("renamed", 1, [shell(log)]).expects(&["a", "b"]),
        ];
        let reports = run("expected", None, steps);
        assert_eq!(reports[0].verdict, Verdict::Passed);
        assert_eq!(reports[1].verdict, Verdict::Failed("these tests did not run: b".to_owned()));
        assert_eq!(reports[1].count, Count { passed: 1, failed: 1, skipped: 0 });
    }
}
