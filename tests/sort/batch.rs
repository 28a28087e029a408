//! Many sorts recorded together.

use crate::Case;
use crate::common::arena::{Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence};
use crate::common::full;
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::problem::Job;
use crate::results::{drawn, runner};
use proptest::prelude::*;
use trommel::{Sorter, SorterInfo};

/// Several sizes and kinds; host counts, device counts and shared count words; problems without keys.
pub(crate) fn mixed(case: &Case) {
    let mut jobs = Vec::new();
    for (i, sorter) in [&case.sorter, case.other(), &case.sorter].into_iter().enumerate() {
        for (j, size) in [0, 1, case.small() / 2, case.small(), case.tiles(1), case.tiles(3)].into_iter().enumerate() {
            let job = Job::draw(sorter, Keys::ALL[(i * 5 + j) % Keys::ALL.len()], size, (i * 7 + j) as u64);
            jobs.push(match (i + j) % 4 {
                0 => job,
                1 => job.counted(Counted::Device(size as u32 / 2)),
                2 => job.counted(Counted::Shared { slot: 0, value: 777 }),
                _ => Job { status: true, ..job },
            });
        }
    }
    run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(9));
    // In another order, groups are found in another order.
    jobs.reverse();
    run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(10));
}

/// Tables that need several updates; problems of one workgroup each; one count word for several problems.
pub(crate) fn many_tiny(case: &Case) {
    let jobs: Vec<_> = (0..150)
        .map(|i| {
            let job = Job::draw(&case.sorter, Keys::LowEntropy, i % 23, i as u64);
            if i % 3 == 0 { job.counted(Counted::Shared { slot: i % 2, value: 11 + i as u32 % 2 }) } else { job }
        })
        .collect();
    run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(11));
}

pub(crate) fn random_batches(case: &Case) {
    let jobs = prop::collection::vec(drawn(case.tiles(4)), 0..9);
    let ran = runner().run(&(jobs, any::<u64>()), |(drawn, seed)| {
        let jobs: Vec<_> = drawn.iter().map(|drawn| drawn.job(case)).collect();
        run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(seed));
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

/// More groups than are recorded side by side, interleaved: each sorts by other bits, small problems and tiled ones.
pub(crate) fn more_kinds_than_a_group_takes() {
    let case = Case::new(Setup::Native, 1);
    let sorter = |bit| {
        let info = SorterInfo { begin_bit: bit, end_bit: bit + 1, max_count: 100, ..*case.sorter.info() };
        Sorter::new(case.context.device(), &info.batches()).expect("the profile fits the device")
    };
    let sorters: Vec<Sorter> = (0..20).map(sorter).collect();
    let mut jobs: Vec<_> = (0..60).map(|i| Job::draw(&sorters[i % 20], Keys::Random, i + 30, i as u64)).collect();
    for (index, size) in [(7, case.tiles(2)), (23, case.small()), (41, case.tiles(3))] {
        jobs.insert(
            index,
            Job::draw(&case.sorter, Keys::Random, size, index as u64).counted(Counted::Device(size as u32 / 2)),
        );
    }
    run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(16));
    assert_silence(&case.context);
}

/// More workgroups than most devices allow in one dimension, in kernels with one workgroup for each problem and in the
/// spine.
pub(crate) fn more_workgroups_than_65535() {
    let case = Case::new(Setup::Narrow, 1);
    // Most problems are empty and end at once. Problems with keys are distributed among them.
    let jobs: Vec<_> = (0..66_000usize)
        .map(|i| match i % 6_000 {
            0 | 5_999 => Job::draw(&case.sorter, Keys::Random, i % 40, i as u64),
            _ => Job::new(&case.sorter, vec![7, 5]).counted(Counted::Shared { slot: 0, value: 0 }),
        })
        .collect();
    run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(14));
    if full() {
        // One workgroup for each bin of each problem.
        let jobs: Vec<_> = (0..260).map(|i| Job::draw(&case.sorter, Keys::Random, case.small() + 1, i)).collect();
        run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(15));
    }
    assert_silence(&case.context);
}
