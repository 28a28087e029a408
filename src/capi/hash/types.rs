//! The structs, flags and handle of hashers.

use crate::capi::TrmStructureType;
use crate::capi::info::infos;
use crate::capi::layout::declarations;
use crate::capi::types::{TrmTimestamps, VkDeviceAddress};
use crate::{Count, Range, Scratch};
use std::ffi::c_void;

/// The types of enums, as in `types::raw`.
/// cbindgen:ignore
pub(super) mod raw {
    pub(in crate::capi) use crate::capi::radix::raw::*;

    pub(crate) type TrmHashOperation = i32;
    pub(crate) type TrmHashScheme = i32;
}

/// How a table finds the slots of keys.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmHashScheme {
    /// Buckets of 64 or 128 bytes in slices of 1024 slots. Changes sort their keys by slice, and one workgroup applies
    /// those of a slice. The fastest scheme for large batches.
    Bucketed = 0,
    /// Linear probing: a key lies in the first slot that was free, from the one on that its hash selects. Capacities
    /// are powers of two. Its kernels are few and small, it needs no sort but for TRM_HASH_OPERATION_MIXED, and its
    /// operations can run at the same time (TRM_HASHER_CREATE_CONCURRENT_BIT). Searches become slow above a load of
    /// 0.8.
    Linear = 1,
}

/// What a hasher does to a table.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmHashOperation {
    /// Inserts the keys that the table does not have, with their values. Of equal keys of a batch, the first one is
    /// inserted. Keys of the table keep their values.
    Insert = 0,
    /// Makes the table empty. A table is cleared before its first use.
    Clear = 1,
    /// Inserts keys with their values, and replaces the values of keys that the table has. Of equal keys of a batch,
    /// the last one provides the value.
    Assign = 2,
    /// Removes keys.
    Erase = 3,
    /// Writes for each key whether the table has it, and its value.
    Find = 4,
    /// Inserts keys with their values, or adds the values to those that the table has: modulo 2^32 or 2^64. Equal keys
    /// of a batch receive the sum of their values. Values have 4 or 8 bytes, as for the operations that follow.
    Add = 5,
    /// As TRM_HASH_OPERATION_ADD: the smaller one of two unsigned values remains.
    Min = 6,
    /// As TRM_HASH_OPERATION_ADD: the larger one of two unsigned values remains.
    Max = 7,
    /// As TRM_HASH_OPERATION_ADD, with the bitwise and of two values.
    And = 8,
    /// As TRM_HASH_OPERATION_ADD, with the bitwise or of two values.
    Or = 9,
    /// As TRM_HASH_OPERATION_ADD, of ones: counts the occurrences of each key. Values of the batch are not read.
    Increment = 10,
    /// Writes all keys of the table and their values, in any order.
    Export = 11,
    /// Writes how full the table is and how many probes its keys take: TrmHashStatistics.
    Statistics = 12,
    /// As TRM_HASH_OPERATION_INSERT. Then writes for each key the value that the table has, which may be that of an
    /// earlier insertion.
    FindOrInsert = 13,
    /// Makes the table empty and inserts all keys and values of another table, which may have another capacity.
    Rehash = 14,
    /// Writes for each key how many values a multimap has: TRM_HASHER_CREATE_MULTIMAP_BIT.
    Count = 15,
    /// Writes for each key all values that a multimap has, one key's behind the other's, and the offset of each key.
    Retrieve = 16,
    /// Removes the keys with values from TrmHashInfo::minValue to TrmHashInfo::maxValue. Values have 4 or 8 bytes, as
    /// for TRM_HASH_OPERATION_EXPORT_IF.
    EraseIf = 17,
    /// As TRM_HASH_OPERATION_EXPORT, of the keys with values from TrmHashInfo::minValue to TrmHashInfo::maxValue.
    ExportIf = 18,
    /// Changes the number of slots of a resizable table (TRM_HASHER_CREATE_RESIZABLE_BIT) if it is too full or too
    /// empty. The device decides: see TrmHashInfo::reserve.
    Resize = 19,
    /// Finds, inserts, assigns or erases each key, as its opcode says (TrmHashInfo::opcodes): as if in the order of the
    /// batch. Writes for each key whether the table had it before its operation, and the value.
    Mixed = 20,
    /// As TRM_HASH_OPERATION_INSERT. Of equal keys of a batch, the last one is inserted.
    InsertLast = 21,
}

