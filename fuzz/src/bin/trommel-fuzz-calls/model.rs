//! The contract of the C ABI, as include/trommel.h states it: which calls are errors, and of which kind. It shares no code with the library.

use crate::info::{Image, Info};
use trommel::capi::*;

/// What a call has to answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// Errors: any of these results will do.
    pub(crate) faults: Vec<(i32, &'static str)>,
    /// What the header leaves open: the call may fail or succeed.
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
    /// Notes an error where something is not as it must be.
    pub(crate) fn must(&mut self, holds: bool, code: i32, what: &'static str) {
        if !holds {
            self.faults.push((code, what));
        }
    }

    /// Notes what the header leaves open.
    pub(crate) fn doubt(&mut self, open: bool, what: &'static str) {
        if open {
            self.doubts.push(what);
        }
    }

    /// Judges the header of an info. Whether its members can be read.
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

    fn known(&mut self, value: i32, count: i32, what: &'static str) {
        self.must((0..count).contains(&value), UNKNOWN, what);
    }
}

/// The most items that 32-bit addresses reach; the default of maxCount.
pub(crate) const NARROW: u32 = 1 << 30;
const MOST_SEGMENTS: u32 = (1 << 30) - 1;

/// What sorters and splitters have in common: how items lie.
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

    fn new(key: i32, value: (i32, u32), layout: i32, max_count: u32, flags: u32) -> Self {
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

    fn narrow(&self) -> bool {
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

    fn judge_layout(&self, most_value: u32, verdict: &mut Verdict) {
        verdict.must(self.value_size.is_multiple_of(4) && self.value_size <= most_value, MALFORMED, "valueSize");
        if self.interleaved {
            let beside = (4..=16).contains(&self.value_size) && !self.index && !self.drop_keys;
            verdict.must(!self.narrow() && beside, MALFORMED, "layout: no interleaved items");
        }
        verdict.must(!self.strided || self.value_size <= 16, MALFORMED, "layout: large strided values");
        verdict.must(!self.drop_keys || self.value_size != 0, MALFORMED, "flags: nothing is left");
    }
}

fn judge_value(value: i32, size: u32, verdict: &mut Verdict) {
    verdict.known(value, 4, "valueType");
    let bytes = value == TrmValueType::Bytes as i32;
    verdict.must(bytes || size == 0, MALFORMED, "valueSize without TRM_VALUE_TYPE_BYTES");
    verdict.must(!bytes || size != 0, MALFORMED, "valueSize is 0");
}

/// A sorter as it was created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SorterModel {
    pub(crate) items: Items,
    pub(crate) placement: i32,
}

impl SorterModel {
    pub(crate) fn new(info: &TrmSorterCreateInfo) -> Self {
        let value = (info.value_type, info.value_size);
        let items = Items::new(info.key_type, value, info.layout, info.max_count, info.flags);
        Self { items, placement: info.placement }
    }

    /// Whether a sort has anything to do: a count of zero still writes the status.
    pub(crate) fn records(&self, info: &TrmSortInfo) -> bool {
        let none = self.items.segmented && info.segments.count.max == 0;
        !none && (info.count.max != 0 || info.status != 0)
    }

    fn preserved(&self) -> bool {
        self.placement == TrmPlacement::Preserve as i32
    }
}

/// Judges what trmCreateSorter() is given.
pub(crate) fn judge_sorter(info: &TrmSorterCreateInfo, verdict: &mut Verdict) {
    verdict.known(info.key_type, 15, "keyType");
    judge_value(info.value_type, info.value_size, verdict);
    verdict.known(info.strategy, 6, "strategy");
    verdict.must(info.flags <= 15, MALFORMED, "flags");
    verdict.known(info.order, 2, "order");
    verdict.known(info.placement, 3, "placement");
    verdict.known(info.layout, 3, "layout");
    verdict.must(info.reserved == 0, MALFORMED, "reserved");
    let model = SorterModel::new(info);
    let items = model.items;
    let end = if info.end_bit == 0 { items.key_bits } else { info.end_bit };
    verdict.must(end <= items.key_bits, LARGE, "endBit");
    verdict.must(info.begin_bit < end, MALFORMED, "beginBit");
    items.judge_layout(4096, verdict);
    verdict.must(!items.strided || model.preserved(), MALFORMED, "layout: strided items that are written");
    let small = items.max_count <= NARROW;
    verdict.must(small || !items.narrow() && items.value_size <= 16, LARGE, "maxCount");
}

