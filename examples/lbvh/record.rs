//! The whole job as one command buffer: upload, build, picture, download; one submission and one wait.

use crate::camera::View;
use crate::gpu::{Buffer, Gpu, Place};
use crate::mesh::Mesh;
use crate::morton::Morton;
use crate::tree::{Node, Tree};
use anyhow::{Context as _, Result, ensure};
use ash::vk;
use trommel::{Count, Range, Scratch, SortInfo, Sorter, SorterInfo, ValueType};

/// Invocations of a workgroup of the building kernels.
const WORKGROUP: u32 = 128;
/// Side of a workgroup of the picture's kernels, in pixels.
const TILE: u32 = 8;
const HISTOGRAM_BINS: u64 = 1024;
/// Rays from the eye that one dispatch traces at most: a fraction of a second on any GPU, so that no watchdog bites.
const RAYS_A_DISPATCH: u64 = 1 << 22;
/// Timestamps a build: start, sort begins, sort has ended, tree done.
const STAMPS: u32 = 4;

/// The push constants of every kernel; the twin of `Args` in glsl/args.glsl.
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

/// An address as the two words that the kernels take.
fn words(buffer: &Buffer) -> [u32; 2] {
    bytemuck::cast(buffer.address)
}

/// What came of it. Times are missing where the queue has no timestamps.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) tree: Tree,
    pub(crate) picture: Vec<[u8; 4]>,
    pub(crate) heat: Vec<[u8; 4]>,
    pub(crate) sort_ms: Option<f64>,
    /// All of the build but the sort.
    pub(crate) build_ms: Option<f64>,
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

/// Their modules, in the order of [`Kernel`].
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
    sorter: Sorter,
    buffers: Buffers,
    layout: vk::PipelineLayout,
    pipelines: Vec<vk::Pipeline>,
    pool: vk::CommandPool,
    queries: vk::QueryPool,
    fence: vk::Fence,
}

impl<'a> Job<'a> {
    pub(crate) fn new(gpu: &'a Gpu, mesh: &'a Mesh, view: &'a View, morton: Morton) -> Result<Self> {
        let triangle_count = u32::try_from(mesh.triangles.len())?;
        let limit = u64::from(gpu.max_groups) * u64::from(WORKGROUP);
        // Node indices and byte offsets of 32-byte nodes stay within 32 bits.
        let limit = limit.min(1 << 26);
        ensure!(u64::from(triangle_count) <= limit, "{triangle_count} triangles are more than the {limit} that are supported");
        ensure!(mesh.points.len() <= 1 << 28, "{} vertices are more than the 2^28 that are supported", mesh.points.len());

        let info = SorterInfo { key: morton.key(), value: ValueType::U32, ..SorterInfo::keys() };
        let sorter = Sorter::new(&gpu.trommel()?, &info)?;
        let buffers = Buffers::new(gpu, mesh, view, morton, sorter.scratch_size(triangle_count)?)?;
        let mut job = Self {
            gpu,
            mesh,
            view,
            morton,
            triangle_count,
            sorter,
            buffers,
            layout: vk::PipelineLayout::null(),
            pipelines: Vec::new(),
            pool: vk::CommandPool::null(),
            queries: vk::QueryPool::null(),
            fence: vk::Fence::null(),
        };
        job.create_objects()?;
        Ok(job)
    }

