//! Composed plans: requests one behind the other.

use super::{exact, profile};
use crate::core::compose::Sequence;
use crate::core::plan::Plan;
use crate::core::primitive::PlanSource;
use crate::core::scratch::Layout;
use crate::core::tests::hazards::{Truth, check};
use crate::core::tests::{SCRATCH, devices};
use crate::radix::tests::primitives::{AnyTable, Requests as _, Selection as _};
use crate::radix::tests::problems::{Addresses, Problem, Sorts};
use crate::{BucketFunction, DeviceFacts, SorterInfo, SplitterInfo, Strategy};

/// Two splits and a sort, each on the output of the part before, are one plan. Its parts share scratch.
#[test]
fn split_split_and_sort_compose() {
    let bits = |begin_bit| SplitterInfo::pairs(100, BucketFunction::Bits { begin_bit });
    for ((_, facts), strategy) in devices().into_iter().zip(Strategy::ALL.into_iter().cycle()) {
        for (size, problems) in [(500, 1), (100_000, 1), (1 << 21, 1), (500, 3), (100_000, 2), (1 << 21, 2)] {
            let problem = Problem { size, count_on_device: false, status: true };
            let mut addresses = Addresses::new();
            let mut parts =
                [Sorts::splits(bits(0).strategy(strategy)), Sorts::splits(bits(7).strategy(strategy))].to_vec();
            parts.push(Sorts::new(SorterInfo::pairs().strategy(strategy)));
            for index in 0..3 {
                (0..problems).for_each(|_| parts[index].push(&mut addresses, problem));
                let before = parts[index.max(1) - 1].infos.clone();
                for (items, before) in parts[index].infos.iter_mut().zip(before).filter(|_| index != 0) {
                    (items.keys, items.values) = (before.keys_out, before.values_out);
                }
            }
            assert_composes(&parts, &facts);
        }
    }
}

/// Checks barriers, scratch and levels of the composed plan. All requests of a part have the same algorithm.
fn assert_composes(parts: &[Sorts], facts: &DeviceFacts) {
    let profile = profile(facts);
    let (mut layout, mut largest) = (Layout::default(), 0);
    let tables: Vec<_> = parts
        .iter()
        .map(|sorts| {
            let config = sorts.config(facts, &profile);
            let algorithm = config.algorithm(sorts.infos[0].count.max);
            let mut alone = Layout::default();
            AnyTable::new(config, algorithm, sorts, SCRATCH, &mut alone).unwrap();
            largest = largest.max(alone.size());
            layout.reuse_behind(0);
            AnyTable::new(config, algorithm, sorts, SCRATCH, &mut layout).unwrap()
        })
        .collect();
    assert_eq!(layout.size(), largest, "the parts share scratch");
    let sources: Vec<&dyn PlanSource> = tables.iter().map(|table| table as _).collect();
    let sequences: Vec<_> = (1..=sources.len()).map(|count| Sequence(&sources[..count])).collect();
    let plans: Vec<_> = sequences.iter().map(|chain| Plan::of(chain).unwrap()).collect();
    let plan = plans.last().unwrap();
    let mut resources = Vec::new();
    for (sorts, with_part) in parts.iter().zip(&plans) {
        let (format, jobs) = (sorts.format(), sorts.jobs().collect::<Vec<_>>());
        resources.extend(
            with_part.resources[resources.len()..]
                .iter()
                .map(|resource| exact(resource, sorts.primitive(), &jobs, &format)),
        );
    }
    check(&[Truth { plan, resources }], std::slice::from_ref(plan));
    let alone: usize = sources.iter().map(|source| Plan::of(*source).unwrap().passes.len()).sum();
    assert_eq!(plan.passes.len(), alone);
    assert!(usize::from(plan.levels()) >= alone, "each part is behind the one before");
}
