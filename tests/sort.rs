//! Sorts on the device that the environment selects, compared with the standard library's stable sort.
//!
//! One suite for every format and strategy, with the subgroups of the device and with emulated ones of 32, 64 and 128
//! lanes. Every test runs with every profile; its formats rotate. `TROMMEL_TEST_FULL=1` runs the whole product,
//! `TROMMEL_TEST_BRIEF=1` runs less of it, for drivers with slow pipeline creation.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

#[path = "sort/batch.rs"]
mod batch;
// Tests of recording declare this file in a macro, where rustfmt does not see it.
#[cfg(rustfmt)]
#[path = "sort/calls.rs"]
mod calls;
#[path = "sort/combinations.rs"]
mod combinations;
mod common;
#[path = "sort/contract.rs"]
mod contract;
#[path = "sort/large.rs"]
mod large;
#[path = "sort/late.rs"]
mod late;
#[path = "sort/prefixes.rs"]
mod prefixes;
#[path = "sort/problem.rs"]
mod problem;
#[path = "sort/ranks.rs"]
mod ranks;
#[path = "sort/refused.rs"]
mod refused;
#[path = "sort/results.rs"]
mod results;
#[path = "sort/segments.rs"]
mod segments;

use common::contexts::{EMULATED, Setup, assert_silence, context};
use common::harness::note;
use common::{brief, coverage, full, harness, very_brief};
use libtest_mimic::Trial;
use std::cell::OnceCell;
use std::process::ExitCode;
use trommel::host::Context;
use trommel::tuning::{ItemKind, Profile, radix, sort};
use trommel::{KeyType, Layout, Order, Placement, Sorter, SorterInfo, Strategy, ValueType};

/// One case of the product of kinds and setups.
pub(crate) struct Case {
    pub(crate) context: Context,
    pub(crate) sorter: Sorter,
    /// Another of the kinds, for tests of batches: pipelines take long on CPU drivers.
    other: OnceCell<Sorter>,
    kind: usize,
}

impl Case {
    pub(crate) fn new(setup: Setup, kind: usize) -> Self {
        Self { kind, ..Self::of(setup, &KINDS[kind]) }
    }

    pub(crate) fn of(setup: Setup, info: &SorterInfo) -> Self {
        let context = context(setup);
        let sorter = Sorter::new(context.device(), &info.batches()).expect("the profile fits the device");
        Self { sorter, other: OnceCell::new(), kind: 0, context }
    }

    pub(crate) fn other(&self) -> &Sorter {
        self.other.get_or_init(|| {
            Sorter::new(self.context.device(), &KINDS[(self.kind + 11) % KINDS.len()].batches())
                .expect("the profile fits the device")
        })
    }

    /// The shapes of radix passes, and those of sorts, that the case uses.
    pub(crate) fn shapes(&self) -> (&radix::Shapes, &sort::Shapes) {
        let (profile, info) = (self.profile(), self.sorter.info());
        let kind = ItemKind::of(info.key.bits().div_ceil(32), info.value.size());
        (&profile.radix[kind], &profile.sort[kind])
    }

    pub(crate) fn profile(&self) -> &Profile {
        self.context.device().profile()
    }

    /// The largest problem of one workgroup.
    pub(crate) fn small(&self) -> usize {
        self.shapes().1.small.last().map_or(0, |shape| shape.tile() as usize)
    }

    /// The largest problem that is ranked by all workgroups, if any.
    pub(crate) fn ranked(&self) -> Option<usize> {
        self.shapes().1.ranked.last().map(|ranked| ranked.up_to as usize)
    }

    /// Keys of some tiles, and a few more.
    pub(crate) fn tiles(&self, tiles: usize) -> usize {
        self.shapes().0.tiles.last().map_or(0, |sized| sized.shape.tile() as usize) * tiles + 37
    }
}

const fn kind(key: KeyType, order: Order, value: ValueType, placement: Placement, strategy: Strategy) -> SorterInfo {
    SorterInfo { key, order, value, placement, strategy, ..SorterInfo::keys() }
}

