//! One split: its items, its buckets, and where the items get theirs from.

use crate::Range;
use crate::core::memory::{Access, Argument, Arguments, roles};
use crate::radix::{Binning, Format, Given, INDIRECT_COMMAND, ItemRole, Items};
use crate::shared::{LAYOUT_DROP_KEYS, LAYOUT_INTERLEAVED, LAYOUT_STRIDED, OUTPUT_PLACED};

/// The parameters of a split besides its [`Format`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SplitBy {
    pub(crate) buckets: u32,
    /// The source of the labels, if the split goes by labels.
    pub(crate) labels: Option<LabelBy>,
}

/// The source of labels: keys or bucket ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LabelBy {
    /// A `FUNCTION_` constant.
    pub(crate) function: u32,
    /// The number of the user-defined module; 0: none.
    pub(crate) module: u64,
    /// Bucket ids or splitters of the caller.
    pub(crate) given: Option<BucketSource>,
    pub(crate) words: u32,
    /// Bits of the most significant word.
    pub(crate) bits: u32,
    /// `ENCODING_` bits.
    pub(crate) encoding: u32,
    /// First bit of a field.
    pub(crate) begin_bit: u32,
    pub(crate) end_bit: u32,
}

/// An array of the caller that determines buckets, together with the keys or instead of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum BucketSource {
    /// Bucket ids of this many bytes, one for each item.
    Ids(u32),
    /// Sorted splitters, one less than buckets.
    Splitters,
}

impl LabelBy {
    /// Whether keys are read.
    pub(crate) const fn reads_keys(&self) -> bool {
        !matches!(self.given, Some(BucketSource::Ids(_)))
    }

    /// The format of the input of the kernel that writes labels.
    pub(super) fn format(&self, split: &Format) -> Format {
        let layout = if self.reads_keys() { split.layout & (LAYOUT_INTERLEAVED | LAYOUT_STRIDED) } else { 0 };
        Format {
            key_words: self.words,
            key_bits: self.bits,
            encoding: self.encoding,
            begin_bit: self.begin_bit,
            end_bit: self.end_bit,
            layout,
            binning: Binning { function: self.function, labels: false, ..split.binning },
            ..*split
        }
    }
}

roles! {
    /// The arguments of a split.
    enum Role {
        Keys = "keys",
        Values = "values",
        KeysOut = "keysOut",
        ValuesOut = "valuesOut",
        Count = "count",
        Status = "status",
        SegmentOffsets = "segments.offsets",
        BucketIds = "bucketIds",
        Splitters = "splitters",
        Starts = "starts",
        Offsets = "offsets",
        Counts = "counts",
        Commands = "commands",
    }
}

impl From<ItemRole> for Role {
    fn from(role: ItemRole) -> Self {
        match role {
            ItemRole::Keys => Self::Keys,
            ItemRole::Values => Self::Values,
            ItemRole::KeysOut => Self::KeysOut,
            ItemRole::ValuesOut => Self::ValuesOut,
            ItemRole::Count => Self::Count,
            ItemRole::Status => Self::Status,
            ItemRole::SegmentOffsets => Self::SegmentOffsets,
        }
    }
}

/// One split: its items and buckets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Job {
    pub(crate) items: Items,
    pub(crate) buckets: Buckets,
}

/// The bucket arguments of a split: inputs of the bucket function and output ranges. Unused ranges are empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buckets {
    /// Parameters of ranges of keys: see glsl/radix/bins.glsl.
    pub(crate) range: [u32; 4],
    /// The same for labels: the first key, encoded, and the number of keys of a bucket.
    pub(crate) low: u64,
    pub(crate) width: u64,
    /// Ids of buckets, or splitters.
    pub(crate) given: Range,
    /// Bucket starts of the caller.
    pub(crate) starts: Range,
    pub(crate) offsets: Range,
    pub(crate) counts: Range,
    pub(crate) commands: Range,
    /// Items of a workgroup in the indirect commands.
    pub(crate) command_items: u32,
}

