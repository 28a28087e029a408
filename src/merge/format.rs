//! Formats: the parameters of a merger in the form that kernels and plans use.

use super::sequences::MOST_SEQUENCES;
use super::{MergeMethod, MergeOperation, MergerInfo};
use crate::shared::{
    ENCODING_DESCENDING, LAYOUT_DROP_KEYS, LAYOUT_INDICES, LAYOUT_INTERLEAVED, MAX_VALUE_WORDS, OPERATION_DIFFERENCE,
    OPERATION_INTERSECTION, OPERATION_MERGE, OPERATION_SEGMENTS, OPERATION_SYMMETRIC_DIFFERENCE, OPERATION_UNION,
    OPERATION_UNIQUE, OPERATION_UPDATE, OPERATION_UPDATE_BY_VALUE, SOURCE_B,
};
use crate::{Error, Layout, Order, Result, ValueType};
use std::ops::Add;

/// The items of a [`MergerInfo`] in the form that kernels and plans use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Format {
    pub(crate) key_words: u32,
    /// `ENCODING_` bits.
    pub(crate) encoding: u32,
    pub(crate) value_words: u32,
    /// `LAYOUT_` bits.
    pub(crate) layout: u32,
    pub(crate) operation: MergeOperation,
    pub(crate) method: MergeMethod,
    pub(crate) segmented: bool,
    /// Most sequences of a merge, at least two.
    pub(crate) sequences: u32,
    /// Of all sequences together.
    pub(crate) max_count: u32,
    /// Number of the module with a user-defined comparator; 0: none.
    pub(crate) comparator: u64,
}

