//! The twin of the merge in plain Rust: the same passes under the same names. Tests compare the kernels with it. It is
//! also the shortest description of them.
//!
//! The co-rank of an output index is explained in: Kirk and Hwu, "Programming Massively Parallel Processors", chapter
//! "Merge". (Siebert and Träff, "Efficient MPI implementation of a parallel, stable merge algorithm", 2012.)

use super::MergeOperation;
use std::cmp::Ordering;
use std::ops::Range;

/// Returns the co-rank of output index `k`: how many of the first `k` items of the merged output come from `a`. The
/// other `k - i` come from `b`.
///
/// Both sequences are sorted. Of equal items, those of `a` come first. So there is one `i` with
/// - `a[i - 1] <= b[j]`: the last item from `a` does not follow the next one from `b`, and
/// - `b[j - 1] < a[i]`: the last item from `b` precedes the next one from `a`,
///
/// where `j = k - i`. Conditions on items that do not exist hold.
///
/// The function searches for `i` as the kernels do, with one thread. Co-ranks divide a merge into independent parts:
///
/// ```
/// use trommel::merge::co_rank;
///
/// let (a, b) = ([1, 4, 6], [2, 3, 5, 7]);
/// // The first three items of the output, 1 2 3: one from `a`, two from `b`.
/// assert_eq!(co_rank(3, &a, &b), 1);
/// // The next three, 4 5 6: the second and the third from `a`, the third from `b`.
/// assert_eq!(co_rank(6, &a, &b), 3);
/// // Of equal items, those of `a` come first.
/// assert_eq!(co_rank(2, &[5, 5], &[5, 5]), 2);
/// ```
///
/// # Panics
/// If `k` exceeds the number of items.
pub fn co_rank<T: Ord>(k: usize, a: &[T], b: &[T]) -> usize {
    co_rank_by(k, a, b, T::lt)
}

/// As [`co_rank`], in the order of a comparator: `less(x, y)` is whether `x` comes before `y`.
///
/// ```
/// use trommel::merge::co_rank_by;
///
/// // In descending order, the first two items are 7 and 6.
/// assert_eq!(co_rank_by(2, &[6, 4, 1], &[7, 5, 3, 2], |x, y| x > y), 1);
/// ```
///
/// # Panics
/// If `k` exceeds the number of items.
pub fn co_rank_by<T>(k: usize, a: &[T], b: &[T], less: impl Fn(&T, &T) -> bool) -> usize {
    assert!(k <= a.len() + b.len(), "index {k} is beyond the output");
    let (mut low, mut high) = (k.saturating_sub(b.len()), k.min(a.len()));
    while low < high {
        let i = low + (high - low) / 2;
        // Item i of a is among the first k, unless the last candidate of b precedes it.
        if less(&b[k - 1 - i], &a[i]) { high = i } else { low = i + 1 }
    }
    low
}

/// `co_ranks`: the number of items of `a` before each tile of the output.
pub fn co_ranks<T: Ord>(a: &[T], b: &[T], tile: usize) -> Vec<usize> {
    (0..a.len() + b.len()).step_by(tile).map(|k| co_rank(k, a, b)).collect()
}

/// `co_ranks` of segments: segment `s` of the output is the merge of items `offsets_a[s]..offsets_a[s + 1]` of `a` and
/// `offsets_b[s]..offsets_b[s + 1]` of `b`.
pub fn segment_co_ranks<T: Ord>([a, b]: [&[T]; 2], [offsets_a, offsets_b]: [&[usize]; 2], tile: usize) -> Vec<usize> {
    let segments = offsets_a.len() - 1;
    let end = offsets_a[segments] + offsets_b[segments];
    let rank = |k: usize| {
        // The last segment that begins at or before the diagonal.
        let s = (0..segments).rposition(|s| offsets_a[s] + offsets_b[s] <= k).unwrap_or(0);
        let start = offsets_a[s] + offsets_b[s];
        let (of_a, of_b) = (&a[offsets_a[s]..offsets_a[s + 1]], &b[offsets_b[s]..offsets_b[s + 1]]);
        offsets_a[s] + co_rank(k - start, of_a, of_b)
    };
    (0..end).step_by(tile).map(rank).collect()
}

/// `mark_ranks`: for each 32 items, and for the end, a word with a bit for each marked one of them, and the number of
/// marked items before them.
pub fn mark_ranks(marked: &[bool]) -> Vec<[u32; 2]> {
    let mut before = 0;
    let row = |word: usize| {
        let marks = marked.iter().skip(32 * word).take(32).enumerate();
        let bits = marks.fold(0u32, |bits, (i, marked)| bits | u32::from(*marked) << i);
        let row = [bits, before];
        before += bits.count_ones();
        row
    };
    (0..=marked.len() / 32).map(row).collect()
}

