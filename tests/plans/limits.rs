//! Exact limits: the largest count that is allowed, or that a path serves, and the next one.

use crate::{NVIDIA, fake, info};
use trommel::tuning::Profile;
use trommel::{
    BucketFunction, Count, DeviceFacts, IdType, Placement, Range, Request, Scratch, Segments, SortInfo, Sorter,
    SorterInfo, SplitInfo, Splitter, SplitterInfo, Strategy,
};

/// Full subgroups do not help if workgroups cannot have more invocations.
#[test]
fn workgroups_of_too_few_invocations_are_missing() {
    static FEW: DeviceFacts = DeviceFacts { max_invocations: 32, ..NVIDIA };
    let refused = fake::device_with(&FEW, |_| ()).map(drop).map_err(|error| error.to_string());
    assert_eq!(
        refused,
        Err("the device lacks 64 invocations a workgroup (the device has 32 in full subgroups)".to_owned())
    );
}

/// Items of a tile.
const TILE: u32 = 64;

/// A sorter with tiles of [`TILE`] items at every count.
fn sorter(info: SorterInfo) -> Sorter {
    let with = |profile: Profile, (member, value)| profile.with_member(member, value).expect("a line");
    let lines = [("all_digits_up_to", "0"), ("tiles", "4294967295:64x1"), ("ring", "64x1")];
    let profile = lines.into_iter().fold(Profile::for_device(&NVIDIA), with);
    let device =
        fake::device_with(&NVIDIA, |info| info.profile = Some(profile)).expect("the facts are above the floor");
    device.make_pipelines_late();
    Sorter::new(&device, &info.batches()).expect("the sorter is valid")
}

#[test]
fn a_dispatch_has_fewer_than_2_32_workgroups() {
    // Scratch does not grow with the count.
    let sorter =
        sorter(SorterInfo { placement: Placement::DoubleBuffer, ..SorterInfo::keys().strategy(Strategy::Ring) });
    let of_tiles =
        |tiles: u32| Request::Sort(&sorter, SortInfo { count: Count::host(tiles * TILE), ..SortInfo::default() });
    let mut requests = vec![of_tiles(1 << 24); 256];
    let refused = trommel::batch_scratch_size(&requests).map_err(|error| error.to_string());
    assert_eq!(refused, Err("count.max 1073741824 > 1073741823, the workgroups of one dispatch".to_owned()));
    requests[77] = of_tiles((1 << 24) - 1);
    assert!(trommel::batch_scratch_size(&requests).is_ok(), "2^32 - 1 workgroups");
}

#[test]
fn look_back_words_of_a_sort_take_up_to_4_gib() {
    let sorter = sorter(SorterInfo::keys().strategy(Strategy::Lookback));
    let count = (1 << 22) * TILE;
    assert!(sorter.scratch_size(count).is_ok(), "1 KiB a tile");
    let refused = sorter.scratch_size(count + 1).expect_err("a tile more").to_string();
    assert!(
        refused.starts_with("count.max 268435457 > ")
            && refused.ends_with(", the bytes that one index of a kernel reaches")
    );
}

/// Tags of ring entries have 14 bits. Sorts that would need more laps skip no digits, so that no tag is used twice.
#[test]
fn constant_digits_are_skipped_while_tags_of_the_ring_suffice() {
    let sorter = sorter(SorterInfo::keys().strategy(Strategy::Ring));
    // Four digits, each with a lap for every 1024 tiles.
    let most = 1024 * TILE * ((1 << 14) / 4 - 1);
    for (count, skips) in [(most, true), (most + 1, false)] {
        let text = sorter.describe(&info(0, Count::host(count))).expect("the count is allowed");
        assert_eq!(text.contains("radix_copy"), skips, "{text}");
    }
}

