//! The weld on the GPU, in one command buffer.

use crate::compute::{
    COMPUTE_ALL, COMPUTE_WRITES, COPY_READS, COPY_WRITES, Commands, HOST_READS, Kernels, Stamps, barrier, copy, words,
};
use crate::gpu::{Buffer, Gpu, Place};
use crate::grid::Grid;
use anyhow::{Result, ensure};
use ash::vk;
use trommel::{
    BucketFunction, Count, HashInfo, HashOperation, Hasher, HasherInfo, KeyType, Range, Scratch, SplitInfo, Splitter,
    SplitterInfo,
};

/// Invocations of a workgroup.
const WORKGROUP: u32 = 128;
/// Byte offsets into an array of so many positions fit a 32-bit index.
const MOST_CORNERS: usize = 1 << 28;
const LAST_STAGE: u32 = 5;
/// The stages, each between two timestamps.
pub(crate) const STAGES: [&str; LAST_STAGE as usize] = ["cells", "insert", "look up", "split", "indices"];

/// The push constants of every kernel. Matches `Args` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Args {
    corners: [u32; 2],
    cells: [u32; 2],
    ids: [u32; 2],
    table: [u32; 2],
    first: [u32; 2],
    duplicates: [u32; 2],
    order: [u32; 2],
    offsets: [u32; 2],
    numbers: [u32; 2],
    vertices: [u32; 2],
    indices: [u32; 2],
    counters: [u32; 2],
    lo: [f32; 3],
    scale: f32,
    corner_count: u32,
}

const _: () = assert!(size_of::<Args>() <= 128, "every device has 128 bytes of push constants");

#[derive(Clone, Copy, Debug)]
enum Kernel {
    Cells,
    Corners,
    Vertices,
    Indices,
}

/// The modules, in the order of [`Kernel`].
const MODULES: [&[u8]; 4] = [
    include_bytes!("spirv/cells.spv"),
    include_bytes!("spirv/corners.spv"),
    include_bytes!("spirv/vertices.spv"),
    include_bytes!("spirv/indices.spv"),
];

/// A mesh with shared vertices.
#[derive(Debug, Default)]
pub(crate) struct Welded {
    pub(crate) vertices: Vec<[f32; 3]>,
    pub(crate) indices: Vec<u32>,
    /// Triangles of which two corners are the same vertex.
    pub(crate) degenerate: u32,
    /// Sides of triangles with another vertex in the middle.
    pub(crate) t_corners: u32,
}

/// The buffers of the mesh.
struct Buffers {
    corners: Buffer,
    cells: Buffer,
    ids: Buffer,
    table: Buffer,
    first: Buffer,
    duplicates: Buffer,
    order: Buffer,
    offsets: Buffer,
    numbers: Buffer,
    vertices: Buffer,
    indices: Buffer,
    /// T-corners, degenerate triangles, corners without a slot in the table.
    counters: Buffer,
    scratch: Buffer,
    download: Buffer,
}

/// A weld of a mesh, ready to run.
pub(crate) struct Weld<'a> {
    commands: Commands<'a>,
    kernels: Kernels<'a>,
    stamps: Stamps<'a>,
    gpu: &'a Gpu,
    clear: Hasher,
    insert: Hasher,
    splitter: Splitter,
    count: u32,
    /// Slots of the table. Two thirds are in use if no corner is a duplicate.
    capacity: u32,
    grid: Grid,
    buffers: Buffers,
}

impl<'a> Weld<'a> {
    pub(crate) fn new(gpu: &'a Gpu, corners: &[[f32; 3]], grid: Grid) -> Result<Self> {
        ensure!(corners.len() <= MOST_CORNERS, "{} corners are more than {MOST_CORNERS}", corners.len());
        let groups = corners.len().div_ceil(WORKGROUP as usize);
        ensure!(groups <= gpu.max_groups as usize, "{} corners are more than one dispatch takes", corners.len());
        let count = u32::try_from(corners.len())?;
        let capacity = count + count / 2;
        let device = gpu.trommel()?;
        let cells = HasherInfo { key: KeyType::U32x3, max_count: count, max_capacity: capacity, ..HasherInfo::pairs() };
        let [clear, insert] = [HashOperation::Clear, HashOperation::Insert]
            .map(|operation| Hasher::new(&device, &cells.operation(operation)));
        let (clear, insert) = (clear?, insert?);
        let splitter = Splitter::new(&device, &SplitterInfo::pairs(2, BucketFunction::Range))?;
        let scratch = insert.scratch_size(count)?.max(splitter.scratch_size(count)?);
        let array = |words: u64| gpu.buffer(4 * words * u64::from(count), Place::Device);
        let buffers = Buffers {
            corners: array(3)?,
            cells: array(3)?,
            // The input of the split, and its output.
            ids: array(1)?,
            duplicates: array(2)?,
            order: array(1)?,
            table: gpu.buffer(insert.table_size(capacity), Place::Device)?,
            first: array(1)?,
            offsets: gpu.buffer(12, Place::Device)?,
            numbers: array(1)?,
            vertices: array(3)?,
            indices: array(1)?,
            counters: gpu.buffer(12, Place::Device)?,
            scratch: gpu.buffer(scratch, Place::Device)?,
            download: gpu.buffer(16 * u64::from(count) + 24, Place::Download)?,
        };
        let weld = Self {
            commands: Commands::new(gpu)?,
            kernels: Kernels::new(gpu, size_of::<Args>(), &MODULES, 0)?,
            stamps: Stamps::new(gpu, LAST_STAGE + 1)?,
            gpu,
            clear,
            insert,
            splitter,
            count,
            capacity,
            grid,
            buffers,
        };
        weld.upload(corners)?;
        Ok(weld)
    }

