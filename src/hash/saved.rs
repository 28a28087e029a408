//! Tables in host memory: the CPU twin of searches, and the check of a table that has been saved.

use super::HasherInfo;
use super::format::{Format, slices_of, slot_words};
use crate::shared::{
    BUCKET_WORDS, HEADER_BYTES, MOST_PROBES, OVERFLOW_SHARE, RESERVED_VALUES, SLICE_SLOTS, TABLE_FORMAT,
};
use crate::{Error, KeyType, Result, ValueType};

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

/// The buckets of one slice that are probed for a key.
struct Probes {
    slice: u32,
    bucket: u32,
    step: u32,
    /// Index of the match of a full bucket that the key belongs to: two neighboring slots, of which the first one has
    /// the larger key if a search goes on behind the bucket.
    matched: usize,
}

/// A table in host memory.
struct Table<'a> {
    bytes: &'a [u8],
    format: Format,
    slices: u32,
}

impl Table<'_> {
    fn word(&self, index: usize) -> u32 {
        let word = self.bytes[4 * index..].first_chunk();
        word.map_or(0, |bytes| u32::from_ne_bytes(*bytes))
    }

    fn slot_words(&self) -> usize {
        slot_words(self.format.key_words, self.format.value_words) as usize
    }

    fn key_words(&self) -> usize {
        self.format.key_words as usize
    }

    /// Slots of a bucket.
    fn slots(&self) -> usize {
        BUCKET_WORDS as usize / self.slot_words()
    }

    /// Buckets of a slice.
    fn buckets(&self) -> u32 {
        SLICE_SLOTS * slot_words(self.format.key_words, self.format.value_words) / BUCKET_WORDS
    }

    fn overflow_slices(&self) -> u32 {
        self.slices.div_ceil(OVERFLOW_SHARE)
    }

    fn bucket(&self, slice: u32, bucket: u32) -> [u32; BUCKET_WORDS as usize] {
        let marks = self.overflow_slices().next_multiple_of(BUCKET_WORDS) as usize;
        let bucket = slice as usize * self.buckets() as usize + bucket as usize;
        let begin = HEADER_BYTES as usize / 4 + marks + bucket * BUCKET_WORDS as usize;
        std::array::from_fn(|word| self.word(begin + word))
    }

    /// Whether some key of a home slice lies in its overflow slice.
    fn has_mark(&self, home: u32) -> bool {
        self.word((HEADER_BYTES / 4 + home / OVERFLOW_SHARE) as usize) >> (home % OVERFLOW_SHARE) & 1 != 0
    }

    /// Which of the two keys this is that slots cannot have: 0 in an empty slot, 1 in that of an erased key.
    fn reserved(&self, slot: &[u32]) -> Option<u32> {
        let (last, others) = slot[..self.key_words()].split_last()?;
        let is_reserved = *last >= u32::MAX - 1 && others.iter().all(|word| *word == u32::MAX);
        is_reserved.then(|| u32::MAX - last)
    }

    fn home(&self, [first, _]: [u32; 2]) -> u32 {
        ((u64::from(first) * u64::from(self.slices)) >> 32) as u32
    }

    /// The path of a key: in its home slice, then in the overflow slice.
    fn path(&self, hashes: [u32; 2]) -> [Probes; 2] {
        let ([first, second], home) = (hashes, self.home(hashes));
        let (buckets, matches) = (self.buckets(), self.slots() / 2);
        let shift = u32::BITS - buckets.ilog2();
        let rest = first.wrapping_mul(self.slices);
        let matched = |bits: u32| (bits as usize * matches) >> 16;
        let overflow = self.slices + home / OVERFLOW_SHARE;
        [
            Probes { slice: home, bucket: rest >> shift, step: (second % buckets) | 1, matched: matched(second >> 16) },
            Probes {
                slice: overflow,
                bucket: second.wrapping_mul(SECOND_SEED) >> shift,
                step: (first % buckets) | 1,
                matched: matched(first & 0xffff),
            },
        ]
    }

    /// The slice, the bucket and the slot in which a search finds a key.
    fn find(&self, key: &[u32], hashes: [u32; 2]) -> Option<(u32, u32, usize)> {
        for Probes { slice, bucket, step, matched } in self.path(hashes) {
            for probe in 0..MOST_PROBES {
                let bucket = bucket.wrapping_add(probe * step) % self.buckets();
                let words = self.bucket(slice, bucket);
                let mut slots = words.chunks_exact(self.slot_words());
                if let Some(slot) = slots.clone().position(|slot| slot.starts_with(key)) {
                    return Some((slice, bucket, slot));
                }
                let has_erased = slots.any(|slot| self.reserved(slot) == Some(1));
                let key_of = |slot: usize| &words[slot * self.slot_words()..][..self.key_words()];
                let is_full = self.reserved(key_of(self.slots() - 1)) != Some(0);
                if !is_full || !has_erased && key_of(2 * matched) <= key_of(2 * matched + 1) {
                    return None;
                }
            }
        }
        None
    }

    /// Checks the slots of a bucket. Returns its numbers of keys and of slots of erased keys.
    fn check_bucket(&self, slice: u32, bucket: u32) -> Result<[u32; 2]> {
        let mut counts = [0; 2];
        let mut has_empty = false;
        for (slot, words) in self.bucket(slice, bucket).chunks_exact(self.slot_words()).enumerate() {
            let reserved = self.reserved(words);
            if has_empty && reserved != Some(0) {
                return malformed(format!("slot {slot} of bucket {bucket} of slice {slice} follows an empty one"));
            }
            match reserved {
                Some(0) => has_empty = true,
                Some(_) => counts[1] += 1,
                None => {
                    let key = &words[..self.key_words()];
                    let hashes = hash_key(key);
                    if self.find(key, hashes) != Some((slice, bucket, slot)) {
                        return malformed(format!("no search finds slot {slot} of bucket {bucket} of slice {slice}"));
                    }
                    let home = self.home(hashes);
                    if slice != home && !self.has_mark(home) {
                        return malformed(format!("slice {home} has no mark for its key in slice {slice}"));
                    }
                    counts[0] += 1;
                }
            }
        }
        Ok(counts)
    }

    fn check(&self) -> Result<()> {
        let Format { key_words, value_words, .. } = self.format;
        let [format, slices, used, entries, erased, first, second] =
            std::array::from_fn::<_, { RESERVED_VALUES as usize }, _>(|index| self.word(index));
        let expected = [
            ("version of its layout", format & 0xff, TABLE_FORMAT),
            ("number of words of its keys", format >> 8 & 0xff, key_words),
            ("number of words of its values", format >> 16, value_words),
            ("number of its slices", slices, self.slices),
        ];
        if let Some((what, found, expected)) = expected.into_iter().find(|(_, found, expected)| found != expected) {
            return malformed(format!("the {what} is {found}, not {expected}"));
        }
        if used > 1 || first > 1 || second > 1 {
            return malformed("a flag of its header is neither 0 nor 1".to_owned());
        }
        let mut counts = [first + second, 0];
        for slice in 0..self.slices + self.overflow_slices() {
            for bucket in 0..self.buckets() {
                let [keys, erased] = self.check_bucket(slice, bucket)?;
                counts = [counts[0] + keys, counts[1] + erased];
            }
        }
        if counts != [entries, erased] {
            let [keys, slots] = counts;
            let why = format!("it has {keys} keys and {slots} erased slots, not {entries} and {erased} as its header");
            return malformed(why);
        }
        if used == 0 && counts != [0, 0] {
            return malformed("its header says that it is empty".to_owned());
        }
        Ok(())
    }
}

