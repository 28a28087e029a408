//! The C ABI, thin: check, convert, call, map the error. `cargo xtask header` makes `include/trommel.h` of this folder.
//!
//! Comments on what is exported are the header's, so they speak of C.

#![allow(non_camel_case_types, non_snake_case, reason = "names are those of the header")]
#![allow(clippy::missing_safety_doc, reason = "the header says it once for all functions")]

mod border;
#[cfg(feature = "radix")]
mod convert;
mod info;
pub mod layout;
mod types;

// In the order of the header, which blank lines keep.
mod version;

mod result;

mod device;

mod sort;

mod split;

mod batch;

pub use batch::*;
pub use device::*;
pub use result::*;
pub use sort::*;
pub use split::*;
pub use types::*;
pub use version::*;
