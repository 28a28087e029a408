//! A table on the device beside its model. After each operation every byte but those of the table and of scratch is
//! compared.

pub(crate) use crate::model::{Batch, Item, Model, Reserve, Source};
pub(crate) use crate::types::{SLICE, Types, Words};

use crate::common::keys::Random;
use crate::memory::{Memory, Places, Prepared};
use ash::vk;
use std::cell::OnceCell;
use std::ops::Range as Bytes;
use trommel::host::{Buffer, Context};
use trommel::{Count, HashInfo, HashOperation, Hasher, HasherInfo, Range, Request, Result, Scratch};

/// Keys and values that an insertion may not have found room for.
pub(crate) type Leftovers = Vec<Item>;

/// A table on a device, and its model.
pub(crate) struct Table<'a> {
    pub(crate) context: &'a Context,
    pub(crate) types: Types,
    pub(crate) capacity: u32,
    /// Of a table that grows and shrinks: the smallest capacity, or 0.
    pub(crate) min_capacity: u32,
    pub(crate) table: Buffer,
    max_capacity: u32,
    /// In the order of `HashOperation::ALL`: hashers that are not concurrent, and concurrent ones; the same with a
    /// stencil.
    hashers: [[OnceCell<Hasher>; HashOperation::ALL.len()]; 4],
    pub(crate) model: Model,
    pub(crate) random: Random,
}

/// Bytes on either side of a table.
pub(crate) const GUARD: u64 = 64;

/// A range of members that an operation does not use: it is invalid everywhere else.
const UNUSED: Range = Range::new(2, 1);

impl<'a> Table<'a> {
    /// An empty table. `max_capacity`: of the hashers.
    pub(crate) fn new(context: &'a Context, types: Types, capacity: u32, max_capacity: u32) -> Self {
        Self::resizable(context, types, [0, capacity], max_capacity)
    }

    /// An empty table with the smallest one of two capacities.
    pub(crate) fn resizable(
        context: &'a Context,
        types: Types,
        [min_capacity, capacity]: [u32; 2],
        max_capacity: u32,
    ) -> Self {
        let mut this = Self { min_capacity, ..Self::not_cleared(context, types, capacity, max_capacity) };
        this.apply(&Batch::new(HashOperation::Clear, types, Vec::new(), &mut Random::new(1)));
        this
    }

    /// Memory of a table, of any words.
    fn not_cleared(context: &'a Context, types: Types, capacity: u32, max_capacity: u32) -> Self {
        let bytes = trommel::hash::table_size(&types.info(), capacity).expect("a format") + 2 * GUARD;
        let mut random = Random::new(capacity.into());
        let table = context.upload(&random.words(bytes as usize / 4)).expect("a table");
        let (hashers, model) = (Default::default(), Model::new(types));
        Self { context, types, capacity, min_capacity: 0, table, max_capacity, hashers, model, random }
    }

    /// A table that receives the items of this one, at most so many, and the items that found no slot. This table does
    /// not change.
    pub(crate) fn rehashed(&self, capacity: u32, most: u32) -> (Self, Leftovers) {
        let max_capacity = if self.max_capacity == 0 { 0 } else { self.max_capacity.max(capacity) };
        let mut other = Self::not_cleared(self.context, self.types, capacity, max_capacity);
        let batch = self.rehash_to(most);
        let before = self.words();
        let left = other.apply(&batch);
        assert!(self.words() == before, "the source has changed");
        (other, left)
    }

    /// The insertion of the items of this table into another one.
    pub(crate) fn rehash_to(&self, most: u32) -> Batch {
        let source = Source { table: self.range(), capacity: self.capacity };
        Batch { source: Some(source), ..self.batch_of_items(HashOperation::Rehash, [0, u64::MAX], most) }
    }

    /// An operation on the items of this table that have selected values: on at most so many.
    pub(crate) fn batch_of_items(&self, operation: HashOperation, selected: [u64; 2], most: u32) -> Batch {
        let batch = Batch::new(operation, self.types, Vec::new(), &mut Random::new(4));
        let batch = Batch { selected, most: Some(most), ..batch };
        let (keys, values) = self.model.items().filter(|(_, value)| batch.selects(value)).unzip();
        Batch { keys, values, ..batch }
    }

