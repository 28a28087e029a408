//! Plans on the device that the environment selects, pass by pass: against their twin, and against what each pass declares.
//!
//! All memory of a case is one buffer. Each pass runs twice on it: as the passes before have left it, and with every byte
//! altered that the pass does not declare to read. The first run may change only bytes that it declares to write, and both
//! must write the same.

use super::problems::{Sorts, argument_of};
use super::twins::{DIGITS, Move, Twin, address, below_prefix, move_of_pass, noise, result};
use crate::host::{Buffer, Context, ContextInfo};
use crate::kernel::{Kernel, Variant};
use crate::plan::{Groups, Pass, Plan, Resources, Table as _};
use crate::record::{Commands as _, Recorder};
use crate::scratch::Layout as ScratchLayout;
use crate::shared::{
    FLAG_SHARED_DIGITS, LAYOUT_STRIDED, PASSED_OVER_PREFIXES, PERMUTE_TO_SCRATCH, STATUS_COUNT_CLAMPED, SortProblem, SortPush,
};
use crate::sort::{Class, Finish, Merging, SortTable, cpu};
use crate::tuning::{Profile, Ranking, Shape, SizedMerge, SizedRank, SizedShape, SmallShape, SortShapes};
use crate::{Count, Range, Scratch, Segments, SortInfo, SorterInfo, Strategy};
use std::sync::{Mutex, PoisonError};

static OPEN: Mutex<Vec<(bool, Context)>> = Mutex::new(Vec::new());

unsafe extern "C" {
    safe fn atexit(function: extern "C" fn()) -> i32;
}

/// The GPU-assisted layer aborts where devices outlive it, and no test knows itself to be the last.
extern "C" fn close_all() {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// That the validation layer, where it is on, has said nothing. Every test ends with it.
pub(super) fn assert_silence(context: &Context) {
    // After what driver and layer have registered so far, hence before it. Once more does no harm.
    atexit(close_all);
    assert_eq!(context.messages(), Vec::<String>::new());
}

/// Entries of the ring, and how far tiles look back in it: a few tiles go round it.
pub(super) const RING_ENTRIES: u32 = 8;
pub(super) const RING_REACH: u32 = 3;

/// Small tiles, so that few keys make many; subgroups as they are, or emulated ones.
pub(super) fn context(emulated: bool) -> Context {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, context)) = open.iter().find(|(known, _)| *known == emulated) {
        return context.clone();
    }
    let native = Context::new().unwrap();
    let threads = if emulated { 128 } else { native.device().facts().max_lanes.max(64) };
    let shape = |items| Shape { threads, items };
    let small = [SmallShape::radix(threads, 1), SmallShape::radix(threads, 2), SmallShape::merge(threads, 3)];
    let tiles = [SizedShape { up_to: u32::MAX, shape: shape(2) }];
    // Both ways, of pairs and of the others, on either kind of subgroups.
    let shapes = |merges| SortShapes {
        ranked: Default::default(),
        small: small.iter().copied().collect(),
        merges: Default::default(),
        tiles: tiles.iter().copied().collect(),
        ring: None,
        segments: if merges { SmallShape::merge(threads, 3) } else { SmallShape::radix(threads, 3) },
    };
    let profile = Profile {
        lanes: if emulated { 32 } else { 0 },
        emulated_subgroups: emulated,
        sort_keys: shapes(!emulated),
        sort_pairs: shapes(emulated),
        sort_long: shapes(!emulated),
        sort_finish: shape(2),
        merge_fan: 4,
        plain_threads: threads,
        histogram_groups: 3,
        ring_entries: RING_ENTRIES,
        ring_reach: RING_REACH,
        ranking: Ranking::Ballots,
        spin_limit: 3,
        max_groups_x: 7,
        ..native.device().profile().clone()
    };
    let context = Context::with(&ContextInfo { profile: Some(profile), ..ContextInfo::default() }).unwrap();
    open.push((emulated, context.clone()));
    context
}

pub(super) fn tile_of(emulated: bool) -> usize {
    context(emulated).device().profile().sort_keys.tiles[0].shape.tile() as usize
}

