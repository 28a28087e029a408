//! Checks of exported keys and values.

use super::action::{Action, Hashing};
use super::layout::{COUNT_OUT, EARLIER_KEYS, EARLIER_VALUES, KEYS, RESULTS, is_selected, table};
use crate::arrays::Contents;
use std::sync::Arc;

/// Checks that the exported pairs are those of the table of `n` keys, or those that their values select, in any order.
pub(super) fn check(work: &Hashing, n: u32, contents: &Contents) -> Result<(), String> {
    let pairs = |arrays: &[Option<Arc<Vec<u32>>>], numbers: [usize; 2], count: u32| -> Option<Vec<[u32; 2]>> {
        let [keys, values] = numbers.map(|number| arrays.get(number).cloned().flatten());
        let both = |(key, value): (&u32, &u32)| [*key, *value];
        Some(keys?.iter().zip(values?.iter()).take(count as usize).map(both).collect())
    };
    let count = *table(contents, COUNT_OUT).and_then(<[u32]>::first).ok_or("no count")?;
    let mut exported = pairs(&contents.outputs, [KEYS, RESULTS], count).ok_or("no pairs")?;
    let mut expected = pairs(&contents.inputs, [EARLIER_KEYS, EARLIER_VALUES], n).ok_or("no input")?;
    if expected.len() != n as usize {
        return Err(format!("{} pairs of input, not {n}", expected.len()));
    }
    if work.action == Action::ExportIf {
        expected.retain(|[_, value]| is_selected([*value].into_iter()));
    }
    if count as usize != expected.len() || exported.len() != expected.len() {
        return Err(format!("{count} pairs are exported, not {}", expected.len()));
    }
    exported.sort_unstable();
    expected.sort_unstable();
    match exported.iter().zip(&expected).find(|(pair, expected)| pair != expected) {
        Some((pair, expected)) => Err(format!("the pair {pair:#x?} is exported, not {expected:#x?}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::hash::layout::MOST_SELECTED;
    use trommel::HasherInfo;

    fn check(action: Action, values: &[u32], outputs: [&[u32]; 2], count: u32) -> Result<(), String> {
        let array = |words: &[u32]| Some(Arc::new(words.to_vec()));
        // A larger case has left its inputs.
        let inputs = vec![None, None, array(&[5, 6, 1]), array(values), None, None];
        let outputs = vec![array(outputs[0]), None, None, None, None, array(outputs[1])];
        let contents = Contents { inputs, outputs, tables: vec![None, None, None, None, Some(vec![count])] };
        super::check(&Hashing::new(HasherInfo::pairs(), action), 2, &contents)
    }

    #[test]
    fn exports_have_the_pairs_of_the_table_in_any_order() {
        let check = |keys: &[u32], values: &[u32], count| check(Action::Export, &[1, 2, 3], [keys, values], count);
        assert_eq!(check(&[6, 5], &[2, 1], 2), Ok(()));
        assert!(check(&[6, 5], &[1, 2], 2).is_err());
        assert!(check(&[6, 6], &[2, 2], 2).is_err());
        assert!(check(&[6], &[2], 2).is_err());
        assert_eq!(check(&[6, 5], &[2, 1], 1), Err("1 pairs are exported, not 2".into()));
    }

    #[test]
    fn selections_have_the_pairs_with_small_values() {
        let values = [MOST_SELECTED + 1, MOST_SELECTED, 0];
        let check = |keys: &[u32], found: &[u32], count| check(Action::ExportIf, &values, [keys, found], count);
        // The rest of the arrays keeps its content.
        assert_eq!(check(&[6, 9], &[MOST_SELECTED, 9], 1), Ok(()));
        assert!(check(&[5, 9], &[MOST_SELECTED + 1, 9], 1).is_err());
        assert!(check(&[6, 5], &[MOST_SELECTED, MOST_SELECTED + 1], 2).is_err());
        assert!(check(&[6, 9], &[MOST_SELECTED, 9], 0).is_err());
    }
}
