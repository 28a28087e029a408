//! The structs, enums, flags, status bits and handle of splitters.

use crate::capi::TrmStructureType;
use crate::capi::info::infos;
use crate::capi::layout::declarations;
use crate::capi::radix::TrmSegments;
use crate::capi::types::{TrmTimestamps, VkDeviceAddress};
use crate::{Count, Range, Scratch};
use std::ffi::c_void;

/// The types of enums, as in `types::raw`.
/// cbindgen:ignore
pub(super) mod raw {
    pub(in crate::capi) use crate::capi::radix::raw::*;

    pub(crate) type TrmBucketFunction = i32;
    pub(crate) type TrmSplitOutput = i32;
    pub(crate) type TrmSplitMethod = i32;
}

/// The function that maps a key to its bucket.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmBucketFunction {
    /// The value of a bit field of the key. The field begins at beginBit and is just wide enough to number all buckets.
    /// All its bits lie in one word of the key. Keys whose field is not a bucket number are placed after the last
    /// bucket.
    Bits = 0,
    /// Consecutive ranges of equal width: TrmSplitInfo::low and width. The first bucket also takes all lower keys, the
    /// last bucket all higher keys. Two buckets are a partition by the pivot low + width. Keys are integers of 32 or 64
    /// bits.
    Range = 1,
    /// The number of TrmSplitInfo::splitters less than or equal to the key (upper bound). Keys below the first splitter
    /// are in bucket 0. Keys have 32 bits or more.
    Splitters = 2,
    /// TrmSplitInfo::bucketIds: one uint8_t for each item. Items whose id is not a bucket number are placed after the
    /// last bucket. Keys are moved but not inspected; they have 32 bits or more.
    IdsU8 = 3,
    /// As TRM_BUCKET_FUNCTION_IDS_U8, with ids of type uint16_t.
    IdsU16 = 4,
    /// As TRM_BUCKET_FUNCTION_IDS_U8, with ids of type uint32_t.
    IdsU32 = 5,
    /// The sign bits of the key's words, each a float: one bit a word, the first word's bit the lowest. Directions of
    /// TRM_KEY_TYPE_U32X3 are split into octants this way. Keys are TRM_KEY_TYPE_F32, U32, U32X2, U32X3 or U32X4.
    /// bucketCount is 2 to the power of the number of words.
    Signs = 6,
    /// A user-defined function in a kernel: trmCreateSplitterFromGlsl(), trmCreateSplitterFromSpirv(). Items for which
    /// it returns no bucket number are placed after the last bucket. Keys have 32 bits or more.
    User = 7,
}

/// The result of a split.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmSplitOutput {
    /// Items grouped by bucket, in the order of the buckets, without gaps.
    Buckets = 0,
    /// The items of outputBucket only, from the start of the output: a compaction. TrmSplitInfo::counts receives their
    /// number.
    Bucket = 1,
    /// Items grouped by bucket; each bucket begins at an index given in TrmSplitInfo::starts: a scatter.
    Placed = 2,
    /// No items: only the bucket information (offsets, counts, commands) is written. A histogram.
    Counts = 3,
    /// No items: TrmSplitInfo::valuesOut receives a uint32_t for each item, in input order. It is the number of earlier
    /// items in the same bucket: the item's rank. Items without a bucket are ranked among themselves.
    Ranks = 4,
}

/// The items that a split ranks together, and whether shared memory reorders them before the scatter. These are the
/// three forms of "GPU multisplit". All of them count, scan and scatter, and write the same bytes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmSplitMethod {
    /// The items of a workgroup, reordered in shared memory, so that items of one bucket are written together
    /// (block-level multisplit).
    Workgroup = 0,
    /// The items of a subgroup, reordered in shared memory (warp-level multisplit). Subgroups of fewer than 32 lanes
    /// are combined up to 32 lanes.
    Subgroup = 1,
    /// The items of a subgroup as in TRM_SPLIT_METHOD_SUBGROUP, scattered in input order without reordering (direct
    /// multisplit).
    Direct = 2,
}

