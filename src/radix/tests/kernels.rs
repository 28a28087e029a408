//! Tests of each kernel separately, on the device that the environment selects.

mod composed;
mod single_workgroup;
mod splits;
mod stalled_tiles;
mod tiles;

use super::bench::{Bench, Problem, Way};
use super::contexts::{assert_silence, context, in_rotation, tile_of};
use super::primitives::{Algorithm, Selection as _};
use super::problems::{Sorts, formats};
use crate::core::plan::{Pass, Resources};
use crate::core::tests::noise;
use crate::core::tests::selection::{always, in_full};
use crate::kernels::Kernel;
use crate::shared::{FINISH_MARGIN, FLAG_EVEN};
use crate::sort;
use crate::tuning::{Profile, SizedRank, ranked_chunk};
use crate::{KeyType, Layout, Order, Placement, SortComparatorKernel, SorterInfo, Strategy, ValueType};
use std::sync::Arc;

/// One problem alone, with a host count or a device count.
fn alone(emulated: bool, way: Way, info: SorterInfo) {
    let tile = tile_of(emulated);
    let all = Problem::new(1, 9 * tile + 5, None).varied(0b1_0110);
    let counted = Problem::new(3, 9 * tile, Some(5 * tile as u32 - 3)).varied(0b101);
    let none = Problem::new(4, 4 * tile, Some(0));
    for problem in [all, counted, none] {
        Bench::new(emulated, way, info, vec![problem]).prove();
    }
}

/// A batch with device counts below and above the maximum, zero, and host counts; with and without a status; with
/// different constant digits.
fn together(emulated: bool, way: Way, info: SorterInfo) {
    let tile = tile_of(emulated);
    let batch = vec![
        Problem::new(6, 2 * tile + 1, Some(tile as u32 + 9)).varied(0b0010),
        Problem::new(7, 5 * tile, Some(0)),
        Problem::new(8, 3 * tile + 7, None),
        Problem { status: true, ..Problem::new(9, 2 * tile, None) }.varied(0),
        Problem::new(10, 2 * tile, Some(2 * tile as u32 + 1)).varied(0b1110),
    ];
    Bench::new(emulated, way, info, batch).prove();
}

/// Every algorithm of a sort, for one problem and for several.
fn every_way(emulated: bool, info: SorterInfo) {
    for way in [Way::Direct, Way::EveryDigit, Way::SkippingDigits] {
        alone(emulated, way, info);
    }
    // More tiles than counting workgroups: each counts several tiles, some of them past the count.
    let tile = tile_of(emulated);
    let many = Problem::new(5, 45 * tile + 5, Some(40 * tile as u32 + 3)).varied(0b0110);
    Bench::new(emulated, Way::Direct, info, vec![many]).prove();
    for way in [Way::EveryDigit, Way::SkippingDigits] {
        together(emulated, way, info);
    }
}

/// Formats with different kernels, by each strategy.
fn proven() -> Vec<SorterInfo> {
    let strided = |key, value| SorterInfo {
        key,
        value,
        layout: Layout::Strided,
        placement: Placement::Preserve,
        ..SorterInfo::keys()
    };
    let mut all: Vec<SorterInfo> = formats().into_iter().map(|(_, info)| info).collect();
    all.push(SorterInfo { order: Order::Descending, ..strided(KeyType::I64, ValueType::Bytes(8)) });
    all.push(strided(KeyType::U8, ValueType::U32));
    all
}

/// The first formats run in every way, for one subgroup size in three. The others differ in their words, not in the
/// algorithm, and run with one of the strategies.
fn kernels_of(strategy: Strategy, share: usize) {
    for (i, info) in proven().into_iter().enumerate() {
        let info = info.strategy(strategy);
        if in_full() || i < 3 && in_rotation(i) {
            every_way(false, info);
        } else if always(i) || i % 3 == share && in_rotation(i / 3) {
            alone(false, Way::Direct, info);
            together(false, Way::SkippingDigits, info);
        }
    }
}

/// Doubles by bits of their low word alone. The sign bit, by which the low word is decoded, is in the other word.
#[test]
fn doubles_by_their_low_words() {
    let info = SorterInfo { key: KeyType::F64, begin_bit: 3, end_bit: 19, ..SorterInfo::keys() };
    for strategy in [Strategy::Lookback, Strategy::ReduceThenScan] {
        alone(false, Way::Direct, info.strategy(strategy));
    }
}

