//! Wrong results of merges are found.

use super::*;

const N: u32 = 8;
/// A: 1, 3, 3, 8. B: 0, 3, 8, 9.
const INPUT: [u32; 8] = [1, 3, 3, 8, 0, 3, 8, 9];
const MERGED: [u32; 8] = [0, 1, 3, 3, 3, 8, 8, 9];
const VALUES: [u32; 8] = [10, 11, 12, 13, 20, 21, 22, 23];
const MOVED: [u32; 8] = [20, 10, 11, 12, 21, 13, 22, 23];

fn check(merge: Merge, keys: Option<&[u32]>, values: Option<&[u32]>) -> Result<(), String> {
    let array = |words: &[u32]| Arc::new(words.to_vec());
    let inputs = vec![Some(array(&INPUT)), Some(array(&VALUES))];
    let outputs = vec![keys.map(array), values.map(array)];
    merge.check(N, &Contents { inputs, outputs, tables: Vec::new() })
}

/// `words` with the items at two indices exchanged.
fn exchanged(words: [u32; 8], i: usize, j: usize) -> [u32; 8] {
    let mut exchanged = words;
    exchanged.swap(i, j);
    exchanged
}

#[test]
fn wrong_merges_of_keys_are_found() {
    let keys = |found: &[u32; 8]| check(Merge::new(MergerInfo::keys()), Some(found), None);
    assert_eq!(keys(&MERGED), Ok(()));
    let in_wrong_order = exchanged(MERGED, 1, 2);
    assert_eq!(keys(&in_wrong_order), Err("key 1 is 0x00000003, not 0x00000001".into()));
    let lost = [0, 1, 3, 3, 8, 8, 9, 9];
    assert_eq!(keys(&lost), Err("key 4 is 0x00000008, not 0x00000003".into()));
    assert!(keys(&[0xdead_beef; 8]).is_err(), "nothing is written");
    assert!(keys(&INPUT).is_err(), "a copy of the sequences");
}

#[test]
fn wrong_merges_of_pairs_are_found() {
    let pairs = |keys: &[u32; 8], values: &[u32; 8]| check(Merge::new(MergerInfo::pairs()), Some(keys), Some(values));
    assert_eq!(pairs(&MERGED, &MOVED), Ok(()));
    let within_a = pairs(&MERGED, &exchanged(MOVED, 2, 3));
    assert_eq!(within_a, Err("value 2 is 0x0000000c, not 0x0000000b".into()), "two equal keys of A");
    assert!(pairs(&MERGED, &exchanged(MOVED, 3, 4)).is_err(), "B before A");
    assert!(pairs(&exchanged(MERGED, 1, 2), &exchanged(MOVED, 1, 2)).is_err(), "pairs in a wrong order");
    assert!(pairs(&MERGED, &[20, 10, 11, 12, 12, 13, 22, 23]).is_err(), "a value is there twice, another is lost");
    assert!(check(Merge::new(MergerInfo::pairs()), Some(&MERGED), None).is_err(), "no values");
}

#[test]
fn wrong_indices_are_found() {
    let info = MergerInfo { value: ValueType::Index, drop_keys: true, ..MergerInfo::keys() };
    let indices = |found: &[u32; 8]| check(Merge::new(info), None, Some(found));
    let b = |index| index | SOURCE_B;
    let right = [b(0), 0, 1, 2, b(1), 3, b(2), b(3)];
    assert_eq!(indices(&right), Ok(()));
    assert!(indices(&exchanged(right, 2, 3)).is_err(), "not stable within A");
    assert!(indices(&exchanged(right, 3, 4)).is_err(), "B before A");
    assert!(indices(&right.map(|index| index & !SOURCE_B)).is_err(), "no source");
    assert!(indices(&[4, 0, 1, 2, 5, 3, 6, 7]).is_err(), "indices of both sequences together");
}

#[test]
fn problems_of_a_batch_are_merged_each_by_itself() {
    let batch = |found: &[u32; 8]| {
        let merge = Merge::new(MergerInfo::pairs()).problems(Problems::Batch(&[(2, 4)]));
        check(merge, Some(found), Some(&VALUES))
    };
    assert_eq!(batch(&INPUT), Ok(()), "the sequences of each problem are one after the other");
    assert!(batch(&MERGED).is_err());
    let indices = Merge::new(MergerInfo::keys()).problems(Problems::Batch(&[(2, 4)])).indices(N);
    let b = |index| index | SOURCE_B;
    assert_eq!(indices.words[..], [0, 1, b(0), b(1), 0, 1, b(0), b(1)]);
}

