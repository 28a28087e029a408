//! Every kernel by itself, on the device that the environment selects: against its twin, and against what its pass declares.
//!
//! All memory of a case is one buffer. Each pass runs twice on it: as the passes before have left it, and with every word
//! altered that the pass does not declare to read. The first run may change only words that it declares to write, and both
//! must write the same.

use super::problems::Sorts;
use crate::host::{Buffer, Context, ContextInfo};
use crate::kernel::Variant;
use crate::plan::{Groups, Pass, Plan, Resources, Table as _};
use crate::record::{Commands as _, Recorder};
use crate::scratch::Layout;
use crate::shared::{Address, PASSES, RADIX, STATUS_COUNT_CLAMPED, SortProblem, SortPush};
use crate::sort::{Class, SortTable, cpu};
use crate::tuning::{Profile, Shape, SizedShape, SortShapes};
use crate::{Count, Range, Scratch, SortInfo, Strategy};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

const DIGITS: usize = RADIX as usize;

/// Words that look random, the same for the same seed.
fn noise(seed: u64, words: usize) -> Vec<u32> {
    let mut state = seed | 1;
    let draw = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    (0..words).map(draw).collect()
}

static OPEN: Mutex<Vec<(bool, Context)>> = Mutex::new(Vec::new());

unsafe extern "C" {
    safe fn atexit(function: extern "C" fn()) -> i32;
}

/// The GPU-assisted layer aborts where devices outlive it, and no test knows itself to be the last.
extern "C" fn close_all() {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// That the validation layer, where it is on, has said nothing. Every test ends with it.
fn assert_silence(context: &Context) {
    // After what driver and layer have registered so far, hence before it. Once more does no harm.
    atexit(close_all);
    assert_eq!(context.messages(), Vec::<String>::new());
}

/// Small tiles, so that few keys make many; subgroups as they are, or emulated ones.
fn context(emulated: bool) -> Context {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, context)) = open.iter().find(|(known, _)| *known == emulated) {
        return context.clone();
    }
    let native = Context::new().unwrap();
    let threads = if emulated { 128 } else { native.device().facts().max_lanes.max(64) };
    let shape = |items| Shape { threads, items };
    let small = [shape(1), shape(3)];
    let tiles = [SizedShape { up_to: u32::MAX, shape: shape(2) }];
    let shapes = SortShapes { small: small.into_iter().collect(), tiles: tiles.into_iter().collect() };
    let profile = Profile {
        lanes: if emulated { 32 } else { 0 },
        emulated_subgroups: emulated,
        sort_keys: shapes.clone(),
        sort_pairs: shapes,
        plain_threads: threads,
        histogram_groups: 3,
        spin_limit: 3,
        max_groups_x: 7,
        ..native.device().profile().clone()
    };
    let context = Context::with(&ContextInfo { profile: Some(profile), ..ContextInfo::default() }).unwrap();
    open.push((emulated, context.clone()));
    context
}

/// A problem: its keys, how many of them the device says there are, and whether it wants its status.
#[derive(Clone)]
struct Problem {
    keys: Vec<u32>,
    device_count: Option<u32>,
    status: bool,
}

impl Problem {
    fn new(seed: u64, size: usize, device_count: Option<u32>) -> Self {
        // Few different digits in some places, many in others.
        let keys = noise(seed, size).into_iter().map(|key| key & 0xff03_ff1f).collect();
        Self { keys, device_count, status: device_count.is_some() }
    }

    fn count(&self) -> usize {
        (self.device_count.unwrap_or(u32::MAX) as usize).min(self.keys.len())
    }
}

/// Keys and values on their way through the digits, as the twin has them.
#[derive(Clone, Default)]
struct Twin {
    keys: Vec<u32>,
    values: Vec<u32>,
    counts: Vec<u32>,
    totals: Vec<u32>,
}

struct Bench {
    context: Context,
    problems: Vec<Problem>,
    sorts: Sorts,
    buffer: Buffer,
    scratch: Scratch,
    /// All memory before the first pass.
    initial: Vec<u32>,
}