/// A workgroup counts a chunk of several tiles. A problem may begin in the middle of one.
#[test]
fn chunks_of_two_problems() {
    let tile = tile_of(false);
    let batch = || vec![Problem::new(51, 3 * tile, None), Problem::new(52, 45 * tile + 5, None)];
    for info in [SorterInfo::keys(), SorterInfo::pairs()] {
        Bench::new(false, Way::EveryDigit, info.strategy(Strategy::ReduceThenScan), batch()).prove();
    }
}

fn with_emulated_subgroups(strategy: Strategy) {
    let doubles =
        SorterInfo { key: KeyType::F64, order: Order::Descending, begin_bit: 20, end_bit: 45, ..SorterInfo::pairs() };
    alone(true, Way::Direct, doubles.strategy(strategy));
    alone(true, Way::SkippingDigits, SorterInfo::keys().strategy(strategy));
    together(true, Way::EveryDigit, SorterInfo::pairs().strategy(strategy));
}

#[test]
fn look_back_kernels() {
    kernels_of(Strategy::Lookback, 0);
}

#[test]
fn look_back_kernels_with_emulated_subgroups() {
    with_emulated_subgroups(Strategy::Lookback);
}

#[test]
fn reduce_then_scan_kernels() {
    kernels_of(Strategy::ReduceThenScan, 1);
}

#[test]
fn reduce_then_scan_kernels_with_emulated_subgroups() {
    with_emulated_subgroups(Strategy::ReduceThenScan);
}

#[test]
fn ring_kernels() {
    kernels_of(Strategy::Ring, 2);
}

#[test]
fn ring_kernels_with_emulated_subgroups() {
    with_emulated_subgroups(Strategy::Ring);
}

/// Strategies that differ from the others only in how tiles wait.
#[test]
fn chained_and_orderly_kernels() {
    for strategy in [Strategy::ChainedScan, Strategy::RingInOrder] {
        alone(false, Way::Direct, SorterInfo::pairs().strategy(strategy));
        together(true, Way::SkippingDigits, SorterInfo::keys().strategy(strategy));
    }
}

/// Sorts by prefixes: prefixes that few keys share, and prefixes that many keys share, up to equal keys. Returns for
/// each problem of the batch whether it was sorted by prefixes.
fn by_prefixes(emulated: bool, info: SorterInfo) -> Vec<bool> {
    let tile = tile_of(emulated);
    let problems = || {
        vec![
            Problem::new(12, 5 * tile + 5, None),
            Problem::new(13, 6 * tile, Some(4 * tile as u32 - 3)),
            Problem::new(14, 5 * tile, None).varied(0b1),
            Problem::new(15, 5 * tile, Some(5 * tile as u32)).varied(0b0101_0101_0110),
            Problem::new(16, 5 * tile, None).varied(0),
            Problem::new(17, 5 * tile, Some(0)),
            Problem::new(18, 5 * tile, Some(1)),
        ]
    };
    for problem in problems() {
        Bench::new(emulated, Way::Prefixes, info, vec![problem]).prove();
    }
    let together = Bench::new(emulated, Way::PrefixesSkippingDigits, info, problems());
    together.prove();
    together.twins().iter().map(|twin| together.chosen(twin)).collect()
}

#[test]
fn prefix_kernels() {
    let strategies = [Strategy::Lookback, Strategy::Ring, Strategy::ChainedScan];
    let long = SorterInfo { key: KeyType::U64, ..SorterInfo::keys() };
    let all_bits = [
        long,
        SorterInfo { value: ValueType::Bytes(4), ..long },
        SorterInfo { key: KeyType::F64, order: Order::Descending, ..SorterInfo::pairs() },
        SorterInfo { key: KeyType::U32x3, value: ValueType::Bytes(12), placement: Placement::Preserve, ..long },
        SorterInfo { key: KeyType::U32x4, value: ValueType::Bytes(20), ..long },
        SorterInfo {
            key: KeyType::I64,
            value: ValueType::Index,
            drop_keys: true,
            layout: Layout::Strided,
            placement: Placement::Preserve,
            ..long
        },
        SorterInfo {
            placement: Placement::DoubleBuffer,
            layout: Layout::Interleaved,
            value: ValueType::Bytes(8),
            ..long
        },
        // Sorts by some of the bits: prefixes of fewer bits, and prefixes that span two words.
        SorterInfo { begin_bit: 3, end_bit: 61, ..long },
        SorterInfo { begin_bit: 5, end_bit: 43, value: ValueType::Bytes(4), ..long },
    ];
    for (i, info) in all_bits.into_iter().enumerate() {
        if !always(i) && !in_rotation(i) {
            continue;
        }
        let chosen = by_prefixes(false, info.strategy(strategies[i % 3]));
        assert!(chosen[0] && chosen[1], "few keys have the same prefix: {chosen:?}");
        assert!(!chosen[2] && !chosen[4], "many keys have the same prefix: {chosen:?}");
    }
}

