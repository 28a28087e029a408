//! Many problems recorded together: problems of a kind share dispatches, and up to [`MAX_PLANS`] kinds form a group, which shares barriers.

mod independence;

use crate::memory::Arguments;
use crate::plan::Plan;
use crate::record::{MAX_PLANS, Recorder, record};
use crate::scratch::Layout;
use crate::sort::{Class, Format, Job, Passes, SortInfo, SortKind, SortSource, SortTable, Sorter, check_apart, scratch_range};
#[cfg(feature = "split")]
use crate::split::{SplitInfo, Splitter};
use crate::{Device, Error, Result, Scratch, Strategy};
use arrayvec::ArrayVec;
use ash::vk;
use ash::vk::Handle as _;
use independence::check_independent;
use std::ops::Range;

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

    /// What the request's sorter or splitter is called in messages.
    fn maker(&self) -> &'static str {
        match self {
            Self::Sort(..) => "sorter",
            #[cfg(feature = "split")]
            Self::Split(..) => "splitter",
        }
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

/// Orders kinds, so that a scan of the requests tells kinds of earlier groups from those of later ones. Kinds of one request, which shares
/// dispatches with no other, come last, in the order of the requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct KindOrder {
    only: Option<usize>,
    made_as: (Format, Strategy),
    class: Class,
}

/// The problems of a batch that share dispatches.
struct Kind<'a, R: ?Sized> {
    requests: &'a R,
    /// Those of the first of the requests.
    passes: &'a Passes,
    class: Class,
    /// From the first request of the kind to the last. Requests of other kinds may lie between them.
    indices: Range<usize>,
}

impl<'a, R: Requests + ?Sized> Kind<'a, R> {
    /// The kind of one request.
    fn of(requests: &'a R, index: usize) -> Self {
        let request = requests.get(index);
        let (passes, max_count) = (request.passes(), request.max_count());
        let class = Self::sort_kind(requests, passes).class(max_count);
        Self { requests, passes, class, indices: index..index + 1 }
    }

    fn sort_kind(requests: &R, passes: &'a Passes) -> SortKind<'a> {
        let alone = requests.len() == 1;
        if alone { passes.kind_of(requests.get(0).max_count()) } else { passes.kind(false) }
    }

    fn serves(&self, passes: &Passes) -> bool {
        std::ptr::eq(passes, self.passes) || passes.is_like(self.passes)
    }

    /// Whether the requests of both share dispatches.
    fn is_like(&self, other: &Self) -> bool {
        self.class.shares() && self.class == other.class && self.serves(other.passes)
    }

    fn order(&self) -> KindOrder {
        let only = (!self.class.shares()).then_some(self.indices.start);
        KindOrder { only, made_as: self.passes.made_as(), class: self.class }
    }

    fn table(&self, scratch: u64, layout: &mut Layout) -> Result<SortTable<'_>> {
        SortTable::new(Self::sort_kind(self.requests, self.passes), self.class, self, scratch, layout)
    }
}

impl<R: Requests + ?Sized> SortSource for Kind<'_, R> {
    fn for_each(&self, visit: &mut dyn FnMut(&Job)) {
        let requests = self.indices.clone().map(|index| self.requests.get(index));
        requests.filter(|request| self.serves(request.passes())).for_each(|request| visit(&request.job()));
    }
}

/// Kinds that are recorded side by side.
type Group<'a, R> = ArrayVec<Kind<'a, R>, MAX_PLANS>;

/// The first kinds behind `before`, by [`KindOrder`]; within the group in order of first appearance.
fn group<'a, R: Requests + ?Sized>(requests: &'a R, before: Option<&KindOrder>) -> Group<'a, R> {
    let mut group = Group::new();
    // Behind a kind of one request, all others are kinds of one later request each.
    let only = before.and_then(|before| before.only);
    for index in only.map_or(0, |index| index + 1)..requests.len() {
        if only.is_some() && group.is_full() {
            break;
        }
        let kind = Kind::of(requests, index);
        if before.is_some_and(|before| kind.order() <= *before) {
            continue;
        }
        if let Some(known) = group.iter_mut().find(|known| known.is_like(&kind)) {
            known.indices.end = index + 1;
            continue;
        }
        if group.is_full() {
            // A kind that has to go never comes back: the last one of the group only moves forward.
            let last =
                (0..group.len()).max_by_key(|place| group[*place].order()).filter(|last| kind.order() < group[*last].order());
            let Some(last) = last else { continue };
            group.remove(last);
        }
        group.push(kind);
    }
    group
}

