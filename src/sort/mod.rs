//! Stable radix sort: of integers and floats of 8 to 128 bits, with or without values, in either order, by any of their bits.
//!
//! A [`Sorter`] is made once; [`Sorter::cmd_sort`] appends a sort to a command buffer. Counts may lie on the device. Small
//! problems (up to some thousands of keys) take one dispatch of one workgroup, or, where nothing is recorded with them, one or two of
//! several; larger ones one or a few dispatches for each digit of eight bits, whatever their size. On large problems, digits that all
//! keys share are passed over.

mod info;

pub use info::SorterInfo;

#[cfg(doc)]
use crate::Layout;
use crate::core::handle::{describe, record_one, scratch_size, timestamp_count};
use crate::core::primitive::{Planner as _, Primitive, RequestInfo};
use crate::radix::{Buckets, Items, Job, Operation};
use crate::shared::FLAG_EVEN;
use crate::{Count, Device, Placement, Range, Result, Scratch, Segments, Strategy, Timestamps};
use ash::vk;

/// One sort to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortInfo {
    /// How many keys, at most [`SorterInfo::max_count`]. Of segments, how many the arrays hold, as the host knows: offsets beyond are cut
    /// off there and flagged in the status.
    pub count: Count,
    /// `count.max` keys, or, interleaved, keys with their values. Written, unless the input is preserved; nothing past the count is.
    pub keys: Range,
    /// `count.max` values, moved with their keys; indices are not read, only written. Left alone where there are no values.
    pub values: Range,
    /// Where sorted keys go, as long as `keys`: for [`Placement::Preserve`]; the second array for [`Placement::DoubleBuffer`]. Left
    /// alone where keys are dropped and the input preserved.
    pub keys_out: Range,
    /// The same for values.
    pub values_out: Range,
    /// Bytes from one key to the next, for [`Layout::Strided`]; a multiple of the alignment, less than 2^16 words (bytes, where
    /// keys are narrower than a word). 0: keys are dense.
    pub key_stride: u32,
    /// The same for values.
    pub value_stride: u32,
    /// Of a [`SorterInfo::segmented`] sorter, which items are sorted together.
    pub segments: Segments,
    /// [`Sorter::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Address of a `u32` that is set to 0, or to [`crate::STATUS_COUNT_CLAMPED`]; 0: not wanted.
    pub status: vk::DeviceAddress,
    /// Where the passes' times go; [`Sorter::timestamp_count`] queries. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

impl From<SortInfo> for Items {
    fn from(info: SortInfo) -> Self {
        let SortInfo { count, keys, values, keys_out, values_out, key_stride, value_stride, segments, scratch, status, timestamps } =
            info;
        Self { count, keys, values, keys_out, values_out, key_stride, value_stride, segments, scratch, status, timestamps }
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
    type Info = SortInfo;
    type Planner = Operation;

    fn planner(&self) -> &Operation {
        &self.operation
    }

    fn check(&self, _info: &SortInfo) -> Result<()> {
        Ok(())
    }

    fn job(&self, info: &SortInfo) -> Job {
        Job { items: (*info).into(), buckets: Buckets::default() }
    }
}

/// Sorts of one kind on one device. Immutable: record from many threads.
///
/// Pipelines are shared by sorters that are alike and destroyed with the last of them: a sorter, or a clone of it, outlives the execution of all
/// that has been recorded with it.
#[derive(Clone, Debug)]
pub struct Sorter {
    info: SorterInfo,
    operation: Operation,
}

impl Sorter {
    /// Creates every pipeline that the sorts may need, on several threads that end before it returns: see
    /// [`crate::DeviceInfo::creation_threads`].
    ///
    /// # Errors
    /// Names the member of `info` that cannot be, and why; [`crate::Error::Vulkan`] where a pipeline cannot be created.
    pub fn new(device: &Device, info: &SorterInfo) -> Result<Self> {
        Ok(Self { info: *info, operation: Operation::new(device, info.format()?, info.strategy, info.options())? })
    }

    /// Creates pipelines of a sorter with [`SorterInfo::deferred`] on the calling thread, until there is none left that no thread has
    /// begun. Call it from as many threads as shall compile; a clone of the sorter does as well. The sorter is ready when all calls
    /// have returned.
    ///
    /// # Errors
    /// [`crate::Error::Vulkan`] if a pipeline cannot be created. The next call tries again.
    pub fn compile(&self) -> Result<()> {
        self.operation.handle().compile()
    }

    /// Whether all pipelines have been created, so that sorts can be recorded. Always true without [`SorterInfo::deferred`].
    pub fn is_ready(&self) -> bool {
        self.operation.handle().is_ready()
    }

    /// The device it was made on.
    pub fn device(&self) -> &Device {
        self.operation.handle().device()
    }

    /// What it was made as.
    pub fn info(&self) -> &SorterInfo {
        &self.info
    }

    /// The strategy in use, never [`Strategy::Auto`].
    pub fn strategy(&self) -> Strategy {
        self.operation.strategy()
    }

    /// Which of the two arrays of a [`Placement::DoubleBuffer`] sort holds the result: 0 for `keys` and `values`, 1 for `keys_out` and
    /// `values_out`. Of the others, [`Placement::Preserve`] has its result in the second, [`Placement::InPlace`] in the first.
    pub fn result_side(&self) -> u32 {
        let first = match self.operation.format.placement {
            Placement::InPlace => true,
            Placement::Preserve => false,
            Placement::DoubleBuffer => self.operation.format.rule() == FLAG_EVEN,
        };
        if first { 0 } else { 1 }
    }

    /// Bytes of scratch that serve every sort of at most `max_count` keys, the alternate arrays included. Never shrinks as
    /// `max_count` grows.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] above [`SorterInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        scratch_size(&self.operation, max_count)
    }

    /// Queries that [`SortInfo::timestamps`] needs for a sort of exactly `max_count`: one before the first pass and one after
    /// each. All are written; those of passes that the sort does without get the time of its end.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] above [`SorterInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        timestamp_count(&self.operation, max_count)
    }

    /// The passes that a sort would record, as text.
    ///
    /// # Errors
    /// What [`Sorter::cmd_sort`] would refuse about the count.
    pub fn describe(&self, info: &SortInfo) -> Result<String> {
        describe(self, info)
    }

    /// Appends a sort to `command_buffer`: compute dispatches with the barriers between them.
    ///
    /// First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on every array that the placement writes and on
    /// scratch, `SHADER_STORAGE_READ` on a preserved input and the count, `SHADER_STORAGE_WRITE` on the status. Last access:
    /// `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`. The caller owes a barrier from what wrote the inputs, and one to what reads the
    /// outputs; scratch used before needs one like any output. Disturbed: the compute pipeline and the push constants. Stable and
    /// deterministic. With every strategy but [`Strategy::ReduceThenScan`] tiles wait for earlier ones, within bounds.
    ///
    /// # Errors
    /// Names the argument and the limit it breaks; nothing has been recorded then. [`crate::Error::NotReady`] until
    /// [`Sorter::is_ready`].
    ///
    /// # Safety
    /// `command_buffer` is recording, outside a render pass, on a queue family with compute, of the sorter's device, and
    /// used by this thread alone. The sorter or a clone of it lives until the commands have executed. Ranges and scratch stay valid until the commands have executed, in buffers with the usages
    /// that [`Range`] and [`Scratch`] name.
    pub unsafe fn cmd_sort(&self, command_buffer: vk::CommandBuffer, info: &SortInfo) -> Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { record_one(self, command_buffer, info) }
    }
}
