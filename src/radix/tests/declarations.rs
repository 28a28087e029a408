//! Checks the passes on the device against their declared accesses. Each pass runs twice: on memory as the preceding
//! passes have left it, and with all bytes altered that it does not declare to read. The first run may change only
//! bytes that the pass declares to write. Both runs must write the same bytes.

use super::bench::{AHEAD, Bench};
use super::primitives::{Requests as _, Role};
use super::problems::argument_of;
use crate::Range;
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, Pass, Plan, Resources};
use crate::core::record::{Commands as _, Recorder};
use crate::core::tests::noise;
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

    pub(super) fn run(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        let device = self.context.device();
        self.context.write(&self.buffer, memory).unwrap();
        let known = |variant: &Variant| Some(device.late_pipeline(*variant));
        let run = self.context.run(|commands| {
            let mut pass = *pass;
            if let Groups::Indirect { offset, .. } = &mut pass.groups {
                *offset -= AHEAD;
            }
            Recorder::new(device, commands, self.scratch, None, plan, known)?.dispatch(0, &pass);
            Ok(())
        });
        run.unwrap();
        self.context.download(&self.buffer, memory.len()).unwrap()
    }

    /// Runs a pass, and checks that it changes only declared bytes. Returns the memory after the pass.
    pub(super) fn run_within(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        let writes = self.mask(plan, pass.writes);
        let after = self.run(memory, plan, pass);
        let undeclared = (0..memory.len()).find(|i| after[*i] != memory[*i] && !writes[*i]);
        let name = pass.kernel.name();
        assert_eq!(
            undeclared.map(|offset| self.resource_at(plan, offset)),
            None,
            "{name} writes what it does not declare"
        );
        after
    }

    pub(super) fn resource_at(&self, plan: &Plan<'_>, offset: usize) -> String {
        let address = self.buffer.address() + offset as u64;
        let there = plan.resources.iter().find(|resource| Range::new(address, 1).overlaps(resource.range));
        there.map_or("nothing of the plan's".to_owned(), |there| {
            format!("{}+{}", there.name, address - there.range.address)
        })
    }

    /// Runs a pass twice, the second time with all bytes altered that it does not declare to read. Returns the memory
    /// after the first run.
    pub(super) fn run_declared(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        let name = pass.kernel.name();
        let arguments = match pass.groups {
            Groups::Fixed(_) => Resources::default(),
            Groups::Indirect { resource, .. } => Resources::of(&[resource]),
        };
        let (reads, writes) = (self.mask(plan, pass.reads.union(arguments)), self.mask(plan, pass.writes));
        let after = self.run_within(memory, plan, pass);
        let resource_at = |offset: usize| self.resource_at(plan, offset);

        let noise = noise(99, memory.len().div_ceil(4));
        let noise: &[u8] = bytemuck::cast_slice(&noise);
        let altered = memory.iter().zip(noise).zip(&reads);
        let altered: Vec<u8> = altered.map(|((byte, noise), read)| if *read { *byte } else { *byte ^ noise }).collect();
        let again = self.run(&altered, plan, pass);
        // Which tiles find their ring entry free in time, and which stop waiting, differs from run to run.
        let by_chance = plan.resources.iter().enumerate().filter(|(_, resource)| {
            self.in_ring() && name.starts_with("radix_onesweep") && ["tickets", "tile_words"].contains(&resource.name)
        });
        let by_chance =
            self.mask(plan, by_chance.fold(Resources::default(), |set, (i, _)| set.union(Resources::of(&[i]))));
        let left_alone = |i: usize| after[i] == memory[i] && again[i] == altered[i];
        let depends = (0..memory.len())
            .filter(|i| !by_chance[*i])
            .find(|i| if writes[*i] { after[*i] != again[*i] && !left_alone(*i) } else { again[*i] != altered[*i] });
        assert_eq!(depends.map(resource_at), None, "{name} depends on what it does not declare to read");
        after
    }
}
