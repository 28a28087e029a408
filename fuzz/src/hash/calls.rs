//! Random calls about hash tables: their contract, as include/trommel.h states it, and good arguments.

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
        matches!(self.1.operation, CLEAR | EXPORT | STATISTICS) || info.count.max != 0 || info.status != 0 || counts
    }
}

/// Values of TrmHashScheme.
const BUCKETED: i32 = 0;
const LINEAR: i32 = 1;

/// Values of TrmHashOperation.
const INSERT: i32 = 0;
const CLEAR: i32 = 1;
const ASSIGN: i32 = 2;
const ERASE: i32 = 3;
const FIND: i32 = 4;
/// The operations from this one on combine values.
const ADD: i32 = 5;
const INCREMENT: i32 = 10;
const EXPORT: i32 = 11;
const STATISTICS: i32 = 12;
/// Bytes of a TrmHashStatistics.
const STATISTICS_SIZE: u64 = 96;

/// Bits of TrmHasherCreateInfo::flags.
const BATCHES: u32 = 1;
const DEFERRED: u32 = 2;
const CONCURRENT: u32 = 4;

/// The most slots of a table of a scheme.
fn most_slots(scheme: i32) -> u32 {
    if scheme == LINEAR { 1 << 30 } else { 1 << 31 }
}

/// A hasher as it was created.
#[derive(Clone, Copy, Debug)]
struct HasherModel {
    items: Items,
    operation: i32,
    scheme: i32,
    concurrent: bool,
    max_capacity: u32,
}

impl HasherModel {
    fn new(info: &TrmHasherCreateInfo) -> Self {
        let items = Items::new(info.key_type, (info.value_type, info.value_size), 0, info.max_count, 0);
        Self {
            items: Items { batches: info.flags & BATCHES != 0, ..items },
            operation: info.operation,
            scheme: info.scheme,
            concurrent: info.flags & CONCURRENT != 0,
            max_capacity: if info.max_capacity == 0 { most_slots(info.scheme) } else { info.max_capacity },
        }
    }

    fn inserts(&self) -> bool {
        !matches!(self.operation, CLEAR | ERASE | FIND | EXPORT | STATISTICS)
    }

    fn reads_values(&self) -> bool {
        self.inserts() && self.operation != INCREMENT
    }

    /// Bytes of a table, 256 of them for the header.
    ///
    /// Bucketed: a word for each 32 slices in blocks of 64 bytes, and slices of 1024 slots. Each 32 of them share
    /// another one. Linear: a power of two of slots, and a word more in each slot of a key of several words.
    fn table_size(&self, capacity: u32) -> u64 {
        let item = self.items.key_size() + self.items.value_size;
        if self.scheme == LINEAR {
            let slot = item + if self.items.key_size() > 4 { 4 } else { 0 };
            return 256 + u64::from(capacity).next_power_of_two().max(1024) * u64::from(slot);
        }
        let slot = (item / 4).next_power_of_two() * 4;
        let slices = u64::from(capacity.div_ceil(1024));
        256 + slices.div_ceil(32).next_multiple_of(16) * 4 + (slices + slices.div_ceil(32)) * 1024 * u64::from(slot)
    }
}

/// Judges the info of trmCreateHasher().
fn judge_hasher(info: &TrmHasherCreateInfo, verdict: &mut Verdict) {
    verdict.known(info.key_type, 15, "keyType");
    judge_value(info.value_type, info.value_size, verdict);
    verdict.must(info.flags <= BATCHES | DEFERRED | CONCURRENT, MALFORMED, "flags");
    verdict.known(info.operation, STATISTICS + 1, "operation");
    verdict.known(info.scheme, LINEAR + 1, "scheme");
    let HasherModel { items, max_capacity, .. } = HasherModel::new(info);
    verdict.must(!items.narrow(), MALFORMED, "keyType");
    verdict.must(!items.index, MALFORMED, "valueType");
    verdict.must(items.value_size.is_multiple_of(4), MALFORMED, "valueSize");
    verdict.must(items.key_size().saturating_add(items.value_size) <= 16, MALFORMED, "bytes of key and value");
    let combines = (ADD..=INCREMENT).contains(&info.operation);
    verdict.must(!combines || matches!(items.value_size, 4 | 8), MALFORMED, "values that are combined");
    let may_be_concurrent = info.scheme == LINEAR
        && matches!(info.operation, INSERT | ASSIGN | ERASE | FIND)
        && items.key_size() == 4
        && matches!(items.value_size, 0 | 4);
    verdict.must(info.flags & CONCURRENT == 0 || may_be_concurrent, MALFORMED, "flags: concurrent");
    verdict.must(items.max_count <= NARROW, LARGE, "maxCount");
    verdict.must(max_capacity <= most_slots(info.scheme), LARGE, "maxCapacity");
}

