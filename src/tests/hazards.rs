//! Checks the barriers of recorded lists by the declared accesses alone. Every two accesses of which one is a write
//! must be ordered by a barrier between them, and every barrier must be necessary.

mod random;

use super::problems::{
    Addresses, Group, NVIDIA, Problem, SCRATCH, Sorts, argument_of, devices, formats, groups, segmented_formats, segmented_splits,
    splits, tables,
};
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, MAX_VARIANTS, Pass, Plan, Resource, Upload};
use crate::core::primitive::PlanSource;
use crate::core::record::{Commands, record};
use crate::core::scratch::Layout;
use crate::kernels::Kernel;
use crate::radix::{Algorithm, Config, Format, Job, ProblemTable, variants};
use crate::shared::FLAG_EVEN;
use crate::tuning::{Hooks, Profile};
use crate::{BucketFunction, DeviceFacts, Placement, Range, SorterInfo, SplitMethod, SplitOutput, SplitterInfo, Strategy};
use ash::vk::PipelineStageFlags2 as Stage;
use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use std::cell::RefCell;
use std::rc::Rc;

/// What a command does to some bytes.
#[derive(Clone, Debug)]
struct Access {
    stage: Stage,
    writes: bool,
    /// Apart from one another, by rising address.
    ranges: Rc<[Range]>,
    what: String,
}

impl Access {
    fn overlaps(&self, other: &Self) -> bool {
        let (mut mine, mut theirs) = (self.ranges.iter().peekable(), other.ranges.iter().peekable());
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            if a.overlaps(**b) {
                return true;
            }
            if a.end() <= b.end() {
                mine.next()
            } else {
                theirs.next()
            };
        }
        false
    }
}

#[derive(Clone, Debug)]
enum Command {
    Barrier { source: Stage, target: Stage },
    Accesses(Vec<Access>),
}

/// A plan, and exactly which bytes each of its resources is.
struct Truth<'a> {
    plan: &'a Plan<'a>,
    resources: Vec<Rc<[Range]>>,
}

/// The caller's arrays lie apart, where a resource is the smallest range around them.
fn exact(resource: &Resource, jobs: &[Job], format: &Format) -> Rc<[Range]> {
    let Some(role) = argument_of(resource.name) else { return Rc::from([resource.range]) };
    let arguments = jobs.iter().flat_map(|job| job.arguments(format));
    let named = arguments.filter(|argument| argument.role == role && argument.range.size != 0);
    let mut ranges: Vec<Range> = named.map(|argument| argument.range).collect();
    ranges.sort_by_key(|range| range.address);
    ranges.into()
}

/// Lists commands with what they do in truth, whatever the recorder has been told.
struct List<'a> {
    truths: &'a [Truth<'a>],
    /// The plan that is recorded.
    plan: usize,
    /// Passes recorded.
    passes: usize,
    commands: Vec<Command>,
}

impl<'a> List<'a> {
    fn of(truths: &'a [Truth<'a>], told: &[Plan<'_>]) -> Vec<Command> {
        let mut list = Self { truths, plan: 0, passes: 0, commands: Vec::new() };
        for told in told {
            record(told, &mut list);
            assert_eq!(std::mem::take(&mut list.passes), told.passes.len(), "every pass is recorded once");
            list.plan += 1;
        }
        list.commands
    }
}

impl Commands for List<'_> {
    fn barrier(&mut self, source: Stage, target: Stage) {
        self.commands.push(Command::Barrier { source, target });
    }

    fn dispatch(&mut self, place: usize, _told: &Pass) {
        let (plan, truth) = (self.plan, &self.truths[self.plan]);
        let pass = &truth.plan.passes[place];
        let mut accesses = Vec::new();
        let mut add = |resource: usize, stage, writes| {
            let name = truth.plan.resources[resource].name;
            let what = format!("plan {plan} {} {name}", pass.kernel.name());
            accesses.push(Access { stage, writes, ranges: truth.resources[resource].clone(), what });
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
        self.passes += 1;
    }

    fn update(&mut self, upload: &Upload<'_>, offset: u64, bytes: &[u8]) {
        let plan = self.plan;
        let range = Range::new(SCRATCH + offset, bytes.len() as u64);
        let table = self.truths[plan].plan.resources[upload.resource].range;
        assert!(range.address >= table.address && range.address + range.size <= table.address + table.size);
        assert!(bytes.len() <= 65_536 && bytes.len().is_multiple_of(4) && offset.is_multiple_of(4), "vkCmdUpdateBuffer's limits");
        let what = format!("plan {plan} update");
        self.commands.push(Command::Accesses(vec![Access {
            stage: Stage::ALL_TRANSFER,
            writes: true,
            ranges: Rc::from([range]),
            what,
        }]));
    }

    fn mark(&mut self, _level: u32) {}
}

