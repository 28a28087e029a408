//! Invalid splitters, splits, and batches of splits: their errors, and that nothing has been recorded.

use crate::{
    FOREIGN_DEVICE, Later, MALFORMED, MISALIGNED, NULL, OVERLAP, Refusals, TOO_LARGE, TOO_SMALL, UNKNOWN_VALUE,
    UNTOUCHED, bad_headers, byte_later, engine, with_header,
};
use anyhow::{Result, ensure};
use ffi_tests::sort::sort_info;
use ffi_tests::split::{split_info, splitter_info};
use ffi_tests::{batch_info, range, scratch};
use std::ptr;
use trommel::capi::*;

fn by_ranges(info: TrmSplitterCreateInfo) -> TrmSplitterCreateInfo {
    TrmSplitterCreateInfo { bucket_function: TrmBucketFunction::Range as i32, ..info }
}

#[test]
fn splitters() -> Result<()> {
    let engine = engine()?;
    let api = &engine.api;
    let good = splitter_info();
    let mut refusals = Refusals(api, Vec::new());
    let mut bad = |what: &str, device, info: *const TrmSplitterCreateInfo, code, reason: &str| {
        let mut splitter = ptr::dangling_mut();
        // SAFETY: pointers are valid, or invalid in a way that the library detects.
        let result = unsafe { (api.split.trmCreateSplitter)(device, info, &mut splitter) };
        refusals.expect(what, result, code, reason);
        assert!(splitter.is_null(), "{what}: there is a handle");
    };
    bad("no device", ptr::null_mut(), &good, NULL, "device is null");
    bad("misaligned device", engine.device.wrapping_byte_add(1), &good, MISALIGNED, "device");
    bad("no info", engine.device, ptr::null(), NULL, "info is null");
    for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::SorterCreateInfo) {
        bad(what, engine.device, &with_header(&good, header), code, reason);
    }
    type Set = fn(&mut TrmSplitterCreateInfo, i32);
    let enums: [(&str, i32, Set); 6] = [
        ("keyType", TrmKeyType::U32X4 as i32, |info, value| info.key_type = value),
        ("valueType", TrmValueType::Index as i32, |info, value| info.value_type = value),
        ("strategy", TrmStrategy::RingInOrder as i32, |info, value| info.strategy = value),
        ("bucketFunction", TrmBucketFunction::User as i32, |info, value| info.bucket_function = value),
        ("layout", TrmLayout::Strided as i32, |info, value| info.layout = value),
        ("output", TrmSplitOutput::Ranks as i32, |info, value| info.output = value),
    ];
    for (name, last, set) in enums {
        for value in [-1, last + 1, i32::MAX, i32::MIN] {
            let mut info = good;
            set(&mut info, value);
            bad(name, engine.device, &info, UNKNOWN_VALUE, &format!("{name} {value} is not a known value"));
        }
    }
    let buckets = |bucket_count| TrmSplitterCreateInfo { bucket_count, ..good };
    let bits = |bucket_count, begin_bit| TrmSplitterCreateInfo { begin_bit, ..buckets(bucket_count) };
    let keyed = |key_type: TrmKeyType, info| TrmSplitterCreateInfo { key_type: key_type as i32, ..info };
    let bytes = |value_size| TrmSplitterCreateInfo { value_type: TrmValueType::Bytes as i32, value_size, ..good };
    let malformed = [
        ("flags", TrmSplitterCreateInfo { flags: 16, ..good }, "flags is malformed: 0x10 has bits beyond 0xf"),
        ("no buckets", buckets(0), "bucketCount is malformed: 0 is not 1 to 65536"),
        ("many buckets", buckets(65_537), "bucketCount is malformed: 65537 is not 1 to 65536"),
        ("a bit of ranges", by_ranges(bits(2, 1)), "beginBit is malformed: 1 is not 0, and bucketFunction is not"),
        (
            "ranges of floats",
            by_ranges(keyed(TrmKeyType::F32, good)),
            "bucketFunction is malformed: ranges need integer keys of 32 or 64 bits",
        ),
        ("ranges of longer keys", by_ranges(keyed(TrmKeyType::U32X3, good)), "bucketFunction is malformed"),
        (
            "two words",
            keyed(TrmKeyType::U64, bits(4, 31)),
            "beginBit is malformed: bits 31 to 33 cross a word boundary",
        ),
        ("no bytes", bytes(0), "valueSize is malformed: 0 is not a multiple of 4"),
        ("odd bytes", bytes(10), "valueSize is malformed: 10 is not a multiple of 4"),
        ("many bytes", bytes(20), "valueSize is malformed: 20 is more than 16"),
        (
            "bytes without the type",
            TrmSplitterCreateInfo { value_size: 8, ..good },
            "valueType is not TRM_VALUE_TYPE_BYTES",
        ),
        (
            "nothing",
            TrmSplitterCreateInfo { flags: TRM_SPLITTER_CREATE_DROP_KEYS_BIT, ..good },
            "flags is malformed: keys are dropped (DROP_KEYS) and there are no values: nothing is left",
        ),
        (
            "no items",
            TrmSplitterCreateInfo { layout: TrmLayout::Interleaved as i32, ..good },
            "layout is malformed: items are a key and a value of 4 to 16 bytes",
        ),
    ];
    for (what, info, reason) in &malformed {
        bad(what, engine.device, info, MALFORMED, reason);
    }
    let output = |output: TrmSplitOutput, info| TrmSplitterCreateInfo { output: output as i32, ..info };
    let (bucket, stays) = (output(TrmSplitOutput::Bucket, good), "output is malformed: no items are written");
    let outputs = [
        (
            "no such bucket",
            TrmSplitterCreateInfo { output_bucket: 2, ..bucket },
            "outputBucket is malformed: 2 is none of 2 buckets",
        ),
        (
            "a bucket of all",
            TrmSplitterCreateInfo { output_bucket: 1, ..good },
            "outputBucket is malformed: 1 is not 0",
        ),
        ("values of ranks", output(TrmSplitOutput::Ranks, bytes(8)), stays),
        ("counts of pairs", output(TrmSplitOutput::Counts, bytes(8)), stays),
        (
            "narrow keys",
            output(TrmSplitOutput::Placed, keyed(TrmKeyType::U8, good)),
            "output is malformed: keys narrower than a word",
        ),
        ("many ranks", output(TrmSplitOutput::Ranks, buckets(257)), "output is malformed: more than 256 buckets"),
        ("reserved", TrmSplitterCreateInfo { reserved: 1, ..good }, "reserved is malformed: 0x1 has bits beyond 0x0"),
        (
            "subgroups by look-back",
            TrmSplitterCreateInfo {
                method: TrmSplitMethod::Subgroup as i32,
                strategy: TrmStrategy::Lookback as i32,
                ..good
            },
            "method is malformed: the subgroup methods need reduce-then-scan",
        ),
        (
            "one bucket of segments",
            TrmSplitterCreateInfo { flags: TRM_SPLITTER_CREATE_SEGMENTED_BIT, ..bucket },
            "output is malformed: segmented splits write all items, grouped by bucket",
        ),
        (
            "counts by look-back",
            TrmSplitterCreateInfo { strategy: TrmStrategy::Lookback as i32, ..output(TrmSplitOutput::Counts, good) },
            "strategy is malformed: counts need reduce-then-scan",
        ),
    ];
    for (what, info, reason) in &outputs {
        bad(what, engine.device, info, MALFORMED, reason);
    }
    let too_large = [
        ("bits", bits(2, 32), "beginBit 32 > 31, the last position of a field that numbers the buckets"),
        ("a field", bits(5, 30), "beginBit 30 > 29, the last position of a field that numbers the buckets"),
        (
            "all bits",
            bits(2, u32::MAX),
            "beginBit 4294967295 > 31, the last position of a field that numbers the buckets",
        ),
        (
            "narrow bits",
            keyed(TrmKeyType::F16, bits(256, 9)),
            "beginBit 9 > 8, the last position of a field that numbers the buckets",
        ),
        (
            "many narrow keys",
            keyed(TrmKeyType::U8, TrmSplitterCreateInfo { max_count: (1 << 30) + 1, ..good }),
            "maxCount 1073741825 > 1073741824, the most keys narrower",
        ),
    ];
    for (what, info, reason) in too_large {
        bad(what, engine.device, &info, TOO_LARGE, reason);
    }

    // User-defined functions: code that is no kernel, and a library without a compiler.
    let own = TrmSplitterCreateInfo { bucket_function: TrmBucketFunction::User as i32, ..good };
    let words = [0x0723_0203u32, 0x0001_0600, 0, 1, 0];
    let (code, size) = (words.as_ptr(), size_of_val(&words));
    let cases = [
        ("no code", &own, ptr::null(), size, NULL, "code is null"),
        ("misaligned code", &own, code.wrapping_byte_add(1), size, MISALIGNED, "code"),
        ("odd code", &own, code, size - 1, MISALIGNED, "codeSize 0x13 is not a multiple of 4"),
        (
            "no words of code",
            &own,
            code,
            0,
            MALFORMED,
            "code is malformed: it is not SPIR-V in this machine's byte order",
        ),
        ("an empty module", &own, code, size, MALFORMED, "code is malformed: it has no compute kernel called main"),
    ];
    for (what, info, code, size, error, reason) in cases {
        let mut splitter = ptr::dangling_mut();
        // SAFETY: pointers are valid, or invalid in a way that the library detects.
        let result = unsafe { (api.split.trmCreateSplitterFromSpirv)(engine.device, info, code, size, &mut splitter) };
        refusals.expect(what, result, error, reason);
        assert!(splitter.is_null(), "{what}: there is a handle");
        // SAFETY: as above.
        let result = unsafe { (api.split.trmCreateSplitterFromGlsl)(engine.device, info, ptr::null(), &mut splitter) };
        refusals.expect(what, result, TrmResult::TrmErrorNotBuilt as i32, "runtime-shaders");
    }

    let few = engine.splitter_of(&TrmSplitterCreateInfo { max_count: 1000, ..good })?;
    let (mut size, mut count) = (UNTOUCHED, 7);
    // SAFETY: pointers are valid, or invalid in a way that the library detects.
    unsafe {
        let limit = "count.max 1001 > 1000, the splitter's maxCount";
        refusals.expect(
            "no output",
            (api.split.trmCreateSplitter)(engine.device, &good, ptr::null_mut()),
            NULL,
            "splitter is null",
        );
        refusals.expect(
            "no splitter",
            (api.split.trmGetSplitterScratch)(ptr::null_mut(), 1, &mut size),
            NULL,
            "splitter is null",
        );
        refusals.expect("no size", (api.split.trmGetSplitterScratch)(few, 1, ptr::null_mut()), NULL, "size is null");
        refusals.expect("too many", (api.split.trmGetSplitterScratch)(few, 1001, &mut size), TOO_LARGE, limit);
        let null = ptr::null_mut();
        refusals.expect(
            "no splitter",
            (api.split.trmGetSplitterTimestampCount)(null, 1, &mut count),
            NULL,
            "splitter is null",
        );
        refusals.expect(
            "no count",
            (api.split.trmGetSplitterTimestampCount)(few, 1, ptr::null_mut()),
            NULL,
            "count is null",
        );
        refusals.expect("too many", (api.split.trmGetSplitterTimestampCount)(few, 1001, &mut count), TOO_LARGE, limit);
        assert_eq!((size, count), (UNTOUCHED, 7), "outputs are written on success only");
        (api.split.trmDestroySplitter)(few);
        (api.split.trmDestroySplitter)(ptr::null_mut());
    }
    refusals.finish()?;
    engine.finish()
}

