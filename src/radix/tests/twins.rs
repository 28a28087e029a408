//! Expected memory after each pass: the CPU twin of a problem, and the addresses of its words.

use super::labels;
use super::primitives::{Primitive, Requests as _};
use super::problems::Sorts;
use crate::Placement;
use crate::core::tests::noise;
use crate::radix::cpu::{self, Plane};
use crate::radix::{Digit, Format, Items, KeyType};
use crate::shared::{
    Address, FLAG_EVEN, FLAG_ODD, LAYOUT_DROP_KEYS, LAYOUT_INDICES, LAYOUT_INTERLEAVED, LAYOUT_KEYS_IN_SCRATCH,
    LAYOUT_VALUES_IN_SCRATCH, LEAST_LOOK_BACK_ROW, MOST_STEPS, OUTPUT_ONE, PREFIX_BIN_BITS, PREFIX_BINS, PREFIX_DIGITS,
    RADIX_BITS, RadixProblem,
};
use crate::{BucketFunction, SorterInfo, SplitterInfo, ValueType};

pub(super) fn address(of: Address) -> u64 {
    u64::from_le_bytes(bytemuck::cast(of))
}

/// Consecutive items: the planes' words, each of `unit` bytes. Items are `stride` bytes apart, with noise in the gaps.
pub(super) fn laid_out(planes: &[&Plane], unit: usize, stride: usize) -> Vec<u8> {
    let size = planes.len() * unit;
    let count = planes.first().map_or(0, |plane| plane.len());
    let mut noise = noise(size as u64, count * stride.saturating_sub(size)).into_iter();
    let mut bytes = Vec::new();
    for i in 0..count {
        let end = bytes.len() + stride.max(size);
        planes.iter().for_each(|plane| bytes.extend_from_slice(&plane[i].to_le_bytes()[..unit]));
        bytes.extend(noise.by_ref().map(|word| word as u8).take(end - bytes.len()));
    }
    bytes
}

/// First key and width of the ranges of a split.
pub(super) const LOW: u32 = 0x1000_0000;
pub(super) const WIDTH: u32 = 0x00f5_0003;

/// The items of a problem, and the passes of its sort in plain Rust.
#[derive(Clone)]
pub(super) struct Twin {
    info: SorterInfo,
    pub(super) format: Format,
    /// The bucket function, if the passes of the split evaluate it.
    buckets: Option<BucketFunction>,
    /// Number of buckets, for splits.
    bucket_count: Option<u32>,
    /// The splitter, for splits by labels. Then `keys` holds the labels, and `moved` the caller's keys and values.
    by_labels: Option<SplitterInfo>,
    /// Bucket ids or splitters.
    pub(super) given: Vec<u8>,
    /// Encoded words, least significant first. For splits, a plane with the bin of each key follows.
    pub(super) keys: Vec<Plane>,
    /// The same keys in the caller's encoding.
    pub(super) raw: Vec<Plane>,
    /// Values as the passes move them.
    moved: Vec<Plane>,
    /// All words of the values, in input order. None if values are indices.
    values: Vec<Plane>,
    pub(super) counts: Vec<u32>,
    pub(super) totals: Vec<u32>,
    /// A bit for each constant digit.
    pub(super) shared: u32,
    /// Whether all planes between passes are in scratch (merge sorts).
    pub(super) merged: bool,
    /// The bits of the first word of a key that a comparator compares.
    compared: Option<u32>,
}

