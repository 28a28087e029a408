//! Splits on the device that the environment selects, against the standard library's stable sort by buckets.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

mod common;
#[path = "split/late.rs"]
mod late;
#[path = "split/refused.rs"]
mod refused;
#[path = "split/segments.rs"]
mod segments;

use ash::vk;
use common::arena::{Arena, Asked, Counted, Job, Poison, Together, sort};
use common::contexts::{Setup, assert_silence, context, setups, share};
use common::harness::note;
use common::jobs::Misplaced;
use common::keys::{Bits, Keys, Random, number};
use common::ways::{run_between_strangers, run_twice_from_secondary};
use common::{brief, coverage, full, harness, very_brief};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRng, TestRunner};
use std::process::ExitCode;
use trommel::host::Context;
use trommel::{
    BucketFunction, IdType, KeyType, Layout, Order, Sorter, SorterInfo, SplitInfo, SplitMethod, SplitOutput, Splitter,
    SplitterInfo, Strategy, Timestamps, ValueType,
};

/// How many buckets: one, powers of two, their neighbours, and what is neither.
const BUCKETS: [u32; 13] = [1, 2, 3, 5, 8, 17, 31, 32, 33, 64, 100, 255, 256];

const fn items(key: KeyType, value: ValueType) -> SplitterInfo {
    SplitterInfo { key, value, ..SplitterInfo::keys(2, BITS) }
}

/// What is split besides its buckets: keys, values, layouts.
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

const BITS: BucketFunction = BucketFunction::Bits { begin_bit: 0 };

/// One kind of splitter in one setup, with what its keys are cut by.
struct Case {
    context: Context,
    splitter: Splitter,
    asked: Asked,
}

impl Case {
    fn new(setup: Setup, info: &SplitterInfo) -> Self {
        let context = context(setup);
        let splitter = Splitter::new(context.device(), &info.batches()).unwrap_or_else(|error| panic!("{info:?}: {error}"));
        let asked = Asked { offsets: true, counts: true, command_items: 3, ..Asked::default() };
        note(format!("{} {setup:?} {info:?}", context.name()));
        Self { context, splitter, asked }
    }

    /// By ranges from `low` on.
    fn ranges(self, low: u64, width: u64) -> Self {
        Self { asked: Asked { low, width, ..self.asked }, ..self }
    }

    /// Items of some tiles, and a few more.
    fn tiles(&self, tiles: usize) -> usize {
        let (profile, info) = (self.context.device().profile(), self.splitter.info());
        let long = info.key.bits() > 32 && matches!(info.function, BucketFunction::Bits { .. }) && info.buckets <= 256;
        let shapes = match (long, info.value == ValueType::None) {
            (true, _) => &profile.sort_long,
            (false, true) => &profile.sort_keys,
            (false, false) => &profile.sort_pairs,
        };
        shapes.tiles.last().map_or(0, |sized| sized.shape.tile() as usize) * tiles + 37
    }

    fn draw(&self, keys: Keys, n: usize, seed: u64) -> Job<'_> {
        Job::draw(&self.splitter, keys, n, seed).asked(self.asked)
    }

    /// Keys of given buckets: of bits the lowest, all others random.
    fn of_buckets(&self, n: usize, bucket: impl Fn(usize) -> Bits) -> Job<'_> {
        let mut random = Random::new(n as u64);
        let keys = (0..n).map(|i| match self.splitter.info().function {
            BucketFunction::Range => Bits::from(self.asked.low) + bucket(i) * Bits::from(self.asked.width),
            _ => Bits::from(random.next()) << 8 & 0xffff_ff00 | bucket(i),
        });
        Job::new(&self.splitter, keys.collect()).asked(self.asked)
    }

    fn split(&self, jobs: &[Job<'_>], together: Together, seed: u64) {
        sort(&self.context, jobs, together, Poison::Random(seed));
    }
}

/// Whether what runs takes its turn here: drivers share all, and those that take long to make pipelines run a few.
fn in_turn(place: usize) -> bool {
    let one_of = if very_brief() { 14 } else { 7 };
    if brief() { full() || place % one_of == 3 } else { share().is_none_or(|share| place % 3 == share) }
}

