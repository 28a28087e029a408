//! Composed plans on the device: splits and sorts, recorded as one plan with one scratch. All memory but scratch is
//! compared byte by byte with the same steps in plain Rust.

use crate::core::compose::{Concurrent, Sequence, record_composed};
use crate::core::handle::{Handle, One};
use crate::core::plan::Plan;
use crate::core::primitive::{KindOf, PlanSource, Planner, Primitive, RequestInfo as _};
use crate::core::scratch::Layout;
use crate::core::tests::noise;
use crate::core::tests::selection::{always, in_full};
use crate::host::{Buffer, Context};
use crate::radix::tests::contexts::{assert_silence, context, in_rotation, tile_of};
use crate::{
    BucketFunction, Count, Order, Placement, Range, STATUS_COUNT_CLAMPED, STATUS_NO_BUCKET, Scratch, SortInfo, Sorter,
    SorterInfo, SplitInfo, SplitOutput, Splitter, SplitterInfo, Strategy,
};

/// A key and its value.
type Item = (u32, u32);

/// Words of the buffer that holds all memory of a case.
const MEMORY_WORDS: usize = 1 << 18;

/// The memory of a case: arrays one behind the other with noise between them, then scratch.
struct Memory {
    buffer: Buffer,
    initial: Vec<u32>,
    /// The memory after all passes.
    expected: Vec<u32>,
    /// Index of the first free word.
    end: usize,
}

/// The arrays of some items.
#[derive(Clone, Copy)]
struct Arrays {
    keys: Range,
    values: Range,
}

impl Arrays {
    /// Some of the items.
    fn part(self, items: std::ops::Range<usize>) -> Self {
        let part = |of: Range| Range::new(of.address + items.start as u64 * 4, items.len() as u64 * 4);
        Self { keys: part(self.keys), values: part(self.values) }
    }
}

impl Memory {
    fn new(context: &Context) -> Self {
        let initial = noise(71, MEMORY_WORDS);
        let buffer = context.buffer(MEMORY_WORDS as u64 * 4).unwrap();
        Self { buffer, expected: initial.clone(), initial, end: 3 }
    }

    /// A range of so many words of noise.
    fn words(&mut self, words: usize) -> Range {
        let range = Range::new(self.address(), words as u64 * 4);
        self.end += words + 3;
        range
    }

    /// A range with these words.
    fn input(&mut self, words: &[u32]) -> Range {
        let range = self.words(words.len());
        let first = self.index(range.address);
        self.initial[first..][..words.len()].copy_from_slice(words);
        self.expected[first..][..words.len()].copy_from_slice(words);
        range
    }

    fn arrays(&mut self, items: usize) -> Arrays {
        Arrays { keys: self.words(items), values: self.words(items) }
    }

    fn input_items(&mut self, items: &[Item]) -> Arrays {
        let (keys, values): (Vec<_>, Vec<_>) = items.iter().copied().unzip();
        Arrays { keys: self.input(&keys), values: self.input(&values) }
    }

    fn index(&self, address: u64) -> usize {
        (address - self.buffer.address()) as usize / 4
    }

    /// Expects these words at the beginning of the range, and unchanged words behind them.
    fn expect(&mut self, range: Range, words: &[u32]) {
        assert!(words.len() as u64 * 4 <= range.size);
        let first = self.index(range.address);
        self.expected[first..][..words.len()].copy_from_slice(words);
    }

    fn expect_items(&mut self, arrays: Arrays, items: &[Item]) {
        let (keys, values): (Vec<_>, Vec<_>) = items.iter().copied().unzip();
        self.expect(arrays.keys, &keys);
        self.expect(arrays.values, &values);
    }

    /// The address of the first free word, where scratch begins.
    fn address(&self) -> u64 {
        self.buffer.address() + self.end as u64 * 4
    }

