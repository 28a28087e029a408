//! The insertion of all items of a table into another one.

use crate::common::contexts::{Setup, context, is_shared_here};
use crate::common::keys::Random;
use crate::common::very_brief;
use crate::results::{draw, exercise};
use crate::table::{Batch, SLICE, Table, Types};
use trommel::HashOperation;

use HashOperation::{Erase, Insert};

/// A table that has been filled by random batches. Some of its slots are those of erased keys.
fn filled(table: &mut Table<'_>, keys: u32) {
    let (types, mut random) = (table.types, Random::new(keys.into()));
    let left = table.apply(&Batch::new(Insert, types, draw(types, keys, keys, &mut random), &mut random));
    assert!(left.is_empty(), "{} items are left over", left.len());
    table.apply(&Batch::new(Erase, types, draw(types, keys / 4, keys, &mut random), &mut random));
}

/// Tables of every kind, into larger, equal and smaller ones. The drivers share the formats.
pub(crate) fn every_format() {
    let context = context(Setup::Native);
    let is_here = |i: usize, types: Types| types.is_here() && (!very_brief() || i < 3);
    for (i, types) in Types::ALL.into_iter().enumerate().filter(|(i, types)| is_here(*i, *types)) {
        for types in types.of_each_kind() {
            let (capacity, max_capacity) = [(1500, 1 << 18), (2048, 0), (700, 0)][i / 3];
            let mut table = Table::new(&context, types, capacity, max_capacity);
            filled(&mut table, 900);
            let all = types.keys_of(0..900);
            let most = table.model.len() as u32;
            let others = if very_brief() { &[5000][..] } else { &[5000, capacity, 1024] };
            for capacity in others {
                // More keys than there are do not matter.
                let (mut other, left) = table.rehashed(*capacity, most + capacity % 3);
                assert!(left.is_empty(), "{} items are left over", left.len());
                assert_eq!(other.model.sorted(), table.model.sorted());
                other.check(&all);
                exercise(&mut other, 3, 300, 900, i as u64);
            }
            table.check(&all);
        }
    }
}

/// A table without room for all items has as many as fit, and the others are left over. The drivers share the kinds.
pub(crate) fn too_small() {
    let context = context(Setup::Native);
    let kinds = [Types::PAIRS, Types::ALL[4]].into_iter().flat_map(Types::of_each_kind);
    let kinds = kinds.enumerate().filter(|(i, _)| is_shared_here(*i)).map(|(_, types)| types);
    for types in kinds.filter(|types| types.are_filled()) {
        let mut table = Table::new(&context, types, 7 * SLICE, 0);
        filled(&mut table, 5000);
        let (mut other, left) = table.rehashed(SLICE, 5000);
        let slots = other.slots().len();
        let most = if types.is_linear() { SLICE as usize..=SLICE as usize + 2 } else { SLICE as usize..=slots + 2 };
        assert!(most.contains(&other.model.len()), "{} items of {} slots", other.model.len(), slots);
        assert!(!left.is_empty(), "all items fit");
        other.check(&types.keys_of(0..5100));
        exercise(&mut other, 4, 300, 900, 5);
    }
}

/// The count limits the items that are read, and the status says so.
pub(crate) fn more_keys_than_the_count() {
    let context = context(Setup::Native);
    for types in Types::PAIRS.of_each_kind().into_iter().chain(Types::ALL[4].of_each_kind()) {
        let mut table = Table::new(&context, types, 2000, 0);
        let (mut other, _) = table.rehashed(2000, 0);
        assert_eq!(other.model.len(), 0, "an empty table has been read");
        filled(&mut table, 900);
        let all = table.model.len() as u32;
        for most in [0, 1, 64, all - 1] {
            (other, _) = table.rehashed(3000, most);
            assert_eq!(other.model.len() as u32, most);
            other.check(&types.keys_of(0..900));
        }
        other.statistics();
    }
}

/// Erased slots do not move: each key is found as fast as in a table to which it has been added last.
pub(crate) fn without_erased_slots() {
    let context = context(Setup::Native);
    for types in Types::PAIRS.of_each_kind() {
        let mut table = Table::new(&context, types, 2 * SLICE, 0);
        table.apply_to(Insert, types.keys_of(2..2 * SLICE));
        table.apply_to(Erase, types.keys_of(2..SLICE));
        assert!(table.erased_slots() > 0 || !types.is_linear(), "no erased slot");
        let (mut other, left) = table.rehashed(2 * SLICE, 2 * SLICE);
        assert_eq!((left.len(), other.erased_slots(), other.header()[4]), (0, 0, 0));
        let [before, after] = [table.statistics(), other.statistics()];
        assert!(after.total_probes <= before.total_probes, "{before:?} {after:?}");
        other.check(&types.keys_of(0..2 * SLICE));
        // And back, into the table of which the items come.
        let batch = other.rehash_to(SLICE + 2);
        table.apply(&batch);
        assert_eq!(table.model.sorted(), other.model.sorted());
        table.check(&types.keys_of(0..2 * SLICE));
    }
}
