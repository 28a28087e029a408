//! Invalid hashers, operations on tables and batches of them: the errors, and that nothing has been recorded.

use crate::{
    FOREIGN_DEVICE, Later, MALFORMED, MISALIGNED, NOT_READY, NULL, OVERLAP, Refusals, TOO_LARGE, TOO_SMALL,
    UNKNOWN_VALUE, UNTOUCHED, bad_headers, byte_later, engine, with_header,
};
use anyhow::{Result, ensure};
use ffi_tests::hash::{hash_info, hasher_info};
use ffi_tests::sort::sort_info;
use ffi_tests::{batch_info, range, scratch};
use std::ptr;
use trommel::capi::*;

#[test]
fn hashers() -> Result<()> {
    let engine = engine()?;
    let api = &engine.api;
    let good = hasher_info();
    let mut refusals = Refusals(api, Vec::new());
    let mut bad = |what: &str, device, info: *const TrmHasherCreateInfo, code, reason: &str| {
        let mut hasher = ptr::dangling_mut();
        // SAFETY: pointers are valid, or such that the library finds out.
        let result = unsafe { (api.hash.trmCreateHasher)(device, info, &mut hasher) };
        refusals.expect(what, result, code, reason);
        assert!(hasher.is_null(), "{what}: there is a handle");
    };
    bad("no device", ptr::null_mut(), &good, NULL, "device is null");
    bad("misaligned device", engine.device.wrapping_byte_add(1), &good, MISALIGNED, "device");
    bad("no info", engine.device, ptr::null(), NULL, "info is null");
    bad("misaligned info", engine.device, byte_later(&good), MISALIGNED, "is not a multiple of 8");
    for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::SorterCreateInfo) {
        bad(what, engine.device, &with_header(&good, header), code, reason);
    }
    let mut later = Later { info: good, tail: [0, 1] };
    later.info.struct_size += 16;
    bad("unknown members", engine.device, &later.info, MALFORMED, "are of a later version and not zero");
    type Set = fn(&mut TrmHasherCreateInfo, i32);
    let enums: [(&str, i32, Set); 4] = [
        ("keyType", TrmKeyType::U32X4 as i32, |info, value| info.key_type = value),
        ("valueType", TrmValueType::Index as i32, |info, value| info.value_type = value),
        ("operation", TrmHashOperation::InsertLast as i32, |info, value| info.operation = value),
        ("scheme", TrmHashScheme::Linear as i32, |info, value| info.scheme = value),
    ];
    for (name, last, set) in enums {
        for value in [-1, last + 1, i32::MAX, i32::MIN] {
            let mut info = good;
            set(&mut info, value);
            bad(name, engine.device, &info, UNKNOWN_VALUE, &format!("{name} {value} is not a known value"));
        }
    }
    let keyed = |key_type: TrmKeyType| TrmHasherCreateInfo { key_type: key_type as i32, ..good };
    let bytes = |key_type, value_size| TrmHasherCreateInfo {
        value_type: TrmValueType::Bytes as i32,
        value_size,
        ..keyed(key_type)
    };
    let multimap = |operation: TrmHashOperation| TrmHasherCreateInfo {
        flags: TRM_HASHER_CREATE_MULTIMAP_BIT,
        operation: operation as i32,
        scheme: TrmHashScheme::Linear as i32,
        ..good
    };
    let both = TRM_HASHER_CREATE_MULTIMAP_BIT | TRM_HASHER_CREATE_CONCURRENT_BIT;
    let multiple = "is not a multiple of 4 from 4 to 4096";
    let malformed = [
        (
            "flags",
            TrmHasherCreateInfo { flags: 64, ..good },
            "flags is malformed: 0x40 has bits beyond 0x3f".to_owned(),
        ),
        (
            "a stencil for no keys",
            TrmHasherCreateInfo {
                flags: TRM_HASHER_CREATE_STENCIL_BIT,
                operation: TrmHashOperation::Export as i32,
                ..good
            },
            "flags is malformed: Export has no keys that a stencil can select".into(),
        ),
        (
            "a stencil of a mixed batch",
            TrmHasherCreateInfo {
                flags: TRM_HASHER_CREATE_STENCIL_BIT,
                operation: TrmHashOperation::Mixed as i32,
                ..good
            },
            "flags is malformed: Mixed has no stencil: keys that it would not select have the opcode Find".into(),
        ),
        (
            "mixed batches of multimaps",
            multimap(TrmHashOperation::Mixed),
            "flags is malformed: Mixed is not available for multimaps".into(),
        ),
        (
            "bucketed multimaps",
            TrmHasherCreateInfo { flags: TRM_HASHER_CREATE_MULTIMAP_BIT, ..good },
            "flags is malformed: Bucketed tables are no multimaps".into(),
        ),
        (
            "concurrent multimaps",
            TrmHasherCreateInfo { flags: both, ..multimap(TrmHashOperation::Insert) },
            "flags is malformed: multimaps have no concurrent operations".into(),
        ),
        (
            "assignments to multimaps",
            multimap(TrmHashOperation::FindOrInsert),
            "flags is malformed: FindOrInsert is not available for multimaps".into(),
        ),
        (
            "counts of other tables",
            TrmHasherCreateInfo { flags: 0, ..multimap(TrmHashOperation::Count) },
            "flags is malformed: Count is available for multimaps alone".into(),
        ),
        (
            "values of sets",
            multimap(TrmHashOperation::Retrieve),
            "valueType is malformed: a set has no values to be retrieved".into(),
        ),
        (
            "tables of one size",
            TrmHasherCreateInfo { operation: TrmHashOperation::Resize as i32, ..good },
            "flags is malformed: Resize is available for resizable tables alone".into(),
        ),
        (
            "operations at the same time",
            TrmHasherCreateInfo { flags: TRM_HASHER_CREATE_CONCURRENT_BIT, ..good },
            "flags is malformed: Bucketed tables have no concurrent operations".into(),
        ),
        ("bytes as keys", keyed(TrmKeyType::I8), "keyType is malformed: I8 is narrower than a word".into()),
        ("halves", keyed(TrmKeyType::BF16), "keyType is malformed: Bf16 is narrower than a word".into()),
        ("no bytes", bytes(TrmKeyType::U32, 0), format!("valueSize is malformed: 0 {multiple}")),
        ("odd bytes", bytes(TrmKeyType::U32, 10), format!("valueSize is malformed: 10 {multiple}")),
        (
            "large values",
            bytes(TrmKeyType::U32, 20),
            "valueSize is malformed: a value has 20 bytes, more than 16".into(),
        ),
        (
            "values of long keys",
            bytes(TrmKeyType::U32X4, 32),
            "valueSize is malformed: a value has 32 bytes, more than 16".into(),
        ),
        (
            "bytes without the type",
            TrmHasherCreateInfo { value_size: 8, ..good },
            "8 is not 0, and valueType is not TRM_VALUE_TYPE_BYTES".into(),
        ),
        (
            "indices",
            TrmHasherCreateInfo { value_type: TrmValueType::Index as i32, ..good },
            "valueType is malformed: a table stores no indices of items".into(),
        ),
    ];
    for (what, info, reason) in &malformed {
        bad(what, engine.device, info, MALFORMED, reason);
    }
    let many = TrmHasherCreateInfo { max_count: (1 << 30) + 1, ..good };
    bad("many keys", engine.device, &many, TOO_LARGE, "maxCount 1073741825 > 1073741824, the most keys of a batch");
    let large = TrmHasherCreateInfo { max_capacity: (1 << 31) + 1, ..good };
    let reason = "maxCapacity 2147483649 > 2147483648, the most slots of a table";
    bad("large tables", engine.device, &large, TOO_LARGE, reason);

    let few = engine.hasher_of(&TrmHasherCreateInfo { max_count: 1000, ..good })?;
    let deferred = engine.hasher_of(&TrmHasherCreateInfo { flags: TRM_HASHER_CREATE_DEFERRED_BIT, ..good })?;
    let (mut size, mut count, mut ready) = (UNTOUCHED, 7, 7);
    let hash = &api.hash;
    // SAFETY: pointers are valid, or such that the library finds out.
    unsafe {
        let none = ptr::null_mut();
        refusals.expect(
            "no output",
            (hash.trmCreateHasher)(engine.device, &good, ptr::null_mut()),
            NULL,
            "hasher is null",
        );
        let result = (hash.trmGetHasherScratch)(few, 1001, &mut size);
        refusals.expect("scratch", result, TOO_LARGE, "count.max 1001 > 1000, the hasher's maxCount");
        refusals.expect("scratch of none", (hash.trmGetHasherScratch)(none, 1, &mut size), NULL, "hasher is null");
        refusals.expect("no size", (hash.trmGetHasherScratch)(few, 1, ptr::null_mut()), NULL, "size is null");
        refusals.expect("table of none", (hash.trmGetHasherTableSize)(none, 1, &mut size), NULL, "hasher is null");
        refusals.expect("no size", (hash.trmGetHasherTableSize)(few, 1, ptr::null_mut()), NULL, "size is null");
        let result = (hash.trmGetHasherTimestampCount)(few, 1001, &mut count);
        refusals.expect("timestamps", result, TOO_LARGE, "count.max 1001 > 1000, the hasher's maxCount");
        let result = (hash.trmGetHasherTimestampCount)(none, 1, &mut count);
        refusals.expect("timestamps of none", result, NULL, "hasher is null");
        let result = (hash.trmGetHasherTimestampCount)(few, 1, ptr::null_mut());
        refusals.expect("no count", result, NULL, "count is null");
        refusals.expect("compile none", (hash.trmCompileHasher)(none), NULL, "hasher is null");
        refusals.expect("ready of none", (hash.trmGetHasherReady)(none, &mut ready), NULL, "hasher is null");
        refusals.expect("no ready", (hash.trmGetHasherReady)(few, ptr::null_mut()), NULL, "ready is null");
        assert_eq!((size, count, ready), (UNTOUCHED, 7, 7), "outputs are written on success only");

        assert_eq!(((hash.trmGetHasherReady)(few, &mut ready), ready), (0, 1));
        assert_eq!(((hash.trmGetHasherReady)(deferred, &mut ready), ready), (0, 0));
        assert_eq!((hash.trmCompileHasher)(deferred), 0, "{}", api.last_error());
        assert_eq!(((hash.trmGetHasherReady)(deferred, &mut ready), ready), (0, 1));
        // A header, marks, a slice and its overflow slice.
        for capacity in [0, 1, 1024] {
            assert_eq!(((hash.trmGetHasherTableSize)(few, capacity, &mut size), size), (0, 256 + 64 + 2 * 4096));
        }
        (hash.trmDestroyHasher)(deferred);
        (hash.trmDestroyHasher)(few);
        (hash.trmDestroyHasher)(ptr::null_mut());
    }
    refusals.finish()?;
    engine.finish()
}

