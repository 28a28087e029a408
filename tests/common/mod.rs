//! Code that several test binaries share.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

pub(crate) mod arena;
#[path = "../../src/core/tests/at_exit.rs"]
pub(crate) mod at_exit;
pub(crate) mod comparator;
pub(crate) mod contexts;
pub(crate) mod coverage;
pub(crate) mod fake;
pub(crate) mod harness;
pub(crate) mod items;
pub(crate) mod keys;
pub(crate) mod pipeline;
pub(crate) mod problem;
pub(crate) mod spirv;
pub(crate) mod stranger;
pub(crate) mod ways;

/// Whether all combinations run, instead of a pairwise cover of the test axes.
pub(crate) fn full() -> bool {
    std::env::var("TROMMEL_TEST_FULL").is_ok_and(|v| !v.is_empty() && v != "0")
}

/// Whether less is to run than the pairwise cover of test axes: `TROMMEL_TEST_BRIEF=1`, or 2 for even less.
pub(crate) fn brief() -> bool {
    std::env::var_os("TROMMEL_TEST_BRIEF").is_some()
}

/// Whether half of [`brief`] suffices: `TROMMEL_TEST_BRIEF=2`, for a layer that makes each pipeline and dispatch slow.
pub(crate) fn very_brief() -> bool {
    std::env::var_os("TROMMEL_TEST_BRIEF").is_some_and(|value| value == "2")
}
