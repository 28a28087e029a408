//! Plans: dispatches as data. Planning is arithmetic on the host, so plans are printed and tested without a GPU.

use crate::core::memory::Range;
use crate::core::pipelines::{MAX_PUSH_BYTES, Variant};
use crate::core::primitive::PlanSource;
use crate::kernels::Kernel;
use crate::shared::SharedStruct;
use crate::{Error, Result};
use arrayvec::ArrayVec;
use std::fmt;

/// Most passes of a plan. One request has at most three for each of sixteen digits, and eight others; or three for each
/// of eight digits, and 24 others.
pub(crate) const MAX_PASSES: usize = 64;
/// Most resources of a plan. A set of resources is a `u128` with a bit each.
pub(crate) const MAX_RESOURCES: usize = 96;
/// Most variants of a plan. One request has at most 21.
pub(crate) const MAX_VARIANTS: usize = 40;
/// Most transfers of a plan. One group of requests has at most five.
const MAX_UPLOADS: usize = 24;

/// A set of a plan's resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Resources(pub(crate) u128);

impl Resources {
    pub(crate) const ALL: Self = Self(u128::MAX);

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
        let without_lowest = |set: &u128| Some(set & (set - 1)).filter(|rest| *rest != 0);
        std::iter::successors(Some(self.0).filter(|set| *set != 0), without_lowest)
            .map(|set| set.trailing_zeros() as usize)
    }
}

/// Memory that passes read and write as a whole. Resources of one request do not overlap, nor do those of requests side
/// by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource {
    pub(crate) name: &'static str,
    /// For a table of several problems: the smallest range around the memory of all of them.
    pub(crate) range: Range,
    /// Resources of parts before or behind that share bytes with this one.
    overlaps: Resources,
}

/// The number of workgroups of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    /// A number, folded into two dimensions if it exceeds the limit of one.
    Fixed(u32),
    /// A `VkDispatchIndirectCommand` in scratch. `offset`: bytes from the beginning of scratch.
    Indirect { offset: u64, resource: usize },
}

impl From<u32> for Groups {
    fn from(groups: u32) -> Self {
        Self::Fixed(groups)
    }
}

/// Push constants of a pass, padded with zeros to the size of the layout: no byte is undefined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Push([u8; MAX_PUSH_BYTES as usize]);

impl Push {
    /// Push constants of `kernel`, which are its struct.
    pub(crate) fn new<T: SharedStruct>(kernel: Kernel, value: &T) -> Self {
        debug_assert_eq!(T::LAYOUT.name, kernel.push().name, "the push constants of {kernel:?}");
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
    pub(crate) kernel: Kernel,
    /// Index of the variant in [`Plan::variants`].
    pub(crate) variant: u8,
    /// The same for all passes that are recorded side by side.
    pub(crate) level: u8,
    pub(crate) groups: Groups,
    pub(crate) push: Push,
    pub(crate) reads: Resources,
    pub(crate) writes: Resources,
}

/// A table of problems that goes into scratch before passes read it.
pub(crate) trait Table {
    /// Calls `row` for each row in order; every row has the same number of bytes, a multiple of 4.
    fn for_each_row(&self, rows: Rows, row: &mut dyn FnMut(&[u8]));
}

/// The number of one of a table's lists of rows: what the rows are is known to the table alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows(pub(crate) u8);

/// What a transfer writes.
#[derive(Clone, Copy)]
pub(crate) enum Content<'a> {
    Rows(&'a dyn Table, Rows),
    /// So many bytes, a multiple of 4.
    #[cfg_attr(not(feature = "default"), allow(dead_code, reason = "each primitive uses a part of it"))]
    Zeros(u64),
}

/// A transfer to scratch.
#[derive(Clone, Copy)]
pub(crate) struct Upload<'a> {
    pub(crate) content: Content<'a>,
    pub(crate) level: u8,
    /// Bytes from the beginning of scratch.
    pub(crate) offset: u64,
    pub(crate) resource: usize,
}

/// The dispatches of one request, of one group of requests, or of several of them, side by side or one behind the
/// other.
#[derive(Clone, Default)]
pub(crate) struct Plan<'a> {
    pub(crate) name: &'static str,
    pub(crate) resources: ArrayVec<Resource, MAX_RESOURCES>,
    pub(crate) uploads: ArrayVec<Upload<'a>, MAX_UPLOADS>,
    /// Each once.
    pub(crate) variants: ArrayVec<Variant, MAX_VARIANTS>,
    pub(crate) passes: ArrayVec<Pass, MAX_PASSES>,
    part: Part,
    /// Whether some resource may share bytes with another one.
    has_overlaps: bool,
    /// Something has had no room.
    is_full: bool,
}

/// The part of a plan that is being appended: where it begins.
#[derive(Clone, Copy, Default)]
struct Part {
    resource: usize,
    upload: usize,
    pass: usize,
    level: usize,
    /// Resources of the parts that it is behind.
    earlier: Resources,
}

