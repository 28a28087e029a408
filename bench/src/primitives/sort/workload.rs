//! One sort, a segmented sort or a batch of sorts: handles, arguments, check.

use super::handle::{Comparing, MASK, SortStep};
use crate::arrays::{ArrayInfo, Contents, Memory, Table};
use crate::handles::Handles;
use crate::inputs::{Keys, Source};
use crate::items::{INDEX, Items, KEYS, MAX_MOVED_VALUE, VALUES, check_sorted};
use crate::key_order::KeyOrder;
use crate::problems::{BatchStep, Problems, max_count};
use crate::workload::{Operation, Step, Workload};
use std::ops::Range;
use std::sync::Arc;
use trommel::{Count, Request, Segments, SortInfo, Sorter, SorterInfo, ValueType, batch_scratch_size};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sort {
    info: SorterInfo,
    keys: Keys,
    problems: Problems,
    /// The order is that of a comparator.
    compares: bool,
}

impl Sort {
    /// One sort of random keys.
    pub(crate) fn new(info: SorterInfo) -> Self {
        Self { info, keys: Keys::Random, problems: Problems::One, compares: false }
    }

    /// The same sort by a comparator with the same order.
    pub(crate) fn compared(self) -> Self {
        Self { compares: true, ..self }
    }

    /// The same sort of other keys.
    pub(crate) fn of(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }

    /// The same sort of other problems.
    pub(crate) fn problems(self, problems: Problems) -> Self {
        Self { problems, ..self }
    }

    fn items(&self) -> Items {
        let SorterInfo { key, value, drop_keys, layout, placement, .. } = self.info;
        Items { key, value, drop_keys, layout, placement }
    }

    fn sorter_info(&self, n: u32) -> SorterInfo {
        let batches = matches!(self.problems, Problems::Batch(_));
        SorterInfo { max_count: max_count(self.problems.capacity(n)), batches, ..self.info }
    }
}

/// Bytes an item of a sort, which reads keys once for the histograms, then reads and writes all items once a digit.
/// Long values are read and written once, at the end; their indices move instead.
pub(crate) fn bytes(info: &SorterInfo) -> u32 {
    let (key, value) = (info.key.size(), info.value.size());
    let end_bit = if info.end_bit == 0 { info.key.bits() } else { info.end_bit };
    let digits = (end_bit - info.begin_bit).div_ceil(8);
    let gathered = if value > MAX_MOVED_VALUE { value } else { 0 };
    let moved = if gathered != 0 { INDEX } else { value };
    // The first pass knows each index without reading it. The last pass writes no dropped keys.
    let unread = if info.value == ValueType::Index { INDEX } else { 0 };
    let unwritten = if info.drop_keys { key } else { 0 };
    key + 2 * digits * (key + moved) + 2 * gathered - unread - unwritten
}

impl Workload for Sort {
    fn bytes_per_item(&self) -> u32 {
        match self.problems {
            // A workgroup reads and writes the items of a short segment once.
            Problems::Segments(_) => 2 * (self.info.key.size() + self.info.value.size()),
            // As sorts without a comparator: the number of levels depends on the count.
            _ => bytes(&self.info),
        }
    }

    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        let info = self.sorter_info(n);
        let sorter = if self.compares { handles.get(Comparing(info)) } else { handles.get(info) };
        Ok(Box::new(SortOperation { sort: *self, n, sorter: sorter? }))
    }

    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        let comparison = self.items().compare(self.problems.ranges(n), contents)?;
        let SorterInfo { key, order, begin_bit, end_bit, .. } = self.info;
        check_sorted(&comparison, &KeyOrder { key, order, begin_bit, end_bit })
    }

    fn with_keys(&self, keys: Keys) -> Arc<dyn Workload> {
        Arc::new(self.of(keys))
    }

    fn batch(&self, groups: &'static [(u32, u32)]) -> Option<Arc<dyn Workload>> {
        Some(Arc::new(Self::new(self.info).problems(Problems::Batch(groups))))
    }
}

struct SortOperation {
    sort: Sort,
    n: u32,
    sorter: Sorter,
}

