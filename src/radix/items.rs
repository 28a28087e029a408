//! The items of a request: keys and values, their types, arrays and layout. Every primitive made of digit passes has
//! them.

use super::format::Format;
use super::operation::Given;
use crate::core::memory::{Access, Argument, Arguments, Timestamps, roles};
use crate::shared::{
    ENCODING_BIG_END_FIRST, ENCODING_FLOAT, ENCODING_SIGNED, LAYOUT_DROP_KEYS, LAYOUT_INDICES, LAYOUT_STRIDED,
    LAYOUT_VALUES_IN_SCRATCH,
};
use crate::{Count, Error, Range, Result, Scratch};
use ash::vk;

/// The type of a key. Key arrays are dense unless the layout is strided. They are aligned to the key's size, at most 4
/// bytes.
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
    /// IEEE 754 binary16. All floats are in total order: -NaN, -inf, ..., -0, +0, ..., +inf, NaN.
    F16,
    /// bfloat16: the upper half of an `f32`
    Bf16,
    /// `f32`
    F32,
    /// `f64`, low word first
    F64,
    /// Two `u32`, the first is the most significant
    U32x2,
    /// Three `u32`, the first is the most significant
    U32x3,
    /// Four `u32`, the first is the most significant
    U32x4,
}

impl KeyType {
    /// All key types.
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

    /// Size of a key in bits.
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

    /// Size of a key in bytes.
    pub const fn size(self) -> u32 {
        self.bits() / 8
    }

    /// The words and the encoding of a key.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlainKey {
    pub(crate) words: u32,
    /// `ENCODING_` bits.
    pub(crate) encoding: u32,
}

/// The order of the result. Equal keys keep the order of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest key first.
    #[default]
    Ascending,
    /// Largest key first.
    Descending,
}

/// The type of the value that moves with each key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// No values.
    #[default]
    None,
    /// 4 bytes.
    U32,
    /// This many bytes, a multiple of 4, at most 4096. Values of up to 16 bytes move with their keys in every pass.
    /// Larger values are gathered once, at the end, by the index of their key in the input.
    Bytes(u32),
    /// A `u32`: the index of the key in the input, counted from 0 (argsort). No values are read.
    Index,
}

impl ValueType {
    /// Size of a value in bytes.
    pub const fn size(self) -> u32 {
        match self {
            Self::None => 0,
            Self::U32 | Self::Index => 4,
            Self::Bytes(bytes) => bytes,
        }
    }

    /// The size, if it is that of a value.
    pub(crate) fn checked_size(self) -> Result<u32> {
        let size = self.size();
        if !size.is_multiple_of(4) || size == 0 && self != Self::None || size > MAX_VALUE_SIZE {
            let why = format!("{size} is not a multiple of 4 from 4 to {MAX_VALUE_SIZE}");
            return Err(Error::Malformed { argument: "valueSize", why });
        }
        Ok(size)
    }
}

/// Maximum size of a value in bytes: `RadixProblem::strides` holds 16 bits for it.
const MAX_VALUE_SIZE: u32 = 4096;

/// The arrays that hold the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
    /// The input arrays. Scratch includes arrays of the same length.
    #[default]
    InPlace,
    /// Separate output arrays; the input is not modified. Scratch includes arrays of the same length.
    Preserve,
    /// Either the input arrays or the output arrays: [`crate::Sorter::result_side`] returns which. Both are written.
    /// Scratch includes no arrays of the same length, with three exceptions: keys narrower than a word, values of more
    /// than 16 bytes, and medium counts on devices that sort them by merging.
    DoubleBuffer,
}

/// The layout of items in the caller's arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Keys in one array, values in another.
    #[default]
    Separate,
    /// One array of items, each a key followed by its value. Keys have 4 bytes or more, values 4 to 16. Not available
    /// with [`ValueType::Index`], nor with dropped keys.
    Interleaved,
    /// Keys and values that are read have strides, as members of larger structs do. Values have at most 16 bytes. The
    /// result is dense, in separate arrays ([`Placement::Preserve`]).
    Strided,
}

/// Types and layout of keys and values, and the bits of the keys to sort by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct ItemsInfo {
    pub(crate) key: KeyType,
    pub(crate) order: Order,
    pub(crate) begin_bit: u32,
    /// 0: all bits from `begin_bit` on.
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

