//! Layout arithmetic: where the parts of a scratch range begin. Sizes are 64-bit and checked.

use crate::{Error, Result};

/// Parts begin at multiples of this, so that neighbours share no cache line and rows coalesce.
pub(crate) const PART_ALIGNMENT: u64 = 256;

/// Hands out parts of a range, one after the other. Offsets are relative to the range's first byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    end: u64,
}

impl Layout {
    /// The offset of a new part of `bytes` bytes.
    pub(crate) fn part(&mut self, bytes: u64) -> Result<u64> {
        let start = self.end.checked_next_multiple_of(PART_ALIGNMENT).ok_or_else(overflow)?;
        self.end = start.checked_add(bytes).ok_or_else(overflow)?;
        Ok(start)
    }

    /// Bytes handed out so far.
    pub(crate) fn size(self) -> u64 {
        self.end
    }
}

fn overflow() -> Error {
    Error::TooLarge { argument: "scratch.size", value: u64::MAX, limit: u64::MAX - PART_ALIGNMENT, why: "the size of an address" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_apart_and_aligned() {
        let mut layout = Layout::default();
        let first = layout.part(1).unwrap();
        let second = layout.part(300).unwrap();
        let third = layout.part(0).unwrap();
        assert_eq!((first, second, third), (0, 256, 768), "each part begins at the next multiple of 256");
        assert_eq!(layout.size(), 768);
    }

    #[test]
    fn overflow_is_an_error() {
        let mut layout = Layout::default();
        layout.part(u64::MAX - 10).unwrap();
        assert!(layout.part(1).is_err(), "no room is left below 2^64");
    }
}