/// How much of a sort is decided before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing prepared, where one problem is alone.
    Direct,
    /// Prepared; every digit is sorted by.
    EveryDigit,
    /// Prepared; digits that all keys share are passed over.
    PassingOver,
    /// Prepared; prefixes may be sorted by, and otherwise every digit is.
    Prefixes,
    /// Prepared; prefixes may be sorted by, and otherwise digits that all keys share are passed over.
    PrefixesPassingOver,
    /// Runs, merged.
    Merging,
    /// Every key compared with every other, where one problem is alone.
    Ranked,
}

impl Way {
    pub(super) fn profile(self, context: &Context) -> Profile {
        let most = |when: bool| if when { u32::MAX } else { 0 };
        let profile = context.device().profile();
        let shape = |items| Shape { threads: profile.plain_threads, items };
        let merge = SizedMerge { up_to: u32::MAX, run: shape(1), window: shape(2) };
        let ranked = SizedRank { above: 0, up_to: 1 << 14, threads: profile.plain_threads, items: 8 };
        let mut profile = Profile {
            direct_up_to: most(self == Self::Direct),
            prefixes_up_to: most([Self::Prefixes, Self::PrefixesPassingOver].contains(&self)),
            all_digits_up_to: most(![Self::PassingOver, Self::PrefixesPassingOver].contains(&self)),
            ..profile.clone()
        };
        for shapes in profile.sort_shapes_mut() {
            shapes.merges.extend(Some(merge).filter(|_| self == Self::Merging));
            shapes.ranked.extend(Some(ranked).filter(|_| self == Self::Ranked));
        }
        profile
    }
}

/// A problem: how its keys are drawn, how many of them the device says there are, and whether it wants its status.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) seed: u64,
    pub(super) size: usize,
    pub(super) device_count: Option<u32>,
    pub(super) status: bool,
    /// A bit for each digit that not all keys share.
    pub(super) varied: u32,
    /// Where segments begin, and the last ends, of those that the device counts.
    pub(super) offsets: Vec<u32>,
    /// The keys, where they are not drawn; of those of several words, the most significant ones.
    pub(super) keys: Vec<u32>,
}

impl Problem {
    pub(super) fn new(seed: u64, size: usize, device_count: Option<u32>) -> Self {
        Self { seed, size, device_count, status: device_count.is_some(), varied: u32::MAX, offsets: Vec::new(), keys: Vec::new() }
    }

    /// Words as they come, in this order.
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

/// Memory being laid out: parts apart from one another, noise between them.
struct Memory(Vec<u8>);

impl Memory {
    /// Where the part begins: where an item of so many bytes may, and no better aligned than that.
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

pub(super) struct Bench {
    pub(super) context: Context,
    pub(super) profile: Profile,
    pub(super) problems: Vec<Problem>,
    /// As they come.
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
        let context = context(emulated);
        let profile = tune(way.profile(&context));
        let mut sorts = Sorts { info, infos: Vec::new() };
        let format = sorts.format();
        let mut memory = Memory(Vec::new());
        let mut inputs = Vec::new();
        for problem in &problems {
            let mut twin = Twin::new(info, problem.seed, problem.size, problem.varied);
            if !problem.keys.is_empty() {
                // Of several words, the most significant.
                if let Some(top) = twin.raw.last_mut() {
                    top.clone_from(&problem.keys);
                }
            }
            let input = twin.input();
            let count = problem.device_count.map_or(0, |count| memory.add(&count.to_le_bytes(), 4) as u64);
            let status = if problem.status { memory.add(&[0xad; 4], 4) as u64 } else { 0 };
            let offsets = if info.segmented { memory.add(bytemuck::cast_slice(&problem.offsets), 4) as u64 } else { 0 };
            let offsets = Range::new(offsets, problem.offsets.len() as u64 * 4);
            let segments =
                Segments { offsets, count: Count { max: problem.offsets.len().saturating_sub(1) as u32, address: count } };
            // Addresses are offsets until there is a buffer.
            let sort = SortInfo {
                count: Count { max: problem.size as u32, address: if info.segmented { 0 } else { count } },
                segments: if info.segmented { segments } else { Segments::default() },
                status,
                key_stride: input.key_stride,
                value_stride: input.value_stride,
                ..SortInfo::default()
            };
            let arguments = sort.arguments(&format);
            let sizes: Vec<_> = arguments.iter().map(|argument| (argument.name, argument.range.size as usize)).collect();
            let mut array = |name: &str, bytes: &[u8], alignment: u32| {
                let size = sizes.iter().find(|(known, _)| *known == name).map_or(0, |(_, size)| *size);
                if size == 0 {
                    return Range::NONE;
                }
                // Outputs hold noise, and so do arrays of indices.
                let drawn: Vec<u8> = bytemuck::cast_slice(&noise(size as u64, size.div_ceil(4)))[..size].to_vec();
                let place = memory.add(if bytes.is_empty() { &drawn } else { &bytes[..size] }, alignment as usize);
                Range::new(place as u64, size as u64)
            };
            let keys = array("keys", &input.keys, format.key_size);
            let values = array("values", &input.values, 4);
            let keys_out = array("keysOut", &[], format.key_size);
            let values_out = array("valuesOut", &[], 4);
            sorts.infos.push(SortInfo { keys, values, keys_out, values_out, ..sort });
            inputs.push(twin);
        }
        let mut layout = ScratchLayout::default();
        let kind = sorts.kind(context.device().facts(), &profile);
        let class = kind.class(sorts.infos[0].count.max);
        SortTable::new(kind, class, &sorts, 0, &mut layout).unwrap();
        inputs.iter_mut().for_each(|twin| twin.merged = class.merging().is_some());
        let words = noise(5, layout.size().div_ceil(4) as usize + 1);
        let scratch = memory.add(bytemuck::cast_slice(&words), 4) as u64;
        memory.noise(12);
        memory.0.resize(memory.0.len().next_multiple_of(4), 0);

