//! Device profiles: tile shapes and strategies as data. Measured devices have tables; other devices get computed
//! shapes.

mod checks;
mod hooks;
mod merges;
mod ranks;
mod shapes;

#[doc(hidden)]
pub use hooks::Hooks;
pub use merges::SizedMerge;
pub use ranks::SizedRank;
pub(crate) use ranks::ranked_chunk;
pub use shapes::{Shape, SizedTile, SmallMethod, SmallShape, SortShapes, TileShape};

use crate::device::DeviceFacts;
use crate::shared::{RADIX, RANKING_BALLOTS, RANKING_BY_SOURCE_INDEX, RANKING_VERIFIED};
use crate::{Error, Result};
use arrayvec::ArrayVec;
use std::fmt;
use std::str::FromStr;

const VENDOR_NVIDIA: u32 = 0x10de;
const VENDOR_AMD: u32 = 0x1002;
const VENDOR_INTEL: u32 = 0x8086;

/// Vendors with known forward progress: a workgroup that has started runs to its end (Smith, Levien, Owens, "Decoupled
/// fallback", SPAA 2025). There, waiting for preceding workgroups is worthwhile. The default strategy of other vendors
/// does not wait.
const VENDORS_WITH_PROGRESS: &[u32] = &[VENDOR_NVIDIA, VENDOR_AMD, VENDOR_INTEL];

/// Shared memory of a workgroup on every device, in bytes.
const PORTABLE_SHARED_MEMORY: u32 = 16 * 1024;
/// Shared memory that a kernel needs besides counters and keys, in bytes: offsets, partial sums, single words.
const SHARED_MEMORY_OVERHEAD: u32 = 1024 + 256 + 64;
/// With fewer lanes, a row of counters for each subgroup costs more than it saves.
const MIN_LANES_FOR_OWN_HISTOGRAM: u32 = 16;
/// Fewest threads of a workgroup. (Kernels that scan digits run with 32: see glsl/core/scan.glsl.)
pub(crate) const MIN_THREADS: u32 = 64;

/// The algorithm by which a pass finds the scatter offsets of each tile. All strategies write the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// The device profile decides. Splits that count all keys before the first and only scatter pass use
    /// [`Strategy::ReduceThenScan`], unless they are small.
    #[default]
    Auto,
    /// One read and one write a digit: each tile waits for the aggregates and prefixes of preceding tiles (onesweep).
    /// The wait is bounded. After the bound, a tile counts its predecessors itself, so the result never depends on
    /// forward progress.
    Lookback,
    /// Count, scan, reorder: two reads and one write a digit. Tiles never wait.
    ReduceThenScan,
    /// As [`Strategy::Lookback`], but each tile waits for the inclusive prefix of its predecessor.
    ChainedScan,
    /// As [`Strategy::Lookback`], with tile words of constant size for any count. They form a ring; groups of entries
    /// are reused once no tile reads them any more.
    Ring,
    /// As [`Strategy::Ring`], but entries are freed one by one, in tile order.
    RingInOrder,
}

impl Strategy {
    /// The strategies that a sort can be recorded with.
    pub const ALL: [Self; 5] = [Self::Lookback, Self::ReduceThenScan, Self::ChainedScan, Self::Ring, Self::RingInOrder];

    /// The name in profiles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Lookback => "lookback",
            Self::ReduceThenScan => "reduce_then_scan",
            Self::ChainedScan => "chained_scan",
            Self::Ring => "ring",
            Self::RingInOrder => "ring_in_order",
        }
    }
}

/// The algorithm that ranks the items of a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum Ranking {
    /// Ballots among the lanes of a subgroup.
    #[default]
    Ballots = RANKING_BALLOTS,
    /// Atomic counters in shared memory. The hardware may serve the lanes of a subgroup in any order. Every tile or
    /// workgroup therefore verifies the order, and ranks its items again with ballots if it was wrong. Applies to tiles
    /// of keys without values that are sorted by all their bits: there, the keys themselves verify the order.
    Verified = RANKING_VERIFIED,
    /// As [`Ranking::Verified`], and for tiles of all other items: their source indices in the tile verify the order.
    VerifiedBySourceIndex = RANKING_VERIFIED | RANKING_BY_SOURCE_INDEX,
}

