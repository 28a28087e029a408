//! Tables that are saved and loaded, and their statistics.

use crate::common::contexts::{Setup, context, is_shared_here};
use crate::common::keys::{Random, unmix};
use crate::table::{Batch, SLICE, Table, Types, Words};
use trommel::HashOperation;
use trommel::hash::check_table;
use trommel::host::Context;

/// Words of a table of one slice: the header begins with 0, then come the mark and the slices. See `HashHeader`.
const MARK: usize = 64;
const SLICES: usize = 80;

fn error_of(types: Types, capacity: u32, bytes: &[u8]) -> String {
    check_table(&types.info(), capacity, bytes).expect_err("a refusal").to_string()
}

/// The bytes with one word changed.
fn changed(bytes: &[u8], word: usize, value: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[4 * word..][..4].copy_from_slice(&value.to_ne_bytes());
    bytes
}

/// The bytes with all ones from a word on: an empty slot.
fn emptied(bytes: &[u8], first: usize, words: usize) -> Vec<u8> {
    (first..first + words).fold(bytes.to_vec(), |bytes, word| changed(&bytes, word, u32::MAX))
}

/// A table goes on in other memory, with keys in overflow slices, erased slots and reserved keys. The drivers share the
/// types.
pub(crate) fn tables_in_other_memory() {
    let context = context(Setup::Native);
    let kinds = Types::ALL.into_iter().enumerate().filter(|(i, _)| is_shared_here(*i));
    let kinds = kinds
        .flat_map(|(i, types)| types.of_each_kind().into_iter().chain(Types::wide(i)).map(move |types| (i, types)));
    for (i, types) in kinds.filter(|(_, types)| types.are_filled()) {
        let mut random = Random::new(i as u64);
        let capacity = 2 * SLICE;
        let mut table = Table::new(&context, types, capacity, capacity);
        table.check(&[]);
        assert_eq!(table.statistics().mean_probes(), 0.0);
        let keys = |range: std::ops::Range<u32>| range.map(|i| types.key_of(i)).collect::<Vec<Words>>();
        table.apply(&Batch::new(HashOperation::Insert, types, keys(0..3 * SLICE), &mut random));
        let full = table.statistics();
        assert!(full.load_factor() > 0.99 && full.most_probes > 8, "{full:?}");
        assert_eq!(full.overflow_keys == 0, types.is_linear(), "{full:?}");
        table.apply(&Batch::new(HashOperation::Erase, types, keys(1500..3000), &mut random));
        let erased = "many keys of the overflow slice have been erased, too; no slot of a linear table is empty";
        assert_ne!(table.statistics().erased_slots, 0, "{erased}");
        let saved = table.bytes();
        table.load(&saved);
        table.apply(&Batch::new(HashOperation::Insert, types, keys(1900..2100), &mut random));
        table.check(&keys(0..SLICE));
        table.statistics();
    }
}

/// Searches read few buckets at every load, and no key is left over. Bounds are a little above the means of
/// docs/hash.md: of buckets with eight slots, and with four slots, which fewer keys find a slot in.
pub(crate) fn probes_by_load() {
    let context = context(Setup::Native);
    let has_four_slots = |types: &Types| types.key_words() + types.value_words() > 2 && types.is_here();
    let four_slots = Types::ALL.into_iter().rfind(has_four_slots).expect("each driver has such types");
    let pairs = [(50, 1.02), (80, 1.09), (90, 1.14), (95, 1.18), (98, 1.21), (100, 1.24)];
    probes_of(&context, Types::PAIRS, &pairs);
    probes_of(&context, four_slots, &[(50, 1.05), (80, 1.16), (90, 1.23), (95, 1.28), (98, 1.31)]);
}