impl Twin {
    /// Keys are noise, with few values in some bits and many in others. `varied`: a bit for each digit that is not
    /// constant. Digits are those of the raw keys.
    pub(super) fn new(sorts: &Sorts, seed: u64, size: usize, varied: u32) -> Self {
        let (info, format, by_labels) = (sorts.info, sorts.format(), sorts.by_labels());
        let buckets = sorts.function().filter(|_| by_labels.is_none());
        let bucket_count = if let Primitive::Split(by) = sorts.primitive() { Some(by.buckets) } else { None };
        let (words, narrow) = (format.key_size.div_ceil(4) as usize, info.key.bits().min(32));
        let mut masks = vec![0xff03_ff1f; words];
        let digits = if by_labels.is_some() { 0 } else { format.digits() };
        for index in (0..digits).filter(|index| varied >> index & 1 == 0) {
            let digit = format.digit(index);
            masks[digit.word as usize] &= !(u32::MAX >> (32 - digit.bits) << digit.shift);
        }
        if matches!(info.key, KeyType::U32x2 | KeyType::U32x3 | KeyType::U32x4) {
            masks.reverse();
        }
        let fixed = noise(3, words);
        let of_word = |w: usize| {
            let drawn = noise(seed * 16 + w as u64, size).into_iter();
            let keys = drawn.map(|word| (word & masks[w] | fixed[w] & !masks[w]) & u32::MAX >> (32 - narrow));
            keys.collect()
        };
        let raw: Vec<Plane> = (0..words).map(of_word).collect();
        let value_words = if info.value == ValueType::Index { 0 } else { format.value_size / 4 };
        let values = (0..value_words).map(|w| (0..).take(size).map(|i: u32| i | w << 24).collect()).collect();
        let (keys, moved, counts, totals) = Default::default();
        let given = by_labels.map_or_else(Vec::new, |split| labels::given(&split, seed, size));
        Self {
            info,
            format,
            buckets,
            bucket_count,
            by_labels,
            given,
            keys,
            raw,
            moved,
            values,
            counts,
            totals,
            shared: 0,
            merged: false,
            compared: (format.comparator != 0).then_some(sorts.user_words[3]),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.raw[0].len()
    }

    /// Look-back words of a tile, without the ring.
    pub(super) fn look_back_row(&self) -> usize {
        self.bins().max(LEAST_LOOK_BACK_ROW as usize)
    }

    pub(super) fn bins(&self) -> usize {
        self.format.bins() as usize
    }

    pub(super) fn input(&self) -> Input {
        let format = &self.format;
        let (step, unit) = (format.key_step() as usize, format.key_size.min(4) as usize);
        // Strided items are an odd number of words, or of narrow keys, longer.
        let strided = self.info.layout == crate::Layout::Strided;
        let further = |size: usize, by: usize| if strided { size + by } else { size };
        let (key_stride, value_stride) = (further(step, unit * 3), further(format.value_size as usize, 4));
        let interleaved = format.has(LAYOUT_INTERLEAVED);
        let mut items: Vec<&Plane> = self.raw.iter().collect();
        items.extend(self.values.iter().filter(|_| interleaved));
        let apart: Vec<&Plane> = self.values.iter().filter(|_| !interleaved).collect();
        Input {
            keys: laid_out(&items, unit, key_stride),
            values: laid_out(&apart, 4, value_stride),
            key_stride: if strided { key_stride as u32 } else { 0 },
            value_stride: if strided { value_stride as u32 } else { 0 },
        }
    }

    /// The first `count` items as the first pass reads them.
    pub(super) fn begun(&self, count: usize) -> Self {
        let mut twin = self.clone();
        twin.raw.iter_mut().for_each(|plane| plane.truncate(count));
        twin.moved =
            if twin.format.has(LAYOUT_INDICES) { vec![(0..).take(count).collect()] } else { twin.values.clone() };
        twin.moved.iter_mut().for_each(|plane| plane.truncate(count));
        match twin.by_labels {
            Some(split) => twin.label(&split),
            None => twin.encode(),
        }
        for (index, counts) in twin.histograms().iter().enumerate() {
            let shared = counts.iter().any(|n| *n != 0 && *n as usize == count);
            twin.shared |= u32::from(shared) << index;
        }
        twin
    }

    fn encode(&mut self) {
        let count = self.len();
        self.keys = vec![Plane::new(); self.raw.len()];
        for i in 0..count {
            let mut words: Vec<u32> = self.raw.iter().map(|plane| plane[i]).collect();
            cpu::encode(self.info.key, self.info.order, &mut words);
            self.keys.iter_mut().zip(words).for_each(|(plane, word)| plane.push(word));
        }
        if let Some(function) = self.buckets {
            let bins = (0..count).map(|i| self.bin_of(function, i)).collect();
            self.keys.push(bins);
        }
    }

    fn label(&mut self, split: &SplitterInfo) {
        self.keys = vec![labels::labels(split, &self.given, &self.raw)];
        let keys = std::mem::replace(&mut self.raw, self.keys.clone());
        self.moved.splice(0..0, keys.into_iter().filter(|_| !self.info.drop_keys));
    }

    /// For splits: the number of items of each bucket, then of items without a bucket.
    pub(super) fn bucket_counts(&self) -> Vec<u32> {
        let Some(buckets) = self.bucket_count else { return Vec::new() };
        let bins = if self.by_labels.is_some() { &self.keys[0] } else { &self.keys[self.format.key_words as usize] };
        let mut counts = vec![0; buckets as usize + 1];
        bins.iter().for_each(|bin| counts[*bin as usize] += 1);
        counts
    }

    /// Given bucket starts: the last buckets come first, as late as all items have room.
    pub(super) fn starts(&self, count: usize) -> Vec<u32> {
        let counts = self.begun(count).bucket_counts();
        let mut end = (self.len() - count) as u32;
        let start = |count: &u32| {
            end += count;
            end - count
        };
        let mut starts: Vec<u32> = counts.iter().rev().map(start).collect();
        starts.reverse();
        starts.truncate(self.bins());
        starts
    }

    /// For each item, the number of preceding items of its bin.
    pub(super) fn ranks(&self) -> Vec<u32> {
        let mut next = vec![0; self.bins()];
        let rank = |i| {
            let next: &mut u32 = &mut next[self.sorted_by(i) as usize];
            *next += 1;
            *next - 1
        };
        (0..self.len()).map(rank).collect()
    }

    /// The addresses and bytes that a split writes for its items: of one bucket, or of all. `starts`: the output index
    /// of each bucket's first item.
    pub(super) fn placed(&self, row: &RadixProblem, to: Move, starts: &[u32]) -> Vec<(u64, Vec<u8>)> {
        let split = self.format.binning.output;
        let (mut parts, mut first) = (Vec::new(), 0);
        for (bucket, count) in self.bucket_counts().into_iter().enumerate() {
            let items = first..first + count as usize;
            first = items.end;
            let start = if split & 0xff == OUTPUT_ONE {
                (split >> 8 == bucket as u32).then_some(0)
            } else {
                starts.get(bucket).copied()
            };
            let Some(start) = start.filter(|_| count != 0) else { continue };
            let written = self.cut(items).written(row, to).into_iter();
            parts.extend(
                written.map(|(address, bytes)| {
                    (address + u64::from(start) * (bytes.len() as u64 / u64::from(count)), bytes)
                }),
            );
        }
        parts
    }

    /// The bin of a key, by the words of the key.
    fn bin_of(&self, function: BucketFunction, i: usize) -> u32 {
        let bin = match function {
            BucketFunction::Range => self.keys[0][i].saturating_sub(LOW) / WIDTH,
            _ => {
                let digit = self.format.digit(0);
                self.keys[digit.word as usize][i] >> digit.shift & ((1 << digit.bits) - 1)
            }
        };
        bin.min(self.format.bins() - 1)
    }

    /// The digit of a pass. For splits: the plane with the bins.
    pub(super) fn digit(&self, pass: u32) -> Digit {
        match self.buckets {
            Some(_) => Digit { word: self.format.key_words, shift: 0, bits: 9 },
            None => self.format.digit(pass),
        }
    }

    pub(super) fn histograms(&self) -> Vec<Vec<u32>> {
        (0..self.format.digits()).map(|index| cpu::histogram(&self.keys, self.digit(index), self.bins())).collect()
    }

    /// Number of keys in each prefix bin: see glsl/radix/histogram.comp.
    pub(super) fn prefix_bins(&self) -> Vec<u32> {
        let mut bins = vec![0; PREFIX_BINS as usize];
        let digits = self.format.digits();
        for i in 0..self.len() {
            let prefix = (digits - PREFIX_DIGITS..digits).rev().fold(0u32, |prefix, digit| {
                let digit = self.format.digit(digit);
                prefix << RADIX_BITS | self.keys[digit.word as usize][i] >> digit.shift & ((1 << digit.bits) - 1)
            });
            let prefix = (prefix ^ prefix >> 16).wrapping_mul(0x85eb_ca6b);
            let prefix = (prefix ^ prefix >> 13).wrapping_mul(0xc2b2_ae35);
            bins[(prefix >> (32 - PREFIX_BIN_BITS)) as usize] += 1;
        }
        bins
    }

    /// Whether the bins estimate that few keys have equal prefixes: see glsl/sort/choose_prefix_path.comp.
    pub(super) fn has_rare_prefixes(&self) -> bool {
        let mean = self.len() as f64 / f64::from(PREFIX_BINS);
        let squares: f64 = self.prefix_bins().into_iter().map(|keys| (f64::from(keys) - mean).powi(2)).sum();
        squares <= f64::from(MOST_STEPS) * self.len().max(1) as f64
    }

    /// A twin with the keys of these items alone.
    pub(super) fn part(&self, items: std::ops::Range<usize>) -> Self {
        let items = items.start.min(self.len())..items.end.min(self.len());
        Self { keys: self.keys.iter().map(|plane| plane[items.clone()].to_vec()).collect(), ..self.clone() }
    }

    /// A twin of these items alone.
    pub(super) fn cut(&self, items: std::ops::Range<usize>) -> Self {
        let of = |planes: &[Plane]| planes.iter().map(|plane| plane[items.clone()].to_vec()).collect();
        // Large values are gathered by source indices among all items.
        Self { keys: of(&self.keys), raw: of(&self.raw), moved: of(&self.moved), ..self.clone() }
    }

    /// Sorts by a digit. Returns the output index of each item.
    pub(super) fn reorder(&mut self, tile: usize, pass: u32) -> Vec<usize> {
        let digit = self.digit(pass);
        let mut counts = cpu::count(&self.keys, tile, digit, self.bins());
        let totals = cpu::spine(&mut counts, self.bins());
        let targets = cpu::reorder(&self.keys, tile, digit, &counts, &totals);
        [&mut self.keys, &mut self.raw, &mut self.moved].into_iter().for_each(|planes| cpu::scatter(planes, &targets));
        targets
    }

    /// The sorted bits of a key, as one number.
    fn sorted_by(&self, i: usize) -> u128 {
        if self.buckets.is_some() || self.by_labels.is_some() {
            let words = if self.by_labels.is_some() { 0 } else { self.format.key_words as usize };
            return self.keys[words][i].into();
        }
        if let Some(bits) = self.compared {
            return (self.keys[0][i] & bits).into();
        }
        let key = self.keys.iter().rev().fold(0u128, |number, plane| number << 32 | u128::from(plane[i]));
        key >> self.format.begin_bit & u128::MAX >> (128 - (self.format.end_bit - self.format.begin_bit))
    }

    /// The stably sorted order of these items.
    pub(super) fn order_of(&self, items: std::ops::Range<usize>) -> Vec<usize> {
        let mut order: Vec<usize> = items.collect();
        order.sort_by_key(|i| self.sorted_by(*i));
        order
    }

    /// Sorts runs of `items` items.
    pub(super) fn sort_runs(&mut self, items: usize) {
        let runs = (0..self.len()).step_by(items);
        let order: Vec<usize> = runs.flat_map(|first| self.order_of(first..(first + items).min(self.len()))).collect();
        for planes in [&mut self.keys, &mut self.raw, &mut self.moved] {
            planes.iter_mut().for_each(|plane| *plane = order.iter().map(|i| plane[*i]).collect());
        }
    }

    /// Takes over a found order of `u32` keys without values, which must be sorted by all digits up to that of `pass`.
    pub(super) fn take_order(&mut self, found: Plane, pass: u32) {
        let digit = self.format.digit(pass);
        let sorted_by =
            |keys: &Plane| keys.iter().map(|key| key & u32::MAX >> (32 - digit.shift - digit.bits)).collect::<Vec<_>>();
        let all = |keys: &Plane| {
            let mut keys = keys.clone();
            keys.sort_unstable();
            keys
        };
        assert_eq!(sorted_by(&found), sorted_by(&self.keys[0]), "keys are ordered by the digits so far");
        assert_eq!(all(&found), all(&self.keys[0]), "keys are those that there were");
        self.keys = vec![found.clone()];
        self.raw = vec![found];
    }

    /// Inclusive prefixes of each tile and digit, in the order of look-back words. If the buckets of a split are not
    /// consecutive, prefixes begin at 0 for each digit. The last tile includes its pads, which have the largest digit:
    /// no tile looks back at it.
    pub(super) fn prefixes(&self, tile: usize, pass: u32) -> Vec<u32> {
        let digit = self.digit(pass);
        let own = cpu::count(&self.keys, tile, digit, self.bins());
        let mut counts = own.clone();
        let tiles = self.len().div_ceil(tile);
        let totals = cpu::spine(&mut counts, self.bins());
        let in_line = u32::from(self.format.places_bins_in_order());
        let bases: Vec<u32> =
            totals.iter().scan(0, |sum, total| Some(std::mem::replace(sum, *sum + total * in_line))).collect();
        let largest = match self.buckets {
            // If the ranges extend beyond all keys, the last range that contains keys.
            Some(BucketFunction::Range) => (self.bins() - 1).min(((u32::MAX - LOW) / WIDTH) as usize),
            Some(_) => self.bins() - 1,
            None => ((1 << digit.bits) - 1).min(self.bins() - 1),
        };
        let pads = |t: usize, value: usize| {
            if value == largest { ((t + 1) * tile).saturating_sub(self.len()) as u32 } else { 0 }
        };
        let of =
            |t: usize, value: usize| bases[value] + counts[value * tiles + t] + own[value * tiles + t] + pads(t, value);
        (0..tiles).flat_map(|t| (0..self.bins()).map(move |value| (t, value))).map(|(t, value)| of(t, value)).collect()
    }

    /// Checks that the items are sorted by the sorted bits of their keys, and equal ones in the order of `of`.
    pub(super) fn assert_sorted(&self, of: &Self) {
        let order = of.order_of(0..of.len());
        let expected: Vec<Plane> = of.raw.iter().map(|plane| order.iter().map(|i| plane[*i]).collect()).collect();
        assert_eq!(self.raw, expected, "keys are sorted");
        let expected: Vec<Plane> = of.moved.iter().map(|plane| order.iter().map(|i| plane[*i]).collect()).collect();
        assert_eq!(self.moved, expected, "values follow their keys");
    }

    /// The items as the caller gets them: keys, values.
    pub(super) fn output(&self) -> [Vec<u8>; 2] {
        let unit = self.format.key_size.min(4) as usize;
        if let Some(split) = self.by_labels {
            let lead = match (self.format.has(LAYOUT_INTERLEAVED), self.info.drop_keys) {
                (true, _) => self.moved.len(),
                (_, true) => 0,
                _ => (split.key.size() / 4) as usize,
            };
            let planes: Vec<&Plane> = self.moved.iter().collect();
            return [laid_out(&planes[..lead], 4, 0), laid_out(&planes[lead..], 4, 0)];
        }
        let mut items: Vec<&Plane> = self.raw.iter().collect();
        if self.format.has(LAYOUT_INTERLEAVED) {
            items.extend(&self.moved);
            return [laid_out(&items, unit, 0), Vec::new()];
        }
        let values = self.values_in_order();
        [laid_out(&items, unit, 0), laid_out(&values.iter().collect::<Vec<_>>(), 4, 0)]
    }

    /// Large values in sorted order, gathered by the sorted source indices.
    pub(super) fn values_in_order(&self) -> Vec<Plane> {
        if !self.format.has(LAYOUT_VALUES_IN_SCRATCH) {
            return self.moved.clone();
        }
        self.values.iter().map(|plane| self.moved[0].iter().map(|from| plane[*from as usize]).collect()).collect()
    }

    /// The addresses that a pass writes, and the bytes it writes there.
    pub(super) fn written(&self, row: &RadixProblem, to: Move) -> Vec<(u64, Vec<u8>)> {
        let format = &self.format;
        let mut written = Vec::new();
        let [keys, values] = self.output();
        if self.by_labels.is_some() {
            // With two scatter passes, the first writes its labels to a plane after the input's labels, which may be
            // narrower.
            let plane = u64::from(row.max_count.next_multiple_of(4)) * 4;
            let area = address(row.alternate_keys) + if to.last { 0 } else { plane };
            if format.digits() > 1 {
                written.push((area, laid_out(&[&self.keys[0]], 4, 0)));
            }
            if to.last {
                written.extend([(address(row.to_keys), keys), (address(row.to_values), values)]);
            } else {
                written.push((
                    address(row.alternate_values),
                    self.moved.iter().flatten().flat_map(|word| word.to_le_bytes()).collect(),
                ));
            }
            written.retain(|(_, bytes)| !bytes.is_empty());
            return written;
        }
        let together = format.has(LAYOUT_INTERLEAVED);
        let keys_leave = to.last && !format.has(LAYOUT_KEYS_IN_SCRATCH);
        let values_leave = to.last && !format.has(LAYOUT_VALUES_IN_SCRATCH);
        let dropped = to.last && format.has(LAYOUT_DROP_KEYS);
        if keys_leave && !dropped {
            written.push((address(row.to_keys), keys));
        }
        let mut planes = |of: &[Plane], area: u64| {
            let bytes =
                of.iter().enumerate().map(|(w, plane)| (area + (w * plane.len() * 4) as u64, laid_out(&[plane], 4, 0)));
            written.extend(bytes);
        };
        if !keys_leave && !dropped {
            planes(&self.keys[..format.key_words as usize], self.area(row, 0, !to.to_output));
        }
        if together && !to.last {
            planes(&self.moved, self.area(row, 0, !to.to_output) + u64::from(format.key_words) * 4 * self.len() as u64);
        } else if !together && !values_leave {
            planes(&self.moved, self.area(row, 1, !to.to_output));
        } else if !together {
            written.push((address(row.to_values), values));
        }
        written.retain(|(_, bytes)| !bytes.is_empty());
        written
    }

    /// Address of the planes of keys (0) or values (1) between passes: the alternate planes, or those in the output's
    /// memory if allowed.
    pub(super) fn area(&self, row: &RadixProblem, which: usize, alternate: bool) -> u64 {
        let format = &self.format;
        let together = if format.has(LAYOUT_INTERLEAVED) { format.value_words } else { 0 };
        let (apart, words) =
            [(LAYOUT_KEYS_IN_SCRATCH, format.key_words + together), (LAYOUT_VALUES_IN_SCRATCH, format.value_words)]
                [which];
        let [in_scratch, output] =
            [[row.alternate_keys, row.to_keys], [row.alternate_values, row.to_values]][which].map(address);
        match (alternate, self.merged || format.has(apart)) {
            (true, _) => in_scratch,
            (false, false) => output,
            (false, true) => in_scratch + u64::from(row.max_count.next_multiple_of(4)) * 4 * u64::from(words),
        }
    }
}

/// An input as in memory.
pub(super) struct Input {
    pub(super) keys: Vec<u8>,
    pub(super) values: Vec<u8>,
    pub(super) key_stride: u32,
    pub(super) value_stride: u32,
}

/// Source and target of a pass: see glsl/radix/ping_pong.glsl.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move {
    /// Number of active passes before this one.
    pub(super) before: u32,
    pub(super) last: bool,
    pub(super) to_output: bool,
}