impl SortOperation {
    fn capacity(&self) -> u32 {
        self.sort.problems.capacity(self.n)
    }

    /// The arguments of one problem.
    fn info(&self, memory: &Memory, problem: &Range<u32>) -> SortInfo {
        let problems = self.sort.problems;
        let indirect = matches!(problems, Problems::Indirect { .. });
        let range = |array, side| if indirect { memory.whole(array, side) } else { memory.part(array, side, problem) };
        let batch = matches!(problems, Problems::Batch(_));
        SortInfo {
            count: if batch { Count::host(problem.end - problem.start) } else { problems.count(self.n, memory) },
            keys: range(KEYS, 0),
            values: range(VALUES, 0),
            keys_out: range(KEYS, 1),
            values_out: range(VALUES, 1),
            segments: if batch { Segments::default() } else { problems.segments(memory) },
            user_words: if self.sort.compares { MASK } else { [0; 4] },
            scratch: memory.scratch(),
            ..SortInfo::default()
        }
    }

    fn requests(&self, info: impl Fn(&Range<u32>) -> SortInfo) -> Vec<Request<'_>> {
        self.sort.problems.ranges(self.n).iter().map(|problem| Request::Sort(&self.sorter, info(problem))).collect()
    }
}

impl Operation for SortOperation {
    fn arrays(&self) -> Vec<ArrayInfo> {
        self.sort.items().arrays(self.sort.keys, self.capacity()).into()
    }

    fn tables(&self, _inputs: &[Option<Arc<Source>>]) -> Vec<Table> {
        self.sort.problems.tables(self.n).into()
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        let Problems::Batch(_) = self.sort.problems else { return self.sorter.scratch_size(self.capacity()) };
        let count = |problem: &Range<u32>| Count::host(problem.end - problem.start);
        batch_scratch_size(&self.requests(|problem| SortInfo { count: count(problem), ..SortInfo::default() }))
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        if let Problems::Batch(_) = self.sort.problems {
            let requests = self.requests(|problem| self.info(memory, problem));
            return vec![Box::new(BatchStep { requests, scratch: memory.scratch() })];
        }
        let all = Range { start: 0, end: self.n };
        vec![Box::new(SortStep { sorter: &self.sorter, info: self.info(memory, &all), capacity: self.capacity() })]
    }

    fn output_sides(&self) -> Vec<usize> {
        vec![usize::from(self.sorter.result_side() != 0); 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::KeyType;

    #[test]
    fn many_keys_need_handles_of_their_own() {
        let info = SorterInfo { key: KeyType::U64, ..SorterInfo::keys() };
        let sort = Sort::new(info);
        assert_eq!(sort.sorter_info(1 << 30), info);
        assert_eq!(sort.sorter_info((1 << 30) + 1), SorterInfo { max_count: u32::MAX, ..info });
        assert_eq!(sort.problems(Problems::Batch(&[(1, 1)])).sorter_info(1), info.batches());
    }

    #[test]
    fn keys_are_compared_by_the_sorted_bits() {
        let words = |words: &[u32]| vec![Some(Arc::new(words.to_vec()))];
        let check = |output: &[u32]| {
            let sort = Sort::new(SorterInfo { begin_bit: 8, end_bit: 12, ..SorterInfo::keys() });
            sort.check(
                3,
                &Contents { inputs: words(&[0x2ff, 0x101, 0x1100]), outputs: words(output), tables: Vec::new() },
            )
        };
        assert_eq!(check(&[0x101, 0x1100, 0x2ff]), Ok(()));
        assert_eq!(check(&[0x101, 0x2ff, 0x1100]), Err("key 1 is 0x000002ff, not 0x00001100".into()));
    }

    #[test]
    fn batches_of_pairs_are_checked_as_pairs() {
        let batch = Sort::new(SorterInfo::pairs()).of(Keys::Constant).batch(&[(1, 2)]).unwrap();
        assert!(
            batch.check(2, &Contents { outputs: vec![Some(Arc::new(vec![0, 0]))], ..Contents::default() }).is_err()
        );
    }
}
