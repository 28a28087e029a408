//! The structs, flags and handle of mergers.

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

    pub(crate) type TrmMergeMethod = i32;
    pub(crate) type TrmMergeOperation = i32;
}

/// The algorithm of a merge. All of them write the same bytes. Those besides TRM_MERGE_METHOD_PATH are the kernels of
/// Kirk and Hwu, "Programming Massively Parallel Processors", chapter "Merge". They exist for comparison.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmMergeMethod {
    /// Merge path: each workgroup merges one tile of the output, and loads the items of this tile only.
    Path = 0,
    /// Each thread finds its own co-rank and merges its items in device memory. One dispatch, without scratch.
    Basic = 1,
    /// Each workgroup merges a section of the output, one tile after the other. For each tile it loads as many keys of
    /// either sequence as the tile may take, twice as many as it takes. One dispatch, without scratch.
    Tiled = 2,
    /// As TRM_MERGE_METHOD_TILED, with the items that a tile leaves kept in shared memory, in circular buffers.
    CircularBuffer = 3,
}

/// The result of a merger.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmMergeOperation {
    /// The merge of A and B. Of equal keys, those of A come first.
    Merge = 0,
    /// For each key of A, the number of keys of B before it, as a uint32_t: the first index where inserting the key
    /// keeps B sorted. The keys of A may have any order.
    LowerBound = 1,
    /// For each key of A, the number of keys of B that do not come after it, as a uint32_t: the last index where
    /// inserting the key keeps B sorted. The keys of A may have any order.
    UpperBound = 2,
    /// The items that are in A or in B, sorted: of m copies of a key in A and n in B, all of A and the last
    /// max(n - m, 0) of B, as std::set_union.
    Union = 3,
    /// The items of A that are also in B: of m copies in A and n in B, the first min(m, n) of A, as
    /// std::set_intersection.
    Intersection = 4,
    /// The items of A that are not in B: of m copies in A and n in B, the last max(m - n, 0) of A, as
    /// std::set_difference.
    Difference = 5,
    /// The items that are in one sequence only: of m copies in A and n in B, the last m - n of A or the last n - m of
    /// B, as std::set_symmetric_difference.
    SymmetricDifference = 6,
    /// The merge of B and those items of A that are not marked: TrmMergeInfo::marks has a bit for each item of A.
    Update = 7,
    /// As TRM_MERGE_OPERATION_UPDATE, with a bit for each value: an item of A is marked if its value is.
    UpdateByValue = 8,
    /// The first item of each run of equal keys in A, as std::unique: a set operation of A alone. countB.max is 0. A
    /// may have any order: items of a run are neighbors.
    Unique = 9,
}

/// Flag in TrmMergerCreateInfo::flags: the resulting keys are not written, only the values. keysOut is ignored. With
/// TRM_VALUE_TYPE_NONE only available for set operations, which then write only countOut and the status.
pub const TRM_MERGER_CREATE_DROP_KEYS_BIT: u32 = 1;

/// Flag in TrmMergerCreateInfo::flags: the merger may be used in batches of several problems. Needs up to twice as many
/// pipelines.
pub const TRM_MERGER_CREATE_BATCHES_BIT: u32 = 2;

/// Flag in TrmMergerCreateInfo::flags: creation returns without pipelines. Threads that call trmCompileMerger() create
/// them.
pub const TRM_MERGER_CREATE_DEFERRED_BIT: u32 = 4;

/// Flag in TrmMergerCreateInfo::flags: both sequences consist of segments: TrmMergeInfo::segments. For merges and
/// updates by merge path.
pub const TRM_MERGER_CREATE_SEGMENTED_BIT: u32 = 8;

/// All bits of TrmMergerCreateInfo::flags.
/// cbindgen:ignore
#[cfg(feature = "merge")]
pub(in crate::capi) const MERGER_CREATE_BITS: u32 = TRM_MERGER_CREATE_DROP_KEYS_BIT
    | TRM_MERGER_CREATE_BATCHES_BIT
    | TRM_MERGER_CREATE_DEFERRED_BIT
    | TRM_MERGER_CREATE_SEGMENTED_BIT;

/// Bit in an index that a merger with TRM_VALUE_TYPE_INDEX writes: the item comes from sequence B, otherwise from A.
// As a literal: 1 << 31 is negative in C.
pub const TRM_SOURCE_B: u32 = 0x8000_0000;
const _: () = assert!(TRM_SOURCE_B == crate::SOURCE_B, "kernels write another bit");

/// The pipelines for merges with one key type, value type, order and layout. Immutable: any number of threads may use
/// it at once.
pub type TrmMerger = *mut TrmMerger_T;

