//! What became of the steps: a table of them, their times and their sum.

use crate::{
    budgets::{Time, WHOLE_RUN},
    log::{Binary, Count},
};
use std::{fmt::Write as _, time::Duration};

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Passed,
    /// Why.
    Failed(String),
    /// Why it was left out.
    Skipped(String),
}

/// What became of a step.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    /// Its number among the steps, from 1.
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) verdict: Verdict,
    pub(crate) count: Count,
    pub(crate) elapsed: Duration,
    pub(crate) cpu: Duration,
    pub(crate) binaries: Vec<Binary>,
}

impl Report {
    /// Of a step that did not run.
    pub(crate) fn not_run(number: usize, name: String, verdict: Verdict) -> Self {
        let count = if matches!(verdict, Verdict::Skipped(_)) { Count::SKIPPED } else { Count::FAILED };
        Self { number, name, verdict, count, elapsed: Duration::ZERO, cpu: Duration::ZERO, binaries: Vec::new() }
    }
}

pub(crate) fn sum(reports: &[Report]) -> Count {
    let mut sum = Count::default();
    reports.iter().for_each(|report| sum.add(report.count));
    sum
}

/// The times of the whole run, of the steps that ran, and of their test binaries.
pub(crate) fn times(reports: &[Report], whole: Duration) -> Vec<Time> {
    let mut times = vec![Time { name: WHOLE_RUN.to_owned(), seconds: whole.as_secs_f64() }];
    for report in reports {
        times.push(Time { name: report.name.clone(), seconds: report.elapsed.as_secs_f64() });
        let of_binary = |binary: &Binary| Some(Time::of_binary(&report.name, &binary.name, binary.seconds?));
        times.extend(report.binaries.iter().filter_map(of_binary));
    }
    times
}

/// A row a step, and one for each of its test binaries where it has several.
pub(crate) fn table(reports: &[Report], whole: Duration) -> String {
    let mut rows = vec![["step", "verdict", "passed", "failed", "skipped", "seconds", "CPU"].map(str::to_owned)];
    for report in reports {
        let verdict = match report.verdict {
            Verdict::Passed => "ok",
            Verdict::Failed(_) => "FAILED",
            Verdict::Skipped(_) => "skipped",
        };
        rows.push(row(&report.name, verdict, report.count, Some(report.elapsed.as_secs_f64()), Some(report.cpu)));
        // Filters leave some without a test.
        let binaries =
            report.binaries.iter().filter(|binary| binary.count != Count::default() || binary.seconds.is_none());
        rows.extend(
            binaries.map(|binary| row(&format!("    {}", binary.name), "", binary.count, binary.seconds, None)),
        );
    }
    let cpu = reports.iter().map(|report| report.cpu).sum();
    rows.push(row(WHOLE_RUN, "", sum(reports), Some(whole.as_secs_f64()), Some(cpu)));
    aligned(&rows)
}

fn row(name: &str, verdict: &str, count: Count, seconds: Option<f64>, cpu: Option<Duration>) -> [String; 7] {
    let number = |n: u32| if n == 0 { String::new() } else { n.to_string() };
    let seconds = seconds.map_or("unfinished".to_owned(), |seconds| format!("{seconds:.1}"));
    let cpu = cpu.map_or(String::new(), |cpu| format!("{:.1}", cpu.as_secs_f64()));
    [
        name.to_owned(),
        verdict.to_owned(),
        number(count.passed),
        number(count.failed),
        number(count.skipped),
        seconds,
        cpu,
    ]
}

/// The first two columns flush left, the others right.
fn aligned(rows: &[[String; 7]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (i, (field, width)) in row.iter().zip(widths).enumerate() {
            let _ = if i < 2 { write!(line, "{field:width$}  ") } else { write!(line, "{field:>width$}  ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A line for each step that failed or was left out.
pub(crate) fn reasons(reports: &[Report]) -> String {
    let line = |report: &Report| match &report.verdict {
        Verdict::Passed => String::new(),
        Verdict::Failed(why) => format!("failed: {}: {why}\n", report.name),
        Verdict::Skipped(why) => format!("left out: {}: {why}\n", report.name),
    };
    reports.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{Report, Verdict, reasons, sum, table, times};
    use crate::log::{Binary, Count};
    use std::time::Duration;

    fn reports() -> [Report; 3] {
        let count = |passed, failed| Count { passed, failed, skipped: 0 };
        let binary = |name: &str, count, seconds| Binary { name: name.to_owned(), count, seconds };
        let ran = Report {
            number: 1,
            name: "lavapipe".to_owned(),
            verdict: Verdict::Failed("exit status: 101".to_owned()),
            count: count(7, 2),
            elapsed: Duration::from_millis(12_500),
            cpu: Duration::from_secs(20),
            binaries: vec![
                binary("sort", count(7, 1), Some(11.25)),
                binary("empty", count(0, 0), Some(0.0)),
                binary("split", count(0, 0), None),
            ],
        };
        [
            ran,
            Report::not_run(2, "SwiftShader".to_owned(), Verdict::Skipped("not here".to_owned())),
            Report::not_run(3, "examples".to_owned(), Verdict::Failed("too late".to_owned())),
        ]
    }

    #[test]
    fn a_row_for_each_step_and_binary() {
        let expected = "\
step         verdict  passed  failed  skipped     seconds   CPU
lavapipe     FAILED        7       2                 12.5  20.0
    sort                   7       1                 11.2
    split                                      unfinished
SwiftShader  skipped                        1         0.0   0.0
examples     FAILED                1                  0.0   0.0
whole run                  7       3        1        13.0  20.0
";
        assert_eq!(table(&reports(), Duration::from_secs(13)), expected);
    }

    #[test]
    fn left_out_steps_count() {
        assert_eq!(sum(&reports()), Count { passed: 7, failed: 3, skipped: 1 });
        assert_eq!(
            reasons(&reports()),
            "failed: lavapipe: exit status: 101\nleft out: SwiftShader: not here\nfailed: examples: too late\n"
        );
    }

    #[test]
    fn times_of_what_ended() {
        let names: Vec<_> = times(&reports(), Duration::from_secs(13)).into_iter().map(|time| time.name).collect();
        assert_eq!(names, ["whole run", "lavapipe", "lavapipe: sort", "lavapipe: empty", "SwiftShader", "examples"]);
    }
}
