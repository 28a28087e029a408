//! The frames on the GPU. All frames of a measurement are one command buffer.
//!
//! An item is a Morton code and the id of its box. A frame has three parts:
//!
//! 1. The application moves some boxes and lists their ids.
//! 2. The full sort: codes of all boxes, sort, tree.
//! 3. The update: codes and marks of the changed boxes, sort of their items (the delta), merge with the items of the
//!    preceding frame (the base), tree. The merge drops the marked items of the base. Its result is the base of the
//!    next frame.
//!
//! Both ways sort the same items, and write the same tree buffers. The tree of the update is the one that remains.

use crate::buffers::{Buffers, Downloads, Items, Snapshot};
use crate::bvh::Corners;
use crate::compute::{COMPUTE_ALL, COMPUTE_WRITES, Commands, Kernels, Scope, Stamps, barrier, copy, words};
use crate::gpu::{Buffer, Gpu};
use crate::times::{STAMPS, Ways};
use anyhow::{Result, ensure};
use ash::vk;
use trommel::{Count, MergeInfo, MergeOperation, Merger, MergerInfo, Range, Scratch, SortInfo, Sorter, SorterInfo};

/// Invocations of a workgroup of all kernels.
const WORKGROUP: u32 = 128;
/// The width of codes: the value of the specialization constant `MORTON_BITS`.
const MORTON_BITS: u32 = 30;
/// Target scope of the barrier before an update, which begins with a transfer to scratch.
const UPDATE_BEGINS: Scope = (
    vk::PipelineStageFlags2::from_raw(COMPUTE_ALL.0.as_raw() | vk::PipelineStageFlags2::ALL_TRANSFER.as_raw()),
    vk::AccessFlags2::from_raw(COMPUTE_ALL.1.as_raw() | vk::AccessFlags2::TRANSFER_WRITE.as_raw()),
);

/// The push constants of every kernel. Matches `Args` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Args {
    boxes: [u32; 2],
    changed: [u32; 2],
    codes: [u32; 2],
    ids: [u32; 2],
    marks: [u32; 2],
    nodes: [u32; 2],
    parents: [u32; 2],
    arrivals: [u32; 2],
    box_count: u32,
    count: u32,
    first: u32,
    frame: u32,
}

const _: () = assert!(size_of::<Args>() <= 128, "every device has 128 bytes of push constants");

#[derive(Clone, Copy, Debug)]
enum Kernel {
    Move,
    Codes,
    Hierarchy,
    Refit,
}

/// The modules, in the order of [`Kernel`].
const MODULES: [&[u8]; 4] = [
    include_bytes!("spirv/move.spv"),
    include_bytes!("spirv/codes.spv"),
    include_bytes!("spirv/hierarchy.spv"),
    include_bytes!("spirv/refit.spv"),
];

/// The engine's objects, and the library's sorter and merger.
pub(crate) struct World<'a> {
    gpu: &'a Gpu,
    box_count: u32,
    most_changed: u32,
    /// Number of frames so far.
    frame: u32,
    /// The first box that changes in the next frame.
    first: u32,
    commands: Commands<'a>,
    kernels: Kernels<'a>,
    sorter: Sorter,
    merger: Merger,
    buffers: Buffers,
    downloads: Downloads,
}

impl<'a> World<'a> {
    /// Creates a world of the given boxes and sorts them, as the base of the first frame. At most `most_changed` of
    /// them change in a frame.
    pub(crate) fn new(gpu: &'a Gpu, boxes: &[Corners], most_changed: u32) -> Result<Self> {
        let box_count = u32::try_from(boxes.len())?;
        let limit = u64::from(gpu.max_groups) * u64::from(WORKGROUP);
        // Byte offsets of nodes of 32 bytes fit 32 bits.
        let limit = limit.min(1 << 26);
        ensure!(u64::from(box_count) <= limit, "{box_count} boxes are more than the {limit} that are supported");

        let device = gpu.trommel()?;
        let sorter = Sorter::new(&device, &SorterInfo::pairs())?;
        let merger = Merger::new(&device, &MergerInfo::pairs().operation(MergeOperation::UpdateByValue))?;
        // Sorts and merges follow each other and share scratch.
        let scratch_size = sorter.scratch_size(box_count)?.max(merger.scratch_size(box_count + most_changed)?);
        let buffers = Buffers::new(gpu, box_count, most_changed, scratch_size)?;
        let world = Self {
            gpu,
            box_count,
            most_changed,
            frame: 0,
            first: 0,
            commands: Commands::new(gpu)?,
            kernels: Kernels::new(gpu, size_of::<Args>(), &MODULES, MORTON_BITS)?,
            sorter,
            merger,
            downloads: Downloads::new(gpu, box_count, &buffers)?,
            buffers,
        };
        world.sort_base(boxes)?;
        Ok(world)
    }

