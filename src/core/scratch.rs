//! Layout arithmetic: where the parts of a scratch range begin. Sizes are 64-bit and checked.

use super::memory::Range;
use crate::{Error, Result};

/// Parts begin at multiples of this, so that parts share no cache line and accesses to rows coalesce.
pub(crate) const PART_ALIGNMENT: u64 = 256;

/// Most bytes of scratch of one recording: kernels name a part by a `u32` multiple of [`PART_ALIGNMENT`].
pub(crate) const MAX_SCRATCH: u64 = PART_ALIGNMENT << u32::BITS;

/// Allocates parts of a range, one after the other. Offsets are relative to the range's first byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    end: u64,
    size: u64,
}

impl Layout {
    /// The offset of a new part of `bytes` bytes.
    pub(crate) fn part(&mut self, bytes: u64) -> Result<u64> {
        let start = self.end.saturating_add(PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
        let end = start.saturating_add(bytes);
        if end > MAX_SCRATCH {
            let why = "the most scratch of one recording";
            return Err(Error::TooLarge { argument: "scratch.size", value: end, limit: MAX_SCRATCH, why });
        }
        self.end = end;
        self.size = self.size.max(end);
        Ok(start)
    }

    /// A new part of `bytes` bytes, in scratch that begins at the address `scratch`. No part without bytes.
    pub(crate) fn range(&mut self, scratch: u64, bytes: u64) -> Result<Range> {
        Ok(if bytes == 0 { Range::NONE } else { Range::new(scratch.wrapping_add(self.part(bytes)?), bytes) })
    }

    /// Bytes of all parts so far.
    pub(crate) fn size(self) -> u64 {
        self.size
    }

    /// Lets parts that follow lie where those do that begin at `end` or behind: their last use is over by then.
    #[cfg_attr(not(test), allow(dead_code, reason = "primitives that are made of others call it"))]
    pub(crate) fn reuse_behind(&mut self, end: u64) {
        self.end = end;
    }
}

/// The offset of a part of the scratch at the address `scratch`, as kernels name it: in units of [`PART_ALIGNMENT`]. 0
/// without bytes.
pub(crate) fn part_number(scratch: u64, range: Range) -> u32 {
    if range.size == 0 {
        return 0;
    }
    let part = u32::try_from(range.address.wrapping_sub(scratch) / PART_ALIGNMENT);
    debug_assert!(part.is_ok(), "layouts are no larger than MAX_SCRATCH");
    part.unwrap_or(u32::MAX)
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
    fn more_than_kernels_can_name_is_an_error() {
        let mut layout = Layout::default();
        layout.part(MAX_SCRATCH - 256).unwrap();
        let full = layout;
        assert_eq!(layout.part(256).unwrap(), MAX_SCRATCH - 256, "the last part begins below the limit");
        assert_eq!(layout.size(), MAX_SCRATCH);
        for bytes in [257, u64::MAX] {
            let mut layout = full;
            let refused = layout.part(bytes).map_err(|error| error.to_string());
            let value = (MAX_SCRATCH - 256).saturating_add(bytes);
            assert_eq!(
                refused,
                Err(format!("scratch.size {value} > 1099511627776, the most scratch of one recording"))
            );
            assert_eq!(layout.size(), full.size(), "a refused part takes nothing");
        }
    }
}
