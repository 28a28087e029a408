//! Merges through the loaded library, against std's stable sort: counts, formats, batches.

#[path = "merging/operations.rs"]
mod operations;

use anyhow::{Context as _, Result, ensure};
use ash::vk;
use ffi_tests::merge::{merge_info, merger_info};
use ffi_tests::sort::sort_info;
use ffi_tests::split::{split_info, splitter_info};
use ffi_tests::{Api, Engine, batch_info, library, range, scratch};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::ptr;
use trommel::capi::*;
use trommel::host::Buffer;

/// Items behind the count.
const GUARD: u32 = 16;
const UNTOUCHED: u32 = 0xdead_beef;
/// In the values of B.
const OF_B: u32 = 1 << 30;

fn engine() -> Result<Engine> {
    Engine::new(Api::load(library()?)?)?.with_small_merges()
}

/// 4096 different keys, so that many are equal.
fn key(index: u32) -> u32 {
    index.wrapping_mul(2_654_435_761) >> 20
}

/// Two sequences of pairs, and their expected merge.
struct Problem {
    /// Keys and values of A, then of B.
    input: [[Buffer; 2]; 2],
    input_keys: [Vec<u32>; 2],
    output: [Buffer; 2],
    counts: [Option<Buffer>; 2],
    status: Buffer,
    max: [u32; 2],
    expected: [Vec<u32>; 2],
    clamped: bool,
}

impl Problem {
    /// `max` pairs in each sequence, of which `on_device` are to be merged, where it is given.
    fn new(engine: &Engine, max: [u32; 2], on_device: [Option<u32>; 2]) -> Result<Self> {
        let context = &engine.context;
        let mut pairs = Vec::new();
        let sequences = [0, 1].map(|side: usize| {
            // Of another beginning in B: neither sequence has all keys of the other one.
            let mut keys: Vec<u32> = (0..max[side] + GUARD).map(|index| key(index + 777 * max[1 - side])).collect();
            keys[..max[side] as usize].sort_unstable();
            let values: Vec<u32> = (0..max[side] + GUARD).map(|index| index | [0, OF_B][side]).collect();
            let used = on_device[side].unwrap_or(max[side]).min(max[side]) as usize;
            pairs.extend(keys.iter().copied().zip(values.iter().copied()).take(used));
            [keys, values]
        });
        pairs.sort_by_key(|pair| pair.0);
        let room = vec![UNTOUCHED; (max[0] + max[1] + GUARD) as usize];
        let (keys, values): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let upload = |words: &[u32]| context.upload(words);
        let count = |side: usize| on_device[side].map(|count| upload(&[count])).transpose();
        let [[keys_a, values_a], [keys_b, values_b]] = &sequences;
        Ok(Self {
            input: [[upload(keys_a)?, upload(values_a)?], [upload(keys_b)?, upload(values_b)?]],
            input_keys: [keys_a.clone(), keys_b.clone()],
            output: [upload(&room)?, upload(&room)?],
            counts: [count(0)?, count(1)?],
            status: upload(&[UNTOUCHED])?,
            max,
            expected: [keys, values].map(|words| [&words, &room[words.len()..]].concat()),
            clamped: (0..2).any(|side| on_device[side].is_some_and(|count| count > max[side])),
        })
    }

    fn info(&self) -> TrmMergeInfo {
        let count = |side: usize| TrmCount {
            max: self.max[side],
            address: self.counts[side].as_ref().map_or(0, Buffer::address),
        };
        let [[keys_a, values_a], [keys_b, values_b]] = self.input.each_ref().map(|arrays| arrays.each_ref().map(range));
        let [keys_out, values_out] = self.output.each_ref().map(range);
        TrmMergeInfo {
            count_a: count(0),
            count_b: count(1),
            keys_a,
            values_a,
            keys_b,
            values_b,
            keys_out,
            values_out,
            status: self.status.address(),
            ..merge_info()
        }
    }

    /// Items of both sequences.
    fn most(&self) -> u32 {
        self.max[0] + self.max[1]
    }

