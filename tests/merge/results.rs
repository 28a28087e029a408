//! Merges of any format, any counts and any keys.

use crate::common::arena::{Arena, Poison, Together};
use crate::common::contexts::{EMULATED, Setup, assert_silence, is_shared_here, share};
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys};
use crate::common::{brief, full, very_brief};
use crate::problem::{Job, Segments};
use crate::{Case, SETUPS};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeSet;
use trommel::{
    Count, KeyType, Layout, MergeInfo, MergeMethod, MergeOperation, MergerInfo, Order, Request, ValueType,
    batch_scratch_size,
};

/// Key types of at least a word.
const KEYS: [KeyType; 9] = [
    KeyType::U32,
    KeyType::I64,
    KeyType::F32,
    KeyType::U64,
    KeyType::U32x3,
    KeyType::F64,
    KeyType::I32,
    KeyType::U32x4,
    KeyType::U32x2,
];

/// Values, layouts, and whether keys are dropped.
const ITEMS: [MergerInfo; 9] = {
    const fn separate(value: ValueType) -> MergerInfo {
        MergerInfo { value, ..MergerInfo::keys() }
    }
    [
        MergerInfo::keys(),
        MergerInfo::pairs(),
        separate(ValueType::Bytes(8)),
        MergerInfo { layout: Layout::Interleaved, ..MergerInfo::pairs() },
        separate(ValueType::Index),
        MergerInfo { drop_keys: true, ..separate(ValueType::Index) },
        MergerInfo { layout: Layout::Interleaved, ..separate(ValueType::Bytes(16)) },
        separate(ValueType::Bytes(36)),
        MergerInfo { drop_keys: true, ..MergerInfo::pairs() },
    ]
};

/// Whether a case runs on this driver: the drivers share all cases, and those with slow pipeline creation run a few.
fn in_rotation(index: usize) -> bool {
    let one_of = if very_brief() { 14 } else { 7 };
    if brief() { full() || index % one_of == 3 } else { is_shared_here(index) }
}

/// Each key type with each kind of items, in either order: equal keys keep their order, A's before B's.
pub(crate) fn every_format() {
    let kinds =
        KEYS.into_iter().enumerate().flat_map(|key| ITEMS.into_iter().enumerate().map(move |items| (key, items)));
    // Pairwise: each key type and each kind of items occurs in both setups and in both orders.
    let chosen = kinds.filter(|((k, _), (i, _))| full() || (k + i).is_multiple_of(3) || *i < 2 && *k < 6);
    for (nth, ((k, key), (i, items))) in chosen.enumerate() {
        if !in_rotation(nth) {
            continue;
        }
        let order = [Order::Ascending, Order::Descending][(k + i / 2) % 2];
        let case = Case::new(SETUPS[(nth + k) % 2], &MergerInfo { key, order, ..items });
        let [tile, fused] = case.tile();
        let jobs = [
            case.draw(Keys::Random, [2 * tile + 7, tile + 5], 1),
            case.draw(Keys::Constant, [tile / 2, tile], 2),
            case.draw(Keys::Special, [tile + 1, tile], 3),
            // Beyond the largest fused merge, in the setup with tiny tiles.
            case.draw(Keys::LowEntropy, [fused.min(4000) + 3, 2 * tile], 4),
        ];
        case.merge(&jobs, Together::Singles, nth as u64);
        assert_silence(&case.context);
    }
}

