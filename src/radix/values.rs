//! Values of the specialization constants of a pass.

use super::config::Config;
use crate::core::pipelines::Variant;
use crate::kernels::Kernel;
use crate::shared::{
    Constant, FUNCTION_DIGIT, MODE_DIRECT, MODE_MERGED, OUTPUT_BUCKETS, OUTPUT_NONE, OUTPUT_PLACED, OUTPUT_RANKS,
    RADIX, RANKING_BALLOTS, RANKING_BY_SOURCE_INDEX, RANKING_SWIZZLED, RANKING_UNORDERED, RANKING_VERIFIED,
    RANKING_WRONG, SCAN_CHAINED, SCAN_LOOK_BACK,
};
use crate::tuning::{Shape, SizedMerge, TileShape};

/// Values that are not the same for all kernels of a plan: see [`Constant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Values {
    pub(crate) threads: u32,
    pub(crate) shape: Shape,
    /// Items of a tile.
    pub(crate) tile: u32,
    pub(crate) histograms: u32,
    pub(crate) bins: u32,
    pub(crate) function: u32,
    pub(crate) buckets: u32,
    pub(crate) output: u32,
    pub(crate) ranking: u32,
    pub(crate) mode: u32,
    /// The module of the caller that replaces the kernel's; 0: none.
    pub(crate) module: u64,
    pub(crate) driver_specializes: bool,
}

