//! Tests of formats and plans. Plans are those of the device that the environment selects.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

use super::format::Format;
use super::{HashInfo, HashOperation, HashScheme, HashStatistics, HasherInfo};
use crate::core::plan::Plan;
use crate::shared::{
    HASH_ASSIGN, HASH_ERASE, HASH_INCREMENT, HASH_INSERT, HEADER_BYTES, HOME_PROBES, LEAST_BUCKET_SLOTS,
    LEAST_BUCKET_WORDS, MOST_LINEAR_PROBES, OVERFLOW_PROBES, OVERFLOW_SHARE, SLICE_SLOTS, TABLE_FORMAT,
};
use crate::{KeyType, ValueType};

fn refused(info: HasherInfo) -> String {
    Format::new(&info).expect_err("a refusal").to_string()
}

/// A table of each number of words of keys and values.
const TYPES: [(KeyType, ValueType); 9] = [
    (KeyType::U32, ValueType::None),
    (KeyType::F32, ValueType::U32),
    (KeyType::I32, ValueType::Bytes(12)),
    (KeyType::U64, ValueType::None),
    (KeyType::F64, ValueType::Bytes(8)),
    (KeyType::U32x3, ValueType::U32),
    (KeyType::U32x4, ValueType::None),
    (KeyType::U32x4, ValueType::Bytes(8)),
    (KeyType::U32, ValueType::Bytes(16)),
];

#[test]
fn formats_are_refused() {
    let keys = HasherInfo::keys();
    for (key, name) in [
        (KeyType::U8, "U8"),
        (KeyType::U16, "U16"),
        (KeyType::I8, "I8"),
        (KeyType::I16, "I16"),
        (KeyType::F16, "F16"),
        (KeyType::Bf16, "Bf16"),
    ] {
        let text = format!("keyType is malformed: {name} is narrower than a word");
        assert_eq!(refused(HasherInfo { key, ..keys }), text);
    }
    for bytes in [0, 2, 4100] {
        let text = format!("valueSize is malformed: {bytes} is not a multiple of 4 from 4 to 4096");
        assert_eq!(refused(HasherInfo { value: ValueType::Bytes(bytes), ..keys }), text);
    }
    for info in [keys, keys.linear()] {
        HasherInfo { key: KeyType::U32x4, value: ValueType::Bytes(16), ..info }.check().unwrap();
        assert_eq!(
            refused(HasherInfo { value: ValueType::Bytes(20), ..info }),
            "valueSize is malformed: a value has 20 bytes, more than 16"
        );
    }
    assert_eq!(
        refused(HasherInfo { value: ValueType::Index, ..keys }),
        "valueType is malformed: a table stores no indices of items"
    );
    assert_eq!(
        refused(HasherInfo { max_count: (1 << 30) + 1, ..keys }),
        "maxCount 1073741825 > 1073741824, the most keys of a batch"
    );
    assert_eq!(
        refused(HasherInfo { max_capacity: (1 << 31) + 1, ..keys }),
        "maxCapacity 2147483649 > 2147483648, the most slots of a table"
    );
    let wide = HasherInfo { value: ValueType::Bytes(16), ..keys };
    for info in [keys.linear(), wide] {
        assert_eq!(
            refused(HasherInfo { max_capacity: (1 << 30) + 1, ..info }),
            "maxCapacity 1073741825 > 1073741824, the most slots of a table"
        );
    }
    let concurrent = HasherInfo::pairs().linear().concurrent();
    for operation in [HashOperation::Insert, HashOperation::Assign, HashOperation::Erase, HashOperation::Find] {
        concurrent.operation(operation).check().unwrap();
    }
    for (info, text) in [
        (keys.concurrent(), "Bucketed tables have no concurrent operations"),
        (concurrent.operation(HashOperation::Clear), "Clear is not available as a concurrent operation"),
        (concurrent.operation(HashOperation::Add), "Add is not available as a concurrent operation"),
        (
            HasherInfo { value: ValueType::Bytes(8), ..concurrent },
            "concurrent operations have keys of 4 bytes and values of at most 4, not 4 and 8",
        ),
        (
            HasherInfo { key: KeyType::U64, value: ValueType::None, ..concurrent },
            "concurrent operations have keys of 4 bytes and values of at most 4, not 8 and 0",
        ),
    ] {
        assert_eq!(refused(info), format!("flags is malformed: {text}"));
    }
    formats_of_multimaps_are_refused();
    let narrow = HasherInfo { key: KeyType::U8, ..keys };
    let refused = super::table_size(&narrow, 5).unwrap_err().to_string();
    assert_eq!(refused, "keyType is malformed: U8 is narrower than a word");
}

