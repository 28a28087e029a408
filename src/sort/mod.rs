//! Stable radix sort of integers and floats of 8 to 128 bits, with or without values, ascending or descending, by any
//! range of bits.
//!
//! Create a [`Sorter`] once; [`Sorter::cmd_sort`] appends a sort to a command buffer. Counts can be read on the device.
//! A small sort (up to some thousands of keys) is one dispatch of one workgroup. A small sort that is recorded alone is
//! one or two dispatches of several workgroups. A larger sort has one to three dispatches for each digit of eight bits,
//! and up to six more. Large sorts skip constant digits. [`Sorter::with_comparator`] creates a merge sort in the order
//! of a user-defined function.

mod algorithm;
#[cfg(feature = "host")]
pub(crate) mod host;
mod info;
// `shared` declares this file in a macro, where rustfmt does not see it.
#[cfg(rustfmt)]
mod interface;
mod kernel;
mod plan;
#[cfg(test)]
mod tests;

pub use info::SorterInfo;
pub use kernel::SortComparatorKernel;

#[cfg(doc)]
use crate::Layout;
use crate::core::handle::{describe, record_one, scratch_size, timestamp_count};
use crate::core::pipelines::Module;
use crate::core::primitive::{JobOf, Planner as _, Primitive, RequestInfo};
use crate::radix::{Format, Items, Operation, check_no_input};
use crate::shared::FLAG_EVEN;
use crate::{Count, Device, Placement, Range, Result, Scratch, Segments, Strategy, Timestamps};
#[cfg(test)]
pub(crate) use algorithm::{Algorithm, Finish};
use ash::vk;
#[cfg_attr(not(feature = "default"), allow(unused_imports, reason = "each primitive uses a part of it"))]
pub(crate) use plan::{SortTable, Sorting};
use std::sync::Arc;

/// The parameters of one sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortInfo {
    /// Number of keys, at most [`SorterInfo::max_count`]. With segments: the length of the arrays, known on the host.
    /// Offsets past it are clamped and flagged in the status.
    pub count: Count,
    /// `count.max` keys, or {key, value} items if interleaved. Overwritten unless the placement preserves them. Bytes
    /// past the count are never written.
    pub keys: Range,
    /// `count.max` values, moved with their keys. Indices are written but not read. Ignored without values.
    pub values: Range,
    /// The sorted keys for [`Placement::Preserve`], the second array for [`Placement::DoubleBuffer`]; as long as
    /// `keys`. Ignored if the input is preserved and keys are dropped.
    pub keys_out: Range,
    /// As `keys_out`, for values.
    pub values_out: Range,
    /// For [`Layout::Strided`]: bytes from one key to the next, a multiple of the alignment. Less than 2^16 words, or
    /// less than 2^16 bytes for keys narrower than a word. 0: dense.
    pub key_stride: u32,
    /// As `key_stride`, for values.
    pub value_stride: u32,
    /// The segments of a [`SorterInfo::segmented`] sorter.
    pub segments: Segments,
    /// For [`Sorter::with_comparator`]: `data.address` in the comparator, the address of additional input. The sort
    /// must not write to it. Otherwise 0.
    pub user_address: vk::DeviceAddress,
    /// For [`Sorter::with_comparator`]: `data.words` in the comparator. Otherwise zeros.
    pub user_words: [u32; 4],
    /// [`Sorter::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Device address of a `u32` that receives [`crate::STATUS_COUNT_CLAMPED`] or 0. 0: no status.
    pub status: vk::DeviceAddress,
    /// The queries for timestamps of the passes: [`Sorter::timestamp_count`] of them. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

impl From<SortInfo> for Items {
    fn from(info: SortInfo) -> Self {
        let SortInfo {
            count,
            keys,
            values,
            keys_out,
            values_out,
            key_stride,
            value_stride,
            segments,
            user_address,
            user_words,
            scratch,
            status,
            timestamps,
        } = info;
        Self {
            count,
            keys,
            values,
            keys_out,
            values_out,
            key_stride,
            value_stride,
            segments,
            user_address,
            user_words,
            scratch,
            status,
            timestamps,
        }
    }
}

