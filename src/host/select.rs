//! Choice of the physical device and the queue family.

use crate::{Error, Requirements, Result};
use ash::vk;

/// A physical device and its unmet requirements.
pub(super) struct Candidate {
    pub(super) handle: vk::PhysicalDevice,
    pub(super) name: String,
    kind: vk::PhysicalDeviceType,
    missing: Vec<String>,
}

/// Returns the device that `wanted` names, by index or part of its name. `None`: the first device of the best type that
/// meets all requirements.
pub(super) fn physical_device(instance: &ash::Instance, wanted: Option<&str>) -> Result<Candidate> {
    // SAFETY: the instance is alive.
    let handles = unsafe { instance.enumerate_physical_devices() }?;
    let candidates: Vec<_> = handles.into_iter().map(|handle| candidate(instance, handle)).collect();
    let listed = || candidates.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    let found = match wanted {
        Some(wanted) => {
            let index = wanted.parse::<usize>().ok();
            let wanted_lower = wanted.to_lowercase();
            let is_wanted = |(i, c): &(usize, &Candidate)| match index {
                Some(index) => *i == index,
                None => c.name.to_lowercase().contains(&wanted_lower),
            };
            let found = candidates.iter().enumerate().find(is_wanted).map(|(i, _)| i);
            found.ok_or_else(|| Error::NoDevice(format!("no device is {wanted}; there are: {}", listed())))?
        }
        None => {
            let able = candidates.iter().enumerate().filter(|(_, c)| c.missing.is_empty());
            let best = able.min_by_key(|(_, c)| rank(c.kind)).map(|(i, _)| i);
            best.ok_or_else(|| {
                Error::NoDevice(format!("no Vulkan device meets the requirements; there are: {}", listed()))
            })?
        }
    };
    candidates.into_iter().nth(found).ok_or_else(|| Error::NoDevice("no device".into()))
}

fn candidate(instance: &ash::Instance, handle: vk::PhysicalDevice) -> Candidate {
    // SAFETY: the handle comes from the instance.
    let properties = unsafe { instance.get_physical_device_properties(handle) };
    let name = properties.device_name_as_c_str().map(|name| name.to_string_lossy().into_owned());
    Candidate {
        handle,
        name: name.unwrap_or_else(|_| "unnamed".into()),
        kind: properties.device_type,
        // SAFETY: the handle comes from the instance.
        missing: unsafe { Requirements::of(instance, handle) }.missing().to_vec(),
    }
}

fn rank(kind: vk::PhysicalDeviceType) -> u32 {
    match kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 3,
        _ => 4,
    }
}

/// Returns a queue family with compute: without graphics if there is one, unless `graphics` is set.
pub(super) fn queue_family(instance: &ash::Instance, device: vk::PhysicalDevice, graphics: bool) -> Result<u32> {
    // SAFETY: the handle comes from the instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(device) };
    let with_compute =
        (0u32..).zip(&families).filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
    with_compute
        .min_by_key(|(_, family)| family.queue_flags.contains(vk::QueueFlags::GRAPHICS) != graphics)
        .map(|(index, _)| index)
        .ok_or_else(|| Error::NoDevice("the device has no queue family with compute".into()))
}
