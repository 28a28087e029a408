//! The engine's Vulkan objects in plain `ash`: instance, device, queue, buffers. The library provides only the
//! requirements. Each example includes this file as a module.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use ash::vk;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Number of messages of the validation layer.
static COMPLAINTS: AtomicU32 = AtomicU32::new(0);

pub(crate) fn complaints() -> u32 {
    COMPLAINTS.load(Ordering::Relaxed)
}

/// Returns the exit code of a program. Messages of the validation layer count as failures.
pub(crate) fn end(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) if complaints() > 0 => {
            eprintln!("error: the validation layer had {} messages", complaints());
            ExitCode::FAILURE
        }
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A buffer with its own memory. [`Gpu`] frees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    pub(crate) handle: vk::Buffer,
    pub(crate) size: u64,
    pub(crate) address: vk::DeviceAddress,
    memory: vk::DeviceMemory,
}

/// The memory of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Device,
    /// Written by the host, source of copies on the device.
    Upload,
    /// Target of copies on the device, read by the host.
    Download,
}

pub(crate) struct Gpu {
    pub(crate) device: ash::Device,
    physical: vk::PhysicalDevice,
    pub(crate) queue: vk::Queue,
    pub(crate) queue_family: u32,
    /// Valid bits of a timestamp; 0: the queue has no timestamps.
    pub(crate) timestamp_bits: u32,
    pub(crate) timestamp_period_ns: f64,
    /// Maximum number of workgroups of a dispatch in x.
    pub(crate) max_groups: u32,
    pub(crate) name: String,
    pub(crate) is_cpu: bool,
    memory_types: Vec<vk::MemoryType>,
    buffers: RefCell<Vec<Buffer>>,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    instance: ash::Instance,
    // The loader stays loaded as long as its functions can be called.
    entry: ash::Entry,
}

impl Gpu {
    /// Opens a device: the one that TROMMEL_DEVICE names (an index or a part of the name), or else the first discrete
    /// GPU, integrated GPU or CPU. TROMMEL_VALIDATION=1 loads the Khronos validation layer. `application` is the
    /// application's name.
    pub(crate) fn new(application: &CStr) -> Result<Self> {
        // SAFETY: the loader is Vulkan's; its initialization has no requirement of ours.
        let entry = unsafe { ash::Entry::load() }.context("no Vulkan loader (libvulkan) is installed")?;
        let validate = std::env::var_os("TROMMEL_VALIDATION").is_some_and(|value| value == "1");
        let instance = create_instance(&entry, application, validate)?;
        let mut gpu = Setup { entry, instance, messenger: None };
        if validate {
            let debug = ash::ext::debug_utils::Instance::new(&gpu.entry, &gpu.instance);
            // SAFETY: the instance was created with VK_EXT_debug_utils.
            let messenger = unsafe { debug.create_debug_utils_messenger(&messenger_info(), None) }?;
            gpu.messenger = Some((debug, messenger));
        }
        gpu.finish()
    }

    /// Creates the library's handle on this device. Objects created on it must be dropped before `self`.
    pub(crate) fn trommel(&self) -> Result<trommel::Device> {
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        // SAFETY: the handles are valid and belong together, and the features are those that the device was created
        // with.
        unsafe {
            requirements(&self.entry, &self.instance, self.physical)?.enable(&mut v12, &mut v13);
            let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
            let (instance, device) = (self.instance.handle(), self.device.handle());
            let mut info = trommel::DeviceInfo::new(self.entry.static_fn(), instance, self.physical, device, &features);
            info.queue_family = Some(self.queue_family);
            info.debug_utils = self.messenger.is_some();
            Ok(trommel::Device::new(&info)?)
        }
    }

    /// Creates a buffer of at least `size` bytes.
    pub(crate) fn buffer(&self, size: u64, place: Place) -> Result<Buffer> {
        // Every buffer has its own memory object, which suits large buffers. Small ones are rounded up, so that the
        // object is not wasted.
        let size = size.max(1 << 20);
        let usage = match place {
            Place::Device => {
                vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
                    | vk::BufferUsageFlags::STORAGE_BUFFER
                    | vk::BufferUsageFlags::INDIRECT_BUFFER
                    | vk::BufferUsageFlags::TRANSFER_SRC
                    | vk::BufferUsageFlags::TRANSFER_DST
            }
            Place::Upload => vk::BufferUsageFlags::TRANSFER_SRC,
            Place::Download => vk::BufferUsageFlags::TRANSFER_DST,
        };
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        // SAFETY: the device is alive; the buffer is stored at once, so that an error below does not leak it.
        let handle = unsafe { self.device.create_buffer(&info, None) }?;
        let mut buffer = Buffer { handle, size, address: 0, memory: vk::DeviceMemory::null() };
        let bound = self.bind_memory(&mut buffer, place);
        self.buffers.borrow_mut().push(buffer);
        bound.with_context(|| format!("cannot allocate {size} bytes"))?;
        Ok(buffer)
    }

