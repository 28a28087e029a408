//! A case with its memory: what is restored before each run, what is timed, what comes out.

use crate::cases::{Approach, Case, CountAt, Items, Work, area, range_width};
use crate::inputs::{Content, Field, Source, Sources};
use crate::kernels::{self, Args, Kernel};
use crate::primitives::Primitive;
use crate::verify::{Arrangement, Column, Columns, Output, Told, bucket_counts};
use ash::vk;
use std::ops::Range;
use std::sync::Arc;
use trommel::host::{Buffer, Context};
use trommel::{
    BucketFunction, Count, Error, Layout, Placement, Request, Segments, SortInfo, Sorter, SplitInfo, SplitOutput, Splitter,
    SplitterInfo, Timestamps, ValueType, batch_scratch_size, cmd_batch,
};

/// A case, ready to run any number of times.
pub(crate) struct Job {
    case: Case,
    context: Context,
    /// In the order of use.
    primitives: Vec<Primitive>,
    keys: Array,
    values: Option<Array>,
    /// The count, where it lies on the device.
    count: Option<Buffer>,
    /// Where segments begin and the last ends.
    segments: Option<Buffer>,
    /// What a split says of its buckets: where they begin, and the last ends, or how many items each has.
    told: Option<Buffer>,
    /// Where ranges of equal width begin, for splits that are told so.
    splitters: Option<Buffer>,
    /// Where buckets are to begin, for splits that are told so.
    starts: Option<Buffer>,
    /// What an approach keeps from one step to the next, by the numbers below.
    between: Vec<Buffer>,
    scratch: Buffer,
}

/// In a reduced-bit sort: ids of buckets; and pairs packed, as they come and as they are sorted.
const IDS: usize = 0;
const PACKED: usize = 1;
const SORTED: usize = 2;
/// In randomized insertion: the areas of buckets; and their values.
const AREAS: usize = 0;
const AREA_VALUES: usize = 1;

/// Bytes of each array that an approach keeps between its steps.
fn between(case: &Case) -> trommel::Result<Vec<u64>> {
    let Work::Split { info, approach, .. } = case.work else { return Ok(Vec::new()) };
    let (key, value) = (u64::from(info.key.size()), u64::from(info.value.size()));
    let items = |bytes: u64| bytes * u64::from(case.most());
    let (first, others) = match approach {
        Approach::Split | Approach::Segments(_) | Approach::Binary => return Ok(Vec::new()),
        Approach::ReducedBitSort => (items(4), [items(key + value); 2].to_vec()),
        Approach::Insertion => (items(key), vec![items(value)]),
    };
    let sizes: Vec<_> = std::iter::once(first).chain(others.into_iter().filter(|_| value != 0)).collect();
    // Kernels of the bench's own know words by 32 bits.
    match sizes.iter().map(|size| size / 4).find(|words| *words > kernels::MOST_WORDS) {
        Some(value) => {
            Err(Error::TooLarge { argument: "n", value, limit: kernels::MOST_WORDS, why: "the words that kernels reach" })
        }
        None => Ok(sizes),
    }
}

