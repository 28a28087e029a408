//! The hasher: pipelines for one operation on the tables of one format, and the recording of it.

use super::format::Format;
use super::info::HasherInfo;
use super::planner::HashPlanner;
use crate::core::handle::{describe, record_one, scratch_size, timestamp_count};
use crate::core::primitive::{JobOf, Planner as _, Primitive, RequestInfo};
use crate::{Count, Device, Range, Result, Scratch, Timestamps};
use ash::vk;

/// The parameters of one operation on a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashInfo {
    /// The table: [`crate::hash::table_size`] bytes or more, aligned to 16 bytes. For speed: to 64
    /// bytes, or to 128 if key and value have more than 16 bytes together.
    pub table: Range,
    /// The number of slots that the table was cleared with, from 1 to [`HasherInfo::max_capacity`]. All operations on a
    /// table have the same capacity. Of a resizable table ([`HasherInfo::resizable`]), the largest number of slots.
    pub capacity: u32,
    /// For resizable tables: the number of slots after [`crate::HashOperation::Clear`], and the smallest one after
    /// [`crate::HashOperation::Rehash`], which has room for `2 * count.max` keys if `capacity` suffices, and after
    /// [`crate::HashOperation::Resize`]. 0: `capacity`. Otherwise not used.
    pub min_capacity: u32,
    /// Number of keys, at most [`HasherInfo::max_count`]. For an export: the number of keys that the arrays have room
    /// for, on the host. For [`crate::HashOperation::Rehash`]: the most keys that `source` may have, on the host. For
    /// [`crate::HashOperation::EraseIf`]: the most keys that are removed, on the host. For
    /// [`crate::HashOperation::Resize`]: the most keys that are moved, on the host. 0 for operations without keys,
    /// which clear a table or write its statistics.
    pub count: Count,
    /// `count.max` keys. An export writes them; other operations read them.
    pub keys: Range,
    /// `count.max` values. Insertions read them, but [`crate::HashOperation::Increment`] does not. A search writes the
    /// value of each key, or all ones if the table does not have the key. An export writes the value of each key. For
    /// both, [`Range::NONE`]: values are not wanted. Otherwise not used.
    pub values: Range,
    /// For [`crate::HashOperation::FindOrInsert`]: `count.max` values. The device writes the value that the table has
    /// for each key, or all ones if the key found no slot. For [`crate::HashOperation::Mixed`]: the value before the
    /// operation of the key, or all ones if the table did not have it, as if all keys had found a slot. For
    /// [`crate::HashOperation::Retrieve`]:
    /// `max_values` values. [`Range::NONE`]: not wanted.
    pub values_out: Range,
    /// For [`crate::HashOperation::Retrieve`]: the number of values that `values_out` has room for. Values beyond it
    /// are not written.
    pub max_values: u32,
    /// For [`crate::HashOperation::Retrieve`]: room for `count.max + 1` words. The device writes the index of the first
    /// value of each key of the batch, and behind the last one the number of all values, at most 2^32 - 1.
    pub offsets: Range,
    /// For [`crate::HashOperation::Mixed`]: `count.max` words. The device reads the operation of each key: a
    /// [`crate::HashOpcode`].
    pub opcodes: Range,
    /// For [`crate::HashOperation::Count`]: room for `count.max` words. The device writes the number of values of each
    /// key.
    pub counts: Range,
    /// For [`crate::HashOperation::Rehash`]: the table that is read. It does not overlap `table`.
    pub source: Range,
    /// The capacity of `source`; otherwise not used.
    pub source_capacity: u32,
    /// For [`crate::HashOperation::Resize`]: the number of keys that the table gets room for, beyond those that it has;
    /// on the host, or on the device and at most `reserve.max`.
    ///
    /// With these keys, the table is too full if more than three quarters of its slots are in use, those of erased keys
    /// included, and too empty if fewer than an eighth are. Then it gets as many slots as make the load one half, or
    /// the next number that is possible. It stays as it is if it has this number and fewer than an eighth of its slots
    /// are erased, and if it has more than `count.max` keys, which the status says.
    pub reserve: Count,
    /// For [`crate::HashOperation::EraseIf`] and [`crate::HashOperation::ExportIf`]: the smallest value that selects a
    /// key, as an unsigned number. Values of 4 bytes are compared with it as 64-bit numbers.
    pub min_value: u64,
    /// As `min_value`, the largest one.
    pub max_value: u64,
    /// For a search, for [`crate::HashOperation::FindOrInsert`] and for [`crate::HashOperation::Mixed`]: `count.max`
    /// bits, rounded up to whole words. Bit `i % 32` of word `i / 32` is set if the table has key `i`: after the
    /// insertion if there is one, and before the operation of the key of a mixed batch, as if all keys had found a
    /// slot. [`Range::NONE`]: not wanted.
    pub found: Range,
    /// For hashers with [`HasherInfo::stencil`]: `count.max` bits, rounded up to whole words. Key `i` is selected if
    /// bit `i % 32` of word `i / 32` is set. Otherwise not used.
    pub stencil: Range,
    /// For insertions, which are all operations that insert keys: room for `count.max` keys. The device writes the keys
    /// that found no slot, in any order; of equal keys of the batch, each one. A mixed batch lists each key once. Its
    /// erased keys make room before others are inserted. [`Range::NONE`]: not wanted.
    pub leftover_keys: Range,
    /// As `leftover_keys`, their values. Not used by [`crate::HashOperation::Increment`].
    pub leftover_values: Range,
    /// For insertions: device address of a `u32` that receives the number of keys that found no slot. 0: not wanted;
    /// then the left over keys are not written either.
    pub leftover_count: vk::DeviceAddress,
    /// For an export: device address of a `u32` that receives the number of keys that have been written. For
    /// [`crate::HashOperation::Retrieve`]: the number of all values, also of those that have not been written. 0: not
    /// wanted.
    pub count_out: vk::DeviceAddress,
    /// For [`crate::HashOperation::Statistics`]: room for a [`crate::HashStatistics`].
    pub statistics: Range,
    /// [`Hasher::scratch_size`] bytes or more.
    pub scratch: Scratch,
    /// Device address of a `u32` that receives [`crate::STATUS_COUNT_CLAMPED`] and [`crate::STATUS_TABLE_FULL`] bits;
    /// of an export, and of [`crate::HashOperation::Retrieve`], [`crate::STATUS_OUTPUT_CLAMPED`], if the arrays have
    /// room for fewer keys or values than there are. [`crate::HashOperation::Rehash`] writes `STATUS_COUNT_CLAMPED` if
    /// `source` has more than `count.max` keys: the table lacks the others then. [`crate::HashOperation::EraseIf`]
    /// writes it if more keys are selected: the table has the others then. [`crate::HashOperation::Resize`] writes it
    /// if the table has more keys, and stays as it is. 0: no status. Not written by operations that clear a table or
    /// write its statistics.
    pub status: vk::DeviceAddress,
    /// The queries for timestamps of the passes: [`Hasher::timestamp_count`] of them. Not in a batch.
    pub timestamps: Option<Timestamps>,
}

