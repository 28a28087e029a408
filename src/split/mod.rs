//! Stable multisplit: items grouped by buckets, those of each in the order of the input, and on the device how many each has, where it
//! begins, and the dispatch that goes over it.
//!
//! A [`Splitter`] is made once; [`Splitter::cmd_split`] appends a split to a command buffer. What takes a key to its bucket is a
//! [`BucketFunction`]; up to 256 buckets take one move. (Ashkiani, Davidson, Meyer and Owens, "GPU multisplit", 2016.)

mod range;

use crate::memory::Count;
use crate::shared::{FUNCTION_DIGIT, FUNCTION_FIELD, FUNCTION_RANGE, RADIX};
use crate::sort::{Buckets, Format, Job, MOST_GROUPS_Y, Passes, SplitBy};
use crate::{
    Device, Error, KeyType, Layout, Placement, Range, Result, Scratch, SortInfo, SorterInfo, Strategy, Timestamps, ValueType,
};
use ash::vk;
pub(crate) use range::Ranges;

/// What takes a key to its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BucketFunction {
    /// A field of the key's bits, as many as number all buckets, none of them in another word of the key than the first: its value is the
    /// bucket. Keys whose value is no bucket lie behind those of the last one.
    Bits {
        /// The first bit, counted from the least significant one of the key as it is ordered: a float's or a signed integer's sign is
        /// turned before.
        begin_bit: u32,
    },
    /// Ranges of equal width, one after the other, as [`SplitInfo::low`] and [`SplitInfo::width`] say. The first bucket also has all keys
    /// below, the last one all above: so two of them are split by a pivot, `low + width`. Keys are `u32`.
    Range,
}

impl Default for BucketFunction {
    fn default() -> Self {
        Self::Bits { begin_bit: 0 }
    }
}

/// What [`Splitter::new`] makes. The default: `u32` keys alone, by the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SplitterInfo {
    /// The keys.
    pub key: KeyType,
    /// How many buckets, 1 to 256.
    pub buckets: u32,
    /// What takes a key to its bucket.
    pub function: BucketFunction,
    /// The values.
    pub value: ValueType,
    /// Keys are not wanted where they go: with [`ValueType::Index`] only the permutation is.
    pub drop_keys: bool,
    /// How items lie. Those that are written are dense.
    pub layout: Layout,
    /// The largest count of any split. 0: 2^30, beyond which kernels need 64-bit addresses and are a little slower.
    pub max_count: u32,
    /// How. All give the same bytes.
    pub strategy: Strategy,
}

impl Default for SplitterInfo {
    fn default() -> Self {
        Self::keys(2, BucketFunction::default())
    }
}

impl SplitterInfo {
    /// `u32` keys alone.
    pub const fn keys(buckets: u32, function: BucketFunction) -> Self {
        Self {
            key: KeyType::U32,
            buckets,
            function,
            value: ValueType::None,
            drop_keys: false,
            layout: Layout::Separate,
            max_count: 0,
            strategy: Strategy::Auto,
        }
    }

    /// `u32` keys with 4-byte values.
    pub const fn pairs(buckets: u32, function: BucketFunction) -> Self {
        Self { value: ValueType::U32, ..Self::keys(buckets, function) }
    }