impl Format {
    /// # Errors
    /// Names the member with an unsupported value, and the reason.
    pub(crate) fn new(info: &MergerInfo) -> Result<Self> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        if info.key.bits() < 32 {
            return malformed("keyType", "keys narrower than a word are not merged");
        }
        let finds_bounds = info.operation.is_search();
        let unavailable = [
            ("valueType", info.value != ValueType::None),
            ("flags", info.drop_keys),
            ("layout", info.layout != Layout::Separate),
            ("method", info.method != MergeMethod::Path),
            ("flags", info.segmented),
        ];
        if let Some((argument, _)) = unavailable.iter().find(|(_, set)| finds_bounds && *set) {
            return malformed(
                argument,
                "searches take keys only: no values, dropped keys, other layouts, other methods or segments",
            );
        }
        let is_merge = info.operation == MergeOperation::Merge;
        if (!is_merge || info.segmented) && info.method != MergeMethod::Path {
            return malformed("method", "only merges without segments have methods for comparison");
        }
        if info.segmented && info.operation.is_set_operation() {
            return malformed("flags", "set operations have no segments");
        }
        let (key, value_words) = (info.key.plain(), info.value.checked_size()? / 4);
        if info.operation == MergeOperation::UpdateByValue && (value_words != 1 || info.value == ValueType::Index) {
            return malformed("valueType", "marks of values are of values of 4 bytes");
        }
        let is_index = info.value == ValueType::Index;
        let sequences = info.sequences.max(2);
        if info.sequences == 1 {
            return malformed("sequenceCount", "a merge has two sequences or more");
        }
        if sequences > MOST_SEQUENCES {
            let (value, limit) = (sequences.into(), MOST_SEQUENCES.into());
            return Err(Error::TooLarge { argument: "sequenceCount", value, limit, why: "the most of one merge" });
        }
        let of_two = [
            ("operation", !is_merge, "other operations than merges are of two sequences"),
            ("method", info.method != MergeMethod::Path, "only merges of two sequences have methods for comparison"),
            ("flags", info.segmented, "merges of segments are of two sequences"),
            ("valueType", is_index, "indices name one of two sequences (SOURCE_B)"),
        ];
        if let Some((argument, _, why)) = of_two.iter().find(|(_, set, _)| sequences > 2 && *set) {
            return malformed(argument, why);
        }
        if info.drop_keys && info.value == ValueType::None && !info.operation.is_set_operation() {
            return malformed("flags", "keys are dropped (DROP_KEYS) and there are no values: nothing is left");
        }
        if info.layout == Layout::Strided {
            return malformed("layout", "sequences are dense");
        }
        let beside = (1..=MAX_VALUE_WORDS).contains(&value_words) && !is_index && !info.drop_keys;
        if info.layout == Layout::Interleaved && !beside {
            return malformed(
                "layout",
                "items are a key and a value of 4 to 16 bytes, which both are read and written",
            );
        }
        let most = if is_index { SOURCE_B } else { u32::MAX };
        if info.max_count > most {
            let (value, limit) = (info.max_count.into(), most.into());
            return Err(Error::TooLarge { argument: "maxCount", value, limit, why: "the items that indices reach" });
        }
        let layout = [
            (info.layout == Layout::Interleaved, LAYOUT_INTERLEAVED),
            (is_index || finds_bounds, LAYOUT_INDICES),
            (info.drop_keys || finds_bounds, LAYOUT_DROP_KEYS),
        ];
        let descending = if info.order == Order::Descending { ENCODING_DESCENDING } else { 0 };
        Ok(Self {
            key_words: key.words,
            encoding: key.encoding | descending,
            value_words: if finds_bounds { 1 } else { value_words },
            layout: layout.iter().filter(|(set, _)| *set).fold(0, |all, (_, bit)| all | bit),
            operation: info.operation,
            method: info.method,
            segmented: info.segmented,
            sequences,
            max_count: if info.max_count == 0 { most } else { info.max_count },
            comparator: 0,
        })
    }

    /// The format of a merger with a user-defined comparator, without the number of its module. The comparator receives
    /// keys as they are in memory.
    ///
    /// # Errors
    /// As [`Format::new`].
    pub(crate) fn of_comparator(info: &MergerInfo) -> Result<Self> {
        let format = Self::new(info)?;
        let unavailable = [
            ("operation", info.operation != MergeOperation::Merge, "comparators are of merges alone"),
            ("method", info.method != MergeMethod::Path, "merges with a comparator are by merge path"),
            ("order", info.order != Order::Ascending, "the comparator is the order"),
            ("sequenceCount", format.sequences > 2, "merges with a comparator are of two sequences"),
        ];
        match unavailable.into_iter().find(|(_, set, _)| *set) {
            Some((argument, _, why)) => Err(Error::Malformed { argument, why: why.to_owned() }),
            None => Ok(Self { encoding: 0, ..format }),
        }
    }

    pub(crate) const fn has(&self, layout: u32) -> bool {
        self.layout & layout != 0
    }

    /// Items of the merge path of sequences with so many items. Of a search, the needles.
    pub(crate) fn path_items<T: Add<Output = T>>(&self, a: T, b: T) -> T {
        if self.operation.is_search() { a } else { a + b }
    }

    /// The most items of the output of sequences with so many items.
    pub(crate) fn output_items<T: Add<Output = T> + Ord>(&self, a: T, b: T) -> T {
        match self.operation {
            MergeOperation::LowerBound | MergeOperation::UpperBound | MergeOperation::Difference => a,
            MergeOperation::Intersection => a.min(b),
            _ => a + b,
        }
    }

    /// Whether only the number of items is written.
    pub(crate) fn only_counts(&self) -> bool {
        self.has(LAYOUT_DROP_KEYS) && self.value_words == 0
    }

    /// Whether marks are of values.
    pub(crate) fn marks_values(&self) -> bool {
        self.operation == MergeOperation::UpdateByValue
    }

    /// Whether merges have more parameters than their sequences: [`crate::shared::MergeDetails`].
    pub(crate) fn has_details(&self) -> bool {
        self.segmented || self.comparator != 0 || self.operation.is_update()
    }

    /// The `OPERATION_` bits.
    pub(crate) fn operation_bits(&self) -> u32 {
        let operation = match self.operation {
            MergeOperation::Merge | MergeOperation::LowerBound | MergeOperation::UpperBound => OPERATION_MERGE,
            MergeOperation::Union => OPERATION_UNION,
            MergeOperation::Intersection => OPERATION_INTERSECTION,
            MergeOperation::Difference => OPERATION_DIFFERENCE,
            MergeOperation::SymmetricDifference => OPERATION_SYMMETRIC_DIFFERENCE,
            MergeOperation::Update => OPERATION_UPDATE,
            MergeOperation::UpdateByValue => OPERATION_UPDATE_BY_VALUE,
            MergeOperation::Unique => OPERATION_UNIQUE,
        };
        operation | if self.segmented { OPERATION_SEGMENTS } else { 0 }
    }

    /// Bytes of a key, or of an item if values lie beside keys.
    pub(crate) const fn key_step(&self) -> u32 {
        4 * (self.key_words + if self.has(LAYOUT_INTERLEAVED) { self.value_words } else { 0 })
    }

    /// Whether values have arrays of their own.
    pub(crate) const fn has_value_arrays(&self) -> bool {
        self.value_words != 0 && !self.has(LAYOUT_INTERLEAVED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyType;

    #[test]
    fn unsupported_mergers() {
        let keys = MergerInfo::keys();
        let indices = MergerInfo { value: ValueType::Index, ..keys };
        let items = "items are a key and a value";
        for (info, text) in [
            (MergerInfo { key: KeyType::U16, ..keys }, "keyType is malformed: keys narrower"),
            (MergerInfo { value: ValueType::Bytes(6), ..keys }, "valueSize is malformed: 6 is not a multiple of 4"),
            (MergerInfo { value: ValueType::Bytes(0), ..keys }, "valueSize is malformed: 0 is not a multiple of 4"),
            (
                MergerInfo { value: ValueType::Bytes(4100), ..keys },
                "valueSize is malformed: 4100 is not a multiple of 4",
            ),
            (MergerInfo { drop_keys: true, ..keys }, "flags is malformed: keys are dropped"),
            (MergerInfo { layout: Layout::Strided, ..keys }, "layout is malformed: sequences are dense"),
            (MergerInfo { layout: Layout::Interleaved, ..keys }, items),
            (MergerInfo { layout: Layout::Interleaved, ..indices }, items),
            (MergerInfo { layout: Layout::Interleaved, value: ValueType::Bytes(20), ..keys }, items),
            (MergerInfo { layout: Layout::Interleaved, drop_keys: true, ..MergerInfo::pairs() }, items),
            (
                MergerInfo { value: ValueType::U32, ..MergerInfo::lower_bound() },
                "valueType is malformed: searches take keys only",
            ),
            (MergerInfo::upper_bound().method(MergeMethod::Basic), "method is malformed: searches take keys only"),
            (
                MergerInfo::pairs().operation(MergeOperation::Union).method(MergeMethod::Tiled),
                "method is malformed: only merges without segments have methods",
            ),
            (
                MergerInfo::keys().operation(MergeOperation::Unique).segmented(),
                "flags is malformed: set operations have",
            ),
            (MergerInfo { max_count: SOURCE_B + 1, ..indices }, "maxCount 2147483649 > 2147483648"),
            (keys.sequences(1), "sequenceCount is malformed: a merge has two sequences or more"),
            (keys.sequences(17), "sequenceCount 17 > 16, the most of one merge"),
            (
                keys.sequences(3).operation(MergeOperation::Union),
                "operation is malformed: other operations than merges are of two",
            ),
            (MergerInfo::lower_bound().sequences(3), "operation is malformed: other operations"),
            (keys.sequences(3).operation(MergeOperation::Update), "operation is malformed: other operations"),
            (keys.sequences(3).operation(MergeOperation::Unique), "operation is malformed: other operations"),
            (keys.sequences(3).method(MergeMethod::Basic), "method is malformed: only merges of two sequences have"),
            (keys.sequences(3).segmented(), "flags is malformed: merges of segments are of two"),
            (indices.sequences(3), "valueType is malformed: indices name one of two"),
        ] {
            let error = Format::new(&info).unwrap_err().to_string();
            assert!(error.contains(text), "{error} should say: {text}");
            assert_eq!(info.check().unwrap_err().to_string(), error);
        }
        for (sequences, most) in [(0, 2), (2, 2), (3, 3), (16, 16)] {
            assert_eq!(Format::new(&keys.sequences(sequences)).unwrap().sequences, most);
        }
        assert!(indices.sequences(2).check().is_ok());
        for (info, text) in [
            (MergerInfo::lower_bound(), "operation is malformed: comparators are of merges"),
            (keys.operation(MergeOperation::Update), "operation is malformed: comparators are of merges"),
            (keys.method(MergeMethod::Basic), "method is malformed: merges with a comparator"),
            (MergerInfo { order: Order::Descending, ..keys }, "order is malformed: the comparator is the order"),
            (keys.sequences(3), "sequenceCount is malformed: merges with a comparator are of two sequences"),
            (MergerInfo { key: KeyType::U16, ..keys }, "keyType is malformed: keys narrower"),
        ] {
            let error = Format::of_comparator(&info).unwrap_err().to_string();
            assert!(error.contains(text), "{error} should say: {text}");
        }
        let counts = MergerInfo { drop_keys: true, ..keys.operation(MergeOperation::Difference) };
        assert!(Format::new(&counts).unwrap().only_counts() && !Format::new(&keys).unwrap().only_counts());
        assert_eq!(Format::new(&keys).unwrap().max_count, u32::MAX);
        assert_eq!(Format::new(&indices).unwrap().max_count, SOURCE_B);
    }
}
