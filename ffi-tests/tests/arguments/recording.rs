//! Invalid sorts and batches: their errors, and that nothing has been recorded.

use crate::{
    FOREIGN_DEVICE, Later, MALFORMED, MISALIGNED, NOT_READY, NULL, OVERLAP, Refusals, TOO_LARGE, TOO_SMALL,
    UNKNOWN_VALUE, UNTOUCHED, bad_headers, byte_later, engine, with_header,
};
use anyhow::{Result, ensure};
use ffi_tests::sort::{sort_info, sorter_info};
use ffi_tests::{batch_info, range, scratch};
use std::ptr;
use trommel::capi::*;

#[test]
fn sorts() -> Result<()> {
    const COUNT: u32 = 10_000;
    let engine = engine()?;
    let (api, context) = (&engine.api, &engine.context);
    let sorter = engine.sorter(TrmValueType::U32)?;
    let other = engine.sorter(TrmValueType::U32)?;
    let data: Vec<u32> = (0..COUNT).rev().collect();
    let (keys, values) = (context.upload(&data)?, context.upload(&data)?);
    let work = engine.scratch(sorter, COUNT)?;
    let small = engine.scratch(sorter, COUNT / 2)?;
    let good = TrmSortInfo {
        count: TrmCount { max: COUNT, address: 0 },
        keys: range(&keys),
        values: range(&values),
        scratch: scratch(&work),
        sorter,
        ..sort_info()
    };
    let mut refusals = Refusals(api, Vec::new());
    context.run(|commands| {
        let mut bad = |what: &str, info: *const TrmSortInfo, code, reason: &str| {
            // SAFETY: pointers are valid, or invalid in a way that the library detects.
            let result = unsafe { (api.sort.trmCmdSort)(commands, sorter, info) };
            refusals.expect(what, result, code, reason);
        };
        bad("no info", ptr::null(), NULL, "info is null");
        bad("misaligned info", byte_later(&good), MISALIGNED, "is not a multiple of 8");
        for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
            bad(what, &with_header(&good, header), code, reason);
        }
        let mut later = Later { info: good, tail: [0, 1 << 63] };
        later.info.struct_size += 16;
        bad(
            "unknown members",
            &later.info,
            MALFORMED,
            "of 232 bytes, those past 216 are of a later version and not zero",
        );
        let addressed = TrmSortInfo { user_address: 4, ..good };
        bad("user address", &addressed, MALFORMED, "userAddress is malformed: the sorter has no comparator");
        let worded = TrmSortInfo { user_words: [0, 0, 1, 0], ..good };
        bad("user words", &worded, MALFORMED, "userWords is malformed: the sorter has no comparator");
        bad("another sorter", &TrmSortInfo { sorter: other, ..good }, MALFORMED, "neither NULL nor the sorter given");

        let count = |max, address| TrmSortInfo { count: TrmCount { max, address }, ..good };
        bad("too many", &count(u32::MAX, 0), TOO_LARGE, "count.max 4294967295 > 1073741824");
        bad(
            "one too many",
            &count((1 << 30) + 1, 0),
            TOO_LARGE,
            "count.max 1073741825 > 1073741824, the sorter's maxCount",
        );
        bad("odd count", &count(COUNT, keys.address() + 2), MISALIGNED, "count.address");
        bad("count among the keys", &count(COUNT, keys.address()), OVERLAP, "keys and count overlap");
        bad(
            "more than there are",
            &count(COUNT + 1, 0),
            TOO_SMALL,
            "keys.size 40000 < 40004 required for maxCount 10001",
        );

        let with_keys = |address, size| TrmSortInfo { keys: TrmRange { address, size }, ..good };
        bad("no keys", &with_keys(0, 40_000), NULL, "keys.address is null");
        bad("odd keys", &with_keys(keys.address() + 1, 40_000), MISALIGNED, "keys.address");
        bad(
            "short keys",
            &with_keys(keys.address(), 39_999),
            TOO_SMALL,
            "keys.size 39999 < 40000 required for maxCount 10000",
        );
        bad(
            "keys past the end",
            &with_keys((u64::MAX - 39_999) & !3, 1 << 40),
            TOO_LARGE,
            "the end of the address space",
        );
        let with_values = |address, size| TrmSortInfo { values: TrmRange { address, size }, ..good };
        bad("no values", &with_values(0, 0), NULL, "values.address is null");
        bad("odd values", &with_values(values.address() + 3, 40_000), MISALIGNED, "values.address");
        bad("short values", &with_values(values.address(), 0), TOO_SMALL, "values.size 0 < 40000");
        bad("values are keys", &with_values(keys.address(), 40_000), OVERLAP, "keys and values overlap");
        bad("values in keys", &with_values(keys.address() + 39_996, 40_000), OVERLAP, "keys and values overlap");
        bad(
            "a stride",
            &TrmSortInfo { key_stride: 4, ..good },
            MALFORMED,
            "keyStride is malformed: 4 is not 0, and the layout",
        );
        let cut = TrmSegments { offsets: range(&keys), count: TrmCount::default() };
        bad(
            "segments",
            &TrmSortInfo { segments: cut, ..good },
            MALFORMED,
            "segments is malformed: the sorter is not segmented",
        );
        bad(
            "values' stride",
            &TrmSortInfo { value_stride: 8, ..good },
            MALFORMED,
            "valueStride is malformed: 8 is not 0",
        );

        let with_scratch = |scratch| TrmSortInfo { scratch, ..good };
        let too_small = format!("scratch.size {} < {} required for maxCount 10000", small.size(), work.size());
        bad("little scratch", &with_scratch(scratch(&small)), TOO_SMALL, &too_small);
        bad("no scratch", &with_scratch(TrmScratch::default()), TOO_SMALL, "scratch.size 0 <");
        let no_buffer = TrmScratch { buffer: VkBuffer::default(), ..scratch(&work) };
        bad("no scratch buffer", &with_scratch(no_buffer), NULL, "scratch.buffer is null");
        bad("odd scratch", &with_scratch(TrmScratch { offset: 2, ..scratch(&work) }), MISALIGNED, "scratch.offset 0x2");
        let in_scratch = TrmRange { address: work.address() + 1024, size: 40_000 };
        bad("keys in scratch", &TrmSortInfo { keys: in_scratch, ..good }, OVERLAP, "keys and scratch overlap");
        bad(
            "status in scratch",
            &TrmSortInfo { status: work.address(), ..good },
            OVERLAP,
            "status and scratch overlap",
        );
        bad("odd status", &TrmSortInfo { status: 6, ..good }, MISALIGNED, "status 0x6 is not a multiple of 4");
        bad(
            "status among the values",
            &TrmSortInfo { status: values.address() + 8, ..good },
            OVERLAP,
            "values and status overlap",
        );

        // SAFETY: pointers are valid, or invalid in a way that the library detects.
        unsafe {
            let null = VkCommandBuffer::default();
            refusals.expect(
                "no command buffer",
                (api.sort.trmCmdSort)(null, sorter, &good),
                NULL,
                "commandBuffer is null",
            );
            refusals.expect(
                "no sorter",
                (api.sort.trmCmdSort)(commands, ptr::null_mut(), &good),
                NULL,
                "sorter is null",
            );
            let odd = sorter.wrapping_byte_add(4);
            refusals.expect("odd sorter", (api.sort.trmCmdSort)(commands, odd, &good), MISALIGNED, "sorter");
        }
        Ok(())
    })?;
    refusals.finish()?;
    assert_eq!(context.download::<u32>(&keys, COUNT as usize)?, data, "nothing has been recorded");
    assert_eq!(context.download::<u32>(&values, COUNT as usize)?, data, "nothing has been recorded");
    // SAFETY: the handles are not used any more.
    unsafe {
        (api.sort.trmDestroySorter)(other);
        (api.sort.trmDestroySorter)(sorter);
    }
    drop((keys, values, work, small));
    engine.finish()
}

