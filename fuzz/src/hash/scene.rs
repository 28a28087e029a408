//! Scenes: a table and a batch, with the table that an operation must leave.

use super::linear::LinearSlots;
use super::opcodes::Opcodes;
use super::stencil::Stencil;
use super::table::{
    Entries, SLICE_SLOTS, Shape, Table, Words, entry_count, key_of_hash, key_of_second_hash, keys_of_equal_hashes,
    reserved_key, twin,
};
use crate::items::{Stream, value_size};
use crate::keys::words;
use crate::primitive::{Ask, CountAt};
use crate::random::Random;
use trommel::{HashOperation, HashScheme, HasherInfo};

/// Most slots of a table, unless a batch is larger.
const SLOTS: u32 = 1 << 16;

/// Most values that are retrieved.
const RETRIEVED: usize = 1 << 15;

/// A number of one or two words, the lower one first.
fn number(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |number, word| number << 32 | u64::from(*word))
}

/// The value that remains of that of the table, if there is one, and that of an item of the batch. If the last one of
/// equal keys is inserted, the table is that before the batch.
fn combine(operation: HashOperation, old: Option<&Words>, new: &Words) -> Words {
    let item = if operation == HashOperation::Increment { 1 } else { number(new) };
    let apply: fn(u64, u64) -> u64 = match operation {
        HashOperation::Insert | HashOperation::InsertLast | HashOperation::FindOrInsert => {
            return old.unwrap_or(new).clone();
        }
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

/// Numbers of a request that the host knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) capacity: u32,
    /// The capacity of the table that a rehash reads.
    pub(super) source_capacity: u32,
    pub(super) min_capacity: u32,
    /// The most keys of the batch, or of the table that a rehash reads.
    max_count: u32,
    /// The smallest and the largest value that selects a key.
    pub(super) selected: [u64; 2],
    /// The number of keys to make room for: the most, and where the number is.
    pub(super) reserve: (u32, CountAt),
}

/// A table and a batch.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) info: HasherInfo,
    pub(super) numbers: Numbers,
    /// The shape of the table before the operation, or of `source`.
    before_shape: Shape,
    /// The shape of the table after the operation.
    pub(super) shape: Shape,
    /// Whether the operation clears the table.
    pub(super) clears: bool,
    /// The words of the table before the operation. A resizable table may have more than its slots need.
    pub(super) table: Vec<u32>,
    /// The table that a rehash reads. Otherwise empty.
    pub(super) source: Vec<u32>,
    /// The entries of the table before the operation, or of `source`.
    pub(super) before: Entries,
    /// The words of the table's statistics, for the operation that writes them.
    pub(super) statistics: Words,
    /// All items of the arrays, also those that do not count.
    pub(super) keys: Vec<Words>,
    pub(super) values: Vec<Words>,
    /// The bits that select keys. None: the operation is for all keys.
    pub(super) stencil: Option<Stencil>,
    /// The operations of the keys of a mixed batch.
    pub(super) opcodes: Option<Opcodes>,
    /// Items of the batch.
    pub(super) len: usize,
    /// Number of values that a retrieval has room for.
    pub(super) room: usize,
}

/// Draws the slots of a table.
fn draw_capacity(info: &HasherInfo, ask: &Ask, random: &mut Random) -> u32 {
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

/// Draws a value that others are compared with.
fn draw_bound(info: &HasherInfo, random: &mut Random) -> u64 {
    match random.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => random.below(4).into(),
        3 => u32::MAX.into(),
        _ if value_size(info.value) == 4 => random.word().into(),
        _ => random.draw(),
    }
}

impl Numbers {
    /// Draws the numbers of a request.
    pub(super) fn new(info: &HasherInfo, ask: &Ask) -> Self {
        let mut random = ask.stream(Stream::Layout);
        let [capacity, source_capacity] = [0; 2].map(|_| draw_capacity(info, ask, &mut random));
        let min_capacity = match random.below(4) {
            // Only resizable tables have one.
            _ if !info.resizable => random.word(),
            0 => 0,
            1 => capacity,
            _ => random.log_between(1, capacity),
        };
        let mut selected = [0; 2].map(|_| draw_bound(info, &mut random));
        if random.chance(7, 8) {
            selected.sort_unstable();
        }
        let reserve = match random.below(4) {
            0 => 0,
            1 => random.word(),
            _ => random.log_between(1, 2 * capacity),
        };
        let reserve = (reserve, CountAt::draw(reserve, &mut random));
        Self { capacity, source_capacity, min_capacity, max_count: ask.items, selected, reserve }
    }

