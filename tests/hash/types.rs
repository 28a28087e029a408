//! The types of tables, their keys, and the layout of their slots.

use crate::common::contexts::is_shared_here;
use crate::common::keys::mix;
use crate::common::very_brief;
use trommel::{HashScheme, HasherInfo, KeyType, ValueType};

/// The words of a key or of a value.
pub(crate) type Words = Vec<u32>;

/// Slots of a slice.
pub(crate) const SLICE: u32 = 1024;

/// The types of a table, its scheme, whether it is a multimap, and whether it grows and shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types {
    pub(crate) key: KeyType,
    pub(crate) value: ValueType,
    pub(crate) scheme: HashScheme,
    pub(crate) multimap: bool,
    pub(crate) resizable: bool,
}

impl Types {
    pub(crate) const KEYS: Self = Self::bucketed(KeyType::U32, ValueType::None);
    pub(crate) const PAIRS: Self = Self::bucketed(KeyType::U32, ValueType::U32);

    /// Values of two words, of keys that hashes do not identify, in slots of eight words.
    pub(crate) const WIDE: Self = Self::bucketed(KeyType::U32x4, ValueType::Bytes(8));

    /// One of each number of words of keys and values, in slots of up to four words.
    pub(crate) const ALL: [Self; 9] = [
        Self::KEYS,
        Self::PAIRS,
        Self::bucketed(KeyType::F32, ValueType::Bytes(8)),
        Self::bucketed(KeyType::I32, ValueType::Bytes(12)),
        Self::bucketed(KeyType::U64, ValueType::None),
        Self::bucketed(KeyType::U64, ValueType::U32),
        Self::bucketed(KeyType::U32x2, ValueType::Bytes(8)),
        Self::bucketed(KeyType::U32x3, ValueType::U32),
        Self::bucketed(KeyType::U32x4, ValueType::None),
    ];

    /// Keys and values of more than 16 bytes together, beside some of the others: in tables of one of the schemes.
    pub(crate) fn wide(number: usize) -> impl Iterator<Item = Self> {
        let types = |key, bytes| Self::bucketed(key, ValueType::Bytes(bytes));
        let types = match number {
            0 => types(KeyType::U32x4, 16).linear(),
            1 => types(KeyType::U32x4, 16),
            2 => types(KeyType::U32, 16),
            4 => types(KeyType::U32, 16).linear(),
            5 => types(KeyType::U64, 12),
            6 => types(KeyType::U32x3, 12).linear(),
            7 => types(KeyType::U32x3, 8),
            8 => Self::WIDE,
            _ => return None.into_iter(),
        };
        Some(types).into_iter()
    }

    const fn bucketed(key: KeyType, value: ValueType) -> Self {
        Self { key, value, scheme: HashScheme::Bucketed, multimap: false, resizable: false }
    }

    /// The same types in tables with linear probing.
    pub(crate) const fn linear(self) -> Self {
        Self { scheme: HashScheme::Linear, ..self }
    }

    /// The same types in multimaps.
    pub(crate) const fn multimap(self) -> Self {
        Self { multimap: true, ..self.linear() }
    }

    /// The same types in tables that grow and shrink.
    pub(crate) const fn resizable(self) -> Self {
        Self { resizable: true, ..self }
    }

    /// The same types in tables of each scheme.
    pub(crate) const fn of_each_scheme(self) -> [Self; 2] {
        [self, self.linear()]
    }

    /// The same types in tables of each scheme, and in multimaps.
    pub(crate) const fn of_each_kind(self) -> [Self; 3] {
        [self, self.linear(), self.multimap()]
    }

    pub(crate) fn is_linear(self) -> bool {
        self.scheme == HashScheme::Linear
    }

