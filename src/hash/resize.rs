//! Tables that grow and shrink: the device decides their number of slots.

use super::export::Export;
use super::format::Format;
use super::hasher::HashInfo;
use super::steps::{Steps, WORD, set, word};
use crate::core::memory::Range;
use crate::core::plan::{Groups, Plan};
use crate::core::scratch::Layout;
use crate::kernels::Kernel;
use crate::shared::{HashPush, HashResizeProblem, HashResizePush, RESIZE_CLEAR, RESIZE_EXPORT, RESIZE_KEYS};
use crate::{Count, Result};

const STATE_WORDS: u64 = 2;
const COMMANDS: u64 = 2;
const COMMAND_WORDS: u64 = 3;

/// The decision whether the table moves, and how many slots it gets. If it moves, its export to scratch and the
/// clearing follow, and an insertion.
pub(crate) struct Decision {
    reserve: Count,
    min_slices: u32,
    /// Addresses of parts of scratch: the decision, and the commands.
    state: u64,
    commands: u64,
}

impl Decision {
    pub(super) fn new(format: &Format, info: &HashInfo, scratch: u64, layout: &mut Layout) -> Result<Self> {
        Ok(Self {
            reserve: info.reserve,
            min_slices: format.first_slices(info).min(format.slices_of(info.capacity)),
            state: layout.range(scratch, STATE_WORDS * WORD)?.address,
            commands: layout.range(scratch, COMMANDS * COMMAND_WORDS * WORD)?.address,
        })
    }

    /// The address of the number of keys that move.
    pub(super) fn key_count(&self) -> u64 {
        self.state.wrapping_add(u64::from(RESIZE_KEYS) * WORD)
    }

    /// `change`: the steps of the insertion.
    pub(super) fn add_to(&self, change: &Steps<'_>, export: &Export<'_>, plan: &mut Plan<'_>) {
        self.add_decision(change, plan);
        let groups = self.groups(change, plan, RESIZE_EXPORT);
        export.add_passes(plan, groups);
        self.add_clearing(change, plan);
    }

    fn state_range(&self) -> Range {
        Range::new(self.state, STATE_WORDS * WORD)
    }

    fn command_range(&self) -> Range {
        Range::new(self.commands, COMMANDS * COMMAND_WORDS * WORD)
    }

    /// The workgroups of a command.
    fn groups(&self, steps: &Steps<'_>, plan: &mut Plan<'_>, index: u32) -> Groups {
        let resource = plan.add_resource("commands", self.command_range());
        let commands = self.commands.wrapping_sub(steps.scratch);
        Groups::Indirect { offset: commands + u64::from(index) * COMMAND_WORDS * WORD, resource }
    }

    fn add_decision(&self, steps: &Steps<'_>, plan: &mut Plan<'_>) {
        let push = HashResizePush {
            problem: HashResizeProblem {
                table: steps.problem.table,
                reserve: self.reserve.address.into(),
                max_reserve: self.reserve.max,
                max_count: steps.problem.max_count,
                min_slices: self.min_slices,
                slices: steps.problem.slices,
            },
            scratch: steps.scratch.into(),
            state: steps.part_number(self.state),
            commands: steps.part_number(self.commands),
            clear_blocks: steps.clear_blocks(),
        };
        let reads = set(plan, &[steps.table(), ("reserve", word(self.reserve.address))]);
        let writes = set(plan, &[("commands", self.command_range()), ("state", self.state_range())]);
        let kernel = steps.kernel(Kernel::HashResize, Kernel::HashLinearResize);
        steps.add_pass(plan, kernel, steps.profile().plain_threads, 1, [reads, writes], &push);
    }

    fn add_clearing(&self, steps: &Steps<'_>, plan: &mut Plan<'_>) {
        let sets = [set(plan, &[("state", self.state_range())]), set(plan, &[steps.table()])];
        let groups = self.groups(steps, plan, RESIZE_CLEAR);
        let push = HashPush { state: steps.part_number(self.state), ..steps.push() };
        steps.add_clear_pass(plan, groups, sets, &push);
    }
}