impl Bench {
    fn new(emulated: bool, strategy: Strategy, value_words: u32, problems: Vec<Problem>) -> Self {
        let context = context(emulated);
        let mut words = Vec::new();
        let mut places = Vec::new();
        let mut add = |part: &[u32]| {
            words.extend(noise(words.len() as u64 + 77, 3));
            words.extend_from_slice(part);
            words.len() - part.len()
        };
        for problem in &problems {
            let values: Vec<u32> = if value_words == 0 { Vec::new() } else { (0..).take(problem.keys.len()).collect() };
            let keys = add(&problem.keys);
            let values = add(&values);
            let count = problem.device_count.map(|count| add(&[count]));
            places.push((keys, values, count, problem.status.then(|| add(&[0xdead_beef]))));
        }
        let scratch_word = add(&noise(5, 1 << 18));
        words.extend(noise(6, 3));

        let buffer = context.upload(&words).unwrap();
        let at = |word: usize| buffer.address() + word as u64 * 4;
        let infos = problems.iter().zip(&places).map(|(problem, (keys, values, count, status))| SortInfo {
            count: Count { max: problem.keys.len() as u32, address: count.map_or(0, at) },
            keys: Range::new(at(*keys), problem.keys.len() as u64 * 4),
            values: Range::new(at(*values), problem.keys.len() as u64 * u64::from(value_words) * 4),
            status: status.map_or(0, at),
            ..SortInfo::default()
        });
        let sorts = Sorts { strategy, value_words, infos: infos.collect() };
        let scratch = Scratch { buffer: buffer.handle(), offset: scratch_word as u64 * 4, size: 4 << 18 };
        Self { context, problems, sorts, buffer, scratch, initial: words }
    }

