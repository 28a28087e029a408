//! Cases of items, keys with or without values: their arrays, and the columns of their output.

use crate::arrays::{ArrayInfo, Contents};
use crate::inputs::{Content, Field, Keys};
use crate::key_order::{KeyOrder, low_32, low_64};
use crate::verify::{Column, Columns, Comparison};
use std::ops::Range;
use std::sync::Arc;
use trommel::{KeyType, Layout, Placement, ValueType};

/// The number of the array of keys, or of interleaved items.
pub(crate) const KEYS: usize = 0;
/// The number of the array of values.
pub(crate) const VALUES: usize = 1;

/// Values up to this many bytes move with their keys in every pass. Longer values move once, at the end.
pub(crate) const MAX_MOVED_VALUE: u32 = 16;
/// Bytes of an index.
pub(crate) const INDEX: u32 = 4;

/// Items of a case. The default: `u32` keys alone, in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    pub(crate) key: KeyType,
    pub(crate) value: ValueType,
    pub(crate) drop_keys: bool,
    pub(crate) layout: Layout,
    pub(crate) placement: Placement,
}

impl Items {
    /// The arrays of keys and of values. Buffers have room for `capacity` items.
    pub(crate) fn arrays(&self, keys: Keys, capacity: u32) -> [ArrayInfo; 2] {
        [self.keys(keys, capacity), self.values(capacity)]
    }

    fn keys(&self, keys: Keys, capacity: u32) -> ArrayInfo {
        let mut fields = vec![Field { content: Content::Keys(keys), size: self.key.size() }];
        if self.layout == Layout::Interleaved {
            fields.push(Field { content: Content::Values, size: self.value.size() });
        }
        let stride = fields.iter().map(|field| field.size).sum();
        let second = match self.placement {
            Placement::InPlace => false,
            Placement::Preserve => !self.drop_keys,
            Placement::DoubleBuffer => true,
        };
        ArrayInfo { fields, stride, sides: [true, second], capacity, ..ArrayInfo::default() }
    }

    fn values(&self, capacity: u32) -> ArrayInfo {
        if self.value == ValueType::None || self.layout == Layout::Interleaved {
            return ArrayInfo::default();
        }
        let stride = self.value.size();
        let is_read = self.value != ValueType::Index;
        let fields = if is_read { vec![Field { content: Content::Values, size: stride }] } else { Vec::new() };
        let sides = [is_read || self.placement != Placement::Preserve, self.placement != Placement::InPlace];
        ArrayInfo { fields, stride, sides, capacity, ..ArrayInfo::default() }
    }

    /// Input and output of problems. An error says that a column is missing.
    pub(crate) fn compare(&self, problems: Vec<Range<u32>>, contents: &Contents) -> Result<Comparison, String> {
        let input = self.columns(&contents.inputs);
        let mut output = self.columns(&contents.outputs);
        output.keys = output.keys.filter(|_| !self.drop_keys);
        let has_values = self.value != ValueType::None;
        let is_complete = output.keys.is_some() != self.drop_keys && output.values.is_some() == has_values;
        let is_empty = output.keys.is_none() && output.values.is_none() && contents.tables.iter().all(Option::is_none);
        if !is_complete || is_empty {
            return Err("part of the output is missing".into());
        }
        Ok(Comparison { problems, values_are_indices: self.value == ValueType::Index, input, output })
    }

    /// Keys and values in their arrays.
    fn columns(&self, arrays: &[Option<Arc<Vec<u32>>>]) -> Columns {
        let array = |number: usize| arrays.get(number).cloned().flatten();
        let (key, value) = (self.key.size() as usize, self.value.size() as usize);
        let column = |words: Option<Arc<Vec<u32>>>, first, stride, size| {
            words.map(|words| Column { words, first, stride, size })
        };
        if self.layout == Layout::Interleaved {
            let item = key + value;
            return Columns { keys: column(array(KEYS), 0, item, key), values: column(array(KEYS), key, item, value) };
        }
        Columns { keys: column(array(KEYS), 0, key, key), values: column(array(VALUES), 0, value, value) }
    }
}

/// Checks that each problem is sorted stably by its keys.
pub(crate) fn check_sorted(comparison: &Comparison, order: &KeyOrder) -> Result<(), String> {
    let keys = comparison.keys()?;
    let number = |index: u32| order.number(keys.item(index as usize));
    // Narrow numbers save time: the check mostly moves them.
    match order.key.bits() {
        0..=32 => comparison.check_order(|index| low_32(number(index))),
        33..=64 => comparison.check_order(|index| low_64(number(index))),
        _ => comparison.check_order(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_column_goes_unchecked() {
        let pairs = Items { value: ValueType::U32, ..Items::default() };
        let words = |words: &[u32]| Some(Arc::new(words.to_vec()));
        let both = Contents { outputs: vec![words(&[1]), words(&[2])], ..Contents::default() };
        assert!(pairs.compare(vec![0..1, 1..1], &both).is_ok());
        let keys_only = Contents { outputs: vec![words(&[1])], ..Contents::default() };
        let error = pairs.compare(vec![0..1, 1..1], &keys_only).map(|_| ());
        assert_eq!(error, Err("part of the output is missing".into()));
        let counts = Items { drop_keys: true, ..Items::default() };
        assert!(counts.compare(Vec::new(), &Contents::default()).is_err(), "neither items nor tables");
    }

    #[test]
    fn arrays_have_the_buffers_that_are_read_or_written() {
        let sides = |items: Items| items.arrays(Keys::Random, 1).map(|array| array.sides);
        let preserve = Items { placement: Placement::Preserve, ..Items::default() };
        assert_eq!(sides(Items::default()), [[true, false], [false, false]]);
        assert_eq!(sides(preserve), [[true, true], [false, false]]);
        let argsort = Items { value: ValueType::Index, drop_keys: true, ..preserve };
        assert_eq!(sides(argsort), [[true, false], [false, true]], "indices are written alone");
    }
}
