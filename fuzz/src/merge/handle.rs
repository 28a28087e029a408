//! A merger on a device: the arrays of a request, with what a merge must write.

use super::Kind;
use super::sequences::{Sequences, Source, bounds, counts, is_clamped, maxima, within};
use super::several::Several;
use crate::arena::{Array, ArrayRanges};
use crate::items::{Items, Stream, value_size};
use crate::keys;
use crate::primitive::{Ask, CountAt, Handle, Limits, Prepared};
use ash::vk;
use trommel::{
    Layout, MergeInfo, MergeOperation, MergeSegments, MergeSequence, Merger, Range, Request, STATUS_COUNT_CLAMPED,
    Scratch, ValueType,
};

#[derive(Debug)]
pub(super) struct Merging {
    pub(super) merger: Merger,
    pub(super) kind: Kind,
}

/// A merge, with the sequences after A and B.
struct Merge<'a> {
    merger: &'a Merger,
    info: MergeInfo<'static>,
    more: Vec<MergeSequence>,
}

impl Merge<'_> {
    fn info(&self) -> MergeInfo<'_> {
        MergeInfo { more: &self.more, ..self.info }
    }
}

impl Prepared for Merge<'_> {
    fn request(&self) -> Request<'_> {
        Request::Merge(self.merger, self.info())
    }
}

/// The arrays of keys, values and the count of each sequence.
const ROLES: [[&str; 3]; 2] = [["keys", "values", "count"], ["second keys", "second values", "second count"]];

/// The count of the second sequence.
fn second_count(ask: &Ask) -> CountAt {
    ask.second.map_or(CountAt::Host, |second| second.count)
}

impl Merging {
    /// Whether only the device knows how many items there are.
    fn is_sized_by_device(&self) -> bool {
        let info = &self.kind.info;
        info.operation.is_set_operation() || info.operation.is_update() || info.segmented
    }

    /// Whether merges may have more than two sequences.
    fn is_of_several(&self) -> bool {
        self.kind.info.sequences > 2
    }

    fn is_interleaved(&self) -> bool {
        self.kind.info.layout == Layout::Interleaved
    }

    fn reads_values(&self) -> bool {
        !matches!(self.kind.info.value, ValueType::None | ValueType::Index) && !self.is_interleaved()
    }

    /// Bytes of the items of keys and of values.
    fn item_sizes(&self) -> [usize; 2] {
        let (key, value) = (keys::size(self.kind.info.key), value_size(self.kind.info.value));
        if self.is_interleaved() { [key + value, 0] } else { [key, value] }
    }

    fn inputs(&self, ask: &Ask, sequences: &Sequences) -> Vec<Array> {
        let mut arrays = Vec::new();
        for (items, [keys, values, _]) in sequences.items.iter().zip(ROLES) {
            let [key, value] = self.item_sizes();
            let bytes = if self.is_interleaved() { items.interleaved() } else { items.keys.clone() };
            arrays.push(Array::input(keys, 4, key, bytes));
            if self.reads_values() {
                arrays.push(Array::input(values, 4, value, items.values.clone()));
            }
        }
        if within(ask).is_some() {
            arrays.retain(|array| !ROLES[1].contains(&array.role));
        }
        arrays
    }

    /// The bounds of a search.
    fn bounds(&self, ask: &Ask, sequences: &Sequences) -> Array {
        let (found, [needles, _]) = (bounds(&self.kind, ask, sequences), maxima(ask));
        let mut array = Array::room("values out", 4, 4, needles as usize, &mut ask.stream(Stream::Noise));
        if let Some(found) = found {
            let words: Vec<u8> = found.iter().flat_map(|bound| bound.to_le_bytes()).collect();
            (0..found.len()).for_each(|index| array.expect(index, &words, index));
        } else {
            array.free_items(0..counts(ask)[0]);
        }
        array
    }