    /// The shape of a table with the smallest number of slots. That of a rehash has room for twice as many keys as the
    /// other table may have, as far as the capacity allows.
    fn least_shape(&self, info: &HasherInfo) -> Shape {
        if !info.resizable || self.min_capacity == 0 {
            return Shape::new(info, self.capacity);
        }
        let keys = if info.operation == HashOperation::Rehash { self.max_count } else { 0 };
        Shape::new(info, keys.saturating_mul(2).max(self.min_capacity).min(self.capacity))
    }
}

/// The shape that a table of a capacity has. A resizable one may have fewer slots.
fn draw_shape(info: &HasherInfo, capacity: u32, random: &mut Random) -> Shape {
    let is_smaller = info.resizable && random.chance(3, 4);
    Shape::new(info, if is_smaller { random.log_between(1, capacity) } else { capacity })
}

/// Most keys with a common home in a linear table.
const MOST_ON_A_PATH: usize = 1 << 16;

/// Draws `count` first hashes with many collisions. Bucketed: they have a common prefix, and so their slice, bucket or
/// first digit. Linear: they have common low bits, and so their home, or homes side by side. Many of them have
/// different homes: the tester itself walks the path of each.
fn draw_hashes(shape: &Shape, count: usize, random: &mut Random) -> Vec<u32> {
    let bits = shape.slot_bits();
    let is_linear = shape.scheme == HashScheme::Linear;
    let shift = if is_linear { random.pick(&[0, 0, bits - 4, bits, bits]) } else { random.pick(&[0, 0, 6, 12]) };
    let shift = if is_linear && count > MOST_ON_A_PATH { 0 } else { shift };
    // From the last slot of a linear table, paths wrap around.
    let low = if random.chance(1, 3) { (1 << bits) - 1 } else { 0 };
    let base = random.word() | low;
    (0..count).map(|index| base.wrapping_add(u32::try_from(index).unwrap_or(0) << shift)).collect()
}

/// Most keys with a common second hash: all of an overflow slice have the same first bucket.
const MOST_WITH_A_SECOND_HASH: usize = 1 << 11;

