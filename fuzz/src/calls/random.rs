//! A small random number generator: the same numbers for the same seed on every machine.

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of one stream of a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    /// 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `limit`, or 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        if limit == 0 { 0 } else { self.next() % limit }
    }

    /// A `u32` below `limit`, or 0.
    pub(crate) fn below32(&mut self, limit: u32) -> u32 {
        u32::try_from(self.below(limit.into())).unwrap_or(0)
    }

    /// An index below `limit`.
    pub(crate) fn index(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).unwrap_or(0)
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of `choices`.
    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }

    /// A number up to `most`: small ones, ends, powers of two and their neighbors are likely.
    pub(crate) fn count(&mut self, most: u32) -> u32 {
        let number = match self.below(8) {
            0 => self.below32(4),
            1 => most - self.below32(2).min(most),
            2 | 3 => self.below32(5000),
            4 => (1u32 << self.below32(32)).wrapping_add(self.below32(3)).wrapping_sub(1),
            _ => self.below32(u32::MAX) >> self.below32(32),
        };
        if number <= most { number } else { self.below32(most) }
    }

    /// Puts `items` in random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}
