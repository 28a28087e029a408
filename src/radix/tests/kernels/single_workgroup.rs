//! Sorts by a single workgroup: by digits, by merging, by buckets.

use crate::core::tests::selection::{always, in_brief, in_full};
use crate::radix::tests::bench::{Bench, Problem, Way};
use crate::radix::tests::contexts::{context, in_rotation};
use crate::radix::tests::kernels::proven;
use crate::tuning::{ItemKind, Profile, Ranking, SmallShape};
use crate::{KeyType, Layout, Order, SorterInfo, Strategy, ValueType};

/// A single workgroup verifies its order once, at the end. Pairs too: source indices distinguish equal keys.
#[test]
fn emulated_small_kernels_verify_their_order() {
    for wrong_ranks in [false, true] {
        let tune = |mut profile: Profile| {
            let small = SmallShape::radix(profile.plain_threads, 3);
            for kind in ItemKind::ALL {
                profile.sort[kind].small = [small].into_iter().collect();
            }
            (profile.sort.small_ranking, profile.hooks.wrong_ranks) = (Ranking::Verified, wrong_ranks);
            profile
        };
        for info in [
            SorterInfo::keys(),
            SorterInfo { key: KeyType::I16, order: Order::Descending, ..SorterInfo::keys() },
            SorterInfo { begin_bit: 3, end_bit: 21, value: ValueType::Bytes(8), ..SorterInfo::keys() },
        ] {
            let info = info.strategy(Strategy::Lookback);
            let threads = context(true).device().profile().plain_threads as usize;
            let small = [(3 * threads, u32::MAX), (3 * threads - 7, 0), (2 * threads + 1, 0b10)];
            let problems = small.map(|(size, varied)| Problem::new(41, size, None).varied(varied));
            Bench::tuned(true, Way::Direct, tune, info, problems.to_vec()).prove();
        }
    }
}

#[test]
fn small_kernel() {
    let width = context(false).device().facts().max_lanes.trailing_zeros() as usize;
    for emulated in [false, true].into_iter().filter(|emulated| !(*emulated && in_brief())) {
        let threads = context(emulated).device().profile().plain_threads as usize;
        let of_size = |size: usize| {
            let count = |count: usize| Some(count as u32);
            vec![
                Problem::new(1, size, None),
                Problem::new(2, size - 1, count(size - 5)),
                Problem::new(3, size - 1, count(0)),
                Problem::new(4, size - 2, count(size)).varied(0),
            ]
        };
        let formats = proven();
        let formats = if emulated { &formats[..3] } else { &formats[..] };
        for (i, info) in formats.iter().enumerate().filter(|(i, _)| always(*i) || !in_brief()) {
            let single = vec![Problem::new(5, 3 * threads, Some(70))];
            // The shapes for these sizes sort by merging, by buckets, by digits.
            let of_sizes = [of_size(3 * threads), of_size(2 * threads), of_size(threads), single];
            let all = always(i) || in_full();
            // Other formats alternate between merging and buckets: the suite runs with three subgroup widths.
            let share = (i + width) % 2;
            for problems in
                of_sizes.into_iter().enumerate().filter(|(way, _)| all || *way == share).map(|(_, problems)| problems)
            {
                Bench::new(emulated, Way::Direct, info.strategy(Strategy::Lookback), problems).prove();
            }
        }
    }
}

/// Keys that spread evenly and unevenly over buckets, differ in one word or another, have few duplicates, or are equal.
#[test]
fn buckets_kernel() {
    for emulated in [false, true].into_iter().filter(|emulated| !(*emulated && in_brief())) {
        let threads = context(emulated).device().profile().plain_threads;
        let size = 2 * threads;
        let of = |key: &dyn Fn(u32) -> u32| Problem::of_keys((0..size).map(key).collect());
        let problems = vec![
            of(&|i| i.wrapping_mul(0x9e37_79b9)),
            // Each key twice, more equal keys than a bucket holds, nearly equal keys, and equal keys.
            of(&|i| 0x8000_0000 - (i * 7) % (size / 2)),
            of(&|i| [3, 0x7000_0001][i as usize % 2]),
            of(&|i| if i == 40 { 0 } else { 0xffff_ff00 | (i % 5) }),
            of(&|_| 11),
            // Keys of the full range, and of the range from 0 to 1.
            of(&|i| if i % 2 == 0 { i } else { u32::MAX - i }),
            of(&|i| i % 2),
            // Five clusters. Each has more keys than a bucket holds, in part of the range of a bucket.
            of(&|i| (i % 5) * 0x3200_0000 + (i.wrapping_mul(0x9e37_79b9) >> 10)),
            Problem::new(6, size as usize, Some(size - 9)),
            Problem::new(7, size as usize - 3, Some(1)).varied(0b100),
        ];
        let both = SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() };
        let infos = [
            SorterInfo::keys(),
            SorterInfo::pairs(),
            SorterInfo { key: KeyType::F32, order: Order::Descending, begin_bit: 4, end_bit: 30, ..SorterInfo::keys() },
            both,
            SorterInfo { key: KeyType::I32, value: ValueType::Bytes(8), ..SorterInfo::keys() },
            SorterInfo {
                key: KeyType::F64,
                begin_bit: 20,
                end_bit: 50,
                value: ValueType::Index,
                drop_keys: true,
                ..SorterInfo::keys()
            },
            SorterInfo {
                key: KeyType::U32x4,
                begin_bit: 5,
                end_bit: 120,
                order: Order::Descending,
                ..SorterInfo::pairs()
            },
            SorterInfo { layout: Layout::Interleaved, ..both },
        ];
        for (i, info) in
            infos.into_iter().enumerate().filter(|(i, _)| always(*i) || in_full() || !emulated && in_rotation(*i))
        {
            // Each ranking of unevenly spread keys.
            let (small_ranking, wrong_ranks) =
                [(Ranking::Verified, false), (Ranking::Verified, true), (Ranking::Ballots, false)][i % 3];
            for problems in problems.chunks(4) {
                let tune = |mut profile: Profile| {
                    (profile.sort.small_ranking, profile.hooks.wrong_ranks) = (small_ranking, wrong_ranks);
                    profile
                };
                Bench::tuned(emulated, Way::Direct, tune, info.strategy(Strategy::Lookback), problems.to_vec()).prove();
            }
        }
    }
}
