//! The functions of the Vulkan in fake/mod.rs, as the library looks them up.

use super::{BUFFERS, Fake, MOST_GROUPS_Y, PUSH_BYTES, Recording};
use ash::vk;
use ash::vk::Handle as _;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;

/// # Safety
/// The handle is a pointer to a live [`Fake`].
unsafe fn fake<'a>(handle: u64) -> &'a Fake {
    // SAFETY: the caller's promise.
    unsafe { &*std::ptr::with_exposed_provenance::<Fake>(usize::try_from(handle).unwrap_or(0)) }
}

/// # Safety
/// The handle is a pointer to a live [`Recording`] that nobody else uses.
unsafe fn recording<'a>(handle: vk::CommandBuffer) -> &'a mut Recording {
    // SAFETY: the caller's promise.
    unsafe { &mut *std::ptr::with_exposed_provenance_mut::<Recording>(usize::try_from(handle.as_raw()).unwrap_or(0)) }
}

/// Stands for core functions that the library looks up and does not call.
unsafe extern "system" fn uncalled() {
    std::process::abort();
}

pub(crate) unsafe extern "system" fn get_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: names are strings, the instance is a fake's or null.
    unsafe { find(CStr::from_ptr(name), instance.as_raw()) }
}

unsafe extern "system" fn get_device_proc_addr(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: names are strings, the device is a fake's.
    unsafe { find(CStr::from_ptr(name), device.as_raw()) }
}

/// # Safety
/// The handle is null or a pointer to a live [`Fake`].
unsafe fn find(name: &CStr, handle: u64) -> vk::PFN_vkVoidFunction {
    let name = name.to_bytes();
    let (minor, debug) = if handle == 0 {
        (3, false)
    } else {
        // SAFETY: the caller's promise.
        unsafe { (fake(handle).instance_minor, fake(handle).debug_utils) }
    };
    let of_extension = [&b"KHR"[..], b"EXT", b"NV", b"AMD", b"INTEL", b"GOOGLE"].iter().any(|tag| name.ends_with(tag));
    let debug_name = name.ends_with(b"DebugUtilsLabelEXT") || name.ends_with(b"DebugUtilsObjectNameEXT");
    if of_extension && !(debug && debug_name) {
        return None;
    }
    let needs = match name {
        _ if name.ends_with(b"Properties2") || name.ends_with(b"Features2") => 1,
        b"vkGetBufferDeviceAddress" => 2,
        b"vkGetPhysicalDeviceToolProperties" | b"vkCmdPipelineBarrier2" | b"vkCmdWriteTimestamp2" => 3,
        _ => 0,
    };
    if minor < needs {
        return None;
    }
    function(name).or(Some(uncalled))
}

fn function(name: &[u8]) -> vk::PFN_vkVoidFunction {
    macro_rules! table {
        ($($name:literal = $function:ident: $type:ident,)*) => {
            match name {
                // SAFETY: a function of that type, which the caller of that name casts it back to.
                $($name => Some(unsafe { transmute::<vk::$type, unsafe extern "system" fn()>($function) }),)*
                _ => None,
            }
        };
    }
    table! {
        b"vkGetDeviceProcAddr" = get_device_proc_addr: PFN_vkGetDeviceProcAddr,
        b"vkEnumerateInstanceVersion" = instance_version: PFN_vkEnumerateInstanceVersion,
        b"vkGetPhysicalDeviceProperties" = properties: PFN_vkGetPhysicalDeviceProperties,
        b"vkGetPhysicalDeviceProperties2" = properties2: PFN_vkGetPhysicalDeviceProperties2,
        b"vkGetPhysicalDeviceFeatures2" = features2: PFN_vkGetPhysicalDeviceFeatures2,
        b"vkGetPhysicalDeviceQueueFamilyProperties" = families: PFN_vkGetPhysicalDeviceQueueFamilyProperties,
        b"vkCreatePipelineLayout" = create_layout: PFN_vkCreatePipelineLayout,
        b"vkDestroyPipelineLayout" = destroy_layout: PFN_vkDestroyPipelineLayout,
        b"vkCreateShaderModule" = create_module: PFN_vkCreateShaderModule,
        b"vkDestroyShaderModule" = destroy_module: PFN_vkDestroyShaderModule,
        b"vkCreateComputePipelines" = create_pipelines: PFN_vkCreateComputePipelines,
        b"vkDestroyPipeline" = destroy_pipeline: PFN_vkDestroyPipeline,
        b"vkGetBufferDeviceAddress" = buffer_address: PFN_vkGetBufferDeviceAddress,
        b"vkCmdBindPipeline" = bind: PFN_vkCmdBindPipeline,
        b"vkCmdPushConstants" = push: PFN_vkCmdPushConstants,
        b"vkCmdDispatch" = dispatch: PFN_vkCmdDispatch,
        b"vkCmdDispatchIndirect" = dispatch_indirect: PFN_vkCmdDispatchIndirect,
        b"vkCmdPipelineBarrier2" = barrier: PFN_vkCmdPipelineBarrier2,
        b"vkCmdUpdateBuffer" = update: PFN_vkCmdUpdateBuffer,
        b"vkCmdWriteTimestamp2" = timestamp: PFN_vkCmdWriteTimestamp2,
        b"vkSetDebugUtilsObjectNameEXT" = set_name: PFN_vkSetDebugUtilsObjectNameEXT,
        b"vkCmdBeginDebugUtilsLabelEXT" = begin_label: PFN_vkCmdBeginDebugUtilsLabelEXT,
        b"vkCmdEndDebugUtilsLabelEXT" = end_label: PFN_vkCmdEndDebugUtilsLabelEXT,
    }
}