#[test]
fn splits() -> Result<()> {
    const COUNT: u32 = 1000;
    /// Words of eight arrays of equal size.
    const WORDS: usize = 8000;
    const WORD: u32 = 0xdead_beef;
    let engine = engine()?;
    let (api, context) = (&engine.api, &engine.context);
    // Ranking by subgroups needs scratch even for few items.
    let method = TrmSplitMethod::Subgroup as i32;
    let pairs =
        TrmSplitterCreateInfo { value_type: TrmValueType::U32 as i32, bucket_count: 10, method, ..splitter_info() };
    let (splitter, by_range) = (engine.splitter_of(&pairs)?, engine.splitter_of(&by_ranges(pairs))?);
    let mut second_device = ptr::null_mut();
    let mut foreign = ptr::null_mut();
    // SAFETY: the infos are valid.
    unsafe {
        assert_eq!((api.trmCreateDevice)(&engine.device_info(), &mut second_device), 0);
        assert_eq!(
            (api.split.trmCreateSplitter)(
                second_device,
                &TrmSplitterCreateInfo { flags: TRM_SPLITTER_CREATE_BATCHES_BIT, ..pairs },
                &mut foreign
            ),
            0
        );
    }
    let memory = context.upload(&[WORD; WORDS])?;
    let part = |index: u64, size| TrmRange { address: memory.address() + index * 4000, size };
    let work = engine.split_scratch(splitter, COUNT)?;
    let good = TrmSplitInfo {
        splitter,
        count: TrmCount { max: COUNT, address: 0 },
        keys: part(0, 4000),
        values: part(1, 4000),
        keys_out: part(2, 4000),
        values_out: part(3, 4000),
        offsets: part(4, 44),
        counts: part(5, 40),
        commands: part(6, 120),
        command_items: 1,
        scratch: scratch(&work),
        ..split_info()
    };
    let odd = |index: u64| TrmRange { address: memory.address() + index * 4000 + 2, size: 4000 };
    let none = TrmRange::default();
    let mut refusals = Refusals(api, Vec::new());
    context.run(|commands| {
        let mut bad = |what: &str, info: *const TrmSplitInfo, code, reason: &str| {
            // SAFETY: pointers are valid, or invalid in a way that the library detects.
            let result = unsafe { (api.split.trmCmdSplit)(commands, splitter, info) };
            refusals.expect(what, result, code, reason);
        };
        bad("no info", ptr::null(), NULL, "info is null");
        bad("misaligned info", byte_later(&good), MISALIGNED, "is not a multiple of 8");
        for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::SortInfo) {
            bad(what, &with_header(&good, header), code, reason);
        }
        let mut later = Later { info: good, tail: [0, 1 << 63] };
        later.info.struct_size += 16;
        bad("unknown members", &later.info, MALFORMED, "are of a later version and not zero");
        bad(
            "another splitter",
            &TrmSplitInfo { splitter: by_range, ..good },
            MALFORMED,
            "neither NULL nor the splitter given",
        );
        let counted = |max, address| TrmSplitInfo { count: TrmCount { max, address }, ..good };
        bad(
            "too many",
            &counted((1 << 30) + 1, 0),
            TOO_LARGE,
            "count.max 1073741825 > 1073741824, the splitter's maxCount",
        );
        bad("odd count", &counted(COUNT, memory.address() + 2), MISALIGNED, "count.address");
        bad("count among the offsets", &counted(COUNT, good.offsets.address), OVERLAP, "count and offsets overlap");
        bad("odd status", &TrmSplitInfo { status: 6, ..good }, MISALIGNED, "status 0x6 is not a multiple of 4");
        bad(
            "status among the keys",
            &TrmSplitInfo { status: good.keys.address, ..good },
            OVERLAP,
            "keys and status overlap",
        );
        bad("a stride", &TrmSplitInfo { key_stride: 8, ..good }, MALFORMED, "keyStride is malformed: 8 is not 0");
        bad(
            "a width",
            &TrmSplitInfo { width: 5, ..good },
            MALFORMED,
            "width is malformed: 5 is not 0, and the bucket function is not ranges",
        );
        bad("starts", &TrmSplitInfo { starts: good.keys, ..good }, MALFORMED, "starts is malformed");
        let segments = TrmSegments { offsets: good.keys, ..good.segments };
        bad(
            "segments",
            &TrmSplitInfo { segments, ..good },
            MALFORMED,
            "segments is malformed: the splitter is not segmented",
        );
        bad("ids", &TrmSplitInfo { bucket_ids: good.keys, ..good }, MALFORMED, "bucketIds is malformed");
        bad("splitters", &TrmSplitInfo { splitters: good.keys, ..good }, MALFORMED, "splitters is malformed");
        bad(
            "a first key",
            &TrmSplitInfo { low: 5, ..good },
            MALFORMED,
            "low is malformed: 5 is not 0, and the bucket function is not ranges",
        );
        bad("groups of nothing", &TrmSplitInfo { command_items: 0, ..good }, MALFORMED, "commandItems is malformed");

        type Set = fn(&mut TrmSplitInfo, TrmRange);
        let ranges: [(&str, u64, Set); 7] = [
            ("keys", 0, |info, range| info.keys = range),
            ("values", 1, |info, range| info.values = range),
            ("keysOut", 2, |info, range| info.keys_out = range),
            ("valuesOut", 3, |info, range| info.values_out = range),
            ("offsets", 4, |info, range| info.offsets = range),
            ("counts", 5, |info, range| info.counts = range),
            ("commands", 6, |info, range| info.commands = range),
        ];
        for (name, index, set) in ranges {
            let with = |range| {
                let mut info = good;
                set(&mut info, range);
                info
            };
            // Only a range of zeros leaves out a result. A null address with a size is an error.
            let no_address = TrmRange { address: 0, size: 4000 };
            bad(name, &with(no_address), NULL, &format!("{name}.address is null"));
            bad(name, &with(odd(index)), MISALIGNED, &format!("{name}.address"));
            bad(name, &with(part(index, 39)), TOO_SMALL, &format!("{name}.size 39 < "));
            bad(
                name,
                &with(TrmRange { address: work.address(), size: 4000 }),
                OVERLAP,
                &format!("{name} and scratch overlap"),
            );
            if index >= 2 {
                bad(name, &with(part(0, 4000)), OVERLAP, &format!("keys and {name} overlap"));
            }
            let last = TrmRange { address: (u64::MAX - 39) & !3, size: 1 << 40 };
            bad(name, &with(last), TOO_LARGE, "the end of the address space");
        }

        let with_scratch = |scratch| TrmSplitInfo { scratch, ..good };
        let little = TrmScratch { size: work.size() - 1, ..scratch(&work) };
        let too_small = format!("scratch.size {} < {} required for maxCount 1000", work.size() - 1, work.size());
        bad("little scratch", &with_scratch(little), TOO_SMALL, &too_small);
        let no_buffer = TrmScratch { buffer: VkBuffer::default(), ..scratch(&work) };
        bad("no scratch buffer", &with_scratch(no_buffer), NULL, "scratch.buffer is null");
        bad("odd scratch", &with_scratch(TrmScratch { offset: 2, ..scratch(&work) }), MISALIGNED, "scratch.offset 0x2");

        // SAFETY: pointers are valid, or invalid in a way that the library detects.
        unsafe {
            let null = VkCommandBuffer::default();
            refusals.expect(
                "no command buffer",
                (api.split.trmCmdSplit)(null, splitter, &good),
                NULL,
                "commandBuffer is null",
            );
            refusals.expect(
                "no splitter",
                (api.split.trmCmdSplit)(commands, ptr::null_mut(), &good),
                NULL,
                "splitter is null",
            );
            let odd = splitter.wrapping_byte_add(4);
            refusals.expect("odd splitter", (api.split.trmCmdSplit)(commands, odd, &good), MISALIGNED, "splitter");
            let no_width = TrmSplitInfo { splitter: by_range, ..good };
            let result = (api.split.trmCmdSplit)(commands, by_range, &no_width);
            refusals.expect("no width", result, MALFORMED, "width is malformed: a bucket has at least one key");
        }
        Ok(())
    })?;
    ensure!(context.download::<u32>(&memory, WORDS)? == [WORD; WORDS], "something has been recorded");

    // Without requested results, the split is valid with commandItems 0.
    let unwanted = TrmSplitInfo { offsets: none, counts: none, commands: none, command_items: 0, ..good };
    context.run(|commands| {
        // SAFETY: everything is valid and lives until it has run.
        assert_eq!(unsafe { (api.split.trmCmdSplit)(commands, splitter, &unwanted) }, 0, "{}", api.last_error());
        Ok(())
    })?;

    // A batch with a sort, which must not overlap the arrays of the split.
    let sorter = engine.sorter(TrmValueType::None)?;
    let few = |range: TrmRange| TrmRange { size: 400, ..range };
    let sort = |keys| TrmSortInfo { sorter, count: TrmCount { max: 100, address: 0 }, keys, ..sort_info() };
    let (apart, on_input, on_output) = (sort(few(part(7, 0))), sort(few(good.keys)), sort(few(good.values_out)));
    let as_header = |info: &TrmSplitInfo| (&raw const *info).cast::<TrmInfoHeader>();
    let sort_header = |info: &TrmSortInfo| (&raw const *info).cast::<TrmInfoHeader>();
    let both = [sort_header(&apart), as_header(&good)];
    let mut batch = batch_info(&both);
    let mut size = 0;
    // SAFETY: the infos are valid.
    assert_eq!(unsafe { (api.trmGetBatchScratch)(&batch, &mut size) }, 0, "{}", api.last_error());
    let batch_work = context.buffer(size)?;
    batch.scratch = scratch(&batch_work);
    context.run(|commands| {
        let mut with = |what: &str, sort: &TrmSortInfo, split: *const TrmInfoHeader, code, reason: &str| {
            let infos = [sort_header(sort), split];
            // SAFETY: pointers are valid, or invalid in a way that the library detects.
            let result = unsafe { (api.trmCmdBatch)(commands, &TrmBatchInfo { infos: infos.as_ptr(), ..batch }) };
            refusals.expect(what, result, code, reason);
        };
        for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
            with(what, &apart, as_header(&with_header(&good, header)), code, reason);
        }
        with(
            "a split that is a sort",
            &apart,
            as_header(&TrmSplitInfo { s_type: 1001, ..good }),
            MALFORMED,
            "TrmSortInfo",
        );
        let set = |splitter| TrmSplitInfo { splitter, ..good };
        with("no splitter", &apart, as_header(&set(ptr::null_mut())), NULL, "splitter is null");
        with("odd splitter", &apart, as_header(&set(byte_later(splitter).cast_mut())), MISALIGNED, "splitter");
        with("another device's", &apart, as_header(&set(foreign)), FOREIGN_DEVICE, "another device");
        with("no width", &apart, as_header(&set(by_range)), MALFORMED, "width is malformed");
        with("input is sorted", &on_input, as_header(&good), OVERLAP, "keys and keys overlap");
        with("output is sorted", &on_output, as_header(&good), OVERLAP, "valuesOut and keys overlap");
        let many = TrmSplitInfo { count: TrmCount { max: 1 << 31, address: 0 }, ..good };
        with(
            "too many",
            &apart,
            as_header(&many),
            TOO_LARGE,
            "count.max 2147483648 > 1073741824, the splitter's maxCount",
        );
        let there = TrmSplitInfo { counts: range(&batch_work), ..good };
        with("counts in scratch", &apart, as_header(&there), OVERLAP, "counts and scratch overlap");
        Ok(())
    })?;
    refusals.finish()?;
    // SAFETY: the handles are not used any more.
    unsafe {
        (api.sort.trmDestroySorter)(sorter);
        (api.split.trmDestroySplitter)(foreign);
        (api.trmDestroyDevice)(second_device);
        (api.split.trmDestroySplitter)(by_range);
        (api.split.trmDestroySplitter)(splitter);
    }
    drop((memory, work, batch_work));
    engine.finish()
}
