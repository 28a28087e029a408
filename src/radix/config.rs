//! The configuration of radix passes: format, strategy, device and profile, and what follows from them.

use super::format::Format;
use super::outline::{Outline, Start};
use crate::device::DeviceFacts;
use crate::kernels::Kernel;
use crate::shared::{
    LEAST_LOOK_BACK_ROW, OUTPUT_RANKS, RADIX, SCAN_CHAINED, SCAN_LOOK_BACK, SCAN_RING, SCAN_RING_IN_ORDER,
};
use crate::tuning::radix::Shapes;
use crate::tuning::{ItemKind, Profile, Ranking, Shape, SizedTile, SmallMethod, SmallShape, Strategy, TileShape};

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

impl<'a> Config<'a> {
    /// The kind of items of this format.
    pub(crate) fn kind(&self) -> ItemKind {
        ItemKind::of(self.format.key_words, self.format.value_words)
    }

    /// The shapes of radix passes for items of this format.
    pub(crate) fn shapes(&self) -> &'a Shapes {
        &self.profile.radix[self.kind()]
    }

    /// The tile of passes in which subgroups rank, not workgroups.
    pub(crate) fn tile_of_subgroups(&self) -> Option<TileShape> {
        // A kernel without an emulated form runs on native subgroups, which are full.
        let own = self.profile.lanes == 0 || self.profile.emulated_subgroups;
        let lanes = if own { self.facts.max_lanes.max(self.profile.lanes) } else { self.profile.lanes };
        let shape = Shape { threads: lanes.max(LEAST_THREADS), items: SUBGROUP_ITEMS };
        let driver_specializes = self.profile.radix.driver_specializes_subgroup_tiles;
        self.format.binning.by_subgroups.then_some(TileShape { driver_specializes, ..shape.into() })
    }

    /// Tiles of passes over digits, by increasing maximum count. The last one has no limit: see Profile::checked.
    /// `verifies`: whether tiles apply that verify ranks by the sorted keys. Otherwise the next shape does.
    pub(crate) fn tiles(&self, verifies: bool) -> impl Iterator<Item = SizedTile> + use<'a> {
        let shapes = self.shapes();
        let ring = shapes.ring.filter(|_| self.in_ring());
        let few_bins = shapes.few_bins.filter(|_| !self.in_ring() && self.format.bins() <= FEW_BINS);
        let direct_up_to = self.profile.radix.direct_up_to;
        let serves = move |sized: &&SizedTile| {
            let [verified, last] = [sized.shape.ranking == Ranking::Verified, sized.up_to == u32::MAX];
            verifies || !verified || last || sized.up_to <= direct_up_to
        };
        shapes.tiles.iter().filter(serves).map(move |sized| match (ring, few_bins) {
            (Some(shape), _) if sized.up_to == u32::MAX => SizedTile { shape, ..*sized },
            (None, Some(shape)) if sized.up_to > direct_up_to => SizedTile { shape, ..*sized },
            _ => *sized,
        })
    }

    /// Whether the keys fit the shared memory of a workgroup: merging holds all compared words there.
    pub(crate) fn holds(&self, small: SmallShape) -> bool {
        small.method != SmallMethod::Merge || small.merge_bytes(self.format.merged_words()) <= self.facts.shared_memory
    }

    /// Threads of a workgroup that counts tile by tile; if subgroups rank, the threads of a tile.
    pub(super) fn counting_threads(&self) -> u32 {
        self.tile_of_subgroups().map_or(self.profile.plain_threads, |tile| tile.shape.threads)
    }

    /// Number of workgroups that count. The total number of threads is constant.
    pub(super) fn counting_groups(&self) -> u32 {
        self.profile.radix.histogram_groups * self.profile.plain_threads.div_ceil(self.counting_threads())
    }

    /// The `SCAN_` constant; none for reduce-then-scan.
    pub(crate) fn scan(&self) -> Option<u32> {
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

    /// Whether there is no histogram: tiles look back for all counts, and another pass clears the look-back state.
    pub(crate) fn skips_histogram(&self) -> bool {
        self.scan().is_some() && !self.format.places_bins_in_order()
    }

    /// Whether each workgroup of the histogram writes its own row: no pass has zeroed a common one.
    pub(super) fn has_row_per_group(&self, prepared: bool) -> bool {
        !prepared && self.scan().is_some() && !self.skips_histogram()
    }

    /// Words of a tile's row.
    pub(super) fn tile_row(&self) -> u32 {
        let bins = if self.format.segmented { RADIX } else { self.format.bins() };
        if self.scan().is_some() { bins.max(LEAST_LOOK_BACK_ROW) } else { bins }
    }

    pub(super) fn in_ring(&self) -> bool {
        self.scan().is_some_and(|scan| scan >= SCAN_RING)
    }

    /// The kernel of a look-back pass, and the number of workgroups if they are persistent. Only single problems with
    /// cleared tickets have persistent workgroups. Rank output has none: it needs the keys of the tile, which the next
    /// tile has replaced.
    pub(super) fn onesweep(&self, outline: &Outline, single: bool) -> (Kernel, Option<u32>) {
        let groups = match outline.tile {
            Some(tile) if outline.segments.is_none() && single && self.scan() == Some(SCAN_LOOK_BACK) => {
                let cleared = outline.start == Start::Prepared || self.skips_histogram();
                if cleared && self.format.output() != OUTPUT_RANKS { tile.groups } else { 0 }
            }
            _ => 0,
        };
        if groups == 0 { (Kernel::RadixOnesweep, None) } else { (Kernel::RadixOnesweepPersistent, Some(groups)) }
    }

    /// Copies of each counter in a counting workgroup: as many as fit, at most 32; with several digits, 1.
    pub(super) fn counter_copies(&self) -> u32 {
        // Smaller workgroups have a proportional share of shared memory.
        let words = COUNTER_WORDS * self.counting_threads() / self.profile.plain_threads.max(self.counting_threads());
        let most = if self.format.digits() == 1 { words / self.format.bins() } else { 1 };
        1 << most.clamp(1, 32).ilog2()
    }
}

/// Minimum number of threads of a workgroup that scans digits: see glsl/core/scan.glsl.
const LEAST_THREADS: u32 = 32;

/// Items of a thread if subgroups rank.
const SUBGROUP_ITEMS: u32 = 16;

/// Largest number of bins that `few_bins` serves.
const FEW_BINS: u32 = 32;

/// Counters of a one-digit histogram that fit the minimum shared memory.
const COUNTER_WORDS: u32 = 4096;
