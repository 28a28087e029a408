//! The plan of a sort.

use super::algorithm::{Algorithm, Finish, small_ranking};
use crate::core::handle::{One, TableJobs};
use crate::core::memory::{Arguments, BoundingRanges, Range};
use crate::core::plan::{Content, Groups, Plan, Resources, Rows, Table};
use crate::core::primitive::{Jobs, PlanSource, Planner};
use crate::core::scratch::Layout;
use crate::kernels::Kernel;
use crate::merge::Merging;
use crate::radix::{
    Algorithm as _, Config, Format, Given, Id, ItemRole, Items, Method, Operation, PLAIN, PassFacts, Passes, Problems,
    Values, push_constants, set,
};
use crate::shared::{
    FLAG_HISTOGRAMS, MODE_JOIN, MODE_PARTITION, MergePush, PathPush, RadixProblem, RankPush, SmallPush, UserInput,
};
use crate::tuning::{SizedMerge, SizedRank, SmallShape, TileShape, ranked_chunk};
use crate::{Result, Strategy};

/// Maximum number of workgroups that sort equal prefixes, unless there are more problems. Each takes one tile after the
/// other.
const MOST_FINISHING: u32 = (1 << 16) - 1;

push_constants! {
    RadixProblem:
    SmallPush { scratch, problems, problem_count }
    RankPush { pass }
}

/// The inputs of comparators, in the tables of sorts.
const USER_INPUTS: Rows = Rows(1);

/// A level of a merge sort. The first one sorts runs.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Number of levels after this one.
    levels_after: u32,
    /// Items of the runs that are merged.
    run_items: u32,
    /// Part of scratch.
    user_inputs: u32,
}

impl From<(&PassFacts, RadixProblem, Level)> for MergePush {
    fn from((facts, problem, level): (&PassFacts, RadixProblem, Level)) -> Self {
        let PassFacts { scratch, problems, problem_count, groups, .. } = *facts;
        let Level { levels_after, run_items, user_inputs } = level;
        Self { problem, scratch: scratch.into(), problems, problem_count, groups, levels_after, run_items, user_inputs }
    }
}

/// Sorts by digits, and what precedes or replaces them for smaller counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sorting;

impl Method for Sorting {
    const HANDLE: [&'static str; 2] = ["sorter", "the sorter's maxCount"];
    type Job = Items;
    type Role = ItemRole;
    type Algorithm = Algorithm;
    type Table<'a> = SortTable<'a>;

    fn items(job: &Items) -> &Items {
        job
    }

    fn strategies(&self, _format: &Format, of_device: Strategy) -> (Strategy, Option<Strategy>) {
        (of_device, None)
    }

    fn arguments(&self, format: &Format, items: &Items) -> Arguments<ItemRole> {
        items.arguments(format)
    }

    fn given(&self, format: &Format, items: &Items, role: ItemRole) -> Option<Given> {
        items.given(format, role)
    }

    fn largest(&self, items: Items) -> Items {
        items
    }

    fn lay_out<'a>(
        &self,
        config: Config<'a>,
        algorithm: Algorithm,
        jobs: &'a dyn Jobs<(Items, ItemRole)>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<SortTable<'a>> {
        SortTable::new(config, algorithm, TableJobs::Requests(jobs), jobs.bounding_ranges(), scratch, layout)
    }
}

/// Sorts of one group, laid out in scratch.
pub(crate) struct SortTable<'a> {
    pub(crate) problems: Problems<'a>,
    pub(crate) algorithm: Algorithm,
    jobs: TableJobs<'a, (Items, ItemRole)>,
    /// With a comparator: a [`UserInput`] of each problem.
    user_inputs: Range,
}

impl Operation<Sorting> {
    /// Lays out a sort that is a part of another primitive's request.
    #[cfg_attr(not(feature = "default"), allow(dead_code, reason = "primitives that are made of others call it"))]
    pub(crate) fn lay_out_part(
        &self,
        group: <Self as Planner>::Group,
        items: Items,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<SortTable<'_>> {
        let (config, algorithm) = self.configured(group);
        let bounds = One::new(self, items).bounding_ranges();
        SortTable::new(config, algorithm, TableJobs::Part(items), bounds, scratch, layout)
    }
}

impl<'a> SortTable<'a> {
    fn new(
        config: Config<'a>,
        algorithm: Algorithm,
        jobs: TableJobs<'a, (Items, ItemRole)>,
        bounds: BoundingRanges<ItemRole>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let each = |visit: &mut dyn FnMut(&Items)| jobs.for_each(visit);
        let problems = Problems::new(config, algorithm.outline(&config), &each, bounds, scratch, layout)?;
        let inputs = if config.format.comparator == 0 { 0 } else { size_of::<UserInput>() as u64 };
        let user_inputs = layout.range(scratch, u64::from(problems.count) * inputs)?;
        Ok(Self { problems, algorithm, jobs, user_inputs })
    }
}

