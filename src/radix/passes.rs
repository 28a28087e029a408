//! The building blocks of plans that move items by digits: a sort or a split adds passes with them, in its order.

use super::format::Format;
use super::items::{ItemRole, Placement};
use super::problems::{DIRECT_HISTOGRAMS, INDIRECT_COMMAND, Problems};
use super::rows::{PassFacts, PassIndex};
use super::values::{PLAIN, Values};
use crate::core::memory::Range;
use crate::core::plan::{Content, Groups, Plan, Push, Resources, Rows, Table};
use crate::kernels::Kernel;
use crate::shared::{
    ARGUMENTS_CHUNKS, ARGUMENTS_DIGITS, ARGUMENTS_TILES, FLAG_INDIRECT, FLAG_ODD, FLAG_SKIPS_CONSTANT_DIGITS,
    FLAG_SKIPS_DIGITS, FLAG_TICKETS, HistogramPush, LAYOUT_DROP_KEYS, LAYOUT_KEYS_IN_SCRATCH, LAYOUT_VALUES_IN_SCRATCH,
    OnesweepPush, PERMUTE_FROM_SCRATCH, PERMUTE_TO_OUTPUT, PERMUTE_TO_SCRATCH, PackPush, PathPush, PermutePush,
    PreparePush, RadixProblem, ReorderPush, SegmentList, SegmentsPush, SharedStruct, SpinePush,
};
use crate::tuning::{SmallMethod, SmallShape, TileShape};
use arrayvec::ArrayVec;

/// Items of an invocation in kernels without tiles, for large counts.
const ITEMS_A_THREAD: u32 = 8;
/// Maximum number of items that a workgroup of the histogram counts.
const MOST_CHUNK: u32 = 1 << 28;

/// Most variants of one request that are known by their values.
const MOST_VARIANTS: usize = 8;

/// The rows of the problems, in the tables of all primitives.
pub(crate) const PROBLEMS: Rows = Rows(0);

/// Implements the conversion of facts and of a row to push constants: the row is `problem`, the other members are the
/// facts of these names.
macro_rules! push_constants {
    ($row:ident: $($push:ident { $($member:ident),* })*) => {$(
        impl From<(&$crate::radix::PassFacts, $row)> for $push {
            fn from((facts, problem): (&$crate::radix::PassFacts, $row)) -> Self {
                Self { problem: problem.into(), $($member: facts.$member.into()),* }
            }
        }
    )*};
}

pub(crate) use push_constants;

push_constants! {
    RadixProblem:
    PreparePush { scratch, problems, states, problem_count, windows, commands, tickets, chunk, pass }
    HistogramPush { scratch, problems, states, problem_count, tickets, chunk, pass }
    OnesweepPush { scratch, problems, states, problem_count, tickets, pass, digit }
    ReorderPush { scratch, problems, states, problem_count, chunk, pass, digit }
    SpinePush { scratch, problems, states, problem_count, chunk, tile_items, pass }
    PathPush { scratch, problems, states, problem_count, pass }
    SegmentsPush { scratch, segments, windows, problem_count, pass }
    PackPush { scratch, problems, states, problem_count, windows, pass }
    PermutePush { scratch, problems, states, problem_count, windows, pass, step }
}

/// The index of a resource in the plan; none if the plan has no such resource.
#[derive(Clone, Copy)]
pub(crate) struct Id(pub(crate) Option<usize>);

impl Id {
    pub(crate) const NONE: Self = Self(None);

    /// The resource if `wanted`.
    pub(crate) fn when(self, wanted: bool) -> Self {
        if wanted { self } else { Self::NONE }
    }
}

/// The resources of keys and values.
pub(super) type Area = [Id; 2];

/// The set of these resources.
pub(crate) fn set(ids: &[Id]) -> Resources {
    ids.iter().filter_map(|id| id.0).fold(Resources::default(), |all, id| all.union(Resources::of(&[id])))
}

/// A plan to which passes over the items of some problems are added.
pub(crate) struct Passes<'p, 'a> {
    pub(crate) problems: &'a Problems<'a>,
    pub(crate) plan: &'p mut Plan<'a>,
    /// Places of variants in the plan, which passes over several digits share.
    variants: ArrayVec<(Kernel, Values, u8), MOST_VARIANTS>,
    /// The push constants of the next pass.
    pub(crate) facts: PassFacts,
    pub(crate) input: Area,
    /// The output, which also holds the planes of every other pass.
    output: Area,
    /// As `output`, but in scratch for keys or values that reach the output after the passes.
    pub(crate) staged: Area,
    pub(crate) alternate: Area,
    pub(crate) counts: Id,
    pub(crate) statuses: Id,
    commands: Id,
    pub(crate) tickets: Id,
    pub(super) states: Id,
    pub(crate) rows: Id,
    pub(crate) histograms: Id,
    pub(crate) tile_words: Id,
    pub(crate) offsets: Id,
}

