//! The slots of bucketed tables, by the description at the head of glsl/hash/table.glsl.

use super::table::{ENTRIES, ERASED, HEADER_WORDS, SLICE_SLOTS, Shape, Slots, Words, hashes, reserved, reserved_key};
use crate::random::Random;

/// The fewest words and the fewest slots of a bucket.
const LEAST_BUCKET: [usize; 2] = [16, 4];
/// Slices that share an overflow slice.
const OVERFLOW_SHARE: usize = 32;
/// Buckets of its home slice and of its overflow slice that a key may be in.
const PROBES: [usize; 2] = [2, 16];
/// The word of the header that is 0 if the table has not been used since it was cleared.
const USED: usize = 2;

/// The buckets of a slice in which a key is searched for.
struct Path {
    buckets: Vec<usize>,
    /// The pair of slots that stores the key's filter bit: the key may lie in a later bucket.
    bit: u32,
}

#[derive(Clone, Debug, Default)]
struct Bucket {
    /// The slots that are not empty. None: the slot of an erased key.
    slots: Vec<Option<(Words, Words)>>,
    /// The filter, of a bucket without empty slots and erased keys: a bit for each pair of slots.
    filter: u32,
}

impl Bucket {
    fn has_erased(&self) -> bool {
        self.slots.contains(&None)
    }
}

/// The slots of a bucketed table.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    shape: Shape,
    /// The buckets of all slices. Overflow slices follow the others.
    buckets: Vec<Bucket>,
}

impl Buckets {
    pub(super) fn new(shape: Shape) -> Self {
        let mut table = Self { shape, buckets: Vec::new() };
        let slices = shape.slices + table.overflow_slices();
        table.buckets = vec![Bucket::default(); slices * table.slice_buckets()];
        table
    }

    fn slot_words(&self) -> usize {
        (self.shape.key_words + self.shape.value_words).next_power_of_two()
    }

    fn bucket_words(&self) -> usize {
        let [words, slots] = LEAST_BUCKET;
        words.max(slots * self.slot_words())
    }

    fn bucket_slots(&self) -> usize {
        self.bucket_words() / self.slot_words()
    }

    fn slice_buckets(&self) -> usize {
        SLICE_SLOTS / self.bucket_slots()
    }

    fn overflow_slices(&self) -> usize {
        self.shape.slices.div_ceil(OVERFLOW_SHARE)
    }

    /// The buckets of overflow slices.
    fn overflow_buckets(&self) -> &[Bucket] {
        &self.buckets[self.shape.slices * self.slice_buckets()..]
    }

    /// Words before the first slice: the header and the marks.
    fn first_slot(&self) -> usize {
        HEADER_WORDS + self.overflow_slices().next_multiple_of(self.bucket_words())
    }

    /// The paths of a key in its home slice and in the overflow slice.
    fn paths(&self, key: &[u32]) -> [Path; 2] {
        let [first, second] = hashes(key);
        let (slices, buckets, matches) = (self.shape.slices, self.slice_buckets(), self.bucket_slots() as u64 / 2);
        let bits = buckets.ilog2();
        let product = u64::from(first) * slices as u64;
        let [home, rest] = [product >> 32, product & 0xffff_ffff].map(|half| u32::try_from(half).unwrap_or(0));
        let path = |probes: usize, slice: usize, bucket: u32, step: u32, chosen: u32| {
            let step = (step as usize % buckets) | 1;
            let bucket = |probe: usize| slice * buckets + (bucket as usize + probe * step) % buckets;
            let bit = u32::try_from((u64::from(chosen) * matches) >> 16).unwrap_or(0);
            Path { buckets: (0..probes).map(bucket).collect(), bit }
        };
        let overflow = slices + home as usize / OVERFLOW_SHARE;
        [
            path(PROBES[0], home as usize, rest >> (32 - bits), second, second >> 16),
            path(PROBES[1], overflow, second.wrapping_mul(0x9e37_79b9) >> (32 - bits), first, first & 0xffff),
        ]
    }

    /// The word and the bit of the mark of a key's home slice.
    fn mark(&self, key: &[u32]) -> (usize, u32) {
        let home = self.paths(key)[0].buckets[0] / self.slice_buckets();
        (HEADER_WORDS + home / OVERFLOW_SHARE, 1 << (home % OVERFLOW_SHARE))
    }

