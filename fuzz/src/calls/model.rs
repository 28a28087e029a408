//! The contract of the C ABI, as include/trommel.h states it: which calls are errors, and of which kind. It shares no
//! code with the library.

use crate::calls::info::{Image, Info};
use trommel::capi::*;

/// The results that the header allows for a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// Errors: any of these results will do.
    pub(crate) faults: Vec<(i32, &'static str)>,
    /// Reasons for which the header allows the call to fail or to succeed.
    pub(crate) doubts: Vec<&'static str>,
}

macro_rules! codes {
    ($($name:ident = $result:ident,)*) => { $(pub(crate) const $name: i32 = TrmResult::$result as i32;)* };
}

codes! {
    SUCCESS = TrmSuccess,
    NULL = TrmErrorNull,
    MALFORMED = TrmErrorMalformed,
    UNKNOWN = TrmErrorUnknownValue,
    LARGE = TrmErrorTooLarge,
    SMALL = TrmErrorTooSmall,
    MISALIGNED = TrmErrorMisaligned,
    OVERLAP = TrmErrorOverlap,
    MISSING = TrmErrorMissingFeature,
    FOREIGN = TrmErrorForeignDevice,
    NOT_BUILT = TrmErrorNotBuilt,
    INTERNAL = TrmErrorInternal,
}

impl Verdict {
    /// Notes an error unless a requirement holds.
    pub(crate) fn must(&mut self, holds: bool, code: i32, what: &'static str) {
        if !holds {
            self.faults.push((code, what));
        }
    }

    /// Notes a reason for which the call may fail or succeed, if it applies.
    pub(crate) fn doubt(&mut self, open: bool, what: &'static str) {
        if open {
            self.doubts.push(what);
        }
    }

    /// Judges the header of an info. Returns whether the members can be read.
    pub(crate) fn header<T: Info>(&mut self, image: &Image) -> bool {
        let before = self.faults.len();
        self.must(!image.null, NULL, "info is NULL");
        self.must(image.null || !image.misaligned, MISALIGNED, "info is misaligned");
        if image.null || image.misaligned {
            return false;
        }
        self.must(image.get(0, 4) == u64::from((T::TYPE as i32).unsigned_abs()), UNKNOWN, "sType");
        self.must(image.size_is_known::<T>(), MALFORMED, "structSize");
        self.must(image.get(8, 8) == 0, MALFORMED, "pNext");
        self.must(!image.tail_is_set::<T>(), MALFORMED, "members of a later version");
        self.faults.len() == before
    }

    pub(crate) fn known(&mut self, value: i32, count: i32, what: &'static str) {
        self.must((0..count).contains(&value), UNKNOWN, what);
    }
}

/// The most items that 32-bit addresses reach; the default of maxCount.
pub(crate) const NARROW: u32 = 1 << 30;
const MOST_SEGMENTS: u32 = (1 << 30) - 1;

/// Properties of items that all handles have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Items {
    pub(crate) key_bits: u32,
    /// 0: none.
    pub(crate) value_size: u32,
    pub(crate) index: bool,
    pub(crate) interleaved: bool,
    pub(crate) strided: bool,
    pub(crate) max_count: u32,
    pub(crate) segmented: bool,
    pub(crate) batches: bool,
    pub(crate) drop_keys: bool,
}

pub(crate) fn key_bits(key: i32) -> u32 {
    match key {
        1 | 4 => 8,
        2 | 5 | 8 | 9 => 16,
        3 | 7 | 11 | 12 => 64,
        13 => 96,
        14 => 128,
        _ => 32,
    }
}

impl Items {
    /// Whether so many items may need more scratch than a recording takes: a few copies of each.
    pub(crate) fn may_need_too_much(&self, count: u32) -> bool {
        u64::from(count) * u64::from(self.value_size + 64) >= 1 << 36
    }

    pub(crate) fn new(key: i32, value: (i32, u32), layout: i32, max_count: u32, flags: u32) -> Self {
        let value_size = match value {
            (0, _) => 0,
            (2, size) => size,
            _ => 4,
        };
        Self {
            key_bits: key_bits(key),
            value_size,
            index: value.0 == TrmValueType::Index as i32,
            interleaved: layout == TrmLayout::Interleaved as i32,
            strided: layout == TrmLayout::Strided as i32,
            max_count: if max_count == 0 { NARROW } else { max_count },
            drop_keys: flags & 1 != 0,
            segmented: flags & 2 != 0,
            batches: flags & BATCHES != 0,
        }
    }

