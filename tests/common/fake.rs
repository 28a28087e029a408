//! A fake Vulkan that only logs the recorded commands. Devices, pipelines and buffers are numbers.

use ash::vk;
use ash::vk::Handle as _;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::{from_mut, null};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use trommel::kernels::Kernel;
use trommel::{Device, DeviceFacts, DeviceInfo, Requirements};

/// Properties of an H200 with its compute-only queue family.
pub(crate) static NVIDIA: DeviceFacts = DeviceFacts {
    vendor_id: 0x10de,
    is_cpu: false,
    compute_only: true,
    min_lanes: 32,
    max_lanes: 32,
    lanes_selectable: true,
    max_invocations: 1024,
    max_subgroups: 32,
    shared_memory: 48 * 1024,
    max_groups_x: i32::MAX as u32,
};

/// The address of every buffer.
pub(crate) const BUFFER_ADDRESS: u64 = 0x7000_0000_0000;

thread_local! {
    static FACTS: Cell<Option<&'static DeviceFacts>> = const { Cell::new(None) };
    static COMMANDS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Kernels of all created pipelines, on any thread. The handle of a pipeline is its index in this list.
static PIPELINES: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Pipelines that have not been destroyed, and the threads that created pipelines.
static LIVE: Mutex<(BTreeSet<u64>, BTreeSet<String>)> = Mutex::new((BTreeSet::new(), BTreeSet::new()));

fn live() -> MutexGuard<'static, (BTreeSet<u64>, BTreeSet<String>)> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of pipelines that have been created, and of those that still exist.
pub(crate) fn created_and_live() -> (usize, usize) {
    (pipelines().len(), live().0.len())
}

/// The threads that have created pipelines since the last call.
pub(crate) fn take_creating_threads() -> BTreeSet<String> {
    std::mem::take(&mut live().1)
}

fn pipelines() -> MutexGuard<'static, Vec<&'static str>> {
    PIPELINES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether no pipeline can be created from now on.
pub(crate) fn refuse_pipelines(refuse: bool) {
    REFUSES.store(refuse, Ordering::Relaxed);
}

static REFUSES: AtomicBool = AtomicBool::new(false);

/// The library on a device with such facts, for this thread alone.
pub(crate) fn device(facts: &'static DeviceFacts) -> Device {
    device_with(facts, |_| ()).expect("the facts are above the floor")
}

/// The same with other arguments.
pub(crate) fn device_with(
    facts: &'static DeviceFacts,
    change: impl FnOnce(&mut DeviceInfo<'_>),
) -> trommel::Result<Device> {
    FACTS.set(Some(facts));
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    // SAFETY: handles are numbers here.
    let requirements = unsafe {
        Requirements::query(
            get_proc_addr,
            vk::Instance::from_raw(1),
            vk::API_VERSION_1_3,
            vk::PhysicalDevice::from_raw(2),
        )
    };
    requirements.expect("handles are not null").enable(&mut v12, &mut v13);
    let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
    let entry = ash::StaticFn { get_instance_proc_addr: get_proc_addr };
    let (instance, physical, device) =
        (vk::Instance::from_raw(1), vk::PhysicalDevice::from_raw(2), vk::Device::from_raw(3));
    let mut info =
        DeviceInfo { queue_family: Some(0), ..DeviceInfo::new(&entry, instance, physical, device, &features) };
    change(&mut info);
    // SAFETY: handles are numbers here.
    let device = unsafe { Device::new(&info) }?;
    device.pass_whole_modules();
    Ok(device)
}

/// Whatever is created on this thread from now on is created on a device with such facts.
pub(crate) fn set_facts(facts: &'static DeviceFacts) {
    FACTS.set(Some(facts));
}

/// The commands that have been recorded since the last call.
pub(crate) fn take_commands() -> Vec<String> {
    COMMANDS.take()
}

pub(crate) fn command_buffer() -> vk::CommandBuffer {
    vk::CommandBuffer::from_raw(4)
}

pub(crate) fn buffer() -> vk::Buffer {
    vk::Buffer::from_raw(5)
}

fn log(command: String) {
    COMMANDS.with_borrow_mut(|commands| commands.push(command));
}

fn facts() -> &'static DeviceFacts {
    FACTS.get().expect("device() comes first")
}

pub(crate) unsafe extern "system" fn get_proc_addr(_: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: names are strings.
    function(unsafe { CStr::from_ptr(name) })
}

unsafe extern "system" fn get_device_proc_addr(_: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: names are strings.
    function(unsafe { CStr::from_ptr(name) })
}

fn function(name: &CStr) -> vk::PFN_vkVoidFunction {
    macro_rules! table {
        ($($name:literal = $function:ident: $type:ident,)*) => {
            match name.to_bytes() {
                // SAFETY: a function of that type, which the caller of that name casts it back to.
                $($name => Some(unsafe { transmute::<vk::$type, unsafe extern "system" fn()>($function) }),)*
                _ => None,
            }
        };
    }
    table! {
        b"vkGetDeviceProcAddr" = get_device_proc_addr: PFN_vkGetDeviceProcAddr,
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
    }
}

unsafe extern "system" fn properties(_: vk::PhysicalDevice, properties: *mut vk::PhysicalDeviceProperties) {
    let facts = facts();
    let cpu = if facts.is_cpu { vk::PhysicalDeviceType::CPU } else { vk::PhysicalDeviceType::DISCRETE_GPU };
    let limits = vk::PhysicalDeviceLimits {
        max_compute_work_group_invocations: facts.max_invocations,
        max_compute_work_group_size: [facts.max_invocations; 3],
        max_compute_work_group_count: [facts.max_groups_x, 65_535, 65_535],
        max_compute_shared_memory_size: facts.shared_memory,
        max_push_constants_size: 128,
        ..Default::default()
    };
    let (api_version, vendor_id) = (vk::API_VERSION_1_3, facts.vendor_id);
    // SAFETY: the caller's struct.
    unsafe {
        *properties =
            vk::PhysicalDeviceProperties { api_version, vendor_id, device_type: cpu, limits, ..Default::default() }
    };
}

unsafe extern "system" fn properties2(device: vk::PhysicalDevice, into: *mut vk::PhysicalDeviceProperties2<'_>) {
    let facts = facts();
    // SAFETY: the caller's structs; each begins with its type and the next one's address.
    unsafe {
        properties(device, from_mut(&mut (*into).properties));
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

unsafe extern "system" fn features2(_: vk::PhysicalDevice, into: *mut vk::PhysicalDeviceFeatures2<'_>) {
    // SAFETY: the caller's structs, of which the library asks for these two.
    unsafe {
        let mut next = (*into).p_next.cast::<vk::BaseOutStructure<'_>>();
        let (mut v12, mut v13) = (null(), null());
        while let Some(base) = next.as_mut() {
            match base.s_type {
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => v12 = next.cast_const(),
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => v13 = next.cast_const(),
                _ => {}
            }
            next = base.p_next;
        }
        Requirements::default().enable(&mut *v12.cast_mut().cast(), &mut *v13.cast_mut().cast());
    }
}

unsafe extern "system" fn families(_: vk::PhysicalDevice, count: *mut u32, into: *mut vk::QueueFamilyProperties) {
    let graphics = if facts().compute_only { vk::QueueFlags::empty() } else { vk::QueueFlags::GRAPHICS };
    // SAFETY: the caller's memory, for one family where it is not null.
    unsafe {
        *count = 1;
        if let Some(family) = into.as_mut() {
            *family =
                vk::QueueFamilyProperties { queue_flags: vk::QueueFlags::COMPUTE | graphics, ..Default::default() };
        }
    }
}

unsafe extern "system" fn create_layout(
    _: vk::Device,
    _: *const vk::PipelineLayoutCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    layout: *mut vk::PipelineLayout,
) -> vk::Result {
    // SAFETY: the caller's memory.
    unsafe { *layout = vk::PipelineLayout::from_raw(6) };
    vk::Result::SUCCESS
}

unsafe extern "system" fn destroy_layout(_: vk::Device, _: vk::PipelineLayout, _: *const vk::AllocationCallbacks<'_>) {}

/// The modules of all kernels.
fn modules() -> &'static [Vec<u32>] {
    static MODULES: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    MODULES.get_or_init(|| Kernel::ALL.iter().map(|kernel| kernel.spirv().expect("a module")).collect())
}

/// A module is its kernel's place in the table, from 1.
unsafe extern "system" fn create_module(
    _: vk::Device,
    info: *const vk::ShaderModuleCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    module: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: the caller's structs.
    unsafe {
        let code = std::slice::from_raw_parts((*info).p_code, (*info).code_size / 4);
        let kernel = modules().iter().position(|module| module == code);
        *module = vk::ShaderModule::from_raw(kernel.map_or(0, |kernel| kernel as u64 + 1));
    }
    vk::Result::SUCCESS
}

unsafe extern "system" fn destroy_module(_: vk::Device, _: vk::ShaderModule, _: *const vk::AllocationCallbacks<'_>) {}

unsafe extern "system" fn create_pipelines(
    _: vk::Device,
    _: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    if REFUSES.load(Ordering::Relaxed) {
        return vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
    }
    for i in 0..count as usize {
        // SAFETY: the caller's arrays, of that length.
        let (module, pipeline) = unsafe { ((*infos.add(i)).stage.module.as_raw(), &mut *pipelines.add(i)) };
        let name = module.checked_sub(1).map_or("unknown", |kernel| Kernel::ALL[kernel as usize].name());
        // Long enough for every thread that makes pipelines to make one.
        std::thread::sleep(std::time::Duration::from_micros(200));
        let mut names = self::pipelines();
        names.push(name);
        *pipeline = vk::Pipeline::from_raw(names.len() as u64);
        live().0.insert(names.len() as u64);
        live().1.insert(format!("{:?}", std::thread::current().id()));
    }
    vk::Result::SUCCESS
}

unsafe extern "system" fn destroy_pipeline(
    _: vk::Device,
    pipeline: vk::Pipeline,
    _: *const vk::AllocationCallbacks<'_>,
) {
    assert!(live().0.remove(&pipeline.as_raw()), "{pipeline:?} is destroyed and is none");
}

unsafe extern "system" fn buffer_address(
    _: vk::Device,
    _: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    BUFFER_ADDRESS
}

unsafe extern "system" fn bind(_: vk::CommandBuffer, point: vk::PipelineBindPoint, pipeline: vk::Pipeline) {
    assert!(live().0.contains(&pipeline.as_raw()), "{pipeline:?} is bound and is none");
    assert_eq!(point, vk::PipelineBindPoint::COMPUTE);
    log(format!("bind {}", pipelines()[pipeline.as_raw() as usize - 1]));
}

unsafe extern "system" fn push(
    _: vk::CommandBuffer,
    _: vk::PipelineLayout,
    _: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    _: *const c_void,
) {
    log(format!("push {size} bytes at {offset}"));
}

unsafe extern "system" fn dispatch(_: vk::CommandBuffer, x: u32, y: u32, z: u32) {
    log(format!("dispatch {x} {y} {z}"));
}

unsafe extern "system" fn dispatch_indirect(_: vk::CommandBuffer, buffer: vk::Buffer, offset: vk::DeviceSize) {
    assert_eq!(buffer, self::buffer());
    log(format!("dispatch as scratch says at {offset}"));
}

unsafe extern "system" fn barrier(_: vk::CommandBuffer, info: *const vk::DependencyInfo<'_>) {
    // SAFETY: the caller's structs.
    unsafe {
        assert_eq!(((*info).buffer_memory_barrier_count, (*info).image_memory_barrier_count), (0, 0));
        for barrier in std::slice::from_raw_parts((*info).p_memory_barriers, (*info).memory_barrier_count as usize) {
            let (source, source_access) = (barrier.src_stage_mask, barrier.src_access_mask);
            let (target, target_access) = (barrier.dst_stage_mask, barrier.dst_access_mask);
            log(format!("barrier {source:?} ({source_access:?}) -> {target:?} ({target_access:?})"));
        }
    }
}

unsafe extern "system" fn update(
    _: vk::CommandBuffer,
    buffer: vk::Buffer,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    _: *const c_void,
) {
    assert_eq!(buffer, self::buffer());
    log(format!("update {size} bytes of scratch at {offset}"));
}

unsafe extern "system" fn timestamp(
    _: vk::CommandBuffer,
    stage: vk::PipelineStageFlags2,
    _: vk::QueryPool,
    query: u32,
) {
    log(format!("timestamp {query} after {stage:?}"));
}
