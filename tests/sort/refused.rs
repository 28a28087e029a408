//! Invalid requests: their error messages, and that nothing has been recorded.

use crate::common::arena::{Arena, Poison, Together};
use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::problem::Job;
use crate::{Case, KINDS};
use ash::vk;
use trommel::{Count, Range, Request, SortInfo};

/// Pairs by reduce-then-scan.
const PAIRS: usize = 3;
const MAX: u32 = 10_000;

/// Two sorts with counts and statuses, and copies of their infos, to be made invalid.
fn with_two(check: impl FnOnce(&Case, &Arena<'_>, [SortInfo; 2])) {
    let case = Case::new(Setup::Native, PAIRS);
    let job = |seed| Job::draw(&case.sorter, Keys::Random, MAX as usize, seed).counted(Counted::Device(MAX));
    let jobs = [job(1), job(2)];
    let arena = Arena::new(&case.context, &jobs, Together::Batch, Poison::Random(1));
    check(&case, &arena, [0, 1].map(|i| jobs[i].info(&arena.places[i])));
    assert_silence(&case.context);
}

pub(crate) fn one_sort() {
    with_two(|case, arena, [good, _]| {
        let required = case.sorter.scratch_size(MAX).expect("the count is allowed");
        let keys = good.keys.address;
        let expected: Vec<(SortInfo, String)> = vec![
            (
                SortInfo { count: Count::host((1 << 30) + 1), ..good },
                "count.max 1073741825 > 1073741824, the sorter's maxCount".into(),
            ),
            (
                SortInfo { count: Count::device(good.count.address + 2, MAX), ..good },
                format!("count.address {:#x} is not a multiple of 4", good.count.address + 2),
            ),
            (
                SortInfo { status: good.status + 1, ..good },
                format!("status {:#x} is not a multiple of 4", good.status + 1),
            ),
            (SortInfo { keys: Range::NONE, ..good }, "keys.address is null".into()),
            (
                SortInfo { keys: Range::new(keys + 3, 40_000), ..good },
                format!("keys.address {:#x} is not a multiple of 4", keys + 3),
            ),
            (
                SortInfo { keys: Range::new(keys, 39_999), ..good },
                "keys.size 39999 < 40000 required for maxCount 10000".into(),
            ),
            (
                SortInfo { keys: Range::new(keys, u64::MAX), ..good },
                format!("keys.size {} > {}, the end of the address space", u64::MAX, u64::MAX - keys),
            ),
            (SortInfo { values: Range::NONE, ..good }, "values.address is null".into()),
            (
                SortInfo { values: Range::new(good.values.address, 4), ..good },
                "values.size 4 < 40000 required for maxCount 10000".into(),
            ),
            (SortInfo { values: Range::new(keys + 4, 40_000), ..good }, "keys and values overlap".into()),
            (SortInfo { count: Count::device(keys + 39_996, MAX), ..good }, "keys and count overlap".into()),
            (SortInfo { status: good.count.address, ..good }, "count and status overlap".into()),
            (
                SortInfo { scratch: trommel::Scratch { size: required - 1, ..good.scratch }, ..good },
                format!("scratch.size {} < {required} required for maxCount 10000", required - 1),
            ),
            (
                SortInfo { scratch: trommel::Scratch { offset: 6, ..good.scratch }, ..good },
                "scratch.offset 0x6 is not a multiple of 4".into(),
            ),
            (
                SortInfo { scratch: trommel::Scratch { buffer: vk::Buffer::null(), ..good.scratch }, ..good },
                "scratch.buffer is null".into(),
            ),
            (
                SortInfo { scratch: trommel::Scratch { offset: 0, ..good.scratch }, ..good },
                "keys and scratch overlap".into(),
            ),
        ];
        let run = case.context.run(|commands| {
            for (info, text) in &expected {
                // SAFETY: the command buffer is recording; refused calls record nothing.
                let refused = unsafe { case.sorter.cmd_sort(commands, info) };
                assert_eq!(refused.map_err(|error| error.to_string()), Err(text.clone()));
            }
            // SAFETY: as above.
            let refused = unsafe { case.sorter.cmd_sort(vk::CommandBuffer::null(), &good) };
            assert_eq!(refused.map_err(|error| error.to_string()), Err("commandBuffer is null".into()));
            Ok(())
        });
        run.expect("an empty command buffer is submitted");
        arena.check_untouched();
    });
}

pub(crate) fn many_sorts() {
    with_two(|case, arena, [good, second]| {
        let foreign = Case::new(Setup::Folded, PAIRS);
        let (sorter, scratch) = (&case.sorter, good.scratch);
        let required = trommel::batch_scratch_size(&arena.requests()).expect("the counts are allowed");
        let inside = SortInfo { keys: Range::new(good.keys.address + 400, 400), count: Count::host(100), ..second };
        let expected: Vec<(Vec<Request<'_>>, trommel::Scratch, String)> = vec![
            (
                vec![Request::Sort(sorter, good), Request::Sort(sorter, SortInfo { keys: Range::NONE, ..second })],
                scratch,
                "keys.address is null".into(),
            ),
            (vec![Request::Sort(sorter, good), Request::Sort(sorter, good)], scratch, "keys and keys overlap".into()),
            (vec![Request::Sort(sorter, good), Request::Sort(sorter, inside)], scratch, "keys and keys overlap".into()),
            (
                vec![Request::Sort(sorter, good), Request::Sort(sorter, SortInfo { status: good.status, ..second })],
                scratch,
                "status and status overlap".into(),
            ),
            (
                vec![
                    Request::Sort(sorter, good),
                    Request::Sort(sorter, SortInfo { status: good.keys.address, ..second }),
                ],
                scratch,
                "status and keys overlap".into(),
            ),
            (
                arena.requests(),
                trommel::Scratch { size: required - 4, ..scratch },
                format!("scratch.size {} < {required} required", required - 4),
            ),
            (arena.requests(), trommel::Scratch { offset: 0, ..scratch }, "keys and scratch overlap".into()),
            (
                vec![Request::Sort(sorter, good), Request::Sort(&foreign.sorter, second)],
                scratch,
                "sorter was created on another device".into(),
            ),
        ];
        let run = case.context.run(|commands| {
            for (requests, scratch, text) in &expected {
                // SAFETY: the command buffer is recording; refused calls record nothing.
                let refused = unsafe { trommel::cmd_batch(commands, requests, *scratch) };
                assert_eq!(refused.map_err(|error| error.to_string()), Err(text.clone()));
            }
            // SAFETY: an empty batch records nothing.
            unsafe { trommel::cmd_batch(commands, &[], trommel::Scratch::default()) }
        });
        run.expect("an empty command buffer is submitted");
        arena.check_untouched();
    });
}

/// Sorts of keys alone ignore the values, and a problem of one workgroup needs no scratch.
pub(crate) fn what_is_not_needed_may_be_missing() {
    let case = Case::new(Setup::Native, 0);
    assert_eq!(KINDS[0].value, trommel::ValueType::None);
    // In place, no profile ranks sorts of so few keys by all workgroups.
    let size = case.small().min(500);
    let jobs = [Job::draw(&case.sorter, Keys::Random, size, 1)];
    let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(1));
    assert_eq!(case.sorter.scratch_size(size as u32), Ok(0));
    let values = Range::new(3, 1);
    let info = SortInfo { values, scratch: trommel::Scratch::default(), ..jobs[0].info(&arena.places[0]) };
    // SAFETY: the arena outlives run().
    let run = case.context.run(|commands| unsafe { case.sorter.cmd_sort(commands, &info) });
    run.expect("values and scratch are not needed");
    arena.check();
    // Without keys, no address is needed.
    let none = SortInfo::default();
    // SAFETY: nothing is touched.
    let run = case.context.run(|commands| unsafe { case.sorter.cmd_sort(commands, &none) });
    run.expect("no keys need no memory");
    assert_silence(&case.context);
}

