//! The plan of an operation on a table.

use super::HashOperation;
use super::format::{Format, slices_of};
use super::hasher::HashInfo;
use super::planner::{Group, HashPlanner};
use super::statistics::HashStatistics;
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Content, Groups, Plan, Push, Resources};
use crate::core::primitive::{PlanSource, Planner as _};
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::radix::{Items, MOST_GROUPS_Y};
use crate::shared::{
    Constant, HashProblem, HashPush, HashStatisticsProblem, HashStatisticsPush, OVERFLOW_SHARE, SLICE_SLOTS,
    SharedStruct,
};
use crate::sort::SortTable;
use crate::tuning::Profile;
use crate::{Error, Result};

const WORD: u64 = 4;

/// Words of the state of a change.
const STATE_WORDS: u64 = 2;

/// Items or blocks of 16 bytes of a thread, in passes that only stream.
const STREAMED_ITEMS: u32 = 4;

/// An operation on a table, laid out in scratch. A change of the table begins with the hashes of the keys. Two parts
/// follow, one behind the other: the sort of the hashes, and the slices.
pub(crate) struct HashTable<'a> {
    steps: Steps<'a>,
    sort: Option<SortTable<'a>>,
}

/// The operation's own passes.
struct Steps<'a> {
    planner: &'a HashPlanner,
    problem: HashProblem,
    /// Address of the caller's statistics; 0 for other operations.
    statistics: u64,
    scratch: u64,
    parts: Parts,
}

/// Addresses of the parts of scratch of a change.
struct Parts {
    hashes: u64,
    sorted_hashes: u64,
    /// Indices or values in the order of the sorted hashes. None: in the order of the batch.
    payload: Option<u64>,
    spilled: u64,
    moved: u64,
    state: u64,
    /// None without a sort.
    bins: Option<u64>,
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
        check_groups(planner.handle().device().profile(), info)?;
        let [hashes, sorted_hashes, spilled, moved, state] = [scratch; 5];
        let none = Parts { hashes, sorted_hashes, payload: None, spilled, moved, state, bins: None };
        let statistics = if format.operation == HashOperation::Statistics { info.statistics.address } else { 0 };
        let mut steps = Steps { planner, problem: problem(format, info), statistics, scratch, parts: none };
        if format.operation == HashOperation::Export {
            // The number of keys that have been written.
            steps.parts.state = layout.range(scratch, WORD)?.address;
        }
        if !format.operation.changes() {
            return Ok(Self { steps, sort: None });
        }
        let words = u64::from(info.count.max);
        let mut part = |words: u64| layout.range(scratch, words * WORD);
        let hash_words = words * u64::from(format.hash_words());
        let hashes = part(hash_words)?;
        let [spilled, moved] = [part(words.div_ceil(32))?, part(words.div_ceil(32))?];
        let state = part(STATE_WORDS)?;
        let (mut sorted_hashes, mut payload, mut sort, mut bins) = (hashes, Range::NONE, None, None);
        if let Some(planner) = planner.sort() {
            bins = Some(part(u64::from(format.bins()) + 1)?.address);
            let mut items = Items { count: info.count, keys: hashes, ..Items::default() };
            if format.is_by_index() {
                payload = part(words)?;
                items.values = payload;
            } else if format.value_words != 0 && format.operation.reads_values() {
                (sorted_hashes, payload) = (part(hash_words)?, part(words)?);
                items.values = Range::new(info.values.address, words * WORD);
                (items.keys_out, items.values_out) = (sorted_hashes, payload);
            }
            sort = Some(planner.lay_out_part(group, items, scratch, layout)?);
        }
        let payload = Some(payload).filter(|part| *part != Range::NONE).map(|part| part.address);
        // Parts without bytes are not accessed.
        let [hashes, sorted_hashes, spilled, moved, state] = [hashes, sorted_hashes, spilled, moved, state]
            .map(|part| if part == Range::NONE { scratch } else { part.address });
        steps.parts = Parts { hashes, sorted_hashes, payload, spilled, moved, state, bins };
        Ok(Self { steps, sort })
    }
}

/// Checks that the largest dispatch has no more workgroups than a device takes.
fn check_groups(profile: &Profile, info: &HashInfo) -> Result<()> {
    let most = (u64::from(profile.max_groups_x) * MOST_GROUPS_Y).min(u64::from(u32::MAX) - MOST_GROUPS_Y);
    // Clearing has the most: a thread for each word or more.
    let least_threads = u64::from(profile.plain_threads.min(SLICE_SLOTS));
    let slots = u64::from(info.capacity).next_multiple_of(SLICE_SLOTS.into()) * 2;
    if slots / least_threads > most {
        let (value, limit) = (info.capacity.into(), most * least_threads / 2);
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
        slices: slices_of(info.capacity),
    }
}

