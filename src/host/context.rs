//! The library's own Vulkan instance, device and queue.

use super::validation::{LAYER, Messages, Messenger, Validation, messenger_info};
use super::{fault, select};
use crate::{Device, DeviceInfo, Error, Profile, Requirements, Result};
use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use std::ffi::CStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The parameters of [`Context::with`].
#[derive(Clone, Debug, Default)]
pub struct ContextInfo {
    /// Index of the device, or part of its name. `None`: the device in the variable `TROMMEL_DEVICE`, or else the best
    /// one.
    pub device: Option<String>,
    /// Whether to use a queue family with graphics. A compute-only family is faster on some devices.
    pub graphics_queue: bool,
    /// Whether the validation layer is loaded.
    pub validation: Validation,
    /// The profile; `None`: the built-in one.
    pub profile: Option<Profile>,
    /// Whether pipelines keep the statistics of `VK_KHR_pipeline_executable_properties`, if the device supports it.
    pub pipeline_statistics: bool,
    /// Whether [`Context::fault_report`] can say why the device was lost, if it supports `VK_EXT_device_fault`.
    pub fault_reports: bool,
}

/// An instance, a device and a queue, with the library's handle. Cheap to clone.
#[derive(Clone)]
pub struct Context(pub(super) Arc<Inner>);

pub(super) struct Inner {
    name: String,
    queue: vk::Queue,
    queue_family: u32,
    physical_device: vk::PhysicalDevice,
    /// Serializes submissions: they share the pool and the fence.
    submission: Mutex<Submission>,
    trommel: Device,
    allocator: Mutex<Allocator>,
    faults: Option<ext::device_fault::Device>,
    vk: OwnedDevice,
    instance: OwnedInstance,
}

/// The instance is destroyed after everything created from it: fields are dropped in declaration order.
struct OwnedInstance {
    vk: ash::Instance,
    messenger: Option<Messenger>,
    messages: Box<Messages>,
    entry: ash::Entry,
}

struct OwnedDevice(ash::Device);

struct Submission {
    vk: ash::Device,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("name", &self.0.name).field("device", self.device()).finish_non_exhaustive()
    }
}

impl Context {
    /// Opens the device that `TROMMEL_DEVICE` names, or else the best one.
    ///
    /// # Errors
    /// [`Error::NoDevice`] without Vulkan, or if no device meets the requirements.
    pub fn new() -> Result<Self> {
        Self::with(&ContextInfo::default())
    }

    /// Opens a device with the given parameters.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn with(info: &ContextInfo) -> Result<Self> {
        // SAFETY: the loader is the system's.
        let entry =
            unsafe { ash::Entry::load() }.map_err(|error| Error::NoDevice(format!("no Vulkan loader: {error}")))?;
        let validate = info.validation.is_on();
        let instance = OwnedInstance::new(entry, validate)?;

        let from_environment = std::env::var("TROMMEL_DEVICE").ok().filter(|name| !name.is_empty());
        let wanted = info.device.clone().or(from_environment);
        let chosen = select::physical_device(&instance.vk, wanted.as_deref())?;
        let queue_family = select::queue_family(&instance.vk, chosen.handle, info.graphics_queue)?;
        let supports = |name| supports(&instance.vk, chosen.handle, name);
        let statistics = info.pipeline_statistics && supports(khr::pipeline_executable_properties::NAME);
        let reports_faults = info.fault_reports && supports(ext::device_fault::NAME);

