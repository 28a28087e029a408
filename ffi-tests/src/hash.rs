//! Hash tables: their functions, handles on an engine, and infos that begin right.

use crate::Engine;
use crate::api::functions;
use crate::engine::begun;
use anyhow::{Result, ensure};
use std::ffi::c_void;
use std::ptr;
use trommel::capi::*;
use trommel::host::Buffer;

functions! {
    trmCreateHasher: fn(TrmDevice, *const TrmHasherCreateInfo, *mut TrmHasher) -> raw::TrmResult;
    trmDestroyHasher: fn(TrmHasher);
    trmGetHasherTableSize: fn(TrmHasher, u32, *mut VkDeviceSize) -> raw::TrmResult;
    trmCheckHasherTable: fn(TrmHasher, u32, *const c_void, VkDeviceSize) -> raw::TrmResult;
    trmGetHasherScratch: fn(TrmHasher, u32, *mut VkDeviceSize) -> raw::TrmResult;
    trmGetHasherTimestampCount: fn(TrmHasher, u32, *mut u32) -> raw::TrmResult;
    trmCompileHasher: fn(TrmHasher) -> raw::TrmResult;
    trmGetHasherReady: fn(TrmHasher, *mut VkBool32) -> raw::TrmResult;
    trmCmdHash: fn(VkCommandBuffer, TrmHasher, *const TrmHashInfo) -> raw::TrmResult;
}

impl Engine {
    /// A hasher of any kind, for batches as well.
    ///
    /// # Errors
    /// The library's.
    pub fn hasher_of(&self, info: &TrmHasherCreateInfo) -> Result<TrmHasher> {
        let mut hasher = ptr::null_mut();
        let info = TrmHasherCreateInfo { flags: info.flags | TRM_HASHER_CREATE_BATCHES_BIT, ..*info };
        // SAFETY: the info is valid.
        let result = unsafe { (self.api.hash.trmCreateHasher)(self.device, &info, &mut hasher) };
        ensure!(result == 0 && !hasher.is_null(), "hasher: {}", self.api.last_error());
        Ok(hasher)
    }

    /// Memory of a table with room for `capacity` keys. It is not cleared yet.
    ///
    /// # Errors
    /// The library's.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "a test knows which hashers are alive")]
    pub fn hash_table(&self, hasher: TrmHasher, capacity: u32) -> Result<Buffer> {
        let mut size = 0;
        // SAFETY: the hasher is one.
        let result = unsafe { (self.api.hash.trmGetHasherTableSize)(hasher, capacity, &mut size) };
        ensure!(result == 0, "table: {}", self.api.last_error());
        Ok(self.context.buffer(size)?)
    }

    /// Scratch for a batch of as many keys.
    ///
    /// # Errors
    /// The library's.
    #[allow(clippy::not_unsafe_ptr_arg_deref, reason = "a test knows which hashers are alive")]
    pub fn hash_scratch(&self, hasher: TrmHasher, max_count: u32) -> Result<Buffer> {
        let mut size = 0;
        // SAFETY: the hasher is one.
        let result = unsafe { (self.api.hash.trmGetHasherScratch)(hasher, max_count, &mut size) };
        ensure!(result == 0, "scratch: {}", self.api.last_error());
        Ok(self.context.buffer(size)?)
    }
}

/// Insertions into sets of `u32` keys.
pub fn hasher_info() -> TrmHasherCreateInfo {
    // SAFETY: numbers and pointers.
    unsafe { begun(TrmStructureType::HasherCreateInfo) }
}

/// An empty batch.
pub fn hash_info() -> TrmHashInfo {
    // SAFETY: numbers and pointers.
    unsafe { begun(TrmStructureType::HashInfo) }
}
