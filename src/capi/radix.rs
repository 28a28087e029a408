//! Types that several primitives share: of keys and values, order, layouts, segments, strategies; and their conversion.

#![cfg_attr(not(feature = "default"), allow(dead_code, reason = "each primitive uses a part of it"))]

#[cfg(feature = "radix")]
use super::convert::value_of;
use super::layout::declarations;
use crate::{Count, Range};
#[cfg(feature = "radix")]
use crate::{Error, KeyType, Layout, Order, Result, Segments, Strategy, ValueType};

/// The types of enums, as in `types::raw`.
/// cbindgen:ignore
pub(super) mod raw {
    pub(in crate::capi) use super::super::types::raw::*;

    pub(crate) type TrmKeyType = i32;
    pub(crate) type TrmValueType = i32;
    pub(crate) type TrmStrategy = i32;
    pub(crate) type TrmOrder = i32;
    pub(crate) type TrmPlacement = i32;
    pub(crate) type TrmLayout = i32;
}

/// The type of a key. Key arrays are dense unless the layout is strided. They are aligned to the key's size, at most 4
/// bytes.
/// Floats are in total order: -NaN, -inf, ..., -0, +0, ..., +inf, NaN.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmKeyType {
    /// uint32_t
    U32 = 0,
    /// uint8_t
    U8 = 1,
    /// uint16_t
    U16 = 2,
    /// uint64_t, low word first
    U64 = 3,
    /// int8_t
    I8 = 4,
    /// int16_t
    I16 = 5,
    /// int32_t
    I32 = 6,
    /// int64_t, low word first
    I64 = 7,
    /// IEEE 754 binary16
    F16 = 8,
    /// bfloat16: the upper half of a float
    BF16 = 9,
    /// float
    F32 = 10,
    /// double, low word first
    F64 = 11,
    /// Two uint32_t, the first the most significant
    U32X2 = 12,
    /// Three uint32_t, the first the most significant
    U32X3 = 13,
    /// Four uint32_t, the first the most significant
    U32X4 = 14,
}

/// The order of the result. Equal keys keep the order of the input.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmOrder {
    /// Smallest key first.
    Ascending = 0,
    /// Largest key first.
    Descending = 1,
}

/// The type of the value that moves with each key.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmValueType {
    /// No values.
    None = 0,
    /// 4 bytes.
    U32 = 1,
    /// valueSize bytes: a multiple of 4. Sorts and merges take at most 4096, splits and maps at most 16. In sorts,
    /// values of up to 16 bytes move with their keys in every pass. Larger values are gathered once, at the end, by the
    /// index of their key in the input.
    Bytes = 2,
    /// A uint32_t: the index of the key in the input, counted from 0 (argsort). No values are read. In merges, the
    /// index in its sequence, with TRM_SOURCE_B for items of B. Not available for maps.
    Index = 3,
}

/// The arrays that hold the result.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmPlacement {
    /// The input arrays. Scratch includes arrays of the same length.
    InPlace = 0,
    /// keysOut and valuesOut; the input is not modified. Scratch includes arrays of the same length.
    Preserve = 1,
    /// Either the input arrays or keysOut and valuesOut: trmGetSorterResultSide() returns which. Both are written.
    /// Scratch then includes no arrays of the same length. There are three exceptions: keys narrower than a word,
    /// values of more than 16 bytes, and medium counts on devices that sort these by merging.
    DoubleBuffer = 2,
}

/// The layout of items in the caller's arrays.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmLayout {
    /// Keys in one array, values in another.
    Separate = 0,
    /// One array of {key, value} items in keys or keysOut; values and valuesOut are unused. Keys have 4 bytes or more,
    /// values 4 to 16. Not available with TRM_VALUE_TYPE_INDEX, nor with dropped keys.
    Interleaved = 1,
    /// Keys and values that are read have strides, as members of larger structs do: keyStride and valueStride, in
    /// bytes. Values have at most 16 bytes. The result is dense: placement is TRM_PLACEMENT_PRESERVE.
    Strided = 2,
}