    pub(crate) fn narrow(&self) -> bool {
        self.key_bits < 32
    }

    pub(crate) fn key_size(&self) -> u32 {
        self.key_bits / 8
    }

    /// Bytes from one key to the next where they are dense.
    pub(crate) fn step(&self) -> u32 {
        self.key_size() + if self.interleaved { self.value_size } else { 0 }
    }

    pub(crate) fn key_alignment(&self) -> u32 {
        self.key_size().min(4)
    }

    /// Whether values have arrays of their own.
    pub(crate) fn separate(&self) -> bool {
        self.value_size != 0 && !self.interleaved
    }

    pub(crate) fn judge_layout(&self, most_value: u32, verdict: &mut Verdict) {
        verdict.must(self.value_size.is_multiple_of(4) && self.value_size <= most_value, MALFORMED, "valueSize");
        if self.interleaved {
            let beside = (4..=16).contains(&self.value_size) && !self.index && !self.drop_keys;
            verdict.must(!self.narrow() && beside, MALFORMED, "layout: no interleaved items");
        }
        verdict.must(!self.strided || self.value_size <= 16, MALFORMED, "layout: large strided values");
        verdict.must(!self.drop_keys || self.value_size != 0, MALFORMED, "flags: nothing is left");
    }
}

pub(crate) fn judge_value(value: i32, size: u32, verdict: &mut Verdict) {
    verdict.known(value, 4, "valueType");
    let bytes = value == TrmValueType::Bytes as i32;
    verdict.must(bytes || size == 0, MALFORMED, "valueSize without TRM_VALUE_TYPE_BYTES");
    verdict.must(!bytes || size != 0, MALFORMED, "valueSize is 0");
}

/// Bits of TrmSorterCreateInfo::flags and TrmSplitterCreateInfo::flags.
pub(crate) const BATCHES: u32 = 4;
pub(crate) const DEFERRED: u32 = 8;

/// Memory that a call names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    pub(crate) address: u64,
    pub(crate) given: u64,
    pub(crate) alignment: u32,
    /// Bytes that the call touches.
    pub(crate) need: u128,
    pub(crate) written: bool,
    /// Whether overlaps count for the whole given range, not only for the bytes that the call touches.
    pub(crate) whole: bool,
}

impl Array {
    pub(crate) fn new(range: TrmRange, alignment: u32, need: u128, written: bool) -> Self {
        Self { address: range.address, given: range.size, alignment, need, written, whole: false }
    }

    pub(crate) fn word(address: u64, written: bool) -> Self {
        Self { address, given: 4, alignment: 4, need: if address == 0 { 0 } else { 4 }, written, whole: false }
    }

    fn end(&self) -> u128 {
        let bytes = if self.whole { self.need.max(self.given.into()) } else { self.need };
        u128::from(self.address) + bytes
    }

    fn judge(&self, verdict: &mut Verdict) {
        if self.need == 0 {
            return;
        }
        verdict.must(self.address != 0, NULL, "an address");
        verdict.must(self.address.is_multiple_of(self.alignment.into()), MISALIGNED, "an address");
        verdict.must(u128::from(self.given) >= self.need, SMALL, "a range");
        let end = u128::from(self.address) + u128::from(self.given);
        verdict.must(end <= 1 << 64, LARGE, "a range beyond 2^64");
        verdict.doubt(end == 1 << 64, "a range that ends at 2^64");
    }

    /// Whether two arrays overlap and the call writes at least one of them.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        let apart = u128::from(self.address) >= other.end() || u128::from(other.address) >= self.end();
        self.need != 0 && other.need != 0 && (self.written || other.written) && !apart
    }

    /// Whether the array overlaps the bytes of scratch from `start` to `end`.
    pub(crate) fn meets(&self, start: u128, end: u128) -> bool {
        self.need != 0 && start < end && u128::from(self.address) < end && start < self.end()
    }
}

/// The bytes from the first of the first item to the last of the last.
pub(crate) fn extent(count: u32, size: u32, stride: u32) -> u128 {
    let stride = if stride == 0 { size } else { stride };
    if count == 0 { 0 } else { u128::from(count - 1) * u128::from(stride) + u128::from(size) }
}

fn judge_stride(stride: u32, alignment: u32, size: u32, unit: u32, items: &Items, verdict: &mut Verdict) {
    if stride == 0 {
        return;
    }
    verdict.must(items.strided, MALFORMED, "a stride without its layout");
    if items.strided {
        verdict.must(stride.is_multiple_of(alignment), MISALIGNED, "a stride");
        verdict.must(stride >= size, SMALL, "a stride");
        verdict.must(stride / unit < 1 << 16, LARGE, "a stride");
    }
}

