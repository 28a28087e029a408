//! Tables by the description of their layout at the head of glsl/hash/table.glsl: a builder and a reader.

use crate::random::Random;
use std::collections::HashMap;

/// The words of a key or of a value.
pub(super) type Words = Vec<u32>;

const HEADER_WORDS: usize = 64;
const SLICE_SLOTS: usize = 1024;
const BUCKET_WORDS: usize = 16;
/// Slices that share an overflow slice.
const OVERFLOW_SHARE: usize = 32;
/// Buckets of a slice that a key may be in.
const PROBES: usize = 16;
// Words of the header.
const SLICES: usize = 1;
const USED: usize = 2;
const ENTRIES: usize = 3;
const ERASED: usize = 4;
const RESERVED: usize = 5;
const RESERVED_VALUES: [usize; 2] = [7, 11];

/// Numbers that hashes are mixed with.
const SEEDS: [u32; 2] = [0x9e37_79b9, 0x7f4a_7c15];

/// The finalizer of MurmurHash3.
fn mix(mut h: u32) -> u32 {
    for (shift, factor) in [(16, 0x85eb_ca6b), (13, 0xc2b2_ae35)] {
        h = (h ^ h >> shift).wrapping_mul(factor);
    }
    h ^ h >> 16
}

/// The inverse of `mix`.
fn unmix(h: u32) -> u32 {
    let unshift = |h: u32, shift: u32| (0..32 / shift).fold(h, |found, _| h ^ found >> shift);
    let inverse = |factor: u32| (0..5).fold(1u32, |x, _| x.wrapping_mul(2u32.wrapping_sub(factor.wrapping_mul(x))));
    let h = unshift(h, 16).wrapping_mul(inverse(0xc2b2_ae35));
    let h = unshift(h, 13).wrapping_mul(inverse(0x85eb_ca6b));
    unshift(h, 16)
}

/// Both hashes of a key.
fn hashes(key: &[u32]) -> [u32; 2] {
    if let [first, second] = *key {
        let first = first ^ mix(second ^ SEEDS[0]);
        let second = second ^ mix(first);
        return [first ^ mix(second ^ SEEDS[1]), second];
    }
    [0, SEEDS[0]].map(|seed| key.iter().fold(seed, |h, word| mix(h ^ word)))
}

/// The key of which all words but the last are given, with this first hash. The first word of two becomes their second
/// hash.
pub(super) fn key_of_hash(first_words: &[u32], hash: u32) -> Words {
    if let [second] = *first_words {
        let first = hash ^ mix(second ^ SEEDS[1]);
        let last = second ^ mix(first);
        return vec![first ^ mix(last ^ SEEDS[0]), last];
    }
    let so_far = first_words.iter().fold(0, |h, word| mix(h ^ word));
    [first_words, &[unmix(hash) ^ so_far]].concat()
}

/// Which of the two keys is this that slots cannot hold: all ones, or all ones but the last bit of the last word.
pub(super) fn reserved(key: &[u32]) -> Option<usize> {
    let (last, others) = key.split_last()?;
    let is_reserved = *last >= u32::MAX - 1 && others.iter().all(|word| *word == u32::MAX);
    is_reserved.then_some((u32::MAX - last) as usize)
}

/// The key with this number among the two.
pub(super) fn reserved_key(number: u32, words: usize) -> Words {
    let mut key = vec![u32::MAX; words];
    key[words - 1] -= number;
    key
}

/// Size and format of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) key_words: usize,
    pub(super) value_words: usize,
    pub(super) slices: usize,
}

/// The buckets of a slice in which a key is searched for.
struct Path {
    buckets: Vec<usize>,
    /// The pair of slots that stores the key's filter bit: the key may lie in a later bucket.
    bit: u32,
}

impl Shape {
    pub(super) fn new(key_words: usize, value_words: usize, capacity: u32) -> Self {
        Self { key_words, value_words, slices: (capacity as usize).div_ceil(SLICE_SLOTS) }
    }

    fn slot_words(&self) -> usize {
        (self.key_words + self.value_words).next_power_of_two()
    }

    fn bucket_slots(&self) -> usize {
        BUCKET_WORDS / self.slot_words()
    }

    fn slice_buckets(&self) -> usize {
        SLICE_SLOTS / self.bucket_slots()
    }

