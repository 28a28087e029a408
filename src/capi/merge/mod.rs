//! The C functions of mergers.

mod types;

pub use types::*;

#[cfg(feature = "runtime-shaders")]
use crate::capi::border::source_text;
use crate::capi::border::{border, create, destroy, if_built, write};
use crate::capi::types::{TrmDevice, VkBool32, VkCommandBuffer, VkDeviceSize, raw};
use std::ffi::c_char;
#[cfg(feature = "merge")]
use {
    crate::capi::batch::ProblemInfo,
    crate::capi::border::{checked, module_code, object},
    crate::capi::convert::{timestamps, value_of},
    crate::capi::info::{check_bits, read},
    crate::capi::radix::{key_type, layout, order, value_type},
    crate::merge::sequences::check_len,
    crate::{
        ComparatorKernel, Error, MergeInfo, MergeMethod, MergeOperation, MergeSegments, MergeSequence, Merger,
        MergerInfo, Request, Result,
    },
    std::slice,
};

/// Creates a merger with every pipeline that its merges can use: in batches of several problems only with
/// TRM_MERGER_CREATE_BATCHES_BIT. This is slow: create mergers once. Mergers with equal parameters share their
/// pipelines.
///
/// TrmDeviceCreateInfo::creationThreads threads create the pipelines and end before the call returns. If the system
/// creates no thread, the calling thread creates all pipelines. With TRM_MERGER_CREATE_DEFERRED_BIT the call creates no
/// pipelines: see trmCompileMerger().
///
/// @param merger Destroy it with trmDestroyMerger() before the VkDevice; NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateMerger(
    device: TrmDevice,
    info: *const TrmMergerCreateInfo,
    merger: *mut TrmMerger,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid.
        unsafe {
            create("merger", merger, || {
                if_built!("merge", (device, info), {
                    let device = object("device", device)?;
                    Ok(TrmMerger_T(Merger::new(&device.0, &merger_info(&read("info", info)?)?)?))
                })
            })
        }
    })
}

/// Creates a merger of two sequences, with or without segments, in the order of a user-defined comparator in GLSL.
/// info->operation, info->method and info->order are 0: the comparator is the order.
///
/// The comparator is `bool trm_less(KEY a, KEY b, TrmUserData data)`. It returns whether a comes before b: a strict
/// weak order, as for std::merge. Keys are equal if neither comes before the other; of these, those of A come first.
/// KEY is uint, int or float for keys of 32 bits, and uvec2 (low word first) for keys of 64 bits. For keys of several
/// words, KEY is uvec2, uvec3 or uvec4. data.address is a uvec2 for buffer references, from TrmMergeInfo::userAddress.
/// data.words is a uvec4, from TrmMergeInfo::userWords.
///
/// If the comparator is no strict weak order, the content of the outputs is undefined. Memory outside the ranges is
/// never accessed, except by the comparator itself.
///
/// @param source The comparator and the functions that it calls. It uses only features that are enabled on the device.
///   If it does not compile, trmGetLastError() returns the compiler's messages, with line numbers of source.
/// @param merger Destroy it with trmDestroyMerger() before the VkDevice; NULL on failure.
/// @return TRM_ERROR_NOT_BUILT if the library was built without the feature runtime-shaders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateMergerFromGlsl(
    device: TrmDevice,
    info: *const TrmMergerCreateInfo,
    source: *const c_char,
    merger: *mut TrmMerger,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid; the compiler's output is a valid kernel.
        unsafe {
            create("merger", merger, || {
                if_built!("runtime-shaders", (device, info, source), {
                    let (device, info) = (object("device", device)?, merger_info(&read("info", info)?)?);
                    let kernel = ComparatorKernel::from_glsl(info.key, source_text(source)?)?;
                    Ok(TrmMerger_T(Merger::with_comparator(&device.0, &info, &kernel)?))
                })
            })
        }
    })
}