    /// The hasher of an operation that is not concurrent.
    pub(crate) fn hasher(&self, operation: HashOperation) -> &Hasher {
        self.hasher_of(operation, false, false)
    }

    /// The hasher of a batch.
    pub(crate) fn hasher_for(&self, batch: &Batch) -> &Hasher {
        self.hasher_of(batch.operation, batch.concurrent, batch.stencil.is_some())
    }

    fn hasher_of(&self, operation: HashOperation, concurrent: bool, stencil: bool) -> &Hasher {
        let index = HashOperation::ALL.iter().position(|other| *other == operation).expect("all are there");
        self.hashers[usize::from(concurrent) + 2 * usize::from(stencil)][index].get_or_init(|| {
            let info = HasherInfo { concurrent, stencil, max_capacity: self.max_capacity, ..self.types.info() };
            Hasher::new(self.context.device(), &info.operation(operation).batches()).expect("a hasher")
        })
    }

    pub(crate) fn range(&self) -> Range {
        Range::new(self.table.address() + GUARD, self.table.size() - 2 * GUARD)
    }

    /// Applies a batch to the table and to the model, and compares all outputs. Returns the items that found no slot.
    pub(crate) fn apply(&mut self, batch: &Batch) -> Leftovers {
        let prepared = self.prepare(batch);
        self.run_one(self.hasher_for(batch), &prepared.info);
        self.check_batch(batch, &prepared)
    }

    /// Applies an operation to keys, without values of a caller's choice.
    pub(crate) fn apply_to(&mut self, operation: HashOperation, keys: Vec<Words>) -> Leftovers {
        let mut random = Random::new(self.random.next().into());
        self.apply(&Batch::new(operation, self.types, keys, &mut random))
    }

    /// Retrieves all values of keys.
    pub(crate) fn retrieve(&mut self, keys: &[Words]) {
        let all: usize = keys.iter().map(|key| self.model.values_of(key).len()).sum();
        let batch = Batch::new(HashOperation::Retrieve, self.types, keys.to_vec(), &mut Random::new(5));
        self.apply(&batch.with_room(Some(all as u32)));
    }

    /// Memory of a batch, and its request.
    pub(crate) fn prepare(&mut self, batch: &Batch) -> Prepared {
        let most = batch.most();
        let scratch_size = self.hasher_for(batch).scratch_size(most as u32).expect("scratch");
        let scratch = self.context.upload(&self.random.words(scratch_size as usize / 4 + 1)).expect("scratch");
        let mut memory = Memory::new(&mut self.random);
        let places = places(&mut memory, batch, self.types);
        let before = memory.words;
        let buffer = self.context.upload(&before).expect("memory");
        let range =
            |place: &Bytes<usize>| Range::new(buffer.address() + place.start as u64 * 4, place.len() as u64 * 4);
        let wanted = |place: &Bytes<usize>| if batch.outputs { range(place) } else { Range::NONE };
        let address = |place: &Bytes<usize>| wanted(place).address;
        let when = |is_used: bool, given: Range| if is_used { given } else { UNUSED };
        let operation = batch.operation;
        let is_retrieval = operation == HashOperation::Retrieve;
        let values_out = if batch.room.is_some() { wanted(&places.values_out) } else { Range::NONE };
        let source = batch.source.unwrap_or(Source { table: UNUSED, capacity: u32::MAX });
        let reserve = batch.reserve.on_device.map_or(0, |_| range(&places.reserve).address);
        let info = HashInfo {
            table: self.range(),
            capacity: self.capacity,
            count: match batch.count {
                Some(_) => Count::device(range(&places.count).address, most as u32),
                None => Count::host(most as u32),
            },
            min_capacity: if self.types.resizable { self.min_capacity } else { u32::MAX },
            keys: when(batch.has_keys(), range(&places.keys)),
            values: match operation {
                _ if !batch.has_keys() => UNUSED,
                _ if operation.inserts() => range(&places.values),
                _ => wanted(&places.values),
            },
            values_out: when(is_retrieval || operation.inserts() && operation.finds(), values_out),
            max_values: if is_retrieval { batch.room.unwrap_or(u32::MAX) } else { u32::MAX },
            offsets: when(is_retrieval, range(&places.offsets)),
            counts: when(operation == HashOperation::Count, range(&places.counts)),
            opcodes: when(operation == HashOperation::Mixed, range(&places.opcodes)),
            source: source.table,
            source_capacity: source.capacity,
            min_value: batch.selected[0],
            max_value: batch.selected[1],
            reserve: Count { max: batch.reserve.most, address: reserve },
            found: if batch.bits { wanted(&places.found) } else { Range::NONE },
            stencil: when(batch.stencil.is_some(), range(&places.stencil)),
            leftover_keys: wanted(&places.leftover_keys),
            leftover_values: wanted(&places.leftover_values),
            leftover_count: address(&places.leftover_count),
            count_out: address(&places.count_out),
            statistics: UNUSED,
            scratch: Scratch { buffer: scratch.handle(), offset: 0, size: scratch_size },
            status: address(&places.status),
            ..HashInfo::default()
        };
        Prepared { before, buffer, _scratch: scratch, places, info }
    }

