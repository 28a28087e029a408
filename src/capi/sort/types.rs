//! The structs, flags and handle of sorters.

use crate::capi::TrmStructureType;
use crate::capi::info::infos;
use crate::capi::layout::declarations;
use crate::capi::radix::{TrmSegments, raw};
use crate::capi::types::{TrmTimestamps, VkDeviceAddress};
use crate::{Count, Range, Scratch};
use std::ffi::c_void;

/// Flag in TrmSorterCreateInfo::flags: the sorted keys are not needed. The last pass does not write them, and the
/// contents of the key array are undefined afterwards. With TRM_PLACEMENT_PRESERVE keysOut is ignored. Not available
/// with TRM_VALUE_TYPE_NONE, since nothing would be written.
pub const TRM_SORTER_CREATE_DROP_KEYS_BIT: u32 = 1;

/// Flag in TrmSorterCreateInfo::flags: the sorter sorts each segment of the arrays separately: TrmSortInfo::segments.
pub const TRM_SORTER_CREATE_SEGMENTED_BIT: u32 = 2;

/// Flag in TrmSorterCreateInfo::flags: the sorter may be used in batches of several problems. Needs about twice as many
/// pipelines.
pub const TRM_SORTER_CREATE_BATCHES_BIT: u32 = 4;

/// Flag in TrmSorterCreateInfo::flags: creation returns without pipelines. Threads that call trmCompileSorter() create
/// them.
pub const TRM_SORTER_CREATE_DEFERRED_BIT: u32 = 8;

/// All bits of TrmSorterCreateInfo::flags.
/// cbindgen:ignore
#[cfg(feature = "sort")]
pub(in crate::capi) const SORTER_CREATE_BITS: u32 = TRM_SORTER_CREATE_DROP_KEYS_BIT
    | TRM_SORTER_CREATE_SEGMENTED_BIT
    | TRM_SORTER_CREATE_BATCHES_BIT
    | TRM_SORTER_CREATE_DEFERRED_BIT;

/// The pipelines for sorts with one key type, value type, order, placement and layout. Immutable: any number of threads
/// may use it at once.
pub type TrmSorter = *mut TrmSorter_T;

#[derive(Debug)]
pub struct TrmSorter_T(#[cfg(feature = "sort")] pub(super) crate::Sorter);

/// The parameters of trmCreateSorter(). If all members but sType and structSize are zero, the sorter sorts uint32_t
/// keys without values, ascending and in place.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSorterCreateInfo {
    /// TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    pub key_type: raw::TrmKeyType,
    pub value_type: raw::TrmValueType,
    pub strategy: raw::TrmStrategy,
    /// TRM_SORTER_CREATE_..._BIT flags or 0.
    pub flags: u32,
    pub order: raw::TrmOrder,
    /// Size of a value in bytes, for TRM_VALUE_TYPE_BYTES; otherwise 0.
    pub value_size: u32,
    /// First bit to sort by, counted from the least significant bit of the encoded key. The encoding maps signed
    /// integers and floats to unsigned integers of the same order.
    pub begin_bit: u32,
    /// One past the last bit to sort by; 0: all bits from beginBit on.
    pub end_bit: u32,
    pub placement: raw::TrmPlacement,
    pub layout: raw::TrmLayout,
    /// Maximum count of any sort. 0: 2^30. Larger maxima need 64-bit addressing, which is slightly slower. They exclude
    /// keys narrower than 4 bytes and values of more than 16 bytes.
    pub max_count: u32,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// The parameters of one sort.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSortInfo {
    /// TRM_STRUCTURE_TYPE_SORT_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// In a batch: the sorter. For trmCmdSort(): NULL, or the same sorter.
    pub sorter: TrmSorter,
    /// Number of keys, at most the sorter's maxCount. With segments: the length of the arrays, known on the host
    /// (address is 0). Offsets past it are clamped and flagged in the status word.
    pub count: Count,
    /// count.max keys, or {key, value} items if interleaved. Overwritten unless placement preserves them. Bytes past
    /// the count or between keys are never written.
    pub keys: Range,
    /// count.max values, moved with their keys. Indices are written but not read. Ignored without values, with
    /// interleaved items, and if indices go to valuesOut.
    pub values: Range,
    /// trmGetSorterScratch() bytes or more. Not used in a batch, which has its own scratch.
    pub scratch: Scratch,
    /// Device address of a uint32_t that receives TRM_STATUS_... bits or 0. 0: no status.
    pub status: VkDeviceAddress,
    /// trmGetSorterTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
    /// count.max keys or interleaved items: the result with TRM_PLACEMENT_PRESERVE, the second array with
    /// TRM_PLACEMENT_DOUBLE_BUFFER. Otherwise ignored.
    pub keys_out: Range,
    /// As keysOut, for values.
    pub values_out: Range,
    /// For TRM_LAYOUT_STRIDED: bytes from one key to the next, a multiple of the alignment. Less than 2^16 words, or
    /// less than 2^16 bytes for keys narrower than a word. 0: dense, as in the other layouts.
    pub key_stride: u32,
    /// As keyStride, for values.
    pub value_stride: u32,
    /// The segments, for a sorter with TRM_SORTER_CREATE_SEGMENTED_BIT. Otherwise zeros.
    pub segments: TrmSegments,
    /// For trmCreateSorterFromGlsl() and trmCreateSorterFromSpirv(): data.address in the comparator, the address of
    /// additional input. The sort must not write to it. Otherwise 0.
    pub user_address: VkDeviceAddress,
    /// For the same sorters: data.words in the comparator. Otherwise zeros.
    pub user_words: [u32; 4],
}

infos! {
    TrmSorterCreateInfo: SorterCreateInfo,
    TrmSortInfo: SortInfo,
}

declarations! {
    structs {
        TrmSorterCreateInfo {
            s_type, struct_size, p_next, key_type, value_type, strategy, flags, order, value_size, begin_bit, end_bit,
            placement,
            layout, max_count, reserved
        }
        TrmSortInfo {
            s_type, struct_size, p_next, sorter, count, keys, values, scratch, status, timestamps, keys_out, values_out,
            key_stride, value_stride, segments, user_address, user_words
        }
    }
    values {
        "TRM_SORTER_CREATE_DROP_KEYS_BIT" = TRM_SORTER_CREATE_DROP_KEYS_BIT,
        "TRM_SORTER_CREATE_SEGMENTED_BIT" = TRM_SORTER_CREATE_SEGMENTED_BIT,
        "TRM_SORTER_CREATE_BATCHES_BIT" = TRM_SORTER_CREATE_BATCHES_BIT,
        "TRM_SORTER_CREATE_DEFERRED_BIT" = TRM_SORTER_CREATE_DEFERRED_BIT,
        "TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO" = TrmStructureType::SorterCreateInfo,
        "TRM_STRUCTURE_TYPE_SORT_INFO" = TrmStructureType::SortInfo,
    }
}
