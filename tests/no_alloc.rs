//! Recording uses no heap memory, in Rust and in C. A counting allocator checks this.

use ash::vk;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::error::Error;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Barrier;
use trommel::capi::*;
use trommel::host::{Buffer, Context};
use trommel::{
    ComparatorKernel, Count, KeyType, MergeInfo, MergeSequence, Merger, MergerInfo, Request, Requirements, Segments,
    SortComparatorKernel, SortInfo, Sorter, SorterInfo, Strategy, ValueType, batch_scratch_size, cmd_batch,
};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all of it is the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that is ending no longer counts.
        let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of allocations of this thread during the call.
fn allocations(record: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    record();
    ALLOCATIONS.get() - before
}

const MAX: u32 = 30_000;

/// Size of the largest value in bytes.
const VALUE_SIZE: u64 = 16;

/// One small and one large problem for each kind of count, in parts of the same buffers. The buffers have room for the
/// longest items.
fn infos(keys: &Buffer, values: &Buffer, count: &Buffer) -> Vec<SortInfo> {
    let sizes = [(100, false), (100, true), (MAX, false), (MAX, true)];
    let parts = sizes.iter().zip(0u64..).map(|((max, on_device), index)| {
        let part = |buffer: &Buffer| {
            let (most, size) = (u64::from(MAX) * VALUE_SIZE, u64::from(*max) * VALUE_SIZE);
            trommel::Range::new(buffer.address() + index * most, size)
        };
        let count = if *on_device { Count::device(count.address(), *max) } else { Count::host(*max) };
        SortInfo { count, keys: part(keys), values: part(values), ..SortInfo::default() }
    });
    parts.collect()
}

/// Items of one word, items of many words, and keys narrower than a word, which are packed at the end.
fn kinds() -> [SorterInfo; 3] {
    [
        SorterInfo::pairs(),
        SorterInfo { key: KeyType::U64, value: ValueType::Bytes(16), ..SorterInfo::keys() },
        SorterInfo { key: KeyType::I16, ..SorterInfo::keys() },
    ]
}

#[test]
fn the_allocator_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

fn record_together(context: &Context, requests: &[Request<'_>], what: &str) -> Result<(), Box<dyn Error>> {
    let scratch = context.buffer(batch_scratch_size(requests)?)?;
    context.run(|commands| {
        // SAFETY: everything is valid and lives until it has run.
        let result = || unsafe { cmd_batch(commands, requests, scratch.scratch()) };
        assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0, "{what}");
        Ok(())
    })?;
    Ok(())
}

/// Problems of large batches, each with its keys at an address of its own.
const PROBLEMS: u64 = 30_000;

/// Keys with gaps, and out of order.
fn scattered_sort(index: u64) -> (u64, SortInfo) {
    // Coprime to the number of problems.
    let index = index * 7919 % PROBLEMS;
    let count = 1 + u32::from(index.is_multiple_of(2)) + u32::from(index.is_multiple_of(3));
    // One, two or three keys, in ranges for eight.
    let keys = trommel::Range::new((1 << 40) + 32 * index, 4 * u64::from(count));
    (index, SortInfo { count: Count::host(count), keys, ..SortInfo::default() })
}

/// Ranges with gaps and out of order, and more groups than one plan takes. Recorded but not executed: so many sorts
/// take long on a CPU.
#[test]
fn recording_large_batches_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let sorter = |segmented| {
        Sorter::new(context.device(), &SorterInfo { segmented, max_count: 100, ..SorterInfo::keys() }.batches())
    };
    let (plain, segmented) = (sorter(false)?, sorter(true)?);
    let offsets = context.upload(&[0u32; 2])?;
    let request = |index: u64| {
        let (index, info) = scattered_sort(index);
        if !index.is_multiple_of(1500) {
            return Request::Sort(&plain, info);
        }
        let range = trommel::Range::new(offsets.address(), 8);
        Request::Sort(&segmented, SortInfo { segments: Segments { offsets: range, count: Count::host(1) }, ..info })
    };
    let requests: Vec<_> = (0..PROBLEMS).map(request).collect();
    let scratch = context.buffer(batch_scratch_size(&requests)?)?;
    let stopped = context.run(|commands| {
        // SAFETY: the recorded commands are never executed.
        let result = || unsafe { cmd_batch(commands, &requests, scratch.scratch()) };
        assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0);
        Err(trommel::Error::NotBuilt("nothing is executed"))
    });
    assert_eq!(stopped, Err(trommel::Error::NotBuilt("nothing is executed")));
    assert!(context.messages().is_empty());
    Ok(())
}

