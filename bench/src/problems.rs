//! The problems of a case: all items, segments, or a batch. Their counts and offsets are tables.

use crate::arrays::{Memory, Table};
use crate::workload::Step;
use ash::vk;
use std::ops::Range;
use trommel::{Count, Request, Scratch, Segments, Timestamps, cmd_batch};

/// The number of the table with a count on the device.
pub(crate) const COUNT: usize = 0;
/// The number of the table of segment offsets.
pub(crate) const SEGMENTS: usize = 1;

/// Lengths of segments from empty to more than a million items.
pub(crate) const MIXED_LENGTHS: &[u32] = &[1, 0, 40, 7, 1000, 300, 0, 5000, 90, 70_000, 3, 2_000_000];

/// How the items of a case are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Problems {
    /// One problem; the host knows its count.
    One,
    /// One problem; its count is on the device, and the host knows a maximum, this many times the count.
    Indirect { max_factor: u32 },
    /// Segments of these lengths, repeated until all items belong to one.
    Segments(&'static [u32]),
    /// Problems recorded together. Each group is a number of problems and the items of each.
    Batch(&'static [(u32, u32)]),
}

impl Problems {
    /// Items that arguments have room for.
    pub(crate) fn capacity(self, n: u32) -> u32 {
        if let Self::Indirect { max_factor } = self { n.saturating_mul(max_factor) } else { n }
    }

    /// The items of each problem.
    pub(crate) fn ranges(self, n: u32) -> Vec<Range<u32>> {
        let mut end = 0;
        let mut next = |length: u32| {
            let start = end;
            end += length.min(n - end);
            start..end
        };
        match self {
            Self::One | Self::Indirect { .. } => vec![next(n)],
            Self::Segments(lengths) => {
                lengths.iter().cycle().map(|n| next(*n)).take_while(|segment| segment.start < n).collect()
            }
            Self::Batch(groups) => {
                groups.iter().flat_map(|&(problems, n)| std::iter::repeat_n(n, problems as usize)).map(next).collect()
            }
        }
    }

    /// Items of all problems of a batch.
    pub(crate) fn batch_size(groups: &[(u32, u32)]) -> u32 {
        groups.iter().map(|(problems, n)| problems * n).sum()
    }

    /// The tables [`COUNT`] and [`SEGMENTS`].
    pub(crate) fn tables(self, n: u32) -> [Table; 2] {
        match self {
            Self::One | Self::Batch(_) => [Table::Absent, Table::Absent],
            Self::Indirect { .. } => [Table::Input(vec![n]), Table::Absent],
            Self::Segments(_) => {
                let starts = self.ranges(n).into_iter().map(|segment| segment.start);
                [Table::Absent, Table::Input(starts.chain([n]).collect())]
            }
        }
    }

    /// The count of a call for all items.
    pub(crate) fn count(self, n: u32, memory: &Memory) -> Count {
        let max = self.capacity(n);
        if let Self::Indirect { .. } = self {
            Count::device(memory.table(COUNT).address, max)
        } else {
            Count::host(max)
        }
    }

    /// The segments of a call for all items.
    pub(crate) fn segments(self, memory: &Memory) -> Segments {
        let Self::Segments(_) = self else { return Segments::default() };
        let offsets = memory.table(SEGMENTS);
        Segments { offsets, count: Count::host(u32::try_from(offsets.size / 4 - 1).unwrap_or(u32::MAX)) }
    }
}

/// The `max_count` of handles for `capacity` items: kernels for more than the default are others.
pub(crate) fn max_count(capacity: u32) -> u32 {
    if capacity > 1 << 30 { u32::MAX } else { 0 }
}

/// Records all problems of a batch at once. Batches write no timestamps.
pub(crate) struct BatchStep<'a> {
    pub(crate) requests: Vec<Request<'a>>,
    pub(crate) scratch: Scratch,
}

impl Step for BatchStep<'_> {
    unsafe fn record(&self, commands: vk::CommandBuffer, _timestamps: Option<Timestamps>) -> trommel::Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { cmd_batch(commands, &self.requests, self.scratch) }
    }

    fn timestamp_count(&self) -> trommel::Result<u32> {
        Ok(0)
    }

    fn describe(&self) -> trommel::Result<String> {
        Ok(String::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_cover_all_items() {
        assert_eq!(Problems::Segments(&[3, 0, 4]).ranges(9), [0..3, 3..3, 3..7, 7..9]);
        assert_eq!(Problems::Batch(&[(2, 3), (1, 5)]).ranges(11), [0..3, 3..6, 6..11]);
        assert_eq!(Problems::batch_size(&[(2, 3), (1, 5)]), 11);
        let [_, segments] = Problems::Segments(&[3, 0, 4]).tables(9);
        assert!(matches!(segments, Table::Input(words) if words == [0, 3, 3, 7, 9]));
    }

    #[test]
    fn a_maximum_is_never_more_than_a_count_can_be() {
        assert_eq!(Problems::Indirect { max_factor: 32 }.capacity(1000), 32_000);
        assert_eq!(Problems::Indirect { max_factor: 32 }.capacity(u32::MAX), u32::MAX);
        assert_eq!(Problems::One.capacity(7), 7);
    }
}
