//! Stable radix sort: of integers and floats of 8 to 128 bits, with or without values, in either order, by any of their bits.
//!
//! A [`Sorter`] is made once; [`Sorter::cmd_sort`] appends a sort to a command buffer. Counts may lie on the device. Small
//! problems (up to some thousands of keys) take one dispatch of one workgroup, or, where nothing is recorded with them, one or two of
//! several; larger ones one or a few dispatches for each digit of eight bits, whatever their size. On large problems, digits that all
//! keys share are passed over.

#[doc(hidden)]
pub mod cpu;
mod format;
mod info;
mod job;
mod kind;
mod merging;
mod passes;
mod plan;
mod table;

#[cfg(test)]
pub(crate) use format::Digit;
pub(crate) use format::Format;
#[cfg(feature = "split")]
pub(crate) use format::{Given, LabelBy, MAX_NARROW_COUNT, SplitBy};
#[cfg(feature = "split")]
pub(crate) use info::PlainKey;
pub use info::{KeyType, Layout, Order, Placement, SorterInfo, ValueType};
#[cfg(feature = "split")]
pub(crate) use job::Buckets;
pub(crate) use job::Job;
pub(crate) use kind::{Class, SortKind};
#[cfg(test)]
pub(crate) use merging::Merging;
pub(crate) use passes::{Passes, check_apart, scratch_range};
#[cfg(feature = "split")]
pub(crate) use table::{INDIRECT_COMMAND, MOST_GROUPS_Y};
pub(crate) use table::{SortSource, SortTable};

use crate::memory::{Argument, Arguments};
use crate::shared::{FLAG_EVEN, LAYOUT_DROP_KEYS, LAYOUT_INDICES, LAYOUT_STRIDED};
use crate::{Count, Device, Range, Result, Scratch, Strategy, Timestamps};
use ash::vk;

/// Where the arrays of a segmented sort or split are cut. All of it lies on the device and nothing is read back.
///
/// Segment `s` holds the items from `offsets[s]` up to `offsets[s + 1]`. Offsets never fall; segments may be empty. Items before the
/// first offset and from the last one on are in no segment, and left alone. (The row offsets of a CSR matrix, and whatever an exclusive
/// sum of counts leaves.)
///
/// ```no_run
/// # use trommel::{Count, Range, Scratch, Segments, SortInfo, Sorter};
/// # type Commands = ash::vk::CommandBuffer;
/// # unsafe fn record(sorter: &Sorter, commands: Commands, [depths, splats, firsts]: [Range; 3], scratch: Scratch) -> trommel::Result<()> {
/// // Up to a million splats, binned to 80 x 45 tiles of the screen: sorted by depth in each.
/// let segments = Segments { offsets: firsts, count: Count::host(80 * 45) };
/// let info = SortInfo { count: Count::host(1 << 20), keys: depths, values: splats, segments, scratch, ..SortInfo::default() };
/// // SAFETY: the command buffer is recording, and the ranges are valid until it has executed.
/// unsafe { sorter.cmd_sort(commands, &info) }
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// `count.max + 1` words: one more than there are segments.
    pub offsets: Range,
    /// How many segments, fewer than 2^30.
    pub count: Count,
}

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

impl SortInfo {
    /// The count that the device may tell: of keys, or of segments.
    pub(crate) fn counted(&self, format: &Format) -> Count {
        if format.segmented { self.segments.count } else { self.count }
    }

