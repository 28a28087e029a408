//! A hasher on a device: the arrays of a request, with what an operation must write.

use super::linear::LinearSlots;
use super::table::{Shape, Table, Words, key_of_hash, reserved_key};
use crate::arena::{Array, ArrayRanges, Check, Found};
use crate::items::Stream;
use crate::keys::words;
use crate::primitive::{Ask, Handle, Limits};
use crate::random::Random;
use ash::vk;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use trommel::{
    HashInfo, HashOperation, HashScheme, Hasher, HasherInfo, MergeSequence, Request, STATUS_COUNT_CLAMPED,
    STATUS_OUTPUT_CLAMPED, STATUS_TABLE_FULL, Scratch,
};

#[derive(Debug)]
pub(super) struct Hashing(pub(super) Hasher);

/// Optional results, a bit each.
const KEYS: u32 = 1;
const VALUES: u32 = 2;
const COUNT: u32 = 4;

/// Most slots of a table, unless a batch is larger.
const SLOTS: u32 = 1 << 16;

/// A number of one or two words, the lower one first.
fn number(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |number, word| number << 32 | u64::from(*word))
}

/// The value that remains of that of the table, if there is one, and that of an item of the batch.
fn combine(operation: HashOperation, old: Option<&Words>, new: &Words) -> Words {
    let item = if operation == HashOperation::Increment { 1 } else { number(new) };
    let apply: fn(u64, u64) -> u64 = match operation {
        HashOperation::Insert => return old.unwrap_or(new).clone(),
        HashOperation::Assign => return new.clone(),
        HashOperation::Min => u64::min,
        HashOperation::Max => u64::max,
        HashOperation::And => |old, item| old & item,
        HashOperation::Or => |old, item| old | item,
        _ => u64::wrapping_add,
    };
    let bytes = old.map_or(item, |old| apply(number(old), item)).to_le_bytes();
    words(&bytes[..4 * new.len()])
}

/// A table and a batch.
#[derive(Clone, Debug)]
struct Scene {
    info: HasherInfo,
    capacity: u32,
    shape: Shape,
    table: Vec<u32>,
    before: HashMap<Words, Words>,
    /// The words of the table's statistics, for the operation that writes them.
    statistics: Words,
    /// All items of the arrays, also those that do not count.
    keys: Vec<Words>,
    values: Vec<Words>,
    /// Items of the batch.
    len: usize,
}

/// The slots of the table of a request.
fn capacity(info: &HasherInfo, ask: &Ask) -> u32 {
    let mut random = ask.stream(Stream::Layout);
    let most = SLOTS.max(ask.items.saturating_mul(2));
    let drawn = match random.below(8) {
        0 => random.between(1, 1023),
        1 => 1024,
        2 => 1025,
        3 => 33 * 1024,
        4 => random.log_between(1, most),
        _ => random.log_between(1, ask.items.saturating_mul(2).clamp(2048, most)),
    };
    if info.max_capacity == 0 { drawn } else { drawn.min(info.max_capacity) }
}

/// Draws `count` first hashes with many collisions. Bucketed: they have a common prefix, and so their slice, bucket or
/// first digit. Linear: they have common low bits, and so their home, or homes side by side.
fn draw_hashes(shape: &Shape, count: usize, random: &mut Random) -> Vec<u32> {
    let bits = shape.slot_bits();
    let is_linear = shape.scheme == HashScheme::Linear;
    let shift = if is_linear { random.pick(&[0, 0, bits - 4, bits, bits]) } else { random.pick(&[0, 0, 6, 12]) };
    // From the last slot of a linear table, paths wrap around.
    let low = if random.chance(1, 3) { (1 << bits) - 1 } else { 0 };
    let base = random.word() | low;
    (0..count).map(|index| base.wrapping_add(u32::try_from(index).unwrap_or(0) << shift)).collect()
}

