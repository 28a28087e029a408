//! Sorts by merging in numbers: how many moves they take, and how many workgroups each. As glsl/sort/windows.glsl counts.

use super::format::Format;
use crate::tuning::{Profile, SizedMerge, SmallShape};

/// How problems are sorted as runs that are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merging {
    pub(crate) sized: SizedMerge,
    /// Runs that are merged into one.
    pub(crate) fan: u32,
    /// Moves that merge, until one run is left.
    pub(crate) levels: u32,
}

/// What the profile has merged of the format.
fn merges<'a>(profile: &'a Profile, format: &Format) -> &'a [SizedMerge] {
    match (format.key_words, format.value_words) {
        _ if format.segmented => &[],
        (1, 0) => &profile.merge_keys,
        (1, _) => &profile.merge_pairs,
        _ => &profile.merge_long,
    }
}

impl Merging {
    /// How problems of so many items are merged, where they are and shared memory has room for their items.
    pub(super) fn new(profile: &Profile, format: &Format, shared_memory: u32, max_count: u32) -> Option<Self> {
        let sized = *merges(profile, format).iter().find(|sized| max_count <= sized.up_to)?;
        let mut merging = Self { sized, fan: profile.merge_fan, levels: 0 };
        let bytes =
            [sized.run, sized.window].map(|shape| SmallShape::merge(shape.threads, shape.items).merge_bytes(format.merged_words()));
        // And what tells of the runs of a window.
        if bytes[0].max(bytes[1]) + 4 * (4 * merging.fan + 2) > shared_memory {
            return None;
        }
        while merging.run_items(merging.levels) < max_count.into() {
            merging.levels += 1;
        }
        Some(merging)
    }

    /// The largest maximum counts of each shape and number of levels.
    pub(super) fn ends<'a>(profile: &'a Profile, format: &Format) -> impl Iterator<Item = u32> + use<'a> {
        merges(profile, format).iter().flat_map(|sized| {
            let full = std::iter::successors(Some(sized.run.tile()), |items| items.checked_mul(profile.merge_fan));
            full.take_while(|items| *items < sized.up_to).chain([sized.up_to])
        })
    }

    /// Items of the runs that so many levels leave.
    pub(crate) fn run_items(self, levels: u32) -> u64 {
        (0..levels).fold(self.sized.run.tile().into(), |items, _| items * u64::from(self.fan))
    }

    fn windows_of(self, items: u64) -> u64 {
        items.div_ceil(self.sized.step(self.fan).into()).div_ceil(self.sized.spacing(self.fan).into())
    }

    /// Windows of the runs that so many levels leave.
    pub(crate) fn windows(self, levels: u32, count: u32) -> u64 {
        let (count, group) = (u64::from(count), self.run_items(levels));
        count / group * self.windows_of(group) + self.windows_of(count % group)
    }

    /// The most windows of any level.
    pub(super) fn most_windows(self, count: u32) -> u64 {
        (1..=self.levels).map(|levels| self.windows(levels, count)).max().unwrap_or(0)
    }

    /// Runs that are sorted.
    pub(super) fn runs(self, count: u32) -> u32 {
        count.div_ceil(self.sized.run.tile()).max(1)
    }

    /// Workgroups that look for windows, of so many threads each.
    pub(super) fn partitions(self, threads: u32, count: u32) -> u32 {
        count.div_ceil(self.sized.step(self.fan)).div_ceil(threads / self.fan)
    }

    /// The most workgroups of any of a problem's dispatches.
    pub(super) fn most_groups(self, plain_threads: u32, count: u32) -> u64 {
        let others = self.runs(count).max(self.partitions(plain_threads, count));
        self.most_windows(count).max(others.into())
    }

    /// Sets of planes in scratch, from one to the other of which the moves between the first and the last go.
    pub(super) fn planes(self) -> u64 {
        self.levels.min(2).into()
    }
}
