//! A foreign dispatch: its pipeline, layout and push constants are unrelated to the library's.

use ash::vk;
use rspirv::binary::Assemble as _;
use rspirv::dr::Builder;
use rspirv::spirv;
use trommel::host::Context;

/// A pipeline that does nothing.
pub(crate) struct Stranger {
    context: Context,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

fn module() -> Vec<u32> {
    let mut b = Builder::new();
    b.set_version(1, 6);
    b.capability(spirv::Capability::Shader);
    b.memory_model(spirv::AddressingModel::Logical, spirv::MemoryModel::GLSL450);
    let nothing = b.type_void();
    let signature = b.type_function(nothing, []);
    let main = b.begin_function(nothing, None, spirv::FunctionControl::NONE, signature).expect("no function is open");
    b.begin_block(None).expect("a function is open");
    b.ret().expect("a block is open");
    b.end_function().expect("a function is open");
    b.entry_point(spirv::ExecutionModel::GLCompute, main, "main", []);
    b.execution_mode(main, spirv::ExecutionMode::LocalSize, [1, 1, 1]);
    b.module().assemble()
}

impl Stranger {
    pub(crate) fn new(context: &Context) -> Self {
        let vk = context.vk();
        let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: 64 }];
        let code = module();
        // SAFETY: the device is alive, the infos are complete, the module is valid.
        unsafe {
            let layout =
                vk.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push), None);
            let layout = layout.expect("layout");
            let module =
                vk.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).expect("module");
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout);
            let pipelines = vk.create_compute_pipelines(vk::PipelineCache::null(), &[info], None).expect("pipeline");
            vk.destroy_shader_module(module, None);
            Self { context: context.clone(), layout, pipeline: pipelines[0] }
        }
    }

    /// Binds the pipeline, pushes constants and records a dispatch.
    pub(crate) fn record(&self, commands: vk::CommandBuffer) {
        let vk = self.context.vk();
        // SAFETY: the command buffer is recording, outside a render pass.
        unsafe {
            vk.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            vk.cmd_push_constants(commands, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &[0xff; 64]);
            vk.cmd_dispatch(commands, 3, 1, 1);
        }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        // SAFETY: Context::run has waited for all submissions.
        unsafe {
            self.context.vk().destroy_pipeline(self.pipeline, None);
            self.context.vk().destroy_pipeline_layout(self.layout, None);
        }
    }
}
