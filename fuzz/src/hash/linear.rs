//! The slots of linear tables. Slot i begins at word 64 + i * slot_words. The first word of a slot is its state: empty,
//! that of an erased key, or that of a key. The state of a key of one word is the key itself; the state of a wider key
//! is a fingerprint, and the key follows. The value ends the slot. In a multimap, all keys have fingerprints, and a key
//! has a slot for each of its values.
//!
//! The path of a key begins at its home, the low bits of its first hash, and wraps around. A search ends at the first
//! empty slot.

use super::table::{HEADER_WORDS, SLICE_SLOTS, Shape, Slots, Words, hashes};
use crate::random::Random;
use std::collections::{BTreeSet, HashMap};

/// The most slots of a path. A path in a smaller table has all of its slots.
const MOST_PROBES: usize = 16_384;
// States of slots without a key.
const EMPTY: u32 = u32::MAX;
const ERASED: u32 = u32::MAX - 1;
/// The word of the header that is always 0.
const ZERO: usize = 2;

/// The slots of a linear table.
#[derive(Clone, Debug)]
pub(super) struct LinearSlots {
    shape: Shape,
    /// The slot and the value of each entry of a key.
    items: HashMap<Words, Vec<(usize, Words)>>,
    pub(super) empty: BTreeSet<usize>,
    pub(super) erased: BTreeSet<usize>,
}

impl LinearSlots {
    pub(super) fn new(shape: Shape) -> Self {
        let empty = (0..shape.slices * SLICE_SLOTS).collect();
        Self { shape, items: HashMap::new(), empty, erased: BTreeSet::new() }
    }

    /// Number of slots: a power of two.
    pub(super) fn len(&self) -> usize {
        self.shape.slices * SLICE_SLOTS
    }

    /// Words of a slot before the key.
    fn fingerprint_words(&self) -> usize {
        usize::from(self.shape.has_fingerprint())
    }

    pub(super) fn slot_words(&self) -> usize {
        self.fingerprint_words() + self.shape.key_words + self.shape.value_words
    }

    /// The state of the slot of a key.
    fn state(&self, key: &[u32]) -> u32 {
        if self.shape.has_fingerprint() { hashes(key)[1] & 0x7fff_ffff } else { key[0] }
    }

    /// The first slot of the path of a key.
    pub(super) fn home(&self, key: &[u32]) -> usize {
        hashes(key)[0] as usize % self.len()
    }

    /// Number of probes up to the slot with this distance from the home of a key. None beyond the end of the path.
    fn probes_of(&self, distance: usize) -> Option<u32> {
        if distance < MOST_PROBES { u32::try_from(distance + 1).ok() } else { None }
    }

    /// Number of slots from one slot to another one, wrapping around.
    pub(super) fn distance(&self, from: usize, to: usize) -> usize {
        (to + self.len() - from) % self.len()
    }

    /// Distance from a slot to the nearest one of a set, in the order of paths. None if the set is empty.
    fn distance_to(&self, set: &BTreeSet<usize>, from: usize) -> Option<usize> {
        set.range(from..).chain(set.range(..from)).next().map(|slot| self.distance(from, *slot))
    }

    /// Distance from a slot to the nearest one that an insertion may take.
    pub(super) fn distance_to_room(&self, from: usize, reuses_erased: bool) -> Option<usize> {
        let erased = if reuses_erased { self.distance_to(&self.erased, from) } else { None };
        self.distance_to(&self.empty, from).into_iter().chain(erased).min()
    }

