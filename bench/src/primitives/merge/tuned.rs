//! The shapes of merges that `--tune` searches: fused merges are for small counts, tiles for large ones.

use super::families::{KEYS, PAIRS, long_keys};
use super::workload::Merge;
use crate::workload::Crossover;
use std::sync::Arc;
use trommel::MergerInfo;
use trommel::tuning::Shape;

/// Items of both sequences. On a CPU the first two.
const SIZES: &[u32] =
    &[1 << 10, 1 << 11, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 23, 1 << 24, 1 << 26];

const THREADS: &[u32] = &[64, 96, 128, 192, 256, 384, 512];
/// An odd number puts the first items of neighboring threads into different banks of shared memory.
const ITEMS: &[u32] = &[3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 27, 31];
const TILES: std::ops::RangeInclusive<u32> = 384..=8 << 10;

/// The shapes of a profile, and the merges that have them.
const KINDS: [(&str, MergerInfo); 4] = [
    ("merge.keys", KEYS),
    ("merge.pairs", PAIRS),
    ("merge.long", long_keys(KEYS)),
    ("merge.long_pairs", long_keys(PAIRS)),
];

pub(super) fn crossovers() -> Vec<Crossover> {
    let all = THREADS.iter().flat_map(|&threads| ITEMS.iter().map(move |&items| Shape { threads, items }));
    let shapes: Vec<_> = all.filter(|shape| TILES.contains(&shape.tile())).collect();
    let crossover = |(kind, info)| Crossover {
        kind,
        work: Arc::new(Merge::new(info)),
        small: format!("{kind}.fused"),
        large: format!("{kind}.tile"),
        up_to: format!("{kind}.fused_up_to"),
        sizes: SIZES,
        shapes: shapes.clone(),
    };
    KINDS.map(crossover).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::any_profile;

    #[test]
    fn tuned_merges_take_the_shapes_that_are_searched() {
        for ((_, info), Crossover { small, large, up_to, .. }) in KINDS.into_iter().zip(crossovers()) {
            let lines = [(small, "64x3"), (large, "96x5"), (up_to, "7")];
            let profile = lines.iter().fold(any_profile(), |profile, (name, value)| {
                profile.with_line(name, value).unwrap_or_else(|error| panic!("{name}: {error}"))
            });
            let merge = &profile.merge;
            let shapes = match (info.key.bits() > 32, info.value.size()) {
                (false, 0) => &merge.keys,
                (false, _) => &merge.pairs,
                (true, 0) => &merge.long,
                (true, _) => &merge.long_pairs,
            };
            assert_eq!([shapes.fused, shapes.tile].map(|shape| shape.to_string()), ["64x3", "96x5"], "{info:?}");
            assert_eq!(shapes.fused_up_to, 7, "{info:?}");
        }
    }
}
