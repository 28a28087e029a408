//! Kernels of the bench: the steps of some approaches to a split that are no passes of the library.

use super::info::begin_bit;
use crate::arrays::Memory;
use crate::handles::HandleInfo;
use crate::items::{KEYS, VALUES};
use crate::workload::Step;
use ash::vk;
use bytemuck::{Pod, Zeroable};
use std::sync::Arc;
use trommel::host::Context;
use trommel::{Device, Error, SplitterInfo, Strategy, Timestamps};

/// The task of a kernel. Sources are in bench/glsl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Writes the bucket of each item, and packs pairs.
    Label,
    /// Unpacks pairs.
    Unpack,
    /// Clears the areas of buckets.
    Clear,
    /// Inserts each item into a free slot in the area of its bucket.
    Insert,
}

impl Task {
    fn module(self) -> &'static [u8] {
        match self {
            Self::Label => include_bytes!("../../../spirv/label.spv"),
            Self::Unpack => include_bytes!("../../../spirv/unpack.spv"),
            Self::Clear => include_bytes!("../../../spirv/clear.spv"),
            Self::Insert => include_bytes!("../../../spirv/insert.spv"),
        }
    }

    /// The name of the pass in reports.
    fn name(self) -> &'static str {
        match self {
            Self::Label => "label",
            Self::Unpack => "unpack",
            Self::Clear => "clear",
            Self::Insert => "insert",
        }
    }

    /// Items, or slots, that the kernel processes.
    fn count(self, args: &Args) -> u32 {
        if self == Self::Clear { args.slots } else { args.count }
    }
}

/// The create info of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelInfo {
    pub(super) task: Task,
    /// Keys have values.
    pub(super) pairs: bool,
}

/// The push constants of every kernel, addresses first; the twin of `Args` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct Args {
    pub(super) keys: vk::DeviceAddress,
    pub(super) values: vk::DeviceAddress,
    pub(super) keys_out: vk::DeviceAddress,
    pub(super) values_out: vk::DeviceAddress,
    pub(super) ids: vk::DeviceAddress,
    pub(super) pairs: vk::DeviceAddress,
    pub(super) pairs_out: vk::DeviceAddress,
    pub(super) areas: vk::DeviceAddress,
    pub(super) area_values: vk::DeviceAddress,
    pub(super) count: u32,
    pub(super) shift: u32,
    pub(super) area: u32,
    pub(super) slots: u32,
}

impl Args {
    /// Items, their number and the first bit of their bucket. The rest is for the caller to fill.
    pub(super) fn of(info: &SplitterInfo, n: u32, memory: &Memory) -> Self {
        let address = |array, side| memory.whole(array, side).address;
        Self {
            keys: address(KEYS, 0),
            values: address(VALUES, 0),
            keys_out: address(KEYS, 1),
            values_out: address(VALUES, 1),
            count: n,
            shift: begin_bit(info),
            ..Self::default()
        }
    }
}

const ARGS_SIZE: u32 = 88;
const _: () = assert!(
    size_of::<Args>() == ARGS_SIZE as usize && ARGS_SIZE <= 128,
    "every device has 128 bytes of push constants"
);

/// The key of an empty slot, which no item may have; the twin of `EMPTY` in glsl/args.glsl.
pub(super) const EMPTY: u32 = u32::MAX;
/// Words of the longest array that kernels can address.
const MAX_WORDS: u64 = 1 << 30;
/// Items of a workgroup's tile; the twin of `TILE` in glsl/args.glsl.
const TILE: u32 = 256 * 8;

/// A kernel, ready to record.
#[derive(Clone, Debug)]
pub(super) struct Kernel(Arc<Pipeline>);

#[derive(Debug)]
struct Pipeline {
    context: Context,
    info: KernelInfo,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

/// Refuses arrays of so many bytes that kernels cannot address.
pub(super) fn check_words(sizes: &[u64]) -> trommel::Result<()> {
    let (argument, limit, why) = ("n", MAX_WORDS, "the words that kernels reach");
    match sizes.iter().map(|size| size / 4).find(|words| *words > limit) {
        Some(value) => Err(Error::TooLarge { argument, value, limit, why }),
        None => Ok(()),
    }
}

impl HandleInfo for KernelInfo {
    type Handle = Kernel;

    fn create(&self, context: &Context, _library: &Device, _strategy: Strategy) -> trommel::Result<Kernel> {
        Kernel::new(context, *self)
    }

    fn strategy_name(_kernel: &Kernel) -> Option<&'static str> {
        None
    }

    fn for_batches(self) -> Self {
        self
    }

    fn describe(&self) -> String {
        format!("kernel {:?}", self.task)
    }
}

