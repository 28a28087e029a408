//! Splits: bucket functions and bucket information.

use crate::core::tests::selection::{always, in_brief, in_full};
use crate::radix::tests::bench::{Bench, Problem, Way};
use crate::radix::tests::contexts::{context, in_rotation, tile_of};
use crate::radix::tests::problems::{Sorts, splits};
use crate::{SplitMethod, Strategy};

/// Splits one problem and several: host and device counts, items of one bucket and of all, with and without items that
/// have no bucket.
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
    for (i, info) in splits().into_iter().enumerate().filter(|(i, _)| always(*i) || in_rotation(*i)) {
        for (share, strategy) in [Strategy::ReduceThenScan, Strategy::Lookback, Strategy::Ring].into_iter().enumerate()
        {
            if in_full() || i / 3 % 3 == share || always(i) && !in_brief() {
                split(false, &Sorts::splits(info.strategy(strategy)));
            }
        }
    }
}

/// Splits in a single dispatch, in which each workgroup counts all items: one problem, one with a device count, several
/// problems, and no items.
fn split_single_dispatch(emulated: bool, sorts: &Sorts) {
    let threads = context(emulated).device().profile().plain_threads as usize;
    let batch = vec![
        Problem { status: true, ..Problem::new(85, 3 * threads + 5, None) },
        Problem::new(86, 4 * threads, Some(2 * threads as u32 - 3)),
        Problem::new(87, 2 * threads, Some(0)),
        Problem::new(88, threads - 1, Some(u32::MAX)).varied(0),
    ];
    // A problem alone may have more tiles.
    let many = Problem { status: true, ..Problem::new(89, 11 * threads + 5, None) };
    let nothing = Problem::new(90, 0, Some(3));
    for problems in [vec![many], batch[1..2].to_vec(), batch, vec![nothing.clone(), nothing]] {
        Bench::of(emulated, Way::SingleDispatch, |profile| profile, sorts.clone(), problems).prove();
    }
}

#[test]
fn splits_of_few_items() {
    let of_one_digit =
        splits().into_iter().filter(|split| split.buckets <= 256 && split.method == SplitMethod::default());
    for (_, info) in of_one_digit.enumerate().filter(|(i, _)| always(*i) || in_rotation(*i)) {
        split_single_dispatch(false, &Sorts::splits(info.strategy(Strategy::ReduceThenScan)));
    }
    split_single_dispatch(true, &Sorts::splits(splits()[1].strategy(Strategy::Lookback)));
}

#[test]
fn split_kernels_with_emulated_subgroups() {
    split(true, &Sorts::splits(splits()[0].strategy(Strategy::Lookback)));
    split(true, &Sorts::splits(splits()[2].strategy(Strategy::ReduceThenScan)));
    // A placed split has no counting pass: tiles get all counts by look-back.
    split(true, &Sorts::splits(splits()[16].strategy(Strategy::Lookback)));
}
