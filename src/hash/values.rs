//! The values of keys of a multimap: how many there are, and all of them.

use super::HashOperation;
use super::hasher::HashInfo;
use super::steps::{Steps, WORD, set, word};
use crate::Result;
use crate::core::memory::Range;
use crate::core::plan::{Plan, Resources};
use crate::core::primitive::PlanSource;
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::shared::{HashProblem, HashTotalsProblem, HashTotalsPush, HashValuesProblem, HashValuesPush};

/// A count or a retrieval, laid out in scratch.
pub(crate) struct ValuesOfKeys<'a> {
    steps: Steps<'a>,
    problem: HashValuesProblem,
    /// The numbers of values of each key, or their offsets.
    numbers: Range,
    values: Range,
    /// Of a retrieval. Otherwise without a range.
    totals: Totals,
}

impl<'a> ValuesOfKeys<'a> {
    pub(super) fn new(steps: Steps<'a>, info: &HashInfo, layout: &mut Layout) -> Result<Self> {
        let format = steps.format();
        let words = u64::from(info.count.max) * WORD;
        let group_keys = steps.profile().plain_threads;
        let (mut numbers, mut values, mut range) = (Range::new(info.counts.address, words), Range::NONE, Range::NONE);
        if format.operation == HashOperation::Retrieve {
            numbers = Range::new(info.offsets.address, words + WORD);
            range = layout.range(steps.scratch, u64::from(steps.batch_groups(group_keys, 1)) * WORD)?;
            if info.values_out != Range::NONE {
                let bytes = u64::from(info.max_values) * u64::from(format.value_words) * WORD;
                values = Range::new(info.values_out.address, bytes);
            }
        }
        let HashProblem { keys, table, count, status, max_count, slices, .. } = steps.problem;
        let problem = HashValuesProblem {
            keys,
            table,
            count,
            status,
            stencil: steps.stencil.into(),
            numbers: numbers.address.into(),
            values: values.address.into(),
            max_count,
            slices,
            max_values: info.max_values,
        };
        let max_sum = if values == Range::NONE { u32::MAX } else { info.max_values };
        let (count_out, status) = (("counts_out", word(info.count_out)), info.status);
        let totals = Totals { range, group_keys, numbers, count_out, max_sum, status };
        Ok(Self { steps, problem, numbers, values, totals })
    }

    fn add_pass(&self, plan: &mut Plan<'_>, kernel: Kernel, sets: [Resources; 2]) {
        let steps = &self.steps;
        let totals = part_number(steps.scratch, self.totals.range);
        let push = HashValuesPush {
            problem: self.problem,
            scratch: steps.scratch.into(),
            totals,
            scans: (self.totals.range != Range::NONE).into(),
        };
        let threads = steps.profile().plain_threads;
        steps.add_pass(plan, kernel, threads, steps.batch_groups(threads, 1), sets, &push);
    }
}

impl PlanSource for ValuesOfKeys<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        let steps = &self.steps;
        let keys = set(plan, &[steps.table(), steps.keys(), steps.counts(), steps.stencils()]);
        let numbers = set(plan, &[("numbers", self.numbers)]);
        if self.totals.range == Range::NONE {
            let status = set(plan, &[steps.statuses()]);
            self.add_pass(plan, Kernel::HashLinearCount, [keys, numbers.union(status)]);
            return;
        }
        let totals = set(plan, &[("totals", self.totals.range)]);
        let values = set(plan, &[("values", self.values)]);
        self.add_pass(plan, Kernel::HashLinearCount, [keys, numbers.union(totals)]);
        self.totals.add_to(steps, plan);
        if self.problem.max_count != 0 {
            let reads = keys.union(numbers).union(totals);
            self.add_pass(plan, Kernel::HashLinearRetrieve, [reads, numbers.union(values)]);
        }
    }
}

/// The sum of the numbers of all workgroups of a dispatch.
pub(super) struct Totals {
    /// A part of scratch with a word for each workgroup: its number, and then the sum of those before it.
    pub(super) range: Range,
    /// Keys of a workgroup.
    pub(super) group_keys: u32,
    /// Receives the sum behind a word for each key.
    pub(super) numbers: Range,
    /// Receives the sum, with its name in plans.
    pub(super) count_out: (&'static str, Range),
    /// The status says whether the sum is larger.
    pub(super) max_sum: u32,
    /// Address of the status; may be null.
    pub(super) status: u64,
}

impl Totals {
    /// `steps`: those of the batch.
    pub(super) fn add_to(&self, steps: &Steps<'_>, plan: &mut Plan<'_>) {
        let push = HashTotalsPush {
            problem: HashTotalsProblem {
                count: steps.problem.count,
                status: self.status.into(),
                numbers: self.numbers.address.into(),
                count_out: self.count_out.1.address.into(),
                max_count: steps.problem.max_count,
                max_sum: self.max_sum,
            },
            scratch: steps.scratch.into(),
            totals: part_number(steps.scratch, self.range),
            group_keys: self.group_keys,
        };
        let totals = set(plan, &[("totals", self.range)]);
        let reads = set(plan, &[steps.counts()]).union(totals);
        let status = ("statuses", word(self.status));
        let writes = set(plan, &[("numbers", self.numbers), self.count_out, status]).union(totals);
        steps.add_pass(plan, Kernel::HashTotals, steps.profile().plain_threads, 1, [reads, writes], &push);
    }
}
