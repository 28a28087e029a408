//! What crosses the border: C's structs and enums, field by field.

use ash::vk;
use std::ffi::{c_char, c_void};

pub type VkInstance = vk::Instance;
pub type VkPhysicalDevice = vk::PhysicalDevice;
pub type VkDevice = vk::Device;
pub type VkCommandBuffer = vk::CommandBuffer;
pub type VkBuffer = vk::Buffer;
pub type VkQueryPool = vk::QueryPool;
pub type VkPipelineCache = vk::PipelineCache;
pub type VkDeviceAddress = vk::DeviceAddress;
pub type VkDeviceSize = vk::DeviceSize;
pub type VkBool32 = vk::Bool32;
pub type VkAllocationCallbacks = vk::AllocationCallbacks<'static>;
pub type VkPhysicalDeviceFeatures2 = vk::PhysicalDeviceFeatures2<'static>;
pub type VkPhysicalDeviceVulkan12Features = vk::PhysicalDeviceVulkan12Features<'static>;
pub type VkPhysicalDeviceVulkan13Features = vk::PhysicalDeviceVulkan13Features<'static>;
pub type PFN_vkGetInstanceProcAddr = Option<vk::PFN_vkGetInstanceProcAddr>;

/// Enums as they cross: any 32 bits, since C can put any there. Named like the enums, whose names the header takes.
/// cbindgen:ignore
pub mod raw {
    pub type TrmResult = i32;
    pub type TrmStructureType = i32;
    pub type TrmKeyType = i32;
    pub type TrmValueType = i32;
    pub type TrmStrategy = i32;
    pub type TrmOrder = i32;
    pub type TrmPlacement = i32;
    pub type TrmLayout = i32;
    pub type TrmBucketFunction = i32;
    pub type TrmSplitOutput = i32;
    pub type TrmSplitMethod = i32;
}

/// What an info struct is.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmStructureType {
    /// TrmDeviceRequirementsInfo
    DeviceRequirementsInfo = 1,
    /// TrmDeviceCreateInfo
    DeviceCreateInfo = 2,
    /// TrmBatchInfo
    BatchInfo = 3,
    /// TrmSorterCreateInfo
    SorterCreateInfo = 1000,
    /// TrmSortInfo
    SortInfo = 1001,
    /// TrmSplitterCreateInfo
    SplitterCreateInfo = 2000,
    /// TrmSplitInfo
    SplitInfo = 2001,
}

/// What the keys are. Their arrays are dense, unless strided, and aligned to the key's size, 4 bytes at most.
/// Floats are in total order: -NaN, -inf, ..., -0, +0, ..., +inf, NaN.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmKeyType {
    /// uint32_t
    U32 = 0,
    /// uint8_t
    U8 = 1,
    /// uint16_t
    U16 = 2,
    /// uint64_t, low word first
    U64 = 3,
    /// int8_t
    I8 = 4,
    /// int16_t
    I16 = 5,
    /// int32_t
    I32 = 6,
    /// int64_t, low word first
    I64 = 7,
    /// IEEE 754 binary16
    F16 = 8,
    /// bfloat16: the upper half of a float
    BF16 = 9,
    /// float
    F32 = 10,
    /// double, low word first
    F64 = 11,
    /// Two uint32_t, the first the most significant
    U32X2 = 12,
    /// Three uint32_t, the first the most significant
    U32X3 = 13,
    /// Four uint32_t, the first the most significant
    U32X4 = 14,
}

/// Which key comes first. Equal keys keep their order either way.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmOrder {
    /// The smallest.
    Ascending = 0,
    /// The largest.
    Descending = 1,
}

/// What moves with each key.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmValueType {
    /// Nothing.
    None = 0,
    /// 4 bytes.
    U32 = 1,
    /// valueSize bytes, a multiple of 4, at most 4096. Up to 16 they move with the keys in every pass; larger values are fetched
    /// once, at the end, by the place that their key came from.
    Bytes = 2,
    /// The place that the key came from, from 0 on, a uint32_t: an argsort. No values are read.
    Index = 3,
}

