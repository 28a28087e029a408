//! Merges as problems: their requests, and their expected results by the standard library.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use crate::common::comparator::Comparator;
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys, bytes_of, number};
use crate::common::problem::{Array, Places, Problem};
use ash::vk;
use std::ops::Range;
use trommel::{
    Layout, MergeInfo, MergeOperation, MergeSegments, Merger, MergerInfo, Request, Result, SOURCE_B,
    STATUS_COUNT_CLAMPED, ValueType,
};

/// Segments of A and of B.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    /// One more than segments.
    pub(crate) offsets: [Vec<u32>; 2],
    pub(crate) count: Counted,
}

/// One merge.
#[derive(Clone)]
pub(crate) struct Job<'a> {
    pub(crate) merger: &'a Merger,
    /// The keys of A and B, sorted. Their numbers are the maximum counts.
    pub(crate) keys: [Vec<Bits>; 2],
    pub(crate) counts: [Counted; 2],
    pub(crate) status: bool,
    pub(crate) segments: Option<Segments>,
    /// The marked items, for updates: a bit for each item of A, or for each value.
    pub(crate) marks: Vec<u32>,
    /// Whether the sequences are not sorted: the content of the outputs is undefined. Of a search: whether B is not.
    pub(crate) unsorted: bool,
    pub(crate) comparator: Option<Comparator>,
    /// How many bytes behind a multiple of 8 the keys of A, of B and of the output begin. None: any number.
    pub(crate) behind_8: Option<[usize; 3]>,
}

/// An item: its sequence (0: A, 1: B) and its index there.
type Source = (usize, usize);

impl<'a> Job<'a> {
    /// Sorts the keys of each sequence.
    pub(crate) fn new(merger: &'a Merger, keys: [Vec<Bits>; 2]) -> Self {
        let (counts, marks) = ([Counted::Host; 2], Vec::new());
        let (status, segments, unsorted, comparator, behind_8) = (false, None, false, None, None);
        Self { merger, keys, counts, status, segments, marks, unsorted, comparator, behind_8 }.sorted()
    }

    /// The same merge with keys in other places.
    pub(crate) fn behind_8(self, bytes: [usize; 3]) -> Self {
        Self { behind_8: Some(bytes), ..self }
    }

    fn sorted(mut self) -> Self {
        let mut keys = std::mem::take(&mut self.keys);
        keys.iter_mut().for_each(|keys| keys.sort_unstable_by_key(|bits| self.number(*bits)));
        Self { keys, ..self }
    }

    /// The same merge of a merger with this comparator.
    pub(crate) fn compared(self, comparator: Comparator) -> Self {
        Self { comparator: Some(comparator), ..self }.sorted()
    }

    /// Returns the number of a key: keys compare as their numbers.
    fn number(&self, bits: Bits) -> Bits {
        let MergerInfo { key, order, .. } = *self.merger.info();
        let own = || number(key, order, bits);
        self.comparator.as_ref().map_or_else(own, |comparator| comparator.rank(bits))
    }

    /// The same merge of segments. The keys of each segment are sorted.
    pub(crate) fn cut(mut self, offsets: [Vec<u32>; 2], count: Counted) -> Self {
        self.segments = Some(Segments { offsets, count });
        let segments = self.segments();
        let mut keys = std::mem::take(&mut self.keys);
        for segment in segments {
            for (keys, items) in keys.iter_mut().zip(segment) {
                keys[items].sort_unstable_by_key(|bits| self.number(*bits));
            }
        }
        Self { keys, ..self }
    }

    /// The same update with marked items.
    pub(crate) fn marked(self, marks: Vec<u32>) -> Self {
        Self { marks, ..self }
    }

    pub(crate) fn draw(merger: &'a Merger, keys: Keys, [a, b]: [usize; 2], seed: u64) -> Self {
        let key = merger.info().key;
        Self::new(merger, [keys.draw(key, a, seed), keys.draw(key, b, seed + 1)])
    }

    /// The same merge of keys that are not sorted. Unique items are determined in any order.
    pub(crate) fn unsorted(self, keys: [Vec<Bits>; 2]) -> Self {
        Self { keys, unsorted: self.merger.info().operation != MergeOperation::Unique, ..self }
    }

    /// The same merge with its counts in device memory and a status word.
    pub(crate) fn counted(self, counts: [Counted; 2]) -> Self {
        Self { counts, status: true, ..self }
    }

    /// Items of a sequence, or their maximum.
    fn most(&self, side: usize) -> usize {
        self.keys[side].len()
    }