impl Steps<'_> {
    fn push(&self) -> HashPush {
        let Self { problem, scratch, parts, .. } = self;
        let part = |address: u64| part_number(*scratch, Range::new(address, WORD));
        HashPush {
            problem: *problem,
            scratch: (*scratch).into(),
            // Without a sort, the values are in the caller's order.
            payload: parts.payload.map_or(problem.values, Into::into),
            hashes: part(parts.hashes),
            sorted_hashes: part(parts.sorted_hashes),
            spilled: part(parts.spilled),
            moved: part(parts.moved),
            state: part(parts.state),
            bins: part(parts.bins.unwrap_or(*scratch)),
        }
    }

    fn format(&self) -> &Format {
        self.planner.format()
    }

    fn profile(&self) -> &Profile {
        self.planner.handle().device().profile()
    }

    fn add_pass(&self, plan: &mut Plan<'_>, kernel: Kernel, threads: u32, groups: u32, sets: [Resources; 2]) {
        self.add_pass_with(plan, kernel, threads, groups, sets, &self.push());
    }

    fn add_pass_with(
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
            // Kernels of tables declare no others.
            _ => 0,
        });
        let variant = plan.add_variant(&variant);
        plan.add_pass(variant, Groups::Fixed(groups), Push::new(kernel, push), reads, writes);
    }
}

/// Adds resources, of which those without bytes are left out.
fn set(plan: &mut Plan<'_>, resources: &[(&'static str, Range)]) -> Resources {
    let used = resources.iter().filter(|(_, range)| range.size != 0);
    used.fold(Resources::default(), |all, (name, range)| all.union(Resources::of(&[plan.add_resource(name, *range)])))
}

/// A word of the caller; none if the address is null.
fn word(address: impl Into<u64>) -> Range {
    of_caller(address.into(), WORD)
}

fn of_caller(address: u64, bytes: u64) -> Range {
    Range::new(address, if address == 0 { 0 } else { bytes })
}

