//! Many problems together.

use super::border::{border, if_built, write};
#[cfg(feature = "split")]
use super::split::split_info;
use super::types::*;
#[cfg(feature = "sort")]
use {
    super::border::{checked, object},
    super::convert::scratch,
    super::info::{check, read, read_checked},
    super::sort::sort_info,
    crate::batch::{Requests, check_len, record_batch, scratch_size},
    crate::{Request, Result},
    std::slice,
};

/// Bytes of scratch that trmCmdBatch() needs for these infos: their sorters or splitters and maximum counts
/// matter, their addresses do not, nor does info->scratch.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetBatchScratch(info: *const TrmBatchInfo, size: *mut VkDeviceSize) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers are null or valid.
        unsafe { write("size", size, || if_built!("sort", (info), scratch_size(&Infos::of(&read("info", info)?)?))) }
    })
}

/// Appends many problems to commandBuffer: barriers grow with the passes of the longest, not with the number of problems,
/// and problems that are alike share their dispatches. Small sorts take a workgroup each, small splits one dispatch and another beside it.
///
/// Problems are independent: what one writes, no other may read or write; counts may be shared. The check takes no heap memory. It takes
/// one pass over the problems in any order, as long as they name no more than 24,576 ranges or their arrays lie close together. At worst
/// it takes a pass for each 12,288 ranges. At most 2^20 problems.
///
/// Problems of one kind share dispatches. A kind is what a sorter or splitter was created as, and a tile shape of the device's profile
/// (one for each range of sizes). Every sort or split of segments is a kind of its own. Up to 16 kinds form a group, which shares its
/// barriers. Groups follow one another without a barrier between them; each has a part of scratch of its own.
///
/// The first access may also be ALL_TRANSFER, TRANSFER_WRITE on scratch. Everything else is as the problems' own functions say; their
/// scratch and timestamps are not used. Recording takes up to 1 MiB of stack.
///
/// @param info Nothing is recorded for an infoCount of 0. All sorters and splitters are of one device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCmdBatch(command_buffer: VkCommandBuffer, info: *const TrmBatchInfo) -> raw::TrmResult {
    border(|| {
        if_built!("sort", (command_buffer, info), {
            // SAFETY: the caller's pointers and handles are null or valid.
            unsafe {
                let info = read("info", info)?;
                record_batch(command_buffer, &Infos::of(&info)?, scratch(info.scratch))
            }
        })
    })
}

/// Infos that have been checked; each is converted when it is asked for, so that a batch of any size takes no heap.
#[cfg(feature = "sort")]
struct Infos<'a>(&'a [*const TrmInfoHeader]);

#[cfg(feature = "sort")]
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
        for info in infos {
            // SAFETY: the caller's promise.
            unsafe {
                if (*checked("infos", *info)?).s_type == SPLIT {
                    check_split(*info)?;
                } else {
                    check::<TrmSortInfo>("infos", *info)?;
                    object("sorter", read_checked::<TrmSortInfo>(*info).sorter)?;
                }
            }
        }
        Ok(Self(infos))
    }
}

/// What a split says it is. Everything else is a sort, or said not to be.
#[cfg(feature = "sort")]
const SPLIT: raw::TrmStructureType = TrmStructureType::SplitInfo as raw::TrmStructureType;

/// # Safety
/// As [`check`]; the splitter, if it is one, is valid.
#[cfg(feature = "sort")]
unsafe fn check_split(info: *const TrmInfoHeader) -> Result<()> {
    if_built!("split", (info), {
        // SAFETY: the caller's promise.
        unsafe {
            check::<TrmSplitInfo>("infos", info)?;
            object("splitter", read_checked::<TrmSplitInfo>(info).splitter)?;
        }
        Ok(())
    })
}

#[cfg(feature = "sort")]
impl Requests for Infos<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, index: usize) -> Request<'_> {
        // SAFETY: of() has checked the info and its sorter or splitter.
        unsafe {
            #[cfg(feature = "split")]
            if (*self.0[index]).s_type == SPLIT {
                let info = read_checked::<TrmSplitInfo>(self.0[index]);
                return Request::Split(&(*info.splitter).0, split_info(&info));
            }
            let info = read_checked::<TrmSortInfo>(self.0[index]);
            Request::Sort(&(*info.sorter).0, sort_info(&info))
        }
    }
}