    /// Items of both sequences, or their maximum.
    pub(crate) fn max(&self) -> u32 {
        (self.most(0) + self.most(1)) as u32
    }

    /// The number of items of a sequence that are merged.
    fn count(&self, side: usize) -> usize {
        self.counts[side].on_device().map_or(usize::MAX, |count| count as usize).min(self.most(side))
    }

    /// The number of segments.
    fn segment_count(&self) -> usize {
        let Some(Segments { offsets, count }) = &self.segments else { return 1 };
        count.on_device().map_or(usize::MAX, |count| count as usize).min(offsets[0].len() - 1)
    }

    /// The items of A and of B in each segment, or all items.
    fn segments(&self) -> Vec<[Range<usize>; 2]> {
        let Some(Segments { offsets, .. }) = &self.segments else {
            return vec![[0, 1].map(|side| 0..self.count(side))];
        };
        let start = |side: usize, segment: usize| match segment {
            0 => 0,
            _ => self.most(side).min(offsets[side][segment] as usize),
        };
        let segment = |s: usize| [0, 1].map(|side| start(side, s)..start(side, s + 1));
        (0..self.segment_count()).map(segment).collect()
    }

    fn is_marked(&self, (side, index): Source) -> bool {
        if side == 1 || !self.merger.info().operation.is_update() {
            return false;
        }
        let bit = match self.merger.info().operation {
            MergeOperation::UpdateByValue => self.markable_value(index),
            _ => index,
        };
        self.marks.get(bit / 32).is_some_and(|word| word >> (bit % 32) & 1 != 0)
    }

    /// The value of an item of A, if values are marked: each value once, in falling order.
    fn markable_value(&self, index: usize) -> usize {
        self.most(0) - 1 - index
    }

    fn is_clamped(&self) -> bool {
        if let Some(Segments { offsets, count }) = &self.segments {
            let last = self.segment_count();
            let ends_past = |side: usize| last != 0 && offsets[side][last] as usize > self.most(side);
            let most = offsets[0].len() - 1;
            return count.on_device().is_some_and(|count| count as usize > most) || ends_past(0) || ends_past(1);
        }
        (0..2).any(|side| self.counts[side].on_device().is_some_and(|count| count as usize > self.most(side)))
    }

    /// The source of each item of the output: of a stable sort of A followed by B, those that the operation selects.
    fn order(&self) -> Vec<Source> {
        self.segments().into_iter().flat_map(|items| self.order_of(items)).collect()
    }

    /// The same of one segment.
    fn order_of(&self, items: [Range<usize>; 2]) -> Vec<Source> {
        let operation = self.merger.info().operation;
        let sources = items.into_iter().enumerate().flat_map(|(side, items)| items.map(move |index| (side, index)));
        let mut all: Vec<Source> = sources.filter(|source| !self.is_marked(*source)).collect();
        let number = |(side, index): &Source| self.number(self.keys[*side][*index]);
        if operation == MergeOperation::Unique {
            all.dedup_by_key(|source| number(source));
            return all;
        }
        all.sort_by_key(number);
        if !operation.is_set_operation() {
            return all;
        }
        all.chunk_by(|one, other| number(one) == number(other)).flat_map(|copies| select(operation, copies)).collect()
    }

    /// Items of the result.
    fn written(&self) -> usize {
        if self.merger.info().operation.is_search() { self.count(0) } else { self.order().len() }
    }

    /// The bounds of the keys of A in B, by the standard library.
    fn bounds(&self) -> Vec<u32> {
        let operation = self.merger.info().operation;
        let numbers = |side: usize| -> Vec<_> {
            self.keys[side][..self.count(side)].iter().map(|bits| self.number(*bits)).collect()
        };
        let [needles, sequence] = [numbers(0), numbers(1)];
        let bound = |needle| match operation {
            MergeOperation::LowerBound => sequence.partition_point(|key| key < needle),
            _ => sequence.partition_point(|key| key <= needle),
        };
        needles.iter().map(|needle| bound(needle) as u32).collect()
    }

    /// The arrays of a search: keys and bounds.
    fn bounds_arrays(&self, index: usize) -> Vec<Array> {
        let mut all: Vec<Array> = self.columns(index)[0].inputs().collect();
        let mut output = Array::input("values out", 4, vec![0xcd; 4 * self.most(0)]);
        let bounds = bytemuck::cast_slice(&self.bounds()).to_vec();
        output.expected[..bounds.len()].copy_from_slice(&bounds);
        output.undefined = if self.unsorted { bounds.len() / 4 } else { 0 };
        all.push(output);
        all
    }

