//! Batches: problems of equal groups share dispatches, and groups of one company share barriers. A company is the
//! groups that are recorded side by side.

mod independence;

use super::handle::{check_apart, check_conflicts, check_scratch, scratch_address};
use super::memory::{self, BoundingRanges, RangeNames};
use super::pipelines::Variant;
use super::plan::Plan;
use super::primitive::{GroupOf, JobOf, Jobs, KindOf, PlanSource as _, Planner, Primitive, RoleOf};
use super::record::{Recorder, record};
use super::scratch::Layout;
use crate::requests::{AnyGroup, AnyMembers, AnyTable, Request};
use crate::{Device, Error, Result, Scratch};
use arrayvec::ArrayVec;
use ash::vk;
use ash::vk::Handle as _;
use independence::{Independence, with_buffer};
use std::borrow::Borrow;
use std::ops::Range;
use std::ptr;

/// Memory that a request names, whichever its primitive.
pub(crate) type Argument = memory::Argument<&'static RangeNames>;

/// Most problems of one batch.
const MAX_REQUESTS: usize = 1 << 20;
/// Most groups of a company. Their tables lie on the stack.
const MAX_GROUPS: usize = 6;

/// The requests of a batch: a slice, or what C gives, converted one at a time.
pub(crate) trait Requests {
    fn len(&self) -> usize;

    /// The same each time for the same index.
    fn get(&self, index: usize) -> impl Borrow<Request<'_>>;
}

impl Requests for [Request<'_>] {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, index: usize) -> impl Borrow<Request<'_>> {
        &self[index]
    }
}

/// A primitive that has a variant of [`Request`].
pub(crate) trait Listed: Primitive {
    /// The request's handle and parameters, if it is one of this primitive.
    fn of<'r, 'a>(request: &'r Request<'a>) -> Option<(&'a Self, &'r Self::Info<'a>)>;
}

/// Requests of one group, in the order of the batch.
pub(crate) struct Members<'a, R: ?Sized, P: Primitive> {
    requests: &'a R,
    /// The handle of the first request. The others have handles that were created alike.
    primitive: &'a P,
    group: GroupOf<P>,
    /// Of the first request: see [`Primitive::group_count`].
    group_count: u32,
    /// From the first request of the group to the last. Requests of other groups may lie between them.
    indices: Range<usize>,
    count: usize,
    alone: bool,
}

impl<'a, R: Requests + ?Sized, P: Listed> Members<'a, R, P> {
    /// The group of the request at `index`.
    pub(crate) fn of(requests: &'a R, index: usize, primitive: &'a P, info: &P::Info<'_>) -> Self {
        let (group_count, alone) = (primitive.group_count(info), requests.len() == 1);
        let group = primitive.planner().group(group_count, alone);
        Self { requests, primitive, group, group_count, indices: index..index + 1, count: 1, alone }
    }

    /// Where the group is in the order of groups, and the index of its request if it shares dispatches with no other.
    pub(crate) fn order(&self) -> (Option<usize>, GroupOf<P>) {
        ((!P::Planner::shares(&self.group)).then_some(self.indices.start), self.group)
    }

    /// Whether a request is one of the group for the same reasons as the first: those of other groups are not, others
    /// may be.
    pub(crate) fn has_alike(&self, primitive: &P, info: &P::Info<'_>) -> bool {
        ptr::eq(self.primitive, primitive)
            && self.group_count == primitive.group_count(info)
            && P::Planner::shares(&self.group)
    }

    /// Includes the request at `index`, which is behind the others.
    pub(crate) fn add(&mut self, index: usize) {
        self.indices.end = index + 1;
        self.count += 1;
    }

    pub(crate) fn lay_out(&self, scratch: u64, layout: &mut Layout) -> Result<<P::Planner as Planner>::Table<'_>> {
        self.primitive.planner().lay_out(self.group, self, scratch, layout)
    }

    pub(crate) fn pipeline(&self, variant: &Variant) -> Option<Result<vk::Pipeline>> {
        self.primitive.planner().handle().pipeline(variant)
    }
}