/// The formats. The first four are the most common ones. The others cover every type of key, every size of value, every
/// placement, layout and strategy, in combination.
pub(crate) const KINDS: [SorterInfo; 32] = {
    use KeyType::*;
    use Order::{Ascending as Up, Descending as Down};
    use Placement::{DoubleBuffer, InPlace, Preserve};
    use Strategy::{ChainedScan, Lookback, ReduceThenScan, Ring, RingInOrder};
    use ValueType::{Bytes, Index, None};
    const VALUE: ValueType = ValueType::U32;
    [
        SorterInfo::keys().strategy(Lookback),
        SorterInfo::keys().strategy(ReduceThenScan),
        SorterInfo::pairs().strategy(Lookback),
        SorterInfo::pairs().strategy(ReduceThenScan),
        kind(U64, Up, None, InPlace, Lookback),
        kind(U64, Up, VALUE, InPlace, ReduceThenScan),
        kind(F64, Down, Bytes(8), Preserve, Lookback),
        SorterInfo { end_bit: 20, ..kind(F64, Up, VALUE, InPlace, ReduceThenScan) },
        kind(I64, Up, Bytes(16), DoubleBuffer, Ring),
        kind(F32, Down, None, InPlace, ChainedScan),
        kind(F32, Up, VALUE, DoubleBuffer, RingInOrder),
        kind(I32, Up, None, Preserve, Ring),
        kind(U8, Up, None, InPlace, Lookback),
        kind(I8, Down, VALUE, InPlace, ReduceThenScan),
        kind(U16, Up, None, Preserve, RingInOrder),
        kind(I16, Down, Bytes(12), DoubleBuffer, Lookback),
        kind(F16, Up, VALUE, InPlace, ChainedScan),
        kind(Bf16, Down, None, InPlace, ReduceThenScan),
        kind(U32x2, Up, None, InPlace, ReduceThenScan),
        kind(U32x3, Up, VALUE, Preserve, Lookback),
        kind(U32x4, Down, Bytes(16), InPlace, Ring),
        // Bits that begin and end within digits, that cross words, and that end with the key.
        SorterInfo { begin_bit: 5, end_bit: 25, ..kind(U32, Down, VALUE, InPlace, Lookback) },
        SorterInfo { begin_bit: 20, ..kind(U32, Up, VALUE, DoubleBuffer, ReduceThenScan) },
        SorterInfo { begin_bit: 27, end_bit: 45, ..kind(I64, Up, VALUE, DoubleBuffer, ChainedScan) },
        SorterInfo { end_bit: 16, ..kind(U32, Up, VALUE, Preserve, Ring) },
        // Gathered values, indices, dropped keys.
        kind(U32, Up, Bytes(28), InPlace, Lookback),
        kind(F32, Down, Bytes(20), Preserve, ReduceThenScan),
        SorterInfo { strategy: ReduceThenScan, ..SorterInfo::argsort(F32) },
        SorterInfo { drop_keys: true, ..kind(U64, Up, Index, InPlace, Lookback) },
        SorterInfo { layout: Layout::Interleaved, ..kind(U32, Up, VALUE, InPlace, RingInOrder) },
        // Counts beyond 2^30, as far as addresses and look-back words go.
        SorterInfo { max_count: u32::MAX, ..kind(U32, Up, VALUE, InPlace, Lookback) },
        SorterInfo { layout: Layout::Strided, ..kind(I16, Up, Bytes(8), Preserve, Lookback) },
    ]
};

const SETUPS: [Setup; 5] =
    [Setup::Native, Setup::Folded, Setup::Emulated(32), Setup::Emulated(64), Setup::Emulated(128)];

/// The formats that a test runs with a setup: one of the first four, and another. Each test runs each setup on one of
/// the drivers that share them: subgroup sizes change how keys are ranked, not the result. (combinations.rs combines
/// every choice with every other.)
fn kinds(test: usize, setup: usize, share: Option<usize>) -> Vec<usize> {
    let column = setup.min(EMULATED_FIRST);
    let is_here = match share {
        _ if full() => return (0..KINDS.len()).collect(),
        // If pipeline creation is slow, combinations.rs covers the formats other than the first four.
        _ if brief() => {
            let one_of = if very_brief() { 4 } else { 2 };
            return if (test + setup).is_multiple_of(one_of) { vec![test % 4] } else { Vec::new() };
        }
        Some(share) => {
            let emulated = setup >= EMULATED_FIRST && SETUPS[setup] != Setup::Emulated(EMULATED[share]);
            (test + column + share).is_multiple_of(3) && !emulated
        }
        None => true,
    };
    // Steps that cover every kind, and every strategy in each setup. A test below checks this.
    if is_here { vec![(test + column) % 4, (test + 8 * column + 4) % KINDS.len()] } else { Vec::new() }
}

/// Setups from here on have emulated subgroups.
const EMULATED_FIRST: usize = 2;

fn run(setup: Setup, kinds: Vec<usize>, body: fn(&Case)) {
    for kind in kinds {
        let case = Case::new(setup, kind);
        note(format!("{} {:?} {:?}", case.context.name(), setup, case.sorter.info()));
        body(&case);
        assert_silence(&case.context);
    }
}

macro_rules! suite {
    ($($file:ident :: $test:ident,)*) => {
        /// Tests that run with each setup.
        const TESTS: &[(&str, fn(&Case))] = &[$((stringify!($test), $file::$test)),*];
    };
}

