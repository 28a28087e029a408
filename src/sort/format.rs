//! What a sorter sorts: the caller's words for it, and what kernels make of them.

use crate::shared::{
    ENCODING_BIG_END_FIRST, ENCODING_DESCENDING, ENCODING_FLOAT, ENCODING_SIGNED, FLAG_EVEN, FLAG_ODD, LAYOUT_DROP_KEYS,
    LAYOUT_INDICES, LAYOUT_INTERLEAVED, LAYOUT_KEYS_APART, LAYOUT_STRIDED, LAYOUT_VALUES_APART, MAX_VALUE_WORDS, RADIX, RADIX_BITS,
};
use crate::{Error, Result, Strategy};

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

    const fn encoding(self) -> u32 {
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => 0,
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => ENCODING_SIGNED,
            Self::F16 | Self::Bf16 | Self::F32 | Self::F64 => ENCODING_FLOAT,
            Self::U32x2 | Self::U32x3 | Self::U32x4 => ENCODING_BIG_END_FIRST,
        }
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    /// One array of items, each a key and, directly behind it, its value. Keys of 4 bytes or more.
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
    /// Sorted keys are not wanted: they are not written by the last pass, and what their array holds afterwards means nothing.
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
        Format::new(self).map(drop)
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

/// Most keys whose places 30 bits count and whose addresses 32 bits reach.
pub(crate) const MAX_NARROW_COUNT: u32 = 1 << 30;

/// What kernels and plans need to know of a [`SorterInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Format {
    pub(crate) key_size: u32,
    pub(crate) key_words: u32,
    /// Of the most significant word.
    pub(crate) key_bits: u32,
    /// `ENCODING_` bits.
    pub(crate) encoding: u32,
    pub(crate) value_size: u32,
    /// As the passes move them: values of any size go as their places.
    pub(crate) value_words: u32,
    /// `LAYOUT_` bits.
    pub(crate) layout: u32,
    pub(crate) placement: Placement,
    pub(crate) segmented: bool,
    pub(crate) begin_bit: u32,
    pub(crate) end_bit: u32,
    pub(crate) max_count: u32,
    /// Where items only go to buckets.
    pub(crate) split: Option<SplitBy>,
}

/// What takes the keys of a split to bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SplitBy {
    /// A `FUNCTION_` constant.
    pub(crate) function: u32,
    pub(crate) buckets: u32,
    /// As many, or one more, for keys of no bucket.
    pub(crate) bins: u32,
}

impl Format {
    /// # Errors
    /// What no sorter can be: names the member and why.
    pub(crate) fn new(info: &SorterInfo) -> Result<Self> {
        let malformed = |argument, why: &str| Err(Error::Malformed { argument, why: why.to_owned() });
        let bits = info.key.bits();
        let end_bit = if info.end_bit == 0 { bits } else { info.end_bit };
        if end_bit > bits {
            return Err(Error::TooLarge {
                argument: "endBit",
                value: end_bit.into(),
                limit: bits.into(),
                why: "the bits of the key",
            });
        }
        if info.begin_bit >= end_bit {
            return malformed("beginBit", &format!("{} leaves no bit before {end_bit}", info.begin_bit));
        }
        let value_size = info.value.size();
        let apart_values = value_size > MAX_VALUE_WORDS * 4;
        if !value_size.is_multiple_of(4) || (value_size == 0 && info.value != ValueType::None) || value_size > MAX_VALUE_SIZE {
            return malformed("valueSize", &format!("{value_size} is not a multiple of 4 from 4 to {MAX_VALUE_SIZE}"));
        }
        if info.drop_keys && info.value == ValueType::None {
            return malformed("dropKeys", "nothing would be left");
        }
        let narrow = bits < 32;
        if info.layout == Layout::Interleaved {
            if narrow {
                return malformed("layout", "keys narrower than a word do not lie beside their values");
            }
            if value_size == 0 || apart_values || info.value == ValueType::Index || info.drop_keys {
                return malformed("layout", "items are a key and a value of 4 to 16 bytes, which both are read and written");
            }
        }
        if info.layout == Layout::Strided {
            if apart_values {
                return malformed("layout", "values of more than 16 bytes are dense");
            }
            if info.placement != Placement::Preserve {
                return malformed("layout", "what is strided is only read: placement must be preserve");
            }
        }
        let max_count = if info.max_count == 0 { MAX_NARROW_COUNT } else { info.max_count };
        if max_count > MAX_NARROW_COUNT && (narrow || apart_values) {
            let why = "the most keys narrower than a word, or with values of more than 16 bytes";
            let (value, limit) = (max_count.into(), MAX_NARROW_COUNT.into());
            return Err(Error::TooLarge { argument: "maxCount", value, limit, why });
        }
        let layout = [
            (info.layout == Layout::Interleaved, LAYOUT_INTERLEAVED),
            (info.layout == Layout::Strided, LAYOUT_STRIDED),
            (info.value == ValueType::Index || apart_values, LAYOUT_INDICES),
            (info.drop_keys, LAYOUT_DROP_KEYS),
            (narrow || info.placement == Placement::Preserve && info.drop_keys, LAYOUT_KEYS_APART),
            (apart_values, LAYOUT_VALUES_APART),
        ];
        let descending = if info.order == Order::Descending { ENCODING_DESCENDING } else { 0 };
        Ok(Self {
            key_size: info.key.size(),
            key_words: bits.div_ceil(32),
            key_bits: bits.min(32),
            encoding: info.key.encoding() | descending,
            value_size,
            value_words: if apart_values { 1 } else { value_size / 4 },
            layout: layout.iter().filter(|(set, _)| *set).fold(0, |all, (_, bit)| all | bit),
            placement: info.placement,
            segmented: info.segmented,
            begin_bit: info.begin_bit,
            end_bit,
            max_count,
            split: None,
        })
    }

