//! The plan of an operation on a table.

use super::compaction::Compaction;
use super::export::Export;
use super::format::Format;
use super::hasher::HashInfo;
use super::linear::LinearChange;
use super::mixed::Mixed;
use super::planner::{Group, HashPlanner};
use super::resize::Decision;
use super::slices::{BucketedChange, Slices};
use super::statistics::HashStatistics;
use super::values::ValuesOfKeys;
use super::{HashOperation, HashScheme};
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, Plan, Push, Resources};
use crate::core::primitive::{PlanSource, Planner as _};
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::radix::MOST_GROUPS_Y;
use crate::shared::{
    Constant, HashFindProblem, HashFindPush, HashHeader, HashProblem, HashPush, HashStatisticsProblem,
    HashStatisticsPush, SLICE_SLOTS, SharedStruct,
};
use crate::tuning::Profile;
use crate::{Count, Error, Result};
use std::mem::offset_of;

pub(super) const WORD: u64 = 4;

/// Items or blocks of 16 bytes of a thread, in passes that only stream.
pub(super) const STREAMED_ITEMS: u32 = 4;

/// An operation on a table, laid out in scratch.
// No table lies on the heap.
#[allow(clippy::large_enum_variant, reason = "plans are built on the stack")]
pub(crate) enum HashTable<'a> {
    /// A search, statistics, or clearing: no batch changes the table.
    Constant(Steps<'a>),
    Export(Export<'a>),
    Change(Composition<'a>),
    Mixed(Mixed<'a>),
    Values(ValuesOfKeys<'a>),
}

/// A change with the source of its keys, and the search that follows if the operation finds as well.
pub(crate) struct Composition<'a> {
    source: Source,
    change: Change<'a>,
    search: Option<Search>,
}

/// A batch of keys that changes a table.
#[allow(clippy::large_enum_variant, reason = "as above")]
pub(crate) enum Change<'a> {
    Bucketed(BucketedChange<'a>),
    Linear(LinearChange<'a>),
}

/// A change by items in the order of their hashes: it needs no sort.
pub(super) enum OrderedChange<'a> {
    Bucketed(Slices<'a>),
    Linear(LinearChange<'a>),
}

/// The source of the keys of a change, in addresses: the steps of its passes follow from those of the change.
enum Source {
    Batch,
    /// The keys of the batch that a stencil selects.
    Stencil(Compaction),
    /// The keys of the table with values in a range.
    Selection {
        cursor: u64,
        values: [u64; 2],
    },
    /// Another table. Then the table is cleared.
    Table {
        cursor: u64,
        address: u64,
        slices: u32,
        first_slices: u32,
    },
    /// The table itself, if it is decided to move: then it is exported, and cleared with the new number of slots.
    Resize {
        decision: Decision,
        cursor: u64,
    },
}

/// The addresses of the results of a search for all keys of a batch.
pub(super) struct Search {
    pub(super) values: u64,
    pub(super) found: u64,
}

/// What all operations have in common.
#[derive(Clone, Copy)]
pub(crate) struct Steps<'a> {
    pub(super) planner: &'a HashPlanner,
    /// With the operation of these steps, which may be a part of the hasher's.
    format: Format,
    pub(super) problem: HashProblem,
    /// Addresses of arrays of the caller, or 0 for operations that do not use them.
    found: u64,
    pub(super) stencil: u64,
    statistics: u64,
    pub(super) scratch: u64,
}

impl<'a> HashTable<'a> {
    /// Lays out an operation in parts of scratch that `layout` allocates. A change replaces the arguments that name its
    /// keys, if these come from elsewhere.
    pub(crate) fn new(
        planner: &'a HashPlanner,
        info: &mut HashInfo,
        group: Group,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let format = planner.format();
        check_groups(planner.handle().device().profile(), format, info)?;
        let steps = |info: &HashInfo| Steps::new(planner, *format, info, scratch);
        Ok(match format.operation {
            HashOperation::Count | HashOperation::Retrieve => {
                Self::Values(ValuesOfKeys::new(steps(info), info, layout)?)
            }
            HashOperation::Clear => Self::Constant(steps(info).cleared(format.first_slices(info))),
            HashOperation::Mixed => Self::Mixed(Mixed::new(planner, info, group, scratch, layout)?),
            operation if operation.exports() => Self::Export(Export::new(steps(info), info, layout)?),
            operation if operation.changes() => Self::Change(Composition::new(planner, info, group, scratch, layout)?),
            _ => Self::Constant(steps(info)),
        })
    }
}

impl<'a> Composition<'a> {
    fn new(
        planner: &'a HashPlanner,
        info: &mut HashInfo,
        group: Group,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let format = planner.format();
        let words = [format.key_words, format.value_words];
        let finds = format.operation == HashOperation::FindOrInsert;
        let search = finds.then(|| Search::new(format, info));
        let mut requested = info.count.address;
        let source = match format.operation {
            HashOperation::Rehash => {
                let cursor = layout.range(scratch, WORD)?.address;
                requested = entries(info.source);
                in_scratch(info, words, requested, scratch, layout)?;
                let slices = format.slices_of(info.source_capacity);
                let first_slices = format.first_slices(info);
                Source::Table { cursor, address: info.source.address, slices, first_slices }
            }
            HashOperation::Resize => {
                let decision = Decision::new(format, info, scratch, layout)?;
                in_scratch(info, words, decision.key_count(), scratch, layout)?;
                // All keys of the table, if they are too many to move.
                requested = entries(info.table);
                Source::Resize { decision, cursor: layout.range(scratch, WORD)?.address }
            }
            HashOperation::EraseIf => {
                let cursor = layout.range(scratch, WORD)?.address;
                in_scratch(info, [format.key_words, 0], cursor, scratch, layout)?;
                requested = cursor;
                Source::Selection { cursor, values: [info.min_value, info.max_value] }
            }
            _ if format.stencil => Source::Stencil(Compaction::new(planner, info, scratch, layout)?),
            _ => Source::Batch,
        };
        let mut change = Steps::new(planner, format.of_change(), info, scratch);
        change.problem.requested = requested.into();
        let change = Change::new(change, info, group, layout)?;
        Ok(Self { source, change, search })
    }
}

impl Search {
    pub(super) fn new(format: &Format, info: &HashInfo) -> Self {
        let address = |range: Range| if range == Range::NONE { 0 } else { range.address };
        Self { values: if format.value_words == 0 { 0 } else { address(info.values_out) }, found: address(info.found) }
    }

    /// `batch`: the steps of a change of all keys.
    pub(super) fn add_to(&self, batch: &Steps<'_>, plan: &mut Plan<'_>) {
        let mut search = batch.as_operation(HashOperation::Find);
        search.problem.values = self.values.into();
        search.found = self.found;
        search.add_find(plan);
    }
}

/// The address of the number of keys of a table.
fn entries(table: Range) -> u64 {
    table.address.wrapping_add(offset_of!(HashHeader, entries) as u64)
}

/// Lets a change take its items from scratch. `count`: the address of their number.
pub(super) fn in_scratch(
    items: &mut HashInfo,
    [key_words, value_words]: [u32; 2],
    count: u64,
    scratch: u64,
    layout: &mut Layout,
) -> Result<()> {
    let max_count = items.count.max;
    let words = |words: u32| u64::from(max_count) * u64::from(words) * WORD;
    items.keys = layout.range(scratch, words(key_words))?;
    items.values = layout.range(scratch, words(value_words))?;
    items.count = Count::device(count, max_count);
    Ok(())
}

impl<'a> Change<'a> {
    fn new(steps: Steps<'a>, info: &HashInfo, group: Group, layout: &mut Layout) -> Result<Self> {
        Ok(match steps.format().scheme {
            HashScheme::Bucketed => Self::Bucketed(BucketedChange::new(steps, info, group, layout)?),
            HashScheme::Linear => Self::Linear(LinearChange::new(steps, layout)?),
        })
    }

    fn steps(&self) -> &Steps<'a> {
        match self {
            Self::Bucketed(change) => change.steps(),
            Self::Linear(change) => change.steps(),
        }
    }
}

impl<'a> OrderedChange<'a> {
    pub(super) fn new(steps: Steps<'a>, info: &HashInfo, layout: &mut Layout) -> Result<Self> {
        Ok(match steps.format().scheme {
            HashScheme::Bucketed => Self::Bucketed(Slices::ordered(steps, info, layout)?),
            HashScheme::Linear => Self::Linear(LinearChange::new(steps, layout)?),
        })
    }

    pub(super) fn steps(&self) -> &Steps<'a> {
        match self {
            Self::Bucketed(change) => change.steps(),
            Self::Linear(change) => change.steps(),
        }
    }

    /// Another change of as many items in the same parts of scratch. It has no status and no leftover items.
    pub(super) fn with_operation(&self, operation: HashOperation) -> Self {
        let steps = self.steps().as_operation(operation);
        match self {
            Self::Bucketed(change) => Self::Bucketed(change.with_steps(steps)),
            Self::Linear(change) => Self::Linear(change.with_steps(steps)),
        }
    }

    pub(super) fn add_passes(&self, plan: &mut Plan<'_>) {
        match self {
            Self::Bucketed(change) => change.add_passes(plan),
            Self::Linear(change) => change.add_passes(plan),
        }
    }
}

/// Checks that the largest dispatch has no more workgroups than a device takes.
fn check_groups(profile: &Profile, format: &Format, info: &HashInfo) -> Result<()> {
    let most = (u64::from(profile.max_groups_x) * MOST_GROUPS_Y).min(u64::from(u32::MAX) - MOST_GROUPS_Y);
    // Clearing has the most: a thread for each 16 bytes or more.
    let least_threads = u64::from(profile.plain_threads.min(SLICE_SLOTS));
    let source_capacity = if format.operation == HashOperation::Rehash { info.source_capacity } else { 0 };
    for (argument, capacity) in [("capacity", info.capacity), ("sourceCapacity", source_capacity)] {
        let blocks = format.table_bytes(capacity) / 16;
        if blocks / least_threads > most {
            let slot_bytes = u64::from(format.slot_words()) * WORD;
            let (value, limit) = (capacity.into(), most * least_threads * 16 / slot_bytes);
            return Err(Error::TooLarge { argument, value, limit, why: "the workgroups of one dispatch" });
        }
    }
    let groups = u64::from(info.count.max.div_ceil(profile.plain_threads));
    if groups > most {
        let (value, limit) = (info.count.max.into(), most * u64::from(profile.plain_threads));
        return Err(Error::TooLarge { argument: "count.max", value, limit, why: "the workgroups of one dispatch" });
    }
    Ok(())
}

/// The row of a request, without the members that its operation does not use.
fn problem(format: &Format, info: &HashInfo) -> HashProblem {
    let [inserts, reads_values] = [format.operation.inserts(), format.operation.reads_values()];
    let writes_values = format.operation.writes_values();
    let when = |is_used: bool, range: Range| if is_used && range != Range::NONE { range.address } else { 0 };
    let has_values = format.value_words != 0;
    HashProblem {
        keys: info.keys.address.into(),
        values: when((reads_values || writes_values) && has_values, info.values).into(),
        table: info.table.address.into(),
        count: info.count.address.into(),
        requested: info.count.address.into(),
        status: info.status.into(),
        leftover_keys: when(inserts, info.leftover_keys).into(),
        leftover_values: when(reads_values && has_values, info.leftover_values).into(),
        count_out: match format.operation {
            operation if operation.exports() => info.count_out,
            _ if inserts => info.leftover_count,
            _ => 0,
        }
        .into(),
        max_count: info.count.max,
        slices: format.slices_of(info.capacity),
    }
}

impl<'a> Steps<'a> {
    pub(super) fn new(planner: &'a HashPlanner, format: Format, info: &HashInfo, scratch: u64) -> Self {
        let when = |is_used: bool, range: Range| if is_used && range != Range::NONE { range.address } else { 0 };
        let found = when(format.operation == HashOperation::Find, info.found);
        let stencil = when(format.stencil, info.stencil);
        let statistics = when(format.operation == HashOperation::Statistics, info.statistics);
        Self { planner, format, problem: problem(&format, info), found, stencil, statistics, scratch }
    }

    /// Another operation on the keys of a change, without results of its own.
    fn as_operation(&self, operation: HashOperation) -> Self {
        let no_address = 0u64.into();
        let has_values = operation.reads_values() || operation.exports();
        let problem = HashProblem {
            values: if has_values { self.problem.values } else { no_address },
            status: no_address,
            leftover_keys: no_address,
            leftover_values: no_address,
            count_out: no_address,
            ..self.problem
        };
        Self { format: self.format.with_operation(operation), problem, ..*self }
    }

    /// The clearing of a table, which gets so many slices.
    fn cleared(&self, slices: u32) -> Self {
        let problem = HashProblem { slices, ..self.problem };
        Self { format: self.format.cleared(), problem, ..*self }
    }

    /// Push constants of an operation that does not change the table.
    pub(super) fn push(&self) -> HashPush {
        HashPush { problem: self.problem, scratch: self.scratch.into(), ..HashPush::default() }
    }

    /// The number of a part of scratch.
    pub(super) fn part_number(&self, address: u64) -> u32 {
        part_number(self.scratch, Range::new(address, WORD))
    }

    pub(super) fn format(&self) -> &Format {
        &self.format
    }

    pub(super) fn profile(&self) -> &Profile {
        self.planner.handle().device().profile()
    }

    pub(super) fn add_pass(
        &self,
        plan: &mut Plan<'_>,
        kernel: Kernel,
        threads: u32,
        groups: impl Into<Groups>,
        [reads, writes]: [Resources; 2],
        push: &impl SharedStruct,
    ) {
        let (profile, format) = (self.profile(), self.format());
        let is_free = profile.emulated_subgroups && kernel.emulated(true) == kernel;
        let lanes = if is_free { 0 } else { profile.lanes };
        let variant = Variant::new(kernel.emulated(profile.emulated_subgroups), |constant| match constant {
            Constant::Threads => threads,
            Constant::Lanes => lanes,
            Constant::Items => STREAMED_ITEMS,
            Constant::KeyWords => format.key_words,
            Constant::ValueWords => format.value_words,
            Constant::BeginBit => format.begin_bit().unwrap_or(u32::BITS),
            Constant::Change => format.change(),
            Constant::Concurrent => format.concurrent.into(),
            Constant::Multimap => format.multimap.into(),
            Constant::Resizable => format.resizable.into(),
            Constant::MaxGroupsX => profile.max_groups_x,
            Constant::Selects => format.operation.selects().into(),
            Constant::Stencil => format.stencil.into(),
            Constant::BySlot => format.by_slot.into(),
            // Kernels of tables declare no others.
            _ => 0,
        });
        let variant = plan.add_variant(&variant);
        plan.add_pass(variant, groups.into(), Push::new(kernel, push), reads, writes);
    }
}

/// Adds resources, of which those without bytes are left out.
pub(super) fn set(plan: &mut Plan<'_>, resources: &[(&'static str, Range)]) -> Resources {
    let used = resources.iter().filter(|(_, range)| range.size != 0);
    used.fold(Resources::default(), |all, (name, range)| all.union(Resources::of(&[plan.add_resource(name, *range)])))
}

