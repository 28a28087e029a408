//! Selects the algorithm of a sort.

use crate::kernels::Kernel;
use crate::merge::Merging;
use crate::radix::{self, Config, Outline, Start};
use crate::shared::{FLAG_EVEN, FLAG_ODD, PREFIX_DIGITS, RANKING_BALLOTS, RANKING_BY_SOURCE_INDEX};
use crate::tuning::sort::Shapes;
use crate::tuning::{Shape, SizedMerge, SizedRank, SizedTile, SmallMethod, SmallShape, TileShape};
use std::slice;

/// The algorithm for a problem, selected by its maximum count. Problems of the same algorithm share dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    /// Every key is compared with every other key.
    Ranked(SizedRank),
    /// One workgroup sorts the problem.
    Small(SmallShape),
    /// Sorted runs, merged level by level.
    Merged(Merging),
    /// Radix passes over tiles of this shape.
    Tiled(TileShape, Start, Finish),
    /// Segments: one dispatch for those that fit a workgroup; radix passes for longer ones, if `max_count` allows any.
    Segments { whole: SmallShape, tiles: Option<TileShape> },
}

/// The last pass of a sort by radix passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Finish {
    /// The pass of the last digit.
    Digits,
    /// Workgroups of this shape sort equal prefixes, if the device finds few of them.
    Prefixes(Shape),
}

impl radix::Algorithm for Algorithm {
    fn of(config: &Config<'_>, max_count: u32) -> Self {
        let (shapes, format) = (config.sort_shapes(), &config.format);
        let sized = config.tiles(true).find(|sized| max_count <= sized.up_to);
        let merging = |shapes: &[SizedMerge]| {
            let (fan, words) = (config.profile.merge.fan, format.merged_words());
            Merging::new(shapes, fan, words, config.facts.shared_memory, max_count).map(Self::Merged)
        };
        // A profile without tiles, or without room for items by a comparator, does not pass Profile::checked.
        let none = Self::Tiled(Shape { threads: 64, items: 1 }.into(), Start::Prepared, Finish::Digits);
        if format.comparator != 0 {
            return merging(slice::from_ref(&shapes.by_comparator)).unwrap_or(none);
        }
        if format.segmented {
            let whole = config.shapes().segments;
            return Self::Segments {
                whole,
                tiles: sized.map(|sized| sized.shape).filter(|_| max_count > whole.tile()),
            };
        }
        let serves = |ranked: &&SizedRank| config.alone && ranked.serves(max_count, format.rule() != FLAG_EVEN);
        if let Some(ranked) = shapes.ranked.iter().find(serves) {
            return Self::Ranked(*ranked);
        }
        if let Some(small) = shapes.small.iter().find(|small| max_count <= small.tile() && config.holds(**small)) {
            return Self::Small(*small);
        }
        if let Some(merged) = merging(&shapes.merges) {
            return merged;
        }
        sized.map_or(none, |sized| Self::tiled(config, sized, max_count))
    }

    fn outline(self, config: &Config<'_>) -> Outline {
        match self {
            // Ranking in place takes two passes: other workgroups still read the input.
            Self::Ranked(_) => Outline { moves_once: config.format.rule() != FLAG_EVEN, ..Outline::ONE_DISPATCH },
            Self::Small(_) => Outline::ONE_DISPATCH,
            Self::Merged(merging) => {
                Outline { merging: Some(merging), moves_once: merging.levels == 0, ..Outline::ONE_DISPATCH }
            }
            Self::Tiled(tile, start, finish) => {
                let prefixes = if let Finish::Prefixes(shape) = finish { Some(shape) } else { None };
                Outline { prefixes, skips_digits: true, ..Outline::of_tiles(tile, start) }
            }
            Self::Segments { whole, tiles } => Outline::of_segments(whole, tiles),
        }
    }

    fn shares(self) -> bool {
        !matches!(self, Self::Ranked(_) | Self::Segments { .. })
    }

    fn range_ends<'a>(config: Config<'a>) -> impl Iterator<Item = u32> + use<'a> {
        let shapes = config.sort_shapes();
        // In segmented sorts, some of these change nothing, which is harmless.
        let prefixes = Some(config.profile.sort.prefixes_up_to).filter(|up_to| *up_to != 0);
        let merges =
            if config.format.comparator == 0 { &shapes.merges } else { slice::from_ref(&shapes.by_comparator) };
        let merged = Merging::ends(merges, config.profile.merge.fan);
        let ranked = shapes.ranked.iter().flat_map(|ranked| [ranked.above, ranked.above_in_place, ranked.up_to]);
        shapes
            .small
            .iter()
            .map(|small| small.tile())
            .chain(config.tiles(true).map(|sized| sized.up_to))
            .chain(config.format.segmented.then_some(config.shapes().segments.tile()))
            .chain(prefixes)
            .chain(merged)
            .chain(ranked)
    }
}

impl<'a> Config<'a> {
    /// The shapes of sorts of this format.
    fn sort_shapes(&self) -> &'a Shapes {
        &self.profile.sort[self.kind()]
    }
}

impl Algorithm {
    fn tiled(config: &Config<'_>, sized: SizedTile, max_count: u32) -> Self {
        let (profile, format) = (config.profile, &config.format);
        let start = if sized.up_to <= profile.radix.direct_up_to { Start::Direct } else { Start::Prepared };
        // The number of passes is even, and smaller than the number of digits.
        let prefixes = max_count <= profile.sort.prefixes_up_to
            && start == Start::Prepared
            && config.scan().is_some()
            && format.digits() > PREFIX_DIGITS + 1
            && format.rule() != FLAG_ODD;
        Self::Tiled(sized.shape, start, if prefixes { Finish::Prefixes(profile.sort.finish) } else { Finish::Digits })
    }
}

/// `RANKING_` bits of one-workgroup sorts by radix. Source indices distinguish equal keys.
pub(super) fn small_ranking(config: &Config<'_>) -> u32 {
    let format = &config.format;
    let verifies = config.orders_by_all_bits() || format.key_words == 1 && format.value_words != 0;
    if verifies {
        config.ranked(config.profile.sort.small_ranking as u32 & !RANKING_BY_SOURCE_INDEX)
    } else {
        RANKING_BALLOTS
    }
}

impl SizedRank {
    /// Whether a sort with this maximum count is ranked. `at_once`: in one dispatch, not in place.
    pub(crate) const fn serves(self, max_count: u32, at_once: bool) -> bool {
        let above = if at_once { self.above } else { self.above_in_place };
        above < max_count && max_count <= self.up_to
    }

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
}
