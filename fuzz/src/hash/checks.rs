//! Checks of tables after changes, and of the items that have found no slot.

use super::changes::{check_change, check_cleared};
use super::linear::LinearSlots;
use super::scene::Scene;
use super::table::{Entries, Table, Words, entry_count};
use crate::arena::Found;
use crate::keys::words;
use std::collections::HashSet;
use trommel::{HashOperation, HashScheme};

/// A key and its value. Either may be without words if it is not known.
pub(super) type Item = [Words; 2];

/// Items that have found no slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Left {
    pub(super) count: usize,
    /// All items that may be among them. A rehash that is clamped has more than `count`.
    items: Vec<Item>,
}

/// The first one of some elements that others lack. Equal ones are different.
pub(super) fn lacking<T: Ord + Clone>(others: &[T], some: &[T]) -> Option<T> {
    let sorted = |list: &[T]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    let mut others = sorted(others).into_iter();
    sorted(some).into_iter().find(|element| others.find(|other| other >= element).as_ref() != Some(element))
}

/// The elements of a list that others lack. Both are in ascending order.
fn difference(list: &[Words], others: &[Words]) -> Vec<Words> {
    let mut others = others.iter().peekable();
    let mut all = list.to_vec();
    all.retain(|element| others.next_if(|other| *other == element).is_none());
    all
}

impl Scene {
    /// Checks the table. Returns its entries, and the items that have found no slot.
    pub(super) fn check_table(&self, found: &Found<'_>) -> Result<(Entries, Left), String> {
        let bytes = found.bytes("table");
        let size = trommel::hash::table_size(&self.info, self.numbers.capacity);
        if size != Ok(bytes.len() as u64) {
            return Err(format!("the library's size of tables is {size:?}"));
        }
        trommel::hash::check_table(&self.info, self.numbers.capacity, bytes)
            .map_err(|error| format!("the library's check of tables: {error}"))?;
        let words = words(bytes);
        let (words, rest) = words.split_at(self.shape.words());
        if !self.clears && *rest != self.table[words.len()..] {
            return Err("memory behind the last slot has been written".into());
        }
        let table = Table::read(self.shape, words)?;
        let (entries, expected) = (table.entries(), self.after());
        self.check_entries(&entries, &expected)?;
        if self.clears && table.erased() != 0 {
            return Err(format!("a table that was cleared has {} slots of erased keys", table.erased()));
        }
        let left = self.left_over(&entries, &expected)?;
        self.check_room(&table, &left)?;
        if self.info.scheme == HashScheme::Linear {
            self.check_slots(words)?;
        }
        Ok((entries, left))
    }

    fn check_entries(&self, entries: &Entries, expected: &Entries) -> Result<(), String> {
        // Of equal keys of a concurrent batch, any one provides the value.
        let batch: HashSet<_> = self.items().filter(|_| self.info.concurrent).collect();
        for (key, values) in entries {
            let Some(all) = expected.get(key) else { return Err(format!("the table has key {key:x?}")) };
            let keeps_value = self.info.operation == HashOperation::Insert && self.before.contains_key(key);
            if !keeps_value && values.iter().all(|value| batch.contains(&(key, value))) {
                continue;
            }
            if let Some(value) = lacking(all, values) {
                return Err(format!("key {key:x?} has the value {value:x?}, not {all:x?}"));
            }
        }
        if self.moves_entries() {
            return Ok(());
        }
        let erases = self.info.operation == HashOperation::EraseIf;
        let erased = if erases { self.selected().min(self.len) } else { 0 };
        if erases && entry_count(&self.before) - entry_count(entries) != erased {
            let [before, after] = [&self.before, entries].map(entry_count);
            return Err(format!("the table had {before} keys and has {after}: {erased} should be erased"));
        }
        // Slots of a linear table keep their keys, and those of a multimap their values: see `check_slots`.
        let kept = |values: &Vec<Words>| values.iter().filter(|value| !(erases && self.selects(value))).count();
        let is_lost = |(key, values): &(&Words, &Vec<Words>)| {
            expected.contains_key(*key) && entries.get(*key).map_or(0, kept) < kept(values)
        };
        match self.before.iter().find(is_lost) {
            Some((key, _)) => Err(format!("key {key:x?} is lost")),
            None => Ok(()),
        }
    }

