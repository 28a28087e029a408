//! Sorts, splits, merges and searches of host memory in one call, against the standard library.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

use std::collections::HashMap;
use trommel::host::{
    Buckets, Context, find_in, lower_bound, merge, merge_pairs, set_difference, set_intersection,
    set_symmetric_difference, set_union, sort, sort_pairs, split, split_pairs, unique, upper_bound,
};
use trommel::{Error, MergeOperation};

const COUNT: usize = 5000;

fn random_keys() -> Vec<u32> {
    (0..COUNT as u32).map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(i % 7)).collect()
}

/// Keys with their indices as values, grouped by `bucket`, and the start of each of `buckets`. A `bucket` of `u32::MAX`
/// means none.
fn grouped(keys: &[u32], buckets: u32, bucket: impl Fn(usize) -> u32) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
    let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
    indices.sort_by_key(|i| bucket(*i as usize).min(buckets));
    let before = |b| (0..keys.len()).filter(|i| bucket(*i) < b).count() as u32;
    (indices.iter().map(|i| keys[*i as usize]).collect(), indices, (0..=buckets).map(before).collect())
}

fn check(context: &Context, by: Buckets<'_>, buckets: u32, bucket: impl Fn(usize) -> u32) {
    let keys = random_keys();
    let expected = grouped(&keys, buckets, bucket);
    let mut alone = keys.clone();
    let offsets = context.split(&mut alone, by).unwrap_or_else(|error| panic!("{by:?}: {error}"));
    assert_eq!((&alone, &offsets), (&expected.0, &expected.2), "{by:?}");
    // Values past the last key stay unchanged.
    let (mut moved, mut values): (_, Vec<u32>) = (keys, (0..COUNT as u32 + 3).collect());
    let offsets = context.split_pairs(&mut moved, &mut values, by).unwrap_or_else(|error| panic!("{by:?}: {error}"));
    assert_eq!(values.split_off(COUNT), [COUNT as u32, COUNT as u32 + 1, COUNT as u32 + 2]);
    assert_eq!((moved, values, offsets), expected, "{by:?}");
}

/// Uses the context that is kept until the process ends.
#[test]
fn one_call_sorts_splits_merges_and_finds() {
    let (mut keys, mut values) = (vec![3, 1, 2], vec![30, 10, 20]);
    sort(&mut keys).unwrap();
    assert_eq!(keys, [1, 2, 3]);
    let mut keys = vec![3, 1, 2];
    sort_pairs(&mut keys, &mut values).unwrap();
    assert_eq!((&keys[..], &values[..]), (&[1, 2, 3][..], &[10, 20, 30][..]));
    let odd = Buckets::Bits { buckets: 2, begin_bit: 0 };
    assert_eq!(split(&mut keys, odd), Ok(vec![0, 1, 3]));
    assert_eq!(keys, [2, 1, 3]);
    assert_eq!(split_pairs(&mut keys, &mut values, Buckets::Splitters(&[2])), Ok(vec![0, 1, 3]));
    assert_eq!((keys, values), (vec![1, 2, 3], vec![20, 10, 30]));
    assert_eq!(merge(&[1, 3, 5], &[2, 3]), Ok(vec![1, 2, 3, 3, 5]));
    let pairs = merge_pairs((&[1, 3], &[10, 30]), (&[1, 2, 3], &[11, 21, 31]));
    assert_eq!(pairs, Ok((vec![1, 1, 2, 3, 3], vec![10, 11, 21, 30, 31])));
    assert_eq!(lower_bound(&[9, 3, 0, 4], &[1, 3, 3, 7]), Ok(vec![4, 1, 0, 3]));
    assert_eq!(upper_bound(&[9, 3, 0, 4], &[1, 3, 3, 7]), Ok(vec![4, 3, 0, 3]));
    assert_eq!(find_in(&[7, 5, 7], &[70, 50, 71], &[5, 6, 7]), Ok(vec![Some(50), None, Some(70)]));
    let (a, b) = ([1, 3, 3, 7], [3, 7, 7, 9]);
    assert_eq!(set_union(&a, &b), Ok(vec![1, 3, 3, 7, 7, 9]));
    assert_eq!(set_intersection(&a, &b), Ok(vec![3, 7]));
    assert_eq!(set_difference(&a, &b), Ok(vec![1, 3]));
    assert_eq!(set_symmetric_difference(&a, &b), Ok(vec![1, 3, 7, 9]));
    assert_eq!(unique(&[7, 7, 3, 7, 7, 7, 0]), Ok(vec![7, 3, 7, 0]));
}

