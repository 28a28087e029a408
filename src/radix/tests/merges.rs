//! Which problems are merged, and in how many levels and windows.

use super::primitives::{Algorithm, Selection as _};
use super::problems::Sorts;
use crate::core::tests::NVIDIA;
use crate::merge::Merging;
use crate::sort;
use crate::tuning::Profile;
use crate::{KeyType, SorterInfo, Strategy};

fn algorithm(info: SorterInfo, count: u32) -> Algorithm {
    let merges =
        || ["10000:128x4/128x4", "1048576:256x4/512x8"].map(|merge| merge.parse().unwrap()).into_iter().collect();
    let mut profile = Profile::for_device(&NVIDIA);
    profile.sort.pairs.merges.clear();
    (profile.sort.keys.merges, profile.sort.long.merges) = (merges(), merges());
    Sorts::new(info.strategy(Strategy::Lookback)).config(&NVIDIA, &profile).algorithm(count)
}

fn merging(info: SorterInfo, count: u32) -> Option<Merging> {
    algorithm(info, count).merging()
}

#[test]
fn levels_follow_from_the_count() {
    let keys = SorterInfo::keys();
    assert!(matches!(algorithm(keys, 8192), Algorithm::Sort(sort::Algorithm::Small(_))), "one workgroup comes first");
    for (count, expected) in [
        (8193, Some((512, 2))),
        (10_001, Some((1024, 1))),
        (16_384, Some((1024, 1))),
        (16_385, Some((1024, 2))),
        (1 << 18, Some((1024, 2))),
        (1 << 20, Some((1024, 3))),
        ((1 << 20) + 1, None),
    ] {
        let found = merging(keys, count).map(|merging| (merging.sized.run.tile(), merging.levels));
        assert_eq!(found, expected, "{count} keys");
    }
}

#[test]
fn items_that_exceed_shared_memory_are_sorted_by_tiles() {
    let (keys, pairs) = (SorterInfo::keys(), SorterInfo::pairs());
    let long = |of: SorterInfo| SorterInfo { key: KeyType::U64, ..of };
    assert!(merging(long(keys), 20_000).is_some(), "two words of 4096 items are 33 KiB");
    assert!(merging(long(pairs), 20_000).is_none(), "three words are too many");
    assert!(merging(pairs, 20_000).is_none(), "nothing is said of pairs");
    assert!(merging(SorterInfo { segmented: true, ..keys }, 20_000).is_none(), "segments are not merged");
}

/// The layout for one count suffices for all smaller counts. There are fewer than twice as many windows as if all were
/// full.
#[test]
fn windows_never_get_fewer() {
    let merging = merging(SorterInfo::keys(), 1 << 20).unwrap();
    for levels in 1..=merging.levels {
        let windows: Vec<_> = (0..=1 << 16).map(|i| merging.windows(levels, i * 16)).collect();
        let least = (1u64 << 20) / u64::from(merging.sized.window.tile());
        assert!(windows.is_sorted() && windows[0] == 0);
        assert!((least..least * 2).contains(&windows[1 << 16]), "{} windows", windows[1 << 16]);
    }
}