impl RequestInfo for HashInfo {
    fn max_count(&self) -> u32 {
        self.count.max
    }

    fn scratch(&self) -> Scratch {
        self.scratch
    }

    fn queries(&self) -> Option<Timestamps> {
        self.timestamps
    }
}

/// The pipelines for one operation on the tables of one format on one device. Immutable: any number of threads may
/// record with it.
///
/// Hashers with equal parameters share their pipelines; the last one destroys them. A hasher, or a clone of it, must
/// outlive the execution of all commands recorded with it.
#[derive(Clone, Debug)]
pub struct Hasher {
    info: HasherInfo,
    planner: HashPlanner,
}

impl Hasher {
    /// Creates a hasher with every pipeline that its operation can use: in batches of several problems only with
    /// [`HasherInfo::batches`]. Threads of the library create the pipelines and end before the call returns: see
    /// [`crate::DeviceInfo::creation_threads`]. With [`HasherInfo::deferred`] the call creates no pipelines: see
    /// [`Hasher::compile`].
    ///
    /// # Errors
    /// Names the invalid member of `info` and the reason; [`crate::Error::Vulkan`] if a pipeline cannot be created.
    pub fn new(device: &Device, info: &HasherInfo) -> Result<Self> {
        let planner = HashPlanner::new(device, Format::new(info)?, info.options())?;
        Ok(Self { info: *info, planner })
    }