#[test]
fn keys_are_sorted_and_values_go_with_them() {
    let context = Context::new().unwrap();
    let mut expected = random_keys();
    expected.sort_unstable();
    let mut keys = random_keys();
    context.sort(&mut keys).unwrap();
    assert_eq!(keys, expected);
    let (mut keys, mut values): (_, Vec<u32>) = (random_keys(), (0..COUNT as u32).collect());
    context.sort_pairs(&mut keys, &mut values).unwrap();
    assert_eq!(keys, expected);
    let before = random_keys();
    assert!(values.iter().zip(&keys).all(|(index, key)| before[*index as usize] == *key), "values are with their keys");
}

#[test]
fn keys_are_grouped_by_every_function() {
    let (context, keys) = (&Context::new().unwrap(), random_keys());
    check(context, Buckets::Bits { buckets: 32, begin_bit: 27 }, 32, |i| keys[i] >> 27);
    // Some items have no bucket.
    check(context, Buckets::Bits { buckets: 5, begin_bit: 3 }, 5, |i| keys[i] >> 3 & 7);
    let (low, width) = (1 << 20, 0x0400_0000);
    check(context, Buckets::Range { buckets: 33, low, width }, 33, |i| (keys[i].saturating_sub(low) / width).min(32));
    let splitters = [1 << 8, 1 << 16, 1 << 31];
    check(context, Buckets::Splitters(&splitters), 4, |i| {
        splitters.iter().filter(|splitter| **splitter <= keys[i]).count() as u32
    });
    let ids: Vec<u32> = (0..COUNT as u32).map(|i| i * i % 301).collect();
    check(context, Buckets::Ids { buckets: 300, ids: &ids }, 300, |i| ids[i]);
    check(context, Buckets::Splitters(&[]), 1, |_| 0);
}

#[test]
fn no_keys_are_in_no_bucket() {
    let context = Context::new().unwrap();
    assert_eq!(context.split(&mut [], Buckets::Bits { buckets: 4, begin_bit: 0 }), Ok(vec![0; 5]));
    assert_eq!(context.split_pairs(&mut [], &mut [], Buckets::Splitters(&[7])), Ok(vec![0; 3]));
}

#[test]
fn what_cannot_be_split_is_refused_and_left_as_it_was() {
    let context = Context::new().unwrap();
    let keys = [3, 1, 2, 0];
    let refused = |values: usize, by: Buckets<'_>| {
        let (mut moved, mut values) = (keys, vec![7; values]);
        let error = context.split_pairs(&mut moved, &mut values, by).unwrap_err();
        assert_eq!(moved, keys);
        assert!(values.iter().all(|value| *value == 7));
        error
    };
    let halves = Buckets::Bits { buckets: 2, begin_bit: 0 };
    assert!(matches!(refused(3, halves), Error::TooSmall { argument: "values.size", .. }));
    assert!(matches!(refused(0, halves), Error::Null { argument: "values.address" }));
    assert!(matches!(
        refused(4, Buckets::Bits { buckets: 0, begin_bit: 0 }),
        Error::Malformed { argument: "bucketCount", .. }
    ));
    assert!(matches!(
        refused(4, Buckets::Bits { buckets: 2, begin_bit: 32 }),
        Error::TooLarge { argument: "beginBit", .. }
    ));
    assert!(matches!(
        refused(4, Buckets::Range { buckets: 2, low: 0, width: 0 }),
        Error::Malformed { argument: "width", .. }
    ));
    assert!(matches!(
        refused(4, Buckets::Ids { buckets: 2, ids: &[0, 1, 0] }),
        Error::TooSmall { argument: "bucketIds.size", .. }
    ));
}

