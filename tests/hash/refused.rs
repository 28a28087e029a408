//! Invalid operations: their error messages, and that nothing has been recorded.

use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::keys::Random;
use crate::table::{Batch, Table, Types, Words};
use ash::vk;
use trommel::host::Context;
use trommel::{
    Count, HashInfo, HashOperation, Hasher, HasherInfo, KeyType, Range, Request, Scratch, batch_scratch_size,
};

/// The reason why a hasher is refused.
fn refused(context: &Context, info: HasherInfo) -> String {
    let created = Hasher::new(context.device(), &info).map(drop).expect_err("a refusal");
    assert_eq!(info.check().as_ref(), Err(&created));
    assert_eq!(trommel::hash::table_size(&info, 1024).as_ref(), Err(&created));
    assert_eq!(trommel::hash::check_table(&info, 1024, &[]).as_ref(), Err(&created));
    created.to_string()
}

/// Operations that multimaps do not have, and those that no other table has.
pub(crate) fn operations_of_multimaps() {
    use HashOperation::{Add, Assign, Count as CountOf, FindOrInsert, Increment, Retrieve};
    let context = context(Setup::Native);
    let pairs = HasherInfo::pairs();
    let multimap = pairs.linear().multimap();
    let concurrent = |operation| pairs.linear().concurrent().operation(operation);
    let alone = |operation| format!("{operation:?} is available for multimaps alone");
    let unavailable = |operation| format!("{operation:?} is not available for multimaps");
    let as_concurrent = |operation| format!("{operation:?} is not available as a concurrent operation");
    let mut texts = vec![
        (pairs.multimap(), "Bucketed tables are no multimaps".to_owned()),
        (multimap.concurrent(), "multimaps have no concurrent operations".to_owned()),
        (pairs.operation(CountOf), alone(CountOf)),
        (pairs.linear().operation(Retrieve), alone(Retrieve)),
    ];
    texts.extend([Assign, Add, Increment, FindOrInsert].map(|of| (multimap.operation(of), unavailable(of))));
    texts.extend([FindOrInsert, HashOperation::Rehash].map(|of| (concurrent(of), as_concurrent(of))));
    for (info, text) in texts {
        assert_eq!(refused(&context, info), format!("flags is malformed: {text}"));
    }
    let sets = HasherInfo::keys().linear().multimap();
    let text = "valueType is malformed: a set has no values to be retrieved";
    assert_eq!(refused(&context, sets.operation(Retrieve)), text);
    sets.operation(CountOf).check().expect("entries of a set are counted");
}

