//! The plan of a merge.

use super::merger::{COUNTS, MergeInfo, MergeSegments};
use super::planner::{Algorithm, Config, Group, MergeJobs, MergeRole, marks, more_arguments};
use super::status::{CheckSize, StatusCheck};
use super::tree::{Before, MOST_DEPTHS, Nodes, Tree};
use crate::core::memory::{BoundingRanges, Range};
use crate::core::pipelines::Variant;
use crate::core::plan::{Content, Groups, Plan, Push, Resources, Rows, Table};
use crate::core::primitive::{Jobs, PlanSource};
use crate::core::scratch::{Layout, PART_ALIGNMENT, part_number};
use crate::kernels::Kernel;
use crate::radix::MOST_GROUPS_Y;
use crate::shared::{
    Constant, LAYOUT_DROP_KEYS, LAYOUT_INTERLEAVED, LOOK_BACK_BLOCK, MODE_SINGLE, MergeDetails, MergePathPush,
    MergeProblem, MergeSearchPush, SECTION_TILES, THREAD_OFFSETS,
};
use crate::tuning::Shape;
use crate::{Error, Result};
use arrayvec::ArrayVec;

const WORD: u64 = 4;

/// The list of details of a table. Those before are the merges of each depth.
#[allow(clippy::cast_possible_truncation, reason = "there are few depths")]
const DETAILS: Rows = Rows(MOST_DEPTHS as u8);

/// Most threads of a workgroup that searches for co-ranks. With few tiles in a workgroup, its searches are short, and a
/// medium merge has more workgroups that search.
const SEARCHING_THREADS: u32 = 128;

/// Threads that search at once for all co-ranks of a merge, however many merges share the dispatch. Teams take fewer
/// rounds than single threads, and more loads: small merges wait for rounds, others for loads (docs/merge.md).
const ALL_SEARCHERS: u32 = 1 << 16;

/// The same, for each of the two co-ranks of all tiles, of merges in one dispatch. With half of all threads, the loads
/// would take more time than the rounds that they save (docs/merge.md).
const FUSED_SEARCHERS: u32 = 1 << 15;

/// Fewest threads that search for one co-rank in a merge in one dispatch. With many tiles, others wait for the rounds.
const FEWEST_FUSED_SEARCHERS: u32 = 16;

/// Most threads that search for one co-rank.
const MOST_SEARCHERS: u32 = 16;

/// Merges of one group, laid out in scratch. A merge of more than two sequences is a [`Tree`] of merges of two.
pub(crate) struct MergeTable<'a> {
    config: Config<'a>,
    tiling: Tiling,
    jobs: &'a dyn Jobs<MergeJobs>,
    bounds: BoundingRanges<MergeRole>,
    /// The smallest ranges around the keys, the values and the counts of the sequences after B.
    more: [Range; 3],
    /// Device address of scratch.
    scratch: u64,
    /// The merges of two sequences, by their depth in trees. Without trees, depth 0 has all of them.
    depths: ArrayVec<Merges, MOST_DEPTHS>,
    nodes: Nodes,
    status_check: StatusCheck<'a>,
    /// The smallest range around the statuses that merges write; none if the check writes all of them.
    statuses: Range,
    /// Whether a problem has results besides its items.
    any_results: bool,
    /// Largest number of tiles of marks.
    most_mark_tiles: u32,
    /// Largest number of written offsets of segments.
    most_offsets: u32,
    details: Range,
    co_ranks: Range,
    tile_prefixes: Range,
    marked: Range,
}

/// Merges that share dispatches.
#[derive(Clone, Copy)]
struct Merges {
    depth: usize,
    count: u32,
    /// Largest maximum number of items of a merge path, or of needles.
    most_items: u32,
    rows: Range,
}

