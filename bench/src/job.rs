//! A case with its memory: restores inputs, records the timed work, downloads outputs.

use crate::arrays::{ArrayInfo, Contents, Memory};
use crate::inputs::Sources;
use crate::workload::{Case, Operation, Step};
use ash::vk;
use trommel::Timestamps;
use trommel::host::Context;

/// A case that can run any number of times.
pub(crate) struct Job {
    case: Case,
    context: Context,
    operation: Box<dyn Operation>,
    memory: Memory,
}

/// Bytes of device memory of an operation on `n` items, tables aside.
pub(crate) fn memory(operation: &dyn Operation, n: u32) -> trommel::Result<u64> {
    let arrays = operation.arrays();
    let arrays: u64 = arrays.iter().map(|array: &ArrayInfo| array.memory(n)).sum();
    Ok(arrays + operation.scratch_size()?)
}

impl Job {
    pub(crate) fn new(
        context: &Context,
        sources: &mut Sources,
        case: Case,
        operation: Box<dyn Operation>,
    ) -> trommel::Result<Self> {
        let (arrays, scratch) = (operation.arrays(), operation.scratch_size()?);
        let items = case.work.item_count(case.n);
        let memory = Memory::new(context, sources, items, &arrays, |inputs| operation.tables(inputs), scratch)?;
        Ok(Self { case, context: context.clone(), operation, memory })
    }

    /// The same case by the same operation with other handles. Memory stays; scratch grows if necessary.
    pub(crate) fn with(mut self, operation: Box<dyn Operation>) -> trommel::Result<Self> {
        self.memory.grow_scratch(operation.scratch_size()?)?;
        Ok(Self { operation, ..self })
    }

    /// Records a copy of the inputs to the arrays that the work reads, and the steps that complete them.
    pub(crate) fn restore(&self, commands: vk::CommandBuffer) -> trommel::Result<()> {
        self.memory.restore(commands);
        let steps = self.operation.preparation(&self.memory);
        if !steps.is_empty() {
            self.barrier(commands);
        }
        self.record_steps(commands, &steps, None)
    }

    /// Records the timed work.
    pub(crate) fn record(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        self.record_steps(commands, &self.operation.steps(&self.memory), timestamps)
    }

    fn record_steps(
        &self,
        commands: vk::CommandBuffer,
        steps: &[Box<dyn Step + '_>],
        timestamps: Option<Timestamps>,
    ) -> trommel::Result<()> {
        let mut first = 0;
        for (index, step) in steps.iter().enumerate() {
            if index != 0 {
                self.barrier(commands);
            }
            let timestamps = timestamps.map(|all| Timestamps { first: all.first + first, ..all });
            // SAFETY: the command buffer is recording; the memory is the job's own, and the context waits for the end
            // of each run.
            unsafe { step.record(commands, timestamps)? };
            first += step.timestamp_count()?;
        }
        Ok(())
    }

    /// Makes the writes of one step, or of the copies of the inputs, visible to the next.
    fn barrier(&self, commands: vk::CommandBuffer) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER | vk::PipelineStageFlags2::COPY)
            .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE | vk::AccessFlags2::TRANSFER_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .dst_access_mask(vk::AccessFlags2::SHADER_STORAGE_READ | vk::AccessFlags2::SHADER_STORAGE_WRITE)];
        // SAFETY: the command buffer is recording, outside a render pass.
        unsafe {
            self.context
                .vk()
                .cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&barriers));
        }
    }

    /// Timestamps that all steps write.
    pub(crate) fn timestamp_count(&self) -> trommel::Result<u32> {
        self.operation.steps(&self.memory).iter().map(|step| step.timestamp_count()).sum()
    }

    /// The passes that write timestamps, by name. Each comes with the index of the timestamp before it; the next index
    /// is behind it.
    pub(crate) fn passes(&self) -> trommel::Result<Vec<(String, u32)>> {
        let (mut passes, mut first) = (Vec::new(), 0);
        for step in self.operation.steps(&self.memory) {
            let text = step.describe()?;
            let lines = text.lines().filter(|line| line.contains(" groups "));
            let names = lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
            passes.extend(names.zip(first..));
            first += step.timestamp_count()?;
        }
        Ok(passes)
    }

    /// Downloads the output of the last run.
    pub(crate) fn output(&self) -> trommel::Result<Output> {
        let steps = self.operation.inspection(&self.memory);
        if !steps.is_empty() {
            self.context.run(|commands| self.record_steps(commands, &steps, None))?;
        }
        Ok(Output { case: self.case.clone(), contents: self.memory.download(&self.operation.output_sides())? })
    }
}

/// The output of a case, ready to be checked on any thread.
pub(crate) struct Output {
    case: Case,
    contents: Contents,
}

impl Output {
    /// Compares with the CPU. The error names the case.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Case { name, work, n } = &self.case;
        work.check(*n, &self.contents).map_err(|difference| format!("{name} {n}: {difference}"))
    }

    /// Facts that the record is to have.
    pub(crate) fn remark(&self) -> Option<String> {
        self.case.work.remark(self.case.n, &self.contents)
    }
}
