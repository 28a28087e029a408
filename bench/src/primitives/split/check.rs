//! Checks of splits against the CPU.

use super::buckets::{bucket, bucket_counts};
use super::info::items;
use crate::arrays::Contents;
use crate::verify::{Column, Comparison, in_parallel};
use std::ops::Range;
use trommel::{SplitOutput, SplitterInfo};

/// The content of a bucket table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BucketTable {
    /// The start of each bucket, and the end of the last.
    Offsets,
    /// The number of items in each bucket.
    Counts,
}

impl BucketTable {
    /// Offsets, or counts where the output has no adjacent buckets.
    pub(super) fn of(info: &SplitterInfo) -> Self {
        match info.output {
            SplitOutput::Bucket(_) | SplitOutput::Counts => Self::Counts,
            _ => Self::Offsets,
        }
    }

    /// Compares the table of each problem.
    fn check(self, info: &SplitterInfo, comparison: &Comparison, found: &[u32]) -> Result<(), String> {
        let buckets = info.buckets as usize;
        if found.len() != (buckets + 1) * comparison.problems.len() {
            return Err(format!("{} words of {buckets} buckets", found.len()));
        }
        let (mut expected, what) = (Vec::new(), if self == Self::Counts { "count" } else { "offset" });
        for problem in &comparison.problems {
            let counts = &bucket_counts(info, comparison.keys()?, problem.clone())[..buckets];
            match self {
                Self::Counts => expected.extend(counts),
                Self::Offsets => {
                    let ends = counts.iter().scan(problem.start, |end, count| {
                        *end += count;
                        Some(*end)
                    });
                    expected.extend(std::iter::once(problem.start).chain(ends));
                }
            }
        }
        let mut pairs = found.iter().zip(&expected).enumerate();
        match pairs.find(|(_, (found, expected))| found != expected) {
            Some((index, (found, expected))) => Err(format!("{what} {index} is {found}, not {expected}")),
            None => Ok(()),
        }
    }
}

/// Checks the items, and the bucket table if there is one. Only a stable split passes.
pub(super) fn check(
    info: &SplitterInfo,
    problems: Vec<Range<u32>>,
    contents: &Contents,
    table: Option<&[u32]>,
) -> Result<(), String> {
    let comparison = items(info).compare(problems, contents)?;
    let keys = comparison.keys()?;
    let bucket = |index: u32| bucket(info, keys.item(index as usize));
    match info.output {
        SplitOutput::Bucket(one) => comparison.check_selected(|index| bucket(index) == one)?,
        SplitOutput::Counts => {}
        SplitOutput::Ranks => check_ranks(&comparison, info.buckets, bucket)?,
        // `starts_in_reverse` places the last bucket first.
        SplitOutput::Placed => comparison.check_order(|index| info.buckets - bucket(index))?,
        _ => comparison.check_order(bucket)?,
    }
    table.map_or(Ok(()), |table| BucketTable::of(info).check(info, &comparison, table))
}

/// Checks that each rank is the number of earlier items of the same bucket.
fn check_ranks(comparison: &Comparison, buckets: u32, bucket: impl Fn(u32) -> u32) -> Result<(), String> {
    let found = comparison.output.values.as_ref().ok_or("no ranks")?;
    comparison.problems.iter().try_for_each(|problem| {
        let mut next = vec![0u32; buckets as usize + 1];
        problem.clone().try_for_each(|index| {
            let expected = &mut next[bucket(index) as usize];
            let rank = found.item(index as usize).next().unwrap_or(u32::MAX);
            if rank != *expected {
                return Err(format!("rank {index} is {rank}, not {expected}"));
            }
            *expected += 1;
            Ok(())
        })
    })
}

