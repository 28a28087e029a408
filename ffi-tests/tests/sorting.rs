//! Sorts through the loaded library: alone, in batches, from several threads, with counts on the device.

use anyhow::{Result, ensure};
use ash::vk;
use ash::vk::Handle as _;
use ffi_tests::sort::{sort_info, sorter_info};
use ffi_tests::{Api, Engine, batch_info, library, range, scratch};
use std::mem::offset_of;
use std::ptr;
use trommel::capi::*;
use trommel::host::{Buffer, Context};

/// Items behind the maximum count, which a sort must not change.
const GUARD: u32 = 16;
const UNTOUCHED: u32 = 0xdead_beef;

fn engine() -> Result<Engine> {
    Engine::new(Api::load(library()?)?)
}

/// A problem and its expected result.
struct Problem {
    keys: Buffer,
    values: Buffer,
    count: Option<Buffer>,
    status: Buffer,
    max: u32,
    expected: (Vec<u32>, Vec<u32>),
    clamped: bool,
}

impl Problem {
    /// `max` pairs with a guard behind them. `on_device`: the count in device memory, if any.
    fn new(engine: &Engine, max: u32, on_device: Option<u32>) -> Result<Self> {
        let context = &engine.context;
        let key = |i: u32| i.wrapping_mul(2_654_435_761) >> 19;
        let mut keys: Vec<u32> = (0..max + GUARD).map(key).collect();
        let mut values: Vec<u32> = (0..max + GUARD).collect();
        let (on_device_keys, on_device_values) = (context.upload(&keys)?, context.upload(&values)?);
        let sorted = on_device.unwrap_or(max).min(max) as usize;
        values[..sorted].sort_by_key(|value| key(*value));
        keys[..sorted].sort_unstable();
        Ok(Self {
            keys: on_device_keys,
            values: on_device_values,
            count: on_device.map(|count| context.upload(&[count])).transpose()?,
            status: context.upload(&[UNTOUCHED])?,
            max,
            expected: (keys, values),
            clamped: on_device.is_some_and(|count| count > max),
        })
    }

    fn info(&self) -> TrmSortInfo {
        TrmSortInfo {
            count: TrmCount { max: self.max, address: self.count.as_ref().map_or(0, Buffer::address) },
            keys: range(&self.keys),
            values: range(&self.values),
            status: self.status.address(),
            ..sort_info()
        }
    }

    fn check(&self, engine: &Engine) -> Result<()> {
        let (keys, values) = &self.expected;
        ensure!(engine.context.download::<u32>(&self.keys, keys.len())? == *keys, "keys of {}", self.max);
        ensure!(engine.context.download::<u32>(&self.values, values.len())? == *values, "values of {}", self.max);
        let status = engine.context.download::<u32>(&self.status, 1)?;
        ensure!(
            status == [if self.clamped { TRM_STATUS_COUNT_CLAMPED } else { 0 }],
            "status {status:?} of {}",
            self.max
        );
        Ok(())
    }
}

fn record(engine: &Engine, commands: vk::CommandBuffer, sorter: TrmSorter, info: &TrmSortInfo) {
    // SAFETY: everything is valid and lives until it has run.
    let result = unsafe { (engine.api.sort.trmCmdSort)(commands, sorter, info) };
    assert_eq!(result, 0, "{}", engine.api.last_error());
}

#[test]
fn counts_from_host_and_device() -> Result<()> {
    let engine = engine()?;
    let sorter = engine.sorter(TrmValueType::U32)?;
    for (max, on_device) in [
        (0, None),
        (1, None),
        (777, None),
        (30_000, None),
        (777, Some(0)),
        (777, Some(500)),
        (777, Some(778)),
        (30_000, Some(0)),
        (30_000, Some(12_345)),
        (30_000, Some(30_000)),
        (30_000, Some(u32::MAX)),
    ] {
        let problem = Problem::new(&engine, max, on_device)?;
        let work = engine.scratch(sorter, max)?;
        let info = TrmSortInfo { scratch: scratch(&work), ..problem.info() };
        engine.context.run(|commands| {
            record(&engine, commands, sorter, &info);
            Ok(())
        })?;
        problem.check(&engine)?;
    }
    // SAFETY: the handle is not used any more.
    unsafe { (engine.api.sort.trmDestroySorter)(sorter) };
    engine.finish()
}

