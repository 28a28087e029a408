//! Checks of what operations leave in a table: the values of keys and whether the table has them.

use super::action::{Action, Hashing};
use super::layout::{
    EARLIER_VALUES, FOUND, HEADER_WORDS, KEYS, LEFTOVERS, RESULTS, SLICES, STATISTICS, STENCIL, TABLE, VALUES, has_bit,
    is_selected, table,
};
use super::{exports, multimaps};
use crate::arrays::Contents;
use crate::inputs::shuffled;
use crate::verify::Column;
use std::mem::offset_of;
use std::sync::Arc;
use trommel::{HashOperation, HashStatistics};

/// Compares what an operation on `n` items has written with the CPU's. Inputs may be those of a larger case.
pub(super) fn check(work: &Hashing, n: u32, contents: &Contents) -> Result<(), String> {
    match table(contents, LEFTOVERS).and_then(<[u32]>::first) {
        None | Some(0) => {}
        Some(count) => return Err(format!("{count} keys have found no slot")),
    }
    if work.runs(HashOperation::Statistics) {
        check_statistics(work, n, table(contents, STATISTICS).ok_or("no statistics")?)?;
    }
    match work.action {
        Action::Statistics => Ok(()),
        Action::Clear => check_empty(&contents.outputs.get(TABLE).cloned().flatten().ok_or("no table")?),
        Action::Export | Action::ExportIf => exports::check(work, n, contents),
        Action::CountValues | Action::InsertRepeated | Action::Retrieve => multimaps::check(work, n, contents),
        _ => check_values(work, n, contents),
    }
}

/// Probes of searches for the keys of the table, if they are the output.
pub(super) fn remark(work: &Hashing, contents: &Contents) -> Option<String> {
    let words = table(contents, STATISTICS).filter(|_| work.action == Action::Statistics)?;
    let numbers: HashStatistics = bytemuck::pod_read_unaligned(bytemuck::cast_slice(words));
    let (load, mean, most) = (numbers.load_factor(), numbers.mean_probes(), numbers.most_probes);
    Some(format!("  load {load:.3}, probes {mean:.3} on average, at most {most}, of bins {:?}", numbers.probes))
}

/// Checks that a cleared table has no keys.
fn check_empty(words: &[u32]) -> Result<(), String> {
    let slices = words.get(SLICES).ok_or("no table")?;
    // A bit for each slice, in whole buckets of 64 bytes: only tables of pairs are cleared.
    let marks = HEADER_WORDS..HEADER_WORDS + slices.div_ceil(32).next_multiple_of(16) as usize;
    let slots = words.get(marks.end..).ok_or("no slots")?;
    if words[marks].iter().any(|word| *word != 0) {
        return Err("a slice has keys in an overflow slice".into());
    }
    match slots.iter().position(|word| *word != u32::MAX) {
        Some(word) => Err(format!("word {word} of the slots is {:#010x}", slots[word])),
        None => Ok(()),
    }
}

/// Checks the number of keys, and that of slots if the operation may change it.
fn check_statistics(work: &Hashing, n: u32, statistics: &[u32]) -> Result<(), String> {
    let keys = statistics[offset_of!(HashStatistics, keys) / 4];
    if keys != n {
        return Err(format!("the table has {keys} keys, not {n}"));
    }
    let (slots, expected) = (statistics[offset_of!(HashStatistics, slots) / 4], work.slots_after(n));
    if work.operation() == HashOperation::Resize && slots != expected {
        return Err(format!("the table has {slots} slots, not {expected}"));
    }
    Ok(())
}

