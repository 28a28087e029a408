//! Builds the passes of a problem table.

use super::config::{Algorithm, PLAIN};
use super::format::{BucketSource, Format};
use super::items::Placement;
use super::job::Role;
use super::merging::Merging;
use super::problems::{DIRECT_HISTOGRAMS, INDIRECT_COMMAND, ProblemTable};
use super::rows::{PassFacts, PassIndex};
use super::split_rows::InfoFacts;
use crate::core::memory::Range;
use crate::core::plan::{Groups, Plan, Push, Resources, Rows};
use crate::core::primitive::PlanSource;
use crate::kernels::Kernel;
use crate::shared::{
    ARGUMENTS_CHUNKS, ARGUMENTS_DIGITS, ARGUMENTS_TILES, BoundsPush, BucketInfoProblem, BucketInfoPush, ClearLookBackPush,
    CountingInfoProblem, CountingInfoPush, FLAG_HISTOGRAMS, FLAG_INDIRECT, FLAG_ODD, FLAG_PASSES_OVER, FLAG_SHARED_DIGITS,
    FLAG_TICKETS, HistogramPush, LAYOUT_DROP_KEYS, LAYOUT_INDICES, LAYOUT_KEYS_APART, LAYOUT_VALUES_APART, LabelProblem, LabelPush,
    MergePush, OUTPUT_NONE, OUTPUT_PLACED, OnesweepPush, PERMUTE_FROM_SCRATCH, PERMUTE_TO_OUTPUT, PERMUTE_TO_SCRATCH, PackPush,
    PathPush, PermutePush, PreparePush, RankPush, ReorderPush, SegmentList, SegmentsPush, SharedStruct, SingleDispatchPush,
    SmallPush, SpinePush,
};
use crate::tuning::{Shape, SizedMerge, SizedRank, SmallShape, TileShape};

/// Items of an invocation in kernels without tiles, for large counts.
const ITEMS_A_THREAD: u32 = 8;
/// Maximum number of items that a workgroup of the histogram counts.
const MOST_CHUNK: u32 = 1 << 28;
/// Maximum number of workgroups that write bucket information of segments. Fewer would need long loops, which some
/// drivers cut off.
const MOST_TELLING: u32 = 1 << 16;
/// Maximum number of workgroups that sort equal prefixes, unless there are more problems. Each takes one tile after the
/// other.
const MOST_FINISHING: u32 = (1 << 16) - 1;

impl PlanSource for ProblemTable<'_> {
    /// Adds the passes of the algorithm and strategy.
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>) {
        let mut builder = Builder::new(self, plan);
        match (self.algorithm, self.config.scan()) {
            // No items, no status words, no bucket information.
            _ if self.most_items == 0 && !self.any_status && !self.tells => {}
            // No items: only the status words and the (empty) bucket information are written.
            (Algorithm::Tiled(tile, ..), _) if self.most_items == 0 => builder.prepare(tile, 0, &[builder.tickets]),
            (Algorithm::Segments { whole, tiles }, _) => builder.segments(whole, tiles),
            (Algorithm::Ranked(ranked), _) => builder.ranked(ranked),
            (Algorithm::Small(small), _) => builder.small(small),
            (Algorithm::Merged(merging), _) => builder.merged(merging),
            (Algorithm::Recounted(shape), _) => builder.recounted(shape),
            (Algorithm::Tiled(tile, ..), None) => builder.reduce_then_scan(tile),
            (Algorithm::Tiled(tile, ..), Some(_)) => builder.look_back(tile),
        }
        builder.results();
        builder.finish();
    }
}

/// The index of a resource in the plan; none if the plan has no such resource.
#[derive(Clone, Copy)]
struct Id(Option<usize>);

/// The resources of keys and values.
type Area = [Id; 2];

struct Builder<'p, 'a> {
    table: &'a ProblemTable<'a>,
    plan: &'p mut Plan<'a>,
    push: PassFacts,
    input: Area,
    /// The output, which also holds the planes of every other pass.
    output: Area,
    /// As `output`, but in scratch for keys or values that reach the output after the passes.
    apart: Area,
    alternate: Area,
    counts: Id,
    statuses: Id,
    arguments: Id,
    tickets: Id,
    states: Id,
    rows: Id,
    histograms: Id,
    tile_words: Id,
    offsets: Id,
    /// Rows of the pass that writes bucket information.
    results: Id,
    /// Rows of the pass that writes labels.
    labels: Id,
    /// Bucket ids or splitters of the caller.
    given: Id,
    /// Bucket offsets, counts and commands.
    told: [Id; 3],
    /// Bucket starts of the caller.
    starts: Id,
    /// Whether bucket information remains to be written.
    tells: bool,
}

