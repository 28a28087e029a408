//! Compaction of a batch: the keys that a stencil selects, in the order of the batch.

use super::composition::in_scratch;
use super::hasher::HashInfo;
use super::planner::HashPlanner;
use super::steps::{Steps, WORD, set};
use super::values::Totals;
use crate::Result;
use crate::core::memory::Range;
use crate::core::plan::Plan;
use crate::core::primitive::Planner as _;
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::shared::{HashCompactionProblem, HashCompactionPush};

/// Keys of a word of a stencil.
const WORD_KEYS: u32 = 32;

/// A compaction, laid out in scratch: addresses.
pub(crate) struct Compaction {
    /// Of the whole batch.
    batch_keys: u64,
    batch_values: u64,
    batch_count: u64,
    /// A word of scratch: the number of selected keys.
    count: u64,
    /// A word of scratch for each workgroup.
    totals: u64,
}

impl Compaction {
    /// `items`: the batch, of which the selected keys remain.
    pub(super) fn new(planner: &HashPlanner, items: &mut HashInfo, scratch: u64, layout: &mut Layout) -> Result<Self> {
        let format = planner.format();
        let groups = groups(planner.handle().device().profile().plain_threads, items.count.max);
        let count = layout.range(scratch, WORD)?.address;
        let totals = layout.range(scratch, u64::from(groups) * WORD)?.address;
        let value_words = if format.operation.reads_values() { format.value_words } else { 0 };
        let (batch_keys, batch_values, batch_count) = (items.keys.address, items.values.address, items.count.address);
        in_scratch(items, [format.key_words, value_words], count, scratch, layout)?;
        Ok(Self { batch_keys, batch_values, batch_count, count, totals })
    }

    /// The steps of a change of all keys of the batch, by those of the change of the selected keys.
    pub(super) fn batch<'a>(&self, change: &Steps<'a>) -> Steps<'a> {
        let mut batch = *change;
        batch.problem.keys = self.batch_keys.into();
        let moves_values = change.format().value_words != 0 && change.format().operation.reads_values();
        batch.problem.values = if moves_values { self.batch_values } else { 0 }.into();
        batch.problem.count = self.batch_count.into();
        batch
    }

    /// Adds the passes in front of a change.
    pub(super) fn add_to(&self, change: &Steps<'_>, plan: &mut Plan<'_>) {
        let max_count = change.problem.max_count;
        if max_count == 0 {
            return;
        }
        let batch = self.batch(change);
        let threads = change.profile().plain_threads;
        let groups = groups(threads, max_count);
        let push = HashCompactionPush {
            problem: HashCompactionProblem {
                keys: batch.problem.keys,
                values: batch.problem.values,
                count: batch.problem.count,
                stencil: batch.stencil.into(),
                max_count,
            },
            scratch: change.scratch.into(),
            keys: part_number(change.scratch, change.keys().1),
            values: part_number(change.scratch, change.values().1),
            totals: change.part_number(self.totals),
        };
        let totals_range = Range::new(self.totals, u64::from(groups) * WORD);
        let stencil = set(plan, &[batch.stencils(), batch.counts()]);
        let totals = set(plan, &[("totals", totals_range)]);
        change.add_pass(plan, Kernel::HashStencilCount, threads, groups, [stencil, totals], &push);
        let sum = Totals {
            range: totals_range,
            group_keys: threads * WORD_KEYS,
            numbers: Range::NONE,
            count_out: ("selected_count", Range::new(self.count, WORD)),
            max_sum: u32::MAX,
            status: 0,
        };
        sum.add_to(&batch, plan);
        let items = set(plan, &[batch.keys(), batch.values()]);
        let selected = set(plan, &[("selected_keys", change.keys().1), ("selected_values", change.values().1)]);
        let reads = stencil.union(items).union(totals);
        change.add_pass(plan, Kernel::HashCompaction, threads, groups, [reads, selected], &push);
    }
}

/// Workgroups: a thread for each word of the stencil.
fn groups(threads: u32, max_count: u32) -> u32 {
    max_count.div_ceil(threads * WORD_KEYS).max(1)
}
