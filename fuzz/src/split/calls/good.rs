//! Random arguments of splits that the contract allows.

use super::model::*;
use crate::calls::good::*;
use crate::calls::info::empty;
use crate::calls::model::*;
use crate::calls::random::Random;
use trommel::capi::*;

/// A struct for trmCreateSplitter() that may or may not be valid.
fn any_splitter(random: &mut Random) -> TrmSplitterCreateInfo {
    let key_type = random.pick(&[0, 0, 0, 1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 14]);
    let value_type = random.pick(&[0, 0, 1, 2, 3]);
    let bucket_function = random.pick(&[0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7]);
    let bucket_count = match bucket_function {
        6 => 1 << (key_bits(key_type) / 32),
        _ => random.pick(&[1, 2, 3, 8, 33, 255, 256, 256, 257, 4096, 65_535, 65_536]),
    };
    let output = random.pick(&[0, 0, 0, 1, 2, 3, 4]);
    TrmSplitterCreateInfo {
        key_type,
        value_type,
        strategy: random.pick(&[0, 0, 1, 2, 3, 4, 5]),
        flags: random.pick(&[0, 0, 0, 1, 2, 3]) | random.pick(&[0, BATCHES, BATCHES, BATCHES | DEFERRED]),
        bucket_count,
        bucket_function,
        begin_bit: if bucket_function == BITS && random.once_in(2) { random.below32(key_bits(key_type)) } else { 0 },
        value_size: if value_type == 2 { 4 * random.pick(&[1, 2, 3, 4]) } else { 0 },
        layout: random.pick(&[0, 0, 1, 2]),
        max_count: max_count(random),
        output,
        output_bucket: if output == BUCKET { random.below32(bucket_count) } else { 0 },
        method: random.pick(&[0, 0, 0, 1, 2]),
        ..empty()
    }
}

/// Draws the info of a splitter. `user`: with a user-defined function.
pub(super) fn splitter(random: &mut Random, user: bool) -> TrmSplitterCreateInfo {
    let make = || {
        let mut info = any_splitter(random);
        info.flags &= !DEFERRED;
        if user {
            info.bucket_function = USER;
            info.begin_bit = 0;
        }
        info
    };
    until_good(make, |info, verdict| {
        judge_splitter(info, verdict);
        verdict.must(user == (info.bucket_function == USER), MALFORMED, "bucketFunction");
    })
}

/// A split of at most `most` items, without scratch.
pub(super) fn split(random: &mut Random, model: &SplitterModel, most: u32, space: &mut Space) -> TrmSplitInfo {
    let SplitterModel { items, buckets, function, output } = *model;
    let max = count(random, &items, most);
    let limit = if items.key_bits >= 64 { u64::MAX } else { (1 << items.key_bits.min(63)) - 1 };
    let of_range = function == RANGE;
    let mut info = TrmSplitInfo {
        count: TrmCount { max, address: if items.segmented { 0 } else { take_word(random, space) } },
        key_stride: stride(random, &items, items.key_size(), items.key_alignment()),
        value_stride: stride(random, &items, if items.index { 0 } else { items.value_size }, 4),
        low: if of_range { random.next() & limit } else { 0 },
        width: if of_range { (random.next() >> random.below(64) & limit).max(1) } else { 0 },
        command_items: 64 + random.below32(1000),
        status: take_word(random, space),
        timestamps: timestamps(random),
        ..empty()
    };
    if function == USER {
        info.user_address = random.next();
        info.user_words = [1, 2, 3, random.below32(9)];
    }
    if items.segmented {
        info.segments = segments(random, space, ((1 << 30) / (3 * (buckets + 1))).min(most));
    }
    let (keys, values) = (bytes(max, items.step(), info.key_stride), bytes(max, items.value_size, info.value_stride));
    let dense = |size: u32| bytes(max, size, 0);
    let stays = matches!(output, COUNTS | RANKS);
    let mut wants: Wants<'_> = Vec::new();
    if model.reads_keys() {
        wants.push((&mut info.keys, keys, items.key_alignment()));
    }
    if items.separate() && !items.index {
        wants.push((&mut info.values, values, 4));
    }
    if !items.drop_keys && !stays {
        wants.push((&mut info.keys_out, dense(items.step()), items.key_alignment()));
    }
    if output == RANKS {
        wants.push((&mut info.values_out, dense(4), 4));
    } else if items.separate() {
        wants.push((&mut info.values_out, dense(items.value_size), 4));
    }
    if let Some(size) = model.id_size() {
        wants.push((&mut info.bucket_ids, dense(size), size));
    }
    if function == SPLITTERS {
        wants.push((&mut info.splitters, u64::from(buckets - 1) * u64::from(items.key_size()), 4));
    }
    if output == PLACED {
        wants.push((&mut info.starts, (u64::from(buckets) + u64::from(model.has_items_without_bucket())) * 4, 4));
    }
    let times = if items.segmented { u64::from(info.segments.count.max) } else { 1 };
    let results =
        [(&mut info.offsets, (buckets + 1) * 4), (&mut info.counts, buckets * 4), (&mut info.commands, buckets * 12)];
    for (range, size) in results {
        if random.once_in(2) {
            wants.push((range, times * u64::from(size), 4));
        }
    }
    take_ranges(random, space, wants);
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
            let user = random.once_in(4);
            let model = SplitterModel::new(&splitter(&mut random, user));
            let mut space = Space::new(&mut random);
            judge_split(&model, &split(&mut random, &model, u32::MAX, &mut space), &mut verdict);
            assert_eq!(verdict.faults, []);
        }
    }
}