/// Contexts and their objects may be destroyed in any order.
pub(crate) fn devices_come_and_go() {
    let first = trommel::host::Context::new().expect("a device");
    let sorter = trommel::Sorter::new(first.device(), &KINDS[0]).expect("pipelines");
    let buffer = first.upload(&[3u32, 1, 2]).expect("memory");
    let again = first.clone();
    drop(first);
    let info = SortInfo { count: Count::host(3), keys: buffer.range(), ..SortInfo::default() };
    // SAFETY: the buffer outlives run(); three keys need no scratch.
    again.run(|commands| unsafe { sorter.cmd_sort(commands, &info) }).expect("sort");
    assert_eq!(again.download::<u32>(&buffer, 3), Ok(vec![1, 2, 3]));
    assert_silence(&again);
    drop(buffer);
    drop(sorter);
    drop(again);
    assert_silence(&context(Setup::Native));
}

/// Checks that silence is evidence: the layer, if on with its core checks, reports an obvious error.
pub(crate) fn the_layer_listens() {
    if std::env::var("TROMMEL_VALIDATION").as_deref() != Ok("1") {
        return;
    }
    let context = trommel::host::Context::new().expect("a device");
    let buffer = context.buffer(64).expect("memory");
    let filled = context.run(|commands| {
        // SAFETY: two fills of the same words without a barrier are a hazard that every driver survives.
        unsafe {
            context.vk().cmd_fill_buffer(commands, buffer.handle(), 0, 64, 1);
            context.vk().cmd_fill_buffer(commands, buffer.handle(), 0, 64, 2);
        }
        Ok(())
    });
    filled.expect("submission");
    assert!(!context.messages().is_empty(), "two writes without a barrier between went unnoticed");
}
