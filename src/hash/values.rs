//! The values of keys of a multimap: how many there are, and all of them.

use super::HashOperation;
use super::hasher::HashInfo;
use super::plan::{Steps, WORD, set, word};
use crate::Result;
use crate::core::memory::Range;
use crate::core::plan::{Plan, Resources};
use crate::core::primitive::PlanSource;
use crate::core::scratch::Layout;
use crate::kernels::Kernel;
use crate::shared::{HashValuesProblem, HashValuesPush};

/// A count or a retrieval, laid out in scratch.
pub(crate) struct ValuesOfKeys<'a> {
    steps: Steps<'a>,
    problem: HashValuesProblem,
    /// The numbers of values of each key, or their offsets.
    numbers: Range,
    values: Range,
    /// A word for each workgroup of a retrieval. Otherwise none.
    totals: Range,
}

impl<'a> ValuesOfKeys<'a> {
    pub(super) fn new(steps: Steps<'a>, info: &HashInfo, layout: &mut Layout) -> Result<Self> {
        let format = steps.format();
        let is_retrieval = format.operation == HashOperation::Retrieve;
        let words = u64::from(info.count.max) * WORD;
        let (numbers, values, totals) = if is_retrieval {
            let values = u64::from(info.max_values) * u64::from(format.value_words) * WORD;
            let totals = u64::from(steps.batch_groups(steps.profile().plain_threads, 1)) * WORD;
            let values = if info.values_out == Range::NONE { 0 } else { values };
            let values = Range::new(info.values_out.address, values);
            (Range::new(info.offsets.address, words + WORD), values, layout.range(steps.scratch, totals)?)
        } else {
            (Range::new(info.counts.address, words), Range::NONE, Range::NONE)
        };
        let problem = HashValuesProblem {
            keys: steps.problem.keys,
            table: steps.problem.table,
            count: steps.problem.count,
            status: steps.problem.status,
            numbers: numbers.address.into(),
            values: values.address.into(),
            count_out: if is_retrieval { info.count_out } else { 0 }.into(),
            max_count: steps.problem.max_count,
            slices: steps.problem.slices,
            max_values: info.max_values,
        };
        Ok(Self { steps, problem, numbers, values, totals })
    }

    fn add_pass(&self, plan: &mut Plan<'_>, kernel: Kernel, groups: u32, sets: [Resources; 2]) {
        let (steps, is_retrieval) = (&self.steps, self.totals != Range::NONE);
        let push = HashValuesPush {
            problem: self.problem,
            scratch: steps.scratch.into(),
            totals: if is_retrieval { steps.part_number(self.totals.address) } else { 0 },
            adds_up: is_retrieval.into(),
        };
        steps.add_pass(plan, kernel, steps.profile().plain_threads, groups, sets, &push);
    }
}

impl PlanSource for ValuesOfKeys<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        let steps = &self.steps;
        let groups = steps.batch_groups(steps.profile().plain_threads, 1);
        let counts = set(plan, &[steps.counts()]);
        let keys = set(plan, &[steps.table(), steps.keys()]).union(counts);
        let status = set(plan, &[steps.statuses()]);
        let numbers = set(plan, &[("numbers", self.numbers)]);
        if self.totals == Range::NONE {
            self.add_pass(plan, Kernel::HashLinearCount, groups, [keys, numbers.union(status)]);
            return;
        }
        let totals = set(plan, &[("totals", self.totals)]);
        let values = set(plan, &[("values", self.values)]);
        let count_out = set(plan, &[("counts_out", word(self.problem.count_out))]);
        self.add_pass(plan, Kernel::HashLinearCount, groups, [keys, numbers.union(totals)]);
        let results = numbers.union(count_out).union(status);
        self.add_pass(plan, Kernel::HashTotals, 1, [counts.union(totals), results.union(totals)]);
        if self.problem.max_count != 0 {
            let reads = keys.union(numbers).union(totals);
            self.add_pass(plan, Kernel::HashLinearRetrieve, groups, [reads, numbers.union(values)]);
        }
    }
}
