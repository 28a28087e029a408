//! Tables that are saved and loaded, and their statistics.

use crate::common::contexts::{Setup, context, is_shared_here};
use crate::common::keys::{Random, unmix};
use crate::table::{Batch, SLICE, Table, Types, Words};
use trommel::HashOperation;
use trommel::hash::check_table;

/// Words of a table of one slice: the header begins with 0, then come the mark and the slices. See `HashHeader`.
const MARK: usize = 64;
const SLICES: usize = 80;

fn error_of(types: Types, capacity: u32, bytes: &[u8]) -> String {
    check_table(types.key, types.value, capacity, bytes).expect_err("a refusal").to_string()
}

/// The bytes with one word changed.
fn changed(bytes: &[u8], word: usize, value: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[4 * word..][..4].copy_from_slice(&value.to_ne_bytes());
    bytes
}

/// A table goes on in other memory, with keys in overflow slices, erased slots and reserved keys. The drivers share the
/// types.
pub(crate) fn tables_in_other_memory() {
    let context = context(Setup::Native);
    for (i, types) in Types::ALL.into_iter().enumerate().filter(|(i, _)| is_shared_here(*i)) {
        let mut random = Random::new(i as u64);
        let capacity = 2 * SLICE;
        let mut table = Table::new(&context, types, capacity, capacity);
        table.check(&[]);
        assert_eq!(table.statistics().mean_probes(), 0.0);
        let keys = |range: std::ops::Range<u32>| range.map(|i| types.key_of(i)).collect::<Vec<Words>>();
        table.apply(&Batch::new(HashOperation::Insert, types, keys(0..3 * SLICE), &mut random));
        let full = table.statistics();
        assert!(full.load_factor() > 0.99 && full.overflow_keys() > 0 && full.most_probes() > 16, "{full:?}");
        table.apply(&Batch::new(HashOperation::Erase, types, keys(5..300), &mut random));
        assert_ne!(table.statistics().erased_slots, 0, "keys of the overflow slice have been erased, too");
        let saved = table.bytes();
        table.load(&saved);
        table.apply(&Batch::new(HashOperation::Insert, types, keys(100..200), &mut random));
        table.check(&keys(0..SLICE));
        table.statistics();
    }
}

/// Searches read few buckets at every load. Bounds are a little above the means of docs/hash.md.
pub(crate) fn probes_by_load() {
    let context = context(Setup::Native);
    let types = Types::PAIRS;
    let mut random = Random::new(6);
    let slots = 32 * SLICE;
    let mut table = Table::new(&context, types, slots, slots);
    let mut end = 2;
    for (percent, most_of_mean) in [(50, 1.02), (80, 1.09), (90, 1.15), (95, 1.22)] {
        let begin = std::mem::replace(&mut end, 2 + slots / 100 * percent);
        let keys = (begin..end).map(|i| types.key_of(i)).collect();
        let left = table.apply(&Batch::new(HashOperation::Insert, types, keys, &mut random));
        assert!(left.is_empty(), "{} keys are left over at {percent} %", left.len());
        let statistics = table.statistics();
        let (mean, most, overflows) = (statistics.mean_probes(), statistics.most_probes(), statistics.overflow_keys());
        let first = 100.0 * f64::from(statistics.probes[0]) / f64::from(statistics.keys);
        println!(
            "{percent} %: {mean:.3} buckets a key, at most {most}, {first:.1} % in the first one, {overflows} keys in \
             overflow slices"
        );
        assert!(mean < most_of_mean, "a mean of {mean} buckets at {percent} %");
        assert_ne!(statistics.probes[1], 0, "no key lies in its second bucket at {percent} %");
    }
}