impl Ranking {
    const ALL: [Self; 3] = [Self::Ballots, Self::Verified, Self::VerifiedBySourceIndex];

    /// The name in profiles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ballots => "ballots",
            Self::Verified => "verified",
            Self::VerifiedBySourceIndex => "verified_by_source_index",
        }
    }
}

impl FromStr for Ranking {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let current = FORMER_NAMES.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current);
        let known = Self::ALL.into_iter().find(|ranking| ranking.name() == current);
        known.ok_or_else(|| malformed(format!("ranking {name} is unknown")))
    }
}

/// Names in profiles of earlier versions, and those of now.
const FORMER_NAMES: [(&str, &str); 5] = [
    ("proven", "verified"),
    ("proven_by_places", "verified_by_source_index"),
    ("sort_keys.recounted", "sort_keys.single_dispatch"),
    ("sort_pairs.recounted", "sort_pairs.single_dispatch"),
    ("sort_long.recounted", "sort_long.single_dispatch"),
];

/// The configuration of the library for a device. [`Profile::for_device`] returns the built-in one. A tuning run writes
/// its text form (`Display`, `FromStr`), and device creation reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Lanes of a subgroup; 0: the device chooses.
    pub lanes: u32,
    /// Whether subgroups of `lanes` lanes are emulated in shared memory, for devices with faulty subgroup operations.
    pub emulated_subgroups: bool,
    /// The meaning of [`Strategy::Auto`]. It applies to all sorts. It applies to splits that scatter twice, that need
    /// no count of all keys, or that are small and recorded alone. Other splits use reduce-then-scan: it reads no more
    /// than look-back would, and no tile waits.
    pub strategy: Strategy,
    /// Shapes for keys without values.
    pub sort_keys: SortShapes,
    /// Shapes for keys of one word with values.
    pub sort_pairs: SortShapes,
    /// Shapes for keys of several words.
    pub sort_long: SortShapes,
    /// Shape of a workgroup that sorts items with equal prefixes.
    pub sort_finish: Shape,
    /// Largest maximum count of a sort by key prefixes; 0: never.
    pub prefixes_up_to: u32,
    /// Number of runs that are merged into one: a power of two.
    pub merge_fan: u32,
    /// Whether the driver specializes the kernels with tiles of splits at subgroup level: see
    /// [`TileShape::driver_specializes`].
    pub driver_specializes_subgroup_splits: bool,
    /// Threads of kernels without tiles.
    pub plain_threads: u32,
    /// Number of workgroups of the histogram kernel: enough to fill the device.
    pub histogram_groups: u32,
    /// Tile shapes for maximum counts up to this one need no prepare pass.
    pub direct_up_to: u32,
    /// Largest maximum count of a sort by every digit. Larger sorts skip constant digits.
    pub all_digits_up_to: u32,
    /// Number of tiles that a look-back reads at a time. A larger window overlaps more latencies and needs more
    /// registers.
    pub window: u32,
    /// As `window`, for the ring.
    pub ring_window: u32,
    /// Ranking in one-workgroup sorts of keys of one word: of keys without values if sorted by all their bits, of
    /// others always.
    pub small_ranking: Ranking,
    /// Iterations that a look-back waits before it counts by itself.
    pub spin_limit: u32,
    /// Maximum number of workgroups of a dispatch in x.
    pub max_groups_x: u32,
    /// For tests of the library.
    #[doc(hidden)]
    pub hooks: Hooks,
}

