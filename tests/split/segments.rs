//! Segmented splits: segments of every size in one split.

use crate::common::arena::{Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence, setups};
use crate::common::items::Counted;
use crate::common::keys::{Keys, Random};
use crate::common::ways::run_between_strangers;
use crate::problem::{Asked, Job};
use crate::{BITS, Case, in_rotation, items, runner};
use proptest::prelude::{Just, Strategy as _, any, prop, prop_oneof};
use trommel::tuning::ItemKind;
use trommel::{BucketFunction, IdType, KeyType, Layout, SplitterInfo, Strategy, ValueType};

/// Every bucket function, one digit and two, with and without items that have no bucket; formats and layouts.
const KINDS: [SplitterInfo; 14] = {
    use BucketFunction::{Bits, Ids, Range, Signs, Splitters};
    use KeyType::{F32, F64, I64, U32, U32x3, U32x4, U64};
    use ValueType::{Bytes, Index, None};
    const fn with(buckets: u32, function: BucketFunction, items: SplitterInfo) -> SplitterInfo {
        SplitterInfo { buckets, function, segmented: true, ..items }
    }
    const PAIRS: SplitterInfo = items(U32, ValueType::U32);
    [
        with(8, BITS, items(U32, None)),
        with(33, BITS, PAIRS),
        with(2, Range, PAIRS),
        with(1, BITS, items(F32, Index)),
        with(1, Splitters, items(U64, None)),
        with(8, Signs, SplitterInfo { drop_keys: true, layout: Layout::Strided, ..items(U32x3, Index) }),
        with(100, Ids(IdType::U8), SplitterInfo { layout: Layout::Interleaved, ..items(U32, Bytes(16)) }),
        with(255, Splitters, items(F64, Bytes(8))),
        with(256, Bits { begin_bit: 40 }, items(I64, ValueType::U32)),
        // One bit more than a digit has, for items without a bucket.
        with(256, Ids(IdType::U32), SplitterInfo { layout: Layout::Strided, ..items(U64, Bytes(8)) }),
        with(257, Ids(IdType::U16), SplitterInfo { drop_keys: true, ..PAIRS }),
        with(1000, Range, SplitterInfo { layout: Layout::Interleaved, ..items(U32, Bytes(4)) }),
        with(1000, Splitters, items(U32x4, Bytes(16))),
        with(65536, Bits { begin_bit: 16 }, items(U32, None)),
    ]
};

impl Case {
    /// Most items of a segment that one workgroup splits.
    fn whole(&self) -> u32 {
        let profile = self.context.device().profile();
        ItemKind::ALL.map(|kind| profile.radix[kind].segments.tile()).into_iter().max().unwrap_or(0)
    }

    /// Items of some tiles, more than one workgroup splits.
    fn long(&self, tiles: u32) -> u32 {
        let profile = self.context.device().profile();
        let of_kind = |kind| profile.radix[kind].tiles.iter().chain(&profile.split[kind].counted);
        let all = ItemKind::ALL.into_iter().flat_map(of_kind);
        (tiles * all.map(|sized| sized.shape.tile()).max().unwrap_or(0)).max(self.whole()) + 5
    }

    /// Segments of these lengths. `skipped` items before the first and after the last are in no segment.
    fn segments(&self, skipped: u32, lengths: impl IntoIterator<Item = u32>, seed: u64) -> Job<'_> {
        let mut offsets = vec![skipped];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let items = offsets[offsets.len() - 1] + skipped;
        self.draw(Keys::ALL[seed as usize % Keys::ALL.len()], items as usize, seed).cut(offsets)
    }
}

/// Lengths at which the plan changes, and 0.
fn mixed_lengths(case: &Case) -> Vec<u32> {
    let whole = case.whole();
    let mut lengths =
        vec![3, 0, whole / 2, whole + 1, 1, case.long(2), 0, 0, 70, whole, whole - 1, 33, case.long(1), 2];
    let mut random = Random::new(9);
    lengths.extend((0..40).map(|_| random.below(9)));
    lengths
}

fn case(setup: Setup, at: usize, strategy: Strategy) -> Case {
    let info = KINDS[at % KINDS.len()].strategy(strategy);
    let case = Case::new(setup, &info);
    let width = (u64::MAX >> (64 - info.key.bits().min(64))) / u64::from(info.buckets);
    if info.function == BucketFunction::Range { case.ranges(1 << 20, width) } else { case }
}