    fn bind_memory(&self, buffer: &mut Buffer, place: Place) -> Result<()> {
        // SAFETY: the buffer is alive.
        let needs = unsafe { self.device.get_buffer_memory_requirements(buffer.handle) };
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let wishes = match place {
            Place::Device => [vk::MemoryPropertyFlags::DEVICE_LOCAL, vk::MemoryPropertyFlags::empty()],
            Place::Upload => [host, host],
            Place::Download => [host | vk::MemoryPropertyFlags::HOST_CACHED, host],
        };
        let index = wishes
            .iter()
            .find_map(|wish| {
                (0u32..).zip(&self.memory_types).position(|(i, memory)| {
                    needs.memory_type_bits & (1 << i) != 0 && memory.property_flags.contains(*wish)
                })
            })
            .context("the device has no memory of the kind")?;

        let mut dedicated = vk::MemoryDedicatedAllocateInfo::default().buffer(buffer.handle);
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(u32::try_from(index)?)
            .push_next(&mut dedicated);
        if place == Place::Device {
            info = info.push_next(&mut flags);
        }
        // SAFETY: type and size are those that the buffer requires; its usage includes device addresses.
        unsafe {
            buffer.memory = self.device.allocate_memory(&info, None)?;
            self.device.bind_buffer_memory(buffer.handle, buffer.memory, 0)?;
            if place == Place::Device {
                let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
                buffer.address = self.device.get_buffer_device_address(&info);
            }
        }
        Ok(())
    }

