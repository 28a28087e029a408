//! Calls the C ABI with random good and bad arguments, on a Vulkan that executes nothing.
//!
//! Every call is compared with a model of the header: errors record nothing and write no output, good calls record
//! valid commands and the same ones again. Info structs, lists, texts and outputs end at an inaccessible guard page.

pub(crate) mod breakage;
pub(crate) mod case;
mod device;
mod draw;
mod fake;
pub(crate) mod good;
pub(crate) mod guard;
pub(crate) mod info;
mod judge;
pub(crate) mod model;
pub(crate) mod primitive;
pub(crate) mod random;
mod report;
mod run;
pub(crate) mod session;
pub(crate) mod user;

pub(crate) use primitive::Primitive;

use breakage::breakages;
use case::{Breakage, Case, Function, Item};
use clap::Parser;
use draw::good_case;
use primitive::primitive;
use random::Random;
use run::{Outcome, run};
use session::{Blocks, Session};
use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use trommel::capi::*;

/// Random good and bad calls of the C ABI, recorded and not executed.
#[derive(Debug, Parser)]
struct Arguments {
    /// Stops after so many minutes.
    #[arg(long)]
    minutes: Option<f64>,
    /// Stops after so many calls; without any limit, 100,000.
    #[arg(long)]
    calls: Option<u64>,
    /// The same seed makes the same calls.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Makes this call alone.
    #[arg(long)]
    call: Option<u64>,
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// Calls that share a session's handles.
const CALLS_OF_SESSION: u64 = 1000;
/// Failures of one kind that are printed in full.
const PRINTED: u64 = 1;

/// Results of the calls of a thread.
#[derive(Debug, Default)]
struct Summary {
    passed: u64,
    failed: u64,
    /// Calls of each function with each result.
    results: BTreeMap<(Function, i32), u64>,
    messages: HashSet<String>,
    /// Number of failures, by function and problem without numbers.
    failures: BTreeMap<String, u64>,
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.messages.extend(other.messages);
        other.results.into_iter().for_each(|(key, times)| *self.results.entry(key).or_default() += times);
        other.failures.into_iter().for_each(|(key, times)| *self.failures.entry(key).or_default() += times);
    }

    /// Notes a failure. Returns whether to print it.
    fn fail(&mut self, kind: String) -> bool {
        self.failed += 1;
        let times = self.failures.entry(kind).or_default();
        *times += 1;
        *times <= PRINTED
    }

    fn print(&self, seconds: f64) {
        let mut function = None;
        for ((of, result), times) in &self.results {
            if function != Some(of) {
                function = Some(of);
                println!("{}", of.name());
            }
            println!("  {times:>9}  {}", result_text(*result));
        }
        println!("{} distinct messages", self.messages.len());
        for (kind, times) in &self.failures {
            println!("failed {times} times: {kind}");
        }
        println!("{seconds:.1} s");
        println!("{} passed, {} failed", self.passed, self.failed);
    }
}

fn result_text(result: i32) -> String {
    // SAFETY: static text.
    let text = unsafe { std::ffi::CStr::from_ptr(trmResultString(result)) };
    text.to_string_lossy().into_owned()
}

/// A text without its numbers.
fn without_numbers(text: &str) -> String {
    let mut kind = String::new();
    for letter in text.chars() {
        let letter = if letter.is_ascii_digit() { '#' } else { letter };
        if letter != '#' || !kind.ends_with('#') {
            kind.push(letter);
        }
    }
    kind
}

fn describe(case: &Case) -> String {
    let image = &case.image;
    let mut text = match case.function {
        Function::Record(number) => primitive(number).describe_request(image),
        Function::Batch | Function::BatchScratch => image.describe::<TrmBatchInfo>(),
        Function::Create(number, _) => primitive(number).describe_creation(image),
        Function::CreateDevice => image.describe::<TrmDeviceCreateInfo>(),
        Function::Requirements => image.describe::<TrmDeviceRequirementsInfo>(),
        Function::Query(..) | Function::Plain => format!("maxCount {}, handle {:?}", case.number, case.handle),
    };
    for (index, Item { primitive: number, image }) in case.items.iter().enumerate() {
        text.push_str(&format!("\n    info {index}: {}", primitive(*number).describe_request(image)));
    }
    text
}

/// The handle and its contract, for a reader of a failure.
fn describe_handle(case: &Case, session: &Session) -> String {
    let model = case.handle.and_then(|(side, index)| session.model(side, index));
    model.map_or_else(|| "no handle".into(), |model| format!("{model:?}"))
}

/// The call of a number, with `broken` done to its good arguments.
fn broken(good: &Case, broken: &[Breakage]) -> Case {
    let mut case = good.clone();
    broken.iter().for_each(|breakage| case.apply(breakage));
    case
}

