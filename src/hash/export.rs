//! Exports: all keys of a table, or those that their values select.

use super::hasher::HashInfo;
use super::steps::{Steps, WORD, set, word};
use crate::Result;
use crate::core::memory::Range;
use crate::core::plan::{Groups, Plan, Resources};
use crate::core::primitive::PlanSource;
use crate::core::scratch::Layout;
use crate::kernels::Kernel;
use crate::shared::{HashExportProblem, HashExportPush};

/// An export, laid out in scratch.
pub(crate) struct Export<'a> {
    steps: Steps<'a>,
    /// A word of scratch: the number of exported keys.
    cursor: Range,
    min_value: u64,
    max_value: u64,
}

/// The words of a number, the lower one first.
#[allow(clippy::cast_possible_truncation, reason = "the words are parts of the number")]
fn words(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

impl<'a> Export<'a> {
    pub(super) fn new(steps: Steps<'a>, info: &HashInfo, layout: &mut Layout) -> Result<Self> {
        let cursor = layout.range(steps.scratch, WORD)?;
        Ok(Self { steps, cursor, min_value: info.min_value, max_value: info.max_value })
    }

    /// An export of all keys. `cursor`: the address of the word of scratch.
    pub(super) fn of(steps: Steps<'a>, cursor: u64) -> Self {
        Self { steps, cursor: Range::new(cursor, WORD), min_value: 0, max_value: u64::MAX }
    }

    /// The same export of the keys with values from the first to the second one.
    pub(super) fn selecting(self, [min_value, max_value]: [u64; 2]) -> Self {
        Self { min_value, max_value, ..self }
    }
}

impl PlanSource for Export<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        self.add_passes(plan, self.steps.all_slices());
    }
}

impl Export<'_> {
    /// `groups`: a workgroup for each slice.
    pub(super) fn add_passes(&self, plan: &mut Plan<'_>, groups: impl Into<Groups>) {
        let Self { steps, cursor, min_value, max_value } = self;
        let problem = &steps.problem;
        let push = HashExportPush {
            problem: HashExportProblem {
                keys: problem.keys,
                values: problem.values,
                table: problem.table,
                status: problem.status,
                count_out: problem.count_out,
                max_count: problem.max_count,
                slices: problem.slices,
                min_value: words(*min_value),
                max_value: words(*max_value),
            },
            scratch: steps.scratch.into(),
            cursor: steps.part_number(cursor.address),
        };
        let resource = plan.add_resource("cursor", *cursor);
        plan.add_clear(*cursor, steps.scratch, resource);
        let cursor = Resources::of(&[resource]);
        let reads = set(plan, &[steps.table()]).union(cursor);
        let results = set(plan, &[("counts_out", word(problem.count_out)), steps.statuses()]);
        let items = set(plan, &[steps.keys(), steps.values()]).union(cursor);
        let selects = steps.format().operation.selects();
        let writes = if selects { items } else { items.union(results) };
        let threads = steps.profile().hash.slice_threads;
        let kernel = steps.kernel(Kernel::HashExport, Kernel::HashLinearExport);
        steps.add_pass(plan, kernel, threads, groups, [reads, writes], &push);
        if selects && results != Resources::default() {
            let threads = steps.profile().plain_threads;
            steps.add_pass(plan, Kernel::HashExportResults, threads, 1, [cursor, results], &push);
        }
    }
}
