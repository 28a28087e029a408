//! What operations do to tables.

use crate::common::contexts::{Setup, context, is_shared_here, setups};
use crate::common::keys::{Random, mix, unmix};
use crate::common::{brief, very_brief};
use crate::table::{Batch, SLICE, Table, Types, Words};
use trommel::HashOperation;
use trommel::host::Context;
use trommel::shared::MOST_LINEAR_PROBES;

/// `count` keys, each one of the first `of` keys.
pub(crate) fn draw(types: Types, count: u32, of: u32, random: &mut Random) -> Vec<Words> {
    (0..count).map(|_| types.key_of(random.below(of))).collect()
}

/// The operations on keys, as often as random batches have them.
fn operations_of(types: Types) -> &'static [HashOperation] {
    use HashOperation::{Assign, Count, Erase, Find, FindOrInsert, Insert, InsertLast, Retrieve};
    match types.multimap {
        false => &[Insert, InsertLast, Assign, Erase, Find, FindOrInsert, Assign],
        true if types.value_words() == 0 => &[Insert, Insert, Erase, Find, Count],
        true => &[Insert, Insert, Erase, Find, Count, Retrieve],
    }
}

/// Applies random batches of every operation.
pub(crate) fn exercise(table: &mut Table<'_>, batches: u32, most: u32, of: u32, seed: u64) {
    let mut random = Random::new(seed);
    let types = table.types;
    for _ in 0..batches {
        let operations = operations_of(types);
        let operation = operations[random.below(operations.len() as u32) as usize];
        let keys = draw(types, 1 + random.below(most), of, &mut random);
        table.apply(&Batch::new(operation, types, keys, &mut random));
    }
    let others: Vec<Words> = (0..of).map(|i| types.key_of(i)).collect();
    table.check(&others);
    assert!(!types.is_linear() || table.erased_before_empty() == 0, "an erased slot precedes an empty one");
}

/// Every format with the built-in profile and with one of the others, and every setup with every number of sort passes.
/// The drivers share them.
pub(crate) fn every_format() {
    // One size of emulated subgroups suffices, on one driver: only searches in buckets have a kernel for them.
    let setups = setups().into_iter().filter(|setup| !matches!(setup, Setup::Emulated(64 | 128)));
    for (i, setup) in setups.enumerate() {
        if very_brief() && setup == Setup::Folded {
            continue;
        }
        let context = context(setup);
        for (j, types) in Types::ALL.into_iter().enumerate() {
            let is_here = match setup {
                Setup::Native => types.is_here() && (!very_brief() || j % 2 == 1),
                Setup::Folded => types.is_here() && j % 2 == 1,
                _ => true,
            };
            if !is_here {
                continue;
            }
            let (capacity, max_capacity) = [(700, 1024), (1500, 1 << 18), (1500, 0)][(i + j / 3) % 3];
            let runs = |types: &Types| {
                !types.is_linear() || !matches!(setup, Setup::Emulated(_)) || *types == Types::PAIRS.linear()
            };
            let kinds = types.of_each_scheme().into_iter().filter(runs);
            let has_wide = |types: &Types| match setup {
                Setup::Native => true,
                Setup::Emulated(_) => *types == Types::WIDE,
                _ => false,
            };
            for types in kinds.chain(Types::wide(j).filter(has_wide)) {
                let mut table = Table::new(&context, types, capacity, max_capacity);
                exercise(&mut table, 8, capacity / 2, capacity, (i + j) as u64);
            }
        }
    }
}

/// A table of which only one slice has been used is empty elsewhere.
pub(crate) fn slices_without_keys() {
    let kinds = [
        (Setup::Native, Types::PAIRS),
        (Setup::Folded, Types::PAIRS),
        // The dispatches that clear and export the table have workgroups in x and y.
        (Setup::Folded, Types::PAIRS.linear()),
    ];
    for (setup, types) in kinds {
        let context = context(setup);
        let mut table = Table::new(&context, types, 40 * SLICE, 0);
        let mut random = Random::new(9);
        for i in [5, 77, 1234] {
            table.apply(&Batch::new(HashOperation::Insert, types, vec![types.key_of(i)], &mut random));
            let others: Vec<Words> = (0..2000).map(|i| types.key_of(i)).collect();
            table.check(&others);
        }
        assert_eq!(table.slots().iter().filter(|slot| **slot != [u32::MAX; 2]).count(), 3, "slots in use");
        table.statistics();
    }
}