/// Opcode of a key of TRM_HASH_OPERATION_MIXED, in the lower two bits of a uint32_t: looks the key up. Does not change
/// the table.
pub const TRM_HASH_OPCODE_FIND: u32 = 0;

/// Opcode: inserts the key with its value. A key of the table keeps its value.
pub const TRM_HASH_OPCODE_INSERT: u32 = 1;

/// Opcode: inserts the key with its value, or replaces the value that the table has.
pub const TRM_HASH_OPCODE_ASSIGN: u32 = 2;

/// Opcode: removes the key.
pub const TRM_HASH_OPCODE_ERASE: u32 = 3;

#[cfg(feature = "hash")]
const _: () = {
    let opcodes = [TRM_HASH_OPCODE_FIND, TRM_HASH_OPCODE_INSERT, TRM_HASH_OPCODE_ASSIGN, TRM_HASH_OPCODE_ERASE];
    let mut i = 0;
    while i < opcodes.len() {
        assert!(opcodes[i] == crate::HashOpcode::ALL[i] as u32, "kernels read others");
        i += 1;
    }
};

/// Flag in TrmHasherCreateInfo::flags: the hasher may be used in batches of several problems.
pub const TRM_HASHER_CREATE_BATCHES_BIT: u32 = 1;

/// Flag in TrmHasherCreateInfo::flags: creation returns without pipelines. Threads that call trmCompileHasher() create
/// them.
pub const TRM_HASHER_CREATE_DEFERRED_BIT: u32 = 2;

/// Flag in TrmHasherCreateInfo::flags: other concurrent operations may change the table at the same time, which are
/// problems of one batch, operations without a barrier between them, or shaders of the application. For
/// TRM_HASH_OPERATION_INSERT, _ASSIGN, _ERASE and _FIND on TRM_HASH_SCHEME_LINEAR tables, with keys of 4 bytes and
/// values of at most 4. Of equal keys, any one provides the value. A search takes keys with a value of all ones as
/// absent: they may be about to be inserted. So the application must not insert values of all ones. Of the two largest
/// keys, a search may find an earlier value while the key is inserted again. Values are not published by a release:
/// data that a value is an index of need a barrier of the application. Slots of erased keys are not used again.
pub const TRM_HASHER_CREATE_CONCURRENT_BIT: u32 = 4;

/// Flag in TrmHasherCreateInfo::flags: the table may have a key several times, with a value each.
/// TRM_HASH_OPERATION_INSERT inserts all items of a batch, TRM_HASH_OPERATION_ERASE removes all values of a key, and
/// TRM_HASH_OPERATION_FIND writes any one. TRM_HASH_OPERATION_COUNT and TRM_HASH_OPERATION_RETRIEVE write how many
/// there are, and all of them. The other operations are TRM_HASH_OPERATION_CLEAR, _ERASE_IF, _EXPORT, _EXPORT_IF,
/// _REHASH, _RESIZE and _STATISTICS. For TRM_HASH_SCHEME_LINEAR. The times of all operations on a key grow with the
/// number of its values, of which there are at most 16384.
pub const TRM_HASHER_CREATE_MULTIMAP_BIT: u32 = 8;

/// Flag in TrmHasherCreateInfo::flags: the number of slots of the table is in the table, from TrmHashInfo::minCapacity
/// to TrmHashInfo::capacity, for which it has memory. TRM_HASH_OPERATION_RESIZE changes it. All hashers of such a table
/// have this flag.
pub const TRM_HASHER_CREATE_RESIZABLE_BIT: u32 = 16;

/// Flag in TrmHasherCreateInfo::flags: the operation is for those keys of a batch that TrmHashInfo::stencil selects, as
/// if the batch had no others. TRM_HASH_OPERATION_FIND, _FIND_OR_INSERT, _COUNT and _RETRIEVE write results for all
/// keys: the others are taken as absent. TRM_STATUS_COUNT_CLAMPED is about all keys of the batch. For operations that
/// read keys, but for TRM_HASH_OPERATION_MIXED. Hashers with and without this flag work on the same tables.
pub const TRM_HASHER_CREATE_STENCIL_BIT: u32 = 32;

