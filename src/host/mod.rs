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
#[cfg(feature = "split")]
mod split;
mod validation;

pub use buffer::Buffer;
pub use context::{Context, ContextInfo};
#[cfg(feature = "sort")]
pub use sort::{sort, sort_pairs};
#[cfg(feature = "split")]
pub use split::{Buckets, split, split_pairs};
pub use validation::Validation;

use crate::{Error, Result};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The context that functions share which are given none: opened on first use and kept.
fn shared() -> Result<Context> {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    static OPENING: Mutex<()> = Mutex::new(());
    if let Some(context) = CONTEXT.get() {
        return Ok(context.clone());
    }
    // One opens, the others wait; a failure is told to the caller and tried again by the next.
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = CONTEXT.get() {
        return Ok(context.clone());
    }
    let context = Context::new()?;
    Ok(CONTEXT.get_or_init(|| context).clone())
}

/// How many keys there are.
#[cfg(feature = "radix")]
fn count_of(keys: &[u32]) -> Result<u32> {
    let limit = u64::from(u32::MAX);
    let too_many = |_| Error::TooLarge { argument: "keys", value: keys.len() as u64, limit, why: "a 32-bit count" };
    u32::try_from(keys.len()).map_err(too_many)
}