/// Threads that record at the same time. One checks its batch in the spans of the device handle. The others have fewer
/// spans than ranges, on their stacks. All accept the independent batch and refuse the batch with a conflict.
#[test]
fn threads_that_record_large_batches_take_no_heap() -> Result<(), Box<dyn Error>> {
    const THREADS: usize = 3;
    let context = Context::new()?;
    let sorter = Sorter::new(context.device(), &SorterInfo { max_count: 100, ..SorterInfo::keys() }.batches())?;
    let requests: Vec<_> = (0..PROBLEMS).map(|index| Request::Sort(&sorter, scattered_sort(index).1)).collect();
    let mut overlapping = requests.clone();
    overlapping.push(requests[usize::try_from(PROBLEMS / 2)?]);
    let scratch = context.buffer(batch_scratch_size(&overlapping)?)?;
    let start = Barrier::new(THREADS);
    let (vk, family) = (context.vk(), context.queue_family());
    let record = || {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: the device is alive, the command buffer is this thread's own, and its commands are never executed.
        unsafe {
            let pool = vk.create_command_pool(&info, None).expect("a pool of commands");
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = vk.allocate_command_buffers(&info).expect("a command buffer")[0];
            vk.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).expect("it begins");
            start.wait();
            let result = || cmd_batch(commands, &requests, scratch.scratch());
            assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0);
            let refused = || cmd_batch(commands, &overlapping, scratch.scratch());
            let overlap = trommel::Error::Overlap { first: "keys", second: "keys" };
            assert_eq!(allocations(|| assert_eq!(refused(), Err(overlap))), 0);
            vk.end_command_buffer(commands).expect("it ends");
            vk.destroy_command_pool(pool, None);
        }
    };
    std::thread::scope(|scope| {
        let threads = [(); THREADS].map(|()| scope.spawn(record));
        threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
    });
    assert!(context.messages().is_empty());
    Ok(())
}

#[test]
fn recording_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let buffer = context.upload(&vec![[1u32; 4]; 4 * MAX as usize])?;
    let values = context.upload(&vec![[2u32; 4]; 4 * MAX as usize])?;
    let count = context.upload(&[50u32])?;
    let strategies = [Strategy::Lookback, Strategy::ReduceThenScan];
    for kind in strategies.iter().flat_map(|strategy| kinds().map(|kind| kind.strategy(*strategy))) {
        let sorter = Sorter::new(context.device(), &kind.batches())?;
        let infos = infos(&buffer, &values, &count);
        let scratch = context.buffer(sorter.scratch_size(MAX)?)?;
        for info in &infos {
            let info = SortInfo { scratch: scratch.scratch(), ..*info };
            context.run(|commands| {
                // SAFETY: everything is valid and lives until it has run.
                let result = || unsafe { sorter.cmd_sort(commands, &info) };
                assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0, "{kind:?}, {info:?}");
                Ok(())
            })?;
        }
        // More rows of the table than one command uploads.
        let tiny = (0..200).map(|i| {
            let part = |buffer: &Buffer| {
                let size = 10 * VALUE_SIZE;
                trommel::Range::new(buffer.address() + u64::from(MAX) * VALUE_SIZE - size * (i + 1), size)
            };
            SortInfo { count: Count::host(10), keys: part(&buffer), values: part(&values), ..SortInfo::default() }
        });
        let requests: Vec<_> = infos.iter().copied().chain(tiny).map(|info| Request::Sort(&sorter, info)).collect();
        record_together(&context, &requests, &format!("a batch, {kind:?}"))?;
    }
    assert!(context.messages().is_empty());
    Ok(())
}

