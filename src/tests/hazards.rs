//! The barriers of recorded lists, proven from the declarations alone: every two accesses of which one writes have what orders
//! them between, and no barrier is there for nothing.

use super::problems::{Addresses, Problem, SCRATCH, Sorts, devices, tables};
use crate::plan::{Groups, Pass, Plan, Upload};
use crate::record::{Commands, record};
use crate::scratch::Layout;
use crate::sort::Class;
use crate::tuning::Profile;
use crate::{DeviceFacts, Range, SortInfo, Strategy};
use ash::vk::PipelineStageFlags2 as Stage;
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

/// What a command does to some bytes.
#[derive(Clone, Debug)]
struct Access {
    stage: Stage,
    writes: bool,
    range: Range,
    what: String,
}

#[derive(Clone, Debug)]
enum Command {
    Barrier { source: Stage, target: Stage },
    Accesses(Vec<Access>),
}

/// A plan, and exactly which bytes each of its resources is.
struct Truth<'a> {
    plan: &'a Plan<'a>,
    infos: Vec<SortInfo>,
    value_words: u32,
}

impl Truth<'_> {
    /// The caller's arrays lie apart, where a resource is the smallest range around them.
    fn ranges(&self, resource: usize) -> Vec<Range> {
        let word = |address| Range::new(address, if address == 0 { 0 } else { 4 });
        let bytes = |info: &SortInfo| u64::from(info.count.max) * 4;
        let of_each = |range: &dyn Fn(&SortInfo) -> Range| self.infos.iter().map(range).collect();
        match self.plan.resources[resource].name {
            "keys" => of_each(&|info| Range::new(info.keys.address, bytes(info))),
            "values" => of_each(&|info| Range::new(info.values.address, bytes(info) * u64::from(self.value_words))),
            "counts" => of_each(&|info| word(info.count.address)),
            "statuses" => of_each(&|info| word(info.status)),
            _ => vec![self.plan.resources[resource].range],
        }
    }
}

/// Lists commands with what they do in truth, whatever the recorder has been told.
struct List<'a> {
    truths: &'a [Truth<'a>],
    /// The next pass of each plan.
    next: Vec<usize>,
    commands: Vec<Command>,
}

impl<'a> List<'a> {
    fn of(truths: &'a [Truth<'a>], told: &[Plan<'_>]) -> Vec<Command> {
        let mut list = Self { truths, next: vec![0; truths.len()], commands: Vec::new() };
        record(told, &mut list);
        for (truth, next) in truths.iter().zip(&list.next) {
            assert_eq!(truth.plan.passes.len(), *next, "every pass is recorded once");
        }
        list.commands
    }
}

impl Commands for List<'_> {
    fn barrier(&mut self, source: Stage, target: Stage) {
        self.commands.push(Command::Barrier { source, target });
    }

    fn dispatch(&mut self, plan: usize, _told: &Pass) {
        let truth = &self.truths[plan];
        let pass = &truth.plan.passes[self.next[plan]];
        let mut accesses = Vec::new();
        let mut add = |resource: usize, stage, writes| {
            let name = truth.plan.resources[resource].name;
            let what = format!("plan {plan} {} {name}", pass.variant.kernel.name());
            accesses.extend(truth.ranges(resource).into_iter().map(|range| Access { stage, writes, range, what: what.clone() }));
        };
        pass.reads.iter().for_each(|resource| add(resource, Stage::COMPUTE_SHADER, false));
        pass.writes.iter().for_each(|resource| add(resource, Stage::COMPUTE_SHADER, true));
        if let Groups::Indirect { offset, resource } = pass.groups {
            add(resource, Stage::DRAW_INDIRECT, false);
            let arguments = truth.plan.resources[resource].range;
            let inside = SCRATCH + offset >= arguments.address && SCRATCH + offset + 12 <= arguments.address + arguments.size;
            assert!(inside, "the command lies in what is declared to hold it");
        }
        self.commands.push(Command::Accesses(accesses));
        self.next[plan] += 1;
    }

    fn update(&mut self, plan: usize, upload: &Upload<'_>, offset: u64, bytes: &[u8]) {
        let range = Range::new(SCRATCH + offset, bytes.len() as u64);
        let table = self.truths[plan].plan.resources[upload.resource].range;
        assert!(range.address >= table.address && range.address + range.size <= table.address + table.size);
        assert!(bytes.len() <= 65_536 && bytes.len().is_multiple_of(4) && offset.is_multiple_of(4), "vkCmdUpdateBuffer's limits");
        let what = format!("plan {plan} update");
        self.commands.push(Command::Accesses(vec![Access { stage: Stage::ALL_TRANSFER, writes: true, range, what }]));
    }

    fn mark(&mut self, _level: u32) {}
}

/// The stages that a barrier waits for: those named and, as Vulkan has it, logically earlier ones.
fn waits_for(source: Stage, stages: Stage) -> bool {
    let earlier = if source.contains(Stage::COMPUTE_SHADER) { Stage::DRAW_INDIRECT } else { Stage::NONE };
    stages.intersects(source | earlier)
}

