//! Compute objects of the engine: pipelines, command buffers, barriers and timestamps. Each destroys its own Vulkan
//! objects.

use crate::gpu::{Buffer, Gpu};
use anyhow::{Context as _, Result};
use ash::vk;

/// Stages and accesses of one side of a barrier.
pub(crate) type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

pub(crate) const COMPUTE_WRITES: Scope =
    (vk::PipelineStageFlags2::COMPUTE_SHADER, vk::AccessFlags2::SHADER_STORAGE_WRITE);
pub(crate) const COMPUTE_ALL: Scope = (
    vk::PipelineStageFlags2::COMPUTE_SHADER,
    vk::AccessFlags2::from_raw(
        vk::AccessFlags2::SHADER_STORAGE_READ.as_raw() | vk::AccessFlags2::SHADER_STORAGE_WRITE.as_raw(),
    ),
);
pub(crate) const COPY_READS: Scope = (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_READ);
pub(crate) const COPY_WRITES: Scope = (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_WRITE);
pub(crate) const HOST_READS: Scope = (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);

/// Returns an address as two words, as kernels take it.
pub(crate) fn words(buffer: &Buffer) -> [u32; 2] {
    bytemuck::cast(buffer.address)
}

/// # Safety
/// The command buffer is recording.
pub(crate) unsafe fn barrier(gpu: &Gpu, cmd: vk::CommandBuffer, from: Scope, to: Scope) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(from.0)
        .src_access_mask(from.1)
        .dst_stage_mask(to.0)
        .dst_access_mask(to.1)];
    let info = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the caller's promise.
    unsafe { gpu.device.cmd_pipeline_barrier2(cmd, &info) };
}

/// Copies the first `size` bytes of a buffer.
///
/// # Safety
/// The command buffer is recording, and both buffers have at least `size` bytes.
pub(crate) unsafe fn copy(gpu: &Gpu, cmd: vk::CommandBuffer, from: &Buffer, to: &Buffer, size: u64) {
    let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
    // SAFETY: the caller's promise.
    unsafe { gpu.device.cmd_copy_buffer(cmd, from.handle, to.handle, &region) };
}

/// Kernels with common push constants and one specialization constant, number 0.
pub(crate) struct Kernels<'a> {
    gpu: &'a Gpu,
    layout: vk::PipelineLayout,
    pipelines: Vec<vk::Pipeline>,
}

impl<'a> Kernels<'a> {
    /// Creates one kernel for each module. Modules without the constant ignore it.
    pub(crate) fn new(gpu: &'a Gpu, push_constants: usize, modules: &[&[u8]], constant: u32) -> Result<Self> {
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: u32::try_from(push_constants)?,
        }];
        let layout = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        // SAFETY: the device is alive; each object is stored at once, and destroyed by `drop`. The modules are the
        // examples' own.
        unsafe {
            let layout = gpu.device.create_pipeline_layout(&layout, None)?;
            let mut kernels = Self { gpu, layout, pipelines: Vec::new() };
            for module in modules {
                kernels.pipelines.push(create_pipeline(&gpu.device, layout, constant, module)?);
            }
            Ok(kernels)
        }
    }

    /// Binds a kernel and sets its push constants. The library's commands overwrite both, so every dispatch sets them.
    ///
    /// # Safety
    /// The command buffer is recording, and the push constants have the kernels' type.
    pub(crate) unsafe fn bind<T: bytemuck::NoUninit>(&self, cmd: vk::CommandBuffer, kernel: usize, push_constants: &T) {
        let device = &self.gpu.device;
        // SAFETY: the pipelines share the layout.
        unsafe {
            device.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::COMPUTE, self.pipelines[kernel]);
            let bytes = bytemuck::bytes_of(push_constants);
            device.cmd_push_constants(cmd, self.layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
        }
    }
}

impl Drop for Kernels<'_> {
    fn drop(&mut self) {
        // SAFETY: the objects are its own; commands that use them have been waited for.
        unsafe {
            for pipeline in &self.pipelines {
                self.gpu.device.destroy_pipeline(*pipeline, None);
            }
            self.gpu.device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

/// # Safety
/// The layout belongs to the device, and the module is one of the examples'.
unsafe fn create_pipeline(
    device: &ash::Device,
    layout: vk::PipelineLayout,
    constant: u32,
    module: &[u8],
) -> Result<vk::Pipeline> {
    let code = ash::util::read_spv(&mut std::io::Cursor::new(module))?;
    let module = vk::ShaderModuleCreateInfo::default().code(&code);
    let value = constant.to_ne_bytes();
    let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: value.len() }];
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&value);
    // SAFETY: the module is valid SPIR-V that uses only enabled features; it is not needed after the pipeline's
    // creation.
    unsafe {
        let module = device.create_shader_module(&module, None)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main")
            .specialization_info(&constants);
        let info = [vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage)];
        let made = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        device.destroy_shader_module(module, None);
        made.map(|pipelines| pipelines[0]).map_err(|(_, error)| error.into())
    }
}