/// Checks that buckets are in order, and that input and output have the same items. Items of a bucket may have any
/// order. Keys and values are words.
pub(super) fn check_unordered(info: &SplitterInfo, n: u32, contents: &Contents) -> Result<(), String> {
    let problem = 0..n;
    let comparison = items(info).compare(vec![problem.clone()], contents)?;
    let columns = [&comparison.input, &comparison.output];
    let [Some(input), Some(found)] = columns.map(|columns| Some((columns.keys.as_ref()?, columns.values.as_ref())))
    else {
        return Err("no keys".into());
    };
    let bucket = |index: u32| bucket(info, found.0.item(index as usize));
    if let Some(index) = problem.clone().skip(1).find(|index| bucket(index - 1) > bucket(*index)) {
        return Err(format!("bucket {} comes before {} at {index}", bucket(index - 1), bucket(index)));
    }
    let sorted = in_parallel([input, found].into_iter().map(|(keys, values)| {
        let problem = problem.clone();
        move || {
            let word = |column: &Column, index: u32| u64::from(column.item(index as usize).next().unwrap_or(0));
            let item = |index| word(keys, index) << 32 | values.map_or(0, |values| word(values, index));
            let mut items: Vec<u64> = problem.map(item).collect();
            items.sort_unstable();
            items
        }
    }));
    match sorted[0].iter().zip(&sorted[1]).find(|(input, found)| input != found) {
        Some((input, found)) => {
            let (number, what) = if input < found { (input, "missing") } else { (found, "no item of the input") };
            Err(format!("{number:#018x} is {what}"))
        }
        None => Ok(()),
    }
}

