//! Invalid arguments of calls that record nothing: requirements, devices, sorters and their sizes.

use crate::{
    INCOMPLETE, Later, MALFORMED, MISALIGNED, MISSING_FEATURE, NULL, Refusals, TOO_LARGE, UNKNOWN_VALUE, UNTOUCHED,
    bad_headers, byte_later, engine, with_header,
};
use anyhow::Result;
use ffi_tests::sort::sorter_info;
use std::ffi::{CString, c_char};
use std::mem::offset_of;
use std::ptr;
use trommel::capi::*;

#[test]
fn device_requirements() -> Result<()> {
    let engine = engine()?;
    let ask = engine.api.trmGetDeviceRequirements;
    let good = engine.requirements_info();
    let null = ptr::null_mut();
    let mut refusals = Refusals(&engine.api, Vec::new());
    let mut bad = |what: &str, info: *const TrmDeviceRequirementsInfo, code, reason: &str| {
        let mut count = 7;
        // SAFETY: pointers are valid, or invalid in a way that the library detects.
        let result =
            unsafe { ask(info, ptr::null_mut(), ptr::null_mut(), &mut count, ptr::null_mut(), null, ptr::null_mut()) };
        refusals.expect(what, result, code, reason);
        assert_eq!(count, 7, "{what}: an output has been written");
    };
    bad("no info", ptr::null(), NULL, "info is null");
    bad("misaligned info", byte_later(&good), MISALIGNED, "is not a multiple of 8");
    for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
        bad(what, &with_header(&good, header), code, reason);
    }
    bad(
        "no function",
        &TrmDeviceRequirementsInfo { get_instance_proc_addr: None, ..good },
        NULL,
        "getInstanceProcAddr is null",
    );
    bad(
        "no instance",
        &TrmDeviceRequirementsInfo { instance: VkInstance::default(), ..good },
        NULL,
        "instance is null",
    );
    let no_device = TrmDeviceRequirementsInfo { physical_device: VkPhysicalDevice::default(), ..good };
    bad("no physical device", &no_device, NULL, "physicalDevice is null");
    bad(
        "reserved",
        &TrmDeviceRequirementsInfo { reserved: 1, ..good },
        MALFORMED,
        "reserved is malformed: 0x1 has bits",
    );

    let mut name = ptr::null::<c_char>();
    // SAFETY: pointers are valid, or invalid in a way that the library detects.
    unsafe {
        let result = ask(
            &good,
            byte_later(&VkPhysicalDeviceVulkan12Features::default()).cast_mut(),
            ptr::null_mut(),
            null,
            ptr::null_mut(),
            null,
            ptr::null_mut(),
        );
        refusals.expect("misaligned features", result, MISALIGNED, "features12");
        let result = ask(&good, ptr::null_mut(), ptr::null_mut(), null, &mut name, null, ptr::null_mut());
        refusals.expect("a list without a count", result, NULL, "extensionCount is null");
    }
    refusals.finish()?;
    engine.finish()
}

#[test]
fn device_requirements_are_queried_in_two_calls() -> Result<()> {
    let engine = engine()?;
    let ask = engine.api.trmGetDeviceRequirements;
    let good = engine.requirements_info();
    let (mut v12, mut v13) = (VkPhysicalDeviceVulkan12Features::default(), VkPhysicalDeviceVulkan13Features::default());
    v12.timeline_semaphore = 1;
    let (mut count, mut size) = (7, 7);
    // SAFETY: all pointers are valid.
    let result = unsafe { ask(&good, &mut v12, &mut v13, &mut count, ptr::null_mut(), &mut size, ptr::null_mut()) };
    assert_eq!((result, count, size), (0, 0, 1), "no extensions and an empty text");
    assert_eq!((v12.buffer_device_address, v13.synchronization2), (1, 1), "what is needed is switched on");
    assert_eq!(v12.timeline_semaphore, 1, "what the engine wants stays on");

    let mut text = [b'?'.cast_signed() as c_char; 4];
    size = 4;
    // SAFETY: all pointers are valid.
    let result = unsafe {
        ask(&good, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &mut size, text.as_mut_ptr())
    };
    assert_eq!((result, size, text[0]), (0, 1, 0), "nothing is missing");
    size = 0;
    // SAFETY: all pointers are valid.
    let result = unsafe {
        ask(&good, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &mut size, text.as_mut_ptr())
    };
    assert_eq!((result, size), (INCOMPLETE, 0), "no room for the terminator");
    engine.finish()
}

