//! Records plans as commands. Barriers follow from the resources that passes read and write; nothing else records them.

use crate::core::memory::Timestamps;
use crate::core::pipelines::Variant;
use crate::core::plan::{Content, Groups, MAX_VARIANTS, Pass, Plan, Resources, Rows, Table, Upload};
use crate::device::Device;
use crate::kernels::Kernel;
use crate::{Error, Result, Scratch};
use arrayvec::ArrayVec;
use ash::vk;

/// Bytes of a table in one `vkCmdUpdateBuffer`. Vulkan's limit is 65,536.
const UPLOAD_BYTES: usize = 4096;

/// A destination of commands: a command buffer, or a list in tests.
pub(crate) trait Commands {
    /// Makes earlier writes of `source` stages visible to later reads and writes of `target` stages.
    fn barrier(&mut self, source: vk::PipelineStageFlags2, target: vk::PipelineStageFlags2);
    /// One dispatch. `index`: of the pass in the plan.
    fn dispatch(&mut self, index: usize, pass: &Pass);
    /// Writes `bytes` at `offset` of scratch.
    fn update(&mut self, upload: &Upload<'_>, offset: u64, bytes: &[u8]);
    /// Clears `bytes` bytes of scratch, at the offset of the transfer.
    fn clear(&mut self, upload: &Upload<'_>, bytes: u64);
    /// Marks the end of a level with passes, counted from 1. 0 marks the beginning.
    fn mark(&mut self, level: u32);
}

/// The stages of accesses. An access names its stage by the index in this array.
const STAGES: [vk::PipelineStageFlags2; 3] = [
    vk::PipelineStageFlags2::COMPUTE_SHADER,
    vk::PipelineStageFlags2::ALL_TRANSFER,
    vk::PipelineStageFlags2::DRAW_INDIRECT,
];
const COMPUTE: usize = 0;
const TRANSFER: usize = 1;
const INDIRECT: usize = 2;

/// Accesses of the commands of a level to resources, by stage.
#[derive(Clone, Copy, Default)]
struct Accesses {
    reads: [Resources; STAGES.len()],
    writes: [Resources; STAGES.len()],
}

impl Accesses {
    fn add_pass(&mut self, pass: &Pass) {
        self.reads[COMPUTE] = self.reads[COMPUTE].union(pass.reads);
        self.writes[COMPUTE] = self.writes[COMPUTE].union(pass.writes);
        if let Groups::Indirect { resource, .. } = pass.groups {
            self.reads[INDIRECT] = self.reads[INDIRECT].union(Resources::of(&[resource]));
        }
    }

    fn add_upload(&mut self, upload: &Upload<'_>) {
        self.writes[TRANSFER] = self.writes[TRANSFER].union(Resources::of(&[upload.resource]));
    }

    /// With everything that shares bytes with what is accessed.
    fn overlapping(self, plan: &Plan<'_>) -> Self {
        let overlapping = |sets: [Resources; STAGES.len()]| sets.map(|set| plan.overlapping(set));
        Self { reads: overlapping(self.reads), writes: overlapping(self.writes) }
    }
}

/// Earlier accesses: for each of [`STAGES`], the resources for which no barrier has ordered them before that stage.
#[derive(Clone, Copy, Default)]
struct Pending {
    /// By shaders and as indirect commands: a barrier that waits for shaders also waits for the indirect stage, which
    /// precedes theirs.
    read: [Resources; STAGES.len()],
    /// By shaders, and by transfers.
    written: [[Resources; STAGES.len()]; 2],
    /// Whether there have been transfers.
    has_transfers: bool,
}

impl Pending {
    fn add(&mut self, accesses: &Accesses) {
        self.has_transfers |= accesses.writes[TRANSFER] != Resources::default();
        let reads = accesses.reads.into_iter().fold(Resources::default(), Resources::union);
        self.read.iter_mut().for_each(|read| *read = read.union(reads));
        for (written, writes) in self.written.iter_mut().zip(accesses.writes) {
            written.iter_mut().for_each(|written| *written = written.union(writes));
        }
    }

    /// Whether accesses of a stage need a barrier. `accesses`: with everything that shares bytes with them.
    fn conflicts(&self, accesses: &Accesses, stage: usize) -> bool {
        let (reads, writes) = (accesses.reads[stage], accesses.writes[stage]);
        let touched = reads.union(writes);
        writes.intersects(self.read[stage]) || self.written.iter().any(|earlier| touched.intersects(earlier[stage]))
    }

    /// A barrier orders all earlier accesses, not only those that need it, and those that earlier barriers have ordered
    /// before `source`.
    fn after_barrier(mut self, source: vk::PipelineStageFlags2, target: vk::PipelineStageFlags2) -> Self {
        let of = |flags: vk::PipelineStageFlags2| (0..STAGES.len()).filter(move |stage| flags.contains(STAGES[*stage]));
        // Waiting for a stage is waiting for those before it.
        let source = if source.contains(STAGES[COMPUTE]) { source | STAGES[INDIRECT] } else { source };
        let [by_shaders, by_transfers] = &mut self.written;
        for (own, sets) in [(COMPUTE, &mut self.read), (COMPUTE, by_shaders), (TRANSFER, by_transfers)] {
            let unordered = of(source).fold(Resources::ALL, |unordered, stage| {
                if stage == own { Resources::default() } else { unordered.intersection(sets[stage]) }
            });
            of(target).for_each(|stage| sets[stage] = sets[stage].intersection(unordered));
        }
        self
    }

    /// The stages of the barrier that these accesses need.
    fn barrier_before(
        &self,
        accesses: &Accesses,
        plan: &Plan<'_>,
    ) -> Option<(vk::PipelineStageFlags2, vk::PipelineStageFlags2)> {
        let accesses = accesses.overlapping(plan);
        let targets = (0..STAGES.len()).filter(|stage| self.conflicts(&accesses, *stage)).map(|stage| STAGES[stage]);
        let target = targets.reduce(|all, stage| all | stage)?;
        // Then all accesses are those of shaders, or of the indirect stage, which precedes theirs.
        if !self.has_transfers {
            return Some((STAGES[COMPUTE], target));
        }
        let suffices = |source: &vk::PipelineStageFlags2| {
            let after = self.after_barrier(*source, target);
            (0..STAGES.len()).all(|stage| !after.conflicts(&accesses, stage))
        };
        let source = [STAGES[TRANSFER], STAGES[COMPUTE]].into_iter().find(suffices);
        Some((source.unwrap_or(STAGES[TRANSFER] | STAGES[COMPUTE]), target))
    }
}

/// Records a plan level by level, with one barrier at most before each. Returns the number of marks.
pub(crate) fn record(plan: &Plan<'_>, commands: &mut impl Commands) -> u32 {
    let mut pending = Pending::default();
    let levels = plan.levels();
    let indices = plan.indices_by_level();
    let mut rest = &indices[..];
    commands.mark(0);
    let mut marks = 1;
    for level in 0..levels {
        let uploads = || plan.uploads.iter().filter(move |upload| upload.level == level);
        let count = rest.iter().take_while(|index| plan.passes[usize::from(**index)].level == level).count();
        let (now, later) = rest.split_at(count);
        rest = later;
        let passes = || now.iter().map(|index| (usize::from(*index), &plan.passes[usize::from(*index)]));
        let mut accesses = Accesses::default();
        uploads().for_each(|upload| accesses.add_upload(upload));
        passes().for_each(|(_, pass)| accesses.add_pass(pass));
        if let Some((source, target)) = pending.barrier_before(&accesses, plan) {
            commands.barrier(source, target);
            pending = pending.after_barrier(source, target);
        }
        uploads().for_each(|upload| match upload.content {
            Content::Rows(table, rows) => send_table(upload, table, rows, commands),
            Content::Zeros(bytes) => commands.clear(upload, bytes),
        });
        passes().for_each(|(index, pass)| commands.dispatch(index, pass));
        pending.add(&accesses);
        // A level of uploads alone counts as a part of the next one.
        if !now.is_empty() {
            commands.mark(marks);
            marks += 1;
        }
    }
    marks
}

fn send_table(upload: &Upload<'_>, table: &dyn Table, rows: Rows, commands: &mut impl Commands) {
    let mut chunk = ArrayVec::<u8, UPLOAD_BYTES>::new();
    let mut offset = upload.offset;
    table.for_each_row(rows, &mut |row| {
        if chunk.try_extend_from_slice(row).is_err() {
            commands.update(upload, offset, &chunk);
            offset += chunk.len() as u64;
            chunk.clear();
            let fits = chunk.try_extend_from_slice(row).is_ok();
            debug_assert!(fits, "a row is far smaller than a chunk");
        }
    });
    if !chunk.is_empty() {
        commands.update(upload, offset, &chunk);
    }
}

/// Commands that go into the caller's command buffer.
pub(crate) struct Recorder<'a> {
    device: &'a Device,
    command_buffer: vk::CommandBuffer,
    scratch: Scratch,
    /// In the order of [`Plan::variants`].
    pipelines: ArrayVec<vk::Pipeline, MAX_VARIANTS>,
    timestamps: Option<Timestamps>,
    bound: Option<vk::Pipeline>,
}

impl<'a> Recorder<'a> {
    /// Looks up every pipeline, so that all errors occur before the first command. `known`: the pipelines of handles.
    ///
    /// # Errors
    /// [`Error::Internal`] if no handle has the pipeline of a pass.
    pub(crate) fn new(
        device: &'a Device,
        command_buffer: vk::CommandBuffer,
        scratch: Scratch,
        timestamps: Option<Timestamps>,
        plan: &Plan<'_>,
        known: impl Fn(&Variant) -> Option<Result<vk::Pipeline>>,
    ) -> Result<Self> {
        let missing = |variant: &Variant| Err(Error::Internal(format!("no pipeline of {variant:?}")));
        let pipeline = |variant: &Variant| known(variant).unwrap_or_else(|| missing(variant));
        let pipelines = ArrayVec::new();
        let mut recorder = Self { device, command_buffer, scratch, pipelines, timestamps, bound: None };
        for variant in &plan.variants {
            recorder.pipelines.push(pipeline(variant)?);
        }
        Ok(recorder)
    }

