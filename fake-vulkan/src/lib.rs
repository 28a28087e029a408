//! Vulkan's functions for tests without a driver. [`get_proc_addr`] finds every function that trommel looks up; each
//! forwards to a [`Driver`], which decides what handles are, and what to log and to check.

use ash::vk;
use ash::vk::Handle as _;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use trommel::DeviceFacts;

/// Limits that every physical device has.
pub const PUSH_BYTES: u32 = 128;
/// The most workgroups in y and z.
pub const MOST_GROUPS_Y: u32 = 65_535;
/// All bits of [`set_features`].
pub const ALL_FEATURES: u32 = 0xff;

/// A physical device, as its properties and features describe it.
#[derive(Clone, Copy, Debug)]
pub struct PhysicalDevice<'a> {
    /// Limits, subgroups and vendor.
    pub facts: &'a DeviceFacts,
    /// The Vulkan version of the device.
    pub api_version: u32,
    /// Bits of the supported features, in the order of [`set_features`].
    pub features: u32,
    /// The queue families.
    pub families: &'a [vk::QueueFlags],
}

/// An object to be created.
#[derive(Clone, Copy, Debug)]
pub enum NewObject<'a> {
    /// `vkCreatePipelineLayout`
    PipelineLayout,
    /// `vkCreateShaderModule`, with the words of the module.
    ShaderModule(&'a [u32]),
    /// `vkCreateComputePipelines`, once for each pipeline.
    Pipeline {
        /// The module of the stage.
        module: vk::ShaderModule,
        /// The layout of the pipeline.
        layout: vk::PipelineLayout,
    },
}