/// A prefix that many keys share, across tiles and beyond the staged margin; all other prefixes are rare. In the
/// output, these keys are between the others, at the start of the array, or at its end.
#[test]
fn a_prefix_that_many_keys_have() {
    let info = SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() }.strategy(Strategy::Lookback);
    let (tile, margin) = (context(true).device().profile().sort.finish.tile() as usize, FINISH_MARGIN as usize);
    // Number of keys, distance of the keys that share the prefix, and the end of the tile that these keys straddle.
    for (seed, prefix, keys, every, end_of_tile) in [
        (3, 0x38_51eb, 1000, 7, tile),
        (4, 0x38_51eb, 1000, 7, tile),
        (5, 0, 4800, 16, tile),
        (6, 0xff_ffff, 562, 5, 2 * tile),
    ] {
        let many = |(i, word): (usize, u32)| if i % every == 1 { prefix << 8 | word & 0xff } else { word };
        let keys: Vec<u32> = noise(seed, keys).into_iter().enumerate().map(many).collect();
        let before = keys.iter().filter(|key| **key >> 8 < prefix).count();
        let end = before + keys.iter().filter(|key| **key >> 8 == prefix).count();
        assert!(
            before + margin < end_of_tile && end_of_tile + margin < end,
            "{before} to {end} are far on both sides of {end_of_tile}"
        );
        assert!(match prefix {
            0 => before == 0,
            0xff_ffff => end == keys.len(),
            _ => before > 0 && end < keys.len(),
        });
        let problem = Problem::of_keys(keys);
        let bench = Bench::new(true, Way::Prefixes, info, vec![problem]);
        assert!(bench.twins().iter().all(|twin| bench.chosen(twin)), "a key takes few steps in the mean");
        bench.prove();
    }
}

#[test]
fn prefix_kernels_with_emulated_subgroups() {
    let doubles = SorterInfo { key: KeyType::F64, order: Order::Descending, begin_bit: 20, ..SorterInfo::pairs() };
    assert!(by_prefixes(true, doubles.strategy(Strategy::Lookback))[0], "few doubles have the same prefix");
}

/// Merge sorts of one run, and of runs that take one to three levels: full runs, partial runs, device counts.
fn merged(sorts: &Sorts) {
    let run = context(false).device().profile().plain_threads as usize;
    let by_comparator = format!("{}:{run}x1/{run}x2", u32::MAX);
    let tune = |profile: Profile| {
        [("small", ""), ("by_comparator", &by_comparator)]
            .iter()
            .fold(profile, |profile, (member, value)| profile.with_member(member, value).unwrap())
    };
    let counted = |seed, size: usize, count: usize| Problem::new(seed, size, Some(count as u32));
    for (levels, sizes) in [
        (0, [run - 3, run]),
        (1, [3 * run + 1, 4 * run]),
        (2, [15 * run - 3, 4 * run + 1]),
        (3, [23 * run + 5, 21 * run]),
    ] {
        let [size, other] = sizes;
        let batch = vec![
            Problem::new(51, size, None),
            counted(52, other, other - run / 2).varied(0b10),
            counted(53, size, 0),
            counted(54, other, 2 * run + 1).varied(0),
            counted(55, size, size + 1).varied(0b101),
        ];
        // One problem alone, then several.
        for problems in [batch[..1].to_vec(), batch] {
            let bench = Bench::of(false, Way::Merging, tune, sorts.clone(), problems);
            assert_eq!(bench.merging().map(|merging| merging.levels), Some(levels));
            bench.prove();
        }
    }
}

