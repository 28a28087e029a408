//! Recorded commands and scratch sizes, without a GPU: the library runs on a fake Vulkan that only logs.

mod common;
#[path = "plans/limits.rs"]
mod limits;
#[path = "plans/scratch.rs"]
mod scratch;
#[path = "plans/tables.rs"]
mod tables;

use ash::vk;
use ash::vk::Handle as _;
use common::fake::{self, NVIDIA};
use common::spirv::words_of;
use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use trommel::tuning::Profile;
use trommel::{
    BucketFunction, Count, DeviceFacts, KeyType, Layout, Placement, Range, Request, Scratch, Segments,
    SortComparatorKernel, SortInfo, Sorter, SorterInfo, SplitInfo, Splitter, SplitterInfo, Strategy, Timestamps,
    ValueType,
};

/// A device with the minimum of every required limit, except for its subgroup sizes.
static LEAST: DeviceFacts = DeviceFacts {
    vendor_id: 0,
    is_cpu: true,
    compute_only: false,
    min_lanes: 8,
    max_lanes: 8,
    lanes_selectable: false,
    max_invocations: 256,
    max_subgroups: 32,
    shared_memory: 16 * 1024,
    max_groups_x: 65_535,
};

static DEVICES: [&DeviceFacts; 2] = [&NVIDIA, &LEAST];

const INFOS: [SorterInfo; 4] = [
    SorterInfo::keys().strategy(Strategy::Lookback),
    SorterInfo::keys().strategy(Strategy::ReduceThenScan),
    SorterInfo::pairs().strategy(Strategy::Lookback),
    SorterInfo::pairs().strategy(Strategy::ReduceThenScan),
];

/// Formats with different scratch: wide keys, planes in scratch, staged values, no values, passes over part of a key.
const FORMATS: [SorterInfo; 12] = [
    SorterInfo::keys(),
    SorterInfo::pairs(),
    SorterInfo { key: KeyType::U64, value: ValueType::Bytes(16), ..SorterInfo::keys() },
    SorterInfo { key: KeyType::U32x4, ..SorterInfo::pairs() },
    SorterInfo { key: KeyType::I16, ..SorterInfo::keys() },
    SorterInfo { key: KeyType::U8, placement: Placement::DoubleBuffer, ..SorterInfo::pairs() },
    SorterInfo { value: ValueType::Bytes(28), ..SorterInfo::keys() },
    SorterInfo { value: ValueType::Bytes(28), placement: Placement::DoubleBuffer, ..SorterInfo::keys() },
    SorterInfo::argsort(KeyType::F64),
    SorterInfo { placement: Placement::DoubleBuffer, ..SorterInfo::pairs() },
    SorterInfo { begin_bit: 3, end_bit: 20, ..SorterInfo::keys() },
    SorterInfo { key: KeyType::I64, layout: Layout::Interleaved, ..SorterInfo::pairs() },
];

fn sorter(facts: &'static DeviceFacts, info: &SorterInfo) -> Sorter {
    Sorter::new(&fake::device(facts), &info.batches()).expect("numbers are always to be had")
}

fn sorters(facts: &'static DeviceFacts) -> [Sorter; 4] {
    let device = fake::device(facts);
    INFOS.map(|info| Sorter::new(&device, &info.batches()).expect("numbers are always to be had"))
}

/// The `i`th of several sorts of `count` keys with disjoint arrays.
fn info(i: u64, count: Count) -> SortInfo {
    let array = |n: u64| Range::new((i * 4 + n + 1) << 33, u64::from(count.max) * 4);
    let scratch = Scratch { buffer: fake::buffer(), offset: 256, size: 1 << 40 };
    SortInfo { count, keys: array(0), values: array(1), scratch, ..SortInfo::default() }
}

fn record(sorter: &Sorter, info: &SortInfo) -> Vec<String> {
    // SAFETY: handles are numbers here.
    unsafe { sorter.cmd_sort(fake::command_buffer(), info) }.expect("the sort is valid");
    fake::take_commands()
}

fn assert_text(name: &str, lines: &[String]) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, lines.join("\n"));
    });
}

