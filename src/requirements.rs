//! Device requirements: features, limits and versions, known before `vkCreateDevice`.

use crate::core::pipelines::MAX_PUSH_BYTES;
use crate::loader::check_instance;
use crate::tuning::MIN_THREADS;
use crate::{Error, Result};
use ash::vk;
use ash::vk::Handle as _;
use std::ffi::CStr;

/// Shared memory of a workgroup that the default tile shapes need, in bytes.
const SHARED_MEMORY: u32 = 16 * 1024;
/// Fewest lanes of a subgroup. Narrower subgroups would need larger arrays for their sums than kernels declare.
const MIN_LANES: u32 = 4;
/// The requirement that an instance for less than Vulkan 1.3 does not meet.
pub(crate) const INSTANCE_VERSION: &str = "Vulkan 1.3 as the instance's apiVersion";

bitflags::bitflags! {
    /// The features that every kernel uses. Names are Vulkan's.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Features: u32 {
        const bufferDeviceAddress = 1;
        const vulkanMemoryModel = 1 << 1;
        const vulkanMemoryModelDeviceScope = 1 << 2;
        const scalarBlockLayout = 1 << 3;
        const synchronization2 = 1 << 4;
        const subgroupSizeControl = 1 << 5;
        const computeFullSubgroups = 1 << 6;
        const maintenance4 = 1 << 7;
    }
}

impl Features {
    /// Reads the features of a `pNext` chain, from version structs and from the extension structs that preceded them.
    ///
    /// # Safety
    /// The chain is valid.
    unsafe fn of_chain(first: *const std::ffi::c_void) -> Self {
        let mut found = Self::empty();
        let mut add = |feature: Self, on: vk::Bool32| found.set(feature, found.contains(feature) || on == vk::TRUE);
        let mut next = first.cast::<vk::BaseInStructure>();
        // SAFETY: each struct of a valid chain begins with its type and the next one's address.
        while let Some(base) = unsafe { next.as_ref() } {
            macro_rules! read {
                ($structure:ident: $($feature:ident = $field:ident),*) => {{
                    // SAFETY: the type says what the struct is.
                    let features = unsafe { &*next.cast::<vk::$structure>() };
                    $(add(Self::$feature, features.$field);)*
                }};
            }
            match base.s_type {
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => read!(PhysicalDeviceVulkan12Features:
                    bufferDeviceAddress = buffer_device_address, vulkanMemoryModel = vulkan_memory_model,
                    vulkanMemoryModelDeviceScope = vulkan_memory_model_device_scope,
                    scalarBlockLayout = scalar_block_layout),
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => read!(PhysicalDeviceVulkan13Features:
                    synchronization2 = synchronization2, subgroupSizeControl = subgroup_size_control,
                    computeFullSubgroups = compute_full_subgroups, maintenance4 = maintenance4),
                vk::StructureType::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES => {
                    read!(PhysicalDeviceBufferDeviceAddressFeatures: bufferDeviceAddress = buffer_device_address);
                }
                vk::StructureType::PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES => {
                    read!(PhysicalDeviceVulkanMemoryModelFeatures: vulkanMemoryModel = vulkan_memory_model,
                        vulkanMemoryModelDeviceScope = vulkan_memory_model_device_scope);
                }
                vk::StructureType::PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES => {
                    read!(PhysicalDeviceScalarBlockLayoutFeatures: scalarBlockLayout = scalar_block_layout);
                }
                vk::StructureType::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES => {
                    read!(PhysicalDeviceSynchronization2Features: synchronization2 = synchronization2);
                }
                vk::StructureType::PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES => {
                    read!(PhysicalDeviceSubgroupSizeControlFeatures: subgroupSizeControl = subgroup_size_control,
                        computeFullSubgroups = compute_full_subgroups);
                }
                vk::StructureType::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES => {
                    read!(PhysicalDeviceMaintenance4Features: maintenance4 = maintenance4);
                }
                _ => {}
            }
            next = base.p_next;
        }
        found
    }
}

/// The requirements of the library, and those that a physical device does not meet.
///
/// No extension is needed: the minimum is Vulkan 1.3.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirements {
    missing: Vec<String>,
}

impl Requirements {
    /// Queries a physical device.
    ///
    /// `api_version` is the `VkApplicationInfo::apiVersion` at the creation of the instance; 0 means Vulkan 1.0, as in
    /// Vulkan. Vulkan has no query for this version. On an older instance, loaders and drivers may expose a physical
    /// device of Vulkan 1.3 until a device is created.
    ///
    /// # Errors
    /// [`Error::Null`] for a null handle, [`Error::MissingFeature`] for a loader that lacks a function. Unmet
    /// requirements are not an error: see [`Requirements::missing`].
    ///
    /// # Safety
    /// The handles are valid and belong together.
    pub unsafe fn query(
        get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
        instance: vk::Instance,
        api_version: u32,
        physical_device: vk::PhysicalDevice,
    ) -> Result<Self> {
        for (argument, null) in [("instance", instance.is_null()), ("physicalDevice", physical_device.is_null())] {
            if null {
                return Err(Error::Null { argument });
            }
        }
        // SAFETY: the caller's handles are valid.
        unsafe {
            check_instance(get_instance_proc_addr, instance)?;
            let instance = ash::Instance::load(&ash::StaticFn { get_instance_proc_addr }, instance);
            let mut requirements = Self::of(&instance, physical_device);
            if api_version < vk::API_VERSION_1_3 {
                let version = version_text(api_version.max(vk::API_VERSION_1_0));
                requirements.missing.push(format!("{INSTANCE_VERSION} (it is {version})"));
            }
            Ok(requirements)
        }
    }