    /// Hands the plan, and memory with the table in it, to `body`.
    fn with_plan<T>(&self, body: impl FnOnce(&Plan<'_>, Vec<u32>, &[SortProblem]) -> T) -> T {
        let device = self.context.device();
        let kind = self.sorts.kind(device.facts(), device.profile());
        let class = kind.class(self.sorts.infos[0].count.max);
        assert!(self.sorts.infos.iter().all(|info| kind.class(info.count.max) == class), "one case, one class");
        let mut layout = Layout::default();
        let address = self.buffer.address() + self.scratch.offset;
        let table = SortTable::new(kind, class, &self.sorts, address, &mut layout).unwrap();
        assert!(layout.size() <= self.scratch.size);
        let plan = table.plan();
        let mut rows = Vec::<SortProblem>::new();
        table.for_each_row(&mut |row| rows.push(bytemuck::pod_read_unaligned(row)));
        let mut words = self.initial.clone();
        if let Some(upload) = &plan.upload {
            let start = (self.scratch.offset + upload.offset) as usize / 4;
            let table: &[u32] = bytemuck::cast_slice(&rows);
            words[start..start + table.len()].copy_from_slice(table);
        }
        body(&plan, words, &rows)
    }

    fn word(&self, address: u64) -> usize {
        ((address - self.buffer.address()) / 4) as usize
    }

    fn slice<'w>(&self, words: &'w [u32], address: Address, len: usize) -> &'w [u32] {
        let start = self.word(u64::from_le_bytes(bytemuck::cast(address)));
        &words[start..start + len]
    }

    fn tile(&self) -> usize {
        self.context.device().profile().sort_keys.tiles[0].shape.tile() as usize
    }

    /// Which words the resources are, the caller's arrays exactly.
    fn mask(&self, plan: &Plan<'_>, set: Resources) -> Vec<bool> {
        let mut mask = vec![false; self.initial.len()];
        let mut add = |address: u64, words: usize| {
            if address != 0 && words != 0 {
                let start = self.word(address);
                mask[start..start + words].fill(true);
            }
        };
        for resource in set.iter() {
            let resource = plan.resources[resource];
            for info in &self.sorts.infos {
                match resource.name {
                    "keys" => add(info.keys.address, info.count.max as usize),
                    "values" => add(info.values.address, (info.count.max * self.sorts.value_words) as usize),
                    "counts" => add(info.count.address, 1),
                    "statuses" => add(info.status, 1),
                    _ => add(resource.range.address, resource.range.size as usize / 4),
                }
            }
        }
        mask
    }

    fn run(&self, words: &[u32], plan: &Plan<'_>, pass: &Pass) -> Vec<u32> {
        let device = self.context.device();
        self.context.write(&self.buffer, words).unwrap();
        let pipeline = |variant: Variant| device.pipeline(variant);
        let run = self.context.run(|commands| {
            let plans = std::slice::from_ref(plan);
            Recorder::new(device, commands, self.scratch, None, plans, pipeline)?.dispatch(0, pass);
            Ok(())
        });
        run.unwrap();
        self.context.download(&self.buffer, words.len()).unwrap()
    }

    /// Runs a pass, and again with all altered that it does not read. What memory holds after it.
    fn run_declared(&self, words: &[u32], plan: &Plan<'_>, pass: &Pass) -> Vec<u32> {
        let name = pass.variant.kernel.name();
        let arguments = match pass.groups {
            Groups::Fixed(_) => Resources::default(),
            Groups::Indirect { resource, .. } => Resources::of(&[resource]),
        };
        let (reads, writes) = (self.mask(plan, pass.reads.union(arguments)), self.mask(plan, pass.writes));
        let after = self.run(words, plan, pass);
        let stray = (0..words.len()).find(|i| after[*i] != words[*i] && !writes[*i]);
        assert_eq!(stray, None, "{name} writes a word that it does not declare");

        let altered = words.iter().zip(noise(99, words.len()));
        let altered: Vec<u32> =
            altered.zip(&reads).map(|((word, noise), read)| if *read { *word } else { *word ^ noise }).collect();
        let again = self.run(&altered, plan, pass);
        let left_alone = |i: usize| after[i] == words[i] && again[i] == altered[i];
        let depends = (0..words.len())
            .find(|i| if writes[*i] { after[*i] != again[*i] && !left_alone(*i) } else { again[*i] != altered[*i] });
        assert_eq!(depends, None, "{name} depends on a word that it does not declare to read");
        after
    }

    /// The twin's state before the first pass.
    fn twins(&self) -> Vec<Twin> {
        let twin = |problem: &Problem| {
            let keys = problem.keys[..problem.count()].to_vec();
            let values = if self.sorts.value_words == 0 { Vec::new() } else { (0..).take(keys.len()).collect() };
            Twin { keys, values, ..Twin::default() }
        };
        self.problems.iter().map(twin).collect()
    }

    /// Does what the pass does, in plain Rust, and compares.
    fn check(&self, words: &[u32], plan: &Plan<'_>, pass: &Pass, rows: &[SortProblem], twins: &mut [Twin]) {
        let push = push_of(pass);
        let (tile, shift) = (self.tile(), push.shift);
        let name = pass.variant.kernel.name().trim_end_matches("_emulated");
        let target = |row: &SortProblem| {
            let back = push.pass_index % 2 == 1;
            if back { (row.keys, row.values) } else { (row.alternate_keys, row.alternate_values) }
        };
        for (row, (twin, problem)) in rows.iter().zip(twins.iter_mut().zip(&self.problems)) {
            let tiles = twin.keys.len().div_ceil(tile);
            let found = |address, len| self.slice(words, address, len);
            let compare_arrays = |twin: &Twin, (keys, values): (Address, Address)| {
                assert_eq!(found(keys, twin.keys.len()), twin.keys, "{name}: keys of digit {}", push.pass_index);
                if self.sorts.value_words != 0 {
                    assert_eq!(found(values, twin.values.len()), twin.values, "{name}: values of digit {}", push.pass_index);
                }
            };
            match name {
                "sort_prepare" if self.sorts.strategy == Strategy::Lookback => {
                    let histograms = found(row.histogram, PASSES as usize * DIGITS);
                    assert!(histograms.iter().all(|count| *count == 0), "histograms are cleared");
                }
                "sort_prepare" => {}
                "sort_histogram" => {
                    let histogram = cpu::histogram(&twin.keys).concat();
                    assert_eq!(found(row.histogram, PASSES as usize * DIGITS), histogram, "{name}");
                    assert!(found(row.tile_words, tiles * DIGITS).iter().all(|word| *word == 0), "look-back words are cleared");
                }
                "sort_onesweep" => {
                    let prefixes = prefixes(&twin.keys, tile, shift);
                    let expected: Vec<u32> = prefixes.iter().map(|prefix| look_back_word(2, push.pass_index, *prefix)).collect();
                    assert_eq!(found(row.tile_words, tiles * DIGITS), expected, "every tile's prefixes are published");
                    reorder(twin, tile, shift);
                    compare_arrays(twin, target(row));
                }
                "sort_count" => {
                    twin.counts = cpu::count(&twin.keys, tile, shift);
                    assert_eq!(found(row.tile_words, tiles * DIGITS), twin.counts, "{name}");
                }
                "sort_spine" => {
                    twin.totals = cpu::spine(&mut twin.counts);
                    assert_eq!(found(row.tile_words, tiles * DIGITS), twin.counts, "{name}");
                    assert_eq!(found(row.histogram, DIGITS), twin.totals, "{name}");
                }
                "sort_reorder" => {
                    reorder(twin, tile, shift);
                    compare_arrays(twin, target(row));
                }
                "sort_small" => {
                    (twin.keys, twin.values) = cpu::sort(&twin.keys, &twin.values, tile);
                    compare_arrays(twin, (row.keys, row.values));
                }
                other => panic!("{other} has no twin"),
            }
            let settles = ["sort_prepare", "sort_small"].contains(&name);
            if settles && problem.status {
                let clamped = problem.device_count.is_some_and(|count| count as usize > problem.keys.len());
                assert_eq!(found(row.status, 1), [if clamped { STATUS_COUNT_CLAMPED } else { 0 }], "{name}: status");
            }
        }
        if name == "sort_prepare" {
            self.check_line(words, plan, &push);
        }
    }

    /// States, indirect arguments and tickets, after `prepare`.
    fn check_line(&self, words: &[u32], plan: &Plan<'_>, push: &SortPush) {
        let mut expected = Vec::new();
        let mut tiles = 0;
        for problem in &self.problems {
            expected.extend([problem.count() as u32, tiles]);
            tiles += problem.count().div_ceil(self.tile()) as u32;
        }
        expected.extend([0, tiles]);
        assert_eq!(self.slice(words, push.states, expected.len()), expected, "states");
        for resource in &plan.resources {
            let start = || self.word(resource.range.address);
            match resource.name {
                "arguments" => {
                    let fold = |groups| <[u32; 2]>::from(crate::record::fold(groups, 7));
                    let ([x, y], [chunks_x, chunks_y]) = (fold(tiles), fold(tiles.div_ceil(push.chunk)));
                    assert_eq!(words[start()..start() + 6], [x, y, 1, chunks_x, chunks_y, 1], "indirect arguments");
                }
                "tickets" => assert_eq!(words[start()..start() + 4], [0; 4], "tickets"),
                _ => {}
            }
        }
    }

    /// All passes.
    fn prove(&self) {
        self.with_plan(|plan, mut words, rows| {
            let mut twins = self.twins();
            for pass in &plan.passes {
                words = self.run_declared(&words, plan, pass);
                self.check(&words, plan, pass, rows, &mut twins);
            }
            for (row, (twin, problem)) in rows.iter().zip(twins.iter().zip(&self.problems)) {
                assert!(twin.keys.is_sorted());
                let behind = &self.slice(&words, row.keys, problem.keys.len())[problem.count()..];
                assert_eq!(behind, &problem.keys[problem.count()..], "keys past the count stay");
            }
        });
        assert_silence(&self.context);
    }
}

