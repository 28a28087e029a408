//! Records plans as commands. Barriers follow from the resources that passes read and write; nothing else records them.

use crate::core::memory::Timestamps;
use crate::core::pipelines::Variant;
use crate::core::plan::{Groups, Pass, Plan, Resources, Upload};
use crate::device::Device;
use crate::{Result, Scratch};
use arrayvec::ArrayVec;
use ash::vk;

/// Most plans recorded side by side. A batch with more groups of requests is recorded in several companies of plans.
pub(crate) const MAX_PLANS: usize = 16;

/// Bytes of a table in one `vkCmdUpdateBuffer`. Vulkan's limit is 65,536.
const UPLOAD_BYTES: usize = 4096;

/// A destination of commands: a command buffer, or a list in tests.
pub(crate) trait Commands {
    /// Makes earlier writes of `source` stages visible to later reads and writes of `target` stages.
    fn barrier(&mut self, source: vk::PipelineStageFlags2, target: vk::PipelineStageFlags2);
    /// One dispatch of a plan.
    fn dispatch(&mut self, plan: usize, pass: &Pass);
    /// Writes `bytes` at `offset` of scratch.
    fn update(&mut self, plan: usize, upload: &Upload<'_>, offset: u64, bytes: &[u8]);
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

    /// A barrier orders the earlier accesses of all plans, not only of the plan that needs it.
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

/// Records plans side by side: their first passes, one barrier at most, their second passes, and so on. Plans are independent.
/// Returns the number of marks.
pub(crate) fn record(plans: &[Plan<'_>], commands: &mut impl Commands) -> u32 {
    debug_assert!(plans.len() <= MAX_PLANS, "more kinds are recorded in groups");
    let mut pending: ArrayVec<Pending, MAX_PLANS> = plans.iter().map(|_| Pending::default()).collect();
    let levels = plans.iter().map(Plan::levels).max().unwrap_or(0);
    commands.mark(0);
    let mut marks = 1;
    for (level, mark) in (0..levels).zip(1..) {
        let hazards = plans.iter().zip(&pending).filter_map(|(plan, pending)| Some(pending.before_pass(pass_at(plan, level)?)));
        let hazards = hazards
            .fold(Hazards::default(), |all, one| Hazards { source: all.source | one.source, target: all.target | one.target });
        if !hazards.source.is_empty() {
            commands.barrier(hazards.source, hazards.target);
            for pending in &mut pending {
                pending.after_barrier(hazards);
            }
        }
        for (index, (plan, pending)) in plans.iter().zip(&mut pending).enumerate() {
            if let Some(pass) = pass_at(plan, level) {
                commands.dispatch(index, pass);
                pending.after_pass(pass);
            } else if level == 0 {
                for upload in &plan.uploads {
                    send_table(index, upload, commands);
                    pending.written_by_transfer = pending.written_by_transfer.union(Resources::of(&[upload.resource]));
                }
            }
        }
        commands.mark(mark);
        marks = mark + 1;
    }
    marks
}

/// The pass of a level. Uploads, if any, are level 0.
fn pass_at<'p>(plan: &'p Plan<'_>, level: usize) -> Option<&'p Pass> {
    plan.passes.get(level.checked_sub(plan.first_pass())?)
}

fn send_table(plan: usize, upload: &Upload<'_>, commands: &mut impl Commands) {
    let mut chunk = ArrayVec::<u8, UPLOAD_BYTES>::new();
    let mut offset = upload.offset;
    upload.table.for_each_row(upload.rows, &mut |row| {
        if chunk.try_extend_from_slice(row).is_err() {
            commands.update(plan, upload, offset, &chunk);
            offset += chunk.len() as u64;
            chunk.clear();
            let fits = chunk.try_extend_from_slice(row).is_ok();
            debug_assert!(fits, "a row is far smaller than a chunk");
        }
    });
    if !chunk.is_empty() {
        commands.update(plan, upload, offset, &chunk);
    }
}

/// Commands that go into the caller's command buffer.
pub(crate) struct Recorder<'a> {
    device: &'a Device,
    command_buffer: vk::CommandBuffer,
    scratch: Scratch,
    pipelines: ArrayVec<(Variant, vk::Pipeline), MAX_PIPELINES>,
    timestamps: Option<Timestamps>,
    bound: Option<vk::Pipeline>,
}

/// Most pipelines of the plans recorded side by side: at most 8 each.
pub(crate) const MAX_PIPELINES: usize = 128;

impl<'a> Recorder<'a> {
    /// Looks up every pipeline, so that all errors occur before the first command.
    pub(crate) fn new(
        device: &'a Device,
        command_buffer: vk::CommandBuffer,
        scratch: Scratch,
        timestamps: Option<Timestamps>,
        plans: &[Plan<'_>],
        pipeline: impl Fn(Variant) -> Result<vk::Pipeline>,
    ) -> Result<Self> {
        let mut pipelines = ArrayVec::<(Variant, vk::Pipeline), MAX_PIPELINES>::new();
        for pass in plans.iter().flat_map(|plan| &plan.passes) {
            if !pipelines.iter().any(|(variant, _)| *variant == pass.variant) {
                pipelines.push((pass.variant, pipeline(pass.variant)?));
            }
        }
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

    fn dispatch(&mut self, _plan: usize, pass: &Pass) {
        let Some((_, pipeline)) = self.pipelines.iter().find(|(variant, _)| *variant == pass.variant) else {
            return debug_assert!(false, "new() has looked up every variant");
        };
        let device = self.device.handles();
        self.label(pass.variant.kernel.label());
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

    fn update(&mut self, _plan: usize, _upload: &Upload<'_>, offset: u64, bytes: &[u8]) {
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
