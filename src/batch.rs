//! Many problems recorded together: one barrier a level for all of them, and one dispatch for those that are alike.

use crate::memory::{Argument, Arguments, MAX_ARGUMENTS, Range};
use crate::plan::Plan;
use crate::record::{MAX_PLANS, Recorder, record};
use crate::scratch::Layout;
use crate::sort::{Class, Job, Passes, SortInfo, SortKind, SortSource, SortTable, Sorter, check_apart, scratch_range};
#[cfg(feature = "split")]
use crate::split::{SplitInfo, Splitter};
use crate::{Device, Error, Result, Scratch};
use arrayvec::ArrayVec;
use ash::vk;
use ash::vk::Handle as _;

/// Most problems of one batch.
const MAX_REQUESTS: usize = 1 << 20;

/// One problem of a batch. Its own scratch and timestamps are not used: the batch has scratch for all.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Request<'a> {
    /// A sort.
    Sort(&'a Sorter, SortInfo),
    /// A split.
    #[cfg(feature = "split")]
    Split(&'a Splitter, SplitInfo),
}

impl<'a> Request<'a> {
    fn passes(&self) -> &'a Passes {
        match self {
            Self::Sort(sorter, _) => &sorter.passes,
            #[cfg(feature = "split")]
            Self::Split(splitter, _) => &splitter.passes,
        }
    }

    fn job(&self) -> Job {
        match self {
            Self::Sort(_, info) => (*info).into(),
            #[cfg(feature = "split")]
            Self::Split(splitter, info) => splitter.job(info),
        }
    }

    /// The most items.
    fn max_count(&self) -> u32 {
        match self {
            Self::Sort(_, info) => info.count.max,
            #[cfg(feature = "split")]
            Self::Split(_, info) => info.count.max,
        }
    }

    fn device(&self) -> &'a Device {
        self.passes().device()
    }

    fn check(&self) -> Result<()> {
        match self {
            Self::Sort(..) => self.passes().check(&self.job()),
            #[cfg(feature = "split")]
            Self::Split(splitter, info) => splitter.check(info),
        }
    }

    fn arguments(&self) -> Arguments {
        self.job().arguments(&self.passes().format)
    }
}

/// Where the problems of a batch come from: a slice, or what C gives, converted one at a time.
pub(crate) trait Requests {
    fn len(&self) -> usize;

    /// The same each time it is asked for.
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

/// The problems of a batch that the same kernels serve.
struct Alike<'a, R: ?Sized> {
    requests: &'a R,
    passes: &'a Passes,
    /// The only one, where it shares its dispatches with none.
    only: Option<usize>,
}

impl<'a, R: Requests + ?Sized> Alike<'a, R> {
    fn kind(&self) -> SortKind<'a> {
        let alone = self.requests.len() == 1;
        if alone { self.passes.kind_of(self.requests.get(0).max_count()) } else { self.passes.kind(false) }
    }

    fn serves(&self, passes: &Passes) -> bool {
        std::ptr::eq(passes, self.passes) || passes.is_like(self.passes)
    }
}

impl<R: Requests + ?Sized> SortSource for Alike<'_, R> {
    fn for_each(&self, visit: &mut dyn FnMut(&Job)) {
        if let Some(index) = self.only {
            return visit(&self.requests.get(index).job());
        }
        for request in self.requests.iter().filter(|request| self.serves(request.passes())) {
            visit(&request.job());
        }
    }
}

/// The kinds of problems in a batch, in order of first appearance.
fn kinds<R: Requests + ?Sized>(requests: &R) -> Result<ArrayVec<(Alike<'_, R>, Class), MAX_PLANS>> {
    let mut kinds = ArrayVec::<(Alike<'_, R>, Class), MAX_PLANS>::new();
    for (index, request) in requests.iter().enumerate() {
        let passes = request.passes();
        let mut source = Alike { requests, passes, only: None };
        let class = source.kind().class(request.max_count());
        source.only = (!class.shares()).then_some(index);
        let known = |(source, known): &(Alike<'_, R>, Class)| class.shares() && *known == class && source.serves(passes);
        if !kinds.iter().any(known) && kinds.try_push((source, class)).is_err() {
            return Err(Error::TooLarge {
                argument: "batch",
                value: MAX_PLANS as u64 + 1,
                limit: MAX_PLANS as u64,
                why: "the most kinds and sizes of problems together",
            });
        }
    }
    Ok(kinds)
}

fn tables<'a, R: Requests + ?Sized>(
    kinds: &'a [(Alike<'a, R>, Class)],
    scratch: u64,
    layout: &mut Layout,
) -> Result<ArrayVec<SortTable<'a>, MAX_PLANS>> {
    kinds.iter().map(|(source, class)| SortTable::new(source.kind(), *class, source, scratch, layout)).collect()
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
    let mut layout = Layout::default();
    tables(&kinds(requests)?, 0, &mut layout)?;
    Ok(layout.size())
}

