//! Hash tables through the loaded library, against the standard library's map: operations, formats, batches.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

use anyhow::{Result, ensure};
use ash::vk;
use ffi_tests::hash::{hash_info, hasher_info};
use ffi_tests::sort::sort_info;
use ffi_tests::{Api, Engine, batch_info, library, range, scratch};
use std::collections::HashMap;
use std::mem::offset_of;
use std::ptr;
use trommel::capi::*;
use trommel::host::Buffer;

use TrmHashOperation::{Add, Assign, Clear, Erase, Find, Insert};

const UNTOUCHED: u32 = 0xdead_beef;
/// Words past each output.
const GUARD: usize = 16;

type Words = Vec<u32>;

fn engine() -> Result<Engine> {
    Engine::new(Api::load(library()?)?)
}

/// The types of a table, and the words of keys and values.
#[derive(Clone, Copy)]
struct Format {
    kind: TrmHasherCreateInfo,
    key_words: usize,
    value_words: usize,
}

fn format(key: TrmKeyType, value: TrmValueType, [key_words, value_words]: [usize; 2]) -> Format {
    let value_size = if value == TrmValueType::Bytes { 4 * value_words as u32 } else { 0 };
    let kind = TrmHasherCreateInfo { key_type: key as i32, value_type: value as i32, value_size, ..hasher_info() };
    Format { kind, key_words, value_words }
}

fn pairs() -> Format {
    format(TrmKeyType::U32, TrmValueType::U32, [1, 1])
}

/// The same tables with linear probing.
fn linear(format: Format) -> Format {
    let kind = TrmHasherCreateInfo { scheme: TrmHashScheme::Linear as i32, ..format.kind };
    Format { kind, ..format }
}

/// A batch of keys and the outputs of its operation.
struct Batch {
    operation: TrmHashOperation,
    keys: Vec<Words>,
    values: Vec<Words>,
    input: [Buffer; 3],
    /// Bits, then keys and values that are left over, then their number and the status.
    output: [Buffer; 5],
    on_device: Option<u32>,
}

/// A table in the library's memory, and its model.
struct Table<'e> {
    engine: &'e Engine,
    format: Format,
    capacity: u32,
    memory: Buffer,
    hashers: [TrmHasher; 6],
    model: HashMap<Words, Words>,
    seed: u32,
}

impl<'e> Table<'e> {
    /// A table that has been cleared.
    fn new(engine: &'e Engine, format: Format, capacity: u32) -> Result<Self> {
        let mut hashers = [ptr::null_mut(); 6];
        let adds = matches!(format.value_words, 1 | 2);
        for operation in [Insert, Clear, Assign, Erase, Find, Add].into_iter().filter(|one| *one != Add || adds) {
            let info = TrmHasherCreateInfo { operation: operation as i32, ..format.kind };
            hashers[operation as usize] = engine.hasher_of(&info)?;
        }
        let memory = engine.hash_table(hashers[0], capacity)?;
        let table = Self { engine, format, capacity, memory, hashers, model: HashMap::new(), seed: 1 };
        let info = TrmHashInfo { table: range(&table.memory), capacity, ..hash_info() };
        run(engine, table.hasher(Clear), &info)?;
        Ok(table)
    }

    fn hasher(&self, operation: TrmHashOperation) -> TrmHasher {
        self.hashers[operation as usize]
    }

    fn key(&self, index: u32) -> Words {
        // The first two keys are those that tables reserve.
        let last = self.format.key_words - 1;
        let word = |word: usize| match index {
            0 | 1 => u32::MAX - if word == last { index } else { 0 },
            _ if word == 0 => index,
            _ => index.wrapping_mul(0x9e37_79b9) % 5,
        };
        (0..=last).map(word).collect()
    }

