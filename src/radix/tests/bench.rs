//! A test case: its problems, their algorithm, and its memory before the first pass, in one buffer.

use super::contexts::context;
use super::labels;
use super::primitives::{AnyTable, Buckets, Primitive, Requests as _, Selection as _};
use super::problems::Sorts;
use super::twins::{LOW, Twin, WIDTH};
use crate::core::plan::{Content, Plan, Table as _};
use crate::core::scratch::Layout as ScratchLayout;
use crate::core::tests::noise;
use crate::host::{Buffer, Context};
use crate::radix::{ItemRole, Items};
use crate::shared::{OUTPUT_PLACED, RADIX, RadixProblem};
use crate::split::Ranges;
use crate::tuning::{ItemKind, Profile, Ranking, Shape, SizedMerge, SizedRank, SizedTile};
use crate::{Count, Range, Scratch, Segments, SorterInfo, Strategy};

/// The path that a case takes through the algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Without a prepare pass, if a problem is alone.
    Direct,
    /// With a prepare pass; a pass for every digit.
    EveryDigit,
    /// With a prepare pass; constant digits are skipped.
    SkippingDigits,
    /// With a prepare pass; a sort by prefixes if the device chooses it, otherwise a pass for every digit.
    Prefixes,
    /// With a prepare pass; a sort by prefixes if the device chooses it, otherwise constant digits are skipped.
    PrefixesSkippingDigits,
    /// Sorted runs, then merges.
    Merging,
    /// Every key is compared with every other, if a problem is alone.
    Ranked,
    /// Every workgroup counts all items, for splits that support it.
    SingleDispatch,
}

impl Way {
    pub(super) fn profile(self, context: &Context) -> Profile {
        let most = |when: bool| if when { u32::MAX } else { 0 };
        let profile = context.device().profile();
        let shape = |items| Shape { threads: profile.plain_threads, items };
        let merge = SizedMerge { up_to: u32::MAX, run: shape(1), window: shape(2) };
        let ranked =
            SizedRank { above: 0, above_in_place: 0, up_to: 1 << 14, threads: profile.plain_threads, items: 8 };
        let single_dispatch =
            SizedTile { up_to: 1 << 14, shape: shape(if profile.emulated_subgroups { 1 } else { 2 }).into() };
        let mut profile = profile.clone();
        profile.radix.direct_up_to = most(self == Self::Direct);
        profile.sort.prefixes_up_to = most([Self::Prefixes, Self::PrefixesSkippingDigits].contains(&self));
        profile.radix.all_digits_up_to = most(![Self::SkippingDigits, Self::PrefixesSkippingDigits].contains(&self));
        for kind in ItemKind::ALL {
            profile.sort[kind].merges.extend(Some(merge).filter(|_| self == Self::Merging));
            profile.sort[kind].ranked.extend(Some(ranked).filter(|_| self == Self::Ranked));
            let singles = Some(single_dispatch).filter(|_| self == Self::SingleDispatch);
            profile.split[kind].single_dispatch.extend(singles);
        }
        profile
    }
}

/// A problem: the source of its keys, its count on the device, and whether it has a status word.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) seed: u64,
    pub(super) size: usize,
    pub(super) device_count: Option<u32>,
    pub(super) status: bool,
    /// A bit for each digit that is not constant.
    pub(super) varied: u32,
    /// Segment offsets, one more than segments. With segments, `device_count` counts segments.
    pub(super) offsets: Vec<u32>,
    /// Given keys, in place of drawn ones. For keys of several words: the most significant words.
    pub(super) keys: Vec<u32>,
}

