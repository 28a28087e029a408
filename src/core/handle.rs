//! The part of a handle that does not depend on the primitive: device, pipelines, sizes of scratch; and the recording
//! of one request.

use super::memory::{Argument, Arguments, BoundingRanges, Range, Scratch, Timestamps, check_alignment};
use super::pipelines::{Pipeline, Variant, Workspace, on_threads};
use super::plan::Plan;
use super::primitive::{Job, JobKind, JobOf, Jobs, PlanSource, Planner, Primitive, RequestInfo, Roles};
use super::record::{Commands as _, Recorder, record};
use super::scratch::Layout;
use crate::{Device, Error, Result};
use ash::vk;
use ash::vk::Handle as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A device and what has been created on it for one handle of a primitive. Many threads record with it.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    /// Dropped before the device.
    created: Arc<Created>,
    device: Device,
}

#[derive(Debug, Default)]
struct Created {
    /// Kept here because the registry has a lock, and recording waits for none.
    slots: Box<[Slot]>,
    /// Variants without a slot: a recording creates their pipelines. See [`Device::make_pipelines_late`].
    late: Box<[Variant]>,
    /// Slots without a pipeline.
    missing: AtomicUsize,
    /// By rising maximum count.
    sizes: Box<[Size]>,
}

/// A variant, and its pipeline once there is one.
#[derive(Debug)]
struct Slot {
    variant: Variant,
    /// Some thread creates the pipeline, or has done so.
    claimed: AtomicBool,
    pipeline: OnceLock<Arc<Pipeline>>,
}

/// A slot that this thread has claimed. Dropped without a pipeline, the slot can be claimed again.
struct Claim<'a>(&'a Slot);

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.0.pipeline.get().is_none() {
            self.0.claimed.store(false, Ordering::Relaxed);
        }
    }
}

/// Parameters of creating handles of any primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Requests may be recorded together with others.
    pub(crate) batches: bool,
    /// Pipelines are created by the threads that call [`Handle::compile`], not before the handle is returned.
    pub(crate) deferred: bool,
}

/// Scratch at the end of a range of counts.
#[derive(Clone, Copy, Debug)]
struct Size {
    max_count: u32,
    /// The largest size for any count up to `max_count`; none if a request of that count is refused.
    bytes: Option<u64>,
}

impl Handle {
    /// Without pipelines, for planners that [`Handle::complete`] then asks.
    pub(crate) fn new(device: &Device) -> Self {
        Self { created: Arc::default(), device: device.clone() }
    }

    /// The planner's handle with the pipelines of `variants`, which are those of all its plans.
    pub(crate) fn complete<P: Planner>(planner: &P, mut variants: Vec<Variant>, deferred: bool) -> Result<Self> {
        let Self { device, .. } = planner.handle();
        let mut ends: Vec<u32> = planner.range_ends(true).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut most = Some(0);
        let sizes = ends.into_iter().map_while(|max_count| {
            planner.check_count(max_count).ok()?;
            most = most.zip(scratch_of(planner, max_count).ok()).map(|(most, bytes)| most.max(bytes));
            Some(Size { max_count, bytes: most })
        });
        let sizes = sizes.collect();
        if planner.allows_batches() {
            device.check_memory().allocate();
        }
        let mut late = Vec::new();
        if device.creates_pipelines_late() {
            std::mem::swap(&mut variants, &mut late);
        }
        // The variants of a kernel then share its shader.
        variants.sort_by_key(|variant| variant.kernel as u32);
        let slot = |variant| Slot { variant, claimed: AtomicBool::new(false), pipeline: OnceLock::new() };
        let slots: Box<[Slot]> = variants.into_iter().map(slot).collect();
        let missing = AtomicUsize::new(slots.len());
        let created = Created { slots, late: late.into(), missing, sizes };
        let handle = Self { created: Arc::new(created), device: device.clone() };
        if !deferred {
            let threads = device.handles().creation_threads().min(handle.created.slots.len());
            on_threads(threads, || handle.compile())?;
        }
        Ok(handle)
    }

