//! The C functions of splitters.

mod types;

pub use types::*;

#[cfg(feature = "runtime-shaders")]
use crate::capi::border::source_text;
use crate::capi::border::{border, create, destroy, if_built, write};
use crate::capi::types::{TrmDevice, VkBool32, VkCommandBuffer, VkDeviceSize, raw};
use std::ffi::c_char;
#[cfg(feature = "split")]
use {
    crate::capi::batch::ProblemInfo,
    crate::capi::border::{module_code, object},
    crate::capi::convert::{timestamps, value_of},
    crate::capi::info::{check_bits, read},
    crate::capi::radix::{key_type, layout, segments, strategy, value_type},
    crate::{
        BucketFunction, BucketKernel, Error, IdType, Request, Result, SplitInfo, SplitMethod, SplitOutput, Splitter,
        SplitterInfo,
    },
};

/// Creates a splitter with every pipeline that its splits can use: of counts up to maxCount, and in batches of several
/// problems only with TRM_SPLITTER_CREATE_BATCHES_BIT. This is slow: create splitters once. Splitters with equal
/// parameters share their pipelines.
///
/// TrmDeviceCreateInfo::creationThreads threads create the pipelines and end before the call returns. If the system
/// creates no thread, the calling thread creates all pipelines. With TRM_SPLITTER_CREATE_DEFERRED_BIT the call creates
/// no pipelines: see trmCompileSplitter().
///
/// @param splitter Destroy it with trmDestroySplitter() before the VkDevice; NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateSplitter(
    device: TrmDevice,
    info: *const TrmSplitterCreateInfo,
    splitter: *mut TrmSplitter,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid.
        unsafe {
            create("splitter", splitter, || {
                if_built!("split", (device, info), {
                    let device = object("device", device)?;
                    Ok(TrmSplitter_T(Splitter::new(&device.0, &splitter_info(&read("info", info)?)?)?))
                })
            })
        }
    })
}

/// Creates a splitter with a user-defined bucket function in GLSL. info->bucketFunction is TRM_BUCKET_FUNCTION_USER.
///
/// The function is `uint trm_bucket(KEY key, uint index, TrmUserData data)`. It returns the bucket of item `index`. KEY
/// is uint, int or float for keys of 32 bits, and uvec2 (low word first) for keys of 64 bits. For keys of several
/// words, KEY is uvec2, uvec3 or uvec4. data.address is a uvec2 for buffer references, from TrmSplitInfo::userAddress.
/// data.words is a uvec4, from TrmSplitInfo::userWords.
///
/// @param source The function and the functions that it calls. It uses only features that are enabled on the device. If
///   it does not compile, trmGetLastError() returns the compiler's messages, with line numbers of source.
/// @param splitter Destroy it with trmDestroySplitter() before the VkDevice; NULL on failure.
/// @return TRM_ERROR_NOT_BUILT if the library was built without the feature runtime-shaders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateSplitterFromGlsl(
    device: TrmDevice,
    info: *const TrmSplitterCreateInfo,
    source: *const c_char,
    splitter: *mut TrmSplitter,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid; the compiler's output is a valid kernel.
        unsafe {
            create("splitter", splitter, || {
                if_built!("runtime-shaders", (device, info, source), {
                    let (device, info) = (object("device", device)?, splitter_info(&read("info", info)?)?);
                    let kernel = BucketKernel::from_glsl(info.key, source_text(source)?)?;
                    Ok(TrmSplitter_T(Splitter::with_kernel(&device.0, &info, &kernel)?))
                })
            })
        }
    })
}

/// Creates a splitter with a user-defined bucket function in SPIR-V. The tool trommel-kernel compiles the function for
/// this version of the library.
///
/// @param code A valid module that uses only features enabled on the device. The library copies it.
/// @param codeSize Size of code in bytes.
/// @param splitter Destroy it with trmDestroySplitter() before the VkDevice; NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateSplitterFromSpirv(
    device: TrmDevice,
    info: *const TrmSplitterCreateInfo,
    code: *const u32,
    code_size: usize,
    splitter: *mut TrmSplitter,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid, and so is the module.
        unsafe {
            create("splitter", splitter, || {
                if_built!("split", (device, info, code, code_size), {
                    let (device, info) = (object("device", device)?, splitter_info(&read("info", info)?)?);
                    let kernel = BucketKernel::from_spirv(module_code(code, code_size)?)?;
                    Ok(TrmSplitter_T(Splitter::with_kernel(&device.0, &info, &kernel)?))
                })
            })
        }
    })
}

/// Destroys a splitter, and its pipelines and shader module unless another splitter shares them. All command buffers
/// recorded with it must have finished execution and must not be submitted again. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmDestroySplitter(splitter: TrmSplitter) {
    // SAFETY: the caller's handle is valid or null.
    unsafe { destroy(splitter) }
}

