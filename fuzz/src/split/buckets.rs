//! The bucket of each item, by an oracle of every bucket function.

use crate::arena::Array;
use crate::items::{Items, Stream};
use crate::keys;
use crate::primitive::Ask;
use crate::random::Random;
use std::ops::Range;
use trommel::{BucketFunction, IdType, SplitterInfo};

/// The bucket of every item, and the arguments of the bucket function.
pub(super) struct Buckets {
    /// The bucket of each item. `count` stands for no bucket.
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
    /// Ids or splitters, as an array for the library.
    pub(super) given: Option<Array>,
    pub(super) low: u64,
    pub(super) width: u64,
    /// Whether splitters are unsorted. Every item then has some bucket, but an undefined one.
    pub(super) unsorted: bool,
}

/// Distributions of ids.
fn draw_ids(info: &SplitterInfo, id: IdType, ask: &Ask) -> Vec<u32> {
    let mut random = ask.stream(Stream::Buckets);
    let most = match id {
        IdType::U8 => u32::from(u8::MAX),
        IdType::U16 => u32::from(u16::MAX),
        IdType::U32 => u32::MAX,
    };
    let last = info.buckets - 1;
    let beyond = random.pick(&[0, 0, 1, info.buckets / 8 + 1, u32::MAX]);
    let limit = last.saturating_add(if ask.hostile { u32::MAX } else { beyond }).min(most);
    let (one, few) = (random.between(0, limit), random.log_between(1, 16));
    let way = random.below(6);
    let mut id = one;
    let mut next = |index: u32| match way {
        0 => one,
        1 => {
            if random.chance(1, few) {
                id = random.between(0, limit);
            }
            id
        }
        2 => index % (limit / few).saturating_add(1),
        3 => random.log_between(0, limit),
        _ => random.between(0, limit),
    };
    (0..ask.items).map(&mut next).collect()
}

impl Buckets {
    pub(super) fn new(info: &SplitterInfo, items: &Items, ask: &Ask) -> Self {
        let (count, position) = (info.buckets as usize, |index: usize| keys::position(info.key, items.key(index)));
        let mut random = ask.stream(Stream::Buckets);
        let all = 0..ask.items as usize;
        let mut buckets = Self { of: Vec::new(), count, given: None, low: 0, width: 0, unsorted: false };
        let none = u128::from(info.buckets);
        let number = |bucket: u128| u32::try_from(bucket.min(none)).unwrap_or(info.buckets);
        match info.function {
            BucketFunction::Bits { begin_bit } => {
                let values = u128::from(info.buckets).next_power_of_two();
                buckets.of = all.map(|index| number((position(index) >> begin_bit) % values)).collect();
            }
            BucketFunction::Range => {
                let (low, width) = draw_range(info, items, &mut random);
                let bytes = &low.to_le_bytes()[..items.key_size];
                let first = keys::position(info.key, bytes);
                let bucket = |index| position(index).saturating_sub(first) / u128::from(width);
                buckets.of = all.map(|index| number(bucket(index).min(none - 1))).collect();
                (buckets.low, buckets.width) = (low, width);
            }
            BucketFunction::Splitters => {
                let bytes = ask.data.keys(info.key, count - 1, &mut random);
                let mut splitters: Vec<_> =
                    bytes.chunks_exact(items.key_size).map(|bytes| (keys::position(info.key, bytes), bytes)).collect();
                if !ask.hostile {
                    splitters.sort();
                }
                buckets.unsorted = !splitters.is_sorted_by_key(|(position, _)| *position);
                let bucket = |index| splitters.partition_point(|(splitter, _)| *splitter <= position(index));
                buckets.of = all.map(|index| number(bucket(index) as u128)).collect();
                let bytes = splitters.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
                buckets.given = Some(Array::input("splitters", 4, items.key_size, bytes));
            }
            BucketFunction::Ids(id) => {
                let ids = draw_ids(info, id, ask);
                buckets.of = ids.iter().map(|id| number((*id).into())).collect();
                let size = id.size() as usize;
                let bytes = ids.iter().flat_map(|id| id.to_le_bytes().into_iter().take(size)).collect();
                buckets.given = Some(Array::input("bucket ids", size, size, bytes));
            }
            _ => {
                let signs = |key: &[u8]| key.chunks(4).rev().fold(0, |all, word| 2 * all + u32::from(word[3] >> 7));
                buckets.of = all.map(|index| signs(items.key(index))).collect();
            }
        }
        buckets
    }

    /// Numbers of items of each bucket of a run, then of items without a bucket.
    pub(super) fn counts(&self, run: &Range<usize>) -> Vec<u32> {
        let mut counts = vec![0; self.count + 1];
        self.of[run.clone()].iter().for_each(|bucket| counts[*bucket as usize] += 1);
        counts
    }
}

/// Draws the first key of the first range and the width of a range. Keys often fall into several ranges.
pub(super) fn draw_range(info: &SplitterInfo, items: &Items, random: &mut Random) -> (u64, u64) {
    let bits = keys::bits(info.key);
    let most = u64::MAX >> (64 - bits);
    let count = items.keys.len() / items.key_size;
    let low = match random.below(4) {
        0 if count != 0 => {
            let key = items.key(random.index(count));
            key.iter().rev().fold(0, |low, byte| low << 8 | u64::from(*byte))
        }
        1 => random.draw() & most,
        2 => random.pick(&[0, most, most / 2, most / 2 + 1]),
        _ => 0,
    };
    let even = most / u64::from(info.buckets);
    let width = match random.below(4) {
        0 => 1 + random.draw() % even.max(1),
        1 => 1 + (random.draw() & most) % (1 << random.below(bits)),
        2 => random.pick(&[1, most, most / 2 + 1, even]),
        _ => even,
    };
    (low, width.clamp(1, most))
}

