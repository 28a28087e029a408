//! Stable multisplit: groups items by bucket and keeps their order within a bucket. The GPU also writes the count, the
//! offset and the indirect dispatch of each bucket.
//!
//! Create a [`Splitter`] once; [`Splitter::cmd_split`] appends a split to a command buffer. A [`BucketFunction`] maps a
//! key to its bucket. Up to 256 buckets need one scatter pass, up to 65,536 need two. (Ashkiani, Davidson, Meyer and
//! Owens, "GPU multisplit", 2016.)

mod algorithm;
#[cfg(feature = "host")]
pub(crate) mod host;
mod info;
// `shared` declares this file in a macro, where rustfmt does not see it.
#[cfg(rustfmt)]
mod interface;
mod job;
mod kernel;
mod plan;
mod range;
mod rows;

use crate::core::handle::{describe, record_one, scratch_size, timestamp_count};
use crate::core::pipelines::Module;
use crate::core::primitive::{JobOf, Planner as _, Primitive, RequestInfo};
use crate::radix::{INDIRECT_COMMAND, Items, MOST_GROUPS_Y, Operation, check_no_input};
use crate::shared::RADIX;
use crate::{Count, Device, Error, Range, Result, Scratch, Segments, Strategy, Timestamps};
#[cfg(test)]
pub(crate) use algorithm::Algorithm;
use ash::vk;
pub use info::{BucketFunction, IdType, SplitMethod, SplitOutput, SplitterInfo};
#[cfg(test)]
pub(crate) use job::Role;
pub(crate) use job::{Buckets, Job, SplitBy};
pub use kernel::BucketKernel;
#[cfg(test)]
pub(crate) use plan::SplitTable;
pub(crate) use range::Ranges;
use std::sync::Arc;

/// Most words of offsets, counts or commands: kernels index them with 30 bits.
const MAX_INFO_WORDS: u64 = 1 << 30;

/// The parameters of one split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitInfo {
    /// Number of items, at most [`SplitterInfo::max_count`].
    pub count: Count,
    /// `count.max` keys, or {key, value} items if interleaved. Only read.
    pub keys: Range,
    /// `count.max` values. Indices are not read. Ignored without values.
    pub values: Range,
    /// The keys grouped by bucket, as long as `keys`. With [`SplitOutput::Placed`] the range may be longer. Its whole
    /// length must not overlap other ranges. Ignored if keys are dropped or the output has no items.
    pub keys_out: Range,
    /// As `keys_out`, for values. For [`SplitOutput::Ranks`]: `count.max` words for the ranks.
    pub values_out: Range,
    /// Bytes from one key to the next, for [`crate::Layout::Strided`]: a multiple of the alignment, less than 2^16
    /// words (2^16 bytes for keys narrower than a word). 0: dense.
    pub key_stride: u32,
    /// As `key_stride`, for values.
    pub value_stride: u32,
    /// The segments of a [`SplitterInfo::segmented`] splitter. Keys without a bucket are placed at the end of their
    /// segment.
    pub segments: Segments,
    /// For [`BucketFunction::Range`]: the first key of the first bucket, as the bits of a key.
    pub low: u64,
    /// For [`BucketFunction::Range`]: the number of keys in each bucket, from 1 to the largest number that fits the
    /// bits of a key.
    pub width: u64,
    /// For [`BucketFunction::Splitters`]: `buckets - 1` splitters of the key type, dense, in ascending order. In any
    /// other order each item still gets some bucket.
    pub splitters: Range,
    /// For [`BucketFunction::Ids`]: `count.max` bucket numbers, one for each item, dense.
    pub bucket_ids: Range,
    /// For [`BucketFunction::User`]: `data.address` in the function, the address of additional input. The split must
    /// not write this memory.
    pub user_address: vk::DeviceAddress,
    /// For [`BucketFunction::User`]: `data.words` in the function.
    pub user_words: [u32; 4],
    /// For [`SplitOutput::Placed`]: `buckets` words, the index of each bucket's first item in the output. If items may
    /// have no bucket, one more word for these. Items past the end of `keys_out` or `values_out`, whichever holds
    /// fewer, or at index 2^32 - 2^16 or later are not written; [`crate::STATUS_OUTPUT_CLAMPED`] reports them.
    /// Overlapping buckets overwrite one another.
    pub starts: Range,
    /// `buckets + 1` words: for each bucket the number of items in the buckets before it, then the number of items in
    /// all buckets. In an output grouped by bucket, these are the start of each bucket and the end of the last one.
    /// Items without a bucket follow the last bucket. With segments: as many words for each segment, as indices into
    /// the whole output. Segments up to `segments.count.max` that do not exist on the device get the values of empty
    /// segments, here and in `counts` and `commands`. [`Range::NONE`]: not written.
    pub offsets: Range,
    /// `buckets` words, for each segment if segmented: the number of items in each bucket. [`Range::NONE`]: not
    /// written.
    pub counts: Range,
    /// `buckets` times `VkDispatchIndirectCommand`, for each segment if segmented: one workgroup for every
    /// `command_items` items of the bucket. The workgroups are in one row (y = 1) or, if they exceed the device's limit
    /// on x, in several rows. The last row may have workgroups without items. The command of an empty bucket is (0, 1,
    /// 1). [`Range::NONE`]: not written.
    pub commands: Range,
    /// Items for each workgroup of a command, 1 or more if commands are written.
    pub command_items: u32,
    /// [`Splitter::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Device address of a `u32` that receives 0 or a combination of [`crate::STATUS_COUNT_CLAMPED`],
    /// [`crate::STATUS_NO_BUCKET`] and [`crate::STATUS_OUTPUT_CLAMPED`]. 0: no status.
    pub status: vk::DeviceAddress,
    /// The queries for timestamps of the passes: [`Splitter::timestamp_count`] of them. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

