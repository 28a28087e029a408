//! Statistics of a table.

use crate::shared::{
    MOST_PROBES, STATISTICS_ERASED_SLOTS, STATISTICS_KEYS, STATISTICS_OVERFLOW_SLOTS, STATISTICS_PROBES,
    STATISTICS_SLOTS,
};
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// Buckets that may be probed for a key: in its home slice, and as many in its overflow slice.
const PROBES: usize = 2 * MOST_PROBES as usize;

/// How full a table is, and how many probes its keys take: [`crate::HashOperation::Statistics`] writes it to device
/// memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct HashStatistics {
    /// Number of keys.
    pub keys: u32,
    /// Number of slots that erased keys have left. The next insertion into their slice frees them.
    pub erased_slots: u32,
    /// Number of slots, without those of overflow slices: the capacity, rounded up to slices of 1024.
    pub slots: u32,
    /// Number of slots of overflow slices.
    pub overflow_slots: u32,
    /// `probes[k]`: number of keys for which a search reads `k + 1` buckets. The last 16 are keys of overflow slices.
    /// Two keys are in no bucket and not counted: all ones, and all ones but the last bit of the last word.
    pub probes: [u32; PROBES],
}

const _: () = {
    assert!(offset_of!(HashStatistics, keys) == 4 * STATISTICS_KEYS as usize);
    assert!(offset_of!(HashStatistics, erased_slots) == 4 * STATISTICS_ERASED_SLOTS as usize);
    assert!(offset_of!(HashStatistics, slots) == 4 * STATISTICS_SLOTS as usize);
    assert!(offset_of!(HashStatistics, overflow_slots) == 4 * STATISTICS_OVERFLOW_SLOTS as usize);
    assert!(offset_of!(HashStatistics, probes) == 4 * STATISTICS_PROBES as usize);
};

impl HashStatistics {
    /// Keys per slot of the capacity. Above 0.95, insertions may report keys as left over.
    pub fn load_factor(&self) -> f64 {
        if self.slots == 0 { 0.0 } else { f64::from(self.keys) / f64::from(self.slots) }
    }

    /// Mean number of buckets that a search for a key of the table reads. 0 without keys.
    pub fn mean_probes(&self) -> f64 {
        let keys: f64 = self.probes.iter().copied().map(f64::from).sum();
        let reads: f64 = (1..).zip(self.probes).map(|(probes, keys)| f64::from(probes) * f64::from(keys)).sum();
        if keys == 0.0 { 0.0 } else { reads / keys }
    }

    /// Largest number of buckets that a search for a key of the table reads. 0 without keys.
    pub fn most_probes(&self) -> u32 {
        (1..).zip(self.probes).filter(|(_, keys)| *keys != 0).map(|(probes, _)| probes).max().unwrap_or(0)
    }

    /// Number of keys in overflow slices.
    pub fn overflow_keys(&self) -> u32 {
        self.probes[PROBES / 2..].iter().sum()
    }
}
