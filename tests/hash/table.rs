//! A table on the device beside its model: a map of the standard library. After each operation every byte but those of
//! the table and of scratch is compared.

use crate::common::contexts::assert_silence;
use crate::common::keys::Random;
use ash::vk;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range as Bytes;
use trommel::host::{Buffer, Context};
use trommel::{
    Count, HashInfo, HashOperation, HashStatistics, Hasher, HasherInfo, KeyType, Range, Result, STATUS_COUNT_CLAMPED,
    STATUS_OUTPUT_CLAMPED, STATUS_TABLE_FULL, Scratch, ValueType,
};

/// The words of a key or of a value.
pub(crate) type Words = Vec<u32>;

/// The types of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types {
    pub(crate) key: KeyType,
    pub(crate) value: ValueType,
}

impl Types {
    pub(crate) const KEYS: Self = Self { key: KeyType::U32, value: ValueType::None };
    pub(crate) const PAIRS: Self = Self { key: KeyType::U32, value: ValueType::U32 };

    /// One of each number of words of keys, values and slots.
    pub(crate) const ALL: [Self; 9] = [
        Self::KEYS,
        Self::PAIRS,
        Self { key: KeyType::F32, value: ValueType::Bytes(8) },
        Self { key: KeyType::I32, value: ValueType::Bytes(12) },
        Self { key: KeyType::U64, value: ValueType::None },
        Self { key: KeyType::U64, value: ValueType::U32 },
        Self { key: KeyType::U32x2, value: ValueType::Bytes(8) },
        Self { key: KeyType::U32x3, value: ValueType::U32 },
        Self { key: KeyType::U32x4, value: ValueType::None },
    ];

    pub(crate) fn key_words(self) -> usize {
        self.key.size() as usize / 4
    }

    pub(crate) fn value_words(self) -> usize {
        self.value.size() as usize / 4
    }

    /// The key number `i` of the range of keys that tests use. The first two are reserved in tables.
    pub(crate) fn key_of(self, i: u32) -> Words {
        let last = self.key_words() - 1;
        match i {
            0 | 1 => (0..=last).map(|word| u32::MAX - if word == last { i } else { 0 }).collect(),
            _ => (0..=last as u32).map(|word| if word == 0 { i } else { i.wrapping_mul(0x9e37 + word) % 7 }).collect(),
        }
    }
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
}

impl Batch {
    pub(crate) fn new(operation: HashOperation, types: Types, keys: Vec<Words>, random: &mut Random) -> Self {
        let words = types.value_words();
        let values = keys.iter().map(|_| random.words(words)).collect();
        Self { operation, keys, values, count: None, outputs: true }
    }

    pub(crate) fn counted(self, count: u32) -> Self {
        Self { count: Some(count), ..self }
    }

