//! Compares outputs with the CPU's on all cores, while the GPU measures.

use std::ops::Range;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// The keys, or the values, in an array.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) words: Arc<Vec<u32>>,
    /// Byte offset of the first.
    pub(crate) first: usize,
    /// Bytes from one to the next.
    pub(crate) stride: usize,
    /// Bytes of one: 1, 2 or whole words.
    pub(crate) size: usize,
}

impl Column {
    /// The words of an item. Zeros pad the last word.
    pub(crate) fn item(&self, index: usize) -> impl Iterator<Item = u32> + use<'_> {
        let byte = self.first + index * self.stride;
        let (shift, bits) = (byte % 4 * 8, self.size.min(4) * 8);
        let words = &self.words[byte / 4..][..self.size.div_ceil(4)];
        words.iter().map(move |word| word >> shift & (u32::MAX >> (32 - bits)))
    }

    /// For messages: words in memory order.
    fn hex(words: impl Iterator<Item = u32>) -> String {
        words.map(|word| format!("{word:#010x}")).collect::<Vec<_>>().join(" ")
    }
}

/// The columns that an array of items has.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) keys: Option<Column>,
    pub(crate) values: Option<Column>,
}

/// Input and output of a case.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    /// The items of each problem. Problems are checked one by one.
    pub(crate) problems: Vec<Range<u32>>,
    /// Output values are indices of input items within their problem.
    pub(crate) values_are_indices: bool,
    pub(crate) input: Columns,
    pub(crate) output: Columns,
}

/// Fewer items than this are not worth a thread.
const CHUNK: usize = 1 << 16;

impl Comparison {
    /// The keys of the input.
    pub(crate) fn keys(&self) -> Result<&Column, String> {
        self.input.keys.as_ref().ok_or_else(|| "no keys".into())
    }

    /// Checks that items stay at their indices.
    pub(crate) fn check_copied(&self) -> Result<(), String> {
        self.problems
            .iter()
            .try_for_each(|problem| self.check_items(problem.start, problem.clone().zip(problem.clone())))
    }

    /// Checks that each problem begins with the items that `selected` accepts, in the order of the input.
    pub(crate) fn check_selected(&self, selected: impl Fn(u32) -> bool) -> Result<(), String> {
        self.problems.iter().try_for_each(|problem| {
            let sources = problem.clone().filter(|index| selected(*index));
            self.check_items(problem.start, problem.clone().zip(sources))
        })
    }

    /// Checks that each problem is sorted stably by `rank`, a function of the index of an input item.
    pub(crate) fn check_order<K: Copy + Ord + Send + Sync>(
        &self,
        rank: impl Fn(u32) -> K + Sync,
    ) -> Result<(), String> {
        self.problems.iter().try_for_each(|problem| self.check_problem_order(problem, &rank))
    }

    /// Sorts chunks by `rank`, one a core. Then each core merges a part of all chunks, and compares.
    fn check_problem_order<K: Copy + Ord + Send + Sync>(
        &self,
        problem: &Range<u32>,
        rank: &(impl Fn(u32) -> K + Sync),
    ) -> Result<(), String> {
        let chunk = chunk(problem.len());
        let starts = problem.clone().step_by(chunk);
        // The index below the rank makes an unstable sort stable.
        let runs: Vec<Vec<(K, u32)>> = in_parallel(starts.map(|start| {
            let end = problem.end;
            move || {
                let mut run: Vec<_> = (start..end).take(chunk).map(|index| (rank(index), index)).collect();
                run.sort_unstable();
                run
            }
        }));
        // As many parts as runs, split at items of the first run: nearly equal if the runs are alike.
        let parts = runs.len();
        let bounds = |run: &Vec<(K, u32)>| -> Vec<usize> {
            let first = &runs[0];
            let inner = (1..parts).map(|part| run.partition_point(|item| *item < first[first.len() * part / parts]));
            std::iter::once(0).chain(inner).chain([run.len()]).collect()
        };
        let bounds: Vec<Vec<usize>> = runs.iter().map(bounds).collect();
        let checks = (0..parts).map(|part| {
            let slices: Vec<_> =
                runs.iter().zip(&bounds).map(|(run, bounds)| &run[bounds[part]..bounds[part + 1]]).collect();
            let before: usize = bounds.iter().map(|bounds| bounds[part]).sum();
            // Fewer items lie before a part than there are in all.
            let indices = problem.start + u32::try_from(before).unwrap_or(u32::MAX)..problem.end;
            move || self.check_items(problem.start, indices.zip(merge(slices)))
        });
        in_parallel(checks).into_iter().collect()
    }