const _: () =
    assert!(MAX_PASSES + MAX_UPLOADS < 1 << u8::BITS && MAX_VARIANTS < 1 << u8::BITS, "levels and indices are bytes");

#[allow(clippy::cast_possible_truncation, reason = "levels and indices of variants are bytes: see above")]
impl<'a> Plan<'a> {
    /// The plan of one request, or of one group of requests.
    ///
    /// # Errors
    /// [`Error::Internal`] if it has no room, which it has for any request.
    pub(crate) fn of(source: &'a dyn PlanSource) -> Result<Self> {
        let mut plan = Self::default();
        source.add_to(&mut plan);
        plan.finish()?;
        Ok(plan)
    }

    /// Ends the first part of a plan, after [`PlanSource::add_to`]. Recording calls both: the plan, which is large, is
    /// built in place.
    ///
    /// # Errors
    /// As [`Plan::of`].
    pub(crate) fn finish(&mut self) -> Result<()> {
        if !self.has_passes() {
            self.uploads.clear();
        }
        if self.is_full { Err(Error::Internal("a plan has no room for a request".into())) } else { Ok(()) }
    }

    /// Appends the passes of `source` beside those that are there. Returns whether the plan has room; it stays as it
    /// was otherwise.
    pub(crate) fn append(&mut self, source: &'a dyn PlanSource) -> bool {
        let (resources, variants, passes) = (self.resources.len(), self.variants.len(), self.passes.len());
        let uploads = self.uploads.len();
        self.append_beside(source);
        let fits = !std::mem::take(&mut self.is_full);
        if !fits {
            self.resources.truncate(resources);
            self.uploads.truncate(uploads);
            self.variants.truncate(variants);
            self.passes.truncate(passes);
        }
        fits
    }

    /// Appends the passes of `source` beside those of the part that is being appended: behind all that this part is
    /// behind. The parts side by side share no bytes that one of them writes.
    pub(crate) fn append_beside(&mut self, source: &'a dyn PlanSource) {
        self.add_part(source, self.part.level, self.part.earlier);
    }

    /// Appends the passes of `source` behind all others of the part that is being appended. Its scratch may be theirs:
    /// what it shares bytes with is found by the ranges.
    pub(crate) fn append_behind(&mut self, source: &'a dyn PlanSource) {
        let Part { resource, pass, level, earlier, .. } = self.part;
        let last = self.passes[pass..].iter().map(|pass| usize::from(pass.level) + 1).max();
        let own = (resource..self.resources.len()).fold(earlier, |all, own| all.union(Resources::of(&[own])));
        self.add_part(source, last.unwrap_or(level), own);
    }

    fn add_part(&mut self, source: &'a dyn PlanSource, level: usize, earlier: Resources) {
        let part = Part {
            resource: self.resources.len(),
            upload: self.uploads.len(),
            pass: self.passes.len(),
            level,
            earlier,
        };
        let whole = std::mem::replace(&mut self.part, part);
        source.add_to(self);
        if !self.has_passes() {
            self.uploads.truncate(part.upload);
        }
        self.part = whole;
    }

    /// Whether the part that is being appended has passes. Without any, its tables are left out.
    pub(crate) fn has_passes(&self) -> bool {
        self.passes.len() > self.part.pass
    }

    /// Adds a resource, or finds it among those of this part and of earlier ones.
    pub(crate) fn add_resource(&mut self, name: &'static str, range: Range) -> usize {
        let Self { resources, part, .. } = self;
        let mut known = part.earlier.iter().chain(part.resource..resources.len());
        if let Some(same) = known.find(|known| resources[*known].range == range) {
            return same;
        }
        let own = resources.len();
        let mut overlaps = Resources::default();
        for index in part.earlier.iter() {
            let earlier = &mut resources[index];
            if earlier.range.overlaps(range) {
                earlier.overlaps = earlier.overlaps.union(Resources::of(&[own]));
                overlaps = overlaps.union(Resources::of(&[index]));
                self.has_overlaps = true;
            }
        }
        self.is_full |= resources.try_push(Resource { name, range, overlaps }).is_err();
        self.resources.len() - 1
    }

    /// Adds a transfer, before the passes of its part; before all passes, if no earlier part uses its bytes.
    pub(crate) fn add_upload(&mut self, content: Content<'a>, offset: u64, resource: usize) {
        let own = Resources::of(&[resource]);
        let is_used = self.overlapping(own).intersects(self.part.earlier);
        let level = if is_used { self.part.level as u8 } else { 0 };
        self.is_full |= self.uploads.try_push(Upload { content, level, offset, resource }).is_err();
    }

    /// Adds a transfer of zeros to a resource in scratch, as [`Self::add_upload`].
    #[cfg_attr(not(feature = "default"), allow(dead_code, reason = "each primitive uses a part of it"))]
    pub(crate) fn add_clear(&mut self, range: Range, scratch: u64, resource: usize) {
        self.add_upload(Content::Zeros(range.size), range.address.wrapping_sub(scratch), resource);
    }