/// Appends many problems to `command_buffer`: barriers grow with the passes of the longest, not with the number of problems,
/// and problems that are alike share their dispatches. Small sorts take a workgroup each, small splits one dispatch and another beside it.
///
/// Problems are independent: what one writes, no other may read or write. That is checked in linear time where problems come in
/// the order of their addresses, be it array by array in a few large buffers or problem by problem; in any other order each
/// pair is compared. At most 2^20 problems, of at most 16 kinds: a kind is a sorter's keys, values and strategy, of a splitter its buckets, function, output and method as well, and a tile shape
/// of the device's profile (one for each range of sizes); every sort or split of segments is a kind of its own. The first access may also be
/// `ALL_TRANSFER`, `TRANSFER_WRITE` on scratch. Everything else is as [`Sorter::cmd_sort`] says.
///
/// # Errors
/// Names the argument and the limit it breaks; nothing has been recorded then.
///
/// # Safety
/// As for [`Sorter::cmd_sort`], for every request.
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
    requests.iter().try_for_each(|request| request.check())?;
    check_independent(requests)?;
    let required = scratch_size(requests)?;
    // SAFETY: the caller promises a valid buffer with that usage.
    let in_use = unsafe { scratch_range(device, scratch, required, None) }?;
    requests.iter().try_for_each(|request| check_apart(&request.arguments(), in_use))?;

    let kinds = kinds(requests)?;
    let tables = tables(&kinds, in_use.address, &mut Layout::default())?;
    let plans: ArrayVec<Plan<'_>, MAX_PLANS> = tables.iter().map(SortTable::plan).collect();
    let known = |variant| kinds.iter().find_map(|(source, _)| source.passes.pipeline(variant));
    let pipelines = |variant| known(variant).map_or_else(|| device.pipeline(variant), Ok);
    let mut recorder = Recorder::new(device, command_buffer, scratch, None, &plans, pipelines)?;
    record(&plans, &mut recorder);
    Ok(())
}

pub(crate) fn check_len(len: usize) -> Result<()> {
    if len > MAX_REQUESTS {
        let (value, limit) = (len as u64, MAX_REQUESTS as u64);
        return Err(Error::TooLarge { argument: "batch", value, limit, why: "the most problems together" });
    }
    Ok(())
}

fn check_requests(requests: &(impl Requests + ?Sized)) -> Result<()> {
    check_len(requests.len())?;
    requests.iter().try_for_each(|request| request.passes().check_count(request.max_count()))?;
    let mut devices = requests.iter().map(|request| request.device());
    if let Some(first) = devices.next()
        && devices.any(|device| !device.is_same(first))
    {
        return Err(Error::ForeignDevice { argument: "batch" });
    }
    Ok(())
}

/// That no problem writes what another touches. Linear where problems come in the order of their addresses, array by array or
/// problem by problem; otherwise every pair is compared.
fn check_independent(requests: &(impl Requests + ?Sized)) -> Result<()> {
    if problems_rise(requests) || arrays_rise(requests) {
        return Ok(());
    }
    for (index, request) in requests.iter().enumerate() {
        for mine in request.arguments() {
            for other in requests.iter().take(index) {
                if let Some(theirs) = other.arguments().iter().find(|theirs| mine.conflicts(theirs)) {
                    return Err(Error::Overlap { first: mine.name, second: theirs.name });
                }
            }
        }
    }
    Ok(())
}

/// Whether all that a problem names lies behind all that the problem before it does, as in one buffer for each object.
fn problems_rise(requests: &(impl Requests + ?Sized)) -> bool {
    let mut end = 0;
    requests.iter().all(|request| {
        let arguments = request.arguments();
        let ranges = arguments.iter().map(|argument| argument.range).filter(|range| range.size != 0);
        let rises = ranges.clone().all(|range| range.address >= end);
        end = ranges.map(Range::end).fold(end, u64::max);
        rises
    })
}

/// Whether the arrays of each name rise without overlap and keep apart from one another as wholes, as in a few large buffers. What
/// is only read may be shared.
fn arrays_rise(requests: &(impl Requests + ?Sized)) -> bool {
    let mut hulls: ArrayVec<Argument, MAX_HULLS> = ArrayVec::new();
    for argument in requests.iter().flat_map(|request| request.arguments()) {
        if argument.range.size == 0 {
            continue;
        }
        let known = hulls.iter_mut().find(|hull| hull.name == argument.name && hull.written == argument.written);
        let Some(hull) = known else {
            hulls.push(argument);
            continue;
        };
        if hull.written && argument.range.address < hull.range.end() {
            return false;
        }
        hull.range = hull.range.around(argument.range);
    }
    hulls.iter().enumerate().all(|(index, hull)| hulls[..index].iter().all(|other| !hull.conflicts(other)))
}

/// Names of arguments, each written or only read.
const MAX_HULLS: usize = 2 * MAX_ARGUMENTS;