/// Keys from which those of the table and of the batch are drawn. Some may be equal.
fn draw_keys(info: &HasherInfo, shape: &Shape, ask: &Ask, count: usize) -> Vec<Words> {
    let (mut random, words) = (ask.stream(Stream::Buckets), shape.key_words);
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    let of_bytes = |bytes: Vec<u8>| -> Vec<Words> {
        bytes.chunks_exact(4 * words).map(|key| key.chunks_exact(4).map(word).collect()).collect()
    };
    let mut keys = match random.below(4) {
        0 if words > 2 && count <= MOST_WITH_A_SECOND_HASH && random.chance(1, 3) => {
            let hash = random.word();
            let mut others = || -> Words { (1..words).map(|_| random.word()).collect() };
            (0..count).map(|_| key_of_second_hash(&others(), hash)).collect()
        }
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
    if shape.has_fingerprint() && random.chance(1, 3) {
        keys.chunks_exact_mut(2).for_each(|pair| pair[1] = twin(&pair[0]));
    }
    if words > 2 && random.chance(1, 4) {
        keys.chunks_exact_mut(2).for_each(|pair| pair.clone_from_slice(&keys_of_equal_hashes(words, &mut random)));
    }
    for number in 0..2 {
        if count != 0 && random.chance(2, 3) {
            let index = random.index(count);
            keys[index] = reserved_key(number, words);
        }
    }
    keys
}

/// Repeats a few of the keys of a multimap's entries, so that each has several values: as many, or some far more than
/// others.
fn repeat_keys(keys: &mut [Words], random: &mut Random) {
    let most = u32::try_from(keys.len()).unwrap_or(u32::MAX);
    if most == 0 || random.chance(1, 8) {
        return;
    }
    // The tester itself walks over the values of a key: 2^30 steps at most.
    let least = u32::try_from(u64::from(most).pow(2) >> 30).unwrap_or(u32::MAX);
    let distinct = random.log_between(least.clamp(1, most), most) as usize;
    let is_skewed = random.chance(1, 2);
    for index in 0..keys.len() {
        let limit = if is_skewed { 1 + random.index(distinct) } else { distinct };
        keys[index] = keys[random.index(limit)].clone();
    }
}

impl Scene {
    pub(super) fn new(info: &HasherInfo, ask: &Ask) -> Self {
        let numbers = Numbers::new(info, ask);
        let is_rehash = info.operation == HashOperation::Rehash;
        let (mut random, mut noise) = (ask.stream(Stream::Marks), ask.stream(Stream::Values));
        // The table that is built is the one that a rehash reads.
        let built_capacity = if is_rehash { numbers.source_capacity } else { numbers.capacity };
        let shape = draw_shape(info, built_capacity, &mut random);
        // Values of a multimap may be equal, also those of a key.
        let few_values = info.multimap && random.chance(1, 4);
        // Concurrent searches take a value of all ones as absent.
        let mut value = || -> Words {
            let is_ones = noise.chance(1, 16);
            let mut word = || if few_values { noise.below(3) } else { noise.word() };
            (0..shape.value_words).map(|_| if is_ones { u32::MAX } else { word() }).collect()
        };
        // 1. The table.
        let mut built = Table::new(shape);
        let load = random.pick(&[0, 0, 5, 50, 80, 95, 100, 110]);
        let mut earlier = built.slots() * load / 100;
        if matches!(info.operation, HashOperation::Rehash | HashOperation::Resize) && random.chance(3, 4) {
            earlier = earlier.min(ask.items as usize);
        }
        let others = 1 + random.index(2 * ask.items as usize + 1);
        let mut all = draw_keys(info, &shape, ask, earlier + others);
        if info.multimap {
            repeat_keys(&mut all[..earlier], &mut random);
        }
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
        let is_mixed = info.operation == HashOperation::Mixed;
        // The operations on a key of a mixed batch depend on each other. Often a key has many of them, or all.
        if is_mixed && random.chance(1, 2) {
            let few = u32::try_from(from.len()).unwrap_or(u32::MAX).min(random.pick(&[1, 4, 40]));
            from.end = from.start + random.between(1, few) as usize;
        }
        // Of 64 keys, so many are the same one.
        let (share, frequent) = match is_mixed {
            true => (random.pick(&[0, 0, 0, 4, 32, 60]), from.start + random.index(from.len())),
            false => (0, 0),
        };
        let in_order = random.chance(1, 2);
        let pick = |index: usize| {
            if share != 0 && random.chance(share, 64) {
                return all[frequent].clone();
            }
            let index = if in_order { index % from.len() } else { random.index(from.len()) };
            all[from.start + index].clone()
        };
        let keys: Vec<Words> = (0..ask.items as usize).map(pick).collect();
        let values = keys.iter().map(|_| value()).collect();
        let len = ask.count.get(ask.items) as usize;
        let stencil = info.stencil.then(|| Stencil::draw(len, &keys, ask));
        let opcodes = is_mixed.then(|| Opcodes::draw(len, &keys, ask));
        // 3. The words of the tables. A rehash overwrites whatever lies where its table begins.
        let statistics = if info.operation == HashOperation::Statistics { built.statistics() } else { Vec::new() };
        let (before, mut noise) = (built.entries(), ask.stream(Stream::Noise));
        let mut table = built.write(&mut noise);
        let extend = |table: &mut Vec<u32>, capacity: u32, noise: &mut Random| {
            let words = if info.resizable { Shape::new(info, capacity).words() } else { 0 };
            (table.len()..words).for_each(|_| table.push(noise.word()));
        };
        extend(&mut table, built_capacity, &mut noise);
        let mut source = Vec::new();
        if is_rehash {
            let mut empty = Table::new(numbers.least_shape(info)).write(&mut noise);
            extend(&mut empty, numbers.capacity, &mut noise);
            source = std::mem::replace(&mut table, empty);
            if noise.chance(1, 2) {
                table.iter_mut().for_each(|word| *word = noise.word());
            }
        }
        let mut scene = Self {
            info: *info,
            numbers,
            before_shape: shape,
            shape,
            clears: false,
            table,
            source,
            before,
            statistics,
            keys,
            values,
            stencil,
            opcodes,
            len,
            room: 0,
        };
        match info.operation {
            HashOperation::Clear | HashOperation::Rehash => {
                (scene.shape, scene.clears) = (numbers.least_shape(info), true);
            }
            HashOperation::Resize => (scene.shape, scene.clears) = scene.resized(built.erased()),
            _ => {}
        }
        scene.room = scene.draw_room(&mut random);
        scene
    }

    /// Draws the number of values that a retrieval has room for.
    fn draw_room(&self, random: &mut Random) -> usize {
        if self.info.operation != HashOperation::Retrieve {
            return 0;
        }
        let all: usize = self.counts().sum();
        let drawn = match random.below(8) {
            0 => all.saturating_sub(1),
            1 => random.index(all + 1),
            2 => random.index(9),
            3 => all + random.index(100),
            _ => all,
        };
        drawn.min(RETRIEVED)
    }

    /// Whether the operation is for the item with this index.
    fn has(&self, index: usize) -> bool {
        self.stencil.as_ref().is_none_or(|stencil| stencil.selects(index))
    }

    /// The items of the batch that the operation is for.
    pub(super) fn items(&self) -> impl Iterator<Item = (&Words, &Words)> {
        let items = self.keys[..self.len].iter().zip(&self.values).enumerate();
        items.filter(|(index, _)| self.has(*index)).map(|(_, item)| item)
    }

    /// All keys of the batch. None: one that the operation is not for.
    pub(super) fn batch_keys(&self) -> impl Iterator<Item = Option<&Words>> {
        (0..self.len).map(|index| self.has(index).then(|| &self.keys[index]))
    }

    /// Number of entries of each key of the batch before the operation.
    pub(super) fn counts(&self) -> impl Iterator<Item = usize> {
        self.batch_keys().map(|key| key.and_then(|key| self.before.get(key)).map_or(0, Vec::len))
    }

    /// The shape of a table that the device resizes, and whether it moves. `erased`: its slots of erased keys.
    fn resized(&self, erased: usize) -> (Shape, bool) {
        let limit = |number: usize| number.min(u32::MAX as usize);
        let (shape, (most, at)) = (self.before_shape, self.numbers.reserve);
        let entries = entry_count(&self.before);
        let keys = limit(entries + at.get(most) as usize);
        let slots = shape.slices * SLICE_SLOTS;
        let (is_full, is_empty) = (limit(keys + erased) > slots / 4 * 3, keys < slots / 8);
        let half = keys.div_ceil(SLICE_SLOTS / 2);
        let half = if self.info.scheme == HashScheme::Linear { half.next_power_of_two() } else { half };
        let least = self.numbers.least_shape(&self.info).slices;
        let slices = half.clamp(least, Shape::new(&self.info, self.numbers.capacity).slices);
        // Many erased slots are reason enough.
        let helps = slices != shape.slices || erased >= slots / 8;
        let moves = (is_full || is_empty) && helps && entries <= self.len;
        (Shape { slices: if moves { slices } else { shape.slices }, ..shape }, moves)
    }

    /// The slots of the table before the operation, if it is linear.
    pub(super) fn slots_before(&self) -> Result<LinearSlots, String> {
        if self.clears {
            return Ok(LinearSlots::new(self.shape));
        }
        LinearSlots::read(self.shape, &self.table[..self.shape.words()])
    }

    /// Whether the operation inserts the entries of another table, or those that its table had.
    pub(super) fn moves_entries(&self) -> bool {
        self.clears && self.info.operation != HashOperation::Clear
    }

    /// Whether an operation that selects keys by their values selects this one.
    pub(super) fn selects(&self, value: &Words) -> bool {
        let [min, max] = self.numbers.selected;
        (min..=max).contains(&number(value))
    }

    /// Number of entries that the operation selects.
    pub(super) fn selected(&self) -> usize {
        self.before.values().flatten().filter(|value| self.selects(value)).count()
    }

    /// Number of entries that a rehash inserts.
    pub(super) fn rehashed(&self) -> usize {
        entry_count(&self.before).min(self.len)
    }

    /// The table after the operation, if every key finds a slot. Those that values select are still there.
    pub(super) fn after(&self) -> Entries {
        let mut entries = self.before.clone();
        match self.info.operation {
            HashOperation::Clear => entries.clear(),
            HashOperation::Erase => self.items().for_each(|(key, _)| _ = entries.remove(key)),
            HashOperation::Insert if self.info.multimap => {
                self.items().for_each(|(key, value)| entries.entry(key.clone()).or_default().push(value.clone()));
                entries.values_mut().for_each(|values| values.sort_unstable());
            }
            HashOperation::Rehash | HashOperation::Resize => {}
            HashOperation::Mixed => {
                if let Some(opcodes) = &self.opcodes {
                    self.apply_in_order(opcodes, &mut entries);
                }
            }
            operation if operation.inserts() => {
                self.items().for_each(|(key, value)| {
                    let values = entries.entry(key.clone()).or_default();
                    let by_last = operation == HashOperation::InsertLast;
                    let old = if by_last { self.before.get(key).and_then(|old| old.first()) } else { values.first() };
                    *values = vec![combine(operation, old, value)];
                });
            }
            _ => {}
        }
        entries
    }
}
