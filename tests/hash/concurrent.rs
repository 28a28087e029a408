//! Concurrent operations on one table.

use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::keys::{Random, mix};
use crate::common::very_brief;
use crate::resizing::{on_host, resize};
use crate::table::{Batch, Table, Types, Words};
use std::collections::HashMap;
use trommel::host::Context;
use trommel::{
    Count, HashInfo, HashOperation, Hasher, HasherInfo, KeyType, Range, Request, ValueType, batch_scratch_size,
};

use HashOperation::{Assign, Erase, Export, Find, Insert};

/// Number of keys of a test. Each operation of a round draws from some of them.
pub(crate) const KEYS: u32 = 700;

/// The concurrent operations of a round that change a key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Values of insertions.
    pub(crate) inserted: Vec<Words>,
    /// Values of assignments.
    pub(crate) assigned: Vec<Words>,
    pub(crate) is_erased: bool,
}

impl Changes {
    /// Adds the items of a batch to the changes of each key.
    fn add(all: &mut HashMap<Words, Self>, batch: &Batch) {
        for (key, value) in batch.items().filter(|_| batch.operation != Find) {
            let changes = all.entry(key.clone()).or_default();
            match batch.operation {
                Insert => changes.inserted.push(value.clone()),
                Assign => changes.assigned.push(value.clone()),
                _ => changes.is_erased = true,
            }
        }
    }

    /// Whether an insertion or an assignment has this value.
    fn offer(&self, value: &Words) -> bool {
        self.inserted.contains(value) || self.assigned.contains(value)
    }

    /// Whether a key with this former value may have this last value after all operations. None: the key is absent.
    pub(crate) fn allow_at_end(&self, former: Option<&Words>, last: Option<&Words>) -> bool {
        match (former, last) {
            // The former value is gone after an erasure. Insertions and assignments may follow.
            _ if self.is_erased => last.is_none_or(|last| self.offer(last)),
            // An insertion keeps the value; an assignment replaces it.
            (Some(former), Some(last)) if self.assigned.is_empty() => former == last,
            (Some(_), Some(last)) => self.assigned.contains(last),
            (None, Some(last)) => self.offer(last),
            (Some(_), None) => false,
            (None, None) => self.inserted.is_empty() && self.assigned.is_empty(),
        }
    }

    /// Whether a concurrent search for a key may find this value. None: the key is absent.
    pub(crate) fn allow_meanwhile(&self, key: &Words, former: Option<&Words>, found: Option<&Words>) -> bool {
        let was_absent = former.is_none() || self.is_erased;
        // While one of the two largest keys is inserted again, a search may find an earlier value.
        let is_largest = key[0] >= u32::MAX - 1;
        if is_largest && was_absent && found.is_some() {
            return !self.inserted.is_empty() || !self.assigned.is_empty() || former == found;
        }
        found.map_or(was_absent, |found| {
            former == Some(found) || self.assigned.contains(found) || was_absent && self.inserted.contains(found)
        })
    }
}

/// The class of a key in a round: a bit for each operation that changes the key.
pub(crate) fn class_of(key: u32, round: u32) -> u32 {
    mix(key * 31 + round) & 7
}

/// Draws keys with a class that has one of the bits. No bits: draws all keys.
fn draw(table: &Table<'_>, operation: HashOperation, [round, bits]: [u32; 2], count: u32) -> Batch {
    let mut random = Random::new(u64::from(round) << 8 | u64::from(bits));
    let candidates: Vec<u32> = (0..KEYS).filter(|key| bits == 0 || class_of(*key, round) & bits != 0).collect();
    let candidate = |_| table.types.key_of(candidates[random.below(candidates.len() as u32) as usize]);
    let keys = (0..count).map(candidate).collect();
    small_values(Batch::new(operation, table.types, keys, &mut random))
}

/// Clears the upper bit of all values: concurrent searches take keys with values of all ones as absent.
fn small_values(mut batch: Batch) -> Batch {
    batch.values.iter_mut().flatten().for_each(|word| *word >>= 1);
    batch
}

