//! Use of Vulkan by the library, through loaders that replace functions: insufficient devices, failing calls, and the
//! engine's own memory, cache and names.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use anyhow::{Result, ensure};
use ash::vk;
use ash::vk::Handle as _;
use ffi_tests::sort::sorter_info;
use ffi_tests::{Api, Engine, library};
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use trommel::capi::*;

/// The real loader.
fn entry() -> &'static ash::Entry {
    static ENTRY: OnceLock<ash::Entry> = OnceLock::new();
    // SAFETY: the loader is the system's own.
    ENTRY.get_or_init(|| unsafe { ash::Entry::load() }.unwrap())
}

static REAL_PROPERTIES: OnceLock<vk::PFN_vkGetPhysicalDeviceProperties> = OnceLock::new();

unsafe extern "system" fn old_properties(device: vk::PhysicalDevice, properties: *mut vk::PhysicalDeviceProperties) {
    // SAFETY: a real physical device, and memory for its properties.
    unsafe {
        REAL_PROPERTIES.get().unwrap()(device, properties);
        (*properties).api_version = vk::API_VERSION_1_1;
    }
}

/// A loader with devices of Vulkan 1.1.
unsafe extern "system" fn old_device(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's instance and name.
    unsafe {
        let real = (entry().static_fn().get_instance_proc_addr)(instance, name);
        if CStr::from_ptr(name) == c"vkGetPhysicalDeviceProperties" {
            REAL_PROPERTIES.get_or_init(|| {
                transmute::<unsafe extern "system" fn(), vk::PFN_vkGetPhysicalDeviceProperties>(real.unwrap())
            });
            return Some(transmute::<vk::PFN_vkGetPhysicalDeviceProperties, unsafe extern "system" fn()>(
                old_properties,
            ));
        }
        real
    }
}

unsafe extern "system" fn no_features(_: vk::PhysicalDevice, features: *mut vk::PhysicalDeviceFeatures2<'_>) {
    // SAFETY: the library's own chain, which begins zeroed.
    unsafe { (*features).features = vk::PhysicalDeviceFeatures::default() };
}

/// A loader with devices that have no features.
unsafe extern "system" fn poor_device(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's instance and name.
    unsafe {
        if CStr::from_ptr(name) == c"vkGetPhysicalDeviceFeatures2" {
            return Some(transmute::<vk::PFN_vkGetPhysicalDeviceFeatures2, unsafe extern "system" fn()>(no_features));
        }
        (entry().static_fn().get_instance_proc_addr)(instance, name)
    }
}

unsafe extern "system" fn no_pipelines(
    _: vk::Device,
    cache: vk::PipelineCache,
    _: u32,
    _: *const vk::ComputePipelineCreateInfo<'_>,
    _: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    GIVEN_CACHE.store(cache.as_raw(), Ordering::Relaxed);
    // SAFETY: room for one.
    unsafe { pipelines.write(vk::Pipeline::null()) };
    vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
}

unsafe extern "system" fn full_device_functions(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's device and name.
    unsafe {
        if CStr::from_ptr(name) == c"vkCreateComputePipelines" {
            return Some(transmute::<vk::PFN_vkCreateComputePipelines, unsafe extern "system" fn()>(no_pipelines));
        }
        REAL_DEVICE_FUNCTIONS.get().unwrap()(device, name)
    }
}

/// The cache of the last call.
static GIVEN_CACHE: AtomicU64 = AtomicU64::new(0);

static REAL_DEVICE_FUNCTIONS: OnceLock<vk::PFN_vkGetDeviceProcAddr> = OnceLock::new();

/// A loader with devices that have no memory for pipelines.
unsafe extern "system" fn full_device(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's instance and name.
    unsafe {
        let real = (entry().static_fn().get_instance_proc_addr)(instance, name);
        if CStr::from_ptr(name) == c"vkGetDeviceProcAddr" {
            REAL_DEVICE_FUNCTIONS
                .get_or_init(|| transmute::<unsafe extern "system" fn(), vk::PFN_vkGetDeviceProcAddr>(real.unwrap()));
            return Some(transmute::<vk::PFN_vkGetDeviceProcAddr, unsafe extern "system" fn()>(full_device_functions));
        }
        real
    }
}

fn engine() -> Result<Engine> {
    Engine::new(Api::load(library()?)?)
}