    fn all_slices(&self) -> usize {
        self.slices + self.overflow_slices()
    }

    /// Slots, those of overflow slices included.
    pub(super) fn slots(&self) -> usize {
        self.all_slices() * SLICE_SLOTS
    }

    fn overflow_slices(&self) -> usize {
        self.slices.div_ceil(OVERFLOW_SHARE)
    }

    /// Words before the first slice: the header, and marks.
    fn first_slot(&self) -> usize {
        HEADER_WORDS + self.overflow_slices().next_multiple_of(BUCKET_WORDS)
    }

    pub(super) fn words(&self) -> usize {
        self.first_slot() + self.slots() * self.slot_words()
    }

    /// The paths of a key in its home slice and in the overflow slice, by indices of buckets from the first slice on.
    fn paths(&self, key: &[u32]) -> [Path; 2] {
        let [first, second] = hashes(key);
        let (buckets, matches) = (self.slice_buckets(), self.bucket_slots() as u64 / 2);
        let bits = buckets.ilog2();
        let product = u64::from(first) * self.slices as u64;
        let [home, rest] = [product >> 32, product & 0xffff_ffff].map(|half| u32::try_from(half).unwrap_or(0));
        let path = |slice: usize, bucket: u32, step: u32, chosen: u32| {
            let step = (step as usize % buckets) | 1;
            let bucket = |probe: usize| slice * buckets + (bucket as usize + probe * step) % buckets;
            let bit = u32::try_from((u64::from(chosen) * matches) >> 16).unwrap_or(0);
            Path { buckets: (0..PROBES).map(bucket).collect(), bit }
        };
        let overflow = self.slices + home as usize / OVERFLOW_SHARE;
        [
            path(home as usize, rest >> (32 - bits), second, second >> 16),
            path(overflow, second.wrapping_mul(0x9e37_79b9) >> (32 - bits), first, first & 0xffff),
        ]
    }

    /// The home slice of a key.
    fn home(&self, key: &[u32]) -> usize {
        self.paths(key)[0].buckets[0] / self.slice_buckets()
    }

