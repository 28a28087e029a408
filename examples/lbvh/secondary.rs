//! Secondary rays start at the surfaces that the picture shows. They are split by the octants of their directions, and
//! are traced in both orders.
//!
//! The split moves only the indices of the rays, four bytes each. It reads the keys in place, in the rays. Moving rays
//! would write 32 bytes instead of four, and hits would have to be moved back to the rays' own indices. Fetching a ray
//! by its index costs one sector of a cache line, which is as long as a ray, once. A traversal fetches hundreds of
//! nodes, and grouping lets neighboring rays fetch the same nodes. The split is stable, so that the rays of an octant
//! are fetched in ascending order, too.

use crate::compute::{COMPUTE_ALL, COMPUTE_WRITES, Kernels, Scope, Stamps, barrier, copy, median, words};
use crate::gpu::{Buffer, Gpu, Place};
use crate::mesh::Vec3;
use anyhow::{Result, ensure};
use ash::vk;
use trommel::{BucketFunction, Count, KeyType, Layout, Range, Scratch, SplitInfo, Splitter, SplitterInfo, ValueType};

/// One bucket for each combination of three signs.
pub(crate) const OCTANTS: usize = 8;
/// Maximum number of rays: one dispatch over them takes no longer than one over a band of the picture.
pub(crate) const MOST_RAYS: u64 = 1 << 23;
/// Side of a workgroup of `bounce`, in pixels.
const TILE: u32 = 8;
/// Timestamps of a run: start, after the split, after the traversal in the rays' own order, after the traversal by
/// octants.
const STAMPS: u32 = 4;
/// Destination scope: rays and indirect arguments are read.
const RAYS_READ: Scope = (
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags2::DRAW_INDIRECT.as_raw(),
    ),
    vk::AccessFlags2::from_raw(COMPUTE_ALL.1.as_raw() | vk::AccessFlags2::INDIRECT_COMMAND_READ.as_raw()),
);
/// Source scope: uploads of the host and writes of kernels.
const RAYS_WRITTEN: Scope = (
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags2::ALL_TRANSFER.as_raw(),
    ),
    vk::AccessFlags2::from_raw(COMPUTE_WRITES.1.as_raw() | vk::AccessFlags2::TRANSFER_WRITE.as_raw()),
);

/// The push constants of both kernels. Matches `Args` in glsl/rays.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Args {
    points: [u32; 2],
    triangles: [u32; 2],
    nodes: [u32; 2],
    view: [u32; 2],
    rays: [u32; 2],
    list: [u32; 2],
    order: [u32; 2],
    found: [u32; 2],
    triangle_count: u32,
    rays_a_pixel: u32,
}

/// Matches `List` in glsl/rays.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct List {
    groups: [u32; 3],
    count: u32,
}

/// Matches `Ray` in glsl/rays.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Ray {
    pub(crate) origin: Vec3,
    pub(crate) pixel: u32,
    pub(crate) direction: Vec3,
    pub(crate) reach: f32,
}

/// The first hit of a ray. Matches `Found` in glsl/rays.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Found {
    pub(crate) t: f32,
    /// [`crate::bvh::NONE`] if the ray hits nothing.
    pub(crate) triangle: u32,
}

/// The scene and the view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene {
    pub(crate) points: Buffer,
    pub(crate) triangles: Buffer,
    pub(crate) nodes: Buffer,
    pub(crate) view: Buffer,
    pub(crate) triangle_count: u32,
    /// Size of the picture, in pixels.
    pub(crate) extent: [u32; 2],
}

/// The results, in the rays' own order.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) rays: Vec<Ray>,
    /// The permutation that groups the rays.
    pub(crate) order: Vec<u32>,
    /// The start of each octant in the permutation, and the end of the last one.
    pub(crate) offsets: Vec<u32>,
    /// The hits of both traversals: in the rays' own order, and by octants.
    pub(crate) found: [Vec<Found>; 2],
    /// Missing if the queue has no timestamps.
    pub(crate) times: Option<Times>,
}

/// Milliseconds, medians over all timed runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) split: f64,
    pub(crate) as_they_lie: f64,
    pub(crate) by_octants: f64,
}

impl Times {
    /// The relative change of the traversal time by octants; negative: it is faster.
    pub(crate) fn change(&self) -> Option<f64> {
        self.change_to(self.by_octants)
    }

    /// The relative change including the time of the split, which is the total cost for a caller.
    pub(crate) fn change_with_split(&self) -> Option<f64> {
        self.change_to(self.split + self.by_octants)
    }

    fn change_to(&self, ms: f64) -> Option<f64> {
        (self.as_they_lie > 0.0).then(|| ms / self.as_they_lie - 1.0)
    }
}