/// Where the result lies.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmPlacement {
    /// Where the input was. Scratch holds arrays as long.
    InPlace = 0,
    /// In keysOut and valuesOut; the input is left as it was. Scratch holds arrays as long.
    Preserve = 1,
    /// In the input's arrays or in keysOut and valuesOut, as trmGetSorterResultSide() tells. Both are written; scratch holds no
    /// arrays, but for keys narrower than a word, for values of more than 16 bytes, and for medium counts where these are
    /// sorted by merging.
    DoubleBuffer = 2,
}

/// How items lie in the caller's arrays.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmLayout {
    /// Keys in one array, values in another.
    Separate = 0,
    /// One array of items, each a key of 4 bytes or more and, directly behind it, its value of 4 to 16. It takes the place of
    /// keys, or of keysOut; there are no values and no valuesOut. Refused with
    /// TRM_VALUE_TYPE_INDEX, and where keys are dropped.
    Interleaved = 1,
    /// Keys and values of up to 16 bytes that are read may lie further apart than they are long, as members of larger structs do:
    /// keyStride and valueStride say how far. The result is dense: placement is TRM_PLACEMENT_PRESERVE.
    Strided = 2,
}

/// What takes a key to its bucket.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmBucketFunction {
    /// The value of a field of the key's bits from beginBit on, as many as number all buckets, none of them in another word of the
    /// key than the first. Keys whose value is no bucket lie behind those of the last one.
    Bits = 0,
    /// Ranges of equal width, one after the other: TrmSplitInfo::low and width. The first bucket also has all keys below, the last
    /// one all above: two of them are split by a pivot, low + width. Keys are integers of 32 or 64 bits.
    Range = 1,
    /// As many as there are TrmSplitInfo::splitters that are not above the key: the first bucket has all keys below the first of them, the
    /// last one those from the last on. Keys of 32 bits or more.
    Splitters = 2,
    /// What TrmSplitInfo::bucketIds say, one for each item, here uint8_t. Items whose id is no bucket lie behind those of the last one. Keys,
    /// of 32 bits or more, are read only to be moved.
    IdsU8 = 3,
    /// The same of uint16_t.
    IdsU16 = 4,
    /// The same of uint32_t.
    IdsU32 = 5,
    /// The signs of the key's words, each a float: one bit a word, the first word's the lowest. So directions of TRM_KEY_TYPE_U32X3 go to
    /// their octants. Keys are of TRM_KEY_TYPE_F32, U32, U32X2, U32X3 or U32X4, and buckets as many as there are combinations.
    Signs = 6,
    /// What a function of the caller says, in a kernel: trmCreateSplitterFromGlsl(), trmCreateSplitterFromSpirv(). Items that it takes to no
    /// bucket lie behind those of the last one. Keys of 32 bits or more.
    User = 7,
}

/// What becomes of the items of a split.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmSplitOutput {
    /// They go bucket by bucket, one bucket behind the other.
    Buckets = 0,
    /// Those of outputBucket alone are written, from the beginning on, and all others left out: a compaction. How many they are,
    /// TrmSplitInfo::counts tell.
    Bucket = 1,
    /// They go bucket by bucket, and TrmSplitInfo::starts say where each begins: a scatter.
    Placed = 2,
    /// They stay; what is told of the buckets is all that there is: a histogram.
    Counts = 3,
    /// They stay; to TrmSplitInfo::valuesOut goes for each item, a uint32_t in the order of the input, how many of its bucket come before
    /// it: a prefix sum for each bucket. Of items of no bucket, they are counted alike.
    Ranks = 4,
}

/// Which neighbouring items of a split are ranked together, and whether they are put in order before they leave: the three forms of "GPU
/// multisplit". All of them count, sum and move, and give the same bytes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmSplitMethod {
    /// Those of a workgroup, put in order in shared memory, so that those of one bucket leave together. (Block-level multisplit.)
    Workgroup = 0,
    /// Those of a subgroup - of 32 lanes at least, otherwise of as many subgroups as have them -, put in order in shared memory. (Warp-level
    /// multisplit.)
    Subgroup = 1,
    /// The same, in the order that they come in. (Direct multisplit.)
    Direct = 2,
}

