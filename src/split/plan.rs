//! The plan of a split.

use super::algorithm::{Algorithm, strategies};
use super::job::{BucketSource, Buckets, Job, Role, SplitBy};
use super::rows::{InfoFacts, label_row};
use crate::core::memory::{Access, Argument, Arguments, BoundingRanges, Range};
use crate::core::plan::{Content, Groups, Plan, Push, Resources, Rows, Table};
use crate::core::primitive::{Jobs, PlanSource};
use crate::core::scratch::Layout;
use crate::kernels::Kernel;
use crate::radix::{
    Algorithm as _, Config, Format, Given, Id, ItemRole, Items, Method, PROBLEMS, PassFacts, Passes, Problems, Values,
    output_items, plane_bytes, set,
};
use crate::shared::{
    BoundsPush, BucketInfoProblem, BucketInfoPush, ClearLookBackPush, CountingInfoProblem, CountingInfoPush,
    FLAG_HISTOGRAMS, KeyRange, LabelProblem, LabelPush, OUTPUT_BUCKETS, OUTPUT_NONE, OUTPUT_PLACED, RadixProblem,
    SharedStruct, SingleDispatchPush,
};
use crate::tuning::{Shape, TileShape};
use crate::{Result, Strategy};

/// Rows of the passes that write bucket information, and of the pass that writes labels.
const INFO: Rows = Rows(1);
const LABELS: Rows = Rows(2);

/// Maximum number of workgroups that write bucket information of segments. Fewer would need long loops, which some
/// drivers cut off.
const MOST_INFO_GROUPS: u32 = 1 << 16;

impl Method for SplitBy {
    const HANDLE: [&'static str; 2] = ["splitter", "the splitter's maxCount"];
    type Job = Job;
    type Role = Role;
    type Algorithm = Algorithm;
    type Table<'a> = SplitTable<'a>;

    fn items(job: &Job) -> &Items {
        &job.items
    }

    fn strategies(&self, format: &Format, of_device: Strategy) -> (Strategy, Option<Strategy>) {
        strategies(format, of_device)
    }

    fn arguments(&self, format: &Format, job: &Job) -> Arguments<Role> {
        self.arguments(format, job)
    }

    fn given(&self, format: &Format, job: &Job, role: Role) -> Option<Given> {
        self.given(format, job, role)
    }

    fn largest(&self, items: Items) -> Job {
        Job { items, buckets: Buckets { offsets: Range::new(4, 4), ..Buckets::default() } }
    }

    fn lay_out<'a>(
        &self,
        config: Config<'a>,
        algorithm: Algorithm,
        jobs: &'a dyn Jobs<(Job, Role)>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<SplitTable<'a>> {
        SplitTable::new(*self, config, algorithm, jobs, scratch, layout)
    }
}

/// The smallest ranges around the arguments that only splits have.
struct Bounds {
    /// Bucket offsets, counts and commands.
    info: [Range; 3],
    bucket_ids: Range,
    splitters: Range,
    starts: Range,
}

impl Bounds {
    fn of(bounds: &BoundingRanges<Role>) -> Self {
        Self {
            info: [Role::Offsets, Role::Counts, Role::Commands].map(|role| bounds.range(role)),
            bucket_ids: bounds.range(Role::BucketIds),
            splitters: bounds.range(Role::Splitters),
            starts: bounds.range(Role::Starts),
        }
    }
}

/// Splits of one group, laid out in scratch.
pub(crate) struct SplitTable<'a> {
    pub(crate) problems: Problems<'a>,
    pub(crate) algorithm: Algorithm,
    by: SplitBy,
    jobs: &'a dyn Jobs<(Job, Role)>,
    bounds: Bounds,
    /// Whether bucket information is written.
    writes_bucket_info: bool,
    /// Rows of the passes that write bucket information.
    info_rows: Range,
    /// Rows of the pass that writes labels.
    label_rows: Range,
}

