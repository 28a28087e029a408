//! What is sorted by merging runs: which sizes, and by workgroups of which shapes.

use super::{Shape, malformed, parse_number};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Shapes for problems up to a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizedMerge {
    /// The largest maximum count that is merged so.
    pub up_to: u32,
    /// What one workgroup sorts, a run.
    pub run: Shape,
    /// What one workgroup merges, a window.
    pub window: Shape,
}

impl SizedMerge {
    /// Of the items of a run every so many one is a sample, where so many runs are merged into one: as few samples as leave windows three
    /// quarters full.
    pub(crate) const fn step(self, fan: u32) -> u32 {
        let most = self.window.tile() / (4 * fan);
        if most == 0 { 1 } else { 1 << most.ilog2() }
    }

    /// Samples from one that begins a window to the next, so that none is more than a workgroup takes: see glsl/sort/windows.glsl. 0 where
    /// that cannot be.
    pub(crate) const fn spacing(self, fan: u32) -> u32 {
        let step = self.step(fan);
        self.window.tile().saturating_sub(fan * (step - 1)) / step
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
