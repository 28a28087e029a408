//! The C functions of hashers.

mod types;

pub use types::*;

use crate::capi::border::{border, create, destroy, if_built, write};
use crate::capi::types::{TrmDevice, VkBool32, VkCommandBuffer, VkDeviceSize, raw};
use std::ffi::c_void;
#[cfg(feature = "hash")]
use {
    crate::capi::batch::ProblemInfo,
    crate::capi::border::object,
    crate::capi::convert::{timestamps, value_of},
    crate::capi::info::{check_bits, read},
    crate::capi::radix::{key_type, value_type},
    crate::{Error, HashInfo, HashOperation, HashScheme, Hasher, HasherInfo, Request, Result},
    std::slice,
};

/// Creates a hasher with every pipeline that its operation can use: in batches of several problems only with
/// TRM_HASHER_CREATE_BATCHES_BIT. This is slow: create hashers once. Hashers with equal parameters share their
/// pipelines.
///
/// TrmDeviceCreateInfo::creationThreads threads create the pipelines and end before the call returns. If the system
/// creates no thread, the calling thread creates all pipelines. With TRM_HASHER_CREATE_DEFERRED_BIT the call creates no
/// pipelines: see trmCompileHasher().
///
/// @param hasher Destroy it with trmDestroyHasher() before the VkDevice; NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCreateHasher(
    device: TrmDevice,
    info: *const TrmHasherCreateInfo,
    hasher: *mut TrmHasher,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointers and handles are null or valid.
        unsafe {
            create("hasher", hasher, || {
                if_built!("hash", (device, info), {
                    let device = object("device", device)?;
                    Ok(TrmHasher_T(Hasher::new(&device.0, &hasher_info(&read("info", info)?)?)?))
                })
            })
        }
    })
}

/// Destroys a hasher, and its pipelines unless another hasher shares them. All command buffers recorded with it must
/// have finished execution and must not be submitted again. NULL is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmDestroyHasher(hasher: TrmHasher) {
    // SAFETY: the caller's handle is valid or null.
    unsafe { destroy(hasher) }
}

/// Creates pipelines of a hasher with TRM_HASHER_CREATE_DEFERRED_BIT on the calling thread, until every remaining
/// pipeline is created or in progress on another thread. Any number of threads may call it at once. The hasher is ready
/// when all calls have returned.
///
/// @return The VkResult if the creation of a pipeline failed. The next call tries again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCompileHasher(hasher: TrmHasher) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's handle is null or valid.
        if_built!("hash", (hasher), unsafe { object("hasher", hasher)? }.0.compile())
    })
}

/// Returns whether all pipelines have been created. Until then, recording an operation returns TRM_ERROR_NOT_READY.
/// Always VK_TRUE without TRM_HASHER_CREATE_DEFERRED_BIT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetHasherReady(hasher: TrmHasher, ready: *mut VkBool32) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("ready", ready, || if_built!("hash", (hasher), Ok(object("hasher", hasher)?.0.is_ready().into())))
        }
    })
}

/// Returns the bytes of a table with room for capacity keys, a multiple of 16. A table has slices of 1024 slots, at
/// least one, and an overflow slice for each 32 of them. An insertion that finds no slot reports the key as left over.
/// A TRM_HASH_SCHEME_LINEAR table has a power of two of slots, at least 1024.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetHasherTableSize(
    hasher: TrmHasher,
    capacity: u32,
    size: *mut VkDeviceSize,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("size", size, || {
                if_built!("hash", (hasher, capacity), Ok(object("hasher", hasher)?.0.table_size(capacity)))
            })
        }
    })
}

/// Checks that size bytes of host memory are a table of the hasher's types with this capacity, for instance one that
/// has been saved to a file. The version and the numbers of its header are compared with the slots, and each key must
/// lie where a search finds it. Values of keys can be anything. The time is that of one search on the CPU for each
/// key.
///
/// @param table trmGetHasherTableSize() bytes or more.
/// @return TRM_ERROR_TOO_SMALL if size is smaller; TRM_ERROR_MALFORMED if the bytes are no such table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCheckHasherTable(
    hasher: TrmHasher,
    capacity: u32,
    table: *const c_void,
    size: VkDeviceSize,
) -> raw::TrmResult {
    border(|| {
        if_built!("hash", (hasher, capacity, table, size), {
            // SAFETY: the caller's handle is null or valid.
            let hasher = unsafe { object("hasher", hasher)? };
            if table.is_null() {
                return Err(Error::Null { argument: "table" });
            }
            // As many bytes as the table has: the rest of the caller's memory is not read.
            let bytes = usize::try_from(size.min(hasher.0.table_size(capacity))).unwrap_or(isize::MAX as usize);
            // SAFETY: the caller's pointer is valid for as many bytes.
            hasher.0.check_table(capacity, unsafe { slice::from_raw_parts(table.cast(), bytes) })
        })
    })
}

