//! Splits through the loaded library: keys and pairs by each bucket function, and the bucket information.

use anyhow::{Result, ensure};
use ash::vk;
use ffi_tests::sort::sort_info;
use ffi_tests::split::{split_info, splitter_info};
use ffi_tests::{Api, Engine, batch_info, library, range, scratch};
use std::mem::offset_of;
use std::ptr;
use trommel::capi::*;
use trommel::host::Buffer;

/// Words behind the end of each array, which a split must not change.
const GUARD: u32 = 16;
const UNTOUCHED: u32 = 0xdead_beef;
/// Items for each workgroup of the indirect commands.
const GROUP: u32 = 100;

fn engine() -> Result<Engine> {
    Engine::new(Api::load(library()?)?)
}

fn key(index: u32) -> u32 {
    index.wrapping_mul(2_654_435_761) >> 8
}

/// Splitter `i` of those that are given in ascending order.
fn splitter(i: u32) -> u32 {
    i << 14
}

/// The bucket id of the item at an index.
fn id(index: u32) -> u32 {
    key(index) >> 5 & 0x3ff
}

/// The bucket of the item at an index.
fn function(info: &TrmSplitterCreateInfo, split: &TrmSplitInfo) -> impl Fn(u32) -> u32 + use<> {
    let (buckets, begin_bit, low, width) = (info.bucket_count, info.begin_bit, split.low, split.width);
    let is = |function: TrmBucketFunction| info.bucket_function == function as i32;
    let (ranges, splitters) = (is(TrmBucketFunction::Range), is(TrmBucketFunction::Splitters));
    let ids = is(TrmBucketFunction::IdsU32);
    // Keys without a bucket are placed after the last bucket, in their order.
    move |index| {
        let key = key(index);
        if ranges {
            u32::try_from((u64::from(key).saturating_sub(low) / width).min(u64::from(buckets) - 1)).unwrap_or(buckets)
        } else if splitters {
            (0..buckets - 1).map(|i| u32::from(splitter(i) <= key)).sum()
        } else if ids {
            id(index).min(buckets)
        } else {
            (key >> begin_bit & (buckets.next_power_of_two() - 1)).min(buckets)
        }
    }
}

/// A split of pairs and its expected result.
struct Problem {
    input: [Buffer; 2],
    output: [Buffer; 2],
    /// Offsets, counts, commands.
    bucket_info: [Buffer; 3],
    count: Option<Buffer>,
    status: Buffer,
    function: i32,
    /// Ids, or splitters.
    given: Option<Buffer>,
    info: TrmSplitInfo,
    max: u32,
    expected: [Vec<u32>; 5],
    expected_status: u32,
}

