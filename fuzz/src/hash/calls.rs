//! Random calls about hash tables: good arguments.

use crate::calls::Primitive;
use crate::calls::breakage::{break_create, break_info};
use crate::calls::case::{Breakage, Case, Pointer};
use crate::calls::good::*;
use crate::calls::guard::Block;
use crate::calls::info::{Image, empty, infos};
use crate::calls::model::*;
use crate::calls::primitive::{Creation, Handle, Judged, Members, Query};
use crate::calls::random::Random;
use crate::calls::session::place;
use crate::hash::Hashes;
use crate::hash::contract::{
    ASSIGN, BATCHES, BUCKETED, CONCURRENT, COUNT, DEFERRED, ERASE, FIND, FIND_OR_INSERT, HasherModel, INSERT, LINEAR,
    MIXED, MULTIMAP, REHASH, RESIZABLE, RETRIEVE, STATISTICS, STATISTICS_SIZE, STENCIL, judge_hash, judge_hasher,
};
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::null_mut;
use std::rc::Rc;
use trommel::capi::*;

infos! {
    infos { TrmHasherCreateInfo: HasherCreateInfo, }
    requests { TrmHashInfo: HashInfo, }
}

impl Primitive for Hashes {
    fn recording(&self) -> (&'static str, u64) {
        ("trmCmdHash", 310)
    }

    fn queries(&self) -> &'static [(Query, &'static str, u64)] {
        &[(Query::Scratch, "trmGetHasherScratch", 30), (Query::Timestamps, "trmGetHasherTimestampCount", 30)]
    }

    fn creations(&self) -> &'static [(&'static str, u64)] {
        &[("trmCreateHasher", 6)]
    }

    fn members(&self) -> &'static Members {
        &Members {
            counts: &[offset_of!(TrmHashInfo, count)],
            keys: offset_of!(TrmHashInfo, keys),
            scratch: offset_of!(TrmHashInfo, scratch),
            timestamps: offset_of!(TrmHashInfo, timestamps),
            addresses: &[
                offset_of!(TrmHashInfo, table),
                offset_of!(TrmHashInfo, keys),
                offset_of!(TrmHashInfo, values),
                offset_of!(TrmHashInfo, found),
                offset_of!(TrmHashInfo, leftover_keys),
                offset_of!(TrmHashInfo, leftover_values),
                offset_of!(TrmHashInfo, leftover_count),
                offset_of!(TrmHashInfo, count_out),
                offset_of!(TrmHashInfo, statistics),
                offset_of!(TrmHashInfo, status),
                offset_of!(TrmHashInfo, values_out),
                offset_of!(TrmHashInfo, offsets),
                offset_of!(TrmHashInfo, counts),
                offset_of!(TrmHashInfo, source),
                offset_of!(TrmHashInfo, stencil),
                offset_of!(TrmHashInfo, opcodes),
                offset_of!(TrmHashInfo, reserve) + offset_of!(TrmCount, address),
                offset_of!(TrmHashInfo, count) + offset_of!(TrmCount, address),
            ],
        }
    }

    fn make(&self, random: &mut Random, _: usize, device: TrmDevice) -> Result<Rc<dyn Handle>, String> {
        let (info, mut handle) = (hasher(random), null_mut());
        // SAFETY: the arguments are valid.
        let result = unsafe { trmCreateHasher(device, &raw const info, &raw mut handle) };
        if result == SUCCESS {
            Ok(Rc::new(Hasher(handle, HasherModel::new(&info))))
        } else {
            Err(format!("trmCreateHasher of {info:?}"))
        }
    }

    fn draw_creation(&self, _: usize, random: &mut Random, case: &mut Case) {
        case.image = Image::of(&hasher(random));
    }

    fn break_creation(&self, _: usize, random: &mut Random, case: &Case, breakages: &mut Vec<Breakage>) {
        match random.below(12) {
            0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
            1 => breakages.push(Breakage::Handle(None)),
            2 => breakages.push(Breakage::Fail(0)),
            _ => break_create::<TrmHasherCreateInfo>(random, &case.image, breakages),
        }
    }

    fn judge_creation(&self, _: usize, case: &Case, verdict: &mut Verdict) {
        if verdict.header::<TrmHasherCreateInfo>(&case.image) {
            judge_hasher(&case.image.effective(), verdict);
        }
    }

    fn describe_creation(&self, image: &Image) -> String {
        image.describe::<TrmHasherCreateInfo>()
    }

    fn break_request(&self, random: &mut Random, image: &Image, item: Option<usize>, breakages: &mut Vec<Breakage>) {
        break_info::<TrmHashInfo>(random, image, item, breakages);
    }

    fn judge_header(&self, image: &Image, verdict: &mut Verdict) -> bool {
        verdict.header::<TrmHashInfo>(image)
    }

    fn describe_request(&self, image: &Image) -> String {
        image.describe::<TrmHashInfo>()
    }

    fn place(&self, block: &Block, image: &Image, pointers: &[(usize, u64)]) -> *const TrmInfoHeader {
        place::<TrmHashInfo>(block, image, pointers).cast()
    }

    unsafe fn create(&self, _: usize, arguments: &Creation<'_>, handle: *mut *mut c_void) -> i32 {
        let info = place(arguments.block, arguments.image, &[]);
        // SAFETY: the caller's promise.
        unsafe { trmCreateHasher(arguments.device, info, handle.cast()) }
    }

    unsafe fn destroy(&self, handle: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { trmDestroyHasher(handle.cast()) }
    }

    unsafe fn record(&self, commands: VkCommandBuffer, handle: *mut c_void, info: *const TrmInfoHeader) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmCmdHash(commands, handle.cast(), info.cast()) }
    }

    unsafe fn scratch(&self, handle: *mut c_void, max_count: u32, size: *mut u64) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmGetHasherScratch(handle.cast(), max_count, size) }
    }

    unsafe fn timestamp_count(&self, handle: *mut c_void, max_count: u32, count: *mut u32) -> i32 {
        // SAFETY: the caller's promise.
        unsafe { trmGetHasherTimestampCount(handle.cast(), max_count, count) }
    }
}

