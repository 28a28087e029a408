//! Info structs of other versions: size checks and reading.

use super::TrmStructureType;
use super::border::checked;
use super::layout::Layout;
use super::types::*;
use crate::{Error, Result};
use ash::vk;
use std::mem::MaybeUninit;

/// Upper bound of the size of future structs: a larger structSize is an uninitialized one.
const MAX_SIZE: usize = 4096;
/// Number of header members: sType, structSize, pNext.
const HEADER_MEMBERS: usize = 3;

/// A struct that begins with [`TrmInfoHeader`]'s members.
///
/// # Safety
/// The struct is `repr(C)`, begins with these members, and contains only numbers and pointers, so that all bit patterns
/// are valid.
pub(super) unsafe trait Info: Layout + Copy {
    const TYPE: TrmStructureType;
}

/// Names the type of each info struct.
macro_rules! infos {
    ($($info:ident: $structure_type:ident,)*) => {
        $(
            // SAFETY: the struct is one of the header, which all begin with these members and have only such members.
            unsafe impl $crate::capi::info::Info for $info {
                const TYPE: $crate::capi::TrmStructureType = $crate::capi::TrmStructureType::$structure_type;
            }
        )*
    };
}
pub(super) use infos;

infos! {
    TrmDeviceRequirementsInfo: DeviceRequirementsInfo,
    TrmDeviceCreateInfo: DeviceCreateInfo,
    TrmBatchInfo: BatchInfo,
}

/// Reads an info of any version.
///
/// # Safety
/// `info`, unless null or misaligned, points to a header, and to as many bytes as its structSize.
pub(super) unsafe fn read<T: Info>(argument: &'static str, info: *const T) -> Result<T> {
    // SAFETY: the caller's promise.
    unsafe {
        check::<T>(argument, info.cast())?;
        Ok(read_checked(info.cast()))
    }
}

/// Checks that [`read_checked`] may read a `T` from `info`.
///
/// # Safety
/// As [`read`].
pub(super) unsafe fn check<T: Info>(argument: &'static str, info: *const TrmInfoHeader) -> Result<()> {
    const {
        let last = &T::STRUCT.members[T::STRUCT.members.len() - 1];
        assert!(last.offset + last.size == T::STRUCT.size, "padding at the end would hide a later member");
    }
    // SAFETY: the caller's promise.
    let header = unsafe { *checked(argument, info)? };
    if header.s_type != T::TYPE as i32 {
        return Err(Error::UnknownValue { argument: "sType", value: header.s_type.into() });
    }
    let size = header.struct_size as usize;
    let malformed = |argument, why| Err(Error::Malformed { argument, why });
    if !could_be_a_size::<T>(size) {
        return malformed(
            "structSize",
            format!("{size} is not a size of {}, which is {} here", T::STRUCT.name, T::STRUCT.size),
        );
    }
    if !header.p_next.is_null() {
        return malformed("pNext", "it is reserved and must be NULL".into());
    }
    // SAFETY: the caller's promise covers `size` bytes.
    let mut beyond = (T::STRUCT.size..size).map(|offset| unsafe { *info.cast::<u8>().add(offset) });
    if beyond.any(|byte| byte != 0) {
        let why = format!("of {size} bytes, those past {} are of a later version and not zero", T::STRUCT.size);
        return malformed(T::STRUCT.name, why);
    }
    Ok(())
}

/// A struct of an older version ends where a later member begins. One of a newer version ends at any multiple of its
/// alignment.
fn could_be_a_size<T: Info>(size: usize) -> bool {
    let older = T::STRUCT.members.iter().skip(HEADER_MEMBERS).any(|member| member.offset == size);
    older || (T::STRUCT.size..=MAX_SIZE).contains(&size) && size.is_multiple_of(align_of::<T>())
}

/// Reads a checked info; members past the caller's structSize are zero.
///
/// # Safety
/// [`check`] has passed for `T`.
pub(super) unsafe fn read_checked<T: Info>(info: *const TrmInfoHeader) -> T {
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: structSize bytes are readable, and all bit patterns are a valid `T`.
    unsafe {
        let size = ((*info).struct_size as usize).min(size_of::<T>());
        std::ptr::copy_nonoverlapping(info.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), size);
        value.assume_init()
    }
}

/// Converts a `VkBool32`.
pub(super) fn boolean(argument: &'static str, value: VkBool32) -> Result<bool> {
    match value {
        vk::FALSE => Ok(false),
        vk::TRUE => Ok(true),
        other => Err(Error::UnknownValue { argument, value: other.into() }),
    }
}

/// Checks that `value` has no bits other than those of `known`.
pub(super) fn check_bits(argument: &'static str, value: u32, known: u32) -> Result<()> {
    if value & !known != 0 {
        return Err(Error::Malformed { argument, why: format!("{value:#x} has bits beyond {known:#x}") });
    }
    Ok(())
}
