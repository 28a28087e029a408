//! The handle and the parameters of one merge.

use super::format::Format;
use super::planner::MergePlanner;
use super::sequences::MergeSequence;
use super::{ComparatorKernel, MergeOperation, MergerInfo};
use crate::core::handle::{describe, record_one, scratch_size, timestamp_count};
use crate::core::pipelines::Module;
use crate::core::primitive::{JobOf, Planner as _, Primitive, RequestInfo};
use crate::radix::check_segment_count;
use crate::{Count, Device, Error, Range, Result, Scratch, Timestamps};
use ash::vk;
use std::sync::Arc;

/// The segments of both sequences, of a merger with [`MergerInfo::segmented`]. Offsets and count may be written on the
/// device: the host reads neither.
///
/// Segment `s` of A has the items from `offsets_a[s]` up to `offsets_a[s + 1]`, and segment `s` of B likewise. The
/// first segment begins with the first item of the array. Offsets do not decrease; segments may be empty. Items from
/// the last offset on belong to no segment and are not merged. Segment `s` of the output is the merge of both, and
/// begins at `offsets_a[s] + offsets_b[s]`, or earlier if preceding items are removed by an update. The first word of
/// offsets is not read, as if it were 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeSegments {
    /// Number of segments, less than 2^30.
    pub count: Count,
    /// `count.max + 1` words: one more than the number of segments.
    pub offsets_a: Range,
    /// As `offsets_a`, for B.
    pub offsets_b: Range,
    /// Receives the offsets of segments in the output, as many words. [`Range::NONE`]: not written.
    pub offsets_out: Range,
}

/// The parameters of one merge, set operation, update or search. All sequences are sorted in the merger's order; for
/// bounds, only B must be; for unique items, A need not be; with segments, each segment must be. Otherwise the content
/// of the outputs is undefined. Memory outside the ranges is never accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeInfo<'a> {
    /// Number of items of sequence A.
    pub count_a: Count,
    /// Number of items of sequence B. The maxima of all sequences together are at most [`MergerInfo::max_count`]. For
    /// unique items, the maximum is 0.
    pub count_b: Count,
    /// `count_a.max` keys, or {key, value} items if interleaved. Only read.
    pub keys_a: Range,
    /// `count_a.max` values. Ignored without values, with interleaved items and with [`crate::ValueType::Index`].
    pub values_a: Range,
    /// As `keys_a`, for B. May overlap the arrays of A.
    pub keys_b: Range,
    /// As `values_a`, for B.
    pub values_b: Range,
    /// The sequences after A and B, for a merger with [`MergerInfo::sequences`]: of equal keys, those of earlier
    /// sequences come first. Otherwise none.
    pub more: &'a [MergeSequence],
    /// The resulting keys or items: room for the maxima of all sequences together; for an intersection, for the smaller
    /// one of both; for a difference and for unique items, for `count_a.max`. If the result has fewer items, the rest
    /// is not written. Ignored if keys are dropped, and for bounds.
    pub keys_out: Range,
    /// For bounds: `count_a.max` words, the bound of each key of A. Otherwise the resulting values or indices: room for
    /// as many as in `keys_out`. Ignored without values and with interleaved items.
    pub values_out: Range,
    /// The segments, for a merger with [`MergerInfo::segmented`]: then both counts are the lengths of the arrays, known
    /// on the host. Otherwise the default.
    pub segments: MergeSegments,
    /// The marked items, for updates. Bit `i % 32` of word `i / 32` is that of item `i` of A: one word for each 32 of
    /// `count_a.max` items. With [`crate::MergeOperation::UpdateByValue`] that of value `i`: as many words as the range
    /// has, and larger values are not marked. Only read. Otherwise [`Range::NONE`].
    pub marks: Range,
    /// For [`Merger::with_comparator`]: `data.address` in the comparator, the address of additional input. The merge
    /// must not write to it. Otherwise 0.
    pub user_address: vk::DeviceAddress,
    /// For [`Merger::with_comparator`]: `data.words` in the comparator. Otherwise zeros.
    pub user_words: [u32; 4],
    /// [`Merger::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Device address of a `u32` that receives [`crate::STATUS_COUNT_CLAMPED`] or 0. 0: no status.
    pub status: vk::DeviceAddress,
    /// Device address of a `u32` that receives the number of items of the result: never more than the output has room
    /// for, even if sequences are not sorted. 0: not written. Required if only this number is written.
    pub count_out: vk::DeviceAddress,
    /// The queries for timestamps of the passes: [`Merger::timestamp_count`] of them. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

