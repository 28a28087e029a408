//! Checks of a profile, in itself and against the device.

use super::{
    Hooks, MIN_THREADS, Profile, REDUNDANT_HISTOGRAM_BYTES, ROW_BYTES, SHARED_MEMORY_OVERHEAD, Shape, SizedMerge,
    SizedRank, SizedTile, SmallMethod, Strategy, malformed, ranked_chunk,
};
use crate::Result;
use crate::device::DeviceFacts;
use crate::shared::{DIGITS_COUNTED, FINISH_MARGIN, MAX_KEY_WORDS, PREFIX_BINS, RADIX, RING_GROUPS};
use std::fmt;

/// Indices within a tile and counts of its items have 16 bits.
const MAX_TILE: u32 = (1 << 16) - 1;
/// Most items of a merge sort: the product with the number of merged runs must fit a `u32`.
const MOST_MERGED: u32 = 1 << 26;
/// Most items of a single-dispatch split: the work is their square.
const MOST_SINGLE_DISPATCH: u32 = 1 << 18;
/// Most items of all-pairs ranking: the work is their square.
const MOST_RANKED: u32 = 1 << 14;
/// Largest look-back window of a thread, in tiles.
const MOST_WINDOW: u32 = 32;

/// Most entries of a ring: 2 MiB of tile words.
const MOST_RING_ENTRIES: u32 = 1024;

