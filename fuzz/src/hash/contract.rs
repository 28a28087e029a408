//! The contract of the calls about hash tables, as include/trommel.h states it.

use crate::calls::model::*;
use trommel::capi::*;

/// Values of TrmHashScheme.
pub(super) const BUCKETED: i32 = 0;
pub(super) const LINEAR: i32 = 1;

/// Values of TrmHashOperation.
pub(super) const INSERT: i32 = 0;
pub(super) const CLEAR: i32 = 1;
pub(super) const ASSIGN: i32 = 2;
pub(super) const ERASE: i32 = 3;
pub(super) const FIND: i32 = 4;
/// The operations from this one on combine values.
const ADD: i32 = 5;
const INCREMENT: i32 = 10;
const EXPORT: i32 = 11;
pub(super) const STATISTICS: i32 = 12;
pub(super) const FIND_OR_INSERT: i32 = 13;
pub(super) const REHASH: i32 = 14;
pub(super) const COUNT: i32 = 15;
pub(super) const RETRIEVE: i32 = 16;
const ERASE_IF: i32 = 17;
const EXPORT_IF: i32 = 18;
const RESIZE: i32 = 19;
pub(super) const MIXED: i32 = 20;
const INSERT_LAST: i32 = 21;
/// Bytes of a TrmHashStatistics.
pub(super) const STATISTICS_SIZE: u64 = 96;

/// Bits of TrmHasherCreateInfo::flags.
pub(super) const BATCHES: u32 = 1;
pub(super) const DEFERRED: u32 = 2;
pub(super) const CONCURRENT: u32 = 4;
pub(super) const MULTIMAP: u32 = 8;
pub(super) const RESIZABLE: u32 = 16;
pub(super) const STENCIL: u32 = 32;

/// The most slots of a table of a scheme.
fn most_slots(scheme: i32, items: &Items) -> u32 {
    let is_wide = items.value_size.saturating_add(items.key_size()) > 16;
    if scheme == LINEAR || is_wide { 1 << 30 } else { 1 << 31 }
}

/// A hasher as it was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct HasherModel {
    pub(super) items: Items,
    pub(super) operation: i32,
    scheme: i32,
    concurrent: bool,
    multimap: bool,
    pub(super) resizable: bool,
    pub(super) stencil: bool,
    pub(super) max_capacity: u32,
}

impl HasherModel {
    pub(super) fn new(info: &TrmHasherCreateInfo) -> Self {
        let items = Items::new(info.key_type, (info.value_type, info.value_size), 0, info.max_count, 0);
        Self {
            items: Items { batches: info.flags & BATCHES != 0, ..items },
            operation: info.operation,
            scheme: info.scheme,
            concurrent: info.flags & CONCURRENT != 0,
            multimap: info.flags & MULTIMAP != 0,
            resizable: info.flags & RESIZABLE != 0,
            stencil: info.flags & STENCIL != 0,
            max_capacity: if info.max_capacity == 0 { most_slots(info.scheme, &items) } else { info.max_capacity },
        }
    }

    pub(super) fn inserts(&self) -> bool {
        let is_set = matches!(self.operation, INSERT | INSERT_LAST | ASSIGN | FIND_OR_INSERT | REHASH | RESIZE | MIXED);
        is_set || (ADD..=INCREMENT).contains(&self.operation)
    }

    pub(super) fn reads_values(&self) -> bool {
        self.inserts() && !matches!(self.operation, INCREMENT | REHASH | RESIZE)
    }

    /// Whether left over keys have values.
    fn has_leftover_values(&self) -> bool {
        self.inserts() && self.operation != INCREMENT
    }

    fn exports(&self) -> bool {
        matches!(self.operation, EXPORT | EXPORT_IF)
    }

    pub(super) fn writes_values(&self) -> bool {
        self.exports() || self.operation == FIND
    }

    pub(super) fn finds(&self) -> bool {
        matches!(self.operation, FIND | FIND_OR_INSERT | MIXED)
    }

    pub(super) fn has_count(&self) -> bool {
        !matches!(self.operation, CLEAR | STATISTICS)
    }

    pub(super) fn has_keys(&self) -> bool {
        self.has_count() && !matches!(self.operation, REHASH | RESIZE | ERASE_IF)
    }

