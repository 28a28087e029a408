//! The C ABI, a thin layer: check, convert, call, map the error. `cargo xtask header` generates `include/trommel.h`
//! from this folder.
//!
//! Doc comments of exported items become the header's comments. They therefore use C's names.

#![allow(non_camel_case_types, non_snake_case, reason = "names are those of the header")]
#![allow(clippy::missing_safety_doc, reason = "the header states it once for all functions")]

mod border;
#[cfg(feature = "radix")]
mod convert;
mod info;
pub mod layout;
mod types;

// The modules are in the order of the header. Blank lines between them keep rustfmt from sorting them.
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
