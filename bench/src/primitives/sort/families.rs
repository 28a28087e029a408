//! The cases of sorts. Names and inputs that the CUDA peers have too are theirs.

use super::workload::Sort;
use crate::inputs::Keys;
use crate::problems::{MIXED_LENGTHS, Problems};
use crate::workload::{Family, Sizes};
use std::sync::Arc;
use trommel::{KeyType, Layout, Placement, SorterInfo, ValueType};

const SIZES: &[u32] = &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28];
const SOME_SIZES: &[u32] = &[1 << 12, 1 << 16, 1 << 20, 1 << 24];
const COMPARED: &[u32] = &[1 << 12, 1 << 16, 1 << 20, 1 << 24, 1 << 28];
const LARGE: &[u32] = &[1 << 24];
const SMALL_AND_LARGE: &[u32] = &[1 << 10, 1 << 12, 1 << 24];
const SMALL_AND_LARGER: &[u32] = &[1 << 10, 1 << 12, 1 << 24, 1 << 26];
const LARGER: &[u32] = &[1 << 24, 1 << 26];
const PRESERVED: &[u32] = &[1 << 10, 1 << 12, 1 << 20, 1 << 24];
/// Far fewer items than the maximum that the host knows.
const FEW: &[u32] = &[1 << 20];

const KEYS: SorterInfo = SorterInfo::keys();
const PAIRS: SorterInfo = SorterInfo::pairs();

const fn keys(key: KeyType) -> SorterInfo {
    SorterInfo { key, ..KEYS }
}

/// Into an array of its own, as the peers sort segments.
fn segments(name: &str, lengths: &'static [u32]) -> Family {
    let info = SorterInfo { segmented: true, placement: Placement::Preserve, ..KEYS };
    Family::new(name, Sort::new(info).problems(Problems::Segments(lengths)), LARGE)
}

fn batch(name: &str, groups: &'static [(u32, u32)]) -> Family {
    let work = Arc::new(Sort::new(KEYS).problems(Problems::Batch(groups)));
    Family { name: name.into(), work, sizes: Sizes::Fixed(Problems::batch_size(groups)) }
}

