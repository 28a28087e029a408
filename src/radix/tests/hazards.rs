//! The barriers of sorts and splits: alone, in batches, composed, and of random declarations.

mod batches;
mod composed;
mod pipelines;
mod random;

use self::pipelines::made_by;
use crate::core::tests::{NVIDIA, devices};

use super::problems::{
    Addresses, Group, Problem, Sorts, argument_of, formats, groups, segmented_formats, segmented_splits, splits, tables,
};
use crate::core::plan::{MAX_VARIANTS, Pass, Plan, Resource};
use crate::core::scratch::Layout;
use crate::core::tests::hazards::{Truth, barriers, check, recorded, unprotected};
use crate::kernels::Kernel;
use crate::radix::Format;
use crate::radix::tests::primitives::{Job, Primitive, Requests as _};
use crate::tuning::Profile;
use crate::{DeviceFacts, Range, SorterInfo, SplitterInfo, Strategy};
use std::rc::Rc;

/// Returns the exact ranges of a resource. The caller's arrays are disjoint; a resource is the smallest range around
/// them.
fn exact(resource: &Resource, primitive: Primitive, jobs: &[Job], format: &Format) -> Rc<[Range]> {
    let Some(role) = argument_of(resource.name) else { return Rc::from([resource.range]) };
    let arguments = jobs.iter().flat_map(|job| primitive.arguments(format, job));
    let named = arguments.filter(|argument| argument.role == role && argument.range.size != 0);
    let mut ranges: Vec<Range> = named.map(|argument| argument.range).collect();
    ranges.sort_by_key(|range| range.address);
    ranges.into()
}

/// The built-in profile with merge sorts, and with sorts by prefixes up to 2^20.
fn profile(facts: &DeviceFacts) -> Profile {
    let mut profile = Profile::for_device(facts);
    profile.sort.prefixes_up_to = 1 << 20;
    profile.with_member("merges", "9000:256x2/128x4 60000:256x4/256x4").unwrap()
}

/// Tables that the host writes for several problems.
const ROWS: [&str; 3] = ["problems", "results", "label_rows"];

/// Calls `body` with the plans of the sorts in a batch, and with the exact bytes of their resources.
fn with_plans(sorts: &[Sorts], facts: &DeviceFacts, body: impl FnOnce(&[Truth<'_>], &[Plan<'_>])) {
    let profile = profile(facts);
    let groups = groups(sorts, facts, &profile);
    let tables = tables(&groups, &mut Layout::default());
    let (mut plans, mut resources) = (vec![Plan::default()], vec![Vec::new()]);
    for (group, table) in groups.iter().zip(&tables) {
        check_group(group, &Plan::of(table).unwrap());
        if !plans.last_mut().unwrap().append(table) {
            plans.push(Plan::of(table).unwrap());
            resources.push(Vec::new());
        }
        let (plan, known) = (plans.last().unwrap(), resources.last_mut().unwrap());
        let jobs: Vec<_> = group.jobs().collect();
        let own = plan.resources[known.len()..].iter();
        known.extend(own.map(|resource| exact(resource, group.primitive(), &jobs, &group.config.format)));
    }
    let truths: Vec<_> = plans.iter().zip(resources).map(|(plan, resources)| Truth { plan, resources }).collect();
    body(&truths, &plans);
}

/// Checks properties of every group's plan.
fn check_group(group: &Group<'_>, plan: &Plan<'_>) {
    let made = made_by(group.primitive(), group.config, None);
    let missing = plan.variants.iter().find(|variant| !made.contains(variant));
    assert!(missing.is_none(), "a sorter makes every pipeline that it may need, but {missing:?}");
    assert!(
        plan.variants.len() <= MAX_VARIANTS / 5,
        "a composed plan has too many pipelines of ones like this: {plan}"
    );
    for (index, pass) in plan.passes.iter().enumerate() {
        let is_written = |id: usize| {
            let written = plan.passes[..index].iter().any(|before| before.writes.iter().any(|other| other == id));
            written || plan.uploads.iter().any(|upload| upload.resource == id)
        };
        let rows = pass.reads.iter().find(|id| ROWS.contains(&plan.resources[*id].name) && !is_written(*id));
        assert!(rows.is_none(), "{:?} reads rows that nobody has written: {plan}", pass.kernel);
    }
}

/// Problems of a sorter with disjoint arrays.
fn sorts(info: SorterInfo, problems: impl IntoIterator<Item = Problem>) -> Sorts {
    let mut sorts = Sorts::new(info);
    let mut addresses = Addresses::new();
    problems.into_iter().for_each(|problem| sorts.push(&mut addresses, problem));
    sorts
}

/// Sizes for the algorithms: none, one tile (on some devices ranked if recorded alone), merge sort, direct sort, sort
/// by all digits, sort with skipped digits.
const SIZES: [u32; 6] = [0, 500, 50_000, 100_000, 1 << 20, 1 << 21];

fn all_formats() -> Vec<(&'static str, SorterInfo)> {
    [formats(), segmented_formats()].concat()
}