/// The algorithm of a pass. All strategies write the same bytes.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrmStrategy {
    /// The device profile decides: look-back on devices with known forward progress, reduce-then-scan on others. Splits
    /// into contiguous buckets with one scatter pass use reduce-then-scan, unless they are small. So do segmented
    /// splits, counts alone, and splits of more than 2^30 items.
    Auto = 0,
    /// One read and one write a digit: tiles wait for aggregates and prefixes of preceding tiles (decoupled look-back).
    /// The wait is bounded.
    Lookback = 1,
    /// Count, scan, reorder; two reads and one write a digit. Tiles never wait.
    ReduceThenScan = 2,
    /// As look-back, but each tile waits for the inclusive prefix of its predecessor.
    ChainedScan = 3,
    /// As look-back, with tile words of constant size, at most 2 MiB for any count. They form a ring; groups of entries
    /// are reused once no tile reads them any more.
    Ring = 4,
    /// As TRM_STRATEGY_RING, but entries are freed one by one, in tile order.
    RingInOrder = 5,
}

/// The segments of a segmented sort or split. Offsets are read on the device; nothing is read back to the host. A
/// segment contains the items from its offset up to the next offset. Offsets are non-decreasing; segments may be empty.
/// Items before the first and from the last offset on belong to no segment and are not modified.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TrmSegments {
    /// count.max + 1 words: one more than the number of segments.
    pub offsets: Range,
    /// The number of segments, less than 2^30.
    pub count: Count,
}

declarations! {
    structs {
        TrmSegments { offsets, count }
    }
    values {
        "TRM_KEY_TYPE_U32" = TrmKeyType::U32,
        "TRM_KEY_TYPE_U8" = TrmKeyType::U8,
        "TRM_KEY_TYPE_U16" = TrmKeyType::U16,
        "TRM_KEY_TYPE_U64" = TrmKeyType::U64,
        "TRM_KEY_TYPE_I8" = TrmKeyType::I8,
        "TRM_KEY_TYPE_I16" = TrmKeyType::I16,
        "TRM_KEY_TYPE_I32" = TrmKeyType::I32,
        "TRM_KEY_TYPE_I64" = TrmKeyType::I64,
        "TRM_KEY_TYPE_F16" = TrmKeyType::F16,
        "TRM_KEY_TYPE_BF16" = TrmKeyType::BF16,
        "TRM_KEY_TYPE_F32" = TrmKeyType::F32,
        "TRM_KEY_TYPE_F64" = TrmKeyType::F64,
        "TRM_KEY_TYPE_U32X2" = TrmKeyType::U32X2,
        "TRM_KEY_TYPE_U32X3" = TrmKeyType::U32X3,
        "TRM_KEY_TYPE_U32X4" = TrmKeyType::U32X4,
        "TRM_ORDER_ASCENDING" = TrmOrder::Ascending,
        "TRM_ORDER_DESCENDING" = TrmOrder::Descending,
        "TRM_VALUE_TYPE_NONE" = TrmValueType::None,
        "TRM_VALUE_TYPE_U32" = TrmValueType::U32,
        "TRM_VALUE_TYPE_BYTES" = TrmValueType::Bytes,
        "TRM_VALUE_TYPE_INDEX" = TrmValueType::Index,
        "TRM_PLACEMENT_IN_PLACE" = TrmPlacement::InPlace,
        "TRM_PLACEMENT_PRESERVE" = TrmPlacement::Preserve,
        "TRM_PLACEMENT_DOUBLE_BUFFER" = TrmPlacement::DoubleBuffer,
        "TRM_LAYOUT_SEPARATE" = TrmLayout::Separate,
        "TRM_LAYOUT_INTERLEAVED" = TrmLayout::Interleaved,
        "TRM_LAYOUT_STRIDED" = TrmLayout::Strided,
        "TRM_STRATEGY_AUTO" = TrmStrategy::Auto,
        "TRM_STRATEGY_LOOKBACK" = TrmStrategy::Lookback,
        "TRM_STRATEGY_REDUCE_THEN_SCAN" = TrmStrategy::ReduceThenScan,
        "TRM_STRATEGY_CHAINED_SCAN" = TrmStrategy::ChainedScan,
        "TRM_STRATEGY_RING" = TrmStrategy::Ring,
        "TRM_STRATEGY_RING_IN_ORDER" = TrmStrategy::RingInOrder,
    }
}