    /// The most items that an output has room for.
    fn room(&self) -> usize {
        let [a, b] = [self.most(0), self.most(1)];
        match self.merger.info().operation {
            MergeOperation::Intersection => a.min(b),
            MergeOperation::Difference => a,
            _ => a + b,
        }
    }

    fn value_size(&self) -> usize {
        self.merger.info().value.size() as usize
    }

    /// The values of both sequences, different for all items and problems; or the indices of items.
    fn values(&self, problem: usize) -> [Vec<u8>; 2] {
        [0, 1].map(|side| {
            let words = self.most(side) * self.value_size() / 4;
            if self.merger.info().operation == MergeOperation::UpdateByValue && side == 0 {
                return (0..words).flat_map(|index| (self.markable_value(index) as u32).to_le_bytes()).collect();
            }
            let first = match (self.merger.info().value, side) {
                (ValueType::Index, 0) => 0,
                (ValueType::Index, _) => SOURCE_B,
                _ => 0x0100_0000_u32.wrapping_mul(2 * problem as u32 + side as u32 + 1),
            };
            (0..words as u32).flat_map(|word| first.wrapping_add(word).to_le_bytes()).collect()
        })
    }

    /// The arrays of keys, of values, or of both interleaved, each with the names of A, B and the output.
    fn columns(&self, problem: usize) -> Vec<Column> {
        let info = self.merger.info();
        let (key_size, value_size) = (info.key.size() as usize, self.value_size());
        let (keys, values) = ([0, 1].map(|side| bytes_of(&self.keys[side], key_size)), self.values(problem));
        let of_keys = |size, items| Column { roles: ["keys a", "keys b", "keys out"], size, items };
        if info.layout == Layout::Interleaved {
            let items = [0, 1].map(|side| {
                let pairs = keys[side].chunks_exact(key_size).zip(values[side].chunks_exact(value_size));
                pairs.flat_map(|(key, value)| [key, value].concat()).collect()
            });
            return vec![of_keys(key_size + value_size, items)];
        }
        let mut columns = vec![of_keys(key_size, keys)];
        if value_size != 0 {
            columns.push(Column { roles: ["values a", "values b", "values out"], size: value_size, items: values });
        }
        columns
    }

    fn merge_arrays(&self, index: usize) -> Vec<Array> {
        let (info, order) = (self.merger.info(), self.order());
        let mut all = Vec::new();
        for (nth, column) in self.columns(index).iter().enumerate() {
            let is_read = nth == 0 || info.value != ValueType::Index;
            let is_written = nth == 1 || !info.drop_keys;
            all.extend(column.inputs().filter(|_| is_read));
            // Unsorted sequences may have any result.
            let undefined = match self.unsorted {
                false => 0,
                true if self.may_write_all() => self.room(),
                true => order.len(),
            };
            all.extend(is_written.then(|| Array { undefined, ..column.output(self.room(), &order) }));
        }
        all
    }

    /// Whether items of sequences, or segments, that are not sorted may be written to the whole output: only the device
    /// knows how many there are.
    fn may_write_all(&self) -> bool {
        let MergerInfo { operation, segmented, .. } = *self.merger.info();
        operation.is_set_operation() || operation.is_update() || segmented
    }

    /// The arrays of segments, of marks, and of a comparator.
    fn detail_arrays(&self) -> Vec<Array> {
        let mut all = Vec::new();
        if let Some(Segments { offsets, count }) = &self.segments {
            all.extend(count.array("segment count"));
            all.push(Array::words("offsets a", &offsets[0]));
            all.push(Array::words("offsets b", &offsets[1]));
            let starts = self.segments().into_iter().scan(0, |start, items| {
                *start += self.order_of(items).len() as u32;
                Some(*start)
            });
            let starts: Vec<u32> = std::iter::once(0).chain(starts).collect();
            let mut array = Array::input("offsets out", 4, vec![0xcd; 4 * offsets[0].len()]);
            array.expected[..4 * starts.len()].copy_from_slice(bytemuck::cast_slice(&starts));
            array.undefined = if self.unsorted { starts.len() } else { 0 };
            all.push(array);
        }
        if self.merger.info().operation.is_update() {
            all.push(Array::words("marks", &self.marks));
        }
        all.extend(self.comparator.as_ref().and_then(Comparator::array));
        all
    }

