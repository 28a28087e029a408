//! Guarantees of the documentation besides correct results.

use crate::Case;
use crate::common::arena::{Arena, Poison, Together, run_and_check};
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::common::ways::{run_between_strangers, run_twice_from_secondary};
use crate::problem::Job;
use ash::vk;
use trommel::{SortInfo, Timestamps};

/// Device counts below, at and above the maximum, and zero. Clamped counts are flagged; nothing past the count is
/// written.
pub(crate) fn counts_on_the_device(case: &Case) {
    let mut jobs = Vec::new();
    for max in [1, case.small(), case.tiles(4)].into_iter().chain(case.ranked()) {
        let max_count = max as u32;
        for count in [0, 1, max_count / 3, max_count - 1, max_count, max_count + 1, u32::MAX] {
            jobs.push(Job::draw(&case.sorter, Keys::Random, max, 5).counted(Counted::Device(count)));
        }
        jobs.push(Job { status: true, ..Job::draw(&case.sorter, Keys::Random, max, 6) });
    }
    // A count of zero still writes the status.
    jobs.push(Job { status: true, ..Job::new(&case.sorter, Vec::new()) });
    jobs.push(Job::new(&case.sorter, Vec::new()).counted(Counted::Device(0)));
    jobs.push(Job::new(&case.sorter, Vec::new()).counted(Counted::Device(1)));
    run_and_check(&case.context, &jobs, Together::Singles, Poison::Random(5));
}

/// Several sorts in one command buffer, with a foreign pipeline, layout and push constants in between.
pub(crate) fn a_stranger_between(case: &Case) {
    let sizes = [case.tiles(3), case.small(), case.tiles(2)];
    let jobs = sizes.map(|n| Job::draw(&case.sorter, Keys::Random, n, n as u64).counted(Counted::Device(n as u32 - 2)));
    run_between_strangers(&case.context, &jobs);
}

/// Recorded once, executed twice.
pub(crate) fn secondary_command_buffer(case: &Case) {
    run_twice_from_secondary(&case.context, &[Job::draw(&case.sorter, Keys::Random, case.tiles(3), 7)]);
}

/// One query before the first pass and one after each pass; other queries stay unwritten.
pub(crate) fn timestamps(case: &Case) {
    let context = &case.context;
    let vk = context.vk();
    const FIRST: u32 = 3;
    const MOST: u32 = 60;
    // SAFETY: the device is alive; the pool is destroyed after run() has waited.
    unsafe {
        let families = context.instance().get_physical_device_queue_family_properties(context.physical_device());
        if families[context.queue_family() as usize].timestamp_valid_bits == 0 {
            return;
        }
        let pool_info =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(FIRST + MOST);
        let pool = vk.create_query_pool(&pool_info, None).expect("pool");
        let sizes = [(case.small(), false), (case.tiles(2), false), (case.tiles(2), true)];
        for (size, device_count) in sizes.into_iter().chain(case.ranked().map(|size| (size, true))) {
            let mut job = [Job::draw(&case.sorter, Keys::Random, size, 8)];
            if device_count {
                job[0].count = Counted::Device(size as u32);
            }
            let arena = Arena::new(context, &job, Together::Singles, Poison::Random(8));
            let info =
                SortInfo { timestamps: Some(Timestamps { pool, first: FIRST }), ..job[0].info(&arena.places[0]) };
            let run = context.run(|commands| {
                vk.cmd_reset_query_pool(commands, pool, 0, FIRST + MOST);
                case.sorter.cmd_sort(commands, &info)
            });
            run.expect("the job is valid");
            arena.check();

            let most = case.sorter.timestamp_count(size as u32).expect("the count is small");
            let mut results = [[0u64; 2]; (FIRST + MOST) as usize];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
            // The result is NOT_READY if any query is unwritten; availability shows which ones.
            let _ = vk.get_query_pool_results(pool, 0, &mut results, flags);
            let written: Vec<usize> = (0..results.len()).filter(|i| results[*i][1] != 0).collect();
            let (first, last) = (FIRST as usize, written.last().copied().unwrap_or(0));
            assert_eq!(written, (first..=last).collect::<Vec<_>>(), "they follow one another from the first");
            let bound = written.len() as u32 <= most && (!device_count || written.len() as u32 == most);
            assert!(bound, "{} queries, of which timestamp_count says {most}", written.len());
            assert!(results[first..=last].is_sorted_by_key(|result| result[0]), "time passes");
        }
        vk.destroy_query_pool(pool, None);
    }
}
