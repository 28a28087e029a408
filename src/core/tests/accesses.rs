//! Checks passes on a device against their declared accesses. Each pass runs twice: on memory as the preceding passes
//! have left it, and with all bytes altered that it does not declare to read. The first run may change only bytes that
//! the pass declares to write. Both runs must write the same bytes.

use super::noise;
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, Pass, Plan, Resources};
use crate::core::record::{Commands as _, Recorder};
use crate::host::{Buffer, Context};
use crate::{Range, Scratch};

/// Memory of plans, in one buffer: the caller's arrays and scratch.
pub(crate) struct Memory<'a> {
    pub(crate) context: &'a Context,
    pub(crate) buffer: &'a Buffer,
    pub(crate) scratch: Scratch,
}

/// The bytes of the memory, a flag each, that a pass reads, that it writes, and that differ from run to run.
pub(crate) struct Declared {
    pub(crate) reads: Vec<bool>,
    pub(crate) writes: Vec<bool>,
    pub(crate) by_chance: Option<Vec<bool>>,
}

/// The resources that a pass reads. Those of an indirect dispatch have its number of workgroups, too.
pub(crate) fn reads_of(pass: &Pass) -> Resources {
    match pass.groups {
        Groups::Fixed(_) => pass.reads,
        Groups::Indirect { resource, .. } => pass.reads.union(Resources::of(&[resource])),
    }
}

impl Memory<'_> {
    /// Runs the commands that `body` records on this content. Returns the content afterwards.
    pub(crate) fn run(&self, content: &[u8], plan: &Plan<'_>, body: impl FnOnce(&mut Recorder<'_>)) -> Vec<u8> {
        let device = self.context.device();
        self.context.write(self.buffer, content).unwrap();
        let known = |variant: &Variant| Some(device.late_pipeline(*variant));
        let run = self.context.run(|commands| {
            body(&mut Recorder::new(device, commands, self.scratch, None, plan, known)?);
            Ok(())
        });
        run.unwrap();
        self.context.download(self.buffer, content.len()).unwrap()
    }

    /// A flag for each byte of the memory: whether it is in one of these ranges.
    pub(crate) fn mask(&self, ranges: impl IntoIterator<Item = Range>) -> Vec<bool> {
        let mut mask = vec![false; self.buffer.size() as usize];
        for range in ranges.into_iter().filter(|range| range.size != 0) {
            mask[(range.address - self.buffer.address()) as usize..][..range.size as usize].fill(true);
        }
        mask
    }

    /// Where a byte of the memory is.
    pub(crate) fn place(&self, plan: &Plan<'_>, offset: usize) -> String {
        let address = self.buffer.address() + offset as u64;
        let byte = Range::new(address, 1);
        let there = plan.resources.iter().find(|resource| byte.overlaps(resource.range));
        there.map_or("nothing of the plan's".to_owned(), |there| {
            format!("{}+{}", there.name, address - there.range.address)
        })
    }

    /// Runs a pass, and checks that it changes only bytes that it declares to write.
    pub(crate) fn run_within(&self, content: &[u8], plan: &Plan<'_>, pass: &Pass, writes: &[bool]) -> Vec<u8> {
        let after = self.run(content, plan, |recorder| recorder.dispatch(0, pass));
        let undeclared = (0..content.len()).find(|i| after[*i] != content[*i] && !writes[*i]);
        let undeclared = undeclared.map(|offset| self.place(plan, offset));
        assert_eq!(undeclared, None, "{} writes what it does not declare", pass.kernel.name());
        after
    }

    /// Runs a pass twice. Returns the content after the first run.
    pub(crate) fn run_declared(&self, content: &[u8], plan: &Plan<'_>, pass: &Pass, declared: &Declared) -> Vec<u8> {
        let Declared { reads, writes, by_chance } = declared;
        let after = self.run_within(content, plan, pass, writes);
        let noise = noise(99, content.len().div_ceil(4));
        let noise: &[u8] = bytemuck::cast_slice(&noise);
        let altered = content.iter().zip(noise).zip(reads);
        let altered: Vec<u8> = altered.map(|((byte, noise), read)| if *read { *byte } else { *byte ^ noise }).collect();
        let again = self.run(&altered, plan, |recorder| recorder.dispatch(0, pass));
        let left_alone = |i: usize| after[i] == content[i] && again[i] == altered[i];
        let depends = (0..content.len())
            .filter(|i| by_chance.as_ref().is_none_or(|by_chance| !by_chance[*i]))
            .find(|i| if writes[*i] { after[*i] != again[*i] && !left_alone(*i) } else { again[*i] != altered[*i] });
        let depends = depends.map(|offset| self.place(plan, offset));
        assert_eq!(depends, None, "{} depends on what it does not declare to read", pass.kernel.name());
        after
    }
}
