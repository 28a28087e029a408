//! Statistics of a table.

use crate::shared::{
    STATISTICS_BINS, STATISTICS_ERASED_SLOTS, STATISTICS_KEYS, STATISTICS_MOST_PROBES, STATISTICS_OVERFLOW_KEYS,
    STATISTICS_OVERFLOW_SLOTS, STATISTICS_PROBES, STATISTICS_SLOTS, STATISTICS_TOTAL_PROBES, STATISTICS_WORDS,
};
use bytemuck::{Pod, Zeroable};
use std::mem::offset_of;

/// How full a table is, and how many probes its keys take: [`crate::HashOperation::Statistics`] writes it to device
/// memory.
///
/// A probe is what a search reads at a time: a bucket, or a slot of a table with linear probing. Probes are those of
/// searches for keys that the table has. Keys in the header take none and are not counted: all ones, and all ones but
/// the last bit of the last word. In multimaps, and in other tables with linear probing and keys of more than 4 bytes,
/// all keys have slots.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct HashStatistics {
    /// Number of keys.
    pub keys: u32,
    /// Number of slots that erased keys have left. Insertions use them again, unless they are concurrent.
    pub erased_slots: u32,
    /// Number of slots, without those of overflow slices.
    pub slots: u32,
    /// Number of slots of overflow slices. 0 in a table with linear probing.
    pub overflow_slots: u32,
    /// Number of keys in overflow slices.
    pub overflow_keys: u32,
    /// Largest number of probes of a key.
    pub most_probes: u32,
    /// Sum of the numbers of probes of all keys.
    pub total_probes: u64,
    /// Element 0: number of keys with one probe. Element `k`: number of keys with more than `2^(k - 1)` and at most
    /// `2^k` probes.
    pub probes: [u32; STATISTICS_BINS as usize],
}

const _: () = {
    assert!(size_of::<HashStatistics>() == 4 * STATISTICS_WORDS as usize);
    assert!(offset_of!(HashStatistics, keys) == 4 * STATISTICS_KEYS as usize);
    assert!(offset_of!(HashStatistics, erased_slots) == 4 * STATISTICS_ERASED_SLOTS as usize);
    assert!(offset_of!(HashStatistics, slots) == 4 * STATISTICS_SLOTS as usize);
    assert!(offset_of!(HashStatistics, overflow_slots) == 4 * STATISTICS_OVERFLOW_SLOTS as usize);
    assert!(offset_of!(HashStatistics, overflow_keys) == 4 * STATISTICS_OVERFLOW_KEYS as usize);
    assert!(offset_of!(HashStatistics, most_probes) == 4 * STATISTICS_MOST_PROBES as usize);
    assert!(offset_of!(HashStatistics, total_probes) == 4 * STATISTICS_TOTAL_PROBES as usize);
    assert!(offset_of!(HashStatistics, probes) == 4 * STATISTICS_PROBES as usize);
};

impl HashStatistics {
    /// Keys per slot of the capacity. Above 0.95, insertions may report keys as left over.
    pub fn load_factor(&self) -> f64 {
        if self.slots == 0 { 0.0 } else { f64::from(self.keys) / f64::from(self.slots) }
    }

    /// Mean number of probes of a key. 0 without keys.
    #[allow(clippy::cast_precision_loss, reason = "a mean is rounded anyway")]
    pub fn mean_probes(&self) -> f64 {
        let keys: f64 = self.probes.iter().copied().map(f64::from).sum();
        if keys == 0.0 { 0.0 } else { self.total_probes as f64 / keys }
    }
}
