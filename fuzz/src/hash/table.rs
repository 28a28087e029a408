//! Tables in host memory: the oracle builds, writes and reads them. The header and the hashes are common to all
//! schemes. The scheme determines the layout of the slots: `bucketed.rs` or `linear.rs`.

use super::bucketed::Buckets;
use super::linear::LinearSlots;
use crate::items::value_size;
use crate::keys;
use crate::random::Random;
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;
use trommel::{HashScheme, HasherInfo};

/// The words of a key or of a value.
pub(super) type Words = Vec<u32>;

/// The keys of a table, with the values of each in ascending order: one value, but in multimaps.
pub(super) type Entries = HashMap<Words, Vec<Words>>;

/// Number of values of all keys.
pub(super) fn entry_count(entries: &Entries) -> usize {
    entries.values().map(Vec::len).sum()
}

pub(super) const HEADER_WORDS: usize = 64;
pub(super) const SLICE_SLOTS: usize = 1024;
// Words of the header. The meaning of word 2 depends on the scheme.
const FORMAT: usize = 0;
const SLICES: usize = 1;
pub(super) const ENTRIES: usize = 3;
pub(super) const ERASED: usize = 4;
const RESERVED: usize = 5;
const RESERVED_VALUES: [usize; 2] = [7, 11];

/// Constants that hashes are mixed with.
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
pub(super) fn hashes(key: &[u32]) -> [u32; 2] {
    if let [first, second] = *key {
        let first = first ^ mix(second ^ SEEDS[0]);
        let second = second ^ mix(first);
        return [first ^ mix(second ^ SEEDS[1]), second];
    }
    [0, SEEDS[0]].map(|seed| key.iter().fold(seed, |h, word| mix(h ^ word)))
}

/// The key with this first hash and these words, all but the last one. For keys of two words, the second hash is the
/// given word.
pub(super) fn key_of_hash(first_words: &[u32], hash: u32) -> Words {
    if let [second] = *first_words {
        let first = hash ^ mix(second ^ SEEDS[1]);
        let last = second ^ mix(first);
        return vec![first ^ mix(last ^ SEEDS[0]), last];
    }
    let so_far = first_words.iter().fold(0, |h, word| mix(h ^ word));
    [first_words, &[unmix(hash) ^ so_far]].concat()
}

/// Another key with the same fingerprint: its second hash differs in the highest bit alone. If the key has two words,
/// the other one has the same first hash as well.
pub(super) fn twin(key: &[u32]) -> Words {
    let [first, second] = hashes(key).map(|hash| hash ^ (1 << 31));
    if key.len() == 2 {
        return key_of_hash(&[second], first ^ (1 << 31));
    }
    key_of_second_hash(&key[..key.len() - 1], second)
}

/// As [`key_of_hash`], with this second hash. Not for keys of two words.
pub(super) fn key_of_second_hash(first_words: &[u32], hash: u32) -> Words {
    let so_far = first_words.iter().fold(SEEDS[0], |h, word| mix(h ^ word));
    [first_words, &[unmix(hash) ^ so_far]].concat()
}

/// Two keys of three words or more of which both hashes are equal. See [`state_pairs`].
pub(super) fn keys_of_equal_hashes(words: usize, random: &mut Random) -> [Words; 2] {
    let [second, other, difference] = random.pick(state_pairs());
    let (third, last) = (random.word(), random.word());
    let key = |second, third| [FIRST_OF_PAIRS, second, third, last][..words].to_vec();
    [key(second, third), key(other, third ^ difference)]
}

/// The first word of the keys of [`state_pairs`].
const FIRST_OF_PAIRS: u32 = 5;

/// Two second words of keys, and the difference of their third words with which both hashes are equal.
///
/// Each hash is a state to which words are added, by an exclusive or and then a bijection. The exclusive or of the two
/// states behind the second word is the same for both keys of a pair, so one difference makes both states equal.
fn state_pairs() -> &'static [[u32; 3]] {
    static PAIRS: OnceLock<Vec<[u32; 3]>> = OnceLock::new();
    PAIRS.get_or_init(|| {
        let mut seconds = HashMap::new();
        let pair = |second: u32| {
            let [first_state, second_state] = hashes(&[FIRST_OF_PAIRS, second, 0]).map(unmix);
            let former = seconds.insert(first_state ^ second_state, (second, first_state));
            former.map(|(other, other_state)| [second, other, first_state ^ other_state])
        };
        (0..400_000).filter_map(pair).collect()
    })
}

