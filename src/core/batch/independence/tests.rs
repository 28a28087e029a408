//! Random batches against every pair, and how often the problems are read.

use super::{Argument, Independence, STACK_SPANS, Span, with_buffer};
use crate::core::check_memory::{CheckMemory, DEVICE_SPANS};
use crate::core::memory::{Access, MAX_NAMED, NamedArguments as Arguments, Range, RangeNames};
use crate::{Error, Result};
use proptest::prelude::*;
use std::cell::Cell;

use Access::{Read, Shared, Write};

const NAMES: [&RangeNames; 3] = [
    &RangeNames { member: "keys", address: "keys.address", size: "keys.size" },
    &RangeNames { member: "values", address: "values.address", size: "values.size" },
    &RangeNames { member: "count", address: "count.address", size: "count.size" },
];

fn problem(ranges: impl IntoIterator<Item = (u64, u64, bool)>) -> Arguments {
    problem_with(ranges.into_iter().map(|(address, size, written)| (address, size, Access::writing(written))))
}

fn problem_with(ranges: impl IntoIterator<Item = (u64, u64, Access)>) -> Arguments {
    let named = ranges.into_iter().zip(NAMES);
    named.map(|((address, size, access), role)| Argument { role, range: Range::new(address, size), access }).collect()
}

fn conflict(arguments: &Arguments, others: &Arguments) -> bool {
    arguments.iter().any(|argument| others.iter().any(|other| argument.conflicts(other)))
}

/// Conflicts that the check may name, of all pairs of problems.
fn conflicts(batch: &[Arguments]) -> Vec<Error> {
    let pairs = (0..batch.len()).flat_map(|later| (0..later).map(move |earlier| (&batch[later], &batch[earlier])));
    let named =
        pairs.flat_map(|(later, earlier)| later.iter().flat_map(|mine| earlier.iter().map(move |their| (mine, their))));
    let found = named.filter(|(mine, their)| mine.conflicts(their));
    found.map(|(mine, their)| Error::Overlap { first: mine.name(), second: their.name() }).collect()
}

/// The check of problems that are read one by one, through a buffer of that many spans.
fn check_through(capacity: usize, count: usize, read: impl Fn(usize) -> Arguments) -> Result<()> {
    // A buffer's contents are those of an earlier check.
    check_in(&mut vec![Span::new(7, 9, true); capacity], count, read)
}

fn check_in(buffer: &mut [Span], count: usize, read: impl Fn(usize) -> Arguments) -> Result<()> {
    let mut check = Independence::new(buffer);
    for argument in (0..count).flat_map(&read) {
        check.add(&argument);
    }
    check.finish(count, |index, visit: &mut dyn FnMut(Argument)| read(index).into_iter().for_each(visit))
}

fn check(capacity: usize, batch: &[Arguments]) -> Result<()> {
    check_through(capacity, batch.len(), |index| batch[index].clone())
}

/// Problems that do not conflict with themselves.
fn batch(addresses: u64, sizes: u64) -> impl Strategy<Value = Vec<Arguments>> {
    let range = (0..addresses, 0..sizes, prop::sample::select(vec![Write, Write, Read, Shared]));
    let problem = prop::collection::vec(range, 1..=NAMES.len()).prop_map(|ranges| {
        // Few ranges are shared, so that several problems have the same one.
        let range = |(address, size, access)| match access {
            Shared => (address % 8, 2, access),
            _ => (address, size, access),
        };
        let mut arguments = problem_with(ranges.into_iter().map(range));
        for place in (1..arguments.len()).rev() {
            if arguments[..place].iter().any(|other| other.conflicts(&arguments[place])) {
                arguments.remove(place);
            }
        }
        arguments
    });
    prop::collection::vec(problem, 0..40)
}

/// The same less every problem that conflicts with an earlier one: independent, with gaps of all sizes.
fn without_conflicts(batch: Vec<Arguments>) -> Vec<Arguments> {
    batch.into_iter().fold(Vec::new(), |mut kept, arguments| {
        if !kept.iter().any(|other| conflict(&arguments, other)) {
            kept.push(arguments);
        }
        kept
    })
}

