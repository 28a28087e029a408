//! Pipelines of tests, unrelated to the library's.

use ash::vk;
use trommel::host::Context;

/// A compute pipeline with push constants.
pub(crate) struct Pipeline {
    context: Context,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl Pipeline {
    /// `constants`: the specialization constants from number 0 on.
    pub(crate) fn new(context: &Context, code: &[u32], constants: &[u32], push_bytes: u32) -> Self {
        let vk = context.vk();
        let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: push_bytes }];
        let entry = |(id, _): (u32, &u32)| vk::SpecializationMapEntry { constant_id: id, offset: 4 * id, size: 4 };
        let entries: Vec<_> = (0..).zip(constants).map(entry).collect();
        let data = bytemuck::cast_slice(constants);
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(data);
        // SAFETY: the device is alive, the infos are complete, the module is valid.
        unsafe {
            let layout =
                vk.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push), None);
            let layout = layout.expect("layout");
            let module =
                vk.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(code), None).expect("module");
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main")
                .specialization_info(&constants);
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
            let pipelines = vk.create_compute_pipelines(vk::PipelineCache::null(), &[info], None).expect("pipeline");
            vk.destroy_shader_module(module, None);
            Self { context: context.clone(), layout, pipeline: pipelines[0] }
        }
    }

    /// Binds the pipeline, pushes constants and records a dispatch.
    pub(crate) fn record(&self, commands: vk::CommandBuffer, push: &[u8], groups: u32) {
        let vk = self.context.vk();
        // SAFETY: the command buffer is recording, outside a render pass.
        unsafe {
            vk.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            vk.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::COMPUTE, 0, push);
            vk.cmd_dispatch(commands, groups, 1, 1);
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: Context::run has waited for all submissions.
        unsafe {
            self.context.vk().destroy_pipeline(self.pipeline, None);
            self.context.vk().destroy_pipeline_layout(self.layout, None);
        }
    }
}