    fn upload(&self, corners: &[[f32; 3]]) -> Result<()> {
        let from = self.gpu.upload(corners)?;
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: the buffers live as long as the device.
        unsafe {
            copy(self.gpu, cmd, &from, &self.buffers.corners, size_of_val(corners) as u64);
            barrier(self.gpu, cmd, COPY_WRITES, COMPUTE_ALL);
            self.gpu.device.end_command_buffer(cmd)?;
            self.commands.run(cmd)
        }
    }

    /// Welds the mesh. Returns the milliseconds of each stage as well, if the queue has timestamps.
    pub(crate) fn run(&self) -> Result<(Welded, Option<[f64; STAGES.len()]>)> {
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: the command buffer is recording; its resources live as long as the device.
        unsafe {
            self.record(cmd)?;
            self.gpu.device.end_command_buffer(cmd)?;
            self.commands.run(cmd)?;
        }
        let stamps = self.stamps.read()?;
        let times = stamps.map(|stamps| std::array::from_fn(|stage| stamps[stage + 1] - stamps[stage]));
        let count = self.count as usize;
        let words: Vec<u32> = self.gpu.read(&self.buffers.download, 4 * count + 6)?;
        let [_, vertices, end, t_corners, degenerate, left] = *words[4 * count..].first_chunk().expect("six words");
        ensure!(left == 0 && end == self.count, "{left} corners found no slot, and {end} were split");
        let positions = bytemuck::cast_slice::<u32, [f32; 3]>(&words[..3 * vertices as usize]).to_vec();
        let indices = words[3 * count..4 * count].to_vec();
        Ok((Welded { vertices: positions, indices, degenerate, t_corners }, times))
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn record(&self, cmd: vk::CommandBuffer) -> Result<()> {
        let (gpu, buffers) = (self.gpu, &self.buffers);
        let range = |buffer: &Buffer, words: u64| Range::new(buffer.address, 4 * words * u64::from(self.count));
        let scratch = Scratch { buffer: buffers.scratch.handle, offset: 0, size: buffers.scratch.size };
        let table = HashInfo {
            table: Range::new(buffers.table.address, self.insert.table_size(self.capacity)),
            capacity: self.capacity,
            ..HashInfo::default()
        };
        let inserted = HashInfo {
            count: Count::host(self.count),
            keys: range(&buffers.cells, 3),
            values: range(&buffers.ids, 1),
            leftover_count: buffers.counters.address + 8,
            scratch,
            ..table
        };
        let order = SplitInfo {
            count: Count::host(self.count),
            keys: range(&buffers.duplicates, 1),
            values: range(&buffers.ids, 1),
            keys_out: Range::new(buffers.duplicates.address + 4 * u64::from(self.count), 4 * u64::from(self.count)),
            values_out: range(&buffers.order, 1),
            low: 0,
            width: 1,
            offsets: Range::new(buffers.offsets.address, 12),
            scratch,
            ..SplitInfo::default()
        };
        // SAFETY: the caller's promise; every hazard has its barrier.
        unsafe {
            let next = |stage: u32| {
                barrier(gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
                self.stamps.stamp(cmd, stage);
            };
            self.stamps.reset(cmd);
            self.stamps.stamp(cmd, 0);
            self.dispatch(cmd, Kernel::Cells);
            self.clear.cmd_hash(cmd, &table)?;
            next(1);
            self.insert.cmd_hash(cmd, &inserted)?;
            next(2);
            self.dispatch(cmd, Kernel::Corners);
            next(3);
            self.splitter.cmd_split(cmd, &order)?;
            barrier(gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            self.dispatch(cmd, Kernel::Vertices);
            next(4);
            self.dispatch(cmd, Kernel::Indices);
            self.stamps.stamp(cmd, LAST_STAGE);
            barrier(gpu, cmd, COMPUTE_WRITES, COPY_READS);
            self.download(cmd);
            barrier(gpu, cmd, COPY_WRITES, HOST_READS);
        }
        Ok(())
    }

    /// Copies vertices, indices, offsets and counters to the host's buffer.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn download(&self, cmd: vk::CommandBuffer) {
        let (buffers, corners) = (&self.buffers, 4 * u64::from(self.count));
        let parts = [(&buffers.vertices, 3 * corners), (&buffers.indices, corners)];
        let mut end = 0;
        for (from, size) in parts.into_iter().chain([(&buffers.offsets, 12), (&buffers.counters, 12)]) {
            let region = [vk::BufferCopy { src_offset: 0, dst_offset: end, size }];
            // SAFETY: the caller's promise; the host's buffer has room for all parts.
            unsafe { self.gpu.device.cmd_copy_buffer(cmd, from.handle, buffers.download.handle, &region) };
            end += size;
        }
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn dispatch(&self, cmd: vk::CommandBuffer, kernel: Kernel) {
        let buffers = &self.buffers;
        let args = Args {
            corners: words(&buffers.corners),
            cells: words(&buffers.cells),
            ids: words(&buffers.ids),
            table: words(&buffers.table),
            first: words(&buffers.first),
            duplicates: words(&buffers.duplicates),
            order: words(&buffers.order),
            offsets: words(&buffers.offsets),
            numbers: words(&buffers.numbers),
            vertices: words(&buffers.vertices),
            indices: words(&buffers.indices),
            counters: words(&buffers.counters),
            lo: self.grid.lo,
            scale: self.grid.scale,
            corner_count: self.count,
        };
        // SAFETY: the caller's promise; the constants have the kernels' type.
        unsafe {
            self.kernels.bind(cmd, kernel as usize, &args);
            self.gpu.device.cmd_dispatch(cmd, self.count.div_ceil(WORKGROUP), 1, 1);
        }
    }
}