    /// The same by a given strategy.
    pub const fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// # Errors
    /// What no splitter can be: names the member and why.
    pub(crate) fn format(&self) -> Result<Format> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let (bits, buckets) = (self.key.bits(), self.buckets);
        if buckets == 0 || buckets > RADIX {
            return malformed("bucketCount", &format!("{buckets} is not 1 to {RADIX}"));
        }
        let (begin_bit, function) = match self.function {
            BucketFunction::Range if self.key != KeyType::U32 => return malformed("bucketFunction", "ranges are of u32 keys"),
            // Whatever the key is, the last bucket there is.
            _ if buckets == 1 => (0, FUNCTION_FIELD),
            BucketFunction::Range => (0, FUNCTION_RANGE),
            BucketFunction::Bits { begin_bit } if buckets.is_power_of_two() => (begin_bit, FUNCTION_DIGIT),
            BucketFunction::Bits { begin_bit } => (begin_bit, FUNCTION_FIELD),
        };
        let field = if function == FUNCTION_RANGE { 1 } else { buckets.next_power_of_two().ilog2().max(1) };
        // Keys have 8 bits or more, and so many number 256 buckets.
        let limit = bits - field;
        if begin_bit > limit {
            let (value, limit) = (begin_bit.into(), limit.into());
            return Err(Error::TooLarge {
                argument: "beginBit",
                value,
                limit,
                why: "the last bit from which on the key has as many as number the buckets",
            });
        }
        let end_bit = begin_bit + field;
        if begin_bit / 32 != (end_bit - 1) / 32 {
            return malformed("beginBit", &format!("{begin_bit} to {end_bit} are bits of two words"));
        }
        let placement = Placement::Preserve;
        let Self { key, value, drop_keys, layout, max_count, strategy, .. } = *self;
        if value.size() > 16 {
            return malformed("valueSize", &format!("{} is more than 16: split the indices, and fetch by them", value.size()));
        }
        let order = crate::Order::Ascending;
        let moved = SorterInfo {
            key,
            order,
            begin_bit,
            end_bit,
            value,
            drop_keys,
            placement,
            layout,
            segmented: false,
            max_count,
            strategy,
        };
        let bins = if function == FUNCTION_FIELD && buckets > 1 { buckets + 1 } else { buckets };
        Ok(Format { split: Some(SplitBy { function, buckets, bins }), ..Format::new(&moved)? })
    }
}

/// One split to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SplitInfo {
    /// How many items, at most [`SplitterInfo::max_count`].
    pub count: Count,
    /// `count.max` keys, or, interleaved, keys with their values. Only read.
    pub keys: Range,
    /// `count.max` values; indices are not read. Left alone where there are no values.
    pub values: Range,
    /// Where keys go, bucket by bucket, as long as `keys`. Left alone where keys are dropped.
    pub keys_out: Range,
    /// The same for values.
    pub values_out: Range,
    /// Bytes from one key to the next, for [`Layout::Strided`]; a multiple of the alignment, less than 2^16 words (bytes, where
    /// keys are narrower than a word). 0: keys are dense.
    pub key_stride: u32,
    /// The same for values.
    pub value_stride: u32,
    /// For [`BucketFunction::Range`]: the first key of the first bucket.
    pub low: u32,
    /// For [`BucketFunction::Range`]: keys of each bucket, 1 or more.
    pub width: u32,
    /// `buckets + 1` words: where each bucket begins in what is written, and where the last one ends. Behind it lie keys of no bucket.
    /// [`Range::NONE`]: not wanted.
    pub offsets: Range,
    /// `buckets` words: how many items each bucket has. [`Range::NONE`]: not wanted.
    pub counts: Range,
    /// `buckets` times `VkDispatchIndirectCommand`: a workgroup for every `command_items` items of the bucket, in one row, or, where the device
    /// takes no row as long, in several; groups beyond those that there are items for find none. [`Range::NONE`]: not wanted.
    pub commands: Range,
    /// Items that a workgroup of `commands` takes, 1 or more where they are wanted.
    pub command_items: u32,
    /// [`Splitter::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Address of a `u32` that is set to 0, or to those that apply of [`crate::STATUS_COUNT_CLAMPED`] and [`crate::STATUS_NO_BUCKET`];
    /// 0: not wanted.
    pub status: vk::DeviceAddress,
    /// Where the passes' times go; [`Splitter::timestamp_count`] queries. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

/// Splits of one kind on one device. Immutable: record from many threads.
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
    pub(crate) passes: Passes,
}

impl Splitter {
    /// Creates every pipeline that the splits may need.
    ///
    /// # Errors
    /// Names the member of `info` that cannot be, and why; [`Error::Vulkan`] where a pipeline cannot be created.
    pub fn new(device: &Device, info: &SplitterInfo) -> Result<Self> {
        Ok(Self { info: *info, passes: Passes::new(device, info.format()?, info.strategy)? })
    }

    /// The device it was made on.
    pub fn device(&self) -> &Device {
        self.passes.device()
    }

