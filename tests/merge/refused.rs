//! Invalid mergers and merges: their error messages, and that nothing has been recorded.

use crate::Case;
use crate::common::arena::{Arena, Poison, Together};
use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::items::Counted;
use crate::common::keys::Keys;
use ash::vk;
use trommel::{
    Count, KeyType, MergeInfo, MergeOperation, MergeSegments, Merger, MergerInfo, Range, Request, batch_scratch_size,
};

/// Checks the error messages, and that nothing has been recorded.
pub(crate) fn refusals() {
    let context = context(Setup::Native);
    let narrow = MergerInfo { key: KeyType::U8, ..MergerInfo::keys() };
    let refused = Merger::new(context.device(), &narrow).map(drop).map_err(|error| error.to_string());
    assert_eq!(refused, Err("keyType is malformed: keys narrower than a word are not merged".into()));

    // Every call that sizes or describes a merge refuses a sum that wraps, whatever the merger's largest count.
    let any = Merger::new(context.device(), &MergerInfo::keys()).expect("a merger");
    let wraps = MergeInfo { count_a: Count::host(u32::MAX), count_b: Count::host(1), ..MergeInfo::default() };
    let text = "countA.max + countB.max 4294967296 > 4294967295, a 32-bit count".to_owned();
    let scratch = batch_scratch_size(&[Request::Merge(&any, wraps)]);
    assert_eq!(scratch.map_err(|error| error.to_string()), Err(text.clone()));
    assert_eq!(any.describe(&wraps).map_err(|error| error.to_string()), Err(text));

    let unique =
        Merger::new(context.device(), &MergerInfo::keys().operation(MergeOperation::Unique)).expect("a merger");
    let with_b = MergeInfo { count_a: Count::host(9), count_b: Count::host(5), ..MergeInfo::default() };
    let text = "countB.max 5 > 0, unique items are those of A".to_owned();
    let scratch = batch_scratch_size(&[Request::Merge(&unique, with_b)]);
    assert_eq!(scratch.map_err(|error| error.to_string()), Err(text.clone()));
    assert_eq!(unique.describe(&with_b).map_err(|error| error.to_string()), Err(text.clone()));
    let run = context.run(|commands| {
        // SAFETY: the command buffer is recording; the refused call records nothing.
        let refused = unsafe { unique.cmd_merge(commands, &with_b) };
        assert_eq!(refused.map_err(|error| error.to_string()), Err(text));
        Ok(())
    });
    run.expect("an empty command buffer is submitted");

    // The number of written offsets, one more than segments, would wrap.
    let segmented = Merger::new(context.device(), &MergerInfo::keys().segmented()).expect("a merger");
    let offsets_out = Range::new(4, 16);
    let segments = MergeSegments { count: Count::host(u32::MAX), offsets_out, ..MergeSegments::default() };
    let many = MergeInfo { count_a: Count::host(9), segments, ..MergeInfo::default() };
    let text = "segments.count.max 4294967295 > 1073741823, the most segments of one request".to_owned();
    let scratch = batch_scratch_size(&[Request::Merge(&segmented, many)]);
    assert_eq!(scratch.map_err(|error| error.to_string()), Err(text.clone()));
    assert_eq!(segmented.describe(&many).map_err(|error| error.to_string()), Err(text));

    // With tiny tiles, few items take two dispatches: only these need scratch.
    let case = Case::new(Setup::Folded, &MergerInfo { max_count: 100_000, ..MergerInfo::pairs() });
    let n = case.tile()[1];
    let jobs = [case.draw(Keys::Random, [n, n], 1).counted([Counted::Device(5), Counted::Host])];
    let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(1));
    let info = jobs[0].info(&arena.places[0]);
    let (bytes, all) = (4 * n as u64, 8 * n as u64);
    let required = case.merger.scratch_size(2 * n as u32).expect("few");
    let moved = |range: Range, by: u64| Range { address: range.address + by, ..range };
    let expected: Vec<(MergeInfo, String)> = vec![
        (
            MergeInfo { count_a: Count::host(99_999), count_b: Count::host(2), ..info },
            "countA.max + countB.max 100001 > 100000, the merger's maxCount".into(),
        ),
        (
            MergeInfo { count_a: Count::host(u32::MAX), count_b: Count::host(1), ..info },
            "countA.max + countB.max 4294967296 > 4294967295, a 32-bit count".into(),
        ),
        (
            MergeInfo { count_a: Count::device(info.status + 2, 5), ..info },
            format!("countA.address {:#x} is not a multiple of 4", info.status + 2),
        ),
        (
            MergeInfo { count_b: Count::device(info.status + 1, 5), ..info },
            format!("countB.address {:#x} is not a multiple of 4", info.status + 1),
        ),
        (
            MergeInfo { status: info.status + 1, ..info },
            format!("status {:#x} is not a multiple of 4", info.status + 1),
        ),
        (
            MergeInfo { count_out: info.status + 2, ..info },
            format!("countOut {:#x} is not a multiple of 4", info.status + 2),
        ),
        (MergeInfo { keys_a: Range::NONE, ..info }, "keysA.address is null".into()),
        (
            MergeInfo { keys_b: Range { size: bytes - 1, ..info.keys_b }, ..info },
            format!("keysB.size {} < {bytes} required for maxCount {n}", bytes - 1),
        ),
        (
            MergeInfo { values_a: moved(info.values_a, 2), ..info },
            format!("valuesA.address {:#x} is not a multiple of 4", info.values_a.address + 2),
        ),
        (MergeInfo { values_b: Range::NONE, ..info }, "valuesB.address is null".into()),
        (
            MergeInfo { keys_out: Range { size: all - 4, ..info.keys_out }, ..info },
            format!("keysOut.size {} < {all} required for maxCount {}", all - 4, 2 * n),
        ),
        (MergeInfo { values_out: Range::NONE, ..info }, "valuesOut.address is null".into()),
        (MergeInfo { keys_out: moved(info.values_out, 4), ..info }, "keysOut and valuesOut overlap".into()),
        (
            MergeInfo { count_a: Count::host(1), count_b: Count::host(1), keys_out: info.keys_a, ..info },
            "keysA and keysOut overlap".into(),
        ),
        (MergeInfo { status: info.count_a.address, ..info }, "countA and status overlap".into()),
        (MergeInfo { status: info.keys_b.address, ..info }, "keysB and status overlap".into()),
        (
            MergeInfo { scratch: trommel::Scratch { size: required - 1, ..info.scratch }, ..info },
            format!("scratch.size {} < {required} required for maxCount {}", required - 1, 2 * n),
        ),
    ];
    let run = case.context.run(|commands| {
        for (info, text) in &expected {
            // SAFETY: the command buffer is recording; refused calls record nothing.
            let refused = unsafe { case.merger.cmd_merge(commands, info) };
            assert_eq!(refused.map_err(|error| error.to_string()), Err(text.clone()));
        }
        // SAFETY: as above.
        let refused = unsafe { case.merger.cmd_merge(vk::CommandBuffer::null(), &info) };
        assert_eq!(refused.map_err(|error| error.to_string()), Err("commandBuffer is null".into()));
        Ok(())
    });
    run.expect("an empty command buffer is submitted");
    arena.check_untouched();
    assert_silence(&case.context);
    details();
}