/// Every number of buckets with each strategy, by bits and by ranges in turn; and all items, in all setups: each with several of the others.
fn every_number_of_buckets() {
    let setups = setups();
    for (place, buckets) in BUCKETS.into_iter().enumerate() {
        for (turn, strategy) in Strategy::ALL.into_iter().enumerate() {
            let at = place * Strategy::ALL.len() + turn;
            for ranges in [false, true] {
                if !(full() || in_turn(at) && ranges == (at / 3).is_multiple_of(2)) {
                    continue;
                }
                let of_words = [0, 1, 4, 5];
                let items = if ranges {
                    ITEMS[of_words[(at + place) % of_words.len()]]
                } else {
                    ITEMS[(7 * place + 5 * turn) % ITEMS.len()]
                };
                let case = by_field_or_range(setups[(place + turn) % setups.len()], buckets, ranges, items, strategy, at);
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

/// One of a numbered line of fields or ranges.
fn by_field_or_range(setup: Setup, buckets: u32, ranges: bool, items: SplitterInfo, strategy: Strategy, at: usize) -> Case {
    let by = |function| Case::new(setup, &SplitterInfo { buckets, function, ..items }.strategy(strategy));
    if ranges {
        let all = (1u64 << items.key.bits().min(32)).div_ceil(buckets.into());
        let width = [all.min(u32::MAX.into()), 1, 7, 1 << 20][at % 4];
        return by(BucketFunction::Range).ranges([0, 9, 1 << 30, u64::from(u32::MAX - 5)][at / 4 % 4], width);
    }
    // The lowest bits, the highest of a word, some between; of long keys, in the upper word too. (A field is one bit at least.)
    let free = items.key.bits().min(32) - buckets.next_power_of_two().ilog2().max(1);
    let upper = if items.key.bits() > 32 && at.is_multiple_of(2) { 32 } else { 0 };
    by(BucketFunction::Bits { begin_bit: upper + [0, free, free / 2][at % 3] })
}

/// Every other function, and more buckets than a digit has values: they go by labels.
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
        with(256, Ids(U8), SplitterInfo { layout: Layout::Interleaved, ..items(KeyType::U32, Bytes(16)) }, Keys::Random),
        // A bin more than a digit has values, for ids of no bucket.
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

/// What becomes of items besides: of one bucket, of none, of all where buckets begin elsewhere, and the ranks of those that stay.
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

/// What does not wait, and one of those that do, or all; what is only counted has nothing to wait for.
fn strategies_of(output: SplitOutput, place: usize) -> impl Iterator<Item = Strategy> {
    let waits = |strategy: &Strategy| *strategy != Strategy::ReduceThenScan;
    let waiting = Strategy::ALL.into_iter().filter(waits).enumerate();
    let waiting = waiting.filter(move |(turn, _)| output != SplitOutput::Counts && (full() || place % 4 == *turn));
    std::iter::once(Strategy::Auto).chain(waiting.map(|(_, strategy)| strategy))
}

fn other_outputs() {
    let setups = setups();
    let outputs = OUTPUTS.into_iter().enumerate().filter(|(place, _)| in_turn(*place));
    let by_all =
        outputs.flat_map(|(place, (info, output))| strategies_of(output, place).map(move |by| (place, info.strategy(by), output)));
    for (place, info, output) in by_all {
        let case = Case::new(setups[place / 3 % setups.len()], &info.output(output));
        let case = if info.function == BucketFunction::Range { case.ranges(1 << 30, 1 << (28 + place % 3)) } else { case };
        let n = case.tiles(5);
        let jobs = [
            case.draw(Keys::Random, n, place as u64),
            case.draw(Keys::LowEntropy, n - 1, 1).counted(Counted::Device(n as u32 - 9)),
            case.draw(Keys::Random, 3, 2).counted(Counted::Device(7)),
            case.draw(Keys::Random, 700, 3).asked(Asked { low: case.asked.low, width: case.asked.width, ..Asked::default() }),
            case.draw(Keys::Random, 0, 4).counted(Counted::Device(1)),
        ];
        for together in [Together::Singles, Together::Batch] {
            case.split(&jobs, together, place as u64);
        }
        assert_silence(&case.context);
    }
}

/// Buckets that begin too late, or so late that their places come round at 2^32: items without room stay behind, all others arrive.
fn buckets_placed_beyond_the_output() {
    let setups = setups();
    let placed = |info: SplitterInfo| info.output(SplitOutput::Placed);
    let by_keys = placed(SplitterInfo::pairs(33, BITS));
    let by_ids =
        SplitterInfo { function: BucketFunction::Ids(IdType::U8), drop_keys: true, ..placed(SplitterInfo::pairs(200, BITS)) };
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
    for (place, info) in kinds.into_iter().enumerate().filter(|(place, _)| in_turn(*place)) {
        let case = Case::new(setups[place % setups.len()], &info);
        let n = case.tiles(3);
        let half = n as u32 / 2;
        let all = [Misplaced::By(half), Misplaced::By(n as u32), Misplaced::By(u32::MAX - half), Misplaced::To(u32::MAX)];
        let job = |(i, misplaced)| {
            let asked = Asked { misplaced, counts: i % 2 == 0, ..case.asked };
            let count = if i % 2 == 0 { Counted::Host } else { Counted::Device(n as u32 - 9) };
            case.draw(Keys::Random, n, i as u64).asked(asked).counted(count)
        };
        let jobs: Vec<Job<'_>> = all.into_iter().enumerate().map(job).collect();
        for together in [Together::Singles, Together::Batch] {
            case.split(&jobs, together, place as u64);
        }
        assert_silence(&case.context);
    }
}

/// Ranked by subgroups, in order and as items come: of one bucket and of many, of none and where the caller says, in two moves.
fn other_methods() {
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
    for (place, info) in kinds.into_iter().enumerate() {
        for (turn, method) in [SplitMethod::Subgroup, SplitMethod::Direct].into_iter().enumerate() {
            let at = 2 * place + turn;
            if !full() && (turn != place / 3 % 2 || !in_turn(place)) {
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

fn every_function_by_labels() {
    let setups = setups();
    for (place, (info, keys)) in BY_LABELS.into_iter().enumerate() {
        for (turn, strategy) in Strategy::ALL.into_iter().enumerate() {
            let at = place * Strategy::ALL.len() + turn;
            if !full() && (turn != place % 5 || !in_turn(place)) {
                continue;
            }
            let case = Case::new(setups[(place + turn) % setups.len()], &info.strategy(strategy));
            let width = (u64::MAX >> (64 - info.key.bits().min(64))) / u64::from(info.buckets) - at as u64;
            let by_ranges = info.function == BucketFunction::Range;
            let case = if by_ranges { case.ranges([0, 12_345, 1 << 30][turn % 3], [width, 1 << 20][at % 2]) } else { case };
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

/// Keys at both borders of each range, where a quotient of floats is wrong now and then.
fn ranges_at_their_borders() {
    let info = SplitterInfo { key: KeyType::U64, ..SplitterInfo::keys(1000, BucketFunction::Range) };
    for width in [3, 0x1234_5677, u64::MAX / 1001] {
        let case = Case::new(Setup::Native, &info).ranges(5, width);
        let border = |i: Bits| 5 + Bits::from(width) * (i / 3) + i % 3 - 1;
        let job = Job::new(&case.splitter, (0..3000).map(border).collect()).asked(case.asked);
        case.split(&[job], Together::Singles, width);
        assert_silence(&case.context);
    }
}

/// Doubles that differ from splitters in their lower words alone, which negative ones have turned.
fn doubles_between_splitters_of_one_upper_word() {
    let info = SplitterInfo { key: KeyType::F64, ..SplitterInfo::keys(4, BucketFunction::Splitters) };
    let case = Case::new(Setup::Native, &info);
    for upper in [0x3ff0_0000 << 32, 0xbff0_0000 << 32] {
        let draw = |n, seed| Keys::Random.draw(KeyType::U32, n, seed).into_iter().map(|lower| upper | lower);
        let mut given: Vec<Bits> = draw(3, 1).collect();
        given.sort_unstable_by_key(|bits| number(KeyType::F64, Order::Ascending, *bits));
        let job = Job::new(&case.splitter, draw(500, 2).collect()).asked(case.asked);
        case.split(&[Job { given, ..job }], Together::Singles, 3);
    }
    assert_silence(&case.context);
}

/// Pairs with each of these in turn: what does not depend on the number of buckets.
fn cases(turn: usize) -> Vec<Case> {
    let strategies = [Strategy::Lookback, Strategy::ReduceThenScan, Strategy::Ring];
    let case = |(i, setup)| {
        let (buckets, function) = [(5, BITS), (32, BITS), (100, BucketFunction::Range)][(turn + i) % 3];
        let info = SplitterInfo::pairs(buckets, function).strategy(strategies[(turn + i / 2) % 3]);
        let case = Case::new(setup, &info);
        if function == BITS { case } else { case.ranges(77, 1 << 25) }
    };
    // Of subgroups as the device has them one of two, and emulated ones.
    setups().into_iter().enumerate().filter(|(i, _)| full() || *i == turn % 2 || *i == 2).map(case).collect()
}

fn sizes() {
    for case in cases(0) {
        let profile = case.context.device().profile();
        let lanes = if profile.lanes == 0 { case.context.device().facts().max_lanes } else { profile.lanes };
        let shapes = profile.sort_pairs.tiles.iter();
        let tiles = shapes.flat_map(|sized| [sized.shape.tile(), 2 * sized.shape.tile(), sized.up_to.min(1 << 15)]);
        let around = [1, lanes, profile.plain_threads].into_iter().chain(tiles).chain((1..=12).map(|k| 1 << k));
        let sizes: std::collections::BTreeSet<u32> = around.flat_map(|n| n - 1..=n + 1).collect();
        let jobs: Vec<_> = sizes.into_iter().map(|n| case.draw(Keys::Random, n as usize, n.into())).collect();
        case.split(&jobs, Together::Singles, 1);
        assert_silence(&case.context);
    }
}

/// One bucket that holds all, be it the first, the last or one between; one after the other; few large ones and many small; and whatever else
/// keys may be.
fn distributions() {
    for case in cases(1) {
        let (n, buckets) = (case.tiles(4), Bits::from(case.splitter.info().buckets));
        let mut jobs: Vec<_> = Keys::ALL.iter().map(|keys| case.draw(*keys, n, 2)).collect();
        for one in [0, buckets / 2, buckets - 1] {
            jobs.push(case.of_buckets(n, |_| one));
        }
        jobs.push(case.of_buckets(n, |i| i as Bits % buckets));
        jobs.push(case.of_buckets(n, |i| (i.trailing_zeros() as Bits).min(buckets - 1)));
        jobs.push(case.of_buckets(n, |i| i as Bits * buckets / n as Bits));
        case.split(&jobs, Together::Singles, 2);
        assert_silence(&case.context);
    }
}

/// What is told of the buckets, in any selection; that nothing else is written.
fn only_what_is_asked_for() {
    for case in cases(2) {
        let jobs: Vec<_> = (0..8)
            .map(|asked| {
                let wanted = |bit: u32| asked >> bit & 1 != 0;
                let command_items = if wanted(2) { 1 + asked * 50 } else { 0 };
                let asked = Asked { offsets: wanted(0), counts: wanted(1), command_items, ..case.asked };
                case.draw(Keys::Random, case.tiles(2), asked.command_items.into()).asked(asked)
            })
            .collect();
        for together in [Together::Singles, Together::Batch] {
            case.split(&jobs, together, 3);
        }
        assert_silence(&case.context);
    }
}

/// Where nobody says how: those of few items alone by one pass, then by the device's own strategy, and many counted first.
fn few_items_and_many() {
    let kinds = [
        SplitterInfo::pairs(5, BITS),
        SplitterInfo { buckets: 100, function: BucketFunction::Ids(IdType::U16), ..items(KeyType::U64, ValueType::None) },
        SplitterInfo { drop_keys: true, ..items(KeyType::U16, ValueType::Index) },
    ];
    for (_, info) in kinds.into_iter().enumerate().filter(|(i, _)| in_turn(*i)) {
        let case = Case::new(Setup::Folded, &info);
        let profile = case.context.device().profile();
        let few = profile.sort_pairs.recounted.last().map_or(0, |sized| sized.up_to as usize);
        let direct = profile.direct_up_to as usize;
        assert!(few + 1 < direct, "{few} are few, and {direct} are not prepared");
        let jobs: Vec<_> = [few, few + 1, direct, direct + 1, 3 * direct]
            .into_iter()
            .flat_map(|n| [case.draw(Keys::Random, n, 1), case.draw(Keys::LowEntropy, n, 2).counted(Counted::Device(n as u32 - 7))])
            .collect();
        for together in [Together::Singles, Together::Batch] {
            case.split(&jobs, together, 12);
        }
        for job in &jobs {
            case.split(std::slice::from_ref(job), Together::Batch, 13);
        }
        assert_silence(&case.context);
    }
}

/// Below, at and above the maximum, and none: clamped counts are flagged, keys of no bucket too, nothing past the count is written, and of
/// nothing there is something to tell.
fn counts_on_the_device() {
    for case in cases(3) {
        let mut jobs = Vec::new();
        for max in [1, case.tiles(4)] {
            let max_count = max as u32;
            for count in [0, 1, max_count / 3, max_count - 1, max_count, max_count + 1, u32::MAX] {
                jobs.push(case.draw(Keys::Random, max, 5).counted(Counted::Device(count)));
            }
        }
        jobs.push(Job { status: true, ..case.draw(Keys::Random, 0, 0) });
        jobs.push(case.draw(Keys::Random, 0, 0).counted(Counted::Device(0)));
        jobs.push(case.draw(Keys::Random, 0, 0));
        for together in [Together::Singles, Together::Batch] {
            case.split(&jobs, together, 4);
        }
        assert_silence(&case.context);
    }
}

/// Keys whose bits say no bucket lie behind those of the last, in their order; whether there are any is flagged, and nowhere else told.
fn keys_of_no_bucket() {
    for (i, setup) in setups().into_iter().enumerate().filter(|(i, _)| full() || brief() == (*i == 0)) {
        let strategy = [Strategy::ReduceThenScan, Strategy::Lookback][i % 2];
        let case = Case::new(setup, &SplitterInfo::pairs(100, BITS).strategy(strategy));
        let n = case.tiles(3);
        let jobs = [
            case.of_buckets(n, |i| i as Bits % 128),
            case.of_buckets(n, |i| i as Bits % 100),
            case.of_buckets(n, |i| if i == n / 2 { 127 } else { 99 }),
            case.of_buckets(n, |_| 100),
        ];
        let jobs = jobs.map(|job| Job { status: true, ..job });
        for together in [Together::Singles, Together::Batch] {
            case.split(&jobs, together, 5);
        }
        // Where nobody asks for anything.
        case.split(&jobs.map(|job| Job { status: false, ..job }.asked(Asked::default())), Together::Singles, 6);
        assert_silence(&case.context);
    }
}

/// Splits of several kinds, and sorts beside them.
fn batches_of_splits_and_sorts() {
    for case in cases(4) {
        let sorter = Sorter::new(case.context.device(), &SorterInfo::pairs().batches()).expect("sorter");
        let few = Splitter::new(case.context.device(), &SplitterInfo::keys(3, BucketFunction::Range).batches()).expect("splitter");
        let mut jobs = Vec::new();
        for (i, n) in [0, 5, 700, case.tiles(1), case.tiles(3)].into_iter().enumerate() {
            jobs.push(case.draw(Keys::Random, n, n as u64));
            jobs.push(Job::draw(&sorter, Keys::Random, n, 8).counted(Counted::Shared { slot: 0, value: 600 }));
            let asked = Asked { low: 1 << 30, width: (i as u64 + 1) << 20, ..case.asked };
            jobs.push(Job::draw(&few, Keys::LowEntropy, n, 9).asked(asked).counted(Counted::Shared { slot: 0, value: 600 }));
            jobs.push(Job::draw(&few, Keys::Random, n, 10).asked(Asked { offsets: false, ..asked }));
        }
        case.split(&jobs, Together::Batch, 7);
        jobs.reverse();
        case.split(&jobs, Together::Batch, 8);
        assert_silence(&case.context);
    }
}

fn poisoned_scratch_and_twenty_runs() {
    for case in cases(5) {
        let n = case.tiles(7);
        let jobs = [case.draw(Keys::HalfOnes, n, 4), case.draw(Keys::Random, n, 5).counted(Counted::Device(n as u32 - 5))];
        for poison in [Poison::Fill(u32::MAX), Poison::Fill(0xaaaa_aaaa), Poison::Fill(0)] {
            sort(&case.context, &jobs, Together::Singles, poison);
        }
        let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(4));
        for _ in 0..20 {
            arena.reset();
            case.context.run(|commands| arena.record(commands, Together::Singles)).expect("the jobs are valid");
            arena.check();
        }
        assert_silence(&case.context);
    }
}

/// Twice in one command buffer, with another's pipeline, layout and push constants between; and from a secondary one, executed twice.
fn strangers_and_secondary_command_buffers() {
    let case = cases(6).remove(0);
    let jobs = [case.tiles(3), case.tiles(2)].map(|n| case.draw(Keys::Random, n, n as u64).counted(Counted::Device(n as u32 - 2)));
    run_between_strangers(&case.context, &jobs);
    run_twice_from_secondary(&case.context, &jobs);
    assert_silence(&case.context);
}

/// One query before the first pass and one after each.
fn timestamps() {
    let case = cases(7).remove(0);
    let (context, vk) = (&case.context, case.context.vk());
    const MOST: u32 = 12;
    // SAFETY: the device is alive; the pool goes after run() has waited.
    unsafe {
        let families = context.instance().get_physical_device_queue_family_properties(context.physical_device());
        if families[context.queue_family() as usize].timestamp_valid_bits == 0 {
            return;
        }
        let pool_info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(MOST);
        let pool = vk.create_query_pool(&pool_info, None).expect("pool");
        for n in [0, 40, case.tiles(9)] {
            let jobs = [case.draw(Keys::Random, n, 8).counted(Counted::Device(n as u32))];
            let arena = Arena::new(context, &jobs, Together::Singles, Poison::Random(8));
            let info = SplitInfo { timestamps: Some(Timestamps { pool, first: 0 }), ..arena.split_info(0) };
            let run = context.run(|commands| {
                vk.cmd_reset_query_pool(commands, pool, 0, MOST);
                case.splitter.cmd_split(commands, &info)
            });
            run.expect("the job is valid");
            arena.check();
            let most = case.splitter.timestamp_count(n as u32).expect("the count is small");
            let mut results = [[0u64; 2]; MOST as usize];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
            // NOT_READY is the answer while any query is not written: the availability tells which.
            let _ = vk.get_query_pool_results(pool, 0, &mut results, flags);
            let written = results.iter().take_while(|result| result[1] != 0).count() as u32;
            assert_eq!(written, most, "queries that timestamp_count tells of");
        }
        vk.destroy_query_pool(pool, None);
    }
    assert_silence(context);
}

/// The same draws on every run.
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

/// Any number of buckets, any field or range, any number of any keys.
fn random_splits() {
    let setups = setups();
    let drawn = (1..=256u32, any::<bool>(), any::<[u32; 4]>(), 0..setups.len(), 0..Keys::ALL.len(), any::<u64>());
    let ran = runner().run(&drawn, |(buckets, ranges, [low, width, bit, n], setup, keys, seed)| {
        let free = 32 - buckets.next_power_of_two().ilog2().max(1);
        let function = if ranges { BucketFunction::Range } else { BucketFunction::Bits { begin_bit: bit % (free + 1) } };
        let info =
            SplitterInfo::pairs(buckets, function).strategy([Strategy::Lookback, Strategy::ReduceThenScan][bit as usize % 2]);
        let case = Case::new(setups[setup], &info);
        let case = if ranges { case.ranges(low.into(), (width >> (bit % 32)).max(1).into()) } else { case };
        let n = n as usize % case.tiles(4);
        case.split(&[Job { status: true, ..case.draw(Keys::ALL[keys], n, seed) }], Together::Singles, seed);
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
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
        segments::strays_of_segments_without_results,
        segments::a_stranger_between_splits_of_segments,
        segments::random_segments,
        late::late_tiles,
        late::late_tiles_of_other_outputs,
        refused::refusals,
    ];
    harness::run(tests.into(), || coverage::prove("split", include_str!("split/coverage.txt")))
}
