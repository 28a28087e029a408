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

/// An operation on a table, laid out in scratch. A change of the table has three parts, one behind the other: the hashes
/// of the keys, their sort, and the slices.
pub(crate) struct HashTable<'a> {
    first: Steps<'a>,
    sort: Option<SortTable<'a>>,
    last: Option<Steps<'a>>,
}

/// Passes of one part.
#[derive(Clone, Copy)]
struct Steps<'a> {
    profile: &'a Profile,
    format: Format,
    begin_bit: u32,
    info: HashInfo,
    scratch: u64,
    parts: Parts,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Clear,
    Find,
    /// Hashes of keys.
    Keys,
    /// Changes of the slices, then of the overflow slices.
    Slices,
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
        let stage = match format.operation {
            HashOperation::Clear => Stage::Clear,
            HashOperation::Find => Stage::Find,
            _ => Stage::Keys,
        };
        let begin_bit = planner.sort().and(format.begin_bit()).unwrap_or(u32::BITS);
        let mut first = Steps { profile, format, begin_bit, info: used(&format, info), scratch, parts: Parts::default(), stage };
        if stage != Stage::Keys {
            return Ok(Self { first, sort: None, last: None });
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
        first.parts = parts;
        Ok(Self { first, sort, last: Some(Steps { stage: Stage::Slices, ..first }) })
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

impl PlanSource for Steps<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        let Self { profile, format, info, parts, stage, .. } = self;
        let planned = |range: Range, words: u32| Range::new(range.address, u64::from(info.count.max) * WORD * u64::from(words));
        let word = |address: u64| Range::new(address, if address == 0 { 0 } else { WORD });
        let mut set = |resources: &[(&'static str, Range)]| {
            let used = resources.iter().filter(|(_, range)| range.size != 0 && range.address != 0);
            used.fold(Resources::default(), |all, (name, range)| {
                all.union(Resources::of(&[plan.add_resource(name, *range)]))
            })
        };
        let table = set(&[("table", Range::new(info.table.address, format.table_bytes(info.capacity)))]);
        let keys = set(&[("keys", planned(info.keys, format.key_words))]);
        let values = set(&[("values", planned(info.values, format.value_words))]);
        let counts = set(&[("counts", word(info.count.address))]);
        let statuses = set(&[("statuses", word(info.status))]);
        let slices = slices_of(info.capacity);
        let overflow_slices = slices.div_ceil(OVERFLOW_SHARE);
        let threads = profile.plain_threads;
        let batch_groups = |items: u32| info.count.max.div_ceil(threads * items).max(1);
        match stage {
            Stage::Clear => {
                let blocks = (format.table_bytes(info.capacity) / 16) as u32;
                let groups = blocks.div_ceil(threads * STREAMED_ITEMS);
                self.add_pass(plan, Kernel::HashClear, threads, groups, [Resources::default(), table]);
            }
            Stage::Find => {
                let found = set(&[("found", Range::new(info.found.address, u64::from(info.count.max.div_ceil(32)) * WORD))]);
                let sets = [keys.union(counts).union(table), values.union(found).union(statuses)];
                let threads = profile.hash.find_threads;
                let groups = info.count.max.div_ceil(threads).max(1);
                self.add_pass(plan, Kernel::HashFind, threads, groups, sets);
            }
            Stage::Keys => {
                let hashes = set(&[("hashes", parts.hashes)]);
                let state = set(&[("spilled", parts.spilled), ("state", parts.state)]);
                let leftover_count = set(&[("leftover_counts", word(info.leftover_count))]);
                let sets = [keys.union(counts).union(table), hashes.union(state).union(statuses).union(leftover_count).union(table)];
                self.add_pass(plan, Kernel::HashKeys, threads, batch_groups(STREAMED_ITEMS), sets);
            }
            Stage::Slices => {
                if info.count.max == 0 {
                    return;
                }
                let sorted = set(&[("sorted_hashes", parts.sorted_hashes), ("payload", parts.payload)]);
                let [spilled, state] = [set(&[("spilled", parts.spilled)]), set(&[("state", parts.state)])];
                let leftovers = set(&[
                    ("leftover_keys", planned(info.leftover_keys, format.key_words)),
                    ("leftover_values", planned(info.leftover_values, format.value_words)),
                    ("leftover_counts", word(info.leftover_count)),
                ]);
                let reads = keys.union(values).union(counts).union(sorted).union(state).union(table);
                let threads = profile.hash.slice_threads;
                let sets = [reads.union(spilled), table.union(spilled)];
                self.add_pass(plan, Kernel::HashSlices, threads, slices, sets);
                let written = table.union(leftovers).union(statuses);
                let sets = [reads.union(spilled).union(leftovers).union(statuses), written];
                self.add_pass(plan, Kernel::HashOverflow, threads, overflow_slices, sets);
            }
        }
    }
}

impl PlanSource for HashTable<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        plan.append_behind(&self.first);
        if let Some(sort) = &self.sort {
            plan.append_behind(sort);
        }
        if let Some(last) = &self.last {
            plan.append_behind(last);
        }
        plan.name = "hash";
    }
}

