//! Sizes, offsets and enum values of the ABI, as tables. A test compares them with those of C and C++ compilers.

use super::*;
use std::mem::{offset_of, size_of};

/// A member of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The name in Rust.
    pub name: &'static str,
    pub offset: usize,
    pub size: usize,
}

/// A struct of the header.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    pub name: &'static str,
    pub size: usize,
    pub alignment: usize,
    pub members: &'static [Member],
}

/// A struct of the C ABI.
pub trait Layout {
    const STRUCT: Struct;
}

const fn size_of_member<S, M>(_: fn(&S) -> &M) -> usize {
    size_of::<M>()
}

macro_rules! structs {
    ($($name:ident { $($member:ident),* })*) => {
        $(impl Layout for $name {
            const STRUCT: Struct = Struct {
                name: stringify!($name),
                size: size_of::<$name>(),
                alignment: align_of::<$name>(),
                members: &[$(Member {
                    name: stringify!($member),
                    offset: offset_of!($name, $member),
                    size: size_of_member(|s: &$name| &s.$member),
                }),*],
            };
        })*

        /// Every struct of the header.
        pub const STRUCTS: &[Struct] = &[$($name::STRUCT),*];
    };
}

structs! {
    TrmInfoHeader { s_type, struct_size, p_next }
    TrmCount { max, address }
    TrmRange { address, size }
    TrmSegments { offsets, count }
    TrmScratch { buffer, offset, size }
    TrmTimestamps { pool, first }
    TrmDeviceRequirementsInfo { s_type, struct_size, p_next, get_instance_proc_addr, instance, physical_device, api_version, reserved }
    TrmDeviceCreateInfo {
        s_type, struct_size, p_next, get_instance_proc_addr, instance, physical_device, device, enabled_features,
        queue_family_index, debug_utils, pipeline_cache, allocation_callbacks, profile, creation_threads,
        reserved
    }
    TrmSorterCreateInfo {
        s_type, struct_size, p_next, key_type, value_type, strategy, flags, order, value_size, begin_bit, end_bit, placement,
        layout, max_count, reserved
    }
    TrmSortInfo {
        s_type, struct_size, p_next, sorter, count, keys, values, scratch, status, timestamps, keys_out, values_out,
        key_stride, value_stride, segments
    }
    TrmSplitterCreateInfo {
        s_type, struct_size, p_next, key_type, value_type, strategy, flags, bucket_count, bucket_function, begin_bit, value_size,
        layout, max_count, output, output_bucket, method, reserved
    }
    TrmSplitInfo {
        s_type, struct_size, p_next, splitter, count, keys, values, keys_out, values_out, key_stride, value_stride, low, width,
        splitters, bucket_ids, user_address, user_words, offsets, counts, commands, command_items, scratch, status, timestamps,
        starts, segments
    }
    TrmBatchInfo { s_type, struct_size, p_next, info_count, infos, scratch }
}

macro_rules! values {
    ($($name:literal = $value:expr,)*) => {
        /// Every enum value and constant of the header.
        pub const VALUES: &[(&str, i64)] = &[$(($name, $value as i64)),*];
    };
}

