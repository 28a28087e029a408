//! Checks of multimaps: the numbers of values of keys, and all values.

use super::action::{Action, Hashing};
use super::layout::{COUNT_OUT, EARLIER_KEYS, EARLIER_VALUES, KEYS, NUMBERS, QUERIES, RESULTS, VALUES, table};
use crate::arrays::Contents;
use std::ops::Range;

/// Checks the values of the keys that have been looked up in a multimap, or the numbers of them. Each key has been
/// looked up once.
pub(super) fn check(work: &Hashing, n: u32, contents: &Contents) -> Result<(), String> {
    let is_batch = work.action == Action::InsertRepeated;
    let entries = if is_batch { n } else { work.earlier(n) } as usize;
    let [key_array, value_array] = if is_batch { [KEYS, VALUES] } else { [EARLIER_KEYS, EARLIER_VALUES] };
    let input = |array: usize| contents.inputs.get(array)?.as_ref();
    let keys = input(key_array).and_then(|words| words.get(..entries)).ok_or("no keys")?;
    let (_, queries) = work.queries(n);
    let queries = input(QUERIES).and_then(|words| words.get(..queries as usize)).ok_or("no queries")?;
    let numbers = table(contents, NUMBERS).ok_or("no numbers of values")?;
    // Keys are small numbers.
    let bins = keys.iter().chain(queries).max().map_or(0, |key| *key as usize + 1);
    let mut counts = vec![0u32; bins];
    keys.iter().for_each(|key| counts[*key as usize] += 1);
    if work.action == Action::CountValues {
        return check_numbers(queries, numbers.iter().copied(), |key| counts[key as usize]);
    }

    let values = input(value_array).and_then(|words| words.get(..entries)).ok_or("no values")?;
    let results = contents.outputs.get(RESULTS).and_then(Option::as_ref).ok_or("no results")?;
    if numbers.first() != Some(&0) {
        return Err(format!("the first offset is {:?}", numbers.first()));
    }
    let lengths = numbers.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]));
    check_numbers(queries, lengths, |key| counts[key as usize])?;
    let total = numbers[queries.len()];
    match table(contents, COUNT_OUT).and_then(<[u32]>::first) {
        Some(count) if *count != total => return Err(format!("{count} values, but the last offset is {total}")),
        _ => {}
    }
    if total as usize != entries {
        return Err(format!("{total} values are retrieved, not {entries}"));
    }

    // The values of each key, in the order of the queries.
    let mut ends = vec![0usize; bins];
    queries.iter().zip(numbers).for_each(|(key, offset)| ends[*key as usize] = *offset as usize);
    let mut expected = vec![0; entries];
    for (key, value) in keys.iter().zip(values) {
        let end = &mut ends[*key as usize];
        expected[*end] = *value;
        *end += 1;
    }
    for (key, pair) in queries.iter().zip(numbers.windows(2)) {
        let range = Range { start: pair[0] as usize, end: pair[1] as usize };
        let mut found = results.get(range.clone()).ok_or("too few results")?.to_vec();
        let expected = &mut expected[range];
        found.sort_unstable();
        expected.sort_unstable();
        if found != *expected {
            return Err(format!("the values of key {key} are {found:#x?}, not {expected:#x?}"));
        }
    }
    Ok(())
}

/// Compares the number of values of each query.
fn check_numbers(
    queries: &[u32],
    numbers: impl Iterator<Item = u32>,
    expected: impl Fn(u32) -> u32,
) -> Result<(), String> {
    let mut compared = 0;
    for (key, number) in queries.iter().zip(numbers) {
        if number != expected(*key) {
            return Err(format!("key {key} has {number} values, not {}", expected(*key)));
        }
        compared += 1;
    }
    if compared == queries.len() { Ok(()) } else { Err(format!("{compared} numbers of values, not {}", queries.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use trommel::HasherInfo;

    const MULTIMAP: HasherInfo = HasherInfo::pairs().linear().multimap();

    /// Sixteen entries of two keys: key 1 has the values 102 and 109.
    fn contents(action: Action, numbers: &[u32], results: &[u32], count: Option<u32>) -> Contents {
        let array = |words: Vec<u32>| Some(Arc::new(words));
        let keys = array((0..16).map(|i| u32::from(i % 7 == 2)).collect());
        let values = array((100..116).collect());
        let is_batch = action == Action::InsertRepeated;
        let [batch, earlier] = if is_batch { [(keys, values), (None, None)] } else { [(None, None), (keys, values)] };
        let inputs = vec![batch.0, batch.1, earlier.0, earlier.1, None, None, array(vec![0, 1])];
        let outputs = vec![None, None, None, None, None, array(results.to_vec())];
        let tables = vec![None, None, None, Some(numbers.to_vec()), count.map(|count| vec![count])];
        Contents { inputs, outputs, tables }
    }

    fn check(action: Action, n: u32, contents: &Contents) -> Result<(), String> {
        super::check(&Hashing::new(MULTIMAP, action), n, contents)
    }

    #[test]
    fn each_key_has_its_number_of_values() {
        let check = |numbers: &[u32]| check(Action::CountValues, 2, &contents(Action::CountValues, numbers, &[], None));
        assert_eq!(check(&[14, 2]), Ok(()));
        assert_eq!(check(&[14, 3]), Err("key 1 has 3 values, not 2".into()));
        assert!(check(&[14]).is_err());
    }

    #[test]
    fn all_values_of_each_key_are_retrieved_in_any_order() {
        let of_zero: Vec<u32> = (100..116).filter(|value| ![102, 109].contains(value)).rev().collect();
        let right = [&of_zero[..], &[109, 102]].concat();
        for (action, count) in [(Action::Retrieve, Some(16)), (Action::InsertRepeated, None)] {
            let check =
                |numbers: &[u32], results: &[u32], count| check(action, 16, &contents(action, numbers, results, count));
            assert_eq!(check(&[0, 14, 16], &right, count), Ok(()));
            assert!(check(&[0, 13, 16], &right, count).is_err(), "an offset");
            assert!(check(&[1, 15, 17], &right, count).is_err(), "the first offset");
            assert!(check(&[0, 14, 15], &right, count).is_err(), "the last offset");
            assert!(check(&[0, 14], &right, count).is_err(), "too few offsets");
            assert!(check(&[0, 14, 16], &right, Some(15)).is_err(), "the count");
            assert!(check(&[0, 14, 16], &right[..15], count).is_err(), "too few values");
            let mut moved = right.clone();
            moved.swap(0, 15);
            assert!(check(&[0, 14, 16], &moved, count).is_err(), "a value of another key");
            let twice = [&right[..15], &[109]].concat();
            assert!(check(&[0, 14, 16], &twice, count).is_err(), "a value twice");
        }
    }
}