impl Steps<'_> {
    /// Bytes of so many words for each key.
    fn bytes(&self, words: u32) -> u64 {
        u64::from(self.problem.max_count) * WORD * u64::from(words)
    }

    /// Bytes of a bit for each key.
    fn bytes_of_bits(&self) -> u64 {
        u64::from(self.problem.max_count.div_ceil(32)) * WORD
    }

    /// An array of the caller with so many words for each key.
    fn array(&self, address: impl Into<u64>, words: u32) -> Range {
        of_caller(address.into(), self.bytes(words))
    }

    fn spilled(&self) -> (&'static str, Range) {
        ("spilled", Range::new(self.parts.spilled, self.bytes_of_bits()))
    }

    fn moved(&self) -> (&'static str, Range) {
        ("moved", Range::new(self.parts.moved, self.bytes_of_bits()))
    }

    fn state(&self) -> (&'static str, Range) {
        ("state", Range::new(self.parts.state, STATE_WORDS * WORD))
    }

    /// Without bytes if there is no sort.
    fn bins(&self) -> (&'static str, Range) {
        let bytes = (u64::from(self.format().bins()) + 1) * WORD;
        ("bins", self.parts.bins.map_or(Range::NONE, |bins| Range::new(bins, bytes)))
    }

    fn sorted_hashes(&self) -> (&'static str, Range) {
        ("sorted_hashes", Range::new(self.parts.sorted_hashes, self.bytes(self.format().hash_words())))
    }

    fn keys(&self) -> (&'static str, Range) {
        ("keys", self.array(self.problem.keys, self.format().key_words))
    }

    fn values(&self) -> (&'static str, Range) {
        ("values", self.array(self.problem.values, self.format().value_words))
    }

    fn counts(&self) -> (&'static str, Range) {
        ("counts", word(self.problem.count))
    }

    fn table(&self) -> (&'static str, Range) {
        ("table", Range::new(self.problem.table.into(), self.format().bytes_of_slices(self.problem.slices)))
    }

    fn statuses(&self) -> (&'static str, Range) {
        ("statuses", word(self.problem.status))
    }

    /// Number of slices, overflow slices included.
    fn all_slices(&self) -> u32 {
        self.problem.slices + self.problem.slices.div_ceil(OVERFLOW_SHARE)
    }

    /// Workgroups for all keys, at least one.
    fn batch_groups(&self, threads: u32, items: u32) -> u32 {
        self.problem.max_count.div_ceil(threads * items).max(1)
    }

    fn add_clear(&self, plan: &mut Plan<'_>) {
        let (name, range) = self.table();
        let table = set(plan, &[(name, range)]);
        let threads = self.profile().plain_threads;
        // At most 2^31 slots of a block each, and a 32nd more.
        let blocks = u32::try_from(range.size / 16).unwrap_or(u32::MAX);
        let groups = blocks.div_ceil(threads * STREAMED_ITEMS);
        self.add_pass(plan, Kernel::HashClear, threads, groups, [Resources::default(), table]);
    }

    fn add_find(&self, plan: &mut Plan<'_>) {
        let reads = set(plan, &[self.table(), self.keys(), self.counts()]);
        let found = of_caller(self.problem.found.into(), self.bytes_of_bits());
        let writes = set(plan, &[self.values(), ("found", found), self.statuses()]);
        let threads = self.profile().hash.find_threads;
        self.add_pass(plan, Kernel::HashFind, threads, self.batch_groups(threads, 1), [reads, writes]);
    }

    fn add_export(&self, plan: &mut Plan<'_>) {
        let cursor = plan.add_resource("cursor", Range::new(self.parts.state, WORD));
        plan.add_upload(Content::Zeros(WORD), self.parts.state.wrapping_sub(self.scratch), cursor);
        let cursor = Resources::of(&[cursor]);
        let reads = set(plan, &[self.table()]).union(cursor);
        let counts = ("counts_out", word(self.problem.count_out));
        let writes = set(plan, &[self.keys(), self.values(), counts, self.statuses()]).union(cursor);
        let threads = self.profile().hash.slice_threads;
        self.add_pass(plan, Kernel::HashExport, threads, self.all_slices(), [reads, writes]);
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
        self.add_pass_with(plan, Kernel::HashStatistics, profile.plain_threads, 1, sets, &push);
        let sets = [reads.union(statistics), statistics];
        let threads = profile.hash.slice_threads;
        self.add_pass_with(plan, Kernel::HashProbes, threads, self.all_slices(), sets, &push);
    }

    fn add_keys(&self, plan: &mut Plan<'_>) {
        let table = set(plan, &[self.table()]);
        let reads = set(plan, &[self.keys(), self.counts()]).union(table);
        let hashes = ("hashes", Range::new(self.parts.hashes, self.bytes(self.format().hash_words())));
        let state = [hashes, self.spilled(), self.moved(), self.state()];
        let leftovers = ("leftover_counts", word(self.problem.count_out));
        let writes = set(plan, &state).union(set(plan, &[self.statuses(), leftovers])).union(table);
        let threads = self.profile().plain_threads;
        let groups = self.batch_groups(threads, STREAMED_ITEMS);
        self.add_pass(plan, Kernel::HashKeys, threads, groups, [reads, writes]);
    }

    fn add_bins(&self, plan: &mut Plan<'_>) {
        let reads = set(plan, &[self.sorted_hashes(), self.counts()]);
        let writes = set(plan, &[self.bins()]);
        let threads = self.profile().plain_threads;
        let groups = (self.format().bins() + 1).div_ceil(threads);
        self.add_pass(plan, Kernel::HashBins, threads, groups, [reads, writes]);
    }

    fn add_slices(&self, plan: &mut Plan<'_>) {
        let Self { problem, parts, .. } = self;
        let table = set(plan, &[self.table()]);
        let bits = set(plan, &[self.spilled(), self.moved()]);
        let payload = parts.payload.map_or(Range::NONE, |part| Range::new(part, self.bytes(1)));
        let state = set(plan, &[self.state()]);
        let sorted = [self.sorted_hashes(), ("payload", payload), self.bins()];
        let inputs = set(plan, &[self.keys(), self.values(), self.counts()]).union(set(plan, &sorted));
        let reads = inputs.union(state).union(table);
        let results = [
            ("leftover_keys", self.array(problem.leftover_keys, self.format().key_words)),
            ("leftover_values", self.array(problem.leftover_values, self.format().value_words)),
            ("leftover_counts", word(problem.count_out)),
            self.statuses(),
        ];
        let results = set(plan, &results);
        let settings = &self.profile().hash;
        let is_long = self.format().key_words > 1;
        let threads = if is_long { settings.long_slice_threads } else { settings.slice_threads };
        let slices = problem.slices;
        let sets = [reads.union(bits), table.union(bits).union(state)];
        self.add_pass(plan, Kernel::HashSlices, threads, slices, sets);
        let sets = [reads.union(bits).union(results), table.union(results)];
        self.add_pass(plan, Kernel::HashOverflow, threads, slices.div_ceil(OVERFLOW_SHARE), sets);
    }
}

/// The slices of a change, behind the sort.
impl PlanSource for Steps<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        if self.problem.max_count != 0 {
            if self.parts.bins.is_some() {
                self.add_bins(plan);
            }
            self.add_slices(plan);
        }
    }
}

impl PlanSource for HashTable<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        match self.steps.format().operation {
            HashOperation::Clear => self.steps.add_clear(plan),
            HashOperation::Find => self.steps.add_find(plan),
            HashOperation::Export => self.steps.add_export(plan),
            HashOperation::Statistics => self.steps.add_statistics(plan),
            _ => {
                self.steps.add_keys(plan);
                if let Some(sort) = &self.sort {
                    plan.append_behind(sort);
                }
                plan.append_behind(&self.steps);
            }
        }
        plan.name = "hash";
    }
}