/// Keys from which those of the table and of the batch are drawn. Some may be equal.
fn draw_keys(info: &HasherInfo, shape: &Shape, ask: &Ask, count: usize) -> Vec<Words> {
    let (mut random, words) = (ask.stream(Stream::Buckets), shape.key_words);
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let of_bytes = |bytes: Vec<u8>| -> Vec<Words> {
        bytes.chunks_exact(4 * words).map(|key| key.chunks_exact(4).map(word).collect()).collect()
    };
    let mut keys = match random.below(4) {
        0 => {
            // Of keys of two words, the first word given becomes the second hash. If all keys share it, they share
            // their fingerprint, and keys of one home share their path.
            let common: Option<Words> = random.chance(1, 2).then(|| (1..words).map(|_| random.word()).collect());
            let hashes = draw_hashes(shape, count, &mut random);
            let mut others = || common.clone().unwrap_or_else(|| (1..words).map(|_| random.word()).collect());
            hashes.into_iter().map(|hash| key_of_hash(&others(), hash)).collect()
        }
        1 => of_bytes(ask.data.keys(info.key, count, &mut ask.stream(Stream::Keys))),
        _ => of_bytes(random.bytes(count * 4 * words)),
    };
    for number in 0..2 {
        if count != 0 && random.chance(2, 3) {
            let index = random.index(count);
            keys[index] = reserved_key(number, words);
        }
    }
    keys
}

impl Scene {
    fn new(info: &HasherInfo, ask: &Ask) -> Self {
        let capacity = capacity(info, ask);
        let shape = Shape::new(info, capacity);
        let (mut random, mut noise) = (ask.stream(Stream::Marks), ask.stream(Stream::Values));
        // Concurrent searches take a value of all ones as absent.
        let mut value = || -> Words {
            let is_ones = noise.chance(1, 16);
            (0..shape.value_words).map(|_| if is_ones { u32::MAX } else { noise.word() }).collect()
        };
        // 1. The table.
        let mut built = Table::new(shape);
        let load = random.pick(&[0, 0, 5, 50, 80, 95, 100, 110]);
        let earlier = built.slots() * load / 100;
        let others = 1 + random.index(2 * ask.items as usize + 1);
        let all = draw_keys(info, &shape, ask, earlier + others);
        all[..earlier].iter().for_each(|key| built.insert(key, &value()));
        let erased = random.pick(&[0, 0, 10, 50, 100]);
        all[..earlier].iter().filter(|_| random.chance(erased, 100)).for_each(|key| built.erase(key));
        let again = random.pick(&[0, 0, 10]);
        all[..earlier].iter().filter(|_| random.chance(again, 100)).for_each(|key| built.insert(key, &value()));
        built.vary_erased(&mut random);
        // 2. The batch: of all keys, of new ones or of those of the table, or of a few.
        let mut from = match random.below(4) {
            0 => earlier..all.len(),
            1 if earlier != 0 => 0..earlier,
            _ => 0..all.len(),
        };
        if random.chance(1, 4) {
            let few = u32::try_from(from.len()).unwrap_or(u32::MAX).min(300);
            from.end = from.start + random.log_between(1, few) as usize;
        }
        let in_order = random.chance(1, 2);
        let pick = |index: usize| {
            let index = if in_order { index % from.len() } else { random.index(from.len()) };
            all[from.start + index].clone()
        };
        let keys: Vec<Words> = (0..ask.items as usize).map(pick).collect();
        let values = keys.iter().map(|_| value()).collect();
        let before = built.items();
        let statistics = if info.operation == HashOperation::Statistics { built.statistics() } else { Vec::new() };
        let table = built.write(&mut ask.stream(Stream::Noise));
        let len = ask.count.get(ask.items) as usize;
        Self { info: *info, capacity, shape, table, before, statistics, keys, values, len }
    }

    fn items(&self) -> impl Iterator<Item = (&Words, &Words)> {
        self.keys[..self.len].iter().zip(&self.values)
    }

