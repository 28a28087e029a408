//! One operation on a table with its handles: arrays, small tables, arguments.

use super::action::{Action, Hashing};
use super::handle::HashStep;
use super::layout::{
    BLOCK, COUNT_OUT, EARLIER_KEYS, EARLIER_VALUES, FOUND, KEYS, LEFTOVERS, MOST_SELECTED, NUMBERS, OPCODES, QUERIES,
    RESULTS, STATISTICS, STENCIL, TABLE, TARGET, VALUES, narrow,
};
use crate::arrays::{ArrayInfo, Memory, Table};
use crate::handles::Handles;
use crate::inputs::{Content, Field, Keys, Source};
use crate::workload::{Operation, Step};
use std::sync::Arc;
use trommel::{Count, HashInfo, HashOperation, HashStatistics, Hasher, HasherInfo, Range};

/// An operation on a table with its handles.
pub(super) struct HashWork {
    work: Hashing,
    n: u32,
    clearer: Hasher,
    inserter: Hasher,
    hasher: Hasher,
    /// Those of [`Hashing::inspections`].
    inspectors: Vec<Hasher>,
}

impl HashWork {
    pub(super) fn new(work: Hashing, n: u32, handles: &mut Handles) -> trommel::Result<Self> {
        let mut hasher = |operation| handles.get(work.hasher_info(n, operation));
        Ok(Self {
            work,
            n,
            clearer: hasher(HashOperation::Clear)?,
            inserter: hasher(HashOperation::Insert)?,
            inspectors: work.inspections().iter().map(|operation| hasher(*operation)).collect::<Result<_, _>>()?,
            hasher: {
                let info = work.hasher_info(n, work.operation());
                handles.get(HasherInfo { concurrent: work.concurrent, stencil: work.stencil, ..info })?
            },
        })
    }

    /// The table before the operation.
    fn before(&self, memory: &Memory) -> HashInfo {
        HashInfo {
            table: memory.whole(TABLE, 0),
            capacity: self.work.capacity(self.n),
            min_capacity: self.work.min_capacity(self.n),
            scratch: memory.scratch(),
            ..HashInfo::default()
        }
    }

    /// The table that the operation reads or leaves.
    fn table(&self, memory: &Memory) -> HashInfo {
        let before = self.before(memory);
        match self.work.action {
            Action::Rehash => {
                HashInfo { table: memory.whole(TARGET, 0), capacity: self.work.slots_after(self.n), ..before }
            }
            _ => before,
        }
    }

    /// Bits for keys that are looked up, if the check reads them.
    fn found(&self, memory: &Memory) -> Range {
        if self.work.has_bits() { memory.table(FOUND) } else { Range::NONE }
    }

    /// The timed operation, or an inspection.
    fn step<'a>(&self, hasher: &'a Hasher, memory: &Memory) -> Box<dyn Step + 'a> {
        let (keys, queries) = self.work.queries(self.n);
        let table = self.table(memory);
        let of_table = HashInfo { count: Count::host(self.n), max_value: MOST_SELECTED.into(), ..table };
        let stencil = memory.whole(STENCIL, 0);
        let search = HashInfo { count: Count::host(queries), keys: memory.whole(keys, 0), stencil, ..table };
        let batch = HashInfo {
            keys: memory.whole(KEYS, 0),
            values: memory.whole(VALUES, 0),
            opcodes: memory.whole(OPCODES, 0),
            stencil,
            leftover_count: memory.table(LEFTOVERS).address,
            ..of_table
        };
        let results = memory.whole(RESULTS, 1);
        let info = match hasher.info().operation {
            HashOperation::Clear => table,
            HashOperation::Statistics => HashInfo { statistics: memory.table(STATISTICS), ..table },
            HashOperation::Find => HashInfo { values: results, found: self.found(memory), ..search },
            HashOperation::Count => HashInfo { counts: memory.table(NUMBERS), ..search },
            HashOperation::Retrieve => HashInfo {
                offsets: memory.table(NUMBERS),
                values_out: results,
                max_values: self.n,
                count_out: memory.table(COUNT_OUT).address,
                ..search
            },
            HashOperation::Export | HashOperation::ExportIf => HashInfo {
                keys: memory.whole(KEYS, 1),
                values: results,
                count_out: memory.table(COUNT_OUT).address,
                ..of_table
            },
            HashOperation::EraseIf => of_table,
            HashOperation::Rehash => {
                HashInfo { source: memory.whole(TABLE, 0), source_capacity: self.work.capacity(self.n), ..batch }
            }
            HashOperation::Resize => HashInfo { reserve: Count::host(self.work.reserve(self.n)), ..batch },
            HashOperation::FindOrInsert | HashOperation::Mixed => {
                HashInfo { values_out: results, found: self.found(memory), ..batch }
            }
            _ => batch,
        };
        Box::new(HashStep { hasher, info })
    }

    /// An array that is restored before each run. None: without items.
    fn input(content: Option<Content>, size: u32, items: u32) -> ArrayInfo {
        let Some(content) = content.filter(|_| items != 0 && size != 0) else { return ArrayInfo::default() };
        let fields = vec![Field { content, size }];
        ArrayInfo { fields, ..Self::array(size, [true, false], items) }
    }

    /// An array without an input.
    fn array(stride: u32, sides: [bool; 2], items: u32) -> ArrayInfo {
        if items == 0 || stride == 0 {
            return ArrayInfo::default();
        }
        ArrayInfo { stride, sides, capacity: items, items: Some(items), ..ArrayInfo::default() }
    }

    /// A table with room for so many keys.
    fn slots(&self, capacity: u32) -> ArrayInfo {
        Self::array(BLOCK, [true, false], narrow(self.clearer.table_size(capacity) / u64::from(BLOCK)))
    }
}