impl<'a> MergeTable<'a> {
    /// Lays out merges in parts of scratch that `layout` allocates.
    pub(crate) fn new(
        config: Config<'a>,
        group: Group,
        jobs: &'a dyn Jobs<MergeJobs>,
        scratch: u64,
        layout: &mut Layout,
    ) -> Result<Self> {
        let format = &config.format;
        let tiling = Tiling::new(&config, group.algorithm);
        let (mut count, mut any_results, mut writes_status) = (0u32, false, false);
        let [mut most_mark_tiles, mut most_offsets] = [0; 2];
        let mut bytes = [TileBytes::default(); MOST_DEPTHS];
        let mut depths = ArrayVec::<Merges, MOST_DEPTHS>::new();
        let (mut all, mut more, mut checked) = (Before::default(), [Range::NONE; 3], CheckSize::default());
        jobs.for_each(&mut |info| {
            count += 1;
            let writes_offsets = format.segmented && info.segments.offsets_out != Range::NONE;
            any_results |= info.status != 0 || info.count_out != 0 || writes_offsets;
            if writes_offsets {
                // Merger::check_count() refuses numbers of segments that do not fit.
                most_offsets = (info.segments.count.max + 1).max(most_offsets);
            }
            if format.operation.is_update() {
                most_mark_tiles = tiling.mark_tiles(info.count_a.max).max(most_mark_tiles);
            }
            more_arguments(format, info, &mut |argument| {
                let bound = match argument.role {
                    MergeRole::MoreKeys => &mut more[0],
                    MergeRole::MoreValues => &mut more[1],
                    _ => &mut more[2],
                };
                *bound = bound.around(argument.range);
            });
            let nodes = Nodes::default();
            let tree = Tree::new(info, format, &nodes, all);
            all.add(&tree);
            checked.add(&tree);
            writes_status |= info.status != 0 && tree.checked_pairs() == 0;
            for depth in depths.len()..tree.depths() {
                depths.push(Merges { depth, count: 0, most_items: 0, rows: Range::NONE });
            }
            for (merges, bytes) in depths[..tree.depths()].iter_mut().zip(&mut bytes) {
                tree.for_each_merge(merges.depth, &mut |merge| {
                    merges.count += 1;
                    let path = format.path_items(merge.count_a.max, items_of(merge) - merge.count_a.max);
                    merges.most_items = path.max(merges.most_items);
                });
                bytes.add(&tiling.depth_bytes(&tree, merges.depth));
            }
        });
        let bounds = jobs.bounding_ranges();
        let counts = [bounds.range(MergeRole::CountA), bounds.range(MergeRole::CountB), more[2]];
        let statuses = bounds.range(MergeRole::Status);
        let status_check = StatusCheck::new(config, jobs, checked, (counts, statuses), scratch, layout)?;
        let mut table = Self {
            config,
            tiling,
            jobs,
            bounds,
            more,
            scratch,
            nodes: Nodes::lay_out(format, depths.len(), all, scratch, layout)?,
            depths,
            status_check,
            statuses: if writes_status { statuses } else { Range::NONE },
            any_results,
            most_mark_tiles,
            most_offsets,
            details: Range::NONE,
            co_ranks: Range::NONE,
            tile_prefixes: Range::NONE,
            marked: Range::NONE,
        };
        // Workgroups in x times y exceed the number of workgroups by less than y, and still fit an index.
        let limit = (u64::from(config.profile.max_groups_x) * MOST_GROUPS_Y).min(u64::from(u32::MAX) - MOST_GROUPS_Y);
        for merges in &table.depths {
            let groups = u64::from(merges.count) * u64::from(table.groups(merges).max(most_mark_tiles));
            if groups > limit {
                let (value, limit) = (merges.most_items.into(), u64::from(merges.most_items) * limit / groups);
                let argument = if format.operation.is_search() { "countA.max" } else { COUNTS };
                return Err(Error::TooLarge { argument, value, limit, why: "the workgroups of one dispatch" });
            }
        }
        let rows = |wanted: bool, count: u32, size: usize| if wanted { u64::from(count) * size as u64 } else { 0 };
        for merges in &mut table.depths {
            let Merges { count, .. } = *merges;
            merges.rows = layout.range(scratch, rows(count > 1, count, size_of::<MergeProblem>()))?;
        }
        table.details = layout.range(scratch, rows(format.has_details(), count, size_of::<MergeDetails>()))?;
        // The depths use the same parts one after the other.
        let bytes = bytes.into_iter().fold(TileBytes::default(), TileBytes::max);
        table.co_ranks = layout.range(scratch, bytes.co_ranks)?;
        table.tile_prefixes = layout.range(scratch, bytes.prefixes)?;
        table.marked = layout.range(scratch, bytes.marked)?;
        Ok(table)
    }

    /// Workgroups of each merge in the last pass: one for each tile or section of the largest, and enough to write
    /// the offsets of all segments. Without items, one writes the results.
    fn groups(&self, merges: &Merges) -> u32 {
        let offsets = self.most_offsets.div_ceil(self.tiling.tile.threads * THREAD_OFFSETS);
        self.tiles(merges).max(offsets)
    }

