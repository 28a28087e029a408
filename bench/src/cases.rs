//! What is measured, as data.

/// How keys are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// 32 uniform bits.
    Random,
    /// One value.
    Constant,
    /// Ascending.
    Sorted,
    /// Descending.
    Reversed,
    /// Three uniform draws combined by AND: 17.4 bits of entropy a key.
    LowEntropy,
    /// 16 uniform bits: the upper digits are all the same.
    Low16Bits,
}

/// What a case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// `vkCmdCopyBuffer`. Not the ceiling: a compute kernel may copy several times as fast.
    Copy,
    /// One sort.
    Sort { keys: Keys, values: bool, count_on_device: bool },
    /// Sorts of keys recorded together: how many problems, of how many keys each.
    Batch(&'static [(u32, u32)]),
}

impl Work {
    /// Whether values move with the keys.
    pub(crate) fn has_values(self) -> bool {
        matches!(self, Self::Sort { values: true, .. })
    }

    /// How the keys are distributed.
    pub(crate) fn keys(self) -> Keys {
        if let Self::Sort { keys, .. } = self { keys } else { Keys::Random }
    }

    /// Bytes an item that the operation moves: a copy reads and writes; a sort reads keys once for the digit counts, then reads
    /// and writes everything once a digit.
    pub(crate) fn bytes_per_item(self) -> u32 {
        match self {
            Self::Copy => 8,
            _ if self.has_values() => 4 + 4 * 2 * 8,
            _ => 4 + 4 * 2 * 4,
        }
    }
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) work: Work,
    /// Items in all.
    pub(crate) n: u32,
}

struct Family {
    name: &'static str,
    work: Work,
    sizes: &'static [u32],
}

/// CPU drivers are for proving that the program works: their times mean nothing.
const MAX_ON_CPU: u32 = 1 << 20;

const SIZES: &[u32] = &[1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28];
const TINY: &[(u32, u32)] = &[(1024, 1000)];
const MEDIUM: &[(u32, u32)] = &[(64, 1 << 16)];
const MIXED: &[(u32, u32)] = &[(512, 1000), (32, 1 << 14), (8, 1 << 17), (1, 1 << 20)];

const fn sort(name: &'static str, keys: Keys, values: bool, sizes: &'static [u32]) -> Family {
    Family { name, work: Work::Sort { keys, values, count_on_device: false }, sizes }
}

const FAMILIES: &[Family] = &[
    Family { name: "copy_buffer", work: Work::Copy, sizes: &[1 << 20, 1 << 24, 1 << 28] },
    sort("sort_keys_u32", Keys::Random, false, SIZES),
    sort("sort_pairs_u32_u32", Keys::Random, true, SIZES),
    Family {
        name: "sort_keys_u32_indirect",
        work: Work::Sort { keys: Keys::Random, values: false, count_on_device: true },
        sizes: &[1 << 12, 1 << 16, 1 << 20, 1 << 24],
    },
    sort("sort_keys_u32_constant", Keys::Constant, false, &[1 << 24]),
    sort("sort_keys_u32_sorted", Keys::Sorted, false, &[1 << 24]),
    sort("sort_keys_u32_reversed", Keys::Reversed, false, &[1 << 24]),
    sort("sort_keys_u32_low_entropy", Keys::LowEntropy, false, &[1 << 24]),
    sort("sort_keys_u32_16bit", Keys::Low16Bits, false, &[1 << 24]),
    sort("sort_pairs_u32_u32_low_entropy", Keys::LowEntropy, true, &[1 << 24]),
    Family { name: "sort_batch_tiny", work: Work::Batch(TINY), sizes: &[batch_size(TINY)] },
    Family { name: "sort_batch_medium", work: Work::Batch(MEDIUM), sizes: &[batch_size(MEDIUM)] },
    Family { name: "sort_batch_mixed", work: Work::Batch(MIXED), sizes: &[batch_size(MIXED)] },
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
        assert!(!cases.is_empty() && cases.iter().all(|case| case.work.has_values() && case.n == 7));
        assert!(select(&["batch".into()], &[7], false).is_empty(), "the size of a batch is fixed");
        assert_eq!(select(&["batch_tiny".into()], &[], true)[0].n, 1_024_000);
        assert!(select(&[], &[], true).iter().all(|case| case.n <= MAX_ON_CPU));
        assert!(select(&["sort_keys_u32".into()], &[7], false).len() == 1, "a whole name is that case alone");
        assert!(select(&["nothing of that name".into()], &[], false).is_empty());
    }
}
