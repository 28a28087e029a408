//! Tables in batches, and recorded in every way.

use crate::common::arena::{Arena, Poison, Together, barrier};
use crate::common::contexts::{Setup, assert_silence, context, is_shared_here};
use crate::common::items::Counted;
use crate::common::keys::{Keys, Random};
use crate::common::stranger::Stranger;
use crate::common::very_brief;
use crate::table::{Batch, Table, Types, Words};
use crate::{merge, sort};
use ash::vk;
use trommel::{HashInfo, HashOperation, Merger, MergerInfo, Request, Scratch, Sorter, SorterInfo, Timestamps};

use HashOperation::{Assign, Clear, Count, Erase, Find, FindOrInsert, Insert, Mixed, Retrieve};

fn draw(types: Types, count: u32, of: u32, random: &mut Random) -> Vec<Words> {
    (0..count).map(|_| types.key_of(random.below(of))).collect()
}

/// A batch of drawn keys.
fn batch(table: &Table<'_>, operation: HashOperation, count: u32, of: u32, seed: u64) -> Batch {
    let mut random = Random::new(seed);
    let keys = draw(table.types, if operation == Clear { 0 } else { count }, of, &mut random);
    Batch::new(operation, table.types, keys, &mut random)
}

/// Batches of all operations, on a table each, with sorts and merges between them. One table receives the items of
/// another one. The drivers share the setups.
pub(crate) fn batches_of_tables_sorts_and_merges() {
    let second = if very_brief() { Setup::Native } else { Setup::Emulated(32) };
    let setups = [Setup::Native, second, Setup::Folded].into_iter().enumerate();
    for (_, setup) in setups.filter(|(i, _)| is_shared_here(*i)) {
        let context = context(setup);
        let sorter = Sorter::new(context.device(), &SorterInfo::pairs().batches()).expect("a sorter");
        let merger = Merger::new(context.device(), &MergerInfo::keys().batches()).expect("a merger");
        let kinds = [
            (Types::PAIRS, 700, 1024, Insert),
            (Types::PAIRS, 2500, 0, Assign),
            (Types::KEYS, 2500, 1 << 18, Erase),
            (Types::ALL[6], 1500, 0, Insert),
            (Types::ALL[7], 900, 1024, Find),
            (Types::KEYS, 3000, 0, Clear),
            (Types::PAIRS.linear(), 1500, 0, Insert),
            (Types::ALL[7].linear(), 900, 1024, Assign),
            (Types::KEYS.linear(), 2500, 0, Erase),
            (Types::PAIRS.linear(), 900, 0, Find),
            (Types::PAIRS, 900, 1024, FindOrInsert),
            (Types::PAIRS.linear(), 1500, 0, FindOrInsert),
            (Types::PAIRS.multimap(), 1500, 0, Insert),
            (Types::PAIRS.multimap(), 900, 0, Retrieve),
            (Types::PAIRS.multimap(), 1500, 0, Erase),
            (Types::PAIRS.multimap(), 900, 0, Count),
            (Types::PAIRS, 2500, 1 << 18, Mixed),
            (Types::KEYS.linear(), 1500, 0, Mixed),
        ];
        let mut tables: Vec<_> = kinds
            .iter()
            .map(|(types, capacity, max_capacity, _)| Table::new(&context, *types, *capacity, *max_capacity))
            .collect();
        for table in &mut tables {
            let insertion = batch(table, Insert, 400, 600, 1);
            table.apply(&insertion);
        }
        let batches: Vec<_> = tables
            .iter()
            .zip(&kinds)
            .enumerate()
            .map(|(i, (table, kind))| {
                let batch = batch(table, kind.3, 500, 900, i as u64);
                let batch = if i % 2 == 1 && kind.3 != Clear { batch.counted(300) } else { batch };
                if [3, 8, 10, 13].contains(&i) { batch.of(|key| key % 3 != 1) } else { batch }
            })
            .collect();
        let prepared: Vec<_> = tables.iter_mut().zip(&batches).map(|(table, batch)| table.prepare(batch)).collect();
        // The source is only read: the batch searches it.
        let source = tables.iter().position(|table| table.types.multimap && table.capacity == 900);
        let rehash = tables[source.expect("a multimap")].rehash_to(500);
        let mut rehashed = Table::new(&context, Types::PAIRS.multimap(), 3000, 0);
        let prepared_rehash = rehashed.prepare(&rehash);
        let counted = Counted::Device(600);
        let sorts = [300, 5000].map(|n| sort::Job::draw(&sorter, Keys::Random, n, n as u64).counted(counted));
        let merges = [40, 3000].map(|n| merge::Job::draw(&merger, Keys::LowEntropy, [n, n / 2], 3));
        let [first, second] = &sorts;
        let others: [&dyn crate::common::problem::Problem; 4] = [first, &merges[0], second, &merges[1]];
        let arena = Arena::new(&context, others, Together::Batch, Poison::Random(7));
        let mut requests = arena.requests();
        for (i, ((table, batch), prepared)) in tables.iter().zip(&batches).zip(&prepared).enumerate() {
            requests.insert(2 * i % (requests.len() + 1), Request::Hash(table.hasher_for(batch), prepared.info));
        }
        requests.push(Request::Hash(rehashed.hasher(rehash.operation), prepared_rehash.info));
        let size = trommel::batch_scratch_size(&requests).expect("the batch is small");
        let memory = context.upload(&Random::new(8).words(size as usize / 4 + 1)).expect("scratch");
        let scratch = Scratch { buffer: memory.handle(), offset: 0, size };
        // SAFETY: everything lives until run() has waited.
        let run = context.run(|commands| unsafe { trommel::cmd_batch(commands, &requests, scratch) });
        run.expect("the batch is valid");
        arena.check();
        drop(requests);
        rehashed.check_batch(&rehash, &prepared_rehash);
        rehashed.check(&[]);
        for ((table, batch), prepared) in tables.iter_mut().zip(&batches).zip(&prepared) {
            table.check_batch(batch, prepared);
            let all: Vec<Words> = (0..900).map(|i| table.types.key_of(i)).collect();
            table.check(&all);
        }
    }
}