/// Flag in TrmSplitterCreateInfo::flags: keys are not written, and keysOut is ignored. Not available with
/// TRM_VALUE_TYPE_NONE, since nothing would be written.
pub const TRM_SPLITTER_CREATE_DROP_KEYS_BIT: u32 = 1;

/// Flag in TrmSplitterCreateInfo::flags: the splitter splits each segment of the arrays separately:
/// TrmSplitInfo::segments. Keys have 32 bits or more, and output is TRM_SPLIT_OUTPUT_BUCKETS. 65,536 buckets need a
/// function that returns a bucket for every item.
pub const TRM_SPLITTER_CREATE_SEGMENTED_BIT: u32 = 2;

/// Flag in TrmSplitterCreateInfo::flags: the splitter may be used in batches of several problems. Needs about twice as
/// many pipelines.
pub const TRM_SPLITTER_CREATE_BATCHES_BIT: u32 = 4;

/// Flag in TrmSplitterCreateInfo::flags: creation returns without pipelines. Threads that call trmCompileSplitter()
/// create them.
pub const TRM_SPLITTER_CREATE_DEFERRED_BIT: u32 = 8;

/// All bits of TrmSplitterCreateInfo::flags.
/// cbindgen:ignore
#[cfg(feature = "split")]
pub(in crate::capi) const SPLITTER_CREATE_BITS: u32 = TRM_SPLITTER_CREATE_DROP_KEYS_BIT
    | TRM_SPLITTER_CREATE_SEGMENTED_BIT
    | TRM_SPLITTER_CREATE_BATCHES_BIT
    | TRM_SPLITTER_CREATE_DEFERRED_BIT;

/// Status bit of a split: some items have no bucket; they were placed after the last bucket.
pub const TRM_STATUS_NO_BUCKET: u32 = 2;
const _: () = assert!(TRM_STATUS_NO_BUCKET == crate::STATUS_NO_BUCKET, "kernels write another bit");

/// Status bit of a split with TRM_SPLIT_OUTPUT_PLACED: some items belong past the end of keysOut or valuesOut, by
/// TrmSplitInfo::starts. These items were not written.
pub const TRM_STATUS_OUTPUT_CLAMPED: u32 = 4;
const _: () = assert!(TRM_STATUS_OUTPUT_CLAMPED == crate::STATUS_OUTPUT_CLAMPED, "kernels write another bit");

/// The pipelines for splits with one bucket function, key type, value type and layout. Immutable: any number of threads
/// may use it at once.
pub type TrmSplitter = *mut TrmSplitter_T;

