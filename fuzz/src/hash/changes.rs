//! The slots of a linear table after an operation, against those before.

use super::linear::LinearSlots;
use super::table::{HEADER_WORDS, Words};
use trommel::{HashOperation, HasherInfo};

/// Erasures may leave slots of erased keys that are farther from an empty slot.
const MOST_TRIMMED: usize = 1000;

/// Checks the words of a table that was cleared before it received its keys: those of all other slots are ones.
pub(super) fn check_cleared(slots: &LinearSlots, words: &[u32]) -> Result<(), String> {
    let taken = slots.by_slot();
    let all = words[HEADER_WORDS..].chunks_exact(slots.slot_words()).enumerate();
    let is_clear = |slot: &[u32]| slot.iter().all(|word| *word == u32::MAX);
    match all.filter(|(number, _)| !taken.contains_key(number)).find(|(_, slot)| !is_clear(slot)) {
        Some((number, slot)) => Err(format!("slot {number} of a cleared table is {slot:x?}")),
        None => Ok(()),
    }
}

/// Checks the slots after a change. `may_be_erased`: whether an erasure by value selects a value.
pub(super) fn check_change(
    info: &HasherInfo,
    before: &LinearSlots,
    after: &LinearSlots,
    may_be_erased: impl Fn(&Words) -> bool,
) -> Result<(), String> {
    let [old, new] = [before, after].map(LinearSlots::by_slot);
    for (slot, (key, value)) in &old {
        // Operations on multimaps change no values.
        let stays = |(next, next_value): &(_, _)| next == key && (!info.multimap || next_value == value);
        let is_selected = info.operation == HashOperation::EraseIf && may_be_erased(value);
        if after.has_key(key) && !is_selected && !new.get(slot).is_some_and(stays) {
            return Err(format!("slot {slot} has no longer key {key:x?} with the value {value:x?}"));
        }
    }
    for (slot, (key, _)) in &new {
        if old.get(slot).is_some_and(|(known, _)| known == key) {
            continue;
        }
        if matches!(info.operation, HashOperation::Erase | HashOperation::EraseIf) {
            return Err(format!("slot {slot} has key {key:x?} after an erasure"));
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
        slots.find(|next| !after.empty.contains(next) || before.empty.contains(next) || before.erased.contains(next))
    };
    let has_empty_behind = |slot: &&usize| behind(slot).is_some_and(|next| before.empty.contains(&next));
    match after.erased.difference(&before.erased).find(has_empty_behind) {
        Some(slot) => Err(format!("erased slot {slot} is followed by empty ones, and has not become empty")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::table::{Shape, Slots as _, key_of_hash};

    fn pairs() -> HasherInfo {
        HasherInfo::pairs().linear()
    }

    /// The key with this number among those with slot 10 as their home.
    fn key(number: u32) -> Vec<u32> {
        key_of_hash(&[], number << 20 | 10)
    }

    /// Slots 10 to 14 have keys, but slot 11 that of an erased one.
    fn before(info: &HasherInfo) -> LinearSlots {
        let mut table = LinearSlots::new(Shape::new(info, 1024));
        (0..5).for_each(|number| table.insert(&key(number), &[7]));
        table.erase(&key(1));
        table
    }

    fn is_good(info: &HasherInfo, change: &dyn Fn(&mut LinearSlots)) -> bool {
        let before = before(info);
        let mut after = before.clone();
        change(&mut after);
        check_change(info, &before, &after, |value| value[0] == 7).is_ok()
    }

    #[test]
    fn insertions_are_checked() {
        let put = |slot: usize| move |table: &mut LinearSlots| table.put(slot, &key(8), &[3]);
        for info in [pairs(), pairs().multimap()] {
            assert!(is_good(&info, &put(11)) && !is_good(&info, &put(15)), "the first slot that is free");
        }
        let concurrent = pairs().concurrent();
        assert!(is_good(&concurrent, &put(15)) && !is_good(&concurrent, &put(11)), "the first empty slot");
        let again = |table: &mut LinearSlots| table.put(11, &key(4), &[3]);
        assert!(is_good(&pairs().multimap(), &again), "another entry of a key");
        let another_value = |table: &mut LinearSlots| {
            table.erase(&key(4));
            table.put(14, &key(4), &[8]);
        };
        assert!(is_good(&pairs(), &another_value) && !is_good(&pairs().multimap(), &another_value));
    }

    #[test]
    fn erasures_are_checked() {
        let erase = pairs().operation(HashOperation::Erase);
        let erased = |table: &mut LinearSlots| table.erase(&key(4));
        let trimmed = |table: &mut LinearSlots| {
            erased(table);
            table.erased.remove(&14);
            table.empty.insert(14);
        };
        let half_trimmed = |table: &mut LinearSlots| {
            trimmed(table);
            table.erase(&key(3));
        };
        let moved = |table: &mut LinearSlots| {
            trimmed(table);
            table.put(11, &key(4), &[7]);
        };
        for info in [erase, erase.multimap()] {
            assert!(is_good(&info, &trimmed) && !is_good(&info, &erased));
            assert!(!is_good(&info, &half_trimmed) && !is_good(&info, &moved));
            assert!(!is_good(&info, &|table| table.put(11, &key(8), &[3])), "a new key");
        }
        // One entry of two with a key is erased by its value.
        for (operation, value) in [(HashOperation::EraseIf, 7), (HashOperation::EraseIf, 8), (HashOperation::Erase, 7)]
        {
            let info = pairs().multimap().operation(operation);
            let mut with_two = before(&info);
            with_two.put(15, &key(3), &[value]);
            let mut after = with_two.clone();
            after.erase(&key(3));
            after.erased.remove(&15);
            after.empty.insert(15);
            let is_good = check_change(&info, &with_two, &after, |value| value[0] == 7).is_ok();
            assert_eq!(is_good, operation == HashOperation::EraseIf && value == 7, "{operation:?} {value}");
        }
        assert!(is_good(&erase.concurrent(), &erased) && !is_good(&erase.concurrent(), &trimmed));
    }

    #[test]
    fn cleared_slots_are_checked() {
        let mut table = LinearSlots::new(Shape::new(&pairs(), 1024));
        let mut words = vec![u32::MAX; table.words()];
        table.put(10, &key(1), &[7]);
        assert_eq!(check_cleared(&table, &words), Ok(()));
        words[HEADER_WORDS + 2 * 10] = 1;
        assert_eq!(check_cleared(&table, &words), Ok(()), "a slot with a key");
        words[HEADER_WORDS + 2 * 11 + 1] = 1;
        assert!(check_cleared(&table, &words).is_err());
    }
}