/// A sort of two levels by a comparator: its pass list, and a transfer before all passes.
#[test]
fn commands_of_a_sort_by_a_comparator() {
    let bytes = include_bytes!("kernels/sort_masked_u32.spv");
    let words = words_of(bytes);
    let kernel = SortComparatorKernel::from_spirv(&words).expect("a kernel of this version");
    // SAFETY: the compiler has created the module from a valid function.
    let sorter = unsafe { Sorter::with_comparator(&fake::device(&NVIDIA), &SorterInfo::pairs(), &kernel) };
    let sorter = sorter.expect("numbers are always to be had");
    let info = SortInfo { status: 4, user_address: 64, user_words: [1, 2, 3, 4], ..info(0, Count::device(8, 200_000)) };
    let passes = sorter.describe(&info).expect("a valid count");
    assert_text("commands_comparator", &[passes, record(&sorter, &info).join("\n")]);
}

#[test]
fn commands_of_single_sorts() {
    let [_, keys_scan, pairs_look_back, _] = sorters(&NVIDIA);
    let timestamps = Some(Timestamps { pool: vk::QueryPool::from_raw(7), first: 10 });
    let counted = SortInfo { timestamps, status: 4, ..info(0, Count::device(8, 1 << 26)) };
    assert_text("commands_lookback", &record(&pairs_look_back, &counted));
    assert_text("commands_reduce_then_scan", &record(&keys_scan, &info(0, Count::host(1 << 26))));
    assert_text("commands_small", &record(&pairs_look_back, &info(0, Count::host(1000))));
    assert_text("commands_ranked", &record(&keys_scan, &info(0, Count::host(6000))));
    assert_eq!(record(&pairs_look_back, &info(0, Count::host(0))), Vec::<String>::new());
}

#[test]
fn commands_of_a_batch() {
    let sorters = sorters(&LEAST);
    let counts = [Count::host(100), Count::host(50_000), Count::device(4, 50_000), Count::host(0)];
    let requests: Vec<_> = (0..16).map(|i| Request::Sort(&sorters[i / 4], info(i as u64, counts[i % 4]))).collect();
    let size = trommel::batch_scratch_size(&requests).expect("the batch is small");
    let scratch = Scratch { buffer: fake::buffer(), offset: 0, size };
    // SAFETY: handles are numbers here.
    unsafe { trommel::cmd_batch(fake::command_buffer(), &requests, scratch) }.expect("the batch is valid");
    let commands = fake::take_commands();
    assert_text("commands_batch", &commands);

    // Four times the problems take the same number of commands, except for updates of the tables.
    let requests: Vec<_> = (0..64).map(|i| Request::Sort(&sorters[i / 16], info(i as u64, counts[i % 4]))).collect();
    let scratch = Scratch { buffer: fake::buffer(), offset: 0, size: 1 << 40 };
    // SAFETY: as above.
    unsafe { trommel::cmd_batch(fake::command_buffer(), &requests, scratch) }.expect("the batch is valid");
    let without_tables = |commands: Vec<String>| commands.into_iter().filter(|c| !c.starts_with("update")).count();
    assert_eq!(without_tables(fake::take_commands()), without_tables(commands));
}

/// Problems of 24 kinds, interleaved: several sorters, and sizes with different tile shapes.
fn many_kinds(sorters: &[Sorter; 4], count: usize) -> Vec<Request<'_>> {
    let sizes = [1000, 2000, 4000, 8000, 100_000, 1 << 20];
    (0..count).map(|i| Request::Sort(&sorters[i / 6 % 4], info(i as u64, Count::host(sizes[i % 6])))).collect()
}

