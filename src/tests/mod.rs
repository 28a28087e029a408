//! Tests of internals: barriers and plans without a GPU, and each kernel on the device that the environment selects.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

#[cfg(feature = "host")]
mod bench;
#[cfg(feature = "host")]
mod checks;
#[cfg(feature = "host")]
pub(crate) mod contexts;
#[cfg(feature = "host")]
mod declarations;
pub(crate) mod hazards;
#[cfg(feature = "host")]
mod kernels;
#[cfg(feature = "host")]
mod labels;
mod look_back;
mod merges;
mod plans;
mod primitives;
pub(crate) mod problems;
#[cfg(feature = "host")]
mod recording;
#[cfg(feature = "host")]
mod segments;
#[cfg(feature = "host")]
pub(crate) mod twins;