    /// Checks pairs of an output index and the index of the input item that belongs there. Values that are indices
    /// count from `start`.
    fn check_items(&self, start: u32, mut moves: impl Iterator<Item = (u32, u32)>) -> Result<(), String> {
        let wrong = |what, index, found, expected| Err(format!("{what} {index} is {found}, not {expected}"));
        let compare = |what, index: u32, found: &Column, source: u32, input: &Column| {
            let (found, expected) = (|| found.item(index as usize), || input.item(source as usize));
            if found().eq(expected()) {
                Ok(())
            } else {
                wrong(what, index, Column::hex(found()), Column::hex(expected()))
            }
        };
        moves.try_for_each(|(index, source)| {
            if let Some((found, input)) = self.output.keys.as_ref().zip(self.input.keys.as_ref()) {
                compare("key", index, found, source, input)?;
            }
            match (&self.output.values, &self.input.values) {
                (Some(found), _) if self.values_are_indices => {
                    let found = found.item(index as usize).next().unwrap_or(u32::MAX);
                    let expected = source - start;
                    if found == expected {
                        Ok(())
                    } else {
                        wrong("index", index, found.to_string(), expected.to_string())
                    }
                }
                (Some(found), Some(input)) => compare("value", index, found, source, input),
                _ => Ok(()),
            }
        })
    }
}

/// Indices in the order of the items of all `runs`, each of which is sorted.
fn merge<K: Copy + Ord>(mut runs: Vec<&[(K, u32)]>) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let least = runs.iter_mut().filter(|run| !run.is_empty()).min_by_key(|run| run[0])?;
        let (first, rest) = least.split_first()?;
        *least = rest;
        Some(first.1)
    })
}

/// Items that one core takes of `n`.
pub(crate) fn chunk(n: usize) -> usize {
    n.div_ceil(thread::available_parallelism().map_or(1, usize::from)).max(CHUNK)
}