/// Members that sort and split infos have in common.
pub(crate) struct Common {
    pub(crate) count: TrmCount,
    pub(crate) strides: [u32; 2],
    pub(crate) status: u64,
    pub(crate) segments: TrmSegments,
}

pub(crate) fn judge_common(items: &Items, info: &Common, verdict: &mut Verdict) -> Vec<Array> {
    verdict.must(info.count.max <= items.max_count, LARGE, "count.max");
    verdict.must(info.count.address.is_multiple_of(4), MISALIGNED, "count.address");
    verdict.must(info.status.is_multiple_of(4), MISALIGNED, "status");
    let unit = if items.key_bits < 32 { 1 } else { 4 };
    judge_stride(info.strides[0], items.key_alignment(), items.key_size(), unit, items, verdict);
    let value_size = if items.index { 0 } else { items.value_size };
    judge_stride(info.strides[1], 4, value_size, 4, items, verdict);
    let segments = info.segments;
    let mut arrays = vec![Array::word(info.status, true)];
    if items.segmented {
        verdict.must(info.count.address == 0, MALFORMED, "count.address of segments");
        verdict.must(segments.count.address.is_multiple_of(4), MISALIGNED, "segments.count.address");
        verdict.must(segments.count.max <= MOST_SEGMENTS, LARGE, "segments.count.max");
        arrays.push(Array::word(segments.count.address, false));
        arrays.push(Array::new(segments.offsets, 4, (u128::from(segments.count.max) + 1) * 4, false));
    } else {
        let zero = (segments.offsets.address, segments.offsets.size, segments.count.max, segments.count.address)
            == (0, 0, 0, 0);
        verdict.must(zero, MALFORMED, "segments of a handle without");
        arrays.push(Array::word(info.count.address, false));
    }
    arrays
}

pub(crate) fn judge_arrays(arrays: &[Array], verdict: &mut Verdict) {
    for (index, array) in arrays.iter().enumerate() {
        array.judge(verdict);
        let apart = arrays[..index].iter().all(|other| !array.conflicts(other));
        verdict.must(apart, OVERLAP, "two arrays");
    }
}

pub(crate) fn given(range: TrmRange) -> bool {
    (range.address, range.size) != (0, 0)
}

/// Judges the scratch that a call is given. `base`: the buffer's address, unless it is NULL.
pub(crate) fn judge_scratch(
    scratch: &TrmScratch,
    base: Option<u64>,
    required: u64,
    arrays: &[Array],
    verdict: &mut Verdict,
) {
    verdict.must(scratch.offset.is_multiple_of(4), MISALIGNED, "scratch.offset");
    verdict.must(scratch.size >= required, SMALL, "scratch.size");
    verdict.must(required <= 1 << 40, LARGE, "scratch of more than 2^40 bytes");
    if required == 0 {
        return;
    }
    verdict.must(base.is_some(), NULL, "scratch.buffer");
    let Some(base) = base else { return };
    let start = u128::from(base) + u128::from(scratch.offset);
    let end = start + u128::from(required);
    verdict.must(end <= 1 << 64, LARGE, "scratch beyond 2^64");
    verdict.doubt(end == 1 << 64, "scratch that ends at 2^64");
    verdict.must(!arrays.iter().any(|array| array.meets(start, end)), OVERLAP, "scratch and an array");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_apart_from_arrays() {
        let array = Array::new(TrmRange { address: 1 << 20, size: 64 }, 4, 64, false);
        let faults = |offset, size, required| {
            let mut verdict = Verdict::default();
            let scratch = TrmScratch { buffer: VkBuffer::default(), offset, size };
            judge_scratch(&scratch, Some(0), required, &[array], &mut verdict);
            verdict.faults.iter().map(|(code, _)| *code).collect::<Vec<_>>()
        };
        assert_eq!(faults((1 << 20) + 64, 256, 256), []);
        assert_eq!(faults((1 << 20) + 60, 256, 256), [OVERLAP]);
        assert_eq!(faults((1 << 20) - 256, 512, 256), []);
        assert_eq!(faults((1 << 20) - 252, 512, 256), [OVERLAP]);
        assert_eq!(faults(0, 255, 256), [SMALL]);
        assert_eq!(faults(2, 256, 256), [MISALIGNED]);
        assert_eq!(faults(u64::MAX - 3, 256, 256), [LARGE]);
    }
}
