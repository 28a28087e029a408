//! Operations on the keys of a batch that a stencil selects.

use crate::common::contexts::{Setup, context, is_shared_here};
use crate::common::keys::Random;
use crate::common::{brief, very_brief};
use crate::results::draw;
use crate::table::{Batch, SLICE, Table, Types};
use HashOperation::{Erase, Find, FindOrInsert, Insert};
use trommel::HashOperation;

/// Selections: none, all, the last key, whole words of bits, one key of 40, and 39 of 40.
const SELECTIONS: [fn(usize, u32) -> bool; 6] = [
    |_, _| false,
    |_, _| true,
    |i, _| i == 2999,
    |i, _| i / 32 % 3 == 0,
    |_, random| random % 40 == 0,
    |_, random| random % 40 != 0,
];

/// Every operation, with each selection. The drivers share the types but the first, and the insertions of keys of the
/// first: all insertions are the same compaction in front of the change.
pub(crate) fn every_operation() {
    let context = context(Setup::Native);
    let kinds = [Types::PAIRS, Types::ALL[6], Types::ALL[7]].into_iter().enumerate();
    let kinds = kinds.filter(|(i, types)| *i == 0 || types.is_here() && !very_brief());
    for (i, types) in kinds.flat_map(|(i, types)| types.of_each_kind().map(|types| (i, types))) {
        let mut random = Random::new(9);
        let mut table = Table::new(&context, types, 6 * SLICE, 0);
        let has = |operation: &HashOperation| types.info().operation(*operation).stencil().check().is_ok();
        for (number, operation) in HashOperation::ALL.into_iter().filter(has).enumerate() {
            let is_here = if brief() || i != 0 { number % 3 == 1 } else { is_shared_here(number) };
            if operation.inserts() && !is_here {
                continue;
            }
            for selection in SELECTIONS {
                let keys = draw(types, 3000, 4000, &mut random);
                let batch = Batch::new(operation, types, keys, &mut random).of(|i| selection(i, random.next()));
                let left = table.apply(&batch);
                assert!(left.is_empty(), "{} keys are left over", left.len());
            }
            table.check(&types.keys_of(3900..4100));
        }
        table.statistics();
    }
}

/// Batches that end at and beside the ends of words of the stencil, and of the keys of a workgroup, with the count on
/// the host and on the device. Dispatches of one and of two dimensions.
pub(crate) fn sizes() {
    for setup in [Setup::Native, Setup::Folded] {
        let context = context(setup);
        let group = 32 * context.device().profile().plain_threads;
        let most = if setup == Setup::Folded { 9 * group + 1 } else { 3 * group - 5 };
        let ends = [group - 1, group, group + 1, 2 * group, most];
        for types in Types::PAIRS.of_each_scheme() {
            if very_brief() && setup == Setup::Folded && types.is_linear() {
                continue;
            }
            let mut random = Random::new(3);
            let mut table = Table::new(&context, types, 2 * most, 0);
            for (number, count) in [0, 1, 31, 32, 33].into_iter().chain(ends).enumerate() {
                let keys = draw(types, count, most, &mut random);
                let batch = Batch::new(Insert, types, keys.clone(), &mut random).of(|_| random.below(3) == 0);
                table.apply(&batch);
                if number % 3 == 0 {
                    table.apply(&Batch::new(Find, types, keys, &mut random).of(|_| random.below(3) == 0));
                }
            }
            for (number, on_device) in [0, 32, most + 1, u32::MAX].into_iter().chain(ends).enumerate() {
                let keys = draw(types, most, most, &mut random);
                let operation = [Insert, Erase, FindOrInsert][number % 3];
                for operation in [operation, Find] {
                    let batch = Batch::new(operation, types, keys.clone(), &mut random).of(|_| random.below(2) == 0);
                    table.apply(&batch.counted(on_device));
                }
            }
            table.check(&types.keys_of(0..100));
            table.statistics();
        }
    }
}

/// Keys that are not selected are not left over. Of equal keys, the first one of those that are selected provides the
/// value.
pub(crate) fn full_tables() {
    let context = context(Setup::Native);
    for types in Types::PAIRS.of_each_kind() {
        let mut random = Random::new(5);
        let mut table = Table::new(&context, types, SLICE, 0);
        let keys = [types.keys_of(0..1200), types.keys_of(0..1200)].concat();
        // One copy of a key, both, or none.
        let selection = |i: usize| [true, i < 1200, i >= 1200, false, false, false][i % 1200 % 6];
        let left = table.apply(&Batch::new(Insert, types, keys.clone(), &mut random).of(selection));
        assert!(left.is_empty(), "{} keys are left over", left.len());
        table.check(&types.keys_of(0..1300));
        let others = [types.keys_of(0..4000), types.keys_of(0..4000)].concat();
        let left = table.apply(&Batch::new(Insert, types, others, &mut random).of(|i| i % 5 != 0));
        assert!(!left.is_empty(), "all keys fit");
        table.check(&types.keys_of(1400..1600));
        table.apply(&Batch::new(Erase, types, keys, &mut random).of(|i| i < 700));
        table.check(&types.keys_of(0..1500));
    }
}

/// Concurrent operations on different keys, and operations on tables that grow.
pub(crate) fn other_tables() {
    let context = context(Setup::Native);
    let mut random = Random::new(6);
    let types = Types::PAIRS.linear();
    let mut table = Table::new(&context, types, 4 * SLICE, 0);
    for operation in [Insert, Find, Erase, Insert] {
        let batch = Batch::new(operation, types, types.keys_of(2..2500), &mut random).concurrent();
        table.apply(&batch.of(|_| random.below(2) == 0));
        table.check(&types.keys_of(2400..2600));
    }
    for types in [Types::PAIRS.resizable(), Types::KEYS.linear().resizable(), Types::KEYS] {
        let mut table = Table::resizable(&context, types, [2 * SLICE, 9 * SLICE], 0);
        for operation in [Insert, Find, Erase, FindOrInsert] {
            let keys = draw(types, 1500, 1500, &mut random);
            table.apply(&Batch::new(operation, types, keys, &mut random).of(|_| random.below(2) == 0));
            table.check(&types.keys_of(1400..1600));
        }
    }
}
