//! Checks the barriers of recorded lists by the declared accesses alone. Every two accesses of which one is a write
//! must be ordered by a barrier between them, and every barrier must be necessary.

use super::SCRATCH;
use crate::Range;
use crate::core::plan::{Groups, Pass, Plan, Upload};
use crate::core::record::{Commands, record};
use ash::vk::PipelineStageFlags2 as Stage;
use std::rc::Rc;

/// An access of a command to some bytes.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    stage: Stage,
    writes: bool,
    /// Disjoint ranges, by ascending address.
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

/// A command of a list.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    Barrier { source: Stage, target: Stage },
    Accesses(Vec<Access>),
}

/// A plan, and the exact bytes of each of its resources.
pub(crate) struct Truth<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) resources: Vec<Rc<[Range]>>,
}

/// Lists commands with their true accesses, whatever the plan declares.
struct List<'a> {
    truths: &'a [Truth<'a>],
    /// The plan that is recorded.
    plan: usize,
    /// Passes recorded.
    passes: usize,
    commands: Vec<Command>,
}

impl List<'_> {
    /// Lists a transfer to `offset` of scratch.
    fn transfer(&mut self, upload: &Upload<'_>, offset: u64, bytes: u64) {
        let plan = self.plan;
        let range = Range::new(SCRATCH + offset, bytes);
        let declared = self.truths[plan].plan.resources[upload.resource].range;
        assert!(range.address >= declared.address && range.address + range.size <= declared.address + declared.size);
        assert!(bytes.is_multiple_of(4) && offset.is_multiple_of(4), "the limits of transfers");
        let what = format!("plan {plan} transfer");
        self.commands.push(Command::Accesses(vec![Access {
            stage: Stage::ALL_TRANSFER,
            writes: true,
            ranges: Rc::from([range]),
            what,
        }]));
    }
}

impl Commands for List<'_> {
    fn barrier(&mut self, source: Stage, target: Stage) {
        self.commands.push(Command::Barrier { source, target });
    }

    fn dispatch(&mut self, index: usize, _declared: &Pass) {
        let (plan, truth) = (self.plan, &self.truths[self.plan]);
        let pass = &truth.plan.passes[index];
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
            let inside =
                SCRATCH + offset >= arguments.address && SCRATCH + offset + 12 <= arguments.address + arguments.size;
            assert!(inside, "the command lies in what is declared to hold it");
        }
        self.commands.push(Command::Accesses(accesses));
        self.passes += 1;
    }

    fn update(&mut self, upload: &Upload<'_>, offset: u64, bytes: &[u8]) {
        assert!(bytes.len() <= 65_536, "vkCmdUpdateBuffer's limit");
        self.transfer(upload, offset, bytes.len() as u64);
    }

    fn clear(&mut self, upload: &Upload<'_>, bytes: u64) {
        self.transfer(upload, upload.offset, bytes);
    }
    fn mark(&mut self, _level: u32) {}
}

/// The commands of plans with these declarations, with their true accesses.
pub(crate) fn recorded(truths: &[Truth<'_>], declared: &[Plan<'_>]) -> Vec<Command> {
    let mut list = List { truths, plan: 0, passes: 0, commands: Vec::new() };
    for plan in declared {
        record(plan, &mut list);
        assert_eq!(std::mem::take(&mut list.passes), plan.passes.len(), "every pass is recorded once");
        list.plan += 1;
    }
    list.commands
}

/// Whether a barrier with these source stages waits for any of `stages`. By Vulkan's rules, it also waits for logically
/// earlier stages.
fn waits_for(source: Stage, stages: Stage) -> bool {
    let earlier = if source.contains(Stage::COMPUTE_SHADER) { Stage::DRAW_INDIRECT } else { Stage::NONE };
    stages.intersects(source | earlier)
}

/// Returns the pairs of conflicting accesses that no barrier orders.
pub(crate) fn unprotected(commands: &[Command]) -> impl Iterator<Item = String> {
    let first = commands.iter().enumerate().filter_map(|(i, command)| match command {
        Command::Accesses(accesses) => Some(accesses.iter().map(move |access| (i, access))),
        Command::Barrier { .. } => None,
    });
    first.flatten().flat_map(move |(i, a)| {
        // Stages in which accesses are ordered after `a`, by the chain of barriers so far.
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

/// Removes stages from barrier `i` of `commands`. Removes the barrier if one side has no stages left.
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

/// Checks that the plans have every barrier they need, and no other.
pub(crate) fn check(truths: &[Truth<'_>], plans: &[Plan<'_>]) {
    let commands = recorded(truths, plans);
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

/// Number of barriers.
pub(crate) fn barriers(commands: &[Command]) -> usize {
    commands.iter().filter(|command| matches!(command, Command::Barrier { .. })).count()
}