pub(crate) fn sizes() {
    let context = context(Setup::Native);
    let kinds = Types::PAIRS.of_each_scheme().into_iter();
    let kinds = kinds.flat_map(|types| [1, 63, 1024, 1025, 33 * 1024].map(|capacity| (types, capacity)));
    for (types, capacity) in kinds {
        for count in [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000] {
            let mut table = Table::new(&context, types, capacity, 0);
            let mut random = Random::new(count.into());
            let keys: Vec<Words> = (0..count).map(|i| types.key_of(i)).collect();
            for operation in [HashOperation::Insert, HashOperation::Find, HashOperation::Erase] {
                table.apply(&Batch::new(operation, types, keys.clone(), &mut random));
            }
            table.check(&keys);
        }
    }
}

pub(crate) fn counts_on_the_device() {
    let context = context(Setup::Native);
    let kinds = Types::PAIRS.of_each_scheme().into_iter();
    for (types, count) in kinds.flat_map(|types| [0, 1, 77, 200, 201, u32::MAX].map(|count| (types, count))) {
        let mut random = Random::new(7);
        let mut table = Table::new(&context, types, 2048, 0);
        use HashOperation::{Add, Assign, Erase, Find, Insert};
        for operation in [Insert, Assign, Find, Add, Erase] {
            let keys = draw(types, 200, 300, &mut random);
            table.apply(&Batch::new(operation, types, keys, &mut random).counted(count));
            table.check(&[]);
        }
    }
}

/// More keys than slots: those that are left over are reported, all others are there. Linear tables take as many keys
/// as they have slots. The drivers share the types.
pub(crate) fn full_tables() {
    let context = context(Setup::Native);
    let kinds = [Types::KEYS, Types::PAIRS, Types::ALL[6], Types::ALL[7], Types::WIDE].into_iter();
    let kinds = kinds.filter(|types| types.is_here()).flat_map(Types::of_each_scheme);
    for types in kinds.filter(|types| types.are_filled()) {
        for capacity in [1024, 4096] {
            if (very_brief() || types.key_words() > 2) && capacity > 1024 {
                continue;
            }
            let mut random = Random::new(3);
            let mut table = Table::new(&context, types, capacity, 0);
            let mut left = 0;
            for part in 0..4 {
                let keys = (0..capacity / 2).map(|i| types.key_of(2 + part * capacity / 2 + i)).collect();
                left = table.apply(&Batch::new(HashOperation::Insert, types, keys, &mut random)).len();
                assert!(part > 0 || left == 0, "{left} keys are left over at half of the capacity");
                let of_linear = if part < 2 { 0 } else { capacity as usize / 2 };
                assert!(!types.is_linear() || left == of_linear, "{left} keys are left over, not {of_linear}");
            }
            assert!(left > 0, "twice the capacity fits");
            let others: Vec<Words> = (0..3 * capacity).map(|i| types.key_of(i)).collect();
            table.check(&others);
            exercise(&mut table, 10, capacity / 2, 2 * capacity, 4);
            if types.is_linear() {
                filled_by_one_batch(&mut table);
            }
        }
    }
}

/// Clears a linear table, and inserts more keys than the table has slots by one batch. Erased slots are reused.
fn filled_by_one_batch(table: &mut Table<'_>) {
    const MORE: u32 = 77;
    let (types, slots) = (table.types, table.slots().len() as u32);
    let mut random = Random::new(slots.into());
    let keys = |range: std::ops::Range<u32>| range.map(|i| types.key_of(2 + i)).collect::<Vec<Words>>();
    table.apply(&Batch::new(HashOperation::Clear, types, Vec::new(), &mut random));
    let left = table.apply(&Batch::new(HashOperation::Assign, types, keys(0..slots + MORE), &mut random));
    assert_eq!(left.len(), MORE as usize, "keys are left over");
    table.check(&keys(0..slots + MORE));
    let lost: Vec<Words> = left.into_iter().map(|(key, _)| key).collect();
    let erased: Vec<Words> = table.model.keys().take(lost.len()).cloned().collect();
    table.apply(&Batch::new(HashOperation::Erase, types, erased, &mut random));
    assert!(table.erased_slots() <= lost.len(), "slots of erased keys");
    let left = table.apply(&Batch::new(HashOperation::Insert, types, lost, &mut random));
    assert_eq!((left.len(), table.erased_slots()), (0, 0), "left over keys, and erased slots");
    table.check(&keys(0..slots));
}

