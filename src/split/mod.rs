//! Stable multisplit: items grouped by buckets, those of each in the order of the input, and on the device how many each has, where it
//! begins, and the dispatch that goes over it.
//!
//! A [`Splitter`] is made once; [`Splitter::cmd_split`] appends a split to a command buffer. What takes a key to its bucket is a
//! [`BucketFunction`]; up to 256 buckets take one move, up to 65,536 two. (Ashkiani, Davidson, Meyer and Owens, "GPU multisplit", 2016.)

mod kernel;
mod range;

use crate::memory::Count;
use crate::shared::{
    ENCODING_SIGNED, FUNCTION_DIGIT, FUNCTION_FIELD, FUNCTION_RANGE, FUNCTION_SIGNS, FUNCTION_SPLITTERS, FUNCTION_USER,
    LAYOUT_DROP_KEYS, OUTPUT_BUCKETS, OUTPUT_NONE, OUTPUT_ONE, OUTPUT_PLACED, OUTPUT_RANKS, RADIX, RADIX_BITS,
};
use crate::sort::{Buckets, Format, Given, Job, LabelBy, MAX_NARROW_COUNT, MOST_GROUPS_Y, Passes, SplitBy};
use crate::{
    Device, Error, KeyType, Layout, Placement, Range, Result, Scratch, SortInfo, SorterInfo, Strategy, Timestamps, ValueType,
};
use ash::vk;
pub use kernel::BucketKernel;
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
    /// below, the last one all above: so two of them are split by a pivot, `low + width`. Keys are `u32`, `i32`, `u64` or `i64`.
    Range,
    /// As many as there are splitters that are not above the key: the first bucket has all keys below the first of
    /// [`SplitInfo::splitters`], the last one those from the last on. Keys of 32 bits or more.
    Splitters,
    /// What [`SplitInfo::bucket_ids`] say, one for each item. Items whose id is no bucket lie behind those of the last one. Keys, of 32 bits or
    /// more, are read only to be moved.
    Ids(IdType),
    /// The signs of the key's words, each a float (or an `i32`): one bit a word, set where the sign bit is, the first word's the lowest. So directions
    /// of [`KeyType::U32x3`] go to their octants, numbers of [`KeyType::F32`] to those below zero and others: keys are one of these, `U32`, `U32x2` or
    /// `U32x4`, and buckets as many as there are combinations.
    Signs,
    /// What a function of the caller says, in a kernel that [`Splitter::with_kernel`] is given. Items that it takes to no bucket lie behind those of the
    /// last one. Keys of 32 bits or more.
    User,
}

/// What ids of buckets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdType {
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
}

impl IdType {
    /// Bytes of an id.
    pub const fn size(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
        }
    }
}

impl Default for BucketFunction {
    fn default() -> Self {
        Self::Bits { begin_bit: 0 }
    }
}

/// What becomes of the items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitOutput {
    /// They go bucket by bucket, one bucket behind the other.
    #[default]
    Buckets,
    /// Those of one bucket alone are written, from the beginning on, and all others left out: a compaction. How many they are,
    /// [`SplitInfo::counts`] tell.
    Bucket(u32),
    /// They go bucket by bucket, and [`SplitInfo::starts`] say where each begins: a scatter.
    Placed,
    /// They stay; what is told of the buckets is all that there is: a histogram.
    Counts,
    /// They stay; to [`SplitInfo::values_out`] goes for each item, a `u32` in the order of the input, how many of its bucket come before it: a prefix sum
    /// for each bucket. Of items of no bucket, they are counted alike.
    Ranks,
}

