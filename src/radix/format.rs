//! Formats: the parameters of items and of the passes over them, in the form that kernels and plans use.

use super::items::{ItemsInfo, Layout, Order, Placement, ValueType};
use crate::shared::{
    ENCODING_DESCENDING, FLAG_EVEN, FLAG_ODD, FUNCTION_DIGIT, LAYOUT_DROP_KEYS, LAYOUT_INDICES, LAYOUT_INTERLEAVED,
    LAYOUT_KEY_ARRAY_WORDS_SHIFT, LAYOUT_KEYS_IN_SCRATCH, LAYOUT_LABELS, LAYOUT_STRIDED, LAYOUT_VALUES_IN_SCRATCH,
    MAX_VALUE_WORDS, OUTPUT_BUCKETS, OUTPUT_ONE, OUTPUT_PLACED, OUTPUT_RANKS, RADIX, RADIX_BITS,
};
use crate::{Error, Result};

/// Maximum count for indices of 30 bits and byte offsets of 32 bits.
pub(crate) const MAX_NARROW_COUNT: u32 = 1 << 30;

/// The items of an [`ItemsInfo`] in the form that kernels and plans use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Format {
    pub(crate) key_size: u32,
    pub(crate) key_words: u32,
    /// Bits of the most significant word.
    pub(crate) key_bits: u32,
    /// `ENCODING_` bits.
    pub(crate) encoding: u32,
    pub(crate) value_size: u32,
    /// Words of a value as passes move it: large values are moved as their source index.
    pub(crate) value_words: u32,
    /// `LAYOUT_` bits.
    pub(crate) layout: u32,
    pub(crate) placement: Placement,
    pub(crate) segmented: bool,
    pub(crate) begin_bit: u32,
    pub(crate) end_bit: u32,
    pub(crate) max_count: u32,
    pub(crate) binning: Binning,
    /// Number of the module with a user-defined comparator of whole keys; 0: none.
    pub(crate) comparator: u64,
}

/// How passes map the words of items to bins, and what they write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Binning {
    /// A `FUNCTION_` constant.
    pub(crate) function: u32,
    /// Number of bins of all passes together; none: as many as the digits have values.
    pub(crate) bins: Option<u32>,
    /// An `OUTPUT_` constant in the low byte; above it, for `OUTPUT_ONE`, the bin.
    pub(crate) output: u32,
    /// Whether passes go by labels in scratch, and move the caller's keys and values along.
    pub(crate) labels: bool,
    /// Whether subgroups rank items instead of workgroups, and whether items are scattered without reordering the tile.
    pub(crate) by_subgroups: bool,
    pub(crate) unordered: bool,
}

impl Binning {
    /// Passes over every digit of the keys.
    pub(crate) const DIGITS: Self = Self {
        function: FUNCTION_DIGIT,
        bins: None,
        output: OUTPUT_BUCKETS,
        labels: false,
        by_subgroups: false,
        unordered: false,
    };
}

impl Format {
    /// # Errors
    /// Names the member with an unsupported value, and the reason.
    pub(crate) fn new(info: &ItemsInfo) -> Result<Self> {
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
        let value_size = info.value.checked_size()?;
        let apart_values = value_size > MAX_VALUE_WORDS * 4;
        if info.drop_keys && info.value == ValueType::None {
            return malformed("flags", "keys are dropped (DROP_KEYS) and there are no values: nothing is left");
        }
        let narrow = bits < 32;
        if info.layout == Layout::Interleaved {
            if narrow {
                return malformed("layout", "keys narrower than a word do not lie beside their values");
            }
            if value_size == 0 || apart_values || info.value == ValueType::Index || info.drop_keys {
                return malformed(
                    "layout",
                    "items are a key and a value of 4 to 16 bytes, which both are read and written",
                );
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
            (narrow || info.placement == Placement::Preserve && info.drop_keys, LAYOUT_KEYS_IN_SCRATCH),
            (apart_values, LAYOUT_VALUES_IN_SCRATCH),
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
            binning: Binning::DIGITS,
            comparator: 0,
        })
    }

    pub(crate) const fn has(&self, layout: u32) -> bool {
        self.layout & layout != 0
    }

    /// Whether the caller's keys are narrower than a word.
    pub(crate) const fn narrow(&self) -> bool {
        self.key_size < 4
    }

    /// Whether labels are sorted together with the items. With several digits, and in segments, the bucket information
    /// comes from sorted labels.
    pub(crate) fn keeps_labels(&self) -> bool {
        self.binning.labels && (self.digits() > 1 || self.segmented)
    }