impl SplitBy {
    /// Whether items may be without a bucket.
    pub(super) fn has_items_without_bucket(&self, format: &Format) -> bool {
        format.binning.bins.is_some_and(|bins| bins > self.buckets)
    }

    /// The ranges that a split reads or writes, by role, without scratch.
    pub(crate) fn arguments(&self, format: &Format, job: &Job) -> Arguments<Role> {
        let Job { items, buckets: asked } = job;
        let mut arguments: Arguments<Role> = Arguments::new();
        arguments.extend(items.arguments(format).into_iter().map(|Argument { role, range, access }| Argument {
            role: role.into(),
            range,
            access,
        }));
        let buckets = u64::from(self.buckets);
        if let Some(labels) = &self.labels {
            if !labels.reads_keys() && format.has(LAYOUT_DROP_KEYS) {
                arguments
                    .iter_mut()
                    .filter(|argument| argument.role == Role::Keys)
                    .for_each(|keys| keys.range = Range::NONE);
            }
            let given = labels.given.map(|given| match given {
                BucketSource::Ids(size) => (Role::BucketIds, u64::from(items.count.max) * u64::from(size)),
                BucketSource::Splitters => (Role::Splitters, (buckets - 1) * u64::from(format.key_size)),
            });
            let range = |size| Range::new(asked.given.address, size);
            arguments.extend(given.map(|(role, size)| Argument { role, range: range(size), access: Access::Read }));
        }
        if format.output() == OUTPUT_PLACED {
            // Buckets may be placed anywhere in the output, which may exceed the count.
            for (role, given) in [(Role::KeysOut, items.keys_out), (Role::ValuesOut, items.values_out)] {
                let out = arguments.iter_mut().find(|argument| argument.role == role && argument.range.size != 0);
                out.into_iter().for_each(|out| out.range.size = out.range.size.max(given.size));
            }
            let range = Range::new(asked.starts.address, u64::from(format.bins()) * 4);
            arguments.push(Argument { role: Role::Starts, range, access: Access::Read });
        }
        // For each segment.
        let times = if format.segmented { u64::from(items.segments.count.max) } else { 1 };
        let info = [
            (Role::Offsets, asked.offsets, times * (buckets + 1) * 4),
            (Role::Counts, asked.counts, times * buckets * 4),
            (Role::Commands, asked.commands, times * buckets * INDIRECT_COMMAND),
        ];
        arguments.extend(info.map(|(role, range, size)| Argument {
            role,
            range: Range::new(range.address, if range == Range::NONE { 0 } else { size }),
            access: Access::Write,
        }));
        arguments
    }

    /// The caller's range of a role. None for single words and the offsets of segments.
    pub(super) fn given(&self, format: &Format, job: &Job, role: Role) -> Option<Given> {
        let Job { items, buckets } = job;
        let (range, alignment, is_per_item) = match role {
            Role::BucketIds => {
                let source = self.labels.and_then(|labels| labels.given);
                let size = if let Some(BucketSource::Ids(size)) = source { size } else { 4 };
                (buckets.given, size.into(), true)
            }
            Role::Splitters => (buckets.given, 4, false),
            Role::Starts => (buckets.starts, 4, false),
            Role::Offsets => (buckets.offsets, 4, false),
            Role::Counts => (buckets.counts, 4, false),
            Role::Commands => (buckets.commands, 4, false),
            role => {
                let of_items = ItemRole::ALL.into_iter().find(|of_items| Role::from(*of_items) == role)?;
                return items.given(format, of_items);
            }
        };
        Some(Given { range, alignment, is_per_item })
    }

    /// Whether a split writes bucket information.
    pub(super) fn writes_bucket_info(&self, format: &Format, job: &Job) -> bool {
        let Buckets { offsets, counts, commands, .. } = job.buckets;
        let flags = self.has_items_without_bucket(format) || format.output() == OUTPUT_PLACED;
        flags && job.items.status != 0 || [offsets, counts, commands].iter().any(|range| *range != Range::NONE)
    }
}
