//! The contract of splits, as include/trommel.h states it.

use crate::calls::model::*;
use trommel::capi::*;

/// Values of TrmBucketFunction.
pub(super) const BITS: i32 = 0;
pub(super) const RANGE: i32 = 1;
pub(super) const SPLITTERS: i32 = 2;
pub(super) const IDS_U8: i32 = 3;
pub(super) const IDS_U32: i32 = 5;
pub(super) const SIGNS: i32 = 6;
pub(super) const USER: i32 = 7;
/// Values of TrmSplitOutput.
pub(super) const BUCKETS: i32 = 0;
pub(super) const BUCKET: i32 = 1;
pub(super) const PLACED: i32 = 2;
pub(super) const COUNTS: i32 = 3;
pub(super) const RANKS: i32 = 4;

/// A splitter as it was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitterModel {
    pub(super) items: Items,
    pub(super) buckets: u32,
    pub(super) function: i32,
    pub(super) output: i32,
}

impl SplitterModel {
    pub(super) fn new(info: &TrmSplitterCreateInfo) -> Self {
        let value = (info.value_type, info.value_size);
        let items = Items::new(info.key_type, value, info.layout, info.max_count, info.flags);
        Self { items, buckets: info.bucket_count, function: info.bucket_function, output: info.output }
    }

    /// Bytes of an id, if ids are the bucket function.
    pub(super) fn id_size(&self) -> Option<u32> {
        (IDS_U8..=IDS_U32).contains(&self.function).then(|| 1 << (self.function - IDS_U8))
    }

    /// Whether a split records commands. A count of zero still writes the requested bucket information and the status.
    pub(super) fn records(&self, info: &TrmSplitInfo) -> bool {
        let none = self.items.segmented && info.segments.count.max == 0;
        let asked = [info.offsets, info.counts, info.commands].into_iter().any(given);
        !none && (asked || info.status != 0 || info.count.max != 0 && self.output != COUNTS)
    }

    pub(super) fn stays(&self) -> bool {
        matches!(self.output, COUNTS | RANKS)
    }

    /// Whether some items may have no bucket.
    pub(super) fn has_items_without_bucket(&self) -> bool {
        match self.function {
            BITS => !self.buckets.is_power_of_two(),
            USER => true,
            _ => self.id_size().is_some_and(|size| u64::from(self.buckets) < 1 << (8 * size)),
        }
    }

    pub(super) fn reads_keys(&self) -> bool {
        self.id_size().is_none() || !(self.items.drop_keys || self.stays())
    }
}

/// Judges the info of trmCreateSplitter() and its variants, except whether the function needs a kernel.
pub(super) fn judge_splitter(info: &TrmSplitterCreateInfo, verdict: &mut Verdict) {
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
        verdict.must(buckets < 65_536 || !model.has_items_without_bucket(), MALFORMED, "bucketCount of segments");
    }
    if items.max_count > NARROW {
        let few =
            buckets <= 256 && (info.bucket_function == BITS || info.bucket_function == RANGE && items.key_bits == 32);
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

/// Judges a split apart from its scratch and timestamps, and returns the memory that it names.
pub(super) fn judge_split(model: &SplitterModel, info: &TrmSplitInfo, verdict: &mut Verdict) -> Vec<Array> {
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
    verdict.must(
        function == USER || (info.user_address, info.user_words) == (0, [0; 4]),
        MALFORMED,
        "userAddress, userWords",
    );
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
        arrays.push(Array::new(
            info.starts,
            4,
            (u128::from(buckets) + u128::from(model.has_items_without_bucket())) * 4,
            false,
        ));
    }
    let times = if items.segmented { u128::from(info.segments.count.max) } else { 1 };
    for (range, bytes) in [(info.offsets, (buckets + 1) * 4), (info.counts, buckets * 4), (info.commands, buckets * 12)]
    {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::info::empty;

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
        assert_eq!(
            faults(TrmSplitterCreateInfo { begin_bit: 25, key_type: 3, ..good }),
            [(MALFORMED, "beginBit: two words")]
        );
        assert_eq!(faults(TrmSplitterCreateInfo { output: 2, flags: 2, ..good }), [(MALFORMED, "output of segments")]);
        assert!(!faults(TrmSplitterCreateInfo { bucket_count: 0, ..good }).is_empty());
        assert_eq!(faults(TrmSplitterCreateInfo { bucket_function: 6, bucket_count: 2, ..good }), []);
    }
}
