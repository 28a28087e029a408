//! Random batches against every pair, and how often the problems are read.

use super::{Argument, Independence, Span, Sweep};
use crate::core::memory::{NamedArguments as Arguments, Range, RangeNames};
use crate::{Error, Result};
use proptest::prelude::*;
use std::cell::Cell;

const NAMES: [&RangeNames; 3] = [
    &RangeNames { member: "keys", address: "keys.address", size: "keys.size" },
    &RangeNames { member: "values", address: "values.address", size: "values.size" },
    &RangeNames { member: "count", address: "count.address", size: "count.size" },
];

fn problem(ranges: impl IntoIterator<Item = (u64, u64, bool)>) -> Arguments {
    let named = ranges.into_iter().zip(NAMES);
    named.map(|((address, size, written), role)| Argument { role, range: Range::new(address, size), written }).collect()
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

/// The check of problems that are read one by one, through a buffer of that size.
fn check_through<const CAPACITY: usize>(count: usize, read: impl Fn(usize) -> Arguments) -> Result<()> {
    let mut check = Independence::<CAPACITY> { sweep: Sweep::new(), guess: Ok(()) };
    for argument in (0..count).flat_map(&read) {
        check.add(&argument);
    }
    check.finish(count, |index, visit: &mut dyn FnMut(Argument)| read(index).into_iter().for_each(visit))
}

fn check<const CAPACITY: usize>(batch: &[Arguments]) -> Result<()> {
    check_through::<CAPACITY>(batch.len(), |index| batch[index].clone())
}

/// Problems that do not conflict with themselves.
fn batch(addresses: u64, sizes: u64) -> impl Strategy<Value = Vec<Arguments>> {
    let range = (0..addresses, 0..sizes, prop::sample::select(vec![true, true, false]));
    let problem = prop::collection::vec(range, 1..=NAMES.len()).prop_map(|ranges| {
        let mut arguments = problem(ranges);
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
    for found in [check::<4>(batch), check::<8>(batch), check::<16>(batch), check::<1024>(batch)] {
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
        let (whose, place, offset, size, written) = planted;
        let range = whose.get(&batch)[0].range;
        let address = if at_end { range.end() } else { range.address };
        let mut batch = batch.clone();
        batch.insert(place.index(batch.len() + 1), problem([((address + offset).saturating_sub(1), size, written)]));
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
    assert_eq!(check::<8>(&[earlier.clone(), later.clone()]), overlap("values", "values"));
    assert_eq!(check::<8>(&[earlier.clone(), problem([(9, 1, true)])]), overlap("keys", "values"));
    assert_eq!(check::<8>(&[problem([(9, 1, true)]), earlier.clone()]), overlap("values", "keys"));
    // An empty range where the conflict begins is not named.
    assert_eq!(
        check::<8>(&[problem([(9, 0, true)]), earlier, problem([(20, 1, true), (9, 1, true)])]),
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
fn reads(order: &[usize], arguments: impl Fn(usize) -> Arguments) -> (usize, Result<()>) {
    let reads = Cell::new(0);
    let result = check_through::<{ super::CAPACITY }>(order.len(), |index| {
        reads.set(reads.get() + 1);
        arguments(order[index])
    });
    (reads.get(), result)
}

/// Once each where ranges fit the buffer or are in order, and otherwise once for each window.
#[test]
fn problems_are_read_few_times() {
    for count in [1000, 10_000, 100_000] {
        for (name, order) in orders(count) {
            for gap in [0, 200] {
                let (reads, result) = reads(&order, |place| pair(place, gap));
                assert_eq!(result, Ok(()), "{name} {count}");
                let windows = (2 * count + 1).div_ceil(super::CAPACITY / 2);
                let most = if count == 1000 || name != "shuffled" { count } else { count * (windows + 2) };
                assert!(reads <= most, "{count} problems, {name}, with gaps of {gap}: {reads} reads");
            }
        }
    }
}

/// Gaps that are shorter than every range are closed, so that a window has room for more of them.
#[test]
fn short_gaps_are_closed() {
    const COUNT: usize = 50_000;
    let problem_of =
        |place| problem([(place as u64 * 4240, 4040, true), ((1 << 44) + place as u64 * 4240, 4040, true)]);
    let [.., (_, order)] = orders(COUNT);
    let (reads, result) = reads(&order, problem_of);
    assert_eq!(result, Ok(()));
    assert!(reads < 2 * COUNT / (super::CAPACITY / 2) * COUNT / 2, "{reads} reads");
}

/// In large batches, too, whose first guess fails.
#[test]
fn conflicts_of_large_batches_are_named() {
    for (name, order) in orders(50_000) {
        let planted =
            |place| if place == 31_234 { problem([((1 << 44) + 17 * 4240, 8, true)]) } else { pair(place, 200) };
        let (_, result) = reads(&order, planted);
        let at = |place| order.iter().position(|other| *other == place);
        let names = if at(31_234) > at(17) { ("keys", "values") } else { ("values", "keys") };
        assert_eq!(result, Err(Error::Overlap { first: names.0, second: names.1 }), "{name}");
    }
}

/// A full buffer's stack is said in documentation.
#[test]
fn the_buffer_takes_36_kib() {
    assert!(size_of::<Independence>() <= 36 * 1024 + 128, "{}", size_of::<Span>());
}