/// Merges with one pass and with two, of seven sequences, and with a comparator, alone and together.
#[test]
fn recording_merges_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let info = MergerInfo::keys().batches();
    merges_take_no_heap(&context, &Merger::new(context.device(), &info)?)?;
    merges_take_no_heap(&context, &Merger::new(context.device(), &info.sequences(7))?)?;
    let bytes = include_bytes!("kernels/masked_u32.spv");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let kernel = ComparatorKernel::from_spirv(&words)?;
    // SAFETY: the compiler has created the module from a valid function.
    merges_take_no_heap(&context, &unsafe { Merger::with_comparator(context.device(), &info, &kernel) }?)?;
    assert!(context.messages().is_empty());
    Ok(())
}

/// Sorts by a comparator of one level and of several, alone and together.
#[test]
fn recording_sorts_by_a_comparator_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let buffer = context.upload(&vec![[1u32; 4]; 4 * MAX as usize])?;
    let count = context.upload(&[50u32])?;
    let bytes = include_bytes!("kernels/sort_masked_u32.spv");
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let kernel = SortComparatorKernel::from_spirv(&words)?;
    // SAFETY: the compiler has created the module from a valid function.
    let sorter = unsafe { Sorter::with_comparator(context.device(), &SorterInfo::keys().batches(), &kernel) }?;
    let infos = infos(&buffer, &buffer, &count);
    let scratch = context.buffer(sorter.scratch_size(MAX)?)?;
    for info in &infos {
        let info = SortInfo { scratch: scratch.scratch(), user_words: [0, 0, 0, 1], ..*info };
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            let result = || unsafe { sorter.cmd_sort(commands, &info) };
            assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0, "{info:?}");
            Ok(())
        })?;
    }
    let requests: Vec<_> = infos.iter().map(|info| Request::Sort(&sorter, *info)).collect();
    record_together(&context, &requests, "a batch of sorts by a comparator")?;
    assert!(context.messages().is_empty());
    Ok(())
}

fn merges_take_no_heap(context: &Context, merger: &Merger) -> Result<(), Box<dyn Error>> {
    const MOST: u32 = 100_000;
    let inputs = context.upload(&vec![1u32; MOST as usize])?;
    let outputs = context.upload(&vec![2u32; 12 * MOST as usize])?;
    let count = context.upload(&[50u32])?;
    let merge = |(most, index): (u32, u64)| MergeInfo {
        count_a: Count::device(count.address(), most),
        count_b: Count::host(most / 2),
        keys_a: inputs.range(),
        keys_b: inputs.range(),
        keys_out: trommel::Range::new(outputs.address() + u64::from(MOST) * 12 * index, u64::from(MOST) * 12),
        status: outputs.address() + u64::from(MOST) * 48 - 4 * (index + 1),
        ..MergeInfo::default()
    };
    let merges = [(MOST, 0), (100, 1)].map(merge);
    let sequence =
        MergeSequence { count: Count::device(count.address(), 99), keys: inputs.range(), ..Default::default() };
    // Of seven sequences, if the merger allows so many.
    let more = &[sequence; 5][..merger.info().sequences.max(2) as usize - 2];
    let merges = merges.map(|info| MergeInfo { more, ..info });
    record_together(context, &merges.map(|info| Request::Merge(merger, info)), "a batch of merges")?;
    let all = |info: &MergeInfo| {
        let more: u32 = info.more.iter().map(|sequence| sequence.count.max).sum();
        info.count_a.max + info.count_b.max + more
    };
    for merge in merges {
        let scratch = context.buffer(merger.scratch_size(all(&merge))?)?;
        let merge = MergeInfo { scratch: scratch.scratch(), ..merge };
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            let result = || unsafe { merger.cmd_merge(commands, &merge) };
            assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0, "{merge:?}");
            Ok(())
        })?;
    }
    Ok(())
}

