//! Lifetimes of pipelines and the threads that create them, on a fake Vulkan that only counts.

mod common;

use common::fake::{self, NVIDIA};
use common::spirv::words_of;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use trommel::{
    BucketFunction, BucketKernel, ComparatorKernel, Count, Device, Error, Merger, MergerInfo, Range, Scratch, SortInfo,
    Sorter, SorterInfo, Splitter, SplitterInfo,
};

/// Pipelines are counted for the whole process, so one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The words of a module, different for each number.
fn numbered(bytes: &[u8], number: u32) -> Vec<u32> {
    let mut words = words_of(bytes);
    // The word of the module that identifies the compiler.
    words[2] = number;
    words
}

/// A user-defined kernel that differs for each number.
fn kernel(number: u32) -> BucketKernel {
    let words = numbered(include_bytes!("kernels/spread_u32.spv"), number);
    BucketKernel::from_spirv(&words).expect("a kernel of this version")
}

fn splitter(device: &Device, number: u32) -> Splitter {
    let info = SplitterInfo::pairs(20, BucketFunction::User).batches();
    // SAFETY: nothing runs here.
    unsafe { Splitter::with_kernel(device, &info, &kernel(number)) }.expect("a kernel for such keys")
}

fn merger(device: &Device, number: u32) -> Merger {
    let words = numbered(include_bytes!("kernels/masked_u32.spv"), number);
    let kernel = ComparatorKernel::from_spirv(&words).expect("a kernel of this version");
    // SAFETY: nothing runs here.
    unsafe { Merger::with_comparator(device, &MergerInfo::pairs().batches(), &kernel) }.expect("a kernel for such keys")
}

#[test]
fn pipelines_go_with_their_last_user() {
    let _alone = alone();
    let device = fake::device(&NVIDIA);
    let (_, before) = fake::created_and_live();
    let live = || fake::created_and_live().1 - before;

    let first = Sorter::new(&device, &SorterInfo::keys()).expect("numbers are always to be had");
    let (created, own) = (fake::created_and_live().0, live());
    assert!(own > 0 && device.pipelines().len() == own);
    let second = Sorter::new(&device, &SorterInfo::keys()).expect("numbers are always to be had");
    assert_eq!((fake::created_and_live().0, live()), (created, own), "sorters that are alike share their pipelines");
    let other = Sorter::new(&device, &SorterInfo::pairs()).expect("numbers are always to be had");
    assert!(live() > own);
    let clone = first.clone();
    drop((first, other));
    assert_eq!(live(), own, "the pipelines of pairs are gone, those of keys are not");
    drop(second);
    assert_eq!(live(), own, "a clone is a user");
    drop(clone);
    assert_eq!((live(), device.pipelines().len()), (0, 0));
    assert!(matches!(
        Sorter::new(&device, &SorterInfo { end_bit: 33, ..SorterInfo::keys() }),
        Err(Error::TooLarge { .. })
    ));

    // A sorter outlives the device handle that created it.
    let last = Sorter::new(&device, &SorterInfo::keys()).expect("numbers are always to be had");
    drop(device);
    assert_eq!(live(), own);
    drop(last);
    assert_eq!(live(), 0);
}

/// An engine that reloads its user-defined functions repeatedly.
#[test]
fn reloaded_functions_leave_nothing_behind() {
    let _alone = alone();
    let device = fake::device(&NVIDIA);
    let (_, before) = fake::created_and_live();
    let mut current = splitter(&device, 0);
    let (own, mut most) = (device.pipelines().len(), 0);
    // The kernel with the user-defined function, in three modes.
    let with_function = 3;
    for number in 1..1000 {
        let (created, _) = fake::created_and_live();
        current = splitter(&device, number);
        assert_eq!(fake::created_and_live().0, created + with_function, "pipelines without the function are shared");
        most = most.max(device.pipelines().len());
    }
    assert!(most <= own + with_function, "{most} pipelines, where a splitter has {own}");
    drop((current, device));
    assert_eq!(fake::created_and_live().1, before);
}

/// The same of comparators: all pipelines of a merger are its own, and equal comparators share them.
#[test]
fn reloaded_comparators_leave_nothing_behind() {
    let _alone = alone();
    let device = fake::device(&NVIDIA);
    let (_, before) = fake::created_and_live();
    let mut current = merger(&device, 0);
    let own = device.pipelines().len();
    for number in 1..100 {
        let (created, _) = fake::created_and_live();
        current = merger(&device, number);
        let again = merger(&device, number);
        assert_eq!(fake::created_and_live().0, created + own);
        drop(again);
        assert_eq!(device.pipelines().len(), own);
    }
    drop((current, device));
    assert_eq!(fake::created_and_live().1, before);
}