    pub(crate) const fn has(&self, layout: u32) -> bool {
        self.layout & layout != 0
    }

    pub(crate) const fn narrow(&self) -> bool {
        self.key_bits < 32
    }

    /// Bytes from one key to the next where keys are dense.
    pub(crate) const fn key_step(&self) -> u32 {
        if self.has(LAYOUT_INTERLEAVED) { self.key_size + self.value_size } else { self.key_size }
    }

    /// Whether values have an array of their own.
    pub(crate) const fn values_separate(&self) -> bool {
        self.value_size != 0 && !self.has(LAYOUT_INTERLEAVED)
    }

    pub(crate) const fn wide(&self) -> bool {
        self.max_count > MAX_NARROW_COUNT
    }

    /// Words of a key that hold bits that are sorted by.
    pub(crate) fn compared_words(&self) -> u32 {
        (self.end_bit - 1) / 32 - self.begin_bit / 32 + 1
    }

    /// Words of an item that is merged: see glsl/sort/compare.glsl.
    pub(crate) fn merged_words(&self) -> u32 {
        let compared = self.compared_words();
        compared + u32::from(self.value_words != 0 || compared != self.key_words)
    }

    /// Digits that are sorted by: each of 8 bits or fewer, within one word of the key.
    pub(crate) fn digits(&self) -> u32 {
        let first_end = (self.begin_bit / 32 * 32 + 32).min(self.end_bit);
        (first_end - self.begin_bit).div_ceil(RADIX_BITS) + (self.end_bit - first_end).div_ceil(RADIX_BITS)
    }

    /// The digit's word, its first bit there, and its number of bits.
    pub(crate) fn digit(&self, index: u32) -> Digit {
        let in_first = (32 - self.begin_bit % 32).div_ceil(RADIX_BITS);
        let (word, shift) = match index.checked_sub(in_first) {
            None => (self.begin_bit / 32, self.begin_bit % 32 + index * RADIX_BITS),
            Some(index) => (self.begin_bit / 32 + 1 + index / 4, index % 4 * RADIX_BITS),
        };
        Digit { word, shift, bits: (self.end_bit - word * 32).min(32).saturating_sub(shift).min(RADIX_BITS) }
    }

    /// Whether moves must be even or odd in number, as a `FLAG_`; 0 where they need not.
    pub(crate) fn rule(&self) -> u32 {
        let keys_there = !self.has(LAYOUT_KEYS_APART);
        let values_there = self.values_separate() && !self.has(LAYOUT_INDICES);
        match self.placement {
            Placement::Preserve => 0,
            Placement::InPlace if keys_there || values_there => FLAG_EVEN,
            Placement::InPlace => 0,
            Placement::DoubleBuffer if self.digits().is_multiple_of(2) => FLAG_EVEN,
            Placement::DoubleBuffer => FLAG_ODD,
        }
    }

    /// Whether the result lies right when every digit has been sorted by, without a copy.
    pub(crate) fn ends_right(&self) -> bool {
        match self.rule() {
            FLAG_EVEN => self.digits().is_multiple_of(2),
            FLAG_ODD => !self.digits().is_multiple_of(2),
            _ => true,
        }
    }

