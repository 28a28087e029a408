//! The structs and enums of the C ABI, field by field.

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

/// The types of enums in structs and parameters: C can store any 32-bit value in an enum. Each has the enum's name,
/// which the header uses.
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

/// The type of an info struct.
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

/// The type of a key. Key arrays are dense unless the layout is strided. They are aligned to the key's size, at most 4
/// bytes.
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

/// The order of the result. Equal keys keep the order of the input.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmOrder {
    /// Smallest key first.
    Ascending = 0,
    /// Largest key first.
    Descending = 1,
}

/// The type of the value that moves with each key.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmValueType {
    /// No values.
    None = 0,
    /// 4 bytes.
    U32 = 1,
    /// valueSize bytes, a multiple of 4, at most 4096. Values of up to 16 bytes move with their keys in every pass.
    /// Larger values are gathered once, at the end, by the index of their key in the input.
    Bytes = 2,
    /// A uint32_t: the index of the key in the input, counted from 0 (argsort). No values are read.
    Index = 3,
}

/// The arrays that hold the result.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmPlacement {
    /// The input arrays. Scratch includes arrays of the same length.
    InPlace = 0,
    /// keysOut and valuesOut; the input is not modified. Scratch includes arrays of the same length.
    Preserve = 1,
    /// Either the input arrays or keysOut and valuesOut: trmGetSorterResultSide() returns which. Both are written.
    /// Scratch includes no arrays of the same length, with three exceptions: keys narrower than a word, values of more
    /// than 16 bytes, and medium counts on devices that sort them by merging.
    DoubleBuffer = 2,
}

/// The layout of items in the caller's arrays.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmLayout {
    /// Keys in one array, values in another.
    Separate = 0,
    /// One array of {key, value} items in keys or keysOut; values and valuesOut are unused. Keys have 4 bytes or more,
    /// values 4 to 16. Not available with TRM_VALUE_TYPE_INDEX, nor with dropped keys.
    Interleaved = 1,
    /// Keys and values that are read have strides, as members of larger structs do: keyStride and valueStride, in
    /// bytes. Values have at most 16 bytes. The result is dense: placement is TRM_PLACEMENT_PRESERVE.
    Strided = 2,
}

/// The function that maps a key to its bucket.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmBucketFunction {
    /// The value of a bit field of the key. The field begins at beginBit and is just wide enough to number all buckets.
    /// All its bits lie in one word of the key. Keys whose field is not a bucket number are placed after the last
    /// bucket.
    Bits = 0,
    /// Consecutive ranges of equal width: TrmSplitInfo::low and width. The first bucket also takes all lower keys, the
    /// last bucket all higher keys. Two buckets are a partition by the pivot low + width. Keys are integers of 32 or 64
    /// bits.
    Range = 1,
    /// The number of TrmSplitInfo::splitters less than or equal to the key (upper bound). Keys below the first splitter
    /// are in bucket 0. Keys have 32 bits or more.
    Splitters = 2,
    /// TrmSplitInfo::bucketIds: one uint8_t for each item. Items whose id is not a bucket number are placed after the
    /// last bucket. Keys are moved but not inspected; they have 32 bits or more.
    IdsU8 = 3,
    /// As TRM_BUCKET_FUNCTION_IDS_U8, with ids of type uint16_t.
    IdsU16 = 4,
    /// As TRM_BUCKET_FUNCTION_IDS_U8, with ids of type uint32_t.
    IdsU32 = 5,
    /// The sign bits of the key's words, each a float: one bit a word, the first word's bit the lowest. Directions of
    /// TRM_KEY_TYPE_U32X3 are split into octants this way. Keys are TRM_KEY_TYPE_F32, U32, U32X2, U32X3 or U32X4.
    /// bucketCount is 2 to the power of the number of words.
    Signs = 6,
    /// A user-defined function in a kernel: trmCreateSplitterFromGlsl(), trmCreateSplitterFromSpirv(). Items for which
    /// it returns no bucket number are placed after the last bucket. Keys have 32 bits or more.
    User = 7,
}

