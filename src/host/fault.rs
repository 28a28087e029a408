//! The driver's report of a lost device.

use ash::{ext, vk};
use std::ffi::CStr;
use std::fmt::Write as _;

/// The report of `VK_EXT_device_fault` as text. `None`: the driver has none.
///
/// # Safety
/// The device is alive, has the extension, and is lost.
pub(super) unsafe fn report(device: &ext::device_fault::Device) -> Option<String> {
    let get = device.fp().get_device_fault_info_ext;
    // INCOMPLETE: some of the report has no room.
    let is_written = |result| matches!(result, vk::Result::SUCCESS | vk::Result::INCOMPLETE);
    let mut counts = vk::DeviceFaultCountsEXT::default();
    // SAFETY: see above; without an info, the driver writes the counts only.
    if !is_written(unsafe { get(device.device(), &mut counts, std::ptr::null_mut()) }) {
        return None;
    }
    // The vendor's binary is not asked for: only the vendor's tools read it.
    counts.vendor_binary_size = 0;
    let mut addresses = vec![vk::DeviceFaultAddressInfoEXT::default(); counts.address_info_count as usize];
    let mut vendors = vec![vk::DeviceFaultVendorInfoEXT::default(); counts.vendor_info_count as usize];
    let mut info = vk::DeviceFaultInfoEXT {
        p_address_infos: addresses.as_mut_ptr(),
        p_vendor_infos: vendors.as_mut_ptr(),
        ..vk::DeviceFaultInfoEXT::default()
    };
    // SAFETY: see above; both arrays are as long as the counts say.
    if !is_written(unsafe { get(device.device(), &mut counts, &mut info) }) {
        return None;
    }
    addresses.truncate(counts.address_info_count as usize);
    vendors.truncate(counts.vendor_info_count as usize);
    let text = |chars: Result<&CStr, _>| chars.map_or_else(|_| String::new(), |c| c.to_string_lossy().into());
    let mut report: String = text(info.description_as_c_str());
    for fault in addresses {
        // The precision is a power of two: the low bits are not known.
        let (address, unknown) = (fault.reported_address, fault.address_precision.saturating_sub(1));
        let _ = write!(report, "; {:?} {:#x} to {:#x}", fault.address_type, address & !unknown, address | unknown);
    }
    for vendor in vendors {
        let (code, data) = (vendor.vendor_fault_code, vendor.vendor_fault_data);
        let _ = write!(report, "; {} {code:#x} {data:#x}", text(vendor.description_as_c_str()));
    }
    Some(report)
}
