//! Results in the log of a step: counts of tests, seconds of test binaries, names of tests, and what failed.

/// Numbers of tests. A step that runs no test binary counts as one test.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub(crate) struct Count {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    pub(crate) skipped: u32,
}

impl Count {
    pub(crate) const FAILED: Self = Self { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const SKIPPED: Self = Self { passed: 0, failed: 0, skipped: 1 };

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// A test binary, or the documentation tests of a crate.
#[derive(Clone, Default, Debug, PartialEq)]
pub(crate) struct Binary {
    pub(crate) name: String,
    pub(crate) count: Count,
    /// The sum over its runs. `None`: a run has not ended.
    pub(crate) seconds: Option<f64>,
}

/// The sum of cargo's `test result` lines. A log without any is one test. A failed step has at least one failed test.
pub(crate) fn count(log: &str, failed: bool) -> Count {
    let mut results = log.lines().filter_map(test_result).map(|(count, _)| count).peekable();
    if results.peek().is_none() {
        return if failed { Count::FAILED } else { Count { passed: 1, ..Count::default() } };
    }
    let mut sum = Count::default();
    results.for_each(|result| sum.add(result));
    if failed && sum.failed == 0 {
        sum.failed = 1;
    }
    sum
}

/// The test binaries that cargo has started, in this order, each once.
pub(crate) fn binaries(log: &str) -> Vec<Binary> {
    let mut binaries: Vec<Binary> = Vec::new();
    // The one whose output the lines are, and whether they have its result.
    let mut current: Option<(usize, bool)> = None;
    for line in log.lines() {
        if let Some(name) = started(line) {
            leave(&mut binaries, current);
            let index = binaries.iter().position(|binary| binary.name == name).unwrap_or_else(|| {
                binaries.push(Binary { name, seconds: Some(0.0), ..Binary::default() });
                binaries.len() - 1
            });
            current = Some((index, false));
        } else if let (Some((index, ended)), Some((count, seconds))) = (&mut current, test_result(line)) {
            let binary = &mut binaries[*index];
            binary.count.add(count);
            binary.seconds = binary.seconds.map(|sum| sum + seconds);
            *ended = true;
        }
    }
    leave(&mut binaries, current);
    binaries
}

/// A binary without a result has crashed, or was killed.
fn leave(binaries: &mut [Binary], current: Option<(usize, bool)>) {
    if let Some((index, false)) = current {
        binaries[index].seconds = None;
    }
}

/// The name in `Running tests/sort.rs (target/debug/deps/sort-0123456789abcdef)` or `Doc-tests trommel`.
fn started(line: &str) -> Option<String> {
    let line = line.trim_start();
    if let Some(crate_name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("doc-tests of {crate_name}"));
    }
    let (_, path) = line.strip_prefix("Running ")?.strip_suffix(')')?.split_once(" (")?;
    let (name, hash) = path.rsplit('/').next()?.rsplit_once('-')?;
    (hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit())).then(|| name.to_owned())
}

/// Count and seconds of `test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in
/// 0.01s`.
fn test_result(line: &str) -> Option<(Count, f64)> {
    let rest = line.trim_start().strip_prefix("test result: ")?;
    let (_, counts) = rest.split_once(". ")?;
    let number = |word: &str| counts.split("; ").find_map(|part| part.strip_suffix(word)?.trim().parse().ok());
    let seconds =
        counts.split("; ").find_map(|part| part.trim().strip_prefix("finished in ")?.strip_suffix('s')?.parse().ok());
    let count = Count { passed: number("passed")?, failed: number("failed")?, skipped: number("ignored").unwrap_or(0) };
    Some((count, seconds.unwrap_or(0.0)))
}

/// What failed: tests by their names, and test binaries that crashed, which some do after their last test.
pub(crate) fn failures(log: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let failed_test = || line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_owned);
        crash(line).or_else(failed_test)
    };
    log.lines().filter_map(of_line).collect()
}

