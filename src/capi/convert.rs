//! Conversion of the C types that all primitives share into Rust types.

use super::types::*;
use crate::{Error, Result, Timestamps};

/// Returns the Rust value for a number of a C enum.
pub(super) fn value_of<T: Copy>(argument: &'static str, number: i32, values: &[(i32, T)]) -> Result<T> {
    let found = values.iter().find(|(known, _)| *known == number);
    found.map(|(_, value)| *value).ok_or(Error::UnknownValue { argument, value: number.into() })
}

pub(super) fn timestamps(timestamps: TrmTimestamps) -> Option<Timestamps> {
    (timestamps.pool != VkQueryPool::default()).then_some(Timestamps { pool: timestamps.pool, first: timestamps.first })
}
