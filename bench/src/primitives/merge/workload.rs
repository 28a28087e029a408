//! One merge, or a batch of merges: handle, arguments, check.

use super::handle::{Comparing, MASK, MergeStep};
use crate::arrays::{ArrayInfo, Contents, Memory, Table};
use crate::handles::Handles;
use crate::inputs::{Keys, Source};
use crate::items::{INDEX, Items, KEYS, VALUES, check_sorted};
use crate::key_order::KeyOrder;
use crate::problems::{BatchStep, Problems};
use crate::verify::Column;
use crate::workload::{Operation, Step, Workload};
use std::iter::repeat_n;
use std::ops::Range;
use std::sync::Arc;
use trommel::merge::cpu::{self, Tagged};
use trommel::{
    Count, MergeInfo, MergeOperation, MergeSegments, MergeSequence, Merger, MergerInfo, Placement,
    Range as DeviceRange, Request, SOURCE_B, ValueType, batch_scratch_size,
};

// Numbers of tables: the counts of sequences on the device.
const COUNT_A: usize = 0;
const COUNT_B: usize = 1;
/// The number of the table with the number of items of a set operation's or an update's result.
const COUNT_OUT: usize = 2;
// Numbers of the tables with the offsets of segments in both sequences, and with the marks of an update.
const OFFSETS: [usize; 2] = [3, 4];
const MARKS: usize = 5;

/// One in so many items of A is marked, of an update.
const MARKED: u32 = 100;

/// How the items of a merge are divided between A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Division {
    /// In halves. B has one more of an odd number.
    Halves,
    /// B is empty.
    AllInA,
    /// B has a hundredth of the items of A. The size of the case is that of A.
    Delta,
    /// In so many equal parts: A, B, and further sequences.
    Parts(u32),
}

/// Merges of keys that are drawn, then sorted within each sequence, or searches. The items of a problem are those of A,
/// followed by those of B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    info: MergerInfo,
    keys: Keys,
    division: Division,
    problems: Problems,
    /// The keys of A are in random order: needles of a search.
    is_unsorted: bool,
    /// Items of a segment in each sequence; 0: there are no segments.
    segment: u32,
    /// The order is that of a comparator.
    compares: bool,
}

/// The items of A in the arrays of a case, and those of B and further sequences.
type Sequences = [Range<u32>; 2];

impl Merge {
    /// One merge of two halves of random keys.
    pub(super) fn new(info: MergerInfo) -> Self {
        let (keys, division, problems) = (Keys::Random, Division::Halves, Problems::One);
        Self { info, keys, division, problems, is_unsorted: false, segment: 0, compares: false }
    }

    /// The same of segments with so many items in each sequence.
    pub(super) fn segments(self, items: u32) -> Self {
        Self { info: self.info.segmented(), segment: items, ..self }
    }

    /// The same by a comparator with the same order.
    pub(super) fn compared(self) -> Self {
        Self { compares: true, ..self }
    }

    /// The same search of needles in random order.
    pub(super) fn unsorted(self) -> Self {
        Self { is_unsorted: true, ..self }
    }

    /// The same of other keys.
    pub(super) fn of(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }

    /// The same with the items divided otherwise.
    pub(super) fn divided(self, division: Division) -> Self {
        Self { division, ..self }
    }

    /// The same in so many equal parts.
    pub(super) fn parts(self, parts: u32) -> Self {
        Self { info: self.info.sequences(parts), ..self.divided(Division::Parts(parts)) }
    }

    /// The same of other problems.
    pub(super) fn problems(self, problems: Problems) -> Self {
        Self { problems, ..self }
    }

    fn items(&self) -> Items {
        let MergerInfo { key, mut value, mut drop_keys, layout, operation, .. } = self.info;
        if operation.is_search() {
            // Bounds are laid out as indices are.
            (value, drop_keys) = (ValueType::Index, true);
        }
        Items { key, value, drop_keys, layout, placement: Placement::Preserve }
    }

    fn merger_info(&self) -> MergerInfo {
        MergerInfo { batches: matches!(self.problems, Problems::Batch(_)), ..self.info }
    }

    /// The items of each problem of a case of size `n`.
    fn ranges(&self, n: u32) -> Vec<Range<u32>> {
        self.problems.ranges(self.item_count(n))
    }

    /// The sequences of each problem of a case of size `n`.
    fn sequences(&self, n: u32) -> Vec<Sequences> {
        let divide = |problem: Range<u32>| {
            let items = problem.end - problem.start;
            let of_a = match self.division {
                Division::Halves => items / 2,
                Division::AllInA => items,
                Division::Delta => n.min(items),
                Division::Parts(parts) => items / parts,
            };
            let end_a = problem.start + of_a;
            [problem.start..end_a, end_a..problem.end]
        };
        self.ranges(n).into_iter().map(divide).collect()
    }