/// A splitter as it was created.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitterModel {
    pub(crate) items: Items,
    pub(crate) buckets: u32,
    pub(crate) function: i32,
    pub(crate) output: i32,
}

/// Bits of TrmSorterCreateInfo::flags and TrmSplitterCreateInfo::flags.
pub(crate) const BATCHES: u32 = 4;
pub(crate) const DEFERRED: u32 = 8;
/// Values of TrmBucketFunction.
pub(crate) const BITS: i32 = 0;
pub(crate) const RANGE: i32 = 1;
pub(crate) const SPLITTERS: i32 = 2;
pub(crate) const IDS_U8: i32 = 3;
pub(crate) const IDS_U32: i32 = 5;
pub(crate) const SIGNS: i32 = 6;
pub(crate) const USER: i32 = 7;
/// Values of TrmSplitOutput.
pub(crate) const BUCKETS: i32 = 0;
pub(crate) const BUCKET: i32 = 1;
pub(crate) const PLACED: i32 = 2;
pub(crate) const COUNTS: i32 = 3;
pub(crate) const RANKS: i32 = 4;

impl SplitterModel {
    pub(crate) fn new(info: &TrmSplitterCreateInfo) -> Self {
        let value = (info.value_type, info.value_size);
        let items = Items::new(info.key_type, value, info.layout, info.max_count, info.flags);
        Self { items, buckets: info.bucket_count, function: info.bucket_function, output: info.output }
    }

    /// Bytes of an id, where ids say the buckets.
    pub(crate) fn id_size(&self) -> Option<u32> {
        (IDS_U8..=IDS_U32).contains(&self.function).then(|| 1 << (self.function - IDS_U8))
    }

    /// Whether a split has anything to do: a count of zero still writes what is wanted about buckets, and the status.
    pub(crate) fn records(&self, info: &TrmSplitInfo) -> bool {
        let none = self.items.segmented && info.segments.count.max == 0;
        let told = [info.offsets, info.counts, info.commands].into_iter().any(given);
        !none && (told || info.status != 0 || info.count.max != 0 && self.output != COUNTS)
    }

    fn stays(&self) -> bool {
        matches!(self.output, COUNTS | RANKS)
    }

    /// Whether some items may have no bucket.
    pub(crate) fn strays(&self) -> bool {
        match self.function {
            BITS => !self.buckets.is_power_of_two(),
            USER => true,
            _ => self.id_size().is_some_and(|size| u64::from(self.buckets) < 1 << (8 * size)),
        }
    }

    pub(crate) fn reads_keys(&self) -> bool {
        self.id_size().is_none() || !(self.items.drop_keys || self.stays())
    }
}

/// Judges what trmCreateSplitter() and the others are given, apart from whether the function needs a kernel.
pub(crate) fn judge_splitter(info: &TrmSplitterCreateInfo, verdict: &mut Verdict) {
    verdict.known(info.key_type, 15, "keyType");
    judge_value(info.value_type, info.value_size, verdict);
    verdict.known(info.strategy, 6, "strategy");
    verdict.must(info.flags <= 15, MALFORMED, "flags");
    verdict.known(info.bucket_function, 8, "bucketFunction");
    verdict.known(info.layout, 3, "layout");
    verdict.known(info.output, 5, "output");
    verdict.known(info.method, 3, "method");
    verdict.must(info.reserved == 0, MALFORMED, "reserved");
    let model = SplitterModel::new(info);
    let items = &model.items;
    let buckets = info.bucket_count;
    verdict.must((1..=65_536).contains(&buckets), MALFORMED, "bucketCount");
    judge_function(info, &model, verdict);
    judge_output(info, &model, verdict);
    if !model.stays() {
        items.judge_layout(16, verdict);
    }
    let counted = matches!(info.strategy, 0 | 2);
    if info.method != 0 {
        verdict.must(counted && !items.segmented, MALFORMED, "method");
        verdict.must(items.max_count <= NARROW, LARGE, "maxCount of a method");
    }
    if items.segmented {
        verdict.must(!items.narrow(), MALFORMED, "keyType of segments");
        verdict.must(buckets < 65_536 || !model.strays(), MALFORMED, "bucketCount of segments");
    }
    if items.max_count > NARROW {
        let few = buckets <= 256 && (info.bucket_function == BITS || info.bucket_function == RANGE && items.key_bits == 32);
        // The header names no limit of its own for one bucket, which every key goes to.
        verdict.must(buckets == 1 || few && !items.narrow(), LARGE, "maxCount");
        verdict.doubt(items.segmented || buckets == 1, "maxCount of segments or of one bucket");
    }
}

