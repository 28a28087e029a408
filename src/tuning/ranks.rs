//! What is sorted by comparing every key with every other: which sizes, and by workgroups of which shapes.

use super::{malformed, parse_number};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Most words of keys that a workgroup has in shared memory at a time.
const MOST_WORDS: u32 = 8192;

/// How problems of some sizes are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizedRank {
    /// Maximum counts up to this one are sorted otherwise.
    pub above: u32,
    /// The same in place, where ranking takes a second dispatch: others still read what it would write.
    pub above_in_place: u32,
    /// The largest maximum count that is ranked so.
    pub up_to: u32,
    /// Invocations a workgroup.
    pub threads: u32,
    /// Items that a workgroup ranks: a power of two, at least 4, that divides the threads.
    pub items: u32,
}

impl SizedRank {
    /// Whether it serves a maximum count; in one dispatch, or in two.
    pub(crate) const fn serves(self, max_count: u32, at_once: bool) -> bool {
        let above = if at_once { self.above } else { self.above_in_place };
        above < max_count && max_count <= self.up_to
    }
}

/// Keys of so many words that a workgroup of so many threads has in shared memory at a time, beside a word for each thread: a power of two. 0
/// where it has no room for one.
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