impl<'p, 'a> Passes<'p, 'a> {
    /// Adds the resources of the problems to `plan`, and their rows if there are several.
    pub(crate) fn new(problems: &'a Problems<'a>, plan: &'p mut Plan<'a>, table: &'a dyn Table) -> Self {
        let format = &problems.config.format;
        let mut add = |name, range: Range| Id((range.size != 0).then(|| plan.add_resource(name, range)));
        let bound = |role| problems.bounds.range(role);
        let input = [add("keys", bound(ItemRole::Keys)), add("values", bound(ItemRole::Values))];
        let second = [add("keys_out", bound(ItemRole::KeysOut)), add("values_out", bound(ItemRole::ValuesOut))];
        let scratch =
            [add("alternate_keys", problems.alternate_keys), add("alternate_values", problems.alternate_values)];
        let (output, mut alternate) = match format.placement {
            Placement::InPlace => (input, scratch),
            Placement::Preserve => (second, scratch),
            Placement::DoubleBuffer if format.rule() == FLAG_ODD => (second, input),
            Placement::DoubleBuffer => (input, second),
        };
        if problems.outline.merging.is_some() {
            alternate = scratch;
        }
        let mut staged = output;
        for (index, layout) in [(0, LAYOUT_KEYS_IN_SCRATCH), (1, LAYOUT_VALUES_IN_SCRATCH)] {
            if format.has(layout) {
                (staged[index], alternate[index]) = (scratch[index], scratch[index]);
            }
        }
        let counts = add("counts", bound(ItemRole::Count));
        let statuses = add("statuses", bound(ItemRole::Status));
        let commands = add("arguments", problems.commands);
        let tickets = add("tickets", problems.tickets);
        let states = add("states", problems.states);
        let rows = add("problems", problems.rows);
        let histograms = add("histograms", problems.histograms);
        let tile_words = add("tile_words", problems.tile_words);
        let offsets = add("offsets", bound(ItemRole::SegmentOffsets));
        if let Some(resource) = rows.0.filter(|_| !format.segmented) {
            plan.add_upload(Content::Rows(table, PROBLEMS), problems.offset_of(problems.rows), resource);
        }
        let facts = Self::facts(problems);
        Self {
            problems,
            plan,
            variants: ArrayVec::new(),
            facts,
            input,
            output,
            staged,
            alternate,
            counts,
            statuses,
            commands,
            tickets,
            states,
            rows,
            histograms,
            tile_words,
            offsets,
        }
    }

    /// The push constants that all passes share.
    fn facts(problems: &Problems<'_>) -> PassFacts {
        let (config, outline) = (&problems.config, &problems.outline);
        let format = &config.format;
        let row_per_group = config.has_row_per_group(problems.prepared);
        let groups = if row_per_group { DIRECT_HISTOGRAMS } else { config.counting_groups() };
        // Segments count as one problem: only the device knows how many partial tiles they have.
        let tiles = match (outline.segments, outline.tile) {
            (Some(_), Some(tile)) => problems.most_items.div_ceil(tile.tile()),
            _ => problems.tiles,
        };
        // The items of a chunk stay within reach of an index.
        let most_tiles = MOST_CHUNK / outline.tile.map_or(1, TileShape::tile);
        let chunk = tiles.div_ceil(groups).min(most_tiles).max(1);
        let flags = [
            (problems.skips_digits || outline.prefixes.is_some(), FLAG_SKIPS_DIGITS),
            (problems.skips_digits, FLAG_SKIPS_CONSTANT_DIGITS),
            (problems.commands.size != 0, FLAG_INDIRECT),
            (config.scan().is_some(), FLAG_TICKETS),
        ];
        // Rows of segments are the list of those that begin in each window.
        let list = problems.part_of(problems.rows);
        let (rows, windows) = if format.segmented { (0, list) } else { (list, 0) };
        PassFacts {
            scratch: problems.scratch,
            problems: rows,
            states: problems.part_of(problems.states),
            problem_count: if format.segmented { outline.windows(problems.most_items) } else { problems.count },
            windows,
            commands: problems.part_of(problems.commands),
            tickets: problems.part_of(problems.tickets),
            segments: if format.segmented { Self::segment_list(problems) } else { SegmentList::default() },
            chunk,
            tile_items: outline.tile.map_or(0, TileShape::tile),
            pass: PassIndex {
                index: 0,
                digits: format.digits(),
                rows: if row_per_group { problems.tiles.div_ceil(chunk) } else { 1 },
                flags: flags.iter().filter(|(set, _)| *set).fold(format.rule(), |all, (_, bit)| all | bit),
            },
            ..PassFacts::default()
        }
    }