    /// The bytes that a sort touches, by name, scratch aside.
    pub(crate) fn arguments(&self, format: &Format) -> Arguments {
        let count = u64::from(self.count.max);
        // From the first byte of the first item to the last byte of the last.
        let extent = |address, size: u32, stride: u32| {
            let stride = if stride == 0 || !format.has(LAYOUT_STRIDED) { size } else { stride };
            Range::new(address, if count == 0 { 0 } else { (count - 1) * u64::from(stride) + u64::from(size) })
        };
        let word = |address| Range::new(address, if address == 0 { 0 } else { 4 });
        let wanted = |wanted: bool, range: Range| if wanted { range } else { Range::NONE };
        let preserved = format.placement == Placement::Preserve;
        let second = format.placement != Placement::InPlace;
        let values = format.values_separate();
        let indices = format.has(LAYOUT_INDICES) && !format.has(crate::shared::LAYOUT_VALUES_APART);
        let (key_size, value_size) = (format.key_step(), format.value_size);
        let keys_out = second && !(preserved && format.has(LAYOUT_DROP_KEYS));
        let offsets = Range::new(self.segments.offsets.address, (u64::from(self.segments.count.max) + 1) * 4);
        let argument = |name, range, written| Argument { name, range, written };
        Arguments::from_iter([
            argument("keys", extent(self.keys.address, key_size, self.key_stride), !preserved),
            argument(
                "values",
                wanted(values && !(indices && preserved), extent(self.values.address, value_size, self.value_stride)),
                !preserved,
            ),
            argument("keysOut", wanted(keys_out, extent(self.keys_out.address, key_size, 0)), true),
            argument("valuesOut", wanted(values && second, extent(self.values_out.address, value_size, 0)), true),
            argument("count", word(self.counted(format).address), false),
            argument("status", word(self.status), true),
            argument("segments.offsets", wanted(format.segmented, offsets), false),
        ])
    }
}

/// Sorts of one kind on one device. Immutable: record from many threads.
///
/// Pipelines are shared by sorters that are alike and destroyed with the last of them: a sorter, or a clone of it, outlives the execution of all
/// that has been recorded with it.
#[derive(Clone, Debug)]
pub struct Sorter {
    info: SorterInfo,
    pub(crate) passes: Passes,
}

impl Sorter {
    /// Creates every pipeline that the sorts may need, on several threads that end before it returns: see
    /// [`crate::DeviceInfo::creation_threads`].
    ///
    /// # Errors
    /// Names the member of `info` that cannot be, and why; [`crate::Error::Vulkan`] where a pipeline cannot be created.
    pub fn new(device: &Device, info: &SorterInfo) -> Result<Self> {
        Ok(Self { info: *info, passes: Passes::new(device, Format::new(info)?, info.strategy)? })
    }

    /// The device it was made on.
    pub fn device(&self) -> &Device {
        self.passes.device()
    }

    /// What it was made as.
    pub fn info(&self) -> &SorterInfo {
        &self.info
    }

    /// The strategy in use, never [`Strategy::Auto`].
    pub fn strategy(&self) -> Strategy {
        self.passes.strategy()
    }

    /// Which of the two arrays of a [`Placement::DoubleBuffer`] sort holds the result: 0 for `keys` and `values`, 1 for `keys_out` and
    /// `values_out`. Of the others, [`Placement::Preserve`] has its result in the second, [`Placement::InPlace`] in the first.
    pub fn result_side(&self) -> u32 {
        let first = match self.passes.format.placement {
            Placement::InPlace => true,
            Placement::Preserve => false,
            Placement::DoubleBuffer => self.passes.format.rule() == FLAG_EVEN,
        };
        if first { 0 } else { 1 }
    }

    /// Bytes of scratch that serve every sort of at most `max_count` keys, the alternate arrays included. Never shrinks as
    /// `max_count` grows.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] above [`SorterInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        self.passes.scratch_size(max_count)
    }

    /// Queries that [`SortInfo::timestamps`] needs for a sort of exactly `max_count`: one before the first pass and one after
    /// each. All are written; those of passes that the sort does without get the time of its end.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] above [`SorterInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        self.passes.timestamp_count(max_count)
    }

    /// The passes that a sort would record, as text.
    ///
    /// # Errors
    /// What [`Sorter::cmd_sort`] would refuse about the count.
    pub fn describe(&self, info: &SortInfo) -> Result<String> {
        self.passes.describe(&(*info).into())
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
    /// Names the argument and the limit it breaks; nothing has been recorded then.
    ///
    /// # Safety
    /// `command_buffer` is recording, outside a render pass, on a queue family with compute, of the sorter's device, and
    /// used by this thread alone. The sorter or a clone of it lives until the commands have executed. Ranges and scratch stay valid until the commands have executed, in buffers with the usages
    /// that [`Range`] and [`Scratch`] name.
    pub unsafe fn cmd_sort(&self, command_buffer: vk::CommandBuffer, info: &SortInfo) -> Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { self.passes.record(command_buffer, &(*info).into()) }
    }
}
