//! A Vulkan device for the loaded library, and infos with valid headers.

use crate::Api;
use anyhow::{Result, ensure};
use ash::vk;
use std::ffi::CString;
use std::mem::{MaybeUninit, size_of};
use std::ptr;
use trommel::capi::*;
use trommel::host::{Buffer, Context};

/// An engine: its device, and the library on it.
pub struct Engine {
    /// The loaded library.
    pub api: Api,
    /// Instance, device, queue and buffers.
    pub context: Context,
    /// The library on the device.
    pub device: TrmDevice,
    entry: ash::Entry,
    v12: Box<vk::PhysicalDeviceVulkan12Features<'static>>,
    _v13: Box<vk::PhysicalDeviceVulkan13Features<'static>>,
    features: Box<vk::PhysicalDeviceFeatures2<'static>>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("context", &self.context).finish_non_exhaustive()
    }
}

impl Engine {
    /// Opens the device that the host module selects, and the library in `api` on it.
    ///
    /// # Errors
    /// There is no device, or the library refuses it.
    pub fn new(api: Api) -> Result<Self> {
        let context = Context::new()?;
        // SAFETY: the loader is the system's own.
        let entry = unsafe { ash::Entry::load() }?;
        let mut v13 = Box::<vk::PhysicalDeviceVulkan13Features<'_>>::default();
        let mut v12 = Box::<vk::PhysicalDeviceVulkan12Features<'_>>::default();
        v12.p_next = ptr::from_mut(&mut *v13).cast();
        let mut features = Box::<vk::PhysicalDeviceFeatures2<'_>>::default();
        features.p_next = ptr::from_mut(&mut *v12).cast();
        let mut engine = Self { api, context, device: ptr::null_mut(), entry, v12, _v13: v13, features };

        let info = engine.requirements_info();
        let (v12, v13) = (&raw mut *engine.v12, &raw mut *engine._v13);
        let null = ptr::null_mut();
        // SAFETY: all pointers are valid or null.
        let result = unsafe {
            (engine.api.trmGetDeviceRequirements)(&info, v12, v13, null, ptr::null_mut(), null, ptr::null_mut())
        };
        ensure!(result == 0, "requirements: {}", engine.api.last_error());
        // SAFETY: the infos are valid.
        let result = unsafe { (engine.api.trmCreateDevice)(&engine.device_info(), &mut engine.device) };
        ensure!(result == 0, "device: {}", engine.api.last_error());
        Ok(engine)
    }

    /// The same engine with other lines in the profile of the library's device. The handle of the first device is
    /// destroyed.
    ///
    /// # Errors
    /// A line is none, or the library refuses it.
    pub fn with_lines(mut self, lines: &[(&str, &str)]) -> Result<Self> {
        let profile = self.context.device().profile().clone();
        let profile = lines.iter().try_fold(profile, |profile, (name, value)| profile.with_line(name, value))?;
        let text = CString::new(profile.to_string())?;
        let info = TrmDeviceCreateInfo { profile: text.as_ptr(), ..self.device_info() };
        // SAFETY: nobody uses the first handle, and the info is valid.
        let result = unsafe {
            (self.api.trmDestroyDevice)(self.device);
            (self.api.trmCreateDevice)(&info, &mut self.device)
        };
        ensure!(result == 0, "device: {}", self.api.last_error());
        Ok(self)
    }

    /// Asks about the engine's physical device.
    pub fn requirements_info(&self) -> TrmDeviceRequirementsInfo {
        TrmDeviceRequirementsInfo {
            get_instance_proc_addr: Some(self.entry.static_fn().get_instance_proc_addr),
            instance: self.context.instance().handle(),
            physical_device: self.context.physical_device(),
            api_version: vk::API_VERSION_1_3,
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::DeviceRequirementsInfo) }
        }
    }

    /// The engine's device, as it was created.
    pub fn device_info(&self) -> TrmDeviceCreateInfo {
        TrmDeviceCreateInfo {
            get_instance_proc_addr: Some(self.entry.static_fn().get_instance_proc_addr),
            instance: self.context.instance().handle(),
            physical_device: self.context.physical_device(),
            device: self.context.vk().handle(),
            enabled_features: &raw const *self.features,
            queue_family_index: self.context.queue_family(),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::DeviceCreateInfo) }
        }
    }

    /// Destroys the library's device handle, and checks that the validation layer has reported nothing.
    ///
    /// # Errors
    /// The messages of the validation layer.
    pub fn finish(self) -> Result<()> {
        // SAFETY: nothing is pending, and the handle is not used any more.
        unsafe { (self.api.trmDestroyDevice)(self.device) };
        let messages = self.context.messages();
        ensure!(messages.is_empty(), "{messages:?}");
        Ok(())
    }
}

/// A struct with its type and size set and zeros elsewhere.
///
/// # Safety
/// Any bytes make a `T`, which begins with a header.
pub(crate) unsafe fn begun<T>(s_type: TrmStructureType) -> T {
    let mut info = MaybeUninit::<T>::zeroed();
    let header = TrmInfoHeader {
        s_type: s_type as i32,
        struct_size: u32::try_from(size_of::<T>()).unwrap_or(0),
        p_next: ptr::null(),
    };
    // SAFETY: the caller's promise.
    unsafe {
        info.as_mut_ptr().cast::<TrmInfoHeader>().write(header);
        info.assume_init()
    }
}

/// A batch of these requests.
pub fn batch_info(infos: &[*const TrmInfoHeader]) -> TrmBatchInfo {
    TrmBatchInfo {
        info_count: u32::try_from(infos.len()).unwrap_or(u32::MAX),
        infos: infos.as_ptr(),
        // SAFETY: the struct consists of numbers and pointers.
        ..unsafe { begun(TrmStructureType::BatchInfo) }
    }
}

/// The whole buffer as a range.
pub fn range(buffer: &Buffer) -> TrmRange {
    TrmRange { address: buffer.address(), size: buffer.size() }
}

/// The whole buffer as scratch.
pub fn scratch(buffer: &Buffer) -> TrmScratch {
    TrmScratch { buffer: buffer.handle(), offset: 0, size: buffer.size() }
}
