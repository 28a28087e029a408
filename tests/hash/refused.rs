//! Invalid operations: their error messages, and that nothing has been recorded.

use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::keys::Random;
use crate::table::{Batch, Table, Types, Words};
use ash::vk;
use trommel::{
    Count, HashInfo, HashOperation, Hasher, HasherInfo, KeyType, Range, Request, Scratch, batch_scratch_size,
};

/// Checks the error messages, and that nothing has been recorded.
pub(crate) fn refusals() {
    let context = context(Setup::Folded);
    let narrow = HasherInfo { key: KeyType::U8, ..HasherInfo::keys() };
    let refused = Hasher::new(context.device(), &narrow).map(drop).map_err(|error| error.to_string());
    assert_eq!(refused, Err("keyType is malformed: U8 is narrower than a word".into()));

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
