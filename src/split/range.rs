//! Ranges of keys of equal width, found without a division.

/// How kernels find the bucket of a key: see `bin_of` in glsl/lib/bins.glsl.
///
/// A quotient by a number that is known before is the upper half of a product with its reciprocal, rounded up or down; down, with the dividend
/// one larger. One of the two is exact for every dividend: up where that errs by less than what the shift drops, and otherwise down.
/// (Robison, "N-bit unsigned division via N-bit multiply-add", 2005.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranges {
    /// Keys before it count as this one.
    first: u32,
    /// Keys behind it count as this one.
    last: u32,
    reciprocal: u32,
    /// Of the upper half.
    shift: u32,
    /// 1 where the reciprocal is rounded down.
    increment: u32,
}

impl Ranges {
    /// Two buckets, the second from a pivot on: known by the last key before it.
    const fn of_two(low: u32, width: u32) -> Self {
        Self { first: low.saturating_add(width - 1), last: 0, reciprocal: 0, shift: 0, increment: 0 }
    }

    /// So many buckets from `low` on, each of `width` keys. Neither number is 0.
    pub(crate) fn new(low: u32, width: u32, buckets: u32) -> Self {
        if buckets == 2 {
            return Self::of_two(low, width);
        }
        let shift = width.ilog2();
        let dividend = 1u64 << (32 + shift);
        let (down, rest) = (dividend / u64::from(width), dividend % u64::from(width));
        let up_errs_by = u64::from(width) - rest;
        let (reciprocal, increment) = if rest != 0 && up_errs_by <= 1 << shift { (down + 1, 0) } else { (down, 1) };
        // What is behind the last bucket; and no dividend is so large that there is none one larger.
        let reach = (u64::from(width) * u64::from(buckets) - 1).min(u64::from(u32::MAX - increment));
        Self {
            first: low,
            last: u32::try_from(u64::from(low) + reach).unwrap_or(u32::MAX),
            // Of a power of two, 2^32: with a dividend one larger, one less is as good.
            reciprocal: u32::try_from(reciprocal).unwrap_or(u32::MAX),
            shift,
            increment,
        }
    }

    /// As kernels have it.
    pub(crate) fn words(self) -> [u32; 4] {
        [self.first, self.last, self.reciprocal, self.shift | self.increment << 5]
    }

    /// The kernels' twin.
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
        assert_eq!(Ranges::new(low, width, buckets).bucket(key, buckets), expected, "{key} from {low} on by {width} of {buckets}");
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
            for (low, buckets) in [(0, 1), (0, 2), (0, 3), (0, 255), (0, 256), (7, 33), (u32::MAX - 9, 9), (u32::MAX, 2)] {
                for border in 0..=buckets {
                    let key = low.saturating_add(width.saturating_mul(border));
                    [key.saturating_sub(1), key, key.saturating_add(1)].into_iter().for_each(|key| check(low, width, buckets, key));
                }
                [0, 1, u32::MAX / 2, u32::MAX - 1, u32::MAX].into_iter().for_each(|key| check(low, width, buckets, key));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn any_key_has_its_bucket(low: u32, width in prop_oneof![1..=u32::MAX, 1..=1000u32, 1..=1u32 << 24], buckets in 1..=256u32, key: u32) {
            check(low, width, buckets, key);
            check(0, width, buckets, key);
        }
    }
}
