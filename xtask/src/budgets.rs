//! The seconds that steps and test binaries may take: xtask/budgets.txt.

use anyhow::{Context, Result};

/// A run may take this many times its budget.
const TOLERANCE: f64 = 1.5;

/// What takes less than this many seconds needs no budget.
const SMALL: f64 = 20.0;

/// The row of the whole run.
pub(crate) const WHOLE_RUN: &str = "whole run";

/// Seconds of a step, of a test binary in a step, or of the whole run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Time {
    pub(crate) name: String,
    pub(crate) seconds: f64,
}

impl Time {
    /// The name of a binary's row.
    pub(crate) fn of_binary(step: &str, binary: &str, seconds: f64) -> Self {
        Self { name: format!("{step}: {binary}"), seconds }
    }
}

/// The table in xtask/budgets.txt.
pub(crate) fn read() -> Result<Vec<Time>> {
    parse(include_str!("../budgets.txt"))
}

/// Rows `SECONDS NAME`. `#` begins a comment.
fn parse(text: &str) -> Result<Vec<Time>> {
    let row = |(number, line): (usize, &str)| {
        let line = line.split('#').next().unwrap_or_default().trim();
        let fields =
            line.split_once(char::is_whitespace).and_then(|(seconds, name)| Some((seconds.parse().ok()?, name.trim())));
        let time = || fields.map(|(seconds, name)| Time { name: name.to_owned(), seconds });
        (!line.is_empty())
            .then(|| time().with_context(|| format!("xtask/budgets.txt:{number}: not `SECONDS NAME`: {line}")))
    };
    (1..).zip(text.lines()).filter_map(row).collect()
}

/// A sentence for each time that is beyond its budget, or long and without one.
pub(crate) fn overruns(budgets: &[Time], times: &[Time]) -> Vec<String> {
    let overrun = |time: &Time| {
        let Time { name, seconds } = time;
        match budgets.iter().find(|budget| budget.name == *name) {
            Some(budget) if *seconds > TOLERANCE * budget.seconds => Some(format!(
                "`{name}` took {seconds:.1} s, more than {TOLERANCE} x its budget of {} s in xtask/budgets.txt",
                budget.seconds
            )),
            None if *seconds > SMALL => {
                Some(format!("`{name}` took {seconds:.1} s and has no budget in xtask/budgets.txt"))
            }
            _ => None,
        }
    };
    times.iter().filter_map(overrun).collect()
}

/// The times as rows of xtask/budgets.txt: those that need a budget, rounded up to five seconds.
pub(crate) fn rows(times: &[Time]) -> String {
    let needed = times.iter().filter(|time| time.seconds > SMALL / TOLERANCE);
    needed.map(|Time { name, seconds }| format!("{:5}  {name}\n", (seconds / 5.0).ceil() * 5.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Time, overruns, parse, rows};

    fn time(name: &str, seconds: f64) -> Time {
        Time { name: name.to_owned(), seconds }
    }

    #[test]
    fn rows_are_read() {
        let budgets = parse("# a comment\n\n 120  lavapipe, 4 lanes # why\n30 lavapipe, 4 lanes: sort\n").unwrap();
        assert_eq!(budgets, [time("lavapipe, 4 lanes", 120.0), time("lavapipe, 4 lanes: sort", 30.0)]);
    }

    #[test]
    fn bad_rows_are_named() {
        for text in ["\n12", "\nclippy 12"] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("xtask/budgets.txt:2: "), "{error}");
        }
    }

    #[test]
    fn one_and_a_half_budgets_are_too_much() {
        let budgets = [time("a", 100.0), time("a: sort", 10.0)];
        assert_eq!(overruns(&budgets, &[time("a", 149.0), time("a: sort", 15.0), time("b", 19.0)]), [""; 0]);
        let found = overruns(&budgets, &[time("a", 90.0), time("a: sort", 15.5), time("b", 21.0)]);
        assert_eq!(
            found,
            [
                "`a: sort` took 15.5 s, more than 1.5 x its budget of 10 s in xtask/budgets.txt",
                "`b` took 21.0 s and has no budget in xtask/budgets.txt"
            ]
        );
    }

    #[test]
    fn rows_of_a_run_are_budgets_that_it_keeps() {
        let times = [time("a", 101.0), time("a: sort", 14.0), time("a: small", 3.0)];
        let text = rows(&times);
        assert_eq!(text, "  105  a\n   15  a: sort\n");
        assert_eq!(overruns(&parse(&text).unwrap(), &times), [""; 0]);
    }

    #[test]
    fn the_table_is_well_formed() {
        let budgets = super::read().unwrap();
        for (i, budget) in budgets.iter().enumerate() {
            assert!(budgets[..i].iter().all(|other| other.name != budget.name), "{} is there twice", budget.name);
        }
        assert!(budgets.iter().any(|budget| budget.name == super::WHOLE_RUN));
    }
}