/// None if the pass is skipped. A copy is the last pass if the others end in the wrong array, or if there are no
/// others. On the prefix path, the last pass sorts equal prefixes.
pub(super) fn move_of_pass(
    format: &Format,
    digits: u32,
    skipped_digits: u32,
    by_prefixes: bool,
    pass: u32,
) -> Option<Move> {
    let mut moves: Vec<u32> = (0..digits).filter(|digit| skipped_digits >> digit & 1 == 0).collect();
    let ends_right = match format.rule() {
        FLAG_EVEN => moves.len().is_multiple_of(2),
        FLAG_ODD => !moves.len().is_multiple_of(2),
        _ => true,
    };
    if moves.is_empty() || !ends_right || by_prefixes {
        moves.push(digits);
    }
    let before = moves.iter().position(|other| *other == pass)?;
    let after = moves.len() - 1 - before;
    Some(Move { before: before as u32, last: after == 0, to_output: after.is_multiple_of(2) })
}

/// A bit for each digit below the prefix.
pub(super) fn below_prefix(format: &Format) -> u32 {
    (1 << (format.digits() - PREFIX_DIGITS)) - 1
}

/// The arrays that hold the result.
pub(super) fn result(format: &Format, info: &Items) -> [u64; 2] {
    let second = match format.placement {
        Placement::InPlace => false,
        Placement::Preserve => true,
        Placement::DoubleBuffer => format.rule() == FLAG_ODD,
    };
    if second { [info.keys_out.address, info.values_out.address] } else { [info.keys.address, info.values.address] }
}
