//! Insertions that find: the values of the table after an insertion.

use crate::common::contexts::{Setup, context};
use crate::common::keys::Random;
use crate::common::very_brief;
use crate::results::draw;
use crate::table::{Batch, SLICE, Table, Types};
use trommel::HashOperation;

/// Insertions that write the values of the table: of equal keys of a batch, the first one's; those of earlier batches;
/// none of keys that are left over.
pub(crate) fn insertions_that_find() {
    use HashOperation::{FindOrInsert, Insert};
    let context = context(Setup::Native);
    let kinds = [Types::PAIRS, Types::KEYS, Types::ALL[6], Types::WIDE].into_iter().enumerate();
    for types in kinds
        .filter(|(i, types)| *i == 0 || types.is_here() && !very_brief())
        .flat_map(|(_, types)| types.of_each_scheme())
    {
        let mut random = Random::new(4);
        let mut table = Table::new(&context, types, SLICE, 0);
        for distinct in [1, 40, 500] {
            let keys = draw(types, 700, distinct, &mut random);
            let batch = Batch::new(FindOrInsert, types, keys, &mut random);
            assert!(table.apply(&batch).is_empty(), "keys are left over");
            table.apply(&Batch { outputs: false, ..batch.clone() });
            table.apply(&batch.with_room(None));
            table.check(&[]);
        }
        for count in [0, 1, 99, 300, 301, u32::MAX] {
            let keys = draw(types, 300, 600, &mut random);
            table.apply(&Batch::new(FindOrInsert, types, keys, &mut random).counted(count));
        }
        table.check(&types.keys_of(0..600));
        // More keys than slots: keys of the table, new ones, some of them twice, and left over ones.
        let keys = types.keys_of(300..1500).into_iter().chain(types.keys_of(1000..3000)).collect();
        let left = table.apply(&Batch::new(FindOrInsert, types, keys, &mut random));
        assert!(!left.is_empty(), "all keys fit");
        let keys = types.keys_of(0..3000);
        table.apply(&Batch::new(FindOrInsert, types, keys.clone(), &mut random).with_room(None));
        table.apply(&Batch::new(Insert, types, keys.clone(), &mut random));
        table.check(&keys);
    }
}