#[test]
fn strategies_keys_alone_and_infos_of_an_earlier_version() -> Result<()> {
    let engine = engine()?;
    let data: Vec<u32> = (0..20_000).rev().collect();
    for strategy in [
        TrmStrategy::Auto,
        TrmStrategy::Lookback,
        TrmStrategy::ReduceThenScan,
        TrmStrategy::ChainedScan,
        TrmStrategy::Ring,
        TrmStrategy::RingInOrder,
    ] {
        let mut sorter = ptr::null_mut();
        let info = TrmSorterCreateInfo {
            struct_size: u32::try_from(offset_of!(TrmSorterCreateInfo, order))?,
            strategy: strategy as i32,
            // Members past the size are not read. Their values are invalid.
            order: 77,
            value_size: 77,
            end_bit: 77,
            layout: 77,
            reserved: 77,
            ..sorter_info()
        };
        // SAFETY: the info is valid.
        let result = unsafe { (engine.api.sort.trmCreateSorter)(engine.device, &info, &mut sorter) };
        assert_eq!(result, 0, "{}", engine.api.last_error());
        let keys = engine.context.upload(&data)?;
        let work = engine.scratch(sorter, 20_000)?;
        let info = TrmSortInfo {
            struct_size: u32::try_from(offset_of!(TrmSortInfo, status))?,
            count: TrmCount { max: 20_000, address: 0 },
            keys: range(&keys),
            scratch: scratch(&work),
            // Members past the size are not read.
            status: 3,
            timestamps: TrmTimestamps { pool: vk::QueryPool::from_raw(7), first: 7 },
            key_stride: 7,
            ..sort_info()
        };
        engine.context.run(|commands| {
            record(&engine, commands, sorter, &info);
            Ok(())
        })?;
        ensure!(engine.context.download::<u32>(&keys, 20_000)?.is_sorted(), "{strategy:?}");
        // SAFETY: the handle is not used any more.
        unsafe { (engine.api.sort.trmDestroySorter)(sorter) };
    }
    engine.finish()
}

#[test]
fn batches_of_all_sizes() -> Result<()> {
    let engine = engine()?;
    let sorter = engine.sorter(TrmValueType::U32)?;
    let sizes = [(5, None), (30_000, None), (0, None), (5, Some(3)), (20_000, Some(20_001)), (300, None), (1, None)];
    let problems =
        sizes.iter().map(|(max, on_device)| Problem::new(&engine, *max, *on_device)).collect::<Result<Vec<_>>>()?;
    let infos: Vec<_> = problems.iter().map(|problem| TrmSortInfo { sorter, ..problem.info() }).collect();
    let headers: Vec<_> = infos.iter().map(|info| (&raw const *info).cast()).collect();
    let mut batch = batch_info(&headers);
    let mut size = 0;
    // SAFETY: the info is valid.
    ensure!(unsafe { (engine.api.trmGetBatchScratch)(&batch, &mut size) } == 0, engine.api.last_error());
    let work = engine.context.buffer(size)?;
    batch.scratch = scratch(&work);
    engine.context.run(|commands| {
        // SAFETY: everything is valid and lives until it has run.
        let result = unsafe { (engine.api.trmCmdBatch)(commands, &batch) };
        assert_eq!(result, 0, "{}", engine.api.last_error());
        // SAFETY: as before. An empty batch is valid.
        assert_eq!(unsafe { (engine.api.trmCmdBatch)(commands, &batch_info(&[])) }, 0, "{}", engine.api.last_error());
        Ok(())
    })?;
    problems.iter().try_for_each(|problem| problem.check(&engine))?;
    // SAFETY: the handle is not used any more.
    unsafe { (engine.api.sort.trmDestroySorter)(sorter) };
    drop((problems, work));
    engine.finish()
}

