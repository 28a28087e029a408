//! The cases that a command line chooses.

use crate::primitives::PRIMITIVES;
use crate::workload::{Case, Sizes};

/// CPU drivers prove that the program works: their times mean nothing.
const MAX_ON_CPU: u32 = 1 << 20;

/// The cases that `filter` chooses, at the sizes `n`. An empty filter chooses all; without `n`, families have their own
/// sizes. A part of the filter that is a name chooses that family alone, another chooses all names that contain it.
pub(crate) fn select(filter: &[String], n: &[u32], is_cpu: bool) -> Vec<Case> {
    let families: Vec<_> = PRIMITIVES.iter().flat_map(|primitive| primitive.families()).collect();
    let is_name = |part: &str| families.iter().any(|family| family.name == part);
    let matches = |name: &str, part: &str| if is_name(part) { name == part } else { name.contains(part) };
    let wanted = |name: &str| filter.is_empty() || filter.iter().any(|part| matches(name, part));
    let mut cases = Vec::new();
    for family in families.iter().filter(|family| wanted(&family.name)) {
        let default = match &family.sizes {
            Sizes::Default(sizes) => *sizes,
            Sizes::Fixed(size) => std::slice::from_ref(size),
        };
        let sizes = if n.is_empty() { default } else { n };
        let fits = |n: &&u32| !matches!(family.sizes, Sizes::Fixed(size) if size != **n);
        let small_enough = |n: &&u32| !is_cpu || **n <= MAX_ON_CPU && family.work.prepared_items(**n) <= MAX_ON_CPU;
        let sizes = sizes.iter().filter(fits).filter(|size| !n.is_empty() || small_enough(size));
        cases.extend(sizes.map(|&n| Case { name: family.name.clone(), work: family.work.clone(), n }));
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> =
            PRIMITIVES.iter().flat_map(|primitive| primitive.families()).map(|family| family.name).collect();
        names.sort_unstable();
        names.windows(2).for_each(|pair| assert_ne!(pair[0], pair[1], "appears twice"));
    }

    #[test]
    fn filter_and_sizes_choose() {
        let cases = select(&["pairs".into()], &[7], false);
        assert!(!cases.is_empty() && cases.iter().all(|case| case.name.contains("pairs") && case.n == 7));
        assert!(select(&["batch".into()], &[7], false).is_empty(), "the size of a batch is fixed");
        assert_eq!(select(&["batch_tiny".into()], &[], true)[0].n, 1_024_000);
        assert!(select(&[], &[], true).iter().all(|case| case.n <= MAX_ON_CPU));
        assert!(select(&["sort_keys_u32".into()], &[7], false).len() == 1, "a whole name is that case alone");
        assert!(select(&["nothing of that name".into()], &[], false).is_empty());
    }
}