        let buffer = context.upload(&memory.0).unwrap();
        let move_there = |address: &mut u64| *address += if *address == 0 { 0 } else { buffer.address() };
        for SortInfo { count, status, keys, values, keys_out, values_out, segments, .. } in &mut sorts.infos {
            [&mut count.address, &mut segments.count.address, status].into_iter().for_each(move_there);
            [keys, values, keys_out, values_out, &mut segments.offsets]
                .into_iter()
                .for_each(|range| move_there(&mut range.address));
        }
        let scratch = Scratch { buffer: buffer.handle(), offset: scratch, size: layout.size() };
        Self { context, profile, problems, inputs, sorts, buffer, scratch, initial: memory.0 }
    }

    /// Hands the plan, and memory with the table in it, to `body`.
    pub(super) fn with_plan<T>(&self, body: impl FnOnce(&Plan<'_>, Vec<u8>, &[SortProblem]) -> T) -> T {
        let kind = self.sorts.kind(self.context.device().facts(), &self.profile);
        let class = kind.class(self.sorts.infos[0].count.max);
        assert!(self.sorts.infos.iter().all(|info| kind.class(info.count.max) == class), "one case, one class");
        let mut layout = ScratchLayout::default();
        let table = SortTable::new(kind, class, &self.sorts, self.scratch_address(), &mut layout).unwrap();
        assert_eq!(layout.size(), self.scratch.size);
        let plan = table.plan();
        let mut rows = Vec::<SortProblem>::new();
        table.for_each_row(&mut |row| rows.push(bytemuck::pod_read_unaligned(row)));
        let mut memory = self.initial.clone();
        if let Some(upload) = &plan.upload {
            let start = (self.scratch.offset + upload.offset) as usize;
            let table: &[u8] = bytemuck::cast_slice(&rows);
            memory[start..start + table.len()].copy_from_slice(table);
        }
        body(&plan, memory, &rows)
    }

    pub(super) fn scratch_address(&self) -> u64 {
        self.buffer.address() + self.scratch.offset
    }

    pub(super) fn place(&self, address: u64) -> usize {
        (address - self.buffer.address()) as usize
    }

    pub(super) fn bytes<'m>(&self, memory: &'m [u8], address: u64, len: usize) -> &'m [u8] {
        &memory[self.place(address)..][..len]
    }

    pub(super) fn words(&self, memory: &[u8], address: u64, len: usize) -> Vec<u32> {
        self.bytes(memory, address, len * 4).chunks(4).map(bytemuck::pod_read_unaligned).collect()
    }

    /// Words of a part of scratch, as kernels name it.
    pub(super) fn part(&self, memory: &[u8], part: u32, len: usize) -> Vec<u32> {
        self.words(memory, self.scratch_address() + u64::from(part) * 256, len)
    }

    pub(super) fn tile(&self) -> usize {
        self.profile.sort_keys.tiles[0].shape.tile() as usize
    }

    pub(super) fn in_ring(&self) -> bool {
        matches!(self.sorts.info.strategy, Strategy::Ring | Strategy::RingInOrder)
    }