impl Profile {
    /// The built-in profile of a device.
    pub fn for_device(facts: &DeviceFacts) -> Self {
        let mut profile = Self::portable(facts);
        let nvidia = facts.vendor_id == VENDOR_NVIDIA && profile.lanes == 32 && facts.shared_memory >= 48 * 1024;
        if nvidia && facts.max_invocations >= 1024 {
            let (keys, pairs) = if facts.compute_only {
                (NVIDIA_COMPUTE_KEYS, NVIDIA_COMPUTE_PAIRS)
            } else {
                (NVIDIA_GRAPHICS_KEYS, NVIDIA_GRAPHICS_PAIRS)
            };
            let segments = SmallShape::merge(128, 16);
            // Measured with two or more workgroups at once on a multiprocessor.
            let few_bins = |shape: Shape| Some(shape.into()).filter(|_| facts.compute_only);
            let others = [Some(verified(u32::MAX, 256, 36).shape), few_bins(shape(384, 20))];
            profile.sort_keys = shapes(
                NVIDIA_RANKED,
                NVIDIA_SMALL_KEYS,
                &[],
                keys,
                others,
                [NVIDIA_COUNTED_KEYS, NVIDIA_SINGLE_DISPATCH],
                segments,
            );
            let others = [Some(shape(384, 22).into()), few_bins(shape(384, 16))];
            profile.sort_pairs = shapes(
                NVIDIA_RANKED,
                NVIDIA_SMALL,
                NVIDIA_MERGE_PAIRS,
                pairs,
                others,
                [NVIDIA_COUNTED_PAIRS, NVIDIA_SINGLE_DISPATCH],
                segments,
            );
            profile.sort_long = shapes(
                &[],
                NVIDIA_SMALL,
                NVIDIA_MERGE_LONG,
                NVIDIA_LONG,
                [None; 2],
                [&[], NVIDIA_SINGLE_DISPATCH],
                SmallShape::merge(128, 8),
            );
            profile.sort_finish = shape(256, 4);
            profile.prefixes_up_to = 1 << 29;
            profile.small_ranking = Ranking::Verified;
            profile.ring_window = 4;
            profile.driver_specializes_subgroup_splits = true;
            profile.plain_threads = 512;
            profile.histogram_groups = 528;
        }
        profile
    }

    /// A profile for any device that meets the requirements: 16 KiB of shared memory, at most 256 threads.
    fn portable(facts: &DeviceFacts) -> Self {
        let lanes = if facts.can_require(32) {
            32
        } else if facts.can_require(facts.min_lanes) || facts.min_lanes == facts.max_lanes {
            facts.min_lanes
        } else {
            0
        };
        let narrowest = if lanes == 0 { facts.min_lanes } else { lanes };
        let widest = if lanes == 0 { facts.max_lanes } else { lanes };
        let most = facts.max_invocations.min(facts.max_subgroups.saturating_mul(narrowest)).min(256);
        // Half the number of threads leaves each subgroup its own counters in 16 KiB.
        let threads = if (MIN_LANES_FOR_OWN_HISTOGRAM..64).contains(&narrowest) { most.min(128) } else { most };
        let threads = (threads / widest * widest).max(MIN_THREADS);
        let available = PORTABLE_SHARED_MEMORY - SHARED_MEMORY_OVERHEAD;
        let counters = histogram_rows(threads, narrowest, PORTABLE_SHARED_MEMORY) * 1024;
        // Limits of shared memory: a key has 4 bytes, besides the counters. Later the counters' memory holds one byte
        // an item. With labels, three items share a word.
        let items = ((available - counters) / (4 * threads))
            .min(available / (5 * threads) / 4 * 4)
            .min(available / (16 * threads) * 3);
        let items = items.min(if facts.is_cpu { 8 } else { 16 });
        let small = [SmallShape::radix(threads, items.min(4)), SmallShape::radix(threads, items)];
        let tiles = [sized(u32::MAX, threads, items)];
        let few = items.min(4);
        let single_dispatch = [sized(threads * few * if facts.is_cpu { 4 } else { 16 }, threads, few)];
        let counted: [&[SizedTile]; 2] = [&[], &single_dispatch];
        let segments = SmallShape::radix(threads, items.min(8));
        let progress = VENDORS_WITH_PROGRESS.contains(&facts.vendor_id) && !facts.is_cpu;
        Self {
            lanes,
            emulated_subgroups: false,
            strategy: if progress { Strategy::Lookback } else { Strategy::ReduceThenScan },
            sort_keys: shapes(&[], &small, &[], &tiles, [None; 2], counted, segments),
            sort_pairs: shapes(&[], &small, &[], &tiles, [None; 2], counted, segments),
            sort_long: shapes(&[], &small, &[], &tiles, [None; 2], counted, segments),
            sort_finish: Shape { threads, items },
            prefixes_up_to: 0,
            merge_fan: 16,
            driver_specializes_subgroup_splits: false,
            plain_threads: threads,
            histogram_groups: if facts.is_cpu { 32 } else { 256 },
            direct_up_to: 1 << 18,
            all_digits_up_to: 1 << 20,
            window: if facts.is_cpu { 4 } else { 8 },
            ring_window: if facts.is_cpu { 4 } else { 8 },
            small_ranking: Ranking::Ballots,
            spin_limit: if facts.is_cpu { 256 } else { 4096 },
            max_groups_x: facts.max_groups_x,
            hooks: Hooks::default(),
        }
    }