fn malformed<T>(why: String) -> Result<T> {
    Err(Error::Malformed { argument: "table", why })
}

/// Checks that `bytes` are a table with keys and values of these types and with this capacity, for instance one that
/// has been saved to a file.
///
/// The version and the numbers of the header are compared with the slots, and each key must lie where a search finds
/// it. Values can be anything, and types of the same size are not distinguished. The time is that of reading all slots,
/// and of one search on the host for each key.
///
/// # Errors
/// [`Error::TooSmall`] if there are fewer bytes than [`crate::hash::table_size`], or no capacity; [`Error::TooLarge`]
/// above a capacity of 2^31; [`Error::Malformed`] names the first fault, or the type that tables do not take.
pub fn check_table(key: KeyType, value: ValueType, capacity: u32, bytes: &[u8]) -> Result<()> {
    let format = Format::new(&HasherInfo { key, value, ..HasherInfo::keys() })?;
    check(format, capacity, bytes)
}

pub(super) fn check(format: Format, capacity: u32, bytes: &[u8]) -> Result<()> {
    format.check_capacity(capacity)?;
    let (value, required) = (bytes.len() as u64, format.table_bytes(capacity));
    if value < required {
        return Err(Error::TooSmall { argument: "table.size", value, required, max_count: None });
    }
    Table { bytes, format, slices: slices_of(capacity) }.check()
}
