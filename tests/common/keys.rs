//! Keys to sort, the same on every run.

use trommel::{KeyType, Order};

/// A generator of numbers (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 32) as u32
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(limit)) >> 32) as u32
    }

    pub(crate) fn words(&mut self, n: usize) -> Vec<u32> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// A key's bits as in memory, and as an encoded number that compares in sort order.
pub(crate) type Bits = u128;

/// The lowest `size` bytes of each number, as in memory.
pub(crate) fn bytes_of(numbers: &[Bits], size: usize) -> Vec<u8> {
    numbers.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
}

fn mask(key: KeyType) -> Bits {
    if key.bits() == 128 { Bits::MAX } else { (1 << key.bits()) - 1 }
}

/// Encodes a key as an unsigned number in sort order, by the rules of its type.
pub(crate) fn number(key: KeyType, order: Order, bits: Bits) -> Bits {
    let (mask, sign) = (mask(key), 1 << (key.bits() - 1));
    let ascending = match key {
        KeyType::I8 | KeyType::I16 | KeyType::I32 | KeyType::I64 => bits ^ sign,
        // As f32::total_cmp: of two negative numbers, the one with larger bits comes first.
        KeyType::F16 | KeyType::Bf16 | KeyType::F32 | KeyType::F64 if bits & sign != 0 => !bits & mask,
        KeyType::F16 | KeyType::Bf16 | KeyType::F32 | KeyType::F64 => bits | sign,
        // In memory, the first word is the most significant one. In a number read from memory, it is the least
        // significant.
        KeyType::U32x2 | KeyType::U32x3 | KeyType::U32x4 => {
            (0..key.size() / 4).fold(0, |number, word| number << 32 | (bits >> (32 * word) & 0xffff_ffff))
        }
        _ => bits,
    };
    if order == Order::Descending { !ascending & mask } else { ascending }
}

/// How keys are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    Random,
    /// The AND of three draws.
    LowEntropy,
    Constant,
    Sorted,
    Reversed,
    Ones,
    Zeros,
    /// Half of the keys equal the pads of a tile.
    HalfOnes,
    /// One digit differs.
    OneDigit,
    /// Two digits differ.
    TwoDigits,
    /// Special numbers: zeros, ones, infinities, each with both signs.
    Special,
}

impl Keys {
    pub(crate) const ALL: &[Self] = &[
        Self::Random,
        Self::LowEntropy,
        Self::Constant,
        Self::Sorted,
        Self::Reversed,
        Self::Ones,
        Self::Zeros,
        Self::HalfOnes,
        Self::OneDigit,
        Self::TwoDigits,
        Self::Special,
    ];

    /// `n` keys of a type.
    pub(crate) fn draw(self, key: KeyType, n: usize, seed: u64) -> Vec<Bits> {
        let mut random = Random::new(seed);
        let digits = key.bits() / 8;
        let (first, second) = (random.below(digits) * 8, random.below(digits) * 8);
        let keys = (0..n).map(|_| {
            let mut draw = || (0..4).fold(0, |bits: Bits, _| bits << 32 | Bits::from(random.next()));
            let bits = draw();
            let only = |digits: Bits| bits & digits | 0x5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a_5a5a & !digits;
            match self {
                Self::Random | Self::Sorted | Self::Reversed => bits,
                Self::LowEntropy => bits & draw() & draw(),
                Self::Constant => 0x8102_ff04_8102_ff04_8102_ff04_8102_ff04,
                Self::Ones => Bits::MAX,
                Self::Zeros => 0,
                Self::HalfOnes => {
                    if bits & 1 == 0 {
                        Bits::MAX
                    } else {
                        draw()
                    }
                }
                Self::OneDigit => only(0xff << first),
                Self::TwoDigits => only(0xff << first | 0xff << second),
                Self::Special => {
                    // A sign; an exponent with all bits set or none; a fraction with no bit set, the lowest, or all.
                    let exponent = match key {
                        KeyType::F16 => 0x7c00,
                        KeyType::Bf16 => 0x7f80,
                        KeyType::F32 => 0x7f80_0000,
                        _ => 0x7ff0_0000_0000_0000,
                    };
                    let fraction = mask(key) >> 1 & !exponent;
                    let pick = |bit: u32, what: Bits| if bits >> bit & 1 == 0 { 0 } else { what };
                    pick(0, mask(key) ^ mask(key) >> 1) | pick(1, exponent) | pick(2, fraction) | pick(3, 1)
                }
            }
        });
        let mut keys: Vec<Bits> = keys.map(|bits| bits & mask(key)).collect();
        match self {
            Self::Sorted => keys.sort_unstable_by_key(|bits| number(key, Order::Ascending, *bits)),
            Self::Reversed => keys.sort_unstable_by_key(|bits| number(key, Order::Descending, *bits)),
            _ => {}
        }
        keys
    }
}

/// MurmurHash3's finalizer: the hash of a key of one word in tables.
pub(crate) fn mix(mut h: u32) -> u32 {
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    h ^ (h >> 16)
}

/// The inverse of [`mix`]: the key with a hash.
pub(crate) fn unmix(mut h: u32) -> u32 {
    h ^= h >> 16;
    h = h.wrapping_mul(0x7ed1_b41d);
    h ^= (h >> 13) ^ (h >> 26);
    h = h.wrapping_mul(0xa5cb_9243);
    h ^ (h >> 16)
}
