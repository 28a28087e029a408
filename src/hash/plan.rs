//! The plan of an operation on a table.

use super::HashOperation;
use super::format::{Format, slices_of};
use super::hasher::HashInfo;
use super::planner::{Group, HashPlanner};
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, Plan, Push, Resources};
use crate::core::primitive::{PlanSource, Planner as _};
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::radix::{Items, MOST_GROUPS_Y};
use crate::shared::{Constant, HashProblem, HashPush, OVERFLOW_SHARE, SLICE_SLOTS};
use crate::sort::SortTable;
use crate::tuning::Profile;
use crate::{Count, Error, Result};

const WORD: u64 = 4;

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
    profile: &'a Profile,
    format: Format,
    begin_bit: u32,
    info: HashInfo,
    scratch: u64,
    parts: Parts,
}

/// Parts of scratch of a change.
#[derive(Clone, Copy, Default)]
struct Parts {
    hashes: Range,
    sorted_hashes: Range,
    /// Indices or values in the order of the sorted hashes. None: in the order of the batch.
    payload: Range,
    spilled: Range,
    state: Range,
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
        let (format, handle) = (*planner.format(), planner.handle());
        let profile = handle.device().profile();
        check_groups(profile, info)?;
        let begin_bit = planner.sort().and(format.begin_bit()).unwrap_or(u32::BITS);
        let info = used(&format, info);
        let mut steps = Steps { profile, format, begin_bit, info, scratch, parts: Parts::default() };
        if !format.operation.changes() {
            return Ok(Self { steps, sort: None });
        }
        let items = u64::from(info.count.max);
        let mut part = |bytes: u64| layout.range(scratch, bytes);
        let mut parts = Parts {
            hashes: part(items * WORD)?,
            spilled: part(items.div_ceil(32) * WORD)?,
            state: part(WORD)?,
            ..Parts::default()
        };
        let mut sort = None;
        parts.sorted_hashes = parts.hashes;
        if let Some(planner) = planner.sort() {
            let count = Count { max: info.count.max, ..info.count };
            let mut sorted = Items { count, keys: parts.hashes, ..Items::default() };
            if format.is_by_index() {
                parts.payload = part(items * WORD)?;
                sorted.values = parts.payload;
            } else if format.value_words != 0 && format.operation.reads_values() {
                (parts.sorted_hashes, parts.payload) = (part(items * WORD)?, part(items * WORD)?);
                let values = Range::new(info.values.address, items * WORD);
                (sorted.values, sorted.keys_out, sorted.values_out) = (values, parts.sorted_hashes, parts.payload);
            }
            sort = Some(planner.lay_out_part(group, sorted, scratch, layout)?);
        }
        steps.parts = parts;
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

/// The request without the members that its operation does not use.
fn used(format: &Format, info: &HashInfo) -> HashInfo {
    let [lists, is_search] = [format.operation.reads_values(), format.operation == HashOperation::Find];
    let when = |is_used: bool, range: Range| if is_used { range } else { Range::NONE };
    HashInfo {
        values: when((lists || is_search) && format.value_words != 0, info.values),
        found: when(is_search, info.found),
        leftover_keys: when(lists, info.leftover_keys),
        leftover_values: when(lists && format.value_words != 0, info.leftover_values),
        leftover_count: if lists { info.leftover_count } else { 0 },
        ..*info
    }
}

impl Steps<'_> {
    fn push(&self) -> HashPush {
        let Self { info, parts, scratch, .. } = self;
        let wanted = |range: Range| if range == Range::NONE { 0 } else { range.address };
        // Without a sort, the values are in the caller's order.
        let payload = if parts.payload == Range::NONE { info.values.address } else { parts.payload.address };
        let part = |range: Range| part_number(*scratch, range);
        HashPush {
            problem: HashProblem {
                keys: info.keys.address.into(),
                values: wanted(info.values).into(),
                table: info.table.address.into(),
                count: info.count.address.into(),
                status: info.status.into(),
                found: wanted(info.found).into(),
                leftover_keys: wanted(info.leftover_keys).into(),
                leftover_values: wanted(info.leftover_values).into(),
                leftover_count: info.leftover_count.into(),
                max_count: info.count.max,
                slices: slices_of(info.capacity),
            },
            scratch: (*scratch).into(),
            payload: payload.into(),
            hashes: part(parts.hashes),
            sorted_hashes: part(parts.sorted_hashes),
            spilled: part(parts.spilled),
            state: part(parts.state),
        }
    }

    fn add_pass(&self, plan: &mut Plan<'_>, kernel: Kernel, threads: u32, groups: u32, sets: [Resources; 2]) {
        let Self { profile, format, begin_bit, .. } = self;
        let is_free = profile.emulated_subgroups && kernel.emulated(true) == kernel;
        let lanes = if is_free { 0 } else { profile.lanes };
        let variant = Variant::new(kernel.emulated(profile.emulated_subgroups), |constant| match constant {
            Constant::Threads => threads,
            Constant::Lanes => lanes,
            Constant::Items => STREAMED_ITEMS,
            Constant::KeyWords => format.key_words,
            Constant::ValueWords => format.value_words,
            Constant::BeginBit => *begin_bit,
            Constant::Operation => format.operation_bits(),
            // Kernels of tables declare no others.
            _ => 0,
        });
        let variant = plan.add_variant(&variant);
        let [reads, writes] = sets;
        plan.add_pass(variant, Groups::Fixed(groups), Push::new(kernel, &self.push()), reads, writes);
    }
}

