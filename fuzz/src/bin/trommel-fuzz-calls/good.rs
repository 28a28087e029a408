//! Random arguments that the contract allows.

use crate::info::empty;
use crate::model::*;
use crate::random::Random;
use trommel::DeviceFacts;
use trommel::capi::*;

/// Facts of a device that has all that the library needs.
pub(crate) fn facts(random: &mut Random) -> DeviceFacts {
    let (min_lanes, max_lanes) = random.pick(&[(32, 32), (32, 32), (64, 64), (32, 64), (8, 32), (8, 16), (4, 4), (8, 8), (16, 16)]);
    DeviceFacts {
        vendor_id: random.pick(&[0x10de, 0x10de, 0x1002, 0x8086, 0x13b5, 0x5143, 0x10005]),
        is_cpu: random.once_in(6),
        compute_only: random.once_in(2),
        min_lanes,
        max_lanes,
        lanes_selectable: !random.once_in(4),
        max_invocations: random.pick(&[128, 256, 512, 1024, 1024, 1536]),
        max_subgroups: random.pick(&[32, 64, 128]),
        shared_memory: random.pick(&[16, 32, 48, 64, 227]) * 1024,
        max_groups_x: random.pick(&[65_535, 1 << 16, (1 << 31) - 1, u32::MAX]),
    }
}