/// The same batches give the same content, each time with other scratch: the first or last of many equal keys wins.
pub(crate) fn twenty_runs() {
    let context = context(Setup::Folded);
    for types in Types::PAIRS.of_each_kind() {
        let mut contents = Vec::new();
        let mut table = Table::new(&context, types, 2500, 0);
        for _ in 0..20 {
            let second = if types.multimap { Insert } else { Assign };
            for (i, operation) in [Clear, Insert, second, Erase, Insert].into_iter().enumerate() {
                let batch = batch(&table, operation, 1200, 700, i as u64);
                assert!(table.apply(&batch).is_empty(), "keys are left over");
            }
            table.check(&[]);
            contents.push(table.model.sorted());
        }
        assert!(contents.iter().all(|content| *content == contents[0] && !content.is_empty()));
    }
}

/// Operations in one command buffer with another pipeline, layout and push constants between them.
pub(crate) fn strangers() {
    let context = context(Setup::Folded);
    let stranger = Stranger::new(&context);
    let mut table = Table::new(&context, Types::PAIRS, 2500, 0);
    let batches: Vec<_> = [Clear, Insert, Assign, Find, Erase, Find]
        .into_iter()
        .enumerate()
        .map(|(i, operation)| batch(&table, operation, 800, 1200, i as u64))
        .collect();
    let prepared: Vec<_> = batches.iter().map(|batch| table.prepare(batch)).collect();
    let run = context.run(|commands| {
        batches.iter().zip(&prepared).try_for_each(|(batch, prepared)| {
            stranger.record(commands);
            // SAFETY: everything lives until run() has waited.
            unsafe { table.hasher(batch.operation).cmd_hash(commands, &prepared.info) }?;
            stranger.record(commands);
            barrier(&context, commands, false);
            Ok(())
        })
    });
    run.expect("the operations are valid");
    for (batch, prepared) in batches.iter().zip(&prepared) {
        table.check_batch(batch, prepared);
    }
    table.check(&[]);
}