/// The methods for comparison write the same: in each format, with skewed keys and any counts.
pub(crate) fn methods_for_comparison() {
    let methods = [MergeMethod::Basic, MergeMethod::Tiled, MergeMethod::CircularBuffer];
    for (nth, (method, (i, items))) in methods
        .into_iter()
        .flat_map(|method| ITEMS.into_iter().enumerate().map(move |items| (method, items)))
        .enumerate()
    {
        if !in_rotation(nth) {
            continue;
        }
        let info =
            MergerInfo { key: KEYS[nth % KEYS.len()], order: [Order::Descending, Order::Ascending][i % 2], ..items };
        let case = Case::new(SETUPS[nth % 2], &info.method(method));
        // A section has eight tiles of half as many items.
        let n = 9 * case.tile()[0];
        let most = |count: usize| Counted::Device(count as u32);
        let keys = |from: usize, step: usize| (0..n).map(|i| (from + i * step) as Bits).collect::<Vec<_>>();
        let jobs = [
            case.draw(Keys::Random, [n + 7, n / 2], 1),
            case.draw(Keys::Constant, [n / 3, n], 2),
            case.draw(Keys::LowEntropy, [n, n], 3).counted([most(n - n / 5), most(n + 1)]),
            case.draw(Keys::Special, [0, n], 4),
            case.draw(Keys::Random, [3, 1], 5),
            case.draw(Keys::Random, [0, 0], 6).counted([most(0), Counted::Host]),
            Job::new(&case.merger, [keys(0, 1), keys(n, 1)]),
            Job::new(&case.merger, [keys(n, 1), keys(0, 1)]),
            Job::new(&case.merger, [keys(0, 2), keys(1, 2)]),
        ];
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, nth as u64);
        }
        assert_silence(&case.context);
    }
}

/// Counts around tiles, powers of two and the end of fused merges, in one sequence or in both.
pub(crate) fn sizes() {
    for (setup, info) in SETUPS.into_iter().zip([MergerInfo::pairs(), MergerInfo::keys()]) {
        let case = Case::new(setup, &info);
        let [tile, fused] = case.tile();
        let ends = [tile, 2 * tile, fused.min(1 << 14)].into_iter().chain((0..=11).map(|k| 1 << k));
        let sizes: BTreeSet<usize> = ends.flat_map(|end| end - 1..=end + 1).collect();
        let mut jobs = Vec::new();
        for n in sizes {
            let seed = n as u64;
            jobs.push(case.draw(Keys::Random, [n / 2, n - n / 2], seed));
            if n < 3 * tile {
                jobs.push(case.draw(Keys::Random, [n, 0], seed));
                jobs.push(case.draw(Keys::Random, [0, n], seed));
                jobs.push(case.draw(Keys::LowEntropy, [n, 1], seed));
            }
        }
        case.merge(&jobs, Together::Singles, 1);
        assert_silence(&case.context);
    }
}

/// All of A before B and the reverse, alternating keys, runs of either, one sequence in a gap of the other, and a few
/// items in a large sequence.
pub(crate) fn skewed_sequences() {
    for (setup, info) in SETUPS.into_iter().zip([MergerInfo::keys(), MergerInfo::pairs()]) {
        let case = Case::new(setup, &info);
        let n = 5 * case.tile()[0] + 3;
        let keys = |from: usize, step: usize| (0..n).map(|i| (from + i * step) as Bits).collect::<Vec<_>>();
        let runs = |first: usize| (0..n).map(|i| (i / 100 * 200 + i % 100 + first) as Bits).collect::<Vec<_>>();
        let gap = (0..n).map(|i| (i + if i < n / 2 { 0 } else { 1_000_000 }) as Bits).collect::<Vec<_>>();
        let few = |count: usize| (0..count).map(|i| (i * 2 * n / count) as Bits).collect::<Vec<_>>();
        let jobs = [
            [keys(0, 1), keys(n, 1)],
            [keys(n, 1), keys(0, 1)],
            [keys(0, 2), keys(1, 2)],
            [runs(0), runs(100)],
            [gap.clone(), keys(500_000, 1)],
            [keys(500_000, 1), gap],
            [vec![7; n], vec![7; n]],
            [vec![7; n], keys(0, 1)],
            [keys(0, 2), few(n / 100)],
            [few(3), keys(0, 2)],
        ];
        let jobs = jobs.map(|keys| Job::new(&case.merger, keys));
        case.merge(&jobs, Together::Singles, 2);
        assert_silence(&case.context);
    }
}

/// Every kind of keys, also the largest and the smallest ones.
pub(crate) fn all_distributions() {
    for (i, setup) in SETUPS.into_iter().enumerate() {
        let case = Case::new(setup, &MergerInfo { key: KeyType::F64, ..MergerInfo::pairs() });
        let n = case.tile()[0];
        let jobs: Vec<_> = Keys::ALL.iter().map(|keys| case.draw(*keys, [2 * n + 1, n + 9 * i], 5)).collect();
        case.merge(&jobs, Together::Singles, 3);
        assert_silence(&case.context);
    }
}