fn assert_right(batch: &[Arguments]) {
    let expected = conflicts(batch);
    for found in [4, 8, 16, 1024, STACK_SPANS].map(|capacity| check(capacity, batch)) {
        match found {
            Ok(()) => assert!(expected.is_empty(), "{expected:?} in {batch:?}"),
            Err(error) => assert!(expected.contains(&error), "{error:?} is none of {expected:?}: {batch:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conflicts_are_found_as_by_every_pair(batch in prop_oneof![batch(60, 9), batch(2000, 9), batch(3000, 400)]) {
        assert_right(&batch);
    }

    /// One range more at an edge of another one, or one byte beside it.
    #[test]
    fn independent_batches_pass_and_planted_conflicts_do_not(
        batch in batch(4000, 60).prop_map(without_conflicts),
        planted in (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3u64, 1..4u64, any::<bool>()),
        at_end in any::<bool>(),
    ) {
        assert_right(&batch);
        if batch.is_empty() {
            return Ok(());
        }
        let (problem_index, index, offset, size, written) = planted;
        let range = problem_index.get(&batch)[0].range;
        let address = if at_end { range.end() } else { range.address };
        let mut batch = batch.clone();
        batch.insert(index.index(batch.len() + 1), problem([((address + offset).saturating_sub(1), size, written)]));
        assert_right(&batch);
    }
}

/// Addresses at both ends, a range of all bytes, and none of any.
#[test]
fn extreme_ranges() {
    let everything = problem([(1, u64::MAX - 1, true)]);
    let last = problem([(u64::MAX - 4, 4, true)]);
    let first = problem([(0, 1, true), (0, 0, true)]);
    assert_right(&[everything.clone(), last.clone()]);
    assert_right(&[everything.clone(), first.clone()]);
    assert_right(&[last, first, problem([(100, 0, true)]), problem([(100, 0, true)])]);
    assert_right(&[]);
    // What all problems read is one range, however many they are; one that is written among them is found.
    let mut shared = vec![problem([(100, 50, false)]); 100];
    assert_right(&shared);
    shared.insert(50, problem([(149, 1, true)]));
    assert_right(&shared);
    shared[50] = problem([(150, 1, true)]);
    assert_right(&shared);
}

/// Gaps as long as the smallest range, which later ranges fill.
#[test]
fn gaps_are_filled() {
    for size in 1..6 {
        let range = |place: u64| problem([(place * size, size, true)]);
        let batch: Vec<Arguments> = (0..40).step_by(2).chain((1..40).step_by(2)).map(range).collect();
        assert_right(&batch);
        // One byte less than a range takes.
        let narrow = |place: u64| problem([(place * (2 * size - 1), size, true)]);
        assert_right(&(0..40).rev().map(narrow).collect::<Vec<_>>());
    }
}

/// The later problem's argument is named first, and of several that conflict the first.
#[test]
fn messages_name_both_arguments() {
    let earlier = problem([(0, 4, false), (8, 4, true)]);
    let later = problem([(20, 4, true), (11, 2, false)]);
    let overlap = |first, second| Err(Error::Overlap { first, second });
    assert_eq!(check(8, &[earlier.clone(), later.clone()]), overlap("values", "values"));
    assert_eq!(check(8, &[earlier.clone(), problem([(9, 1, true)])]), overlap("keys", "values"));
    assert_eq!(check(8, &[problem([(9, 1, true)]), earlier.clone()]), overlap("values", "keys"));
    // An empty range where the conflict begins is not named.
    assert_eq!(
        check(8, &[problem([(9, 0, true)]), earlier, problem([(20, 1, true), (9, 1, true)])]),
        overlap("values", "values")
    );
}

fn shuffle(order: &mut [usize]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for place in (1..order.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        order.swap(place, (state >> 33) as usize % (place + 1));
    }
}

/// Orders of so many problems, by name.
fn orders(count: usize) -> [(&'static str, Vec<usize>); 5] {
    let rising: Vec<usize> = (0..count).collect();
    let falling = rising.iter().rev().copied().collect();
    let interleaved = (0..count).map(|place| place / 2 + place % 2 * (count / 2)).collect();
    let (mut swapped, mut shuffled) = (rising.clone(), rising.clone());
    swapped.swap(count / 2, count / 2 + 1);
    shuffle(&mut shuffled);
    [
        ("rising", rising),
        ("falling", falling),
        ("interleaved", interleaved),
        ("swapped", swapped),
        ("shuffled", shuffled),
    ]
}

/// Keys and values in a buffer each, with gaps or without, and what all problems read.
fn pair(place: usize, gap: u64) -> Arguments {
    let size = 40 + place as u64 * 7919 % 4000;
    let address = (place as u64) * (4040 + gap);
    // Without gaps, all have the same size.
    let size = if gap == 0 { 4040 } else { size };
    problem([((1 << 40) + address, size, true), ((1 << 44) + address, size, true), (1 << 20, 4, false)])
}

/// Reads of problems that a check takes.
fn reads(capacity: usize, order: &[usize], arguments: impl Fn(usize) -> Arguments) -> (usize, Result<()>) {
    let reads = Cell::new(0);
    let result = check_through(capacity, order.len(), |index| {
        reads.set(reads.get() + 1);
        arguments(order[index])
    });
    (reads.get(), result)
}

/// Most windows for as many ranges.
fn most_windows(capacity: usize, ranges: usize) -> usize {
    ranges.div_ceil(capacity / 4 * 3)
}

/// Once each where ranges fit the buffer or are in order, and otherwise once for each window.
#[test]
fn problems_are_read_few_times() {
    for count in [1000, 10_000, 100_000] {
        for (name, order) in orders(count) {
            for gap in [0, 200] {
                for capacity in [STACK_SPANS, DEVICE_SPANS] {
                    let (reads, result) = reads(capacity, &order, |place| pair(place, gap));
                    assert_eq!(result, Ok(()), "{name} {count}");
                    let ranges = 2 * count + 1;
                    let is_one_pass = ranges <= capacity || name != "shuffled";
                    let most = if is_one_pass { count } else { count * (most_windows(capacity, ranges) + 1) };
                    assert!(reads <= most, "{count} problems, {name}, with gaps of {gap}: {reads} reads");
                }
            }
        }
    }
}

/// Six times as many ranges as the buffer holds are read fewer than log n times in any order. The largest batch has as
/// many times what the device's memory holds.
#[test]
fn the_largest_batches_take_n_log_n() {
    const CAPACITY: usize = 1 << 14;
    const COUNT: usize = 3 * CAPACITY;
    for (name, order) in orders(COUNT) {
        // Longer gaps than some ranges.
        let (reads, result) = reads(CAPACITY, &order, |place| pair(place, 200));
        assert_eq!(result, Ok(()), "{name}");
        assert!(reads <= 9 * COUNT && 9 < COUNT.ilog2(), "{name}: {reads} reads");
    }
}

/// Gaps that are shorter than every range are closed, so that a window has room for more of them.
#[test]
fn short_gaps_are_closed() {
    const COUNT: usize = 50_000;
    let problem_of =
        |place| problem([(place as u64 * 4240, 4040, true), ((1 << 44) + place as u64 * 4240, 4040, true)]);
    let [.., (_, order)] = orders(COUNT);
    let (reads, result) = reads(STACK_SPANS, &order, problem_of);
    assert_eq!(result, Ok(()));
    assert!(reads < most_windows(STACK_SPANS, 2 * COUNT) * COUNT / 2, "{reads} reads");
}

/// In large batches, too, whose first guess fails.
#[test]
fn conflicts_of_large_batches_are_named() {
    for (name, order) in orders(50_000) {
        let planted =
            |place| if place == 31_234 { problem([((1 << 44) + 17 * 4240, 8, true)]) } else { pair(place, 200) };
        for capacity in [STACK_SPANS, DEVICE_SPANS] {
            let (_, result) = reads(capacity, &order, planted);
            let at = |place| order.iter().position(|other| *other == place);
            let names = if at(31_234) > at(17) { ("keys", "values") } else { ("values", "keys") };
            assert_eq!(result, Err(Error::Overlap { first: names.0, second: names.1 }), "{name}");
        }
    }
}

/// Of several conflicts, the lowest one is named, whatever the buffer holds.
#[test]
fn every_buffer_finds_the_same_conflict() {
    for (name, order) in orders(10_000) {
        let planted = |place| match place {
            // With values of the same address, with keys of higher ones.
            1234 => problem([((1 << 44) + 700 * 4240, 8, true)]),
            4567 => problem([(0, 0, true), (0, 0, true), ((1 << 40) + 800 * 4240, 8, true)]),
            place => pair(place, 200),
        };
        let (_, expected) = reads(DEVICE_SPANS, &order, planted);
        assert!(matches!(expected, Err(Error::Overlap { first, second }) if [first, second].contains(&"count")));
        for capacity in [4, 100, STACK_SPANS, 1 << 14] {
            assert_eq!(reads(capacity, &order, planted).1, expected, "{name}, {capacity} spans");
        }
    }
}

/// Two threads check at once, and the second one has the buffer on its stack. A small batch always has that.
#[test]
fn one_thread_at_a_time_has_the_memory_of_the_device() {
    const COUNT: usize = 10_000;
    let [.., (_, order)] = orders(COUNT);
    let overlapping = |place| if place == 77 { pair(78, 200) } else { pair(place, 200) };
    let in_memory = |memory: &CheckMemory, expected: usize, meanwhile: &dyn Fn()| {
        with_buffer(memory, COUNT, |buffer| {
            assert_eq!(buffer.len(), expected);
            meanwhile();
            assert_eq!(check_in(buffer, COUNT, |index| pair(order[index], 200)), Ok(()));
            let refused = check_in(buffer, COUNT, |index| overlapping(order[index]));
            assert_eq!(refused, Err(Error::Overlap { first: "keys", second: "keys" }));
        });
    };
    let memory = CheckMemory::default();
    in_memory(&memory, STACK_SPANS, &|| ());
    memory.allocate();
    in_memory(&memory, DEVICE_SPANS, &|| {
        std::thread::scope(|scope| {
            scope.spawn(|| in_memory(&memory, STACK_SPANS, &|| ()));
        });
        with_buffer(&memory, 3, |buffer| assert_eq!(buffer.len(), 3 * MAX_NAMED));
    });
    with_buffer(&memory, 3, |buffer| assert_eq!(buffer.len(), 3 * MAX_NAMED));
    in_memory(&memory, DEVICE_SPANS, &|| ());
    // A thread that panics leaves the memory to others.
    let panics = std::panic::catch_unwind(|| with_buffer(&memory, COUNT, |_| panic!("on purpose")));
    assert!(panics.is_err());
    in_memory(&memory, DEVICE_SPANS, &|| ());
}

/// A full buffer's stack is said in documentation.
#[test]
fn the_buffer_takes_36_kib() {
    let taken = STACK_SPANS * size_of::<Span>() + size_of::<Independence<'_>>();
    assert!(taken <= 36 * 1024 + 128, "{taken}");
}