/// Creates a merger as trmCreateMergerFromGlsl(), with a comparator in SPIR-V. The tool trommel-kernel compiles the
/// comparator for this version of the library.
///
/// @param code A valid module that uses only features enabled on the device. The library copies it.
/// @param codeSize Size of code in bytes.
/// @param merger Destroy it with trmDestroyMerger() before the VkDevice; NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateMergerFromSpirv(
    device: TrmDevice,
    info: *const TrmMergerCreateInfo,
    code: *const u32,
    code_size: usize,
    merger: *mut TrmMerger,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid, and so is the module.
        unsafe {
            create("merger", merger, || {
                if_built!("merge", (device, info, code, code_size), {
                    let (device, info) = (object("device", device)?, merger_info(&read("info", info)?)?);
                    let kernel = ComparatorKernel::from_spirv(module_code(code, code_size)?)?;
                    Ok(TrmMerger_T(Merger::with_comparator(&device.0, &info, &kernel)?))
                })
            })
        }
    })
}

/// Destroys a merger, and its pipelines and shader module unless another merger shares them. All command buffers
/// recorded with it must have finished execution and must not be submitted again. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmDestroyMerger(merger: TrmMerger) {
    // SAFETY: the caller's handle is valid or null.
    unsafe { destroy(merger) }
}

/// Creates pipelines of a merger with TRM_MERGER_CREATE_DEFERRED_BIT on the calling thread, until every remaining
/// pipeline is created or in progress on another thread. Any number of threads may call it at once. The merger is ready
/// when all calls have returned.
///
/// @return VkResult of a pipeline whose creation failed. The next call tries again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCompileMerger(merger: TrmMerger) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's handle is null or valid.
        if_built!("merge", (merger), unsafe { object("merger", merger)? }.0.compile())
    })
}

/// Returns whether all pipelines have been created. Until then, recording a merge returns TRM_ERROR_NOT_READY. Always
/// VK_TRUE without TRM_MERGER_CREATE_DEFERRED_BIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetMergerReady(merger: TrmMerger, ready: *mut VkBool32) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("ready", ready, || if_built!("merge", (merger), Ok(object("merger", merger)?.0.is_ready().into())))
        }
    })
}

/// Returns the bytes of scratch that suffice for every merge of at most maxCount items, those of all sequences
/// together. The size is non-decreasing in maxCount. 0 for bounds and small merges of two sequences: then no buffer is
/// needed. Set operations and updates always need scratch, and so do merges of segments and merges with a comparator: a
/// quarter of a byte for each item for updates, up to 100 bytes for each thousand items otherwise. A merger of three or
/// four sequences also needs the bytes of each item, and one of more sequences twice as many. Merges of fewer sequences
/// than the merger's sequenceCount may need less. With less than this size, they may be refused or not.
///
/// @param maxCount At most the merger's maxCount.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetMergerScratch(
    merger: TrmMerger,
    max_count: u32,
    size: *mut VkDeviceSize,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("size", size, || {
                if_built!("merge", (merger, max_count), object("merger", merger)?.0.scratch_size(max_count))
            })
        }
    })
}

/// Returns the number of queries that TrmMergeInfo::timestamps needs for a merge of exactly maxCount items, those of
/// all sequences together: one before the first pass and one after each pass. All are written. Queries of passes that
/// the merge does not need receive the time of its end.
///
/// @param maxCount At most the merger's maxCount.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetMergerTimestampCount(
    merger: TrmMerger,
    max_count: u32,
    count: *mut u32,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("count", count, || {
                if_built!("merge", (merger, max_count), object("merger", merger)?.0.timestamp_count(max_count))
            })
        }
    })
}