    /// Searches for a key. Returns the number of probes, the bucket and the slot.
    fn find(&self, key: &[u32]) -> Option<(u32, usize, usize)> {
        let mut probes = 0;
        for Path { buckets, bit } in self.paths(key) {
            for number in buckets {
                let bucket = &self.buckets[number];
                probes += 1;
                let has_key = |slot: &Option<(Words, Words)>| slot.as_ref().is_some_and(|(known, _)| known == key);
                if let Some(slot) = bucket.slots.iter().position(has_key) {
                    return Some((probes, number, slot));
                }
                let is_full = bucket.slots.len() == self.bucket_slots();
                if !is_full || !bucket.has_erased() && bucket.filter >> bit & 1 == 0 {
                    return None;
                }
            }
        }
        None
    }

    /// Reads and checks the slots of a table.
    pub(super) fn read(shape: Shape, words: &[u32]) -> Result<Self, String> {
        let mut table = Self::new(shape);
        let [slot_words, bucket_words] = [table.slot_words(), table.bucket_words()];
        let first_slot = table.first_slot();
        for (number, bucket) in table.buckets.iter_mut().enumerate() {
            let mut is_open = false;
            for slot in words[first_slot + number * bucket_words..][..bucket_words].chunks_exact(slot_words) {
                let (key, rest) = slot.split_at(shape.key_words);
                let state = reserved(key);
                if is_open && state != Some(0) {
                    return Err(format!("bucket {number} has an empty slot before others"));
                }
                match state {
                    Some(0) => is_open = true,
                    Some(_) => bucket.slots.push(None),
                    None => bucket.slots.push(Some((key.to_vec(), rest[..shape.value_words].to_vec()))),
                }
            }
            // Each pair of slots of a full bucket stores a bit: whether the first key is the larger one.
            if !is_open && !bucket.has_erased() {
                let bits = bucket.slots.chunks_exact(2).map(|pair| u32::from(key(&pair[0]) > key(&pair[1])));
                bucket.filter = bits.zip(0..).map(|(bit, pair)| bit << pair).sum();
            }
        }
        let overflow = table.buckets.len() - table.overflow_buckets().len();
        for (number, bucket) in table.buckets.iter().enumerate() {
            for (slot, key) in bucket.slots.iter().enumerate().filter_map(|(slot, item)| Some((slot, key(item)?))) {
                let (mark, bit) = table.mark(key);
                if number >= overflow && words[mark] & bit == 0 {
                    return Err(format!("key {key:x?} is in an overflow slice, and its home slice has no mark"));
                }
                if table.find(key).is_none_or(|(_, bucket, found)| (bucket, found) != (number, slot)) {
                    return Err(format!("a search does not find key {key:x?} in bucket {number}"));
                }
            }
        }
        if words[USED] == 0 && (words[ERASED] != 0 || words[ENTRIES] != 0) {
            return Err("the header says that the table has not been used".into());
        }
        Ok(table)
    }
}

/// The key of a slot that is not empty.
fn key(slot: &Option<(Words, Words)>) -> Option<&[u32]> {
    slot.as_ref().map(|(key, _)| &key[..])
}

impl Slots for Buckets {
    fn counts(&self) -> [usize; 2] {
        [self.shape.slices, self.overflow_slices()].map(|slices| slices * SLICE_SLOTS)
    }

    fn words(&self) -> usize {
        self.first_slot() + self.buckets.len() * self.bucket_words()
    }

    fn insert(&mut self, key: &[u32], value: &[u32]) {
        let item = Some((key.to_vec(), value.to_vec()));
        if let Some((_, bucket, slot)) = self.find(key) {
            self.buckets[bucket].slots[slot] = item;
            return;
        }
        for Path { buckets, bit } in self.paths(key) {
            let has_room = |bucket: &usize| {
                let bucket = &self.buckets[*bucket];
                bucket.slots.len() < self.bucket_slots() || bucket.has_erased()
            };
            let probe = buckets.iter().position(has_room);
            buckets[..probe.unwrap_or(buckets.len())]
                .iter()
                .for_each(|bucket| self.buckets[*bucket].filter |= 1 << bit);
            let Some(probe) = probe else { continue };
            let slots = &mut self.buckets[buckets[probe]].slots;
            match slots.iter().position(Option::is_none) {
                Some(erased) => slots[erased] = item,
                None => slots.push(item),
            }
            return;
        }
    }

    fn erase(&mut self, key: &[u32]) {
        if let Some((_, bucket, slot)) = self.find(key) {
            self.buckets[bucket].slots[slot] = None;
        }
    }

