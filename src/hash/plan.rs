//! The plan of an operation on a table.

use super::format::Format;
use super::hasher::HashInfo;
use super::linear::LinearChange;
use super::planner::{Group, HashPlanner};
use super::slices::BucketedChange;
use super::statistics::HashStatistics;
use super::{HashOperation, HashScheme};
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Content, Groups, Plan, Push, Resources};
use crate::core::primitive::{PlanSource, Planner as _};
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::radix::MOST_GROUPS_Y;
use crate::shared::{
    Constant, HashLinearPush, HashProblem, HashPush, HashStatisticsProblem, HashStatisticsPush, SLICE_SLOTS,
    SharedStruct,
};
use crate::tuning::Profile;
use crate::{Error, Result};

pub(super) const WORD: u64 = 4;

/// Items or blocks of 16 bytes of a thread, in passes that only stream.
pub(super) const STREAMED_ITEMS: u32 = 4;

/// An operation on a table, laid out in scratch.
// No table lies on the heap.
#[allow(clippy::large_enum_variant, reason = "plans are built on the stack")]
pub(crate) enum HashTable<'a> {
    /// A search, an export, statistics, or clearing: no batch changes the table.
    Constant(Steps<'a>),
    Bucketed(BucketedChange<'a>),
    Linear(LinearChange<'a>),
}

/// What all operations have in common.
pub(crate) struct Steps<'a> {
    pub(super) planner: &'a HashPlanner,
    pub(super) problem: HashProblem,
    /// Address of the caller's statistics; 0 for other operations.
    statistics: u64,
    pub(super) scratch: u64,
    /// Part of scratch: the number of keys that an export has written.
    cursor: u64,
}

impl<'a> HashTable<'a> {
    /// Lays out an operation in parts of scratch that `layout` allocates.
    pub(crate) fn new(
        planner: &'a HashPlanner,
        info: &HashInfo,
        group: Group,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let format = planner.format();
        check_groups(planner.handle().device().profile(), format, info)?;
        let statistics = if format.operation == HashOperation::Statistics { info.statistics.address } else { 0 };
        let mut steps = Steps { planner, problem: problem(format, info), statistics, scratch, cursor: scratch };
        if format.operation == HashOperation::Export {
            steps.cursor = layout.range(scratch, WORD)?.address;
        }
        match format.scheme {
            _ if !format.operation.changes() => Ok(Self::Constant(steps)),
            HashScheme::Bucketed => Ok(Self::Bucketed(BucketedChange::new(steps, info, group, layout)?)),
            HashScheme::Linear => Ok(Self::Linear(LinearChange::new(steps, layout)?)),
        }
    }
}

/// Checks that the largest dispatch has no more workgroups than a device takes.
fn check_groups(profile: &Profile, format: &Format, info: &HashInfo) -> Result<()> {
    let most = (u64::from(profile.max_groups_x) * MOST_GROUPS_Y).min(u64::from(u32::MAX) - MOST_GROUPS_Y);
    // Clearing has the most: a thread for each 16 bytes or more.
    let least_threads = u64::from(profile.plain_threads.min(SLICE_SLOTS));
    let blocks = format.table_bytes(info.capacity) / 16;
    if blocks / least_threads > most {
        let slot_bytes = u64::from(format.slot_words()) * WORD;
        let (value, limit) = (info.capacity.into(), most * least_threads * 16 / slot_bytes);
        return Err(Error::TooLarge { argument: "capacity", value, limit, why: "the workgroups of one dispatch" });
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
    let is_search = format.operation == HashOperation::Find;
    let when = |is_used: bool, range: Range| if is_used && range != Range::NONE { range.address } else { 0 };
    let has_values = format.value_words != 0;
    HashProblem {
        keys: info.keys.address.into(),
        values: when((reads_values || writes_values) && has_values, info.values).into(),
        table: info.table.address.into(),
        count: info.count.address.into(),
        status: info.status.into(),
        found: when(is_search, info.found).into(),
        leftover_keys: when(inserts, info.leftover_keys).into(),
        leftover_values: when(reads_values && has_values, info.leftover_values).into(),
        count_out: match format.operation {
            HashOperation::Export => info.count_out,
            _ if inserts => info.leftover_count,
            _ => 0,
        }
        .into(),
        max_count: info.count.max,
        slices: format.slices_of(info.capacity),
    }
}

impl Steps<'_> {
    /// Push constants of an operation that does not change the table.
    fn push(&self) -> HashPush {
        HashPush {
            problem: self.problem,
            scratch: self.scratch.into(),
            state: self.part(self.cursor),
            ..HashPush::default()
        }
    }

    /// The number of a part of scratch.
    pub(super) fn part(&self, address: u64) -> u32 {
        part_number(self.scratch, Range::new(address, WORD))
    }

    pub(super) fn format(&self) -> &Format {
        self.planner.format()
    }

    pub(super) fn profile(&self) -> &Profile {
        self.planner.handle().device().profile()
    }

    pub(super) fn add_pass(
        &self,
        plan: &mut Plan<'_>,
        kernel: Kernel,
        threads: u32,
        groups: u32,
        [reads, writes]: [Resources; 2],
        push: &impl SharedStruct,
    ) {
        let (profile, format) = (self.profile(), self.format());
        let begin_bit = self.planner.sort().and(format.begin_bit()).unwrap_or(u32::BITS);
        let is_free = profile.emulated_subgroups && kernel.emulated(true) == kernel;
        let lanes = if is_free { 0 } else { profile.lanes };
        let variant = Variant::new(kernel.emulated(profile.emulated_subgroups), |constant| match constant {
            Constant::Threads => threads,
            Constant::Lanes => lanes,
            Constant::Items => STREAMED_ITEMS,
            Constant::KeyWords => format.key_words,
            Constant::ValueWords => format.value_words,
            Constant::BeginBit => begin_bit,
            Constant::Change => format.change(),
            Constant::Concurrent => format.concurrent.into(),
            // Kernels of tables declare no others.
            _ => 0,
        });
        let variant = plan.add_variant(&variant);
        plan.add_pass(variant, Groups::Fixed(groups), Push::new(kernel, push), reads, writes);
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
        ("values", self.array(self.problem.values, self.format().value_words))
    }

    pub(super) fn counts(&self) -> (&'static str, Range) {
        ("counts", word(self.problem.count))
    }

    pub(super) fn table(&self) -> (&'static str, Range) {
        ("table", Range::new(self.problem.table.into(), self.format().bytes_of_slices(self.problem.slices)))
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
    fn all_slices(&self) -> u32 {
        self.problem.slices + self.format().overflow_slices(self.problem.slices)
    }

    /// The kernel of the table's scheme.
    fn kernel(&self, bucketed: Kernel, linear: Kernel) -> Kernel {
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
        let threads = self.profile().plain_threads;
        // At most 2^31 slots of a block each, and a 32nd more: see `check_groups`.
        let blocks = u32::try_from(range.size / 16).unwrap_or(u32::MAX);
        let groups = blocks.div_ceil(threads * STREAMED_ITEMS);
        let kernel = self.kernel(Kernel::HashClear, Kernel::HashLinearClear);
        self.add_pass(plan, kernel, threads, groups, [Resources::default(), table], &self.push());
    }

    fn add_find(&self, plan: &mut Plan<'_>) {
        let reads = set(plan, &[self.table(), self.keys(), self.counts()]);
        let found = of_caller(self.problem.found.into(), self.bytes_of_bits());
        let writes = set(plan, &[self.values(), ("found", found), self.statuses()]);
        let threads = self.profile().hash.find_threads;
        let groups = self.batch_groups(threads, 1);
        match self.format().scheme {
            HashScheme::Bucketed => {
                self.add_pass(plan, Kernel::HashFind, threads, groups, [reads, writes], &self.push());
            }
            HashScheme::Linear => {
                let push = HashLinearPush { problem: self.problem, ..HashLinearPush::default() };
                self.add_pass(plan, Kernel::HashLinearFind, threads, groups, [reads, writes], &push);
            }
        }
    }

    fn add_export(&self, plan: &mut Plan<'_>) {
        let cursor = plan.add_resource("cursor", Range::new(self.cursor, WORD));
        plan.add_upload(Content::Zeros(WORD), self.cursor.wrapping_sub(self.scratch), cursor);
        let cursor = Resources::of(&[cursor]);
        let reads = set(plan, &[self.table()]).union(cursor);
        let counts = ("counts_out", word(self.problem.count_out));
        let writes = set(plan, &[self.keys(), self.values(), counts, self.statuses()]).union(cursor);
        let threads = self.profile().hash.slice_threads;
        let kernel = self.kernel(Kernel::HashExport, Kernel::HashLinearExport);
        self.add_pass(plan, kernel, threads, self.all_slices(), [reads, writes], &self.push());
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

impl PlanSource for HashTable<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        match self {
            Self::Bucketed(change) => change.add_to(plan),
            Self::Linear(change) => change.add_to(plan),
            Self::Constant(steps) => match steps.format().operation {
                HashOperation::Clear => steps.add_clear(plan),
                HashOperation::Export => steps.add_export(plan),
                HashOperation::Statistics => steps.add_statistics(plan),
                _ => steps.add_find(plan),
            },
        }
        plan.name = "hash";
    }
}
