//! Turns operations on tables into plans.

use super::HashOperation;
use super::format::Format;
use super::hasher::HashInfo;
use super::plan::HashTable;
use super::statistics::HashStatistics;
use crate::core::handle::{Handle, One, Options};
use crate::core::memory::{Access, Argument, Arguments, check_alignment, roles};
use crate::core::primitive::{Jobs, Planner};
use crate::core::scratch::Layout;
use crate::core::variants::{Counts, Recording, variants};
use crate::radix::Operation;
use crate::sort::Sorting;
use crate::{Count, Device, Error, Range, Result};

roles! {
    /// The arguments of an operation on a table.
    enum HashRole {
        Table = "table",
        Keys = "keys",
        Values = "values",
        ValuesOut = "valuesOut",
        Offsets = "offsets",
        Counts = "counts",
        Opcodes = "opcodes",
        Source = "source",
        Found = "found",
        Stencil = "stencil",
        LeftoverKeys = "leftoverKeys",
        LeftoverValues = "leftoverValues",
        Statistics = "statistics",
        Count = "count",
        Reserve = "reserve",
        LeftoverCount = "leftoverCount",
        CountOut = "countOut",
        Status = "status",
    }
}

/// The group of an operation. Each operation has dispatches of its own.
pub(crate) type Group = <Operation<Sorting> as Planner>::Group;

/// One operation on the tables of one format on one device. Immutable: record from many threads.
#[derive(Clone, Debug)]
pub(crate) struct HashPlanner {
    handle: Handle,
    format: Format,
    batches: bool,
    /// The sort of a batch by its hashes: see [`Format::sort`]. A planner without pipelines: they are the handle's.
    sort: Operation<Sorting>,
    sorts: bool,
}

impl HashPlanner {
    /// Creates every pipeline that the operation may need, or names them for [`Handle::compile`].
    pub(crate) fn new(device: &Device, format: Format, Options { batches, deferred }: Options) -> Result<Self> {
        let sorter = format.sort();
        let sort = Operation::part(device, sorter.unwrap_or_default().format()?, Sorting);
        let mut planner = Self { handle: Handle::new(device), format, batches, sort, sorts: sorter.is_some() };
        planner.handle = Handle::complete(&planner, planner.variants()?, deferred)?;
        Ok(planner)
    }

    pub(crate) fn format(&self) -> &Format {
        &self.format
    }

    /// The sort of a batch, if there is one.
    pub(crate) fn sort(&self) -> Option<&Operation<Sorting>> {
        self.sorts.then_some(&self.sort)
    }

    pub(super) fn variants(&self) -> Result<Vec<crate::core::pipelines::Variant>> {
        let ends = |alone| self.sort().into_iter().flat_map(move |sort| sort.plan_ends(alone));
        let counts = Counts { ends, most: self.format.max_count };
        variants(self.batches, &counts, |Recording { alone, another }, count, visit| {
            if another {
                return Ok(());
            }
            let job = One::new(self, self.largest(count));
            visit(&self.lay_out(self.group(count, alone), &job, 0, &mut Layout::default())?)
        })
    }
}

impl Planner for HashPlanner {
    type Kind = (HashInfo, HashRole);
    type Group = Group;
    type Table<'a> = HashTable<'a>;

    fn handle(&self) -> &Handle {
        &self.handle
    }

    fn allows_batches(&self) -> bool {
        self.batches
    }

    fn check_count(&self, max_count: u32) -> Result<()> {
        let (value, limit) = (u64::from(max_count), u64::from(self.format.max_count));
        let why = "the hasher's maxCount";
        if value > limit { Err(Error::TooLarge { argument: "count.max", value, limit, why }) } else { Ok(()) }
    }

    fn arguments(&self, info: &HashInfo) -> Arguments<HashRole> {
        let Format { key_words, value_words, operation, .. } = self.format;
        let items = u64::from(info.count.max);
        let array = |range: Range, words: u32| Range::new(range.address, items * u64::from(4 * words));
        let wanted = |range: Range, words: u32| if range == Range::NONE { range } else { array(range, words) };
        let word = |address| Range::new(address, if address == 0 { 0 } else { 4 });
        let when = |is_used: bool, range: Range| if is_used { range } else { Range::NONE };
        let is_retrieval = operation == HashOperation::Retrieve;
        let is_mixed = operation == HashOperation::Mixed;
        let is_export = operation.exports();
        let values =
            if operation.writes_values() { wanted(info.values, value_words) } else { array(info.values, value_words) };
        let bits = |range: Range| Range::new(range.address, items.div_ceil(32) * 4);
        let found = if info.found == Range::NONE { Range::NONE } else { bits(info.found) };
        let [has_keys, has_count] = [operation.has_keys(), operation.has_count()];
        let values_out = match operation {
            HashOperation::FindOrInsert | HashOperation::Mixed => wanted(info.values_out, value_words),
            HashOperation::Retrieve if info.values_out != Range::NONE => {
                Range::new(info.values_out.address, u64::from(info.max_values) * u64::from(4 * value_words))
            }
            _ => Range::NONE,
        };
        let offsets = Range::new(info.offsets.address, (items + 1) * 4);
        let source = Range::new(info.source.address, self.format.table_bytes(info.source_capacity));
        let statistics = Range::new(info.statistics.address, size_of::<HashStatistics>() as u64);
        let [inserts, reads_values] = [operation.inserts(), operation.reads_values()];
        let has_leftover_values = operation.has_leftover_values();
        let all = [
            (HashRole::Table, Range::new(info.table.address, self.format.table_bytes(info.capacity)), false),
            (HashRole::Keys, when(has_keys, array(info.keys, key_words)), is_export),
            (HashRole::Values, when(operation.writes_values() || reads_values, values), operation.writes_values()),
            (HashRole::ValuesOut, values_out, true),
            (HashRole::Offsets, when(is_retrieval, offsets), true),
            (HashRole::Counts, when(operation == HashOperation::Count, array(info.counts, 1)), true),
            (HashRole::Opcodes, when(is_mixed, array(info.opcodes, 1)), false),
            (HashRole::Source, when(operation == HashOperation::Rehash, source), false),
            (HashRole::Found, when(operation.finds(), found), true),
            (HashRole::Stencil, when(self.format.stencil, bits(info.stencil)), false),
            (HashRole::LeftoverKeys, when(inserts, wanted(info.leftover_keys, key_words)), true),
            (HashRole::LeftoverValues, when(has_leftover_values, wanted(info.leftover_values, value_words)), true),
            (HashRole::Statistics, when(operation == HashOperation::Statistics, statistics), true),
            (HashRole::Count, when(has_keys, word(info.count.address)), false),
            (HashRole::Reserve, when(operation == HashOperation::Resize, word(info.reserve.address)), false),
            (HashRole::LeftoverCount, when(inserts, word(info.leftover_count)), true),
            (HashRole::CountOut, when(is_export || is_retrieval, word(info.count_out)), true),
            (HashRole::Status, when(has_count, word(info.status)), true),
        ];
        let access = |role, written| match role {
            HashRole::Table if self.format.concurrent => Access::Shared,
            HashRole::Table => Access::writing(operation.writes_table()),
            _ => Access::writing(written),
        };
        all.into_iter().map(|(role, range, written)| Argument { role, range, access: access(role, written) }).collect()
    }

