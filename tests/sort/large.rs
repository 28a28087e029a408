//! One sort of more workgroups than a dispatch has in one dimension.

use crate::Case;
use crate::common::arena::{Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence};
use crate::common::keys::Keys;
use crate::problem::Job;
use trommel::{SorterInfo, Strategy};

/// A sort by one digit with the smallest possible tiles, one for each workgroup. (It takes a minute, so it runs with
/// `TROMMEL_TEST_FULL=1`.)
pub(crate) fn more_workgroups_than_one_dimension_has() {
    let info = SorterInfo { end_bit: 8, ..SorterInfo::keys().strategy(Strategy::Lookback) };
    let case = Case::of(Setup::Narrow, &info);
    assert!(case.profile().max_groups_x <= 65_535 || !case.context.device().facts().is_cpu, "a dispatch goes on in y");
    let keys = case.tiles(65_600);
    run_and_check(
        &case.context,
        &[Job::draw(&case.sorter, Keys::Random, keys, 61)],
        Together::Singles,
        Poison::Fill(0),
    );
    assert_silence(&case.context);
}