/// An info struct of C, zero except for its type and size.
///
/// # Safety
/// Any bytes make a `T`, which begins with a header.
unsafe fn begun<T>(s_type: TrmStructureType) -> T {
    let mut info = MaybeUninit::<T>::zeroed();
    let header = TrmInfoHeader {
        s_type: s_type as i32,
        struct_size: u32::try_from(size_of::<T>()).expect("structs are small"),
        p_next: ptr::null(),
    };
    // SAFETY: the caller's promise.
    unsafe {
        info.as_mut_ptr().cast::<TrmInfoHeader>().write(header);
        info.assume_init()
    }
}

/// The library's device handle on the context's device.
fn device(context: &Context) -> Result<TrmDevice, Box<dyn Error>> {
    // SAFETY: the loader is the system's own.
    let entry = unsafe { ash::Entry::load() }?;
    let (mut v12, mut v13) = Default::default();
    Requirements::default().enable(&mut v12, &mut v13);
    let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);

    let info = TrmDeviceCreateInfo {
        get_instance_proc_addr: Some(entry.static_fn().get_instance_proc_addr),
        instance: context.instance().handle(),
        physical_device: context.physical_device(),
        device: context.vk().handle(),
        enabled_features: ptr::from_ref(&features).cast(),
        queue_family_index: context.queue_family(),
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::DeviceCreateInfo) }
    };
    let mut device = ptr::null_mut();
    // SAFETY: everything is valid.
    unsafe { assert_eq!(trmCreateDevice(&info, &mut device), 0) };
    Ok(device)
}

#[test]
fn recording_from_c_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let keys = context.upload(&vec![[1u32; 4]; 4 * MAX as usize])?;
    let values = context.upload(&vec![[2u32; 4]; 4 * MAX as usize])?;
    let count = context.upload(&[50u32])?;
    let device = device(&context)?;
    for (key_type, value_type, value_size) in [
        (TrmKeyType::U32, TrmValueType::U32, 0),
        (TrmKeyType::U64, TrmValueType::Bytes, 16),
        (TrmKeyType::I16, TrmValueType::None, 0),
    ] {
        let info = TrmSorterCreateInfo {
            flags: TRM_SORTER_CREATE_BATCHES_BIT,
            key_type: key_type as i32,
            value_type: value_type as i32,
            value_size,
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::SorterCreateInfo) }
        };
        let mut sorter = ptr::null_mut();
        // SAFETY: everything is valid.
        unsafe { assert_eq!(trmCreateSorter(device, &info, &mut sorter), 0) };

        let sort = |info: &SortInfo| TrmSortInfo {
            sorter,
            count: TrmCount { max: info.count.max, address: info.count.address },
            keys: TrmRange { address: info.keys.address, size: info.keys.size },
            values: TrmRange { address: info.values.address, size: info.values.size },
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::SortInfo) }
        };
        let sorts: Vec<_> = infos(&keys, &values, &count).iter().map(sort).collect();
        let pointers: Vec<_> = sorts.iter().map(|info| ptr::from_ref(info).cast::<TrmInfoHeader>()).collect();
        let mut batch = TrmBatchInfo {
            info_count: u32::try_from(pointers.len())?,
            infos: pointers.as_ptr(),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::BatchInfo) }
        };
        let mut size = 0;
        // SAFETY: everything is valid.
        unsafe { assert_eq!(trmGetBatchScratch(&batch, &mut size), 0) };
        let scratch = context.buffer(size)?;
        batch.scratch = TrmScratch { buffer: scratch.handle(), offset: 0, size };
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            let record = || assert_eq!(unsafe { trmCmdBatch(commands, &batch) }, 0);
            assert_eq!(allocations(record), 0, "a batch of {key_type:?}");
            Ok(())
        })?;
        for info in sorts {
            let info = TrmSortInfo { scratch: batch.scratch, ..info };
            context.run(|commands| {
                // SAFETY: everything is valid and lives until it has run.
                let result = || unsafe { trmCmdSort(commands, sorter, &info) };
                assert_eq!(allocations(|| assert_eq!(result(), 0)), 0, "{key_type:?}, {info:?}");
                Ok(())
            })?;
        }
        // SAFETY: the handle is not used any more.
        unsafe { trmDestroySorter(sorter) };
    }
    // SAFETY: the handle is not used any more.
    unsafe { trmDestroyDevice(device) };
    Ok(())
}

