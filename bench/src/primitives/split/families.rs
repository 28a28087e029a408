//! The cases of splits. Names and inputs that the CUDA peers have too are theirs.

use super::binary::Binary;
use super::info::{by_bits, by_splitters, long_keys, split_index, split_keys, split_pairs};
use super::insertion::Insertion;
use super::reduced_bit::ReducedBitSort;
use super::workload::Split;
use crate::inputs::{Fill, Keys};
use crate::primitives::sort::workload::Sort;
use crate::problems::{MIXED_LENGTHS, Problems};
use crate::workload::{Family, Workload};
use trommel::{Placement, SorterInfo, SplitMethod, SplitOutput, SplitterInfo};

const LARGE: &[u32] = &[1 << 24];
/// The sizes of the peers.
const SPLIT_SIZES: &[u32] = &[1 << 20, 1 << 24, 1 << 25, 1 << 28];
const APPROACHES: &[u32] = &[1 << 25];
/// Far fewer items than the maximum that the host knows.
const FEW: &[u32] = &[1 << 20];

/// A family for each power of two of buckets that one pass can split into. Buckets are the highest bits of the key.
/// Their number ends the name.
fn powers_of_two<W: Workload + 'static>(
    name: &str,
    info: SplitterInfo,
    sizes: &'static [u32],
    work: impl Fn(SplitterInfo) -> W,
) -> impl Iterator<Item = Family> {
    [2, 4, 8, 16, 32, 64, 128, 256].into_iter().map(move |buckets| {
        Family::new(format!("{name}{buckets}"), work(by_bits(SplitterInfo { buckets, ..info })), sizes)
    })
}

fn segments(name: &str, info: SplitterInfo, lengths: &'static [u32]) -> Family {
    let info = by_bits(SplitterInfo { segmented: true, ..info });
    Family::new(name, Split::new(info).problems(Problems::Segments(lengths)), LARGE)
}

pub(super) fn families() -> Vec<Family> {
    let mut families = Vec::new();
    families.extend(powers_of_two("split_keys_m", split_keys(0), SPLIT_SIZES, Split::new));
    families.extend(powers_of_two("split_pairs_m", split_pairs(0), SPLIT_SIZES, Split::new));
    families.extend(splits());
    // The other variants of Ashkiani, Davidson, Meyer and Owens.
    for (name, method) in [("split_subgroups", SplitMethod::Subgroup), ("split_direct", SplitMethod::Direct)] {
        families.extend(powers_of_two(&format!("{name}_keys_m"), split_keys(0).method(method), APPROACHES, Split::new));
        families.extend(powers_of_two(
            &format!("{name}_pairs_m"),
            split_pairs(0).method(method),
            APPROACHES,
            Split::new,
        ));
    }
    // Programs without a split use these, or sort by all bits (`split_by_sort`). None of them writes offsets.
    for (items, info) in [("keys", split_keys(0)), ("pairs", split_pairs(0))] {
        let keys = Keys::Random;
        families.extend(powers_of_two(&format!("split_by_binary_{items}_m"), info, APPROACHES, |info| Binary {
            info,
            keys,
        }));
    }
    for (items, info) in [("keys", split_keys(0)), ("pairs", split_pairs(0))] {
        let (name, keys) = (format!("split_by_reduced_bit_{items}_m"), Keys::Random);
        families.extend(powers_of_two(&name, info, APPROACHES, |info| ReducedBitSort { info, keys }));
    }
    for (items, info) in [("keys", split_keys(0)), ("pairs", split_pairs(0))] {
        let (name, keys) = (format!("split_by_insertion_{items}_m"), Keys::Random);
        families.extend(powers_of_two(&name, info, APPROACHES, |info| Insertion { info, keys }));
    }
    families
}