impl Profile {
    /// Returns this profile if the device can run it.
    ///
    /// # Errors
    /// Names the line that the device cannot run, and the reason.
    #[doc(hidden)]
    pub fn checked(self, facts: &DeviceFacts) -> Result<Self> {
        let narrowest = self.narrowest(facts);
        if !self.emulated_subgroups {
            let always = facts.min_lanes == facts.max_lanes && self.lanes == facts.min_lanes;
            if self.lanes != 0 && !facts.can_require(self.lanes) && !always {
                return refuse(format!("the device has no subgroups of {} lanes", self.lanes));
            }
        } else if !(4..=128).contains(&self.lanes) || !self.lanes.is_power_of_two() {
            return refuse(format!("subgroups of {} lanes cannot be emulated", self.lanes));
        }
        if self.strategy == Strategy::Auto {
            return refuse("auto is not a strategy of a profile".into());
        }
        // The ring must hold the largest group of tiles that frees its entries together, and the reach of a look-back.
        let Hooks { ring_entries, ring_reach, .. } = self.hooks;
        let ring_group = (ring_entries / RING_GROUPS).max(2);
        let fits = ring_reach.checked_add(ring_group).is_some_and(|least| least <= ring_entries);
        if !ring_entries.is_power_of_two() || ring_reach == 0 || ring_entries > MOST_RING_ENTRIES || !fits {
            return refuse(format!("a ring of {ring_entries} does not hold a reach of {ring_reach}"));
        }
        if ![self.window, self.ring_window].iter().all(|window| (1..=MOST_WINDOW).contains(window)) {
            return refuse(format!("windows are 1 to {MOST_WINDOW} words"));
        }
        if self.max_groups_x == 0 || self.max_groups_x > facts.max_groups_x || self.histogram_groups == 0 {
            return refuse(format!("max_groups_x must be 1 to {}, histogram_groups at least 1", facts.max_groups_x));
        }
        let fewest = facts.min_lanes.max(narrowest.min(facts.max_lanes));
        let hardware = facts.max_invocations.min(facts.max_subgroups.saturating_mul(fewest));
        // Kernels without subgroup operations run on the device's native subgroups even if others are emulated.
        let widest = match self.lanes {
            0 => facts.max_lanes,
            lanes if self.emulated_subgroups => lanes.max(facts.max_lanes),
            lanes => lanes,
        };
        let group = |Shape { threads, items }| {
            if u64::from(threads) * u64::from(items) > u64::from(MAX_TILE) {
                return refuse(format!("{threads} x {items} is a tile of more than {MAX_TILE} items"));
            }
            if threads < MIN_THREADS || threads > hardware {
                return refuse(format!("{threads} threads a workgroup; the device takes {MIN_THREADS} to {hardware}"));
            }
            if !threads.is_multiple_of(widest) {
                return refuse(format!("{threads} threads are not whole subgroups of {widest}"));
            }
            Ok(())
        };
        let fits = |shape: &dyn fmt::Display, holds: bool, bytes: u32| {
            if holds && bytes <= facts.shared_memory {
                return Ok(());
            }
            refuse(format!("{shape} needs {bytes} of {} bytes of shared memory", facts.shared_memory))
        };
        let emulation = |threads| if self.emulated_subgroups { threads * 8 } else { 0 };
        let with_counters = |Shape { threads, items }, least: u32| {
            let counters = (self.histogram_rows(threads, facts) * 1024).max(least);
            counters + threads * items * 4 + emulation(threads) + SHARED_MEMORY_OVERHEAD
        };
        // After ranking, the counters' memory holds a byte for each item: see glsl/radix/scatter.glsl.
        let by_digits = |shape: Shape| with_counters(shape, shape.items.next_multiple_of(4) * shape.threads);
        // As `by_digits`, for items with labels: one bin more than the values of a digit, and three items share a word.
        let by_labels = |Shape { threads, items }| {
            let counters = (self.histogram_rows(threads, facts) * 4 * (RADIX + 1)).max(items.div_ceil(3) * threads * 4);
            counters + threads * items * 4 + emulation(threads) + SHARED_MEMORY_OVERHEAD
        };
        // The third class is checked with keys of two words. Longer keys skip shapes that they do not fit.
        for (shapes, words) in [(&self.sort_keys, 1), (&self.sort_pairs, 2), (&self.sort_long, 3)] {
            if shapes.tiles.last().is_none_or(|last| last.up_to != u32::MAX) {
                return refuse("the last tile shape must serve every size".into());
            }
            if shapes.counted.last().is_some_and(|last| last.up_to != u32::MAX) {
                return refuse("the last tile shape of what is counted must serve every size".into());
            }
            let sized = shapes.tiles.iter().chain(&shapes.counted);
            let tiles = sized.map(|sized| sized.shape).chain(shapes.ring).chain(shapes.few_bins).map(|tile| tile.shape);
            for shape in tiles.chain([Shape { threads: self.plain_threads, items: 1 }]) {
                group(shape)?;
                fits(&shape, shape.items != 0, if words == 2 { by_labels(shape) } else { by_digits(shape) })?;
            }
            for SizedTile { up_to, shape } in &shapes.single_dispatch {
                group(shape.shape)?;
                if *up_to > MOST_SINGLE_DISPATCH {
                    return refuse(format!(
                        "{up_to} items exceed {MOST_SINGLE_DISPATCH}, the limit of single-dispatch splits"
                    ));
                }
                let Shape { threads, items } = shape.shape;
                if *shape != shape.shape.into() {
                    return refuse(format!("{shape} does not suit single-dispatch splits: threads x items only"));
                }
                // Each thread has a word with a bit for each of its items.
                if items > 32 {
                    return refuse(format!("{shape} does not suit single-dispatch splits: at most 32 items a thread"));
                }
                let rows = self.redundant_histogram_rows(threads, facts);
                fits(&shape, items != 0, rows * ROW_BYTES + emulation(threads) + REDUNDANT_HISTOGRAM_BYTES)?;
            }
            for small in shapes.small.iter().chain([&shapes.segments]) {
                group(small.shape)?;
                let bytes = match small.method {
                    SmallMethod::Radix => by_digits(small.shape),
                    // A counter for each bucket (as many as items) and one more, and the sums of subgroups: see
                    // glsl/sort/buckets.glsl.
                    SmallMethod::Buckets => with_counters(small.shape, 4 * (small.tile() + 1)) + small.shape.threads,
                    SmallMethod::Merge => small.merge_bytes(words),
                };
                fits(small, small.shape.items != 0, bytes)?;
            }
            // A window has a bit for each item that may begin a segment. There are at most as many words of bits as
            // threads to sum them. Each thread's own items are one word.
            let segments = shapes.segments;
            let Shape { threads, items } = segments.shape;
            if segments.segments_window() == 0 || items > 32 {
                return refuse(format!(
                    "{segments} does not suit segments: 64 to {MAX_TILE} items, at most 32 a thread"
                ));
            }
            // Shared memory also holds the number of segments before each word. The check uses the longest keys: a
            // sorter of any format must find its shape.
            let most_words = if words > 2 { MAX_KEY_WORDS + 1 } else { words };
            let bytes = match segments.method {
                SmallMethod::Radix => by_digits(segments.shape) + segments.tile() / 4 + threads,
                SmallMethod::Buckets => {
                    return refuse(format!("{segments} does not suit segments: they go by digits or by merging"));
                }
                SmallMethod::Merge => {
                    segments.merge_bytes(most_words) + segments.tile() / 4 + emulation(threads) + SHARED_MEMORY_OVERHEAD
                }
            };
            fits(&segments, true, bytes)?;
            shapes.merges.iter().try_for_each(|sized| self.check_merge(sized, hardware, widest))?;
            for ranked in &shapes.ranked {
                group(Shape { threads: ranked.threads, items: 1 })?;
                check_rank(*ranked, facts.shared_memory)?;
            }
        }
        if self.prefixes_up_to != 0 {
            let Shape { threads, items } = self.sort_finish;
            group(self.sort_finish)?;
            // Keys of maximum length, with the margins of a tile; and the bins of prefixes besides the digits'
            // counters.
            fits(&self.sort_finish, items != 0, 4 * MAX_KEY_WORDS * (threads * items + 2 * FINISH_MARGIN))?;
            fits(
                &"a histogram with prefixes",
                true,
                4 * (DIGITS_COUNTED * RADIX + PREFIX_BINS) + SHARED_MEMORY_OVERHEAD,
            )?;
        }
        Ok(self)
    }