    /// `LAYOUT_` bits for passes. In splits by labels, the labels are the keys, in scratch; the caller's keys and
    /// values move as values.
    pub(crate) fn moved_layout(&self) -> u32 {
        if !self.binning.labels {
            return self.layout;
        }
        let lead = match (self.has(LAYOUT_INTERLEAVED), self.has(LAYOUT_DROP_KEYS)) {
            (true, _) => self.value_words,
            (_, true) => 0,
            _ => self.key_size / 4,
        };
        let labels_go = if self.keeps_labels() { 0 } else { LAYOUT_DROP_KEYS };
        self.layout & (LAYOUT_INDICES | LAYOUT_STRIDED)
            | labels_go
            | LAYOUT_KEYS_IN_SCRATCH
            | LAYOUT_LABELS
            | lead << LAYOUT_KEY_ARRAY_WORDS_SHIFT
    }

    /// Distance of neighboring dense keys in bytes.
    pub(crate) const fn key_step(&self) -> u32 {
        if self.has(LAYOUT_INTERLEAVED) { self.key_size + self.value_size } else { self.key_size }
    }

    /// Whether values have a separate array.
    pub(crate) const fn values_separate(&self) -> bool {
        self.value_size != 0 && !self.has(LAYOUT_INTERLEAVED)
    }

    pub(crate) const fn wide(&self) -> bool {
        self.max_count > MAX_NARROW_COUNT
    }

    /// Number of key words that contain bits to sort by.
    pub(crate) fn compared_words(&self) -> u32 {
        (self.end_bit - 1) / 32 - self.begin_bit / 32 + 1
    }

    /// Words of an item in merge sorts: see glsl/merge/compare.glsl.
    pub(crate) fn merged_words(&self) -> u32 {
        let compared = self.compared_words();
        compared + u32::from(self.value_words != 0 || compared != self.key_words)
    }

    /// Number of digits to sort by. A digit lies within one word of the key.
    pub(crate) fn digits(&self) -> u32 {
        let first_end = (self.begin_bit / 32 * 32 + 32).min(self.end_bit);
        (first_end - self.begin_bit).div_ceil(RADIX_BITS) + (self.end_bit - first_end).div_ceil(RADIX_BITS)
    }

    /// Returns the digit at an index, the least significant first.
    pub(crate) fn digit(&self, index: u32) -> Digit {
        let in_first = (32 - self.begin_bit % 32).div_ceil(RADIX_BITS);
        let (word, shift) = match index.checked_sub(in_first) {
            None => (self.begin_bit / 32, self.begin_bit % 32 + index * RADIX_BITS),
            Some(index) => (self.begin_bit / 32 + 1 + index / 4, index % 4 * RADIX_BITS),
        };
        let bits = (self.end_bit - word * 32).min(32).saturating_sub(shift).min(RADIX_BITS);
        // The extra bin of a split takes one more bit of the last digit.
        let one_more = self.binning.labels && !self.segmented && self.bins() > RADIX;
        let more = u32::from(one_more && index + 1 == self.digits());
        Digit { word, shift, bits: bits + more }
    }

    /// The required parity of the number of passes, as a `FLAG_`; 0: none.
    pub(crate) fn rule(&self) -> u32 {
        let keys_there = !self.has(LAYOUT_KEYS_IN_SCRATCH);
        let values_there = self.values_separate() && !self.has(LAYOUT_INDICES);
        match self.placement {
            Placement::Preserve => 0,
            Placement::InPlace if keys_there || values_there => FLAG_EVEN,
            Placement::InPlace => 0,
            Placement::DoubleBuffer if self.digits().is_multiple_of(2) => FLAG_EVEN,
            Placement::DoubleBuffer => FLAG_ODD,
        }
    }

    /// Whether the passes over all digits leave the result in the right array, without a copy.
    pub(crate) fn ends_right(&self) -> bool {
        match self.rule() {
            FLAG_EVEN => self.digits().is_multiple_of(2),
            FLAG_ODD => !self.digits().is_multiple_of(2),
            _ => true,
        }
    }

    /// Number of bins of a pass. In segments, all digits have the same number, and their rows take as many parts of
    /// scratch as those of [`RADIX`] bins.
    pub(crate) fn bins(&self) -> u32 {
        let one_digit = || if self.digits() == 1 { 1 << self.digit(0).bits } else { RADIX };
        match self.binning.bins {
            None if self.segmented => RADIX,
            None => one_digit(),
            Some(_) if self.segmented => one_digit(),
            Some(bins) if self.binning.labels && bins > RADIX + 1 => RADIX + u32::from(bins > RADIX * RADIX),
            Some(bins) => bins,
        }
    }

    /// An `OUTPUT_` constant: the output of the items.
    pub(crate) fn output(&self) -> u32 {
        self.binning.output & 0xff
    }

    /// Whether bins are placed one after the other. Then all items are counted before the first one is scattered.
    pub(crate) fn places_bins_in_order(&self) -> bool {
        !matches!(self.output(), OUTPUT_ONE | OUTPUT_PLACED | OUTPUT_RANKS)
    }

    /// Whether every digit has 8 bits.
    pub(crate) fn full_digits(&self) -> bool {
        (0..self.digits()).all(|index| self.digit(index).bits == RADIX_BITS)
    }
}

