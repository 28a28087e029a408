//! A function that the engine's loader does not have is found out here: to call it later would be the end of the process.

use crate::requirements::INSTANCE_VERSION;
use crate::{Error, Result};
use ash::vk;
use ash::vk::Handle as _;
use std::ffi::CStr;
use std::mem::transmute;

/// Older loaders and instances created for less than Vulkan 1.3 lack one or another of these.
const OF_INSTANCES: &[&CStr] = &[
    c"vkGetDeviceProcAddr",
    c"vkGetPhysicalDeviceProperties",
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceFeatures2",
    c"vkGetPhysicalDeviceQueueFamilyProperties",
];
const OF_DEVICES: &[&CStr] = &[c"vkGetBufferDeviceAddress", c"vkCmdPipelineBarrier2", c"vkCmdWriteTimestamp2"];
const OF_DEBUG_UTILS: &[&CStr] = &[c"vkSetDebugUtilsObjectNameEXT", c"vkCmdBeginDebugUtilsLabelEXT", c"vkCmdEndDebugUtilsLabelEXT"];

/// Looks up what the library calls on an instance, which ash would take for present; a null one is for others to refuse.
///
/// # Safety
/// The handle is valid or null.
pub(crate) unsafe fn check_instance(loader: vk::PFN_vkGetInstanceProcAddr, instance: vk::Instance) -> Result<()> {
    // SAFETY: the caller's promise.
    let has = |name: &CStr| unsafe { loader(instance, name.as_ptr()) }.is_some();
    all(!instance.is_null(), OF_INSTANCES, has, INSTANCE_VERSION)
}

/// Looks up what the library calls on a device; a null one is for others to refuse. The functions of `VK_EXT_debug_utils` are looked up on the
/// instance as well: loaders give a device's even where the instance is without the extension.
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
