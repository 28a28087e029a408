//! Stable multisplit: items grouped by buckets, those of each in the order of the input, and on the device how many each has, where it
//! begins, and the dispatch that goes over it.
//!
//! A [`Splitter`] is made once; [`Splitter::cmd_split`] appends a split to a command buffer. What takes a key to its bucket is a
//! [`BucketFunction`]; up to 256 buckets take one move, up to 65,536 two. (Ashkiani, Davidson, Meyer and Owens, "GPU multisplit", 2016.)

mod info;
mod kernel;
mod range;

use crate::core::handle::{describe, record_one, scratch_size, timestamp_count};
use crate::core::pipelines::Module;
use crate::core::primitive::{Planner as _, Primitive, RequestInfo};
use crate::radix::{Buckets, INDIRECT_COMMAND, Items, Job, MOST_GROUPS_Y, Operation};
use crate::shared::RADIX;
use crate::{Count, Device, Error, Range, Result, Scratch, Segments, Strategy, Timestamps};
use ash::vk;
pub use info::{BucketFunction, IdType, SplitMethod, SplitOutput, SplitterInfo};
pub use kernel::BucketKernel;
pub(crate) use range::Ranges;
use std::sync::Arc;

/// Most words of offsets, counts or commands: what one index of a kernel reaches.
const MOST_TOLD: u64 = 1 << 30;

/// One split to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitInfo {
    /// How many items, at most [`SplitterInfo::max_count`].
    pub count: Count,
    /// `count.max` keys, or, interleaved, keys with their values. Only read.
    pub keys: Range,
    /// `count.max` values; indices are not read. Left alone where there are no values.
    pub values: Range,
    /// Where keys go, bucket by bucket, as long as `keys`. Of [`SplitOutput::Placed`], as long or longer, and apart from everything else in all its
    /// length. Left alone where keys are dropped, or stay.
    pub keys_out: Range,
    /// The same for values; of [`SplitOutput::Ranks`], `count.max` words for these.
    pub values_out: Range,
    /// Bytes from one key to the next, for [`crate::Layout::Strided`]; a multiple of the alignment, less than 2^16 words (bytes, where
    /// keys are narrower than a word). 0: keys are dense.
    pub key_stride: u32,
    /// The same for values.
    pub value_stride: u32,
    /// Of a [`SplitterInfo::segmented`] splitter, which items are split together. Keys of no bucket lie behind the others of their segment.
    pub segments: Segments,
    /// For [`BucketFunction::Range`]: the first key of the first bucket, as the key's bits.
    pub low: u64,
    /// For [`BucketFunction::Range`]: keys of each bucket, 1 or more, a number that the key has bits for.
    pub width: u64,
    /// For [`BucketFunction::Splitters`]: one less than there are buckets, of the keys' type, dense, in ascending order. Where they are not, items still
    /// all go to some bucket.
    pub splitters: Range,
    /// For [`BucketFunction::Ids`]: the bucket of each item, `count.max` of them, dense.
    pub bucket_ids: Range,
    /// For [`BucketFunction::User`]: an address that its function is given, for what it reads besides the key; nothing that this split writes.
    pub user_address: vk::DeviceAddress,
    /// For [`BucketFunction::User`]: words that its function is given.
    pub user_words: [u32; 4],
    /// For [`SplitOutput::Placed`]: `buckets` words, where each bucket begins in what is written, in items; and one more, where items may belong to no
    /// bucket, for these. Items whose places lie beyond the end of `keys_out` or `values_out`, whichever holds fewer, or beyond 2^32 - 1, are not
    /// written, which [`crate::STATUS_OUTPUT_CLAMPED`] tells. Buckets that overlap overwrite one another.
    pub starts: Range,
    /// `buckets + 1` words: how many items belong to the buckets before each, and to all. That is where each begins in what is written and where the
    /// last one ends, if they go bucket by bucket; behind it lie keys of no bucket. Of segments as many words for each, where its buckets begin in
    /// all that is written; those that the count allows and the device does not have are told as empty, here as in what follows. [`Range::NONE`]: not wanted.
    pub offsets: Range,
    /// `buckets` words, of segments for each: how many items each bucket has. [`Range::NONE`]: not wanted.
    pub counts: Range,
    /// `buckets` times `VkDispatchIndirectCommand`, of segments for each: a workgroup for every `command_items` items of the bucket, in one row, or, where the device
    /// takes no row as long, in several; groups beyond those that there are items for find none. Of an empty bucket (0, 1, 1). [`Range::NONE`]: not
    /// wanted.
    pub commands: Range,
    /// Items that a workgroup of `commands` takes, 1 or more where they are wanted.
    pub command_items: u32,
    /// [`Splitter::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Address of a `u32` that is set to 0, or to those that apply of [`crate::STATUS_COUNT_CLAMPED`], [`crate::STATUS_NO_BUCKET`] and
    /// [`crate::STATUS_OUTPUT_CLAMPED`]; 0: not wanted.
    pub status: vk::DeviceAddress,
    /// Where the passes' times go; [`Splitter::timestamp_count`] queries. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