    /// The table after the operation, if every key finds a slot.
    fn after(&self) -> HashMap<Words, Words> {
        let mut items = self.before.clone();
        match self.info.operation {
            HashOperation::Erase => self.items().for_each(|(key, _)| _ = items.remove(key)),
            HashOperation::Clear => items.clear(),
            HashOperation::Find | HashOperation::Export | HashOperation::Statistics => {}
            operation => self.items().for_each(|(key, value)| {
                let value = combine(operation, items.get(key), value);
                items.insert(key.clone(), value);
            }),
        }
        items
    }

    /// The result of a search for a key.
    fn find(&self, key: &Words) -> Option<&Words> {
        // The value of a key that is just being inserted may be all ones.
        let may_be_unfinished = |value: &Words| self.info.concurrent && value[..] == [u32::MAX];
        self.before.get(key).filter(|value| !may_be_unfinished(value))
    }

    /// Checks the table, and returns the keys that have found no slot.
    fn check_table(&self, found: &Found<'_>) -> Result<HashSet<Words>, String> {
        let (bytes, is_concurrent) = (found.bytes("table"), self.info.concurrent);
        let size = trommel::hash::table_size(&self.info, self.capacity);
        if size != Ok(bytes.len() as u64) {
            return Err(format!("the library's size of tables is {size:?}"));
        }
        trommel::hash::check_table(&self.info, self.capacity, bytes)
            .map_err(|error| format!("the library's check of tables: {error}"))?;
        let words = words(bytes);
        let table = Table::read(self.shape, &words)?;
        let (items, expected) = (table.items(), self.after());
        if let Some(key) = items.keys().find(|key| !expected.contains_key(*key)) {
            return Err(format!("the table has key {key:x?}"));
        }
        // Of equal keys of a concurrent batch, any one provides the value.
        let batch: HashSet<_> = self.items().filter(|_| is_concurrent).collect();
        for (key, value) in &items {
            let keeps_value = self.info.operation == HashOperation::Insert && self.before.contains_key(key);
            if expected[key] != *value && (keeps_value || !batch.contains(&(key, value))) {
                return Err(format!("key {key:x?} has the value {value:x?}, not {:x?}", expected[key]));
            }
        }
        let missing: HashSet<Words> = expected.into_keys().filter(|key| !items.contains_key(key)).collect();
        for key in &missing {
            if self.before.contains_key(key) {
                return Err(format!("key {key:x?} is lost"));
            }
            if let Some(probes) = table.probes_to_room(key, !is_concurrent) {
                return Err(format!("key {key:x?} is not there, but has room at probe {probes}"));
            }
        }
        if self.info.scheme == HashScheme::Linear {
            LinearSlots::check_change(self.shape, &self.info, &self.table, &words)?;
        }
        Ok(missing)
    }

    /// Checks the items that have found no slot, as the device has listed them.
    fn check_leftovers(&self, missing: &HashSet<Words>, before: [&[u8]; 2], found: &Found<'_>) -> Result<(), String> {
        let [count] = words(found.bytes("leftover count"))[..] else { return Ok(()) };
        let left: Vec<_> = self.items().filter(|(key, _)| missing.contains(*key)).collect();
        if count as usize != left.len() {
            return Err(format!("{count} keys are left over, not {}", left.len()));
        }
        let sizes = [self.shape.key_words, self.shape.value_words].map(|words| 4 * words);
        let arrays = [found.bytes("leftover keys"), found.bytes("leftover values")];
        for ((array, size), before) in arrays.into_iter().zip(sizes).zip(before) {
            let end = (size * left.len()).min(array.len());
            if array[end..] != before[end..] {
                return Err("memory behind the left over items has been written".into());
            }
        }
        let part = |array: &[u8], size: usize, index: usize| {
            if array.is_empty() { Vec::new() } else { words(&array[size * index..][..size]) }
        };
        let mut listed: Vec<[Words; 2]> =
            (0..left.len()).map(|index| [0, 1].map(|part_| part(arrays[part_], sizes[part_], index))).collect();
        let kept = |array: &[u8], words: &Words| if array.is_empty() { Vec::new() } else { words.clone() };
        let mut expected: Vec<[Words; 2]> =
            left.iter().map(|(key, value)| [kept(arrays[0], key), kept(arrays[1], value)]).collect();
        listed.sort();
        expected.sort();
        match listed.iter().zip(&expected).find(|(listed, expected)| listed != expected) {
            Some((listed, expected)) => Err(format!("{listed:x?} is left over, not {expected:x?}")),
            None => Ok(()),
        }
    }
}