impl<'a> SplitTable<'a> {
    fn new(
        by: SplitBy,
        config: Config<'a>,
        algorithm: Algorithm,
        jobs: &'a dyn Jobs<(Job, Role)>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let bounds = jobs.bounding_ranges();
        let mut of_items = Arguments::new();
        let bound = |role: ItemRole| Argument { role, range: bounds.range(role.into()), access: Access::Read };
        of_items.extend(ItemRole::ALL.map(bound));
        let each = |visit: &mut dyn FnMut(&Items)| jobs.for_each(&mut |job| visit(&job.items));
        let outline = algorithm.outline(&config);
        let mut problems = Problems::new(config, outline, &each, BoundingRanges::of(&of_items), scratch, layout)?;
        let single_dispatch = algorithm.is_single_dispatch();
        let mut writes_bucket_info = false;
        jobs.for_each(&mut |job| {
            if problems.count == 1 {
                problems.row.range = bucket_range(job);
            }
            writes_bucket_info |= by.writes_bucket_info(&config.format, job);
            // In reduce-then-scan splits, the pass of bucket information also copies given bucket starts.
            writes_bucket_info |= job.buckets.starts != Range::NONE && !config.skips_histogram();
            // In single-dispatch splits, it also writes the status.
            writes_bucket_info |= single_dispatch && job.items.status != 0;
        });
        let info_rows = match single_dispatch {
            true => problems.table::<CountingInfoProblem>(layout),
            false => problems.table::<BucketInfoProblem>(layout),
        };
        let info_rows = info_rows?;
        let label_rows = if by.labels.is_some() { problems.table::<LabelProblem>(layout)? } else { Range::NONE };
        Ok(Self {
            problems,
            algorithm,
            by,
            jobs,
            bounds: Bounds::of(&bounds),
            writes_bucket_info,
            info_rows,
            label_rows,
        })
    }

    fn for_each_job(&self, visit: &mut dyn FnMut(&RadixProblem, &Job)) {
        let mut rows = self.problems.rows();
        self.jobs.for_each(&mut |job| {
            visit(&RadixProblem { range: bucket_range(job), ..rows.next(&job.items) }, job);
        });
    }

    /// Calls `visit` with the rows of bucket information.
    pub(crate) fn for_each_info<R: for<'r> From<InfoFacts<'r>>>(&self, visit: &mut dyn FnMut(&R)) {
        let format = &self.problems.config.format;
        let ends_behind = format.segmented && !format.digits().is_multiple_of(2);
        self.for_each_job(&mut |problem, Job { items, buckets }| {
            // The final location of labels: see labels_end_in_second_plane() in glsl/radix/planes.glsl.
            let labels = if ends_behind { plane_bytes(problem.max_count) } else { 0 };
            visit(&R::from(InfoFacts { problem, buckets, capacity: output_items(format, items), labels }));
        });
    }

    /// Calls `visit` with the rows of labels.
    pub(crate) fn for_each_label(&self, visit: &mut dyn FnMut(&LabelProblem)) {
        if let Some(labels) = &self.by.labels {
            self.for_each_job(&mut |problem, job| visit(&label_row(problem, job, labels)));
        }
    }
}

/// The range that a split by the values of the keys divides into buckets.
fn bucket_range(job: &Job) -> KeyRange {
    bytemuck::cast(job.buckets.range)
}

impl Table for SplitTable<'_> {
    fn for_each_row(&self, rows: Rows, row: &mut dyn FnMut(&[u8])) {
        match rows {
            PROBLEMS => self.for_each_job(&mut |problem, _| row(bytemuck::bytes_of(problem))),
            INFO if self.algorithm.is_single_dispatch() => {
                self.for_each_info::<CountingInfoProblem>(&mut |problem| row(bytemuck::bytes_of(problem)));
            }
            INFO => self.for_each_info::<BucketInfoProblem>(&mut |problem| row(bytemuck::bytes_of(problem))),
            _ => self.for_each_label(&mut |problem| row(bytemuck::bytes_of(problem))),
        }
    }
}