    /// Reads and checks the slots of a table.
    pub(super) fn read(shape: Shape, words: &[u32]) -> Result<Self, String> {
        let mut table = Self { shape, items: HashMap::new(), empty: BTreeSet::new(), erased: BTreeSet::new() };
        if words[ZERO] != 0 {
            return Err(format!("word {ZERO} of the header is {:#x}", words[ZERO]));
        }
        for (number, slot) in words[HEADER_WORDS..].chunks_exact(table.slot_words()).enumerate() {
            let (key, value) = slot[table.fingerprint_words()..].split_at(shape.key_words);
            match slot[0] {
                EMPTY if value.iter().any(|word| *word != u32::MAX) => {
                    return Err(format!("empty slot {number} has the value {value:x?}"));
                }
                EMPTY => _ = table.empty.insert(number),
                ERASED => _ = table.erased.insert(number),
                state if state != table.state(key) => {
                    return Err(format!("the slot of key {key:x?} has the state {state:#x}"));
                }
                _ => {
                    let list = table.items.entry(key.to_vec()).or_default();
                    list.push((number, value.to_vec()));
                    if list.len() > 1 && !shape.multimap {
                        return Err(format!("key {key:x?} is there twice"));
                    }
                }
            }
        }
        let lost = table.by_slot().into_iter().find(|(slot, (key, _))| table.probes_at(key, *slot).is_none());
        match lost.map(|(slot, (key, _))| format!("a search does not find key {key:x?} in slot {slot}")) {
            Some(why) => Err(why),
            None => Ok(table),
        }
    }

    /// The key and the value in each slot that has some.
    pub(super) fn by_slot(&self) -> HashMap<usize, (&Words, &Words)> {
        let entries = self.items.iter().flat_map(|(key, list)| list.iter().map(move |entry| (key, entry)));
        entries.map(|(key, (slot, value))| (*slot, (key, value))).collect()
    }

    pub(super) fn has_key(&self, key: &Words) -> bool {
        self.items.contains_key(key)
    }

    /// Number of probes up to a slot of a key. None if the search ends before.
    fn probes_at(&self, key: &[u32], slot: usize) -> Option<u32> {
        let home = self.home(key);
        let distance = self.distance(home, slot);
        let is_before_empty = self.distance_to(&self.empty, home).is_none_or(|empty| distance < empty);
        self.probes_of(distance).filter(|_| is_before_empty)
    }

    /// Gives a slot an entry.
    pub(super) fn put(&mut self, slot: usize, key: &[u32], value: &[u32]) {
        self.empty.remove(&slot);
        self.erased.remove(&slot);
        self.items.entry(key.to_vec()).or_default().push((slot, value.to_vec()));
    }
}

impl Slots for LinearSlots {
    fn counts(&self) -> [usize; 2] {
        [self.len(), 0]
    }

    fn words(&self) -> usize {
        HEADER_WORDS + self.len() * self.slot_words()
    }

    fn insert(&mut self, key: &[u32], value: &[u32]) {
        if !self.shape.multimap
            && let Some([(_, known)]) = self.items.get_mut(key).map(Vec::as_mut_slice)
        {
            *known = value.to_vec();
            return;
        }
        let home = self.home(key);
        if let Some(distance) = self.distance_to_room(home, true).filter(|distance| *distance < MOST_PROBES) {
            self.put((home + distance) % self.len(), key, value);
        }
    }

    fn erase(&mut self, key: &[u32]) {
        let Some(list) = self.items.get_mut(key) else { return };
        self.erased.extend(list.pop().map(|(slot, _)| slot));
        if list.is_empty() {
            self.items.remove(key);
        }
    }

    fn vary_erased(&mut self, random: &mut Random) {
        match random.below(6) {
            // Erasures that are not concurrent make erased slots before an empty one empty, the last one first.
            0..3 => {
                let (len, share) = (self.len(), random.pick(&[50, 100, 100]));
                let before = |slot: usize| (slot + len - 1) % len;
                for end in self.empty.clone().into_iter().filter(|_| random.chance(share, 100)) {
                    let mut slot = before(end);
                    while self.erased.remove(&slot) {
                        self.empty.insert(slot);
                        slot = before(slot);
                    }
                }
            }
            // Concurrent erasures leave slots of erased keys anywhere.
            3 => {
                let share = random.pick(&[1, 20, 100, 100]);
                for slot in self.empty.clone().into_iter().filter(|_| random.chance(share, 100)) {
                    self.empty.remove(&slot);
                    self.erased.insert(slot);
                }
            }
            _ => {}
        }
    }

