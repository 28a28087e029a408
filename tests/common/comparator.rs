//! Orders of user-defined comparators, for the oracles.

use super::keys::Bits;
use super::problem::Array;

/// A user-defined order of keys.
#[derive(Clone)]
pub(crate) struct Comparator {
    /// Returns a number for each key: keys compare as their numbers.
    pub(crate) rank: fn(&Comparator, Bits) -> Bits,
    /// Read by the comparator: an array in device memory.
    pub(crate) table: Vec<u32>,
    pub(crate) words: [u32; 4],
}

impl Comparator {
    /// The number of a key.
    pub(crate) fn rank(&self, key: Bits) -> Bits {
        (self.rank)(self, key)
    }

    /// The table in device memory, if there is one.
    pub(crate) fn array(&self) -> Option<Array> {
        (!self.table.is_empty()).then(|| Array::words("user data", &self.table))
    }
}
