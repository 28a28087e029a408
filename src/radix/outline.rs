//! The outline of an algorithm: all that the layout of scratch and the radix passes know of it.

use crate::merge::Merging;
use crate::shared::{MODE_DIRECT, MODE_MERGED, MODE_PREFIXES, MODE_SEGMENTS, MODE_SINGLE};
use crate::tuning::{Shape, SmallShape, TileShape};

/// What an algorithm needs of scratch and of dispatches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    /// The tiles of the radix passes, if there are any.
    pub(crate) tile: Option<TileShape>,
    pub(crate) start: Start,
    /// The workgroups that sort segments, if the problem consists of segments. Only longer ones have radix passes.
    pub(crate) segments: Option<SmallShape>,
    pub(crate) merging: Option<Merging>,
    /// The shape of the pass that sorts equal prefixes, if there is one.
    pub(crate) prefixes: Option<Shape>,
    /// Whether a single pass moves the items, from the input to the output.
    pub(crate) moves_once: bool,
    /// Whether large problems skip constant digits.
    pub(crate) skips_digits: bool,
    /// The shape of the tiles of a dispatch in which each problem has the workgroups of the largest one.
    pub(crate) shared: Option<Shape>,
}

/// The first pass of a single problem with radix passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Start {
    /// No prepare pass: kernels resolve the count themselves, and the histogram clears state.
    Direct,
    /// A prepare pass resolves counts and clears state. Batches always have one.
    Prepared,
}

impl Outline {
    /// One dispatch without radix passes.
    pub(crate) const ONE_DISPATCH: Self = Self {
        tile: None,
        start: Start::Direct,
        segments: None,
        merging: None,
        prefixes: None,
        moves_once: true,
        skips_digits: false,
        shared: None,
    };

    /// Radix passes over tiles of this shape.
    pub(crate) const fn of_tiles(tile: TileShape, start: Start) -> Self {
        Self { tile: Some(tile), start, moves_once: false, ..Self::ONE_DISPATCH }
    }

    /// Workgroups of the shape `segments` sort segments; longer ones have radix passes over `tile`.
    pub(crate) const fn of_segments(segments: SmallShape, tile: Option<TileShape>) -> Self {
        Self {
            segments: Some(segments),
            tile,
            start: Start::Prepared,
            moves_once: tile.is_none(),
            ..Self::ONE_DISPATCH
        }
    }

    /// The `MODE_` bits of its kernels, for a single problem or several.
    pub(crate) fn mode(&self, single: bool) -> u32 {
        if self.segments.is_some() {
            return MODE_SEGMENTS;
        }
        let direct = self.tile.is_none() || single && self.start == Start::Direct;
        let bits = [
            (single, MODE_SINGLE),
            (direct, MODE_DIRECT),
            (self.prefixes.is_some(), MODE_PREFIXES),
            (self.merging.is_some(), MODE_MERGED),
        ];
        bits.iter().filter(|(set, _)| *set).fold(0, |mode, (_, bit)| mode | bit)
    }

    /// Whether a single problem has no prepare pass.
    pub(crate) fn is_direct(&self) -> bool {
        self.mode(true) & MODE_DIRECT != 0
    }

    /// Maximum number of tiles of a problem or of all its segments. Each segment with tiles exceeds a workgroup, and
    /// its last tile may be partial.
    pub(super) fn most_tiles(&self, max_count: u32) -> u64 {
        let Some(tile) = self.tile else { return 0 };
        let partial = self.segments.map_or(0, |segments| max_count / segments.tile());
        u64::from(max_count.div_ceil(tile.tile())) + u64::from(partial)
    }

    /// Number of workgroups that search for segments: see glsl/radix/segments.comp.
    pub(super) fn windows(&self, max_count: u32) -> u32 {
        self.segments.map_or(0, |segments| max_count.div_ceil(segments.segments_window()).max(1))
    }

    /// Maximum number of workgroups of a problem in a dispatch without radix tiles.
    pub(super) fn most_groups(&self, plain_threads: u32, max_count: u32) -> u64 {
        let merged = self.merging.map_or(0, |merging| merging.most_groups(plain_threads, max_count));
        merged.max(self.shared.map_or(0, |shape| max_count.div_ceil(shape.tile()).into()))
    }
}