/// The stages that a barrier waits for: those named and, as Vulkan has it, logically earlier ones.
fn waits_for(source: Stage, stages: Stage) -> bool {
    let earlier = if source.contains(Stage::COMPUTE_SHADER) { Stage::DRAW_INDIRECT } else { Stage::NONE };
    stages.intersects(source | earlier)
}

/// Pairs of accesses that nothing orders.
fn unprotected(commands: &[Command]) -> impl Iterator<Item = String> {
    let first = commands.iter().enumerate().filter_map(|(i, command)| match command {
        Command::Accesses(accesses) => Some(accesses.iter().map(move |access| (i, access))),
        Command::Barrier { .. } => None,
    });
    first.flatten().flat_map(move |(i, a)| {
        // Where barriers, one after the other, have made `a` safe to meet.
        let mut safe = Stage::NONE;
        commands[i + 1..].iter().flat_map(move |command| {
            let second = match command {
                Command::Accesses(second) => &second[..],
                Command::Barrier { source, target } => {
                    if waits_for(*source, a.stage | safe) {
                        safe |= *target;
                    }
                    &[]
                }
            };
            let meets = move |b: &&Access| (a.writes || b.writes) && !safe.contains(b.stage) && a.overlaps(b);
            second.iter().filter(meets).map(|b| format!("{} then {}", a.what, b.what))
        })
    })
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
    assert_eq!(unprotected(&commands).next(), None, "missing barriers in {commands:#?}");
    for (i, command) in commands.iter().enumerate() {
        let Command::Barrier { source, target } = command else { continue };
        for stage in [Stage::COMPUTE_SHADER, Stage::ALL_TRANSFER, Stage::DRAW_INDIRECT] {
            if source.contains(stage) {
                let weaker = weaken(&commands, i, stage, Stage::NONE);
                assert!(unprotected(&weaker).next().is_some(), "{i} need not wait for {stage:?} in {commands:#?}");
            }
            if target.contains(stage) {
                let weaker = weaken(&commands, i, Stage::NONE, stage);
                assert!(unprotected(&weaker).next().is_some(), "{i} need not hold up {stage:?} in {commands:#?}");
            }
        }
    }
}

/// The built-in one, and merging and prefixes where tiles are small.
fn profile(facts: &DeviceFacts) -> Profile {
    let mut profile = Profile { prefixes_up_to: 1 << 20, ..Profile::for_device(facts) };
    for shapes in profile.sort_shapes_mut() {
        shapes.merges = ["9000:256x2/128x4", "60000:256x4/256x4"].map(|merge| merge.parse().unwrap()).into_iter().collect();
    }
    profile
}

/// What variants depend on.
type Made = (DeviceFacts, Profile, Format, Strategy, Option<Strategy>, bool);

thread_local! {
    static MADE: RefCell<Vec<(Made, Rc<[Variant]>)>> = const { RefCell::new(Vec::new()) };
}

/// The variants that a sorter or splitter creates. The latest are kept, since many cases in a row have the same.
fn made_by(config: Config<'_>, of_few: Option<Strategy>) -> Rc<[Variant]> {
    let key = (config.facts.clone(), config.profile.clone(), config.format, config.strategy, of_few, config.alone);
    MADE.with_borrow_mut(|made| {
        if let Some((_, variants)) = made.iter().find(|(known, _)| *known == key) {
            return variants.clone();
        }
        let variants: Rc<[Variant]> = variants(config, of_few, !config.alone).unwrap().into();
        made.truncate(16);
        made.insert(0, (key, variants.clone()));
        variants
    })
}

/// What the host tells the device of several problems.
const ROWS: [&str; 3] = ["problems", "results", "label_rows"];

/// Plans of the sorts, as batches have them, handed to `body` with the truth about them.
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
        known.extend(own.map(|resource| exact(resource, &jobs, &group.config.format)));
    }
    let truths: Vec<_> = plans.iter().zip(resources).map(|(plan, resources)| Truth { plan, resources }).collect();
    body(&truths, &plans);
}

