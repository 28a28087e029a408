//! Recording runs on small stacks, such as those of fibers: every recording function of C uses at most 64 KiB.

#![cfg(target_os = "linux")]
#![allow(clippy::cast_possible_truncation, reason = "batches and structs are small")]

mod common;

use ash::vk;
use ash::vk::Handle as _;
use common::fake::{self, NVIDIA};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use trommel::Requirements;
use trommel::capi::*;

/// Maximum stack size of recording in bytes, without the thread's own use.
const LIMIT: usize = 64 * 1024;

/// Size of the measured stack in bytes.
const STACK: usize = 8 << 20;

/// At least as large as a `pthread_attr_t`.
type Attributes = [u64; 16];
type Thread = usize;

unsafe extern "C" {
    fn pthread_attr_init(attributes: *mut Attributes) -> c_int;
    fn pthread_attr_setstack(attributes: *mut Attributes, stack: *mut c_void, size: usize) -> c_int;
    fn pthread_attr_destroy(attributes: *mut Attributes) -> c_int;
    fn pthread_create(
        thread: *mut Thread,
        attributes: *const Attributes,
        start: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_join(thread: Thread, result: *mut *mut c_void) -> c_int;
}

/// Stack size in bytes of a thread that only runs `call`.
fn stack_of_thread<F: Fn()>(call: F) -> usize {
    extern "C" fn start<F: Fn()>(call: *mut c_void) -> *mut c_void {
        // SAFETY: `call` outlives the thread.
        unsafe { (*call.cast::<F>())() };
        ptr::null_mut()
    }
    const PAINT: u64 = 0x5a5a_a5a5_5a5a_a5a5;
    let mut stack = vec![[PAINT; 512]; STACK / 4096];
    let mut attributes = Attributes::default();
    let mut thread = 0;
    // SAFETY: the stack and `call` outlive the thread.
    unsafe {
        assert_eq!(pthread_attr_init(&mut attributes), 0);
        let begin = stack.as_mut_ptr().cast::<u8>();
        let begin = begin.add(begin.align_offset(4096)).cast();
        assert_eq!(pthread_attr_setstack(&mut attributes, begin, STACK - 4096), 0);
        assert_eq!(pthread_create(&mut thread, &attributes, start::<F>, ptr::from_ref(&call).cast_mut().cast()), 0);
        assert_eq!(pthread_join(thread, ptr::null_mut()), 0);
        assert_eq!(pthread_attr_destroy(&mut attributes), 0);
    }
    let untouched = stack.as_flattened().iter().position(|word| *word != PAINT).expect("a thread uses its stack");
    STACK - untouched * 8
}

/// Checks that `call` returns 0 and uses at most [`LIMIT`] bytes of stack.
fn assert_small(what: &str, call: impl Fn() -> i32) {
    let own = stack_of_thread(|| ());
    let taken = stack_of_thread(|| assert_eq!(call(), 0, "{what}")) - own;
    println!("{what}: {taken} bytes of stack");
    assert!(taken <= LIMIT, "{what} takes {taken} bytes of stack");
}

/// An info struct of C, zero except for its type and size.
///
/// # Safety
/// Any bytes make a `T`, which begins with a header.
unsafe fn begun<T>(s_type: TrmStructureType) -> T {
    let mut info = MaybeUninit::<T>::zeroed();
    let header = TrmInfoHeader { s_type: s_type as i32, struct_size: size_of::<T>() as u32, p_next: ptr::null() };
    // SAFETY: the caller's promise.
    unsafe {
        info.as_mut_ptr().cast::<TrmInfoHeader>().write(header);
        info.assume_init()
    }
}

fn device() -> TrmDevice {
    fake::set_facts(&NVIDIA);
    let (mut v12, mut v13) = Default::default();
    Requirements::default().enable(&mut v12, &mut v13);
    let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
    let info = TrmDeviceCreateInfo {
        get_instance_proc_addr: Some(fake::get_proc_addr),
        instance: vk::Instance::from_raw(1),
        physical_device: vk::PhysicalDevice::from_raw(2),
        device: vk::Device::from_raw(3),
        enabled_features: ptr::from_ref(&features).cast(),
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::DeviceCreateInfo) }
    };
    let mut device = ptr::null_mut();
    // SAFETY: handles are numbers here.
    unsafe { assert_eq!(trmCreateDevice(&info, &mut device), 0) };
    device
}

