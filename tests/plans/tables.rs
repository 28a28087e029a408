//! Plans and scratch of hash tables.

use crate::{DEVICES, NVIDIA, assert_text, fake};
use trommel::{Count, HashInfo, HashOperation, Hasher, HasherInfo, KeyType, Range, Scratch, ValueType};

fn hasher(facts: &'static trommel::DeviceFacts, info: &HasherInfo) -> Hasher {
    Hasher::new(&fake::device(facts), &info.batches()).expect("numbers are always to be had")
}

/// A batch with every output, and its count on the device.
fn batch(capacity: u32, max_count: u32) -> HashInfo {
    let array = |n: u64| Range::new((n + 1) << 40, 1 << 40);
    HashInfo {
        table: array(0),
        capacity,
        count: Count::device(4, max_count),
        keys: array(1),
        values: array(2),
        found: array(3),
        leftover_keys: array(4),
        leftover_values: array(5),
        leftover_count: 8,
        count_out: 16,
        statistics: array(6),
        values_out: array(7),
        max_values: 2 * max_count,
        offsets: array(8),
        counts: array(9),
        opcodes: array(12),
        source: array(10),
        source_capacity: 2 * capacity,
        stencil: array(11),
        reserve: Count::device(20, 100),
        scratch: Scratch { buffer: fake::buffer(), offset: 256, size: 1 << 40 },
        status: 12,
        ..HashInfo::default()
    }
}

/// Clearing, searches, and insertions into tables of one slice, of at most 256 and of more. Changes of tables with
/// linear probing, insertions that find, and those of the items of another table. Operations on multimaps, and on keys
/// that a stencil selects. Mixed batches.
#[test]
fn plans_of_tables() {
    let pairs = HasherInfo::pairs();
    let of = |info: &HasherInfo, capacity, count| {
        let info = hasher(&NVIDIA, info).describe(&batch(capacity, count));
        info.expect("the batch is valid")
    };
    let clear = hasher(&NVIDIA, &pairs.operation(HashOperation::Clear));
    let cleared = HashInfo { count: Count::default(), ..batch(1 << 20, 0) };
    let export = hasher(&NVIDIA, &pairs.operation(HashOperation::Export));
    let statistics = hasher(&NVIDIA, &pairs.operation(HashOperation::Statistics));
    let exported = HashInfo { count: Count::host(1000), ..batch(1 << 20, 0) };
    let on_host = |info: &HasherInfo| {
        let info = hasher(&NVIDIA, info).describe(&exported);
        info.expect("the batch is valid")
    };
    let multimap = pairs.linear().multimap();
    let small = HasherInfo { max_capacity: 1024, ..pairs };
    let medium = HasherInfo { max_capacity: 1 << 18, ..pairs };
    let by_index = HasherInfo { key: KeyType::U64, value: ValueType::Bytes(8), ..pairs };
    let texts = [
        clear.describe(&cleared).expect("it is valid"),
        of(&pairs.operation(HashOperation::Find), 1 << 20, 1000),
        of(&small, 1024, 1000),
        of(&medium, 1 << 18, 100_000),
        of(&pairs, 1 << 24, 1 << 22),
        of(&by_index.operation(HashOperation::Erase), 1 << 24, 1000),
        of(&by_index, 1 << 20, 0),
        of(&medium.operation(HashOperation::Increment), 1 << 18, 100_000),
        export.describe(&exported).expect("it is valid"),
        statistics.describe(&HashInfo { statistics: Range::new(7 << 40, 96), ..cleared }).expect("it is valid"),
        of(&pairs.linear(), 1 << 20, 1000),
        of(&by_index.linear().operation(HashOperation::Min), 1 << 20, 1000),
        of(&pairs.linear().operation(HashOperation::Erase), 1 << 20, 1000),
        of(&pairs.linear().concurrent(), 1 << 20, 1000),
        of(&small.operation(HashOperation::FindOrInsert), 1024, 1000),
        of(&pairs.linear().operation(HashOperation::FindOrInsert), 1 << 20, 1000),
        on_host(&HasherInfo { max_capacity: 1 << 21, ..pairs }.operation(HashOperation::Rehash)),
        on_host(&pairs.linear().operation(HashOperation::Rehash)),
        of(&multimap, 1 << 20, 1000),
        of(&multimap.operation(HashOperation::Erase), 1 << 20, 1000),
        of(&multimap.operation(HashOperation::Count), 1 << 20, 1000),
        of(&multimap.operation(HashOperation::Retrieve), 1 << 20, 1000),
        of(&multimap.operation(HashOperation::Retrieve), 1 << 20, 0),
        on_host(&multimap.operation(HashOperation::ExportIf)),
        on_host(&pairs.linear().operation(HashOperation::EraseIf)),
        on_host(&pairs.linear().resizable().operation(HashOperation::Resize)),
        of(&pairs.linear().stencil(), 1 << 20, 1 << 20),
        of(&small.stencil().operation(HashOperation::FindOrInsert), 1024, 1000),
        of(&multimap.stencil().operation(HashOperation::Retrieve), 1 << 20, 1000),
        of(&pairs.operation(HashOperation::Mixed), 1 << 24, 1 << 22),
        of(&by_index.linear().operation(HashOperation::Mixed), 1 << 20, 1000),
        of(&small.operation(HashOperation::Mixed), 1024, 0),
        of(&HasherInfo { key: KeyType::U32x3, ..small }.operation(HashOperation::Mixed), 1024, 1000),
    ];
    assert_text("tables", &texts);
}