impl PlanSource for SplitTable<'_> {
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>) {
        let mut builder = Builder::new(self, plan);
        let Problems { config, most_items, any_status, .. } = &self.problems;
        match (self.algorithm, config.scan()) {
            // No items, no status words, no bucket information.
            _ if *most_items == 0 && !any_status && !self.writes_bucket_info => {}
            // No items: only the status words and the (empty) bucket information are written.
            (Algorithm::Tiled(tile, _), _) if *most_items == 0 => {
                let tickets = builder.passes.tickets;
                builder.passes.prepare(tile, 0, &[tickets]);
            }
            (Algorithm::Segments { whole, tiles }, _) => {
                builder.label();
                builder.passes.segments(whole, tiles);
            }
            (Algorithm::SingleDispatch(shape), _) => builder.single_dispatch(shape),
            (Algorithm::Tiled(tile, _), None) => builder.reduce_then_scan(tile),
            (Algorithm::Tiled(tile, _), Some(_)) => builder.look_back(tile),
        }
        builder.bucket_info();
        builder.passes.finish();
    }
}

struct Builder<'p, 'a> {
    table: &'a SplitTable<'a>,
    passes: Passes<'p, 'a>,
    /// Bucket offsets, counts and commands.
    info: [Id; 3],
    info_rows: Id,
    label_rows: Id,
    /// Bucket ids or splitters of the caller.
    given: Id,
    /// Bucket starts of the caller.
    starts: Id,
    /// Whether bucket information remains to be written.
    writes_bucket_info: bool,
}

impl<'p, 'a> Builder<'p, 'a> {
    fn new(table: &'a SplitTable<'a>, plan: &'p mut Plan<'a>) -> Self {
        plan.name = "split";
        let SplitTable { problems, by, bounds, writes_bucket_info, .. } = table;
        let passes = Passes::new(problems, plan, table);
        let mut add = |name, range: Range| Id((range.size != 0).then(|| passes.plan.add_resource(name, range)));
        let [offsets, counts, commands] = bounds.info;
        let info = [add("bucket_offsets", offsets), add("bucket_counts", counts), add("commands", commands)];
        let info_rows = add("results", table.info_rows);
        let label_rows = add("label_rows", table.label_rows);
        let given = match by.labels.and_then(|labels| labels.given) {
            Some(BucketSource::Ids(_)) => add("bucket_ids", bounds.bucket_ids),
            _ => add("splitters", bounds.splitters),
        };
        let starts = add("starts", bounds.starts);
        let has_items = problems.most_items != 0;
        let clears = problems.config.skips_histogram() && has_items && !table.algorithm.is_single_dispatch();
        for (id, rows, range, wanted) in [
            (info_rows, INFO, table.info_rows, *writes_bucket_info || clears),
            (label_rows, LABELS, table.label_rows, has_items),
        ] {
            if let Some(resource) = id.0.filter(|_| wanted) {
                passes.plan.add_upload(Content::Rows(table, rows), problems.offset_of(range), resource);
            }
        }
        Self { table, passes, info, info_rows, label_rows, given, starts, writes_bucket_info: *writes_bucket_info }
    }

    /// One dispatch scatters (each workgroup computes the full histogram); a concurrent dispatch writes bucket
    /// information.
    fn single_dispatch(&mut self, shape: Shape) {
        let Problems { config, mode, most_items, .. } = &self.table.problems;
        // Without items, only bucket information is written.
        let moves = config.format.output() != OUTPUT_NONE;
        if *most_items != 0 && (moves || self.writes_bucket_info) {
            self.label();
        }
        self.passes.set_digit(0);
        if *most_items != 0 && moves {
            let passes = &mut self.passes;
            let reads = passes.read_of_input().union(set(&[passes.labels()])).union(passes.tile_map());
            let writes = passes.written_of(passes.staged, true);
            let histograms = config.profile.redundant_histogram_rows(shape.threads, config.facts);
            let values = Values { histograms, ..config.holding(shape, *mode) };
            let groups = most_items.div_ceil(shape.tile());
            passes.shared_pass::<SingleDispatchPush>(Kernel::SplitSingleDispatch, &values, groups, reads, writes);
        }
    }