/// The number of a reserved key: 0 for all ones, 1 for all ones but the last bit of the last word. None for other keys.
pub(super) fn reserved(key: &[u32]) -> Option<usize> {
    let (last, others) = key.split_last()?;
    let is_reserved = *last >= u32::MAX - 1 && others.iter().all(|word| *word == u32::MAX);
    is_reserved.then_some((u32::MAX - last) as usize)
}

/// The reserved key with this number.
pub(super) fn reserved_key(number: u32, words: usize) -> Words {
    let mut key = vec![u32::MAX; words];
    key[words - 1] -= number;
    key
}

/// A length as a word of a table.
fn word(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Scheme, format and size of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) scheme: HashScheme,
    pub(super) multimap: bool,
    pub(super) key_words: usize,
    pub(super) value_words: usize,
    /// Slices of 1024 slots, without overflow slices.
    pub(super) slices: usize,
}

impl Shape {
    pub(super) fn new(info: &HasherInfo, capacity: u32) -> Self {
        let [key_words, value_words] = [keys::size(info.key), value_size(info.value)].map(|bytes| bytes / 4);
        let capacity = capacity as usize;
        let slots = if info.scheme == HashScheme::Linear { capacity.next_power_of_two() } else { capacity };
        let HasherInfo { scheme, multimap, .. } = *info;
        Self { scheme, multimap, key_words, value_words, slices: slots.div_ceil(SLICE_SLOTS) }
    }

    fn is_linear(&self) -> bool {
        self.scheme == HashScheme::Linear
    }

    /// An empty table with this shape.
    fn empty(&self) -> Box<dyn Slots> {
        if self.is_linear() { Box::new(LinearSlots::new(*self)) } else { Box::new(Buckets::new(*self)) }
    }

    /// Words of a table, those of the header included.
    pub(super) fn words(&self) -> usize {
        self.empty().words()
    }

    /// Bits of the index of a slot, without slots of overflow slices.
    pub(super) fn slot_bits(&self) -> u32 {
        (self.slices * SLICE_SLOTS).ilog2()
    }

    /// The first word of the header.
    fn format(&self) -> u32 {
        let scheme = usize::from(self.is_linear()) + usize::from(self.multimap);
        word(2 | self.key_words << 8 | self.value_words << 16 | scheme << 24)
    }

    /// Whether a slot has a fingerprint before its key: in linear tables with wide keys, and in multimaps.
    pub(super) fn has_fingerprint(&self) -> bool {
        self.is_linear() && (self.key_words > 1 || self.multimap)
    }

    /// Whether the header holds the reserved keys. Slots with fingerprints can hold every key.
    fn has_reserved(&self) -> bool {
        !self.has_fingerprint()
    }

    /// The number of a key that the header holds.
    fn reserved(&self, key: &[u32]) -> Option<usize> {
        reserved(key).filter(|_| self.has_reserved())
    }
}

/// The slots of a table in the layout of a scheme, without the keys that the header holds.
pub(super) trait Slots: fmt::Debug {
    /// Number of slots of the capacity, and of overflow slices.
    fn counts(&self) -> [usize; 2];

    /// Words of the table, those of the header included.
    fn words(&self) -> usize;

    /// Inserts a key, or replaces its value. Multimaps: inserts an entry. One without a slot is left out.
    fn insert(&mut self, key: &[u32], value: &[u32]);

    /// Erases a key. Multimaps: one of its entries.
    fn erase(&mut self, key: &[u32]);

    /// Makes some slots of erased keys empty, or some empty slots those of erased keys: another valid table with the
    /// same keys.
    fn vary_erased(&mut self, _: &mut Random) {}

    /// All keys with their values.
    fn items(&self) -> Box<dyn Iterator<Item = (&[u32], &[u32])> + '_>;

    /// Number of slots of erased keys.
    fn erased(&self) -> usize;

