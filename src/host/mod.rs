//! For those who bring no Vulkan: an own instance and device, buffers, upload, run, download.
//!
//! Everything here is a user of the record-only interface; engines do without it.
//!
//! ```no_run
//! let mut keys = vec![3, 1, 2];
//! trommel::host::sort(&mut keys)?;
//! assert_eq!(keys, [1, 2, 3]);
//! # Ok::<(), trommel::Error>(())
//! ```

mod buffer;
mod context;
mod select;
#[cfg(feature = "sort")]
mod sort;
mod validation;

pub use buffer::Buffer;
pub use context::{Context, ContextInfo};
#[cfg(feature = "sort")]
pub use sort::{sort, sort_pairs};
pub use validation::Validation;
