//! Settings of sorts in profiles: shapes for small sorts, and the sizes at which the algorithm changes.

use crate::Result;
use crate::core::settings::settings;
use crate::shared::{DIGITS_COUNTED, FINISH_MARGIN, MAX_KEY_WORDS, PREFIX_BINS, RADIX};
use crate::tuning::{
    Basis, ItemKind, Limits, Ranking, SHARED_MEMORY_OVERHEAD, Shape, SizedMerge, SizedRank, SmallShape, by_item_kind,
    ranked_chunk, refuse,
};
use arrayvec::ArrayVec;

/// Most items of all-pairs ranking: the work is their square.
const MOST_RANKED: u32 = 1 << 14;
/// Most items of a merge sort by keys: the product with the number of merged runs must fit a `u32`.
const MOST_MERGED: u32 = 1 << 26;

settings! {
    /// The shapes of one kind of items.
    pub struct Shapes {
        /// All-pairs ranking, by ascending size. It takes precedence over the other algorithms. It is used for problems
        /// that are recorded alone and without segments.
        pub ranked: ArrayVec<SizedRank, 4>,
        /// One-workgroup sorts, by ascending tile: a problem uses the first one that it fits.
        pub small: ArrayVec<SmallShape, 4>,
        /// Merge sorts, by ascending size, up to the last one's size. Items that exceed shared memory, and segments,
        /// are sorted by tiles instead.
        pub merges: ArrayVec<SizedMerge, 4>,
        /// Merge sorts in the order of a user-defined comparator, of any size.
        pub by_comparator: SizedMerge = PORTABLE,
    }
}

settings! {
    /// Settings of sorts.
    pub struct Settings {
        /// Shapes for keys of one word without values.
        pub keys: Shapes,
        /// Shapes for keys of one word with values.
        pub pairs: Shapes,
        /// Shapes for keys of several words.
        pub long: Shapes,
        /// Shape of a workgroup that sorts items with equal prefixes.
        pub finish: Shape,
        /// Largest maximum count of a sort by key prefixes; 0: never.
        pub prefixes_up_to: u32,
        /// Ranking in one-workgroup sorts of keys of one word: of keys without values if sorted by all their bits, of
        /// others always.
        pub small_ranking: Ranking,
    }
}

/// Every device can run it, with items of any number of words.
const PORTABLE: SizedMerge = any_count(Shape::new(128, 4), Shape::new(128, 4));

by_item_kind!(Settings, Shapes);

pub(crate) const FORMER_NAMES: &[(&str, &str)] = &[
    ("*.ranked", "sort.*.ranked"),
    ("*.small", "sort.*.small"),
    ("*.merges", "sort.*.merges"),
    ("sort_finish", "sort.finish"),
    ("prefixes_up_to", "sort.prefixes_up_to"),
    ("small_ranking", "sort.small_ranking"),
];

impl Settings {
    pub(crate) fn of(basis: &Basis<'_>) -> Self {
        let Shape { threads, items } = basis.shape;
        if basis.measured.is_some() {
            return Self::of_nvidia();
        }
        let small = [SmallShape::radix(threads, items.min(4)), SmallShape::radix(threads, items)];
        let [keys, pairs, long] = ItemKind::ALL.map(|_| Shapes::new(&[], &small, &[], PORTABLE));
        let (finish, small_ranking) = (basis.shape, Ranking::Ballots);
        Self { keys, pairs, long, finish, prefixes_up_to: 0, small_ranking }
    }

    fn of_nvidia() -> Self {
        Self {
            keys: Shapes::new(NVIDIA_RANKED, NVIDIA_SMALL_KEYS, &[], NVIDIA_BY_COMPARATOR),
            pairs: Shapes::new(NVIDIA_RANKED, NVIDIA_SMALL, NVIDIA_MERGE_PAIRS, NVIDIA_BY_COMPARATOR),
            long: Shapes::new(&[], NVIDIA_SMALL, NVIDIA_MERGE_LONG, NVIDIA_BY_COMPARATOR),
            finish: Shape::new(256, 4),
            prefixes_up_to: 1 << 29,
            small_ranking: Ranking::Verified,
        }
    }