/// The pipelines for splits of one format on one device. Immutable: any number of threads may record with it.
///
/// Splitters with equal parameters share their pipelines; the last one destroys them. The same holds for the modules of
/// [`BucketKernel`]s, which may be loaded again any number of times. A splitter, or a clone of it, must outlive the
/// execution of all commands recorded with it.
///
/// ```no_run
/// # use trommel::{BucketFunction, Count, Device, Range, Scratch, SplitInfo, Splitter, SplitterInfo};
/// # type Commands = ash::vk::CommandBuffer;
/// # type Result = trommel::Result<()>;
/// # type Ranges = [Range; 5];
/// # unsafe fn record(device: &Device, commands: Commands, ranges: Ranges, scratch: Scratch) -> Result {
/// # let [rays, ids, binned, ids_binned, offsets] = ranges;
/// // A million rays are grouped by material: the lowest 6 bits of the key.
/// let splitter = Splitter::new(device, &SplitterInfo::pairs(64, BucketFunction::Bits { begin_bit: 0 }))?;
/// let split = SplitInfo { count: Count::host(1 << 20), keys: rays, values: ids, scratch, ..SplitInfo::default() };
/// let split = SplitInfo { keys_out: binned, values_out: ids_binned, offsets, ..split };
/// // SAFETY: the command buffer is recording, and the ranges are valid until it has executed.
/// unsafe { splitter.cmd_split(commands, &split) }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Splitter {
    info: SplitterInfo,
    operation: Operation<SplitBy>,
    /// The module of a user-defined function.
    _module: Option<Arc<Module>>,
}

impl Splitter {
    /// Creates a splitter with every pipeline that its splits can use: of counts up to [`SplitterInfo::max_count`], and
    /// in batches of several problems only with [`SplitterInfo::batches`]. Threads of the library create the pipelines
    /// and end before the call returns: see [`crate::DeviceInfo::creation_threads`]. With [`SplitterInfo::deferred`]
    /// the call creates no pipelines: see [`Splitter::compile`].
    ///
    /// # Errors
    /// Names the invalid member of `info` and the reason; [`Error::Vulkan`] if a pipeline cannot be created.
    pub fn new(device: &Device, info: &SplitterInfo) -> Result<Self> {
        if info.function == BucketFunction::User {
            return Err(Error::Malformed {
                argument: "bucketFunction",
                why: "a user-defined function needs a kernel".into(),
            });
        }
        let (format, by) = info.format()?;
        let operation = Operation::new(device, format, by, info.strategy, info.options())?;
        Ok(Self { info: *info, operation, _module: None })
    }

