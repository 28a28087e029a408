//! Keys: how they are ordered, and how they are drawn. Nothing here is shared with the library but the names of types.

use crate::random::Random;
use std::fmt;
use trommel::KeyType;

/// The 32-bit words of bytes.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Bits of a key of this type.
pub fn bits(key: KeyType) -> u32 {
    match key {
        KeyType::U8 | KeyType::I8 => 8,
        KeyType::U16 | KeyType::I16 | KeyType::F16 | KeyType::Bf16 => 16,
        KeyType::U64 | KeyType::I64 | KeyType::F64 | KeyType::U32x2 => 64,
        KeyType::U32x3 => 96,
        KeyType::U32x4 => 128,
        _ => 32,
    }
}

/// Bytes of a key of this type.
pub fn size(key: KeyType) -> usize {
    bits(key) as usize / 8
}

/// How the bits of a key order it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    Unsigned,
    Signed,
    Float,
    WordsMostSignificantFirst,
}

fn numbers(key: KeyType) -> Numbers {
    match key {
        KeyType::I8 | KeyType::I16 | KeyType::I32 | KeyType::I64 => Numbers::Signed,
        KeyType::F16 | KeyType::Bf16 | KeyType::F32 | KeyType::F64 => Numbers::Float,
        KeyType::U32x2 | KeyType::U32x3 | KeyType::U32x4 => Numbers::WordsMostSignificantFirst,
        _ => Numbers::Unsigned,
    }
}

/// The position of a key among all keys of its type, ascending. `begin_bit` and `end_bit` count bits of this number.
/// `bytes`: the key in memory.
pub fn position(key: KeyType, bytes: &[u8]) -> u128 {
    let little_endian = |bytes: &[u8]| bytes.iter().rev().fold(0u128, |number, byte| number * 256 + u128::from(*byte));
    let number = little_endian(bytes);
    let half = 1u128 << (bits(key) - 1);
    match numbers(key) {
        Numbers::Unsigned => number,
        Numbers::WordsMostSignificantFirst => bytes.chunks(4).fold(0, |all, word| (all << 32) + little_endian(word)),
        // Two's complement: the upper half of the bit patterns are the negative numbers, which come first.
        Numbers::Signed => {
            if number >= half {
                number - half
            } else {
                number + half
            }
        }
        // Sign and magnitude: of two negative numbers the one with the larger magnitude comes first, -0 before +0.
        Numbers::Float => {
            let magnitude = number % half;
            if number >= half { half - 1 - magnitude } else { half + magnitude }
        }
    }
}

