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
}

/// What the keys are.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmKeyType {
    /// uint32_t, in ascending order.
    U32 = 0,
}

/// What moves with each key.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmValueType {
    /// Nothing.
    None = 0,
    /// 4 bytes, in an array of their own.
    U32 = 1,
}

/// How. All strategies give the same bytes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmStrategy {
    /// What the device's profile says: look-back on devices that are known to make progress, the other elsewhere.
    Auto = 0,
    /// One read and one write a digit: tiles wait, within bounds, for what the tiles before them publish.
    Lookback = 1,
    /// Never waits: count, scan, reorder; two reads and one write a digit.
    ReduceThenScan = 2,
}

/// Set in a status word: the count on the device was above its maximum, and the maximum was used.
pub const TRM_STATUS_COUNT_CLAMPED: u32 = 1;
const _: () = assert!(TRM_STATUS_COUNT_CLAMPED == crate::STATUS_COUNT_CLAMPED, "kernels write another bit");

/// The engine's handle on the library. Immutable, so any number of threads may use it at once.
pub type TrmDevice = *mut TrmDevice_T;

/// Sorts of one kind. Immutable, so any number of threads may use it at once.
pub type TrmSorter = *mut TrmSorter_T;

#[derive(Debug)]
pub struct TrmDevice_T(pub(super) crate::Device);

#[derive(Debug)]
pub struct TrmSorter_T(#[cfg(feature = "sort")] pub(super) crate::Sorter);

/// What every info struct begins with. Cast a pointer to an info to put it into a list of different ones.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmInfoHeader {
    pub s_type: raw::TrmStructureType,
    /// sizeof the struct, as the caller's header has it. Members past it take their defaults. A larger one than the library
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

/// A range of device memory, by address, aligned to its elements: 4 bytes. The buffer behind it has usage
/// SHADER_DEVICE_ADDRESS | STORAGE_BUFFER. Give large buffers an allocation of their own (VkMemoryDedicatedAllocateInfo):
/// random access is up to six times as fast on some devices.
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
    /// The family that will execute; VK_QUEUE_FAMILY_IGNORED, the default: unknown. A compute-only family is faster on some
    /// devices.
    pub queue_family_index: u32,
    /// VK_TRUE where the instance has VK_EXT_debug_utils: pipelines get names, commands get labels.
    pub debug_utils: VkBool32,
    /// Where pipelines are looked up and kept; VK_NULL_HANDLE: nowhere.
    pub pipeline_cache: VkPipelineCache,
    /// Host memory for Vulkan's objects; NULL: the driver's own. Copied; what its functions use must live as long as the
    /// device.
    pub allocation_callbacks: *const VkAllocationCallbacks,
    /// Tile shapes and strategy, as the text that `trommel-bench --tune` writes; NULL: the built-in ones.
    pub profile: *const c_char,
}

/// What trmCreateSorter() makes. Zeros: keys alone, strategy by the device.
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
    /// Reserved, must be 0.
    pub flags: u32,
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
    /// How many keys, at most 2^30.
    pub count: TrmCount,
    /// count.max keys, sorted in place. Nothing past the count is written.
    pub keys: TrmRange,
    /// count.max values, moved with their keys; ignored by a sorter of keys alone.
    pub values: TrmRange,
    /// trmGetSorterScratch() bytes or more. Not used in a batch, which has its own.
    pub scratch: TrmScratch,
    /// Address of a uint32_t that is set to 0 or to TRM_STATUS_... bits; 0: not wanted.
    pub status: VkDeviceAddress,
    /// trmGetSorterTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
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
    /// infoCount pointers to TrmSortInfo, each with its sorter.
    pub infos: *const *const TrmInfoHeader,
    /// trmGetBatchScratch() bytes or more, for all of them.
    pub scratch: TrmScratch,
}