/// Each operation is one of multimaps, of other tables, or of both.
fn formats_of_multimaps_are_refused() {
    use HashOperation::{
        Add, And, Assign, Clear, Count, Erase, EraseIf, Export, ExportIf, Find, FindOrInsert, Increment, Insert, Max,
        Min, Mixed, Or, Rehash, Resize, Retrieve, Statistics,
    };
    let (unique, multimap) = (HasherInfo::pairs().linear().resizable(), HasherInfo::pairs().linear().multimap());
    let text = |info: HasherInfo| info.check().map_err(|error| error.to_string());
    for operation in [Clear, Insert, Erase, EraseIf, Find, Export, ExportIf, Statistics, Rehash, Resize] {
        assert_eq!(text(unique.operation(operation)), Ok(()));
        assert_eq!(text(multimap.resizable().operation(operation)), Ok(()));
    }
    for operation in [Assign, Add, Min, Max, And, Or, Increment, FindOrInsert, Mixed] {
        assert_eq!(text(unique.operation(operation)), Ok(()));
        let expected = format!("flags is malformed: {operation:?} is not available for multimaps");
        assert_eq!(refused(multimap.operation(operation)), expected);
    }
    for operation in [Count, Retrieve] {
        assert_eq!(text(multimap.operation(operation)), Ok(()));
        let expected = format!("flags is malformed: {operation:?} is available for multimaps alone");
        assert_eq!(refused(unique.operation(operation)), expected);
    }
    for operation in HashOperation::ALL {
        let info = with_operation(HasherInfo::pairs(), operation).stencil();
        let expected = format!("flags is malformed: {operation:?} has no keys that a stencil can select");
        let expected = if operation.reads_keys() { Ok(()) } else { Err(expected) };
        if operation != Mixed {
            assert_eq!(text(info), expected);
        }
    }
    let expected = "flags is malformed: Mixed has no stencil: keys that it would not select have the opcode Find";
    assert_eq!(refused(HasherInfo::pairs().stencil().operation(Mixed)), expected);
    let expected = "flags is malformed: Resize is available for resizable tables alone";
    assert_eq!(refused(multimap.operation(Resize)), expected);
    let expected = "flags is malformed: Bucketed tables are no multimaps";
    assert_eq!(refused(HasherInfo::pairs().multimap()), expected);
    let expected = "flags is malformed: multimaps have no concurrent operations";
    assert_eq!(refused(multimap.concurrent()), expected);
    let expected = "valueType is malformed: a set has no values to be retrieved";
    assert_eq!(refused(HasherInfo { value: ValueType::None, ..multimap }.operation(Retrieve)), expected);
    for operation in [FindOrInsert, Rehash] {
        let expected = format!("flags is malformed: {operation:?} is not available as a concurrent operation");
        assert_eq!(refused(HasherInfo::pairs().linear().concurrent().operation(operation)), expected);
    }
}

/// The hashers of an operation on these types: of the first kind of table that has it.
fn with_operation(info: HasherInfo, operation: HashOperation) -> HasherInfo {
    let info = info.operation(operation);
    match operation {
        HashOperation::Count | HashOperation::Retrieve => info.linear().multimap(),
        HashOperation::Resize => info.resizable(),
        _ => info,
    }
}