/// The members of operations on multimaps, and of those that read another table.
#[test]
fn multimaps() -> Result<()> {
    const COUNT: u32 = 100;
    const CAPACITY: u32 = 1024;
    const WORD: u32 = 0xdead_beef;
    let engine = engine()?;
    let (api, context) = (&engine.api, &engine.context);
    let of = |operation: TrmHashOperation, flags| TrmHasherCreateInfo {
        flags,
        value_type: TrmValueType::U32 as i32,
        operation: operation as i32,
        scheme: TrmHashScheme::Linear as i32,
        max_capacity: CAPACITY,
        ..hasher_info()
    };
    let multimap = |operation| engine.hasher_of(&of(operation, TRM_HASHER_CREATE_MULTIMAP_BIT));
    let [count, retrieve, rehash] = [
        multimap(TrmHashOperation::Count)?,
        multimap(TrmHashOperation::Retrieve)?,
        multimap(TrmHashOperation::Rehash)?,
    ];
    let find = engine.hasher_of(&of(TrmHashOperation::FindOrInsert, 0))?;
    let mixed = engine.hasher_of(&of(TrmHashOperation::Mixed, 0))?;
    let resize = engine.hasher_of(&of(TrmHashOperation::Resize, TRM_HASHER_CREATE_RESIZABLE_BIT))?;
    let memory = context.upload(&[WORD; 1000])?;
    let part = |index: u64, size| TrmRange { address: memory.address() + index * 800, size };
    // A header, and slots of three words.
    let table_words = [WORD; 64 + 3 * CAPACITY as usize];
    let tables = [context.upload(&table_words)?, context.upload(&table_words)?];
    let work = context.buffer(1 << 16)?;
    let good = TrmHashInfo {
        table: range(&tables[0]),
        capacity: CAPACITY,
        count: TrmCount { max: COUNT, address: 0 },
        keys: part(0, 400),
        values: part(1, 400),
        offsets: part(2, 404),
        counts: part(2, 400),
        opcodes: part(2, 400),
        values_out: part(3, 400),
        max_values: COUNT,
        source: range(&tables[1]),
        source_capacity: CAPACITY,
        scratch: scratch(&work),
        ..hash_info()
    };
    let cut = |range: TrmRange| TrmRange { size: range.size - 1, ..range };
    let odd = |range: TrmRange| TrmRange { address: range.address + 2, ..range };
    let nowhere = TrmRange { address: 0, size: 400 };
    let mut refusals = Refusals(api, Vec::new());
    context.run(|commands| {
        let mut bad = |what: &str, hasher, info: TrmHashInfo, code, reason: &str| {
            // SAFETY: pointers are valid, or such that the library finds out.
            let result = unsafe { (api.hash.trmCmdHash)(commands, hasher, &info) };
            refusals.expect(what, result, code, reason);
        };
        let with = |counts| TrmHashInfo { counts, ..good };
        bad("counts", count, with(nowhere), NULL, "counts.address is null");
        bad("counts", count, with(odd(good.counts)), MISALIGNED, "counts.address");
        bad("counts", count, with(cut(good.counts)), TOO_SMALL, "counts.size 399 < 400 required for maxCount 100");
        bad("counts", count, with(good.keys), OVERLAP, "keys and counts overlap");
        let with = |opcodes| TrmHashInfo { opcodes, ..good };
        bad("opcodes", mixed, with(nowhere), NULL, "opcodes.address is null");
        bad("opcodes", mixed, with(odd(good.opcodes)), MISALIGNED, "opcodes.address");
        bad("opcodes", mixed, with(cut(good.opcodes)), TOO_SMALL, "opcodes.size 399 < 400 required for maxCount 100");
        bad("opcodes", mixed, with(good.values_out), OVERLAP, "valuesOut and opcodes overlap");
        let with = |offsets| TrmHashInfo { offsets, ..good };
        bad("offsets", retrieve, with(nowhere), NULL, "offsets.address is null");
        bad("offsets", retrieve, with(odd(good.offsets)), MISALIGNED, "offsets.address");
        let reason = "offsets.size 403 < 404 required for maxCount 100";
        bad("offsets", retrieve, with(cut(good.offsets)), TOO_SMALL, reason);
        bad("offsets", retrieve, with(good.table), OVERLAP, "table and offsets overlap");
        let with = |values_out| TrmHashInfo { values_out, ..good };
        bad("values", retrieve, with(nowhere), NULL, "valuesOut.address is null");
        bad("values", retrieve, with(odd(good.values_out)), MISALIGNED, "valuesOut.address");
        bad("values", retrieve, with(cut(good.values_out)), TOO_SMALL, "valuesOut.size 399 < 400 required");
        bad("values", retrieve, with(good.offsets), OVERLAP, "valuesOut and offsets overlap");
        bad("values", find, with(good.values), OVERLAP, "values and valuesOut overlap");
        let reason = "valuesOut.size 399 < 400 required for maxCount 100";
        bad("values", find, with(cut(good.values_out)), TOO_SMALL, reason);
        let many = TrmHashInfo { max_values: COUNT + 1, ..good };
        bad("maxValues", retrieve, many, TOO_SMALL, "valuesOut.size 400 < 404 required");
        let with = |source| TrmHashInfo { source, ..good };
        bad("source", rehash, with(nowhere), NULL, "source.address is null");
        let eight = TrmRange { address: good.source.address + 8, ..good.source };
        bad("source", rehash, with(eight), MISALIGNED, "is not a multiple of 16");
        bad("source", rehash, with(cut(good.source)), TOO_SMALL, "source.size 12543 < 12544 required");
        bad("source", rehash, with(good.table), OVERLAP, "table and source overlap");
        let with = |source_capacity| TrmHashInfo { source_capacity, ..good };
        bad("sourceCapacity", rehash, with(0), TOO_SMALL, "sourceCapacity 0 < 1 required");
        let reason = "sourceCapacity 1025 > 1024, the hasher's maxCapacity";
        bad("sourceCapacity", rehash, with(CAPACITY + 1), TOO_LARGE, reason);
        let counted = TrmHashInfo { count: TrmCount { max: COUNT, address: part(0, 0).address }, ..good };
        bad("count", rehash, counted, MALFORMED, "count is malformed: ");
        let small = TrmHashInfo { min_capacity: CAPACITY + 1, ..good };
        bad("minCapacity", resize, small, TOO_LARGE, "minCapacity 1025 > 1024, the capacity");
        let odd = TrmHashInfo { reserve: TrmCount { max: 1, address: 2 }, ..good };
        bad("reserve", resize, odd, MISALIGNED, "reserve.address 0x2 is not a multiple of 4");
        Ok(())
    })?;
    refusals.finish()?;
    ensure!(context.download::<u32>(&memory, 1000)? == [WORD; 1000], "something has been recorded");
    for table in &tables {
        ensure!(context.download::<u32>(table, table_words.len())? == table_words, "something has been recorded");
    }
    // SAFETY: nobody uses them.
    unsafe {
        for hasher in [count, retrieve, rehash, find, resize] {
            (api.hash.trmDestroyHasher)(hasher);
        }
    }
    drop((memory, tables, work));
    engine.finish()
}