#[derive(Debug)]
pub struct TrmSplitter_T(#[cfg(feature = "split")] pub(super) crate::Splitter);

/// The parameters of trmCreateSplitter(). If all members but sType, structSize and bucketCount are zero, the splitter
/// splits uint32_t keys without values by their lowest bits.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSplitterCreateInfo {
    /// TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    pub key_type: raw::TrmKeyType,
    pub value_type: raw::TrmValueType,
    pub strategy: raw::TrmStrategy,
    /// TRM_SPLITTER_CREATE_..._BIT flags or 0.
    pub flags: u32,
    /// Number of buckets, 1 to 65536. More than 256 buckets need two scatter passes and keys of 32 bits or more.
    pub bucket_count: u32,
    pub bucket_function: raw::TrmBucketFunction,
    /// For TRM_BUCKET_FUNCTION_BITS: first bit of the field, counted from the least significant bit of the encoded key.
    /// The encoding maps signed integers and floats to unsigned integers of the same order. Otherwise 0.
    pub begin_bit: u32,
    /// Size of a value in bytes, for TRM_VALUE_TYPE_BYTES: a multiple of 4, at most 16. Otherwise 0.
    pub value_size: u32,
    /// The layout of the input. With TRM_LAYOUT_STRIDED, the output is dense.
    pub layout: raw::TrmLayout,
    /// Maximum count of any split. 0: 2^30. Larger maxima need 64-bit addressing, which is slightly slower. They need
    /// at most 256 buckets by bits, or by ranges of 32-bit keys, and keys of 4 bytes or more.
    pub max_count: u32,
    /// The result of the split.
    /// - TRM_SPLIT_OUTPUT_COUNTS needs TRM_STRATEGY_REDUCE_THEN_SCAN or _AUTO.
    /// - TRM_SPLIT_OUTPUT_COUNTS and TRM_SPLIT_OUTPUT_RANKS write no items: valueType is TRM_VALUE_TYPE_NONE.
    /// - With TRM_SPLIT_OUTPUT_BUCKET and TRM_SPLIT_OUTPUT_PLACED, keys narrower than a word must be dropped.
    /// - More than 256 buckets need TRM_SPLIT_OUTPUT_BUCKETS or TRM_SPLIT_OUTPUT_COUNTS.
    pub output: raw::TrmSplitOutput,
    /// The bucket of TRM_SPLIT_OUTPUT_BUCKET. Otherwise 0.
    pub output_bucket: u32,
    /// The items that are ranked together. TRM_SPLIT_METHOD_WORKGROUP works with every strategy and is the fastest on
    /// every measured device. The others exist for comparison. They need TRM_STRATEGY_REDUCE_THEN_SCAN or _AUTO, at
    /// most 2^30 items, and no segments.
    pub method: raw::TrmSplitMethod,
    /// Reserved, must be 0.
    pub reserved: u32,
}

/// The parameters of one split.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrmSplitInfo {
    /// TRM_STRUCTURE_TYPE_SPLIT_INFO
    pub s_type: raw::TrmStructureType,
    pub struct_size: u32,
    pub p_next: *const c_void,
    /// In a batch: the splitter. For trmCmdSplit(): NULL, or the same splitter.
    pub splitter: TrmSplitter,
    /// Number of items, at most the splitter's maxCount.
    pub count: Count,
    /// count.max keys, or {key, value} items if interleaved. Only read.
    pub keys: Range,
    /// count.max values. Ignored without values, with interleaved items and with TRM_VALUE_TYPE_INDEX.
    pub values: Range,
    /// count.max keys or interleaved items: the keys grouped by bucket. With TRM_SPLIT_OUTPUT_PLACED the range may be
    /// longer. Its whole length must not overlap other ranges. Ignored if keys are dropped or the output has no items.
    pub keys_out: Range,
    /// As keysOut, for values. For TRM_SPLIT_OUTPUT_RANKS: count.max words for the ranks.
    pub values_out: Range,
    /// For TRM_LAYOUT_STRIDED: bytes from one key to the next, a multiple of the alignment. Less than 2^16 words, or
    /// less than 2^16 bytes for keys narrower than a word. 0: dense, as in the other layouts.
    pub key_stride: u32,
    /// As keyStride, for values.
    pub value_stride: u32,
    /// For TRM_BUCKET_FUNCTION_RANGE: the first key of the first bucket, as the bits of a key. Otherwise 0.
    pub low: u64,
    /// For TRM_BUCKET_FUNCTION_RANGE: the number of keys in each bucket, from 1 to the largest number that fits the
    /// bits of a key. Otherwise 0.
    pub width: u64,
    /// For TRM_BUCKET_FUNCTION_SPLITTERS: bucketCount - 1 splitters of the key type, dense, in ascending order.
    /// Otherwise zeros.
    pub splitters: Range,
    /// For TRM_BUCKET_FUNCTION_IDS_...: count.max bucket numbers, one for each item, dense. Otherwise zeros.
    pub bucket_ids: Range,
    /// For TRM_BUCKET_FUNCTION_USER: data.address in the function, the address of additional input. The split must not
    /// write this memory. Otherwise 0.
    pub user_address: VkDeviceAddress,
    /// For TRM_BUCKET_FUNCTION_USER: data.words in the function. Otherwise zeros.
    pub user_words: [u32; 4],
    /// bucketCount + 1 words: for each bucket the number of items in the buckets before it, then the number of items in
    /// all buckets. In an output grouped by bucket, these are the start of each bucket and the end of the last one.
    /// Items without a bucket follow the last bucket. With segments: as many words for each segment, as indices into
    /// the whole output. Segments up to segments.count.max that do not exist on the device get the values of empty
    /// segments, here and in counts and commands. Zeros: not written.
    pub offsets: Range,
    /// bucketCount words, for each segment if segmented: the number of items in each bucket. Zeros: not written.
    pub counts: Range,
    /// bucketCount VkDispatchIndirectCommand, for each segment if segmented: one workgroup for every commandItems items
    /// of the bucket. The workgroups are in one row (y = 1) or, if they exceed the device's limit on x, in several
    /// rows. The last row may have workgroups without items. The command of an empty bucket is (0, 1, 1). The buffer
    /// also needs usage INDIRECT_BUFFER for the dispatch. Zeros: not written.
    pub commands: Range,
    /// Items for each workgroup of a command, 1 or more if commands are written.
    pub command_items: u32,
    /// trmGetSplitterScratch() bytes or more. Not used in a batch, which has its own scratch.
    pub scratch: Scratch,
    /// Device address of a uint32_t that receives TRM_STATUS_... bits or 0. 0: no status.
    pub status: VkDeviceAddress,
    /// trmGetSplitterTimestampCount() queries. Not used in a batch.
    pub timestamps: TrmTimestamps,
    /// For TRM_SPLIT_OUTPUT_PLACED: bucketCount words, the index of each bucket's first item in the output. If items
    /// may have no bucket, one more word for these. Items past the end of keysOut or valuesOut, whichever holds fewer,
    /// or at index 2^32 - 2^16 or later are not written; TRM_STATUS_OUTPUT_CLAMPED reports them. Overlapping buckets
    /// overwrite one another. Otherwise zeros.
    pub starts: Range,
    /// The segments, for a splitter with TRM_SPLITTER_CREATE_SEGMENTED_BIT. Items without a bucket are placed at the
    /// end of their segment. Otherwise zeros.
    pub segments: TrmSegments,
}

