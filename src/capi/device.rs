//! The engine's device, and what it must be created with.

use super::border::{border, checked, create, destroy};
use super::info::{boolean, check_bits, read};
use super::types::*;
use crate::{Device, DeviceInfo, Error, Profile, Requirements, Result};
use ash::vk;
use std::ffi::{CStr, c_char};

/// Before vkCreateDevice: what to enable on a physical device, and what it lacks.
///
/// @param features12, features13 The caller's own, in which the needed bits are switched on and nothing is switched off.
///   NULL: not wanted.
/// @param extensionCount, extensions Names of device extensions to enable, by Vulkan's two calls: without extensions, the
///   count is set; with them, it says how many fit and is set to how many were written. The names are static text.
///   extensionCount NULL: not wanted. So far none is ever needed.
/// @param missingSize, missing What the device lacks, for people to read, one to a line, in the same way; the size is in bytes,
///   terminator included. Empty text: the device will do. missingSize NULL: not wanted.
/// @return VK_INCOMPLETE where a list did not fit: it has been cut.
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
        let requirements = unsafe { Requirements::query(entry, info.instance, info.api_version, info.physical_device) }?;

        let (mut spare12, mut spare13) = Default::default();
        requirements.enable(v12.unwrap_or(&mut spare12), v13.unwrap_or(&mut spare13));
        let names: Vec<_> = requirements.extensions().iter().map(|name| name.as_ptr()).collect();
        let text: Vec<c_char> = requirements.missing().join("\n").bytes().chain([0]).map(|byte| byte as c_char).collect();
        // SAFETY: the lists are as long as the caller says.
        let (all_names, all_text) = unsafe { (fill(extension_count, extensions, &names), fill(missing_size, missing, &text)) };
        if !all_text {
            // SAFETY: fill() has just written so many bytes, of which the last is now the terminator.
            unsafe { (*missing_size).checked_sub(1).map(|last| missing.add(last as usize).write(0)) };
        }
        if all_names && all_text { Ok(()) } else { Err(Error::Vulkan(vk::Result::INCOMPLETE)) }
    })
}

/// # Safety
/// `pointer`, unless null or misaligned, points to one.
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

/// Vulkan's two-call idiom; whether all went in.
///
/// # Safety
/// [`check_list`] has found nothing wrong, and `list`, unless null, holds `*count` items.
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

/// The library on an engine's device. It creates pipelines, and nothing else, on it.
///
/// @param device Destroy it with trmDestroyDevice() before the VkDevice; NULL on failure.
/// @return TRM_ERROR_MISSING_FEATURE where the device was created without something needed: trmGetLastError() names it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateDevice(info: *const TrmDeviceCreateInfo, device: *mut TrmDevice) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers are null or valid, and so are its handles.
        unsafe { create("device", device, || Ok(TrmDevice_T(new_device(&read("info", info)?)?))) }
    })
}

/// # Safety
/// What an info holds is valid.
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
    // SAFETY: null or valid.
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

/// Ends the handle. The library itself leaves the VkDevice when the last sorter or splitter made on it is destroyed, too; until then,
/// and until every command buffer recorded with them has executed, the VkDevice must live. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmDestroyDevice(device: TrmDevice) {
    // SAFETY: the caller's handle is valid or null.
    unsafe { destroy(device) }
}
