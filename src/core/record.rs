//! Records plans as commands. Barriers follow from the resources that passes read and write; nothing else records them.

use crate::core::memory::Timestamps;
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, MAX_VARIANTS, Pass, Plan, Resources, Upload};
use crate::device::Device;
use crate::{Result, Scratch};
use arrayvec::ArrayVec;
use ash::vk;

/// Bytes of a table in one `vkCmdUpdateBuffer`. Vulkan's limit is 65,536.
const UPLOAD_BYTES: usize = 4096;

/// A destination of commands: a command buffer, or a list in tests.
pub(crate) trait Commands {
    /// Makes earlier writes of `source` stages visible to later reads and writes of `target` stages.
    fn barrier(&mut self, source: vk::PipelineStageFlags2, target: vk::PipelineStageFlags2);
    /// One dispatch. `place`: of the pass in the plan.
    fn dispatch(&mut self, place: usize, pass: &Pass);
    /// Writes `bytes` at `offset` of scratch.
    fn update(&mut self, upload: &Upload<'_>, offset: u64, bytes: &[u8]);
    /// Marks the end of a level. Level 0 marks the beginning of the first.
    fn mark(&mut self, level: u32);
}

/// Accesses to a plan's resources that no barrier has ordered yet.
#[derive(Clone, Copy, Default)]
struct Pending {
    read: Resources,
    written_by_compute: Resources,
    written_by_transfer: Resources,
    /// Written, and not yet visible to reads of indirect arguments, which have their own stage.
    unseen_by_indirect: Resources,
}

#[derive(Clone, Copy, Default)]
struct Hazards {
    source: vk::PipelineStageFlags2,
    target: vk::PipelineStageFlags2,
}

impl Hazards {
    fn and(self, other: Self) -> Self {
        Self { source: self.source | other.source, target: self.target | other.target }
    }
}

impl Pending {
    /// The barrier that `pass` needs.
    fn before_pass(&self, pass: &Pass) -> Hazards {
        let mut hazards = Hazards::default();
        let touched = pass.reads.union(pass.writes);
        if touched.intersects(self.written_by_compute) || pass.writes.intersects(self.read) {
            hazards.source |= vk::PipelineStageFlags2::COMPUTE_SHADER;
            hazards.target |= vk::PipelineStageFlags2::COMPUTE_SHADER;
        }
        if touched.intersects(self.written_by_transfer) {
            hazards.source |= vk::PipelineStageFlags2::ALL_TRANSFER;
            hazards.target |= vk::PipelineStageFlags2::COMPUTE_SHADER;
        }
        if let Groups::Indirect { resource, .. } = pass.groups
            && Resources::of(&[resource]).intersects(self.unseen_by_indirect)
        {
            hazards.source |= vk::PipelineStageFlags2::COMPUTE_SHADER;
            hazards.target |= vk::PipelineStageFlags2::DRAW_INDIRECT;
        }
        hazards
    }

    fn after_pass(&mut self, pass: &Pass) {
        // The indirect read precedes the shader stage, so a barrier that waits for the shader also waits for the indirect read.
        let command = match pass.groups {
            Groups::Indirect { resource, .. } => Resources::of(&[resource]),
            Groups::Fixed(_) => Resources::default(),
        };
        self.read = self.read.union(pass.reads).union(command);
        self.written_by_compute = self.written_by_compute.union(pass.writes);
        self.unseen_by_indirect = self.unseen_by_indirect.union(pass.writes);
    }