    /// Of keys alone, without `values`.
    fn check(&self, engine: &Engine, values: bool) -> Result<()> {
        let read = |buffer: &Buffer, words: usize| engine.context.download::<u32>(buffer, words);
        let name = format!("{:?}", self.max);
        let [keys_out, values_out] = self.output.each_ref().map(|buffer| read(buffer, self.expected[0].len()));
        let values_out = values_out?;
        ensure!(keys_out? == self.expected[0], "keys of {name}");
        let untouched = !values && values_out.iter().all(|word| *word == UNTOUCHED);
        ensure!(untouched || values && values_out == self.expected[1], "values of {name}");
        let status = read(&self.status, 1)?;
        ensure!(status == [if self.clamped { TRM_STATUS_COUNT_CLAMPED } else { 0 }], "status {status:?} of {name}");
        for (arrays, keys) in self.input.iter().zip(&self.input_keys) {
            ensure!(read(&arrays[0], keys.len())? == *keys, "the input of {name} has been written to");
        }
        Ok(())
    }
}

fn record(engine: &Engine, commands: vk::CommandBuffer, merger: TrmMerger, info: &TrmMergeInfo) {
    // SAFETY: everything is valid and lives until it has run.
    let result = unsafe { (engine.api.merge.trmCmdMerge)(commands, merger, info) };
    assert_eq!(result, 0, "{}", engine.api.last_error());
}

fn run(engine: &Engine, merger: TrmMerger, info: &TrmMergeInfo) -> Result<()> {
    engine.context.run(|commands| {
        record(engine, commands, merger, info);
        Ok(())
    })?;
    Ok(())
}

fn destroy(engine: &Engine, merger: TrmMerger) {
    // SAFETY: nobody uses it any more.
    unsafe { (engine.api.merge.trmDestroyMerger)(merger) }
}

fn of(value_type: TrmValueType) -> TrmMergerCreateInfo {
    TrmMergerCreateInfo { value_type: value_type as i32, ..merger_info() }
}

#[test]
fn keys_pairs_and_counts_from_host_and_device() -> Result<()> {
    let engine = engine()?;
    for value_type in [TrmValueType::None, TrmValueType::U32] {
        let merger = engine.merger_of(&of(value_type))?;
        for (max, on_device) in [
            ([0, 0], [None, None]),
            ([1, 0], [None, None]),
            ([0, 777], [None, None]),
            ([500, 900], [None, None]),
            ([30_000, 12], [None, None]),
            ([12, 30_000], [None, None]),
            ([500, 900], [Some(0), Some(0)]),
            ([500, 900], [Some(499), None]),
            ([500, 900], [None, Some(u32::MAX)]),
            ([30_000, 20_000], [Some(0), None]),
            ([30_000, 20_000], [Some(12_345), Some(54)]),
            ([30_000, 20_000], [Some(30_001), Some(20_000)]),
        ] {
            let problem = Problem::new(&engine, max, on_device)?;
            let work = engine.merge_scratch(merger, problem.most())?;
            run(&engine, merger, &TrmMergeInfo { scratch: scratch(&work), ..problem.info() })?;
            problem.check(&engine, value_type != TrmValueType::None)?;
        }
        destroy(&engine, merger);
    }
    engine.finish()
}

/// A format: the order of its keys, and the words of keys and values.
struct Format {
    name: &'static str,
    kind: TrmMergerCreateInfo,
    key_words: u32,
    value_words: u32,
    compare: fn(&[u32], &[u32]) -> Ordering,
}

#[derive(Clone)]
struct Item {
    key: Vec<u32>,
    value: Vec<u32>,
}

impl Format {
    fn is_index(&self) -> bool {
        self.kind.value_type == TrmValueType::Index as i32
    }

    /// A sorted sequence. `first`: index of its first key among the keys of all sequences. `source`: the bit of its
    /// indices.
    fn sequence(&self, count: u32, first: u32, source: u32) -> Vec<Item> {
        let noise = |index: u32, salt: u32, words: u32| -> Vec<u32> {
            (0..words).map(|word| (index ^ salt).wrapping_mul(0x9e37_79b9) ^ word.wrapping_mul(salt)).collect()
        };
        let key = |index| {
            let mut key = noise(index, 0x51ed, self.key_words);
            // The most significant word has few values, of either sign: the other words decide.
            let most = if self.key_words > 2 { 0 } else { key.len() - 1 };
            key[most] &= 0xc030_0000;
            key
        };
        let mut keys: Vec<_> = (first..first + count).map(key).collect();
        keys.sort_by(|a, b| (self.compare)(a, b));
        let value =
            |index| if self.is_index() { vec![index | source] } else { noise(index, first + 7, self.value_words) };
        keys.into_iter().zip(0..count).map(|(key, index)| Item { key, value: value(index) }).collect()
    }