/// Judges an operation apart from its scratch and timestamps, and returns the memory that it names.
fn judge_hash(model: &HasherModel, info: &TrmHashInfo, verdict: &mut Verdict) -> Vec<Array> {
    let HasherModel { items, operation, concurrent, max_capacity, .. } = model;
    let (count, [key, value]) = (info.count.max, [items.key_size(), items.value_size]);
    verdict.must(info.reserved == 0, MALFORMED, "reserved");
    verdict.must(info.capacity != 0, SMALL, "capacity");
    verdict.must(info.capacity <= *max_capacity, LARGE, "capacity");
    verdict.must(count <= items.max_count, LARGE, "count.max");
    verdict.must(info.count.address.is_multiple_of(4), MISALIGNED, "count.address");
    verdict.must(info.status.is_multiple_of(4), MISALIGNED, "status");
    verdict.must(info.leftover_count.is_multiple_of(4), MISALIGNED, "leftoverCount");
    verdict.must(info.count_out.is_multiple_of(4), MISALIGNED, "countOut");
    let is_read = matches!(*operation, FIND | EXPORT);
    // Other operations may change the table of a concurrent search.
    let is_written = *concurrent || !is_read && *operation != STATISTICS;
    let mut arrays = vec![Array::new(info.table, 16, model.table_size(info.capacity).into(), is_written)];
    let dense = |size| extent(count, size, 0);
    if matches!(*operation, CLEAR | STATISTICS) {
        verdict.must((count, info.count.address) == (0, 0), MALFORMED, "count of an operation without keys");
    } else {
        arrays.push(Array::new(info.keys, 4, dense(key), *operation == EXPORT));
        arrays.push(Array::word(info.count.address, false));
        arrays.push(Array::word(info.status, true));
    }
    if model.inserts() {
        arrays.push(Array::word(info.leftover_count, true));
        if model.reads_values() {
            arrays.push(Array::new(info.values, 4, dense(value), false));
        }
        let lists = [(info.leftover_keys, key, true), (info.leftover_values, value, model.reads_values())];
        for (range, size, is_used) in lists {
            if given(range) && is_used {
                verdict.must(info.leftover_count != 0, MALFORMED, "left over items without their number");
                arrays.push(Array::new(range, 4, dense(size), true));
            }
        }
    }
    if *operation == STATISTICS {
        arrays.push(Array::new(info.statistics, 4, STATISTICS_SIZE.into(), true));
    }
    if *operation == EXPORT {
        verdict.must(info.count.address == 0, MALFORMED, "the count of an export on the device");
        arrays.push(Array::word(info.count_out, true));
    }
    if is_read && given(info.values) {
        arrays.push(Array::new(info.values, 4, dense(value), true));
    }
    if *operation == FIND && given(info.found) {
        arrays.push(Array::new(info.found, 4, u128::from(count.div_ceil(32)) * 4, true));
    }
    judge_arrays(&arrays, verdict);
    arrays
}

