//! Mixed batches: an operation for each key, as if in the order of the batch.

use crate::common::contexts::{Setup, context};
use crate::common::keys::{Random, unmix};
use crate::common::{brief, very_brief};
use crate::results::draw;
use crate::table::{Batch, SLICE, Table, Types};
use crate::types::hashes;
use HashOperation::Mixed;
use trommel::{HashOpcode, HashOperation};

/// The types that have mixed batches, in tables of each scheme.
fn all_types() -> impl Iterator<Item = Types> {
    let has = |types: &Types| types.info().operation(Mixed).check().is_ok();
    let wide = (0..Types::ALL.len()).flat_map(Types::wide);
    Types::ALL.into_iter().flat_map(Types::of_each_scheme).chain(wide).filter(has)
}

/// A mixed batch of one operation.
fn of(opcode: HashOpcode, batch: Batch) -> Batch {
    let opcodes = batch.opcodes.iter().map(|word| word & !3 | opcode as u32).collect();
    Batch { opcodes, ..batch }
}

/// Random operations on few keys and on many, in every format, with and without a sort of the changes. The drivers
/// share the formats.
pub(crate) fn every_format() {
    for setup in [Setup::Native, Setup::Folded] {
        if very_brief() && setup == Setup::Folded {
            continue;
        }
        let context = context(setup);
        let types = all_types().enumerate().filter(|(i, types)| match very_brief() {
            true => types.is_here() && i % 4 >= 2,
            false => types.is_here() || *types == Types::PAIRS && !brief(),
        });
        for (i, (_, types)) in types.enumerate() {
            let mut random = Random::new(7);
            let (capacity, max_capacity) = [(6 * SLICE, 0), (6 * SLICE, 1 << 18), (SLICE, SLICE)][i % 3];
            let mut table = Table::new(&context, types, capacity, max_capacity);
            let keys = capacity * 2 / 3;
            for (count, of) in [(500, 40), (3000, keys), (2 * SLICE, keys), (700, 3), (3000, keys)] {
                let batch = Batch::new(Mixed, types, draw(types, count, of, &mut random), &mut random);
                let left = table.apply(&batch);
                assert!(left.is_empty(), "{} keys are left over", left.len());
                table.check(&types.keys_of(0..300));
            }
            table.statistics();
        }
    }
}

/// Batches that end at and beside the ends of tiles, with counts on the host and on the device.
pub(crate) fn sizes() {
    let context = context(Setup::Native);
    let tile = 4 * context.device().profile().hash.find_threads;
    let ends = [tile - 1, tile, tile + 1, 3 * tile];
    let long = [Types::ALL[7]].into_iter().filter(|_| !brief());
    for types in Types::PAIRS.of_each_scheme().into_iter().chain(long) {
        let mut random = Random::new(3);
        let mut table = Table::new(&context, types, 8 * tile, 0);
        // A count on the device, of which the maximum is zero.
        table.apply(&Batch::new(Mixed, types, Vec::new(), &mut random).counted(5));
        for count in [0, 1, 2, 31, 32, 33].into_iter().chain(ends) {
            let keys = draw(types, count, tile, &mut random);
            table.apply(&Batch::new(Mixed, types, keys, &mut random));
        }
        for on_device in [0, 32, 3 * tile + 1, u32::MAX].into_iter().chain(ends) {
            let keys = draw(types, 3 * tile, tile, &mut random);
            table.apply(&Batch::new(Mixed, types, keys, &mut random).counted(on_device));
        }
        table.check(&types.keys_of(0..100));
        table.statistics();
    }
}

/// Keys with operations in many tiles: one key, one key among others, and reserved keys. The drivers share the types
/// but the first.
pub(crate) fn equal_keys() {
    let context = context(Setup::Native);
    let tile = 4 * context.device().profile().hash.find_threads;
    // Tiles of one key are scanned by one workgroup, with more rounds than one.
    let count = if brief() { 9 * tile } else { (tile / 4 + 3) * tile };
    let kinds = [Types::PAIRS, Types::PAIRS.linear(), Types::ALL[6], Types::ALL[7]].into_iter().enumerate();
    for (_, types) in kinds.filter(|(i, types)| *i == 0 || types.is_here()) {
        if brief() && types.key_words() > 1 {
            continue;
        }
        let mut random = Random::new(5);
        let mut table = Table::new(&context, types, 6 * SLICE, 0);
        let one = vec![types.key_of(7); count as usize];
        table.apply(&Batch::new(Mixed, types, one.clone(), &mut random));
        // An insertion at the beginning decides all later results, and so does an erasure at the end.
        let mut batch = of(HashOpcode::Find, Batch::new(Mixed, types, one.clone(), &mut random));
        (batch.opcodes[0], batch.opcodes[count as usize - 1]) = (HashOpcode::Insert as u32, HashOpcode::Erase as u32);
        table.apply(&batch);
        for opcode in HashOpcode::ALL {
            table.apply(&of(opcode, Batch::new(Mixed, types, one.clone(), &mut random)));
        }
        // Keys of the header among them, in each tile.
        let reserved = (0..2 * tile + 5).map(|i| types.key_of(i % 3)).collect();
        table.apply(&Batch::new(Mixed, types, reserved, &mut random));
        let reserved = (0..2000).map(|i| types.key_of(if i % 3 == 0 { i } else { i % 3 - 1 })).collect();
        table.apply(&Batch::new(Mixed, types, reserved, &mut random));
        table.check(&types.keys_of(0..2000));
    }
}

