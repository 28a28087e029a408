//! Sorting.

use super::border::{border, create, destroy, if_built, write};
use super::types::*;
#[cfg(feature = "sort")]
use {
    super::border::object,
    super::info::read,
    crate::{Count, Error, KeyType, Range, Result, Scratch, SortInfo, Sorter, SorterInfo, Strategy, Timestamps, ValueType},
};

/// Makes what sorts of one kind need: every pipeline that any count may take. Slow; do it once.
///
/// @param sorter Destroy it with trmDestroySorter() before the VkDevice; NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateSorter(
    device: TrmDevice,
    info: *const TrmSorterCreateInfo,
    sorter: *mut TrmSorter,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid.
        unsafe {
            create("sorter", sorter, || {
                if_built!("sort", (device, info), {
                    let device = object("device", device)?;
                    Ok(TrmSorter_T(Sorter::new(&device.0, &sorter_info(&read("info", info)?)?)?))
                })
            })
        }
    })
}

/// Ends the handle, once every command buffer recorded with it has executed. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmDestroySorter(sorter: TrmSorter) {
    // SAFETY: the caller's handle is valid or null.
    unsafe { destroy(sorter) }
}

/// Bytes of scratch that serve every sort of at most maxCount keys, alternate arrays included. Never shrinks as maxCount
/// grows.
///
/// @param maxCount At most 2^30.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSorterScratch(sorter: TrmSorter, max_count: u32, size: *mut VkDeviceSize) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("size", size, || if_built!("sort", (sorter, max_count), object("sorter", sorter)?.0.scratch_size(max_count)))
        }
    })
}

/// Queries that TrmSortInfo::timestamps needs for a sort of exactly maxCount: one before the first pass and one after each. All
/// are written; those of passes that the sort does without get the time of its end.
///
/// @param maxCount At most 2^30.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSorterTimestampCount(sorter: TrmSorter, max_count: u32, count: *mut u32) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("count", count, || if_built!("sort", (sorter, max_count), object("sorter", sorter)?.0.timestamp_count(max_count)))
        }
    })
}

/// Appends a sort to commandBuffer: stable, ascending, in place; the same bytes on every device.
///
/// Appended: at most 13 dispatches with the barriers between them, and timestamps and labels where they are wanted.
/// First access: COMPUTE_SHADER, SHADER_STORAGE_READ | SHADER_STORAGE_WRITE on keys, values and scratch, SHADER_STORAGE_READ
/// on the count. Last access: COMPUTE_SHADER, SHADER_STORAGE_WRITE. The caller owes a barrier from what wrote the inputs and
/// one to what reads the outputs; between two calls on the same scratch as well.
/// Disturbed: the compute pipeline and the push constants. Graphics state and descriptor sets are left alone.
/// Scratch lives from the first command to the last.
/// Waiting: none with TRM_STRATEGY_REDUCE_THEN_SCAN. With TRM_STRATEGY_LOOKBACK tiles wait for earlier ones within a bound,
/// then count for themselves: never a hang, never another result.
///
/// @param commandBuffer Recording, primary or secondary, outside a render pass, of a queue family with compute, used by this
///   thread alone.
/// @param info Its ranges must be apart from one another, keys and values hold count.max items. A count of zero touches
///   no key, but still writes the status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCmdSort(
    command_buffer: VkCommandBuffer,
    sorter: TrmSorter,
    info: *const TrmSortInfo,
) -> raw::TrmResult {
    border(|| {
        if_built!("sort", (command_buffer, sorter, info), {
            // SAFETY: the caller's pointers and handles are null or valid.
            let (object, info) = unsafe { (object("sorter", sorter)?, read("info", info)?) };
            if !info.sorter.is_null() && info.sorter != sorter {
                return Err(Error::Malformed { argument: "info.sorter", why: "it is neither NULL nor the sorter given".into() });
            }
            // SAFETY: the caller's promises are the same.
            unsafe { object.0.cmd_sort(command_buffer, &sort_info(&info)) }
        })
    })
}

#[cfg(feature = "sort")]
fn sorter_info(info: &TrmSorterCreateInfo) -> Result<SorterInfo> {
    let unknown = |argument, value: i32| Err(Error::UnknownValue { argument, value: value.into() });
    if info.flags != 0 {
        return Err(Error::Malformed { argument: "flags", why: format!("{:#x} is not 0", info.flags) });
    }
    const U32_KEY: i32 = TrmKeyType::U32 as i32;
    const NONE: i32 = TrmValueType::None as i32;
    const U32: i32 = TrmValueType::U32 as i32;
    const AUTO: i32 = TrmStrategy::Auto as i32;
    const LOOKBACK: i32 = TrmStrategy::Lookback as i32;
    const REDUCE_THEN_SCAN: i32 = TrmStrategy::ReduceThenScan as i32;
    Ok(SorterInfo {
        key: match info.key_type {
            U32_KEY => KeyType::U32,
            other => return unknown("keyType", other),
        },
        value: match info.value_type {
            NONE => ValueType::None,
            U32 => ValueType::U32,
            other => return unknown("valueType", other),
        },
        strategy: match info.strategy {
            AUTO => Strategy::Auto,
            LOOKBACK => Strategy::Lookback,
            REDUCE_THEN_SCAN => Strategy::ReduceThenScan,
            other => return unknown("strategy", other),
        },
    })
}

#[cfg(feature = "sort")]
pub(super) fn sort_info(info: &TrmSortInfo) -> SortInfo {
    SortInfo {
        count: Count { max: info.count.max, address: info.count.address },
        keys: Range::new(info.keys.address, info.keys.size),
        values: Range::new(info.values.address, info.values.size),
        scratch: Scratch { buffer: info.scratch.buffer, offset: info.scratch.offset, size: info.scratch.size },
        status: info.status,
        timestamps: (info.timestamps.pool != VkQueryPool::default())
            .then_some(Timestamps { pool: info.timestamps.pool, first: info.timestamps.first }),
    }
}