/// What [`Splitter::new`] makes. The default: `u32` keys alone, by the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SplitterInfo {
    /// The keys.
    pub key: KeyType,
    /// How many buckets, 1 to 65,536. Above 256 items move twice, and keys have 32 bits or more.
    pub buckets: u32,
    /// What takes a key to its bucket.
    pub function: BucketFunction,
    /// The values.
    pub value: ValueType,
    /// Keys are not wanted where they go: with [`ValueType::Index`] only the permutation is.
    pub drop_keys: bool,
    /// How items lie. Those that are written are dense.
    pub layout: Layout,
    /// The largest count of any split. 0: 2^30, beyond which kernels need 64-bit addresses and are a little slower; into no more than 256 buckets by
    /// bits or ranges of words, of keys of 32 bits or more.
    pub max_count: u32,
    /// How. All give the same bytes.
    pub strategy: Strategy,
    /// What becomes of the items: by any strategy [`SplitOutput::Buckets`], by [`Strategy::ReduceThenScan`] the others. Of more than 256 buckets,
    /// that or [`SplitOutput::Counts`]. Items that stay have no values here, and keys narrower than a word are either dropped, or stay, or go to
    /// [`SplitOutput::Buckets`].
    pub output: SplitOutput,
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
            output: SplitOutput::Buckets,
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

    /// The same with other output.
    pub const fn output(self, output: SplitOutput) -> Self {
        Self { output, ..self }
    }

    /// # Errors
    /// What no splitter can be: names the member and why.
    pub(crate) fn format(&self) -> Result<Format> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let Self { key, buckets, function, layout, max_count, strategy, .. } = *self;
        if buckets == 0 || buckets > MOST_BUCKETS {
            return malformed("bucketCount", &format!("{buckets} is not 1 to {MOST_BUCKETS}"));
        }
        self.check_output()?;
        // What is written beside keys: of ranks, a word as of places.
        let (value, drop_keys) =
            if self.output == SplitOutput::Ranks { (ValueType::Index, true) } else { (self.value, self.drop_keys) };
        if value.size() > 16 {
            return malformed("valueSize", &format!("{} is more than 16: split the indices, and fetch by them", value.size()));
        }
        let begin_bit = if let BucketFunction::Bits { begin_bit } = function { begin_bit } else { 0 };
        let end_bit = begin_bit.saturating_add(self.field_bits());
        self.check_function(end_bit)?;
        let by_labels = self.labels(begin_bit, end_bit);
        if by_labels.is_some() && key.bits() < 32 {
            return malformed("keyType", "keys narrower than a word go by their bits, and to no more than 256 buckets");
        }
        if by_labels.is_some() && max_count > MAX_NARROW_COUNT {
            let (value, limit) = (max_count.into(), MAX_NARROW_COUNT.into());
            return Err(Error::TooLarge { argument: "maxCount", value, limit, why: "the most items of such splits" });
        }
        // Whatever is no field is a digit all the same, of one bit for all it matters.
        let by_field = matches!(function, BucketFunction::Bits { .. }) && by_labels.is_none();
        let (begin_bit, end_bit) = if by_field { (begin_bit, end_bit) } else { (0, 1) };
        let moved = SorterInfo {
            key,
            order: crate::Order::Ascending,
            begin_bit,
            end_bit,
            value,
            drop_keys,
            placement: Placement::Preserve,
            layout,
            segmented: false,
            max_count,
            strategy,
        };
        let moved = Format::new(&moved)?;
        let only_counts = self.output == SplitOutput::Counts;
        let moved = Format { layout: moved.layout | if only_counts { LAYOUT_DROP_KEYS } else { 0 }, ..moved };
        let output = match self.output {
            SplitOutput::Buckets => OUTPUT_BUCKETS,
            SplitOutput::Bucket(bucket) => OUTPUT_ONE | bucket << 8,
            SplitOutput::Placed => OUTPUT_PLACED,
            SplitOutput::Counts => OUTPUT_NONE,
            SplitOutput::Ranks => OUTPUT_RANKS,
        };
        let bins = buckets + u32::from(self.has_strays());
        // Of one, whatever the key is.
        let field = if bins.is_power_of_two() && bins != 1 { FUNCTION_DIGIT } else { FUNCTION_FIELD };
        let Some(labels) = by_labels else {
            let function = if function == BucketFunction::Range && buckets > 1 { FUNCTION_RANGE } else { field };
            return Ok(Format { split: Some(SplitBy { function, buckets, bins, output, labels: None }), ..moved });
        };
        // What is sorted by is the label's own bits, of which the last digit takes one more where there is one bin too many for it.
        let label_bits = if bins.is_power_of_two() { bins.ilog2() } else { (bins - 1).ilog2() + 1 }.max(1);
        let one_more = bins == RADIX + 1 || bins == MOST_BUCKETS + 1;
        Ok(Format {
            key_words: 1,
            key_bits: if bins <= RADIX { RADIX_BITS } else { bins.next_power_of_two().ilog2().next_multiple_of(16).max(16) },
            encoding: 0,
            begin_bit: 0,
            end_bit: label_bits - u32::from(one_more),
            value_words: value.size() / 4 + if drop_keys || only_counts { 0 } else { key.size() / 4 },
            split: Some(SplitBy { function: field, buckets, bins, output, labels: Some(labels) }),
            ..moved
        })
    }

    /// That the output goes with everything else.
    fn check_output(&self) -> Result<()> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let stay = matches!(self.output, SplitOutput::Counts | SplitOutput::Ranks);
        match self.output {
            SplitOutput::Buckets => return Ok(()),
            SplitOutput::Bucket(bucket) if bucket >= self.buckets => {
                return malformed("outputBucket", &format!("{bucket} is none of {} buckets", self.buckets));
            }
            _ if stay && (self.value != ValueType::None || self.drop_keys || self.layout == Layout::Interleaved) => {
                return malformed(
                    "output",
                    "items stay where they are: there is nothing to say of values, or of keys where they go",
                );
            }
            _ if !stay && self.key.bits() < 32 && !self.drop_keys => {
                return malformed("output", "keys narrower than a word go bucket by bucket, one behind the other, or stay");
            }
            _ => {}
        }
        if self.buckets > RADIX && self.output != SplitOutput::Counts {
            return malformed("output", "of more than 256 buckets, items go one bucket behind the other, or are counted");
        }
        if !matches!(self.strategy, Strategy::Auto | Strategy::ReduceThenScan) {
            return malformed("strategy", "what does not go bucket by bucket, one behind the other, goes by reduce-then-scan");
        }
        Ok(())
    }

    /// Bits that number all buckets.
    fn field_bits(&self) -> u32 {
        self.buckets.next_power_of_two().ilog2().max(1)
    }

    /// A key of 32 or 64 bits as it is ordered.
    fn ordered(&self, key: u64) -> u64 {
        let signed = self.key.plain().encoding & ENCODING_SIGNED != 0;
        if signed { key ^ 1 << (self.key.bits() - 1) } else { key }
    }

    /// Whether there may be keys of no bucket.
    fn has_strays(&self) -> bool {
        match self.function {
            BucketFunction::Bits { .. } => !self.buckets.is_power_of_two(),
            BucketFunction::Ids(id) => u64::from(self.buckets) < 1 << (8 * id.size()),
            BucketFunction::User => true,
            BucketFunction::Range | BucketFunction::Splitters | BucketFunction::Signs => false,
        }
    }

    /// That the function takes such keys to so many buckets. `end_bit`: of a field.
    fn check_function(&self, end_bit: u32) -> Result<()> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let (key, buckets) = (self.key, self.buckets);
        let words = key.size() / 4;
        match self.function {
            BucketFunction::Bits { begin_bit } => {
                let limit = key.bits().saturating_sub(self.field_bits());
                if begin_bit > limit {
                    let (value, limit) = (begin_bit.into(), limit.into());
                    return Err(Error::TooLarge {
                        argument: "beginBit",
                        value,
                        limit,
                        why: "the last bit from which on the key has as many as number the buckets",
                    });
                }
                if begin_bit / 32 != (end_bit - 1) / 32 {
                    return malformed("beginBit", &format!("{begin_bit} to {end_bit} are bits of two words"));
                }
            }
            BucketFunction::Range if !matches!(key, KeyType::U32 | KeyType::I32 | KeyType::U64 | KeyType::I64) => {
                return malformed("bucketFunction", "ranges are of integers of 32 or 64 bits");
            }
            BucketFunction::Signs => {
                let of_words = matches!(key, KeyType::U32 | KeyType::F32 | KeyType::U32x2 | KeyType::U32x3 | KeyType::U32x4);
                if !of_words {
                    return malformed("bucketFunction", "signs are of u32, f32 and several u32");
                }
                if buckets != 1 << words {
                    return malformed(
                        "bucketCount",
                        &format!("{buckets} is not {}, the combinations of {words} signs", 1 << words),
                    );
                }
            }
            BucketFunction::Range | BucketFunction::Splitters | BucketFunction::Ids(_) | BucketFunction::User => {}
        }
        Ok(())
    }

    /// What labels are made from, where the function is none that passes find by themselves.
    fn labels(&self, begin_bit: u32, end_bit: u32) -> Option<LabelBy> {
        let key = self.key.plain();
        let of_keys = LabelBy {
            function: FUNCTION_FIELD,
            module: 0,
            given: None,
            words: key.words,
            bits: 32,
            encoding: key.encoding,
            begin_bit,
            end_bit,
        };
        let few = self.buckets <= RADIX;
        match self.function {
            BucketFunction::Bits { .. } if few => None,
            BucketFunction::Range if few && key.words == 1 => None,
            BucketFunction::Range | BucketFunction::Splitters if self.buckets == 1 => None,
            BucketFunction::Bits { .. } => Some(of_keys),
            BucketFunction::Range => Some(LabelBy { function: FUNCTION_RANGE, ..of_keys }),
            BucketFunction::Splitters => Some(LabelBy { function: FUNCTION_SPLITTERS, given: Some(Given::Splitters), ..of_keys }),
            BucketFunction::Signs => Some(LabelBy { function: FUNCTION_SIGNS, ..of_keys }),
            BucketFunction::User => Some(LabelBy { function: FUNCTION_USER, ..of_keys }),
            BucketFunction::Ids(id) => {
                let bits = 8 * id.size();
                Some(LabelBy {
                    given: Some(Given::Ids(id.size())),
                    words: 1,
                    bits,
                    encoding: 0,
                    begin_bit: 0,
                    end_bit: bits,
                    ..of_keys
                })
            }
        }
    }
}

