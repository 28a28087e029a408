//! The model of a table: a map of the standard library, from keys to the values that the table has for them.

use crate::common::keys::Random;
use crate::types::{Types, Words};
use std::collections::HashMap;
use trommel::{HashOpcode, HashOperation, Range};

/// A key with its value.
pub(crate) type Item = (Words, Words);

/// A table that a batch inserts into another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    pub(crate) table: Range,
    pub(crate) capacity: u32,
}

/// The number of keys that a table gets room for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reserve {
    pub(crate) most: u32,
    pub(crate) on_device: Option<u32>,
}

/// A batch of one operation.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) operation: HashOperation,
    /// Of operations without keys of a caller: the keys that the operation reads in a table, and below their values.
    pub(crate) keys: Vec<Words>,
    pub(crate) values: Vec<Words>,
    /// Of a mixed batch: a word for each key, of which the lower two bits are the opcode.
    pub(crate) opcodes: Words,
    /// The count on the device; none: the number of keys, on the host.
    pub(crate) count: Option<u32>,
    /// Number of values that a retrieval has room for. None: a retrieval, and an insertion with a search, have no
    /// array for values.
    pub(crate) room: Option<u32>,
    /// The maximum count of an operation without keys of a caller.
    pub(crate) most: Option<u32>,
    pub(crate) source: Option<Source>,
    /// The values of the keys that an operation selects.
    pub(crate) selected: [u64; 2],
    pub(crate) reserve: Reserve,
    /// The keys that a stencil selects. None: the hasher has no stencil.
    pub(crate) stencil: Option<Vec<bool>>,
    /// Whether optional outputs are wanted.
    pub(crate) outputs: bool,
    /// Whether bits of the keys that are found are wanted, if outputs are.
    pub(crate) bits: bool,
    /// Whether the hasher is concurrent.
    pub(crate) concurrent: bool,
}

impl Batch {
    pub(crate) fn new(operation: HashOperation, types: Types, keys: Vec<Words>, random: &mut Random) -> Self {
        let words = types.value_words();
        let values = keys.iter().map(|_| random.words(words)).collect();
        let opcodes = if operation == HashOperation::Mixed { random.words(keys.len()) } else { Words::new() };
        let room = Some(keys.len() as u32);
        let (count, most, source, outputs, concurrent) = (None, None, None, true, false);
        let (selected, reserve, stencil) = ([7, 3], Reserve::default(), None);
        Self {
            operation,
            keys,
            values,
            opcodes,
            count,
            room,
            most,
            source,
            selected,
            reserve,
            stencil,
            outputs,
            bits: true,
            concurrent,
        }
    }

    pub(crate) fn counted(self, count: u32) -> Self {
        Self { count: Some(count), ..self }
    }

    pub(crate) fn concurrent(self) -> Self {
        Self { concurrent: true, ..self }
    }

    /// Selects some of the keys.
    pub(crate) fn of(self, selected: impl FnMut(usize) -> bool) -> Self {
        Self { stencil: Some((0..self.keys.len()).map(selected).collect()), ..self }
    }

    pub(crate) fn with_room(self, room: Option<u32>) -> Self {
        Self { room, ..self }
    }

    /// The maximum count.
    pub(crate) fn most(&self) -> usize {
        self.most.map_or(self.keys.len(), |most| most as usize)
    }

    /// The number of items before it is limited by the maximum count.
    fn requested(&self) -> usize {
        self.count.map_or(self.keys.len(), |count| count as usize)
    }

    pub(crate) fn len(&self) -> usize {
        // A table with too many keys stays as it is.
        if self.operation == HashOperation::Resize { self.keys.len() } else { self.requested().min(self.most()) }
    }

    /// Whether the count is larger than its maximum.
    pub(crate) fn is_clamped(&self) -> bool {
        !self.operation.exports() && self.requested() > self.most()
    }

    /// Whether the operation has keys of a caller, in an array.
    pub(crate) fn has_keys(&self) -> bool {
        self.most.is_none()
    }

    /// Whether the operation selects keys with this value.
    pub(crate) fn selects(&self, value: &[u32]) -> bool {
        !self.operation.selects() || (self.selected[0]..=self.selected[1]).contains(&number(value))
    }

    /// Whether the operation is for a key.
    pub(crate) fn has(&self, i: usize) -> bool {
        i < self.len() && self.stencil.as_ref().is_none_or(|stencil| stencil[i])
    }

    /// The items up to the count, of those that are selected.
    pub(crate) fn items(&self) -> impl Iterator<Item = (&Words, &Words)> {
        let items = self.keys.iter().zip(&self.values).enumerate();
        items.filter(|(i, _)| self.has(*i)).map(|(_, item)| item)
    }

    /// Words of the values in the list of left over items. Ones that are added have no array.
    pub(crate) fn listed_value_words(&self, types: Types) -> usize {
        if self.operation == HashOperation::Increment { 0 } else { types.value_words() }
    }
}

/// A number of one or two words, the lower one first.
fn number(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |number, word| number << 32 | u64::from(*word))
}

/// The value that remains of that of the table, if there is one, and that of an item of the batch. If the last one of
/// equal keys is inserted, the table is that before the batch.
fn combine(operation: HashOperation, old: Option<&Words>, new: &Words) -> Words {
    let item = if operation == HashOperation::Increment { 1 } else { number(new) };
    let numbers = old.map_or(item, |old| match operation {
        HashOperation::Add | HashOperation::Increment => number(old).wrapping_add(item),
        HashOperation::Min => number(old).min(item),
        HashOperation::Max => number(old).max(item),
        HashOperation::And => number(old) & item,
        _ => number(old) | item,
    });
    match operation {
        HashOperation::Insert | HashOperation::InsertLast | HashOperation::FindOrInsert => old.unwrap_or(new).clone(),
        HashOperation::Assign => new.clone(),
        _ => (0..new.len()).map(|word| (numbers >> (32 * word)) as u32).collect(),
    }
}

