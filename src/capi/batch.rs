//! Batches of problems.

use super::border::{border, if_built, write};
use super::types::*;
#[cfg(feature = "primitive")]
use {
    super::border::checked,
    super::info::{Info, check, read, read_checked},
    crate::core::batch::{Requests, check_len, record_batch, scratch_size},
    crate::{Error, Request, Result},
    std::borrow::Borrow,
    std::slice,
};

/// Returns the bytes of scratch that trmCmdBatch() needs for these infos. The result depends on their handles and
/// maximum counts. Addresses and info->scratch are ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetBatchScratch(info: *const TrmBatchInfo, size: *mut VkDeviceSize) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers are null or valid.
        unsafe {
            write(
                "size",
                size,
                || if_built!("primitive" named FEATURES[0], (info), scratch_size(&Infos::of(&read("info", info)?)?)),
            )
        }
    })
}

/// Appends a batch of independent problems to commandBuffer. The number of barriers depends on the longest problem
/// only. Similar problems share dispatches: a small sort is one workgroup of a shared dispatch.
///
/// Problems must be independent: no problem may read or write a range that another problem writes. They may share
/// counts. A batch has at most 2^20 problems.
///
/// The call checks independence without heap memory, for ranges in any order. It reads the problems once if they have
/// at most 2^21 ranges or if their arrays are close together, and at most ten times otherwise, or 37 times if they
/// are merges of 16 sequences. The check uses host memory that belongs to the TrmDevice: the first handle for batches
/// allocates 32 MiB. One thread uses this memory at a time. A second thread does not wait; its check uses 36 KiB of its
/// stack and may read the problems more often. docs/design.md has the bounds.
///
/// In a batch of several problems, all handles were created for batches, for instance with
/// TRM_SORTER_CREATE_BATCHES_BIT.
///
/// Problems of one group share dispatches. A group has one configuration of a handle and one tile shape of the device
/// profile, which has one for each range of sizes. Each segmented sort or split is a group of its own; segmented merges
/// share groups as other merges do. Up to 6 groups, of 64 dispatches in all, are recorded together and share barriers.
/// Further groups follow without a barrier in between. Each group has its own part of scratch.
///
/// Synchronization: the first access may also be ALL_TRANSFER, TRANSFER_WRITE on scratch. All other accesses are those
/// of trmCmdSort() and the like. The problems' own scratch and timestamps are not used. Recording needs no heap memory
/// and at most 64 KiB of stack, as with all functions that record.
///
/// @param info With an infoCount of 0 nothing is recorded. All handles belong to one device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCmdBatch(command_buffer: VkCommandBuffer, info: *const TrmBatchInfo) -> raw::TrmResult {
    border(|| {
        if_built!("primitive" named FEATURES[0], (command_buffer, info), {
            // SAFETY: the caller's pointers and handles are null or valid.
            unsafe {
                let info = read("info", info)?;
                record_batch(command_buffer, &Infos::of(&info)?, info.scratch)
            }
        })
    })
}

/// An info that a batch accepts.
#[cfg(feature = "primitive")]
pub(super) trait ProblemInfo: Info {
    /// Checks the handle, and arrays that [`ProblemInfo::request`] reads.
    ///
    /// # Safety
    /// The handle is valid, null or misaligned.
    unsafe fn check(&self) -> Result<()>;

    /// # Safety
    /// [`ProblemInfo::check`] has passed.
    unsafe fn request<'a>(&self) -> Request<'a>;
}

macro_rules! problem_infos {
    ($(
        $feature:literal: $primitive:ident, $request:ident $types:tt, $info:ident,
        $interface:literal, $settings:literal;
    )*) => {
        /// The features of the primitives.
        #[cfg(not(feature = "primitive"))]
        const FEATURES: &[&str] = &[$($feature),*];

        /// Checks an info and its handle.
        ///
        /// # Safety
        /// As [`check`]; the handle is valid, null or misaligned.
        #[cfg(feature = "primitive")]
        unsafe fn check_problem(info: *const TrmInfoHeader) -> Result<()> {
            // SAFETY: the caller's promise.
            let s_type = unsafe { (*checked("infos", info)?).s_type };
            $(
                if s_type == <super::$info as Info>::TYPE as i32 {
                    return if_built!($feature, (info), {
                        // SAFETY: the caller's promise.
                        unsafe {
                            check::<super::$info>("infos", info)?;
                            read_checked::<super::$info>(info).check()
                        }
                    });
                }
            )*
            Err(Error::UnknownValue { argument: "sType", value: s_type.into() })
        }

        /// # Safety
        /// [`check_problem`] has passed.
        #[cfg(feature = "primitive")]
        unsafe fn request<'a>(info: *const TrmInfoHeader) -> Request<'a> {
            // SAFETY: the caller's promise.
            unsafe {
                match (*info).s_type {
                    $(
                        #[cfg(feature = $feature)]
                        s_type if s_type == <super::$info as Info>::TYPE as i32 => {
                            read_checked::<super::$info>(info).request()
                        }
                    )*
                    _ => unreachable!("check_problem() refuses other types"),
                }
            }
        }
    };
}

primitives!(problem_infos);

/// Checked infos. Each one is converted on access, so that a batch of any size needs no heap memory.
#[cfg(feature = "primitive")]
struct Infos<'a>(&'a [*const TrmInfoHeader]);

#[cfg(feature = "primitive")]
impl Infos<'_> {
    /// # Safety
    /// All pointers in `batch` are null or valid while this value exists.
    unsafe fn of(batch: &TrmBatchInfo) -> Result<Self> {
        if batch.info_count == 0 {
            return Ok(Self(&[]));
        }
        check_len(batch.info_count as usize)?;
        checked("infos", batch.infos)?;
        // SAFETY: the caller's promise.
        let infos = unsafe { slice::from_raw_parts(batch.infos, batch.info_count as usize) };
        // SAFETY: the caller's promise.
        infos.iter().try_for_each(|info| unsafe { check_problem(*info) })?;
        Ok(Self(infos))
    }
}

#[cfg(feature = "primitive")]
impl Requests for Infos<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, index: usize) -> impl Borrow<Request<'_>> {
        // SAFETY: of() has checked the info and its handle.
        unsafe { request(self.0[index]) }
    }
}