/// A struct for trmCreateSorter() that may or may not be valid.
pub(crate) fn any_sorter(random: &mut Random) -> TrmSorterCreateInfo {
    let key_type = random.pick(&[0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    let bits = key_bits(key_type);
    let value_type = random.pick(&[0, 1, 1, 2, 3]);
    let (begin_bit, end_bit) = if random.once_in(3) { (random.below32(bits), random.below32(bits + 1)) } else { (0, 0) };
    TrmSorterCreateInfo {
        key_type,
        value_type,
        strategy: random.pick(&[0, 0, 1, 2, 3, 4, 5]),
        flags: random.pick(&[0, 0, 0, 1, 2, 3]) | random.pick(&[0, BATCHES, BATCHES, BATCHES | DEFERRED]),
        order: random.pick(&[0, 1]),
        value_size: if value_type == 2 { 4 * random.pick(&[1, 2, 3, 4, 5, 16, 1024]) } else { 0 },
        begin_bit,
        end_bit,
        placement: random.pick(&[0, 1, 2]),
        layout: random.pick(&[0, 0, 1, 2]),
        max_count: max_count(random),
        ..empty()
    }
}

fn max_count(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => random.count(u32::MAX),
        1 => random.count(100_000),
        _ => 0,
    }
}

/// A struct for trmCreateSplitter() that may or may not be valid.
pub(crate) fn any_splitter(random: &mut Random) -> TrmSplitterCreateInfo {
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

fn until_good<T>(mut make: impl FnMut() -> T, judge: impl Fn(&T, &mut Verdict)) -> T {
    loop {
        let info = make();
        let mut verdict = Verdict::default();
        judge(&info, &mut verdict);
        if verdict.faults.is_empty() && verdict.doubts.is_empty() {
            return info;
        }
    }
}

pub(crate) fn sorter(random: &mut Random) -> TrmSorterCreateInfo {
    until_good(
        || {
            let info = any_sorter(random);
            TrmSorterCreateInfo { flags: info.flags & !DEFERRED, ..info }
        },
        judge_sorter,
    )
}

/// `user`: by a function of the caller, or by none.
pub(crate) fn splitter(random: &mut Random, user: bool) -> TrmSplitterCreateInfo {
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

/// Hands out memory that is apart.
#[derive(Debug)]
pub(crate) struct Space(u64);

impl Space {
    pub(crate) fn new(random: &mut Random) -> Self {
        Self(1 << (12 + random.below(30)))
    }

    fn take(&mut self, random: &mut Random, bytes: u64, alignment: u32) -> TrmRange {
        let gap = if random.once_in(2) { 0 } else { random.below(300) };
        let address = (self.0 + gap).next_multiple_of(alignment.into());
        let size = bytes + if random.once_in(4) { random.below(100) } else { 0 };
        self.0 = address + size;
        TrmRange { address, size }
    }
}

/// Memory that an info wants: where it goes, and how much.
type Wants<'a> = Vec<(&'a mut TrmRange, u64, u32)>;

fn take_ranges(random: &mut Random, space: &mut Space, mut wants: Wants<'_>) {
    random.shuffle(&mut wants);
    for (range, bytes, alignment) in wants {
        *range = space.take(random, bytes, alignment);
    }
}

fn take_word(random: &mut Random, space: &mut Space) -> u64 {
    if random.once_in(2) { space.take(random, 4, 4).address } else { 0 }
}

fn stride(random: &mut Random, items: &Items, size: u32, alignment: u32) -> u32 {
    if !items.strided || random.once_in(3) {
        return 0;
    }
    let most = if alignment < 4 { (1 << 16) - 1 } else { ((1 << 16) - 1) * 4 };
    let wanted = if random.once_in(8) { most } else { size + random.below32(64) };
    (wanted / alignment * alignment).max(size.next_multiple_of(alignment))
}

fn bytes(count: u32, size: u32, stride: u32) -> u64 {
    let step = if stride == 0 { size } else { stride };
    if count == 0 { 0 } else { u64::from(count - 1) * u64::from(step) + u64::from(size) }
}

fn timestamps(random: &mut Random) -> TrmTimestamps {
    if random.once_in(2) {
        return TrmTimestamps { pool: VkQueryPool::default(), first: random.below32(9) };
    }
    let first = if random.once_in(8) { u32::MAX - 200 } else { random.below32(1000) };
    TrmTimestamps { pool: ash::vk::Handle::from_raw(1 + random.below(3)), first }
}

fn segments(random: &mut Random, space: &mut Space, most: u32) -> TrmSegments {
    let count = TrmCount { max: random.count(most), address: take_word(random, space) };
    TrmSegments { offsets: space.take(random, (u64::from(count.max) + 1) * 4, 4), count }
}

fn count(random: &mut Random, items: &Items, most: u32) -> u32 {
    random.count(items.max_count.min(most))
}

/// A sort of at most `most` keys, without scratch.
pub(crate) fn sort(random: &mut Random, model: &SorterModel, most: u32, space: &mut Space) -> TrmSortInfo {
    let items = model.items;
    let max = count(random, &items, most);
    let mut info = TrmSortInfo {
        count: TrmCount { max, address: if items.segmented { 0 } else { take_word(random, space) } },
        key_stride: stride(random, &items, items.key_size(), items.key_alignment()),
        value_stride: stride(random, &items, if items.index { 0 } else { items.value_size }, 4),
        status: take_word(random, space),
        timestamps: timestamps(random),
        ..empty()
    };
    if items.segmented {
        info.segments = segments(random, space, if most < 1 << 20 { most } else { (1 << 30) - 1 });
    }
    let (keys, values) = (bytes(max, items.step(), info.key_stride), bytes(max, items.value_size, info.value_stride));
    let dense = |size| bytes(max, size, 0);
    let mut wants: Wants<'_> = vec![(&mut info.keys, keys, items.key_alignment())];
    let second = model.placement != TrmPlacement::InPlace as i32;
    let preserved = model.placement == TrmPlacement::Preserve as i32;
    if items.separate() && !(items.index && preserved) {
        wants.push((&mut info.values, values, 4));
    }
    if second && !(preserved && items.drop_keys) {
        wants.push((&mut info.keys_out, dense(items.step()), items.key_alignment()));
    }
    if second && items.separate() {
        wants.push((&mut info.values_out, dense(items.value_size), 4));
    }
    take_ranges(random, space, wants);
    info
}

/// A split of at most `most` items, without scratch.
pub(crate) fn split(random: &mut Random, model: &SplitterModel, most: u32, space: &mut Space) -> TrmSplitInfo {
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
        wants.push((&mut info.starts, (u64::from(buckets) + u64::from(model.strays())) * 4, 4));
    }
    let times = if items.segmented { u64::from(info.segments.count.max) } else { 1 };
    let results = [(&mut info.offsets, (buckets + 1) * 4), (&mut info.counts, buckets * 4), (&mut info.commands, buckets * 12)];
    for (range, size) in results {
        if random.once_in(2) {
            wants.push((range, times * u64::from(size), 4));
        }
    }
    take_ranges(random, space, wants);
    info
}

/// What a module has to declare for splitters to take it; it has no code.
pub(crate) fn module(key_type: i32) -> Vec<u32> {
    use trommel::shared::{Constant, ENCODING_BIG_END_FIRST, ENCODING_FLOAT, ENCODING_SIGNED, KERNEL_INTERFACE};
    let encoding = match key_type {
        4..=7 => ENCODING_SIGNED,
        8..=11 => ENCODING_FLOAT,
        12..=14 => ENCODING_BIG_END_FIRST,
        _ => 0,
    };
    let key = key_bits(key_type).div_ceil(32) | encoding << 8;
    let mut code = vec![0x0723_0203, 0x0001_0600, 0, 9, 0, 15 | 5 << 16, 5, 1, u32::from_le_bytes(*b"main"), 0];
    for (constant, id, value) in [(Constant::Interface, 7, KERNEL_INTERFACE), (Constant::InterfaceKey, 8, key)] {
        code.extend([71 | 4 << 16, id, 1, constant as u32]);
        code.extend([50 | 4 << 16, 2, id, value]);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_arguments_are_good() {
        let mut random = Random::new(1, 2);
        for _ in 0..2000 {
            let mut verdict = Verdict::default();
            let model = SorterModel::new(&sorter(&mut random));
            let mut space = Space::new(&mut random);
            judge_sort(&model, &sort(&mut random, &model, u32::MAX, &mut space), &mut verdict);
            let user = random.once_in(4);
            let model = SplitterModel::new(&splitter(&mut random, user));
            judge_split(&model, &split(&mut random, &model, u32::MAX, &mut space), &mut verdict);
            assert_eq!(verdict.faults, []);
        }
    }
}