#[derive(Debug)]
pub struct TrmMerger_T(#[cfg(feature = "merge")] pub(super) crate::Merger);

/// The parameters of trmCreateMerger(). If all members but sType and structSize are zero, the merger merges uint32_t
/// keys without values in ascending order.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmMergerCreateInfo {
    /// TRM_STRUCTURE_TYPE_MERGER_CREATE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// Keys have 32 bits or more.
    pub key_type: raw::TrmKeyType,
    /// With TRM_VALUE_TYPE_INDEX, the merge writes for each item of the result the index of the item in its sequence.
    /// Items of B have the bit TRM_SOURCE_B as well.
    pub value_type: raw::TrmValueType,
    /// Size of a value in bytes, for TRM_VALUE_TYPE_BYTES; otherwise 0.
    pub value_size: u32,
    /// TRM_MERGER_CREATE_..._BIT flags or 0.
    pub flags: u32,
    /// The order of both sequences and of the result.
    pub order: raw::TrmOrder,
    /// The layout of items in all arrays. Interleaved items have values of 4 to 16 bytes, and keys are not dropped.
    /// TRM_LAYOUT_STRIDED is not available.
    pub layout: raw::TrmLayout,
    /// Maximum count of any operation, of all sequences together. 0: the largest, which is 2^32 - 1, or 2^31 with
    /// TRM_VALUE_TYPE_INDEX.
    pub max_count: u32,
    /// The algorithm of merges. Other methods than TRM_MERGE_METHOD_PATH merge two sequences, without segments and
    /// without a comparator.
    pub method: raw::TrmMergeMethod,
    /// The operation. For bounds, valueType, layout and method are 0, and keys are not dropped. For set operations and
    /// updates, method is 0. TRM_MERGE_OPERATION_UPDATE_BY_VALUE needs values of 4 bytes.
    pub operation: raw::TrmMergeOperation,
    /// Most sequences of one merge, up to 16: those after A and B are in TrmMergeInfo::moreSequences. 0: two. More than
    /// two are for merges with TRM_MERGE_METHOD_PATH, without segments, without a comparator and not with
    /// TRM_VALUE_TYPE_INDEX.
    pub sequence_count: u32,
}

/// The segments of both sequences. Offsets are read on the device; nothing is read back to the host.
///
/// A segment of A has the items from its offset up to the next offset, and the same segment of B likewise; the first
/// segment begins with the first item of the array. Offsets are non-decreasing; segments may be empty. Items from the
/// last offset on belong to no segment and are not merged. A segment of the output is the merge of both, and begins at
/// the sum of their offsets, or earlier if preceding items are removed by an update. The first offset is taken as 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmMergeSegments {
    /// The number of segments, less than 2^30.
    pub count: Count,
    /// count.max + 1 words: one more than the number of segments.
    pub offsets_a: Range,
    /// As offsetsA, for B.
    pub offsets_b: Range,
    /// Receives the offsets of segments in the output, as many words. {0, 0}: not written.
    pub offsets_out: Range,
}

/// A sorted sequence after A and B.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmMergeSequence {
    /// Number of items.
    pub count: Count,
    /// count.max keys, or {key, value} items if interleaved. Only read. May overlap other sequences.
    pub keys: Range,
    /// count.max values. Ignored without values and with interleaved items.
    pub values: Range,
}

