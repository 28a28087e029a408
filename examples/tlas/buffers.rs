//! The engine's buffers, and what is downloaded from them.

use crate::bvh::{Corners, Node};
use crate::compute::{COMPUTE_WRITES, COPY_READS, COPY_WRITES, Commands, HOST_READS, barrier, copy};
use crate::gpu::{Buffer, Gpu, Place};
use anyhow::Result;
use ash::vk;
use trommel::Range;

/// Morton codes, and the id of the box of each.
#[derive(Clone, Copy)]
pub(crate) struct Items {
    pub(crate) codes: Buffer,
    pub(crate) ids: Buffer,
}

impl Items {
    fn new(gpu: &Gpu, count: u32, place: Place) -> Result<Self> {
        let size = 4 * u64::from(count);
        Ok(Self { codes: gpu.buffer(size, place)?, ids: gpu.buffer(size, place)? })
    }

    /// Returns the ranges of the first `count` codes and ids.
    pub(crate) fn ranges(&self, count: u32) -> [Range; 2] {
        [self.codes, self.ids].map(|buffer| Range::new(buffer.address, 4 * u64::from(count)))
    }
}

pub(crate) struct Buffers {
    pub(crate) boxes: Buffer,
    /// Ids of the boxes that change.
    pub(crate) changed: Buffer,
    /// A bit for each box.
    pub(crate) marks: Buffer,
    /// The items of all boxes by the full sort.
    pub(crate) all: Items,
    /// The items of the boxes that change.
    pub(crate) delta: Items,
    /// The base, and the result of the update: they swap roles after every frame.
    pub(crate) bases: [Items; 2],
    /// Receives the number of items of the update.
    pub(crate) item_count: Buffer,
    pub(crate) nodes: Buffer,
    pub(crate) parents: Buffer,
    pub(crate) arrivals: Buffer,
    pub(crate) scratch: Buffer,
}

impl Buffers {
    pub(crate) fn new(gpu: &Gpu, box_count: u32, most_changed: u32, scratch_size: u64) -> Result<Self> {
        let device = |size| gpu.buffer(size, Place::Device);
        let items = |count| Items::new(gpu, count, Place::Device);
        let boxes = u64::from(box_count);
        // The output of an update must have room for A and B without removed items.
        let merged = box_count + most_changed;
        Ok(Self {
            boxes: device(size_of::<Corners>() as u64 * boxes)?,
            changed: device(4 * u64::from(most_changed))?,
            marks: device(4 * boxes.div_ceil(32))?,
            all: items(box_count)?,
            delta: items(most_changed)?,
            bases: [items(merged)?, items(merged)?],
            item_count: device(4)?,
            nodes: device(size_of::<Node>() as u64 * (2 * boxes - 1))?,
            parents: device(4 * (2 * boxes - 1))?,
            arrivals: device(4 * boxes)?,
            scratch: device(scratch_size)?,
        })
    }
}

/// The state after a frame, for checks on the CPU.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) boxes: Vec<Corners>,
    /// Codes and ids by the full sort.
    pub(crate) sorted: Vec<(u32, u32)>,
    /// Codes and ids by the update.
    pub(crate) updated: Vec<(u32, u32)>,
    /// Number of items of the update, as the device counted them.
    pub(crate) item_count: u32,
    /// The tree over the updated items.
    pub(crate) nodes: Vec<Node>,
    pub(crate) parents: Vec<u32>,
}

/// The buffers that receive snapshots.
pub(crate) struct Downloads {
    box_count: usize,
    boxes: Buffer,
    sorted: Items,
    updated: Items,
    item_count: Buffer,
    nodes: Buffer,
    parents: Buffer,
}

impl Downloads {
    pub(crate) fn new(gpu: &Gpu, box_count: u32, from: &Buffers) -> Result<Self> {
        let like = |buffer: &Buffer| gpu.buffer(buffer.size, Place::Download);
        Ok(Self {
            box_count: box_count as usize,
            boxes: like(&from.boxes)?,
            sorted: Items::new(gpu, box_count, Place::Download)?,
            updated: Items::new(gpu, box_count, Place::Download)?,
            item_count: like(&from.item_count)?,
            nodes: like(&from.nodes)?,
            parents: like(&from.parents)?,
        })
    }

    /// Copies the state and waits for it. `updated`: the items of the last update.
    pub(crate) fn run(&self, gpu: &Gpu, commands: &Commands<'_>, from: &Buffers, updated: &Items) -> Result<Snapshot> {
        let copies = [
            (from.boxes, self.boxes),
            (from.all.codes, self.sorted.codes),
            (from.all.ids, self.sorted.ids),
            (updated.codes, self.updated.codes),
            (updated.ids, self.updated.ids),
            (from.item_count, self.item_count),
            (from.nodes, self.nodes),
            (from.parents, self.parents),
        ];
        let cmd = commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: all buffers are alive until the fence is signaled; every hazard has its barrier.
        unsafe {
            barrier(gpu, cmd, COMPUTE_WRITES, COPY_READS);
            for (from, to) in &copies {
                copy(gpu, cmd, from, to, to.size);
            }
            barrier(gpu, cmd, COPY_WRITES, HOST_READS);
            gpu.device.end_command_buffer(cmd)?;
            commands.run(cmd)?;
        }
        let items = |items: &Items| -> Result<Vec<(u32, u32)>> {
            let codes = gpu.read(&items.codes, self.box_count)?;
            Ok(codes.into_iter().zip(gpu.read(&items.ids, self.box_count)?).collect())
        };
        let nodes = 2 * self.box_count - 1;
        Ok(Snapshot {
            boxes: gpu.read(&self.boxes, self.box_count)?,
            sorted: items(&self.sorted)?,
            updated: items(&self.updated)?,
            item_count: gpu.read(&self.item_count, 1)?[0],
            nodes: gpu.read(&self.nodes, nodes)?,
            parents: gpu.read(&self.parents, nodes)?,
        })
    }
}
