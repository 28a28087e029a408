//! Errors. A message names the argument, its value and the violated limit.

use ash::vk;

/// The result type of the library.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call failed. A failed call has recorded nothing and written no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of a Vulkan function, passed through.
    #[error("Vulkan: {0}")]
    Vulkan(#[from] vk::Result),
    /// The device lacks a feature or limit of [`crate::Requirements`], or was created without the feature.
    #[error("the device lacks {0}")]
    MissingFeature(String),
    /// A required argument is null.
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
        /// The argument's value.
        value: u64,
        /// The largest allowed value.
        limit: u64,
        /// The source of the limit.
        why: &'static str,
    },
    /// A range smaller than its required size.
    #[error(
        "{argument} {value} < {required} required{}",
        .max_count.map_or_else(String::new, |count| format!(" for maxCount {count}"))
    )]
    TooSmall {
        /// The argument's name.
        argument: &'static str,
        /// The size in bytes.
        value: u64,
        /// The required size in bytes.
        required: u64,
        /// The maximum count that needs this size, if it follows from a single count.
        max_count: Option<u64>,
    },
    /// An address or offset that is not a multiple of its alignment.
    #[error("{argument} {value:#x} is not a multiple of {alignment}")]
    Misaligned {
        /// The argument's name.
        argument: &'static str,
        /// The argument's value.
        value: u64,
        /// The alignment in bytes.
        alignment: u64,
    },
    /// Two ranges overlap that must not.
    #[error("{first} and {second} overlap")]
    Overlap {
        /// The name of one range.
        first: &'static str,
        /// The name of the other range.
        second: &'static str,
    },
    /// A number that is not a value of the enum.
    #[error("{argument} {value} is not a known value")]
    UnknownValue {
        /// The argument's name.
        argument: &'static str,
        /// The argument's value.
        value: i64,
    },
    /// A struct or text that this version cannot parse.
    #[error("{argument} is malformed: {why}")]
    Malformed {
        /// The argument's name.
        argument: &'static str,
        /// The reason.
        why: String,
    },
    /// The object belongs to another device.
    #[error("{argument} was created on another device")]
    ForeignDevice {
        /// The argument's name.
        argument: &'static str,
    },
    /// The pipelines of a handle with deferred creation have not all been created.
    #[error("{argument} is not ready: not all of its pipelines have been created")]
    NotReady {
        /// The handle, such as "sorter".
        argument: &'static str,
    },
    /// A bug in the library. Please report it.
    #[error("a bug in the library: {0}")]
    Internal(String),
    /// The primitive's feature is not enabled in this build.
    #[error("built without the feature \"{0}\"")]
    NotBuilt(&'static str),
    /// Feature `host` only: no device found, or none with the given name.
    #[error("{0}")]
    NoDevice(String),
    /// Feature `host` only: a memory allocation failed.
    #[error("allocation failed: {0}")]
    Allocation(String),
}
