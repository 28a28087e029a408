//! A table on the device beside its model: a map of the standard library. After each operation every byte but those of
//! the table and of scratch is compared.

use crate::common::contexts::assert_silence;
use crate::common::keys::{Random, mix};
use ash::vk;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range as Bytes;
use trommel::host::{Buffer, Context};
use trommel::{
    Count, HashInfo, HashOperation, HashScheme, HashStatistics, Hasher, HasherInfo, KeyType, Range, Request, Result,
    STATUS_COUNT_CLAMPED, STATUS_OUTPUT_CLAMPED, STATUS_TABLE_FULL, Scratch, ValueType,
};

/// The words of a key or of a value.
pub(crate) type Words = Vec<u32>;

/// The types of a table, and its scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types {
    pub(crate) key: KeyType,
    pub(crate) value: ValueType,
    pub(crate) scheme: HashScheme,
}

impl Types {
    pub(crate) const KEYS: Self = Self::bucketed(KeyType::U32, ValueType::None);
    pub(crate) const PAIRS: Self = Self::bucketed(KeyType::U32, ValueType::U32);

    /// One of each number of words of keys, values and slots.
    pub(crate) const ALL: [Self; 9] = [
        Self::KEYS,
        Self::PAIRS,
        Self::bucketed(KeyType::F32, ValueType::Bytes(8)),
        Self::bucketed(KeyType::I32, ValueType::Bytes(12)),
        Self::bucketed(KeyType::U64, ValueType::None),
        Self::bucketed(KeyType::U64, ValueType::U32),
        Self::bucketed(KeyType::U32x2, ValueType::Bytes(8)),
        Self::bucketed(KeyType::U32x3, ValueType::U32),
        Self::bucketed(KeyType::U32x4, ValueType::None),
    ];

    const fn bucketed(key: KeyType, value: ValueType) -> Self {
        Self { key, value, scheme: HashScheme::Bucketed }
    }

    /// The same types in tables with linear probing.
    pub(crate) const fn linear(self) -> Self {
        Self { scheme: HashScheme::Linear, ..self }
    }

    /// The same types in tables of each scheme.
    pub(crate) const fn of_each_scheme(self) -> [Self; 2] {
        [self, self.linear()]
    }

    pub(crate) fn is_linear(self) -> bool {
        self.scheme == HashScheme::Linear
    }

    /// The parameters of a hasher for these types.
    pub(crate) fn info(self) -> HasherInfo {
        let Self { key, value, scheme } = self;
        HasherInfo { key, value, scheme, ..HasherInfo::keys() }
    }

    pub(crate) fn key_words(self) -> usize {
        self.key.size() as usize / 4
    }

    pub(crate) fn value_words(self) -> usize {
        self.value.size() as usize / 4
    }

    /// Words of a slot. In linear tables, a fingerprint precedes a key of several words.
    fn slot_words(self) -> usize {
        let words = self.key_words() + self.value_words();
        if self.is_linear() { words + usize::from(self.key_words() > 1) } else { words.next_power_of_two() }
    }

    /// The first words of an empty slot (0), or of the slot of an erased key (1).
    fn slot_without_key(self, number: u32) -> Words {
        if self.is_linear() { vec![u32::MAX - number] } else { self.key_of(number) }
    }

    /// Index of the first word of the slots of a table: after the header, and after the marks of a bucketed table.
    fn first_slot(self, capacity: u32) -> usize {
        let marks = if self.is_linear() { 0 } else { capacity.div_ceil(SLICE * 32).next_multiple_of(16) };
        64 + marks as usize
    }

    /// Whether tables have this key in their header, instead of a slot.
    fn is_reserved(self, key: &[u32]) -> bool {
        (!self.is_linear() || self.key_words() == 1) && (0..2).any(|number| self.key_of(number) == key)
    }

