//! What settings of profiles are made of: strategies, workgroup shapes, and the limits of a device.

mod basis;
mod hooks;
mod kinds;
pub(crate) mod limits;
mod merges;
mod ranks;
mod shapes;

#[doc(inline)]
pub use crate::profile::*;
pub(crate) use basis::{Basis, Measured};
#[doc(hidden)]
pub use hooks::Hooks;
pub use kinds::ItemKind;
pub(crate) use kinds::by_item_kind;
pub(crate) use limits::{Limits, refuse};
pub use merges::SizedMerge;
pub use ranks::SizedRank;
pub(crate) use ranks::ranked_chunk;
pub use shapes::{Shape, SizedTile, SmallMethod, SmallShape, TileShape};

use crate::core::settings::{Value, malformed, values};
use crate::device::DeviceFacts;
use crate::shared::{RADIX, RANKING_BALLOTS, RANKING_BY_SOURCE_INDEX, RANKING_VERIFIED};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

const VENDOR_NVIDIA: u32 = 0x10de;
const VENDOR_AMD: u32 = 0x1002;
const VENDOR_INTEL: u32 = 0x8086;

/// Vendors with known forward progress: a workgroup that has started runs to its end (Smith, Levien, Owens, "Decoupled
/// fallback", SPAA 2025). There, waiting for preceding workgroups is worthwhile. The default strategy of other vendors
/// does not wait.
const VENDORS_WITH_PROGRESS: &[u32] = &[VENDOR_NVIDIA, VENDOR_AMD, VENDOR_INTEL];

/// Shared memory that a kernel needs besides counters and keys, in bytes: offsets, partial sums, single words.
pub(crate) const SHARED_MEMORY_OVERHEAD: u32 = 1024 + 256 + 64;
/// With fewer lanes, a row of counters for each subgroup costs more than it saves.
const MIN_LANES_FOR_OWN_HISTOGRAM: u32 = 16;
/// Fewest threads of a workgroup. (Kernels that scan digits run with 32: see glsl/core/scan.glsl.)
pub(crate) const MIN_THREADS: u32 = 64;

/// The algorithm by which a pass finds the scatter offsets of each tile. All strategies write the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// The device profile decides. Splits with one scatter pass and contiguous buckets use
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

    /// The strategy of a profile for this device: never [`Strategy::Auto`].
    pub(crate) fn of_device(facts: &DeviceFacts) -> Self {
        let progress = VENDORS_WITH_PROGRESS.contains(&facts.vendor_id) && !facts.is_cpu;
        if progress { Self::Lookback } else { Self::ReduceThenScan }
    }
}

impl Value for Strategy {
    fn parse(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|strategy| strategy.name() == name);
        known.ok_or_else(|| malformed(format!("strategy {name} is unknown")))
    }

    fn text(&self) -> String {
        self.name().into()
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

/// Names in profiles of earlier versions, and those of now.
const FORMER_RANKINGS: [(&str, &str); 2] = [("proven", "verified"), ("proven_by_places", "verified_by_source_index")];

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Ranking {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let current = FORMER_RANKINGS.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current);
        let known = Self::ALL.into_iter().find(|ranking| ranking.name() == current);
        known.ok_or_else(|| malformed(format!("ranking {name} is unknown")))
    }
}

values!(Ranking, Shape, TileShape, SizedTile, SmallShape, SizedMerge, SizedRank);

/// Shared memory of kernels that recompute the histogram, besides rows of counters and including the starts of bins, in
/// bytes.
pub(crate) const REDUNDANT_HISTOGRAM_BYTES: u32 = 4096 + SHARED_MEMORY_OVERHEAD;
/// Size of a row of counters in bytes: one counter for each value of a digit, and one more.
pub(crate) const ROW_BYTES: u32 = 4 * (RADIX + 1);

/// One row for each subgroup. If all rows took more than half of the shared memory, as few subgroups as possible share
/// one. Narrow subgroups share a single row.
pub(crate) fn histogram_rows(threads: u32, lanes: u32, shared_memory: u32) -> u32 {
    rows_within(shared_memory / 2 / 1024, threads, lanes)
}