/// Creates pipelines of a splitter with TRM_SPLITTER_CREATE_DEFERRED_BIT on the calling thread, until every remaining
/// pipeline is created or in progress on another thread. Any number of threads may call it at once. The splitter is
/// ready when all calls have returned.
///
/// @return VkResult of a pipeline whose creation failed. The next call tries again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCompileSplitter(splitter: TrmSplitter) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's handle is null or valid.
        if_built!("split", (splitter), unsafe { object("splitter", splitter)? }.0.compile())
    })
}

/// Returns whether all pipelines have been created. Until then, recording a split returns TRM_ERROR_NOT_READY. Always
/// VK_TRUE without TRM_SPLITTER_CREATE_DEFERRED_BIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSplitterReady(splitter: TrmSplitter, ready: *mut VkBool32) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("ready", ready, || {
                if_built!("split", (splitter), Ok(object("splitter", splitter)?.0.is_ready().into()))
            })
        }
    })
}

/// Returns the bytes of scratch that suffice for every split of at most maxCount items. The size is non-decreasing in
/// maxCount.
///
/// @param maxCount At most the splitter's maxCount.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSplitterScratch(
    splitter: TrmSplitter,
    max_count: u32,
    size: *mut VkDeviceSize,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("size", size, || {
                if_built!("split", (splitter, max_count), object("splitter", splitter)?.0.scratch_size(max_count))
            })
        }
    })
}

/// Returns the number of queries that TrmSplitInfo::timestamps needs for a split of exactly maxCount: one before the
/// first pass and one after each pass. All are written. Queries of passes that the split does not need receive the time
/// of its end.
///
/// @param maxCount At most the splitter's maxCount.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSplitterTimestampCount(
    splitter: TrmSplitter,
    max_count: u32,
    count: *mut u32,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("count", count, || {
                if_built!("split", (splitter, max_count), object("splitter", splitter)?.0.timestamp_count(max_count))
            })
        }
    })
}

/// Appends a stable split to commandBuffer: items are grouped by bucket and keep their order within a bucket. The
/// result has the same bytes on every device.
///
/// Example: a million rays are grouped by material, and an indirect dispatch is written for each material. The splitter
/// uses TRM_BUCKET_FUNCTION_BITS.
/// @code{.c}
/// TrmSplitInfo split = {.sType = TRM_STRUCTURE_TYPE_SPLIT_INFO, .structSize = sizeof split};
/// split.count.max = 1000000;
/// split.keys = materials;
/// split.values = rays;
/// split.keysOut = materialsOut;
/// split.valuesOut = raysOut;
/// split.commands = shade;
/// split.commandItems = 64;
/// split.scratch = scratch;
/// TrmResult result = trmCmdSplit(commandBuffer, splitter, &split);
/// @endcode
///
/// - Commands: one to ten dispatches, barriers between them, and timestamps and labels if requested. One or two of the
///   dispatches scatter items, up to three with segments. If there is nothing to write, there is no dispatch.
/// - First access: COMPUTE_SHADER, SHADER_STORAGE_READ on keys, values, the count and all other inputs,
///   SHADER_STORAGE_WRITE on outputs, SHADER_STORAGE_READ | SHADER_STORAGE_WRITE on scratch.
/// - Last access: COMPUTE_SHADER, SHADER_STORAGE_WRITE.
/// - Synchronization: the caller records a barrier before the split (writes of the inputs) and after it (reads of the
///   outputs). For commands, the second barrier is to DRAW_INDIRECT, INDIRECT_COMMAND_READ. Two calls with the same
///   scratch need a barrier between them as well.
/// - State: the compute pipeline and the push constants are overwritten. Graphics state and descriptor sets are not
///   changed.
/// - Waiting: with TRM_STRATEGY_REDUCE_THEN_SCAN tiles never wait. With the others, tiles may wait for preceding tiles
///   within a bound, and then count the keys of those tiles. The bound prevents hangs and does not affect the result.
///
/// @param commandBuffer In the recording state, primary or secondary, outside a render pass, for a queue family with
///   compute; externally synchronized.
/// @param info Written ranges must not overlap any other range. Keys and values may overlap, as members of structs do.
///   A count of zero moves no items, but writes offsets, counts, commands and the status.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCmdSplit(
    command_buffer: VkCommandBuffer,
    splitter: TrmSplitter,
    info: *const TrmSplitInfo,
) -> raw::TrmResult {
    border(|| {
        if_built!("split", (command_buffer, splitter, info), {
            // SAFETY: the caller's pointers and handles are null or valid.
            let (object, info) = unsafe { (object("splitter", splitter)?, read("info", info)?) };
            if !info.splitter.is_null() && info.splitter != splitter {
                return Err(Error::Malformed {
                    argument: "info.splitter",
                    why: "it is neither NULL nor the splitter given".into(),
                });
            }
            // SAFETY: the caller's promises are the same.
            unsafe { object.0.cmd_split(command_buffer, &split_info(&info)) }
        })
    })
}

