//! Changes of bucketed tables: the hashes of a batch, their sort, and the slices of the table.

use super::hasher::HashInfo;
use super::planner::Group;
use super::steps::{STREAMED_ITEMS, Steps, WORD, set, word};
use crate::Result;
use crate::core::memory::Range;
use crate::core::plan::{Plan, Resources};
use crate::core::primitive::PlanSource;
use crate::core::scratch::Layout;
use crate::kernels::Kernel;
use crate::radix::Items;
use crate::shared::{HashPush, OVERFLOW_SHARE};
use crate::sort::SortTable;

/// Words of the state of a change.
const STATE_WORDS: u64 = 2;

/// A change. It begins with the hashes of the keys. Two parts follow, one behind the other: the sort of the hashes, and
/// the slices.
pub(crate) struct BucketedChange<'a> {
    slices: Slices<'a>,
    sort: Option<SortTable<'a>>,
}

/// The passes of a change, but for those of the sort.
pub(super) struct Slices<'a> {
    steps: Steps<'a>,
    parts: Parts,
}

/// Addresses of the parts of scratch.
#[derive(Clone, Copy)]
struct Parts {
    hashes: u64,
    sorted_hashes: u64,
    /// Indices or values in the order of the sorted hashes. None: in the order of the batch.
    payload: Option<u64>,
    spilled: u64,
    moved: u64,
    state: u64,
    /// None with a single slice.
    bins: Option<u64>,
}

impl<'a> BucketedChange<'a> {
    pub(super) fn new(steps: Steps<'a>, info: &HashInfo, group: Group, layout: &mut Layout) -> Result<Self> {
        let sort = steps.planner.sort();
        let (slices, items) = Slices::new(steps, info, sort.is_some(), layout)?;
        let scratch = slices.steps.scratch;
        let sort = sort.map(|sort| sort.lay_out_part(group, items, scratch, layout)).transpose()?;
        Ok(Self { slices, sort })
    }
}

impl<'a> Slices<'a> {
    /// Lays out a change of items in the order of their hashes.
    pub(super) fn ordered(steps: Steps<'a>, info: &HashInfo, layout: &mut Layout) -> Result<Self> {
        Ok(Self::new(steps, info, false, layout)?.0)
    }

    /// Another change in the same parts of scratch.
    pub(super) fn with_steps(&self, steps: Steps<'a>) -> Self {
        Self { steps, parts: self.parts }
    }

    pub(super) fn steps(&self) -> &Steps<'a> {
        &self.steps
    }

    /// Lays out all parts but for those of the sort. Returns the items of the sort as well.
    fn new(steps: Steps<'a>, info: &HashInfo, sorts: bool, layout: &mut Layout) -> Result<(Self, Items)> {
        let (format, scratch) = (*steps.format(), steps.scratch);
        let words = u64::from(info.count.max);
        let mut part = |words: u64| layout.range(scratch, words * WORD);
        let hash_words = words * u64::from(format.hash_words());
        let hashes = part(hash_words)?;
        let [spilled, moved] = [part(words.div_ceil(32))?, part(words.div_ceil(32))?];
        let state = part(STATE_WORDS)?;
        let bins = if format.bin_bits() != 0 { Some(part(u64::from(format.bins()) + 1)?.address) } else { None };
        let (mut sorted_hashes, mut payload) = (hashes, Range::NONE);
        let mut items = Items { count: info.count, keys: hashes, ..Items::default() };
        if sorts && format.is_by_index() {
            payload = part(words)?;
            items.values = payload;
        } else if sorts && format.value_words != 0 && format.operation.reads_values() {
            (sorted_hashes, payload) = (part(hash_words)?, part(words)?);
            items.values = Range::new(info.values.address, words * WORD);
            (items.keys_out, items.values_out) = (sorted_hashes, payload);
        }
        let payload = Some(payload).filter(|part| *part != Range::NONE).map(|part| part.address);
        // Parts without bytes are not accessed.
        let [hashes, sorted_hashes, spilled, moved, state] = [hashes, sorted_hashes, spilled, moved, state]
            .map(|part| if part == Range::NONE { scratch } else { part.address });
        let parts = Parts { hashes, sorted_hashes, payload, spilled, moved, state, bins };
        Ok((Self { steps, parts }, items))
    }
}

impl<'a> BucketedChange<'a> {
    pub(super) fn steps(&self) -> &Steps<'a> {
        &self.slices.steps
    }
}