    /// The items of B and of further sequences.
    fn after_a(&self, items: &Range<u32>) -> Vec<Range<u32>> {
        let parts = if let Division::Parts(parts) = self.division { parts - 1 } else { 1 };
        let len = u64::from(items.end - items.start);
        let end = |part: u32| {
            let part = len * u64::from(part) / u64::from(parts);
            items.start + u32::try_from(part).expect("a part is no longer than the whole")
        };
        (0..parts).map(|part| end(part)..end(part + 1)).collect()
    }

    /// The lengths of all parts of the keys that are sorted.
    fn sorted_lengths(&self, n: u32) -> Vec<u32> {
        let lengths = |[a, b]: Sequences| {
            let after_a = self.after_a(&b).into_iter().map(|items| items.end - items.start);
            let [a, b] = [a, b].map(|items| items.end - items.start);
            if self.segment != 0 {
                return self.segment_lengths(a).chain(self.segment_lengths(b)).collect::<Vec<_>>();
            }
            let (parts, length) = if self.is_unsorted { (a, 1) } else { (1, a) };
            repeat_n(length, parts as usize).chain(after_a).collect()
        };
        self.sequences(n).into_iter().flat_map(lengths).collect()
    }

    /// The lengths of the segments of a sequence: the last one may be shorter, or empty.
    fn segment_lengths(&self, items: u32) -> impl Iterator<Item = u32> + use<> {
        let segment = self.segment;
        (0..=items / segment).map(move |index| segment.min(items - index * segment))
    }

    /// The offsets of the segments of a sequence.
    fn offsets(&self, items: u32) -> Vec<u32> {
        let ends = self.segment_lengths(items).scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        std::iter::once(0).chain(ends).collect()
    }

    /// The marks of an update: a bit for each item of A.
    fn marks(items: u32) -> Vec<u32> {
        let word = |word: u32| (0..32).fold(0, |bits, bit| bits | u32::from(Self::is_marked(32 * word + bit)) << bit);
        (0..items.div_ceil(32)).map(word).collect()
    }

    fn is_marked(index: u32) -> bool {
        index.is_multiple_of(MARKED)
    }

    /// Whether only the device knows how many items the result has.
    fn is_sized_by_device(&self) -> bool {
        self.info.operation.is_set_operation() || self.info.operation.is_update()
    }

    /// The items of the result, by the twin.
    fn result(&self, sequences: &Sequences, item: impl Fn(u32) -> Tagged<u128, u32>) -> Vec<Tagged<u128, u32>> {
        let operation = self.info.operation;
        let items = |items: Range<u32>| items.map(&item).collect::<Vec<_>>();
        if operation.is_set_operation() {
            let [a, b] = sequences.clone().map(items);
            return cpu::set_operation(operation, &a, &b);
        }
        let segments = |sequence: &Range<u32>| -> Vec<Range<u32>> {
            let offsets = match self.segment {
                0 => vec![0, sequence.end - sequence.start],
                _ => self.offsets(sequence.end - sequence.start),
            };
            offsets.windows(2).map(|ends| sequence.start + ends[0]..sequence.start + ends[1]).collect()
        };
        let [a, b] = sequences;
        let is_left = |index: &u32| !operation.is_update() || !Self::is_marked(index - a.start);
        let merge = |(of_a, of_b): (Range<u32>, Range<u32>)| {
            let left: Vec<_> = of_a.filter(is_left).map(&item).collect();
            cpu::merge_sequential(&left, &items(of_b))
        };
        segments(a).into_iter().zip(segments(b)).flat_map(merge).collect()
    }

    /// Compares the bounds of all needles with those by a binary search.
    fn check_bounds(&self, n: u32, contents: &Contents) -> Result<(), String> {
        let comparison = self.items().compare(self.ranges(n), contents)?;
        let (keys, bounds) = (comparison.keys()?, comparison.output.values.as_ref().ok_or("no bounds")?);
        let MergerInfo { key, order, operation, .. } = self.info;
        let order = KeyOrder { key, order, begin_bit: 0, end_bit: 0 };
        let number = |index: u32| order.number(keys.item(index as usize));
        for [a, b] in self.sequences(n) {
            for index in a {
                let needle = number(index);
                let (mut low, mut high) = (b.start, b.end);
                while low < high {
                    let middle = low + (high - low) / 2;
                    let counts = match operation {
                        MergeOperation::LowerBound => number(middle) < needle,
                        _ => number(middle) <= needle,
                    };
                    if counts { low = middle + 1 } else { high = middle }
                }
                let (found, expected) = (bounds.item(index as usize).next(), low - b.start);
                if found != Some(expected) {
                    return Err(format!("bound {index} is {found:?}, not {expected}"));
                }
            }
        }
        Ok(())
    }

