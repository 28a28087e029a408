//! The search on the GPU: command buffers of several steps, submitted until a list is empty.
//!
//! Delta-stepping groups vertices into buckets of distances, `delta` wide each. It relaxes the edges of the vertices in
//! the first bucket until that bucket stays empty (Meyer and Sanders, "Delta-stepping: a parallelizable shortest path
//! algorithm", 2003). On a GPU the remaining vertices are one list, which each step groups again: into two by a pivot
//! (near and far), or into many buckets. Davidson et al. group with a sort ("Work-efficient parallel GPU methods for
//! single-source shortest paths", 2014), Ashkiani et al. with a multisplit ("GPU multisplit", 2016). A step here has
//! three parts:
//!
//! 1. `advance`: one workgroup finds the first bucket with items in the offsets of the last split. Its lowest distance
//!    becomes the base of all keys. The workgroup also writes the indirect dispatches of the step.
//! 2. `relax` (with `tasks` for vertices with very many edges): relaxes the items of that bucket. Each lowered distance
//!    becomes an item of the pile. The items of the other buckets are copied to the pile, unless the distance of their
//!    vertex has been lowered since.
//! 3. A split groups the pile by its keys, which are distances minus the base. `low` and `width` are therefore
//!    constants, and the commands are the same in every step. The count stays on the device.
//!
//! The last bucket has no upper limit. If only the last bucket has items, a step relaxes none, and the base becomes the
//! least distance. With two buckets that happens after each bucket, with more buckets rarely: this is the gain of more
//! buckets.
//!
//! A step may have several rounds. Items of the current bucket then go to a list of their own, for another `advance`
//! and `relax` before the split. In the last round they go to the pile. Small buckets are emptied by fewer splits.
//!
//! No list overflows. Items that are carried over have distinct vertices, and items that a round appends have distinct
//! edges. One round therefore needs room for all vertices and edges. With several rounds there is room for the edges
//! twice. A round without enough room in the pile carries its items over (see `advance`). The number of items without
//! room is read back and checked.

use crate::compute::{
    COMPUTE_ALL, COMPUTE_WRITES, COPY_READS, COPY_WRITES, Commands, HOST_READS, Kernels, Scope, Stamps, barrier, copy,
    words,
};
use crate::gpu::{Buffer, Gpu, Place};
use crate::graph::{Arc, Graph};
use crate::method::{Grouping, Method};
use anyhow::{Result, ensure};
use ash::vk;
use std::time::{Duration, Instant};
use trommel::{
    BucketFunction, Count, Placement, Range, Scratch, SortInfo, Sorter, SorterInfo, SplitInfo, Splitter, SplitterInfo,
};

/// Invocations of a workgroup, and items of a workgroup of `relax`.
const WORKGROUP: u32 = 256;
/// A vertex with more edges than this is divided into tasks of this many edges. Matches `TASK_EDGES` in glsl/args.glsl.
const TASK_EDGES: u32 = 2048;
/// Workgroups of the kernels that take one task after another, and of the kernel that writes the first distances.
const MOST_GROUPS: u32 = 4096;
/// Byte offsets into a list of this many items fit a 32-bit index.
const MOST_ITEMS: u64 = 1 << 29;
/// Timestamps of a step: its start, and the start of its split or sort.
const STAMPS: u32 = 2;
/// Source scope of a barrier after a round: its writes, and its reads of indirect arguments.
const ROUND: Scope = (
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags2::DRAW_INDIRECT.as_raw(),
    ),
    vk::AccessFlags2::SHADER_STORAGE_WRITE,
);
const RELAX_READS: Scope = (
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags2::DRAW_INDIRECT.as_raw(),
    ),
    vk::AccessFlags2::from_raw(COMPUTE_ALL.1.as_raw() | vk::AccessFlags2::INDIRECT_COMMAND_READ.as_raw()),
);

/// The push constants of every kernel. Matches `Args` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Args {
    rows: [u32; 2],
    edges: [u32; 2],
    distances: [u32; 2],
    state: [u32; 2],
    list: [u32; 2],
    near: [u32; 2],
    pile: [u32; 2],
    offsets: [u32; 2],
    tasks: [u32; 2],
    vertex_count: u32,
    source: u32,
    capacity: u32,
    delta: u32,
    buckets: u32,
    fill: u32,
    round: u32,
    last_round: u32,
}

