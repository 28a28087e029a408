//! Settings of splits in profiles: shapes of counted splits and of single-dispatch splits.

use crate::Result;
use crate::core::settings::settings;
use crate::profile::radix::check_tile;
use crate::tuning::{Basis, ItemKind, Limits, Shape, SizedTile, by_item_kind, refuse};
use arrayvec::ArrayVec;

/// Most items of a single-dispatch split: the work is their square.
const MOST_SINGLE_DISPATCH: u32 = 1 << 18;

settings! {
    /// The shapes of one kind of items.
    pub struct Shapes {
        /// Tiles of splits by [`Strategy::ReduceThenScan`](crate::Strategy), by ascending size. With many bins, the
        /// last tile of radix passes replaces the last one here. Empty: the tiles of radix passes serve these splits,
        /// too.
        pub counted: ArrayVec<SizedTile, 4>,
        /// Tiles of single-dispatch splits, by ascending size, up to the last one's size. Each workgroup computes the
        /// full histogram: the work grows with the square of the count. In batches, they serve at most four tiles.
        pub single_dispatch: ArrayVec<SizedTile, 4>,
    }
}

settings! {
    /// Settings of splits.
    pub struct Settings {
        /// Shapes for keys of one word without values.
        pub keys: Shapes,
        /// Shapes for keys of one word with values.
        pub pairs: Shapes,
        /// Shapes for keys of several words.
        pub long: Shapes,
    }
}

by_item_kind!(Settings, Shapes);

pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[
    ("*.counted", "split.*.counted"),
    ("*.single_dispatch", "split.*.single_dispatch"),
    ("*.recounted", "split.*.single_dispatch"),
];

impl Settings {
    pub(crate) fn of(basis: &Basis<'_>) -> Self {
        let Basis { facts, shape: Shape { threads, items }, measured, .. } = *basis;
        let few = items.min(4);
        let portable = [SizedTile::new(threads * few * if facts.is_cpu { 4 } else { 16 }, threads, few)];
        let [keys, pairs, long] = ItemKind::ALL.map(|kind| {
            let (counted, single_dispatch) = match (measured, kind) {
                (None, _) => (&[][..], &portable[..]),
                (Some(_), ItemKind::Keys) => (NVIDIA_COUNTED_KEYS, NVIDIA_SINGLE_DISPATCH),
                (Some(_), ItemKind::Pairs) => (NVIDIA_COUNTED_PAIRS, NVIDIA_SINGLE_DISPATCH),
                (Some(_), ItemKind::Long) => (&[][..], NVIDIA_SINGLE_DISPATCH),
            };
            let [counted, single_dispatch] = [counted, single_dispatch].map(|tiles| tiles.iter().copied().collect());
            Shapes { counted, single_dispatch }
        });
        Self { keys, pairs, long }
    }

    pub(crate) fn check(&self, limits: &Limits<'_>) -> Result<()> {
        for kind in ItemKind::ALL {
            let Shapes { counted, single_dispatch } = &self[kind];
            if counted.last().is_some_and(|last| last.up_to != u32::MAX) {
                return refuse("the last tile shape of what is counted must serve every size".into());
            }
            counted.iter().try_for_each(|sized| check_tile(sized.shape, kind, limits))?;
            single_dispatch.iter().try_for_each(|sized| check_single_dispatch(sized, limits))?;
        }
        Ok(())
    }
}

fn check_single_dispatch(SizedTile { up_to, shape }: &SizedTile, limits: &Limits<'_>) -> Result<()> {
    limits.check_group(shape.shape)?;
    if *up_to > MOST_SINGLE_DISPATCH {
        return refuse(format!("{up_to} items exceed {MOST_SINGLE_DISPATCH}, the limit of single-dispatch splits"));
    }
    let Shape { threads, items } = shape.shape;
    if *shape != shape.shape.into() {
        return refuse(format!("{shape} does not suit single-dispatch splits: threads x items only"));
    }
    // Each thread has a word with a bit for each of its items.
    if items > 32 {
        return refuse(format!("{shape} does not suit single-dispatch splits: at most 32 items a thread"));
    }
    limits.check_memory(shape, items != 0, limits.bytes_of_redundant_histogram(threads))
}

const NVIDIA_COUNTED_KEYS: &[SizedTile] =
    &[SizedTile::new(1 << 20, 512, 8), SizedTile::new(1 << 23, 256, 16), SizedTile::new(u32::MAX, 256, 16)];
// Specialized by the library, pairs take 3 to 5 % longer from 2^25 on, and keys 4 % less.
const NVIDIA_COUNTED_PAIRS: &[SizedTile] = &[
    SizedTile::new(1 << 20, 512, 8),
    SizedTile::new(1 << 23, 256, 16).driver_specialized(),
    SizedTile::new(u32::MAX, 256, 16).driver_specialized(),
];
const NVIDIA_SINGLE_DISPATCH: &[SizedTile] = &[SizedTile::new(1 << 13, 512, 1), SizedTile::new(1 << 15, 1024, 1)];
