//! The slots of a bucketed table. See glsl/hash/table.glsl.

use super::{SECOND_SEED, Table, hash_key, malformed, reserved_of};
use crate::Result;
use crate::shared::{
    HEADER_BYTES, HOME_PROBES, LEAST_BUCKET_SLOTS, MOST_VALUE_WORDS, OVERFLOW_PROBES, OVERFLOW_SHARE, SLICE_SLOTS,
};

/// Words of a bucket of the longest keys and values: each has `MOST_VALUE_WORDS`.
const MOST_BUCKET_WORDS: usize = (LEAST_BUCKET_SLOTS * 2 * MOST_VALUE_WORDS) as usize;

/// The buckets of one slice that are probed for a key.
struct Probes {
    slice: u32,
    bucket: u32,
    step: u32,
    /// Most buckets that are probed.
    probes: u32,
    /// Number of the key's bit in the filters of full buckets: a search goes on behind a bucket if the first key of the
    /// two slots of this number is the larger one.
    filter_bit: usize,
}

/// A bucketed table in host memory.
pub(super) struct Bucketed<'a>(pub(super) Table<'a>);

impl<'a> std::ops::Deref for Bucketed<'a> {
    type Target = Table<'a>;

    fn deref(&self) -> &Table<'a> {
        &self.0
    }
}

impl Bucketed<'_> {
    fn bucket_words(&self) -> usize {
        self.format.bucket_words() as usize
    }

    /// Slots of a bucket.
    fn slots(&self) -> usize {
        self.bucket_words() / self.slot_words()
    }

    /// Buckets of a slice.
    fn buckets(&self) -> u32 {
        SLICE_SLOTS * self.format.slot_words() / self.format.bucket_words()
    }

    /// The words of a bucket, and zeros behind them.
    fn bucket(&self, slice: u32, bucket: u32) -> [u32; MOST_BUCKET_WORDS] {
        let marks = self.format.mark_words(self.slices) as usize;
        let bucket = slice as usize * self.buckets() as usize + bucket as usize;
        let begin = HEADER_BYTES as usize / 4 + marks + bucket * self.bucket_words();
        let mut words = [0; MOST_BUCKET_WORDS];
        (begin..).zip(&mut words[..self.bucket_words()]).for_each(|(index, word)| *word = self.word(index));
        words
    }

    /// Whether some key of a home slice lies in its overflow slice.
    fn has_mark(&self, home: u32) -> bool {
        self.word((HEADER_BYTES / 4 + home / OVERFLOW_SHARE) as usize) >> (home % OVERFLOW_SHARE) & 1 != 0
    }

    fn home(&self, [first, _]: [u32; 2]) -> u32 {
        ((u64::from(first) * u64::from(self.slices)) >> 32) as u32
    }

    /// The path of a key: in its home slice, then in the overflow slice.
    fn path(&self, hashes: [u32; 2]) -> [Probes; 2] {
        let ([first, second], home) = (hashes, self.home(hashes));
        let (buckets, filter_bits) = (self.buckets(), self.slots() / 2);
        let shift = u32::BITS - buckets.ilog2();
        let rest = first.wrapping_mul(self.slices);
        let selected = |bits: u32| (bits as usize * filter_bits) >> 16;
        let overflow = self.slices + home / OVERFLOW_SHARE;
        [
            Probes {
                slice: home,
                bucket: rest >> shift,
                step: (second % buckets) | 1,
                probes: HOME_PROBES,
                filter_bit: selected(second >> 16),
            },
            Probes {
                slice: overflow,
                bucket: second.wrapping_mul(SECOND_SEED) >> shift,
                step: (first % buckets) | 1,
                probes: OVERFLOW_PROBES,
                filter_bit: selected(first & 0xffff),
            },
        ]
    }

    /// The slice, the bucket and the slot in which a search finds a key.
    fn find(&self, key: &[u32], hashes: [u32; 2]) -> Option<(u32, u32, usize)> {
        for Probes { slice, bucket, step, probes, filter_bit } in self.path(hashes) {
            for probe in 0..probes {
                let bucket = bucket.wrapping_add(probe * step) % self.buckets();
                let words = &self.bucket(slice, bucket)[..self.bucket_words()];
                let mut slots = words.chunks_exact(self.slot_words());
                if let Some(slot) = slots.clone().position(|slot| slot.starts_with(key)) {
                    return Some((slice, bucket, slot));
                }
                let has_erased = slots.any(|slot| reserved_of(self.format, slot) == Some(1));
                let key_of = |slot: usize| &words[slot * self.slot_words()..][..self.key_words()];
                let is_full = reserved_of(self.format, key_of(self.slots() - 1)) != Some(0);
                if !is_full || !has_erased && key_of(2 * filter_bit) <= key_of(2 * filter_bit + 1) {
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
        let bucket_words = &self.bucket(slice, bucket)[..self.bucket_words()];
        for (slot, words) in bucket_words.chunks_exact(self.slot_words()).enumerate() {
            let reserved = reserved_of(self.format, words);
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

    /// Checks all slots. Returns the numbers of keys and of slots of erased keys.
    pub(super) fn check(&self) -> Result<[u32; 2]> {
        let mut counts = [0; 2];
        for slice in 0..self.slices + self.format.overflow_slices(self.slices) {
            for bucket in 0..self.buckets() {
                let [keys, erased] = self.check_bucket(slice, bucket)?;
                counts = [counts[0] + keys, counts[1] + erased];
            }
        }
        Ok(counts)
    }
}