fn judge_function(info: &TrmSplitterCreateInfo, model: &SplitterModel, verdict: &mut Verdict) {
    let (items, buckets) = (&model.items, info.bucket_count);
    let word = !items.narrow();
    verdict.must(word || buckets <= 256, MALFORMED, "keyType of many buckets");
    verdict.must(info.bucket_function == BITS || info.begin_bit == 0, MALFORMED, "beginBit without a field");
    match info.bucket_function {
        BITS if (1..=65_536).contains(&buckets) => {
            let field = (1u32..).find(|bits| 1 << bits >= buckets).unwrap_or(0);
            let end = u64::from(info.begin_bit) + u64::from(field);
            verdict.must(end <= items.key_bits.into(), LARGE, "beginBit");
            let same_word = u64::from(info.begin_bit) / 32 == (end - 1) / 32;
            verdict.must(end > items.key_bits.into() || same_word, MALFORMED, "beginBit: two words");
        }
        RANGE => verdict.must(matches!(info.key_type, 0 | 3 | 6 | 7), MALFORMED, "bucketFunction: ranges"),
        SPLITTERS => {
            verdict.must(word || buckets == 1, MALFORMED, "keyType of splitters");
            verdict.doubt(!word && buckets == 1, "narrow keys, one bucket");
        }
        SIGNS => {
            verdict.must(matches!(info.key_type, 0 | 10 | 12 | 13 | 14), MALFORMED, "bucketFunction: signs");
            verdict.must(buckets == 1 << (items.key_bits / 32), MALFORMED, "bucketCount of signs");
            verdict.must(word, MALFORMED, "keyType of signs");
        }
        IDS_U8..=IDS_U32 | USER => verdict.must(word, MALFORMED, "keyType of ids or functions"),
        _ => {}
    }
}

fn judge_output(info: &TrmSplitterCreateInfo, model: &SplitterModel, verdict: &mut Verdict) {
    let (items, buckets) = (&model.items, info.bucket_count);
    let one = info.output == BUCKET;
    verdict.must(one || info.output_bucket == 0, MALFORMED, "outputBucket without its output");
    verdict.must(!one || info.output_bucket < buckets, MALFORMED, "outputBucket");
    if info.output == BUCKETS {
        return;
    }
    if model.stays() {
        let nothing = info.value_type == 0 && !items.drop_keys && !items.interleaved;
        verdict.must(nothing, MALFORMED, "output: items stay");
    } else {
        verdict.must(!items.narrow() || items.drop_keys, MALFORMED, "output of narrow keys");
    }
    verdict.must(!items.segmented, MALFORMED, "output of segments");
    verdict.must(buckets <= 256 || info.output == COUNTS, MALFORMED, "output of many buckets");
    verdict.must(info.output != COUNTS || matches!(info.strategy, 0 | 2), MALFORMED, "strategy of counts");
}

/// Memory that a call names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Array {
    pub(crate) address: u64,
    given: u64,
    alignment: u32,
    /// Bytes that the call touches.
    pub(crate) need: u128,
    pub(crate) written: bool,
    /// Whether overlaps count for all that is given.
    whole: bool,
}

impl Array {
    fn new(range: TrmRange, alignment: u32, need: u128, written: bool) -> Self {
        Self { address: range.address, given: range.size, alignment, need, written, whole: false }
    }

    fn word(address: u64, written: bool) -> Self {
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

    /// Whether one writes what the other touches.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        let apart = u128::from(self.address) >= other.end() || u128::from(other.address) >= self.end();
        self.need != 0 && other.need != 0 && (self.written || other.written) && !apart
    }

    /// Whether bytes of scratch are among its own.
    pub(crate) fn meets(&self, start: u128, end: u128) -> bool {
        self.need != 0 && start < end && u128::from(self.address) < end && start < self.end()
    }
}

