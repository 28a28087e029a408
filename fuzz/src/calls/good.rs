//! Random arguments that the contract allows.

use crate::calls::model::*;
use crate::calls::random::Random;
use trommel::DeviceFacts;
use trommel::capi::*;

/// Facts of a device that meets all requirements of the library.
pub(crate) fn facts(random: &mut Random) -> DeviceFacts {
    let (min_lanes, max_lanes) =
        random.pick(&[(32, 32), (32, 32), (64, 64), (32, 64), (8, 32), (8, 16), (4, 4), (8, 8), (16, 16)]);
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

pub(crate) fn max_count(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => random.count(u32::MAX),
        1 => random.count(100_000),
        _ => 0,
    }
}

pub(crate) fn until_good<T>(mut make: impl FnMut() -> T, judge: impl Fn(&T, &mut Verdict)) -> T {
    loop {
        let info = make();
        let mut verdict = Verdict::default();
        judge(&info, &mut verdict);
        if verdict.faults.is_empty() && verdict.doubts.is_empty() {
            return info;
        }
    }
}

/// Allocates disjoint ranges of memory.
#[derive(Debug)]
pub(crate) struct Space(u64);

impl Space {
    pub(crate) fn new(random: &mut Random) -> Self {
        Self(1 << (12 + random.below(30)))
    }

    pub(crate) fn take(&mut self, random: &mut Random, bytes: u64, alignment: u32) -> TrmRange {
        let gap = if random.once_in(2) { 0 } else { random.below(300) };
        let address = (self.0 + gap).next_multiple_of(alignment.into());
        let size = bytes + if random.once_in(4) { random.below(100) } else { 0 };
        self.0 = address + size;
        TrmRange { address, size }
    }
}

/// Memory that an info needs: the member to set, the bytes, and the alignment.
pub(crate) type Wants<'a> = Vec<(&'a mut TrmRange, u64, u32)>;

pub(crate) fn take_ranges(random: &mut Random, space: &mut Space, mut wants: Wants<'_>) {
    random.shuffle(&mut wants);
    for (range, bytes, alignment) in wants {
        *range = space.take(random, bytes, alignment);
    }
}

pub(crate) fn take_word(random: &mut Random, space: &mut Space) -> u64 {
    if random.once_in(2) { space.take(random, 4, 4).address } else { 0 }
}

pub(crate) fn stride(random: &mut Random, items: &Items, size: u32, alignment: u32) -> u32 {
    if !items.strided || random.once_in(3) {
        return 0;
    }
    let most = if alignment < 4 { (1 << 16) - 1 } else { ((1 << 16) - 1) * 4 };
    let wanted = if random.once_in(8) { most } else { size + random.below32(64) };
    (wanted / alignment * alignment).max(size.next_multiple_of(alignment))
}

pub(crate) fn bytes(count: u32, size: u32, stride: u32) -> u64 {
    let step = if stride == 0 { size } else { stride };
    if count == 0 { 0 } else { u64::from(count - 1) * u64::from(step) + u64::from(size) }
}

pub(crate) fn timestamps(random: &mut Random) -> TrmTimestamps {
    if random.once_in(2) {
        return TrmTimestamps { pool: VkQueryPool::default(), first: random.below32(9) };
    }
    let first = if random.once_in(8) { u32::MAX - 200 } else { random.below32(1000) };
    TrmTimestamps { pool: ash::vk::Handle::from_raw(1 + random.below(3)), first }
}

pub(crate) fn segments(random: &mut Random, space: &mut Space, most: u32) -> TrmSegments {
    let count = TrmCount { max: random.count(most), address: take_word(random, space) };
    TrmSegments { offsets: space.take(random, (u64::from(count.max) + 1) * 4, 4), count }
}

pub(crate) fn count(random: &mut Random, items: &Items, most: u32) -> u32 {
    random.count(items.max_count.min(most))
}