/// A struct for trmCreateHasher() that may or may not be valid.
fn any_hasher(random: &mut Random) -> TrmHasherCreateInfo {
    let value_type = random.pick(&[0, 1, 1, 2]);
    let info = TrmHasherCreateInfo {
        key_type: random.pick(&[0, 0, 0, 3, 6, 7, 10, 11, 12, 13, 14]),
        value_type,
        value_size: if value_type == 2 { 4 * random.pick(&[1, 2, 3]) } else { 0 },
        flags: random.pick(&[0, BATCHES, BATCHES, BATCHES | DEFERRED]),
        operation: random.pick(&[0, 0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 11, 12]),
        max_count: max_count(random),
        max_capacity: if random.once_in(2) { 0 } else { 1 + random.count((1 << 31) - 1) },
        scheme: random.pick(&[BUCKETED, BUCKETED, BUCKETED, LINEAR, LINEAR]),
        ..empty()
    };
    if !random.once_in(8) {
        return info;
    }
    TrmHasherCreateInfo {
        key_type: random.pick(&[0, 6, 10]),
        flags: info.flags | CONCURRENT,
        operation: random.pick(&[INSERT, ASSIGN, ERASE, FIND]),
        scheme: LINEAR,
        ..info
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
    let has_keys = !matches!(operation, CLEAR | STATISTICS);
    let max = if has_keys { count(random, &items, most) } else { 0 };
    let mut info = TrmHashInfo {
        capacity: random.count(max_capacity.min(most)).max(1),
        count: TrmCount { max, address: if has_keys && operation != EXPORT { take_word(random, space) } else { 0 } },
        leftover_count: take_word(random, space),
        count_out: take_word(random, space),
        status: take_word(random, space),
        timestamps: timestamps(random),
        ..empty()
    };
    let [keys, values] = [items.key_size(), items.value_size].map(|size| bytes(max, size, 0));
    let mut wants: Wants<'_> = vec![(&mut info.table, model.table_size(info.capacity), 16)];
    if has_keys {
        wants.push((&mut info.keys, keys, 4));
    }
    if model.reads_values() || matches!(operation, FIND | EXPORT) && random.once_in(2) {
        wants.push((&mut info.values, values, 4));
    }
    if operation == STATISTICS {
        wants.push((&mut info.statistics, STATISTICS_SIZE, 4));
    }
    if operation == FIND && random.once_in(2) {
        wants.push((&mut info.found, u64::from(max.div_ceil(32)) * 4, 4));
    }
    if model.inserts() && info.leftover_count != 0 {
        for (range, size) in [(&mut info.leftover_keys, keys), (&mut info.leftover_values, values)] {
            if random.once_in(2) {
                wants.push((range, size, 4));
            }
        }
    }
    take_ranges(random, space, wants);
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(create: TrmHasherCreateInfo, info: TrmHashInfo) -> Vec<i32> {
        let mut verdict = Verdict::default();
        judge_hash(&HasherModel::new(&create), &info, &mut verdict);
        verdict.faults.iter().map(|(code, _)| *code).collect()
    }

    #[test]
    fn arrays_of_an_operation() {
        let create = TrmHasherCreateInfo { value_type: 1, max_capacity: 1024, ..empty() };
        let range = |address, size| TrmRange { address, size };
        let count = TrmCount { max: 10, address: 0 };
        let table = range(1 << 20, 256 + 64 + 2 * 8192);
        let good = TrmHashInfo { count, table, capacity: 1024, keys: range(64, 40), values: range(104, 40), ..empty() };
        assert_eq!(faults(create, good), []);
        assert_eq!(faults(create, TrmHashInfo { table: range(1 << 20, table.size - 1), ..good }), [SMALL]);
        assert_eq!(faults(create, TrmHashInfo { table: range((1 << 20) + 8, table.size), ..good }), [MISALIGNED]);
        assert_eq!(faults(create, TrmHashInfo { capacity: 0, ..good }), [SMALL]);
        assert_eq!(faults(create, TrmHashInfo { capacity: 1025, ..good }), [LARGE, SMALL]);
        assert_eq!(faults(create, TrmHashInfo { keys: range(1 << 20, 40), ..good }), [OVERLAP]);
        assert_eq!(faults(create, TrmHashInfo { leftover_keys: range(512, 40), ..good }), [MALFORMED]);
        let listed = TrmHashInfo { leftover_keys: range(512, 40), leftover_count: 600, ..good };
        assert_eq!(faults(create, listed), []);
        assert_eq!(faults(TrmHasherCreateInfo { operation: CLEAR, ..create }, good), [MALFORMED]);
        let found = TrmHashInfo { found: range(64, 4), ..good };
        assert_eq!(faults(create, found), [], "only a search writes bits");
        assert_eq!(faults(TrmHasherCreateInfo { operation: FIND, ..create }, found), [OVERLAP]);
        let count = TrmCount { max: 10, address: 1 << 20 };
        let search = TrmHasherCreateInfo { operation: FIND, scheme: LINEAR, ..create };
        let info = TrmHashInfo { count, ..good };
        assert_eq!(faults(search, info), [], "a search may read its count from the table");
        assert_eq!(faults(TrmHasherCreateInfo { flags: CONCURRENT, ..search }, info), [OVERLAP]);
        let linear = TrmHasherCreateInfo { scheme: LINEAR, max_capacity: 1025, ..create };
        let table = range(1 << 20, 256 + 2048 * 8);
        let info = TrmHashInfo { capacity: 1025, table, ..good };
        assert_eq!(faults(linear, info), []);
        assert_eq!(faults(linear, TrmHashInfo { table: range(1 << 20, table.size - 1), ..info }), [SMALL]);
        let wide = TrmHasherCreateInfo { key_type: 3, value_type: 0, ..linear };
        let table = range(1 << 20, 256 + 2048 * 12);
        assert_eq!(faults(wide, TrmHashInfo { table, keys: range(64, 80), ..info }), []);
    }

    #[test]
    fn hashers_may_be_concurrent() {
        let judge = |info: TrmHasherCreateInfo| {
            let mut verdict = Verdict::default();
            judge_hasher(&info, &mut verdict);
            verdict.faults.iter().map(|(code, _)| *code).collect::<Vec<_>>()
        };
        let good = TrmHasherCreateInfo { scheme: LINEAR, flags: CONCURRENT, value_type: 1, ..empty() };
        assert_eq!(judge(good), []);
        assert_eq!(judge(TrmHasherCreateInfo { max_capacity: (1 << 30) + 1, ..good }), [LARGE]);
        for bad in [
            TrmHasherCreateInfo { scheme: BUCKETED, ..good },
            TrmHasherCreateInfo { operation: ADD, ..good },
            TrmHasherCreateInfo { key_type: 3, ..good },
            TrmHasherCreateInfo { value_type: 2, value_size: 8, ..good },
        ] {
            assert_eq!(judge(bad), [MALFORMED]);
        }
        assert_eq!(judge(TrmHasherCreateInfo { scheme: 2, flags: 0, ..good }), [UNKNOWN]);
    }

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