/// The same of segments and marks.
fn details() {
    let operation = MergeOperation::UpdateByValue;
    let case = Case::new(Setup::Folded, &MergerInfo::pairs().operation(operation).segmented());
    let n = 300;
    let offsets = [vec![0, 7, n], vec![0, 9, n]];
    let job = case.draw(Keys::Random, [n as usize; 2], 1).cut(offsets, Counted::Device(2)).marked(vec![5; 10]);
    let jobs = [job];
    let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(1));
    let info = jobs[0].info(&arena.places[0]);
    let segments = |change: fn(&mut MergeSegments)| {
        let mut changed = info;
        change(&mut changed.segments);
        changed
    };
    let odd = |address: u64| format!("{address:#x} is not a multiple of 4");
    let overlapping = Range { address: info.keys_out.address, ..info.segments.offsets_out };
    let expected = [
        (
            MergeInfo { count_a: Count::device(info.marks.address, n), ..info },
            "countA.address is malformed: the last offset is the number of items".to_owned(),
        ),
        (
            MergeInfo { count_b: Count::device(info.marks.address, n), ..info },
            "countB.address is malformed: the last offset is the number of items".into(),
        ),
        (segments(|segments| segments.offsets_a = Range::NONE), "segments.offsetsA.address is null".into()),
        (segments(|segments| segments.offsets_b.size -= 1), "segments.offsetsB.size 11 < 12 required".into()),
        (
            segments(|segments| segments.offsets_out.address += 2),
            format!("segments.offsetsOut.address {}", odd(info.segments.offsets_out.address + 2)),
        ),
        (
            segments(|segments| segments.count.address += 1),
            format!("segments.count.address {}", odd(info.segments.count.address + 1)),
        ),
        (
            segments(|segments| segments.count.max = 1 << 30),
            "segments.count.max 1073741824 > 1073741823, the most segments of one request".into(),
        ),
        (
            MergeInfo { segments: MergeSegments { offsets_out: overlapping, ..info.segments }, ..info },
            "keysOut and segments.offsetsOut overlap".into(),
        ),
        (
            MergeInfo { marks: Range { address: info.marks.address + 1, ..info.marks }, ..info },
            format!("marks.address {}", odd(info.marks.address + 1)),
        ),
        (MergeInfo { marks: info.values_out, ..info }, "valuesOut and marks overlap".into()),
    ];
    let by_index = Merger::new(case.context.device(), &MergerInfo::keys().operation(MergeOperation::Update));
    let by_index = by_index.expect("a merger");
    let few = MergeInfo { marks: Range { size: 36, ..info.marks }, segments: MergeSegments::default(), ..info };
    let run = case.context.run(|commands| {
        // SAFETY: the command buffer is recording; refused calls record nothing.
        let refused = unsafe { by_index.cmd_merge(commands, &few) };
        let text = "marks.size 36 < 40 required for maxCount 300";
        assert_eq!(refused.map_err(|error| error.to_string()), Err(text.into()));
        for (info, text) in &expected {
            // SAFETY: as above.
            let refused = unsafe { case.merger.cmd_merge(commands, info) };
            let message = refused.map_err(|error| error.to_string()).expect_err(text);
            assert!(message.starts_with(text), "{message}, not {text}");
        }
        Ok(())
    });
    run.expect("an empty command buffer is submitted");
    arena.check_untouched();
    assert_silence(&case.context);
}
