//! Each kernel against its twin, and each pass against its declared accesses ([`crate::core::tests::accesses`]).

use super::{Addresses, SEGMENTS, exact, formats};
use crate::core::plan::{Groups, Plan, Resources};
use crate::core::record::record;
use crate::core::scratch::Layout as ScratchLayout;
use crate::core::specialize;
use crate::core::tests::accesses::{Declared, Memory};
use crate::core::tests::noise;
use crate::core::tests::selection::{in_brief, in_rotation};
use crate::host::{Buffer, Context, ContextInfo};
use crate::kernels::Kernel;
use crate::merge::cpu::{self, Tagged};
use crate::merge::format::Format;
use crate::merge::plan::MergeTable;
use crate::merge::planner::{Config, Merges};
use crate::merge::{ComparatorKernel, MergeInfo, MergeMethod, MergeOperation, MergerInfo};
use crate::radix::cpu::encode;
use crate::shared::{LAYOUT_INTERLEAVED, LOOK_BACK_BLOCK, MergeDetails, MergeProblem, SOURCE_B};
use crate::tuning::Profile;
use crate::{Order, Range, Scratch, ValueType};

/// Tiny tiles in at most 7 workgroups in x: a thousand items need two passes.
fn context() -> Context {
    context_with(2)
}

/// The same with so many items a thread in tiles of two passes.
fn context_with(items: u32) -> Context {
    let native = Context::new().unwrap();
    let threads = native.device().facts().max_lanes.max(64);
    let tiny = Profile { plain_threads: threads, max_groups_x: 7, lanes: 0, ..native.device().profile().clone() };
    let profile =
        [("tile", format!("{threads}x{items}")), ("fused", format!("{threads}x3")), ("fused_up_to", "900".into())]
            .iter()
            .fold(tiny, |profile, (member, value)| profile.with_member(member, value).unwrap());
    Context::with(&ContextInfo { profile: Some(profile), ..ContextInfo::default() }).unwrap()
}

/// Sorted keys of a sequence, as words in memory and as encoded numbers.
struct Keys {
    raw: Vec<u32>,
    encoded: Vec<u128>,
}

impl Keys {
    /// Few different keys, with many equal ones in both sequences.
    fn draw(info: &MergerInfo, seed: u64, count: usize) -> Self {
        let words = info.key.size() as usize / 4;
        let drawn: Vec<u32> = noise(seed, count * words).into_iter().map(|word| word & 0xc000_0007).collect();
        let number = |raw: &[u32]| {
            let mut words = raw.to_vec();
            encode(info.key, info.order, &mut words);
            words.iter().rev().fold(0, |number, word| number << 32 | u128::from(*word))
        };
        let mut keys: Vec<(u128, &[u32])> = drawn.chunks_exact(words).map(|raw| (number(raw), raw)).collect();
        keys.sort();
        Self {
            raw: keys.iter().flat_map(|(_, raw)| raw.iter().copied()).collect(),
            encoded: keys.iter().map(|(number, _)| *number).collect(),
        }
    }
}

/// Merges in one buffer, with scratch behind.
struct Bench {
    context: Context,
    format: Format,
    infos: Vec<MergeInfo<'static>>,
    buffer: Buffer,
    scratch: Scratch,
    memory: Vec<u8>,
}

impl Bench {
    fn new(context: &Context, format: Format, counts: &[[usize; 2]]) -> Self {
        let room = |first| {
            let mut addresses = Addresses(first);
            let counts = counts.iter().map(|[a, b]| [*a as u32, *b as u32]);
            let infos: Vec<_> = counts.map(|counts| addresses.merge(&format, counts, true, true)).collect();
            (infos, addresses.0 - first)
        };
        let (_, bytes) = room(1 << 20);
        let scratch_bytes = 1 << 16;
        let buffer = context.buffer(bytes + scratch_bytes).unwrap();
        let (infos, _) = room(buffer.address());
        let memory = bytemuck::cast_slice(&noise(5, buffer.size() as usize / 4)).to_vec();
        let scratch = Scratch { buffer: buffer.handle(), offset: bytes, size: scratch_bytes };
        Self { context: context.clone(), format, infos, buffer, scratch, memory }
    }