pub(crate) fn families() -> Vec<Family> {
    vec![
        Family::new("sort_keys_u32", Sort::new(KEYS), SIZES),
        Family::new("sort_pairs_u32_u32", Sort::new(PAIRS), SIZES),
        Family::new("sort_keys_u64", Sort::new(keys(KeyType::U64)), SIZES),
        Family::new("sort_pairs_u64_u32", Sort::new(SorterInfo { key: KeyType::U64, ..PAIRS }), SIZES),
        Family::new(
            "sort_keys_u32_indirect",
            Sort::new(KEYS).problems(Problems::Indirect { max_factor: 1 }),
            SOME_SIZES,
        ),
        Family::new("sort_keys_u32_indirect_few", Sort::new(KEYS).problems(Problems::Indirect { max_factor: 32 }), FEW),
        Family::new("sort_keys_u32_16bit_range", Sort::new(SorterInfo { end_bit: 16, ..KEYS }), &[1 << 26]),
        Family::new("sort_keys_u32_constant", Sort::new(KEYS).of(Keys::Constant), LARGER),
        Family::new("sort_keys_u32_sorted", Sort::new(KEYS).of(Keys::Sorted), LARGER),
        Family::new("sort_keys_u32_reversed", Sort::new(KEYS).of(Keys::Reversed), LARGER),
        Family::new("sort_keys_u32_low_entropy", Sort::new(KEYS).of(Keys::LowEntropy), SMALL_AND_LARGER),
        Family::new("sort_keys_u64_sorted", Sort::new(keys(KeyType::U64)).of(Keys::Sorted), LARGE),
        Family::new("sort_keys_u64_low_entropy", Sort::new(keys(KeyType::U64)).of(Keys::LowEntropy), SMALL_AND_LARGE),
        Family::new("sort_keys_u32_16bit", Sort::new(KEYS).of(Keys::LowBits(16)), LARGER),
        Family::new("sort_keys_u32_20bit", Sort::new(KEYS).of(Keys::LowBits(20)), LARGER),
        Family::new("sort_pairs_u32_u32_constant", Sort::new(PAIRS).of(Keys::Constant), LARGE),
        Family::new("sort_pairs_u32_u32_sorted", Sort::new(PAIRS).of(Keys::Sorted), LARGE),
        Family::new("sort_pairs_u32_u32_low_entropy", Sort::new(PAIRS).of(Keys::LowEntropy), LARGE),
        Family::new("sort_keys_f32", Sort::new(keys(KeyType::F32)), LARGE),
        Family::new("sort_keys_f64", Sort::new(keys(KeyType::F64)), LARGE),
        Family::new("sort_keys_f32_normal", Sort::new(keys(KeyType::F32)).of(Keys::Normal), SMALL_AND_LARGE),
        Family::new("sort_keys_f64_normal", Sort::new(keys(KeyType::F64)).of(Keys::Normal), SMALL_AND_LARGE),
        Family::new("sort_keys_u16", Sort::new(keys(KeyType::U16)), LARGE),
        Family::new("sort_keys_u8", Sort::new(keys(KeyType::U8)), LARGE),
        Family::new("sort_argsort_f32", Sort::new(SorterInfo::argsort(KeyType::F32)), LARGE),
        Family::new("sort_pairs_u32_16b", Sort::new(SorterInfo { value: ValueType::Bytes(16), ..KEYS }), LARGE),
        Family::new("sort_pairs_u32_64b", Sort::new(SorterInfo { value: ValueType::Bytes(64), ..KEYS }), LARGE),
        Family::new(
            "sort_pairs_u32_u32_interleaved",
            Sort::new(SorterInfo { layout: Layout::Interleaved, ..PAIRS }),
            LARGE,
        ),
        Family::new(
            "sort_keys_u32_preserve",
            Sort::new(SorterInfo { placement: Placement::Preserve, ..KEYS }),
            PRESERVED,
        ),
        Family::new(
            "sort_pairs_u32_u32_preserve",
            Sort::new(SorterInfo { placement: Placement::Preserve, ..PAIRS }),
            PRESERVED,
        ),
        Family::new(
            "sort_keys_u64_preserve",
            Sort::new(SorterInfo { key: KeyType::U64, placement: Placement::Preserve, ..KEYS }),
            PRESERVED,
        ),
        Family::new(
            "sort_pairs_u64_u32_preserve",
            Sort::new(SorterInfo { key: KeyType::U64, placement: Placement::Preserve, ..PAIRS }),
            PRESERVED,
        ),
        Family::new(
            "sort_keys_u32_double_buffer",
            Sort::new(SorterInfo { placement: Placement::DoubleBuffer, ..KEYS }),
            LARGE,
        ),
        segments("segsort_keys_u32_s32", &[32]),
        segments("segsort_keys_u32_s1024", &[1024]),
        segments("segsort_keys_u32_s65536", &[65536]),
        segments("segsort_keys_u32_mixed", MIXED_LENGTHS),
        // To compare with `sort_keys_u32` and `sort_pairs_u32_u32`.
        Family::new("sort_comparator_keys_u32", Sort::new(KEYS).compared(), COMPARED),
        Family::new("sort_comparator_pairs_u32_u32", Sort::new(PAIRS).compared(), COMPARED),
        batch("sort_batch_tiny", &[(1024, 1000)]),
        batch("sort_batch_medium", &[(64, 1 << 16)]),
        batch("sort_batch_mixed", &[(512, 1000), (32, 1 << 14), (8, 1 << 17), (1, 1 << 20)]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_follow_the_format() {
        let families = families();
        let bytes = |name: &str| families.iter().find(|family| family.name == name).unwrap().work.bytes_per_item();
        // The peers count the same bytes.
        assert_eq!(
            ["sort_keys_u32", "sort_pairs_u32_u32", "sort_keys_u64", "sort_pairs_u64_u32"].map(bytes),
            [36, 68, 136, 200]
        );
        assert_eq!(bytes("sort_keys_u32_16bit_range"), 4 + 2 * (4 + 4));
        assert_eq!(bytes("sort_keys_u8"), 1 + (1 + 1));
        let argsort = 4 + (4 + 8) + 2 * (8 + 8) + (8 + 4);
        assert_eq!(bytes("sort_argsort_f32"), argsort, "the first pass reads no index, the last writes no key");
        assert_eq!(bytes("sort_pairs_u32_16b"), 4 + 4 * (20 + 20));
        let long_values = 4 + (4 + 8) + 3 * (8 + 8) + (4 + 64 + 64);
        assert_eq!(bytes("sort_pairs_u32_64b"), long_values, "indices move, and values once at the end");
        assert_eq!(bytes("segsort_keys_u32_s32"), 8);
    }
}