#[derive(Clone, Copy, Debug)]
enum Kernel {
    Bounce,
    Follow,
}

/// The modules, in the order of [`Kernel`].
const MODULES: [&[u8]; 2] = [include_bytes!("spirv/bounce.spv"), include_bytes!("spirv/follow.spv")];

#[derive(Clone, Copy, Debug)]
enum Order {
    AsTheyLie,
    ByOctants,
}

struct Buffers {
    rays: Buffer,
    list: Buffer,
    order: Buffer,
    offsets: Buffer,
    /// In the order of [`Order`].
    found: [Buffer; 2],
    scratch: Buffer,
}

impl Buffers {
    /// The buffers that the host reads back.
    fn results(&self) -> [Buffer; 6] {
        [self.list, self.rays, self.order, self.offsets, self.found[0], self.found[1]]
    }
}

/// The library's splitter, and the engine's objects around it.
pub(crate) struct Secondary<'a> {
    gpu: &'a Gpu,
    scene: Scene,
    rays_a_pixel: u32,
    /// Number of runs; the first one is not timed.
    turns: u32,
    /// Maximum number of rays.
    capacity: u32,
    kernels: Kernels<'a>,
    stamps: Stamps<'a>,
    splitter: Splitter,
    buffers: Buffers,
    empty_list: Buffer,
    downloads: [Buffer; 6],
}

impl<'a> Secondary<'a> {
    /// Creates the objects for `turns` timed runs of split and traversals. One more run comes first without timestamps,
    /// because some drivers compile at the first execution. `constant`: the specialization constant of the kernels.
    pub(crate) fn new(
        gpu: &'a Gpu,
        device: &trommel::Device,
        constant: u32,
        scene: Scene,
        rays_a_pixel: u32,
        turns: u32,
    ) -> Result<Self> {
        let rays = scene.extent.map(u64::from).iter().product::<u64>() * u64::from(rays_a_pixel);
        ensure!(rays <= MOST_RAYS, "up to {rays} secondary rays are more than the {MOST_RAYS} that are supported");
        let capacity = u32::try_from(rays)?;
        let octants = SplitterInfo::keys(1 << 3, BucketFunction::Signs);
        let splitter = Splitter::new(
            device,
            &SplitterInfo {
                key: KeyType::U32x3,
                value: ValueType::Index,
                drop_keys: true,
                layout: Layout::Strided,
                max_count: capacity,
                ..octants
            },
        )?;
        let buffer = |size| gpu.buffer(size, Place::Device);
        let buffers = Buffers {
            rays: buffer(size_of::<Ray>() as u64 * rays)?,
            list: buffer(size_of::<List>() as u64)?,
            order: buffer(4 * rays)?,
            offsets: buffer(4 * (OCTANTS as u64 + 1))?,
            found: [buffer(size_of::<Found>() as u64 * rays)?, buffer(size_of::<Found>() as u64 * rays)?],
            scratch: buffer(splitter.scratch_size(capacity)?)?,
        };
        let [list, rays, order, offsets, as_they_lie, by_octants] =
            buffers.results().map(|from| gpu.buffer(from.size, Place::Download));
        Ok(Self {
            gpu,
            scene,
            rays_a_pixel,
            turns: turns + 1,
            capacity,
            kernels: Kernels::new(gpu, size_of::<Args>(), &MODULES, constant)?,
            stamps: Stamps::new(gpu, STAMPS * (turns + 1))?,
            splitter,
            buffers,
            empty_list: gpu.upload(&[List { groups: [0, 0, 1], count: 0 }])?,
            downloads: [list?, rays?, order?, offsets?, as_they_lie?, by_octants?],
        })
    }

    /// Records the initialization. The caller records a barrier from it to compute shaders.
    ///
    /// # Safety
    /// The command buffer is recording.
    pub(crate) unsafe fn record_start(&self, cmd: vk::CommandBuffer) {
        let [as_they_lie, by_octants] = self.buffers.found;
        // SAFETY: the caller's promise.
        unsafe {
            self.stamps.reset(cmd);
            copy(self.gpu, cmd, &self.empty_list, &self.buffers.list, size_of::<List>() as u64);
            // Memory that is not written must not look like equal results: the two buffers have different contents.
            self.gpu.device.cmd_fill_buffer(cmd, as_they_lie.handle, 0, as_they_lie.size, 0);
            self.gpu.device.cmd_fill_buffer(cmd, by_octants.handle, 0, by_octants.size, u32::MAX);
        }
    }