/// In a batch and alone, with all results requested and a count in device memory.
#[test]
fn recording_splits_from_c_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let input = context.upload(&vec![[1u32; 4]; 4 * MAX as usize])?;
    let output = context.upload(&vec![[2u32; 4]; 4 * MAX as usize])?;
    let outputs = context.upload(&[0u32; 1000])?;
    let count = context.upload(&[50u32])?;
    let device = device(&context)?;
    for (key_type, bucket_count) in [(TrmKeyType::U32, 16), (TrmKeyType::U64, 5), (TrmKeyType::I16, 5)] {
        let info = TrmSplitterCreateInfo {
            flags: TRM_SPLITTER_CREATE_BATCHES_BIT,
            key_type: key_type as i32,
            bucket_count,
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::SplitterCreateInfo) }
        };
        let mut splitter = ptr::null_mut();
        // SAFETY: everything is valid.
        unsafe { assert_eq!(trmCreateSplitter(device, &info, &mut splitter), 0) };
        let range = |range: trommel::Range| TrmRange { address: range.address, size: range.size };
        let split = |(info, index): (&SortInfo, u64)| {
            // Rows of bucket information, each with room for the maximum number of buckets.
            let part = |nth: u64| TrmRange { address: outputs.address() + 1000 * index + 200 * nth, size: 200 };
            TrmSplitInfo {
                splitter,
                count: TrmCount { max: info.count.max, address: info.count.address },
                keys: range(info.keys),
                keys_out: range(info.values),
                offsets: part(0),
                counts: part(1),
                commands: part(2),
                command_items: 64,
                status: part(3).address,
                // SAFETY: the struct consists of numbers and pointers.
                ..unsafe { begun(TrmStructureType::SplitInfo) }
            }
        };
        let splits: Vec<_> = infos(&input, &output, &count).iter().zip(0..).map(split).collect();
        let pointers: Vec<_> = splits.iter().map(|info| ptr::from_ref(info).cast::<TrmInfoHeader>()).collect();
        let mut batch = TrmBatchInfo {
            info_count: u32::try_from(pointers.len())?,
            infos: pointers.as_ptr(),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::BatchInfo) }
        };
        let mut size = 0;
        // SAFETY: everything is valid.
        unsafe { assert_eq!(trmGetBatchScratch(&batch, &mut size), 0) };
        let scratch = context.buffer(size)?;
        batch.scratch = TrmScratch { buffer: scratch.handle(), offset: 0, size };
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            let record = || assert_eq!(unsafe { trmCmdBatch(commands, &batch) }, 0);
            assert_eq!(allocations(record), 0, "a batch of {key_type:?}");
            Ok(())
        })?;
        for info in splits {
            let info = TrmSplitInfo { scratch: batch.scratch, ..info };
            context.run(|commands| {
                // SAFETY: everything is valid and lives until it has run.
                let result = || unsafe { trmCmdSplit(commands, splitter, &info) };
                assert_eq!(allocations(|| assert_eq!(result(), 0)), 0, "{key_type:?}, {info:?}");
                Ok(())
            })?;
        }
        // SAFETY: the handle is not used any more.
        unsafe { trmDestroySplitter(splitter) };
    }
    // SAFETY: the handle is not used any more.
    unsafe { trmDestroyDevice(device) };
    assert!(context.messages().is_empty());
    Ok(())
}