    fn create_objects(&mut self) -> Result<()> {
        let device = &self.gpu.device;
        let push = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: u32::try_from(size_of::<Args>())?,
        }];
        let layout = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        let pool = vk::CommandPoolCreateInfo::default()
            .queue_family_index(self.gpu.queue_family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the device is alive; each object is kept at once, and destroyed by `drop`.
        unsafe {
            self.layout = device.create_pipeline_layout(&layout, None)?;
            for module in MODULES {
                self.pipelines.push(create_pipeline(device, self.layout, self.morton, module)?);
            }
            self.pool = device.create_command_pool(&pool, None)?;
            self.fence = device.create_fence(&vk::FenceCreateInfo::default(), None)?;
        }
        Ok(())
    }

    /// Records everything, submits once, waits once.
    pub(crate) fn run(&mut self, builds: u32) -> Result<Outcome> {
        let gpu = self.gpu;
        let device = &gpu.device;
        let timed = gpu.timestamp_bits > 0;
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
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);

        // SAFETY: all objects are alive until the fence has been waited for; every hazard has its barrier.
        unsafe {
            let cmd = device.allocate_command_buffers(&info)?[0];
            device.begin_command_buffer(cmd, &begin)?;
            if timed {
                let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(STAMPS * builds);
                self.queries = device.create_query_pool(&info, None)?;
                device.cmd_reset_query_pool(cmd, self.queries, 0, STAMPS * builds);
            }
            for (from, to, size) in &uploads {
                let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: *size as u64 }];
                device.cmd_copy_buffer(cmd, from.handle, to.handle, &region);
            }
            device.cmd_fill_buffer(cmd, self.buffers.histogram.handle, 0, 4 * HISTOGRAM_BINS, 0);
            for build in 0..builds {
                self.record_build(cmd, build, timed)?;
            }
            self.record_picture(cmd);
            self.barrier(cmd, COMPUTE_WRITES, (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_READ));
            for (from, to) in &downloads {
                let region = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: from.size }];
                device.cmd_copy_buffer(cmd, from.handle, to.handle, &region);
            }
            self.barrier(
                cmd,
                (vk::PipelineStageFlags2::COPY, vk::AccessFlags2::TRANSFER_WRITE),
                (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ),
            );
            device.end_command_buffer(cmd)?;

            let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(cmd)];
            let submit = [vk::SubmitInfo2::default().command_buffer_infos(&commands)];
            device.queue_submit2(gpu.queue, &submit, self.fence)?;
            device.wait_for_fences(&[self.fence], true, u64::MAX).context("the device did not finish")?;
        }

        let [nodes, parents, codes, ids, picture, heat] = downloads.map(|(_, to)| to);
        let triangles = self.mesh.triangles.len();
        let pixels = self.view.extent[0] as usize * self.view.extent[1] as usize;
        let times = if timed { Some(self.read_times(builds)?) } else { None };
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
        })
    }

    /// One build. Its inputs are left as they are, so that builds can follow each other.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn record_build(&self, cmd: vk::CommandBuffer, build: u32, timed: bool) -> Result<()> {
        let device = &self.gpu.device;
        let b = &self.buffers;
        let groups = self.triangle_count.div_ceil(WORKGROUP);
        // Not CLEAR: the layer (1.3.239) takes fills for copies.
        let clear = (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE);
        let stamp = |slot: u32| {
            if timed {
                let stage = vk::PipelineStageFlags2::COMPUTE_SHADER;
                // SAFETY: the slot is within the pool, and was reset.
                unsafe { device.cmd_write_timestamp2(cmd, stage, self.queries, STAMPS * build + slot) };
            }
        };
        // SAFETY: the caller's promise; the ranges lie in buffers that live until the fence.
        unsafe {
            // The box of the centroids starts as the empty one. The build before has read it, and its nodes may still be written.
            self.barrier(cmd, COMPUTE_ALL, clear);
            device.cmd_fill_buffer(cmd, b.bounds.handle, 0, 24, u32::MAX);
            let uploaded = (
                vk::PipelineStageFlags2::ALL_TRANSFER | vk::PipelineStageFlags2::COMPUTE_SHADER,
                vk::AccessFlags2::TRANSFER_WRITE | vk::AccessFlags2::SHADER_STORAGE_WRITE,
            );
            self.barrier(cmd, uploaded, COMPUTE_ALL);
            stamp(0);
            // A workgroup gathers 16 triangles an invocation before it touches the common box.
            self.dispatch(cmd, Kernel::Bounds, [groups.div_ceil(16), 1], 0);
            self.barrier(cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.dispatch(cmd, Kernel::Morton, [groups, 1], 0);
            self.barrier(cmd, COMPUTE_WRITES, COMPUTE_ALL);

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
            self.barrier(cmd, COMPUTE_WRITES, COMPUTE_ALL);
            stamp(2);

            self.dispatch(cmd, Kernel::Hierarchy, [groups, 1], 0);
            self.barrier(cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.dispatch(cmd, Kernel::Refit, [groups, 1], 0);
            self.barrier(cmd, COMPUTE_WRITES, COMPUTE_ALL);
            stamp(3);
        }
        Ok(())
    }

    /// The picture in bands, then the heat map.
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
            self.barrier(cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.dispatch(cmd, Kernel::Heat, [columns, rows], 0);
        }
    }

    /// Binds and pushes everything anew: a sort leaves a pipeline and push constants of its own behind.
    ///
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
        let device = &self.gpu.device;
        // SAFETY: the pipelines share the layout, whose push constants are `Args`.
        unsafe {
            device.cmd_bind_pipeline(cmd, vk::PipelineBindPoint::COMPUTE, self.pipelines[kernel as usize]);
            device.cmd_push_constants(cmd, self.layout, vk::ShaderStageFlags::COMPUTE, 0, bytemuck::bytes_of(&args));
            device.cmd_dispatch(cmd, x, y, 1);
        }
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn barrier(&self, cmd: vk::CommandBuffer, from: Scope, to: Scope) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(from.0)
            .src_access_mask(from.1)
            .dst_stage_mask(to.0)
            .dst_access_mask(to.1)];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: the caller's promise.
        unsafe { self.gpu.device.cmd_pipeline_barrier2(cmd, &info) };
    }

    fn read_codes(&self, codes: &Buffer) -> Result<Vec<u64>> {
        let triangles = self.mesh.triangles.len();
        Ok(match self.morton {
            Morton::Bits30 => self.gpu.read::<u32>(codes, triangles)?.into_iter().map(u64::from).collect(),
            // Low word first, however the host has its own.
            Morton::Bits63 => self
                .gpu
                .read::<[u32; 2]>(codes, triangles)?
                .into_iter()
                .map(|[low, high]| u64::from(high) << 32 | u64::from(low))
                .collect(),
        })
    }

    /// Median milliseconds of the sort, and of the rest of the build.
    fn read_times(&self, builds: u32) -> Result<[f64; 2]> {
        let mut stamps = vec![0u64; (STAMPS * builds) as usize];
        // SAFETY: every query was written by commands that have completed.
        unsafe {
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            self.gpu.device.get_query_pool_results(self.queries, 0, &mut stamps, flags)?;
        }
        // Timestamps wrap at their valid bits.
        let mask = u64::MAX >> (64 - self.gpu.timestamp_bits.min(64));
        let ms = |from: u64, to: u64| (to.wrapping_sub(from) & mask) as f64 * self.gpu.timestamp_period_ns / 1e6;
        let (builds, _) = stamps.as_chunks::<{ STAMPS as usize }>();
        let sort = median(builds.iter().map(|s| ms(s[1], s[2])));
        let rest = median(builds.iter().map(|s| ms(s[0], s[1]) + ms(s[2], s[3])));
        Ok([sort, rest])
    }
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: the objects are this job's own; after the wait nothing uses them. An idle wait that fails means that the
        // device is lost, and then nothing runs either.
        unsafe {
            let _ = device.device_wait_idle();
            device.destroy_fence(self.fence, None);
            device.destroy_query_pool(self.queries, None);
            device.destroy_command_pool(self.pool, None);
            for pipeline in &self.pipelines {
                device.destroy_pipeline(*pipeline, None);
            }
            device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

type Scope = (vk::PipelineStageFlags2, vk::AccessFlags2);

const COMPUTE_WRITES: Scope = (vk::PipelineStageFlags2::COMPUTE_SHADER, vk::AccessFlags2::SHADER_STORAGE_WRITE);
const COMPUTE_ALL: Scope = (
    vk::PipelineStageFlags2::COMPUTE_SHADER,
    vk::AccessFlags2::from_raw(vk::AccessFlags2::SHADER_STORAGE_READ.as_raw() | vk::AccessFlags2::SHADER_STORAGE_WRITE.as_raw()),
);

/// # Safety
/// The layout belongs to the device, and the module is one of this example's.
unsafe fn create_pipeline(device: &ash::Device, layout: vk::PipelineLayout, morton: Morton, module: &[u8]) -> Result<vk::Pipeline> {
    let code = ash::util::read_spv(&mut std::io::Cursor::new(module))?;
    let module = vk::ShaderModuleCreateInfo::default().code(&code);
    // The one constant, MORTON_BITS; kernels that know of no codes pass over it.
    let bits = morton.bits().to_ne_bytes();
    let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: bits.len() }];
    let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&bits);
    // SAFETY: the module is valid SPIR-V that uses nothing but enabled features; it is not needed after the pipeline's creation.
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

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
