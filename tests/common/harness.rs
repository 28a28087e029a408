//! A test binary that determines its tests when it starts. Tests that do not apply to the driver are not listed and not
//! counted.
//!
//! Filters, `--skip`, `--exact`, `--list`, `--test-threads` and `RUST_TEST_THREADS` work as in cargo's own harness.
//! Output is not captured: tests write notes, and the notes of a failed test are printed.

use libtest_mimic::{Arguments, Trial};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

thread_local! {
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps a line that is printed if the test fails.
pub(crate) fn note(line: String) {
    NOTES.with_borrow_mut(|notes| notes.push(line));
}

/// A test with its name.
pub(crate) fn test(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> Trial {
    let name = name.into();
    Trial::test(name.clone(), move || {
        NOTES.take();
        let ran = catch_unwind(AssertUnwindSafe(body));
        if let Err(panic) = ran {
            NOTES.take().into_iter().for_each(|line| eprintln!("{name}: {line}"));
            resume_unwind(panic);
        }
        Ok(())
    })
}

/// Lists tests by the paths of their functions. This module must be in scope as `harness`.
#[allow(unused_macros, reason = "some test binaries list their tests otherwise")]
macro_rules! tests {
    ($($($path:ident)::+),* $(,)?) => {
        [$(harness::test(stringify!($($path)::+).replace(' ', ""), $($path)::+)),*]
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use tests;

/// Runs the tests that the arguments select. If these are all tests and none fails, `prove` checks their coverage: if
/// it returns an error, the binary fails with it.
pub(crate) fn run(tests: Vec<Trial>, prove: impl FnOnce() -> Result<(), String>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let threads = || std::env::var("RUST_TEST_THREADS").ok()?.parse().ok();
    arguments.test_threads = arguments.test_threads.or_else(threads);
    let conclusion = libtest_mimic::run(&arguments, tests);
    let whole = !arguments.list && conclusion.num_filtered_out == 0 && conclusion.num_ignored == 0;
    if whole
        && !conclusion.has_failed()
        && let Err(what) = prove()
    {
        eprintln!("{what}");
        return ExitCode::from(101);
    }
    conclusion.exit_code()
}
