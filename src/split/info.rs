//! The parameters of a splitter, and their translation for the kernels.

use super::job::{BucketSource, LabelBy, SplitBy};
use crate::core::handle::Options;
use crate::radix::{Binning, Format, ItemsInfo, MAX_NARROW_COUNT};
use crate::shared::{
    ENCODING_SIGNED, FUNCTION_DIGIT, FUNCTION_FIELD, FUNCTION_RANGE, FUNCTION_SIGNS, FUNCTION_SPLITTERS, FUNCTION_USER,
    LAYOUT_DROP_KEYS, OUTPUT_BUCKETS, OUTPUT_NONE, OUTPUT_ONE, OUTPUT_PLACED, OUTPUT_RANKS, RADIX, RADIX_BITS,
};
use crate::{Error, KeyType, Layout, Placement, Result, Strategy, ValueType};

/// The function that maps a key to its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BucketFunction {
    /// The value of a bit field of the key. The field is just wide enough to number all buckets. All its bits lie in
    /// one word of the key. Keys whose field is not a bucket number are placed after the last bucket.
    Bits {
        /// First bit of the field, counted from the least significant bit of the encoded key. The encoding maps signed
        /// integers and floats to unsigned integers of the same order.
        begin_bit: u32,
    },
    /// Consecutive ranges of equal width: [`crate::SplitInfo::low`] and [`crate::SplitInfo::width`]. The first bucket
    /// also takes all lower keys, the last bucket all higher keys. Two buckets are a partition by the pivot `low +
    /// width`. Keys are `u32`, `i32`, `u64` or `i64`.
    Range,
    /// The number of [`crate::SplitInfo::splitters`] less than or equal to the key (upper bound). Keys below the first
    /// splitter are in bucket 0. Keys have 32 bits or more.
    Splitters,
    /// [`crate::SplitInfo::bucket_ids`]: one id for each item. Items whose id is not a bucket number are placed after
    /// the last bucket. Keys are moved but not inspected; they have 32 bits or more.
    Ids(IdType),
    /// The sign bits of the key's words, each a float or an `i32`: one bit a word, the first word's bit the lowest.
    /// Directions of [`KeyType::U32x3`] are split into octants this way, numbers of [`KeyType::F32`] into negative and
    /// other numbers. Keys are one of these, `U32`, `U32x2` or `U32x4`. The number of buckets is 2 to the power of the
    /// number of words.
    Signs,
    /// A user-defined function in a kernel: [`crate::Splitter::with_kernel`]. Items for which it returns no bucket
    /// number are placed after the last bucket. Keys have 32 bits or more.
    User,
}

/// The type of bucket ids.
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
    /// Size of an id in bytes.
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

/// The result of a split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitOutput {
    /// Items grouped by bucket, in the order of the buckets, without gaps.
    #[default]
    Buckets,
    /// The items of one bucket only, from the start of the output: a compaction. [`crate::SplitInfo::counts`] receives
    /// their number.
    Bucket(u32),
    /// Items grouped by bucket; each bucket begins at an index given in [`crate::SplitInfo::starts`]: a scatter.
    Placed,
    /// No items: only the bucket information (offsets, counts, commands) is written. A histogram.
    Counts,
    /// No items: [`crate::SplitInfo::values_out`] receives a `u32` for each item, in input order. It is the number of
    /// earlier items in the same bucket: the item's rank. Items without a bucket are ranked among themselves.
    Ranks,
}

/// The items that a split ranks together, and whether shared memory reorders them before the scatter. These are the
/// three forms of "GPU multisplit". All of them count, scan and scatter, and write the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SplitMethod {
    /// The items of a workgroup, reordered in shared memory, so that items of one bucket are written together
    /// (block-level multisplit).
    #[default]
    Workgroup,
    /// The items of a subgroup, reordered in shared memory (warp-level multisplit). Subgroups of fewer than 32 lanes
    /// are combined up to 32 lanes.
    Subgroup,
    /// The items of a subgroup as in [`SplitMethod::Subgroup`], scattered in input order without reordering (direct
    /// multisplit).
    Direct,
}

