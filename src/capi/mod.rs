//! The C ABI, a thin layer: check, convert, call, map the error. `cargo xtask header` generates `include/trommel.h`
//! from this folder.
//!
//! Doc comments of exported items become the header's comments. They therefore use C's names.

#![allow(non_camel_case_types, non_snake_case, reason = "names are those of the header")]
#![allow(clippy::missing_safety_doc, reason = "the header states it once for all functions")]

mod border;
#[cfg(feature = "primitive")]
mod convert;
mod info;
pub mod layout;

// The modules are in the order of the header. Blank lines between them keep rustfmt from sorting them.
mod version;

mod types;

mod radix;

mod result;

mod device;

mod sort;

mod split;

mod merge;

mod hash;

mod batch;

pub use batch::*;
pub use device::*;
pub use radix::*;
pub use result::*;
pub use types::*;
// By name, because other files have a `raw` of their own.
pub use types::raw;
pub use version::*;

macro_rules! public_names {
    ($(
        $feature:literal: $primitive:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        $(pub use $primitive::*;)*
    };
}
primitives!(public_names);

/// The type of an info struct.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmStructureType {
    /// TrmDeviceRequirementsInfo
    DeviceRequirementsInfo = 1,
    /// TrmDeviceCreateInfo
    DeviceCreateInfo = 2,
    /// TrmBatchInfo
    BatchInfo = 3,
    /// TrmSorterCreateInfo
    SorterCreateInfo = 1000,
    /// TrmSortInfo
    SortInfo = 1001,
    /// TrmSplitterCreateInfo
    SplitterCreateInfo = 2000,
    /// TrmSplitInfo
    SplitInfo = 2001,
    /// TrmMergerCreateInfo
    MergerCreateInfo = 3000,
    /// TrmMergeInfo
    MergeInfo = 3001,
    /// TrmHasherCreateInfo
    HasherCreateInfo = 4000,
    /// TrmHashInfo
    HashInfo = 4001,
}
