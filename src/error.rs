//! What can go wrong, and how it is said: the argument, its value and the limit that it broke.

use ash::vk;

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call was refused. Nothing has been recorded and no output written when one is returned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Vulkan's own answer, passed through.
    #[error("Vulkan: {0}")]
    Vulkan(#[from] vk::Result),
    /// The device, as it was created, lacks something that [`crate::Requirements`] names.
    #[error("the device lacks {0}")]
    MissingFeature(String),
    /// An argument that must be given is null.
    #[error("{argument} is null")]
    Null {
        /// The argument's name.
        argument: &'static str,
    },
    /// A value above its limit.
    #[error("{argument} {value} > {limit}, {why}")]
    TooLarge {
        /// The argument's name.
        argument: &'static str,
        /// What was given.
        value: u64,
        /// The most that is allowed.
        limit: u64,
        /// Where the limit comes from.
        why: &'static str,
    },
    /// A range that is smaller than what lies in it.
    #[error("{argument} {value} < {required} required{}", .max_count.map_or_else(String::new, |count| format!(" for maxCount {count}")))]
    TooSmall {
        /// The argument's name.
        argument: &'static str,
        /// What was given, in bytes.
        value: u64,
        /// What is needed, in bytes.
        required: u64,
        /// The count that needs it, where it is one alone.
        max_count: Option<u64>,
    },
    /// An address or offset that is not a multiple of its alignment.
    #[error("{argument} {value:#x} is not a multiple of {alignment}")]
    Misaligned {
        /// The argument's name.
        argument: &'static str,
        /// What was given.
        value: u64,
        /// The alignment in bytes.
        alignment: u64,
    },
    /// Two ranges that must be apart share bytes.
    #[error("{first} and {second} overlap")]
    Overlap {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A number that names nothing.
    #[error("{argument} {value} is not a known value")]
    UnknownValue {
        /// The argument's name.
        argument: &'static str,
        /// What was given.
        value: i64,
    },
    /// A struct that this version cannot read.
    #[error("{argument} is malformed: {why}")]
    Malformed {
        /// The argument's name.
        argument: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The object belongs to another device.
    #[error("{argument} was created on another device")]
    ForeignDevice {
        /// The argument's name.
        argument: &'static str,
    },
    /// A handle of deferred creation whose pipelines have not all been created.
    #[error("{argument} is not ready: not all of its pipelines have been created")]
    NotReady {
        /// The handle: "sorter" or the like.
        argument: &'static str,
    },
    /// A fault of the library. Please report it.
    #[error("a fault of the library: {0}")]
    Internal(String),
    /// The build left this primitive out.
    #[error("built without the feature \"{0}\"")]
    NotBuilt(&'static str),
    /// Own context only: no device, or none with that name.
    #[error("{0}")]
    NoDevice(String),
    /// Own context only: memory could not be had.
    #[error("allocation failed: {0}")]
    Allocation(String),
}
