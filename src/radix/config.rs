//! Selects the algorithm and the kernel variants of a problem, from format, strategy, device and profile.

use super::format::Format;
use super::merging::Merging;
use crate::core::pipelines::Variant;
use crate::device::DeviceFacts;
use crate::kernels::Kernel;
use crate::shared::{
    Constant, FLAG_EVEN, FLAG_ODD, FUNCTION_DIGIT, LAYOUT_DROP_KEYS, LAYOUT_VALUES_APART, LEAST_LOOK_BACK_ROW, MODE_DIRECT,
    MODE_MERGED, MODE_PREFIXES, MODE_SEGMENTS, MODE_SINGLE, OUTPUT_BUCKETS, OUTPUT_NONE, OUTPUT_PLACED, OUTPUT_RANKS,
    PREFIX_DIGITS, RADIX, RANKING_BALLOTS, RANKING_BY_PLACES, RANKING_DISPROVEN, RANKING_PROVEN, RANKING_SPREAD, RANKING_UNORDERED,
    SCAN_CHAINED, SCAN_LOOK_BACK, SCAN_RING, SCAN_RING_IN_ORDER,
};
use crate::tuning::{
    Profile, Ranking, Shape, SizedMerge, SizedRank, SizedTile, SmallMethod, SmallShape, SortShapes, Strategy, TileShape,
    ranked_chunk,
};

/// The configuration that plans depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config<'a> {
    pub(crate) facts: &'a DeviceFacts,
    pub(crate) profile: &'a Profile,
    /// Never [`Strategy::Auto`].
    pub(crate) strategy: Strategy,
    pub(crate) format: Format,
    /// Whether the request is recorded alone. For tiny problems, launch latency then dominates.
    pub(crate) alone: bool,
}

/// The algorithm for a problem, selected by its maximum count. Problems of the same algorithm share dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    /// Every key is compared with every other key.
    Ranked(SizedRank),
    /// One workgroup sorts the problem.
    Small(SmallShape),
    /// Sorted runs, merged level by level.
    Merged(Merging),
    /// A split in a single dispatch: each workgroup computes the full histogram and scatters one tile of this shape.
    Recounted(Shape),
    /// Radix passes over tiles of this shape.
    Tiled(TileShape, Start, Finish),
    /// Segments: one dispatch for those that fit a workgroup; radix passes for longer ones, if `max_count` allows any.
    Segments { whole: SmallShape, tiles: Option<TileShape> },
}

impl Algorithm {
    /// The shape of the tiles of radix passes, if there are any.
    pub(crate) fn tiles(self) -> Option<TileShape> {
        match self {
            Self::Ranked(_) | Self::Small(_) | Self::Merged(_) | Self::Recounted(_) => None,
            Self::Tiled(tile, ..) => Some(tile),
            Self::Segments { tiles, .. } => tiles,
        }
    }

    /// Maximum number of tiles of a problem or of all its segments. Each segment with tiles exceeds a workgroup, and
    /// its last tile may be partial.
    pub(super) fn most_tiles(self, max_count: u32) -> u64 {
        let tiles = self.tiles().map_or(0, |tile| max_count.div_ceil(tile.tile()).into());
        match self {
            Self::Segments { whole, tiles: Some(_) } => tiles + u64::from(max_count / whole.tile()),
            _ => tiles,
        }
    }

    /// Whether a single pass moves the items from the input to the output. Ranking in place takes two: other workgroups
    /// still read the input.
    pub(super) fn moves_once(self, format: &Format) -> bool {
        match self {
            Self::Ranked(_) => format.rule() != FLAG_EVEN,
            Self::Small(_) | Self::Recounted(_) | Self::Segments { tiles: None, .. } => true,
            Self::Merged(merging) => merging.levels == 0,
            Self::Tiled(..) | Self::Segments { .. } => format.split.is_some() && format.digits() == 1,
        }
    }

    /// Whether each workgroup computes the full histogram.
    pub(crate) fn recounts(self) -> bool {
        matches!(self, Self::Recounted(_))
    }

