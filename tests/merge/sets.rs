//! Set operations, and items without duplicates.

use crate::common::arena::Together;
use crate::common::brief;
use crate::common::contexts::{EMULATED, Setup, assert_silence, share};
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys};
use crate::problem::Job;
use crate::results::{ITEMS, KEYS};
use crate::{Case, SETUPS};
use trommel::{MergeOperation, MergerInfo, Order};

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
