//! A case with its memory: what is restored before each run, what is timed, what comes out.

use crate::cases::{Case, Items, Work, range_width};
use crate::inputs::{Content, Field, Source, Sources};
use crate::primitives::Primitive;
use crate::verify::{Arrangement, Column, Columns, Output};
use ash::vk;
use std::ops::Range;
use std::sync::Arc;
use trommel::host::{Buffer, Context};
use trommel::{
    BucketFunction, Count, Layout, Placement, Request, Segments, SortInfo, Sorter, SorterInfo, SplitInfo, Splitter, Timestamps,
    ValueType, batch_scratch_size, cmd_batch,
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
    /// Where a split says that buckets begin, and the last ends.
    offsets: Option<Buffer>,
    /// Where ranges of equal width begin, for splits that are told so.
    splitters: Option<Buffer>,
    scratch: Buffer,
}

/// A primitive with its arguments.
enum Call<'a> {
    Sort(&'a Sorter, SortInfo),
    Split(&'a Splitter, SplitInfo),
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
            }
        }
    }

    fn describe(&self) -> trommel::Result<String> {
        match self {
            Self::Sort(sorter, info) => sorter.describe(info),
            Self::Split(splitter, info) => splitter.describe(info),
        }
    }

    /// As part of a batch.
    fn request(self) -> Request<'a> {
        match self {
            Self::Sort(sorter, info) => Request::Sort(sorter, info),
            Self::Split(splitter, info) => Request::Split(splitter, info),
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
        Self { fields, step, sides: [true, second] }
    }

    fn values(case: &Case) -> Option<Self> {
        let items = case.items();
        if items.value == ValueType::None || items.layout == Layout::Interleaved {
            return None;
        }
        let step = items.value.size();
        let read = items.value != ValueType::Index;
        let fields = if read { vec![Field { content: Content::Values, size: step }] } else { Vec::new() };
        Some(Self { fields, step, sides: [read || items.placement != Placement::Preserve, items.placement != Placement::InPlace] })
    }

    /// Bytes of `n` items, in whole words.
    fn size(&self, n: u32) -> u64 {
        (u64::from(self.step) * u64::from(n)).next_multiple_of(4)
    }
}

/// An array with its memory.
struct Array {
    step: u32,
    size: u64,
    source: Option<Arc<Source>>,
    sides: [Option<Buffer>; 2],
}

impl Array {
    fn new(context: &Context, sources: &mut Sources, info: &ArrayInfo, n: u32) -> trommel::Result<Self> {
        let size = info.size(n);
        let side = |wanted: bool| wanted.then(|| spoiled(context, size)).transpose();
        let has_source = !info.fields.is_empty();
        Ok(Self {
            step: info.step,
            size,
            source: has_source.then(|| sources.get(context, &info.fields, n)).transpose()?,
            sides: [side(info.sides[0])?, side(info.sides[1])?],
        })
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
        let buffers = [!array.fields.is_empty(), array.sides[0], array.sides[1]];
        array.size(case.n) * buffers.iter().map(|there| u64::from(*there)).sum::<u64>()
    };
    Ok(arrays.iter().flatten().map(buffers).sum::<u64>() + scratch_size(case, primitives)?)
}