    /// Tiles or sections of the largest merge, at least one.
    fn tiles(&self, merges: &Merges) -> u32 {
        let tiles = match self.tiling.algorithm {
            Algorithm::Tiled | Algorithm::CircularBuffer => SECTION_TILES,
            _ => 1,
        };
        merges.most_items.div_ceil(self.tiling.step * tiles).max(1)
    }

    /// The row of a problem. `before`: bytes of preceding problems.
    fn row(&self, info: &MergeInfo<'_>, before: TileBytes) -> MergeProblem {
        let format = &self.config.format;
        // The value of an item follows its key. Without items, the address is unused and may have any value.
        let values = |keys: Range, values: Range| {
            if format.has(LAYOUT_INTERLEAVED) {
                keys.address.wrapping_add((4 * format.key_words).into())
            } else {
                values.address
            }
        };
        MergeProblem {
            keys_a: info.keys_a.address.into(),
            values_a: values(info.keys_a, info.values_a).into(),
            keys_b: info.keys_b.address.into(),
            values_b: values(info.keys_b, info.values_b).into(),
            keys_out: info.keys_out.address.into(),
            values_out: values(info.keys_out, info.values_out).into(),
            count_a: info.count_a.address.into(),
            count_b: info.count_b.address.into(),
            status: info.status.into(),
            count_out: info.count_out.into(),
            max_count: items_of(info),
            max_a: info.count_a.max,
            co_ranks: self.part_behind(self.co_ranks, before.co_ranks),
            tile_prefixes: self.part_behind(self.tile_prefixes, before.prefixes),
        }
    }

    /// The details of a problem. `before`: bytes of preceding problems.
    fn details(&self, info: &MergeInfo<'_>, before: TileBytes) -> MergeDetails {
        let MergeSegments { count, offsets_a, offsets_b, offsets_out } = info.segments;
        MergeDetails {
            offsets_a: offsets_a.address.into(),
            offsets_b: offsets_b.address.into(),
            offsets_out: offsets_out.address.into(),
            segment_count: count.address.into(),
            max_segments: count.max,
            mark_words: u32::try_from(marks(&self.config.format, info).size / WORD).unwrap_or(u32::MAX),
            marks: info.marks.address.into(),
            marked: self.part_behind(self.marked, before.marked),
            mark_tiles: self.tiling.mark_tiles(info.count_a.max),
            user_address: info.user_address.into(),
            user_words: info.user_words,
        }
    }

    fn part_behind(&self, part: Range, bytes: u64) -> u32 {
        part_number(self.scratch, Range::new(part.address.wrapping_add(bytes), part.size))
    }

    /// Calls `visit` with each merge of a depth and the bytes of those before it.
    fn for_each_problem(&self, depth: usize, visit: &mut dyn FnMut(&MergeInfo<'_>, TileBytes)) {
        let (mut bytes, mut trees) = (TileBytes::default(), Before::default());
        self.jobs.for_each(&mut |info| {
            let tree = Tree::new(info, &self.config.format, &self.nodes, trees);
            let mut own = bytes;
            tree.for_each_merge(depth, &mut |merge| {
                visit(merge, own);
                own.add(&self.tiling.bytes(items_of(merge)));
            });
            bytes.add(&self.tiling.depth_bytes(&tree, depth));
            trees.add(&tree);
        });
    }

    fn variant(&self, merges: &Merges, kernel: Kernel, threads: u32) -> Variant {
        let Config { profile, format } = self.config;
        // Inner nodes have their keys.
        let dropped = if merges.depth == 0 { 0 } else { LAYOUT_DROP_KEYS };
        let emulated = profile.emulated_subgroups;
        let lanes = self.config.lanes(kernel);
        Variant::new(kernel.emulated(emulated), |constant| match constant {
            Constant::Threads => threads,
            Constant::Lanes => lanes,
            Constant::Items => self.tiling.tile.items,
            Constant::Tile => self.tiling.step,
            Constant::Mode if merges.count == 1 => MODE_SINGLE,
            Constant::KeyWords => format.key_words,
            Constant::KeyBits => u32::BITS,
            Constant::Encoding => format.encoding,
            Constant::ValueWords => format.value_words,
            Constant::Layout => format.layout & !dropped,
            Constant::Operation => format.operation_bits(),
            Constant::SpinLimit => profile.spin_limit,
            Constant::DelayEvery => profile.hooks.delay_every,
            // Kernels of merges declare no others.
            _ => 0,
        })
        .of_module(format.comparator)
    }

    /// The push constants of passes, without the number of their workgroups.
    fn push(&self, merges: &Merges) -> MergePathPush {
        let mut push = MergePathPush {
            problem: MergeProblem::default(),
            scratch: self.scratch.into(),
            problems: part_number(self.scratch, merges.rows),
            problem_count: merges.count,
            groups: 0,
            details: part_number(self.scratch, self.details),
        };
        if merges.count == 1 {
            self.for_each_problem(merges.depth, &mut |info, before| push.problem = self.row(info, before));
        }
        push
    }

    /// Adds a pass with so many workgroups for each merge.
    fn add_pass<'p>(
        &'p self,
        plan: &mut Plan<'p>,
        Dispatches { merges, push }: &Dispatches,
        kernel: Kernel,
        threads: u32,
        groups: u32,
        [reads, writes]: [Resources; 2],
    ) {
        let push = Push::new(kernel, &MergePathPush { groups, ..*push });
        let variant = plan.add_variant(&self.variant(merges, kernel, threads));
        plan.add_pass(variant, Groups::Fixed(merges.count * groups), push, reads, writes);
    }

