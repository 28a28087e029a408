//! What is measured, as data.

use trommel::{KeyType, Layout, Placement, SorterInfo, ValueType};

/// How keys are distributed, as unsigned numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// Every bit uniform. Floats are any bits too, NaNs among them.
    Random,
    /// One value.
    Constant,
    /// Ascending.
    Sorted,
    /// Descending.
    Reversed,
    /// Three uniform draws combined by AND: 17.4 bits of entropy in 32.
    LowEntropy,
    /// So many uniform bits: what lies above is the same in all keys.
    LowBits(u32),
    /// `f32` or `f64` by their size, of mean 0 and standard deviation 1, about normally distributed.
    Normal,
}

/// What a case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// `vkCmdCopyBuffer`. Not the ceiling: a compute kernel may copy several times as fast.
    Copy,
    /// One sort.
    Sort { info: SorterInfo, keys: Keys, count_on_device: bool },
    /// One sort of segments, whose lengths these are, over and over again.
    Segments { info: SorterInfo, lengths: &'static [u32] },
    /// Sorts of keys recorded together: how many problems, of how many keys each.
    Batch(&'static [(u32, u32)]),
}

impl Work {
    /// How the keys are distributed.
    pub(crate) fn keys(self) -> Keys {
        if let Self::Sort { keys, .. } = self { keys } else { Keys::Random }
    }

    /// Bytes an item that the operation moves at least.
    pub(crate) fn bytes_per_item(self) -> u32 {
        match self {
            Self::Copy => 8,
            Self::Sort { info, .. } => sort_bytes(&info),
            // What fits a workgroup is read once and written once.
            Self::Segments { info, .. } => 2 * (info.key.size() + info.value.size()),
            Self::Batch(_) => sort_bytes(&KEYS),
        }
    }
}

/// A sort reads keys once for the digit counts, then reads and writes everything once a digit. Values too long for that are read and
/// written once, at the end; their places move instead.
fn sort_bytes(info: &SorterInfo) -> u32 {
    let (key, value) = (info.key.size(), info.value.size());
    let end_bit = if info.end_bit == 0 { info.key.bits() } else { info.end_bit };
    let digits = (end_bit - info.begin_bit).div_ceil(8);
    let fetched = if value > MOST_MOVED { value } else { 0 };
    let moved = if fetched != 0 { PLACE } else { value };
    // The first digit knows each place without reading it; the last writes no keys that are not wanted.
    let unread = if info.value == ValueType::Index { PLACE } else { 0 };
    let unwritten = if info.drop_keys { key } else { 0 };
    key + 2 * digits * (key + moved) + 2 * fetched - unread - unwritten
}

/// Longest value that moves with its key in every pass.
const MOST_MOVED: u32 = 16;
/// Bytes of a place.
const PLACE: u32 = 4;

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// Items in all.
    pub(crate) n: u32,
}

impl Case {
    /// The sorter that serves the case, its strategy aside. What sorts nothing has that of keys.
    pub(crate) fn info(&self) -> SorterInfo {
        let info = match self.work {
            Work::Sort { info, .. } | Work::Segments { info, .. } => info,
            Work::Copy | Work::Batch(_) => KEYS,
        };
        // Kernels that reach further are others.
        SorterInfo { max_count: if self.n > 1 << 30 { u32::MAX } else { 0 }, ..info }
    }
}

struct Family {
    name: &'static str,
    work: Work,
    sizes: &'static [u32],
}

impl Family {
    /// The same with keys distributed otherwise.
    const fn of(self, distribution: Keys) -> Self {
        match self.work {
            Work::Sort { info, count_on_device, .. } => {
                Self { work: Work::Sort { info, keys: distribution, count_on_device }, ..self }
            }
            _ => self,
        }
    }

    /// The same with its count on the device.
    const fn indirect(self) -> Self {
        match self.work {
            Work::Sort { info, keys, .. } => Self { work: Work::Sort { info, keys, count_on_device: true }, ..self },
            _ => self,
        }
    }
}

/// CPU drivers are for proving that the program works: their times mean nothing.
const MAX_ON_CPU: u32 = 1 << 20;

const SIZES: &[u32] = &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28];
const SOME_SIZES: &[u32] = &[1 << 12, 1 << 16, 1 << 20, 1 << 24];
const LARGE: &[u32] = &[1 << 24];
const SMALL_AND_LARGE: &[u32] = &[1 << 10, 1 << 12, 1 << 24];
const SMALL_AND_LARGER: &[u32] = &[1 << 10, 1 << 12, 1 << 24, 1 << 26];
const LARGER: &[u32] = &[1 << 24, 1 << 26];
const PRESERVED: &[u32] = &[1 << 10, 1 << 12, 1 << 20, 1 << 24];
const TINY: &[(u32, u32)] = &[(1024, 1000)];
const MEDIUM: &[(u32, u32)] = &[(64, 1 << 16)];
const MIXED: &[(u32, u32)] = &[(512, 1000), (32, 1 << 14), (8, 1 << 17), (1, 1 << 20)];