    /// Which bytes the resources are, the caller's arrays exactly.
    pub(super) fn mask(&self, plan: &Plan<'_>, set: Resources) -> Vec<bool> {
        let mut mask = vec![false; self.initial.len()];
        let mut add = |address: u64, bytes: usize| {
            let start = self.place(address);
            mask[start..start + bytes].fill(true);
        };
        let format = self.sorts.format();
        for resource in set.iter() {
            let resource = plan.resources[resource];
            let Some(given) = argument_of(resource.name) else {
                add(resource.range.address, resource.range.size as usize);
                continue;
            };
            for info in &self.sorts.infos {
                let arguments = info.arguments(&format);
                let range = arguments.iter().find(|argument| argument.name == given).unwrap().range;
                let (size, stride) = match given {
                    "keys" => (format.key_size, info.key_stride),
                    _ => (format.value_size, info.value_stride),
                };
                if range.size != 0 && format.has(LAYOUT_STRIDED) && ["keys", "values"].contains(&given) && stride != 0 {
                    // Nothing of what lies between items.
                    (0..u64::from(info.count.max)).for_each(|i| add(range.address + i * u64::from(stride), size as usize));
                } else if range.size != 0 {
                    add(range.address, range.size as usize);
                }
            }
        }
        mask
    }

    pub(super) fn run(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        let device = self.context.device();
        self.context.write(&self.buffer, memory).unwrap();
        let pipeline = |variant: Variant| device.pipeline(variant);
        let run = self.context.run(|commands| {
            let plans = std::slice::from_ref(plan);
            Recorder::new(device, commands, self.scratch, None, plans, pipeline)?.dispatch(0, pass);
            Ok(())
        });
        run.unwrap();
        self.context.download(&self.buffer, memory.len()).unwrap()
    }

    /// Runs a pass, which may change only what it declares to write. What memory holds after it.
    pub(super) fn run_within(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        let writes = self.mask(plan, pass.writes);
        let after = self.run(memory, plan, pass);
        let stray = (0..memory.len()).find(|i| after[*i] != memory[*i] && !writes[*i]);
        let name = pass.variant.kernel.name();
        assert_eq!(stray.map(|place| self.resource_at(plan, place)), None, "{name} writes what it does not declare");
        after
    }

    pub(super) fn resource_at(&self, plan: &Plan<'_>, place: usize) -> String {
        let address = self.buffer.address() + place as u64;
        let there = plan.resources.iter().find(|resource| Range::new(address, 1).overlaps(resource.range));
        there.map_or("nothing of the plan's".to_owned(), |there| format!("{}+{}", there.name, address - there.range.address))
    }

    /// Runs a pass, and again with all altered that it does not read. What memory holds after it.
    pub(super) fn run_declared(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass) -> Vec<u8> {
        let name = pass.variant.kernel.name();
        let arguments = match pass.groups {
            Groups::Fixed(_) => Resources::default(),
            Groups::Indirect { resource, .. } => Resources::of(&[resource]),
        };
        let (reads, writes) = (self.mask(plan, pass.reads.union(arguments)), self.mask(plan, pass.writes));
        let after = self.run_within(memory, plan, pass);
        let resource_at = |place: usize| self.resource_at(plan, place);

        let noise = noise(99, memory.len().div_ceil(4));
        let noise: &[u8] = bytemuck::cast_slice(&noise);
        let altered = memory.iter().zip(noise).zip(&reads);
        let altered: Vec<u8> = altered.map(|((byte, noise), read)| if *read { *byte } else { *byte ^ noise }).collect();
        let again = self.run(&altered, plan, pass);
        // Who has found an entry of the ring free in time, and who has given up waiting, no run says of the next.
        let by_chance = plan.resources.iter().enumerate().filter(|(_, resource)| {
            self.in_ring() && name.starts_with("sort_onesweep") && ["tickets", "tile_words"].contains(&resource.name)
        });
        let by_chance = self.mask(plan, by_chance.fold(Resources::default(), |set, (i, _)| set.union(Resources::of(&[i]))));
        let left_alone = |i: usize| after[i] == memory[i] && again[i] == altered[i];
        let depends = (0..memory.len())
            .filter(|i| !by_chance[*i])
            .find(|i| if writes[*i] { after[*i] != again[*i] && !left_alone(*i) } else { again[*i] != altered[*i] });
        assert_eq!(depends.map(resource_at), None, "{name} depends on what it does not declare to read");
        after
    }