/// What is so of the plan of every group.
fn check_group(group: &Group<'_>, plan: &Plan<'_>) {
    let made = made_by(group.config, None);
    let missing = plan.variants.iter().find(|variant| !made.contains(variant));
    assert!(missing.is_none(), "a sorter makes every pipeline that it may need, but {missing:?}");
    assert!(plan.variants.len() <= MAX_VARIANTS / 5, "a composed plan has too many pipelines of ones like this: {plan}");
    for (place, pass) in plan.passes.iter().enumerate() {
        let told = |id: usize| {
            let written = plan.passes[..place].iter().any(|before| before.writes.iter().any(|other| other == id));
            written || plan.uploads.iter().any(|upload| upload.resource == id)
        };
        let rows = pass.reads.iter().find(|id| ROWS.contains(&plan.resources[*id].name) && !told(*id));
        assert!(rows.is_none(), "{:?} reads rows that nobody has written: {plan}", pass.kernel);
    }
}

/// Requests one behind the other.
struct Chain<'c>(Vec<&'c dyn PlanSource>);

impl PlanSource for Chain<'_> {
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>) {
        self.0.iter().for_each(|source| plan.append_behind(*source));
    }
}

/// Two splits and a sort as one plan. Each reads the output of the one before, and the parts share scratch.
#[test]
fn split_split_and_sort_compose() {
    let bits = |begin_bit| SplitterInfo::pairs(100, BucketFunction::Bits { begin_bit });
    for ((_, facts), strategy) in devices().into_iter().zip(Strategy::ALL.into_iter().cycle()) {
        for (size, problems) in [(500, 1), (100_000, 1), (1 << 21, 1), (500, 3), (100_000, 2), (1 << 21, 2)] {
            let problem = Problem { size, count_on_device: false, status: true };
            let mut addresses = Addresses::new();
            let mut parts = [Sorts::splits(bits(0).strategy(strategy)), Sorts::splits(bits(7).strategy(strategy))].to_vec();
            parts.push(Sorts::new(SorterInfo::pairs().strategy(strategy)));
            for place in 0..3 {
                (0..problems).for_each(|_| parts[place].push(&mut addresses, problem));
                let before = parts[place.max(1) - 1].infos.clone();
                for (items, before) in parts[place].infos.iter_mut().zip(before).filter(|_| place != 0) {
                    (items.keys, items.values) = (before.keys_out, before.values_out);
                }
            }
            assert_composes(&parts, &facts);
        }
    }
}

/// Each of the parts goes by one algorithm.
fn assert_composes(parts: &[Sorts], facts: &DeviceFacts) {
    let profile = profile(facts);
    let (mut layout, mut largest) = (Layout::default(), 0);
    let tables: Vec<_> = parts
        .iter()
        .map(|sorts| {
            let config = sorts.config(facts, &profile);
            let algorithm = config.algorithm(sorts.infos[0].count.max);
            let mut alone = Layout::default();
            ProblemTable::new(config, algorithm, sorts, SCRATCH, &mut alone).unwrap();
            largest = largest.max(alone.size());
            layout.reuse_behind(0);
            ProblemTable::new(config, algorithm, sorts, SCRATCH, &mut layout).unwrap()
        })
        .collect();
    assert_eq!(layout.size(), largest, "the parts share scratch");
    let sources: Vec<&dyn PlanSource> = tables.iter().map(|table| table as _).collect();
    let chains: Vec<_> = (1..=sources.len()).map(|count| Chain(sources[..count].to_vec())).collect();
    let plans: Vec<_> = chains.iter().map(|chain| Plan::of(chain).unwrap()).collect();
    let plan = plans.last().unwrap();
    let mut resources = Vec::new();
    for (sorts, with_part) in parts.iter().zip(&plans) {
        let (format, jobs) = (sorts.format(), sorts.jobs().collect::<Vec<_>>());
        resources.extend(with_part.resources[resources.len()..].iter().map(|resource| exact(resource, &jobs, &format)));
    }
    check(&[Truth { plan, resources }], std::slice::from_ref(plan));
    let alone: usize = sources.iter().map(|source| Plan::of(*source).unwrap().passes.len()).sum();
    assert_eq!(plan.passes.len(), alone);
    assert!(usize::from(plan.levels()) >= alone, "each part is behind the one before");
}