    /// Compares the result of a set operation, an update or a merge of segments with that of the twin.
    fn check_by_twin(&self, n: u32, contents: &Contents) -> Result<(), String> {
        let comparison = self.items().compare(self.ranges(n), contents)?;
        let MergerInfo { key, order, .. } = self.info;
        let (keys, order) = (comparison.keys()?, KeyOrder { key, order, begin_bit: 0, end_bit: 0 });
        let Ok([sequences]) = <[Sequences; 1]>::try_from(self.sequences(n)) else {
            return Err("several problems are not checked".into());
        };
        let result = self.result(&sequences, |index| Tagged(order.number(keys.item(index as usize)), index));
        let columns =
            [(&comparison.input.keys, &comparison.output.keys), (&comparison.input.values, &comparison.output.values)];
        for (found, Tagged(_, index)) in result.iter().enumerate() {
            for (input, output) in columns {
                let (Some(input), Some(output)) = (input, output) else { continue };
                if !output.item(found).eq(input.item(*index as usize)) {
                    return Err(format!("item {found} of the result is not item {index}"));
                }
            }
        }
        if !self.is_sized_by_device() {
            return Ok(());
        }
        let written = contents.tables.get(COUNT_OUT).and_then(Option::as_ref).and_then(|words| words.first());
        if written.map(|count| *count as usize) != Some(result.len()) {
            return Err(format!("{written:?} items are counted, not {}", result.len()));
        }
        Ok(())
    }

    /// The indices that a merge writes if it moves every item to its own index: those of each sequence count from 0.
    fn indices(&self, n: u32) -> Column {
        let problems = self.sequences(n);
        let of_a = |a: &Range<u32>| 0..a.end - a.start;
        let of_b = |b: &Range<u32>| (0..b.end - b.start).map(|index| index | SOURCE_B);
        let words: Vec<u32> = problems.iter().flat_map(|[a, b]| of_a(a).chain(of_b(b))).collect();
        Column { words: Arc::new(words), first: 0, stride: 4, size: 4 }
    }
}

/// Bytes an item of a merge, which reads and writes all items once.
fn bytes(info: &MergerInfo) -> u32 {
    let (key, value) = (info.key.size(), info.value.size());
    if info.operation.is_set_operation() {
        // As the peers count: the items of both sequences are read. How many are written depends on the keys.
        return key + value;
    }
    if info.operation.is_search() {
        // All keys are read. Half of the items are needles, each with a bound.
        return key + INDEX / 2;
    }
    let unread = if info.value == ValueType::Index { INDEX } else { 0 };
    let unwritten = if info.drop_keys { key } else { 0 };
    2 * (key + value) - unread - unwritten
}

impl Workload for Merge {
    fn bytes_per_item(&self) -> u32 {
        bytes(&self.info)
    }

    fn item_count(&self, n: u32) -> u32 {
        if self.division == Division::Delta { n.saturating_add(n.div_ceil(100)) } else { n }
    }

    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        let info = self.merger_info();
        let merger = if self.compares { handles.get(Comparing(info)) } else { handles.get(info) };
        Ok(Box::new(MergeWork { merge: *self, n, merger: merger? }))
    }

    /// A merge is a stable sort of A followed by B.
    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        if self.info.operation.is_search() {
            return self.check_bounds(n, contents);
        }
        if self.is_sized_by_device() || self.segment != 0 {
            return self.check_by_twin(n, contents);
        }
        let mut comparison = self.items().compare(self.ranges(n), contents)?;
        if self.info.value == ValueType::Index {
            comparison.values_are_indices = false;
            comparison.input.values = Some(self.indices(n));
        }
        let MergerInfo { key, order, .. } = self.info;
        check_sorted(&comparison, &KeyOrder { key, order, begin_bit: 0, end_bit: 0 })
    }

    fn with_keys(&self, keys: Keys) -> Arc<dyn Workload> {
        Arc::new(self.of(keys))
    }

    fn batch(&self, groups: &'static [(u32, u32)]) -> Option<Arc<dyn Workload>> {
        Some(Arc::new(self.problems(Problems::Batch(groups))))
    }
}

struct MergeWork {
    merge: Merge,
    n: u32,
    merger: Merger,
}

impl MergeWork {
    /// Items that the arrays have room for.
    fn capacity(&self) -> u32 {
        self.merge.problems.capacity(self.merge.item_count(self.n))
    }

    /// The sequences after A and B.
    fn more(&self, memory: &Memory, [_, after_a]: &Sequences) -> Vec<MergeSequence> {
        let sequence = |items: &Range<u32>| MergeSequence {
            count: Count::host(items.end - items.start),
            keys: memory.part(KEYS, 0, items),
            values: memory.part(VALUES, 0, items),
        };
        self.merge.after_a(after_a).iter().skip(1).map(sequence).collect()
    }