    fn offset_of(&self, address: u64) -> usize {
        (address - self.buffer.address()) as usize
    }

    fn write(&mut self, range: Range, words: impl IntoIterator<Item = u32>) {
        let offset = self.offset_of(range.address);
        words.into_iter().enumerate().for_each(|(i, word)| {
            self.memory[offset + 4 * i..][..4].copy_from_slice(&word.to_le_bytes());
        });
    }

    /// Runs the passes one after the other, and proves their declarations. Returns the memory at the end.
    fn prove(&self, config: Config<'_>) -> (Vec<u8>, Vec<Kernel>) {
        let most = self.infos.iter().map(|info| info.count_a.max + info.count_b.max).max().unwrap();
        let jobs = Merges { format: &self.format, infos: &self.infos };
        let (address, mut layout) = (self.buffer.address() + self.scratch.offset, ScratchLayout::default());
        let group = config.group(most, self.infos.len() == 1);
        let table = MergeTable::new(config, group, &jobs, address, &mut layout).unwrap();
        assert!(layout.size() <= self.scratch.size);
        let plan = Plan::of(&table).unwrap();
        // The table of several problems.
        let mut uploads = plan.clone();
        uploads.passes.clear();
        let memory = Memory { context: &self.context, buffer: &self.buffer, scratch: self.scratch };
        let mut content = memory.run(&self.memory, &uploads, |recorder| {
            record(&uploads, recorder);
        });
        for pass in &plan.passes {
            assert!(matches!(pass.groups, Groups::Fixed(_)));
            let exact = |id: usize| exact(&plan.resources[id], &self.format, &self.infos).to_vec();
            let mask = |set: Resources| memory.mask(set.iter().flat_map(exact));
            let [reads, writes] = [pass.reads, pass.writes].map(mask);
            content = memory.run_declared(&content, &plan, pass, &Declared { reads, writes, by_chance: None });
        }
        (content, plan.passes.iter().map(|pass| pass.kernel).collect())
    }
}

/// A key, the sequence, and the index in it.
type Item = Tagged<u128, (usize, usize)>;

/// A merge as the twin takes it. Counts are those on the device.
struct Twin {
    keys: [Keys; 2],
    merged: [usize; 2],
    values: [Vec<u32>; 2],
    offsets: [[usize; SEGMENTS as usize + 1]; 2],
    marks: Vec<u32>,
}

/// Merges of these counts, together, against the twin. `kernel`: the last one.
fn prove(context: &Context, info: &MergerInfo, counts: &[[usize; 2]], kernel: Kernel) {
    prove_format(context, info, Format::new(info).unwrap(), counts, kernel);
}