    fn bucket<'a>(&self, words: &'a [u32], bucket: usize) -> impl Iterator<Item = Slot<'a>> + use<'a> {
        let key_words = self.key_words;
        words[self.first_slot() + bucket * BUCKET_WORDS..][..BUCKET_WORDS].chunks_exact(self.slot_words()).map(
            move |slot| match reserved(&slot[..key_words]) {
                Some(0) => Slot::Empty,
                Some(_) => Slot::Erased,
                None => Slot::Item(slot),
            },
        )
    }

    /// The bits of a full bucket: one for each two slots, set if the first key is the larger one.
    fn filter(&self, keys: &[&[u32]]) -> u32 {
        keys.chunks_exact(2).enumerate().map(|(number, pair)| u32::from(pair[0] > pair[1]) << number).sum()
    }

    /// Looks a key up as the description of tables says.
    fn find<'a>(&self, words: &'a [u32], key: &[u32]) -> Option<&'a [u32]> {
        if let Some(number) = reserved(key) {
            let value = &words[RESERVED_VALUES[number]..][..self.value_words];
            return (words[RESERVED + number] != 0).then_some(value);
        }
        for path in self.paths(key) {
            for bucket in path.buckets {
                let slots: Vec<_> = self.bucket(words, bucket).collect();
                let items: Vec<&[u32]> = slots.iter().filter_map(Slot::item).collect();
                if let Some(slot) = items.iter().find(|slot| slot[..self.key_words] == *key) {
                    return Some(&slot[self.key_words..][..self.value_words]);
                }
                if slots.contains(&Slot::Empty) {
                    return None;
                }
                let keys: Vec<_> = items.iter().map(|slot| &slot[..self.key_words]).collect();
                if keys.len() == slots.len() && self.filter(&keys) >> path.bit & 1 == 0 {
                    return None;
                }
            }
        }
        None
    }

    /// Whether some slot that the key may have is empty, or that of an erased key.
    pub(super) fn has_room(&self, words: &[u32], key: &[u32]) -> bool {
        let buckets = self.paths(key).into_iter().flat_map(|path| path.buckets);
        reserved(key).is_some() || { buckets }
            .any(|bucket| self.bucket(words, bucket).any(|slot| slot.item().is_none()))
    }

    /// The statistics of a table: numbers of keys, of erased slots, and of slots; then of keys by their probes.
    pub(super) fn statistics(&self, words: &[u32]) -> Words {
        let slots =
            [self.slices, self.overflow_slices()].map(|slices| u32::try_from(slices * SLICE_SLOTS).unwrap_or(u32::MAX));
        let mut probes = vec![0; 2 * PROBES];
        for bucket in 0..self.all_slices() * self.slice_buckets() {
            for slot in self.bucket(words, bucket).filter_map(|slot| slot.item()) {
                let buckets = self.paths(&slot[..self.key_words]).into_iter().flat_map(|path| path.buckets);
                let number = { buckets }.position(|of_path| of_path == bucket);
                number.into_iter().for_each(|number| probes[number] += 1);
            }
        }
        [vec![words[ENTRIES], words[ERASED], slots[0], slots[1]], probes].concat()
    }

    /// Reads all items. The error says what is wrong with the table.
    pub(super) fn read(&self, words: &[u32]) -> Result<HashMap<Words, Words>, String> {
        let (mut items, mut erased) = (HashMap::new(), 0);
        if words[SLICES] as usize != self.slices {
            return Err(format!("the header has {} slices, not {}", words[SLICES], self.slices));
        }
        for bucket in 0..self.all_slices() * self.slice_buckets() {
            let mut is_open = false;
            for slot in self.bucket(words, bucket) {
                if is_open && slot != Slot::Empty {
                    return Err(format!("bucket {bucket} has an empty slot before others"));
                }
                is_open |= slot == Slot::Empty;
                erased += u32::from(slot == Slot::Erased);
                let Some(slot) = slot.item() else { continue };
                let key = slot[..self.key_words].to_vec();
                let home = self.home(&key);
                let is_marked = words[HEADER_WORDS + home / OVERFLOW_SHARE] >> (home % OVERFLOW_SHARE) & 1 != 0;
                if bucket >= self.slices * self.slice_buckets() && !is_marked {
                    return Err(format!("key {key:x?} is in an overflow slice, and its home slice has no mark"));
                }
                if items.insert(key.clone(), slot[self.key_words..][..self.value_words].to_vec()).is_some() {
                    return Err(format!("key {key:x?} is there twice"));
                }
            }
        }
        for number in 0..2u32 {
            if words[RESERVED + number as usize] != 0 {
                let value = &words[RESERVED_VALUES[number as usize]..][..self.value_words];
                items.insert(reserved_key(number, self.key_words), value.to_vec());
            }
        }
        if words[ENTRIES] as usize != items.len() {
            return Err(format!("the header has {} keys, not {}", words[ENTRIES], items.len()));
        }
        if words[ERASED] != erased {
            return Err(format!("the header has {} erased keys, not {erased}", words[ERASED]));
        }
        if words[USED] == 0 && (erased != 0 || !items.is_empty()) {
            return Err("the header says that the table has not been used".into());
        }
        match items.keys().find(|key| self.find(words, key).is_none()) {
            Some(key) => Err(format!("a search does not find key {key:x?}")),
            None => Ok(items),
        }
    }
}

/// A slot of a table. An item has its words, key first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot<'a> {
    Empty,
    Erased,
    Item(&'a [u32]),
}

impl<'a> Slot<'a> {
    fn item(&self) -> Option<&'a [u32]> {
        if let Self::Item(words) = self { Some(words) } else { None }
    }
}

/// The slots of a bucket that are not empty; none: the key is erased. Then the matches of keys that lie further on.
type Bucket = (Vec<Option<(Words, Words)>>, u32);

/// A table under construction.
#[derive(Clone, Debug)]
pub(super) struct Builder {
    shape: Shape,
    buckets: Vec<Bucket>,
    reserved: [Option<Words>; 2],
}

impl Builder {
    /// An empty table.
    pub(super) fn new(shape: Shape) -> Self {
        let buckets = vec![Bucket::default(); shape.all_slices() * shape.slice_buckets()];
        Self { shape, buckets, reserved: [None, None] }
    }

    /// The bucket and the slot of a key.
    fn find(&self, key: &[u32]) -> Option<(usize, usize)> {
        let mut buckets = self.shape.paths(key).into_iter().flat_map(|path| path.buckets);
        let has_key = |slot: &Option<(Words, Words)>| slot.as_ref().is_some_and(|(known, _)| known == key);
        buckets.find_map(|bucket| Some((bucket, self.buckets[bucket].0.iter().position(has_key)?)))
    }

