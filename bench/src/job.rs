//! A case with its memory: what is restored before each run, what is timed, what comes out.

use crate::cases::{Case, Work};
use crate::inputs::{Content, Field, Source, Sources};
use crate::verify::{Column, Columns, Output};
use ash::vk;
use std::ops::Range;
use std::sync::Arc;
use trommel::host::{Buffer, Context};
use trommel::{
    Count, Layout, Placement, Request, Segments, SortInfo, Sorter, SorterInfo, Timestamps, ValueType, batch_scratch_size, cmd_batch,
};

/// A case, ready to run any number of times.
pub(crate) struct Job {
    case: Case,
    context: Context,
    sorter: Sorter,
    keys: Array,
    values: Option<Array>,
    /// The count, where it lies on the device.
    count: Option<Buffer>,
    /// Where segments begin and the last ends.
    offsets: Option<Buffer>,
    scratch: Buffer,
}

/// One of the arrays of a case, before it has memory.
struct ArrayInfo {
    /// What its items are at first; none where they are only written.
    fields: Vec<Field>,
    /// Bytes of an item.
    step: u32,
    /// Which of the two that a sort may name it has: where the input lies, and the output's or alternate one.
    sides: [bool; 2],
}

impl ArrayInfo {
    fn keys(case: &Case) -> Self {
        let info = case.info();
        let mut fields = vec![Field { content: Content::Keys(case.work.keys()), size: info.key.size() }];
        if info.layout == Layout::Interleaved {
            fields.push(Field { content: Content::Values, size: info.value.size() });
        }
        let step = fields.iter().map(|field| field.size).sum();
        let second = match info.placement {
            Placement::InPlace => false,
            Placement::Preserve => !info.drop_keys,
            Placement::DoubleBuffer => true,
        };
        Self { fields, step, sides: [true, second] }
    }

    fn values(case: &Case) -> Option<Self> {
        let info = case.info();
        if info.value == ValueType::None || info.layout == Layout::Interleaved {
            return None;
        }
        let step = info.value.size();
        let read = info.value != ValueType::Index;
        let fields = if read { vec![Field { content: Content::Values, size: step }] } else { Vec::new() };
        Some(Self { fields, step, sides: [read || info.placement != Placement::Preserve, info.placement != Placement::InPlace] })
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

/// Bytes of device memory that a case takes.
pub(crate) fn memory(case: &Case, sorter: &Sorter) -> trommel::Result<u64> {
    let arrays = [Some(ArrayInfo::keys(case)), ArrayInfo::values(case)];
    let buffers = |array: &ArrayInfo| {
        let buffers = [!array.fields.is_empty(), array.sides[0], array.sides[1]];
        array.size(case.n) * buffers.iter().map(|there| u64::from(*there)).sum::<u64>()
    };
    Ok(arrays.iter().flatten().map(buffers).sum::<u64>() + scratch_size(case, sorter)?)
}

fn scratch_size(case: &Case, sorter: &Sorter) -> trommel::Result<u64> {
    match case.work {
        Work::Copy => Ok(0),
        Work::Sort { .. } | Work::Segments { .. } => sorter.scratch_size(case.n),
        Work::Batch(_) => {
            let count = |problem: &Range<u32>| Count::host(problem.end - problem.start);
            let sort = |problem| Request::Sort(sorter, SortInfo { count: count(problem), ..SortInfo::default() });
            batch_scratch_size(&problems(case).iter().map(sort).collect::<Vec<_>>())
        }
    }
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
        Work::Copy | Work::Sort { .. } => std::iter::once(0..case.n).collect(),
        Work::Batch(groups) => {
            groups.iter().flat_map(|&(problems, n)| std::iter::repeat_n(n, problems as usize)).map(next).collect()
        }
        Work::Segments { lengths, .. } => {
            lengths.iter().cycle().map(|n| next(*n)).take_while(|segment| segment.start < case.n).collect()
        }
    }
}

fn offsets(case: &Case) -> Vec<u32> {
    problems(case).iter().map(|segment| segment.start).chain([case.n]).collect()
}

impl Job {
    pub(crate) fn new(context: &Context, sorter: &Sorter, sources: &mut Sources, case: Case) -> trommel::Result<Self> {
        let count_on_device = matches!(case.work, Work::Sort { count_on_device: true, .. });
        let values = ArrayInfo::values(&case);
        Ok(Self {
            case,
            context: context.clone(),
            sorter: sorter.clone(),
            keys: Array::new(context, sources, &ArrayInfo::keys(&case), case.n)?,
            values: values.map(|values| Array::new(context, sources, &values, case.n)).transpose()?,
            count: count_on_device.then(|| context.upload(&[case.n])).transpose()?,
            offsets: matches!(case.work, Work::Segments { .. }).then(|| context.upload(&offsets(&case))).transpose()?,
            scratch: context.buffer(scratch_size(&case, sorter)?)?,
        })
    }