    /// The key number `i` of the range of keys that tests use. The first two are all ones, and all ones but the last
    /// bit: reserved in most tables.
    pub(crate) fn key_of(self, i: u32) -> Words {
        let last = self.key_words() - 1;
        match i {
            0 | 1 => (0..=last).map(|word| u32::MAX - if word == last { i } else { 0 }).collect(),
            _ => (0..=last as u32).map(|word| if word == 0 { i } else { i.wrapping_mul(0x9e37 + word) % 7 }).collect(),
        }
    }
}

/// Both hashes of a key.
fn hashes(key: &[u32]) -> [u32; 2] {
    const SEEDS: [u32; 2] = [0x9e37_79b9, 0x7f4a_7c15];
    if let [low, high] = *key {
        let first = low ^ mix(high ^ SEEDS[0]);
        let second = high ^ mix(first);
        return [first ^ mix(second ^ SEEDS[1]), second];
    }
    [0, SEEDS[0]].map(|seed| key.iter().fold(seed, |hash, word| mix(hash ^ word)))
}

/// A batch of one operation.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) operation: HashOperation,
    pub(crate) keys: Vec<Words>,
    pub(crate) values: Vec<Words>,
    /// The count on the device; none: the number of keys, on the host.
    pub(crate) count: Option<u32>,
    /// Whether optional outputs are wanted.
    pub(crate) outputs: bool,
    /// Whether the hasher is concurrent.
    pub(crate) concurrent: bool,
}

impl Batch {
    pub(crate) fn new(operation: HashOperation, types: Types, keys: Vec<Words>, random: &mut Random) -> Self {
        let words = types.value_words();
        let values = keys.iter().map(|_| random.words(words)).collect();
        Self { operation, keys, values, count: None, outputs: true, concurrent: false }
    }

    pub(crate) fn counted(self, count: u32) -> Self {
        Self { count: Some(count), ..self }
    }

    pub(crate) fn concurrent(self) -> Self {
        Self { concurrent: true, ..self }
    }

    fn len(&self) -> usize {
        self.count.map_or(self.keys.len(), |count| self.keys.len().min(count as usize))
    }

    /// The items up to the count.
    pub(crate) fn items(&self) -> impl Iterator<Item = (&Words, &Words)> {
        self.keys[..self.len()].iter().zip(&self.values)
    }
}

/// A number of one or two words, the lower one first.
fn number(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |number, word| number << 32 | u64::from(*word))
}

/// The value that remains of that of the table, if there is one, and that of an item of the batch.
fn combine(operation: HashOperation, old: Option<&Words>, new: &Words) -> Words {
    let item = if operation == HashOperation::Increment { 1 } else { number(new) };
    let numbers = old.map_or(item, |old| match operation {
        HashOperation::Add | HashOperation::Increment => number(old).wrapping_add(item),
        HashOperation::Min => number(old).min(item),
        HashOperation::Max => number(old).max(item),
        HashOperation::And => number(old) & item,
        _ => number(old) | item,
    });
    match operation {
        HashOperation::Insert => old.unwrap_or(new).clone(),
        HashOperation::Assign => new.clone(),
        _ => (0..new.len()).map(|word| (numbers >> (32 * word)) as u32).collect(),
    }
}

/// Keys and values that an insertion may not have found room for.
pub(crate) type Leftovers = Vec<(Words, Words)>;

/// Memory of an operation: arrays with guards between them.
struct Memory {
    before: Vec<u32>,
    end: usize,
}

impl Memory {
    fn place(&mut self, words: usize) -> Bytes<usize> {
        let start = self.end + 3;
        self.end = start + words;
        start..self.end
    }

    fn input(&mut self, words: &[u32]) -> Bytes<usize> {
        let place = self.place(words.len());
        self.before[place.clone()].copy_from_slice(words);
        place
    }
}

/// A request with its memory.
pub(crate) struct Prepared {
    before: Vec<u32>,
    buffer: Buffer,
    _scratch: Buffer,
    /// Keys, values, bits, left over keys and values, their number, the status, the count, the count of an export.
    places: [Bytes<usize>; 9],
    pub(crate) info: HashInfo,
}