    /// The shapes of keys, pairs and long keys.
    pub const fn sort_shapes_mut(&mut self) -> [&mut SortShapes; 3] {
        [&mut self.sort_keys, &mut self.sort_pairs, &mut self.sort_long]
    }

    /// Number of rows of digit counters in a workgroup.
    pub(crate) fn histogram_rows(&self, threads: u32, facts: &DeviceFacts) -> u32 {
        if self.emulated_subgroups {
            return self.most_subgroups(threads, facts);
        }
        histogram_rows(threads, self.narrowest(facts), facts.shared_memory)
    }

    /// As `histogram_rows`, for kernels that recompute the histogram: they hold no tile at the same time.
    pub(crate) fn redundant_histogram_rows(&self, threads: u32, facts: &DeviceFacts) -> u32 {
        if self.emulated_subgroups {
            return self.most_subgroups(threads, facts);
        }
        let room = facts.shared_memory.saturating_sub(REDUNDANT_HISTOGRAM_BYTES) / ROW_BYTES;
        rows_within(room, threads, self.narrowest(facts))
    }

    /// Maximum number of subgroups of a workgroup.
    pub(crate) fn most_subgroups(&self, threads: u32, facts: &DeviceFacts) -> u32 {
        threads / self.narrowest(facts)
    }

    fn narrowest(&self, facts: &DeviceFacts) -> u32 {
        if self.lanes == 0 { facts.min_lanes } else { self.lanes }
    }
}

/// Shared memory of kernels that recompute the histogram, besides rows of counters and including the starts of bins, in
/// bytes.
pub(crate) const REDUNDANT_HISTOGRAM_BYTES: u32 = 4096 + SHARED_MEMORY_OVERHEAD;
/// Size of a row of counters in bytes: one counter for each value of a digit, and one more.
pub(crate) const ROW_BYTES: u32 = 4 * (RADIX + 1);

/// One row for each subgroup. If all rows took more than half of the shared memory, as few subgroups as possible share
/// one. Narrow subgroups share a single row.
fn histogram_rows(threads: u32, lanes: u32, shared_memory: u32) -> u32 {
    rows_within(shared_memory / 2 / 1024, threads, lanes)
}

fn rows_within(most: u32, threads: u32, lanes: u32) -> u32 {
    if lanes < MIN_LANES_FOR_OWN_HISTOGRAM {
        return 1;
    }
    let subgroups = threads / lanes;
    subgroups.div_ceil(subgroups.div_ceil(most.max(1)).max(1)).max(1)
}

const fn shape(threads: u32, items: u32) -> Shape {
    Shape { threads, items }
}

const fn merges(up_to: u32, run: Shape, window: Shape) -> SizedMerge {
    SizedMerge { up_to, run, window }
}

const fn ranks(above: u32, above_in_place: u32, up_to: u32, threads: u32, items: u32) -> SizedRank {
    SizedRank { above, above_in_place, up_to, threads, items }
}

const fn sized(up_to: u32, threads: u32, items: u32) -> SizedTile {
    let shape = shape(threads, items);
    SizedTile {
        up_to,
        shape: TileShape { shape, ranking: Ranking::Ballots, swizzled: false, driver_specializes: false, groups: 0 },
    }
}

const fn verified(up_to: u32, threads: u32, items: u32) -> SizedTile {
    ranked(sized(up_to, threads, items), Ranking::Verified)
}