/// Device counts of either sequence or both, below, at and above the maximum, and zero. Clamped counts are flagged, and
/// nothing past the counts is written.
pub(crate) fn counts_on_the_device() {
    for (setup, info) in SETUPS.into_iter().zip([MergerInfo::keys(), MergerInfo::pairs()]) {
        let case = Case::new(setup, &info);
        let n = 2 * case.tile()[0] + 5;
        let most = n as u32;
        let device = |count| Counted::Device(count);
        let mut jobs = Vec::new();
        for count in [0, 1, most / 3, most - 1, most, most + 1, u32::MAX] {
            for counts in [[device(count), Counted::Host], [Counted::Host, device(count)], [device(count); 2]] {
                jobs.push(case.draw(Keys::Random, [n, n], 6).counted(counts));
            }
        }
        jobs.push(case.draw(Keys::Random, [n, 0], 7).counted([device(most), device(1)]));
        jobs.push(case.draw(Keys::Random, [0, 0], 8).counted([device(0), Counted::Host]));
        jobs.push(Job { status: true, ..case.draw(Keys::Random, [0, 0], 8) });
        jobs.push(case.draw(Keys::Random, [0, 0], 8));
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, 4);
        }
        assert_silence(&case.context);
    }
}

/// Both sequences may be the same memory, or parts of one array.
pub(crate) fn sequences_that_overlap() {
    let case = Case::new(SETUPS[1], &MergerInfo::pairs());
    let n = 3 * case.tile()[0];
    let job = case.draw(Keys::LowEntropy, [n, n], 9);
    let twice = Job { keys: [job.keys[0].clone(), job.keys[0].clone()], ..job };
    let arena = Arena::new(&case.context, std::slice::from_ref(&twice), Together::Singles, Poison::Random(9));
    let info = twice.info(&arena.places[0]);
    // The arrays of B stay in the arena, unused: values of A and B differ there, so only keys are compared.
    let shared = MergeInfo { keys_b: info.keys_a, ..info };
    // SAFETY: the command buffer is recording; the arena outlives its execution.
    case.context.run(|commands| unsafe { case.merger.cmd_merge(commands, &shared) }).expect("the merge is valid");
    arena.check();
    assert_silence(&case.context);
}

/// Sequences that are not sorted: nothing but the outputs is written, by any method, and every merge ends. Keys of
/// these sequences make the co-ranks of neighboring tiles decrease, and increase by more than a tile.
pub(crate) fn sequences_that_are_not_sorted() {
    let methods = [MergeMethod::Path, MergeMethod::Basic, MergeMethod::Tiled, MergeMethod::CircularBuffer];
    for method in methods {
        let case = Case::new(SETUPS[1], &MergerInfo::pairs().method(method));
        // A merge in one dispatch, and one in two.
        for n in [case.tile()[0], 20 * case.tile()[0]] {
            let draw = |keys: Keys, seed| keys.draw(KeyType::U32, n, seed);
            let saw = |period: usize| (0..n).map(|i| (i % period) as Bits).collect::<Vec<_>>();
            let falling = || (0..n).rev().map(|i| i as Bits).collect::<Vec<_>>();
            let sequences = [
                [draw(Keys::Random, 1), draw(Keys::Random, 2)],
                [falling(), falling()],
                [falling(), draw(Keys::Sorted, 3)],
                [saw(n / 3), saw(7)],
                [saw(5), falling()],
            ];
            let jobs: Vec<_> = sequences
                .into_iter()
                .map(|keys| case.draw(Keys::Random, [n, n], 4).unsorted(keys).counted([Counted::Device(n as u32); 2]))
                .collect();
            for together in [Together::Singles, Together::Batch] {
                case.merge(&jobs, together, 5);
            }
        }
        assert_silence(&case.context);
    }
}