/// A digit: bits of one key word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// Index of the word, 0 is the least significant.
    pub word: u32,
    /// First bit in the word.
    pub shift: u32,
    /// Number of bits: at most 8; 9 for a split with 257 bins.
    pub bits: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyType;

    const PAIRS: ItemsInfo = ItemsInfo { value: ValueType::U32, ..ItemsInfo::KEYS };

    fn format(begin_bit: u32, end_bit: u32) -> Format {
        Format::new(&ItemsInfo { key: KeyType::U32x4, begin_bit, end_bit, ..ItemsInfo::KEYS }).unwrap()
    }

    #[test]
    fn digits_cover_every_bit_once() {
        for begin in 0..128 {
            for end in begin + 1..=128 {
                let format = format(begin, end);
                let bits = (0..format.digits()).flat_map(|index| {
                    let digit = format.digit(index);
                    assert!(
                        (1..=RADIX_BITS).contains(&digit.bits) && digit.shift + digit.bits <= 32,
                        "{begin}..{end}: {digit:?}"
                    );
                    (0..digit.bits).map(move |bit| digit.word * 32 + digit.shift + bit)
                });
                assert_eq!(bits.collect::<Vec<_>>(), (begin..end).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn moves_end_where_the_result_belongs() {
        let passes = |placement, end_bit| {
            let format = Format::new(&ItemsInfo { placement, end_bit, ..ItemsInfo::KEYS }).unwrap();
            (format.digits(), format.rule(), format.ends_right())
        };
        assert_eq!(passes(Placement::InPlace, 32), (4, FLAG_EVEN, true));
        assert_eq!(passes(Placement::InPlace, 24), (3, FLAG_EVEN, false), "a copy brings three digits back");
        assert_eq!(passes(Placement::DoubleBuffer, 24), (3, FLAG_ODD, true));
        assert_eq!(passes(Placement::DoubleBuffer, 9), (2, FLAG_EVEN, true));
        assert_eq!(passes(Placement::Preserve, 24), (3, 0, true));
    }

    /// Behind the compared words, the place of the item, where the key is not all of it.
    #[test]
    fn merged_items_carry_places_unless_keys_are_all() {
        let words = |info: ItemsInfo| Format::new(&info).unwrap().merged_words();
        let long = ItemsInfo { key: KeyType::U64, ..ItemsInfo::KEYS };
        assert_eq!(words(ItemsInfo::KEYS), 1);
        assert_eq!(words(ItemsInfo { begin_bit: 3, end_bit: 20, ..ItemsInfo::KEYS }), 1);
        assert_eq!(words(PAIRS), 2);
        assert_eq!(words(long), 2);
        assert_eq!(words(ItemsInfo { end_bit: 32, ..long }), 2);
        assert_eq!(words(ItemsInfo { begin_bit: 32, ..long }), 2);
        assert_eq!(words(ItemsInfo { value: ValueType::Bytes(8), ..long }), 3);
    }

    #[test]
    fn values_have_up_to_4096_bytes() {
        let values = |bytes| Format::new(&ItemsInfo { value: ValueType::Bytes(bytes), ..ItemsInfo::KEYS });
        assert!(values(4096).is_ok());
        assert!(values(4100).is_err());
    }

    #[test]
    fn what_no_sorter_can_be() {
        let keys = ItemsInfo::KEYS;
        for (info, text) in [
            (ItemsInfo { end_bit: 33, ..keys }, "endBit 33 > 32, the bits of the key"),
            (ItemsInfo { begin_bit: 8, end_bit: 8, ..keys }, "beginBit is malformed: 8 leaves no bit before 8"),
            (
                ItemsInfo { value: ValueType::Bytes(6), ..keys },
                "valueSize is malformed: 6 is not a multiple of 4 from 4 to 4096",
            ),
            (
                ItemsInfo { value: ValueType::Bytes(0), ..keys },
                "valueSize is malformed: 0 is not a multiple of 4 from 4 to 4096",
            ),
            (
                ItemsInfo { drop_keys: true, ..keys },
                "flags is malformed: keys are dropped (DROP_KEYS) and there are no values: nothing is left",
            ),
            (
                ItemsInfo { layout: Layout::Interleaved, ..keys },
                "layout is malformed: items are a key and a value of 4 to 16 bytes, which both are read and written",
            ),
            (
                ItemsInfo { layout: Layout::Interleaved, key: KeyType::U8, ..PAIRS },
                "layout is malformed: keys narrower than a word do not lie beside their values",
            ),
            (
                ItemsInfo { layout: Layout::Strided, ..keys },
                "layout is malformed: what is strided is only read: placement must be preserve",
            ),
            (
                ItemsInfo { key: KeyType::F16, max_count: u32::MAX, ..keys },
                "maxCount 4294967295 > 1073741824, the most keys narrower than a word, \
                 or with values of more than 16 bytes",
            ),
        ] {
            assert_eq!(Format::new(&info).map_err(|error| error.to_string()), Err(text.to_owned()));
        }
    }
}