    /// `count` keys, each one of the first `of`, with random values.
    fn batch(&mut self, operation: TrmHashOperation, count: u32, of: u32, on_device: Option<u32>) -> Result<Batch> {
        let mut random = || {
            self.seed = self.seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            (self.seed >> 4 ^ self.seed).wrapping_mul(277_803_737)
        };
        let indices: Vec<u32> = (0..count).map(|_| random() % of).collect();
        let value_words = self.format.value_words;
        let values: Vec<Words> = indices.iter().map(|_| (0..value_words).map(|_| random()).collect()).collect();
        let keys: Vec<Words> = indices.into_iter().map(|index| self.key(index)).collect();
        let context = &self.engine.context;
        let room = |words: usize| context.upload(&vec![UNTOUCHED; words + GUARD]);
        let [key_room, value_room] = [self.format.key_words, value_words].map(|words| keys.len() * words);
        let guard = vec![UNTOUCHED; GUARD];
        let input = [
            context.upload(&[keys.concat(), guard.clone()].concat())?,
            context.upload(&[values.concat(), guard].concat())?,
            context.upload(&[on_device.unwrap_or(0)])?,
        ];
        let output = [room(keys.len().div_ceil(32))?, room(key_room)?, room(value_room)?, room(1)?, room(1)?];
        Ok(Batch { operation, keys, values, input, output, on_device })
    }

    fn info(&self, batch: &Batch) -> TrmHashInfo {
        let [found, leftover_keys, leftover_values, leftover_count, status] = &batch.output;
        let [keys, values, count] = &batch.input;
        TrmHashInfo {
            hasher: self.hasher(batch.operation),
            table: range(&self.memory),
            capacity: self.capacity,
            count: TrmCount {
                max: batch.keys.len() as u32,
                address: if batch.on_device.is_some() { count.address() } else { 0 },
            },
            keys: range(keys),
            values: range(values),
            found: range(found),
            leftover_keys: range(leftover_keys),
            leftover_values: range(leftover_values),
            leftover_count: leftover_count.address(),
            status: status.address(),
            ..hash_info()
        }
    }

    /// Applies a batch that has run to the model, and compares its outputs. Returns the number of keys left over.
    fn check(&mut self, batch: &Batch) -> Result<usize> {
        let Format { key_words, value_words, .. } = self.format;
        let read = |buffer: &Buffer| self.engine.context.download::<u32>(buffer, buffer.size() as usize / 4);
        let items = batch.keys.len();
        let used = batch.on_device.map_or(items, |count| items.min(count as usize));
        let clamped = batch.on_device.is_some_and(|count| count as usize > items);
        let [found, leftover_keys, leftover_values, leftover_count, status] = batch.output.each_ref().map(&read);
        let [found, leftover_keys, leftover_values] = [found?, leftover_keys?, leftover_values?];
        let (leftover_count, status, values) = (leftover_count?, status?, read(&batch.input[1])?);
        let mut expected_values = batch.values.concat();
        let mut expected_found = vec![UNTOUCHED; items.div_ceil(32)];
        let mut left = Vec::new();
        if matches!(batch.operation, Insert | Assign | Add) {
            left = leftover_keys.chunks(key_words).take(leftover_count[0] as usize).map(<[u32]>::to_vec).collect();
            ensure!(left.len() <= used, "{} of {used} keys are left over", left.len());
            for (i, key) in left.iter().enumerate() {
                let value = &leftover_values[i * value_words..][..value_words];
                let mut pairs = batch.keys.iter().zip(&batch.values).take(used);
                ensure!(pairs.any(|(other, of)| other == key && of == value), "a pair that is left over is another");
            }
        } else {
            ensure!(leftover_count[0] == UNTOUCHED, "keys are left over of {:?}", batch.operation);
        }
        for i in 0..used {
            let (key, value) = (&batch.keys[i], &batch.values[i]);
            match batch.operation {
                Insert if !left.contains(key) => {
                    self.model.entry(key.clone()).or_insert_with(|| value.clone());
                }
                Assign if !left.contains(key) => {
                    self.model.insert(key.clone(), value.clone());
                }
                Add if !left.contains(key) => {
                    let number = |words: &[u32]| words.iter().rev().fold(0, |all, word| all << 32 | u64::from(*word));
                    let old = self.model.get(key).map_or(0, |words| number(words));
                    let sum = old.wrapping_add(number(value));
                    let words = [sum as u32, (sum >> 32) as u32];
                    self.model.insert(key.clone(), words[..value_words].to_vec());
                }
                Erase => {
                    self.model.remove(key);
                }
                Find => {
                    let value = self.model.get(key);
                    let none = vec![u32::MAX; value_words];
                    expected_values[i * value_words..][..value_words].copy_from_slice(value.unwrap_or(&none));
                    if i % 32 == 0 {
                        expected_found[i / 32] = 0;
                    }
                    expected_found[i / 32] |= u32::from(value.is_some()) << (i % 32);
                }
                _ => {}
            }
        }
        let is_guarded = |words: &[u32], written: usize| words[written..].iter().all(|word| *word == UNTOUCHED);
        let written = left.len();
        let what = batch.operation;
        ensure!(found[..expected_found.len()] == expected_found, "bits of {what:?}");
        ensure!(values[..expected_values.len()] == expected_values, "values of {what:?}");
        ensure!(is_guarded(&found, expected_found.len()), "written past the bits of {what:?}");
        ensure!(is_guarded(&values, expected_values.len()), "written past the values of {what:?}");
        ensure!(is_guarded(&leftover_keys, written * key_words), "written past the left over keys of {what:?}");
        ensure!(is_guarded(&leftover_values, written * value_words), "written past the left over values of {what:?}");
        let full = if left.is_empty() { 0 } else { TRM_STATUS_TABLE_FULL };
        let expected_status = full | if clamped { TRM_STATUS_COUNT_CLAMPED } else { 0 };
        ensure!(status[0] == expected_status, "status {} of {what:?}, not {expected_status}", status[0]);
        Ok(left.len())
    }

