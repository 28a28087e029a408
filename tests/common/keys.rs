//! Keys to sort, the same on every run.

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
    /// Half of them equal what pads a tile.
    HalfOnes,
    /// One digit of the four differs.
    OneDigit,
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
    ];

    pub(crate) fn draw(self, n: usize, seed: u64) -> Vec<u32> {
        let mut random = Random::new(seed);
        let mut keys = random.words(n);
        let digit = random.below(4) * 8;
        match self {
            Self::Random => {}
            Self::LowEntropy => keys.iter_mut().for_each(|key| *key &= random.next() & random.next()),
            Self::Constant => keys.fill(0x8102_ff04),
            Self::Sorted => keys.sort_unstable(),
            Self::Reversed => keys.sort_unstable_by(|a, b| b.cmp(a)),
            Self::Ones => keys.fill(u32::MAX),
            Self::Zeros => keys.fill(0),
            Self::HalfOnes => keys.iter_mut().for_each(|key| *key |= if random.next() & 1 == 0 { u32::MAX } else { 0 }),
            Self::OneDigit => keys.iter_mut().for_each(|key| *key = *key & 0xff << digit | 0x5a5a_5a5a & !(0xff << digit)),
        }
        keys
    }
}