    pub(crate) fn check(&self, limits: &Limits<'_>) -> Result<()> {
        for kind in ItemKind::ALL {
            let Shapes { ranked, small, merges, by_comparator } = &self[kind];
            small.iter().try_for_each(|small| limits.check_small(*small, kind.checked_words()))?;
            merges.iter().try_for_each(|sized| check_merge(sized, limits))?;
            check_by_comparator(by_comparator, kind, limits)?;
            ranked.iter().try_for_each(|ranked| check_rank(*ranked, limits))?;
        }
        if self.prefixes_up_to != 0 {
            let Shape { threads, items } = self.finish;
            limits.check_group(self.finish)?;
            // Keys of maximum length, with the margins of a tile; and the bins of prefixes besides the digits'
            // counters.
            let bytes = 4 * MAX_KEY_WORDS * (threads * items + 2 * FINISH_MARGIN);
            limits.check_memory(&self.finish, items != 0, bytes)?;
            let bytes = 4 * (DIGITS_COUNTED * RADIX + PREFIX_BINS) + SHARED_MEMORY_OVERHEAD;
            limits.check_memory(&"a histogram with prefixes", true, bytes)?;
        }
        Ok(())
    }
}

/// Checks a merge sort by keys.
fn check_merge(sized: &SizedMerge, limits: &Limits<'_>) -> Result<()> {
    limits.profile.merge.check_shapes(sized, limits)?;
    if sized.up_to > MOST_MERGED {
        return refuse(format!("{sized}: at most {MOST_MERGED} items are merged"));
    }
    Ok(())
}

/// Checks a merge sort by a comparator, which serves all counts and all formats.
fn check_by_comparator(sized: &SizedMerge, kind: ItemKind, limits: &Limits<'_>) -> Result<()> {
    limits.profile.merge.check_shapes(sized, limits)?;
    if sized.up_to != u32::MAX {
        return refuse(format!("{sized}: sorts by a comparator have no other shape for larger counts"));
    }
    let words = if kind == ItemKind::Long { MAX_KEY_WORDS + 1 } else { kind.checked_words() };
    limits.check_memory(sized, true, sized.bytes(limits.profile.merge.fan, words))
}

/// Checks that items can be ranked with this shape.
fn check_rank(ranked: SizedRank, limits: &Limits<'_>) -> Result<()> {
    let SizedRank { above, above_in_place, up_to, threads, items } = ranked;
    limits.check_group(Shape { threads, items: 1 })?;
    if !items.is_power_of_two() || items < 4 || !threads.is_multiple_of(items) {
        return refuse(format!("{ranked}: {items} is not a power of two from 4 on that divides {threads}"));
    }
    if above.min(above_in_place) >= up_to || up_to > MOST_RANKED {
        return refuse(format!("{ranked} ranks no items or more than {MOST_RANKED} items"));
    }
    // A workgroup has all its own items in shared memory at once.
    let shared_memory = limits.facts.shared_memory;
    let chunk = ranked_chunk(threads, MAX_KEY_WORDS, shared_memory);
    if chunk < items {
        return refuse(format!("{ranked} has room for {chunk} keys in {shared_memory} bytes of shared memory"));
    }
    Ok(())
}

impl Shapes {
    fn new(
        ranked: &[SizedRank],
        small: &[SmallShape],
        merges: &[SizedMerge],
        by_comparator: SizedMerge,
    ) -> Self {
        Self {
            ranked: ranked.iter().copied().collect(),
            small: small.iter().copied().collect(),
            merges: merges.iter().copied().collect(),
            by_comparator,
        }
    }
}

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
const NVIDIA_MERGE_PAIRS: &[SizedMerge] = &[merges(1 << 14, 4)];
const NVIDIA_BY_COMPARATOR: SizedMerge = any_count(Shape::new(256, 4), Shape::new(256, 8));
const NVIDIA_MERGE_LONG: &[SizedMerge] = &[merges(1 << 16, 4), merges(1 << 18, 8)];

/// Runs of 256x4 items, in windows of 256 threads.
const fn merges(up_to: u32, window_items: u32) -> SizedMerge {
    SizedMerge { up_to, run: Shape::new(256, 4), window: Shape::new(256, window_items) }
}

const fn any_count(run: Shape, window: Shape) -> SizedMerge {
    SizedMerge { up_to: u32::MAX, run, window }
}

const fn ranks(above: u32, above_in_place: u32, up_to: u32, threads: u32, items: u32) -> SizedRank {
    SizedRank { above, above_in_place, up_to, threads, items }
}
