//! Segments, pass by pass: declared accesses and results.

use super::bench::{Bench, Problem, Way};
use super::contexts::{assert_silence, context, in_rotation, tile_of};
use super::primitives::{Algorithm, Buckets, Selection as _};
use super::problems::{Sorts, formats, segmented_splits};
use super::twins::result;
use crate::core::tests::noise;
use crate::core::tests::selection::always;
use crate::sort;
use crate::tuning::{Profile, SmallShape};
use crate::{KeyType, SorterInfo, Strategy, ValueType};

/// Segments of these lengths. Five items before and nine items after them are in no segment.
fn problem(seed: u64, lengths: &[usize], counted: Option<u32>) -> Problem {
    let mut offsets = vec![5];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + *length as u32);
    }
    let size = offsets[offsets.len() - 1] as usize + 9;
    Problem { offsets, status: true, ..Problem::new(seed, size, counted) }
}

fn prove(emulated: bool, info: SorterInfo, problem: Problem) {
    prove_tuned(emulated, |profile| profile, info, problem);
}

fn prove_tuned(emulated: bool, tune: impl FnOnce(Profile) -> Profile, info: SorterInfo, problem: Problem) {
    follow(&Bench::tuned(emulated, Way::EveryDigit, tune, SorterInfo { segmented: true, ..info }, vec![problem]));
}

fn follow(bench: &Bench) {
    let (problem, sort, info) = (&bench.problems[0], bench.sorts.infos[0], bench.sorts.info);
    let after = bench.with_plan(|plan, memory, _| {
        plan.passes.iter().fold(memory, |memory, pass| bench.run_declared(&memory, plan, pass))
    });

    // Each segment by itself, in plain Rust.
    let twin = bench.inputs[0].begun(problem.size);
    let format = &twin.format;
    let counted = problem.device_count.unwrap_or(u32::MAX).min(sort.segments.count.max) as usize;
    let segments = problem.offsets[..=counted].windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
    let steps =
        [format.key_step(), if format.values_separate() { format.value_size } else { 0 }].map(|step| step as usize);
    for (i, (array, step)) in result(format, &sort).into_iter().zip(steps).enumerate() {
        if array == 0 || step == 0 || i == 0 && info.drop_keys {
            continue;
        }
        let bytes = problem.size * step;
        let mut expected = bench.bytes(&bench.initial, array, bytes).to_vec();
        for segment in segments.clone() {
            let mut part = twin.cut(segment.clone());
            (0..format.digits()).for_each(|digit| drop(part.reorder(segment.len().max(1), digit)));
            expected[segment.start * step..segment.end * step].copy_from_slice(&part.output()[i]);
        }
        let found = bench.bytes(&after, array, bytes);
        let wrong = (0..bytes).find(|byte| found[*byte] != expected[*byte]);
        assert_eq!(wrong, None, "byte of array {i}, {:?}", bench.sorts.info);
    }
    if let Some(buckets) = bench.sorts.buckets.first() {
        let mut info = BucketInfo::new(buckets);
        segments.for_each(|segment| {
            info.add_segment(segment.start as u32, &twin.cut(segment).bucket_counts(), bench.profile.max_groups_x)
        });
        // Segments beyond the count are empty.
        let none = vec![0; twin.bucket_counts().len()];
        let missing = counted..problem.offsets.len() - 1;
        missing.for_each(|_| info.add_segment(problem.offsets[counted], &none, bench.profile.max_groups_x));
        info.check(bench, &after);
    }
    assert_silence(&bench.context);
}

/// The expected bucket information of each segment: offsets, counts and commands.
struct BucketInfo {
    buckets: Buckets,
    expected: [Vec<u32>; 3],
}

impl BucketInfo {
    fn new(buckets: &Buckets) -> Self {
        Self { buckets: *buckets, expected: Default::default() }
    }

    /// `counts`: of each bucket of the next segment, then of the items without a bucket.
    fn add_segment(&mut self, first: u32, counts: &[u32], max_groups_x: u32) {
        let counts = &counts[..counts.len() - 1];
        let ends = counts.iter().scan(first, |end, count| {
            *end += count;
            Some(*end)
        });
        let groups = counts.iter().map(|count| count.div_ceil(self.buckets.command_items));
        let commands = groups.flat_map(|groups| {
            let (x, y) = crate::core::record::fold(groups, max_groups_x);
            [x, y.max(1), 1]
        });
        let words = [std::iter::once(first).chain(ends).collect(), counts.to_vec(), commands.collect::<Vec<_>>()];
        self.expected.iter_mut().zip(words).for_each(|(expected, words)| expected.extend(words));
    }

    fn check(&self, bench: &Bench, after: &[u8]) {
        let Buckets { offsets, counts, commands, .. } = self.buckets;
        for (range, expected) in [offsets, counts, commands].into_iter().zip(&self.expected) {
            assert_eq!(expected.len() as u64 * 4, range.size, "the whole range is written");
            assert_eq!(&bench.words(after, range.address, expected.len()), expected, "bucket information");
        }
    }
}