suite! {
    results::sizes,
    results::distributions,
    results::random_sorts,
    results::poisoned_scratch,
    results::twenty_runs,
    contract::counts_on_the_device,
    contract::a_stranger_between,
    contract::secondary_command_buffer,
    contract::timestamps,
    batch::mixed,
    batch::many_tiny,
    batch::random_batches,
}

/// The tests of the suite in this driver's share.
fn suite() -> Vec<Trial> {
    let share = common::contexts::share();
    let cells =
        SETUPS.into_iter().enumerate().flat_map(|setup| TESTS.iter().enumerate().map(move |test| (setup, test)));
    let here = cells.map(|((s, setup), (t, (name, body)))| (setup, *name, kinds(t, s, share), *body));
    let here = here.filter(|(.., kinds, _)| !kinds.is_empty());
    here.map(|(setup, name, kinds, body)| {
        harness::test(format!("{}::{name}", setup.name()), move || run(setup, kinds, body))
    })
    .collect()
}

fn main() -> ExitCode {
    // The longest tests first.
    let mut tests = Vec::from(combinations::tests());
    tests.extend(suite());
    tests.extend(harness::tests![
        segments::segments_of_all_sizes,
        segments::segments_of_one_size,
        segments::segments_counted_on_the_device,
        segments::segments_that_are_mostly_empty,
        segments::segments_in_a_batch,
        segments::random_segments,
        segments::a_stranger_between_segments,
        segments::more_segments_than_two_steps_of_the_search_distinguish,
        segments::segments_are_the_same_each_time,
        results::more_tiles_than_groups_that_count,
        segments::segments_whose_tiles_are_late,
        results::few_of_the_largest_values,
        ranks::every_kind_is_ranked,
        late::no_waiting_at_all,
        late::waiting_for_two_polls,
        late::waiting_for_long,
        batch::more_kinds_than_a_group_takes,
        batch::more_workgroups_than_65535,
        prefixes::long_keys_by_prefixes,
        refused::one_sort,
        refused::many_sorts,
        refused::what_is_not_needed_may_be_missing,
        refused::devices_come_and_go,
        refused::the_layer_listens,
    ]);
    if full() {
        tests.extend(harness::tests![large::more_workgroups_than_one_dimension_has]);
    }
    // Tests that need no driver run together with those of one driver.
    if !brief() && matches!(common::contexts::share(), None | Some(1)) {
        tests.extend(harness::tests![
            every_axis_is_covered,
            combinations::drivers_share_all_combinations,
            coverage::tables_leave_nothing_out,
        ]);
    }
    harness::run(tests, || coverage::prove("sort", include_str!("sort/coverage.txt")))
}

fn every_axis_is_covered() {
    let cells: Vec<_> = (0..TESTS.len()).flat_map(|t| (0..SETUPS.len()).map(move |s| (t, s))).collect();
    let here = |share| {
        cells
            .iter()
            .flat_map(move |(t, s)| kinds(*t, *s, Some(share)).into_iter().map(move |kind| (*t, *s, KINDS[kind])))
    };
    for (share, lanes) in EMULATED.into_iter().enumerate() {
        for (test, name) in TESTS.iter().map(|(name, _)| name).enumerate() {
            assert!(here(share).any(|r| r.0 == test), "{name}, where emulated subgroups have {lanes} lanes");
        }
    }
    let runs: Vec<_> =
        (0..EMULATED.len()).flat_map(here).map(|(t, s, info)| (t, s.min(EMULATED_FIRST), info)).collect();
    for info in KINDS {
        assert!(runs.iter().any(|r| r.2 == info), "{info:?}");
    }
    for strategy in Strategy::ALL {
        for (index, setup) in SETUPS.iter().enumerate().take(EMULATED_FIRST + 1) {
            assert!(runs.iter().any(|r| r.1 == index && r.2.strategy == strategy), "{setup:?} by {strategy:?}");
        }
    }
    for (test, name) in TESTS.iter().map(|(name, _)| name).enumerate() {
        assert!(runs.iter().any(|r| r.0 == test && r.2.strategy == Strategy::ReduceThenScan), "{name} without waiting");
        assert!(runs.iter().any(|r| r.0 == test && r.2.strategy != Strategy::ReduceThenScan), "{name} with waiting");
        assert!(runs.iter().any(|r| r.0 == test && r.2.value == ValueType::None), "{name} of keys alone");
        assert!(runs.iter().any(|r| r.0 == test && r.2.value != ValueType::None), "{name} of values");
        assert!(runs.iter().any(|r| r.0 == test && r.2.key.bits() != 32), "{name} of keys that are not words");
    }
    for key in KeyType::ALL {
        assert!(KINDS.iter().any(|info| info.key == key), "{key:?}");
    }
}
