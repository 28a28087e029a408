//! What a sorter is asked for, in the caller's words.

use crate::shared::{ENCODING_BIG_END_FIRST, ENCODING_FLOAT, ENCODING_SIGNED};
use crate::{Result, Strategy};

/// What the keys are. Arrays of them are dense and aligned to the key's size, 4 bytes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyType {
    /// `u32`
    #[default]
    U32,
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u64`, low word first
    U64,
    /// `i8`
    I8,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `i64`, low word first
    I64,
    /// IEEE 754 binary16. As all floats in total order: -NaN, -inf, ..., -0, +0, ..., +inf, NaN.
    F16,
    /// bfloat16: the upper half of an `f32`
    Bf16,
    /// `f32`
    F32,
    /// `f64`, low word first
    F64,
    /// Two `u32`, the first the most significant
    U32x2,
    /// Three `u32`, the first the most significant
    U32x3,
    /// Four `u32`, the first the most significant
    U32x4,
}

impl KeyType {
    /// Every type of key.
    pub const ALL: [Self; 15] = [
        Self::U32,
        Self::U8,
        Self::U16,
        Self::U64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F16,
        Self::Bf16,
        Self::F32,
        Self::F64,
        Self::U32x2,
        Self::U32x3,
        Self::U32x4,
    ];

    /// Bits of a key.
    pub const fn bits(self) -> u32 {
        match self {
            Self::U8 | Self::I8 => 8,
            Self::U16 | Self::I16 | Self::F16 | Self::Bf16 => 16,
            Self::U32 | Self::I32 | Self::F32 => 32,
            Self::U64 | Self::I64 | Self::F64 | Self::U32x2 => 64,
            Self::U32x3 => 96,
            Self::U32x4 => 128,
        }
    }

    /// Bytes of a key.
    pub const fn size(self) -> u32 {
        self.bits() / 8
    }

    /// What kernels need to know of one.
    #[cfg(feature = "split")]
    pub(crate) const fn plain(self) -> PlainKey {
        PlainKey { words: self.bits().div_ceil(32), encoding: self.encoding() }
    }

    pub(super) const fn encoding(self) -> u32 {
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => 0,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => ENCODING_SIGNED,
            Self::F16 | Self::Bf16 | Self::F32 | Self::F64 => ENCODING_FLOAT,
            Self::U32x2 | Self::U32x3 | Self::U32x4 => ENCODING_BIG_END_FIRST,
        }
    }
}

/// A key as kernels see it.
#[cfg(feature = "split")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainKey {
    pub(crate) words: u32,
    /// `ENCODING_` bits.
    pub(crate) encoding: u32,
}

/// Which key comes first. Equal keys keep their order either way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The smallest.
    #[default]
    Ascending,
    /// The largest.
    Descending,
}

/// What moves with each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// Nothing.
    #[default]
    None,
    /// 4 bytes.
    U32,
    /// So many bytes, a multiple of 4. Up to 16 they move with the keys in every pass; larger values are fetched once, at the end, by the
    /// place that their key came from.
    Bytes(u32),
    /// The place that the key came from, from 0 on: an argsort. No values are read.
    Index,
}

impl ValueType {
    /// Bytes of a value.
    pub const fn size(self) -> u32 {
        match self {
            Self::None => 0,
            Self::U32 | Self::Index => 4,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Where the result lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// Where the input was. Scratch holds arrays as long.
    #[default]
    InPlace,
    /// In arrays of its own; the input is left as it was. Scratch holds arrays as long.
    Preserve,
    /// In the input's arrays or in the second ones that the caller gives, as [`crate::Sorter::result_side`] tells. Both are written;
    /// scratch holds no arrays, but for keys narrower than a word, for values of more than 16 bytes, and for medium counts where these are sorted
    /// by merging.
    DoubleBuffer,
}

/// How items lie in the caller's arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Keys in one array, values in another.
    #[default]
    Separate,
    /// One array of items, each a key and, directly behind it, its value. Keys of 4 bytes or more. Refused with [`ValueType::Index`], and where keys
    /// are dropped.
    Interleaved,
    /// Keys and values that are read may lie further apart than they are long, as members of larger structs do: strides say how far.
    /// The result is dense, in arrays of its own.
    Strided,
}

/// What [`crate::Sorter::new`] makes. The default: `u32` keys alone, ascending, in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SorterInfo {
    /// The keys.
    pub key: KeyType,
    /// Which come first.
    pub order: Order,
    /// First bit that is sorted by, counted from the least significant bit of the key as it is ordered: a float's or a signed integer's
    /// sign is turned before.
    pub begin_bit: u32,
    /// One past the last bit that is sorted by; 0: the key's last.
    pub end_bit: u32,
    /// The values.
    pub value: ValueType,
    /// Sorted keys are not wanted: they are not written by the last pass, and what their array holds afterwards means nothing. Refused without
    /// values, where nothing would be left.
    pub drop_keys: bool,
    /// Where the result lies.
    pub placement: Placement,
    /// How items lie.
    pub layout: Layout,
    /// The arrays are cut into segments, each of which is sorted by itself: [`crate::SortInfo::segments`].
    pub segmented: bool,
    /// The largest count of any sort. 0: 2^30, beyond which kernels need 64-bit addresses and are a little slower.
    pub max_count: u32,
    /// How. All give the same bytes.
    pub strategy: Strategy,
}

impl SorterInfo {
    /// `u32` keys alone.
    pub const fn keys() -> Self {
        Self {
            key: KeyType::U32,
            order: Order::Ascending,
            begin_bit: 0,
            end_bit: 0,
            value: ValueType::None,
            drop_keys: false,
            placement: Placement::InPlace,
            layout: Layout::Separate,
            segmented: false,
            max_count: 0,
            strategy: Strategy::Auto,
        }
    }

    /// Whether there can be such a sorter, on whatever device: for tests of all that there can be.
    #[doc(hidden)]
    #[allow(clippy::missing_errors_doc, reason = "what Sorter::new tells")]
    pub fn check(&self) -> Result<()> {
        super::Format::new(self).map(drop)
    }

    /// `u32` keys with 4-byte values.
    pub const fn pairs() -> Self {
        Self { value: ValueType::U32, ..Self::keys() }
    }

    /// The order of keys as indices into them, which are left as they were.
    pub const fn argsort(key: KeyType) -> Self {
        Self { key, value: ValueType::Index, drop_keys: true, placement: Placement::Preserve, ..Self::keys() }
    }

    /// The same by a given strategy.
    pub const fn strategy(self, strategy: Strategy) -> Self {
        Self { strategy, ..self }
    }
}