/// All bits of TrmHasherCreateInfo::flags.
/// cbindgen:ignore
#[cfg(feature = "hash")]
pub(in crate::capi) const HASHER_CREATE_BITS: u32 = TRM_HASHER_CREATE_BATCHES_BIT
    | TRM_HASHER_CREATE_DEFERRED_BIT
    | TRM_HASHER_CREATE_CONCURRENT_BIT
    | TRM_HASHER_CREATE_MULTIMAP_BIT
    | TRM_HASHER_CREATE_RESIZABLE_BIT
    | TRM_HASHER_CREATE_STENCIL_BIT;

/// Bit in the status word of an insertion: some key has found no slot. The left over keys are those that
/// TrmHashInfo::leftoverKeys receives.
pub const TRM_STATUS_TABLE_FULL: u32 = 8;
const _: () = assert!(TRM_STATUS_TABLE_FULL == crate::STATUS_TABLE_FULL, "kernels write another bit");

/// The pipelines for one operation on tables with one key type and value type. Immutable: any number of threads may use
/// it at once.
pub type TrmHasher = *mut TrmHasher_T;

#[derive(Debug)]
pub struct TrmHasher_T(#[cfg(feature = "hash")] pub(super) crate::Hasher);

/// The parameters of trmCreateHasher(). If all members but sType and structSize are zero, the hasher inserts into sets
/// of uint32_t keys. Hashers with the same types of keys and values, with the same scheme and with the same
/// TRM_HASHER_CREATE_MULTIMAP_BIT and TRM_HASHER_CREATE_RESIZABLE_BIT work on the same tables.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmHasherCreateInfo {
    /// TRM_STRUCTURE_TYPE_HASHER_CREATE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// Keys have 32 bits or more. They are equal if their bits are.
    pub key_type: raw::TrmKeyType,
    /// TRM_VALUE_TYPE_NONE for a set. Values have at most 16 bytes. TRM_VALUE_TYPE_INDEX is not available.
    pub value_type: raw::TrmValueType,
    /// Size of a value in bytes, for TRM_VALUE_TYPE_BYTES; otherwise 0.
    pub value_size: u32,
    /// TRM_HASHER_CREATE_..._BIT flags or 0.
    pub flags: u32,
    /// The operation.
    pub operation: raw::TrmHashOperation,
    /// Maximum count of a batch. 0: 2^30, the largest.
    pub max_count: u32,
    /// Maximum capacity of a table. 0: the largest. It is 2^31, or 2^30 with linear probing or if key and value have
    /// more than 16 bytes together. Changes of bucketed tables of at most 1024 slots need no sort, and those of at most
    /// 2^18 one pass of it instead of two. TRM_HASH_OPERATION_MIXED sorts in any case.
    pub max_capacity: u32,
    /// The scheme of the table.
    pub scheme: raw::TrmHashScheme,
}