/// Items, each with its number of occurrences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Multiset(HashMap<Item, usize>);

impl Multiset {
    pub(crate) fn add(&mut self, item: Item) {
        *self.0.entry(item).or_default() += 1;
    }

    /// Removes one occurrence of an item. Returns whether there is one.
    pub(crate) fn remove(&mut self, item: &Item) -> bool {
        let Some(count) = self.0.get_mut(item).filter(|count| **count != 0) else { return false };
        *count -= 1;
        true
    }

    /// The number of all occurrences.
    pub(crate) fn len(&self) -> usize {
        self.0.values().sum()
    }
}

impl FromIterator<Item> for Multiset {
    fn from_iter<T: IntoIterator<Item = Item>>(items: T) -> Self {
        let mut all = Self::default();
        items.into_iter().for_each(|item| all.add(item));
        all
    }
}

/// The content of a table. In a multimap, keys have several values.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    values: HashMap<Words, Vec<Words>>,
    multimap: bool,
}

impl Model {
    pub(crate) fn new(types: Types) -> Self {
        Self { values: HashMap::new(), multimap: types.multimap }
    }

    /// The values of a key.
    pub(crate) fn values_of(&self, key: &Words) -> &[Words] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    /// The value of a key, in a multimap one of them.
    pub(crate) fn get(&self, key: &Words) -> Option<&Words> {
        self.values_of(key).first()
    }

    pub(crate) fn contains_key(&self, key: &Words) -> bool {
        self.values.contains_key(key)
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.values.values().map(Vec::len).sum()
    }

    /// The keys, each once.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Words> {
        self.values.keys()
    }

    /// All items, in any order.
    pub(crate) fn items(&self) -> impl Iterator<Item = Item> {
        self.values.iter().flat_map(|(key, values)| values.iter().map(|value| (key.clone(), value.clone())))
    }

    /// All items in one order.
    pub(crate) fn sorted(&self) -> Vec<Item> {
        let mut items: Vec<_> = self.items().collect();
        items.sort();
        items
    }

    /// Adds an item. Unless this is a multimap, it replaces the value of the key.
    pub(crate) fn insert(&mut self, key: Words, value: Words) {
        let values = self.values.entry(key).or_default();
        if !self.multimap {
            values.clear();
        }
        values.push(value);
    }

    pub(crate) fn remove(&mut self, key: &Words) {
        self.values.remove(key);
    }

    /// Applies a batch of which these items are left over. Checks that these are items of the batch.
    pub(crate) fn apply(&mut self, batch: &Batch, leftovers: &[Item]) {
        match batch.operation {
            HashOperation::Clear => self.values.clear(),
            HashOperation::Erase => batch.items().for_each(|(key, _)| self.remove(key)),
            HashOperation::Mixed => self.apply_mixed(batch, leftovers),
            operation if operation.inserts() => self.insert_all(batch, leftovers),
            _ => {}
        }
    }

    /// Applies the operations of a mixed batch, one after the other. Returns the value of each key before its
    /// operation.
    pub(crate) fn apply_in_order(&mut self, batch: &Batch) -> Vec<Option<Words>> {
        let items = batch.items().zip(&batch.opcodes);
        let apply = |((key, value), opcode): ((&Words, &Words), &u32)| {
            let before = self.get(key).cloned();
            match HashOpcode::ALL[*opcode as usize % 4] {
                HashOpcode::Insert if before.is_none() => self.insert(key.clone(), value.clone()),
                HashOpcode::Assign => self.insert(key.clone(), value.clone()),
                HashOpcode::Erase => self.remove(key),
                HashOpcode::Find | HashOpcode::Insert => {}
            }
            before
        };
        items.map(apply).collect()
    }

    fn apply_mixed(&mut self, batch: &Batch, leftovers: &[Item]) {
        let before = self.clone();
        self.apply_in_order(batch);
        for (key, value) in leftovers {
            assert!(!before.contains_key(key), "left over key {key:x?} was in the table");
            assert_eq!(self.get(key), Some(value), "left over key {key:x?} has another value, or is there twice");
            self.remove(key);
        }
    }

    fn insert_all(&mut self, batch: &Batch, leftovers: &[Item]) {
        let mut lost: Multiset = leftovers.iter().cloned().collect();
        let lost_keys: std::collections::HashSet<&Words> = leftovers.iter().map(|(key, _)| key).collect();
        let has_key = lost_keys.iter().any(|key| self.contains_key(key));
        assert!(self.multimap || !has_key, "some left over key was in the table");
        let has_values = batch.operation.reads_values();
        let before = (batch.operation == HashOperation::InsertLast).then(|| self.clone());
        for (key, value) in batch.items() {
            let listed = (key.clone(), if has_values { value.clone() } else { Words::new() });
            if lost.remove(&listed) {
                continue;
            }
            assert!(self.multimap || !lost_keys.contains(key), "an item with key {key:x?} is not left over as others");
            let old = before.as_ref().unwrap_or(self).get(key);
            let value = if self.multimap { value.clone() } else { combine(batch.operation, old, value) };
            self.insert(key.clone(), value);
        }
        assert_eq!(lost.len(), 0, "left over items that are none of the batch, of {lost:x?}");
    }
}
