//! Sorts, splits, merges and hash tables without your own Vulkan device: an instance, a device, buffers, upload, run
//! and download.
//!
//! The module uses the public recording functions only. Engines do not need it.
//!
//! ```no_run
//! let mut keys = vec![3, 1, 2];
//! trommel::host::sort(&mut keys)?;
//! assert_eq!(keys, [1, 2, 3]);
//! # Ok::<(), trommel::Error>(())
//! ```

mod buffer;
mod context;
mod fault;
mod select;
mod validation;

pub use buffer::Buffer;
pub use context::{Context, ContextInfo};
pub use validation::Validation;

use crate::{Error, Result};
use std::sync::{Mutex, OnceLock, PoisonError};

macro_rules! functions_of_all {
    ($(
        $feature:literal: $primitive:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        $(
            #[cfg(feature = $feature)]
            pub use crate::$primitive::host::*;
        )*
    };
}
primitives!(functions_of_all);

/// Returns the context of the functions without a context parameter. The first call opens it; it is never closed.
pub(crate) fn shared() -> Result<Context> {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    static OPENING: Mutex<()> = Mutex::new(());
    if let Some(context) = CONTEXT.get() {
        return Ok(context.clone());
    }
    // One thread opens the context while others wait. After a failure the next caller tries again.
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(context) = CONTEXT.get() {
        return Ok(context.clone());
    }
    let context = Context::new()?;
    Ok(CONTEXT.get_or_init(|| context).clone())
}

/// Converts the number of keys to a count.
pub(crate) fn count_of(keys: &[u32]) -> Result<u32> {
    let limit = u64::from(u32::MAX);
    let too_many = |_| Error::TooLarge { argument: "keys", value: keys.len() as u64, limit, why: "a 32-bit count" };
    u32::try_from(keys.len()).map_err(too_many)
}
