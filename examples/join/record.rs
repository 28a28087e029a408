//! The join on the GPU, in one command buffer.

use crate::compute::{
    COMPUTE_ALL, COMPUTE_WRITES, COPY_READS, COPY_WRITES, Commands, HOST_READS, Kernels, Stamps, barrier, copy, words,
};
use crate::gpu::{Buffer, Gpu, Place};
use crate::relations::{Group, Relations};
use anyhow::{Result, ensure};
use ash::vk;
use trommel::{
    Count, HashInfo, HashOperation, Hasher, HasherInfo, KeyType, Range, Scratch, SortInfo, Sorter, SorterInfo,
    ValueType,
};

/// Orders of a workgroup: 4 for each of 128 invocations.
const WORKGROUP: u32 = 512;
const LAST_STAGE: u32 = 7;
/// The stages, each between two timestamps.
pub(crate) const STAGES: [&str; LAST_STAGE as usize] = ["insert", "find", "gather", "add", "count", "export", "sort"];

/// Groups in the order of their cities.
type ByCity = Vec<(u32, Group)>;

/// Milliseconds of each stage.
type Times = [f64; STAGES.len()];

/// An export's fill of scratch, and all uses of scratch by kernels.
const SCRATCH_READY: (vk::PipelineStageFlags2, vk::AccessFlags2) = (
    vk::PipelineStageFlags2::from_raw(
        vk::PipelineStageFlags2::COMPUTE_SHADER.as_raw() | vk::PipelineStageFlags2::ALL_TRANSFER.as_raw(),
    ),
    vk::AccessFlags2::from_raw(COMPUTE_ALL.1.as_raw() | vk::AccessFlags2::TRANSFER_WRITE.as_raw()),
);

const MODULES: [&[u8]; 1] = [include_bytes!("spirv/gather.spv")];

/// The push constants of the kernel. Matches `Args` in glsl/gather.comp.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Args {
    rows: [u32; 2],
    cities: [u32; 2],
    order_cities: [u32; 2],
    order_count: u32,
    customer_count: u32,
}

/// A table of groups by city: its handles, and its keys and values when they have been exported.
struct Groups {
    clear: Hasher,
    combine: Hasher,
    export: Hasher,
    sort: Sorter,
    value_size: u64,
    table: Buffer,
    keys: Buffer,
    values: Buffer,
}

/// The columns of both relations, and all results.
struct Buffers {
    customers: Buffer,
    /// 0, 1, 2 and so on.
    row_numbers: Buffer,
    cities: Buffer,
    orders: Buffer,
    amounts: Buffer,
    /// The customers by number.
    table: Buffer,
    /// The row of the customer of each order.
    rows: Buffer,
    order_cities: Buffer,
    /// The number of cities of each table of groups, and that of items without a slot in each table.
    counts: Buffer,
    scratch: Buffer,
    download: Buffer,
}

/// Bytes of `Buffers::counts`.
const COUNT_BYTES: u64 = 20;

/// A join of two relations, ready to run.
pub(crate) struct Join<'a> {
    commands: Commands<'a>,
    kernels: Kernels<'a>,
    stamps: Stamps<'a>,
    gpu: &'a Gpu,
    clear: Hasher,
    insert: Hasher,
    find: Hasher,
    /// Sums of amounts, and numbers of orders.
    groups: [Groups; 2],
    rows: u32,
    /// Most groups, and slots of a table of them.
    most: u32,
    slots: u32,
    buffers: Buffers,
}

/// Slots of a table for so many keys: four fifths are in use.
fn slots_for(keys: u32) -> u32 {
    keys + keys.div_ceil(4)
}

impl Groups {
    /// `combine`: how the values of equal cities become one, of `value_size` bytes.
    fn new(gpu: &Gpu, combine: HashOperation, value_size: u32, rows: u32, most: u32) -> Result<Self> {
        let device = gpu.trommel()?;
        let slots = slots_for(most);
        let value = ValueType::Bytes(value_size);
        // Cities differ in size. Tables with linear probing spread the orders of a large one over all workgroups.
        let info = HasherInfo { value, max_count: rows.max(most), max_capacity: slots, ..HasherInfo::keys().linear() };
        let hasher = |operation| Hasher::new(&device, &info.operation(operation));
        let export = hasher(HashOperation::Export)?;
        let sorted = SorterInfo { key: KeyType::U32, value, max_count: most, ..SorterInfo::keys() };
        Ok(Self {
            table: gpu.buffer(export.table_size(slots), Place::Device)?,
            keys: gpu.buffer(4 * u64::from(most), Place::Device)?,
            values: gpu.buffer(u64::from(value_size) * u64::from(most), Place::Device)?,
            clear: hasher(HashOperation::Clear)?,
            combine: hasher(combine)?,
            export,
            sort: Sorter::new(&device, &sorted)?,
            value_size: value_size.into(),
        })
    }

    fn scratch_size(&self, rows: u32, most: u32) -> Result<u64> {
        Ok(self.combine.scratch_size(rows)?.max(self.sort.scratch_size(most)?))
    }
}

