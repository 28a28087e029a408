//! What all operations on tables have in common: their resources and their passes.

use super::format::Format;
use super::hasher::HashInfo;
use super::planner::HashPlanner;
use super::statistics::HashStatistics;
use super::{HashOperation, HashScheme};
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, Plan, Push, Resources};
use crate::core::primitive::{PlanSource, Planner as _};
use crate::core::scratch::part_number;
use crate::kernels::Kernel;
use crate::shared::{
    Constant, HashFindProblem, HashFindPush, HashProblem, HashPush, HashStatisticsProblem, HashStatisticsPush,
    SharedStruct,
};
use crate::tuning::Profile;

pub(super) const WORD: u64 = 4;

/// Items or blocks of 16 bytes of a thread, in passes that only stream.
pub(super) const STREAMED_ITEMS: u32 = 4;

/// What all operations have in common.
#[derive(Clone, Copy)]
pub(crate) struct Steps<'a> {
    pub(super) planner: &'a HashPlanner,
    /// With the operation of these steps, which may be a part of the hasher's.
    format: Format,
    pub(super) problem: HashProblem,
    /// Addresses of arrays of the caller, or 0 for operations that do not use them.
    pub(super) found: u64,
    pub(super) stencil: u64,
    statistics: u64,
    pub(super) scratch: u64,
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
    pub(super) fn as_operation(&self, operation: HashOperation) -> Self {
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
    pub(super) fn cleared(&self, slices: u32) -> Self {
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

    pub(super) fn add_clear(&self, plan: &mut Plan<'_>) {
        let (name, range) = self.table();
        let table = set(plan, &[(name, range)]);
        // At most 2^31 slots of one block, or 2^30 of two, and a 32nd more: see `check_groups`.
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

    pub(super) fn add_find(&self, plan: &mut Plan<'_>) {
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