/// Splits of one kind on one device. Immutable: record from many threads.
///
/// Pipelines are shared by splitters that are alike and destroyed with the last of them: a splitter, or a clone of it, outlives the execution of all
/// that has been recorded with it. So are modules of [`BucketKernel`]s, which may be reloaded any number of times.
///
/// ```no_run
/// # use trommel::{BucketFunction, Count, Device, Range, Scratch, SplitInfo, Splitter, SplitterInfo};
/// # type Commands = ash::vk::CommandBuffer;
/// # unsafe fn record(device: &Device, commands: Commands, [rays, ids, binned, ids_binned, offsets]: [Range; 5], scratch: Scratch) -> trommel::Result<()> {
/// // A million rays, the material that each has hit in the lowest 6 bits of its key: grouped by material.
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
    operation: Operation,
    /// Of a function of the caller.
    _module: Option<Arc<Module>>,
}

impl Splitter {
    /// Creates every pipeline that the splits may need, on several threads that end before it returns: see
    /// [`crate::DeviceInfo::creation_threads`].
    ///
    /// # Errors
    /// Names the member of `info` that cannot be, and why; [`Error::Vulkan`] where a pipeline cannot be created.
    pub fn new(device: &Device, info: &SplitterInfo) -> Result<Self> {
        if info.function == BucketFunction::User {
            return Err(Error::Malformed { argument: "bucketFunction", why: "it takes a kernel, and none is given".into() });
        }
        Ok(Self { info: *info, operation: Operation::new(device, info.format()?, info.strategy, info.options())?, _module: None })
    }

    /// The same by a function of the caller, [`BucketFunction::User`].
    ///
    /// # Errors
    /// As [`Splitter::new`]; where the kernel is for other keys.
    ///
    /// # Safety
    /// The kernel asks for no feature that the device is without, and for no more shared memory than it has; where it came as SPIR-V, it is a valid
    /// module.
    pub unsafe fn with_kernel(device: &Device, info: &SplitterInfo, kernel: &BucketKernel) -> Result<Self> {
        let malformed = |argument, why: String| Err(Error::Malformed { argument, why });
        if info.function != BucketFunction::User {
            return malformed("bucketFunction", "it takes no kernel, and one is given".into());
        }
        if kernel.key() != info.key.plain() {
            return malformed("keyType", format!("{:?} are not the keys that the kernel is for", info.key));
        }
        let mut format = info.format()?;
        let module = device.add_module(kernel.code());
        if let Some(labels) = format.split.as_mut().and_then(|split| split.labels.as_mut()) {
            labels.module = module.number();
        }
        Ok(Self { info: *info, operation: Operation::new(device, format, info.strategy, info.options())?, _module: Some(module) })
    }

    /// Creates pipelines of a splitter with [`SplitterInfo::deferred`] on the calling thread: as [`crate::Sorter::compile`].
    ///
    /// # Errors
    /// [`Error::Vulkan`] if a pipeline cannot be created. The next call tries again.
    pub fn compile(&self) -> Result<()> {
        self.operation.handle().compile()
    }

    /// Whether all pipelines have been created, so that splits can be recorded. Always true without [`SplitterInfo::deferred`].
    pub fn is_ready(&self) -> bool {
        self.operation.handle().is_ready()
    }

    /// The device it was made on.
    pub fn device(&self) -> &Device {
        self.operation.handle().device()
    }

    /// What it was made as.
    pub fn info(&self) -> &SplitterInfo {
        &self.info
    }

    /// The strategy in use, never [`Strategy::Auto`]: which that is of many items. (Few items have one for all strategies, and more of them alone the
    /// device's own: see docs/split.md.)
    pub fn strategy(&self) -> Strategy {
        self.operation.strategy()
    }

