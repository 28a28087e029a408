//! The recorder on random plans: passes that read and write any resources, tables, indirect groups, several plans side
//! by side.

use crate::core::compose::{Concurrent, Sequence};
use crate::core::memory::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Content, Groups, Plan, Push, Resources, Rows, Table};
use crate::core::primitive::PlanSource;
use crate::core::tests::SCRATCH;
use crate::core::tests::hazards::{Command, Truth, barriers, check, recorded};
use crate::kernels::Kernel;
use crate::shared::PreparePush;
use proptest::prelude::*;
use std::rc::Rc;

/// Resources of a plan. Indirect commands lie in the last, tables in the first two.
const RESOURCES: usize = 5;
const COMMANDS: usize = RESOURCES - 1;
const TABLES: usize = 2;
/// Bytes of a resource.
const SIZE: u64 = 256;

/// A table of one row, which fills its resource.
struct OneRow;

impl Table for OneRow {
    fn for_each_row(&self, _rows: Rows, row: &mut dyn FnMut(&[u8])) {
        row(&[7; SIZE as usize]);
    }
}

/// A pass as sets of resources, one bit each, and whether its groups are indirect.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    reads: u128,
    writes: u128,
    is_indirect: bool,
}

/// A request of passes without kernels. Its resources begin at an offset from [`SCRATCH`].
#[derive(Clone, Debug)]
struct Request {
    offset: u64,
    tables: usize,
    passes: Vec<Drawn>,
}

impl PlanSource for Request {
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>) {
        let offset = |index: usize| self.offset + index as u64 * SIZE;
        let names = ["table", "other_table", "first", "second", "commands"];
        // Each pass names its resources itself, as those of primitives do.
        let add = |plan: &mut Plan<'a>, index: usize| {
            plan.add_resource(names[index], Range::new(SCRATCH + offset(index), SIZE))
        };
        let contents = [Content::Rows(&OneRow, crate::radix::PROBLEMS), Content::Zeros(SIZE)];
        for (index, content) in contents.into_iter().take(self.tables).enumerate() {
            let resource = add(plan, index);
            plan.add_upload(content, offset(index), resource);
        }
        let set = |plan: &mut Plan<'a>, drawn: u128| {
            let indices = Resources(drawn).iter();
            indices.fold(Resources::default(), |set, index| set.union(Resources::of(&[add(plan, index)])))
        };
        for drawn in &self.passes {
            let commands = Groups::Indirect { offset: offset(COMMANDS), resource: add(plan, COMMANDS) };
            let groups = if drawn.is_indirect { commands } else { Groups::Fixed(1) };
            let variant = Variant::new(Kernel::RadixPrepare, |_| 0);
            let index = plan.add_variant(&variant);
            let push = Push::new(variant.kernel, &PreparePush::default());
            let (reads, writes) = (set(plan, drawn.reads), set(plan, drawn.writes));
            plan.add_pass(index, groups, push, reads, writes);
        }
    }
}

/// Draws passes, most of which use few resources. If each pass used all, every level would have a barrier anyway.
fn passes(fewer_than: usize) -> impl Strategy<Value = Vec<Drawn>> {
    let few = || (any::<u128>(), any::<u128>()).prop_map(|(a, b)| a & b & ((1 << RESOURCES) - 1));
    let drawn = (few(), few(), prop::bool::weighted(0.2));
    prop::collection::vec(
        drawn.prop_map(|(reads, writes, is_indirect)| Drawn { reads, writes, is_indirect }),
        0..fewer_than,
    )
}

fn with_truth<T>(plan: &Plan<'_>, body: impl FnOnce(&[Truth<'_>]) -> T) -> T {
    let resources = plan.resources.iter().map(|resource| Rc::from([resource.range])).collect();
    body(&[Truth { plan, resources }])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every two conflicting accesses have a barrier between them, and no stage of a barrier is superfluous. Up to
    /// three sequences of up to three requests run side by side. Requests of a sequence share scratch, in part or as a
    /// whole.
    #[test]
    fn random_plans_have_the_barriers_they_need_and_no_other(
        drawn in prop::collection::vec(prop::collection::vec((0..=TABLES, passes(8), 0..6u64), 1..4), 1..4),
    ) {
        let chains: Vec<Vec<Request>> = (0..).zip(drawn).map(|(chain, requests)| {
            let begin = region(chain);
            let request = |(tables, passes, halves)| Request { offset: begin + halves * SIZE / 2, tables, passes };
            requests.into_iter().map(request).collect()
        }).collect();
        let sources: Vec<Vec<_>> = chains.iter().map(|requests| sources(requests)).collect();
        let sequences: Vec<_> = sources.iter().map(|sources| Sequence(sources)).collect();
        let mut plan = Plan::default();
        assert!(sequences.iter().all(|sequence| plan.append(sequence)));
        with_truth(&plan, |truths| check(truths, std::slice::from_ref(&plan)));
    }

    /// The same for stages one after another, each of up to three requests side by side. A request uses the scratch of
    /// any request of the stage before.
    #[test]
    fn random_stages_have_the_barriers_they_need_and_no_other(
        drawn in prop::collection::vec(
            (0..3u64, prop::collection::vec((0..=TABLES, passes(5), 0..6u64), 1..4)),
            1..5,
        ),
    ) {
        let stages: Vec<Vec<Request>> = drawn.into_iter().map(|(first, requests)| {
            let request = |(index, (tables, passes, halves))| {
                Request { offset: region((first + index) % 3) + halves * SIZE / 2, tables, passes }
            };
            (0..).zip(requests).map(request).collect()
        }).collect();
        let sources: Vec<Vec<_>> = stages.iter().map(|requests| sources(requests)).collect();
        let stages: Vec<_> = sources.iter().map(|sources| Concurrent(sources)).collect();
        let stages: Vec<_> = stages.iter().map(|stage| stage as &dyn PlanSource).collect();
        let sequence = Sequence(&stages);
        let plan = Plan::of(&sequence).unwrap();
        with_truth(&plan, |truths| check(truths, std::slice::from_ref(&plan)));
    }
}

/// The offset of a region of scratch. Requests of different regions share no scratch.
fn region(index: u64) -> u64 {
    index * 4 * RESOURCES as u64 * SIZE
}

fn sources(requests: &[Request]) -> Vec<&dyn PlanSource> {
    requests.iter().map(|request| request as _).collect()
}

/// Commands of one plan of two passes.
fn commands_of(passes: [Drawn; 2]) -> Vec<Command> {
    let request = Request { offset: 0, tables: 0, passes: passes.into() };
    let plan = Plan::of(&request).unwrap();
    with_truth(&plan, |truths| {
        check(truths, std::slice::from_ref(&plan));
        recorded(truths, std::slice::from_ref(&plan))
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
