//! Settings that only tests of the library change.

use super::{malformed, parse_number};
use crate::Result;
use std::fmt;

/// Rare events on demand: late tiles, wrong ranks, a ring that is always full. Tests of the library set them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// One tile in this many is late; 0: none.
    pub delay_every: u32,
    /// Whether atomic counters rank the lanes of a subgroup in a wrong order, so that every tile is ranked again.
    pub wrong_ranks: bool,
    /// Number of tiles in the ring: a power of two.
    pub ring_entries: u32,
    /// Largest distance of a look-back in the ring, in tiles.
    pub ring_reach: u32,
}

impl Default for Hooks {
    /// The values of every profile outside of tests. The ring is as large as the record on an H200 wants it.
    fn default() -> Self {
        Self { delay_every: 0, wrong_ranks: false, ring_entries: 1024, ring_reach: 64 }
    }
}

impl Hooks {
    /// Names of the lines.
    pub(super) const NAMES: [&str; 4] = ["delay_every", "wrong_ranks", "ring_entries", "ring_reach"];

    /// Reads the lines that `value` finds. Others have the default value.
    pub(super) fn read<'a>(value: impl Fn(&str) -> Result<Option<&'a str>>) -> Result<Self> {
        let number = |name, default| value(name)?.map_or(Ok(default), parse_number);
        let Self { delay_every, wrong_ranks, ring_entries, ring_reach } = Self::default();
        Ok(Self {
            delay_every: number(Self::NAMES[0], delay_every)?,
            wrong_ranks: match value(Self::NAMES[1])? {
                None => wrong_ranks,
                Some(text) => text.parse().map_err(|_| malformed(format!("\"{text}\" is neither true nor false")))?,
            },
            ring_entries: number(Self::NAMES[2], ring_entries)?,
            ring_reach: number(Self::NAMES[3], ring_reach)?,
        })
    }
}

impl fmt::Display for Hooks {
    /// A line for each value that is not the default one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = |Self { delay_every, wrong_ranks, ring_entries, ring_reach }: &Self| {
            [delay_every.to_string(), wrong_ranks.to_string(), ring_entries.to_string(), ring_reach.to_string()]
        };
        let named = Self::NAMES.into_iter().zip(lines(self)).zip(lines(&Self::default()));
        named
            .filter(|((_, value), default)| value != default)
            .try_for_each(|((name, value), _)| writeln!(f, "{name} = {value}"))
    }
}