    fn look_back(&mut self, tile: TileShape) {
        let passes = &mut self.passes;
        let (histograms, tickets) = (passes.histograms, passes.tickets);
        let skips_histogram = self.table.problems.config.skips_histogram();
        if self.table.problems.prepared {
            let (clears, cleared) = if skips_histogram { (0, Id::NONE) } else { (FLAG_HISTOGRAMS, histograms) };
            passes.prepare(tile, clears, &[cleared, tickets]);
        }
        self.label();
        if !skips_histogram {
            return self.passes.digits_by_look_back(tile);
        }
        self.clear_look_back(tile);
        self.passes.onesweep(tile, histograms.when(self.starts.0.is_some()), histograms);
        self.passes.copy();
    }

    fn reduce_then_scan(&mut self, tile: TileShape) {
        if self.table.problems.prepared {
            self.passes.prepare(tile, 0, &[]);
        }
        self.label();
        let format = self.passes.format();
        match format.output() {
            // One digit is complete with its sums. Two digits need sorted labels.
            OUTPUT_NONE if format.digits() == 1 => self.passes.count(tile, 0),
            // The pass of bucket information copies the starts of the caller next to the sums.
            OUTPUT_PLACED => {
                self.passes.count(tile, 0);
                self.bucket_info();
                self.passes.reorder(tile, 0);
                self.passes.copy();
            }
            _ => self.passes.digits_by_scan(tile),
        }
    }

    /// Writes the labels, before digits are counted.
    fn label(&mut self) {
        let SplitTable { by, problems, .. } = self.table;
        let Some(labels) = &by.labels else { return };
        let mut row = LabelProblem::default();
        if problems.count == 1 {
            self.table.for_each_label(&mut |problem| row = *problem);
        }
        let passes = &mut self.passes;
        let facts = PassFacts { problems: problems.part_of(self.table.label_rows), ..passes.facts };
        let push = LabelPush::from((&facts, row));
        let keys = passes.input[0].when(labels.reads_keys());
        let reads = set(&[keys, self.given, self.label_rows]).union(passes.resolved_counts());
        let groups = passes.shares(problems.most_items.into());
        let config = Config { format: labels.format(&problems.config.format), ..problems.config };
        let values = Values { buckets: by.buckets, module: labels.module, ..config.plain(problems.mode) };
        // The format of labels is not that of the other passes.
        let variant = config.variant(Kernel::SplitLabel, &values);
        let (variant, push) = (passes.plan.add_variant(&variant), Push::new(variant.kernel, &push));
        passes.plan.add_pass(variant, groups, push, reads, set(&[passes.alternate[0]]));
    }

    /// Clears the look-back state of a split that skips the histogram.
    fn clear_look_back(&mut self, tile: TileShape) {
        let Problems { config, mode, prepared, .. } = &self.table.problems;
        let passes = &self.passes;
        let placed = passes.histograms.when(self.starts.0.is_some());
        let (mut reads, mut writes) =
            (passes.tile_map_of(self.info_rows).union(set(&[self.starts])), set(&[passes.tile_words, placed]));
        if !prepared {
            reads = reads.union(set(&[passes.counts]));
            writes = writes.union(set(&[passes.tickets, passes.statuses]));
        }
        let values = self.values_of_all_buckets(config.along(tile, *mode));
        let chunks = passes.chunks();
        self.info_pass::<ClearLookBackPush, BucketInfoProblem>(
            Kernel::SplitClearLookBack,
            &values,
            chunks,
            reads,
            writes,
        );
    }

