//! Sort, split, merge and hash passes that an engine records into its own Vulkan command buffers.
//!
//! The library takes the engine's device, creates compute pipelines on it, and appends dispatches and barriers to
//! command buffers. It allocates no device memory, submits nothing and waits for nothing. Inputs and outputs are device
//! addresses. Scratch is a buffer range. Counts can be read on the device.
//!
//! - [`Requirements`]: the features to enable before `vkCreateDevice`.
//! - [`Device`]: the engine's Vulkan handles.
//! - [`Sorter`]: pipelines for sorts of one format; [`Sorter::cmd_sort`] records one sort, [`cmd_batch`] many.
//! - [`Splitter`]: pipelines for splits of one format; [`Splitter::cmd_split`] records one split.
//! - [`Merger`]: pipelines for merges of one format; [`Merger::cmd_merge`] records one merge.
//! - [`Hasher`]: pipelines for one operation on hash tables of one format; [`Hasher::cmd_hash`] records one operation.
//! - `host` (feature `host`): sorts, splits, merges and hash tables without your own Vulkan device.

#![cfg_attr(not(feature = "primitive"), allow(dead_code, reason = "without a primitive, shared code is unused"))]

/// Passes every primitive to a macro: feature, module, the variant of `Request` with handle and info, the info in C,
/// the file of what its kernels share with the host, and the file of its settings in profiles. The other crates of the
/// workspace use it, too.
#[doc(hidden)]
#[macro_export]
macro_rules! primitives {
    ($to:ident) => {
        $to! {
            "sort": sort, Sort(Sorter, SortInfo), TrmSortInfo, "sort/interface.rs", "sort/settings.rs";
            "split": split, Split(Splitter, SplitInfo), TrmSplitInfo, "split/interface.rs", "split/settings.rs";
            "merge": merge, Merge(Merger, MergeInfo<'a>), TrmMergeInfo, "merge/interface.rs", "merge/settings.rs";
            "hash": hash, Hash(Hasher, HashInfo), TrmHashInfo, "hash/interface.rs", "hash/settings.rs";
        }
    };
}

#[doc(hidden)]
pub mod capi;
mod core;
mod device;
mod error;
#[cfg(feature = "hash")]
pub mod hash;
#[doc(hidden)]
pub mod kernels;
mod loader;
#[cfg(feature = "radix")]
pub mod merge;
mod profile;
#[cfg(feature = "radix")]
#[doc(hidden)]
pub mod radix;
#[cfg(feature = "primitive")]
mod requests;
mod requirements;
#[doc(hidden)]
pub mod shared;
#[cfg(feature = "sort")]
pub mod sort;
#[cfg(feature = "split")]
pub mod split;
pub mod tuning;

#[cfg(feature = "host")]
pub mod host;

/// The README's Rust examples, compiled with the documentation tests.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(feature = "primitive")]
pub use core::batch::{batch_scratch_size, cmd_batch};
pub use core::memory::{Count, Range, Scratch, Timestamps};
pub use device::{Device, DeviceFacts, DeviceInfo};
pub use error::{Error, Result};
#[cfg(feature = "hash")]
pub use hash::{HashInfo, HashOpcode, HashOperation, HashScheme, HashStatistics, Hasher, HasherInfo};
#[cfg(feature = "merge")]
pub use merge::{
    ComparatorKernel, MergeInfo, MergeMethod, MergeOperation, MergeSegments, MergeSequence, Merger, MergerInfo,
};
#[cfg(feature = "radix")]
pub use radix::{KeyType, Layout, Order, Placement, Segments, ValueType};
#[cfg(feature = "primitive")]
pub use requests::Request;
pub use requirements::Requirements;
pub use shared::{SOURCE_B, STATUS_COUNT_CLAMPED, STATUS_NO_BUCKET, STATUS_OUTPUT_CLAMPED, STATUS_TABLE_FULL};
#[cfg(feature = "sort")]
pub use sort::{SortComparatorKernel, SortInfo, Sorter, SorterInfo};
#[cfg(feature = "split")]
pub use split::{BucketFunction, BucketKernel, IdType, SplitInfo, SplitMethod, SplitOutput, Splitter, SplitterInfo};
pub use tuning::{Profile, Strategy};