    /// Creates pipelines until there is none left that no thread has begun. Several threads may do so at the same time.
    ///
    /// # Errors
    /// [`Error::Vulkan`] if one cannot be created; the next call tries it again.
    pub(crate) fn compile(&self) -> Result<()> {
        let mut workspace = Workspace::default();
        for slot in &self.created.slots {
            if slot.claimed.swap(true, Ordering::Relaxed) {
                continue;
            }
            let claim = Claim(slot);
            let pipeline = self.device.create_pipeline(slot.variant, &mut workspace)?;
            // Nobody else sets what this thread has claimed.
            let _ = claim.0.pipeline.set(pipeline);
            self.created.missing.fetch_sub(1, Ordering::Release);
        }
        Ok(())
    }

    /// Whether every pipeline has been created.
    pub(crate) fn is_ready(&self) -> bool {
        self.created.missing.load(Ordering::Acquire) == 0
    }

    /// # Errors
    /// [`Error::NotReady`] until every pipeline has been created.
    pub(crate) fn check_ready(&self, argument: &'static str) -> Result<()> {
        if self.is_ready() { Ok(()) } else { Err(Error::NotReady { argument }) }
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The pipeline of a variant, if it is one of the handle's.
    ///
    /// # Errors
    /// [`Error::Vulkan`] if the pipeline is created now and cannot be.
    pub(crate) fn pipeline(&self, variant: &Variant) -> Option<Result<vk::Pipeline>> {
        if let Some(slot) = self.created.slots.iter().find(|slot| slot.variant == *variant) {
            return slot.pipeline.get().map(|pipeline| Ok(pipeline.handle()));
        }
        self.created.late.contains(variant).then(|| self.device.late_pipeline(*variant))
    }

    /// The largest size of scratch for counts in the ranges before that of `max_count`; none if some count there is
    /// refused.
    fn scratch_below(&self, max_count: u32) -> Option<u64> {
        self.created.sizes.iter().rev().find(|size| size.max_count < max_count).map_or(Some(0), |size| size.bytes)
    }
}

/// One job, and the memory that it names.
pub(crate) struct One<'j, K: JobKind> {
    pub(crate) job: K::Job<'j>,
    pub(crate) arguments: Arguments<K::Role>,
}

impl<'j, K: JobKind> One<'j, K> {
    pub(crate) fn new<P: Planner<Kind = K>>(planner: &P, job: K::Job<'j>) -> Self {
        Self { job, arguments: planner.arguments(&job) }
    }
}

impl<K: JobKind> Jobs<K> for One<'_, K> {
    fn for_each(&self, visit: &mut dyn FnMut(&K::Job<'_>)) {
        visit(&self.job);
    }

    fn bounding_ranges(&self) -> BoundingRanges<K::Role> {
        BoundingRanges::of(&self.arguments)
    }
}

