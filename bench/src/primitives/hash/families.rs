//! The cases of hash tables. Those that the CUDA peers have too have their names: distinct random keys in a table of
//! 2^27 slots, so many percent of which are in use after the insertion.

use super::action::{Action, Hashing};
use crate::workload::Family;
use trommel::{HasherInfo, KeyType, ValueType};

/// Loads in percent, and their sizes. The last one is that of the peers: so much of 2^27 slots.
const LOADS: [(u32, &[u32]); 5] = [
    (25, &[1 << 16, 1 << 20, 1 << 24, 1 << 26, 1 << 25]),
    (50, &[1 << 16, 1 << 20, 1 << 24, 1 << 26]),
    (80, &[1 << 16, 1 << 20, 1 << 24, 1 << 26, 107_374_182]),
    (90, &[1 << 16, 1 << 20, 1 << 24, 1 << 26, 120_795_955]),
    (95, &[1 << 16, 1 << 20, 1 << 24, 1 << 26, 127_506_841]),
];
/// A bucketed table with this load has as many slots as a linear one with a load of .95: slots of overflow slices are
/// counted, too.
const EQUAL_SLOTS: (u32, &[u32]) = (98, &[1 << 26, 127_506_841]);
const SIZES: &[u32] = LOADS[2].1;
const LONG_SIZES: &[u32] = &[1 << 16, 1 << 20, 1 << 24, 1 << 26];
/// Distinct keys of multimaps: an eighth of the items of `LONG_SIZES`.
const DISTINCT: &[u32] = &[1 << 13, 1 << 17, 1 << 21, 1 << 23];
/// Half of the keys of a table of 2^27 slots.
const ERASED_SIZES: &[u32] = &[1 << 16, 1 << 20, 1 << 24, 53_687_091];
/// Items of batches into a large table, and its loads before.
const BATCHES: &[u32] = &[1 << 20, 1 << 22];
const LOADS_BEFORE: [u32; 8] = [0, 25, 50, 70, 80, 87, 90, 93];
const LARGE_TABLE: u32 = 1 << 27;
/// Loads in per cent, and as many keys of 2^27 slots. The "simple GPU hash table" has published its probes at .5 and
/// .97. At .97, a linear table has no slot for some keys: all slots of their paths are full.
const PROBED: [(&str, HasherInfo, u32, &[u32]); 4] = [
    ("", PAIRS, 50, &[1 << 26]),
    ("", PAIRS, 97, &[130_191_196]),
    ("linear_", PAIRS.linear(), 50, &[1 << 26]),
    ("linear_", PAIRS.linear(), 95, &[127_506_841]),
];
const CLEARED: &[u32] = &[1 << 16, 1 << 20, 1 << 24, 1 << 27];

const KEYS: HasherInfo = HasherInfo::keys();
const PAIRS: HasherInfo = HasherInfo::pairs();
const LONG: HasherInfo = HasherInfo { key: KeyType::U64, value: ValueType::Bytes(8), ..KEYS };
/// Key and value of more than 16 bytes together, so that a bucket has 128 bytes.
const WIDE: HasherInfo = HasherInfo { key: KeyType::U32x4, value: ValueType::Bytes(8), ..KEYS };
/// Keys that hashes do not identify.
const LONGER: HasherInfo = HasherInfo { key: KeyType::U32x3, value: ValueType::Bytes(4), ..KEYS };

pub(super) fn families() -> Vec<Family> {
    let mut families = Vec::new();
    for (load, sizes) in LOADS {
        families.extend(inserted_and_found("", PAIRS, load, sizes));
    }
    families.extend(inserted_and_found("", PAIRS, EQUAL_SLOTS.0, EQUAL_SLOTS.1));
    for (load, _) in &LOADS[1..] {
        families.extend(inserted_and_found("u64_", LONG, *load, LONG_SIZES));
    }
    let at_80 = |action| Hashing::new(PAIRS, action).load(80);
    families.extend(inserted_and_found("keys_", KEYS, 80, SIZES));
    families.extend([
        Family::new("hash_assign_load80", at_80(Action::Assign), SIZES),
        Family::new("hash_add_load80", at_80(Action::Add), SIZES),
        Family::new("hash_count_64_load80", at_80(Action::Increment), LONG_SIZES),
        Family::new("hash_erase_load80", at_80(Action::EraseHalf), ERASED_SIZES),
        Family::new("hash_export_load80", at_80(Action::Export), SIZES),
        Family::new("hash_clear", Hashing::new(PAIRS, Action::Clear), CLEARED),
    ]);
    for (items, info) in [("u64", LONG), ("u32x3", LONGER)] {
        let work = Hashing::new(info, Action::Mixed).load(80);
        families.push(Family::new(format!("hash_mixed_{items}_load80"), work, LONG_SIZES));
    }
    families.push(Family::new("hash_insert_u32x3_load80", Hashing::new(LONGER, Action::Insert).load(80), LONG_SIZES));
    families.extend(inserted_and_found("u32x4_u64_", WIDE, 80, LONG_SIZES));
    families.push(Family::new("hash_statistics_load80", at_80(Action::Statistics), SIZES));
    for (scheme, info, load, sizes) in PROBED {
        let work = Hashing::new(info, Action::Statistics).load(load);
        families.push(Family::new(format!("hash_statistics_{scheme}load{load}"), work, sizes));
    }
    families.extend(linear());
    families.extend(composed("", PAIRS, SIZES, LOADS[1].1));
    families.extend(composed("linear_", PAIRS.linear(), last(SIZES), last(LOADS[1].1)));
    families.extend(multimaps());
    for load in LOADS_BEFORE {
        for (scheme, info) in [("", PAIRS), ("linear_", PAIRS.linear())] {
            let work = Hashing::new(info, Action::InsertInto(LARGE_TABLE)).load(load);
            families.push(Family::new(format!("hash_insert_into_{scheme}load{load:02}_2^27"), work, BATCHES));
        }
    }
    families
}

