//! The limits of a device that settings are checked against.

use super::{
    Hooks, MIN_THREADS, REDUNDANT_HISTOGRAM_BYTES, ROW_BYTES, SHARED_MEMORY_OVERHEAD, Shape, SmallMethod, SmallShape,
};
use crate::core::settings::malformed;
use crate::device::DeviceFacts;
use crate::profile::Profile;
use crate::shared::{RADIX, RING_GROUPS};
use crate::{Result, Strategy};
use std::fmt;

/// Indices within a tile and counts of its items have 16 bits.
pub(crate) const MAX_TILE: u32 = (1 << 16) - 1;
/// Largest look-back window of a thread, in tiles.
const MOST_WINDOW: u32 = 32;
/// Most entries of a ring: 2 MiB of tile words.
const MOST_RING_ENTRIES: u32 = 1024;

/// The limits of a device for the shapes of a profile.
pub(crate) struct Limits<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) facts: &'a DeviceFacts,
    /// Most threads of a workgroup.
    most_threads: u32,
    /// Lanes of the widest subgroups: every workgroup is made of whole ones.
    widest: u32,
}

impl<'a> Limits<'a> {
    /// Checks the settings that are no folder's own.
    pub(crate) fn new(profile: &'a Profile, facts: &'a DeviceFacts) -> Result<Self> {
        let narrowest = profile.narrowest(facts);
        if !profile.emulated_subgroups {
            let always = facts.min_lanes == facts.max_lanes && profile.lanes == facts.min_lanes;
            if profile.lanes != 0 && !facts.can_require(profile.lanes) && !always {
                return refuse(format!("the device has no subgroups of {} lanes", profile.lanes));
            }
        } else if !(4..=128).contains(&profile.lanes) || !profile.lanes.is_power_of_two() {
            return refuse(format!("subgroups of {} lanes cannot be emulated", profile.lanes));
        }
        if profile.strategy == Strategy::Auto {
            return refuse("auto is not a strategy of a profile".into());
        }
        // The ring must hold the largest group of tiles that frees its entries together, and the reach of a look-back.
        let Hooks { ring_entries, ring_reach, .. } = profile.hooks;
        let ring_group = (ring_entries / RING_GROUPS).max(2);
        let fits = ring_reach.checked_add(ring_group).is_some_and(|least| least <= ring_entries);
        if !ring_entries.is_power_of_two() || ring_reach == 0 || ring_entries > MOST_RING_ENTRIES || !fits {
            return refuse(format!("a ring of {ring_entries} does not hold a reach of {ring_reach}"));
        }
        if ![profile.window, profile.ring_window].iter().all(|window| (1..=MOST_WINDOW).contains(window)) {
            return refuse(format!("windows are 1 to {MOST_WINDOW} words"));
        }
        if profile.max_groups_x == 0 || profile.max_groups_x > facts.max_groups_x {
            return refuse(format!("max_groups_x must be 1 to {}", facts.max_groups_x));
        }
        let fewest = facts.min_lanes.max(narrowest.min(facts.max_lanes));
        // Kernels without subgroup operations run on the device's native subgroups even if others are emulated.
        let widest = match profile.lanes {
            0 => facts.max_lanes,
            lanes if profile.emulated_subgroups => lanes.max(facts.max_lanes),
            lanes => lanes,
        };
        let most_threads = facts.max_invocations.min(facts.max_subgroups.saturating_mul(fewest));
        let limits = Self { profile, facts, most_threads, widest };
        limits.check_group(Shape { threads: profile.plain_threads, items: 1 })?;
        Ok(limits)
    }

    /// Checks that the device runs workgroups of this shape.
    pub(crate) fn check_group(&self, Shape { threads, items }: Shape) -> Result<()> {
        if u64::from(threads) * u64::from(items) > u64::from(MAX_TILE) {
            return refuse(format!("{threads} x {items} is a tile of more than {MAX_TILE} items"));
        }
        if threads < MIN_THREADS || threads > self.most_threads {
            return refuse(format!(
                "{threads} threads a workgroup; the device takes {MIN_THREADS} to {}",
                self.most_threads
            ));
        }
        if !threads.is_multiple_of(self.widest) {
            return refuse(format!("{threads} threads are not whole subgroups of {}", self.widest));
        }
        Ok(())
    }

    /// Checks that a workgroup has items, and that its shared memory suffices.
    pub(crate) fn check_memory(&self, shape: &dyn fmt::Display, has_items: bool, bytes: u32) -> Result<()> {
        if has_items && bytes <= self.facts.shared_memory {
            return Ok(());
        }
        refuse(format!("{shape} needs {bytes} of {} bytes of shared memory", self.facts.shared_memory))
    }