    /// Whether the operation has a batch of keys, and so may have its count on the device.
    pub(super) fn reads_keys(&self) -> bool {
        self.has_keys() && !self.exports()
    }

    /// Whether the operation writes something even without keys, a status and other outputs.
    pub(super) fn always_records(&self) -> bool {
        !self.has_count() || self.exports() || matches!(self.operation, REHASH | RETRIEVE | RESIZE)
    }

    /// Bytes of a table, 256 of them for the header.
    ///
    /// Bucketed: a word for each 32 slices in whole buckets, and slices of 1024 slots. Each 32 of them share another
    /// one. A bucket has 64 bytes, or four slots if these are more. Linear: a power of two of slots, and a word more in
    /// each slot of a key of several words, or of a multimap.
    pub(super) fn table_size(&self, capacity: u32) -> u64 {
        let item = self.items.key_size() + self.items.value_size;
        if self.scheme == LINEAR {
            let slot = item + if self.items.key_size() > 4 || self.multimap { 4 } else { 0 };
            return 256 + u64::from(capacity).next_power_of_two().max(1024) * u64::from(slot);
        }
        let slot = (item / 4).next_power_of_two() * 4;
        let slices = u64::from(capacity.div_ceil(1024));
        let bucket = u64::from(slot * 4).max(64);
        256 + (slices.div_ceil(32) * 4).next_multiple_of(bucket)
            + (slices + slices.div_ceil(32)) * 1024 * u64::from(slot)
    }
}

/// Judges the info of trmCreateHasher().
pub(super) fn judge_hasher(info: &TrmHasherCreateInfo, verdict: &mut Verdict) {
    verdict.known(info.key_type, 15, "keyType");
    judge_value(info.value_type, info.value_size, verdict);
    let flags = BATCHES | DEFERRED | CONCURRENT | MULTIMAP | RESIZABLE | STENCIL;
    verdict.must(info.flags <= flags, MALFORMED, "flags");
    verdict.known(info.operation, INSERT_LAST + 1, "operation");
    verdict.known(info.scheme, LINEAR + 1, "scheme");
    let model = HasherModel::new(info);
    let HasherModel { items, max_capacity, concurrent, multimap, resizable, stencil, .. } = model;
    verdict.must(!items.narrow(), MALFORMED, "keyType");
    verdict.must(!items.index, MALFORMED, "valueType");
    verdict.must(items.value_size.is_multiple_of(4), MALFORMED, "valueSize");
    verdict.must(items.value_size <= 16, MALFORMED, "bytes of a value");
    let has_numbers = (ADD..=INCREMENT).contains(&info.operation) || matches!(info.operation, ERASE_IF | EXPORT_IF);
    verdict.must(!has_numbers || matches!(items.value_size, 4 | 8), MALFORMED, "values that are numbers");
    verdict.must(info.operation != RETRIEVE || items.value_size != 0, MALFORMED, "a set has no values");
    let may_be_concurrent = info.scheme == LINEAR
        && matches!(info.operation, INSERT | ASSIGN | ERASE | FIND)
        && items.key_size() == 4
        && matches!(items.value_size, 0 | 4);
    verdict.must(!concurrent || may_be_concurrent, MALFORMED, "flags: concurrent");
    let changes_multimap = matches!(info.operation, CLEAR | INSERT | ERASE | ERASE_IF | REHASH | RESIZE);
    let reads_multimap = matches!(info.operation, FIND | COUNT | RETRIEVE | EXPORT | EXPORT_IF | STATISTICS);
    let may_be_multimap = info.scheme == LINEAR && !concurrent && (changes_multimap || reads_multimap);
    verdict.must(!multimap || may_be_multimap, MALFORMED, "flags: multimap");
    verdict.must(multimap || !matches!(info.operation, COUNT | RETRIEVE), MALFORMED, "flags: no multimap");
    verdict.must(resizable || info.operation != RESIZE, MALFORMED, "flags: not resizable");
    verdict.must(!stencil || model.reads_keys(), MALFORMED, "flags: a stencil without keys");
    let is_mixed = info.operation == MIXED;
    verdict.must(!is_mixed || !stencil, MALFORMED, "flags: a stencil of a mixed batch");
    verdict.must(items.max_count <= NARROW, LARGE, "maxCount");
    verdict.must(max_capacity <= most_slots(info.scheme, &items), LARGE, "maxCapacity");
}