/// A primitive with its arguments.
enum Call<'a> {
    Sort(&'a Sorter, SortInfo),
    Split(&'a Splitter, SplitInfo),
    Kernel(&'a Kernel, Args),
}

impl<'a> Call<'a> {
    /// # Safety
    /// The command buffer is recording, and the memory of the arguments lasts until it has executed.
    unsafe fn record(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe {
            match self {
                Self::Sort(sorter, info) => sorter.cmd_sort(commands, &SortInfo { timestamps, ..*info }),
                Self::Split(splitter, info) => splitter.cmd_split(commands, &SplitInfo { timestamps, ..*info }),
                Self::Kernel(kernel, args) => {
                    kernel.record(commands, args, timestamps);
                    Ok(())
                }
            }
        }
    }

    fn describe(&self) -> trommel::Result<String> {
        match self {
            Self::Sort(sorter, info) => sorter.describe(info),
            Self::Split(splitter, info) => splitter.describe(info),
            Self::Kernel(kernel, args) => Ok(kernel.describe(args)),
        }
    }
}

/// One of the arrays of a case, before it has memory.
struct ArrayInfo {
    /// What its items are at first; none where they are only written.
    fields: Vec<Field>,
    /// Bytes of an item.
    step: u32,
    /// Which of the two that may be named it has: where the input lies, and the output's or alternate one.
    sides: [bool; 2],
    /// Items that there is room for in each, where there is one: as many as primitives are told of.
    room: u32,
}

impl ArrayInfo {
    fn keys(case: &Case) -> Self {
        let items = case.items();
        let mut fields = vec![Field { content: Content::Keys(case.work.keys()), size: items.key.size() }];
        if items.layout == Layout::Interleaved {
            fields.push(Field { content: Content::Values, size: items.value.size() });
        }
        let step = fields.iter().map(|field| field.size).sum();
        let second = match items.placement {
            Placement::InPlace => false,
            Placement::Preserve => !items.drop_keys,
            Placement::DoubleBuffer => true,
        };
        Self { fields, step, sides: [true, second], room: case.most() }
    }

    fn values(case: &Case) -> Option<Self> {
        let items = case.items();
        if items.value == ValueType::None || items.layout == Layout::Interleaved {
            return None;
        }
        let step = items.value.size();
        let read = items.value != ValueType::Index;
        let fields = if read { vec![Field { content: Content::Values, size: step }] } else { Vec::new() };
        let sides = [read || items.placement != Placement::Preserve, items.placement != Placement::InPlace];
        Some(Self { fields, step, sides, room: case.most() })
    }

    /// Bytes of `n` items, in whole words.
    fn size(&self, n: u32) -> u64 {
        (u64::from(self.step) * u64::from(n)).next_multiple_of(4)
    }
}

/// An array with its memory.
struct Array {
    step: u32,
    /// Bytes of the items that there are.
    size: u64,
    source: Option<Arc<Source>>,
    sides: [Option<Buffer>; 2],
}

impl Array {
    fn new(context: &Context, sources: &mut Sources, info: &ArrayInfo, n: u32) -> trommel::Result<Self> {
        let (size, room) = (info.size(n), info.size(info.room));
        let side = |wanted: bool| wanted.then(|| spoiled(context, room)).transpose();
        let has_source = !info.fields.is_empty();
        Ok(Self {
            step: info.step,
            size,
            source: has_source.then(|| sources.get(context, &info.fields, n)).transpose()?,
            sides: [side(info.sides[0])?, side(info.sides[1])?],
        })
    }

    /// All that there is room for.
    fn whole(&self, side: usize) -> trommel::Range {
        self.sides[side].as_ref().map(Buffer::range).unwrap_or_default()
    }

    /// The part that one problem has.
    fn range(&self, side: usize, problem: &Range<u32>) -> trommel::Range {
        let bytes = |items: u32| u64::from(items) * u64::from(self.step);
        let part =
            |buffer: &Buffer| trommel::Range::new(buffer.address() + bytes(problem.start), bytes(problem.end - problem.start));
        self.sides[side].as_ref().map(part).unwrap_or_default()
    }
}

/// Memory without what an earlier case has left there: that may be the right answer.
fn spoiled(context: &Context, size: u64) -> trommel::Result<Buffer> {
    let buffer = context.buffer(size)?;
    context.run(|commands| {
        // SAFETY: the command buffer is recording; the buffer outlives the run.
        unsafe { context.vk().cmd_fill_buffer(commands, buffer.handle(), 0, vk::WHOLE_SIZE, 0xdead_beef) };
        Ok(())
    })?;
    Ok(buffer)
}

/// Bytes of device memory that a case takes, but for offsets.
pub(crate) fn memory(case: &Case, primitives: &[Primitive]) -> trommel::Result<u64> {
    let arrays = [Some(ArrayInfo::keys(case)), ArrayInfo::values(case)];
    let buffers = |array: &ArrayInfo| {
        let sides = array.sides.iter().map(|there| u64::from(*there)).sum::<u64>();
        array.size(case.n) * u64::from(!array.fields.is_empty()) + array.size(array.room) * sides
    };
    let arrays = arrays.iter().flatten().map(buffers).sum::<u64>();
    Ok(arrays + between(case)?.iter().sum::<u64>() + scratch_size(case, primitives)?)
}

/// Bytes that serve each of the primitives.
fn scratch_size(case: &Case, primitives: &[Primitive]) -> trommel::Result<u64> {
    let mut most = 0;
    for primitive in primitives {
        let size = match (case.work, primitive) {
            (Work::Batch { .. }, Primitive::Sort(sorter)) => {
                let count = |problem: &Range<u32>| Count::host(problem.end - problem.start);
                let sort = |problem| Request::Sort(sorter, SortInfo { count: count(problem), ..SortInfo::default() });
                batch_scratch_size(&problems(case).iter().map(sort).collect::<Vec<_>>())
            }
            _ => primitive.scratch_size(case.most()),
        }?;
        most = most.max(size);
    }
    Ok(most)
}

/// The places of each problem, one after the other.
fn problems(case: &Case) -> Vec<Range<u32>> {
    let mut end = 0;
    let mut next = |n: u32| {
        let start = end;
        end += n.min(case.n - end);
        start..end
    };
    match case.work {
        Work::Batch { groups, .. } => {
            groups.iter().flat_map(|&(problems, n)| std::iter::repeat_n(n, problems as usize)).map(next).collect()
        }
        Work::Segments { lengths, .. } | Work::Split { approach: Approach::Segments(lengths), .. } => {
            lengths.iter().cycle().map(|n| next(*n)).take_while(|segment| segment.start < case.n).collect()
        }
        Work::Copy | Work::Sort { .. } | Work::Split { .. } => std::iter::once(0..case.n).collect(),
    }
}

fn segments(case: &Case) -> Vec<u32> {
    problems(case).iter().map(|segment| segment.start).chain([case.n]).collect()
}

impl Job {
    pub(crate) fn new(context: &Context, primitives: Vec<Primitive>, sources: &mut Sources, case: Case) -> trommel::Result<Self> {
        let keys = Array::new(context, sources, &ArrayInfo::keys(&case), case.n)?;
        let (mut splitters, mut starts, mut told) = (None, None, None);
        let cut = matches!(case.work, Work::Segments { .. } | Work::Split { approach: Approach::Segments(_), .. });
        let cut = cut.then(|| segments(&case));
        if let Work::Split { info, approach: Approach::Split | Approach::Segments(_), .. } = case.work {
            if info.function == BucketFunction::Splitters {
                splitters = Some((1..info.buckets).map(|i| i * range_width(&info)).collect::<Vec<u32>>());
            }
            if info.output == SplitOutput::Placed {
                starts = keys.source.as_ref().map(|source| last_bucket_first(&case, &info, source));
            }
            // As many words as there are buckets, and one more; of counts, that stays as it is.
            let times = cut.as_ref().map_or(1, |cut| cut.len() as u64 - 1);
            told = Some(spoiled(context, times * u64::from(info.buckets + 1) * 4)?);
        }
        let upload = |words: Option<Vec<u32>>| words.map(|words| context.upload(&words)).transpose();
        let on_device = matches!(case.work.count(), CountAt::Device { .. });
        Ok(Self {
            case,
            context: context.clone(),
            keys,
            values: ArrayInfo::values(&case).map(|values| Array::new(context, sources, &values, case.n)).transpose()?,
            count: upload(on_device.then(|| vec![case.n]))?,
            segments: upload(cut)?,
            splitters: upload(splitters)?,
            starts: upload(starts)?,
            told,
            between: between(&case)?.into_iter().map(|size| spoiled(context, size)).collect::<trommel::Result<_>>()?,
            scratch: context.buffer(scratch_size(&case, &primitives)?)?,
            primitives,
        })
    }

    /// The same case by other primitives of the same kinds. Memory stays, but for scratch that is too small.
    pub(crate) fn with(self, primitives: Vec<Primitive>) -> trommel::Result<Self> {
        let size = scratch_size(&self.case, &primitives)?;
        let scratch = if size > self.scratch.size() { self.context.buffer(size)? } else { self.scratch };
        Ok(Self { primitives, scratch, ..self })
    }

    /// One of the primitives on one problem.
    fn call(&self, step: usize, problem: &Range<u32>) -> Call<'_> {
        match (&self.primitives[step], self.case.work) {
            (Primitive::Sort(sorter), Work::Split { .. }) => Call::Sort(sorter, self.sort_of_ids()),
            (Primitive::Sort(sorter), _) => Call::Sort(sorter, self.sort_info(problem)),
            (Primitive::Split(splitter), Work::Split { approach: Approach::Insertion, .. }) => {
                Call::Split(splitter, self.compaction())
            }
            (Primitive::Split(splitter), _) => Call::Split(splitter, self.split_info(splitter, step)),
            (Primitive::Kernel(kernel), _) => Call::Kernel(kernel, self.args()),
        }
    }

    fn values(&self, side: usize, problem: &Range<u32>) -> trommel::Range {
        self.values.as_ref().map(|values| values.range(side, problem)).unwrap_or_default()
    }

    /// All values that there is room for.
    fn all_values(&self, side: usize) -> trommel::Range {
        self.values.as_ref().map(|values| values.whole(side)).unwrap_or_default()
    }

    fn between(&self, number: usize) -> trommel::Range {
        self.between.get(number).map(Buffer::range).unwrap_or_default()
    }

    /// The count of a case of one problem.
    fn count(&self) -> Count {
        self.case.count(self.count.as_ref().map(Buffer::address))
    }

    fn segments(&self) -> Segments {
        self.segments.as_ref().map_or(Segments::default(), |buffer| Segments {
            offsets: buffer.range(),
            count: Count::host(u32::try_from(buffer.size() / 4 - 1).unwrap_or(u32::MAX)),
        })
    }

    /// The sort of one problem.
    fn sort_info(&self, problem: &Range<u32>) -> SortInfo {
        let info = SortInfo { segments: self.segments(), scratch: self.scratch.scratch(), ..SortInfo::default() };
        if self.count.is_some() {
            return SortInfo {
                count: self.count(),
                keys: self.keys.whole(0),
                values: self.all_values(0),
                keys_out: self.keys.whole(1),
                values_out: self.all_values(1),
                ..info
            };
        }
        SortInfo {
            count: Count::host(problem.end - problem.start),
            keys: self.keys.range(0, problem),
            values: self.values(0, problem),
            keys_out: self.keys.range(1, problem),
            values_out: self.values(1, problem),
            ..info
        }
    }

    /// A split of all items; one after the other takes them there and back.
    fn split_info(&self, splitter: &Splitter, step: usize) -> SplitInfo {
        let (from, to) = (step % 2, (step + 1) % 2);
        let info = splitter.info();
        let told = self.told.as_ref().map(Buffer::range).unwrap_or_default();
        let (offsets, counts) = match Told::by(info) {
            Told::Offsets => (told, trommel::Range::NONE),
            Told::Counts => (trommel::Range::NONE, told),
        };
        SplitInfo {
            count: self.count(),
            keys: self.keys.whole(from),
            values: self.all_values(from),
            keys_out: self.keys.whole(to),
            values_out: self.all_values(to),
            segments: self.segments(),
            width: if info.function == BucketFunction::Range { range_width(info).into() } else { 0 },
            splitters: self.splitters.as_ref().map(Buffer::range).unwrap_or_default(),
            starts: self.starts.as_ref().map(Buffer::range).unwrap_or_default(),
            offsets,
            counts,
            scratch: self.scratch.scratch(),
            ..SplitInfo::default()
        }
    }

    /// The sort of ids of buckets, with what they belong to.
    fn sort_of_ids(&self) -> SortInfo {
        let (values, values_out) = if self.values.is_some() {
            (self.between(PACKED), self.between(SORTED))
        } else {
            (self.keys.whole(0), self.keys.whole(1))
        };
        let (count, keys, scratch) = (self.count(), self.between(IDS), self.scratch.scratch());
        SortInfo { count, keys, values, values_out, scratch, ..SortInfo::default() }
    }

    /// The split that leaves out empty places: those whose key is not below what an empty one holds.
    fn compaction(&self) -> SplitInfo {
        SplitInfo {
            count: self.count(),
            keys: self.between(AREAS),
            values: self.between(AREA_VALUES),
            keys_out: self.keys.whole(1),
            values_out: self.all_values(1),
            width: kernels::EMPTY.into(),
            scratch: self.scratch.scratch(),
            ..SplitInfo::default()
        }
    }

    /// What each of the kernels is given: the arrays between steps that the approach has, by their numbers.
    fn args(&self) -> Args {
        let Work::Split { info, approach, .. } = self.case.work else { return Args::default() };
        let inserts = approach == Approach::Insertion;
        let of_sort = |number| if inserts { 0 } else { self.between(number).address };
        let of_insertion = |number| if inserts { self.between(number).address } else { 0 };
        Args {
            keys: self.keys.whole(0).address,
            values: self.all_values(0).address,
            keys_out: self.keys.whole(1).address,
            values_out: self.all_values(1).address,
            ids: of_sort(IDS),
            pairs: of_sort(PACKED),
            pairs_out: of_sort(SORTED),
            areas: of_insertion(AREAS),
            area_values: of_insertion(AREA_VALUES),
            count: self.case.n,
            shift: if let BucketFunction::Bits { begin_bit } = info.function { begin_bit } else { 0 },
            area: area(&info, self.case.n),
            places: self.case.most(),
        }
    }

    fn whole(&self) -> Range<u32> {
        0..self.case.n
    }

    /// Records a copy of the inputs to where the work finds them.
    pub(crate) fn restore(&self, commands: vk::CommandBuffer) {
        if self.case.work == Work::Copy {
            return;
        }
        [Some(&self.keys), self.values.as_ref()].into_iter().flatten().for_each(|array| self.fill(commands, array));
    }

    /// Records what is timed.
    pub(crate) fn work(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        match self.case.work {
            Work::Copy => self.fill(commands, &self.keys),
            Work::Sort { .. } | Work::Segments { .. } | Work::Split { .. } => {
                for (step, first) in (0..self.primitives.len()).zip(self.first_timestamps()?) {
                    if step != 0 {
                        self.barrier(commands);
                    }
                    let timestamps = timestamps.map(|all| Timestamps { first: all.first + first, ..all });
                    // SAFETY: the command buffer is recording; the memory is the job's own, and the context waits for what it runs.
                    unsafe { self.call(step, &self.whole()).record(commands, timestamps)? };
                }
            }
            Work::Batch { .. } => {
                let request = |problem: &Range<u32>| match self.call(0, problem) {
                    Call::Sort(sorter, info) => Some(Request::Sort(sorter, info)),
                    Call::Split(splitter, info) => Some(Request::Split(splitter, info)),
                    Call::Kernel(..) => None,
                };
                let requests: Vec<_> = problems(&self.case).iter().filter_map(request).collect();
                // SAFETY: as above.
                unsafe { cmd_batch(commands, &requests, self.scratch.scratch())? }
            }
        }
        Ok(())
    }

    /// What one primitive has written is there for the next.
    fn barrier(&self, commands: vk::CommandBuffer) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .dst_access_mask(vk::AccessFlags2::SHADER_STORAGE_READ | vk::AccessFlags2::SHADER_STORAGE_WRITE)];
        // SAFETY: the command buffer is recording, outside a render pass.
        unsafe {
            self.context.vk().cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&barriers));
        }
    }

    /// Where the timestamps of each primitive begin among those of the job and, at last, their number.
    fn first_timestamps(&self) -> trommel::Result<Vec<u32>> {
        let mut firsts = vec![0];
        for primitive in &self.primitives {
            firsts.push(firsts[firsts.len() - 1] + primitive.timestamp_count(self.case.most())?);
        }
        Ok(firsts)
    }

    /// Timestamps that the passes write. Those of a batch write none.
    pub(crate) fn timestamp_count(&self) -> trommel::Result<u32> {
        if let Work::Batch { .. } = self.case.work { Ok(0) } else { Ok(self.first_timestamps()?.last().copied().unwrap_or(0)) }
    }

    /// The passes that write timestamps, by name, with the place of the timestamp before each: the next one is behind it.
    pub(crate) fn passes(&self) -> trommel::Result<Vec<(String, u32)>> {
        if let Work::Batch { .. } = self.case.work {
            return Ok(Vec::new());
        }
        let mut passes = Vec::new();
        for (step, first) in (0..self.primitives.len()).zip(self.first_timestamps()?) {
            let text = self.call(step, &self.whole()).describe()?;
            let lines = text.lines().filter(|line| line.contains(" groups "));
            let names = lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
            passes.extend(names.zip(first..));
        }
        Ok(passes)
    }

    /// Which array of two the last run has left the output in.
    fn result_side(&self) -> usize {
        match (self.case.work, self.primitives.last()) {
            (Work::Split { approach: Approach::Binary, .. }, _) => self.primitives.len() % 2,
            (_, Some(Primitive::Sort(sorter))) => usize::from(sorter.result_side() != 0),
            (_, Some(Primitive::Split(_) | Primitive::Kernel(_))) => 1,
            (_, None) => 0,
        }
    }

    /// What the last run has left.
    pub(crate) fn output(&self) -> trommel::Result<Output> {
        let (items, side) = (self.case.items(), self.result_side());
        let words = |bytes: u64| usize::try_from(bytes / 4).unwrap_or(usize::MAX);
        let download = |array: &Array| -> trommel::Result<Option<Arc<Vec<u32>>>> {
            let buffer = array.sides[side].as_ref();
            buffer.map(|buffer| self.context.download(buffer, words(array.size)).map(Arc::new)).transpose()
        };
        let source = |array: &Array| array.source.as_ref().map(|source| source.host.clone());
        let values = self.values.as_ref();
        let input = columns(&items, source(&self.keys), values.and_then(source));
        let found = columns(&items, download(&self.keys)?, values.map(download).transpose()?.flatten());
        let told = self.told.as_ref().map(|buffer| self.context.download(buffer, words(buffer.size()))).transpose()?;
        Ok(Output {
            what: format!("{} {}", self.case.name, self.case.n),
            problems: problems(&self.case),
            items,
            arrangement: match self.case.work {
                Work::Copy => Arrangement::Copied,
                Work::Split { info, approach: Approach::Insertion, .. } => Arrangement::Grouped(info),
                Work::Split { info, .. } => Arrangement::Split(info),
                Work::Sort { info, .. } | Work::Segments { info, .. } | Work::Batch { info, .. } => Arrangement::Sorted(info),
            },
            input,
            found: Columns { keys: found.keys.filter(|_| !items.drop_keys), ..found },
            told,
        })
    }

    fn fill(&self, commands: vk::CommandBuffer, array: &Array) {
        let Some((from, to)) = array.source.as_ref().zip(array.sides[0].as_ref()) else { return };
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: array.size }];
        // SAFETY: both buffers hold so many bytes and outlive the run.
        unsafe { self.context.vk().cmd_copy_buffer(commands, from.device.handle(), to.handle(), &region) };
    }
}

/// Where each bucket begins where the last one comes first: as far from where they lie anyway as there is room for.
fn last_bucket_first(case: &Case, info: &SplitterInfo, source: &Source) -> Vec<u32> {
    let size = info.key.size() as usize;
    let keys = Column { words: source.host.clone(), first: 0, step: size, size };
    let mut starts = bucket_counts(info, &keys, 0..case.n);
    starts.truncate(info.buckets as usize);
    let mut next = 0;
    for start in starts.iter_mut().rev() {
        let count = std::mem::replace(start, next);
        next += count;
    }
    starts
}

/// Keys and values in the arrays that hold them.
fn columns(items: &Items, keys: Option<Arc<Vec<u32>>>, values: Option<Arc<Vec<u32>>>) -> Columns {
    let (key, value) = (items.key.size() as usize, items.value.size() as usize);
    let column = |words: Arc<Vec<u32>>, first, step, size| Column { words, first, step, size };
    if items.layout == Layout::Interleaved {
        let values = keys.clone().map(|words| column(words, key, key + value, value));
        return Columns { keys: keys.map(|words| column(words, 0, key + value, key)), values };
    }
    Columns { keys: keys.map(|words| column(words, 0, key, key)), values: values.map(|words| column(words, 0, value, value)) }
}
