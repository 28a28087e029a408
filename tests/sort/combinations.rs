//! Any two choices of sorter parameters occur together in a format that is sorted on one of the drivers. Each driver
//! covers every single choice.

use crate::Case;
use crate::common::arena::{Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence, is_shared_here};
use crate::common::harness::{self, note};
use crate::common::items::Counted;
use crate::common::keys::{Keys, Random};
use crate::common::{brief, full};
use crate::problem::Job;
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use trommel::{KeyType, Layout, Order, Placement, SorterInfo, Strategy, ValueType};

/// Number of choices of each axis.
const AXES: [usize; 8] = [KeyType::ALL.len(), 2, RANGES, VALUES.len(), 3, 3, Strategy::ALL.len(), 2];
/// All bits, the upper ones, the lower ones, and some in between.
const RANGES: usize = 4;
const VALUES: [ValueType; 7] = [
    ValueType::None,
    ValueType::U32,
    ValueType::Bytes(8),
    ValueType::Bytes(12),
    ValueType::Bytes(16),
    ValueType::Bytes(28),
    ValueType::Index,
];

/// A choice for each axis.
type Row = [usize; AXES.len()];
/// Two axes and a choice on each.
type Pair = [(usize, usize); 2];

fn info(row: Row) -> Option<SorterInfo> {
    let [key, order, range, value, placement, layout, strategy, more] = row;
    let key = KeyType::ALL[key];
    let (begin_bit, end_bit) =
        [(0, 0), (key.bits() * 3 / 5, key.bits()), (0, key.bits() / 2 + 1), (3, key.bits() - 2)][range];
    let info = SorterInfo {
        key,
        order: [Order::Ascending, Order::Descending][order],
        begin_bit,
        end_bit,
        value: VALUES[value],
        placement: [Placement::InPlace, Placement::Preserve, Placement::DoubleBuffer][placement],
        layout: [Layout::Separate, Layout::Interleaved, Layout::Strided][layout],
        strategy: Strategy::ALL[strategy],
        // Values alone if the format has values, otherwise counts beyond 2^30.
        drop_keys: more == 1 && VALUES[value] != ValueType::None,
        max_count: if more == 1 && VALUES[value] == ValueType::None { u32::MAX } else { 0 },
        ..SorterInfo::keys()
    };
    info.check().is_ok().then_some(info)
}

fn pairs(row: Row) -> impl Iterator<Item = Pair> {
    (0..row.len()).flat_map(move |a| (a + 1..row.len()).map(move |b| [(a, row[a]), (b, row[b])]))
}

/// Every valid row.
fn product() -> impl Iterator<Item = Row> {
    (0..AXES.iter().product()).map(|mut index: usize| {
        AXES.map(|choices| {
            let choice = index % choices;
            index /= choices;
            choice
        })
    })
}

/// Rows that cover all valid pairs of choices. Greedy: of a few random rows, the one with the most new pairs is added.
fn draw_rows() -> Vec<Row> {
    let valid: Vec<Row> = product().filter(|row| info(*row).is_some()).collect();
    let mut missing: BTreeSet<Pair> = valid.iter().flat_map(|row| pairs(*row)).collect();
    let mut random = Random::new(51);
    let mut rows = Vec::new();
    while let Some(wanted) = missing.first() {
        let has_both = |row: &&Row| wanted.iter().all(|(axis, choice)| row[*axis] == *choice);
        let candidates: Vec<&Row> = valid.iter().filter(has_both).collect();
        let drawn = (0..30).map(|_| *candidates[random.below(candidates.len() as u32) as usize]);
        let best = drawn.max_by_key(|row| pairs(*row).filter(|pair| missing.contains(pair)).count());
        let best = best.expect("thirty have been drawn");
        missing = &missing - &pairs(best).collect();
        rows.push(best);
    }
    rows
}

/// The rows, computed once.
fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(draw_rows)
}

/// The drivers share the rows. Drivers with slow pipeline creation cover every single choice.
fn is_mine(index: usize) -> bool {
    full() || !brief() && is_shared_here(index)
}

/// The rows of this driver, and further rows until every choice is covered.
fn rows_here(rows: &[Row], mine: impl Fn(usize) -> bool) -> Vec<Row> {
    let mut here: Vec<Row> = rows.iter().enumerate().filter(|(index, _)| mine(*index)).map(|(_, row)| *row).collect();
    let mut met: BTreeSet<(usize, usize)> = here.iter().flat_map(|row| row.iter().copied().enumerate()).collect();
    for row in rows {
        if !row.iter().copied().enumerate().all(|choice| met.contains(&choice)) {
            met.extend(row.iter().copied().enumerate());
            here.push(*row);
        }
    }
    here
}

/// Parts that run concurrently. Each has one setup, and runs its jobs as a batch or one by one.
const PARTS: usize = 4;

/// Covers any two choices, in one test for each part.
pub(crate) fn tests() -> [Trial; PARTS] {
    std::array::from_fn(|part| {
        harness::test(format!("combinations::any_two_choices_meet_{part}"), move || any_two_choices_meet(part))
    })
}

fn any_two_choices_meet(part: usize) {
    for (index, row) in rows_here(rows(), is_mine).into_iter().enumerate().filter(|(index, _)| index % PARTS == part) {
        let info = info(row).expect("rows are valid");
        // With the built-in profile, and with tiny tiles and a tiny ring.
        let case = Case::of([Setup::Native, Setup::Folded][index % 2], &info);
        note(format!("{} {info:?}", case.context.name()));
        let keys = Keys::ALL[index % Keys::ALL.len()];
        let tiled = case.tiles(5);
        let jobs = [
            Job::draw(&case.sorter, keys, tiled, index as u64),
            Job::draw(&case.sorter, Keys::Random, tiled, index as u64 + 1).counted(Counted::Device(tiled as u32 - 9)),
            Job::draw(&case.sorter, keys, case.small() - 1, index as u64 + 2),
        ];
        run_and_check(
            &case.context,
            &jobs,
            [Together::Singles, Together::Batch][index / 2 % 2],
            Poison::Random(index as u64),
        );
        assert_silence(&case.context);
    }
}

pub(crate) fn drivers_share_all_combinations() {
    let rows = rows();
    let all = |rows: &[Row]| rows.iter().flat_map(|row| pairs(*row)).collect::<BTreeSet<_>>();
    let valid = product().filter(|row| info(*row).is_some());
    assert_eq!(all(rows), valid.flat_map(pairs).collect(), "every pair that there can be");
    let shares = [0, 1, 2].map(|share| rows_here(rows, |index| index % 3 == share));
    assert_eq!(all(&shares.concat()), all(rows), "shared out");
    let choices = |rows: &[Row]| rows.iter().flat_map(|row| row.iter().copied().enumerate()).collect::<BTreeSet<_>>();
    for share in shares.iter().map(Vec::as_slice).chain([rows_here(rows, |_| false).as_slice()]) {
        assert_eq!(choices(share), choices(rows), "every choice on every driver");
    }
}
