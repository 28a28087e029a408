//! Tables in host memory: the CPU twin of searches, and the check of a table that has been saved.

mod bucketed;
mod linear;

use self::bucketed::Bucketed;
use self::linear::Linear;
use super::format::Format;
use super::{HashScheme, HasherInfo};
use crate::shared::{HashHeader, RESERVED_VALUES, TABLE_FORMAT};
use crate::{Error, Result};
use std::mem::offset_of;

const SECOND_SEED: u32 = 0x9e37_79b9;
const PAIR_SEED: u32 = 0x7f4a_7c15;

/// The finalizer of MurmurHash3.
fn mix_bits(h: u32) -> u32 {
    let h = (h ^ h >> 16).wrapping_mul(0x85eb_ca6b);
    let h = (h ^ h >> 13).wrapping_mul(0xc2b2_ae35);
    h ^ h >> 16
}

/// The hashes of a key. See glsl/hash/table.glsl.
fn hash_key(key: &[u32]) -> [u32; 2] {
    if let [low, high] = *key {
        let first = low ^ mix_bits(high ^ SECOND_SEED);
        let second = high ^ mix_bits(first);
        return [first ^ mix_bits(second ^ PAIR_SEED), second];
    }
    [0, SECOND_SEED].map(|seed| key.iter().fold(seed, |h, word| mix_bits(h ^ word)))
}

/// Which of the two keys this is that slots cannot have: 0 in an empty slot, 1 in that of an erased key.
fn reserved_of(format: &Format, slot: &[u32]) -> Option<u32> {
    let (last, others) = slot[..format.key_words as usize].split_last()?;
    let is_reserved = *last >= u32::MAX - 1 && others.iter().all(|word| *word == u32::MAX);
    is_reserved.then(|| u32::MAX - last)
}

/// Whether the slots of a table have fingerprints: parts of hashes. Otherwise two keys are reserved.
fn has_fingerprints(format: &Format) -> bool {
    format.scheme == HashScheme::Linear && (format.key_words > 1 || format.multimap)
}

/// A table in host memory.
#[derive(Clone, Copy)]
struct Table<'a> {
    bytes: &'a [u8],
    format: &'a Format,
    slices: u32,
}

impl Table<'_> {
    fn word(&self, index: usize) -> u32 {
        let word = self.bytes[4 * index..].first_chunk();
        word.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }

    fn slot_words(&self) -> usize {
        self.format.slot_words() as usize
    }

    fn key_words(&self) -> usize {
        self.format.key_words as usize
    }

    fn check(&self) -> Result<()> {
        let Format { key_words, value_words, .. } = self.format;
        let [format, slices, used, entries, erased, first, second] =
            std::array::from_fn::<_, { RESERVED_VALUES as usize }, _>(|index| self.word(index));
        let expected = [
            ("version of its layout", format & 0xff, TABLE_FORMAT),
            ("number of words of its keys", format >> 8 & 0xff, *key_words),
            ("number of words of its values", format >> 16 & 0xff, *value_words),
            ("number of its scheme", format >> 24, self.format.scheme_number()),
            ("number of its slices", slices, self.slices),
        ];
        if let Some((what, found, expected)) = expected.into_iter().find(|(_, found, expected)| found != expected) {
            return malformed(format!("the {what} is {found}, not {expected}"));
        }
        if used > 1 || first > 1 || second > 1 {
            return malformed("a flag of its header is neither 0 nor 1".to_owned());
        }
        if has_fingerprints(self.format) && (first != 0 || second != 0) {
            return malformed("its header has a reserved key, but no key is reserved".to_owned());
        }
        let [keys, erased_slots] = match self.format.scheme {
            HashScheme::Bucketed => Bucketed(*self).check()?,
            HashScheme::Linear => Linear(*self).check()?,
        };
        let counts = [first + second + keys, erased_slots];
        if counts != [entries, erased] {
            let [keys, slots] = counts;
            let why = format!("it has {keys} keys and {slots} erased slots, not {entries} and {erased} as its header");
            return malformed(why);
        }
        if used == 0 && counts != [0, 0] && self.format.scheme == HashScheme::Bucketed {
            return malformed("its header says that it is empty".to_owned());
        }
        Ok(())
    }
}

fn malformed<T>(why: String) -> Result<T> {
    Err(Error::Malformed { argument: "table", why })
}

/// Checks that `bytes` are a table of hashers with these parameters and with this capacity, for instance one that has
/// been saved to a file.
///
/// The version and the numbers of the header are compared with the slots, and each key must lie where a search finds
/// it. Values of keys can be anything, and types of the same size are not distinguished. The time is that of reading
/// all slots, and of one search on the host for each key.
///
/// # Errors
/// [`Error::TooSmall`] if there are fewer bytes than [`crate::hash::table_size`], or no capacity; [`Error::TooLarge`]
/// above [`HasherInfo::max_capacity`]; [`Error::Malformed`] names the first fault; or as [`crate::Hasher::new`].
pub fn check_table(info: &HasherInfo, capacity: u32, bytes: &[u8]) -> Result<()> {
    check(Format::new(info)?, capacity, bytes)
}

pub(super) fn check(format: Format, capacity: u32, bytes: &[u8]) -> Result<()> {
    format.check_capacity(capacity)?;
    let (value, required) = (bytes.len() as u64, format.table_bytes(capacity));
    if value < required {
        return Err(Error::TooSmall { argument: "table.size", value, required, max_count: None });
    }
    let most = format.slices_of(capacity);
    let table = Table { bytes, format: &format, slices: most };
    if !format.resizable {
        return table.check();
    }
    let slices = table.word(offset_of!(HashHeader, slices) / 4);
    let is_possible = format.scheme != HashScheme::Linear || slices.is_power_of_two();
    if slices == 0 || slices > most || !is_possible {
        return malformed(format!("it has {slices} slices, of at most {most}"));
    }
    Table { slices, ..table }.check()
}
