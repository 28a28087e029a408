//! Buckets of equal width, computed without a division.

/// The parameters of a division by the width, for `bin_of` in glsl/radix/bins.glsl.
///
/// A quotient by a known divisor is the upper half of a product with the divisor's reciprocal, shifted. The reciprocal
/// is rounded up, or rounded down with the dividend incremented by one. One of the two is exact for every dividend:
/// rounding up if its error is small enough for the shift to drop, otherwise rounding down. (Robison, "N-bit unsigned
/// division via N-bit multiply-add", 2005.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// Lower keys are clamped to this one.
    first: u32,
    /// Higher keys are clamped to this one.
    last: u32,
    reciprocal: u32,
    /// Right shift of the upper half.
    shift: u32,
    /// 1 if the reciprocal is rounded down.
    increment: u32,
}

impl Ranges {
    /// Two buckets, separated by the pivot `low + width`. Only the last key below the pivot is stored.
    const fn of_two(low: u32, width: u32) -> Self {
        Self { first: low.saturating_add(width - 1), last: 0, reciprocal: 0, shift: 0, increment: 0 }
    }

    /// `buckets` buckets of `width` keys each, from `low` on. `width` and `buckets` are not 0.
    pub(crate) fn new(low: u32, width: u32, buckets: u32) -> Self {
        if buckets == 2 {
            return Self::of_two(low, width);
        }
        let shift = width.ilog2();
        let dividend = 1u64 << (32 + shift);
        let (down, rest) = (dividend / u64::from(width), dividend % u64::from(width));
        let up_errs_by = u64::from(width) - rest;
        let (reciprocal, increment) = if rest != 0 && up_errs_by <= 1 << shift { (down + 1, 0) } else { (down, 1) };
        // The last key of the last bucket, as a distance; clamped so that a dividend can be incremented.
        let reach = (u64::from(width) * u64::from(buckets) - 1).min(u64::from(u32::MAX - increment));
        Self {
            first: low,
            last: u32::try_from(u64::from(low) + reach).unwrap_or(u32::MAX),
            // For a power of two the reciprocal is 2^32. With an incremented dividend, 2^32 - 1 gives the same
            // quotients.
            reciprocal: u32::try_from(reciprocal).unwrap_or(u32::MAX),
            shift,
            increment,
        }
    }

    /// The parameters as the kernels read them.
    pub(crate) fn words(self) -> [u32; 4] {
        [self.first, self.last, self.reciprocal, self.shift | self.increment << 5]
    }

    /// The kernels' computation on the CPU.
    #[cfg(test)]
    fn bucket(self, key: u32, buckets: u32) -> u32 {
        if buckets == 2 {
            return u32::from(key > self.first);
        }
        let distance = key.clamp(self.first, self.last) - self.first + self.increment;
        let high = (u64::from(distance) * u64::from(self.reciprocal)) >> 32;
        u32::try_from(high).expect("half a product") >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(low: u32, width: u32, buckets: u32, key: u32) {
        let expected = (key.saturating_sub(low) / width).min(buckets - 1);
        assert_eq!(
            Ranges::new(low, width, buckets).bucket(key, buckets),
            expected,
            "{key} from {low} on by {width} of {buckets}"
        );
    }

    #[test]
    fn every_width_has_its_borders() {
        let widths = (1..=300).chain((0..32).flat_map(|bit| [(1u32 << bit) - 1, 1 << bit, (1 << bit) + 1])).chain([
            u32::MAX,
            u32::MAX - 1,
            u32::MAX / 3,
            u32::MAX / 5,
            u32::MAX / 255,
            u32::MAX / 256,
            u32::MAX / 257,
        ]);
        for width in widths.filter(|width| *width != 0) {
            for (low, buckets) in
                [(0, 1), (0, 2), (0, 3), (0, 255), (0, 256), (7, 33), (u32::MAX - 9, 9), (u32::MAX, 2)]
            {
                for border in 0..=buckets {
                    let key = low.saturating_add(width.saturating_mul(border));
                    [key.saturating_sub(1), key, key.saturating_add(1)]
                        .into_iter()
                        .for_each(|key| check(low, width, buckets, key));
                }
                [0, 1, u32::MAX / 2, u32::MAX - 1, u32::MAX]
                    .into_iter()
                    .for_each(|key| check(low, width, buckets, key));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn any_key_has_its_bucket(
            low: u32,
            width in prop_oneof![1..=u32::MAX, 1..=1000u32, 1..=1u32 << 24],
            buckets in 1..=256u32,
            key: u32,
        ) {
            check(low, width, buckets, key);
            check(0, width, buckets, key);
        }
    }
}