#[test]
fn formats_follow_from_infos() {
    for (key, value) in TYPES {
        for operation in HashOperation::ALL {
            let info = with_operation(HasherInfo { key, value, ..HasherInfo::keys() }, operation);
            if (operation.combines() || operation.selects()) && !matches!(value.size(), 4 | 8) {
                let (bytes, verb) = (value.size(), if operation.combines() { "combines" } else { "compares" });
                let text = format!("{operation:?} {verb} values of 4 or 8 bytes, not of {bytes}");
                assert_eq!(refused(info), format!("valueSize is malformed: {text}"));
                continue;
            }
            if operation == HashOperation::Retrieve && value == ValueType::None {
                continue;
            }
            assert_eq!(info.check(), Ok(()));
            let format = Format::new(&info).unwrap();
            assert_eq!([format.key_words, format.value_words], [key.size() / 4, value.size() / 4]);
            let is_wide = format.key_words + format.value_words > 4;
            let most = if info.scheme == HashScheme::Linear || is_wide { 1 << 30 } else { 1 << 31 };
            assert_eq!([format.max_count, format.max_capacity], [1 << 30, most]);
            // The sort moves what a workgroup cannot compute from the hash: the value, or the index.
            let sorter = format.sorter(16);
            let moved = match [format.key_words, format.value_words] {
                [3 | 4, _] => ValueType::Index,
                [_, 0] => ValueType::None,
                _ if !operation.reads_values() => ValueType::None,
                [_, 1] => ValueType::U32,
                _ => ValueType::Index,
            };
            let (hash, begin_bit) = if format.key_words == 2 { (KeyType::U64, 48) } else { (KeyType::U32, 16) };
            assert_eq!((sorter.key, sorter.value, sorter.begin_bit), (hash, moved, begin_bit));
        }
    }
    let change = |operation| Format::new(&HasherInfo::pairs().operation(operation)).unwrap().change();
    assert_eq!(
        [HashOperation::Insert, HashOperation::Assign, HashOperation::Erase, HashOperation::Increment].map(change),
        [HASH_INSERT, HASH_ASSIGN, HASH_ERASE, HASH_INCREMENT]
    );
    let bits = |max_capacity| Format::new(&HasherInfo { max_capacity, ..HasherInfo::keys() }).unwrap().bin_bits();
    assert_eq!([1, 1024, 1025, 1 << 18, (1 << 18) + 1, 0].map(bits), [0, 0, 8, 8, 16, 16]);
}

/// A header, marks, slices, and an overflow slice for each 32 of them. Slots have one, two, four or eight words.
#[test]
fn table_sizes() {
    let size = |capacity| super::table_size(&HasherInfo::keys(), capacity).unwrap();
    for (capacity, slices) in
        [(0, 2), (1, 2), (1024, 2), (1025, 3), (32 * 1024, 33), (32 * 1024 + 1, 35), (1 << 31, (1 << 21) + (1 << 16))]
    {
        let marks = if capacity == 1 << 31 { 1 << 18 } else { 64 };
        assert_eq!(size(capacity), 256 + marks + slices * 4096, "{capacity}");
    }
    for ((key, value), words) in TYPES.into_iter().zip([1, 2, 4, 2, 4, 4, 4, 8, 8]) {
        let info = HasherInfo { key, value, ..HasherInfo::keys() };
        let size = super::table_size(&info, 1 << 30).unwrap();
        assert_eq!(size, 256 + (1 << 17) + ((1 << 20) + (1 << 15)) * 4096 * words, "{key:?} {value:?}");
        assert_eq!(size % 16, 0);
        // The marks are whole buckets of 64 bytes, or of 128 bytes.
        let marks = if words == 8 { 128 } else { 64 };
        assert_eq!(super::table_size(&info, 1), Ok(256 + marks + 2 * 4096 * words), "{key:?} {value:?}");
    }
}

/// A header, and a power of two of slots. Slots of keys of several words have one more word.
#[test]
fn sizes_of_linear_tables() {
    for ((key, value), words) in TYPES.into_iter().zip([1, 2, 4, 3, 5, 5, 5, 7, 5]) {
        let info = HasherInfo { key, value, ..HasherInfo::keys().linear() };
        for (capacity, slots) in [(0, 1024), (1, 1024), (1024, 1024), (1025, 2048), (1 << 30, 1 << 30)] {
            assert_eq!(super::table_size(&info, capacity), Ok(256 + 4 * slots * words), "{key:?} {value:?} {capacity}");
            // Each slot of a multimap has a fingerprint.
            let words = words + u64::from(key.size() == 4);
            let size = super::table_size(&info.multimap(), capacity);
            assert_eq!(size, Ok(256 + 4 * slots * words), "multimap, {key:?} {value:?} {capacity}");
        }
    }
}

