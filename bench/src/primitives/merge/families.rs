//! The cases of merges. Names and inputs that the CUDA peers have too are theirs: two halves of random keys, each
//! sorted.

use super::workload::{Division, Merge};
use crate::inputs::Keys;
use crate::problems::Problems;
use crate::workload::{Family, Sizes};
use std::sync::Arc;
use trommel::{KeyType, Layout, MergeMethod, MergeOperation, MergerInfo, ValueType};

/// Among them those of the peers.
const SIZES: &[u32] = &[1 << 12, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 25, 1 << 26, 1 << 28];
const SOME_SIZES: &[u32] = &[1 << 16, 1 << 20, 1 << 24, 1 << 28];
/// Around `merge.long.fused_up_to`, and larger.
const LONG_SIZES: &[u32] = &[1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26];
/// One of a single dispatch, and one of two.
const SKEWED: &[u32] = &[1 << 20, 1 << 24];
const LARGE: &[u32] = &[1 << 24];
/// Those that `trommel-plot` draws.
const METHOD_SIZES: &[u32] = &[1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26];
/// Items of A, into which a hundredth of them is merged.
const BASES: &[u32] = &[1 << 20, 1 << 26];
/// Half of them needles, half keys of the sorted sequence.
const SEARCHED: &[u32] = &[1 << 16, 1 << 20, 1 << 24, 1 << 26];
const SET_SIZES: &[u32] = &[1 << 16, 1 << 20, 1 << 24, 1 << 26];
/// Items of all sequences together.
const MULTIWAY: &[u32] = &[1 << 24, 1 << 26];
const MULTIWAY_OF_MANY: &[u32] = &[1 << 20, 1 << 24, 1 << 26];
const UNIQUE_SIZES: &[u32] = &[1 << 20, 1 << 24, 1 << 26];
/// Far fewer items than the maximum that the host knows.
const FEW: &[u32] = &[1 << 20];

pub(super) const KEYS: MergerInfo = MergerInfo::keys();
pub(super) const PAIRS: MergerInfo = MergerInfo::pairs();
const INDICES: MergerInfo = MergerInfo { value: ValueType::Index, drop_keys: true, ..KEYS };

pub(super) const fn long_keys(info: MergerInfo) -> MergerInfo {
    MergerInfo { key: KeyType::U64, ..info }
}

fn batch(name: &str, groups: &'static [(u32, u32)]) -> Family {
    let work = Arc::new(Merge::new(KEYS).problems(Problems::Batch(groups)));
    Family { name: name.into(), work, sizes: Sizes::Fixed(Problems::batch_size(groups)) }
}

/// The other kernels of the chapter "Merge" of Kirk and Hwu, "Programming Massively Parallel Processors".
fn methods() -> Vec<Family> {
    use MergeMethod::{Basic, CircularBuffer, Tiled};
    let methods = [("basic", Basic), ("tiled", Tiled), ("circular", CircularBuffer)];
    let items = [("keys_u32", KEYS), ("pairs_u32_u32", PAIRS)];
    let family = |(method, items): (&(&str, MergeMethod), &(&str, MergerInfo))| {
        Family::new(format!("merge_{}_{}", method.0, items.0), Merge::new(items.1.method(method.1)), METHOD_SIZES)
    };
    methods.iter().flat_map(|method| items.iter().map(move |items| (method, items))).map(family).collect()
}

pub(super) fn families() -> Vec<Family> {
    let mut families = merges();
    families.extend(multiway());
    families.extend(methods());
    families.extend(searches());
    families.extend(sets());
    families.extend(unique());
    families.extend(segments());
    families.extend(skewed());
    families.extend(updates());
    families.extend(comparators());
    families
}