    /// A barrier orders all earlier accesses, not only those that need it.
    fn after_barrier(&mut self, hazards: Hazards) {
        if hazards.target.contains(vk::PipelineStageFlags2::COMPUTE_SHADER) {
            if hazards.source.contains(vk::PipelineStageFlags2::COMPUTE_SHADER) {
                self.written_by_compute = Resources::default();
                self.read = Resources::default();
            }
            if hazards.source.contains(vk::PipelineStageFlags2::ALL_TRANSFER) {
                self.written_by_transfer = Resources::default();
            }
        }
        if hazards.target.contains(vk::PipelineStageFlags2::DRAW_INDIRECT) {
            self.unseen_by_indirect = Resources::default();
        }
    }
}

/// Records a plan level by level, with one barrier at most before each. Returns the number of marks.
pub(crate) fn record(plan: &Plan<'_>, commands: &mut impl Commands) -> u32 {
    let mut pending = Pending::default();
    commands.mark(0);
    for level in 0..plan.levels() {
        let passes = || plan.passes.iter().enumerate().filter(|(_, pass)| pass.level == level);
        let hazards = passes().map(|(_, pass)| pending.before_pass(pass)).fold(Hazards::default(), Hazards::and);
        if !hazards.source.is_empty() {
            commands.barrier(hazards.source, hazards.target);
            pending.after_barrier(hazards);
        }
        for upload in plan.uploads.iter().filter(|upload| upload.level == level) {
            send_table(upload, commands);
            pending.written_by_transfer = pending.written_by_transfer.union(Resources::of(&[upload.resource]));
        }
        for (place, pass) in passes() {
            commands.dispatch(place, pass);
            pending.after_pass(pass);
        }
        commands.mark(u32::from(level) + 1);
    }
    u32::from(plan.levels()) + 1
}

fn send_table(upload: &Upload<'_>, commands: &mut impl Commands) {
    let mut chunk = ArrayVec::<u8, UPLOAD_BYTES>::new();
    let mut offset = upload.offset;
    upload.table.for_each_row(upload.rows, &mut |row| {
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
    /// Looks up every pipeline, so that all errors occur before the first command.
    pub(crate) fn new(
        device: &'a Device,
        command_buffer: vk::CommandBuffer,
        scratch: Scratch,
        timestamps: Option<Timestamps>,
        plan: &Plan<'_>,
        pipeline: impl Fn(&Variant) -> Result<vk::Pipeline>,
    ) -> Result<Self> {
        let pipelines = plan.variants.iter().map(pipeline).collect::<Result<_>>()?;
        Ok(Self { device, command_buffer, scratch, pipelines, timestamps, bound: None })
    }

    fn label(&self, name: &std::ffi::CStr) {
        if let Some(debug) = self.device.handles().debug() {
            let label = vk::DebugUtilsLabelEXT::default().label_name(name);
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
        self.label(pass.kernel.label());
        // SAFETY: the command buffer is recording, outside a render pass; indirect arguments lie in scratch, which is a buffer
        // with that usage.
        unsafe {
            if self.bound != Some(*pipeline) {
                device.vk.cmd_bind_pipeline(self.command_buffer, vk::PipelineBindPoint::COMPUTE, *pipeline);
                self.bound = Some(*pipeline);
            }
            let layout = self.device.pipeline_layout();
            device.vk.cmd_push_constants(self.command_buffer, layout, vk::ShaderStageFlags::COMPUTE, 0, pass.push.bytes());
            match pass.groups {
                Groups::Fixed(groups) => {
                    let (x, y) = fold(groups, self.device.profile().max_groups_x);
                    device.vk.cmd_dispatch(self.command_buffer, x, y, 1);
                }
                Groups::Indirect { offset, .. } => {
                    device.vk.cmd_dispatch_indirect(self.command_buffer, self.scratch.buffer, self.scratch.offset + offset);
                }
            }
        }
        self.end_label();
    }

    fn update(&mut self, _upload: &Upload<'_>, offset: u64, bytes: &[u8]) {
        // SAFETY: the command buffer is recording, outside a render pass; offset and size are multiples of 4 within scratch.
        unsafe {
            self.device.handles().vk.cmd_update_buffer(
                self.command_buffer,
                self.scratch.buffer,
                self.scratch.offset + offset,
                bytes,
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
    let rows = groups.div_ceil(max_groups_x);
    (if rows == 0 { 0 } else { groups.div_ceil(rows) }, rows)
}
