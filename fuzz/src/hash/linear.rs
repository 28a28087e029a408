//! The slots of linear tables. Slot i begins at word 64 + i * slot_words. The first word of a slot is its state: empty,
//! that of an erased key, or that of a key. The state of a key of one word is the key itself; the state of a wider key
//! is a fingerprint, and the key follows. The value ends the slot.
//!
//! The path of a key begins at its home, the low bits of its first hash, and wraps around. A search ends at the first
//! empty slot.

use super::table::{HEADER_WORDS, SLICE_SLOTS, Shape, Slots, Words, hashes};
use crate::random::Random;
use std::collections::{BTreeSet, HashMap};
use trommel::{HashOperation, HasherInfo};

/// The most slots of a path. A path in a smaller table has all of its slots.
const MOST_PROBES: usize = 16_384;
/// Erasures may leave slots of erased keys that are farther from an empty slot.
const MOST_TRIMMED: usize = 1000;
// States of slots without a key.
const EMPTY: u32 = u32::MAX;
const ERASED: u32 = u32::MAX - 1;
/// The word of the header that is always 0.
const ZERO: usize = 2;

/// The slots of a linear table.
#[derive(Clone, Debug)]
pub(super) struct LinearSlots {
    shape: Shape,
    /// The slot and the value of each key.
    items: HashMap<Words, (usize, Words)>,
    empty: BTreeSet<usize>,
    erased: BTreeSet<usize>,
}

impl LinearSlots {
    pub(super) fn new(shape: Shape) -> Self {
        let empty = (0..shape.slices * SLICE_SLOTS).collect();
        Self { shape, items: HashMap::new(), empty, erased: BTreeSet::new() }
    }

    /// Number of slots: a power of two.
    fn len(&self) -> usize {
        self.shape.slices * SLICE_SLOTS
    }

    /// Words of a slot before the key.
    fn fingerprint_words(&self) -> usize {
        usize::from(self.shape.key_words > 1)
    }

    fn slot_words(&self) -> usize {
        self.fingerprint_words() + self.shape.key_words + self.shape.value_words
    }

    /// The state of the slot of a key.
    fn state(&self, key: &[u32]) -> u32 {
        if self.shape.key_words == 1 { key[0] } else { hashes(key)[1] & 0x7fff_ffff }
    }

    /// The first slot of the path of a key.
    fn home(&self, key: &[u32]) -> usize {
        hashes(key)[0] as usize % self.len()
    }

    /// Number of probes up to the slot with this distance from the home of a key. None beyond the end of the path.
    fn probes_of(&self, distance: usize) -> Option<u32> {
        if distance < MOST_PROBES { u32::try_from(distance + 1).ok() } else { None }
    }

    /// Number of slots from one slot to another one, wrapping around.
    fn distance(&self, from: usize, to: usize) -> usize {
        (to + self.len() - from) % self.len()
    }

    /// Distance from a slot to the nearest one of a set, in the order of paths. None if the set is empty.
    fn distance_to(&self, set: &BTreeSet<usize>, from: usize) -> Option<usize> {
        set.range(from..).chain(set.range(..from)).next().map(|slot| self.distance(from, *slot))
    }

