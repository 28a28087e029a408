//! Workgroup shapes: threads and items a thread, by problem size, and their text form.

use super::Ranking;
use crate::core::settings::{malformed, parse_number};
use crate::{Error, Result};
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
    pub(crate) const fn new(threads: u32, items: u32) -> Self {
        Self { threads, items }
    }

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
    /// A tile that is ranked by ballots, one for each workgroup.
    pub(crate) const fn new(shape: Shape) -> Self {
        Self { shape, ranking: Ranking::Ballots, swizzled: false, driver_specializes: false, groups: 0 }
    }

    pub(crate) const fn ranked(self, ranking: Ranking) -> Self {
        Self { ranking, ..self }
    }

    /// Items of a tile.
    pub const fn tile(self) -> u32 {
        self.shape.tile()
    }
}

impl From<Shape> for TileShape {
    fn from(shape: Shape) -> Self {
        Self::new(shape)
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

/// Tiles of tables in the source.
impl SizedTile {
    pub(crate) const fn new(up_to: u32, threads: u32, items: u32) -> Self {
        Self { up_to, shape: TileShape::new(Shape { threads, items }) }
    }

    pub(crate) const fn verified(up_to: u32, threads: u32, items: u32) -> Self {
        let of_ballots = Self::new(up_to, threads, items);
        Self { shape: of_ballots.shape.ranked(Ranking::Verified), ..of_ballots }
    }

    pub(crate) const fn verified_by_source_index(up_to: u32, threads: u32, items: u32) -> Self {
        let of_ballots = Self::new(up_to, threads, items);
        Self { shape: of_ballots.shape.ranked(Ranking::VerifiedBySourceIndex), ..of_ballots }
    }

    pub(crate) const fn swizzled(self) -> Self {
        Self { shape: TileShape { swizzled: true, ..self.shape }, ..self }
    }

    pub(crate) const fn driver_specialized(self) -> Self {
        Self { shape: TileShape { driver_specializes: true, ..self.shape }, ..self }
    }

    /// Four workgroups for each multiprocessor of an H200. This also fills devices of up to 528 multiprocessors with
    /// one workgroup each.
    pub(crate) const fn persistent(self) -> Self {
        Self { shape: TileShape { groups: 528, ..self.shape }, ..self }
    }
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