    /// Creates pipelines of a hasher with [`HasherInfo::deferred`] on the calling thread: as
    /// [`crate::Sorter::compile`].
    ///
    /// # Errors
    /// [`crate::Error::Vulkan`] if a pipeline cannot be created. The next call tries again.
    pub fn compile(&self) -> Result<()> {
        self.planner.handle().compile()
    }

    /// Whether all pipelines have been created and operations can be recorded. Always true without
    /// [`HasherInfo::deferred`].
    pub fn is_ready(&self) -> bool {
        self.planner.handle().is_ready()
    }

    /// The device of the hasher.
    pub fn device(&self) -> &Device {
        self.planner.handle().device()
    }

    /// The parameters of the hasher.
    pub fn info(&self) -> &HasherInfo {
        &self.info
    }

    /// Bytes of a table with room for `capacity` keys: [`crate::hash::table_size`] for the hasher's types.
    pub fn table_size(&self, capacity: u32) -> u64 {
        self.planner.format().table_bytes(capacity)
    }

    /// Checks that `bytes` are a table of the hasher's types with this capacity: [`crate::hash::check_table`].
    ///
    /// # Errors
    /// As [`crate::hash::check_table`]; [`crate::Error::TooLarge`] above [`HasherInfo::max_capacity`].
    pub fn check_table(&self, capacity: u32, bytes: &[u8]) -> Result<()> {
        super::saved::check(*self.planner.format(), capacity, bytes)
    }

    /// Bytes of scratch that suffice for every batch of at most `max_count` keys. Non-decreasing in `max_count`. 0 for
    /// searches, for counts, for statistics and for clearing, one word for an export. Changes of a table need 4 to 32
    /// bytes for each key, 4 or 8 with [`crate::HashScheme::Linear`]. [`crate::HashOperation::Rehash`],
    /// [`crate::HashOperation::Resize`] and [`crate::HashOperation::EraseIf`], and changes with
    /// [`HasherInfo::stencil`], need room for the keys and values in addition, [`crate::HashOperation::Retrieve`] a
    /// word for each workgroup. [`crate::HashOperation::Mixed`] needs 33 to 117 bytes for each key.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] above [`HasherInfo::max_count`].
    pub fn scratch_size(&self, max_count: u32) -> Result<u64> {
        scratch_size(&self.planner, max_count)
    }

    /// Number of queries that [`HashInfo::timestamps`] needs for a batch of exactly `max_count` keys: one before the
    /// first pass and one after each pass. All are written. Queries of passes that the operation does not need receive
    /// the time of its end.
    ///
    /// # Errors
    /// [`crate::Error::TooLarge`] above [`HasherInfo::max_count`].
    pub fn timestamp_count(&self, max_count: u32) -> Result<u32> {
        timestamp_count(&self.planner, max_count)
    }

    /// Returns the passes of an operation as text.
    ///
    /// # Errors
    /// As [`Hasher::cmd_hash`], for the count.
    pub fn describe(&self, info: &HashInfo) -> Result<String> {
        describe(self, info)
    }

