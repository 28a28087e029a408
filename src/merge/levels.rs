//! Arithmetic of merge sorts: numbers of levels, runs, windows and workgroups. glsl/merge/windows.glsl computes the
//! same.

#![cfg_attr(not(feature = "default"), allow(dead_code, reason = "each primitive uses a part of it"))]

use crate::tuning::SizedMerge;

/// The parameters of a merge sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Merging {
    pub(crate) sized: SizedMerge,
    /// Number of runs that are merged into one.
    pub(crate) fan: u32,
    /// Number of merge levels until one run is left.
    pub(crate) levels: u32,
}

impl Merging {
    /// Returns the merge sort for a maximum count and words of an item. None if the profile has none, or shared memory
    /// is too small.
    pub(crate) fn new(shapes: &[SizedMerge], fan: u32, words: u32, shared_memory: u32, max_count: u32) -> Option<Self> {
        let sized = *shapes.iter().find(|sized| max_count <= sized.up_to)?;
        let mut merging = Self { sized, fan, levels: 0 };
        if sized.bytes(fan, words) > shared_memory {
            return None;
        }
        while merging.run_items(merging.levels) < max_count.into() {
            merging.levels += 1;
        }
        Some(merging)
    }

    /// The largest maximum count of each shape and number of levels.
    pub(crate) fn ends(shapes: &[SizedMerge], fan: u32) -> impl Iterator<Item = u32> {
        shapes.iter().flat_map(move |sized| {
            let full = std::iter::successors(Some(sized.run.tile()), move |items| items.checked_mul(fan));
            full.take_while(|items| *items < sized.up_to).chain([sized.up_to])
        })
    }

    /// Items of a run after this many levels.
    pub(crate) fn run_items(self, levels: u32) -> u64 {
        (0..levels).fold(self.sized.run.tile().into(), |items, _| items * u64::from(self.fan))
    }

    fn windows_of(self, items: u64) -> u64 {
        items.div_ceil(self.sized.step(self.fan).into()).div_ceil(self.sized.spacing(self.fan).into())
    }

    /// Number of windows after this many levels.
    pub(crate) fn windows(self, levels: u32, count: u32) -> u64 {
        let (count, group) = (u64::from(count), self.run_items(levels));
        count / group * self.windows_of(group) + self.windows_of(count % group)
    }

    /// Maximum number of windows of any level.
    pub(crate) fn most_windows(self, count: u32) -> u64 {
        (1..=self.levels).map(|levels| self.windows(levels, count)).max().unwrap_or(0)
    }

    /// Number of sorted runs.
    pub(crate) fn runs(self, count: u32) -> u32 {
        count.div_ceil(self.sized.run.tile()).max(1)
    }

    /// Number of workgroups of `threads` that search the window boundaries.
    pub(crate) fn partitions(self, threads: u32, count: u32) -> u32 {
        count.div_ceil(self.sized.step(self.fan)).div_ceil(threads / self.fan)
    }

    /// Maximum number of workgroups of a dispatch for one problem.
    pub(crate) fn most_groups(self, plain_threads: u32, count: u32) -> u64 {
        let others = self.runs(count).max(self.partitions(plain_threads, count));
        self.most_windows(count).max(others.into())
    }

    /// Number of plane sets in scratch. The inner levels alternate between them (ping-pong).
    pub(crate) fn planes(self) -> u64 {
        self.levels.min(2).into()
    }
}