    fn outputs(&self, ask: &Ask, sequences: &Sequences) -> Vec<Array> {
        let operation = self.kind.info.operation;
        if operation.is_search() {
            return vec![self.bounds(ask, sequences)];
        }
        let [first, second] = maxima(ask);
        let room = match operation {
            MergeOperation::Intersection => first.min(second),
            MergeOperation::Difference => first,
            _ => ask.all_items(),
        };
        self.merged(ask, room, (&sequences.items, &sequences.merged, sequences.are_sorted))
    }

    /// The arrays of the result, with room for so many items: the items of all sequences, those of the result in order,
    /// and whether this order is determined.
    fn merged(&self, ask: &Ask, room: u32, (items, merged, are_sorted): (&[Items], &[Source], bool)) -> Vec<Array> {
        let (info, [key, value]) = (self.kind.info, self.item_sizes());
        let (room, mut noise) = (room as usize, ask.stream(Stream::Noise));
        let mut outputs = Vec::new();
        if !info.drop_keys {
            let dense = |items: &Items| if self.is_interleaved() { items.interleaved() } else { items.keys.clone() };
            let dense: Vec<Vec<u8>> = items.iter().map(dense).collect();
            outputs.push((Array::room("keys out", 4, key, room, &mut noise), dense));
        }
        if value != 0 {
            let dense = items.iter().map(|items| items.values.clone()).collect();
            outputs.push((Array::room("values out", 4, value, room, &mut noise), dense));
        }
        let write = |(mut array, dense): (Array, Vec<Vec<u8>>)| {
            if self.is_sized_by_device() && !are_sorted {
                array.free_all();
                return array;
            }
            let targets = merged.iter().enumerate();
            targets.for_each(|(target, (of, index))| array.expect(target, &dense[*of], *index));
            if !are_sorted {
                array.chosen = Some(0..merged.len() * array.item);
            }
            array
        };
        outputs.into_iter().map(write).collect()
    }

    /// The arrays of a merger for more than two sequences.
    fn arrays_of_several(&self, ask: &Ask) -> Vec<Array> {
        let several = Several::new(&self.kind, ask);
        let mut arrays = several.inputs(self.item_sizes(), self.is_interleaved(), self.reads_values());
        arrays.extend(self.merged(ask, ask.all_items(), (&several.items, &several.merged, several.are_sorted)));
        let mut result = |role, word| arrays.push(Array::results(role, &[word], &mut ask.stream(Stream::Noise)));
        if ask.status {
            result("status", if several.is_clamped() { STATUS_COUNT_CLAMPED } else { 0 });
        }
        if ask.seed.is_multiple_of(2) {
            result("count out", u32::try_from(several.merged.len()).expect("counts are 32-bit"));
        }
        arrays
    }

    /// The number of items of the result.
    fn count_out(&self, ask: &Ask, sequences: &Sequences) -> Array {
        let operation = self.kind.info.operation;
        let [first, second] = counts(ask);
        let items = match operation {
            MergeOperation::Merge if ask.segments.is_none() => first + second,
            operation if operation.is_search() => first,
            _ => sequences.merged.len(),
        };
        let items = u32::try_from(items).expect("counts are 32-bit");
        let mut array = Array::results("count out", &[items], &mut ask.stream(Stream::Noise));
        if self.is_sized_by_device() && !sequences.are_sorted {
            array.free_all();
        }
        array
    }

    /// The offsets of segments in the result.
    fn offsets_out(&self, ask: &Ask, sequences: &Sequences) -> Array {
        let room = sequences.offsets[0].len();
        let mut array = Array::room("offsets out", 4, 4, room, &mut ask.stream(Stream::Noise));
        if sequences.are_sorted {
            let words: Vec<u8> = sequences.starts.iter().flat_map(|start| start.to_le_bytes()).collect();
            (0..sequences.starts.len()).for_each(|index| array.expect(index, &words, index));
        } else {
            array.free_all();
        }
        array
    }