/// Concurrent insertions, assignments, erasures and searches of overlapping sets of keys, with many equal keys. The
/// table and the results of searches are those of some order of the operations. Non-concurrent operations follow.
pub(crate) fn concurrent_operations() {
    let context = context(Setup::Native);
    let all_rounds = if very_brief() { 2 } else { 6 };
    let kinds = [Types::PAIRS.linear(), Types::KEYS.linear()];
    for (types, rounds) in kinds.map(|types| (types, all_rounds)).into_iter().chain([(kinds[0].resizable(), 2)]) {
        // Concurrent insertions do not reuse erased slots: the capacity suffices for the slots of all rounds.
        let mut table = Table::resizable(&context, types, [if types.resizable { 1024 } else { 0 }, 8192], 0);
        let begin = draw(&table, Insert, [0, 0], KEYS);
        table.apply(&begin);
        for round in 0..rounds {
            if types.resizable {
                let slices = resize(&mut table, on_host(3000), KEYS);
                assert!(slices > 1, "room for 3000 keys more");
            }
            concurrent_round(&mut table, round);
            let others: Vec<Words> = (0..KEYS + 100).map(|i| types.key_of(i)).collect();
            table.check(&others);
            // Non-concurrent operations.
            for (bits, operation) in [Erase, Insert, Assign, Find].into_iter().enumerate() {
                let batch = draw(&table, operation, [100 + round, bits as u32], 60);
                assert!(table.apply(&batch).is_empty(), "keys are left over");
            }
            table.check(&others);
            table.statistics();
        }
    }
}

/// Applies concurrent batches, checks their results, and makes the content of the table the model.
fn concurrent_round(table: &mut Table<'_>, round: u32) {
    let operations = [(Find, 0), (Insert, 1), (Assign, 2), (Erase, 4), (Find, 0)];
    let has_values = table.types.value_words() != 0;
    let batches: Vec<Batch> = operations
        .into_iter()
        .filter(|(operation, _)| *operation != Assign || has_values)
        .map(|(operation, bits)| {
            let batch = draw(table, operation, [round, bits], 1500).concurrent();
            if round % 3 == 1 { batch.counted(1200 + 100 * bits) } else { batch }
        })
        .collect();
    let mut changes = HashMap::new();
    batches.iter().for_each(|batch| Changes::add(&mut changes, batch));
    let found = table.apply_together(&batches, round.is_multiple_of(2));

    let none = Changes::default();
    let changes_of = |key: &Words| changes.get(key).unwrap_or(&none);
    let former = &table.model.clone();
    for (batch, found) in batches.iter().zip(&found).filter(|(batch, _)| batch.operation == Find) {
        for ((key, _), found) in batch.items().zip(found) {
            let (former, changes) = (former.get(key), changes_of(key));
            let is_allowed = changes.allow_meanwhile(key, former, found.as_ref());
            assert!(is_allowed, "{key:x?}: {found:x?}, {former:x?}, {changes:x?}");
        }
    }
    check_last_values(table, changes_of);
}

/// Exports the table, checks that the changes of each key allow its last value, and makes the exported items the model.
pub(crate) fn check_last_values<'a>(table: &mut Table<'_>, changes_of: impl Fn(&Words) -> &'a Changes) {
    let exported = table.exported();
    let all: Vec<Words> = (0..KEYS).map(|i| table.types.key_of(i)).collect();
    for key in &all {
        let (former, last, changes) = (table.model.get(key), exported.get(key), changes_of(key));
        assert!(changes.allow_at_end(former, last), "{key:x?}: {last:x?} after {former:x?} and {changes:x?}");
    }
    let known = all.iter().filter(|key| exported.contains_key(key)).count();
    assert_eq!(exported.len(), known, "the table has no other keys");
    table.model = exported;
}

/// Concurrent operations on a full table. Concurrent insertions do not reuse erased slots; others do.
pub(crate) fn full_tables_without_reuse() {
    let context = context(Setup::Native);
    for types in [Types::PAIRS.linear(), Types::KEYS.linear()] {
        let mut random = Random::new(12);
        let mut table = Table::new(&context, types, 1024, 1024);
        let mut of = |operation, range: std::ops::Range<u32>| {
            let keys = range.map(|i| types.key_of(2 + i)).collect();
            small_values(Batch::new(operation, types, keys, &mut random))
        };
        // Operations run one after the other, and the keys of a batch differ: the results are deterministic.
        assert_eq!(table.apply(&of(Insert, 0..1000).concurrent()).len(), 0, "left over keys of an empty table");
        table.apply(&of(Erase, 500..1000).concurrent());
        table.check(&[]);
        assert_eq!(table.erased_slots(), 500, "slots of erased keys");
        assert_eq!(table.apply(&of(Assign, 0..1100).concurrent()).len(), 576, "24 slots are empty");
        table.check(&[]);
        assert_eq!(table.erased_slots(), 500, "slots of erased keys");
        assert_eq!(table.apply(&of(Insert, 0..1100)).len(), 76, "non-concurrent insertions reuse erased slots");
        table.check(&[]);

        // A concurrent erasure makes no slot empty; one that runs alone does, if no path leads across it.
        table.apply(&of(Erase, 0..1100).concurrent());
        table.check(&[]);
        assert_eq!((table.erased_slots(), table.model.len()), (1024, 0), "slots of erased keys, and keys");
        assert_eq!(table.apply(&of(Insert, 0..5).concurrent()).len(), 5, "left over keys");
        assert_eq!(table.apply(&of(Insert, 0..1024)).len(), 0, "left over keys");
        assert_eq!(table.erased_slots(), 0);
        table.apply(&of(Erase, 0..1024));
        assert_eq!((table.erased_slots(), table.model.len()), (0, 0), "slots of erased keys, and keys");
        assert_eq!(table.apply(&of(Insert, 0..1024).concurrent()).len(), 0, "left over keys");
        assert_eq!(table.erased_slots(), 0);
        table.check(&[]);
    }
}