impl<R: Requests + ?Sized, P: Listed> Jobs<KindOf<P>> for Members<'_, R, P> {
    fn for_each(&self, visit: &mut dyn FnMut(&JobOf<'_, P>)) {
        let are_all = self.count == self.indices.len();
        for index in self.indices.clone() {
            let request = self.requests.get(index);
            let Some((primitive, info)) = P::of(request.borrow()) else { continue };
            if are_all || primitive.planner().group(primitive.group_count(info), self.alone) == self.group {
                primitive.with_job(info, &mut *visit);
            }
        }
    }

    fn bounding_ranges(&self) -> BoundingRanges<RoleOf<P>> {
        let mut bounds = BoundingRanges::default();
        self.for_each(&mut |job| bounds.grow(&self.primitive.planner().arguments(job)));
        bounds
    }
}

/// Orders groups, so that a scan of the requests can tell groups that were recorded before from those that were not.
/// Groups of one request, which share dispatches with no other, come last, in the order of the requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupOrder {
    pub(crate) only: Option<usize>,
    pub(crate) group: AnyGroup,
}

/// Groups that are laid out together and, as far as a plan has room for them, recorded side by side.
type Company<'a, R> = ArrayVec<AnyMembers<'a, R>, MAX_GROUPS>;

/// Fills `company` with the first groups behind `before`, by [`GroupOrder`]; among themselves in order of first
/// appearance. `visit` sees the requests on the way: all of them, if `before` is none.
fn fill<'a, R: Requests + ?Sized>(
    company: &mut Company<'a, R>,
    requests: &'a R,
    before: Option<&GroupOrder>,
    mut visit: impl FnMut(&Request<'_>) -> Result<()>,
) -> Result<()> {
    company.clear();
    // Behind a group of one request, all others are groups of one later request each.
    let only = before.and_then(|before| before.only);
    for index in only.map_or(0, |index| index + 1)..requests.len() {
        if only.is_some() && company.is_full() {
            break;
        }
        let request = requests.get(index);
        let request = request.borrow();
        visit(request)?;
        if let Some(known) = company.iter_mut().find(|known| known.has_alike(request)) {
            known.add(index);
            continue;
        }
        let members = AnyMembers::of(requests, index, request);
        let order = members.order();
        if before.is_some_and(|before| order <= *before) {
            continue;
        }
        if let Some(known) = company.iter_mut().find(|known| order.only.is_none() && known.order() == order) {
            known.add(index);
            continue;
        }
        if company.is_full() {
            // A group that has to go never comes back: the last one of the company only moves forward.
            let last = (0..company.len()).max_by_key(|index| company[*index].order());
            let Some(last) = last.filter(|last| order < company[*last].order()) else { continue };
            company.remove(last);
        }
        company.push(members);
    }
    Ok(())
}

/// Lays out the groups of a batch one after the other. Calls `visit` with each company and the bytes of scratch so far.
/// Returns the total. `company` must be the first one, and is the last one afterwards.
///
/// Groups share no scratch, and problems are independent, so no barrier is needed between one company and the next.
fn for_each_company<'a, R: Requests + ?Sized>(
    company: &mut Company<'a, R>,
    requests: &'a R,
    scratch: u64,
    mut visit: impl FnMut(&[AnyMembers<'a, R>], &[AnyTable<'_>], u64) -> Result<()>,
) -> Result<u64> {
    let mut layout = Layout::default();
    loop {
        {
            let mut tables = ArrayVec::<_, MAX_GROUPS>::new();
            for members in &*company {
                tables.push(members.lay_out(scratch, &mut layout)?);
            }
            visit(company, &tables, layout.size())?;
        }
        if !company.is_full() {
            return Ok(layout.size());
        }
        let before = company.iter().map(AnyMembers::order).max();
        fill(company, requests, before.as_ref(), |_| Ok(()))?;
    }
}

