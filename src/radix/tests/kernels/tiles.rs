//! Ranking within tiles, and the assignment of tiles to workgroups.

use crate::core::plan::{Groups, Pass};
use crate::core::tests::selection::in_brief;
use crate::kernels::Kernel;
use crate::radix::tests::bench::{Bench, Problem, Way};
use crate::radix::tests::contexts::{assert_silence, context, tile_of};
use crate::tuning::{ItemKind, Profile, Ranking, Shape, SmallShape, TileShape};
use crate::{KeyType, Layout, Order, SorterInfo, Strategy, ValueType};

/// Ranking by atomic counters, with a wrong order that verification must find: by keys, if keys without values are
/// sorted by all their bits, and otherwise by source index.
#[test]
fn kernels_with_verified_ranks() {
    let most = context(true).device().facts().max_invocations;
    let long =
        SorterInfo { key: KeyType::F64, value: ValueType::Bytes(8), begin_bit: 27, end_bit: 43, ..SorterInfo::keys() };
    let infos =
        [SorterInfo::keys(), SorterInfo { begin_bit: 5, end_bit: 18, ..SorterInfo::keys() }, SorterInfo::pairs(), long];
    // Full digits, and constant digits, which are hot. With more threads than digits, threads without a digit verify.
    let problems =
        [Problem::new(31, 9 * tile_of(true) + 5, None), Problem::new(32, 5 * tile_of(true), None).varied(0b10)];
    let ways = [
        (Strategy::Lookback, 128),
        (Strategy::Lookback, 384),
        (Strategy::ReduceThenScan, 384),
        (Strategy::ReduceThenScan, 128),
    ];
    for ((i, info), wrong_ranks) in
        infos.into_iter().enumerate().flat_map(|info| [false, true].map(|wrong_ranks| (info, wrong_ranks)))
    {
        for (way, (strategy, threads)) in
            ways.into_iter().enumerate().filter(|(way, _)| i == 0 || (way + i).is_multiple_of(2))
        {
            let tune = |mut profile: Profile| {
                for kind in ItemKind::ALL {
                    let shape = Shape { threads: threads.min(most / 128 * 128), items: 2 };
                    profile.radix[kind].tiles[0].shape =
                        TileShape { ranking: Ranking::VerifiedBySourceIndex, swizzled: threads == 384, ..shape.into() };
                }
                profile.hooks.wrong_ranks = wrong_ranks;
                profile
            };
            let problem = problems[(way / 2 + i) % 2].clone();
            let bench = Bench::tuned(true, Way::EveryDigit, tune, info.strategy(strategy), vec![problem]);
            // Wrong ranks may order equal keys differently in each run, so two runs cannot be compared here.
            if bench.proves_by_keys() {
                bench.follow(|memory, plan, pass| bench.run(memory, plan, pass));
            } else {
                bench.prove();
            }
        }
    }
}

/// Keys with the same low digits as pads. Only the last digit shows that a pad has come before a key.
#[test]
fn pads_stay_behind_keys_that_end_like_them() {
    let tune = |mut profile: Profile| {
        for kind in ItemKind::ALL {
            let shape = Shape { threads: 128, items: 2 };
            profile.radix[kind].tiles[0].shape = TileShape { ranking: Ranking::Verified, ..shape.into() };
        }
        profile.hooks.wrong_ranks = true;
        profile
    };
    for strategy in [Strategy::Lookback, Strategy::ReduceThenScan] {
        let keys = (0..555).map(|i| 0x00ff_ffff | (i % 7) << 24).collect();
        let info = SorterInfo::keys().strategy(strategy);
        let bench = Bench::tuned(true, Way::EveryDigit, tune, info, vec![Problem::of_keys(keys)]);
        bench.follow(|memory, plan, pass| bench.run(memory, plan, pass));
    }
}

