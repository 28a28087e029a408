//! The sequences of a merge after A and B.

use crate::core::memory::{MAX_ARGUMENTS, MAX_NAMED};
use crate::{Count, Error, Range, Result};
use std::fmt;

/// Most sequences of one merge, A and B included.
pub(super) const MOST_SEQUENCES: u32 = 16;

/// Most sequences after A and B.
const MOST_MORE: usize = MOST_SEQUENCES as usize - 2;
const _: () = assert!(MAX_ARGUMENTS + 3 * MOST_MORE <= MAX_NAMED, "each has keys, values and a count");

/// A sorted sequence after A and B.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeSequence {
    /// Number of items.
    pub count: Count,
    /// `count.max` keys, or {key, value} items if interleaved. Only read. May overlap other sequences.
    pub keys: Range,
    /// `count.max` values. Ignored without values and with interleaved items.
    pub values: Range,
}

/// Up to 14 sequences after A and B, in order. The default: none.
///
/// ```
/// # use trommel::{MergeSequence, MoreSequences};
/// let more = MoreSequences::new(&[MergeSequence::default(); 2])?;
/// assert_eq!(more.as_slice().len(), 2);
/// assert!(MoreSequences::new(&[MergeSequence::default(); 15]).is_err());
/// # Ok::<(), trommel::Error>(())
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct MoreSequences {
    /// Those from `len` on are defaults.
    sequences: [MergeSequence; MOST_MORE],
    len: usize,
}

impl MoreSequences {
    /// Copies the sequences.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for more than 14.
    pub fn new(sequences: &[MergeSequence]) -> Result<Self> {
        Self::check_len(sequences.len())?;
        let mut all = Self::default();
        sequences.iter().for_each(|sequence| all.push(*sequence));
        Ok(all)
    }

    /// The sequences in order.
    pub fn as_slice(&self) -> &[MergeSequence] {
        self.sequences.get(..self.len).unwrap_or_default()
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

    /// Appends a sequence. One without room is left out: see [`MoreSequences::check_len`].
    pub(crate) fn push(&mut self, sequence: MergeSequence) {
        if let Some(next) = self.sequences.get_mut(self.len) {
            *next = sequence;
            self.len += 1;
        }
    }
}

impl fmt::Debug for MoreSequences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}