/// The jobs of a table: those of requests, or one that a composing primitive has made.
#[cfg_attr(not(feature = "default"), allow(dead_code, reason = "each primitive uses a part of it"))]
pub(crate) enum TableJobs<'a, K: JobKind> {
    Requests(&'a dyn Jobs<K>),
    Part(K::Job<'a>),
}

impl<K: JobKind> TableJobs<'_, K> {
    #[cfg_attr(not(feature = "default"), allow(dead_code, reason = "each primitive uses a part of it"))]
    pub(crate) fn for_each(&self, visit: &mut dyn FnMut(&K::Job<'_>)) {
        match self {
            Self::Requests(jobs) => jobs.for_each(visit),
            Self::Part(job) => visit(job),
        }
    }
}

/// Scratch of the largest job with this maximum count.
fn scratch_of<P: Planner>(planner: &P, max_count: u32) -> Result<u64> {
    with_largest(planner, max_count, |_, bytes| Ok(bytes))
}

fn with_largest<P: Planner, T>(
    planner: &P,
    max_count: u32,
    body: impl FnOnce(&P::Table<'_>, u64) -> Result<T>,
) -> Result<T> {
    let job = One::new(planner, planner.largest(max_count));
    let mut layout = Layout::default();
    let table = planner.lay_out(planner.group(max_count, true), &job, 0, &mut layout)?;
    body(&table, layout.size())
}

/// Bytes of scratch that serve every request of at most `max_count` items.
pub(crate) fn scratch_size<P: Planner>(planner: &P, max_count: u32) -> Result<u64> {
    planner.check_count(max_count)?;
    let own = scratch_of(planner, max_count)?;
    match planner.handle().scratch_below(max_count) {
        Some(below) => Ok(own.max(below)),
        // The error of the first count that is refused.
        None => planner.range_ends(true).filter(|end| *end < max_count).try_fold(own, |most, end| {
            planner.check_count(end)?;
            Ok(most.max(scratch_of(planner, end)?))
        }),
    }
}

/// Queries for the times of a request with exactly this maximum count.
// Plans are large: this one is gone when the request's own is built.
#[inline(never)]
pub(crate) fn timestamp_count<P: Planner>(planner: &P, max_count: u32) -> Result<u32> {
    planner.check_count(max_count)?;
    with_largest(planner, max_count, |table, _| {
        let mut plan = Plan::default();
        table.add_to(&mut plan);
        plan.finish()?;
        Ok(plan.dispatch_levels() + 1)
    })
}

/// The passes of a request, as text.
pub(crate) fn describe<P: Primitive>(primitive: &P, info: &P::Info<'_>) -> Result<String> {
    let planner = primitive.planner();
    primitive.check_count(info)?;
    let job = One::new(planner, primitive.job(info));
    // Neither null nor an address of the request.
    let (scratch, mut layout) = (0xff << 56, Layout::default());
    let table = planner.lay_out(planner.group(info.max_count(), true), &job, scratch, &mut layout)?;
    let scratch = Range::new(scratch, layout.size());
    Ok(Plan::of(&table)?.text(scratch).to_string())
}

/// Appends the passes of one request. `job`: `primitive.job(info)`.
///
/// # Safety
/// As for the function of the primitive that records.
pub(crate) unsafe fn record_one<P: Primitive>(
    primitive: &P,
    command_buffer: vk::CommandBuffer,
    info: &P::Info<'_>,
    job: JobOf<'_, P>,
) -> Result<()> {
    if command_buffer.is_null() {
        return Err(Error::Null { argument: "commandBuffer" });
    }
    let (planner, max_count, given) = (primitive.planner(), info.max_count(), info.scratch());
    let handle = planner.handle();
    handle.check_ready(P::NAME)?;
    primitive.check(info)?;
    primitive.check_count(info)?;
    let job = One::new(planner, job);
    planner.check(&job.job, &job.arguments)?;
    check_conflicts(planner, &job.job, &job.arguments)?;
    let queries = info.queries().map_or(Ok(0), |_| timestamp_count(planner, max_count))?;
    check_timestamps(info.queries(), queries)?;

    // SAFETY: the caller promises a valid buffer with that usage.
    let address = unsafe { scratch_address(&handle.device, given) };
    let mut layout = Layout::default();
    let table = planner.lay_out(planner.group(max_count, true), &job, address, &mut layout)?;
    let required = match handle.scratch_below(max_count) {
        Some(below) => below.max(layout.size()),
        None => scratch_size(planner, max_count)?,
    };
    let scratch = check_scratch(given, address, required, Some(max_count))?;
    check_apart(planner, &job.job, &job.arguments, scratch)?;
    // SAFETY: the caller's promises.
    unsafe { record_table(handle, command_buffer, given, info.queries(), &table, queries) }
}

/// # Safety
/// As [`record_one`].
// The plan is large: it takes its stack here alone.
#[inline(never)]
unsafe fn record_table(
    handle: &Handle,
    command_buffer: vk::CommandBuffer,
    scratch: Scratch,
    timestamps: Option<Timestamps>,
    table: &dyn PlanSource,
    queries: u32,
) -> Result<()> {
    let mut plan = Plan::default();
    table.add_to(&mut plan);
    plan.finish()?;
    let known = |variant: &Variant| handle.pipeline(variant);
    let mut recorder = Recorder::new(&handle.device, command_buffer, scratch, timestamps, &plan, known)?;
    let written = record(&plan, &mut recorder);
    // A request may have fewer passes than the largest of its count. Its caller waits for all queries.
    for unused in written..queries {
        recorder.mark(unused);
    }
    Ok(())
}

/// Checks that the numbers of all queries fit a `u32`.
fn check_timestamps(timestamps: Option<Timestamps>, queries: u32) -> Result<()> {
    let (first, limit) = (timestamps.map_or(0, |timestamps| timestamps.first), u32::MAX - queries.saturating_sub(1));
    if first > limit {
        let why = "beyond which the last query has no number";
        return Err(Error::TooLarge { argument: "timestamps.first", value: first.into(), limit: limit.into(), why });
    }
    Ok(())
}

/// Checks that no argument of a request is written and shares bytes with another one.
pub(crate) fn check_conflicts<P: Planner>(
    planner: &P,
    job: &Job<'_, P>,
    arguments: &Arguments<Roles<P>>,
) -> Result<()> {
    for (index, argument) in arguments.iter().enumerate() {
        if let Some(other) = arguments[..index].iter().find(|other| argument.conflicts(other)) {
            return Err(Error::Overlap { first: other.name(), second: argument.name() });
        }
    }
    // These are only read, and may overlap one another.
    let mut conflict = None;
    planner.for_each_more(job, &mut |more| {
        let other = arguments.iter().find(|other| more.conflicts(other));
        conflict = conflict.take().or(other.map(|other| Error::Overlap { first: other.name(), second: more.name() }));
    });
    conflict.map_or(Ok(()), Err)
}

/// Checks that no argument shares bytes with scratch.
pub(crate) fn check_apart<P: Planner>(
    planner: &P,
    job: &Job<'_, P>,
    arguments: &Arguments<Roles<P>>,
    scratch: Range,
) -> Result<()> {
    let overlap = |argument: &Argument<Roles<P>>| {
        let overlaps = argument.range.overlaps(scratch);
        overlaps.then(|| Error::Overlap { first: argument.name(), second: "scratch" })
    };
    let mut found = arguments.iter().find_map(overlap);
    planner.for_each_more(job, &mut |more| found = found.take().or_else(|| overlap(&more)));
    found.map_or(Ok(()), Err)
}

/// The device address of the first byte of scratch; 0 without a buffer.
///
/// # Safety
/// The buffer, unless null, is a valid one of the device with usage `SHADER_DEVICE_ADDRESS`.
pub(crate) unsafe fn scratch_address(device: &Device, scratch: Scratch) -> u64 {
    if scratch.buffer.is_null() {
        return 0;
    }
    let info = vk::BufferDeviceAddressInfo::default().buffer(scratch.buffer);
    // SAFETY: the caller's promise.
    let base = unsafe { device.handles().vk.get_buffer_device_address(&info) };
    // check_scratch() refuses what wraps.
    base.wrapping_add(scratch.offset)
}

/// Checks scratch that begins at `address`, and returns the bytes of it that will be used; none if none are required.
pub(crate) fn check_scratch(scratch: Scratch, address: u64, required: u64, max_count: Option<u32>) -> Result<Range> {
    check_alignment("scratch.offset", scratch.offset)?;
    if scratch.size < required {
        let (argument, value) = ("scratch.size", scratch.size);
        return Err(Error::TooSmall { argument, value, required, max_count: max_count.map(u64::from) });
    }
    if required == 0 {
        return Ok(Range::NONE);
    }
    if scratch.buffer.is_null() {
        return Err(Error::Null { argument: "scratch.buffer" });
    }
    let room = u64::MAX - address.wrapping_sub(scratch.offset);
    if scratch.offset > room || required > room - scratch.offset {
        let why = "the end of the address space";
        let limit = room.saturating_sub(required);
        return Err(Error::TooLarge { argument: "scratch.offset", value: scratch.offset, limit, why });
    }
    Ok(Range::new(address, required))
}
