//! Result codes, their texts, and the detail of a thread's last error.

use super::border::{last_detail, shielded};
use super::layout::declarations;
use super::types::raw;
use crate::Error;
use ash::vk;
use std::ffi::{CStr, c_char};

/// Success, an error of the library, or any VkResult unchanged. Errors are negative. The library's codes are between
/// -1900000999 and -1900000001, far from Vulkan's. The meaning of a code never changes.
/// cbindgen:rename-all=ScreamingSnakeCase
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmResult {
    TrmSuccess = 0,
    /// A required argument is NULL, 0 or VK_NULL_HANDLE.
    TrmErrorNull = -1_900_000_001,
    /// A struct or text that this version cannot parse: an invalid structSize, a pNext that is not NULL, unknown bits.
    TrmErrorMalformed = -1_900_000_002,
    /// An enum value, sType included, that this version does not know.
    TrmErrorUnknownValue = -1_900_000_003,
    /// A value above its limit.
    TrmErrorTooLarge = -1_900_000_004,
    /// A range smaller than its required size.
    TrmErrorTooSmall = -1_900_000_005,
    /// A pointer, address or offset that is not a multiple of its alignment.
    TrmErrorMisaligned = -1_900_000_006,
    /// Two ranges overlap that must not.
    TrmErrorOverlap = -1_900_000_007,
    /// The device lacks a feature, or was created without it.
    TrmErrorMissingFeature = -1_900_000_008,
    /// A call combines objects of different devices.
    TrmErrorForeignDevice = -1_900_000_009,
    /// The library was built without this primitive.
    TrmErrorNotBuilt = -1_900_000_010,
    /// A bug in the library was caught. Please report it.
    TrmErrorInternal = -1_900_000_011,
    /// The pipelines of a handle with deferred creation have not all been created.
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
            Self::TrmErrorNull => c"a required argument is null",
            Self::TrmErrorMalformed => c"a struct or text that this version cannot parse",
            Self::TrmErrorUnknownValue => c"a value that this version does not know",
            Self::TrmErrorTooLarge => c"a value above its limit",
            Self::TrmErrorTooSmall => c"a range that is too small",
            Self::TrmErrorMisaligned => c"a misaligned pointer, address or offset",
            Self::TrmErrorOverlap => c"ranges overlap that must not",
            Self::TrmErrorMissingFeature => c"the device lacks a feature, or was created without it",
            Self::TrmErrorForeignDevice => c"objects of different devices",
            Self::TrmErrorNotBuilt => c"the library was built without this primitive",
            Self::TrmErrorInternal => c"a bug in the library",
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
        // NoDevice and Allocation are errors of `host`, which has no C functions.
        Error::Internal(_) | Error::NoDevice(_) | Error::Allocation(_) => TrmResult::TrmErrorInternal,
    };
    own as raw::TrmResult
}

/// Returns a short description of a result. Static text, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn trmResultString(result: raw::TrmResult) -> *const c_char {
    shielded(c"unknown result", || {
        let own = TrmResult::ALL.iter().find(|own| **own as raw::TrmResult == result);
        own.map_or_else(|| vulkan_text(vk::Result::from_raw(result)), |own| own.text())
    })
    .as_ptr()
}

/// Describes the VkResults of the Vulkan functions that the library calls.
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

/// Returns the reason of the last failure on the calling thread: the argument, its value and the violated limit. Never
/// NULL. Empty if no call has failed. Valid until the next failure on the same thread; a successful call does not
/// change it.
#[unsafe(no_mangle)]
pub extern "C" fn trmGetLastError() -> *const c_char {
    shielded(c"".as_ptr(), last_detail)
}

declarations! {
    structs {}
    values {
        "TRM_SUCCESS" = TrmResult::TrmSuccess,
        "TRM_ERROR_NULL" = TrmResult::TrmErrorNull,
        "TRM_ERROR_MALFORMED" = TrmResult::TrmErrorMalformed,
        "TRM_ERROR_UNKNOWN_VALUE" = TrmResult::TrmErrorUnknownValue,
        "TRM_ERROR_TOO_LARGE" = TrmResult::TrmErrorTooLarge,
        "TRM_ERROR_TOO_SMALL" = TrmResult::TrmErrorTooSmall,
        "TRM_ERROR_MISALIGNED" = TrmResult::TrmErrorMisaligned,
        "TRM_ERROR_OVERLAP" = TrmResult::TrmErrorOverlap,
        "TRM_ERROR_MISSING_FEATURE" = TrmResult::TrmErrorMissingFeature,
        "TRM_ERROR_FOREIGN_DEVICE" = TrmResult::TrmErrorForeignDevice,
        "TRM_ERROR_NOT_BUILT" = TrmResult::TrmErrorNotBuilt,
        "TRM_ERROR_INTERNAL" = TrmResult::TrmErrorInternal,
        "TRM_ERROR_NOT_READY" = TrmResult::TrmErrorNotReady,
    }
}