    pub(crate) fn run_one(&self, hasher: &Hasher, info: &HashInfo) {
        // SAFETY: the buffers outlive run(), which waits.
        self.run(|commands| unsafe { hasher.cmd_hash(commands, info) });
    }

    pub(crate) fn run(&self, record: impl Fn(vk::CommandBuffer) -> Result<()>) {
        let edges = |words: &[u32]| {
            let guard = GUARD as usize / 4;
            [words[..guard].to_vec(), words[words.len() - guard..].to_vec()].concat()
        };
        let before = edges(&self.words());
        self.context.run(record).expect("an operation");
        assert_eq!(before, edges(&self.words()), "the words around the table");
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

    /// Exports the table to arrays with room for so many keys.
    pub(crate) fn export(&mut self, room: u32, outputs: bool) {
        let batch = self.export_batch(room);
        self.apply(&Batch { outputs, ..batch });
    }

    fn export_batch(&self, room: u32) -> Batch {
        // The arrays are written.
        Batch::new(HashOperation::Export, self.types, self.types.keys_of(0..room), &mut Random::new(3))
    }

    /// The content that an export writes, not compared with the model.
    pub(crate) fn exported(&mut self) -> Model {
        let batch = self.export_batch(self.slots().len() as u32 + 2);
        let prepared = self.prepare(&batch);
        self.run_one(self.hasher(HashOperation::Export), &prepared.info);
        let outputs = prepared.outputs(self.context);
        let Places { keys, values, count_out, .. } = &prepared.places;
        let count = outputs.word(count_out) as usize;
        let words = [self.types.key_words(), self.types.value_words()];
        let mut all = Model::new(self.types);
        outputs.items([keys, values], words, count).into_iter().for_each(|(key, value)| all.insert(key, value));
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

    /// All words of the table, and those around it.
    pub(crate) fn words(&self) -> Vec<u32> {
        self.context.download(&self.table, self.table.size() as usize / 4).expect("the table")
    }
}

/// The arrays of a batch.
fn places(memory: &mut Memory<'_>, batch: &Batch, types: Types) -> Places {
    let [key_words, value_words] = [types.key_words(), types.value_words()];
    let (items, most) = (batch.keys.len(), batch.most());
    let room = if batch.operation.finds() { items } else { batch.room.unwrap_or(0) as usize };
    Places {
        keys: memory.input(&batch.keys.concat()),
        values: memory.input(&batch.values.concat()),
        values_out: memory.place(value_words * room),
        found: memory.place(items.div_ceil(32)),
        stencil: memory.bits(batch.stencil.as_deref().unwrap_or_default()),
        offsets: memory.place(items + 1),
        counts: memory.place(items),
        opcodes: memory.input(&batch.opcodes),
        leftover_keys: memory.place(key_words * most),
        leftover_values: memory.place(value_words * most),
        leftover_count: memory.place(1),
        status: memory.place(1),
        count: memory.input(&[batch.count.unwrap_or(0)]),
        reserve: memory.input(&[batch.reserve.on_device.unwrap_or(0)]),
        count_out: memory.place(1),
    }
}