/// Keys of a group of runs with a second window as full as possible. At its start, every run but one is just past a
/// sample, and at its end just before one.
fn fullest_window(run: usize, fan: usize, step: usize, spacing: usize) -> Vec<u32> {
    // For each item in sorted order, the run that it belongs to.
    let mut next: Vec<usize> = (0..fan).collect();
    let some = |next: &mut Vec<usize>, run: usize, items: usize| next.extend(vec![run; items]);
    (fan..spacing).for_each(|sample| some(&mut next, sample % fan, step));
    some(&mut next, 0, step - 1);
    some(&mut next, 0, step);
    (1..fan).for_each(|other| some(&mut next, other, step - 1));
    (1..spacing).for_each(|sample| some(&mut next, sample % fan, step));
    for r in 0..fan {
        let left = run - next.iter().filter(|of| **of == r).count();
        some(&mut next, r, left);
    }
    let mut order: Vec<usize> = (0..next.len()).collect();
    order.sort_by_key(|item| next[*item]);
    order.into_iter().map(|item| item as u32).collect()
}

#[test]
fn windows_are_never_too_large() {
    let keys = SorterInfo::keys().strategy(Strategy::Lookback);
    let merging = Bench::new(false, Way::Merging, keys, vec![Problem::new(1, 1000, None)]).merging().unwrap();
    let (run, fan) = (merging.sized.run.tile() as usize, merging.fan as usize);
    let (step, spacing) = (merging.sized.step(merging.fan) as usize, merging.sized.spacing(merging.fan) as usize);
    let fullest = fullest_window(run, fan, step, spacing);
    let all = fullest.len() as u32;
    let sorted: Vec<u32> = (0..3 * all).collect();
    let round_robin = (0..3 * all).map(|i| i % run as u32).collect();
    let problems =
        [fullest, sorted.clone(), sorted.into_iter().rev().collect(), round_robin, vec![7; 3 * all as usize]];
    for (i, problem) in problems.into_iter().enumerate() {
        let bench = Bench::new(false, Way::Merging, keys, vec![Problem::of_keys(problem)]);
        let (_, largest) = bench.windows(&bench.twins()[0], 0, run);
        assert!(i != 0 || largest == spacing * step + (fan - 1) * (step - 1), "{largest} items are not the most");
        bench.prove();
    }
}

#[test]
fn merging_kernels() {
    for (i, info) in proven().into_iter().enumerate() {
        if always(i) || in_rotation(i) {
            merged(&Sorts::new(info.strategy(Strategy::ReduceThenScan)));
        }
    }
}

/// The same kernels in one module, with a comparator that compares some bits of the keys.
#[test]
fn merging_kernels_by_a_comparator() {
    let code = include_bytes!("../../../tests/kernels/sort_masked_u32.spv");
    let code: Arc<[u32]> = code.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
    SortComparatorKernel::from_spirv(&code).expect("a kernel of this version");
    let context = context(false);
    let module = context.device().add_module(&code);
    let infos = [
        SorterInfo::keys(),
        SorterInfo { placement: Placement::Preserve, ..SorterInfo::pairs() },
        SorterInfo { value: ValueType::Bytes(20), ..SorterInfo::keys() },
        SorterInfo { placement: Placement::DoubleBuffer, layout: Layout::Interleaved, ..SorterInfo::pairs() },
    ];
    for (_, info) in infos.into_iter().enumerate().filter(|(i, _)| always(*i) || in_rotation(*i)) {
        let sorts = Sorts::new(info.strategy(Strategy::ReduceThenScan));
        merged(&sorts.compared_by(module.number(), [1, 2, 3, 0x30f]));
    }
}

/// One problem alone, as rank sort takes it: one item, few items, whole workgroups, a device count, equal keys.
fn ranked(ranked: SizedRank, info: SorterInfo) {
    let tune = |profile: Profile| profile.with_member("ranked", &ranked.to_string()).unwrap();
    let counted = |seed, size: usize, count: usize| Problem::new(seed, size, Some(count as u32));
    let all_ones = Problem::of_keys(vec![u32::MAX; 101]);
    let problems = [
        Problem::new(61, 1, None),
        Problem::new(62, 256, None).varied(0b10),
        Problem::new(63, 333, None),
        counted(64, 200, 0),
        counted(65, 200, 1),
        counted(66, 300, 131).varied(0),
        counted(67, 300, 301).varied(0b101),
        all_ones,
    ];
    let of_words = |problem: &Problem| problem.keys.is_empty() || info.key == KeyType::U32;
    for problem in problems.into_iter().filter(of_words) {
        let bench = Bench::tuned(false, Way::Ranked, tune, info, vec![problem]);
        let kernels: Vec<_> = bench.with_plan(|plan, _, _| plan.passes.iter().map(|pass| pass.kernel).collect());
        let copies = bench.sorts.format().rule() == FLAG_EVEN;
        assert_eq!((kernels[0], kernels.contains(&Kernel::RadixCopy)), (Kernel::SortRank, copies));
        bench.prove();
    }
}