/// Lays out the groups of a batch one behind the other and hands each to `visit`. Returns the bytes of scratch that they take.
///
/// Groups share no scratch, and problems are independent, so no barrier is needed between groups.
fn for_each_group<R: Requests + ?Sized>(
    requests: &R,
    scratch: u64,
    mut visit: impl FnMut(&[Kind<'_, R>], &[SortTable<'_>]) -> Result<()>,
) -> Result<u64> {
    let mut layout = Layout::default();
    let mut before = None;
    loop {
        let group = group(requests, before.as_ref());
        let tables = group.iter().map(|kind| kind.table(scratch, &mut layout)).collect::<Result<ArrayVec<_, MAX_PLANS>>>()?;
        visit(&group, &tables)?;
        before = group.iter().map(Kind::order).max();
        if !group.is_full() {
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
    for_each_group(requests, 0, |_, _| Ok(()))
}

/// Appends many problems to `command_buffer`: barriers grow with the passes of the longest, not with the number of problems,
/// and problems that are alike share their dispatches. Small sorts take a workgroup each, small splits one dispatch and another beside it.
///
/// Problems are independent: what one writes, no other may read or write. The check takes no heap memory, and one pass over the problems
/// in any order, as long as they name no more than 24,576 ranges or their arrays lie close together; at worst a pass for each 12,288 ranges.
/// At most 2^20 problems.
///
/// Problems of one *kind* share dispatches. A kind is a sorter's keys, values and strategy, of a splitter its buckets, function, output
/// and method as well, and a tile shape of the device's profile (one for each range of sizes). Every sort or split of segments is a kind of
/// its own. Up to 16 kinds form a *group*, which shares its barriers. Groups follow one another without a barrier between them; each has
/// a part of scratch of its own.
///
/// The first access may also be `ALL_TRANSFER`, `TRANSFER_WRITE` on scratch. Everything else is as [`Sorter::cmd_sort`] says. Recording
/// takes up to 1 MiB of stack.
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
    check_independent(requests.len(), |index| requests.get(index).arguments())?;
    let commands = Target { device, command_buffer, scratch };
    // Looks up every pipeline, too: what is found once is found again, so recording does not fail after the first group.
    let required = for_each_group(requests, 0, |group, tables| commands.visit(group, tables, false))?;
    // SAFETY: the caller promises a valid buffer with that usage.
    let in_use = unsafe { scratch_range(device, scratch, required, None) }?;
    requests.iter().try_for_each(|request| check_apart(&request.arguments(), in_use))?;
    for_each_group(requests, in_use.address, |group, tables| commands.visit(group, tables, true))?;
    Ok(())
}

/// Where a batch is recorded.
struct Target<'a> {
    device: &'a Device,
    command_buffer: vk::CommandBuffer,
    scratch: Scratch,
}

impl Target<'_> {
    /// Looks up the pipelines of a group. Records the group if `records`.
    // Plans are large: they take their stack here alone.
    #[inline(never)]
    fn visit<R: Requests + ?Sized>(&self, group: &[Kind<'_, R>], tables: &[SortTable<'_>], records: bool) -> Result<()> {
        let plans: ArrayVec<Plan<'_>, MAX_PLANS> = tables.iter().map(SortTable::plan).collect();
        let known = |variant| group.iter().find_map(|kind| kind.passes.pipeline(variant));
        let pipelines = |variant| known(variant).map_or_else(|| self.device.pipeline(variant), Ok);
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
    requests.iter().try_for_each(|request| request.passes().check_count(request.max_count()))?;
    let Some(first) = requests.iter().next() else { return Ok(()) };
    match requests.iter().find(|request| !request.device().is_same(first.device())) {
        Some(request) => Err(Error::ForeignDevice { argument: request.maker() }),
        None => Ok(()),
    }
}
