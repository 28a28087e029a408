//! Memory of a device for the checks of its batches.

use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

/// Spans that the memory holds. They suffice for two ranges, such as keys and values, of each of the 2^20 problems that
/// a batch has at most.
pub(crate) const DEVICE_SPANS: usize = 1 << 21;

/// A span as words.
pub(crate) type SpanWords = [u64; 2];

/// [`DEVICE_SPANS`] spans, for one thread at a time: 32 MiB of addresses, allocated as zeros.
///
/// Where the system hands out zeros page by page, as Linux does, a page takes memory once a batch is so large that its
/// check uses the page.
#[derive(Debug, Default)]
pub(crate) struct CheckMemory(OnceLock<Mutex<Box<[SpanWords]>>>);

impl CheckMemory {
    /// Allocates the memory, unless it exists.
    pub(crate) fn allocate(&self) {
        // A vector of words that are zero is not written.
        self.0.get_or_init(|| Mutex::new(vec![[0; 2]; DEVICE_SPANS].into()));
    }

    /// The memory, unless another thread uses it. Does not wait.
    #[cfg_attr(not(feature = "primitive"), allow(dead_code, reason = "batches take it"))]
    pub(crate) fn take(&self) -> Option<MutexGuard<'_, Box<[SpanWords]>>> {
        match self.0.get()?.try_lock() {
            Ok(memory) => Some(memory),
            // A check reads no span that it has not written.
            Err(TryLockError::Poisoned(memory)) => Some(memory.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
