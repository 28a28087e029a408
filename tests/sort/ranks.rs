//! Ranking by all workgroups: small sorts recorded alone, each key compared with every other.

use crate::KINDS;
use crate::common::arena::{Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::common::{brief, full};
use crate::problem::Job;
use trommel::{Count, Sorter, SorterInfo, Strategy};

/// Whether a sort of `size` keys is ranked by all workgroups.
fn is_ranked(sorter: &Sorter, size: usize) -> bool {
    let info = trommel::SortInfo { count: Count::host(size as u32), ..Default::default() };
    sorter.describe(&info).expect("the count is small").contains("sort_rank")
}

/// Sizes around the limits, all distributions, device counts. In a batch, one workgroup sorts each of the same
/// problems.
fn check(info: &SorterInfo) {
    let context = context(Setup::Narrow);
    let sorter = Sorter::new(context.device(), &info.batches()).expect("the profile fits the device");
    let ranked = context.device().profile().sort.keys.ranked[0];
    // If the output is not the input, ranking takes one dispatch, and serves smaller sorts too.
    let info_of = |size| trommel::SortInfo { count: Count::host(size), ..Default::default() };
    let at_once = !sorter.describe(&info_of(ranked.up_to)).expect("the count is small").contains("radix_copy");
    let (above, up_to) = (if at_once { ranked.above } else { ranked.above_in_place } as usize, ranked.up_to as usize);
    for (size, expected) in [(above, false), (above + 1, true), (up_to, true), (up_to + 1, false)] {
        assert_eq!(is_ranked(&sorter, size), expected, "{size} of {info:?}");
    }
    let ends = [above, above + 1, up_to - 1, up_to, up_to + 1].map(|n| Job::draw(&sorter, Keys::Random, n, n as u64));
    let distributions = (0..).zip(Keys::ALL).map(|(i, keys)| Job::draw(&sorter, *keys, up_to - 1 - i, 16));
    let counts = [0, 1, above as u32, up_to as u32 - 3, up_to as u32 + 1, u32::MAX];
    let counted = counts.map(|count| Job::draw(&sorter, Keys::LowEntropy, up_to, 17).counted(Counted::Device(count)));
    let jobs: Vec<_> = ends.into_iter().chain(distributions).chain(counted).collect();
    for together in [Together::Singles, Together::Batch] {
        run_and_check(&context, &jobs, together, Poison::Random(16));
    }
    assert_silence(&context);
}

/// A third of the kinds for each subgroup size: the suite runs with three sizes.
pub(crate) fn every_kind_is_ranked() {
    let width = context(Setup::Native).device().facts().max_lanes.trailing_zeros() as usize;
    for (kind, info) in KINDS.iter().enumerate() {
        let in_rotation = full() || (kind + width).is_multiple_of(3);
        if in_rotation && (kind < 4 || !brief()) {
            check(&info.strategy(Strategy::ReduceThenScan));
        }
    }
}