fn sorter(device: TrmDevice, flags: u32, key_type: TrmKeyType, value_type: TrmValueType) -> TrmSorter {
    let (key_type, value_type) = (key_type as i32, value_type as i32);
    let flags = flags | TRM_SORTER_CREATE_BATCHES_BIT;
    // SAFETY: the struct consists of numbers and pointers.
    let info =
        TrmSorterCreateInfo { flags, key_type, value_type, ..unsafe { begun(TrmStructureType::SorterCreateInfo) } };
    let mut sorter = ptr::null_mut();
    // SAFETY: everything is valid.
    unsafe { assert_eq!(trmCreateSorter(device, &info, &mut sorter), 0) };
    sorter
}

fn sorter_by_comparator(device: TrmDevice) -> TrmSorter {
    let code = include_bytes!("kernels/sort_masked_u32.spv");
    let words: Vec<u32> =
        code.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    // SAFETY: the struct consists of numbers and pointers.
    let info = unsafe { begun(TrmStructureType::SorterCreateInfo) };
    let mut sorter = ptr::null_mut();
    // SAFETY: everything is valid.
    let result = unsafe { trmCreateSorterFromSpirv(device, &info, words.as_ptr(), code.len(), &mut sorter) };
    assert_eq!(result, 0);
    sorter
}

fn splitter(device: TrmDevice, bucket_count: u32) -> TrmSplitter {
    let flags = TRM_SPLITTER_CREATE_BATCHES_BIT;
    // SAFETY: the struct consists of numbers and pointers.
    let info = TrmSplitterCreateInfo { flags, bucket_count, ..unsafe { begun(TrmStructureType::SplitterCreateInfo) } };
    let mut splitter = ptr::null_mut();
    // SAFETY: everything is valid.
    unsafe { assert_eq!(trmCreateSplitter(device, &info, &mut splitter), 0) };
    splitter
}

fn merger(device: TrmDevice, sequence_count: u32) -> TrmMerger {
    let flags = TRM_MERGER_CREATE_BATCHES_BIT;
    // SAFETY: the struct consists of numbers and pointers.
    let info = TrmMergerCreateInfo { flags, sequence_count, ..unsafe { begun(TrmStructureType::MergerCreateInfo) } };
    let mut merger = ptr::null_mut();
    // SAFETY: everything is valid.
    unsafe { assert_eq!(trmCreateMerger(device, &info, &mut merger), 0) };
    merger
}

/// Scratch that suffices for every request.
fn scratch() -> TrmScratch {
    TrmScratch { buffer: fake::buffer(), offset: 0, size: 1 << 40 }
}

/// The sort at an index of a batch. Its arrays are disjoint from all others.
fn sort(sorter: TrmSorter, index: u64, count: u32, segments: u32) -> TrmSortInfo {
    let array = |nth: u64| TrmRange { address: (1 + 8 * index + nth) << 30, size: 1 << 30 };
    let segments = match segments {
        0 => TrmSegments::default(),
        max => TrmSegments { offsets: array(4), count: TrmCount { max, address: 0 } },
    };
    TrmSortInfo {
        sorter,
        count: TrmCount { max: count, address: if segments.count.max == 0 { array(2).address } else { 0 } },
        keys: array(0),
        values: array(1),
        status: array(3).address,
        segments,
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::SortInfo) }
    }
}

