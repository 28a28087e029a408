//! Changes of tables with linear probing: one invocation finds the slot of an item.

use super::HashOperation;
use super::steps::{Steps, set, word};
use crate::Result;
use crate::core::memory::Range;
use crate::core::plan::{Plan, Resources};
use crate::core::primitive::PlanSource;
use crate::core::scratch::Layout;
use crate::kernels::Kernel;
use crate::shared::HashLinearPush;

/// A change, laid out in scratch.
pub(crate) struct LinearChange<'a> {
    steps: Steps<'a>,
    /// A word for each item: its slot.
    pub(super) slots: Range,
    /// A word for each item, if the values of equal keys compete. Otherwise none.
    owners: Range,
}

impl<'a> LinearChange<'a> {
    pub(super) fn new(steps: Steps<'a>, layout: &mut Layout) -> Result<Self> {
        let bytes = steps.bytes(1);
        let slots = layout.range(steps.scratch, bytes)?;
        let owners = if elects(&steps) { layout.range(steps.scratch, bytes)? } else { Range::NONE };
        Ok(Self { steps, slots, owners })
    }

    pub(super) fn steps(&self) -> &Steps<'a> {
        &self.steps
    }

    /// Another change in the same parts of scratch.
    pub(super) fn with_steps(&self, steps: Steps<'a>) -> Self {
        Self { steps, ..*self }
    }
}

impl PlanSource for LinearChange<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        self.add_passes(plan);
    }
}

impl LinearChange<'_> {
    pub(super) fn add_passes(&self, plan: &mut Plan<'_>) {
        let is_empty = self.steps.problem.max_count == 0;
        match self.steps.format().operation {
            HashOperation::Erase => {
                self.add_erase(plan);
                if !self.steps.format().concurrent && !is_empty {
                    self.add_trim(plan);
                }
            }
            operation => {
                self.add_claim(plan);
                if is_empty {
                    return;
                }
                if self.steps.format().multimap || self.steps.format().concurrent {
                    self.add_list(plan);
                    return;
                }
                if operation.combines() {
                    (0..combine_rounds(&self.steps)).for_each(|round| self.add_combine(plan, round));
                    return;
                }
                if elects(&self.steps) {
                    self.add_elect(plan);
                }
                self.add_store(plan);
            }
        }
    }
}

/// Whether one item of those with equal keys must be found that provides the value.
fn elects(steps: &Steps<'_>) -> bool {
    let format = steps.format();
    let is_any = format.concurrent || format.multimap;
    format.operation.reads_values() && format.value_words != 0 && !format.operation.combines() && !is_any
}

/// A minimum or maximum of two words takes two rounds. See glsl/hash/values.glsl.
fn combine_rounds(steps: &Steps<'_>) -> u32 {
    let orders = matches!(steps.format().operation, HashOperation::Min | HashOperation::Max);
    if orders && steps.format().value_words == 2 { 2 } else { 1 }
}

impl LinearChange<'_> {
    fn add_pass(&self, plan: &mut Plan<'_>, kernel: Kernel, sets: [Resources; 2]) {
        self.add_round(plan, kernel, sets, 0);
    }

    fn add_round(&self, plan: &mut Plan<'_>, kernel: Kernel, sets: [Resources; 2], round: u32) {
        let Self { steps, slots, owners } = self;
        // Parts without bytes are not accessed.
        let part = |part: Range| if part == Range::NONE { 0 } else { steps.part_number(part.address) };
        let push = HashLinearPush {
            problem: steps.problem,
            scratch: steps.scratch.into(),
            slots: part(*slots),
            owners: part(*owners),
            round,
        };
        let threads = steps.profile().plain_threads;
        steps.add_pass(plan, kernel, threads, steps.batch_groups(threads, 1), sets, &push);
    }

    fn items(&self, plan: &mut Plan<'_>) -> Resources {
        set(plan, &[self.steps.keys(), self.steps.values(), self.steps.counts(), self.steps.requested()])
    }

    fn slots(&self, plan: &mut Plan<'_>) -> Resources {
        set(plan, &[("slots", self.slots)])
    }

    fn owners(&self, plan: &mut Plan<'_>) -> Resources {
        set(plan, &[("owners", self.owners)])
    }

    fn table(&self, plan: &mut Plan<'_>) -> Resources {
        set(plan, &[self.steps.table()])
    }

    fn leftovers(&self, plan: &mut Plan<'_>) -> Resources {
        set(plan, &self.steps.leftovers())
    }

    fn add_claim(&self, plan: &mut Plan<'_>) {
        let is_multimap = self.steps.format().multimap;
        let kernel = if is_multimap { Kernel::HashLinearAppend } else { Kernel::HashLinearClaim };
        let (items, table) = (self.items(plan), self.table(plan));
        let outputs = [self.steps.statuses(), ("leftover_counts", word(self.steps.problem.count_out))];
        let writes = set(plan, &outputs).union(self.slots(plan)).union(self.owners(plan)).union(table);
        self.add_pass(plan, kernel, [items.union(table), writes]);
    }

    /// Lists the items without a slot, if the caller wants to know of them.
    fn add_list(&self, plan: &mut Plan<'_>) {
        let leftovers = self.leftovers(plan);
        if leftovers == Resources::default() {
            return;
        }
        let reads = self.items(plan).union(self.slots(plan)).union(leftovers);
        self.add_pass(plan, Kernel::HashLinearList, [reads, leftovers]);
    }

    fn add_elect(&self, plan: &mut Plan<'_>) {
        let counts = set(plan, &[self.steps.counts()]);
        let state = self.slots(plan).union(self.owners(plan));
        let reads = counts.union(state).union(self.table(plan));
        self.add_pass(plan, Kernel::HashLinearElect, [reads, state]);
    }

    fn add_store(&self, plan: &mut Plan<'_>) {
        let state = self.slots(plan).union(self.owners(plan));
        let written = self.table(plan).union(self.leftovers(plan));
        let reads = self.items(plan).union(state).union(written);
        self.add_pass(plan, Kernel::HashLinearStore, [reads, written]);
    }

    fn add_combine(&self, plan: &mut Plan<'_>, round: u32) {
        let written = self.table(plan).union(self.leftovers(plan));
        let reads = self.items(plan).union(self.slots(plan)).union(written);
        self.add_round(plan, Kernel::HashLinearCombine, [reads, written], round);
    }

    fn add_erase(&self, plan: &mut Plan<'_>) {
        let (items, table, slots) = (self.items(plan), self.table(plan), self.slots(plan));
        let writes = set(plan, &[self.steps.statuses()]).union(slots).union(table);
        let selected = if self.steps.format().by_slot { slots } else { Resources::default() };
        self.add_pass(plan, Kernel::HashLinearErase, [items.union(table).union(selected), writes]);
    }

    fn add_trim(&self, plan: &mut Plan<'_>) {
        let table = self.table(plan);
        let reads = set(plan, &[self.steps.keys(), self.steps.counts()]).union(self.slots(plan)).union(table);
        self.add_pass(plan, Kernel::HashLinearTrim, [reads, table]);
    }
}