/// Returns the bytes of scratch that suffice for every batch of at most maxCount keys. The size is non-decreasing in
/// maxCount. 0 for searches, for counts, for statistics and for clearing, 4 for an export. Changes of a table need 4 to
/// 32 bytes for each key, 4 or 8 for a TRM_HASH_SCHEME_LINEAR table. TRM_HASH_OPERATION_REHASH, _RESIZE and _ERASE_IF,
/// and changes with TRM_HASHER_CREATE_STENCIL_BIT, need room for the keys and values in addition,
/// TRM_HASH_OPERATION_RETRIEVE a word for each workgroup. TRM_HASH_OPERATION_MIXED needs 33 to 117 bytes for each key.
///
/// @param maxCount At most the hasher's maxCount.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetHasherScratch(
    hasher: TrmHasher,
    max_count: u32,
    size: *mut VkDeviceSize,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("size", size, || {
                if_built!("hash", (hasher, max_count), object("hasher", hasher)?.0.scratch_size(max_count))
            })
        }
    })
}

/// Returns the number of queries that TrmHashInfo::timestamps needs for a batch of exactly maxCount keys: one before
/// the first pass and one after each pass. All are written. Queries of passes that the operation does not need receive
/// the time of its end.
///
/// @param maxCount At most the hasher's maxCount.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmGetHasherTimestampCount(
    hasher: TrmHasher,
    max_count: u32,
    count: *mut u32,
) -> raw::TrmResult {
    border(|| {
        // SAFETY: the caller's pointer and handle are null or valid.
        unsafe {
            write("count", count, || {
                if_built!("hash", (hasher, max_count), object("hasher", hasher)?.0.timestamp_count(max_count))
            })
        }
    })
}

/// Appends an operation on a table to commandBuffer. Keys and values of the table are the same on every device
/// afterwards, unless keys are left over, or TRM_HASH_OPERATION_REHASH or _ERASE_IF have more than count.max keys:
/// which ones is not determined. The places of keys in the table differ.
///
/// Example: the vertices of a mesh are inserted with their indices; of equal vertices, the first one.
/// @code{.c}
/// TrmHashInfo insert = {.sType = TRM_STRUCTURE_TYPE_HASH_INFO, .structSize = sizeof insert};
/// insert.table = table;
/// insert.capacity = 2000000;
/// insert.count.max = 1000000;
/// insert.keys = vertices;
/// insert.values = indices;
/// insert.scratch = scratch;
/// TrmResult result = trmCmdHash(commandBuffer, inserter, &insert);
/// @endcode
///
/// - Commands: one dispatch for TRM_HASH_OPERATION_FIND, _COUNT, _EXPORT and _CLEAR. Two for
///   TRM_HASH_OPERATION_STATISTICS and _EXPORT_IF, three for TRM_HASH_OPERATION_RETRIEVE. Exports also fill a word of
///   scratch. TRM_HASH_OPERATION_FIND_OR_INSERT is an insertion and a search, TRM_HASH_OPERATION_REHASH an export,
///   clearing and an insertion, TRM_HASH_OPERATION_RESIZE the same behind a dispatch that decides, and
///   TRM_HASH_OPERATION_ERASE_IF an export and an erasure. TRM_HASH_OPERATION_MIXED is a search, a sort by numbers that
///   identify keys, five dispatches around it, an erasure and an assignment, which need no sort; for keys of more than
///   8 bytes, it also fills words of scratch. Otherwise the hashes of the keys, a sort by their first bits, and two
///   more, with barriers between them. Changes of TRM_HASH_SCHEME_LINEAR tables are one to three dispatches. With
///   TRM_HASHER_CREATE_STENCIL_BIT, and in a mixed batch, changes have three dispatches before these. Timestamps and
///   labels if requested.
/// - First access: COMPUTE_SHADER, SHADER_STORAGE_READ on keys, on values that are read, on counts, on opcodes, on the
///   stencil and on source, SHADER_STORAGE_READ | SHADER_STORAGE_WRITE on the table and on scratch,
///   SHADER_STORAGE_WRITE on outputs.
///   TRM_HASH_OPERATION_FIND, _COUNT, _RETRIEVE, _EXPORT, _EXPORT_IF and _STATISTICS only read the table.
///   Operations that export keys, also to scratch, and mixed batches of keys of more than 8 bytes have ALL_TRANSFER,
///   TRANSFER_WRITE on scratch.
/// - Last access: COMPUTE_SHADER, SHADER_STORAGE_READ | SHADER_STORAGE_WRITE.
/// - Synchronization: the caller records a barrier before the operation (writes of the inputs and of the table) and
///   after it (uses of the table, reads of the outputs). Two calls with the same scratch need a barrier between them
///   as well. For operations with transfers, the barrier for scratch includes ALL_TRANSFER.
/// - State: the compute pipeline and the push constants are overwritten. Graphics state and descriptor sets are not
///   changed.
/// - Waiting: as trmCmdSort().
///
/// @param commandBuffer In the recording state, primary or secondary, outside a render pass, for a queue family with
///   compute; externally synchronized.
/// @param info Written ranges must not overlap any other range. Unless this operation clears it, the table was cleared
///   with the same capacity by a hasher with the same types, scheme and flags (multimap, resizable), and only hashers
///   have written it since; or it is a copy of such a table, or TRM_HASH_OPERATION_REHASH has written it. The same
///   holds for source and its capacity.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn trmCmdHash(
    command_buffer: VkCommandBuffer,
    hasher: TrmHasher,
    info: *const TrmHashInfo,
) -> raw::TrmResult {
    border(|| {
        if_built!("hash", (command_buffer, hasher, info), {
            // SAFETY: the caller's pointers and handles are null or valid.
            let (object, info) = unsafe { (object("hasher", hasher)?, read("info", info)?) };
            if !info.hasher.is_null() && info.hasher != hasher {
                return Err(Error::Malformed {
                    argument: "info.hasher",
                    why: "it is neither NULL nor the hasher given".into(),
                });
            }
            // SAFETY: the caller's promises are the same.
            unsafe { object.0.cmd_hash(command_buffer, &hash_info(&info)) }
        })
    })
}