/// Queries the missing requirements into memory of `room` bytes. Returns the result and the text.
fn missing(engine: &Engine, loader: vk::PFN_vkGetInstanceProcAddr, room: u32) -> (i32, String) {
    let info = TrmDeviceRequirementsInfo { get_instance_proc_addr: Some(loader), ..engine.requirements_info() };
    let mut text = vec![b'?'; room as usize + 1];
    let mut size = room;
    // SAFETY: all pointers are valid or null.
    let result = unsafe {
        let (null, text) = (ptr::null_mut(), text.as_mut_ptr().cast());
        (engine.api.trmGetDeviceRequirements)(
            &info,
            ptr::null_mut(),
            ptr::null_mut(),
            null,
            ptr::null_mut(),
            &mut size,
            text,
        )
    };
    assert_eq!(text.pop(), Some(b'?'), "written past the end");
    text.truncate(size as usize);
    assert_eq!(text.pop(), Some(0), "the terminator is the last byte");
    (result, String::from_utf8(text).unwrap())
}

#[test]
fn missing_requirements_are_listed() -> Result<()> {
    let engine = engine()?;
    assert_eq!(missing(&engine, entry().static_fn().get_instance_proc_addr, 200), (0, String::new()));
    assert_eq!(missing(&engine, old_device, 200), (0, "Vulkan 1.3 (the device has 1.1)".to_owned()));
    assert_eq!(missing(&engine, old_device, 11), (vk::Result::INCOMPLETE.as_raw(), "Vulkan 1.3".to_owned()));
    let (result, text) = missing(&engine, poor_device, 2000);
    assert_eq!(result, 0);
    assert!(text.lines().any(|line| line == "maintenance4") && text.lines().count() == 8, "{text}");

    let info = TrmDeviceCreateInfo { get_instance_proc_addr: Some(poor_device), ..engine.device_info() };
    let mut device = ptr::dangling_mut();
    // SAFETY: the info is valid.
    let result = unsafe { (engine.api.trmCreateDevice)(&info, &mut device) };
    assert_eq!((result, device), (TrmResult::TrmErrorMissingFeature as i32, ptr::null_mut()));
    assert!(engine.api.last_error().starts_with("the device lacks "), "{}", engine.api.last_error());
    engine.finish()
}

#[test]
fn errors_of_vulkan_pass_through() -> Result<()> {
    let engine = engine()?;
    let vk = engine.context.vk();
    // SAFETY: the device is alive.
    let cache = unsafe { vk.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None) }?;
    let good = engine.device_info();
    let info = TrmDeviceCreateInfo { get_instance_proc_addr: Some(full_device), pipeline_cache: cache, ..good };
    let (mut device, mut sorter) = (ptr::null_mut(), ptr::dangling_mut());
    // SAFETY: the infos are valid.
    unsafe {
        ensure!((engine.api.trmCreateDevice)(&info, &mut device) == 0, engine.api.last_error());
        let result = (engine.api.sort.trmCreateSorter)(device, &sorter_info(), &mut sorter);
        assert_eq!(result, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY.as_raw());
        assert!(sorter.is_null(), "there is a handle");
        assert_eq!(GIVEN_CACHE.load(Ordering::Relaxed), cache.as_raw(), "the engine's cache is used");
        (engine.api.trmDestroyDevice)(device);
        vk.destroy_pipeline_cache(cache, None);
    }
    engine.finish()
}

/// A loader, or an instance, of Vulkan 1.0.
unsafe extern "system" fn old_loader(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's instance and name.
    unsafe {
        let unknown = CStr::from_ptr(name) == c"vkGetPhysicalDeviceFeatures2";
        if unknown { None } else { (entry().static_fn().get_instance_proc_addr)(instance, name) }
    }
}

unsafe extern "system" fn old_device_functions(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's device and name.
    unsafe { if CStr::from_ptr(name) == c"vkCmdPipelineBarrier2" { None } else { full_device_functions(device, name) } }
}

/// A loader with devices of an instance of Vulkan 1.2: they lack vkCmdPipelineBarrier2().
unsafe extern "system" fn old_instance(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's instance and name.
    unsafe {
        let real = full_device(instance, name);
        if CStr::from_ptr(name) == c"vkGetDeviceProcAddr" {
            return Some(transmute::<vk::PFN_vkGetDeviceProcAddr, unsafe extern "system" fn()>(old_device_functions));
        }
        real
    }
}