    fn check(&self, info: &HashInfo, arguments: &Arguments<HashRole>) -> Result<()> {
        let operation = self.format.operation;
        self.format.check_capacity(info.capacity)?;
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.into() });
        if self.format.resizable && info.min_capacity > info.capacity {
            let (value, limit) = (info.min_capacity.into(), info.capacity.into());
            return Err(Error::TooLarge { argument: "minCapacity", value, limit, why: "the capacity" });
        }
        if operation == HashOperation::Rehash {
            self.format.check_size("sourceCapacity", info.source_capacity)?;
        }
        if !operation.has_count() && info.count != Count::default() {
            return malformed("count", &format!("{operation:?} has no keys"));
        }
        if operation.has_count() && !operation.reads_keys() && info.count.address != 0 {
            return malformed("count", &format!("the count of {operation:?} is on the host"));
        }
        let lists = [
            ("leftoverKeys", info.leftover_keys, operation.inserts()),
            ("leftoverValues", info.leftover_values, operation.has_leftover_values()),
        ];
        for (argument, range, is_used) in lists {
            if range != Range::NONE && is_used && info.leftover_count == 0 {
                return malformed(argument, "their number has no place: leftoverCount is 0");
            }
        }
        check_alignment("count.address", info.count.address)?;
        check_alignment("reserve.address", info.reserve.address)?;
        check_alignment("status", info.status)?;
        check_alignment("leftoverCount", info.leftover_count)?;
        check_alignment("countOut", info.count_out)?;
        let is_retrieval = operation == HashOperation::Retrieve;
        let max_count = Some(u64::from(info.count.max));
        let given = [
            (HashRole::Table, info.table, 16, None),
            (HashRole::Keys, info.keys, 4, max_count),
            (HashRole::Values, info.values, 4, max_count),
            (HashRole::ValuesOut, info.values_out, 4, if is_retrieval { None } else { max_count }),
            (HashRole::Offsets, info.offsets, 4, max_count),
            (HashRole::Counts, info.counts, 4, max_count),
            (HashRole::Opcodes, info.opcodes, 4, max_count),
            (HashRole::Source, info.source, 16, None),
            (HashRole::Found, info.found, 4, max_count),
            (HashRole::Stencil, info.stencil, 4, max_count),
            (HashRole::LeftoverKeys, info.leftover_keys, 4, max_count),
            (HashRole::LeftoverValues, info.leftover_values, 4, max_count),
            (HashRole::Statistics, info.statistics, 4, None),
        ];
        for (argument, (role, range, alignment, max_count)) in arguments.iter().zip(given) {
            debug_assert!(argument.role == role, "the ranges are in the order of the arguments");
            let names = crate::core::memory::Role::names(role);
            range.check(*names, alignment, argument.range.size, max_count)?;
        }
        Ok(())
    }

    fn group(&self, max_count: u32, alone: bool) -> Group {
        self.sort.group(if self.sorts { max_count } else { 0 }, alone)
    }

    fn shares(_group: &Group) -> bool {
        false
    }

    fn lay_out<'a>(
        &'a self,
        group: Group,
        jobs: &'a dyn Jobs<Self::Kind>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<HashTable<'a>> {
        let mut info = HashInfo::default();
        jobs.for_each(&mut |job| info = *job);
        HashTable::new(self, &mut info, group, scratch, layout)
    }

    fn largest(&self, max_count: u32) -> HashInfo {
        // Neither passes nor scratch depend on the capacity.
        let count =
            if self.format.operation.reads_keys() { Count::device(4, max_count) } else { Count::host(max_count) };
        HashInfo { capacity: 1, source_capacity: 1, count, status: 4, ..HashInfo::default() }
    }

    fn range_ends(&self, alone: bool) -> impl Iterator<Item = u32> {
        self.sort().into_iter().flat_map(move |sort| sort.range_ends(alone))
    }
}