#[derive(Debug)]
struct Hasher(TrmHasher, HasherModel);

impl Handle for Hasher {
    fn address(&self) -> *mut c_void {
        self.0.cast()
    }

    fn items(&self) -> &Items {
        &self.1.items
    }

    fn draw(&self, random: &mut Random, most: u32, space: &mut Space) -> Image {
        Image::of(&hash(random, &self.1, most, space))
    }

    fn judge(&self, image: &Image, verdict: &mut Verdict) -> Judged {
        let info = image.effective::<TrmHashInfo>();
        let arrays = judge_hash(&self.1, &info, verdict);
        Judged { arrays, count: info.count.max, scratch: info.scratch, timestamps: info.timestamps }
    }

    fn records(&self, image: &Image) -> bool {
        let info = image.effective::<TrmHashInfo>();
        let counts = self.1.inserts() && info.leftover_count != 0;
        self.1.always_records() || info.count.max != 0 || info.status != 0 || counts
    }
}

/// A struct for trmCreateHasher() that may or may not be valid.
fn any_hasher(random: &mut Random) -> TrmHasherCreateInfo {
    let value_type = random.pick(&[0, 1, 1, 2]);
    let info = TrmHasherCreateInfo {
        key_type: random.pick(&[0, 0, 0, 3, 6, 7, 10, 11, 12, 13, 14]),
        value_type,
        value_size: if value_type == 2 { 4 * random.pick(&[1, 2, 3, 4]) } else { 0 },
        flags: random.pick(&[0, BATCHES, BATCHES, BATCHES | DEFERRED])
            | random.pick(&[0, 0, RESIZABLE])
            | random.pick(&[0, 0, STENCIL]),
        operation: if random.once_in(4) { INSERT } else { random.below32(22).cast_signed() },
        max_count: max_count(random),
        max_capacity: if random.once_in(2) { 0 } else { 1 + random.count((1 << 31) - 1) },
        scheme: random.pick(&[BUCKETED, BUCKETED, BUCKETED, LINEAR, LINEAR]),
        ..empty()
    };
    match random.below(8) {
        0 => TrmHasherCreateInfo {
            key_type: random.pick(&[0, 6, 10]),
            flags: info.flags | CONCURRENT,
            operation: random.pick(&[INSERT, ASSIGN, ERASE, FIND]),
            scheme: LINEAR,
            ..info
        },
        1 | 2 => TrmHasherCreateInfo { flags: info.flags | MULTIMAP, scheme: LINEAR, ..info },
        _ => info,
    }
}