/// Scratch does not decrease, and holds the hashes, the payload and the sort of both.
#[test]
fn scratch_of_tables() {
    // With the most bytes of an item: a bit, its hashes and its payload, both as often as the sort needs them.
    let types = [
        (KeyType::U32, ValueType::None, 9),
        (KeyType::U32, ValueType::U32, 21),
        (KeyType::U64, ValueType::None, 17),
        (KeyType::U64, ValueType::U32, 33),
        (KeyType::U64, ValueType::Bytes(8), 25),
        (KeyType::U32x4, ValueType::None, 17),
    ];
    for facts in DEVICES {
        for (key, value, most_bytes) in types {
            for max_capacity in [1024, 1 << 18, 0] {
                let info = HasherInfo { key, value, max_capacity, ..HasherInfo::keys() };
                for operation in HashOperation::ALL {
                    let info = info.operation(operation);
                    let kinds = [info, info.linear().multimap(), info.resizable()];
                    let Some(info) = kinds.into_iter().find(|info| info.check().is_ok()) else { continue };
                    let hasher = hasher(facts, &info);
                    let size = |count: u32| hasher.scratch_size(count).expect("the count is allowed");
                    let counts: Vec<u32> = (0..30).flat_map(|bit| [(1 << bit) - 1, 1 << bit, 3 << bit >> 1]).collect();
                    let sizes: Vec<u64> = counts.iter().map(|count| size(*count)).collect();
                    assert!(sizes.is_sorted(), "{info:?} {sizes:?}");
                    for (count, size) in counts.into_iter().zip(sizes) {
                        let count = u64::from(count);
                        let hash_bytes = if key == KeyType::U64 { 8 } else { 4 };
                        let range = match operation {
                            HashOperation::Clear
                            | HashOperation::Find
                            | HashOperation::Statistics
                            | HashOperation::Count => 0..=0,
                            operation if operation.exports() => 4..=4,
                            // A word for each workgroup.
                            HashOperation::Retrieve => count.div_ceil(1024) * 4..=4 + count / 8,
                            // The keys that are removed, and those that move with their values.
                            HashOperation::EraseIf | HashOperation::Rehash | HashOperation::Resize => {
                                let bytes = u64::from(key.size() + value.size());
                                (u64::from(key.size()) + hash_bytes) * count..=(most_bytes + bytes) * count + (8 << 20)
                            }
                            // The batch in the order of numbers that identify keys, and the keys that change.
                            HashOperation::Mixed => {
                                // Slots in which long keys are numbered: a power of two, twice the count at least.
                                let slots = if key.size() > 8 { (2 * count).next_power_of_two() * 4 } else { 0 };
                                let identity = key.size().min(8);
                                // With an element, what is before it, and the hashes of a change.
                                let bytes = u64::from(identity + 4 + 4 + 2 * (key.size() + value.size())) + hash_bytes;
                                // Parts begin at multiples of 256 bytes, and those of large sorts have tables.
                                let others = (16 * count).clamp(1 << 19, 8 << 20);
                                bytes * count + slots..=(bytes + 17) * count + slots + others
                            }
                            _ => hash_bytes * count..=most_bytes * count + (8 << 20),
                        };
                        assert!(range.contains(&size), "{info:?} {count}: {size}");
                    }
                    let above = hasher.scratch_size((1 << 30) + 1).map_err(|error| error.to_string());
                    assert_eq!(above, Err("count.max 1073741825 > 1073741824, the hasher's maxCount".to_owned()));
                }
            }
        }
    }
}