/// Arrays that only some sorters have.
#[test]
fn second_arrays_and_strides() -> Result<()> {
    const COUNT: u32 = 100;
    let engine = engine()?;
    let (api, context) = (&engine.api, &engine.context);
    let memory = context.upload(&[UNTOUCHED; 1000])?;
    let part = |index: u64, size| TrmRange { address: memory.address() + index * 1000, size };
    let pairs = TrmSorterCreateInfo { value_type: TrmValueType::U32 as i32, ..sorter_info() };
    let placed = |placement: TrmPlacement, info| TrmSorterCreateInfo { placement: placement as i32, ..info };
    let good = TrmSortInfo {
        count: TrmCount { max: COUNT, address: 0 },
        keys: part(0, 400),
        values: part(1, 400),
        keys_out: part(2, 400),
        values_out: part(3, 400),
        ..sort_info()
    };
    let mut refusals = Refusals(api, Vec::new());
    let mut try_all =
        |sorter: TrmSorterCreateInfo, bad: &[(&str, TrmSortInfo, i32, &str)], fine: &[TrmSortInfo]| -> Result<()> {
            let sorter = engine.sorter_of(&sorter)?;
            let work = engine.scratch(sorter, COUNT)?;
            context.run(|commands| {
                for (what, info, code, reason) in bad {
                    let info = TrmSortInfo { scratch: scratch(&work), ..*info };
                    // SAFETY: pointers are valid, or invalid in a way that the library detects.
                    refusals.expect(what, unsafe { (api.sort.trmCmdSort)(commands, sorter, &info) }, *code, reason);
                }
                Ok(())
            })?;
            ensure!(context.download::<u64>(&memory, 1000)? == [UNTOUCHED; 1000], "something has been recorded");
            context.run(|commands| {
                for info in fine {
                    let info = TrmSortInfo { scratch: scratch(&work), ..*info };
                    // SAFETY: everything is valid and lives until it has run.
                    assert_eq!(unsafe { (api.sort.trmCmdSort)(commands, sorter, &info) }, 0, "{}", api.last_error());
                }
                Ok(())
            })?;
            context.write(&memory, &[UNTOUCHED; 1000])?;
            // SAFETY: the handle is not used any more.
            unsafe { (api.sort.trmDestroySorter)(sorter) };
            Ok(())
        };

    let with_keys = |keys_out| TrmSortInfo { keys_out, ..good };
    let with_values = |values_out| TrmSortInfo { values_out, ..good };
    let odd = TrmRange { address: memory.address() + 2002, size: 400 };
    for placement in [TrmPlacement::Preserve, TrmPlacement::DoubleBuffer] {
        let bad = [
            ("no keys out", with_keys(TrmRange::default()), NULL, "keysOut.address is null"),
            ("no values out", with_values(TrmRange::default()), NULL, "valuesOut.address is null"),
            ("odd", with_keys(odd), MISALIGNED, "keysOut.address"),
            ("odd", with_values(odd), MISALIGNED, "valuesOut.address"),
            ("short", with_keys(part(2, 399)), TOO_SMALL, "keysOut.size 399 < 400 required for maxCount 100"),
            ("short", with_values(part(3, 399)), TOO_SMALL, "valuesOut.size 399 < 400 required for maxCount 100"),
            ("in place", with_keys(good.keys), OVERLAP, "keys and keysOut overlap"),
            ("in place", with_values(good.values), OVERLAP, "values and valuesOut overlap"),
            ("both in one", with_values(good.keys_out), OVERLAP, "keysOut and valuesOut overlap"),
            (
                "count there",
                TrmSortInfo { count: TrmCount { max: COUNT, address: memory.address() + 3396 }, ..good },
                OVERLAP,
                "valuesOut and count overlap",
            ),
            (
                "status there",
                TrmSortInfo { status: memory.address() + 2000, ..good },
                OVERLAP,
                "keysOut and status overlap",
            ),
        ];
        try_all(placed(placement, pairs), &bad, &[good])?;
    }
    // Arrays that a sorter does not use are not checked.
    let none = TrmRange { address: 3, size: 1 };
    try_all(pairs, &[], &[TrmSortInfo { keys_out: none, values_out: none, ..good }])?;
    let argsort = TrmSorterCreateInfo {
        value_type: TrmValueType::Index as i32,
        flags: TRM_SORTER_CREATE_DROP_KEYS_BIT,
        ..placed(TrmPlacement::Preserve, sorter_info())
    };
    try_all(argsort, &[], &[TrmSortInfo { values: none, keys_out: none, ..good }])?;
    let items = TrmSorterCreateInfo { layout: TrmLayout::Interleaved as i32, ..pairs };
    let short = [("short", good, TOO_SMALL, "keys.size 400 < 800 required for maxCount 100")];
    try_all(items, &short, &[TrmSortInfo { keys: part(0, 800), values: none, ..good }])?;

    let narrow = TrmSorterCreateInfo { key_type: TrmKeyType::F16 as i32, ..sorter_info() };
    let odd = TrmSortInfo { keys: TrmRange { address: memory.address() + 1, size: 200 }, ..good };
    let even = TrmSortInfo { keys: TrmRange { address: memory.address() + 2, size: 200 }, ..good };
    try_all(narrow, &[("odd", odd, MISALIGNED, "keys.address")], &[even])?;

    let strided = TrmSorterCreateInfo { layout: TrmLayout::Strided as i32, ..placed(TrmPlacement::Preserve, pairs) };
    let strides = |key_stride, value_stride| TrmSortInfo { key_stride, value_stride, ..good };
    let bad = [
        ("odd stride", strides(6, 0), MISALIGNED, "keyStride 0x6 is not a multiple of 4"),
        ("odd stride", strides(0, 2), MISALIGNED, "valueStride 0x2 is not a multiple of 4"),
        ("long stride", strides(1 << 18, 0), TOO_LARGE, "keyStride 262144 > 262140"),
        ("short", strides(8, 0), TOO_SMALL, "keys.size 400 < 796 required for maxCount 100"),
        ("short", strides(0, 8), TOO_SMALL, "values.size 400 < 796 required for maxCount 100"),
    ];
    // Keys and values interleaved by strides, as members of structs.
    let members = TrmSortInfo {
        keys: part(0, 796),
        values: TrmRange { address: memory.address() + 4, size: 796 },
        ..strides(8, 8)
    };
    try_all(strided, &bad, &[good, members])?;
    let wide = TrmSorterCreateInfo { key_type: TrmKeyType::U64 as i32, ..strided };
    let keys = TrmSortInfo { keys: part(0, 800), keys_out: part(4, 800), ..strides(4, 0) };
    try_all(wide, &[("overlapping keys", keys, TOO_SMALL, "keyStride 4 < 8 required")], &[])?;
    let bytes = TrmSorterCreateInfo { key_type: TrmKeyType::U8 as i32, ..strided };
    try_all(bytes, &[("long stride", strides(1 << 16, 0), TOO_LARGE, "keyStride 65536 > 65535")], &[strides(3, 0)])?;

    let segmented = TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_SEGMENTED_BIT, ..pairs };
    let cut = |address, size, max| TrmSortInfo {
        segments: TrmSegments { offsets: TrmRange { address, size }, count: TrmCount { max, address: 0 } },
        ..good
    };
    let offsets = memory.address() + 4000;
    let fine = cut(offsets, 44, 10);
    let counted = |address| TrmSortInfo {
        segments: TrmSegments { count: TrmCount { max: 10, address }, ..fine.segments },
        ..fine
    };
    let bad = [
        ("no offsets", good, NULL, "segments.offsets.address is null"),
        ("odd", cut(offsets + 1, 44, 10), MISALIGNED, "segments.offsets.address"),
        ("short", cut(offsets, 40, 10), TOO_SMALL, "segments.offsets.size 40 < 44 required"),
        ("many", cut(offsets, 1 << 40, (1 << 30) + 1), TOO_LARGE, "segments.count.max 1073741825 > 1073741823"),
        ("among the keys", cut(memory.address() + 4, 44, 10), OVERLAP, "keys and segments.offsets overlap"),
        ("odd count", counted(offsets + 101), MISALIGNED, "segments.count.address"),
        ("count among the values", counted(memory.address() + 1000), OVERLAP, "values and count overlap"),
        (
            "two counts",
            TrmSortInfo { count: TrmCount { max: COUNT, address: offsets + 100 }, ..fine },
            MALFORMED,
            "count.address is malformed: the last offset is the number of keys",
        ),
    ];
    try_all(segmented, &bad, &[fine, counted(offsets + 100)])?;

    refusals.finish()?;
    drop(memory);
    engine.finish()
}