const _: () = assert!(size_of::<Args>() <= 128, "every device has 128 bytes of push constants");

/// Matches `State` in glsl/args.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
struct State {
    groups: [u32; 3],
    count: u32,
    near_count: u32,
    total: u32,
    near: u32,
    base: u32,
    shift: u32,
    border: u32,
    limit: u32,
    nearest: u32,
    tasks: u32,
    overflows: u32,
    steps: u32,
    idle: u32,
    rounds: u32,
    longest: u32,
    vertices: [u32; 2],
    edges: [u32; 2],
    items: [u32; 2],
}

#[derive(Clone, Copy, Debug)]
enum Kernel {
    Start,
    Advance,
    Relax,
    Tasks,
}

/// The modules, in the order of [`Kernel`].
const MODULES: [&[u8]; 4] = [
    include_bytes!("spirv/start.spv"),
    include_bytes!("spirv/advance.spv"),
    include_bytes!("spirv/relax.spv"),
    include_bytes!("spirv/tasks.spv"),
];

/// The settings of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) source: u32,
    /// Width of a bucket.
    pub(crate) delta: u32,
    /// Number of buckets of the methods with many buckets.
    pub(crate) buckets: u32,
    /// Buckets are relaxed together until they have this many items.
    pub(crate) fill: u32,
    /// Rounds of a step; Bellman-Ford has one.
    pub(crate) rounds: u32,
    /// Steps between two checks for the end by the host.
    pub(crate) steps_a_submission: u32,
}

/// Counts and times of one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Number of steps, each with a split or sort.
    pub(crate) steps: u32,
    /// Steps that relaxed nothing.
    pub(crate) idle_steps: u32,
    pub(crate) rounds: u32,
    pub(crate) vertices_relaxed: u64,
    pub(crate) edges_relaxed: u64,
    /// Items that were split or sorted.
    pub(crate) items: u64,
    pub(crate) longest_list: u32,
    pub(crate) times: Option<Times>,
    /// Time from the first submission until the host knew the end.
    pub(crate) wall: Duration,
}

/// Milliseconds of the steps with work.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) total: f64,
    /// The part of the splits or sorts.
    pub(crate) grouping: f64,
}

/// The graph on the device, and the buffers that all methods share.
pub(crate) struct Field<'a> {
    gpu: &'a Gpu,
    vertices: u32,
    /// Capacity of a list, in items.
    capacity: u32,
    /// Maximum number of tasks.
    task_count: u32,
    rows: Buffer,
    arcs: Buffer,
    distances: Buffer,
    state: Buffer,
    /// Keys, then vertices: the output of a split or sort, and its input. Without grouping the two lists alternate
    /// (ping-pong).
    piles: [Buffer; 2],
    /// The list that a round reads and the list of the next round; they alternate.
    nears: [Buffer; 2],
    offsets: Buffer,
    tasks: Buffer,
    download: Buffer,
}

impl<'a> Field<'a> {
    /// Creates the buffers for steps with `rounds` rounds.
    pub(crate) fn new(gpu: &'a Gpu, graph: &Graph, rounds: u32) -> Result<Self> {
        let vertices = graph.vertices();
        let capacity = graph.arcs.len() as u64 * if rounds > 1 { 2 } else { 1 } + u64::from(vertices);
        ensure!(
            capacity <= MOST_ITEMS,
            "lists of {capacity} items are longer than the {MOST_ITEMS} that are supported"
        );
        let task_count =
            graph.degrees().filter(|degree| *degree > TASK_EDGES).map(|degree| degree.div_ceil(TASK_EDGES)).sum();
        let device = |size: u64| gpu.buffer(size, Place::Device);
        let list = || device(8 * capacity);
        let near = || if rounds > 1 { list() } else { device(0) };
        let field = Self {
            gpu,
            vertices,
            capacity: u32::try_from(capacity)?,
            task_count,
            rows: device(size_of_val(&graph.rows[..]) as u64)?,
            arcs: device(size_of_val(&graph.arcs[..]) as u64)?,
            distances: device(4 * u64::from(vertices))?,
            state: device(size_of::<State>() as u64)?,
            piles: [list()?, list()?],
            nears: [near()?, near()?],
            offsets: device(4 * 257)?,
            tasks: device(12 * u64::from(task_count))?,
            download: gpu.buffer(4 * u64::from(vertices), Place::Download)?,
        };
        field.upload(graph)?;
        Ok(field)
    }

