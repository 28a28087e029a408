//! Workgroup shapes: threads and items a thread, by problem size, and their text form.

use super::{Ranking, SizedMerge, SizedRank, malformed, parse_number};
use crate::{Error, Result};
use arrayvec::ArrayVec;
use std::fmt;
use std::str::FromStr;

/// Threads of a workgroup, and items of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Invocations of a workgroup.
    pub threads: u32,
    /// Items of an invocation.
    pub items: u32,
}

impl Shape {
    /// Items of a workgroup.
    pub const fn tile(self) -> u32 {
        self.threads * self.items
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.threads, self.items)
    }
}

impl FromStr for Shape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (threads, items) =
            text.split_once('x').ok_or_else(|| malformed(format!("\"{text}\" is not threads x items")))?;
        Ok(Self { threads: parse_number(threads)?, items: parse_number(items)? })
    }
}

/// The text of [`TileShape::swizzled`].
const SWIZZLED: &str = "/swizzled";
/// The text of [`TileShape::driver_specializes`].
const DRIVER_SPECIALIZES: &str = "/driver_specialized";

/// Shape of the tiles of radix passes: a workgroup ranks and scatters one tile at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TileShape {
    /// The shape.
    pub shape: Shape,
    /// The algorithm that ranks the items of a tile.
    pub ranking: Ranking,
    /// Whether counters are bank-swizzled: counters of digits that differ by multiples of 32 are in different banks of
    /// shared memory. Low-entropy keys are then as fast as others; all keys take slightly longer. Not available with
    /// verification by source indices.
    pub swizzled: bool,
    /// Whether the driver specializes the modules that hold such a tile. Otherwise the library does: pipelines are
    /// created faster, but drivers then allocate registers differently, and a few kernels run up to 5 % slower.
    pub driver_specializes: bool,
    /// Persistent workgroups of a pass: each takes one tile after the other. More than the device runs at once have no
    /// work left. 0: one workgroup for each tile. Batches, segments, strategies other than
    /// [`Strategy::Lookback`](super::Strategy) and sorts without a prepare pass always use one workgroup for each tile.
    /// Not suitable for many tiles on lavapipe, which ends loops of an invocation after 65,535 iterations in total.
    pub groups: u32,
}

impl TileShape {
    /// Items of a tile.
    pub const fn tile(self) -> u32 {
        self.shape.tile()
    }
}

impl From<Shape> for TileShape {
    fn from(shape: Shape) -> Self {
        Self { shape, ranking: Ranking::Ballots, swizzled: false, driver_specializes: false, groups: 0 }
    }
}

impl fmt::Display for TileShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shape)?;
        if self.ranking != Ranking::Ballots {
            write!(f, "/{}", self.ranking.name())?;
        }
        if self.swizzled {
            write!(f, "{SWIZZLED}")?;
        }
        if self.driver_specializes {
            write!(f, "{DRIVER_SPECIALIZES}")?;
        }
        if self.groups != 0 {
            write!(f, "*{}", self.groups)?;
        }
        Ok(())
    }
}

/// `text` without `flag` at its end, and whether that was there.
fn strip_flag<'a>(text: &'a str, flag: &str) -> (&'a str, bool) {
    text.strip_suffix(flag).map_or((text, false), |rest| (rest, true))
}

impl FromStr for TileShape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (tile, groups) = text.split_once('*').unwrap_or((text, "0"));
        let (tile, driver_specializes) = strip_flag(tile, DRIVER_SPECIALIZES);
        let (ranked, swizzled) = match strip_flag(tile, SWIZZLED) {
            // Its former text.
            (tile, false) => strip_flag(tile, "/spread"),
            swizzled => swizzled,
        };
        let (shape, ranking) = ranked.split_once('/').unwrap_or((ranked, Ranking::Ballots.name()));
        Ok(Self {
            shape: shape.parse()?,
            ranking: ranking.parse()?,
            swizzled,
            driver_specializes,
            groups: parse_number(groups)?,
        })
    }
}

/// Tile shape of problems up to a maximum count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizedTile {
    /// Largest maximum count.
    pub up_to: u32,
    /// The tile shape.
    pub shape: TileShape,
}

impl fmt::Display for SizedTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.up_to, self.shape)
    }
}

impl FromStr for SizedTile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (up_to, shape) = text.split_once(':').ok_or_else(|| malformed(format!("\"{text}\" is not size:shape")))?;
        Ok(Self { up_to: parse_number(up_to)?, shape: shape.parse()? })
    }
}

