//! Checks that the engine's loader has all functions that the library calls. Without the check, ash would abort the
//! process at the first call of a missing function.

use crate::requirements::INSTANCE_VERSION;
use crate::{Error, Result};
use ash::vk;
use ash::vk::Handle as _;
use std::ffi::CStr;
use std::mem::transmute;

/// Older loaders, and instances created for less than Vulkan 1.3, lack some of these functions.
const OF_INSTANCES: &[&CStr] = &[
    c"vkGetDeviceProcAddr",
    c"vkGetPhysicalDeviceProperties",
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceFeatures2",
    c"vkGetPhysicalDeviceQueueFamilyProperties",
];
const OF_DEVICES: &[&CStr] = &[c"vkGetBufferDeviceAddress", c"vkCmdPipelineBarrier2", c"vkCmdWriteTimestamp2"];
const OF_DEBUG_UTILS: &[&CStr] =
    &[c"vkSetDebugUtilsObjectNameEXT", c"vkCmdBeginDebugUtilsLabelEXT", c"vkCmdEndDebugUtilsLabelEXT"];

/// Checks the functions that the library calls on an instance. A null instance passes; later checks reject it.
///
/// # Safety
/// The handle is valid or null.
pub(crate) unsafe fn check_instance(loader: vk::PFN_vkGetInstanceProcAddr, instance: vk::Instance) -> Result<()> {
    // SAFETY: the caller's promise.
    let has = |name: &CStr| unsafe { loader(instance, name.as_ptr()) }.is_some();
    all(!instance.is_null(), OF_INSTANCES, has, INSTANCE_VERSION)
}

/// Checks the functions that the library calls on a device. A null device passes; later checks reject it. The functions
/// of `VK_EXT_debug_utils` are looked up on the instance, too: loaders return a device's function even if the instance
/// does not have the extension.
///
/// # Safety
/// The handles are valid or null, and [`check_instance`] has passed.
pub(crate) unsafe fn check_device(
    loader: vk::PFN_vkGetInstanceProcAddr,
    instance: vk::Instance,
    device: vk::Device,
    debug_utils: bool,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let Some(device_loader) = (unsafe { loader(instance, c"vkGetDeviceProcAddr".as_ptr()) }) else { return Ok(()) };
    // SAFETY: the function has that name.
    let device_loader = unsafe { transmute::<unsafe extern "system" fn(), vk::PFN_vkGetDeviceProcAddr>(device_loader) };
    // SAFETY: the caller's promise.
    let has = |name: &CStr| unsafe { device_loader(device, name.as_ptr()) }.is_some();
    all(!device.is_null(), OF_DEVICES, has, INSTANCE_VERSION)?;
    // SAFETY: the caller's promise.
    let instance_has = |name: &CStr| unsafe { loader(instance, name.as_ptr()) }.is_some();
    let has_both = |name: &CStr| has(name) && instance_has(name);
    all(!device.is_null() && debug_utils, OF_DEBUG_UTILS, has_both, "VK_EXT_debug_utils on the instance")
}

fn all(wanted: bool, names: &[&CStr], has: impl Fn(&CStr) -> bool, needs: &str) -> Result<()> {
    match names.iter().find(|name| wanted && !has(name)) {
        Some(name) => Err(Error::MissingFeature(format!("{}: it needs {needs}", name.to_string_lossy()))),
        None => Ok(()),
    }
}
