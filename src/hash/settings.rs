//! Settings of hash tables in profiles.

use crate::Result;
use crate::core::settings::settings;
use crate::shared::{MOST_WAITING, SLICE_SLOTS};
use crate::tuning::{Basis, Limits, Shape, refuse};

settings! {
    /// Settings of hash tables.
    pub struct Settings {
        /// Threads of a workgroup that changes a slice: a power of two from 64 to 1024.
        pub slice_threads: u32 = 128,
        /// As `slice_threads`, for keys of several words.
        pub long_slice_threads: u32 = 128,
        /// Threads of a workgroup that looks keys up.
        pub find_threads: u32 = 128,
    }
}

pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[];

/// Shared memory of a workgroup that changes a slice, in bytes: see glsl/hash/slice.glsl and place.glsl. The keys and
/// owners of all slots, in columns with four words of padding, a word for each bucket, the list of waiting items, and
/// single words. Keys of several words have one more word for each slot, and smaller buckets.
const fn slice_bytes(is_long: bool) -> u32 {
    let (words, slots) = if is_long { (3, 4) } else { (2, 16) };
    4 * (words * (SLICE_SLOTS + 4 * slots) + SLICE_SLOTS / 4 + 4 * MOST_WAITING + 16)
}

impl Settings {
    pub(crate) fn of(basis: &Basis<'_>) -> Self {
        let long_slice_threads = if basis.measured.is_some() { 256 } else { 128 };
        Self { slice_threads: 128, long_slice_threads, find_threads: 128 }
    }

    pub(crate) fn check(&self, limits: &Limits<'_>) -> Result<()> {
        let finding = Shape { threads: self.find_threads, items: 1 };
        limits.check_group(finding)?;
        // Scans of mixed batches have the most: two words for each thread, and two bits for each of its four elements.
        limits.check_memory(&finding, true, 9 * finding.threads + limits.emulation_bytes(finding.threads))?;
        if !self.find_threads.is_multiple_of(32) {
            return refuse(format!("{finding} for searches is no multiple of 32"));
        }
        for (threads, is_long) in [(self.slice_threads, false), (self.long_slice_threads, true)] {
            let shape = Shape { threads, items: 1 };
            limits.check_group(shape)?;
            // Loops over the slots of a thread are unrolled.
            if !threads.is_power_of_two() || !(64..=SLICE_SLOTS).contains(&threads) {
                return refuse(format!("{shape} for slices is no power of two from 64 to 1024"));
            }
            limits.check_memory(&shape, true, slice_bytes(is_long))?;
        }
        Ok(())
    }
}
