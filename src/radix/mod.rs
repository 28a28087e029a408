//! Radix passes: stable distribution of items by digits of their keys. Sorts and splits are built of them.
//!
//! A primitive implements `Method`: it selects an algorithm, gives its `Outline`, lays out `Problems` in scratch and
//! builds its plan of `Passes`.

#![cfg_attr(not(feature = "default"), allow(dead_code, unused_imports, reason = "each primitive uses a part of it"))]

mod accesses;
mod config;
#[doc(hidden)]
pub mod cpu;
mod format;
mod items;
mod operation;
mod outline;
mod passes;
mod pipelines;
mod problems;
mod rows;
#[cfg(test)]
mod tests;
mod user;
mod values;

pub(crate) use config::Config;
#[cfg(test)]
pub(crate) use format::Digit;
pub(crate) use format::{Binning, Format, MAX_NARROW_COUNT};
pub(crate) use items::{ItemRole, Items, ItemsInfo, PlainKey};
pub use items::{KeyType, Layout, Order, Placement, Segments, ValueType};
pub(crate) use operation::{Algorithm, Given, Method, Operation, check_segment_count};
pub(crate) use outline::{Outline, Start};
pub(crate) use passes::{Id, PROBLEMS, Passes, push_constants, set};
#[cfg(test)]
pub(crate) use pipelines::variants;
pub(crate) use problems::{INDIRECT_COMMAND, MOST_GROUPS_Y, Problems, output_items, plane_bytes};
pub(crate) use rows::{PassFacts, behind};
pub(crate) use user::{UserKernel, check_no_input};
pub(crate) use values::{PLAIN, Values};