#[test]
fn pipelines_made_late_stay_with_the_device() {
    let _alone = alone();
    let device = fake::device(&NVIDIA);
    let (_, before) = fake::created_and_live();
    device.make_pipelines_late();
    let sorter = Sorter::new(&device, &SorterInfo::keys()).expect("numbers are always to be had");
    assert!(device.pipelines().is_empty());
    let scratch = Scratch { buffer: fake::buffer(), offset: 0, size: 1 << 40 };
    let info = SortInfo { count: Count::host(1000), keys: Range::new(1 << 33, 4000), scratch, ..SortInfo::default() };
    for _ in 0..2 {
        // SAFETY: handles are numbers here.
        unsafe { sorter.cmd_sort(fake::command_buffer(), &info) }.expect("the sort is valid");
    }
    drop(sorter);
    assert_eq!((fake::created_and_live().1 - before, device.pipelines().len()), (1, 1));
    drop(device);
    assert_eq!(fake::created_and_live().1, before);
}

/// A deferred sorter creates no pipelines until threads compile, rejects recording until it is ready, and survives a
/// failure.
#[test]
fn deferred_sorters_are_compiled_by_their_callers_threads() {
    let _alone = alone();
    let device = fake::device(&NVIDIA);
    let usual = Sorter::new(&device, &SorterInfo::pairs()).expect("numbers are always to be had");
    let (own, before) = (device.pipelines().len(), fake::created_and_live().1);
    assert!(
        usual.is_ready() && usual.compile().is_ok() && fake::created_and_live().1 == before,
        "nothing is left to create"
    );
    drop(usual);

    let sorter = Sorter::new(&device, &SorterInfo::pairs().deferred()).expect("numbers are always to be had");
    assert!(!sorter.is_ready() && device.pipelines().is_empty());
    let scratch = Scratch { buffer: fake::buffer(), offset: 0, size: 1 << 40 };
    let (keys, values) = (Range::new(1 << 33, 4000), Range::new(1 << 34, 4000));
    let info = SortInfo { count: Count::host(1000), keys, values, scratch, ..SortInfo::default() };
    // SAFETY: handles are numbers here.
    let record = || unsafe { sorter.cmd_sort(fake::command_buffer(), &info) };
    fake::take_commands();
    let not_ready = Err(Error::NotReady { argument: "sorter" });
    assert_eq!((record(), fake::take_commands().len()), (not_ready.clone(), 0));

    fake::refuse_pipelines(true);
    let failed = sorter.compile();
    fake::refuse_pipelines(false);
    assert!(matches!(failed, Err(Error::Vulkan(_))) && !sorter.is_ready());
    assert_eq!(record(), not_ready);

    fake::take_creating_threads();
    let gate = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let (sorter, gate) = (sorter.clone(), &gate);
            scope.spawn(move || {
                gate.wait();
                sorter.compile()
            });
        }
    });
    assert!(sorter.is_ready() && !fake::take_creating_threads().is_empty());
    assert_eq!(device.pipelines().len(), own, "as many as a sorter has that is not deferred");
    assert_eq!(record(), Ok(()));
}

/// With one creation thread, the calling thread creates all pipelines. Some engines allow no further threads, or
/// synchronize their pipeline cache themselves.
#[test]
fn one_thread_is_the_calling_one() {
    let _alone = alone();
    let device = fake::device_with(&NVIDIA, |info| info.creation_threads = 1).expect("the facts are above the floor");
    fake::take_creating_threads();
    let sorter = Sorter::new(&device, &SorterInfo::keys());
    let own = format!("{:?}", std::thread::current().id());
    assert!(sorter.is_ok() && fake::take_creating_threads().into_iter().eq([own]));
}

/// The caller's allocation callbacks need not be thread-safe.
#[test]
fn allocation_callbacks_are_for_the_calling_thread_alone() {
    let _alone = alone();
    let device = fake::device_with(&NVIDIA, |info| {
        info.creation_threads = 8;
        info.allocation_callbacks = Some(ash::vk::AllocationCallbacks::default());
    });
    let device = device.expect("the facts are above the floor");
    fake::take_creating_threads();
    let sorter = Sorter::new(&device, &SorterInfo::keys());
    let own = format!("{:?}", std::thread::current().id());
    assert!(sorter.is_ok() && fake::take_creating_threads().into_iter().eq([own]));
}

/// The environment of [`sorters_are_made_where_threads_are_not`]'s child.
const CHILD: &str = "TROMMEL_TEST_WITHOUT_THREADS";

/// If the system creates no threads, the calling thread creates all pipelines. Here no thread has memory for its stack.
#[test]
fn sorters_are_made_where_threads_are_not() {
    if std::env::var_os(CHILD).is_some() {
        let refused = std::thread::Builder::new().spawn(|| ());
        println!("threads are refused: {}", refused.is_err());
        let device =
            fake::device_with(&NVIDIA, |info| info.creation_threads = 8).expect("the facts are above the floor");
        fake::take_creating_threads();
        let sorter = Sorter::new(&device, &SorterInfo::pairs());
        println!("made: {}, by {} thread", sorter.is_ok(), fake::take_creating_threads().len());
        return;
    }
    let mut child = Command::new(std::env::current_exe().expect("a path"));
    // With one test thread, tests run on the main thread.
    child.args(["--exact", "sorters_are_made_where_threads_are_not", "--nocapture", "--test-threads=1"]);
    let stack = (1u64 << 60).to_string();
    let output = child.env(CHILD, "1").env("RUST_MIN_STACK", stack).output().expect("the test itself can be run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("threads are refused: true") && text.contains("made: true, by 1 thread"), "{output:?}");
}