/// Command buffers of the queue, and the fence that the host waits for. `drop` waits, and members are dropped in
/// declaration order. A struct therefore declares the resources of its commands after this member.
pub(crate) struct Commands<'a> {
    gpu: &'a Gpu,
    pool: vk::CommandPool,
    fence: vk::Fence,
}

impl<'a> Commands<'a> {
    pub(crate) fn new(gpu: &'a Gpu) -> Result<Self> {
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.queue_family);
        let mut commands = Self { gpu, pool: vk::CommandPool::null(), fence: vk::Fence::null() };
        // SAFETY: the device is alive; each object is kept at once, and destroyed by `drop`.
        unsafe {
            commands.pool = gpu.device.create_command_pool(&pool, None)?;
            commands.fence = gpu.device.create_fence(&vk::FenceCreateInfo::default(), None)?;
        }
        Ok(commands)
    }

    /// Returns a command buffer in the recording state.
    pub(crate) fn begin(&self, usage: vk::CommandBufferUsageFlags) -> Result<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        let begin = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: the device is alive, and the pool is used by this thread alone.
        unsafe {
            let cmd = self.gpu.device.allocate_command_buffers(&info)?[0];
            self.gpu.device.begin_command_buffer(cmd, &begin)?;
            Ok(cmd)
        }
    }

    /// Submits a recorded command buffer and waits for it.
    ///
    /// # Safety
    /// All resources of the commands are alive, and every hazard has its barrier.
    pub(crate) unsafe fn run(&self, cmd: vk::CommandBuffer) -> Result<()> {
        let device = &self.gpu.device;
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(cmd)];
        let submit = [vk::SubmitInfo2::default().command_buffer_infos(&commands)];
        // SAFETY: the caller's promise; no other submission is pending, so that the fence is free.
        unsafe {
            device.queue_submit2(self.gpu.queue, &submit, self.fence)?;
            device.wait_for_fences(&[self.fence], true, u64::MAX).context("the device did not finish")?;
            device.reset_fences(&[self.fence])?;
        }
        Ok(())
    }
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: the objects are its own; after the wait nothing uses them. If the wait fails, the device is lost and
        // nothing runs.
        unsafe {
            let _ = device.device_wait_idle();
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
        }
    }
}

/// Timestamps; empty if the queue does not support them.
pub(crate) struct Stamps<'a> {
    gpu: &'a Gpu,
    pool: vk::QueryPool,
    count: u32,
}

impl<'a> Stamps<'a> {
    pub(crate) fn new(gpu: &'a Gpu, count: u32) -> Result<Self> {
        let count = if gpu.timestamp_bits > 0 { count } else { 0 };
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(count);
        let pool = if count > 0 {
            // SAFETY: the device is alive, and the pool is destroyed by `drop`.
            unsafe { gpu.device.create_query_pool(&info, None) }?
        } else {
            vk::QueryPool::null()
        };
        Ok(Self { gpu, pool, count })
    }

    /// # Safety
    /// The command buffer is recording.
    pub(crate) unsafe fn reset(&self, cmd: vk::CommandBuffer) {
        if self.count > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.gpu.device.cmd_reset_query_pool(cmd, self.pool, 0, self.count) };
        }
    }

    /// Writes a timestamp after all preceding compute work.
    ///
    /// # Safety
    /// The command buffer is recording, and the slot has been reset and not been written since.
    pub(crate) unsafe fn stamp(&self, cmd: vk::CommandBuffer, slot: u32) {
        if self.count > 0 {
            let stage = vk::PipelineStageFlags2::COMPUTE_SHADER;
            // SAFETY: the caller's promise.
            unsafe { self.gpu.device.cmd_write_timestamp2(cmd, stage, self.pool, slot) };
        }
    }

    /// Returns milliseconds from the first slot to each slot, after the commands that wrote them have completed.
    pub(crate) fn read(&self) -> Result<Option<Vec<f64>>> {
        if self.count == 0 {
            return Ok(None);
        }
        let mut stamps = vec![0u64; self.count as usize];
        // SAFETY: the pool is alive; if a query was not written, the call returns an error.
        unsafe { self.gpu.device.get_query_pool_results(self.pool, 0, &mut stamps, vk::QueryResultFlags::TYPE_64)? };
        // Timestamps wrap at their number of valid bits.
        let mask = u64::MAX >> (64 - self.gpu.timestamp_bits.min(64));
        let ms = |stamp: &u64| (stamp.wrapping_sub(stamps[0]) & mask) as f64 * self.gpu.timestamp_period_ns / 1e6;
        Ok(Some(stamps.iter().map(ms).collect()))
    }
}

impl Drop for Stamps<'_> {
    fn drop(&mut self) {
        // SAFETY: the pool is its own or null; the commands that use it have completed.
        unsafe { self.gpu.device.destroy_query_pool(self.pool, None) };
    }
}

/// Returns the median: the upper one of two middle values, or 0 of an empty list.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