infos! {
    TrmSplitterCreateInfo: SplitterCreateInfo,
    TrmSplitInfo: SplitInfo,
}

declarations! {
    structs {
        TrmSplitterCreateInfo {
            s_type, struct_size, p_next, key_type, value_type, strategy, flags, bucket_count, bucket_function,
            begin_bit, value_size,
            layout, max_count, output, output_bucket, method, reserved
        }
        TrmSplitInfo {
            s_type, struct_size, p_next, splitter, count, keys, values, keys_out, values_out, key_stride, value_stride,
            low, width,
            splitters, bucket_ids, user_address, user_words, offsets, counts, commands, command_items, scratch, status,
            timestamps,
            starts, segments
        }
    }
    values {
        "TRM_STATUS_NO_BUCKET" = TRM_STATUS_NO_BUCKET,
        "TRM_STATUS_OUTPUT_CLAMPED" = TRM_STATUS_OUTPUT_CLAMPED,
        "TRM_SPLITTER_CREATE_DROP_KEYS_BIT" = TRM_SPLITTER_CREATE_DROP_KEYS_BIT,
        "TRM_SPLITTER_CREATE_SEGMENTED_BIT" = TRM_SPLITTER_CREATE_SEGMENTED_BIT,
        "TRM_SPLITTER_CREATE_BATCHES_BIT" = TRM_SPLITTER_CREATE_BATCHES_BIT,
        "TRM_SPLITTER_CREATE_DEFERRED_BIT" = TRM_SPLITTER_CREATE_DEFERRED_BIT,
        "TRM_STRUCTURE_TYPE_SPLITTER_CREATE_INFO" = TrmStructureType::SplitterCreateInfo,
        "TRM_STRUCTURE_TYPE_SPLIT_INFO" = TrmStructureType::SplitInfo,
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
    }
}