/// The pipelines for merges of one format on one device. Immutable: any number of threads may record with it.
///
/// Mergers with equal parameters share their pipelines; the last one destroys them. The same holds for the modules of
/// [`ComparatorKernel`]s, which may be loaded again any number of times. A merger, or a clone of it, must outlive the
/// execution of all commands recorded with it.
///
/// ```no_run
/// # use trommel::{Count, Device, MergeInfo, Merger, MergerInfo, Range, Scratch};
/// # type Commands = ash::vk::CommandBuffer;
/// # type Result = trommel::Result<()>;
/// # type Ranges = [Range; 6];
/// # unsafe fn record(device: &Device, commands: Commands, ranges: Ranges, scratch: Scratch) -> Result {
/// # let [codes, boxes, new_codes, new_boxes, all_codes, all_boxes] = ranges;
/// // The sorted Morton codes of ten thousand new boxes are merged with those of all others.
/// let merger = Merger::new(device, &MergerInfo::pairs())?;
/// let merge = MergeInfo { count_a: Count::host(1 << 20), keys_a: codes, values_a: boxes, ..MergeInfo::default() };
/// let merge = MergeInfo { count_b: Count::host(10_000), keys_b: new_codes, values_b: new_boxes, ..merge };
/// let merge = MergeInfo { keys_out: all_codes, values_out: all_boxes, scratch, ..merge };
/// // SAFETY: the command buffer is recording, and the ranges are valid until it has executed.
/// unsafe { merger.cmd_merge(commands, &merge) }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Merger {
    info: MergerInfo,
    planner: MergePlanner,
    /// The module of a user-defined comparator.
    _module: Option<Arc<Module>>,
}

impl Merger {
    /// Creates a merger with every pipeline that its merges can use: in batches of several problems only with
    /// [`MergerInfo::batches`]. Threads of the library create the pipelines and end before the call returns: see
    /// [`crate::DeviceInfo::creation_threads`]. With [`MergerInfo::deferred`] the call creates no pipelines: see
    /// [`Merger::compile`].
    ///
    /// # Errors
    /// Names the invalid member of `info` and the reason; [`Error::Vulkan`] if a pipeline cannot be created.
    pub fn new(device: &Device, info: &MergerInfo) -> Result<Self> {
        let planner = MergePlanner::new(device, Format::new(info)?, info.options())?;
        Ok(Self { info: *info, planner, _module: None })
    }

    /// Creates a merger of two sequences, with or without segments, in the order of a user-defined comparator. Keys are
    /// equal if neither comes before the other; of these, those of A come first. The order in `info` is ascending: the
    /// comparator takes its place. Every such merge is one dispatch and needs scratch.
    ///
    /// If the comparator is no strict weak order, the content of the outputs is undefined. Memory outside the ranges is
    /// never accessed, except by the comparator itself.
    ///
    /// # Errors
    /// As [`Merger::new`]; [`Error::Malformed`] if the kernel is for another key type, or unless `info` has
    /// [`MergeOperation::Merge`], [`crate::MergeMethod::Path`], [`crate::Order::Ascending`] and two sequences.
    ///
    /// # Safety
    /// The kernel uses only features and shared memory that the device has. If it was created from SPIR-V, the module
    /// is valid.
    pub unsafe fn with_comparator(device: &Device, info: &MergerInfo, kernel: &ComparatorKernel) -> Result<Self> {
        let format = Format::of_comparator(info)?;
        kernel.0.check_key(info.key)?;
        let module = device.add_module(kernel.0.code());
        let format = Format { comparator: module.number(), ..format };
        let planner = MergePlanner::new(device, format, info.options())?;
        Ok(Self { info: *info, planner, _module: Some(module) })
    }