    /// Number of keys in overflow slices.
    fn overflow_keys(&self) -> usize {
        0
    }

    /// Number of probes of the search for each item.
    fn probes(&self) -> Vec<u32>;

    /// Number of probes up to the first slot on the path of a key that is empty, or that of an erased key if an
    /// insertion reuses these. None if the path has no such slot.
    fn probes_to_room(&self, key: &[u32], reuses_erased: bool) -> Option<u32>;

    /// Writes all slots, to a table with a complete header and random words behind it. Words without a meaning stay
    /// random.
    fn write(&self, words: &mut [u32], random: &mut Random);
}

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    shape: Shape,
    slots: Box<dyn Slots>,
    /// The values of the reserved keys that the header holds.
    reserved: [Option<Words>; 2],
}

impl Table {
    /// An empty table.
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, slots: shape.empty(), reserved: [None, None] }
    }

    /// Number of slots, those of overflow slices included.
    pub(super) fn slots(&self) -> usize {
        self.slots.counts().iter().sum()
    }

    /// Inserts a key, or replaces its value. Multimaps: inserts an entry. One without a slot is left out.
    pub(super) fn insert(&mut self, key: &[u32], value: &[u32]) {
        match self.shape.reserved(key) {
            Some(number) => self.reserved[number] = Some(value.to_vec()),
            None => self.slots.insert(key, value),
        }
    }

    /// Erases a key. Multimaps: one of its entries.
    pub(super) fn erase(&mut self, key: &[u32]) {
        match self.shape.reserved(key) {
            Some(number) => self.reserved[number] = None,
            None => self.slots.erase(key),
        }
    }

    /// Changes slots of erased keys as other insertions and erasures would have left them.
    pub(super) fn vary_erased(&mut self, random: &mut Random) {
        self.slots.vary_erased(random);
    }

    pub(super) fn entries(&self) -> Entries {
        let reserved = (0..2).zip(&self.reserved);
        let reserved =
            reserved.filter_map(|(number, value)| Some((reserved_key(number, self.shape.key_words), value.clone()?)));
        let mut entries = Entries::new();
        for (key, value) in self.slots.items().map(|(key, value)| (key.to_vec(), value.to_vec())).chain(reserved) {
            entries.entry(key).or_default().push(value);
        }
        entries.values_mut().for_each(|values| values.sort_unstable());
        entries
    }

    /// Number of entries.
    fn len(&self) -> usize {
        self.slots.items().count() + self.reserved.iter().flatten().count()
    }

    /// Number of slots of erased keys.
    pub(super) fn erased(&self) -> usize {
        self.slots.erased()
    }

    /// Number of probes until an insertion of the key finds a slot. `reuses_erased`: also that of an erased key. None
    /// if the table has no room for the key.
    pub(super) fn probes_to_room(&self, key: &[u32], reuses_erased: bool) -> Option<u32> {
        if self.shape.reserved(key).is_some() { Some(0) } else { self.slots.probes_to_room(key, reuses_erased) }
    }

    /// The words of a `HashStatistics`.
    pub(super) fn statistics(&self) -> Words {
        let [slots, overflow_slots] = self.slots.counts().map(word);
        let [keys, erased, overflow_keys] = [self.len(), self.erased(), self.slots.overflow_keys()].map(word);
        let (mut most_probes, mut total_probes, mut histogram) = (0, 0u64, [0; 16]);
        for probes in self.slots.probes() {
            most_probes = most_probes.max(probes);
            total_probes += u64::from(probes);
            histogram[probes.next_power_of_two().ilog2() as usize] += 1;
        }
        let total_probes = [total_probes, total_probes >> 32].map(|half| (half & 0xffff_ffff) as u32);
        let numbers = [keys, erased, slots, overflow_slots, overflow_keys, most_probes];
        [&numbers[..], &total_probes, &histogram].concat()
    }

    /// The words of the table. Random ones fill those without a meaning.
    pub(super) fn write(&self, random: &mut Random) -> Vec<u32> {
        let mut words: Vec<u32> = (0..self.slots.words()).map(|_| random.word()).collect();
        words[FORMAT] = self.shape.format();
        words[SLICES] = word(self.shape.slices);
        words[ENTRIES] = word(self.len());
        words[ERASED] = word(self.slots.erased());
        for (number, value) in self.reserved.iter().enumerate() {
            words[RESERVED + number] = value.is_some().into();
            let value = value.as_deref().unwrap_or(&[]);
            words[RESERVED_VALUES[number]..][..value.len()].copy_from_slice(value);
        }
        self.slots.write(&mut words, random);
        words
    }

    /// Reads and checks a table. The error says how the table is malformed.
    pub(super) fn read(shape: Shape, words: &[u32]) -> Result<Self, String> {
        let check = |name: &str, index: usize, expected: u32| match words[index] {
            found if found == expected => Ok(()),
            found => Err(format!("the {name} in the header is {found:#x}, not {expected:#x}")),
        };
        check("format", FORMAT, shape.format())?;
        check("number of slices", SLICES, word(shape.slices))?;
        let slots: Box<dyn Slots> = if shape.is_linear() {
            Box::new(LinearSlots::read(shape, words)?)
        } else {
            Box::new(Buckets::read(shape, words)?)
        };
        let mut table = Self { shape, slots, reserved: [None, None] };
        for (number, value) in table.reserved.iter_mut().enumerate() {
            let flag = words[RESERVED + number];
            if flag > u32::from(shape.has_reserved()) {
                return Err(format!("the flag of reserved key {number} is {flag}"));
            }
            *value = (flag != 0).then(|| words[RESERVED_VALUES[number]..][..shape.value_words].to_vec());
        }
        check("number of keys", ENTRIES, word(table.len()))?;
        check("number of erased keys", ERASED, word(table.slots.erased()))?;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::{KeyType, ValueType};

    /// A shape with keys and values of so many words.
    fn shape(scheme: HashScheme, key_words: usize, value_words: u32, capacity: u32) -> Shape {
        let key = [KeyType::U32, KeyType::U64, KeyType::U32x3, KeyType::U32x4][key_words - 1];
        let value = if value_words == 0 { ValueType::None } else { ValueType::Bytes(4 * value_words) };
        Shape::new(&HasherInfo { key, value, scheme, ..HasherInfo::keys() }, capacity)
    }

    #[test]
    fn hashes_are_inverted() {
        assert_eq!(mix(1), 0x514e_28b7, "as MurmurHash3 has it");
        assert!([0, 1, 77, 0x1234_5678, u32::MAX].into_iter().all(|h| mix(unmix(h)) == h));
        let key = key_of_hash(&[5, 6, 7], 0x1234);
        assert_eq!(hashes(&key)[0], 0x1234);
        assert_eq!(hashes(&key_of_second_hash(&[5, 6, 7], 0x1234))[1], 0x1234);
        for key in [key_of_hash(&[7], 0x1234), key_of_hash(&[], 0x1234)] {
            assert_eq!(hashes(&key)[0], 0x1234);
        }
        assert_eq!(hashes(&key_of_hash(&[7], 0x1234))[1], 7);
    }

    #[test]
    fn pairs_have_equal_hashes() {
        assert!(state_pairs().contains(&[52260, 35984, 3_563_130_155]), "a pair");
        let mut random = Random::of(&[8]);
        for words in [3, 3, 3, 4, 4, 4] {
            let [key, other] = keys_of_equal_hashes(words, &mut random);
            assert_eq!(hashes(&key), hashes(&other));
            assert!(key != other && key.len() == words);
        }
    }

    #[test]
    fn twins_have_the_same_fingerprint() {
        for key in [&[7][..], &[7, 8], &[7, 8, 9], &[7, 8, 9, 10]] {
            let twin = twin(key);
            let [[first, second], [other_first, other_second]] = [key, &twin].map(hashes);
            assert_eq!((second ^ other_second, first == other_first), (1 << 31, key.len() == 2));
        }
    }

    #[test]
    fn tables_have_the_documented_size() {
        let words = |scheme, key_words, value_words, capacity| {
            Table::new(shape(scheme, key_words, value_words, capacity)).slots.words()
        };
        assert_eq!(words(HashScheme::Bucketed, 1, 1, 1000), 64 + 16 + 2 * 1024 * 2);
        assert_eq!(words(HashScheme::Bucketed, 2, 1, 33 * 1024), 64 + 16 + 35 * 1024 * 4);
        assert_eq!(words(HashScheme::Bucketed, 4, 1, 33 * 1024), 64 + 32 + 35 * 1024 * 8);
        assert_eq!(words(HashScheme::Linear, 1, 0, 1), 64 + 1024);
        assert_eq!(words(HashScheme::Linear, 1, 1, 1025), 64 + 2048 * 2);
        assert_eq!(words(HashScheme::Linear, 2, 1, 33 * 1024), 64 + 65536 * 4);
        assert_eq!(words(HashScheme::Linear, 4, 0, 2048), 64 + 2048 * 5);
    }

    #[test]
    fn built_tables_are_read() {
        let mut random = Random::of(&[1]);
        for scheme in [HashScheme::Bucketed, HashScheme::Linear] {
            for (key_words, value_words) in [(1, 0), (1, 1), (2, 0), (2, 1), (1, 3), (4, 0), (1, 4), (4, 2)] {
                for (capacity, keys) in [(1, 3), (1, 5000), (40_000, 30_000), (3000, 0)] {
                    let shape = shape(scheme, key_words, value_words, capacity);
                    let mut table = Table::new(shape);
                    let mut draw = |words: usize| (0..words).map(|_| random.word()).collect::<Words>();
                    let mut all: Vec<Words> = (0..keys).map(|_| draw(key_words)).collect();
                    all.extend((0..2).map(|number| reserved_key(number, key_words)));
                    all.iter().for_each(|key| table.insert(key, &draw(shape.value_words)));
                    all.iter().step_by(3).for_each(|key| table.erase(key));
                    all.iter().step_by(9).for_each(|key| table.insert(key, &draw(shape.value_words)));
                    table.vary_erased(&mut random);
                    let words = table.write(&mut random);
                    let read = Table::read(shape, &words).unwrap();
                    let entries = read.entries();
                    assert_eq!(entries, table.entries());
                    assert_eq!(read.statistics(), table.statistics());
                    let lost = all.iter().filter(|key| !entries.contains_key(*key)).count();
                    assert!(capacity > 1 || keys < 5000 || lost > 2000, "a full table takes no more");
                }
            }
        }
    }

    #[test]
    fn statistics_count_probes() {
        for scheme in [HashScheme::Bucketed, HashScheme::Linear] {
            let mut table = Table::new(shape(scheme, 1, 0, 1024));
            // Linear: all keys have the same home. Bucketed: all keys have the same first bucket.
            (0..60).for_each(|index| table.insert(&key_of_hash(&[], index << 10), &[]));
            table.insert(&[u32::MAX], &[]);
            let is_linear = scheme == HashScheme::Linear;
            let numbers = table.statistics();
            assert_eq!(numbers[..6], [61, 0, 1024, if is_linear { 0 } else { 1024 }, 0, numbers[5]]);
            assert_eq!(numbers[8..].iter().sum::<u32>(), 60);
            if is_linear {
                let total = 60 * 61 / 2;
                assert_eq!(numbers[5..], [60, total, 0, 1, 1, 2, 4, 8, 16, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            }
        }
    }

    #[test]
    fn broken_headers_are_seen() {
        let mut random = Random::of(&[2]);
        for scheme in [HashScheme::Bucketed, HashScheme::Linear] {
            let shape = shape(scheme, 1, 1, 1000);
            let mut table = Table::new(shape);
            (0..900).for_each(|key| table.insert(&[mix(key)], &[key]));
            let words = table.write(&mut random);
            assert!(Table::read(shape, &words).is_ok());
            for (index, change) in [(FORMAT, 1 << 24), (SLICES, 2), (ENTRIES, 1), (ERASED, 1), (RESERVED, 1)] {
                let mut words = words.clone();
                words[index] ^= change;
                assert!(Table::read(shape, &words).is_err(), "word {index}");
            }
        }
        let wide = shape(HashScheme::Linear, 2, 0, 1000);
        let mut words = Table::new(wide).write(&mut random);
        words[RESERVED] = 1;
        words[ENTRIES] = 1;
        assert!(Table::read(wide, &words).is_err(), "wide keys of linear tables are in slots");
    }
}