/// Merges of 4, 8 and 16 sequences of equal length.
fn multiway() -> Vec<Family> {
    let items = [("keys_u32", KEYS), ("pairs_u32_u32", PAIRS)];
    let numbers = [(4, MULTIWAY), (8, MULTIWAY), (16, MULTIWAY_OF_MANY)];
    let family = |(items, (parts, sizes)): (&(&str, MergerInfo), (u32, &'static [u32]))| {
        Family::new(format!("merge_multiway_{}_k{parts}", items.0), Merge::new(items.1).parts(parts), sizes)
    };
    items.iter().flat_map(|items| numbers.map(|number| (items, number))).map(family).collect()
}

/// Merges of segments of the same length in each sequence.
fn segments() -> Vec<Family> {
    vec![
        Family::new("merge_segments_keys_u32_s4", Merge::new(KEYS).segments(4), LARGE),
        Family::new("merge_segments_keys_u32_s32", Merge::new(KEYS).segments(32), LARGE),
        Family::new("merge_segments_keys_u32_s1024", Merge::new(KEYS).segments(1024), LARGE),
        Family::new("merge_segments_pairs_u32_u32_s1024", Merge::new(PAIRS).segments(1024), LARGE),
    ]
}

/// Merges of skewed sequences: all keys of one are smaller, they alternate, one is empty, all keys are equal, or few
/// keys repeat.
fn skewed() -> Vec<Family> {
    let items = [("keys_u32", KEYS), ("pairs_u32_u32", PAIRS), ("keys_u64", long_keys(KEYS))];
    let skews = [
        ("a_before_b", Keys::Sorted),
        ("b_before_a", Keys::Reversed),
        ("alternating", Keys::Alternating),
        ("all_equal", Keys::Constant),
        ("low_entropy", Keys::LowEntropy),
    ];
    let of_items = |(items, info): (&str, MergerInfo)| {
        let of_keys = skews.map(|(skew, keys)| (skew, Merge::new(info).of(keys)));
        let one_empty = ("one_empty", Merge::new(info).divided(Division::AllInA));
        let all = of_keys.into_iter().chain([one_empty]);
        all.map(|(skew, merge)| Family::new(format!("merge_{items}_{skew}"), merge, SKEWED)).collect::<Vec<_>>()
    };
    items.into_iter().flat_map(of_items).collect()
}

/// Updates: a hundredth of the items of A is removed, and B has as many.
fn updates() -> Vec<Family> {
    let update = |info: MergerInfo| Merge::new(info.operation(MergeOperation::Update)).divided(Division::Delta);
    vec![
        Family::new("merge_update_keys_u32", update(KEYS), BASES),
        Family::new("merge_update_pairs_u32_u32", update(PAIRS), BASES),
    ]
}

/// Merges by a user-defined comparator, to compare with `merge_keys_u32` and `merge_pairs_u32_u32`.
fn comparators() -> Vec<Family> {
    vec![
        Family::new("merge_comparator_keys_u32", Merge::new(KEYS).compared(), SOME_SIZES),
        Family::new("merge_comparator_pairs_u32_u32", Merge::new(PAIRS).compared(), SOME_SIZES),
    ]
}

/// Sorted searches.
fn searches() -> Vec<Family> {
    let (lower, upper) = (MergerInfo::lower_bound(), MergerInfo::upper_bound());
    vec![
        Family::new("lower_bound_u32", Merge::new(lower), SEARCHED),
        Family::new("lower_bound_u32_unsorted", Merge::new(lower).unsorted(), SEARCHED),
        Family::new("upper_bound_u64", Merge::new(long_keys(upper)), LARGE),
        Family::new("upper_bound_u64_unsorted", Merge::new(long_keys(upper)).unsorted(), LARGE),
    ]
}

/// Set operations. The peers draw each number of a range for a set with the probability 1/4; these sets have one of
/// every four successive numbers.
fn sets() -> Vec<Family> {
    use MergeOperation::{Difference, Intersection, SymmetricDifference, Union};
    let counts = MergerInfo { drop_keys: true, ..KEYS };
    let families = [
        ("set_intersection_u32", KEYS.operation(Intersection)),
        ("set_union_u32", KEYS.operation(Union)),
        ("set_difference_u32", KEYS.operation(Difference)),
        ("set_symmetric_difference_u32", KEYS.operation(SymmetricDifference)),
        ("set_intersection_count_u32", counts.operation(Intersection)),
        ("set_union_u32_u32", PAIRS.operation(Union)),
        ("set_intersection_u64", long_keys(KEYS).operation(Intersection)),
        ("set_union_u64", long_keys(KEYS).operation(Union)),
    ];
    families.into_iter().map(|(name, info)| Family::new(name, Merge::new(info).of(Keys::Quarter), SET_SIZES)).collect()
}

/// Unique items of A, which has four copies of each key. B is empty.
fn unique() -> Vec<Family> {
    let counts = MergerInfo { drop_keys: true, ..KEYS };
    let families = [
        ("merge_unique_keys_u32", KEYS),
        ("merge_unique_count_u32", counts),
        ("merge_unique_pairs_u32_u32", PAIRS),
        ("merge_unique_keys_u64", long_keys(KEYS)),
    ];
    let family = |(name, info): (&str, MergerInfo)| {
        let unique = Merge::new(info.operation(MergeOperation::Unique)).divided(Division::AllInA);
        Family::new(name, unique.of(Keys::Copies(4)), UNIQUE_SIZES)
    };
    families.into_iter().map(family).collect()
}

fn merges() -> Vec<Family> {
    vec![
        Family::new("merge_keys_u32", Merge::new(KEYS), SIZES),
        Family::new("merge_pairs_u32_u32", Merge::new(PAIRS), SIZES),
        Family::new("merge_keys_u64", Merge::new(long_keys(KEYS)), SIZES),
        Family::new("merge_pairs_u64_u32", Merge::new(long_keys(PAIRS)), SOME_SIZES),
        Family::new("merge_keys_u32x3", Merge::new(MergerInfo { key: KeyType::U32x3, ..KEYS }), LONG_SIZES),
        Family::new("merge_keys_u32x4", Merge::new(MergerInfo { key: KeyType::U32x4, ..KEYS }), LONG_SIZES),
        Family::new("merge_index_u32", Merge::new(INDICES), SOME_SIZES),
        Family::new("merge_delta_keys_u32", Merge::new(KEYS).divided(Division::Delta), BASES),
        Family::new("merge_delta_pairs_u32_u32", Merge::new(PAIRS).divided(Division::Delta), BASES),
        Family::new(
            "merge_keys_u32_indirect",
            Merge::new(KEYS).problems(Problems::Indirect { max_factor: 1 }),
            SOME_SIZES,
        ),
        Family::new(
            "merge_keys_u32_indirect_few",
            Merge::new(KEYS).problems(Problems::Indirect { max_factor: 32 }),
            FEW,
        ),
        Family::new(
            "merge_pairs_u32_u32_interleaved",
            Merge::new(MergerInfo { layout: Layout::Interleaved, ..PAIRS }),
            LARGE,
        ),
        Family::new("merge_pairs_u32_16b", Merge::new(MergerInfo { value: ValueType::Bytes(16), ..KEYS }), LARGE),
        Family::new("merge_pairs_u32_64b", Merge::new(MergerInfo { value: ValueType::Bytes(64), ..KEYS }), LARGE),
        batch("merge_batch_tiny", &[(1024, 1000)]),
        batch("merge_batch_medium", &[(64, 1 << 14)]),
        batch("merge_batch_mixed", &[(512, 1000), (32, 1 << 14), (8, 1 << 17), (1, 1 << 20)]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(name: &str) -> Family {
        families().into_iter().find(|family| family.name == name).unwrap()
    }

    #[test]
    fn merges_of_the_peers_have_their_names_and_sizes() {
        for name in ["merge_keys_u32", "merge_pairs_u32_u32", "merge_keys_u64"] {
            let Sizes::Default(sizes) = family(name).sizes else { panic!("{name} has one size") };
            assert!([1 << 20, 1 << 24, 1 << 25, 1 << 28].iter().all(|size| sizes.contains(size)), "{name}: {sizes:?}");
        }
    }

    #[test]
    fn merge_path_has_the_sizes_of_the_other_methods() {
        let Sizes::Default(sizes) = family("merge_keys_u32").sizes else { panic!("one size") };
        assert!(METHOD_SIZES.iter().all(|size| sizes.contains(size)), "{sizes:?}");
    }

    #[test]
    fn bytes_follow_the_format() {
        let bytes = |name: &str| family(name).work.bytes_per_item();
        // As the peers count.
        assert_eq!(["merge_keys_u32", "merge_pairs_u32_u32", "merge_keys_u64"].map(bytes), [8, 16, 16]);
        assert_eq!(bytes("merge_pairs_u64_u32"), 24);
        assert_eq!(bytes("merge_index_u32"), 4 + 4, "keys are read, and indices written");
        assert_eq!(bytes("merge_pairs_u32_64b"), 2 * 68);
        let delta = family("merge_delta_pairs_u32_u32").work;
        assert_eq!((delta.bytes_per_item(), delta.item_count(1 << 20)), (16, (1 << 20) + 10_486));
    }
}
