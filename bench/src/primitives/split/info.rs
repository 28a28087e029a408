//! Create infos of splits, and the items that splits read and write.

use crate::items::Items;
use trommel::{BucketFunction, KeyType, Placement, SplitOutput, SplitterInfo, ValueType};

/// Buckets by the highest bits of the key: their number is a power of two.
pub(super) fn by_bits(info: SplitterInfo) -> SplitterInfo {
    SplitterInfo { function: BucketFunction::Bits { begin_bit: info.key.bits() - info.buckets.ilog2() }, ..info }
}

/// The first bit of the bucket. 0 unless buckets are by bits.
pub(super) fn begin_bit(info: &SplitterInfo) -> u32 {
    if let BucketFunction::Bits { begin_bit } = info.function { begin_bit } else { 0 }
}

/// Keys alone. Buckets are ranges of equal width that cover all keys.
pub(super) fn split_keys(buckets: u32) -> SplitterInfo {
    SplitterInfo::keys(buckets, BucketFunction::Range)
}

/// The same with values.
pub(super) fn split_pairs(buckets: u32) -> SplitterInfo {
    SplitterInfo::pairs(buckets, BucketFunction::Range)
}

/// The permutation alone.
pub(super) fn split_index(buckets: u32) -> SplitterInfo {
    SplitterInfo { value: ValueType::Index, drop_keys: true, ..split_keys(buckets) }
}

/// Splitters at the bounds of the ranges.
pub(super) fn by_splitters(info: SplitterInfo) -> SplitterInfo {
    SplitterInfo { function: BucketFunction::Splitters, ..info }
}

pub(super) fn long_keys(info: SplitterInfo) -> SplitterInfo {
    SplitterInfo { key: KeyType::U64, ..info }
}

/// The items of a split: its input, and its output as another array.
pub(super) fn items(info: &SplitterInfo) -> Items {
    let SplitterInfo { key, value, drop_keys, layout, output, .. } = *info;
    let (value, drop_keys) = match output {
        SplitOutput::Counts => (ValueType::None, true),
        SplitOutput::Ranks => (ValueType::Index, true),
        _ => (value, drop_keys),
    };
    Items { key, value, drop_keys, layout, placement: Placement::Preserve }
}
