//! Splits by labels in plain Rust: the arguments of bucket functions, and the bucket of each item.

use crate::core::tests::noise;
use crate::radix::cpu::{self, Plane};
use crate::{BucketFunction, IdType, Order, SplitterInfo};

/// First key and width of the ranges.
pub(super) const LOW: u64 = 0x1000_0000_0000;
pub(super) const WIDTH: u64 = 0x00f5_0003_1234_5678;

/// Bucket ids or splitters of a split, as in memory.
pub(super) fn given(split: &SplitterInfo, seed: u64, size: usize) -> Vec<u8> {
    match split.function {
        BucketFunction::Ids(id) => {
            // Some ids have no bucket.
            let most = (split.buckets + split.buckets / 8 + 1).min(u32::MAX >> (32 - 8 * id.size()));
            let ids = noise(seed + 5, size).into_iter().map(|word| word % (most + 1));
            ids.flat_map(|id_| id_.to_le_bytes()[..id.size() as usize].to_vec()).collect()
        }
        BucketFunction::Splitters => {
            let words = (split.key.size() / 4) as usize;
            let drawn = noise(seed + 6, (split.buckets - 1) as usize * words);
            let mut splitters: Vec<&[u32]> = drawn.chunks(words).collect();
            splitters.sort_by_key(|splitter| number(split, splitter));
            splitters.concat().into_iter().flat_map(u32::to_le_bytes).collect()
        }
        _ => Vec::new(),
    }
}

/// A key as a number in the order of keys.
fn number(split: &SplitterInfo, words: &[u32]) -> u128 {
    let mut words = words.to_vec();
    cpu::encode(split.key, Order::Ascending, &mut words);
    words.iter().rev().fold(0, |number, word| number << 32 | u128::from(*word))
}

/// The bucket of each item; for items without a bucket, the number of buckets.
pub(super) fn labels(split: &SplitterInfo, given: &[u8], keys: &[Plane]) -> Plane {
    let size = (split.key.size() / 4) as usize;
    let splitters: Vec<u128> = match split.function {
        BucketFunction::Splitters => {
            let words: Vec<u32> = given.chunks(4).map(bytemuck::pod_read_unaligned).collect();
            words.chunks(size).map(|splitter| number(split, splitter)).collect()
        }
        _ => Vec::new(),
    };
    let label = |i: usize| {
        let words: Vec<u32> = keys.iter().map(|plane| plane[i]).collect();
        let key = number(split, &words);
        let bucket = match split.function {
            BucketFunction::Bits { begin_bit } => key >> begin_bit & u128::from(split.buckets.next_power_of_two() - 1),
            BucketFunction::Range => {
                let low = number(split, &[LOW as u32, (LOW >> 32) as u32]);
                (key.saturating_sub(low) / u128::from(WIDTH)).min(u128::from(split.buckets) - 1)
            }
            BucketFunction::Splitters => splitters.partition_point(|splitter| *splitter <= key) as u128,
            BucketFunction::Signs => words.iter().enumerate().map(|(w, word)| u128::from(word >> 31) << w).sum(),
            BucketFunction::User => unreachable!("it has a kernel of its own"),
            BucketFunction::Ids(id) => match id {
                IdType::U8 => given[i].into(),
                IdType::U16 => u16::from_le_bytes([given[2 * i], given[2 * i + 1]]).into(),
                IdType::U32 => bytemuck::pod_read_unaligned::<u32>(&given[4 * i..][..4]).into(),
            },
        };
        bucket.min(split.buckets.into()) as u32
    };
    (0..keys[0].len()).map(label).collect()
}
