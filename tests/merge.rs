//! Merges on the device that the environment selects, against the standard library's stable sort.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

// Tests of recording declare this file in a macro, where rustfmt does not see it.
#[cfg(rustfmt)]
#[path = "merge/calls.rs"]
mod calls;
mod common;
#[path = "merge/details.rs"]
mod details;
#[path = "merge/problem.rs"]
mod problem;
#[path = "merge/recording.rs"]
mod recording;
#[path = "merge/refused.rs"]
mod refused;
#[path = "merge/results.rs"]
mod results;
#[path = "merge/roles.rs"]
mod roles;
#[path = "merge/sets.rs"]
mod sets;
#[path = "merge/several.rs"]
mod several;
#[path = "sort/problem.rs"]
mod sort;

use common::arena::{Poison, Together, run_and_check};
use common::contexts::{Setup, context};
use common::harness::note;
use common::keys::Keys;
use common::{coverage, harness};
use problem::Job;
use std::process::ExitCode;
use trommel::host::Context;
use trommel::{Merger, MergerInfo};

/// The setups of most tests: the built-in profile, and tiny tiles in at most 7 workgroups in x. Only set operations use
/// subgroup operations, so emulated subgroups change nothing for others.
const SETUPS: [Setup; 2] = [Setup::Native, Setup::Folded];

/// One merger in one setup.
struct Case {
    context: Context,
    merger: Merger,
}

impl Case {
    fn new(setup: Setup, info: &MergerInfo) -> Self {
        let context = context(setup);
        let merger = Merger::new(context.device(), &info.batches()).unwrap_or_else(|error| panic!("{info:?}: {error}"));
        note(format!("{} {setup:?} {info:?}", context.name()));
        Self { context, merger }
    }

    /// Items of a tile, and the largest count of a fused merge.
    fn tile(&self) -> [usize; 2] {
        let info = self.merger.info();
        let merge = &self.context.device().profile().merge;
        let key_words = info.key.size() / 4;
        let shapes = match info.value.size() {
            0 if key_words > 1 => &merge.long,
            _ if key_words > 1 => &merge.long_pairs,
            0 => &merge.keys,
            _ => &merge.pairs,
        };
        let items = (shapes.tile.items / key_words).max(1);
        [(shapes.tile.threads * items) as usize, shapes.fused_up_to as usize]
    }

    fn draw(&self, keys: Keys, counts: [usize; 2], seed: u64) -> Job<'_> {
        Job::draw(&self.merger, keys, counts, seed)
    }

    fn merge(&self, jobs: &[Job<'_>], together: Together, seed: u64) {
        run_and_check(&self.context, jobs, together, Poison::Random(seed));
    }
}

fn main() -> ExitCode {
    let tests = harness::tests![
        results::every_format,
        results::methods_for_comparison,
        results::sizes,
        results::keys_in_any_place,
        results::skewed_sequences,
        results::all_distributions,
        results::counts_on_the_device,
        results::sequences_that_overlap,
        results::sequences_that_are_not_sorted,
        results::random_merges,
        results::bounds,
        sets::set_operations,
        sets::sets_of_many_tiles,
        sets::unique,
        details::segments,
        details::updates,
        several::every_number_of_sequences,
        several::counts_of_several_sequences,
        several::batches_of_several_sequences,
        several::sequences_of_any_content,
        several::random_numbers_of_sequences,
        several::timestamps_of_several_sequences,
        several::refusals_of_several_sequences,
        recording::batches_of_merges_and_sorts,
        recording::poisoned_scratch_and_twenty_runs,
        recording::strangers_and_secondary_command_buffers,
        recording::timestamps,
        refused::refusals,
    ];
    harness::run(tests.into(), || coverage::prove("merge", include_str!("merge/coverage.txt")))
}