    /// Checks a workgroup that sorts all its items. `words`: of an item.
    pub(crate) fn check_small(&self, small: SmallShape, words: u32) -> Result<()> {
        self.check_group(small.shape)?;
        let bytes = match small.method {
            SmallMethod::Radix => self.bytes_by_digits(small.shape),
            // A counter for each bucket (as many as items) and one more, and the sums of subgroups: see
            // glsl/sort/buckets.glsl.
            SmallMethod::Buckets => self.bytes_with_counters(small.shape, 4 * (small.tile() + 1)) + small.shape.threads,
            SmallMethod::Merge => small.merge_bytes(words),
        };
        self.check_memory(&small, small.shape.items != 0, bytes)
    }

    /// Bytes of emulated subgroups.
    pub(crate) fn emulation_bytes(&self, threads: u32) -> u32 {
        if self.profile.emulated_subgroups { threads * 8 } else { 0 }
    }

    /// Bytes of digit counters, at least `least`, and of a tile's keys.
    fn bytes_with_counters(&self, Shape { threads, items }: Shape, least: u32) -> u32 {
        let counters = (self.profile.histogram_rows(threads, self.facts) * 1024).max(least);
        counters + threads * items * 4 + self.emulation_bytes(threads) + SHARED_MEMORY_OVERHEAD
    }

    /// Bytes of a workgroup that ranks a tile by digits. After ranking, the counters' memory holds a byte for each
    /// item: see glsl/radix/scatter.glsl.
    pub(crate) fn bytes_by_digits(&self, shape: Shape) -> u32 {
        self.bytes_with_counters(shape, shape.items.next_multiple_of(4) * shape.threads)
    }

    /// As `bytes_by_digits`, for items with labels: one bin more than the values of a digit, and three items share a
    /// word.
    pub(crate) fn bytes_by_labels(&self, Shape { threads, items }: Shape) -> u32 {
        let rows = self.profile.histogram_rows(threads, self.facts);
        let counters = (rows * 4 * (RADIX + 1)).max(items.div_ceil(3) * threads * 4);
        counters + threads * items * 4 + self.emulation_bytes(threads) + SHARED_MEMORY_OVERHEAD
    }

    /// Bytes of a workgroup that merges segments of items of `words` words. It also holds the number of segments before
    /// each word of starts.
    pub(crate) fn bytes_of_merged_segments(&self, segments: SmallShape, words: u32) -> u32 {
        let threads = segments.shape.threads;
        let starts = segments.tile() / 4;
        segments.merge_bytes(words) + starts + self.emulation_bytes(threads) + SHARED_MEMORY_OVERHEAD
    }

    /// Bytes of a workgroup that recomputes the histogram.
    pub(crate) fn bytes_of_redundant_histogram(&self, threads: u32) -> u32 {
        let rows = self.profile.redundant_histogram_rows(threads, self.facts);
        rows * ROW_BYTES + self.emulation_bytes(threads) + REDUNDANT_HISTOGRAM_BYTES
    }
}

pub(crate) fn refuse<T>(why: String) -> Result<T> {
    Err(malformed(why))
}

#[cfg(test)]
mod tests {
    use super::super::tests::facts;
    use super::super::{SmallShape, VENDOR_NVIDIA};
    use super::*;