/// Tables with linear probing. They have a power of two of slots, so the sizes are those of the peers.
fn linear() -> Vec<Family> {
    let info = PAIRS.linear();
    let mut families = Vec::new();
    for (load, sizes) in LOADS {
        let sizes = last(sizes);
        families.extend(inserted_and_found("linear_", info, load, sizes));
        let concurrent = Hashing::new(info, Action::Insert).load(load).concurrent();
        families.push(Family::new(format!("hash_insert_linear_concurrent_load{load}"), concurrent, sizes));
    }
    let at_80 = |action| Hashing::new(info, action).load(80);
    let sizes = last(SIZES);
    families.extend([
        Family::new("hash_assign_linear_load80", at_80(Action::Assign), sizes),
        Family::new("hash_add_linear_load80", at_80(Action::Add), sizes),
        Family::new("hash_erase_linear_load80", at_80(Action::EraseHalf), last(ERASED_SIZES)),
        Family::new("hash_export_linear_load80", at_80(Action::Export), sizes),
    ]);
    families
}

/// The last size alone.
fn last(sizes: &'static [u32]) -> &'static [u32] {
    sizes.last_chunk::<1>().map_or(sizes, |last| last)
}

/// Operations that select keys by value or that consist of several, and resizable tables. `half_full`: sizes at a load
/// of .5.
fn composed(
    scheme: &str,
    info: HasherInfo,
    sizes: &'static [u32],
    half_full: &'static [u32],
) -> impl Iterator<Item = Family> {
    let resizable = info.resizable();
    let at_80 = [
        ("find_or_insert", "", info, Action::FindOrInsert),
        ("mixed", "", info, Action::Mixed),
        ("erase_if", "", info, Action::EraseIf),
        ("export_if", "", info, Action::ExportIf),
        ("rehash", "", info, Action::Rehash),
        ("resize", "", resizable, Action::Grow),
        ("insert", "resizable_", resizable, Action::Insert),
        ("find_hit", "resizable_", resizable, Action::FindHits),
    ];
    let idle = Hashing::new(resizable, Action::StayAsIs).load(50);
    let idle = Family::new(format!("hash_resize_{scheme}idle"), idle, half_full);
    let families = at_80.map(|(name, flag, info, action)| {
        let work = Hashing::new(info, action).load(80);
        Family::new(format!("hash_{name}_{scheme}{flag}load80"), work, sizes)
    });
    let half = [("insert", Action::Insert), ("find_hit", Action::FindHits)].map(|(name, action)| {
        let work = Hashing::new(info, action).load(80).stencil();
        Family::new(format!("hash_{name}_{scheme}half_load80"), work, last(sizes))
    });
    families.into_iter().chain([idle]).chain(half)
}

/// Multimaps: each key once, or eight times on average.
fn multimaps() -> [Family; 5] {
    let work = |action, load| Hashing::new(PAIRS.linear().multimap(), action).load(load);
    [
        Family::new("hash_insert_multimap_load50", work(Action::Insert, 50), LOADS[1].1),
        Family::new("hash_insert_multimap_load80", work(Action::Insert, 80), last(SIZES)),
        Family::new("hash_insert_multimap_8_load50", work(Action::InsertRepeated, 50), LONG_SIZES),
        Family::new("hash_count_multimap_8_load50", work(Action::CountValues, 50), DISTINCT),
        Family::new("hash_retrieve_multimap_8_load50", work(Action::Retrieve, 50), LONG_SIZES),
    ]
}

/// An insertion into an empty table, and searches for keys that it has, or does not have.
fn inserted_and_found(items: &str, info: HasherInfo, load: u32, sizes: &'static [u32]) -> [Family; 3] {
    let actions = [("insert", Action::Insert), ("find_hit", Action::FindHits), ("find_miss", Action::FindMisses)];
    actions.map(|(name, action)| {
        Family::new(format!("hash_{name}_{items}load{load}"), Hashing::new(info, action).load(load), sizes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Sizes;

    #[test]
    fn the_largest_tables_are_those_of_the_peers() {
        for (load, sizes) in LOADS {
            let peers = (1u64 << 27) * u64::from(load) / 100;
            assert_eq!(u64::from(*sizes.last().unwrap()), peers, "{load} percent");
            assert_eq!(Hashing::new(PAIRS, Action::Insert).load(load).slots(*sizes.last().unwrap()), 1 << 27);
        }
        let families = families();
        for name in ["hash_insert_load25", "hash_find_hit_load50", "hash_find_miss_load95"] {
            let family = families.iter().find(|family| family.name == name).unwrap();
            assert!(matches!(family.sizes, Sizes::Default(_)));
            assert_eq!(family.work.bytes_per_item(), 8, "as the peers count");
        }
        assert_eq!(Hashing::new(PAIRS, Action::EraseHalf).load(80).slots(53_687_091), 1 << 27);
    }
}