/// The parameters of [`crate::Splitter::new`]. The default: `u32` keys without values, two buckets by the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SplitterInfo {
    /// The key type.
    pub key: KeyType,
    /// Number of buckets, 1 to 65,536. More than 256 buckets need two scatter passes and keys of 32 bits or more.
    pub buckets: u32,
    /// The function that maps a key to its bucket.
    pub function: BucketFunction,
    /// The value type.
    pub value: ValueType,
    /// Keys are not written. With [`ValueType::Index`] only the permutation is. Not available without values, since
    /// nothing would be written.
    pub drop_keys: bool,
    /// The layout of the input. With [`Layout::Strided`], the output is dense.
    pub layout: Layout,
    /// Maximum count of any split. 0: 2^30. Larger maxima need 64-bit addressing, which is slightly slower. They need
    /// at most 256 buckets by bits, or by ranges of 32-bit keys, and keys of 32 bits or more.
    pub max_count: u32,
    /// The algorithm of a pass. All strategies write the same bytes.
    pub strategy: Strategy,
    /// The splitter may be used in batches with other problems ([`crate::cmd_batch`]). Needs about twice as many
    /// pipelines.
    pub batches: bool,
    /// Creation returns without pipelines. Threads that call [`crate::Splitter::compile`] create them.
    pub deferred: bool,
    /// The splitter splits each segment of the arrays separately: [`crate::SplitInfo::segments`]. Keys have 32 bits or
    /// more, and the output is [`SplitOutput::Buckets`]. 65,536 buckets need a function that returns a bucket for every
    /// item.
    pub segmented: bool,
    /// The result of the split.
    /// - [`SplitOutput::Counts`] needs [`Strategy::ReduceThenScan`] or [`Strategy::Auto`].
    /// - [`SplitOutput::Counts`] and [`SplitOutput::Ranks`] write no items: there are no values.
    /// - With [`SplitOutput::Bucket`] and [`SplitOutput::Placed`], keys narrower than a word must be dropped.
    /// - More than 256 buckets need [`SplitOutput::Buckets`] or [`SplitOutput::Counts`].
    pub output: SplitOutput,
    /// The items that are ranked together. [`SplitMethod::Workgroup`] works with every strategy and is the fastest on
    /// every measured device. The others exist for comparison. They need [`Strategy::ReduceThenScan`] or
    /// [`Strategy::Auto`], at most 2^30 items, and no segments.
    pub method: SplitMethod,
}

impl Default for SplitterInfo {
    fn default() -> Self {
        Self::keys(2, BucketFunction::default())
    }
}

impl SplitterInfo {
    /// `u32` keys without values.
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

    /// The same splitter with support for batches.
    pub const fn batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// The same splitter with deferred creation of pipelines.
    pub const fn deferred(self) -> Self {
        Self { deferred: true, ..self }
    }

    pub(crate) const fn options(&self) -> Options {
        Options { batches: self.batches, deferred: self.deferred }
    }