/// Checks the keys that have been looked up: their values, and whether the table has them.
fn check_values(work: &Hashing, n: u32, contents: &Contents) -> Result<(), String> {
    let found = table(contents, FOUND);
    let size = work.info.value.size() as usize;
    let column = |words: Option<&Option<Arc<Vec<u32>>>>| {
        let words = words.cloned().flatten()?;
        Some(Column { words, first: 0, stride: size, size })
    };
    let [values, earlier] = [VALUES, EARLIER_VALUES].map(|array| column(contents.inputs.get(array)));
    let results = column(contents.outputs.get(RESULTS));
    if found.is_none() && results.is_none() {
        return Err("neither values nor bits".into());
    }
    let (_, queries) = work.queries(n);
    let mut erased = vec![false; if work.action == Action::EraseHalf { queries as usize } else { 0 }];
    if work.action == Action::EraseHalf {
        (0..n).for_each(|index| erased[shuffled(index, queries) as usize] = true);
    }
    let is_selected = |query: u32| earlier.as_ref().is_some_and(|values| is_selected(values.item(query as usize)));
    let stencil = contents.inputs.get(STENCIL).and_then(Option::as_ref).filter(|_| work.stencil);
    // The occurrences of each key.
    let is_count = work.action == Action::Increment;
    let mask = (1 << work.repeated_bits(n)) - 1;
    let mut counts = vec![0u32; if is_count { mask as usize + 1 } else { 0 }];
    let keys = contents.inputs.get(KEYS).and_then(Option::as_ref).filter(|_| is_count);
    let key = |query: u32| keys.map_or(0, |keys| keys[query as usize] & mask) as usize;
    if is_count {
        (0..n).for_each(|query| counts[key(query)] += 1);
    }
    for query in 0..queries {
        // The item with the value of the key, if the table has it.
        let item = match work.action {
            Action::FindMisses => None,
            _ if stencil.is_some_and(|stencil| !has_bit(stencil, query)) => None,
            Action::FindHits | Action::Mixed => Some((&earlier, shuffled(query, n))),
            Action::EraseHalf => Some((&earlier, query)).filter(|_| !erased[query as usize]),
            Action::EraseIf => Some((&earlier, query)).filter(|_| !is_selected(query)),
            Action::Rehash | Action::Grow | Action::StayAsIs => Some((&earlier, query)),
            _ => Some((&values, query)),
        };
        if let Some(found) = found {
            let found = found[query as usize / 32] >> (query % 32) & 1;
            if found != u32::from(item.is_some()) {
                return Err(format!("key {query} is {}", if found == 0 { "missing" } else { "found" }));
            }
        }
        let Some(results) = &results else { continue };
        let result = results.item(query as usize);
        let one_word = |column: &Option<Column>, index: u32| column.as_ref()?.item(index as usize).next();
        let is_right = match item {
            _ if is_count => result.eq([counts[key(query)]]),
            _ if work.action == Action::Add => {
                let words = (one_word(&earlier, shuffled(query, n)), one_word(&values, query));
                let (Some(earlier), Some(added)) = words else { return Err("no values".into()) };
                result.eq([earlier.wrapping_add(added)])
            }
            Some((values, index)) => result.eq(values.as_ref().ok_or("no values")?.item(index as usize)),
            None => result.eq(std::iter::repeat_n(u32::MAX, size / 4)),
        };
        if !is_right {
            let words: Vec<_> = results.item(query as usize).collect();
            return Err(format!("the value of key {query} is {words:#x?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::hash::layout::MOST_SELECTED;
    use trommel::HasherInfo;

    fn contents(action: Action, results: &[u32], found: Option<&[u32]>, leftovers: Option<u32>) -> Contents {
        let array = |words: &[u32]| Some(Arc::new(words.to_vec()));
        let earlier = match action {
            Action::EraseHalf => array(&[1, 2, 3, 4]),
            Action::EraseIf => array(&[MOST_SELECTED, MOST_SELECTED + 1]),
            _ => array(&[1, 2]),
        };
        let inputs = vec![None, array(&[7, 8]), None, earlier, None, None];
        let outputs = vec![None, None, None, None, None, array(results)];
        Contents { inputs, outputs, tables: vec![found.map(<[u32]>::to_vec), leftovers.map(|count| vec![count])] }
    }

    fn check(action: Action, results: &[u32], found: Option<&[u32]>, leftovers: Option<u32>) -> Result<(), String> {
        super::check(&Hashing::new(HasherInfo::pairs(), action), 2, &contents(action, results, found, leftovers))
    }

    #[test]
    fn insertions_and_assignments_leave_the_values_of_the_batch() {
        for action in [Action::Insert, Action::InsertInto(9), Action::Assign, Action::FindOrInsert] {
            assert_eq!(check(action, &[7, 8], Some(&[3]), Some(0)), Ok(()));
            assert_eq!(check(action, &[7, 8], Some(&[1]), Some(0)), Err("key 1 is missing".into()));
            assert_eq!(check(action, &[7, 8], Some(&[3]), Some(1)), Err("1 keys have found no slot".into()));
            assert!(check(action, &[7, 2], Some(&[3]), Some(0)).is_err(), "an earlier value");
        }
    }

    #[test]
    fn combined_values_are_sums_and_counts() {
        let of = [0, 1].map(|query| shuffled(query, 2) + 1 + [7, 8][query as usize]);
        assert_eq!(check(Action::Add, &of, Some(&[3]), Some(0)), Ok(()));
        assert!(check(Action::Add, &[of[0], of[1] + 1], Some(&[3]), Some(0)).is_err());
        // 256 items of four keys.
        let keys: Vec<u32> = (0..256).map(|i| i % 4).collect();
        let check = |count: u32| {
            let results = keys.iter().map(|key| if *key == 3 { count } else { 64 }).collect::<Vec<_>>();
            let mut contents = contents(Action::Increment, &results, Some(&[u32::MAX; 8]), Some(0));
            contents.inputs[KEYS] = Some(Arc::new(keys.clone()));
            super::check(&Hashing::new(HasherInfo::pairs(), Action::Increment), 256, &contents)
        };
        assert_eq!(check(64), Ok(()));
        assert!(check(63).is_err());
    }

    #[test]
    fn searches_write_values_or_all_ones() {
        let of = [0, 1].map(|query| shuffled(query, 2) + 1);
        assert_eq!(check(Action::FindHits, &of, None, None), Ok(()));
        assert!(check(Action::FindHits, &[1, 1], None, None).is_err());
        assert_eq!(check(Action::FindMisses, &[u32::MAX; 2], None, None), Ok(()));
        assert!(check(Action::FindMisses, &[u32::MAX, 1], None, None).is_err());
    }

    #[test]
    fn mixed_batches_write_what_the_table_had() {
        let of = [0, 1].map(|query| shuffled(query, 2) + 1);
        assert_eq!(check(Action::Mixed, &of, Some(&[3]), Some(0)), Ok(()));
        assert!(check(Action::Mixed, &[7, 8], Some(&[3]), Some(0)).is_err(), "the values of the batch");
        assert!(check(Action::Mixed, &of, Some(&[1]), Some(0)).is_err());
    }

    #[test]
    fn keys_without_a_bit_are_absent() {
        let check = |results: &[u32], found: u32| {
            let mut contents = contents(Action::Insert, results, Some(&[found]), Some(0));
            contents.inputs.resize(STENCIL, None);
            contents.inputs.push(Some(Arc::new(vec![0xfffe])));
            super::check(&Hashing::new(HasherInfo::pairs(), Action::Insert).stencil(), 2, &contents)
        };
        assert_eq!(check(&[u32::MAX, 8], 2), Ok(()));
        assert!(check(&[7, 8], 3).is_err());
        assert!(check(&[u32::MAX; 2], 0).is_err());
    }

    #[test]
    fn erased_keys_are_gone_and_others_stay() {
        let mut results = [1, 2, 3, 4];
        let mut found = 0xf;
        for index in [0, 1].map(|index| shuffled(index, 4)) {
            results[index as usize] = u32::MAX;
            found &= !(1 << index);
        }
        assert_eq!(check(Action::EraseHalf, &results, Some(&[found]), None), Ok(()));
        assert!(check(Action::EraseHalf, &[1, 2, 3, 4], Some(&[0xf]), None).is_err());
        assert!(check(Action::EraseHalf, &[u32::MAX; 4], Some(&[0]), None).is_err());
    }

    #[test]
    fn keys_are_erased_by_their_values() {
        let kept = MOST_SELECTED + 1;
        assert_eq!(check(Action::EraseIf, &[u32::MAX, kept], Some(&[2]), None), Ok(()));
        assert_eq!(check(Action::EraseIf, &[MOST_SELECTED, kept], Some(&[3]), None), Err("key 0 is found".into()));
        assert_eq!(check(Action::EraseIf, &[u32::MAX; 2], Some(&[0]), None), Err("key 1 is missing".into()));
    }

    #[test]
    fn moved_keys_keep_their_values() {
        assert_eq!(check(Action::Rehash, &[1, 2], Some(&[3]), Some(0)), Ok(()));
        assert!(check(Action::Rehash, &[2, 1], Some(&[3]), Some(0)).is_err());
        assert!(check(Action::Rehash, &[1, 2], Some(&[2]), Some(0)).is_err());
        assert!(check(Action::Rehash, &[1, 2], Some(&[3]), Some(1)).is_err());
    }

    #[test]
    fn resized_tables_have_all_keys_and_the_expected_slots() {
        let check = |action, results: &[u32], numbers: [u32; 2]| {
            let mut contents = contents(action, results, Some(&[3]), Some(0));
            let mut statistics = vec![0; size_of::<HashStatistics>() / 4];
            (statistics[0], statistics[2]) = numbers.into();
            contents.tables.push(Some(statistics));
            super::check(&Hashing::new(HasherInfo::pairs().resizable(), action), 2, &contents)
        };
        for (action, slots, others) in [(Action::Grow, 2048, 1024), (Action::StayAsIs, 1024, 2048)] {
            assert_eq!(check(action, &[1, 2], [2, slots]), Ok(()));
            assert_eq!(check(action, &[1, 2], [2, others]), Err(format!("the table has {others} slots, not {slots}")));
            assert_eq!(check(action, &[1, 2], [3, slots]), Err("the table has 3 keys, not 2".into()));
            assert!(check(action, &[1, 1], [2, slots]).is_err());
        }
    }

    #[test]
    fn cleared_tables_have_ones_in_all_slots() {
        let mut words = vec![0; HEADER_WORDS + 16];
        words[SLICES] = 1;
        words.extend([u32::MAX; 8]);
        assert_eq!(check_empty(&words), Ok(()));
        for wrong in [HEADER_WORDS, HEADER_WORDS + 19] {
            let mut words = words.clone();
            words[wrong] = 5;
            assert!(check_empty(&words).is_err());
        }
    }
}