/// Persistent workgroups take every tile: two take several tiles each, or as many as the maximum count has tiles take
/// the existing tiles.
#[test]
fn persistent_workgroups_take_every_tile() {
    for (i, info) in [
        SorterInfo::keys(),
        SorterInfo { key: KeyType::F64, value: ValueType::Bytes(8), ..SorterInfo::keys() },
        SorterInfo { layout: Layout::Interleaved, order: Order::Descending, ..SorterInfo::pairs() },
    ]
    .into_iter()
    .enumerate()
    {
        // Verification needs subgroups with counters of their own, such as those of 32 lanes here.
        let proven = [false, true].map(|wrong_ranks| (true, 2, Ranking::VerifiedBySourceIndex, wrong_ranks));
        let ways = proven.into_iter().chain([2, 9].map(|groups| (false, groups, Ranking::Ballots, false)));
        let wanted = |way: usize| if in_brief() { i == 0 && way == 3 } else { i == 0 || (way + i).is_multiple_of(2) };
        for (_, (emulated, groups, ranking, wrong_ranks)) in ways.enumerate().filter(|(way, _)| wanted(*way)) {
            let tune = |mut profile: Profile| {
                let shape = Shape { threads: profile.plain_threads, items: 2 };
                for kind in ItemKind::ALL {
                    profile.radix[kind].tiles[0].shape = TileShape { ranking, swizzled: true, groups, ..shape.into() };
                }
                profile.hooks.wrong_ranks = wrong_ranks;
                profile
            };
            let threads = context(emulated).device().profile().plain_threads;
            let tile = 2 * threads as usize;
            let way = [Way::EveryDigit, Way::SkippingDigits][i % 2];
            let some = Problem::new(52, 4 * tile, Some(3 * threads)).varied(0b110);
            for (problem, tiles) in [(Problem::new(51, 5 * tile + 3, None), 6), (some, 4)] {
                let bench = Bench::tuned(emulated, way, tune, info.strategy(Strategy::Lookback), vec![problem]);
                let mut passes = bench.with_plan(|plan, _, _| plan.passes.clone()).into_iter();
                assert!(passes.any(|pass| pass.groups == Groups::Fixed(tiles.min(groups)) && is_persistent(&pass)));
                if bench.proves_by_keys() {
                    bench.follow(|memory, plan, pass| bench.run(memory, plan, pass));
                } else {
                    bench.prove();
                }
            }
        }
    }
}

fn is_persistent(pass: &Pass) -> bool {
    [Kernel::RadixOnesweepPersistent, Kernel::RadixOnesweepPersistentEmulated].contains(&pass.kernel)
}

/// A workgroup with more subgroups than rows of counters. Each row serves several subgroups one after the other; if
/// subgroups are narrow, one row serves all.
#[test]
fn rows_of_counters_are_shared() {
    let context = context(false);
    let (facts, profile) = (context.device().facts(), context.device().profile());
    let most = facts.max_invocations.min(facts.max_subgroups.saturating_mul(facts.min_lanes));
    let threads = (facts.max_lanes.max(64)..=most).step_by(facts.max_lanes as usize);
    let shared = |threads: &u32| profile.histogram_rows(*threads, facts) < profile.most_subgroups(*threads, facts);
    let shape = Shape { threads: threads.clone().find(shared).or(threads.last()).expect("there are 64"), items: 2 };
    for ranking in [Ranking::Ballots, Ranking::Verified] {
        let tune = |mut profile: Profile| {
            let small = SmallShape::radix(shape.threads, shape.items);
            for kind in ItemKind::ALL {
                profile.sort[kind].small = [small].into_iter().collect();
                profile.radix[kind].tiles[0].shape =
                    TileShape { ranking: Ranking::VerifiedBySourceIndex, ..shape.into() };
            }
            profile.sort.small_ranking = ranking;
            profile
        };
        let info = SorterInfo::pairs().strategy([Strategy::Lookback, Strategy::ReduceThenScan][ranking as usize % 2]);
        let tile = shape.tile() as usize;
        for (way, size) in [(Way::Direct, tile - 9), (Way::EveryDigit, 2 * tile + 9)] {
            for varied in [u32::MAX, 0b1010] {
                Bench::tuned(false, way, tune, info, vec![Problem::new(44, size, None).varied(varied)]).prove();
            }
        }
    }
}

/// Overlapping segments leave words of scratch unwritten. Whatever these contain, packed keys change no byte outside of
/// their array.
#[test]
fn packed_keys_leave_their_neighbors_alone() {
    for (key, sizes) in [(KeyType::U8, 1..10), (KeyType::I16, 1..6)] {
        for size in sizes {
            let info = SorterInfo { key, ..SorterInfo::keys() };
            let bench = Bench::new(false, Way::EveryDigit, info, vec![Problem::new(12, size, None)]);
            bench.with_plan(|plan, memory, _| {
                let pack =
                    plan.passes.iter().find(|pass| pass.kernel == Kernel::RadixPack).expect("narrow keys are packed");
                bench.run_within(&memory, plan, pack);
            });
            assert_silence(&bench.context);
        }
    }
}