/// Ranges of retrievals, of counts, of insertions that find, and of the sources of others.
pub(crate) fn ranges_of_multimaps() {
    use HashOperation::{Count as CountOf, FindOrInsert, Insert, Rehash, Retrieve};
    let context = context(Setup::Native);
    let types = Types::PAIRS.multimap();
    let mut random = Random::new(2);
    let mut table = Table::new(&context, types, 2000, 5000);
    table.apply(&Batch::new(Insert, types, types.keys_of(0..300), &mut random));
    let mut other = Table::new(&context, types, 1000, 5000);
    let mut unique = Table::new(&context, Types::PAIRS, 2000, 5000);
    let retrieval = Batch::new(Retrieve, types, types.keys_of(0..300), &mut random).with_room(Some(50));
    let retrieval = table.prepare(&retrieval);
    let count = table.prepare(&Batch::new(CountOf, types, types.keys_of(0..300), &mut random));
    let rehash = other.prepare(&table.rehash_to(300));
    let finding = unique.prepare(&Batch::new(FindOrInsert, Types::PAIRS, types.keys_of(0..300), &mut random));
    let stencil = Batch::new(FindOrInsert, Types::PAIRS, types.keys_of(0..300), &mut random).of(|i| i % 2 == 0);
    let with_stencil = unique.prepare(&stencil);
    let before = [table.words(), other.words(), unique.words()];
    let all = [&retrieval, &count, &rehash, &finding, &with_stencil].map(|prepared| prepared.info);
    let [retrieve, counted, rehashed, found, selected] = all;
    let cut = |range: Range| Range { size: range.size - 1, ..range };
    let odd = |range: Range| Range { address: range.address + 2, ..range };
    let not = |name: &str, range: Range| format!("{name}.address {:#x} is not a multiple of 4", range.address + 2);
    let of = |operation| table.hasher(operation);
    let size = table.hasher(Insert).table_size(2000);
    let within = |offset: u64| Range { address: rehashed.table.address + offset, ..rehashed.table };
    let calls: Vec<(&Hasher, HashInfo, String)> = vec![
        (
            of(Retrieve),
            HashInfo { offsets: cut(retrieve.offsets), ..retrieve },
            "offsets.size 1203 < 1204 required for maxCount 300".into(),
        ),
        (of(Retrieve), HashInfo { offsets: Range::NONE, ..retrieve }, "offsets.address is null".into()),
        (of(Retrieve), HashInfo { offsets: odd(retrieve.offsets), ..retrieve }, not("offsets", retrieve.offsets)),
        (
            of(Retrieve),
            HashInfo { values_out: cut(retrieve.values_out), ..retrieve },
            "valuesOut.size 199 < 200 required".into(),
        ),
        (of(Retrieve), HashInfo { max_values: 51, ..retrieve }, "valuesOut.size 200 < 204 required".into()),
        (
            of(Retrieve),
            HashInfo { values_out: odd(retrieve.values_out), ..retrieve },
            not("valuesOut", retrieve.values_out),
        ),
        (of(Retrieve), HashInfo { values_out: retrieve.offsets, ..retrieve }, "valuesOut and offsets overlap".into()),
        (
            of(Retrieve),
            HashInfo { offsets: retrieve.keys, count: Count::host(299), ..retrieve },
            "keys and offsets overlap".into(),
        ),
        (of(CountOf), HashInfo { counts: Range::NONE, ..counted }, "counts.address is null".into()),
        (
            of(CountOf),
            HashInfo { counts: cut(counted.counts), ..counted },
            "counts.size 1199 < 1200 required for maxCount 300".into(),
        ),
        (of(CountOf), HashInfo { counts: counted.keys, ..counted }, "keys and counts overlap".into()),
        (of(CountOf), HashInfo { counts: counted.table, ..counted }, "table and counts overlap".into()),
        (
            unique.hasher(FindOrInsert),
            HashInfo { values_out: cut(found.values_out), ..found },
            "valuesOut.size 1199 < 1200 required for maxCount 300".into(),
        ),
        (
            unique.hasher(FindOrInsert),
            HashInfo { values_out: found.values, ..found },
            "values and valuesOut overlap".into(),
        ),
        (
            unique.hasher(FindOrInsert),
            HashInfo { leftover_count: 0, ..found },
            "leftoverKeys is malformed: their number has no place: leftoverCount is 0".into(),
        ),
        (unique.hasher_for(&stencil), HashInfo { stencil: Range::NONE, ..selected }, "stencil.address is null".into()),
        (
            unique.hasher_for(&stencil),
            HashInfo { stencil: cut(selected.stencil), ..selected },
            "stencil.size 39 < 40 required for maxCount 300".into(),
        ),
        (
            unique.hasher_for(&stencil),
            HashInfo { stencil: selected.found, ..selected },
            "found and stencil overlap".into(),
        ),
        (
            unique.hasher_for(&stencil),
            HashInfo { stencil: odd(selected.stencil), ..selected },
            not("stencil", selected.stencil),
        ),
        (of(Rehash), HashInfo { source_capacity: 0, ..rehashed }, "sourceCapacity 0 < 1 required".into()),
        (
            of(Rehash),
            HashInfo { source_capacity: 5001, ..rehashed },
            "sourceCapacity 5001 > 5000, the hasher's maxCapacity".into(),
        ),
        (
            of(Rehash),
            HashInfo { source: cut(rehashed.source), ..rehashed },
            format!("source.size {} < {size} required", size - 1),
        ),
        (of(Rehash), HashInfo { source: Range::NONE, ..rehashed }, "source.address is null".into()),
        (
            of(Rehash),
            HashInfo { source: Range { address: rehashed.source.address + 4, ..rehashed.source }, ..rehashed },
            format!("source.address {:#x} is not a multiple of 16", rehashed.source.address + 4),
        ),
        (
            of(Rehash),
            HashInfo { source: within(0), source_capacity: 1000, ..rehashed },
            "table and source overlap".into(),
        ),
        (
            of(Rehash),
            HashInfo { source: within(4096), source_capacity: 1000, ..rehashed },
            "table and source overlap".into(),
        ),
        (
            of(Rehash),
            HashInfo { count: Count { address: counted.keys.address, max: 300 }, ..rehashed },
            "count is malformed: the count of Rehash is on the host".into(),
        ),
        (of(Rehash), HashInfo { leftover_keys: rehashed.source, ..rehashed }, "source and leftoverKeys overlap".into()),
    ];
    let run = context.run(|commands| {
        for (hasher, info, text) in &calls {
            // SAFETY: the command buffer is recording; refused calls record nothing.
            let refused = unsafe { hasher.cmd_hash(commands, info) };
            assert_eq!(refused.map_err(|error| error.to_string()), Err(text.clone()));
        }
        // A table that is written in a batch, and that is a source of another request.
        let insert = HashInfo { table: rehashed.source, values_out: Range::NONE, values: count.info.values, ..counted };
        let requests = [Request::Hash(of(Rehash), rehashed), Request::Hash(of(Insert), insert)];
        // SAFETY: as above.
        let refused = unsafe { trommel::cmd_batch(commands, &requests, rehashed.scratch) };
        assert_eq!(refused.map_err(|error| error.to_string()), Err("table and source overlap".into()));
        Ok(())
    });
    run.expect("an empty command buffer is submitted");
    let untouched =
        [&retrieval, &count, &rehash, &finding, &with_stencil].iter().all(|prepared| prepared.is_untouched(&context));
    assert!(untouched && before == [table.words(), other.words(), unique.words()], "something has run");
    assert_silence(&context);
}