#[test]
fn tables() -> Result<()> {
    const COUNT: u32 = 1500;
    const BYTES: u64 = 6000;
    /// Four arrays of as many keys or values, bits, single words, and room past all.
    const WORDS: usize = 6400;
    const WORD: u32 = 0xdead_beef;
    const CAPACITY: u32 = 2000;
    let engine = engine()?;
    let (api, context) = (&engine.api, &engine.context);
    let pairs = TrmHasherCreateInfo {
        value_type: TrmValueType::U32 as i32,
        max_count: 1 << 20,
        max_capacity: 1 << 20,
        ..hasher_info()
    };
    let of = |operation: TrmHashOperation| TrmHasherCreateInfo { operation: operation as i32, ..pairs };
    let (insert, other) = (engine.hasher_of(&pairs)?, engine.hasher_of(&of(TrmHashOperation::Assign))?);
    let (find, clear) =
        (engine.hasher_of(&of(TrmHashOperation::Find))?, engine.hasher_of(&of(TrmHashOperation::Clear))?);
    let deferred =
        engine.hasher_of(&TrmHasherCreateInfo { flags: TRM_HASHER_CREATE_DEFERRED_BIT, max_count: 0, ..pairs })?;
    let (mut second_device, mut foreign, mut without_batches) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let with_batches = TrmHasherCreateInfo { flags: TRM_HASHER_CREATE_BATCHES_BIT, ..pairs };
    // SAFETY: the infos are valid.
    unsafe {
        assert_eq!((api.trmCreateDevice)(&engine.device_info(), &mut second_device), 0);
        assert_eq!((api.hash.trmCreateHasher)(second_device, &with_batches, &mut foreign), 0);
        assert_eq!((api.hash.trmCreateHasher)(engine.device, &pairs, &mut without_batches), 0);
    }
    let memory = context.upload(&[WORD; WORDS])?;
    let part = |index: u64, size| TrmRange { address: memory.address() + index * BYTES, size };
    // Two slices and an overflow slice of pairs follow the header.
    let table_words = [WORD; (256 + 64 + 3 * 8192) / 4];
    let table = context.upload(&table_words)?;
    let work = engine.hash_scratch(insert, 1 << 20)?;
    let mut required = 0;
    // SAFETY: the hasher is one.
    assert_eq!(unsafe { (api.hash.trmGetHasherScratch)(insert, COUNT, &mut required) }, 0);
    assert!(required > 0, "refusals of scratch need some");
    let few = TrmCount { max: COUNT, address: 0 };
    let good = TrmHashInfo {
        hasher: insert,
        table: range(&table),
        capacity: CAPACITY,
        count: few,
        keys: part(0, BYTES),
        values: part(1, BYTES),
        leftover_keys: part(2, BYTES),
        leftover_values: part(3, BYTES),
        leftover_count: part(4, 0).address,
        scratch: scratch(&work),
        ..hash_info()
    };
    let found = TrmRange { address: part(4, 0).address + 16, size: u64::from(COUNT.div_ceil(32)) * 4 };
    let mut refusals = Refusals(api, Vec::new());
    context.run(|commands| {
        let mut bad = |what: &str, info: *const TrmHashInfo, code, reason: &str| {
            // SAFETY: pointers are valid, or such that the library finds out.
            let result = unsafe { (api.hash.trmCmdHash)(commands, insert, info) };
            refusals.expect(what, result, code, reason);
        };
        bad("no info", ptr::null(), NULL, "info is null");
        bad("misaligned info", byte_later(&good), MISALIGNED, "is not a multiple of 8");
        for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::SplitInfo) {
            bad(what, &with_header(&good, header), code, reason);
        }
        let mut later = Later { info: good, tail: [0, 1 << 63] };
        later.info.struct_size += 16;
        bad("unknown members", &later.info, MALFORMED, "are of a later version and not zero");
        let reason = "info.hasher is malformed: it is neither NULL nor the hasher given";
        bad("another hasher", &TrmHashInfo { hasher: other, ..good }, MALFORMED, reason);

        let sized = |capacity| TrmHashInfo { capacity, ..good };
        bad("no capacity", &sized(0), TOO_SMALL, "capacity 0 < 1 required");
        let limit = "capacity 1048577 > 1048576, the hasher's maxCapacity";
        bad("large capacity", &sized((1 << 20) + 1), TOO_LARGE, limit);
        bad("small table", &sized(2049), TOO_SMALL, "table.size 24896 < 33088 required");
        let count = |max| TrmHashInfo { count: TrmCount { max, address: 0 }, ..good };
        bad("too many", &count((1 << 20) + 1), TOO_LARGE, "count.max 1048577 > 1048576, the hasher's maxCount");
        let shorter = "keys.size 6000 < 6004 required for maxCount 1501";
        bad("more than there are", &count(COUNT + 1), TOO_SMALL, shorter);
        let counted = |address| TrmHashInfo { count: TrmCount { address, ..few }, ..good };
        bad("odd count", &counted(memory.address() + 2), MISALIGNED, "count.address");
        bad("count in an output", &counted(good.leftover_keys.address + 8), OVERLAP, "leftoverKeys and count overlap");
        bad("count in the table", &counted(table.address() + 512), OVERLAP, "table and count overlap");
        bad("odd status", &TrmHashInfo { status: 6, ..good }, MISALIGNED, "status 0x6 is not a multiple of 4");
        let odd = TrmHashInfo { leftover_count: 6, ..good };
        bad("odd number", &odd, MISALIGNED, "leftoverCount 0x6 is not a multiple of 4");
        let status = TrmHashInfo { status: good.keys.address, ..good };
        bad("status among the keys", &status, OVERLAP, "keys and status overlap");
        let status = TrmHashInfo { status: good.leftover_count, ..good };
        bad("status for a number", &status, OVERLAP, "leftoverCount and status overlap");
        let nowhere = TrmHashInfo { leftover_count: 0, ..good };
        let reason = "leftoverKeys is malformed: their number has no place: leftoverCount is 0";
        bad("no number", &nowhere, MALFORMED, reason);
        let nowhere = TrmHashInfo { leftover_keys: TrmRange::default(), ..nowhere };
        let reason = "leftoverValues is malformed: their number has no place: leftoverCount is 0";
        bad("no number", &nowhere, MALFORMED, reason);

        type Set = fn(&mut TrmHashInfo, TrmRange);
        let ranges: [(&str, u64, Set); 4] = [
            ("keys", 0, |info, range| info.keys = range),
            ("values", 1, |info, range| info.values = range),
            ("leftoverKeys", 2, |info, range| info.leftover_keys = range),
            ("leftoverValues", 3, |info, range| info.leftover_values = range),
        ];
        for (name, index, set) in ranges {
            let with = |range| {
                let mut info = good;
                set(&mut info, range);
                info
            };
            bad(name, &with(TrmRange { address: 0, size: BYTES }), NULL, &format!("{name}.address is null"));
            let odd = TrmRange { address: part(index, 0).address + 2, size: BYTES };
            bad(name, &with(odd), MISALIGNED, &format!("{name}.address"));
            let reason = format!("{name}.size 5999 < 6000 required for maxCount 1500");
            bad(name, &with(part(index, BYTES - 1)), TOO_SMALL, &reason);
            let there = TrmRange { address: work.address(), size: BYTES };
            bad(name, &with(there), OVERLAP, &format!("{name} and scratch overlap"));
            let there = TrmRange { address: table.address() + 4096, size: BYTES };
            bad(name, &with(there), OVERLAP, &format!("table and {name} overlap"));
            let last = TrmRange { address: (u64::MAX - BYTES + 1) & !3, size: 1 << 40 };
            bad(name, &with(last), TOO_LARGE, "the end of the address space");
        }
        let into = |leftover_keys| TrmHashInfo { leftover_keys, ..good };
        bad("into the keys", &into(good.keys), OVERLAP, "keys and leftoverKeys overlap");
        bad("both in one", &into(good.leftover_values), OVERLAP, "leftoverKeys and leftoverValues overlap");
        let tabled = |table| TrmHashInfo { table, ..good };
        bad("no table", &tabled(TrmRange { address: 0, ..good.table }), NULL, "table.address is null");
        let odd = TrmRange { address: table.address() + 8, ..good.table };
        bad("odd table", &tabled(odd), MISALIGNED, "table.address");
        bad("odd table", &tabled(odd), MISALIGNED, "is not a multiple of 16");

        let with_scratch = |scratch| TrmHashInfo { scratch, ..good };
        let little = TrmScratch { size: required - 1, ..scratch(&work) };
        let too_small = format!("scratch.size {} < {required} required for maxCount 1500", required - 1);
        bad("little scratch", &with_scratch(little), TOO_SMALL, &too_small);
        bad("no scratch", &with_scratch(TrmScratch::default()), TOO_SMALL, "scratch.size 0 <");
        let no_buffer = TrmScratch { buffer: VkBuffer::default(), ..scratch(&work) };
        bad("no scratch buffer", &with_scratch(no_buffer), NULL, "scratch.buffer is null");
        bad("odd scratch", &with_scratch(TrmScratch { offset: 2, ..scratch(&work) }), MISALIGNED, "scratch.offset 0x2");

        // SAFETY: pointers are valid, or such that the library finds out.
        unsafe {
            let cmd_hash = api.hash.trmCmdHash;
            let (null, none) = (VkCommandBuffer::default(), ptr::null_mut());
            refusals.expect("no command buffer", cmd_hash(null, insert, &good), NULL, "commandBuffer is null");
            refusals.expect("no hasher", cmd_hash(commands, none, &good), NULL, "hasher is null");
            let odd = insert.wrapping_byte_add(4);
            refusals.expect("odd hasher", cmd_hash(commands, odd, &good), MISALIGNED, "hasher");
            let alone = TrmHashInfo { hasher: none, ..good };
            refusals.expect("not ready", cmd_hash(commands, deferred, &alone), NOT_READY, "hasher is not ready");
            let reason = "count is malformed: Clear has no keys";
            refusals.expect("keys of clearing", cmd_hash(commands, clear, &alone), MALFORMED, reason);
            let search = TrmHashInfo { found, ..alone };
            for (range, code, reason) in [
                (TrmRange { address: found.address + 1, ..found }, MISALIGNED, "found.address"),
                (TrmRange { size: 187, ..found }, TOO_SMALL, "found.size 187 < 188 required for maxCount 1500"),
                (TrmRange { address: 0, ..found }, NULL, "found.address is null"),
                (TrmRange { address: search.values.address, ..found }, OVERLAP, "values and found overlap"),
                (TrmRange { address: table.address(), ..found }, OVERLAP, "table and found overlap"),
            ] {
                let info = TrmHashInfo { found: range, ..search };
                refusals.expect("found", cmd_hash(commands, find, &info), code, reason);
            }
        }
        Ok(())
    })?;

    // Beside a sort of other keys, or of the same; and two operations on one table.
    let sorter = engine.sorter(TrmValueType::None)?;
    let sort_memory = context.upload(&[WORD; 100])?;
    let sort = |keys| TrmSortInfo { sorter, count: TrmCount { max: 100, address: 0 }, keys, ..sort_info() };
    let short = |range: TrmRange| TrmRange { size: 400, ..range };
    let (apart, on_input, on_table) = (sort(range(&sort_memory)), sort(short(good.keys)), sort(short(good.table)));
    let as_header = |info: &TrmHashInfo| (&raw const *info).cast::<TrmInfoHeader>();
    let sort_header = |info: &TrmSortInfo| (&raw const *info).cast::<TrmInfoHeader>();
    let both = [sort_header(&apart), as_header(&good)];
    let mut batch = batch_info(&both);
    let mut size = 0;
    // SAFETY: the infos are valid.
    assert_eq!(unsafe { (api.trmGetBatchScratch)(&batch, &mut size) }, 0, "{}", api.last_error());
    let batch_work = context.buffer(size)?;
    batch.scratch = scratch(&batch_work);
    context.run(|commands| {
        let mut with = |what: &str, sort: &TrmSortInfo, hash: &TrmHashInfo, code, reason: &str| {
            let infos = [sort_header(sort), as_header(hash)];
            // SAFETY: pointers are valid, or such that the library finds out.
            let result = unsafe { (api.trmCmdBatch)(commands, &TrmBatchInfo { infos: infos.as_ptr(), ..batch }) };
            refusals.expect(what, result, code, reason);
        };
        for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
            with(what, &apart, &with_header(&good, header), code, reason);
        }
        let set = |hasher| TrmHashInfo { hasher, ..good };
        with("no hasher", &apart, &set(ptr::null_mut()), NULL, "hasher is null");
        with("odd hasher", &apart, &set(byte_later(insert).cast_mut()), MISALIGNED, "hasher");
        with("another device's", &apart, &set(foreign), FOREIGN_DEVICE, "hasher was created on another device");
        let reason = "hasher is malformed: it was created without batches (BATCHES)";
        with("without batches", &apart, &set(without_batches), MALFORMED, reason);
        with("not ready", &apart, &set(deferred), NOT_READY, "hasher is not ready");
        with("input is sorted", &on_input, &good, OVERLAP, "keys and keys overlap");
        with("table is sorted", &on_table, &good, OVERLAP, "table and keys overlap");
        let counted = TrmHashInfo { count: TrmCount { address: sort_memory.address(), ..few }, ..good };
        with("count is sorted", &apart, &counted, OVERLAP, "count and keys overlap");
        let many = TrmHashInfo { count: TrmCount { max: (1 << 20) + 1, address: 0 }, ..good };
        with("too many", &apart, &many, TOO_LARGE, "count.max 1048577 > 1048576, the hasher's maxCount");
        let there = TrmHashInfo { leftover_keys: TrmRange { address: batch_work.address(), size: BYTES }, ..good };
        with("output in scratch", &apart, &there, OVERLAP, "leftoverKeys and scratch overlap");
        let second = TrmHashInfo {
            hasher: find,
            values: TrmRange::default(),
            count: TrmCount { max: 1, address: 0 },
            keys: range(&sort_memory),
            ..good
        };
        let infos = [as_header(&good), as_header(&second)];
        // SAFETY: the infos are valid.
        let result = unsafe { (api.trmCmdBatch)(commands, &TrmBatchInfo { infos: infos.as_ptr(), ..batch }) };
        refusals.expect("one table twice", result, OVERLAP, "table and table overlap");
        Ok(())
    })?;
    refusals.finish()?;
    ensure!(context.download::<u32>(&memory, WORDS)? == [WORD; WORDS], "something has been recorded");
    ensure!(context.download::<u32>(&sort_memory, 100)? == [WORD; 100], "something has been recorded");
    ensure!(context.download::<u32>(&table, table_words.len())? == table_words, "something has been recorded");

    // Ranges that an operation has no use for are not looked at.
    let none = TrmRange { address: 3, size: 1 };
    let nothing = TrmHashInfo { hasher: ptr::null_mut(), scratch: TrmScratch::default(), ..good };
    let unused = TrmHashInfo {
        leftover_keys: none,
        leftover_values: none,
        values_out: none,
        offsets: none,
        counts: none,
        opcodes: none,
        stencil: none,
        source: none,
        source_capacity: u32::MAX,
        max_values: u32::MAX,
        min_capacity: u32::MAX,
        ..nothing
    };
    let cleared = TrmHashInfo { keys: none, values: none, found: none, count: TrmCount::default(), ..unused };
    let search = TrmHashInfo { values: TrmRange::default(), ..unused };
    let empty =
        TrmHashInfo { keys: none, values: none, scratch: scratch(&work), count: TrmCount::default(), ..nothing };
    for (hasher, info) in [(clear, &cleared), (find, &search), (insert, &empty)] {
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            assert_eq!(unsafe { (api.hash.trmCmdHash)(commands, hasher, info) }, 0, "{}", api.last_error());
            Ok(())
        })?;
    }
    // SAFETY: nobody uses them.
    unsafe {
        (api.sort.trmDestroySorter)(sorter);
        for hasher in [foreign, without_batches, deferred, clear, find, other, insert] {
            (api.hash.trmDestroyHasher)(hasher);
        }
        (api.trmDestroyDevice)(second_device);
    }
    drop((memory, sort_memory, table, work, batch_work));
    engine.finish()
}
