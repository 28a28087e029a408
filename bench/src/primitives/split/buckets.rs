//! Buckets of keys, on the CPU.

use crate::key_order::{KeyOrder, low_32};
use crate::verify::{Column, chunk, in_parallel};
use std::ops::Range;
use trommel::{BucketFunction, Order, SplitterInfo};

/// Keys of each range of equal width that cover all keys.
pub(super) fn range_width(info: &SplitterInfo) -> u32 {
    u32::try_from((1u64 << info.key.bits().min(32)).div_ceil(info.buckets.into())).unwrap_or(u32::MAX)
}

/// The bucket of a key, given its words. A key without a bucket has the number of buckets.
pub(super) fn bucket(info: &SplitterInfo, words: impl Iterator<Item = u32>) -> u32 {
    let field = |begin_bit, end_bit| {
        low_32(KeyOrder { key: info.key, order: Order::Ascending, begin_bit, end_bit }.number(words))
    };
    match info.function {
        BucketFunction::Bits { begin_bit } => {
            let bits = info.buckets.next_power_of_two().ilog2();
            field(begin_bit, begin_bit + bits).min(info.buckets)
        }
        // Splitters are the bounds of the ranges.
        BucketFunction::Range | BucketFunction::Splitters => (field(0, 0) / range_width(info)).min(info.buckets - 1),
        _ => info.buckets,
    }
}

/// Counts the items of each bucket. The last count is that of items without a bucket.
pub(super) fn bucket_counts(info: &SplitterInfo, keys: &Column, items: Range<u32>) -> Vec<u32> {
    let (bins, chunk, end) = (info.buckets as usize + 1, chunk(items.len()), items.end);
    let counts = in_parallel(items.step_by(chunk).map(|start| {
        move || {
            let mut counts = vec![0; bins];
            (start..end).take(chunk).for_each(|index| counts[bucket(info, keys.item(index as usize)) as usize] += 1);
            counts
        }
    }));
    (0..bins).map(|bin| counts.iter().map(|counts| counts[bin]).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::KeyType;

    #[test]
    fn ranges_cover_all_keys() {
        let width =
            |key, buckets| range_width(&SplitterInfo { key, ..SplitterInfo::keys(buckets, BucketFunction::Range) });
        assert_eq!(width(KeyType::U32, 2), 1 << 31);
        assert_eq!(width(KeyType::U32, 3), 0x5555_5556);
        assert_eq!(width(KeyType::U8, 256), 1);
    }

    #[test]
    fn buckets_are_fields_or_ranges() {
        let field = |buckets, key| {
            bucket(&SplitterInfo::keys(buckets, BucketFunction::Bits { begin_bit: 4 }), [key].into_iter())
        };
        assert_eq!(
            [field(4, 0x1ef), field(3, 0x12f), field(3, 0x13f)],
            [2, 2, 3],
            "a field that is no bucket comes last"
        );
        let range = |key| bucket(&SplitterInfo::keys(255, BucketFunction::Range), [key].into_iter());
        assert_eq!([range(0), range(u32::MAX)], [0, 254]);
        let long = SplitterInfo { key: KeyType::U64, ..SplitterInfo::keys(32, BucketFunction::Bits { begin_bit: 59 }) };
        assert_eq!(bucket(&long, [7, 0x1fff_ffff].into_iter()), 3);
    }
}