/// How. All strategies give the same bytes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmStrategy {
    /// What the device's profile says: look-back on devices that are known to make progress, reduce-then-scan elsewhere.
    /// Of splits, reduce-then-scan where all keys are counted before the first item moves, and once.
    Auto = 0,
    /// One read and one write a digit: tiles wait, within bounds, for what the tiles before them publish.
    Lookback = 1,
    /// Never waits: count, scan, reorder; two reads and one write a digit.
    ReduceThenScan = 2,
    /// As look-back, but each tile waits for the prefix of the one before it.
    ChainedScan = 3,
    /// As look-back, with look-back words of constant size, 2 MiB at most, whatever the count: a ring whose entries are used
    /// again once nobody needs them, in groups of tiles.
    Ring = 4,
    /// As the ring, entries freed one by one in the order of the tiles.
    RingInOrder = 5,
}

/// For TrmSorterCreateInfo::flags: sorted keys are not wanted. The last pass does not write them, and what their array holds
/// afterwards means nothing. With TRM_PLACEMENT_PRESERVE there is no such array: keysOut is ignored. Refused with TRM_VALUE_TYPE_NONE, where
/// nothing would be left.
pub const TRM_SORTER_CREATE_DROP_KEYS_BIT: u32 = 1;

/// For TrmSorterCreateInfo::flags: the arrays are cut into segments, each of which is sorted by itself: TrmSortInfo::segments.
pub const TRM_SORTER_CREATE_SEGMENTED_BIT: u32 = 2;

/// For TrmSorterCreateInfo::flags: the sorter may be named in batches of several problems. Takes about twice as many pipelines.
pub const TRM_SORTER_CREATE_BATCHES_BIT: u32 = 4;

/// For TrmSorterCreateInfo::flags: the call returns without pipelines, and threads that call trmCompileSorter() create them.
pub const TRM_SORTER_CREATE_DEFERRED_BIT: u32 = 8;

/// Every bit of TrmSorterCreateInfo::flags.
/// cbindgen:ignore
#[cfg(feature = "sort")]
pub(super) const SORTER_CREATE_BITS: u32 = TRM_SORTER_CREATE_DROP_KEYS_BIT
    | TRM_SORTER_CREATE_SEGMENTED_BIT
    | TRM_SORTER_CREATE_BATCHES_BIT
    | TRM_SORTER_CREATE_DEFERRED_BIT;

/// For TrmSplitterCreateInfo::flags: keys are not wanted where they go, and keysOut is ignored. Refused with TRM_VALUE_TYPE_NONE, where
/// nothing would be left.
pub const TRM_SPLITTER_CREATE_DROP_KEYS_BIT: u32 = 1;

/// For TrmSplitterCreateInfo::flags: the arrays are cut into segments, each of which is split by itself: TrmSplitInfo::segments. Keys of 32 bits
/// or more, which go to TRM_SPLIT_OUTPUT_BUCKETS, 65,536 of them only by a function that takes every item to one.
pub const TRM_SPLITTER_CREATE_SEGMENTED_BIT: u32 = 2;

/// For TrmSplitterCreateInfo::flags: the splitter may be named in batches of several problems. Takes about twice as many pipelines.
pub const TRM_SPLITTER_CREATE_BATCHES_BIT: u32 = 4;

/// For TrmSplitterCreateInfo::flags: the call returns without pipelines, and threads that call trmCompileSplitter() create them.
pub const TRM_SPLITTER_CREATE_DEFERRED_BIT: u32 = 8;

/// Every bit of TrmSplitterCreateInfo::flags.
/// cbindgen:ignore
#[cfg(feature = "split")]
pub(super) const SPLITTER_CREATE_BITS: u32 = TRM_SPLITTER_CREATE_DROP_KEYS_BIT
    | TRM_SPLITTER_CREATE_SEGMENTED_BIT
    | TRM_SPLITTER_CREATE_BATCHES_BIT
    | TRM_SPLITTER_CREATE_DEFERRED_BIT;

/// Set in a status word: the count on the device was above its maximum, and the maximum was used; or offsets of segments lay beyond
/// the arrays, and were cut off.
pub const TRM_STATUS_COUNT_CLAMPED: u32 = 1;
const _: () = assert!(TRM_STATUS_COUNT_CLAMPED == crate::STATUS_COUNT_CLAMPED, "kernels write another bit");

