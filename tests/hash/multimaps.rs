//! Multimaps: tables that may have a key several times.

use crate::common::contexts::{Setup, context, is_shared_here};
use crate::common::keys::Random;
use crate::common::very_brief;
use crate::results::{draw, exercise, rounds_of};
use crate::table::{Batch, SLICE, Table, Types, Words};
use trommel::HashOperation;
use trommel::shared::MOST_LINEAR_PROBES;

use HashOperation::{Clear, Count, Erase, Find, Insert, Retrieve};

const PAIRS: Types = Types::PAIRS.multimap();
const SETS: Types = Types::KEYS.multimap();

/// Random batches of every format, with keys that are reserved in other tables. The drivers share the formats.
pub(crate) fn every_format() {
    for (setup, of_setup) in [(Setup::Native, 1), (Setup::Folded, 4)] {
        let context = context(setup);
        let kinds = Types::ALL.into_iter().enumerate();
        let wide = |i| Types::wide(i).filter(|types| types.is_linear());
        let kinds = kinds.flat_map(|(i, types)| std::iter::once(types).chain(wide(i)).map(move |types| (i, types)));
        for (i, types) in kinds {
            let is_left_out = very_brief() && setup == Setup::Folded;
            if is_left_out || !is_shared_here(i) || i % of_setup != 1 % of_setup {
                continue;
            }
            let (capacity, max_capacity) = [(700, 1024), (3000, 0)][i / 3 % 2];
            let mut table = Table::new(&context, types.multimap(), capacity, max_capacity);
            exercise(&mut table, 8, capacity / 4, capacity / 4, i as u64);
            let statistics = table.statistics();
            assert_eq!(statistics.probes.iter().sum::<u32>(), statistics.keys, "each entry has a slot");
            table.apply_to(Insert, vec![table.types.key_of(0); 3]);
            table.apply_to(Insert, vec![table.types.key_of(1); 2]);
            table.check(&[]);
            if table.types.value_words() != 0 {
                table.retrieve(&table.types.keys_of(0..capacity / 4));
            }
            table.apply_to(Erase, vec![table.types.key_of(0)]);
            table.check(&[]);
            table.apply_to(Clear, Vec::new());
            table.check(&draw(table.types, 20, 50, &mut Random::new(1)));
        }
    }
}

/// Thousands of values of one key, among other keys on its path.
pub(crate) fn many_equal_keys() {
    let context = context(Setup::Native);
    let count = if very_brief() { 200 } else { 3000 };
    for types in [PAIRS, SETS] {
        let mut table = Table::new(&context, types, 8 * SLICE, 0);
        let mut random = Random::new(2);
        let mut keys = vec![types.key_of(7); count];
        keys.extend(draw(types, 1500, 500, &mut random));
        table.apply(&Batch::new(Insert, types, keys, &mut random));
        let others = types.keys_of(0..600);
        table.check(&others);
        // Each of the equal keys of a batch is answered.
        let twice = [7, 8, 7, 1000, 8].map(|i| types.key_of(i)).to_vec();
        table.apply_to(Count, twice.clone());
        if types.value_words() != 0 {
            table.retrieve(&twice);
        }
        table.apply_to(Erase, twice);
        assert_eq!(table.erased_before_empty(), 0, "an erased slot precedes an empty one");
        table.check(&others);
        table.apply_to(Insert, vec![types.key_of(7); count]);
        table.check(&others);
        table.statistics();
    }
}

/// A key has at most [`MOST_LINEAR_PROBES`] values. One more insertion of the key leaves all items over, and other keys
/// with later homes have room. The drivers share the types.
pub(crate) fn more_equal_keys_than_probes() {
    const MORE: u32 = 100;
    if very_brief() {
        return;
    }
    let context = context(Setup::Native);
    // With the most words of values and of keys.
    let kinds = [PAIRS, Types::ALL[3].multimap(), Types::ALL[7].multimap()].into_iter().enumerate();
    for types in kinds.filter(|(i, _)| is_shared_here(*i)).map(|(_, types)| types) {
        let mut table = Table::new(&context, types, 2 * MOST_LINEAR_PROBES, 0);
        let left = table.apply_to(Insert, vec![types.key_of(5); (MOST_LINEAR_PROBES + MORE) as usize]);
        assert_eq!(left.len(), MORE as usize, "left over items");
        table.apply_to(Count, types.keys_of(4..7));
        table.retrieve(&types.keys_of(4..7));
        let left = table.apply_to(Insert, vec![types.key_of(5); 3]);
        assert_eq!(left.len(), 3, "the path of the key is full");
        assert_eq!(table.statistics().most_probes, MOST_LINEAR_PROBES);
        table.apply_to(Erase, types.keys_of(5..6));
        assert_eq!((table.model.len(), table.header()[3]), (0, 0));
        assert_eq!(table.erased_slots(), 0, "no path leads across the erased slots");
        assert!(table.apply_to(Insert, vec![types.key_of(5); 3]).is_empty(), "erased slots are used again");
        table.check(&types.keys_of(0..9));
    }
}