    /// Distance from a slot to the nearest one that an insertion may take.
    fn distance_to_room(&self, from: usize, reuses_erased: bool) -> Option<usize> {
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
                EMPTY if shape.value_words == 1 && *value != [u32::MAX] => {
                    return Err(format!("empty slot {number} has the value {value:x?}"));
                }
                EMPTY => _ = table.empty.insert(number),
                ERASED => _ = table.erased.insert(number),
                state if state != table.state(key) => {
                    return Err(format!("the slot of key {key:x?} has the state {state:#x}"));
                }
                _ => {
                    if table.items.insert(key.to_vec(), (number, value.to_vec())).is_some() {
                        return Err(format!("key {key:x?} is there twice"));
                    }
                }
            }
        }
        match table.items.iter().find(|(key, _)| table.probes(key).is_none()) {
            Some((key, (slot, _))) => Err(format!("a search does not find key {key:x?} in slot {slot}")),
            None => Ok(table),
        }
    }

    /// Checks the slots after an operation against those before. [`super::table::Table::read`] accepts both tables.
    pub(super) fn check_change(shape: Shape, info: &HasherInfo, before: &[u32], after: &[u32]) -> Result<(), String> {
        if info.operation == HashOperation::Clear {
            let is_clear = after[HEADER_WORDS..].iter().all(|word| *word == u32::MAX);
            return if is_clear { Ok(()) } else { Err("a word of a cleared slot is not all ones".into()) };
        }
        let [before, after] = [Self::read(shape, before)?, Self::read(shape, after)?];
        for (key, (slot, _)) in &after.items {
            if let Some((old, _)) = before.items.get(key) {
                if old != slot {
                    return Err(format!("key {key:x?} has moved from slot {old} to slot {slot}"));
                }
                continue;
            }
            let home = after.home(key);
            let nearest = after.distance_to_room(home, !info.concurrent);
            if let Some(nearest) = nearest.filter(|nearest| *nearest < after.distance(home, *slot)) {
                let free = (home + nearest) % after.len();
                return Err(format!("key {key:x?} is in slot {slot}, and not in slot {free} before it on its path"));
            }
        }
        if info.concurrent {
            if let Some(slot) = before.erased.difference(&after.erased).next() {
                return Err(format!("slot {slot} of an erased key has changed"));
            }
            if let Some(slot) = after.empty.difference(&before.empty).next() {
                return Err(format!("slot {slot} has become empty"));
            }
            return Ok(());
        }
        // The batch has freed the slots that had a key before and have none now. If only such slots lie between a freed
        // slot and an empty one, all of them become empty.
        let behind = |slot: &usize| {
            let mut slots = (1..MOST_TRIMMED).map(|distance| (slot + distance) % after.len());
            slots
                .find(|next| !after.empty.contains(next) || before.empty.contains(next) || before.erased.contains(next))
        };
        let has_empty_behind = |slot: &&usize| behind(slot).is_some_and(|next| before.empty.contains(&next));
        match after.erased.difference(&before.erased).find(has_empty_behind) {
            Some(slot) => Err(format!("erased slot {slot} is followed by empty ones, and has not become empty")),
            None => Ok(()),
        }
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
        if let Some((_, known)) = self.items.get_mut(key) {
            *known = value.to_vec();
            return;
        }
        let home = self.home(key);
        if let Some(distance) = self.distance_to_room(home, true).filter(|distance| *distance < MOST_PROBES) {
            let slot = (home + distance) % self.len();
            self.empty.remove(&slot);
            self.erased.remove(&slot);
            self.items.insert(key.to_vec(), (slot, value.to_vec()));
        }
    }

    fn erase(&mut self, key: &[u32]) {
        if let Some((slot, _)) = self.items.remove(key) {
            self.erased.insert(slot);
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
        Box::new(self.items.iter().map(|(key, (_, value))| (&key[..], &value[..])))
    }

    fn erased(&self) -> usize {
        self.erased.len()
    }

    fn probes(&self, key: &[u32]) -> Option<u32> {
        let (slot, _) = self.items.get(key)?;
        let home = self.home(key);
        let distance = self.distance(home, *slot);
        let is_before_empty = self.distance_to(&self.empty, home).is_none_or(|empty| distance < empty);
        self.probes_of(distance).filter(|_| is_before_empty)
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
            // Insertions may rely on the values of empty slots, if these have one word.
            if self.shape.value_words == 1 {
                target[slot_words - 1] = u32::MAX;
            }
            if random.chance(unused, 100) {
                target.fill(u32::MAX);
            }
        }
        for slot in &self.erased {
            words[place(*slot)][0] = ERASED;
        }
        for (key, (slot, value)) in &self.items {
            let target = &mut words[place(*slot)];
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
    use trommel::KeyType;

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
        let mut all: Vec<_> = table.items.iter().map(|(key, (slot, _))| (hashes(key)[0] >> 20, *slot)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn paths_wrap_around_and_reuse_erased_slots() {
        let (_, mut table) = table(&pairs(), &[1022, 1022, 1022, 5, 1023]);
        assert_eq!(slots(&table), [(0, 1022), (1, 1023), (2, 0), (3, 5), (4, 1)]);
        assert_eq!([0, 1, 2].map(|number| table.probes(&key(1022, number))), [Some(1), Some(2), Some(3)]);
        assert_eq!(table.probes(&key(1023, 4)), Some(3));
        assert_eq!(table.probes(&key(1022, 9)), None);
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
        assert_eq!(table.probes(&key(most - 1)), Some(most));
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
    fn changes_are_checked() {
        let [insert, erase] =
            [HashOperation::Insert, HashOperation::Erase].map(|operation| pairs().operation(operation));
        let (shape, mut before) = table(&insert, &[10, 10, 10, 10, 10]);
        before.erase(&key(10, 1));
        let check = |info: &HasherInfo, change: &dyn Fn(&mut LinearSlots)| {
            let mut after = before.clone();
            change(&mut after);
            LinearSlots::check_change(shape, info, &written(&before), &written(&after)).is_ok()
        };
        let put = |slot: usize| {
            move |table: &mut LinearSlots| {
                table.empty.remove(&slot);
                table.erased.remove(&slot);
                table.items.insert(key(10, 8), (slot, vec![3]));
            }
        };
        assert!(check(&insert, &put(11)) && !check(&insert, &put(15)), "the first slot that is free");
        assert!(
            check(&insert.concurrent(), &put(15)) && !check(&insert.concurrent(), &put(11)),
            "the first empty slot"
        );
        let erased = |table: &mut LinearSlots| table.erase(&key(10, 4));
        let trimmed = |table: &mut LinearSlots| {
            erased(table);
            table.erased.remove(&14);
            table.empty.insert(14);
        };
        assert!(check(&erase, &trimmed) && !check(&erase, &erased));
        let half_trimmed = |table: &mut LinearSlots| {
            trimmed(table);
            table.erase(&key(10, 3));
        };
        assert!(!check(&erase, &half_trimmed));
        assert!(check(&erase.concurrent(), &erased) && !check(&erase.concurrent(), &trimmed));
        let clear = insert.operation(HashOperation::Clear);
        assert!(!check(&clear, &|_| ()) && check(&clear, &|table| *table = LinearSlots::new(shape)));
        let moved = |table: &mut LinearSlots| {
            table.erased.remove(&11);
            table.empty.insert(14);
            let last = table.items.get_mut(&key(10, 4)).map(|(slot, _)| std::mem::replace(slot, 11));
            assert_eq!(last, Some(14));
        };
        assert!(!check(&erase, &moved));
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
        assert_eq!(Table::read(Shape::new(&info, 1), &words).unwrap().items(), table.items());
    }
}
