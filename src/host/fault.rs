//! The driver's report of a lost device.

use ash::{ext, vk};
use std::fmt::Write as _;

/// The report of `VK_EXT_device_fault` as text. `None`: there is none, as for a device that is not lost.
pub(super) fn report(device: &ext::device_fault::Device) -> Option<String> {
    let get = device.fp().get_device_fault_info_ext;
    let mut counts = vk::DeviceFaultCountsEXT::default();
    // SAFETY: the device is alive and has the extension; without a report, the driver writes the counts only.
    unsafe { get(device.device(), &mut counts, std::ptr::null_mut()) }.result().ok()?;
    // Data for a vendor's own tools.
    counts.vendor_binary_size = 0;
    let mut addresses = vec![vk::DeviceFaultAddressInfoEXT::default(); counts.address_info_count as usize];
    let mut vendors = vec![vk::DeviceFaultVendorInfoEXT::default(); counts.vendor_info_count as usize];
    let mut info = vk::DeviceFaultInfoEXT {
        p_address_infos: addresses.as_mut_ptr(),
        p_vendor_infos: vendors.as_mut_ptr(),
        ..vk::DeviceFaultInfoEXT::default()
    };
    // SAFETY: as above; both arrays are as long as the counts say. INCOMPLETE: some of the report has no room.
    let written = unsafe { get(device.device(), &mut counts, &mut info) };
    if !matches!(written, vk::Result::SUCCESS | vk::Result::INCOMPLETE) {
        return None;
    }
    addresses.truncate(counts.address_info_count as usize);
    vendors.truncate(counts.vendor_info_count as usize);
    let text = |chars: Result<&std::ffi::CStr, _>| chars.map_or_else(|_| String::new(), |c| c.to_string_lossy().into());
    let mut report: String = text(info.description_as_c_str());
    for fault in addresses {
        let (address, bytes) = (fault.reported_address, fault.address_precision);
        let _ = write!(report, "; {:?} at {address:#x}, within {bytes:#x} bytes", fault.address_type);
    }
    for vendor in vendors {
        let (code, data) = (vendor.vendor_fault_code, vendor.vendor_fault_data);
        let _ = write!(report, "; {} {code:#x} {data:#x}", text(vendor.description_as_c_str()));
    }
    Some(report)
}