/// Set in the status word of a split: some keys were of no bucket, and lie behind those of the last one.
pub const TRM_STATUS_NO_BUCKET: u32 = 2;
const _: () = assert!(TRM_STATUS_NO_BUCKET == crate::STATUS_NO_BUCKET, "kernels write another bit");

/// Set in the status word of a split with TRM_SPLIT_OUTPUT_PLACED: by what TrmSplitInfo::starts say, some items' places lie beyond the end of keysOut
/// or valuesOut. These items have not been written.
pub const TRM_STATUS_OUTPUT_CLAMPED: u32 = 4;
const _: () = assert!(TRM_STATUS_OUTPUT_CLAMPED == crate::STATUS_OUTPUT_CLAMPED, "kernels write another bit");

/// The engine's handle on the library. Immutable, so any number of threads may use it at once.
pub type TrmDevice = *mut TrmDevice_T;

/// Sorts of one kind. Immutable, so any number of threads may use it at once.
pub type TrmSorter = *mut TrmSorter_T;

/// Splits of one kind. Immutable, so any number of threads may use it at once.
pub type TrmSplitter = *mut TrmSplitter_T;

#[derive(Debug)]
pub struct TrmDevice_T(pub(super) crate::Device);

#[derive(Debug)]
pub struct TrmSorter_T(#[cfg(feature = "sort")] pub(super) crate::Sorter);

#[derive(Debug)]
pub struct TrmSplitter_T(#[cfg(feature = "split")] pub(super) crate::Splitter);

/// What every info struct begins with. Cast a pointer to an info to put it into a list of different ones.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmInfoHeader {
    pub s_type: raw::TrmStructureType,
    /// sizeof the struct, as the caller's header has it. Members past it count as zero. A larger one than the library
    /// knows is fine as long as what the library does not know is zero.
    pub struct_size: u32,
    /// Reserved, must be NULL.
    pub p_next: *const c_void,
}

/// How many items: known to the host, or lying on the device with a maximum known to the host.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmCount {
    /// The count, or the most it can be. A count on the device that is above it is clamped, and flagged in the status word.
    pub max: u32,
    /// Address of a uint32_t on the device, 4-aligned; 0: max is the count.
    pub address: VkDeviceAddress,
}

/// Where the arrays of a segmented sort or split are cut. All of it lies on the device and nothing is read back. A segment holds the items from
/// its offset up to the next offset. Offsets never fall; segments may be empty. Items before the first offset and from the last one
/// on are in no segment, and left alone.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmSegments {
    /// count.max + 1 words: one more than there are segments.
    pub offsets: TrmRange,
    /// How many segments, fewer than 2^30.
    pub count: TrmCount,
}

/// A range of device memory, by address, aligned to its elements: 4 bytes, or the size of narrower keys. The buffer behind it
/// has usage SHADER_DEVICE_ADDRESS | STORAGE_BUFFER. Give large buffers an allocation of their own
/// (VkMemoryDedicatedAllocateInfo): random access is up to six times as fast on some devices.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmRange {
    /// First byte.
    pub address: VkDeviceAddress,
    /// Bytes. May exceed what is used.
    pub size: VkDeviceSize,
}

/// Memory that a recorded call works in, from its first command to its last: before and after, it is the caller's to reuse.
/// Its contents need no preparation and mean nothing afterwards. The buffer has usage SHADER_DEVICE_ADDRESS |
/// STORAGE_BUFFER | INDIRECT_BUFFER | TRANSFER_DST.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmScratch {
    pub buffer: VkBuffer,
    /// First byte, a multiple of 4. Best a multiple of 256.
    pub offset: VkDeviceSize,
    /// Bytes.
    pub size: VkDeviceSize,
}

/// Queries of the caller's pool that a call writes: one before its first pass, then one after each.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmTimestamps {
    /// Of type TIMESTAMP, its queries reset; VK_NULL_HANDLE: not wanted.
    pub pool: VkQueryPool,
    /// The first query.
    pub first: u32,
}

