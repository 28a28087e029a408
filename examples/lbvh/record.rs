//! The whole job as one command buffer: upload, build, picture, secondary rays, download. One submission and one wait.

use crate::bvh::Node;
use crate::camera::View;
use crate::compute::{
    COMPUTE_ALL, COMPUTE_WRITES, COPY_READS, COPY_WRITES, Commands, HOST_READS, Kernels, Stamps, barrier, copy, median,
    words,
};
use crate::gpu::{Buffer, Gpu, Place};
use crate::mesh::Mesh;
use crate::morton::Morton;
use crate::secondary::{self, Secondary};
use crate::tree::Tree;
use anyhow::{Result, ensure};
use ash::vk;
use trommel::{Count, Range, Scratch, SortInfo, Sorter, SorterInfo, ValueType};

/// Invocations of a workgroup of the build kernels.
const WORKGROUP: u32 = 128;
/// Side of a workgroup of the picture kernels, in pixels.
const TILE: u32 = 8;
const HISTOGRAM_BINS: u64 = 1024;
/// Maximum number of primary rays in a dispatch: a fraction of a second on any GPU, so that no watchdog ends it.
const RAYS_A_DISPATCH: u64 = 1 << 22;
/// Timestamps of a build: start, start of the sort, end of the sort, end of the build.
const STAMPS: u32 = 4;

/// The push constants of every kernel. Matches `Args` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Args {
    points: [u32; 2],
    triangles: [u32; 2],
    vertices: [u32; 2],
    codes: [u32; 2],
    ids: [u32; 2],
    bounds: [u32; 2],
    nodes: [u32; 2],
    parents: [u32; 2],
    arrivals: [u32; 2],
    view: [u32; 2],
    picture: [u32; 2],
    heat: [u32; 2],
    visits: [u32; 2],
    histogram: [u32; 2],
    triangle_count: u32,
    first_row: u32,
}

const _: () = assert!(size_of::<Args>() <= 128, "every device has 128 bytes of push constants");

/// The results of a job. Times are missing if the queue has no timestamps.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) tree: Tree,
    pub(crate) picture: Vec<[u8; 4]>,
    pub(crate) heat: Vec<[u8; 4]>,
    pub(crate) sort_ms: Option<f64>,
    /// Milliseconds of the build without the sort.
    pub(crate) build_ms: Option<f64>,
    /// The secondary rays, if requested.
    pub(crate) secondary: Option<secondary::Outcome>,
}

/// The kernels, in the order in which they run.
#[derive(Clone, Copy, Debug)]
enum Kernel {
    Bounds,
    Morton,
    Hierarchy,
    Refit,
    Trace,
    Heat,
}

/// The modules, in the order of [`Kernel`].
const MODULES: [&[u8]; 6] = [
    include_bytes!("spirv/bounds.spv"),
    include_bytes!("spirv/morton.spv"),
    include_bytes!("spirv/hierarchy.spv"),
    include_bytes!("spirv/refit.spv"),
    include_bytes!("spirv/trace.spv"),
    include_bytes!("spirv/heat.spv"),
];

struct Buffers {
    points: Buffer,
    triangles: Buffer,
    vertices: Buffer,
    codes: Buffer,
    ids: Buffer,
    bounds: Buffer,
    nodes: Buffer,
    parents: Buffer,
    arrivals: Buffer,
    view: Buffer,
    picture: Buffer,
    heat: Buffer,
    visits: Buffer,
    histogram: Buffer,
    scratch: Buffer,
}