const KEYS: SorterInfo = SorterInfo::keys();
const PAIRS: SorterInfo = SorterInfo::pairs();

const fn keys(key: KeyType) -> SorterInfo {
    SorterInfo { key, ..KEYS }
}

const fn sort(name: &'static str, info: SorterInfo, sizes: &'static [u32]) -> Family {
    Family { name, work: Work::Sort { info, keys: Keys::Random, count_on_device: false }, sizes }
}

/// As the peers have them: into an array of its own.
const fn segments(name: &'static str, lengths: &'static [u32]) -> Family {
    let info = SorterInfo { segmented: true, placement: Placement::Preserve, ..KEYS };
    Family { name, work: Work::Segments { info, lengths }, sizes: LARGE }
}

const fn batch(name: &'static str, problems: &'static [(u32, u32)], size: &'static [u32; 1]) -> Family {
    Family { name, work: Work::Batch(problems), sizes: size }
}

// Names and inputs that the CUDA peers have too are theirs.
const FAMILIES: &[Family] = &[
    Family { name: "copy_buffer", work: Work::Copy, sizes: &[1 << 20, 1 << 24, 1 << 28] },
    sort("sort_keys_u32", KEYS, SIZES),
    sort("sort_pairs_u32_u32", PAIRS, SIZES),
    sort("sort_keys_u64", keys(KeyType::U64), SIZES),
    sort("sort_pairs_u64_u32", SorterInfo { key: KeyType::U64, ..PAIRS }, SIZES),
    sort("sort_keys_u32_indirect", KEYS, SOME_SIZES).indirect(),
    sort("sort_keys_u32_16bit_range", SorterInfo { end_bit: 16, ..KEYS }, &[1 << 26]),
    sort("sort_keys_u32_constant", KEYS, LARGER).of(Keys::Constant),
    sort("sort_keys_u32_sorted", KEYS, LARGER).of(Keys::Sorted),
    sort("sort_keys_u32_reversed", KEYS, LARGER).of(Keys::Reversed),
    sort("sort_keys_u32_low_entropy", KEYS, SMALL_AND_LARGER).of(Keys::LowEntropy),
    sort("sort_keys_u64_sorted", keys(KeyType::U64), LARGE).of(Keys::Sorted),
    sort("sort_keys_u64_low_entropy", keys(KeyType::U64), SMALL_AND_LARGE).of(Keys::LowEntropy),
    sort("sort_keys_u32_16bit", KEYS, LARGER).of(Keys::LowBits(16)),
    sort("sort_keys_u32_20bit", KEYS, LARGER).of(Keys::LowBits(20)),
    sort("sort_pairs_u32_u32_constant", PAIRS, LARGE).of(Keys::Constant),
    sort("sort_pairs_u32_u32_sorted", PAIRS, LARGE).of(Keys::Sorted),
    sort("sort_pairs_u32_u32_low_entropy", PAIRS, LARGE).of(Keys::LowEntropy),
    sort("sort_keys_f32", keys(KeyType::F32), LARGE),
    sort("sort_keys_f64", keys(KeyType::F64), LARGE),
    sort("sort_keys_f32_normal", keys(KeyType::F32), SMALL_AND_LARGE).of(Keys::Normal),
    sort("sort_keys_f64_normal", keys(KeyType::F64), SMALL_AND_LARGE).of(Keys::Normal),
    sort("sort_keys_u16", keys(KeyType::U16), LARGE),
    sort("sort_keys_u8", keys(KeyType::U8), LARGE),
    sort("sort_argsort_f32", SorterInfo::argsort(KeyType::F32), LARGE),
    sort("sort_pairs_u32_16b", SorterInfo { value: ValueType::Bytes(16), ..KEYS }, LARGE),
    sort("sort_pairs_u32_64b", SorterInfo { value: ValueType::Bytes(64), ..KEYS }, LARGE),
    sort("sort_pairs_u32_u32_interleaved", SorterInfo { layout: Layout::Interleaved, ..PAIRS }, LARGE),
    sort("sort_keys_u32_preserve", SorterInfo { placement: Placement::Preserve, ..KEYS }, PRESERVED),
    sort("sort_pairs_u32_u32_preserve", SorterInfo { placement: Placement::Preserve, ..PAIRS }, PRESERVED),
    sort("sort_keys_u64_preserve", SorterInfo { key: KeyType::U64, placement: Placement::Preserve, ..KEYS }, PRESERVED),
    sort("sort_pairs_u64_u32_preserve", SorterInfo { key: KeyType::U64, placement: Placement::Preserve, ..PAIRS }, PRESERVED),
    sort("sort_keys_u32_double_buffer", SorterInfo { placement: Placement::DoubleBuffer, ..KEYS }, LARGE),
    segments("segsort_keys_u32_s32", &[32]),
    segments("segsort_keys_u32_s1024", &[1024]),
    segments("segsort_keys_u32_s65536", &[65536]),
    segments("segsort_keys_u32_mixed", &[1, 0, 40, 7, 1000, 300, 0, 5000, 90, 70_000, 3, 2_000_000]),
    batch("sort_batch_tiny", TINY, &[batch_size(TINY)]),
    batch("sort_batch_medium", MEDIUM, &[batch_size(MEDIUM)]),
    batch("sort_batch_mixed", MIXED, &[batch_size(MIXED)]),
];