/// Runs each of `jobs` on a thread and returns their results in order.
pub(crate) fn in_parallel<T: Send>(jobs: impl ExactSizeIterator<Item = impl FnOnce() -> T + Send>) -> Vec<T> {
    // A single job, as of each of many small problems, is not worth a thread.
    if jobs.len() == 1 {
        return jobs.map(|job| job()).collect();
    }
    thread::scope(|scope| {
        let threads: Vec<_> = jobs.map(|job| scope.spawn(job)).collect();
        // A panic of a thread continues in the caller.
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Runs checks one at a time: a check uses all cores, and as much memory as the case.
#[derive(Default)]
pub(crate) struct Verifier {
    running: Option<JoinHandle<Result<(), String>>>,
    right: usize,
    wrong: Vec<String>,
}

impl Verifier {
    /// Starts a check when the one before has ended.
    pub(crate) fn start(&mut self, check: impl FnOnce() -> Result<(), String> + Send + 'static) {
        self.wait();
        self.running = Some(thread::spawn(check));
    }

    fn wait(&mut self) {
        let Some(running) = self.running.take() else { return };
        match running.join().unwrap_or_else(|_| Err("a check did not end".into())) {
            Ok(()) => self.right += 1,
            Err(what) => self.wrong.push(what),
        }
    }

    /// Waits for all checks. Returns the number of right outputs, and the errors of the others.
    pub(crate) fn finish(mut self) -> (usize, Vec<String>) {
        self.wait();
        (self.right, self.wrong)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn column(words: &[u32]) -> Column {
        Column { words: Arc::new(words.to_vec()), first: 0, stride: 4, size: 4 }
    }

    /// Columns of words.
    pub(crate) fn columns(keys: Option<&[u32]>, values: Option<&[u32]>) -> Columns {
        Columns { keys: keys.map(column), values: values.map(column) }
    }

    const INPUT: [u32; 5] = [2, 1, 2, 1, 0];

    /// Two problems, of three items and of two.
    fn comparison(keys: &[u32], values: &[u32]) -> Comparison {
        Comparison {
            problems: vec![0..3, 3..5],
            values_are_indices: false,
            input: columns(Some(&INPUT), Some(&[10, 11, 12, 13, 14])),
            output: columns(Some(keys), Some(values)),
        }
    }

    fn is_sorted(keys: &[u32], values: &[u32]) -> Result<(), String> {
        comparison(keys, values).check_order(|index| INPUT[index as usize])
    }

    #[test]
    fn right_and_wrong_orders_are_distinguished() {
        assert_eq!(is_sorted(&[1, 2, 2, 0, 1], &[11, 10, 12, 14, 13]), Ok(()));
        let unstable = is_sorted(&[1, 2, 2, 0, 1], &[11, 12, 10, 14, 13]);
        assert_eq!(unstable, Err("value 1 is 0x0000000c, not 0x0000000a".into()));
        let lost = is_sorted(&[1, 2, 2, 1, 1], &[11, 10, 12, 14, 13]);
        assert_eq!(lost, Err("key 3 is 0x00000001, not 0x00000000".into()));
        assert!(is_sorted(&[0, 1, 1, 2, 2], &[14, 11, 13, 10, 12]).is_err(), "problems are separate");
    }

    #[test]
    fn copied_items_stay_at_their_indices() {
        let copied = |keys: &[u32]| comparison(keys, &[10, 11, 12, 13, 14]).check_copied();
        assert_eq!(copied(&[2, 1, 2, 1, 0]), Ok(()));
        assert!(copied(&[1, 2, 2, 1, 0]).is_err());
    }

    #[test]
    fn indices_count_from_the_problem() {
        let argsort = |indices: &[u32]| {
            let output = columns(None, Some(indices));
            Comparison { values_are_indices: true, output, ..comparison(&[], &[]) }
                .check_order(|index| INPUT[index as usize])
        };
        assert_eq!(argsort(&[1, 0, 2, 1, 0]), Ok(()));
        assert_eq!(argsort(&[1, 2, 0, 1, 0]), Err("index 1 is 2, not 0".into()));
    }

    #[test]
    fn narrow_and_interleaved_items_are_found() {
        let bytes = Column { words: Arc::new(vec![0x0403_0201, 0x05]), first: 0, stride: 1, size: 1 };
        assert!((0..5).map(|i| bytes.item(i).next()).eq((1..6).map(Some)));
        let items = Arc::new((0..6).collect::<Vec<_>>());
        let long = Column { words: items, first: 4, stride: 12, size: 8 };
        assert_eq!(long.item(1).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn one_wrong_item_among_many_is_found() {
        // Several chunks and many equal ranks.
        let n = (5u32 << 16) + 7;
        let keys: Vec<u32> = (0..n).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let rank = |index: u32| keys[index as usize] >> 8 & 0xfff;
        let mut order: Vec<u32> = (0..n).collect();
        order.sort_by_key(|index| rank(*index));
        let sorted: Vec<u32> = order.iter().map(|index| keys[*index as usize]).collect();
        let indices: Vec<u32> = (0..n).collect();
        let is_sorted = |found: &[u32], order: &[u32]| {
            let (input, output) = (columns(Some(&keys), Some(&indices)), columns(Some(found), Some(order)));
            Comparison { problems: vec![Range { start: 0, end: n }], values_are_indices: false, input, output }
                .check_order(rank)
        };
        assert_eq!(is_sorted(&sorted, &order), Ok(()));
        for wrong in [0, CHUNK, n as usize - 1] {
            let mut order = order.clone();
            order[wrong] ^= 1;
            assert!(is_sorted(&sorted, &order).is_err(), "value {wrong}");
            let mut sorted = sorted.clone();
            sorted[wrong] ^= 1;
            assert!(is_sorted(&sorted, &order).is_err(), "key {wrong}");
        }
    }

    #[test]
    fn every_check_counts() {
        let mut verifier = Verifier::default();
        for _ in 0..100 {
            verifier.start(|| Ok(()));
        }
        verifier.start(|| Err("wrong".into()));
        assert_eq!(verifier.finish(), (100, vec!["wrong".into()]));
    }
}
