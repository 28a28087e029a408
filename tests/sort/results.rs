//! Correct results for all sizes, keys and contents of scratch.

use crate::Case;
use crate::common::arena::{Arena, Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::full;
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::problem::Job;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};
use std::collections::BTreeSet;
use trommel::host::{Context, ContextInfo};
use trommel::tuning::{Shape, SizedTile};
use trommel::{Sorter, SorterInfo, ValueType};

/// Sizes at which the plan changes, and their neighbors.
fn borders(case: &Case) -> BTreeSet<usize> {
    let profile = case.profile();
    let lanes = if profile.lanes == 0 { case.context.device().facts().max_lanes } else { profile.lanes };
    let mut around: BTreeSet<usize> = [1, lanes as usize, profile.plain_threads as usize].into();
    let (radix, shapes) = case.shapes();
    for shape in shapes.small.iter().map(|small| small.shape).chain(radix.tiles.iter().map(|sized| sized.shape.shape)) {
        around.extend([shape.threads as usize, shape.tile() as usize, 2 * shape.tile() as usize]);
    }
    around.extend(radix.tiles.iter().map(|sized| sized.up_to as usize).filter(|up_to| *up_to < 1 << 20));
    around.extend(shapes.ranked.iter().flat_map(|ranked| [ranked.above as usize, ranked.up_to as usize]));
    // Runs of the merge levels.
    for sized in &shapes.merges {
        let (run, fan) = (sized.run.tile(), profile.merge.fan);
        around
            .extend([run, run * fan, run * fan * fan, sized.up_to].map(|n| n as usize).into_iter().filter(|n| *n > 0));
    }
    // Tiles up to the maximum number of workgroups in x, and chunks of the histogram.
    let last = radix.tiles.last().expect("profiles have tiles").shape.tile() as usize;
    around.extend([7, 35].map(|tiles| tiles * last).into_iter().filter(|n| *n < 10_000));
    around.extend((1..=if full() { 17 } else { 12 }).map(|k| 1 << k));
    around.into_iter().flat_map(|n| n - 1..=n + 1).collect()
}

pub(crate) fn sizes(case: &Case) {
    let jobs: Vec<_> = borders(case).into_iter().map(|n| Job::draw(&case.sorter, Keys::Random, n, n as u64)).collect();
    run_and_check(&case.context, &jobs, Together::Singles, Poison::Random(1));
}

/// Values that have more words than a workgroup has threads.
pub(crate) fn few_of_the_largest_values() {
    let case = Case::of(Setup::Native, &SorterInfo { value: ValueType::Bytes(4096), ..SorterInfo::keys() });
    let jobs = [1, 3].map(|n| Job::draw(&case.sorter, Keys::Random, n, 6));
    run_and_check(&case.context, &jobs, Together::Singles, Poison::Random(6));
    assert_silence(&case.context);
}

/// Without a prepare pass, at most 32 workgroups count the keys. With 33 tiles, each takes two and the last one takes
/// one.
pub(crate) fn more_tiles_than_groups_that_count() {
    let mut profile = context(Setup::Native).device().profile().clone();
    let tile = Shape { threads: profile.plain_threads, items: 1 };
    profile.radix.keys.tiles.insert(0, SizedTile { up_to: profile.radix.direct_up_to, shape: tile.into() });
    profile.sort.keys.small.clear();
    let info = ContextInfo { profile: Some(profile), ..ContextInfo::default() };
    let context = Context::with(&info).expect("the profile fits the device");
    context.device().make_pipelines_late();
    let info = SorterInfo::keys().strategy(trommel::Strategy::Lookback).batches();
    let sorter = Sorter::new(context.device(), &info).expect("the profile fits the device");
    let jobs = [32, 33].map(|tiles| Job::draw(&sorter, Keys::Random, (tiles * tile.tile() - 5) as usize, 5));
    run_and_check(&context, &jobs, Together::Singles, Poison::Random(5));
    assert_silence(&context);
}

pub(crate) fn distributions(case: &Case) {
    let sizes = [case.small() - 5, case.tiles(3)].into_iter().chain(case.ranked());
    let jobs = sizes.flat_map(|n| Keys::ALL.iter().map(move |keys| Job::draw(&case.sorter, *keys, n, 2)));
    run_and_check(&case.context, &jobs.collect::<Vec<_>>(), Together::Singles, Poison::Random(2));
}

pub(crate) fn poisoned_scratch(case: &Case) {
    let sizes = [case.small(), case.tiles(9)].into_iter().chain(case.ranked());
    let jobs = sizes.map(|n| Job::draw(&case.sorter, Keys::LowEntropy, n, 3).counted(Counted::Device(n as u32 - 3)));
    let jobs: Vec<_> = jobs.collect();
    for poison in [Poison::Random(3), Poison::Fill(u32::MAX), Poison::Fill(0xaaaa_aaaa), Poison::Fill(0)] {
        for together in [Together::Singles, Together::Batch] {
            run_and_check(&case.context, &jobs, together, poison);
        }
    }
}

/// All results equal one expectation, so they equal each other.
pub(crate) fn twenty_runs(case: &Case) {
    let jobs = [Job::draw(&case.sorter, Keys::HalfOnes, case.tiles(7), 4)];
    let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(4));
    for _ in 0..20 {
        arena.reset();
        case.context.run(|commands| arena.record(commands, Together::Singles)).expect("the job is valid");
        arena.check();
    }
}

/// A job as a list of numbers, so that a failing case can be shrunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    size: usize,
    keys: Keys,
    seed: u64,
    count: Option<u32>,
    status: bool,
    pub(crate) other: bool,
}

impl Drawn {
    pub(crate) fn job<'a>(&self, case: &'a Case) -> Job<'a> {
        Job {
            count: self.count.map_or(Counted::Host, Counted::Device),
            status: self.status,
            ..Job::draw(if self.other { case.other() } else { &case.sorter }, self.keys, self.size, self.seed)
        }
    }
}

pub(crate) fn drawn(largest: usize) -> impl Strategy<Value = Drawn> {
    let size = prop_oneof![1 => 0..4usize, 3 => 0..=largest / 8, 1 => 0..=largest];
    let parts = (size, prop::sample::select(Keys::ALL), any::<u64>(), any::<bool>(), any::<bool>());
    parts.prop_flat_map(|(size, keys, seed, status, other)| {
        let count = prop_oneof![Just(None), (0..=size as u32 + 2).prop_map(Some), Just(Some(u32::MAX))];
        count.prop_map(move |count| Drawn { size, keys, seed, count, status, other })
    })
}

/// The random cases are the same on every run.
pub(crate) fn runner() -> TestRunner {
    let config = Config { cases: if full() { 64 } else { 6 }, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha))
}

pub(crate) fn random_sorts(case: &Case) {
    let jobs = prop::collection::vec(drawn(case.tiles(6)), 1..4);
    let ran = runner().run(&(jobs, any::<u64>()), |(drawn, seed)| {
        let jobs: Vec<_> = drawn.iter().map(|drawn| Drawn { other: false, ..*drawn }.job(case)).collect();
        run_and_check(&case.context, &jobs, Together::Singles, Poison::Random(seed));
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}
