//! The C functions of sorters.

mod types;

pub use types::*;

#[cfg(feature = "runtime-shaders")]
use crate::capi::border::source_text;
use crate::capi::border::{border, create, destroy, if_built, write};
use crate::capi::types::{TrmDevice, VkBool32, VkCommandBuffer, VkDeviceSize, raw};
use std::ffi::c_char;
#[cfg(feature = "sort")]
use {
    crate::capi::batch::ProblemInfo,
    crate::capi::border::{module_code, object},
    crate::capi::convert::{timestamps, value_of},
    crate::capi::info::{check_bits, read},
    crate::capi::radix::{TrmPlacement, key_type, layout, order, segments, strategy, value_type},
    crate::{Error, Placement, Request, Result, SortComparatorKernel, SortInfo, Sorter, SorterInfo},
};

/// Creates a sorter with every pipeline that its sorts can use: of counts up to maxCount, and in batches of several
/// problems only with TRM_SORTER_CREATE_BATCHES_BIT. This is slow: create sorters once. Sorters with equal parameters
/// share their pipelines.
///
/// TrmDeviceCreateInfo::creationThreads threads create the pipelines and end before the call returns. If the system
/// creates no thread, the calling thread creates all pipelines. With TRM_SORTER_CREATE_DEFERRED_BIT the call creates no
/// pipelines: see trmCompileSorter().
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

/// Creates a sorter in the order of a user-defined comparator in GLSL. info->order is 0: the comparator is the order.
/// Keys have 4 bytes or more, and all of their bits are compared: info->beginBit is 0. There are no segments, and
/// info->maxCount is at most 2^30. Sorts of any count are merge sorts: the strategy has no effect.
///
/// The comparator is `bool trm_less(KEY a, KEY b, TrmUserData data)`, as for trmCreateMergerFromGlsl(), with
/// TrmSortInfo::userAddress and TrmSortInfo::userWords. Keys are equal if neither comes before the other; these keep
/// their order.
///
/// If the comparator is no strict weak order, the content of the outputs is undefined, and it may receive any key.
/// Memory outside the ranges is never accessed, except by the comparator itself.
///
/// @param source The comparator and the functions that it calls. It uses only features that are enabled on the device.
///   If it does not compile, trmGetLastError() returns the compiler's messages, with line numbers of source.
/// @param sorter Destroy it with trmDestroySorter() before the VkDevice; NULL on failure.
/// @return TRM_ERROR_NOT_BUILT if the library was built without the feature runtime-shaders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateSorterFromGlsl(
    device: TrmDevice,
    info: *const TrmSorterCreateInfo,
    source: *const c_char,
    sorter: *mut TrmSorter,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid; the compiler's output is a valid kernel.
        unsafe {
            create("sorter", sorter, || {
                if_built!("runtime-shaders", (device, info, source), {
                    let (device, info) = (object("device", device)?, sorter_info(&read("info", info)?)?);
                    let kernel = SortComparatorKernel::from_glsl(info.key, source_text(source)?)?;
                    Ok(TrmSorter_T(Sorter::with_comparator(&device.0, &info, &kernel)?))
                })
            })
        }
    })
}

/// Creates a sorter as trmCreateSorterFromGlsl(), with a comparator in SPIR-V. The tool trommel-kernel compiles the
/// comparator for sorts of this version of the library. Modules for merges are refused.
///
/// @param code A valid module that uses only features enabled on the device. The library copies it.
/// @param codeSize Size of code in bytes.
/// @param sorter Destroy it with trmDestroySorter() before the VkDevice; NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateSorterFromSpirv(
    device: TrmDevice,
    info: *const TrmSorterCreateInfo,
    code: *const u32,
    code_size: usize,
    sorter: *mut TrmSorter,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid, and so is the module.
        unsafe {
            create("sorter", sorter, || {
                if_built!("sort", (device, info, code, code_size), {
                    let (device, info) = (object("device", device)?, sorter_info(&read("info", info)?)?);
                    let kernel = SortComparatorKernel::from_spirv(module_code(code, code_size)?)?;
                    Ok(TrmSorter_T(Sorter::with_comparator(&device.0, &info, &kernel)?))
                })
            })
        }
    })
}

/// Destroys a sorter, and its pipelines and shader module unless another sorter shares them. All command buffers
/// recorded with it must have finished execution and must not be submitted again. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmDestroySorter(sorter: TrmSorter) {
    // SAFETY: the caller's handle is valid or null.
    unsafe { destroy(sorter) }
}

/// Creates pipelines of a sorter with TRM_SORTER_CREATE_DEFERRED_BIT on the calling thread, until every remaining
/// pipeline is created or in progress on another thread. Any number of threads may call it at once. The sorter is ready
/// when all calls have returned.
///
/// @return VkResult of a pipeline whose creation failed. The next call tries again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCompileSorter(sorter: TrmSorter) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's handle is null or valid.
        if_built!("sort", (sorter), unsafe { object("sorter", sorter)? }.0.compile())
    })
}

/// Returns whether all pipelines have been created. Until then, recording a sort returns TRM_ERROR_NOT_READY. Always
/// VK_TRUE without TRM_SORTER_CREATE_DEFERRED_BIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSorterReady(sorter: TrmSorter, ready: *mut VkBool32) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("ready", ready, || if_built!("sort", (sorter), Ok(object("sorter", sorter)?.0.is_ready().into())))
        }
    })
}

/// Returns the bytes of scratch that suffice for every sort of at most maxCount keys. The size is non-decreasing in
/// maxCount.
///
/// @param maxCount At most the sorter's maxCount.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSorterScratch(
    sorter: TrmSorter,
    max_count: u32,
    size: *mut VkDeviceSize,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("size", size, || {
                if_built!("sort", (sorter, max_count), object("sorter", sorter)?.0.scratch_size(max_count))
            })
        }
    })
}

