//! Sorts: their functions, handles on an engine, and infos with valid headers.

use crate::Engine;
use crate::api::functions;
use crate::build::once;
use crate::engine::begun;
use anyhow::{Result, ensure};
use std::ffi::c_char;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::OnceLock;
use trommel::capi::*;
use trommel::host::Buffer;

functions! {
    trmCreateSorter: fn(TrmDevice, *const TrmSorterCreateInfo, *mut TrmSorter) -> raw::TrmResult;
    trmCreateSorterFromGlsl: fn(
        TrmDevice,
        *const TrmSorterCreateInfo,
        *const c_char,
        *mut TrmSorter
    ) -> raw::TrmResult;
    trmCreateSorterFromSpirv: fn(
        TrmDevice,
        *const TrmSorterCreateInfo,
        *const u32,
        usize,
        *mut TrmSorter
    ) -> raw::TrmResult;
    trmDestroySorter: fn(TrmSorter);
    trmGetSorterScratch: fn(TrmSorter, u32, *mut VkDeviceSize) -> raw::TrmResult;
    trmGetSorterTimestampCount: fn(TrmSorter, u32, *mut u32) -> raw::TrmResult;
    trmGetSorterResultSide: fn(TrmSorter, *mut u32) -> raw::TrmResult;
    trmCompileSorter: fn(TrmSorter) -> raw::TrmResult;
    trmGetSorterReady: fn(TrmSorter, *mut VkBool32) -> raw::TrmResult;
    trmCmdSort: fn(VkCommandBuffer, TrmSorter, *const TrmSortInfo) -> raw::TrmResult;
}

impl Engine {
    /// A sorter of `u32` keys with or without values.
    ///
    /// # Errors
    /// The library's.
    pub fn sorter(&self, value_type: TrmValueType) -> Result<TrmSorter> {
        self.sorter_of(&TrmSorterCreateInfo { value_type: value_type as i32, ..sorter_info() })
    }

    /// A sorter of any kind.
    ///
    /// # Errors
    /// The library's.
    pub fn sorter_of(&self, info: &TrmSorterCreateInfo) -> Result<TrmSorter> {
        let mut sorter = ptr::null_mut();
        // Some tests record batches.
        let info = TrmSorterCreateInfo { flags: info.flags | TRM_SORTER_CREATE_BATCHES_BIT, ..*info };
        // SAFETY: the info is valid.
        let result = unsafe { (self.api.sort.trmCreateSorter)(self.device, &info, &mut sorter) };
        ensure!(result == 0 && !sorter.is_null(), "sorter: {}", self.api.last_error());
        Ok(sorter)
    }

    /// Scratch for `max_count` keys.
    ///
    /// # Errors
    /// The library's.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "a test knows which sorters are alive")]
    pub fn scratch(&self, sorter: TrmSorter, max_count: u32) -> Result<Buffer> {
        let mut size = 0;
        // SAFETY: the handle is a live sorter.
        let result = unsafe { (self.api.sort.trmGetSorterScratch)(sorter, max_count, &mut size) };
        ensure!(result == 0, "scratch: {}", self.api.last_error());
        Ok(self.context.buffer(size)?)
    }
}

/// Keys alone, strategy by the device.
pub fn sorter_info() -> TrmSorterCreateInfo {
    // SAFETY: the struct consists of numbers and pointers.
    unsafe { begun(TrmStructureType::SorterCreateInfo) }
}

/// An empty sort.
pub fn sort_info() -> TrmSortInfo {
    // SAFETY: the struct consists of numbers and pointers.
    unsafe { begun(TrmStructureType::SortInfo) }
}

/// The shared library with sorts alone.
///
/// # Errors
/// Cargo's.
pub fn library_of_sorts() -> Result<&'static Path> {
    static LIBRARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&LIBRARY, "sort", &["--no-default-features", "--features", "sort"])
}
