//! Mixed batches: an operation for each key, as if in the order of the batch.
//!
//! The keys are sorted by numbers that identify them: their hashes, or, if these do not, a hash and a number in the
//! batch. Then the operations on a key are neighbors, and a scan composes them: a sequence of them has the effect of
//! one. The results follow from the compositions before each operation, and from a search before the batch. At the end,
//! the table is changed twice, by distinct keys: some are erased, and values are assigned to others.

use super::HashOperation;
use super::compaction::Compaction;
use super::composition::{OrderedChange, Search};
use super::hasher::HashInfo;
use super::planner::{Group, HashPlanner};
use super::steps::{STREAMED_ITEMS, Steps, WORD, set};
use crate::Result;
use crate::core::memory::Range;
use crate::core::plan::{Plan, Resources};
use crate::core::primitive::PlanSource;
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::radix::{Items, MAX_NARROW_COUNT};
use crate::shared::{HashMixedProblem, HashMixedPush, OPCODE_SHIFT};
use crate::sort::SortTable;

/// Words of the aggregate of a tile.
const AGGREGATE_WORDS: u64 = 2;

const _: () = assert!(MAX_NARROW_COUNT <= 1 << OPCODE_SHIFT, "an element has the index of its item");

/// Whether keys are numbered in the batch, by slots that their items claim: their hashes do not identify them.
fn has_slots(batch: &Steps<'_>) -> bool {
    batch.format().key_words > batch.format().identity_words()
}

/// The number of these slots: a power of two, of which the keys of the batch need at most half.
fn slots_of(batch: &Steps<'_>) -> u32 {
    if has_slots(batch) { (2 * batch.problem.max_count).next_power_of_two() } else { 0 }
}

/// A mixed batch, laid out in scratch. It begins with a search and the elements of the batch. Two parts follow, one
/// behind the other: the sort of the elements, and the changes.
pub(crate) struct Mixed<'a> {
    sort: Option<SortTable<'a>>,
    changes: Changes<'a>,
}

/// All passes but for those of the sort.
struct Changes<'a> {
    /// Steps of the caller's batch.
    batch: Steps<'a>,
    opcodes: Range,
    results: Search,
    parts: Parts,
    compaction: Compaction,
    /// The assignment. The erasure has the same layout.
    change: OrderedChange<'a>,
}

/// Parts of scratch.
struct Parts {
    identities: Range,
    /// Without bytes if hashes identify the keys.
    slots: Range,
    elements: Range,
    aggregates: Range,
    had_keys: Range,
    before: Range,
    erased: Range,
    assigned: Range,
    keys: Range,
    values: Range,
}

impl<'a> Mixed<'a> {
    pub(super) fn new(
        planner: &'a HashPlanner,
        info: &HashInfo,
        group: Group,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let format = planner.format();
        let batch = Steps::new(planner, *format, info, scratch);
        let parts = Parts::new(&batch, layout)?;
        let items = Items { count: info.count, keys: parts.identities, values: parts.elements, ..Items::default() };
        let sort = planner.sort().map(|sort| sort.lay_out_part(group, items, scratch, layout)).transpose()?;
        // The changes are those of items that the scan writes.
        let mut items = HashInfo { keys: parts.keys, values: parts.values, ..*info };
        let compaction = Compaction::new(planner, &mut items, scratch, layout)?;
        let mut change = Steps::new(planner, format.of_change(), &items, scratch);
        change.problem.requested = info.count.address.into();
        let change = OrderedChange::new(change, &items, layout)?;
        let opcodes = Range::new(info.opcodes.address, batch.bytes(1));
        let results = Search::new(format, info);
        Ok(Self { sort, changes: Changes { batch, opcodes, results, parts, compaction, change } })
    }
}

impl Parts {
    fn new(batch: &Steps<'_>, layout: &mut Layout) -> Result<Self> {
        let format = batch.format();
        let tiles = u64::from(batch.batch_groups(batch.profile().hash.find_threads, STREAMED_ITEMS));
        let mut part = |bytes: u64| layout.range(batch.scratch, bytes);
        Ok(Self {
            identities: part(batch.bytes(format.identity_words()))?,
            slots: part(u64::from(slots_of(batch)) * WORD)?,
            elements: part(batch.bytes(1))?,
            aggregates: part(tiles * AGGREGATE_WORDS * WORD)?,
            had_keys: part(batch.bytes_of_bits())?,
            before: part(batch.bytes(1))?,
            erased: part(batch.bytes_of_bits())?,
            assigned: part(batch.bytes_of_bits())?,
            keys: part(batch.bytes(format.key_words))?,
            values: part(batch.bytes(format.value_words))?,
        })
    }
}