    /// Whether these types are those of this driver, if drivers share them: the same ones in all tests, which then have
    /// the same pipelines.
    pub(crate) fn is_here(self) -> bool {
        let is_same = |other: &Self| [other.key_words(), other.value_words()] == [self.key_words(), self.value_words()];
        let of_wide = |number: &usize| Self::wide(*number).any(|types| is_same(&types));
        let number = Self::ALL.iter().position(is_same).or_else(|| (0..Self::ALL.len()).find(of_wide));
        is_shared_here(number.expect("the types are those of a list"))
    }

    /// The parameters of a hasher for these types.
    pub(crate) fn info(self) -> HasherInfo {
        let Self { key, value, scheme, multimap, resizable } = self;
        HasherInfo { key, value, scheme, multimap, resizable, ..HasherInfo::keys() }
    }

    pub(crate) fn key_words(self) -> usize {
        self.key.size() as usize / 4
    }

    pub(crate) fn value_words(self) -> usize {
        self.value.size() as usize / 4
    }

    /// Whether a fingerprint precedes the key in a slot: in linear tables, that of a key of several words; in
    /// multimaps, that of every key.
    pub(crate) fn has_fingerprints(self) -> bool {
        self.is_linear() && (self.key_words() > 1 || self.multimap)
    }

    pub(crate) fn slot_words(self) -> usize {
        let words = self.key_words() + self.value_words();
        if self.is_linear() { words + usize::from(self.has_fingerprints()) } else { words.next_power_of_two() }
    }

    /// The first words of an empty slot (0), or of the slot of an erased key (1).
    pub(crate) fn slot_without_key(self, number: u32) -> Words {
        if self.is_linear() { vec![u32::MAX - number] } else { self.key_of(number) }
    }

    /// Whether tests fill tables of this type. The layer of GPU-assisted validation looks up the address of each key
    /// that a search compares, in a loop over all buffers, and lavapipe ends all loops of an invocation after 65,535
    /// iterations: too few for a full linear table if searches compare the keys of a batch.
    pub(crate) fn are_filled(self) -> bool {
        !(self.has_fingerprints() && very_brief())
    }

    /// Index of the first word of the slots of a table: after the header, and after the marks of a bucketed table.
    pub(crate) fn first_slot(self, capacity: u32) -> usize {
        let bucket_words = 16.max(4 * self.slot_words() as u32);
        let marks = if self.is_linear() { 0 } else { capacity.div_ceil(SLICE * 32).next_multiple_of(bucket_words) };
        64 + marks as usize
    }

    /// Whether tables have this key in their header, instead of a slot.
    pub(crate) fn is_reserved(self, key: &[u32]) -> bool {
        !self.has_fingerprints() && (0..2).any(|number| self.key_of(number) == key)
    }

    /// The key number `i` of the range of keys that tests use. The first two are all ones, and all ones but the last
    /// bit: reserved in most tables.
    pub(crate) fn key_of(self, i: u32) -> Words {
        let last = self.key_words() - 1;
        match i {
            0 | 1 => (0..=last).map(|word| u32::MAX - if word == last { i } else { 0 }).collect(),
            _ => (0..=last as u32).map(|word| if word == 0 { i } else { i.wrapping_mul(0x9e37 + word) % 7 }).collect(),
        }
    }

    /// The keys of a range of numbers.
    pub(crate) fn keys_of(self, numbers: std::ops::Range<u32>) -> Vec<Words> {
        numbers.map(|i| self.key_of(i)).collect()
    }
}

/// Both hashes of a key.
pub(crate) fn hashes(key: &[u32]) -> [u32; 2] {
    const SEEDS: [u32; 2] = [0x9e37_79b9, 0x7f4a_7c15];
    if let [low, high] = *key {
        let first = low ^ mix(high ^ SEEDS[0]);
        let second = high ^ mix(first);
        return [first ^ mix(second ^ SEEDS[1]), second];
    }
    [0, SEEDS[0]].map(|seed| key.iter().fold(seed, |hash, word| mix(hash ^ word)))
}