const fn verified_by_source_index(up_to: u32, threads: u32, items: u32) -> SizedTile {
    ranked(sized(up_to, threads, items), Ranking::VerifiedBySourceIndex)
}

const fn ranked(sized: SizedTile, ranking: Ranking) -> SizedTile {
    SizedTile { shape: TileShape { ranking, ..sized.shape }, ..sized }
}

const fn swizzled(sized: SizedTile) -> SizedTile {
    SizedTile { shape: TileShape { swizzled: true, ..sized.shape }, ..sized }
}

const fn driver_specialized(sized: SizedTile) -> SizedTile {
    SizedTile { shape: TileShape { driver_specializes: true, ..sized.shape }, ..sized }
}

/// Four workgroups for each multiprocessor of an H200. This also fills devices of up to 528 multiprocessors with one
/// workgroup each.
const fn persistent(sized: SizedTile) -> SizedTile {
    SizedTile { shape: TileShape { groups: 528, ..sized.shape }, ..sized }
}

fn shapes(
    ranked: &[SizedRank],
    small: &[SmallShape],
    merges: &[SizedMerge],
    tiles: &[SizedTile],
    [ring, few_bins]: [Option<TileShape>; 2],
    [counted, single_dispatch]: [&[SizedTile]; 2],
    segments: SmallShape,
) -> SortShapes {
    SortShapes {
        ranked: ranked.iter().copied().collect(),
        small: small.iter().copied().collect(),
        merges: merges.iter().copied().collect(),
        tiles: tiles.iter().copied().collect(),
        ring,
        few_bins,
        counted: counted.iter().copied().collect(),
        single_dispatch: single_dispatch.iter().copied().collect(),
        segments,
    }
}

// Measured on an H200, driver 580: see docs/sort.md. There are two tables: on the compute-only queue family a workgroup
// may use twice the shared memory of an SM as on the graphics family. With 384 threads a kernel may use 80 registers,
// with 256 threads 128. Segments were measured with `u32` keys only; the shapes for pairs and longer keys are derived.
const NVIDIA_RANKED: &[SizedRank] =
    &[ranks(1 << 11, 1 << 12, 1 << 12, 512, 32), ranks(1 << 11, 1 << 12, 1 << 13, 512, 64)];
const NVIDIA_SMALL: &[SmallShape] =
    &[SmallShape::buckets(512, 2), SmallShape::buckets(1024, 2), SmallShape::buckets(1024, 4)];
const NVIDIA_SMALL_KEYS: &[SmallShape] = &[
    SmallShape::buckets(512, 2),
    SmallShape::buckets(1024, 2),
    SmallShape::buckets(1024, 4),
    SmallShape::radix(256, 32),
];
const NVIDIA_MERGE_PAIRS: &[SizedMerge] = &[merges(1 << 14, shape(256, 4), shape(256, 4))];
const NVIDIA_MERGE_LONG: &[SizedMerge] =
    &[merges(1 << 16, shape(256, 4), shape(256, 4)), merges(1 << 18, shape(256, 4), shape(256, 8))];
const NVIDIA_COMPUTE_KEYS: &[SizedTile] = &[
    verified(1 << 17, 512, 4),
    verified(1 << 18, 512, 8),
    swizzled(verified(1 << 25, 384, 23)),
    swizzled(verified_by_source_index(u32::MAX, 256, 36)),
];
const NVIDIA_COMPUTE_PAIRS: &[SizedTile] =
    &[verified_by_source_index(1 << 18, 384, 8), verified_by_source_index(1 << 20, 384, 22), sized(u32::MAX, 384, 22)];
const NVIDIA_GRAPHICS_KEYS: &[SizedTile] =
    &[verified(1 << 17, 512, 4), verified(1 << 18, 512, 8), persistent(swizzled(verified(u32::MAX, 384, 23)))];