/// A sorter's problems, each apart from the others.
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
/// Not strided input: a range of it covers bytes between the items, which are not declared. Its barriers are those of
/// dense input.
#[test]
fn every_plan_has_the_barriers_it_needs_and_no_other() {
    let formats = all_formats();
    for (d, (_, facts)) in devices().into_iter().enumerate() {
        for (f, (_, info)) in formats.iter().enumerate() {
            // Devices differ in tile shapes: together they see every strategy of every format.
            for strategy in [Strategy::ALL[(d + f) % 5], Strategy::ALL[(d + f + 1) % 5]] {
                for size in SIZES {
                    for problems in [1, 3, if f == d { 200 } else { 2 }] {
                        for flags in 0..4 {
                            let problem = Problem { size, count_on_device: flags & 1 != 0, status: flags & 2 != 0 };
                            // Each of segments is a plan of its own.
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

/// The same for splits, with all requested outputs and with none: alone, and several kinds side by side with a sort.
#[test]
fn splits_have_the_barriers_they_need_and_no_other() {
    for (d, (_, facts)) in devices().into_iter().enumerate() {
        for (i, info) in splits().into_iter().enumerate() {
            let of = |info: SplitterInfo, turn: usize| Sorts::splits(info.strategy(Strategy::ALL[(d + turn) % 5]));
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

/// Place in [`formats`] and in [`Strategy::ALL`], and a problem.
fn problem() -> impl proptest::strategy::Strategy<Value = (usize, usize, Problem)> {
    let size = prop::sample::select(vec![0, 1, 900, 1025, 5000, 50_000, 70_000, 1 << 20, 1 << 21]);
    (0..all_formats().len(), 0..Strategy::ALL.len(), size, any::<bool>(), any::<bool>())
        .prop_map(|(format, strategy, size, count_on_device, status)| (format, strategy, Problem { size, count_on_device, status }))
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

    /// Plans of different kinds and lengths side by side, their arrays among one another.
    #[test]
    fn batches_have_the_barriers_they_need_and_no_other(batch in batch(), device in 0..9usize) {
        with_plans(&batch, &devices()[device].1, check);
    }

    /// The parts of scratch keep apart, within the size that is asked for, and hold what the problems need.
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
                let tiled = matches!(algorithm, Algorithm::Tiled(..)) && sorts.info.placement != Placement::DoubleBuffer;
                if resource.name == "alternate_keys" && tiled {
                    let of_class = sorts.infos.iter().filter(|info| config.algorithm(info.count.max) == *algorithm);
                    let keys: u64 = of_class.map(|info| u64::from(info.count.max)).sum();
                    let words = u64::from(sorts.format().key_words);
                    prop_assert!(resource.range.size >= keys * words * 4, "every key has an alternate place");
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
            sorts.infos.extend([100, 100, 1 << 17, 1 << 20, 1 << 20].map(|size| addresses.info(problem(size), &format)));
            batch.push(sorts);
        }
    }
    with_plans(&batch, &NVIDIA, |truths, plans| {
        check(truths, plans);
        let commands = List::of(truths, plans);
        let barriers = barriers(&commands);
        let changes: usize = plans.iter().map(|plan| usize::from(plan.levels()) - 1).sum();
        assert!(plans.len() < 3 && barriers == changes, "{barriers} barriers between {changes} levels of {} plans", plans.len());
    });
}

/// More groups than fit a plan, with segmented ones among them. Within plans, no barrier is missing or superfluous;
/// between plans there is none.
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
            let apart: usize = truths.chunks(1).zip(plans.chunks(1)).map(|(truth, plan)| barriers(&List::of(truth, plan))).sum();
            assert_eq!(barriers(&List::of(truths, plans)), apart);
        });
    }
}

/// The plan with one of its passes told differently.
fn retold<'a>(plan: &Plan<'a>, pass: usize, tell: impl FnOnce(&mut Pass)) -> Plan<'a> {
    let mut told = plan.clone();
    tell(&mut told.passes[pass]);
    told
}

fn barriers(commands: &[Command]) -> usize {
    commands.iter().filter(|command| matches!(command, Command::Barrier { .. })).count()
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
                    let told = retold(&plans[0], blind, |pass| {
                        pass.reads = Default::default();
                        pass.writes = Default::default();
                    });
                    let commands = List::of(truths, &[told]);
                    let told_enough =
                        blind + 1 == plans[0].passes.len() && barriers(&commands) == barriers(&List::of(truths, plans));
                    assert!(told_enough || unprotected(&commands).next().is_some(), "pass {blind} of {name} by {strategy:?}");
                }
            });
        }
    }
}

