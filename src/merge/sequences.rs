//! The sequences of a merge after A and B.

use crate::core::memory::{MAX_ARGUMENTS, MAX_NAMED};
use crate::{Count, Error, Range, Result};

/// Most sequences of one merge, A and B included.
pub(super) const MOST_SEQUENCES: u32 = 16;

/// Most sequences after A and B.
pub(super) const MOST_MORE: usize = MOST_SEQUENCES as usize - 2;
const _: () = assert!(MAX_ARGUMENTS + 3 * MOST_MORE <= MAX_NAMED, "each has keys, values and a count");

/// A sequence after A and B, sorted in the merger's order.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeSequence {
    /// Number of items, on the host or on the device. It may be 0.
    pub count: Count,
    /// `count.max` keys, or {key, value} items if interleaved, aligned to 4 bytes. Only read. May overlap other
    /// sequences, but no output.
    pub keys: Range,
    /// `count.max` values. Ignored without values and with interleaved items.
    pub values: Range,
}

/// Checks a number of sequences after A and B.
pub(crate) fn check_len(len: usize) -> Result<()> {
    if len > MOST_MORE {
        let (value, limit) = (len as u64, MOST_MORE as u64);
        let why = "the most sequences after A and B";
        return Err(Error::TooLarge { argument: "moreSequenceCount", value, limit, why });
    }
    Ok(())
}