    /// Adds the search for the co-ranks of all tiles.
    fn add_search<'p>(&'p self, plan: &mut Plan<'p>, of: &Dispatches, kernel: Kernel, sets: [Resources; 2]) {
        let tiles = self.tiles(&of.merges);
        let threads = self.config.profile.plain_threads.min(SEARCHING_THREADS);
        let log2_searchers = log2_searchers(ALL_SEARCHERS, tiles, [1, MOST_SEARCHERS.min(threads)]);
        let shape = SearchShape { threads, groups: tiles.div_ceil(threads >> log2_searchers), log2_searchers };
        self.add_searching_pass(plan, of, kernel, shape, sets);
    }

    /// Adds a pass that searches for co-ranks.
    fn add_searching_pass<'p>(
        &'p self,
        plan: &mut Plan<'p>,
        Dispatches { merges, push }: &Dispatches,
        kernel: Kernel,
        SearchShape { threads, groups, log2_searchers }: SearchShape,
        [reads, writes]: [Resources; 2],
    ) {
        let MergePathPush { problem, scratch, problems, problem_count, details, .. } = *push;
        let push = MergeSearchPush { problem, scratch, problems, problem_count, groups, details, log2_searchers };
        let variant = plan.add_variant(&self.variant(merges, kernel, threads));
        plan.add_pass(variant, Groups::Fixed(merges.count * groups), Push::new(kernel, &push), reads, writes);
    }
}

/// The passes of one depth.
struct Dispatches {
    merges: Merges,
    push: MergePathPush,
}

/// The size of a pass that searches for co-ranks.
#[derive(Clone, Copy)]
struct SearchShape {
    threads: u32,
    /// Workgroups for each merge.
    groups: u32,
    /// Binary logarithm of the number of threads that search for each co-rank.
    log2_searchers: u32,
}

/// Binary logarithm of the number of threads that search for each of so many co-ranks, if `all` search at once. It is
/// that of `fewest` threads or more, of at most `most`, and not of two: those search as fast as one.
fn log2_searchers(all: u32, co_ranks: u32, [fewest, most]: [u32; 2]) -> u32 {
    match (all / co_ranks).max(fewest).min(most).ilog2() {
        1 => 0,
        log2 => log2,
    }
}

fn items_of(info: &MergeInfo<'_>) -> u32 {
    // Merger::check_count() refuses sums that do not fit.
    info.count_a.max.saturating_add(info.count_b.max)
}

/// Bytes of scratch for the tiles of problems.
#[derive(Clone, Copy, Debug, Default)]
struct TileBytes {
    co_ranks: u64,
    prefixes: u64,
    marked: u64,
}

impl TileBytes {
    fn add(&mut self, other: &Self) {
        self.co_ranks += other.co_ranks;
        self.prefixes += other.prefixes;
        self.marked += other.marked;
    }

    /// Enough for either.
    fn max(self, other: Self) -> Self {
        Self {
            co_ranks: self.co_ranks.max(other.co_ranks),
            prefixes: self.prefixes.max(other.prefixes),
            marked: self.marked.max(other.marked),
        }
    }
}

/// How the merges of a group are divided into tiles.
#[derive(Clone, Copy)]
struct Tiling {
    algorithm: Algorithm,
    tile: Shape,
    /// See [`Config::step`].
    step: u32,
    /// Items of a tile of marks: each thread of a workgroup has the marks of 32 items.
    marked_items: u32,
}

