//! Offsets, counts and indirect commands of buckets.

use super::buckets::Buckets;
use std::ops::Range;

/// The command of a bucket without items.
const EMPTY_COMMAND: [u32; 3] = [0, 1, 1];

/// The expected bucket information of a split: offsets, counts, commands.
pub(super) struct Results {
    pub(super) offsets: Vec<u32>,
    pub(super) counts: Vec<u32>,
    pub(super) commands: Vec<u32>,
}

pub(super) const OFFSETS: u32 = 1;
pub(super) const COUNTS: u32 = 2;
pub(super) const COMMANDS: u32 = 4;

/// The `VkDispatchIndirectCommand` for so many items: in one row, or in as few as the device needs.
fn command(items: u32, command_items: u32, max_groups_x: u32) -> [u32; 3] {
    if items == 0 {
        return EMPTY_COMMAND;
    }
    let groups = items.div_ceil(command_items);
    let rows = groups.div_ceil(max_groups_x);
    [groups.div_ceil(rows), rows, 1]
}

impl Results {
    pub(super) fn new(
        buckets: &Buckets,
        runs: &[Range<usize>],
        segments: Option<(u32, u32)>,
        command_items: u32,
        max_groups_x: u32,
    ) -> Self {
        let mut results = Self { offsets: Vec::new(), counts: Vec::new(), commands: Vec::new() };
        let mut add = |first: u32, counts: &[u32]| {
            results.offsets.push(first);
            counts.iter().fold(first, |end, count| {
                results.offsets.push(end + count);
                end + count
            });
            results.counts.extend(counts);
            results.commands.extend(counts.iter().flat_map(|count| command(*count, command_items, max_groups_x)));
        };
        for run in runs {
            add(u32::try_from(run.start).unwrap_or(u32::MAX), &buckets.counts(run)[..buckets.count]);
        }
        if let Some((max, end)) = segments {
            (runs.len()..max as usize).for_each(|_| add(end, &vec![0; buckets.count]));
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_segment_has_results() {
        let mut buckets = Buckets { of: vec![1, 0, 2, 1, 1], count: 2, given: None, low: 0, width: 0, unsorted: false };
        let results = Results::new(&buckets, &[0..2, 2..5], Some((3, 5)), 1, 2);
        assert_eq!(results.offsets, [0, 1, 2, 2, 2, 4, 5, 5, 5]);
        assert_eq!(results.counts, [1, 1, 0, 2, 0, 0]);
        assert_eq!(results.commands[..6], [1, 1, 1, 1, 1, 1]);
        assert_eq!(results.commands[6..12], [0, 1, 1, 2, 1, 1]);
        buckets.of = vec![0; 7];
        let all: Vec<_> = std::iter::once(0..7).collect();
        let alone = Results::new(&buckets, &all, None, 1, 2);
        assert_eq!((alone.offsets, alone.counts), (vec![0, 7, 7], vec![7, 0]));
        assert_eq!(alone.commands[..3], [2, 4, 1], "seven groups in rows of at most two");
    }
}
