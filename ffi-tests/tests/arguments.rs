//! Every exported function with bad arguments: each gives its code and its reason, and does nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use anyhow::{Result, ensure};
use ffi_tests::{Api, Engine, batch_info, library, library_without_primitives, range, scratch, sort_info, sorter_info};
use std::ffi::{CString, c_char};
use std::mem::offset_of;
use std::ptr;
use trommel::capi::*;

const NULL: i32 = TrmResult::TrmErrorNull as i32;
const MALFORMED: i32 = TrmResult::TrmErrorMalformed as i32;
const UNKNOWN_VALUE: i32 = TrmResult::TrmErrorUnknownValue as i32;
const TOO_LARGE: i32 = TrmResult::TrmErrorTooLarge as i32;
const TOO_SMALL: i32 = TrmResult::TrmErrorTooSmall as i32;
const MISALIGNED: i32 = TrmResult::TrmErrorMisaligned as i32;
const OVERLAP: i32 = TrmResult::TrmErrorOverlap as i32;
const MISSING_FEATURE: i32 = TrmResult::TrmErrorMissingFeature as i32;
const FOREIGN_DEVICE: i32 = TrmResult::TrmErrorForeignDevice as i32;
const NOT_BUILT: i32 = TrmResult::TrmErrorNotBuilt as i32;
const INCOMPLETE: i32 = 5;

/// Anything but what a function would write.
const UNTOUCHED: u64 = 0xdead_beef;

fn engine() -> Result<Engine> {
    Engine::new(Api::load(library()?)?)
}

/// A struct of a later version.
#[repr(C)]
struct Later<T> {
    info: T,
    tail: [u64; 2],
}

fn byte_later<T>(pointer: *const T) -> *const T {
    pointer.wrapping_byte_add(1)
}

impl Refusals<'_> {
    /// What was expected, and what came.
    fn expect(&mut self, what: &str, result: i32, code: i32, reason: &str) {
        let said = self.0.last_error();
        if result != code || !said.contains(reason) {
            self.1.push(format!("{what}: {result} \"{said}\", but should be {code} \"{reason}\""));
        }
    }

    fn finish(self) -> Result<()> {
        ensure!(self.1.is_empty(), "{}", self.1.join("\n"));
        Ok(())
    }
}

/// All that is wrong is told at once.
struct Refusals<'a>(&'a Api, Vec<String>);

/// How a header can be wrong, by name, with the answer; every info struct gives the same ones.
fn bad_headers(size: usize, other: TrmStructureType) -> Vec<(&'static str, TrmInfoHeader, i32, &'static str)> {
    let size = u32::try_from(size).unwrap();
    let header = |s_type, struct_size, p_next| TrmInfoHeader { s_type, struct_size, p_next };
    let null = ptr::null();
    vec![
        ("sType", header(77, size, null), UNKNOWN_VALUE, "sType 77 is not a known value"),
        ("sType of another", header(other as i32, size, null), UNKNOWN_VALUE, "sType"),
        ("no size", header(0, 0, null), MALFORMED, "structSize is malformed: 0 is not a size of"),
        ("half a header", header(0, 8, null), MALFORMED, "structSize is malformed: 8 is not"),
        ("odd size", header(0, size - 1, null), MALFORMED, "structSize"),
        ("absurd size", header(0, u32::MAX, null), MALFORMED, "structSize is malformed: 4294967295 is not"),
        ("pNext", header(0, size, ptr::dangling()), MALFORMED, "pNext is malformed: it is reserved and must be NULL"),
    ]
}

fn with_header<T: Copy>(info: &T, mut header: TrmInfoHeader) -> T {
    let mut info = *info;
    let place = (&raw mut info).cast::<TrmInfoHeader>();
    // SAFETY: infos begin with a header.
    unsafe {
        if header.s_type == 0 {
            header.s_type = (*place).s_type;
        }
        place.write(header);
    }
    info
}

