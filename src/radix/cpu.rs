//! The twin of the sort in plain Rust: the same passes under the same names, one workgroup after the other. Tests
//! compare the kernels with it. It is also the shortest description of them.
//!
//! Keys are planes of encoded words, least significant first, as between passes. Values are planes too.

use super::format::Digit;
use super::items::{KeyType, Order};
/// One word of every item.
pub type Plane = Vec<u32>;

/// Encodes the words of a key: as unsigned numbers, least significant word first, encoded keys have the order of the
/// keys.
pub fn encode(key: KeyType, order: Order, words: &mut [u32]) {
    let bits = key.bits().min(32);
    let (mask, sign) = (u32::MAX >> (32 - bits), 1 << (bits - 1));
    if matches!(key, KeyType::U32x2 | KeyType::U32x3 | KeyType::U32x4) {
        words.reverse();
    }
    let Some((top, low)) = words.split_last_mut() else { return };
    match key {
        KeyType::I8 | KeyType::I16 | KeyType::I32 | KeyType::I64 => *top ^= sign,
        KeyType::F16 | KeyType::Bf16 | KeyType::F32 | KeyType::F64 if *top & sign != 0 => {
            *top ^= mask;
            low.iter_mut().for_each(|word| *word = !*word);
        }
        KeyType::F16 | KeyType::Bf16 | KeyType::F32 | KeyType::F64 => *top ^= sign,
        _ => {}
    }
    if order == Order::Descending {
        *top ^= mask;
        low.iter_mut().for_each(|word| *word = !*word);
    }
}

fn digit_of(word: u32, digit: Digit) -> usize {
    (word >> digit.shift & ((1 << digit.bits) - 1)) as usize
}

/// `histogram`: counts the values of a digit.
pub fn histogram(keys: &[Plane], digit: Digit, bins: usize) -> Vec<u32> {
    let mut counts = vec![0; bins];
    for word in &keys[digit.word as usize] {
        counts[digit_of(*word, digit)] += 1;
    }
    counts
}

/// `count`: counts the values of one digit in each tile, digit-major.
pub fn count(keys: &[Plane], tile: usize, digit: Digit, bins: usize) -> Vec<u32> {
    let words = &keys[digit.word as usize];
    let tiles = words.len().div_ceil(tile);
    let mut counts = vec![0; bins * tiles];
    for (t, words) in words.chunks(tile).enumerate() {
        for word in words {
            counts[digit_of(*word, digit) * tiles + t] += 1;
        }
    }
    counts
}

/// `spine`: replaces the row of each digit by its exclusive scan. Returns the totals.
pub fn spine(counts: &mut [u32], bins: usize) -> Vec<u32> {
    let tiles = counts.len() / bins;
    if tiles == 0 {
        return vec![0; bins];
    }
    counts.chunks_mut(tiles).map(exclusive_sum).collect()
}

/// `reorder`: returns the target index of each item, from the scanned counts.
pub fn reorder(keys: &[Plane], tile: usize, digit: Digit, counts: &[u32], totals: &[u32]) -> Vec<usize> {
    let words = &keys[digit.word as usize];
    let tiles = words.len().div_ceil(tile);
    let mut bases = totals.to_vec();
    exclusive_sum(&mut bases);
    let targets = words.chunks(tile).enumerate().flat_map(|(t, words)| {
        let mut next: Vec<u32> =
            bases.iter().enumerate().map(|(value, base)| base + counts[value * tiles + t]).collect();
        words.iter().map(move |word| {
            let target = &mut next[digit_of(*word, digit)];
            *target += 1;
            *target as usize - 1
        })
    });
    targets.collect()
}

/// Scatters the items to their target indices.
pub fn scatter(planes: &mut [Plane], targets: &[usize]) {
    for plane in planes {
        let mut moved = vec![0; plane.len()];
        for (word, target) in plane.iter().zip(targets) {
            moved[*target] = *word;
        }
        *plane = moved;
    }
}

/// Sorts keys digit by digit, and values with them.
pub fn sort(keys: &mut [Plane], values: &mut [Plane], tile: usize, digits: impl IntoIterator<Item = Digit>) {
    for digit in digits {
        let bins = 1 << digit.bits;
        let mut counts = count(keys, tile, digit, bins);
        let totals = spine(&mut counts, bins);
        let targets = reorder(keys, tile, digit, &counts, &totals);
        scatter(keys, &targets);
        scatter(values, &targets);
    }
}

