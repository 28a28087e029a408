//! The slots of a table with linear probing. See glsl/hash/linear.glsl.

use super::{Table, has_fingerprints, hash_key, malformed};
use crate::Result;
use crate::shared::{HEADER_BYTES, MOST_LINEAR_PROBES, SLICE_SLOTS};

/// The states of slots without a key.
const EMPTY_SLOT: u32 = u32::MAX;
const ERASED_SLOT: u32 = u32::MAX - 1;

/// A table with linear probing in host memory.
pub(super) struct Linear<'a>(pub(super) Table<'a>);

impl<'a> std::ops::Deref for Linear<'a> {
    type Target = Table<'a>;

    fn deref(&self) -> &Table<'a> {
        &self.0
    }
}

impl Linear<'_> {
    /// A power of two.
    fn slots(&self) -> u32 {
        self.slices * SLICE_SLOTS
    }

    /// The index of a word of a slot.
    fn at(&self, slot: u32, word: usize) -> usize {
        HEADER_BYTES as usize / 4 + slot as usize * self.slot_words() + word
    }

    fn state(&self, slot: u32) -> u32 {
        self.word(self.at(slot, 0))
    }

    fn key(&self, slot: u32) -> Vec<u32> {
        let begin = usize::from(has_fingerprints(self.format));
        (0..self.key_words()).map(|word| self.word(self.at(slot, begin + word))).collect()
    }

    /// Whether the value of a slot is all ones. So are values of empty slots.
    fn has_no_value(&self, slot: u32) -> bool {
        let values = self.slot_words() - self.format.value_words as usize..self.slot_words();
        values.into_iter().all(|word| self.word(self.at(slot, word)) == u32::MAX)
    }

    /// The state of a slot with a key.
    fn state_of(&self, key: &[u32], [_, second]: [u32; 2]) -> u32 {
        if has_fingerprints(self.format) { second & !(1 << 31) } else { key[0] }
    }

    /// The slot in which a search finds a key.
    fn find(&self, key: &[u32]) -> Option<u32> {
        let hashes = hash_key(key);
        let wanted = self.state_of(key, hashes);
        for probe in 0..MOST_LINEAR_PROBES.min(self.slots()) {
            let slot = hashes[0].wrapping_add(probe) & (self.slots() - 1);
            match self.state(slot) {
                EMPTY_SLOT => return None,
                state if state == wanted && self.key(slot) == key => return Some(slot),
                _ => {}
            }
        }
        None
    }

    /// Whether a search for the key of a slot comes to this slot: in a multimap, behind others with the key.
    fn is_found(&self, slot: u32) -> bool {
        let key = self.key(slot);
        if !self.format.multimap {
            return self.find(&key) == Some(slot);
        }
        let hashes = hash_key(&key);
        let before = slot.wrapping_sub(hashes[0]) & (self.slots() - 1);
        let mut path = (0..before).map(|probe| hashes[0].wrapping_add(probe) & (self.slots() - 1));
        before < MOST_LINEAR_PROBES
            && self.state(slot) == self.state_of(&key, hashes)
            && path.all(|slot| self.state(slot) != EMPTY_SLOT)
    }

    /// Checks all slots. Returns the numbers of keys and of slots of erased keys.
    pub(super) fn check(&self) -> Result<[u32; 2]> {
        let mut counts = [0; 2];
        for slot in 0..self.slots() {
            match self.state(slot) {
                EMPTY_SLOT if !self.has_no_value(slot) => return malformed(format!("empty slot {slot} has a value")),
                EMPTY_SLOT => {}
                ERASED_SLOT => counts[1] += 1,
                _ => {
                    if !self.is_found(slot) {
                        return malformed(format!("no search finds slot {slot}"));
                    }
                    counts[0] += 1;
                }
            }
        }
        Ok(counts)
    }
}