    /// Creates a splitter with a user-defined function: [`BucketFunction::User`].
    ///
    /// # Errors
    /// As [`Splitter::new`]; [`Error::Malformed`] if the kernel is for another key type.
    ///
    /// # Safety
    /// The kernel uses only features and shared memory that the device has. If it was created from SPIR-V, the module
    /// is valid.
    pub unsafe fn with_kernel(device: &Device, info: &SplitterInfo, kernel: &BucketKernel) -> Result<Self> {
        if info.function != BucketFunction::User {
            let why = "a kernel needs a user-defined function".into();
            return Err(Error::Malformed { argument: "bucketFunction", why });
        }
        kernel.0.check_key(info.key)?;
        let (format, mut by) = info.format()?;
        let module = device.add_module(kernel.0.code());
        if let Some(labels) = &mut by.labels {
            labels.module = module.number();
        }
        let operation = Operation::new(device, format, by, info.strategy, info.options())?;
        Ok(Self { info: *info, operation, _module: Some(module) })
    }

    /// Creates pipelines of a splitter with [`SplitterInfo::deferred`] on the calling thread: as
    /// [`crate::Sorter::compile`].
    ///
    /// # Errors
    /// [`Error::Vulkan`] if a pipeline cannot be created. The next call tries again.
    pub fn compile(&self) -> Result<()> {
        self.operation.handle().compile()
    }

    /// Whether all pipelines have been created and splits can be recorded. Always true without
    /// [`SplitterInfo::deferred`].
    pub fn is_ready(&self) -> bool {
        self.operation.handle().is_ready()
    }

    /// The device of the splitter.
    pub fn device(&self) -> &Device {
        self.operation.handle().device()
    }

    /// The parameters of the splitter.
    pub fn info(&self) -> &SplitterInfo {
        &self.info
    }

    /// The strategy of large splits, never [`Strategy::Auto`]. Small splits have one algorithm for all strategies.
    /// Medium splits that are recorded alone use the device's own strategy: see docs/split.md.
    pub fn strategy(&self) -> Strategy {
        self.operation.strategy()
    }

    /// Bytes of scratch that suffice for every split of at most `max_count` items. Non-decreasing in `max_count`.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`SplitterInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        scratch_size(&self.operation, max_count)
    }

    /// Number of queries that [`SplitInfo::timestamps`] needs for a split of exactly `max_count`: one before the first
    /// pass and one after each pass. All are written. Queries of passes that the split does not need receive the time
    /// of its end.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`SplitterInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        timestamp_count(&self.operation, max_count)
    }

    /// Returns the passes of a split as text.
    ///
    /// # Errors
    /// As [`Splitter::cmd_split`], for the count.
    pub fn describe(&self, info: &SplitInfo) -> Result<String> {
        describe(self, info)
    }

    /// Appends a stable split to `command_buffer`: compute dispatches with barriers between them. The result has the
    /// same bytes on every device. A count of zero moves no items, but writes offsets, counts, commands and the status.
    ///
    /// - First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ` on keys, values, the count and all other inputs,
    ///   `SHADER_STORAGE_WRITE` on outputs, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on scratch.
    /// - Last access: `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`.
    /// - Synchronization: the caller records a barrier before the split (writes of the inputs, earlier use of scratch)
    ///   and after it (reads of the outputs). For `commands`, the second barrier is to `DRAW_INDIRECT`,
    ///   `INDIRECT_COMMAND_READ`.
    /// - State: the compute pipeline and the push constants are overwritten.
    /// - Waiting: with [`Strategy::ReduceThenScan`] tiles never wait. With the others, tiles may wait for preceding
    ///   tiles within a bound, and then count the keys of those tiles.
    ///
    /// # Errors
    /// Names the argument and the violated limit; nothing has been recorded then. [`Error::NotReady`] until
    /// [`Splitter::is_ready`].
    ///
    /// # Safety
    /// `command_buffer` is in the recording state, outside a render pass, for a queue family with compute of the
    /// splitter's device, and no other thread uses it. The splitter or a clone of it lives until the commands have
    /// finished execution. Until then, ranges and scratch are valid, in buffers with the usages that [`Range`] and
    /// [`Scratch`] require.
    pub unsafe fn cmd_split(&self, command_buffer: vk::CommandBuffer, info: &SplitInfo) -> Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { record_one(self, command_buffer, info, self.job(info)) }
    }

    /// Checks that the bucket information of all segments is within reach of a kernel's index.
    fn check_bucket_info(&self, info: &SplitInfo) -> Result<()> {
        let segments = if self.info.segmented { u64::from(info.segments.count.max) } else { 1 };
        let buckets = u64::from(self.info.buckets);
        let ranges =
            [(info.offsets, buckets + 1), (info.counts, buckets), (info.commands, buckets * INDIRECT_COMMAND / 4)];
        let words =
            ranges.iter().filter(|(range, _)| *range != Range::NONE).map(|(_, words)| *words).max().unwrap_or(0);
        if segments * words > MAX_INFO_WORDS {
            let why = "2^30 words of offsets, counts or commands";
            return Err(Error::TooLarge {
                argument: "segments.count.max",
                value: segments,
                limit: MAX_INFO_WORDS / words,
                why,
            });
        }
        Ok(())
    }
}