/// The bytes from the first of the first item to the last of the last.
fn extent(count: u32, size: u32, stride: u32) -> u128 {
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

/// What sort and split infos have in common.
struct Common {
    count: TrmCount,
    strides: [u32; 2],
    status: u64,
    segments: TrmSegments,
}

fn judge_common(items: &Items, info: &Common, verdict: &mut Verdict) -> Vec<Array> {
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
        let zero = (segments.offsets.address, segments.offsets.size, segments.count.max, segments.count.address) == (0, 0, 0, 0);
        verdict.must(zero, MALFORMED, "segments of a sorter or splitter without");
        arrays.push(Array::word(info.count.address, false));
    }
    arrays
}

fn judge_arrays(arrays: &[Array], verdict: &mut Verdict) {
    for (index, array) in arrays.iter().enumerate() {
        array.judge(verdict);
        let apart = arrays[..index].iter().all(|other| !array.conflicts(other));
        verdict.must(apart, OVERLAP, "two arrays");
    }
}

/// Judges a sort apart from its scratch and timestamps, and returns the memory that it names.
pub(crate) fn judge_sort(model: &SorterModel, info: &TrmSortInfo, verdict: &mut Verdict) -> Vec<Array> {
    let SorterModel { items, .. } = model;
    let (preserved, second) = (model.preserved(), model.placement != TrmPlacement::InPlace as i32);
    let strides = [info.key_stride, info.value_stride];
    let common = Common { count: info.count, strides, status: info.status, segments: info.segments };
    let mut arrays = judge_common(items, &common, verdict);
    let count = info.count.max;
    let stride = |stride| if items.strided { stride } else { 0 };
    let dense = |size| extent(count, size, 0);
    let keys = extent(count, items.step(), stride(info.key_stride));
    arrays.push(Array::new(info.keys, items.key_alignment(), keys, !preserved));
    if items.separate() && !(items.index && preserved) {
        let values = extent(count, items.value_size, stride(info.value_stride));
        arrays.push(Array::new(info.values, 4, values, !preserved));
    }
    if second && !(preserved && items.drop_keys) {
        arrays.push(Array::new(info.keys_out, items.key_alignment(), dense(items.step()), true));
    }
    if second && items.separate() {
        arrays.push(Array::new(info.values_out, 4, dense(items.value_size), true));
    }
    judge_arrays(&arrays, verdict);
    arrays
}

fn given(range: TrmRange) -> bool {
    (range.address, range.size) != (0, 0)
}

/// Judges a split apart from its scratch and timestamps, and returns the memory that it names.
pub(crate) fn judge_split(model: &SplitterModel, info: &TrmSplitInfo, verdict: &mut Verdict) -> Vec<Array> {
    let SplitterModel { items, buckets, function, output } = *model;
    let strides = [info.key_stride, info.value_stride];
    let common = Common { count: info.count, strides, status: info.status, segments: info.segments };
    let mut arrays = judge_common(&items, &common, verdict);
    let count = info.count.max;
    let stride = |stride| if items.strided { stride } else { 0 };
    let dense = |size| extent(count, size, 0);

    if function == RANGE {
        verdict.must(info.width != 0, MALFORMED, "width is 0");
        let fits = |number: u64| items.key_bits >= 64 || number >> items.key_bits == 0;
        verdict.must(fits(info.low) && fits(info.width), LARGE, "low or width");
    } else {
        verdict.must(info.low == 0 && info.width == 0, MALFORMED, "low or width without ranges");
    }
    verdict.must(function == SPLITTERS || !given(info.splitters), MALFORMED, "splitters");
    verdict.must(model.id_size().is_some() || !given(info.bucket_ids), MALFORMED, "bucketIds");
    verdict.must(function == USER || (info.user_address, info.user_words) == (0, [0; 4]), MALFORMED, "userAddress, userWords");
    verdict.must(output == PLACED || !given(info.starts), MALFORMED, "starts");

    if model.reads_keys() {
        let keys = extent(count, items.step(), stride(info.key_stride));
        arrays.push(Array::new(info.keys, items.key_alignment(), keys, false));
    }
    if items.separate() && !items.index {
        arrays.push(Array::new(info.values, 4, extent(count, items.value_size, stride(info.value_stride)), false));
    }
    let whole = output == PLACED;
    if !items.drop_keys && !model.stays() {
        arrays.push(Array { whole, ..Array::new(info.keys_out, items.key_alignment(), dense(items.step()), true) });
    }
    if output == RANKS {
        arrays.push(Array::new(info.values_out, 4, dense(4), true));
    } else if items.separate() {
        arrays.push(Array { whole, ..Array::new(info.values_out, 4, dense(items.value_size), true) });
    }
    if let Some(size) = model.id_size() {
        arrays.push(Array::new(info.bucket_ids, size, dense(size), false));
    }
    if function == SPLITTERS {
        arrays.push(Array::new(info.splitters, 4, u128::from(buckets - 1) * u128::from(items.key_size()), false));
    }
    if output == PLACED {
        arrays.push(Array::new(info.starts, 4, (u128::from(buckets) + u128::from(model.strays())) * 4, false));
    }
    let times = if items.segmented { u128::from(info.segments.count.max) } else { 1 };
    for (range, bytes) in [(info.offsets, (buckets + 1) * 4), (info.counts, buckets * 4), (info.commands, buckets * 12)] {
        if given(range) {
            arrays.push(Array::new(range, 4, times * u128::from(bytes), true));
            verdict.doubt(times * u128::from(bytes) > 1 << 32, "more than 2^30 words about buckets");
        }
    }
    if given(info.commands) {
        verdict.must(info.command_items != 0, MALFORMED, "commandItems");
        verdict.doubt(count > 1 << 31 && info.command_items < 4, "more workgroups than a command has");
    }
    judge_arrays(&arrays, verdict);
    arrays
}