#[test]
fn wrong_bounds_are_found() {
    let lower = |found: &[u32; 8]| check(Merge::new(MergerInfo::lower_bound()), None, Some(found));
    let upper = |found: &[u32; 8]| check(Merge::new(MergerInfo::upper_bound()), None, Some(found));
    // Nothing is written behind the bounds of A.
    let bounds = |[w, x, y, z]: [u32; 4]| [w, x, y, z, 7, 7, 7, 7];
    let (right, above) = (bounds([1, 1, 1, 2]), bounds([1, 2, 2, 3]));
    assert_eq!((lower(&right), upper(&above)), (Ok(()), Ok(())));
    assert_eq!(lower(&above), Err("bound 1 is Some(2), not 1".into()));
    assert!(upper(&right).is_err() && lower(&bounds([1, 1, 1, 3])).is_err());
    assert!(check(Merge::new(MergerInfo::lower_bound()), None, None).is_err(), "no bounds");
}

#[test]
fn wrong_updates_and_segments_are_found() {
    let update = Merge::new(MergerInfo::keys().operation(MergeOperation::Update));
    let found = |words: [u32; 8], items: u32| {
        let array = |words: &[u32]| Arc::new(words.to_vec());
        let tables = vec![None, None, Some(vec![items]), None, None, None];
        let outputs = vec![Some(array(&words)), None];
        update.check(N, &Contents { inputs: vec![Some(array(&INPUT)), None], outputs, tables })
    };
    // The first item of A is marked.
    assert_eq!(found([0, 3, 3, 3, 8, 8, 9, 7], 7), Ok(()));
    assert!(found(MERGED, 8).is_err() && found([0, 3, 3, 3, 8, 8, 9, 7], 8).is_err());
    let segments = |found: &[u32; 8]| check(Merge::new(MergerInfo::keys()).segments(2), Some(found), None);
    assert_eq!(segments(&[0, 1, 3, 3, 3, 8, 8, 9]), Ok(()));
    assert!(segments(&[0, 1, 3, 3, 8, 3, 8, 9]).is_err());
    let pairs = |found: &[u32; 8], values: &[u32; 8]| {
        check(Merge::new(MergerInfo::pairs()).segments(2), Some(found), Some(values))
    };
    assert_eq!(pairs(&[0, 1, 3, 3, 3, 8, 8, 9], &[20, 10, 11, 21, 12, 13, 22, 23]), Ok(()));
    assert!(pairs(&[0, 1, 3, 3, 3, 8, 8, 9], &MOVED).is_err(), "of another segment");
    assert_eq!(Merge::new(MergerInfo::keys()).segments(3).offsets(7), [0, 3, 6, 7]);
    assert_eq!(Merge::marks(101), [1, 0, 0, 1 << 4]);
}

#[test]
fn wrong_unique_items_are_found() {
    let found = |keys: &[u32], values: &[u32], items: u32| {
        let array = |words: &[u32]| Arc::new(words.to_vec());
        let info = MergerInfo::pairs().operation(MergeOperation::Unique);
        let unique = Merge::new(info).divided(Division::AllInA);
        let inputs = vec![Some(array(&[1, 1, 3, 3, 3, 8, 8, 9])), Some(array(&VALUES))];
        let tables = vec![None, None, Some(vec![items])];
        unique.check(N, &Contents { inputs, outputs: vec![Some(array(keys)), Some(array(values))], tables })
    };
    let pairs = |keys: [u32; 4], values: [u32; 4], items| {
        found(&[&keys[..], &[7; 4]].concat(), &[&values[..], &[7; 4]].concat(), items)
    };
    let (keys, values) = ([1, 3, 8, 9], [10, 12, 21, 23]);
    assert_eq!(pairs(keys, values, 4), Ok(()));
    assert!(pairs(keys, [11, 12, 21, 23], 4).is_err(), "the second item of a run");
    assert!(pairs([1, 3, 3, 8], values, 4).is_err(), "two items of a run");
    assert_eq!(pairs(keys, values, 5), Err("Some(5) items are counted, not 4".into()));
}

#[test]
fn sequences_are_divided() {
    let range = |start, end| Range { start, end };
    let merge = Merge::new(MergerInfo::keys());
    assert_eq!(merge.sequences(7), [[range(0, 3), range(3, 7)]]);
    assert_eq!(merge.divided(Division::AllInA).sequences(7), [[range(0, 7), range(7, 7)]]);
    assert_eq!(merge.sorted_lengths(7), [3, 4]);
    assert_eq!(merge.unsorted().sorted_lengths(7), [1, 1, 1, 4]);
    let delta = merge.divided(Division::Delta);
    assert_eq!(delta.sequences(1000), [[range(0, 1000), range(1000, 1010)]]);
    assert_eq!((delta.item_count(1000), delta.item_count(1)), (1010, 2), "a delta is never empty");
    let parts = merge.parts(4);
    assert_eq!(parts.sorted_lengths(10), [2, 2, 3, 3]);
    assert_eq!((parts.sorted_lengths(3), parts.sorted_lengths(16)), (vec![0, 1, 1, 1], vec![4; 4]));
    assert_eq!(parts.merger_info(), MergerInfo::keys().sequences(4));
    let batch = merge.problems(Problems::Batch(&[(2, 3)]));
    assert_eq!(batch.sequences(6), [[range(0, 1), range(1, 3)], [range(3, 4), range(4, 6)]]);
    assert_eq!(batch.merger_info(), MergerInfo::keys().batches());
}