/// And what is declared less than it is: a pass writes what it says it only reads.
#[test]
fn a_write_that_is_not_declared_is_found() {
    let problem = Problem { size: 1 << 20, count_on_device: false, status: false };
    with_plans(&[sorts(SorterInfo::keys().strategy(Strategy::ReduceThenScan), [problem])], &NVIDIA, |truths, plans| {
        let count = plans[0].passes.iter().position(|pass| pass.kernel == Kernel::RadixCount).unwrap();
        let told = retold(&plans[0], count, |pass| pass.writes = Default::default());
        let commands = List::of(truths, &[told]);
        let found: Vec<String> = unprotected(&commands).collect();
        assert!(found.iter().any(|pair| pair.contains("radix_count tile_words then plan 0 radix_spine tile_words")), "{found:?}");
    });
}

/// Those of the strategy that splits go by where few items are recorded alone.
#[test]
fn pipelines_of_few_items_are_made() {
    let profile = Profile::for_device(&NVIDIA);
    for info in splits().map(|info| info.strategy(Strategy::Lookback)) {
        if !Sorts::splits(info).format().goes_once_to_all_buckets() {
            continue;
        }
        for size in [0, 1, 1 << 14, (1 << 16) + 1, 1 << 17, profile.direct_up_to] {
            let mut sorts = Sorts::splits(info);
            sorts.push(&mut Addresses::new(), Problem { size, count_on_device: true, status: true });
            let config = Config { alone: true, ..sorts.config(&NVIDIA, &profile) };
            let made = made_by(Config { strategy: Strategy::ReduceThenScan, ..config }, Some(Strategy::Lookback));
            let mut layout = Layout::default();
            let table = ProblemTable::new(config, config.algorithm(size), &sorts, SCRATCH, &mut layout).unwrap();
            let plan = Plan::of(&table).unwrap();
            let missing = plan.variants.iter().find(|variant| !made.contains(variant));
            assert!(missing.is_none(), "{size} of {info:?} miss {missing:?}");
        }
    }
}

/// Sums over all problems of a batch select the passes, and long segments need tiles. The largest counts are rejected
/// here.
#[test]
fn pipelines_of_unequal_problems_and_of_long_segments_are_made() {
    let hooks = Hooks { ring_entries: 4, ring_reach: 1, ..Hooks::default() };
    let mut profile = Profile { hooks, ..Profile::for_device(&NVIDIA) };
    for shapes in profile.sort_shapes_mut() {
        (shapes.ring, shapes.few_bins) = (None, None);
        [&mut shapes.tiles, &mut shapes.counted, &mut shapes.recounted].into_iter().for_each(|tiles| tiles.clear());
        shapes.tiles.push("4294967295:64x1".parse().unwrap());
        shapes.small.clear();
        shapes.ranked.clear();
        shapes.merges.clear();
    }
    let problem = |size| Problem { size, count_on_device: false, status: false };
    let segmented = SorterInfo { segmented: true, ..SorterInfo::keys() };
    for (info, max_groups_x, all_digits_up_to, sizes) in [
        (SorterInfo::keys().strategy(Strategy::Ring), i32::MAX as u32, 600_000, &[600_001, 5000][..]),
        (SorterInfo::keys().strategy(Strategy::Lookback), 1, 2_500_000, &[2_500_001, 5000]),
        (segmented.strategy(Strategy::Lookback), 1, 0, &[10_000]),
    ] {
        let profile = Profile { max_groups_x, all_digits_up_to, prefixes_up_to: 0, ..profile.clone() };
        let batch = [sorts(info, sizes.iter().copied().map(problem))];
        for group in &groups(&batch, &NVIDIA, &profile) {
            let made = made_by(group.config, None);
            let table = ProblemTable::new(group.config, group.algorithm, group, SCRATCH, &mut Layout::default()).unwrap();
            let missing = Plan::of(&table).unwrap().variants.into_iter().find(|variant| !made.contains(variant));
            assert!(missing.is_none(), "{sizes:?} of {info:?} miss {missing:?}");
        }
    }
}

