//! Splits of any count and any keys.

use crate::common::arena::Together;
use crate::common::contexts::{Setup, assert_silence, setups};
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys};
use crate::common::{brief, full};
use crate::problem::{Asked, Job};
use crate::{BITS, Case, cases, in_rotation, items, runner};
use proptest::prelude::*;
use trommel::{BucketFunction, IdType, KeyType, SplitterInfo, Strategy, ValueType};

/// Counts around tile sizes, subgroup sizes and powers of two.
pub(crate) fn sizes() {
    for case in cases(0) {
        let profile = case.context.device().profile();
        let lanes = if profile.lanes == 0 { case.context.device().facts().max_lanes } else { profile.lanes };
        let shapes = profile.radix.pairs.tiles.iter();
        let tiles = shapes.flat_map(|sized| [sized.shape.tile(), 2 * sized.shape.tile(), sized.up_to.min(1 << 15)]);
        let around = [1, lanes, profile.plain_threads].into_iter().chain(tiles).chain((1..=12).map(|k| 1 << k));
        let sizes: std::collections::BTreeSet<u32> = around.flat_map(|n| n - 1..=n + 1).collect();
        let jobs: Vec<_> = sizes.into_iter().map(|n| case.draw(Keys::Random, n as usize, n.into())).collect();
        case.split(&jobs, Together::Singles, 1);
        assert_silence(&case.context);
    }
}

/// One bucket with all items (the first, the last, one between), round robin, few large and many small buckets, and all
/// kinds of keys.
pub(crate) fn distributions() {
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

/// Every selection of offsets, counts and commands. Nothing else is written.
pub(crate) fn only_what_is_asked_for() {
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

/// The device's own strategy at each border: one dispatch for few items, then direct, then with a histogram first.
pub(crate) fn few_items_and_many() {
    let kinds = [
        SplitterInfo::pairs(5, BITS),
        SplitterInfo {
            buckets: 100,
            function: BucketFunction::Ids(IdType::U16),
            ..items(KeyType::U64, ValueType::None)
        },
        SplitterInfo { drop_keys: true, ..items(KeyType::U16, ValueType::Index) },
    ];
    for (_, info) in kinds.into_iter().enumerate().filter(|(i, _)| in_rotation(*i)) {
        let case = Case::new(Setup::Folded, &info);
        let profile = case.context.device().profile();
        let few = profile.split.pairs.single_dispatch.last().map_or(0, |sized| sized.up_to as usize);
        let direct = profile.radix.direct_up_to as usize;
        assert!(few + 1 < direct, "{few} are few, and {direct} are not prepared");
        let jobs: Vec<_> = [few, few + 1, direct, direct + 1, 3 * direct]
            .into_iter()
            .flat_map(|n| {
                [
                    case.draw(Keys::Random, n, 1),
                    case.draw(Keys::LowEntropy, n, 2).counted(Counted::Device(n as u32 - 7)),
                ]
            })
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

/// Device counts below, at and above the maximum, and zero. Clamped counts and items without a bucket are flagged,
/// nothing past the count is written, and a count of zero still writes the bucket information.
pub(crate) fn counts_on_the_device() {
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

/// Keys without a bucket are placed after the last bucket, in their order. The status flags them, and no other output
/// counts them.
pub(crate) fn keys_of_no_bucket() {
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
        // No bucket information is requested.
        case.split(&jobs.map(|job| Job { status: false, ..job }.asked(Asked::default())), Together::Singles, 6);
        assert_silence(&case.context);
    }
}

/// Random numbers of buckets, fields, ranges, counts and keys.
pub(crate) fn random_splits() {
    let setups = setups();
    let drawn = (1..=256u32, any::<bool>(), any::<[u32; 4]>(), 0..setups.len(), 0..Keys::ALL.len(), any::<u64>());
    let ran = runner().run(&drawn, |(buckets, ranges, [low, width, bit, n], setup, keys, seed)| {
        let free = 32 - buckets.next_power_of_two().ilog2().max(1);
        let function =
            if ranges { BucketFunction::Range } else { BucketFunction::Bits { begin_bit: bit % (free + 1) } };
        let info = SplitterInfo::pairs(buckets, function)
            .strategy([Strategy::Lookback, Strategy::ReduceThenScan][bit as usize % 2]);
        let case = Case::new(setups[setup], &info);
        let case = if ranges { case.ranges(low.into(), (width >> (bit % 32)).max(1).into()) } else { case };
        let n = n as usize % case.tiles(4);
        case.split(&[Job { status: true, ..case.draw(Keys::ALL[keys], n, seed) }], Together::Singles, seed);
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}