/// Pairs of accesses that nothing orders.
fn unprotected(commands: &[Command]) -> Vec<String> {
    let mut found = Vec::new();
    for (i, command) in commands.iter().enumerate() {
        let Command::Accesses(first) = command else { continue };
        for a in first {
            // Where barriers, one after the other, have made `a` safe to meet.
            let mut safe = Stage::NONE;
            for command in &commands[i + 1..] {
                match command {
                    Command::Barrier { source, target } if waits_for(*source, a.stage | safe) => safe |= *target,
                    Command::Barrier { .. } => {}
                    Command::Accesses(second) => {
                        let meets = |b: &&Access| (a.writes || b.writes) && a.range.overlaps(b.range) && !safe.contains(b.stage);
                        found.extend(second.iter().filter(meets).map(|b| format!("{} then {}", a.what, b.what)));
                    }
                }
            }
        }
    }
    found
}

/// `commands` with barrier `i` less some stages; without stages on a side it goes.
fn weaken(commands: &[Command], i: usize, source_less: Stage, target_less: Stage) -> Vec<Command> {
    let mut weaker = commands.to_vec();
    if let Command::Barrier { source, target } = &mut weaker[i] {
        *source &= !source_less;
        *target &= !target_less;
        if source.is_empty() || target.is_empty() {
            weaker.remove(i);
        }
    }
    weaker
}

fn check(truths: &[Truth<'_>], plans: &[Plan<'_>]) {
    let commands = List::of(truths, plans);
    assert_eq!(unprotected(&commands), Vec::<String>::new(), "missing barriers in {commands:#?}");
    for (i, command) in commands.iter().enumerate() {
        let Command::Barrier { source, target } = command else { continue };
        for stage in [Stage::COMPUTE_SHADER, Stage::ALL_TRANSFER, Stage::DRAW_INDIRECT] {
            if source.contains(stage) {
                let weaker = weaken(&commands, i, stage, Stage::NONE);
                assert!(!unprotected(&weaker).is_empty(), "{i} need not wait for {stage:?} in {commands:#?}");
            }
            if target.contains(stage) {
                let weaker = weaken(&commands, i, Stage::NONE, stage);
                assert!(!unprotected(&weaker).is_empty(), "{i} need not hold up {stage:?} in {commands:#?}");
            }
        }
    }
}

/// Plans of the sorts, handed to `body` with the truth about them.
fn with_plans(sorts: &[Sorts], facts: &DeviceFacts, body: impl FnOnce(&[Truth<'_>], &[Plan<'_>])) {
    let profile = Profile::for_device(facts);
    let tables = tables(sorts, facts, &profile, &mut Layout::default());
    let plans: Vec<Plan<'_>> = tables.iter().map(|(_, _, table)| table.plan()).collect();
    let truths: Vec<_> = tables
        .iter()
        .zip(&plans)
        .map(|((sorts, class, _), plan)| {
            let kind = sorts.kind(facts, &profile);
            let infos = sorts.infos.iter().copied().filter(|info| kind.class(info.count.max) == *class).collect();
            Truth { plan, infos, value_words: sorts.value_words }
        })
        .collect();
    body(&truths, &plans);
}

const STRATEGIES: [Strategy; 2] = [Strategy::Lookback, Strategy::ReduceThenScan];

/// Every kind of plan by itself: small and tiled, both strategies, one problem and several, counts and statuses or none.
fn every_plan() -> Vec<Sorts> {
    let mut all = Vec::new();
    for strategy in STRATEGIES {
        for value_words in [0, 1] {
            for size in [0, 500, 1 << 20] {
                for problems in [1, 3, 200] {
                    for flags in 0..4 {
                        let problem = Problem { size, count_on_device: flags & 1 != 0, status: flags & 2 != 0 };
                        let mut addresses = Addresses::new();
                        let infos = (0..problems).map(|_| addresses.info(problem, value_words)).collect();
                        all.push(Sorts { strategy, value_words, infos });
                    }
                }
            }
        }
    }
    all
}

#[test]
fn every_plan_has_the_barriers_it_needs_and_no_other() {
    for (_, facts) in devices() {
        for sorts in every_plan() {
            with_plans(std::slice::from_ref(&sorts), &facts, check);
        }
    }
}

fn problem() -> impl proptest::strategy::Strategy<Value = (bool, u32, Problem)> {
    let size = prop::sample::select(vec![0, 1, 900, 1025, 5000, 70_000, 1 << 20]);
    (any::<bool>(), 0..2u32, size, any::<bool>(), any::<bool>())
        .prop_map(|(look_back, words, size, count_on_device, status)| (look_back, words, Problem { size, count_on_device, status }))
}

