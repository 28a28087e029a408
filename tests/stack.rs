//! Recording runs on small stacks, such as those of fibers: every recording function uses at most 64 KiB.

#![cfg(target_os = "linux")]
#![allow(clippy::cast_possible_truncation, reason = "batches and structs are small")]

#[path = "common/calls.rs"]
mod calls;
mod common;

use ash::vk;
use ash::vk::Handle as _;
use calls::{CDevice, Call, Place, STRATEGIES, Shape, Slot, begun, c_batch, c_infos, c_result, c_scratch, calls};
use common::fake::{self, NVIDIA};
use common::spirv;
use std::ffi::{c_int, c_void};
use std::fmt::Debug;
use std::ptr;
use trommel::capi::*;
use trommel::{Request, Scratch, Strategy, Timestamps, cmd_batch};

trommel::primitives!(calls);

/// Maximum stack size of recording in bytes, without the thread's own use.
const LIMIT: usize = 64 * 1024;

/// Size of the measured stack in bytes. All of it is written and read for each call.
const STACK: usize = 1 << 20;

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

/// Checks that `call` succeeds and uses at most [`LIMIT`] bytes of stack.
fn assert_small<E: Debug>(what: &str, call: impl Fn() -> Result<(), E>) {
    let own = stack_of_thread(|| ());
    let taken = stack_of_thread(|| call().unwrap_or_else(|error| panic!("{what}: {error:?}"))) - own;
    println!("{what}: {taken} bytes of stack");
    assert!(taken <= LIMIT, "{what} takes {taken} bytes of stack");
}

/// A device with large tiles: its plans are those of large GPUs.
fn place(strategy: Strategy) -> Place {
    let device = fake::device(&NVIDIA);
    let info = TrmDeviceCreateInfo {
        get_instance_proc_addr: Some(fake::get_proc_addr),
        instance: vk::Instance::from_raw(1),
        physical_device: vk::PhysicalDevice::from_raw(2),
        device: vk::Device::from_raw(3),
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::DeviceCreateInfo) }
    };
    Place {
        device,
        // SAFETY: handles are numbers here.
        c_device: unsafe { CDevice::new(info) },
        scratch: Scratch { buffer: fake::buffer(), offset: 0, size: 1 << 40 },
        timestamps: Timestamps { pool: vk::QueryPool::from_raw(8), first: 0 },
        strategy,
        most: 1 << 24,
    }
}

/// Checks that a batch of these calls uses little stack, in Rust and in C.
fn assert_small_batch(what: &str, place: &Place, calls: &[Box<dyn Call + '_>]) {
    let commands = fake::command_buffer();
    let infos = c_infos(calls);
    let batch = TrmBatchInfo { scratch: c_scratch(place.scratch), ..c_batch(&infos) };
    // SAFETY: everything is valid.
    assert_small(&format!("{what} in C"), || c_result(unsafe { trmCmdBatch(commands, &batch) }));
    let requests: Vec<Request<'_>> = calls.iter().map(|call| call.request()).collect();
    // SAFETY: everything is valid.
    assert_small(&format!("{what} in Rust"), || unsafe { cmd_batch(commands, &requests, place.scratch) });
}

/// Each function alone, at sizes of every algorithm, with timestamps; includes the largest plans.
#[test]
fn one_request_records_on_a_small_stack() {
    for strategy in STRATEGIES {
        let place = place(strategy);
        for handle in HANDLES.iter().flat_map(|handles| handles(&place)) {
            for call in handle.calls(&mut (0..).map(Slot::large)) {
                let commands = fake::command_buffer();
                assert_small(&format!("{} in C", call.name()), || c_result(call.record_in_c(commands)));
                assert_small(&format!("{} in Rust", call.name()), || call.record(commands));
            }
        }
    }
}

/// More groups than are recorded side by side, all different, with segments among them; and more arrays than one
/// comparison holds, in no order.
#[test]
fn batches_record_on_small_stacks() {
    const MANY: u64 = 1000;
    for strategy in STRATEGIES {
        let place = place(strategy);
        let handles: Vec<_> = HANDLES.iter().map(|handles| handles(&place)).collect();
        let mut slots = (0..).map(Slot::large);
        let all: Vec<_> = handles.iter().flatten().flat_map(|handle| handle.calls(&mut slots)).collect();
        assert!(all.len() > 100, "{}", all.len());
        assert_small_batch(&format!("{} requests of all handles", all.len()), &place, &all);

        // Coprime to the number of requests.
        let shuffled = |index: u64| index * 617 % MANY;
        for handle in handles.iter().map(|handles| &handles[0]) {
            let shape = |index| Shape { count: 1 + index as u32, on_device: true, slot: Slot::small(shuffled(index)) };
            let calls: Vec<_> = (0..MANY).map(|index| handle.call(shape(index))).collect();
            assert_small_batch(&format!("{MANY} requests in no order, {}", handle.name()), &place, &calls);
        }
        let counts = [1000, 50_000, 1 << 20];
        let mixed = (0..MANY).zip(handles.iter().flatten().cycle()).map(|(index, handle)| {
            let count = counts[(index * 3 / MANY) as usize];
            handle.call(Shape { count, on_device: true, slot: Slot::large(shuffled(index)) })
        });
        let mixed: Vec<_> = mixed.collect();
        assert_small_batch(&format!("{MANY} requests of all handles in no order"), &place, &mixed);
    }
}
