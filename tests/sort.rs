//! Sorts on the device that the environment selects, against the standard library's.
//!
//! One suite for keys and pairs, both strategies, and subgroups as the device has them and emulated ones of 32, 64 and 128
//! lanes. Every test runs with every profile; which keys and strategies it takes there rotates, so that every pair of axes is
//! covered. `TROMMEL_TEST_FULL=1` runs the whole product.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

#[path = "sort/batch.rs"]
mod batch;
mod common;
#[path = "sort/contract.rs"]
mod contract;
#[path = "sort/late.rs"]
mod late;
#[path = "sort/refused.rs"]
mod refused;
#[path = "sort/results.rs"]
mod results;

use common::contexts::{Setup, assert_silence, context};
use trommel::host::Context;
use trommel::tuning::{Profile, SortShapes};
use trommel::{Sorter, SorterInfo, Strategy};

/// One cell of the product.
pub(crate) struct Case {
    pub(crate) context: Context,
    pub(crate) sorter: Sorter,
    /// The other keys by the other strategy.
    pub(crate) other: Sorter,
}

impl Case {
    pub(crate) fn new(setup: Setup, kind: usize) -> Self {
        let context = context(setup);
        let sorter = |kind: usize| Sorter::new(context.device(), &KINDS[kind]).expect("the profile fits the device");
        Self { sorter: sorter(kind), other: sorter(KINDS.len() - 1 - kind), context }
    }

    pub(crate) fn shapes(&self) -> &SortShapes {
        let profile = self.profile();
        if self.sorter.info().value == trommel::ValueType::None { &profile.sort_keys } else { &profile.sort_pairs }
    }

    pub(crate) fn profile(&self) -> &Profile {
        self.context.device().profile()
    }

    /// The largest problem of one workgroup.
    pub(crate) fn small(&self) -> usize {
        self.shapes().small.last().map_or(0, |shape| shape.tile() as usize)
    }

    /// Keys of some tiles, and a few more.
    pub(crate) fn tiles(&self, tiles: usize) -> usize {
        self.shapes().tiles.last().map_or(0, |sized| sized.shape.tile() as usize) * tiles + 37
    }
}

pub(crate) const KINDS: [SorterInfo; 4] = [
    SorterInfo::keys().strategy(Strategy::Lookback),
    SorterInfo::keys().strategy(Strategy::ReduceThenScan),
    SorterInfo::pairs().strategy(Strategy::Lookback),
    SorterInfo::pairs().strategy(Strategy::ReduceThenScan),
];

const SETUPS: [Setup; 5] = [Setup::Native, Setup::Folded, Setup::Emulated(32), Setup::Emulated(64), Setup::Emulated(128)];

/// The kinds that a test runs with a setup.
fn kinds(test: usize, setup: usize) -> Vec<usize> {
    if common::full() { (0..KINDS.len()).collect() } else { vec![(test + setup) % KINDS.len()] }
}

fn run(test: &str, setup: Setup, body: fn(&Case)) {
    let test = TESTS.iter().position(|known| *known == test).expect("the macro lists it");
    let place = SETUPS.iter().position(|known| *known == setup).expect("the macro lists it");
    for kind in kinds(test, place) {
        let case = Case::new(setup, kind);
        println!("{} {:?} {:?}", case.context.name(), setup, case.sorter.info());
        body(&case);
        assert_silence(&case.context);
    }
}

macro_rules! suite {
    ($($file:ident :: $test:ident,)*) => {
        const TESTS: &[&str] = &[$(stringify!($test)),*];
        suite!(@setup native, Setup::Native, $($file::$test)*);
        suite!(@setup folded, Setup::Folded, $($file::$test)*);
        suite!(@setup emulated_32, Setup::Emulated(32), $($file::$test)*);
        suite!(@setup emulated_64, Setup::Emulated(64), $($file::$test)*);
        suite!(@setup emulated_128, Setup::Emulated(128), $($file::$test)*);
    };
    (@setup $module:ident, $setup:expr, $($file:ident :: $test:ident)*) => {
        mod $module {
            use super::*;
            $(#[test]
            fn $test() {
                run(stringify!($test), $setup, $file::$test);
            })*
        }
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

#[test]
fn every_pair_of_axes_is_covered() {
    let cells: Vec<_> = (0..TESTS.len()).flat_map(|t| (0..SETUPS.len()).map(move |s| (t, s))).collect();
    let runs: Vec<_> = cells.iter().flat_map(|(t, s)| kinds(*t, *s).into_iter().map(|kind| (*t, *s, KINDS[kind]))).collect();
    for info in KINDS {
        for (test, name) in TESTS.iter().enumerate() {
            assert!(runs.iter().any(|r| r.0 == test && r.2.value == info.value), "{name} with {:?}", info.value);
            assert!(runs.iter().any(|r| r.0 == test && r.2.strategy == info.strategy), "{name} by {:?}", info.strategy);
        }
        for (place, setup) in SETUPS.iter().enumerate() {
            assert!(runs.iter().any(|r| r.1 == place && r.2 == info), "{setup:?} with {info:?}");
        }
    }
}