/// Replaces values by their exclusive scan. Returns the total.
pub(crate) fn exclusive_sum(values: &mut [u32]) -> u32 {
    values.iter_mut().fold(0, |sum, value| sum + std::mem::replace(value, sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radix::{Format, ItemsInfo};
    use proptest::prelude::*;

    /// Encoded keys, each as one number.
    fn numbers(keys: &[Plane]) -> Vec<u128> {
        let number = |i: usize| keys.iter().rev().fold(0, |number, plane| number << 32 | u128::from(plane[i]));
        (0..keys[0].len()).map(number).collect()
    }

    proptest! {
        #[test]
        fn sorts_stably(
            words in prop::collection::vec(prop_oneof![any::<[u32; 2]>(), [0..4u32, 0..4u32]], 0..300),
            tile in 1..70usize,
            range in (0..64u32, 1..=64u32),
        ) {
            let (begin_bit, end_bit) = (range.0.min(range.1 - 1), range.1);
            let info = ItemsInfo { key: KeyType::U64, begin_bit, end_bit, ..ItemsInfo::KEYS };
            let format = Format::new(&info).unwrap();
            let mut keys = [0, 1].map(|w| words.iter().map(|key| key[w]).collect::<Plane>());
            let mut values = [(0..).take(words.len()).collect::<Plane>()];
            let before = numbers(&keys);
            let sorted_by = |key: u128| key >> begin_bit & ((1 << (end_bit - begin_bit)) - 1);
            let mut order: Vec<usize> = (0..words.len()).collect();
            order.sort_by_key(|i| sorted_by(before[*i]));
            sort(&mut keys, &mut values, tile, (0..format.digits()).map(|index| format.digit(index)));
            prop_assert_eq!(numbers(&keys), order.iter().map(|i| before[*i]).collect::<Vec<_>>());
            prop_assert_eq!(&values[0], &order.iter().map(|i| u32::try_from(*i).expect("few")).collect::<Vec<_>>());
        }

        #[test]
        fn totals_are_the_histogram(
            keys in prop::collection::vec(any::<u32>(), 0..300),
            tile in 1..70usize,
            shift in 0..25u32,
        ) {
            let digit = Digit { word: 0, shift, bits: 8 };
            let keys = [keys];
            prop_assert_eq!(spine(&mut count(&keys, tile, digit, 256), 256), histogram(&keys, digit, 256));
        }

        #[test]
        fn floats_are_in_total_order(a: f64, b: f64, c: f32, d: f32) {
            let double = |number: f64, order| {
                let mut words: [u32; 2] = bytemuck::cast(number.to_le_bytes());
                encode(KeyType::F64, order, &mut words);
                u64::from(words[1]) << 32 | u64::from(words[0])
            };
            let single = |number: f32, order| {
                let mut words = [number.to_bits()];
                encode(KeyType::F32, order, &mut words);
                words[0]
            };
            prop_assert_eq!(double(a, Order::Ascending).cmp(&double(b, Order::Ascending)), a.total_cmp(&b));
            prop_assert_eq!(double(a, Order::Descending).cmp(&double(b, Order::Descending)), b.total_cmp(&a));
            prop_assert_eq!(single(c, Order::Ascending).cmp(&single(d, Order::Ascending)), c.total_cmp(&d));
        }

        #[test]
        fn signed_numbers_are_in_order(a: i64, b: i64, c: i16, d: i16) {
            let long = |number: i64| {
                let mut words: [u32; 2] = bytemuck::cast(number.to_le_bytes());
                encode(KeyType::I64, Order::Ascending, &mut words);
                u64::from(words[1]) << 32 | u64::from(words[0])
            };
            let short = |number: i16| {
                let mut words = [u32::from(number.cast_unsigned())];
                encode(KeyType::I16, Order::Descending, &mut words);
                words[0]
            };
            prop_assert_eq!(long(a).cmp(&long(b)), a.cmp(&b));
            prop_assert_eq!(short(c).cmp(&short(d)), d.cmp(&c));
        }

        #[test]
        fn words_are_in_lexicographic_order(a: [u32; 3], b: [u32; 3]) {
            let encoded = |mut words: [u32; 3]| {
                encode(KeyType::U32x3, Order::Ascending, &mut words);
                words.iter().rev().fold(0u128, |number, word| number << 32 | u128::from(*word))
            };
            prop_assert_eq!(encoded(a).cmp(&encoded(b)), a.cmp(&b));
        }
    }
}