/// Bytes that serve each of the primitives.
fn scratch_size(case: &Case, primitives: &[Primitive]) -> trommel::Result<u64> {
    let mut most = 0;
    for primitive in primitives {
        let size = match (case.work, primitive) {
            (Work::Batch(_), Primitive::Sort(sorter)) => {
                let count = |problem: &Range<u32>| Count::host(problem.end - problem.start);
                let sort = |problem| Request::Sort(sorter, SortInfo { count: count(problem), ..SortInfo::default() });
                batch_scratch_size(&problems(case).iter().map(sort).collect::<Vec<_>>())
            }
            _ => primitive.scratch_size(case.n),
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
        Work::Copy | Work::Sort { .. } | Work::Split { .. } => std::iter::once(0..case.n).collect(),
        Work::Batch(groups) => {
            groups.iter().flat_map(|&(problems, n)| std::iter::repeat_n(n, problems as usize)).map(next).collect()
        }
        Work::Segments { lengths, .. } => {
            lengths.iter().cycle().map(|n| next(*n)).take_while(|segment| segment.start < case.n).collect()
        }
    }
}

fn segments(case: &Case) -> Vec<u32> {
    problems(case).iter().map(|segment| segment.start).chain([case.n]).collect()
}

impl Job {
    pub(crate) fn new(context: &Context, primitives: Vec<Primitive>, sources: &mut Sources, case: Case) -> trommel::Result<Self> {
        let count_on_device = matches!(case.work, Work::Sort { count_on_device: true, .. });
        let values = ArrayInfo::values(&case);
        let splitters = match case.work {
            Work::Split { info, .. } if info.function == BucketFunction::Splitters => {
                Some((1..info.buckets).map(|i| i * range_width(&info)).collect::<Vec<u32>>())
            }
            _ => None,
        };
        let offsets = if let Work::Split { info, bit_by_bit: false, .. } = case.work { Some(info.buckets + 1) } else { None };
        Ok(Self {
            case,
            context: context.clone(),
            keys: Array::new(context, sources, &ArrayInfo::keys(&case), case.n)?,
            values: values.map(|values| Array::new(context, sources, &values, case.n)).transpose()?,
            count: count_on_device.then(|| context.upload(&[case.n])).transpose()?,
            segments: matches!(case.work, Work::Segments { .. }).then(|| context.upload(&segments(&case))).transpose()?,
            splitters: splitters.map(|words| context.upload(&words)).transpose()?,
            offsets: offsets.map(|words| spoiled(context, u64::from(words) * 4)).transpose()?,
            scratch: context.buffer(scratch_size(&case, &primitives)?)?,
            primitives,
        })
    }

    /// One of the primitives on one problem.
    fn call(&self, step: usize, problem: &Range<u32>) -> Call<'_> {
        match &self.primitives[step] {
            Primitive::Sort(sorter) => Call::Sort(sorter, self.sort_info(problem)),
            Primitive::Split(splitter) => Call::Split(splitter, self.split_info(splitter, step)),
        }
    }

    fn values(&self, side: usize, problem: &Range<u32>) -> trommel::Range {
        self.values.as_ref().map(|values| values.range(side, problem)).unwrap_or_default()
    }

    /// The sort of one problem.
    fn sort_info(&self, problem: &Range<u32>) -> SortInfo {
        let n = problem.end - problem.start;
        SortInfo {
            count: self.count.as_ref().map_or(Count::host(n), |count| Count::device(count.address(), n)),
            segments: self.segments.as_ref().map_or(Segments::default(), |buffer| Segments {
                offsets: buffer.range(),
                count: Count::host(u32::try_from(buffer.size() / 4 - 1).unwrap_or(u32::MAX)),
            }),
            keys: self.keys.range(0, problem),
            values: self.values(0, problem),
            keys_out: self.keys.range(1, problem),
            values_out: self.values(1, problem),
            scratch: self.scratch.scratch(),
            ..SortInfo::default()
        }
    }

    /// A split of all items; one after the other takes them there and back.
    fn split_info(&self, splitter: &Splitter, step: usize) -> SplitInfo {
        let ((from, to), whole) = ((step % 2, (step + 1) % 2), self.whole());
        let info = splitter.info();
        SplitInfo {
            count: Count::host(self.case.n),
            keys: self.keys.range(from, &whole),
            values: self.values(from, &whole),
            keys_out: self.keys.range(to, &whole),
            values_out: self.values(to, &whole),
            width: if info.function == BucketFunction::Range { range_width(info).into() } else { 0 },
            splitters: self.splitters.as_ref().map(Buffer::range).unwrap_or_default(),
            offsets: self.offsets.as_ref().map(Buffer::range).unwrap_or_default(),
            scratch: self.scratch.scratch(),
            ..SplitInfo::default()
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
            Work::Batch(_) => {
                let requests: Vec<_> = problems(&self.case).iter().map(|problem| self.call(0, problem).request()).collect();
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
            firsts.push(firsts[firsts.len() - 1] + primitive.timestamp_count(self.case.n)?);
        }
        Ok(firsts)
    }

    /// Timestamps that the passes write. Those of a batch write none.
    pub(crate) fn timestamp_count(&self) -> trommel::Result<u32> {
        if let Work::Batch(_) = self.case.work { Ok(0) } else { Ok(self.first_timestamps()?.last().copied().unwrap_or(0)) }
    }

    /// The passes that write timestamps, by name, with the place of the timestamp before each: the next one is behind it.
    pub(crate) fn passes(&self) -> trommel::Result<Vec<(String, u32)>> {
        if let Work::Batch(_) = self.case.work {
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
        match self.primitives.last() {
            None => 0,
            Some(Primitive::Sort(sorter)) => usize::from(sorter.result_side() != 0),
            Some(Primitive::Split(_)) => self.primitives.len() % 2,
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
        let offsets = self.offsets.as_ref().map(|buffer| self.context.download(buffer, words(buffer.size()))).transpose()?;
        Ok(Output {
            what: format!("{} {}", self.case.name, self.case.n),
            problems: problems(&self.case),
            items,
            arrangement: match self.case.work {
                Work::Copy => Arrangement::Copied,
                Work::Split { info, .. } => Arrangement::Split(info),
                Work::Sort { info, .. } | Work::Segments { info, .. } => Arrangement::Sorted(info),
                Work::Batch(_) => Arrangement::Sorted(SorterInfo::keys()),
            },
            input,
            found: Columns { keys: found.keys.filter(|_| !items.drop_keys), ..found },
            offsets,
        })
    }

    fn fill(&self, commands: vk::CommandBuffer, array: &Array) {
        let Some((from, to)) = array.source.as_ref().zip(array.sides[0].as_ref()) else { return };
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: array.size }];
        // SAFETY: both buffers hold so many bytes and outlive the run.
        unsafe { self.context.vk().cmd_copy_buffer(commands, from.device.handle(), to.handle(), &region) };
    }
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