/// The same of another format with the results of `info`.
fn prove_format(context: &Context, info: &MergerInfo, format: Format, counts: &[[usize; 2]], kernel: Kernel) {
    let is_unique = info.operation == MergeOperation::Unique;
    let counts: Vec<[usize; 2]> = counts.iter().map(|[a, b]| if is_unique { [a + b, 0] } else { [*a, *b] }).collect();
    let counts = &counts[..];
    let mut bench = Bench::new(context, format, counts);
    let (key_words, value_words) = (format.key_words as usize, format.value_words as usize);
    let mut twins = Vec::new();
    for (nth, [a, b]) in counts.iter().enumerate() {
        let merge = bench.infos[nth];
        let keys = [*a, *b].map(|count| Keys::draw(info, 7 + (nth + count) as u64, count));
        let values = |side: u32, count: usize| {
            let words = (count * value_words) as u32;
            let value = move |word: u32| match side {
                // Values with marks.
                0 if format.marks_values() => words - 1 - word,
                _ => word | (side + 1) << 28 | (nth as u32) << 24,
            };
            (0..words).map(value)
        };
        for (side, (of_keys, of_values, count)) in
            [(merge.keys_a, merge.values_a, *a), (merge.keys_b, merge.values_b, *b)].into_iter().enumerate()
        {
            let (raw, values): (_, Vec<u32>) = (&keys[side].raw, values(side as u32, count).collect());
            if format.has(LAYOUT_INTERLEAVED) {
                let items = raw.chunks_exact(key_words).zip(values.chunks_exact(value_words));
                bench.write(of_keys, items.flat_map(|(key, value)| [key, value].concat()));
            } else {
                bench.write(of_keys, raw.iter().copied());
                bench.write(of_values, values);
            }
        }
        // One item less than there is room for.
        let merged = [a.saturating_sub(1), *b];
        let offsets = [[0, a / 3, a / 3, merged[0]], [0, b / 2, b - b / 5, merged[1]]];
        if format.segmented {
            bench.write(Range::new(merge.segments.count.address, 4), [SEGMENTS]);
            bench.write(merge.segments.offsets_a, offsets[0].map(|offset| offset as u32));
            bench.write(merge.segments.offsets_b, offsets[1].map(|offset| offset as u32));
        } else {
            bench.write(Range::new(merge.count_a.address, 4), [merged[0] as u32]);
            bench.write(Range::new(merge.count_b.address, 4), [merged[1] as u32]);
        }
        let marks = noise(nth as u64 + 50, a.div_ceil(32));
        if format.operation.is_update() {
            bench.write(merge.marks, marks.iter().copied());
        }
        let values = [values(0, *a).collect::<Vec<u32>>(), values(1, *b).collect()];
        twins.push(Twin { keys, merged, values, offsets, marks });
    }
    let profile = context.device().profile();
    let config = Config { profile, format };
    let (memory, kernels) = bench.prove(config);
    assert_eq!(kernels.last(), Some(&kernel));
    let words = |address: u64, count: usize| -> Vec<u32> {
        let bytes = &memory[bench.offset_of(address)..][..4 * count];
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    };
    let shapes = config.shapes();
    let tile = shapes.tile.of_words(format.key_words).tile() as usize;
    // The tables of several problems precede the co-ranks in scratch.
    let mut co_ranks = bench.buffer.address() + bench.scratch.offset;
    let rows = |wanted: bool, size: usize| if wanted { (counts.len() * size).next_multiple_of(256) as u64 } else { 0 };
    co_ranks += rows(counts.len() > 1, size_of::<MergeProblem>());
    co_ranks += rows(format.has_details(), size_of::<MergeDetails>());
    // Behind all co-ranks and prefixes.
    let words_of = |words: u32| u64::from(words * 4).next_multiple_of(256);
    let mut marked_rows = co_ranks;
    for merge in &bench.infos {
        let most = merge.count_a.max + merge.count_b.max;
        marked_rows += words_of(most.div_ceil(tile as u32));
        let mark_tiles = most / (32 * profile.plain_threads) + 1;
        marked_rows += words_of(1 + mark_tiles + 2 * mark_tiles.div_ceil(LOOK_BACK_BLOCK));
    }
    for (merge, Twin { keys, merged: [a, b], values: [values_a, values_b], offsets, marks }) in
        bench.infos.iter().zip(twins)
    {
        let (of_a, of_b) = (&keys[0].encoded[..a], &keys[1].encoded[..b]);
        assert_eq!(words(merge.status, 1), [0]);
        if info.operation.is_search() {
            let counts_for = |key: &u128, needle: &u128| match info.operation {
                MergeOperation::LowerBound => key < needle,
                _ => key <= needle,
            };
            assert_eq!(words(merge.count_out, 1), [a as u32]);
            let bound = |needle: &u128| of_b.partition_point(|key| counts_for(key, needle)) as u32;
            let expected: Vec<u32> = of_a.iter().map(bound).collect();
            assert_eq!(words(merge.values_out.address, expected.len()), expected);
            continue;
        }
        // Each item with its sequence and index, compared by keys alone.
        let items = |side: usize, keys: &[u128]| -> Vec<Item> {
            keys.iter().enumerate().map(|(i, key)| Tagged(*key, (side, i))).collect()
        };
        let (of_a, of_b) = (items(0, of_a), items(1, of_b));
        let most = merge.count_a.max + merge.count_b.max;
        let part = |words: u32| u64::from(words * 4).next_multiple_of(256);
        let order = if info.operation.is_set_operation() {
            let cuts = cpu::balanced_co_ranks(&of_a, &of_b, tile - 1);
            let expected: Vec<u32> = cuts.iter().flatten().map(|rank| *rank as u32).collect();
            assert_eq!(words(co_ranks, expected.len()), expected, "balanced co-ranks of {a} and {b}");
            co_ranks += part(2 * most.div_ceil(tile as u32 - 1));
            let result = cpu::set_tiles(info.operation, &of_a, &of_b, &cuts).concat();
            assert_eq!(words(merge.count_out, 1), [result.len() as u32]);
            result
        } else {
            let ranks = if format.segmented {
                cpu::segment_co_ranks([&of_a, &of_b], [&offsets[0], &offsets[1]], tile)
            } else {
                cpu::co_ranks(&of_a, &of_b, tile)
            };
            let is_marked = |item: usize| {
                let bit = if format.marks_values() { values_a[item] as usize } else { item };
                format.operation.is_update() && marks[bit / 32] >> (bit % 32) & 1 != 0
            };
            let marked: Vec<bool> = (0..a).map(is_marked).collect();
            let rows = cpu::mark_ranks(&marked);
            if format.operation.is_update() {
                assert_eq!(words(marked_rows, 2 * rows.len()), rows.concat(), "marks of {a}");
                marked_rows += words_of(2 * ((merge.count_a.max + merge.count_b.max) / 32 + 1));
            }
            if [Kernel::MergeTiles, Kernel::MergeDetailedTiles].contains(&kernel) {
                let expected: Vec<u32> = ranks.iter().map(|rank| *rank as u32).collect();
                assert_eq!(words(co_ranks, expected.len()), expected, "co-ranks of {a} and {b}");
                co_ranks += part(most.div_ceil(tile as u32));
            }
            let left = |items: &[Item]| -> Vec<Item> {
                items.iter().filter(|Tagged(_, (side, i))| *side == 1 || !marked[*i]).copied().collect()
            };
            let segment = |s: usize| {
                let [of_a, of_b] = [&of_a[offsets[0][s]..offsets[0][s + 1]], &of_b[offsets[1][s]..offsets[1][s + 1]]];
                cpu::merge_sequential(&left(of_a), of_b)
            };
            let result = if format.segmented {
                let segments: Vec<_> = (0..SEGMENTS as usize).map(segment).collect();
                let starts = (0..=segments.len()).map(|s| segments[..s].concat().len() as u32);
                assert_eq!(words(merge.segments.offsets_out.address, segments.len() + 1), starts.collect::<Vec<_>>());
                segments.concat()
            } else {
                cpu::update_tiles(&of_a, &of_b, tile, &ranks, &rows)
            };
            assert_eq!(words(merge.count_out, 1), [result.len() as u32]);
            result
        };
        if format.only_counts() {
            continue;
        }
        let key = |Tagged(_, (side, i)): &Item| &keys[*side].raw[i * key_words..][..key_words];
        let value = |Tagged(_, (side, i)): &Item| match info.value {
            ValueType::Index => vec![*i as u32 | if *side == 1 { SOURCE_B } else { 0 }],
            _ => [&values_a, &values_b][*side][i * value_words..][..value_words].to_vec(),
        };
        if format.has(LAYOUT_INTERLEAVED) {
            let expected: Vec<u32> = order.iter().flat_map(|item| [key(item), &value(item)].concat()).collect();
            assert_eq!(words(merge.keys_out.address, expected.len()), expected);
            continue;
        }
        if !info.drop_keys {
            let expected: Vec<u32> = order.iter().flat_map(key).copied().collect();
            assert_eq!(words(merge.keys_out.address, expected.len()), expected);
        }
        let expected: Vec<u32> = order.iter().flat_map(value).collect();
        assert_eq!(words(merge.values_out.address, expected.len()), expected);
    }
}