impl Problem {
    /// `max` pairs. `split` has the first key and the width of ranges. `on_device`: the count in device memory, if any.
    fn new(
        engine: &Engine,
        kind: &TrmSplitterCreateInfo,
        split: &TrmSplitInfo,
        max: u32,
        on_device: Option<u32>,
    ) -> Result<Self> {
        let context = &engine.context;
        let keys: Vec<u32> = (0..max + GUARD).map(key).collect();
        let values: Vec<u32> = (0..max + GUARD).collect();
        let room = vec![UNTOUCHED; (max + GUARD) as usize];
        let buckets = kind.bucket_count as usize;
        let room_of_info = [buckets + 1, buckets, 3 * buckets].map(|words| vec![UNTOUCHED; words + GUARD as usize]);

        let used = on_device.unwrap_or(max).min(max);
        let bucket = function(kind, split);
        let mut order: Vec<u32> = (0..used).collect();
        order.sort_by_cached_key(|index| bucket(*index));
        let mut counts = vec![0; buckets + 1];
        order.iter().for_each(|index| counts[bucket(*index) as usize] += 1);
        let without_bucket = counts.pop().unwrap_or(0);
        let offsets = (0..=buckets).map(|bucket| counts[..bucket].iter().sum());
        let commands = counts.iter().flat_map(|count: &u32| [count.div_ceil(GROUP), 1, 1]);
        let behind = |words: Vec<u32>, room: &[u32]| [&words, &room[words.len()..]].concat();
        let expected = [
            behind(order.iter().map(|index| key(*index)).collect(), &room),
            behind(order, &room),
            behind(offsets.collect(), &room_of_info[0]),
            behind(counts.clone(), &room_of_info[1]),
            behind(commands.collect(), &room_of_info[2]),
        ];
        let given: Option<Vec<u32>> = match kind.bucket_function {
            of if of == TrmBucketFunction::Splitters as i32 => Some((0..kind.bucket_count - 1).map(splitter).collect()),
            of if of == TrmBucketFunction::IdsU32 as i32 => Some((0..max + GUARD).map(id).collect()),
            _ => None,
        };
        let clamped = on_device.is_some_and(|count| count > max);
        let bits = [(clamped, TRM_STATUS_COUNT_CLAMPED), (without_bucket != 0, TRM_STATUS_NO_BUCKET)];
        let [offsets, counts, commands] = room_of_info;
        Ok(Self {
            input: [context.upload(&keys)?, context.upload(&values)?],
            output: [context.upload(&room)?, context.upload(&room)?],
            bucket_info: [context.upload(&offsets)?, context.upload(&counts)?, context.upload(&commands)?],
            count: on_device.map(|count| context.upload(&[count])).transpose()?,
            status: context.upload(&[UNTOUCHED])?,
            function: kind.bucket_function,
            given: given.map(|words| context.upload(&words)).transpose()?,
            info: *split,
            max,
            expected,
            expected_status: bits.iter().filter(|(set, _)| *set).map(|(_, bit)| bit).sum(),
        })
    }

    fn info(&self) -> TrmSplitInfo {
        let [keys, values] = self.input.each_ref().map(range);
        let [keys_out, values_out] = self.output.each_ref().map(range);
        let [offsets, counts, commands] = self.bucket_info.each_ref().map(range);
        let given = |function: TrmBucketFunction| {
            let wanted = self.given.as_ref().filter(|_| self.function == function as i32);
            wanted.map_or(TrmRange::default(), range)
        };
        TrmSplitInfo {
            count: TrmCount { max: self.max, address: self.count.as_ref().map_or(0, Buffer::address) },
            keys,
            values,
            keys_out,
            values_out,
            offsets,
            counts,
            commands,
            command_items: GROUP,
            splitters: given(TrmBucketFunction::Splitters),
            bucket_ids: given(TrmBucketFunction::IdsU32),
            status: self.status.address(),
            ..self.info
        }
    }

    /// Compares all outputs. Without `values`, the values must be unchanged.
    fn check(&self, engine: &Engine, values: bool) -> Result<()> {
        let names = ["keys", "values", "offsets", "counts", "commands"];
        for ((name, buffer), expected) in
            names.iter().zip(self.output.iter().chain(&self.bucket_info)).zip(&self.expected)
        {
            let got = engine.context.download::<u32>(buffer, expected.len())?;
            let untouched = *name == "values" && !values;
            let right = if untouched { got.iter().all(|word| *word == UNTOUCHED) } else { got == *expected };
            ensure!(right, "{name} of {}", self.max);
        }
        let status = engine.context.download::<u32>(&self.status, 1)?;
        ensure!(status == [self.expected_status], "status {status:?} of {}", self.max);
        let keys = engine.context.download::<u32>(&self.input[0], (self.max + GUARD) as usize)?;
        ensure!((0..self.max + GUARD).map(key).eq(keys), "the input has been written to");
        Ok(())
    }
}

fn record(engine: &Engine, commands: vk::CommandBuffer, splitter: TrmSplitter, info: &TrmSplitInfo) {
    // SAFETY: everything is valid and lives until it has run.
    let result = unsafe { (engine.api.split.trmCmdSplit)(commands, splitter, info) };
    assert_eq!(result, 0, "{}", engine.api.last_error());
}