    fn items(&self) -> Box<dyn Iterator<Item = (&[u32], &[u32])> + '_> {
        Box::new(self.by_slot().into_values().map(|(key, value)| (&key[..], &value[..])))
    }

    fn erased(&self) -> usize {
        self.erased.len()
    }

    fn probes(&self) -> Vec<u32> {
        self.by_slot().into_iter().filter_map(|(slot, (key, _))| self.probes_at(key, slot)).collect()
    }

    fn probes_to_room(&self, key: &[u32], reuses_erased: bool) -> Option<u32> {
        self.distance_to_room(self.home(key), reuses_erased).and_then(|distance| self.probes_of(distance))
    }

    fn write(&self, words: &mut [u32], random: &mut Random) {
        words[ZERO] = 0;
        let slot_words = self.slot_words();
        let place = |slot: usize| HEADER_WORDS + slot * slot_words..HEADER_WORDS + (slot + 1) * slot_words;
        // A slot that has never had a key is all ones.
        let unused = random.pick(&[0, 50, 100]);
        for slot in &self.empty {
            let target = &mut words[place(*slot)];
            target[0] = EMPTY;
            target[slot_words - self.shape.value_words..].fill(u32::MAX);
            if random.chance(unused, 100) {
                target.fill(u32::MAX);
            }
        }
        for slot in &self.erased {
            words[place(*slot)][0] = ERASED;
        }
        for (slot, (key, value)) in self.by_slot() {
            let target = &mut words[place(slot)];
            target[0] = self.state(key);
            let (key_target, value_target) = target[self.fingerprint_words()..].split_at_mut(key.len());
            key_target.copy_from_slice(key);
            value_target.copy_from_slice(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::table::{Table, key_of_hash};
    use trommel::{HasherInfo, KeyType};

    fn pairs() -> HasherInfo {
        HasherInfo::pairs().linear()
    }

    /// The key with this number among those with a home.
    fn key(home: u32, number: u32) -> Words {
        key_of_hash(&[], number << 20 | home)
    }

    /// A table with the keys of these homes, and its words.
    fn table(info: &HasherInfo, homes: &[u32]) -> (Shape, LinearSlots) {
        let shape = Shape::new(info, 1024);
        let mut table = LinearSlots::new(shape);
        (0..).zip(homes).for_each(|(number, home)| table.insert(&key(*home, number), &[7]));
        (shape, table)
    }

    /// The words of the slots, and of a header without a meaning.
    fn written(table: &LinearSlots) -> Vec<u32> {
        let mut words = vec![0; table.words()];
        table.write(&mut words, &mut Random::of(&[1]));
        words
    }

    fn slots(table: &LinearSlots) -> Vec<(u32, usize)> {
        let mut all: Vec<_> =
            table.by_slot().into_iter().map(|(slot, (key, _))| (hashes(key)[0] >> 20, slot)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn paths_wrap_around_and_reuse_erased_slots() {
        let (_, mut table) = table(&pairs(), &[1022, 1022, 1022, 5, 1023]);
        assert_eq!(slots(&table), [(0, 1022), (1, 1023), (2, 0), (3, 5), (4, 1)]);
        let mut probes = table.probes();
        probes.sort_unstable();
        assert_eq!(probes, [1, 1, 2, 3, 3]);
        table.erase(&key(1022, 1));
        assert_eq!(table.distance_to_room(1022, true), Some(1));
        assert_eq!(table.distance_to_room(1022, false), Some(4));
        table.insert(&key(1022, 8), &[7]);
        assert!(slots(&table).contains(&(8, 1023)) && table.erased.is_empty());
    }

    #[test]
    fn full_tables_have_no_room() {
        let info = HasherInfo { key: KeyType::U32, ..HasherInfo::keys().linear() };
        let mut table = LinearSlots::new(Shape::new(&info, 40_000));
        assert_eq!(table.len(), 65536);
        let most = u32::try_from(MOST_PROBES).unwrap();
        let key = |number: u32| key_of_hash(&[], number << 16 | 65000);
        (0..most + 100).for_each(|number| table.insert(&key(number), &[]));
        assert_eq!(table.items.len(), MOST_PROBES, "the others are beyond the end of the path");
        assert_eq!(table.probes().into_iter().max(), Some(most));
        assert_eq!(table.probes_to_room(&key(30_000), true), None);
        assert_eq!(table.probes_to_room(&key_of_hash(&[], 65001), true), Some(most));
        table.erase(&key(77));
        assert_eq!([true, false].map(|reuses| table.probes_to_room(&key(30_000), reuses)), [Some(78), None]);
    }

    #[test]
    fn erased_slots_vary_and_tables_stay_valid() {
        let mut random = Random::of(&[6]);
        let (mut has_trimmed, mut has_filled) = (false, false);
        for _ in 0..100 {
            let (shape, mut table) = table(&pairs(), &[1022, 1022, 1022, 1022, 3, 5, 5]);
            for (home, number) in [(1022, 1), (1022, 3), (5, 6)] {
                table.erase(&key(home, number));
            }
            let items = slots(&table);
            table.vary_erased(&mut random);
            has_filled |= table.empty.is_empty();
            has_trimmed |= table.erased.iter().eq(&[1023]);
            assert_eq!(table.empty.len() + table.erased.len() + table.items.len(), table.len());
            assert_eq!(slots(&LinearSlots::read(shape, &written(&table)).unwrap()), items);
        }
        assert!(has_trimmed && has_filled);
    }

    #[test]
    fn broken_slots_are_seen() {
        let (shape, table) = table(&pairs(), &[10, 10, 10, 20]);
        let words = written(&table);
        assert!(LinearSlots::read(shape, &words).is_ok());
        let is_broken = |slot: usize, state: u32, value: u32| {
            let mut words = words.clone();
            words[HEADER_WORDS + 2 * slot..][..2].copy_from_slice(&[state, value]);
            LinearSlots::read(shape, &words).is_err()
        };
        assert!(!is_broken(500, EMPTY, u32::MAX) && !is_broken(500, ERASED, 3) && !is_broken(20, EMPTY, u32::MAX));
        assert!(!is_broken(11, ERASED, 3) && is_broken(11, EMPTY, u32::MAX), "an empty slot on a path");
        assert!(is_broken(500, EMPTY, 3), "an empty slot with a value");
        assert!(is_broken(500, key(10, 9)[0], 3), "a key off its path");
        assert!(is_broken(13, key(10, 1)[0], 3), "a key twice");
        let wide = Shape::new(&HasherInfo { key: KeyType::U64, ..HasherInfo::keys().linear() }, 1024);
        let mut table = LinearSlots::new(wide);
        table.insert(&key_of_hash(&[77], 5), &[]);
        let mut words = written(&table);
        assert!(LinearSlots::read(wide, &words).is_ok());
        assert_eq!(words[HEADER_WORDS + 5 * 3], 77);
        words[HEADER_WORDS + 5 * 3] ^= 1;
        assert!(LinearSlots::read(wide, &words).is_err(), "another fingerprint");
    }

    #[test]
    fn wide_keys_are_not_reserved() {
        let info = HasherInfo { key: KeyType::U64, ..HasherInfo::keys().linear() };
        let mut table = Table::new(Shape::new(&info, 1));
        for key in [[u32::MAX, u32::MAX], [u32::MAX, u32::MAX - 1]] {
            table.insert(&key, &[]);
        }
        let words = table.write(&mut Random::of(&[3]));
        assert_eq!(words[3..7], [2, 0, 0, 0]);
        assert_eq!(Table::read(Shape::new(&info, 1), &words).unwrap().entries(), table.entries());
    }

    #[test]
    fn multimaps_have_keys_several_times() {
        let shape = Shape::new(&pairs().multimap(), 1024);
        let mut table = Table::new(shape);
        let key = [u32::MAX];
        [3, 1, 3, 2].into_iter().for_each(|value| table.insert(&key, &[value]));
        assert_eq!(table.entries()[&key[..]], [[1], [2], [3], [3]]);
        table.erase(&key);
        let words = table.write(&mut Random::of(&[4]));
        assert_eq!([words[0] >> 24, words[3], words[4]], [2, 3, 1]);
        let home = HEADER_WORDS + 3 * (hashes(&key)[0] as usize % 1024);
        assert_eq!(words[home..][..3], [hashes(&key)[1] & 0x7fff_ffff, u32::MAX, 3]);
        assert_eq!(Table::read(shape, &words).unwrap().entries()[&key[..]], [[1], [3], [3]]);
        let mut broken = words.clone();
        broken[home..][..3].fill(u32::MAX);
        assert!(Table::read(shape, &broken).is_err(), "an empty slot before others of the key");
    }
}