impl Buffers {
    fn new(gpu: &Gpu, mesh: &Mesh, view: &View, morton: Morton, scratch_size: u64) -> Result<Self> {
        let vertices = mesh.points.len() as u64;
        let triangles = mesh.triangles.len() as u64;
        let pixels = u64::from(view.extent[0]) * u64::from(view.extent[1]);
        let device = |size| gpu.buffer(size, Place::Device);
        Ok(Self {
            points: device(12 * vertices)?,
            triangles: device(12 * triangles)?,
            vertices: device(16 * vertices)?,
            codes: device(morton.size() * triangles)?,
            ids: device(4 * triangles)?,
            bounds: device(24)?,
            nodes: device(32 * (2 * triangles - 1))?,
            parents: device(4 * (2 * triangles - 1))?,
            arrivals: device(4 * triangles)?,
            view: device(size_of::<View>() as u64)?,
            picture: device(4 * pixels)?,
            heat: device(4 * pixels)?,
            visits: device(4 * pixels)?,
            histogram: device(4 * HISTOGRAM_BINS)?,
            scratch: device(scratch_size)?,
        })
    }
}

/// The engine's objects for one job, and the library's sorter.
pub(crate) struct Job<'a> {
    gpu: &'a Gpu,
    mesh: &'a Mesh,
    view: &'a View,
    morton: Morton,
    triangle_count: u32,
    builds: u32,
    commands: Commands<'a>,
    kernels: Kernels<'a>,
    stamps: Stamps<'a>,
    sorter: Sorter,
    buffers: Buffers,
    secondary: Option<Secondary<'a>>,
}

impl<'a> Job<'a> {
    /// Creates a job with `builds` builds of the tree, and as many splits and traversals of the secondary rays.
    pub(crate) fn new(
        gpu: &'a Gpu,
        mesh: &'a Mesh,
        view: &'a View,
        morton: Morton,
        builds: u32,
        rays_a_pixel: u32,
    ) -> Result<Self> {
        let triangle_count = u32::try_from(mesh.triangles.len())?;
        let limit = u64::from(gpu.max_groups) * u64::from(WORKGROUP);
        // Node indices, and byte offsets of nodes of 32 bytes, fit 32 bits.
        let limit = limit.min(1 << 26);
        ensure!(
            u64::from(triangle_count) <= limit,
            "{triangle_count} triangles are more than the {limit} that are supported"
        );
        ensure!(
            mesh.points.len() <= 1 << 28,
            "{} vertices are more than the 2^28 that are supported",
            mesh.points.len()
        );

        let info = SorterInfo { key: morton.key(), value: ValueType::U32, ..SorterInfo::keys() };
        let device = gpu.trommel()?;
        let sorter = Sorter::new(&device, &info)?;
        let buffers = Buffers::new(gpu, mesh, view, morton, sorter.scratch_size(triangle_count)?)?;
        let Buffers { points, triangles, nodes, view: seen, .. } = buffers;
        let scene = secondary::Scene { points, triangles, nodes, view: seen, triangle_count, extent: view.extent };
        let secondary = (rays_a_pixel > 0)
            .then(|| Secondary::new(gpu, &device, morton.bits(), scene, rays_a_pixel, builds))
            .transpose()?;
        Ok(Self {
            gpu,
            mesh,
            view,
            morton,
            triangle_count,
            builds,
            commands: Commands::new(gpu)?,
            // The specialization constant is MORTON_BITS.
            kernels: Kernels::new(gpu, size_of::<Args>(), &MODULES, morton.bits())?,
            stamps: Stamps::new(gpu, STAMPS * builds)?,
            buffers,
            sorter,
            secondary,
        })
    }