const fn batch_size(problems: &[(u32, u32)]) -> u32 {
    let (mut size, mut i) = (0, 0);
    while i < problems.len() {
        size += problems[i].0 * problems[i].1;
        i += 1;
    }
    size
}

/// The cases that `filter` names, or whose names contain what names none (all, where it is empty), at the sizes `n` (their own,
/// where it is empty). The size of a batch is fixed.
pub(crate) fn select(filter: &[String], n: &[u32], is_cpu: bool) -> Vec<Case> {
    let is_name = |part: &str| FAMILIES.iter().any(|family| family.name == part);
    let matches = |name: &str, part: &str| if is_name(part) { name == part } else { name.contains(part) };
    let wanted = |name: &str| filter.is_empty() || filter.iter().any(|part| matches(name, part));
    let mut cases = Vec::new();
    for family in FAMILIES.iter().filter(|family| wanted(family.name)) {
        let sizes = if n.is_empty() { family.sizes } else { n };
        let fits = |n: &&u32| match family.work {
            Work::Batch(_) => family.sizes.contains(n),
            _ => true,
        };
        let small_enough = |n: &&u32| !is_cpu || **n <= MAX_ON_CPU;
        let sizes = sizes.iter().filter(fits).filter(|size| !n.is_empty() || small_enough(size));
        cases.extend(sizes.map(|&n| Case { name: family.name, work: family.work, n }));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (index, family) in FAMILIES.iter().enumerate() {
            assert!(FAMILIES[..index].iter().all(|other| other.name != family.name), "{} appears twice", family.name);
        }
    }

    #[test]
    fn filter_and_sizes_choose() {
        let cases = select(&["pairs".into()], &[7], false);
        let has_values = |case: &Case| case.info().value != ValueType::None;
        assert!(!cases.is_empty() && cases.iter().all(|case| has_values(case) && case.n == 7));
        assert!(select(&["batch".into()], &[7], false).is_empty(), "the size of a batch is fixed");
        assert_eq!(select(&["batch_tiny".into()], &[], true)[0].n, 1_024_000);
        assert!(select(&[], &[], true).iter().all(|case| case.n <= MAX_ON_CPU));
        assert!(select(&["sort_keys_u32".into()], &[7], false).len() == 1, "a whole name is that case alone");
        assert!(select(&["nothing of that name".into()], &[], false).is_empty());
    }

    #[test]
    fn many_keys_take_a_sorter_of_their_own() {
        let info = |n| select(&["sort_keys_u64".into()], &[n], false)[0].info();
        assert_eq!(info(1 << 30), SorterInfo { key: KeyType::U64, ..SorterInfo::keys() });
        assert_eq!(info((1 << 30) + 1).max_count, u32::MAX);
    }

    #[test]
    fn bytes_follow_the_format() {
        let bytes = |name: &str| select(&[name.into()], &[1], false)[0].work.bytes_per_item();
        // As the peers count.
        assert_eq!(["sort_keys_u32", "sort_pairs_u32_u32", "sort_keys_u64", "sort_pairs_u64_u32"].map(bytes), [36, 68, 136, 200]);
        assert_eq!(bytes("sort_keys_u32_16bit_range"), 4 + 2 * (4 + 4));
        assert_eq!(bytes("sort_keys_u8"), 1 + (1 + 1));
        assert_eq!(
            bytes("sort_argsort_f32"),
            4 + (4 + 8) + 2 * (8 + 8) + (8 + 4),
            "no place read at first, no key written at last"
        );
        assert_eq!(bytes("sort_pairs_u32_16b"), 4 + 4 * (20 + 20));
        assert_eq!(
            bytes("sort_pairs_u32_64b"),
            4 + (4 + 8) + 3 * (8 + 8) + (4 + 64 + 64),
            "places, and in the end what lies there"
        );
    }
}