    fn sort_base(&self, boxes: &[Corners]) -> Result<()> {
        let (gpu, b) = (self.gpu, &self.buffers);
        let upload = gpu.upload(boxes)?;
        let uploaded = (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE);
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: all objects are alive until the fence is signaled; every hazard has its barrier.
        unsafe {
            copy(gpu, cmd, &upload, &b.boxes, size_of_val(boxes) as u64);
            gpu.device.cmd_fill_buffer(cmd, b.marks.handle, 0, vk::WHOLE_SIZE, 0);
            barrier(gpu, cmd, uploaded, COMPUTE_ALL);
            self.encode_all(cmd, &b.bases[0]);
            barrier(gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.sort(cmd, &b.bases[0], self.box_count)?;
            gpu.device.end_command_buffer(cmd)?;
            self.commands.run(cmd)
        }
    }

    /// Runs frames in which `changed` boxes move. Returns median times, if the queue has timestamps.
    pub(crate) fn run(&mut self, changed: u32, frames: u32) -> Result<Option<Ways>> {
        ensure!(changed <= self.most_changed, "{changed} boxes are more than {} that may change", self.most_changed);
        let stamps = Stamps::new(self.gpu, STAMPS * frames)?;
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: all objects are alive until the fence is signaled; every hazard has its barrier.
        unsafe {
            stamps.reset(cmd);
            // The preceding submission has written boxes and items.
            barrier(self.gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            for frame in 0..frames {
                self.record_frame(cmd, changed, &stamps, STAMPS * frame)?;
                self.frame += 1;
                self.first = (self.first + changed) % self.box_count;
            }
            self.gpu.device.end_command_buffer(cmd)?;
            self.commands.run(cmd)?;
        }
        Ok(stamps.read()?.map(|stamps| Ways::from_stamps(&stamps)))
    }

    /// Records a frame, with a barrier and a timestamp after each step. Timestamps begin at `slot`.
    ///
    /// # Safety
    /// The command buffer is recording, the slots have been reset, and earlier writes are visible to compute shaders.
    unsafe fn record_frame(
        &self,
        cmd: vk::CommandBuffer,
        changed: u32,
        stamps: &Stamps<'_>,
        mut slot: u32,
    ) -> Result<()> {
        let b = &self.buffers;
        let [base, updated] = self.bases();
        let mut end_step = |next: Scope| {
            // SAFETY: the caller's promise.
            unsafe {
                barrier(self.gpu, cmd, COMPUTE_WRITES, next);
                stamps.stamp(cmd, slot);
            }
            slot += 1;
        };
        // SAFETY: the caller's promise; the ranges are in buffers that live until the fence is signaled.
        unsafe {
            self.dispatch(cmd, Kernel::Move, Args { count: changed, ..self.args(&b.delta) });
            end_step(COMPUTE_ALL);

            self.encode_all(cmd, &b.all);
            end_step(COMPUTE_ALL);
            self.sort(cmd, &b.all, self.box_count)?;
            end_step(COMPUTE_ALL);
            self.build_tree(cmd, &b.all);
            end_step(COMPUTE_ALL);

            self.dispatch(cmd, Kernel::Codes, Args { count: changed, ..self.args(&b.delta) });
            end_step(COMPUTE_ALL);
            self.sort(cmd, &b.delta, changed)?;
            end_step(UPDATE_BEGINS);
            self.update(cmd, base, changed, updated)?;
            end_step(COMPUTE_ALL);
            self.build_tree(cmd, updated);
            end_step(COMPUTE_ALL);
        }
        Ok(())
    }

    /// Returns the base of the next frame, and the items that its update will write.
    fn bases(&self) -> [&Items; 2] {
        let [even, odd] = &self.buffers.bases;
        if self.frame.is_multiple_of(2) { [even, odd] } else { [odd, even] }
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn encode_all(&self, cmd: vk::CommandBuffer, items: &Items) {
        // SAFETY: the caller's promise.
        unsafe { self.dispatch(cmd, Kernel::Codes, Args { changed: [0; 2], ..self.args(items) }) };
    }

    /// Sorts the first `count` items in place.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn sort(&self, cmd: vk::CommandBuffer, items: &Items, count: u32) -> Result<()> {
        let [keys, values] = items.ranges(count);
        let count = Count::host(count);
        let info = SortInfo { count, keys, values, scratch: self.scratch(), ..SortInfo::default() };
        // SAFETY: the caller's promise; the ranges are in buffers that live until the fence is signaled.
        unsafe { self.sorter.cmd_sort(cmd, &info)? };
        Ok(())
    }

    /// Merges the base, without its marked items, with the sorted delta.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn update(&self, cmd: vk::CommandBuffer, base: &Items, changed: u32, updated: &Items) -> Result<()> {
        let [keys_a, values_a] = base.ranges(self.box_count);
        let [keys_b, values_b] = self.buffers.delta.ranges(changed);
        let [keys_out, values_out] = updated.ranges(self.box_count + changed);
        let info = MergeInfo {
            count_a: Count::host(self.box_count),
            count_b: Count::host(changed),
            keys_a,
            values_a,
            keys_b,
            values_b,
            keys_out,
            values_out,
            marks: Range::new(self.buffers.marks.address, 4 * u64::from(self.box_count.div_ceil(32))),
            count_out: self.buffers.item_count.address,
            scratch: self.scratch(),
            ..MergeInfo::default()
        };
        // SAFETY: the caller's promise; the ranges are in buffers that live until the fence is signaled.
        unsafe { self.merger.cmd_merge(cmd, &info)? };
        Ok(())
    }

    fn scratch(&self) -> Scratch {
        let Buffer { handle, size, .. } = self.buffers.scratch;
        Scratch { buffer: handle, offset: 0, size }
    }

    /// Builds the tree over sorted items.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn build_tree(&self, cmd: vk::CommandBuffer, items: &Items) {
        let args = self.args(items);
        // SAFETY: the caller's promise.
        unsafe {
            self.dispatch(cmd, Kernel::Hierarchy, args);
            barrier(self.gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.dispatch(cmd, Kernel::Refit, args);
        }
    }

    /// Returns the push constants of a kernel that takes all boxes.
    fn args(&self, items: &Items) -> Args {
        let b = &self.buffers;
        Args {
            boxes: words(&b.boxes),
            changed: words(&b.changed),
            codes: words(&items.codes),
            ids: words(&items.ids),
            marks: words(&b.marks),
            nodes: words(&b.nodes),
            parents: words(&b.parents),
            arrivals: words(&b.arrivals),
            box_count: self.box_count,
            count: self.box_count,
            first: self.first,
            frame: self.frame,
        }
    }

    /// Dispatches an invocation for each of `args.count` items.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn dispatch(&self, cmd: vk::CommandBuffer, kernel: Kernel, args: Args) {
        // SAFETY: the caller's promise; the constants have the kernels' type.
        unsafe {
            self.kernels.bind(cmd, kernel as usize, &args);
            self.gpu.device.cmd_dispatch(cmd, args.count.div_ceil(WORKGROUP), 1, 1);
        }
    }

    /// Downloads the state after the last frame.
    pub(crate) fn download(&self) -> Result<Snapshot> {
        // The result of the last update is the base of the next one.
        let [updated, _] = self.bases();
        self.downloads.run(self.gpu, &self.commands, &self.buffers, updated)
    }
}