fn set(ids: &[Id]) -> Resources {
    ids.iter().filter_map(|id| id.0).fold(Resources::default(), |all, id| all.union(Resources::of(&[id])))
}

impl<'p, 'a> Builder<'p, 'a> {
    fn new(table: &'a ProblemTable<'a>, plan: &'p mut Plan<'a>) -> Self {
        let format = &table.config.format;
        let mut add = |name, range: Range| Id((range.size != 0).then(|| plan.add_resource(name, range)));
        let bound = |role| table.bounds.range(role);
        let input = [add("keys", bound(Role::Keys)), add("values", bound(Role::Values))];
        let second = [add("keys_out", bound(Role::KeysOut)), add("values_out", bound(Role::ValuesOut))];
        let scratch = [add("alternate_keys", table.alternate_keys), add("alternate_values", table.alternate_values)];
        let (output, mut alternate) = match format.placement {
            Placement::InPlace => (input, scratch),
            Placement::Preserve => (second, scratch),
            Placement::DoubleBuffer if format.rule() == FLAG_ODD => (second, input),
            Placement::DoubleBuffer => (input, second),
        };
        if table.algorithm.merging().is_some() {
            alternate = scratch;
        }
        let mut apart = output;
        for (place, layout) in [(0, LAYOUT_KEYS_APART), (1, LAYOUT_VALUES_APART)] {
            if format.has(layout) {
                (apart[place], alternate[place]) = (scratch[place], scratch[place]);
            }
        }
        let counts = add("counts", bound(Role::Count));
        let statuses = add("statuses", bound(Role::Status));
        let arguments = add("arguments", table.arguments);
        let tickets = add("tickets", table.tickets);
        let states = add("states", table.states);
        let rows = add("problems", table.table);
        let histograms = add("histograms", table.histograms);
        let tile_words = add("tile_words", table.tile_words);
        let offsets = add("offsets", bound(Role::SegmentOffsets));
        let told = [
            add("bucket_offsets", bound(Role::Offsets)),
            add("bucket_counts", bound(Role::Counts)),
            add("commands", bound(Role::Commands)),
            add("results", table.results),
        ];
        let (given_name, given_role) = match format.labels().and_then(|labels| labels.given) {
            Some(BucketSource::Ids(_)) => ("bucket_ids", Role::BucketIds),
            _ => ("splitters", Role::Splitters),
        };
        let labels = [add("label_rows", table.labels), add(given_name, bound(given_role))];
        let starts = add("starts", bound(Role::Starts));
        let segmented = format.segmented;

        let counts_apart = table.config.counts_apart(table.prepared);
        let groups = if counts_apart { DIRECT_HISTOGRAMS } else { table.config.counting_groups() };
        // Segments count as one problem: only the device knows how many partial tiles they have.
        let tiles = match table.algorithm {
            Algorithm::Segments { tiles: Some(shape), .. } => table.most_items.div_ceil(shape.tile()),
            _ => table.tiles,
        };
        // The items of a chunk stay within reach of an index.
        let most_tiles = MOST_CHUNK / table.algorithm.tiles().map_or(1, TileShape::tile);
        let chunk = tiles.div_ceil(groups).min(most_tiles).max(1);
        let rows_of_histogram = if counts_apart { table.tiles.div_ceil(chunk) } else { 1 };
        let flags = [
            (table.passes_over || table.algorithm.finish().is_some(), FLAG_PASSES_OVER),
            (table.passes_over, FLAG_SHARED_DIGITS),
            (table.arguments.size != 0, FLAG_INDIRECT),
            (table.config.scan().is_some(), FLAG_TICKETS),
        ];
        // The table of segments is on the device: its rows are windows.
        let (problems, windows) = if segmented { (0, table.part_of(table.table)) } else { (table.part_of(table.table), 0) };
        let mut push = PassFacts {
            scratch: table.scratch,
            problems,
            states: table.part_of(table.states),
            problem_count: if segmented { table.algorithm.windows(table.most_items) } else { table.problems },
            windows,
            commands: table.part_of(table.arguments),
            tickets: table.part_of(table.tickets),
            chunk,
            tile_items: table.algorithm.tiles().map_or(0, TileShape::tile),
            pass: PassIndex {
                index: 0,
                digits: format.digits(),
                rows: rows_of_histogram,
                flags: flags.iter().filter(|(set, _)| *set).fold(format.rule(), |all, (_, bit)| all | bit),
            },
            ..PassFacts::default()
        };
        if segmented {
            push.segments = SegmentList {
                offsets: bound(Role::SegmentOffsets).address.into(),
                count: bound(Role::Count).address.into(),
                max_count: table.most_segments,
            };
        }
        if table.problems == 1 {
            table.for_each_problem(&mut |problem| push.problem = *problem);
        }
        let [bucket_offsets, bucket_counts, commands, results] = told;
        let [labels, given] = labels;
        for (id, rows, range) in
            [(rows, Rows::Problems, table.table), (results, Rows::Results, table.results), (labels, Rows::Labels, table.labels)]
        {
            let wanted = match rows {
                Rows::Problems => true,
                Rows::Results => table.tells || table.config.begins() && table.most_items != 0 && !table.algorithm.recounts(),
                Rows::Labels => table.most_items != 0,
            };
            if let Some(resource) = id.0.filter(|_| wanted && !segmented) {
                plan.add_upload(table, rows, range.address.wrapping_sub(table.scratch), resource);
            }
        }
        plan.name = if format.split.is_some() { "split" } else { "sort" };
        Self {
            table,
            plan,
            push,
            input,
            output,
            apart,
            alternate,
            counts,
            statuses,
            arguments,
            tickets,
            states,
            rows,
            histograms,
            tile_words,
            offsets,
            results,
            labels,
            given,
            told: [bucket_offsets, bucket_counts, commands],
            starts,
            tells: table.tells,
        }
    }

