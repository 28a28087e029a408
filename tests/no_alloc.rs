//! Recording takes no heap memory: a counting allocator says so, for Rust's functions and for C's.

use ash::vk;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::error::Error;
use std::ptr;
use trommel::capi::*;
use trommel::host::{Buffer, Context};
use trommel::{Count, Request, Requirements, SortInfo, Sorter, SorterInfo, Strategy, batch_scratch_size, cmd_batch};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: all of it is the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends counts no more.
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

/// How often this thread allocates meanwhile.
fn allocations(record: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    record();
    ALLOCATIONS.get() - before
}

const MAX: u32 = 30_000;

/// One small and one large problem of each kind of count, in parts of the same buffers.
fn infos(keys: &Buffer, values: &Buffer, count: &Buffer) -> Vec<SortInfo> {
    let sizes = [(100, false), (100, true), (MAX, false), (MAX, true)];
    let parts = sizes.iter().zip(0u64..).map(|((max, on_device), index)| {
        let part = |buffer: &Buffer| trommel::Range::new(buffer.address() + index * u64::from(MAX) * 4, u64::from(*max) * 4);
        let count = if *on_device { Count::device(count.address(), *max) } else { Count::host(*max) };
        SortInfo { count, keys: part(keys), values: part(values), ..SortInfo::default() }
    });
    parts.collect()
}

#[test]
fn the_allocator_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn recording_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let buffer = context.upload(&vec![1u32; 4 * MAX as usize])?;
    let values = context.upload(&vec![2u32; 4 * MAX as usize])?;
    let count = context.upload(&[50u32])?;
    for strategy in [Strategy::Lookback, Strategy::ReduceThenScan] {
        let sorter = Sorter::new(context.device(), &SorterInfo::pairs().strategy(strategy))?;
        let infos = infos(&buffer, &values, &count);
        let scratch = context.buffer(sorter.scratch_size(MAX)?)?;
        for info in &infos {
            let info = SortInfo { scratch: scratch.scratch(), ..*info };
            context.run(|commands| {
                // SAFETY: everything is valid and lives until it has run.
                let result = || unsafe { sorter.cmd_sort(commands, &info) };
                assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0, "{strategy:?}, {info:?}");
                Ok(())
            })?;
        }
        // More rows than one command uploads.
        let tiny = (0..200).map(|i| SortInfo {
            count: Count::host(10),
            keys: trommel::Range::new(buffer.address() + u64::from(MAX) * 4 - 40 * (i + 1), 40),
            values: trommel::Range::new(values.address() + u64::from(MAX) * 4 - 40 * (i + 1), 40),
            ..SortInfo::default()
        });
        let requests: Vec<_> = infos.iter().copied().chain(tiny).map(|info| Request::Sort(&sorter, info)).collect();
        let scratch = context.buffer(batch_scratch_size(&requests)?)?;
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            let result = || unsafe { cmd_batch(commands, &requests, scratch.scratch()) };
            assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0, "a batch, {strategy:?}");
            Ok(())
        })?;
    }
    assert!(context.messages().is_empty());
    Ok(())
}

#[test]
fn recording_from_c_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let context = Context::new()?;
    let keys = context.upload(&vec![1u32; 4 * MAX as usize])?;
    let values = context.upload(&vec![2u32; 4 * MAX as usize])?;
    let count = context.upload(&[50u32])?;
    // SAFETY: the loader is the system's own.
    let entry = unsafe { ash::Entry::load() }?;
    let (mut v12, mut v13) = Default::default();
    Requirements::default().enable(&mut v12, &mut v13);
    let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
    let header = |s_type: TrmStructureType, size: usize| (s_type as i32, u32::try_from(size).unwrap(), ptr::null());

    let (s_type, struct_size, p_next) = header(TrmStructureType::DeviceCreateInfo, size_of::<TrmDeviceCreateInfo>());
    let info = TrmDeviceCreateInfo {
        s_type,
        struct_size,
        p_next,
        get_instance_proc_addr: Some(entry.static_fn().get_instance_proc_addr),
        instance: context.instance().handle(),
        physical_device: context.physical_device(),
        device: context.vk().handle(),
        enabled_features: ptr::from_ref(&features).cast(),
        queue_family_index: context.queue_family(),
        debug_utils: 0,
        pipeline_cache: VkPipelineCache::default(),
        allocation_callbacks: ptr::null(),
        profile: ptr::null(),
    };
    let (mut device, mut sorter) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: everything is valid.
    unsafe { assert_eq!(trmCreateDevice(&info, &mut device), 0) };
    let (s_type, struct_size, p_next) = header(TrmStructureType::SorterCreateInfo, size_of::<TrmSorterCreateInfo>());
    let info = TrmSorterCreateInfo { s_type, struct_size, p_next, key_type: 0, value_type: 1, strategy: 0, flags: 0 };
    // SAFETY: everything is valid.
    unsafe { assert_eq!(trmCreateSorter(device, &info, &mut sorter), 0) };

    let (s_type, struct_size, p_next) = header(TrmStructureType::SortInfo, size_of::<TrmSortInfo>());
    let sort = |info: &SortInfo| TrmSortInfo {
        s_type,
        struct_size,
        p_next,
        count: TrmCount { max: info.count.max, address: info.count.address },
        keys: TrmRange { address: info.keys.address, size: info.keys.size },
        values: TrmRange { address: info.values.address, size: info.values.size },
        scratch: TrmScratch::default(),
        status: 0,
        timestamps: TrmTimestamps::default(),
        sorter,
    };
    let sorts: Vec<_> = infos(&keys, &values, &count).iter().map(sort).collect();
    let pointers: Vec<_> = sorts.iter().map(|info| ptr::from_ref(info).cast::<TrmInfoHeader>()).collect();
    let (s_type, struct_size, p_next) = header(TrmStructureType::BatchInfo, size_of::<TrmBatchInfo>());
    let mut batch = TrmBatchInfo {
        s_type,
        struct_size,
        p_next,
        info_count: u32::try_from(pointers.len())?,
        infos: pointers.as_ptr(),
        scratch: TrmScratch::default(),
    };
    let mut size = 0;
    // SAFETY: everything is valid.
    unsafe { assert_eq!(trmGetBatchScratch(&batch, &mut size), 0) };
    let scratch = context.buffer(size)?;
    batch.scratch = TrmScratch { buffer: scratch.handle(), offset: 0, size };
    context.run(|commands| {
        // SAFETY: everything is valid and lives until it has run.
        assert_eq!(allocations(|| assert_eq!(unsafe { trmCmdBatch(commands, &batch) }, 0)), 0, "a batch");
        Ok(())
    })?;
    for info in sorts {
        let info = TrmSortInfo { scratch: batch.scratch, ..info };
        context.run(|commands| {
            // SAFETY: everything is valid and lives until it has run.
            assert_eq!(allocations(|| assert_eq!(unsafe { trmCmdSort(commands, sorter, &info) }, 0)), 0, "{info:?}");
            Ok(())
        })?;
    }
    // SAFETY: nobody uses them any more.
    unsafe {
        trmDestroySorter(sorter);
        trmDestroyDevice(device);
    }
    Ok(())
}