/// The constants of the files for shaders of applications, which include no other file, are those of the library.
#[test]
fn shaders_of_applications_have_the_same_constants() {
    for (name, value) in [
        ("FORMAT", TABLE_FORMAT),
        ("HEADER_BYTES", HEADER_BYTES),
        ("SLICE_SLOTS", SLICE_SLOTS),
        ("LEAST_BUCKET_WORDS", LEAST_BUCKET_WORDS),
        ("LEAST_BUCKET_SLOTS", LEAST_BUCKET_SLOTS),
        ("OVERFLOW_SHARE", OVERFLOW_SHARE),
        ("HOME_PROBES", HOME_PROBES),
        ("OVERFLOW_PROBES", OVERFLOW_PROBES),
    ] {
        let line = format!("const uint TRM_HASH_{name} = {value};");
        assert!(super::GLSL.contains(&line), "{line}");
    }
    for (name, value) in [("HEADER_WORDS", HEADER_BYTES / 4), ("MOST_PROBES", MOST_LINEAR_PROBES)] {
        let line = format!("const uint TRM_HASH_LINEAR_{name} = {value};");
        assert!(super::LINEAR_GLSL.contains(&line), "{line}");
    }
    for (name, value) in [("HEADER_WORDS", HEADER_BYTES / 4), ("MOST_PROBES", MOST_LINEAR_PROBES)] {
        let line = format!("const uint TRM_HASH_MULTIMAP_{name} = {value};");
        assert!(super::MULTIMAP_GLSL.contains(&line), "{line}");
    }
    let slots = format!("v[1] * {SLICE_SLOTS}");
    assert!(super::LINEAR_GLSL.contains(&slots), "{slots}");
}

#[test]
fn statistics_are_summed_up() {
    let mut statistics = HashStatistics { keys: 8, slots: 1024, ..HashStatistics::default() };
    assert_eq!(statistics.mean_probes(), 0.0);
    statistics.probes[0] = 5;
    statistics.probes[2] = 1;
    statistics.total_probes = 8;
    assert_eq!(statistics.mean_probes(), 8.0 / 6.0);
    assert_eq!(statistics.load_factor(), 8.0 / 1024.0);
    assert_eq!(HashStatistics::default().load_factor(), 0.0);
}

#[cfg(feature = "host")]
mod plans_of_device {
    mod accesses;

    use super::*;
    use crate::core::handle::{One, Options};
    use crate::core::primitive::Planner as _;
    use crate::core::scratch::Layout;
    use crate::core::tests::SCRATCH;
    use crate::core::tests::hazards::{Truth, check};
    use crate::hash::planner::HashPlanner;
    use crate::host::Context;
    use crate::{Count, Range};
    use std::rc::Rc;

    /// Planners of every operation and of tables with no sort, one pass and two. Their pipelines are not created.
    fn planners(context: &Context) -> impl Iterator<Item = (HasherInfo, HashPlanner)> {
        let all = TYPES.into_iter().flat_map(|types| HashOperation::ALL.map(|operation| (types, operation)));
        let all = all.flat_map(|kind| [1024, 1 << 18, 0].map(|max_capacity| (kind, max_capacity)));
        let all = all.map(|(((key, value), operation), max_capacity)| {
            HasherInfo { key, value, max_capacity, ..HasherInfo::keys() }.operation(operation)
        });
        // The passes of tables with linear probing do not depend on the capacity.
        let all = all.flat_map(|info| {
            let linear = (info.max_capacity == 0).then_some(info.linear());
            let multimap = linear.map(HasherInfo::multimap);
            let all = [Some(info), linear, linear.map(HasherInfo::concurrent), multimap];
            // The passes of resizable tables are the same, but for those of one operation.
            let resizes = info.operation == HashOperation::Resize;
            all.map(move |info| info.map(|info| if resizes { info.resizable() } else { info }))
        });
        // A stencil adds the same passes to all changes.
        let all = all.flatten().flat_map(|info| [info, info.stencil()]);
        all.filter(|info| info.check().is_ok()).map(|info| {
            let options = Options { batches: true, deferred: true };
            (info, HashPlanner::new(context.device(), Format::new(&info).unwrap(), options).unwrap())
        })
    }

    /// A batch with arrays of its own. `flags`: whether the count is on the device, and which outputs are wanted.
    fn batch(info: &HasherInfo, capacity: u32, count: u32, flags: u32) -> HashInfo {
        batch_at(1 << 20, info, capacity, count, flags).0
    }

