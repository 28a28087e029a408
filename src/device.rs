//! The engine's Vulkan device: handles, limits, and the pipelines created on it.

use crate::core::check_memory::CheckMemory;
use crate::core::pipelines::{Module, Pipeline, Registry, Variant, Workspace};
use crate::loader::{check_device, check_instance};
use crate::requirements::Requirements;
use crate::tuning::Profile;
use crate::{Error, Result};
use ash::vk;
use ash::vk::Handle as _;
use std::ffi::CStr;
use std::sync::Arc;

/// The parameters of [`Device::new`]. The caller keeps ownership of all handles.
#[derive(Clone, Debug)]
pub struct DeviceInfo<'a> {
    /// The loader's entry point. The library links to no loader.
    pub get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    /// The instance, created for Vulkan 1.3 or later.
    pub instance: vk::Instance,
    /// The physical device.
    pub physical_device: vk::PhysicalDevice,
    /// The device.
    pub device: vk::Device,
    /// The features that the device was created with, including the `pNext` chain: Vulkan has no query for them.
    pub enabled_features: &'a vk::PhysicalDeviceFeatures2<'a>,
    /// The queue family that executes the commands, if known: a family of the physical device with compute. A
    /// compute-only family is faster on some devices.
    pub queue_family: Option<u32>,
    /// Cache for pipelines; may be null. Several threads use the cache at once. For a cache with
    /// `EXTERNALLY_SYNCHRONIZED`, set `creation_threads` to 1, and let no other thread use the cache while a handle is
    /// created or compiled.
    pub pipeline_cache: vk::PipelineCache,
    /// Maximum number of threads that create the pipelines of a sorter or another handle, the calling thread included.
    /// 0: one for each core. If the system cannot create a thread, the others do its work. With allocation callbacks
    /// the calling thread is the only one.
    pub creation_threads: u32,
    /// Host memory for Vulkan's objects. The callbacks must outlive the [`Device`].
    pub allocation_callbacks: Option<vk::AllocationCallbacks<'static>>,
    /// Whether the instance has `VK_EXT_debug_utils`: pipelines get names and commands get labels.
    pub debug_utils: bool,
    /// Tile shapes and strategy; `None`: the built-in profile of the device.
    pub profile: Option<Profile>,
    /// Flags added to every pipeline, such as `CAPTURE_STATISTICS_KHR`.
    pub pipeline_flags: vk::PipelineCreateFlags,
}

impl<'a> DeviceInfo<'a> {
    /// The required members; the others have their defaults.
    pub fn new(
        entry: &ash::StaticFn,
        instance: vk::Instance,
        physical_device: vk::PhysicalDevice,
        device: vk::Device,
        enabled_features: &'a vk::PhysicalDeviceFeatures2<'a>,
    ) -> Self {
        Self {
            get_instance_proc_addr: entry.get_instance_proc_addr,
            instance,
            physical_device,
            device,
            enabled_features,
            queue_family: None,
            pipeline_cache: vk::PipelineCache::null(),
            creation_threads: 0,
            allocation_callbacks: None,
            debug_utils: false,
            profile: None,
            pipeline_flags: vk::PipelineCreateFlags::empty(),
        }
    }
}

/// Properties of a device that plans depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// PCI vendor id.
    pub vendor_id: u32,
    /// Whether the device is a CPU that runs shaders.
    pub is_cpu: bool,
    /// Whether the executing queue family has compute but no graphics.
    pub compute_only: bool,
    /// Minimum number of lanes of a subgroup.
    pub min_lanes: u32,
    /// Maximum number of lanes of a subgroup.
    pub max_lanes: u32,
    /// Whether a compute pipeline can require a subgroup size.
    pub lanes_selectable: bool,
    /// Maximum number of invocations of a workgroup.
    pub max_invocations: u32,
    /// Maximum number of subgroups of a workgroup.
    pub max_subgroups: u32,
    /// Shared memory of a workgroup, in bytes.
    pub shared_memory: u32,
    /// Maximum number of workgroups of a dispatch in x.
    pub max_groups_x: u32,
}

impl DeviceFacts {
    /// Whether a pipeline can require this subgroup size.
    pub(crate) fn can_require(&self, lanes: u32) -> bool {
        self.lanes_selectable && lanes.is_power_of_two() && (self.min_lanes..=self.max_lanes).contains(&lanes)
    }
}

/// The library on an engine's device. Cheap to clone and immutable: any number of threads may record.
#[derive(Clone)]
pub struct Device(Arc<DeviceInner>);

struct DeviceInner {
    handles: Arc<DeviceHandles>,
    registry: Registry,
    profile: Profile,
    check_memory: CheckMemory,
}