pub(crate) fn segments_by_every_function() {
    let setups = setups();
    for index in (0..KINDS.len()).filter(|index| in_rotation(*index)) {
        let case = case(setups[index % setups.len()], index, Strategy::ALL[index % Strategy::ALL.len()]);
        let few = Asked { low: case.asked.low, width: case.asked.width, counts: true, ..Asked::default() };
        // Results have a word for each bucket of each segment: with many buckets, few segments.
        let lengths: Vec<u32> =
            mixed_lengths(&case).into_iter().take(if KINDS[index].buckets > 1000 { 14 } else { 54 }).collect();
        let count = lengths.len() as u32;
        let jobs = [
            case.segments(5, lengths.iter().copied(), index as u64),
            case.segments(0, lengths.iter().rev().copied(), 1).counted(Counted::Device(count - 3)),
            case.segments(9, [case.whole(), 3, 0, 8], 2).counted(Counted::Device(9)).asked(few),
            case.segments(2, [4, 5, 6], 3).asked(Asked { counts: false, ..few }),
            case.segments(7, [4, 5], 4).counted(Counted::Device(0)),
            Job { status: true, ..case.segments(0, [], 5) },
            case.segments(0, [0, 0, 0], 6),
        ];
        case.split(&jobs, [Together::Singles, Together::Batch][index % 2], index as u64);
        assert_silence(&case.context);
    }
}

/// Offsets past the end of the arrays are clamped.
pub(crate) fn segments_that_end_beyond_the_arrays() {
    for index in (0..3).filter(|index| in_rotation(*index)) {
        let case = case(Setup::Native, index, Strategy::ReduceThenScan);
        let lengths = [5, 0, case.whole(), 9, case.long(2), 1, 70];
        for items in [7, case.whole() as usize - 3, case.whole() as usize + 20] {
            let job = case.segments(0, lengths, 5);
            let job = Job { keys: job.keys[..items].to_vec(), status: true, ..job };
            run_and_check(&case.context, &[job], Together::Singles, Poison::Random(3));
        }
        assert_silence(&case.context);
    }
}

/// If only the status is requested, the last item of each segment determines the flag of items without a bucket. More
/// segments than threads; one of them has such items.
pub(crate) fn keys_of_no_bucket_in_segments() {
    for (items, expected) in [(40_000usize, true), (39_999, false)] {
        let case = case(Setup::Native, 10, Strategy::ReduceThenScan);
        let mut job = case.segments(0, (0..items as u32).map(|i| i % 2), 3).asked(Asked::default());
        job.handle.given.iter_mut().for_each(|id| *id %= 200);
        if let Some(last) = job.handle.given.last_mut().filter(|_| expected) {
            *last = 1000;
        }
        case.split(&[Job { status: true, ..job }], Together::Singles, 5);
        assert_silence(&case.context);
    }
}

pub(crate) fn a_stranger_between_splits_of_segments() {
    for at in [1, 7] {
        let case = case(Setup::Native, at, [Strategy::ReduceThenScan, Strategy::Lookback][at % 2]);
        let jobs = [
            case.segments(2, [3, case.long(2), 0, 9], 11),
            case.segments(0, [case.whole(); 4], 12).counted(Counted::Device(3)),
        ];
        run_between_strangers(&case.context, &jobs);
        assert_silence(&case.context);
    }
}

pub(crate) fn random_segments() {
    for (setup, at) in [(Setup::Native, 1), (Setup::Folded, 10)] {
        let case = case(setup, at, [Strategy::ReduceThenScan, Strategy::Lookback][at / 10]);
        let (whole, long) = (case.whole(), case.long(2));
        let length = prop_oneof![6 => 0..40u32, 3 => 0..=whole + 3, 1 => whole..=long];
        let count = prop_oneof![2 => Just(None), 1 => (0..30u32).prop_map(Some)];
        let parts = (prop::collection::vec(length, 0..20), 0..50u32, count, any::<u64>());
        let ran = runner().run(&parts, |(lengths, skipped, count, seed)| {
            let job = case.segments(skipped, lengths, seed);
            case.split(
                &[if let Some(count) = count { job.counted(Counted::Device(count)) } else { job }],
                Together::Singles,
                seed,
            );
            Ok(())
        });
        ran.unwrap_or_else(|failure| panic!("{failure}"));
        assert_silence(&case.context);
    }
}