    fn upload(&self, graph: &Graph) -> Result<()> {
        let gpu = self.gpu;
        let rows = gpu.upload(&graph.rows)?;
        let arcs = gpu.upload::<Arc>(&graph.arcs)?;
        let commands = Commands::new(gpu)?;
        let cmd = commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: the buffers live as long as the device.
        unsafe {
            copy(gpu, cmd, &rows, &self.rows, size_of_val(&graph.rows[..]) as u64);
            if !graph.arcs.is_empty() {
                copy(gpu, cmd, &arcs, &self.arcs, size_of_val(&graph.arcs[..]) as u64);
            }
            barrier(gpu, cmd, COPY_WRITES, COMPUTE_ALL);
            gpu.device.end_command_buffer(cmd)?;
            commands.run(cmd)
        }
    }
}

/// The primitive that groups a list by its keys.
enum Grouper {
    None,
    Split(Splitter),
    Sort(Sorter),
}

impl Grouper {
    fn new(device: &trommel::Device, grouping: Grouping, buckets: u32) -> Result<Self> {
        Ok(match grouping {
            Grouping::None => Self::None,
            Grouping::Split => {
                Self::Split(Splitter::new(device, &SplitterInfo::pairs(buckets, BucketFunction::Range))?)
            }
            Grouping::Sort => {
                let info = SorterInfo { placement: Placement::Preserve, ..SorterInfo::pairs() };
                Self::Sort(Sorter::new(device, &info)?)
            }
        })
    }

    fn scratch_size(&self, max_count: u32) -> Result<u64> {
        Ok(match self {
            Self::None => 0,
            Self::Split(splitter) => splitter.scratch_size(max_count)?,
            Self::Sort(sorter) => sorter.scratch_size(max_count)?,
        })
    }
}

/// One method, ready to run.
pub(crate) struct Search<'a> {
    commands: Commands<'a>,
    kernels: Kernels<'a>,
    stamps: Stamps<'a>,
    grouper: Grouper,
    field: &'a Field<'a>,
    settings: Settings,
    buckets: u32,
    scratch: Buffer,
    state: Buffer,
    begin: vk::CommandBuffer,
    steps: vk::CommandBuffer,
    end: vk::CommandBuffer,
}

impl<'a> Search<'a> {
    pub(crate) fn new(field: &'a Field<'a>, method: Method, settings: Settings) -> Result<Self> {
        let gpu = field.gpu;
        let buckets = method.buckets(settings.buckets);
        ensure!(settings.source < field.vertices, "vertex {} is none of {}", settings.source, field.vertices);
        let reach = u64::from(settings.delta) * u64::from(buckets);
        ensure!(reach <= u64::from(u32::MAX), "{buckets} buckets of {} are more than 32 bits hold", settings.delta);
        // Without a grouper both lists alternate, and an even number of steps returns to the first one.
        let steps_a_submission = settings.steps_a_submission.next_multiple_of(2);
        let rounds = if method.grouping() == Grouping::None { 1 } else { settings.rounds };
        let settings = Settings { steps_a_submission, rounds, ..settings };
        let grouper = Grouper::new(&gpu.trommel()?, method.grouping(), buckets)?;
        let mut search = Self {
            commands: Commands::new(gpu)?,
            kernels: Kernels::new(gpu, size_of::<Args>(), &MODULES, method.grouping() as u32)?,
            stamps: Stamps::new(gpu, STAMPS * steps_a_submission + 1)?,
            scratch: gpu.buffer(grouper.scratch_size(field.capacity)?, Place::Device)?,
            grouper,
            field,
            settings,
            buckets,
            state: gpu.buffer(size_of::<State>() as u64, Place::Download)?,
            begin: vk::CommandBuffer::null(),
            steps: vk::CommandBuffer::null(),
            end: vk::CommandBuffer::null(),
        };
        search.begin = search.record_begin()?;
        search.steps = search.record_steps()?;
        search.end = search.record_end()?;
        Ok(search)
    }