    fn label(&self, kernel: Kernel) {
        if let Some(debug) = self.device.handles().debug() {
            let label = vk::DebugUtilsLabelEXT::default().label_name(kernel.label());
            // SAFETY: the command buffer is recording.
            unsafe { debug.cmd_begin_debug_utils_label(self.command_buffer, &label) };
        }
    }

    fn end_label(&self) {
        if let Some(debug) = self.device.handles().debug() {
            // SAFETY: closes the label that was opened for the same command.
            unsafe { debug.cmd_end_debug_utils_label(self.command_buffer) };
        }
    }
}

impl Commands for Recorder<'_> {
    fn barrier(&mut self, source: vk::PipelineStageFlags2, target: vk::PipelineStageFlags2) {
        let mut barrier = vk::MemoryBarrier2::default().src_stage_mask(source).dst_stage_mask(target);
        if source.contains(vk::PipelineStageFlags2::COMPUTE_SHADER) {
            barrier.src_access_mask |= vk::AccessFlags2::SHADER_STORAGE_WRITE;
        }
        if source.contains(vk::PipelineStageFlags2::ALL_TRANSFER) {
            barrier.src_access_mask |= vk::AccessFlags2::TRANSFER_WRITE;
        }
        if target.contains(vk::PipelineStageFlags2::COMPUTE_SHADER) {
            barrier.dst_access_mask |= vk::AccessFlags2::SHADER_STORAGE_READ | vk::AccessFlags2::SHADER_STORAGE_WRITE;
        }
        if target.contains(vk::PipelineStageFlags2::ALL_TRANSFER) {
            barrier.dst_access_mask |= vk::AccessFlags2::TRANSFER_WRITE;
        }
        if target.contains(vk::PipelineStageFlags2::DRAW_INDIRECT) {
            barrier.dst_access_mask |= vk::AccessFlags2::INDIRECT_COMMAND_READ;
        }
        let barriers = [barrier];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: the command buffer is recording, outside a render pass.
        unsafe { self.device.handles().vk.cmd_pipeline_barrier2(self.command_buffer, &dependency) };
    }