fn bits(bucket_count: u32, begin_bit: u32) -> TrmSplitterCreateInfo {
    TrmSplitterCreateInfo { bucket_count, begin_bit, ..splitter_info() }
}

fn of(bucket_count: u32, function: TrmBucketFunction) -> TrmSplitterCreateInfo {
    TrmSplitterCreateInfo { bucket_function: function as i32, ..bits(bucket_count, 0) }
}

fn ranges(bucket_count: u32, low: u64, width: u64) -> (TrmSplitterCreateInfo, TrmSplitInfo) {
    (of(bucket_count, TrmBucketFunction::Range), TrmSplitInfo { low, width, ..split_info() })
}

#[test]
fn functions_values_and_counts_from_host_and_device() -> Result<()> {
    let engine = engine()?;
    let kinds = [
        (bits(2, 23), split_info()),
        (bits(5, 3), split_info()),
        (bits(256, 0), split_info()),
        ranges(1, 0, 7),
        ranges(2, 1 << 22, 1 << 22),
        ranges(100, 1 << 20, 123_457),
        (bits(1000, 4), split_info()),
        (of(300, TrmBucketFunction::Splitters), split_info()),
        (of(1000, TrmBucketFunction::IdsU32), split_info()),
    ];
    for (kind, split) in &kinds {
        for value_type in [TrmValueType::None, TrmValueType::U32] {
            let kind = TrmSplitterCreateInfo { value_type: value_type as i32, ..*kind };
            let splitter = engine.splitter_of(&kind)?;
            for (max, on_device) in [
                (0, None),
                (777, None),
                (30_000, None),
                (777, Some(0)),
                (777, Some(500)),
                (30_000, Some(12_345)),
                (30_000, Some(30_001)),
            ] {
                let problem = Problem::new(&engine, &kind, split, max, on_device)?;
                let work = engine.split_scratch(splitter, max)?;
                let info = TrmSplitInfo { scratch: scratch(&work), ..problem.info() };
                engine.context.run(|commands| {
                    record(&engine, commands, splitter, &info);
                    Ok(())
                })?;
                problem.check(&engine, value_type != TrmValueType::None)?;
            }
            // SAFETY: the handle is not used any more.
            unsafe { (engine.api.split.trmDestroySplitter)(splitter) };
        }
    }
    engine.finish()
}

