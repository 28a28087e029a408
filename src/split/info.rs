//! What a splitter is asked for, in the caller's words, and what kernels make of it.

use crate::core::handle::Options;
use crate::radix::{BucketSource, Format, ItemsInfo, LabelBy, MAX_NARROW_COUNT, SplitBy};
use crate::shared::{
    ENCODING_SIGNED, FUNCTION_DIGIT, FUNCTION_FIELD, FUNCTION_RANGE, FUNCTION_SIGNS, FUNCTION_SPLITTERS, FUNCTION_USER,
    LAYOUT_DROP_KEYS, OUTPUT_BUCKETS, OUTPUT_NONE, OUTPUT_ONE, OUTPUT_PLACED, OUTPUT_RANKS, RADIX, RADIX_BITS,
};
use crate::{Error, KeyType, Layout, Placement, Result, Strategy, ValueType};

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
    /// Ranges of equal width, one after the other, as [`crate::SplitInfo::low`] and [`crate::SplitInfo::width`] say. The first bucket also has all keys
    /// below, the last one all above: so two of them are split by a pivot, `low + width`. Keys are `u32`, `i32`, `u64` or `i64`.
    Range,
    /// As many as there are splitters that are not above the key: the first bucket has all keys below the first of
    /// [`crate::SplitInfo::splitters`], the last one those from the last on. Keys of 32 bits or more.
    Splitters,
    /// What [`crate::SplitInfo::bucket_ids`] say, one for each item. Items whose id is no bucket lie behind those of the last one. Keys, of 32 bits or
    /// more, are read only to be moved.
    Ids(IdType),
    /// The signs of the key's words, each a float (or an `i32`): one bit a word, set where the sign bit is, the first word's the lowest. So directions
    /// of [`KeyType::U32x3`] go to their octants, numbers of [`KeyType::F32`] to those below zero and others: keys are one of these, `U32`, `U32x2` or
    /// `U32x4`, and buckets as many as there are combinations.
    Signs,
    /// What a function of the caller says, in a kernel that [`crate::Splitter::with_kernel`] is given. Items that it takes to no bucket lie behind those of the
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
    /// [`crate::SplitInfo::counts`] tell.
    Bucket(u32),
    /// They go bucket by bucket, and [`crate::SplitInfo::starts`] say where each begins: a scatter.
    Placed,
    /// They stay; what is told of the buckets is all that there is: a histogram.
    Counts,
    /// They stay; to [`crate::SplitInfo::values_out`] goes for each item, a `u32` in the order of the input, how many of its bucket come before it: a prefix sum
    /// for each bucket. Of items of no bucket, they are counted alike.
    Ranks,
}

/// Which neighbouring items are ranked together, and whether they are put in order before they leave: the three forms of "GPU multisplit". All of them
/// count, sum and move, and give the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitMethod {
    /// Those of a workgroup, put in order in shared memory, so that those of one bucket leave together. (Block-level multisplit.)
    #[default]
    Workgroup,
    /// Those of a subgroup - of 32 lanes at least, otherwise of as many subgroups as have them -, put in order in shared memory. (Warp-level multisplit.)
    Subgroup,
    /// The same, in the order that they come in. (Direct multisplit.)
    Direct,
}