/// A recorded command.
#[derive(Clone, Copy, Debug)]
pub enum Command<'a> {
    /// `vkCmdBindPipeline`
    BindPipeline(vk::PipelineBindPoint, vk::Pipeline),
    /// `vkCmdPushConstants`
    PushConstants {
        /// The pipeline layout.
        layout: vk::PipelineLayout,
        /// The stages.
        stages: vk::ShaderStageFlags,
        /// The first byte that is replaced.
        offset: u32,
        /// The new bytes.
        bytes: &'a [u8],
    },
    /// `vkCmdDispatch`: workgroups in x, y and z.
    Dispatch([u32; 3]),
    /// `vkCmdDispatchIndirect`: buffer and offset.
    DispatchIndirect(vk::Buffer, vk::DeviceSize),
    /// `vkCmdPipelineBarrier2`
    PipelineBarrier {
        /// The memory barriers.
        memory: &'a [vk::MemoryBarrier2<'a>],
        /// The number of buffer and image barriers.
        others: u32,
    },
    /// `vkCmdUpdateBuffer`: buffer, offset and bytes.
    UpdateBuffer(vk::Buffer, vk::DeviceSize, &'a [u8]),
    /// `vkCmdFillBuffer`: buffer, offset, size and word.
    FillBuffer(vk::Buffer, vk::DeviceSize, vk::DeviceSize, u32),
    /// `vkCmdWriteTimestamp2`: stage, pool and query.
    WriteTimestamp(vk::PipelineStageFlags2, vk::QueryPool, u32),
    /// `vkCmdBeginDebugUtilsLabelEXT`; no name: the pointer is null.
    BeginLabel(Option<&'a CStr>),
    /// `vkCmdEndDebugUtilsLabelEXT`
    EndLabel,
}

/// A Vulkan that executes nothing. Handles are what the driver has made, and what its user passes to the library.
pub trait Driver {
    /// Stands for core functions that the library looks up and does not call. Without it, they are not found.
    const UNCALLED: vk::PFN_vkVoidFunction = None;

    /// Whether a function is found. `handle`: the instance or the device; 0: none.
    ///
    /// # Safety
    /// The handles are the driver's and alive.
    unsafe fn has_function(handle: u64, name: &[u8]) -> bool;

    /// The physical device of a handle.
    ///
    /// # Safety
    /// The handle is the driver's, and the device outlives `'a`.
    unsafe fn physical_device<'a>(handle: vk::PhysicalDevice) -> PhysicalDevice<'a>;

    /// Creates an object and returns its handle.
    ///
    /// # Errors
    /// The result that the creation returns instead.
    ///
    /// # Safety
    /// The handles are the driver's and alive.
    unsafe fn create(
        device: vk::Device,
        object: NewObject<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) -> Result<u64, vk::Result>;

    /// Destroys an object of a type; the handle may be null.
    ///
    /// # Safety
    /// The handles are the driver's and alive.
    unsafe fn destroy(
        device: vk::Device,
        kind: vk::ObjectType,
        object: u64,
        callbacks: *const vk::AllocationCallbacks<'_>,
    );

    /// The address of a buffer.
    ///
    /// # Safety
    /// The handles are the driver's and alive.
    unsafe fn buffer_address(device: vk::Device, buffer: vk::Buffer) -> vk::DeviceAddress;

    /// Records a command.
    ///
    /// # Safety
    /// The handles are the driver's and alive.
    unsafe fn record(commands: vk::CommandBuffer, command: Command<'_>);
}

/// Enables each feature that has its bit set.
pub fn set_features(
    v12: &mut vk::PhysicalDeviceVulkan12Features<'_>,
    v13: &mut vk::PhysicalDeviceVulkan13Features<'_>,
    bits: u32,
) {
    let bit = |index: u32| bits >> index & 1;
    v12.buffer_device_address = bit(0);
    v12.vulkan_memory_model = bit(1);
    v12.vulkan_memory_model_device_scope = bit(2);
    v12.scalar_block_layout = bit(3);
    v13.synchronization2 = bit(4);
    v13.subgroup_size_control = bit(5);
    v13.compute_full_subgroups = bit(6);
    v13.maintenance4 = bit(7);
}

/// `vkGetInstanceProcAddr` of a driver.
///
/// # Safety
/// The name is a string. The instance is the driver's, or null.
pub unsafe extern "system" fn get_proc_addr<D: Driver>(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's promise.
    unsafe { find::<D>(instance.as_raw(), CStr::from_ptr(name)) }
}

unsafe extern "system" fn get_device_proc_addr<D: Driver>(
    device: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: the name is a string, the device is the driver's.
    unsafe { find::<D>(device.as_raw(), CStr::from_ptr(name)) }
}

/// # Safety
/// The handle is the driver's and alive, or null.
unsafe fn find<D: Driver>(handle: u64, name: &CStr) -> vk::PFN_vkVoidFunction {
    let name = name.to_bytes();
    // SAFETY: the caller's promise.
    if unsafe { D::has_function(handle, name) } { function::<D>(name).or(D::UNCALLED) } else { None }
}

fn function<D: Driver>(name: &[u8]) -> vk::PFN_vkVoidFunction {
    macro_rules! table {
        ($($name:literal = $function:expr => $type:ident,)*) => {
            match name {
                // SAFETY: a function of that type, which the caller of that name casts it back to.
                $($name => Some(unsafe { transmute::<vk::$type, unsafe extern "system" fn()>($function) }),)*
                _ => None,
            }
        };
    }
    table! {
        b"vkGetDeviceProcAddr" = get_device_proc_addr::<D> => PFN_vkGetDeviceProcAddr,
        b"vkEnumerateInstanceVersion" = instance_version => PFN_vkEnumerateInstanceVersion,
        b"vkGetPhysicalDeviceProperties" = properties::<D> => PFN_vkGetPhysicalDeviceProperties,
        b"vkGetPhysicalDeviceProperties2" = properties2::<D> => PFN_vkGetPhysicalDeviceProperties2,
        b"vkGetPhysicalDeviceFeatures2" = features2::<D> => PFN_vkGetPhysicalDeviceFeatures2,
        b"vkGetPhysicalDeviceQueueFamilyProperties" = families::<D> => PFN_vkGetPhysicalDeviceQueueFamilyProperties,
        b"vkCreatePipelineLayout" = create_layout::<D> => PFN_vkCreatePipelineLayout,
        b"vkDestroyPipelineLayout" = destroy_layout::<D> => PFN_vkDestroyPipelineLayout,
        b"vkCreateShaderModule" = create_module::<D> => PFN_vkCreateShaderModule,
        b"vkDestroyShaderModule" = destroy_module::<D> => PFN_vkDestroyShaderModule,
        b"vkCreateComputePipelines" = create_pipelines::<D> => PFN_vkCreateComputePipelines,
        b"vkDestroyPipeline" = destroy_pipeline::<D> => PFN_vkDestroyPipeline,
        b"vkGetBufferDeviceAddress" = buffer_address::<D> => PFN_vkGetBufferDeviceAddress,
        b"vkCmdBindPipeline" = bind::<D> => PFN_vkCmdBindPipeline,
        b"vkCmdPushConstants" = push::<D> => PFN_vkCmdPushConstants,
        b"vkCmdDispatch" = dispatch::<D> => PFN_vkCmdDispatch,
        b"vkCmdDispatchIndirect" = dispatch_indirect::<D> => PFN_vkCmdDispatchIndirect,
        b"vkCmdPipelineBarrier2" = barrier::<D> => PFN_vkCmdPipelineBarrier2,
        b"vkCmdUpdateBuffer" = update::<D> => PFN_vkCmdUpdateBuffer,
        b"vkCmdFillBuffer" = fill::<D> => PFN_vkCmdFillBuffer,
        b"vkCmdWriteTimestamp2" = timestamp::<D> => PFN_vkCmdWriteTimestamp2,
        b"vkSetDebugUtilsObjectNameEXT" = set_name => PFN_vkSetDebugUtilsObjectNameEXT,
        b"vkCmdBeginDebugUtilsLabelEXT" = begin_label::<D> => PFN_vkCmdBeginDebugUtilsLabelEXT,
        b"vkCmdEndDebugUtilsLabelEXT" = end_label::<D> => PFN_vkCmdEndDebugUtilsLabelEXT,
    }
}

unsafe extern "system" fn instance_version(version: *mut u32) -> vk::Result {
    // SAFETY: the caller's memory.
    unsafe { *version = vk::API_VERSION_1_3 };
    vk::Result::SUCCESS
}

unsafe extern "system" fn properties<D: Driver>(
    device: vk::PhysicalDevice,
    properties: *mut vk::PhysicalDeviceProperties,
) {
    // SAFETY: the handle is the driver's.
    let PhysicalDevice { facts, api_version, .. } = unsafe { D::physical_device(device) };
    let device_type = if facts.is_cpu { vk::PhysicalDeviceType::CPU } else { vk::PhysicalDeviceType::DISCRETE_GPU };
    let limits = vk::PhysicalDeviceLimits {
        max_compute_work_group_invocations: facts.max_invocations,
        max_compute_work_group_size: [facts.max_invocations; 3],
        max_compute_work_group_count: [facts.max_groups_x, MOST_GROUPS_Y, MOST_GROUPS_Y],
        max_compute_shared_memory_size: facts.shared_memory,
        max_push_constants_size: PUSH_BYTES,
        ..Default::default()
    };
    let vendor_id = facts.vendor_id;
    // SAFETY: the caller's struct.
    unsafe {
        *properties = vk::PhysicalDeviceProperties { api_version, vendor_id, device_type, limits, ..Default::default() }
    };
}

unsafe extern "system" fn properties2<D: Driver>(
    device: vk::PhysicalDevice,
    into: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    // SAFETY: the handle is the driver's; the caller's structs each begin with their type and the next one's address.
    unsafe {
        let facts = D::physical_device(device).facts;
        properties::<D>(device, &raw mut (*into).properties);
        let mut next = (*into).p_next.cast::<vk::BaseOutStructure<'_>>();
        while let Some(base) = next.as_mut() {
            match base.s_type {
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES => {
                    let v11 = &mut *next.cast::<vk::PhysicalDeviceVulkan11Properties<'_>>();
                    v11.subgroup_supported_operations = vk::SubgroupFeatureFlags::from_raw(0xff);
                    v11.subgroup_supported_stages = vk::ShaderStageFlags::ALL;
                }
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES => {
                    let v13 = &mut *next.cast::<vk::PhysicalDeviceVulkan13Properties<'_>>();
                    v13.min_subgroup_size = facts.min_lanes;
                    v13.max_subgroup_size = facts.max_lanes;
                    v13.max_compute_workgroup_subgroups = facts.max_subgroups;
                    if facts.lanes_selectable {
                        v13.required_subgroup_size_stages = vk::ShaderStageFlags::COMPUTE;
                    }
                }
                _ => {}
            }
            next = base.p_next;
        }
    }
}

unsafe extern "system" fn features2<D: Driver>(device: vk::PhysicalDevice, into: *mut vk::PhysicalDeviceFeatures2<'_>) {
    // SAFETY: the handle is the driver's; the caller's structs each begin with their type and the next one's address.
    unsafe {
        let bits = D::physical_device(device).features;
        let (mut spare12, mut spare13) = Default::default();
        let mut next = (*into).p_next.cast::<vk::BaseOutStructure<'_>>();
        while let Some(base) = next.as_mut() {
            match base.s_type {
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                    set_features(&mut *next.cast(), &mut spare13, bits)
                }
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
                    set_features(&mut spare12, &mut *next.cast(), bits)
                }
                _ => {}
            }
            next = base.p_next;
        }
    }
}