    fn apply(&mut self, operation: TrmHashOperation, count: u32, of: u32, on_device: Option<u32>) -> Result<usize> {
        let batch = self.batch(operation, count, of, on_device)?;
        let hasher = self.hasher(operation);
        let work = self.engine.hash_scratch(hasher, count)?;
        run(self.engine, hasher, &TrmHashInfo { scratch: scratch(&work), ..self.info(&batch) })?;
        self.check(&batch)
    }
}

impl Drop for Table<'_> {
    fn drop(&mut self) {
        for hasher in self.hashers {
            // SAFETY: nobody uses it any more.
            unsafe { (self.engine.api.hash.trmDestroyHasher)(hasher) }
        }
    }
}

fn record(engine: &Engine, commands: vk::CommandBuffer, hasher: TrmHasher, info: &TrmHashInfo) {
    // SAFETY: everything is valid and lives until it has run.
    let result = unsafe { (engine.api.hash.trmCmdHash)(commands, hasher, info) };
    assert_eq!(result, 0, "{}", engine.api.last_error());
}

fn run(engine: &Engine, hasher: TrmHasher, info: &TrmHashInfo) -> Result<()> {
    engine.context.run(|commands| {
        record(engine, commands, hasher, info);
        Ok(())
    })?;
    Ok(())
}

#[test]
fn every_operation_on_every_format() -> Result<()> {
    let engine = engine()?;
    for format in [
        format(TrmKeyType::U32, TrmValueType::None, [1, 0]),
        pairs(),
        format(TrmKeyType::F64, TrmValueType::Bytes, [2, 2]),
        format(TrmKeyType::U32X3, TrmValueType::U32, [3, 1]),
        format(TrmKeyType::U32X4, TrmValueType::None, [4, 0]),
        linear(pairs()),
        linear(format(TrmKeyType::U64, TrmValueType::Bytes, [2, 2])),
    ] {
        for capacity in [600, 5000] {
            let mut table = Table::new(&engine, format, capacity)?;
            for operation in [Find, Insert, Find, Assign, Erase, Find, Insert, Find] {
                let left = table.apply(operation, capacity / 3, capacity / 2, None)?;
                ensure!(left == 0, "{left} keys are left over");
            }
            for operation in if matches!(format.value_words, 1 | 2) { &[Add, Find, Add, Find][..] } else { &[] } {
                table.apply(*operation, capacity / 3, capacity / 2, None)?;
            }
            ensure!(!table.model.is_empty());
        }
    }
    engine.finish()
}