impl Prepared {
    /// All words, after the batch.
    fn words(&self, context: &Context) -> Vec<u32> {
        context.download(&self.buffer, self.before.len()).expect("memory")
    }

    /// Whether no byte has changed.
    pub(crate) fn is_untouched(&self, context: &Context) -> bool {
        self.words(context) == self.before
    }
}

/// A table on a device, and its model.
pub(crate) struct Table<'a> {
    pub(crate) context: &'a Context,
    pub(crate) types: Types,
    pub(crate) capacity: u32,
    table: Buffer,
    max_capacity: u32,
    /// In the order of `HashOperation::ALL`: hashers that are not concurrent, and concurrent ones.
    hashers: [[OnceCell<Hasher>; HashOperation::ALL.len()]; 2],
    pub(crate) model: HashMap<Words, Words>,
    random: Random,
}

/// Slots of a slice.
pub(crate) const SLICE: u32 = 1024;

/// Bytes on either side of a table.
const GUARD: u64 = 64;

impl<'a> Table<'a> {
    /// An empty table. `max_capacity`: of the hashers.
    pub(crate) fn new(context: &'a Context, types: Types, capacity: u32, max_capacity: u32) -> Self {
        let bytes = trommel::hash::table_size(&types.info(), capacity).expect("a format") + 2 * GUARD;
        let mut random = Random::new(capacity.into());
        let table = context.upload(&random.words(bytes as usize / 4)).expect("a table");
        let (hashers, model) = (Default::default(), HashMap::new());
        let mut this = Self { context, types, capacity, table, max_capacity, hashers, model, random };
        this.apply(&Batch::new(HashOperation::Clear, types, Vec::new(), &mut Random::new(1)));
        this
    }

    /// The hasher of an operation that is not concurrent.
    pub(crate) fn hasher(&self, operation: HashOperation) -> &Hasher {
        self.hasher_of(operation, false)
    }

    /// The hasher of a batch.
    pub(crate) fn hasher_for(&self, batch: &Batch) -> &Hasher {
        self.hasher_of(batch.operation, batch.concurrent)
    }

    fn hasher_of(&self, operation: HashOperation, concurrent: bool) -> &Hasher {
        let index = HashOperation::ALL.iter().position(|other| *other == operation).expect("all are there");
        self.hashers[usize::from(concurrent)][index].get_or_init(|| {
            let info = HasherInfo { concurrent, max_capacity: self.max_capacity, ..self.types.info() };
            Hasher::new(self.context.device(), &info.operation(operation).batches()).expect("a hasher")
        })
    }

    pub(crate) fn range(&self) -> Range {
        Range::new(self.table.address() + GUARD, self.table.size() - 2 * GUARD)
    }

    /// Words of the header: see `HashHeader`.
    pub(crate) fn header(&self) -> Vec<u32> {
        let words = self.context.download::<u32>(&self.table, GUARD as usize / 4 + 16).expect("the header");
        words[GUARD as usize / 4..].to_vec()
    }

    /// Applies a batch to the table and to the model, and compares all outputs. Returns the keys that found no slot.
    pub(crate) fn apply(&mut self, batch: &Batch) -> Leftovers {
        let prepared = self.prepare(batch);
        self.run_one(self.hasher_for(batch), &prepared.info);
        self.check_batch(batch, &prepared)
    }

