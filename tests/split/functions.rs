//! Splits by every bucket function and number of buckets.

use crate::common::arena::Together;
use crate::common::contexts::{Setup, assert_silence, setups};
use crate::common::full;
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys, number};
use crate::problem::Job;
use crate::{Case, in_rotation, items};
use trommel::{BucketFunction, IdType, KeyType, Layout, Order, SplitterInfo, Strategy, ValueType};

/// Numbers of buckets: one, powers of two, their neighbors, and others.
const BUCKETS: [u32; 13] = [1, 2, 3, 5, 8, 17, 31, 32, 33, 64, 100, 255, 256];

/// Keys, values and layouts.
const ITEMS: [SplitterInfo; 12] = {
    use KeyType::{F32, F64, I64, U8, U16, U32, U64};
    use ValueType::{Bytes, Index, None};
    [
        items(U32, None),
        items(U32, ValueType::U32),
        items(U64, None),
        items(U64, Bytes(8)),
        SplitterInfo { drop_keys: true, ..items(U32, Index) },
        SplitterInfo { layout: Layout::Interleaved, ..items(U32, Bytes(16)) },
        SplitterInfo { layout: Layout::Strided, ..items(U16, Bytes(8)) },
        SplitterInfo { max_count: u32::MAX, ..items(F32, ValueType::U32) },
        items(U8, Index),
        items(I64, Bytes(16)),
        items(F64, None),
        items(U8, None),
    ]
};

/// Every number of buckets with each strategy, by bits or by ranges. Items and setups rotate, so that each occurs with
/// several strategies.
pub(crate) fn every_number_of_buckets() {
    let setups = setups();
    for (kind, buckets) in BUCKETS.into_iter().enumerate() {
        for (nth, strategy) in Strategy::ALL.into_iter().enumerate() {
            let at = kind * Strategy::ALL.len() + nth;
            for ranges in [false, true] {
                if !(full() || in_rotation(at) && ranges == (at / 3).is_multiple_of(2)) {
                    continue;
                }
                let of_words = [0, 1, 4, 5];
                let items = if ranges {
                    ITEMS[of_words[(at + kind) % of_words.len()]]
                } else {
                    ITEMS[(7 * kind + 5 * nth) % ITEMS.len()]
                };
                let case = by_field_or_range(setups[(kind + nth) % setups.len()], buckets, ranges, items, strategy, at);
                let n = case.tiles(5);
                let jobs = [
                    case.draw(Keys::Random, n, at as u64),
                    case.draw(Keys::Special, n - 1, 1).counted(Counted::Device(n as u32 - 9)),
                    case.draw(Keys::Random, 3, 2).counted(Counted::Device(7)),
                    case.draw(Keys::LowEntropy, case.tiles(2), 3),
                    case.draw(Keys::Random, 0, 4).counted(Counted::Device(1)),
                ];
                case.split(&jobs, [Together::Singles, Together::Batch][at / 2 % 2], at as u64);
                assert_silence(&case.context);
            }
        }
    }
}

/// A case with a field or ranges that `at` selects.
fn by_field_or_range(
    setup: Setup,
    buckets: u32,
    ranges: bool,
    items: SplitterInfo,
    strategy: Strategy,
    at: usize,
) -> Case {
    let by = |function| Case::new(setup, &SplitterInfo { buckets, function, ..items }.strategy(strategy));
    if ranges {
        let all = (1u64 << items.key.bits().min(32)).div_ceil(buckets.into());
        let width = [all.min(u32::MAX.into()), 1, 7, 1 << 20][at % 4];
        return by(BucketFunction::Range).ranges([0, 9, 1 << 30, u64::from(u32::MAX - 5)][at / 4 % 4], width);
    }
    // The lowest bits, the highest of a word, some between; of long keys, in the upper word too. (A field is one bit at
    // least.)
    let free = items.key.bits().min(32) - buckets.next_power_of_two().ilog2().max(1);
    let upper = if items.key.bits() > 32 && at.is_multiple_of(2) { 32 } else { 0 };
    by(BucketFunction::Bits { begin_bit: upper + [0, free, free / 2][at % 3] })
}