/// Name and signal in "process didn't exit successfully: `target/debug/deps/sort-0123456789abcdef --skip slow` (signal:
/// 6, SIGABRT: process abort signal)".
fn crash(line: &str) -> Option<String> {
    let (command, how) = line.trim_start().strip_prefix("process didn't exit successfully: `")?.rsplit_once("` (")?;
    let path = command.split(' ').next()?;
    let file = path.rsplit('/').next()?;
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    Some(format!("{name} ({how}"))
}

/// Those of the names that no line `test NAME ... ok` has.
pub(crate) fn not_run<'a>(names: &'a [String], log: &str) -> Vec<&'a str> {
    let ran: Vec<_> = log.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... ok")).collect();
    names.iter().map(String::as_str).filter(|name| !ran.contains(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Binary, Count, binaries, count, failures, not_run};

    const LOG: &str = "$ cargo test\n\
        \x20   Finished `test` profile [optimized] target(s) in 0.10s\n\
        \x20    Running unittests src/lib.rs (target/debug/deps/trommel-00112233445566ff)\n\
        \n\
        running 2 tests\n\
        test a::b ... ok\n\
        test Running ... FAILED\n\
        test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 7 filtered out; finished in 12.25s\n\
        \n\
        \x20    Running tests/sort.rs (/somewhere/target/debug/deps/sort-0011223344556677)\n\
        Running late (by 3 s)\n\
        test sorts ... ok\n\
        test result: ok. 5 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.75s\n\
        \x20    Running tests/sort.rs (/somewhere/target/debug/deps/sort-7766554433221100)\n\
        test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.25s\n\
        \x20    Running tests/split.rs (/somewhere/target/debug/deps/split-7766554433221100)\n\
        error: test failed\n\
        \x20  Doc-tests trommel\n\
        test src/lib.rs - (line 1) ... ok\n\
        test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 2.00s\n\
        test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.50s\n";

    #[test]
    fn test_results_add_up() {
        assert_eq!(count(LOG, true), Count { passed: 10, failed: 1, skipped: 2 });
    }

    #[test]
    fn other_steps_are_one_test() {
        assert_eq!(count("done", false), Count { passed: 1, ..Count::default() });
        assert_eq!(count("oh", true), Count::FAILED);
    }

    #[test]
    fn a_crash_after_good_results_is_a_failure() {
        let log = "test result: ok. 3 passed; 0 failed; 0 ignored";
        assert_eq!(count(log, true), Count { passed: 3, failed: 1, skipped: 0 });
    }

    #[test]
    fn seconds_of_binaries() {
        let binary = |name: &str, passed, failed, skipped, seconds| Binary {
            name: name.to_owned(),
            count: Count { passed, failed, skipped },
            seconds,
        };
        let expected = [
            binary("trommel", 1, 1, 0, Some(12.25)),
            binary("sort", 6, 0, 2, Some(2.0)),
            binary("split", 0, 0, 0, None),
            binary("doc-tests of trommel", 3, 0, 0, Some(2.5)),
        ];
        assert_eq!(binaries(LOG), expected);
        assert_eq!(binaries("done"), []);
    }

    #[test]
    fn failed_tests_and_crashes_have_names() {
        assert_eq!(failures(LOG), ["Running"]);
        let crashed = "test a ... ok\n\
            test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.75s\n\
            error: test failed, to rerun pass `-p trommel --test sort`\n\
            \n\
            Caused by:\n\
            \x20 process didn't exit successfully: `/target/debug/deps/sort-0011223344556677 --skip a` (signal: 6, \
            SIGABRT: process abort signal)\n";
        assert_eq!(failures(crashed), ["sort (signal: 6, SIGABRT: process abort signal)"]);
    }

    #[test]
    fn names_that_no_test_has_are_found() {
        let names = ["a::b", "sorts", "Running", "sort"].map(str::to_owned);
        assert_eq!(not_run(&names, LOG), ["Running", "sort"]);
    }
}
