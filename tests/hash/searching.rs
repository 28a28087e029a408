//! Tables in an application's shaders: searches of bucketed tables with glsl/lib/trommel_hash.glsl, and changes and
//! searches of linear tables with glsl/lib/trommel_hash_linear.glsl, and values of multimaps with
//! glsl/lib/trommel_hash_multimap.glsl.

use crate::common::contexts::{Setup, assert_silence, context, is_shared_here};
use crate::common::keys::Random;
use crate::common::pipeline::Pipeline;
use crate::common::spirv::words_of;
use crate::common::very_brief;
use crate::concurrent::{Changes, KEYS, check_last_values, class_of};
use crate::resizing::{on_host, resize};
use crate::table::{Batch, SLICE, Table, Types, Words};
use std::collections::HashMap;
use trommel::HashOperation;
use trommel::host::Context;

/// glsl/find.comp
const FIND: &[u8] = include_bytes!("spirv/find.spv");
/// glsl/linear.comp
const LINEAR: &[u8] = include_bytes!("spirv/linear.spv");
/// glsl/multimap.comp
const MULTIMAP: &[u8] = include_bytes!("spirv/multimap.spv");

/// Looks keys up in every format, in tables with room and in full ones, with erased keys and with reserved ones. The
/// drivers share the formats.
pub(crate) fn searches_in_shaders() {
    let context = context(Setup::Native);
    // A resizable table does not use all of its memory.
    let resizable = [Types::PAIRS.resizable()].into_iter().filter(|_| !very_brief());
    let kinds = Types::ALL.into_iter().enumerate().filter(|(i, _)| is_shared_here(*i));
    let wide = |i| Types::wide(i).filter(|types| !types.is_linear());
    let kinds = kinds.flat_map(|(i, types)| std::iter::once(types).chain(wide(i)).map(move |types| (i, types)));
    for (i, types) in kinds.chain(resizable.map(|types| (0, types))) {
        let mut random = Random::new(i as u64);
        let capacities = if types.resizable { [1500, 40 * SLICE] } else { [0, 2000] };
        let mut table = Table::resizable(&context, types, capacities, 1 << 18);
        let keys = |range: std::ops::Range<u32>| range.map(|i| types.key_of(i)).collect::<Vec<_>>();
        let constants = [types.key_words() as u32, types.value_words() as u32];
        let find = Pipeline::new(&context, &words_of(FIND), &constants, 28);
        search(&context, &find, &table, &keys(0..100));
        for (operation, range) in [
            (HashOperation::Insert, 1..900),
            (HashOperation::Insert, 1000..1900),
            (HashOperation::Erase, 300..500),
            // More than find slots.
            (HashOperation::Insert, 2000..4500),
            (HashOperation::Erase, 0..50),
        ] {
            table.apply(&Batch::new(operation, types, keys(range), &mut random));
            search(&context, &find, &table, &keys(0..4600));
            if types.resizable && resize(&mut table, on_host(0), 5000) > 2 {
                search(&context, &find, &table, &keys(0..4600));
            }
        }
    }
}

fn search(context: &Context, find: &Pipeline, table: &Table<'_>, keys: &[Words]) {
    let types = table.types;
    let value_words = types.value_words();
    let keys_in = context.upload(&keys.concat()).expect("keys");
    let words = keys.len() * (2 + value_words);
    let results = context.buffer(words as u64 * 4).expect("results");
    let mut push = Vec::new();
    for address in [table.range().address, keys_in.address(), results.address()] {
        push.extend(address.to_le_bytes());
    }
    push.extend((keys.len() as u32).to_le_bytes());
    let record = |commands| {
        find.record(commands, &push, (keys.len() as u32).div_ceil(32));
        Ok(())
    };
    context.run(record).expect("a search");
    let found = context.download::<u32>(&results, words).expect("results");
    for (key, found) in keys.iter().zip(found.chunks_exact(2 + value_words)) {
        let value = table.model.get(key);
        let mut expected = vec![table.model.len() as u32, u32::from(value.is_some())];
        expected.extend(value.cloned().unwrap_or_else(|| vec![u32::MAX; value_words]));
        assert_eq!(found, expected, "{types:?} {key:x?}: the number of keys, whether this one is found, and its value");
    }
    assert_silence(context);
}

/// An invocation of glsl/linear.comp. The numbers are those of the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Insert = 0,
    Find = 1,
    Erase = 2,
}

/// The results of insertions. Searches and erasures have 1 if they have found the key, otherwise 0.
const PRESENT: u32 = 0;
const INSERTED: u32 = 1;
const FULL: u32 = 2;