/// Most buckets: two digits.
const MOST_BUCKETS: u32 = RADIX * RADIX;

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
    /// Bytes from one key to the next, for [`Layout::Strided`]; a multiple of the alignment, less than 2^16 words (bytes, where
    /// keys are narrower than a word). 0: keys are dense.
    pub key_stride: u32,
    /// The same for values.
    pub value_stride: u32,
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
    /// bucket, for these. Nothing checks them: see [`Splitter::cmd_split`].
    pub starts: Range,
    /// `buckets + 1` words: how many items belong to the buckets before each, and to all. That is where each begins in what is written and where the
    /// last one ends, if they go bucket by bucket; behind it lie keys of no bucket. [`Range::NONE`]: not wanted.
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
        if info.function == BucketFunction::User {
            return Err(Error::Malformed { argument: "bucketFunction", why: "it takes a kernel, and none is given".into() });
        }
        Ok(Self { info: *info, passes: Passes::new(device, info.format()?, info.strategy)? })
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
        if let Some(labels) = format.split.as_mut().and_then(|split| split.labels.as_mut()) {
            labels.module = device.add_module(kernel.code());
        }
        Ok(Self { info: *info, passes: Passes::new(device, format, info.strategy)? })
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
    /// First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ` on keys, values, the count and whatever else is read, `SHADER_STORAGE_WRITE` on what is
    /// written, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on scratch. Last access: `COMPUTE_SHADER`, `SHADER_STORAGE_WRITE`. The caller owes a
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
    /// that [`Range`] and [`Scratch`] name. Where [`SplitInfo::starts`] say that buckets begin, each has room for its items within what is written, apart
    /// from the others.
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

    /// Everything about one split that needs no scratch.
    pub(crate) fn check(&self, info: &SplitInfo) -> Result<()> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let by_ranges = self.info.function == BucketFunction::Range;
        if by_ranges && info.width == 0 {
            return malformed("width", "buckets of 0 keys have none");
        }
        for (argument, value) in [("low", info.low), ("width", info.width)] {
            if !by_ranges && value != 0 {
                return malformed(argument, "the splitter's buckets are no ranges");
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
        if self.info.output != SplitOutput::Placed && info.starts != Range::NONE {
            return malformed("starts", "the splitter's buckets lie one behind the other");
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