impl Tiling {
    fn new(config: &Config<'_>, algorithm: Algorithm) -> Self {
        let (tile, step) = (config.tile(algorithm), config.step(algorithm));
        Self { algorithm, tile, step, marked_items: 32 * config.profile.plain_threads }
    }

    /// Tiles of marks of an update, its end included.
    fn mark_tiles(&self, items: u32) -> u32 {
        items / self.marked_items + 1
    }

    /// Bytes of scratch for the tiles of a problem.
    fn bytes(&self, items: u32) -> TileBytes {
        let tiles = u64::from(items.div_ceil(self.step));
        let bytes = |words: u64| (words * WORD).next_multiple_of(PART_ALIGNMENT);
        let prefixes = |tiles: u64| bytes(1 + tiles + 2 * tiles.div_ceil(LOOK_BACK_BLOCK.into()));
        match self.algorithm {
            Algorithm::Tiles => TileBytes { co_ranks: bytes(tiles), ..TileBytes::default() },
            Algorithm::Sets => TileBytes { co_ranks: bytes(2 * tiles), prefixes: prefixes(tiles), marked: 0 },
            // As if all items were of A: so the size depends on the sum of the counts, as for all merges.
            Algorithm::Update => TileBytes {
                co_ranks: bytes(tiles),
                prefixes: prefixes(self.mark_tiles(items).into()),
                marked: bytes(2 * (u64::from(items / 32) + 1)),
            },
            _ => TileBytes::default(),
        }
    }

    /// Bytes of scratch for the tiles of the merges of a depth: enough for any division of the tree's items among them.
    fn depth_bytes(&self, tree: &Tree<'_>, depth: usize) -> TileBytes {
        let mut bytes = TileBytes::default();
        let merges = tree.merges(depth);
        if merges != 0 {
            bytes = self.bytes(tree.max_count());
            // Each merge has parts of its own.
            let roundings = u64::from(merges - 1) * PART_ALIGNMENT;
            bytes.co_ranks += if bytes.co_ranks == 0 { 0 } else { roundings };
        }
        bytes
    }
}

impl Table for MergeTable<'_> {
    fn for_each_row(&self, rows: Rows, row: &mut dyn FnMut(&[u8])) {
        match rows {
            DETAILS => {
                self.for_each_problem(0, &mut |info, before| row(bytemuck::bytes_of(&self.details(info, before))));
            }
            Rows(depth) => {
                let depth = usize::from(depth);
                self.for_each_problem(depth, &mut |info, before| row(bytemuck::bytes_of(&self.row(info, before))));
            }
        }
    }
}

