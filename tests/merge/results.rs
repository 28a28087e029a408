//! Merges of any format, any counts and any keys, and searches.

use crate::common::arena::{Arena, Poison, Together};
use crate::common::contexts::{Setup, assert_silence, is_shared_here};
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys};
use crate::common::{brief, full, very_brief};
use crate::problem::Job;
use crate::{Case, SETUPS};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeSet;
use trommel::{
    Count, KeyType, Layout, MergeInfo, MergeMethod, MergeOperation, MergerInfo, Order, Request, ValueType,
    batch_scratch_size,
};

/// Key types of at least a word.
pub(crate) const KEYS: [KeyType; 9] = [
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
pub(crate) const ITEMS: [MergerInfo; 9] = {
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
    use KeyType::{F32, F64, I32, I64, U32, U32x2, U32x3, U32x4, U64};
    let methods = [MergeMethod::Basic, MergeMethod::Tiled, MergeMethod::CircularBuffer];
    // In the first and the last setup, threads of all methods merge several of these keys.
    let setups =
        [(Setup::Native, [U32, F32, I32]), (Setup::Folded, [I64, U32x3, U32x2]), (Setup::Narrow, [F64, U64, U32x4])];
    for (nth, ((m, method), (i, items))) in methods
        .into_iter()
        .enumerate()
        .flat_map(|method| ITEMS.into_iter().enumerate().map(move |items| (method, items)))
        .enumerate()
    {
        if !in_rotation(nth) {
            continue;
        }
        // Every driver runs each method in each setup.
        let (setup, keys) = setups[(i / 3 + m) % 3];
        let order = [Order::Descending, Order::Ascending][i % 2];
        let info = MergerInfo { key: keys[(i + m) % 3], order, ..items };
        let case = Case::new(setup, &info.method(method));
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