#[test]
fn device_requirements() -> Result<()> {
    let engine = engine()?;
    let ask = engine.api.trmGetDeviceRequirements;
    let good = engine.requirements_info();
    let null = ptr::null_mut();
    let mut refusals = Refusals(&engine.api, Vec::new());
    let mut bad = |what: &str, info: *const TrmDeviceRequirementsInfo, code, reason: &str| {
        let mut count = 7;
        // SAFETY: pointers are valid, or such that the library finds out.
        let result = unsafe { ask(info, ptr::null_mut(), ptr::null_mut(), &mut count, ptr::null_mut(), null, ptr::null_mut()) };
        refusals.expect(what, result, code, reason);
        assert_eq!(count, 7, "{what}: an output has been written");
    };
    bad("no info", ptr::null(), NULL, "info is null");
    bad("misaligned info", byte_later(&good), MISALIGNED, "is not a multiple of 8");
    for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
        bad(what, &with_header(&good, header), code, reason);
    }
    bad("no function", &TrmDeviceRequirementsInfo { get_instance_proc_addr: None, ..good }, NULL, "getInstanceProcAddr is null");
    bad("no instance", &TrmDeviceRequirementsInfo { instance: VkInstance::default(), ..good }, NULL, "instance is null");
    let no_device = TrmDeviceRequirementsInfo { physical_device: VkPhysicalDevice::default(), ..good };
    bad("no physical device", &no_device, NULL, "physicalDevice is null");

    let mut name = ptr::null::<c_char>();
    // SAFETY: pointers are valid, or such that the library finds out.
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
fn device_requirements_are_told_in_two_calls() -> Result<()> {
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
    let result =
        unsafe { ask(&good, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &mut size, text.as_mut_ptr()) };
    assert_eq!((result, size, text[0]), (0, 1, 0), "nothing is missing");
    size = 0;
    // SAFETY: all pointers are valid.
    let result =
        unsafe { ask(&good, ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), &mut size, text.as_mut_ptr()) };
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
        // SAFETY: pointers are valid, or such that the library finds out.
        let result = unsafe { (api.trmCreateDevice)(info, &mut device) };
        refusals.expect(what, result, code, reason);
        assert!(device.is_null(), "{what}: there is a handle");
    };
    bad("no info", ptr::null(), NULL, "info is null");
    bad("misaligned info", byte_later(&good), MISALIGNED, "is not a multiple of 8");
    for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
        bad(what, &with_header(&good, header), code, reason);
    }
    bad("no function", &TrmDeviceCreateInfo { get_instance_proc_addr: None, ..good }, NULL, "getInstanceProcAddr is null");
    bad("no instance", &TrmDeviceCreateInfo { instance: VkInstance::default(), ..good }, NULL, "instance is null");
    let no_device = TrmDeviceCreateInfo { physical_device: VkPhysicalDevice::default(), ..good };
    bad("no physical device", &no_device, NULL, "physicalDevice is null");
    bad("no device", &TrmDeviceCreateInfo { device: VkDevice::default(), ..good }, NULL, "device is null");
    bad("no features", &TrmDeviceCreateInfo { enabled_features: ptr::null(), ..good }, NULL, "enabledFeatures is null");
    let odd = TrmDeviceCreateInfo { enabled_features: byte_later(good.enabled_features), ..good };
    bad("misaligned features", &odd, MISALIGNED, "enabledFeatures");
    let nothing = VkPhysicalDeviceFeatures2::default();
    let without = TrmDeviceCreateInfo { enabled_features: &nothing, ..good };
    bad("features left off", &without, MISSING_FEATURE, "the device lacks bufferDeviceAddress (supported, but not enabled)");
    bad("no boolean", &TrmDeviceCreateInfo { debug_utils: 2, ..good }, UNKNOWN_VALUE, "debugUtils 2 is not a known value");
    let odd = TrmDeviceCreateInfo { allocation_callbacks: ptr::without_provenance(4), ..good };
    bad("misaligned callbacks", &odd, MISALIGNED, "allocationCallbacks");
    for (text, reason) in [(c"lanes = many", "\"many\" is not a number"), (c"\xff", "profile is malformed")] {
        bad("bad profile", &TrmDeviceCreateInfo { profile: text.as_ptr(), ..good }, MALFORMED, reason);
    }
    let mut later = Later { info: good, tail: [0, 1] };
    later.info.struct_size += 16;
    bad("unknown members", &later.info, MALFORMED, "are of a later version and not zero");

    // SAFETY: the info is valid; the output is such that the library finds out.
    unsafe {
        refusals.expect("no output", (api.trmCreateDevice)(&good, ptr::null_mut()), NULL, "device is null");
        refusals.expect("misaligned output", (api.trmCreateDevice)(&good, ptr::without_provenance_mut(4)), MISALIGNED, "device");
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
        // SAFETY: nobody uses it.
        unsafe { (api.trmDestroyDevice)(device) };
    };
    let earlier = TrmDeviceCreateInfo {
        struct_size: u32::try_from(offset_of!(TrmDeviceCreateInfo, queue_family_index))?,
        // None of these is read.
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
        // SAFETY: pointers are valid, or such that the library finds out.
        let result = unsafe { (api.trmCreateSorter)(device, info, &mut sorter) };
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
        ("flags", TrmSorterCreateInfo { flags: 7, ..good }, "flags is malformed: 0x7 has bits beyond 0x3"),
        ("reserved", TrmSorterCreateInfo { reserved: 1, ..good }, "reserved is malformed: 0x1 has bits beyond 0x0"),
        (
            "no bits",
            TrmSorterCreateInfo { begin_bit: 20, end_bit: 20, ..good },
            "beginBit is malformed: 20 leaves no bit before 20",
        ),
        ("no key's bits", TrmSorterCreateInfo { begin_bit: 32, ..good }, "beginBit is malformed: 32 leaves no bit before 32"),
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
            "dropKeys is malformed: nothing would be left",
        ),
        ("no items", laid(TrmLayout::Interleaved, good), "layout is malformed: items are a key and a value of 4 to 16 bytes"),
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

    let sorter = engine.sorter(TrmValueType::None)?;
    let few = engine.sorter_of(&TrmSorterCreateInfo { max_count: 1000, ..good })?;
    let (mut size, mut count, mut side) = (UNTOUCHED, 7, 7);
    // SAFETY: pointers are valid, or such that the library finds out.
    unsafe {
        refusals.expect("no output", (api.trmCreateSorter)(engine.device, &good, ptr::null_mut()), NULL, "sorter is null");
        let above = (1 << 30) + 1;
        let limit = "count.max 1073741825 > 1073741824, the sorter's maxCount";
        refusals.expect("no sorter", (api.trmGetSorterScratch)(ptr::null_mut(), 1, &mut size), NULL, "sorter is null");
        refusals.expect("no size", (api.trmGetSorterScratch)(sorter, 1, ptr::null_mut()), NULL, "size is null");
        refusals.expect("too many", (api.trmGetSorterScratch)(sorter, above, &mut size), TOO_LARGE, limit);
        refusals.expect("no sorter", (api.trmGetSorterTimestampCount)(ptr::null_mut(), 1, &mut count), NULL, "sorter is null");
        refusals.expect("no count", (api.trmGetSorterTimestampCount)(sorter, 1, ptr::null_mut()), NULL, "count is null");
        refusals.expect("too many", (api.trmGetSorterTimestampCount)(sorter, above, &mut count), TOO_LARGE, limit);
        let limit = "count.max 1001 > 1000, the sorter's maxCount";
        refusals.expect("more than said", (api.trmGetSorterScratch)(few, 1001, &mut size), TOO_LARGE, limit);
        refusals.expect("more than said", (api.trmGetSorterTimestampCount)(few, 1001, &mut count), TOO_LARGE, limit);
        refusals.expect("no sorter", (api.trmGetSorterResultSide)(ptr::null_mut(), &mut side), NULL, "sorter is null");
        refusals.expect("no side", (api.trmGetSorterResultSide)(sorter, ptr::null_mut()), NULL, "side is null");
        let odd = ptr::without_provenance_mut(6);
        refusals.expect("odd side", (api.trmGetSorterResultSide)(sorter, odd), MISALIGNED, "side 0x6 is not a multiple of 4");
        assert_eq!((size, count, side), (UNTOUCHED, 7, 7), "outputs are written on success only");
        assert_eq!(((api.trmGetSorterResultSide)(sorter, &mut side), side), (0, 0), "in place");
        (api.trmDestroySorter)(few);
        assert_eq!((api.trmGetSorterScratch)(sorter, 1 << 30, &mut size), 0);
        assert!(size > 4 << 30, "the alternate array alone takes 4 GiB");
        (api.trmDestroySorter)(sorter);
        (api.trmDestroySorter)(ptr::null_mut());
    }
    refusals.finish()?;
    engine.finish()
}

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
            // SAFETY: pointers are valid, or such that the library finds out.
            let result = unsafe { (api.trmCmdSort)(commands, sorter, info) };
            refusals.expect(what, result, code, reason);
        };
        bad("no info", ptr::null(), NULL, "info is null");
        bad("misaligned info", byte_later(&good), MISALIGNED, "is not a multiple of 8");
        for (what, header, code, reason) in bad_headers(size_of_val(&good), TrmStructureType::BatchInfo) {
            bad(what, &with_header(&good, header), code, reason);
        }
        let mut later = Later { info: good, tail: [0, 1 << 63] };
        later.info.struct_size += 16;
        bad("unknown members", &later.info, MALFORMED, "of 208 bytes, those past 192 are of a later version and not zero");
        bad("another sorter", &TrmSortInfo { sorter: other, ..good }, MALFORMED, "neither NULL nor the sorter given");

        let count = |max, address| TrmSortInfo { count: TrmCount { max, address }, ..good };
        bad("too many", &count(u32::MAX, 0), TOO_LARGE, "count.max 4294967295 > 1073741824");
        bad("one too many", &count((1 << 30) + 1, 0), TOO_LARGE, "count.max 1073741825 > 1073741824, the sorter's maxCount");
        bad("odd count", &count(COUNT, keys.address() + 2), MISALIGNED, "count.address");
        bad("count among the keys", &count(COUNT, keys.address()), OVERLAP, "keys and count overlap");
        bad("more than there are", &count(COUNT + 1, 0), TOO_SMALL, "keys.size 40000 < 40004 required for maxCount 10001");

        let with_keys = |address, size| TrmSortInfo { keys: TrmRange { address, size }, ..good };
        bad("no keys", &with_keys(0, 40_000), NULL, "keys.address is null");
        bad("odd keys", &with_keys(keys.address() + 1, 40_000), MISALIGNED, "keys.address");
        bad("short keys", &with_keys(keys.address(), 39_999), TOO_SMALL, "keys.size 39999 < 40000 required for maxCount 10000");
        bad("keys past the end", &with_keys((u64::MAX - 39_999) & !3, 1 << 40), TOO_LARGE, "the end of the address space");
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
            "keyStride is malformed: 4 is not 0, and the sorter's layout",
        );
        let cut = TrmSegments { offsets: range(&keys), count: TrmCount::default() };
        bad("segments", &TrmSortInfo { segments: cut, ..good }, MALFORMED, "segments is malformed: the sorter is not segmented");
        bad("values' stride", &TrmSortInfo { value_stride: 8, ..good }, MALFORMED, "valueStride is malformed: 8 is not 0");

        let with_scratch = |scratch| TrmSortInfo { scratch, ..good };
        let too_small = format!("scratch.size {} < {} required for maxCount 10000", small.size(), work.size());
        bad("little scratch", &with_scratch(scratch(&small)), TOO_SMALL, &too_small);
        bad("no scratch", &with_scratch(TrmScratch::default()), TOO_SMALL, "scratch.size 0 <");
        let no_buffer = TrmScratch { buffer: VkBuffer::default(), ..scratch(&work) };
        bad("no scratch buffer", &with_scratch(no_buffer), NULL, "scratch.buffer is null");
        bad("odd scratch", &with_scratch(TrmScratch { offset: 2, ..scratch(&work) }), MISALIGNED, "scratch.offset 0x2");
        let in_scratch = TrmRange { address: work.address() + 1024, size: 40_000 };
        bad("keys in scratch", &TrmSortInfo { keys: in_scratch, ..good }, OVERLAP, "keys and scratch overlap");
        bad("status in scratch", &TrmSortInfo { status: work.address(), ..good }, OVERLAP, "status and scratch overlap");
        bad("odd status", &TrmSortInfo { status: 6, ..good }, MISALIGNED, "status 0x6 is not a multiple of 4");
        bad("status among the values", &TrmSortInfo { status: values.address() + 8, ..good }, OVERLAP, "values and status overlap");

        // SAFETY: pointers are valid, or such that the library finds out.
        unsafe {
            let null = VkCommandBuffer::default();
            refusals.expect("no command buffer", (api.trmCmdSort)(null, sorter, &good), NULL, "commandBuffer is null");
            refusals.expect("no sorter", (api.trmCmdSort)(commands, ptr::null_mut(), &good), NULL, "sorter is null");
            let odd = sorter.wrapping_byte_add(4);
            refusals.expect("odd sorter", (api.trmCmdSort)(commands, odd, &good), MISALIGNED, "sorter");
        }
        Ok(())
    })?;
    refusals.finish()?;
    assert_eq!(context.download::<u32>(&keys, COUNT as usize)?, data, "nothing has been recorded");
    assert_eq!(context.download::<u32>(&values, COUNT as usize)?, data, "nothing has been recorded");
    // SAFETY: nobody uses them.
    unsafe {
        (api.trmDestroySorter)(other);
        (api.trmDestroySorter)(sorter);
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
    let part = |place: u64, size| TrmRange { address: memory.address() + place * 1000, size };
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
    let mut try_all = |sorter: TrmSorterCreateInfo, bad: &[(&str, TrmSortInfo, i32, &str)], fine: &[TrmSortInfo]| -> Result<()> {
        let sorter = engine.sorter_of(&sorter)?;
        let work = engine.scratch(sorter, COUNT)?;
        context.run(|commands| {
            for (what, info, code, reason) in bad {
                let info = TrmSortInfo { scratch: scratch(&work), ..*info };
                // SAFETY: pointers are valid, or such that the library finds out.
                refusals.expect(what, unsafe { (api.trmCmdSort)(commands, sorter, &info) }, *code, reason);
            }
            Ok(())
        })?;
        ensure!(context.download::<u64>(&memory, 1000)? == [UNTOUCHED; 1000], "something has been recorded");
        context.run(|commands| {
            for info in fine {
                let info = TrmSortInfo { scratch: scratch(&work), ..*info };
                // SAFETY: everything is valid and lives until it has run.
                assert_eq!(unsafe { (api.trmCmdSort)(commands, sorter, &info) }, 0, "{}", api.last_error());
            }
            Ok(())
        })?;
        context.write(&memory, &[UNTOUCHED; 1000])?;
        // SAFETY: nobody uses it any more.
        unsafe { (api.trmDestroySorter)(sorter) };
        Ok(())
    };

    let with_keys = |keys_out| TrmSortInfo { keys_out, ..good };
    let with_values = |values_out| TrmSortInfo { values_out, ..good };
    let odd = TrmRange { address: memory.address() + 2002, size: 400 };
    for placement in [TrmPlacement::Preserve, TrmPlacement::DoubleBuffer] {
        let bad = [
            ("no place for keys", with_keys(TrmRange::default()), NULL, "keysOut.address is null"),
            ("no place for values", with_values(TrmRange::default()), NULL, "valuesOut.address is null"),
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
            ("status there", TrmSortInfo { status: memory.address() + 2000, ..good }, OVERLAP, "keysOut and status overlap"),
        ];
        try_all(placed(placement, pairs), &bad, &[good])?;
    }
    // What a sorter has no use for is not looked at.
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
    // Keys and values within one another, as members of structs.
    let members =
        TrmSortInfo { keys: part(0, 796), values: TrmRange { address: memory.address() + 4, size: 796 }, ..strides(8, 8) };
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
    let place = memory.address() + 4000;
    let fine = cut(place, 44, 10);
    let counted = |address| TrmSortInfo { segments: TrmSegments { count: TrmCount { max: 10, address }, ..fine.segments }, ..fine };
    let bad = [
        ("no offsets", good, NULL, "segments.offsets.address is null"),
        ("odd", cut(place + 1, 44, 10), MISALIGNED, "segments.offsets.address"),
        ("short", cut(place, 40, 10), TOO_SMALL, "segments.offsets.size 40 < 44 required"),
        ("many", cut(place, 1 << 40, (1 << 30) + 1), TOO_LARGE, "segments.count.max 1073741825 > 1073741824"),
        ("among the keys", cut(memory.address() + 4, 44, 10), OVERLAP, "keys and segments.offsets overlap"),
        ("odd count", counted(place + 101), MISALIGNED, "segments.count.address"),
        ("count among the values", counted(memory.address() + 1000), OVERLAP, "values and count overlap"),
        (
            "two counts",
            TrmSortInfo { count: TrmCount { max: COUNT, address: place + 100 }, ..fine },
            MALFORMED,
            "count.address is malformed: the last offset tells",
        ),
    ];
    try_all(segmented, &bad, &[fine, counted(place + 100)])?;

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
    let mut foreign = ptr::null_mut();
    // SAFETY: the infos are valid.
    unsafe {
        assert_eq!((api.trmCreateDevice)(&engine.device_info(), &mut second_device), 0);
        assert_eq!((api.trmCreateSorter)(second_device, &sorter_info(), &mut foreign), 0);
    }
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
            // SAFETY: pointers are valid, or such that the library finds out.
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
        bad("too many infos", &many, TOO_LARGE, "batch 1048577 > 1048576, the most problems together");
        let mut with = |what: &str, second: &TrmSortInfo, code, reason: &str| {
            let infos = [as_header(&front), as_header(second)];
            bad(what, &TrmBatchInfo { infos: infos.as_ptr(), ..good }, code, reason);
        };
        with("no sorter", &TrmSortInfo { sorter: ptr::null_mut(), ..back }, NULL, "sorter is null");
        with("another device's sorter", &TrmSortInfo { sorter: foreign, ..back }, FOREIGN_DEVICE, "another device");
        with("overlap", &sort(COUNT / 2), OVERLAP, "keys and keys overlap");
        with("a status among keys", &TrmSortInfo { status: keys.address(), ..back }, OVERLAP, "overlap");
        with("too many", &TrmSortInfo { count: TrmCount { max: 1 << 31, address: 0 }, ..back }, TOO_LARGE, "count.max 2147483648");
        with("no keys", &TrmSortInfo { keys: TrmRange::default(), ..back }, NULL, "keys.address is null");
        with("not a sort", &TrmSortInfo { s_type: TrmStructureType::BatchInfo as i32, ..back }, UNKNOWN_VALUE, "sType 3");
        with("keys in scratch", &TrmSortInfo { keys: range(&work), ..back }, OVERLAP, "keys and scratch overlap");
        let hole = [as_header(&front), ptr::null()];
        bad("a hole", &TrmBatchInfo { infos: hole.as_ptr(), ..good }, NULL, "infos is null");
        let little = TrmScratch { size: size - 1, ..scratch(&work) };
        bad("little scratch", &TrmBatchInfo { scratch: little, ..good }, TOO_SMALL, &format!("scratch.size {} < {size}", size - 1));

        let mut out = UNTOUCHED;
        // SAFETY: pointers are valid, or such that the library finds out.
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
        }
        Ok(())
    })?;
    refusals.finish()?;
    assert_eq!(context.download::<u32>(&keys, data.len())?, data, "nothing has been recorded");
    // SAFETY: nobody uses them.
    unsafe {
        (api.trmDestroySorter)(foreign);
        (api.trmDestroyDevice)(second_device);
        (api.trmDestroySorter)(sorter);
    }
    drop((keys, work));
    engine.finish()
}

