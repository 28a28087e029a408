//! Selects the algorithm of a split.

use crate::radix::{self, Config, Format, Outline, Start};
use crate::shared::{OUTPUT_BUCKETS, OUTPUT_NONE, OUTPUT_PLACED};
use crate::tuning::{Shape, SizedTile, SmallShape, Strategy, TileShape};

/// The algorithm for a problem, selected by its maximum count. Problems of the same algorithm share dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    /// A single dispatch: each workgroup computes the full histogram and scatters one tile of this shape.
    SingleDispatch(Shape),
    /// Radix passes over tiles of this shape.
    Tiled(TileShape, Start),
    /// Segments: one dispatch for those that fit a workgroup; radix passes for longer ones, if `max_count` allows any.
    Segments { whole: SmallShape, tiles: Option<TileShape> },
}

impl radix::Algorithm for Algorithm {
    fn of(config: &Config<'_>, max_count: u32) -> Self {
        let sized = grouping_tiles(config).find(|sized| max_count <= sized.up_to);
        if config.format.segmented {
            let whole = config.shapes().segments;
            return Self::Segments {
                whole,
                tiles: sized.map(|sized| sized.shape).filter(|_| max_count > whole.tile()),
            };
        }
        if let Some(single) = single_dispatches(config).find(|(up_to, _)| max_count <= *up_to) {
            return Self::SingleDispatch(single.1);
        }
        // A profile without tiles does not pass Profile::checked.
        let none = Self::Tiled(Shape { threads: 64, items: 1 }.into(), Start::Prepared);
        sized.map_or(none, |sized| Self::tiled(config, sized))
    }

    fn outline(self, config: &Config<'_>) -> Outline {
        let one_digit = config.format.digits() == 1;
        match self {
            Self::SingleDispatch(shape) => Outline { shared: Some(shape), ..Outline::ONE_DISPATCH },
            Self::Tiled(tile, start) => Outline { moves_once: one_digit, ..Outline::of_tiles(tile, start) },
            Self::Segments { whole, tiles } => {
                Outline { moves_once: tiles.is_none() || one_digit, ..Outline::of_segments(whole, tiles) }
            }
        }
    }

    fn shares(self) -> bool {
        !matches!(self, Self::Segments { .. })
    }

    fn range_ends<'a>(config: Config<'a>) -> impl Iterator<Item = u32> + use<'a> {
        let segments = config.format.segmented.then_some(config.shapes().segments.tile());
        // In segmented splits, some of these change nothing, which is harmless.
        let singles = single_dispatches(&config).map(|(up_to, _)| up_to);
        grouping_tiles(&config).map(|sized| sized.up_to).chain(segments).chain(singles)
    }
}

impl Algorithm {
    fn tiled(config: &Config<'_>, sized: SizedTile) -> Self {
        // Reduce-then-scan clears nothing. Look-back without a histogram has its own clearing pass.
        let clears_itself = config.scan().is_none() || config.skips_histogram();
        let direct = clears_itself || sized.up_to <= config.profile.radix.direct_up_to;
        Self::Tiled(sized.shape, if direct { Start::Direct } else { Start::Prepared })
    }

    /// Whether each workgroup computes the full histogram.
    pub(crate) fn is_single_dispatch(self) -> bool {
        matches!(self, Self::SingleDispatch(_))
    }
}

/// Tiles of passes that group items without sorting them: those of subgroups, those that are counted before the
/// scatter, or else those of passes over digits.
fn grouping_tiles<'a>(config: &Config<'a>) -> impl Iterator<Item = SizedTile> + use<'a> {
    let of_subgroups = config.tile_of_subgroups().map(|shape| SizedTile { up_to: u32::MAX, shape });
    let counted = if config.scan().is_none() { &config.profile.split[config.kind()].counted[..] } else { &[] };
    let last = config.shapes().tiles.last().copied();
    let many_bins = last.filter(|_| config.format.bins() > MOST_COUNTED_BINS);
    let of_counted = move |sized: &SizedTile| {
        let mut of_bins = many_bins.filter(|_| sized.up_to == u32::MAX).unwrap_or(*sized);
        of_bins.shape.driver_specializes = sized.shape.driver_specializes;
        of_bins
    };
    let others = config.tiles(false).filter(|_| counted.is_empty());
    of_subgroups.into_iter().chain(counted.iter().map(of_counted).chain(others).filter(move |_| of_subgroups.is_none()))
}

/// Maximum counts and shapes of splits in a single dispatch, without inter-tile dependencies. A split with given bucket
/// starts reads those instead. In a batch the limits are lower: every problem has the workgroups of the largest one, so
/// redundant histograms cost more, and launches are shared anyway.
fn single_dispatches<'a>(config: &Config<'a>) -> impl Iterator<Item = (u32, Shape)> + use<'a> {
    let (format, alone) = (&config.format, config.alone);
    let serves = !format.binning.by_subgroups && format.digits() == 1 && format.output() != OUTPUT_PLACED;
    let shapes = config.profile.split[config.kind()].single_dispatch.iter().filter(move |_| serves);
    shapes.map(move |sized| {
        let up_to = if alone { sized.up_to } else { sized.up_to.min(MOST_TILES_TOGETHER * sized.shape.tile()) };
        (up_to, sized.shape.shape)
    })
}

/// The strategy of [`Strategy::Auto`], from that of the device, and the strategy of a split that is recorded alone and
/// has no prepare pass.
///
/// The count that precedes the first scatter also serves the scan of reduce-then-scan, for a single digit. Without a
/// prepare pass, the device's own strategy takes one pass less. Look-back in a ring, for more than 2^30 items, has not
/// been measured against it.
pub(super) fn strategies(format: &Format, of_device: Strategy) -> (Strategy, Option<Strategy>) {
    let by_subgroups = format.binning.by_subgroups;
    let once = format.digits() == 1 || format.segmented || format.output() == OUTPUT_NONE;
    if !(by_subgroups || format.wide() || format.places_bins_in_order() && once) {
        return (of_device, None);
    }
    // One stable pass scatters all items to all buckets, one bucket after the other.
    let one_pass = !format.segmented && !format.wide() && format.digits() == 1 && format.output() == OUTPUT_BUCKETS;
    (Strategy::ReduceThenScan, Some(of_device).filter(|_| !by_subgroups && one_pass))
}

/// Largest number of bins for the last shape of `counted`.
const MOST_COUNTED_BINS: u32 = 64;

/// Maximum number of tiles of a single-dispatch split in a batch.
const MOST_TILES_TOGETHER: u32 = 4;