/// Every kind of plan alone: each strategy and format, one problem and several, with counts and statuses or without.
/// Strided input is left out: its range covers undeclared bytes between the items. Its barriers are those of dense
/// input.
#[test]
fn every_plan_has_the_barriers_it_needs_and_no_other() {
    let formats = all_formats();
    for (d, (_, facts)) in devices().into_iter().enumerate() {
        for (f, (_, info)) in formats.iter().enumerate() {
            // Devices differ in tile shapes. Together they cover every strategy of every format.
            for strategy in [Strategy::ALL[(d + f) % 5], Strategy::ALL[(d + f + 1) % 5]] {
                for size in SIZES {
                    for problems in [1, 3, if f == d { 200 } else { 2 }] {
                        for flags in 0..4 {
                            let problem = Problem { size, count_on_device: flags & 1 != 0, status: flags & 2 != 0 };
                            // Each segmented sort is a plan of its own.
                            let problems = if info.segmented { problems.min(3) } else { problems };
                            let sorts = sorts(info.strategy(strategy), vec![problem; problems]);
                            with_plans(&sorts.apart(), &facts, check);
                        }
                    }
                }
            }
        }
    }
}

/// The same for sorts by a comparator, of the formats that they have: alone, several, and beside a sort by keys.
#[test]
fn sorts_by_comparators_have_the_barriers_they_need_and_no_other() {
    let formats = formats().into_iter().filter(|(_, info)| info.format_of_comparator().is_ok());
    let formats: Vec<_> = formats.map(|(_, info)| info.strategy(Strategy::Lookback)).collect();
    assert!(formats.len() > 8);
    for (d, (_, facts)) in devices().into_iter().enumerate() {
        for (f, info) in formats.iter().enumerate() {
            for (size, problems) in SIZES.into_iter().flat_map(|size| [(size, 1), (size, 3)]) {
                let flags = d + f + problems;
                let problem = Problem { size, count_on_device: flags & 1 != 0, status: flags & 2 != 0 };
                let compared = sorts(*info, vec![problem; problems]).compared();
                with_plans(&compared.apart(), &facts, check);
            }
        }
    }
}

/// The same for splits, with all requested outputs and with none: alone, and several kinds side by side with a sort.
#[test]
fn splits_have_the_barriers_they_need_and_no_other() {
    for (d, (_, facts)) in devices().into_iter().enumerate() {
        for (i, info) in splits().into_iter().enumerate() {
            let of =
                |info: SplitterInfo, rotation: usize| Sorts::splits(info.strategy(Strategy::ALL[(d + rotation) % 5]));
            for (size, problems) in SIZES.into_iter().flat_map(|size| [(size, 1), (size, 3)]) {
                for flags in 0..4 {
                    let problem = Problem { size, count_on_device: flags & 1 != 0, status: flags & 2 != 0 };
                    let mut addresses = Addresses::new();
                    let mut batch = vec![
                        of(info, i),
                        of(splits()[(i + 1) % splits().len()], i + 1),
                        Sorts::new(SorterInfo::pairs().strategy(Strategy::Lookback)),
                    ];
                    (0..problems).for_each(|_| batch[0].push(&mut addresses, problem));
                    with_plans(&batch[..1], &facts, check);
                    let mut segments = of(segmented_splits()[i % segmented_splits().len()], i);
                    (0..problems).for_each(|_| segments.push(&mut addresses, problem));
                    with_plans(&segments.apart(), &facts, check);
                    batch[1].push(&mut addresses, Problem { size: 70_000, ..problem });
                    batch[2].push(&mut addresses, problem);
                    with_plans(&batch, &facts, check);
                }
            }
        }
    }
}

/// The plan with the declaration of one pass changed.
fn redeclared<'a>(plan: &Plan<'a>, pass: usize, declare: impl FnOnce(&mut Pass)) -> Plan<'a> {
    let mut changed = plan.clone();
    declare(&mut changed.passes[pass]);
    changed
}

/// The checker finds undeclared accesses: if the recorder ignores one pass, it leaves out a barrier. Exceptions are
/// passes that run beside the pass before them and end the plan.
#[test]
fn a_pass_that_is_not_declared_is_found() {
    for (name, info) in formats() {
        for strategy in Strategy::ALL {
            let problem = Problem { size: 1 << 21, count_on_device: true, status: false };
            with_plans(&[sorts(info.strategy(strategy), [problem])], &NVIDIA, |truths, plans| {
                assert!(plans[0].passes.len() > 3);
                for blind in 0..plans[0].passes.len() {
                    let declared = redeclared(&plans[0], blind, |pass| {
                        pass.reads = Default::default();
                        pass.writes = Default::default();
                    });
                    let commands = recorded(truths, &[declared]);
                    let needs_no_barrier =
                        blind + 1 == plans[0].passes.len() && barriers(&commands) == barriers(&recorded(truths, plans));
                    assert!(
                        needs_no_barrier || unprotected(&commands).next().is_some(),
                        "pass {blind} of {name} by {strategy:?}"
                    );
                }
            });
        }
    }
}

/// The checker finds incomplete declarations: a pass writes a resource that it declares only as read.
#[test]
fn a_write_that_is_not_declared_is_found() {
    let problem = Problem { size: 1 << 20, count_on_device: false, status: false };
    with_plans(&[sorts(SorterInfo::keys().strategy(Strategy::ReduceThenScan), [problem])], &NVIDIA, |truths, plans| {
        let count = plans[0].passes.iter().position(|pass| pass.kernel == Kernel::RadixCount).unwrap();
        let declared = redeclared(&plans[0], count, |pass| pass.writes = Default::default());
        let commands = recorded(truths, &[declared]);
        let found: Vec<String> = unprotected(&commands).collect();
        assert!(
            found.iter().any(|pair| pair.contains("radix_count tile_words then plan 0 radix_spine tile_words")),
            "{found:?}"
        );
    });
}