pub(crate) fn rows_within(most: u32, threads: u32, lanes: u32) -> u32 {
    if lanes < MIN_LANES_FOR_OWN_HISTOGRAM {
        return 1;
    }
    let subgroups = threads / lanes;
    subgroups.div_ceil(subgroups.div_ceil(most.max(1)).max(1)).max(1)
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
        profile.sort.pairs.small[0] = SmallShape::merge(64, 3);
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

    /// Texts of earlier versions: lines of shapes began with `sort_`, whatever they served, and others had no prefix.
    /// Lines that these versions did not have get shapes that every device can run.
    #[test]
    fn former_names_are_read() {
        let measured = DeviceFacts { shared_memory: 48 * 1024, ..facts(VENDOR_NVIDIA, (32, 32), 1024, 32) };
        let mut profile = Profile::for_device(&measured);
        profile.hooks.ring_reach = 63;
        let former_line = |line: &str| {
            let (name, value) = line.split_once(" =").unwrap();
            let is_shape = |member: &&str| ItemKind::ALL.iter().any(|kind| member.starts_with(kind.name()));
            let member = name.split_once('.').map_or(name, |(_, member)| member);
            let former = match name {
                _ if is_shape(&member) => format!("sort_{}", member.replace("single_dispatch", "recounted")),
                "sort.finish" | "merge.fan" => name.replace('.', "_"),
                _ => member.to_owned(),
            };
            format!("{former} ={value}")
        };
        let is_new = |line: &&str| {
            let is_merge = line.starts_with("merge.") && !line.starts_with("merge.fan");
            is_merge || line.starts_with("hash.") || line.contains(".by_comparator =")
        };
        let text = profile.to_string();
        assert_eq!(text.lines().filter(is_new).count(), 16);
        let former: Vec<_> = text.lines().filter(|line| !is_new(line)).map(former_line).collect();
        let former = former.join("\n").replace("/swizzled", "/spread");
        let former = former.replace("verified_by_source_index", "proven_by_places").replace("verified", "proven");
        for name in ["\nsort_long.tiles =", "\nsort_keys.recounted =", "\nsort_finish =", "\nring_reach = 63"] {
            assert!(former.contains(name), "{name} is in {former}");
        }
        let by_comparator = ("by_comparator", "4294967295:128x4/128x4");
        let tables = ("long_slice_threads", "128");
        for (member, value) in [("tile", "128x7"), ("fused", "128x7"), ("fused_up_to", "65536"), by_comparator, tables]
        {
            profile = profile.with_member(member, value).unwrap();
        }
        assert_eq!(Profile::with_hooks_of(&former), Ok(profile));
    }

    #[test]
    fn one_line_is_replaced_by_its_name_of_now_or_before() {
        let profile = Profile::for_device(&facts(1, (32, 32), 256, 32));
        for name in ["sort.keys.small", "sort_keys.small"] {
            let changed = profile.with_line(name, "64x2/merge").unwrap();
            assert_eq!(changed.sort.keys.small[..], [SmallShape::merge(64, 2)]);
            assert_eq!(changed.sort.pairs, profile.sort.pairs);
        }
        let every = profile.with_member("small", "64x2/merge").unwrap();
        assert!(ItemKind::ALL.iter().all(|kind| every.sort[*kind].small[..] == [SmallShape::merge(64, 2)]));
        assert_eq!(profile.with_line("hooks.delay_every", "3").unwrap().hooks.delay_every, 3);
        for (name, why) in [("keys.small", "keys.small is unknown"), ("sort.keys", "sort.keys is unknown")] {
            let error = profile.with_line(name, "64x2").unwrap_err().to_string();
            assert!(error.contains(why), "{error} should say: {why}");
        }
        assert!(profile.with_member("smallest", "64x2").is_err());
    }

    #[test]
    fn hooks_are_lines_only_where_a_test_has_set_them() {
        let mut profile = Profile::for_device(&facts(1, (32, 32), 256, 32));
        assert!(!profile.to_string().contains("hooks"));
        profile.hooks = Hooks { delay_every: 3, wrong_ranks: true, ring_entries: 8, ring_reach: 3 };
        let text = profile.to_string();
        assert!(text.contains("hooks.delay_every = 3\n"));
        assert_eq!(Profile::with_hooks_of(&text), Ok(profile));
        let refused = text.parse::<Profile>().unwrap_err().to_string();
        assert!(refused.contains("hooks are for tests of the library"), "{refused}");
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
                "sort.keys.ranked =",
                "sort.keys.ranked = 512:256/32",
                "\"512:256/32\" is not above,above in place..size:threads/items",
            ),
            ("sort.keys.merges =", "sort.keys.merges = 9", "\"9\" is not size:run/window"),
            ("radix.keys.tiles =", "radix.keys.tiles = 9:64x1/guesses", "ranking guesses is unknown"),
            (
                "radix.keys.tiles =",
                "radix.keys.tiles = 9:64x1/swizzled/verified",
                "ranking swizzled/verified is unknown",
            ),
            ("radix.keys.tiles =", "radix.keys.tiles = 9:64x1/swizzled*many", "\"many\" is not a number"),
        ] {
            let error = text.replacen(from, to, 1).parse::<Profile>().unwrap_err().to_string();
            assert!(error.contains(why), "{error} should say: {why}");
        }
    }
}