/// The parameters of trmCmdHash(), or of one problem of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmHashInfo {
    /// TRM_STRUCTURE_TYPE_HASH_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// In a batch: the problem's hasher. For trmCmdHash(): NULL, or the hasher given.
    pub hasher: TrmHasher,
    /// The table: trmGetHasherTableSize() bytes or more, aligned to 16 bytes. For speed: to 64 bytes, or to 128 if key
    /// and value have more than 16 bytes together.
    pub table: Range,
    /// The number of slots that the table was cleared with, from 1 to the hasher's maxCapacity. All operations on a
    /// table have the same capacity. Of a resizable table, the largest number of slots.
    pub capacity: u32,
    /// For resizable tables: the number of slots after TRM_HASH_OPERATION_CLEAR, and the smallest one after
    /// TRM_HASH_OPERATION_REHASH, which has room for 2 * count.max keys if capacity suffices, and after
    /// TRM_HASH_OPERATION_RESIZE. 0: capacity. Otherwise not used.
    pub min_capacity: u32,
    /// Number of keys, at most the hasher's maxCount. For TRM_HASH_OPERATION_EXPORT and TRM_HASH_OPERATION_EXPORT_IF:
    /// the number of keys that the arrays have room for, on the host. For TRM_HASH_OPERATION_REHASH: the most keys that
    /// source may have, on the host. For TRM_HASH_OPERATION_ERASE_IF: the most keys that are removed, on the host. For
    /// TRM_HASH_OPERATION_RESIZE: the most keys that are moved, on the host. Zeros for TRM_HASH_OPERATION_CLEAR and
    /// TRM_HASH_OPERATION_STATISTICS, which have no keys.
    pub count: Count,
    /// count.max keys. TRM_HASH_OPERATION_EXPORT and TRM_HASH_OPERATION_EXPORT_IF write them; other operations read
    /// them. Not used by TRM_HASH_OPERATION_REHASH, TRM_HASH_OPERATION_RESIZE and TRM_HASH_OPERATION_ERASE_IF.
    pub keys: Range,
    /// count.max values. Insertions read them, but TRM_HASH_OPERATION_INCREMENT, TRM_HASH_OPERATION_REHASH and
    /// TRM_HASH_OPERATION_RESIZE do not. TRM_HASH_OPERATION_FIND writes the value of each key, or all ones if the table
    /// does not have the key. Exports write the value of each key. For both, zeros: values are not wanted. Otherwise
    /// not used.
    pub values: Range,
    /// For TRM_HASH_OPERATION_FIND, TRM_HASH_OPERATION_FIND_OR_INSERT and TRM_HASH_OPERATION_MIXED: count.max bits,
    /// rounded up to whole words. Bit i % 32 of word i / 32 is set if the table has key i: after the insertion of
    /// _FIND_OR_INSERT, and before the operation of the key of _MIXED, as if all keys had found a slot. Zeros: not
    /// wanted.
    pub found: Range,
    /// For insertions, which are all operations that insert keys: room for count.max keys. The device writes the keys
    /// that found no slot, in any order; of equal keys of the batch, each one. TRM_HASH_OPERATION_MIXED lists each key
    /// once. Its erased keys make room before others are inserted. Zeros: not wanted.
    pub leftover_keys: Range,
    /// As leftoverKeys, their values; of TRM_HASH_OPERATION_MIXED, those that the keys would have after the batch. Not
    /// used by TRM_HASH_OPERATION_INCREMENT.
    pub leftover_values: Range,
    /// For insertions: device address of a uint32_t that receives the number of keys that found no slot. 0: not wanted;
    /// then the left over keys are not written either.
    pub leftover_count: VkDeviceAddress,
    /// trmGetHasherScratch() bytes or more. In a batch: zeros.
    pub scratch: Scratch,
    /// Device address of a uint32_t that receives TRM_STATUS_COUNT_CLAMPED and TRM_STATUS_TABLE_FULL bits. 0: no
    /// status. Not written by TRM_HASH_OPERATION_CLEAR and TRM_HASH_OPERATION_STATISTICS. Exports and
    /// TRM_HASH_OPERATION_RETRIEVE write TRM_STATUS_OUTPUT_CLAMPED if the arrays have room for fewer keys or values
    /// than there are. TRM_HASH_OPERATION_REHASH writes TRM_STATUS_COUNT_CLAMPED if source has more than count.max
    /// keys: the table lacks the others then. TRM_HASH_OPERATION_ERASE_IF writes it if more keys are selected: the
    /// table has the others then. TRM_HASH_OPERATION_RESIZE writes it if the table has more keys, and stays as it is.
    pub status: VkDeviceAddress,
    /// trmGetHasherTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
    /// For TRM_HASH_OPERATION_EXPORT and TRM_HASH_OPERATION_EXPORT_IF: device address of a uint32_t that receives the
    /// number of keys that have been written. For TRM_HASH_OPERATION_RETRIEVE: the number of all values, also of those
    /// that have not been written. 0: not wanted.
    pub count_out: VkDeviceAddress,
    /// For TRM_HASH_OPERATION_STATISTICS: room for a TrmHashStatistics.
    pub statistics: Range,
    /// For TRM_HASH_OPERATION_FIND_OR_INSERT: count.max values. The device writes the value that the table has for each
    /// key, or all ones if the key found no slot. For TRM_HASH_OPERATION_MIXED: the value before the operation of the
    /// key, or all ones if the table did not have it, as if all keys had found a slot. For TRM_HASH_OPERATION_RETRIEVE:
    /// maxValues values. Zeros: not wanted.
    pub values_out: Range,
    /// For TRM_HASH_OPERATION_RETRIEVE: room for count.max + 1 words. The device writes the index of the first value of
    /// each key of the batch, and behind the last one the number of all values, at most 2^32 - 1.
    pub offsets: Range,
    /// For TRM_HASH_OPERATION_COUNT: room for count.max words. The device writes the number of values of each key.
    pub counts: Range,
    /// For TRM_HASH_OPERATION_REHASH: the table that is read. It does not overlap table.
    pub source: Range,
    /// The capacity of source; otherwise not used.
    pub source_capacity: u32,
    /// For TRM_HASH_OPERATION_RETRIEVE: the number of values that valuesOut has room for. Values beyond it are not
    /// written.
    pub max_values: u32,
    /// For TRM_HASH_OPERATION_ERASE_IF and TRM_HASH_OPERATION_EXPORT_IF: the smallest value that selects a key, as an
    /// unsigned number. Values of 4 bytes are compared with it as 64-bit numbers.
    pub min_value: u64,
    /// As minValue, the largest one.
    pub max_value: u64,
    /// For TRM_HASH_OPERATION_RESIZE: the number of keys that the table gets room for, beyond those that it has; on the
    /// host, or on the device and at most reserve.max.
    ///
    /// With these keys, the table is too full if more than three quarters of its slots are in use, those of erased keys
    /// included, and too empty if fewer than an eighth are. Then it gets as many slots as make the load one half, or
    /// the next number that is possible. It stays as it is if it has this number and fewer than an eighth of its slots
    /// are erased, and if it has more than count.max keys, which the status says.
    pub reserve: Count,
    /// With TRM_HASHER_CREATE_STENCIL_BIT: count.max bits, rounded up to whole words. Key i is selected if bit i % 32
    /// of word i / 32 is set. Otherwise not used.
    pub stencil: Range,
    /// For TRM_HASH_OPERATION_MIXED: count.max words. The device reads the opcode of each key, such as
    /// TRM_HASH_OPCODE_INSERT.
    pub opcodes: Range,
}