    /// The info of the merge with its arrays at `places`.
    pub(crate) fn info(&self, places: &Places) -> MergeInfo<'static> {
        MergeInfo {
            count_a: places.count("count a", self.most(0) as u32),
            count_b: places.count("count b", self.most(1) as u32),
            keys_a: places.range("keys a"),
            values_a: places.range("values a"),
            keys_b: places.range("keys b"),
            values_b: places.range("values b"),
            keys_out: places.range("keys out"),
            values_out: places.range("values out"),
            segments: self.segments.as_ref().map_or_else(MergeSegments::default, |segments| MergeSegments {
                count: places.count("segment count", segments.offsets[0].len() as u32 - 1),
                offsets_a: places.range("offsets a"),
                offsets_b: places.range("offsets b"),
                offsets_out: places.range("offsets out"),
            }),
            marks: places.range("marks"),
            user_address: places.address("user data"),
            user_words: self.comparator.as_ref().map_or([0; 4], |comparator| comparator.words),
            scratch: places.scratch,
            status: places.address("status"),
            count_out: places.address("count out"),
            ..MergeInfo::default()
        }
    }
}

/// Of all copies of a key, those of A first: the ones in the result, as the standard library of C++ states.
fn select(operation: MergeOperation, copies: &[Source]) -> Vec<Source> {
    let (of_a, of_b) = copies.split_at(copies.iter().filter(|(side, _)| *side == 0).count());
    let pairs = of_a.len().min(of_b.len());
    match operation {
        MergeOperation::Union => [of_a, &of_b[pairs..]].concat(),
        MergeOperation::Intersection => of_a[..pairs].to_vec(),
        MergeOperation::Difference => of_a[pairs..].to_vec(),
        _ => [&of_a[pairs..], &of_b[pairs..]].concat(),
    }
}

/// The items of both sequences in one array each, and in the output.
struct Column {
    roles: [&'static str; 3],
    /// Size of an item, in bytes.
    size: usize,
    items: [Vec<u8>; 2],
}

impl Column {
    fn inputs(&self) -> impl Iterator<Item = Array> {
        (0..2).map(|side| Array::input(self.roles[side], self.size, self.items[side].clone()))
    }

    fn output(&self, room: usize, order: &[Source]) -> Array {
        let mut array = Array::input(self.roles[2], self.size, vec![0xcd; room * self.size]);
        for (target, (side, index)) in array.expected.chunks_exact_mut(self.size).zip(order) {
            target.copy_from_slice(&self.items[*side][index * self.size..][..self.size]);
        }
        array
    }
}

impl Problem for Job<'_> {
    fn arrays(&self, index: usize) -> Vec<Array> {
        let info = self.merger.info();
        let is_search = info.operation.is_search();
        let mut all = if is_search { self.bounds_arrays(index) } else { self.merge_arrays(index) };
        let roles = ["count a", "count b"];
        all.extend(self.counts.iter().zip(roles).filter_map(|(count, role)| count.array(role)));
        all.extend(self.status.then(|| Array::status(if self.is_clamped() { STATUS_COUNT_CLAMPED } else { 0 })));
        all.extend(self.detail_arrays());
        // Where only the device knows the number, always; otherwise with a status.
        if self.status || self.may_write_all() {
            let count = (self.written() as u32).to_le_bytes();
            let mut array = Array::input("count out", 4, vec![0xcd; 4]);
            array.expected.copy_from_slice(&count);
            array.undefined = usize::from(self.unsorted && self.may_write_all());
            all.push(array);
        }
        if let Some(bytes) = self.behind_8 {
            for (role, bytes) in ["keys a", "keys b", "keys out"].into_iter().zip(bytes) {
                all.iter_mut().filter(|array| array.role == role).for_each(|array| array.behind_8 = Some(bytes));
            }
        }
        all
    }

    fn scratch_size(&self) -> u64 {
        self.merger.scratch_size(self.max()).expect("counts are small")
    }

    fn begins_with_transfer(&self) -> bool {
        let MergerInfo { operation, segmented, .. } = *self.merger.info();
        operation.is_update() || segmented || self.comparator.is_some()
    }

    fn request(&self, places: &Places) -> Request<'_> {
        Request::Merge(self.merger, self.info(places))
    }

    unsafe fn record(&self, commands: vk::CommandBuffer, places: &Places) -> Result<()> {
        // SAFETY: as the caller's.
        unsafe { self.merger.cmd_merge(commands, &self.info(places)) }
    }
}
