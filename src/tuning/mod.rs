//! Device profiles: tile shapes and strategies as data. Measured devices have tables; other devices get computed
//! shapes.

mod checks;
mod hooks;
mod merges;
mod nvidia;
mod ranks;
mod shapes;
mod text;

#[doc(hidden)]
pub use hooks::Hooks;
pub use merges::SizedMerge;
pub use ranks::SizedRank;
pub(crate) use ranks::ranked_chunk;
pub use shapes::{ItemShapes, Shape, SizedTile, SmallMethod, SmallShape, TileShape};

use crate::device::DeviceFacts;
use crate::shared::{RADIX, RANKING_BALLOTS, RANKING_BY_SOURCE_INDEX, RANKING_VERIFIED};
use crate::{Error, Result};
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
        let current =
            text::FORMER_NAMES.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current);
        let known = Self::ALL.into_iter().find(|ranking| ranking.name() == current);
        known.ok_or_else(|| malformed(format!("ranking {name} is unknown")))
    }
}

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
    pub sort_keys: ItemShapes,
    /// Shapes for keys of one word with values.
    pub sort_pairs: ItemShapes,
    /// Shapes for keys of several words.
    pub sort_long: ItemShapes,
    /// Shape of a workgroup that sorts items with equal prefixes.
    pub sort_finish: Shape,
    /// Largest maximum count of a sort by key prefixes; 0: never.
    pub prefixes_up_to: u32,
    /// Number of runs that are merged into one: a power of two.
    pub merge_fan: u32,
    /// Whether the driver specializes the kernels with tiles of splits at subgroup level: see
    /// [`TileShape::driver_specializes`].
    pub driver_specializes_subgroup_tiles: bool,
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
        let is_nvidia = facts.vendor_id == VENDOR_NVIDIA && profile.lanes == 32 && facts.shared_memory >= 48 * 1024;
        if is_nvidia && facts.max_invocations >= 1024 {
            nvidia::set(&mut profile, facts);
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
            driver_specializes_subgroup_tiles: false,
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
    pub const fn sort_shapes_mut(&mut self) -> [&mut ItemShapes; 3] {
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

const fn sized(up_to: u32, threads: u32, items: u32) -> SizedTile {
    let shape = shape(threads, items);
    SizedTile {
        up_to,
        shape: TileShape { shape, ranking: Ranking::Ballots, swizzled: false, driver_specializes: false, groups: 0 },
    }
}

fn shapes(
    ranked: &[SizedRank],
    small: &[SmallShape],
    merges: &[SizedMerge],
    tiles: &[SizedTile],
    [ring, few_bins]: [Option<TileShape>; 2],
    [counted, single_dispatch]: [&[SizedTile]; 2],
    segments: SmallShape,
) -> ItemShapes {
    ItemShapes {
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

fn malformed(why: String) -> Error {
    Error::Malformed { argument: "profile", why }
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
