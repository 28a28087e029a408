//! Conversion of the C types that all primitives share into Rust types.

use super::types::*;
use crate::{Count, Error, KeyType, Layout, Range, Result, Scratch, Segments, Strategy, Timestamps, ValueType};

/// Returns the Rust value for a number of a C enum.
pub(super) fn value_of<T: Copy>(argument: &'static str, number: i32, values: &[(i32, T)]) -> Result<T> {
    let found = values.iter().find(|(known, _)| *known == number);
    found.map(|(_, value)| *value).ok_or(Error::UnknownValue { argument, value: number.into() })
}

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

pub(super) fn layout(number: raw::TrmLayout) -> Result<Layout> {
    let layouts = [
        (TrmLayout::Separate as i32, Layout::Separate),
        (TrmLayout::Interleaved as i32, Layout::Interleaved),
        (TrmLayout::Strided as i32, Layout::Strided),
    ];
    value_of("layout", number, &layouts)
}

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

pub(super) fn range(range: TrmRange) -> Range {
    Range::new(range.address, range.size)
}

pub(super) fn count(count: TrmCount) -> Count {
    Count { max: count.max, address: count.address }
}

pub(super) fn segments(segments: TrmSegments) -> Segments {
    Segments { offsets: range(segments.offsets), count: count(segments.count) }
}

pub(super) fn scratch(scratch: TrmScratch) -> Scratch {
    Scratch { buffer: scratch.buffer, offset: scratch.offset, size: scratch.size }
}

pub(super) fn timestamps(timestamps: TrmTimestamps) -> Option<Timestamps> {
    (timestamps.pool != VkQueryPool::default()).then_some(Timestamps { pool: timestamps.pool, first: timestamps.first })
}