#[test]
fn counts_on_the_device() -> Result<()> {
    let engine = engine()?;
    for on_device in [0, 1, 399, 400, 401, u32::MAX] {
        let mut table = Table::new(&engine, pairs(), 2000)?;
        for operation in [Insert, Assign, Find, Erase] {
            table.apply(operation, 400, 500, Some(on_device))?;
        }
        table.apply(Find, 500, 500, None)?;
    }
    engine.finish()
}

#[test]
fn full_tables_report_the_keys_that_are_left_over() -> Result<()> {
    let engine = engine()?;
    for capacity in [1000, 3000] {
        let mut table = Table::new(&engine, pairs(), capacity)?;
        let left = table.apply(Insert, 8 * capacity, 4 * capacity, None)?;
        ensure!(left > 0, "four times the capacity fits");
        for operation in [Find, Assign, Find, Erase, Find] {
            table.apply(operation, 2 * capacity, 4 * capacity, None)?;
        }
    }
    engine.finish()
}

#[test]
fn infos_of_an_earlier_version() -> Result<()> {
    let engine = engine()?;
    let kind = TrmHasherCreateInfo {
        struct_size: u32::try_from(offset_of!(TrmHasherCreateInfo, operation))?,
        // Past the size: not read, and none of them could be.
        operation: 77,
        max_count: 1,
        scheme: 77,
        ..pairs().kind
    };
    let hasher = engine.hasher_of(&kind)?;
    let mut table = Table::new(&engine, pairs(), 2000)?;
    let batch = table.batch(Insert, 300, 500, None)?;
    let work = engine.hash_scratch(hasher, 300)?;
    let info = TrmHashInfo {
        hasher,
        struct_size: u32::try_from(offset_of!(TrmHashInfo, status))?,
        scratch: scratch(&work),
        ..table.info(&batch)
    };
    // Past the size: not read.
    let odd = TrmHashInfo { status: 3, timestamps: TrmTimestamps { pool: vk::Handle::from_raw(7), first: 7 }, ..info };
    run(&engine, hasher, &odd)?;
    ensure!(engine.context.download::<u32>(&batch.output[4], 1)? == [UNTOUCHED], "there is no status");
    // Nothing changes the second time.
    run(&engine, hasher, &TrmHashInfo { struct_size: hash_info().struct_size, ..info })?;
    table.check(&batch)?;
    table.apply(Find, 500, 500, None)?;
    // SAFETY: nobody uses it any more.
    unsafe { (engine.api.hash.trmDestroyHasher)(hasher) };
    drop((table, batch, work));
    engine.finish()
}

#[test]
fn batches_of_tables_and_a_sort() -> Result<()> {
    const COUNT: u32 = 5000;
    let engine = engine()?;
    let context = &engine.context;
    let set = format(TrmKeyType::U64, TrmValueType::None, [2, 0]);
    let mut tables =
        [Table::new(&engine, pairs(), 800)?, Table::new(&engine, pairs(), 5000)?, Table::new(&engine, set, 3000)?];
    for table in &mut tables {
        table.apply(Insert, 500, 600, None)?;
    }
    let operations = [(Assign, None), (Erase, Some(300)), (Insert, Some(900))];
    let batches = tables
        .iter_mut()
        .zip(operations)
        .map(|(table, (operation, on_device))| table.batch(operation, 400, 700, on_device))
        .collect::<Result<Vec<_>>>()?;
    let infos: Vec<_> = tables.iter().zip(&batches).map(|(table, batch)| table.info(batch)).collect();
    let sorter = engine.sorter(TrmValueType::None)?;
    let mut data: Vec<u32> = (0..COUNT).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let to_sort = context.upload(&data)?;
    let sort = TrmSortInfo { sorter, count: TrmCount { max: COUNT, address: 0 }, keys: range(&to_sort), ..sort_info() };
    let mut headers: Vec<*const TrmInfoHeader> = infos.iter().map(|info| (&raw const *info).cast()).collect();
    headers.insert(1, (&raw const sort).cast());
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
    for (table, batch) in tables.iter_mut().zip(&batches) {
        table.check(batch)?;
        table.apply(Find, 700, 700, None)?;
    }
    data.sort_unstable();
    ensure!(context.download::<u32>(&to_sort, data.len())? == data, "the sort");
    // SAFETY: nobody uses it any more.
    unsafe { (engine.api.sort.trmDestroySorter)(sorter) };
    drop((tables, batches, to_sort, work));
    engine.finish()
}