/// Room for all values, for some of them and for none, and no array. Values of one key cross the end of the room.
pub(crate) fn rooms_of_retrievals() {
    let context = context(Setup::Native);
    let kinds = [PAIRS, Types::ALL[6].multimap(), Types::ALL[3].multimap()].into_iter().enumerate();
    for types in kinds.filter(|(i, _)| is_shared_here(*i)).map(|(_, types)| types) {
        let mut table = Table::new(&context, types, 3000, 0);
        let mut random = Random::new(3);
        let keys = draw(types, 1200, 200, &mut random);
        table.apply(&Batch::new(Insert, types, keys, &mut random));
        // More than a workgroup of keys, some of them twice, some without values.
        let keys = draw(types, 700, 300, &mut random);
        let all: usize = keys.iter().map(|key| table.model.values_of(key).len()).sum();
        let all = all as u32;
        for room in [Some(all), Some(all - 1), Some(all + 9), Some(all / 2), Some(1), Some(0), None] {
            let batch = Batch::new(Retrieve, types, keys.clone(), &mut random).with_room(room);
            table.apply(&Batch { outputs: false, ..batch.clone() });
            table.apply(&batch);
        }
        for count in [0, 1, 63, 64, 65, 127, 128, 129] {
            table.retrieve(&keys[..count]);
        }
    }
}

pub(crate) fn counts_on_the_device() {
    let context = context(Setup::Native);
    for count in [0, 1, 77, 200, 201, u32::MAX] {
        let mut random = Random::new(7);
        let mut table = Table::new(&context, PAIRS, 2048, 0);
        for operation in [Insert, Insert, Count, Retrieve, Find, Erase] {
            let keys = draw(PAIRS, 200, 60, &mut random);
            table.apply(&Batch::new(operation, PAIRS, keys, &mut random).with_room(Some(700)).counted(count));
            table.check(&[]);
        }
    }
}

/// Items are left over if and only if the table has no free slot. Erased slots are used again.
pub(crate) fn full_tables() {
    let context = context(Setup::Native);
    for types in [PAIRS, SETS] {
        let mut random = Random::new(3);
        let mut table = Table::new(&context, types, SLICE, 0);
        for (count, expected) in [(700, 0), (400, 76), (50, 50)] {
            let keys = draw(types, count, 300, &mut random);
            let left = table.apply(&Batch::new(Insert, types, keys, &mut random));
            assert_eq!(left.len(), expected, "left over items of {count}");
        }
        table.check(&types.keys_of(0..400));
        let erased = types.keys_of(0..40);
        table.apply_to(Erase, erased.clone());
        let free = SLICE as usize - table.model.len();
        assert!(free > 50, "{free} entries have been erased");
        let left = table.apply_to(Insert, vec![types.key_of(3); free + 5]);
        assert_eq!((left.len(), table.erased_slots()), (5, 0), "left over items, and erased slots");
        table.check(&erased);
        exercise(&mut table, 8, 500, 300, 4);
    }
}

/// A thousand rounds of insertions and erasures lose no entry and leave none over. No erased slot remains in front of
/// an empty one.
pub(crate) fn churn() {
    let context = context(Setup::Native);
    let rounds = rounds_of(1);
    let mut table = Table::new(&context, PAIRS, SLICE, SLICE);
    let mut random = Random::new(6);
    // Each key has up to seven values, on average four: 800 of 1024 slots are in use.
    let window = 200;
    let step = window / 4;
    for round in 0..rounds {
        let first = 2 + round * step;
        let keys = (first..first + step).flat_map(|i| vec![PAIRS.key_of(i); 1 + i as usize % 7]);
        let mut keys: Vec<Words> = keys.collect();
        for i in 0..keys.len() {
            keys.swap(i, random.below(1 + i as u32) as usize);
        }
        let left = table.apply(&Batch::new(Insert, PAIRS, keys, &mut random));
        assert!(left.is_empty(), "{} items are left over in round {round}", left.len());
        if round >= 4 {
            table.apply_to(Erase, PAIRS.keys_of(first - 4 * step..first - 3 * step));
            assert_eq!(table.header()[4], table.erased_slots() as u32, "erased slots after round {round}");
        }
        if round % 100 == 99 {
            table.check(&PAIRS.keys_of(first - 2 * window..first));
            assert_eq!(table.erased_before_empty(), 0, "erased slots before empty ones after round {round}");
        }
    }
    table.check(&[]);
    println!("{} slots of erased keys after {rounds} rounds", table.erased_slots());
}