/// Returns the number of queries that TrmSortInfo::timestamps needs for a sort of exactly maxCount: one before the
/// first pass and one after each pass. All are written. Queries of passes that the sort does not need receive the time
/// of its end.
///
/// @param maxCount At most the sorter's maxCount.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSorterTimestampCount(
    sorter: TrmSorter,
    max_count: u32,
    count: *mut u32,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("count", count, || {
                if_built!("sort", (sorter, max_count), object("sorter", sorter)?.0.timestamp_count(max_count))
            })
        }
    })
}

/// Returns which arrays hold the result of every sort: 0 for keys and values (always with TRM_PLACEMENT_IN_PLACE), 1
/// for keysOut and valuesOut (always with TRM_PLACEMENT_PRESERVE). With TRM_PLACEMENT_DOUBLE_BUFFER the side depends on
/// the range of bits, not on the count.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSorterResultSide(sorter: TrmSorter, side: *mut u32) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe { write("side", side, || if_built!("sort", (sorter), Ok(object("sorter", sorter)?.0.result_side()))) }
    })
}

/// Appends a stable sort to commandBuffer. The result has the same bytes on every device.
///
/// - Commands: dispatches, barriers between them, and timestamps and labels if requested. There are one to three
///   dispatches for each digit of eight bits, and up to six more. A sort by merging has one for the runs and two for
///   each level instead of those for digits. All segments that fit a workgroup are sorted in one dispatch. With a
///   comparator, a transfer to scratch precedes them (vkCmdUpdateBuffer).
/// - First access: COMPUTE_SHADER, SHADER_STORAGE_READ | SHADER_STORAGE_WRITE on keys, values, keysOut, valuesOut and
///   scratch, SHADER_STORAGE_READ on the count and on a preserved input, SHADER_STORAGE_WRITE on the status.
///   With a comparator, also ALL_TRANSFER, TRANSFER_WRITE on scratch. Its input is read as the count is.
/// - Last access: COMPUTE_SHADER, SHADER_STORAGE_WRITE.
/// - Synchronization: the caller records a barrier before the sort (writes of the inputs) and after it (reads of the
///   outputs). Two calls with the same scratch need a barrier between them as well. With a comparator, the barrier for
///   scratch includes ALL_TRANSFER.
/// - State: the compute pipeline and the push constants are overwritten. Graphics state and descriptor sets are not
///   changed.
/// - Waiting: with TRM_STRATEGY_REDUCE_THEN_SCAN tiles never wait. With the others, tiles wait for preceding tiles
///   within a bound, and then count the keys of those tiles. The bound prevents hangs and does not affect the result.
///
/// @param commandBuffer In the recording state, primary or secondary, outside a render pass, for a queue family with
///   compute; externally synchronized.
/// @param info Written ranges must not overlap any other range. Keys and values that are only read may overlap, as
///   members of structs do. A count of zero writes the status only.
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
                return Err(Error::Malformed {
                    argument: "info.sorter",
                    why: "it is neither NULL nor the sorter given".into(),
                });
            }
            // SAFETY: the caller's promises are the same.
            unsafe { object.0.cmd_sort(command_buffer, &sort_info(&info)) }
        })
    })
}

#[cfg(feature = "sort")]
fn sorter_info(info: &TrmSorterCreateInfo) -> Result<SorterInfo> {
    check_bits("flags", info.flags, SORTER_CREATE_BITS)?;
    check_bits("reserved", info.reserved, 0)?;
    let placements = [
        (TrmPlacement::InPlace as i32, Placement::InPlace),
        (TrmPlacement::Preserve as i32, Placement::Preserve),
        (TrmPlacement::DoubleBuffer as i32, Placement::DoubleBuffer),
    ];
    Ok(SorterInfo {
        key: key_type(info.key_type)?,
        order: order(info.order)?,
        begin_bit: info.begin_bit,
        end_bit: info.end_bit,
        value: value_type(info.value_type, info.value_size)?,
        drop_keys: info.flags & TRM_SORTER_CREATE_DROP_KEYS_BIT != 0,
        segmented: info.flags & TRM_SORTER_CREATE_SEGMENTED_BIT != 0,
        batches: info.flags & TRM_SORTER_CREATE_BATCHES_BIT != 0,
        deferred: info.flags & TRM_SORTER_CREATE_DEFERRED_BIT != 0,
        placement: value_of("placement", info.placement, &placements)?,
        layout: layout(info.layout)?,
        max_count: info.max_count,
        strategy: strategy(info.strategy)?,
    })
}

#[cfg(feature = "sort")]
fn sort_info(info: &TrmSortInfo) -> SortInfo {
    SortInfo {
        count: info.count,
        segments: segments(info.segments),
        keys: info.keys,
        values: info.values,
        keys_out: info.keys_out,
        values_out: info.values_out,
        key_stride: info.key_stride,
        value_stride: info.value_stride,
        user_address: info.user_address,
        user_words: info.user_words,
        scratch: info.scratch,
        status: info.status,
        timestamps: timestamps(info.timestamps),
    }
}

#[cfg(feature = "sort")]
impl ProblemInfo for TrmSortInfo {
    unsafe fn check(&self) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { object("sorter", self.sorter) }.map(drop)
    }

    unsafe fn request<'a>(&self) -> Request<'a> {
        // SAFETY: the caller's promise.
        Request::Sort(unsafe { &(*self.sorter).0 }, sort_info(self))
    }
}
