//! Splitting.

use super::border::{border, create, destroy, if_built, write};
use super::types::*;
#[cfg(feature = "runtime-shaders")]
use std::ffi::CStr;
use std::ffi::c_char;
#[cfg(feature = "split")]
use {
    super::batch::ProblemInfo,
    super::border::{checked, object},
    super::convert::{count, key_type, layout, range, scratch, segments, strategy, timestamps, value_of, value_type},
    super::info::{check_bits, read},
    crate::core::memory::check_multiple,
    crate::{
        BucketFunction, BucketKernel, Error, IdType, Request, Result, SplitInfo, SplitMethod, SplitOutput, Splitter, SplitterInfo,
    },
};

/// Makes what splits of one kind need: every pipeline that any count may take. Slow; do it once. Pipelines are made on several threads:
/// TrmDeviceCreateInfo::creationThreads. These end before the call returns; where the system makes none, the calling thread makes all pipelines.
/// Splitters that are alike share their pipelines.
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

/// The same by a function of the caller: info->bucketFunction is TRM_BUCKET_FUNCTION_USER.
///
/// The function is GLSL, `uint trm_bucket(KEY key, uint index, TrmUserData data)`: the bucket of the item `index`. KEY is uint, int or float for
/// keys of 32 bits, uvec2, low word first, for those of 64, and uvec2, uvec3 or uvec4 for several words. data.address is a uvec2, for
/// buffer references, data.words a uvec4: TrmSplitInfo::userAddress and userWords.
///
/// @param source The function, and whatever it calls; it asks for no feature that the device is without. Where it does not compile, trmGetLastError() has what the compiler says, with lines of source.
/// @param splitter Destroy it with trmDestroySplitter() before the VkDevice; NULL on failure.
/// @return TRM_ERROR_NOT_BUILT from a library without the feature runtime-shaders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateSplitterFromGlsl(
    device: TrmDevice,
    info: *const TrmSplitterCreateInfo,
    source: *const c_char,
    splitter: *mut TrmSplitter,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid; what has just been compiled is a valid kernel.
        unsafe {
            create("splitter", splitter, || {
                if_built!("runtime-shaders", (device, info, source), {
                    let (device, info) = (object("device", device)?, splitter_info(&read("info", info)?)?);
                    let source = CStr::from_ptr(checked("source", source)?).to_str();
                    let source = source.map_err(|error| Error::Malformed { argument: "source", why: error.to_string() })?;
                    let kernel = BucketKernel::from_glsl(info.key, source)?;
                    Ok(TrmSplitter_T(Splitter::with_kernel(&device.0, &info, &kernel)?))
                })
            })
        }
    })
}

/// The same out of SPIR-V, which the tool trommel-kernel has made of the function before, for this version of the library.
///
/// @param code A valid module, which asks for no feature that the device is without. Not kept.
/// @param codeSize Its bytes.
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
                    check_multiple("codeSize", code_size as u64, 4)?;
                    let code = std::slice::from_raw_parts(checked("code", code)?, code_size / 4);
                    let kernel = BucketKernel::from_spirv(code)?;
                    Ok(TrmSplitter_T(Splitter::with_kernel(&device.0, &info, &kernel)?))
                })
            })
        }
    })
}

/// Ends the handle, once every command buffer recorded with it has executed and none will be submitted again: its pipelines are destroyed, and its
/// module, if it has one of the caller's, unless others use them. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmDestroySplitter(splitter: TrmSplitter) {
    // SAFETY: the caller's handle is valid or null.
    unsafe { destroy(splitter) }
}

/// Creates pipelines of a splitter with TRM_SPLITTER_CREATE_DEFERRED_BIT on the calling thread, until there is none left that no thread has begun.
/// Call it from as many threads as shall compile. The splitter is ready when all calls have returned.
///
/// @return VkResult of a pipeline that cannot be created. The next call tries again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCompileSplitter(splitter: TrmSplitter) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's handle is null or valid.
        if_built!("split", (splitter), unsafe { object("splitter", splitter)? }.0.compile())
    })
}