/// The result of a split.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmSplitOutput {
    /// Items grouped by bucket, in the order of the buckets, without gaps.
    Buckets = 0,
    /// The items of outputBucket only, from the start of the output: a compaction. TrmSplitInfo::counts receives their
    /// number.
    Bucket = 1,
    /// Items grouped by bucket; each bucket begins at an index given in TrmSplitInfo::starts: a scatter.
    Placed = 2,
    /// No items: only the bucket information (offsets, counts, commands) is written. A histogram.
    Counts = 3,
    /// No items: TrmSplitInfo::valuesOut receives a uint32_t for each item, in input order. It is the number of earlier
    /// items in the same bucket: the item's rank. Items without a bucket are ranked among themselves.
    Ranks = 4,
}

/// The items that a split ranks together, and whether shared memory reorders them before the scatter. These are the
/// three forms of "GPU multisplit". All of them count, scan and scatter, and write the same bytes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmSplitMethod {
    /// The items of a workgroup, reordered in shared memory, so that items of one bucket are written together
    /// (block-level multisplit).
    Workgroup = 0,
    /// The items of a subgroup, reordered in shared memory (warp-level multisplit). Subgroups of fewer than 32 lanes
    /// are combined up to 32 lanes.
    Subgroup = 1,
    /// The items of a subgroup as in TRM_SPLIT_METHOD_SUBGROUP, scattered in input order without reordering (direct
    /// multisplit).
    Direct = 2,
}

/// The algorithm of a pass. All strategies write the same bytes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmStrategy {
    /// The device profile decides: look-back on devices with known forward progress, reduce-then-scan on others. Splits
    /// that count all keys before the first and only scatter pass use reduce-then-scan.
    Auto = 0,
    /// One read and one write a digit: tiles wait for aggregates and prefixes of preceding tiles (decoupled look-back).
    /// The wait is bounded.
    Lookback = 1,
    /// Count, scan, reorder; two reads and one write a digit. Tiles never wait.
    ReduceThenScan = 2,
    /// As look-back, but each tile waits for the inclusive prefix of its predecessor.
    ChainedScan = 3,
    /// As look-back, with tile words of constant size, at most 2 MiB for any count. They form a ring; groups of entries
    /// are reused once no tile reads them any more.
    Ring = 4,
    /// As TRM_STRATEGY_RING, but entries are freed one by one, in tile order.
    RingInOrder = 5,
}

/// Flag in TrmSorterCreateInfo::flags: the sorted keys are not needed. The last pass does not write them, and the
/// contents of the key array are undefined afterwards. With TRM_PLACEMENT_PRESERVE keysOut is ignored. Not available
/// with TRM_VALUE_TYPE_NONE, since nothing would be written.
pub const TRM_SORTER_CREATE_DROP_KEYS_BIT: u32 = 1;

/// Flag in TrmSorterCreateInfo::flags: the sorter sorts each segment of the arrays separately: TrmSortInfo::segments.
pub const TRM_SORTER_CREATE_SEGMENTED_BIT: u32 = 2;

/// Flag in TrmSorterCreateInfo::flags: the sorter may be used in batches of several problems. Needs about twice as many
/// pipelines.
pub const TRM_SORTER_CREATE_BATCHES_BIT: u32 = 4;

/// Flag in TrmSorterCreateInfo::flags: creation returns without pipelines. Threads that call trmCompileSorter() create
/// them.
pub const TRM_SORTER_CREATE_DEFERRED_BIT: u32 = 8;

/// All bits of TrmSorterCreateInfo::flags.
/// cbindgen:ignore
#[cfg(feature = "sort")]
pub(super) const SORTER_CREATE_BITS: u32 = TRM_SORTER_CREATE_DROP_KEYS_BIT
    | TRM_SORTER_CREATE_SEGMENTED_BIT
    | TRM_SORTER_CREATE_BATCHES_BIT
    | TRM_SORTER_CREATE_DEFERRED_BIT;