/// Splits by one digit use a single dispatch up to the count of the profile. Exceptions are splits with given bucket
/// starts and splits by other methods.
#[test]
fn few_items_are_counted_again() {
    let profile = Profile::for_device(&NVIDIA);
    for info in splits() {
        let sorts = Sorts::splits(info.strategy(Strategy::Lookback));
        let config = Config { alone: true, ..sorts.config(&NVIDIA, &profile) };
        let one_digit = info.buckets <= 256 && info.method == SplitMethod::default() && info.output != SplitOutput::Placed;
        for size in [0, 1, 1 << 11, 1 << 12, (1 << 12) + 1, 1 << 13, (1 << 13) + 1, 1 << 15, (1 << 15) + 1, 1 << 20] {
            // The same of every kind.
            let expected = profile.sort_keys.recounted.iter().find(|sized| size <= sized.up_to && one_digit);
            let expected = expected.map(|sized| Algorithm::Recounted(sized.shape.shape));
            assert_eq!(Some(config.algorithm(size)).filter(|algorithm| algorithm.recounts()), expected, "{size} of {info:?}");
            // No more than four tiles, where others are there to share launches with.
            let together = Config { alone: false, ..config }.algorithm(size);
            assert_eq!(together.recounts(), one_digit && size <= 4 * 1024, "{size} of {info:?} with others");
        }
    }
}

/// Scratch for all sizes up to one is the most that those take at which kernels change.
#[test]
fn classes_change_at_known_sizes() {
    let mut odd = Profile::for_device(&NVIDIA);
    odd.sort_shapes_mut().into_iter().for_each(|shapes| shapes.ranked = "100,5000..8192:512/64".parse().into_iter().collect());
    for profile in [Profile::for_device(&NVIDIA), odd] {
        let sorters = formats().into_iter().map(|(_, info)| Sorts::new(info.strategy(Strategy::Lookback)));
        let splitters = splits().map(|info| Sorts::splits(info.strategy(Strategy::ReduceThenScan)));
        let all = sorters.into_iter().chain(splitters).flat_map(|sorts| [(sorts.clone(), false), (sorts, true)]);
        for (sorts, alone) in all {
            let info = sorts.info;
            let config = Config { alone, ..sorts.config(&NVIDIA, &profile) };
            let ends: Vec<u32> = config.range_ends().collect();
            for size in (1..40_000).filter(|size| config.algorithm(*size) != config.algorithm(size + 1)) {
                assert!(ends.contains(&size), "{size} is an end of {info:?}");
            }
        }
    }
}

#[test]
fn classes_are_told_apart() {
    let profile = Profile::for_device(&NVIDIA);
    for ((_, info), alone) in formats().into_iter().flat_map(|format| [(format, false), (format, true)]) {
        let sorts = sorts(info.strategy(Strategy::Lookback), []);
        let (config, format) = (Config { alone, ..sorts.config(&NVIDIA, &profile) }, sorts.format());
        let shapes = match (format.key_words, format.value_words) {
            (1, 0) => &profile.sort_keys,
            (1, _) => &profile.sort_pairs,
            _ => &profile.sort_long,
        };
        for size in [0, 1, 1024, 1025, 2048, 2049, 4096, 4097, 8192, 8193, 1 << 14, 1 << 16, 1 << 19, (1 << 19) + 1, 1 << 30] {
            let algorithm = config.algorithm(size);
            let holds = match algorithm {
                Algorithm::Segments { .. } | Algorithm::Recounted(_) => false,
                Algorithm::Ranked(ranked) => shapes.ranked.contains(&ranked),
                Algorithm::Small(small) => size <= small.tile() && shapes.small.contains(&small),
                Algorithm::Merged(merging) => {
                    size > shapes.small.last().unwrap().tile()
                        && shapes.merges.contains(&merging.sized)
                        && size <= merging.sized.up_to
                        && merging.run_items(merging.levels) >= u64::from(size)
                }
                Algorithm::Tiled(shape, ..) => {
                    size > shapes.small.last().unwrap().tile().max(shapes.merges.last().map_or(0, |sized| sized.up_to))
                        && (shapes.tiles.iter().any(|sized| sized.shape == shape && size <= sized.up_to)
                            || format.bins() <= 32 && size > profile.direct_up_to && shapes.few_bins == Some(shape))
                }
            };
            let least = if format.rule() == FLAG_EVEN { 4097 } else { 2049 };
            let ranked = alone && format.key_words == 1 && (least..=8192).contains(&size);
            assert!(holds && ranked == matches!(algorithm, Algorithm::Ranked(_)), "{size} in {algorithm:?}");
        }
    }
}