/// Returns the bytes of scratch that [`cmd_batch`] needs for these requests. They depend on counts and handles, not on
/// addresses.
///
/// # Errors
/// The errors of [`cmd_batch`] that concern counts and handles.
pub fn batch_scratch_size(requests: &[Request<'_>]) -> Result<u64> {
    scratch_size(requests)
}

pub(crate) fn scratch_size(requests: &(impl Requests + ?Sized)) -> Result<u64> {
    check_len(requests.len())?;
    if requests.len() == 0 {
        return Ok(0);
    }
    let device = requests.get(0).borrow().device();
    let mut company = Company::new();
    fill(&mut company, requests, None, |request| request.check_kind(device, requests.len() > 1))?;
    for_each_company(&mut company, requests, 0, |_, _, _| Ok(()))
}

/// Appends a batch of independent problems to `command_buffer`. The number of barriers depends on the longest problem
/// only. Similar problems share dispatches: a small sort is one workgroup of a shared dispatch.
///
/// Problems must be independent: no problem may read or write a range that another problem writes. They may share
/// counts. The call checks this without heap memory, for ranges in any order. One pass over the problems suffices if
/// they have at most 2^21 ranges, or if their arrays are close together. The worst case is one pass for each
/// 1.5 * 2^20 ranges and two more. A batch has at most 2^20 problems.
///
/// The check uses memory of the device, which the first handle with `batches` allocates: 32 MiB of addresses, of which
/// each check uses 16 bytes for a range. One thread uses this memory at a time. A thread that finds it in use does not
/// wait, but checks with less memory: one pass for at most 2288 ranges or arrays that are close together, and in the
/// worst case one for each 1716 ranges and two more.
///
/// In a batch of several problems, the create info of each handle had `batches`.
///
/// Problems of one group share dispatches. A group has one configuration of a handle and one tile shape of the device
/// profile, which has one for each range of sizes. Each segmented sort or split is a group of its own; segmented merges
/// share groups as other merges do. Up to 6 groups, of 64 dispatches in all, are recorded together and share barriers.
/// Further groups follow without a barrier in between. Each group has its own part of scratch.
///
/// Synchronization: the first access may also be `ALL_TRANSFER`, `TRANSFER_WRITE` on scratch. All other accesses are
/// those of the functions that record one request. The problems' own scratch and timestamps are not used. Recording
/// needs no heap memory and at most 64 KiB of stack, as with all functions that record.
///
/// # Errors
/// The error names the argument and the limit that it exceeds. Nothing has been recorded then.
///
/// # Safety
/// As for the functions that record one request, for every request.
pub unsafe fn cmd_batch(command_buffer: vk::CommandBuffer, requests: &[Request<'_>], scratch: Scratch) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { record_batch(command_buffer, requests, scratch) }
}

/// # Safety
/// As [`cmd_batch`].
pub(crate) unsafe fn record_batch<R: Requests + ?Sized>(
    command_buffer: vk::CommandBuffer,
    requests: &R,
    scratch: Scratch,
) -> Result<()> {
    if command_buffer.is_null() {
        return Err(Error::Null { argument: "commandBuffer" });
    }
    check_len(requests.len())?;
    if requests.len() == 0 {
        return Ok(());
    }
    let device = requests.get(0).borrow().device();
    // SAFETY: the caller promises a valid buffer with that usage.
    let address = unsafe { scratch_address(device, scratch) };
    let mut company = Company::new();
    let are_apart = check(&mut company, requests, device, memory::Range::new(address, scratch.size))?;
    let begin = |required| {
        let in_use = check_scratch(scratch, address, required, None)?;
        let mut all = (0..requests.len()).filter(|_| !are_apart);
        all.try_for_each(|index| requests.get(index).borrow().check_apart(in_use))
    };
    let commands = Target { device, command_buffer, scratch };
    // Looks up every pipeline, too: what is found once is found again, so recording does not fail once it has begun.
    let is_only = !company.is_full();
    let required = for_each_company(&mut company, requests, address, |company, tables, bytes| {
        commands.visit(company, tables, false)?;
        if is_only {
            begin(bytes)?;
            commands.visit(company, tables, true)?;
        }
        Ok(())
    })?;
    if !is_only {
        begin(required)?;
        fill(&mut company, requests, None, |_| Ok(()))?;
        for_each_company(&mut company, requests, address, |company, tables, _| commands.visit(company, tables, true))?;
    }
    Ok(())
}

/// Checks the requests: each by itself, and that they are independent. Fills the first company. Returns whether no
/// request names memory of `scratch`.
// A frame of its own: its stack is free again when groups are laid out.
#[inline(never)]
fn check<'a, R: Requests + ?Sized>(
    company: &mut Company<'a, R>,
    requests: &'a R,
    device: &Device,
    scratch: memory::Range,
) -> Result<bool> {
    with_buffer(device.check_memory(), requests.len(), |buffer| {
        let mut independence = Independence::new(buffer);
        let mut are_apart = true;
        fill(company, requests, None, |request| {
            request.check_kind(device, requests.len() > 1)?;
            request.check(&mut |argument| {
                are_apart &= !argument.range.overlaps(scratch);
                independence.add(&argument);
            })
        })?;
        let arguments = |index, visit: &mut dyn FnMut(Argument)| requests.get(index).borrow().for_each_argument(visit);
        independence.finish(requests.len(), arguments)?;
        Ok(are_apart)
    })
}

/// The destination of a batch.
struct Target<'a> {
    device: &'a Device,
    command_buffer: vk::CommandBuffer,
    scratch: Scratch,
}

