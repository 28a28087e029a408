//! Keys as unsigned numbers in the order of the keys.

use trommel::{KeyType, Order};

/// The order in which a primitive compares keys, by some of their bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyOrder {
    pub(crate) key: KeyType,
    pub(crate) order: Order,
    pub(crate) begin_bit: u32,
    /// 0: the end of the key.
    pub(crate) end_bit: u32,
}

impl KeyOrder {
    /// The compared bits of a key, given its words, as a number that rises in the order of keys.
    pub(crate) fn number(&self, words: impl Iterator<Item = u32>) -> u128 {
        let bits = self.key.bits();
        let ones = |bits: u32| u128::MAX >> (128 - bits);
        let most_significant_first = matches!(self.key, KeyType::U32x2 | KeyType::U32x3 | KeyType::U32x4);
        let mut number = words.zip(0u32..).fold(0, |number, (word, index)| {
            if most_significant_first {
                number << 32 | u128::from(word)
            } else {
                number | u128::from(word) << (32 * index)
            }
        });
        let sign = 1 << (bits - 1);
        match self.key {
            KeyType::I8 | KeyType::I16 | KeyType::I32 | KeyType::I64 => number ^= sign,
            // The bits of negative floats rise as their values fall.
            KeyType::F16 | KeyType::Bf16 | KeyType::F32 | KeyType::F64 => {
                number ^= if number & sign != 0 { ones(bits) } else { sign }
            }
            _ => {}
        }
        if self.order == Order::Descending {
            number ^= ones(bits);
        }
        let end_bit = if self.end_bit == 0 { bits } else { self.end_bit };
        (number & ones(end_bit)) >> self.begin_bit
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the caller knows that there are no higher bits")]
pub(crate) fn low_32(number: u128) -> u32 {
    number as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the caller knows that there are no higher bits")]
pub(crate) fn low_64(number: u128) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_order_of_their_keys() {
        let ascending = |key| KeyOrder { key, order: Order::Ascending, begin_bit: 0, end_bit: 0 };
        let of = |key, words: &[u32]| ascending(key).number(words.iter().copied());
        let singles = [f32::NEG_INFINITY, -2.0, -0.0, 0.0, 1e-40, 3.0, f32::NAN];
        assert!(singles.is_sorted_by(|a, b| of(KeyType::F32, &[a.to_bits()]) < of(KeyType::F32, &[b.to_bits()])));
        let words = |wide: u64| [(wide & 0xffff_ffff) as u32, (wide >> 32) as u32];
        let doubles = [f64::NEG_INFINITY, -2.0, -1e-310, 0.0, 3.0, f64::NAN];
        assert!(
            doubles.is_sorted_by(|a, b| of(KeyType::F64, &words(a.to_bits())) < of(KeyType::F64, &words(b.to_bits())))
        );
        assert!([-5i64, -1, 0, 1 << 40].is_sorted_by(|a, b| {
            of(KeyType::I64, &words(a.cast_unsigned())) < of(KeyType::I64, &words(b.cast_unsigned()))
        }));
        assert!(of(KeyType::I8, &[0xff]) < of(KeyType::I8, &[0]), "-1 is less than 0");
        assert!(of(KeyType::U32x3, &[1, 9, 9]) < of(KeyType::U32x3, &[2, 0, 0]));
        assert!(of(KeyType::U64, &[0, 1]) > of(KeyType::U64, &[9, 0]));
        let descending = KeyOrder { order: Order::Descending, ..ascending(KeyType::U16) };
        assert_eq!(descending.number(std::iter::once(1)), 0xfffe);
    }
}