    /// Checks that runs can be merged with these shapes. Whether their items fit shared memory depends on the format
    /// and is checked later.
    fn check_merge(&self, sized: &SizedMerge, hardware: u32, widest: u32) -> Result<()> {
        for Shape { threads, items } in [sized.run, sized.window] {
            let tile = u64::from(threads) * u64::from(items);
            if threads < MIN_THREADS
                || threads > hardware
                || !threads.is_multiple_of(widest)
                || tile == 0
                || tile > MAX_TILE.into()
            {
                return refuse(format!("{threads} x {items} merges no items"));
            }
        }
        let fan = self.merge_fan;
        if ![2, 4, 8, 16, 32].contains(&fan) {
            return refuse(format!("{fan} runs at a time are not a power of two from 2 to 32"));
        }
        if !self.plain_threads.is_multiple_of(fan) {
            return refuse(format!("{} plain threads are not a multiple of {fan} runs", self.plain_threads));
        }
        let step = sized.step(fan);
        if sized.spacing(fan) == 0 || !sized.run.tile().is_multiple_of(step) {
            return refuse(format!("{sized} has samples of every {step} items, which do not fit runs or windows"));
        }
        if sized.up_to > MOST_MERGED {
            return refuse(format!("{sized}: at most {MOST_MERGED} items are merged"));
        }
        Ok(())
    }
}

/// Checks that items can be ranked with this shape.
fn check_rank(ranked: SizedRank, shared_memory: u32) -> Result<()> {
    let SizedRank { above, above_in_place, up_to, threads, items } = ranked;
    if !items.is_power_of_two() || items < 4 || !threads.is_multiple_of(items) {
        return refuse(format!("{ranked}: {items} is not a power of two from 4 on that divides {threads}"));
    }
    if above.min(above_in_place) >= up_to || up_to > MOST_RANKED {
        return refuse(format!("{ranked} ranks no items or more than {MOST_RANKED} items"));
    }
    // A workgroup has all its own items in shared memory at once.
    let chunk = ranked_chunk(threads, MAX_KEY_WORDS, shared_memory);
    if chunk < items {
        return refuse(format!("{ranked} has room for {chunk} keys in {shared_memory} bytes of shared memory"));
    }
    Ok(())
}

fn refuse<T>(why: String) -> Result<T> {
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
            assert_eq!(profile.sort_keys.small.len(), 4, "the measured table is in use");
            assert_eq!(profile.clone().checked(&facts), Ok(profile));
        }
    }

    #[test]
    fn workgroups_have_no_more_subgroups_than_the_device_takes() {
        let facts = DeviceFacts { shared_memory: 48 * 1024, ..facts(1, (32, 32), 256, 4) };
        let mut profile = Profile::for_device(&facts);
        assert_eq!(profile.clone().checked(&facts).as_ref(), Ok(&profile));
        profile.sort_keys.small[0] = SmallShape::radix(256, 1);
        let error = profile.checked(&facts).unwrap_err().to_string();
        assert!(error.ends_with("256 threads a workgroup; the device takes 64 to 128"), "{error}");
    }

    #[test]
    fn profiles_that_no_device_can_run_are_refused() {
        let facts = DeviceFacts { shared_memory: 48 * 1024, ..facts(1, (32, 32), 256, 32) };
        let good = Profile::for_device(&facts);
        let with = |threads, items| {
            let mut profile = good.clone();
            profile.sort_keys.small[0] = SmallShape::radix(threads, items);
            profile
        };
        let mut merging = good.clone();
        merging.sort_long.small[0] = SmallShape::merge(256, 16);
        let (mut bucketed, mut segmented) = (good.clone(), good.clone());
        bucketed.sort_pairs.small[0] = SmallShape::buckets(256, 24);
        segmented.sort_long.segments = SmallShape::buckets(128, 4);
        let runs = |fan, text: &str| {
            let mut profile = Profile { merge_fan: fan, ..good.clone() };
            profile.sort_pairs.merges.push(text.parse().unwrap());
            profile
        };
        let ranked = |text: &str| {
            let mut profile = good.clone();
            profile.sort_long.ranked.push(text.parse().unwrap());
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