    #[test]
    fn every_kind_of_device_gets_a_profile_that_it_can_run() {
        for lanes in [(4, 4), (8, 8), (16, 16), (32, 32), (64, 64), (128, 128), (8, 32), (32, 64), (4, 128), (64, 128)]
        {
            for (invocations, subgroups) in [(128, 32), (256, 64), (1024, 32), (1024, 64), (512, 16)] {
                for selectable in [false, true] {
                    let facts = DeviceFacts { lanes_selectable: selectable, ..facts(1, lanes, invocations, subgroups) };
                    let profile = Profile::for_device(&facts);
                    let checked = profile.clone().checked(&facts);
                    // The requirements: at least 128 invocations, even with narrow subgroups.
                    if subgroups * lanes.0 >= 128 && (selectable || lanes.1 <= 128) {
                        assert_eq!(checked.as_ref(), Ok(&profile), "{facts:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn tables_of_measured_devices_fit_them() {
        for compute_only in [false, true] {
            let facts =
                DeviceFacts { compute_only, shared_memory: 48 * 1024, ..facts(VENDOR_NVIDIA, (32, 32), 1024, 32) };
            let profile = Profile::for_device(&facts);
            assert_eq!(profile.sort.keys.small.len(), 4, "the measured table is in use");
            assert_eq!(profile.clone().checked(&facts), Ok(profile));
        }
    }

    #[test]
    fn workgroups_have_no_more_subgroups_than_the_device_takes() {
        let facts = DeviceFacts { shared_memory: 48 * 1024, ..facts(1, (32, 32), 256, 4) };
        let mut profile = Profile::for_device(&facts);
        assert_eq!(profile.clone().checked(&facts).as_ref(), Ok(&profile));
        profile.sort.keys.small[0] = SmallShape::radix(256, 1);
        let error = profile.checked(&facts).unwrap_err().to_string();
        assert!(error.ends_with("256 threads a workgroup; the device takes 64 to 128"), "{error}");
    }

    #[test]
    fn profiles_that_no_device_can_run_are_refused() {
        let facts = DeviceFacts { shared_memory: 48 * 1024, ..facts(1, (32, 32), 256, 32) };
        let good = Profile::for_device(&facts);
        let with = |threads, items| {
            let mut profile = good.clone();
            profile.sort.keys.small[0] = SmallShape::radix(threads, items);
            profile
        };
        let mut merging = good.clone();
        merging.sort.long.small[0] = SmallShape::merge(256, 16);
        let (mut bucketed, mut segmented) = (good.clone(), good.clone());
        bucketed.sort.pairs.small[0] = SmallShape::buckets(256, 24);
        segmented.radix.long.segments = SmallShape::buckets(128, 4);
        let runs = |fan, text: &str| {
            let mut profile = good.clone();
            profile.merge.fan = fan;
            profile.sort.pairs.merges.push(text.parse().unwrap());
            profile
        };
        let ranked = |text: &str| {
            let mut profile = good.clone();
            profile.sort.long.ranked.push(text.parse().unwrap());
            profile
        };
        let ring = |ring_entries, ring_reach| {
            let hooks = Hooks { ring_entries, ring_reach, ..Hooks::default() };
            Profile { hooks, ..good.clone() }
        };
        for (entries, reach) in [(8, 6), (128, 124), (1024, 992)] {
            assert_eq!(ring(entries, reach).checked(&facts), Ok(ring(entries, reach)));
        }
        let ranks = ranked("0,0..16384:256/64");
        assert_eq!(ranks.clone().checked(&facts), Ok(ranks));
        let merging_runs = runs(16, "100000:256x4/128x8");
        assert_eq!(merging_runs.clone().checked(&facts), Ok(merging_runs));
        let emulated = Profile { lanes: 4, emulated_subgroups: true, plain_threads: 100, ..good.clone() };
        for (profile, why) in [
            (with(64, 1 << 26), "a tile of more than"),
            (with(64, 0), "shared memory"),
            (with(48, 4), "48 threads"),
            (with(512, 1), "512 threads"),
            (with(256, 60), "shared memory"),
            (merging, "256x16/merge needs 50700 of 49152 bytes"),
            (bucketed, "256x24/buckets needs 50756 of 49152 bytes"),
            (segmented, "128x4/buckets does not suit segments"),
            (emulated, "whole subgroups of 32"),
            (runs(16, "100000:48x4/128x4"), "48 x 4 merges no items"),
            (runs(12, "100000:256x4/128x4"), "12 runs at a time"),
            (runs(4, "100000:160x3/256x16"), "samples of every 256 items"),
            (runs(16, "4000000000:256x4/128x4"), "at most 67108864 items"),
            (ranked("0,0..2048:512/32"), "512 threads"),
            (ranked("0,0..2048:160/64"), "64 is not a power of two from 4 on that divides 160"),
            (ranked("0,0..2048:192/48"), "48 is not a power of two"),
            (ranked("0,0..2048:256/2"), "2 is not a power of two from 4 on"),
            (ranked("2048,4096..2048:256/32"), "ranks no items"),
            (ranked("0,0..16385:256/32"), "more than 16384 items"),
            (Profile { max_groups_x: 0, ..good.clone() }, "max_groups_x"),
            (Profile { window: 0, ..good.clone() }, "windows are"),
            (Profile { ring_window: 64, ..good.clone() }, "windows are"),
            (Profile { lanes: 64, ..good.clone() }, "no subgroups of 64 lanes"),
            (ring(8, 7), "a ring of 8 does not hold a reach of 7"),
            (ring(128, 125), "a reach of 125"),
            (ring(1024, 993), "a reach of 993"),
            (ring(2048, 64), "a ring of 2048"),
            (ring(6, 1), "a ring of 6"),
        ] {
            let error = profile.checked(&facts).unwrap_err().to_string();
            assert!(error.contains(why), "{error} should say: {why}");
        }
    }
}
