//! Exports and erasures of the keys with selected values.

use crate::common::arena::barrier;
use crate::common::contexts::{Setup, context};
use crate::common::keys::Random;
use crate::common::very_brief;
use crate::results::draw;
use crate::table::{Batch, SLICE, Table, Types};
use std::collections::BTreeSet;
use trommel::{Count, HashOperation, Scratch, SortInfo, Sorter, SorterInfo};

use HashOperation::{EraseIf, ExportIf, Insert};

/// Ranges of values: all, none, one value, and halves. Values of four bytes are compared as numbers of 64 bits.
fn ranges(table: &Table<'_>) -> Vec<[u64; 2]> {
    let half = if table.types.value_words() == 1 { 1 << 31 } else { 1 << 63 };
    let (_, value) = table.model.items().next().expect("an item");
    let one = value.iter().rev().fold(0, |number, word| number << 32 | u64::from(*word));
    vec![[0, u64::MAX], [1, 0], [one, one], [0, half], [half, u64::MAX], [half / 2, half - 1], [u64::MAX, u64::MAX]]
}

/// A table with keys of which some are erased, and with the two keys that are reserved in most tables.
fn filled<'a>(context: &'a trommel::host::Context, types: Types) -> Table<'a> {
    let mut random = Random::new(5);
    let capacities = if types.resizable { [2 * SLICE, 8 * SLICE] } else { [0, 2 * SLICE] };
    let mut table = Table::resizable(context, types, capacities, 0);
    table.apply(&Batch::new(Insert, types, draw(types, 1500, 2000, &mut random), &mut random));
    table.apply_to(Insert, types.keys_of(0..2));
    table.apply_to(HashOperation::Erase, types.keys_of(5..300));
    table
}

/// Exports with room for all selected keys, for fewer, and for none. The drivers share the types.
pub(crate) fn selected_exports() {
    let context = context(Setup::Native);
    let kinds = [Types::PAIRS, Types::ALL[6]].into_iter().enumerate();
    for types in kinds
        .filter(|(i, types)| *i == 0 || types.is_here() && !very_brief())
        .flat_map(|(_, types)| types.of_each_kind())
    {
        let mut table = filled(&context, types);
        for selected in ranges(&table) {
            for room in [2000, 1, 0, 300] {
                let batch = Batch::new(ExportIf, types, types.keys_of(0..room), &mut Random::new(6));
                let batch = Batch { selected, ..batch };
                table.apply(&batch);
                table.apply(&Batch { outputs: false, ..batch });
            }
        }
        table.check(&[]);
    }
}

/// Erasures of all selected keys, and of fewer: the table has the others then.
pub(crate) fn selected_erasures() {
    let context = context(Setup::Native);
    let kinds = [Types::PAIRS, Types::ALL[6]].into_iter().enumerate();
    let kinds = kinds.filter(|(i, types)| *i == 0 || types.is_here() && !very_brief());
    // Values of two words in the header, and tables that do not use all of their memory.
    let others = [Types::ALL[2].linear(), Types::PAIRS.linear().resizable(), Types::PAIRS.multimap().resizable()];
    let others = others.into_iter().chain([Types::PAIRS.resizable()]).filter(|_| !very_brief());
    for types in kinds.flat_map(|(_, types)| types.of_each_kind()).chain(others) {
        for share in [1, 3] {
            let mut table = filled(&context, types);
            let ranges = ranges(&table);
            for selected in ranges.into_iter().rev() {
                let all = table.batch_of_items(EraseIf, selected, 0).keys.len() as u32;
                // A count of zero removes none.
                for most in [0, all / share, all + share] {
                    let batch = table.batch_of_items(EraseIf, selected, most);
                    table.apply(&batch);
                    table.check(&types.keys_of(0..300));
                }
            }
            assert_eq!(table.model.len(), 0, "the last range has all values");
            assert!(!types.is_linear() || table.erased_before_empty() == 0, "an erased slot precedes an empty one");
            table.apply_to(Insert, types.keys_of(0..900));
            table.check(&types.keys_of(0..1000));
        }
    }
}

/// The distinct keys of an array: inserted into a set, exported, and sorted. The device decides how many there are.
pub(crate) fn distinct_keys() {
    let context = context(Setup::Native);
    let types = Types::KEYS;
    let mut random = Random::new(5);
    let mut table = Table::new(&context, types, 2 * SLICE, 0);
    let keys = draw(types, 3000, 1500, &mut random);
    let distinct: BTreeSet<_> = keys.iter().cloned().collect();
    table.apply(&Batch::new(Insert, types, keys, &mut random));
    let most = 2000;
    let batch = Batch::new(HashOperation::Export, types, types.keys_of(0..most), &mut random);
    let prepared = table.prepare(&batch);
    let sorter = Sorter::new(context.device(), &SorterInfo::keys()).expect("a sorter");
    let size = sorter.scratch_size(most).expect("scratch");
    let memory = context.buffer(size.max(4)).expect("scratch");
    let sort = SortInfo {
        count: Count::device(prepared.info.count_out, most),
        keys: prepared.info.keys,
        scratch: Scratch { buffer: memory.handle(), offset: 0, size },
        ..SortInfo::default()
    };
    table.run(|commands| {
        // SAFETY: everything lives until run() has waited.
        unsafe {
            table.hasher(HashOperation::Export).cmd_hash(commands, &prepared.info)?;
            barrier(&context, commands, false);
            sorter.cmd_sort(commands, &sort)
        }
    });
    let outputs = prepared.outputs(&context);
    let count = outputs.word(&prepared.places.count_out) as usize;
    let sorted: Vec<_> = (0..count).map(|i| outputs.element(&prepared.places.keys, 1, i)).collect();
    assert_eq!(sorted, distinct.into_iter().collect::<Vec<_>>());
}
