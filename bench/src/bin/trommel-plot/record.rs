//! Parses the output of `trommel-bench`.

use anyhow::{Context, Result};

/// A record of one device.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// The driver's name of the device.
    pub(crate) device: String,
    cases: Vec<Case>,
}

#[derive(Clone, Debug, PartialEq)]
struct Case {
    name: String,
    n: u32,
    /// Items per nanosecond.
    rate: f64,
}

impl Record {
    /// Parses an output. The first line names the device. All other lines are cases, except comments, times of
    /// `--creation` and empty lines.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let (device, _) = first.and_then(|line| line.split_once(',')).context("the first line names no device")?;
        let is_case = |line: &&str| !line.starts_with('#') && !line.trim().is_empty() && !is_creation(line);
        let lines = text.lines().filter(is_case);
        let cases = lines.map(|line| case(line).with_context(|| format!("no case: {line}"))).collect::<Result<_>>()?;
        Ok(Self { device: device.to_owned(), cases })
    }

    /// A record of these cases.
    #[cfg(test)]
    pub(crate) fn of(cases: &str) -> Self {
        Self::parse(&format!("# Some GPU, driver\n{cases}")).unwrap()
    }

    /// Returns the rate of a case in items per nanosecond, if the record has the case.
    pub(crate) fn rate(&self, name: &str, n: u32) -> Option<f64> {
        self.cases.iter().find(|case| case.name == name && case.n == n).map(|case| case.rate)
    }
}

/// Whether a line has the form `name  cold T ms  warm T ms  N pipelines`.
fn is_creation(line: &str) -> bool {
    line.split_whitespace().nth(1) == Some("cold")
}

/// Parses a line of the form `name n=N  T ms  R Gitems/s  B GB/s`.
fn case(line: &str) -> Option<Case> {
    let (name, rest) = line.split_once(" n=")?;
    let mut words = rest.split_whitespace();
    let n = words.next()?.parse().ok()?;
    let before = words.position(|word| word == "ms").is_some();
    let rate = words.next()?.parse().ok()?;
    (before && words.next()? == "Gitems/s").then(|| Case { name: name.trim_end().to_owned(), n, rate })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# NVIDIA H200, NVIDIA 580.159.04, Vulkan 1.4.312\n# SPIR-V: 558932 bytes\n\
        create_sorter_keys_u32             cold   71.8 ms  warm  0.9 ms  3 pipelines\n\
        split_keys_m2                      n=1048576       0.0148 ms     70.621 Gitems/s     847.4 GB/s\n\
        #     sort_count                      5.09 us\n\
        split_by_a_long_name_that_leaves_no_column n=2    0.0814 ms    206.088 Gitems/s    2473.1 GB/s\n";

    #[test]
    fn rates_are_found_by_name_and_size() {
        let record = Record::parse(TEXT).unwrap();
        assert_eq!(record.device, "NVIDIA H200");
        assert_eq!(record.rate("split_keys_m2", 1 << 20), Some(70.621));
        assert_eq!(record.rate("split_by_a_long_name_that_leaves_no_column", 2), Some(206.088));
        assert_eq!(record.rate("split_keys_m2", 2), None);
        assert_eq!(record.rate("split_keys_m", 1 << 20), None);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for (text, why) in [
            ("", "names no device"),
            ("split_keys_m2 n=1", "names no device"),
            ("# GPU, driver\nsplit 3 ms", "no case: split"),
        ] {
            let error = Record::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error} should say: {why}");
        }
    }
}