    /// What it was made as.
    pub fn info(&self) -> &SplitterInfo {
        &self.info
    }

    /// The strategy in use, never [`Strategy::Auto`].
    pub fn strategy(&self) -> Strategy {
        self.passes.strategy()
    }

    /// Bytes of scratch that serve every split of at most `max_count` items. Never shrinks as `max_count` grows.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`SplitterInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        self.passes.scratch_size(max_count)
    }

    /// Queries that [`SplitInfo::timestamps`] needs for a split of exactly `max_count`: one before the first pass and one after
    /// each. All are written; those of passes that the split does without get the time of its end.
    ///
    /// # Errors
    /// [`Error::TooLarge`] above [`SplitterInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        self.passes.timestamp_count(max_count)
    }

    /// The passes that a split would record, as text.
    ///
    /// # Errors
    /// What [`Splitter::cmd_split`] would refuse about the count.
    pub fn describe(&self, info: &SplitInfo) -> Result<String> {
        self.passes.describe(&self.job(info))
    }

    /// Appends a split to `command_buffer`: compute dispatches with the barriers between them.
    ///
    /// First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ` on keys, values and the count, `SHADER_STORAGE_WRITE` on what is written,
    /// `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on scratch. Last access: `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`. The caller owes a
    /// barrier from what wrote the inputs, and one to what reads the outputs (to `DRAW_INDIRECT`, `INDIRECT_COMMAND_READ` for the commands);
    /// scratch used before needs one like any output. Disturbed: the compute pipeline and the push constants. Stable and deterministic.
    /// A count of zero moves no item, but still writes offsets, counts, commands and the status. With every strategy but
    /// [`Strategy::ReduceThenScan`] tiles wait for earlier ones, within bounds.
    ///
    /// # Errors
    /// Names the argument and the limit it breaks; nothing has been recorded then.
    ///
    /// # Safety
    /// `command_buffer` is recording, outside a render pass, on a queue family with compute, of the splitter's device, and
    /// used by this thread alone. Ranges and scratch stay valid until the commands have executed, in buffers with the usages
    /// that [`Range`] and [`Scratch`] name.
    pub unsafe fn cmd_split(&self, command_buffer: vk::CommandBuffer, info: &SplitInfo) -> Result<()> {
        self.check(info)?;
        // SAFETY: the caller's promises are the same.
        unsafe { self.passes.record(command_buffer, &self.job(info)) }
    }

    /// As the passes have it.
    pub(crate) fn job(&self, info: &SplitInfo) -> Job {
        let SplitInfo { count, keys, values, keys_out, values_out, key_stride, value_stride, scratch, status, timestamps, .. } =
            *info;
        let items = SortInfo {
            count,
            keys,
            values,
            keys_out,
            values_out,
            key_stride,
            value_stride,
            segments: crate::Segments::default(),
            scratch,
            status,
            timestamps,
        };
        let ranges = Ranges::new(info.low, info.width.max(1), self.info.buckets);
        let SplitInfo { offsets, counts, commands, command_items, .. } = *info;
        Job { items, buckets: Buckets { range: ranges.words(), offsets, counts, commands, command_items } }
    }

    /// Everything about one split that needs no scratch.
    pub(crate) fn check(&self, info: &SplitInfo) -> Result<()> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        match self.info.function {
            BucketFunction::Range if info.width == 0 => return malformed("width", "buckets of 0 keys have none"),
            BucketFunction::Bits { .. } if (info.low, info.width) != (0, 0) => {
                let argument = if info.low == 0 { "width" } else { "low" };
                return malformed(argument, "the splitter's buckets are no ranges");
            }
            _ => {}
        }
        if info.commands != Range::NONE {
            if info.command_items == 0 {
                return malformed("commandItems", "workgroups of 0 items never get through");
            }
            let groups = u64::from(info.count.max.div_ceil(info.command_items));
            let limit = u64::from(self.device().profile().max_groups_x) * MOST_GROUPS_Y;
            if groups > limit {
                return Err(Error::TooLarge { argument: "count.max", value: groups, limit, why: "the workgroups of one command" });
            }
        }
        self.passes.check(&self.job(info))
    }
}