/// Segmented sorts share no dispatches with each other: seventeen are more than one group of a batch takes.
#[test]
fn batches_of_many_segmented_sorts() -> Result<()> {
    const SORTS: u32 = 17;
    const COUNT: u32 = 40;
    let engine = engine()?;
    let (api, context) = (&engine.api, &engine.context);
    let sorter = engine.sorter_of(&TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_SEGMENTED_BIT, ..sorter_info() })?;
    let data: Vec<u32> = (0..SORTS * COUNT).map(|index| index.wrapping_mul(2_654_435_761)).collect();
    let keys = context.upload(&data)?;
    let offsets = context.upload(&[0, 3, 3, 30, COUNT])?;
    let part =
        |sort: u32| TrmRange { address: keys.address() + u64::from(sort * COUNT) * 4, size: u64::from(COUNT) * 4 };
    // Falling addresses.
    let infos: Vec<_> = (0..SORTS)
        .rev()
        .map(|sort| TrmSortInfo {
            sorter,
            count: TrmCount { max: COUNT, address: 0 },
            keys: part(sort),
            segments: TrmSegments { offsets: range(&offsets), count: TrmCount { max: 4, address: 0 } },
            ..sort_info()
        })
        .collect();
    let headers: Vec<_> = infos.iter().map(|info| (&raw const *info).cast()).collect();
    let mut batch = batch_info(&headers);
    let mut size = 0;
    // SAFETY: the info is valid.
    ensure!(unsafe { (api.trmGetBatchScratch)(&batch, &mut size) } == 0, api.last_error());
    let work = context.buffer(size)?;
    batch.scratch = scratch(&work);
    context.run(|commands| {
        // SAFETY: everything is valid and lives until it has run.
        assert_eq!(unsafe { (api.trmCmdBatch)(commands, &batch) }, 0, "{}", api.last_error());
        Ok(())
    })?;
    let mut expected = data;
    for sort in expected.chunks_mut(COUNT as usize) {
        [0..3, 3..30, 30..COUNT as usize].into_iter().for_each(|segment| sort[segment].sort_unstable());
    }
    ensure!(context.download::<u32>(&keys, expected.len())? == expected, "each segment is sorted");
    // SAFETY: the handle is not used any more.
    unsafe { (api.sort.trmDestroySorter)(sorter) };
    drop((keys, offsets, work));
    engine.finish()
}

/// A secondary command buffer, in a pool of its own.
struct Secondary<'a> {
    vk: &'a ash::Device,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
}

impl<'a> Secondary<'a> {
    fn record(context: &'a Context, record: impl FnOnce(vk::CommandBuffer)) -> Result<Self> {
        let vk = context.vk();
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family());
        // SAFETY: pool and buffer are this thread's.
        unsafe {
            let pool = vk.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .level(vk::CommandBufferLevel::SECONDARY)
                .command_buffer_count(1);
            let commands = vk.allocate_command_buffers(&info)?[0];
            let inheritance = vk::CommandBufferInheritanceInfo::default();
            let begin = vk::CommandBufferBeginInfo::default()
                .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)
                .inheritance_info(&inheritance);
            vk.begin_command_buffer(commands, &begin)?;
            record(commands);
            vk.end_command_buffer(commands)?;
            Ok(Self { vk, pool, commands })
        }
    }
}

impl Drop for Secondary<'_> {
    fn drop(&mut self) {
        // SAFETY: all submissions have completed.
        unsafe { self.vk.destroy_command_pool(self.pool, None) };
    }
}

/// A pointer that may go to another thread, as C's may.
#[derive(Clone, Copy)]
struct Shared(TrmSorter);

// SAFETY: handles may be used by any number of threads.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn get(&self) -> TrmSorter {
        self.0
    }
}