fn split(splitter: TrmSplitter, index: u64, count: u32) -> TrmSplitInfo {
    let array = |nth: u64| TrmRange { address: (1 + 8 * index + nth) << 30, size: 1 << 30 };
    TrmSplitInfo {
        splitter,
        count: TrmCount { max: count, address: array(2).address },
        keys: array(0),
        keys_out: array(1),
        status: array(3).address,
        offsets: array(4),
        counts: array(5),
        commands: array(6),
        command_items: 64,
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::SplitInfo) }
    }
}

fn merge(merger: TrmMerger, index: u64, count: u32) -> TrmMergeInfo {
    let array = |nth: u64| TrmRange { address: (1 + 8 * index + nth) << 30, size: 1 << 30 };
    TrmMergeInfo {
        merger,
        count_a: TrmCount { max: count, address: array(2).address },
        count_b: TrmCount { max: count, address: 0 },
        keys_a: array(0),
        keys_b: array(1),
        keys_out: array(4),
        status: array(3).address,
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::MergeInfo) }
    }
}

/// The sequences after A and B of a merge of 16. All of them are the same memory.
fn more_sequences(count: u32) -> [TrmMergeSequence; 14] {
    let array = |nth: u64| TrmRange { address: (1 << 44) + (nth << 32), size: 1 << 32 };
    let count = TrmCount { max: count, address: array(0).address };
    [TrmMergeSequence { count, keys: array(1), values: array(2) }; 14]
}

fn merge_of_16(merger: TrmMerger, index: u64, count: u32, more: &[TrmMergeSequence; 14]) -> TrmMergeInfo {
    let (more_sequence_count, more_sequences) = (more.len() as u32, more.as_ptr());
    TrmMergeInfo { more_sequence_count, more_sequences, ..merge(merger, index, count) }
}

fn header<T>(info: &T) -> *const TrmInfoHeader {
    ptr::from_ref(info).cast()
}

fn assert_small_batch(what: &str, infos: &[*const TrmInfoHeader]) {
    let batch = TrmBatchInfo {
        info_count: infos.len() as u32,
        infos: infos.as_ptr(),
        scratch: scratch(),
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::BatchInfo) }
    };
    // SAFETY: everything is valid.
    assert_small(what, || unsafe { trmCmdBatch(fake::command_buffer(), &batch) });
}

/// Each function alone, at sizes of every algorithm, with timestamps; includes the largest plans.
#[test]
fn one_request_records_on_a_small_stack() {
    let device = device();
    let timestamps = TrmTimestamps { pool: vk::QueryPool::from_raw(8), first: 0 };
    for (key_type, value_type) in [(TrmKeyType::U32, TrmValueType::U32), (TrmKeyType::U32X4, TrmValueType::None)] {
        let sorter = sorter(device, 0, key_type, value_type);
        for count in [1000, 6000, 100_000, 1 << 24] {
            let info = TrmSortInfo { scratch: scratch(), timestamps, ..sort(sorter, 0, count, 0) };
            // SAFETY: everything is valid.
            let call = || unsafe { trmCmdSort(fake::command_buffer(), sorter, &info) };
            assert_small(&format!("a sort of {count} keys of type {key_type:?}"), call);
        }
    }
    let compares = sorter_by_comparator(device);
    for count in [1000, 1 << 28] {
        let info = TrmSortInfo { scratch: scratch(), timestamps, ..sort(compares, 0, count, 0) };
        // SAFETY: everything is valid.
        let call = || unsafe { trmCmdSort(fake::command_buffer(), compares, &info) };
        assert_small(&format!("a sort of {count} keys by a comparator"), call);
    }
    for buckets in [16, 1000] {
        let splitter = splitter(device, buckets);
        for count in [1000, 100_000, 1 << 24] {
            let info = TrmSplitInfo { scratch: scratch(), timestamps, ..split(splitter, 0, count) };
            // SAFETY: everything is valid.
            let call = || unsafe { trmCmdSplit(fake::command_buffer(), splitter, &info) };
            assert_small(&format!("a split of {count} keys into {buckets} buckets"), call);
        }
    }
    let merger = merger(device, 0);
    for count in [1000, 1 << 24] {
        let info = TrmMergeInfo { scratch: scratch(), timestamps, ..merge(merger, 0, count) };
        // SAFETY: everything is valid.
        let call = || unsafe { trmCmdMerge(fake::command_buffer(), merger, &info) };
        assert_small(&format!("a merge of twice {count} keys"), call);
    }
    let merger = self::merger(device, 16);
    for count in [1000, 1 << 24] {
        let more = more_sequences(count);
        let info = TrmMergeInfo { scratch: scratch(), timestamps, ..merge_of_16(merger, 0, count, &more) };
        // SAFETY: everything is valid.
        let call = || unsafe { trmCmdMerge(fake::command_buffer(), merger, &info) };
        assert_small(&format!("a merge of sixteen times {count} keys"), call);
    }
}