    /// The runs and levels of a merge sort.
    pub(crate) fn merging(self) -> Option<Merging> {
        if let Self::Merged(merging) = self { Some(merging) } else { None }
    }

    /// The shape of the pass that sorts equal prefixes, if the sort may go by prefixes.
    pub(crate) fn finish(self) -> Option<Shape> {
        if let Self::Tiled(.., Finish::Prefixes(shape)) = self { Some(shape) } else { None }
    }

    /// Number of workgroups that search for segments: see glsl/radix/segments.comp.
    pub(super) fn windows(self, max_count: u32) -> u32 {
        match self {
            Self::Segments { whole, .. } => max_count.div_ceil(whole.segments_window()).max(1),
            _ => 0,
        }
    }

    /// Whether several problems may share dispatches.
    pub(crate) fn shares(self) -> bool {
        !matches!(self, Self::Ranked(_) | Self::Segments { .. })
    }
}

/// The first pass of a single sort by radix passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Start {
    /// No prepare pass: kernels resolve the count themselves, and the histogram clears state.
    Direct,
    /// A prepare pass resolves counts and clears state. Batches always have one.
    Prepared,
}

/// The last pass of a sort by radix passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Finish {
    /// The pass of the last digit.
    Digits,
    /// Workgroups of this shape sort equal prefixes, if the device finds few of them.
    Prefixes(Shape),
}

