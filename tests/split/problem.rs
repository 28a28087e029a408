//! Splits as problems: their requests, and their expected results by the standard library.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use crate::common::items::{self, Format};
use crate::common::keys::{Bits, Keys, Random, bytes_of, number};
use crate::common::problem::{Array, Places, Problem};
use ash::vk;
use std::ops::Range;
use trommel::{
    BucketFunction, Order, Placement, Request, Result, STATUS_NO_BUCKET, STATUS_OUTPUT_CLAMPED, SplitInfo, SplitOutput,
    Splitter, SplitterInfo, ValueType,
};

/// A splitter, and the members of its info besides the items.
#[derive(Clone)]
pub(crate) struct Split<'a> {
    splitter: &'a Splitter,
    asked: Asked,
    /// Bucket ids, splitters or the table of a user-defined function, if the bucket function needs them.
    pub(crate) given: Vec<Bits>,
}

/// Members of a split's info, and the requested results.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) low: u64,
    pub(crate) width: u64,
    pub(crate) offsets: bool,
    pub(crate) counts: bool,
    /// Items for each workgroup of the indirect commands; 0: no commands are requested.
    pub(crate) command_items: u32,
    /// Whether the function is tests/kernels/backwards.glsl.
    pub(crate) backwards: bool,
    pub(crate) misplaced: Misplaced,
}

/// Differences of given bucket starts from starts that leave room for all items.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Misplaced {
    /// All starts are greater by this number, modulo 2^32.
    By(u32),
    /// All buckets start at this index.
    To(u32),
}

impl Default for Misplaced {
    fn default() -> Self {
        Self::By(0)
    }
}