    /// Inserts a key, or replaces its value. A key without a slot is left out.
    pub(super) fn insert(&mut self, key: &Words, value: &Words) {
        if let Some(number) = reserved(key) {
            self.reserved[number] = Some(value.clone());
            return;
        }
        let item = Some((key.clone(), value.clone()));
        if let Some((bucket, slot)) = self.find(key) {
            self.buckets[bucket].0[slot] = item;
            return;
        }
        for Path { buckets, bit } in self.shape.paths(key) {
            let has_room = |bucket: &usize| {
                let slots = &self.buckets[*bucket].0;
                slots.len() < self.shape.bucket_slots() || slots.contains(&None)
            };
            let Some(probe) = buckets.iter().position(has_room) else {
                buckets.iter().for_each(|bucket| self.buckets[*bucket].1 |= 1 << bit);
                continue;
            };
            buckets[..probe].iter().for_each(|bucket| self.buckets[*bucket].1 |= 1 << bit);
            let slots = &mut self.buckets[buckets[probe]].0;
            match slots.iter().position(Option::is_none) {
                Some(erased) => slots[erased] = item,
                None => slots.push(item),
            }
            return;
        }
    }

    pub(super) fn erase(&mut self, key: &[u32]) {
        if let Some(number) = reserved(key) {
            self.reserved[number] = None;
        } else if let Some((bucket, slot)) = self.find(key) {
            self.buckets[bucket].0[slot] = None;
        }
    }

    /// The items of the table.
    pub(super) fn items(&self) -> HashMap<Words, Words> {
        let slots = self.buckets.iter().flat_map(|(slots, _)| slots.iter().flatten().cloned());
        let reserved = (0..2).zip(&self.reserved);
        let reserved =
            reserved.filter_map(|(number, value)| Some((reserved_key(number, self.shape.key_words), value.clone()?)));
        slots.chain(reserved).collect()
    }

    /// The words of the table. Random ones fill those that have no meaning.
    pub(super) fn write(&self, random: &mut Random) -> Vec<u32> {
        let shape = &self.shape;
        let mut words: Vec<u32> = (0..shape.words()).map(|_| random.word()).collect();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let erased: usize =
            self.buckets.iter().map(|(slots, _)| slots.iter().filter(|slot| slot.is_none()).count()).sum();
        let entries = self.items().len();
        words[0] = number(1 | shape.key_words << 8 | shape.value_words << 16);
        words[SLICES] = number(shape.slices);
        words[USED] = u32::from(erased != 0 || entries != 0 || random.chance(1, 2));
        words[ENTRIES] = number(entries);
        words[ERASED] = number(erased);
        for (number, value) in self.reserved.iter().enumerate() {
            words[RESERVED + number] = value.is_some().into();
            let value = value.as_deref().unwrap_or(&[]);
            words[RESERVED_VALUES[number]..][..value.len()].copy_from_slice(value);
        }
        // Of slices without keys in their overflow slice, some have a mark.
        let marks = HEADER_WORDS..HEADER_WORDS + shape.overflow_slices();
        words[marks].iter_mut().for_each(|marks| *marks &= if random.chance(1, 4) { random.word() } else { 0 });
        let overflow = self.buckets[shape.slices * shape.slice_buckets()..].iter().flat_map(|(slots, _)| slots);
        for (key, _) in overflow.flatten() {
            let home = shape.home(key);
            words[HEADER_WORDS + home / OVERFLOW_SHARE] |= 1 << (home % OVERFLOW_SHARE);
        }
        let is_cleared = words[USED] == 0;
        for (bucket, (slots, filter)) in self.buckets.iter().enumerate() {
            let mut slots = slots.clone();
            if slots.len() == shape.bucket_slots() && !slots.contains(&None) {
                arrange(&mut slots, *filter, random);
            }
            let target = &mut words[shape.first_slot() + bucket * BUCKET_WORDS..][..BUCKET_WORDS];
            let all = slots.iter().map(Some).chain(std::iter::repeat(None));
            for (target, slot) in target.chunks_exact_mut(shape.slot_words()).zip(all) {
                match slot {
                    Some(Some((key, value))) => {
                        target[..key.len()].copy_from_slice(key);
                        target[key.len()..][..value.len()].copy_from_slice(value);
                    }
                    Some(None) => target[..shape.key_words].copy_from_slice(&reserved_key(1, shape.key_words)),
                    // The slots of a cleared table are known to the library.
                    None if is_cleared => target.fill(u32::MAX),
                    None => target[..shape.key_words].fill(u32::MAX),
                }
            }
        }
        words
    }
}

