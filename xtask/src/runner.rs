//! Runs steps one after the other, whatever becomes of them, and adds up.

use crate::{
    process::{End, Interrupt, run_logged},
    workspace,
};
use anyhow::{Context, Result};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::{
    fs::{self, File},
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// Commands that run until one fails, under one name, one log and one limit of time.
pub(crate) struct Step {
    pub(crate) name: String,
    /// Names of earlier steps without which this one makes no sense.
    pub(crate) needs: Vec<String>,
    limit: Duration,
    pub(crate) commands: Vec<Command>,
}

impl Step {
    pub(crate) fn new(name: impl Into<String>, minutes: u64, commands: impl IntoIterator<Item = Command>) -> Self {
        let limit = Duration::from_secs(60 * minutes);
        Self { name: name.into(), needs: Vec::new(), limit, commands: commands.into_iter().collect() }
    }

    pub(crate) fn needs(mut self, names: &[&str]) -> Self {
        self.needs.extend(names.iter().map(|name| (*name).to_owned()));
        self
    }
}

/// What became of a step.
struct Report {
    name: String,
    verdict: Verdict,
    count: Count,
    elapsed: Duration,
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Passed,
    Failed,
    Skipped,
}

/// Tests, and other steps as one test each.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

/// How often a step that takes long says so where there is no terminal.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// Lines of a failed step's log that are printed.
const LOG_LINES: usize = 400;

/// What has been run so far.
pub(crate) struct Runner {
    logs: PathBuf,
    interrupt: Interrupt,
    reports: Vec<Report>,
}

impl Runner {
    pub(crate) fn new() -> Result<Self> {
        let logs = workspace::target().join("test-logs");
        fs::create_dir_all(&logs)?;
        Ok(Self { logs, interrupt: Interrupt::watch()?, reports: Vec::new() })
    }

    /// Runs them all, but those that need one that failed.
    pub(crate) fn run(&mut self, steps: Vec<Step>) -> Result<()> {
        let total = self.reports.len() + steps.len();
        for step in steps {
            let number = self.reports.len() + 1;
            let title = format!("[{number:2}/{total}] {}", step.name);
            let report = if let Some(need) = step.needs.iter().find(|need| !self.passed(need)) {
                println!("{title}: left out, because of `{need}`");
                Report { name: step.name, verdict: Verdict::Skipped, count: Count::default(), elapsed: Duration::ZERO }
            } else {
                run_step(step, &title, &self.logs.join(format!("{number:02}.log")), &self.interrupt)?
            };
            self.reports.push(report);
        }
        Ok(())
    }

    fn passed(&self, name: &str) -> bool {
        self.reports.iter().any(|r| r.name == name && r.verdict == Verdict::Passed)
    }

    /// Prints a table of them; the sum.
    pub(crate) fn finish(self) -> Count {
        summarise(&self.reports)
    }
}

fn run_step(step: Step, title: &str, path: &Path, interrupt: &Interrupt) -> Result<Report> {
    let mut log = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let start = Instant::now();
    let progress = Progress::new(title, path);
    let mut trouble = None;
    for command in step.commands {
        writeln!(log, "$ {}", shown(&command))?;
        let tick = || {
            progress.tick(start.elapsed());
            interrupt.check()
        };
        trouble = match run_logged(command, &log, start + step.limit, tick) {
            Ok(End::Exited(status)) if status.success() => continue,
            Ok(End::Exited(status)) => Some(status.to_string()),
            Ok(End::TimedOut) => Some(format!("ended after its limit of {}", HumanDuration(step.limit))),
            Err(error) => Some(format!("{error:#}")),
        };
        break;
    }
    interrupt.check()?;
    let elapsed = start.elapsed();
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    let count = count(&text, trouble.is_some());
    progress.finish(&match &trouble {
        None => format!("{title}: ok, {}{:.1} s", tests(count), elapsed.as_secs_f64()),
        Some(trouble) => format!("{title}: FAILED, {trouble}, {}{:.1} s", tests(count), elapsed.as_secs_f64()),
    });
    if trouble.is_some() {
        print_tail(&text, path);
    }
    let verdict = if trouble.is_some() { Verdict::Failed } else { Verdict::Passed };
    Ok(Report { name: step.name, verdict, count, elapsed })
}

/// The sum of cargo's `test result` lines; a step without any is one test, and one that failed with none failed, too.
fn count(log: &str, failed: bool) -> Count {
    let mut results = log.lines().filter_map(test_result).peekable();
    if results.peek().is_none() {
        return Count { passed: u32::from(!failed), failed: u32::from(failed) };
    }
    let mut sum = Count::default();
    for result in results {
        sum.passed += result.passed;
        sum.failed += result.failed;
    }
    if failed && sum.failed == 0 {
        sum.failed = 1;
    }
    sum
}

/// `test result: ok. 3 passed; 0 failed; ...`
fn test_result(line: &str) -> Option<Count> {
    let rest = line.trim_start().strip_prefix("test result: ")?;
    let (_, counts) = rest.split_once(". ")?;
    let mut counts = counts.split("; ");
    let mut next = |word: &str| counts.next()?.strip_suffix(word)?.trim().parse().ok();
    Some(Count { passed: next("passed")?, failed: next("failed")? })
}

fn tests(count: Count) -> String {
    match count {
        Count { passed: 0 | 1, failed: 0 | 1 } => String::new(),
        Count { passed, failed: 0 } => format!("{passed} tests, "),
        Count { passed, failed } => format!("{failed} of {} tests, ", passed + failed),
    }
}

fn summarise(reports: &[Report]) -> Count {
    let width = reports.iter().map(|r| r.name.len()).max().unwrap_or(0);
    println!("\n{:width$}  {:7}  {:>6}  {:>6}  {:>8}", "step", "verdict", "passed", "failed", "seconds");
    let mut sum = Count::default();
    for Report { name, verdict, count, elapsed } in reports {
        let verdict = match verdict {
            Verdict::Passed => "ok",
            Verdict::Failed => "FAILED",
            Verdict::Skipped => "skipped",
        };
        println!("{name:width$}  {verdict:7}  {:6}  {:6}  {:8.1}", count.passed, count.failed, elapsed.as_secs_f64());
        sum.passed += count.passed;
        sum.failed += count.failed;
    }
    println!();
    sum
}

fn print_tail(text: &str, path: &Path) {
    let lines: Vec<_> = text.lines().collect();
    let left_out = lines.len().saturating_sub(LOG_LINES);
    if left_out > 0 {
        println!("    ({left_out} lines before these in {})", workspace::shown(path));
    }
    for line in &lines[left_out..] {
        println!("    {line}");
    }
}

/// The command as a shell would take it, with the variables that it adds.
fn shown(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={} ", name.to_string_lossy(), value?.to_string_lossy())) //
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(|word| word.to_string_lossy());
    variables.collect::<String>() + &words.collect::<Vec<_>>().join(" ")
}

/// A spinner with the log's last line on a terminal; elsewhere a line at the start, one at the end and one a minute.
struct Progress<'a> {
    bar: Option<ProgressBar>,
    title: &'a str,
    log: &'a Path,
    beats: std::cell::Cell<u64>,
}

