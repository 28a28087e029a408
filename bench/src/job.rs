//! A case with its memory: what is restored before each run, what is timed, what comes out.

use crate::cases::{Case, Work};
use crate::inputs::{Source, Sources};
use crate::verify::Output;
use ash::vk;
use std::ops::Range;
use std::sync::Arc;
use trommel::host::{Buffer, Context};
use trommel::{Count, Request, SortInfo, Sorter, Timestamps, batch_scratch_size, cmd_batch};

/// A case, ready to run any number of times.
pub(crate) struct Job {
    case: Case,
    context: Context,
    sorter: Sorter,
    keys_in: Arc<Source>,
    values_in: Option<Arc<Source>>,
    keys: Buffer,
    values: Option<Buffer>,
    /// The count, where it lies on the device.
    count: Option<Buffer>,
    scratch: Buffer,
}

/// Bytes of device memory that a case takes: source, working and alternate arrays, and some for tile words.
pub(crate) fn memory(case: &Case, most: u32) -> u64 {
    let arrays = if case.work.has_values() { 2 } else { 1 };
    arrays * 4 * (u64::from(case.n.max(most)) + 3 * u64::from(case.n))
}

impl Job {
    /// `most` is the largest case that uses the same source.
    pub(crate) fn new(context: &Context, sorter: &Sorter, sources: &mut Sources, case: Case, most: u32) -> trommel::Result<Self> {
        let bytes = u64::from(case.n) * 4;
        let has_values = case.work.has_values();
        let count_on_device = matches!(case.work, Work::Sort { count_on_device: true, .. });
        let mut job = Self {
            case,
            context: context.clone(),
            sorter: sorter.clone(),
            keys_in: sources.keys(context, case.work.keys(), case.n, most)?,
            values_in: has_values.then(|| sources.values(context, case.n, most)).transpose()?,
            keys: context.buffer(bytes)?,
            values: has_values.then(|| context.buffer(bytes)).transpose()?,
            count: count_on_device.then(|| context.upload(&[case.n])).transpose()?,
            scratch: context.buffer(4)?,
        };
        job.scratch = context.buffer(job.scratch_size()?)?;
        Ok(job)
    }

    fn scratch_size(&self) -> trommel::Result<u64> {
        match self.case.work {
            Work::Copy => Ok(0),
            Work::Sort { .. } => self.sorter.scratch_size(self.case.n),
            Work::Batch(_) => batch_scratch_size(&self.requests()),
        }
    }

    /// The places of each problem, one after the other.
    fn problems(&self) -> Vec<Range<u32>> {
        let Work::Batch(groups) = self.case.work else { return std::iter::once(0..self.case.n).collect() };
        let sizes = groups.iter().flat_map(|&(problems, n)| std::iter::repeat_n(n, problems as usize));
        let ends = sizes.scan(0, |end, n| {
            *end += n;
            Some(*end - n..*end)
        });
        ends.collect()
    }

    /// The sort of one problem.
    fn sort_info(&self, problem: &Range<u32>) -> SortInfo {
        let n = problem.end - problem.start;
        let part = |buffer: &Buffer| trommel::Range::new(buffer.address() + u64::from(problem.start) * 4, u64::from(n) * 4);
        SortInfo {
            count: self.count.as_ref().map_or(Count::host(n), |count| Count::device(count.address(), n)),
            keys: part(&self.keys),
            values: self.values.as_ref().map(part).unwrap_or_default(),
            scratch: self.scratch.scratch(),
            ..SortInfo::default()
        }
    }

    fn requests(&self) -> Vec<Request<'_>> {
        self.problems().iter().map(|problem| Request::Sort(&self.sorter, self.sort_info(problem))).collect()
    }

    /// Records a copy of the inputs to where they will be sorted.
    pub(crate) fn restore(&self, commands: vk::CommandBuffer) {
        if self.case.work == Work::Copy {
            return;
        }
        self.copy(commands, &self.keys_in.device, &self.keys);
        if let Some((from, to)) = self.values_in.as_ref().zip(self.values.as_ref()) {
            self.copy(commands, &from.device, to);
        }
    }

    /// Records what is timed.
    pub(crate) fn work(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        match self.case.work {
            Work::Copy => self.copy(commands, &self.keys_in.device, &self.keys),
            Work::Sort { .. } => {
                let info = SortInfo { timestamps, ..self.sort_info(&(0..self.case.n)) };
                // SAFETY: the command buffer is recording; the memory is the job's own, and the context waits for what it runs.
                unsafe { self.sorter.cmd_sort(commands, &info)? };
            }
            // SAFETY: as above.
            Work::Batch(_) => unsafe { cmd_batch(commands, &self.requests(), self.scratch.scratch())? },
        }
        Ok(())
    }

    /// The passes that write timestamps, by name.
    pub(crate) fn passes(&self) -> trommel::Result<Vec<String>> {
        let Work::Sort { .. } = self.case.work else { return Ok(Vec::new()) };
        let text = self.sorter.describe(&self.sort_info(&(0..self.case.n)))?;
        let passes = text.lines().filter(|line| line.contains(" groups "));
        Ok(passes.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect())
    }

    /// What the last run has left.
    pub(crate) fn output(&self) -> trommel::Result<Output> {
        let n = self.case.n as usize;
        Ok(Output {
            what: format!("{} {}", self.case.name, self.case.n),
            problems: self.problems().into_iter().map(|problem| problem.start as usize..problem.end as usize).collect(),
            is_sorted: self.case.work != Work::Copy,
            keys_in: self.keys_in.host.clone(),
            values_in: self.values_in.as_ref().map(|source| source.host.clone()),
            keys: self.context.download(&self.keys, n)?,
            values: self.values.as_ref().map(|values| self.context.download(values, n)).transpose()?,
        })
    }

    fn copy(&self, commands: vk::CommandBuffer, from: &Buffer, to: &Buffer) {
        let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: u64::from(self.case.n) * 4 }];
        // SAFETY: both buffers hold at least n words and outlive the run.
        unsafe { self.context.vk().cmd_copy_buffer(commands, from.handle(), to.handle(), &region) };
    }
}