/// How keys are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Every bit pattern is as likely.
    Random,
    /// So many distinct keys.
    Few(u32),
    /// One key.
    Constant,
    /// Ascending.
    Sorted,
    /// Descending.
    Reversed,
    /// Ascending, but for some swapped pairs of keys.
    NearlySorted,
    /// All bits set.
    Ones,
    /// No bit set.
    Zeros,
    /// Half of the keys have all bits set.
    HalfOnes,
    /// The AND of three random keys.
    LowEntropy,
    /// Only the bytes of this mask vary.
    Bytes(u16),
    /// Zeros, infinities, NaNs and denormals of both signs; of other types, the bit patterns of those.
    Specials,
    /// Runs of equal keys, of about so many.
    Runs(u32),
    /// Small numbers, with one large one among them.
    SmallWithOutlier,
    /// Keys in round-robin order, of so many distinct ones.
    RoundRobin(u32),
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Data {
    /// Any distribution; half of the draws are random keys or random keys of few bytes.
    pub fn draw(random: &mut Random) -> Self {
        let mask = |random: &mut Random| u16::try_from(1u32 << random.below(16) | 1 << random.below(16)).unwrap_or(1);
        match random.below(24) {
            0..8 => Self::Random,
            8 | 9 => Self::Few(random.log_between(1, 300)),
            10 => Self::Constant,
            11 => Self::Sorted,
            12 => Self::Reversed,
            13 => Self::NearlySorted,
            14 => random.pick(&[Self::Ones, Self::Zeros]),
            15 => Self::HalfOnes,
            16 => Self::LowEntropy,
            17..20 => Self::Bytes(mask(random)),
            20 => Self::Specials,
            21 => Self::Runs(random.log_between(2, 2000)),
            22 => Self::SmallWithOutlier,
            _ => Self::RoundRobin(random.log_between(1, 512)),
        }
    }

    /// `count` keys, as they lie in memory.
    pub fn keys(self, key: KeyType, count: usize, random: &mut Random) -> Vec<u8> {
        let size = size(key);
        let mut keys = random.bytes(count * size);
        match self {
            Self::Random => {}
            Self::Few(distinct) | Self::RoundRobin(distinct) => {
                let list = random.bytes(distinct.max(1) as usize * size);
                let round_robin = matches!(self, Self::RoundRobin(_));
                for (index, key) in keys.chunks_exact_mut(size).enumerate() {
                    let from = if round_robin {
                        index % distinct.max(1) as usize
                    } else {
                        random.index(distinct.max(1) as usize)
                    };
                    key.copy_from_slice(&list[from * size..][..size]);
                }
            }
            Self::Constant => repeat(&mut keys, &random.bytes(size)),
            Self::Ones => keys.fill(0xff),
            Self::Zeros => keys.fill(0),
            Self::HalfOnes => {
                keys.chunks_exact_mut(size).filter(|_| random.chance(1, 2)).for_each(|key| key.fill(0xff));
            }
            Self::LowEntropy => keys
                .iter_mut()
                .for_each(|byte| *byte &= random.word().to_le_bytes()[0] & random.word().to_le_bytes()[1]),
            Self::Bytes(mask) => {
                let rest = random.bytes(size);
                // At least one byte of the key varies.
                let mask = (0..size).fold(0, |all, byte| all | (mask >> byte & 1) << byte).max(1);
                for key in keys.chunks_exact_mut(size) {
                    (0..size).filter(|byte| mask >> byte & 1 == 0).for_each(|byte| key[byte] = rest[byte]);
                }
            }
            Self::Specials => keys.chunks_exact_mut(size).for_each(|bytes| special(key, bytes, random)),
            Self::Runs(length) => {
                let mut from = 0;
                for index in 0..count {
                    if random.below(length) == 0 {
                        from = index;
                    }
                    keys.copy_within(from * size..(from + 1) * size, index * size);
                }
            }
            Self::SmallWithOutlier => {
                let outlier = random.index(count.max(1));
                for (index, key) in keys.chunks_exact_mut(size).enumerate() {
                    let small = usize::from(index != outlier);
                    key.iter_mut().skip(1).for_each(|byte| *byte *= u8::from(small == 0));
                }
            }
            Self::Sorted => sort(key, &mut keys, false),
            Self::Reversed => sort(key, &mut keys, true),
            Self::NearlySorted => {
                sort(key, &mut keys, false);
                for _ in 0..count.isqrt() {
                    let (a, b) = (random.index(count), random.index(count));
                    (0..size).for_each(|byte| keys.swap(a * size + byte, b * size + byte));
                }
            }
        }
        keys
    }
}

fn repeat(keys: &mut [u8], key: &[u8]) {
    keys.chunks_exact_mut(key.len()).for_each(|into| into.copy_from_slice(key));
}

fn sort(key: KeyType, keys: &mut [u8], reversed: bool) {
    let mut all: Vec<_> = keys.chunks_exact(size(key)).map(|bytes| (position(key, bytes), bytes.to_vec())).collect();
    all.sort();
    if reversed {
        all.reverse();
    }
    keys.chunks_exact_mut(size(key)).zip(all).for_each(|(into, (_, bytes))| into.copy_from_slice(&bytes));
}