/// In a secondary command buffer, recorded once and executed twice: a table has the same content after both.
pub(crate) fn secondary_command_buffers() {
    let context = context(Setup::Folded);
    let vk = context.vk();
    let mut table = Table::new(&context, Types::ALL[6], 2500, 0);
    let batches = [batch(&table, Assign, 900, 1000, 1), batch(&table, Find, 900, 1500, 2).counted(800)];
    let prepared = batches.each_ref().map(|batch| table.prepare(batch));
    let pool_info = vk::CommandPoolCreateInfo::default().queue_family_index(context.queue_family());
    // SAFETY: the device is alive. The secondary is executable before its execution, and unused when the pool is
    // destroyed.
    unsafe {
        let pool = vk.create_command_pool(&pool_info, None).expect("pool");
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        let secondary = vk.allocate_command_buffers(&info).expect("command buffer")[0];
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inheritance);
        vk.begin_command_buffer(secondary, &begin).expect("begin");
        for (batch, prepared) in batches.iter().zip(&prepared) {
            table.hasher(batch.operation).cmd_hash(secondary, &prepared.info).expect("the operation is valid");
            barrier(&context, secondary, false);
        }
        vk.end_command_buffer(secondary).expect("end");
        for _ in 0..2 {
            let run = context.run(|commands| {
                vk.cmd_execute_commands(commands, &[secondary]);
                Ok(())
            });
            run.expect("submission");
            for (batch, prepared) in batches.iter().zip(&prepared) {
                table.check_batch(batch, prepared);
            }
        }
        vk.destroy_command_pool(pool, None);
    }
    table.check(&[]);
}

/// Every query is written, whatever the number of passes.
pub(crate) fn timestamps() {
    let context = context(Setup::Folded);
    let kinds = [1024, 1 << 18, 0].map(|max_capacity| (Types::PAIRS, max_capacity));
    for (types, max_capacity) in kinds.into_iter().chain([(Types::PAIRS.linear(), 0), (Types::PAIRS.multimap(), 0)]) {
        let mut table = Table::new(&context, types, 1000, max_capacity);
        let of_multimaps = [Insert, Find, Count, Retrieve, Erase, Clear];
        let others = [Insert, Find, Assign, FindOrInsert, Erase, Clear];
        for operation in if types.multimap { of_multimaps } else { others } {
            for count in [0, 1, 900] {
                let batch = batch(&table, operation, count, 700, count.into());
                let prepared = table.prepare(&batch);
                let queries = table.hasher(operation).timestamp_count(batch.keys.len() as u32);
                check_queries(&table, operation, queries.expect("the count is small"), &prepared.info);
                table.check_batch(&batch, &prepared);
            }
        }
        table.check(&[]);
    }
    assert_silence(&context);
}

/// Records an operation, and checks that as many queries are written.
fn check_queries(table: &Table<'_>, operation: HashOperation, queries: u32, info: &HashInfo) {
    const MOST: u32 = 20;
    let (context, vk) = (table.context, table.context.vk());
    let is_single = matches!(operation, Find | Clear | Count)
        || info.count.max == 0 && !matches!(operation, FindOrInsert | Retrieve);
    assert!(queries < MOST && (queries == 2) == is_single, "{queries} queries of {operation:?}");
    // SAFETY: the device is alive; the pool is destroyed after run() has waited.
    unsafe {
        let families = context.instance().get_physical_device_queue_family_properties(context.physical_device());
        let has_timestamps = families[context.queue_family() as usize].timestamp_valid_bits != 0;
        let pool_info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(MOST);
        let pool = vk.create_query_pool(&pool_info, None).expect("pool");
        let timestamps = has_timestamps.then_some(Timestamps { pool, first: 0 });
        let run = context.run(|commands| {
            vk.cmd_reset_query_pool(commands, pool, 0, MOST);
            table.hasher(operation).cmd_hash(commands, &HashInfo { timestamps, ..*info })
        });
        run.expect("the operation is valid");
        let mut results = [[0u64; 2]; MOST as usize];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        // The result is NOT_READY if any query is unwritten; availability shows which ones.
        let _ = vk.get_query_pool_results(pool, 0, &mut results, flags);
        let written = results.iter().take_while(|result| result[1] != 0).count() as u32;
        assert!(!has_timestamps || written == queries, "{written} of {queries} queries are written");
        vk.destroy_query_pool(pool, None);
    }
}