#[cfg(feature = "radix")]
pub(super) fn key_type(number: raw::TrmKeyType) -> Result<KeyType> {
    let keys = [
        (TrmKeyType::U32, KeyType::U32),
        (TrmKeyType::U8, KeyType::U8),
        (TrmKeyType::U16, KeyType::U16),
        (TrmKeyType::U64, KeyType::U64),
        (TrmKeyType::I8, KeyType::I8),
        (TrmKeyType::I16, KeyType::I16),
        (TrmKeyType::I32, KeyType::I32),
        (TrmKeyType::I64, KeyType::I64),
        (TrmKeyType::F16, KeyType::F16),
        (TrmKeyType::BF16, KeyType::Bf16),
        (TrmKeyType::F32, KeyType::F32),
        (TrmKeyType::F64, KeyType::F64),
        (TrmKeyType::U32X2, KeyType::U32x2),
        (TrmKeyType::U32X3, KeyType::U32x3),
        (TrmKeyType::U32X4, KeyType::U32x4),
    ];
    value_of("keyType", number, &keys.map(|(number, key)| (number as i32, key)))
}

#[cfg(feature = "radix")]
pub(super) fn value_type(number: raw::TrmValueType, size: u32) -> Result<ValueType> {
    // A size without TRM_VALUE_TYPE_BYTES would have no effect, so it is an error.
    if size != 0 && number != TrmValueType::Bytes as i32 {
        let why = format!("{size} is not 0, and valueType is not TRM_VALUE_TYPE_BYTES");
        return Err(Error::Malformed { argument: "valueSize", why });
    }
    let values = [
        (TrmValueType::None as i32, ValueType::None),
        (TrmValueType::U32 as i32, ValueType::U32),
        (TrmValueType::Bytes as i32, ValueType::Bytes(size)),
        (TrmValueType::Index as i32, ValueType::Index),
    ];
    value_of("valueType", number, &values)
}

#[cfg(feature = "radix")]
pub(super) fn layout(number: raw::TrmLayout) -> Result<Layout> {
    let layouts = [
        (TrmLayout::Separate as i32, Layout::Separate),
        (TrmLayout::Interleaved as i32, Layout::Interleaved),
        (TrmLayout::Strided as i32, Layout::Strided),
    ];
    value_of("layout", number, &layouts)
}

#[cfg(feature = "radix")]
pub(super) fn order(number: raw::TrmOrder) -> Result<Order> {
    let orders = [(TrmOrder::Ascending as i32, Order::Ascending), (TrmOrder::Descending as i32, Order::Descending)];
    value_of("order", number, &orders)
}

#[cfg(feature = "radix")]
pub(super) fn segments(segments: TrmSegments) -> Segments {
    Segments { offsets: segments.offsets, count: segments.count }
}

#[cfg(feature = "radix")]
pub(super) fn strategy(number: raw::TrmStrategy) -> Result<Strategy> {
    let strategies = [
        (TrmStrategy::Auto as i32, Strategy::Auto),
        (TrmStrategy::Lookback as i32, Strategy::Lookback),
        (TrmStrategy::ReduceThenScan as i32, Strategy::ReduceThenScan),
        (TrmStrategy::ChainedScan as i32, Strategy::ChainedScan),
        (TrmStrategy::Ring as i32, Strategy::Ring),
        (TrmStrategy::RingInOrder as i32, Strategy::RingInOrder),
    ];
    value_of("strategy", number, &strategies)
}
