//! Splits with other outputs and methods than the usual ones.

use crate::common::arena::Together;
use crate::common::contexts::{assert_silence, setups};
use crate::common::full;
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::problem::{Asked, Job, Misplaced};
use crate::{BITS, Case, in_rotation, items};
use trommel::{BucketFunction, IdType, KeyType, Layout, SplitMethod, SplitOutput, SplitterInfo, Strategy, ValueType};

/// Items and bucket functions for each output other than [`SplitOutput::Buckets`].
const OUTPUTS: [(SplitterInfo, SplitOutput); 20] = {
    use BucketFunction::{Ids, Range, Signs, Splitters};
    use KeyType::{F32, I64, U8, U16, U32, U32x3, U64};
    use SplitOutput::{Bucket, Counts, Placed, Ranks};
    use ValueType::{Bytes, Index, None};
    const fn with(buckets: u32, function: BucketFunction, items: SplitterInfo) -> SplitterInfo {
        SplitterInfo { buckets, function, ..items }
    }
    const INTERLEAVED: SplitterInfo = SplitterInfo { layout: Layout::Interleaved, ..items(U32, Bytes(16)) };
    const PLACES: SplitterInfo = SplitterInfo { drop_keys: true, ..items(U8, Index) };
    const LARGE: SplitterInfo = SplitterInfo { max_count: u32::MAX, ..items(U32, ValueType::U32) };
    [
        (with(2, Range, items(U32, None)), Bucket(1)),
        (with(2, Range, items(U32, ValueType::U32)), Bucket(0)),
        (with(100, BITS, items(U64, Bytes(8))), Bucket(99)),
        (with(5, BITS, INTERLEAVED), Bucket(3)),
        (with(256, BITS, PLACES), Bucket(17)),
        (with(33, Splitters, SplitterInfo { layout: Layout::Strided, ..items(F32, ValueType::U32) }), Bucket(7)),
        (with(255, Ids(IdType::U16), items(I64, None)), Bucket(254)),
        (with(33, BITS, items(U32, ValueType::U32)), Placed),
        (with(256, Range, LARGE), Placed),
        (with(100, BITS, INTERLEAVED), Placed),
        (with(200, Ids(IdType::U8), SplitterInfo { drop_keys: true, ..items(U32, Bytes(4)) }), Placed),
        (with(8, Signs, items(U32x3, Index)), Placed),
        (with(1, BITS, items(U32, None)), Counts),
        (with(256, BITS, items(U8, None)), Counts),
        (with(1000, Splitters, items(I64, None)), Counts),
        (with(65536, Ids(IdType::U32), SplitterInfo { layout: Layout::Strided, ..items(U32, None) }), Counts),
        (with(3, Range, items(U32, None)), Ranks),
        (with(256, BITS, items(U16, None)), Ranks),
        (with(256, Ids(IdType::U32), SplitterInfo { layout: Layout::Strided, ..items(U64, None) }), Ranks),
        (with(100, BITS, SplitterInfo { max_count: u32::MAX, ..items(U32, None) }), Ranks),
    ]
};

/// The device's strategy, and one strategy with waiting tiles (all of these with `TROMMEL_TEST_FULL`). Counts have
/// none: no tile waits.
fn strategies_of(output: SplitOutput, kind: usize) -> impl Iterator<Item = Strategy> {
    let waits = |strategy: &Strategy| *strategy != Strategy::ReduceThenScan;
    let waiting = Strategy::ALL.into_iter().filter(waits).enumerate();
    let waiting = waiting.filter(move |(nth, _)| output != SplitOutput::Counts && (full() || kind % 4 == *nth));
    std::iter::once(Strategy::Auto).chain(waiting.map(|(_, strategy)| strategy))
}

/// Every splitter of [`OUTPUTS`], alone and in batches.
pub(crate) fn other_outputs() {
    let setups = setups();
    let outputs = OUTPUTS.into_iter().enumerate().filter(|(kind, _)| in_rotation(*kind));
    let by_all = outputs.flat_map(|(kind, (info, output))| {
        strategies_of(output, kind).map(move |by| (kind, info.strategy(by), output))
    });
    for (kind, info, output) in by_all {
        let case = Case::new(setups[kind / 3 % setups.len()], &info.output(output));
        let case =
            if info.function == BucketFunction::Range { case.ranges(1 << 30, 1 << (28 + kind % 3)) } else { case };
        let n = case.tiles(5);
        let jobs = [
            case.draw(Keys::Random, n, kind as u64),
            case.draw(Keys::LowEntropy, n - 1, 1).counted(Counted::Device(n as u32 - 9)),
            case.draw(Keys::Random, 3, 2).counted(Counted::Device(7)),
            case.draw(Keys::Random, 700, 3).asked(Asked {
                low: case.asked.low,
                width: case.asked.width,
                ..Asked::default()
            }),
            case.draw(Keys::Random, 0, 4).counted(Counted::Device(1)),
        ];
        for together in [Together::Singles, Together::Batch] {
            case.split(&jobs, together, kind as u64);
        }
        assert_silence(&case.context);
    }
}