/// What trmGetDeviceRequirements() asks about.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmDeviceRequirementsInfo {
    /// TRM_STRUCTURE_TYPE_DEVICE_REQUIREMENTS_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// The loader's, volk's or the driver's: the library links to none of them.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// Created for Vulkan 1.3 or later.
    pub instance: VkInstance,
    pub physical_device: VkPhysicalDevice,
    /// VkApplicationInfo::apiVersion that the instance was created with. 0 means VK_API_VERSION_1_0, as it does there. Vulkan cannot be asked
    /// for that version, and a physical device of Vulkan 1.3 is no more than the instance is.
    pub api_version: u32,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// What trmCreateDevice() takes. All handles stay the caller's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmDeviceCreateInfo {
    /// TRM_STRUCTURE_TYPE_DEVICE_CREATE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// The loader's, volk's or the driver's: the library links to none of them.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// Created for Vulkan 1.3 or later.
    pub instance: VkInstance,
    pub physical_device: VkPhysicalDevice,
    pub device: VkDevice,
    /// The features that the device was created with, and the chain behind them: Vulkan cannot be asked afterwards. Read
    /// during the call only.
    pub enabled_features: *const VkPhysicalDeviceFeatures2,
    /// The family that will execute, one of the physical device's, with compute; VK_QUEUE_FAMILY_IGNORED: unknown. 0 is the first family, in a zeroed
    /// struct and in one that ends before this member, too. A compute-only family is faster on some devices.
    pub queue_family_index: u32,
    /// VK_TRUE where the instance has VK_EXT_debug_utils: pipelines get names, commands get labels. TRM_ERROR_MISSING_FEATURE where it has not.
    pub debug_utils: VkBool32,
    /// Where pipelines are looked up and kept; VK_NULL_HANDLE: nowhere. Several threads use it at once: where it has been created with
    /// VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT, set creationThreads to 1, and let no other thread use it while a sorter or splitter
    /// is created or compiled.
    pub pipeline_cache: VkPipelineCache,
    /// Host memory for Vulkan's objects; NULL: the driver's own. Copied; what its functions use must live as long as the
    /// device.
    pub allocation_callbacks: *const VkAllocationCallbacks,
    /// Tile shapes and strategy, as the text that `trommel-bench --tune` writes; NULL: the built-in ones.
    pub profile: *const c_char,
    /// The most threads that create the pipelines of a sorter or splitter, the calling one among them; 0: as many as there are cores. Threads that
    /// the system does not give are done without. With allocationCallbacks the calling thread is the only one.
    pub creation_threads: u32,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// What trmCreateSorter() makes. Zeros: uint32_t keys alone, ascending, in place, strategy by the device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSorterCreateInfo {
    /// TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    pub key_type: raw::TrmKeyType,
    pub value_type: raw::TrmValueType,
    pub strategy: raw::TrmStrategy,
    /// TRM_SORTER_CREATE_..._BIT or 0.
    pub flags: u32,
    pub order: raw::TrmOrder,
    /// Bytes of a value, for TRM_VALUE_TYPE_BYTES; elsewhere 0.
    pub value_size: u32,
    /// First bit that is sorted by, counted from the least significant bit of the key as it is ordered: a float's or a signed
    /// integer's sign is turned before.
    pub begin_bit: u32,
    /// One past the last bit that is sorted by; 0: the key's last.
    pub end_bit: u32,
    pub placement: raw::TrmPlacement,
    pub layout: raw::TrmLayout,
    /// The largest count of any sort. 0: 2^30, beyond which kernels need 64-bit addresses and are a little slower, and keys
    /// narrower than 4 bytes and values of more than 16 cannot be.
    pub max_count: u32,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// One sort.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSortInfo {
    /// TRM_STRUCTURE_TYPE_SORT_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// In a batch: what sorts. For trmCmdSort(): NULL, or the same again.
    pub sorter: TrmSorter,
    /// How many keys, at most the sorter's maxCount. Of segments, how many the arrays hold, without an address: offsets beyond are cut
    /// off there and flagged in the status.
    pub count: TrmCount,
    /// count.max keys, or, interleaved, keys with their values. Written, unless placement preserves them; what lies past the count
    /// or between the keys never is.
    pub keys: TrmRange,
    /// count.max values, moved with their keys; indices are not read, only written. Ignored by a sorter of keys alone or of
    /// interleaved items, and where indices go to valuesOut.
    pub values: TrmRange,
    /// trmGetSorterScratch() bytes or more. Not used in a batch, which has its own.
    pub scratch: TrmScratch,
    /// Address of a uint32_t that is set to 0 or to TRM_STATUS_... bits; 0: not wanted.
    pub status: VkDeviceAddress,
    /// trmGetSorterTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
    /// count.max keys or interleaved items: where they go with TRM_PLACEMENT_PRESERVE, the second array with
    /// TRM_PLACEMENT_DOUBLE_BUFFER. Ignored elsewhere.
    pub keys_out: TrmRange,
    /// The same for values.
    pub values_out: TrmRange,
    /// Bytes from one key to the next, for TRM_LAYOUT_STRIDED: a multiple of the alignment, less than 2^16 words (2^16 bytes for
    /// keys narrower than a word). 0: dense, as keys are everywhere else.
    pub key_stride: u32,
    /// The same for values.
    pub value_stride: u32,
    /// Of a sorter with TRM_SORTER_CREATE_SEGMENTED_BIT, which items are sorted together. Zeros elsewhere.
    pub segments: TrmSegments,
}

