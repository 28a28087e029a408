//! The driver of the Vulkan in fake/mod.rs.

use super::{BUFFERS, Fake, Recording};
use ash::vk;
use ash::vk::Handle as _;
use fake_vulkan::{Command, Driver, NewObject, PhysicalDevice};
use std::ffi::c_char;

/// # Safety
/// The handle is a pointer to a live [`Fake`].
unsafe fn fake<'a>(handle: u64) -> &'a Fake {
    // SAFETY: the caller's promise.
    unsafe { &*std::ptr::with_exposed_provenance::<Fake>(usize::try_from(handle).unwrap_or(0)) }
}

/// # Safety
/// The handle is a pointer to a live [`Recording`] that nobody else uses.
unsafe fn recording<'a>(handle: vk::CommandBuffer) -> &'a mut Recording {
    // SAFETY: the caller's promise.
    unsafe { &mut *std::ptr::with_exposed_provenance_mut::<Recording>(usize::try_from(handle.as_raw()).unwrap_or(0)) }
}

/// Stands for core functions that the library looks up and does not call.
unsafe extern "system" fn uncalled() {
    std::process::abort();
}

pub(crate) unsafe extern "system" fn get_proc_addr(
    instance: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: names are strings, the instance is a fake's or null.
    unsafe { fake_vulkan::get_proc_addr::<CheckingDriver>(instance, name) }
}

/// A driver that checks its arguments. Handles are pointers to a [`Fake`] or a [`Recording`].
struct CheckingDriver;

impl Driver for CheckingDriver {
    const UNCALLED: vk::PFN_vkVoidFunction = Some(uncalled);

    unsafe fn has_function(handle: u64, name: &[u8]) -> bool {
        let (minor, debug) = if handle == 0 {
            (3, false)
        } else {
            // SAFETY: the caller's promise.
            unsafe { (fake(handle).instance_minor, fake(handle).debug_utils) }
        };
        let of_extension =
            [&b"KHR"[..], b"EXT", b"NV", b"AMD", b"INTEL", b"GOOGLE"].iter().any(|tag| name.ends_with(tag));
        let debug_name = name.ends_with(b"DebugUtilsLabelEXT") || name.ends_with(b"DebugUtilsObjectNameEXT");
        let needs = match name {
            _ if name.ends_with(b"Properties2") || name.ends_with(b"Features2") => 1,
            b"vkGetBufferDeviceAddress" => 2,
            b"vkGetPhysicalDeviceToolProperties" | b"vkCmdPipelineBarrier2" | b"vkCmdWriteTimestamp2" => 3,
            _ => 0,
        };
        if of_extension { debug && debug_name } else { minor >= needs }
    }

    unsafe fn physical_device<'a>(handle: vk::PhysicalDevice) -> PhysicalDevice<'a> {
        // SAFETY: the caller's promise.
        let Fake { facts, api_version, features, families, .. } = unsafe { fake(handle.as_raw()) };
        PhysicalDevice { facts, api_version: *api_version, features: *features, families }
    }

    unsafe fn create(
        device: vk::Device,
        object: NewObject<'_>,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) -> Result<u64, vk::Result> {
        // SAFETY: the caller's promise.
        let fake = unsafe { fake(device.as_raw()) };
        if let NewObject::Pipeline { module, layout } = object
            && (!fake.is_live(module.as_raw()) || !fake.is_live(layout.as_raw()))
        {
            fake.fault("a pipeline of a module or layout that is not alive".into());
        }
        fake.create(callbacks)
    }

    unsafe fn destroy(
        device: vk::Device,
        _: vk::ObjectType,
        object: u64,
        callbacks: *const vk::AllocationCallbacks<'_>,
    ) {
        // SAFETY: the caller's promise.
        unsafe { fake(device.as_raw()) }.destroy(object, callbacks);
    }

    unsafe fn buffer_address(device: vk::Device, buffer: vk::Buffer) -> vk::DeviceAddress {
        let buffer = buffer.as_raw();
        let base = usize::try_from(buffer).ok().and_then(|index| BUFFERS.get(index.checked_sub(1)?));
        base.copied().unwrap_or_else(|| {
            // SAFETY: the caller's promise.
            unsafe { fake(device.as_raw()) }.fault(format!("the address of buffer {buffer}, which is none"));
            0
        })
    }

    unsafe fn record(commands: vk::CommandBuffer, command: Command<'_>) {
        // SAFETY: the caller's promise.
        let recording = unsafe { recording(commands) };
        match command {
            Command::BindPipeline(point, pipeline) => recording.bind(point, pipeline.as_raw()),
            Command::PushConstants { layout, stages, offset, bytes } => {
                recording.push(layout.as_raw(), stages, offset, bytes);
            }
            Command::Dispatch([x, y, z]) => recording.dispatch(x, y, z),
            Command::DispatchIndirect(buffer, offset) => recording.dispatch_indirect(buffer.as_raw(), offset),
            Command::PipelineBarrier { memory, others } => {
                if (memory.len(), others) != (1, 0) {
                    recording.fault("a dependency is one memory barrier");
                }
                memory.iter().for_each(|barrier| recording.barrier(barrier));
            }
            Command::UpdateBuffer(buffer, offset, bytes) => recording.update(buffer.as_raw(), offset, bytes),
            Command::FillBuffer(buffer, offset, size, word) => recording.fill(buffer.as_raw(), offset, size, word),
            Command::WriteTimestamp(stage, pool, query) => recording.timestamp(stage, pool.as_raw(), query),
            Command::BeginLabel(name) => {
                if name.is_none_or(std::ffi::CStr::is_empty) {
                    recording.fault("a label without a name");
                }
                recording.label(1);
            }
            Command::EndLabel => recording.label(-1),
        }
    }
}