impl<'a> Config<'a> {
    pub(super) fn shapes(&self) -> &'a SortShapes {
        match (self.format.key_words, self.format.value_words) {
            (1, 0) => &self.profile.sort_keys,
            (1, _) => &self.profile.sort_pairs,
            _ => &self.profile.sort_long,
        }
    }

    pub(crate) fn algorithm(&self, max_count: u32) -> Algorithm {
        let shapes = self.shapes();
        let tiles = self.tiles().find(|sized| max_count <= sized.up_to);
        if self.format.segmented {
            let whole = shapes.segments;
            return Algorithm::Segments { whole, tiles: tiles.map(|sized| sized.shape).filter(|_| max_count > whole.tile()) };
        }
        // A profile without tiles does not pass Profile::checked.
        let none = Algorithm::Tiled(Shape { threads: 64, items: 1 }.into(), Start::Prepared, Finish::Digits);
        let tiled = tiles.map_or(none, |sized| self.tiled(sized, max_count));
        if self.format.split.is_some() {
            let recounted = shapes.recounted.iter().find(|sized| max_count <= self.recounts_up_to(sized) && self.recounts());
            return recounted.map_or(tiled, |sized| Algorithm::Recounted(sized.shape.shape));
        }
        if let Some(ranked) =
            shapes.ranked.iter().find(|ranked| self.alone && ranked.serves(max_count, self.format.rule() != FLAG_EVEN))
        {
            return Algorithm::Ranked(*ranked);
        }
        if let Some(small) = shapes.small.iter().find(|small| max_count <= small.tile() && self.holds(**small)) {
            return Algorithm::Small(*small);
        }
        let (fan, words) = (self.profile.merge_fan, self.format.merged_words());
        if let Some(merging) = Merging::new(shapes, fan, words, self.facts.shared_memory, max_count) {
            return Algorithm::Merged(merging);
        }
        tiled
    }

    /// Whether a split of few items needs only one scatter pass, without inter-tile dependencies. A split with given
    /// bucket starts reads those instead.
    fn recounts(&self) -> bool {
        let by_workgroups = self.format.split.is_some_and(|split| !split.by_subgroups);
        by_workgroups && self.format.digits() == 1 && self.format.output() != OUTPUT_PLACED
    }

    /// The largest maximum count of a single-dispatch split with these tiles. In a batch the limit is lower: every
    /// problem has the workgroups of the largest one, so redundant histograms cost more, and launches are shared
    /// anyway.
    fn recounts_up_to(&self, sized: &SizedTile) -> u32 {
        if self.alone { sized.up_to } else { sized.up_to.min(MOST_TILES_TOGETHER * sized.shape.tile()) }
    }

    /// Whether a single problem with this maximum count has no prepare pass.
    pub(super) fn is_direct(&self, max_count: u32) -> bool {
        self.mode(self.algorithm(max_count), true) & MODE_DIRECT != 0
    }

    /// The configuration with the strategy `of_few`, if there is one and the problem then has no prepare pass.
    pub(super) fn with_few(self, of_few: Option<Strategy>, max_count: u32) -> Self {
        let few = of_few.map(|strategy| Self { strategy, ..self });
        few.filter(|few| few.is_direct(max_count)).unwrap_or(self)
    }

    /// Tile shapes by increasing count. The last one has no limit: see Profile::checked.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = SizedTile> + use<'a> {
        let shapes = self.shapes();
        let of_subgroups = self.of_subgroups().map(|shape| SizedTile { up_to: u32::MAX, shape });
        let counted = self.format.split.filter(|_| self.scan().is_none()).map_or(&[][..], |_| &shapes.counted[..]);
        let many_bins = shapes.tiles.last().copied().filter(|_| self.format.bins() > MOST_COUNTED_BINS);
        let of_counted = move |sized: &SizedTile| {
            let mut of_bins = many_bins.filter(|_| sized.up_to == u32::MAX).unwrap_or(*sized);
            of_bins.shape.driver_specializes = sized.shape.driver_specializes;
            of_bins
        };
        let others = self.tiles_of_sorts().filter(|_| counted.is_empty());
        of_subgroups.into_iter().chain(counted.iter().map(of_counted).chain(others).filter(move |_| of_subgroups.is_none()))
    }

    /// The tile of a split at subgroup level.
    fn of_subgroups(&self) -> Option<TileShape> {
        // A kernel without an emulated form runs on native subgroups, which are full.
        let own = self.profile.lanes == 0 || self.profile.emulated_subgroups;
        let lanes = if own { self.facts.max_lanes.max(self.profile.lanes) } else { self.profile.lanes };
        let by = self.format.split.is_some_and(|split| split.by_subgroups);
        let shape = Shape { threads: lanes.max(LEAST_THREADS), items: SUBGROUP_ITEMS };
        let driver_specializes = self.profile.driver_specializes_subgroup_splits;
        by.then_some(TileShape { driver_specializes, ..shape.into() })
    }

    /// Threads of a workgroup that counts tile by tile; of subgroup-level splits, the threads of a tile.
    fn counting_threads(&self) -> u32 {
        self.of_subgroups().map_or(self.profile.plain_threads, |tile| tile.shape.threads)
    }

    /// Number of workgroups that count. The total number of threads is constant.
    pub(super) fn counting_groups(&self) -> u32 {
        self.profile.histogram_groups * self.profile.plain_threads.div_ceil(self.counting_threads())
    }

    fn tiles_of_sorts(&self) -> impl Iterator<Item = SizedTile> + use<'a> {
        let shapes = self.shapes();
        let ring = shapes.ring.filter(|_| self.in_ring());
        let few_bins = shapes.few_bins.filter(|_| !self.in_ring() && self.format.bins() <= FEW_BINS);
        let direct_up_to = self.profile.direct_up_to;
        // Tiles that verify ranks by the sorted keys do not apply to splits: the next shape does.
        let split = self.format.split.is_some();
        let serves = move |sized: &&SizedTile| {
            let [proven, last] = [sized.shape.ranking == Ranking::Proven, sized.up_to == u32::MAX];
            !split || !proven || last || sized.up_to <= direct_up_to
        };
        shapes.tiles.iter().filter(serves).map(move |sized| match (ring, few_bins) {
            (Some(shape), _) if sized.up_to == u32::MAX => SizedTile { shape, ..*sized },
            (None, Some(shape)) if sized.up_to > direct_up_to => SizedTile { shape, ..*sized },
            _ => *sized,
        })
    }

    /// Whether the keys fit the shared memory of a workgroup: merging holds all compared words there.
    fn holds(&self, small: SmallShape) -> bool {
        small.method != SmallMethod::Merge || small.merge_bytes(self.format.merged_words()) <= self.facts.shared_memory
    }

    fn tiled(&self, sized: SizedTile, max_count: u32) -> Algorithm {
        // A reduce-then-scan split clears nothing. A look-back split without a histogram has its own clearing pass.
        let needs_nothing = self.format.split.is_some() && self.scan().is_none() || self.begins();
        let start = if needs_nothing || sized.up_to <= self.profile.direct_up_to { Start::Direct } else { Start::Prepared };
        // The number of passes is even, and smaller than the number of digits.
        let prefixes = max_count <= self.profile.prefixes_up_to
            && start == Start::Prepared
            && self.scan().is_some()
            && self.format.digits() > PREFIX_DIGITS + 1
            && self.format.rule() != FLAG_ODD;
        Algorithm::Tiled(sized.shape, start, if prefixes { Finish::Prefixes(self.profile.sort_finish) } else { Finish::Digits })
    }

    /// Maximum counts at which shape or algorithm change: the largest count of each. Scratch may be smaller beyond one.
    pub(crate) fn range_ends(&self) -> impl Iterator<Item = u32> + use<'a> {
        let (config, shapes) = (*self, self.shapes());
        // In segmented sorts, some of these change nothing, which is harmless.
        let prefixes = Some(self.profile.prefixes_up_to).filter(|up_to| *up_to != 0);
        let merged = Merging::ends(shapes, self.profile.merge_fan);
        let ranked = shapes.ranked.iter().flat_map(|ranked| [ranked.above, ranked.above_in_place, ranked.up_to]);
        shapes
            .small
            .iter()
            .map(|small| small.tile())
            .chain(self.tiles().map(|sized| sized.up_to))
            .chain(self.format.segmented.then_some(shapes.segments.tile()))
            .chain(shapes.recounted.iter().map(move |sized| config.recounts_up_to(sized)))
            .chain(prefixes)
            .chain(merged)
            .chain(ranked)
    }

    /// The `SCAN_` constant; none for reduce-then-scan.
    pub(super) fn scan(&self) -> Option<u32> {
        // Look-back descriptors of one word hold 30 bits of count.
        let wide = self.format.wide();
        match self.strategy {
            Strategy::ReduceThenScan => None,
            Strategy::ChainedScan if !wide => Some(SCAN_CHAINED),
            Strategy::RingInOrder => Some(SCAN_RING_IN_ORDER),
            Strategy::Ring => Some(SCAN_RING),
            _ if wide => Some(SCAN_RING),
            _ => Some(SCAN_LOOK_BACK),
        }
    }

    /// Whether the split skips the histogram: tiles look back for all counts, and `split_clear_look_back` clears the look-back
    /// state.
    pub(super) fn begins(&self) -> bool {
        self.scan().is_some() && !self.format.lies_in_line()
    }

    /// Whether each workgroup of the histogram writes its own row: no pass has zeroed a common one.
    pub(super) fn counts_apart(&self, prepared: bool) -> bool {
        !prepared && self.scan().is_some() && !self.begins()
    }

    /// Words of a tile's row.
    pub(super) fn tile_row(&self) -> u32 {
        let bins = if self.format.segmented { RADIX } else { self.format.bins() };
        if self.scan().is_some() { bins.max(LEAST_LOOK_BACK_ROW) } else { bins }
    }

    pub(super) fn in_ring(&self) -> bool {
        self.scan().is_some_and(|scan| scan >= SCAN_RING)
    }

    /// The shape for kernels after the radix passes. They hold no tile, except that segments are copied tile by tile.
    pub(super) fn finishing_shape(&self, algorithm: Algorithm) -> Shape {
        if algorithm.shares() { PLAIN } else { algorithm.tiles().map_or(PLAIN, |tile| tile.shape) }
    }

    /// The `MODE_` bits of an algorithm.
    pub(super) fn mode(&self, algorithm: Algorithm, single: bool) -> u32 {
        let direct = match algorithm {
            Algorithm::Ranked(_) | Algorithm::Small(_) | Algorithm::Merged(_) | Algorithm::Recounted(_) => true,
            Algorithm::Tiled(_, start, _) => single && start == Start::Direct,
            Algorithm::Segments { .. } => return MODE_SEGMENTS,
        };
        let (prefixes, merged) = (algorithm.finish().is_some(), algorithm.merging().is_some());
        let bits = [(single, MODE_SINGLE), (direct, MODE_DIRECT), (prefixes, MODE_PREFIXES), (merged, MODE_MERGED)];
        bits.iter().filter(|(set, _)| *set).fold(0, |mode, (_, bit)| mode | bit)
    }

    /// The kernel of a look-back pass, and the number of workgroups if they are persistent. Only single problems with
    /// cleared tickets have persistent workgroups. Rank output has none: it needs the keys of the tile, which the next
    /// tile has replaced.
    pub(super) fn onesweep(&self, algorithm: Algorithm, single: bool) -> (Kernel, Option<u32>) {
        let groups = match algorithm {
            Algorithm::Tiled(tile, start, _) if single && self.scan() == Some(SCAN_LOOK_BACK) => {
                let persists = (start == Start::Prepared || self.begins()) && self.format.output() != OUTPUT_RANKS;
                if persists { tile.groups } else { 0 }
            }
            _ => 0,
        };
        if groups == 0 { (Kernel::RadixOnesweep, None) } else { (Kernel::RadixOnesweepPersistent, Some(groups)) }
    }

    /// Copies of each counter in a counting workgroup: as many as fit, at most 32; with several digits, 1.
    fn counter_copies(&self) -> u32 {
        // Smaller workgroups have a proportional share of shared memory.
        let words = COUNTER_WORDS * self.counting_threads() / self.profile.plain_threads.max(self.counting_threads());
        let most = if self.format.digits() == 1 { words / self.format.bins() } else { 1 };
        1 << most.clamp(1, 32).ilog2()
    }

    /// `RANKING_` bits of a kernel.
    fn ranking(&self, kernel: Kernel, tile: TileShape) -> u32 {
        let ranking = self.proven_ranking(kernel, tile);
        if self.profile.hooks.wrong_ranks && ranking & RANKING_PROVEN != 0 {
            ranking & !RANKING_PROVEN | RANKING_DISPROVEN
        } else {
            ranking
        }
    }

    /// `RANKING_` bits without the test hook.
    fn proven_ranking(&self, kernel: Kernel, tile: TileShape) -> u32 {
        let format = &self.format;
        let digits = format.split.is_none_or(|split| split.function == FUNCTION_DIGIT);
        let by_all_bits = format.begin_bit == 0 && format.end_bit == format.key_bits && format.key_words == 1 && digits;
        let (tiles, threads) = (tile.ranking as u32, tile.shape.threads);
        match kernel {
            // Source indices distinguish equal keys.
            Kernel::SortSmall | Kernel::SortBuckets if by_all_bits || format.key_words == 1 && format.value_words != 0 => {
                self.profile.small_ranking as u32 & !RANKING_BY_PLACES
            }
            // Rank output does not verify the order.
            Kernel::RadixOnesweep | Kernel::RadixReorder if format.output() == OUTPUT_RANKS => RANKING_BALLOTS,
            Kernel::RadixOnesweep | Kernel::RadixOnesweepPersistent | Kernel::RadixReorder => {
                // Verification needs a row of counters for each subgroup.
                let rows = self.profile.histogram_rows(threads, self.facts);
                let ranking = match rows == self.profile.most_subgroups(threads, self.facts) {
                    true if by_all_bits && format.value_words == 0 => tiles & !RANKING_BY_PLACES,
                    true if tiles & RANKING_BY_PLACES != 0 => tiles,
                    _ => RANKING_BALLOTS,
                };
                // Keys that stay in registers until verification leave no registers for swizzled counters. Swizzling
                // applies to digits only.
                let spread = tile.spread && ranking & RANKING_BY_PLACES == 0 && digits;
                let unordered = format.split.is_some_and(|split| split.unordered);
                let others = [(spread, RANKING_SPREAD), (unordered, RANKING_UNORDERED)];
                others.iter().filter(|(set, _)| *set).fold(ranking, |all, (_, bit)| all | bit)
            }
            _ => RANKING_BALLOTS,
        }
    }

    pub(super) fn finishing_kernels(&self) -> impl Iterator<Item = Kernel> + use<> {
        let packs = self.format.narrow() && !self.format.has(LAYOUT_DROP_KEYS);
        let permutes = self.format.has(LAYOUT_VALUES_APART);
        std::iter::once(Kernel::RadixCopy).chain(packs.then_some(Kernel::RadixPack)).chain(permutes.then_some(Kernel::RadixPermute))
    }

    /// The kernel that writes bucket information, from the counts of a digit or from sorted labels.
    pub(super) fn telling_kernel(&self, algorithm: Algorithm) -> (Kernel, Shape) {
        match algorithm {
            Algorithm::Recounted(shape) => (Kernel::SplitSingleDispatchInfo, shape),
            _ if self.format.keeps_labels() => (Kernel::SplitBounds, PLAIN),
            _ => (Kernel::SplitBucketInfo, PLAIN),
        }
    }

    pub(super) fn variant(&self, kernel: Kernel, tile: impl Into<TileShape>, mode: u32) -> Variant {
        let tile = tile.into();
        let shape = tile.shape;
        let holds_tile = matches!(
            kernel,
            Kernel::SortRank
                | Kernel::SortSmall
                | Kernel::SortBuckets
                | Kernel::MergeSortRun
                | Kernel::MergeJoin
                | Kernel::RadixSegments
                | Kernel::RadixSegmentsMerge
                | Kernel::SortEqualPrefixes
                | Kernel::RadixOnesweep
                | Kernel::RadixOnesweepPersistent
                | Kernel::RadixReorder
                | Kernel::SplitSingleDispatch
        );
        let threads = match kernel {
            _ if holds_tile || kernel == Kernel::SplitSingleDispatchInfo => shape.threads,
            Kernel::RadixCount => self.counting_threads(),
            _ => self.profile.plain_threads,
        };
        let mode = match kernel {
            // Nothing is direct about the pass that prepares.
            Kernel::RadixPrepare => mode & !MODE_DIRECT,
            // Kernels after a merge sort are the same as after other sorts.
            _ if self.finishing_kernels().any(|finishing| finishing == kernel) => mode & !MODE_MERGED,
            _ => mode,
        };
        let emulated = self.profile.emulated_subgroups;
        // A kernel without an emulated form runs on native subgroups of a size that the device chooses.
        let lanes = if emulated && kernel.emulated(true) == kernel { 0 } else { self.profile.lanes };
        let format = &if kernel == Kernel::SplitLabel { self.format.of_labels() } else { self.format };
        let module = self.format.labels().filter(|_| kernel == Kernel::SplitLabel).map_or(0, |labels| labels.module);
        let variant = Variant::new(kernel.emulated(emulated), |constant| match constant {
            Constant::Threads => threads,
            Constant::Lanes => lanes,
            Constant::Items => shape.items,
            Constant::Histograms if matches!(kernel, Kernel::RadixHistogram | Kernel::RadixCount) => self.counter_copies(),
            Constant::Histograms if kernel == Kernel::SplitSingleDispatch => self.profile.recounting_rows(threads, self.facts),
            Constant::Histograms => self.profile.histogram_rows(threads, self.facts),
            Constant::ValueWords => format.value_words,
            Constant::Tile if kernel == Kernel::SortRank => {
                ranked_chunk(threads, format.compared_words(), self.facts.shared_memory)
            }
            Constant::Tile => shape.tile(),
            Constant::SpinLimit => self.profile.spin_limit,
            Constant::DelayEvery => self.profile.hooks.delay_every,
            Constant::KeyWords => format.key_words,
            Constant::KeyBits => format.key_bits,
            Constant::Encoding => format.encoding,
            Constant::Layout => format.moved_layout(),
            // Given bucket starts may exceed any count.
            Constant::Wide => (format.wide() || format.output() == OUTPUT_PLACED).into(),
            Constant::BeginBit => format.begin_bit,
            Constant::EndBit => format.end_bit,
            Constant::Scan => self.scan().unwrap_or(SCAN_LOOK_BACK),
            Constant::RingEntries if self.in_ring() => self.profile.hooks.ring_entries,
            Constant::RingReach if self.in_ring() => self.profile.hooks.ring_reach,
            Constant::RingEntries | Constant::RingReach => 0,
            Constant::Window if self.scan() == Some(SCAN_CHAINED) => 1,
            Constant::Window if self.in_ring() => self.profile.ring_window,
            Constant::Window => self.profile.window,
            // Segments of a workgroup are distinguished by a full digit.
            Constant::Bins if matches!(kernel, Kernel::RadixSegments | Kernel::RadixSegmentsMerge) => RADIX,
            Constant::Bins => format.bins(),
            Constant::Function => format.split.map_or(FUNCTION_DIGIT, |split| split.function),
            // Labels of two digits are sorted even without item output. Kernels that write bucket information cover all
            // buckets, and with given starts they read those.
            Constant::Output if format.output() == OUTPUT_NONE => OUTPUT_BUCKETS,
            Constant::Output
                if matches!(kernel, Kernel::SplitBucketInfo | Kernel::SplitClearLookBack) && format.output() != OUTPUT_PLACED =>
            {
                OUTPUT_BUCKETS
            }
            Constant::Output => format.split.map_or(OUTPUT_BUCKETS, |split| split.output),
            Constant::Buckets => format.split.map_or(0, |split| split.buckets),
            Constant::Mode => mode,
            Constant::SegmentTile if format.segmented => self.shapes().segments.tile(),
            Constant::SegmentTile => 1,
            Constant::MaxGroupsX => self.profile.max_groups_x,
            Constant::Fan => self.profile.merge_fan,
            // Of a window.
            Constant::Step => SizedMerge { up_to: 0, run: shape, window: shape }.step(self.profile.merge_fan),
            Constant::FullDigits => format.full_digits().into(),
            Constant::Ranking => self.ranking(kernel, tile),
            Constant::Interface | Constant::InterfaceKey => 0,
        });
        let variant = variant.of_module(module);
        if holds_tile && tile.driver_specializes { variant.specialized_by_driver() } else { variant }
    }
}