    /// The sort of one problem.
    fn sort_info(&self, problem: &Range<u32>) -> SortInfo {
        let n = problem.end - problem.start;
        let values = |side| self.values.as_ref().map(|values| values.range(side, problem)).unwrap_or_default();
        SortInfo {
            count: self.count.as_ref().map_or(Count::host(n), |count| Count::device(count.address(), n)),
            segments: self.offsets.as_ref().map_or(Segments::default(), |buffer| Segments {
                offsets: buffer.range(),
                count: Count::host(u32::try_from(buffer.size() / 4 - 1).unwrap_or(u32::MAX)),
            }),
            keys: self.keys.range(0, problem),
            values: values(0),
            keys_out: self.keys.range(1, problem),
            values_out: values(1),
            scratch: self.scratch.scratch(),
            ..SortInfo::default()
        }
    }

    fn whole(&self) -> Range<u32> {
        0..self.case.n
    }

    /// Records a copy of the inputs to where they will be sorted.
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
            Work::Sort { .. } | Work::Segments { .. } => {
                let info = SortInfo { timestamps, ..self.sort_info(&self.whole()) };
                // SAFETY: the command buffer is recording; the memory is the job's own, and the context waits for what it runs.
                unsafe { self.sorter.cmd_sort(commands, &info)? };
            }
            Work::Batch(_) => {
                let sort = |problem| Request::Sort(&self.sorter, self.sort_info(problem));
                let requests: Vec<_> = problems(&self.case).iter().map(sort).collect();
                // SAFETY: as above.
                unsafe { cmd_batch(commands, &requests, self.scratch.scratch())? }
            }
        }
        Ok(())
    }

    /// The passes that write timestamps, by name.
    pub(crate) fn passes(&self) -> trommel::Result<Vec<String>> {
        let (Work::Sort { .. } | Work::Segments { .. }) = self.case.work else { return Ok(Vec::new()) };
        let text = self.sorter.describe(&self.sort_info(&self.whole()))?;
        let passes = text.lines().filter(|line| line.contains(" groups "));
        Ok(passes.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
    }

    /// What the last run has left.
    pub(crate) fn output(&self) -> trommel::Result<Output> {
        let info = self.case.info();
        let side = if self.sorter.result_side() == 0 { 0 } else { 1 };
        let download = |array: &Array| -> trommel::Result<Option<Arc<Vec<u32>>>> {
            let words = usize::try_from(array.size / 4).unwrap_or(usize::MAX);
            array.sides[side].as_ref().map(|buffer| self.context.download(buffer, words).map(Arc::new)).transpose()
        };
        let source = |array: &Array| array.source.as_ref().map(|source| source.host.clone());
        let values = self.values.as_ref();
        let input = columns(&info, source(&self.keys), values.and_then(source));
        let found = columns(&info, download(&self.keys)?, values.map(download).transpose()?.flatten());
        Ok(Output {
            what: format!("{} {}", self.case.name, self.case.n),
            problems: problems(&self.case),
            // A copy leaves the order as it is.
            sorted: (self.case.work != Work::Copy).then_some(info),
            input,
            found: Columns { keys: found.keys.filter(|_| !info.drop_keys), ..found },
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
fn columns(info: &SorterInfo, keys: Option<Arc<Vec<u32>>>, values: Option<Arc<Vec<u32>>>) -> Columns {
    let (key, value) = (info.key.size() as usize, info.value.size() as usize);
    let column = |words: Arc<Vec<u32>>, first, step, size| Column { words, first, step, size };
    if info.layout == Layout::Interleaved {
        let values = keys.clone().map(|words| column(words, key, key + value, value));
        return Columns { keys: keys.map(|words| column(words, 0, key + value, key)), values };
    }
    Columns { keys: keys.map(|words| column(words, 0, key, key)), values: values.map(|words| column(words, 0, value, value)) }
}