/// How full a table is, and how many probes its keys take: TRM_HASH_OPERATION_STATISTICS writes it to device memory. A
/// probe is what a search reads at a time: a bucket, or a slot of a table with linear probing. Keys in the header take
/// none and are not counted: all ones, and all ones but the last bit of the last word. In multimaps, and in other
/// tables with linear probing and keys of more than 4 bytes, all keys have slots.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmHashStatistics {
    /// Number of keys.
    pub keys: u32,
    /// Number of slots that erased keys have left. Insertions use them again, unless they are concurrent.
    pub erased_slots: u32,
    /// Number of slots, without those of overflow slices. Above 95 % of them in use, insertions may report keys as left
    /// over.
    pub slots: u32,
    /// Number of slots of overflow slices. 0 in a table with linear probing.
    pub overflow_slots: u32,
    /// Number of keys in overflow slices.
    pub overflow_keys: u32,
    /// Largest number of probes of a key.
    pub most_probes: u32,
    /// Sum of the numbers of probes of all keys.
    pub total_probes: u64,
    /// Element 0: number of keys with one probe. Element k: number of keys with more than 2^(k - 1) and at most 2^k
    /// probes.
    pub probes: [u32; 16],
}

#[cfg(feature = "hash")]
const _: () = assert!(size_of::<TrmHashStatistics>() == size_of::<crate::HashStatistics>(), "kernels write others");

infos! {
    TrmHasherCreateInfo: HasherCreateInfo,
    TrmHashInfo: HashInfo,
}