unsafe extern "system" fn instance_version(version: *mut u32) -> vk::Result {
    // SAFETY: the caller's memory.
    unsafe { *version = vk::API_VERSION_1_3 };
    vk::Result::SUCCESS
}

unsafe extern "system" fn properties(device: vk::PhysicalDevice, properties: *mut vk::PhysicalDeviceProperties) {
    // SAFETY: the handle is a fake's.
    let fake = unsafe { fake(device.as_raw()) };
    let facts = &fake.facts;
    let device_type = if facts.is_cpu { vk::PhysicalDeviceType::CPU } else { vk::PhysicalDeviceType::DISCRETE_GPU };
    let limits = vk::PhysicalDeviceLimits {
        max_compute_work_group_invocations: facts.max_invocations,
        max_compute_work_group_size: [facts.max_invocations; 3],
        max_compute_work_group_count: [facts.max_groups_x, MOST_GROUPS_Y, MOST_GROUPS_Y],
        max_compute_shared_memory_size: facts.shared_memory,
        max_push_constants_size: PUSH_BYTES,
        ..Default::default()
    };
    let (api_version, vendor_id) = (fake.api_version, facts.vendor_id);
    // SAFETY: the caller's struct.
    unsafe {
        *properties = vk::PhysicalDeviceProperties { api_version, vendor_id, device_type, limits, ..Default::default() }
    };
}