/// The device state that pipelines and commands need.
pub(crate) struct DeviceHandles {
    pub(crate) vk: ash::Device,
    pub(crate) facts: DeviceFacts,
    pub(crate) pipeline_cache: vk::PipelineCache,
    pub(crate) pipeline_flags: vk::PipelineCreateFlags,
    callbacks: Option<vk::AllocationCallbacks<'static>>,
    /// [`DeviceInfo::creation_threads`].
    creation_threads: u32,
    debug: Option<ash::ext::debug_utils::Device>,
}

// SAFETY: the only member that is not Send and Sync is the pointer in the allocation callbacks. Vulkan requires
// callbacks to be callable from any thread that calls Vulkan.
unsafe impl Send for DeviceHandles {}
// SAFETY: as above.
unsafe impl Sync for DeviceHandles {}

impl DeviceHandles {
    pub(crate) fn callbacks(&self) -> Option<&vk::AllocationCallbacks<'static>> {
        self.callbacks.as_ref()
    }

    /// Number of threads that create pipelines, the calling thread included. With allocation callbacks it is 1: the
    /// callbacks may not be thread-safe.
    pub(crate) fn creation_threads(&self) -> usize {
        match (self.callbacks, self.creation_threads) {
            (Some(_), _) => 1,
            (None, 0) => std::thread::available_parallelism().map_or(1, usize::from),
            (None, threads) => threads as usize,
        }
    }

    /// Names an object for debuggers. Errors are ignored.
    pub(crate) fn name<T: vk::Handle>(&self, object: T, name: &CStr) {
        let Some(debug) = &self.debug else { return };
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(name);
        // SAFETY: the object is alive, and being created by this thread.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }

    pub(crate) fn debug(&self) -> Option<&ash::ext::debug_utils::Device> {
        self.debug.as_ref()
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("facts", self.facts()).field("profile", self.profile()).finish_non_exhaustive()
    }
}

impl Drop for DeviceInner {
    fn drop(&mut self) {
        self.registry.destroy(&self.handles);
    }
}

impl Device {
    /// Creates the library's handle on `info.device`.
    ///
    /// # Errors
    /// [`Error::MissingFeature`] names the required features that the device was created without, and
    /// `VK_EXT_debug_utils` if it is announced but absent. [`Error::TooLarge`] and [`Error::Malformed`] for a queue
    /// family that the physical device does not have, or without compute.
    ///
    /// # Safety
    /// The handles are valid and belong together, and `enabled_features` is what the device was created with. The
    /// device outlives every clone of this handle and all objects created on it. Unless
    /// [`DeviceInfo::creation_threads`] is 1, the pipeline cache is internally synchronized.
    pub unsafe fn new(info: &DeviceInfo<'_>) -> Result<Self> {
        for (argument, null) in [
            ("instance", info.instance.is_null()),
            ("physicalDevice", info.physical_device.is_null()),
            ("device", info.device.is_null()),
        ] {
            if null {
                return Err(Error::Null { argument });
            }
        }
        let entry = ash::StaticFn { get_instance_proc_addr: info.get_instance_proc_addr };
        // SAFETY: the caller's handles are valid.
        let (instance, device) = unsafe {
            check_instance(info.get_instance_proc_addr, info.instance)?;
            check_device(info.get_instance_proc_addr, info.instance, info.device, info.debug_utils)?;
            let instance = ash::Instance::load(&entry, info.instance);
            let device = ash::Device::load(instance.fp_v1_0(), info.device);
            (instance, device)
        };
        // SAFETY: the caller's handles are valid.
        let requirements = unsafe { Requirements::of(&instance, info.physical_device) };
        // SAFETY: the chain is the caller's, and valid.
        let missing = unsafe { requirements.missing_from(info.enabled_features) };
        if !missing.is_empty() {
            return Err(Error::MissingFeature(missing.join(", ")));
        }
        // SAFETY: the caller's handles are valid.
        let facts = unsafe { query_facts(&instance, info.physical_device, info.queue_family) }?;
        let profile = info.profile.clone().unwrap_or_else(|| Profile::for_device(&facts)).checked(&facts)?;
        let handles = Arc::new(DeviceHandles {
            debug: info.debug_utils.then(|| ash::ext::debug_utils::Device::new(&instance, &device)),
            vk: device,
            facts,
            pipeline_cache: info.pipeline_cache,
            pipeline_flags: info.pipeline_flags,
            callbacks: info.allocation_callbacks,
            creation_threads: info.creation_threads,
        });
        let registry = Registry::new(&handles)?;
        Ok(Self(Arc::new(DeviceInner { handles, registry, profile, check_memory: CheckMemory::default() })))
    }

