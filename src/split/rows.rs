//! Rows and push constants of split kernels.

use super::job::{BucketSource, Buckets, Job, LabelBy};
use crate::radix::{behind, push_constants};
use crate::shared::{
    BoundsPush, BucketInfoProblem, BucketInfoPush, BucketRanges, ClearLookBackPush, CountingInfoProblem,
    CountingInfoPush, LabelProblem, LabelPush, RadixProblem, SingleDispatchPush,
};

push_constants! {
    RadixProblem:
    SingleDispatchPush { scratch, problems, problem_count, groups, digit }
}

push_constants! {
    LabelProblem:
    LabelPush { scratch, problems, states, problem_count, segments }
}

push_constants! {
    BucketInfoProblem:
    ClearLookBackPush { scratch, problems, states, problem_count, tickets, chunk, tile_items, pass }
    BucketInfoPush { scratch, problems, states, problem_count, pass }
    BoundsPush { scratch, problems, states, problem_count, segments }
}

push_constants! {
    CountingInfoProblem:
    CountingInfoPush { scratch, problems, problem_count, digit }
}

/// The row of the pass that writes labels.
pub(crate) fn label_row(problem: &RadixProblem, job: &Job, labels: &LabelBy) -> LabelProblem {
    let Buckets { low, width, given, .. } = job.buckets;
    let (inputs, splitters, input_stride) = match labels.given {
        // Dense: strides in words, or in bytes for narrower ids.
        Some(BucketSource::Ids(size)) => (given.address.into(), 0, if size == 4 { 1 } else { size }),
        Some(BucketSource::Splitters) => (problem.keys, given.address, problem.key_stride()),
        None => (problem.keys, 0, problem.key_stride()),
    };
    LabelProblem {
        inputs,
        labels: problem.alternate_keys,
        splitters: splitters.into(),
        user_address: job.items.user_address.into(),
        user_words: job.items.user_words,
        ranges: BucketRanges {
            low: bytemuck::cast(low.to_le_bytes()),
            width: bytemuck::cast(width.to_le_bytes()),
            reciprocal: 1.0 / width.max(1) as f32,
        },
        count: problem.count,
        max_count: problem.max_count,
        input_stride,
    }
}

/// What the rows of bucket information are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InfoFacts<'a> {
    pub(crate) problem: &'a RadixProblem,
    pub(crate) buckets: &'a Buckets,
    /// Capacity of the output in items.
    pub(crate) capacity: u32,
    /// Offset of the sorted labels in the planes of labels, in bytes.
    pub(crate) labels: u64,
}

impl From<InfoFacts<'_>> for BucketInfoProblem {
    fn from(InfoFacts { problem, buckets, capacity, labels }: InfoFacts<'_>) -> Self {
        let Buckets { offsets, counts, commands, starts, command_items, .. } = *buckets;
        let RadixProblem { alternate_keys, count, status, max_count, histogram, tile_words, .. } = *problem;
        let labels = behind(alternate_keys, labels);
        let [offsets, counts, commands, starts] = [offsets, counts, commands, starts].map(|range| range.address.into());
        Self {
            offsets,
            counts,
            commands,
            starts,
            labels,
            count,
            status,
            max_count,
            command_items,
            capacity,
            histogram,
            tile_words,
        }
    }
}

impl From<InfoFacts<'_>> for CountingInfoProblem {
    fn from(InfoFacts { problem, buckets, .. }: InfoFacts<'_>) -> Self {
        let Buckets { offsets, counts, commands, command_items, .. } = *buckets;
        let RadixProblem { keys, alternate_keys: labels, range, count, status, max_count, .. } = *problem;
        let [offsets, counts, commands] = [offsets, counts, commands].map(|range| range.address.into());
        let key_stride = problem.key_stride();
        Self { keys, labels, offsets, counts, commands, count, status, range, max_count, command_items, key_stride }
    }
}