/// Bucket information of all segments: at most 2^30 words.
#[test]
fn bucket_information_of_segments_up_to_4_gib() {
    let device = fake::device(&NVIDIA);
    // 325 words a segment; 325 x 3,303,821 is 2^30 + 1.
    let info = SplitterInfo { segmented: true, ..SplitterInfo::keys(324, BucketFunction::Ids(IdType::U32)) };
    let splitter = Splitter::new(&device, &info.batches()).expect("the splitter is valid");
    let record = |segments: u32| {
        let array = |index: u64, words: u64| Range::new(index << 36, words * 4);
        let all = u64::from(segments) + 1;
        let info = SplitInfo {
            count: Count::host(1000),
            segments: Segments { count: Count::host(segments), offsets: array(1, all) },
            keys: array(2, 1000),
            keys_out: array(3, 1000),
            bucket_ids: array(4, 1000),
            offsets: array(5, all * 325),
            scratch: Scratch { buffer: fake::buffer(), offset: 0, size: 1 << 40 },
            ..SplitInfo::default()
        };
        // SAFETY: handles are numbers here.
        let recorded = unsafe { splitter.cmd_split(fake::command_buffer(), &info) };
        fake::take_commands();
        recorded.map_err(|error| error.to_string())
    };
    assert_eq!(record(3_303_820), Ok(()));
    let refused = "segments.count.max 3303821 > 3303820, 2^30 words of offsets, counts or commands";
    assert_eq!(record(3_303_821), Err(refused.to_owned()));
}

/// Indirect commands of buckets have at most the device's limit of workgroups in x, times 65,535.
#[test]
fn commands_go_over_no_more_items_than_their_workgroups_take() {
    let profile = Profile { max_groups_x: 16, ..Profile::for_device(&NVIDIA) };
    let device =
        fake::device_with(&NVIDIA, |info| info.profile = Some(profile)).expect("the facts are above the floor");
    let splitter =
        Splitter::new(&device, &SplitterInfo::keys(2, BucketFunction::default())).expect("the splitter is valid");
    let record = |count: u32| {
        let array = |index: u64, words: u32| Range::new(index << 36, u64::from(words) * 4);
        let info = SplitInfo {
            count: Count::host(count),
            keys: array(1, count),
            keys_out: array(2, count),
            commands: array(3, 6),
            command_items: 2,
            scratch: Scratch { buffer: fake::buffer(), offset: 0, size: 1 << 40 },
            ..SplitInfo::default()
        };
        // SAFETY: handles are numbers here.
        let recorded = unsafe { splitter.cmd_split(fake::command_buffer(), &info) };
        fake::take_commands();
        recorded.map_err(|error| error.to_string())
    };
    assert_eq!(record(2_097_120), Ok(()));
    let refused = "count.max 2097121 > 2097120, commandItems for each workgroup of a command";
    assert_eq!(record(2_097_121), Err(refused.to_owned()));
}

#[test]
fn batches_that_overlap_are_refused() {
    let sorter = sorter(SorterInfo::keys());
    let size = 1 << 20;
    let scratch = Scratch { buffer: fake::buffer(), offset: 0, size };
    let keys = |address| SortInfo { keys: Range::new(address, 4000), ..info(0, Count::host(1000)) };
    let apart = 1 << 40;
    let record = |first: SortInfo, second: SortInfo| {
        let requests = [Request::Sort(&sorter, first), Request::Sort(&sorter, second)];
        // SAFETY: handles are numbers here.
        unsafe { trommel::cmd_batch(fake::command_buffer(), &requests, scratch) }.map_err(|error| error.to_string())
    };
    assert_eq!(record(keys(apart), keys(apart + 3996)), Err("keys and keys overlap".to_owned()));
    assert_eq!(record(keys(apart), keys(fake::BUFFER_ADDRESS)), Err("keys and scratch overlap".to_owned()));
    assert_eq!(fake::take_commands(), Vec::<String>::new());
    assert_eq!(record(keys(apart), keys(apart + 4000)), Ok(()));
}

#[test]
fn scratch_ends_within_the_address_space() {
    let sorter = sorter(SorterInfo::keys());
    let required = sorter.scratch_size(1 << 20).expect("the count is allowed");
    let last = u64::MAX - fake::BUFFER_ADDRESS - required - 3;
    let record = |offset: u64| {
        let scratch = Scratch { buffer: fake::buffer(), offset: offset / 4 * 4, size: required };
        // SAFETY: handles are numbers here.
        unsafe { sorter.cmd_sort(fake::command_buffer(), &SortInfo { scratch, ..info(0, Count::host(1 << 20)) }) }
    };
    assert_eq!(record(last), Ok(()));
    fake::take_commands();
    for offset in [last + 8, u64::MAX] {
        let refused = record(offset).expect_err("scratch would end behind the last address").to_string();
        assert!(
            refused.starts_with("scratch.offset ") && refused.ends_with("the end of the address space"),
            "{refused}"
        );
    }
    assert_eq!(fake::take_commands(), Vec::<String>::new());
}