    fn compare(&self, a: &Item, b: &Item) -> Ordering {
        (self.compare)(&a.key, &b.key)
    }

    /// The words of keys and values; of all items in the first array if interleaved.
    fn arrays(&self, items: &[Item]) -> [Vec<u32>; 2] {
        if self.kind.layout == TrmLayout::Interleaved as i32 {
            return [items.iter().flat_map(|item| [&item.key[..], &item.value].concat()).collect(), Vec::new()];
        }
        [
            items.iter().flat_map(|item| &item.key).copied().collect(),
            items.iter().flat_map(|item| &item.value).copied().collect(),
        ]
    }
}

fn long(words: &[u32]) -> u64 {
    u64::from(words[1]) << 32 | u64::from(words[0])
}

fn formats() -> Vec<Format> {
    let of = |key: TrmKeyType, value: TrmValueType| TrmMergerCreateInfo {
        key_type: key as i32,
        value_type: value as i32,
        ..merger_info()
    };
    let bytes = |key, value_size| TrmMergerCreateInfo { value_size, ..of(key, TrmValueType::Bytes) };
    let descending = |info| TrmMergerCreateInfo { order: TrmOrder::Descending as i32, ..info };
    let indices = of(TrmKeyType::U64, TrmValueType::Index);
    let format = |name, kind, key_words, value_words, compare| Format { name, kind, key_words, value_words, compare };
    vec![
        format("i32 descending", descending(of(TrmKeyType::I32, TrmValueType::U32)), 1, 1, |a, b| {
            b[0].cast_signed().cmp(&a[0].cast_signed())
        }),
        format("f32", of(TrmKeyType::F32, TrmValueType::None), 1, 0, |a, b| {
            f32::from_bits(a[0]).total_cmp(&f32::from_bits(b[0]))
        }),
        format("f64 descending, 16 bytes", descending(bytes(TrmKeyType::F64, 16)), 2, 4, |a, b| {
            f64::from_bits(long(b)).total_cmp(&f64::from_bits(long(a)))
        }),
        format("i64, 36 bytes", bytes(TrmKeyType::I64, 36), 2, 9, |a, b| {
            long(a).cast_signed().cmp(&long(b).cast_signed())
        }),
        format("three words", bytes(TrmKeyType::U32X3, 8), 3, 2, <[u32]>::cmp),
        format("four words", of(TrmKeyType::U32X4, TrmValueType::None), 4, 0, <[u32]>::cmp),
        format(
            "interleaved",
            TrmMergerCreateInfo {
                layout: TrmLayout::Interleaved as i32,
                max_count: 50_000,
                ..bytes(TrmKeyType::U64, 12)
            },
            2,
            3,
            |a, b| long(a).cmp(&long(b)),
        ),
        format("keys and indices", indices, 2, 1, |a, b| long(a).cmp(&long(b))),
        format(
            "indices alone",
            TrmMergerCreateInfo { flags: TRM_MERGER_CREATE_DROP_KEYS_BIT, ..indices },
            2,
            1,
            |a, b| long(a).cmp(&long(b)),
        ),
    ]
}

#[test]
fn every_format() -> Result<()> {
    let engine = engine()?;
    let context = &engine.context;
    for format in formats() {
        let merger = engine.merger_of(&format.kind)?;
        for [count_a, count_b] in [[300, 400], [9000, 7000]] {
            // Half of the keys of A are also keys of B.
            let (a, b) = (format.sequence(count_a, 0, 0), format.sequence(count_b, count_a / 2, TRM_SOURCE_B));
            let mut merged = [&a[..], &b].concat();
            merged.sort_by(|a, b| format.compare(a, b));
            let [mut expected_keys, expected_values] = format.arrays(&merged);
            if format.kind.flags & TRM_MERGER_CREATE_DROP_KEYS_BIT != 0 {
                expected_keys.clear();
            }
            let input = |items: &[Item]| -> Result<_> {
                let [keys, values] = format.arrays(items).map(|words| context.upload(&words));
                Ok((keys?, values?))
            };
            let ((keys_a, values_a), (keys_b, values_b)) = (input(&a)?, input(&b)?);
            // Indices are not read.
            let values =
                |buffer: &Buffer| if format.is_index() { TrmRange { address: 3, size: 1 } } else { range(buffer) };
            let room = |expected: &[u32]| context.upload(&vec![UNTOUCHED; expected.len() + GUARD as usize]);
            let (keys_out, values_out) = (room(&expected_keys)?, room(&expected_values)?);
            let work = engine.merge_scratch(merger, count_a + count_b)?;
            let info = TrmMergeInfo {
                count_a: TrmCount { max: count_a, address: 0 },
                count_b: TrmCount { max: count_b, address: 0 },
                keys_a: range(&keys_a),
                values_a: values(&values_a),
                keys_b: range(&keys_b),
                values_b: values(&values_b),
                keys_out: range(&keys_out),
                values_out: range(&values_out),
                scratch: scratch(&work),
                ..merge_info()
            };
            run(&engine, merger, &info)?;
            let name = format.name;
            for (what, buffer, expected) in
                [("keys", &keys_out, expected_keys), ("values", &values_out, expected_values)]
            {
                let got = context.download::<u32>(buffer, expected.len() + GUARD as usize)?;
                let (items, guard) = got.split_at(expected.len());
                ensure!(items == expected, "{name}: {what} of {count_a} and {count_b}");
                ensure!(guard.iter().all(|word| *word == UNTOUCHED), "{name}: written past the {what}");
            }
        }
        destroy(&engine, merger);
    }
    engine.finish()
}

