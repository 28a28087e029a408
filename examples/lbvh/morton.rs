//! The width of Morton codes, and the cell of a code.

use clap::ValueEnum;
use trommel::KeyType;

/// Codes interleave the cells of the three axes, x in the highest bit of each group of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Morton {
    /// Ten bits per axis, in a word.
    #[value(name = "30")]
    Bits30,
    /// 21 bits per axis, in two words.
    #[value(name = "63")]
    Bits63,
}

impl Morton {
    /// The value of the specialization constant `MORTON_BITS` in ../common/glsl/tree.glsl.
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::Bits30 => 30,
            Self::Bits63 => 63,
        }
    }

    /// The key type of the sort. The bits above a code are zero and cost no pass: 30 bits have as many digits as 32,
    /// and 63 as many as 64.
    pub(crate) const fn key(self) -> KeyType {
        match self {
            Self::Bits30 => KeyType::U32,
            Self::Bits63 => KeyType::U64,
        }
    }

    /// Bytes of a code.
    pub(crate) const fn size(self) -> u64 {
        match self {
            Self::Bits30 => 4,
            Self::Bits63 => 8,
        }
    }

    /// Number of cells along an axis.
    pub(crate) const fn cells(self) -> u32 {
        1 << (self.bits() / 3)
    }

    /// Returns the cell of a code along an axis: every third bit, packed.
    pub(crate) fn cell(self, code: u64, axis: usize) -> u32 {
        (0..self.bits() / 3).map(|bit| ((code >> (2 - axis) >> (3 * bit) & 1) as u32) << bit).sum()
    }
}