/// Flag in TrmSplitterCreateInfo::flags: keys are not written, and keysOut is ignored. Not available with
/// TRM_VALUE_TYPE_NONE, since nothing would be written.
pub const TRM_SPLITTER_CREATE_DROP_KEYS_BIT: u32 = 1;

/// Flag in TrmSplitterCreateInfo::flags: the splitter splits each segment of the arrays separately:
/// TrmSplitInfo::segments. Keys have 32 bits or more, and output is TRM_SPLIT_OUTPUT_BUCKETS. 65,536 buckets need a
/// function that returns a bucket for every item.
pub const TRM_SPLITTER_CREATE_SEGMENTED_BIT: u32 = 2;

/// Flag in TrmSplitterCreateInfo::flags: the splitter may be used in batches of several problems. Needs about twice as
/// many pipelines.
pub const TRM_SPLITTER_CREATE_BATCHES_BIT: u32 = 4;

/// Flag in TrmSplitterCreateInfo::flags: creation returns without pipelines. Threads that call trmCompileSplitter()
/// create them.
pub const TRM_SPLITTER_CREATE_DEFERRED_BIT: u32 = 8;

/// All bits of TrmSplitterCreateInfo::flags.
/// cbindgen:ignore
#[cfg(feature = "split")]
pub(super) const SPLITTER_CREATE_BITS: u32 = TRM_SPLITTER_CREATE_DROP_KEYS_BIT
    | TRM_SPLITTER_CREATE_SEGMENTED_BIT
    | TRM_SPLITTER_CREATE_BATCHES_BIT
    | TRM_SPLITTER_CREATE_DEFERRED_BIT;

/// Status bit: the count on the device exceeded its maximum, and the maximum was used; or segment offsets pointed past
/// the end of the arrays and were clamped.
pub const TRM_STATUS_COUNT_CLAMPED: u32 = 1;
const _: () = assert!(TRM_STATUS_COUNT_CLAMPED == crate::STATUS_COUNT_CLAMPED, "kernels write another bit");

/// Status bit of a split: some items have no bucket; they were placed after the last bucket.
pub const TRM_STATUS_NO_BUCKET: u32 = 2;
const _: () = assert!(TRM_STATUS_NO_BUCKET == crate::STATUS_NO_BUCKET, "kernels write another bit");

/// Status bit of a split with TRM_SPLIT_OUTPUT_PLACED: some items belong past the end of keysOut or valuesOut, by
/// TrmSplitInfo::starts. These items were not written.
pub const TRM_STATUS_OUTPUT_CLAMPED: u32 = 4;
const _: () = assert!(TRM_STATUS_OUTPUT_CLAMPED == crate::STATUS_OUTPUT_CLAMPED, "kernels write another bit");

/// The library on the engine's device. Immutable: any number of threads may use it at once.
pub type TrmDevice = *mut TrmDevice_T;

/// The pipelines for sorts with one key type, value type, order, placement and layout. Immutable: any number of threads
/// may use it at once.
pub type TrmSorter = *mut TrmSorter_T;

/// The pipelines for splits with one bucket function, key type, value type and layout. Immutable: any number of threads
/// may use it at once.
pub type TrmSplitter = *mut TrmSplitter_T;

#[derive(Debug)]
pub struct TrmDevice_T(pub(super) crate::Device);