    /// The properties of the device.
    pub fn facts(&self) -> &DeviceFacts {
        &self.0.handles.facts
    }

    /// The profile in use: tile shapes and strategy.
    pub fn profile(&self) -> &Profile {
        &self.0.profile
    }

    pub(crate) fn handles(&self) -> &DeviceHandles {
        &self.0.handles
    }

    pub(crate) fn pipeline_layout(&self) -> vk::PipelineLayout {
        self.0.registry.layout()
    }

    /// Creates a pipeline during recording. The device keeps it.
    pub(crate) fn late_pipeline(&self, variant: Variant) -> Result<vk::Pipeline> {
        self.0.registry.late_pipeline(&self.0.handles, variant)
    }

    #[allow(dead_code, reason = "some builds have no primitive that takes modules of the caller")]
    pub(crate) fn add_module(&self, code: &Arc<[u32]>) -> Arc<Module> {
        self.0.registry.add_module(code)
    }

    /// Creates a pipeline for a handle, or returns the existing one. The handle keeps it.
    pub(crate) fn create_pipeline(&self, variant: Variant, workspace: &mut Workspace) -> Result<Arc<Pipeline>> {
        self.0.registry.pipeline(&self.0.handles, variant, workspace)
    }

    /// Memory for the checks of batches.
    pub(crate) fn check_memory(&self) -> &CheckMemory {
        &self.0.check_memory
    }

    pub(crate) fn creates_pipelines_late(&self) -> bool {
        self.0.registry.is_late()
    }

    /// Every pipeline that a handle uses, to read pipeline statistics.
    #[doc(hidden)]
    pub fn pipelines(&self) -> Vec<(Variant, vk::Pipeline)> {
        self.0.registry.all()
    }

    /// The creation time of each pipeline of [`Device::pipelines`].
    #[doc(hidden)]
    pub fn creation_times(&self) -> Vec<(Variant, std::time::Duration)> {
        self.0.registry.creation_times()
    }

    /// For tests on drivers with slow pipeline creation: handles created from now on have no pipelines.
    /// The first recording that needs a pipeline creates it under a lock. The device keeps these pipelines until it is
    /// destroyed.
    #[doc(hidden)]
    pub fn make_pipelines_late(&self) {
        self.0.registry.make_late();
    }

    /// For tests on Vulkan implementations that recognize modules by content: from now on, drivers specialize the
    /// modules.
    #[doc(hidden)]
    pub fn pass_whole_modules(&self) {
        self.0.registry.pass_whole_modules();
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Returns the flags of the executing queue family; `None` if the family is not known.
fn queue_flags(families: &[vk::QueueFamilyProperties], queue_family: Option<u32>) -> Result<Option<vk::QueueFlags>> {
    let argument = "queueFamilyIndex";
    let Some(index) = queue_family else { return Ok(None) };
    let Some(family) = families.get(index as usize) else {
        let limit = (families.len() as u64).saturating_sub(1);
        return Err(Error::TooLarge {
            argument,
            value: index.into(),
            limit,
            why: "the physical device's last queue family",
        });
    };
    if !family.queue_flags.contains(vk::QueueFlags::COMPUTE) {
        let why = format!("family {index} has no VK_QUEUE_COMPUTE_BIT");
        return Err(Error::Malformed { argument, why });
    }
    Ok(Some(family.queue_flags))
}

/// # Safety
/// The handles are valid.
unsafe fn query_facts(
    instance: &ash::Instance,
    physical_device: vk::PhysicalDevice,
    queue_family: Option<u32>,
) -> Result<DeviceFacts> {
    let mut v13 = vk::PhysicalDeviceVulkan13Properties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut v13);
    // SAFETY: the handles are valid, the chain is ours.
    let families = unsafe {
        instance.get_physical_device_properties2(physical_device, &mut properties);
        instance.get_physical_device_queue_family_properties(physical_device)
    };
    let device = properties.properties;
    let flags = queue_flags(&families, queue_family)?;
    Ok(DeviceFacts {
        vendor_id: device.vendor_id,
        is_cpu: device.device_type == vk::PhysicalDeviceType::CPU,
        compute_only: flags.is_some_and(|flags| !flags.contains(vk::QueueFlags::GRAPHICS)),
        min_lanes: v13.min_subgroup_size,
        max_lanes: v13.max_subgroup_size,
        lanes_selectable: v13.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE),
        max_invocations: device
            .limits
            .max_compute_work_group_invocations
            .min(device.limits.max_compute_work_group_size[0]),
        max_subgroups: v13.max_compute_workgroup_subgroups,
        shared_memory: device.limits.max_compute_shared_memory_size,
        max_groups_x: device.limits.max_compute_work_group_count[0],
    })
}