#[cfg(feature = "hash")]
fn hasher_info(info: &TrmHasherCreateInfo) -> Result<HasherInfo> {
    check_bits("flags", info.flags, HASHER_CREATE_BITS)?;
    let schemes =
        [(TrmHashScheme::Bucketed as i32, HashScheme::Bucketed), (TrmHashScheme::Linear as i32, HashScheme::Linear)];
    let operations = [
        (TrmHashOperation::Insert as i32, HashOperation::Insert),
        (TrmHashOperation::Clear as i32, HashOperation::Clear),
        (TrmHashOperation::Assign as i32, HashOperation::Assign),
        (TrmHashOperation::Erase as i32, HashOperation::Erase),
        (TrmHashOperation::Find as i32, HashOperation::Find),
        (TrmHashOperation::Add as i32, HashOperation::Add),
        (TrmHashOperation::Min as i32, HashOperation::Min),
        (TrmHashOperation::Max as i32, HashOperation::Max),
        (TrmHashOperation::And as i32, HashOperation::And),
        (TrmHashOperation::Or as i32, HashOperation::Or),
        (TrmHashOperation::Increment as i32, HashOperation::Increment),
        (TrmHashOperation::Export as i32, HashOperation::Export),
        (TrmHashOperation::Statistics as i32, HashOperation::Statistics),
        (TrmHashOperation::FindOrInsert as i32, HashOperation::FindOrInsert),
        (TrmHashOperation::Rehash as i32, HashOperation::Rehash),
        (TrmHashOperation::Count as i32, HashOperation::Count),
        (TrmHashOperation::Retrieve as i32, HashOperation::Retrieve),
        (TrmHashOperation::EraseIf as i32, HashOperation::EraseIf),
        (TrmHashOperation::ExportIf as i32, HashOperation::ExportIf),
        (TrmHashOperation::Resize as i32, HashOperation::Resize),
        (TrmHashOperation::Mixed as i32, HashOperation::Mixed),
        (TrmHashOperation::InsertLast as i32, HashOperation::InsertLast),
    ];
    Ok(HasherInfo {
        key: key_type(info.key_type)?,
        value: value_type(info.value_type, info.value_size)?,
        operation: value_of("operation", info.operation, &operations)?,
        scheme: value_of("scheme", info.scheme, &schemes)?,
        concurrent: info.flags & TRM_HASHER_CREATE_CONCURRENT_BIT != 0,
        multimap: info.flags & TRM_HASHER_CREATE_MULTIMAP_BIT != 0,
        resizable: info.flags & TRM_HASHER_CREATE_RESIZABLE_BIT != 0,
        stencil: info.flags & TRM_HASHER_CREATE_STENCIL_BIT != 0,
        max_count: info.max_count,
        max_capacity: info.max_capacity,
        batches: info.flags & TRM_HASHER_CREATE_BATCHES_BIT != 0,
        deferred: info.flags & TRM_HASHER_CREATE_DEFERRED_BIT != 0,
    })
}

#[cfg(feature = "hash")]
fn hash_info(info: &TrmHashInfo) -> HashInfo {
    HashInfo {
        table: info.table,
        capacity: info.capacity,
        count: info.count,
        keys: info.keys,
        values: info.values,
        found: info.found,
        leftover_keys: info.leftover_keys,
        leftover_values: info.leftover_values,
        leftover_count: info.leftover_count,
        count_out: info.count_out,
        statistics: info.statistics,
        values_out: info.values_out,
        max_values: info.max_values,
        offsets: info.offsets,
        counts: info.counts,
        opcodes: info.opcodes,
        source: info.source,
        source_capacity: info.source_capacity,
        min_value: info.min_value,
        max_value: info.max_value,
        reserve: info.reserve,
        min_capacity: info.min_capacity,
        stencil: info.stencil,
        scratch: info.scratch,
        status: info.status,
        timestamps: timestamps(info.timestamps),
    }
}

#[cfg(feature = "hash")]
impl ProblemInfo for TrmHashInfo {
    unsafe fn check(&self) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { object("hasher", self.hasher) }.map(drop)
    }

    unsafe fn request<'a>(&self) -> Request<'a> {
        // SAFETY: the caller's promise.
        unsafe { Request::Hash(&(*self.hasher).0, hash_info(self)) }
    }
}