    /// The twins before the first pass.
    pub(super) fn twins(&self) -> Vec<Twin> {
        self.problems.iter().zip(&self.inputs).map(|(problem, twin)| twin.begun(problem.count())).collect()
    }

    /// What the pass does with the twin's items.
    pub(super) fn move_of(&self, twin: &Twin, push: &SortPush) -> Option<Move> {
        let chosen = self.chosen(twin);
        let passed_over = if chosen {
            below_prefix(&twin.format)
        } else if push.flags & FLAG_SHARED_DIGITS != 0 {
            twin.shared
        } else {
            0
        };
        move_of_pass(&twin.format, push.pass >> 8 & 0xff, passed_over, chosen, push.pass & 0xff)
    }

    /// Whether prefixes are sorted by.
    pub(super) fn chosen(&self, twin: &Twin) -> bool {
        let kind = self.sorts.kind(self.context.device().facts(), &self.profile);
        match kind.class(self.sorts.infos[0].count.max) {
            Class::Tiled(.., Finish::Prefixes(_)) => twin.has_rare_prefixes(),
            _ => false,
        }
    }

    /// Does what the pass does, in plain Rust, and compares.
    pub(super) fn check(&self, memory: &[u8], plan: &Plan<'_>, pass: &Pass, rows: &[SortProblem], twins: &mut [Twin]) {
        let push = push_of(pass);
        let (tile, index) = (self.tile(), push.pass & 0xff);
        let prepared = is_prepared(plan);
        let name = pass.variant.kernel.name().trim_end_matches("_emulated");
        let digits = self.sorts.format().digits() as usize;
        for (row, (twin, problem)) in rows.iter().zip(twins.iter_mut().zip(&self.problems)) {
            let tiles = twin.len().div_ceil(tile);
            let compare_items = |twin: &mut Twin, to: Move| {
                if self.profile.ranking != Ranking::Ballots && !to.last {
                    // All the same in the bits that are sorted by so far; the others may come in any order.
                    let found = self.words(memory, twin.area(row, 0, !to.to_output), twin.len());
                    return twin.take_order(found, index);
                }
                for (address, expected) in twin.written(row, to) {
                    let found = self.bytes(memory, address, expected.len());
                    let wrong = (0..expected.len()).find(|i| found[*i] != expected[*i]);
                    assert_eq!(wrong, None, "{name}: byte of pass {index}, {to:?}, {problem:?}");
                }
            };
            let to = self.move_of(twin, &push);
            match name {
                "sort_prepare" => {
                    let cleared = self.sorts.info.strategy != Strategy::ReduceThenScan || push.flags & FLAG_SHARED_DIGITS != 0;
                    let histograms = self.part(memory, row.histogram, digits * DIGITS + 1);
                    assert!(!cleared || histograms.iter().all(|count| *count == 0), "histograms are cleared");
                }
                "sort_histogram" => self.check_histogram(memory, prepared, &push, row, twin),
                "sort_onesweep" => {
                    if let Some(to) = to {
                        self.check_look_back(memory, &push, row, twin, to);
                        twin.reorder(tile, index);
                        compare_items(twin, to);
                    }
                }
                "sort_count" => {
                    if to.is_some() {
                        twin.counts = cpu::count(&twin.keys, tile, twin.format.digit(index));
                        assert_eq!(self.part(memory, row.tile_words, tiles * DIGITS), twin.counts, "{name}");
                    }
                }
                "sort_spine" => {
                    if to.is_some() {
                        twin.totals = cpu::spine(&mut twin.counts);
                        assert_eq!(self.part(memory, row.tile_words, tiles * DIGITS), twin.counts, "{name}");
                        let histograms = self.part(memory, row.histogram, digits * DIGITS);
                        assert_eq!(histograms[index as usize * DIGITS..][..DIGITS], twin.totals, "{name}");
                    }
                }
                "sort_reorder" => {
                    if let Some(to) = to {
                        twin.reorder(tile, index);
                        compare_items(twin, to);
                    }
                }
                "sort_choose" => {
                    let found = self.part(memory, row.histogram, digits * DIGITS + 1)[digits * DIGITS];
                    let shared = if push.flags & FLAG_SHARED_DIGITS != 0 { twin.shared } else { 0 };
                    let prefixes = PASSED_OVER_PREFIXES | below_prefix(&twin.format);
                    assert_eq!(found, if self.chosen(twin) { prefixes } else { shared }, "what is not sorted by");
                }
                "sort_finish" => {
                    if let Some(to) = to.filter(|_| self.chosen(twin)) {
                        // Stable passes by every digit order them as it should be.
                        (0..digits as u32).for_each(|digit| drop(twin.reorder(tile, digit)));
                        compare_items(twin, to);
                    }
                }
                "sort_copy" => {
                    if let Some(to) = to.filter(|_| !self.chosen(twin)) {
                        compare_items(twin, to);
                    }
                }
                "sort_rank" => {
                    twin.sort_runs(twin.len().max(1));
                    compare_items(twin, to.expect("it moves all"));
                }
                "sort_merge" | "sort_partition" | "sort_join" if self.merging().is_some() => {
                    let (level, levels) = (push.pass & 0xff, push.pass >> 8 & 0xff);
                    let to = Move { before: level, last: level == levels, to_output: (levels - level).is_multiple_of(2) };
                    match (name, self.merging()) {
                        ("sort_partition", _) => self.check_windows(memory, &push, row, twin),
                        (_, Some(merging)) => {
                            twin.sort_runs(merging.run_items(level) as usize);
                            compare_items(twin, to);
                        }
                        _ => {}
                    }
                }
                "sort_small" | "sort_merge" => {
                    (0..digits as u32).for_each(|digit| drop(twin.reorder(tile, digit)));
                    compare_items(twin, Move { before: 0, last: true, to_output: true });
                }
                "sort_pack" => {
                    let [keys, _] = twin.output();
                    assert_eq!(self.bytes(memory, address(row.to_keys), keys.len()), keys, "{name}");
                }
                "sort_permute" => {
                    let [_, values] = twin.output();
                    // Behind both planes of places.
                    let aside = address(row.alternate_values) + u64::from(row.max_count.next_multiple_of(4)) * 8;
                    let target = if push.digit == PERMUTE_TO_SCRATCH { aside } else { address(row.to_values) };
                    assert_eq!(self.bytes(memory, target, values.len()), values, "{name}");
                }
                other => panic!("{other} has no twin"),
            }
            let first = !prepared && (name == "sort_histogram" || name == "sort_count" && index == 0);
            let settles = first || ["sort_prepare", "sort_rank", "sort_small", "sort_merge"].contains(&name);
            if settles && problem.status {
                let clamped = problem.device_count.is_some_and(|count| count as usize > problem.size);
                let status = self.words(memory, address(row.status), 1);
                assert_eq!(status, [if clamped { STATUS_COUNT_CLAMPED } else { 0 }], "{name}: status");
            }
            let tickets = plan.resources.iter().find(|resource| resource.name == "tickets");
            if let (true, Some(tickets)) = (first || name == "sort_prepare", tickets) {
                let words = self.words(memory, tickets.range.address, 2 * digits);
                assert!(words.iter().all(|word| *word == 0), "{name}: tickets and tails");
            }
        }
        if name == "sort_prepare" {
            self.check_line(memory, plan, &push);
        }
    }