/// Judges the scratch that a call is given. `base`: the buffer's address, unless it is NULL.
pub(crate) fn judge_scratch(scratch: &TrmScratch, base: Option<u64>, required: u64, arrays: &[Array], verdict: &mut Verdict) {
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
    use crate::info::empty;

    fn sort_faults(create: TrmSorterCreateInfo, info: TrmSortInfo) -> Vec<i32> {
        let mut verdict = Verdict::default();
        judge_sort(&SorterModel::new(&create), &info, &mut verdict);
        verdict.faults.iter().map(|(code, _)| *code).collect()
    }

    #[test]
    fn arrays_of_a_sort() {
        let create = TrmSorterCreateInfo { value_type: 1, ..empty() };
        let range = |address, size| TrmRange { address, size };
        let count = TrmCount { max: 10, address: 0 };
        let good = TrmSortInfo { count, keys: range(64, 40), values: range(104, 40), ..empty() };
        assert_eq!(sort_faults(create, good), []);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(0, 40), ..good }), [NULL]);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(62, 40), ..good }), [MISALIGNED]);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(64, 39), ..good }), [SMALL]);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(68, 40), ..good }), [OVERLAP]);
        assert_eq!(sort_faults(create, TrmSortInfo { keys: range(u64::MAX - 3, 40), ..good }), [LARGE]);
        assert_eq!(sort_faults(create, TrmSortInfo { key_stride: 4, ..good }), [MALFORMED]);
        assert_eq!(sort_faults(create, TrmSortInfo { status: 100, ..good }), [OVERLAP]);
        let preserved = TrmSorterCreateInfo { placement: 1, value_type: 3, flags: 1, ..create };
        let argsort = TrmSortInfo { values: range(0, 0), values_out: range(104, 40), ..good };
        assert_eq!(sort_faults(preserved, argsort), [], "an argsort reads keys and writes indices");
    }

    #[test]
    fn what_splitters_can_be() {
        let faults = |info: TrmSplitterCreateInfo| {
            let mut verdict = Verdict::default();
            judge_splitter(&info, &mut verdict);
            verdict.faults
        };
        let good = TrmSplitterCreateInfo { bucket_count: 256, ..empty() };
        assert_eq!(faults(good), []);
        assert_eq!(faults(TrmSplitterCreateInfo { begin_bit: 24, ..good }), []);
        assert_eq!(faults(TrmSplitterCreateInfo { begin_bit: 25, ..good }), [(LARGE, "beginBit")]);
        assert_eq!(faults(TrmSplitterCreateInfo { begin_bit: 25, key_type: 3, ..good }), [(MALFORMED, "beginBit: two words")]);
        assert_eq!(faults(TrmSplitterCreateInfo { output: 2, flags: 2, ..good }), [(MALFORMED, "output of segments")]);
        assert!(!faults(TrmSplitterCreateInfo { bucket_count: 0, ..good }).is_empty());
        assert_eq!(faults(TrmSplitterCreateInfo { bucket_function: 6, bucket_count: 2, ..good }), []);
    }

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