#[test]
fn two_threads_record_secondary_command_buffers() -> Result<()> {
    let engine = engine()?;
    let sorter = Shared(engine.sorter(TrmValueType::U32)?);
    let (api, context) = (&engine.api, &engine.context);
    let problems = [Problem::new(&engine, 25_000, None)?, Problem::new(&engine, 30_000, Some(29_000))?];
    let work = [engine.scratch(sorter.get(), 30_000)?, engine.scratch(sorter.get(), 30_000)?];
    // Both threads at once, with the same sorter.
    let start = std::sync::Barrier::new(2);
    let record = |problem: &Problem, work: &Buffer| {
        start.wait();
        Secondary::record(context, |commands| {
            let info = TrmSortInfo { scratch: scratch(work), ..problem.info() };
            // SAFETY: everything is valid and lives until it has run.
            assert_eq!(unsafe { (api.sort.trmCmdSort)(commands, sorter.get(), &info) }, 0, "{}", api.last_error());
        })
    };
    let recorded = std::thread::scope(|scope| {
        let threads: Vec<_> = problems
            .iter()
            .zip(&work)
            .map(|(problem, work)| {
                let record = &record;
                scope.spawn(move || record(problem, work))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Result<Vec<_>>>()
    })?;
    let commands: Vec<_> = recorded.iter().map(|secondary| secondary.commands).collect();
    context.run(|primary| {
        // SAFETY: both are executable.
        unsafe { context.vk().cmd_execute_commands(primary, &commands) };
        Ok(())
    })?;
    problems.iter().try_for_each(|problem| problem.check(&engine))?;
    drop(recorded);
    // SAFETY: the handle is not used any more.
    unsafe { (api.sort.trmDestroySorter)(sorter.get()) };
    drop((problems, work));
    engine.finish()
}

#[test]
fn a_sorter_outlives_its_device_handle_and_writes_timestamps() -> Result<()> {
    let mut engine = engine()?;
    let sorter = engine.sorter(TrmValueType::U32)?;
    // SAFETY: the handle is not used any more; the VkDevice lives on.
    unsafe { (engine.api.trmDestroyDevice)(engine.device) };
    engine.device = ptr::null_mut();

    for max in [100, 30_000] {
        let problem = Problem::new(&engine, max, None)?;
        let work = engine.scratch(sorter, max)?;
        let mut count = 0;
        // SAFETY: the handle is a live sorter.
        let result = unsafe { (engine.api.sort.trmGetSorterTimestampCount)(sorter, max, &mut count) };
        ensure!(result == 0 && count >= 2, engine.api.last_error());
        let vk = engine.context.vk();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count + 1);
        // SAFETY: the device is alive.
        let pool = unsafe { vk.create_query_pool(&info, None) }?;
        let info =
            TrmSortInfo { scratch: scratch(&work), timestamps: TrmTimestamps { pool, first: 1 }, ..problem.info() };
        engine.context.run(|commands| {
            // SAFETY: the pool is the device's.
            unsafe { vk.cmd_reset_query_pool(commands, pool, 0, count + 1) };
            record(&engine, commands, sorter, &info);
            Ok(())
        })?;
        problem.check(&engine)?;
        let mut times = vec![0u64; count as usize];
        // SAFETY: all queries have been written, and nothing is pending.
        unsafe {
            vk.get_query_pool_results(pool, 1, &mut times, vk::QueryResultFlags::TYPE_64)?;
            vk.destroy_query_pool(pool, None);
        }
        ensure!(times.is_sorted() && times[0] != 0, "{times:?}");
    }
    // SAFETY: the handle is not used any more.
    unsafe { (engine.api.sort.trmDestroySorter)(sorter) };
    engine.finish()
}

/// By some bits of the keys: see tests/kernels/masked.glsl.
#[test]
fn a_sort_by_a_comparator() -> Result<()> {
    const MASK: u32 = 0x3f0;
    const COUNT: u32 = 20_000;
    let engine = engine()?;
    let bytes = include_bytes!("../../tests/kernels/sort_masked_u32.spv");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let pairs = TrmSorterCreateInfo { value_type: TrmValueType::U32 as i32, ..sorter_info() };
    let (mut sorter, size) = (ptr::null_mut(), size_of_val(&words[..]));
    // SAFETY: the arguments are valid.
    let result =
        unsafe { (engine.api.sort.trmCreateSorterFromSpirv)(engine.device, &pairs, words.as_ptr(), size, &mut sorter) };
    ensure!(result == 0 && !sorter.is_null(), engine.api.last_error());
    let mut items: Vec<(u32, u32)> = (0..COUNT).map(|i| (i.wrapping_mul(0x9e37_79b9), i)).collect();
    let (keys, values): (Vec<u32>, Vec<u32>) = items.iter().copied().unzip();
    let (keys, values, work) =
        (engine.context.upload(&keys)?, engine.context.upload(&values)?, engine.scratch(sorter, COUNT)?);
    let info = TrmSortInfo {
        count: TrmCount { max: COUNT, address: 0 },
        keys: range(&keys),
        values: range(&values),
        scratch: scratch(&work),
        user_words: [0, 0, 0, MASK],
        ..sort_info()
    };
    engine.context.run(|commands| {
        record(&engine, commands, sorter, &info);
        Ok(())
    })?;
    items.sort_by_key(|(key, _)| key & MASK);
    let download = |buffer: &Buffer| engine.context.download::<u32>(buffer, COUNT as usize);
    let sorted: Vec<_> = download(&keys)?.into_iter().zip(download(&values)?).collect();
    ensure!(sorted == items, "items");
    // SAFETY: the handle is not used any more.
    unsafe { (engine.api.sort.trmDestroySorter)(sorter) };
    drop((keys, values, work));
    engine.finish()
}