/// A word of the caller; none if the address is null.
pub(super) fn word(address: impl Into<u64>) -> Range {
    of_caller(address.into(), WORD)
}

fn of_caller(address: u64, bytes: u64) -> Range {
    Range::new(address, if address == 0 { 0 } else { bytes })
}

impl Steps<'_> {
    /// Bytes of so many words for each key.
    pub(super) fn bytes(&self, words: u32) -> u64 {
        u64::from(self.problem.max_count) * WORD * u64::from(words)
    }

    /// Bytes of a bit for each key.
    pub(super) fn bytes_of_bits(&self) -> u64 {
        u64::from(self.problem.max_count.div_ceil(32)) * WORD
    }

    /// An array of the caller with so many words for each key.
    pub(super) fn array(&self, address: impl Into<u64>, words: u32) -> Range {
        of_caller(address.into(), self.bytes(words))
    }

    pub(super) fn keys(&self) -> (&'static str, Range) {
        ("keys", self.array(self.problem.keys, self.format().key_words))
    }

    pub(super) fn values(&self) -> (&'static str, Range) {
        let Format { value_words, by_slot, .. } = *self.format();
        // The numbers of slots are in the place of the values.
        let (name, words) = if by_slot { ("slots", 1) } else { ("values", value_words) };
        (name, self.array(self.problem.values, words))
    }

    pub(super) fn counts(&self) -> (&'static str, Range) {
        ("counts", word(self.problem.count))
    }

    pub(super) fn stencils(&self) -> (&'static str, Range) {
        ("stencils", of_caller(self.stencil, self.bytes_of_bits()))
    }

    pub(super) fn table(&self) -> (&'static str, Range) {
        ("table", Range::new(self.problem.table.into(), self.format().bytes_of_slices(self.problem.slices)))
    }

    /// The number of keys before it is limited. Without bytes if it is in the table.
    pub(super) fn requested(&self) -> (&'static str, Range) {
        let requested = word(self.problem.requested);
        let (_, table) = self.table();
        ("requested", if table.overlaps(requested) { Range::NONE } else { requested })
    }

    pub(super) fn statuses(&self) -> (&'static str, Range) {
        ("statuses", word(self.problem.status))
    }

    /// The list of leftover items, their number, and the status.
    pub(super) fn leftovers(&self) -> [(&'static str, Range); 4] {
        let problem = &self.problem;
        [
            ("leftover_keys", self.array(problem.leftover_keys, self.format().key_words)),
            ("leftover_values", self.array(problem.leftover_values, self.format().value_words)),
            ("leftover_counts", word(problem.count_out)),
            self.statuses(),
        ]
    }

    /// Number of slices, overflow slices included.
    pub(super) fn all_slices(&self) -> u32 {
        self.problem.slices + self.format().overflow_slices(self.problem.slices)
    }

    /// The kernel of the table's scheme.
    pub(super) fn kernel(&self, bucketed: Kernel, linear: Kernel) -> Kernel {
        match self.format().scheme {
            HashScheme::Bucketed => bucketed,
            HashScheme::Linear => linear,
        }
    }

    /// Workgroups for all keys, at least one.
    pub(super) fn batch_groups(&self, threads: u32, items: u32) -> u32 {
        self.problem.max_count.div_ceil(threads * items).max(1)
    }

    fn add_clear(&self, plan: &mut Plan<'_>) {
        let (name, range) = self.table();
        let table = set(plan, &[(name, range)]);
        // At most 2^31 slots of a block each, and a 32nd more: see `check_groups`.
        let blocks = u32::try_from(range.size / 16).unwrap_or(u32::MAX);
        let groups = blocks.div_ceil(self.clear_blocks());
        self.add_clear_pass(plan, groups, [Resources::default(), table], &self.push());
    }

    /// Blocks of 16 bytes that a workgroup clears.
    pub(super) fn clear_blocks(&self) -> u32 {
        self.profile().plain_threads * STREAMED_ITEMS
    }

    pub(super) fn add_clear_pass(
        &self,
        plan: &mut Plan<'_>,
        groups: impl Into<Groups>,
        sets: [Resources; 2],
        push: &HashPush,
    ) {
        let kernel = self.kernel(Kernel::HashClear, Kernel::HashLinearClear);
        self.add_pass(plan, kernel, self.profile().plain_threads, groups, sets, push);
    }

    fn add_find(&self, plan: &mut Plan<'_>) {
        let reads = set(plan, &[self.table(), self.keys(), self.counts(), self.stencils()]);
        let found = of_caller(self.found, self.bytes_of_bits());
        let writes = set(plan, &[self.values(), ("found", found), self.statuses()]);
        let threads = self.profile().hash.find_threads;
        let groups = self.batch_groups(threads, 1);
        let HashProblem { keys, values, table, count, status, max_count, slices, .. } = self.problem;
        let (found, stencil) = (self.found.into(), self.stencil.into());
        let push = HashFindPush {
            problem: HashFindProblem { keys, values, table, count, status, found, stencil, max_count, slices },
        };
        let kernel = self.kernel(Kernel::HashFind, Kernel::HashLinearFind);
        self.add_pass(plan, kernel, threads, groups, [reads, writes], &push);
    }

    fn add_statistics(&self, plan: &mut Plan<'_>) {
        let HashProblem { table, slices, .. } = self.problem;
        let push =
            HashStatisticsPush { problem: HashStatisticsProblem { table, statistics: self.statistics.into(), slices } };
        let reads = set(plan, &[self.table()]);
        let bytes = size_of::<HashStatistics>() as u64;
        let statistics = set(plan, &[("statistics", Range::new(self.statistics, bytes))]);
        let profile = self.profile();
        let sets = [reads, statistics];
        let kernel = self.kernel(Kernel::HashStatistics, Kernel::HashLinearStatistics);
        self.add_pass(plan, kernel, profile.plain_threads, 1, sets, &push);
        let sets = [reads.union(statistics), statistics];
        let threads = profile.hash.slice_threads;
        let kernel = self.kernel(Kernel::HashProbes, Kernel::HashLinearProbes);
        self.add_pass(plan, kernel, threads, self.all_slices(), sets, &push);
    }
}