/// The algorithm that sorts a whole problem in one workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SmallMethod {
    /// Digit by digit (LSD radix sort): time grows with the bits of the key.
    Radix,
    /// By buckets, equal parts of the range of the keys, if no bucket gets too many keys: time grows with the number of
    /// keys only. Otherwise digit by digit, after a small loss.
    Buckets,
    /// By merging: time grows with the number of keys only.
    Merge,
}

impl SmallMethod {
    /// The suffix of a shape in text. Radix shapes have none.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Radix => "",
            Self::Buckets => "/buckets",
            Self::Merge => "/merge",
        }
    }
}

/// Shape and algorithm of a one-workgroup sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SmallShape {
    /// The shape.
    pub shape: Shape,
    /// The method.
    pub method: SmallMethod,
}

impl SmallShape {
    /// A shape sorted digit by digit.
    pub const fn radix(threads: u32, items: u32) -> Self {
        Self { shape: Shape { threads, items }, method: SmallMethod::Radix }
    }

    /// A shape sorted by buckets.
    pub const fn buckets(threads: u32, items: u32) -> Self {
        Self { shape: Shape { threads, items }, method: SmallMethod::Buckets }
    }

    /// A shape sorted by merging.
    pub const fn merge(threads: u32, items: u32) -> Self {
        Self { shape: Shape { threads, items }, method: SmallMethod::Merge }
    }

    /// Items of a workgroup: the largest problem that it sorts.
    pub const fn tile(self) -> u32 {
        self.shape.tile()
    }

    /// Items that a workgroup searches for starts of segments: three quarters of its items. The rest is room for the
    /// end of the last segment.
    pub(crate) const fn segments_window(self) -> u32 {
        self.tile() * 3 / 4 / 32 * 32
    }

    /// Bytes of shared memory for merging items of `words` words: see glsl/merge/merging.glsl.
    pub(crate) const fn merge_bytes(self, words: u32) -> u32 {
        4 * words * (self.tile() + self.tile() / 32 + 1)
    }
}

impl fmt::Display for SmallShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.shape, self.method.suffix())
    }
}

impl FromStr for SmallShape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let named = [SmallMethod::Buckets, SmallMethod::Merge]
            .into_iter()
            .find_map(|method| text.strip_suffix(method.suffix()).map(|shape| (shape, method)));
        let (shape, method) = named.unwrap_or((text, SmallMethod::Radix));
        Ok(Self { shape: shape.parse()?, method })
    }
}

/// The shapes of one class of formats: keys, pairs or long keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemShapes {
    /// All-pairs ranking, by ascending size. It takes precedence over the other algorithms. It is used for problems
    /// that are recorded alone and without segments.
    pub ranked: ArrayVec<SizedRank, 4>,
    /// One-workgroup sorts, by ascending tile: a problem uses the first one that it fits.
    pub small: ArrayVec<SmallShape, 4>,
    /// Merge sorts, by ascending size, up to the last one's size. Items that exceed shared memory, and segments, are
    /// sorted by tiles instead.
    pub merges: ArrayVec<SizedMerge, 4>,
    /// Tiles of larger problems, by ascending size. The last one serves all larger sizes.
    pub tiles: ArrayVec<SizedTile, 4>,
    /// Replaces the last of `tiles` for ring strategies: their kernels need more registers.
    pub ring: Option<TileShape>,
    /// Replaces `tiles` in passes with at most 32 bins. Runs of equal bins are long even in small tiles, and more
    /// workgroups run at once. Not for ring strategies, nor for the smallest tiles, which need no prepare pass.
    pub few_bins: Option<TileShape>,
    /// Tiles of splits by [`Strategy::ReduceThenScan`](super::Strategy), by ascending size. With many bins, the last of
    /// `tiles` replaces the last one here. Empty: `tiles` serve these splits, too.
    pub counted: ArrayVec<SizedTile, 4>,
    /// Tiles of single-dispatch splits, by ascending size, up to the last one's size. Each workgroup computes the full
    /// histogram: the work grows with the square of the count. In batches, they serve at most four tiles.
    pub single_dispatch: ArrayVec<SizedTile, 4>,
    /// The segmented sort in one workgroup: as many short segments as fit, or a single segment up to this size.
    pub segments: SmallShape,
}