impl SizedRank {
    /// The shape for the kernel, whose items are per workgroup.
    pub(super) fn shape(self) -> Shape {
        Shape { threads: self.threads, items: self.items }
    }
}

impl SmallShape {
    pub(super) fn kernel(self) -> Kernel {
        match self.method {
            SmallMethod::Radix => Kernel::SortSmall,
            SmallMethod::Buckets => Kernel::SortBuckets,
            SmallMethod::Merge => Kernel::MergeSortRun,
        }
    }

    pub(super) fn segments_kernel(self) -> Kernel {
        match self.method {
            // Segments by buckets do not pass Profile::checked.
            SmallMethod::Radix | SmallMethod::Buckets => Kernel::RadixSegments,
            SmallMethod::Merge => Kernel::RadixSegmentsMerge,
        }
    }
}

/// Minimum number of threads of a workgroup that scans digits: see glsl/core/scan.glsl.
const LEAST_THREADS: u32 = 32;

/// Items of a thread in subgroup-level splits.
const SUBGROUP_ITEMS: u32 = 16;

/// Maximum number of tiles of a single-dispatch split in a batch.
const MOST_TILES_TOGETHER: u32 = 4;

/// Largest number of bins that `few_bins` serves.
const FEW_BINS: u32 = 32;

/// Largest number of bins for the last shape of `counted`.
const MOST_COUNTED_BINS: u32 = 64;

/// Counters of a one-digit histogram that fit the minimum shared memory.
const COUNTER_WORDS: u32 = 4096;

/// The shape for kernels that hold no tile.
pub(super) const PLAIN: Shape = Shape { threads: 1, items: 1 };