#[test]
fn sequences_are_merged_and_values_go_with_their_keys() {
    let context = Context::new().unwrap();
    // Few different keys: equal ones are in both sequences.
    let sorted = |from: u32, count: u32| {
        let mut keys: Vec<u32> = (0..count).map(|i| (i + from).wrapping_mul(0x9e37_79b9) >> 24).collect();
        keys.sort_unstable();
        keys
    };
    let (a, b) = (sorted(1, 3000), sorted(7, 2000));
    let (values_a, values_b): (Vec<u32>, Vec<u32>) = ((0..3000).collect(), (3000..5000).collect());
    let mut expected: Vec<(u32, u32)> = [&a[..], &b].concat().into_iter().zip(0..).collect();
    expected.sort_by_key(|(key, _)| *key);
    let (keys, values): (Vec<u32>, Vec<u32>) = expected.into_iter().unzip();
    assert_eq!(context.merge(&a, &b), Ok(keys.clone()));
    assert_eq!(context.merge_pairs((&a, &values_a), (&b, &values_b)), Ok((keys, values)));
    assert_eq!(context.merge(&[], &b), Ok(b.clone()));
    assert_eq!(context.merge_pairs((&[], &[]), (&[], &[])), Ok((vec![], vec![])));
    let bounds = |counts_for: fn(&u32, &u32) -> bool| -> Vec<u32> {
        a.iter().map(|needle| b.partition_point(|key| counts_for(key, needle)) as u32).collect()
    };
    assert_eq!(context.lower_bound(&a, &b), Ok(bounds(|key, needle| key < needle)));
    assert_eq!(context.upper_bound(&a, &b), Ok(bounds(|key, needle| key <= needle)));
    assert_eq!(context.upper_bound(&a, &[]), Ok(vec![0; a.len()]));
    assert_eq!(context.lower_bound(&[], &b), Ok(vec![]));
    assert_eq!(context.set_operation(MergeOperation::Union, &[], &[]), Ok(vec![]));
    // Sequences that are not sorted have some result, which fits the output.
    let falling: Vec<u32> = a.iter().rev().copied().collect();
    let saw: Vec<u32> = (0..COUNT as u32).map(|i| i % 700).collect();
    for sequences in [[&falling, &falling], [&falling, &a], [&saw, &falling], [&saw, &saw], [&a, &saw]] {
        use MergeOperation::{Difference, Intersection, SymmetricDifference, Union};
        for operation in [Union, Intersection, Difference, SymmetricDifference] {
            let [items_a, items_b] = sequences;
            let found = context.set_operation(operation, items_a, items_b).unwrap();
            let room = match operation {
                Intersection => items_a.len().min(items_b.len()),
                Difference => items_a.len(),
                _ => items_a.len() + items_b.len(),
            };
            assert!(found.len() <= room, "{operation:?} has {} items", found.len());
        }
    }
    for keys in [&a, &falling, &saw, &vec![7; COUNT], &vec![]] {
        let mut expected = keys.clone();
        expected.dedup();
        assert_eq!(context.unique(keys), Ok(expected));
    }
    let refused = context.set_operation(MergeOperation::Unique, &a, &b);
    assert!(matches!(refused, Err(Error::TooLarge { argument: "countB.max", .. })), "{refused:?}");
    assert_eq!(
        context.set_operation(MergeOperation::Merge, &a, &b),
        Err(Error::Malformed { argument: "operation", why: "it is not a set operation".into() })
    );
    let refused = context.merge_pairs((&a, &values_a[1..]), (&b, &values_b)).unwrap_err();
    assert!(matches!(refused, Error::TooSmall { argument: "valuesA.size", .. }));
}

#[test]
fn needles_are_found_among_keys() {
    let context = Context::new().unwrap();
    let keys = random_keys();
    let values: Vec<u32> = (0..COUNT as u32).map(|i| !i).collect();
    // Every other needle is a key. The reserved keys of tables are keys as others.
    let needles: Vec<u32> = keys.iter().flat_map(|key| [*key, key ^ 1]).chain([u32::MAX, u32::MAX - 1]).collect();
    let mut expected = HashMap::new();
    for (key, value) in keys.iter().zip(&values) {
        expected.entry(*key).or_insert(*value);
    }
    let expected: Vec<_> = needles.iter().map(|needle| expected.get(needle).copied()).collect();
    assert_eq!(context.find_in(&keys, &values, &needles), Ok(expected));
    let reserved = [u32::MAX, u32::MAX - 1];
    assert_eq!(context.find_in(&reserved, &[u32::MAX, 3], &reserved), Ok(vec![Some(u32::MAX), Some(3)]));
    assert_eq!(context.find_in(&[], &[], &[3]), Ok(vec![None]));
    assert_eq!(context.find_in(&keys, &values, &[]), Ok(vec![]));
    assert_eq!(context.find_in(&[7; 3], &[1, 2, 3, 4], &[7]), Ok(vec![Some(1)]));
    // The hashes of all keys have the same first bits. A table has no room for all.
    let crowded: Vec<u32> = (0..3000).map(|i| unmix(0x1234_0000 + i)).collect();
    let found = context.find_in(&crowded, &values[..3000], &crowded).unwrap();
    assert_eq!(found, values[..3000].iter().copied().map(Some).collect::<Vec<_>>());
    let refused = context.find_in(&keys, &values[1..], &keys).unwrap_err();
    assert!(matches!(refused, Error::TooSmall { argument: "values.size", .. }));
}

/// The key with a hash.
fn unmix(mut hash: u32) -> u32 {
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x7ed1_b41d);
    hash ^= (hash >> 13) ^ (hash >> 26);
    hash = hash.wrapping_mul(0xa5cb_9243);
    hash ^ (hash >> 16)
}