/// Every method writes the same bytes. Only the merge path has a second dispatch.
#[test]
fn methods() -> Result<()> {
    let engine = engine()?;
    for (method, queries) in [
        (TrmMergeMethod::Path, 3),
        (TrmMergeMethod::Basic, 2),
        (TrmMergeMethod::Tiled, 2),
        (TrmMergeMethod::CircularBuffer, 2),
    ] {
        let merger = engine.merger_of(&TrmMergerCreateInfo { method: method as i32, ..of(TrmValueType::U32) })?;
        for on_device in [[None, None], [Some(8765), Some(20_000)]] {
            let problem = Problem::new(&engine, [9000, 12_000], on_device)?;
            let work = engine.merge_scratch(merger, problem.most())?;
            run(&engine, merger, &TrmMergeInfo { scratch: scratch(&work), ..problem.info() })?;
            problem.check(&engine, true).with_context(|| format!("{method:?}"))?;
            let mut count = 0;
            // SAFETY: the merger is alive.
            let result = unsafe { (engine.api.merge.trmGetMergerTimestampCount)(merger, problem.most(), &mut count) };
            ensure!((result, count) == (0, queries), "{count} queries of {method:?}");
        }
        destroy(&engine, merger);
    }
    engine.finish()
}

#[test]
fn infos_of_an_earlier_version() -> Result<()> {
    let engine = engine()?;
    let kind = TrmMergerCreateInfo {
        struct_size: u32::try_from(offset_of!(TrmMergerCreateInfo, order))?,
        // Past the size: not read, and none of them could be.
        order: 77,
        layout: 77,
        max_count: 1,
        method: 77,
        ..of(TrmValueType::U32)
    };
    let merger = engine.merger_of(&kind)?;
    let problem = Problem::new(&engine, [500, 900], [None, None])?;
    let work = engine.merge_scratch(merger, problem.most())?;
    let info = TrmMergeInfo {
        merger,
        struct_size: u32::try_from(offset_of!(TrmMergeInfo, status))?,
        scratch: scratch(&work),
        // Past the size: not read.
        status: 3,
        timestamps: TrmTimestamps { pool: vk::Handle::from_raw(7), first: 7 },
        ..problem.info()
    };
    run(&engine, merger, &info)?;
    let keys = engine.context.download::<u32>(&problem.output[0], problem.expected[0].len())?;
    let values = engine.context.download::<u32>(&problem.output[1], problem.expected[1].len())?;
    ensure!([keys, values] == problem.expected, "keys or values");
    ensure!(engine.context.download::<u32>(&problem.status, 1)? == [UNTOUCHED], "there is no status");
    destroy(&engine, merger);
    drop((problem, work));
    engine.finish()
}