unsafe extern "system" fn families<D: Driver>(
    device: vk::PhysicalDevice,
    count: *mut u32,
    into: *mut vk::QueueFamilyProperties,
) {
    // SAFETY: the handle is the driver's; the caller's memory is for as many families as it says, or null.
    unsafe {
        let families = D::physical_device(device).families;
        let all = u32::try_from(families.len()).unwrap_or(u32::MAX);
        *count = if into.is_null() { all } else { all.min(*count) };
        for (index, flags) in families.iter().enumerate().take(if into.is_null() { 0 } else { *count as usize }) {
            *into.add(index) = vk::QueueFamilyProperties { queue_flags: *flags, queue_count: 1, ..Default::default() };
        }
    }
}

/// Writes the handle of a new object, or null.
///
/// # Safety
/// The handle is the driver's and alive, or null.
unsafe fn create<D: Driver, H: vk::Handle>(
    device: vk::Device,
    object: NewObject<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    into: &mut H,
) -> vk::Result {
    // SAFETY: the caller's promise.
    let created = unsafe { D::create(device, object, callbacks) };
    *into = H::from_raw(created.unwrap_or(0));
    created.err().unwrap_or(vk::Result::SUCCESS)
}

unsafe extern "system" fn create_layout<D: Driver>(
    device: vk::Device,
    _: *const vk::PipelineLayoutCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::PipelineLayout,
) -> vk::Result {
    // SAFETY: the handle is the driver's, the rest the caller's memory.
    unsafe { create::<D, _>(device, NewObject::PipelineLayout, callbacks, &mut *layout) }
}

