//! Sizes and shapes of all-pairs ranking, which compares every key with every other.

use crate::core::settings::{malformed, parse_number};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Maximum number of key words in the shared memory of a workgroup.
const MOST_WORDS: u32 = 8192;

/// A range of maximum counts that are sorted by all-pairs ranking, and its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizedRank {
    /// Smaller or equal maximum counts are sorted by other algorithms.
    pub above: u32,
    /// As `above`, for sorts in place. They need a second dispatch: other workgroups still read the input.
    pub above_in_place: u32,
    /// Largest maximum count of the range.
    pub up_to: u32,
    /// Invocations of a workgroup.
    pub threads: u32,
    /// Items that a workgroup ranks: a power of two, at least 4, that divides `threads`.
    pub items: u32,
}

/// Number of keys of `words` words that fit the shared memory of a workgroup, besides a word for each thread: a power
/// of two, or 0 if no key fits.
pub(crate) const fn ranked_chunk(threads: u32, words: u32, shared_memory: u32) -> u32 {
    let room = (shared_memory / 4).saturating_sub(threads);
    let room = if room < MOST_WORDS { room } else { MOST_WORDS };
    match (room / words).checked_ilog2() {
        Some(log) => 1 << log,
        None => 0,
    }
}

impl fmt::Display for SizedRank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}..{}:{}/{}", self.above, self.above_in_place, self.up_to, self.threads, self.items)
    }
}

impl FromStr for SizedRank {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once(':').and_then(|(sizes, shape)| {
            let (above, up_to) = sizes.split_once("..")?;
            Some((above.split_once(',')?, up_to, shape.split_once('/')?))
        });
        let ((above, above_in_place), up_to, (threads, items)) =
            parts.ok_or_else(|| malformed(format!("\"{text}\" is not above,above in place..size:threads/items")))?;
        Ok(Self {
            above: parse_number(above)?,
            above_in_place: parse_number(above_in_place)?,
            up_to: parse_number(up_to)?,
            threads: parse_number(threads)?,
            items: parse_number(items)?,
        })
    }
}