/// Orders the items of a full bucket so that its pairs have these bits.
fn arrange(slots: &mut [Option<(Words, Words)>], bits: u32, random: &mut Random) {
    random.shuffle(slots);
    for (number, pair) in slots.chunks_exact_mut(2).enumerate() {
        let key = |slot: &Option<(Words, Words)>| slot.as_ref().map(|(key, _)| key.clone());
        if (key(&pair[0]) > key(&pair[1])) != (bits >> number & 1 != 0) {
            pair.swap(0, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_inverted() {
        assert_eq!(mix(1), 0x514e_28b7, "as MurmurHash3 has it");
        assert!([0, 1, 77, 0x1234_5678, u32::MAX].into_iter().all(|h| mix(unmix(h)) == h));
        let key = key_of_hash(&[5, 6, 7], 0x1234);
        assert_eq!(hashes(&key)[0], 0x1234);
        for key in [key_of_hash(&[7], 0x1234), key_of_hash(&[], 0x1234)] {
            assert_eq!(hashes(&key)[0], 0x1234);
        }
        assert_eq!(hashes(&key_of_hash(&[7], 0x1234))[1], 7);
    }

    #[test]
    fn built_tables_are_read() {
        let mut random = Random::of(&[1]);
        for (key_words, value_words) in [(1, 0), (1, 1), (2, 0), (2, 1), (1, 3), (4, 0)] {
            for (capacity, keys) in [(1, 3), (1, 5000), (40_000, 30_000), (3000, 0)] {
                let shape = Shape::new(key_words, value_words, capacity);
                let mut builder = Builder::new(shape);
                let mut draw = |words: usize| (0..words).map(|_| random.word()).collect::<Words>();
                let mut all: Vec<Words> = (0..keys).map(|_| draw(key_words)).collect();
                all.extend((0..2).map(|number| reserved_key(number, key_words)));
                all.iter().for_each(|key| builder.insert(key, &draw(value_words)));
                all.iter().step_by(3).for_each(|key| builder.erase(key));
                all.iter().step_by(9).for_each(|key| builder.insert(key, &draw(value_words)));
                let words = builder.write(&mut random);
                let items = shape.read(&words).unwrap();
                assert_eq!(items, builder.items());
                for key in &all {
                    assert_eq!(shape.find(&words, key), items.get(key).map(|value| &value[..]));
                }
                let lost = all.iter().filter(|key| !items.contains_key(*key)).count();
                assert!(capacity > 1 || keys < 5000 || lost > 2000, "a full table takes no more");
            }
        }
    }

    #[test]
    fn broken_tables_are_seen() {
        let mut random = Random::of(&[2]);
        let shape = Shape::new(1, 1, 1000);
        let mut builder = Builder::new(shape);
        (0..900).for_each(|key| builder.insert(&vec![mix(key)], &vec![key]));
        let words = builder.write(&mut random);
        assert!(shape.read(&words).is_ok());
        let broken = |change: fn(&mut Vec<u32>)| {
            let mut words = words.clone();
            change(&mut words);
            shape.read(&words).is_err()
        };
        assert!(broken(|words| words[ENTRIES] += 1));
        assert!(broken(|words| words[ERASED] += 1));
        assert!(broken(|words| words[HEADER_WORDS + BUCKET_WORDS] = u32::MAX), "a gap in a bucket, or a key less");
        assert!(broken(|words| words[HEADER_WORDS + BUCKET_WORDS] ^= 1 << 31), "a key where no search looks");
        // In some full bucket with a passing key, another order hides the key.
        let swaps = (0..128).filter(|bucket| {
            let mut words = words.clone();
            let bucket = &mut words[shape.first_slot() + bucket * BUCKET_WORDS..][..BUCKET_WORDS];
            bucket.chunks_exact_mut(4).for_each(|pair| pair.rotate_left(2));
            shape.read(&words).is_err()
        });
        assert!(swaps.count() > 10);
    }
}