/// Judges an operation apart from its scratch and timestamps, and returns the memory that it names.
pub(super) fn judge_hash(model: &HasherModel, info: &TrmHashInfo, verdict: &mut Verdict) -> Vec<Array> {
    let HasherModel { items, operation, concurrent, resizable, max_capacity, .. } = model;
    let (count, [key, value]) = (info.count.max, [items.key_size(), items.value_size]);
    verdict.must(info.capacity != 0, SMALL, "capacity");
    verdict.must(info.capacity <= *max_capacity, LARGE, "capacity");
    verdict.must(!resizable || info.min_capacity <= info.capacity, LARGE, "minCapacity");
    verdict.must(count <= items.max_count, LARGE, "count.max");
    let words = [info.count.address, info.status, info.leftover_count, info.count_out, info.reserve.address];
    verdict.must(words.iter().all(|address| address.is_multiple_of(4)), MISALIGNED, "the address of a word");
    // Other operations may change the table of a concurrent search.
    let is_read = model.exports() || matches!(*operation, FIND | STATISTICS | COUNT | RETRIEVE);
    let mut arrays = vec![Array::new(info.table, 16, model.table_size(info.capacity).into(), *concurrent || !is_read)];
    let dense = |size| extent(count, size, 0);
    let bits = u128::from(count.div_ceil(32)) * 4;
    if model.has_count() {
        let is_on_device = info.count.address != 0;
        verdict.must(model.reads_keys() || !is_on_device, MALFORMED, "the count of a table on the device");
        arrays.push(Array::word(info.status, true));
    } else {
        verdict.must((count, info.count.address) == (0, 0), MALFORMED, "count of an operation without keys");
    }
    if model.has_keys() {
        arrays.push(Array::new(info.keys, 4, dense(key), model.exports()));
        arrays.push(Array::word(info.count.address, false));
    }
    if model.reads_values() {
        arrays.push(Array::new(info.values, 4, dense(value), false));
    }
    if model.inserts() {
        arrays.push(Array::word(info.leftover_count, true));
        let lists = [(info.leftover_keys, key, true), (info.leftover_values, value, model.has_leftover_values())];
        for (range, size, is_used) in lists {
            if given(range) && is_used {
                verdict.must(info.leftover_count != 0, MALFORMED, "left over items without their number");
                arrays.push(Array::new(range, 4, dense(size), true));
            }
        }
    }
    match *operation {
        STATISTICS => arrays.push(Array::new(info.statistics, 4, STATISTICS_SIZE.into(), true)),
        COUNT => arrays.push(Array::new(info.counts, 4, dense(4), true)),
        RETRIEVE => arrays.push(Array::new(info.offsets, 4, (u128::from(count) + 1) * 4, true)),
        MIXED => arrays.push(Array::new(info.opcodes, 4, dense(4), false)),
        RESIZE => arrays.push(Array::word(info.reserve.address, false)),
        REHASH => {
            verdict.must(info.source_capacity != 0, SMALL, "sourceCapacity");
            verdict.must(info.source_capacity <= *max_capacity, LARGE, "sourceCapacity");
            arrays.push(Array::new(info.source, 16, model.table_size(info.source_capacity).into(), false));
        }
        _ => {}
    }
    if model.exports() || *operation == RETRIEVE {
        arrays.push(Array::word(info.count_out, true));
    }
    if model.writes_values() && given(info.values) {
        arrays.push(Array::new(info.values, 4, dense(value), true));
    }
    if matches!(*operation, FIND_OR_INSERT | RETRIEVE | MIXED) && given(info.values_out) {
        let number = if *operation == RETRIEVE { info.max_values } else { count };
        arrays.push(Array::new(info.values_out, 4, extent(number, value, 0), true));
    }
    if model.finds() && given(info.found) {
        arrays.push(Array::new(info.found, 4, bits, true));
    }
    if model.stencil {
        arrays.push(Array::new(info.stencil, 4, bits, false));
    }
    judge_arrays(&arrays, verdict);
    arrays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::info::empty;

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
        let four_words = TrmHasherCreateInfo { key_type: 14, ..create };
        let table = range(1 << 20, 256 + 128 + 2 * 32768);
        let arrays = TrmHashInfo { table, keys: range(64, 160), values: range(1024, 40), ..good };
        assert_eq!(faults(four_words, arrays), [], "a bucket has four slots of 32 bytes");
        let short = range(1 << 20, table.size - 1);
        assert_eq!(faults(four_words, TrmHashInfo { table: short, ..arrays }), [SMALL]);
        let wide = TrmHasherCreateInfo { key_type: 3, value_type: 0, ..linear };
        let table = range(1 << 20, 256 + 2048 * 12);
        assert_eq!(faults(wide, TrmHashInfo { table, keys: range(64, 80), ..info }), []);
    }

    #[test]
    fn arrays_of_two_tables() {
        let create = TrmHasherCreateInfo { operation: REHASH, value_type: 1, ..empty() };
        let range = |address, size| TrmRange { address, size };
        let (table, source) = (range(1 << 20, 256 + 64 + 2 * 8192), range(1 << 21, 256 + 64 + 3 * 8192));
        let count = TrmCount { max: 10, address: 0 };
        let good = TrmHashInfo { count, table, capacity: 1024, source, source_capacity: 2000, ..empty() };
        assert_eq!(faults(create, good), [], "without keys and values");
        assert_eq!(faults(create, TrmHashInfo { source: range(1 << 21, source.size - 1), ..good }), [SMALL]);
        assert_eq!(faults(create, TrmHashInfo { source: range(1 << 20, source.size), ..good }), [OVERLAP]);
        assert_eq!(
            faults(create, TrmHashInfo { source_capacity: 0, source: range(0, 0), ..good }).first(),
            Some(&SMALL)
        );
        assert_eq!(faults(create, TrmHashInfo { count: TrmCount { address: 64, ..count }, ..good }), [MALFORMED]);
        let resizable = TrmHasherCreateInfo { flags: RESIZABLE, ..create };
        assert_eq!(faults(create, TrmHashInfo { min_capacity: 1025, ..good }), []);
        assert_eq!(faults(resizable, TrmHashInfo { min_capacity: 1025, ..good }), [LARGE]);
    }

    #[test]
    fn arrays_of_values() {
        let create = TrmHasherCreateInfo { value_type: 1, scheme: LINEAR, flags: MULTIMAP, ..empty() };
        let range = |address, size| TrmRange { address, size };
        let (count, table) = (TrmCount { max: 10, address: 0 }, range(1 << 20, 256 + 12 * 1024));
        let good = TrmHashInfo { count, table, capacity: 1024, keys: range(64, 40), ..empty() };
        let retrieve = TrmHasherCreateInfo { operation: RETRIEVE, ..create };
        let offsets = TrmHashInfo { offsets: range(128, 44), max_values: 99, ..good };
        assert_eq!(faults(retrieve, offsets), []);
        assert_eq!(faults(retrieve, TrmHashInfo { offsets: range(128, 43), ..offsets }), [SMALL]);
        assert_eq!(faults(retrieve, TrmHashInfo { values_out: range(256, 99 * 4), ..offsets }), []);
        assert_eq!(faults(retrieve, TrmHashInfo { values_out: range(256, 98 * 4), ..offsets }), [SMALL]);
        assert_eq!(faults(retrieve, TrmHashInfo { values_out: range(168, 99 * 4), ..offsets }), [OVERLAP]);
        let count = TrmHasherCreateInfo { operation: COUNT, ..create };
        assert_eq!(faults(count, TrmHashInfo { counts: range(128, 40), ..good }), []);
        assert_eq!(faults(count, TrmHashInfo { counts: range(128, 39), ..good }), [SMALL]);
    }

    fn judge(info: TrmHasherCreateInfo) -> Vec<i32> {
        let mut verdict = Verdict::default();
        judge_hasher(&info, &mut verdict);
        verdict.faults.iter().map(|(code, _)| *code).collect()
    }

    #[test]
    fn hashers_may_be_for_multimaps() {
        let good = TrmHasherCreateInfo { scheme: LINEAR, flags: MULTIMAP, value_type: 1, ..empty() };
        for operation in [INSERT, CLEAR, ERASE, ERASE_IF, FIND, EXPORT, STATISTICS, REHASH, COUNT, RETRIEVE, EXPORT_IF]
        {
            assert_eq!(judge(TrmHasherCreateInfo { operation, ..good }), []);
        }
        for operation in [ASSIGN, ADD, INCREMENT, FIND_OR_INSERT, RESIZE, MIXED] {
            assert_eq!(judge(TrmHasherCreateInfo { operation, ..good }), [MALFORMED]);
        }
        for bad in [
            TrmHasherCreateInfo { scheme: BUCKETED, ..good },
            TrmHasherCreateInfo { flags: 0, operation: COUNT, ..good },
            TrmHasherCreateInfo { value_type: 0, operation: RETRIEVE, ..good },
            TrmHasherCreateInfo { flags: MULTIMAP | CONCURRENT, ..good },
        ] {
            assert_eq!(judge(bad), [MALFORMED]);
        }
        assert_eq!(judge(TrmHasherCreateInfo { flags: MULTIMAP | RESIZABLE, operation: RESIZE, ..good }), []);
    }

    #[test]
    fn hashers_may_have_a_stencil() {
        let good = TrmHasherCreateInfo { scheme: LINEAR, flags: STENCIL, value_type: 1, ..empty() };
        for operation in [INSERT, ASSIGN, ERASE, FIND, ADD, INCREMENT, FIND_OR_INSERT] {
            assert_eq!(judge(TrmHasherCreateInfo { operation, ..good }), []);
        }
        for operation in [COUNT, RETRIEVE] {
            assert_eq!(judge(TrmHasherCreateInfo { operation, flags: MULTIMAP | STENCIL, ..good }), []);
        }
        assert_eq!(judge(TrmHasherCreateInfo { flags: CONCURRENT | STENCIL, ..good }), []);
        for operation in [CLEAR, EXPORT, STATISTICS, REHASH, ERASE_IF, EXPORT_IF, RESIZE] {
            assert_eq!(judge(TrmHasherCreateInfo { operation, flags: RESIZABLE | STENCIL, ..good }), [MALFORMED]);
        }
        assert_eq!(judge(TrmHasherCreateInfo { flags: 2 * STENCIL, ..good }), [MALFORMED]);
    }

    #[test]
    fn arrays_of_a_stencil() {
        let create = TrmHasherCreateInfo { value_type: 1, flags: STENCIL, ..empty() };
        let range = |address, size| TrmRange { address, size };
        let (count, table) = (TrmCount { max: 33, address: 0 }, range(1 << 20, 256 + 64 + 2 * 8192));
        let [keys, values] = [1024, 2048].map(|address| range(address, 132));
        let good = TrmHashInfo { count, table, capacity: 1024, keys, values, stencil: range(64, 8), ..empty() };
        for operation in [INSERT, ERASE, FIND] {
            let create = TrmHasherCreateInfo { operation, ..create };
            assert_eq!(faults(create, good), []);
            assert_eq!(faults(create, TrmHashInfo { stencil: range(64, 7), ..good }), [SMALL]);
            assert_eq!(faults(create, TrmHashInfo { stencil: range(66, 8), ..good }), [MISALIGNED]);
            assert_eq!(faults(create, TrmHashInfo { stencil: keys, ..good }), [], "two inputs");
            assert_eq!(faults(create, TrmHashInfo { stencil: range(64, 8), status: 68, ..good }), [OVERLAP]);
        }
        let in_table = TrmHashInfo { stencil: range(1 << 20, 8), ..good };
        assert_eq!(faults(create, in_table), [OVERLAP]);
        let search = TrmHasherCreateInfo { operation: FIND, ..create };
        assert_eq!(faults(search, in_table), [], "a search only reads the table");
        assert_eq!(faults(search, TrmHashInfo { found: range(64, 8), ..good }), [OVERLAP]);
        assert_eq!(faults(search, TrmHashInfo { stencil: values, ..good }), [OVERLAP]);
        let without = TrmHasherCreateInfo { flags: 0, ..create };
        assert_eq!(faults(without, TrmHashInfo { stencil: range(66, 0), ..good }), [], "not used");
    }

    #[test]
    fn keys_and_values_have_16_bytes_each() {
        let bytes = |value_size| TrmHasherCreateInfo { value_type: 2, value_size, key_type: 14, ..empty() };
        for (value_size, faults) in [(4, vec![]), (16, vec![]), (20, vec![MALFORMED])] {
            for scheme in [BUCKETED, LINEAR] {
                let info = TrmHasherCreateInfo { scheme, ..bytes(value_size) };
                assert_eq!(judge(info), faults);
                if faults.is_empty() {
                    assert_eq!(judge(TrmHasherCreateInfo { max_capacity: (1 << 30) + 1, ..info }), [LARGE]);
                }
            }
        }
    }

    #[test]
    fn hashers_may_be_for_mixed_batches() {
        let good = TrmHasherCreateInfo { operation: MIXED, value_type: 1, ..empty() };
        for good in [good, TrmHasherCreateInfo { scheme: LINEAR, flags: RESIZABLE, key_type: 3, ..good }] {
            assert_eq!(judge(good), []);
            assert_eq!(judge(TrmHasherCreateInfo { value_type: 2, value_size: 8, ..good }), []);
            for key_type in [13, 14] {
                assert_eq!(judge(TrmHasherCreateInfo { key_type, value_type: 0, ..good }), []);
            }
            assert_eq!(judge(TrmHasherCreateInfo { flags: STENCIL, ..good }), [MALFORMED]);
            assert_eq!(judge(TrmHasherCreateInfo { operation: INSERT_LAST + 1, ..good }), [UNKNOWN]);
        }
    }

    #[test]
    fn arrays_of_opcodes() {
        let create = TrmHasherCreateInfo { value_type: 1, operation: MIXED, ..empty() };
        let range = |address, size| TrmRange { address, size };
        let (count, table) = (TrmCount { max: 33, address: 0 }, range(1 << 20, 256 + 64 + 2 * 8192));
        let [keys, values, opcodes] = [1024, 2048, 4096].map(|address| range(address, 132));
        let good = TrmHashInfo { count, table, capacity: 1024, keys, values, opcodes, ..empty() };
        assert_eq!(faults(create, good), []);
        assert_eq!(faults(create, TrmHashInfo { opcodes: range(4096, 131), ..good }), [SMALL]);
        assert_eq!(faults(create, TrmHashInfo { opcodes: range(4098, 132), ..good }), [MISALIGNED]);
        assert_eq!(faults(create, TrmHashInfo { opcodes: range(1 << 20, 132), ..good }), [OVERLAP]);
        assert_eq!(faults(create, TrmHashInfo { opcodes: keys, ..good }), [], "two inputs");
        assert_eq!(faults(create, TrmHashInfo { status: 4096 + 128, ..good }), [OVERLAP]);
        assert_eq!(faults(create, TrmHashInfo { values_out: range(8192, 132), found: range(64, 8), ..good }), []);
        assert_eq!(faults(create, TrmHashInfo { values_out: range(8192, 131), ..good }), [SMALL]);
        assert_eq!(faults(create, TrmHashInfo { values_out: opcodes, ..good }), [OVERLAP]);
        assert_eq!(faults(create, TrmHashInfo { found: range(4096, 8), ..good }), [OVERLAP]);
        let other = TrmHasherCreateInfo { operation: ASSIGN, ..create };
        assert_eq!(faults(other, TrmHashInfo { opcodes: range(4098, 0), ..good }), [], "not used");
    }

    #[test]
    fn hashers_may_be_concurrent() {
        let good = TrmHasherCreateInfo { scheme: LINEAR, flags: CONCURRENT, value_type: 1, ..empty() };
        assert_eq!(judge(good), []);
        assert_eq!(judge(TrmHasherCreateInfo { max_capacity: (1 << 30) + 1, ..good }), [LARGE]);
        for bad in [
            TrmHasherCreateInfo { scheme: BUCKETED, ..good },
            TrmHasherCreateInfo { operation: ADD, ..good },
            TrmHasherCreateInfo { operation: MIXED, ..good },
            TrmHasherCreateInfo { key_type: 3, ..good },
            TrmHasherCreateInfo { value_type: 2, value_size: 8, ..good },
        ] {
            assert_eq!(judge(bad), [MALFORMED]);
        }
        assert_eq!(judge(TrmHasherCreateInfo { scheme: 2, flags: 0, ..good }), [UNKNOWN]);
    }
}