/// Adds resources, of which those without bytes are left out.
fn set(plan: &mut Plan<'_>, resources: &[(&'static str, Range)]) -> Resources {
    let used = resources.iter().filter(|(_, range)| range.size != 0 && range.address != 0);
    used.fold(Resources::default(), |all, (name, range)| all.union(Resources::of(&[plan.add_resource(name, *range)])))
}

fn word(address: u64) -> Range {
    Range::new(address, if address == 0 { 0 } else { WORD })
}

impl Steps<'_> {
    /// The caller's array of so many words a key.
    fn array(&self, range: Range, words: u32) -> Range {
        Range::new(range.address, u64::from(self.info.count.max) * WORD * u64::from(words))
    }

    fn keys(&self) -> (&'static str, Range) {
        ("keys", self.array(self.info.keys, self.format.key_words))
    }

    fn counts(&self) -> (&'static str, Range) {
        ("counts", word(self.info.count.address))
    }

    fn table(&self) -> (&'static str, Range) {
        ("table", Range::new(self.info.table.address, self.format.table_bytes(self.info.capacity)))
    }

    fn statuses(&self) -> (&'static str, Range) {
        ("statuses", word(self.info.status))
    }

    /// Workgroups for all keys, at least one.
    fn batch_groups(&self, threads: u32, items: u32) -> u32 {
        self.info.count.max.div_ceil(threads * items).max(1)
    }

    fn add_clear(&self, plan: &mut Plan<'_>) {
        let table = set(plan, &[self.table()]);
        let threads = self.profile.plain_threads;
        let blocks = self.format.table_bytes(self.info.capacity) / 16;
        // At most 2^31 slots of a block each, and a 32nd more.
        let groups = u32::try_from(blocks).unwrap_or(u32::MAX).div_ceil(threads * STREAMED_ITEMS);
        self.add_pass(plan, Kernel::HashClear, threads, groups, [Resources::default(), table]);
    }

    fn add_find(&self, plan: &mut Plan<'_>) {
        let Self { format, info, .. } = self;
        let reads = set(plan, &[self.table(), self.keys(), self.counts()]);
        let found = Range::new(info.found.address, u64::from(info.count.max.div_ceil(32)) * WORD);
        let values = self.array(info.values, format.value_words);
        let writes = set(plan, &[("values", values), ("found", found), self.statuses()]);
        let threads = self.profile.hash.find_threads;
        self.add_pass(plan, Kernel::HashFind, threads, self.batch_groups(threads, 1), [reads, writes]);
    }

    fn add_keys(&self, plan: &mut Plan<'_>) {
        let parts = &self.parts;
        let table = set(plan, &[self.table()]);
        let reads = set(plan, &[self.keys(), self.counts()]).union(table);
        let leftovers = ("leftover_counts", word(self.info.leftover_count));
        let state = [("hashes", parts.hashes), ("spilled", parts.spilled), ("state", parts.state)];
        let writes = set(plan, &state).union(set(plan, &[self.statuses(), leftovers])).union(table);
        let threads = self.profile.plain_threads;
        let groups = self.batch_groups(threads, STREAMED_ITEMS);
        self.add_pass(plan, Kernel::HashKeys, threads, groups, [reads, writes]);
    }

    fn add_slices(&self, plan: &mut Plan<'_>) {
        let Self { format, info, parts, .. } = self;
        let table = set(plan, &[self.table()]);
        let spilled = set(plan, &[("spilled", parts.spilled)]);
        let values = ("values", self.array(info.values, format.value_words));
        let sorted = [("sorted_hashes", parts.sorted_hashes), ("payload", parts.payload), ("state", parts.state)];
        let reads = set(plan, &[self.keys(), values, self.counts()]).union(set(plan, &sorted)).union(table);
        let results = [
            ("leftover_keys", self.array(info.leftover_keys, format.key_words)),
            ("leftover_values", self.array(info.leftover_values, format.value_words)),
            ("leftover_counts", word(info.leftover_count)),
            self.statuses(),
        ];
        let results = set(plan, &results);
        let (threads, slices) = (self.profile.hash.slice_threads, slices_of(info.capacity));
        let sets = [reads.union(spilled), table.union(spilled)];
        self.add_pass(plan, Kernel::HashSlices, threads, slices, sets);
        let sets = [reads.union(spilled).union(results), table.union(results)];
        self.add_pass(plan, Kernel::HashOverflow, threads, slices.div_ceil(OVERFLOW_SHARE), sets);
    }
}

/// The slices of a change, behind the sort.
impl PlanSource for Steps<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        if self.info.count.max != 0 {
            self.add_slices(plan);
        }
    }
}

impl PlanSource for HashTable<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        match self.steps.format.operation {
            HashOperation::Clear => self.steps.add_clear(plan),
            HashOperation::Find => self.steps.add_find(plan),
            HashOperation::Insert | HashOperation::Assign | HashOperation::Erase => {
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
