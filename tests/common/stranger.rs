//! A foreign dispatch: its pipeline, layout and push constants are unrelated to the library's.

use super::pipeline::Pipeline;
use ash::vk;
use rspirv::binary::Assemble as _;
use rspirv::dr::Builder;
use rspirv::spirv;
use trommel::host::Context;

/// A pipeline that does nothing.
pub(crate) struct Stranger(Pipeline);

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
        Self(Pipeline::new(context, &module(), &[], 64))
    }

    /// Binds the pipeline, pushes constants and records a dispatch.
    pub(crate) fn record(&self, commands: vk::CommandBuffer) {
        self.0.record(commands, &[0xff; 64], 3);
    }
}
