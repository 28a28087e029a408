//! The twin of the merge in plain Rust: the same passes under the same names. Tests compare the kernels with it. It is
//! also the shortest description of them.
//!
//! The co-rank of an output index is explained in: Kirk and Hwu, "Programming Massively Parallel Processors", chapter
//! "Merge". (Siebert and Träff, "Efficient MPI implementation of a parallel, stable merge algorithm", 2012.)

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
/// # Panics
/// If `k` exceeds the number of items.
pub fn co_rank<T: Ord>(k: usize, a: &[T], b: &[T]) -> usize {
    assert!(k <= a.len() + b.len(), "index {k} is beyond the output");
    let (mut low, mut high) = (k.saturating_sub(b.len()), k.min(a.len()));
    while low < high {
        let i = low + (high - low) / 2;
        // Item i of a is among the first k, unless the last candidate of b precedes it.
        if a[i] <= b[k - 1 - i] { low = i + 1 } else { high = i }
    }
    low
}

/// `co_ranks`: the number of items of `a` before each tile of the output.
pub fn co_ranks<T: Ord>(a: &[T], b: &[T], tile: usize) -> Vec<usize> {
    (0..a.len() + b.len()).step_by(tile).map(|k| co_rank(k, a, b)).collect()
}

/// Merges two sorted sequences one item after the other. Of equal items, those of `a` come first.
pub fn merge_sequential<T: Ord + Clone>(a: &[T], b: &[T]) -> Vec<T> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] <= b[j] {
            merged.push(a[i].clone());
            i += 1;
        } else {
            merged.push(b[j].clone());
            j += 1;
        }
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

/// `tiles`: merges the items of each tile of the output.
pub fn tiles<T: Ord + Clone>(a: &[T], b: &[T], tile: usize, co_ranks: &[usize]) -> Vec<T> {
    let count = a.len() + b.len();
    let mut merged = Vec::with_capacity(count);
    for (t, first_a) in co_ranks.iter().enumerate() {
        let output = t * tile..count.min((t + 1) * tile);
        let end_a = co_ranks.get(t + 1).map_or(a.len(), |end| *end);
        let (of_a, of_b): (Range<usize>, _) = (*first_a..end_a, output.start - first_a..output.end - end_a);
        merged.extend(merge_sequential(&a[of_a], &b[of_b]));
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    /// A key, and the place of the item: keys alone are compared.
    #[derive(Clone, Copy, Debug)]
    struct Tagged(u8, usize);

    impl Ord for Tagged {
        fn cmp(&self, other: &Self) -> Ordering {
            self.0.cmp(&other.0)
        }
    }

    impl PartialOrd for Tagged {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl PartialEq for Tagged {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other) == Ordering::Equal
        }
    }

    impl Eq for Tagged {}

    /// The items of all sequences, tagged in order, each sequence sorted.
    fn tagged([a, b]: [Vec<u8>; 2]) -> [Vec<Tagged>; 2] {
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

    proptest! {
        /// The standard library's stable sort of A before B is the merge.
        #[test]
        fn merges_stably(
            keys in any::<[Vec<u8>; 2]>(),
            few_keys in any::<bool>(),
            tile in 1..70usize,
        ) {
            let drawn = |key: &u8| if few_keys { key % 4 } else { *key };
            let [a, b] = tagged(keys.map(|keys| keys.iter().map(drawn).collect()));
            let mut expected = [a.clone(), b.clone()].concat();
            expected.sort_by_key(|item| item.0);
            let tags = |items: Vec<Tagged>| items.iter().map(|item| item.1).collect::<Vec<_>>();
            prop_assert_eq!(tags(merge_sequential(&a, &b)), tags(expected.clone()));
            prop_assert_eq!(tags(tiles(&a, &b, tile, &co_ranks(&a, &b, tile))), tags(expected.clone()));
            for k in 0..=expected.len() {
                let of_a = expected[..k].iter().filter(|item| item.1 <= a.len()).count();
                prop_assert_eq!(co_rank(k, &a, &b), of_a);
            }
        }
    }
}