    /// Memory of a batch, and its request.
    pub(crate) fn prepare(&mut self, batch: &Batch) -> Prepared {
        let (types, hasher) = (self.types, self.hasher_for(batch).clone());
        let items = batch.keys.len();
        let inserts = batch.operation.inserts();
        let mut memory = Memory { before: self.random.words(items * 16 + 256), end: 0 };
        let scratch_size = hasher.scratch_size(items as u32).expect("scratch");
        let keys = memory.input(&batch.keys.concat());
        let values = memory.input(&batch.values.concat());
        let found = memory.place(items.div_ceil(32));
        let [leftover_keys, leftover_values] =
            [types.key_words(), types.value_words()].map(|words| memory.place(words * items));
        let [leftover_count, status, count, count_out] = [0; 4].map(|_| memory.place(1));
        memory.before[count.start] = batch.count.unwrap_or(0);
        memory.place(0);
        assert!(memory.end <= memory.before.len());

        let buffer = self.context.upload(&memory.before).expect("memory");
        let scratch = self.context.upload(&self.random.words(scratch_size as usize / 4 + 1)).expect("scratch");
        let range =
            |place: &Bytes<usize>| Range::new(buffer.address() + place.start as u64 * 4, place.len() as u64 * 4);
        let wanted = |place: &Bytes<usize>| if batch.outputs { range(place) } else { Range::NONE };
        let address = |place: &Bytes<usize>| wanted(place).address;
        let info = HashInfo {
            table: self.range(),
            capacity: self.capacity,
            count: match batch.count {
                Some(_) => Count::device(range(&count).address, items as u32),
                None => Count::host(items as u32),
            },
            keys: range(&keys),
            values: if inserts { range(&values) } else { wanted(&values) },
            found: wanted(&found),
            leftover_keys: wanted(&leftover_keys),
            leftover_values: wanted(&leftover_values),
            leftover_count: address(&leftover_count),
            count_out: address(&count_out),
            statistics: Range::NONE,
            scratch: Scratch { buffer: scratch.handle(), offset: 0, size: scratch_size },
            status: address(&status),
            timestamps: None,
        };
        let places = [keys, values, found, leftover_keys, leftover_values, leftover_count, status, count, count_out];
        Prepared { before: memory.before, buffer, _scratch: scratch, places, info }
    }

    /// Applies a batch that has run to the model, and compares all outputs. Returns the keys that found no slot.
    pub(crate) fn check_batch(&mut self, batch: &Batch, prepared: &Prepared) -> Leftovers {
        let (types, len) = (self.types, batch.len());
        // Ones that are added have no array.
        let list_words = if batch.operation == HashOperation::Increment { 0 } else { types.value_words() };
        let has_keys = batch.operation != HashOperation::Clear;
        let Prepared { before, places, .. } = prepared;
        let [keys, values, found, leftover_keys, leftover_values, leftover_count, status, _, count_out] = places;
        let found_words = prepared.words(self.context);
        let mut expected = before.clone();
        let key_count = batch.keys.len();
        let mut leftovers = Leftovers::new();
        let mut flags = 0;
        if batch.operation.inserts() && batch.outputs {
            let count = found_words[leftover_count.start] as usize;
            assert!(count <= len, "{count} of {len} keys are left over");
            let part =
                |place: &Bytes<usize>, words: usize, i: usize| found_words[place.start + words * i..][..words].to_vec();
            leftovers = (0..count)
                .map(|i| (part(leftover_keys, types.key_words(), i), part(leftover_values, list_words, i)))
                .collect();
            for (place, words) in [(leftover_keys, types.key_words()), (leftover_values, list_words)] {
                let written = place.start..place.start + words * count;
                expected[written.clone()].copy_from_slice(&found_words[written]);
            }
            expected[leftover_count.start] = count as u32;
            flags = if count == 0 { 0 } else { STATUS_TABLE_FULL };
        }
        let lost: HashSet<&Words> = leftovers.iter().map(|(key, _)| key).collect();
        self.check_leftovers(batch, &leftovers, &lost);
        for (key, value) in batch.items() {
            match batch.operation {
                operation if operation.inserts() && !lost.contains(key) => {
                    let value = combine(operation, self.model.get(key), value);
                    self.model.insert(key.clone(), value);
                }
                HashOperation::Erase => _ = self.model.remove(key),
                _ => {}
            }
        }
        if batch.operation == HashOperation::Clear {
            self.model.clear();
        }
        if batch.operation == HashOperation::Find && batch.outputs {
            let words = types.value_words();
            for (i, key) in batch.keys[..len].iter().enumerate() {
                let value = self.model.get(key).cloned();
                let target = values.start + words * i;
                expected[target..target + words].copy_from_slice(&value.unwrap_or_else(|| vec![u32::MAX; words]));
            }
            for word in 0..len.div_ceil(32) {
                let bit = |i: usize| u32::from(i < len && self.model.contains_key(&batch.keys[i])) << (i % 32);
                expected[found.start + word] = (word * 32..word * 32 + 32).map(bit).sum();
            }
        }
        let mut clamped = batch.count.is_some_and(|count| count as usize > key_count);
        if batch.operation == HashOperation::Export {
            let written = self.model.len().min(key_count);
            clamped = false;
            flags = if self.model.len() > key_count { STATUS_OUTPUT_CLAMPED } else { 0 };
            let mut arrays = vec![(keys, types.key_words())];
            if batch.outputs {
                expected[count_out.start] = written as u32;
                arrays.push((values, types.value_words()));
            }
            for (place, words) in arrays {
                let all = place.start..place.start + words * written;
                expected[all.clone()].copy_from_slice(&found_words[all]);
            }
            self.check_export(&found_words, [keys, values], written, batch.outputs);
        }
        if has_keys && batch.outputs {
            expected[status.start] = flags | if clamped { STATUS_COUNT_CLAMPED } else { 0 };
        }
        let wrong = (0..expected.len()).find(|word| found_words[*word] != expected[*word]);
        let wrong = wrong.map(|word| (word, found_words[word], expected[word]));
        assert_eq!(wrong, None, "{:?} {types:?}, word, found, expected; arrays at {places:?}", batch.operation);
        leftovers
    }

