//! Compares the outputs of an operation with the model.

use crate::memory::{Outputs, Places, Prepared};
use crate::model::{Batch, Item, Model, Multiset};
use crate::table::{Leftovers, Table};
use crate::types::Words;
use trommel::{HashOperation, STATUS_COUNT_CLAMPED, STATUS_OUTPUT_CLAMPED, STATUS_TABLE_FULL};

impl Table<'_> {
    /// Applies a batch that has run to the model, and compares all outputs. Returns the items that found no slot.
    pub(crate) fn check_batch(&mut self, batch: &Batch, prepared: &Prepared) -> Leftovers {
        let mut outputs = prepared.outputs(self.context);
        let leftovers = self.leftovers(batch, &mut outputs);
        let before = (batch.operation == HashOperation::Mixed).then(|| self.model.clone());
        match batch.operation {
            HashOperation::Rehash | HashOperation::Resize => self.model = self.moved_content(batch, &leftovers),
            HashOperation::EraseIf => self.model = self.content_without(batch),
            _ => self.model.apply(batch, &leftovers),
        }
        let is_full = if leftovers.is_empty() { 0 } else { STATUS_TABLE_FULL };
        let is_clamped = if batch.is_clamped() { STATUS_COUNT_CLAMPED } else { 0 };
        let flags = match batch.operation {
            HashOperation::Find | HashOperation::FindOrInsert => self.check_found(batch, &mut outputs),
            operation if operation.exports() => self.check_export(batch, &mut outputs),
            HashOperation::Count => self.check_counts(batch, &mut outputs),
            HashOperation::Mixed => self.check_mixed(before.expect("a model"), batch, &mut outputs),
            HashOperation::Retrieve => self.check_retrieved(batch, &mut outputs),
            _ => 0,
        };
        if batch.operation != HashOperation::Clear && batch.outputs {
            outputs.expect(&prepared.places.status, 0, &[flags | is_full | is_clamped]);
        }
        outputs.compare(batch);
        leftovers
    }

    /// The items in the list of those that are left over. Without a list, none is.
    fn leftovers(&self, batch: &Batch, outputs: &mut Outputs) -> Leftovers {
        if !batch.operation.inserts() || !batch.outputs {
            return Leftovers::new();
        }
        let Places { leftover_keys, leftover_values, leftover_count, .. } = &outputs.places.clone();
        let count = outputs.word(leftover_count) as usize;
        assert!(count <= batch.len(), "{count} of {} items are left over", batch.len());
        let words = [self.types.key_words(), batch.listed_value_words(self.types)];
        outputs.accept(leftover_keys, count * words[0]);
        outputs.accept(leftover_values, count * words[1]);
        outputs.accept(leftover_count, 1);
        outputs.items([leftover_keys, leftover_values], words, count)
    }

    /// The content of the table after it has received the items of another one, or its own ones again: as many as fit
    /// in the count, less those that are left over.
    fn moved_content(&mut self, batch: &Batch, leftovers: &[Item]) -> Model {
        let content = self.exported();
        let mut source: Multiset = batch.keys.iter().cloned().zip(batch.values.iter().cloned()).collect();
        for item in content.items().chain(leftovers.iter().cloned()) {
            assert!(source.remove(&item), "{item:x?} is no item of the source, or is there too often");
        }
        assert_eq!(content.len() + leftovers.len(), batch.len(), "items, and left over items");
        content
    }

    /// The content of the table without selected items, of which the batch has removed as many as fit in the count.
    fn content_without(&mut self, batch: &Batch) -> Model {
        let content = self.exported();
        let mut known: Multiset = self.model.items().collect();
        for item in content.items() {
            assert!(known.remove(&item), "{item:x?} is no item of the table, or is there too often");
        }
        assert_eq!(self.model.len() - content.len(), batch.len(), "removed items");
        let selected = content.items().filter(|(_, value)| batch.selects(value)).count();
        assert_eq!(selected, batch.keys.len() - batch.len(), "some other item has been removed");
        content
    }

    /// The values of a key of a batch: none, if the operation is not for it.
    fn known(&self, batch: &Batch, i: usize, key: &Words) -> &[Words] {
        if batch.has(i) { self.model.values_of(key) } else { &[] }
    }

    /// Checks the values that a search has found, and a bit for each key.
    fn check_found(&self, batch: &Batch, outputs: &mut Outputs) -> u32 {
        if !batch.outputs {
            return 0;
        }
        let Places { values, values_out, found, .. } = outputs.places.clone();
        let is_search = batch.operation == HashOperation::Find;
        let target = if is_search { &values } else { &values_out };
        let (len, words) = (batch.len(), self.types.value_words());
        for (i, key) in batch.keys[..len].iter().enumerate().filter(|_| is_search || batch.room.is_some()) {
            let (known, value) = (self.known(batch, i, key), outputs.element(target, words, i));
            // A search in a multimap finds any value.
            let value = if known.contains(&value) { Some(&value) } else { known.first() };
            outputs.expect(target, i, value.unwrap_or(&vec![u32::MAX; words]));
        }
        for word in (0..len.div_ceil(32)).filter(|_| batch.bits) {
            let bit = |i: usize| u32::from(batch.has(i) && self.model.contains_key(&batch.keys[i])) << (i % 32);
            outputs.expect(&found, word, &[(word * 32..word * 32 + 32).map(bit).sum()]);
        }
        0
    }

    /// Checks what the table had for each key of a mixed batch before its operation. `model`: before the batch.
    fn check_mixed(&self, mut model: Model, batch: &Batch, outputs: &mut Outputs) -> u32 {
        let results = model.apply_in_order(batch);
        if !batch.outputs {
            return 0;
        }
        let Places { values_out, found, .. } = outputs.places.clone();
        let absent = vec![u32::MAX; self.types.value_words()];
        if batch.room.is_some() {
            for (i, result) in results.iter().enumerate() {
                outputs.expect(&values_out, i, result.as_ref().unwrap_or(&absent));
            }
        }
        for (word, results) in results.chunks(32).enumerate().filter(|_| batch.bits) {
            let bits = results.iter().enumerate().map(|(i, result)| u32::from(result.is_some()) << i);
            outputs.expect(&found, word, &[bits.sum()]);
        }
        0
    }

    /// Checks that the items of an export are different ones of the table, with selected values.
    fn check_export(&self, batch: &Batch, outputs: &mut Outputs) -> u32 {
        let Places { keys, values, count_out, .. } = outputs.places.clone();
        let (room, has_values) = (batch.keys.len(), batch.outputs);
        let all: Vec<Item> = self.model.items().filter(|(_, value)| batch.selects(value)).collect();
        let all_count = all.len();
        let written = all_count.min(room);
        let words = [self.types.key_words(), if has_values { self.types.value_words() } else { 0 }];
        let without_values = |(key, _): Item| (key, Words::new());
        let mut known: Multiset = match has_values {
            true => all.into_iter().collect(),
            false => all.into_iter().map(without_values).collect(),
        };
        for item in outputs.items([&keys, &values], words, written) {
            assert!(known.remove(&item), "{item:x?} is no item of the table, or is exported too often");
        }
        outputs.accept(&keys, words[0] * written);
        outputs.accept(&values, words[1] * written);
        if batch.outputs {
            outputs.expect(&count_out, 0, &[written as u32]);
        }
        if all_count > room { STATUS_OUTPUT_CLAMPED } else { 0 }
    }

    /// Checks the numbers of values of keys.
    fn check_counts(&self, batch: &Batch, outputs: &mut Outputs) -> u32 {
        let counts = outputs.places.counts.clone();
        for (i, key) in batch.keys[..batch.len()].iter().enumerate() {
            outputs.expect(&counts, i, &[self.known(batch, i, key).len() as u32]);
        }
        0
    }

    /// Checks the offsets of the values of keys, and those values that the array has room for.
    fn check_retrieved(&self, batch: &Batch, outputs: &mut Outputs) -> u32 {
        let Places { offsets, values_out, count_out, .. } = outputs.places.clone();
        let words = self.types.value_words();
        let room = if batch.outputs { batch.room.map(|room| room as usize) } else { None };
        let mut end = 0;
        for (i, key) in batch.keys[..batch.len()].iter().enumerate() {
            let known = self.known(batch, i, key);
            outputs.expect(&offsets, i, &[end as u32]);
            let written = end..(end + known.len()).min(room.unwrap_or(0));
            let mut left: Multiset = known.iter().map(|value| (Words::new(), value.clone())).collect();
            for value in written.map(|index| outputs.element(&values_out, words, index)) {
                let item = (Words::new(), value);
                assert!(left.remove(&item), "{item:x?} is no value of {key:x?}, or is written too often");
            }
            end += known.len();
        }
        outputs.expect(&offsets, batch.len(), &[end as u32]);
        outputs.accept(&values_out, words * end.min(room.unwrap_or(0)));
        if batch.outputs {
            outputs.expect(&count_out, 0, &[end as u32]);
        }
        if room.is_some_and(|room| end > room) { STATUS_OUTPUT_CLAMPED } else { 0 }
    }

    /// Returns the value that a concurrent search has found for each key. Checks that the batch has written its outputs
    /// only, and that no key is left over.
    pub(crate) fn check_outputs(&self, batch: &Batch, prepared: &Prepared) -> Vec<Option<Words>> {
        let mut outputs = prepared.outputs(self.context);
        let Places { values, found, leftover_count, status, .. } = &prepared.places;
        outputs.expect(status, 0, &[if batch.is_clamped() { STATUS_COUNT_CLAMPED } else { 0 }]);
        if batch.operation.inserts() {
            outputs.expect(leftover_count, 0, &[0]);
        }
        let mut results = Vec::new();
        if batch.operation == HashOperation::Find {
            let (len, words) = (batch.len(), self.types.value_words());
            let bits: Words = (0..len.div_ceil(32)).map(|word| outputs.element(found, 1, word)[0]).collect();
            let ends = bits.last().is_none_or(|last| len % 32 == 0 || last >> (len % 32) == 0);
            assert!(ends, "bits of no key are set");
            for i in 0..len {
                let value = outputs.element(values, words, i);
                let is_found = bits[i / 32] >> (i % 32) & 1 != 0;
                assert!(is_found || value.iter().all(|word| *word == u32::MAX), "an absent key has a value");
                results.push(is_found.then_some(value));
            }
            outputs.accept(found, bits.len());
            outputs.accept(values, words * len);
        }
        outputs.compare(batch);
        results
    }
}