    fn items(&self) -> Box<dyn Iterator<Item = (&[u32], &[u32])> + '_> {
        let slots = self.buckets.iter().flat_map(|bucket| bucket.slots.iter().flatten());
        Box::new(slots.map(|(key, value)| (&key[..], &value[..])))
    }

    fn erased(&self) -> usize {
        self.buckets.iter().flat_map(|bucket| &bucket.slots).filter(|slot| slot.is_none()).count()
    }

    fn overflow_keys(&self) -> usize {
        self.overflow_buckets().iter().flat_map(|bucket| &bucket.slots).flatten().count()
    }

    fn probes(&self) -> Vec<u32> {
        self.items().filter_map(|(key, _)| self.find(key)).map(|(probes, ..)| probes).collect()
    }

    fn probes_to_room(&self, key: &[u32], reuses_erased: bool) -> Option<u32> {
        let has_room =
            |bucket: &Bucket| bucket.slots.len() < self.bucket_slots() || reuses_erased && bucket.has_erased();
        let buckets = self.paths(key).into_iter().flat_map(|path| path.buckets);
        (1..).zip(buckets).find(|(_, bucket)| has_room(&self.buckets[*bucket])).map(|(probes, _)| probes)
    }

    fn write(&self, words: &mut [u32], random: &mut Random) {
        let is_used = words[ENTRIES] != 0 || words[ERASED] != 0 || random.chance(1, 2);
        words[USED] = is_used.into();
        // Some slices without keys in their overflow slice have a mark.
        let marks = HEADER_WORDS..HEADER_WORDS + self.overflow_slices();
        words[marks].iter_mut().for_each(|marks| *marks &= if random.chance(1, 4) { random.word() } else { 0 });
        for (key, _) in self.overflow_buckets().iter().flat_map(|bucket| bucket.slots.iter().flatten()) {
            let (word, bit) = self.mark(key);
            words[word] |= bit;
        }
        let [first_slot, bucket_words, key_words] = [self.first_slot(), self.bucket_words(), self.shape.key_words];
        for (number, bucket) in self.buckets.iter().enumerate() {
            let mut slots = bucket.slots.clone();
            if slots.len() == self.bucket_slots() && !bucket.has_erased() {
                arrange(&mut slots, bucket.filter, random);
            }
            let target = &mut words[first_slot + number * bucket_words..][..bucket_words];
            let all = slots.iter().map(Some).chain(std::iter::repeat(None));
            for (target, slot) in target.chunks_exact_mut(self.slot_words()).zip(all) {
                match slot {
                    Some(Some((key, value))) => {
                        target[..key.len()].copy_from_slice(key);
                        target[key.len()..][..value.len()].copy_from_slice(value);
                    }
                    Some(None) => target[..key_words].copy_from_slice(&reserved_key(1, key_words)),
                    None if is_used => target[..key_words].fill(u32::MAX),
                    // All words of an unused table are all ones, as it was cleared.
                    None => target.fill(u32::MAX),
                }
            }
        }
    }
}

/// Orders the items of a full bucket so that its pairs store these bits.
fn arrange(slots: &mut [Option<(Words, Words)>], bits: u32, random: &mut Random) {
    random.shuffle(slots);
    for (number, pair) in slots.chunks_exact_mut(2).enumerate() {
        if (key(&pair[0]) > key(&pair[1])) != (bits >> number & 1 != 0) {
            pair.swap(0, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::table::key_of_hash;
    use trommel::HasherInfo;

    #[test]
    fn broken_buckets_are_seen() {
        let mut random = Random::of(&[2]);
        let shape = Shape::new(&HasherInfo::pairs(), 1000);
        let mut table = Buckets::new(shape);
        let spread = |key: u32| key.wrapping_mul(0x9e37_79b9);
        (0..900).for_each(|key| table.insert(&key_of_hash(&[], spread(key)), &[key]));
        let mut words: Vec<u32> = (0..table.words()).map(|_| random.word()).collect();
        table.write(&mut words, &mut random);
        assert!(Buckets::read(shape, &words).is_ok());
        let is_broken = |change: &dyn Fn(&mut [u32])| {
            let mut words = words.clone();
            change(&mut words[table.first_slot()..]);
            Buckets::read(shape, &words).is_err()
        };
        assert!(is_broken(&|slots| slots[0] = u32::MAX), "a gap in a bucket");
        assert!(is_broken(&|slots| slots[0] ^= 1 << 31), "a key off its path");
        assert!(is_broken(&|slots| slots[2] = slots[0]), "a key twice");
        // In some full bucket with a passing key, another order hides the key.
        let swaps = (0..128).filter(|bucket| {
            is_broken(&|slots| {
                slots[bucket * 16..][..16].chunks_exact_mut(4).for_each(|pair| pair.rotate_left(2));
            })
        });
        assert!(swaps.count() > 10);
    }
}