/// What trmCreateSplitter() makes. Zeros, but for bucketCount: by the lowest bits of uint32_t keys alone, strategy by the device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSplitterCreateInfo {
    /// TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    pub key_type: raw::TrmKeyType,
    pub value_type: raw::TrmValueType,
    pub strategy: raw::TrmStrategy,
    /// TRM_SPLITTER_CREATE_..._BIT or 0.
    pub flags: u32,
    /// How many buckets, 1 to 65536. Above 256 items move twice, and keys have 32 bits or more.
    pub bucket_count: u32,
    pub bucket_function: raw::TrmBucketFunction,
    /// For TRM_BUCKET_FUNCTION_BITS, the field's first bit, counted from the least significant bit of the key as it is ordered: a
    /// float's or a signed integer's sign is turned before. Elsewhere 0.
    pub begin_bit: u32,
    /// Bytes of a value, for TRM_VALUE_TYPE_BYTES, a multiple of 4, at most 16; elsewhere 0.
    pub value_size: u32,
    /// How items lie. With TRM_LAYOUT_STRIDED, those that are written are dense.
    pub layout: raw::TrmLayout,
    /// The largest count of any split. 0: 2^30, beyond which kernels need 64-bit addresses and are a little slower; into no more than 256 buckets
    /// by bits or ranges of words, of keys of 4 bytes or more.
    pub max_count: u32,
    /// What becomes of the items: TRM_SPLIT_OUTPUT_COUNTS by TRM_STRATEGY_REDUCE_THEN_SCAN (or _AUTO), the others by any strategy. Of more
    /// than 256 buckets, those or TRM_SPLIT_OUTPUT_BUCKETS. Items that stay have no values here, and keys narrower than a word are either
    /// dropped, or stay, or go to TRM_SPLIT_OUTPUT_BUCKETS.
    pub output: raw::TrmSplitOutput,
    /// For TRM_SPLIT_OUTPUT_BUCKET: which. Elsewhere 0.
    pub output_bucket: u32,
    /// Which items are ranked together: by any strategy TRM_SPLIT_METHOD_WORKGROUP, which is the fastest on every device that has been measured;
    /// by TRM_STRATEGY_REDUCE_THEN_SCAN (or _AUTO) the others, to compare with it, of up to 2^30 items. Not of segments.
    pub method: raw::TrmSplitMethod,
    /// 0
    pub reserved: u32,
}

