//! The device under test. Tuning opens the library on it many times, each time with another profile.

use crate::args::{Args, Queue};
use crate::commands;
use anyhow::Context as _;
use ash::{khr, vk};
use std::ffi::CStr;
use trommel::host::{Context, ContextInfo};
use trommel::{Device, DeviceInfo, Profile, Requirements};

/// A context, and the loader that further instances of the library on its device need.
pub(crate) struct Gpu {
    pub(crate) context: Context,
    entry: ash::Entry,
    /// Pipelines keep statistics.
    pub(crate) has_statistics: bool,
    pub(crate) about: About,
}

/// Facts about the device that a record contains.
pub(crate) struct About {
    pub(crate) driver: String,
    pub(crate) driver_info: String,
    pub(crate) api_version: String,
    pub(crate) queue_flags: vk::QueueFlags,
    pub(crate) timestamp_bits: u32,
    /// Nanoseconds a tick.
    pub(crate) timestamp_period: f32,
    /// Bytes of the largest heap of the device's own.
    pub(crate) memory: u64,
}

impl Gpu {
    pub(crate) fn open(args: &Args) -> anyhow::Result<Self> {
        let context = Context::with(&ContextInfo {
            device: args.device.clone(),
            graphics_queue: args.queue == Queue::Graphics,
            pipeline_statistics: args.stats,
            ..ContextInfo::default()
        })?;
        // SAFETY: the loader is the system's own, and already in use.
        let entry = unsafe { ash::Entry::load() }.context("no Vulkan loader")?;
        let about = About::of(&context);
        anyhow::ensure!(about.timestamp_bits != 0, "queue family {} has no timestamps", context.queue_family());
        let has_statistics = args.stats && has_extension(&context, khr::pipeline_executable_properties::NAME);
        Ok(Self { context, entry, has_statistics, about })
    }

    /// Opens the library with a profile of its own. Drop it before the context.
    pub(crate) fn library(&self, profile: &Profile) -> trommel::Result<Device> {
        self.library_with(profile, vk::PipelineCache::null(), 0)
    }

    /// Opens the library with functions that record nothing or list their commands: see [`commands`].
    pub(crate) fn library_without_commands(&self, profile: &Profile) -> trommel::Result<Device> {
        self.open_library(profile, vk::PipelineCache::null(), 0, commands::loader(self.entry.static_fn()))
    }

    /// Opens the library with a pipeline cache. `threads` threads create pipelines.
    pub(crate) fn library_with(
        &self,
        profile: &Profile,
        cache: vk::PipelineCache,
        threads: u32,
    ) -> trommel::Result<Device> {
        self.open_library(profile, cache, threads, self.entry.static_fn().get_instance_proc_addr)
    }

    fn open_library(
        &self,
        profile: &Profile,
        cache: vk::PipelineCache,
        threads: u32,
        proc_addr: vk::PFN_vkGetInstanceProcAddr,
    ) -> trommel::Result<Device> {
        let context = &self.context;
        let (mut v12, mut v13) = Default::default();
        // SAFETY: the handles are the context's, and alive.
        unsafe {
            let (instance, version) = (context.instance().handle(), vk::API_VERSION_1_3);
            let requirements = Requirements::query(proc_addr, instance, version, context.physical_device())?;
            // The context has enabled the same features.
            requirements.enable(&mut v12, &mut v13);
            let features = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12).push_next(&mut v13);
            let mut info = DeviceInfo::new(
                self.entry.static_fn(),
                context.instance().handle(),
                context.physical_device(),
                context.vk().handle(),
                &features,
            );
            info.get_instance_proc_addr = proc_addr;
            info.queue_family = Some(context.queue_family());
            info.profile = Some(profile.clone());
            info.pipeline_cache = cache;
            info.creation_threads = threads;
            if self.has_statistics {
                info.pipeline_flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
            }
            Device::new(&info)
        }
    }
}

impl About {
    fn of(context: &Context) -> Self {
        let (instance, device) = (context.instance(), context.physical_device());
        let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut v12);
        // SAFETY: the handles are the context's, the chain is ours.
        let (families, memory) = unsafe {
            instance.get_physical_device_properties2(device, &mut properties);
            (
                instance.get_physical_device_queue_family_properties(device),
                instance.get_physical_device_memory_properties(device),
            )
        };
        let vk::PhysicalDeviceProperties { api_version, limits, .. } = properties.properties;
        let family = families.get(context.queue_family() as usize).copied().unwrap_or_default();
        let text = |name: Result<&CStr, _>| {
            name.map_or_else(|_| "?".into(), |name: &CStr| name.to_string_lossy().into_owned())
        };
        let heaps = memory.memory_heaps_as_slice().iter();
        let local = heaps.filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
        Self {
            driver: text(v12.driver_name_as_c_str()),
            driver_info: text(v12.driver_info_as_c_str()),
            api_version: format!(
                "{}.{}.{}",
                vk::api_version_major(api_version),
                vk::api_version_minor(api_version),
                vk::api_version_patch(api_version)
            ),
            queue_flags: family.queue_flags,
            timestamp_bits: family.timestamp_valid_bits,
            timestamp_period: limits.timestamp_period,
            memory: local.map(|heap| heap.size).max().unwrap_or(0),
        }
    }
}

fn has_extension(context: &Context, name: &CStr) -> bool {
    // SAFETY: the handles are the context's.
    let extensions = unsafe { context.instance().enumerate_device_extension_properties(context.physical_device()) };
    extensions.unwrap_or_default().iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}
