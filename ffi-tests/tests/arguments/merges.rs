//! Invalid mergers, merges and batches of them: the errors, and that nothing has been recorded.

use crate::{
    FOREIGN_DEVICE, Later, MALFORMED, MISALIGNED, NOT_READY, NULL, OVERLAP, Refusals, TOO_LARGE, TOO_SMALL,
    UNKNOWN_VALUE, UNTOUCHED, bad_headers, byte_later, engine, with_header,
};
use anyhow::{Result, ensure};
use ffi_tests::merge::{merge_info, merger_info};
use ffi_tests::sort::sort_info;
use ffi_tests::{batch_info, range, scratch};
use std::ptr;
use trommel::capi::*;

#[test]
fn mergers() -> Result<()> {
    let engine = engine()?;
    let api = &engine.api;
    let good = merger_info();
    let mut refusals = Refusals(api, Vec::new());
    let mut bad = |what: &str, device, info: *const TrmMergerCreateInfo, code, reason: &str| {
        let mut merger = ptr::dangling_mut();
        // SAFETY: pointers are valid, or such that the library finds out.
        let result = unsafe { (api.merge.trmCreateMerger)(device, info, &mut merger) };
        refusals.expect(what, result, code, reason);
        assert!(merger.is_null(), "{what}: there is a handle");
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
    type Set = fn(&mut TrmMergerCreateInfo, i32);
    let enums: [(&str, i32, Set); 6] = [
        ("keyType", TrmKeyType::U32X4 as i32, |info, value| info.key_type = value),
        ("valueType", TrmValueType::Index as i32, |info, value| info.value_type = value),
        ("order", TrmOrder::Descending as i32, |info, value| info.order = value),
        ("layout", TrmLayout::Strided as i32, |info, value| info.layout = value),
        ("method", TrmMergeMethod::CircularBuffer as i32, |info, value| info.method = value),
        ("operation", TrmMergeOperation::Unique as i32, |info, value| info.operation = value),
    ];
    for (name, last, set) in enums {
        for value in [-1, last + 1, i32::MAX, i32::MIN] {
            let mut info = good;
            set(&mut info, value);
            bad(name, engine.device, &info, UNKNOWN_VALUE, &format!("{name} {value} is not a known value"));
        }
    }
    let keyed = |key_type: TrmKeyType| TrmMergerCreateInfo { key_type: key_type as i32, ..good };
    let bytes = |value_size| TrmMergerCreateInfo { value_type: TrmValueType::Bytes as i32, value_size, ..good };
    let laid = |layout: TrmLayout, info| TrmMergerCreateInfo { layout: layout as i32, ..info };
    let dropping = |info| TrmMergerCreateInfo { flags: TRM_MERGER_CREATE_DROP_KEYS_BIT, ..info };
    let indices = TrmMergerCreateInfo { value_type: TrmValueType::Index as i32, ..good };
    let narrow = "keyType is malformed: keys narrower than a word are not merged";
    let multiple = "is not a multiple of 4 from 4 to 4096";
    let items = "layout is malformed: items are a key and a value of 4 to 16 bytes";
    let malformed = [
        ("flags", TrmMergerCreateInfo { flags: 16, ..good }, "flags is malformed: 0x10 has bits beyond 0xf"),
        ("bytes as keys", keyed(TrmKeyType::I8), narrow),
        ("halves", keyed(TrmKeyType::BF16), narrow),
        ("no bytes", bytes(0), &format!("valueSize is malformed: 0 {multiple}")),
        ("odd bytes", bytes(10), &format!("valueSize is malformed: 10 {multiple}")),
        ("many bytes", bytes(4100), &format!("valueSize is malformed: 4100 {multiple}")),
        (
            "bytes without the type",
            TrmMergerCreateInfo { value_size: 8, ..good },
            "8 is not 0, and valueType is not TRM_VALUE_TYPE_BYTES",
        ),
        ("nothing", dropping(good), "flags is malformed: keys are dropped (DROP_KEYS) and there are no values"),
        (
            "one sequence",
            TrmMergerCreateInfo { sequence_count: 1, ..good },
            "sequenceCount is malformed: a merge has two sequences or more",
        ),
        (
            "indices of three sequences",
            TrmMergerCreateInfo { sequence_count: 3, value_type: TrmValueType::Index as i32, ..good },
            "valueType is malformed: indices name one of two sequences",
        ),
        (
            "bounds of pairs",
            TrmMergerCreateInfo { operation: TrmMergeOperation::LowerBound as i32, ..bytes(4) },
            "valueType is malformed: searches take keys only",
        ),
        (
            "sets by another method",
            TrmMergerCreateInfo {
                operation: TrmMergeOperation::Union as i32,
                method: TrmMergeMethod::Basic as i32,
                ..good
            },
            "method is malformed: only merges without segments have methods for comparison",
        ),
        ("strided", laid(TrmLayout::Strided, good), "layout is malformed: sequences are dense"),
        ("no items", laid(TrmLayout::Interleaved, good), items),
        ("long items", laid(TrmLayout::Interleaved, bytes(20)), items),
        ("interleaved indices", laid(TrmLayout::Interleaved, indices), items),
        ("halves of items", laid(TrmLayout::Interleaved, dropping(bytes(4))), items),
    ];
    for (what, info, reason) in &malformed {
        bad(what, engine.device, info, MALFORMED, reason);
    }
    let many = TrmMergerCreateInfo { max_count: (1 << 31) + 1, ..indices };
    let reason = "maxCount 2147483649 > 2147483648, the items that indices reach";
    bad("many indices", engine.device, &many, TOO_LARGE, reason);

    // Comparators: code that is no kernel, or one with another function, and a library without a compiler.
    let words = [0x0723_0203u32, 0x0001_0600, 0, 1, 0];
    let (code, size) = (words.as_ptr(), size_of_val(&words));
    let [bucket, descending]: [Vec<u32>; 2] = [
        &include_bytes!("../../../tests/kernels/spread_u32.spv")[..],
        &include_bytes!("../../../tests/kernels/descending_u32.spv")[..],
    ]
    .map(|bytes| bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect());
    let of_buckets = "code is malformed: it is a kernel with another function than the trm_less of merges";
    let (kernel, kernel_size) = (descending.as_ptr(), size_of_val(&descending[..]));
    let sets = TrmMergerCreateInfo { operation: TrmMergeOperation::Union as i32, ..good };
    let falling = TrmMergerCreateInfo { order: TrmOrder::Descending as i32, ..good };
    let by_method = TrmMergerCreateInfo { method: TrmMergeMethod::Basic as i32, ..good };
    let another_key = "keyType is malformed: F32 is not the key type of the kernel";
    let cases = [
        ("no code", good, ptr::null(), size, NULL, "code is null"),
        ("misaligned code", good, code.wrapping_byte_add(1), size, MISALIGNED, "code"),
        ("odd code", good, code, size - 1, MISALIGNED, "codeSize 0x13 is not a multiple of 4"),
        ("an empty module", good, code, size, MALFORMED, "code is malformed: it has no compute kernel called main"),
        ("a bucket function", good, bucket.as_ptr(), size_of_val(&bucket[..]), MALFORMED, of_buckets),
        ("another key type", keyed(TrmKeyType::F32), kernel, kernel_size, MALFORMED, another_key),
        ("sets", sets, kernel, kernel_size, MALFORMED, "operation is malformed: comparators are of merges alone"),
        ("an order", falling, kernel, kernel_size, MALFORMED, "order is malformed: the comparator is the order"),
        ("a method", by_method, kernel, kernel_size, MALFORMED, "method is malformed: merges with a comparator"),
    ];
    for (what, info, code, size, error, reason) in cases {
        let mut merger = ptr::dangling_mut();
        // SAFETY: pointers are valid, or such that the library finds out.
        let result = unsafe { (api.merge.trmCreateMergerFromSpirv)(engine.device, &info, code, size, &mut merger) };
        refusals.expect(what, result, error, reason);
        assert!(merger.is_null(), "{what}: there is a handle");
        // SAFETY: as above.
        let result = unsafe { (api.merge.trmCreateMergerFromGlsl)(engine.device, &info, ptr::null(), &mut merger) };
        refusals.expect(what, result, TrmResult::TrmErrorNotBuilt as i32, "runtime-shaders");
    }

    let few = engine.merger_of(&TrmMergerCreateInfo { max_count: 1000, ..good })?;
    let deferred = engine.merger_of(&TrmMergerCreateInfo { flags: TRM_MERGER_CREATE_DEFERRED_BIT, ..good })?;
    let (mut size, mut count, mut ready) = (UNTOUCHED, 7, 7);
    // SAFETY: pointers are valid, or such that the library finds out.
    unsafe {
        let limit = "countA.max + countB.max 1001 > 1000, the merger's maxCount";
        let (none, null) = (ptr::null_mut(), "merger is null");
        let merge = &api.merge;
        refusals.expect("no output", (merge.trmCreateMerger)(engine.device, &good, ptr::null_mut()), NULL, null);
        refusals.expect("no merger", (merge.trmGetMergerScratch)(none, 1, &mut size), NULL, null);
        refusals.expect("no size", (merge.trmGetMergerScratch)(few, 1, ptr::null_mut()), NULL, "size is null");
        refusals.expect("too many", (merge.trmGetMergerScratch)(few, 1001, &mut size), TOO_LARGE, limit);
        refusals.expect("no merger", (merge.trmGetMergerTimestampCount)(none, 1, &mut count), NULL, null);
        refusals.expect("no count", (merge.trmGetMergerTimestampCount)(few, 1, ptr::null_mut()), NULL, "count is null");
        refusals.expect("too many", (merge.trmGetMergerTimestampCount)(few, 1001, &mut count), TOO_LARGE, limit);
        refusals.expect("nothing to compile", (merge.trmCompileMerger)(none), NULL, null);
        let odd = byte_later(few).cast_mut();
        refusals.expect("odd merger", (merge.trmCompileMerger)(odd), MISALIGNED, "merger");
        refusals.expect("no merger", (merge.trmGetMergerReady)(none, &mut ready), NULL, null);
        refusals.expect("no answer", (merge.trmGetMergerReady)(few, ptr::null_mut()), NULL, "ready is null");
        assert_eq!((size, count, ready), (UNTOUCHED, 7, 7), "outputs are written on success only");

        assert_eq!(((merge.trmGetMergerReady)(few, &mut ready), ready), (0, 1));
        assert_eq!(((merge.trmGetMergerReady)(deferred, &mut ready), ready), (0, 0));
        assert_eq!((merge.trmCompileMerger)(deferred), 0, "{}", api.last_error());
        assert_eq!(((merge.trmGetMergerReady)(deferred, &mut ready), ready), (0, 1));
        // Both sequences together may have 2^32 - 1 items by default.
        assert_eq!((merge.trmGetMergerScratch)(deferred, u32::MAX, &mut size), 0, "{}", api.last_error());
        (merge.trmDestroyMerger)(deferred);
        (merge.trmDestroyMerger)(few);
        (merge.trmDestroyMerger)(ptr::null_mut());
    }
    refusals.finish()?;
    engine.finish()
}

#[test]
fn merges() -> Result<()> {
    const COUNT: u32 = 1500;
    /// Four arrays of as many, and two outputs of twice as many.
    const WORDS: usize = 12_000;
    const WORD: u32 = 0xdead_beef;
    // Takes scratch.
    let engine = engine()?.with_small_merges()?;
    let (api, context) = (&engine.api, &engine.context);
    let pairs = TrmMergerCreateInfo { value_type: TrmValueType::U32 as i32, max_count: 1 << 20, ..merger_info() };
    let (merger, other) = (engine.merger_of(&pairs)?, engine.merger_of(&pairs)?);
    let deferred =
        engine.merger_of(&TrmMergerCreateInfo { flags: TRM_MERGER_CREATE_DEFERRED_BIT, max_count: 0, ..pairs })?;
    let (mut second_device, mut foreign, mut without_batches) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let with_batches = TrmMergerCreateInfo { flags: TRM_MERGER_CREATE_BATCHES_BIT, ..pairs };
    // SAFETY: the infos are valid.
    unsafe {
        assert_eq!((api.trmCreateDevice)(&engine.device_info(), &mut second_device), 0);
        assert_eq!((api.merge.trmCreateMerger)(second_device, &with_batches, &mut foreign), 0);
        assert_eq!((api.merge.trmCreateMerger)(engine.device, &pairs, &mut without_batches), 0);
    }
    let unique = engine.merger_of(&TrmMergerCreateInfo { operation: TrmMergeOperation::Unique as i32, ..pairs })?;
    let memory = context.upload(&[WORD; WORDS])?;
    let part = |index: u64, size| TrmRange { address: memory.address() + index * 6000, size };
    let work = engine.merge_scratch(merger, 1 << 20)?;
    let mut required = 0;
    // SAFETY: the merger is one.
    assert_eq!(unsafe { (api.merge.trmGetMergerScratch)(merger, 2 * COUNT, &mut required) }, 0);
    assert!(required > 0, "refusals of scratch need some");
    let few = TrmCount { max: COUNT, address: 0 };
    let good = TrmMergeInfo {
        merger,
        count_a: few,
        count_b: few,
        keys_a: part(0, 6000),
        values_a: part(1, 6000),
        keys_b: part(2, 6000),
        values_b: part(3, 6000),
        keys_out: part(4, 12_000),
        values_out: part(6, 12_000),
        scratch: scratch(&work),
        ..merge_info()
    };
    let mut refusals = Refusals(api, Vec::new());
    context.run(|commands| {
        let mut bad = |what: &str, info: *const TrmMergeInfo, code, reason: &str| {
            // SAFETY: pointers are valid, or such that the library finds out.
            let result = unsafe { (api.merge.trmCmdMerge)(commands, merger, info) };
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
        let reason = "info.merger is malformed: it is neither NULL nor the merger given";
        bad("another merger", &TrmMergeInfo { merger: other, ..good }, MALFORMED, reason);

        let counts = |a, b| TrmMergeInfo {
            count_a: TrmCount { max: a, address: 0 },
            count_b: TrmCount { max: b, address: 0 },
            ..good
        };
        let limit = "countA.max + countB.max 1048577 > 1048576, the merger's maxCount";
        bad("too many", &counts(1 << 20, 1), TOO_LARGE, limit);
        bad("too many", &counts(1, 1 << 20), TOO_LARGE, limit);
        let limit = "countA.max + countB.max 4294967296 > 4294967295, a 32-bit count";
        bad("more than a count holds", &counts(1, u32::MAX), TOO_LARGE, limit);
        let shorter = "keysA.size 6000 < 6004 required for maxCount 1501";
        bad("more than there are", &counts(COUNT + 1, 0), TOO_SMALL, shorter);
        let count_a = |address| TrmMergeInfo { count_a: TrmCount { address, ..few }, ..good };
        let count_b = |address| TrmMergeInfo { count_b: TrmCount { address, ..few }, ..good };
        bad("odd count", &count_a(memory.address() + 2), MISALIGNED, "countA.address");
        bad("odd count", &count_b(memory.address() + 1), MISALIGNED, "countB.address");
        bad("count in the output", &count_a(good.keys_out.address + 8), OVERLAP, "keysOut and countA overlap");
        bad("count in the output", &count_b(good.values_out.address), OVERLAP, "valuesOut and countB overlap");
        bad("odd status", &TrmMergeInfo { status: 6, ..good }, MISALIGNED, "status 0x6 is not a multiple of 4");
        let odd = TrmMergeInfo { count_out: 6, ..good };
        bad("odd count out", &odd, MISALIGNED, "countOut 0x6 is not a multiple of 4");
        let status = TrmMergeInfo { status: good.keys_b.address, ..good };
        bad("status among the keys", &status, OVERLAP, "keysB and status overlap");
        let status = TrmMergeInfo { status: memory.address(), ..count_a(memory.address()) };
        bad("status for a count", &status, OVERLAP, "status overlap");

        type Set = fn(&mut TrmMergeInfo, TrmRange);
        let ranges: [(&str, u64, u64, Set); 6] = [
            ("keysA", 0, 6000, |info, range| info.keys_a = range),
            ("valuesA", 1, 6000, |info, range| info.values_a = range),
            ("keysB", 2, 6000, |info, range| info.keys_b = range),
            ("valuesB", 3, 6000, |info, range| info.values_b = range),
            ("keysOut", 4, 12_000, |info, range| info.keys_out = range),
            ("valuesOut", 6, 12_000, |info, range| info.values_out = range),
        ];
        for (name, index, size, set) in ranges {
            let with = |range| {
                let mut info = good;
                set(&mut info, range);
                info
            };
            bad(name, &with(TrmRange { address: 0, size }), NULL, &format!("{name}.address is null"));
            let odd = TrmRange { address: part(index, 0).address + 2, size };
            bad(name, &with(odd), MISALIGNED, &format!("{name}.address"));
            let reason = format!("{name}.size {} < {size} required for maxCount {}", size - 1, size / 4);
            bad(name, &with(part(index, size - 1)), TOO_SMALL, &reason);
            let there = TrmRange { address: work.address(), size };
            bad(name, &with(there), OVERLAP, &format!("{name} and scratch overlap"));
            let last = TrmRange { address: (u64::MAX - size + 1) & !3, size: 1 << 40 };
            bad(name, &with(last), TOO_LARGE, "the end of the address space");
        }
        let marked = TrmMergeInfo { marks: part(9, 400), ..good };
        bad("marks", &marked, MALFORMED, "marks is malformed: the merger's operation is not an update");
        let addressed = TrmMergeInfo { user_address: 4, ..good };
        bad("user address", &addressed, MALFORMED, "userAddress is malformed: the merger has no comparator");
        let worded = TrmMergeInfo { user_words: [0, 0, 1, 0], ..good };
        bad("user words", &worded, MALFORMED, "userWords is malformed: the merger has no comparator");
        let mut cut = good;
        cut.segments.count.max = 1;
        bad("segments", &cut, MALFORMED, "segments is malformed: the merger is not segmented");
        let into = |keys_out| TrmMergeInfo { keys_out, ..good };
        bad("in place", &into(part(0, 12_000)), OVERLAP, "keysA and keysOut overlap");
        bad("into the values of B", &into(part(3, 12_000)), OVERLAP, "valuesB and keysOut overlap");
        bad("both in one", &into(part(5, 12_000)), OVERLAP, "keysOut and valuesOut overlap");

        let with_scratch = |scratch| TrmMergeInfo { scratch, ..good };
        let little = TrmScratch { size: required - 1, ..scratch(&work) };
        let too_small = format!("scratch.size {} < {required} required for maxCount 3000", required - 1);
        bad("little scratch", &with_scratch(little), TOO_SMALL, &too_small);
        bad("no scratch", &with_scratch(TrmScratch::default()), TOO_SMALL, "scratch.size 0 <");
        let no_buffer = TrmScratch { buffer: VkBuffer::default(), ..scratch(&work) };
        bad("no scratch buffer", &with_scratch(no_buffer), NULL, "scratch.buffer is null");
        bad("odd scratch", &with_scratch(TrmScratch { offset: 2, ..scratch(&work) }), MISALIGNED, "scratch.offset 0x2");

        // SAFETY: pointers are valid, or such that the library finds out.
        unsafe {
            let cmd_merge = api.merge.trmCmdMerge;
            let (null, none) = (VkCommandBuffer::default(), ptr::null_mut());
            refusals.expect("no command buffer", cmd_merge(null, merger, &good), NULL, "commandBuffer is null");
            refusals.expect("no merger", cmd_merge(commands, none, &good), NULL, "merger is null");
            let odd = merger.wrapping_byte_add(4);
            refusals.expect("odd merger", cmd_merge(commands, odd, &good), MISALIGNED, "merger");
            let alone = TrmMergeInfo { merger: none, ..good };
            refusals.expect("not ready", cmd_merge(commands, deferred, &alone), NOT_READY, "merger is not ready");
            let reason = format!("countB.max {COUNT} > 0, unique items are those of A");
            refusals.expect("B of unique items", cmd_merge(commands, unique, &alone), TOO_LARGE, &reason);
        }
        Ok(())
    })?;

    // Beside a sort of other keys, or of the same.
    let sorter = engine.sorter(TrmValueType::None)?;
    let sort_memory = context.upload(&[WORD; 100])?;
    let sort = |keys| TrmSortInfo { sorter, count: TrmCount { max: 100, address: 0 }, keys, ..sort_info() };
    let short = |range: TrmRange| TrmRange { size: 400, ..range };
    let (apart, on_input, on_output) =
        (sort(range(&sort_memory)), sort(short(good.keys_b)), sort(short(good.values_out)));
    let as_header = |info: &TrmMergeInfo| (&raw const *info).cast::<TrmInfoHeader>();
    let sort_header = |info: &TrmSortInfo| (&raw const *info).cast::<TrmInfoHeader>();
    let both = [sort_header(&apart), as_header(&good)];
    let mut batch = batch_info(&both);
    let mut size = 0;
    // SAFETY: the infos are valid.
    assert_eq!(unsafe { (api.trmGetBatchScratch)(&batch, &mut size) }, 0, "{}", api.last_error());
    let batch_work = context.buffer(size)?;
    batch.scratch = scratch(&batch_work);
    context.run(|commands| {
        let mut with = |what: &str, sort: &TrmSortInfo, merge: &TrmMergeInfo, code, reason: &str| {
            let infos = [sort_header(sort), as_header(merge)];
            // SAFETY: pointers are valid, or such that the library finds out.
            let result = unsafe { (api.trmCmdBatch)(commands, &TrmBatchInfo { infos: infos.as_ptr(), ..batch }) };
            refusals.expect(what, result, code, reason);
        };
        for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
            with(what, &apart, &with_header(&good, header), code, reason);
        }
        let a_sort = TrmMergeInfo { s_type: TrmStructureType::SortInfo as i32, user_address: 4, ..good };
        with(
            "a merge that is a sort",
            &apart,
            &a_sort,
            MALFORMED,
            "TrmSortInfo is malformed: of 328 bytes, those past 216",
        );
        let set = |merger| TrmMergeInfo { merger, ..good };
        with("no merger", &apart, &set(ptr::null_mut()), NULL, "merger is null");
        with("odd merger", &apart, &set(byte_later(merger).cast_mut()), MISALIGNED, "merger");
        with("another device's", &apart, &set(foreign), FOREIGN_DEVICE, "merger was created on another device");
        let reason = "merger is malformed: it was created without batches (BATCHES)";
        with("without batches", &apart, &set(without_batches), MALFORMED, reason);
        with("not ready", &apart, &set(deferred), NOT_READY, "merger is not ready");
        with("input is sorted", &on_input, &good, OVERLAP, "keysB and keys overlap");
        with("output is sorted", &on_output, &good, OVERLAP, "valuesOut and keys overlap");
        let count_b = TrmMergeInfo { count_b: TrmCount { address: sort_memory.address(), ..few }, ..good };
        with("count is sorted", &apart, &count_b, OVERLAP, "countB and keys overlap");
        let many = TrmMergeInfo { count_b: TrmCount { max: 1 << 20, address: 0 }, ..good };
        let limit = "countA.max + countB.max 1050076 > 1048576, the merger's maxCount";
        with("too many", &apart, &many, TOO_LARGE, limit);
        let there = TrmMergeInfo { keys_out: TrmRange { address: batch_work.address(), size: 12_000 }, ..good };
        with("output in scratch", &apart, &there, OVERLAP, "keysOut and scratch overlap");
        Ok(())
    })?;
    refusals.finish()?;
    ensure!(context.download::<u32>(&memory, WORDS)? == [WORD; WORDS], "something has been recorded");
    ensure!(context.download::<u32>(&sort_memory, 100)? == [WORD; 100], "something has been recorded");

    // Ranges that a merge has no use for are not looked at: those of an empty sequence, and all without items.
    let none = TrmRange { address: 3, size: 1 };
    let nothing = TrmCount::default();
    let a_alone = TrmMergeInfo { count_b: nothing, keys_b: none, values_b: none, ..good };
    let all_none = TrmMergeInfo { count_a: nothing, keys_a: none, values_a: none, ..a_alone };
    let empty = TrmMergeInfo { keys_out: none, values_out: none, scratch: TrmScratch::default(), ..all_none };
    context.run(|commands| {
        for info in [&a_alone, &empty] {
            // SAFETY: everything is valid and lives until it has run.
            assert_eq!(unsafe { (api.merge.trmCmdMerge)(commands, merger, info) }, 0, "{}", api.last_error());
        }
        Ok(())
    })?;
    // SAFETY: nobody uses them.
    unsafe {
        (api.sort.trmDestroySorter)(sorter);
        for merger in [foreign, without_batches, deferred, unique, other, merger] {
            (api.merge.trmDestroyMerger)(merger);
        }
        (api.trmDestroyDevice)(second_device);
    }
    drop((memory, sort_memory, work, batch_work));
    engine.finish()
}