/// Outputs other than TRM_SPLIT_OUTPUT_BUCKETS, each compared with the order of a full split.
#[test]
fn other_outputs() -> Result<()> {
    const COUNT: u32 = 20_000;
    let engine = engine()?;
    let pairs = TrmSplitterCreateInfo { value_type: TrmValueType::U32 as i32, ..bits(10, 4) };
    let bucket = function(&pairs, &split_info());
    let of = |wanted: u32| (0..COUNT).filter(move |index| key(*index) >> 4 & 15 == wanted);
    // Adjacent buckets in reverse order, then the items without a bucket.
    let counts: Vec<u32> =
        (0..=10).map(|wanted| (0..COUNT).map(|index| u32::from(bucket(index) == wanted)).sum()).collect();
    let starts: Vec<u32> =
        (0..10).map(|bucket| counts[bucket + 1..10].iter().sum()).chain([COUNT - counts[10]]).collect();
    let mut placed: Vec<u32> = (0..COUNT).collect();
    placed.sort_by_key(|index| starts[bucket(*index) as usize]);
    let mut next = [0; 11];
    let rank = |index| {
        let next: &mut u32 = &mut next[bucket(index) as usize];
        *next += 1;
        *next - 1
    };
    let ranks: Vec<u32> = (0..COUNT).map(rank).collect();
    let starts = engine.context.upload(&starts)?;

    let [counted, looking_back] = [TrmStrategy::ReduceThenScan, TrmStrategy::Lookback];
    for (output, strategy, output_bucket, expected) in [
        (TrmSplitOutput::Bucket, counted, 3, of(3).collect()),
        (TrmSplitOutput::Bucket, looking_back, 3, of(3).collect()),
        (TrmSplitOutput::Placed, counted, 0, placed.clone()),
        (TrmSplitOutput::Placed, looking_back, 0, placed),
        (TrmSplitOutput::Counts, counted, 0, Vec::new()),
        (TrmSplitOutput::Ranks, counted, 0, ranks.clone()),
        (TrmSplitOutput::Ranks, looking_back, 0, ranks),
    ] {
        let moves = matches!(output, TrmSplitOutput::Bucket | TrmSplitOutput::Placed);
        let value_type = if moves { pairs.value_type } else { TrmValueType::None as i32 };
        let kind = TrmSplitterCreateInfo {
            output: output as i32,
            strategy: strategy as i32,
            output_bucket,
            value_type,
            ..pairs
        };
        let splitter = engine.splitter_of(&kind)?;
        let problem = Problem::new(&engine, &pairs, &split_info(), COUNT, None)?;
        let work = engine.split_scratch(splitter, COUNT)?;
        let request = TrmSplitInfo { scratch: scratch(&work), ..problem.info() };
        let info = TrmSplitInfo {
            starts: if output == TrmSplitOutput::Placed { range(&starts) } else { request.starts },
            ..request
        };
        engine.context.run(|commands| {
            record(&engine, commands, splitter, &info);
            Ok(())
        })?;
        let [keys, values] =
            [0, 1].map(|which| engine.context.download::<u32>(&problem.output[which], (COUNT + GUARD) as usize));
        let (keys, values) = (keys?, values?);
        let rest = |of: &[u32], written: usize| of[written..].iter().all(|word| *word == UNTOUCHED);
        ensure!(values[..expected.len()] == expected && rest(&values, expected.len()), "values of {output:?}");
        let order = if moves { &expected[..] } else { &[] };
        ensure!(
            keys.iter().zip(order).all(|(found, index)| *found == key(*index)) && rest(&keys, order.len()),
            "keys of {output:?}"
        );
        let found = engine.context.download::<u32>(&problem.bucket_info[1], 10)?;
        ensure!(found == counts[..10], "counts of {output:?}");
        // SAFETY: the handle is not used any more.
        unsafe { (engine.api.split.trmDestroySplitter)(splitter) };
    }
    engine.finish()
}