    /// Creates pipelines of a merger with [`MergerInfo::deferred`] on the calling thread: as
    /// [`crate::Sorter::compile`].
    ///
    /// # Errors
    /// [`Error::Vulkan`] if a pipeline cannot be created. The next call tries again.
    pub fn compile(&self) -> Result<()> {
        self.planner.handle().compile()
    }

    /// Whether all pipelines have been created and merges can be recorded. Always true without
    /// [`MergerInfo::deferred`].
    pub fn is_ready(&self) -> bool {
        self.planner.handle().is_ready()
    }

    /// The device of the merger.
    pub fn device(&self) -> &Device {
        self.planner.handle().device()
    }

    /// The parameters of the merger.
    pub fn info(&self) -> &MergerInfo {
        &self.info
    }

    /// Bytes of scratch that suffice for every merge of at most `max_count` items, those of all sequences together.
    /// Non-decreasing in `max_count`. 0 for bounds and small merges of two sequences: then no buffer is needed. Set
    /// operations and updates always need scratch, and so do merges of segments and merges with a comparator: a quarter
    /// of a byte for each item for updates, up to 100 bytes for each thousand items otherwise. A merger of three or
    /// four sequences also needs the bytes of each item, and one of more sequences twice as many. Merges of fewer
    /// sequences than the merger's most may need less. With less than this size, they may be refused or not.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`MergerInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        scratch_size(&self.planner, max_count)
    }

    /// Number of queries that [`MergeInfo::timestamps`] needs for a merge of exactly `max_count` items, those of all
    /// sequences together: one before the first pass and one after each pass. All are written. Queries of passes that
    /// the merge does not need receive the time of its end.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`MergerInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        timestamp_count(&self.planner, max_count)
    }

    /// Returns the passes of a merge as text.
    ///
    /// # Errors
    /// As [`Merger::cmd_merge`], for the count.
    pub fn describe(&self, info: &MergeInfo<'_>) -> Result<String> {
        describe(self, info)
    }

    /// Appends a stable merge to `command_buffer`: one compute dispatch, or two with a barrier between them. Of equal
    /// keys, those of A come first, each sequence in its order. The result has the same bytes on every device. Outputs
    /// must not overlap any other range. If all counts are zero, or `count_a` for bounds, only the status, `count_out`
    /// and offsets of segments are written. k sequences are merged by ceil(log2 k) times as many dispatches, with
    /// barriers between them, and one more if a status is wanted.
    ///
    /// With another [`crate::MergeOperation`], the call appends something else. A set operation is two dispatches with
    /// a barrier between them. An update is two dispatches side by side, then one behind a barrier. A search is one
    /// dispatch, without scratch.
    ///
    /// Merges of segments, merges with a comparator, updates, and merges of more than two sequences begin with
    /// transfers to scratch: `vkCmdUpdateBuffer`, and for updates `vkCmdFillBuffer`.
    ///
    /// - First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ` on all sequences, on counts, offsets and marks,
    ///   `SHADER_STORAGE_WRITE` on outputs, on the status, on `count_out` and on `segments.offsets_out`,
    ///   `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on scratch. If it begins with transfers, also
    ///   `ALL_TRANSFER`, `TRANSFER_WRITE` on scratch. A comparator's input is read as offsets are.
    /// - Last access: `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`.
    /// - Synchronization: the caller records a barrier before the merge (writes of the inputs, earlier use of scratch)
    ///   and after it (reads of the outputs). Before merges that begin with transfers, the barrier for scratch includes
    ///   `ALL_TRANSFER`.
    /// - State: the compute pipeline and the push constants are overwritten.
    /// - Waiting: a workgroup of a set operation or of an update polls the results of others for a bounded time, then
    ///   computes them. No other workgroup waits.
    ///
    /// # Errors
    /// Names the argument and the violated limit; nothing has been recorded then. [`Error::NotReady`] until
    /// [`Merger::is_ready`].
    ///
    /// # Safety
    /// `command_buffer` is in the recording state, outside a render pass, for a queue family with compute of the
    /// merger's device, and no other thread uses it. The merger or a clone of it lives until the commands have finished
    /// execution. Until then, ranges and scratch are valid, in buffers with the usages that [`Range`] and [`Scratch`]
    /// require.
    pub unsafe fn cmd_merge(&self, command_buffer: vk::CommandBuffer, info: &MergeInfo<'_>) -> Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { record_one(self, command_buffer, info, self.job(info)) }
    }
}