unsafe extern "system" fn properties2(device: vk::PhysicalDevice, into: *mut vk::PhysicalDeviceProperties2<'_>) {
    // SAFETY: the handle is a fake's; the caller's structs each begin with their type and the next one's address.
    unsafe {
        let facts = &fake(device.as_raw()).facts;
        properties(device, &raw mut (*into).properties);
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

/// Switches on the features whose bits are set.
pub(crate) fn set_features(
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

unsafe extern "system" fn features2(device: vk::PhysicalDevice, into: *mut vk::PhysicalDeviceFeatures2<'_>) {
    // SAFETY: the handle is a fake's; the caller's structs each begin with their type and the next one's address.
    unsafe {
        let bits = fake(device.as_raw()).features;
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

unsafe extern "system" fn families(device: vk::PhysicalDevice, count: *mut u32, into: *mut vk::QueueFamilyProperties) {
    // SAFETY: the handle is a fake's; the caller's memory is for as many families as it says, or null.
    unsafe {
        let families = &fake(device.as_raw()).families;
        let all = u32::try_from(families.len()).unwrap_or(u32::MAX);
        *count = if into.is_null() { all } else { all.min(*count) };
        for (index, flags) in families.iter().enumerate().take(if into.is_null() { 0 } else { *count as usize }) {
            *into.add(index) = vk::QueueFamilyProperties { queue_flags: *flags, queue_count: 1, ..Default::default() };
        }
    }
}

unsafe extern "system" fn create_layout(
    device: vk::Device,
    _: *const vk::PipelineLayoutCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::PipelineLayout,
) -> vk::Result {
    // SAFETY: the handle is a fake's, the rest the caller's memory.
    unsafe {
        let object = fake(device.as_raw()).create(callbacks);
        *layout = vk::PipelineLayout::from_raw(object.unwrap_or(0));
        object.err().unwrap_or(vk::Result::SUCCESS)
    }
}

unsafe extern "system" fn destroy_layout(
    device: vk::Device,
    layout: vk::PipelineLayout,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the handle is a fake's.
    unsafe { fake(device.as_raw()).destroy(layout.as_raw(), callbacks) };
}

unsafe extern "system" fn create_module(
    device: vk::Device,
    _: *const vk::ShaderModuleCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: the handle is a fake's, the rest the caller's memory.
    unsafe {
        let object = fake(device.as_raw()).create(callbacks);
        *module = vk::ShaderModule::from_raw(object.unwrap_or(0));
        object.err().unwrap_or(vk::Result::SUCCESS)
    }
}

unsafe extern "system" fn destroy_module(
    device: vk::Device,
    module: vk::ShaderModule,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the handle is a fake's.
    unsafe { fake(device.as_raw()).destroy(module.as_raw(), callbacks) };
}

unsafe extern "system" fn create_pipelines(
    device: vk::Device,
    _: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    callbacks: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    for index in 0..count as usize {
        // SAFETY: the handle is a fake's, the caller's arrays are of that length.
        unsafe {
            let (fake, info) = (fake(device.as_raw()), &*infos.add(index));
            if !fake.is_live(info.stage.module.as_raw()) || !fake.is_live(info.layout.as_raw()) {
                fake.fault("a pipeline of a module or layout that is not alive".into());
            }
            let object = fake.create(callbacks);
            *pipelines.add(index) = vk::Pipeline::from_raw(object.unwrap_or(0));
            result = object.err().unwrap_or(result);
        }
    }
    result
}

unsafe extern "system" fn destroy_pipeline(
    device: vk::Device,
    pipeline: vk::Pipeline,
    callbacks: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: the handle is a fake's.
    unsafe { fake(device.as_raw()).destroy(pipeline.as_raw(), callbacks) };
}

unsafe extern "system" fn buffer_address(
    device: vk::Device,
    info: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    // SAFETY: the handle is a fake's, the rest the caller's struct.
    unsafe {
        let buffer = (*info).buffer.as_raw();
        let base = usize::try_from(buffer).ok().and_then(|index| BUFFERS.get(index.checked_sub(1)?));
        base.copied().unwrap_or_else(|| {
            fake(device.as_raw()).fault(format!("the address of buffer {buffer}, which is none"));
            0
        })
    }
}

unsafe extern "system" fn bind(commands: vk::CommandBuffer, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
    // SAFETY: the handle is a recording's.
    unsafe { recording(commands) }.bind(point, pipeline.as_raw());
}

unsafe extern "system" fn push(
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    stages: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    bytes: *const c_void,
) {
    // SAFETY: the handle is a recording's, the bytes are the caller's.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast(), size as usize);
        recording(commands).push(layout.as_raw(), stages, offset, bytes);
    }
}

unsafe extern "system" fn dispatch(commands: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    // SAFETY: the handle is a recording's.
    unsafe { recording(commands) }.dispatch(x, y, z);
}

unsafe extern "system" fn dispatch_indirect(commands: vk::CommandBuffer, buffer: vk::Buffer, offset: vk::DeviceSize) {
    // SAFETY: the handle is a recording's.
    unsafe { recording(commands) }.dispatch_indirect(buffer.as_raw(), offset);
}

unsafe extern "system" fn barrier(commands: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>) {
    // SAFETY: the handle is a recording's, the structs are the caller's.
    unsafe {
        let (recording, info) = (recording(commands), &*info);
        if (info.buffer_memory_barrier_count, info.image_memory_barrier_count, info.memory_barrier_count) != (0, 0, 1) {
            recording.fault("a dependency is one memory barrier");
        }
        for barrier in std::slice::from_raw_parts(info.p_memory_barriers, info.memory_barrier_count as usize) {
            recording.barrier(barrier);
        }
    }
}

unsafe extern "system" fn update(
    commands: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    bytes: *const c_void,
) {
    // SAFETY: the handle is a recording's, the bytes are the caller's.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast(), usize::try_from(size).unwrap_or(0));
        recording(commands).update(buffer.as_raw(), offset, bytes);
    }
}

unsafe extern "system" fn timestamp(
    commands: vk::CommandBuffer,
    stage: vk::PipelineStageFlags2,
    pool: vk::QueryPool,
    query: u32,
) {
    // SAFETY: the handle is a recording's.
    unsafe { recording(commands) }.timestamp(stage, pool.as_raw(), query);
}

unsafe extern "system" fn set_name(_: vk::Device, info: *const vk::DebugUtilsObjectNameInfoEXT<'_>) -> vk::Result {
    // SAFETY: the caller's struct; a name is a string.
    let named = unsafe { !CStr::from_ptr((*info).p_object_name).is_empty() };
    if named { vk::Result::SUCCESS } else { vk::Result::ERROR_UNKNOWN }
}

unsafe extern "system" fn begin_label(commands: vk::CommandBuffer, label: *const vk::DebugUtilsLabelEXT<'_>) {
    // SAFETY: the handle is a recording's, the struct is the caller's.
    unsafe {
        let recording = recording(commands);
        if (*label).p_label_name.is_null() || CStr::from_ptr((*label).p_label_name).is_empty() {
            recording.fault("a label without a name");
        }
        recording.label(1);
    }
}

unsafe extern "system" fn end_label(commands: vk::CommandBuffer) {
    // SAFETY: the handle is a recording's.
    unsafe { recording(commands) }.label(-1);
}