    /// How runs are merged, where they are.
    pub(super) fn merging(&self) -> Option<Merging> {
        let kind = self.sorts.kind(self.context.device().facts(), &self.profile);
        kind.class(self.sorts.infos[0].count.max).merging()
    }

    /// Where windows of a group of runs begin, by items of each run; and the most items of one.
    pub(super) fn windows(&self, twin: &Twin, first: usize, run: usize) -> (Vec<u32>, usize) {
        let Merging { sized, fan, .. } = self.merging().unwrap();
        let (step, spacing) = (sized.step(fan) as usize, sized.spacing(fan));
        let order = twin.order_of(first..(first + run * fan as usize).min(twin.len()));
        let mut taken = vec![0; fan as usize];
        let (mut samples, mut rows, mut begins) = (0, Vec::new(), Vec::new());
        for (place, item) in order.iter().map(|item| item - first).enumerate() {
            if (item % run).is_multiple_of(step) {
                if samples % spacing == 0 {
                    rows.extend(&taken);
                    begins.push(place);
                }
                samples += 1;
            }
            taken[item / run] += 1;
        }
        begins.push(order.len());
        (rows, begins.windows(2).map(|window| window[1] - window[0]).max().unwrap_or(0))
    }

    pub(super) fn check_windows(&self, memory: &[u8], push: &SortPush, row: &SortProblem, twin: &Twin) {
        let Merging { sized, fan, .. } = self.merging().unwrap();
        let of_group = (push.digit * fan).div_ceil(sized.step(fan) * sized.spacing(fan)) as usize;
        let (run, fan) = (push.digit as usize, fan as usize);
        for (group, first) in (0..twin.len()).step_by(run * fan).enumerate() {
            let (rows, largest) = self.windows(twin, first, run);
            assert!(largest <= sized.window.tile() as usize, "a window of {largest} items");
            let before = group * of_group * fan;
            let found = self.part(memory, row.tile_words, before + rows.len()).split_off(before);
            assert_eq!(found, rows, "where windows begin");
        }
    }

