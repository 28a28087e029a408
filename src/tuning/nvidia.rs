//! The built-in profile of NVIDIA's devices.

use super::{Profile, Ranking, Shape, SizedMerge, SizedRank, SizedTile, SmallShape, TileShape, shape, shapes, sized};
use crate::device::DeviceFacts;

/// Sets what was measured in the portable profile of a device.
pub(super) fn set(profile: &mut Profile, facts: &DeviceFacts) {
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
    profile.driver_specializes_subgroup_tiles = true;
    profile.plain_threads = 512;
    profile.histogram_groups = 528;
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
// Specialized by the library, normally distributed floats take 2 % longer with 384 threads. Other keys take the same
// time.
const NVIDIA_COMPUTE_KEYS: &[SizedTile] = &[
    verified(1 << 17, 512, 4),
    verified(1 << 18, 512, 8),
    driver_specialized(swizzled(verified(1 << 25, 384, 23))),
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

const fn merges(up_to: u32, run: Shape, window: Shape) -> SizedMerge {
    SizedMerge { up_to, run, window }
}

const fn ranks(above: u32, above_in_place: u32, up_to: u32, threads: u32, items: u32) -> SizedRank {
    SizedRank { above, above_in_place, up_to, threads, items }
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