/// Lengths of segments that a workgroup sorts together, alone or not at all, in different windows and in one; and 0.
fn lengths(emulated: bool) -> Vec<usize> {
    let whole = context(emulated).device().profile().radix.keys.segments.tile() as usize;
    let tile = tile_of(emulated);
    let mut lengths: Vec<usize> = noise(1, 40).into_iter().map(|word| (word % 9) as usize).collect();
    lengths.extend([
        whole / 2,
        whole / 2 + 1,
        0,
        whole - 1,
        2,
        whole,
        whole + 1,
        3,
        5 * tile + 1,
        0,
        0,
        7,
        2 * tile.max(whole),
        1,
    ]);
    lengths
}

#[test]
fn segments_of_every_format() {
    for (i, (_, info)) in formats().into_iter().enumerate() {
        let strategy = Strategy::ALL[i % Strategy::ALL.len()];
        if always(i) || in_rotation(i) {
            prove(i % 4 == 3, info.strategy(strategy), problem(i as u64, &lengths(i % 4 == 3), None));
        }
    }
}

#[test]
fn splits_of_segments() {
    for (i, info) in segmented_splits().into_iter().enumerate() {
        let strategy = [Strategy::ReduceThenScan, Strategy::Lookback, Strategy::Ring][i % 3];
        if always(i) || in_rotation(i) {
            let lengths = lengths(i % 4 == 3);
            for count in [None, Some(lengths.len() as u32 - 2)] {
                let sorts = Sorts::splits(info.strategy(strategy));
                let problems = vec![problem(i as u64, &lengths, count)];
                follow(&Bench::of(i % 4 == 3, Way::EveryDigit, |profile| profile, sorts, problems));
            }
        }
    }
}

#[test]
fn segments_counted_on_the_device() {
    for info in [SorterInfo::pairs(), SorterInfo::keys()] {
        let lengths = lengths(false);
        for count in [0, 44, lengths.len() as u32 + 3] {
            prove(false, info.strategy(Strategy::Lookback), problem(3, &lengths, Some(count)));
        }
    }
}

/// Many items for each thread, as in measured profiles: several loads, the last one partial, and more words of segment
/// heads than one index word covers.
#[test]
fn segments_of_many_items_a_thread() {
    for (items, info) in [(32, SorterInfo::keys()), (11, SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() })] {
        let shape = |threads| SmallShape::merge(threads, items);
        let threads = context(false).device().profile().radix.keys.segments.shape.threads;
        let tune = |mut profile: Profile| {
            profile.radix.keys.segments = shape(threads);
            profile.radix.long.segments = shape(threads);
            profile
        };
        let whole = shape(threads).tile() as usize;
        let window = shape(threads).segments_window() as usize;
        // A segment that begins long before the next; segments that end at the end of a window or cross it; more
        // segments than fit together.
        let lengths =
            [3, window - 20, 40, 5, whole / 2, whole / 3, whole - 1, 2, window, whole, 1, 33, 64, whole + 1, 9];
        prove_tuned(false, tune, info.strategy(Strategy::ReduceThenScan), problem(7, &lengths, None));
    }
}

#[test]
fn segments_that_all_fit_take_one_pass() {
    let whole = context(false).device().profile().radix.keys.segments.tile() as usize;
    let info = SorterInfo { segmented: true, ..SorterInfo::keys().strategy(Strategy::Lookback) };
    let bench = Bench::new(false, Way::EveryDigit, info, vec![problem(2, &[3, whole - 20, 1], None)]);
    let config = bench.sorts.config(bench.context.device().facts(), &bench.profile);
    assert!(matches!(
        config.algorithm(bench.problems[0].size as u32),
        Algorithm::Sort(sort::Algorithm::Segments { tiles: None, .. })
    ));
    bench.with_plan(|plan, _, _| assert_eq!(plan.passes.len(), 1));
    prove(false, info, problem(2, &[3, whole - 20, 1], None));
}

/// Descending offsets, an error of the caller, make segments overlap. Even then no access is outside of the arrays.
#[test]
fn falling_offsets_stay_within_the_arrays() {
    let whole = context(false).device().profile().radix.keys.segments.tile();
    let (items, window) = (9 * whole, context(false).device().profile().radix.keys.segments.segments_window());
    let mut torn = vec![items; 41];
    (torn[0], torn[39]) = (0, window - 1);
    let swinging: Vec<u32> = (0..50).map(|i| if i % 2 == 0 { i / 2 * window } else { items }).collect();
    let drawn = noise(5, 60).into_iter().map(|word| word % (2 * items)).collect();
    let behind = vec![items + 1, u32::MAX, 3, u32::MAX, 0];
    for (i, offsets) in [vec![0, items, window, items], torn, swinging, drawn, behind].into_iter().enumerate() {
        // Segments are sorted by merging, and by digits.
        let keys = SorterInfo { key: if i % 2 == 0 { KeyType::U32 } else { KeyType::U64 }, ..SorterInfo::keys() };
        for info in [keys, SorterInfo { value: ValueType::Bytes(28), ..SorterInfo::keys() }] {
            let strategy = [Strategy::Lookback, Strategy::ReduceThenScan, Strategy::Ring][i % 3];
            let info = SorterInfo { segmented: true, ..info.strategy(strategy) };
            let problem = Problem { offsets: offsets.clone(), ..Problem::new(3, items as usize, None) };
            let bench = Bench::new(false, Way::EveryDigit, info, vec![problem]);
            bench.with_plan(|plan, memory, _| {
                plan.passes.iter().fold(memory, |memory, pass| bench.run_within(&memory, plan, pass));
            });
            assert_silence(&bench.context);
        }
    }
}