/// What [`crate::Splitter::new`] makes. The default: `u32` keys alone, by the lowest bit.
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
    /// Keys are not wanted where they go: with [`ValueType::Index`] only the permutation is. Refused without values, where nothing would be left.
    pub drop_keys: bool,
    /// How items lie. Those that are written are dense.
    pub layout: Layout,
    /// The largest count of any split. 0: 2^30, beyond which kernels need 64-bit addresses and are a little slower; into no more than 256 buckets by
    /// bits or ranges of words, of keys of 32 bits or more.
    pub max_count: u32,
    /// How. All give the same bytes.
    pub strategy: Strategy,
    /// The splits may be recorded together with others, by [`crate::cmd_batch`]. Takes about twice as many pipelines.
    pub batches: bool,
    /// Pipelines are created by threads that call [`crate::Splitter::compile`], not by [`crate::Splitter::new`].
    pub deferred: bool,
    /// The arrays are cut into segments, each of which is split by itself: [`crate::SplitInfo::segments`]. Keys of 32 bits or more, which go to
    /// [`SplitOutput::Buckets`], 65,536 of them only by a function that takes every item to one.
    pub segmented: bool,
    /// What becomes of the items: [`SplitOutput::Counts`] by [`Strategy::ReduceThenScan`], the others by any strategy. Of more than 256 buckets,
    /// those or [`SplitOutput::Buckets`]. Items that stay have no values here, and keys narrower than a word are either dropped, or stay, or go to
    /// [`SplitOutput::Buckets`].
    pub output: SplitOutput,
    /// Which items are ranked together: by any strategy [`SplitMethod::Workgroup`], which is the fastest on every device that has been measured; by
    /// [`Strategy::ReduceThenScan`] the others, to compare with it, of up to 2^30 items. Not of segments.
    pub method: SplitMethod,
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
            segmented: false,
            max_count: 0,
            strategy: Strategy::Auto,
            batches: false,
            deferred: false,
            output: SplitOutput::Buckets,
            method: SplitMethod::Workgroup,
        }
    }

    /// `u32` keys with 4-byte values.
    pub const fn pairs(buckets: u32, function: BucketFunction) -> Self {
        Self { value: ValueType::U32, ..Self::keys(buckets, function) }
    }

    /// The same for batches, too.
    pub const fn batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// The same with pipelines created later, by the caller's threads.
    pub const fn deferred(self) -> Self {
        Self { deferred: true, ..self }
    }

    pub(crate) const fn options(&self) -> Options {
        Options { batches: self.batches, deferred: self.deferred }
    }

    /// The same by a given strategy.
    pub const fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// The same with other output.
    pub const fn output(self, output: SplitOutput) -> Self {
        Self { output, ..self }
    }

    /// The same by another method.
    pub const fn method(self, method: SplitMethod) -> Self {
        Self { method, ..self }
    }

    /// # Errors
    /// What no splitter can be: names the member and why.
    pub(crate) fn format(&self) -> Result<Format> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let Self { key, buckets, function, layout, max_count, method, .. } = *self;
        if buckets == 0 || buckets > MOST_BUCKETS {
            return malformed("bucketCount", &format!("{buckets} is not 1 to {MOST_BUCKETS}"));
        }
        self.check_output()?;
        if self.method != SplitMethod::Workgroup && (self.segmented || !self.counts_before()) {
            return malformed("method", "items of a subgroup are ranked together by reduce-then-scan, and not of segments");
        }
        if self.method != SplitMethod::Workgroup && max_count > MAX_NARROW_COUNT {
            let (value, limit) = (max_count.into(), MAX_NARROW_COUNT.into());
            return Err(Error::TooLarge { argument: "maxCount", value, limit, why: "the most items that subgroups rank" });
        }
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
            let why = "keys narrower than a word go by their bits, to no more than 256 buckets, and not by segments";
            return malformed("keyType", why);
        }
        if by_labels.is_some() && max_count > MAX_NARROW_COUNT {
            let (value, limit) = (max_count.into(), MAX_NARROW_COUNT.into());
            return Err(Error::TooLarge { argument: "maxCount", value, limit, why: "the most items of such splits" });
        }
        // Whatever is no field is a digit all the same, of one bit for all it matters.
        let by_field = matches!(function, BucketFunction::Bits { .. }) && by_labels.is_none();
        let (begin_bit, end_bit) = if by_field { (begin_bit, end_bit) } else { (0, 1) };
        let moved = ItemsInfo {
            key,
            order: crate::Order::Ascending,
            begin_bit,
            end_bit,
            value,
            drop_keys,
            placement: Placement::Preserve,
            layout,
            segmented: self.segmented,
            max_count,
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
        let (by_subgroups, unordered) = (method != SplitMethod::Workgroup, method == SplitMethod::Direct);
        let bins = buckets + u32::from(self.has_strays());
        // Of one, whatever the key is.
        let field = if bins.is_power_of_two() && bins != 1 { FUNCTION_DIGIT } else { FUNCTION_FIELD };
        let Some(labels) = by_labels else {
            let function = if function == BucketFunction::Range && buckets > 1 { FUNCTION_RANGE } else { field };
            return Ok(Format {
                split: Some(SplitBy { function, buckets, bins, output, by_subgroups, unordered, labels: None }),
                ..moved
            });
        };
        if self.segmented && bins > MOST_BUCKETS {
            return malformed("bucketCount", "of segments, 65536 buckets leave no place for items of none");
        }
        // What is sorted by is the label's own bits, of which the last digit takes one more where there is one bin too many for it; of segments,
        // whose digits all have as many bins, as whole words.
        let label_bits = if bins.is_power_of_two() { bins.ilog2() } else { (bins - 1).ilog2() + 1 }.max(1);
        let one_more = !self.segmented && (bins == RADIX + 1 || bins == MOST_BUCKETS + 1);
        let (field, label_size) = match bins {
            _ if self.segmented => (FUNCTION_DIGIT, 32),
            ..=RADIX => (field, RADIX_BITS),
            _ => (field, bins.next_power_of_two().ilog2().next_multiple_of(16).max(16)),
        };
        Ok(Format {
            key_words: 1,
            key_bits: label_size,
            encoding: 0,
            begin_bit: 0,
            end_bit: label_bits - u32::from(one_more),
            value_words: value.size() / 4 + if drop_keys || only_counts { 0 } else { key.size() / 4 },
            split: Some(SplitBy { function: field, buckets, bins, output, by_subgroups, unordered, labels: Some(labels) }),
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
        if self.segmented {
            return malformed("output", "of segments, items go bucket by bucket");
        }
        if self.buckets > RADIX && self.output != SplitOutput::Counts {
            return malformed("output", "of more than 256 buckets, items go one bucket behind the other, or are counted");
        }
        if self.output == SplitOutput::Counts && !self.counts_before() {
            return malformed(
                "strategy",
                "what is counted and nothing else is counted by reduce-then-scan: there is nothing to wait for",
            );
        }
        Ok(())
    }

    /// Whether keys are counted before any item moves.
    fn counts_before(&self) -> bool {
        matches!(self.strategy, Strategy::Auto | Strategy::ReduceThenScan)
    }

    /// Bits that number all buckets.
    fn field_bits(&self) -> u32 {
        self.buckets.next_power_of_two().ilog2().max(1)
    }

    /// A key of 32 or 64 bits as it is ordered.
    pub(super) fn ordered(&self, key: u64) -> u64 {
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
        let few = self.buckets <= RADIX && !self.segmented;
        match self.function {
            // To one bucket, whatever the key is.
            BucketFunction::Bits { .. } | BucketFunction::Range | BucketFunction::Splitters
                if self.segmented && self.buckets == 1 =>
            {
                Some(LabelBy { function: FUNCTION_RANGE, ..of_keys })
            }
            BucketFunction::Bits { .. } if few => None,
            BucketFunction::Range if few && key.words == 1 => None,
            BucketFunction::Range | BucketFunction::Splitters if self.buckets == 1 => None,
            BucketFunction::Bits { .. } => Some(of_keys),
            BucketFunction::Range => Some(LabelBy { function: FUNCTION_RANGE, ..of_keys }),
            BucketFunction::Splitters => {
                Some(LabelBy { function: FUNCTION_SPLITTERS, given: Some(BucketSource::Splitters), ..of_keys })
            }
            BucketFunction::Signs => Some(LabelBy { function: FUNCTION_SIGNS, ..of_keys }),
            BucketFunction::User => Some(LabelBy { function: FUNCTION_USER, ..of_keys }),
            BucketFunction::Ids(id) => {
                let bits = 8 * id.size();
                Some(LabelBy {
                    given: Some(BucketSource::Ids(id.size())),
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