impl<'a> Join<'a> {
    pub(crate) fn new(gpu: &'a Gpu, relations: &Relations) -> Result<Self> {
        let rows = u32::try_from(relations.customers.len())?;
        ensure!(rows.div_ceil(WORKGROUP) <= gpu.max_groups, "{rows} rows are more than one dispatch takes");
        let most = relations.most_cities();
        let device = gpu.trommel()?;
        let customers = HasherInfo { max_count: rows, max_capacity: slots_for(rows), ..HasherInfo::pairs() };
        let hasher = |operation| Hasher::new(&device, &customers.operation(operation));
        let insert = hasher(HashOperation::Insert)?;
        let groups = [
            Groups::new(gpu, HashOperation::Add, 8, rows, most)?,
            Groups::new(gpu, HashOperation::Increment, 4, rows, most)?,
        ];
        let mut scratch = insert.scratch_size(rows)?;
        for groups in &groups {
            scratch = scratch.max(groups.scratch_size(rows, most)?);
        }
        let column = |words: u64| gpu.buffer(4 * words * u64::from(rows), Place::Device);
        let buffers = Buffers {
            customers: column(1)?,
            row_numbers: column(1)?,
            cities: column(1)?,
            orders: column(1)?,
            amounts: column(2)?,
            table: gpu.buffer(insert.table_size(slots_for(rows)), Place::Device)?,
            rows: column(1)?,
            order_cities: column(1)?,
            counts: gpu.buffer(COUNT_BYTES, Place::Device)?,
            scratch: gpu.buffer(scratch, Place::Device)?,
            download: gpu.buffer(COUNT_BYTES + 20 * u64::from(most), Place::Download)?,
        };
        let join = Self {
            commands: Commands::new(gpu)?,
            kernels: Kernels::new(gpu, size_of::<Args>(), &MODULES, 0)?,
            stamps: Stamps::new(gpu, LAST_STAGE + 1)?,
            gpu,
            clear: hasher(HashOperation::Clear)?,
            find: hasher(HashOperation::Find)?,
            insert,
            groups,
            rows,
            most,
            slots: slots_for(most),
            buffers,
        };
        join.upload(relations)?;
        Ok(join)
    }

    fn upload(&self, relations: &Relations) -> Result<()> {
        let (gpu, buffers) = (self.gpu, &self.buffers);
        let numbers: Vec<u32> = (0..self.rows).collect();
        let columns = [
            (gpu.upload(&relations.customers)?, &buffers.customers, 4),
            (gpu.upload(&numbers)?, &buffers.row_numbers, 4),
            (gpu.upload(&relations.cities)?, &buffers.cities, 4),
            (gpu.upload(&relations.orders)?, &buffers.orders, 4),
            (gpu.upload(&relations.amounts)?, &buffers.amounts, 8),
        ];
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: the buffers live until the commands have run.
        unsafe {
            for (from, to, bytes) in &columns {
                copy(gpu, cmd, from, to, bytes * u64::from(self.rows));
            }
            barrier(gpu, cmd, COPY_WRITES, COMPUTE_ALL);
            gpu.device.end_command_buffer(cmd)?;
            self.commands.run(cmd)
        }
    }