/// Keys of two words that begin at a multiple of 8 bytes or 4 bytes behind it, of A, of B and of the output. Threads
/// have more words of keys than they load at once. Keys of three words have no such alignment.
pub(crate) fn keys_in_any_place() {
    use MergeOperation::{Difference, Intersection, Merge, SymmetricDifference, Union, Update};
    let keys = MergerInfo { key: KeyType::U64, ..MergerInfo::keys() };
    let longer = MergerInfo { key: KeyType::U32x3, ..keys };
    let [pairs, indices] = [ITEMS[1], ITEMS[4]].map(|items| MergerInfo { key: KeyType::I64, ..items });
    let mergers = [
        keys,
        keys.operation(Intersection),
        pairs,
        keys.operation(Union),
        keys.operation(SymmetricDifference),
        keys.operation(Difference),
        keys.operation(Update),
        keys.segmented(),
        longer,
        longer.operation(Intersection),
        longer.operation(Union),
        indices,
        pairs.operation(Intersection),
    ];
    let most = if very_brief() { 1 } else { 3 };
    for (_, info) in mergers.into_iter().enumerate().filter(|(i, _)| *i < most || !brief() && is_shared_here(*i)) {
        let case = Case::new(Setup::Narrow, &info);
        let [tile, fused] = case.tile();
        let counts = [
            [2 * tile + 9, tile + 5],
            [tile / 2, tile],
            [tile, 0],
            [0, tile + 1],
            [1, 1],
            [tile - 1, 2],
            [fused, 2 * tile],
            [7, fused + 3],
        ];
        let job = |number: usize| {
            let behind_8 = [0, 1, 2].map(|array| (number >> array & 1) * 4);
            let [a, b] = counts[(number + number / 8) % 8];
            let job = case.draw([Keys::LowEntropy, Keys::Random][number / 8], [a, b], number as u64).behind_8(behind_8);
            match info.operation {
                Merge if info.segmented => job.cut([a, b].map(|n| vec![0, n as u32 / 3, n as u32]), Counted::Host),
                Update => job.marked(vec![0x0f0f_3335; a.div_ceil(32)]),
                _ => job,
            }
        };
        let jobs: Vec<_> = (0..16).map(job).collect();
        case.merge(&jobs, Together::Singles, 1);
        assert_silence(&case.context);
    }
}

/// Set operations on sets and multisets: random keys, many equal keys, runs longer than tiles, sequences that
/// are equal, disjoint or empty; with counts on the device, alone and in batches. Sequences that are not sorted change
/// nothing but the outputs.
pub(crate) fn set_operations() {
    use MergeOperation::{Difference, Intersection, SymmetricDifference, Union};
    let operations = [Intersection, Union, SymmetricDifference, Difference];
    let counts_only = MergerInfo { drop_keys: true, ..MergerInfo::keys() };
    // Set operations wait for preceding tiles, and use subgroups.
    let emulated = Setup::Emulated(EMULATED[share().unwrap_or(1)]);
    let others = [(Setup::Late(16), MergerInfo::pairs()), (emulated, MergerInfo::keys()), (emulated, ITEMS[3])];
    let kinds = ITEMS.into_iter().chain([counts_only]).enumerate().map(|(nth, items)| (SETUPS[(nth + 1) % 2], items));
    for (nth, (setup, items)) in kinds.chain(others).enumerate() {
        if brief() && nth % 4 != 1 && !matches!(setup, Setup::Late(_)) {
            continue;
        }
        let (key, order) = (KEYS[nth % 4 * nth % KEYS.len()], [Order::Ascending, Order::Descending][nth / 2 % 2]);
        let info = MergerInfo { key, order, ..items.operation(operations[nth % 4]) };
        let case = Case::new(setup, &info);
        let n = 3 * case.tile()[0];
        let keys = |from: usize, step: usize| (0..n).map(|i| (from + i / 2 * step) as Bits).collect::<Vec<_>>();
        let runs = |run: usize, skipped: usize| (0..n).map(|i| (i / run * skipped) as Bits).collect::<Vec<_>>();
        let device = Counted::Device;
        let mut jobs = vec![
            case.draw(Keys::LowEntropy, [n, n / 2 + 9], 1),
            case.draw(Keys::Constant, [n / 2, n], 2),
            case.draw(Keys::Constant, [n, n / 2 + 1], 3),
            case.draw(Keys::Special, [n / 3, n], 4),
            case.draw(Keys::Random, [5, 3], 5),
            case.draw(Keys::Random, [n, 0], 6),
            case.draw(Keys::Random, [0, n], 7),
            case.draw(Keys::Random, [0, 0], 8),
            Job::new(&case.merger, [keys(0, 1), keys(0, 1)]),
            Job::new(&case.merger, [keys(0, 3), keys(0, 2)]),
            Job::new(&case.merger, [keys(0, 1), keys(n, 1)]),
            Job::new(&case.merger, [runs(n / 3, 2), runs(n / 5, 1)]),
            Job::new(&case.merger, [runs(7, 1), runs(11, 2)]),
        ];
        for counts in [[device(0), device(9)], [device(n as u32 / 3), Counted::Host], [device(u32::MAX); 2]] {
            jobs.push(case.draw(Keys::LowEntropy, [n, n], 9).counted(counts));
        }
        let falling = || (0..n).rev().map(|i| i as Bits).collect::<Vec<_>>();
        jobs.push(case.draw(Keys::Random, [0, 0], 10).unsorted([falling(), falling()]));
        jobs.push(case.draw(Keys::Random, [0, 0], 11).unsorted([Keys::Random.draw(key, n, 1), runs(5, 1)]));
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, nth as u64);
        }
        assert_silence(&case.context);
    }
}

