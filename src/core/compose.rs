//! Composed plans: a request that other primitives carry out, part by part, is one plan of all parts.
//!
//! A composing primitive adds the plans of its parts with [`Plan::append_behind`] and [`Plan::append_beside`].
//! [`Sequence`] and [`Concurrent`] are compositions without passes of their own. Tests record them.
//!
//! A composing primitive lays out its parts ([`Planner::lay_out`](super::primitive::Planner::lay_out)) in one scratch.
//! Between two parts of a [`Sequence`], [`Layout::reuse_behind`](super::scratch::Layout::reuse_behind) lets the later
//! one use the scratch of the earlier one. Parts of a [`Concurrent`] composition have disjoint scratch.

use super::handle::Handle;
use super::memory::Scratch;
use super::pipelines::Variant;
use super::plan::Plan;
use super::primitive::PlanSource;
use super::record::{Recorder, record};
use crate::{Device, Result};
use ash::vk;

/// Consecutive parts. Each may use the outputs and the scratch of those before it.
pub(crate) struct Sequence<'c>(pub(crate) &'c [&'c dyn PlanSource]);

impl PlanSource for Sequence<'_> {
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>) {
        self.0.iter().for_each(|source| plan.append_behind(*source));
    }
}

/// Parts side by side, which share barriers. None writes memory that another one reads or writes.
pub(crate) struct Concurrent<'c>(pub(crate) &'c [&'c dyn PlanSource]);

impl PlanSource for Concurrent<'_> {
    fn add_to<'a>(&'a self, plan: &mut Plan<'a>) {
        self.0.iter().for_each(|source| plan.append_beside(*source));
    }
}

/// Appends the passes of a composed plan. `handles`: those of all parts, which have the pipelines.
///
/// # Errors
/// [`crate::Error::Internal`] if the plan has no room for all parts, or no handle has the pipeline of a pass. Nothing
/// has been recorded then.
///
/// # Safety
/// As for the functions that record one request, for each part. The parts have been checked, and `scratch` has the
/// bytes that they were laid out in.
// The plan is large: it takes its stack here alone.
#[inline(never)]
pub(crate) unsafe fn record_composed(
    device: &Device,
    handles: &[&Handle],
    command_buffer: vk::CommandBuffer,
    scratch: Scratch,
    source: &dyn PlanSource,
) -> Result<()> {
    let plan = Plan::of(source)?;
    let known = |variant: &Variant| handles.iter().find_map(|handle| handle.pipeline(variant));
    let mut recorder = Recorder::new(device, command_buffer, scratch, None, &plan, known)?;
    record(&plan, &mut recorder);
    Ok(())
}