        // SAFETY: the handle comes from the instance.
        let requirements = unsafe { Requirements::of(&instance.vk, chosen.handle) };
        if !requirements.missing().is_empty() {
            return Err(Error::MissingFeature(requirements.missing().join(", ")));
        }
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        requirements.enable(&mut v12, &mut v13);
        let mut executables =
            vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(statistics);
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
        let mut extensions: Vec<_> = requirements.extensions().iter().map(|name| name.as_ptr()).collect();
        if statistics {
            extensions.push(khr::pipeline_executable_properties::NAME.as_ptr());
            features = features.push_next(&mut executables);
        }
        let mut faults = vk::PhysicalDeviceFaultFeaturesEXT::default().device_fault(true);
        if reports_faults {
            extensions.push(ext::device_fault::NAME.as_ptr());
            features = features.push_next(&mut faults);
        }
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&[1.0])];
        let device_info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut features);
        // SAFETY: the device meets the requirements.
        let vk = OwnedDevice(unsafe { instance.vk.create_device(chosen.handle, &device_info, None) }?);
        // SAFETY: the device was created with one queue of the family.
        let queue = unsafe { vk.0.get_device_queue(queue_family, 0) };

        let entry = instance.entry.static_fn();
        let mut library = DeviceInfo::new(entry, instance.vk.handle(), chosen.handle, vk.0.handle(), &features);
        library.queue_family = Some(queue_family);
        library.profile.clone_from(&info.profile);
        library.debug_utils = validate;
        if statistics {
            library.pipeline_flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
        }
        // SAFETY: the handles belong to the same struct, which drops the library first.
        let trommel = unsafe { Device::new(&library) }?;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.vk.clone(),
            device: vk.0.clone(),
            physical_device: chosen.handle,
            debug_settings: gpu_allocator::AllocatorDebugSettings::default(),
            buffer_device_address: true,
            allocation_sizes: gpu_allocator::AllocationSizes::default(),
        });
        let allocator = allocator.map_err(|error| Error::Allocation(error.to_string()))?;
        Ok(Self(Arc::new(Inner {
            name: chosen.name,
            queue,
            queue_family,
            physical_device: chosen.handle,
            submission: Mutex::new(Submission::new(&vk.0, queue_family)?),
            trommel,
            allocator: Mutex::new(allocator),
            faults: reports_faults.then(|| ext::device_fault::Device::new(&instance.vk, &vk.0)),
            vk,
            instance,
        })))
    }

    /// The library's handle on the device.
    pub fn device(&self) -> &Device {
        &self.0.trommel
    }

    /// The Vulkan device.
    pub fn vk(&self) -> &ash::Device {
        &self.0.vk.0
    }

    /// The instance.
    pub fn instance(&self) -> &ash::Instance {
        &self.0.instance.vk
    }

    /// The physical device.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.0.physical_device
    }

    /// The queue family that [`Context::run`] submits to.
    pub fn queue_family(&self) -> u32 {
        self.0.queue_family
    }

    /// The name of the physical device.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What the driver says of the reason why the device was lost: a description, and addresses of accesses or
    /// instructions. `None`: it says nothing, or was not asked to by [`ContextInfo::fault_reports`].
    ///
    /// # Safety
    /// The device is lost: a call has returned `ERROR_DEVICE_LOST`.
    pub unsafe fn fault_report(&self) -> Option<String> {
        // SAFETY: the device is alive and has the extension; the caller promises that it is lost.
        unsafe { fault::report(self.0.faults.as_ref()?) }
    }

    /// The messages of the validation layer so far.
    pub fn messages(&self) -> Vec<String> {
        self.0.instance.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records a command buffer with `record`, submits it and waits. Writes of earlier runs are visible to the
    /// commands. Writes of the commands are visible to the host and to later runs.
    ///
    /// # Errors
    /// Errors of `record`, in which case nothing is submitted, and errors of Vulkan.
    pub fn run(&self, record: impl FnOnce(vk::CommandBuffer) -> Result<()>) -> Result<()> {
        let submission = self.0.submission.lock().unwrap_or_else(PoisonError::into_inner);
        let (vk, commands) = (&submission.vk, submission.commands);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let everything = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS | vk::PipelineStageFlags2::HOST)
            .dst_access_mask(
                vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE | vk::AccessFlags2::HOST_READ,
            )];
        let barrier = vk::DependencyInfo::default().memory_barriers(&everything);
        // SAFETY: the lock gives exclusive access to pool, command buffer and fence, and no earlier submission is
        // pending.
        unsafe {
            vk.reset_command_pool(submission.pool, vk::CommandPoolResetFlags::empty())?;
            vk.begin_command_buffer(commands, &begin)?;
            record(commands)?;
            vk.cmd_pipeline_barrier2(commands, &barrier);
            vk.end_command_buffer(commands)?;
            let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
            let submit = [vk::SubmitInfo2::default().command_buffer_infos(&buffers)];
            vk.queue_submit2(self.0.queue, &submit, submission.fence)?;
            vk.wait_for_fences(&[submission.fence], true, u64::MAX)?;
            vk.reset_fences(&[submission.fence])?;
        }
        Ok(())
    }

    pub(super) fn allocator(&self) -> MutexGuard<'_, Allocator> {
        self.0.allocator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Submission {
    fn new(vk: &ash::Device, queue_family: u32) -> Result<Self> {
        let pool_info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(queue_family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the device is alive, and the pool is used under a lock.
        unsafe {
            let pool = vk.create_command_pool(&pool_info, None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = vk.allocate_command_buffers(&info)?.into_iter().next();
            let commands = commands.ok_or(Error::Vulkan(vk::Result::ERROR_UNKNOWN))?;
            let fence = vk.create_fence(&vk::FenceCreateInfo::default(), None)?;
            Ok(Self { vk: vk.clone(), pool, commands, fence })
        }
    }
}

impl Drop for Submission {
    fn drop(&mut self) {
        // SAFETY: run() waits for its submission, so nothing is pending.
        unsafe {
            self.vk.destroy_fence(self.fence, None);
            self.vk.destroy_command_pool(self.pool, None);
        }
    }
}

impl Drop for OwnedDevice {
    fn drop(&mut self) {
        // SAFETY: all objects created from the device have been dropped.
        unsafe { self.0.destroy_device(None) };
    }
}

impl Drop for OwnedInstance {
    fn drop(&mut self) {
        if let Some(messenger) = &self.messenger {
            messenger.destroy();
        }
        // SAFETY: all objects created from the instance have been dropped.
        unsafe { self.vk.destroy_instance(None) };
    }
}

impl OwnedInstance {
    fn new(entry: ash::Entry, validate: bool) -> Result<Self> {
        let messages = Box::<Messages>::default();
        let vk = create_instance(&entry, validate, &messages)?;
        let mut instance = Self { vk, messenger: None, messages, entry };
        if validate {
            instance.messenger = Some(Messenger::new(&instance.entry, &instance.vk, &instance.messages)?);
        }
        Ok(instance)
    }
}

fn create_instance(entry: &ash::Entry, validate: bool, messages: &Messages) -> Result<ash::Instance> {
    let application = vk::ApplicationInfo::default().application_name(c"trommel").api_version(vk::API_VERSION_1_3);
    let mut messenger = messenger_info(messages);
    let (layers, extensions): (&[_], &[_]) =
        if validate { (&[LAYER.as_ptr()], &[ext::debug_utils::NAME.as_ptr()]) } else { (&[], &[]) };
    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_layer_names(layers)
        .enabled_extension_names(extensions);
    if validate {
        info = info.push_next(&mut messenger);
    }
    // SAFETY: the info is complete; the messages outlive the instance.
    unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
        vk::Result::ERROR_LAYER_NOT_PRESENT => Error::NoDevice("the Khronos validation layer is not installed".into()),
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => Error::NoDevice("no Vulkan driver is installed".into()),
        other => Error::Vulkan(other),
    })
}

fn supports(instance: &ash::Instance, device: vk::PhysicalDevice, name: &CStr) -> bool {
    // SAFETY: the handle comes from the instance.
    let extensions = unsafe { instance.enumerate_device_extension_properties(device) }.unwrap_or_default();
    extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}