    /// Checks that the left over items are all items of the batch with these keys, and that the table had no such key.
    fn check_leftovers(&self, batch: &Batch, leftovers: &Leftovers, lost: &HashSet<&Words>) {
        let has_values = batch.operation.reads_values();
        let items = batch.items().filter(|(key, _)| lost.contains(key));
        let mut items: Leftovers =
            items.map(|(key, value)| (key.clone(), if has_values { value.clone() } else { Words::new() })).collect();
        let mut leftovers = leftovers.clone();
        items.sort();
        leftovers.sort();
        assert_eq!(leftovers, items, "left over items, and those of the batch with their keys");
        assert!(!lost.iter().any(|key| self.model.contains_key(*key)), "some left over key was in the table");
    }

    /// Checks that the keys of an export are different ones of the table, with their values.
    fn check_export(&self, words: &[u32], places: [&Bytes<usize>; 2], count: usize, has_values: bool) {
        let sizes = [self.types.key_words(), self.types.value_words()];
        let part = |array: usize, i: usize| words[places[array].start + sizes[array] * i..][..sizes[array]].to_vec();
        let keys: HashSet<Words> = (0..count).map(|i| part(0, i)).collect();
        assert_eq!(keys.len(), count, "some key has been exported twice");
        for i in 0..count {
            let (key, value) = (part(0, i), has_values.then(|| part(1, i)));
            let known = self.model.get(&key).unwrap_or_else(|| panic!("the table does not have key {key:x?}"));
            assert!(value.is_none_or(|value| value == *known), "the value of key {key:x?}");
        }
    }

    fn run_one(&self, hasher: &Hasher, info: &HashInfo) {
        // SAFETY: the buffers outlive run(), which waits.
        self.run(|commands| unsafe { hasher.cmd_hash(commands, info) });
    }

    pub(crate) fn run(&self, record: impl Fn(vk::CommandBuffer) -> Result<()>) {
        let edges = |words: &[u32]| {
            let guard = GUARD as usize / 4;
            [words[..guard].to_vec(), words[words.len() - guard..].to_vec()].concat()
        };
        let words = self.table.size() as usize / 4;
        let before = edges(&self.context.download::<u32>(&self.table, words).expect("the table"));
        self.context.run(record).expect("an operation");
        let after = edges(&self.context.download::<u32>(&self.table, words).expect("the table"));
        assert_eq!(before, after, "the words around the table");
    }