    fn left_over(&self, entries: &Entries, expected: &Entries) -> Result<Left, String> {
        if !self.info.operation.inserts() {
            return Ok(Left::default());
        }
        let is_mixed = self.info.operation == HashOperation::Mixed;
        if !self.moves_entries() && !self.info.multimap && !is_mixed {
            let items = self.items().filter(|(key, _)| expected.contains_key(*key) && !entries.contains_key(*key));
            let items: Vec<_> = items.map(|(key, value)| [key.clone(), value.clone()]).collect();
            return Ok(Left { count: items.len(), items });
        }
        // Each key of a mixed batch is left over once, with the value that it would have.
        let none = Vec::new();
        let missing = expected.iter().flat_map(|(key, values)| {
            let values = difference(values, entries.get(key).unwrap_or(&none));
            values.into_iter().map(|value| [key.clone(), value])
        });
        let items: Vec<_> = missing.collect();
        if !self.moves_entries() {
            return Ok(Left { count: items.len(), items });
        }
        let (inserted, most) = (entry_count(entries), self.rehashed());
        let count = most.checked_sub(inserted).ok_or(format!("{inserted} items have been inserted, not {most}"))?;
        Ok(Left { count, items })
    }

    /// Checks that items that have found no slot have no room.
    fn check_room(&self, table: &Table, left: &Left) -> Result<(), String> {
        let room = |[key, _]: &Item| Some((key.clone(), table.probes_to_room(key, !self.info.concurrent)?));
        let with_room: Vec<_> = left.items.iter().filter_map(room).collect();
        match with_room.first() {
            Some((key, probes)) if left.items.len() - with_room.len() < left.count => {
                Err(format!("key {key:x?} is not there, but has room at probe {probes}"))
            }
            _ => Ok(()),
        }
    }

    fn check_slots(&self, words: &[u32]) -> Result<(), String> {
        let after = LinearSlots::read(self.shape, words)?;
        if self.clears {
            check_cleared(&after, words)?;
        }
        check_change(&self.info, &self.slots_before()?, &after, |value| self.selects(value))
    }

    /// Checks the items that have found no slot, as the device has listed them.
    pub(super) fn check_leftovers(&self, left: &Left, before: [&[u8]; 2], found: &Found<'_>) -> Result<(), String> {
        let [count] = words(found.bytes("leftover count"))[..] else { return Ok(()) };
        if count as usize != left.count {
            return Err(format!("{count} keys are left over, not {}", left.count));
        }
        let arrays = [found.bytes("leftover keys"), found.bytes("leftover values")];
        match lacking(&self.known(&left.items, arrays), &self.listed(arrays, before, left.count)?) {
            Some(listed) => Err(format!("{listed:x?} is left over, and may not be")),
            None => Ok(()),
        }
    }

    /// The items that the device has written to arrays of keys and of values, which may be empty. `before`: the arrays
    /// before the operation.
    pub(super) fn listed(&self, arrays: [&[u8]; 2], before: [&[u8]; 2], count: usize) -> Result<Vec<Item>, String> {
        let sizes = [self.shape.key_words, self.shape.value_words].map(|words| 4 * words);
        for ((array, size), before) in arrays.into_iter().zip(sizes).zip(before) {
            let end = (size * count).min(array.len());
            if array[end..] != before[end..] {
                return Err("memory behind the listed items has been written".into());
            }
        }
        let part = |part: usize, index: usize| {
            let (array, size) = (arrays[part], sizes[part]);
            if array.is_empty() { Vec::new() } else { words(&array[size * index..][..size]) }
        };
        Ok((0..count).map(|index| [0, 1].map(|number| part(number, index))).collect())
    }

    /// The items, without the parts that have no array.
    pub(super) fn known(&self, items: &[Item], arrays: [&[u8]; 2]) -> Vec<Item> {
        let kept = |array: &[u8], words: &Words| if array.is_empty() { Vec::new() } else { words.clone() };
        items.iter().map(|item| [0, 1].map(|part| kept(arrays[part], &item[part]))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_elements_are_counted() {
        assert_eq!(lacking(&[3, 1, 2, 3], &[3, 3, 1]), None);
        assert_eq!(lacking(&[3, 1, 2], &[3, 1, 3]), Some(3));
        assert_eq!(lacking(&[1, 4], &[2, 4]), Some(2));
        assert_eq!(lacking(&[], &[7]), Some(7));
        let words = |list: &[u32]| -> Vec<Words> { list.iter().map(|word| vec![*word]).collect() };
        assert_eq!(difference(&words(&[1, 2, 2, 3]), &words(&[2])), words(&[1, 2, 3]));
        assert_eq!(difference(&words(&[1, 2]), &words(&[1, 2])), words(&[]));
    }
}