unsafe extern "system" fn destroy_layout<D: Driver>(
    device: vk::Device,
    layout: vk::PipelineLayout,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the handles are the driver's.
    unsafe { D::destroy(device, vk::ObjectType::PIPELINE_LAYOUT, layout.as_raw(), callbacks) };
}

unsafe extern "system" fn create_module<D: Driver>(
    device: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: the handle is the driver's, the rest the caller's memory: words of that size.
    unsafe {
        let code = std::slice::from_raw_parts((*info).p_code, (*info).code_size / 4);
        create::<D, _>(device, NewObject::ShaderModule(code), callbacks, &mut *module)
    }
}

unsafe extern "system" fn destroy_module<D: Driver>(
    device: vk::Device,
    module: vk::ShaderModule,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the handles are the driver's.
    unsafe { D::destroy(device, vk::ObjectType::SHADER_MODULE, module.as_raw(), callbacks) };
}

unsafe extern "system" fn create_pipelines<D: Driver>(
    device: vk::Device,
    _: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    for index in 0..count as usize {
        // SAFETY: the handle is the driver's, the caller's arrays are of that length.
        unsafe {
            let info = &*infos.add(index);
            let pipeline = NewObject::Pipeline { module: info.stage.module, layout: info.layout };
            let created = create::<D, _>(device, pipeline, callbacks, &mut *pipelines.add(index));
            result = if created == vk::Result::SUCCESS { result } else { created };
        }
    }
    result
}