    /// # Safety
    /// The handles are valid and belong together.
    pub(crate) unsafe fn of(instance: &ash::Instance, physical_device: vk::PhysicalDevice) -> Self {
        // SAFETY: the caller's handles are valid.
        let version = unsafe { instance.get_physical_device_properties(physical_device) }.api_version;
        if version < vk::API_VERSION_1_3 {
            return Self { missing: vec![format!("Vulkan 1.3 (the device has {})", version_text(version))] };
        }

        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut v13_properties = vk::PhysicalDeviceVulkan13Properties::default();
        let mut properties =
            vk::PhysicalDeviceProperties2::default().push_next(&mut v11).push_next(&mut v13_properties);
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
        // SAFETY: the handles are valid, the chains are ours.
        let supported = unsafe {
            instance.get_physical_device_properties2(physical_device, &mut properties);
            instance.get_physical_device_features2(physical_device, &mut features);
            Features::of_chain(features.p_next)
        };
        let shared_memory = properties.properties.limits.max_compute_shared_memory_size;
        let push_constants = properties.properties.limits.max_push_constants_size;
        let max_invocations = properties.properties.limits.max_compute_work_group_invocations;

        let mut missing = names(Features::all() - supported);
        for (operation, name) in [
            (vk::SubgroupFeatureFlags::BASIC, "basic"),
            (vk::SubgroupFeatureFlags::VOTE, "vote"),
            (vk::SubgroupFeatureFlags::BALLOT, "ballot"),
            (vk::SubgroupFeatureFlags::ARITHMETIC, "arithmetic"),
            (vk::SubgroupFeatureFlags::SHUFFLE, "shuffle"),
        ] {
            if !v11.subgroup_supported_operations.contains(operation) {
                missing.push(format!("subgroup {name} operations"));
            }
        }
        if !v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
            missing.push("subgroup operations in compute shaders".into());
        }
        let lanes = v13_properties.min_subgroup_size;
        if lanes < MIN_LANES {
            missing.push(format!("subgroups of {MIN_LANES} lanes or more (the device may have {lanes})"));
        }
        let in_subgroups = v13_properties.max_compute_workgroup_subgroups.saturating_mul(lanes);
        let threads = in_subgroups.min(max_invocations);
        if threads < MIN_THREADS {
            missing.push(format!("{MIN_THREADS} invocations a workgroup (the device has {threads} in full subgroups)"));
        }
        if shared_memory < SHARED_MEMORY {
            missing
                .push(format!("{SHARED_MEMORY} bytes of shared memory a workgroup (the device has {shared_memory})"));
        }
        if push_constants < MAX_PUSH_BYTES {
            missing.push(format!("{MAX_PUSH_BYTES} bytes of push constants (the device has {push_constants})"));
        }
        Self { missing }
    }

    /// The requirements that the device does not meet, as text. Empty if it meets all.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Device extensions to enable.
    pub fn extensions(&self) -> &'static [&'static CStr] {
        &[]
    }

    /// Sets the required features and leaves the others unchanged, so that several libraries can share one device.
    pub fn enable(
        &self,
        v12: &mut vk::PhysicalDeviceVulkan12Features<'_>,
        v13: &mut vk::PhysicalDeviceVulkan13Features<'_>,
    ) {
        v12.buffer_device_address = vk::TRUE;
        v12.vulkan_memory_model = vk::TRUE;
        v12.vulkan_memory_model_device_scope = vk::TRUE;
        v12.scalar_block_layout = vk::TRUE;
        v13.synchronization2 = vk::TRUE;
        v13.subgroup_size_control = vk::TRUE;
        v13.compute_full_subgroups = vk::TRUE;
        v13.maintenance4 = vk::TRUE;
    }

    /// The requirements that the device does not meet, and the required features that it was created without.
    ///
    /// # Safety
    /// The chain is valid.
    pub(crate) unsafe fn missing_from(&self, enabled: &vk::PhysicalDeviceFeatures2<'_>) -> Vec<String> {
        // SAFETY: the caller's promise.
        let enabled = unsafe { Features::of_chain(enabled.p_next) };
        let mut missing = self.missing.clone();
        for name in names(Features::all() - enabled) {
            if !missing.contains(&name) {
                missing.push(format!("{name} (supported, but not enabled)"));
            }
        }
        missing
    }
}

fn version_text(version: u32) -> String {
    format!("{}.{}", vk::api_version_major(version), vk::api_version_minor(version))
}

fn names(features: Features) -> Vec<String> {
    features.iter_names().map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_enabled_is_found_in_either_kind_of_struct() {
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
        Requirements::default().enable(&mut v12, &mut v13);
        let chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
        // SAFETY: the chain is built above.
        let enabled = unsafe { Features::of_chain(chain.p_next) };
        assert_eq!(enabled, Features::all(), "enable() switches on all that is needed");

        let mut alone = vk::PhysicalDeviceSynchronization2Features::default().synchronization2(true);
        let chain = vk::PhysicalDeviceFeatures2::default().push_next(&mut alone);
        // SAFETY: the chain is built above.
        let found = unsafe { Features::of_chain(chain.p_next) };
        assert_eq!(found, Features::synchronization2, "single structs count as well");

        // SAFETY: the chain is built above.
        let missing = unsafe { Requirements::default().missing_from(&chain) };
        assert_eq!(missing.len(), 7, "everything else is reported: {missing:?}");
    }
}