/// The number of marked items before an item, or before the end.
pub fn marked_before(marked: &[[u32; 2]], item: usize) -> usize {
    let [bits, before] = marked[item / 32];
    (before + (bits & !(u32::MAX << (item % 32))).count_ones()) as usize
}

/// Merges two sorted sequences one item after the other. Of equal items, those of `a` come first.
pub fn merge_sequential<T: Ord + Clone>(a: &[T], b: &[T]) -> Vec<T> {
    merge_sequential_by(a, b, T::lt)
}

/// As [`merge_sequential`], in the order of a comparator.
pub fn merge_sequential_by<T: Clone>(a: &[T], b: &[T], less: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if less(&b[j], &a[i]) {
            merged.push(b[j].clone());
            j += 1;
        } else {
            merged.push(a[i].clone());
            i += 1;
        }
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

/// `tiles`: merges the items of each tile of the output.
pub fn tiles<T: Ord + Clone>(a: &[T], b: &[T], tile: usize, co_ranks: &[usize]) -> Vec<T> {
    tiles_by(a, b, tile, co_ranks, T::lt)
}

/// As [`tiles`], in the order of a comparator.
pub fn tiles_by<T: Clone>(a: &[T], b: &[T], tile: usize, co_ranks: &[usize], less: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let count = a.len() + b.len();
    let mut merged = Vec::with_capacity(count);
    for (t, first_a) in co_ranks.iter().enumerate() {
        let output = t * tile..count.min((t + 1) * tile);
        let end_a = co_ranks.get(t + 1).map_or(a.len(), |end| *end);
        let (of_a, of_b): (Range<usize>, _) = (*first_a..end_a, output.start - first_a..output.end - end_a);
        merged.extend(merge_sequential_by(&a[of_a], &b[of_b], &less));
    }
    merged
}

/// `tiles` of an update: merges `b` and those items of `a` that are not marked. The first item of a tile has its place
/// in the merge of all items, less the marked ones before it.
pub fn update_tiles<T: Ord + Clone>(a: &[T], b: &[T], tile: usize, co_ranks: &[usize], marked: &[[u32; 2]]) -> Vec<T> {
    let is_left = |i: usize| marked[i / 32][0] >> (i % 32) & 1 == 0;
    let mut updated = Vec::new();
    for (t, first_a) in co_ranks.iter().enumerate() {
        let end = (a.len() + b.len()).min((t + 1) * tile);
        let end_a = co_ranks.get(t + 1).map_or(a.len(), |end| *end);
        let left: Vec<T> = (*first_a..end_a).filter(|i| is_left(*i)).map(|i| a[i].clone()).collect();
        assert_eq!(updated.len(), t * tile - marked_before(marked, *first_a), "tiles follow one another");
        updated.extend(merge_sequential(&left, &b[t * tile - first_a..end - end_a]));
    }
    updated
}

/// Returns the balanced form of a cut of both sequences into items before and behind a diagonal: the cut of the same
/// diagonal, or of the next one.
///
/// A merge takes all copies of an item in `a` before those in `b`. The balanced order takes them alternately: the first
/// copy in `a`, the first in `b`, the second in `a`, and so on; then the rest of the sequence with more copies. A cut
/// that would part two copies of a pair moves behind the pair. (Baxter, "Modern GPU", chapter "Set operations", 2013.)
pub fn balance<T: Ord>([i, j]: [usize; 2], a: &[T], b: &[T]) -> [usize; 2] {
    let Some(item) = b.get(j) else { return [i, j] };
    let first = [a.partition_point(|other| other < item), b.partition_point(|other| other < item)];
    let all = [a, b].map(|items| items.iter().filter(|other| *other == item).count());
    let Some(taken) = i.checked_sub(first[0]).map(|of_a| of_a + j - first[1]) else { return [i, j] };
    // Of the copies before the diagonal, b has half, but at most all its copies, and at least those that exceed a's.
    let of_b = (taken / 2).min(all[1]).max(taken.saturating_sub(all[0]));
    let of_a = taken - of_b;
    let parts_a_pair = of_a > of_b && of_b < all[1];
    [first[0] + of_a, first[1] + of_b + usize::from(parts_a_pair)]
}

/// `balanced_co_ranks`: the numbers of items of `a` and of `b` before each tile, of diagonals at a distance of `step`.
pub fn balanced_co_ranks<T: Ord>(a: &[T], b: &[T], step: usize) -> Vec<[usize; 2]> {
    let cut = |k| {
        let i = co_rank(k, a, b);
        balance([i, k - i], a, b)
    };
    (0..a.len() + b.len()).step_by(step).map(cut).collect()
}

/// A set operation on two sorted multisets, one pair of items after the other.
pub fn set_operation<T: Ord + Clone>(operation: MergeOperation, a: &[T], b: &[T]) -> Vec<T> {
    if operation == MergeOperation::Unique {
        return unique(a, 0..a.len());
    }
    let mut result = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next_in_a = j == b.len() || i < a.len() && a[i] <= b[j];
        let next_in_b = i == a.len() || j < b.len() && b[j] <= a[i];
        let found = match operation {
            MergeOperation::Intersection => next_in_a && next_in_b,
            MergeOperation::Difference => next_in_a && !next_in_b,
            MergeOperation::SymmetricDifference => next_in_a != next_in_b,
            _ => true,
        };
        if found {
            result.push(if next_in_a { a[i].clone() } else { b[j].clone() });
        }
        i += usize::from(next_in_a);
        j += usize::from(next_in_b);
    }
    result
}

