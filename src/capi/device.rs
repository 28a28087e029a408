//! Device requirements and the library's device handle.

use super::border::{border, checked, create, destroy};
use super::info::{boolean, check_bits, read};
use super::types::*;
use crate::{Device, DeviceInfo, Error, Profile, Requirements, Result};
use ash::vk;
use std::ffi::{CStr, c_char};

/// Returns the features to enable on a physical device before vkCreateDevice, and the requirements that it does not
/// meet.
///
/// @param features12, features13 The caller's feature structs. Required features are set to VK_TRUE; the others are not
///   changed. NULL: not wanted.
/// @param extensionCount, extensions Names of device extensions to enable, by Vulkan's two-call idiom. If extensions is
///   NULL, the count is returned. Otherwise the count is the capacity, and receives the number of names written. Names
///   are static text. extensionCount may be NULL. No extension is needed so far.
/// @param missingSize, missing Unmet requirements as text, one a line, by the same idiom. The size is in bytes,
///   terminator included. Empty text: the device meets all requirements. missingSize may be NULL.
/// @return VK_INCOMPLETE if a list was truncated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetDeviceRequirements(
    info: *const TrmDeviceRequirementsInfo,
    features12: *mut VkPhysicalDeviceVulkan12Features,
    features13: *mut VkPhysicalDeviceVulkan13Features,
    extension_count: *mut u32,
    extensions: *mut *const c_char,
    missing_size: *mut u32,
    missing: *mut c_char,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers are null or valid.
        let (info, v12, v13) =
            unsafe { (read("info", info)?, optional("features12", features12)?, optional("features13", features13)?) };
        check_list("extensionCount", extension_count, "extensions", extensions)?;
        check_list("missingSize", missing_size, "missing", missing)?;
        check_bits("reserved", info.reserved, 0)?;
        let entry = info.get_instance_proc_addr.ok_or(Error::Null { argument: "getInstanceProcAddr" })?;
        // SAFETY: the caller's handles are valid.
        let requirements =
            unsafe { Requirements::query(entry, info.instance, info.api_version, info.physical_device) }?;

        let (mut spare12, mut spare13) = Default::default();
        requirements.enable(v12.unwrap_or(&mut spare12), v13.unwrap_or(&mut spare13));
        let names: Vec<_> = requirements.extensions().iter().map(|name| name.as_ptr()).collect();
        let text: Vec<c_char> =
            requirements.missing().join("\n").bytes().chain([0]).map(|byte| byte as c_char).collect();
        // SAFETY: the lists are as long as the caller says.
        let (all_names, all_text) =
            unsafe { (fill(extension_count, extensions, &names), fill(missing_size, missing, &text)) };
        if !all_text {
            // SAFETY: fill() has just written this many bytes; the last one becomes the terminator.
            unsafe { (*missing_size).checked_sub(1).map(|last| missing.add(last as usize).write(0)) };
        }
        if all_names && all_text { Ok(()) } else { Err(Error::Vulkan(vk::Result::INCOMPLETE)) }
    })
}

/// # Safety
/// `pointer` is null, misaligned or points to a `T`.
unsafe fn optional<'a, T>(argument: &'static str, pointer: *mut T) -> Result<Option<&'a mut T>> {
    if pointer.is_null() {
        return Ok(None);
    }
    checked(argument, pointer)?;
    // SAFETY: the caller's promise.
    Ok(unsafe { pointer.as_mut() })
}

fn check_list<T>(count_name: &'static str, count: *mut u32, list_name: &'static str, list: *mut T) -> Result<()> {
    if !list.is_null() {
        checked(list_name, list)?;
        checked(count_name, count)?;
    } else if !count.is_null() {
        checked(count_name, count)?;
    }
    Ok(())
}

/// Implements Vulkan's two-call idiom. Returns whether all items fit.
///
/// # Safety
/// [`check_list`] has passed, and `list`, unless null, has room for `*count` items.
unsafe fn fill<T: Copy>(count: *mut u32, list: *mut T, items: &[T]) -> bool {
    let total = u32::try_from(items.len()).unwrap_or(u32::MAX);
    if count.is_null() {
        return true;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if list.is_null() {
            count.write(total);
            return true;
        }
        let fitting = total.min(*count);
        std::ptr::copy_nonoverlapping(items.as_ptr(), list, fitting as usize);
        count.write(fitting);
        fitting == total
    }
}

/// Creates the library's handle on an engine's device. The library creates nothing but pipelines on the device.
///
/// @param device Destroy it with trmDestroyDevice() before the VkDevice; NULL on failure.
/// @return TRM_ERROR_MISSING_FEATURE if the device was created without a required feature: trmGetLastError() names it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateDevice(info: *const TrmDeviceCreateInfo, device: *mut TrmDevice) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers are null or valid, and so are its handles.
        unsafe { create("device", device, || Ok(TrmDevice_T(new_device(&read("info", info)?)?))) }
    })
}

/// # Safety
/// Pointers and handles of `info` are valid.
unsafe fn new_device(info: &TrmDeviceCreateInfo) -> Result<Device> {
    let entry = info.get_instance_proc_addr.ok_or(Error::Null { argument: "getInstanceProcAddr" })?;
    // SAFETY: the caller's pointers are null or valid.
    let (features, profile) = unsafe { (&*checked("enabledFeatures", info.enabled_features)?, profile(info.profile)?) };
    let debug_utils = boolean("debugUtils", info.debug_utils)?;
    check_bits("reserved", info.reserved, 0)?;
    let callbacks = info.allocation_callbacks;
    if !callbacks.is_null() {
        checked("allocationCallbacks", callbacks)?;
    }
    let mut new = DeviceInfo::new(
        &ash::StaticFn { get_instance_proc_addr: entry },
        info.instance,
        info.physical_device,
        info.device,
        features,
    );
    new.queue_family = (info.queue_family_index != vk::QUEUE_FAMILY_IGNORED).then_some(info.queue_family_index);
    new.pipeline_cache = info.pipeline_cache;
    // SAFETY: the caller's pointer is null or valid.
    new.allocation_callbacks = unsafe { callbacks.as_ref() }.copied();
    new.debug_utils = debug_utils;
    new.creation_threads = info.creation_threads;
    new.profile = profile;
    // SAFETY: the caller's handles are valid.
    unsafe { Device::new(&new) }
}

/// # Safety
/// `text` is null or a C string.
unsafe fn profile(text: *const c_char) -> Result<Option<Profile>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    let text = text.map_err(|error| Error::Malformed { argument: "profile", why: error.to_string() })?;
    text.parse().map(Some)
}

/// Destroys the handle. Sorters and splitters created on it keep using the VkDevice: it must outlive them and the
/// execution of every command buffer recorded with them. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmDestroyDevice(device: TrmDevice) {
    // SAFETY: the caller's handle is valid or null.
    unsafe { destroy(device) }
}
