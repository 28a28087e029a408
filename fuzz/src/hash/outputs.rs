//! The outputs of operations, but for tables and leftover items.

use super::checks::{Item, lacking};
use super::opcodes::Opcodes;
use super::scene::Scene;
use super::table::{Entries, Words, entry_count};
use crate::arena::{Array, Check, Found};
use crate::keys::words;
use crate::primitive::Ask;
use crate::random::Random;
use std::sync::Arc;
use trommel::{HashOperation, STATUS_OUTPUT_CLAMPED};

// Optional results, a bit each.
pub(super) const KEYS: u32 = 1;
pub(super) const VALUES: u32 = 2;
pub(super) const COUNT: u32 = 4;
pub(super) const FOUND: u32 = 8;
pub(super) const VALUES_OUT: u32 = 16;

pub(super) fn bytes<'a>(words: impl IntoIterator<Item = &'a u32>) -> Vec<u8> {
    words.into_iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A length as a word.
pub(super) fn word(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// The arrays of some results, and the bits that they set in the status.
pub(super) type Results = (Vec<Array>, u32);

/// The results of a search in arrays that may be empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Searched {
    pub(super) values: Vec<u8>,
    pub(super) found: Vec<u8>,
}

impl Scene {
    /// Makes room for the results of a search that are wanted. `values`: the role of the array of values.
    fn search_room(&self, values: &'static str, wanted: [bool; 2], noise: &mut Random) -> (Vec<Array>, Searched) {
        let (items, size) = (self.keys.len(), 4 * self.shape.value_words);
        let values = (wanted[0] && size != 0).then(|| Array::room(values, 4, size, items, noise));
        let found = wanted[1].then(|| Array::room("found", 4, 4, items.div_ceil(32), noise));
        let before = |array: &Option<Array>| array.as_ref().map_or_else(Vec::new, |array| array.before.clone());
        let before = Searched { values: before(&values), found: before(&found) };
        (values.into_iter().chain(found).collect(), before)
    }

    /// Writes the results of a search for the keys of the batch. `value_of`: the value of the key with an index.
    fn search(&self, results: &mut Searched, value_of: impl Fn(usize, &Words) -> Option<Words>) {
        let size = 4 * self.shape.value_words;
        let mut bits = vec![0; self.len.div_ceil(32)];
        for (index, key) in self.batch_keys().enumerate() {
            let value = key.and_then(|key| value_of(index, key));
            bits[index / 32] |= u32::from(value.is_some()) << (index % 32);
            if !results.values.is_empty() {
                let bytes = value.map_or_else(|| vec![0xff; size], |value| bytes(&value));
                results.values[index * size..][..size].copy_from_slice(&bytes);
            }
        }
        if !results.found.is_empty() {
            results.found[..4 * bits.len()].copy_from_slice(&bytes(&bits));
        }
    }

    /// Checks the results of a search in a table with these entries, of which any one of a key will do.
    pub(super) fn check_search(&self, entries: &Entries, before: &Searched, after: &Searched) -> Result<(), String> {
        let size = 4 * self.shape.value_words;
        let value_of = |index: usize, key: &Words| {
            let all = entries.get(key)?;
            let written = after.values.get(index * size..(index + 1) * size).map(words);
            written.filter(|value| all.contains(value)).or_else(|| all.first().cloned())
        };
        let mut expected = before.clone();
        self.search(&mut expected, value_of);
        let first = |found: &[u8], expected: &[u8]| found.iter().zip(expected).position(|(found, byte)| found != byte);
        if let Some(byte) = first(&after.values, &expected.values) {
            let item = byte / size;
            let [found, expected] = [after, &expected].map(|results| words(&results.values[item * size..][..size]));
            return Err(format!("the value of item {item} is {found:x?}, not {expected:x?}"));
        }
        match first(&after.found, &expected.found) {
            Some(byte) => Err(format!("byte {byte} of the bits is {:#x}", after.found[byte])),
            None => Ok(()),
        }
    }

    /// The outputs of a search.
    pub(super) fn searched(&self, ask: &Ask, noise: &mut Random) -> Results {
        let wanted = [VALUES, KEYS].map(|bit| ask.results & bit != 0);
        let (mut arrays, before) = self.search_room("values", wanted, noise);
        if !self.info.multimap {
            // The value of a key that is just being inserted may be all ones.
            let may_be_unfinished = |value: &Words| self.info.concurrent && value[..] == [u32::MAX];
            let mut expected = before;
            self.search(&mut expected, |_, key| {
                let value = self.before.get(key).and_then(|values| values.first());
                value.filter(|value| !may_be_unfinished(value)).cloned()
            });
            for array in &mut arrays {
                array.expected.clone_from(if array.role == "values" { &expected.values } else { &expected.found });
            }
            return (arrays, 0);
        }
        arrays.iter_mut().for_each(Array::free_all);
        let scene = self.clone();
        if let Some(array) = arrays.first_mut() {
            array.check = Some(Check(Arc::new(move |found| {
                let after = Searched { values: found.bytes("values").into(), found: found.bytes("found").into() };
                scene.check_search(&scene.before, &before, &after)
            })));
        }
        (arrays, 0)
    }

    /// Room for the results of the search that follows an insertion. The check of the table checks them.
    pub(super) fn searched_afterwards(&self, ask: &Ask, noise: &mut Random) -> (Vec<Array>, Searched) {
        let wanted = [VALUES_OUT, FOUND].map(|bit| ask.results & bit != 0);
        let (mut arrays, before) = self.search_room("values out", wanted, noise);
        arrays.iter_mut().for_each(Array::free_all);
        (arrays, before)
    }

    /// The results of a mixed batch. They do not depend on which keys find a slot.
    pub(super) fn searched_in_order(&self, opcodes: &Opcodes, ask: &Ask, noise: &mut Random) -> Vec<Array> {
        let wanted = [VALUES_OUT, FOUND].map(|bit| ask.results & bit != 0);
        let (mut arrays, mut expected) = self.search_room("values out", wanted, noise);
        let results = self.apply_in_order(opcodes, &mut self.before.clone());
        self.search(&mut expected, |index, _| results[index].clone());
        for array in &mut arrays {
            array.expected.clone_from(if array.role == "found" { &expected.found } else { &expected.values });
        }
        arrays
    }

    /// The outputs of an export: different entries of the table, all or those that their values select.
    pub(super) fn exported(&self, ask: &Ask, noise: &mut Random) -> Results {
        let sizes = [self.shape.key_words, self.shape.value_words].map(|words| 4 * words);
        let selects = self.info.operation == HashOperation::ExportIf;
        let all = if selects { self.selected() } else { entry_count(&self.before) };
        let items = self.keys.len();
        let count = all.min(items);
        let mut arrays = vec![Array::room("keys", 4, sizes[0], items, noise)];
        if ask.results & VALUES != 0 && sizes[1] != 0 {
            arrays.push(Array::room("values", 4, sizes[1], items, noise));
        }
        arrays.iter_mut().for_each(Array::free_all);
        let before = [0, 1].map(|part| arrays.get(part).map_or_else(Vec::new, |array| array.before.clone()));
        if ask.results & COUNT != 0 {
            arrays.push(Array::results("count out", &[word(count)], noise));
        }
        let scene = self.clone();
        arrays[0].check = Some(Check(Arc::new(move |found| {
            let entries = scene.before.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
            let entries = entries.filter(|(_, value)| !selects || scene.selects(value));
            let entries: Vec<Item> = entries.map(|(key, value)| [key.clone(), value.clone()]).collect();
            let arrays = [found.bytes("keys"), found.bytes("values")];
            let listed = scene.listed(arrays, [&before[0], &before[1]], count)?;
            match lacking(&scene.known(&entries, arrays), &listed) {
                Some(listed) => Err(format!("{listed:x?} should not be exported, or not as often")),
                None => Ok(()),
            }
        })));
        (arrays, if all > items { STATUS_OUTPUT_CLAMPED } else { 0 })
    }

    /// The numbers of entries.
    pub(super) fn counted(&self, noise: &mut Random) -> Results {
        let mut array = Array::room("counts", 4, 4, self.keys.len(), noise);
        let counts: Vec<u32> = self.counts().map(word).collect();
        array.expected[..4 * counts.len()].copy_from_slice(&bytes(&counts));
        (vec![array], 0)
    }

    /// The outputs of a retrieval.
    pub(super) fn retrieved(&self, ask: &Ask, noise: &mut Random) -> Results {
        let mut offsets = vec![0];
        self.counts().for_each(|count| offsets.push(offsets[offsets.len() - 1] + count));
        let all = offsets[self.len];
        let mut array = Array::room("offsets", 4, 4, self.keys.len() + 1, noise);
        let expected: Vec<u32> = offsets.iter().copied().map(word).collect();
        array.expected[..4 * expected.len()].copy_from_slice(&bytes(&expected));
        let mut arrays = vec![array];
        if ask.results & COUNT != 0 {
            arrays.push(Array::results("count out", &[word(all)], noise));
        }
        if ask.results & VALUES == 0 {
            return (arrays, 0);
        }
        let size = 4 * self.shape.value_words;
        // The last item is room that the library does not know of: arrays without bytes would not be wanted.
        let mut values = Array::room("values out", 4, size, self.room + 1, noise);
        // Those beyond the last value are not written.
        values.free_items(0..all.min(self.room));
        let scene = self.clone();
        values.check = Some(Check(Arc::new(move |found| scene.check_retrieved(&offsets, found))));
        arrays.push(values);
        (arrays, if all > self.room { STATUS_OUTPUT_CLAMPED } else { 0 })
    }

    /// Checks the values of each key, up to the last one that there is room for.
    fn check_retrieved(&self, offsets: &[usize], found: &Found<'_>) -> Result<(), String> {
        let size = 4 * self.shape.value_words;
        let values: Vec<Words> = found.bytes("values out").chunks_exact(size).map(words).collect();
        for ((index, key), ends) in self.batch_keys().enumerate().zip(offsets.windows(2)) {
            let [begin, end] = [ends[0], ends[1]].map(|end| end.min(self.room));
            let Some(key) = key.filter(|_| begin != end) else { continue };
            let all = self.before.get(key).map_or(&[][..], |values| values);
            if let Some(value) = lacking(all, &values[begin..end]) {
                return Err(format!("item {index}, key {key:x?}: {value:x?} is none of its values, or not as often"));
            }
        }
        Ok(())
    }

    /// The outputs of an operation that does not change the table.
    pub(super) fn results(&self, ask: &Ask, noise: &mut Random) -> Results {
        match self.info.operation {
            HashOperation::Export | HashOperation::ExportIf => self.exported(ask, noise),
            HashOperation::Find => self.searched(ask, noise),
            HashOperation::Statistics => (vec![Array::results("statistics", &self.statistics, noise)], 0),
            HashOperation::Count => self.counted(noise),
            HashOperation::Retrieve => self.retrieved(ask, noise),
            _ => Results::default(),
        }
    }
}