    /// Counts of all digits, the digits that all keys share, and look-back words cleared.
    pub(super) fn check_histogram(&self, memory: &[u8], prepared: bool, push: &SortPush, row: &SortProblem, twin: &Twin) {
        let tile = self.tile();
        if prepared {
            let expected = [twin.histograms().concat(), vec![twin.shared]].concat();
            assert_eq!(self.part(memory, row.histogram, expected.len()), expected, "histograms and shared digits");
        } else {
            // A row for each group.
            let chunk = push.chunk as usize * tile;
            let rows = (row.max_count as usize).div_ceil(chunk);
            let expected = (0..rows).flat_map(|g| twin.part(g * chunk..(g + 1) * chunk).histograms().concat());
            let expected: Vec<u32> = expected.collect();
            assert_eq!(self.part(memory, row.histogram, expected.len()), expected, "a histogram of each group's tiles");
        }
        let words = match self.sorts.info.strategy {
            Strategy::ReduceThenScan => 0,
            // Without a tile there is no group to clear them.
            _ if self.in_ring() && twin.len() != 0 => RING_ENTRIES as usize * 2 * DIGITS,
            _ => twin.len().div_ceil(tile) * DIGITS,
        };
        assert!(self.part(memory, row.tile_words, words).iter().all(|word| *word == 0), "look-back words are cleared");
    }

    /// What the tiles of a pass have published, when all have gone. In the ring, what is there of this pass.
    pub(super) fn check_look_back(&self, memory: &[u8], push: &SortPush, row: &SortProblem, twin: &Twin, to: Move) {
        let prefixes = twin.prefixes(self.tile(), push.pass & 0xff);
        if !self.in_ring() {
            let expected: Vec<u32> = prefixes.iter().map(|prefix| look_back_word(PREFIX, to.before, *prefix)).collect();
            assert_eq!(self.part(memory, row.tile_words, prefixes.len()), expected, "every tile's prefixes are published");
            return;
        }
        // The tiles of a batch share the ring, and which of them the twin is is not told: one alone is.
        if self.problems.len() == 1 {
            let ring = Ring::of(push, prefixes.len() / DIGITS);
            ring.check(
                &self.part(memory, row.tile_words, RING_ENTRIES as usize * 2 * DIGITS),
                &prefixes,
                0..prefixes.len() / DIGITS,
            );
        }
    }

    /// States, indirect arguments, after `prepare`.
    pub(super) fn check_line(&self, memory: &[u8], plan: &Plan<'_>, push: &SortPush) {
        let mut expected = Vec::new();
        let mut tiles = 0;
        for problem in &self.problems {
            expected.extend([problem.count() as u32, tiles, 0]);
            tiles += problem.count().div_ceil(self.tile()) as u32;
        }
        expected.extend([0, tiles, 0]);
        assert_eq!(self.part(memory, push.states, expected.len()), expected, "states");
        if let Some(arguments) = plan.resources.iter().find(|resource| resource.name == "arguments") {
            let fold = |groups| <[u32; 2]>::from(crate::record::fold(groups, 7));
            let ([x, y], [chunks_x, chunks_y]) = (fold(tiles), fold(tiles.div_ceil(push.chunk)));
            let expected = [x, y, 1, chunks_x, chunks_y, 1];
            assert_eq!(self.words(memory, arguments.range.address, 6), expected, "indirect arguments");
        }
    }

    /// All passes, and what they declare.
    pub(super) fn prove(&self) {
        self.follow(|memory, plan, pass| self.run_declared(memory, plan, pass));
    }