impl PlanSource for Steps<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        match self.format().operation {
            HashOperation::Clear => self.add_clear(plan),
            HashOperation::Statistics => self.add_statistics(plan),
            _ => self.add_find(plan),
        }
    }
}

impl PlanSource for Composition<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        let change = self.change.steps();
        match &self.source {
            Source::Batch => {}
            Source::Stencil(compaction) => compaction.add_to(change, plan),
            Source::Selection { cursor, values } => {
                let mut export = change.as_operation(HashOperation::ExportIf);
                if let Change::Linear(change) = &self.change {
                    export.problem.values = change.slots().address.into();
                }
                Export::of(export, *cursor).selecting(*values).add_passes(plan, export.all_slices());
            }
            Source::Table { cursor, address, slices, first_slices } => {
                let mut export = change.as_operation(HashOperation::Export);
                (export.problem.table, export.problem.slices) = ((*address).into(), *slices);
                Export::of(export, *cursor).add_passes(plan, export.all_slices());
                change.cleared(*first_slices).add_clear(plan);
            }
            Source::Resize { decision, cursor } => {
                let export = change.as_operation(HashOperation::Export);
                decision.add_to(change, &Export::of(export, *cursor), plan);
            }
        }
        plan.append_behind(&self.change);
        if let Some(search) = &self.search {
            match &self.source {
                Source::Stencil(compaction) => search.add_to(&compaction.batch(change), plan),
                _ => search.add_to(change, plan),
            }
        }
    }
}

impl PlanSource for Change<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        match self {
            Self::Bucketed(change) => change.add_to(plan),
            Self::Linear(change) => change.add_to(plan),
        }
    }
}

impl PlanSource for HashTable<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        match self {
            Self::Constant(steps) => steps.add_to(plan),
            Self::Export(export) => export.add_to(plan),
            Self::Change(composition) => composition.add_to(plan),
            Self::Mixed(mixed) => mixed.add_to(plan),
            Self::Values(values) => values.add_to(plan),
        }
        plan.name = "hash";
    }
}
