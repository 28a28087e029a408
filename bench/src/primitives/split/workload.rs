//! One split, or a segmented split: handle, arguments, check.

use super::buckets::range_width;
use super::check::{BucketTable, check, starts_in_reverse};
use super::handle::SplitStep;
use super::info::items;
use crate::arrays::{ArrayInfo, Contents, Memory, Table};
use crate::handles::Handles;
use crate::inputs::{Keys, Source};
use crate::items::{INDEX, KEYS, VALUES};
use crate::problems::{Problems, max_count};
use crate::verify::Column;
use crate::workload::{Operation, Step, Workload};
use std::sync::Arc;
use trommel::{BucketFunction, SplitInfo, SplitOutput, Splitter, SplitterInfo, ValueType};

// Numbers of tables, after those of the problems.
const SPLITTERS: usize = 2;
const STARTS: usize = 3;
const BUCKETS: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    info: SplitterInfo,
    keys: Keys,
    problems: Problems,
}

impl Split {
    /// One split of random keys.
    pub(super) fn new(info: SplitterInfo) -> Self {
        Self { info, keys: Keys::Random, problems: Problems::One }
    }

    /// The same split of other keys.
    pub(super) fn of(self, keys: Keys) -> Self {
        Self { keys, ..self }
    }

    /// The same split of other problems.
    pub(super) fn problems(self, problems: Problems) -> Self {
        Self { problems, ..self }
    }

    fn splitter_info(&self, n: u32) -> SplitterInfo {
        SplitterInfo { max_count: max_count(self.problems.capacity(n)), ..self.info }
    }
}

/// Bytes an item of a split, which reads keys once to count them, then reads and writes all items once. More than 256
/// buckets take two passes. Ranks and placed buckets need no counting pass; of one bucket alone, 1/m of the items is
/// written.
pub(super) fn bytes(info: &SplitterInfo) -> u32 {
    let (key, value) = (info.key.size(), info.value.size());
    let unread = if info.value == ValueType::Index { INDEX } else { 0 };
    let unwritten = if info.drop_keys { key } else { 0 };
    let passes = if info.buckets > 256 { 2 } else { 1 };
    match info.output {
        SplitOutput::Counts => key,
        SplitOutput::Ranks => key + INDEX,
        SplitOutput::Bucket(_) => key + value - unread + (key + value - unwritten) / info.buckets,
        SplitOutput::Placed => 2 * (key + value) - unread - unwritten,
        _ => key + 2 * passes * (key + value) - unread - unwritten,
    }
}

impl Workload for Split {
    fn bytes_per_item(&self) -> u32 {
        match self.problems {
            // A workgroup reads and writes the items of a short segment once.
            Problems::Segments(_) => 2 * (self.info.key.size() + self.info.value.size()),
            _ => bytes(&self.info),
        }
    }

    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        Ok(Box::new(SplitOperation { split: *self, n, splitter: handles.get(self.splitter_info(n))? }))
    }

    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        let table = contents.tables.get(BUCKETS).and_then(Option::as_deref);
        check(&self.info, self.problems.ranges(n), contents, table)
    }

    fn with_keys(&self, keys: Keys) -> Arc<dyn Workload> {
        Arc::new(self.of(keys))
    }
}

struct SplitOperation {
    split: Split,
    n: u32,
    splitter: Splitter,
}

impl SplitOperation {
    fn capacity(&self) -> u32 {
        self.split.problems.capacity(self.n)
    }
}

impl Operation for SplitOperation {
    fn arrays(&self) -> Vec<ArrayInfo> {
        items(&self.split.info).arrays(self.split.keys, self.capacity()).into()
    }

    fn tables(&self, inputs: &[Option<Arc<Source>>]) -> Vec<Table> {
        let Split { info, problems, .. } = self.split;
        let mut tables: Vec<_> = problems.tables(self.n).into();
        tables.push(match info.function {
            BucketFunction::Splitters => Table::Input((1..info.buckets).map(|i| i * range_width(&info)).collect()),
            _ => Table::Absent,
        });
        let size = info.key.size() as usize;
        tables.push(match inputs.get(KEYS) {
            Some(Some(source)) if info.output == SplitOutput::Placed => {
                let keys = Column { words: source.host.clone(), first: 0, stride: size, size };
                Table::Input(starts_in_reverse(&info, &keys, self.n))
            }
            _ => Table::Absent,
        });
        // Counts leave the last word of each problem as it is.
        tables.push(Table::Output(problems.ranges(self.n).len() as u64 * u64::from(info.buckets + 1)));
        tables
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        self.splitter.scratch_size(self.capacity())
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        let Split { info, problems, .. } = &self.split;
        let buckets = memory.table(BUCKETS);
        let (offsets, counts) = match BucketTable::of(info) {
            BucketTable::Offsets => (buckets, trommel::Range::NONE),
            BucketTable::Counts => (trommel::Range::NONE, buckets),
        };
        let info = SplitInfo {
            count: problems.count(self.n, memory),
            segments: problems.segments(memory),
            width: if info.function == BucketFunction::Range { range_width(info).into() } else { 0 },
            splitters: memory.table(SPLITTERS),
            starts: memory.table(STARTS),
            offsets,
            counts,
            ..arguments(memory, 0)
        };
        vec![Box::new(SplitStep { splitter: &self.splitter, info, capacity: self.capacity() })]
    }

    fn output_sides(&self) -> Vec<usize> {
        vec![1; 2]
    }
}

/// Arrays and scratch of a split from buffers `from` to the others.
pub(super) fn arguments(memory: &Memory, from: usize) -> SplitInfo {
    let to = 1 - from;
    SplitInfo {
        keys: memory.whole(KEYS, from),
        values: memory.whole(VALUES, from),
        keys_out: memory.whole(KEYS, to),
        values_out: memory.whole(VALUES, to),
        scratch: memory.scratch(),
        ..SplitInfo::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_keys_need_handles_of_their_own() {
        let info = SplitterInfo::keys(32, BucketFunction::Bits { begin_bit: 27 });
        let split = Split::new(info);
        assert_eq!(split.splitter_info(1 << 30), info);
        let more = SplitterInfo { max_count: u32::MAX, ..info };
        assert_eq!(split.splitter_info((1 << 30) + 1), more);
        assert_eq!(
            split.problems(Problems::Indirect { max_factor: 32 }).splitter_info(1 << 26),
            more,
            "the maximum decides"
        );
    }
}