/// The first item of each run of equal items in `a[tile]`. An item begins a run if the one before it, also before the
/// tile, is another.
pub fn unique<T: Ord + Clone>(a: &[T], tile: Range<usize>) -> Vec<T> {
    tile.filter(|i| *i == 0 || a[i - 1] != a[*i]).map(|i| a[i].clone()).collect()
}

/// `set_tiles`: the result of each tile.
pub fn set_tiles<T: Ord + Clone>(operation: MergeOperation, a: &[T], b: &[T], cuts: &[[usize; 2]]) -> Vec<Vec<T>> {
    let ends = cuts.iter().skip(1).copied().chain([[a.len(), b.len()]]);
    let tile = |(first, end): (&[usize; 2], [usize; 2])| match operation {
        MergeOperation::Unique => unique(a, first[0]..end[0]),
        _ => set_operation(operation, &a[first[0]..end[0]], &b[first[1]..end[1]]),
    };
    cuts.iter().zip(ends).map(tile).collect()
}

/// A key and a tag: keys alone are compared. For tests of where items come from.
#[derive(Clone, Copy, Debug)]
pub struct Tagged<K, T>(pub K, pub T);

impl<K: Ord, T> PartialEq for Tagged<K, T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<K: Ord, T> Eq for Tagged<K, T> {}