/// One split.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSplitInfo {
    /// TRM_STRUCTURE_TYPE_SPLIT_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// In a batch: what splits. For trmCmdSplit(): NULL, or the same again.
    pub splitter: TrmSplitter,
    /// How many items, at most the splitter's maxCount.
    pub count: TrmCount,
    /// count.max keys, or, interleaved, keys with their values. Only read.
    pub keys: TrmRange,
    /// count.max values; indices are not read. Ignored by a splitter of keys alone, of interleaved items or of indices.
    pub values: TrmRange,
    /// count.max keys or interleaved items: where they go, bucket by bucket. Of TRM_SPLIT_OUTPUT_PLACED, as many or more, and apart from
    /// everything else in all its length. Ignored where keys are dropped, or stay.
    pub keys_out: TrmRange,
    /// The same for values; of TRM_SPLIT_OUTPUT_RANKS, count.max words for these.
    pub values_out: TrmRange,
    /// Bytes from one key to the next, for TRM_LAYOUT_STRIDED: a multiple of the alignment, less than 2^16 words (2^16 bytes for
    /// keys narrower than a word). 0: dense, as keys are everywhere else.
    pub key_stride: u32,
    /// The same for values.
    pub value_stride: u32,
    /// For TRM_BUCKET_FUNCTION_RANGE: the first key of the first bucket, as the key's bits. Elsewhere 0.
    pub low: u64,
    /// For TRM_BUCKET_FUNCTION_RANGE: keys of each bucket, 1 or more, a number that the key has bits for. Elsewhere 0.
    pub width: u64,
    /// For TRM_BUCKET_FUNCTION_SPLITTERS: bucketCount - 1 keys of the keys' type, dense, in ascending order. Elsewhere zeros.
    pub splitters: TrmRange,
    /// For TRM_BUCKET_FUNCTION_IDS_...: the bucket of each item, count.max of them, dense. Elsewhere zeros.
    pub bucket_ids: TrmRange,
    /// For TRM_BUCKET_FUNCTION_USER: what the function finds as data.address, for what it reads besides the key; nothing that this split
    /// writes. Elsewhere 0.
    pub user_address: VkDeviceAddress,
    /// For TRM_BUCKET_FUNCTION_USER: what the function finds as data.words. Elsewhere zeros.
    pub user_words: [u32; 4],
    /// bucketCount + 1 words: how many items belong to the buckets before each, and to all. That is where each begins in what is written and
    /// where the last one ends, if they go bucket by bucket; behind it lie keys of no bucket. Of segments as many words for each, where its
    /// buckets begin in all that is written; those that segments.count.max allows and the device does not have are told as empty, here as in what
    /// follows. Zeros: not wanted.
    pub offsets: TrmRange,
    /// bucketCount words, of segments for each: how many items each bucket has. Zeros: not wanted.
    pub counts: TrmRange,
    /// bucketCount VkDispatchIndirectCommands, of segments for each: a workgroup for every commandItems items of the bucket, in one row, or, where the
    /// device takes no row as long, in several; groups beyond those that there are items for find none. Of an empty bucket (0, 1, 1). Its buffer has usage
    /// INDIRECT_BUFFER, too, where it is dispatched from. Zeros: not wanted.
    pub commands: TrmRange,
    /// Items that a workgroup of commands takes, 1 or more where they are wanted.
    pub command_items: u32,
    /// trmGetSplitterScratch() bytes or more. Not used in a batch, which has its own.
    pub scratch: TrmScratch,
    /// Address of a uint32_t that is set to 0 or to TRM_STATUS_... bits; 0: not wanted.
    pub status: VkDeviceAddress,
    /// trmGetSplitterTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
    /// For TRM_SPLIT_OUTPUT_PLACED: bucketCount words, where each bucket begins in what is written, in items; and one more, where items may
    /// belong to no bucket, for these. Items whose places lie beyond the end of keysOut or valuesOut, whichever holds fewer, or beyond 2^32 - 1, are not
    /// written, which TRM_STATUS_OUTPUT_CLAMPED tells. Buckets that overlap overwrite one another. Elsewhere zeros.
    pub starts: TrmRange,
    /// Of a splitter with TRM_SPLITTER_CREATE_SEGMENTED_BIT, which items are split together; those of no bucket lie behind the others of their
    /// segment. Zeros elsewhere.
    pub segments: TrmSegments,
}

/// Many problems to record together.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmBatchInfo {
    /// TRM_STRUCTURE_TYPE_BATCH_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// How many, at most 2^20.
    pub info_count: u32,
    /// infoCount pointers to TrmSortInfo, each with its sorter, and TrmSplitInfo, each with its splitter, in any order.
    pub infos: *const *const TrmInfoHeader,
    /// trmGetBatchScratch() bytes or more, for all of them.
    pub scratch: TrmScratch,
}