/// The first of equal keys is inserted, the last one is assigned. The drivers share all types but the first.
pub(crate) fn equal_keys() {
    let context = context(Setup::Native);
    let kinds = [Types::PAIRS, Types::ALL[2], Types::ALL[6]].into_iter().enumerate();
    let kinds = kinds.filter(|(i, types)| *i == 0 || types.is_here() && !very_brief());
    for types in kinds.flat_map(|(_, types)| types.of_each_scheme()) {
        for distinct in [1, 2, 40] {
            let mut random = Random::new(distinct.into());
            let mut table = Table::new(&context, types, 5000, 0);
            for operation in [HashOperation::Insert, HashOperation::Assign, HashOperation::Insert, HashOperation::Erase]
            {
                let keys = draw(types, 3000, distinct, &mut random);
                table.apply(&Batch::new(operation, types, keys, &mut random));
                table.check(&[]);
            }
        }
    }
}

/// Values of equal keys, of the batch and of the table, are combined: also those of reserved keys, of keys of overflow
/// slices, and of batches with more equal keys than a bucket has slots. Some values differ in one of two words only.
/// Pipelines take most of the time, so each operation is tested with one or two formats, and the drivers share all but
/// the first.
pub(crate) fn combined_values() {
    let context = context(Setup::Native);
    let kinds: [(Types, &[HashOperation]); 4] = [
        (Types::PAIRS, &[HashOperation::Add, HashOperation::Max]),
        (Types::ALL[6], &[HashOperation::Add, HashOperation::Min, HashOperation::Max]),
        (Types::ALL[2], &[HashOperation::Or, HashOperation::Increment]),
        (Types::WIDE, &[HashOperation::And]),
    ];
    let kinds = kinds.into_iter().enumerate().filter(|(i, (types, _))| *i == 0 || types.is_here());
    let kinds = kinds.flat_map(|(_, (types, operations))| types.of_each_scheme().map(|types| (types, operations)));
    for (types, operations) in kinds.filter(|(types, _)| types.are_filled()) {
        let operations = if brief() { &operations[..1] } else { operations };
        let mut random = Random::new(2);
        let mut table = Table::new(&context, types, 2 * SLICE, 0);
        for round in 0..2 {
            for operation in operations {
                for distinct in [5, 3 * SLICE / 2] {
                    let keys = draw(types, 1500, distinct, &mut random);
                    let mut batch = Batch::new(*operation, types, keys, &mut random);
                    for word in batch.values.iter_mut().flatten() {
                        *word >>= if random.below(2) == 0 { 0 } else { 31 };
                    }
                    table.apply(&batch);
                    table.check(&[]);
                }
            }
            if round == 0 {
                // In the second round, some keys lie in the overflow slice.
                let full = (2..2 * SLICE).map(|i| types.key_of(i)).collect();
                let left = table.apply(&Batch::new(HashOperation::Insert, types, full, &mut random));
                assert!(left.is_empty(), "{} keys are left over", left.len());
            }
        }
    }
}