    /// Records the generation of the rays, and all runs.
    ///
    /// # Safety
    /// The command buffer is recording, and tree and view are visible to compute shaders.
    pub(crate) unsafe fn record(&self, cmd: vk::CommandBuffer) -> Result<()> {
        let gpu = self.gpu;
        let [columns, rows] = self.scene.extent.map(|side| side.div_ceil(TILE));
        // SAFETY: the caller's promise; the slots are as many as there are stamps.
        unsafe {
            self.bind(cmd, Kernel::Bounce, Order::AsTheyLie);
            gpu.device.cmd_dispatch(cmd, columns, rows, 1);
            barrier(gpu, cmd, RAYS_WRITTEN, RAYS_READ);
            for turn in 0..self.turns {
                self.stamps.stamp(cmd, STAMPS * turn);
                self.record_split(cmd)?;
                barrier(gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
                for (slot, order) in (1..).zip([Order::AsTheyLie, Order::ByOctants]) {
                    self.stamps.stamp(cmd, STAMPS * turn + slot);
                    self.bind(cmd, Kernel::Follow, order);
                    gpu.device.cmd_dispatch_indirect(
                        cmd,
                        self.buffers.list.handle,
                        std::mem::offset_of!(List, groups) as u64,
                    );
                    barrier(gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
                }
                self.stamps.stamp(cmd, STAMPS * turn + 3);
            }
        }
        Ok(())
    }

    /// # Safety
    /// The command buffer is recording, and the rays are visible to compute shaders.
    unsafe fn record_split(&self, cmd: vk::CommandBuffer) -> Result<()> {
        let Buffers { rays, list, order, offsets, scratch, .. } = &self.buffers;
        let direction = std::mem::offset_of!(Ray, direction) as u64;
        let capacity = u64::from(self.capacity);
        let split = SplitInfo {
            count: Count::device(list.address + std::mem::offset_of!(List, count) as u64, self.capacity),
            // The key of the last ray ends before the ray does.
            keys: Range::new(rays.address + direction, size_of::<Ray>() as u64 * capacity - direction),
            key_stride: u32::try_from(size_of::<Ray>())?,
            values_out: Range::new(order.address, 4 * capacity),
            offsets: Range::new(offsets.address, 4 * (OCTANTS as u64 + 1)),
            scratch: Scratch { buffer: scratch.handle, offset: 0, size: scratch.size },
            ..SplitInfo::default()
        };
        // SAFETY: the caller's promise; the ranges are in buffers that live as long as the device.
        unsafe { Ok(self.splitter.cmd_split(cmd, &split)?) }
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn bind(&self, cmd: vk::CommandBuffer, kernel: Kernel, order: Order) {
        let (scene, b) = (&self.scene, &self.buffers);
        let args = Args {
            points: words(&scene.points),
            triangles: words(&scene.triangles),
            nodes: words(&scene.nodes),
            view: words(&scene.view),
            rays: words(&b.rays),
            list: words(&b.list),
            order: match order {
                Order::AsTheyLie => [0; 2],
                Order::ByOctants => words(&b.order),
            },
            found: words(&b.found[order as usize]),
            triangle_count: scene.triangle_count,
            rays_a_pixel: self.rays_a_pixel,
        };
        // SAFETY: the caller's promise; the constants have the kernels' type.
        unsafe { self.kernels.bind(cmd, kernel as usize, &args) };
    }

    /// Records the downloads. The caller records the barriers before and after.
    ///
    /// # Safety
    /// The command buffer is recording.
    pub(crate) unsafe fn record_downloads(&self, cmd: vk::CommandBuffer) {
        for (from, to) in self.buffers.results().iter().zip(&self.downloads) {
            // SAFETY: the caller's promise; the buffers have equal sizes.
            unsafe { copy(self.gpu, cmd, from, to, from.size) };
        }
    }

    /// Reads the results, after the commands have completed.
    pub(crate) fn read(&self) -> Result<Outcome> {
        let gpu = self.gpu;
        let [list, rays, order, offsets, as_they_lie, by_octants] = &self.downloads;
        let count = gpu.read::<List>(list, 1)?[0].count;
        ensure!(
            count <= self.capacity,
            "{count} secondary rays are more than {} pixels have",
            self.capacity / self.rays_a_pixel
        );
        let count = count as usize;
        Ok(Outcome {
            rays: gpu.read(rays, count)?,
            order: gpu.read(order, count)?,
            offsets: gpu.read(offsets, OCTANTS + 1)?,
            found: [gpu.read(as_they_lie, count)?, gpu.read(by_octants, count)?],
            times: self.read_times()?,
        })
    }

    fn read_times(&self) -> Result<Option<Times>> {
        let Some(stamps) = self.stamps.read()? else { return Ok(None) };
        let (turns, _) = stamps.as_chunks::<{ STAMPS as usize }>();
        let between = |slot: usize| median(turns.iter().skip(1).map(|s| s[slot + 1] - s[slot]));
        Ok(Some(Times { split: between(0), as_they_lie: between(1), by_octants: between(2) }))
    }
}
