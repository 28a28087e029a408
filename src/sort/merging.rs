//! Sorts by merging in numbers: how many moves they take, and how many workgroups each. As glsl/sort/windows.glsl counts.

use super::format::Format;
use crate::tuning::{Profile, Shape};

/// How problems are sorted as runs that are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merging {
    /// What a workgroup sorts of a problem: a run.
    pub(crate) run: Shape,
    /// What a workgroup merges at most: a window.
    pub(crate) window: Shape,
    /// Runs that are merged into one.
    pub(crate) fan: u32,
    /// Items from one sample to the next.
    pub(crate) step: u32,
    /// Moves that merge, until one run is left.
    pub(crate) levels: u32,
}

/// The largest problem of the format that the profile has merged, if shared memory has room for its items; otherwise 0.
fn limit(profile: &Profile, format: &Format, shared_memory: u32) -> u32 {
    let largest = profile.sort_runs.tile().max(profile.sort_windows.tile());
    // A word more in every 32, and what tells of the runs of a window.
    let words = format.merged_words() * (largest + largest / 32 + 1) + 4 * profile.merge_fan + 2;
    match (format.key_words, format.value_words) {
        _ if format.segmented || words * 4 > shared_memory => 0,
        (1, 0) => profile.merge_keys_up_to,
        (1, _) => profile.merge_pairs_up_to,
        _ => profile.merge_long_up_to,
    }
}

impl Merging {
    /// How problems of so many items are merged, if they are.
    pub(super) fn new(profile: &Profile, format: &Format, shared_memory: u32, max_count: u32) -> Option<Self> {
        let (run, window) = (profile.sort_runs, profile.sort_windows);
        let mut merging = Self { run, window, fan: profile.merge_fan, step: profile.merge_step, levels: 0 };
        if max_count > limit(profile, format, shared_memory) {
            return None;
        }
        while merging.run_items(merging.levels) < max_count.into() {
            merging.levels += 1;
        }
        Some(merging)
    }

    /// The largest maximum count of each number of levels.
    pub(super) fn ends(profile: &Profile, format: &Format, shared_memory: u32) -> impl Iterator<Item = u32> + use<> {
        let limit = limit(profile, format, shared_memory);
        let fan = profile.merge_fan;
        let full = std::iter::successors(Some(profile.sort_runs.tile()), move |items| items.checked_mul(fan));
        full.take_while(move |items| *items < limit).chain((limit != 0).then_some(limit))
    }

    /// Items of the runs that so many levels leave.
    pub(crate) fn run_items(self, levels: u32) -> u64 {
        (0..levels).fold(self.run.tile().into(), |items, _| items * u64::from(self.fan))
    }

    fn windows_of(self, items: u64) -> u64 {
        items.div_ceil(self.step.into()).div_ceil(spacing(self.window, self.fan, self.step).into())
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
        count.div_ceil(self.run.tile()).max(1)
    }

    /// Workgroups that look for windows, of so many threads each.
    pub(super) fn partitions(self, threads: u32, count: u32) -> u32 {
        count.div_ceil(self.step).div_ceil(threads / self.fan)
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

/// Samples from one that begins a window to the next, so that no window is more than a workgroup takes; 0 where that cannot be.
pub(crate) fn spacing(window: Shape, fan: u32, step: u32) -> u32 {
    window.tile().saturating_sub(fan * (step - 1)) / step
}