    fn dispatch(&mut self, _place: usize, pass: &Pass) {
        let Some(pipeline) = self.pipelines.get(usize::from(pass.variant)) else {
            return debug_assert!(false, "every pass has a variant of its plan");
        };
        let device = self.device.handles();
        self.label(pass.kernel);
        // SAFETY: the command buffer is recording, outside a render pass; indirect arguments lie in scratch, which is a
        // buffer with that usage.
        unsafe {
            if self.bound != Some(*pipeline) {
                device.vk.cmd_bind_pipeline(self.command_buffer, vk::PipelineBindPoint::COMPUTE, *pipeline);
                self.bound = Some(*pipeline);
            }
            let layout = self.device.pipeline_layout();
            device.vk.cmd_push_constants(
                self.command_buffer,
                layout,
                vk::ShaderStageFlags::COMPUTE,
                0,
                pass.push.bytes(),
            );
            match pass.groups {
                Groups::Fixed(groups) => {
                    let (x, y) = fold(groups, self.device.profile().max_groups_x);
                    device.vk.cmd_dispatch(self.command_buffer, x, y, 1);
                }
                Groups::Indirect { offset, .. } => {
                    device.vk.cmd_dispatch_indirect(
                        self.command_buffer,
                        self.scratch.buffer,
                        self.scratch.offset + offset,
                    );
                }
            }
        }
        self.end_label();
    }