impl MergeInfo<'_> {
    /// The number of sequences.
    pub(super) fn sequence_count(&self) -> u32 {
        u32::try_from(self.more.len()).map_or(u32::MAX, |more| more.saturating_add(2))
    }

    /// Maximum number of items of the sequences after B.
    pub(super) fn more_items(&self) -> u64 {
        self.more.iter().map(|sequence| u64::from(sequence.count.max)).sum()
    }

    /// Maximum number of items of all sequences.
    fn all_items(&self) -> u64 {
        u64::from(self.count_a.max) + u64::from(self.count_b.max) + self.more_items()
    }
}

impl RequestInfo for MergeInfo<'_> {
    /// Of all sequences together.
    fn max_count(&self) -> u32 {
        u32::try_from(self.all_items()).unwrap_or(u32::MAX)
    }

    fn scratch(&self) -> Scratch {
        self.scratch
    }

    fn queries(&self) -> Option<Timestamps> {
        self.timestamps
    }
}

impl Primitive for Merger {
    const NAME: &'static str = "merger";
    type Info<'i> = MergeInfo<'i>;
    type Planner = MergePlanner;

    fn planner(&self) -> &MergePlanner {
        &self.planner
    }

    fn check_count(&self, info: &MergeInfo<'_>) -> Result<()> {
        let sequences = self.planner.format().sequences;
        if info.sequence_count() > sequences {
            let (value, limit) = (u64::from(info.sequence_count()) - 2, u64::from(sequences) - 2);
            let why = "the merger's sequenceCount without A and B";
            return Err(Error::TooLarge { argument: "moreSequenceCount", value, limit, why });
        }
        if self.info.operation == MergeOperation::Unique && info.count_b.max != 0 {
            let value = info.count_b.max.into();
            return Err(Error::TooLarge {
                argument: "countB.max",
                value,
                limit: 0,
                why: "unique items are those of A",
            });
        }
        if self.info.segmented {
            check_segment_count(info.segments.count)?;
        }
        let (value, limit) = (info.all_items(), u64::from(u32::MAX));
        if value > limit {
            return Err(Error::TooLarge { argument: COUNTS, value, limit, why: "a 32-bit count" });
        }
        self.planner.check_count(info.max_count())
    }

    /// A search has workgroups for its needles, however many keys it searches.
    fn group_count(&self, info: &MergeInfo<'_>) -> u32 {
        self.planner.format().path_items(info.count_a.max, info.max_count() - info.count_a.max)
    }

    fn check(&self, _info: &MergeInfo<'_>) -> Result<()> {
        Ok(())
    }

    fn job<'i>(&self, info: &Self::Info<'i>) -> JobOf<'i, Self> {
        *info
    }

    fn with_job<T>(&self, info: &MergeInfo<'_>, visit: impl FnOnce(&MergeInfo<'_>) -> T) -> T {
        visit(info)
    }
}

/// The number of items of both sequences, in messages.
pub(super) const COUNTS: &str = "countA.max + countB.max";
