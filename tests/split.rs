//! Splits on the device that the environment selects, against the standard library's stable sort by buckets.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

// Tests of recording declare this file in a macro, where rustfmt does not see it.
#[cfg(rustfmt)]
#[path = "split/calls.rs"]
mod calls;
mod common;
#[path = "split/counts.rs"]
mod counts;
#[path = "split/functions.rs"]
mod functions;
#[path = "split/late.rs"]
mod late;
#[path = "split/outputs.rs"]
mod outputs;
#[path = "split/problem.rs"]
mod problem;
#[path = "split/recording.rs"]
mod recording;
#[path = "split/refused.rs"]
mod refused;
#[path = "split/segments.rs"]
mod segments;
#[path = "sort/problem.rs"]
mod sort;

use common::arena::{Poison, Together, run_and_check};
use common::contexts::{Setup, context, is_shared_here, setups};
use common::harness::note;
use common::keys::{Bits, Keys, Random};
use common::{brief, coverage, full, harness, very_brief};
use counts::{
    counts_on_the_device, distributions, few_items_and_many, keys_of_no_bucket, only_what_is_asked_for, random_splits,
    sizes,
};
use functions::{
    doubles_between_splitters_of_one_upper_word, every_function_by_labels, every_number_of_buckets,
    ranges_at_their_borders,
};
use outputs::{buckets_placed_beyond_the_output, other_methods, other_outputs};
use problem::{Asked, Job};
use proptest::test_runner::{Config, TestRng, TestRunner};
use recording::{
    batches_of_splits_and_sorts, poisoned_scratch_and_twenty_runs, strangers_and_secondary_command_buffers, timestamps,
};
use std::process::ExitCode;
use trommel::host::Context;
use trommel::tuning::ItemKind;
use trommel::{BucketFunction, KeyType, Splitter, SplitterInfo, Strategy, ValueType};

const fn items(key: KeyType, value: ValueType) -> SplitterInfo {
    SplitterInfo { key, value, ..SplitterInfo::keys(2, BITS) }
}

const BITS: BucketFunction = BucketFunction::Bits { begin_bit: 0 };

/// One kind of splitter in one setup, with its bucket function.
struct Case {
    context: Context,
    splitter: Splitter,
    asked: Asked,
}

impl Case {
    fn new(setup: Setup, info: &SplitterInfo) -> Self {
        let context = context(setup);
        let splitter =
            Splitter::new(context.device(), &info.batches()).unwrap_or_else(|error| panic!("{info:?}: {error}"));
        let asked = Asked { offsets: true, counts: true, command_items: 3, ..Asked::default() };
        note(format!("{} {setup:?} {info:?}", context.name()));
        Self { context, splitter, asked }
    }

    /// The same case with ranges from `low` on.
    fn ranges(self, low: u64, width: u64) -> Self {
        Self { asked: Asked { low, width, ..self.asked }, ..self }
    }

    /// Items of some tiles, and a few more.
    fn tiles(&self, tiles: usize) -> usize {
        let (profile, info) = (self.context.device().profile(), self.splitter.info());
        let long = info.key.bits() > 32 && matches!(info.function, BucketFunction::Bits { .. }) && info.buckets <= 256;
        let kind = ItemKind::of(if long { 2 } else { 1 }, info.value.size());
        profile.radix[kind].tiles.last().map_or(0, |sized| sized.shape.tile() as usize) * tiles + 37
    }

    fn draw(&self, keys: Keys, n: usize, seed: u64) -> Job<'_> {
        Job::draw(&self.splitter, keys, n, seed).asked(self.asked)
    }

    /// Keys in given buckets. For fields: the lowest bits are the bucket, all others are random.
    fn of_buckets(&self, n: usize, bucket: impl Fn(usize) -> Bits) -> Job<'_> {
        let mut random = Random::new(n as u64);
        let keys = (0..n).map(|i| match self.splitter.info().function {
            BucketFunction::Range => Bits::from(self.asked.low) + bucket(i) * Bits::from(self.asked.width),
            _ => Bits::from(random.next()) << 8 & 0xffff_ff00 | bucket(i),
        });
        Job::new(&self.splitter, keys.collect()).asked(self.asked)
    }

    fn split(&self, jobs: &[Job<'_>], together: Together, seed: u64) {
        run_and_check(&self.context, jobs, together, Poison::Random(seed));
    }
}

/// Whether a case runs on this driver: the drivers share all cases, and those with slow pipeline creation run a few.
fn in_rotation(index: usize) -> bool {
    let one_of = if very_brief() { 14 } else { 7 };
    if brief() { full() || index % one_of == 3 } else { is_shared_here(index) }
}

/// Pairs with a bucket function each: for tests that do not depend on the number of buckets.
fn cases(rotation: usize) -> Vec<Case> {
    let strategies = [Strategy::Lookback, Strategy::ReduceThenScan, Strategy::Ring];
    let case = |(i, setup)| {
        let (buckets, function) = [(5, BITS), (32, BITS), (100, BucketFunction::Range)][(rotation + i) % 3];
        let info = SplitterInfo::pairs(buckets, function).strategy(strategies[(rotation + i / 2) % 3]);
        let case = Case::new(setup, &info);
        if function == BITS { case } else { case.ranges(77, 1 << 25) }
    };
    // One of the two setups with hardware subgroups, and those with emulated ones.
    setups().into_iter().enumerate().filter(|(i, _)| full() || *i == rotation % 2 || *i == 2).map(case).collect()
}

/// The random cases are the same on every run.
fn runner() -> TestRunner {
    let cases = if full() {
        200
    } else if brief() {
        2
    } else {
        5
    };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha))
}

fn main() -> ExitCode {
    let tests = harness::tests![
        every_number_of_buckets,
        other_outputs,
        buckets_placed_beyond_the_output,
        other_methods,
        every_function_by_labels,
        doubles_between_splitters_of_one_upper_word,
        ranges_at_their_borders,
        sizes,
        distributions,
        only_what_is_asked_for,
        few_items_and_many,
        counts_on_the_device,
        keys_of_no_bucket,
        batches_of_splits_and_sorts,
        poisoned_scratch_and_twenty_runs,
        strangers_and_secondary_command_buffers,
        timestamps,
        random_splits,
        segments::segments_by_every_function,
        segments::segments_that_end_beyond_the_arrays,
        segments::keys_of_no_bucket_in_segments,
        segments::a_stranger_between_splits_of_segments,
        segments::random_segments,
        late::late_tiles,
        late::late_tiles_of_other_outputs,
        refused::refusals,
    ];
    harness::run(tests.into(), || coverage::prove("split", include_str!("split/coverage.txt")))
}
