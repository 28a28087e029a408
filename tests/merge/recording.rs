//! Merges in batches, and recorded in every way.

use crate::common::arena::{Arena, Poison, Together, run_and_check};
use crate::common::contexts::assert_silence;
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::common::problem::Problem;
use crate::common::ways::{run_between_strangers, run_twice_from_secondary};
use crate::{Case, SETUPS, sort};
use ash::vk;
use trommel::{MergeInfo, MergeOperation, Merger, MergerInfo, Sorter, SorterInfo, Timestamps};

/// Batches of several kinds of merges, with sorts between them. Merges of different sizes share dispatches if they have
/// about as many tiles.
pub(crate) fn batches_of_merges_and_sorts() {
    for setup in SETUPS {
        let case = Case::new(setup, &MergerInfo::pairs());
        let device = case.context.device();
        let keys = Merger::new(device, &MergerInfo::keys().batches()).expect("merger");
        let sorter = Sorter::new(device, &SorterInfo::pairs().batches()).expect("sorter");
        let [tile, fused] = case.tile();
        let mut jobs: Vec<Box<dyn Problem>> = Vec::new();
        for (i, n) in [0, 5, 700, tile, 3 * tile, fused.min(8 * tile) + 1].into_iter().enumerate() {
            let counted = Counted::Shared { slot: 0, value: 600 };
            jobs.push(Box::new(case.draw(Keys::Random, [n, n / 2], n as u64)));
            jobs.push(Box::new(case.draw(Keys::LowEntropy, [n / 3, n], i as u64).counted([counted, Counted::Host])));
            jobs.push(Box::new(sort::Job::draw(&sorter, Keys::Random, n, 8).counted(counted)));
            jobs.push(Box::new(crate::Job::draw(&keys, Keys::LowEntropy, [n, n], 9)));
            jobs.push(Box::new(crate::Job::draw(&keys, Keys::Random, [n + 3, 7 * i], 10)));
        }
        let all = || jobs.iter().map(AsRef::as_ref);
        run_and_check(&case.context, all(), Together::Batch, Poison::Random(7));
        run_and_check(&case.context, all().rev(), Together::Batch, Poison::Random(8));
        assert_silence(&case.context);
    }
}

/// Scratch with any contents, and one command buffer executed twenty times.
pub(crate) fn poisoned_scratch_and_twenty_runs() {
    let case = Case::new(SETUPS[1], &MergerInfo::pairs());
    let n = 7 * case.tile()[0];
    let device = Counted::Device(n as u32 - 5);
    let jobs = [case.draw(Keys::HalfOnes, [n, n], 4), case.draw(Keys::Random, [n, 9], 5).counted([device; 2])];
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

/// Two merges in one command buffer with another pipeline, layout and push constants between them; and a secondary
/// command buffer that is executed twice.
pub(crate) fn strangers_and_secondary_command_buffers() {
    let case = Case::new(SETUPS[1], &MergerInfo::pairs());
    let tile = case.tile()[0];
    let jobs = [9 * tile, 2 * tile]
        .map(|n| case.draw(Keys::Random, [n, n / 2], n as u64).counted([Counted::Device(n as u32 - 2), Counted::Host]));
    run_between_strangers(&case.context, &jobs);
    run_twice_from_secondary(&case.context, &jobs);
    assert_silence(&case.context);
}

/// Every query is written, whatever the number of passes.
pub(crate) fn timestamps() {
    let pairs = MergerInfo::pairs();
    let case = Case::new(SETUPS[1], &pairs);
    let [tile, fused] = case.tile();
    check_timestamps(&case, &[(0, 2), (tile / 2, 2), (fused / 2 + tile, 3)]);
    // The table in scratch is written before the first pass.
    let update = pairs.operation(MergeOperation::Update);
    check_timestamps(&Case::new(SETUPS[1], &update), &[(0, 4), (tile / 2, 4), (fused / 2 + tile, 4)]);
}

/// Merges sequences of `n` items each, and expects as many queries to be written. `cases`: both numbers.
fn check_timestamps(case: &Case, cases: &[(usize, u32)]) {
    for (n, queries) in cases.iter().copied() {
        let job = case.draw(Keys::Random, [n, n], 8).counted([Counted::Device(n as u32); 2]);
        let jobs = [job.marked(vec![5; n.div_ceil(32)])];
        assert_eq!(case.merger.timestamp_count(2 * n as u32).expect("the count is small"), queries);
        let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(8));
        check_queries(case, queries, &jobs[0].info(&arena.places[0]));
        arena.check();
    }
    assert_silence(&case.context);
}

/// Records a merge, and checks that as many queries are written.
pub(crate) fn check_queries(case: &Case, queries: u32, info: &MergeInfo) {
    let (context, vk) = (&case.context, case.context.vk());
    const MOST: u32 = 12;
    // SAFETY: the device is alive; the pool is destroyed after run() has waited.
    unsafe {
        let families = context.instance().get_physical_device_queue_family_properties(context.physical_device());
        let has_timestamps = families[context.queue_family() as usize].timestamp_valid_bits != 0;
        let pool_info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(MOST);
        let pool = vk.create_query_pool(&pool_info, None).expect("pool");
        let timestamps = has_timestamps.then_some(Timestamps { pool, first: 0 });
        let run = context.run(|commands| {
            vk.cmd_reset_query_pool(commands, pool, 0, MOST);
            case.merger.cmd_merge(commands, &MergeInfo { timestamps, ..*info })
        });
        run.expect("the job is valid");
        let mut results = [[0u64; 2]; MOST as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        // The result is NOT_READY if any query is unwritten; availability shows which ones.
        let _ = vk.get_query_pool_results(pool, 0, &mut results, flags);
        let written = results.iter().take_while(|result| result[1] != 0).count() as u32;
        assert!(!has_timestamps || written == queries, "{written} of {queries} queries are written");
        vk.destroy_query_pool(pool, None);
    }
}
