//! Settings of merges in profiles.

use crate::Result;
use crate::core::settings::settings;
use crate::shared::MAX_KEY_WORDS;
use crate::tuning::{Basis, Limits, Shape, SizedMerge, refuse};

settings! {
    /// The shapes of merges of two sequences, for keys of one word. Longer keys have fewer items a thread: about as
    /// many words.
    pub struct Shapes {
        /// The tile that one workgroup merges, or of which it finds the result of a set operation.
        pub tile: Shape = PORTABLE,
        /// As `tile`, where each workgroup also finds the items of its tile: one dispatch instead of two. Workgroups of
        /// searches have as many threads.
        pub fused: Shape = PORTABLE,
        /// Largest maximum count of keys of one or two words that is merged by a single dispatch. Of longer keys, half
        /// as many.
        pub fused_up_to: u32 = 1 << 16,
    }
}

settings! {
    /// Settings of merges.
    pub struct Settings {
        /// Number of runs that merge sorts merge into one: a power of two.
        pub fan: u32,
        /// Shapes for keys of one word without values.
        pub keys: Shapes,
        /// Shapes for keys of one word with values.
        pub pairs: Shapes,
        /// Shapes for keys of several words without values.
        pub long: Shapes,
        /// Shapes for keys of several words with values.
        pub long_pairs: Shapes,
    }
}

/// Every device can run it.
const PORTABLE: Shape = Shape { threads: 128, items: 7 };

pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[("merge_fan", "merge.fan")];

impl Shapes {
    /// The shapes of a tile and of a fused tile, each as threads and items a thread.
    const fn new(tile: (u32, u32), fused: (u32, u32), fused_up_to: u32) -> Self {
        let (tile, fused) = (Shape::new(tile.0, tile.1), Shape::new(fused.0, fused.1));
        Self { tile, fused, fused_up_to }
    }
}

impl Settings {
    pub(crate) fn of(basis: &Basis<'_>) -> Self {
        let Basis { facts, shape: Shape { threads, .. }, measured, .. } = *basis;
        if measured.is_some() {
            return Self {
                fan: 16,
                keys: Shapes::new((192, 15), (128, 15), 1 << 22),
                pairs: Shapes::new((128, 9), (128, 9), 1 << 21),
                long: Shapes::new((128, 31), (128, 15), 1 << 21),
                long_pairs: Shapes::new((128, 15), (128, 15), 1 << 21),
            };
        }
        // With 256 threads and emulated subgroups, at most 15.4 KiB of shared memory.
        let of = |items| Shapes::new((threads, items), (threads, items), 1 << 16);
        let keys = of(if facts.is_cpu { 7 } else { 13 });
        Self { fan: 16, keys, pairs: of(5), long: of(7), long_pairs: of(7) }
    }

    /// The shapes for keys and values of so many words.
    pub(crate) fn shapes(&self, key_words: u32, value_words: u32) -> &Shapes {
        match (key_words, value_words) {
            (1, 0) => &self.keys,
            (1, _) => &self.pairs,
            (_, 0) => &self.long,
            _ => &self.long_pairs,
        }
    }

    pub(crate) fn check(&self, limits: &Limits<'_>) -> Result<()> {
        // Of marks: see glsl/merge/mark_ranks.comp.
        let marking = Shape { threads: limits.profile.plain_threads, items: 1 };
        limits.check_memory(&marking, true, 5 * marking.threads + limits.emulation_bytes(marking.threads) + 20)?;
        let (one_word, several) = (1..=1, 2..=MAX_KEY_WORDS);
        let kinds = [(&one_word, false), (&one_word, true), (&several, false), (&several, true)];
        for (key_words, has_values) in kinds {
            let Shapes { tile, fused, .. } = self.shapes(*key_words.start(), has_values.into());
            for (shape, is_tile) in [(tile, true), (fused, false)] {
                limits.check_group(*shape)?;
                let bytes = key_words.clone().flat_map(|words| {
                    let value_words = if has_values { 1 + u32::from(is_tile) } else { 0 };
                    let (of_one, of_either) = (shape.of_words(words), shape.of_words(2 * words));
                    let section = if is_tile { section_bytes(of_either, words) } else { 0 };
                    // Of a set operation: see glsl/merge/sets.comp.
                    let sums = shape.threads + limits.emulation_bytes(shape.threads);
                    let set = if is_tile { tile_bytes(of_one, words, value_words.min(1)) + sums } else { 0 };
                    // Of an update: a bit for each item, and a number for each word of bits.
                    let marks = if is_tile { 8 * (of_one.tile() / 32 + 2) } else { 0 };
                    [tile_bytes(of_one, words, value_words) + marks, section, set]
                });
                limits.check_memory(shape, shape.items != 0, bytes.max().unwrap_or(0))?;
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
        Ok(())
    }
}

/// Bytes of shared memory of a workgroup that merges a tile: see glsl/merge/tiles.comp. `value_words`: words of each
/// item besides its key, for its position and its value. The rest is for the ranges of a search or the state of a
/// look-back, and for a word of each array that is not used.
fn tile_bytes(shape: Shape, key_words: u32, value_words: u32) -> u32 {
    4 * (key_words * (shape.tile() + 32 / key_words) + value_words * shape.tile()) + 28
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