impl Operation for HashWork {
    fn arrays(&self) -> Vec<ArrayInfo> {
        let (work, n) = (&self.work, self.n);
        let (key, value) = (work.info.key.size(), work.info.value.size());
        let earlier = work.earlier(n);
        let values = Some(Content::Values);
        let keys = match work.keys(n) {
            _ if work.operation().exports() => Self::array(key, [true, true], n),
            keys => Self::input(keys.map(Content::Keys), key, n),
        };
        let (queried, queries) = work.queries(n);
        let queries = if queried == QUERIES { queries } else { 0 };
        vec![
            keys,
            Self::input(values, if work.operation().reads_values() { value } else { 0 }, n),
            Self::input(Some(Content::Keys(work.earlier_keys(n))), key, earlier),
            Self::input(values, value, earlier),
            self.slots(work.capacity(n)),
            Self::array(value, [false, true], work.results(n)),
            // The number i is key i.
            Self::input(Some(Content::Keys(Keys::Copies(1))), key, queries),
            if work.action == Action::Rehash { self.slots(work.slots_after(n)) } else { ArrayInfo::default() },
            Self::input(values, 4, if work.action == Action::Mixed { n } else { 0 }),
            Self::input(values, 4, if work.stencil { n.div_ceil(32) } else { 0 }),
        ]
    }

    fn tables(&self, _inputs: &[Option<Arc<Source>>]) -> Vec<Table> {
        let (work, (_, queries)) = (&self.work, self.work.queries(self.n));
        let output = |exists: bool, words: u32| if exists { Table::Output(words.into()) } else { Table::Absent };
        let operation = work.operation();
        let has_numbers = work.runs(HashOperation::Count) || work.runs(HashOperation::Retrieve);
        vec![
            output(work.has_bits(), queries.div_ceil(32)),
            output(operation.inserts(), 1),
            output(work.runs(HashOperation::Statistics), narrow(size_of::<HashStatistics>() as u64 / 4)),
            output(has_numbers, queries + 1),
            output(operation.exports() || operation == HashOperation::Retrieve, 1),
        ]
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        if self.work.action == Action::Clear {
            return Ok(0);
        }
        let mut most = self.inserter.scratch_size(self.work.earlier(self.n))?;
        for hasher in self.inspectors.iter().chain([&self.hasher]) {
            most = most.max(hasher.scratch_size(self.n)?);
        }
        Ok(most)
    }

    fn preparation<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        let before = self.before(memory);
        let clear = HashStep { hasher: &self.clearer, info: before };
        let earlier = self.work.earlier(self.n);
        let info = HashInfo {
            count: Count::host(earlier),
            keys: memory.whole(EARLIER_KEYS, 0),
            values: memory.whole(EARLIER_VALUES, 0),
            ..before
        };
        let insert = (earlier != 0).then_some(HashStep { hasher: &self.inserter, info });
        [Some(clear), insert].into_iter().flatten().map(|step| -> Box<dyn Step + 'a> { Box::new(step) }).collect()
    }

    fn steps<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        vec![self.step(&self.hasher, memory)]
    }

    fn inspection<'a>(&'a self, memory: &'a Memory) -> Vec<Box<dyn Step + 'a>> {
        self.inspectors.iter().map(|inspector| self.step(inspector, memory)).collect()
    }

    fn output_sides(&self) -> Vec<usize> {
        // A table is only read where it is cleared: its layout is the library's.
        let table = if self.work.action == Action::Clear { 0 } else { 1 };
        vec![1, 1, 1, 1, table, 1, 1, 1, 1, 1]
    }
}
