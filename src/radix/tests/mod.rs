//! Tests of sorts and splits: barriers and plans without a GPU, and each kernel on the device that the environment
//! selects.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

#[cfg(feature = "host")]
mod bench;
#[cfg(feature = "host")]
mod checks;
#[cfg(feature = "host")]
mod contexts;
#[cfg(feature = "host")]
mod declarations;
mod hazards;
#[cfg(feature = "host")]
mod kernels;
#[cfg(feature = "host")]
mod labels;
mod look_back;
mod merges;
mod plans;
mod primitives;
mod problems;
#[cfg(feature = "host")]
mod segments;
#[cfg(feature = "host")]
mod twins;