    /// Records all commands, submits once, waits once.
    pub(crate) fn run(&self) -> Result<Outcome> {
        let gpu = self.gpu;
        let uploads = [
            (gpu.upload(&self.mesh.points)?, self.buffers.points, size_of_val(&self.mesh.points[..])),
            (gpu.upload(&self.mesh.triangles)?, self.buffers.triangles, size_of_val(&self.mesh.triangles[..])),
            (gpu.upload(&self.mesh.vertices)?, self.buffers.vertices, size_of_val(&self.mesh.vertices[..])),
            (gpu.upload(&[*self.view])?, self.buffers.view, size_of::<View>()),
        ];
        let b = &self.buffers;
        let [nodes, parents, codes, ids, picture, heat] = [b.nodes, b.parents, b.codes, b.ids, b.picture, b.heat]
            .map(|from| gpu.buffer(from.size, Place::Download).map(|to| (from, to)));
        let downloads = [nodes?, parents?, codes?, ids?, picture?, heat?];

        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: all objects are alive until the fence is signaled; every hazard has its barrier.
        unsafe {
            self.stamps.reset(cmd);
            for (from, to, size) in &uploads {
                copy(gpu, cmd, from, to, *size as u64);
            }
            gpu.device.cmd_fill_buffer(cmd, self.buffers.histogram.handle, 0, 4 * HISTOGRAM_BINS, 0);
            if let Some(secondary) = &self.secondary {
                secondary.record_start(cmd);
            }
            for build in 0..self.builds {
                self.record_build(cmd, build)?;
            }
            self.record_picture(cmd);
            if let Some(secondary) = &self.secondary {
                secondary.record(cmd)?;
            }
            barrier(gpu, cmd, COMPUTE_WRITES, COPY_READS);
            for (from, to) in &downloads {
                copy(gpu, cmd, from, to, from.size);
            }
            if let Some(secondary) = &self.secondary {
                secondary.record_downloads(cmd);
            }
            barrier(gpu, cmd, COPY_WRITES, HOST_READS);
            gpu.device.end_command_buffer(cmd)?;
            self.commands.run(cmd)?;
        }

        let [nodes, parents, codes, ids, picture, heat] = downloads.map(|(_, to)| to);
        let triangles = self.mesh.triangles.len();
        let pixels = self.view.extent[0] as usize * self.view.extent[1] as usize;
        let times = self.read_times()?;
        Ok(Outcome {
            tree: Tree {
                morton: self.morton,
                nodes: gpu.read::<Node>(&nodes, 2 * triangles - 1)?,
                parents: gpu.read(&parents, 2 * triangles - 1)?,
                codes: self.read_codes(&codes)?,
                ids: gpu.read(&ids, triangles)?,
            },
            picture: gpu.read(&picture, pixels)?,
            heat: gpu.read(&heat, pixels)?,
            sort_ms: times.map(|[sort, _]| sort),
            build_ms: times.map(|[_, build]| build),
            secondary: self.secondary.as_ref().map(Secondary::read).transpose()?,
        })
    }

