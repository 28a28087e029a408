//! Outputs against the CPU's, in threads beside the measuring.

use std::ops::Range;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// An output, with what it came from.
pub(crate) struct Output {
    pub(crate) what: String,
    /// Each is a problem of its own.
    pub(crate) problems: Vec<Range<usize>>,
    /// A copy leaves the order as it is.
    pub(crate) is_sorted: bool,
    pub(crate) keys_in: Arc<Vec<u32>>,
    pub(crate) values_in: Option<Arc<Vec<u32>>>,
    pub(crate) keys: Vec<u32>,
    pub(crate) values: Option<Vec<u32>>,
}

impl Output {
    /// The whole output is determined: ascending keys, equal ones in the order of the input.
    fn check(&self) -> Result<(), String> {
        for problem in &self.problems {
            let places = self.sources(problem.clone());
            for (place, source) in problem.clone().zip(places) {
                let (found, expected) = (self.keys[place], self.keys_in[source]);
                if found != expected {
                    return Err(format!("{}: key {place} is {found:#010x}, not {expected:#010x}", self.what));
                }
                if let Some((values, values_in)) = self.values.as_ref().zip(self.values_in.as_ref())
                    && values[place] != values_in[source]
                {
                    let (found, expected) = (values[place], values_in[source]);
                    return Err(format!("{}: value {place} is {found:#010x}, not {expected:#010x}", self.what));
                }
            }
        }
        Ok(())
    }

    /// Which place of the input each place of the output comes from.
    fn sources(&self, problem: Range<usize>) -> Vec<usize> {
        if !self.is_sorted {
            return problem.collect();
        }
        // Key above place in one word: unstable sorting is stable then, and twice as fast.
        let mut sources: Vec<u64> = problem.map(|place| u64::from(self.keys_in[place]) << 32 | place as u64).collect();
        sources.sort_unstable();
        sources.into_iter().map(|source| (source & 0xffff_ffff) as usize).collect()
    }
}

/// Outputs being checked.
#[derive(Default)]
pub(crate) struct Verifier {
    running: Vec<JoinHandle<Result<(), String>>>,
    done: Vec<Result<(), String>>,
}

impl Verifier {
    /// Takes an output; waits for an earlier one where every core is busy.
    pub(crate) fn take(&mut self, output: Output) {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        if self.running.len() >= threads {
            let oldest = self.running.remove(0);
            self.done.push(join(oldest));
        }
        self.running.push(thread::spawn(move || output.check()));
    }

    /// Waits for all; tells how many were right, and what was wrong.
    pub(crate) fn finish(self) -> (usize, Vec<String>) {
        let results: Vec<_> = self.done.into_iter().chain(self.running.into_iter().map(join)).collect();
        let wrong: Vec<String> = results.iter().filter_map(|result| result.clone().err()).collect();
        (results.len() - wrong.len(), wrong)
    }
}

fn join(thread: JoinHandle<Result<(), String>>) -> Result<(), String> {
    thread.join().unwrap_or_else(|_| Err("a check did not end".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(keys: &[u32], values: &[u32]) -> Output {
        Output {
            what: "test".into(),
            problems: vec![0..3, 3..5],
            is_sorted: true,
            keys_in: Arc::new(vec![2, 1, 2, 1, 0]),
            values_in: Some(Arc::new(vec![10, 11, 12, 13, 14])),
            keys: keys.to_vec(),
            values: Some(values.to_vec()),
        }
    }

    #[test]
    fn right_and_wrong_are_told_apart() {
        assert_eq!(output(&[1, 2, 2, 0, 1], &[11, 10, 12, 14, 13]).check(), Ok(()));
        let unstable = output(&[1, 2, 2, 0, 1], &[11, 12, 10, 14, 13]).check().unwrap_err();
        assert_eq!(unstable, "test: value 1 is 0x0000000c, not 0x0000000a");
        let crossed = output(&[0, 1, 1, 2, 2], &[14, 11, 13, 10, 12]).check();
        assert!(crossed.is_err(), "problems are apart");
    }

    #[test]
    fn every_output_counts() {
        let mut verifier = Verifier::default();
        for _ in 0..100 {
            verifier.take(output(&[1, 2, 2, 0, 1], &[11, 10, 12, 14, 13]));
        }
        verifier.take(output(&[1, 2, 2, 1, 0], &[11, 10, 12, 13, 14]));
        let (right, wrong) = verifier.finish();
        assert_eq!((right, wrong.len()), (100, 1));
    }
}
