//! Many problems recorded together: problems of equal groups share dispatches, and up to [`MAX_PLANS`] groups share barriers.

mod independence;

use super::handle::{check_apart, check_scratch, scratch_address};
use super::memory::{BoundingRanges, NamedArguments};
use super::pipelines::Variant;
use super::plan::Plan;
use super::primitive::{GroupOf, JobOf, Jobs, Planner, Primitive, RequestInfo as _, RoleOf};
use super::record::{MAX_PLANS, Recorder, record};
use super::scratch::Layout;
use crate::requests::{AnyGroup, AnyMembers, AnyTable, Request};
use crate::{Device, Error, Result, Scratch};
use arrayvec::ArrayVec;
use ash::vk;
use ash::vk::Handle as _;
use independence::check_independent;
use std::ops::Range;

/// Most problems of one batch.
const MAX_REQUESTS: usize = 1 << 20;

/// The requests of a batch: a slice, or what C gives, converted one at a time.
pub(crate) trait Requests {
    fn len(&self) -> usize;

    /// The same each time for the same index.
    fn get(&self, index: usize) -> Request<'_>;

    fn iter(&self) -> impl Iterator<Item = Request<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl Requests for [Request<'_>] {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, index: usize) -> Request<'_> {
        self[index]
    }
}

/// A primitive that has a variant of [`Request`].
pub(crate) trait Listed: Primitive {
    /// The request's handle and parameters, if it is one of this primitive.
    fn of<'a>(request: &Request<'a>) -> Option<(&'a Self, Self::Info)>;
}

/// Requests of one group, in the order of the batch.
pub(crate) struct Members<'a, R: ?Sized, P: Primitive> {
    requests: &'a R,
    /// The handle of the first request. The others have handles that were created alike.
    primitive: &'a P,
    group: GroupOf<P>,
    /// From the first request of the group to the last. Requests of other groups may lie between them.
    indices: Range<usize>,
    alone: bool,
}

impl<'a, R: Requests + ?Sized, P: Listed> Members<'a, R, P> {
    /// The group of the request at `index`.
    pub(crate) fn of(requests: &'a R, index: usize, primitive: &'a P, info: &P::Info) -> Self {
        let alone = requests.len() == 1;
        let group = primitive.planner().group(info.max_count(), alone);
        Self { requests, primitive, group, indices: index..index + 1, alone }
    }

    /// Where the group is in the order of groups, and the index of its request if it shares dispatches with no other.
    pub(crate) fn order(&self) -> (Option<usize>, GroupOf<P>) {
        ((!P::Planner::shares(&self.group)).then_some(self.indices.start), self.group)
    }

    pub(crate) fn extend_to(&mut self, index: usize) {
        self.indices.end = index + 1;
    }

    pub(crate) fn lay_out(&self, scratch: u64, layout: &mut Layout) -> Result<<P::Planner as Planner>::Table<'_>> {
        self.primitive.planner().lay_out(self.group, self, scratch, layout)
    }

    pub(crate) fn pipeline(&self, variant: Variant) -> Option<vk::Pipeline> {
        self.primitive.planner().handle().pipeline(variant)
    }
}

impl<R: Requests + ?Sized, P: Listed> Jobs<JobOf<P>, RoleOf<P>> for Members<'_, R, P> {
    fn for_each(&self, visit: &mut dyn FnMut(&JobOf<P>)) {
        for request in self.indices.clone().map(|index| self.requests.get(index)) {
            let Some((primitive, info)) = P::of(&request) else { continue };
            if primitive.planner().group(info.max_count(), self.alone) == self.group {
                visit(&primitive.job(&info));
            }
        }
    }

    fn bounding_ranges(&self) -> BoundingRanges<RoleOf<P>> {
        let mut bounds = BoundingRanges::default();
        self.for_each(&mut |job| bounds.grow(&self.primitive.planner().arguments(job)));
        bounds
    }
}

