//! Recording uses no heap memory, in Rust and in C. A counting allocator checks this.

#![allow(clippy::cast_possible_truncation, reason = "requests and structs are small")]

#[path = "common/calls.rs"]
mod calls;
#[path = "common/spirv.rs"]
mod spirv;

use ash::vk;
use calls::{
    CDevice, Call, Handle, Place, STRATEGIES, Shape, Slot, begun, c_batch, c_infos, c_result, c_scratch, calls,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::error::Error;
use std::sync::Barrier;
use trommel::capi::*;
use trommel::host::{Buffer, Context};
use trommel::{Request, Strategy, Timestamps, batch_scratch_size, cmd_batch};

trommel::primitives!(calls);

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

/// A context, what its calls share, and the scratch and queries of the calls.
struct Machine {
    place: Place,
    _scratch: Buffer,
    context: Context,
}

impl Machine {
    fn new(strategy: Strategy) -> Result<Self, Box<dyn Error>> {
        const QUERIES: u32 = 100;
        let context = Context::new()?;
        // SAFETY: the loader is the system's own.
        let entry = unsafe { ash::Entry::load() }?;
        let info = TrmDeviceCreateInfo {
            get_instance_proc_addr: Some(entry.static_fn().get_instance_proc_addr),
            instance: context.instance().handle(),
            physical_device: context.physical_device(),
            device: context.vk().handle(),
            queue_family_index: context.queue_family(),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::DeviceCreateInfo) }
        };
        let queries = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
        // SAFETY: the device is alive. drop() destroys the pool.
        let pool = unsafe { context.vk().create_query_pool(&queries, None) }?;
        let scratch = context.buffer(64 << 20)?;
        let place = Place {
            device: context.device().clone(),
            // SAFETY: the context has created its device with the features that the library requires.
            c_device: unsafe { CDevice::new(info) },
            scratch: scratch.scratch(),
            timestamps: Timestamps { pool, first: 0 },
            strategy,
            most: 100_000,
        };
        Ok(Self { place, _scratch: scratch, context })
    }

    /// Checks that recording a batch of these calls uses no heap memory, in Rust and in C.
    fn record_together(&self, what: &str, calls: &[Box<dyn Call + '_>]) -> Result<(), Box<dyn Error>> {
        let requests: Vec<Request<'_>> = calls.iter().map(|call| call.request()).collect();
        let scratch = self.context.buffer(batch_scratch_size(&requests)?)?;
        with_commands(&self.context, |commands| {
            // SAFETY: the commands are never executed.
            let result = || unsafe { cmd_batch(commands, &requests, scratch.scratch()) };
            assert_eq!(allocations(|| assert_eq!(result(), Ok(()), "{what}")), 0, "{what} in Rust");
        });
        let infos = c_infos(calls);
        let mut batch = c_batch(&infos);
        let mut size = 0;
        // SAFETY: everything is valid.
        unsafe { assert_eq!(c_result(trmGetBatchScratch(&batch, &mut size)), Ok(()), "{what}") };
        assert_eq!(size, batch_scratch_size(&requests)?);
        batch.scratch = c_scratch(scratch.scratch());
        with_commands(&self.context, |commands| {
            // SAFETY: the commands are never executed.
            let result = || c_result(unsafe { trmCmdBatch(commands, &batch) });
            assert_eq!(allocations(|| assert_eq!(result(), Ok(()), "{what}")), 0, "{what} in C");
        });
        Ok(())
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.context.messages().is_empty(), "{:?}", self.context.messages());
        // SAFETY: no command that names the pool is ever executed.
        unsafe { self.context.vk().destroy_query_pool(self.place.timestamps.pool, None) };
    }
}

/// Calls `record` with a command buffer of which the commands are never executed.
fn with_commands<T>(context: &Context, record: impl FnOnce(vk::CommandBuffer) -> T) -> T {
    let (vk, family) = (context.vk(), context.queue_family());
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    // SAFETY: the device is alive, and the pool is this call's own.
    unsafe {
        let pool = vk.create_command_pool(&info, None).expect("a pool of commands");
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = vk.allocate_command_buffers(&info).expect("a command buffer")[0];
        vk.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()).expect("it begins");
        let result = record(commands);
        vk.end_command_buffer(commands).expect("it ends");
        vk.destroy_command_pool(pool, None);
        result
    }
}

#[test]
fn the_allocator_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

