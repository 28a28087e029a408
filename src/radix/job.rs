//! One problem of a sort or split, with its arguments.

use super::format::{BucketSource, Format};
use super::items::Items;
use super::problems::INDIRECT_COMMAND;
use crate::Range;
use crate::core::memory::{Argument, Arguments, roles};
use crate::shared::{LAYOUT_DROP_KEYS, OUTPUT_PLACED};

roles! {
    /// The arguments of a sort or split.
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

/// One problem: its items and, for a split, its buckets.
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
    /// Arguments of a user-defined function: an address and words.
    pub(crate) user_address: u64,
    pub(crate) user_words: [u32; 4],
    pub(crate) offsets: Range,
    pub(crate) counts: Range,
    pub(crate) commands: Range,
    /// Items of a workgroup in the indirect commands.
    pub(crate) command_items: u32,
}

impl Job {
    /// The ranges that a problem reads or writes, by role, without scratch.
    pub(crate) fn arguments(&self, format: &Format) -> Arguments<Role> {
        let mut arguments = self.items.arguments(format);
        let buckets = u64::from(format.split.map_or(0, |split| split.buckets));
        if let Some(labels) = format.labels() {
            if !labels.reads_keys() && format.has(LAYOUT_DROP_KEYS) {
                arguments.iter_mut().filter(|argument| argument.role == Role::Keys).for_each(|keys| keys.range = Range::NONE);
            }
            let given = labels.given.map(|given| match given {
                BucketSource::Ids(size) => (Role::BucketIds, u64::from(self.items.count.max) * u64::from(size)),
                BucketSource::Splitters => (Role::Splitters, (buckets - 1) * u64::from(format.key_size)),
            });
            let range = |size| Range::new(self.buckets.given.address, size);
            arguments.extend(given.map(|(role, size)| Argument { role, range: range(size), written: false }));
        }
        if format.output() == OUTPUT_PLACED {
            // Buckets may be placed anywhere in the output, which may exceed the count.
            for (role, given) in [(Role::KeysOut, self.items.keys_out), (Role::ValuesOut, self.items.values_out)] {
                let out = arguments.iter_mut().find(|argument| argument.role == role && argument.range.size != 0);
                out.into_iter().for_each(|out| out.range.size = out.range.size.max(given.size));
            }
            let range = Range::new(self.buckets.starts.address, u64::from(format.bins()) * 4);
            arguments.push(Argument { role: Role::Starts, range, written: false });
        }
        // For each segment.
        let times = if format.segmented { u64::from(self.items.segments.count.max) } else { 1 };
        let results = [
            (Role::Offsets, self.buckets.offsets, times * (buckets + 1) * 4),
            (Role::Counts, self.buckets.counts, times * buckets * 4),
            (Role::Commands, self.buckets.commands, times * buckets * INDIRECT_COMMAND),
        ];
        if format.split.is_some() {
            arguments.extend(results.map(|(role, range, size)| Argument {
                role,
                range: Range::new(range.address, if range == Range::NONE { 0 } else { size }),
                written: true,
            }));
        }
        arguments
    }

    /// Whether bucket information is requested.
    pub(crate) fn tells(&self, format: &Format) -> bool {
        let Buckets { offsets, counts, commands, .. } = self.buckets;
        let flags = format.strays() || format.output() == OUTPUT_PLACED;
        flags && self.items.status != 0 || [offsets, counts, commands].iter().any(|range| *range != Range::NONE)
    }
}