#[test]
fn devices() -> Result<()> {
    let engine = engine()?;
    let good = engine.device_info();
    let api = &engine.api;
    let mut refusals = Refusals(api, Vec::new());
    let mut bad = |what: &str, info: *const TrmDeviceCreateInfo, code, reason: &str| {
        let mut device = ptr::dangling_mut();
        // SAFETY: pointers are valid, or invalid in a way that the library detects.
        let result = unsafe { (api.trmCreateDevice)(info, &mut device) };
        refusals.expect(what, result, code, reason);
        assert!(device.is_null(), "{what}: there is a handle");
    };
    bad("no info", ptr::null(), NULL, "info is null");
    bad("misaligned info", byte_later(&good), MISALIGNED, "is not a multiple of 8");
    for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
        bad(what, &with_header(&good, header), code, reason);
    }
    bad(
        "no function",
        &TrmDeviceCreateInfo { get_instance_proc_addr: None, ..good },
        NULL,
        "getInstanceProcAddr is null",
    );
    bad("no instance", &TrmDeviceCreateInfo { instance: VkInstance::default(), ..good }, NULL, "instance is null");
    let no_device = TrmDeviceCreateInfo { physical_device: VkPhysicalDevice::default(), ..good };
    bad("no physical device", &no_device, NULL, "physicalDevice is null");
    bad("no device", &TrmDeviceCreateInfo { device: VkDevice::default(), ..good }, NULL, "device is null");
    bad("no features", &TrmDeviceCreateInfo { enabled_features: ptr::null(), ..good }, NULL, "enabledFeatures is null");
    let odd = TrmDeviceCreateInfo { enabled_features: byte_later(good.enabled_features), ..good };
    bad("misaligned features", &odd, MISALIGNED, "enabledFeatures");
    let nothing = VkPhysicalDeviceFeatures2::default();
    let without = TrmDeviceCreateInfo { enabled_features: &nothing, ..good };
    bad(
        "features left off",
        &without,
        MISSING_FEATURE,
        "the device lacks bufferDeviceAddress (supported, but not enabled)",
    );
    for family in [77, u32::MAX - 1] {
        let reason = format!("queueFamilyIndex {family} > ");
        bad("no family", &TrmDeviceCreateInfo { queue_family_index: family, ..good }, TOO_LARGE, &reason);
    }
    bad("reserved", &TrmDeviceCreateInfo { reserved: 4, ..good }, MALFORMED, "reserved is malformed: 0x4 has bits");
    bad(
        "no boolean",
        &TrmDeviceCreateInfo { debug_utils: 2, ..good },
        UNKNOWN_VALUE,
        "debugUtils 2 is not a known value",
    );
    let odd = TrmDeviceCreateInfo { allocation_callbacks: ptr::without_provenance(4), ..good };
    bad("misaligned callbacks", &odd, MISALIGNED, "allocationCallbacks");
    for (text, reason) in [(c"lanes = many", "\"many\" is not a number"), (c"\xff", "profile is malformed")] {
        bad("bad profile", &TrmDeviceCreateInfo { profile: text.as_ptr(), ..good }, MALFORMED, reason);
    }
    // The first byte that this version does not know, and one of the last word.
    for tail in [[1, 0], [0, 1]] {
        let mut later = Later { info: good, tail };
        later.info.struct_size += 16;
        bad("unknown members", &later.info, MALFORMED, "are of a later version and not zero");
    }

    // SAFETY: the info is valid; the output is invalid in a way that the library detects.
    unsafe {
        refusals.expect("no output", (api.trmCreateDevice)(&good, ptr::null_mut()), NULL, "device is null");
        refusals.expect(
            "misaligned output",
            (api.trmCreateDevice)(&good, ptr::without_provenance_mut(4)),
            MISALIGNED,
            "device",
        );
        (api.trmDestroyDevice)(ptr::null_mut());
    }
    refusals.finish()?;
    engine.finish()
}