/// The first items of runs: of single items, of runs shorter and longer than tiles, and of one run; with counts on the
/// device, alone and in batches. The keys need no order.
pub(crate) fn unique() {
    let counts_only = MergerInfo { drop_keys: true, ..MergerInfo::keys() };
    let emulated = Setup::Emulated(EMULATED[share().unwrap_or(1)]);
    let others = [(Setup::Late(16), ITEMS[1]), (Setup::Late(16), counts_only), (emulated, ITEMS[0])];
    let kinds = ITEMS.into_iter().chain([counts_only]).enumerate().map(|(nth, items)| (SETUPS[(nth + 1) % 2], items));
    for (nth, (setup, items)) in kinds.chain(others).enumerate() {
        if brief() && nth % 6 != 1 && setup != Setup::Late(16) {
            continue;
        }
        let (key, order) = (KEYS[nth % KEYS.len()], [Order::Ascending, Order::Descending][nth / 3 % 2]);
        let case = Case::new(setup, &MergerInfo { key, order, ..items.operation(MergeOperation::Unique) });
        let n = 7 * case.tile()[0] + 3;
        let runs = |run: usize| Job::new(&case.merger, [(0..n).map(|i| (i / run) as Bits).collect(), vec![]]);
        let device = Counted::Device;
        let mut jobs: Vec<_> = [1, 2, 4, 7, n / 15, n / 3].map(runs).into();
        for (seed, keys) in (1..).zip([Keys::LowEntropy, Keys::Constant, Keys::Special, Keys::Random]) {
            jobs.push(case.draw(keys, [n, 0], seed));
            jobs.push(case.draw(keys, [seed as usize - 1, 0], seed + 4));
        }
        for counts in [[device(0), Counted::Host], [device(n as u32 / 3), device(0)], [device(n as u32 + 1), device(3)]]
        {
            jobs.push(runs(3).counted(counts));
        }
        let any_order = |keys: Vec<Bits>| case.draw(Keys::Random, [0, 0], 9).unsorted([keys, vec![]]);
        jobs.push(any_order((0..n).map(|i| (i / 5 % 3) as Bits).collect()));
        jobs.push(any_order((0..n).rev().map(|i| (i / 2) as Bits).collect()));
        jobs.push(any_order(Keys::Special.draw(key, n, 10)));
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, nth as u64);
        }
        assert_silence(&case.context);
    }
}

/// Offsets of `segments` segments of any length: many are empty, some are longer than a tile.
fn cut(items: usize, segments: usize, seed: u64) -> Vec<u32> {
    let mut ends: Vec<u32> = (0..segments as u64)
        .map(|segment| (seed * 0x9e37 + segment * segment * 0x85eb + segment * 7919) % (items as u64 + 1))
        .map(|end| end as u32)
        .collect();
    ends.sort_unstable();
    // A few segments have most of the items.
    let shift = |end: u32| if end.is_multiple_of(3) { end } else { end / 8 };
    let mut offsets: Vec<u32> = std::iter::once(0).chain(ends.into_iter().map(shift)).collect();
    offsets.sort_unstable();
    *offsets.last_mut().expect("the first offset") = items as u32;
    offsets
}

