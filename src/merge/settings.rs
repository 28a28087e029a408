//! Settings of merges in profiles.

use crate::Result;
use crate::core::settings::settings;
use crate::shared::MAX_KEY_WORDS;
use crate::tuning::{Basis, Limits, Shape, SizedMerge, refuse};

/// Most items of a merge sort: the product with the number of merged runs must fit a `u32`.
const MOST_MERGED: u32 = 1 << 26;

settings! {
    /// The shapes of merges of two sequences, for keys of one word. Longer keys have fewer items a thread.
    pub struct Shapes {
        /// The tile of the output that one workgroup merges.
        pub tile: Shape = PORTABLE,
        /// As `tile`, where each workgroup also finds the items of its tile: one dispatch instead of two.
        pub fused: Shape = PORTABLE,
        /// Largest maximum count that is merged by a single dispatch.
        pub fused_up_to: u32 = 1 << 16,
    }
}

settings! {
    /// Settings of merges.
    pub struct Settings {
        /// Number of runs that merge sorts merge into one: a power of two.
        pub fan: u32,
        /// Shapes for keys without values.
        pub keys: Shapes,
        /// Shapes for keys with values.
        pub pairs: Shapes,
    }
}

/// Every device can run it.
const PORTABLE: Shape = Shape { threads: 128, items: 7 };

pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[("merge_fan", "merge.fan")];

impl Settings {
    pub(crate) fn of(basis: &Basis<'_>) -> Self {
        let Basis { facts, shape: Shape { threads, .. }, measured, .. } = *basis;
        // With 15 items a thread, 256 threads take 15.1 KiB of shared memory.
        let portable = Shape { threads, items: if facts.is_cpu { 7 } else { 15 } };
        let shapes = match measured {
            // The shapes of an experiment on an H200 with other kernels of this structure.
            Some(_) => Shapes {
                tile: Shape::new(256, 15),
                fused: Shape::new(128, 15),
                fused_up_to: 1 << 21,
            },
            None => Shapes { tile: portable, fused: portable, fused_up_to: 1 << 16 },
        };
        Self { fan: 16, keys: shapes.clone(), pairs: shapes }
    }

    /// The shapes for items with so many words of values.
    #[cfg_attr(not(feature = "merge"), allow(dead_code, reason = "profiles are the same in every build"))]
    pub(crate) fn shapes(&self, value_words: u32) -> &Shapes {
        if value_words == 0 { &self.keys } else { &self.pairs }
    }

    pub(crate) fn check(&self, limits: &Limits<'_>) -> Result<()> {
        for Shapes { tile, fused, .. } in [&self.keys, &self.pairs] {
            for shape in [tile, fused] {
                limits.check_group(*shape)?;
                // More words of a key have fewer items, so they take no more memory than rounding adds.
                let bytes = (1..=MAX_KEY_WORDS).flat_map(|words| {
                    [tile_bytes(shape.of_words(words), words), section_bytes(shape.of_words(2 * words), words)]
                });
                let bytes = bytes.max();
                limits.check_memory(shape, shape.items != 0, bytes.unwrap_or(0))?;
            }
        }
        Ok(())
    }

    /// Checks that runs can be merged with these shapes. Whether their items fit shared memory depends on the format
    /// and is checked later.
    pub(crate) fn check_shapes(&self, sized: &SizedMerge, limits: &Limits<'_>) -> Result<()> {
        for shape in [sized.run, sized.window] {
            let Shape { threads, items } = shape;
            if items == 0 || limits.check_group(shape).is_err() {
                return refuse(format!("{threads} x {items} merges no items"));
            }
        }
        let (fan, plain_threads) = (self.fan, limits.profile.plain_threads);
        if ![2, 4, 8, 16, 32].contains(&fan) {
            return refuse(format!("{fan} runs at a time are not a power of two from 2 to 32"));
        }
        if !plain_threads.is_multiple_of(fan) {
            return refuse(format!("{plain_threads} plain threads are not a multiple of {fan} runs"));
        }
        let step = sized.step(fan);
        if sized.spacing(fan) == 0 || !sized.run.tile().is_multiple_of(step) {
            return refuse(format!("{sized} has samples of every {step} items, which do not fit runs or windows"));
        }
        if sized.up_to > MOST_MERGED {
            return refuse(format!("{sized}: at most {MOST_MERGED} items are merged"));
        }
        Ok(())
    }
}

/// Bytes of shared memory of a workgroup that merges a tile: see glsl/merge/tiles.comp.
fn tile_bytes(shape: Shape, key_words: u32) -> u32 {
    4 * (key_words * (shape.tile() + 32 / key_words)) + 16
}

/// The same of a workgroup that holds a tile of either sequence: see glsl/merge/sections.comp.
fn section_bytes(shape: Shape, key_words: u32) -> u32 {
    4 * 2 * key_words * shape.tile() + 16
}

impl Shape {
    /// The shape for keys of so many words: about the same number of words.
    pub(crate) fn of_words(self, words: u32) -> Self {
        Self { items: (self.items / words).max(1), ..self }
    }
}
