//! The structs of the C ABI that all primitives share, member by member.

use super::TrmStructureType;
use super::layout::declarations;
use crate::Scratch;
// cbindgen.toml has these names, too.
pub use crate::{Count as TrmCount, Range as TrmRange, Scratch as TrmScratch};
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
}

/// Status bit: the count on the device exceeded its maximum, and the maximum was used; or segment offsets pointed past
/// the end of the arrays and were clamped.
pub const TRM_STATUS_COUNT_CLAMPED: u32 = 1;
const _: () = assert!(TRM_STATUS_COUNT_CLAMPED == crate::STATUS_COUNT_CLAMPED, "kernels write another bit");

/// The library on the engine's device. Immutable: any number of threads may use it at once.
pub type TrmDevice = *mut TrmDevice_T;

#[derive(Debug)]
pub struct TrmDevice_T(pub(super) crate::Device);

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
    /// VK_QUEUE_FAMILY_IGNORED: unknown. A zeroed struct, or one that ends before this member, selects family 0. A
    /// compute-only family is faster on some devices.
    pub queue_family_index: u32,
    /// VK_TRUE if the instance has VK_EXT_debug_utils: pipelines get names, commands get labels. VK_TRUE without the
    /// extension is TRM_ERROR_MISSING_FEATURE.
    pub debug_utils: VkBool32,
    /// Cache for pipelines; VK_NULL_HANDLE: none. Several threads use the cache at once. For a cache with
    /// VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT, set creationThreads to 1, and let no other thread use the
    /// cache while a handle is created or compiled.
    pub pipeline_cache: VkPipelineCache,
    /// Host memory for Vulkan's objects; NULL: the driver's own. The struct is copied. The data of its functions must
    /// outlive the device.
    pub allocation_callbacks: *const VkAllocationCallbacks,
    /// Tile shapes and strategy, as text from `trommel-bench --tune`; NULL: the built-in profile.
    pub profile: *const c_char,
    /// Maximum number of threads that create the pipelines of a sorter or another handle, the calling thread included.
    /// 0: one for each core. If the system cannot create a thread, the others do its work. With allocationCallbacks the
    /// calling thread is the only one.
    pub creation_threads: u32,
    /// Reserved, must be 0.
    pub reserved: u32,
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
    /// infoCount pointers to infos of requests, such as TrmSortInfo, each with its handle, in any order.
    pub infos: *const *const TrmInfoHeader,
    /// trmGetBatchScratch() bytes or more, for all problems.
    pub scratch: Scratch,
}

declarations! {
    structs {
        TrmInfoHeader { s_type, struct_size, p_next }
        TrmCount { max, address }
        TrmRange { address, size }
        TrmScratch { buffer, offset, size }
        TrmTimestamps { pool, first }
        TrmDeviceRequirementsInfo {
            s_type, struct_size, p_next, get_instance_proc_addr, instance, physical_device, api_version, reserved
        }
        TrmDeviceCreateInfo {
            s_type, struct_size, p_next, get_instance_proc_addr, instance, physical_device, device, enabled_features,
            queue_family_index, debug_utils, pipeline_cache, allocation_callbacks, profile, creation_threads,
            reserved
        }
        TrmBatchInfo { s_type, struct_size, p_next, info_count, infos, scratch }
    }
    values {
        "TRM_STRUCTURE_TYPE_DEVICE_REQUIREMENTS_INFO" = TrmStructureType::DeviceRequirementsInfo,
        "TRM_STRUCTURE_TYPE_DEVICE_CREATE_INFO" = TrmStructureType::DeviceCreateInfo,
        "TRM_STRUCTURE_TYPE_BATCH_INFO" = TrmStructureType::BatchInfo,
        "TRM_STATUS_COUNT_CLAMPED" = TRM_STATUS_COUNT_CLAMPED,
    }
}