/// Orders groups, so that a scan of the requests can tell groups that were recorded before from those that were not. Groups of one request,
/// which share dispatches with no other, come last, in the order of the requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupOrder {
    pub(crate) only: Option<usize>,
    pub(crate) group: AnyGroup,
}

/// Groups that are recorded side by side.
type Company<'a, R> = ArrayVec<AnyMembers<'a, R>, MAX_PLANS>;

/// The first groups behind `before`, by [`GroupOrder`]; among themselves in order of first appearance.
fn company<'a, R: Requests + ?Sized>(requests: &'a R, before: Option<&GroupOrder>) -> Company<'a, R> {
    let mut company = Company::new();
    // Behind a group of one request, all others are groups of one later request each.
    let only = before.and_then(|before| before.only);
    for index in only.map_or(0, |index| index + 1)..requests.len() {
        if only.is_some() && company.is_full() {
            break;
        }
        let members = AnyMembers::of(requests, index);
        let order = members.order();
        if before.is_some_and(|before| order <= *before) {
            continue;
        }
        if let Some(known) = company.iter_mut().find(|known| order.only.is_none() && known.order() == order) {
            known.extend_to(index);
            continue;
        }
        if company.is_full() {
            // A group that has to go never comes back: the last one of the company only moves forward.
            let last = (0..company.len()).max_by_key(|place| company[*place].order());
            let Some(last) = last.filter(|last| order < company[*last].order()) else { continue };
            company.remove(last);
        }
        company.push(members);
    }
    company
}

/// Lays out all groups of a batch one behind the other and hands those that are recorded side by side to `visit`. Returns the bytes of
/// scratch that they take.
///
/// Groups share no scratch, and problems are independent, so no barrier is needed between one company and the next.
fn for_each_company<R: Requests + ?Sized>(
    requests: &R,
    scratch: u64,
    mut visit: impl FnMut(&[AnyMembers<'_, R>], &[AnyTable<'_>]) -> Result<()>,
) -> Result<u64> {
    let mut layout = Layout::default();
    let mut before = None;
    loop {
        let company = company(requests, before.as_ref());
        let tables = company.iter().map(|members| members.lay_out(scratch, &mut layout));
        let tables = tables.collect::<Result<ArrayVec<_, MAX_PLANS>>>()?;
        visit(&company, &tables)?;
        before = company.iter().map(AnyMembers::order).max();
        if !company.is_full() {
            return Ok(layout.size());
        }
    }
}

/// Bytes of scratch that [`cmd_batch`] needs for these requests: their counts and kinds matter, their addresses do not.
///
/// # Errors
/// What [`cmd_batch`] would refuse about counts and kinds.
pub fn batch_scratch_size(requests: &[Request<'_>]) -> Result<u64> {
    scratch_size(requests)
}

pub(crate) fn scratch_size(requests: &(impl Requests + ?Sized)) -> Result<u64> {
    check_requests(requests)?;
    for_each_company(requests, 0, |_, _| Ok(()))
}

/// Appends many problems to `command_buffer`: barriers grow with the passes of the longest, not with the number of problems,
/// and problems that are alike share their dispatches. Small sorts take a workgroup each, small splits one dispatch and another beside it.
///
/// Problems are independent: what one writes, no other may read or write. The check takes no heap memory, and one pass over the problems
/// in any order, as long as they name no more than 24,576 ranges or their arrays lie close together; at worst a pass for each 12,288 ranges.
/// At most 2^20 problems.
///
/// Handles of batches are created with `batches` ([`crate::SorterInfo::batches`]).
///
/// Problems of one *kind* share dispatches. A kind is a sorter's keys, values and strategy, of a splitter its buckets, function, output
/// and method as well, and a tile shape of the device's profile (one for each range of sizes). Every sort or split of segments is a kind of
/// its own. Up to 16 kinds form a *group*, which shares its barriers. Groups follow one another without a barrier between them; each has
/// a part of scratch of its own.
///
/// The first access may also be `ALL_TRANSFER`, `TRANSFER_WRITE` on scratch. Everything else is as [`crate::Sorter::cmd_sort`] says. Recording
/// takes up to 1 MiB of stack.
///
/// # Errors
/// Names the argument and the limit it breaks; nothing has been recorded then.
///
/// # Safety
/// As for [`crate::Sorter::cmd_sort`], for every request.
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
    let Some(first) = requests.iter().next() else { return Ok(()) };
    let device = first.device();
    check_requests(requests)?;
    requests.iter().try_for_each(|request| {
        request.check_ready()?;
        request.check()
    })?;
    check_independent(requests.len(), |index| requests.get(index).arguments())?;
    let commands = Target { device, command_buffer, scratch };
    // Looks up every pipeline, too: what is found once is found again, so recording does not fail after the first company.
    let required = for_each_company(requests, 0, |company, tables| commands.visit(company, tables, false))?;
    // SAFETY: the caller promises a valid buffer with that usage.
    let address = unsafe { scratch_address(device, scratch) };
    let in_use = check_scratch(scratch, address, required, None)?;
    requests.iter().try_for_each(|request| check_apart(&request.arguments(), in_use))?;
    for_each_company(requests, in_use.address, |company, tables| commands.visit(company, tables, true))?;
    Ok(())
}