/// Three segments, with a device count of two. Each of the two is split independently, within its range.
#[test]
fn segments() -> Result<()> {
    const COUNT: u32 = 20_000;
    const OFFSETS: [u32; 4] = [5, 70, 19_000, 19_990];
    let engine = engine()?;
    let pairs = TrmSplitterCreateInfo { value_type: TrmValueType::U32 as i32, ..bits(10, 4) };
    let bucket = function(&pairs, &split_info());
    let (mut order, mut offsets, mut counts) = (vec![UNTOUCHED; COUNT as usize], Vec::new(), Vec::new());
    for (first, end) in [(5, 70), (70, 19_000)] {
        let mut segment: Vec<u32> = (first..end).collect();
        segment.sort_by_key(|index| bucket(*index));
        let of = |wanted: u32| segment.iter().map(|index| u32::from(bucket(*index) == wanted)).sum::<u32>();
        offsets.extend((0..=10).map(|bucket| first + (0..bucket).map(of).sum::<u32>()));
        counts.extend((0..10).map(of));
        order[first as usize..end as usize].copy_from_slice(&segment);
    }
    let kind = TrmSplitterCreateInfo { flags: TRM_SPLITTER_CREATE_SEGMENTED_BIT, ..pairs };
    let splitter = engine.splitter_of(&kind)?;
    let (problem, work) =
        (Problem::new(&engine, &pairs, &split_info(), COUNT, None)?, engine.split_scratch(splitter, COUNT)?);
    let (cut, number) = (engine.context.upload(&OFFSETS)?, engine.context.upload(&[2u32])?);
    let (offsets_out, counts_out) =
        (engine.context.upload(&[UNTOUCHED; 33])?, engine.context.upload(&[UNTOUCHED; 30])?);
    let info = TrmSplitInfo {
        segments: TrmSegments { offsets: range(&cut), count: TrmCount { max: 3, address: number.address() } },
        offsets: range(&offsets_out),
        counts: range(&counts_out),
        commands: TrmRange::default(),
        command_items: 0,
        scratch: scratch(&work),
        ..problem.info()
    };
    engine.context.run(|commands| {
        record(&engine, commands, splitter, &info);
        Ok(())
    })?;
    let keys: Vec<u32> = order.iter().map(|index| if *index == UNTOUCHED { UNTOUCHED } else { key(*index) }).collect();
    ensure!(engine.context.download::<u32>(&problem.output[0], COUNT as usize)? == keys, "keys");
    ensure!(engine.context.download::<u32>(&problem.output[1], COUNT as usize)? == order, "values");
    // The third segment is beyond the count. Its bucket information is that of an empty segment.
    offsets.resize(33, OFFSETS[2]);
    counts.resize(30, 0);
    ensure!(engine.context.download::<u32>(&offsets_out, 33)? == offsets, "offsets");
    ensure!(engine.context.download::<u32>(&counts_out, 30)? == counts, "counts");
    // SAFETY: the handle is not used any more.
    unsafe { (engine.api.split.trmDestroySplitter)(splitter) };
    engine.finish()
}

#[test]
fn strategies_methods_and_infos_of_an_earlier_version() -> Result<()> {
    const COUNT: u32 = 20_000;
    let engine = engine()?;
    let earlier_size = u32::try_from(offset_of!(TrmSplitterCreateInfo, value_size))?;
    let earlier = [
        TrmStrategy::Auto,
        TrmStrategy::Lookback,
        TrmStrategy::ReduceThenScan,
        TrmStrategy::ChainedScan,
        TrmStrategy::Ring,
        TrmStrategy::RingInOrder,
    ]
    .map(|strategy| TrmSplitterCreateInfo {
        strategy: strategy as i32,
        struct_size: earlier_size,
        // Members past the size are not read. Their values are invalid.
        value_size: 77,
        layout: 77,
        max_count: 77,
        ..bits(16, 8)
    });
    let methods = [TrmSplitMethod::Workgroup, TrmSplitMethod::Subgroup, TrmSplitMethod::Direct];
    // The struct of a version without methods.
    let without_method = u32::try_from(offset_of!(TrmSplitterCreateInfo, method))?;
    let later = TrmSplitterCreateInfo { struct_size: without_method, method: 77, reserved: 77, ..bits(16, 8) };
    let without_segments = u32::try_from(offset_of!(TrmSplitInfo, segments))?;
    let methods = methods.map(|method| TrmSplitterCreateInfo { method: method as i32, ..bits(16, 8) });
    for kind in earlier.into_iter().chain([later]).chain(methods) {
        let splitter = engine.splitter_of(&kind)?;
        let problem = Problem::new(&engine, &kind, &split_info(), COUNT, None)?;
        let work = engine.split_scratch(splitter, COUNT)?;
        let request = TrmSplitInfo { splitter, scratch: scratch(&work), ..problem.info() };
        let segments = TrmSegments { offsets: request.keys, count: TrmCount { max: 77, address: 3 } };
        let info = TrmSplitInfo { struct_size: without_segments, segments, ..request };
        engine.context.run(|commands| {
            record(&engine, commands, splitter, &info);
            Ok(())
        })?;
        problem.check(&engine, false)?;
        // SAFETY: the handle is not used any more.
        unsafe { (engine.api.split.trmDestroySplitter)(splitter) };
    }
    engine.finish()
}