/// Keys with the same first bits of the hash have the same first bucket, and one of 64 second buckets. So their slice
/// has room for 520 of them, and their overflow slice for 1024. In a linear table, keys with the same last bits have
/// the same path.
pub(crate) fn adversarial_keys() {
    let context = context(Setup::Native);
    for types in Types::PAIRS.of_each_scheme() {
        let mut table = Table::new(&context, types, 8192, 0);
        let count = if very_brief() { 1000 } else { 3000 };
        let hash = |i: u32| if types.is_linear() { i << 13 | 0x1234 } else { 0x1234_0000 + i };
        let keys: Vec<Words> = (0..count).map(|i| vec![unmix(hash(i))]).collect();
        let mut random = Random::new(5);
        let left = table.apply(&Batch::new(HashOperation::Insert, types, keys.clone(), &mut random));
        let most = if very_brief() || types.is_linear() { 0 } else { count - 1500 };
        assert!(left.len() <= most as usize, "{} of {count} keys of one bucket are left over", left.len());
        table.check(&keys);
        table.apply(&Batch::new(HashOperation::Assign, types, keys[..700].to_vec(), &mut random));
        table.check(&keys);
        table.apply(&Batch::new(HashOperation::Erase, types, keys[..900].to_vec(), &mut random));
        table.check(&keys);
        table.apply(&Batch::new(HashOperation::Insert, types, keys.clone(), &mut random));
        table.check(&keys);
    }
}

/// A search in a linear table reads at most [`MOST_LINEAR_PROBES`] slots. A run of as many slots with keys has room for
/// a key with its home in the second slot of the run, and none for a key with its home in the first slot. The run
/// crosses the end of the table.
pub(crate) fn longest_paths() {
    const MOST: u32 = MOST_LINEAR_PROBES;
    const SLOTS: u32 = 2 * MOST;
    let context = context(Setup::Native);
    let types = Types::PAIRS.linear();
    let mut random = Random::new(11);
    let mut table = Table::new(&context, types, SLOTS, 0);
    let home = SLOTS - 100;
    // The key of a number with its home in a slot.
    let key = |slot: u32, number: u32| vec![unmix(slot % SLOTS + number * SLOTS)];
    let run = (home..home + MOST).map(|slot| key(slot, 0)).collect();
    let left = table.apply(&Batch::new(HashOperation::Insert, types, run, &mut random));
    assert_eq!((left.len(), table.statistics().most_probes), (0, 1), "each key is in its first slot");

    let [first, second] = [key(home, 1), key(home + 1, 1)];
    let both = vec![first.clone(), second.clone()];
    let left = table.apply(&Batch::new(HashOperation::Insert, types, both.clone(), &mut random));
    assert!(left.len() == 1 && left[0].0 == first, "{left:x?} are left over, not {first:x?}");
    assert_eq!(table.statistics().most_probes, MOST);
    let missing = vec![key(home, 2), key(home + 1, 2), key(home + MOST, 2)];
    table.check(&missing);
    // The path goes on behind an erased slot, and an insertion takes it.
    table.apply(&Batch::new(HashOperation::Erase, types, vec![key(home + 7, 0)], &mut random));
    table.check(&[both, missing].concat());
    assert_eq!(table.erased_slots(), 1);
    let left = table.apply(&Batch::new(HashOperation::Insert, types, vec![first, second.clone()], &mut random));
    assert_eq!((left.len(), table.erased_slots()), (0, 0), "left over keys, and erased slots");
    // An erased slot in front of an empty one becomes empty, and so do the erased slots in front of it.
    let tail = (home + MOST - 5..home + MOST).map(|slot| key(slot, 0)).chain([second]);
    table.apply(&Batch::new(HashOperation::Erase, types, tail.collect(), &mut random));
    assert_eq!(table.erased_slots(), 0);
    table.check(&[key(home, 3)]);
}

/// Keys with the same path: those that its buckets have no room for lie in the overflow slice, and come home when
/// others are erased.
pub(crate) fn keys_of_one_path() {
    let context = context(Setup::Native);
    let types = Types::PAIRS;
    let mut table = Table::new(&context, types, 8192, 0);
    let mut random = Random::new(5);
    let keys = (0..20_000).map(|i| unmix(0x1234_0000 + i));
    // The last bits of the second hash are the distance of the buckets.
    let keys: Vec<Words> = keys.filter(|key| mix(key ^ 0x9e37_79b9) % 128 < 2).map(|key| vec![key]).collect();
    assert!(keys.len() > (2 + 16) * 8, "{} keys do not fill a path", keys.len());
    table.apply(&Batch::new(HashOperation::Insert, types, keys.clone(), &mut random));
    for round in 0..if brief() { 20 } else { 60 } {
        let operation = if round % 2 == 0 { HashOperation::Erase } else { HashOperation::Insert };
        let some = (0..1 + random.below(60)).map(|_| keys[random.below(keys.len() as u32) as usize].clone()).collect();
        table.apply(&Batch::new(operation, types, some, &mut random));
        table.check(&[]);
    }
    table.check(&keys);
}