/// The destination of a batch.
struct Target<'a> {
    device: &'a Device,
    command_buffer: vk::CommandBuffer,
    scratch: Scratch,
}

impl Target<'_> {
    /// Looks up the pipelines of a company. Records the company if `records`.
    // Plans are large: they take their stack here alone.
    #[inline(never)]
    fn visit<R: Requests + ?Sized>(&self, company: &[AnyMembers<'_, R>], tables: &[AnyTable<'_>], records: bool) -> Result<()> {
        let plans: ArrayVec<Plan<'_>, MAX_PLANS> = tables.iter().map(AnyTable::plan).collect();
        let known = |variant| company.iter().find_map(|members| members.pipeline(variant));
        let pipelines = |variant| known(variant).map_or_else(|| self.device.missing_pipeline(variant), Ok);
        let mut recorder = Recorder::new(self.device, self.command_buffer, self.scratch, None, &plans, pipelines)?;
        if records {
            record(&plans, &mut recorder);
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

fn check_requests(requests: &(impl Requests + ?Sized)) -> Result<()> {
    check_len(requests.len())?;
    let several = requests.len() > 1;
    requests.iter().try_for_each(|request| {
        request.check_count()?;
        if several { request.check_batches() } else { Ok(()) }
    })?;
    let Some(first) = requests.iter().next() else { return Ok(()) };
    match requests.iter().find(|request| !request.device().is_same(first.device())) {
        Some(request) => Err(Error::ForeignDevice { argument: request.handle_name() }),
        None => Ok(()),
    }
}

/// Everything about one request that needs no scratch.
pub(crate) fn check_one<P: Primitive>(primitive: &P, info: &P::Info) -> Result<()> {
    let planner = primitive.planner();
    primitive.check(info)?;
    planner.check_count(info.max_count())?;
    let job = primitive.job(info);
    let arguments = planner.arguments(&job);
    planner.check(&job, &arguments)?;
    super::handle::check_conflicts(&arguments)
}

/// The arguments of one request.
pub(crate) fn arguments_of<P: Primitive>(primitive: &P, info: &P::Info) -> NamedArguments {
    primitive.planner().arguments(&primitive.job(info)).into_iter().map(|argument| argument.named()).collect()
}

/// Declares [`Request`] and what batches keep of each primitive's requests, a line a primitive.
macro_rules! requests {
    ($($(#[doc = $doc:literal])* #[cfg($($cfg:tt)*)] $name:ident($primitive:ty, $info:ty),)*) => {
        /// One problem of a batch. Its own scratch and timestamps are not used: the batch has scratch for all.
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum Request<'a> {
            $($(#[doc = $doc])* #[cfg($($cfg)*)] $name(&'a $primitive, $info),)*
        }

        impl<'a> Request<'a> {
            pub(crate) fn device(&self) -> &'a Device {
                match self { $(#[cfg($($cfg)*)] Self::$name(handle, _) => handle.planner().handle().device(),)* }
            }

            /// The handle in messages.
            pub(crate) fn handle_name(&self) -> &'static str {
                match self { $(#[cfg($($cfg)*)] Self::$name(..) => <$primitive as Primitive>::NAME,)* }
            }

            pub(crate) fn check_count(&self) -> Result<()> {
                match self { $(#[cfg($($cfg)*)] Self::$name(handle, info) => handle.planner().check_count(info.max_count()),)* }
            }

            /// Checks that the handle was created for batches.
            pub(crate) fn check_batches(&self) -> Result<()> {
                let allows = match self { $(#[cfg($($cfg)*)] Self::$name(handle, _) => handle.planner().allows_batches(),)* };
                let why = || "it was created without batches (BATCHES)".to_owned();
                if allows { Ok(()) } else { Err(Error::Malformed { argument: self.handle_name(), why: why() }) }
            }

            pub(crate) fn check_ready(&self) -> Result<()> {
                match self { $(#[cfg($($cfg)*)] Self::$name(handle, _) => handle.planner().handle().check_ready(self.handle_name()),)* }
            }

            pub(crate) fn check(&self) -> Result<()> {
                match self { $(#[cfg($($cfg)*)] Self::$name(handle, info) => batch::check_one(*handle, info),)* }
            }

            pub(crate) fn arguments(&self) -> NamedArguments {
                match self { $(#[cfg($($cfg)*)] Self::$name(handle, info) => batch::arguments_of(*handle, info),)* }
            }
        }

        $(#[cfg($($cfg)*)]
        impl Listed for $primitive {
            fn of<'a>(request: &Request<'a>) -> Option<(&'a Self, Self::Info)> {
                #[allow(irrefutable_let_patterns, reason = "a build may have one primitive")]
                if let Request::$name(handle, info) = request { Some((*handle, *info)) } else { None }
            }
        })*

        /// The key of a group.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum AnyGroup {
            $(#[cfg($($cfg)*)] $name(GroupOf<$primitive>),)*
        }

        /// The requests of a group.
        pub(crate) enum AnyMembers<'a, R: ?Sized> {
            $(#[cfg($($cfg)*)] $name(Members<'a, R, $primitive>),)*
        }

        impl<'a, R: Requests + ?Sized> AnyMembers<'a, R> {
            pub(crate) fn of(requests: &'a R, index: usize) -> Self {
                match requests.get(index) {
                    $(#[cfg($($cfg)*)] Request::$name(handle, info) => Self::$name(Members::of(requests, index, handle, &info)),)*
                }
            }

            pub(crate) fn order(&self) -> GroupOrder {
                match self {
                    $(#[cfg($($cfg)*)] Self::$name(members) => {
                        let (only, group) = members.order();
                        GroupOrder { only, group: AnyGroup::$name(group) }
                    })*
                }
            }

            pub(crate) fn extend_to(&mut self, index: usize) {
                match self { $(#[cfg($($cfg)*)] Self::$name(members) => members.extend_to(index),)* }
            }

            pub(crate) fn lay_out(&self, scratch: u64, layout: &mut Layout) -> Result<AnyTable<'_>> {
                match self { $(#[cfg($($cfg)*)] Self::$name(members) => members.lay_out(scratch, layout).map(AnyTable::$name),)* }
            }

            pub(crate) fn pipeline(&self, variant: Variant) -> Option<vk::Pipeline> {
                match self { $(#[cfg($($cfg)*)] Self::$name(members) => members.pipeline(variant),)* }
            }
        }

        /// A group laid out in scratch.
        pub(crate) enum AnyTable<'a> {
            $(#[cfg($($cfg)*)] $name(<<$primitive as Primitive>::Planner as Planner>::Table<'a>),)*
        }

        impl AnyTable<'_> {
            pub(crate) fn plan(&self) -> Plan<'_> {
                match self { $(#[cfg($($cfg)*)] Self::$name(table) => table.plan(),)* }
            }
        }
    };
}

pub(crate) use requests;