/// Each request alone, and the requests of each handle together.
#[test]
fn recording_takes_no_heap() -> Result<(), Box<dyn Error>> {
    for strategy in STRATEGIES {
        let machine = Machine::new(strategy)?;
        let handles: Vec<_> = HANDLES.iter().flat_map(|handles| handles(&machine.place)).collect();
        for handle in &handles {
            let mut slots = (0..).map(Slot::large);
            let mut calls = handle.calls(&mut slots);
            for call in &calls {
                with_commands(&machine.context, |commands| {
                    let record = || assert_eq!(call.record(commands), Ok(()), "{}", call.name());
                    assert_eq!(allocations(record), 0, "{} in Rust", call.name());
                });
                with_commands(&machine.context, |commands| {
                    let record = || assert_eq!(c_result(call.record_in_c(commands)), Ok(()), "{}", call.name());
                    assert_eq!(allocations(record), 0, "{} in C", call.name());
                });
            }
            // More rows of the table than one command uploads.
            calls.extend(slots.take(200).map(|slot| handle.call(Shape { count: 10, on_device: false, slot })));
            machine.record_together(&format!("a batch of {}", handle.name()), &calls)?;
        }
    }
    Ok(())
}

/// Problems of large batches.
const PROBLEMS: u64 = 30_000;

/// The handles of each primitive.
fn handles(machine: &Machine) -> Vec<Vec<Box<dyn Handle + '_>>> {
    HANDLES.iter().map(|handles| handles(&machine.place)).collect()
}

/// Requests of one, two or three items, with gaps between the arrays, and out of order.
fn scattered(index: u64) -> Shape {
    // Coprime to the number of problems.
    let index = index * 7919 % PROBLEMS;
    let count = 1 + u32::from(index.is_multiple_of(2)) + u32::from(index.is_multiple_of(3));
    Shape { count, on_device: false, slot: Slot::small(index) }
}

/// Ranges with gaps and out of order, and more groups than one plan takes.
#[test]
fn recording_large_batches_takes_no_heap() -> Result<(), Box<dyn Error>> {
    let machine = Machine::new(Strategy::Auto)?;
    let handles = handles(&machine);
    let mut all = handles.iter().flatten().cycle();
    let mut first = handles.iter().map(|handles| &handles[0]).cycle();
    let calls = (0..PROBLEMS).map(|index| {
        if !index.is_multiple_of(500) {
            return first.next().expect("a primitive has handles").call(scattered(index));
        }
        let handle = all.next().expect("a primitive has handles");
        handle.call(Shape { slot: Slot::large(index), ..scattered(index) })
    });
    machine.record_together("a large batch", &calls.collect::<Vec<_>>())
}

/// Threads that record at the same time. One checks its batch in the spans of the device handle. The others have fewer
/// spans than ranges, on their stacks. All accept the independent batch and refuse the batch with a conflict.
#[test]
fn threads_that_record_large_batches_take_no_heap() -> Result<(), Box<dyn Error>> {
    const THREADS: usize = 3;
    let machine = Machine::new(Strategy::Auto)?;
    for handles in handles(&machine) {
        let calls: Vec<_> = (0..PROBLEMS).map(|index| handles[0].call(scattered(index))).collect();
        let requests: Vec<_> = calls.iter().map(|call| call.request()).collect();
        let mut overlapping = requests.clone();
        overlapping.push(requests[usize::try_from(PROBLEMS / 2)?]);
        let scratch = machine.context.buffer(batch_scratch_size(&overlapping)?)?;
        let (context, start) = (&machine.context, Barrier::new(THREADS));
        let record = || {
            with_commands(context, |commands| {
                start.wait();
                // SAFETY: the commands are never executed.
                let result = || unsafe { cmd_batch(commands, &requests, scratch.scratch()) };
                assert_eq!(allocations(|| assert_eq!(result(), Ok(()))), 0);
                // SAFETY: the commands are never executed.
                let refused = || unsafe { cmd_batch(commands, &overlapping, scratch.scratch()) };
                let overlaps = || matches!(refused(), Err(trommel::Error::Overlap { .. }));
                assert_eq!(allocations(|| assert!(overlaps())), 0);
            });
        };
        std::thread::scope(|scope| {
            let threads = [(); THREADS].map(|()| scope.spawn(record));
            threads.into_iter().for_each(|thread| thread.join().expect("no thread panics"));
        });
    }
    Ok(())
}
