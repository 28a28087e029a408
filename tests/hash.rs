//! Hash tables on the device that the environment selects, against the standard library's map.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

mod common;
#[path = "hash/results.rs"]
mod results;
#[path = "hash/table.rs"]
mod table;

use common::{coverage, harness};
use std::process::ExitCode;

fn main() -> ExitCode {
    let tests = harness::tests![
        results::every_format,
        results::sizes,
        results::counts_on_the_device,
        results::full_tables,
        results::equal_keys,
        results::adversarial_keys,
        results::churn,
    ];
    harness::run(tests.into(), || coverage::prove("hash", include_str!("hash/coverage.txt")))
}
