//! Items: what a request of any primitive made of digit passes reads and writes, and how it lies in memory.

use super::format::Format;
use super::job::Role;
use crate::core::memory::{Argument, Arguments, Timestamps};
use crate::shared::{
    ENCODING_BIG_END_FIRST, ENCODING_FLOAT, ENCODING_SIGNED, LAYOUT_DROP_KEYS, LAYOUT_INDICES, LAYOUT_STRIDED, LAYOUT_VALUES_APART,
};
use crate::{Count, Range, Scratch};
use ash::vk;

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

/// What keys and values are, where they lie, and which bits of the keys order them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ItemsInfo {
    pub(crate) key: KeyType,
    pub(crate) order: Order,
    pub(crate) begin_bit: u32,
    /// 0: the key's last.
    pub(crate) end_bit: u32,
    pub(crate) value: ValueType,
    pub(crate) drop_keys: bool,
    pub(crate) placement: Placement,
    pub(crate) layout: Layout,
    pub(crate) segmented: bool,
    /// 0: 2^30.
    pub(crate) max_count: u32,
}

#[cfg(test)]
impl ItemsInfo {
    /// `u32` keys alone.
    pub(super) const KEYS: Self = Self {
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
    };
}

/// Where the arrays of a segmented sort or split are cut. All of it lies on the device and nothing is read back.
///
/// Segment `s` holds the items from `offsets[s]` up to `offsets[s + 1]`. Offsets never fall; segments may be empty. Items before the
/// first offset and from the last one on are in no segment, and left alone. (The row offsets of a CSR matrix, and whatever an exclusive
/// sum of counts leaves.)
///
/// ```no_run
/// # use trommel::{Count, Range, Scratch, Segments, SortInfo, Sorter};
/// # type Commands = ash::vk::CommandBuffer;
/// # unsafe fn record(sorter: &Sorter, commands: Commands, [depths, splats, firsts]: [Range; 3], scratch: Scratch) -> trommel::Result<()> {
/// // Up to a million splats, binned to 80 x 45 tiles of the screen: sorted by depth in each.
/// let segments = Segments { offsets: firsts, count: Count::host(80 * 45) };
/// let info = SortInfo { count: Count::host(1 << 20), keys: depths, values: splats, segments, scratch, ..SortInfo::default() };
/// // SAFETY: the command buffer is recording, and the ranges are valid until it has executed.
/// unsafe { sorter.cmd_sort(commands, &info) }
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// `count.max + 1` words: one more than there are segments.
    pub offsets: Range,
    /// How many segments, fewer than 2^30.
    pub count: Count,
}

/// The arrays of one request. Members that the public infos have too mean the same there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    pub(crate) count: Count,
    pub(crate) keys: Range,
    pub(crate) values: Range,
    pub(crate) keys_out: Range,
    pub(crate) values_out: Range,
    /// Bytes from one key to the next; 0: keys are dense.
    pub(crate) key_stride: u32,
    pub(crate) value_stride: u32,
    pub(crate) segments: Segments,
    pub(crate) scratch: Scratch,
    /// Address of the status word; 0: not wanted.
    pub(crate) status: vk::DeviceAddress,
    pub(crate) timestamps: Option<Timestamps>,
}

impl Items {
    /// The count that the device may tell: of keys, or of segments.
    pub(crate) fn counted(&self, format: &Format) -> Count {
        if format.segmented { self.segments.count } else { self.count }
    }

    /// The bytes that a request touches, by name, without scratch.
    #[inline]
    pub(crate) fn arguments(&self, format: &Format) -> Arguments<Role> {
        let count = u64::from(self.count.max);
        // From the first byte of the first item to the last byte of the last.
        let extent = |address, size: u32, stride: u32| {
            let stride = if stride == 0 || !format.has(LAYOUT_STRIDED) { size } else { stride };
            Range::new(address, if count == 0 { 0 } else { (count - 1) * u64::from(stride) + u64::from(size) })
        };
        let word = |address| Range::new(address, if address == 0 { 0 } else { 4 });
        let wanted = |wanted: bool, range: Range| if wanted { range } else { Range::NONE };
        let preserved = format.placement == Placement::Preserve;
        let second = format.placement != Placement::InPlace;
        let values = format.values_separate();
        let indices = format.has(LAYOUT_INDICES) && !format.has(LAYOUT_VALUES_APART);
        let (key_size, value_size) = (format.key_step(), format.value_size);
        let keys_out = second && !(preserved && format.has(LAYOUT_DROP_KEYS));
        let offsets = Range::new(self.segments.offsets.address, (u64::from(self.segments.count.max) + 1) * 4);
        let argument = |role, range, written| Argument { role, range, written };
        let all = [
            argument(Role::Keys, extent(self.keys.address, key_size, self.key_stride), !preserved),
            argument(
                Role::Values,
                wanted(values && !(indices && preserved), extent(self.values.address, value_size, self.value_stride)),
                !preserved,
            ),
            argument(Role::KeysOut, wanted(keys_out, extent(self.keys_out.address, key_size, 0)), true),
            argument(Role::ValuesOut, wanted(values && second, extent(self.values_out.address, value_size, 0)), true),
            argument(Role::Count, word(self.counted(format).address), false),
            argument(Role::Status, word(self.status), true),
            argument(Role::SegmentOffsets, wanted(format.segmented, offsets), false),
        ];
        let mut arguments = Arguments::new();
        all.into_iter().for_each(|argument| arguments.push(argument));
        arguments
    }
}
