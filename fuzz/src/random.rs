//! Random numbers that are the same on every machine.

/// A generator (splitmix64). Its stream depends on the seed alone.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator for the given numbers, in this order: a seed, a kind, a case.
    pub fn of(parts: &[u64]) -> Self {
        let mut random = Self(0x5851_f42d_4c95_7f2d);
        for part in parts {
            random.0 ^= part.wrapping_mul(0xff51_afd7_ed55_8ccd);
            random.0 = random.draw();
        }
        random
    }

    /// 64 random bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `limit - 1`; 0 where the limit is 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        let product = (self.draw() >> 32) * u64::from(limit);
        u32::try_from(product >> 32).unwrap_or(0)
    }

    /// An index of a list with `len` items.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        match high.saturating_sub(low).checked_add(1) {
            Some(limit) => low + self.below(limit),
            None => self.word(),
        }
    }

    /// A number from `low` to `high`. All bit lengths are about equally likely.
    pub fn log_between(&mut self, low: u32, high: u32) -> u32 {
        let (shortest, longest) = (low.max(1).ilog2(), high.max(1).ilog2());
        let bits = self.between(shortest, longest);
        let end = u32::try_from((2u64 << bits) - 1).unwrap_or(u32::MAX);
        self.between((1 << bits).max(low).min(high), end.min(high).max(low))
    }

    /// 32 random bits.
    pub fn word(&mut self) -> u32 {
        u32::try_from(self.draw() >> 32).unwrap_or(0)
    }

    /// True in `times` of `of` draws.
    pub fn chance(&mut self, times: u32, of: u32) -> bool {
        self.below(of) < times
    }

    /// One item of a list that is not empty.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.index(list.len())]
    }

    /// Puts a list in a random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.index(last + 1));
        }
    }

    /// Random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.fill(&mut bytes);
        bytes
    }

    /// Overwrites bytes with random ones.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.draw().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_every_part_and_on_nothing_else() {
        let first = |parts: &[u64]| Random::of(parts).draw();
        assert_eq!(first(&[1, 2, 3]), first(&[1, 2, 3]));
        let all =
            [first(&[1, 2, 3]), first(&[1, 3, 2]), first(&[2, 2, 3]), first(&[1, 2]), first(&[1, 2, 3, 0]), first(&[])];
        for (index, number) in all.iter().enumerate() {
            assert!(!all[..index].contains(number), "{number:#x} comes twice");
        }
        assert_eq!(Random::of(&[7]).draw(), 13_782_569_506_857_154_897, "a reproducer of today is one tomorrow");
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_both_ends() {
        let mut random = Random::of(&[1]);
        for (low, high) in [(0, 0), (3, 5), (0, u32::MAX), (7, 7), (1, 300)] {
            let drawn: Vec<u32> =
                (0..2000).flat_map(|_| [random.between(low, high), random.log_between(low, high)]).collect();
            assert!(drawn.iter().all(|number| (low..=high).contains(number)));
            assert!(high - low > 300 || drawn.contains(&low) && drawn.contains(&high), "{low} to {high}");
        }
    }
}
