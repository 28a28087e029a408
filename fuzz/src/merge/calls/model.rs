//! The contract of merges, as include/trommel.h states it.

use crate::calls::model::{Array, Items, LARGE, MALFORMED, MISALIGNED, NULL, Verdict, judge_arrays, judge_value};
use trommel::capi::*;

/// Bits of TrmMergerCreateInfo::flags.
const DROP_KEYS: u32 = 1;
pub(super) const BATCHES: u32 = 2;
pub(super) const DEFERRED: u32 = 4;
pub(super) const SEGMENTED: u32 = 8;

/// The most segments of one request.
const MOST_SEGMENTS: u32 = (1 << 30) - 1;

/// The most sequences of one merge.
const MOST_SEQUENCES: u32 = 16;

/// A merger as it was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergerModel {
    pub(super) items: Items,
    /// Bounds are written, not items.
    pub(super) is_search: bool,
    pub(super) is_segmented: bool,
    /// Whether it has a comparator.
    pub(super) compares: bool,
    /// TrmMergerCreateInfo::operation.
    operation: i32,
    /// Most sequences of a merge.
    pub(super) sequences: u32,
}

impl MergerModel {
    pub(super) fn new(info: &TrmMergerCreateInfo, compares: bool) -> Self {
        let value = (info.value_type, info.value_size);
        let items = Items::new(info.key_type, value, info.layout, info.max_count, info.flags & DROP_KEYS);
        let most = if items.index { 1 << 31 } else { u32::MAX };
        let max_count = if info.max_count == 0 { most } else { info.max_count };
        let items = Items { max_count, batches: info.flags & BATCHES != 0, ..items };
        let is_search = [1, 2].contains(&info.operation);
        let is_segmented = info.flags & SEGMENTED != 0;
        let sequences = info.sequence_count.max(2);
        Self { items, is_search, is_segmented, compares, operation: info.operation, sequences }
    }

    /// Bytes of the marks of an update of `a` items, if the range has `given` bytes.
    pub(super) fn mark_bytes(&self, a: u32, given: u64) -> u64 {
        match self.operation {
            7 => u64::from(a.div_ceil(32)) * 4,
            8 => given.min(1 << 29) / 4 * 4,
            _ => 0,
        }
    }

    pub(super) fn is_update(&self) -> bool {
        [7, 8].contains(&self.operation)
    }

    /// Whether the second sequence must be empty.
    pub(super) fn is_unique(&self) -> bool {
        self.operation == 9
    }

    /// Whether the marks are those of values.
    pub(super) fn marks_values(&self) -> bool {
        self.operation == 8
    }

    /// The items that keysOut and valuesOut have room for.
    pub(super) fn room(&self, a: u32, b: u32) -> u64 {
        match self.operation {
            1 | 2 | 5 => a.into(),
            4 => a.min(b).into(),
            _ => u64::from(a) + u64::from(b),
        }
    }

    /// Whether only the number of items is written.
    pub(super) fn only_counts(&self) -> bool {
        self.items.drop_keys && self.items.value_size == 0
    }

    /// Whether values are read.
    pub(super) fn reads_values(&self) -> bool {
        self.items.separate() && !self.items.index
    }
}

/// Numbers of items of the sequences after A and B.
const COUNTS: [u32; 8] = [0, 1, 3000, 17, 0, 1 << 20, 0, 400];

/// The lists of sequences that infos point to. Infos are copied as bytes, so these live as long as the program. Their
/// memory is disjoint from that of all other arrays.
pub(super) static LISTS: [[TrmMergeSequence; 14]; COUNTS.len()] = {
    let none = TrmRange { address: 0, size: 0 };
    let nothing = TrmMergeSequence { count: TrmCount { max: 0, address: 0 }, keys: none, values: none };
    let mut lists = [[nothing; 14]; COUNTS.len()];
    let mut next = 0;
    while next < 14 * COUNTS.len() {
        let (list, of) = (next / 14, next % 14);
        let address = (1 << 60) + ((next as u64) << 42);
        lists[list][of] = TrmMergeSequence {
            count: TrmCount { max: COUNTS[(list + of) % (1 + list)], address: if next % 3 == 0 { address } else { 0 } },
            keys: TrmRange { address: address + (1 << 40), size: 1 << 40 },
            values: TrmRange { address: address + (2 << 40), size: 1 << 40 },
        };
        next += 1;
    }
    lists
};

