//! Settings of radix passes in profiles: shapes of tiles and of segments, and the sizes at which passes change.

use crate::Result;
use crate::core::settings::settings;
use crate::shared::MAX_KEY_WORDS;
use crate::tuning::{
    Basis, ItemKind, Limits, Measured, Shape, SizedTile, SmallMethod, SmallShape, TileShape, by_item_kind, refuse,
};
use arrayvec::ArrayVec;

settings! {
    /// The shapes of one kind of items.
    pub struct Shapes {
        /// Tiles, by ascending size. The last one serves all larger sizes.
        pub tiles: ArrayVec<SizedTile, 4>,
        /// Replaces the last of `tiles` for ring strategies: their kernels need more registers.
        pub ring: Option<TileShape>,
        /// Replaces `tiles` in passes with at most 32 bins. Runs of equal bins are long even in small tiles, and more
        /// workgroups run at once. Not for ring strategies, nor for the smallest tiles, which need no prepare pass.
        pub few_bins: Option<TileShape>,
        /// The segmented sort in one workgroup: as many short segments as fit, or a single segment up to this size.
        pub segments: SmallShape,
    }
}

settings! {
    /// Settings of radix passes.
    pub struct Settings {
        /// Shapes for keys of one word without values.
        pub keys: Shapes,
        /// Shapes for keys of one word with values.
        pub pairs: Shapes,
        /// Shapes for keys of several words.
        pub long: Shapes,
        /// Whether the driver specializes kernels with tiles that subgroups rank: see
        /// [`TileShape::driver_specializes`].
        pub driver_specializes_subgroup_tiles: bool,
        /// Number of workgroups of the histogram kernel: enough to fill the device.
        pub histogram_groups: u32,
        /// Tile shapes for maximum counts up to this one need no prepare pass.
        pub direct_up_to: u32,
        /// Largest maximum count of a request that passes over every digit. Larger ones skip constant digits.
        pub all_digits_up_to: u32,
    }
}

by_item_kind!(Settings, Shapes);

pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[
    ("*.tiles", "radix.*.tiles"),
    ("*.ring", "radix.*.ring"),
    ("*.few_bins", "radix.*.few_bins"),
    ("*.segments", "radix.*.segments"),
    ("driver_specializes_subgroup_tiles", "radix.driver_specializes_subgroup_tiles"),
    ("histogram_groups", "radix.histogram_groups"),
    ("direct_up_to", "radix.direct_up_to"),
    ("all_digits_up_to", "radix.all_digits_up_to"),
];

impl Settings {
    pub(crate) fn of(basis: &Basis<'_>) -> Self {
        let Basis { facts, shape: Shape { threads, items }, measured, .. } = *basis;
        let [keys, pairs, long] = ItemKind::ALL.map(|kind| match measured {
            Some(device) => Shapes::of_nvidia(device, kind),
            None => Shapes {
                tiles: [SizedTile::new(u32::MAX, threads, items)].into_iter().collect(),
                ring: None,
                few_bins: None,
                segments: SmallShape::radix(threads, items.min(8)),
            },
        });
        let groups = if facts.is_cpu { 32 } else { 256 };
        Self {
            keys,
            pairs,
            long,
            driver_specializes_subgroup_tiles: measured.is_some(),
            histogram_groups: measured.map_or(groups, |_| 528),
            direct_up_to: 1 << 18,
            all_digits_up_to: 1 << 20,
        }
    }

    pub(crate) fn check(&self, limits: &Limits<'_>) -> Result<()> {
        if self.histogram_groups == 0 {
            return refuse("radix.histogram_groups must be at least 1".into());
        }
        for kind in ItemKind::ALL {
            let shapes = &self[kind];
            if shapes.tiles.last().is_none_or(|last| last.up_to != u32::MAX) {
                return refuse("the last tile shape must serve every size".into());
            }
            let tiles = shapes.tiles.iter().map(|sized| sized.shape).chain(shapes.ring).chain(shapes.few_bins);
            let plain = TileShape::new(Shape { threads: limits.profile.plain_threads, items: 1 });
            tiles.chain([plain]).try_for_each(|tile| check_tile(tile, kind, limits))?;
            check_segments(shapes.segments, kind, limits)?;
        }
        Ok(())
    }
}

/// Checks a workgroup that ranks and scatters a tile.
pub(crate) fn check_tile(tile: TileShape, kind: ItemKind, limits: &Limits<'_>) -> Result<()> {
    let shape = tile.shape;
    limits.check_group(shape)?;
    let bytes = if kind == ItemKind::Pairs { limits.bytes_by_labels(shape) } else { limits.bytes_by_digits(shape) };
    limits.check_memory(&shape, shape.items != 0, bytes)
}