impl Changes<'_> {
    fn push(&self) -> HashMixedPush {
        let Self { batch, opcodes, results, parts, .. } = self;
        let part = |range: Range| part_number(batch.scratch, range);
        HashMixedPush {
            problem: HashMixedProblem {
                keys: batch.problem.keys,
                values: batch.problem.values,
                opcodes: opcodes.address.into(),
                count: batch.problem.count,
                values_out: results.values.into(),
                found: results.found.into(),
                max_count: batch.problem.max_count,
            },
            scratch: batch.scratch.into(),
            identities: part(parts.identities),
            elements: part(parts.elements),
            aggregates: part(parts.aggregates),
            tile: batch.profile().hash.find_threads * STREAMED_ITEMS,
            had_keys: part(parts.had_keys),
            before: part(parts.before),
            erased: part(parts.erased),
            assigned: part(parts.assigned),
            keys: part(parts.keys),
            values: part(parts.values),
            slots: part(parts.slots),
            last_slot: slots_of(batch).saturating_sub(1),
        }
    }

    fn add_pass(&self, plan: &mut Plan<'_>, kernel: Kernel, groups: u32, sets: [Resources; 2]) {
        let profile = self.batch.profile();
        let is_alone = kernel == Kernel::HashMixedSpine;
        let threads = if is_alone { profile.plain_threads } else { profile.hash.find_threads };
        self.batch.add_pass(plan, kernel, threads, groups, sets, &self.push());
    }

    /// Workgroups with so many items for each thread.
    fn groups(&self, items: u32) -> u32 {
        self.batch.batch_groups(self.batch.profile().hash.find_threads, items)
    }

    /// Results of the caller. Without bytes if they are not wanted.
    fn results(&self) -> [(&'static str, Range); 2] {
        let Self { batch, results, .. } = self;
        let found = Range::new(results.found, if results.found == 0 { 0 } else { batch.bytes_of_bits() });
        [("values_out", batch.array(results.values, batch.format().value_words)), ("found", found)]
    }

    /// Adds the search before the batch, and the elements.
    fn add_elements(&self, plan: &mut Plan<'_>) {
        let Self { batch, opcodes, results, parts, .. } = self;
        // The first name of a range is the one that plans show.
        set(plan, &[("had_keys", parts.had_keys)]);
        Search { values: results.values, found: parts.had_keys.address }.add_to(batch, plan);
        let mut slots = Resources::default();
        if has_slots(batch) {
            let resource = plan.add_resource("slots", parts.slots);
            plan.add_clear(parts.slots, batch.scratch, resource);
            slots = Resources::of(&[resource]);
        }
        let reads = set(plan, &[batch.keys(), batch.counts(), ("opcodes", *opcodes)]).union(slots);
        let writes = [("identities", parts.identities), ("elements", parts.elements), ("before", parts.before)];
        let writes = set(plan, &writes).union(slots);
        self.add_pass(plan, Kernel::HashMixedElements, self.groups(STREAMED_ITEMS), [reads, writes]);
    }

    fn add_scan(&self, plan: &mut Plan<'_>) {
        let Self { batch, parts, .. } = self;
        let counts = set(plan, &[batch.counts()]);
        let sorted = set(plan, &[("identities", parts.identities), ("elements", parts.elements)]).union(counts);
        let aggregates = set(plan, &[("aggregates", parts.aggregates)]);
        let tiles = self.groups(STREAMED_ITEMS);
        self.add_pass(plan, Kernel::HashMixedReduce, tiles, [sorted, aggregates]);
        self.add_pass(plan, Kernel::HashMixedSpine, 1, [aggregates.union(counts), aggregates]);
        let had_keys = set(plan, &[("had_keys", parts.had_keys)]);
        let values = set(plan, &[batch.values()]);
        let bits = [("erased", parts.erased), ("assigned", parts.assigned)];
        let writes = set(plan, &bits).union(set(plan, &[("before", parts.before)]));
        let writes = writes.union(set(plan, &[("changed_keys", parts.keys), ("changed_values", parts.values)]));
        // Hashes are keys, too, if they identify them.
        let keys = if has_slots(batch) { set(plan, &[batch.keys()]) } else { Resources::default() };
        let reads = sorted.union(aggregates).union(had_keys).union(values).union(keys);
        self.add_pass(plan, Kernel::HashMixedScan, tiles, [reads, writes]);
    }

    fn add_results(&self, plan: &mut Plan<'_>) {
        let Self { batch, parts, .. } = self;
        let reads = set(plan, &[batch.values(), batch.counts()]);
        let reads = reads.union(set(plan, &[("had_keys", parts.had_keys), ("before", parts.before)]));
        let writes = set(plan, &self.results());
        self.add_pass(plan, Kernel::HashMixedResults, self.groups(1), [reads, writes]);
    }

    /// Adds the change of the keys with a bit.
    fn add_change(&self, change: &OrderedChange<'_>, bits: Range, plan: &mut Plan<'_>) {
        let mut steps = *change.steps();
        steps.stencil = bits.address;
        self.compaction.add_to(&steps, plan);
        change.add_passes(plan);
    }
}

/// The part behind the sort.
impl PlanSource for Changes<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        self.add_scan(plan);
        self.add_results(plan);
        // Erased keys make room first.
        self.add_change(&self.change.with_operation(HashOperation::Erase), self.parts.erased, plan);
        self.add_change(&self.change, self.parts.assigned, plan);
    }
}

impl PlanSource for Mixed<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        if self.changes.batch.problem.max_count == 0 {
            self.changes.change.add_passes(plan);
            return;
        }
        self.changes.add_elements(plan);
        if let Some(sort) = &self.sort {
            plan.append_behind(sort);
        }
        plan.append_behind(&self.changes);
    }
}