impl RequestInfo for SortInfo {
    fn max_count(&self) -> u32 {
        self.count.max
    }

    fn scratch(&self) -> Scratch {
        self.scratch
    }

    fn queries(&self) -> Option<Timestamps> {
        self.timestamps
    }
}

impl Primitive for Sorter {
    const NAME: &'static str = "sorter";
    type Info<'i> = SortInfo;
    type Planner = Operation<Sorting>;

    fn planner(&self) -> &Operation<Sorting> {
        &self.operation
    }

    fn check(&self, info: &SortInfo) -> Result<()> {
        if self.operation.format.comparator != 0 {
            return Ok(());
        }
        check_no_input(info.user_address, info.user_words, "the sorter has no comparator")
    }

    fn job<'i>(&self, info: &Self::Info<'i>) -> JobOf<'i, Self> {
        (*info).into()
    }
}

/// The pipelines for sorts of one format on one device. Immutable: any number of threads may record with it.
///
/// Sorters with equal parameters share their pipelines; the last one destroys them. A sorter, or a clone of it, must
/// outlive the execution of all commands recorded with it.
#[derive(Clone, Debug)]
pub struct Sorter {
    info: SorterInfo,
    operation: Operation<Sorting>,
    /// The module of a user-defined comparator.
    _module: Option<Arc<Module>>,
}

impl Sorter {
    /// Creates a sorter with every pipeline that its sorts can use: of counts up to [`SorterInfo::max_count`], and in
    /// batches of several problems only with [`SorterInfo::batches`]. Threads of the library create the pipelines and
    /// end before the call returns: see [`crate::DeviceInfo::creation_threads`]. With [`SorterInfo::deferred`] the call
    /// creates no pipelines: see [`Sorter::compile`].
    ///
    /// # Errors
    /// Names the invalid member of `info` and the reason; [`crate::Error::Vulkan`] if a pipeline cannot be created.
    pub fn new(device: &Device, info: &SorterInfo) -> Result<Self> {
        let operation = Operation::new(device, info.format()?, Sorting, info.strategy, info.options())?;
        Ok(Self { info: *info, operation, _module: None })
    }

    /// Creates a sorter in the order of a user-defined comparator. Keys are equal if neither comes before the other;
    /// these keep their order. The order in `info` is ascending: the comparator takes its place. Sorts of any count
    /// are merge sorts: the strategy has no effect. They begin with a transfer to scratch, even for few keys.
    ///
    /// If the comparator is no strict weak order, the content of the outputs is undefined, and it may receive any key.
    /// Memory outside the ranges is never accessed, except by the comparator itself.
    ///
    /// # Errors
    /// As [`Sorter::new`]; [`crate::Error::Malformed`] if the kernel is for another key type, and unless `info` has
    /// [`crate::Order::Ascending`], all bits of the key, and no segments; [`crate::Error::TooLarge`] for a maximum
    /// count above 2^30.
    ///
    /// # Safety
    /// The kernel uses only features and shared memory that the device has. If it was created from SPIR-V, the module
    /// is valid.
    pub unsafe fn with_comparator(device: &Device, info: &SorterInfo, kernel: &SortComparatorKernel) -> Result<Self> {
        let format = info.format_of_comparator()?;
        kernel.0.check_key(info.key)?;
        let module = device.add_module(kernel.0.code());
        let format = Format { comparator: module.number(), ..format };
        let operation = Operation::new(device, format, Sorting, info.strategy, info.options())?;
        Ok(Self { info: *info, operation, _module: Some(module) })
    }