values! {
    "TRM_VERSION_MAJOR" = TRM_VERSION_MAJOR,
    "TRM_VERSION_MINOR" = TRM_VERSION_MINOR,
    "TRM_VERSION_PATCH" = TRM_VERSION_PATCH,
    "TRM_STATUS_COUNT_CLAMPED" = TRM_STATUS_COUNT_CLAMPED,
    "TRM_STATUS_NO_BUCKET" = TRM_STATUS_NO_BUCKET,
    "TRM_STATUS_OUTPUT_CLAMPED" = TRM_STATUS_OUTPUT_CLAMPED,
    "TRM_SORTER_CREATE_DROP_KEYS_BIT" = TRM_SORTER_CREATE_DROP_KEYS_BIT,
    "TRM_SORTER_CREATE_SEGMENTED_BIT" = TRM_SORTER_CREATE_SEGMENTED_BIT,
    "TRM_SORTER_CREATE_BATCHES_BIT" = TRM_SORTER_CREATE_BATCHES_BIT,
    "TRM_SORTER_CREATE_DEFERRED_BIT" = TRM_SORTER_CREATE_DEFERRED_BIT,
    "TRM_SPLITTER_CREATE_DROP_KEYS_BIT" = TRM_SPLITTER_CREATE_DROP_KEYS_BIT,
    "TRM_SPLITTER_CREATE_SEGMENTED_BIT" = TRM_SPLITTER_CREATE_SEGMENTED_BIT,
    "TRM_SPLITTER_CREATE_BATCHES_BIT" = TRM_SPLITTER_CREATE_BATCHES_BIT,
    "TRM_SPLITTER_CREATE_DEFERRED_BIT" = TRM_SPLITTER_CREATE_DEFERRED_BIT,
    "TRM_SUCCESS" = TrmResult::TrmSuccess,
    "TRM_ERROR_NULL" = TrmResult::TrmErrorNull,
    "TRM_ERROR_MALFORMED" = TrmResult::TrmErrorMalformed,
    "TRM_ERROR_UNKNOWN_VALUE" = TrmResult::TrmErrorUnknownValue,
    "TRM_ERROR_TOO_LARGE" = TrmResult::TrmErrorTooLarge,
    "TRM_ERROR_TOO_SMALL" = TrmResult::TrmErrorTooSmall,
    "TRM_ERROR_MISALIGNED" = TrmResult::TrmErrorMisaligned,
    "TRM_ERROR_OVERLAP" = TrmResult::TrmErrorOverlap,
    "TRM_ERROR_MISSING_FEATURE" = TrmResult::TrmErrorMissingFeature,
    "TRM_ERROR_FOREIGN_DEVICE" = TrmResult::TrmErrorForeignDevice,
    "TRM_ERROR_NOT_BUILT" = TrmResult::TrmErrorNotBuilt,
    "TRM_ERROR_INTERNAL" = TrmResult::TrmErrorInternal,
    "TRM_ERROR_NOT_READY" = TrmResult::TrmErrorNotReady,
    "TRM_STRUCTURE_TYPE_DEVICE_REQUIREMENTS_INFO" = TrmStructureType::DeviceRequirementsInfo,
    "TRM_STRUCTURE_TYPE_DEVICE_CREATE_INFO" = TrmStructureType::DeviceCreateInfo,
    "TRM_STRUCTURE_TYPE_BATCH_INFO" = TrmStructureType::BatchInfo,
    "TRM_STRUCTURE_TYPE_SORTER_CREATE_INFO" = TrmStructureType::SorterCreateInfo,
    "TRM_STRUCTURE_TYPE_SORT_INFO" = TrmStructureType::SortInfo,
    "TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO" = TrmStructureType::SplitterCreateInfo,
    "TRM_STRUCTURE_TYPE_SPLIT_INFO" = TrmStructureType::SplitInfo,
    "TRM_KEY_TYPE_U32" = TrmKeyType::U32,
    "TRM_KEY_TYPE_U8" = TrmKeyType::U8,
    "TRM_KEY_TYPE_U16" = TrmKeyType::U16,
    "TRM_KEY_TYPE_U64" = TrmKeyType::U64,
    "TRM_KEY_TYPE_I8" = TrmKeyType::I8,
    "TRM_KEY_TYPE_I16" = TrmKeyType::I16,
    "TRM_KEY_TYPE_I32" = TrmKeyType::I32,
    "TRM_KEY_TYPE_I64" = TrmKeyType::I64,
    "TRM_KEY_TYPE_F16" = TrmKeyType::F16,
    "TRM_KEY_TYPE_BF16" = TrmKeyType::BF16,
    "TRM_KEY_TYPE_F32" = TrmKeyType::F32,
    "TRM_KEY_TYPE_F64" = TrmKeyType::F64,
    "TRM_KEY_TYPE_U32X2" = TrmKeyType::U32X2,
    "TRM_KEY_TYPE_U32X3" = TrmKeyType::U32X3,
    "TRM_KEY_TYPE_U32X4" = TrmKeyType::U32X4,
    "TRM_ORDER_ASCENDING" = TrmOrder::Ascending,
    "TRM_ORDER_DESCENDING" = TrmOrder::Descending,
    "TRM_VALUE_TYPE_NONE" = TrmValueType::None,
    "TRM_VALUE_TYPE_U32" = TrmValueType::U32,
    "TRM_VALUE_TYPE_BYTES" = TrmValueType::Bytes,
    "TRM_VALUE_TYPE_INDEX" = TrmValueType::Index,
    "TRM_PLACEMENT_IN_PLACE" = TrmPlacement::InPlace,
    "TRM_PLACEMENT_PRESERVE" = TrmPlacement::Preserve,
    "TRM_PLACEMENT_DOUBLE_BUFFER" = TrmPlacement::DoubleBuffer,
    "TRM_LAYOUT_SEPARATE" = TrmLayout::Separate,
    "TRM_LAYOUT_INTERLEAVED" = TrmLayout::Interleaved,
    "TRM_LAYOUT_STRIDED" = TrmLayout::Strided,
    "TRM_BUCKET_FUNCTION_BITS" = TrmBucketFunction::Bits,
    "TRM_BUCKET_FUNCTION_RANGE" = TrmBucketFunction::Range,
    "TRM_BUCKET_FUNCTION_SPLITTERS" = TrmBucketFunction::Splitters,
    "TRM_BUCKET_FUNCTION_IDS_U8" = TrmBucketFunction::IdsU8,
    "TRM_BUCKET_FUNCTION_IDS_U16" = TrmBucketFunction::IdsU16,
    "TRM_BUCKET_FUNCTION_IDS_U32" = TrmBucketFunction::IdsU32,
    "TRM_BUCKET_FUNCTION_SIGNS" = TrmBucketFunction::Signs,
    "TRM_BUCKET_FUNCTION_USER" = TrmBucketFunction::User,
    "TRM_SPLIT_OUTPUT_BUCKETS" = TrmSplitOutput::Buckets,
    "TRM_SPLIT_OUTPUT_BUCKET" = TrmSplitOutput::Bucket,
    "TRM_SPLIT_OUTPUT_PLACED" = TrmSplitOutput::Placed,
    "TRM_SPLIT_OUTPUT_COUNTS" = TrmSplitOutput::Counts,
    "TRM_SPLIT_OUTPUT_RANKS" = TrmSplitOutput::Ranks,
    "TRM_SPLIT_METHOD_WORKGROUP" = TrmSplitMethod::Workgroup,
    "TRM_SPLIT_METHOD_SUBGROUP" = TrmSplitMethod::Subgroup,
    "TRM_SPLIT_METHOD_DIRECT" = TrmSplitMethod::Direct,
    "TRM_STRATEGY_AUTO" = TrmStrategy::Auto,
    "TRM_STRATEGY_LOOKBACK" = TrmStrategy::Lookback,
    "TRM_STRATEGY_REDUCE_THEN_SCAN" = TrmStrategy::ReduceThenScan,
    "TRM_STRATEGY_CHAINED_SCAN" = TrmStrategy::ChainedScan,
    "TRM_STRATEGY_RING" = TrmStrategy::Ring,
    "TRM_STRATEGY_RING_IN_ORDER" = TrmStrategy::RingInOrder,
}