impl Table for SortTable<'_> {
    fn for_each_row(&self, rows: Rows, row: &mut dyn FnMut(&[u8])) {
        if rows == USER_INPUTS {
            return self.jobs.for_each(&mut |Items { user_address, user_words, .. }| {
                row(bytemuck::bytes_of(&UserInput { address: (*user_address).into(), words: *user_words }));
            });
        }
        let mut rows = self.problems.rows();
        self.jobs.for_each(&mut |items| row(bytemuck::bytes_of(&rows.next(items))));
    }
}

impl PlanSource for SortTable<'_> {
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>) {
        plan.name = "sort";
        let Problems { config, most_items, any_status, .. } = &self.problems;
        let mut passes = Passes::new(&self.problems, plan, self);
        match (self.algorithm, config.scan()) {
            // No items, no status words.
            _ if *most_items == 0 && !any_status => {}
            // No items: only the status words are written.
            (Algorithm::Tiled(tile, ..), _) if *most_items == 0 => {
                let tickets = passes.tickets;
                passes.prepare(tile, 0, &[tickets]);
            }
            (Algorithm::Segments { whole, tiles }, _) => passes.segments(whole, tiles),
            (Algorithm::Ranked(ranked), _) => passes.rank(ranked),
            (Algorithm::Small(small), _) => passes.sort_small(small),
            (Algorithm::Merged(merging), _) => passes.merge(merging, self),
            (Algorithm::Tiled(tile, ..), None) => passes.reduce_then_scan(tile),
            (Algorithm::Tiled(tile, _, finish), Some(_)) => passes.look_back(tile, finish),
        }
        passes.finish();
    }
}

