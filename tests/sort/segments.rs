//! Segmented sorts: segments of every size in one sort.

use crate::common::arena::{Arena, Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::harness::note;
use crate::common::items::Counted;
use crate::common::keys::{Keys, Random};
use crate::common::ways::run_between_strangers;
use crate::problem::Job;
use crate::results::runner;
use crate::{KINDS, common};
use proptest::prelude::*;
use trommel::host::Context;
use trommel::tuning::ItemKind;
use trommel::{Sorter, SorterInfo};

/// A segmented sorter of one of the kinds.
struct Case {
    context: Context,
    sorter: Sorter,
}

impl Case {
    fn new(setup: Setup, kind: usize) -> Self {
        let context = context(setup);
        let info = SorterInfo { segmented: true, ..KINDS[kind] };
        let sorter = Sorter::new(context.device(), &info.batches()).expect("the profile fits the device");
        Self { context, sorter }
    }

    /// Most items that one workgroup sorts.
    fn whole(&self) -> u32 {
        self.context.device().profile().radix.keys.segments.tile()
    }

    /// Keys of some tiles, more than one workgroup sorts.
    fn long(&self, tiles: u32) -> u32 {
        let profile = self.context.device().profile();
        let last = ItemKind::ALL.into_iter().filter_map(|kind| profile.radix[kind].tiles.last());
        let tile = last.map(|sized| sized.shape.tile()).max().unwrap_or(0);
        (tiles * tile).max(self.whole()) + 5
    }

    /// Segments of these lengths. `skipped` items before the first and after the last are in no segment.
    fn job(&self, skipped: u32, lengths: impl IntoIterator<Item = u32>, seed: u64) -> Job<'_> {
        let mut offsets = vec![skipped];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let items = offsets[offsets.len() - 1] + skipped;
        let keys = Keys::ALL[seed as usize % Keys::ALL.len()];
        Job::draw(&self.sorter, keys, items as usize, seed).cut(offsets)
    }

    fn sort(&self, jobs: &[Job<'_>], together: Together, seed: u64) {
        run_and_check(&self.context, jobs, together, Poison::Random(seed));
        assert_silence(&self.context);
    }
}

/// Lengths around every limit, their neighbors and 0, in an order that gives each window different segments.
fn mixed_lengths(case: &Case) -> Vec<u32> {
    let whole = case.whole();
    let around = [1, 2, 32, whole / 4, whole * 3 / 4 / 32 * 32, whole, case.long(1), case.long(3)];
    let mut lengths: Vec<u32> = around.into_iter().flat_map(|length| [length - 1, 0, length, length + 1]).collect();
    let mut random = Random::new(7);
    // Fisher and Yates.
    for i in (1..lengths.len()).rev() {
        lengths.swap(i, random.below(i as u32 + 1) as usize);
    }
    lengths
}

fn of_all_sizes(case: &Case) {
    let jobs = [case.job(0, mixed_lengths(case), 1), case.job(11, mixed_lengths(case).into_iter().rev(), 2)];
    case.sort(&jobs, Together::Singles, 1);
}

fn of_one_size(case: &Case) {
    let whole = case.whole();
    // Tiny segments, more in a window than a digit has values or a word of head flags has bits; whole workgroups;
    // tiles.
    let lengths = [1, 2, 3, 31, 32, 33, whole / 2, whole / 2 + 1, whole];
    let jobs: Vec<_> = lengths
        .into_iter()
        .map(|length| case.job(3, vec![length; (3 * whole / length + 2) as usize], length.into()))
        .collect();
    case.sort(&jobs, Together::Singles, 2);
}

fn counts_on_the_device(case: &Case) {
    let lengths = [5, 0, case.whole(), 9, case.long(2), 1, 70];
    let mut jobs = Vec::new();
    for count in [0, 1, 4, 5, 6, 7, 8, u32::MAX] {
        jobs.push(case.job(2, lengths, 4).counted(Counted::Device(count)));
    }
    // Offsets past the end of the arrays: clamped, in the middle of a segment and before others.
    for items in [7, case.whole() as usize - 3, case.whole() as usize + 20] {
        let job = case.job(0, lengths, 5);
        jobs.push(Job { keys: job.keys[..items].to_vec(), status: true, ..job });
    }
    // No segments.
    jobs.push(Job { status: true, ..Job::new(&case.sorter, Vec::new()).cut(vec![0]) });
    jobs.push(Job::new(&case.sorter, Vec::new()).cut(vec![0, 0, 0]).counted(Counted::Device(2)));
    jobs.push(Job { status: true, ..case.job(40, [], 6) });
    case.sort(&jobs, Together::Singles, 3);
}

/// Thousands of empty segments between few others: most steps of the search find none.
fn mostly_empty(case: &Case) {
    let mut lengths = vec![0; 3000];
    let whole = case.whole();
    for (index, length) in [(0, 3), (700, whole / 2), (701, 1), (1999, whole + 1), (2000, 4), (2999, 2)] {
        lengths[index] = length;
    }
    case.sort(&[case.job(1, lengths, 7)], Together::Singles, 4);
}

/// In a batch with sorts of whole arrays.
fn in_a_batch(case: &Case) {
    let info = SorterInfo { segmented: false, ..*case.sorter.info() };
    let other = Sorter::new(case.context.device(), &info.batches()).expect("the profile fits the device");
    let whole = case.whole();
    let jobs = [
        case.job(0, [4, whole, 0, 12], 8),
        Job::draw(&other, Keys::Random, 100, 9),
        case.job(5, [case.long(2), 7, whole / 2], 10).counted(Counted::Device(2)),
        Job::draw(&other, Keys::Random, case.long(2) as usize, 11),
        case.job(0, [9, 9, 9], 12),
    ];
    case.sort(&jobs, Together::Batch, 5);
    // More groups than are recorded side by side.
    let tiny = (0..18).map(|i| case.job(i, [i, 3, 0, 20 - i], u64::from(i) + 20));
    let jobs: Vec<_> = jobs.into_iter().chain(tiny).collect();
    case.sort(&jobs, Together::Batch, 6);
}

/// Runs a third of the formats, each with one of the tests and one of the setups. Which third depends on the subgroup
/// size: several sizes are tested.
fn run(test: usize, body: fn(&Case)) {
    const SETUPS: [Setup; 3] = [Setup::Native, Setup::Folded, Setup::Emulated(32)];
    let width = context(Setup::Native).device().facts().max_lanes.trailing_zeros() as usize;
    for (kind, info) in KINDS.iter().enumerate() {
        let setup = (kind / 3 + test) % SETUPS.len();
        let in_rotation = kind / 3 % TESTS == test && (kind + width).is_multiple_of(3) && !common::brief();
        // The first two kinds differ in whether their tiles wait.
        if in_rotation || kind < 2 && (kind + test).is_multiple_of(2) || common::full() {
            note(format!("{:?} {info:?}", SETUPS[setup]));
            body(&Case::new(SETUPS[setup], kind));
        }
    }
}

const TESTS: usize = 5;

pub(crate) fn segments_of_all_sizes() {
    run(0, of_all_sizes);
}

pub(crate) fn segments_of_one_size() {
    run(1, of_one_size);
}

pub(crate) fn segments_counted_on_the_device() {
    run(2, counts_on_the_device);
}

pub(crate) fn segments_that_are_mostly_empty() {
    run(3, mostly_empty);
}

pub(crate) fn segments_in_a_batch() {
    run(4, in_a_batch);
}

/// With the built-in profile by look-back, and with tiny tiles by reduce-then-scan.
fn cases() -> [Case; 2] {
    [Case::new(Setup::Native, 0), Case::new(Setup::Folded, 3)]
}

pub(crate) fn random_segments() {
    for case in cases() {
        let (whole, long) = (case.whole(), case.long(2));
        let length = prop_oneof![6 => 0..40u32, 3 => 0..=whole + 3, 1 => whole..=long];
        let count = prop_oneof![2 => Just(None), 1 => (0..40u32).prop_map(Some)];
        let parts = (prop::collection::vec(length, 0..30), 0..50u32, count, any::<u64>());
        let ran = runner().run(&parts, |(lengths, skipped, count, seed)| {
            let job = case.job(skipped, lengths, seed);
            case.sort(
                &[if let Some(count) = count { job.counted(Counted::Device(count)) } else { job }],
                Together::Singles,
                seed,
            );
            Ok(())
        });
        ran.unwrap_or_else(|failure| panic!("{failure}"));
    }
}

pub(crate) fn a_stranger_between_segments() {
    for case in cases() {
        let jobs =
            [case.job(2, [3, case.long(2), 0, 9], 11), case.job(0, [case.whole(); 4], 12).counted(Counted::Device(3))];
        run_between_strangers(&case.context, &jobs);
        assert_silence(&case.context);
    }
}

/// The maximum number of segments: the search for the first segment of a window takes the most steps.
pub(crate) fn more_segments_than_two_steps_of_the_search_distinguish() {
    for case in cases() {
        let threads = case.context.device().profile().radix.keys.segments.shape.threads;
        let mut random = Random::new(8);
        let lengths: Vec<u32> = (0..threads * threads + 1000).map(|_| random.below(3)).collect();
        case.sort(&[case.job(3, lengths, 3)], Together::Singles, 6);
    }
}

/// With any content of scratch, and repeatedly.
pub(crate) fn segments_are_the_same_each_time() {
    for case in cases() {
        let jobs = [case.job(1, mixed_lengths(&case), 5).counted(Counted::Device(30))];
        for poison in [Poison::Random(7), Poison::Fill(u32::MAX), Poison::Fill(0xaaaa_aaaa), Poison::Fill(0)] {
            let arena = Arena::new(&case.context, &jobs, Together::Singles, poison);
            for _ in 0..5 {
                arena.reset();
                case.context.run(|commands| arena.record(commands, Together::Singles)).expect("the job is valid");
                arena.check();
            }
        }
        assert_silence(&case.context);
    }
}

pub(crate) fn segments_whose_tiles_are_late() {
    for kind in [0, 11] {
        let case = Case::new(Setup::Late(2), kind);
        case.sort(&[case.job(2, [5, case.long(9), 0, 70, case.long(3), case.whole()], 9)], Together::Singles, 8);
    }
}