#[test]
fn loaders_and_instances_of_other_versions_are_refused() -> Result<()> {
    let engine = engine()?;
    let missing = TrmResult::TrmErrorMissingFeature as i32;
    let reason = |name| format!("the device lacks {name}: it needs Vulkan 1.3 as the instance's apiVersion");
    let good = engine.requirements_info();
    let info = TrmDeviceRequirementsInfo { get_instance_proc_addr: Some(old_loader), ..good };
    let (null, names, text) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: all pointers are valid or null.
    let result = unsafe {
        (engine.api.trmGetDeviceRequirements)(&info, ptr::null_mut(), ptr::null_mut(), null, names, null, text)
    };
    assert_eq!((result, engine.api.last_error()), (missing, reason("vkGetPhysicalDeviceFeatures2")));

    for (loader, name) in [
        (old_loader as vk::PFN_vkGetInstanceProcAddr, "vkGetPhysicalDeviceFeatures2"),
        (old_instance, "vkCmdPipelineBarrier2"),
    ] {
        let info = TrmDeviceCreateInfo { get_instance_proc_addr: Some(loader), ..engine.device_info() };
        let mut device = ptr::dangling_mut();
        // SAFETY: the info is valid.
        let result = unsafe { (engine.api.trmCreateDevice)(&info, &mut device) };
        assert_eq!((result, engine.api.last_error(), device), (missing, reason(name), ptr::null_mut()));
    }
    engine.finish()
}

/// Loaders accept a physical device of Vulkan 1.3 on an older instance. The library therefore checks the instance
/// version that the caller declares.
#[test]
fn instances_of_other_versions_are_reported() -> Result<()> {
    let engine = engine()?;
    let missing_of = |api_version| {
        let info = TrmDeviceRequirementsInfo { api_version, ..engine.requirements_info() };
        let (mut size, mut text) = (200, vec![b'?'; 200]);
        let (none12, none13, null, names) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: all pointers are valid or null.
        let result = unsafe {
            (engine.api.trmGetDeviceRequirements)(
                &info,
                none12,
                none13,
                null,
                names,
                &mut size,
                text.as_mut_ptr().cast(),
            )
        };
        assert_eq!(result, 0, "{}", engine.api.last_error());
        text.truncate(size as usize - 1);
        String::from_utf8(text).unwrap()
    };
    for (version, name) in
        [(0, "1.0"), (vk::API_VERSION_1_0, "1.0"), (vk::API_VERSION_1_1, "1.1"), (vk::API_VERSION_1_2 + 170, "1.2")]
    {
        assert_eq!(missing_of(version), format!("Vulkan 1.3 as the instance's apiVersion (it is {name})"));
    }
    for version in [vk::API_VERSION_1_3, vk::API_VERSION_1_3 + 250, vk::make_api_version(0, 1, 4, 0)] {
        assert_eq!(missing_of(version), "");
    }
    engine.finish()
}

/// A loader that returns device functions of an extension that the instance lacks, as the Khronos loader does.
unsafe extern "system" fn no_debug_utils(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's instance and name.
    unsafe {
        let wanted = CStr::from_ptr(name);
        if wanted.to_bytes().ends_with(b"EXT") {
            return None;
        }
        let real = (entry().static_fn().get_instance_proc_addr)(instance, name);
        if wanted == c"vkGetDeviceProcAddr" {
            REAL_DEVICE_FUNCTIONS
                .get_or_init(|| transmute::<unsafe extern "system" fn(), vk::PFN_vkGetDeviceProcAddr>(real.unwrap()));
            return Some(transmute::<vk::PFN_vkGetDeviceProcAddr, unsafe extern "system" fn()>(any_device_function));
        }
        real
    }
}

unsafe extern "system" fn any_device_function(device: vk::Device, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: the caller's device and name. The substitute for missing functions is never called.
    unsafe {
        let real = REAL_DEVICE_FUNCTIONS.get().unwrap()(device, name);
        if CStr::from_ptr(name).to_bytes().ends_with(b"EXT") && real.is_none() {
            return REAL_DEVICE_FUNCTIONS.get().unwrap()(device, c"vkGetBufferDeviceAddress".as_ptr());
        }
        real
    }
}