const NVIDIA_GRAPHICS_PAIRS: &[SizedTile] = &[
    verified_by_source_index(1 << 17, 512, 4),
    verified_by_source_index(1 << 18, 384, 8),
    persistent(verified_by_source_index(u32::MAX, 384, 22)),
];
const NVIDIA_COUNTED_KEYS: &[SizedTile] = &[sized(1 << 20, 512, 8), sized(1 << 23, 256, 16), sized(u32::MAX, 256, 16)];
// Specialized by the library, pairs take 3 to 5 % longer from 2^25 on, and keys 4 % less.
const NVIDIA_COUNTED_PAIRS: &[SizedTile] = &[
    sized(1 << 20, 512, 8),
    driver_specialized(sized(1 << 23, 256, 16)),
    driver_specialized(sized(u32::MAX, 256, 16)),
];
const NVIDIA_SINGLE_DISPATCH: &[SizedTile] = &[sized(1 << 13, 512, 1), sized(1 << 15, 1024, 1)];
const NVIDIA_LONG: &[SizedTile] = &[sized(1 << 18, 512, 4), sized(1 << 21, 256, 24), sized(u32::MAX, 256, 36)];

fn write_list(f: &mut fmt::Formatter<'_>, name: &dyn fmt::Display, list: &[impl fmt::Display]) -> fmt::Result {
    write!(f, "{name} =")?;
    list.iter().try_for_each(|item| write!(f, " {item}"))?;
    writeln!(f)
}

const DRIVER_SPECIALIZES_SUBGROUP_SPLITS: &str = "driver_specializes_subgroup_splits";

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "lanes = {}", self.lanes)?;
        writeln!(f, "emulated_subgroups = {}", self.emulated_subgroups)?;
        writeln!(f, "strategy = {}", self.strategy.name())?;
        let shapes = [("sort_keys", &self.sort_keys), ("sort_pairs", &self.sort_pairs), ("sort_long", &self.sort_long)];
        for (name, shapes) in shapes {
            write_list(f, &format_args!("{name}.ranked"), &shapes.ranked)?;
            write_list(f, &format_args!("{name}.small"), &shapes.small)?;
            write_list(f, &format_args!("{name}.merges"), &shapes.merges)?;
            write_list(f, &format_args!("{name}.tiles"), &shapes.tiles)?;
            write_list(f, &format_args!("{name}.ring"), shapes.ring.as_slice())?;
            write_list(f, &format_args!("{name}.few_bins"), shapes.few_bins.as_slice())?;
            write_list(f, &format_args!("{name}.counted"), &shapes.counted)?;
            write_list(f, &format_args!("{name}.single_dispatch"), &shapes.single_dispatch)?;
            writeln!(f, "{name}.segments = {}", shapes.segments)?;
        }
        writeln!(f, "sort_finish = {}", self.sort_finish)?;
        writeln!(f, "prefixes_up_to = {}", self.prefixes_up_to)?;
        writeln!(f, "merge_fan = {}", self.merge_fan)?;
        writeln!(f, "{DRIVER_SPECIALIZES_SUBGROUP_SPLITS} = {}", self.driver_specializes_subgroup_splits)?;
        writeln!(f, "plain_threads = {}", self.plain_threads)?;
        writeln!(f, "histogram_groups = {}", self.histogram_groups)?;
        writeln!(f, "direct_up_to = {}", self.direct_up_to)?;
        writeln!(f, "all_digits_up_to = {}", self.all_digits_up_to)?;
        writeln!(f, "window = {}", self.window)?;
        writeln!(f, "ring_window = {}", self.ring_window)?;
        writeln!(f, "small_ranking = {}", self.small_ranking.name())?;
        writeln!(f, "spin_limit = {}", self.spin_limit)?;
        writeln!(f, "max_groups_x = {}", self.max_groups_x)?;
        write!(f, "{}", self.hooks)
    }
}

impl FromStr for Profile {
    type Err = Error;