/// Segments of any number and length, with the offsets of the output; also empty ones, one alone and none, with their
/// number on the device. Offsets that fall or exceed the arrays change nothing but the outputs.
pub(crate) fn segments() {
    let kinds = [
        (SETUPS[1], ITEMS[0]),
        (SETUPS[0], ITEMS[1]),
        (SETUPS[1], ITEMS[3]),
        (SETUPS[1], MergerInfo { key: KeyType::I64, order: Order::Descending, ..ITEMS[5] }),
        (SETUPS[0], MergerInfo { key: KeyType::F32, ..ITEMS[0] }),
    ];
    let most = if very_brief() { 1 } else { 2 };
    for (nth, (setup, items)) in kinds.into_iter().enumerate().take(if brief() { most } else { kinds.len() }) {
        let case = Case::new(setup, &items.segmented());
        let (n, device) = (3 * case.tile()[0] + 5, Counted::Device);
        let draw = |keys: Keys, counts: [usize; 2], seed: u64| case.draw(keys, counts, seed);
        let mut jobs = vec![
            draw(Keys::Random, [n, n / 2], 1).cut([cut(n, 40, 1), cut(n / 2, 40, 2)], Counted::Host),
            draw(Keys::LowEntropy, [n, n], 2).cut([cut(n, 3 * n, 3), cut(n, 3 * n, 4)], device(3 * n as u32)),
            draw(Keys::Special, [n / 3, n], 3).cut([vec![0, n as u32 / 3], vec![0, n as u32]], Counted::Host),
            draw(Keys::Constant, [n, 3], 4).cut([cut(n, 7, 5), vec![0, 0, 1, 1, 1, 2, 3, 3]], device(9)),
            draw(Keys::Random, [n, n], 5).cut([cut(n, 64, 6), cut(n, 64, 7)], device(33)),
            draw(Keys::Random, [n, n], 6).cut([cut(n, 4, 8), cut(n, 4, 9)], device(0)),
            draw(Keys::Random, [0, n], 7).cut([vec![0; 4], cut(n, 3, 1)], Counted::Host),
            draw(Keys::Random, [0, 0], 8).cut([vec![0; 70], vec![0; 70]], Counted::Host),
            draw(Keys::Random, [5, 9], 9).cut([vec![3], vec![4]], Counted::Host),
            // The last segment ends before the arrays do, or past their end.
            draw(Keys::Random, [n, n], 10).cut([vec![0, 7, n as u32 - 9], vec![0, 9, 10]], Counted::Host),
            Job {
                status: true,
                ..draw(Keys::Random, [n, n], 11).cut([vec![0, 7, u32::MAX], vec![0, 9, n as u32]], Counted::Host)
            },
            Job { status: true, ..draw(Keys::Random, [n, n], 12).cut([cut(n, 9, 1), cut(n, 9, 2)], device(10)) },
        ];
        let falling: Vec<u32> = cut(n, 50, 3).into_iter().rev().collect();
        let noise: Vec<u32> = (0..51).map(|i: u32| i.wrapping_mul(0x9e37_79b9) >> (i % 25)).collect();
        for offsets in [[falling.clone(), falling.clone()], [noise.clone(), falling], [noise.clone(), noise]] {
            let job = draw(Keys::Random, [n, n], 13);
            let segments = Some(Segments { offsets, count: device(50) });
            jobs.push(Job { segments, unsorted: true, ..job });
        }
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, nth as u64);
        }
        assert_silence(&case.context);
    }
}