/// Steps, each with the number of its key, and its value.
type Steps = Vec<(Step, u32, u32)>;

/// Runs all steps in one dispatch. Returns for each step its result, and the value that the step has found.
fn run_steps(context: &Context, table: &Table<'_>, steps: &Steps) -> Vec<[u32; 2]> {
    let pipeline = Pipeline::new(context, &words_of(LINEAR), &[table.types.value_words() as u32], 28);
    let words_of = |(step, key, value): &(Step, u32, u32)| [*step as u32, table.types.key_of(*key)[0], *value];
    let items = context.upload(&steps.iter().flat_map(words_of).collect::<Vec<u32>>()).expect("items");
    let results = context.buffer(steps.len() as u64 * 8).expect("results");
    let addresses = [table.range().address, items.address(), results.address()].into_iter();
    let mut push: Vec<u8> = addresses.flat_map(u64::to_le_bytes).collect();
    push.extend((steps.len() as u32).to_le_bytes());
    table.run(|commands| {
        pipeline.record(commands, &push, (steps.len() as u32).div_ceil(32));
        Ok(())
    });
    let words = context.download::<u32>(&results, steps.len() * 2).expect("results");
    words.chunks_exact(2).map(|result| [result[0], result[1]]).collect()
}

/// Insertions, searches and erasures in one dispatch, with many equal keys. Of equal insertions into a table without
/// the key, one invocation inserts the key. Operations of hashers on the same table follow.
pub(crate) fn insertions_in_shaders() {
    let context = context(Setup::Native);
    let rounds = if very_brief() { 2 } else { 8 };
    for types in [Types::PAIRS.linear(), Types::KEYS.linear().resizable()] {
        // Shaders do not reuse erased slots: the capacity suffices for the slots of all rounds. A resizable table does
        // not use all of its memory.
        let capacities = if types.resizable { [8192, 1 << 15] } else { [0, 8192] };
        let mut table = Table::resizable(&context, types, capacities, 0);
        let mut random = Random::new(3);
        for round in 0..rounds {
            let steps: Steps = (0..5000)
                .map(|_| {
                    let key = random.below(KEYS);
                    let step = match class_of(key, round) {
                        1 | 5 if random.below(2) == 0 => Step::Insert,
                        4 | 5 if random.below(2) == 0 => Step::Erase,
                        _ => Step::Find,
                    };
                    (step, key, random.next() >> 1)
                })
                .collect();
            let results = run_steps(&context, &table, &steps);
            check_steps(&mut table, &steps, &results);
            let others: Vec<Words> = (0..KEYS + 100).map(|i| types.key_of(i)).collect();
            table.check(&others);
            for operation in [HashOperation::Insert, HashOperation::Erase] {
                let keys = (0..60).map(|_| types.key_of(random.below(KEYS))).collect();
                let left = table.apply(&Batch::new(operation, types, keys, &mut random));
                assert!(left.is_empty(), "{} keys are left over", left.len());
            }
            table.check(&others);
        }
        full_table(&context, types);
    }
}

/// Checks the results of steps, and makes the content of the table the model.
fn check_steps(table: &mut Table<'_>, steps: &Steps, results: &[[u32; 2]]) {
    let mut changes = HashMap::<Words, Changes>::new();
    // For each key, the number of insertions that have inserted it, less that of erasures that have erased it.
    let mut balance = HashMap::<Words, i32>::new();
    let has_values = table.types.value_words() != 0;
    let value_of = |value: u32| if has_values { vec![value] } else { Words::new() };
    for ((step, key, value), [result, _]) in steps.iter().zip(results) {
        let key = table.types.key_of(*key);
        let of_key = changes.entry(key.clone()).or_default();
        let balance = balance.entry(key).or_default();
        match (step, *result) {
            (Step::Insert, INSERTED) => {
                of_key.inserted.push(value_of(*value));
                *balance += 1;
            }
            (Step::Insert, result) => assert_eq!(result, PRESENT),
            (Step::Erase, 0) => {}
            (Step::Erase, result) => {
                assert_eq!(result, 1);
                of_key.is_erased = true;
                *balance -= 1;
            }
            (Step::Find, _) => {}
        }
    }
    for ((step, key, value), [result, found]) in steps.iter().zip(results) {
        let key = table.types.key_of(*key);
        let (former, changes) = (table.model.get(&key), &changes[&key]);
        match step {
            Step::Find => {
                assert!(*result == 1 || *found == u32::MAX, "the value of {key:x?}, which is absent: {found:x}");
                let found = (*result == 1).then(|| value_of(*found));
                let is_allowed = changes.allow_meanwhile(&key, former, found.as_ref());
                assert!(is_allowed, "{key:x?}: {found:x?}, {former:x?}, {changes:x?}");
            }
            Step::Insert => {
                let was_there = former.is_some() || !changes.inserted.is_empty();
                assert!(was_there, "{key:x?} with {value:x}: an insertion finds a key that was never inserted");
            }
            Step::Erase => {}
        }
    }
    let former = table.model.clone();
    let none = Changes::default();
    check_last_values(table, |key| changes.get(key).unwrap_or(&none));
    for (key, balance) in balance {
        let [before, after] = [&former, &table.model].map(|model| i32::from(model.contains_key(&key)));
        assert_eq!(before + balance, after, "{key:x?}: present before, plus insertions, less erasures; present after");
    }
}