fn hasher(random: &mut Random) -> TrmHasherCreateInfo {
    until_good(
        || {
            let info = any_hasher(random);
            TrmHasherCreateInfo { flags: info.flags & !DEFERRED, ..info }
        },
        judge_hasher,
    )
}

/// An operation with at most `most` keys, without scratch.
fn hash(random: &mut Random, model: &HasherModel, most: u32, space: &mut Space) -> TrmHashInfo {
    let HasherModel { items, operation, max_capacity, .. } = *model;
    let max = if model.has_count() { count(random, &items, most) } else { 0 };
    let capacity = random.count(max_capacity.min(most)).max(1);
    let mut info = TrmHashInfo {
        capacity,
        // Other tables have one number of slots.
        min_capacity: if model.resizable { random.count(capacity) } else { random.below32(u32::MAX) },
        count: TrmCount { max, address: if model.reads_keys() { take_word(random, space) } else { 0 } },
        leftover_count: take_word(random, space),
        count_out: take_word(random, space),
        status: take_word(random, space),
        timestamps: timestamps(random),
        source_capacity: random.count(max_capacity.min(most)).max(1),
        max_values: random.count(u32::MAX),
        min_value: random.next() >> random.below(64),
        max_value: random.next() >> random.below(64),
        reserve: TrmCount { max: random.count(u32::MAX), address: take_word(random, space) },
        ..empty()
    };
    let [keys, values] = [items.key_size(), items.value_size].map(|size| bytes(max, size, 0));
    let mut wants: Wants<'_> = vec![(&mut info.table, model.table_size(info.capacity), 16)];
    if model.has_keys() {
        wants.push((&mut info.keys, keys, 4));
    }
    if model.reads_values() || model.writes_values() && random.once_in(2) {
        wants.push((&mut info.values, values, 4));
    }
    let keys_are_opcodes = operation == MIXED && random.once_in(8);
    match operation {
        MIXED if keys_are_opcodes => {}
        MIXED => wants.push((&mut info.opcodes, bytes(max, 4, 0), 4)),
        STATISTICS => wants.push((&mut info.statistics, STATISTICS_SIZE, 4)),
        REHASH => wants.push((&mut info.source, model.table_size(info.source_capacity), 16)),
        COUNT => wants.push((&mut info.counts, bytes(max, 4, 0), 4)),
        RETRIEVE => wants.push((&mut info.offsets, (u64::from(max) + 1) * 4, 4)),
        _ => {}
    }
    if random.once_in(2) {
        match operation {
            FIND_OR_INSERT | MIXED => wants.push((&mut info.values_out, values, 4)),
            RETRIEVE => wants.push((&mut info.values_out, bytes(info.max_values, items.value_size, 0), 4)),
            _ => {}
        }
    }
    if model.finds() && random.once_in(2) {
        wants.push((&mut info.found, u64::from(max.div_ceil(32)) * 4, 4));
    }
    let keys_are_stencil = model.stencil && random.once_in(8);
    if model.stencil && !keys_are_stencil {
        wants.push((&mut info.stencil, u64::from(max.div_ceil(32)) * 4, 4));
    }
    if model.inserts() && info.leftover_count != 0 {
        for (range, size) in [(&mut info.leftover_keys, keys), (&mut info.leftover_values, values)] {
            if random.once_in(2) {
                wants.push((range, size, 4));
            }
        }
    }
    take_ranges(random, space, wants);
    if keys_are_stencil {
        info.stencil = info.keys;
    }
    if keys_are_opcodes {
        info.opcodes = info.keys;
    } else if operation != MIXED {
        // Not used.
        info.opcodes = TrmRange { address: random.next(), size: random.below(64) };
    }
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_arguments_are_good() {
        let mut random = Random::new(1, 2);
        for _ in 0..2000 {
            let mut verdict = Verdict::default();
            let model = HasherModel::new(&hasher(&mut random));
            let mut space = Space::new(&mut random);
            judge_hash(&model, &hash(&mut random, &model, u32::MAX, &mut space), &mut verdict);
            assert_eq!(verdict.faults, []);
        }
    }
}