#[test]
fn batches_of_merges_sorts_and_splits() -> Result<()> {
    const COUNT: u32 = 10_000;
    let engine = engine()?;
    let context = &engine.context;
    let (keys, pairs) = (engine.merger_of(&of(TrmValueType::None))?, engine.merger_of(&of(TrmValueType::U32))?);
    let sorter = engine.sorter(TrmValueType::None)?;
    let splitter = engine.splitter_of(&TrmSplitterCreateInfo { begin_bit: 3, ..splitter_info() })?;
    let sizes = [
        (pairs, [5, 3], [None, None]),
        (keys, [30_000, 500], [None, None]),
        (pairs, [0, 0], [None, None]),
        (pairs, [400, 300], [Some(399), Some(301)]),
        (pairs, [20_000, 9000], [None, Some(7)]),
        (pairs, [15_000, 14_000], [None, None]),
        (keys, [1, 0], [None, Some(0)]),
    ];
    let problems = sizes
        .iter()
        .map(|(merger, max, on_device)| Ok((*merger, Problem::new(&engine, *max, *on_device)?)))
        .collect::<Result<Vec<_>>>()?;
    let merges: Vec<_> =
        problems.iter().map(|(merger, problem)| TrmMergeInfo { merger: *merger, ..problem.info() }).collect();
    let data: Vec<u32> = (0..COUNT).map(key).collect();
    let (to_sort, to_split, split_out) = (context.upload(&data)?, context.upload(&data)?, context.upload(&data)?);
    let count = TrmCount { max: COUNT, address: 0 };
    let sort = TrmSortInfo { sorter, count, keys: range(&to_sort), ..sort_info() };
    let split = TrmSplitInfo { splitter, count, keys: range(&to_split), keys_out: range(&split_out), ..split_info() };
    let mut headers: Vec<*const TrmInfoHeader> = merges.iter().map(|info| (&raw const *info).cast()).collect();
    headers.insert(2, (&raw const sort).cast());
    headers.insert(5, (&raw const split).cast());
    let mut batch = batch_info(&headers);
    let mut size = 0;
    // SAFETY: the info is valid.
    ensure!(unsafe { (engine.api.trmGetBatchScratch)(&batch, &mut size) } == 0, engine.api.last_error());
    let work = context.buffer(size)?;
    batch.scratch = scratch(&work);
    context.run(|commands| {
        // SAFETY: everything is valid and lives until it has run.
        let result = unsafe { (engine.api.trmCmdBatch)(commands, &batch) };
        assert_eq!(result, 0, "{}", engine.api.last_error());
        Ok(())
    })?;
    problems.iter().try_for_each(|(merger, problem)| problem.check(&engine, *merger == pairs))?;
    let mut expected = data;
    expected.sort_by_key(|key| key >> 3 & 1);
    ensure!(context.download::<u32>(&split_out, expected.len())? == expected, "the split");
    expected.sort_unstable();
    ensure!(context.download::<u32>(&to_sort, expected.len())? == expected, "the sort");
    // SAFETY: nobody uses them any more.
    unsafe {
        (engine.api.split.trmDestroySplitter)(splitter);
        (engine.api.sort.trmDestroySorter)(sorter);
    }
    destroy(&engine, pairs);
    destroy(&engine, keys);
    drop((problems, to_sort, to_split, split_out, work));
    engine.finish()
}

#[test]
fn a_merger_outlives_its_device_handle_and_writes_timestamps() -> Result<()> {
    let mut engine = engine()?;
    let merger = engine.merger_of(&of(TrmValueType::U32))?;
    // SAFETY: the handle is not used any more; the VkDevice lives on.
    unsafe { (engine.api.trmDestroyDevice)(engine.device) };
    engine.device = ptr::null_mut();

    // One dispatch, and two.
    for (max, queries) in [([1000, 1000], 2), ([1000, 1001], 3)] {
        let problem = Problem::new(&engine, max, [None, None])?;
        let work = engine.merge_scratch(merger, problem.most())?;
        let mut count = 0;
        // SAFETY: the merger is one.
        let result = unsafe { (engine.api.merge.trmGetMergerTimestampCount)(merger, problem.most(), &mut count) };
        ensure!(result == 0, engine.api.last_error());
        ensure!(count == queries, "{count} queries for {max:?}");
        let vk = engine.context.vk();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count + 1);
        // SAFETY: the device is alive.
        let pool = unsafe { vk.create_query_pool(&info, None) }?;
        let info =
            TrmMergeInfo { scratch: scratch(&work), timestamps: TrmTimestamps { pool, first: 1 }, ..problem.info() };
        engine.context.run(|commands| {
            // SAFETY: the pool is the device's.
            unsafe { vk.cmd_reset_query_pool(commands, pool, 0, count + 1) };
            record(&engine, commands, merger, &info);
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
    destroy(&engine, merger);
    engine.finish()
}
