//! Kernels of the bench's own: what some approaches to a split do besides the library's passes.

use ash::vk;
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;
use trommel::Timestamps;
use trommel::host::Context;

/// What a kernel does; glsl/ says how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Writes ids of buckets, and packs pairs.
    Label,
    /// Takes pairs apart.
    Unpack,
    /// Empties the areas of buckets.
    Clear,
    /// Has each item look for a place in the area of its bucket.
    Insert,
}

impl Task {
    fn module(self) -> &'static [u8] {
        match self {
            Self::Label => include_bytes!("../spirv/label.spv"),
            Self::Unpack => include_bytes!("../spirv/unpack.spv"),
            Self::Clear => include_bytes!("../spirv/clear.spv"),
            Self::Insert => include_bytes!("../spirv/insert.spv"),
        }
    }

    /// For the times of passes.
    fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Unpack => "unpack",
            Self::Clear => "clear",
            Self::Insert => "insert",
        }
    }

    /// Items, or places, that it goes over.
    fn count(self, args: &Args) -> u32 {
        if self == Self::Clear { args.places } else { args.count }
    }
}

/// What a kernel is made as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelInfo {
    pub(crate) task: Task,
    /// Keys have values.
    pub(crate) pairs: bool,
}

/// The push constants of every kernel, addresses first; the twin of `Args` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Args {
    pub(crate) keys: vk::DeviceAddress,
    pub(crate) values: vk::DeviceAddress,
    pub(crate) keys_out: vk::DeviceAddress,
    pub(crate) values_out: vk::DeviceAddress,
    pub(crate) ids: vk::DeviceAddress,
    pub(crate) pairs: vk::DeviceAddress,
    pub(crate) pairs_out: vk::DeviceAddress,
    pub(crate) areas: vk::DeviceAddress,
    pub(crate) area_values: vk::DeviceAddress,
    pub(crate) count: u32,
    pub(crate) shift: u32,
    pub(crate) area: u32,
    pub(crate) places: u32,
}

const ARGS_SIZE: u32 = 88;
const _: () = assert!(size_of::<Args>() == ARGS_SIZE as usize && ARGS_SIZE <= 128, "every device has 128 bytes of push constants");

/// What no key may be where items are inserted; the twin of `EMPTY` in glsl/args.glsl.
pub(crate) const EMPTY: u32 = u32::MAX;
/// The longest array that kernels reach, in words.
pub(crate) const MOST_WORDS: u64 = 1 << 30;
/// Items of a workgroup at a time; the twin of `TILE` in glsl/args.glsl.
const TILE: u32 = 256 * 8;

/// A kernel, ready to record.
#[derive(Clone, Debug)]
pub(crate) struct Kernel(Arc<Pipeline>);

#[derive(Debug)]
struct Pipeline {
    context: Context,
    info: KernelInfo,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl Kernel {
    pub(crate) fn new(context: &Context, info: KernelInfo) -> trommel::Result<Self> {
        let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: ARGS_SIZE }];
        let layout_info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        let code: Vec<u32> = info.task.module().chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        let module_info = vk::ShaderModuleCreateInfo::default().code(&code);
        let value = u32::from(info.pairs).to_ne_bytes();
        let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: value.len() }];
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&value);
        let vk = context.vk();
        // SAFETY: the device is alive and has every feature that the modules ask for, which are valid; what is made is kept at once, or destroyed.
        unsafe {
            let layout = vk.create_pipeline_layout(&layout_info, None)?;
            let mut made = Pipeline { context: context.clone(), info, layout, pipeline: vk::Pipeline::null() };
            let module = vk.create_shader_module(&module_info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main")
                .specialization_info(&constants);
            let pipeline_info = [vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage)];
            let pipelines = vk.create_compute_pipelines(vk::PipelineCache::null(), &pipeline_info, None);
            vk.destroy_shader_module(module, None);
            made.pipeline = pipelines.map_err(|(_, error)| error)?[0];
            Ok(Self(Arc::new(made)))
        }
    }

    /// Queries that `record` writes, as primitives do: one before it, and one behind.
    pub(crate) const TIMESTAMPS: u32 = 2;

    /// # Safety
    /// The command buffer is recording, and the arrays behind the addresses last until it has executed.
    pub(crate) unsafe fn record(&self, commands: vk::CommandBuffer, args: &Args, timestamps: Option<Timestamps>) {
        let (vk, stages) = (self.0.context.vk(), vk::PipelineStageFlags2::ALL_COMMANDS);
        // SAFETY: the caller's promise; the queries, if any, are the caller's too, and have been reset.
        unsafe {
            if let Some(Timestamps { pool, first }) = timestamps {
                vk.cmd_write_timestamp2(commands, stages, pool, first);
            }
            vk.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.0.pipeline);
            vk.cmd_push_constants(commands, self.0.layout, vk::ShaderStageFlags::COMPUTE, 0, bytemuck::bytes_of(args));
            vk.cmd_dispatch(commands, self.groups(args), 1, 1);
            if let Some(Timestamps { pool, first }) = timestamps {
                vk.cmd_write_timestamp2(commands, stages, pool, first + 1);
            }
        }
    }

    /// As the library says it of its passes.
    pub(crate) fn describe(&self, args: &Args) -> String {
        format!("{} groups {}", self.0.info.task.name(), self.groups(args))
    }

    /// One a tile; where the device takes no row as long, each goes on with another.
    fn groups(&self, args: &Args) -> u32 {
        self.0.info.task.count(args).div_ceil(TILE).min(self.0.context.device().facts().max_groups_x)
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        let vk = self.context.vk();
        // SAFETY: the objects are its own, and the context waits for what it runs.
        unsafe {
            vk.destroy_pipeline(self.pipeline, None);
            vk.destroy_pipeline_layout(self.layout, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARGS_GLSL: &str = include_str!("../glsl/args.glsl");

    #[test]
    fn kernels_are_given_what_they_read() {
        let (_, block) = ARGS_GLSL.split_once("uniform Args {").unwrap();
        let (block, _) = block.split_once('}').unwrap();
        let members = block.lines().filter_map(|line| line.split_once(';')?.0.trim().split_once(' '));
        let theirs: Vec<_> = members.map(|(kind, name)| (name, if kind == "uvec2" { 8 } else { 4 })).collect();
        // What is derived names members in their order.
        let ours = format!("{:?}", Args::default());
        let ours =
            ours.trim_start_matches("Args { ").trim_end_matches(" }").split(", ").filter_map(|member| member.split_once(':'));
        assert!(ours.map(|(name, _)| name).eq(theirs.iter().map(|(name, _)| *name)), "{theirs:?}");
        assert_eq!(theirs.iter().map(|(_, size)| size).sum::<usize>(), size_of::<Args>());
    }

    #[test]
    fn constants_are_those_of_the_kernels() {
        let lines = [format!("#define EMPTY {EMPTY:#x}u"), format!("THREADS = {}u;", TILE / 8), "RUN = 8u;".into()];
        lines.iter().for_each(|line| assert!(ARGS_GLSL.contains(line), "no {line}"));
    }

    #[test]
    fn clearing_goes_over_places_and_all_else_over_items() {
        let args = Args { count: 10, places: 30, ..Args::default() };
        let counts = [Task::Label, Task::Unpack, Task::Clear, Task::Insert].map(|task| task.count(&args));
        assert_eq!(counts, [10, 10, 30, 10]);
    }
}