    /// Appends an operation on a table to `command_buffer`: one compute dispatch for a search, a count, an export and
    /// for clearing; two for statistics and for an export of some keys, three to retrieve values; otherwise the hashes
    /// of the keys, a sort, and two more, with barriers between them. Changes of [`crate::HashScheme::Linear`] tables
    /// are one to three dispatches. An export also fills a word of scratch. Operations that consist of others are:
    /// [`crate::HashOperation::FindOrInsert`], an insertion and a search; [`crate::HashOperation::Rehash`], an export,
    /// clearing and an insertion; [`crate::HashOperation::Resize`], the same behind a dispatch that decides;
    /// [`crate::HashOperation::EraseIf`], an export and an erasure; [`crate::HashOperation::Mixed`], a search, a sort
    /// by numbers that identify keys, five dispatches around it, an erasure and an assignment. These two need no sort.
    /// For keys of more than 8 bytes, it also fills words of scratch. With [`HasherInfo::stencil`], changes have three
    /// dispatches more, which come first. So do those of a mixed batch.
    ///
    /// Keys and values of the table are the same on every device afterwards, unless keys are left over, a rehash or an
    /// erasure by value has more than `count.max` keys (which ones is not determined), or operations are concurrent.
    /// The places of keys in the table differ.
    ///
    /// - First access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ` on keys, on values that are read, on counts, on opcodes,
    ///   on the stencil and on `source`, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE` on the table and on scratch,
    ///   `SHADER_STORAGE_WRITE` on outputs. Searches, counts, retrievals, exports and statistics only read the table.
    ///   Operations that export keys, also to scratch, and mixed batches of keys of more than 8 bytes have
    ///   `ALL_TRANSFER`, `TRANSFER_WRITE` on scratch.
    /// - Last access: `COMPUTE_SHADER`, `SHADER_STORAGE_READ | SHADER_STORAGE_WRITE`.
    /// - Synchronization: the caller records a barrier before the operation (writes of the inputs and of the table,
    ///   earlier use of scratch) and after it (uses of the table, reads of the outputs). For operations with transfers,
    ///   the barrier for scratch includes `ALL_TRANSFER`.
    /// - State: the compute pipeline and the push constants are overwritten.
    /// - Waiting: as [`crate::Sorter::cmd_sort`].
    ///
    /// # Errors
    /// Names the argument and the violated limit; nothing has been recorded then. [`crate::Error::NotReady`] until
    /// [`Hasher::is_ready`].
    ///
    /// # Safety
    /// `command_buffer` is in the recording state, outside a render pass, for a queue family with compute of the
    /// hasher's device, and no other thread uses it. The hasher or a clone of it lives until the commands have finished
    /// execution. Until then, ranges and scratch are valid, in buffers with the usages that [`Range`] and [`Scratch`]
    /// require. Unless this operation clears it, the table was cleared with the same capacity by a hasher with the same
    /// types, scheme, `multimap` and `resizable`, and only hashers have written it since, or shaders by functions of
    /// [`crate::hash::LINEAR_GLSL`]; or it is a copy of such a table, or [`crate::HashOperation::Rehash`] has written
    /// it. The same holds for [`HashInfo::source`] and its capacity.
    pub unsafe fn cmd_hash(&self, command_buffer: vk::CommandBuffer, info: &HashInfo) -> Result<()> {
        // SAFETY: the caller's promises are the same.
        unsafe { record_one(self, command_buffer, info, self.job(info)) }
    }
}

impl Primitive for Hasher {
    const NAME: &'static str = "hasher";
    type Info<'i> = HashInfo;
    type Planner = HashPlanner;

    fn planner(&self) -> &HashPlanner {
        &self.planner
    }

    fn check(&self, _info: &HashInfo) -> Result<()> {
        Ok(())
    }

    fn job<'i>(&self, info: &Self::Info<'i>) -> JobOf<'i, Self> {
        *info
    }

    fn with_job<T>(&self, info: &HashInfo, visit: impl FnOnce(&HashInfo) -> T) -> T {
        visit(info)
    }
}