#[cfg(feature = "split")]
fn splitter_info(info: &TrmSplitterCreateInfo) -> Result<SplitterInfo> {
    check_bits("reserved", info.reserved, 0)?;
    check_bits("flags", info.flags, SPLITTER_CREATE_BITS)?;
    let functions = [
        (TrmBucketFunction::Bits as i32, BucketFunction::Bits { begin_bit: info.begin_bit }),
        (TrmBucketFunction::Range as i32, BucketFunction::Range),
        (TrmBucketFunction::Splitters as i32, BucketFunction::Splitters),
        (TrmBucketFunction::IdsU8 as i32, BucketFunction::Ids(IdType::U8)),
        (TrmBucketFunction::IdsU16 as i32, BucketFunction::Ids(IdType::U16)),
        (TrmBucketFunction::IdsU32 as i32, BucketFunction::Ids(IdType::U32)),
        (TrmBucketFunction::Signs as i32, BucketFunction::Signs),
        (TrmBucketFunction::User as i32, BucketFunction::User),
    ];
    let function = value_of("bucketFunction", info.bucket_function, &functions)?;
    // A first bit without a field would have no effect, so it is an error.
    if info.begin_bit != 0 && !matches!(function, BucketFunction::Bits { .. }) {
        let why = format!("{} is not 0, and bucketFunction is not TRM_BUCKET_FUNCTION_BITS", info.begin_bit);
        return Err(Error::Malformed { argument: "beginBit", why });
    }
    let outputs = [
        (TrmSplitOutput::Buckets as i32, SplitOutput::Buckets),
        (TrmSplitOutput::Bucket as i32, SplitOutput::Bucket(info.output_bucket)),
        (TrmSplitOutput::Placed as i32, SplitOutput::Placed),
        (TrmSplitOutput::Counts as i32, SplitOutput::Counts),
        (TrmSplitOutput::Ranks as i32, SplitOutput::Ranks),
    ];
    let output = value_of("output", info.output, &outputs)?;
    if info.output_bucket != 0 && !matches!(output, SplitOutput::Bucket(_)) {
        let why = format!("{} is not 0, and output is not TRM_SPLIT_OUTPUT_BUCKET", info.output_bucket);
        return Err(Error::Malformed { argument: "outputBucket", why });
    }
    let methods = [
        (TrmSplitMethod::Workgroup as i32, SplitMethod::Workgroup),
        (TrmSplitMethod::Subgroup as i32, SplitMethod::Subgroup),
        (TrmSplitMethod::Direct as i32, SplitMethod::Direct),
    ];
    Ok(SplitterInfo {
        key: key_type(info.key_type)?,
        buckets: info.bucket_count,
        function,
        value: value_type(info.value_type, info.value_size)?,
        drop_keys: info.flags & TRM_SPLITTER_CREATE_DROP_KEYS_BIT != 0,
        layout: layout(info.layout)?,
        segmented: info.flags & TRM_SPLITTER_CREATE_SEGMENTED_BIT != 0,
        batches: info.flags & TRM_SPLITTER_CREATE_BATCHES_BIT != 0,
        deferred: info.flags & TRM_SPLITTER_CREATE_DEFERRED_BIT != 0,
        max_count: info.max_count,
        strategy: strategy(info.strategy)?,
        output,
        method: value_of("method", info.method, &methods)?,
    })
}

#[cfg(feature = "split")]
fn split_info(info: &TrmSplitInfo) -> SplitInfo {
    SplitInfo {
        count: info.count,
        keys: info.keys,
        values: info.values,
        keys_out: info.keys_out,
        values_out: info.values_out,
        key_stride: info.key_stride,
        value_stride: info.value_stride,
        segments: segments(info.segments),
        low: info.low,
        width: info.width,
        splitters: info.splitters,
        bucket_ids: info.bucket_ids,
        starts: info.starts,
        user_address: info.user_address,
        user_words: info.user_words,
        offsets: info.offsets,
        counts: info.counts,
        commands: info.commands,
        command_items: info.command_items,
        scratch: info.scratch,
        status: info.status,
        timestamps: timestamps(info.timestamps),
    }
}

#[cfg(feature = "split")]
impl ProblemInfo for TrmSplitInfo {
    unsafe fn check(&self) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { object("splitter", self.splitter) }.map(drop)
    }

    unsafe fn request<'a>(&self) -> Request<'a> {
        // SAFETY: the caller's promise.
        Request::Split(unsafe { &(*self.splitter).0 }, split_info(self))
    }
}