impl Config<'_> {
    /// Values of a kernel that holds no tile.
    pub(crate) fn plain(&self, mode: u32) -> Values {
        let (format, threads) = (&self.format, self.profile.plain_threads);
        Values {
            threads,
            shape: PLAIN,
            tile: 1,
            histograms: self.profile.histogram_rows(threads, self.facts),
            bins: format.bins(),
            function: format.binning.function,
            buckets: 0,
            // Labels of two digits are sorted even without item output.
            output: if format.output() == OUTPUT_NONE { OUTPUT_BUCKETS } else { format.binning.output },
            ranking: RANKING_BALLOTS,
            mode,
            module: 0,
            driver_specializes: false,
        }
    }

    /// Values of a kernel that takes the items of a tile one after the other.
    pub(crate) fn along(&self, tile: impl Into<TileShape>, mode: u32) -> Values {
        let TileShape { shape, .. } = tile.into();
        Values { shape, tile: shape.tile(), ..self.plain(mode) }
    }

    /// Values of a kernel whose workgroup holds a tile.
    pub(crate) fn holding(&self, tile: impl Into<TileShape>, mode: u32) -> Values {
        let TileShape { shape, driver_specializes, .. } = tile.into();
        let histograms = self.profile.histogram_rows(shape.threads, self.facts);
        Values { threads: shape.threads, histograms, driver_specializes, ..self.along(shape, mode) }
    }

    /// Values of the pass that prepares: it runs before states exist, so nothing about it is direct.
    pub(super) fn preparing(&self, tile: TileShape, mode: u32) -> Values {
        self.along(tile, mode & !MODE_DIRECT)
    }

    /// Values of the histogram.
    pub(super) fn counting_all(&self, tile: TileShape, mode: u32) -> Values {
        Values { histograms: self.counter_copies(), ..self.along(tile, mode) }
    }

    /// Values of the kernel that counts tile by tile.
    pub(super) fn counting(&self, tile: TileShape, mode: u32) -> Values {
        Values { threads: self.counting_threads(), ..self.counting_all(tile, mode) }
    }

    /// Values of a kernel that ranks and scatters a tile.
    pub(super) fn scattering(&self, tile: TileShape, mode: u32) -> Values {
        Values { ranking: self.tile_ranking(tile), ..self.holding(tile, mode) }
    }

    /// Values of a kernel whose workgroups sort segments. A full digit distinguishes the segments of a workgroup.
    pub(super) fn sorting_segments(&self, shape: Shape, mode: u32) -> Values {
        Values { bins: RADIX, ..self.holding(shape, mode) }
    }

    /// Values of a kernel after all passes, which is the same after merge sorts and others.
    pub(crate) fn finishing(&self, shape: Shape, mode: u32) -> Values {
        self.along(shape, mode & !MODE_MERGED)
    }

    /// `RANKING_` bits of a kernel that holds a tile.
    fn tile_ranking(&self, tile: TileShape) -> u32 {
        let (format, binning) = (&self.format, &self.format.binning);
        // Rank output does not verify the order.
        if format.output() == OUTPUT_RANKS {
            return RANKING_BALLOTS;
        }
        let (tiles, threads) = (tile.ranking as u32, tile.shape.threads);
        // Verification needs a row of counters for each subgroup.
        let rows = self.profile.histogram_rows(threads, self.facts);
        let ranking = match rows == self.profile.most_subgroups(threads, self.facts) {
            true if self.orders_by_all_bits() && format.value_words == 0 => tiles & !RANKING_BY_SOURCE_INDEX,
            true if tiles & RANKING_BY_SOURCE_INDEX != 0 => tiles,
            _ => RANKING_BALLOTS,
        };
        // Keys that stay in registers until verification leave no registers for swizzled counters. Swizzling applies to
        // digits only.
        let spread = tile.swizzled && ranking & RANKING_BY_SOURCE_INDEX == 0 && binning.function == FUNCTION_DIGIT;
        let others = [(spread, RANKING_SWIZZLED), (binning.unordered, RANKING_UNORDERED)];
        self.ranked(others.iter().filter(|(set, _)| *set).fold(ranking, |all, (_, bit)| all | bit))
    }

    /// Whether keys are one word that is sorted by all of its bits.
    pub(crate) fn orders_by_all_bits(&self) -> bool {
        let format = &self.format;
        let all_bits = format.begin_bit == 0 && format.end_bit == format.key_bits && format.key_words == 1;
        all_bits && format.binning.function == FUNCTION_DIGIT
    }

    /// `RANKING_` bits with the test hook.
    pub(crate) fn ranked(&self, ranking: u32) -> u32 {
        if self.profile.hooks.wrong_ranks && ranking & RANKING_VERIFIED != 0 {
            ranking & !RANKING_VERIFIED | RANKING_WRONG
        } else {
            ranking
        }
    }

    /// The variant of a kernel with these values.
    pub(crate) fn variant(&self, kernel: Kernel, values: &Values) -> Variant {
        let format = &self.format;
        let emulated = self.profile.emulated_subgroups;
        // A kernel without an emulated form runs on native subgroups of a size that the device chooses.
        let lanes = if emulated && kernel.emulated(true) == kernel { 0 } else { self.profile.lanes };
        let variant = Variant::new(kernel.emulated(emulated), |constant| match constant {
            Constant::Threads => values.threads,
            Constant::Lanes => lanes,
            Constant::Items => values.shape.items,
            Constant::Tile => values.tile,
            Constant::Histograms => values.histograms,
            Constant::Bins => values.bins,
            Constant::Function => values.function,
            Constant::Buckets => values.buckets,
            Constant::Output => values.output,
            Constant::Ranking => values.ranking,
            Constant::Mode => values.mode,
            Constant::ValueWords => format.value_words,
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
            Constant::SegmentTile if format.segmented => self.shapes().segments.tile(),
            Constant::SegmentTile => 1,
            Constant::MaxGroupsX => self.profile.max_groups_x,
            Constant::Fan => self.profile.merge.fan,
            // Of a window.
            Constant::Step => {
                SizedMerge { up_to: 0, run: values.shape, window: values.shape }.step(self.profile.merge.fan)
            }
            Constant::FullDigits => format.full_digits().into(),
            // Those of user-defined kernels, and of other folders.
            _ => 0,
        });
        let variant = variant.of_module(values.module);
        if values.driver_specializes { variant.specialized_by_driver() } else { variant }
    }
}

/// The shape for kernels that hold no tile.
pub(crate) const PLAIN: Shape = Shape { threads: 1, items: 1 };
