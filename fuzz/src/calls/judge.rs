//! Judges requests, alone and in batches.

use crate::calls::case::{Case, HANDLE, Item, Pointer, handle_of_code};
use crate::calls::fake::Limits;
use crate::calls::info::Image;
use crate::calls::model::*;
use crate::calls::primitive::{Judged, Model, primitive};
use crate::calls::run::{POISON, model_at};
use crate::calls::session::{Session, base_of};
use ash::vk::Handle as _;
use trommel::capi::*;

/// Judges the members of an info by its model. Returns the limits of its commands.
pub(super) fn judge_single(model: &Model, image: &Image, verdict: &mut Verdict) -> Limits {
    let (mut required, mut queries) = (POISON, 0u32);
    let (primitive, handle) = (primitive(model.primitive), &model.handle);
    let Judged { arrays, count, scratch, timestamps } = handle.judge(image, verdict);
    // SAFETY: the session's handles are alive.
    let sized = unsafe {
        primitive.timestamp_count(handle.address(), count, &raw mut queries);
        primitive.scratch(handle.address(), count, &raw mut required)
    };
    verdict.doubt(handle.may_need_too_much(count), "scratch of more than 2^40 bytes");
    if sized != SUCCESS {
        return Limits::default();
    }
    let (buffer, pool) = (scratch.buffer.as_raw(), timestamps.pool.as_raw());
    let mut of_scratch = Verdict::default();
    judge_scratch(&scratch, base_of(buffer), required, &arrays, &mut of_scratch);
    if handle.may_need_less() {
        verdict.doubt(!of_scratch.faults.is_empty(), "scratch that may suffice");
    } else {
        verdict.faults.extend(of_scratch.faults);
        verdict.doubts.extend(of_scratch.doubts);
    }
    if pool == 0 {
        return Limits { buffer, offset: scratch.offset, size: required, ..Limits::default() };
    }
    let end = u64::from(timestamps.first) + u64::from(queries);
    verdict.must(end <= 1 << 32, LARGE, "timestamps.first");
    Limits { buffer, offset: scratch.offset, size: required, pool, first_query: timestamps.first, queries }
}

/// Judges the infos of a batch and returns the memory that they name. `all`: for recording, otherwise for the scratch
/// size alone.
pub(super) fn judge_batch(
    case: &Case,
    session: &Session,
    info: &TrmBatchInfo,
    all: bool,
    verdict: &mut Verdict,
) -> Vec<Array> {
    let info_count = info.info_count;
    if info_count == 0 {
        return Vec::new();
    }
    verdict.must(info_count <= 1 << 20, LARGE, "infoCount");
    let given = case.list != Pointer::Null && !info.infos.is_null();
    verdict.must(given, NULL, "infos");
    verdict.must(case.list != Pointer::Misaligned, MISALIGNED, "infos");
    if !given || case.list == Pointer::Misaligned {
        return Vec::new();
    }
    let (mut total, mut device) = (0u64, None);
    let mut arrays: Vec<Array> = Vec::new();
    for Item { primitive: number, image } in case.items.iter().take(info_count as usize) {
        if !primitive(*number).judge_header(image, verdict) {
            continue;
        }
        let handle = if image.get(4, 4) > HANDLE as u64 { handle_of_code(image.get(HANDLE, 8)) } else { None };
        let Some(model) = model_at(session, handle) else {
            verdict.must(false, NULL, "a handle");
            continue;
        };
        verdict.must(info_count == 1 || model.handle.items().batches, MALFORMED, "a handle without batches");
        let side = handle.map(|(side, _)| side);
        verdict.must(*device.get_or_insert(side) == side, FOREIGN, "handles of two devices");
        let mut own = Verdict::default();
        let Judged { arrays: named, count, .. } = model.handle.judge(image, &mut own);
        total += u64::from(count);
        verdict.doubt(model.handle.may_need_too_much(count), "scratch of more than 2^40 bytes");
        if !all {
            // Addresses do not matter; the numbers of segments and of sequences do.
            let judged = ["count.max", "countB.max of unique items", "moreSequenceCount", "moreSequences", "reserved"];
            let too_many = own.faults.iter().any(|(_, what)| *what == "segments.count.max");
            verdict.doubt(too_many, "too many segments");
            own.faults.retain(|(_, what)| judged.contains(what));
        } else {
            let apart = named.iter().all(|array| arrays.iter().all(|other| !array.conflicts(other)));
            verdict.must(apart, OVERLAP, "arrays of two problems");
        }
        verdict.faults.extend(own.faults);
        verdict.doubts.extend(own.doubts);
        arrays.extend(named);
    }
    verdict.doubt(total > 1 << 30, "more workgroups than a dispatch has");
    arrays
}