impl Split<'_> {
    fn buckets(&self) -> usize {
        self.splitter.info().buckets as usize
    }

    /// Bucket ids, some of no bucket; or splitters, some of them equal.
    fn draw_given(info: &SplitterInfo, n: usize) -> Vec<Bits> {
        match info.function {
            BucketFunction::Ids(id) => {
                let (mut random, most) =
                    (Random::new(n as u64 + 1), u64::from(info.buckets) + u64::from(info.buckets) / 16 + 1);
                let ids = u32::try_from(most.min(1 << (8 * id.size()))).expect("few ids");
                (0..n).map(|_| random.below(ids).into()).collect()
            }
            BucketFunction::Splitters => {
                let few = Keys::Random.draw(info.key, (info.buckets - 1) as usize, 77);
                let mut all: Vec<Bits> =
                    few.iter().enumerate().map(|(i, key)| if i % 5 == 4 { few[i - 1] } else { *key }).collect();
                all.sort_unstable_by_key(|bits| number(info.key, Order::Ascending, *bits));
                all
            }
            // The table of tests/kernels/spread.glsl; some entries are no bucket.
            BucketFunction::User => {
                let mut random = Random::new(u64::from(info.buckets));
                (0..17).map(|_| random.below(info.buckets + info.buckets / 8 + 1).into()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The array of the given ids, splitters or table.
    fn given_array(&self) -> Option<Array> {
        let info = self.splitter.info();
        let (role, size) = match info.function {
            BucketFunction::Ids(id) => ("bucket ids", id.size()),
            BucketFunction::User => ("user data", 4),
            _ => ("splitters", info.key.size()),
        };
        let size = size as usize;
        (!self.given.is_empty()).then(|| Array::input(role, size, bytes_of(&self.given, size)))
    }
}

/// One split.
pub(crate) type Job<'a> = items::Job<Split<'a>>;

impl<'a> Job<'a> {
    pub(crate) fn new(splitter: &'a Splitter, keys: Vec<Bits>) -> Self {
        let given = Split::draw_given(splitter.info(), keys.len());
        Self::of(Split { splitter, asked: Asked::default(), given }, keys)
    }

    pub(crate) fn draw(splitter: &'a Splitter, keys: Keys, n: usize, seed: u64) -> Self {
        Self::new(splitter, keys.draw(splitter.info().key, n, seed))
    }

    pub(crate) fn asked(self, asked: Asked) -> Self {
        Self { handle: Split { asked, ..self.handle }, ..self }
    }

    /// The same split by other ids or splitters.
    pub(crate) fn given(self, given: Vec<Bits>) -> Self {
        Self { handle: Split { given, ..self.handle }, ..self }
    }

    /// The items and the result. Ranks are words, like indices. Keys that are only counted stay unchanged.
    fn format(&self) -> Format {
        let SplitterInfo { key, value, drop_keys, layout, output, .. } = *self.handle.splitter.info();
        let (value, drop_keys) = match output {
            SplitOutput::Ranks => (ValueType::Index, true),
            _ => (value, drop_keys || output == SplitOutput::Counts),
        };
        Format { key, value, drop_keys, layout, placement: Placement::Preserve, result_side: 1 }
    }

    /// Source index of the item at each output index.
    fn order(&self) -> Vec<Option<usize>> {
        let by_bucket = self.stable_order(|item| self.bucket(item));
        match self.handle.splitter.info().output {
            SplitOutput::Bucket(bucket) => {
                by_bucket.into_iter().filter(|item| item.map(|item| self.bucket(item) as u32) == Some(bucket)).collect()
            }
            SplitOutput::Placed => self.placed(&by_bucket),
            // Ranks are in the order of the input.
            SplitOutput::Ranks => self.stable_order(|item| item),
            _ => by_bucket,
        }
    }

    /// The order of items that are placed by the given starts of their buckets.
    fn placed(&self, by_bucket: &[Option<usize>]) -> Vec<Option<usize>> {
        let (starts, bucket) = (self.starts(), |item: Option<usize>| item.map(|item| self.bucket(item)));
        let mut output = vec![None; self.keys.len()];
        for run in by_bucket.chunk_by(|a, b| bucket(*a) == bucket(*b)) {
            let start = bucket(run[0]).map_or(0, |bucket| starts[bucket] as usize);
            // Items past the end of the output are not written.
            output.iter_mut().skip(start).zip(run).for_each(|(target, item)| *target = *item);
        }
        output
    }

    /// The bucket of an item; for items without a bucket, the number of buckets.
    fn bucket(&self, item: usize) -> usize {
        let Split { splitter, asked: Asked { low, width, backwards, .. }, given } = &self.handle;
        let (info, key) = (splitter.info(), self.keys[item]);
        let ordered = |key| number(info.key, Order::Ascending, key);
        let bucket = match info.function {
            BucketFunction::Ids(_) => given[item],
            BucketFunction::User => {
                let words = (0..4).map(|word| key >> (32 * word) & Bits::from(u32::MAX));
                let number = words.fold(0, |all, word| all ^ word);
                let (nth, most) = (number as usize % given.len(), given.len() - 1);
                given[if *backwards { most - nth } else { nth }] + (item & 1) as Bits
            }
            _ if info.buckets == 1 => 0,
            BucketFunction::Bits { begin_bit } => {
                ordered(key) >> begin_bit & Bits::from(info.buckets.next_power_of_two() - 1)
            }
            BucketFunction::Range => {
                let from_low = ordered(key).saturating_sub(ordered(Bits::from(*low)));
                (from_low / Bits::from(*width)).min(Bits::from(info.buckets) - 1)
            }
            BucketFunction::Splitters => given.partition_point(|splitter| ordered(*splitter) <= ordered(key)) as Bits,
            BucketFunction::Signs => (0..info.key.size() / 4).map(|word| (key >> (32 * word + 31) & 1) << word).sum(),
            other => panic!("{other:?} is not tested"),
        };
        bucket.min(info.buckets.into()) as usize
    }

    /// Given bucket starts, and the start of items without a bucket. The last buckets come first, with gaps that are as
    /// large as the capacity allows.
    fn starts(&self) -> Vec<u32> {
        if self.handle.splitter.info().output != SplitOutput::Placed {
            return Vec::new();
        }
        let counts = self.bucket_counts().remove(0);
        let mut end = self.max() - counts.iter().sum::<u32>();
        let start = |count: &u32| {
            end += count;
            end - count
        };
        let mut starts: Vec<u32> = counts.iter().rev().map(start).collect();
        starts.reverse();
        let misplaced = |start: u32| match self.handle.asked.misplaced {
            Misplaced::By(distance) => start.wrapping_add(distance),
            Misplaced::To(index) => index,
        };
        starts.into_iter().map(misplaced).collect()
    }

    /// The flags of the status, beside clamping of counts.
    fn flags(&self) -> u32 {
        let counts = self.bucket_counts();
        let without_bucket = counts.iter().any(|counts| counts.last().is_some_and(|count| *count != 0));
        // An item has no room in the output.
        let mut ends = self.starts().into_iter().zip(counts.into_iter().flatten()).filter(|(_, count)| *count != 0);
        let overflows = ends.any(|(start, count)| u64::from(start) + u64::from(count) > u64::from(self.max()));
        let flags = [(without_bucket, STATUS_NO_BUCKET), (overflows, STATUS_OUTPUT_CLAMPED)];
        flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum()
    }

    /// For each item, the number of preceding items in the same bucket.
    fn ranks(&self) -> Vec<u32> {
        let mut next = vec![0; self.handle.buckets() + 1];
        let mut rank = |item| {
            let next: &mut u32 = &mut next[self.bucket(item)];
            *next += 1;
            *next - 1
        };
        (0..self.keys.len()).map(&mut rank).collect()
    }

    /// For each segment: the number of items of each bucket, then of items without a bucket.
    fn bucket_counts(&self) -> Vec<Vec<u32>> {
        let of = |run: Range<usize>| {
            let mut counts = vec![0; self.handle.buckets() + 1];
            run.for_each(|item| counts[self.bucket(item)] += 1);
            counts
        };
        self.runs().into_iter().map(of).collect()
    }

    /// The expected bucket information: offsets, counts, commands; empty if not requested. Segments beyond the number
    /// of segments are empty.
    fn results(&self) -> [Vec<u32>; 3] {
        let mut all: [Vec<u32>; 3] = Default::default();
        let mut add_segment = |counts: &[u32], first| {
            let results = self.results_of(&counts[..self.handle.buckets()], first);
            all.iter_mut().zip(results).for_each(|(all, results)| all.extend(results));
        };
        let (counts, runs) = (self.bucket_counts(), self.runs());
        counts.iter().zip(&runs).for_each(|(counts, run)| add_segment(counts, run.start as u32));
        if self.is_segmented() {
            let end = self.offsets[runs.len()].min(self.max());
            let none = vec![0; self.handle.buckets()];
            (runs.len()..self.max_count() as usize).for_each(|_| add_segment(&none, end));
        }
        all
    }

    fn results_of(&self, counts: &[u32], first: u32) -> [Vec<u32>; 3] {
        let Split { splitter, asked: Asked { offsets, counts: wants_counts, command_items, .. }, .. } = self.handle;
        let ends = counts.iter().scan(first, |end, count| {
            *end += count;
            Some(*end)
        });
        let command = |count: &u32| {
            let groups = count.div_ceil(command_items);
            let rows = groups.div_ceil(splitter.device().profile().max_groups_x);
            [if rows == 0 { 0 } else { groups.div_ceil(rows) }, rows.max(1), 1]
        };
        [
            if offsets { std::iter::once(first).chain(ends).collect() } else { Vec::new() },
            if wants_counts { counts.to_vec() } else { Vec::new() },
            if command_items != 0 { counts.iter().flat_map(command).collect() } else { Vec::new() },
        ]
    }

    /// The info of the split with its arrays at `places`.
    pub(crate) fn info(&self, places: &Places) -> SplitInfo {
        let (format, Asked { low, width, command_items, .. }) = (self.format(), self.handle.asked);
        let table = places.range("user data");
        SplitInfo {
            count: self.count(places),
            segments: self.segments(places),
            keys: places.range("keys"),
            values: places.range("values"),
            keys_out: places.range("keys out"),
            values_out: places.range("values out"),
            key_stride: format.key_stride(),
            value_stride: format.value_stride(),
            scratch: places.scratch,
            status: places.address("status"),
            low,
            width,
            bucket_ids: places.range("bucket ids"),
            splitters: places.range("splitters"),
            user_address: table.address,
            user_words: if table.address == 0 { [0; 4] } else { [(table.size / 4) as u32, 0, 0, 1] },
            starts: places.range("starts"),
            offsets: places.range("offsets"),
            counts: places.range("counts"),
            commands: places.range("commands"),
            command_items,
            ..SplitInfo::default()
        }
    }
}

impl Problem for Job<'_> {
    fn arrays(&self, index: usize) -> Vec<Array> {
        let (format, starts, [offsets, counts, commands]) = (self.format(), self.starts(), self.results());
        let values = match self.handle.splitter.info().output {
            SplitOutput::Ranks => self.ranks().into_iter().flat_map(u32::to_le_bytes).collect(),
            _ => format.values(self.keys.len(), index),
        };
        let mut all = self.item_arrays(&format, values, &self.order(), self.flags());
        all.extend(self.handle.given_array());
        let results = [("offsets", offsets), ("counts", counts), ("commands", commands)];
        let results = results.iter().map(|(role, words)| Array::results(role, words));
        let information = std::iter::once(Array::words("starts", &starts)).chain(results);
        all.extend(information.filter(|array| array.len() != 0));
        all
    }

    fn scratch_size(&self) -> u64 {
        self.handle.splitter.scratch_size(self.max()).expect("counts are small")
    }

    fn request(&self, places: &Places) -> Request<'_> {
        Request::Split(self.handle.splitter, self.info(places))
    }

    unsafe fn record(&self, commands: vk::CommandBuffer, places: &Places) -> Result<()> {
        // SAFETY: as the caller's.
        unsafe { self.handle.splitter.cmd_split(commands, &self.info(places)) }
    }
}