    /// Records one build. Its inputs are not modified, so that builds can follow each other.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn record_build(&self, cmd: vk::CommandBuffer, build: u32) -> Result<()> {
        let device = &self.gpu.device;
        let b = &self.buffers;
        let groups = self.triangle_count.div_ceil(WORKGROUP);
        // Not CLEAR: the validation layer (1.3.239) treats fills as copies.
        let clear = (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE);
        // SAFETY: the slot is within the pool, and has been reset.
        let stamp = |slot: u32| unsafe { self.stamps.stamp(cmd, STAMPS * build + slot) };
        // SAFETY: the caller's promise; the ranges are in buffers that live until the fence is signaled.
        unsafe {
            // The bounding box of the centroids starts empty. The preceding build has read the box, and may still write
            // its nodes.
            barrier(self.gpu, cmd, COMPUTE_ALL, clear);
            device.cmd_fill_buffer(cmd, b.bounds.handle, 0, 24, u32::MAX);
            let uploaded = (
                vk::PipelineStageFlags2::ALL_TRANSFER | vk::PipelineStageFlags2::COMPUTE_SHADER,
                vk::AccessFlags2::TRANSFER_WRITE | vk::AccessFlags2::SHADER_STORAGE_WRITE,
            );
            barrier(self.gpu, cmd, uploaded, COMPUTE_ALL);
            stamp(0);
            // A workgroup combines 16 triangles per invocation before it updates the common box.
            self.dispatch(cmd, Kernel::Bounds, [groups.div_ceil(16), 1], 0);
            barrier(self.gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.dispatch(cmd, Kernel::Morton, [groups, 1], 0);
            barrier(self.gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);

            stamp(1);
            let triangles = u64::from(self.triangle_count);
            let sort = SortInfo {
                count: Count::host(self.triangle_count),
                keys: Range::new(b.codes.address, self.morton.size() * triangles),
                values: Range::new(b.ids.address, 4 * triangles),
                scratch: Scratch { buffer: b.scratch.handle, offset: 0, size: b.scratch.size },
                ..SortInfo::default()
            };
            self.sorter.cmd_sort(cmd, &sort)?;
            barrier(self.gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            stamp(2);

            self.dispatch(cmd, Kernel::Hierarchy, [groups, 1], 0);
            barrier(self.gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.dispatch(cmd, Kernel::Refit, [groups, 1], 0);
            barrier(self.gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            stamp(3);
        }
        Ok(())
    }

    /// Records the picture in bands, then the heat map.
    ///
    /// # Safety
    /// The command buffer is recording, and the tree is visible to compute shaders.
    unsafe fn record_picture(&self, cmd: vk::CommandBuffer) {
        let [width, height] = self.view.extent;
        let rays_a_tile_row = u64::from(width) * u64::from(TILE * self.view.samples);
        let tile_rows = u32::try_from((RAYS_A_DISPATCH / rays_a_tile_row).max(1)).unwrap_or(u32::MAX);
        let columns = width.div_ceil(TILE);
        let rows = height.div_ceil(TILE);
        let mut row = 0;
        // SAFETY: the caller's promise.
        unsafe {
            while row < rows {
                let band = tile_rows.min(rows - row);
                self.dispatch(cmd, Kernel::Trace, [columns, band], row * TILE);
                row += band;
            }
            barrier(self.gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.dispatch(cmd, Kernel::Heat, [columns, rows], 0);
        }
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn dispatch(&self, cmd: vk::CommandBuffer, kernel: Kernel, [x, y]: [u32; 2], first_row: u32) {
        let b = &self.buffers;
        let args = Args {
            points: words(&b.points),
            triangles: words(&b.triangles),
            vertices: words(&b.vertices),
            codes: words(&b.codes),
            ids: words(&b.ids),
            bounds: words(&b.bounds),
            nodes: words(&b.nodes),
            parents: words(&b.parents),
            arrivals: words(&b.arrivals),
            view: words(&b.view),
            picture: words(&b.picture),
            heat: words(&b.heat),
            visits: words(&b.visits),
            histogram: words(&b.histogram),
            triangle_count: self.triangle_count,
            first_row,
        };
        // SAFETY: the caller's promise; the constants have the kernels' type.
        unsafe {
            self.kernels.bind(cmd, kernel as usize, &args);
            self.gpu.device.cmd_dispatch(cmd, x, y, 1);
        }
    }

    fn read_codes(&self, codes: &Buffer) -> Result<Vec<u64>> {
        let triangles = self.mesh.triangles.len();
        Ok(match self.morton {
            Morton::Bits30 => self.gpu.read::<u32>(codes, triangles)?.into_iter().map(u64::from).collect(),
            // Codes of 63 bits have their low word first, on hosts of any byte order.
            Morton::Bits63 => self
                .gpu
                .read::<[u32; 2]>(codes, triangles)?
                .into_iter()
                .map(|[low, high]| u64::from(high) << 32 | u64::from(low))
                .collect(),
        })
    }

    /// Returns median milliseconds of the sort and of the rest of the build.
    fn read_times(&self) -> Result<Option<[f64; 2]>> {
        let Some(stamps) = self.stamps.read()? else { return Ok(None) };
        let (builds, _) = stamps.as_chunks::<{ STAMPS as usize }>();
        let sort = median(builds.iter().map(|s| s[2] - s[1]));
        let rest = median(builds.iter().map(|s| s[1] - s[0] + s[3] - s[2]));
        Ok(Some([sort, rest]))
    }
}