    fn update(&mut self, _upload: &Upload<'_>, offset: u64, bytes: &[u8]) {
        // SAFETY: the command buffer is recording, outside a render pass; offset and size are multiples of 4 within
        // scratch.
        unsafe {
            self.device.handles().vk.cmd_update_buffer(
                self.command_buffer,
                self.scratch.buffer,
                self.scratch.offset + offset,
                bytes,
            );
        }
    }

    fn clear(&mut self, upload: &Upload<'_>, bytes: u64) {
        // SAFETY: the command buffer is recording, outside a render pass; offset and size are multiples of 4 within
        // scratch.
        unsafe {
            self.device.handles().vk.cmd_fill_buffer(
                self.command_buffer,
                self.scratch.buffer,
                self.scratch.offset + upload.offset,
                bytes,
                0,
            );
        }
    }

    fn mark(&mut self, level: u32) {
        let Some(timestamps) = self.timestamps else { return };
        // SAFETY: the caller's pool has queries for every pass, reset.
        unsafe {
            self.device.handles().vk.cmd_write_timestamp2(
                self.command_buffer,
                vk::PipelineStageFlags2::COMPUTE_SHADER,
                timestamps.pool,
                timestamps.first + level,
            );
        }
    }
}

/// Folds workgroups into the fewest rows of at most `max_groups_x`. The excess workgroups are fewer than the rows.
pub(crate) fn fold(groups: u32, max_groups_x: u32) -> (u32, u32) {
    // Most dispatches take no division.
    if groups <= max_groups_x {
        return (groups, u32::from(groups != 0));
    }
    let rows = groups.div_ceil(max_groups_x);
    (groups.div_ceil(rows), rows)
}
