//! Merges: their functions, handles on an engine, and infos that begin right.

use crate::Engine;
use crate::api::functions;
use crate::engine::begun;
use anyhow::{Result, ensure};
use std::ffi::c_char;
use std::ptr;
use trommel::capi::*;
use trommel::host::Buffer;

functions! {
    trmCreateMerger: fn(TrmDevice, *const TrmMergerCreateInfo, *mut TrmMerger) -> raw::TrmResult;
    trmCreateMergerFromGlsl: fn(
        TrmDevice,
        *const TrmMergerCreateInfo,
        *const c_char,
        *mut TrmMerger
    ) -> raw::TrmResult;
    trmCreateMergerFromSpirv: fn(
        TrmDevice,
        *const TrmMergerCreateInfo,
        *const u32,
        usize,
        *mut TrmMerger
    ) -> raw::TrmResult;
    trmDestroyMerger: fn(TrmMerger);
    trmGetMergerScratch: fn(TrmMerger, u32, *mut VkDeviceSize) -> raw::TrmResult;
    trmGetMergerTimestampCount: fn(TrmMerger, u32, *mut u32) -> raw::TrmResult;
    trmCompileMerger: fn(TrmMerger) -> raw::TrmResult;
    trmGetMergerReady: fn(TrmMerger, *mut VkBool32) -> raw::TrmResult;
    trmCmdMerge: fn(VkCommandBuffer, TrmMerger, *const TrmMergeInfo) -> raw::TrmResult;
}

impl Engine {
    /// The same engine with a profile in which merges of more than 2000 items take two dispatches and scratch. Few
    /// items then test both paths.
    ///
    /// # Errors
    /// The library's.
    pub fn with_small_merges(self) -> Result<Self> {
        self.with_lines(&[("merge.keys.fused_up_to", "2000"), ("merge.pairs.fused_up_to", "2000")])
    }

    /// A merger of any kind, for batches as well.
    ///
    /// # Errors
    /// The library's.
    pub fn merger_of(&self, info: &TrmMergerCreateInfo) -> Result<TrmMerger> {
        let mut merger = ptr::null_mut();
        let info = TrmMergerCreateInfo { flags: info.flags | TRM_MERGER_CREATE_BATCHES_BIT, ..*info };
        // SAFETY: the info is valid.
        let result = unsafe { (self.api.merge.trmCreateMerger)(self.device, &info, &mut merger) };
        ensure!(result == 0 && !merger.is_null(), "merger: {}", self.api.last_error());
        Ok(merger)
    }

    /// Scratch for as many items of both sequences together.
    ///
    /// # Errors
    /// The library's.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "a test knows which mergers are alive")]
    pub fn merge_scratch(&self, merger: TrmMerger, max_count: u32) -> Result<Buffer> {
        let mut size = 0;
        // SAFETY: the merger is one.
        let result = unsafe { (self.api.merge.trmGetMergerScratch)(merger, max_count, &mut size) };
        ensure!(result == 0, "scratch: {}", self.api.last_error());
        Ok(self.context.buffer(size)?)
    }
}

/// Keys alone, ascending.
pub fn merger_info() -> TrmMergerCreateInfo {
    // SAFETY: numbers and pointers.
    unsafe { begun(TrmStructureType::MergerCreateInfo) }
}

/// An empty merge.
pub fn merge_info() -> TrmMergeInfo {
    // SAFETY: numbers and pointers.
    unsafe { begun(TrmStructureType::MergeInfo) }
}