/// The other bucket functions, and numbers of buckets beyond one digit. All of these need labels.
const BY_LABELS: [(SplitterInfo, Keys); 24] = {
    use BucketFunction::{Ids, Range, Signs, Splitters};
    use IdType::{U8, U16, U32};
    use KeyType::{F32, F64, I32, I64, U32x2, U32x3, U32x4, U64};
    use ValueType::{Bytes, Index, None};
    const fn with(buckets: u32, function: BucketFunction, items: SplitterInfo, keys: Keys) -> (SplitterInfo, Keys) {
        (SplitterInfo { buckets, function, ..items }, keys)
    }
    const U32_KEYS: SplitterInfo = items(KeyType::U32, None);
    const PAIRS: SplitterInfo = items(KeyType::U32, ValueType::U32);
    [
        with(1, Ids(U8), PAIRS, Keys::Random),
        with(3, Ids(U32), SplitterInfo { layout: Layout::Strided, ..items(U64, Bytes(8)) }, Keys::Random),
        with(100, Ids(U8), SplitterInfo { drop_keys: true, ..items(KeyType::U32, Index) }, Keys::Random),
        with(255, Ids(U16), U32_KEYS, Keys::Random),
        with(
            256,
            Ids(U8),
            SplitterInfo { layout: Layout::Interleaved, ..items(KeyType::U32, Bytes(16)) },
            Keys::Random,
        ),
        // One bin more than a digit has values, for ids without a bucket.
        with(256, Ids(U32), PAIRS, Keys::Random),
        with(257, Ids(U16), items(U32x4, Bytes(16)), Keys::Random),
        with(1000, Ids(U32), SplitterInfo { drop_keys: true, ..PAIRS }, Keys::Random),
        with(65536, Ids(U16), PAIRS, Keys::Random),
        with(65536, Ids(U32), U32_KEYS, Keys::Random),
        with(1, Splitters, items(I64, Bytes(4)), Keys::Random),
        with(2, Splitters, items(F32, Index), Keys::Special),
        with(8, Splitters, items(I64, Bytes(16)), Keys::Random),
        with(100, Splitters, items(F64, None), Keys::Special),
        with(256, Splitters, SplitterInfo { layout: Layout::Interleaved, ..items(U32x3, Bytes(4)) }, Keys::Random),
        with(1000, Splitters, SplitterInfo { layout: Layout::Strided, ..items(F32, Bytes(8)) }, Keys::Random),
        with(65536, Splitters, PAIRS, Keys::Random),
        with(2, Signs, items(F32, None), Keys::Special),
        with(4, Signs, items(U32x2, ValueType::U32), Keys::Random),
        with(8, Signs, SplitterInfo { drop_keys: true, layout: Layout::Strided, ..items(U32x3, Index) }, Keys::Random),
        with(33, Range, items(U64, ValueType::U32), Keys::Random),
        with(1000, Range, SplitterInfo { layout: Layout::Interleaved, ..items(I32, Bytes(4)) }, Keys::LowEntropy),
        with(1000, BucketFunction::Bits { begin_bit: 37 }, items(I64, None), Keys::Random),
        with(65536, BucketFunction::Bits { begin_bit: 16 }, PAIRS, Keys::Random),
    ]
};

/// Every splitter of [`BY_LABELS`], with one strategy each, or with all strategies (`TROMMEL_TEST_FULL`).
pub(crate) fn every_function_by_labels() {
    let setups = setups();
    for (kind, (info, keys)) in BY_LABELS.into_iter().enumerate() {
        for (nth, strategy) in Strategy::ALL.into_iter().enumerate() {
            let at = kind * Strategy::ALL.len() + nth;
            if !full() && (nth != kind % 5 || !in_rotation(kind)) {
                continue;
            }
            let case = Case::new(setups[(kind + nth) % setups.len()], &info.strategy(strategy));
            let width = (u64::MAX >> (64 - info.key.bits().min(64))) / u64::from(info.buckets) - at as u64;
            let by_ranges = info.function == BucketFunction::Range;
            let case =
                if by_ranges { case.ranges([0, 12_345, 1 << 30][nth % 3], [width, 1 << 20][at % 2]) } else { case };
            let n = case.tiles(3);
            let jobs = [
                case.draw(keys, n, at as u64),
                case.draw(Keys::Random, n - 1, 1).counted(Counted::Device(n as u32 - 9)),
                case.draw(keys, 3, 2).counted(Counted::Device(7)),
                case.draw(Keys::Random, 0, 4).counted(Counted::Device(1)),
            ];
            case.split(&jobs, [Together::Singles, Together::Batch][at % 2], at as u64);
            assert_silence(&case.context);
        }
    }
}

/// Keys at both borders of each range, where the quotient of floats may be off by one.
pub(crate) fn ranges_at_their_borders() {
    let info = SplitterInfo { key: KeyType::U64, ..SplitterInfo::keys(1000, BucketFunction::Range) };
    for width in [3, 0x1234_5677, u64::MAX / 1001] {
        let case = Case::new(Setup::Native, &info).ranges(5, width);
        let border = |i: Bits| 5 + Bits::from(width) * (i / 3) + i % 3 - 1;
        let job = Job::new(&case.splitter, (0..3000).map(border).collect()).asked(case.asked);
        case.split(&[job], Together::Singles, width);
        assert_silence(&case.context);
    }
}

/// Doubles that differ from the splitters in their lower word only. The encoding inverts that word if the key is
/// negative.
pub(crate) fn doubles_between_splitters_of_one_upper_word() {
    let info = SplitterInfo { key: KeyType::F64, ..SplitterInfo::keys(4, BucketFunction::Splitters) };
    let case = Case::new(Setup::Native, &info);
    for upper in [0x3ff0_0000 << 32, 0xbff0_0000 << 32] {
        let draw = |n, seed| Keys::Random.draw(KeyType::U32, n, seed).into_iter().map(|lower| upper | lower);
        let mut given: Vec<Bits> = draw(3, 1).collect();
        given.sort_unstable_by_key(|bits| number(KeyType::F64, Order::Ascending, *bits));
        let job = Job::new(&case.splitter, draw(500, 2).collect()).asked(case.asked).given(given);
        case.split(&[job], Together::Singles, 3);
    }
    assert_silence(&case.context);
}