#[test]
fn merge_kernels() {
    let context = context();
    let lanes = context.device().facts().max_lanes;
    let by_path = formats().into_iter().enumerate().filter(|(_, info)| info.method == MergeMethod::Path);
    for (_, info) in by_path.filter(|(i, _)| *i < 2 || in_rotation(*i, lanes)) {
        let [large, small] = match info.method {
            _ if info.operation == MergeOperation::LowerBound => [Kernel::MergeLowerBound; 2],
            _ if info.operation == MergeOperation::UpperBound => [Kernel::MergeUpperBound; 2],
            _ if info.operation.is_set_operation() => [Kernel::MergeSets; 2],
            _ if info.operation.is_update() => [Kernel::MergeDetailedTiles; 2],
            _ if info.segmented => [Kernel::MergeDetailedTiles, Kernel::MergeDetailedFused],
            _ => [Kernel::MergeTiles, Kernel::MergeFused],
        };
        // More tiles than a workgroup of the search has threads; several merges together; one dispatch.
        prove(&context, &info, &[[9000, 7001]], large);
        prove(&context, &info, &[[600, 500], [900, 3], [0, 905]], large);
        prove(&context, &info, &[[200, 233], [1, 200], [127, 0]], small);
        prove(&context, &info, &[[1, 1]], small);
    }
    assert_eq!(context.messages(), Vec::<String>::new());
}

