//! Distinct long keys of which both hashes are equal: only a comparison of all words distinguishes them.

use crate::common::contexts::{Setup, context};
use crate::common::keys::{Random, unmix};
use crate::common::very_brief;
use crate::table::{Batch, SLICE, Table, Types, Words};
use crate::types::hashes;
use std::collections::HashMap;
use trommel::HashOperation;

/// Pairs of keys with equal hashes.
///
/// Each hash is a state to which words are added, by an exclusive or and then a bijection. If the exclusive or of the
/// two states behind the second word is the same for two keys, a third word makes both states equal. Words behind the
/// third one change nothing.
fn pairs(types: Types, count: u32) -> Vec<[Words; 2]> {
    const FIRST: u32 = 5;
    let mut seconds = HashMap::new();
    let mut found = Vec::new();
    for second in 0..400_000 {
        let [first_state, second_state] = hashes(&[FIRST, second, 0]).map(unmix);
        if let Some((other, other_state)) = seconds.insert(first_state ^ second_state, (second, first_state)) {
            found.push([second, other, first_state ^ other_state]);
        }
    }
    assert!(found.len() > 10, "{} pairs", found.len());
    let pair = |(number, [second, other, difference]): (u32, [u32; 3])| {
        let key = |words: [u32; 3]| [&words[..], &[number % 3]].concat()[..types.key_words()].to_vec();
        let [key, other] = [key([FIRST, second, number]), key([FIRST, other, number ^ difference])];
        assert!(key != other && hashes(&key) == hashes(&other), "{key:x?} and {other:x?}");
        [key, other]
    };
    (0..count).zip(found.into_iter().cycle()).map(pair).collect()
}

/// Every operation, with one key of each pair in the table, with both, and with none. The load is high, so that many
/// keys of a bucketed table wait for slots. The drivers share the types.
pub(crate) fn equal_hashes() {
    use HashOperation::{Add, Assign, Erase, Insert, Mixed};
    let context = context(Setup::Native);
    let [map, set] = [Types::ALL[7], Types::ALL[8]];
    let kinds = [set, Types::WIDE, map.linear(), set.linear(), map.multimap(), set.multimap()].into_iter().enumerate();
    for (i, types) in kinds.filter(|(_, types)| types.is_here() && types.are_filled()) {
        let pairs = pairs(types, 500);
        let [firsts, seconds] = [0, 1].map(|side| pairs.iter().map(|pair| pair[side].clone()).collect::<Vec<_>>());
        let all = pairs.concat();
        let mut random = Random::new(i as u64);
        let mut draw = || (0..1500).map(|_| all[random.below(all.len() as u32) as usize].clone()).collect();
        let batches: [(HashOperation, Vec<Words>); 12] = [
            (Insert, firsts.clone()),
            (Erase, seconds.clone()),
            (Insert, if types.multimap { seconds.clone() } else { draw() }),
            (Erase, firsts),
            (Assign, all.clone()),
            (Erase, all.clone()),
            (Insert, all.clone()),
            (Assign, draw()),
            (Add, draw()),
            (Erase, seconds),
            (Mixed, draw()),
            (Mixed, draw()),
        ];
        let mut table = Table::new(&context, types, SLICE, SLICE);
        // Pipelines take most of the time.
        for (operation, keys) in batches.into_iter().take(if very_brief() { 5 } else { 12 }) {
            if types.info().operation(operation).check().is_ok() {
                table.apply(&Batch::new(operation, types, keys, &mut Random::new(i as u64)));
                table.check(&all);
            }
        }
        let saved = table.bytes();
        table.load(&saved);
        table.check(&all);
    }
}
