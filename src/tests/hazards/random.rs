//! The recorder on random plans: passes that read and write any resources, tables, indirect groups, several plans side by side.

use super::{Command, SCRATCH, Truth, barriers, check};
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, Pass, Plan, Push, Resource, Resources, Rows, Table, Upload};
use crate::kernels::Kernel;
use crate::shared::SortPush;
use proptest::prelude::*;
use std::rc::Rc;

/// Resources of a plan. Indirect commands lie in the last, tables in the first two.
const RESOURCES: usize = 5;
const COMMANDS: usize = RESOURCES - 1;
const TABLES: usize = 2;
/// Bytes of a resource.
const SIZE: u64 = 256;

/// A table of one row.
struct OneRow;

impl Table for OneRow {
    fn for_each_row(&self, _rows: Rows, row: &mut dyn FnMut(&[u8])) {
        row(&[7; 16]);
    }
}

/// A pass as sets of resources, one bit each, and whether its groups are indirect.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    reads: u32,
    writes: u32,
    is_indirect: bool,
}

fn pass_of_no_kernel(first: usize, drawn: Drawn) -> Pass {
    let groups = if drawn.is_indirect {
        Groups::Indirect { offset: (first + COMMANDS) as u64 * SIZE, resource: COMMANDS }
    } else {
        Groups::Fixed(1)
    };
    Pass {
        variant: Variant::new(Kernel::SortPrepare, |_| 0),
        groups,
        push: Push::new(&SortPush::default()),
        reads: Resources(drawn.reads),
        writes: Resources(drawn.writes),
    }
}

/// A plan whose resources begin behind `first` others of scratch.
fn plan(first: usize, tables: usize, passes: &[Drawn]) -> Plan<'static> {
    let range = |resource: usize| Range::new(SCRATCH + (first + resource) as u64 * SIZE, SIZE);
    let names = ["table", "other_table", "first", "second", "commands"];
    Plan {
        name: "random",
        resources: names.into_iter().enumerate().map(|(i, name)| Resource { name, range: range(i) }).collect(),
        uploads: (0..tables)
            .map(|i| Upload { table: &OneRow, rows: Rows::Problems, offset: (first + i) as u64 * SIZE, resource: i })
            .collect(),
        passes: passes.iter().map(|drawn| pass_of_no_kernel(first, *drawn)).collect(),
    }
}

/// Mostly few resources a pass: where each touches all, every level has a barrier whatever the recorder does.
fn passes() -> impl Strategy<Value = Vec<Drawn>> {
    let few = || (any::<u32>(), any::<u32>()).prop_map(|(a, b)| a & b & ((1 << RESOURCES) - 1));
    let drawn = (few(), few(), prop::bool::weighted(0.2));
    prop::collection::vec(drawn.prop_map(|(reads, writes, is_indirect)| Drawn { reads, writes, is_indirect }), 0..8)
}

fn with_truth<T>(plans: &[Plan<'_>], body: impl FnOnce(&[Truth<'_>]) -> T) -> T {
    let resources = |plan: &Plan<'_>| plan.resources.iter().map(|resource| Rc::from([resource.range])).collect();
    let truths: Vec<_> = plans.iter().map(|plan| Truth { plan, resources: resources(plan) }).collect();
    body(&truths)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every two accesses that conflict have a barrier between, and no stage of any barrier is superfluous.
    #[test]
    fn random_plans_have_the_barriers_they_need_and_no_other(drawn in prop::collection::vec((0..=TABLES, passes()), 1..4)) {
        let plans: Vec<_> = drawn.iter().enumerate().map(|(i, (tables, passes))| plan(i * RESOURCES, *tables, passes)).collect();
        with_truth(&plans, |truths| check(truths, &plans));
    }
}

/// Commands of one plan of two passes.
fn commands_of(passes: [Drawn; 2]) -> Vec<Command> {
    let plans = [plan(0, 0, &passes)];
    with_truth(&plans, |truths| {
        check(truths, &plans);
        super::List::of(truths, &plans)
    })
}

/// Each kind of conflict by itself, and none.
#[test]
fn conflicts_of_two_passes() {
    let pass = |reads, writes| Drawn { reads, writes, is_indirect: false };
    let indirect = Drawn { is_indirect: true, ..pass(0, 0) };
    let commands = 1 << COMMANDS;
    for (name, passes, expected) in [
        ("read after read", [pass(1, 0), pass(1, 0)], 0),
        ("other resources", [pass(1, 2), pass(4, 8)], 0),
        ("read after write", [pass(0, 1), pass(1, 0)], 1),
        ("write after read", [pass(1, 0), pass(0, 1)], 1),
        ("write after write", [pass(0, 1), pass(0, 1)], 1),
        ("indirect read after write", [pass(0, commands), indirect], 1),
        ("write after indirect read", [indirect, pass(0, commands)], 1),
    ] {
        assert_eq!(barriers(&commands_of(passes)), expected, "{name}");
    }
}