/// The methods for comparison, with one item a thread and with several, also of long keys. Every driver runs them.
#[test]
fn kernels_of_the_methods_for_comparison() {
    let infos = formats().into_iter().filter(|info| info.method != MergeMethod::Path);
    let infos: Vec<_> = infos.take(if in_brief() { 0 } else { usize::MAX }).collect();
    // Of 7 items a thread for keys of a word, `Tiled` merges 3 and `CircularBuffer`, with keys of three words, one. Of
    // 19 items, they merge 9 and 3.
    for items in [7, 19] {
        let context = context_with(items);
        for info in &infos {
            let kernel = match info.method {
                MergeMethod::Basic => Kernel::MergeBasic,
                MergeMethod::Tiled => Kernel::MergeTiled,
                _ => Kernel::MergeCircularBuffer,
            };
            // Several sections, of which the last one has a part of a tile; several merges together; one item each.
            for counts in [&[[9000, 7001]][..], &[[600, 500], [900, 3], [0, 905]], &[[1, 1]]] {
                prove(&context, info, counts, kernel);
            }
        }
        assert_eq!(context.messages(), Vec::<String>::new());
    }
}

/// A comparator with the order of descending keys.
#[test]
fn merge_kernels_with_a_comparator() {
    let context = context();
    let bytes = include_bytes!("../../../tests/kernels/descending_u32.spv");
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let kernel = ComparatorKernel::from_spirv(&words).unwrap();
    assert!(specialize::Module::parse(kernel.0.code().clone()).is_some(), "the driver would specialize it");
    let module = context.device().add_module(kernel.0.code());
    for info in [MergerInfo::keys(), MergerInfo::pairs(), MergerInfo::pairs().segmented()] {
        let format = Format { comparator: module.number(), ..Format::of_comparator(&info).unwrap() };
        let twin = MergerInfo { order: Order::Descending, ..info };
        let problems: [&[_]; 3] = [&[[9000, 7001]], &[[600, 500], [900, 3], [0, 905]], &[[1, 1]]];
        for counts in problems {
            prove_format(&context, &twin, format, counts, Kernel::MergeDetailedFused);
        }
    }
    assert_eq!(context.messages(), Vec::<String>::new());
}