unsafe extern "system" fn destroy_pipeline<D: Driver>(
    device: vk::Device,
    pipeline: vk::Pipeline,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the handles are the driver's.
    unsafe { D::destroy(device, vk::ObjectType::PIPELINE, pipeline.as_raw(), callbacks) };
}

unsafe extern "system" fn buffer_address<D: Driver>(
    device: vk::Device,
    info: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    // SAFETY: the handles are the driver's, the rest is the caller's struct.
    unsafe { D::buffer_address(device, (*info).buffer) }
}

unsafe extern "system" fn bind<D: Driver>(
    commands: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    // SAFETY: the handles are the driver's.
    unsafe { D::record(commands, Command::BindPipeline(point, pipeline)) };
}

unsafe extern "system" fn push<D: Driver>(
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    stages: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    bytes: *const c_void,
) {
    // SAFETY: the handles are the driver's, the bytes are the caller's.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast(), size as usize);
        D::record(commands, Command::PushConstants { layout, stages, offset, bytes });
    }
}

unsafe extern "system" fn dispatch<D: Driver>(commands: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    // SAFETY: the handle is the driver's.
    unsafe { D::record(commands, Command::Dispatch([x, y, z])) };
}

unsafe extern "system" fn dispatch_indirect<D: Driver>(
    commands: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
) {
    // SAFETY: the handles are the driver's.
    unsafe { D::record(commands, Command::DispatchIndirect(buffer, offset)) };
}

unsafe extern "system" fn barrier<D: Driver>(commands: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>) {
    // SAFETY: the handle is the driver's, the structs are the caller's.
    unsafe {
        let info = &*info;
        let memory = match info.memory_barrier_count {
            0 => &[],
            count => std::slice::from_raw_parts(info.p_memory_barriers, count as usize),
        };
        let others = info.buffer_memory_barrier_count + info.image_memory_barrier_count;
        D::record(commands, Command::PipelineBarrier { memory, others });
    }
}

unsafe extern "system" fn update<D: Driver>(
    commands: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    bytes: *const c_void,
) {
    // SAFETY: the handles are the driver's, the bytes are the caller's.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast(), usize::try_from(size).unwrap_or(0));
        D::record(commands, Command::UpdateBuffer(buffer, offset, bytes));
    }
}

unsafe extern "system" fn fill<D: Driver>(
    commands: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    word: u32,
) {
    // SAFETY: the handles are the driver's.
    unsafe { D::record(commands, Command::FillBuffer(buffer, offset, size, word)) };
}

unsafe extern "system" fn timestamp<D: Driver>(
    commands: vk::CommandBuffer,
    stage: vk::PipelineStageFlags2,
    pool: vk::QueryPool,
    query: u32,
) {
    // SAFETY: the handles are the driver's.
    unsafe { D::record(commands, Command::WriteTimestamp(stage, pool, query)) };
}

unsafe extern "system" fn set_name(_: vk::Device, info: *const vk::DebugUtilsObjectNameInfoEXT<'_>) -> vk::Result {
    // SAFETY: the caller's struct; a name is a string.
    let named = unsafe { !CStr::from_ptr((*info).p_object_name).is_empty() };
    if named { vk::Result::SUCCESS } else { vk::Result::ERROR_UNKNOWN }
}

unsafe extern "system" fn begin_label<D: Driver>(
    commands: vk::CommandBuffer,
    label: *const vk::DebugUtilsLabelEXT<'_>,
) {
    // SAFETY: the handle is the driver's, the struct is the caller's; a name is a string.
    unsafe {
        let name = (*label).p_label_name;
        let name = if name.is_null() { None } else { Some(CStr::from_ptr(name)) };
        D::record(commands, Command::BeginLabel(name));
    }
}

unsafe extern "system" fn end_label<D: Driver>(commands: vk::CommandBuffer) {
    // SAFETY: the handle is the driver's.
    unsafe { D::record(commands, Command::EndLabel) };
}