    /// Creates pipelines of a sorter with [`SorterInfo::deferred`] on the calling thread, until every remaining
    /// pipeline is created or in progress on another thread. Any number of threads may call it at once, also on clones
    /// of the sorter. The sorter is ready when all calls have returned.
    ///
    /// # Errors
    /// [`crate::Error::Vulkan`] if a pipeline cannot be created. The next call tries again.
    pub fn compile(&self) -> Result<()> {
        self.operation.handle().compile()
    }

    /// Whether all pipelines have been created and sorts can be recorded. Always true without [`SorterInfo::deferred`].
    pub fn is_ready(&self) -> bool {
        self.operation.handle().is_ready()
    }

    /// The device of the sorter.
    pub fn device(&self) -> &Device {
        self.operation.handle().device()
    }

    /// The parameters of the sorter.
    pub fn info(&self) -> &SorterInfo {
        &self.info
    }

    /// The strategy in use, never [`Strategy::Auto`].
    pub fn strategy(&self) -> Strategy {
        self.operation.strategy()
    }

    /// The arrays that hold the result: 0 for `keys` and `values`, 1 for `keys_out` and `values_out`. Always 0 with
    /// [`Placement::InPlace`] and 1 with [`Placement::Preserve`]. With [`Placement::DoubleBuffer`] it depends on the
    /// range of bits, not on the count.
    pub fn result_side(&self) -> u32 {
        let first = match self.operation.format.placement {
            Placement::InPlace => true,
            Placement::Preserve => false,
            Placement::DoubleBuffer => self.operation.format.rule() == FLAG_EVEN,
        };
        if first { 0 } else { 1 }
    }

    /// Bytes of scratch that suffice for every sort of at most `max_count` keys. Non-decreasing in `max_count`.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] above [`SorterInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        scratch_size(&self.operation, max_count)
    }

    /// Number of queries that [`SortInfo::timestamps`] needs for a sort of exactly `max_count`: one before the first
    /// pass and one after each pass. All are written. Queries of passes that the sort does not need receive the time of
    /// its end.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] above [`SorterInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        timestamp_count(&self.operation, max_count)
    }

    /// Returns the passes of a sort as text.
    ///
    /// # Errors
    /// As [`Sorter::cmd_sort`], for the count.
    pub fn describe(&self, info: &SortInfo) -> Result<String> {
        describe(self, info)
    }

    /// Appends a stable sort to `command_buffer`: compute dispatches with barriers between them. The result has the
    /// same bytes on every device.
    ///
    /// With a comparator, the sort begins with a transfer to scratch: `vkCmdUpdateBuffer`.
    ///
    /// - First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on scratch and on every array
    ///   that the placement writes, `SHADER_STORAGE_READ` on a preserved input and on the count, `SHADER_STORAGE_WRITE`
    ///   on the status. With a comparator, also `ALL_TRANSFER`, `TRANSFER_WRITE` on scratch. Its input is read as the
    ///   count is.
    /// - Last access: `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`.
    /// - Synchronization: the caller records a barrier before the sort (writes of the inputs, earlier use of scratch)
    ///   and after it (reads of the outputs). With a comparator, the barrier for scratch includes `ALL_TRANSFER`.
    /// - State: the compute pipeline and the push constants are overwritten.
    /// - Waiting: with [`Strategy::ReduceThenScan`] tiles never wait. With the others, tiles wait for preceding tiles
    ///   within a bound, and then count the keys of those tiles.
    ///
    /// # Errors
    /// Names the argument and the violated limit; nothing has been recorded then. [`crate::Error::NotReady`] until
    /// [`Sorter::is_ready`].
    ///
    /// # Safety
    /// `command_buffer` is in the recording state, outside a render pass, for a queue family with compute of the
    /// sorter's device, and no other thread uses it. The sorter or a clone of it lives until the commands have finished
    /// execution. Until then, ranges and scratch are valid, in buffers with the usages that [`Range`] and [`Scratch`]
    /// require.
    pub unsafe fn cmd_sort(&self, command_buffer: vk::CommandBuffer, info: &SortInfo) -> Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { record_one(self, command_buffer, info, self.job(info)) }
    }
}