/// The sequences after A and B that an info names, if the library may read them.
pub(super) fn more_sequences(info: &TrmMergeInfo) -> &'static [TrmMergeSequence] {
    let list = LISTS.iter().find(|list| std::ptr::eq(list.as_ptr(), info.more_sequences));
    list.and_then(|list| list.get(..info.more_sequence_count as usize)).unwrap_or_default()
}

/// Judges what trmCreateMerger() is given, or the same with a comparator.
pub(super) fn judge_merger(info: &TrmMergerCreateInfo, compares: bool, verdict: &mut Verdict) {
    verdict.known(info.key_type, 15, "keyType");
    judge_value(info.value_type, info.value_size, verdict);
    verdict.must(info.flags <= 15, MALFORMED, "flags");
    verdict.known(info.order, 2, "order");
    verdict.known(info.layout, 3, "layout");
    verdict.known(info.method, 4, "method");
    verdict.known(info.operation, 10, "operation");
    verdict.must(info.sequence_count != 1, MALFORMED, "sequenceCount of one");
    verdict.must(info.sequence_count <= MOST_SEQUENCES, LARGE, "sequenceCount");
    let is_segmented = info.flags & SEGMENTED != 0;
    let is_bare = (info.value_type, info.flags & (DROP_KEYS | SEGMENTED), info.layout, info.method) == (0, 0, 0, 0);
    let is_search = [1, 2].contains(&info.operation);
    let is_set_operation = [3, 4, 5, 6, 9].contains(&info.operation);
    verdict.must(!is_search || is_bare, MALFORMED, "operation: bounds of bare keys");
    let is_plain = info.operation <= 2 && !is_segmented;
    verdict.must(is_plain || info.method == 0, MALFORMED, "method of sets, updates and segments");
    verdict.must(!is_set_operation || !is_segmented, MALFORMED, "flags: segments of sets");
    let is_simple = !compares && info.operation == 0 && info.method == 0 && !is_segmented && info.value_type != 3;
    verdict.must(info.sequence_count <= 2 || is_simple, MALFORMED, "sequenceCount of other merges");
    let is_word = info.value_type == 1 || info.value_type == 2 && info.value_size == 4;
    verdict.must(info.operation != 8 || is_word, MALFORMED, "valueType of marked values");
    let is_default = (info.order, info.method, info.operation) == (0, 0, 0);
    verdict.must(!compares || is_default, MALFORMED, "order, method or operation of a comparator");
    let mut items = MergerModel::new(info, compares).items;
    // Sets may only be counted.
    items.drop_keys &= !is_set_operation || items.value_size != 0;
    verdict.must(!items.narrow(), MALFORMED, "keyType: narrow keys");
    verdict.must(!items.strided, MALFORMED, "layout: strided items");
    items.judge_layout(4096, verdict);
    verdict.must(!items.index || items.max_count <= 1 << 31, LARGE, "maxCount of indices");
}