#[test]
fn batches_of_splits_and_sorts() -> Result<()> {
    let engine = engine()?;
    let kinds = [(bits(6, 2), split_info()), ranges(40, 99_999, 400_000)];
    let kinds =
        kinds.map(|(kind, split)| (TrmSplitterCreateInfo { value_type: TrmValueType::U32 as i32, ..kind }, split));
    let splitters = kinds.iter().map(|(kind, _)| engine.splitter_of(kind)).collect::<Result<Vec<_>>>()?;
    let sorter = engine.sorter(TrmValueType::None)?;
    let sizes = [(5, None), (30_000, None), (0, None), (400, Some(399)), (20_000, Some(20_001))];
    let mut problems = Vec::new();
    for (index, (max, on_device)) in sizes.into_iter().enumerate() {
        let (kind, split) = &kinds[index % 2];
        problems.push((Problem::new(&engine, kind, split, max, on_device)?, splitters[index % 2]));
    }
    let data: Vec<u32> = (0..10_000).map(key).collect();
    let keys = engine.context.upload(&data)?;
    let sort = TrmSortInfo { sorter, count: TrmCount { max: 10_000, address: 0 }, keys: range(&keys), ..sort_info() };
    let infos: Vec<_> =
        problems.iter().map(|(problem, splitter)| TrmSplitInfo { splitter: *splitter, ..problem.info() }).collect();
    let mut headers: Vec<*const TrmInfoHeader> = infos.iter().map(|info| (&raw const *info).cast()).collect();
    headers.insert(2, (&raw const sort).cast());
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
        Ok(())
    })?;
    problems.iter().try_for_each(|(problem, _)| problem.check(&engine, true))?;
    let mut sorted = data;
    sorted.sort_unstable();
    ensure!(engine.context.download::<u32>(&keys, sorted.len())? == sorted, "the sort");
    // SAFETY: the handles are not used any more.
    unsafe {
        splitters.into_iter().for_each(|splitter| (engine.api.split.trmDestroySplitter)(splitter));
        (engine.api.sort.trmDestroySorter)(sorter);
    }
    drop((problems, keys, work));
    engine.finish()
}

#[test]
fn a_splitter_outlives_its_device_handle_and_writes_timestamps() -> Result<()> {
    let mut engine = engine()?;
    let kind = TrmSplitterCreateInfo { value_type: TrmValueType::U32 as i32, ..bits(32, 5) };
    let splitter = engine.splitter_of(&kind)?;
    // SAFETY: the handle is not used any more; the VkDevice lives on.
    unsafe { (engine.api.trmDestroyDevice)(engine.device) };
    engine.device = ptr::null_mut();

    for max in [100, 30_000] {
        let problem = Problem::new(&engine, &kind, &split_info(), max, None)?;
        let work = engine.split_scratch(splitter, max)?;
        let mut count = 0;
        // SAFETY: the handle is a live splitter.
        let result = unsafe { (engine.api.split.trmGetSplitterTimestampCount)(splitter, max, &mut count) };
        ensure!(result == 0 && count >= 2, engine.api.last_error());
        let vk = engine.context.vk();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count + 1);
        // SAFETY: the device is alive.
        let pool = unsafe { vk.create_query_pool(&info, None) }?;
        let info =
            TrmSplitInfo { scratch: scratch(&work), timestamps: TrmTimestamps { pool, first: 1 }, ..problem.info() };
        engine.context.run(|commands| {
            // SAFETY: the pool is the device's.
            unsafe { vk.cmd_reset_query_pool(commands, pool, 0, count + 1) };
            record(&engine, commands, splitter, &info);
            Ok(())
        })?;
        problem.check(&engine, true)?;
        let mut times = vec![0u64; count as usize];
        // SAFETY: all queries have been written, and nothing is pending.
        unsafe {
            vk.get_query_pool_results(pool, 1, &mut times, vk::QueryResultFlags::TYPE_64)?;
            vk.destroy_query_pool(pool, None);
        }
        ensure!(times.is_sorted() && times[0] != 0, "{times:?}");
    }
    // SAFETY: the handle is not used any more.
    unsafe { (engine.api.split.trmDestroySplitter)(splitter) };
    engine.finish()
}

