//! Exports and erasures of the keys with selected values.

use crate::common::contexts::{Setup, context, is_shared_here};
use crate::common::keys::Random;
use crate::common::very_brief;
use crate::results::draw;
use crate::table::{Batch, SLICE, Table, Types};
use trommel::HashOperation;

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
        .filter(|(i, _)| *i == 0 || is_shared_here(*i) && !very_brief())
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
    let kinds = kinds.filter(|(i, _)| *i == 0 || is_shared_here(*i) && !very_brief());
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