/// A sign, an exponent of all ones, of zeros or of one, and a fraction of zeros, of all ones, or of the lowest bit.
fn special(key: KeyType, bytes: &mut [u8], random: &mut Random) {
    let fraction_bits = match key {
        KeyType::F16 => 10,
        KeyType::Bf16 => 7,
        KeyType::F32 => 23,
        KeyType::F64 => 52,
        _ => bits(key) * 2 / 3,
    };
    let sign = u128::from(random.below(2)) << (bits(key) - 1);
    let ones = |count: u32| (1u128 << count) - 1;
    let exponent = random.pick(&[0, 1, ones(bits(key) - 1 - fraction_bits)]) << fraction_bits;
    let fraction = random.pick(&[0, 0, 1, ones(fraction_bits)]);
    bytes.copy_from_slice(&(sign | exponent | fraction).to_le_bytes()[..size(key)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascending<const N: usize>(key: KeyType, keys: &[[u8; N]]) {
        let positions: Vec<_> = keys.iter().map(|bytes| position(key, bytes)).collect();
        assert!(positions.is_sorted_by(|a, b| a < b), "{key:?}: {positions:x?}");
        assert_eq!(size(key), N);
    }

    #[test]
    fn floats_are_in_total_order() {
        let singles = [
            -f32::NAN,
            f32::NEG_INFINITY,
            -1.5,
            -1.0,
            -f32::from_bits(1),
            -0.0,
            0.0,
            f32::from_bits(1),
            1.0,
            f32::INFINITY,
        ];
        ascending(KeyType::F32, &singles.map(f32::to_le_bytes));
        ascending(KeyType::F32, &[f32::INFINITY, f32::NAN].map(|x| x.abs().to_le_bytes()));
        ascending(
            KeyType::F64,
            &[f64::NEG_INFINITY, -2.0, -1.0, -0.0, 0.0, 1e-310, 3.0, f64::INFINITY].map(f64::to_le_bytes),
        );
        ascending(
            KeyType::F16,
            &[0xfe00u16, 0xfc00, 0xbc00, 0x8000, 0x0000, 0x0001, 0x3c00, 0x7c00, 0x7e00].map(u16::to_le_bytes),
        );
        ascending(
            KeyType::Bf16,
            &[0xffc0u16, 0xff80, 0xbf80, 0x8000, 0x0000, 0x0001, 0x3f80, 0x7f80].map(u16::to_le_bytes),
        );
    }

    #[test]
    fn integers_and_words_are_in_order() {
        ascending(KeyType::I8, &[-128i8, -1, 0, 1, 127].map(i8::to_le_bytes));
        ascending(KeyType::I64, &[i64::MIN, -1, 0, 1, i64::MAX].map(i64::to_le_bytes));
        ascending(KeyType::U16, &[0u16, 1, 255, 256, 65535].map(u16::to_le_bytes));
        let words =
            |words: [u32; 3]| -> [u8; 12] { std::array::from_fn(|byte| words[byte / 4].to_le_bytes()[byte % 4]) };
        ascending(KeyType::U32x3, &[[0, 0, 1], [0, 1, 0], [0, 1, 9], [1, 0, 0], [0x8000_0000, 0, 0]].map(words));
    }

    #[test]
    fn positions_are_within_the_bits_of_the_key() {
        for key in KeyType::ALL {
            assert_eq!(bits(key) % 8, 0);
            let all = [vec![0; size(key)], vec![0xff; size(key)], vec![0x80; size(key)], vec![0x7f; size(key)]];
            for bytes in all {
                assert!(bits(key) == 128 || position(key, &bytes) < 1 << bits(key), "{key:?}");
            }
        }
    }

    #[test]
    fn every_distribution_fills_every_type() {
        let mut random = Random::of(&[3]);
        for key in KeyType::ALL {
            for _ in 0..200 {
                let data = Data::draw(&mut random);
                for count in [0, 1, 100] {
                    let seed = random.draw();
                    let [first, second] = [(); 2].map(|()| data.keys(key, count, &mut Random::of(&[seed])));
                    assert_eq!(first, second);
                    assert_eq!(first.len(), count * size(key));
                }
            }
            let sorted = Data::Sorted.keys(key, 50, &mut random);
            assert!(sorted.chunks(size(key)).map(|bytes| position(key, bytes)).is_sorted());
        }
    }
}
