//! The library's version.

use super::layout::declarations;
use ash::vk;

/// The version of the header, to compare with trmGetVersion(). Before 1.0, a minor version may change the ABI.
pub const TRM_VERSION_MAJOR: u32 = 0;
/// See TRM_VERSION_MAJOR.
pub const TRM_VERSION_MINOR: u32 = 1;
/// See TRM_VERSION_MAJOR.
pub const TRM_VERSION_PATCH: u32 = 0;

const fn is_number(text: &str, number: u32) -> bool {
    matches!(u32::from_str_radix(text, 10), Ok(parsed) if parsed == number)
}

const _: () = assert!(
    is_number(env!("CARGO_PKG_VERSION_MAJOR"), TRM_VERSION_MAJOR)
        && is_number(env!("CARGO_PKG_VERSION_MINOR"), TRM_VERSION_MINOR)
        && is_number(env!("CARGO_PKG_VERSION_PATCH"), TRM_VERSION_PATCH),
    "the header's version is not Cargo.toml's"
);

/// Returns the library's version, packed as by VK_MAKE_API_VERSION(0, major, minor, patch).
#[unsafe(no_mangle)]
pub extern "C" fn trmGetVersion() -> u32 {
    vk::make_api_version(0, TRM_VERSION_MAJOR, TRM_VERSION_MINOR, TRM_VERSION_PATCH)
}

declarations! {
    structs {}
    values {
        "TRM_VERSION_MAJOR" = TRM_VERSION_MAJOR,
        "TRM_VERSION_MINOR" = TRM_VERSION_MINOR,
        "TRM_VERSION_PATCH" = TRM_VERSION_PATCH,
    }
}