/// The parameters of one merge, set operation, update or search. All sequences are sorted in the merger's order; for
/// bounds, only B must be; for unique items, A need not be; with segments, each segment must be. Otherwise the content
/// of the outputs is undefined. Memory outside the ranges is never accessed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmMergeInfo {
    /// TRM_STRUCTURE_TYPE_MERGE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// In a batch: the merger. For trmCmdMerge(): NULL, or the same merger.
    pub merger: TrmMerger,
    /// Number of items of sequence A.
    pub count_a: Count,
    /// Number of items of sequence B. The maxima of all sequences together are at most the merger's maxCount. For
    /// unique items, the maximum is 0.
    pub count_b: Count,
    /// countA.max keys, or {key, value} items if interleaved. Only read.
    pub keys_a: Range,
    /// countA.max values. Ignored without values, with interleaved items and with TRM_VALUE_TYPE_INDEX.
    pub values_a: Range,
    /// As keysA, for B. May overlap the arrays of A.
    pub keys_b: Range,
    /// As valuesA, for B.
    pub values_b: Range,
    /// The resulting keys or items: room for the maxima of all sequences together; for an intersection, for the smaller
    /// one of both; for a difference and for unique items, for countA.max. If the result has fewer items, the rest is
    /// not written. Ignored if keys are dropped, and for bounds.
    pub keys_out: Range,
    /// For bounds: countA.max words, the bound of each key of A. Otherwise the resulting values, or indices with
    /// TRM_VALUE_TYPE_INDEX: as many as in keysOut. Ignored without values and with interleaved items.
    pub values_out: Range,
    /// trmGetMergerScratch() bytes or more. Not used in a batch, which has its own scratch.
    pub scratch: Scratch,
    /// Device address of a uint32_t that receives TRM_STATUS_COUNT_CLAMPED or 0. 0: no status.
    pub status: VkDeviceAddress,
    /// trmGetMergerTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
    /// Device address of a uint32_t that receives the number of items of the result: never more than the output has
    /// room for, even if sequences are not sorted. 0: not written. Required if only this number is written.
    pub count_out: VkDeviceAddress,
    /// The segments, for a merger with TRM_MERGER_CREATE_SEGMENTED_BIT: then both counts are the lengths of the arrays,
    /// known on the host. Otherwise zeros.
    pub segments: TrmMergeSegments,
    /// The marked items, for updates. Bit i % 32 of word i / 32 is that of item i of A: one word for each 32 of
    /// countA.max items. With TRM_MERGE_OPERATION_UPDATE_BY_VALUE that of value i: as many words as the range has, and
    /// larger values are not marked. Otherwise zeros.
    pub marks: Range,
    /// For trmCreateMergerFromGlsl() and trmCreateMergerFromSpirv(): data.address in the comparator, the address of
    /// additional input. The merge must not write to it. Otherwise 0.
    pub user_address: VkDeviceAddress,
    /// For the same mergers: data.words in the comparator. Otherwise zeros.
    pub user_words: [u32; 4],
    /// Number of sequences after A and B: at most the merger's sequenceCount - 2.
    pub more_sequence_count: u32,
    /// The sequences after A and B, in order: of equal keys, those of earlier sequences come first. NULL without any.
    /// Calls only read them.
    pub more_sequences: *const TrmMergeSequence,
}

infos! {
    TrmMergerCreateInfo: MergerCreateInfo,
    TrmMergeInfo: MergeInfo,
}

declarations! {
    structs {
        TrmMergerCreateInfo {
            s_type, struct_size, p_next, key_type, value_type, value_size, flags, order, layout, max_count, method,
            operation, sequence_count
        }
        TrmMergeInfo {
            s_type, struct_size, p_next, merger, count_a, count_b, keys_a, values_a, keys_b, values_b, keys_out,
            values_out, scratch, status, timestamps, count_out, segments, marks, user_address, user_words,
            more_sequence_count, more_sequences
        }
        TrmMergeSequence { count, keys, values }
        TrmMergeSegments { count, offsets_a, offsets_b, offsets_out }
    }
    values {
        "TRM_MERGER_CREATE_DROP_KEYS_BIT" = TRM_MERGER_CREATE_DROP_KEYS_BIT,
        "TRM_MERGER_CREATE_BATCHES_BIT" = TRM_MERGER_CREATE_BATCHES_BIT,
        "TRM_MERGER_CREATE_DEFERRED_BIT" = TRM_MERGER_CREATE_DEFERRED_BIT,
        "TRM_MERGER_CREATE_SEGMENTED_BIT" = TRM_MERGER_CREATE_SEGMENTED_BIT,
        "TRM_SOURCE_B" = TRM_SOURCE_B,
        "TRM_MERGE_METHOD_PATH" = TrmMergeMethod::Path,
        "TRM_MERGE_METHOD_BASIC" = TrmMergeMethod::Basic,
        "TRM_MERGE_METHOD_TILED" = TrmMergeMethod::Tiled,
        "TRM_MERGE_METHOD_CIRCULAR_BUFFER" = TrmMergeMethod::CircularBuffer,
        "TRM_MERGE_OPERATION_MERGE" = TrmMergeOperation::Merge,
        "TRM_MERGE_OPERATION_LOWER_BOUND" = TrmMergeOperation::LowerBound,
        "TRM_MERGE_OPERATION_UPPER_BOUND" = TrmMergeOperation::UpperBound,
        "TRM_MERGE_OPERATION_UNION" = TrmMergeOperation::Union,
        "TRM_MERGE_OPERATION_INTERSECTION" = TrmMergeOperation::Intersection,
        "TRM_MERGE_OPERATION_DIFFERENCE" = TrmMergeOperation::Difference,
        "TRM_MERGE_OPERATION_SYMMETRIC_DIFFERENCE" = TrmMergeOperation::SymmetricDifference,
        "TRM_MERGE_OPERATION_UPDATE" = TrmMergeOperation::Update,
        "TRM_MERGE_OPERATION_UPDATE_BY_VALUE" = TrmMergeOperation::UpdateByValue,
        "TRM_MERGE_OPERATION_UNIQUE" = TrmMergeOperation::Unique,
        "TRM_STRUCTURE_TYPE_MERGER_CREATE_INFO" = TrmStructureType::MergerCreateInfo,
        "TRM_STRUCTURE_TYPE_MERGE_INFO" = TrmStructureType::MergeInfo,
    }
}
