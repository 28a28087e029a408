//! Sizes and shapes of sorts by merging runs.

use super::{Shape, SmallShape};
use crate::core::settings::{malformed, parse_number};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Shapes of merge sorts up to a maximum count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizedMerge {
    /// Largest maximum count.
    pub up_to: u32,
    /// The run that one workgroup sorts.
    pub run: Shape,
    /// The window of the merged output that one workgroup writes.
    pub window: Shape,
}

impl SizedMerge {
    /// Distance of samples in a run, in items, if `fan` runs are merged: the largest one that still fills windows to
    /// three quarters.
    pub(crate) const fn step(self, fan: u32) -> u32 {
        let most = self.window.tile() / (4 * fan);
        if most == 0 { 1 } else { 1 << most.ilog2() }
    }

    /// Number of samples between the starts of two windows, so that no window exceeds the items of a workgroup. 0 if
    /// that is impossible. See glsl/merge/windows.glsl.
    pub(crate) const fn spacing(self, fan: u32) -> u32 {
        let step = self.step(fan);
        self.window.tile().saturating_sub(fan * (step - 1)) / step
    }

    /// Bytes of shared memory of the larger workgroup, for items of `words` words.
    pub(crate) const fn bytes(self, fan: u32, words: u32) -> u32 {
        let run = SmallShape::merge(self.run.threads, self.run.items).merge_bytes(words);
        let window = SmallShape::merge(self.window.threads, self.window.items).merge_bytes(words);
        // Also the run boundaries of a window.
        (if run > window { run } else { window }) + 4 * (4 * fan + 2)
    }
}

impl fmt::Display for SizedMerge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.up_to, self.run, self.window)
    }
}

impl FromStr for SizedMerge {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.split_once(':').and_then(|(up_to, shapes)| Some((up_to, shapes.split_once('/')?)));
        let (up_to, (run, window)) = parts.ok_or_else(|| malformed(format!("\"{text}\" is not size:run/window")))?;
        Ok(Self { up_to: parse_number(up_to)?, run: run.parse()?, window: window.parse()? })
    }
}