    /// Parses the output of `Display`: `name = value` lines, `#` comments. Every name must occur once, and no other
    /// name.
    fn from_str(text: &str) -> Result<Self> {
        let optional = |name: &str| {
            let mut values = text
                .lines()
                .map(|line| line.split('#').next().unwrap_or(""))
                .filter_map(|line| line.split_once('='))
                .filter(|(found, _)| found.trim() == name || FORMER_NAMES.contains(&(found.trim(), name)))
                .map(|(_, value)| value.trim());
            match (values.next(), values.next()) {
                (value, None) => Ok(value),
                (_, Some(_)) => Err(malformed(format!("{name} is given twice"))),
            }
        };
        let lookup = |name: &str| optional(name)?.ok_or_else(|| malformed(format!("{name} is missing")));
        let shapes = |name: &str| -> Result<SortShapes> {
            let line = |part: &str| lookup(&format!("{name}.{part}"));
            let one = |part: &str| Some(line(part)?).filter(|text| !text.is_empty()).map(str::parse).transpose();
            Ok(SortShapes {
                ranked: parse_list(name, line("ranked")?)?,
                small: parse_list(name, line("small")?)?,
                merges: parse_list(name, line("merges")?)?,
                tiles: parse_list(name, line("tiles")?)?,
                ring: one("ring")?,
                few_bins: one("few_bins")?,
                counted: parse_list(name, line("counted")?)?,
                single_dispatch: parse_list(name, line("single_dispatch")?)?,
                segments: line("segments")?.parse()?,
            })
        };
        let number = |name: &str| parse_number(lookup(name)?);
        let profile = Self {
            lanes: number("lanes")?,
            emulated_subgroups: lookup("emulated_subgroups")? == "true",
            strategy: {
                let name = lookup("strategy")?;
                let known = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
                known.ok_or_else(|| malformed(format!("strategy {name} is unknown")))?
            },
            sort_keys: shapes("sort_keys")?,
            sort_pairs: shapes("sort_pairs")?,
            sort_long: shapes("sort_long")?,
            sort_finish: lookup("sort_finish")?.parse()?,
            prefixes_up_to: number("prefixes_up_to")?,
            merge_fan: number("merge_fan")?,
            // Texts of earlier versions do not have it.
            driver_specializes_subgroup_splits: optional(DRIVER_SPECIALIZES_SUBGROUP_SPLITS)? == Some("true"),
            plain_threads: number("plain_threads")?,
            histogram_groups: number("histogram_groups")?,
            direct_up_to: number("direct_up_to")?,
            all_digits_up_to: number("all_digits_up_to")?,
            window: number("window")?,
            ring_window: number("ring_window")?,
            small_ranking: lookup("small_ranking")?.parse()?,
            spin_limit: number("spin_limit")?,
            max_groups_x: number("max_groups_x")?,
            hooks: Hooks::read(optional)?,
        };
        let names = |text: &str| -> Vec<String> {
            let settings = text.lines().filter_map(|line| line.split('#').next()?.split_once('='));
            settings.map(|(name, _)| name.trim().to_owned()).collect()
        };
        let known = names(&profile.to_string());
        let is_former = |name: &String| FORMER_NAMES.iter().any(|(former, _)| former == name);
        let is_known = |name: &String| known.contains(name) || is_former(name) || Hooks::NAMES.contains(&name.as_str());
        match names(text).into_iter().find(|name| !is_known(name)) {
            Some(name) => Err(malformed(format!("{name} is unknown"))),
            None => Ok(profile),
        }
    }
}

fn malformed(why: String) -> Error {
    Error::Malformed { argument: "profile", why }
}

fn parse_list<T: FromStr<Err = Error>>(name: &str, text: &str) -> Result<ArrayVec<T, 4>> {
    let mut list = ArrayVec::new();
    for item in text.split_whitespace() {
        list.try_push(item.parse()?).map_err(|_| malformed(format!("{name}: at most four shapes")))?;
    }
    Ok(list)
}

