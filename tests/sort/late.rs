//! Look-back with tiles that are delayed on purpose: other tiles stop waiting and count by themselves.
//!
//! No tile is late for long if workgroups run one after the other. The tests of kernels leave out tiles altogether.

use crate::common::arena::{Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence};
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::common::{brief, full};
use crate::problem::Job;
use crate::{Case, KINDS};
use trommel::Strategy;

/// Whether a format runs: its tiles must wait. With a limit of two polls, one format for each way of waiting suffices.
/// Otherwise keys and pairs by look-back, or keys only if pipeline creation is slow.
fn waits(kind: usize, spin_limit: u32) -> bool {
    let strategy = KINDS[kind].strategy;
    let first = KINDS.iter().position(|info| info.strategy == strategy) == Some(kind);
    let enough = kind == 0 || kind == 2 && !brief() || first && spin_limit == 2;
    strategy != Strategy::ReduceThenScan && (enough || full())
}

fn late_tiles(spin_limit: u32) {
    for kind in (0..KINDS.len()).filter(|kind| waits(*kind, spin_limit)) {
        let case = Case::new(Setup::Late(spin_limit), kind);
        for (round, keys) in [Keys::Random, Keys::Constant].into_iter().enumerate() {
            let draw = |tiles: usize| Job::draw(&case.sorter, keys, case.tiles(tiles), round as u64);
            let mut jobs = vec![draw(40), draw(7).counted(Counted::Device(500))];
            run_and_check(&case.context, &jobs, Together::Singles, Poison::Random(12));
            jobs.extend((1..4).map(draw));
            run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(13));
        }
        assert_silence(&case.context);
    }
}

pub(crate) fn no_waiting_at_all() {
    late_tiles(0);
}

pub(crate) fn waiting_for_two_polls() {
    late_tiles(2);
}

pub(crate) fn waiting_for_long() {
    late_tiles(if full() { 1000 } else { 300 });
}
