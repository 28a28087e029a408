//! Stable merge of two sorted sequences of integers or floats of 32 to 128 bits, with or without values.
//!
//! Create a [`Merger`] once; [`Merger::cmd_merge`] appends a merge to a command buffer. Counts can be read on the
//! device. A small merge is one dispatch. A larger one has two: the first finds the items that each tile of the output
//! takes from each sequence, the second merges tile by tile (merge path). Up to 16 sequences are merged as a tree of
//! merges of two.
//!
//! Sorts by merging use the same folder: their runs are merged level by level.

#[cfg(feature = "merge")]
#[doc(hidden)]
pub mod cpu;
#[cfg(feature = "merge")]
mod format;
#[cfg(all(feature = "merge", feature = "host"))]
pub(crate) mod host;
#[cfg(feature = "merge")]
mod info;
// `shared` declares this file in a macro, where rustfmt does not see it.
#[cfg(rustfmt)]
mod interface;
#[cfg(feature = "merge")]
mod kernel;
mod levels;
#[cfg(feature = "merge")]
mod merger;
#[cfg(feature = "merge")]
mod plan;
#[cfg(feature = "merge")]
mod planner;
#[cfg(feature = "merge")]
pub(crate) mod sequences;
#[cfg(feature = "merge")]
mod status;
#[cfg(test)]
#[cfg(feature = "merge")]
mod tests;
#[cfg(feature = "merge")]
mod tree;

pub(crate) use levels::Merging;
#[cfg(feature = "merge")]
pub use {
    cpu::{co_rank, co_rank_by},
    info::{MergeMethod, MergeOperation, MergerInfo},
    kernel::ComparatorKernel,
    merger::{MergeInfo, MergeSegments, Merger},
    sequences::MergeSequence,
};