/// Updates without marks, with few, many and all items marked, by index and by value, also of segments and with counts
/// on the device. Sequences that are not sorted change nothing but the outputs.
pub(crate) fn updates() {
    use MergeOperation::{Update, UpdateByValue};
    let emulated = Setup::Emulated(EMULATED[share().unwrap_or(1)]);
    let kinds = [
        (SETUPS[1], ITEMS[1].operation(UpdateByValue)),
        (Setup::Late(16), ITEMS[0].operation(Update)),
        (SETUPS[0], ITEMS[1].operation(UpdateByValue).segmented()),
        (SETUPS[1], MergerInfo { key: KeyType::F64, ..ITEMS[4] }.operation(Update).segmented()),
        (emulated, ITEMS[3].operation(UpdateByValue)),
        (SETUPS[1], MergerInfo { key: KeyType::I64, order: Order::Descending, ..ITEMS[7] }.operation(Update)),
        (emulated, ITEMS[0].operation(Update)),
        (Setup::Late(16), ITEMS[8].operation(UpdateByValue)),
    ];
    for (nth, (setup, info)) in kinds.into_iter().enumerate() {
        // The drivers share all but the first.
        let first = if very_brief() { 1 } else { 3 };
        if nth >= first && (brief() || !is_shared_here(nth)) {
            continue;
        }
        let case = Case::new(setup, &info);
        let n = if very_brief() { 3000 } else { 5 * case.tile()[0].max(2000) + 3 };
        let words = n.div_ceil(32);
        let noise = |word: usize, seed: u32| (word as u32 + 1).wrapping_mul(0x9e37_79b9 ^ seed).rotate_left(seed);
        let random = |seed: u32| (0..words).map(|word| noise(word, seed)).collect::<Vec<_>>();
        let few: Vec<u32> = (0..words).map(|word| if word % 5 == 2 { 1 << (word % 32) } else { 0 }).collect();
        let parts: Vec<u32> = (0..words).map(|word| if word / 40 % 2 == 0 { u32::MAX } else { 0 }).collect();
        let (none, all) = (vec![0; words], vec![u32::MAX; words]);
        let draw = |keys: Keys, counts: [usize; 2], seed: u64| case.draw(keys, counts, seed);
        let mut jobs = vec![
            draw(Keys::Random, [n, n / 50], 1).marked(few.clone()),
            draw(Keys::LowEntropy, [n, n], 2).marked(random(3)),
            draw(Keys::Random, [n, 700], 3).marked(none),
            draw(Keys::Random, [n, 700], 4).marked(all.clone()),
            draw(Keys::Random, [n, 0], 5).marked(parts),
            draw(Keys::Random, [0, 9], 6).marked(if info.operation == Update { vec![] } else { few }),
            draw(Keys::Random, [1, 0], 7).marked(vec![1]),
            draw(Keys::Constant, [32, 64], 8).marked(vec![0x8000_0001]),
        ];
        if info.operation == UpdateByValue {
            // Most values have no mark.
            jobs.push(draw(Keys::Random, [n, n], 9).marked(random(7)[..words / 3].to_vec()));
        }
        if info.segmented {
            for (segments, job) in [1, 40, 9, 2 * n, 3, 0, 5, 2, 77].into_iter().zip(&mut jobs) {
                let offsets = [0, 1].map(|side| match segments {
                    0 => vec![0],
                    _ => cut(job.keys[side].len(), segments, side as u64),
                });
                *job = job.clone().cut(offsets, Counted::Host);
            }
        } else {
            let device = Counted::Device;
            for counts in [[device(0), device(9)], [device(n as u32 / 3), Counted::Host], [device(u32::MAX); 2]] {
                jobs.push(draw(Keys::LowEntropy, [n, n], 10).marked(random(1)).counted(counts));
            }
            let falling = || (0..n).rev().map(|i| i as Bits).collect::<Vec<_>>();
            let unsorted = draw(Keys::Random, [0, 0], 11).unsorted([falling(), falling()]);
            jobs.push(unsorted.marked(random(5)));
        }
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, nth as u64);
        }
        assert_silence(&case.context);
    }
}

/// Thousands of tiles: workgroups take them in order, whichever a driver starts first. By workgroup index, lavapipe
/// would start one in the middle, which would count too many missing tiles.
pub(crate) fn sets_of_many_tiles() {
    let case = Case::new(Setup::Folded, &MergerInfo::keys().operation(MergeOperation::SymmetricDifference));
    let n = 4000 * case.tile()[0];
    case.merge(&[case.draw(Keys::Random, [n, n], 1)], Together::Singles, 2);
    assert_silence(&case.context);
    if brief() {
        return;
    }
    // Late tiles at the ends of blocks of tiles.
    let case = Case::new(Setup::Late(16), &MergerInfo::keys().operation(MergeOperation::Union));
    let n = 110 * case.tile()[0];
    case.merge(&[case.draw(Keys::Random, [n, n], 3)], Together::Singles, 4);
    assert_silence(&case.context);
}

