//! Splits: their functions, handles on an engine, and infos with valid headers.

use crate::Engine;
use crate::api::functions;
use crate::engine::begun;
use anyhow::{Result, ensure};
use std::ffi::c_char;
use std::ptr;
use trommel::capi::*;
use trommel::host::Buffer;

functions! {
    trmCreateSplitter: fn(TrmDevice, *const TrmSplitterCreateInfo, *mut TrmSplitter) -> raw::TrmResult;
    trmCreateSplitterFromGlsl: fn(
        TrmDevice,
        *const TrmSplitterCreateInfo,
        *const c_char,
        *mut TrmSplitter
    ) -> raw::TrmResult;
    trmCreateSplitterFromSpirv: fn(
        TrmDevice,
        *const TrmSplitterCreateInfo,
        *const u32,
        usize,
        *mut TrmSplitter
    ) -> raw::TrmResult;
    trmDestroySplitter: fn(TrmSplitter);
    trmGetSplitterScratch: fn(TrmSplitter, u32, *mut VkDeviceSize) -> raw::TrmResult;
    trmGetSplitterTimestampCount: fn(TrmSplitter, u32, *mut u32) -> raw::TrmResult;
    trmCompileSplitter: fn(TrmSplitter) -> raw::TrmResult;
    trmGetSplitterReady: fn(TrmSplitter, *mut VkBool32) -> raw::TrmResult;
    trmCmdSplit: fn(VkCommandBuffer, TrmSplitter, *const TrmSplitInfo) -> raw::TrmResult;
}

impl Engine {
    /// A splitter of any kind.
    ///
    /// # Errors
    /// The library's.
    pub fn splitter_of(&self, info: &TrmSplitterCreateInfo) -> Result<TrmSplitter> {
        let mut splitter = ptr::null_mut();
        let info = TrmSplitterCreateInfo { flags: info.flags | TRM_SPLITTER_CREATE_BATCHES_BIT, ..*info };
        // SAFETY: the info is valid.
        let result = unsafe { (self.api.split.trmCreateSplitter)(self.device, &info, &mut splitter) };
        ensure!(result == 0 && !splitter.is_null(), "splitter: {}", self.api.last_error());
        Ok(splitter)
    }

    /// Scratch for `max_count` items.
    ///
    /// # Errors
    /// The library's.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "a test knows which splitters are alive")]
    pub fn split_scratch(&self, splitter: TrmSplitter, max_count: u32) -> Result<Buffer> {
        let mut size = 0;
        // SAFETY: the handle is a live splitter.
        let result = unsafe { (self.api.split.trmGetSplitterScratch)(splitter, max_count, &mut size) };
        ensure!(result == 0, "scratch: {}", self.api.last_error());
        Ok(self.context.buffer(size)?)
    }
}

/// Keys alone by one bit, strategy by the device.
pub fn splitter_info() -> TrmSplitterCreateInfo {
    // SAFETY: the struct consists of numbers and pointers.
    TrmSplitterCreateInfo { bucket_count: 2, ..unsafe { begun(TrmStructureType::SplitterCreateInfo) } }
}

/// An empty split.
pub fn split_info() -> TrmSplitInfo {
    // SAFETY: the struct consists of numbers and pointers.
    unsafe { begun(TrmStructureType::SplitInfo) }
}