    fn format(&self) -> &'a Format {
        &self.table.config.format
    }

    fn finish(mut self) {
        if self.plan.has_passes() {
            self.pack();
            self.permute();
        }
    }

    /// Adds a pass with push constants `P`, which are made of the facts.
    fn pass<P>(&mut self, kernel: Kernel, tile: impl Into<TileShape>, groups: Groups, reads: Resources, writes: Resources)
    where
        P: SharedStruct + for<'f> From<&'f PassFacts>,
    {
        self.add(kernel, tile, groups, &P::from(&self.push), reads, writes);
    }

    fn add(
        &mut self,
        kernel: Kernel,
        tile: impl Into<TileShape>,
        groups: Groups,
        push: &impl SharedStruct,
        reads: Resources,
        writes: Resources,
    ) {
        let variant = self.table.config.variant(kernel, tile, self.table.mode);
        self.plan.add_pass(&variant, groups, Push::new(kernel, push), reads, writes);
    }

    /// Resources that a kernel reads to map a tile to its problem. Empty for a single problem: the push constants hold
    /// it.
    fn line(&self) -> Resources {
        self.line_of(if self.format().segmented { Id(None) } else { self.rows })
    }

    /// As [`Builder::line`], with other rows.
    fn line_of(&self, rows: Id) -> Resources {
        let resolved = self.table.prepared && (self.table.any_count_on_device || self.table.problems > 1);
        let unresolved = !self.table.prepared && self.table.any_count_on_device;
        set(&[if resolved { self.states } else { Id(None) }, if unresolved { self.counts } else { Id(None) }, rows])
    }

    /// Whether the device decides which digits are skipped.
    fn decided_on_device(&self) -> bool {
        self.push.pass.has(FLAG_PASSES_OVER)
    }

    /// The resource that holds the skipped digits.
    fn passed_over(&self) -> Resources {
        set(&[if self.decided_on_device() { self.histograms } else { Id(None) }])
    }

    fn groups(&self, fixed: u32, command: u32) -> Groups {
        match self.arguments.0 {
            Some(resource) => Groups::Indirect {
                offset: self.table.arguments.address.wrapping_sub(self.table.scratch) + u64::from(command) * INDIRECT_COMMAND,
                resource,
            },
            None => Groups::Fixed(fixed),
        }
    }

    fn small(&mut self, small: SmallShape) {
        let groups = Groups::Fixed(self.table.problems);
        let reads = set(&self.read_of_input()).union(set(&[self.counts, self.rows]));
        let writes = set(&self.written_of(self.apart, true)).union(set(&[self.statuses]));
        match small.kernel() {
            kernel @ Kernel::MergeSortRun => self.pass::<MergePush>(kernel, small.shape, groups, reads, writes),
            kernel => self.pass::<SmallPush>(kernel, small.shape, groups, reads, writes),
        }
    }

    /// Ranks each key against all keys. In place, a copy follows: other workgroups still read the input.
    fn ranked(&mut self, ranked: SizedRank) {
        let once = self.table.algorithm.moves_once(self.format());
        let written = set(&self.written_of(self.apart, true));
        let aside = set(&self.alternate);
        let reads = set(&self.read_of_input()).union(set(&[self.counts]));
        let writes = if once { written } else { aside }.union(set(&[self.statuses]));
        self.push.pass = PassIndex { index: 0, digits: 1, rows: 0, flags: self.push.pass.flags };
        let groups = Groups::Fixed(self.table.most_items.div_ceil(ranked.items));
        self.pass::<RankPush>(Kernel::SortRank, ranked.shape(), groups, reads, writes);
        if !once {
            self.push.pass.index = 1;
            let reads = aside.union(self.line());
            // Few items: one thread each.
            let groups = Groups::Fixed(self.table.most_items.div_ceil(self.table.config.profile.plain_threads));
            self.pass::<PathPush>(Kernel::RadixCopy, PLAIN, groups, reads, written);
        }
    }

    /// One dispatch scatters (each workgroup computes the full histogram); a concurrent dispatch writes bucket
    /// information.
    fn recounted(&mut self, shape: Shape) {
        // Without items, only bucket information is written.
        let moves = self.format().output() != OUTPUT_NONE;
        if self.table.most_items != 0 && (moves || self.tells) {
            self.label();
        }
        self.turn(0);
        if self.table.most_items != 0 && moves {
            let labels = set(&[self.labelled()]);
            let reads = set(&self.read_of_input()).union(labels).union(self.line());
            let groups = self.table.most_items.div_ceil(shape.tile());
            self.shared_pass::<SingleDispatchPush>(
                Kernel::SplitSingleDispatch,
                shape,
                groups,
                reads,
                set(&self.written_of(self.apart, true)),
            );
        }
    }

    /// Sorts runs, then merges them level by level.
    fn merged(&mut self, merging: Merging) {
        let (most, SizedMerge { run, window, .. }) = (self.table.most_items, merging.sized);
        let (line, planes) = (self.line(), set(&self.alternate));
        for level in 0..=merging.levels {
            let (first, last) = (level == 0, level == merging.levels);
            let reads = line.union(if first { set(&self.read_of_input()) } else { planes });
            let writes = if last { set(&self.written_of(self.apart, true)) } else { planes };
            (self.push.level, self.push.levels) = (level, merging.levels);
            if first {
                let (reads, writes) = (reads.union(set(&[self.counts])), writes.union(set(&[self.statuses])));
                self.shared_pass::<MergePush>(Kernel::MergeSortRun, run, merging.runs(most), reads, writes);
                continue;
            }
            // ProblemTable::new has checked both limits.
            self.push.run_items = u32::try_from(merging.run_items(level - 1)).unwrap_or(u32::MAX);
            let windows = u32::try_from(merging.windows(level, most)).unwrap_or(u32::MAX);
            let partitions = merging.partitions(self.table.config.profile.plain_threads, most);
            let (keys, rows) = (line.union(set(&[self.alternate[0]])), set(&[self.tile_words]));
            self.shared_pass::<MergePush>(Kernel::MergePartition, window, partitions, keys, rows);
            self.shared_pass::<MergePush>(Kernel::MergeJoin, window, windows, reads.union(rows), writes);
        }
    }

    /// Adds a pass with `groups` workgroups for each problem.
    fn shared_pass<P>(&mut self, kernel: Kernel, shape: Shape, groups: u32, reads: Resources, writes: Resources)
    where
        P: SharedStruct + for<'f> From<&'f PassFacts>,
    {
        self.push.groups = groups;
        self.pass::<P>(kernel, shape, Groups::Fixed(self.table.problems * groups), reads, writes);
    }

    /// Sorts the segments that fit a workgroup, then longer ones by radix passes.
    fn segments(&mut self, whole: SmallShape, tiles: Option<TileShape>) {
        self.label();
        let cleared = if tiles.is_some() { self.histograms } else { Id(None) };
        let labels = set(&[self.labelled()]);
        let reads = set(&self.read_of_input()).union(set(&[self.offsets, self.counts])).union(labels);
        let writes = set(&self.written_of(self.apart, true)).union(set(&[self.rows, self.statuses, cleared])).union(labels);
        self.pass::<SegmentsPush>(whole.segments_kernel(), whole.shape, Groups::Fixed(self.push.problem_count), reads, writes);
        let Some(tile) = tiles else { return };
        let writes = set(&[self.states, self.arguments, self.tickets]);
        self.pass::<PreparePush>(Kernel::RadixPrepare, tile, Groups::Fixed(1), set(&[self.rows]), writes);
        if self.table.config.scan().is_some() {
            self.digits_by_look_back(tile);
        } else {
            self.digits_by_scan(tile);
        }
    }

    /// The input resources that are read. Indices are generated, not read.
    fn read_of_input(&self) -> Area {
        let [keys, values] = self.input;
        let keys = if self.format().labels().is_some() && self.format().has(LAYOUT_DROP_KEYS) { Id(None) } else { keys };
        [keys, if self.format().has(LAYOUT_INDICES) { Id(None) } else { values }]
    }

    /// The resources that a pass writes. The last pass does not write dropped keys.
    fn written_of(&self, [keys, values]: Area, last: bool) -> Area {
        [if last && self.format().has(LAYOUT_DROP_KEYS) { Id(None) } else { keys }, values]
    }

    fn prepare(&mut self, tile: TileShape, clears: u32, cleared: &[Id]) {
        let reads = set(&[self.counts, self.rows]);
        let writes = set(&[self.states, self.arguments, self.statuses]).union(set(cleared));
        let flags = self.push.pass.flags;
        self.push.pass.flags |= clears;
        self.pass::<PreparePush>(Kernel::RadixPrepare, tile, Groups::Fixed(self.table.problems), reads, writes);
        self.push.pass.flags = flags;
    }

    /// The resources that a pass reads and writes. If digits may be skipped, the device selects among several.
    fn areas(&self, pass: u32) -> (Resources, Resources) {
        let format = self.format();
        let moves = format.digits() + u32::from(self.decided_on_device() || !format.ends_right());
        let after = moves - 1 - pass;
        let (first, last) = (pass == 0, after == 0);
        let (out, alternate) = (set(&self.apart), set(&self.alternate));
        // Labels are in scratch. Two passes also write them there.
        let labels = set(&[self.labelled()]);
        let kept = if format.keeps_labels() { labels } else { Resources::default() };
        let (input, written) = (set(&self.read_of_input()), set(&self.written_of(self.apart, last)));
        if self.decided_on_device() {
            let reads = if first { input } else { input.union(out).union(alternate) };
            return (reads, if last { written } else { out.union(alternate) });
        }
        let to_output = after.is_multiple_of(2);
        let reads = if first {
            input
        } else if to_output {
            alternate
        } else {
            out
        };
        (reads.union(labels), if to_output { written } else { alternate }.union(kept))
    }

    /// The resource of the labels, if the split has any.
    fn labelled(&self) -> Id {
        if self.format().labels().is_some() { self.alternate[0] } else { Id(None) }
    }

    /// The resource that contains the digits before the first pass.
    fn digits_source(&self) -> Id {
        if self.format().labels().is_some() { self.labelled() } else { self.input[0] }
    }

    /// Writes the labels, before digits are counted.
    fn label(&mut self) {
        let Some(labels) = self.format().labels() else { return };
        let mut row = LabelProblem::default();
        if self.table.problems == 1 {
            self.table.for_each_label(&mut |problem| row = *problem);
        }
        let push = LabelPush::from((&PassFacts { problems: self.table.part_of(self.table.labels), ..self.push }, row));
        let keys = if labels.reads_keys() { self.input[0] } else { Id(None) };
        let reads = set(&[keys, self.given, self.labels]).union(self.counted_by());
        let groups = self.shares(self.table.most_items.into());
        self.add(Kernel::SplitLabel, PLAIN, groups, &push, reads, set(&[self.alternate[0]]));
    }

    /// The resources that hold counts, besides rows.
    fn counted_by(&self) -> Resources {
        if self.format().segmented {
            return set(&[self.offsets, self.counts]);
        }
        let states = if self.table.prepared && self.table.any_count_on_device { self.states } else { Id(None) };
        set(&[states, if self.table.prepared { Id(None) } else { self.counts }])
    }

    /// Adds the final copy.
    fn copy(&mut self) {
        if !self.table.passes_over && self.format().ends_right() {
            return;
        }
        self.turn(self.format().digits());
        let (reads, writes) = self.areas(self.format().digits());
        let reads = reads.union(self.line()).union(self.passed_over());
        let groups = match self.table.algorithm {
            Algorithm::Segments { .. } => self.groups(self.table.tiles, ARGUMENTS_TILES),
            _ => self.shares(self.table.most_items.into()),
        };
        let shape = self.table.config.finishing_shape(self.table.algorithm);
        self.pass::<PathPush>(Kernel::RadixCopy, shape, groups, reads, writes);
    }

    fn histogram(&mut self, tile: TileShape, cleared: &[Id]) {
        let chunks = self.groups(self.table.tiles.div_ceil(self.push.chunk), ARGUMENTS_CHUNKS);
        let keys = set(&[self.digits_source()]);
        let (mut reads, mut writes) = (keys.union(self.line()), set(&[self.histograms]).union(set(cleared)));
        if self.table.prepared {
            reads = reads.union(writes.intersection(set(&[self.histograms])));
        } else {
            reads = reads.union(set(&[self.counts]));
            writes = writes.union(set(&[self.tickets, self.statuses]));
        }
        self.pass::<HistogramPush>(Kernel::RadixHistogram, tile, chunks, reads, writes);
    }

    fn look_back(&mut self, tile: TileShape) {
        if self.table.prepared && self.table.config.begins() {
            self.prepare(tile, 0, &[self.tickets]);
        } else if self.table.prepared {
            self.prepare(tile, FLAG_HISTOGRAMS, &[self.histograms, self.tickets]);
        }
        self.label();
        self.digits_by_look_back(tile);
    }

    /// Clears the look-back state of a split that skips the histogram.
    fn begin(&mut self, tile: TileShape) {
        let chunks = self.groups(self.table.tiles.div_ceil(self.push.chunk), ARGUMENTS_CHUNKS);
        let placed = if self.starts.0.is_some() { self.histograms } else { Id(None) };
        let (mut reads, mut writes) = (self.line_of(self.results).union(set(&[self.starts])), set(&[self.tile_words, placed]));
        if !self.table.prepared {
            reads = reads.union(set(&[self.counts]));
            writes = writes.union(set(&[self.tickets, self.statuses]));
        }
        self.pass_of_buckets::<ClearLookBackPush, BucketInfoProblem>(Kernel::SplitClearLookBack, tile, chunks, reads, writes);
    }

    fn digits_by_look_back(&mut self, tile: TileShape) {
        let (histograms, tile_words, tickets) = (self.histograms, self.tile_words, self.tickets);
        // `told`: written before and read by tiles. `left`: written by tiles, for the bucket information.
        let (told, left) = if self.table.config.begins() {
            self.begin(tile);
            (if self.starts.0.is_some() { histograms } else { Id(None) }, histograms)
        } else {
            self.histogram(tile, &[tile_words]);
            (histograms, Id(None))
        };
        self.choose();
        let (kernel, groups) = self.table.config.onesweep(self.table.algorithm, self.table.problems == 1);
        let groups = match groups {
            Some(groups) => Groups::Fixed(self.table.tiles.min(groups)),
            None => self.groups(self.table.tiles, ARGUMENTS_TILES),
        };
        for pass in 0..self.format().digits() {
            self.turn(pass);
            let (reads, writes) = self.areas(pass);
            let reads = reads.union(self.line()).union(set(&[told, tile_words, tickets]));
            self.pass::<OnesweepPush>(kernel, tile, groups, reads, writes.union(set(&[left, tile_words, tickets])));
        }
        self.copy();
        self.finish_prefixes();
    }

    /// Decides between digits and prefixes, after the histogram.
    fn choose(&mut self) {
        if self.table.algorithm.finish().is_some() {
            let chosen = set(&[self.histograms]);
            let groups = Groups::Fixed(self.table.problems);
            self.pass::<PathPush>(Kernel::SortChoosePrefixPath, PLAIN, groups, chosen.union(self.line()), chosen);
        }
    }

    /// Sorts equal prefixes, after the passes over prefix digits.
    fn finish_prefixes(&mut self) {
        let Some(shape) = self.table.algorithm.finish() else { return };
        self.turn(self.format().digits());
        let (reads, writes) = self.areas(self.format().digits());
        let tiles = self.table.most_items.div_ceil(shape.tile()).min((MOST_FINISHING / self.table.problems).max(1));
        let groups = Groups::Fixed(self.table.problems * tiles);
        self.pass::<PathPush>(Kernel::SortEqualPrefixes, shape, groups, reads.union(self.line()).union(self.passed_over()), writes);
    }

    fn reduce_then_scan(&mut self, tile: TileShape) {
        let histograms = self.histograms;
        // The spine provides sums; the histogram only finds constant digits.
        if self.table.passes_over {
            self.prepare(tile, FLAG_HISTOGRAMS, &[histograms]);
            self.histogram(tile, &[]);
        } else if self.table.prepared {
            self.prepare(tile, 0, &[]);
        }
        self.label();
        self.digits_by_scan(tile);
    }

    fn digits_by_scan(&mut self, tile: TileShape) {
        let (histograms, tile_words) = (self.histograms, self.tile_words);
        let tiles = self.groups(self.table.tiles, ARGUMENTS_TILES);
        let chunks = self.groups(self.table.tiles.div_ceil(self.push.chunk), ARGUMENTS_CHUNKS);
        let digits = match self.table.algorithm {
            Algorithm::Segments { .. } => self.groups(0, ARGUMENTS_DIGITS),
            _ => Groups::Fixed(self.table.problems * self.format().bins()),
        };
        for pass in 0..self.format().digits() {
            self.turn(pass);
            let (reads, writes) = self.areas(pass);
            let (line, shared) = (self.line(), self.passed_over());
            let (mut counted, mut told) = (reads, set(&[tile_words]));
            if pass == 0 && !self.table.prepared {
                counted = counted.union(set(&[self.counts]));
                told = told.union(set(&[self.statuses]));
            }
            let planes = if self.format().labels().is_some() { Id(None) } else { self.apart[0] };
            counted = counted.intersection(set(&[self.digits_source(), planes, self.alternate[0], self.counts]));
            self.pass::<ReorderPush>(Kernel::RadixCount, tile, chunks, counted.union(line).union(shared), told);
            let sums = set(&[tile_words, histograms]);
            self.pass::<SpinePush>(Kernel::RadixSpine, tile, digits, set(&[tile_words]).union(line).union(shared), sums);
            match self.format().output() {
                // One digit is complete with its sums. Two digits need sorted labels.
                OUTPUT_NONE if self.format().digits() == 1 => continue,
                // It copies the starts of the caller next to the sums.
                OUTPUT_PLACED => self.results(),
                _ => {}
            }
            let reads = reads.union(line).union(set(&[tile_words, histograms]));
            self.pass::<ReorderPush>(Kernel::RadixReorder, tile, tiles, reads, writes);
        }
        self.copy();
    }

    fn turn(&mut self, pass: u32) {
        let format = self.format();
        self.push.pass.index = pass;
        let digit = (pass < format.digits()).then(|| format.digit(pass));
        self.push.digit = digit.map_or(0, |digit| digit.shift | digit.word << 8 | digit.bits << 16);
    }

    /// The workgroups of a kernel that iterates over words: the same number for each problem.
    fn shares(&self, words: u64) -> Groups {
        let profile = self.table.config.profile;
        let wanted = words.div_ceil(u64::from(profile.plain_threads * ITEMS_A_THREAD)).max(1);
        // At most as many as fill the device: the actual count may be small.
        let most = (profile.histogram_groups / self.table.problems).max(1);
        Groups::Fixed(self.table.problems * u32::try_from(wanted).unwrap_or(most).min(most))
    }

    fn pack(&mut self) {
        if !self.format().narrow() || self.format().has(LAYOUT_DROP_KEYS) {
            return;
        }
        let words = u64::from(self.table.most_items).div_ceil(u64::from(4 / self.format().key_size)) + 1;
        let reads = self.last_line().union(set(&[self.apart[0], self.output[0]]));
        self.pass::<PackPush>(Kernel::RadixPack, PLAIN, self.shares(words), reads, set(&[self.output[0]]));
    }

    fn permute(&mut self) {
        if !self.format().has(LAYOUT_VALUES_APART) {
            return;
        }
        let groups = self.shares(u64::from(self.table.most_items) * u64::from(self.format().value_size / 4));
        let (places, input, output, line) = (set(&[self.apart[1]]), self.input[1], self.output[1], self.last_line());
        let mut step = |step, reads: Id, writes: Id| {
            self.push.step = step;
            self.pass::<PermutePush>(Kernel::RadixPermute, PLAIN, groups, line.union(places).union(set(&[reads])), set(&[writes]));
        };
        if input.0 == output.0 {
            let aside = Id(places.iter().next());
            step(PERMUTE_TO_SCRATCH, input, aside);
            step(PERMUTE_FROM_SCRATCH, aside, output);
        } else {
            step(PERMUTE_TO_OUTPUT, input, output);
        }
    }

    /// Writes bucket information, concurrently with the scatter pass. Both read the same counts.
    fn results(&mut self) {
        if !std::mem::take(&mut self.tells) {
            return;
        }
        let (kernel, shape) = self.table.config.telling_kernel(self.table.algorithm);
        let counted = match kernel {
            Kernel::SplitSingleDispatchInfo => self.digits_source(),
            Kernel::SplitBounds => self.alternate[0],
            _ => self.histograms,
        };
        let counted = if self.table.most_items == 0 { Id(None) } else { counted };
        let starts = self.starts;
        let flags = self.format().strays() || starts.0.is_some() || self.table.algorithm.recounts();
        let strays = if flags { self.statuses } else { Id(None) };
        // Single-dispatch splits write the whole status word; others add flags.
        let added = if self.table.algorithm.recounts() { Id(None) } else { strays };
        let reads = set(&[counted, self.results, added, starts]).union(self.counted_by());
        let placed = if starts.0.is_some() { counted } else { Id(None) };
        let buckets = self.format().split.map_or(0, |split| split.buckets);
        let groups = match kernel {
            // One thread for each bucket, up to the limit: each is a chain of dependent reads.
            _ if self.format().segmented => {
                let told = if self.told.iter().any(|told| told.0.is_some()) { buckets } else { 1 };
                let told = u64::from(told) * u64::from(self.table.most_segments);
                let groups = told.div_ceil(self.table.config.profile.plain_threads.into()).clamp(1, MOST_TELLING.into());
                Groups::Fixed(u32::try_from(groups).unwrap_or(MOST_TELLING))
            }
            Kernel::SplitBounds => Groups::Fixed(self.table.problems * buckets.div_ceil(self.table.config.profile.plain_threads)),
            _ => Groups::Fixed(self.table.problems),
        };
        let writes = set(&self.told).union(set(&[strays, placed]));
        match kernel {
            Kernel::SplitSingleDispatchInfo => {
                self.pass_of_buckets::<CountingInfoPush, CountingInfoProblem>(kernel, shape, groups, reads, writes);
            }
            Kernel::SplitBounds => self.pass_of_buckets::<BoundsPush, BucketInfoProblem>(kernel, shape, groups, reads, writes),
            _ => self.pass_of_buckets::<BucketInfoPush, BucketInfoProblem>(kernel, shape, groups, reads, writes),
        }
    }

    /// Adds a pass with push constants `P` whose rows `R` are those of bucket information.
    fn pass_of_buckets<P, R>(
        &mut self,
        kernel: Kernel,
        tile: impl Into<TileShape>,
        groups: Groups,
        reads: Resources,
        writes: Resources,
    ) where
        P: SharedStruct + for<'f> From<(&'f PassFacts, R)>,
        R: Copy + Default + for<'f> From<InfoFacts<'f>>,
    {
        let mut row = R::default();
        if self.table.problems == 1 {
            self.table.for_each_result(&mut |problem| row = *problem);
        }
        let facts = PassFacts { problems: self.table.part_of(self.table.results), ..self.push };
        self.add(kernel, tile, groups, &P::from((&facts, row)), reads, writes);
    }

    /// As [`Builder::line`], for kernels after the passes. Small problems have no prepared states.
    fn last_line(&self) -> Resources {
        let states = self.table.prepared && self.states.0.is_some();
        if self.format().segmented {
            return set(&[self.rows]);
        }
        self.line().union(set(&[if states { Id(None) } else { self.counts }]))
    }
}