/// Number of commands of a batch, and its scratch, rounded up to a multiple of 256 bytes.
fn record_together(requests: &[Request<'_>]) -> (Vec<String>, u64) {
    let size = trommel::batch_scratch_size(requests).expect("the batch is small");
    let scratch = Scratch { buffer: fake::buffer(), offset: 0, size };
    // SAFETY: handles are numbers here.
    unsafe { trommel::cmd_batch(fake::command_buffer(), requests, scratch) }.expect("the batch is valid");
    (fake::take_commands(), size.next_multiple_of(256))
}

fn count(commands: &[String], what: &str) -> usize {
    commands.iter().filter(|command| command.starts_with(what)).count()
}

/// More groups than are recorded side by side. There are as many dispatches as in batches of fewer groups, however many
/// problems share them. Each group has its own part of scratch.
#[test]
fn kinds_are_recorded_in_groups() {
    let sorters = sorters(&NVIDIA);
    let (commands, size) = record_together(&many_kinds(&sorters, 24));
    let halves = [0..12, 12..24].map(|half| record_together(&many_kinds(&sorters, 24)[half]));
    assert_eq!(count(&commands, "dispatch"), halves.iter().map(|(half, _)| count(half, "dispatch")).sum());
    assert_eq!(size, halves.iter().map(|(_, size)| size).sum());
    let barriers = count(&commands, "barrier");
    let most = halves.iter().map(|(half, _)| count(half, "barrier")).max().unwrap_or(0);
    assert!((most..=2 * most).contains(&barriers), "{barriers} barriers of two groups, {most} of one");

    // Problems of all kinds, interleaved, two and five of each kind.
    let [twofold, fivefold] = [48, 120].map(|problems| record_together(&many_kinds(&sorters, problems)).0);
    for what in ["dispatch", "barrier"] {
        assert_eq!(count(&fivefold, what), count(&twofold, what));
    }
}

/// Segmented sorts share no dispatches. Beside sorts of few kinds, all that share dispatches are in the first group.
#[test]
fn segmented_sorts_are_recorded_in_groups() {
    let device = fake::device(&NVIDIA);
    let [plain, segmented] = [false, true].map(|segmented| {
        Sorter::new(&device, &SorterInfo { segmented, ..SorterInfo::pairs() }.batches())
            .expect("numbers are always to be had")
    });
    let cut = |i: u64| {
        let whole = info(i, Count::host(100_000));
        let segments = Segments { offsets: Range::new((i * 4 + 3) << 33, 400), count: Count::host(99) };
        Request::Sort(&segmented, SortInfo { segments, ..whole })
    };
    let (two, size) = record_together(&[cut(0), cut(1)]);
    let many: Vec<_> = (0..30).map(cut).collect();
    let (thirty, size_of_thirty) = record_together(&many);
    assert_eq!((count(&thirty, "dispatch"), size_of_thirty), (15 * count(&two, "dispatch"), 15 * size));
    assert_eq!(count(&thirty, "barrier"), 5 * count(&two, "barrier"), "6 each share barriers");

    let beside = |i: u64| Request::Sort(&plain, info(i, Count::host(1000)));
    let (apart, _) = record_together(&[beside(40), beside(41)]);
    let mixed: Vec<_> = many.iter().copied().chain([beside(40), beside(41)]).collect();
    let (mixed, _) = record_together(&mixed);
    assert_eq!(count(&mixed, "dispatch"), count(&thirty, "dispatch") + count(&apart, "dispatch"));
}

/// A batch fills the device, so its sorts are not ranked by all workgroups. A batch of one is a sort alone.
#[test]
fn ranks_are_for_sorts_alone() {
    let sorter = &sorters(&NVIDIA)[2];
    let requests = [0, 1].map(|i| Request::Sort(sorter, info(i, Count::host(8192))));
    let alone = record(sorter, &info(0, Count::host(8192)));
    for (requests, kernel) in [(&requests[..1], "bind sort_rank"), (&requests[..], "bind merge_sort_run")] {
        let size = trommel::batch_scratch_size(requests).expect("the batch is small");
        let scratch = Scratch { buffer: fake::buffer(), offset: 0, size };
        // SAFETY: handles are numbers here.
        unsafe { trommel::cmd_batch(fake::command_buffer(), requests, scratch) }.expect("the batch is valid");
        let commands = fake::take_commands();
        assert!(commands.iter().any(|command| command == kernel), "{commands:#?}");
        assert_eq!(commands == alone, requests.len() == 1);
    }
}

/// Workgroups past the limit of one dimension continue in the second.
#[test]
fn long_lines_are_folded() {
    let [_, keys_scan, ..] = sorters(&LEAST);
    let largest = record(&keys_scan, &info(0, Count::host(1 << 30)));
    let tile = Profile::for_device(&LEAST).radix.keys.tiles.last().expect("profiles have tiles").shape.tile();
    let tiles = u64::from((1u32 << 30).div_ceil(tile));
    let mut folded = 0;
    for dispatch in largest.iter().filter_map(|command| command.strip_prefix("dispatch ")) {
        let groups: Vec<u64> = dispatch.split(' ').map(|n| n.parse().expect("a number")).collect();
        assert!(groups.iter().all(|n| *n <= 65_535), "{dispatch}");
        if groups[1] > 1 {
            folded += 1;
            assert!((tiles..tiles + groups[1]).contains(&(groups[0] * groups[1])), "{dispatch}: {tiles} tiles");
        }
    }
    assert!(folded > 0, "{largest:#?}");
}

/// Errors that need larger counts than a test can allocate, or a device with many shapes.
#[test]
fn refusals_record_nothing() {
    let sorters = sorters(&NVIDIA);
    let many_problems = vec![Request::Sort(&sorters[0], SortInfo::default()); (1 << 20) + 1];
    let scratch = Scratch { buffer: fake::buffer(), offset: 0, size: 1 << 50 };
    let mut refusals = vec![(many_problems, "infoCount 1048577 > 1048576, the most problems together".to_owned())];
    // More tiles than a dispatch allows, for each of the sorters.
    for sorter in &sorters {
        let large = (24..48_000).map(|i| Request::Sort(sorter, info(i, Count::host(1 << 30))));
        let requests: Vec<_> = many_kinds(&sorters, 24).into_iter().chain(large).collect();
        let text = trommel::batch_scratch_size(&requests[24..]).expect_err("tiles are too many").to_string();
        assert!(text.starts_with("count.max ") && text.ends_with("the workgroups of one dispatch"), "{text}");
        refusals.push((requests, text));
    }
    for (requests, text) in refusals {
        // SAFETY: handles are numbers here.
        let refused = unsafe { trommel::cmd_batch(fake::command_buffer(), &requests, scratch) };
        assert_eq!(refused.map_err(|error| error.to_string()), Err(text.clone()));
        assert_eq!(trommel::batch_scratch_size(&requests).map_err(|error| error.to_string()), Err(text));
    }
    for broken in [
        SortInfo { count: Count::host((1 << 30) + 1), ..info(0, Count::host(0)) },
        SortInfo { scratch: Scratch::default(), ..info(0, Count::host(1 << 20)) },
        SortInfo { keys: Range::NONE, ..info(0, Count::host(1 << 20)) },
    ] {
        // SAFETY: as above.
        assert!(unsafe { sorters[3].cmd_sort(fake::command_buffer(), &broken) }.is_err());
    }
    assert_eq!(fake::take_commands(), Vec::<String>::new());
}

/// Query indices have 32 bits: none may wrap.
#[test]
fn queries_beyond_the_last_number_are_refused() {
    let sorter = &sorters(&NVIDIA)[0];
    for count in [0, 1000, 1 << 26] {
        let queries = sorter.timestamp_count(count).expect("at most 2^30");
        let from = |first| {
            let timestamps = Some(Timestamps { pool: vk::QueryPool::from_raw(7), first });
            let info = SortInfo { timestamps, status: 4, ..info(0, Count::host(count)) };
            // SAFETY: handles are numbers here.
            unsafe { sorter.cmd_sort(fake::command_buffer(), &info) }.map_err(|error| error.to_string())
        };
        let limit = u32::MAX - queries + 1;
        assert_eq!(from(limit), Ok(()));
        let commands = fake::take_commands();
        assert!(
            commands.iter().any(|command| command.starts_with(&format!("timestamp {} ", u32::MAX))),
            "{commands:#?}"
        );
        for first in [limit + 1, u32::MAX] {
            let text = format!("timestamps.first {first} > {limit}, beyond which the last query has no number");
            assert_eq!(from(first), Err(text));
            assert_eq!(fake::take_commands(), Vec::<String>::new());
        }
    }
}

/// The error message counts items, as the caller does, not workgroups.
#[test]
fn batches_of_more_workgroups_than_a_dispatch_has_are_refused() {
    let sorter = &sorters(&NVIDIA)[0];
    let requests =
        vec![Request::Sort(sorter, SortInfo { count: Count::host(1 << 30), ..SortInfo::default() }); 1 << 17];
    let refused = trommel::batch_scratch_size(&requests).expect_err("more than 2^32 tiles").to_string();
    let limit = refused
        .strip_prefix("count.max 1073741824 > ")
        .and_then(|rest| rest.strip_suffix(", the workgroups of one dispatch"));
    let limit: u32 = limit.and_then(|limit| limit.parse().ok()).unwrap_or_else(|| panic!("{refused}"));
    assert!((1 << 26..1 << 30).contains(&limit), "{refused}");
}

/// Kernels address parts of scratch by 32-bit offsets.
#[test]
fn batches_of_more_scratch_than_kernels_can_name_are_refused() {
    let long = SorterInfo { key: KeyType::U32x4, value: ValueType::Bytes(16), ..SorterInfo::keys() };
    let sorter = sorter(&NVIDIA, &long);
    let request = |i: u64| {
        let array = |n| Range::new((2 * i + n + 1) << 36, 1 << 34);
        Request::Sort(
            &sorter,
            SortInfo { count: Count::host(1 << 30), keys: array(0), values: array(1), ..SortInfo::default() },
        )
    };
    // 2^35 bytes of alternate arrays each.
    let requests: Vec<_> = (0..32).map(request).collect();
    let scratch = Scratch { buffer: fake::buffer(), offset: 0, size: u64::MAX };
    let size = trommel::batch_scratch_size(&requests[..31]).expect("below 2^40 bytes");
    assert!((31 << 35..1 << 40).contains(&size), "{size}");
    let refused = trommel::batch_scratch_size(&requests).expect_err("above 2^40 bytes").to_string();
    assert!(
        refused.starts_with("scratch.size 1")
            && refused.ends_with(" > 1099511627776, the most scratch of one recording")
    );
    // SAFETY: handles are numbers here.
    let recorded = unsafe { trommel::cmd_batch(fake::command_buffer(), &requests, scratch) };
    assert_eq!(recorded.map_err(|error| error.to_string()), Err(refused));
    assert_eq!(fake::take_commands(), Vec::<String>::new());
}

#[test]
fn without_items_any_address_is_allowed() {
    let info = SorterInfo { layout: Layout::Interleaved, placement: Placement::Preserve, ..SorterInfo::pairs() };
    let keys = Range::new(u64::MAX - 3, 4);
    let empty = SortInfo { keys, status: 4, ..info_without_items() };
    assert!(!record(&sorter(&NVIDIA, &info), &empty).is_empty(), "the status is written");
}

/// A sort without keys, with scratch.
fn info_without_items() -> SortInfo {
    SortInfo { scratch: Scratch { buffer: fake::buffer(), offset: 256, size: 1 << 20 }, ..SortInfo::default() }
}

#[test]
fn scratch_sizes() {
    let mut lines = Vec::new();
    for (facts, device) in DEVICES.into_iter().zip(["nvidia", "least"]) {
        for sorter in sorters(facts) {
            let size = |n: u32| sorter.scratch_size(n).expect("at most 2^30");
            let words: u64 =
                if sorter.info() == &SorterInfo::keys().strategy(sorter.strategy()).batches() { 1 } else { 2 };
            assert!(size(1 << 30) >= words << 32, "the alternate arrays lie in scratch");
            let columns: Vec<String> = [0, 1, 10_000, 1 << 20, 1 << 26, 1 << 30].map(|n| size(n).to_string()).into();
            lines.push(format!("{device} {:?} {:?}: {}", sorter.info().value, sorter.strategy(), columns.join(" ")));
            for above in [(1 << 30) + 1, u32::MAX] {
                let text = format!("count.max {above} > 1073741824, the sorter's maxCount");
                assert_eq!(sorter.scratch_size(above).map_err(|error| error.to_string()), Err(text));
            }
        }
    }
    assert_text("scratch_sizes", &lines);
}

/// Splits that are recorded alone, by count: a single dispatch, the strategy of the device, a counting pass first.
/// Recorded together: the same, except for the smallest.
#[test]
fn splits_of_few_items() {
    let splitter = Splitter::new(&fake::device(&NVIDIA), &SplitterInfo::pairs(8, BucketFunction::default()).batches());
    let splitter = splitter.expect("numbers are always to be had");
    let profile = Profile::for_device(&NVIDIA);
    let few = profile.split.pairs.single_dispatch.last().expect("it is measured").up_to;
    let all_at_once = &["split_single_dispatch", "split_single_dispatch_info"][..];
    let looking_back = &["radix_histogram", "radix_onesweep", "split_bucket_info"][..];
    let counted_first = &["radix_count", "radix_spine", "radix_reorder", "split_bucket_info"][..];
    let mut last = 0;
    for (size, expected, together) in [
        (4096, all_at_once, 2),
        (4097, all_at_once, 5),
        (few, all_at_once, 5),
        (few + 1, looking_back, 5),
        (profile.radix.direct_up_to, looking_back, 5),
        (profile.radix.direct_up_to + 1, counted_first, 5),
    ] {
        let of = |i: u64| {
            let SortInfo { count, keys, values, scratch, .. } = info(2 * i, Count::host(size));
            let SortInfo { keys: keys_out, values: values_out, .. } = info(2 * i + 1, count);
            let offsets = Range::new((i + 1) << 50, 36);
            SplitInfo { count, keys, values, keys_out, values_out, offsets, scratch, ..SplitInfo::default() }
        };
        let text = splitter.describe(&of(0)).expect("the split is valid");
        let kernels =
            text.lines().filter(|line| line.contains(" groups ")).filter_map(|line| line.split_whitespace().next());
        assert_eq!(kernels.collect::<Vec<_>>(), expected, "{size} items");
        let dispatches = || fake::take_commands().iter().filter(|command| command.starts_with("dispatch")).count();
        // SAFETY: handles are numbers here.
        unsafe { splitter.cmd_split(fake::command_buffer(), &of(0)) }.expect("the split is valid");
        assert_eq!(dispatches(), expected.len(), "{size} items alone");
        let requests = [0, 1].map(|i| Request::Split(&splitter, of(i)));
        // SAFETY: as above.
        unsafe { trommel::cmd_batch(fake::command_buffer(), &requests, of(0).scratch) }.expect("the splits are valid");
        assert_eq!(dispatches(), together, "{size} items with as many others");
        let scratch = splitter.scratch_size(size).expect("at most 2^30");
        assert!(last <= scratch, "{size} items take {scratch} bytes of scratch");
        last = scratch;
    }
}

/// With the ring, scratch is the alternate arrays plus a constant, up to the largest count.
#[test]
fn the_ring_does_not_grow() {
    for facts in DEVICES {
        for (info, item) in [(SorterInfo::keys(), 4), (SorterInfo { key: KeyType::U64, ..SorterInfo::pairs() }, 12)] {
            let sorter = sorter(facts, &SorterInfo { max_count: u32::MAX, ..info.strategy(Strategy::Ring) });
            let beside = |n: u32| {
                let arrays = u64::from(n) * item;
                sorter.scratch_size(n).expect("at most the largest count") - arrays
            };
            // From a number of tiles on, sorts have a prepare pass.
            let constant = beside(1 << 20);
            assert!(constant < (2 << 20) + (64 << 10), "{constant} bytes");
            for n in [(1 << 20) + 1, 1 << 24, 1 << 30, (1 << 30) + 1, u32::MAX] {
                // Arrays begin at multiples of 256. The largest counts have no prefixes to count.
                assert!(beside(n) < constant + 512, "{n} keys: {} bytes, not {constant}", beside(n));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scratch_never_shrinks(
        a in size(), b in size(), device in 0..2usize, format in 0..FORMATS.len(), strategy in 0..Strategy::ALL.len(),
    ) {
        let sorter = sorter(DEVICES[device], &FORMATS[format].strategy(Strategy::ALL[strategy]));
        let (small, large) = (a.min(b), a.max(b));
        let size = |n: u32| sorter.scratch_size(n).expect("at most 2^30");
        prop_assert!(size(small) <= size(large), "{small} and {large} keys");
    }

    /// The scratch of a maximum count suffices for every smaller count, on the host or on the device.
    #[test]
    fn scratch_of_the_largest_is_enough(
        a in size(), b in size(), device in 0..2usize, kind in 0..4usize, counted: bool, status: bool,
    ) {
        let sorter = &sorters(DEVICES[device])[kind];
        let (small, large) = (a.min(b), a.max(b));
        let count = if counted { Count::device(8, small) } else { Count::host(small) };
        let size = sorter.scratch_size(large).expect("at most 2^30");
        let scratch = Scratch { buffer: fake::buffer(), offset: 0, size };
        let info = SortInfo { scratch, status: if status { 4 } else { 0 }, ..info(0, count) };
        record(sorter, &info);
        // The same in a batch of one.
        let alone = trommel::batch_scratch_size(&[Request::Sort(sorter, info)]).expect("at most 2^30");
        prop_assert!(alone <= size);
    }
}

fn size() -> impl proptest::strategy::Strategy<Value = u32> {
    let near = |n: u32| n.saturating_sub(2)..=n + 2;
    prop_oneof![
        0..=1u32 << 30,
        0..20_000u32,
        near(1 << 12),
        near(1 << 13),
        near(1 << 19),
        (0..30u32).prop_map(|k| 1 << k)
    ]
}

/// Scratch sizes and passes are known before any buffer exists.
#[test]
fn a_sort_is_described_without_addresses() {
    let nowhere = SortInfo { count: Count::host(1 << 20), ..SortInfo::default() };
    for (sorter, expected) in sorters(&NVIDIA).iter().zip([6, 13, 6, 13]) {
        let text = sorter.describe(&nowhere).expect("the count is allowed");
        let passes = text.lines().filter(|line| line.contains(" groups ")).count();
        assert_eq!(passes, expected, "{text}");
    }
}