fn parse_number(text: &str) -> Result<u32> {
    text.parse().map_err(|_| malformed(format!("\"{text}\" is not a number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn facts(vendor_id: u32, lanes: (u32, u32), max_invocations: u32, max_subgroups: u32) -> DeviceFacts {
        DeviceFacts {
            vendor_id,
            is_cpu: false,
            compute_only: false,
            min_lanes: lanes.0,
            max_lanes: lanes.1,
            lanes_selectable: true,
            max_invocations,
            max_subgroups,
            shared_memory: 16 * 1024,
            max_groups_x: 65535,
        }
    }

    #[test]
    fn text_form_comes_back_the_same() {
        let measured = DeviceFacts { shared_memory: 48 * 1024, ..facts(VENDOR_NVIDIA, (32, 32), 1024, 32) };
        let mut profile = Profile::for_device(&measured);
        profile.sort_pairs.small[0] = SmallShape::merge(64, 3);
        for text in [
            "1024x4/buckets",
            "64x3/merge",
            "256x32\n",
            "384x22/verified_by_source_index*528",
            "256x16/driver_specialized",
            "2048,4096..8192:512/64",
        ] {
            assert!(profile.to_string().contains(text), "{text} is in it");
        }
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }

    #[test]
    fn former_names_are_read() {
        let measured = DeviceFacts { shared_memory: 48 * 1024, ..facts(VENDOR_NVIDIA, (32, 32), 1024, 32) };
        let profile = Profile::for_device(&measured);
        let former = profile.to_string().replace("single_dispatch", "recounted").replace("/swizzled", "/spread");
        let former = former.replace("verified_by_source_index", "proven_by_places").replace("verified", "proven");
        assert_eq!(former.parse(), Ok(profile));
    }

    #[test]
    fn hooks_are_lines_only_where_a_test_has_set_them() {
        let mut profile = Profile::for_device(&facts(1, (32, 32), 256, 32));
        assert!(Hooks::NAMES.iter().all(|name| !profile.to_string().contains(name)));
        // Profiles of earlier versions have the lines of the ring.
        let older = format!("{profile}ring_entries = 1024\nring_reach = 64\ndelay_every = 0\n");
        assert_eq!(older.parse().as_ref(), Ok(&profile));
        profile.hooks = Hooks { delay_every: 3, wrong_ranks: true, ring_entries: 8, ring_reach: 3 };
        assert_eq!(profile.to_string().parse(), Ok(profile));
    }

    #[test]
    fn lanes_that_cannot_be_chosen_are_known_where_there_is_one_number_of_them() {
        for (lanes, known) in [((64, 64), 64), ((8, 8), 8), ((8, 64), 0)] {
            let facts = DeviceFacts { lanes_selectable: false, ..facts(1, lanes, 256, 32) };
            assert_eq!(Profile::for_device(&facts).lanes, known, "{lanes:?}");
        }
    }

    #[test]
    fn rows_of_counters_are_shared_by_as_few_subgroups_as_possible() {
        for ((threads, lanes, kib), rows) in [
            ((384, 32, 48), 12),
            ((768, 32, 48), 24),
            ((1024, 32, 48), 16),
            ((640, 16, 32), 14),
            ((256, 64, 16), 4),
            ((128, 8, 48), 1),
            ((64, 128, 16), 1),
        ] {
            assert_eq!(histogram_rows(threads, lanes, kib * 1024), rows, "{threads} threads, {lanes} lanes, {kib} KiB");
        }
    }

    #[test]
    fn malformed_text_is_refused_with_the_reason() {
        let text = Profile::for_device(&facts(1, (32, 32), 256, 32)).to_string();
        for (from, to, why) in [
            ("spin_limit", "spin_limits", "spin_limit is missing"),
            ("lanes = 32", "lanes = 32\nlanes = 4", "lanes is given twice"),
            ("lanes = 32", "lanes = many", "\"many\" is not a number"),
            ("lanes = 32", "lanes = 32\nranking = verified", "ranking is unknown"),
            ("128x", "128*", "is not threads x items"),
            (
                "sort_keys.ranked =",
                "sort_keys.ranked = 512:256/32",
                "\"512:256/32\" is not above,above in place..size:threads/items",
            ),
            ("sort_keys.merges =", "sort_keys.merges = 9", "\"9\" is not size:run/window"),
            ("sort_keys.tiles =", "sort_keys.tiles = 9:64x1/guesses", "ranking guesses is unknown"),
            ("sort_keys.tiles =", "sort_keys.tiles = 9:64x1/swizzled/verified", "ranking swizzled/verified is unknown"),
            ("sort_keys.tiles =", "sort_keys.tiles = 9:64x1/swizzled*many", "\"many\" is not a number"),
        ] {
            let error = text.replacen(from, to, 1).parse::<Profile>().unwrap_err().to_string();
            assert!(error.contains(why), "{error} should say: {why}");
        }
    }
}
