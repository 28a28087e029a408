//! One problem, whichever primitive it comes from.

use super::format::{BucketSource, Format};
use super::items::Items;
use super::problems::INDIRECT_COMMAND;
use crate::Range;
use crate::core::memory::{Argument, Arguments, roles};
use crate::shared::{LAYOUT_DROP_KEYS, OUTPUT_PLACED};

roles! {
    /// What a sort or a split names memory for.
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

/// One problem: items, and, of a split, what it is told of its buckets and tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Job {
    pub(crate) items: Items,
    pub(crate) buckets: Buckets,
}

/// What a split is told of its buckets, and where it tells of them; where its results are not wanted, none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Buckets {
    /// How ranges of keys are found: see glsl/lib/bins.glsl.
    pub(crate) range: [u32; 4],
    /// The same where they are said by labels: the first key as it is ordered, and keys of each.
    pub(crate) low: u64,
    pub(crate) width: u64,
    /// Ids of buckets, or splitters.
    pub(crate) given: Range,
    /// Where they begin, if they are told so.
    pub(crate) starts: Range,
    /// What a function of the caller is given: an address, and words.
    pub(crate) user_address: u64,
    pub(crate) user_words: [u32; 4],
    pub(crate) offsets: Range,
    pub(crate) counts: Range,
    pub(crate) commands: Range,
    /// That a workgroup of the commands takes.
    pub(crate) command_items: u32,
}

impl Job {
    /// The bytes that a problem touches, by role, without scratch.
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
            // Anywhere in what is written, which may be longer than it is elsewhere.
            for (role, given) in [(Role::KeysOut, self.items.keys_out), (Role::ValuesOut, self.items.values_out)] {
                let out = arguments.iter_mut().find(|argument| argument.role == role && argument.range.size != 0);
                out.into_iter().for_each(|out| out.range.size = out.range.size.max(given.size));
            }
            let range = Range::new(self.buckets.starts.address, u64::from(format.bins()) * 4);
            arguments.push(Argument { role: Role::Starts, range, written: false });
        }
        // Of each segment.
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

    /// Whether anything is to be told of the buckets.
    pub(crate) fn tells(&self, format: &Format) -> bool {
        let Buckets { offsets, counts, commands, .. } = self.buckets;
        let flags = format.strays() || format.output() == OUTPUT_PLACED;
        flags && self.items.status != 0 || [offsets, counts, commands].iter().any(|range| *range != Range::NONE)
    }
}