    /// Bytes of scratch that serve every split of at most `max_count` items. Never shrinks as `max_count` grows.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`SplitterInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        scratch_size(&self.operation, max_count)
    }

    /// Queries that [`SplitInfo::timestamps`] needs for a split of exactly `max_count`: one before the first pass and one after
    /// each. All are written; those of passes that the split does without get the time of its end.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`SplitterInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        timestamp_count(&self.operation, max_count)
    }

    /// The passes that a split would record, as text.
    ///
    /// # Errors
    /// What [`Splitter::cmd_split`] would refuse about the count.
    pub fn describe(&self, info: &SplitInfo) -> Result<String> {
        describe(self, info)
    }

    /// Appends a split to `command_buffer`: compute dispatches with the barriers between them.
    ///
    /// First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ` on keys, values, the count and whatever else is read, `SHADER_STORAGE_WRITE` on what is
    /// written, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on scratch. Last access: `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`. The caller owes a
    /// barrier from what wrote the inputs, and one to what reads the outputs (to `DRAW_INDIRECT`, `INDIRECT_COMMAND_READ` for the commands);
    /// scratch used before needs one like any output. Disturbed: the compute pipeline and the push constants. Stable and deterministic.
    /// A count of zero moves no item, but still writes offsets, counts, commands and the status. Where a splitter is made
    /// with any strategy but [`Strategy::ReduceThenScan`], tiles may wait for earlier ones, within bounds.
    ///
    /// # Errors
    /// Names the argument and the limit it breaks; nothing has been recorded then. [`Error::NotReady`] until [`Splitter::is_ready`].
    ///
    /// # Safety
    /// `command_buffer` is recording, outside a render pass, on a queue family with compute, of the splitter's device, and
    /// used by this thread alone. The splitter or a clone of it lives until the commands have executed. Ranges and scratch stay valid until the commands have executed, in buffers with the usages
    /// that [`Range`] and [`Scratch`] name.
    pub unsafe fn cmd_split(&self, command_buffer: vk::CommandBuffer, info: &SplitInfo) -> Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { record_one(self, command_buffer, info) }
    }

    /// That what is told of each bucket of each segment is within reach of an index.
    fn check_told(&self, info: &SplitInfo) -> Result<()> {
        let segments = if self.info.segmented { u64::from(info.segments.count.max) } else { 1 };
        let buckets = u64::from(self.info.buckets);
        let told = [(info.offsets, buckets + 1), (info.counts, buckets), (info.commands, buckets * INDIRECT_COMMAND / 4)];
        let words = told.iter().filter(|(range, _)| *range != Range::NONE).map(|(_, words)| *words).max().unwrap_or(0);
        if segments * words > MOST_TOLD {
            let why = "2^30 words of offsets, counts or commands";
            return Err(Error::TooLarge { argument: "segments.count.max", value: segments, limit: MOST_TOLD / words, why });
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
    type Info = SplitInfo;
    type Planner = Operation;

    fn planner(&self) -> &Operation {
        &self.operation
    }

    fn check(&self, info: &SplitInfo) -> Result<()> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let by_ranges = self.info.function == BucketFunction::Range;
        if by_ranges && info.width == 0 {
            return malformed("width", "buckets of 0 keys have none");
        }
        for (argument, value) in [("low", info.low), ("width", info.width)] {
            if !by_ranges && value != 0 {
                return malformed(argument, &format!("{value} is not 0, and the splitter's buckets are no ranges"));
            }
            let limit = u64::MAX >> (64 - self.info.key.bits().min(64));
            if value > limit {
                return Err(Error::TooLarge { argument, value, limit, why: "the bits of the key" });
            }
        }
        if self.info.function != BucketFunction::User && (info.user_address, info.user_words) != (0, [0; 4]) {
            let argument = if info.user_address == 0 { "userWords" } else { "userAddress" };
            return malformed(argument, "the splitter has no function of the caller");
        }
        if self.info.function != BucketFunction::Splitters && info.splitters != Range::NONE {
            return malformed("splitters", "the splitter's buckets are not told by any");
        }
        if !matches!(self.info.function, BucketFunction::Ids(_)) && info.bucket_ids != Range::NONE {
            return malformed("bucketIds", "the splitter's buckets are not told by ids");
        }
        self.check_told(info)?;
        if self.info.output != SplitOutput::Placed && info.starts != Range::NONE {
            return malformed("starts", "the splitter's buckets lie one behind the other");
        }
        if info.commands != Range::NONE {
            if info.command_items == 0 {
                return malformed("commandItems", "workgroups of 0 items never get through");
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

    fn job(&self, info: &SplitInfo) -> Job {
        let SplitInfo { count, keys, values, keys_out, values_out, key_stride, value_stride, scratch, status, timestamps, .. } =
            *info;
        let items = Items {
            count,
            keys,
            values,
            keys_out,
            values_out,
            key_stride,
            value_stride,
            segments: info.segments,
            scratch,
            status,
            timestamps,
        };
        let SplitInfo { width, user_address, user_words, starts, offsets, counts, commands, command_items, .. } = *info;
        let low = self.info.ordered(info.low);
        // Only read where keys have one word, and so have these.
        let word = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let range = Ranges::new(word(low), word(width).max(1), self.info.buckets.min(RADIX)).words();
        let given = match self.info.function {
            BucketFunction::Ids(_) => info.bucket_ids,
            BucketFunction::Splitters => info.splitters,
            _ => Range::NONE,
        };
        let told = Buckets { starts, offsets, counts, commands, command_items, ..Buckets::default() };
        Job { items, buckets: Buckets { range, low, width, given, user_address, user_words, ..told } }
    }
}