/// Appends a stable merge to commandBuffer. Of equal keys, those of A come first, each sequence in its order. The
/// result has the same bytes on every device. With another TRM_MERGE_OPERATION_..., appends a set operation, an update
/// or a search instead.
///
/// Example: the sorted Morton codes of new boxes are merged with those of all others.
/// @code{.c}
/// TrmMergeInfo merge = {.sType = TRM_STRUCTURE_TYPE_MERGE_INFO, .structSize = sizeof merge};
/// merge.countA.max = 1000000;
/// merge.countB.max = 10000;
/// merge.keysA = codes;
/// merge.valuesA = boxes;
/// merge.keysB = newCodes;
/// merge.valuesB = newBoxes;
/// merge.keysOut = allCodes;
/// merge.valuesOut = allBoxes;
/// merge.scratch = scratch;
/// TrmResult result = trmCmdMerge(commandBuffer, merger, &merge);
/// @endcode
///
/// - Commands: one dispatch, or two with a barrier between them; one for bounds and with a comparator, two for set
///   operations, three for updates. k sequences are merged by ceil(log2 k) times as many dispatches, with barriers
///   between them, and one more if a status is wanted. Merges of segments, merges with a comparator, updates, and
///   merges of more than two sequences begin with transfers to scratch: vkCmdUpdateBuffer, and for updates
///   vkCmdFillBuffer. Timestamps and labels if requested.
/// - First access: COMPUTE_SHADER, SHADER_STORAGE_READ on all sequences, on counts, offsets and marks,
///   SHADER_STORAGE_WRITE on outputs, on the status, on countOut and on segments.offsetsOut,
///   SHADER_STORAGE_READ | SHADER_STORAGE_WRITE on scratch. If it begins with transfers, also ALL_TRANSFER,
///   TRANSFER_WRITE on scratch. A comparator's input is read as offsets are.
/// - Last access: COMPUTE_SHADER, SHADER_STORAGE_WRITE.
/// - Synchronization: the caller records a barrier before the merge (writes of the inputs) and after it (reads of the
///   outputs). Two calls with the same scratch need a barrier between them as well: before merges that begin with
///   transfers, it includes ALL_TRANSFER.
/// - State: the compute pipeline and the push constants are overwritten. Graphics state and descriptor sets are not
///   changed.
/// - Waiting: a workgroup of a set operation or of an update polls the results of others for a bounded time, then
///   computes them. No other workgroup waits.
///
/// @param commandBuffer In the recording state, primary or secondary, outside a render pass, for a queue family with
///   compute; externally synchronized.
/// @param info Written ranges must not overlap any other range. If all counts are zero, or countA for bounds, only the
///   status, countOut and segments.offsetsOut are written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCmdMerge(
    command_buffer: VkCommandBuffer,
    merger: TrmMerger,
    info: *const TrmMergeInfo,
) -> raw::TrmResult {
    border(|| {
        if_built!("merge", (command_buffer, merger, info), {
            // SAFETY: the caller's pointers and handles are null or valid.
            let (object, info) = unsafe { (object("merger", merger)?, read("info", info)?) };
            if !info.merger.is_null() && info.merger != merger {
                return Err(Error::Malformed {
                    argument: "info.merger",
                    why: "it is neither NULL nor the merger given".into(),
                });
            }
            check_more(&info)?;
            // SAFETY: the caller's promises are the same.
            unsafe { object.0.cmd_merge(command_buffer, &merge_info(&info)) }
        })
    })
}

