//! The status of merges of more than two sequences. No merge of two nodes sees the counts of all sequences.

use super::planner::{Config, MergeJobs};
use super::tree::{Before, Nodes, Tree};
use crate::Result;
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Content, Groups, Plan, Push, Resources, Rows, Table};
use crate::core::primitive::{Jobs, PlanSource};
use crate::core::scratch::{Layout, part_number};
use crate::kernels::Kernel;
use crate::radix::PROBLEMS;
use crate::shared::{Constant, MergePathPush, MergeProblem};

/// A pass beside those of the merges that checks the counts of their sequences.
pub(super) struct StatusCheck<'a> {
    config: Config<'a>,
    jobs: &'a dyn Jobs<MergeJobs>,
    scratch: u64,
    /// Number of rows: one for each two sequences of a merge, the first one of a merge with the status.
    count: u32,
    rows: Range,
    /// The smallest ranges around the counts of A, of B, and of the other sequences.
    counts: [Range; 3],
    /// The smallest range around the statuses.
    statuses: Range,
}

/// Rows of the check.
#[derive(Clone, Copy, Default)]
pub(super) struct CheckSize {
    count: u32,
    /// Those for which scratch has room. Sizes of batches depend on no addresses, so merges without a status have rows
    /// in scratch as well.
    room: u64,
}

impl CheckSize {
    pub(super) fn add(&mut self, tree: &Tree<'_>) {
        let pairs = tree.checked_pairs();
        self.room += u64::from(pairs);
        self.count += if tree.status() == 0 { 0 } else { pairs };
    }
}

impl<'a> StatusCheck<'a> {
    /// Lays out the check. `size`: of all merges. `counts` and `statuses`: the smallest ranges around theirs.
    pub(super) fn new(
        config: Config<'a>,
        jobs: &'a dyn Jobs<MergeJobs>,
        size: CheckSize,
        (counts, statuses): ([Range; 3], Range),
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let rows = layout.range(scratch, size.room * size_of::<MergeProblem>() as u64)?;
        Ok(Self { config, jobs, scratch, count: size.count, rows, counts, statuses })
    }

    /// Calls `visit` with each merge of more than two sequences.
    fn for_each_tree(&self, visit: &mut dyn FnMut(&Tree<'_>)) {
        self.jobs.for_each(&mut |info| {
            let nodes = Nodes::default();
            let tree = Tree::new(info, &self.config.format, &nodes, Before::default());
            if tree.checked_pairs() != 0 {
                visit(&tree);
            }
        });
    }

    /// Whether a merge needs the check.
    pub(super) fn has_rows(&self) -> bool {
        self.count != 0
    }
}

impl Table for StatusCheck<'_> {
    fn for_each_row(&self, _rows: Rows, row: &mut dyn FnMut(&[u8])) {
        self.for_each_tree(&mut |tree| {
            let pairs = if tree.status() == 0 { 0 } else { tree.checked_pairs() };
            for pair in 0..pairs {
                let [a, b] = [2 * pair, 2 * pair + 1].map(|of| tree.sequence(of).count);
                row(bytemuck::bytes_of(&MergeProblem {
                    count_a: a.address.into(),
                    count_b: b.address.into(),
                    max_count: a.max.saturating_add(b.max),
                    max_a: a.max,
                    status: if pair == 0 { tree.status() } else { 0 }.into(),
                    ..MergeProblem::default()
                }));
            }
        });
    }
}

impl PlanSource for StatusCheck<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        let mut set = |resources: &[(&'static str, Range)]| {
            let used = resources.iter().filter(|(_, range)| range.size != 0);
            used.fold(Resources::default(), |all, (name, range)| {
                all.union(Resources::of(&[plan.add_resource(name, *range)]))
            })
        };
        let [of_a, of_b, of_more] = self.counts;
        let counts = set(&[("counts_a", of_a), ("counts_b", of_b), ("counts_more", of_more)]);
        let statuses = set(&[("checked_statuses", self.statuses)]);
        let rows = plan.add_resource("checked_counts", self.rows);
        plan.add_upload(Content::Rows(self, PROBLEMS), self.rows.address.wrapping_sub(self.scratch), rows);
        let threads = self.config.profile.plain_threads;
        let variant = Variant::new(Kernel::MergeStatus, |constant| match constant {
            Constant::Threads => threads,
            Constant::Lanes => self.config.lanes(Kernel::MergeStatus),
            _ => 0,
        });
        let groups = self.count.div_ceil(threads);
        let push = MergePathPush {
            problem: MergeProblem::default(),
            scratch: self.scratch.into(),
            problems: part_number(self.scratch, self.rows),
            problem_count: self.count,
            groups,
            details: 0,
        };
        let variant = plan.add_variant(&variant);
        let reads = counts.union(Resources::of(&[rows]));
        plan.add_pass(variant, Groups::Fixed(groups), Push::new(Kernel::MergeStatus, &push), reads, statuses);
    }
}