fn push_of(pass: &Pass) -> SortPush {
    bytemuck::pod_read_unaligned(&pass.push.bytes()[..size_of::<SortPush>()])
}

/// Keys before the end of each tile, for each digit, in the order of look-back words. The last tile counts its pads, whose
/// digits are the largest; nobody looks back at it.
fn prefixes(keys: &[u32], tile: usize, shift: u32) -> Vec<u32> {
    let mut counts = cpu::count(keys, tile, shift);
    let tiles = keys.len().div_ceil(tile);
    let own = counts.clone();
    let totals = cpu::spine(&mut counts);
    let bases: Vec<u32> = totals.iter().scan(0, |sum, total| Some(std::mem::replace(sum, *sum + total))).collect();
    let pads = |t: usize, digit: usize| if digit == DIGITS - 1 { ((t + 1) * tile).saturating_sub(keys.len()) as u32 } else { 0 };
    let of = |t: usize, digit: usize| bases[digit] + counts[digit * tiles + t] + own[digit * tiles + t] + pads(t, digit);
    (0..tiles).flat_map(|t| (0..DIGITS).map(move |digit| (t, digit))).map(|(t, digit)| of(t, digit)).collect()
}

fn look_back_word(state: u32, pass_index: u32, count: u32) -> u32 {
    state << 30 ^ (pass_index & 1) << 31 | count
}