    /// Runs the search, and returns the distance of every vertex.
    pub(crate) fn run(&self) -> Result<(Vec<u32>, Outcome)> {
        let start = Instant::now();
        let mut times = Some(Times::default());
        let mut state = State::default();
        // SAFETY: resources of the commands outlive this call; every hazard has its barrier.
        unsafe { self.commands.run(self.begin) }?;
        loop {
            let before = state.steps;
            // SAFETY: as before.
            unsafe { self.commands.run(self.steps) }?;
            state = self.field.gpu.read(&self.state, 1)?[0];
            ensure!(
                state.overflows == 0,
                "{} items found no room in a list of {}",
                state.overflows,
                self.field.capacity
            );
            times =
                self.stamps.read()?.zip(times).map(|(stamps, sum)| sum.plus(&stamps, (state.steps - before) as usize));
            if state.count == 0 {
                break;
            }
        }
        let wall = start.elapsed();
        // SAFETY: as before.
        unsafe { self.commands.run(self.end) }?;
        let long = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
        let distances = self.field.gpu.read(&self.field.download, self.field.vertices as usize)?;
        let outcome = Outcome {
            steps: state.steps,
            idle_steps: state.idle,
            rounds: state.rounds,
            vertices_relaxed: long(state.vertices),
            edges_relaxed: long(state.edges),
            items: long(state.items),
            longest_list: state.longest,
            times,
            wall,
        };
        Ok((distances, outcome))
    }

    fn record_begin(&self) -> Result<vk::CommandBuffer> {
        let gpu = self.field.gpu;
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::empty())?;
        let groups = self.field.vertices.div_ceil(WORKGROUP).min(MOST_GROUPS).min(gpu.max_groups);
        // SAFETY: the command buffer is recording.
        unsafe {
            // A preceding search may still use the buffers.
            barrier(gpu, cmd, ROUND, COMPUTE_ALL);
            self.bind(cmd, Kernel::Start, 0, 0);
            gpu.device.cmd_dispatch(cmd, groups, 1, 1);
            barrier(gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            gpu.device.end_command_buffer(cmd)?;
        }
        Ok(cmd)
    }