#[cfg(feature = "merge")]
fn merger_info(info: &TrmMergerCreateInfo) -> Result<MergerInfo> {
    check_bits("flags", info.flags, MERGER_CREATE_BITS)?;
    let methods = [
        (TrmMergeMethod::Path as i32, MergeMethod::Path),
        (TrmMergeMethod::Basic as i32, MergeMethod::Basic),
        (TrmMergeMethod::Tiled as i32, MergeMethod::Tiled),
        (TrmMergeMethod::CircularBuffer as i32, MergeMethod::CircularBuffer),
    ];
    let operations = [
        (TrmMergeOperation::Merge as i32, MergeOperation::Merge),
        (TrmMergeOperation::LowerBound as i32, MergeOperation::LowerBound),
        (TrmMergeOperation::UpperBound as i32, MergeOperation::UpperBound),
        (TrmMergeOperation::Union as i32, MergeOperation::Union),
        (TrmMergeOperation::Intersection as i32, MergeOperation::Intersection),
        (TrmMergeOperation::Difference as i32, MergeOperation::Difference),
        (TrmMergeOperation::SymmetricDifference as i32, MergeOperation::SymmetricDifference),
        (TrmMergeOperation::Update as i32, MergeOperation::Update),
        (TrmMergeOperation::UpdateByValue as i32, MergeOperation::UpdateByValue),
        (TrmMergeOperation::Unique as i32, MergeOperation::Unique),
    ];
    Ok(MergerInfo {
        key: key_type(info.key_type)?,
        order: order(info.order)?,
        value: value_type(info.value_type, info.value_size)?,
        drop_keys: info.flags & TRM_MERGER_CREATE_DROP_KEYS_BIT != 0,
        layout: layout(info.layout)?,
        operation: value_of("operation", info.operation, &operations)?,
        method: value_of("method", info.method, &methods)?,
        segmented: info.flags & TRM_MERGER_CREATE_SEGMENTED_BIT != 0,
        sequences: info.sequence_count,
        max_count: info.max_count,
        batches: info.flags & TRM_MERGER_CREATE_BATCHES_BIT != 0,
        deferred: info.flags & TRM_MERGER_CREATE_DEFERRED_BIT != 0,
    })
}

// merge_info() lends the caller's sequences: both structs have the same layout.
#[cfg(feature = "merge")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<TrmMergeSequence>() == size_of::<MergeSequence>());
    assert!(align_of::<TrmMergeSequence>() == align_of::<MergeSequence>());
    assert!(offset_of!(TrmMergeSequence, count) == offset_of!(MergeSequence, count));
    assert!(offset_of!(TrmMergeSequence, keys) == offset_of!(MergeSequence, keys));
    assert!(offset_of!(TrmMergeSequence, values) == offset_of!(MergeSequence, values));
};

/// Checks that the sequences after A and B can be read.
#[cfg(feature = "merge")]
fn check_more(info: &TrmMergeInfo) -> Result<()> {
    check_len(info.more_sequence_count as usize)?;
    if info.more_sequence_count == 0 { Ok(()) } else { checked("moreSequences", info.more_sequences).map(drop) }
}

/// # Safety
/// [`check_more`] has passed, and the caller's pointers are valid.
#[cfg(feature = "merge")]
unsafe fn merge_info<'a>(info: &TrmMergeInfo) -> MergeInfo<'a> {
    let more = match info.more_sequence_count {
        0 => &[][..],
        // SAFETY: the caller's promise. Both structs have the same layout.
        len => unsafe { slice::from_raw_parts(info.more_sequences.cast::<MergeSequence>(), len as usize) },
    };
    MergeInfo {
        count_a: info.count_a,
        count_b: info.count_b,
        keys_a: info.keys_a,
        values_a: info.values_a,
        keys_b: info.keys_b,
        values_b: info.values_b,
        keys_out: info.keys_out,
        values_out: info.values_out,
        segments: MergeSegments {
            count: info.segments.count,
            offsets_a: info.segments.offsets_a,
            offsets_b: info.segments.offsets_b,
            offsets_out: info.segments.offsets_out,
        },
        marks: info.marks,
        user_address: info.user_address,
        user_words: info.user_words,
        more,
        scratch: info.scratch,
        status: info.status,
        count_out: info.count_out,
        timestamps: timestamps(info.timestamps),
    }
}

#[cfg(feature = "merge")]
impl ProblemInfo for TrmMergeInfo {
    unsafe fn check(&self) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { object("merger", self.merger) }?;
        check_more(self)
    }

    unsafe fn request<'a>(&self) -> Request<'a> {
        // SAFETY: the caller's promise.
        unsafe { Request::Merge(&(*self.merger).0, merge_info(self)) }
    }
}
