//! Plans: dispatches as data. Planning is arithmetic on the host, so plans are printed and tested without a GPU.

use crate::core::memory::Range;
use crate::core::pipelines::{MAX_PUSH_BYTES, Variant};
use crate::shared::SharedStruct;
use arrayvec::ArrayVec;
use std::fmt;

/// Most passes of one plan: three for each of sixteen digits, and eight others.
pub(crate) const MAX_PASSES: usize = 56;
/// Most resources of one plan. A set of resources is a `u32` with a bit each.
pub(crate) const MAX_RESOURCES: usize = 23;

/// Most tables of one plan.
const MAX_UPLOADS: usize = 3;

/// A set of a plan's resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resources(pub(crate) u32);

impl Resources {
    pub(crate) fn of(resources: &[usize]) -> Self {
        Self(resources.iter().fold(0, |set, resource| set | 1 << resource))
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..MAX_RESOURCES).filter(move |resource| self.0 >> resource & 1 != 0)
    }
}

/// Memory that passes read and write as a whole. Resources do not overlap, within a plan and between the plans of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    pub(crate) name: &'static str,
    /// For a table of several problems: the smallest range around the memory of all of them.
    pub(crate) range: Range,
}

/// The number of workgroups of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    /// A number, folded into two dimensions if it exceeds the limit of one.
    Fixed(u32),
    /// A `VkDispatchIndirectCommand` in scratch. `offset`: bytes from the beginning of scratch.
    Indirect { offset: u64, resource: usize },
}

/// Push constants of a pass, padded with zeros to the size of the layout: no byte is undefined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Push([u8; MAX_PUSH_BYTES as usize]);

impl Push {
    pub(crate) fn new<T: SharedStruct>(value: &T) -> Self {
        const { assert!(size_of::<T>() <= MAX_PUSH_BYTES as usize, "push constants exceed what every device takes") };
        let source = bytemuck::bytes_of(value);
        let mut bytes = [0; MAX_PUSH_BYTES as usize];
        bytes[..source.len()].copy_from_slice(source);
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// One dispatch.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    pub(crate) variant: Variant,
    pub(crate) groups: Groups,
    pub(crate) push: Push,
    pub(crate) reads: Resources,
    pub(crate) writes: Resources,
}

/// A table of problems that goes into scratch before the first pass.
pub(crate) trait Table {
    /// Calls `row` for each row in order; every row has the same number of bytes, a multiple of 4.
    fn for_each_row(&self, rows: Rows, row: &mut dyn FnMut(&[u8]));
}

/// The kinds of rows that a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Rows of the passes that move items.
    Problems,
    /// Rows of the pass that writes bucket information.
    Results,
    /// Rows of the pass that writes labels.
    Labels,
}

/// Rows of a table and their place in scratch.
#[derive(Clone, Copy)]
pub(crate) struct Upload<'a> {
    pub(crate) table: &'a dyn Table,
    pub(crate) rows: Rows,
    /// Bytes from the beginning of scratch.
    pub(crate) offset: u64,
    pub(crate) resource: usize,
}

/// All dispatches of one request, or of one group of requests.
pub(crate) struct Plan<'a> {
    pub(crate) name: &'static str,
    pub(crate) resources: ArrayVec<Resource, MAX_RESOURCES>,
    pub(crate) uploads: ArrayVec<Upload<'a>, MAX_UPLOADS>,
    pub(crate) passes: ArrayVec<Pass, MAX_PASSES>,
}

impl Plan<'_> {
    /// The number of levels: one for all uploads, if any, and one for each pass.
    pub(crate) fn levels(&self) -> usize {
        self.first_pass() + self.passes.len()
    }

    /// The level of the first pass.
    pub(crate) fn first_pass(&self) -> usize {
        usize::from(!self.uploads.is_empty())
    }
}

impl fmt::Display for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |set: Resources| {
            let names: Vec<_> = set.iter().filter_map(|r| self.resources.get(r)).map(|r| r.name).collect();
            if names.is_empty() { "-".to_owned() } else { names.join(" ") }
        };
        writeln!(f, "{}", self.name)?;
        for resource in &self.resources {
            writeln!(f, "  {:<17} {:>#14x} {:>12} bytes", resource.name, resource.range.address, resource.range.size)?;
        }
        for upload in &self.uploads {
            writeln!(f, "  upload            -> {}", names(Resources::of(&[upload.resource])))?;
        }
        for pass in &self.passes {
            let groups = match pass.groups {
                Groups::Fixed(groups) => format!("{groups}"),
                Groups::Indirect { offset, .. } => format!("at scratch+{offset}"),
            };
            writeln!(f, "  {:<17} groups {groups}: {} -> {}", pass.variant.kernel.name(), names(pass.reads), names(pass.writes))?;
            let constants: Vec<_> = pass.variant.constants().map(|(constant, value)| format!("{constant:?}={value}")).collect();
            writeln!(f, "    {}", constants.join(" "))?;
        }
        Ok(())
    }
}