/// Items with more threads than words, and with fewer.
#[test]
fn rank_kernel() {
    let threads = context(false).device().profile().plain_threads;
    for (i, info) in proven().into_iter().enumerate() {
        for items in [8, 32] {
            if always(i) || in_rotation(i + items as usize / 8) {
                let info = info.strategy(Strategy::ReduceThenScan);
                ranked(SizedRank { above: 0, above_in_place: 0, up_to: 1000, threads, items }, info);
            }
        }
    }
}

/// More keys than fit in shared memory at a time.
#[test]
fn ranks_by_several_chunks() {
    let context = context(false);
    let (threads, facts) = (context.device().profile().plain_threads, context.device().facts());
    for (_, info) in
        formats().into_iter().filter(|(name, _)| ["pairs", "lexicographic", "range_over_words"].contains(name))
    {
        let info = info.strategy(Strategy::Lookback);
        let words = Sorts::new(info).format().compared_words();
        let chunk = ranked_chunk(threads, words, facts.shared_memory) as usize;
        for problem in [Problem::new(71, 2 * chunk, None), Problem::new(72, 2 * chunk + 5, None).varied(0b10)] {
            Bench::new(false, Way::Ranked, info, vec![problem]).prove();
        }
    }
}

/// Constant digits: an even number of them, an odd number, all. The remaining passes must begin and end in the right
/// arrays.
#[test]
fn any_constant_digits_are_skipped() {
    let tile = tile_of(false);
    let twice = Placement::DoubleBuffer;
    for info in [
        SorterInfo::pairs(),
        SorterInfo { placement: Placement::Preserve, ..SorterInfo::pairs() },
        SorterInfo { placement: twice, ..SorterInfo::pairs() },
        SorterInfo { placement: twice, end_bit: 24, ..SorterInfo::pairs() },
        SorterInfo { value: ValueType::Index, drop_keys: true, ..SorterInfo::keys() },
    ] {
        for varied in 0..16 {
            let strategy = [Strategy::Lookback, Strategy::ReduceThenScan][varied as usize % 2];
            let bench = Bench::new(
                false,
                Way::SkippingDigits,
                info.strategy(strategy),
                vec![Problem::new(4, 3 * tile, None).varied(varied)],
            );
            let digits = bench.sorts.format().digits();
            let shared = !varied & ((1 << digits) - 1);
            assert_eq!(bench.twins()[0].shared, shared, "keys are as meant");
            bench.prove();
        }
    }
}

/// The check of declarations finds undeclared reads and undeclared writes.
#[test]
fn wrong_declarations_are_found() {
    let info = SorterInfo::keys().strategy(Strategy::ReduceThenScan);
    let bench = Bench::new(false, Way::Direct, info, vec![Problem::new(1, 2 * tile_of(false), None)]);
    bench.with_plan(|plan, memory, _| {
        let found = |pass: Pass| {
            let proof = std::panic::AssertUnwindSafe(|| bench.run_declared(&memory, plan, &pass));
            let panic = std::panic::catch_unwind(proof).unwrap_err();
            panic.downcast_ref::<String>().unwrap().clone()
        };
        let count = plan.passes[0];
        assert!(found(Pass { reads: Resources::default(), ..count }).contains("depends on"));
        assert!(found(Pass { writes: Resources::default(), ..count }).contains("does not declare"));
    });
    assert_silence(&bench.context);
}

#[test]
fn classes_of_the_cases_are_as_meant() {
    let context = context(false);
    let sorts = Sorts::new(SorterInfo::keys().strategy(Strategy::Lookback));
    let config = sorts.config(context.device().facts(), context.device().profile());
    let threads = context.device().profile().plain_threads;
    assert!(
        matches!(config.algorithm(3 * threads), Algorithm::Sort(sort::Algorithm::Small(_)))
            && config.algorithm(3 * threads + 1).is_tiled()
    );
}