/// The segments of a segmented sort or split. Offsets and count may be written on the device: the host reads neither.
///
/// Segment `s` contains the items from `offsets[s]` up to `offsets[s + 1]`. Offsets do not decrease; segments may be
/// empty. Items before the first offset and from the last offset on belong to no segment and stay in place. The row
/// offsets of a CSR matrix have this form, and so has the exclusive sum of counts.
///
/// ```no_run
/// # use trommel::{Count, Range, Scratch, Segments, SortInfo, Sorter};
/// # type Commands = ash::vk::CommandBuffer;
/// # type Result = trommel::Result<()>;
/// # type Ranges = [Range; 3];
/// # unsafe fn record(sorter: &Sorter, commands: Commands, ranges: Ranges, scratch: Scratch) -> Result {
/// # let [depths, splats, firsts] = ranges;
/// // Up to a million splats, binned to 80 x 45 tiles of the screen: sorted by depth in each.
/// let segments = Segments { offsets: firsts, count: Count::host(80 * 45) };
/// let info = SortInfo { count: Count::host(1 << 20), keys: depths, values: splats, ..SortInfo::default() };
/// let info = SortInfo { segments, scratch, ..info };
/// // SAFETY: the command buffer is recording, and the ranges are valid until it has executed.
/// unsafe { sorter.cmd_sort(commands, &info) }
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segments {
    /// `count.max + 1` words.
    pub offsets: Range,
    /// Number of segments, less than 2^30.
    pub count: Count,
}

/// The arrays of one request. Members have the meaning of the members of the same name in the public infos.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    pub(crate) count: Count,
    pub(crate) keys: Range,
    pub(crate) values: Range,
    pub(crate) keys_out: Range,
    pub(crate) values_out: Range,
    /// Distance of neighboring keys in bytes; 0: keys are dense.
    pub(crate) key_stride: u32,
    pub(crate) value_stride: u32,
    pub(crate) segments: Segments,
    /// Input of a user-defined function.
    pub(crate) user_address: vk::DeviceAddress,
    pub(crate) user_words: [u32; 4],
    pub(crate) scratch: Scratch,
    /// Address of the status word; 0: none.
    pub(crate) status: vk::DeviceAddress,
    pub(crate) timestamps: Option<Timestamps>,
}

roles! {
    /// The arguments that all requests with items have.
    enum ItemRole {
        Keys = "keys",
        Values = "values",
        KeysOut = "keysOut",
        ValuesOut = "valuesOut",
        Count = "count",
        Status = "status",
        SegmentOffsets = "segments.offsets",
    }
}

impl ItemRole {
    pub(crate) const ALL: [Self; 7] =
        [Self::Keys, Self::Values, Self::KeysOut, Self::ValuesOut, Self::Count, Self::Status, Self::SegmentOffsets];
}

impl Items {
    /// The count that may be on the device: of keys, or of segments.
    pub(crate) fn counted(&self, format: &Format) -> Count {
        if format.segmented { self.segments.count } else { self.count }
    }

    /// The caller's range of a role. None for single words and the offsets of segments.
    pub(crate) fn given(&self, format: &Format, role: ItemRole) -> Option<Given> {
        let key_alignment = u64::from(format.key_size.min(4));
        let (range, alignment) = match role {
            ItemRole::Keys => (self.keys, key_alignment),
            ItemRole::Values => (self.values, 4),
            ItemRole::KeysOut => (self.keys_out, key_alignment),
            ItemRole::ValuesOut => (self.values_out, 4),
            ItemRole::Count | ItemRole::Status | ItemRole::SegmentOffsets => return None,
        };
        Some(Given { range, alignment, is_per_item: true })
    }

    /// The ranges that a request reads or writes, without scratch.
    #[inline]
    pub(crate) fn arguments(&self, format: &Format) -> Arguments<ItemRole> {
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
        let indices = format.has(LAYOUT_INDICES) && !format.has(LAYOUT_VALUES_IN_SCRATCH);
        let (key_size, value_size) = (format.key_step(), format.value_size);
        let keys_out = second && !(preserved && format.has(LAYOUT_DROP_KEYS));
        let offsets = Range::new(self.segments.offsets.address, (u64::from(self.segments.count.max) + 1) * 4);
        let argument = |role, range, written| Argument { role, range, access: Access::writing(written) };
        let all = [
            argument(ItemRole::Keys, extent(self.keys.address, key_size, self.key_stride), !preserved),
            argument(
                ItemRole::Values,
                wanted(values && !(indices && preserved), extent(self.values.address, value_size, self.value_stride)),
                !preserved,
            ),
            argument(ItemRole::KeysOut, wanted(keys_out, extent(self.keys_out.address, key_size, 0)), true),
            argument(
                ItemRole::ValuesOut,
                wanted(values && second, extent(self.values_out.address, value_size, 0)),
                true,
            ),
            argument(ItemRole::Count, word(self.counted(format).address), false),
            argument(ItemRole::Status, word(self.status), true),
            argument(ItemRole::SegmentOffsets, wanted(format.segmented, offsets), false),
        ];
        let mut arguments = Arguments::new();
        all.into_iter().for_each(|argument| arguments.push(argument));
        arguments
    }
}