/// Whether items may belong to no bucket.
pub(super) fn allows_items_without_bucket(info: &SplitterInfo) -> bool {
    match info.function {
        BucketFunction::Bits { .. } => !info.buckets.is_power_of_two(),
        BucketFunction::Ids(id) => u64::from(info.buckets) < 1 << (8 * id.size()),
        _ => false,
    }
}

/// The output index of each item of a run, and its index, for given bucket starts.
pub(super) fn placed_at(starts: &[u32], buckets: &Buckets, run: &Range<usize>) -> Vec<(u64, usize)> {
    let mut next: Vec<u64> = starts.iter().map(|start| (*start).into()).collect();
    let mut target = |index: usize| {
        let next = &mut next[buckets.of[index] as usize];
        *next += 1;
        (*next - 1, index)
    };
    run.clone().map(&mut target).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::tests::ask;
    use trommel::{KeyType, ValueType};

    fn items(keys: &[u32]) -> Items {
        let bytes = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
        Items { keys: bytes, key_size: 4, values: Vec::new(), value_size: 0 }
    }

    #[test]
    fn keys_go_to_the_buckets_that_the_function_says() {
        let of = |info: SplitterInfo, keys: &[u32]| {
            Buckets::new(&info, &items(keys), &ask(u32::try_from(keys.len()).unwrap())).of
        };
        let bits = SplitterInfo::keys(6, BucketFunction::Bits { begin_bit: 4 });
        assert_eq!(of(bits, &[0x00, 0x1f, 0x50, 0x60, 0x7f, 0x80]), [0, 1, 5, 6, 6, 0]);
        assert_eq!(of(SplitterInfo::keys(1, BucketFunction::Bits { begin_bit: 4 }), &[0x00, 0xff]), [0, 0]);
        let signs = SplitterInfo { key: KeyType::F32, ..SplitterInfo::keys(2, BucketFunction::Signs) };
        assert_eq!(of(signs, &[(-0.0f32).to_bits(), 1f32.to_bits(), f32::NAN.to_bits() | 1 << 31]), [1, 0, 1]);
        let one = SplitterInfo::keys(1, BucketFunction::Splitters);
        assert_eq!(of(one, &[3, u32::MAX]), [0, 0]);
    }

    #[test]
    fn octants_have_a_bit_for_each_word() {
        let info = SplitterInfo { key: KeyType::U32x3, ..SplitterInfo::keys(8, BucketFunction::Signs) };
        let key = |signs: [bool; 3]| {
            signs.map(|sign| if sign { 0x8000_0001u32 } else { 0x7fff_ffff }).map(u32::to_le_bytes).concat()
        };
        let keys = [key([true, false, false]), key([false, true, false]), key([true, false, true])].concat();
        let items = Items { keys, key_size: 12, values: Vec::new(), value_size: 0 };
        assert_eq!(Buckets::new(&info, &items, &ask(3)).of, [1, 2, 5]);
    }

    #[test]
    fn ranges_and_splitters_have_their_borders() {
        let mut seen = [false; 2];
        for seed in 0..50 {
            let ask = Ask { seed, ..ask(2000) };
            let info = SplitterInfo { key: KeyType::I32, ..SplitterInfo::keys(7, BucketFunction::Range) };
            let items = Items::draw(&ask, info.key, ValueType::None);
            let buckets = Buckets::new(&info, &items, &ask);
            let number = |index: usize| i64::from(i32::from_le_bytes(items.key(index).try_into().unwrap()));
            let low = i64::from(u32::try_from(buckets.low).unwrap().cast_signed());
            for (index, bucket) in buckets.of.iter().enumerate() {
                let expected =
                    if number(index) < low { 0 } else { ((number(index) - low).unsigned_abs() / buckets.width).min(6) };
                assert_eq!(u64::from(*bucket), expected);
                seen[0] |= *bucket == 3;
            }
            let info = SplitterInfo { function: BucketFunction::Splitters, ..info };
            let buckets = Buckets::new(&info, &items, &ask);
            let splitters: Vec<i64> = buckets
                .given
                .unwrap()
                .before
                .chunks(4)
                .map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()).into())
                .collect();
            assert!(splitters.len() == 6 && splitters.is_sorted());
            for (index, bucket) in buckets.of.iter().enumerate() {
                let below = splitters.iter().filter(|splitter| **splitter <= number(index)).count();
                assert_eq!(*bucket as usize, below);
                seen[1] |= below == 3;
            }
        }
        assert_eq!(seen, [true; 2], "keys fall into the middle");
    }

    #[test]
    fn ids_beyond_the_buckets_are_drawn() {
        let info = SplitterInfo::keys(10, BucketFunction::Ids(IdType::U8));
        let mut with_bucket_10 = 0;
        for seed in 0..40 {
            let ask = Ask { seed, hostile: true, ..ask(100) };
            let buckets = Buckets::new(&info, &Items::draw(&ask, KeyType::U32, ValueType::None), &ask);
            assert!(buckets.of.iter().all(|bucket| *bucket <= 10));
            with_bucket_10 += usize::from(buckets.of.contains(&10));
        }
        assert!((20..=40).contains(&with_bucket_10), "{with_bucket_10}");
    }
}