impl<K: Ord, T> PartialOrd for Tagged<K, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, T> Ord for Tagged<K, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A key, and the place of the item.
    type Item = Tagged<u8, usize>;

    /// The items of all sequences, tagged in order, each sequence sorted.
    fn tagged([a, b]: [Vec<u8>; 2]) -> [Vec<Item>; 2] {
        let mut next = 0;
        [a, b].map(|mut keys| {
            keys.sort_unstable();
            let tag = |key| {
                next += 1;
                Tagged(key, next)
            };
            keys.into_iter().map(tag).collect()
        })
    }

    const SETS: [MergeOperation; 4] = [
        MergeOperation::Union,
        MergeOperation::Intersection,
        MergeOperation::Difference,
        MergeOperation::SymmetricDifference,
    ];

    /// The tags of the result, by the numbers m and n of copies of each key that the standard library of C++ states.
    fn counted(operation: MergeOperation, a: &[Item], b: &[Item]) -> Vec<usize> {
        let mut copies: BTreeMap<u8, [Vec<usize>; 2]> = BTreeMap::new();
        for (of, items) in [a, b].into_iter().enumerate() {
            items.iter().for_each(|item| copies.entry(item.0).or_default()[of].push(item.1));
        }
        let result = copies.into_values().flat_map(|[mut in_a, mut in_b]| {
            let (m, n) = (in_a.len(), in_b.len());
            let rest_of_b = in_b.split_off(m.min(n));
            match operation {
                MergeOperation::Intersection => in_a.truncate(n),
                MergeOperation::Difference => drop(in_a.drain(..m.min(n))),
                MergeOperation::SymmetricDifference => {
                    in_a.drain(..m.min(n));
                    in_a.extend(rest_of_b);
                }
                _ => in_a.extend(rest_of_b),
            }
            in_a
        });
        result.collect()
    }

    proptest! {
        /// The standard library's stable sort of A before B, by the low bits of keys in descending order.
        #[test]
        fn merges_by_comparators(keys in any::<[Vec<u8>; 2]>(), mask in any::<u8>(), tile in 1..70usize) {
            let less = |x: &Item, y: &Item| x.0 & mask > y.0 & mask;
            let order = |x: &Item, y: &Item| less(y, x).cmp(&less(x, y));
            let [a, b] = tagged(keys).map(|mut items| {
                items.sort_by(order);
                items
            });
            let mut expected = [a.clone(), b.clone()].concat();
            expected.sort_by(order);
            let tags = |items: Vec<Item>| items.iter().map(|item| item.1).collect::<Vec<_>>();
            let count = expected.len();
            let expected = tags(expected);
            prop_assert_eq!(tags(merge_sequential_by(&a, &b, less)), expected.clone());
            let ranks: Vec<usize> = (0..count).step_by(tile).map(|k| co_rank_by(k, &a, &b, less)).collect();
            prop_assert_eq!(tags(tiles_by(&a, &b, tile, &ranks, less)), expected);
        }

        /// The standard library's stable sort of A before B is the merge. Set operations have as many copies of each
        /// key as multisets have.
        #[test]
        fn merges_stably(
            keys in any::<[Vec<u8>; 2]>(),
            few_keys in any::<bool>(),
            tile in 1..70usize,
        ) {
            let drawn = |key: &u8| if few_keys { key % 4 } else { *key };
            let drawn_a: Vec<Item> = keys[0].iter().map(drawn).zip(0..).map(|(key, tag)| Tagged(key, tag)).collect();
            let [a, b] = tagged(keys.map(|keys| keys.iter().map(drawn).collect()));
            let mut expected = [a.clone(), b.clone()].concat();
            expected.sort_by_key(|item| item.0);
            let tags = |items: Vec<Item>| items.iter().map(|item| item.1).collect::<Vec<_>>();
            prop_assert_eq!(tags(merge_sequential(&a, &b)), tags(expected.clone()));
            prop_assert_eq!(tags(tiles(&a, &b, tile, &co_ranks(&a, &b, tile))), tags(expected.clone()));
            for operation in SETS {
                let expected = counted(operation, &a, &b);
                prop_assert_eq!(tags(set_operation(operation, &a, &b)), expected.clone());
                let cuts = balanced_co_ranks(&a, &b, tile);
                prop_assert!(cuts.iter().enumerate().all(|(t, [i, j])| (t * tile..t * tile + 2).contains(&(i + j))));
                prop_assert_eq!(tags(set_tiles(operation, &a, &b, &cuts).concat()), expected);
            }
            // In the drawn order and sorted: the standard library removes all items of a run but the first.
            for items in [&drawn_a, &a] {
                let mut expected = items.clone();
                expected.dedup();
                let cuts = balanced_co_ranks(items, &[], tile);
                prop_assert!(cuts.iter().enumerate().all(|(t, cut)| *cut == [t * tile, 0]));
                let found = set_tiles(MergeOperation::Unique, items, &[], &cuts).concat();
                prop_assert_eq!(tags(found), tags(expected));
            }
            let marked: Vec<bool> = a.iter().map(|item| item.1 % 3 == 1).collect();
            let left: Vec<Item> = a.iter().filter(|item| item.1 % 3 != 1).cloned().collect();
            let rows = mark_ranks(&marked);
            prop_assert_eq!(marked_before(&rows, a.len()), a.len() - left.len());
            let updated = update_tiles(&a, &b, tile, &co_ranks(&a, &b, tile), &rows);
            prop_assert_eq!(tags(updated), tags(merge_sequential(&left, &b)));
            let cut = |items: &[Item]| [0, items.len() / 3, items.len() / 3, items.len()];
            let [of_a, of_b] = [cut(&a), cut(&b)];
            let segments = (0..3).flat_map(|s| merge_sequential(&a[of_a[s]..of_a[s + 1]], &b[of_b[s]..of_b[s + 1]]));
            let segments: Vec<Item> = segments.collect();
            for (t, rank) in segment_co_ranks([&a, &b], [&of_a, &of_b], tile).into_iter().enumerate() {
                let of_a = segments[..t * tile].iter().filter(|item| item.1 <= a.len()).count();
                prop_assert_eq!(rank, of_a);
            }
            for k in 0..=expected.len() {
                let of_a = expected[..k].iter().filter(|item| item.1 <= a.len()).count();
                prop_assert_eq!(co_rank(k, &a, &b), of_a);
            }
        }
    }
}