/// Judges a merge apart from its scratch and timestamps, and returns the memory that it names.
pub(super) fn judge_merge(model: &MergerModel, info: &TrmMergeInfo, verdict: &mut Verdict) -> Vec<Array> {
    let items = &model.items;
    let (a, b) = (info.count_a.max, info.count_b.max);
    let given = info.more_sequence_count;
    verdict.must(given <= model.sequences - 2, LARGE, "moreSequenceCount");
    verdict.must(given == 0 || !info.more_sequences.is_null(), NULL, "moreSequences");
    let more = more_sequences(info);
    let of_more: u64 = more.iter().map(|sequence| u64::from(sequence.count.max)).sum();
    let all = u64::from(a) + u64::from(b) + of_more;
    verdict.must(all <= items.max_count.into(), LARGE, "count.max");
    verdict.must(!model.is_unique() || b == 0, LARGE, "countB.max of unique items");
    verdict.must(info.count_a.address.is_multiple_of(4), MISALIGNED, "countA.address");
    verdict.must(info.count_b.address.is_multiple_of(4), MISALIGNED, "countB.address");
    verdict.must(info.status.is_multiple_of(4), MISALIGNED, "status");
    verdict.must(info.count_out.is_multiple_of(4), MISALIGNED, "countOut");
    verdict.must(info.count_out != 0 || !model.only_counts(), NULL, "countOut of a count");
    let room = model.room(a, b) + of_more;
    let array =
        |range, count: u64, size: u32, written| Array::new(range, 4, u128::from(count) * u128::from(size), written);
    let mut arrays = vec![
        Array::word(info.status, true),
        Array::word(info.count_out, true),
        Array::word(info.count_a.address, false),
        Array::word(info.count_b.address, false),
        array(info.keys_a, a.into(), items.step(), false),
        array(info.keys_b, b.into(), items.step(), false),
    ];
    let TrmMergeSegments { count, offsets_a, offsets_b, offsets_out } = info.segments;
    if model.is_segmented {
        verdict.must(info.count_a.address == 0, MALFORMED, "countA.address of segments");
        verdict.must(info.count_b.address == 0, MALFORMED, "countB.address of segments");
        verdict.must(count.address.is_multiple_of(4), MISALIGNED, "segments.count.address");
        verdict.must(count.max <= MOST_SEGMENTS, LARGE, "segments.count.max");
        arrays.push(Array::word(count.address, false));
        let offsets = |range, written| array(range, u64::from(count.max) + 1, 4, written);
        arrays.extend([offsets(offsets_a, false), offsets(offsets_b, false)]);
        if (offsets_out.address, offsets_out.size) != (0, 0) {
            arrays.push(offsets(offsets_out, true));
        }
    } else {
        let ranges = [offsets_a, offsets_b, offsets_out].map(|range| (range.address, range.size));
        let is_zero = (count.max, count.address) == (0, 0) && ranges == [(0, 0); 3];
        verdict.must(is_zero, MALFORMED, "segments of a handle without");
    }
    let is_empty = (info.user_address, info.user_words) == (0, [0; 4]);
    verdict.must(model.compares || is_empty, MALFORMED, "userAddress, userWords");
    if model.is_update() {
        arrays.push(array(info.marks, model.mark_bytes(a, info.marks.size), 1, false));
    } else {
        verdict.must((info.marks.address, info.marks.size) == (0, 0), MALFORMED, "marks of another operation");
    }
    for TrmMergeSequence { count, keys, values } in more {
        verdict.must(count.address.is_multiple_of(4), MISALIGNED, "moreSequences.count.address");
        arrays.push(Array::word(count.address, false));
        arrays.push(array(*keys, count.max.into(), items.step(), false));
        if model.reads_values() {
            arrays.push(array(*values, count.max.into(), items.value_size, false));
        }
    }
    if model.reads_values() {
        arrays.push(array(info.values_a, a.into(), items.value_size, false));
        arrays.push(array(info.values_b, b.into(), items.value_size, false));
    }
    if model.is_search {
        arrays.push(array(info.values_out, a.into(), 4, true));
    } else if !items.drop_keys {
        arrays.push(array(info.keys_out, room, items.step(), true));
    }
    if items.separate() {
        arrays.push(array(info.values_out, room, items.value_size, true));
    }
    judge_arrays(&arrays, verdict);
    arrays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::info::empty;
    use crate::calls::model::{OVERLAP, SMALL};

    #[test]
    fn what_mergers_can_be() {
        let faults = |info: TrmMergerCreateInfo| {
            let mut verdict = Verdict::default();
            judge_merger(&info, false, &mut verdict);
            verdict.faults
        };
        let (good, pairs) = (empty(), TrmMergerCreateInfo { value_type: 1, ..empty() });
        assert_eq!(faults(good), []);
        assert_eq!(faults(TrmMergerCreateInfo { flags: 15, layout: 0, ..pairs }), []);
        assert_eq!(faults(TrmMergerCreateInfo { layout: 1, ..pairs }), []);
        assert_eq!(faults(TrmMergerCreateInfo { layout: 2, ..good }), [(MALFORMED, "layout: strided items")]);
        assert_eq!(faults(TrmMergerCreateInfo { key_type: 2, ..good }), [(MALFORMED, "keyType: narrow keys")]);
        assert_eq!(faults(TrmMergerCreateInfo { flags: 16, ..good }), [(MALFORMED, "flags")]);
        assert_eq!(faults(TrmMergerCreateInfo { flags: 8, operation: 8, ..pairs }), []);
        let sets = TrmMergerCreateInfo { flags: 8, operation: 4, ..pairs };
        assert_eq!(faults(sets), [(MALFORMED, "flags: segments of sets")]);
        let unique = TrmMergerCreateInfo { operation: 9, ..sets };
        assert_eq!(faults(unique), [(MALFORMED, "flags: segments of sets")]);
        assert_eq!(faults(TrmMergerCreateInfo { flags: 1, value_type: 0, ..unique }), []);
        let values = TrmMergerCreateInfo { operation: 8, ..good };
        assert_eq!(faults(values), [(MALFORMED, "valueType of marked values")]);
        let method = TrmMergerCreateInfo { operation: 7, method: 1, ..good };
        assert_eq!(faults(method), [(MALFORMED, "method of sets, updates and segments")]);
        assert_eq!(faults(TrmMergerCreateInfo { flags: 1, ..good }), [(MALFORMED, "flags: nothing is left")]);
        assert_eq!(faults(TrmMergerCreateInfo { sequence_count: 16, ..pairs }), []);
        assert_eq!(faults(TrmMergerCreateInfo { sequence_count: 17, ..pairs }), [(LARGE, "sequenceCount")]);
        let sets = TrmMergerCreateInfo { sequence_count: 3, operation: 4, ..pairs };
        assert_eq!(faults(sets), [(MALFORMED, "sequenceCount of other merges")]);
        let mut verdict = Verdict::default();
        judge_merger(&TrmMergerCreateInfo { order: 1, ..pairs }, true, &mut verdict);
        assert_eq!(verdict.faults, [(MALFORMED, "order, method or operation of a comparator")]);
        let most = TrmMergerCreateInfo { max_count: 1 << 31, value_type: 3, ..good };
        assert_eq!(faults(most), []);
        let beyond = TrmMergerCreateInfo { max_count: (1 << 31) + 1, ..most };
        assert_eq!(faults(beyond), [(LARGE, "maxCount of indices")]);
        assert_eq!(faults(TrmMergerCreateInfo { value_type: 1, ..beyond }), []);
    }

    #[test]
    fn arrays_of_a_merge() {
        let create = TrmMergerCreateInfo { value_type: 1, max_count: 30, ..empty() };
        let faults = |info: TrmMergeInfo| {
            let mut verdict = Verdict::default();
            judge_merge(&MergerModel::new(&create, false), &info, &mut verdict);
            verdict.faults.iter().map(|(code, _)| *code).collect::<Vec<_>>()
        };
        let range = |address, size| TrmRange { address, size };
        let count = |max| TrmCount { max, address: 0 };
        let good = TrmMergeInfo {
            count_a: count(10),
            count_b: count(20),
            keys_a: range(400, 40),
            values_a: range(440, 40),
            keys_b: range(480, 80),
            values_b: range(560, 80),
            keys_out: range(640, 120),
            values_out: range(760, 120),
            ..empty()
        };
        assert_eq!(faults(good), []);
        assert_eq!(faults(TrmMergeInfo { values_b: range(400, 80), ..good }), [], "inputs may overlap");
        assert_eq!(faults(TrmMergeInfo { keys_out: range(636, 120), ..good }), [OVERLAP]);
        assert_eq!(faults(TrmMergeInfo { keys_out: range(640, 119), ..good }), [SMALL]);
        assert_eq!(faults(TrmMergeInfo { keys_b: range(0, 80), ..good }), [NULL]);
        assert_eq!(faults(TrmMergeInfo { values_a: range(442, 40), ..good }), [MISALIGNED]);
        let most = TrmMergeInfo { count_b: count(u32::MAX), ..good };
        assert!(faults(most).contains(&LARGE), "the sum does not wrap");
        assert_eq!(faults(TrmMergeInfo { count_a: TrmCount { max: 10, address: 641 << 2 }, ..good }), []);
        assert_eq!(faults(TrmMergeInfo { count_a: TrmCount { max: 10, address: 640 }, ..good }), [OVERLAP]);
        let mut verdict = Verdict::default();
        judge_merge(&MergerModel::new(&TrmMergerCreateInfo { operation: 9, ..create }, false), &good, &mut verdict);
        assert_eq!(verdict.faults, [(LARGE, "countB.max of unique items")]);
    }
}
