//! How many threads a workgroup has and how many items each of them holds, for problems of which size; and all of it as text.

use super::{Ranking, SizedMerge, SizedRank, malformed, parse_number};
use crate::{Error, Result};
use arrayvec::ArrayVec;
use std::fmt;
use std::str::FromStr;

/// Threads of a workgroup, and items a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// Invocations a workgroup.
    pub threads: u32,
    /// Items an invocation.
    pub items: u32,
}

impl Shape {
    /// Items a workgroup.
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
        let (threads, items) = text.split_once('x').ok_or_else(|| malformed(format!("\"{text}\" is not threads x items")))?;
        Ok(Self { threads: parse_number(threads)?, items: parse_number(items)? })
    }
}

/// The text of [`TileShape::spread`].
const SPREAD: &str = "/spread";
/// The text of [`TileShape::driver_specializes`].
const DRIVER_SPECIALIZES: &str = "/driver_specialized";

/// Tiles: what a workgroup takes at a time of a problem that is sorted digit by digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TileShape {
    /// The shape.
    pub shape: Shape,
    /// How items find their places in a tile.
    pub ranking: Ranking,
    /// Whether counters of digits that are multiples of 32 apart lie in different banks of shared memory: so keys of low entropy are not slower
    /// than others, for a little time. Not where items prove their ranks by places.
    pub spread: bool,
    /// Whether the driver specializes the modules that hold such a tile. Otherwise the library does, which makes pipelines sooner. Drivers allocate
    /// registers differently then, and a few kernels run up to 5 % slower.
    pub driver_specializes: bool,
    /// Workgroups of a pass, each of which takes one tile after the other: no fewer than the device runs at once, as the others find nothing
    /// left. 0: one for each tile. So it is anyway in batches, in segments, by other strategies than [`Strategy::Lookback`](super::Strategy),
    /// and where nothing prepares the sort. Not for many tiles on lavapipe, which ends the loops of an invocation after 65,535 turns in all.
    pub groups: u32,
}

impl TileShape {
    /// Items a tile.
    pub const fn tile(self) -> u32 {
        self.shape.tile()
    }
}

impl From<Shape> for TileShape {
    fn from(shape: Shape) -> Self {
        Self { shape, ranking: Ranking::Ballots, spread: false, driver_specializes: false, groups: 0 }
    }
}

impl fmt::Display for TileShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shape)?;
        if self.ranking != Ranking::Ballots {
            write!(f, "/{}", self.ranking.name())?;
        }
        if self.spread {
            write!(f, "{SPREAD}")?;
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
        let (ranked, spread) = strip_flag(tile, SPREAD);
        let (shape, ranking) = ranked.split_once('/').unwrap_or((ranked, Ranking::Ballots.name()));
        Ok(Self { shape: shape.parse()?, ranking: ranking.parse()?, spread, driver_specializes, groups: parse_number(groups)? })
    }
}

/// Tiles of problems up to a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizedTile {
    /// The largest maximum count that uses them.
    pub up_to: u32,
    /// Their shape.
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

/// How one workgroup sorts a whole problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SmallMethod {
    /// Digit by digit: the time grows with the bits of the key.
    Radix,
    /// By buckets that share the range of the keys, where these are spread well enough for few keys to fall into each: the time grows with
    /// the number of keys alone. Otherwise digit by digit, somewhat later.
    Buckets,
    /// By merging: the time grows with the number of keys alone.
    Merge,
}

impl SmallMethod {
    /// What tells it behind a shape. Digit by digit, that is the shape alone.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Radix => "",
            Self::Buckets => "/buckets",
            Self::Merge => "/merge",
        }
    }
}

/// How one workgroup sorts, and as many items as it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SmallShape {
    /// The shape.
    pub shape: Shape,
    /// The method.
    pub method: SmallMethod,
}

impl SmallShape {
    /// Digit by digit.
    pub const fn radix(threads: u32, items: u32) -> Self {
        Self { shape: Shape { threads, items }, method: SmallMethod::Radix }
    }

    /// By buckets.
    pub const fn buckets(threads: u32, items: u32) -> Self {
        Self { shape: Shape { threads, items }, method: SmallMethod::Buckets }
    }

    /// By merging.
    pub const fn merge(threads: u32, items: u32) -> Self {
        Self { shape: Shape { threads, items }, method: SmallMethod::Merge }
    }

    /// Items a workgroup: the largest problem that it sorts.
    pub const fn tile(self) -> u32 {
        self.shape.tile()
    }

    /// Items that a workgroup looks for segments in. Three quarters of what it holds: the last of them may end behind.
    pub(crate) const fn segments_window(self) -> u32 {
        self.tile() * 3 / 4 / 32 * 32
    }

    /// Bytes of shared memory that merging takes, with items of so many words: see glsl/sort/merging.glsl.
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

/// The shapes of one kind of sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortShapes {
    /// What is ranked where it is recorded alone, by rising size: before anything else, and no segments.
    pub ranked: ArrayVec<SizedRank, 4>,
    /// Single-workgroup sorts, by rising tile: a problem takes the first that it fits.
    pub small: ArrayVec<SmallShape, 4>,
    /// What is sorted by merging runs, by rising size; nothing larger than the last is. Items that shared memory has no room for are sorted by
    /// tiles all the same, and so are segments.
    pub merges: ArrayVec<SizedMerge, 4>,
    /// Tiles of larger problems, by rising size; the last serves all that is larger still.
    pub tiles: ArrayVec<SizedTile, 4>,
    /// In place of the last of them where look-back words are a ring, whose kernels take more registers.
    pub ring: Option<TileShape>,
    /// In place of all but the smallest, which are not prepared, where a pass has 32 bins or fewer: runs of one bin are long in small tiles
    /// too, and more workgroups run at once. Not in the ring.
    pub few_bins: Option<TileShape>,
    /// Tiles of splits that are counted tile by tile ([`Strategy::ReduceThenScan`](super::Strategy)), by rising size, as `tiles`; where there are
    /// many bins, all but the last, in place of which is the last of those. None: `tiles` serve them all.
    pub counted: ArrayVec<SizedTile, 4>,
    /// Tiles of splits of few items, by rising size; nothing larger than the last is. Each workgroup counts all items by itself, which takes one
    /// dispatch and work that grows with the square of their number: in batches, no more than four tiles.
    pub recounted: ArrayVec<SizedTile, 4>,
    /// What one workgroup sorts of segments: one of up to so many items, or as many as fit together.
    pub segments: SmallShape,
}
