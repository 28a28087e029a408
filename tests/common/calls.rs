//! Calls that record, in Rust and in C, for the tests of stack and heap. Each primitive has its own in
//! `tests/<name>/calls.rs`.
//!
//! The commands are never executed. So arrays are addresses without memory, and only scratch is a buffer.

use ash::vk;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;
use trommel::capi::*;
use trommel::{Count, Device, KeyType, Range, Request, Requirements, Scratch, Strategy, Timestamps, ValueType};

/// Declares the calls of every primitive at the root of a test: `primitives!(calls)`.
macro_rules! calls {
    ($(
        $feature:literal: $module:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        $(mod $module {
            pub(crate) mod calls;
        })*

        /// Creates the handles of each primitive.
        const HANDLES: &[for<'a> fn(&'a crate::calls::Place) -> Vec<Box<dyn crate::calls::Handle + 'a>>] =
            &[$($module::calls::handles),*];
    };
}
pub(crate) use calls;

/// The device of handles, and the arguments that all calls share.
pub(crate) struct Place {
    pub(crate) device: Device,
    /// The same Vulkan device in C.
    pub(crate) c_device: CDevice,
    /// Suffices for each request alone.
    pub(crate) scratch: Scratch,
    pub(crate) timestamps: Timestamps,
    /// The strategy of handles that have one.
    pub(crate) strategy: Strategy,
    /// The largest maximum count of a request.
    pub(crate) most: u32,
}

/// The library's device handle in C.
pub(crate) struct CDevice(pub(crate) TrmDevice);

impl CDevice {
    /// # Safety
    /// As `trmCreateDevice`. `info` needs no features: the device has those that the library requires.
    pub(crate) unsafe fn new(info: TrmDeviceCreateInfo) -> Self {
        let (mut v12, mut v13) = Default::default();
        Requirements::default().enable(&mut v12, &mut v13);
        let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
        let info = TrmDeviceCreateInfo { enabled_features: ptr::from_ref(&features).cast(), ..info };
        let mut device = ptr::null_mut();
        // SAFETY: the caller's promise.
        assert_eq!(unsafe { trmCreateDevice(&info, &mut device) }, 0);
        Self(device)
    }
}

impl Drop for CDevice {
    fn drop(&mut self) {
        // SAFETY: its handles borrow the place, so they are gone.
        unsafe { trmDestroyDevice(self.0) };
    }
}

/// The strategies of the checked handles: one with waiting and one without.
pub(crate) const STRATEGIES: [Strategy; 2] = [Strategy::Lookback, Strategy::ReduceThenScan];

/// A handle in Rust and one in C with the same parameters.
pub(crate) trait Handle {
    /// The parameters, for messages.
    fn name(&self) -> String;

    /// Maximum counts of requests, at most [`Place::most`]: each algorithm and each length of a plan.
    fn counts(&self) -> Vec<u32>;

    fn call(&self, shape: Shape) -> Box<dyn Call + '_>;

    /// Calls of all counts, on the host and on the device, each in one of the slots.
    fn calls(&self, slots: &mut dyn Iterator<Item = Slot>) -> Vec<Box<dyn Call + '_>> {
        let shapes = self.counts().into_iter().flat_map(|count| [false, true].map(|on_device| (count, on_device)));
        let shapes = shapes.zip(slots).map(|((count, on_device), slot)| Shape { count, on_device, slot });
        shapes.map(|shape| self.call(shape)).collect()
    }
}

/// One request, in Rust and in C.
pub(crate) trait Call {
    /// The request, for messages.
    fn name(&self) -> String;

    fn request(&self) -> Request<'_>;

    /// The same in C. The pointer is valid as long as the call.
    fn info(&self) -> *const TrmInfoHeader;

    /// Records the request alone, with timestamps.
    fn record(&self, commands: vk::CommandBuffer) -> trommel::Result<()>;

    /// The same in C.
    fn record_in_c(&self, commands: vk::CommandBuffer) -> i32;
}

/// The size of a request and its arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The maximum count. Requests of several counts have it in each.
    pub(crate) count: u32,
    /// Whether a count is in device memory, and a status is written.
    pub(crate) on_device: bool,
    pub(crate) slot: Slot,
}

impl Shape {
    /// Space for `len` elements in the `nth` of the request's arrays.
    pub(crate) fn array(&self, nth: u64, len: u64, size: u32) -> Range {
        let range = Range::new(self.slot.address + nth * self.slot.array, len * u64::from(size));
        assert!(nth < Slot::ARRAYS && range.size <= self.slot.array, "{self:?} has no space for {len} x {size} bytes");
        range
    }

    /// The count, of which the address is that of the `nth` array.
    pub(crate) fn count(&self, nth: u64) -> Count {
        Count { max: self.count, address: if self.on_device { self.array(nth, 1, 4).address } else { 0 } }
    }

    /// The address of the status, which is the `nth` array; 0 if none is written.
    pub(crate) fn status(&self, nth: u64) -> u64 {
        self.count(nth).address
    }
}

