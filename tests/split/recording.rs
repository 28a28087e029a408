//! Splits in batches, and recorded in every way.

use crate::common::arena::{Arena, Poison, Together, run_and_check};
use crate::common::contexts::assert_silence;
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::common::problem::Problem;
use crate::common::ways::{run_between_strangers, run_twice_from_secondary};
use crate::problem::{Asked, Job};
use crate::{cases, sort};
use ash::vk;
use trommel::{BucketFunction, Sorter, SorterInfo, SplitInfo, Splitter, SplitterInfo, Timestamps};

/// Batches of several kinds of splits, with sorts between them.
pub(crate) fn batches_of_splits_and_sorts() {
    for case in cases(4) {
        let sorter = Sorter::new(case.context.device(), &SorterInfo::pairs().batches()).expect("sorter");
        let few = Splitter::new(case.context.device(), &SplitterInfo::keys(3, BucketFunction::Range).batches())
            .expect("splitter");
        let mut jobs: Vec<Box<dyn Problem>> = Vec::new();
        for (i, n) in [0, 5, 700, case.tiles(1), case.tiles(3)].into_iter().enumerate() {
            let counted = Counted::Shared { slot: 0, value: 600 };
            jobs.push(Box::new(case.draw(Keys::Random, n, n as u64)));
            jobs.push(Box::new(sort::Job::draw(&sorter, Keys::Random, n, 8).counted(counted)));
            let asked = Asked { low: 1 << 30, width: (i as u64 + 1) << 20, ..case.asked };
            jobs.push(Box::new(Job::draw(&few, Keys::LowEntropy, n, 9).asked(asked).counted(counted)));
            jobs.push(Box::new(Job::draw(&few, Keys::Random, n, 10).asked(Asked { offsets: false, ..asked })));
        }
        let all = || jobs.iter().map(AsRef::as_ref);
        run_and_check(&case.context, all(), Together::Batch, Poison::Random(7));
        run_and_check(&case.context, all().rev(), Together::Batch, Poison::Random(8));
        assert_silence(&case.context);
    }
}

/// Scratch with any contents, and one command buffer executed twenty times.
pub(crate) fn poisoned_scratch_and_twenty_runs() {
    for case in cases(5) {
        let n = case.tiles(7);
        let jobs =
            [case.draw(Keys::HalfOnes, n, 4), case.draw(Keys::Random, n, 5).counted(Counted::Device(n as u32 - 5))];
        for poison in [Poison::Fill(u32::MAX), Poison::Fill(0xaaaa_aaaa), Poison::Fill(0)] {
            run_and_check(&case.context, &jobs, Together::Singles, poison);
        }
        let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(4));
        for _ in 0..20 {
            arena.reset();
            case.context.run(|commands| arena.record(commands, Together::Singles)).expect("the jobs are valid");
            arena.check();
        }
        assert_silence(&case.context);
    }
}

/// Two splits in one command buffer with another pipeline, layout and push constants between them; and a secondary
/// command buffer that is executed twice.
pub(crate) fn strangers_and_secondary_command_buffers() {
    let case = cases(6).remove(0);
    let jobs = [case.tiles(3), case.tiles(2)]
        .map(|n| case.draw(Keys::Random, n, n as u64).counted(Counted::Device(n as u32 - 2)));
    run_between_strangers(&case.context, &jobs);
    run_twice_from_secondary(&case.context, &jobs);
    assert_silence(&case.context);
}

/// One query before the first pass and one after each pass.
pub(crate) fn timestamps() {
    let case = cases(7).remove(0);
    let (context, vk) = (&case.context, case.context.vk());
    const MOST: u32 = 12;
    // SAFETY: the device is alive; the pool is destroyed after run() has waited.
    unsafe {
        let families = context.instance().get_physical_device_queue_family_properties(context.physical_device());
        if families[context.queue_family() as usize].timestamp_valid_bits == 0 {
            return;
        }
        let pool_info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(MOST);
        let pool = vk.create_query_pool(&pool_info, None).expect("pool");
        for n in [0, 40, case.tiles(9)] {
            let jobs = [case.draw(Keys::Random, n, 8).counted(Counted::Device(n as u32))];
            let arena = Arena::new(context, &jobs, Together::Singles, Poison::Random(8));
            let info = SplitInfo { timestamps: Some(Timestamps { pool, first: 0 }), ..jobs[0].info(&arena.places[0]) };
            let run = context.run(|commands| {
                vk.cmd_reset_query_pool(commands, pool, 0, MOST);
                case.splitter.cmd_split(commands, &info)
            });
            run.expect("the job is valid");
            arena.check();
            let most = case.splitter.timestamp_count(n as u32).expect("the count is small");
            let mut results = [[0u64; 2]; MOST as usize];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
            // The result is NOT_READY if any query is unwritten; availability shows which ones.
            let _ = vk.get_query_pool_results(pool, 0, &mut results, flags);
            let written = results.iter().take_while(|result| result[1] != 0).count() as u32;
            assert_eq!(written, most, "timestamp_count queries are written");
        }
        vk.destroy_query_pool(pool, None);
    }
    assert_silence(context);
}