    /// The same splitter with the given strategy.
    pub const fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }

    /// The same splitter with the given output.
    pub const fn output(self, output: SplitOutput) -> Self {
        Self { output, ..self }
    }

    /// The same splitter with the given method.
    pub const fn method(self, method: SplitMethod) -> Self {
        Self { method, ..self }
    }

    /// Translates the parameters into the format of the kernels.
    ///
    /// # Errors
    /// Names the invalid member and the reason.
    pub(crate) fn format(&self) -> Result<(Format, SplitBy)> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let Self { key, buckets, function, layout, max_count, method, .. } = *self;
        if buckets == 0 || buckets > MOST_BUCKETS {
            return malformed("bucketCount", &format!("{buckets} is not 1 to {MOST_BUCKETS}"));
        }
        self.check_output()?;
        if self.method != SplitMethod::Workgroup && (self.segmented || !self.counts_before()) {
            return malformed("method", "the subgroup methods need reduce-then-scan, and no segments");
        }
        if self.method != SplitMethod::Workgroup && max_count > MAX_NARROW_COUNT {
            let (value, limit) = (max_count.into(), MAX_NARROW_COUNT.into());
            return Err(Error::TooLarge {
                argument: "maxCount",
                value,
                limit,
                why: "the most items of the subgroup methods",
            });
        }
        // The array written besides keys: ranks are a word an item, as indices are.
        let (value, drop_keys) =
            if self.output == SplitOutput::Ranks { (ValueType::Index, true) } else { (self.value, self.drop_keys) };
        if value.size() > 16 {
            return malformed(
                "valueSize",
                &format!("{} is more than 16: split indices and gather the values by them", value.size()),
            );
        }
        let begin_bit = if let BucketFunction::Bits { begin_bit } = function { begin_bit } else { 0 };
        let end_bit = begin_bit.saturating_add(self.field_bits());
        self.check_function(end_bit)?;
        let by_labels = self.labels(begin_bit, end_bit);
        if by_labels.is_some() && key.bits() < 32 {
            let why = "keys narrower than a word need a function of bits, at most 256 buckets and no segments";
            return malformed("keyType", why);
        }
        if by_labels.is_some() && max_count > MAX_NARROW_COUNT {
            let (value, limit) = (max_count.into(), MAX_NARROW_COUNT.into());
            return Err(Error::TooLarge {
                argument: "maxCount",
                value,
                limit,
                why: "the most items with this bucket function or number of buckets",
            });
        }
        // Other functions than a field still have a digit, of one arbitrary bit.
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
        let bins = buckets + u32::from(self.has_items_without_bucket());
        // A single bin is a field for any key.
        let field = if bins.is_power_of_two() && bins != 1 { FUNCTION_DIGIT } else { FUNCTION_FIELD };
        let Some(labels) = by_labels else {
            let function = if function == BucketFunction::Range && buckets > 1 { FUNCTION_RANGE } else { field };
            let binning = Binning { function, bins: Some(bins), output, labels: false, by_subgroups, unordered };
            return Ok((Format { binning, ..moved }, SplitBy { buckets, labels: None }));
        };
        if self.segmented && bins > MOST_BUCKETS {
            return malformed(
                "bucketCount",
                "with segments, 65536 buckets need a function that returns a bucket for every item",
            );
        }
        // Passes sort by the label's own bits. The last digit has one bin more if the number of bins exceeds a power of
        // the radix by one. Digits of segments all have as many bins as values; their labels are whole words.
        let label_bits = if bins.is_power_of_two() { bins.ilog2() } else { (bins - 1).ilog2() + 1 }.max(1);
        let one_more = !self.segmented && (bins == RADIX + 1 || bins == MOST_BUCKETS + 1);
        let (field, label_size) = match bins {
            _ if self.segmented => (FUNCTION_DIGIT, 32),
            ..=RADIX => (field, RADIX_BITS),
            _ => (field, bins.next_power_of_two().ilog2().next_multiple_of(16).max(16)),
        };
        let format = Format {
            key_words: 1,
            key_bits: label_size,
            encoding: 0,
            begin_bit: 0,
            end_bit: label_bits - u32::from(one_more),
            value_words: value.size() / 4 + if drop_keys || only_counts { 0 } else { key.size() / 4 },
            binning: Binning { function: field, bins: Some(bins), output, labels: true, by_subgroups, unordered },
            ..moved
        };
        Ok((format, SplitBy { buckets, labels: Some(labels) }))
    }

    /// Checks that the output is compatible with the other parameters.
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
                    "no items are written: values, dropped keys and interleaved items are not available",
                );
            }
            _ if !stay && self.key.bits() < 32 && !self.drop_keys => {
                return malformed("output", "keys narrower than a word must be dropped with this output");
            }
            _ => {}
        }
        if self.segmented {
            return malformed("output", "segmented splits write all items, grouped by bucket");
        }
        if self.buckets > RADIX && self.output != SplitOutput::Counts {
            return malformed("output", "more than 256 buckets need all items grouped by bucket, or counts");
        }
        if self.output == SplitOutput::Counts && !self.counts_before() {
            return malformed(
                "strategy",
                "counts need reduce-then-scan: without a scatter, tiles have no prefix to wait for",
            );
        }
        Ok(())
    }

    /// Whether the split counts all keys before the first scatter.
    fn counts_before(&self) -> bool {
        matches!(self.strategy, Strategy::Auto | Strategy::ReduceThenScan)
    }

    /// Number of bits of a bucket number.
    fn field_bits(&self) -> u32 {
        self.buckets.next_power_of_two().ilog2().max(1)
    }

    /// Encodes a key of 32 or 64 bits.
    pub(super) fn ordered(&self, key: u64) -> u64 {
        let signed = self.key.plain().encoding & ENCODING_SIGNED != 0;
        if signed { key ^ 1 << (self.key.bits() - 1) } else { key }
    }

    /// Whether items may have no bucket.
    fn has_items_without_bucket(&self) -> bool {
        match self.function {
            BucketFunction::Bits { .. } => !self.buckets.is_power_of_two(),
            BucketFunction::Ids(id) => u64::from(self.buckets) < 1 << (8 * id.size()),
            BucketFunction::User => true,
            BucketFunction::Range | BucketFunction::Splitters | BucketFunction::Signs => false,
        }
    }

    /// Checks that the function is compatible with the key type and the number of buckets. `end_bit`: the end of a
    /// field.
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
                        why: "the last position of a field that numbers the buckets",
                    });
                }
                if begin_bit / 32 != (end_bit - 1) / 32 {
                    return malformed("beginBit", &format!("bits {begin_bit} to {end_bit} cross a word boundary"));
                }
            }
            BucketFunction::Range if !matches!(key, KeyType::U32 | KeyType::I32 | KeyType::U64 | KeyType::I64) => {
                return malformed("bucketFunction", "ranges need integer keys of 32 or 64 bits");
            }
            BucketFunction::Signs => {
                let of_words =
                    matches!(key, KeyType::U32 | KeyType::F32 | KeyType::U32x2 | KeyType::U32x3 | KeyType::U32x4);
                if !of_words {
                    return malformed("bucketFunction", "signs need keys of u32, f32 or several u32");
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

    /// Returns the inputs of the label pass, if the passes cannot compute the function themselves.
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
            // All items go to one bucket, whatever their keys are.
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

/// Maximum number of buckets: two digits.
const MOST_BUCKETS: u32 = RADIX * RADIX;