impl<'a> Passes<'_, 'a> {
    fn sort_small(&mut self, small: SmallShape) {
        let groups = Groups::Fixed(self.problems.count);
        let reads = self.read_of_input().union(set(&[self.counts, self.rows]));
        let writes = self.written_of(self.staged, true).union(set(&[self.statuses]));
        let config = &self.problems.config;
        let holding = config.holding(small.shape, self.problems.mode);
        match small.kernel() {
            kernel @ Kernel::MergeSortRun => self.merge_pass(kernel, &holding, 1, Level::default(), reads, writes),
            kernel => {
                let values = Values { ranking: small_ranking(config), ..holding };
                self.pass::<SmallPush>(kernel, &values, groups, reads, writes);
            }
        }
    }

    /// Ranks each key against all keys. In place, a copy follows: other workgroups still read the input.
    fn rank(&mut self, ranked: SizedRank) {
        let (config, mode, most_items) = (&self.problems.config, self.problems.mode, self.problems.most_items);
        let once = self.problems.outline.moves_once;
        let written = self.written_of(self.staged, true);
        let copied = set(&self.alternate);
        let reads = self.read_of_input().union(set(&[self.counts]));
        let writes = if once { written } else { copied }.union(set(&[self.statuses]));
        (self.facts.pass.index, self.facts.pass.digits, self.facts.pass.rows) = (0, 1, 0);
        let tile = ranked_chunk(ranked.threads, config.format.compared_words(), config.facts.shared_memory);
        let values = Values { tile, ..config.holding(ranked.shape(), mode) };
        self.pass::<RankPush>(
            Kernel::SortRank,
            &values,
            Groups::Fixed(most_items.div_ceil(ranked.items)),
            reads,
            writes,
        );
        if !once {
            self.facts.pass.index = 1;
            let reads = copied.union(self.tile_map());
            // Few items: one thread each.
            let groups = Groups::Fixed(most_items.div_ceil(config.profile.plain_threads));
            self.pass::<PathPush>(Kernel::RadixCopy, &config.finishing(PLAIN, mode), groups, reads, written);
        }
    }

    /// Sorts runs, then merges them level by level.
    fn merge(&mut self, merging: Merging, table: &'a SortTable<'_>) {
        let (config, mode, most) = (&self.problems.config, self.problems.mode, self.problems.most_items);
        let SizedMerge { run, window, .. } = merging.sized;
        let mut of_level = Level { user_inputs: self.problems.part_of(table.user_inputs), ..Level::default() };
        let mut inputs = Id::NONE;
        if table.user_inputs.size != 0 {
            let resource = self.plan.add_resource("user_inputs", table.user_inputs);
            let offset = self.problems.offset_of(table.user_inputs);
            self.plan.add_upload(Content::Rows(table, USER_INPUTS), offset, resource);
            inputs = Id(Some(resource));
        }
        // The module of a comparator has all three kernels.
        let selected = |values: Values, kernel| match config.format.comparator {
            0 => values,
            module => Values { mode: mode | kernel, module, ..values },
        };
        let (tile_map, planes) = (self.tile_map().union(set(&[inputs])), set(&self.alternate));
        for level in 0..=merging.levels {
            let (first, last) = (level == 0, level == merging.levels);
            let reads = tile_map.union(if first { self.read_of_input() } else { planes });
            let writes = if last { self.written_of(self.staged, true) } else { planes };
            of_level.levels_after = merging.levels - level;
            if first {
                let (reads, writes) = (reads.union(set(&[self.counts])), writes.union(set(&[self.statuses])));
                let (values, runs) = (selected(config.holding(run, mode), 0), merging.runs(most));
                self.merge_pass(Kernel::MergeSortRun, &values, runs, of_level, reads, writes);
                continue;
            }
            // Problems::new has checked both limits.
            of_level.run_items = u32::try_from(merging.run_items(level - 1)).unwrap_or(u32::MAX);
            let windows = u32::try_from(merging.windows(level, most)).unwrap_or(u32::MAX);
            let partitions = merging.partitions(config.profile.plain_threads, most);
            let (keys, rows) = (tile_map.union(set(&[self.alternate[0]])), set(&[self.tile_words]));
            let along = selected(config.along(window, mode), MODE_PARTITION);
            let holding = selected(config.holding(window, mode), MODE_JOIN);
            self.merge_pass(Kernel::MergePartition, &along, partitions, of_level, keys, rows);
            self.merge_pass(Kernel::MergeJoin, &holding, windows, of_level, reads.union(rows), writes);
        }
    }

    /// Adds a pass of a level, with `groups` workgroups for each problem.
    fn merge_pass(
        &mut self,
        kernel: Kernel,
        values: &Values,
        groups: u32,
        level: Level,
        reads: Resources,
        writes: Resources,
    ) {
        self.facts.groups = groups;
        let (push, count) = (MergePush::from((&self.facts, self.problems.row, level)), self.problems.count);
        self.add(kernel, values, Groups::Fixed(count * groups), &push, reads, writes);
    }

    fn reduce_then_scan(&mut self, tile: TileShape) {
        let histograms = self.histograms;
        // The spine provides sums; the histogram only finds constant digits.
        if self.problems.skips_digits {
            self.prepare(tile, FLAG_HISTOGRAMS, &[histograms]);
            self.histogram(tile, &[]);
        } else if self.problems.prepared {
            self.prepare(tile, 0, &[]);
        }
        self.digits_by_scan(tile);
    }

    fn look_back(&mut self, tile: TileShape, finish: Finish) {
        let (histograms, tickets, tile_words) = (self.histograms, self.tickets, self.tile_words);
        if self.problems.prepared {
            self.prepare(tile, FLAG_HISTOGRAMS, &[histograms, tickets]);
        }
        let Finish::Prefixes(shape) = finish else { return self.digits_by_look_back(tile) };
        self.histogram(tile, &[tile_words]);
        self.choose_prefix_path();
        self.onesweep(tile, histograms, Id::NONE);
        self.copy();
        self.sort_equal_prefixes(shape);
    }

    /// Decides between digits and prefixes, after the histogram.
    fn choose_prefix_path(&mut self) {
        let chosen = set(&[self.histograms]);
        let values = self.problems.config.plain(self.problems.mode);
        let (reads, groups) = (chosen.union(self.tile_map()), Groups::Fixed(self.problems.count));
        self.pass::<PathPush>(Kernel::SortChoosePrefixPath, &values, groups, reads, chosen);
    }

    /// Sorts equal prefixes, after the passes over prefix digits.
    fn sort_equal_prefixes(&mut self, shape: crate::tuning::Shape) {
        let digits = self.format().digits();
        self.set_digit(digits);
        let (reads, writes) = self.source_and_target(digits);
        let Problems { count, most_items, .. } = *self.problems;
        let tiles = most_items.div_ceil(shape.tile()).min((MOST_FINISHING / count).max(1));
        let reads = reads.union(self.tile_map()).union(self.skipped_digits());
        let values = self.problems.config.holding(shape, self.problems.mode);
        self.pass::<PathPush>(Kernel::SortEqualPrefixes, &values, Groups::Fixed(count * tiles), reads, writes);
    }
}