/// Insertions of shaders into a table without empty slots.
fn full_table(context: &Context, types: Types) {
    let mut random = Random::new(5);
    let mut table = Table::new(context, types, 1024, 1024);
    let keys = (2..1026).map(|i| types.key_of(i)).collect();
    let left = table.apply(&Batch::new(HashOperation::Insert, types, keys, &mut random));
    assert!(left.is_empty(), "{} keys are left over", left.len());
    // Reserved keys need no slot.
    let steps: Steps = (0..1100).map(|key| (Step::Insert, key, key)).collect();
    let results: Vec<u32> = run_steps(context, &table, &steps).into_iter().map(|[result, _]| result).collect();
    assert_eq!(results, [vec![INSERTED; 2], vec![PRESENT; 1024], vec![FULL; 74]].concat());
    for (_, key, value) in &steps[..2] {
        table.model.insert(types.key_of(*key), if types.value_words() == 0 { Words::new() } else { vec![*value] });
    }
    table.check(&[]);
    // Erased slots are not reused.
    let steps: Steps = (10..20).map(|key| (Step::Erase, key, 0)).collect();
    assert!(run_steps(context, &table, &steps).iter().all(|[result, _]| *result == 1), "all keys are erased");
    steps.iter().for_each(|(_, key, _)| table.model.remove(&types.key_of(*key)));
    table.check(&[]);
    let results = run_steps(context, &table, &vec![(Step::Insert, 10, 0), (Step::Erase, 11, 0), (Step::Find, 12, 0)]);
    assert_eq!(results.iter().map(|[result, _]| *result).collect::<Vec<_>>(), [FULL, 0, 0]);
    table.check(&[]);
}

/// The number of values of each key, their sum, and their exclusive or, for keys with one value and with a hundred, and
/// between erased slots.
pub(crate) fn values_in_shaders() {
    let context = context(Setup::Native);
    let types = Types::PAIRS.multimap().resizable();
    let mut random = Random::new(4);
    let mut table = Table::resizable(&context, types, [2000, 8000], 0);
    let many = vec![types.key_of(5); 100];
    for (operation, keys) in [
        (HashOperation::Insert, many),
        (HashOperation::Insert, (0..1200).map(|_| types.key_of(random.below(400))).collect()),
        (HashOperation::Erase, types.keys_of(100..200)),
    ] {
        table.apply(&Batch::new(operation, types, keys, &mut random));
        let keys = types.keys_of(0..500);
        let pipeline = Pipeline::new(&context, &words_of(MULTIMAP), &[], 28);
        let keys_in = context.upload(&keys.concat()).expect("keys");
        let results = context.buffer(keys.len() as u64 * 12).expect("results");
        let addresses = [table.range().address, keys_in.address(), results.address()].into_iter();
        let mut push: Vec<u8> = addresses.flat_map(u64::to_le_bytes).collect();
        push.extend((keys.len() as u32).to_le_bytes());
        table.run(|commands| {
            pipeline.record(commands, &push, (keys.len() as u32).div_ceil(32));
            Ok(())
        });
        let found = context.download::<u32>(&results, keys.len() * 3).expect("results");
        for (key, found) in keys.iter().zip(found.chunks_exact(3)) {
            let values = table.model.values_of(key);
            let sum = values.iter().fold(0u32, |sum, value| sum.wrapping_add(value[0]));
            let all = values.iter().fold(0, |all, value| all ^ value[0]);
            assert_eq!(found, [values.len() as u32, sum, all], "{key:x?}: number, sum, exclusive or");
        }
    }
    assert_silence(&context);
}