    /// Records the composed plan, runs it, and compares all memory but scratch.
    fn check(&self, context: &Context, handles: &[&Handle], layout: &Layout, source: &dyn PlanSource) {
        let offset = self.end as u64 * 4;
        let scratch = Scratch { buffer: self.buffer.handle(), offset, size: layout.size().next_multiple_of(4) };
        assert!(offset + scratch.size < self.buffer.size(), "a case fits the buffer");
        context.write(&self.buffer, &self.initial).unwrap();
        let run = context.run(|commands| {
            // SAFETY: the buffer outlives run(), which waits, and all ranges lie in it.
            unsafe { record_composed(context.device(), handles, commands, scratch, source) }
        });
        run.unwrap();
        let found = context.download::<u32>(&self.buffer, MEMORY_WORDS).unwrap();
        let in_scratch = self.end..self.end + scratch.size as usize / 4;
        let wrong = (0..MEMORY_WORDS).find(|word| !in_scratch.contains(word) && found[*word] != self.expected[*word]);
        let wrong = wrong.map(|word| (word, found[word], self.expected[word]));
        assert_eq!(wrong, None, "word, what it is and what it should be: {}", Plan::of(source).unwrap());
        assert_silence(context);
    }
}

/// A request of a primitive, checked.
struct Part<'a, P: Primitive> {
    primitive: &'a P,
    max_count: u32,
    job: One<'a, KindOf<P>>,
}

impl<'a, P: Primitive> Part<'a, P> {
    fn new(primitive: &'a P, info: &P::Info<'a>) -> Self {
        let planner = primitive.planner();
        let job = One::new(planner, primitive.job(info));
        primitive.check(info).unwrap();
        planner.check_count(info.max_count()).unwrap();
        planner.check(&job.job, &job.arguments).unwrap();
        Self { primitive, max_count: info.max_count(), job }
    }

    fn handle(&self) -> &'a Handle {
        self.primitive.planner().handle()
    }

    fn lay_out(&self, scratch: u64, layout: &mut Layout) -> <P::Planner as Planner>::Table<'_> {
        let planner = self.primitive.planner();
        planner.lay_out(planner.group(self.max_count, true), &self.job, scratch, layout).unwrap()
    }

    /// Bytes of scratch of this part alone.
    fn scratch(&self) -> u64 {
        let mut layout = Layout::default();
        self.lay_out(0, &mut layout);
        layout.size()
    }
}

/// Noise with few values in some bits, and the index of each item.
fn items(count: usize) -> Vec<Item> {
    noise(72, count).into_iter().map(|key| key & 0xff03_ff1f).zip(0..).collect()
}

/// The items in the order of a number, stably.
fn ordered(items: &[Item], number: impl Fn(u32) -> u32) -> Vec<Item> {
    let mut items = items.to_vec();
    items.sort_by_key(|(key, _)| number(*key));
    items
}

/// The number of items in each bucket.
fn counts(items: &[Item], buckets: u32, bucket: impl Fn(u32) -> u32) -> Vec<u32> {
    let of = |index| items.iter().filter(|(key, _)| bucket(*key) == index).count() as u32;
    (0..buckets).map(of).collect()
}