    fn record_steps(&self) -> Result<vk::CommandBuffer> {
        let gpu = self.field.gpu;
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::empty())?;
        let steps = self.settings.steps_a_submission;
        // SAFETY: the command buffer is recording; the slots are as many as there are stamps.
        unsafe {
            self.stamps.reset(cmd);
            for step in 0..steps {
                barrier(gpu, cmd, ROUND, COMPUTE_ALL);
                self.stamps.stamp(cmd, STAMPS * step);
                for round in 0..self.settings.rounds {
                    self.record_round(cmd, step, round);
                }
                self.stamps.stamp(cmd, STAMPS * step + 1);
                self.record_grouping(cmd)?;
            }
            self.stamps.stamp(cmd, STAMPS * steps);
            barrier(gpu, cmd, ROUND, COPY_READS);
            copy(gpu, cmd, &self.field.state, &self.state, size_of::<State>() as u64);
            barrier(gpu, cmd, COPY_WRITES, HOST_READS);
            gpu.device.end_command_buffer(cmd)?;
        }
        Ok(cmd)
    }

    /// Records a round and a barrier after it.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn record_round(&self, cmd: vk::CommandBuffer, step: u32, round: u32) {
        let gpu = self.field.gpu;
        let device = &gpu.device;
        // SAFETY: the caller's promise.
        unsafe {
            self.bind(cmd, Kernel::Advance, step, round);
            device.cmd_dispatch(cmd, 1, 1, 1);
            barrier(gpu, cmd, COMPUTE_WRITES, RELAX_READS);
            self.bind(cmd, Kernel::Relax, step, round);
            device.cmd_dispatch_indirect(cmd, self.field.state.handle, std::mem::offset_of!(State, groups) as u64);
            if self.field.task_count > 0 {
                barrier(gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
                self.bind(cmd, Kernel::Tasks, step, round);
                device.cmd_dispatch(cmd, self.field.task_count.min(MOST_GROUPS).min(gpu.max_groups), 1, 1);
            }
            barrier(gpu, cmd, ROUND, COMPUTE_ALL);
        }
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn record_grouping(&self, cmd: vk::CommandBuffer) -> Result<()> {
        let address = self.field.state.address + std::mem::offset_of!(State, count) as u64;
        let count = Count::device(address, self.field.capacity);
        let size = 4 * u64::from(self.field.capacity);
        let ranges = |list: &Buffer| (Range::new(list.address, size), Range::new(list.address + size, size));
        let [(keys_out, values_out), (keys, values)] = self.field.piles.each_ref().map(ranges);
        let scratch = Scratch { buffer: self.scratch.handle, offset: 0, size: self.scratch.size };
        // SAFETY: the caller's promise; the ranges are in buffers that live as long as the device.
        unsafe {
            match &self.grouper {
                Grouper::None => {}
                Grouper::Split(splitter) => {
                    let offsets = Range::new(self.field.offsets.address, 4 * (u64::from(self.buckets) + 1));
                    let info = SplitInfo {
                        count,
                        keys,
                        values,
                        keys_out,
                        values_out,
                        scratch,
                        offsets,
                        ..SplitInfo::default()
                    };
                    splitter.cmd_split(cmd, &SplitInfo { low: 0, width: self.settings.delta.into(), ..info })?;
                }
                Grouper::Sort(sorter) => {
                    let info = SortInfo { count, keys, values, keys_out, values_out, scratch, ..SortInfo::default() };
                    sorter.cmd_sort(cmd, &info)?;
                }
            }
        }
        Ok(())
    }

    fn record_end(&self) -> Result<vk::CommandBuffer> {
        let gpu = self.field.gpu;
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::empty())?;
        // SAFETY: the command buffer is recording, and both buffers are large enough.
        unsafe {
            barrier(gpu, cmd, COMPUTE_WRITES, COPY_READS);
            copy(gpu, cmd, &self.field.distances, &self.field.download, 4 * u64::from(self.field.vertices));
            barrier(gpu, cmd, COPY_WRITES, HOST_READS);
            gpu.device.end_command_buffer(cmd)?;
        }
        Ok(cmd)
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn bind(&self, cmd: vk::CommandBuffer, kernel: Kernel, step: u32, round: u32) {
        let field = self.field;
        // With a grouper, the second pile is grouped into the first.
        let turn = if matches!(self.grouper, Grouper::None) { step as usize % 2 } else { 0 };
        let near = round as usize % 2;
        let list = if round == 0 { &field.piles[turn] } else { &field.nears[1 - near] };
        let args = Args {
            rows: words(&field.rows),
            edges: words(&field.arcs),
            distances: words(&field.distances),
            state: words(&field.state),
            list: words(list),
            near: words(&field.nears[near]),
            pile: words(&field.piles[1 - turn]),
            offsets: words(&field.offsets),
            tasks: words(&field.tasks),
            vertex_count: field.vertices,
            source: self.settings.source,
            capacity: field.capacity,
            delta: self.settings.delta,
            buckets: self.buckets,
            fill: self.settings.fill,
            round,
            last_round: self.settings.rounds - 1,
        };
        // SAFETY: the caller's promise; the constants have the kernels' type.
        unsafe { self.kernels.bind(cmd, kernel as usize, &args) };
    }
}

impl Times {
    /// Adds the times of a submission; `steps` of its steps had work.
    fn plus(self, stamps: &[f64], steps: usize) -> Self {
        let starts: Vec<f64> = stamps.iter().copied().step_by(STAMPS as usize).collect();
        let groupings = stamps.iter().skip(1).step_by(STAMPS as usize);
        let grouping: f64 = groupings.zip(starts.iter().skip(1)).take(steps).map(|(begin, end)| end - begin).sum();
        Self { total: self.total + starts[steps] - starts[0], grouping: self.grouping + grouping }
    }
}
