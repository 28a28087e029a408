//! Numbers of the arrays and of the small tables of a case, and parts of a hash table.

use crate::arrays::Contents;

// Arrays: the batch, the items that the table has before it, the table, and the keys and values that an operation
// writes. An export writes its keys to `KEYS`.
pub(super) const KEYS: usize = 0;
pub(super) const VALUES: usize = 1;
pub(super) const EARLIER_KEYS: usize = 2;
pub(super) const EARLIER_VALUES: usize = 3;
pub(super) const TABLE: usize = 4;
pub(super) const RESULTS: usize = 5;
/// Each key of a multimap once.
pub(super) const QUERIES: usize = 6;
/// The table that receives the keys of `TABLE`.
pub(super) const TARGET: usize = 7;
/// The operation of each key of a mixed batch.
pub(super) const OPCODES: usize = 8;
/// The bits of the keys that a stencil selects.
pub(super) const STENCIL: usize = 9;

// Small tables.
/// A bit for each key: whether it has been found.
pub(super) const FOUND: usize = 0;
/// The number of keys without a slot.
pub(super) const LEFTOVERS: usize = 1;
pub(super) const STATISTICS: usize = 2;
/// The number of values of each key of a multimap, or their offsets.
pub(super) const NUMBERS: usize = 3;
/// The number of exported keys or of retrieved values.
pub(super) const COUNT_OUT: usize = 4;

/// Bytes of a block. Tables consist of whole blocks.
pub(super) const BLOCK: u32 = 16;
/// Words before the slots of a table.
pub(super) const HEADER_WORDS: usize = 64;
/// The word of the header with the number of slices.
pub(super) const SLICES: usize = 1;
/// Slots of a slice. Tables consist of whole slices.
pub(super) const SLICE_SLOTS: u32 = 1024;
/// Slots of the tables that hashers for small tables take.
pub(super) const SMALL_TABLE: u32 = 1 << 18;

/// The largest value that selects a key. Values are random, so about half of the keys are selected.
pub(super) const MOST_SELECTED: u32 = u32::MAX / 2;

/// Whether a stencil selects a key.
pub(super) fn has_bit(stencil: &[u32], key: u32) -> bool {
    stencil[key as usize / 32] >> (key % 32) & 1 != 0
}

/// A number of items, slots or blocks. Numbers that are too large for a table stay so.
pub(super) fn narrow(wide: u64) -> u32 {
    u32::try_from(wide).unwrap_or(u32::MAX)
}

/// The words of a small table after a run.
pub(super) fn table(contents: &Contents, number: usize) -> Option<&[u32]> {
    contents.tables.get(number)?.as_deref()
}

/// Whether a value selects its key. Values of two words have the lower one first.
pub(super) fn is_selected(value: impl Iterator<Item = u32>) -> bool {
    value.take(2).enumerate().all(|(word, bits)| bits <= if word == 0 { MOST_SELECTED } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_values_are_selected() {
        for (value, selected) in [([MOST_SELECTED, 0], true), ([MOST_SELECTED + 1, 0], false), ([0, 1], false)] {
            assert_eq!(is_selected(value.into_iter()), selected, "{value:?}");
        }
    }
}
