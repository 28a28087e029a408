//! Random arguments of merges that the contract allows.

use super::model::*;
use crate::calls::good::*;
use crate::calls::info::empty;
use crate::calls::model::Items;
use crate::calls::random::Random;
use std::ptr::null;
use trommel::capi::*;

/// A struct for trmCreateMerger() that may or may not be valid: of a merge, a search, or a set operation.
fn any_merger(random: &mut Random) -> TrmMergerCreateInfo {
    let merger = any_merger_of_values(random);
    let (value_type, flags) = (0, merger.flags & !1);
    match random.below(7) {
        0 => TrmMergerCreateInfo {
            value_type,
            value_size: 0,
            flags,
            layout: 0,
            method: 0,
            operation: random.pick(&[1, 2]),
            ..merger
        },
        1 => TrmMergerCreateInfo { operation: random.pick(&[1, 2]), ..merger },
        2 => TrmMergerCreateInfo { operation: random.pick(&[3, 4, 5, 6, 7, 8, 9]), method: 0, ..merger },
        4 => TrmMergerCreateInfo { sequence_count: random.pick(&[2, 3, 4, 9, 16, 16, 17]), method: 0, ..merger },
        3 => TrmMergerCreateInfo {
            flags: merger.flags | SEGMENTED,
            operation: random.pick(&[0, 7, 8]),
            method: random.pick(&[0, 0, 0, 1]),
            ..merger
        },
        _ => merger,
    }
}

fn any_merger_of_values(random: &mut Random) -> TrmMergerCreateInfo {
    let value_type = random.pick(&[0, 1, 1, 2, 3]);
    TrmMergerCreateInfo {
        key_type: random.pick(&[0, 0, 0, 3, 6, 7, 10, 11, 12, 13, 14]),
        value_type,
        value_size: if value_type == 2 { 4 * random.pick(&[1, 2, 3, 4, 5, 16, 1024]) } else { 0 },
        flags: random.pick(&[0, 0, 0, 1]) | random.pick(&[0, BATCHES, BATCHES, BATCHES | DEFERRED]),
        order: random.pick(&[0, 1]),
        layout: random.pick(&[0, 0, 1]),
        method: random.pick(&[0, 0, 1, 2, 3]),
        max_count: max_count(random),
        ..empty()
    }
}

/// `ready`: with pipelines, so that merges can be recorded. `compares`: with a comparator.
pub(super) fn merger(random: &mut Random, ready: bool, compares: bool) -> TrmMergerCreateInfo {
    let make = || {
        let info = any_merger(random);
        let info = if compares { TrmMergerCreateInfo { order: 0, method: 0, operation: 0, ..info } } else { info };
        TrmMergerCreateInfo { flags: info.flags & if ready { !DEFERRED } else { u32::MAX }, ..info }
    };
    until_good(make, |info, verdict| judge_merger(info, compares, verdict))
}

/// A merge of at most `most` items, without scratch.
pub(super) fn merge(random: &mut Random, model: &MergerModel, most: u32, space: &mut Space) -> TrmMergeInfo {
    let items = model.items;
    let list = &LISTS[random.index(LISTS.len())];
    let mut more = &list[..random.index(model.sequences as usize - 1)];
    let sum = |more: &[TrmMergeSequence]| more.iter().map(|sequence| sequence.count.max).sum::<u32>();
    if sum(more) > most.min(items.max_count) {
        more = &[];
    }
    let all = count(random, &Items { max_count: items.max_count - sum(more), ..items }, most - sum(more));
    let a = match random.once_in(4) {
        _ if model.is_unique() => all,
        true => random.count(all),
        false => random.below32(all),
    };
    let b = all - a;
    let mut word = |wanted: bool| if wanted { take_word(random, space) } else { 0 };
    let counts = [word(!model.is_segmented), word(!model.is_segmented)];
    let segments = if model.is_segmented { segments(random, space, most) } else { empty_segments() };
    let mut info = TrmMergeInfo {
        count_a: TrmCount { max: a, address: counts[0] },
        count_b: TrmCount { max: b, address: counts[1] },
        segments,
        status: take_word(random, space),
        count_out: take_word(random, space),
        timestamps: timestamps(random),
        more_sequence_count: u32::try_from(more.len()).expect("few"),
        // Without sequences, the pointer is not read.
        more_sequences: if more.is_empty() { null() } else { more.as_ptr() },
        ..empty()
    };
    if model.compares {
        info.user_address = random.next();
        info.user_words = [1, 2, 3, random.below32(9)];
    }
    if model.only_counts() && info.count_out == 0 {
        info.count_out = space.take(random, 4, 4).address;
    }
    if random.once_in(4) {
        info.count_b.address = info.count_a.address;
    }
    let mut wants: Wants<'_> =
        vec![(&mut info.keys_a, bytes(a, items.step(), 0), 4), (&mut info.keys_b, bytes(b, items.step(), 0), 4)];
    if model.reads_values() {
        wants.push((&mut info.values_a, bytes(a, items.value_size, 0), 4));
        wants.push((&mut info.values_b, bytes(b, items.value_size, 0), 4));
    }
    let room = u32::try_from(model.room(a, b)).expect("the sum is a count") + sum(more);
    if !model.is_search && !items.drop_keys {
        wants.push((&mut info.keys_out, bytes(room, items.step(), 0), 4));
    }
    let bytes_out = bytes(room, if model.is_search { 4 } else { items.value_size }, 0);
    if model.is_search || items.separate() {
        wants.push((&mut info.values_out, bytes_out, 4));
    }
    let marks = if model.marks_values() { u64::from(random.below32(100)) } else { model.mark_bytes(a, 0) };
    if model.is_update() {
        wants.push((&mut info.marks, marks, 4));
    }
    take_ranges(random, space, wants);
    if b <= a && random.once_in(6) {
        // The same items twice.
        (info.keys_b, info.values_b) = (info.keys_a, info.values_a);
    }
    info
}

fn empty_segments() -> TrmMergeSegments {
    let none = TrmRange { address: 0, size: 0 };
    let count = TrmCount { max: 0, address: 0 };
    TrmMergeSegments { count, offsets_a: none, offsets_b: none, offsets_out: none }
}

fn segments(random: &mut Random, space: &mut Space, most: u32) -> TrmMergeSegments {
    let count = TrmCount { max: random.count(most.min(1 << 20)), address: take_word(random, space) };
    let bytes = (u64::from(count.max) + 1) * 4;
    let mut segments = TrmMergeSegments { count, ..empty_segments() };
    segments.offsets_a = space.take(random, bytes, 4);
    segments.offsets_b = if random.once_in(4) { segments.offsets_a } else { space.take(random, bytes, 4) };
    if !random.once_in(3) {
        segments.offsets_out = space.take(random, bytes, 4);
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::model::Verdict;

    #[test]
    fn good_arguments_are_good() {
        let mut random = Random::new(1, 2);
        for _ in 0..2000 {
            let mut verdict = Verdict::default();
            let compares = random.once_in(4);
            let model = MergerModel::new(&merger(&mut random, true, compares), compares);
            let mut space = Space::new(&mut random);
            judge_merge(&model, &merge(&mut random, &model, u32::MAX, &mut space), &mut verdict);
            assert_eq!(verdict.faults, []);
        }
    }
}
