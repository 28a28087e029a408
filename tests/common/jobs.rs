//! Sorts and splits of the tests, and their expected results, computed by the standard library.

use super::keys::{Bits, Keys, Random, number};
use std::ops::Range;
use trommel::{BucketFunction, Order, Placement, Sorter, SorterInfo, SplitOutput, Splitter, ValueType};

/// Source of a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// All keys; the count is on the host.
    Host,
    /// In device memory, in a word of its own.
    Device(u32),
    /// In device memory, in a word that several jobs read. Jobs of one slot have the same count.
    Shared { slot: usize, value: u32 },
}

/// The handle of a job: a sorter or a splitter.
#[derive(Clone, Copy)]
pub(crate) enum Mover<'a> {
    Sorter(&'a Sorter),
    Splitter(&'a Splitter),
}

impl<'a> From<&'a Sorter> for Mover<'a> {
    fn from(sorter: &'a Sorter) -> Self {
        Self::Sorter(sorter)
    }
}

impl<'a> From<&'a Splitter> for Mover<'a> {
    fn from(splitter: &'a Splitter) -> Self {
        Self::Splitter(splitter)
    }
}

impl Mover<'_> {
    /// The format of the items. (The sorted bits of a split are not used.)
    pub(super) fn items(self) -> SorterInfo {
        match self {
            Self::Sorter(sorter) => *sorter.info(),
            Self::Splitter(splitter) => {
                let trommel::SplitterInfo { key, value, drop_keys, layout, segmented, output, .. } = *splitter.info();
                // Ranks are words, like indices. Keys that are only counted stay unchanged.
                let (value, drop_keys) = match output {
                    SplitOutput::Ranks => (ValueType::Index, true),
                    _ => (value, drop_keys || output == SplitOutput::Counts),
                };
                SorterInfo {
                    key,
                    value,
                    drop_keys,
                    layout,
                    segmented,
                    placement: Placement::Preserve,
                    ..SorterInfo::keys()
                }
            }
        }
    }

    pub(super) fn result_side(self) -> u32 {
        match self {
            Self::Sorter(sorter) => sorter.result_side(),
            Self::Splitter(_) => 1,
        }
    }

    pub(super) fn scratch_size(self, max_count: u32) -> u64 {
        let size = match self {
            Self::Sorter(sorter) => sorter.scratch_size(max_count),
            Self::Splitter(splitter) => splitter.scratch_size(max_count),
        };
        size.expect("counts are small")
    }

    /// Ids, some without a bucket; or splitters, some of them equal.
    pub(super) fn draw_given(self, n: usize) -> Vec<Bits> {
        let Self::Splitter(splitter) = self else { return Vec::new() };
        let info = splitter.info();
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

    /// Size of an id or of a splitter, in bytes.
    pub(super) fn given_size(self) -> usize {
        match self {
            Self::Splitter(splitter) => match splitter.info().function {
                BucketFunction::Ids(id) => id.size() as usize,
                BucketFunction::User => 4,
                _ => splitter.info().key.size() as usize,
            },
            Self::Sorter(_) => 0,
        }
    }

    /// Whether the output is ranks.
    pub(super) fn ranks(self) -> bool {
        matches!(self, Self::Splitter(splitter) if splitter.info().output == SplitOutput::Ranks)
    }

    pub(super) fn buckets(self) -> usize {
        match self {
            Self::Sorter(_) => 0,
            Self::Splitter(splitter) => splitter.info().buckets as usize,
        }
    }
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

/// One sort, or one split.
#[derive(Clone)]
pub(crate) struct Job<'a> {
    pub(crate) mover: Mover<'a>,
    /// The keys; their number is the maximum count.
    pub(crate) keys: Vec<Bits>,
    /// Number of keys; for segmented handles, number of segments.
    pub(crate) count: Counted,
    pub(crate) status: bool,
    /// Segment offsets, one more than segments; for segmented handles only.
    pub(crate) offsets: Vec<u32>,
    pub(crate) asked: Asked,
    /// Bucket ids or splitters, if the bucket function needs them.
    pub(crate) given: Vec<Bits>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(mover: impl Into<Mover<'a>>, keys: Vec<Bits>) -> Self {
        let mover = mover.into();
        let given = mover.draw_given(keys.len());
        Self { mover, keys, count: Counted::Host, status: false, offsets: Vec::new(), asked: Asked::default(), given }
    }

    pub(crate) fn draw(mover: impl Into<Mover<'a>>, keys: Keys, n: usize, seed: u64) -> Self {
        let mover = mover.into();
        Self::new(mover, keys.draw(mover.items().key, n, seed))
    }

    pub(crate) fn asked(self, asked: Asked) -> Self {
        Self { asked, ..self }
    }

    /// The same job with its count in device memory and a status word.
    pub(crate) fn counted(self, count: Counted) -> Self {
        Self { count, status: true, ..self }
    }

    pub(super) fn max(&self) -> u32 {
        u32::try_from(self.keys.len()).expect("tests are small")
    }

    pub(super) fn device_count(&self) -> Option<u32> {
        match self.count {
            Counted::Host => None,
            Counted::Device(value) | Counted::Shared { value, .. } => Some(value),
        }
    }

    pub(crate) fn cut(self, offsets: Vec<u32>) -> Self {
        Self { offsets, ..self }
    }

    /// The maximum count.
    pub(super) fn most(&self) -> u32 {
        if self.mover.items().segmented { self.offsets.len() as u32 - 1 } else { self.max() }
    }

    /// Ranges of items that are sorted or split. All other items stay unchanged.
    pub(super) fn sorted(&self) -> Vec<Range<usize>> {
        let count = self.device_count().unwrap_or(u32::MAX).min(self.most()) as usize;
        if !self.mover.items().segmented {
            return std::iter::once(0..count).collect();
        }
        let index = |offset: u32| offset.min(self.max()) as usize;
        self.offsets[..=count].windows(2).map(|pair| index(pair[0])..index(pair[1])).collect()
    }

    /// Source index of the item at each output index, by the standard library.
    pub(super) fn order(&self) -> Vec<Option<usize>> {
        if let Mover::Splitter(splitter) = self.mover
            && !splitter.info().segmented
        {
            let mut order: Vec<usize> = self.sorted().remove(0).collect();
            // Ranks are in the order of the input.
            if splitter.info().output == SplitOutput::Ranks {
                return order.into_iter().map(Some).collect();
            }
            order.sort_by_key(|i| self.bucket(splitter, *i));
            if let SplitOutput::Bucket(bucket) = splitter.info().output {
                order.retain(|i| self.bucket(splitter, *i) == bucket as usize);
            }
            let starts = self.starts();
            let mut output = vec![None; if starts.is_empty() { 0 } else { self.keys.len() }];
            for run in order
                .chunk_by(|a, b| self.bucket(splitter, *a) == self.bucket(splitter, *b))
                .filter(|_| !starts.is_empty())
            {
                let start = starts[self.bucket(splitter, run[0])] as usize;
                // Items past the end of the output are not written.
                output.iter_mut().skip(start).zip(run).for_each(|(target, item)| *target = Some(*item));
            }
            return if starts.is_empty() { order.into_iter().map(Some).collect() } else { output };
        }
        let info = self.mover.items();
        let end = if info.end_bit == 0 { info.key.bits() } else { info.end_bit };
        let width = end - info.begin_bit;
        let range = if width == 128 { Bits::MAX } else { (1 << width) - 1 };
        let mut all = Vec::new();
        for run in self.sorted().into_iter().filter(|run| !run.is_empty()) {
            all.resize(run.start, None);
            let mut order: Vec<usize> = run.collect();
            match self.mover {
                Mover::Splitter(splitter) => order.sort_by_key(|i| self.bucket(splitter, *i)),
                Mover::Sorter(_) => {
                    order.sort_by_key(|i| number(info.key, info.order, self.keys[*i]) >> info.begin_bit & range)
                }
            }
            all.extend(order.into_iter().map(Some));
        }
        all
    }
}