fn reorder(twin: &mut Twin, tile: usize, shift: u32) {
    let mut counts = cpu::count(&twin.keys, tile, shift);
    let totals = cpu::spine(&mut counts);
    (twin.keys, twin.values) = cpu::reorder(&twin.keys, &twin.values, tile, shift, &counts, &totals);
}

fn tiled(emulated: bool, strategy: Strategy) {
    let tile = context(emulated).device().profile().sort_keys.tiles[0].shape.tile() as usize;
    for (value_words, problems) in [
        (0, vec![Problem::new(1, 9 * tile + 5, None)]),
        (1, vec![Problem { status: true, ..Problem::new(2, 3 * tile, None) }]),
        (1, vec![Problem::new(3, 9 * tile, Some(5 * tile as u32 - 3))]),
        (0, vec![Problem::new(4, 3 * tile, Some(u32::MAX))]),
        (0, vec![Problem::new(5, 4 * tile, Some(0))]),
        (
            1,
            vec![
                Problem::new(6, 2 * tile + 1, Some(tile as u32 + 9)),
                Problem::new(7, 5 * tile, Some(0)),
                Problem::new(8, 3 * tile + 7, None),
                Problem { status: true, ..Problem::new(9, 2 * tile, None) },
                Problem::new(10, 2 * tile, Some(2 * tile as u32 + 1)),
            ],
        ),
        (0, vec![Problem::new(11, 2 * tile, None), Problem::new(12, 6 * tile + 3, None)]),
    ] {
        Bench::new(emulated, strategy, value_words, problems).prove();
    }
}

#[test]
fn look_back_kernels() {
    tiled(false, Strategy::Lookback);
}

#[test]
fn look_back_kernels_with_emulated_subgroups() {
    tiled(true, Strategy::Lookback);
}

#[test]
fn reduce_then_scan_kernels() {
    tiled(false, Strategy::ReduceThenScan);
}

#[test]
fn reduce_then_scan_kernels_with_emulated_subgroups() {
    tiled(true, Strategy::ReduceThenScan);
}

#[test]
fn small_kernel() {
    for emulated in [false, true] {
        for value_words in [0, 1] {
            let threads = context(emulated).device().profile().plain_threads as usize;
            let of_size = |size: usize| {
                let count = |count: usize| Some(count as u32);
                vec![
                    Problem::new(1, size, None),
                    Problem::new(2, size - 1, count(size - 5)),
                    Problem::new(3, size - 1, count(0)),
                    Problem::new(4, size - 2, count(size)),
                ]
            };
            for problems in [of_size(threads), of_size(3 * threads), vec![Problem::new(5, 3 * threads, Some(70))]] {
                Bench::new(emulated, Strategy::Lookback, value_words, problems).prove();
            }
        }
    }
}

