//! A fake Vulkan that only logs the recorded commands. Devices, pipelines and buffers are numbers.

use ash::vk;
use ash::vk::Handle as _;
use fake_vulkan::{ALL_FEATURES, Command, Driver, NewObject, PhysicalDevice};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::c_char;
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

/// Sets the facts of all devices that this thread creates from now on.
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

pub(crate) unsafe extern "system" fn get_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: names are strings, handles are numbers.
    unsafe { fake_vulkan::get_proc_addr::<LoggingDriver>(instance, name) }
}

/// The modules of all kernels.
fn modules() -> &'static [Vec<u32>] {
    static MODULES: OnceLock<Vec<Vec<u32>>> = OnceLock::new();
    MODULES.get_or_init(|| Kernel::ALL.iter().map(|kernel| kernel.spirv().expect("a module")).collect())
}

/// Handles are numbers. A module is its kernel's index in the table, from 1; 0 for any other module.
struct LoggingDriver;

impl Driver for LoggingDriver {
    /// No extension is there.
    unsafe fn has_function(_: u64, name: &[u8]) -> bool {
        !name.ends_with(b"EXT")
    }

    unsafe fn physical_device<'a>(_: vk::PhysicalDevice) -> PhysicalDevice<'a> {
        const COMPUTE: vk::QueueFlags = vk::QueueFlags::COMPUTE;
        static COMPUTE_ONLY: [vk::QueueFlags; 1] = [COMPUTE];
        static GRAPHICS: [vk::QueueFlags; 1] =
            [vk::QueueFlags::from_raw(COMPUTE.as_raw() | vk::QueueFlags::GRAPHICS.as_raw())];
        let facts = facts();
        let families = if facts.compute_only { &COMPUTE_ONLY } else { &GRAPHICS };
        PhysicalDevice { facts, api_version: vk::API_VERSION_1_3, features: ALL_FEATURES, families }
    }

    unsafe fn create(
        _: vk::Device,
        object: NewObject<'_>,
        _: *const vk::AllocationCallbacks<'_>,
    ) -> Result<u64, vk::Result> {
        let module = match object {
            NewObject::PipelineLayout => return Ok(6),
            NewObject::ShaderModule(code) => {
                let kernel = modules().iter().position(|module| module == code);
                return Ok(kernel.map_or(0, |kernel| kernel as u64 + 1));
            }
            NewObject::Pipeline { module, .. } => module.as_raw(),
        };
        if REFUSES.load(Ordering::Relaxed) {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        let name = module.checked_sub(1).map_or("unknown", |kernel| Kernel::ALL[kernel as usize].name());
        // Long enough for every thread that makes pipelines to make one.
        std::thread::sleep(std::time::Duration::from_micros(200));
        let mut names = pipelines();
        names.push(name);
        let pipeline = names.len() as u64;
        live().0.insert(pipeline);
        live().1.insert(format!("{:?}", std::thread::current().id()));
        Ok(pipeline)
    }

    unsafe fn destroy(_: vk::Device, kind: vk::ObjectType, object: u64, _: *const vk::AllocationCallbacks<'_>) {
        let is_pipeline = kind == vk::ObjectType::PIPELINE;
        assert!(!is_pipeline || live().0.remove(&object), "pipeline {object} is destroyed and is none");
    }

    unsafe fn buffer_address(_: vk::Device, _: vk::Buffer) -> vk::DeviceAddress {
        BUFFER_ADDRESS
    }

    unsafe fn record(_: vk::CommandBuffer, command: Command<'_>) {
        match command {
            Command::BindPipeline(point, pipeline) => {
                assert!(live().0.contains(&pipeline.as_raw()), "{pipeline:?} is bound and is none");
                assert_eq!(point, vk::PipelineBindPoint::COMPUTE);
                log(format!("bind {}", pipelines()[pipeline.as_raw() as usize - 1]));
            }
            Command::PushConstants { offset, bytes, .. } => log(format!("push {} bytes at {offset}", bytes.len())),
            Command::Dispatch([x, y, z]) => log(format!("dispatch {x} {y} {z}")),
            Command::DispatchIndirect(buffer, offset) => {
                assert_eq!(buffer, self::buffer());
                log(format!("dispatch as scratch says at {offset}"));
            }
            Command::PipelineBarrier { memory, others } => {
                assert_eq!(others, 0);
                for barrier in memory {
                    let (source, source_access) = (barrier.src_stage_mask, barrier.src_access_mask);
                    let (target, target_access) = (barrier.dst_stage_mask, barrier.dst_access_mask);
                    log(format!("barrier {source:?} ({source_access:?}) -> {target:?} ({target_access:?})"));
                }
            }
            Command::UpdateBuffer(buffer, offset, bytes) => {
                assert_eq!(buffer, self::buffer());
                log(format!("update {} bytes of scratch at {offset}", bytes.len()));
            }
            Command::FillBuffer(buffer, offset, size, word) => {
                assert_eq!(buffer, self::buffer());
                log(format!("fill {size} bytes of scratch at {offset} with {word}"));
            }
            Command::WriteTimestamp(stage, _, query) => log(format!("timestamp {query} after {stage:?}")),
            Command::BeginLabel(_) | Command::EndLabel => panic!("VK_EXT_debug_utils is not there"),
        }
    }
}