/// Every `stride`-th word, from the first on.
fn spread(words: &[u32], stride: usize) -> Vec<u32> {
    words.iter().flat_map(|word| std::iter::once(*word).chain(std::iter::repeat_n(UNTOUCHED, stride - 1))).collect()
}

#[test]
fn layouts_and_indices() -> Result<()> {
    const COUNT: u32 = 5000;
    let engine = engine()?;
    let context = &engine.context;
    let keys: Vec<u32> = (0..COUNT).map(key).collect();
    // Other than the indices, which an argsort by bucket returns.
    let values: Vec<u32> = (0..COUNT).map(|index| !index).collect();
    let pairs = TrmSplitterCreateInfo { value_type: TrmValueType::U32 as i32, ..bits(7, 20) };
    let bucket = function(&pairs, &split_info());
    let mut order: Vec<u32> = (0..COUNT).collect();
    order.sort_by_cached_key(|index| bucket(*index));
    let (split_keys, split_values): (Vec<_>, Vec<_>) = order.iter().map(|index| (key(*index), !index)).unzip();
    let items = |keys: &[u32], values: &[u32]| {
        keys.iter().zip(values).flat_map(|(key, value)| [*key, *value]).collect::<Vec<_>>()
    };

    let strided = TrmSplitterCreateInfo { layout: TrmLayout::Strided as i32, ..pairs };
    let interleaved = TrmSplitterCreateInfo { layout: TrmLayout::Interleaved as i32, ..pairs };
    let indices = TrmSplitterCreateInfo {
        value_type: TrmValueType::Index as i32,
        flags: TRM_SPLITTER_CREATE_DROP_KEYS_BIT,
        ..pairs
    };
    let untouched = vec![UNTOUCHED; 2 * COUNT as usize];
    let behind = |words: &[u32]| [words, &untouched[words.len()..]].concat();
    let cases = [
        ("strided", strided, spread(&keys, 2), spread(&values, 3), [8, 12], behind(&split_keys), behind(&split_values)),
        (
            "interleaved",
            interleaved,
            items(&keys, &values),
            Vec::new(),
            [0, 0],
            items(&split_keys, &split_values),
            untouched.clone(),
        ),
        ("indices", indices, keys.clone(), Vec::new(), [0, 0], untouched.clone(), behind(&order)),
    ];
    for (name, kind, keys, values, [key_stride, value_stride], expected_keys, expected_values) in cases {
        let splitter = engine.splitter_of(&kind)?;
        let work = engine.split_scratch(splitter, COUNT)?;
        let values = if values.is_empty() { None } else { Some(context.upload(&values)?) };
        let (keys, keys_out, values_out) =
            (context.upload(&keys)?, context.upload(&untouched)?, context.upload(&untouched)?);
        let info = TrmSplitInfo {
            count: TrmCount { max: COUNT, address: 0 },
            keys: range(&keys),
            values: values.as_ref().map(range).unwrap_or_default(),
            keys_out: range(&keys_out),
            values_out: range(&values_out),
            key_stride,
            value_stride,
            scratch: scratch(&work),
            ..split_info()
        };
        context.run(|commands| {
            record(&engine, commands, splitter, &info);
            Ok(())
        })?;
        ensure!(context.download::<u32>(&keys_out, untouched.len())? == expected_keys, "{name}: keys");
        ensure!(context.download::<u32>(&values_out, untouched.len())? == expected_values, "{name}: values");
        // SAFETY: the handle is not used any more.
        unsafe { (engine.api.split.trmDestroySplitter)(splitter) };
    }
    engine.finish()
}
