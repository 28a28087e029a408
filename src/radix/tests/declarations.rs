//! Checks the passes on the device against their declared accesses ([`crate::core::tests::accesses`]).

use super::bench::{AHEAD, Bench};
use super::primitives::{Requests as _, Role};
use super::problems::argument_of;
use crate::core::plan::{Groups, Pass, Plan, Resources};
use crate::core::record::Commands as _;
use crate::core::tests::accesses::{Declared, Memory, reads_of};
use crate::shared::LAYOUT_STRIDED;

impl Bench {
    /// The bytes of the resources, exact for the caller's arrays.
    pub(super) fn mask(&self, plan: &Plan<'_>, set: Resources) -> Vec<bool> {
        let mut mask = vec![false; self.initial.len()];
        let mut add = |address: u64, bytes: usize| {
            let start = self.offset_of(address);
            mask[start..start + bytes].fill(true);
        };
        let format = self.sorts.format();
        for resource in set.iter() {
            let resource = plan.resources[resource];
            let Some(role) = argument_of(resource.name) else {
                add(resource.range.address, resource.range.size as usize);
                continue;
            };
            for job in self.sorts.jobs() {
                let (info, arguments) = (job.items, self.sorts.primitive().arguments(&format, &job));
                let range = arguments.iter().find(|argument| argument.role == role).unwrap().range;
                let (size, stride) = match role {
                    Role::Keys => (format.key_size, info.key_stride),
                    _ => (format.value_size, info.value_stride),
                };
                if range.size != 0
                    && format.has(LAYOUT_STRIDED)
                    && [Role::Keys, Role::Values].contains(&role)
                    && stride != 0
                {
                    // Without the gaps between items.
                    (0..u64::from(info.count.max))
                        .for_each(|i| add(range.address + i * u64::from(stride), size as usize));
                } else if range.size != 0 {
                    add(range.address, range.size as usize);
                }
            }
        }
        mask
    }

    /// The memory, and the pass with its number of workgroups at the place of this scratch.
    fn on_device(&self, pass: &Pass) -> (Memory<'_>, Pass) {
        let mut pass = *pass;
        if let Groups::Indirect { offset, .. } = &mut pass.groups {
            *offset -= AHEAD;
        }
        (Memory { context: &self.context, buffer: &self.buffer, scratch: self.scratch }, pass)
    }

    pub(super) fn run(&self, content: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        let (memory, pass) = self.on_device(pass);
        memory.run(content, plan, |recorder| recorder.dispatch(0, &pass))
    }

    /// Runs a pass, and checks that it changes only declared bytes. Returns the memory after the pass.
    pub(super) fn run_within(&self, content: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        let (memory, on_device) = self.on_device(pass);
        memory.run_within(content, plan, &on_device, &self.mask(plan, pass.writes))
    }

    /// Runs a pass twice, the second time with all bytes altered that it does not declare to read. Returns the memory
    /// after the first run.
    pub(super) fn run_declared(&self, content: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        // Which tiles find their ring entry free in time, and which stop waiting, differs from run to run.
        let by_chance = plan.resources.iter().enumerate().filter(|(_, resource)| {
            self.in_ring()
                && pass.kernel.name().starts_with("radix_onesweep")
                && ["tickets", "tile_words"].contains(&resource.name)
        });
        let by_chance = by_chance.fold(Resources::default(), |set, (i, _)| set.union(Resources::of(&[i])));
        let declared = Declared {
            reads: self.mask(plan, reads_of(pass)),
            writes: self.mask(plan, pass.writes),
            by_chance: Some(self.mask(plan, by_chance)),
        };
        let (memory, pass) = self.on_device(pass);
        memory.run_declared(content, plan, &pass, &declared)
    }
}