impl Kernel {
    fn new(context: &Context, info: KernelInfo) -> trommel::Result<Self> {
        let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: ARGS_SIZE }];
        let layout_info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        let code: Vec<u32> = info.task.module().chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        let module_info = vk::ShaderModuleCreateInfo::default().code(&code);
        let value = u32::from(info.pairs).to_ne_bytes();
        let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: value.len() }];
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&value);
        let vk = context.vk();
        // SAFETY: the device is alive and has every feature that the modules ask for, which are valid; objects are
        // owned at once, or destroyed.
        unsafe {
            let layout = vk.create_pipeline_layout(&layout_info, None)?;
            let mut created = Pipeline { context: context.clone(), info, layout, pipeline: vk::Pipeline::null() };
            let module = vk.create_shader_module(&module_info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main")
                .specialization_info(&constants);
            let pipeline_info = [vk::ComputePipelineCreateInfo::default().layout(layout).stage(stage)];
            let pipelines = vk.create_compute_pipelines(vk::PipelineCache::null(), &pipeline_info, None);
            vk.destroy_shader_module(module, None);
            created.pipeline = pipelines.map_err(|(_, error)| error)?[0];
            Ok(Self(Arc::new(created)))
        }
    }

    /// Workgroups: one a tile, up to the device's limit. A workgroup then processes several tiles.
    fn groups(&self, args: &Args) -> u32 {
        self.0.info.task.count(args).div_ceil(TILE).min(self.0.context.device().facts().max_groups_x)
    }
}

/// A dispatch of a kernel.
pub(super) struct KernelStep<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) args: Args,
}

impl Step for KernelStep<'_> {
    unsafe fn record(&self, commands: vk::CommandBuffer, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        let pipeline = &self.kernel.0;
        let (vk, stages) = (pipeline.context.vk(), vk::PipelineStageFlags2::ALL_COMMANDS);
        // SAFETY: the caller's promise; the queries, if any, are the caller's too, and have been reset.
        unsafe {
            if let Some(Timestamps { pool, first }) = timestamps {
                vk.cmd_write_timestamp2(commands, stages, pool, first);
            }
            vk.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline.pipeline);
            vk.cmd_push_constants(
                commands,
                pipeline.layout,
                vk::ShaderStageFlags::COMPUTE,
                0,
                bytemuck::bytes_of(&self.args),
            );
            vk.cmd_dispatch(commands, self.kernel.groups(&self.args), 1, 1);
            if let Some(Timestamps { pool, first }) = timestamps {
                vk.cmd_write_timestamp2(commands, stages, pool, first + 1);
            }
        }
        Ok(())
    }

    fn timestamp_count(&self) -> trommel::Result<u32> {
        Ok(2)
    }

    fn describe(&self) -> trommel::Result<String> {
        Ok(format!("{} groups {}", self.kernel.0.info.task.name(), self.kernel.groups(&self.args)))
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        let vk = self.context.vk();
        // SAFETY: the pipeline owns the objects, and the context has waited for all executions.
        unsafe {
            vk.destroy_pipeline(self.pipeline, None);
            vk.destroy_pipeline_layout(self.layout, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARGS_GLSL: &str = include_str!("../../../glsl/args.glsl");

    #[test]
    fn arguments_equal_those_of_the_kernels() {
        let (_, block) = ARGS_GLSL.split_once("uniform Args {").unwrap();
        let (block, _) = block.split_once('}').unwrap();
        let members = block.lines().filter_map(|line| line.split_once(';')?.0.trim().split_once(' '));
        let theirs: Vec<_> = members.map(|(kind, name)| (name, if kind == "uvec2" { 8 } else { 4 })).collect();
        // The derived `Debug` names members in order.
        let ours = format!("{:?}", Args::default());
        let ours = ours
            .trim_start_matches("Args { ")
            .trim_end_matches(" }")
            .split(", ")
            .filter_map(|member| member.split_once(':'));
        assert!(ours.map(|(name, _)| name).eq(theirs.iter().map(|(name, _)| *name)), "{theirs:?}");
        assert_eq!(theirs.iter().map(|(_, size)| size).sum::<usize>(), size_of::<Args>());
    }

    #[test]
    fn constants_are_those_of_the_kernels() {
        let lines = [format!("#define EMPTY {EMPTY:#x}u"), format!("THREADS = {}u;", TILE / 8), "RUN = 8u;".into()];
        lines.iter().for_each(|line| assert!(ARGS_GLSL.contains(line), "no {line}"));
    }

    #[test]
    fn arrays_beyond_the_reach_of_kernels_are_refused() {
        assert!(check_words(&[MAX_WORDS * 4, 0]).is_ok());
        assert!(check_words(&[0, (MAX_WORDS + 1) * 4]).is_err());
    }

    #[test]
    fn clearing_processes_slots_and_other_tasks_process_items() {
        let args = Args { count: 10, slots: 30, ..Args::default() };
        let counts = [Task::Label, Task::Unpack, Task::Clear, Task::Insert].map(|task| task.count(&args));
        assert_eq!(counts, [10, 10, 30, 10]);
    }
}