/// Starts that place buckets in reverse order: far from the offsets that other outputs would have.
pub(super) fn starts_in_reverse(info: &SplitterInfo, keys: &Column, n: u32) -> Vec<u32> {
    let mut starts = bucket_counts(info, keys, 0..n);
    starts.truncate(info.buckets as usize);
    let mut next = 0;
    for start in starts.iter_mut().rev() {
        let count = std::mem::replace(start, next);
        next += count;
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use trommel::BucketFunction;

    /// Buckets 1, 0, 2, 0 and 1 of three.
    const KEYS: [u32; 5] = [0x6000_0000, 5, 0xffff_ffff, 3, 0x5555_5556];
    const VALUES: [u32; 5] = [10, 11, 12, 13, 14];

    fn contents(keys: Option<&[u32]>, values: Option<&[u32]>) -> Contents {
        let array = |words: &[u32]| Arc::new(words.to_vec());
        let inputs = vec![Some(array(&KEYS)), Some(array(&VALUES))];
        Contents { inputs, outputs: vec![keys.map(array), values.map(array)], tables: vec![Some(Vec::new())] }
    }

    #[test]
    fn splits_are_in_the_order_of_buckets_with_their_offsets() {
        let split = |keys: &[u32], values: &[u32], offsets: &[u32]| {
            let info = SplitterInfo::pairs(3, BucketFunction::Range);
            check(&info, vec![Range { start: 0, end: 5 }], &contents(Some(keys), Some(values)), Some(offsets))
        };
        let (keys, values) = ([5, 3, 0x6000_0000, 0x5555_5556, 0xffff_ffff], [11, 13, 10, 14, 12]);
        assert_eq!(split(&keys, &values, &[0, 2, 4, 5]), Ok(()));
        assert_eq!(split(&keys, &values, &[0, 2, 4, 4]), Err("offset 3 is 4, not 5".into()));
        assert_eq!(split(&keys, &values, &[0, 2, 4]), Err("3 words of 3 buckets".into()));
        let sorted = [3, 5, 0x5555_5556, 0x6000_0000, 0xffff_ffff];
        assert!(split(&sorted, &[13, 11, 14, 10, 12], &[0, 2, 4, 5]).is_err(), "sorted, not stable");
    }

    fn keys_as(output: SplitOutput, keys: Option<&[u32]>, values: Option<&[u32]>, table: &[u32]) -> Result<(), String> {
        let info =
            SplitterInfo { drop_keys: keys.is_none(), ..SplitterInfo::keys(3, BucketFunction::Range).output(output) };
        check(&info, vec![Range { start: 0, end: 5 }], &contents(keys, values), Some(table))
    }

    #[test]
    fn one_bucket_alone_is_compared() {
        let one = |keys: &[u32], counts: &[u32]| keys_as(SplitOutput::Bucket(1), Some(keys), Some(&VALUES), counts);
        let without_values = |keys: &[u32], counts: &[u32]| keys_as(SplitOutput::Bucket(1), Some(keys), None, counts);
        assert_eq!(
            without_values(&[0x6000_0000, 0x5555_5556, 7, 7, 7], &[2, 2, 1, 7]),
            Ok(()),
            "later items do not matter"
        );
        assert!(one(&[0x6000_0000, 0x5555_5556, 7, 7, 7], &[2, 2, 1, 7]).is_err(), "values that keys do not have");
        assert!(without_values(&[0x5555_5556, 0x6000_0000, 7, 7, 7], &[2, 2, 1, 7]).is_err(), "not stable");
        assert_eq!(
            without_values(&[0x6000_0000, 0x5555_5556, 7, 7, 7], &[2, 3, 1, 7]),
            Err("count 1 is 3, not 2".into())
        );
    }

    #[test]
    fn placed_buckets_are_in_reverse_order() {
        let placed = |keys: &[u32]| keys_as(SplitOutput::Placed, Some(keys), None, &[0, 2, 4, 5]);
        assert_eq!(placed(&[0xffff_ffff, 0x6000_0000, 0x5555_5556, 5, 3]), Ok(()));
        assert!(placed(&[5, 3, 0x6000_0000, 0x5555_5556, 0xffff_ffff]).is_err());
        let keys = Column { words: Arc::new(KEYS.to_vec()), first: 0, stride: 4, size: 4 };
        assert_eq!(starts_in_reverse(&SplitterInfo::keys(3, BucketFunction::Range), &keys, 5), [3, 1, 0]);
    }

    #[test]
    fn counts_and_ranks_are_checked() {
        assert_eq!(keys_as(SplitOutput::Counts, None, None, &[2, 2, 1, 7]), Ok(()));
        assert!(keys_as(SplitOutput::Counts, None, None, &[2, 1, 2, 7]).is_err());
        let ranks = |ranks: &[u32]| keys_as(SplitOutput::Ranks, None, Some(ranks), &[0, 2, 4, 5]);
        assert_eq!(ranks(&[0, 0, 0, 1, 1]), Ok(()));
        assert_eq!(ranks(&[0, 0, 0, 1, 0]), Err("rank 4 is 0, not 1".into()));
    }

    #[test]
    fn unordered_buckets_must_be_complete() {
        let grouped = |keys: &[u32], values: &[u32]| {
            check_unordered(&SplitterInfo::pairs(3, BucketFunction::Range), 5, &contents(Some(keys), Some(values)))
        };
        assert_eq!(grouped(&[3, 5, 0x5555_5556, 0x6000_0000, 0xffff_ffff], &[13, 11, 14, 10, 12]), Ok(()));
        let crossed = grouped(&[3, 0x6000_0000, 5, 0x5555_5556, 0xffff_ffff], &[13, 10, 11, 14, 12]);
        assert_eq!(crossed, Err("bucket 1 comes before 0 at 2".into()));
        let twice = grouped(&[3, 3, 0x5555_5556, 0x6000_0000, 0xffff_ffff], &[13, 13, 14, 10, 12]);
        assert_eq!(twice, Err("0x000000030000000d is no item of the input".into()));
        let lost = grouped(&[5, 5, 0x5555_5556, 0x6000_0000, 0xffff_ffff], &[11, 11, 14, 10, 12]);
        assert_eq!(lost, Err("0x000000030000000d is missing".into()));
        assert!(
            grouped(&[3, 5, 0x5555_5556, 0x6000_0000, 0xffff_ffff], &[11, 13, 14, 10, 12]).is_err(),
            "values of other keys"
        );
    }
}