#[test]
fn what_is_left_out_says_so() -> Result<()> {
    let engine = Engine::new(Api::load(library_without_primitives()?)?)?;
    let api = &engine.api;
    let reason = "built without the feature \"sort\"";
    let mut refusals = Refusals(api, Vec::new());
    let mut sorter = ptr::dangling_mut();
    let (mut size, mut count) = (UNTOUCHED, 7);
    // SAFETY: no pointer is followed.
    unsafe {
        let commands = VkCommandBuffer::default();
        refusals.expect("create", (api.trmCreateSorter)(engine.device, &sorter_info(), &mut sorter), NOT_BUILT, reason);
        refusals.expect("scratch", (api.trmGetSorterScratch)(sorter, 1, &mut size), NOT_BUILT, reason);
        refusals.expect("timestamps", (api.trmGetSorterTimestampCount)(sorter, 1, &mut count), NOT_BUILT, reason);
        refusals.expect("side", (api.trmGetSorterResultSide)(sorter, &mut count), NOT_BUILT, reason);
        refusals.expect("sort", (api.trmCmdSort)(commands, sorter, &sort_info()), NOT_BUILT, reason);
        refusals.expect("batch scratch", (api.trmGetBatchScratch)(&batch_info(&[]), &mut size), NOT_BUILT, reason);
        refusals.expect("batch", (api.trmCmdBatch)(commands, &batch_info(&[])), NOT_BUILT, reason);
        (api.trmDestroySorter)(ptr::null_mut());
    }
    assert!(sorter.is_null());
    assert_eq!((size, count), (UNTOUCHED, 7), "outputs are written on success only");
    refusals.finish()?;
    engine.finish()
}