/// Tables with faults are refused, each with what is wrong.
pub(crate) fn faults_of_saved_tables() {
    let context = context(Setup::Native);
    let types = Types::PAIRS;
    let mut random = Random::new(4);
    let mut table = Table::new(&context, types, SLICE, SLICE);
    // Keys of one bucket, so that the table has a key in its overflow slice.
    let keys: Vec<Words> = (0..1100).map(|i| vec![unmix(0x1234_0000 + i)]).collect();
    table.apply(&Batch::new(HashOperation::Insert, types, keys.clone(), &mut random));
    table.apply(&Batch::new(HashOperation::Erase, types, keys[..10].to_vec(), &mut random));
    table.check(&keys);
    let good = table.bytes();
    let header = table.header();
    assert_eq!(check_table(types.key, types.value, SLICE, &good), Ok(()));
    let refused = |word: usize, value: u32| error_of(types, SLICE, &changed(&good, word, value));
    let bytes = good.len();
    assert_eq!(error_of(types, 0, &good), "capacity 0 < 1 required");
    assert_eq!(error_of(types, SLICE, &good[1..]), format!("table.size {} < {bytes} required", bytes - 1));
    assert_eq!(error_of(types, 1 << 20, &good), "table.size 16704 < 8651136 required");
    assert_eq!(
        error_of(Types::ALL[4], SLICE, &good),
        "table is malformed: the number of words of its keys is 1, not 2"
    );
    assert_eq!(refused(0, header[0] ^ 3), "table is malformed: the version of its layout is 2, not 1");
    assert_eq!(refused(1, 2), "table is malformed: the number of its slices is 2, not 1");
    assert_eq!(refused(2, 2), "table is malformed: a flag of its header is neither 0 nor 1");
    assert_eq!(refused(5, 9), "table is malformed: a flag of its header is neither 0 nor 1");
    let [keys, erased] = [header[3], header[4]];
    let other = format!("it has {keys} keys and {erased} erased slots, not {} and {erased} as its header", keys + 1);
    assert_eq!(refused(3, keys + 1), format!("table is malformed: {other}"));
    let other = format!("it has {keys} keys and {erased} erased slots, not {keys} and {} as its header", erased + 1);
    assert_eq!(refused(4, erased + 1), format!("table is malformed: {other}"));
    assert_eq!(refused(2, 0), "table is malformed: its header says that it is empty");
    assert_eq!(refused(MARK, 0), "table is malformed: slice 0 has no mark for its key in slice 1");

    // Any other key in a slot is elsewhere, or nowhere.
    let in_use = table.slots().iter().position(|slot| slot[0] < u32::MAX - 1).expect("a slot with a key");
    let text = refused(SLICES + 2 * in_use, 77);
    assert!(text.starts_with("table is malformed: no search finds slot "), "{text}");
    let before_others = (0..SLICE as usize).find(|slot| slot % 8 < 7 && table.slots()[slot + 1][0] < u32::MAX - 1);
    let text = refused(SLICES + 2 * before_others.expect("a bucket with two keys"), u32::MAX);
    assert!(text.contains(" follows an empty one") || text.contains("no search finds"), "{text}");
    // The order of two neighboring keys of a full bucket is a bit of its filter.
    let slots = table.slots();
    let mut unfound = 0;
    for first in (0..SLICE as usize).step_by(2).filter(|first| slots[*first][0] > slots[*first + 1][0]) {
        let words = [slots[first + 1].clone(), slots[first].clone()].concat();
        let at = SLICES + 2 * first;
        let swapped = (0..4).fold(good.clone(), |bytes, word| changed(&bytes, at + word, words[word]));
        unfound += usize::from(check_table(types.key, types.value, SLICE, &swapped).is_err());
    }
    assert!(unfound > SLICE as usize / 16, "{unfound} bits of filters have been found to be missing");
    // A second slot with a key of the table.
    let [one, other] = [0, 8].map(|slot| SLICES + 2 * slot);
    let text = refused(other, u32::from_ne_bytes(*good[4 * one..].first_chunk().expect("a key")));
    assert!(text.starts_with("table is malformed: no search finds slot "), "{text}");
    for word in 0..7 {
        assert_ne!(refused(word, u32::MAX - 7), "", "word {word} of the header");
    }
}