fn splits() -> Vec<Family> {
    vec![
        // The peer's pivot is the middle of the range, and its order within the second part the reverse.
        Family::new("partition_2", Split::new(split_keys(2)), SPLIT_SIZES),
        Family::new("split_keys_m3", Split::new(split_keys(3)), LARGE),
        Family::new("split_keys_m5", Split::new(split_keys(5)), LARGE),
        Family::new("split_keys_m17", Split::new(split_keys(17)), LARGE),
        Family::new("split_keys_m31", Split::new(split_keys(31)), LARGE),
        Family::new("split_keys_m33", Split::new(split_keys(33)), LARGE),
        Family::new("split_keys_m100", Split::new(split_keys(100)), LARGE),
        Family::new("split_keys_m255", Split::new(split_keys(255)), LARGE),
        Family::new("split_pairs_m5", Split::new(split_pairs(5)), LARGE),
        Family::new("split_pairs_m33", Split::new(split_pairs(33)), LARGE),
        Family::new("split_pairs_m100", Split::new(split_pairs(100)), LARGE),
        Family::new("split_range_keys_m32", Split::new(split_keys(32)), LARGE),
        Family::new("split_range_keys_m256", Split::new(split_keys(256)), LARGE),
        Family::new("split_range_pairs_m32", Split::new(split_pairs(32)), LARGE),
        Family::new("split_range_pairs_m256", Split::new(split_pairs(256)), LARGE),
        Family::new("split_splitters_keys_m8", Split::new(by_splitters(split_keys(8))), LARGE),
        Family::new("split_splitters_keys_m256", Split::new(by_splitters(split_keys(256))), LARGE),
        Family::new("split_splitters_pairs_m32", Split::new(by_splitters(split_pairs(32))), LARGE),
        Family::new("split_keys_m1000", Split::new(split_keys(1000)), LARGE),
        Family::new("split_keys_m65536", Split::new(by_bits(split_keys(65_536))), LARGE),
        Family::new("split_pairs_m65536", Split::new(by_bits(split_pairs(65_536))), LARGE),
        Family::new("split_keys_m2_one", Split::new(by_bits(split_keys(2))).of(Keys::Buckets(Fill::One, 2)), LARGE),
        Family::new(
            "split_keys_m2_binomial",
            Split::new(by_bits(split_keys(2))).of(Keys::Buckets(Fill::Binomial, 2)),
            LARGE,
        ),
        Family::new(
            "split_keys_m2_alternate",
            Split::new(by_bits(split_keys(2))).of(Keys::Buckets(Fill::Alternate, 2)),
            LARGE,
        ),
        Family::new("split_keys_m32_one", Split::new(by_bits(split_keys(32))).of(Keys::Buckets(Fill::One, 32)), LARGE),
        Family::new(
            "split_keys_m32_binomial",
            Split::new(by_bits(split_keys(32))).of(Keys::Buckets(Fill::Binomial, 32)),
            LARGE,
        ),
        Family::new(
            "split_keys_m32_alternate",
            Split::new(by_bits(split_keys(32))).of(Keys::Buckets(Fill::Alternate, 32)),
            LARGE,
        ),
        Family::new(
            "split_keys_m256_one",
            Split::new(by_bits(split_keys(256))).of(Keys::Buckets(Fill::One, 256)),
            LARGE,
        ),
        Family::new(
            "split_keys_m256_binomial",
            Split::new(by_bits(split_keys(256))).of(Keys::Buckets(Fill::Binomial, 256)),
            LARGE,
        ),
        Family::new(
            "split_keys_m256_alternate",
            Split::new(by_bits(split_keys(256))).of(Keys::Buckets(Fill::Alternate, 256)),
            LARGE,
        ),
        Family::new(
            "split_pairs_m32_one",
            Split::new(by_bits(split_pairs(32))).of(Keys::Buckets(Fill::One, 32)),
            LARGE,
        ),
        Family::new(
            "split_pairs_m32_binomial",
            Split::new(by_bits(split_pairs(32))).of(Keys::Buckets(Fill::Binomial, 32)),
            LARGE,
        ),
        Family::new(
            "split_pairs_m32_alternate",
            Split::new(by_bits(split_pairs(32))).of(Keys::Buckets(Fill::Alternate, 32)),
            LARGE,
        ),
        Family::new("split_keys_m33_one", Split::new(split_keys(33)).of(Keys::Buckets(Fill::One, 33)), LARGE),
        Family::new("split_keys_m33_binomial", Split::new(split_keys(33)).of(Keys::Buckets(Fill::Binomial, 33)), LARGE),
        Family::new(
            "split_keys_m33_alternate",
            Split::new(split_keys(33)).of(Keys::Buckets(Fill::Alternate, 33)),
            LARGE,
        ),
        Family::new("split_index_m2", Split::new(by_bits(split_index(2))), LARGE),
        Family::new("split_index_m32", Split::new(by_bits(split_index(32))), LARGE),
        Family::new("split_index_m256", Split::new(by_bits(split_index(256))), LARGE),
        Family::new("split_keys_u64_m2", Split::new(by_bits(long_keys(split_keys(2)))), LARGE),
        Family::new("split_keys_u64_m32", Split::new(by_bits(long_keys(split_keys(32)))), LARGE),
        Family::new("split_keys_u64_m256", Split::new(by_bits(long_keys(split_keys(256)))), LARGE),
        Family::new("split_pairs_u64_u32_m32", Split::new(by_bits(long_keys(split_pairs(32)))), LARGE),
        Family::new(
            "split_by_sort_keys",
            Sort::new(SorterInfo { placement: Placement::Preserve, ..SorterInfo::keys() }),
            APPROACHES,
        ),
        Family::new(
            "split_by_sort_pairs",
            Sort::new(SorterInfo { placement: Placement::Preserve, ..SorterInfo::pairs() }),
            APPROACHES,
        ),
        Family::new(
            "split_one_keys_m2",
            Split::new(by_bits(split_keys(2)).output(SplitOutput::Bucket(1))),
            SPLIT_SIZES,
        ),
        Family::new(
            "split_one_pairs_m2",
            Split::new(by_bits(split_pairs(2)).output(SplitOutput::Bucket(1))),
            SPLIT_SIZES,
        ),
        Family::new(
            "split_one_keys_m32",
            Split::new(by_bits(split_keys(32)).output(SplitOutput::Bucket(1))),
            SPLIT_SIZES,
        ),
        Family::new(
            "split_placed_keys_m32",
            Split::new(by_bits(split_keys(32)).output(SplitOutput::Placed)),
            SPLIT_SIZES,
        ),
        Family::new(
            "split_placed_pairs_m32",
            Split::new(by_bits(split_pairs(32)).output(SplitOutput::Placed)),
            SPLIT_SIZES,
        ),
        Family::new(
            "split_counts_keys_m32",
            Split::new(by_bits(split_keys(32)).output(SplitOutput::Counts)),
            SPLIT_SIZES,
        ),
        Family::new(
            "split_counts_keys_m256",
            Split::new(by_bits(split_keys(256)).output(SplitOutput::Counts)),
            SPLIT_SIZES,
        ),
        Family::new(
            "split_ranks_keys_m32",
            Split::new(by_bits(split_keys(32)).output(SplitOutput::Ranks)),
            SPLIT_SIZES,
        ),
        segments("segsplit_keys_m8_s32", split_keys(8), &[32]),
        segments("segsplit_keys_m32_s1024", split_keys(32), &[1024]),
        segments("segsplit_keys_m32_s65536", split_keys(32), &[65536]),
        segments("segsplit_keys_m32_mixed", split_keys(32), MIXED_LENGTHS),
        segments("segsplit_pairs_m32_mixed", split_pairs(32), MIXED_LENGTHS),
        Family::new(
            "split_keys_m32_indirect",
            Split::new(by_bits(split_keys(32))).problems(Problems::Indirect { max_factor: 1 }),
            SPLIT_SIZES,
        ),
        Family::new(
            "split_keys_m32_indirect_few",
            Split::new(by_bits(split_keys(32))).problems(Problems::Indirect { max_factor: 32 }),
            FEW,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Sizes;

    fn family(name: &str) -> Family {
        families().into_iter().find(|family| family.name == name).unwrap()
    }

    #[test]
    fn every_approach_splits_by_every_power_of_two() {
        for approach in ["split", "split_by_binary", "split_by_reduced_bit", "split_by_insertion"] {
            for (items, bits) in ["keys", "pairs"].into_iter().flat_map(|items| (1..=8).map(move |bits| (items, bits)))
            {
                let family = family(&format!("{approach}_{items}_m{}", 1 << bits));
                assert!(matches!(family.sizes, Sizes::Default(sizes) if sizes.contains(&(1 << 25))), "{}", family.name);
                let work = format!("{:?}", family.work);
                assert!(work.contains(&format!("Bits {{ begin_bit: {} }}", 32 - bits)), "{work}");
                assert_eq!(work.contains("value: U32"), items == "pairs", "{work}");
            }
        }
    }

    #[test]
    fn splits_of_the_peers_have_their_names_and_sizes() {
        let keys = (1..=8).map(|bits| format!("split_keys_m{}", 1 << bits));
        let pairs = [2, 8, 32, 256].map(|buckets| format!("split_pairs_m{buckets}"));
        for name in keys.chain(pairs).chain(["partition_2".into()]) {
            assert!(
                matches!(family(&name).sizes, Sizes::Default([0x10_0000, 0x100_0000, 0x200_0000, 0x1000_0000])),
                "{name}"
            );
        }
    }

    #[test]
    fn bytes_follow_the_format() {
        let bytes = |name: &str| family(name).work.bytes_per_item();
        assert_eq!(["split_keys_m32", "split_pairs_m32", "split_index_m32"].map(bytes), [12, 20, 12]);
        assert_eq!(["partition_2", "split_keys_u64_m32"].map(bytes), [12, 24]);
        assert_eq!(["split_one_keys_m2", "split_one_pairs_m2", "split_one_keys_m32"].map(bytes), [4 + 2, 8 + 4, 4]);
        assert_eq!(["split_placed_keys_m32", "split_counts_keys_m256", "split_ranks_keys_m32"].map(bytes), [8, 4, 8]);
        assert_eq!(bytes("split_by_binary_keys_m256"), 8 * 12);
        assert_eq!(bytes("split_by_reduced_bit_keys_m8"), (4 + 4) + (4 + 8 + 4), "labels written, and sorted by");
        assert_eq!(
            bytes("split_by_reduced_bit_pairs_m8"),
            (8 + 12) + (4 + 12 + 8) + (8 + 8),
            "packed and unpacked besides"
        );
        assert_eq!(bytes("split_by_insertion_keys_m8"), 8 + 8 + (2 * 4 + 4), "cleared, inserted, compacted");
        assert_eq!(bytes("split_by_insertion_pairs_m8"), 8 + 16 + (2 * 8 + 8));
    }
}