/// `loads`: in per cent, each with a bound of the mean.
fn probes_of(context: &Context, types: Types, loads: &[(u32, f64)]) {
    let mut random = Random::new(6);
    let slots = 32 * SLICE;
    let mut table = Table::new(context, types, slots, slots);
    let mut end = 2;
    for &(percent, most_of_mean) in loads {
        let begin = std::mem::replace(&mut end, 2 + slots / 100 * percent);
        let keys = (begin..end).map(|i| types.key_of(i)).collect();
        let left = table.apply(&Batch::new(HashOperation::Insert, types, keys, &mut random));
        let statistics = table.statistics();
        let (mean, most, overflows) = (statistics.mean_probes(), statistics.most_probes, statistics.overflow_keys);
        let first = 100.0 * f64::from(statistics.probes[0]) / f64::from(statistics.keys);
        println!(
            "{types:?}, {percent} %: {mean:.3} buckets a key, at most {most}, {first:.1} % in the first one, \
             {overflows} in overflow slices"
        );
        assert!(left.is_empty(), "{} keys are left over at {percent} %", left.len());
        assert!(mean < most_of_mean, "a mean of {mean} buckets at {percent} %");
        let beyond: u32 = statistics.probes[2..].iter().sum();
        assert_eq!(beyond, overflows, "keys beyond their second buckets, and in overflow slices");
        assert_ne!(statistics.probes[1], 0, "no key lies in its second bucket at {percent} %");
    }
}