    /// Runs the query. Returns the groups by city, and the milliseconds of each stage if the queue has timestamps.
    pub(crate) fn run(&self) -> Result<(ByCity, Option<Times>)> {
        let cmd = self.commands.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        // SAFETY: the command buffer is recording; its resources live as long as the device.
        unsafe {
            self.record(cmd)?;
            self.gpu.device.end_command_buffer(cmd)?;
            self.commands.run(cmd)?;
        }
        let stamps = self.stamps.read()?;
        let times = stamps.map(|stamps| std::array::from_fn(|stage| stamps[stage + 1] - stamps[stage]));
        let most = self.most as usize;
        let words: Vec<u32> = self.gpu.read(&self.buffers.download, 5 + 5 * most)?;
        let (counts, arrays) = words.split_at(5);
        ensure!(counts[2..] == [0; 3], "{:?} items found no slot", &counts[2..]);
        ensure!(counts[0] == counts[1], "the tables have {} and {} groups", counts[0], counts[1]);
        let (keys, values) = arrays.split_at(2 * most);
        let (amounts, orders) = values.split_at(2 * most);
        let groups = (0..counts[0] as usize).map(|i| {
            ensure!(keys[i] == keys[most + i], "the tables have groups {} and {}", keys[i], keys[most + i]);
            let amount = u64::from(amounts[2 * i + 1]) << 32 | u64::from(amounts[2 * i]);
            Ok((keys[i], Group { orders: orders[i], amount }))
        });
        Ok((groups.collect::<Result<_>>()?, times))
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn record(&self, cmd: vk::CommandBuffer) -> Result<()> {
        let (gpu, buffers) = (self.gpu, &self.buffers);
        let column = |buffer: &Buffer, bytes: u64| Range::new(buffer.address, bytes * u64::from(self.rows));
        let whole = |buffer: &Buffer| Range::new(buffer.address, buffer.size);
        let scratch = Scratch { buffer: buffers.scratch.handle, offset: 0, size: buffers.scratch.size };
        let word = |index: u64| buffers.counts.address + 4 * index;
        let customers =
            HashInfo { table: whole(&buffers.table), capacity: slots_for(self.rows), ..HashInfo::default() };
        let inserted = HashInfo {
            count: Count::host(self.rows),
            keys: column(&buffers.customers, 4),
            values: column(&buffers.row_numbers, 4),
            leftover_count: word(2),
            scratch,
            ..customers
        };
        let found = HashInfo {
            count: Count::host(self.rows),
            keys: column(&buffers.orders, 4),
            values: column(&buffers.rows, 4),
            ..customers
        };
        // SAFETY: the caller's promise; every hazard has its barrier.
        unsafe {
            let next = |stage: u32| {
                barrier(gpu, cmd, SCRATCH_READY, SCRATCH_READY);
                self.stamps.stamp(cmd, stage);
            };
            self.stamps.reset(cmd);
            self.clear.cmd_hash(cmd, &customers)?;
            for groups in &self.groups {
                groups.clear.cmd_hash(cmd, &self.table(groups))?;
            }
            next(0);
            self.insert.cmd_hash(cmd, &inserted)?;
            next(1);
            self.find.cmd_hash(cmd, &found)?;
            next(2);
            self.gather(cmd);
            next(3);
            for (groups, (stage, leftovers)) in self.groups.iter().zip([(4, 3), (5, 4)]) {
                let combined = HashInfo {
                    count: Count::host(self.rows),
                    keys: column(&buffers.order_cities, 4),
                    // Not read by an increment.
                    values: column(&buffers.amounts, 8),
                    leftover_count: word(leftovers),
                    scratch,
                    ..self.table(groups)
                };
                groups.combine.cmd_hash(cmd, &combined)?;
                next(stage);
            }
            for (i, groups) in (0..).zip(&self.groups) {
                let exported = HashInfo {
                    count: Count::host(self.most),
                    keys: whole(&groups.keys),
                    values: whole(&groups.values),
                    count_out: word(i),
                    scratch,
                    ..self.table(groups)
                };
                groups.export.cmd_hash(cmd, &exported)?;
                barrier(gpu, cmd, SCRATCH_READY, SCRATCH_READY);
            }
            self.stamps.stamp(cmd, 6);
            for (i, groups) in (0..).zip(&self.groups) {
                let sorted = SortInfo {
                    count: Count::device(word(i), self.most),
                    keys: whole(&groups.keys),
                    values: whole(&groups.values),
                    scratch,
                    ..SortInfo::default()
                };
                groups.sort.cmd_sort(cmd, &sorted)?;
                barrier(gpu, cmd, COMPUTE_WRITES, COMPUTE_ALL);
            }
            self.stamps.stamp(cmd, LAST_STAGE);
            barrier(gpu, cmd, COMPUTE_WRITES, COPY_READS);
            self.download(cmd);
            barrier(gpu, cmd, COPY_WRITES, HOST_READS);
        }
        Ok(())
    }

    fn table(&self, groups: &Groups) -> HashInfo {
        let table = Range::new(groups.table.address, groups.table.size);
        HashInfo { table, capacity: self.slots, ..HashInfo::default() }
    }

    /// # Safety
    /// The command buffer is recording.
    unsafe fn gather(&self, cmd: vk::CommandBuffer) {
        let args = Args {
            rows: words(&self.buffers.rows),
            cities: words(&self.buffers.cities),
            order_cities: words(&self.buffers.order_cities),
            order_count: self.rows,
            customer_count: self.rows,
        };
        // SAFETY: the caller's promise; the constants have the kernel's type.
        unsafe {
            self.kernels.bind(cmd, 0, &args);
            self.gpu.device.cmd_dispatch(cmd, self.rows.div_ceil(WORKGROUP), 1, 1);
        }
    }

    /// Copies counts, cities, amounts and numbers of orders to the host's buffer.
    ///
    /// # Safety
    /// The command buffer is recording.
    unsafe fn download(&self, cmd: vk::CommandBuffer) {
        let most = u64::from(self.most);
        let keys = self.groups.each_ref().map(|groups| (&groups.keys, 4 * most));
        let values = self.groups.each_ref().map(|groups| (&groups.values, groups.value_size * most));
        let mut end = 0;
        for (from, size) in [(&self.buffers.counts, COUNT_BYTES)].into_iter().chain(keys).chain(values) {
            let region = [vk::BufferCopy { src_offset: 0, dst_offset: end, size }];
            // SAFETY: the caller's promise; the host's buffer has room for all parts.
            unsafe { self.gpu.device.cmd_copy_buffer(cmd, from.handle, self.buffers.download.handle, &region) };
            end += size;
        }
    }
}
