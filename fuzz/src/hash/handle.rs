//! A hasher on a device: the arrays of a request.

use super::opcodes::Opcodes;
use super::outputs::{COUNT, KEYS, Searched, VALUES, bytes};
use super::scene::{Numbers, Scene};
use super::stencil::Stencil;
use super::table::entry_count;
use crate::arena::{Array, ArrayRanges, Check};
use crate::items::{Stream, value_size};
use crate::keys::words;
use crate::primitive::{Ask, Handle, Limits, Prepared};
use crate::random::Random;
use ash::vk;
use std::sync::Arc;
use trommel::{HashInfo, HashOperation, Hasher, Range, Request, STATUS_COUNT_CLAMPED, STATUS_TABLE_FULL, Scratch};

#[derive(Debug)]
pub(super) struct Hashing(pub(super) Hasher);

/// Whether the count of an operation is that of a batch of keys, and may be on the device.
pub(super) fn has_batch(operation: HashOperation) -> bool {
    let has_none = matches!(operation, HashOperation::Clear | HashOperation::Statistics);
    let is_limit = matches!(operation, HashOperation::Rehash | HashOperation::Resize | HashOperation::EraseIf);
    !has_none && !is_limit && !matches!(operation, HashOperation::Export | HashOperation::ExportIf)
}

/// The arrays of leftover items that are wanted.
fn leftover_room(scene: &Scene, ask: &Ask, noise: &mut Random) -> Vec<Array> {
    if ask.results & COUNT == 0 {
        return Vec::new();
    }
    let [key, value] = [scene.shape.key_words, scene.shape.value_words].map(|words| 4 * words);
    // Ones that are added have no array.
    let value = if scene.info.operation == HashOperation::Increment { 0 } else { value };
    let lists = [("leftover keys", KEYS, key), ("leftover values", VALUES, value)];
    let wanted = lists.into_iter().filter(|(_, bit, size)| ask.results & bit != 0 && *size != 0);
    let mut arrays = vec![Array::room("leftover count", 4, 4, 1, noise)];
    arrays.extend(wanted.map(|(role, _, size)| Array::room(role, 4, size, scene.keys.len(), noise)));
    arrays.iter_mut().for_each(Array::free_all);
    arrays
}

/// The arrays that a change writes, the table last. The check of the table checks them all. `clamped`: the status, but
/// for the bit that says that keys are left over.
fn changed(scene: Scene, ask: &Ask, clamped: u32, noise: &mut Random) -> Vec<Array> {
    let mut table = Array::input("table", 16, 4, bytes(&scene.table));
    table.free_all();
    let (mut arrays, mut searched) = (Vec::new(), Searched::default());
    if scene.info.operation.inserts() {
        arrays.extend(leftover_room(&scene, ask, noise));
    }
    if scene.info.operation == HashOperation::FindOrInsert {
        let (room, before) = scene.searched_afterwards(ask, noise);
        arrays.extend(room);
        searched = before;
    }
    if let Some(opcodes) = &scene.opcodes {
        arrays.extend(scene.searched_in_order(opcodes, ask, noise));
    }
    let before = ["leftover keys", "leftover values"].map(|role| {
        arrays.iter().find(|array: &&Array| array.role == role).map_or_else(Vec::new, |array| array.before.clone())
    });
    let has_status = ask.status;
    table.check = Some(Check(Arc::new(move |found| {
        let (entries, left) = scene.check_table(found)?;
        if !scene.info.operation.inserts() {
            return Ok(());
        }
        scene.check_leftovers(&left, [&before[0], &before[1]], found)?;
        if scene.info.operation == HashOperation::FindOrInsert {
            let after = Searched { values: found.bytes("values out").into(), found: found.bytes("found").into() };
            scene.check_search(&entries, &searched, &after)?;
        }
        let full = if left.count == 0 { 0 } else { STATUS_TABLE_FULL };
        let status = words(found.bytes("status"));
        if has_status && status != [clamped | full] {
            return Err(format!("the status is {status:?}, not {}", clamped | full));
        }
        Ok(())
    })));
    arrays.push(table);
    arrays
}

