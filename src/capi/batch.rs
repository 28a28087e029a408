//! Many problems together.

use super::border::{border, if_built, write};
use super::types::*;
#[cfg(feature = "radix")]
use {
    super::border::checked,
    super::convert::scratch,
    super::info::{Info, check, read, read_checked},
    crate::core::batch::{Requests, check_len, record_batch, scratch_size},
    crate::{Error, Request, Result},
    std::borrow::Borrow,
    std::slice,
};

/// Bytes of scratch that trmCmdBatch() needs for these infos: their sorters or splitters and maximum counts
/// matter, their addresses do not, nor does info->scratch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetBatchScratch(info: *const TrmBatchInfo, size: *mut VkDeviceSize) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers are null or valid.
        unsafe { write("size", size, || if_built!("radix" named "sort", (info), scratch_size(&Infos::of(&read("info", info)?)?))) }
    })
}

/// Appends many problems to commandBuffer: barriers grow with the passes of the longest, not with the number of problems,
/// and problems that are alike share their dispatches. Small sorts take a workgroup each, small splits one dispatch and another beside it.
///
/// Problems are independent: what one writes, no other may read or write; counts may be shared. The check takes no heap memory. It takes
/// one pass over the problems in any order, as long as they name no more than 2304 ranges or their arrays lie close together. At worst
/// it takes a pass for each 1152 ranges. At most 2^20 problems.
///
/// All sorters and splitters of several problems have been created with TRM_SORTER_CREATE_BATCHES_BIT or
/// TRM_SPLITTER_CREATE_BATCHES_BIT.
///
/// Problems of one kind share dispatches. A kind is what a sorter or splitter was created as, and a tile shape of the device's profile
/// (one for each range of sizes). Every sort or split of segments is a kind of its own. Up to 8 kinds, of 64 dispatches together, form a
/// group, which shares its barriers. Groups follow one another without a barrier between them; each has a part of scratch of its own.
///
/// The first access may also be ALL_TRANSFER, TRANSFER_WRITE on scratch. Everything else is as the problems' own functions say; their
/// scratch and timestamps are not used. Recording takes no heap memory and at most 64 KiB of stack, as the other functions do that record.
///
/// @param info Nothing is recorded for an infoCount of 0. All sorters and splitters are of one device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCmdBatch(command_buffer: VkCommandBuffer, info: *const TrmBatchInfo) -> raw::TrmResult {
    border(|| {
        if_built!("radix" named "sort", (command_buffer, info), {
            // SAFETY: the caller's pointers and handles are null or valid.
            unsafe {
                let info = read("info", info)?;
                record_batch(command_buffer, &Infos::of(&info)?, scratch(info.scratch))
            }
        })
    })
}

/// An info that batches take.
#[cfg(feature = "radix")]
pub(super) trait ProblemInfo: Info {
    /// Checks the handle.
    ///
    /// # Safety
    /// The handle is a valid one, null or misaligned.
    unsafe fn check_handle(&self) -> Result<()>;

    /// # Safety
    /// [`ProblemInfo::check_handle`] has found a handle.
    unsafe fn request<'a>(&self) -> Request<'a>;
}

/// Every info that batches take: a primitive adds a line.
macro_rules! problem_infos {
    ($($feature:literal: $info:ident,)*) => {
        /// Checks an info and its handle.
        ///
        /// # Safety
        /// As [`check`]; the handle is a valid one, null or misaligned.
        #[cfg(feature = "radix")]
        unsafe fn check_problem(info: *const TrmInfoHeader) -> Result<()> {
            // SAFETY: the caller's promise.
            let s_type = unsafe { (*checked("infos", info)?).s_type };
            $(
                if s_type == <$info as Info>::TYPE as i32 {
                    return if_built!($feature, (info), {
                        // SAFETY: the caller's promise.
                        unsafe {
                            check::<$info>("infos", info)?;
                            read_checked::<$info>(info).check_handle()
                        }
                    });
                }
            )*
            Err(Error::UnknownValue { argument: "sType", value: s_type.into() })
        }

        /// # Safety
        /// [`check_problem`] has found no error.
        #[cfg(feature = "radix")]
        unsafe fn request<'a>(info: *const TrmInfoHeader) -> Request<'a> {
            // SAFETY: the caller's promise.
            unsafe {
                match (*info).s_type {
                    $(
                        #[cfg(feature = $feature)]
                        s_type if s_type == <$info as Info>::TYPE as i32 => read_checked::<$info>(info).request(),
                    )*
                    _ => unreachable!("check_problem() refuses other types"),
                }
            }
        }
    };
}

problem_infos! {
    "sort": TrmSortInfo,
    "split": TrmSplitInfo,
}

/// Infos that have been checked; each is converted when it is asked for, so that a batch of any size takes no heap.
#[cfg(feature = "radix")]
struct Infos<'a>(&'a [*const TrmInfoHeader]);

#[cfg(feature = "radix")]
impl Infos<'_> {
    /// # Safety
    /// The pointers that `batch` leads to are null or valid, for as long as this lives.
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

#[cfg(feature = "radix")]
impl Requests for Infos<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, index: usize) -> impl Borrow<Request<'_>> {
        // SAFETY: of() has checked the info and its handle.
        unsafe { request(self.0[index]) }
    }
}