#[test]
fn batches() -> Result<()> {
    const COUNT: u32 = 10_000;
    let engine = engine()?;
    let (api, context) = (&engine.api, &engine.context);
    let sorter = engine.sorter(TrmValueType::None)?;
    let mut second_device = ptr::null_mut();
    let (mut foreign, mut without_batches) = (ptr::null_mut(), ptr::null_mut());
    let with_batches = TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_BATCHES_BIT, ..sorter_info() };
    // SAFETY: the infos are valid.
    unsafe {
        assert_eq!((api.trmCreateDevice)(&engine.device_info(), &mut second_device), 0);
        assert_eq!((api.sort.trmCreateSorter)(second_device, &with_batches, &mut foreign), 0);
        assert_eq!((api.sort.trmCreateSorter)(engine.device, &sorter_info(), &mut without_batches), 0);
    }
    let deferred = engine.sorter_of(&TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_DEFERRED_BIT, ..sorter_info() })?;
    let data: Vec<u32> = (0..2 * COUNT).rev().collect();
    let keys = context.upload(&data)?;
    let sort = |first: u32| TrmSortInfo {
        count: TrmCount { max: COUNT, address: 0 },
        keys: TrmRange { address: keys.address() + u64::from(first) * 4, size: u64::from(COUNT) * 4 },
        sorter,
        ..sort_info()
    };
    let (front, back) = (sort(0), sort(COUNT));
    let as_header = |info: &TrmSortInfo| (&raw const *info).cast::<TrmInfoHeader>();
    let both = [as_header(&front), as_header(&back)];
    let mut good = batch_info(&both);
    let mut size = 0;
    // SAFETY: the infos are valid.
    assert_eq!(unsafe { (api.trmGetBatchScratch)(&good, &mut size) }, 0, "{}", api.last_error());
    let work = context.buffer(size)?;
    good.scratch = scratch(&work);

    let mut refusals = Refusals(api, Vec::new());
    context.run(|commands| {
        let mut bad = |what: &str, info: *const TrmBatchInfo, code, reason: &str| {
            // SAFETY: pointers are valid, or invalid in a way that the library detects.
            let result = unsafe { (api.trmCmdBatch)(commands, info) };
            refusals.expect(what, result, code, reason);
        };
        bad("no info", ptr::null(), NULL, "info is null");
        for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::SortInfo) {
            bad(what, &with_header(&good, header), code, reason);
        }
        bad("no infos", &TrmBatchInfo { infos: ptr::null(), ..good }, NULL, "infos is null");
        bad("misaligned infos", &TrmBatchInfo { infos: byte_later(good.infos), ..good }, MISALIGNED, "infos");
        let many = TrmBatchInfo { info_count: (1 << 20) + 1, ..good };
        bad("too many infos", &many, TOO_LARGE, "infoCount 1048577 > 1048576, the most problems together");
        let mut with = |what: &str, second: &TrmSortInfo, code, reason: &str| {
            let infos = [as_header(&front), as_header(second)];
            bad(what, &TrmBatchInfo { infos: infos.as_ptr(), ..good }, code, reason);
        };
        with("no sorter", &TrmSortInfo { sorter: ptr::null_mut(), ..back }, NULL, "sorter is null");
        with(
            "another device's sorter",
            &TrmSortInfo { sorter: foreign, ..back },
            FOREIGN_DEVICE,
            "sorter was created on another device",
        );
        with(
            "a sorter without batches",
            &TrmSortInfo { sorter: without_batches, ..back },
            MALFORMED,
            "sorter is malformed: it was created without batches (BATCHES)",
        );
        with("a sorter that is not ready", &TrmSortInfo { sorter: deferred, ..back }, NOT_READY, "sorter is not ready");
        with("overlap", &sort(COUNT / 2), OVERLAP, "keys and keys overlap");
        with("a status among keys", &TrmSortInfo { status: keys.address(), ..back }, OVERLAP, "overlap");
        with(
            "too many",
            &TrmSortInfo { count: TrmCount { max: 1 << 31, address: 0 }, ..back },
            TOO_LARGE,
            "count.max 2147483648",
        );
        with("no keys", &TrmSortInfo { keys: TrmRange::default(), ..back }, NULL, "keys.address is null");
        with(
            "not a sort",
            &TrmSortInfo { s_type: TrmStructureType::BatchInfo as i32, ..back },
            UNKNOWN_VALUE,
            "sType 3",
        );
        with("keys in scratch", &TrmSortInfo { keys: range(&work), ..back }, OVERLAP, "keys and scratch overlap");
        let hole = [as_header(&front), ptr::null()];
        bad("a hole", &TrmBatchInfo { infos: hole.as_ptr(), ..good }, NULL, "infos is null");
        let little = TrmScratch { size: size - 1, ..scratch(&work) };
        bad(
            "little scratch",
            &TrmBatchInfo { scratch: little, ..good },
            TOO_SMALL,
            &format!("scratch.size {} < {size}", size - 1),
        );

        let mut out = UNTOUCHED;
        // SAFETY: pointers are valid, or invalid in a way that the library detects.
        unsafe {
            let null = VkCommandBuffer::default();
            refusals.expect("no command buffer", (api.trmCmdBatch)(null, &good), NULL, "commandBuffer is null");
            refusals.expect("no info", (api.trmGetBatchScratch)(ptr::null(), &mut out), NULL, "info is null");
            refusals.expect("no size", (api.trmGetBatchScratch)(&good, ptr::null_mut()), NULL, "size is null");
            let huge = TrmSortInfo { count: TrmCount { max: 1 << 31, address: 0 }, ..back };
            let infos = [as_header(&huge)];
            let result = (api.trmGetBatchScratch)(&batch_info(&infos), &mut out);
            refusals.expect("too many", result, TOO_LARGE, "count.max 2147483648");
            assert_eq!(out, UNTOUCHED, "outputs are written on success only");
            let alone = TrmSortInfo { sorter: deferred, scratch: scratch(&work), ..front };
            refusals.expect(
                "not ready",
                (api.sort.trmCmdSort)(commands, deferred, &alone),
                NOT_READY,
                "sorter is not ready",
            );
            refusals.expect("nothing to compile", (api.sort.trmCompileSorter)(ptr::null_mut()), NULL, "sorter is null");
            let mut ready = 7;
            refusals.expect(
                "no answer",
                (api.sort.trmGetSorterReady)(deferred, ptr::null_mut()),
                NULL,
                "ready is null",
            );
            assert_eq!(((api.sort.trmGetSorterReady)(deferred, &mut ready), ready), (0, 0));
        }
        Ok(())
    })?;
    refusals.finish()?;
    assert_eq!(context.download::<u32>(&keys, data.len())?, data, "nothing has been recorded");
    // Two threads compile. One of them may find nothing left to compile.
    let handle = deferred.expose_provenance();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                // SAFETY: the sorter is alive.
                assert_eq!(unsafe { (api.sort.trmCompileSorter)(ptr::with_exposed_provenance_mut(handle)) }, 0)
            });
        }
    });
    context.run(|commands| {
        let mut ready = 7;
        let alone = TrmSortInfo { sorter: deferred, scratch: scratch(&work), ..front };
        // SAFETY: everything is valid and lives until it has run.
        unsafe {
            assert_eq!(((api.sort.trmGetSorterReady)(deferred, &mut ready), ready), (0, 1));
            assert_eq!((api.sort.trmCmdSort)(commands, deferred, &alone), 0, "{}", api.last_error());
        }
        Ok(())
    })?;
    let mut sorted = data.clone();
    sorted[..COUNT as usize].sort_unstable();
    assert_eq!(context.download::<u32>(&keys, data.len())?, sorted, "a deferred sorter sorts once it is ready");
    // SAFETY: the handles are not used any more.
    unsafe {
        (api.sort.trmDestroySorter)(foreign);
        (api.sort.trmDestroySorter)(without_batches);
        (api.sort.trmDestroySorter)(deferred);
        (api.trmDestroyDevice)(second_device);
        (api.sort.trmDestroySorter)(sorter);
    }
    drop((keys, work));
    engine.finish()
}