impl RequestInfo for SplitInfo {
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

impl Primitive for Splitter {
    const NAME: &'static str = "splitter";
    type Info<'i> = SplitInfo;
    type Planner = Operation<SplitBy>;

    fn planner(&self) -> &Operation<SplitBy> {
        &self.operation
    }

    fn check(&self, info: &SplitInfo) -> Result<()> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let by_ranges = self.info.function == BucketFunction::Range;
        if by_ranges && info.width == 0 {
            return malformed("width", "a bucket has at least one key");
        }
        for (argument, value) in [("low", info.low), ("width", info.width)] {
            if !by_ranges && value != 0 {
                return malformed(argument, &format!("{value} is not 0, and the bucket function is not ranges"));
            }
            let limit = u64::MAX >> (64 - self.info.key.bits().min(64));
            if value > limit {
                return Err(Error::TooLarge { argument, value, limit, why: "the bits of the key" });
            }
        }
        if self.info.function != BucketFunction::User {
            check_no_input(info.user_address, info.user_words, "the bucket function is not user-defined")?;
        }
        if self.info.function != BucketFunction::Splitters && info.splitters != Range::NONE {
            return malformed("splitters", "the bucket function is not splitters");
        }
        if !matches!(self.info.function, BucketFunction::Ids(_)) && info.bucket_ids != Range::NONE {
            return malformed("bucketIds", "the bucket function is not ids");
        }
        self.check_bucket_info(info)?;
        if self.info.output != SplitOutput::Placed && info.starts != Range::NONE {
            return malformed("starts", "the output is not placed");
        }
        if info.commands != Range::NONE {
            if info.command_items == 0 {
                return malformed("commandItems", "a workgroup takes at least one item");
            }
            let groups = u64::from(self.device().profile().max_groups_x) * MOST_GROUPS_Y;
            let (value, limit) = (info.count.max.into(), groups.saturating_mul(info.command_items.into()));
            if value > limit {
                return Err(Error::TooLarge {
                    argument: "count.max",
                    value,
                    limit,
                    why: "commandItems for each workgroup of a command",
                });
            }
        }
        Ok(())
    }

    fn job<'i>(&self, info: &Self::Info<'i>) -> JobOf<'i, Self> {
        let SplitInfo {
            count,
            keys,
            values,
            keys_out,
            values_out,
            key_stride,
            value_stride,
            scratch,
            status,
            timestamps,
            ..
        } = *info;
        let items = Items {
            count,
            keys,
            values,
            keys_out,
            values_out,
            key_stride,
            value_stride,
            segments: info.segments,
            user_address: info.user_address,
            user_words: info.user_words,
            scratch,
            status,
            timestamps,
        };
        let SplitInfo { width, starts, offsets, counts, commands, command_items, .. } = *info;
        let low = self.info.ordered(info.low);
        // The kernels read these words only if keys have one word, so that the numbers fit.
        let word = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let range = Ranges::new(word(low), word(width).max(1), self.info.buckets.min(RADIX)).words();
        let given = match self.info.function {
            BucketFunction::Ids(_) => info.bucket_ids,
            BucketFunction::Splitters => info.splitters,
            _ => Range::NONE,
        };
        let outputs = Buckets { starts, offsets, counts, commands, command_items, ..Buckets::default() };
        Job { items, buckets: Buckets { range, low, width, given, ..outputs } }
    }
}
