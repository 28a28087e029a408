//! Rows of kernels, and everything that a plan knows of a pass: push constants are made of these facts.

use crate::shared::{Address, CountedProblem, PackedPass, RadixProblem, SegmentList, SegmentedProblem};

/// Everything that a plan knows of one pass, besides the row of a single problem. Members are those of the push
/// constants: see src/shared.rs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassFacts {
    pub(crate) scratch: u64,
    pub(crate) problems: u32,
    pub(crate) states: u32,
    pub(crate) problem_count: u32,
    pub(crate) windows: u32,
    pub(crate) commands: u32,
    pub(crate) tickets: u32,
    pub(crate) segments: SegmentList,
    pub(crate) chunk: u32,
    pub(crate) groups: u32,
    pub(crate) tile_items: u32,
    pub(crate) pass: PassIndex,
    pub(crate) digit: u32,
    pub(crate) step: u32,
}

/// The members of a [`PackedPass`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassIndex {
    pub(crate) index: u32,
    pub(crate) digits: u32,
    pub(crate) rows: u32,
    pub(crate) flags: u32,
}

impl PassIndex {
    pub(crate) fn has(self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

impl From<PassIndex> for PackedPass {
    fn from(PassIndex { index, digits, rows, flags }: PassIndex) -> Self {
        Self::new(index, digits, rows, flags)
    }
}

impl From<RadixProblem> for CountedProblem {
    fn from(RadixProblem { count, status, max_count, histogram, .. }: RadixProblem) -> Self {
        Self { count, status, max_count, histogram }
    }
}

impl From<RadixProblem> for SegmentedProblem {
    fn from(problem: RadixProblem) -> Self {
        let RadixProblem { keys, values, to_keys, to_values, alternate_keys, alternate_values, .. } = problem;
        let RadixProblem { status, max_count, strides, histogram, .. } = problem;
        Self {
            keys,
            values,
            to_keys,
            to_values,
            alternate_keys,
            alternate_values,
            status,
            max_count,
            strides,
            histogram,
        }
    }
}

impl RadixProblem {
    /// Stride of the input's keys, in words, or in bytes if they are narrower.
    pub(crate) fn key_stride(&self) -> u32 {
        self.strides & 0xffff
    }
}

/// The address `bytes` after this one.
pub(crate) fn behind(address: Address, bytes: u64) -> Address {
    u64::from(address).wrapping_add(bytes).into()
}