    /// The same with arrays from this address on, and the end of the last one.
    fn batch_at(begin: u64, info: &HasherInfo, capacity: u32, count: u32, flags: u32) -> (HashInfo, u64) {
        let mut end = begin;
        let mut range = |size: u64| {
            let address = end;
            end += size.next_multiple_of(256) + 256;
            Range::new(address, size)
        };
        let [keys, values] = [info.key.size(), info.value.size()].map(|bytes| u64::from(bytes) * u64::from(count));
        let format = Format::new(info).unwrap();
        let all = HashInfo {
            table: range(format.table_bytes(capacity)),
            capacity,
            count: if flags & 1 == 0 { Count::host(count) } else { Count::device(range(4).address, count) },
            keys: range(keys),
            values: range(values),
            found: range(u64::from(count.div_ceil(32)) * 4),
            stencil: range(u64::from(count.div_ceil(32)) * 4),
            leftover_keys: range(keys),
            leftover_values: range(values),
            leftover_count: range(4).address,
            count_out: range(4).address,
            values_out: range(values),
            max_values: count,
            offsets: range((u64::from(count) + 1) * 4),
            counts: range(u64::from(count) * 4),
            opcodes: range(u64::from(count) * 4),
            source: range(format.table_bytes(capacity)),
            source_capacity: capacity,
            reserve: Count::device(range(4).address, 100),
            statistics: range(size_of::<HashStatistics>() as u64),
            status: range(4).address,
            ..HashInfo::default()
        };
        let all = match info.operation {
            operation if operation.exports() && flags & 4 == 0 => {
                HashInfo { count: Count::host(count), values: Range::NONE, count_out: 0, ..all }
            }
            operation if operation.has_count() && !operation.reads_keys() => {
                HashInfo { count: Count::host(count), ..all }
            }
            HashOperation::Retrieve | HashOperation::FindOrInsert | HashOperation::Mixed if flags & 4 == 0 => {
                HashInfo { values_out: Range::NONE, found: Range::NONE, count_out: 0, ..all }
            }
            HashOperation::Clear | HashOperation::Statistics => {
                return (HashInfo { count: Count::default(), ..all }, end);
            }
            HashOperation::Find if flags & 2 == 0 => HashInfo { values: Range::NONE, ..all },
            HashOperation::Find if flags & 4 == 0 => HashInfo { found: Range::NONE, ..all },
            _ => all,
        };
        let none = Range::NONE;
        let without_lists = HashInfo { leftover_keys: none, leftover_values: none, leftover_count: 0, ..all };
        let all = if flags & 4 == 0 { without_lists } else { all };
        (if flags & 2 == 0 { HashInfo { status: 0, ..all } } else { all }, end)
    }