    /// The statistics of the table, compared with the model and with the slots.
    pub(crate) fn statistics(&self) -> HashStatistics {
        const GUARDED: usize = size_of::<HashStatistics>() / 4 + 2;
        let memory = self.context.upload(&[7; GUARDED]).expect("memory");
        let info = HashInfo {
            table: self.range(),
            capacity: self.capacity,
            statistics: Range::new(memory.address() + 4, memory.size() - 8),
            ..HashInfo::default()
        };
        self.run_one(self.hasher(HashOperation::Statistics), &info);
        let words: Vec<u32> = self.context.download(&memory, GUARDED).expect("statistics");
        assert_eq!([words[0], words[GUARDED - 1]], [7; 2], "the words around the statistics");
        let statistics: HashStatistics = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[1..GUARDED - 1]));
        let HashStatistics { keys, erased_slots, slots, overflow_slots, overflow_keys, .. } = statistics;
        assert_eq!([keys as usize, erased_slots as usize], [self.model.len(), self.erased_slots()]);
        let all = self.slots();
        assert_eq!((slots + overflow_slots) as usize, all.len());
        let in_overflow_slices = all[slots as usize..].iter().filter(|slot| self.is_in_use(slot)).count();
        assert_eq!(overflow_keys as usize, in_overflow_slices);
        self.check_probes(&statistics);
        statistics
    }

    /// Checks that the probes of statistics agree with each other, and with the slots of a linear table.
    fn check_probes(&self, statistics: &HashStatistics) {
        let HashStatistics { most_probes, total_probes, probes, .. } = *statistics;
        let in_slots = self.model.keys().filter(|key| !self.types.is_reserved(key)).count();
        assert_eq!(probes.iter().map(|keys| *keys as usize).sum::<usize>(), in_slots, "keys by their number of probes");
        let class_of = |probes: u32| probes.next_power_of_two().ilog2() as usize;
        let last = probes.iter().rposition(|keys| *keys != 0);
        assert_eq!(last, (most_probes != 0).then(|| class_of(most_probes)), "{statistics:?}");
        // Class k has more than 2^k / 2 probes, and at most 2^k.
        let sum_of = |number: fn(u64) -> u64| (0..).zip(probes).map(|(k, keys)| number(1 << k) * u64::from(keys)).sum();
        let bounds: [u64; 2] = [sum_of(|most| most / 2 + 1), sum_of(|most| most)];
        assert!((bounds[0]..=bounds[1]).contains(&total_probes), "{bounds:?} of {statistics:?}");
        let mean = if in_slots == 0 { 0.0 } else { total_probes as f64 / in_slots as f64 };
        assert!((statistics.mean_probes() - mean).abs() < 1e-9, "a mean of {mean} of {statistics:?}");
        if self.types.is_linear() {
            let of_keys = self.linear_probes();
            let mut expected = [0; 16];
            of_keys.iter().for_each(|probes| expected[class_of(*probes)] += 1);
            assert_eq!(probes, expected, "keys by their number of probes");
            assert_eq!(Some(most_probes), of_keys.iter().max().copied().or(Some(0)), "most probes");
            assert_eq!(total_probes, of_keys.iter().copied().map(u64::from).sum::<u64>(), "all probes");
        }
    }

    /// The number of slots that a search for each key in a slot of a linear table reads.
    fn linear_probes(&self) -> Vec<u32> {
        let slots = self.slots();
        let key_words = self.types.key_words();
        let in_use = (0..).zip(&slots).filter(|(_, slot)| self.is_in_use(slot));
        let probes = in_use.map(|(index, slot): (u32, _)| {
            let (state, key) = if key_words == 1 { (None, &slot[..1]) } else { (Some(slot[0]), &slot[1..=key_words]) };
            let [first, second] = hashes(key);
            assert!(state.is_none_or(|state| state == second & 0x7fff_ffff), "the fingerprint of {key:x?}: {state:x?}");
            (index.wrapping_sub(first) & (slots.len() as u32 - 1)) + 1
        });
        probes.collect()
    }

    /// Number of erased slots of a linear table that an empty slot follows. Erasures leave none, unless they are
    /// concurrent.
    pub(crate) fn erased_before_empty(&self) -> usize {
        let slots = self.slots();
        let [empty, erased] = [0, 1].map(|number| self.types.slot_without_key(number));
        let next = slots.iter().cycle().skip(1);
        slots.iter().zip(next).filter(|(slot, next)| slot.starts_with(&erased) && next.starts_with(&empty)).count()
    }

    /// The bytes of the table.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let words = self.words();
        let guard = GUARD as usize / 4;
        bytemuck::cast_slice(&words[guard..words.len() - guard]).to_vec()
    }

    /// Replaces the bytes of the table.
    pub(crate) fn load(&mut self, bytes: &[u8]) {
        let guard = self.random.words(GUARD as usize / 4);
        let words: Vec<u32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        self.table = self.context.upload(&[guard.clone(), words, guard].concat()).expect("a table");
    }

    /// Compares the table with the model: looks up all keys of the model, and others.
    pub(crate) fn check(&mut self, others: &[Words]) {
        let keys: Vec<Words> = self.model.keys().chain(others).cloned().collect();
        let batch = Batch::new(HashOperation::Find, self.types, keys, &mut Random::new(2));
        self.apply(&batch);
        let room = self.model.len() as u32 + self.random.below(8);
        let room = if self.random.below(4) == 0 { room / 2 } else { room };
        self.export(room, true);
        let header = self.header();
        assert_eq!(header[3] as usize, self.model.len(), "the number of keys in the header");
        assert_eq!(header[4] as usize, self.erased_slots(), "the number of erased slots in the header");
        if self.types.is_linear() {
            assert_eq!(header[1..3], [self.slots().len() as u32 / SLICE, 0], "slices, and an unused word");
            let is_clear = |slot: &Words| self.types.value_words() != 1 || slot.last() == Some(&u32::MAX);
            let empty = self.types.slot_without_key(0);
            let all_clear = self.slots().iter().filter(|slot| slot.starts_with(&empty)).all(is_clear);
            assert!(all_clear, "some empty slot has a value");
        }
        assert_eq!(trommel::hash::check_table(&self.types.info(), self.capacity, &self.bytes()), Ok(()));
        assert_silence(self.context);
    }

    /// Exports the table to arrays with room for so many keys.
    pub(crate) fn export(&mut self, room: u32, outputs: bool) {
        let batch = self.export_batch(room);
        self.apply(&Batch { outputs, ..batch });
    }

    fn export_batch(&self, room: u32) -> Batch {
        // The arrays are written.
        let keys = (0..room).map(|i| self.types.key_of(i)).collect();
        Batch::new(HashOperation::Export, self.types, keys, &mut Random::new(3))
    }

    /// The keys and values that an export writes, not compared with the model.
    pub(crate) fn exported(&mut self) -> HashMap<Words, Words> {
        let batch = self.export_batch(self.slots().len() as u32 + 2);
        let prepared = self.prepare(&batch);
        self.run_one(self.hasher(HashOperation::Export), &prepared.info);
        let words = prepared.words(self.context);
        let [keys, values, .., count_out] = &prepared.places;
        let count = words[count_out.start] as usize;
        let items = words[keys.clone()].chunks_exact(self.types.key_words()).map(<[u32]>::to_vec);
        let value_words = self.types.value_words();
        let value = |i: usize| words[values.start + value_words * i..][..value_words].to_vec();
        let all: HashMap<_, _> = items.enumerate().take(count).map(|(i, key)| (key, value(i))).collect();
        assert_eq!(all.len(), count, "some key has been exported twice");
        all
    }

    /// Applies concurrent batches of keys: as one batch of requests, or recorded one after the other without barriers.
    /// Returns the values that each search has found. Checks that no other outputs have changed, and that no key is
    /// left over. Does not change the model.
    pub(crate) fn apply_together(&mut self, batches: &[Batch], in_one_batch: bool) -> Vec<Vec<Option<Words>>> {
        let prepared: Vec<_> = batches.iter().map(|batch| self.prepare(batch)).collect();
        let all = || batches.iter().map(|batch| self.hasher_for(batch)).zip(&prepared);
        let requests: Vec<_> = all().map(|(hasher, prepared)| Request::Hash(hasher, prepared.info)).collect();
        let size = trommel::batch_scratch_size(&requests).expect("the batch is small");
        let memory = self.context.upload(&Random::new(8).words(size as usize / 4 + 1)).expect("scratch");
        let scratch = Scratch { buffer: memory.handle(), offset: 0, size };
        self.run(|commands| {
            if in_one_batch {
                // SAFETY: everything lives until run() has waited.
                return unsafe { trommel::cmd_batch(commands, &requests, scratch) };
            }
            // SAFETY: as above. The hashers are concurrent, and each request has scratch of its own.
            all().try_for_each(|(hasher, prepared)| unsafe { hasher.cmd_hash(commands, &prepared.info) })
        });
        let found = batches.iter().zip(&prepared).map(|(batch, prepared)| self.check_outputs(batch, prepared));
        found.collect()
    }

    /// Returns the value that a search has found for each key. Checks that the batch has written its outputs only, and
    /// that no key is left over.
    fn check_outputs(&self, batch: &Batch, prepared: &Prepared) -> Vec<Option<Words>> {
        let [_, values, found, _, _, leftover_count, status, ..] = &prepared.places;
        let words = prepared.words(self.context);
        let mut expected = prepared.before.clone();
        expected[status.start] =
            if batch.count.is_some_and(|count| count as usize > batch.keys.len()) { STATUS_COUNT_CLAMPED } else { 0 };
        if batch.operation.inserts() {
            expected[leftover_count.start] = 0;
        }
        let mut results = Vec::new();
        if batch.operation == HashOperation::Find {
            let (len, value_words) = (batch.len(), self.types.value_words());
            let bits = &words[found.start..][..len.div_ceil(32)];
            let ends = bits.last().is_none_or(|last| len % 32 == 0 || last >> (len % 32) == 0);
            assert!(ends, "bits of no key are set");
            for i in 0..len {
                let value = words[values.start + value_words * i..][..value_words].to_vec();
                let is_found = bits[i / 32] >> (i % 32) & 1 != 0;
                assert!(is_found || value.iter().all(|word| *word == u32::MAX), "an absent key has a value");
                results.push(is_found.then_some(value));
            }
            for written in [found.start..found.start + bits.len(), values.start..values.start + value_words * len] {
                expected[written.clone()].copy_from_slice(&words[written]);
            }
        }
        let wrong = (0..expected.len()).find(|word| words[*word] != expected[*word]);
        let wrong = wrong.map(|word| (word, words[word], expected[word]));
        assert_eq!(wrong, None, "{:?}, word, found, expected; arrays at {:?}", batch.operation, prepared.places);
        results
    }

    fn is_in_use(&self, slot: &Words) -> bool {
        (0..2).all(|number| !slot.starts_with(&self.types.slot_without_key(number)))
    }

    /// Number of slots of erased keys.
    pub(crate) fn erased_slots(&self) -> usize {
        let erased = self.types.slot_without_key(1);
        self.slots().iter().filter(|slot| slot.starts_with(&erased)).count()
    }

    /// The words of each slot.
    pub(crate) fn slots(&self) -> Vec<Words> {
        let words = self.words();
        let guard = GUARD as usize / 4;
        let slots = guard + self.types.first_slot(self.capacity)..words.len() - guard;
        words[slots].chunks_exact(self.types.slot_words()).map(<[u32]>::to_vec).collect()
    }

    /// All words of the table.
    pub(crate) fn words(&self) -> Vec<u32> {
        self.context.download(&self.table, self.table.size() as usize / 4).expect("the table")
    }
}