/// Long keys of which one hash is the same: the first one, which sorts them, or the second one. Both hashes together
/// select the slots by which these keys are numbered.
pub(crate) fn keys_with_equal_hashes() {
    let types = Types::ALL[7];
    for (setup, number) in [(Setup::Native, 0), (Setup::Native, 1), (Setup::Folded, 1)] {
        if very_brief() && setup == Setup::Folded {
            continue;
        }
        let context = context(setup);
        let mut random = Random::new(11);
        let mut table = Table::new(&context, types, 2 * SLICE, 0);
        let key = |i: u32| {
            let words = [i % 9, i];
            let hash = hashes(&[words[0], words[1], 0])[number];
            // The last word goes into the hash by an exclusive or, and a bijection.
            vec![words[0], words[1], unmix(hash) ^ unmix(0x0123_4567)]
        };
        let keys: Vec<_> = (0..200).map(key).collect();
        assert!(keys.iter().all(|key| hashes(key)[number] == 0x0123_4567), "keys with other hashes");
        for _ in 0..3 {
            let batch = (0..1500).map(|_| keys[random.below(200) as usize].clone()).collect();
            table.apply(&Batch::new(Mixed, types, batch, &mut random));
            table.check(&keys);
        }
    }
}

/// Keys that find no slot are left over, once each. Keys that a batch erases make room for others, and keys that it
/// inserts and erases need none.
pub(crate) fn full_tables() {
    let context = context(Setup::Native);
    let long = [Types::ALL[7]].into_iter().filter(|_| !brief());
    for types in [Types::PAIRS, Types::PAIRS.linear(), Types::ALL[5]].into_iter().chain(long) {
        let mut random = Random::new(8);
        let mut table = Table::new(&context, types, SLICE, 0);
        let assign = |table: &mut Table<'_>, keys, random: &mut Random| {
            table.apply(&of(HashOpcode::Assign, Batch::new(Mixed, types, keys, random)))
        };
        let left = assign(&mut table, types.keys_of(0..4000), &mut random);
        assert!(!left.is_empty(), "all keys fit");
        table.check(&types.keys_of(0..100));
        // All keys of the table are erased by the batch that inserts others.
        let keys: Vec<_> = table.model.keys().cloned().collect();
        let erased = keys.len();
        let keys = [types.keys_of(4000..4900), keys].concat();
        let mut batch = of(HashOpcode::Insert, Batch::new(Mixed, types, keys, &mut random));
        batch.opcodes[900..].fill(HashOpcode::Erase as u32);
        let left = table.apply(&batch);
        assert!(left.is_empty() && erased > 900, "{} keys are left over, {erased} are erased", left.len());
        table.check(&types.keys_of(3900..5000));
        // The last keys of the batch are erased again.
        let keys = [types.keys_of(5000..6000), types.keys_of(5000..6000)].concat();
        let mut batch = of(HashOpcode::Insert, Batch::new(Mixed, types, keys, &mut random));
        batch.opcodes[1000..].fill(HashOpcode::Erase as u32);
        let left = table.apply(&batch);
        assert!(left.is_empty(), "{} keys are left over", left.len());
        table.check(&types.keys_of(4900..6000));
        let left = table.apply(&Batch::new(Mixed, types, draw(types, 5000, 3000, &mut random), &mut random));
        assert!(!left.is_empty(), "all keys fit");
        table.check(&types.keys_of(0..3000));
        table.apply_to(HashOperation::Erase, types.keys_of(0..5000));
        assert_eq!(table.model.len(), 0, "all keys are erased");
        let keys = [types.keys_of(0..900), types.keys_of(0..900), types.keys_of(1000..1900)].concat();
        let mut batch = of(HashOpcode::Assign, Batch::new(Mixed, types, keys, &mut random));
        batch.opcodes[900..1800].fill(HashOpcode::Erase as u32);
        let left = table.apply(&batch);
        assert!(left.is_empty(), "{} keys are left over", left.len());
        table.check(&types.keys_of(800..2000));
    }
}

/// Tables that grow, and batches without outputs, or of which only values or only bits are wanted.
pub(crate) fn other_tables() {
    let context = context(Setup::Native);
    let mut random = Random::new(6);
    for types in [Types::PAIRS.resizable(), Types::KEYS.linear().resizable(), Types::KEYS] {
        let mut table = Table::resizable(&context, types, [2 * SLICE, 9 * SLICE], 0);
        for round in 0..4 {
            let batch = Batch::new(Mixed, types, draw(types, 1500, 1000, &mut random), &mut random);
            let room = if round % 2 == 0 { batch.room } else { None };
            table.apply(&Batch { outputs: round != 2, bits: round != 0, room, ..batch });
            table.check(&types.keys_of(900..1100));
        }
        table.statistics();
    }
}