fn batch() -> impl proptest::strategy::Strategy<Value = Vec<Sorts>> {
    prop::collection::vec(problem(), 1..12).prop_map(|problems| {
        let mut batch = Vec::<Sorts>::new();
        let mut addresses = Addresses::new();
        for (look_back, value_words, problem) in problems {
            let strategy = STRATEGIES[usize::from(!look_back)];
            let info = addresses.info(problem, value_words);
            match batch.iter_mut().find(|sorts| sorts.strategy == strategy && sorts.value_words == value_words) {
                Some(sorts) => sorts.infos.push(info),
                None => batch.push(Sorts { strategy, value_words, infos: vec![info] }),
            }
        }
        batch
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Plans of different kinds and lengths side by side, their arrays among one another.
    #[test]
    fn batches_have_the_barriers_they_need_and_no_other(batch in batch(), device in 0..9usize) {
        with_plans(&batch, &devices()[device].1, check);
    }

    /// The parts of scratch keep apart, within the size that is asked for, and hold what the problems need.
    #[test]
    fn parts_of_scratch_keep_apart(batch in batch(), device in 0..9usize) {
        let facts = &devices()[device].1;
        let profile = Profile::for_device(facts);
        let mut layout = Layout::default();
        let tables = tables(&batch, facts, &profile, &mut layout);
        let mut parts = Vec::new();
        for (sorts, class, table) in &tables {
            for resource in table.plan().resources {
                if !["keys", "values", "counts", "statuses"].contains(&resource.name) {
                    parts.push((resource.name, resource.range));
                }
                if resource.name == "alternate_keys" {
                    let kind = sorts.kind(facts, &profile);
                    let of_class = sorts.infos.iter().filter(|info| kind.class(info.count.max) == *class);
                    let keys: u64 = of_class.map(|info| u64::from(info.count.max)).sum();
                    prop_assert!(resource.range.size >= keys * 4, "every key has an alternate place");
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
    let batch: Vec<_> = STRATEGIES
        .into_iter()
        .flat_map(|strategy| [(strategy, 0), (strategy, 1)])
        .map(|(strategy, value_words)| {
            let problem = |size| Problem { size, count_on_device: true, status: true };
            let sizes = [100, 100, 1 << 17, 1 << 20, 1 << 20];
            let infos = sizes.iter().map(|size| addresses.info(problem(*size), value_words)).collect();
            Sorts { strategy, value_words, infos }
        })
        .collect();
    with_plans(&batch, &super::problems::NVIDIA, |truths, plans| {
        check(truths, plans);
        let commands = List::of(truths, plans);
        let barriers = commands.iter().filter(|command| matches!(command, Command::Barrier { .. })).count();
        let levels = plans.iter().map(Plan::levels).max().unwrap_or(0);
        assert!(plans.len() > 4 && barriers == levels - 1, "{barriers} barriers for {levels} levels of {} plans", plans.len());
    });
}

/// The checker finds what is not declared: blind to one pass, the recorder leaves out a barrier.
#[test]
fn a_pass_that_is_not_declared_is_found() {
    for strategy in STRATEGIES {
        let problem = Problem { size: 1 << 20, count_on_device: true, status: false };
        let sorts = [Sorts { strategy, value_words: 1, infos: vec![Addresses::new().info(problem, 1)] }];
        with_plans(&sorts, &super::problems::NVIDIA, |truths, plans| {
            assert!(plans[0].passes.len() > 5);
            for blind in 0..plans[0].passes.len() {
                let Plan { name, resources, upload, passes } = &plans[0];
                let mut told = Plan { name, resources: resources.clone(), upload: *upload, passes: passes.clone() };
                told.passes[blind].reads = Default::default();
                told.passes[blind].writes = Default::default();
                let found = unprotected(&List::of(truths, &[told]));
                assert!(!found.is_empty(), "pass {blind} of {strategy:?}");
            }
        });
    }
}

/// And what is declared less than it is: a pass writes what it says it only reads.
#[test]
fn a_write_that_is_not_declared_is_found() {
    let problem = Problem { size: 1 << 20, count_on_device: false, status: false };
    let sorts = [Sorts { strategy: Strategy::ReduceThenScan, value_words: 0, infos: vec![Addresses::new().info(problem, 0)] }];
    with_plans(&sorts, &super::problems::NVIDIA, |truths, plans| {
        let Plan { name, resources, upload, passes } = &plans[0];
        let mut told = Plan { name, resources: resources.clone(), upload: *upload, passes: passes.clone() };
        let count = told.passes.iter().position(|pass| pass.variant.kernel == crate::kernel::Kernel::SortCount).unwrap();
        told.passes[count].writes = Default::default();
        let found = unprotected(&List::of(truths, &[told]));
        assert!(found.iter().any(|pair| pair.contains("sort_count tile_words then plan 0 sort_spine tile_words")), "{found:?}");
    });
}

#[test]
fn classes_are_told_apart() {
    let facts = super::problems::NVIDIA;
    let profile = Profile::for_device(&facts);
    let sorts = Sorts { strategy: Strategy::Lookback, value_words: 0, infos: Vec::new() };
    let kind = sorts.kind(&facts, &profile);
    let mut last = None;
    for size in [0, 1024, 1025, 2048, 4096, 8192, 8193, 1 << 19, (1 << 19) + 1, 1 << 30] {
        let class = kind.class(size);
        let holds = match class {
            Class::Small(shape) => size <= shape.tile(),
            Class::Tiled(_) => size > profile.sort_keys.small.last().unwrap().tile(),
        };
        assert!(holds, "{size} in {class:?} after {last:?}");
        last = Some(class);
    }
}