#[derive(Debug)]
pub struct TrmSorter_T(#[cfg(feature = "sort")] pub(super) crate::Sorter);

#[derive(Debug)]
pub struct TrmSplitter_T(#[cfg(feature = "split")] pub(super) crate::Splitter);

/// The first members of every info struct. Cast a pointer to an info to TrmInfoHeader * to store infos of several types
/// in one list.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmInfoHeader {
    pub s_type: raw::TrmStructureType,
    /// sizeof the struct in the caller's header. Members past structSize count as zero. A struct larger than the
    /// library knows is accepted if all bytes beyond the known size are zero.
    pub struct_size: u32,
    /// Reserved, must be NULL.
    pub p_next: *const c_void,
}

/// A number of items: known on the host, or read from the device, with a maximum known on the host.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmCount {
    /// The count, or its maximum. A larger count on the device is clamped and flagged in the status word.
    pub max: u32,
    /// Device address of a uint32_t, a multiple of 4. 0: max is the count.
    pub address: VkDeviceAddress,
}

/// The segments of a segmented sort or split. Offsets are read on the device; nothing is read back to the host. A
/// segment contains the items from its offset up to the next offset. Offsets are non-decreasing; segments may be empty.
/// Items before the first and from the last offset on belong to no segment and are not modified.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmSegments {
    /// count.max + 1 words: one more than the number of segments.
    pub offsets: TrmRange,
    /// The number of segments, less than 2^30.
    pub count: TrmCount,
}

/// A range of device memory, by address. It is aligned to its elements: 4 bytes, or the size of narrower keys. The
/// buffer has usage SHADER_DEVICE_ADDRESS | STORAGE_BUFFER. Give large buffers a dedicated allocation
/// (VkMemoryDedicatedAllocateInfo): random access is up to six times as fast on some devices.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmRange {
    /// Address of the first byte.
    pub address: VkDeviceAddress,
    /// Size in bytes. May exceed the size in use.
    pub size: VkDeviceSize,
}

/// Working memory of a recorded call, in use from its first command to its last. The caller may use it for anything
/// before and after. It needs no initialization, and its contents are undefined afterwards. The buffer has usage
/// SHADER_DEVICE_ADDRESS | STORAGE_BUFFER | INDIRECT_BUFFER | TRANSFER_DST.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmScratch {
    pub buffer: VkBuffer,
    /// Offset of the first byte, a multiple of 4. A multiple of 256 is best.
    pub offset: VkDeviceSize,
    /// Size in bytes.
    pub size: VkDeviceSize,
}

/// Queries of the caller's pool that a call writes: one before its first pass, and one after each pass.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmTimestamps {
    /// A pool of type TIMESTAMP; the queries are reset. VK_NULL_HANDLE: no timestamps.
    pub pool: VkQueryPool,
    /// Index of the first query.
    pub first: u32,
}