/// A thousand rounds of insertions and erasures lose no key and leave no key over. In a bucketed table, no erased slot
/// remains. In a linear table, no erased slot remains in front of an empty one. The drivers share the long runs.
pub(crate) fn churn() {
    let context = context(Setup::Native);
    let kinds = [Types::PAIRS, Types::ALL[6]].into_iter().flat_map(Types::of_each_scheme);
    for (i, types) in kinds.enumerate() {
        churn_of(&context, types, rounds_of(i));
    }
}

/// Rounds of a test of erasures: each kind of table has the many rounds on one driver.
pub(crate) fn rounds_of(kind: usize) -> u32 {
    if brief() || !is_shared_here(kind) { 60 } else { 1000 }
}

fn churn_of(context: &Context, types: Types, rounds: u32) {
    let capacity = SLICE;
    let mut table = Table::new(context, types, capacity, capacity);
    let mut random = Random::new(6);
    let window = capacity * 8 / 10;
    let step = window / 4;
    let mut lengths = Vec::new();
    for round in 0..rounds {
        let keys = |first: u32, count: u32| (first..first + count).map(|i| types.key_of(2 + i)).collect::<Vec<_>>();
        let left = table.apply(&Batch::new(
            HashOperation::Insert,
            types,
            keys(round * step + window - step, step),
            &mut random,
        ));
        assert!(left.is_empty(), "{} keys are left over in round {round}", left.len());
        if types.is_linear() {
            lengths.push(table.mean_absent_probes());
        } else if round % 10 == 9 {
            lengths.push(table.statistics().mean_probes());
        }
        if round > 2 {
            table.apply(&Batch::new(HashOperation::Erase, types, keys(round * step, step), &mut random));
            let erased = if types.is_linear() { table.erased_slots() as u32 } else { 0 };
            assert_eq!(table.header()[4], erased, "erased slots after round {round}");
        }
        if types.is_linear() && round % 100 == 99 {
            table.check(&keys(round * step, 2 * window));
            assert_eq!(table.erased_before_empty(), 0, "erased slots before empty ones after round {round}");
        }
    }
    table.check(&[]);
    println!("{types:?}: {} slots of erased keys after {rounds} rounds", table.erased_slots());
    // Of the second tenth of the rounds, and of the last one.
    let tenth = lengths.len() / 10;
    let mean = |lengths: &[f64]| lengths.iter().sum::<f64>() / lengths.len() as f64;
    let [early, late] = [&lengths[tenth..2 * tenth], &lengths[lengths.len() - tenth..]].map(mean);
    println!("{types:?}: a search has {early:.2} probes on average, in the end {late:.2}");
    assert!(rounds < 1000 || late < 1.2 * early, "searches became longer, from {early} to {late} probes");
}

/// A folded dispatch has more workgroups than the table has overflow slices. The items that they could take for theirs
/// are the last ones in the order of hashes, and find no slot at home. In a linear table, the last
/// workgroups have no items.
pub(crate) fn workgroups_without_a_slice() {
    let context = context(Setup::Folded);
    let mut random = Random::new(8);
    // One more overflow slice than workgroups in x.
    for (types, capacity) in [(Types::PAIRS, 8 * 32 * SLICE), (Types::PAIRS.linear(), 8 * SLICE)] {
        let mut table = Table::new(&context, types, capacity, 0);
        let keys: Vec<Words> = (0..3000).map(|i| vec![unmix(u32::MAX - i)]).collect();
        table.apply(&Batch::new(HashOperation::Insert, types, keys.clone(), &mut random));
        table.apply(&Batch::new(HashOperation::Erase, types, keys[..500].to_vec(), &mut random));
        table.check(&keys);
    }
}