/// Checks the error messages, and that nothing has been recorded.
pub(crate) fn refusals() {
    let context = context(Setup::Folded);
    let narrow = HasherInfo { key: KeyType::U8, ..HasherInfo::keys() };
    assert_eq!(refused(&context, narrow), "keyType is malformed: U8 is narrower than a word");

    let mut table = Table::new(&context, Types::PAIRS, 2000, 5000);
    let keys: Vec<Words> = (0..300).map(|i| Types::PAIRS.key_of(i)).collect();
    let batch = Batch::new(HashOperation::Insert, Types::PAIRS, keys, &mut Random::new(1)).counted(200);
    let prepared = table.prepare(&batch);
    let before = table.words();
    let info = prepared.info;
    let of = |operation| table.hasher(operation);
    let insert = of(HashOperation::Insert);
    let required = insert.scratch_size(300).expect("few");
    let moved = |range: Range, by: u64| Range { address: range.address + by, ..range };
    let odd = |address: u64| format!("{address:#x} is not a multiple of 4");
    let size = insert.table_size(2000);
    let expected: Vec<(HashInfo, String)> = vec![
        (HashInfo { capacity: 0, ..info }, "capacity 0 < 1 required".into()),
        (HashInfo { capacity: 5001, ..info }, "capacity 5001 > 5000, the hasher's maxCapacity".into()),
        (HashInfo { capacity: 2049, ..info }, format!("table.size {size} < {} required", insert.table_size(2049))),
        (
            HashInfo { count: Count::host((1 << 30) + 1), ..info },
            "count.max 1073741825 > 1073741824, the hasher's maxCount".into(),
        ),
        (HashInfo { count: Count::host(301), ..info }, "keys.size 1200 < 1204 required for maxCount 301".into()),
        (
            HashInfo { table: moved(info.table, 4), ..info },
            format!("table.address {:#x} is not a multiple of 16", info.table.address + 4),
        ),
        (HashInfo { table: Range::NONE, ..info }, "table.address is null".into()),
        (HashInfo { keys: Range::NONE, ..info }, "keys.address is null".into()),
        (HashInfo { values: Range::NONE, ..info }, "values.address is null".into()),
        (HashInfo { keys: moved(info.keys, 2), ..info }, format!("keys.address {}", odd(info.keys.address + 2))),
        (
            HashInfo { leftover_keys: Range { size: 1199, ..info.leftover_keys }, ..info },
            "leftoverKeys.size 1199 < 1200 required for maxCount 300".into(),
        ),
        (
            HashInfo { count: Count { address: info.count.address + 1, ..info.count }, ..info },
            format!("count.address {}", odd(info.count.address + 1)),
        ),
        (HashInfo { status: info.status + 2, ..info }, format!("status {}", odd(info.status + 2))),
        (
            HashInfo { leftover_count: info.leftover_count + 2, ..info },
            format!("leftoverCount {}", odd(info.leftover_count + 2)),
        ),
        (
            HashInfo { leftover_count: 0, ..info },
            "leftoverKeys is malformed: their number has no place: leftoverCount is 0".into(),
        ),
        (HashInfo { leftover_keys: info.keys, ..info }, "keys and leftoverKeys overlap".into()),
        (HashInfo { leftover_values: info.leftover_keys, ..info }, "leftoverKeys and leftoverValues overlap".into()),
        (HashInfo { keys: Range { size: 1200, ..info.table }, ..info }, "table and keys overlap".into()),
        (HashInfo { status: info.count.address, ..info }, "count and status overlap".into()),
        (
            HashInfo { scratch: Scratch { size: required - 1, ..info.scratch }, ..info },
            format!("scratch.size {} < {required} required for maxCount 300", required - 1),
        ),
    ];
    let search = HashInfo { values: Range::NONE, ..info };
    let others = [
        (of(HashOperation::Clear), info, "count is malformed: Clear has no keys".to_owned()),
        (
            of(HashOperation::Find),
            HashInfo { found: moved(info.found, 1), ..search },
            format!("found.address {}", odd(info.found.address + 1)),
        ),
        (
            of(HashOperation::Find),
            HashInfo { found: Range { size: 39, ..info.found }, ..search },
            "found.size 39 < 40 required for maxCount 300".to_owned(),
        ),
        (of(HashOperation::Find), HashInfo { found: info.keys, ..search }, "keys and found overlap".to_owned()),
    ];
    let all = expected.iter().map(|(info, text)| (insert, info, text.clone()));
    let all = all.chain(others.iter().map(|(hasher, info, text)| (*hasher, info, text.clone())));
    let run = context.run(|commands| {
        for (hasher, info, text) in all {
            // SAFETY: the command buffer is recording; refused calls record nothing.
            let refused = unsafe { hasher.cmd_hash(commands, info) };
            assert_eq!(refused.map_err(|error| error.to_string()), Err(text));
        }
        // SAFETY: as above.
        let refused = unsafe { insert.cmd_hash(vk::CommandBuffer::null(), &info) };
        assert_eq!(refused.map_err(|error| error.to_string()), Err("commandBuffer is null".into()));
        // Two operations on one table in a batch.
        let twice = [
            Request::Hash(insert, info),
            Request::Hash(of(HashOperation::Find), HashInfo { count: Count::host(3), ..search }),
        ];
        // SAFETY: as above.
        let refused = unsafe { trommel::cmd_batch(commands, &twice, info.scratch) };
        assert_eq!(refused.map_err(|error| error.to_string()), Err("table and table overlap".into()));
        Ok(())
    });
    run.expect("an empty command buffer is submitted");
    let large = HashInfo { count: Count::host(u32::MAX), ..info };
    let scratch = batch_scratch_size(&[Request::Hash(insert, large)]).map_err(|error| error.to_string());
    assert_eq!(scratch, Err("count.max 4294967295 > 1073741824, the hasher's maxCount".into()));
    assert!(prepared.is_untouched(&context) && table.words() == before, "something was recorded and has run");
    assert_silence(&context);
}