#[test]
fn functions_of_an_extension_that_the_instance_is_without_do_not_pass() -> Result<()> {
    let engine = engine()?;
    let mut device = ptr::dangling_mut();
    let good = engine.device_info();
    let info = TrmDeviceCreateInfo { debug_utils: 1, get_instance_proc_addr: Some(no_debug_utils), ..good };
    // SAFETY: the info is valid.
    let result = unsafe { (engine.api.trmCreateDevice)(&info, &mut device) };
    assert_eq!((result, device), (TrmResult::TrmErrorMissingFeature as i32, ptr::null_mut()));
    let reason = "the device lacks vkSetDebugUtilsObjectNameEXT: it needs VK_EXT_debug_utils on the instance";
    assert_eq!(engine.api.last_error(), reason);
    engine.finish()
}

#[test]
fn names_and_labels_need_their_extension() -> Result<()> {
    let engine = engine()?;
    let mut device = ptr::null_mut();
    let info = TrmDeviceCreateInfo { debug_utils: 1, ..engine.device_info() };
    // SAFETY: the info is valid.
    let result = unsafe { (engine.api.trmCreateDevice)(&info, &mut device) };
    if result == 0 {
        // The tests are validated, so the instance has the extension.
        let mut sorter = ptr::null_mut();
        // SAFETY: the infos are valid, and the handles are not used any more.
        unsafe {
            ensure!(
                (engine.api.sort.trmCreateSorter)(device, &sorter_info(), &mut sorter) == 0,
                engine.api.last_error()
            );
            (engine.api.sort.trmDestroySorter)(sorter);
            (engine.api.trmDestroyDevice)(device);
        }
    } else {
        assert_eq!(result, TrmResult::TrmErrorMissingFeature as i32);
        ensure!(engine.api.last_error().contains("needs VK_EXT_debug_utils on the instance"), engine.api.last_error());
    }
    engine.finish()
}

/// Number of live allocations.
static LIVE: AtomicI64 = AtomicI64::new(0);
/// Number of all allocations so far.
static MADE: AtomicI64 = AtomicI64::new(0);

unsafe extern "C" {
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn malloc_usable_size(memory: *mut c_void) -> usize;
}

unsafe extern "system" fn allocate(
    _: *mut c_void,
    size: usize,
    alignment: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    LIVE.fetch_add(1, Ordering::Relaxed);
    MADE.fetch_add(1, Ordering::Relaxed);
    // SAFETY: the size is a multiple of the alignment.
    unsafe { aligned_alloc(alignment, size.next_multiple_of(alignment)) }
}

unsafe extern "system" fn reallocate(
    user: *mut c_void,
    old: *mut c_void,
    size: usize,
    alignment: usize,
    scope: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: `old` is null or came from allocate().
    unsafe {
        let new = allocate(user, size, alignment, scope);
        if !old.is_null() {
            ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast::<u8>(), malloc_usable_size(old).min(size));
            release(user, old);
        }
        new
    }
}

unsafe extern "system" fn release(_: *mut c_void, memory: *mut c_void) {
    if !memory.is_null() {
        LIVE.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it came from allocate().
        unsafe { free(memory) };
    }
}

#[test]
fn host_memory_is_the_engines() -> Result<()> {
    let engine = engine()?;
    let callbacks = VkAllocationCallbacks {
        pfn_allocation: Some(allocate),
        pfn_reallocation: Some(reallocate),
        pfn_free: Some(release),
        ..Default::default()
    };
    let info = TrmDeviceCreateInfo { allocation_callbacks: &callbacks, ..engine.device_info() };
    let (mut device, mut sorter) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the infos are valid, and the handles are not used after their destruction.
    unsafe {
        ensure!((engine.api.trmCreateDevice)(&info, &mut device) == 0, engine.api.last_error());
        ensure!((engine.api.sort.trmCreateSorter)(device, &sorter_info(), &mut sorter) == 0, engine.api.last_error());
        (engine.api.sort.trmDestroySorter)(sorter);
        (engine.api.trmDestroyDevice)(device);
    }
    ensure!(MADE.load(Ordering::Relaxed) > 0, "the callbacks have not been used");
    ensure!(LIVE.load(Ordering::Relaxed) == 0, "{} allocations live on", LIVE.load(Ordering::Relaxed));
    engine.finish()
}