    /// Passes the plan of one batch on.
    fn with_plan(planner: &HashPlanner, info: HashInfo, alone: bool, body: impl FnOnce(&Plan<'_>, u64)) {
        with_plan_at(SCRATCH, planner, info, alone, body);
    }

    /// The same with scratch at this address.
    fn with_plan_at(
        scratch: u64,
        planner: &HashPlanner,
        info: HashInfo,
        alone: bool,
        body: impl FnOnce(&Plan<'_>, u64),
    ) {
        let job = One::new(planner, info);
        let mut layout = Layout::default();
        let group = planner.group(info.count.max, alone);
        let table = planner.lay_out(group, &job, scratch, &mut layout).unwrap();
        body(&Plan::of(&table).unwrap(), layout.size());
    }

    /// None, few, one tile of every sort, and more.
    const COUNTS: [u32; 6] = [0, 1, 700, 20_000, 1 << 20, 1 << 26];

    #[test]
    fn every_plan_has_the_barriers_it_needs_and_no_other() {
        use HashOperation::{Erase, EraseIf, ExportIf, FindOrInsert, Mixed, Rehash, Resize, Retrieve, Statistics};
        let context = Context::new().unwrap();
        for (info, planner) in planners(&context) {
            let capacities: &[u32] = if info.max_capacity == 1024 { &[1, 1024] } else { &[1, 1025, 1 << 18] };
            for (count, flags) in COUNTS.into_iter().flat_map(|count| (0..8).map(move |flags| (count, flags))) {
                let request = batch(&info, capacities[(count + flags) as usize % capacities.len()], count, flags);
                assert_eq!(planner.check(&request, &planner.arguments(&request)), Ok(()), "{info:?} {request:?}");
                with_plan(&planner, request, flags % 3 == 0, |plan, size| {
                    let resources = plan.resources.iter().map(|resource| Rc::from([resource.range])).collect();
                    check(&[Truth { plan, resources }], std::slice::from_ref(plan));
                    let changes = info.operation.changes();
                    let is_linear = info.scheme == HashScheme::Linear;
                    let has_state = matches!(info.operation, Rehash | Resize | Retrieve | EraseIf | Mixed);
                    let has_state = has_state || info.stencil && changes;
                    let needs_scratch = changes && !(is_linear && count == 0);
                    let needs_scratch = needs_scratch || info.operation.exports() || has_state;
                    assert_eq!(size != 0, needs_scratch, "{plan}");
                    // Lists of left over items are passes of their own, if one invocation writes a slot.
                    let lists = request.leftover_count != 0 && request.leftover_keys != Range::NONE || flags & 2 != 0;
                    let has_list = !(info.multimap || info.concurrent) || lists;
                    let change = match info.operation {
                        _ if count == 0 => 1,
                        Erase if info.concurrent => 1,
                        _ if is_linear && !has_list && info.operation.inserts() => 1,
                        _ if is_linear => 2,
                        _ => 3,
                    };
                    let change = change + if info.stencil && count != 0 { 3 } else { 0 };
                    let passes = match info.operation {
                        Statistics => 2,
                        ExportIf if request.status != 0 || request.count_out != 0 => 2,
                        FindOrInsert | EraseIf => 1 + change,
                        Rehash => 2 + change,
                        Resize => 3 + change,
                        Retrieve if count != 0 => 3,
                        Retrieve => 2,
                        _ if changes => change,
                        _ => 1,
                    };
                    assert!(plan.passes.len() >= passes && (changes || plan.passes.len() == passes), "{plan}");
                });
            }
        }
    }

    /// A hasher creates every pipeline that its plans need.
    #[test]
    fn every_pipeline_is_made() {
        let context = Context::new().unwrap();
        for (info, planner) in planners(&context) {
            let made = planner.variants().unwrap();
            for (count, alone) in COUNTS.into_iter().flat_map(|count| [false, true].map(|alone| (count, alone))) {
                with_plan(&planner, batch(&info, 1000, count, 7), alone, |plan, _| {
                    let missing = plan.variants.iter().find(|variant| !made.contains(variant));
                    assert!(missing.is_none(), "{missing:?} of {plan}");
                });
            }
        }
    }

    /// Every error of a request that is not one of its ranges.
    #[test]
    fn requests_are_refused() {
        let context = Context::new().unwrap();
        let of = |operation| {
            let info = HasherInfo { max_count: 1000, max_capacity: 5000, ..HasherInfo::pairs() };
            let info = with_operation(info, operation);
            let options = Options { batches: true, deferred: true };
            (info, HashPlanner::new(context.device(), Format::new(&info).unwrap(), options).unwrap())
        };
        let (info, insert) = of(HashOperation::Insert);
        let good = batch(&info, 5000, 1000, 7);
        let refused = |planner: &HashPlanner, request: HashInfo| {
            planner.check(&request, &planner.arguments(&request)).expect_err("a refusal").to_string()
        };
        assert_eq!(refused(&insert, HashInfo { capacity: 0, ..good }), "capacity 0 < 1 required");
        assert_eq!(
            refused(&insert, HashInfo { capacity: 5001, ..good }),
            "capacity 5001 > 5000, the hasher's maxCapacity"
        );
        assert_eq!(insert.check_count(1001).unwrap_err().to_string(), "count.max 1001 > 1000, the hasher's maxCount");
        let lost = HashInfo { leftover_count: 0, ..good };
        let text = "leftoverKeys is malformed: their number has no place: leftoverCount is 0";
        assert_eq!(refused(&insert, lost), text);
        let text = "leftoverValues is malformed: their number has no place: leftoverCount is 0";
        assert_eq!(refused(&insert, HashInfo { leftover_keys: Range::NONE, ..lost }), text);
        let (_, clear) = of(HashOperation::Clear);
        assert_eq!(refused(&clear, good), "count is malformed: Clear has no keys");
        let (info, statistics) = of(HashOperation::Statistics);
        let good_statistics = batch(&info, 5000, 1000, 7);
        let counted = HashInfo { count: Count::host(1), ..good_statistics };
        assert_eq!(refused(&statistics, counted), "count is malformed: Statistics has no keys");
        let nowhere = HashInfo { statistics: Range::NONE, ..good_statistics };
        assert_eq!(refused(&statistics, nowhere), "statistics.address is null");
        let few = Range { size: 95, ..good_statistics.statistics };
        let text = "statistics.size 95 < 96 required";
        assert_eq!(refused(&statistics, HashInfo { statistics: few, ..good_statistics }), text);
        let (info, export) = of(HashOperation::Export);
        let on_device = HashInfo { count: Count::device(4, 9), ..batch(&info, 5000, 1000, 7) };
        let on_host = "count is malformed: the count of Export is on the host";
        assert_eq!(refused(&export, on_device), on_host);
        let (info, rehash) = of(HashOperation::Rehash);
        let good_rehash = batch(&info, 5000, 1000, 7);
        let source = |source_capacity| HashInfo { source_capacity, ..good_rehash };
        assert_eq!(refused(&rehash, source(0)), "sourceCapacity 0 < 1 required");
        assert_eq!(refused(&rehash, source(5001)), "sourceCapacity 5001 > 5000, the hasher's maxCapacity");
        let size = good_rehash.source.size;
        let short = Range { size: size - 1, ..good_rehash.source };
        let text = format!("source.size {} < {size} required", size - 1);
        assert_eq!(refused(&rehash, HashInfo { source: short, ..good_rehash }), text);
        let on_host = "count is malformed: the count of Rehash is on the host";
        assert_eq!(refused(&rehash, HashInfo { count: Count::device(4, 9), ..good_rehash }), on_host);
        let (info, retrieve) = of(HashOperation::Retrieve);
        let good_retrieval = batch(&info, 5000, 1000, 7);
        let short = Range { size: 4003, ..good_retrieval.offsets };
        let text = "offsets.size 4003 < 4004 required for maxCount 1000";
        assert_eq!(refused(&retrieve, HashInfo { offsets: short, ..good_retrieval }), text);
        let many = HashInfo { max_values: 1001, ..good_retrieval };
        assert_eq!(refused(&retrieve, many), "valuesOut.size 4000 < 4004 required");
        let (info, count) = of(HashOperation::Count);
        let good_count = batch(&info, 5000, 1000, 7);
        let nowhere = HashInfo { counts: Range::NONE, ..good_count };
        assert_eq!(refused(&count, nowhere), "counts.address is null");
        let (info, resize) = of(HashOperation::Resize);
        let good_resize = batch(&info, 5000, 1000, 7);
        let larger = HashInfo { min_capacity: 5001, ..good_resize };
        assert_eq!(refused(&resize, larger), "minCapacity 5001 > 5000, the capacity");
        let odd = HashInfo { reserve: Count::device(6, 9), ..good_resize };
        assert_eq!(refused(&resize, odd), "reserve.address 0x6 is not a multiple of 4");
        let with_stencil = HasherInfo { max_count: 1000, max_capacity: 5000, ..HasherInfo::pairs() }.stencil();
        let options = Options { batches: true, deferred: true };
        let stencil = HashPlanner::new(context.device(), Format::new(&with_stencil).unwrap(), options).unwrap();
        assert_eq!(refused(&stencil, HashInfo { stencil: Range::NONE, ..good }), "stencil.address is null");
        let short = Range { size: 124, ..good.stencil };
        let text = "stencil.size 124 < 128 required for maxCount 1000";
        assert_eq!(refused(&stencil, HashInfo { stencil: short, ..good }), text);
        assert_eq!(
            insert.check(&HashInfo { stencil: short, ..good }, &insert.arguments(&good)),
            Ok(()),
            "it is not used"
        );
        let (_, erase) = of(HashOperation::Erase);
        assert_eq!(erase.check(&lost, &erase.arguments(&lost)), Ok(()), "an erasure leaves no key over");
    }
}