/// The kind of a failure: function, problems and message, without numbers.
fn kind_of(outcome: &Outcome, function: Function) -> String {
    let problems = outcome.problems.join("; ");
    let message = if outcome.result == model::SUCCESS { "" } else { &outcome.message };
    without_numbers(&format!("{}: {problems} [{message}]", function.name()))
}

/// Takes breakages back, one at a time, as long as the call still fails.
fn shrink(good: &Case, found: &[Breakage], session: &mut Session, blocks: &Blocks) -> (Vec<Breakage>, Outcome) {
    let mut left = found.to_vec();
    let mut index = 0;
    while index < left.len() {
        let fewer: Vec<Breakage> =
            left.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, it)| it.clone()).collect();
        if run(&broken(good, &fewer), session, blocks).problems.is_empty() {
            index += 1;
        } else {
            left = fewer;
        }
    }
    let outcome = run(&broken(good, &left), session, blocks);
    (left, outcome)
}

fn make_call(seed: u64, number: u64, session: &mut Session, blocks: &Blocks, summary: &mut Summary) {
    guard::set_current(seed, number);
    let mut random = Random::new(seed, number.wrapping_add(1 << 40));
    let Some(good) = good_case(&mut random, session) else { return };
    let found = if random.once_in(2) { Vec::new() } else { breakages(&mut random, session, &good) };
    let case = broken(&good, &found);
    let outcome = run(&case, session, blocks);
    *summary.results.entry((case.function, outcome.result)).or_default() += 1;
    if outcome.result != model::SUCCESS && summary.messages.len() < 100_000 {
        summary.messages.insert(without_numbers(&outcome.message));
    }
    if outcome.problems.is_empty() {
        summary.passed += 1;
        return;
    }
    let (left, outcome) = shrink(&good, &found, session, blocks);
    if summary.fail(kind_of(&outcome, case.function)) {
        let case = broken(&good, &left);
        println!("FAILED {}; reproduce: trommel-fuzz-calls --seed {seed} --call {number}", case.function.name());
        println!("  {}", outcome.problems.join("; "));
        println!("  result {}: {}; message: {}", outcome.result, result_text(outcome.result), outcome.message);
        println!("  expected: {:?}", outcome.verdict);
        println!("  broken: {left:?}");
        println!("  {}", describe_handle(&case, session));
        println!("  {}", describe(&case));
    }
}

/// Makes the calls of one session, or one of them.
fn make_session(
    seed: u64,
    number: u64,
    only: Option<u64>,
    until: Option<Instant>,
    blocks: &Blocks,
    summary: &mut Summary,
) {
    let first = number * CALLS_OF_SESSION;
    guard::set_current(seed, first);
    let mut session = Session::new(&mut Random::new(seed, number), blocks);
    for call in first..first + CALLS_OF_SESSION {
        let late = until.is_some_and(|end| call.is_multiple_of(64) && Instant::now() > end);
        if late {
            break;
        }
        if only.is_none_or(|only| only == call) {
            make_call(seed, call, &mut session, blocks, summary);
        }
    }
    for problem in session.end() {
        if summary.fail(without_numbers(&problem)) {
            println!("FAILED session; reproduce: trommel-fuzz-calls --seed {seed} --call {first}");
            println!("  {problem}");
        }
    }
}

/// The program.
///
/// # Errors
/// If memory with guard pages cannot be mapped, or a thread panics.
pub fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    guard::install_handler();
    // A panic in the library becomes TRM_ERROR_INTERNAL, which is a failure by itself.
    std::panic::set_hook(Box::new(|_| ()));
    let start = Instant::now();
    let until = arguments.minutes.map(|minutes| start + Duration::from_secs_f64(minutes * 60.0));
    let unlimited = if arguments.minutes.is_some() { u64::MAX } else { 100_000 };
    let sessions = arguments.calls.unwrap_or(unlimited).div_ceil(CALLS_OF_SESSION);
    let mut summary = Summary::default();
    if let Some(call) = arguments.call {
        make_session(arguments.seed, call / CALLS_OF_SESSION, Some(call), None, &Blocks::new()?, &mut summary);
    } else {
        let next = AtomicU64::new(0);
        let work = || -> anyhow::Result<Summary> {
            let (blocks, mut summary) = (Blocks::new()?, Summary::default());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= sessions || until.is_some_and(|end| Instant::now() > end) {
                    return Ok(summary);
                }
                make_session(arguments.seed, number, None, until, &blocks, &mut summary);
            }
        };
        let summaries = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..arguments.threads.max(1)).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        for one in summaries {
            summary.add(one.map_err(|_| anyhow::anyhow!("a thread of the tester has panicked"))??);
        }
    }
    summary.print(start.elapsed().as_secs_f64());
    Ok(if summary.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
