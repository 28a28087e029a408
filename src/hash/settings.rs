//! Settings of hash tables in profiles.

use crate::Result;
use crate::core::settings::settings;
use crate::tuning::{Basis, Limits, Shape, refuse};

settings! {
    /// Settings of hash tables.
    pub struct Settings {
        /// Threads of a workgroup that changes a slice: a power of two.
        pub slice_threads: u32 = 128,
        /// As `slice_threads`, for keys of several words.
        pub long_slice_threads: u32 = 128,
        /// Threads of a workgroup that looks keys up.
        pub find_threads: u32 = 128,
    }
}

pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[];

/// Shared memory of a workgroup that changes a slice, in bytes: see glsl/hash/slices.comp. The keys and owners of all
/// slots, in columns with four words of padding, a filter for each bucket, and single words.
const SLICE_BYTES: u32 = 4 * (2 * (1024 + 4 * 16) + 256) + 64;

/// Items of a thread that a workgroup tests at a time.
const CHUNK_ITEMS: u32 = 4;

impl Settings {
    pub(crate) fn of(basis: &Basis<'_>) -> Self {
        let long_slice_threads = if basis.measured.is_some() { 256 } else { 128 };
        Self { slice_threads: 128, long_slice_threads, find_threads: 128 }
    }

    pub(crate) fn check(&self, limits: &Limits<'_>) -> Result<()> {
        let finding = Shape { threads: self.find_threads, items: 1 };
        limits.check_group(finding)?;
        limits.check_memory(&finding, true, 2 * finding.threads + limits.emulation_bytes(finding.threads))?;
        if !self.find_threads.is_multiple_of(32) {
            return refuse(format!("{finding} for searches is no multiple of 32"));
        }
        for threads in [self.slice_threads, self.long_slice_threads] {
            let shape = Shape { threads, items: 1 };
            limits.check_group(shape)?;
            if !threads.is_power_of_two() || threads > 1024 {
                return refuse(format!("{shape} for slices is no power of two up to 1024"));
            }
            limits.check_memory(&shape, true, SLICE_BYTES + 8 * CHUNK_ITEMS * threads)?;
        }
        Ok(())
    }
}
