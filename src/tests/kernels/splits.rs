//! Splits: what takes keys to buckets, and what is told of these.

use crate::Strategy;
use crate::tests::bench::{Bench, Problem, Way};
use crate::tests::contexts::{always, in_brief, in_full, in_turn, tile_of};
use crate::tests::problems::{Sorts, splits};

/// One problem and several, counted by host and device, of one bucket and of all, with strays and without.
fn split(emulated: bool, sorts: &Sorts) {
    let tile = tile_of(emulated);
    let counted = |seed, size: usize, count: usize| Problem::new(seed, size, Some(count as u32));
    let batch = vec![
        Problem { status: true, ..Problem::new(81, 5 * tile + 5, None) },
        counted(82, 8 * tile, 4 * tile - 3),
        counted(83, 2 * tile, 0),
        counted(84, 2 * tile, 2 * tile + 1).varied(0),
    ];
    for way in [Way::Direct, Way::EveryDigit] {
        for problems in [batch[..1].to_vec(), batch[1..2].to_vec(), batch.clone()] {
            Bench::of(emulated, way, |profile| profile, sorts.clone(), problems).prove();
        }
    }
}

#[test]
fn split_kernels() {
    // The first kind by each strategy, the others by one of them.
    for (i, info) in splits().into_iter().enumerate().filter(|(i, _)| always(*i) || in_turn(*i)) {
        for (turn, strategy) in [Strategy::ReduceThenScan, Strategy::Lookback, Strategy::Ring].into_iter().enumerate() {
            if in_full() || i / 3 % 3 == turn || always(i) && !in_brief() {
                split(false, &Sorts::splits(info.strategy(strategy)));
            }
        }
    }
}

#[test]
fn split_kernels_with_emulated_subgroups() {
    split(true, &Sorts::splits(splits()[0].strategy(Strategy::Lookback)));
    split(true, &Sorts::splits(splits()[2].strategy(Strategy::ReduceThenScan)));
    // Where tiles look back for all that they need to know.
    split(true, &Sorts::splits(splits()[16].strategy(Strategy::Lookback)));
}