impl<'a> Progress<'a> {
    fn new(title: &'a str, log: &'a Path) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {elapsed} {wide_msg:.dim}") {
                bar.set_style(style);
            }
            bar.set_prefix(title.to_owned());
            bar
        });
        if bar.is_none() {
            println!("{title}");
        }
        Self { bar, title, log, beats: 0.into() }
    }

    fn tick(&self, elapsed: Duration) {
        let beat = |every: Duration| {
            let now = u64::try_from(elapsed.as_millis() / every.as_millis()).unwrap_or(u64::MAX);
            self.beats.replace(now) < now
        };
        match &self.bar {
            Some(bar) if beat(Duration::from_millis(200)) => {
                bar.set_message(last_line(self.log));
                bar.tick();
            }
            None if beat(HEARTBEAT) => println!("{}: {} s: {}", self.title, elapsed.as_secs(), last_line(self.log)),
            _ => {}
        }
    }

    fn finish(&self, line: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        println!("{line}");
    }
}

fn last_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let tail = String::from_utf8_lossy(&text[text.len().saturating_sub(1024)..]).into_owned();
    tail.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Count, count};

    #[test]
    fn test_results_add_up() {
        let log =
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\n\ntest result: FAILED. 2 passed; 4 failed; 0 ignored";
        assert_eq!(count(log, true), Count { passed: 5, failed: 4 });
    }

    #[test]
    fn other_steps_are_one_test() {
        assert_eq!(count("done", false), Count { passed: 1, failed: 0 });
        assert_eq!(count("oh", true), Count { passed: 0, failed: 1 });
    }

    #[test]
    fn a_crash_after_good_results_is_a_failure() {
        assert_eq!(count("test result: ok. 3 passed; 0 failed; 0 ignored", true), Count { passed: 3, failed: 1 });
    }
}