fn bytes<'a>(words: impl IntoIterator<Item = &'a u32>) -> Vec<u8> {
    words.into_iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl Hashing {
    fn operation(&self) -> HashOperation {
        self.0.info().operation
    }

    fn inserts(&self) -> bool {
        self.operation().inserts()
    }

    /// The outputs of a search.
    fn searched(ask: &Ask, scene: &Scene, noise: &mut Random) -> Vec<Array> {
        let (mut arrays, items, size) = (Vec::new(), ask.items as usize, 4 * scene.shape.value_words);
        if ask.results & VALUES != 0 && size != 0 {
            let mut array = Array::room("values", 4, size, items, noise);
            for (index, (key, _)) in scene.items().enumerate() {
                let value = scene.find(key).map_or_else(|| vec![0xff; size], bytes);
                array.expected[index * size..][..size].copy_from_slice(&value);
            }
            arrays.push(array);
        }
        if ask.results & KEYS != 0 {
            let mut bits = vec![0; scene.len.div_ceil(32)];
            for (index, (key, _)) in scene.items().enumerate() {
                bits[index / 32] |= u32::from(scene.find(key).is_some()) << (index % 32);
            }
            let mut array = Array::room("found", 4, 4, items.div_ceil(32), noise);
            array.expected[..4 * bits.len()].copy_from_slice(&bytes(&bits));
            arrays.push(array);
        }
        arrays
    }

    /// The outputs of an export. Its keys are different ones of the table, with their values.
    fn exported(ask: &Ask, scene: Scene, noise: &mut Random) -> Vec<Array> {
        let sizes = [scene.shape.key_words, scene.shape.value_words].map(|words| 4 * words);
        let count = scene.before.len().min(ask.items as usize);
        let mut arrays = vec![Array::room("keys", 4, sizes[0], ask.items as usize, noise)];
        if ask.results & VALUES != 0 && sizes[1] != 0 {
            arrays.push(Array::room("values", 4, sizes[1], ask.items as usize, noise));
        }
        arrays.iter_mut().for_each(Array::free_all);
        let before: Vec<_> = arrays.iter().map(|array| array.before.clone()).collect();
        if ask.results & COUNT != 0 {
            arrays.push(Array::results("count out", &[u32::try_from(count).unwrap_or(u32::MAX)], noise));
        }
        arrays[0].check = Some(Check(Arc::new(move |found| {
            let arrays = [found.bytes("keys"), found.bytes("values")];
            for ((array, size), before) in arrays.into_iter().zip(sizes).zip(&before) {
                if array[count * size..] != before[count * size..] {
                    return Err("memory behind the exported items has been written".into());
                }
            }
            let mut seen = HashSet::new();
            for index in 0..count {
                let part = |number: usize| words(&arrays[number][sizes[number] * index..][..sizes[number]]);
                let key = part(0);
                let value = scene.before.get(&key).ok_or_else(|| format!("the table does not have key {key:x?}"))?;
                if before.len() > 1 && part(1) != *value {
                    return Err(format!("key {key:x?} has the value {value:x?}, not {:x?}", part(1)));
                }
                if !seen.insert(key) {
                    return Err(format!("key {:x?} is exported twice", part(0)));
                }
            }
            Ok(())
        })));
        arrays
    }

    fn info(&self, ask: &Ask, ranges: &ArrayRanges) -> HashInfo {
        HashInfo {
            table: ranges.range("table"),
            capacity: capacity(self.0.info(), ask),
            count: ask.count.of(ask.items, "count", ranges),
            keys: ranges.range("keys"),
            values: ranges.range("values"),
            found: ranges.range("found"),
            leftover_keys: ranges.range("leftover keys"),
            leftover_values: ranges.range("leftover values"),
            leftover_count: ranges.address("leftover count"),
            count_out: ranges.address("count out"),
            statistics: ranges.range("statistics"),
            status: ranges.address("status"),
            ..HashInfo::default()
        }
    }
}

impl Handle for Hashing {
    fn arrays(&self, ask: &Ask, _: &Limits) -> Vec<Array> {
        let scene = Scene::new(self.0.info(), ask);
        let (items, mut noise) = (ask.items as usize, ask.stream(Stream::Segments));
        let [key, value] = [scene.shape.key_words, scene.shape.value_words].map(|words| 4 * words);
        let mut table = Array::input("table", 16, 4, bytes(&scene.table));
        let mut arrays = Vec::new();
        if self.operation() != HashOperation::Export {
            arrays.push(Array::input("keys", 4, key, bytes(scene.keys.iter().flatten())));
        }
        arrays.extend(ask.count.array("count"));
        let clamped = if ask.count.is_clamped(ask.items) { STATUS_COUNT_CLAMPED } else { 0 };
        let mut status = Array::results("status", &[clamped], &mut noise);
        if matches!(self.operation(), HashOperation::Clear | HashOperation::Statistics) {
            // It is not written.
            status.expected.clone_from(&status.before);
        }
        if self.operation() == HashOperation::Export {
            let clamped = scene.before.len() > ask.items as usize;
            status = Array::results("status", &[if clamped { STATUS_OUTPUT_CLAMPED } else { 0 }], &mut noise);
            arrays.extend(Self::exported(ask, scene, &mut noise));
        } else if self.operation() == HashOperation::Find {
            arrays.extend(Self::searched(ask, &scene, &mut noise));
        } else if self.operation() == HashOperation::Statistics {
            arrays.push(Array::results("statistics", &scene.statistics, &mut noise));
        } else {
            table.free_all();
            let (mut before, mut room) = ([Vec::new(), Vec::new()], Vec::new());
            if self.inserts() {
                status.free_all();
                arrays.push(Array::input("values", 4, value.max(1), bytes(scene.values.iter().flatten())));
                if ask.results & COUNT != 0 {
                    room.push(Array::room("leftover count", 4, 4, 1, &mut noise));
                    // Ones that are added have no array.
                    let value = if self.operation() == HashOperation::Increment { 0 } else { value };
                    let lists = [("leftover keys", KEYS, key), ("leftover values", VALUES, value)];
                    for ((role, bit, size), before) in lists.into_iter().zip(&mut before) {
                        if ask.results & bit != 0 && size != 0 {
                            room.push(Array::room(role, 4, size, items, &mut noise));
                            before.clone_from(&room[room.len() - 1].before);
                        }
                    }
                }
            }
            room.iter_mut().for_each(Array::free_all);
            arrays.extend(room);
            let (inserts, has_status) = (self.inserts(), ask.status);
            table.check = Some(Check(Arc::new(move |found| {
                let missing = scene.check_table(found)?;
                if !inserts {
                    return Ok(());
                }
                scene.check_leftovers(&missing, [&before[0], &before[1]], found)?;
                let full = if missing.is_empty() { 0 } else { STATUS_TABLE_FULL };
                let status = words(found.bytes("status"));
                if has_status && status != [clamped | full] {
                    return Err(format!("the status is {status:?}, not {}", clamped | full));
                }
                Ok(())
            })));
        }
        arrays.push(table);
        if ask.status {
            arrays.push(status);
        }
        arrays
    }

    fn request<'a>(&'a self, ask: &Ask, ranges: &ArrayRanges, _: &'a [MergeSequence]) -> Request<'a> {
        Request::Hash(&self.0, self.info(ask, ranges))
    }

    fn scratch_size(&self, ask: &Ask) -> trommel::Result<u64> {
        self.0.scratch_size(ask.items)
    }

    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        ask: &Ask,
        ranges: &ArrayRanges,
        scratch: Scratch,
    ) -> trommel::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.0.cmd_hash(commands, &HashInfo { scratch, ..self.info(ask, ranges) }) }
    }
}