    /// All passes.
    pub(super) fn follow(&self, run: impl Fn(&[u8], &Plan<'_>, &Pass) -> Vec<u8>) {
        self.with_plan(|plan, mut memory, rows| {
            let mut twins = self.twins();
            for pass in &plan.passes {
                memory = run(&memory, plan, pass);
                self.check(&memory, plan, pass, rows, &mut twins);
            }
            for ((twin, begun), (problem, info)) in twins.iter().zip(self.twins()).zip(self.problems.iter().zip(&self.sorts.infos))
            {
                twin.assert_sorted(&begun);
                let format = &twin.format;
                let steps = [format.key_step(), if format.values_separate() { format.value_size } else { 0 }];
                let dropped = [self.sorts.info.drop_keys, false];
                for (i, (array, items)) in result(format, info).into_iter().zip(twin.output()).enumerate() {
                    let step = steps[i];
                    if array == 0 || step == 0 {
                        continue;
                    }
                    assert!(dropped[i] || self.bytes(&memory, array, items.len()) == items, "the result is where it belongs");
                    let all = problem.size * step as usize;
                    let (found, before) = (self.bytes(&memory, array, all), self.bytes(&self.initial, array, all));
                    assert!(found[items.len()..] == before[items.len()..], "what lies past the count stays");
                }
            }
        });
        assert_silence(&self.context);
    }
}

pub(super) fn is_prepared(plan: &Plan<'_>) -> bool {
    plan.passes.iter().any(|pass| pass.variant.kernel == Kernel::SortPrepare)
}

pub(super) fn push_of(pass: &Pass) -> SortPush {
    bytemuck::pod_read_unaligned(&pass.push.bytes()[..size_of::<SortPush>()])
}

// States of look-back words: see glsl/lib/lookback.glsl.
pub(super) const EMPTY: u32 = 0;
pub(super) const COUNT: u32 = 1;
pub(super) const PREFIX: u32 = 2;

pub(super) fn look_back_word(state: u32, moves_before: u32, count: u32) -> u32 {
    state << 30 ^ moves_before << 31 | count
}

/// The ring during a pass of one problem alone.
pub(super) struct Ring {
    pub(super) laps_before: u32,
}

impl Ring {
    pub(super) fn of(push: &SortPush, tiles: usize) -> Self {
        Self { laps_before: (push.pass & 0xff) * (tiles as u32).div_ceil(RING_ENTRIES) }
    }

    pub(super) fn tag(&self, tile: usize) -> u32 {
        self.laps_before + tile as u32 / RING_ENTRIES + 1
    }

    /// Low and high half of a count.
    pub(super) fn halves(tag: u32, state: u32, count: u32) -> [u32; 2] {
        let head = tag << 18 | state << 16;
        [head | count & 0xffff, head | count >> 16]
    }

    pub(super) fn places(tile: usize, digit: usize) -> [usize; 2] {
        let low = tile % RING_ENTRIES as usize * 2 * DIGITS + digit;
        [low, low + DIGITS]
    }

    /// Whatever a tile of this pass has left is its prefix. (It may have left nothing, where it has given up waiting for the entry.)
    pub(super) fn check(&self, words: &[u32], prefixes: &[u32], tiles: std::ops::Range<usize>) {
        for tile in tiles {
            for digit in 0..DIGITS {
                let found = Self::places(tile, digit).map(|place| words[place]);
                if found.iter().any(|word| word >> 18 == self.tag(tile)) {
                    let prefix = prefixes[tile * DIGITS + digit];
                    assert_eq!(found, Self::halves(self.tag(tile), PREFIX, prefix), "tile {tile} digit {digit} of the ring");
                }
            }
        }
    }
}

/// Whether every format goes by every strategy; otherwise each by some, in turn, since most of the time goes into pipelines.
pub(super) fn in_full() -> bool {
    std::env::var_os("TROMMEL_TEST_FULL").is_some()
}

/// Whether the driver takes long to make pipelines: then only the first formats run, in two ways.
pub(super) fn in_brief() -> bool {
    std::env::var_os("TROMMEL_TEST_BRIEF").is_some()
}

/// One place in three, others where subgroups are wider or narrower: the suite runs with three widths. Every place in full.
pub(super) fn in_turn(place: usize) -> bool {
    let width = context(false).device().facts().max_lanes.trailing_zeros() as usize;
    in_full() || (place + width).is_multiple_of(3)
}