/// Placed buckets that begin too late, or so late that the index wraps at 2^32. Items past the end are not written, all
/// others are.
pub(crate) fn buckets_placed_beyond_the_output() {
    let setups = setups();
    let placed = |info: SplitterInfo| info.output(SplitOutput::Placed);
    let by_keys = placed(SplitterInfo::pairs(33, BITS));
    let by_ids = SplitterInfo {
        function: BucketFunction::Ids(IdType::U8),
        drop_keys: true,
        ..placed(SplitterInfo::pairs(200, BITS))
    };
    let items = SplitterInfo { layout: Layout::Interleaved, ..placed(SplitterInfo::pairs(100, BITS)) };
    let kinds = [
        by_keys,
        by_keys.strategy(Strategy::Lookback),
        by_ids.strategy(Strategy::Ring),
        items.strategy(Strategy::ChainedScan),
        by_ids.strategy(Strategy::ReduceThenScan),
        items.method(SplitMethod::Subgroup),
        by_keys.method(SplitMethod::Direct),
    ];
    for (kind, info) in kinds.into_iter().enumerate().filter(|(kind, _)| in_rotation(*kind)) {
        let case = Case::new(setups[kind % setups.len()], &info);
        let n = case.tiles(3);
        let half = n as u32 / 2;
        let all =
            [Misplaced::By(half), Misplaced::By(n as u32), Misplaced::By(u32::MAX - half), Misplaced::To(u32::MAX)];
        let job = |(i, misplaced)| {
            let asked = Asked { misplaced, counts: i % 2 == 0, ..case.asked };
            let count = if i % 2 == 0 { Counted::Host } else { Counted::Device(n as u32 - 9) };
            case.draw(Keys::Random, n, i as u64).asked(asked).counted(count)
        };
        let jobs: Vec<Job<'_>> = all.into_iter().enumerate().map(job).collect();
        for together in [Together::Singles, Together::Batch] {
            case.split(&jobs, together, kind as u64);
        }
        assert_silence(&case.context);
    }
}

/// Ranking by subgroups, with and without reordering: few and many buckets, ids, splitters, each output, two scatter
/// passes.
pub(crate) fn other_methods() {
    use KeyType::{F64, I16, U32x3, U64};
    let setups = setups();
    let placed = SplitterInfo::pairs(100, BITS).output(SplitOutput::Placed);
    let kinds = [
        SplitterInfo::keys(2, BITS),
        SplitterInfo::pairs(256, BITS),
        SplitterInfo { layout: Layout::Interleaved, buckets: 33, ..items(U64, ValueType::Bytes(8)) },
        SplitterInfo { layout: Layout::Strided, drop_keys: true, buckets: 17, ..items(I16, ValueType::Index) },
        SplitterInfo { buckets: 255, ..items(I16, ValueType::None) },
        SplitterInfo { buckets: 3, ..items(F64, ValueType::U32) },
        SplitterInfo { buckets: 256, function: BucketFunction::Ids(IdType::U16), ..items(U32x3, ValueType::U32) },
        SplitterInfo { function: BucketFunction::Splitters, ..SplitterInfo::pairs(1000, BITS) },
        SplitterInfo { function: BucketFunction::Ids(IdType::U32), ..SplitterInfo::keys(65_536, BITS) },
        SplitterInfo::pairs(5, BITS).output(SplitOutput::Bucket(3)),
        placed,
        SplitterInfo::keys(256, BITS).output(SplitOutput::Ranks),
    ];
    for (kind, info) in kinds.into_iter().enumerate() {
        for (nth, method) in [SplitMethod::Subgroup, SplitMethod::Direct].into_iter().enumerate() {
            let at = 2 * kind + nth;
            if !full() && (nth != kind / 3 % 2 || !in_rotation(kind)) {
                continue;
            }
            let case = Case::new(setups[at % setups.len()], &info.method(method));
            let n = case.tiles(3);
            let jobs = [
                case.draw(Keys::Random, n, at as u64),
                case.draw(Keys::LowEntropy, n - 1, 1).counted(Counted::Device(n as u32 - 9)),
                case.draw(Keys::Random, 3, 2).counted(Counted::Device(7)),
                case.draw(Keys::Random, 0, 4).counted(Counted::Device(1)),
            ];
            case.split(&jobs, [Together::Singles, Together::Batch][at / 2 % 2], at as u64);
            assert_silence(&case.context);
        }
    }
}