#[test]
fn sizes_of_other_versions_are_read() -> Result<()> {
    let engine = engine()?;
    let api = &engine.api;
    let good = engine.device_info();
    let create = |info: &TrmDeviceCreateInfo| {
        let mut device = ptr::null_mut();
        // SAFETY: the info is valid.
        let result = unsafe { (api.trmCreateDevice)(info, &mut device) };
        assert_eq!(result, 0, "{}", api.last_error());
        // SAFETY: the handle is not used any more.
        unsafe { (api.trmDestroyDevice)(device) };
    };
    let earlier = TrmDeviceCreateInfo {
        struct_size: u32::try_from(offset_of!(TrmDeviceCreateInfo, queue_family_index))?,
        // These members are past the size: the library reads zeros in place of them.
        queue_family_index: 99,
        debug_utils: 99,
        profile: ptr::dangling(),
        ..good
    };
    create(&earlier);
    let mut later = Later { info: good, tail: [0, 0] };
    later.info.struct_size += 16;
    create(&later.info);
    let profile = CString::new(engine.context.device().profile().to_string())?;
    create(&TrmDeviceCreateInfo { profile: profile.as_ptr(), ..good });
    engine.finish()
}

#[test]
fn sorters() -> Result<()> {
    let engine = engine()?;
    let api = &engine.api;
    let good = sorter_info();
    let mut refusals = Refusals(api, Vec::new());
    let mut bad = |what: &str, device, info: *const TrmSorterCreateInfo, code, reason: &str| {
        let mut sorter = ptr::dangling_mut();
        // SAFETY: pointers are valid, or invalid in a way that the library detects.
        let result = unsafe { (api.sort.trmCreateSorter)(device, info, &mut sorter) };
        refusals.expect(what, result, code, reason);
        assert!(sorter.is_null(), "{what}: there is a handle");
    };
    bad("no device", ptr::null_mut(), &good, NULL, "device is null");
    bad("misaligned device", engine.device.wrapping_byte_add(1), &good, MISALIGNED, "device");
    bad("no info", engine.device, ptr::null(), NULL, "info is null");
    for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
        bad(what, engine.device, &with_header(&good, header), code, reason);
    }
    type Set = fn(&mut TrmSorterCreateInfo, i32);
    let enums: [(&str, i32, Set); 6] = [
        ("keyType", TrmKeyType::U32X4 as i32, |info, value| info.key_type = value),
        ("valueType", TrmValueType::Index as i32, |info, value| info.value_type = value),
        ("strategy", TrmStrategy::RingInOrder as i32, |info, value| info.strategy = value),
        ("order", TrmOrder::Descending as i32, |info, value| info.order = value),
        ("placement", TrmPlacement::DoubleBuffer as i32, |info, value| info.placement = value),
        ("layout", TrmLayout::Strided as i32, |info, value| info.layout = value),
    ];
    for (name, last, set) in enums {
        for value in [-1, last + 1, i32::MAX, i32::MIN] {
            let mut info = good;
            set(&mut info, value);
            bad(name, engine.device, &info, UNKNOWN_VALUE, &format!("{name} {value} is not a known value"));
        }
    }
    let bytes = |value_size| TrmSorterCreateInfo { value_type: TrmValueType::Bytes as i32, value_size, ..good };
    let narrow = TrmSorterCreateInfo { key_type: TrmKeyType::BF16 as i32, ..good };
    let laid = |layout: TrmLayout, info| TrmSorterCreateInfo { layout: layout as i32, ..info };
    let preserving = |info| TrmSorterCreateInfo { placement: TrmPlacement::Preserve as i32, ..info };
    let multiple = "is not a multiple of 4 from 4 to 4096";
    let malformed = [
        ("flags", TrmSorterCreateInfo { flags: 23, ..good }, "flags is malformed: 0x17 has bits beyond 0xf"),
        ("reserved", TrmSorterCreateInfo { reserved: 1, ..good }, "reserved is malformed: 0x1 has bits beyond 0x0"),
        (
            "no bits",
            TrmSorterCreateInfo { begin_bit: 20, end_bit: 20, ..good },
            "beginBit is malformed: 20 leaves no bit before 20",
        ),
        (
            "no key's bits",
            TrmSorterCreateInfo { begin_bit: 32, ..good },
            "beginBit is malformed: 32 leaves no bit before 32",
        ),
        ("no bytes", bytes(0), &format!("valueSize is malformed: 0 {multiple}")),
        ("odd bytes", bytes(10), &format!("valueSize is malformed: 10 {multiple}")),
        ("many bytes", bytes(4100), &format!("valueSize is malformed: 4100 {multiple}")),
        (
            "bytes without the type",
            TrmSorterCreateInfo { value_size: 8, ..good },
            "8 is not 0, and valueType is not TRM_VALUE_TYPE_BYTES",
        ),
        (
            "nothing",
            TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_DROP_KEYS_BIT, ..good },
            "flags is malformed: keys are dropped (DROP_KEYS) and there are no values: nothing is left",
        ),
        (
            "no items",
            laid(TrmLayout::Interleaved, good),
            "layout is malformed: items are a key and a value of 4 to 16 bytes",
        ),
        (
            "long items",
            laid(TrmLayout::Interleaved, bytes(20)),
            "layout is malformed: items are a key and a value of 4 to 16 bytes",
        ),
        (
            "narrow items",
            TrmSorterCreateInfo { key_type: TrmKeyType::I8 as i32, ..laid(TrmLayout::Interleaved, bytes(4)) },
            "layout is malformed: keys narrower than a word",
        ),
        ("strided in place", laid(TrmLayout::Strided, good), "layout is malformed: what is strided is only read"),
        (
            "long strided values",
            preserving(laid(TrmLayout::Strided, bytes(20))),
            "layout is malformed: values of more than 16 bytes are dense",
        ),
    ];
    for (what, info, reason) in &malformed {
        bad(what, engine.device, info, MALFORMED, reason);
    }
    let too_large = [
        ("bits", TrmSorterCreateInfo { end_bit: 33, ..good }, "endBit 33 > 32, the bits of the key"),
        ("narrow bits", TrmSorterCreateInfo { end_bit: 17, ..narrow }, "endBit 17 > 16, the bits of the key"),
        (
            "many narrow keys",
            TrmSorterCreateInfo { max_count: (1 << 30) + 1, ..narrow },
            "maxCount 1073741825 > 1073741824, the most keys narrower",
        ),
        (
            "many long values",
            TrmSorterCreateInfo { max_count: u32::MAX, ..bytes(20) },
            "maxCount 4294967295 > 1073741824, the most keys narrower",
        ),
    ];
    for (what, info, reason) in too_large {
        bad(what, engine.device, &info, TOO_LARGE, reason);
    }

    // Comparators: a kernel of merges, and infos that have none; and a library without a compiler.
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    };
    let of_merges = words(include_bytes!("../../../tests/kernels/masked_u32.spv"));
    let masked = words(include_bytes!("../../../tests/kernels/sort_masked_u32.spv"));
    let another = "code is malformed: it is a kernel with another function than the trm_less of sorts";
    let falling = TrmSorterCreateInfo { order: TrmOrder::Descending as i32, ..good };
    let segmented = TrmSorterCreateInfo { flags: TRM_SORTER_CREATE_SEGMENTED_BIT, ..good };
    let by_bits = TrmSorterCreateInfo { end_bit: 16, ..good };
    let wide = TrmSorterCreateInfo { max_count: (1 << 30) + 1, ..good };
    let cases = [
        ("a kernel of merges", good, &of_merges, MALFORMED, another),
        ("an order", falling, &masked, MALFORMED, "order is malformed: the comparator is the order"),
        ("segments", segmented, &masked, MALFORMED, "flags is malformed: sorts with a comparator have no segments"),
        ("bits", by_bits, &masked, MALFORMED, "endBit is malformed: comparators are of whole keys"),
        ("many", wide, &masked, TOO_LARGE, "maxCount 1073741825 > 1073741824, the most keys with a comparator"),
    ];
    for (what, info, code, error, reason) in cases {
        let mut sorter = ptr::dangling_mut();
        let size = size_of_val(&code[..]);
        // SAFETY: pointers are valid.
        let result =
            unsafe { (api.sort.trmCreateSorterFromSpirv)(engine.device, &info, code.as_ptr(), size, &mut sorter) };
        refusals.expect(what, result, error, reason);
        assert!(sorter.is_null(), "{what}: there is a handle");
        // SAFETY: without a compiler, the text is not read.
        let result = unsafe { (api.sort.trmCreateSorterFromGlsl)(engine.device, &info, ptr::null(), &mut sorter) };
        refusals.expect(what, result, TrmResult::TrmErrorNotBuilt as i32, "runtime-shaders");
    }

    let sorter = engine.sorter(TrmValueType::None)?;
    let few = engine.sorter_of(&TrmSorterCreateInfo { max_count: 1000, ..good })?;
    let (mut size, mut count, mut side) = (UNTOUCHED, 7, 7);
    // SAFETY: pointers are valid, or invalid in a way that the library detects.
    unsafe {
        refusals.expect(
            "no output",
            (api.sort.trmCreateSorter)(engine.device, &good, ptr::null_mut()),
            NULL,
            "sorter is null",
        );
        let above = (1 << 30) + 1;
        let limit = "count.max 1073741825 > 1073741824, the sorter's maxCount";
        refusals.expect(
            "no sorter",
            (api.sort.trmGetSorterScratch)(ptr::null_mut(), 1, &mut size),
            NULL,
            "sorter is null",
        );
        refusals.expect("no size", (api.sort.trmGetSorterScratch)(sorter, 1, ptr::null_mut()), NULL, "size is null");
        refusals.expect("too many", (api.sort.trmGetSorterScratch)(sorter, above, &mut size), TOO_LARGE, limit);
        refusals.expect(
            "no sorter",
            (api.sort.trmGetSorterTimestampCount)(ptr::null_mut(), 1, &mut count),
            NULL,
            "sorter is null",
        );
        refusals.expect(
            "no count",
            (api.sort.trmGetSorterTimestampCount)(sorter, 1, ptr::null_mut()),
            NULL,
            "count is null",
        );
        refusals.expect("too many", (api.sort.trmGetSorterTimestampCount)(sorter, above, &mut count), TOO_LARGE, limit);
        let limit = "count.max 1001 > 1000, the sorter's maxCount";
        refusals.expect("more than said", (api.sort.trmGetSorterScratch)(few, 1001, &mut size), TOO_LARGE, limit);
        refusals.expect(
            "more than said",
            (api.sort.trmGetSorterTimestampCount)(few, 1001, &mut count),
            TOO_LARGE,
            limit,
        );
        refusals.expect(
            "no sorter",
            (api.sort.trmGetSorterResultSide)(ptr::null_mut(), &mut side),
            NULL,
            "sorter is null",
        );
        refusals.expect("no side", (api.sort.trmGetSorterResultSide)(sorter, ptr::null_mut()), NULL, "side is null");
        let odd = ptr::without_provenance_mut(6);
        refusals.expect(
            "odd side",
            (api.sort.trmGetSorterResultSide)(sorter, odd),
            MISALIGNED,
            "side 0x6 is not a multiple of 4",
        );
        assert_eq!((size, count, side), (UNTOUCHED, 7, 7), "outputs are written on success only");
        assert_eq!(((api.sort.trmGetSorterResultSide)(sorter, &mut side), side), (0, 0), "in place");
        (api.sort.trmDestroySorter)(few);
        assert_eq!((api.sort.trmGetSorterScratch)(sorter, 1 << 30, &mut size), 0);
        assert!(size > 4 << 30, "the alternate array alone takes 4 GiB");
        (api.sort.trmDestroySorter)(sorter);
        (api.sort.trmDestroySorter)(ptr::null_mut());
    }
    refusals.finish()?;
    engine.finish()
}
