//! Results: codes, their names, and the last detail of a thread.

use super::border::{last_detail, shielded};
use super::types::raw;
use crate::Error;
use ash::vk;
use std::ffi::{CStr, c_char};

/// Success, an error of the library's own, or, unchanged, any VkResult. Errors are negative. The library's own lie from
/// -1900000999 to -1900000001, far from Vulkan's; a number is never used for another meaning.
/// cbindgen:rename-all=ScreamingSnakeCase
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmResult {
    TrmSuccess = 0,
    /// An argument that must be given is NULL, 0 or VK_NULL_HANDLE.
    TrmErrorNull = -1_900_000_001,
    /// A struct or text that this version cannot read: a bad structSize, a pNext that is not NULL, bits without a meaning.
    TrmErrorMalformed = -1_900_000_002,
    /// An enum value, sType included, that this version does not know.
    TrmErrorUnknownValue = -1_900_000_003,
    /// A value above its limit.
    TrmErrorTooLarge = -1_900_000_004,
    /// A range that is smaller than what must lie in it.
    TrmErrorTooSmall = -1_900_000_005,
    /// A pointer, address or offset that is not a multiple of its alignment.
    TrmErrorMisaligned = -1_900_000_006,
    /// Two ranges that must be apart share bytes.
    TrmErrorOverlap = -1_900_000_007,
    /// The device lacks a feature, or was created without it.
    TrmErrorMissingFeature = -1_900_000_008,
    /// Objects of different devices in one call.
    TrmErrorForeignDevice = -1_900_000_009,
    /// The library was built without this primitive.
    TrmErrorNotBuilt = -1_900_000_010,
    /// A fault of the library, caught. Please report it.
    TrmErrorInternal = -1_900_000_011,
    /// A sorter or splitter of deferred creation whose pipelines have not all been created.
    TrmErrorNotReady = -1_900_000_012,
}

impl TrmResult {
    pub(super) const ALL: &[Self] = &[
        Self::TrmSuccess,
        Self::TrmErrorNull,
        Self::TrmErrorMalformed,
        Self::TrmErrorUnknownValue,
        Self::TrmErrorTooLarge,
        Self::TrmErrorTooSmall,
        Self::TrmErrorMisaligned,
        Self::TrmErrorOverlap,
        Self::TrmErrorMissingFeature,
        Self::TrmErrorForeignDevice,
        Self::TrmErrorNotBuilt,
        Self::TrmErrorInternal,
        Self::TrmErrorNotReady,
    ];

    const fn text(self) -> &'static CStr {
        match self {
            Self::TrmSuccess => c"success",
            Self::TrmErrorNull => c"an argument that must be given is null",
            Self::TrmErrorMalformed => c"a struct or text that this version cannot read",
            Self::TrmErrorUnknownValue => c"a value that this version does not know",
            Self::TrmErrorTooLarge => c"a value above its limit",
            Self::TrmErrorTooSmall => c"a range that is too small",
            Self::TrmErrorMisaligned => c"a misaligned pointer, address or offset",
            Self::TrmErrorOverlap => c"ranges that must be apart share bytes",
            Self::TrmErrorMissingFeature => c"the device lacks a feature, or was created without it",
            Self::TrmErrorForeignDevice => c"objects of different devices",
            Self::TrmErrorNotBuilt => c"the library was built without this primitive",
            Self::TrmErrorInternal => c"a fault of the library",
            Self::TrmErrorNotReady => c"a handle that is not ready",
        }
    }
}

pub(super) fn code(error: &Error) -> raw::TrmResult {
    let own = match error {
        Error::Vulkan(result) => return result.as_raw(),
        Error::Null { .. } => TrmResult::TrmErrorNull,
        Error::Malformed { .. } => TrmResult::TrmErrorMalformed,
        Error::UnknownValue { .. } => TrmResult::TrmErrorUnknownValue,
        Error::TooLarge { .. } => TrmResult::TrmErrorTooLarge,
        Error::TooSmall { .. } => TrmResult::TrmErrorTooSmall,
        Error::Misaligned { .. } => TrmResult::TrmErrorMisaligned,
        Error::Overlap { .. } => TrmResult::TrmErrorOverlap,
        Error::MissingFeature(_) => TrmResult::TrmErrorMissingFeature,
        Error::ForeignDevice { .. } => TrmResult::TrmErrorForeignDevice,
        Error::NotBuilt(_) => TrmResult::TrmErrorNotBuilt,
        Error::NotReady { .. } => TrmResult::TrmErrorNotReady,
        // Two of them are of `host`, which C does not see.
        Error::Internal(_) | Error::NoDevice(_) | Error::Allocation(_) => TrmResult::TrmErrorInternal,
    };
    own as raw::TrmResult
}

/// What a result means, in a few words. Static text, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn trmResultString(result: raw::TrmResult) -> *const c_char {
    shielded(c"unknown result", || {
        let own = TrmResult::ALL.iter().find(|own| **own as raw::TrmResult == result);
        own.map_or_else(|| vulkan_text(vk::Result::from_raw(result)), |own| own.text())
    })
    .as_ptr()
}

/// Those that the calls which the library makes can return.
fn vulkan_text(result: vk::Result) -> &'static CStr {
    match result {
        vk::Result::INCOMPLETE => c"VK_INCOMPLETE",
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => c"VK_ERROR_OUT_OF_HOST_MEMORY",
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => c"VK_ERROR_OUT_OF_DEVICE_MEMORY",
        vk::Result::ERROR_INITIALIZATION_FAILED => c"VK_ERROR_INITIALIZATION_FAILED",
        vk::Result::ERROR_DEVICE_LOST => c"VK_ERROR_DEVICE_LOST",
        vk::Result::ERROR_FEATURE_NOT_PRESENT => c"VK_ERROR_FEATURE_NOT_PRESENT",
        vk::Result::ERROR_INVALID_SHADER_NV => c"VK_ERROR_INVALID_SHADER_NV",
        vk::Result::PIPELINE_COMPILE_REQUIRED => c"VK_PIPELINE_COMPILE_REQUIRED",
        vk::Result::ERROR_UNKNOWN => c"VK_ERROR_UNKNOWN",
        _ => c"unknown result",
    }
}

/// Why the calling thread's last failed call failed: the argument, its value and the limit it broke. Never NULL; empty where
/// none has failed; valid until the next failure on the same thread. A success leaves it as it is.
#[unsafe(no_mangle)]
pub extern "C" fn trmGetLastError() -> *const c_char {
    shielded(c"".as_ptr(), last_detail)
}