    /// The arguments of one problem. The parts of sequences overlap where their maximum exceeds their count. `more`:
    /// the sequences after A and B.
    fn info<'a>(&self, memory: &Memory, [a, b]: &Sequences, more: &'a [MergeSequence]) -> MergeInfo<'a> {
        let problems = self.merge.problems;
        let room = |items: &Range<u32>| items.start..items.start + problems.capacity(items.end - items.start);
        let count = |table, items: &Range<u32>| {
            let max = problems.capacity(items.end - items.start);
            let indirect = matches!(problems, Problems::Indirect { .. });
            if indirect { Count::device(memory.table(table).address, max) } else { Count::host(max) }
        };
        let output = room(&(a.start..b.end));
        let after_a = self.merge.after_a(b);
        let Some(b) = after_a.first() else { unreachable!("B follows A") };
        let is_update = self.merge.info.operation.is_update();
        let mut segments = MergeSegments::default();
        if self.merge.segment != 0 {
            let [offsets_a, offsets_b] = OFFSETS.map(|table| memory.table(table));
            let count = u32::try_from(offsets_a.size.min(offsets_b.size) / 4 - 1).unwrap_or(u32::MAX);
            segments =
                MergeSegments { count: Count::host(count), offsets_a, offsets_b, offsets_out: DeviceRange::NONE };
        }
        MergeInfo {
            count_a: count(COUNT_A, a),
            count_b: count(COUNT_B, b),
            keys_a: memory.part(KEYS, 0, &room(a)),
            values_a: memory.part(VALUES, 0, &room(a)),
            keys_b: memory.part(KEYS, 0, &room(b)),
            values_b: memory.part(VALUES, 0, &room(b)),
            more,
            keys_out: memory.part(KEYS, 1, &output),
            values_out: memory.part(VALUES, 1, &output),
            scratch: memory.scratch(),
            count_out: if self.merge.is_sized_by_device() { memory.table(COUNT_OUT).address } else { 0 },
            segments,
            marks: if is_update { memory.table(MARKS) } else { DeviceRange::NONE },
            user_words: if self.merge.compares { MASK } else { [0; 4] },
            ..MergeInfo::default()
        }
    }

    fn requests<'a>(&'a self, info: impl Fn(&Sequences) -> MergeInfo<'a>) -> Vec<Request<'a>> {
        self.merge.sequences(self.n).iter().map(|problem| Request::Merge(&self.merger, info(problem))).collect()
    }
}

impl Operation for MergeWork {
    fn arrays(&self) -> Vec<ArrayInfo> {
        let [keys, values] = self.merge.items().arrays(self.merge.keys, self.capacity());
        vec![ArrayInfo { sequences: self.merge.sorted_lengths(self.n), ..keys }, values]
    }

    fn tables(&self, _inputs: &[Option<Arc<Source>>]) -> Vec<Table> {
        let is_update = self.merge.info.operation.is_update();
        if self.merge.is_sized_by_device() || self.merge.segment != 0 {
            let lengths = self.merge.sequences(self.n)[0].clone().map(|items| items.end - items.start);
            let offsets =
                |items| if self.merge.segment == 0 { Table::Absent } else { Table::Input(self.merge.offsets(items)) };
            let marks = if is_update { Table::Input(Merge::marks(lengths[0])) } else { Table::Absent };
            let [of_a, of_b] = lengths.map(offsets);
            return vec![Table::Absent, Table::Absent, Table::Output(1), of_a, of_b, marks];
        }
        let Problems::Indirect { .. } = self.merge.problems else { return Vec::new() };
        let lengths = self.merge.sequences(self.n).into_iter().flatten().map(|items| items.end - items.start);
        lengths.map(|items| Table::Input(vec![items])).collect()
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        let Problems::Batch(_) = self.merge.problems else { return self.merger.scratch_size(self.capacity()) };
        let count = |items: &Range<u32>| Count::host(items.end - items.start);
        batch_scratch_size(&self.requests(|[a, b]| MergeInfo {
            count_a: count(a),
            count_b: count(b),
            ..MergeInfo::default()
        }))
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        if let Problems::Batch(_) = self.merge.problems {
            let requests = self.requests(|problem| self.info(memory, problem, &[]));
            return vec![Box::new(BatchStep { requests, scratch: memory.scratch() })];
        }
        let step = |problem: &Sequences| -> Box<dyn Step + 'a> {
            let more = self.more(memory, problem);
            Box::new(MergeStep { merger: &self.merger, info: self.info(memory, problem, &[]), more })
        };
        self.merge.sequences(self.n).iter().map(step).collect()
    }

    fn output_sides(&self) -> Vec<usize> {
        vec![1; 2]
    }
}

#[cfg(test)]
mod tests;