impl Problem {
    pub(super) fn new(seed: u64, size: usize, device_count: Option<u32>) -> Self {
        Self {
            seed,
            size,
            device_count,
            status: device_count.is_some(),
            varied: u32::MAX,
            offsets: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// A problem with these keys, in this order.
    pub(super) fn of_keys(keys: Vec<u32>) -> Self {
        Self { size: keys.len(), keys, ..Self::new(0, 0, None) }
    }

    pub(super) fn varied(self, varied: u32) -> Self {
        Self { varied, ..self }
    }

    pub(super) fn count(&self) -> usize {
        (self.device_count.unwrap_or(u32::MAX) as usize).min(self.size)
    }
}

/// Memory under construction: disjoint parts with noise between them.
struct Memory(Vec<u8>);

impl Memory {
    /// Appends a part and returns its offset. The part is not aligned to more than `alignment`.
    pub(super) fn add(&mut self, part: &[u8], alignment: usize) -> usize {
        self.noise(12);
        self.0.resize(self.0.len().next_multiple_of(4), 0x5a);
        self.noise(if alignment < 4 { alignment } else { 4 * (self.0.len() / 4 % 2) });
        self.0.extend_from_slice(part);
        self.0.len() - part.len()
    }

    pub(super) fn noise(&mut self, bytes: usize) {
        let words = noise(self.0.len() as u64 + 77, bytes.div_ceil(4));
        self.0.extend_from_slice(&bytemuck::cast_slice(&words)[..bytes]);
    }
}

/// Parts of scratch begin so many bytes behind the address from which they are counted, as if scratch were larger. The
/// sum of the low words then has a carry, except for one address in 64.
pub(super) const AHEAD: u64 = (1 << 32) - (1 << 26);

pub(super) struct Bench {
    pub(super) context: Context,
    pub(super) profile: Profile,
    pub(super) problems: Vec<Problem>,
    /// The problems' items before the first pass.
    pub(super) inputs: Vec<Twin>,
    pub(super) sorts: Sorts,
    pub(super) buffer: Buffer,
    pub(super) scratch: Scratch,
    /// All memory before the first pass.
    pub(super) initial: Vec<u8>,
}

impl Bench {
    pub(super) fn new(emulated: bool, way: Way, info: SorterInfo, problems: Vec<Problem>) -> Self {
        Self::tuned(emulated, way, |profile| profile, info, problems)
    }

    pub(super) fn tuned(
        emulated: bool,
        way: Way,
        tune: impl FnOnce(Profile) -> Profile,
        info: SorterInfo,
        problems: Vec<Problem>,
    ) -> Self {
        Self::of(emulated, way, tune, Sorts::new(info), problems)
    }

    /// A case of `problems` for sorts or splits that have none yet.
    pub(super) fn of(
        emulated: bool,
        way: Way,
        tune: impl FnOnce(Profile) -> Profile,
        mut sorts: Sorts,
        problems: Vec<Problem>,
    ) -> Self {
        let context = context(emulated);
        let profile = tune(way.profile(&context));
        let (info, format) = (sorts.info, sorts.format());
        let mut memory = Memory(Vec::new());
        let mut inputs = Vec::new();
        for problem in &problems {
            let mut twin = Twin::new(&sorts, problem.seed, problem.size, problem.varied);
            if !problem.keys.is_empty() {
                // Of keys with several words, the given words replace the most significant ones.
                if let Some(top) = twin.raw.last_mut() {
                    top.clone_from(&problem.keys);
                }
            }
            let input = twin.input();
            let count = problem.device_count.map_or(0, |count| memory.add(&count.to_le_bytes(), 4) as u64);
            let status = if problem.status { memory.add(&[0xad; 4], 4) as u64 } else { 0 };
            let offsets = if info.segmented { memory.add(bytemuck::cast_slice(&problem.offsets), 4) as u64 } else { 0 };
            let offsets = Range::new(offsets, problem.offsets.len() as u64 * 4);
            let segments = Segments {
                offsets,
                count: Count { max: problem.offsets.len().saturating_sub(1) as u32, address: count },
            };
            // Addresses are offsets until the buffer exists.
            let sort = Items {
                count: Count { max: problem.size as u32, address: if info.segmented { 0 } else { count } },
                segments: if info.segmented { segments } else { Segments::default() },
                status,
                key_stride: input.key_stride,
                value_stride: input.value_stride,
                user_words: sorts.user_words,
                ..Items::default()
            };
            let arguments = sort.arguments(&format);
            let sizes: Vec<_> =
                arguments.iter().map(|argument| (argument.role, argument.range.size as usize)).collect();
            let mut array = |role: ItemRole, bytes: &[u8], alignment: u32| {
                let size = sizes.iter().find(|(known, _)| *known == role).map_or(0, |(_, size)| *size);
                if size == 0 {
                    return Range::NONE;
                }
                // Arrays without input, such as outputs and indices, begin as noise.
                let drawn: Vec<u8> = bytemuck::cast_slice(&noise(size as u64, size.div_ceil(4)))[..size].to_vec();
                let offset = memory.add(if bytes.is_empty() { &drawn } else { &bytes[..size] }, alignment as usize);
                Range::new(offset as u64, size as u64)
            };
            let keys = array(ItemRole::Keys, &input.keys, format.key_size);
            let values = array(ItemRole::Values, &input.values, 4);
            let keys_out = array(ItemRole::KeysOut, &[], format.key_size);
            let values_out = array(ItemRole::ValuesOut, &[], 4);
            sorts.infos.push(Items { keys, values, keys_out, values_out, ..sort });
            if let Primitive::Split(split) = sorts.primitive() {
                let given = if twin.given.is_empty() {
                    Range::NONE
                } else {
                    Range::new(memory.add(&twin.given, 4) as u64, twin.given.len() as u64)
                };
                let starts = if format.output() == OUTPUT_PLACED { twin.starts(problem.count()) } else { Vec::new() };
                let starts = match starts.len() as u64 * 4 {
                    0 => Range::NONE,
                    size => Range::new(memory.add(bytemuck::cast_slice(&starts), 4) as u64, size),
                };
                let mut words = |words: u32| {
                    let drawn = noise(u64::from(words) + 3, words as usize);
                    Range::new(memory.add(bytemuck::cast_slice(&drawn), 4) as u64, u64::from(words) * 4)
                };
                // Each segment has its own results.
                let times = if info.segmented { problem.offsets.len() as u32 - 1 } else { 1 };
                sorts.buckets.push(Buckets {
                    starts,
                    range: Ranges::new(LOW, WIDTH, split.buckets.min(RADIX)).words(),
                    low: labels::LOW
                        ^ if split.labels.is_some_and(|labels| labels.encoding != 0) { 1 << 63 } else { 0 },
                    width: labels::WIDTH,
                    given,
                    offsets: words(times * (split.buckets + 1)),
                    counts: words(times * split.buckets),
                    commands: words(times * 3 * split.buckets),
                    command_items: 5,
                });
            }
            inputs.push(twin);
        }
        let mut layout = ScratchLayout::default();
        let config = sorts.config(context.device().facts(), &profile);
        let algorithm = config.algorithm(sorts.infos[0].count.max);
        AnyTable::new(config, algorithm, &sorts, 0, &mut layout).unwrap();
        inputs.iter_mut().for_each(|twin| twin.merged = algorithm.merging().is_some());
        let words = noise(5, layout.size().div_ceil(4) as usize + 1);
        let scratch = memory.add(bytemuck::cast_slice(&words), 4) as u64;
        memory.noise(12);
        memory.0.resize(memory.0.len().next_multiple_of(4), 0);

        let buffer = context.upload(&memory.0).unwrap();
        let move_there = |address: &mut u64| *address += if *address == 0 { 0 } else { buffer.address() };
        for Items { count, status, keys, values, keys_out, values_out, segments, .. } in &mut sorts.infos {
            [&mut count.address, &mut segments.count.address, status].into_iter().for_each(move_there);
            [keys, values, keys_out, values_out, &mut segments.offsets]
                .into_iter()
                .for_each(|range| move_there(&mut range.address));
        }
        for Buckets { given, starts, offsets, counts, commands, .. } in &mut sorts.buckets {
            [given, starts, offsets, counts, commands].into_iter().for_each(|range| move_there(&mut range.address));
        }
        let scratch = Scratch { buffer: buffer.handle(), offset: scratch, size: layout.size() };
        Self { context, profile, problems, inputs, sorts, buffer, scratch, initial: memory.0 }
    }

    /// Calls `body` with the plan, the memory with uploaded tables, and the rows of the problems.
    pub(super) fn with_plan<T>(&self, body: impl FnOnce(&Plan<'_>, Vec<u8>, &[RadixProblem]) -> T) -> T {
        let config = self.sorts.config(self.context.device().facts(), &self.profile);
        let algorithm = config.algorithm(self.sorts.infos[0].count.max);
        assert!(
            self.sorts.infos.iter().all(|info| config.algorithm(info.count.max) == algorithm),
            "one case, one algorithm"
        );
        let mut layout = ScratchLayout::default();
        layout.part(AHEAD).unwrap();
        let table = AnyTable::new(config, algorithm, &self.sorts, self.scratch_address(), &mut layout).unwrap();
        assert_eq!(layout.size(), AHEAD + self.scratch.size);
        let plan = Plan::of(&table).unwrap();
        let mut rows = Vec::<RadixProblem>::new();
        table.for_each_row(crate::radix::PROBLEMS, &mut |row| rows.push(bytemuck::pod_read_unaligned(row)));
        let mut memory = self.initial.clone();
        for upload in &plan.uploads {
            let mut start = (self.scratch.offset + upload.offset - AHEAD) as usize;
            let Content::Rows(table, rows) = upload.content else { continue };
            table.for_each_row(rows, &mut |row| {
                memory[start..start + row.len()].copy_from_slice(row);
                start += row.len();
            });
        }
        body(&plan, memory, &rows)
    }

    /// The address from which parts of scratch are counted.
    pub(super) fn scratch_address(&self) -> u64 {
        self.buffer.address() + self.scratch.offset - AHEAD
    }

    pub(super) fn offset_of(&self, address: u64) -> usize {
        (address - self.buffer.address()) as usize
    }

    pub(super) fn bytes<'m>(&self, memory: &'m [u8], address: u64, len: usize) -> &'m [u8] {
        // An empty range may have no address in the buffer.
        if len == 0 {
            return &[];
        }
        &memory[self.offset_of(address)..][..len]
    }

    pub(super) fn words(&self, memory: &[u8], address: u64, len: usize) -> Vec<u32> {
        self.bytes(memory, address, len * 4).chunks(4).map(bytemuck::pod_read_unaligned).collect()
    }

    /// Words of a part of scratch, as kernels name it.
    pub(super) fn part(&self, memory: &[u8], part: u32, len: usize) -> Vec<u32> {
        self.words(memory, self.scratch_address() + u64::from(part) * 256, len)
    }

    pub(super) fn tile(&self) -> usize {
        let config = self.sorts.config(self.context.device().facts(), &self.profile);
        let tiles = config.algorithm(self.sorts.infos[0].count.max).tile();
        tiles.unwrap_or(self.profile.radix.keys.tiles[0].shape).tile() as usize
    }

    /// Whether tiles may hold keys of the same sorted bits in any order until the last pass.
    pub(super) fn proves_by_keys(&self) -> bool {
        let format = self.sorts.format();
        let by_all_bits = (format.begin_bit, format.end_bit, format.key_words) == (0, format.key_bits, 1);
        self.profile.radix.keys.tiles[0].shape.ranking != Ranking::Ballots && by_all_bits && format.value_words == 0
    }

    pub(super) fn in_ring(&self) -> bool {
        matches!(self.sorts.info.strategy, Strategy::Ring | Strategy::RingInOrder)
    }
}