/// Addresses of one request's arrays, disjoint from those of other slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    address: u64,
    /// Bytes of an array.
    array: u64,
}

impl Slot {
    const ARRAYS: u64 = 8;

    /// For arrays of up to 1 GiB.
    pub(crate) const fn large(index: u64) -> Self {
        Self::of(1 << 40, 1 << 30, index)
    }

    /// For arrays of up to 2000 words, close together.
    pub(crate) const fn small(index: u64) -> Self {
        Self::of(1 << 32, 1 << 13, index)
    }

    const fn of(first: u64, array: u64, index: u64) -> Self {
        Self { address: first + Self::ARRAYS * array * index, array }
    }
}

/// An info struct of C, zero except for its type and size.
///
/// # Safety
/// Any bytes make a `T`, which begins with a header.
pub(crate) unsafe fn begun<T>(s_type: TrmStructureType) -> T {
    let mut info = MaybeUninit::<T>::zeroed();
    let header = TrmInfoHeader { s_type: s_type as i32, struct_size: size_of::<T>() as u32, p_next: ptr::null() };
    // SAFETY: the caller's promise.
    unsafe {
        info.as_mut_ptr().cast::<TrmInfoHeader>().write(header);
        info.assume_init()
    }
}

/// A batch in C. Its scratch is missing.
pub(crate) fn c_batch(infos: &[*const TrmInfoHeader]) -> TrmBatchInfo {
    TrmBatchInfo {
        info_count: infos.len() as u32,
        infos: infos.as_ptr(),
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::BatchInfo) }
    }
}

/// The result of a function in C, with its error message.
pub(crate) fn c_result(code: i32) -> Result<(), String> {
    // SAFETY: the text is valid until the next error of this thread.
    let message = || unsafe { CStr::from_ptr(trmGetLastError()) }.to_string_lossy().into_owned();
    if code == 0 { Ok(()) } else { Err(message()) }
}

/// The infos of calls in C.
pub(crate) fn c_infos(calls: &[Box<dyn Call + '_>]) -> Vec<*const TrmInfoHeader> {
    calls.iter().map(|call| call.info()).collect()
}

pub(crate) fn c_count(count: Count) -> TrmCount {
    TrmCount { max: count.max, address: count.address }
}

pub(crate) fn c_range(range: Range) -> TrmRange {
    TrmRange { address: range.address, size: range.size }
}

pub(crate) fn c_scratch(scratch: Scratch) -> TrmScratch {
    TrmScratch { buffer: scratch.buffer, offset: scratch.offset, size: scratch.size }
}

pub(crate) fn c_timestamps(timestamps: Timestamps) -> TrmTimestamps {
    TrmTimestamps { pool: timestamps.pool, first: timestamps.first }
}

pub(crate) fn c_key(key: KeyType) -> i32 {
    let key = match key {
        KeyType::U8 => TrmKeyType::U8,
        KeyType::U16 => TrmKeyType::U16,
        KeyType::U32 => TrmKeyType::U32,
        KeyType::U64 => TrmKeyType::U64,
        KeyType::I8 => TrmKeyType::I8,
        KeyType::I16 => TrmKeyType::I16,
        KeyType::I32 => TrmKeyType::I32,
        KeyType::I64 => TrmKeyType::I64,
        KeyType::F16 => TrmKeyType::F16,
        KeyType::Bf16 => TrmKeyType::BF16,
        KeyType::F32 => TrmKeyType::F32,
        KeyType::F64 => TrmKeyType::F64,
        KeyType::U32x2 => TrmKeyType::U32X2,
        KeyType::U32x3 => TrmKeyType::U32X3,
        KeyType::U32x4 => TrmKeyType::U32X4,
        _ => panic!("{key:?} is not known here"),
    };
    key as i32
}

/// The type of values, and the size that it needs.
pub(crate) fn c_value(value: ValueType) -> (i32, u32) {
    let (of_type, size) = match value {
        ValueType::None => (TrmValueType::None, 0),
        ValueType::U32 => (TrmValueType::U32, 0),
        ValueType::Bytes(size) => (TrmValueType::Bytes, size),
        ValueType::Index => (TrmValueType::Index, 0),
        _ => panic!("{value:?} is not known here"),
    };
    (of_type as i32, size)
}

pub(crate) fn c_strategy(strategy: Strategy) -> i32 {
    let strategy = match strategy {
        Strategy::Auto => TrmStrategy::Auto,
        Strategy::Lookback => TrmStrategy::Lookback,
        Strategy::ReduceThenScan => TrmStrategy::ReduceThenScan,
        Strategy::ChainedScan => TrmStrategy::ChainedScan,
        Strategy::Ring => TrmStrategy::Ring,
        Strategy::RingInOrder => TrmStrategy::RingInOrder,
        _ => panic!("{strategy:?} is not known here"),
    };
    strategy as i32
}