    /// Bins of a pass. Segments have rows of counts that are whole parts of scratch.
    pub(crate) fn bins(&self) -> u32 {
        match self.split {
            Some(split) => split.bins,
            None if self.digits() == 1 && !self.segmented => 1 << self.digit(0).bits,
            None => RADIX,
        }
    }

    /// Whether keys may belong to no bucket.
    pub(crate) fn strays(&self) -> bool {
        self.split.is_some_and(|split| split.bins > split.buckets)
    }

    /// Whether every digit has all its bits.
    pub(crate) fn full_digits(&self) -> bool {
        (0..self.digits()).all(|index| self.digit(index).bits == RADIX_BITS)
    }
}

/// Largest value: what one word of `SortProblem::strides` holds, with room.
const MAX_VALUE_SIZE: u32 = 4096;

/// So many bits of one word, from `shift` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The word, 0 the least significant.
    pub word: u32,
    /// Its first bit there.
    pub shift: u32,
    /// Its number of bits, 8 at most.
    pub bits: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(begin_bit: u32, end_bit: u32) -> Format {
        Format::new(&SorterInfo { key: KeyType::U32x4, begin_bit, end_bit, ..SorterInfo::keys() }).unwrap()
    }

    #[test]
    fn digits_cover_every_bit_once() {
        for begin in 0..128 {
            for end in begin + 1..=128 {
                let format = format(begin, end);
                let bits = (0..format.digits()).flat_map(|index| {
                    let digit = format.digit(index);
                    assert!((1..=RADIX_BITS).contains(&digit.bits) && digit.shift + digit.bits <= 32, "{begin}..{end}: {digit:?}");
                    (0..digit.bits).map(move |bit| digit.word * 32 + digit.shift + bit)
                });
                assert_eq!(bits.collect::<Vec<_>>(), (begin..end).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn moves_end_where_the_result_belongs() {
        let passes = |placement, end_bit| {
            let format = Format::new(&SorterInfo { placement, end_bit, ..SorterInfo::keys() }).unwrap();
            (format.digits(), format.rule(), format.ends_right())
        };
        assert_eq!(passes(Placement::InPlace, 32), (4, FLAG_EVEN, true));
        assert_eq!(passes(Placement::InPlace, 24), (3, FLAG_EVEN, false), "a copy brings three digits back");
        assert_eq!(passes(Placement::DoubleBuffer, 24), (3, FLAG_ODD, true));
        assert_eq!(passes(Placement::DoubleBuffer, 9), (2, FLAG_EVEN, true));
        assert_eq!(passes(Placement::Preserve, 24), (3, 0, true));
    }

    #[test]
    fn what_no_sorter_can_be() {
        let keys = SorterInfo::keys();
        for (info, text) in [
            (SorterInfo { end_bit: 33, ..keys }, "endBit 33 > 32, the bits of the key"),
            (SorterInfo { begin_bit: 8, end_bit: 8, ..keys }, "beginBit is malformed: 8 leaves no bit before 8"),
            (SorterInfo { value: ValueType::Bytes(6), ..keys }, "valueSize is malformed: 6 is not a multiple of 4 from 4 to 4096"),
            (SorterInfo { value: ValueType::Bytes(0), ..keys }, "valueSize is malformed: 0 is not a multiple of 4 from 4 to 4096"),
            (SorterInfo { drop_keys: true, ..keys }, "dropKeys is malformed: nothing would be left"),
            (
                SorterInfo { layout: Layout::Interleaved, ..keys },
                "layout is malformed: items are a key and a value of 4 to 16 bytes, which both are read and written",
            ),
            (
                SorterInfo { layout: Layout::Interleaved, key: KeyType::U8, ..SorterInfo::pairs() },
                "layout is malformed: keys narrower than a word do not lie beside their values",
            ),
            (
                SorterInfo { layout: Layout::Strided, ..keys },
                "layout is malformed: what is strided is only read: placement must be preserve",
            ),
            (
                SorterInfo { key: KeyType::F16, max_count: u32::MAX, ..keys },
                "maxCount 4294967295 > 1073741824, the most keys narrower than a word, or with values of more than 16 bytes",
            ),
        ] {
            assert_eq!(Format::new(&info).map_err(|error| error.to_string()), Err(text.to_owned()));
        }
    }
}