    /// The index of a variant, which is added unless the plan has it.
    pub(crate) fn add_variant(&mut self, variant: &Variant) -> u8 {
        let known = self.variants.iter().position(|known| known == variant);
        let index = known.unwrap_or(self.variants.len());
        self.is_full |= known.is_none() && self.variants.try_push(*variant).is_err();
        index as u8
    }

    /// Adds a pass with the variant at an index, behind the others of its part.
    pub(crate) fn add_pass(&mut self, variant: u8, groups: Groups, push: Push, reads: Resources, writes: Resources) {
        // Without room for its variant, the plan has none for the pass either.
        let Some(kernel) = self.variants.get(usize::from(variant)).map(|variant| variant.kernel) else { return };
        let Self { passes, part, .. } = self;
        let waits = self.uploads[part.upload..].iter().any(|upload| usize::from(upload.level) == part.level);
        let last = passes[part.pass..].iter().map(|pass| usize::from(pass.level)).max();
        let level = last.map_or(part.level + usize::from(waits), |last| last + 1) as u8;
        self.is_full |= passes.try_push(Pass { kernel, variant, level, groups, push, reads, writes }).is_err();
    }

    /// The plan as text. `scratch`: what it has been laid out in.
    pub(crate) fn text(&self, scratch: Range) -> impl fmt::Display {
        Text { plan: self, scratch }
    }

    /// `set`, and what shares bytes with it.
    pub(crate) fn overlapping(&self, set: Resources) -> Resources {
        if !self.has_overlaps {
            return set;
        }
        set.iter().filter_map(|index| self.resources.get(index)).fold(set, |all, resource| all.union(resource.overlaps))
    }

    /// The indices of all passes, level by level, and in the order of the plan at each level.
    pub(crate) fn indices_by_level(&self) -> ArrayVec<u8, MAX_PASSES> {
        let mut indices: ArrayVec<_, MAX_PASSES> = (0..self.passes.len() as u8).collect();
        // Those of one request are in order.
        indices.sort_unstable_by_key(|index| (self.passes[usize::from(*index)].level, *index));
        indices
    }

    /// The number of levels with passes.
    pub(crate) fn dispatch_levels(&self) -> u32 {
        let level = |index: u8| self.passes[usize::from(index)].level;
        let indices = self.indices_by_level();
        let changes = indices.windows(2).filter(|pair| level(pair[0]) != level(pair[1]));
        u32::from(self.has_passes()) + changes.count() as u32
    }

    /// The number of levels. At each level, tables are written and passes dispatched side by side.
    pub(crate) fn levels(&self) -> u8 {
        let levels = self.uploads.iter().map(|upload| upload.level).chain(self.passes.iter().map(|pass| pass.level));
        levels.max().map_or(0, |last| last + 1)
    }
}

impl fmt::Display for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text(Range::NONE).fmt(f)
    }
}

/// A plan as text, with the scratch that it has been laid out in.
struct Text<'p, 'a> {
    plan: &'p Plan<'a>,
    scratch: Range,
}

impl Text<'_, '_> {
    /// Where a resource begins.
    fn place(&self, range: Range) -> String {
        match range.address.checked_sub(self.scratch.address) {
            Some(offset) if offset < self.scratch.size => format!("scratch+{offset:#x}"),
            _ => format!("{:#x}", range.address),
        }
    }
}

impl fmt::Display for Text<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Plan { resources, uploads, passes, variants, name, .. } = self.plan;
        let names = |set: Resources| {
            let names: Vec<_> = set.iter().filter_map(|r| resources.get(r)).map(|r| r.name).collect();
            if names.is_empty() { "-".to_owned() } else { names.join(" ") }
        };
        writeln!(f, "{name}")?;
        for resource in resources {
            writeln!(
                f,
                "  {:<17} {:>18} {:>12} bytes",
                resource.name,
                self.place(resource.range),
                resource.range.size
            )?;
        }
        for upload in uploads {
            let verb = if let Content::Zeros(_) = upload.content { "clear" } else { "upload" };
            writeln!(f, "  {verb:<17} -> {}", names(Resources::of(&[upload.resource])))?;
        }
        for pass in passes {
            let groups = match pass.groups {
                Groups::Fixed(groups) => format!("{groups}"),
                Groups::Indirect { offset, .. } => format!("at scratch+{offset:#x}"),
            };
            writeln!(
                f,
                "  {:<17} groups {groups}: {} -> {}",
                pass.kernel.name(),
                names(pass.reads),
                names(pass.writes)
            )?;
            let constants = variants.get(usize::from(pass.variant)).into_iter().flat_map(Variant::constants);
            let constants: Vec<_> = constants.map(|(constant, value)| format!("{constant:?}={value}")).collect();
            writeln!(f, "    {}", constants.join(" "))?;
        }
        Ok(())
    }
}