/// Tiles that nobody takes: those after them find words in every state of the protocol, give up waiting where one is empty, and
/// count for themselves. The ticket begins behind the lost ones.
fn lost_tiles(emulated: bool) {
    let tile = context(emulated).device().profile().sort_keys.tiles[0].shape.tile() as usize;
    let (tiles, lost) = (13, 9);
    let bench = Bench::new(emulated, Strategy::Lookback, 1, vec![Problem::new(21, tiles * tile - 3, None)]);
    bench.with_plan(|plan, mut words, rows| {
        let mut twin = bench.twins().remove(0);
        for pass in &plan.passes {
            let push = push_of(pass);
            let before = words.clone();
            words = bench.run(&before, plan, pass);
            if !pass.variant.kernel.name().starts_with("sort_onesweep") {
                continue;
            }
            let (source, row) = (twin.clone(), &rows[0]);
            reorder(&mut twin, tile, push.shift);
            let prefixes = prefixes(&source.keys, tile, push.shift);
            let own = cpu::count(&source.keys, tile, push.shift);
            for round in 0..6 {
                // What the lost tiles have published, if anything.
                let mut state = before.clone();
                let tickets = bench.word(u64::from_le_bytes(bytemuck::cast(push.tickets)));
                state[tickets + push.pass_index as usize] = lost as u32;
                let first_word = bench.word(u64::from_le_bytes(bytemuck::cast(row.tile_words)));
                let states = noise(round + 100, lost * DIGITS);
                for (i, drawn) in states.iter().enumerate() {
                    let (t, digit) = (i / DIGITS, i % DIGITS);
                    state[first_word + i] = match (round, drawn % 3) {
                        // None of them anything.
                        (0, _) => look_back_word(0, push.pass_index, 0),
                        // None of them anything but their counts.
                        (1, _) if t > 0 => look_back_word(1, push.pass_index, own[digit * tiles + t]),
                        (_, 1) if t > 0 => look_back_word(1, push.pass_index, own[digit * tiles + t]),
                        (_, 2) => look_back_word(2, push.pass_index, prefixes[i]),
                        _ => look_back_word(0, push.pass_index, 0),
                    };
                }
                let after = bench.run(&state, plan, pass);
                let back = push.pass_index % 2 == 1;
                let targets = if back { [row.keys, row.values] } else { [row.alternate_keys, row.alternate_values] };
                // Values tell where a key came from: those of lost tiles are missing from the target, all others are there.
                let lost_values: HashSet<u32> = source.values[..lost * tile].iter().copied().collect();
                let taken: Vec<bool> = twin.values.iter().map(|value| !lost_values.contains(value)).collect();
                for (target, expected) in targets.into_iter().zip([&twin.keys, &twin.values]) {
                    let (found, old) = (bench.slice(&after, target, expected.len()), bench.slice(&state, target, expected.len()));
                    let wrong = (0..found.len()).find(|i| found[*i] != if taken[*i] { expected[*i] } else { old[*i] });
                    assert_eq!(wrong, None, "digit {} of round {round}", push.pass_index);
                }
                let expected = prefixes.iter().map(|prefix| look_back_word(2, push.pass_index, *prefix)).collect::<Vec<_>>();
                let published = bench.slice(&after, row.tile_words, tiles * DIGITS);
                assert_eq!(published[lost * DIGITS..], expected[lost * DIGITS..], "prefixes are right all the same");
            }
        }
    });
    assert_silence(&bench.context);
}

#[test]
fn tiles_that_never_come() {
    lost_tiles(false);
}

#[test]
fn tiles_that_never_come_with_emulated_subgroups() {
    lost_tiles(true);
}

/// The proof above finds a declaration that leaves out what is read, and one that leaves out what is written.
#[test]
fn wrong_declarations_are_found() {
    let tile = context(false).device().profile().sort_keys.tiles[0].shape.tile() as usize;
    let bench = Bench::new(false, Strategy::ReduceThenScan, 0, vec![Problem::new(1, 2 * tile, None)]);
    bench.with_plan(|plan, words, _| {
        let found = |pass: Pass| {
            let proof = std::panic::AssertUnwindSafe(|| bench.run_declared(&words, plan, &pass));
            let panic = std::panic::catch_unwind(proof).unwrap_err();
            panic.downcast_ref::<String>().unwrap().clone()
        };
        let count = plan.passes[0];
        assert!(found(Pass { reads: Resources::default(), ..count }).contains("depends on"));
        assert!(found(Pass { writes: Resources::default(), ..count }).contains("does not declare"));
    });
    assert_silence(&bench.context);
}

#[test]
fn classes_of_the_cases_are_as_meant() {
    let context = context(false);
    let sorts = Sorts { strategy: Strategy::Lookback, value_words: 0, infos: Vec::new() };
    let kind = sorts.kind(context.device().facts(), context.device().profile());
    let threads = context.device().profile().plain_threads;
    assert!(matches!(kind.class(3 * threads), Class::Small(_)) && matches!(kind.class(3 * threads + 1), Class::Tiled(_)));
}
