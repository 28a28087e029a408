//! The sort's twin in plain Rust: the same passes under the same names, one workgroup after the other. Tests hold the kernels
//! against it; it is also the shortest description of what they do.

use crate::shared::{PASSES, RADIX, RADIX_BITS};

const DIGITS: usize = RADIX as usize;

fn digit_of(key: u32, shift: u32) -> usize {
    (key >> shift) as usize % DIGITS
}

/// `histogram`: how often each value of each digit occurs.
pub fn histogram(keys: &[u32]) -> Vec<[u32; DIGITS]> {
    let mut histogram = vec![[0; DIGITS]; PASSES as usize];
    for key in keys {
        for (pass, counts) in (0..).zip(&mut histogram) {
            counts[digit_of(*key, pass * RADIX_BITS)] += 1;
        }
    }
    histogram
}

/// `count`: how often each value of one digit occurs in each tile, digit-major.
pub fn count(keys: &[u32], tile: usize, shift: u32) -> Vec<u32> {
    let tiles = keys.len().div_ceil(tile);
    let mut counts = vec![0; DIGITS * tiles];
    for (t, keys) in keys.chunks(tile).enumerate() {
        for key in keys {
            counts[digit_of(*key, shift) * tiles + t] += 1;
        }
    }
    counts
}

/// `spine`: each digit's row becomes its exclusive sum; tells the rows' totals.
pub fn spine(counts: &mut [u32]) -> Vec<u32> {
    let tiles = counts.len() / DIGITS;
    if tiles == 0 {
        return vec![0; DIGITS];
    }
    counts.chunks_mut(tiles).map(exclusive_sum).collect()
}

/// `reorder`: every tile's keys and values go to the places that the spine has found.
pub fn reorder(keys: &[u32], values: &[u32], tile: usize, shift: u32, counts: &[u32], totals: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let tiles = keys.len().div_ceil(tile);
    let mut bases = totals.to_vec();
    exclusive_sum(&mut bases);
    let (mut to_keys, mut to_values) = (vec![0; keys.len()], vec![0; values.len()]);
    for (t, keys) in keys.chunks(tile).enumerate() {
        let mut next: Vec<u32> = (0..DIGITS).map(|digit| bases[digit] + counts[digit * tiles + t]).collect();
        for (i, key) in keys.iter().enumerate() {
            let place = &mut next[digit_of(*key, shift)];
            to_keys[*place as usize] = *key;
            if let Some(value) = values.get(t * tile + i) {
                to_values[*place as usize] = *value;
            }
            *place += 1;
        }
    }
    (to_keys, to_values)
}

/// The whole sort: `values` is empty or as long as `keys`.
pub fn sort(keys: &[u32], values: &[u32], tile: usize) -> (Vec<u32>, Vec<u32>) {
    let (mut keys, mut values) = (keys.to_vec(), values.to_vec());
    for pass in 0..PASSES {
        let shift = pass * RADIX_BITS;
        let mut counts = count(&keys, tile, shift);
        let totals = spine(&mut counts);
        (keys, values) = reorder(&keys, &values, tile, shift, &counts, &totals);
    }
    (keys, values)
}

/// Exclusive sum in place; tells the total.
fn exclusive_sum(values: &mut [u32]) -> u32 {
    values.iter_mut().fold(0, |sum, value| sum + std::mem::replace(value, sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_stably(keys in prop::collection::vec(prop_oneof![any::<u32>(), 0..4u32], 0..300), tile in 1..70usize) {
            let values: Vec<u32> = (0..).take(keys.len()).collect();
            let mut expected: Vec<(u32, u32)> = keys.iter().copied().zip(values.iter().copied()).collect();
            expected.sort_by_key(|pair| pair.0);
            let (sorted, moved) = sort(&keys, &values, tile);
            prop_assert_eq!(sorted.into_iter().zip(moved).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn totals_are_the_histogram(keys in prop::collection::vec(any::<u32>(), 0..300), tile in 1..70usize) {
            for (pass, digit_counts) in (0..).zip(histogram(&keys)) {
                let totals = spine(&mut count(&keys, tile, pass * RADIX_BITS));
                prop_assert_eq!(totals, digit_counts);
            }
        }
    }
}
