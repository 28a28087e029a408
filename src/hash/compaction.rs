//! Compaction of a batch: the keys that a stencil selects, in the order of the batch.

use super::hasher::HashInfo;
use super::plan::{Steps, WORD, in_scratch, set};
use super::values::Totals;
use crate::core::memory::Range;
use crate::core::plan::{Plan, Resources};
use crate::core::primitive::PlanSource;
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::shared::{HashCompactionProblem, HashCompactionPush};
use crate::{Count, Result};

/// Keys of a word of a stencil.
const WORD_KEYS: u32 = 32;

/// A compaction, laid out in scratch.
pub(crate) struct Compaction<'a> {
    /// With the keys and values of the whole batch.
    steps: Steps<'a>,
    /// A word of scratch: the number of selected keys.
    count: Range,
    totals: Range,
    /// The selected keys and their values.
    keys: Range,
    values: Range,
}

impl<'a> Compaction<'a> {
    pub(super) fn new(steps: Steps<'a>, info: &HashInfo, layout: &mut Layout) -> Result<Self> {
        let scratch = steps.scratch;
        let count = layout.range(scratch, WORD)?;
        let totals = layout.range(scratch, u64::from(groups(&steps)) * WORD)?;
        let value_words = if steps.format().operation.reads_values() { steps.format().value_words } else { 0 };
        let HashInfo { keys, values, .. } =
            in_scratch([steps.format().key_words, value_words], info, count.address, scratch, layout)?;
        Ok(Self { steps, count, totals, keys, values })
    }

    /// The batch of the selected keys.
    pub(super) fn items(&self, info: &HashInfo) -> HashInfo {
        let count = Count::device(self.count.address, info.count.max);
        HashInfo { keys: self.keys, values: self.values, count, ..*info }
    }

    fn add_pass(&self, plan: &mut Plan<'_>, kernel: Kernel, sets: [Resources; 2]) {
        let steps = &self.steps;
        let part = |range| part_number(steps.scratch, range);
        let push = HashCompactionPush {
            problem: HashCompactionProblem {
                keys: steps.problem.keys,
                values: steps.problem.values,
                count: steps.problem.count,
                stencil: steps.stencil.into(),
                max_count: steps.problem.max_count,
            },
            scratch: steps.scratch.into(),
            keys: part(self.keys),
            values: part(self.values),
            totals: part(self.totals),
        };
        steps.add_pass(plan, kernel, steps.profile().plain_threads, groups(steps), sets, &push);
    }
}

/// Workgroups: a thread for each word of the stencil.
fn groups(steps: &Steps<'_>) -> u32 {
    steps.batch_groups(steps.profile().plain_threads, WORD_KEYS)
}

impl PlanSource for Compaction<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        let steps = &self.steps;
        if steps.problem.max_count == 0 {
            return;
        }
        let stencil = set(plan, &[steps.stencils(), steps.counts()]);
        let totals = set(plan, &[("totals", self.totals)]);
        self.add_pass(plan, Kernel::HashStencilCount, [stencil, totals]);
        let sum = Totals {
            range: self.totals,
            group_keys: steps.profile().plain_threads * WORD_KEYS,
            numbers: Range::NONE,
            count_out: ("selected_count", self.count),
            max_sum: u32::MAX,
            status: 0,
        };
        sum.add_to(steps, plan);
        let items = set(plan, &[steps.keys(), steps.values()]);
        let selected = set(plan, &[("selected_keys", self.keys), ("selected_values", self.values)]);
        self.add_pass(plan, Kernel::HashCompaction, [stencil.union(items).union(totals), selected]);
    }
}