fn check_segments(segments: SmallShape, kind: ItemKind, limits: &Limits<'_>) -> Result<()> {
    limits.check_small(segments, kind.checked_words())?;
    // A window has a bit for each item that may begin a segment. There are at most as many words of bits as threads to
    // sum them. Each thread's own items are one word.
    let Shape { threads, items } = segments.shape;
    if segments.segments_window() == 0 || items > 32 {
        return refuse(format!("{segments} does not suit segments: at least 64 items, at most 32 a thread"));
    }
    // Shared memory also holds the number of segments before each word. The check uses the longest keys: a request of
    // any format must find its shape.
    let most_words = if kind == ItemKind::Long { MAX_KEY_WORDS + 1 } else { kind.checked_words() };
    let bytes = match segments.method {
        SmallMethod::Radix => limits.bytes_by_digits(segments.shape) + segments.tile() / 4 + threads,
        SmallMethod::Buckets => {
            return refuse(format!("{segments} does not suit segments: they go by digits or by merging"));
        }
        SmallMethod::Merge => limits.bytes_of_merged_segments(segments, most_words),
    };
    limits.check_memory(&segments, true, bytes)
}

impl Shapes {
    fn of_nvidia(device: Measured, kind: ItemKind) -> Self {
        let compute = device == Measured::NvidiaCompute;
        // Measured with two or more workgroups at once on a multiprocessor.
        let few_bins = |items| compute.then_some(TileShape::new(Shape::new(384, items)));
        let (tiles, ring, few_bins) = match (kind, compute) {
            (ItemKind::Keys, true) => (NVIDIA_COMPUTE_KEYS, Some(NVIDIA_RING_KEYS), few_bins(20)),
            (ItemKind::Keys, false) => (NVIDIA_GRAPHICS_KEYS, Some(NVIDIA_RING_KEYS), None),
            (ItemKind::Pairs, true) => (NVIDIA_COMPUTE_PAIRS, Some(NVIDIA_RING_PAIRS), few_bins(16)),
            (ItemKind::Pairs, false) => (NVIDIA_GRAPHICS_PAIRS, Some(NVIDIA_RING_PAIRS), None),
            (ItemKind::Long, _) => (NVIDIA_LONG, None, None),
        };
        let segments = SmallShape::merge(128, if kind == ItemKind::Long { 8 } else { 16 });
        Self { tiles: tiles.iter().copied().collect(), ring, few_bins, segments }
    }
}

const NVIDIA_RING_KEYS: TileShape = SizedTile::verified(u32::MAX, 256, 36).shape;
const NVIDIA_RING_PAIRS: TileShape = TileShape::new(Shape::new(384, 22));

// Specialized by the library, normally distributed floats take 2 % longer with 384 threads. Other keys take the same
// time.
const NVIDIA_COMPUTE_KEYS: &[SizedTile] = &[
    SizedTile::verified(1 << 17, 512, 4),
    SizedTile::verified(1 << 18, 512, 8),
    SizedTile::verified(1 << 25, 384, 23).swizzled().driver_specialized(),
    SizedTile::verified_by_source_index(u32::MAX, 256, 36).swizzled(),
];
const NVIDIA_COMPUTE_PAIRS: &[SizedTile] = &[
    SizedTile::verified_by_source_index(1 << 18, 384, 8),
    SizedTile::verified_by_source_index(1 << 20, 384, 22),
    SizedTile::new(u32::MAX, 384, 22),
];
const NVIDIA_GRAPHICS_KEYS: &[SizedTile] = &[
    SizedTile::verified(1 << 17, 512, 4),
    SizedTile::verified(1 << 18, 512, 8),
    SizedTile::verified(u32::MAX, 384, 23).swizzled().persistent(),
];
const NVIDIA_GRAPHICS_PAIRS: &[SizedTile] = &[
    SizedTile::verified_by_source_index(1 << 17, 512, 4),
    SizedTile::verified_by_source_index(1 << 18, 384, 8),
    SizedTile::verified_by_source_index(u32::MAX, 384, 22).persistent(),
];
const NVIDIA_LONG: &[SizedTile] =
    &[SizedTile::new(1 << 18, 512, 4), SizedTile::new(1 << 21, 256, 24), SizedTile::new(u32::MAX, 256, 36)];