/// Whether all pipelines have been created, so that splits can be recorded: until then, TRM_ERROR_NOT_READY. Always VK_TRUE without
/// TRM_SPLITTER_CREATE_DEFERRED_BIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSplitterReady(splitter: TrmSplitter, ready: *mut VkBool32) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe { write("ready", ready, || if_built!("split", (splitter), Ok(object("splitter", splitter)?.0.is_ready().into()))) }
    })
}

/// Bytes of scratch that serve every split of at most maxCount items. Never shrinks as maxCount grows.
///
/// @param maxCount At most the splitter's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSplitterScratch(splitter: TrmSplitter, max_count: u32, size: *mut VkDeviceSize) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("size", size, || {
                if_built!("split", (splitter, max_count), object("splitter", splitter)?.0.scratch_size(max_count))
            })
        }
    })
}

/// Queries that TrmSplitInfo::timestamps needs for a split of exactly maxCount: one before the first pass and one after each. All
/// are written; those of passes that the split does without get the time of its end.
///
/// @param maxCount At most the splitter's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetSplitterTimestampCount(splitter: TrmSplitter, max_count: u32, count: *mut u32) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("count", count, || {
                if_built!("split", (splitter, max_count), object("splitter", splitter)?.0.timestamp_count(max_count))
            })
        }
    })
}

/// Appends a split to commandBuffer: items bucket by bucket, those of each in the order of the input; the same bytes on every device.
///
/// A million rays by the material that each has hit, as a splitter by bits has been made for, and a dispatch over those of each:
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
/// Appended: one to ten dispatches, of which one or two move the items, of segments up to three, unless they stay (none where there is nothing to do or to tell), with
/// the barriers between them, and timestamps and labels where they are wanted.
/// First access: COMPUTE_SHADER, SHADER_STORAGE_READ on keys, values, the count and whatever else is read, SHADER_STORAGE_WRITE on what is written,
/// SHADER_STORAGE_READ | SHADER_STORAGE_WRITE on scratch. Last access: COMPUTE_SHADER, SHADER_STORAGE_WRITE. The
/// caller owes a barrier from what wrote the inputs and one to what reads the outputs (for the commands, to DRAW_INDIRECT,
/// INDIRECT_COMMAND_READ); between two calls on the same scratch as well.
/// Disturbed: the compute pipeline and the push constants. Graphics state and descriptor sets are left alone.
/// Scratch lives from the first command to the last.
/// Waiting: none with TRM_STRATEGY_REDUCE_THEN_SCAN. With the others tiles may wait for earlier ones within a bound,
/// then count for themselves: never a hang, never another result.
///
/// @param commandBuffer Recording, primary or secondary, outside a render pass, of a queue family with compute, used by this
///   thread alone.
/// @param info What is written must be apart from everything else; keys and values may lie in one another, as members of structs
///   do. A count of zero moves no item, but still writes offsets, counts, commands and the status.
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
    // A bit without a field would look as if it were obeyed.
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
        count: count(info.count),
        keys: range(info.keys),
        values: range(info.values),
        keys_out: range(info.keys_out),
        values_out: range(info.values_out),
        key_stride: info.key_stride,
        value_stride: info.value_stride,
        segments: segments(info.segments),
        low: info.low,
        width: info.width,
        splitters: range(info.splitters),
        bucket_ids: range(info.bucket_ids),
        starts: range(info.starts),
        user_address: info.user_address,
        user_words: info.user_words,
        offsets: range(info.offsets),
        counts: range(info.counts),
        commands: range(info.commands),
        command_items: info.command_items,
        scratch: scratch(info.scratch),
        status: info.status,
        timestamps: timestamps(info.timestamps),
    }
}

#[cfg(feature = "split")]
impl ProblemInfo for TrmSplitInfo {
    unsafe fn check_handle(&self) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { object("splitter", self.splitter) }.map(drop)
    }

    unsafe fn request<'a>(&self) -> Request<'a> {
        // SAFETY: the caller's promise.
        Request::Split(unsafe { &(*self.splitter).0 }, split_info(self))
    }
}