/// For each bucket, the number of items in the buckets before it; then the number of items in all buckets.
fn offsets(counts: &[u32]) -> Vec<u32> {
    let ends = counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

fn bits(buckets: u32, begin_bit: u32) -> SplitterInfo {
    SplitterInfo::pairs(buckets, BucketFunction::Bits { begin_bit })
}

/// Strategies of the driver that the environment selects: all in full, and otherwise some in rotation.
fn strategies() -> impl Iterator<Item = Strategy> {
    let runs = |index: &usize| in_full() || always(*index) || in_rotation(*index);
    (0..Strategy::ALL.len()).filter(runs).map(|index| Strategy::ALL[index])
}

/// A split by the highest bits, a split of its output by the lowest, and a sort of the output of that by those between.
#[test]
fn split_split_and_sort_in_sequence() {
    let context = context(false);
    for strategy in strategies() {
        let high = Splitter::new(context.device(), &bits(16, 28).strategy(strategy)).unwrap();
        let low = Splitter::new(context.device(), &bits(256, 0).strategy(strategy)).unwrap();
        let info = SorterInfo { begin_bit: 8, end_bit: 28, placement: Placement::Preserve, ..SorterInfo::pairs() };
        let sorter = Sorter::new(context.device(), &info.strategy(strategy)).unwrap();
        let tile = tile_of(false);
        let several = 9 * tile + 5;
        for (size, device_count) in [
            (0, None),
            (tile / 2, None),
            (several, None),
            (several, Some(5 * tile - 3)),
            (several, Some(0)),
            (several, Some(several + 1)),
        ] {
            sequence(&context, [&high, &low], &sorter, size, device_count);
        }
    }
}

fn sequence(context: &Context, [high, low]: [&Splitter; 2], sorter: &Sorter, size: usize, device_count: Option<usize>) {
    let mut memory = Memory::new(context);
    let address = device_count.map_or(0, |count| memory.input(&[count as u32]).address);
    let count = Count { max: size as u32, address };
    let input = items(size);
    let counted = device_count.unwrap_or(size).min(size);
    let status = if device_count.is_some_and(|count| count > size) { STATUS_COUNT_CLAMPED } else { 0 };
    let given = memory.input_items(&input);
    let [of_high, of_low, sorted] = [(); 3].map(|()| memory.arrays(size));
    let [high_status, low_status, sort_status] = [(); 3].map(|()| memory.words(1));
    let [high_offsets, low_counts] = [17, 256].map(|words| memory.words(words));

    let split = |splitter, from: Arrays, to: Arrays, status: Range| {
        let split = SplitInfo { count, keys: from.keys, values: from.values, ..SplitInfo::default() };
        let split = SplitInfo { keys_out: to.keys, values_out: to.values, status: status.address, ..split };
        let is_first = splitter == 0;
        SplitInfo {
            offsets: if is_first { high_offsets } else { Range::NONE },
            counts: if is_first { Range::NONE } else { low_counts },
            ..split
        }
    };
    let first = Part::new(high, &split(0, given, of_high, high_status));
    let second = Part::new(low, &split(1, of_high, of_low, low_status));
    let sort = SortInfo { count, keys: of_low.keys, values: of_low.values, ..SortInfo::default() };
    let sort = SortInfo { keys_out: sorted.keys, values_out: sorted.values, ..sort };
    let third = Part::new(sorter, &SortInfo { status: sort_status.address, ..sort });

    let by_high = ordered(&input[..counted], |key| key >> 28);
    let by_low = ordered(&by_high, |key| key & 0xff);
    memory.expect_items(of_high, &by_high);
    memory.expect_items(of_low, &by_low);
    memory.expect_items(sorted, &ordered(&by_low, |key| key >> 8 & 0xf_ffff));
    memory.expect(high_offsets, &offsets(&counts(&by_high, 16, |key| key >> 28)));
    memory.expect(low_counts, &counts(&by_low, 256, |key| key & 0xff));
    [high_status, low_status, sort_status].into_iter().for_each(|word| memory.expect(word, &[status]));

    let (scratch, mut layout) = (memory.address(), Layout::default());
    let first_table = first.lay_out(scratch, &mut layout);
    layout.reuse_behind(0);
    let second_table = second.lay_out(scratch, &mut layout);
    layout.reuse_behind(0);
    let third_table = third.lay_out(scratch, &mut layout);
    let largest = first.scratch().max(second.scratch()).max(third.scratch());
    assert_eq!(layout.size(), largest, "the parts share scratch");
    let parts: [&dyn PlanSource; 3] = [&first_table, &second_table, &third_table];
    memory.check(context, &[first.handle(), second.handle(), third.handle()], &layout, &Sequence(&parts));
}

/// Handles of a tree: a split in two, then one split and one sort of each side.
struct Tree {
    halves: Splitter,
    splitters: [Splitter; 2],
    sorters: [Sorter; 2],
}

/// First key and width of the ranges of the second side.
const LOW: u32 = 1 << 31;
const WIDTH: u32 = 1 << 26;

/// Buckets of each side. On the first side, items of the highest field values have no bucket.
const BUCKETS: [u32; 2] = [100, 32];

fn bucket_of(side: usize, key: u32) -> u32 {
    match side {
        0 => (key >> 8 & 0x7f).min(BUCKETS[0]),
        _ => (key.saturating_sub(LOW) / WIDTH).min(BUCKETS[1] - 1),
    }
}

impl Tree {
    /// `on_device`: the first split counts the sides for the parts behind it. Otherwise the host knows the counts.
    fn new(context: &Context, strategy: Strategy, on_device: bool) -> Self {
        let splitter = |info: SplitterInfo| Splitter::new(context.device(), &info.strategy(strategy)).unwrap();
        let sorter = |info: SorterInfo| Sorter::new(context.device(), &info.strategy(strategy)).unwrap();
        let output = if on_device { SplitOutput::Placed } else { SplitOutput::Buckets };
        let rising = SorterInfo { begin_bit: 16, placement: Placement::Preserve, ..SorterInfo::pairs() };
        let falling = SorterInfo { order: Order::Descending, ..SorterInfo::pairs() };
        Self {
            halves: splitter(bits(2, 31).output(output)),
            splitters: [
                splitter(bits(BUCKETS[0], 8)),
                splitter(SplitterInfo::pairs(BUCKETS[1], BucketFunction::Range)),
            ],
            sorters: [sorter(rising), sorter(falling)],
        }
    }
}

/// A split in two halves, then a split of each side beside that of the other, then sorts of both sides side by side.
#[test]
fn sides_of_a_split_side_by_side() {
    let context = context(false);
    for (nth, strategy) in strategies().enumerate() {
        // Otherwise the first strategy with counts on the device, the next one with counts on the host, and so on.
        for on_device in [false, true].into_iter().filter(|on_device| in_full() || *on_device == nth.is_multiple_of(2))
        {
            let tree = Tree::new(&context, strategy, on_device);
            for size in [0, tile_of(false) / 2, 9 * tile_of(false) + 5] {
                sides(&context, &tree, size, on_device);
            }
        }
    }
}

fn sides(context: &Context, tree: &Tree, size: usize, on_device: bool) {
    let mut memory = Memory::new(context);
    let input = items(size);
    let given = memory.input_items(&input);
    let by_half = ordered(&input, |key| key >> 31);
    let half_counts = counts(&input, 2, |key| key >> 31);
    let middle = half_counts[0] as usize;
    let side_items = [&by_half[..middle], &by_half[middle..]];
    // If only the device knows the counts, each side has room for all items.
    let starts = on_device.then(|| memory.input(&[0, size as u32]));
    let halves = memory.arrays(if on_device { 2 * size } else { size });
    let (parts, counts_of_halves) =
        (if on_device { [0..size, size..2 * size] } else { [0..middle, middle..size] }, memory.words(2));
    let side_count = |side: usize| {
        let on_device = Count::device(counts_of_halves.address + side as u64 * 4, size as u32);
        if starts.is_some() { on_device } else { Count::host(half_counts[side]) }
    };

    let split = SplitInfo { count: Count::host(size as u32), keys: given.keys, ..SplitInfo::default() };
    let split = SplitInfo { values: given.values, keys_out: halves.keys, values_out: halves.values, ..split };
    let split = SplitInfo { counts: counts_of_halves, starts: starts.unwrap_or(Range::NONE), ..split };
    let first = Part::new(&tree.halves, &split);
    memory.expect(counts_of_halves, &half_counts);

    let sides = parts.map(|part| halves.part(part));
    let mut side_parts = Vec::new();
    for (side, from) in sides.into_iter().enumerate() {
        let room = from.keys.size as usize / 4;
        let (grouped, sorted) = (memory.arrays(room), memory.arrays(room));
        let (bucket_offsets, status) = (memory.words(BUCKETS[side] as usize + 1), memory.words(1));
        let range = if side == 1 { (LOW, WIDTH) } else { (0, 0) };
        let split = SplitInfo { count: side_count(side), keys: from.keys, values: from.values, ..SplitInfo::default() };
        let split = SplitInfo { keys_out: grouped.keys, values_out: grouped.values, offsets: bucket_offsets, ..split };
        let split = SplitInfo { low: range.0.into(), width: range.1.into(), status: status.address, ..split };
        let sort =
            SortInfo { count: side_count(side), keys: grouped.keys, values: grouped.values, ..Default::default() };
        let sort = SortInfo { keys_out: sorted.keys, values_out: sorted.values, ..sort };
        // The second sort is in place.
        let sort = if side == 0 { sort } else { SortInfo { keys_out: Range::NONE, values_out: Range::NONE, ..sort } };
        side_parts.push((Part::new(&tree.splitters[side], &split), Part::new(&tree.sorters[side], &sort)));

        let by_bucket = ordered(side_items[side], |key| bucket_of(side, key));
        let without_bucket = by_bucket.iter().any(|(key, _)| bucket_of(side, *key) == BUCKETS[side]);
        memory.expect_items(from, side_items[side]);
        memory.expect_items(grouped, &by_bucket);
        memory.expect(bucket_offsets, &offsets(&counts(&by_bucket, BUCKETS[side], |key| bucket_of(side, key))));
        memory.expect(status, &[if without_bucket { STATUS_NO_BUCKET } else { 0 }]);
        match side {
            0 => memory.expect_items(sorted, &ordered(&by_bucket, |key| key >> 16)),
            _ => memory.expect_items(grouped, &ordered(&by_bucket, |key| !key)),
        }
    }

    let (scratch, mut layout) = (memory.address(), Layout::default());
    let first_table = first.lay_out(scratch, &mut layout);
    layout.reuse_behind(0);
    let split_tables: Vec<_> = side_parts.iter().map(|(split, _)| split.lay_out(scratch, &mut layout)).collect();
    layout.reuse_behind(0);
    let sort_tables: Vec<_> = side_parts.iter().map(|(_, sort)| sort.lay_out(scratch, &mut layout)).collect();
    let apart: u64 = side_parts.iter().map(|(split, sort)| split.scratch() + sort.scratch()).sum();
    assert!(size == 0 || layout.size() < first.scratch() + apart, "stages share scratch");
    let splits: Vec<&dyn PlanSource> = split_tables.iter().map(|table| table as _).collect();
    let sorts: Vec<&dyn PlanSource> = sort_tables.iter().map(|table| table as _).collect();
    let (splits, sorts) = (Concurrent(&splits), Concurrent(&sorts));
    let stages: [&dyn PlanSource; 3] = [&first_table, &splits, &sorts];
    let of_sides = side_parts.iter().flat_map(|(split, sort)| [split.handle(), sort.handle()]);
    let handles: Vec<&Handle> = std::iter::once(first.handle()).chain(of_sides).collect();
    memory.check(context, &handles, &layout, &Sequence(&stages));
}

/// Without the handle of one part, the pipelines of its passes are missing: nothing is recorded.
#[test]
fn a_part_without_its_handle_is_refused() {
    let context = context(false);
    let splitter = Splitter::new(context.device(), &bits(16, 28)).unwrap();
    let sorter = Sorter::new(context.device(), &SorterInfo::pairs()).unwrap();
    let mut memory = Memory::new(&context);
    let (input, grouped) = (memory.input_items(&items(900)), memory.arrays(900));
    let split = SplitInfo { count: Count::host(900), keys: input.keys, values: input.values, ..SplitInfo::default() };
    let split = Part::new(&splitter, &SplitInfo { keys_out: grouped.keys, values_out: grouped.values, ..split });
    let sort = SortInfo { count: Count::host(900), keys: grouped.keys, values: grouped.values, ..SortInfo::default() };
    let sort = Part::new(&sorter, &sort);
    let (scratch, mut layout) = (memory.address(), Layout::default());
    let split_table = split.lay_out(scratch, &mut layout);
    layout.reuse_behind(0);
    let sort_table = sort.lay_out(scratch, &mut layout);
    let parts: [&dyn PlanSource; 2] = [&split_table, &sort_table];
    let room = Scratch { buffer: memory.buffer.handle(), offset: memory.end as u64 * 4, size: layout.size() };
    let mut refused = None;
    context.write(&memory.buffer, &memory.initial).unwrap();
    let run = context.run(|commands| {
        // SAFETY: the buffer outlives run(), which waits, and all ranges lie in it.
        refused =
            unsafe { record_composed(context.device(), &[split.handle()], commands, room, &Sequence(&parts)).err() };
        Ok(())
    });
    run.unwrap();
    assert!(matches!(refused, Some(crate::Error::Internal(_))), "{refused:?}");
    let found = context.download::<u32>(&memory.buffer, MEMORY_WORDS).unwrap();
    assert!(found == memory.initial, "nothing has been recorded");
    assert_silence(&context);
}