/// More groups than are recorded side by side, all different, with segments among them; and more arrays than one
/// comparison holds, in no order.
#[test]
fn batches_record_on_small_stacks() {
    let device = device();
    let kinds = [
        (TrmKeyType::U32, TrmValueType::None),
        (TrmKeyType::U32, TrmValueType::U32),
        (TrmKeyType::U64, TrmValueType::None),
        (TrmKeyType::F64, TrmValueType::U32),
        (TrmKeyType::I16, TrmValueType::U32),
        (TrmKeyType::U32X4, TrmValueType::U32),
    ];
    let sorters = kinds.map(|(key, value)| sorter(device, 0, key, value));
    let segmented = sorter(device, TRM_SORTER_CREATE_SEGMENTED_BIT, TrmKeyType::U32, TrmValueType::U32);
    let splitters = [16, 1000].map(|buckets| splitter(device, buckets));
    let counts = [1000, 50_000, 1 << 20, 1 << 24];
    let mut indices = 0..;
    let mut next_index = || indices.next().expect("there is no last one");
    let sorts: Vec<_> = sorters.iter().flat_map(|sorter| counts.map(|count| (*sorter, count))).collect();
    let mut sorts: Vec<_> = sorts.into_iter().map(|(sorter, count)| sort(sorter, next_index(), count, 0)).collect();
    sorts.extend((0..10).map(|index| sort(segmented, next_index(), 1 << (10 + index), 100)));
    let splits: Vec<_> =
        splitters.iter().flat_map(|splitter| counts[1..].iter().map(|count| (*splitter, *count))).collect();
    let splits: Vec<_> = splits.into_iter().map(|(splitter, count)| split(splitter, next_index(), count)).collect();
    let merger = merger(device, 0);
    let merges = counts.map(|count| merge(merger, next_index(), count));
    let infos = sorts.iter().map(header).chain(splits.iter().map(header)).chain(merges.iter().map(header));
    let infos: Vec<_> = infos.collect();
    assert_eq!(infos.len(), 44);
    assert_small_batch("44 groups", &infos);

    let of_16 = self::merger(device, 16);
    let counts: Vec<u32> = (8..22).map(|log2| 1 << log2).collect();
    let more: Vec<_> = counts.iter().map(|count| more_sequences(*count)).collect();
    let merges = counts.iter().zip(&more).map(|(count, more)| merge_of_16(of_16, next_index(), *count, more));
    let merges: Vec<_> = merges.collect();
    let infos: Vec<_> = infos.into_iter().chain(merges.iter().map(header)).collect();
    assert_small_batch("58 groups, some of merges of 16 sequences", &infos);

    let shuffled: Vec<_> = (0..1000).map(|index| sort(sorters[1], index * 617 % 1000, 1 + index as u32, 0)).collect();
    assert_small_batch("1000 sorts in no order", &shuffled.iter().map(header).collect::<Vec<_>>());
    let mixed: Vec<_> =
        (0..1000).map(|index| sort(sorters[index % 6], index as u64 * 617 % 1000, counts[index % 3], 0)).collect();
    assert_small_batch("1000 sorts of 18 groups", &mixed.iter().map(header).collect::<Vec<_>>());
}