    /// The caller's segments. There is one list, since segmented requests share no dispatch.
    fn segment_list(problems: &Problems<'_>) -> SegmentList {
        SegmentList {
            offsets: problems.bounds.range(ItemRole::SegmentOffsets).address.into(),
            count: problems.bounds.range(ItemRole::Count).address.into(),
            max_count: problems.most_segments,
        }
    }

    pub(crate) fn format(&self) -> &'a Format {
        &self.problems.config.format
    }

    /// Adds a pass with push constants `P`, which are made of the facts and of the row of a single problem.
    pub(crate) fn pass<P>(
        &mut self,
        kernel: Kernel,
        values: &Values,
        groups: Groups,
        reads: Resources,
        writes: Resources,
    ) where
        P: SharedStruct + for<'f> From<(&'f PassFacts, RadixProblem)>,
    {
        self.add(kernel, values, groups, &P::from((&self.facts, self.problems.row)), reads, writes);
    }

    /// Adds a pass with these push constants.
    pub(crate) fn add(
        &mut self,
        kernel: Kernel,
        values: &Values,
        groups: Groups,
        push: &impl SharedStruct,
        reads: Resources,
        writes: Resources,
    ) {
        let variant = self.variant(kernel, values);
        self.plan.add_pass(variant, groups, Push::new(kernel, push), reads, writes);
    }

    /// The index of a kernel's variant in the plan.
    fn variant(&mut self, kernel: Kernel, values: &Values) -> u8 {
        let is_same = |known: &&(Kernel, Values, u8)| known.0 == kernel && known.1 == *values;
        if let Some((.., index)) = self.variants.iter().find(is_same) {
            return *index;
        }
        let index = self.plan.add_variant(&self.problems.config.variant(kernel, values));
        // Without room, the next pass finds the variant in the plan.
        let _ = self.variants.try_push((kernel, *values, index));
        index
    }

    /// Adds a pass with `groups` workgroups for each problem.
    pub(crate) fn shared_pass<P>(
        &mut self,
        kernel: Kernel,
        values: &Values,
        groups: u32,
        reads: Resources,
        writes: Resources,
    ) where
        P: SharedStruct + for<'f> From<(&'f PassFacts, RadixProblem)>,
    {
        self.facts.groups = groups;
        self.pass::<P>(kernel, values, Groups::Fixed(self.problems.count * groups), reads, writes);
    }

    fn groups(&self, fixed: u32, command: u32) -> Groups {
        match self.commands.0 {
            Some(resource) => Groups::Indirect {
                offset: self.problems.offset_of(self.problems.commands) + u64::from(command) * INDIRECT_COMMAND,
                resource,
            },
            None => Groups::Fixed(fixed),
        }
    }

    /// One workgroup for each chunk of tiles.
    pub(crate) fn chunks(&self) -> Groups {
        self.groups(self.problems.tiles.div_ceil(self.facts.chunk), ARGUMENTS_CHUNKS)
    }

    /// The workgroups of a kernel that iterates over words: the same number for each problem.
    pub(crate) fn shares(&self, words: u64) -> Groups {
        let (profile, count) = (self.problems.config.profile, self.problems.count);
        let wanted = words.div_ceil(u64::from(profile.plain_threads * ITEMS_A_THREAD)).max(1);
        // At most as many as fill the device: the actual count may be small.
        let most = (profile.radix.histogram_groups / count).max(1);
        Groups::Fixed(count * u32::try_from(wanted).unwrap_or(most).min(most))
    }

    /// Selects the digit of the next pass. After the last digit there is none.
    pub(crate) fn set_digit(&mut self, pass: u32) {
        let format = self.format();
        self.facts.pass.index = pass;
        let digit = (pass < format.digits()).then(|| format.digit(pass));
        self.facts.digit = digit.map_or(0, |digit| digit.shift | digit.word << 8 | digit.bits << 16);
    }

    /// Resolves counts, assigns tiles, writes indirect commands. `clears`: `FLAG_` bits of the state to clear, which is
    /// in the resources `cleared`.
    pub(crate) fn prepare(&mut self, tile: TileShape, clears: u32, cleared: &[Id]) {
        let reads = set(&[self.counts, self.rows]);
        let writes = set(&[self.states, self.commands, self.statuses]).union(set(cleared));
        let flags = self.facts.pass.flags;
        self.facts.pass.flags |= clears;
        let values = self.problems.config.preparing(tile, self.problems.mode);
        self.pass::<PreparePush>(Kernel::RadixPrepare, &values, Groups::Fixed(self.problems.count), reads, writes);
        self.facts.pass.flags = flags;
    }

    /// Counts all digits in one read of the items, and clears these resources.
    pub(crate) fn histogram(&mut self, tile: TileShape, cleared: &[Id]) {
        let keys = set(&[self.digits_source()]);
        let (mut reads, mut writes) = (keys.union(self.tile_map()), set(&[self.histograms]).union(set(cleared)));
        if self.problems.prepared {
            reads = reads.union(set(&[self.histograms]));
        } else {
            reads = reads.union(set(&[self.counts]));
            writes = writes.union(set(&[self.tickets, self.statuses]));
        }
        let values = self.problems.config.counting_all(tile, self.problems.mode);
        self.pass::<HistogramPush>(Kernel::RadixHistogram, &values, self.chunks(), reads, writes);
    }

    /// Passes over all digits by look-back, behind the histogram.
    pub(crate) fn digits_by_look_back(&mut self, tile: TileShape) {
        let histograms = self.histograms;
        self.histogram(tile, &[self.tile_words]);
        self.onesweep(tile, histograms, Id::NONE);
        self.copy();
    }

    /// Scatters by each digit, with look-back. `starts`: bin starts, read. `totals`: bin totals, written by the last
    /// tile.
    pub(crate) fn onesweep(&mut self, tile: TileShape, starts: Id, totals: Id) {
        let (tile_words, tickets) = (self.tile_words, self.tickets);
        let (kernel, groups) = self.problems.config.onesweep(&self.problems.outline, self.problems.count == 1);
        let groups = match groups {
            Some(groups) => Groups::Fixed(self.problems.tiles.min(groups)),
            None => self.tiles(),
        };
        let values = self.problems.config.scattering(tile, self.problems.mode);
        for pass in 0..self.format().digits() {
            self.set_digit(pass);
            let (reads, writes) = self.source_and_target(pass);
            let reads = reads.union(self.tile_map()).union(set(&[starts, tile_words, tickets]));
            self.pass::<OnesweepPush>(
                kernel,
                &values,
                groups,
                reads,
                writes.union(set(&[totals, tile_words, tickets])),
            );
        }
    }

    /// One workgroup for each tile.
    fn tiles(&self) -> Groups {
        self.groups(self.problems.tiles, ARGUMENTS_TILES)
    }

    /// Passes over all digits by reduce-then-scan.
    pub(crate) fn digits_by_scan(&mut self, tile: TileShape) {
        for pass in 0..self.format().digits() {
            self.count(tile, pass);
            self.reorder(tile, pass);
        }
        self.copy();
    }

    /// Counts a digit in each tile and scans the counts over the tiles.
    pub(crate) fn count(&mut self, tile: TileShape, pass: u32) {
        self.set_digit(pass);
        let (tile_map, skipped) = (self.tile_map(), self.skipped_digits());
        let (mut reads, _) = self.source_and_target(pass);
        let mut writes = set(&[self.tile_words]);
        if pass == 0 && !self.problems.prepared {
            reads = reads.union(set(&[self.counts]));
            writes = writes.union(set(&[self.statuses]));
        }
        let planes = self.staged[0].when(!self.format().binning.labels);
        let reads = reads.intersection(set(&[self.digits_source(), planes, self.alternate[0], self.counts]));
        let (config, mode) = (&self.problems.config, self.problems.mode);
        let [counting, along] = [config.counting(tile, mode), config.along(tile, mode)];
        self.pass::<ReorderPush>(
            Kernel::RadixCount,
            &counting,
            self.chunks(),
            reads.union(tile_map).union(skipped),
            writes,
        );
        let digits = match self.problems.outline.segments {
            Some(_) => self.groups(0, ARGUMENTS_DIGITS),
            None => Groups::Fixed(self.problems.count * self.format().bins()),
        };
        let (reads, sums) = (set(&[self.tile_words]), set(&[self.tile_words, self.histograms]));
        self.pass::<SpinePush>(Kernel::RadixSpine, &along, digits, reads.union(tile_map).union(skipped), sums);
    }

    /// Scatters by a digit whose counts have been scanned.
    pub(crate) fn reorder(&mut self, tile: TileShape, pass: u32) {
        let (reads, writes) = self.source_and_target(pass);
        let reads = reads.union(self.tile_map()).union(set(&[self.tile_words, self.histograms]));
        let values = self.problems.config.scattering(tile, self.problems.mode);
        self.pass::<ReorderPush>(Kernel::RadixReorder, &values, self.tiles(), reads, writes);
    }

    /// Sorts the segments that fit a workgroup, then longer ones by radix passes.
    pub(crate) fn segments(&mut self, segments: SmallShape, tile: Option<TileShape>) {
        let labels = set(&[self.labels()]);
        let reads = self.read_of_input().union(set(&[self.offsets, self.counts])).union(labels);
        let listed = set(&[self.rows, self.statuses, self.histograms.when(tile.is_some())]);
        let writes = self.written_of(self.staged, true).union(listed).union(labels);
        let values = self.problems.config.sorting_segments(segments.shape, self.problems.mode);
        let windows = Groups::Fixed(self.facts.problem_count);
        self.pass::<SegmentsPush>(segments.segments_kernel(), &values, windows, reads, writes);
        let Some(tile) = tile else { return };
        let writes = set(&[self.states, self.commands, self.tickets]);
        let values = self.problems.config.preparing(tile, self.problems.mode);
        self.pass::<PreparePush>(Kernel::RadixPrepare, &values, Groups::Fixed(1), set(&[self.rows]), writes);
        if self.problems.config.scan().is_some() {
            self.digits_by_look_back(tile);
        } else {
            self.digits_by_scan(tile);
        }
    }

    /// Adds the final copy, if the digits may leave the items in the wrong arrays.
    pub(crate) fn copy(&mut self) {
        if !self.problems.skips_digits && self.format().ends_right() {
            return;
        }
        let digits = self.format().digits();
        self.set_digit(digits);
        let (reads, writes) = self.source_and_target(digits);
        let reads = reads.union(self.tile_map()).union(self.skipped_digits());
        // Segments are copied tile by tile.
        let outline = &self.problems.outline;
        let (groups, shape) = match outline.segments {
            Some(_) => (self.tiles(), outline.tile.map_or(PLAIN, |tile| tile.shape)),
            None => (self.shares(self.problems.most_items.into()), PLAIN),
        };
        let values = self.problems.config.finishing(shape, self.problems.mode);
        self.pass::<PathPush>(Kernel::RadixCopy, &values, groups, reads, writes);
    }

    /// Adds what follows the passes, if there are any: packs narrow keys, gathers large values.
    pub(crate) fn finish(mut self) {
        if self.plan.has_passes() {
            self.pack();
            self.permute();
        }
    }

    fn pack(&mut self) {
        if !self.format().narrow() || self.format().has(LAYOUT_DROP_KEYS) {
            return;
        }
        let words = u64::from(self.problems.most_items).div_ceil(u64::from(4 / self.format().key_size)) + 1;
        let reads = self.final_tile_map().union(set(&[self.staged[0], self.output[0]]));
        let values = self.problems.config.finishing(PLAIN, self.problems.mode);
        self.pass::<PackPush>(Kernel::RadixPack, &values, self.shares(words), reads, set(&[self.output[0]]));
    }

    fn permute(&mut self) {
        if !self.format().has(LAYOUT_VALUES_IN_SCRATCH) {
            return;
        }
        let groups = self.shares(u64::from(self.problems.most_items) * u64::from(self.format().value_size / 4));
        let (indices, tile_map) = (set(&[self.staged[1]]), self.final_tile_map());
        let (input, output) = (self.input[1], self.output[1]);
        let values = self.problems.config.finishing(PLAIN, self.problems.mode);
        let mut step = |step, source: Id, target: Id| {
            self.facts.step = step;
            let reads = tile_map.union(indices).union(set(&[source]));
            self.pass::<PermutePush>(Kernel::RadixPermute, &values, groups, reads, set(&[target]));
        };
        if input.0 == output.0 {
            let copied = Id(indices.iter().next());
            step(PERMUTE_TO_SCRATCH, input, copied);
            step(PERMUTE_FROM_SCRATCH, copied, output);
        } else {
            step(PERMUTE_TO_OUTPUT, input, output);
        }
    }
}

impl SmallShape {
    /// The kernel that sorts segments in workgroups of this shape.
    fn segments_kernel(self) -> Kernel {
        match self.method {
            // Segments by buckets do not pass Profile::checked.
            SmallMethod::Radix | SmallMethod::Buckets => Kernel::RadixSegments,
            SmallMethod::Merge => Kernel::RadixSegmentsMerge,
        }
    }
}