    fn len(&self) -> usize {
        self.count.map_or(self.keys.len(), |count| self.keys.len().min(count as usize))
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
    /// Whether no byte has changed.
    pub(crate) fn is_untouched(&self, context: &Context) -> bool {
        context.download::<u32>(&self.buffer, self.before.len()).expect("memory") == self.before
    }
}

/// A table on a device, and its model.
pub(crate) struct Table<'a> {
    pub(crate) context: &'a Context,
    pub(crate) types: Types,
    pub(crate) capacity: u32,
    table: Buffer,
    max_capacity: u32,
    /// In the order of `HashOperation::ALL`.
    hashers: [OnceCell<Hasher>; HashOperation::ALL.len()],
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
        let bytes = trommel::hash::table_size(types.key, types.value, capacity).expect("a format") + 2 * GUARD;
        let mut random = Random::new(capacity.into());
        let table = context.upload(&random.words(bytes as usize / 4)).expect("a table");
        let (hashers, model) = (Default::default(), HashMap::new());
        let mut this = Self { context, types, capacity, table, max_capacity, hashers, model, random };
        this.apply(&Batch::new(HashOperation::Clear, types, Vec::new(), &mut Random::new(1)));
        this
    }

    pub(crate) fn hasher(&self, operation: HashOperation) -> &Hasher {
        let index = HashOperation::ALL.iter().position(|other| *other == operation).expect("all are there");
        self.hashers[index].get_or_init(|| {
            let (Types { key, value }, max_capacity) = (self.types, self.max_capacity);
            let info = HasherInfo { key, value, max_capacity, ..HasherInfo::keys() }.operation(operation).batches();
            Hasher::new(self.context.device(), &info).expect("a hasher")
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
        let hasher = self.hasher(batch.operation).clone();
        self.run(|commands| {
            // SAFETY: the buffers outlive run(), which waits.
            unsafe { hasher.cmd_hash(commands, &prepared.info) }
        });
        self.check_batch(batch, &prepared)
    }

    /// Memory of a batch, and its request.
    pub(crate) fn prepare(&mut self, batch: &Batch) -> Prepared {
        let (types, hasher) = (self.types, self.hasher(batch.operation).clone());
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
        let Prepared { before, buffer, places, .. } = prepared;
        let [keys, values, found, leftover_keys, leftover_values, leftover_count, status, _, count_out] = places;
        let found_words = self.context.download::<u32>(buffer, before.len()).expect("memory");
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
        let lost: Vec<&Words> = leftovers.iter().map(|(key, _)| key).collect();
        for (key, value) in batch.keys[..len].iter().zip(&batch.values) {
            match batch.operation {
                operation if operation.inserts() && !lost.contains(&key) => {
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
        let hasher = self.hasher(HashOperation::Statistics);
        self.run(|commands| {
            // SAFETY: the buffers outlive run(), which waits.
            unsafe { hasher.cmd_hash(commands, &info) }
        });
        let words: Vec<u32> = self.context.download(&memory, GUARDED).expect("statistics");
        assert_eq!([words[0], words[GUARDED - 1]], [7; 2], "the words around the statistics");
        let statistics: HashStatistics = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[1..GUARDED - 1]));
        let HashStatistics { keys, erased_slots, slots, overflow_slots, probes } = statistics;
        assert_eq!([keys as usize, erased_slots as usize], [self.model.len(), self.erased_slots()]);
        assert_eq!((slots + overflow_slots) as usize, self.slots().len());
        let reserved = [0, 1].map(|i| usize::from(self.model.contains_key(&self.types.key_of(i))));
        let counted: usize = probes.iter().map(|keys| *keys as usize).sum();
        assert_eq!(counted, self.model.len() - reserved[0] - reserved[1], "keys by their number of probes");
        let overflow_keys = self.slots()[slots as usize..].iter().filter(|slot| self.is_in_use(slot)).count();
        assert_eq!(statistics.overflow_keys() as usize, overflow_keys);
        statistics
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
        let Types { key, value } = self.types;
        assert_eq!(trommel::hash::check_table(key, value, self.capacity, &self.bytes()), Ok(()));
        assert_silence(self.context);
    }

    /// Exports the table to arrays with room for so many keys.
    pub(crate) fn export(&mut self, room: u32, outputs: bool) {
        // The arrays are written.
        let keys = (0..room).map(|i| self.types.key_of(i)).collect();
        let batch = Batch::new(HashOperation::Export, self.types, keys, &mut Random::new(3));
        self.apply(&Batch { outputs, ..batch });
    }

    fn is_in_use(&self, slot: &Words) -> bool {
        (0..2).all(|reserved| !slot.starts_with(&self.types.key_of(reserved)))
    }

    /// Slots of erased keys.
    fn erased_slots(&self) -> usize {
        let erased = self.types.key_of(1);
        self.slots().iter().filter(|slot| slot.starts_with(&erased)).count()
    }

    /// The words of each slot.
    pub(crate) fn slots(&self) -> Vec<Words> {
        let words = self.words();
        let guard = GUARD as usize / 4;
        // The header and the marks come first.
        let marks = self.capacity.div_ceil(SLICE * 32).next_multiple_of(16) as usize;
        let slot_words = (self.types.key_words() + self.types.value_words()).next_power_of_two();
        words[guard + 64 + marks..words.len() - guard].chunks_exact(slot_words).map(<[u32]>::to_vec).collect()
    }

    /// All words of the table.
    pub(crate) fn words(&self) -> Vec<u32> {
        self.context.download(&self.table, self.table.size() as usize / 4).expect("the table")
    }
}