    fn merge(&self, ask: &Ask, ranges: &ArrayRanges) -> Merge<'_> {
        if !self.is_of_several() {
            return Merge { merger: &self.merger, info: self.info(ask, ranges), more: Vec::new() };
        }
        let several = Several::new(&self.kind, ask);
        let info = MergeInfo {
            keys_out: ranges.range("keys out"),
            values_out: ranges.range("values out"),
            status: ranges.address("status"),
            count_out: ranges.address("count out"),
            ..several.info(ranges)
        };
        Merge { merger: &self.merger, info, more: several.more(ranges) }
    }

    /// The info of two sequences.
    fn info(&self, ask: &Ask, ranges: &ArrayRanges) -> MergeInfo<'static> {
        let [[keys_a, values_a, count_a], [keys_b, values_b, count_b]] = ROLES;
        let [first, second] = maxima(ask);
        let mut info = MergeInfo {
            count_a: ask.count.of(first, count_a, ranges),
            count_b: second_count(ask).of(second, if ask.shares_count() { count_a } else { count_b }, ranges),
            keys_a: ranges.range(keys_a),
            values_a: ranges.range(values_a),
            keys_b: ranges.range(keys_b),
            values_b: ranges.range(values_b),
            keys_out: ranges.range("keys out"),
            values_out: ranges.range("values out"),
            status: ranges.address("status"),
            count_out: ranges.address("count out"),
            segments: ask.segments.map_or_else(MergeSegments::default, |segments| MergeSegments {
                count: segments.count.of(segments.max, "segment count", ranges),
                offsets_a: ranges.range("offsets"),
                offsets_b: ranges.range("second offsets"),
                offsets_out: ranges.range("offsets out"),
            }),
            marks: ranges.range("marks"),
            user_words: self.kind.comparator.map_or([0; 4], |comparator| comparator.words),
            ..MergeInfo::default()
        };
        if let Some(start) = within(ask) {
            let part = |whole: Range, size: usize| {
                let [skipped, bytes] = [start, second as usize].map(|items| (items * size) as u64);
                if whole == Range::NONE { whole } else { Range::new(whole.address + skipped, bytes) }
            };
            let [key, value] = self.item_sizes();
            (info.keys_b, info.values_b) = (part(info.keys_a, key), part(info.values_a, value));
        }
        info
    }
}

impl Handle for Merging {
    fn arrays(&self, ask: &Ask, _: &Limits) -> Vec<Array> {
        if self.is_of_several() {
            return self.arrays_of_several(ask);
        }
        let sequences = Sequences::new(&self.kind, ask);
        let mut arrays = self.inputs(ask, &sequences);
        arrays.extend(self.outputs(ask, &sequences));
        if let Some(segments) = ask.segments {
            arrays.push(Array::words("offsets", &sequences.offsets[0]));
            arrays.push(Array::words("second offsets", &sequences.offsets[1]));
            arrays.extend(segments.count.array("segment count"));
            if ask.seed % 8 < 6 {
                arrays.push(self.offsets_out(ask, &sequences));
            }
        }
        if self.kind.info.operation.is_update() {
            arrays.push(Array::words("marks", &sequences.marks));
        }
        arrays.extend(ask.count.array(ROLES[0][2]));
        arrays.extend(second_count(ask).array(ROLES[1][2]).filter(|_| !ask.shares_count()));
        if ask.status {
            let expected = if is_clamped(ask) { STATUS_COUNT_CLAMPED } else { 0 };
            arrays.push(Array::results("status", &[expected], &mut ask.stream(Stream::Noise)));
        }
        // Of half of all requests, and wherever nothing else says how many items there are.
        if ask.seed.is_multiple_of(2) || self.kind.info.operation.is_set_operation() {
            arrays.push(self.count_out(ask, &sequences));
        }
        arrays
    }

    fn prepare<'a>(&'a self, ask: &Ask, ranges: &ArrayRanges) -> Box<dyn Prepared + 'a> {
        Box::new(self.merge(ask, ranges))
    }

    fn scratch_size(&self, ask: &Ask) -> trommel::Result<u64> {
        self.merger.scratch_size(ask.all_items())
    }

    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        ask: &Ask,
        ranges: &ArrayRanges,
        scratch: Scratch,
    ) -> trommel::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.merger.cmd_merge(commands, &MergeInfo { scratch, ..self.merge(ask, ranges).info() }) }
    }
}