#[test]
fn versions_and_texts() -> Result<()> {
    let api = Api::load(library()?)?;
    // SAFETY: it takes nothing.
    let version = unsafe { (api.trmGetVersion)() };
    let parts = [TRM_VERSION_MAJOR, TRM_VERSION_MINOR, TRM_VERSION_PATCH];
    assert_eq!(version, parts[0] << 22 | parts[1] << 12 | parts[2]);
    assert_eq!(parts.map(|part| part.to_string()).join("."), env!("CARGO_PKG_VERSION"));

    let mut texts = std::collections::BTreeSet::new();
    for (name, value) in layout::VALUES.iter().filter(|(name, _)| name.starts_with("TRM_ERROR") || *name == "TRM_SUCCESS") {
        let text = api.result_string(i32::try_from(*value)?);
        assert_ne!(text, "unknown result", "{name}");
        assert!(texts.insert(text), "{name} has the text of another");
    }
    assert_eq!(api.result_string(-2), "VK_ERROR_OUT_OF_DEVICE_MEMORY");
    assert_eq!(api.result_string(i32::MIN), "unknown result");

    // The detail is each thread's own.
    assert_eq!(api.last_error(), "");
    // SAFETY: no pointer is followed.
    assert_eq!(unsafe { (api.trmCreateDevice)(ptr::null(), ptr::null_mut()) }, NULL);
    assert_eq!(api.last_error(), "device is null");
    std::thread::scope(|scope| scope.spawn(|| assert_eq!(api.last_error(), "")).join())
        .map_err(|_| anyhow::anyhow!("the other thread"))?;
    assert_eq!(api.last_error(), "device is null");
    Ok(())
}
