//! Radix passes: stable distribution of items by digits of their keys. Sorts and splits consist of them: formats,
//! algorithms, problem tables, plans.

mod config;
#[doc(hidden)]
pub mod cpu;
mod format;
mod items;
mod job;
mod merging;
mod operation;
mod pipelines;
mod plan;
mod problems;
mod rows;
// Plans of splits are still made here, in builds without the feature, too.
#[path = "../split/rows.rs"]
mod split_rows;

#[cfg(test)]
pub(crate) use config::{Algorithm, Config};
#[cfg(test)]
pub(crate) use format::Digit;
pub(crate) use format::Format;
pub(crate) use format::{BucketSource, LabelBy};
#[cfg(feature = "split")]
pub(crate) use format::{MAX_NARROW_COUNT, SplitBy};
#[cfg(feature = "split")]
pub(crate) use items::PlainKey;
pub(crate) use items::{Items, ItemsInfo};
pub use items::{KeyType, Layout, Order, Placement, Segments, ValueType};
#[cfg(test)]
pub(crate) use job::Role;
pub(crate) use job::{Buckets, Job};
#[cfg(test)]
pub(crate) use merging::Merging;
pub(crate) use operation::Operation;
#[cfg(test)]
pub(crate) use pipelines::variants;
#[cfg(test)]
pub(crate) use problems::ProblemTable;
#[cfg(feature = "split")]
pub(crate) use problems::{INDIRECT_COMMAND, MOST_GROUPS_Y};
pub(crate) use rows::{PassFacts, behind, push_constants};