impl Target<'_> {
    /// Looks up the pipelines of a company. Records the company if `records`.
    // The plan is large: it takes its stack here alone.
    #[inline(never)]
    fn visit<R: Requests + ?Sized>(
        &self,
        company: &[AnyMembers<'_, R>],
        mut tables: &[AnyTable<'_>],
        records: bool,
    ) -> Result<()> {
        let known = |variant: &Variant| company.iter().find_map(|members| members.pipeline(variant));
        while let Some((first, rest)) = tables.split_first() {
            let mut plan = Plan::default();
            first.add_to(&mut plan);
            plan.finish()?;
            let more = rest.iter().take_while(|table| plan.append(*table)).count();
            tables = &rest[more..];
            let mut recorder = Recorder::new(self.device, self.command_buffer, self.scratch, None, &plan, known)?;
            if records {
                record(&plan, &mut recorder);
            }
        }
        Ok(())
    }
}

pub(crate) fn check_len(len: usize) -> Result<()> {
    if len > MAX_REQUESTS {
        let (value, limit) = (len as u64, MAX_REQUESTS as u64);
        return Err(Error::TooLarge { argument: "infoCount", value, limit, why: "the most problems together" });
    }
    Ok(())
}

/// Checks the count and the handle of one request. `several`: others are recorded with it.
pub(crate) fn check_kind<P: Primitive>(
    primitive: &P,
    info: &P::Info<'_>,
    device: &Device,
    several: bool,
) -> Result<()> {
    let planner = primitive.planner();
    primitive.check_count(info)?;
    if several && !planner.allows_batches() {
        let why = "it was created without batches (BATCHES)".to_owned();
        return Err(Error::Malformed { argument: P::NAME, why });
    }
    if planner.handle().device().is_same(device) { Ok(()) } else { Err(Error::ForeignDevice { argument: P::NAME }) }
}

/// Checks everything else about one request that needs no scratch. `visit` gets the memory that the request names.
pub(crate) fn check_one<P: Primitive>(
    primitive: &P,
    info: &P::Info<'_>,
    visit: &mut impl FnMut(Argument),
) -> Result<()> {
    let planner = primitive.planner();
    planner.handle().check_ready(P::NAME)?;
    primitive.check(info)?;
    primitive.with_job(info, |job| {
        let arguments = planner.arguments(job);
        planner.check(job, &arguments)?;
        check_conflicts(planner, job, &arguments)?;
        arguments.iter().for_each(|argument| visit(argument.named()));
        planner.for_each_more(job, &mut |argument| visit(argument.named()));
        Ok(())
    })
}

/// Checks that no argument of one request shares bytes with scratch.
pub(crate) fn check_one_apart<P: Primitive>(primitive: &P, info: &P::Info<'_>, scratch: memory::Range) -> Result<()> {
    let planner = primitive.planner();
    primitive.with_job(info, |job| check_apart(planner, job, &planner.arguments(job), scratch))
}

/// Calls `visit` with each argument of one request.
pub(crate) fn for_each_argument<P: Primitive>(primitive: &P, info: &P::Info<'_>, visit: &mut dyn FnMut(Argument)) {
    let planner = primitive.planner();
    primitive.with_job(info, |job| {
        planner.arguments(job).iter().for_each(|argument| visit(argument.named()));
        planner.for_each_more(job, &mut |argument| visit(argument.named()));
    });
}

/// Declares [`Request`] and what batches keep of each primitive's requests, a line a primitive.
macro_rules! requests {
    ($(
        $feature:literal: $module:ident, $name:ident($handle:ident, $info:ident $(<$borrowed:lifetime>)?), $c:ident,
        $interface:literal, $settings:literal;
    )*) => {
        /// One problem of a batch. Its own scratch and timestamps are not used: the batch has scratch for all.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum Request<'a> {
            $(
                #[doc = concat!("A request to a [`", stringify!($handle), "`](crate::", stringify!($handle), ").")]
                #[cfg(feature = $feature)]
                $name(&'a crate::$handle, crate::$info$(<$borrowed>)?),
            )*
        }

        impl<'a> Request<'a> {
            pub(crate) fn device(&self) -> &'a Device {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$name(handle, _) => handle.planner().handle().device(),)*
                }
            }

            pub(crate) fn check_kind(&self, device: &Device, several: bool) -> Result<()> {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$name(handle, info) => batch::check_kind(*handle, info, device, several),)*
                }
            }

            pub(crate) fn check(&self, visit: &mut impl FnMut(Argument)) -> Result<()> {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$name(handle, info) => batch::check_one(*handle, info, visit),)*
                }
            }

            pub(crate) fn check_apart(&self, scratch: Range) -> Result<()> {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$name(handle, info) => batch::check_one_apart(*handle, info, scratch),)*
                }
            }

            pub(crate) fn for_each_argument(&self, visit: &mut dyn FnMut(Argument)) {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$name(handle, info) => batch::for_each_argument(*handle, info, visit),)*
                }
            }
        }

        $(#[cfg(feature = $feature)]
        impl Listed for crate::$handle {
            fn of<'r, 'a>(request: &'r Request<'a>) -> Option<(&'a Self, &'r Self::Info<'a>)> {
                #[allow(irrefutable_let_patterns, reason = "a build may have one primitive")]
                if let Request::$name(handle, info) = request { Some((*handle, info)) } else { None }
            }
        })*

        /// The key of a group.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum AnyGroup {
            $(#[cfg(feature = $feature)] $name(GroupOf<crate::$handle>),)*
        }

        /// The requests of a group.
        pub(crate) enum AnyMembers<'a, R: ?Sized> {
            $(#[cfg(feature = $feature)] $name(Members<'a, R, crate::$handle>),)*
        }

        impl<'a, R: Requests + ?Sized> AnyMembers<'a, R> {
            pub(crate) fn of(requests: &'a R, index: usize, request: &Request<'a>) -> Self {
                match request {
                    $(#[cfg(feature = $feature)]
                    Request::$name(handle, info) => Self::$name(Members::of(requests, index, handle, info)),)*
                }
            }

            pub(crate) fn order(&self) -> GroupOrder {
                match self {
                    $(#[cfg(feature = $feature)] Self::$name(members) => {
                        let (only, group) = members.order();
                        GroupOrder { only, group: AnyGroup::$name(group) }
                    })*
                }
            }

            pub(crate) fn has_alike(&self, request: &Request<'_>) -> bool {
                match (self, request) {
                    $(#[cfg(feature = $feature)]
                    (Self::$name(members), Request::$name(handle, info)) => members.has_alike(handle, info),)*
                    #[allow(unreachable_patterns, reason = "a build may have one primitive")]
                    _ => false,
                }
            }

            pub(crate) fn add(&mut self, index: usize) {
                match self { $(#[cfg(feature = $feature)] Self::$name(members) => members.add(index),)* }
            }

            pub(crate) fn lay_out(&self, scratch: u64, layout: &mut Layout) -> Result<AnyTable<'_>> {
                match self {
                    $(#[cfg(feature = $feature)]
                    Self::$name(members) => members.lay_out(scratch, layout).map(AnyTable::$name),)*
                }
            }

            pub(crate) fn pipeline(&self, variant: &Variant) -> Option<Result<vk::Pipeline>> {
                match self { $(#[cfg(feature = $feature)] Self::$name(members) => members.pipeline(variant),)* }
            }
        }

        /// A group laid out in scratch.
        // No table lies on the heap.
        #[allow(clippy::large_enum_variant, reason = "plans are built on the stack")]
        pub(crate) enum AnyTable<'a> {
            $(#[cfg(feature = $feature)] $name(<<crate::$handle as Primitive>::Planner as Planner>::Table<'a>),)*
        }

        impl PlanSource for AnyTable<'_> {
            fn add_to<'p>(&'p self, plan: &mut Plan<'p>) {
                match self { $(#[cfg(feature = $feature)] Self::$name(table) => table.add_to(plan),)* }
            }
        }
    };
}

pub(crate) use requests;