/// A search for a key of a linear table reads `(1 + 1 / (1 - a)) / 2` slots at a load of `a` in theory (Knuth). The
/// order of insertions changes the largest number of slots, but not the mean.
pub(crate) fn probes_of_linear_tables_by_load() {
    let context = context(Setup::Native);
    let types = Types::PAIRS.linear();
    let mut random = Random::new(6);
    let slots = 32 * SLICE;
    let mut table = Table::new(&context, types, slots, slots);
    let mut end = 2;
    for percent in [50, 80, 90, 95] {
        let begin = std::mem::replace(&mut end, 2 + slots / 100 * percent);
        let keys = (begin..end).map(|i| types.key_of(i)).collect();
        let left = table.apply(&Batch::new(HashOperation::Insert, types, keys, &mut random));
        assert!(left.is_empty(), "{} keys are left over at {percent} %", left.len());
        let statistics = table.statistics();
        let (mean, most) = (statistics.mean_probes(), statistics.most_probes);
        let load = statistics.load_factor();
        let theory = (1.0 + 1.0 / (1.0 - load)) / 2.0;
        let first = 100.0 * f64::from(statistics.probes[0]) / f64::from(statistics.keys);
        println!(
            "{percent} %: {mean:.2} slots a key ({theory:.2} in theory), at most {most}, {first:.1} % in the first"
        );
        assert!((mean / theory - 1.0).abs() < 0.15, "a mean of {mean} slots at {percent} %, {theory} in theory");
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
    assert_eq!(check_table(&types.info(), SLICE, &good), Ok(()));
    let refused = |word: usize, value: u32| error_of(types, SLICE, &changed(&good, word, value));
    let bytes = good.len();
    assert_eq!(error_of(types, 0, &good), "capacity 0 < 1 required");
    assert_eq!(error_of(types, SLICE, &good[1..]), format!("table.size {} < {bytes} required", bytes - 1));
    assert_eq!(error_of(types, 1 << 20, &good), "table.size 16704 < 8651136 required");
    assert_eq!(
        error_of(Types::ALL[4], SLICE, &good),
        "table is malformed: the number of words of its keys is 1, not 2"
    );
    assert_eq!(refused(0, header[0] ^ 3), "table is malformed: the version of its layout is 1, not 2");
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
        unfound += usize::from(check_table(&types.info(), SLICE, &swapped).is_err());
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

/// As `faults_of_saved_tables`, for a linear table with four keys of one path, one of them erased, and a reserved key.
pub(crate) fn faults_of_linear_tables() {
    const HOME: u32 = 500;
    let context = context(Setup::Native);
    let types = Types::PAIRS.linear();
    let mut random = Random::new(4);
    let mut table = Table::new(&context, types, SLICE, SLICE);
    let key = |home: u32, number: u32| vec![unmix(number * SLICE + home)];
    // A batch for each key determines the slots.
    for number in 0..4 {
        table.apply(&Batch::new(HashOperation::Insert, types, vec![key(HOME, number)], &mut random));
    }
    table.apply(&Batch::new(HashOperation::Erase, types, vec![key(HOME, 2)], &mut random));
    table.apply(&Batch::new(HashOperation::Insert, types, vec![types.key_of(0)], &mut random));
    table.check(&[]);
    let good = table.bytes();
    assert_eq!(check_table(&types.info(), SLICE, &good), Ok(()));
    let refused = |word: usize, value: u32| error_of(types, SLICE, &changed(&good, word, value));
    let malformed = |why: &str| format!("table is malformed: {why}");
    let header = table.header();
    assert_eq!(error_of(types, SLICE, &good[1..]), "table.size 8447 < 8448 required");
    assert_eq!(error_of(types, SLICE + 1, &good), "table.size 8448 < 16640 required");
    assert_eq!(error_of(types, 1 << 31, &good), "capacity 2147483648 > 1073741824, the most slots of a table");
    let long = Types::ALL[4].linear();
    let text = error_of(long, SLICE, &[&good[..], &[0; 8192]].concat());
    assert_eq!(text, malformed("the number of words of its keys is 1, not 2"));
    // A table of each scheme, taken for one of the other.
    let bucketed = Table::new(&context, Types::PAIRS, SLICE, SLICE).bytes();
    assert_eq!(error_of(types, SLICE, &bucketed), malformed("the number of its scheme is 0, not 1"));
    let text = error_of(Types::PAIRS, SLICE, &[&good[..], &bucketed].concat());
    assert_eq!(text, malformed("the number of its scheme is 1, not 0"));
    assert_eq!(refused(0, header[0] ^ 3), malformed("the version of its layout is 1, not 2"));
    assert_eq!(refused(0, header[0] ^ 3 << 16), malformed("the number of words of its values is 2, not 1"));
    assert_eq!(refused(0, header[0] ^ 3 << 24), malformed("the number of its scheme is 2, not 1"));
    assert_eq!(refused(1, 2), malformed("the number of its slices is 2, not 1"));
    assert_eq!(refused(5, 9), malformed("a flag of its header is neither 0 nor 1"));
    for (word, of_header) in [(3, "5 and 1"), (4, "4 and 2")] {
        let why = format!("it has 4 keys and 1 erased slots, not {of_header} as its header");
        assert_eq!(refused(word, header[word] + 1), malformed(&why));
    }
    let why = "it has 3 keys and 1 erased slots, not 4 and 1 as its header";
    assert_eq!(refused(5, 0), malformed(why), "a reserved key is missing");

    // Faults of slots.
    let slot = |slot: u32| 64 + 2 * slot as usize;
    let word_of = |slot_index: u32| u32::from_ne_bytes(*good[4 * slot(slot_index)..].first_chunk().expect("a slot"));
    let keys = [0, 1, 3].map(|number| key(HOME, number)[0]);
    assert_eq!([0, 1, 3].map(|place| word_of(HOME + place)), keys, "keys in the order of their insertion");
    assert_eq!(word_of(HOME + 2), u32::MAX - 1, "the slot of an erased key");
    let unfound = |slot: u32| malformed(&format!("no search finds slot {slot}"));
    assert_eq!(refused(slot(HOME), key(HOME + 1, 9)[0]), unfound(HOME), "a key in front of its path");
    assert_eq!(refused(slot(HOME + 9), keys[1]), unfound(HOME + 9), "a key twice, behind an empty slot");
    assert_eq!(refused(slot(HOME + 4), keys[1]), unfound(HOME + 4), "a key twice");
    let with_gap = emptied(&good, slot(HOME + 2), 2);
    assert_eq!(error_of(types, SLICE, &with_gap), unfound(HOME + 3), "an empty slot inside a path");
    assert_eq!(refused(slot(HOME + 4), key(HOME + 5, 9)[0]), unfound(HOME + 4), "another key in front of its path");
    let why = "it has 5 keys and 1 erased slots, not 4 and 1 as its header";
    assert_eq!(refused(slot(HOME + 4), key(HOME + 4, 9)[0]), malformed(why), "one more key");
    assert_eq!(refused(slot(HOME + 4) + 1, 7), malformed(&format!("empty slot {} has a value", HOME + 4)));
    assert_eq!(check_table(&types.info(), SLICE, &changed(&good, slot(HOME + 2) + 1, 7)), Ok(()), "an erased slot");
    for word in [0, 1, 3, 4, 5, 6] {
        assert_ne!(refused(word, u32::MAX - 7), "", "word {word} of the header");
    }
    faults_of_fingerprints(&context);
}

/// A table that was not checked, with slots that name items behind the end of a batch: insertions read no such key.
pub(crate) fn claims_of_no_item() {
    let context = context(Setup::Native);
    for types in [Types::ALL[4], Types::ALL[7]].map(Types::linear).into_iter().filter(|types| types.are_filled()) {
        let mut table = Table::new(&context, types, SLICE, SLICE);
        let empty = table.bytes();
        for item in [100, 0x1234_5678, (1 << 31) - 3] {
            let claimed = |bytes: Vec<u8>, slot| changed(&bytes, 64 + slot * types.slot_words(), 1 << 31 | item);
            table.load(&(0..SLICE as usize).fold(empty.clone(), claimed));
            let left = table.apply_to(HashOperation::Insert, types.keys_of(0..100));
            assert_eq!(left.len(), 100, "no slot is free");
        }
    }
}

/// As `faults_of_linear_tables`, for a multimap with four entries of one path: two of one key, an erased one, and
/// another key. Equal keys are no fault.
pub(crate) fn faults_of_multimaps() {
    const HOME: u32 = 500;
    let context = context(Setup::Native);
    let types = Types::PAIRS.multimap();
    let mut table = Table::new(&context, types, SLICE, SLICE);
    let key = |home: u32, number: u32| vec![unmix(number * SLICE + home)];
    // A batch for each entry determines the slots.
    for number in [0, 0, 1, 2] {
        table.apply_to(HashOperation::Insert, vec![key(HOME, number)]);
    }
    table.apply_to(HashOperation::Erase, vec![key(HOME, 1)]);
    table.check(&[]);
    let (good, slots) = (table.bytes(), table.slots());
    let at = |slot: u32, word: usize| 64 + 3 * slot as usize + word;
    let refused = |word: usize, value: u32| error_of(types, SLICE, &changed(&good, word, value));
    let malformed = |why: &str| format!("table is malformed: {why}");
    let unfound = |slot: u32| malformed(&format!("no search finds slot {slot}"));
    let entry = |slot: u32| slots[slot as usize].clone();
    assert_eq!([0, 1, 3].map(|slot| entry(HOME + slot)[1]), [0, 0, 2].map(|number| key(HOME, number)[0]));
    assert_eq!(entry(HOME + 2)[0], u32::MAX - 1, "the slot of an erased key");
    let header = table.header();
    assert_eq!(header[5..7], [0; 2], "reserved keys");
    refuses_reserved_keys(types, &good, &header);
    assert_eq!(refused(at(HOME + 9, 2), 7), malformed(&format!("empty slot {} has a value", HOME + 9)));
    let counts = |found: &str, of_header: &str| malformed(&format!("it has {found}, not {of_header} as its header"));
    assert_eq!(refused(3, 4), counts("3 keys and 1 erased slots", "4 and 1"));
    assert_eq!(refused(4, 2), counts("3 keys and 1 erased slots", "3 and 2"));
    // One more entry with a key of the table, where a search comes by, behind an empty slot, and in front of its path.
    let with_entry =
        |slot: u32| (0..3).fold(good.clone(), |bytes, word| changed(&bytes, at(slot, word), entry(HOME)[word]));
    let error_with_entry = |slot: u32| error_of(types, SLICE, &with_entry(slot));
    assert_eq!(error_with_entry(HOME + 4), counts("4 keys and 1 erased slots", "3 and 1"));
    assert_eq!(error_with_entry(HOME + 5), unfound(HOME + 5));
    assert_eq!(error_with_entry(HOME - 1), unfound(HOME - 1));
    assert_eq!(check_table(&types.info(), SLICE, &changed(&with_entry(HOME + 4), 3, 4)), Ok(()), "three equal keys");
    for slot in [HOME, HOME + 2] {
        let with_gap = emptied(&good, at(slot, 0), 3);
        assert_eq!(error_of(types, SLICE, &with_gap), unfound(slot + 1), "an empty slot inside a path");
    }
    for slot in [0, 1, 3].map(|slot| HOME + slot) {
        let [fingerprint, key_word, value] = entry(slot)[..] else { panic!("three words") };
        assert_eq!(refused(at(slot, 0), fingerprint ^ 1), unfound(slot), "a wrong fingerprint");
        assert_eq!(refused(at(slot, 1), key_word ^ 1 << 9), unfound(slot), "a wrong key");
        let bytes = changed(&good, at(slot, 2), !value);
        assert_eq!(check_table(&types.info(), SLICE, &bytes), Ok(()), "values can be anything");
    }
    // A table of each kind, taken for one of another.
    let linear = Table::new(&context, Types::PAIRS.linear(), 2 * SLICE, 0).bytes();
    assert_eq!(error_of(types, SLICE, &linear), malformed("the number of its scheme is 1, not 2"));
    assert_eq!(error_of(Types::PAIRS.linear(), SLICE, &good), malformed("the number of its scheme is 2, not 1"));
    for word in [0, 1, 3, 4, 5, 6] {
        assert_ne!(refused(word, u32::MAX - 7), "", "word {word} of the header");
    }
    // A key with many values, as it is and with an empty slot among them.
    table.apply_to(HashOperation::Insert, vec![key(HOME, 5); 200]);
    table.check(&[]);
    let text = error_of(types, SLICE, &emptied(&table.bytes(), at(HOME + 100, 0), 3));
    assert_eq!(text, unfound(HOME + 101));
}

/// A table without reserved keys is refused if its header has one of them, also if the number of keys includes it.
fn refuses_reserved_keys(types: Types, good: &[u8], header: &[u32]) {
    for word in [5, 6] {
        let with_flag = changed(&changed(good, word, 1), 3, header[3] + 1);
        let text = error_of(types, SLICE, &with_flag);
        assert_eq!(text, "table is malformed: its header has a reserved key, but no key is reserved");
    }
}

/// Keys of several words: a wrong bit in the fingerprint or in the key is a fault. No key is reserved.
fn faults_of_fingerprints(context: &Context) {
    let types = Types::ALL[5].linear();
    let mut random = Random::new(5);
    let mut table = Table::new(context, types, SLICE, SLICE);
    let keys: Vec<Words> = (0..700).map(|i| types.key_of(i)).collect();
    table.apply(&Batch::new(HashOperation::Insert, types, keys, &mut random));
    table.check(&[]);
    assert_eq!(table.header()[5..7], [0; 2], "reserved keys");
    let good = table.bytes();
    let in_use = table.slots().iter().position(|slot| slot[0] < u32::MAX - 1).expect("a slot with a key");
    for word in 0..3 {
        let at = 64 + 4 * in_use + word;
        let before = table.slots()[in_use][word];
        let text = error_of(types, SLICE, &changed(&good, at, before ^ 1 << (7 * word)));
        assert_eq!(text, format!("table is malformed: no search finds slot {in_use}"));
    }
    refuses_reserved_keys(types, &good, &table.header());
    let empty = table.slots().iter().position(|slot| slot[0] == u32::MAX).expect("an empty slot");
    let text = error_of(types, SLICE, &changed(&good, 64 + 4 * empty + 3, 7));
    assert_eq!(text, format!("table is malformed: empty slot {empty} has a value"));
    // Values of several words.
    let types = Types::ALL[6].linear();
    let good = Table::new(context, types, SLICE, SLICE).bytes();
    for word in [3, 4] {
        let text = error_of(types, SLICE, &changed(&good, 64 + 5 * 9 + word, 7));
        assert_eq!(text, "table is malformed: empty slot 9 has a value");
    }
}