impl Slices<'_> {
    fn push(&self) -> HashPush {
        let Self { steps, parts } = self;
        HashPush {
            problem: steps.problem,
            scratch: steps.scratch.into(),
            payload: match parts.payload {
                Some(part) => part.into(),
                // Without a sort, the items are in the caller's order.
                None if steps.format().is_by_index() => 0u64.into(),
                None => steps.problem.values,
            },
            hashes: steps.part_number(parts.hashes),
            sorted_hashes: steps.part_number(parts.sorted_hashes),
            spilled: steps.part_number(parts.spilled),
            moved: steps.part_number(parts.moved),
            state: steps.part_number(parts.state),
            bins: steps.part_number(parts.bins.unwrap_or(steps.scratch)),
            bin_bits: steps.format().bin_bits(),
        }
    }

    fn add_pass(&self, plan: &mut Plan<'_>, kernel: Kernel, threads: u32, groups: u32, sets: [Resources; 2]) {
        self.steps.add_pass(plan, kernel, threads, groups, sets, &self.push());
    }

    fn spilled(&self) -> (&'static str, Range) {
        ("spilled", Range::new(self.parts.spilled, self.steps.bytes_of_bits()))
    }

    fn moved(&self) -> (&'static str, Range) {
        ("moved", Range::new(self.parts.moved, self.steps.bytes_of_bits()))
    }

    fn state(&self) -> (&'static str, Range) {
        ("state", Range::new(self.parts.state, STATE_WORDS * WORD))
    }

    /// Without bytes if there is a single slice.
    fn bins(&self) -> (&'static str, Range) {
        let bytes = (u64::from(self.steps.format().bins()) + 1) * WORD;
        ("bins", self.parts.bins.map_or(Range::NONE, |bins| Range::new(bins, bytes)))
    }

    fn sorted_hashes(&self) -> (&'static str, Range) {
        let bytes = self.steps.bytes(self.steps.format().hash_words());
        ("sorted_hashes", Range::new(self.parts.sorted_hashes, bytes))
    }

    fn add_keys(&self, plan: &mut Plan<'_>) {
        let steps = &self.steps;
        let table = set(plan, &[steps.table()]);
        let reads = set(plan, &[steps.keys(), steps.counts(), steps.requested()]).union(table);
        let hashes = ("hashes", Range::new(self.parts.hashes, steps.bytes(steps.format().hash_words())));
        let state = [hashes, self.spilled(), self.moved(), self.state()];
        let leftovers = ("leftover_counts", word(steps.problem.count_out));
        let writes = set(plan, &state).union(set(plan, &[steps.statuses(), leftovers])).union(table);
        let threads = steps.profile().plain_threads;
        let groups = steps.batch_groups(threads, STREAMED_ITEMS);
        self.add_pass(plan, Kernel::HashKeys, threads, groups, [reads, writes]);
    }

    fn add_bins(&self, plan: &mut Plan<'_>) {
        let reads = set(plan, &[self.sorted_hashes(), self.steps.counts()]);
        let writes = set(plan, &[self.bins()]);
        let threads = self.steps.profile().plain_threads;
        let groups = (self.steps.format().bins() + 1).div_ceil(threads);
        self.add_pass(plan, Kernel::HashBins, threads, groups, [reads, writes]);
    }

    fn add_slices(&self, plan: &mut Plan<'_>) {
        let Self { steps, parts } = self;
        let table = set(plan, &[steps.table()]);
        let bits = set(plan, &[self.spilled(), self.moved()]);
        let payload = parts.payload.map_or(Range::NONE, |part| Range::new(part, steps.bytes(1)));
        let state = set(plan, &[self.state()]);
        let sorted = [self.sorted_hashes(), ("payload", payload), self.bins()];
        let inputs = set(plan, &[steps.keys(), steps.values(), steps.counts()]).union(set(plan, &sorted));
        let reads = inputs.union(state).union(table);
        let results = set(plan, &steps.leftovers());
        let settings = &steps.profile().hash;
        let is_long = steps.format().key_words > 1;
        let threads = if is_long { settings.long_slice_threads } else { settings.slice_threads };
        let slices = steps.problem.slices;
        let sets = [reads.union(bits), table.union(bits).union(state)];
        self.add_pass(plan, Kernel::HashSlices, threads, slices, sets);
        let sets = [reads.union(bits).union(results), table.union(results)];
        self.add_pass(plan, Kernel::HashOverflow, threads, slices.div_ceil(OVERFLOW_SHARE), sets);
    }

    /// Adds the passes of a change without a sort.
    pub(super) fn add_passes(&self, plan: &mut Plan<'_>) {
        self.add_keys(plan);
        self.add_sorted(plan);
    }

    /// Adds the passes behind a sort.
    fn add_sorted(&self, plan: &mut Plan<'_>) {
        if self.steps.problem.max_count != 0 {
            if self.parts.bins.is_some() {
                self.add_bins(plan);
            }
            self.add_slices(plan);
        }
    }
}

/// The part behind the sort.
impl PlanSource for Slices<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        self.add_sorted(plan);
    }
}

impl PlanSource for BucketedChange<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        self.slices.add_keys(plan);
        if let Some(sort) = &self.sort {
            plan.append_behind(sort);
        }
        plan.append_behind(&self.slices);
    }
}