/// The parameters of trmGetDeviceRequirements().
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmDeviceRequirementsInfo {
    /// TRM_STRUCTURE_TYPE_DEVICE_REQUIREMENTS_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// The entry point of the loader, of volk or of the driver. The library links to none of them.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// An instance for Vulkan 1.3 or later.
    pub instance: VkInstance,
    pub physical_device: VkPhysicalDevice,
    /// VkApplicationInfo::apiVersion at the creation of the instance. 0 means VK_API_VERSION_1_0, as in Vulkan. Vulkan
    /// has no query for this version, and an older instance limits a physical device of Vulkan 1.3.
    pub api_version: u32,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// The parameters of trmCreateDevice(). The caller keeps ownership of all handles.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmDeviceCreateInfo {
    /// TRM_STRUCTURE_TYPE_DEVICE_CREATE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// The entry point of the loader, of volk or of the driver. The library links to none of them.
    pub get_instance_proc_addr: PFN_vkGetInstanceProcAddr,
    /// An instance for Vulkan 1.3 or later.
    pub instance: VkInstance,
    pub physical_device: VkPhysicalDevice,
    pub device: VkDevice,
    /// The features that the device was created with, including the pNext chain: Vulkan has no query for them. Read
    /// during the call only.
    pub enabled_features: *const VkPhysicalDeviceFeatures2,
    /// The queue family that executes the commands: a family of the physical device with compute.
    /// VK_QUEUE_FAMILY_IGNORED: unknown. 0 is the first family, also in a zeroed struct and in a struct that ends
    /// before this member. A compute-only family is faster on some devices.
    pub queue_family_index: u32,
    /// VK_TRUE if the instance has VK_EXT_debug_utils: pipelines get names, commands get labels. VK_TRUE without the
    /// extension is TRM_ERROR_MISSING_FEATURE.
    pub debug_utils: VkBool32,
    /// Cache for pipelines; VK_NULL_HANDLE: none. Several threads use the cache at once. For a cache with
    /// VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT, set creationThreads to 1, and let no other thread use the
    /// cache while a sorter or splitter is created or compiled.
    pub pipeline_cache: VkPipelineCache,
    /// Host memory for Vulkan's objects; NULL: the driver's own. The struct is copied. The data of its functions must
    /// outlive the device.
    pub allocation_callbacks: *const VkAllocationCallbacks,
    /// Tile shapes and strategy, as text from `trommel-bench --tune`; NULL: the built-in profile.
    pub profile: *const c_char,
    /// Maximum number of threads that create the pipelines of a sorter or splitter, the calling thread included. 0: one
    /// for each core. If the system cannot create a thread, the others do its work. With allocationCallbacks the
    /// calling thread is the only one.
    pub creation_threads: u32,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// The parameters of trmCreateSorter(). A zeroed struct: uint32_t keys without values, ascending, in place, strategy by
/// the device.
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
    /// TRM_SORTER_CREATE_..._BIT flags or 0.
    pub flags: u32,
    pub order: raw::TrmOrder,
    /// Size of a value in bytes, for TRM_VALUE_TYPE_BYTES; otherwise 0.
    pub value_size: u32,
    /// First bit to sort by, counted from the least significant bit of the encoded key. The encoding maps signed
    /// integers and floats to unsigned integers of the same order.
    pub begin_bit: u32,
    /// One past the last bit to sort by; 0: all bits from beginBit on.
    pub end_bit: u32,
    pub placement: raw::TrmPlacement,
    pub layout: raw::TrmLayout,
    /// Maximum count of any sort. 0: 2^30. Larger maxima need 64-bit addressing, which is slightly slower. They exclude
    /// keys narrower than 4 bytes and values of more than 16 bytes.
    pub max_count: u32,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// The parameters of one sort.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSortInfo {
    /// TRM_STRUCTURE_TYPE_SORT_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// In a batch: the sorter. For trmCmdSort(): NULL, or the same sorter.
    pub sorter: TrmSorter,
    /// Number of keys, at most the sorter's maxCount. With segments: the length of the arrays, known on the host
    /// (address is 0). Offsets past it are clamped and flagged in the status word.
    pub count: TrmCount,
    /// count.max keys, or {key, value} items if interleaved. Overwritten unless placement preserves them. Bytes past
    /// the count or between keys are never written.
    pub keys: TrmRange,
    /// count.max values, moved with their keys. Indices are written but not read. Ignored without values, with
    /// interleaved items, and if indices go to valuesOut.
    pub values: TrmRange,
    /// trmGetSorterScratch() bytes or more. Not used in a batch, which has its own scratch.
    pub scratch: TrmScratch,
    /// Device address of a uint32_t that receives TRM_STATUS_... bits or 0. 0: no status.
    pub status: VkDeviceAddress,
    /// trmGetSorterTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
    /// count.max keys or interleaved items: the result with TRM_PLACEMENT_PRESERVE, the second array with
    /// TRM_PLACEMENT_DOUBLE_BUFFER. Otherwise ignored.
    pub keys_out: TrmRange,
    /// As keysOut, for values.
    pub values_out: TrmRange,
    /// Bytes from one key to the next, for TRM_LAYOUT_STRIDED: a multiple of the alignment, less than 2^16 words (2^16
    /// bytes for keys narrower than a word). 0: dense, as in the other layouts.
    pub key_stride: u32,
    /// As keyStride, for values.
    pub value_stride: u32,
    /// The segments, for a sorter with TRM_SORTER_CREATE_SEGMENTED_BIT. Otherwise zeros.
    pub segments: TrmSegments,
}