declarations! {
    structs {
        TrmHasherCreateInfo {
            s_type, struct_size, p_next, key_type, value_type, value_size, flags, operation, max_count, max_capacity,
            scheme
        }
        TrmHashInfo {
            s_type, struct_size, p_next, hasher, table, capacity, min_capacity, count, keys, values, found,
            leftover_keys, leftover_values, leftover_count, scratch, status, timestamps, count_out, statistics,
            values_out, offsets, counts, source, source_capacity, max_values, min_value, max_value, reserve,
            stencil, opcodes
        }
        TrmHashStatistics {
            keys, erased_slots, slots, overflow_slots, overflow_keys, most_probes, total_probes, probes
        }
    }
    values {
        "TRM_STATUS_TABLE_FULL" = TRM_STATUS_TABLE_FULL,
        "TRM_HASHER_CREATE_BATCHES_BIT" = TRM_HASHER_CREATE_BATCHES_BIT,
        "TRM_HASHER_CREATE_DEFERRED_BIT" = TRM_HASHER_CREATE_DEFERRED_BIT,
        "TRM_HASHER_CREATE_CONCURRENT_BIT" = TRM_HASHER_CREATE_CONCURRENT_BIT,
        "TRM_HASHER_CREATE_MULTIMAP_BIT" = TRM_HASHER_CREATE_MULTIMAP_BIT,
        "TRM_HASHER_CREATE_RESIZABLE_BIT" = TRM_HASHER_CREATE_RESIZABLE_BIT,
        "TRM_HASHER_CREATE_STENCIL_BIT" = TRM_HASHER_CREATE_STENCIL_BIT,
        "TRM_STRUCTURE_TYPE_HASHER_CREATE_INFO" = TrmStructureType::HasherCreateInfo,
        "TRM_STRUCTURE_TYPE_HASH_INFO" = TrmStructureType::HashInfo,
        "TRM_HASH_SCHEME_BUCKETED" = TrmHashScheme::Bucketed,
        "TRM_HASH_SCHEME_LINEAR" = TrmHashScheme::Linear,
        "TRM_HASH_OPERATION_INSERT" = TrmHashOperation::Insert,
        "TRM_HASH_OPERATION_CLEAR" = TrmHashOperation::Clear,
        "TRM_HASH_OPERATION_ASSIGN" = TrmHashOperation::Assign,
        "TRM_HASH_OPERATION_ERASE" = TrmHashOperation::Erase,
        "TRM_HASH_OPERATION_FIND" = TrmHashOperation::Find,
        "TRM_HASH_OPERATION_ADD" = TrmHashOperation::Add,
        "TRM_HASH_OPERATION_MIN" = TrmHashOperation::Min,
        "TRM_HASH_OPERATION_MAX" = TrmHashOperation::Max,
        "TRM_HASH_OPERATION_AND" = TrmHashOperation::And,
        "TRM_HASH_OPERATION_OR" = TrmHashOperation::Or,
        "TRM_HASH_OPERATION_INCREMENT" = TrmHashOperation::Increment,
        "TRM_HASH_OPERATION_EXPORT" = TrmHashOperation::Export,
        "TRM_HASH_OPERATION_STATISTICS" = TrmHashOperation::Statistics,
        "TRM_HASH_OPERATION_FIND_OR_INSERT" = TrmHashOperation::FindOrInsert,
        "TRM_HASH_OPERATION_REHASH" = TrmHashOperation::Rehash,
        "TRM_HASH_OPERATION_COUNT" = TrmHashOperation::Count,
        "TRM_HASH_OPERATION_RETRIEVE" = TrmHashOperation::Retrieve,
        "TRM_HASH_OPERATION_ERASE_IF" = TrmHashOperation::EraseIf,
        "TRM_HASH_OPERATION_EXPORT_IF" = TrmHashOperation::ExportIf,
        "TRM_HASH_OPERATION_RESIZE" = TrmHashOperation::Resize,
        "TRM_HASH_OPERATION_MIXED" = TrmHashOperation::Mixed,
        "TRM_HASH_OPERATION_INSERT_LAST" = TrmHashOperation::InsertLast,
        "TRM_HASH_OPCODE_FIND" = TRM_HASH_OPCODE_FIND,
        "TRM_HASH_OPCODE_INSERT" = TRM_HASH_OPCODE_INSERT,
        "TRM_HASH_OPCODE_ASSIGN" = TRM_HASH_OPCODE_ASSIGN,
        "TRM_HASH_OPCODE_ERASE" = TRM_HASH_OPCODE_ERASE,
    }
}