impl Hashing {
    fn operation(&self) -> HashOperation {
        self.0.info().operation
    }

    fn inserts(&self) -> bool {
        self.operation().inserts()
    }

    fn info(&self, ask: &Ask, ranges: &ArrayRanges) -> HashInfo {
        let numbers = Numbers::new(self.0.info(), ask);
        let ([min_value, max_value], (most, at)) = (numbers.selected, numbers.reserve);
        let values_out = ranges.range("values out");
        let max_values = if values_out == Range::NONE {
            // The number is not used.
            numbers.min_capacity
        } else {
            u32::try_from(values_out.size / value_size(self.0.info().value).max(1) as u64).map_or(0, |items| items - 1)
        };
        HashInfo {
            table: ranges.range("table"),
            capacity: numbers.capacity,
            min_capacity: numbers.min_capacity,
            count: ask.count.of(ask.items, "count", ranges),
            keys: ranges.range("keys"),
            values: ranges.range("values"),
            values_out,
            max_values,
            offsets: ranges.range("offsets"),
            opcodes: Opcodes::range(self.operation(), ask, ranges),
            counts: ranges.range("counts"),
            source: ranges.range("source"),
            source_capacity: numbers.source_capacity,
            reserve: at.of(most, "reserve", ranges),
            min_value,
            max_value,
            found: ranges.range("found"),
            stencil: Stencil::range(ask, ranges),
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
        let (operation, mut noise) = (self.operation(), ask.stream(Stream::Segments));
        let [key, value] = [scene.shape.key_words, scene.shape.value_words].map(|words| 4 * words);
        let mut arrays = Vec::new();
        if has_batch(operation) {
            arrays.push(Array::input("keys", 4, key, bytes(scene.keys.iter().flatten())));
            if self.inserts() {
                arrays.push(Array::input("values", 4, value.max(1), bytes(scene.values.iter().flatten())));
            }
        }
        arrays.extend(scene.stencil.as_ref().and_then(Stencil::array));
        arrays.extend(scene.opcodes.as_ref().and_then(Opcodes::array));
        if operation == HashOperation::Rehash {
            arrays.push(Array::input("source", 16, 4, bytes(&scene.source)));
        }
        if operation == HashOperation::Resize {
            arrays.extend(scene.numbers.reserve.1.array("reserve"));
        }
        arrays.extend(ask.count.array("count"));
        let is_clamped = match operation {
            HashOperation::Rehash | HashOperation::Resize => entry_count(&scene.before) > scene.len,
            HashOperation::EraseIf => scene.selected() > scene.len,
            _ => ask.count.is_clamped(ask.items),
        };
        let clamped = if is_clamped { STATUS_COUNT_CLAMPED } else { 0 };
        let erases = matches!(operation, HashOperation::Clear | HashOperation::Erase | HashOperation::EraseIf);
        let changes = self.inserts() || erases;
        let (others, bits) = if changes { Default::default() } else { scene.results(ask, &mut noise) };
        arrays.extend(others);
        let mut status = Array::results("status", &[clamped | bits], &mut noise);
        if matches!(operation, HashOperation::Clear | HashOperation::Statistics) {
            // It is not written.
            status.expected.clone_from(&status.before);
        } else if self.inserts() {
            status.free_all();
        }
        if changes {
            arrays.extend(changed(scene, ask, clamped, &mut noise));
        } else {
            arrays.push(Array::input("table", 16, 4, bytes(&scene.table)));
        }
        if ask.status {
            arrays.push(status);
        }
        arrays
    }

    fn prepare<'a>(&'a self, ask: &Ask, ranges: &ArrayRanges) -> Box<dyn Prepared + 'a> {
        Box::new(Request::Hash(&self.0, self.info(ask, ranges)))
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