    /// Creates an upload buffer with the given contents.
    pub(crate) fn upload<T: bytemuck::NoUninit>(&self, items: &[T]) -> Result<Buffer> {
        let bytes: &[u8] = bytemuck::cast_slice(items);
        let buffer = self.buffer(bytes.len() as u64, Place::Upload)?;
        // SAFETY: the memory is host visible, as large as the buffer, and not yet used by the device.
        unsafe {
            let to = self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len());
            self.device.unmap_memory(buffer.memory);
        }
        Ok(buffer)
    }

    /// Returns the first `len` items of a download buffer, after the commands that wrote it have completed.
    pub(crate) fn read<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        buffer: &Buffer,
        len: usize,
    ) -> Result<Vec<T>> {
        let mut items = vec![T::zeroed(); len];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut items);
        ensure!(bytes.len() as u64 <= buffer.size, "read past the end of a buffer");
        // SAFETY: the memory is host visible and coherent, and at least as large as what is read.
        unsafe {
            let from = self.device.map_memory(buffer.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
            std::ptr::copy_nonoverlapping(from.cast(), bytes.as_mut_ptr(), bytes.len());
            self.device.unmap_memory(buffer.memory);
        }
        Ok(items)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: nothing is pending: every submission was waited for, and `Commands` wait again when they are dropped.
        unsafe {
            for buffer in self.buffers.borrow().iter() {
                self.device.destroy_buffer(buffer.handle, None);
                self.device.free_memory(buffer.memory, None);
            }
            self.device.destroy_device(None);
            if let Some((debug, messenger)) = self.messenger.take() {
                debug.destroy_debug_utils_messenger(messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

/// The objects that exist before the device.
struct Setup {
    entry: ash::Entry,
    instance: ash::Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
}

impl Setup {
    fn finish(self) -> Result<Gpu> {
        let made = self.create_device();
        if made.is_err() {
            // SAFETY: no device was created; nothing else refers to the instance.
            unsafe {
                if let Some((debug, messenger)) = &self.messenger {
                    debug.destroy_debug_utils_messenger(*messenger, None);
                }
                self.instance.destroy_instance(None);
            }
        }
        let (physical, queue_family, device) = made?;
        // SAFETY: the handles are valid and belong together; the queue was asked for.
        let (properties, families, memory, queue) = unsafe {
            (
                self.instance.get_physical_device_properties(physical),
                self.instance.get_physical_device_queue_family_properties(physical),
                self.instance.get_physical_device_memory_properties(physical),
                device.get_device_queue(queue_family, 0),
            )
        };
        Ok(Gpu {
            device,
            physical,
            queue,
            queue_family,
            timestamp_bits: families[queue_family as usize].timestamp_valid_bits,
            timestamp_period_ns: f64::from(properties.limits.timestamp_period),
            max_groups: properties.limits.max_compute_work_group_count[0],
            name: properties.device_name_as_c_str().unwrap_or(c"?").to_string_lossy().into_owned(),
            is_cpu: properties.device_type == vk::PhysicalDeviceType::CPU,
            memory_types: memory.memory_types_as_slice().to_vec(),
            buffers: RefCell::default(),
            messenger: self.messenger,
            instance: self.instance,
            entry: self.entry,
        })
    }

    fn create_device(&self) -> Result<(vk::PhysicalDevice, u32, ash::Device)> {
        let physical = self.choose()?;
        // SAFETY: the handle comes from the instance.
        let families = unsafe { self.instance.get_physical_device_queue_family_properties(physical) };
        let with_compute = |graphics: bool| {
            (0u32..).zip(&families).find(|(_, family)| {
                family.queue_flags.contains(vk::QueueFlags::COMPUTE)
                    && family.queue_flags.contains(vk::QueueFlags::GRAPHICS) == graphics
            })
        };
        let (queue_family, _) =
            with_compute(false).or_else(|| with_compute(true)).context("the device has no queue for compute")?;

        let mut supported = vk::PhysicalDeviceFeatures2::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        // SAFETY: the handles are valid, the chains are ours, and all features switched on were found to be supported.
        unsafe {
            // Vulkan requires this query before a feature is enabled. The library's requirements already contain the
            // result.
            self.instance.get_physical_device_features2(physical, &mut supported);
            let requirements = requirements(&self.entry, &self.instance, physical)?;
            ensure!(requirements.missing().is_empty(), "the device lacks {}", requirements.missing().join(", "));
            requirements.enable(&mut v12, &mut v13);
            let mut extensions: Vec<*const c_char> =
                requirements.extensions().iter().map(|name| name.as_ptr()).collect();
            // If Vulkan is a layer over another API, this extension must be enabled if present.
            let subset = ash::khr::portability_subset::NAME;
            let available = self.instance.enumerate_device_extension_properties(physical)?;
            if available.iter().any(|e| e.extension_name_as_c_str() == Ok(subset)) {
                extensions.push(subset.as_ptr());
            }
            let priorities = [1.0];
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&priorities)];
            let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
            let info = vk::DeviceCreateInfo::default()
                .queue_create_infos(&queues)
                .enabled_extension_names(&extensions)
                .push_next(&mut features);
            Ok((physical, queue_family, self.instance.create_device(physical, &info, None)?))
        }
    }

    fn choose(&self) -> Result<vk::PhysicalDevice> {
        // SAFETY: the instance is alive.
        let devices = unsafe { self.instance.enumerate_physical_devices() }?;
        let properties: Vec<_> = devices
            .iter()
            // SAFETY: the handles come from the instance.
            .map(|device| unsafe { self.instance.get_physical_device_properties(*device) })
            .collect();
        let name = |i: usize| properties[i].device_name_as_c_str().unwrap_or(c"?").to_string_lossy();
        ensure!(!devices.is_empty(), "no Vulkan device is installed");
        let Ok(wanted) = std::env::var("TROMMEL_DEVICE") else {
            let rank = |i: &usize| match properties[*i].device_type {
                vk::PhysicalDeviceType::DISCRETE_GPU => 0,
                vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
                vk::PhysicalDeviceType::CPU => 3,
                _ => 2,
            };
            let lacks = |i: &usize| {
                // SAFETY: the handles come from the instance.
                unsafe { requirements(&self.entry, &self.instance, devices[*i]) }.map(|r| r.missing().len())
            };
            // Devices that meet the requirements come first. Otherwise the error names the unmet requirements of the
            // best one.
            let best = (0..devices.len()).min_by_key(|i| (lacks(i).unwrap_or(usize::MAX), rank(i)));
            return best.map(|i| devices[i]).context("no Vulkan device is installed");
        };
        let found = match wanted.parse::<usize>() {
            Ok(number) => Some(number).filter(|number| *number < devices.len()),
            Err(_) => (0..devices.len()).find(|i| name(*i).to_lowercase().contains(&wanted.to_lowercase())),
        };
        found.map(|i| devices[i]).ok_or_else(|| {
            let names: Vec<_> = (0..devices.len()).map(|i| format!("{i} {}", name(i))).collect();
            anyhow!("TROMMEL_DEVICE={wanted} names no device; there are: {}", names.join(", "))
        })
    }
}

/// # Safety
/// The handles belong together.
unsafe fn requirements(
    entry: &ash::Entry,
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
) -> Result<trommel::Requirements> {
    let get_instance_proc_addr = entry.static_fn().get_instance_proc_addr;
    // SAFETY: the caller's promise.
    Ok(unsafe {
        trommel::Requirements::query(get_instance_proc_addr, instance.handle(), vk::API_VERSION_1_3, physical)
    }?)
}

fn create_instance(entry: &ash::Entry, application: &CStr, validate: bool) -> Result<ash::Instance> {
    let application = vk::ApplicationInfo::default().application_name(application).api_version(vk::API_VERSION_1_3);
    let mut layers: Vec<*const c_char> = Vec::new();
    let mut extensions: Vec<*const c_char> = Vec::new();
    let mut info = vk::InstanceCreateInfo::default().application_info(&application);

    // SAFETY: queries without preconditions.
    let available = unsafe { entry.enumerate_instance_extension_properties(None) }?;
    let has = |name: &CStr| available.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    if has(ash::khr::portability_enumeration::NAME) {
        extensions.push(ash::khr::portability_enumeration::NAME.as_ptr());
        info = info.flags(vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR);
    }

    let enabled =
        [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION, vk::ValidationFeatureEnableEXT::BEST_PRACTICES];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled);
    let on = [vk::TRUE];
    let settings = [c"validate_sync", c"validate_best_practices"].map(|name| {
        let setting = vk::LayerSettingEXT::default().layer_name(LAYER).setting_name(name);
        vk::LayerSettingEXT {
            value_count: 1,
            p_values: on.as_ptr().cast(),
            ty: vk::LayerSettingTypeEXT::BOOL32,
            ..setting
        }
    });
    let mut settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
    if validate {
        layers.push(LAYER.as_ptr());
        // SAFETY: a query without preconditions.
        let Ok(own) = (unsafe { entry.enumerate_instance_extension_properties(Some(LAYER)) }) else {
            bail!("TROMMEL_VALIDATION=1, but VK_LAYER_KHRONOS_validation is not installed");
        };
        extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        // The messenger exists only after the instance. During instance creation the layer would only remark that
        // debugging extensions are for debugging. Checks are selected in the older way as long as the layer supports
        // it, because older loaders reject the newer way.
        if own.iter().any(|e| e.extension_name_as_c_str() == Ok(ash::ext::validation_features::NAME)) {
            extensions.push(ash::ext::validation_features::NAME.as_ptr());
            info = info.push_next(&mut features);
        } else {
            extensions.push(ash::ext::layer_settings::NAME.as_ptr());
            info = info.push_next(&mut settings);
        }
    }
    let info = info.enabled_layer_names(&layers).enabled_extension_names(&extensions);
    // SAFETY: all data that the structs point to lives until the call returns.
    unsafe { entry.create_instance(&info, None) }.context("cannot create a Vulkan instance")
}

fn messenger_info() -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
        .message_type(
            vk::DebugUtilsMessageTypeFlagsEXT::GENERAL
                | vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION
                | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
        )
        .pfn_user_callback(Some(complain))
}

/// Prints a message of the validation layer and counts it.
///
/// # Safety
/// Vulkan calls it with valid data.
unsafe extern "system" fn complain(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: vulkan passes a valid struct; its message is a string.
    let message = unsafe { data.as_ref().and_then(|data| data.message_as_c_str()) };
    // Messages of type GENERAL alone are the loader's remarks about installed drivers, not about this program.
    if kind != vk::DebugUtilsMessageTypeFlagsEXT::GENERAL {
        COMPLAINTS.fetch_add(1, Ordering::Relaxed);
    }
    eprintln!("{}", message.unwrap_or(c"(no message)").to_string_lossy());
    vk::FALSE
}