impl Job<'_> {
    /// The bucket of an item; for items without a bucket, the number of buckets.
    pub(super) fn bucket(&self, splitter: &Splitter, item: usize) -> usize {
        let (info, Asked { low, width, .. }, key) = (splitter.info(), self.asked, self.keys[item]);
        let ordered = |key| number(info.key, Order::Ascending, key);
        let bucket = match info.function {
            BucketFunction::Ids(_) => self.given[item],
            BucketFunction::User => {
                let words = (0..4).map(|word| key >> (32 * word) & Bits::from(u32::MAX));
                let number = words.fold(0, |all, word| all ^ word);
                let (nth, most) = (number as usize % self.given.len(), self.given.len() - 1);
                self.given[if self.asked.backwards { most - nth } else { nth }] + (item & 1) as Bits
            }
            _ if info.buckets == 1 => 0,
            BucketFunction::Bits { begin_bit } => {
                ordered(key) >> begin_bit & Bits::from(info.buckets.next_power_of_two() - 1)
            }
            BucketFunction::Range => {
                (ordered(key).saturating_sub(ordered(low.into())) / Bits::from(width)).min(Bits::from(info.buckets) - 1)
            }
            BucketFunction::Splitters => {
                self.given.partition_point(|splitter| ordered(*splitter) <= ordered(key)) as Bits
            }
            BucketFunction::Signs => (0..info.key.size() / 4).map(|word| (key >> (32 * word + 31) & 1) << word).sum(),
            other => panic!("{other:?} is not tested"),
        };
        bucket.min(info.buckets.into()) as usize
    }

    /// Given bucket starts, and the start of items without a bucket. The last buckets come first, with gaps that are as
    /// large as the capacity allows.
    pub(super) fn starts(&self) -> Vec<u32> {
        let Mover::Splitter(splitter) = self.mover else { return Vec::new() };
        if splitter.info().output != SplitOutput::Placed {
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
        let misplaced = |start: u32| match self.asked.misplaced {
            Misplaced::By(distance) => start.wrapping_add(distance),
            Misplaced::To(index) => index,
        };
        starts.into_iter().map(misplaced).collect()
    }

    /// Whether an item has no room in the output.
    pub(super) fn overflows(&self) -> bool {
        let counts = self.bucket_counts().into_iter().next().unwrap_or_default();
        let ends = self.starts().into_iter().zip(counts).filter(|(_, count)| *count != 0);
        ends.into_iter().any(|(start, count)| u64::from(start) + u64::from(count) > u64::from(self.max()))
    }

    /// For each item, the number of preceding items in the same bucket.
    pub(super) fn ranks(&self) -> Vec<u32> {
        let Mover::Splitter(splitter) = self.mover else { return Vec::new() };
        let mut next = vec![0; self.mover.buckets() + 1];
        let mut rank = |item| {
            let next: &mut u32 = &mut next[self.bucket(splitter, item)];
            *next += 1;
            *next - 1
        };
        (0..self.keys.len()).map(&mut rank).collect()
    }

    /// For each segment: the number of items of each bucket, then of items without a bucket.
    pub(super) fn bucket_counts(&self) -> Vec<Vec<u32>> {
        let Mover::Splitter(splitter) = self.mover else { return Vec::new() };
        let of = |run: Range<usize>| {
            let mut counts = vec![0; self.mover.buckets() + 1];
            run.for_each(|item| counts[self.bucket(splitter, item)] += 1);
            counts
        };
        self.sorted().into_iter().map(of).collect()
    }

    /// The expected bucket information: offsets, counts, commands; empty if not requested. Segments beyond the number
    /// of segments are empty.
    pub(super) fn results(&self, max_groups_x: u32) -> [Vec<u32>; 3] {
        let Mover::Splitter(_) = self.mover else { return Default::default() };
        let mut all: [Vec<u32>; 3] = Default::default();
        let mut add_segment = |counts: &[u32], first| {
            let results = self.results_of(&counts[..self.mover.buckets()], first, max_groups_x);
            all.iter_mut().zip(results).for_each(|(all, results)| all.extend(results));
        };
        let (counts, runs) = (self.bucket_counts(), self.sorted());
        counts.iter().zip(&runs).for_each(|(counts, run)| add_segment(counts, run.start as u32));
        if self.mover.items().segmented {
            let end = self.offsets[runs.len()].min(self.max());
            let none = vec![0; self.mover.buckets() + 1];
            (runs.len()..self.most() as usize).for_each(|_| add_segment(&none, end));
        }
        all
    }

    fn results_of(&self, counts: &[u32], first: u32, max_groups_x: u32) -> [Vec<u32>; 3] {
        let Asked { offsets, counts: wants_counts, command_items, .. } = self.asked;
        let ends = counts.iter().scan(first, |end, count| {
            *end += count;
            Some(*end)
        });
        let command = |count: &u32| {
            let groups = count.div_ceil(command_items);
            let rows = groups.div_ceil(max_groups_x);
            [if rows == 0 { 0 } else { groups.div_ceil(rows) }, rows.max(1), 1]
        };
        [
            if offsets { std::iter::once(first).chain(ends).collect() } else { Vec::new() },
            if wants_counts { counts.to_vec() } else { Vec::new() },
            if command_items != 0 { counts.iter().flat_map(command).collect() } else { Vec::new() },
        ]
    }
}