/// Two operations of a batch have one table: allowed if both are concurrent.
#[test]
fn concurrent_operations_share_a_table() -> Result<()> {
    let engine = engine()?;
    let context = &engine.context;
    let mut table = Table::new(&engine, linear(pairs()), 3000)?;
    table.apply(Insert, 500, 600, None)?;
    let shared = |operation: TrmHashOperation, flags| {
        let kind = linear(pairs()).kind;
        engine.hasher_of(&TrmHasherCreateInfo { operation: operation as i32, flags, ..kind })
    };
    let both = [Insert, Erase].map(|operation| table.batch(operation, 300, 600, None));
    let [insertion, erasure] = both;
    let (insertion, erasure) = (insertion?, erasure?);
    let infos = [table.info(&insertion), table.info(&erasure)];
    for (flags, expected) in [([TRM_HASHER_CREATE_CONCURRENT_BIT, 0], 1), ([TRM_HASHER_CREATE_CONCURRENT_BIT; 2], 0)] {
        let hashers = [shared(Insert, flags[0])?, shared(Erase, flags[1])?];
        let mut infos = infos;
        infos.iter_mut().zip(hashers).for_each(|(info, hasher)| info.hasher = hasher);
        let headers = infos.each_ref().map(|info| ptr::from_ref(info).cast());
        let mut batch = batch_info(&headers);
        let mut size = 0;
        // SAFETY: the info is valid.
        ensure!(unsafe { (engine.api.trmGetBatchScratch)(&batch, &mut size) } == 0, engine.api.last_error());
        let work = context.buffer(size)?;
        batch.scratch = scratch(&work);
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            let result = unsafe { (engine.api.trmCmdBatch)(commands, &batch) };
            assert_eq!(i32::from(result != 0), expected, "{}", engine.api.last_error());
            Ok(())
        })?;
        // SAFETY: nobody uses them any more.
        hashers.into_iter().for_each(|hasher| unsafe { (engine.api.hash.trmDestroyHasher)(hasher) });
    }
    let words = context.download::<u32>(&table.memory, table.memory.size() as usize / 4)?;
    let bytes = (words.len() * 4) as u64;
    // SAFETY: the hasher and the words live.
    let result = unsafe {
        let hasher = table.hashers[Find as usize];
        (engine.api.hash.trmCheckHasherTable)(hasher, 3000, words.as_ptr().cast(), bytes)
    };
    ensure!(result == 0, engine.api.last_error());
    drop((table, insertion, erasure));
    engine.finish()
}

#[test]
fn hashers_outlive_their_device_handle_and_write_timestamps() -> Result<()> {
    let mut engine = engine()?;
    let first = engine.device;
    // SAFETY: the info is valid, and the first handle is used for the hashers below alone.
    let mut second = ptr::null_mut();
    // SAFETY: the engine lives, and its info is valid.
    ensure!(unsafe { (engine.api.trmCreateDevice)(&engine.device_info(), &mut second) } == 0);
    let mut table = Table::new(&engine, pairs(), 5000)?;
    // SAFETY: the handle is not used any more; the VkDevice lives on.
    unsafe { (engine.api.trmDestroyDevice)(first) };

    for (operation, least) in [(Insert, 5), (Find, 2), (Assign, 5), (Erase, 5), (Find, 2)] {
        let hasher = table.hasher(operation);
        let mut count = 0;
        // SAFETY: the hasher is one.
        let result = unsafe { (engine.api.hash.trmGetHasherTimestampCount)(hasher, 700, &mut count) };
        ensure!(result == 0, engine.api.last_error());
        ensure!(if operation == Find { count == least } else { count >= least }, "{count} queries of {operation:?}");
        let batch = table.batch(operation, 700, 900, None)?;
        let work = engine.hash_scratch(hasher, 700)?;
        let vk = engine.context.vk();
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count + 1);
        // SAFETY: the device is alive.
        let pool = unsafe { vk.create_query_pool(&info, None) }?;
        let timestamps = TrmTimestamps { pool, first: 1 };
        let info = TrmHashInfo { scratch: scratch(&work), timestamps, ..table.info(&batch) };
        engine.context.run(|commands| {
            // SAFETY: the pool is the device's.
            unsafe { vk.cmd_reset_query_pool(commands, pool, 0, count + 1) };
            record(&engine, commands, hasher, &info);
            Ok(())
        })?;
        table.check(&batch)?;
        let mut times = vec![0u64; count as usize];
        // SAFETY: all queries have been written, and nothing is pending.
        unsafe {
            vk.get_query_pool_results(pool, 1, &mut times, vk::QueryResultFlags::TYPE_64)?;
            vk.destroy_query_pool(pool, None);
        }
        ensure!(times.is_sorted() && times[0] != 0, "{times:?}");
    }
    drop(table);
    engine.device = second;
    engine.finish()
}