fn refused(context: &Context, info: HasherInfo) -> String {
    let created = Hasher::new(context.device(), &info).map(drop).expect_err("a refusal");
    assert_eq!(info.check().as_ref(), Err(&created));
    assert_eq!(trommel::hash::table_size(&info, 1024).as_ref(), Err(&created));
    created.to_string()
}

/// Refused parameters of concurrent hashers, and refused batches with overlapping ranges.
pub(crate) fn refusals() {
    let context = context(Setup::Native);
    let pairs = HasherInfo::pairs().linear().concurrent();
    let wide = |key: u32, value: u32| {
        let most = "keys of 4 bytes and values of at most 4";
        format!("flags is malformed: concurrent operations have {most}, not {key} and {value}")
    };
    let texts = [
        (
            HasherInfo::pairs().concurrent(),
            "flags is malformed: Bucketed tables have no concurrent operations".to_owned(),
        ),
        (pairs.operation(Export), "flags is malformed: Export is not available as a concurrent operation".to_owned()),
        (
            pairs.operation(HashOperation::Add),
            "flags is malformed: Add is not available as a concurrent operation".to_owned(),
        ),
        (HasherInfo { key: KeyType::U64, ..pairs }, wide(8, 4)),
        (HasherInfo { value: ValueType::Bytes(8), ..pairs }, wide(4, 8)),
    ];
    for (info, text) in texts {
        assert_eq!(refused(&context, info), text);
    }

    let mut table = Table::new(&context, Types::PAIRS.linear(), 2000, 0);
    let batches = [Insert, Erase].map(|operation| draw(&table, operation, [0, 0], 300));
    let prepared = batches.each_ref().map(|batch| table.prepare(batch));
    let [insertion, erasure] = prepared.each_ref().map(|prepared| prepared.info);
    let before = table.words();
    let hashers = |concurrent: [bool; 2]| {
        let of = |i: usize| Batch { concurrent: concurrent[i], ..batches[i].clone() };
        [0, 1].map(|i| table.hasher_for(&of(i)))
    };
    let in_table = Range { size: 1200, ..insertion.table };
    let pairs: [([bool; 2], [HashInfo; 2], &str); 5] = [
        ([false, false], [insertion, erasure], "table and table overlap"),
        ([false, true], [insertion, erasure], "table and table overlap"),
        ([true, false], [insertion, erasure], "table and table overlap"),
        ([true, true], [insertion, HashInfo { keys: in_table, ..erasure }], "table and keys overlap"),
        (
            [true, true],
            [insertion, HashInfo { keys: insertion.leftover_keys, ..erasure }],
            "keys and leftoverKeys overlap",
        ),
    ];
    let run = context.run(|commands| {
        for (concurrent, infos, text) in pairs {
            let [first, second] = hashers(concurrent);
            let requests = [Request::Hash(first, infos[0]), Request::Hash(second, infos[1])];
            // SAFETY: the command buffer is recording; refused calls record nothing.
            let refused = unsafe { trommel::cmd_batch(commands, &requests, insertion.scratch) };
            assert_eq!(refused.map_err(|error| error.to_string()), Err(text.into()), "{concurrent:?}");
        }
        Ok(())
    });
    run.expect("an empty command buffer is submitted");
    let is_untouched = prepared.iter().all(|prepared| prepared.is_untouched(&context)) && table.words() == before;
    assert!(is_untouched, "something was recorded and has run");
    let [first, second] = hashers([true, true]);
    let large = HashInfo { count: Count::host(u32::MAX), ..insertion };
    let requests = [Request::Hash(first, large), Request::Hash(second, erasure)];
    let scratch = batch_scratch_size(&requests).map_err(|error| error.to_string());
    assert_eq!(scratch, Err("count.max 4294967295 > 1073741824, the hasher's maxCount".into()));
    assert_silence(&context);
}