/// Lower and upper bounds of needles in any order: against sequences of any length, also empty ones, with counts on the
/// device, alone and in batches. Sequences that are not sorted change nothing but the bounds.
pub(crate) fn bounds() {
    let kinds = [
        (MergerInfo::lower_bound(), KeyType::U32),
        (MergerInfo::upper_bound(), KeyType::F32),
        (MergerInfo::upper_bound(), KeyType::U32),
        (MergerInfo::lower_bound(), KeyType::I64),
        (MergerInfo::upper_bound(), KeyType::U32x4),
        (MergerInfo::lower_bound(), KeyType::F64),
    ];
    for (nth, (info, key)) in kinds.into_iter().enumerate().take(if very_brief() { 2 } else { kinds.len() }) {
        let order = [Order::Ascending, Order::Descending][nth / 2 % 2];
        let case = Case::new(SETUPS[nth % 2], &MergerInfo { key, order, ..info });
        let shuffled = |keys: Keys, needles, sequence, seed| {
            let job = case.draw(keys, [0, sequence], seed);
            let [_, sorted] = job.keys.clone();
            // Half of the needles occur in the sequence.
            let drawn = keys.draw(key, needles, seed + 7).into_iter().enumerate();
            let found = |i: usize, bits: Bits| {
                if i.is_multiple_of(2) || sequence == 0 { bits } else { sorted[i * 31 % sequence] }
            };
            let needles = drawn.map(|(i, bits)| found(i, bits)).collect();
            Job { keys: [needles, sorted], ..job }
        };
        let mut jobs: Vec<_> = [(1, 1), (5, 0), (600, 1), (1, 600), (3, 2), (700, 5000), (3000, 255), (2049, 257)]
            .into_iter()
            .enumerate()
            .map(|(seed, (needles, sequence))| {
                let keys = [Keys::Random, Keys::LowEntropy, Keys::Special, Keys::Constant][seed % 4];
                shuffled(keys, needles, sequence, seed as u64)
            })
            .collect();
        let device = Counted::Device;
        for counts in [[device(0), device(9)], [device(70), device(0)], [device(81), device(400)]] {
            jobs.push(shuffled(Keys::LowEntropy, 80, 300, 3).counted(counts));
        }
        jobs.push(case.draw(Keys::Random, [0, 300], 4).counted([Counted::Host, device(7)]));
        let unsorted = [Keys::Random.draw(key, 900, 5), Keys::Random.draw(key, 700, 6)];
        jobs.push(case.draw(Keys::Random, [0, 0], 5).unsorted(unsorted));
        for together in [Together::Singles, Together::Batch] {
            case.merge(&jobs, together, nth as u64);
        }
        assert_silence(&case.context);
    }
    // Searches share dispatches by their needles: with the workgroups of the large one, the others exceed a dispatch.
    let case = Case::new(SETUPS[0], &MergerInfo::lower_bound());
    let search = |needles, sequence| {
        let counts =
            MergeInfo { count_a: Count::host(needles), count_b: Count::host(sequence), ..MergeInfo::default() };
        Request::Merge(&case.merger, counts)
    };
    let mut searches = vec![search(1, 1 << 30); 5000];
    searches.push(search(1 << 30, 1));
    assert!(batch_scratch_size(&searches).is_ok());
}

/// Random counts, keys and formats.
pub(crate) fn random_merges() {
    let cases = if full() {
        200
    } else if brief() {
        2
    } else {
        8
    };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    // Three formats, so that few pipelines are created.
    let kinds = [
        MergerInfo { key: KeyType::I64, ..ITEMS[1] },
        MergerInfo { key: KeyType::F32, order: Order::Descending, ..ITEMS[0] },
        ITEMS[3],
    ];
    let drawn = (0..2usize, 0..kinds.len(), 0..Keys::ALL.len(), any::<[u32; 4]>(), any::<u64>());
    let ran = runner.run(&drawn, |(setup, kind, keys, [a, b, of_a, of_b], seed)| {
        let case = Case::new(SETUPS[setup], &kinds[kind]);
        let most = 6 * case.tile()[0] as u32;
        let (a, b) = (a % most, b % most);
        let counts = [Counted::Device(of_a % (a + a / 4 + 2)), Counted::Device(of_b % (b + b / 4 + 2))];
        let job = case.draw(Keys::ALL[keys], [a as usize, b as usize], seed / 2);
        let jobs = [job.clone(), job.counted(counts)];
        case.merge(&jobs, [Together::Singles, Together::Batch][seed as usize % 2], seed);
        assert_silence(&case.context);
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}