impl PlanSource for MergeTable<'_> {
    fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
        plan.name = "merge";
        if self.depths.iter().all(|merges| merges.most_items == 0) && !self.any_results {
            return;
        }
        let mut set = |resources: &[(&'static str, Range)]| {
            let used = resources.iter().filter(|(_, range)| range.size != 0);
            used.fold(Resources::default(), |all, (name, range)| {
                all.union(Resources::of(&[plan.add_resource(name, *range)]))
            })
        };
        let bound = |role| self.bounds.range(role);
        let [more_keys, more_values, more_counts] = self.more;
        let keys =
            set(&[("keys_a", bound(MergeRole::KeysA)), ("keys_b", bound(MergeRole::KeysB)), ("keys_more", more_keys)]);
        let values_a = set(&[("values_a", bound(MergeRole::ValuesA))]);
        let values = set(&[("values_b", bound(MergeRole::ValuesB)), ("values_more", more_values)]).union(values_a);
        let marked_values = match self.config.format {
            format if !format.marks_values() => Resources::default(),
            format if format.has_value_arrays() => values_a,
            _ => keys,
        };
        let outputs = set(&[("keys_out", bound(MergeRole::KeysOut)), ("values_out", bound(MergeRole::ValuesOut))]);
        let counts = set(&[
            ("counts_a", bound(MergeRole::CountA)),
            ("counts_b", bound(MergeRole::CountB)),
            ("counts_more", more_counts),
            ("offsets_a", bound(MergeRole::OffsetsA)),
            ("offsets_b", bound(MergeRole::OffsetsB)),
            ("segment_counts", bound(MergeRole::SegmentCount)),
        ]);
        let marks = set(&[("marks", bound(MergeRole::Marks))]);
        let results = set(&[
            ("statuses", self.statuses),
            ("counts_out", bound(MergeRole::CountOut)),
            ("offsets_out", bound(MergeRole::OffsetsOut)),
        ]);
        let areas = self.nodes.areas.map(|area| set(&[("area", area)]));
        let node_counts = set(&[("node_counts", self.nodes.counts)]);
        let mut rows = [Resources::default(); MOST_DEPTHS];
        for merges in self.depths.iter().rev() {
            rows[merges.depth] = set(&[("problems", merges.rows)]);
        }
        let details = set(&[("details", self.details)]);
        let marked = set(&[("marked", self.marked)]);
        let co_ranks = set(&[("co_ranks", self.co_ranks)]);
        let tile_prefixes = set(&[("tile_prefixes", self.tile_prefixes)]);
        let lists = self.depths.iter().rev().map(|merges| {
            #[allow(clippy::cast_possible_truncation, reason = "there are few depths")]
            let list = Rows(merges.depth as u8);
            (list, rows[merges.depth], merges.rows)
        });
        for (list, set, range) in lists.chain([(DETAILS, details, self.details)]) {
            if let Some(resource) = set.iter().next() {
                plan.add_upload(Content::Rows(self, list), range.address.wrapping_sub(self.scratch), resource);
            }
        }
        let threads = self.tiling.tile.threads;
        let own_prefixes = if self.tiling.algorithm == Algorithm::Sets { tile_prefixes } else { Resources::default() };
        let has_details = self.config.format.has_details();
        for merges in self.depths.iter().rev() {
            // A depth reads sequences and what the depth before has written, and writes what the next one reads.
            let children = if merges.depth + 1 < self.depths.len() {
                areas[merges.depth % 2].union(node_counts)
            } else {
                Resources::default()
            };
            let written = match merges.depth {
                0 => outputs.union(results),
                depth => areas[(depth - 1) % 2].union(node_counts),
            };
            let parameters = counts.union(rows[merges.depth]).union(details);
            let searched = keys.union(parameters).union(children);
            let merged = searched.union(values).union(co_ranks).union(marked);
            let of = Dispatches { merges: *merges, push: self.push(merges) };
            let kernel = match self.tiling.algorithm {
                Algorithm::Fused if has_details => Kernel::MergeDetailedFused,
                Algorithm::Fused => Kernel::MergeFused,
                Algorithm::Tiles => {
                    self.add_search(plan, &of, Kernel::MergeCoRanks, [searched, co_ranks]);
                    if has_details { Kernel::MergeDetailedTiles } else { Kernel::MergeTiles }
                }
                Algorithm::Basic => Kernel::MergeBasic,
                Algorithm::Tiled => Kernel::MergeTiled,
                Algorithm::CircularBuffer => Kernel::MergeCircularBuffer,
                Algorithm::LowerBound => Kernel::MergeLowerBound,
                Algorithm::UpperBound => Kernel::MergeUpperBound,
                Algorithm::Sets => {
                    let sets = [searched, co_ranks.union(tile_prefixes)];
                    self.add_search(plan, &of, Kernel::MergeBalancedCoRanks, sets);
                    Kernel::MergeSets
                }
                Algorithm::Update => {
                    if let Some(resource) = tile_prefixes.iter().next() {
                        plan.add_clear(self.tile_prefixes, self.scratch, resource);
                    }
                    self.add_search(plan, &of, Kernel::MergeCoRanks, [searched, co_ranks]);
                    let reads = parameters.union(marks).union(marked_values).union(tile_prefixes);
                    let threads = self.config.profile.plain_threads;
                    let sets = [reads, marked.union(tile_prefixes)];
                    self.add_pass(plan, &of, Kernel::MergeMarkRanks, threads, self.most_mark_tiles, sets);
                    Kernel::MergeDetailedTiles
                }
            };
            let sets = [merged.union(own_prefixes), written.union(own_prefixes)];
            let groups = self.groups(merges);
            if self.tiling.algorithm == Algorithm::Fused {
                let tiles = merges.count.saturating_mul(self.tiles(merges));
                let log2_searchers = log2_searchers(FUSED_SEARCHERS, tiles, [FEWEST_FUSED_SEARCHERS, threads / 2]);
                let shape = SearchShape { threads, groups, log2_searchers };
                self.add_searching_pass(plan, &of, kernel, shape, sets);
            } else {
                self.add_pass(plan, &of, kernel, threads, groups, sets);
            }
        }
        if self.status_check.has_rows() {
            plan.append_beside(&self.status_check);
        }
    }
}