    /// Kernels that write bucket information cover all buckets, and with given starts they read those.
    fn values_of_all_buckets(&self, values: Values) -> Values {
        let placed = self.passes.format().output() == OUTPUT_PLACED;
        let output = if placed { values.output } else { OUTPUT_BUCKETS };
        Values { buckets: self.table.by.buckets, output, ..values }
    }

    /// Writes bucket information, concurrently with the scatter pass. Both read the same counts.
    fn bucket_info(&mut self) {
        if !std::mem::take(&mut self.writes_bucket_info) {
            return;
        }
        let (passes, Problems { config, mode, count, most_items, most_segments, .. }) =
            (&self.passes, &self.table.problems);
        let format = passes.format();
        let (starts, buckets) = (self.starts, self.table.by.buckets);
        // The counts of a digit, or sorted labels.
        let (kernel, counted, values) = match self.table.algorithm {
            Algorithm::SingleDispatch(shape) => {
                (Kernel::SplitSingleDispatchInfo, passes.digits_source(), config.holding(shape, *mode))
            }
            _ if format.keeps_labels() => (Kernel::SplitBounds, passes.alternate[0], config.plain(*mode)),
            _ => (Kernel::SplitBucketInfo, passes.histograms, config.plain(*mode)),
        };
        let counted = counted.when(*most_items != 0);
        let single_dispatch = self.table.algorithm.is_single_dispatch();
        let flags = self.table.by.has_items_without_bucket(format) || starts.0.is_some() || single_dispatch;
        let statuses = passes.statuses.when(flags);
        // Single-dispatch splits write the whole status word; others add flags.
        let added = statuses.when(!single_dispatch);
        let reads = set(&[counted, self.info_rows, added, starts]).union(passes.resolved_counts());
        let writes = set(&self.info).union(set(&[statuses, counted.when(starts.0.is_some())]));
        let threads = config.profile.plain_threads;
        let groups = if format.segmented {
            // One thread for each bucket, up to the limit: each is a chain of dependent reads.
            let written = if self.info.iter().any(|id| id.0.is_some()) { buckets } else { 1 };
            let written = u64::from(written) * u64::from(*most_segments);
            let groups = written.div_ceil(threads.into()).clamp(1, MOST_INFO_GROUPS.into());
            Groups::Fixed(u32::try_from(groups).unwrap_or(MOST_INFO_GROUPS))
        } else if kernel == Kernel::SplitBounds {
            Groups::Fixed(count * buckets.div_ceil(threads))
        } else {
            Groups::Fixed(*count)
        };
        let values = self.values_of_all_buckets(values);
        match kernel {
            Kernel::SplitSingleDispatchInfo => {
                self.info_pass::<CountingInfoPush, CountingInfoProblem>(kernel, &values, groups, reads, writes);
            }
            Kernel::SplitBounds => {
                self.info_pass::<BoundsPush, BucketInfoProblem>(kernel, &values, groups, reads, writes)
            }
            _ => self.info_pass::<BucketInfoPush, BucketInfoProblem>(kernel, &values, groups, reads, writes),
        }
    }

    /// Adds a pass with push constants `P` whose rows `R` are those of bucket information.
    fn info_pass<P, R>(&mut self, kernel: Kernel, values: &Values, groups: Groups, reads: Resources, writes: Resources)
    where
        P: SharedStruct + for<'f> From<(&'f PassFacts, R)>,
        R: Copy + Default + for<'f> From<InfoFacts<'f>>,
    {
        let problems = &self.table.problems;
        let mut row = R::default();
        if problems.count == 1 {
            self.table.for_each_info(&mut |problem| row = *problem);
        }
        let facts = PassFacts { problems: problems.part_of(self.table.info_rows), ..self.passes.facts };
        self.passes.add(kernel, values, groups, &P::from((&facts, row)), reads, writes);
    }
}