/// The parameters of trmCreateSplitter(). A struct of zeros except for bucketCount: by the lowest bits of uint32_t
/// keys, no values, strategy by the device.
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
    /// TRM_SPLITTER_CREATE_..._BIT flags or 0.
    pub flags: u32,
    /// Number of buckets, 1 to 65536. More than 256 buckets need two scatter passes and keys of 32 bits or more.
    pub bucket_count: u32,
    pub bucket_function: raw::TrmBucketFunction,
    /// For TRM_BUCKET_FUNCTION_BITS: first bit of the field, counted from the least significant bit of the encoded key.
    /// The encoding maps signed integers and floats to unsigned integers of the same order. Otherwise 0.
    pub begin_bit: u32,
    /// Size of a value in bytes, for TRM_VALUE_TYPE_BYTES: a multiple of 4, at most 16. Otherwise 0.
    pub value_size: u32,
    /// The layout of the input. With TRM_LAYOUT_STRIDED, the output is dense.
    pub layout: raw::TrmLayout,
    /// Maximum count of any split. 0: 2^30. Larger maxima need 64-bit addressing, which is slightly slower. They need
    /// at most 256 buckets by bits, or by ranges of 32-bit keys, and keys of 4 bytes or more.
    pub max_count: u32,
    /// The result of the split.
    /// - TRM_SPLIT_OUTPUT_COUNTS needs TRM_STRATEGY_REDUCE_THEN_SCAN or _AUTO.
    /// - TRM_SPLIT_OUTPUT_COUNTS and TRM_SPLIT_OUTPUT_RANKS write no items: valueType is TRM_VALUE_TYPE_NONE.
    /// - With TRM_SPLIT_OUTPUT_BUCKET and TRM_SPLIT_OUTPUT_PLACED, keys narrower than a word must be dropped.
    /// - More than 256 buckets need TRM_SPLIT_OUTPUT_BUCKETS or TRM_SPLIT_OUTPUT_COUNTS.
    pub output: raw::TrmSplitOutput,
    /// The bucket of TRM_SPLIT_OUTPUT_BUCKET. Otherwise 0.
    pub output_bucket: u32,
    /// The items that are ranked together. TRM_SPLIT_METHOD_WORKGROUP works with every strategy and is the fastest on
    /// every measured device. The others exist for comparison. They need TRM_STRATEGY_REDUCE_THEN_SCAN or _AUTO, at
    /// most 2^30 items, and no segments.
    pub method: raw::TrmSplitMethod,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// The parameters of one split.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSplitInfo {
    /// TRM_STRUCTURE_TYPE_SPLIT_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// In a batch: the splitter. For trmCmdSplit(): NULL, or the same splitter.
    pub splitter: TrmSplitter,
    /// Number of items, at most the splitter's maxCount.
    pub count: TrmCount,
    /// count.max keys, or {key, value} items if interleaved. Only read.
    pub keys: TrmRange,
    /// count.max values. Ignored without values, with interleaved items and with TRM_VALUE_TYPE_INDEX.
    pub values: TrmRange,
    /// count.max keys or interleaved items: the keys grouped by bucket. For TRM_SPLIT_OUTPUT_PLACED: as many or more;
    /// the whole range must not overlap any other. Ignored if keys are dropped or the output has no items.
    pub keys_out: TrmRange,
    /// As keysOut, for values. For TRM_SPLIT_OUTPUT_RANKS: count.max words for the ranks.
    pub values_out: TrmRange,
    /// Bytes from one key to the next, for TRM_LAYOUT_STRIDED: a multiple of the alignment, less than 2^16 words (2^16
    /// bytes for keys narrower than a word). 0: dense, as in the other layouts.
    pub key_stride: u32,
    /// As keyStride, for values.
    pub value_stride: u32,
    /// For TRM_BUCKET_FUNCTION_RANGE: the first key of the first bucket, as the bits of a key. Otherwise 0.
    pub low: u64,
    /// For TRM_BUCKET_FUNCTION_RANGE: the number of keys in each bucket, from 1 to the largest number that fits the
    /// bits of a key. Otherwise 0.
    pub width: u64,
    /// For TRM_BUCKET_FUNCTION_SPLITTERS: bucketCount - 1 splitters of the key type, dense, in ascending order.
    /// Otherwise zeros.
    pub splitters: TrmRange,
    /// For TRM_BUCKET_FUNCTION_IDS_...: count.max bucket numbers, one for each item, dense. Otherwise zeros.
    pub bucket_ids: TrmRange,
    /// For TRM_BUCKET_FUNCTION_USER: data.address in the function, the address of additional input. The split must not
    /// write this memory. Otherwise 0.
    pub user_address: VkDeviceAddress,
    /// For TRM_BUCKET_FUNCTION_USER: data.words in the function. Otherwise zeros.
    pub user_words: [u32; 4],
    /// bucketCount + 1 words: for each bucket the number of items in the buckets before it, then the number of items in
    /// all buckets. In an output grouped by bucket, these are the start of each bucket and the end of the last one.
    /// Items without a bucket follow the last bucket. With segments: as many words for each segment, as indices into
    /// the whole output. Segments up to segments.count.max that do not exist on the device get the values of empty
    /// segments, here and in counts and commands. Zeros: not written.
    pub offsets: TrmRange,
    /// bucketCount words, for each segment if segmented: the number of items in each bucket. Zeros: not written.
    pub counts: TrmRange,
    /// bucketCount VkDispatchIndirectCommand, for each segment if segmented: one workgroup for every commandItems items
    /// of the bucket. The workgroups are in one row (y = 1) or, if they exceed the device's limit on x, in several
    /// rows. The last row may have workgroups without items. The command of an empty bucket is (0, 1, 1). The buffer
    /// also needs usage INDIRECT_BUFFER for the dispatch. Zeros: not written.
    pub commands: TrmRange,
    /// Items for each workgroup of a command, 1 or more if commands are written.
    pub command_items: u32,
    /// trmGetSplitterScratch() bytes or more. Not used in a batch, which has its own scratch.
    pub scratch: TrmScratch,
    /// Device address of a uint32_t that receives TRM_STATUS_... bits or 0. 0: no status.
    pub status: VkDeviceAddress,
    /// trmGetSplitterTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
    /// For TRM_SPLIT_OUTPUT_PLACED: bucketCount words, the index of each bucket's first item in the output. If items
    /// may have no bucket, one more word for these. Items past the end of keysOut or valuesOut, whichever holds fewer,
    /// or past index 2^32 - 1 are not written; TRM_STATUS_OUTPUT_CLAMPED reports them. Overlapping buckets overwrite
    /// one another. Otherwise zeros.
    pub starts: TrmRange,
    /// The segments, for a splitter with TRM_SPLITTER_CREATE_SEGMENTED_BIT. Items without a bucket are placed at the
    /// end of their segment. Otherwise zeros.
    pub segments: TrmSegments,
}

/// The parameters of a batch: problems that are recorded together.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmBatchInfo {
    /// TRM_STRUCTURE_TYPE_BATCH_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// Number of problems, at most 2^20.
    pub info_count: u32,
    /// infoCount pointers to TrmSortInfo (each with its sorter) and TrmSplitInfo (each with its splitter), in any
    /// order.
    pub infos: *const *const TrmInfoHeader,
    /// trmGetBatchScratch() bytes or more, for all problems.
    pub scratch: TrmScratch,
}