/// A table is read back, checked, and goes on in other memory.
#[test]
fn tables_are_saved_and_loaded() -> Result<()> {
    let engine = engine()?;
    let mut table = Table::new(&engine, pairs(), 2000)?;
    ensure!(table.apply(Insert, 3000, 1500, None)? == 0, "keys are left over");
    let info = TrmHasherCreateInfo { operation: TrmHashOperation::Statistics as i32, ..pairs().kind };
    let hasher = engine.hasher_of(&info)?;
    let memory = engine.context.upload(&[UNTOUCHED; size_of::<TrmHashStatistics>() / 4 + GUARD])?;
    let info = TrmHashInfo {
        table: range(&table.memory),
        capacity: 2000,
        statistics: TrmRange { size: size_of::<TrmHashStatistics>() as u64, ..range(&memory) },
        ..hash_info()
    };
    run(&engine, hasher, &info)?;
    let words = engine.context.download::<u32>(&memory, size_of::<TrmHashStatistics>() / 4 + GUARD)?;
    let (statistics, guard) = words.split_at(size_of::<TrmHashStatistics>() / 4);
    let keys = table.model.len() as u32;
    ensure!(statistics[..4] == [keys, 0, 2048, 1024], "{statistics:?}");
    let reserved = [0, 1].iter().filter(|index| table.model.contains_key(&table.key(**index))).count() as u32;
    // Counters of keys follow eight words.
    ensure!(statistics[8..].iter().sum::<u32>() + reserved == keys, "{statistics:?}");
    ensure!(guard.iter().all(|word| *word == UNTOUCHED), "written past the statistics");

    let mut words = engine.context.download::<u32>(&table.memory, table.memory.size() as usize / 4)?;
    let check = |capacity, words: &[u32], size: u64| {
        // SAFETY: the hasher and the words live.
        unsafe { (engine.api.hash.trmCheckHasherTable)(hasher, capacity, words.as_ptr().cast(), size) }
    };
    let size = table.memory.size();
    ensure!(check(2000, &words, size) == 0, "{}", engine.api.last_error());
    table.memory = engine.context.upload(&words)?;
    table.apply(Erase, 700, 1500, None)?;
    table.apply(Find, 1500, 1500, None)?;

    let (malformed, too_small) = (TrmResult::TrmErrorMalformed as i32, TrmResult::TrmErrorTooSmall as i32);
    ensure!(check(2000, &words, size - 1) == too_small, "too few bytes");
    ensure!(check(0, &words, size) == too_small, "no capacity");
    words[3] += 1;
    ensure!(check(2000, &words, size) == malformed, "another number of keys");
    ensure!(engine.api.last_error().contains("table is malformed: it has "), "{}", engine.api.last_error());
    // SAFETY: the hasher lives; the library finds out that there is no table.
    let result = unsafe { (engine.api.hash.trmCheckHasherTable)(hasher, 2000, ptr::null(), size) };
    ensure!(result == TrmResult::TrmErrorNull as i32, "no table");
    // SAFETY: nobody uses it any more.
    unsafe { (engine.api.hash.trmDestroyHasher)(hasher) };
    drop((table, memory));
    engine.finish()
}
