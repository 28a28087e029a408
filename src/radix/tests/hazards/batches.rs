//! Barriers and scratch of batches: several groups side by side.

use super::{all_formats, profile, with_plans};
use crate::core::plan::Plan;
use crate::core::scratch::Layout;
use crate::core::tests::hazards::{barriers, check, recorded};
use crate::core::tests::{NVIDIA, SCRATCH, devices};
use crate::radix::tests::primitives::Selection as _;
use crate::radix::tests::problems::{Addresses, Group, Problem, Sorts, argument_of, groups, tables};
use crate::{Placement, SorterInfo, Strategy};
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

/// An index into [`all_formats`], an index into [`Strategy::ALL`], and a problem.
fn problem() -> impl proptest::strategy::Strategy<Value = (usize, usize, Problem)> {
    let size = prop::sample::select(vec![0, 1, 900, 1025, 5000, 50_000, 70_000, 1 << 20, 1 << 21]);
    (0..all_formats().len(), 0..Strategy::ALL.len(), size, any::<bool>(), any::<bool>()).prop_map(
        |(format, strategy, size, count_on_device, status)| {
            (format, strategy, Problem { size, count_on_device, status })
        },
    )
}

fn batch() -> impl proptest::strategy::Strategy<Value = Vec<Sorts>> {
    prop::collection::vec(problem(), 1..12).prop_map(|problems| {
        let mut batch = Vec::<Sorts>::new();
        let mut addresses = Addresses::new();
        // Few kinds, so that some problems share theirs.
        let few = problems[0].0;
        for (format, strategy, problem) in problems {
            let info = all_formats()[(few + format % 3) % all_formats().len()].1.strategy(Strategy::ALL[strategy]);
            let at = batch.iter().position(|sorts| sorts.info == info).unwrap_or(batch.len());
            if at == batch.len() {
                batch.push(Sorts::new(info));
            }
            let info = addresses.info(problem, &batch[at].format());
            batch[at].infos.push(info);
        }
        batch.into_iter().flat_map(Sorts::apart).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Plans of different kinds and lengths side by side. Their arrays alternate in memory.
    #[test]
    fn batches_have_the_barriers_they_need_and_no_other(batch in batch(), device in 0..9usize) {
        with_plans(&batch, &devices()[device].1, check);
    }

    /// Parts of scratch are disjoint, inside the reported size, and large enough for their problems.
    #[test]
    fn parts_of_scratch_keep_apart(batch in batch(), device in 0..9usize) {
        let facts = &devices()[device].1;
        let profile = profile(facts);
        let mut layout = Layout::default();
        let groups = groups(&batch, facts, &profile);
        let tables = tables(&groups, &mut layout);
        let mut parts = Vec::new();
        for (Group { sorts, config, algorithm }, table) in groups.iter().zip(&tables) {
            for resource in Plan::of(table).unwrap().resources {
                if argument_of(resource.name).is_none() {
                    parts.push((resource.name, resource.range));
                }
                let tiled = algorithm.is_tiled() && sorts.info.placement != Placement::DoubleBuffer;
                if resource.name == "alternate_keys" && tiled {
                    let of_class = sorts.infos.iter().filter(|info| config.algorithm(info.count.max) == *algorithm);
                    let keys: u64 = of_class.map(|info| u64::from(info.count.max)).sum();
                    let words = u64::from(sorts.format().key_words);
                    prop_assert!(resource.range.size >= keys * words * 4, "every key has room in the alternate array");
                }
            }
        }
        parts.sort_by_key(|(_, range)| range.address);
        for pair in parts.windows(2) {
            prop_assert!(!pair[0].1.overlaps(pair[1].1), "{pair:x?}");
        }
        for (name, range) in &parts {
            let inside = range.address >= SCRATCH && range.address + range.size <= SCRATCH + layout.size();
            prop_assert!(inside && range.address.is_multiple_of(256), "{name} {range:x?}");
        }
    }
}

#[test]
fn plans_that_share_no_kernel_share_their_barriers() {
    let mut addresses = Addresses::new();
    let mut batch = Vec::new();
    for strategy in [Strategy::Lookback, Strategy::ReduceThenScan] {
        for info in [SorterInfo::keys(), SorterInfo::pairs()] {
            let mut sorts = Sorts::new(info.strategy(strategy));
            let format = sorts.format();
            let problem = |size| Problem { size, count_on_device: true, status: true };
            sorts
                .infos
                .extend([100, 100, 1 << 17, 1 << 20, 1 << 20].map(|size| addresses.info(problem(size), &format)));
            batch.push(sorts);
        }
    }
    with_plans(&batch, &NVIDIA, |truths, plans| {
        check(truths, plans);
        let commands = recorded(truths, plans);
        let barriers = barriers(&commands);
        let changes: usize = plans.iter().map(|plan| usize::from(plan.levels()) - 1).sum();
        assert!(
            plans.len() < 3 && barriers == changes,
            "{barriers} barriers between {changes} levels of {} plans",
            plans.len()
        );
    });
}

/// More groups than one plan takes, with segmented ones among them. Each plan has the barriers that it needs; between
/// plans there are none.
#[test]
fn groups_have_the_barriers_they_need_and_no_other() {
    for (d, (_, facts)) in devices().into_iter().enumerate() {
        let mut addresses = Addresses::new();
        let mut batch = Vec::new();
        for (f, (_, info)) in all_formats().into_iter().enumerate().filter(|(f, _)| f % 3 == d % 3) {
            let mut sorts = Sorts::new(info.strategy(Strategy::ALL[(d + f) % 5]));
            for size in [50_000, 900, 1 << 20] {
                sorts.push(&mut addresses, Problem { size, count_on_device: f % 2 == 0, status: true });
            }
            batch.extend(sorts.apart());
        }
        with_plans(&batch, &facts, |truths, plans| {
            assert!(plans.len() > 1, "all groups are one plan");
            check(truths, plans);
            let apart: usize =
                truths.chunks(1).zip(plans.chunks(1)).map(|(truth, plan)| barriers(&recorded(truth, plan))).sum();
            assert_eq!(barriers(&recorded(truths, plans)), apart);
        });
    }
}
