//! Outputs against the CPU's, beside the measuring.

use crate::cases::{Items, range_width};
use std::ops::Range;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use trommel::{BucketFunction, KeyType, Order, SorterInfo, SplitOutput, SplitterInfo, ValueType};

/// The keys, or the values, in an array.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) words: Arc<Vec<u32>>,
    /// The byte where the first begins.
    pub(crate) first: usize,
    /// Bytes from one to the next.
    pub(crate) step: usize,
    /// Bytes: 1, 2 or whole words.
    pub(crate) size: usize,
}

impl Column {
    /// The words of one, the last filled up with zeros.
    fn item(&self, place: usize) -> impl Iterator<Item = u32> + use<'_> {
        let byte = self.first + place * self.step;
        let (shift, bits) = (byte % 4 * 8, self.size.min(4) * 8);
        let words = &self.words[byte / 4..][..self.size.div_ceil(4)];
        words.iter().map(move |word| word >> shift & (u32::MAX >> (32 - bits)))
    }

    /// For messages: words in the order in which they lie.
    fn hex(words: impl Iterator<Item = u32>) -> String {
        words.map(|word| format!("{word:#010x}")).collect::<Vec<_>>().join(" ")
    }
}

/// What there is of items.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) keys: Option<Column>,
    pub(crate) values: Option<Column>,
}

/// What the order of an output is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrangement {
    /// Items stay where they are.
    Copied,
    Sorted(SorterInfo),
    Split(SplitterInfo),
    /// Bucket by bucket, and in any order within each.
    Grouped(SplitterInfo),
}

/// What a split says of its buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// Where each begins, and the last ends.
    Offsets,
    /// How many items each has.
    Counts,
}

impl Told {
    /// What is asked for: of buckets that do not lie one behind the other, counts.
    pub(crate) fn by(info: &SplitterInfo) -> Self {
        match info.output {
            SplitOutput::Bucket(_) | SplitOutput::Counts => Self::Counts,
            _ => Self::Offsets,
        }
    }
}

/// An output, with what it came from.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) what: String,
    /// Each is arranged for itself.
    pub(crate) problems: Vec<Range<u32>>,
    pub(crate) items: Items,
    pub(crate) arrangement: Arrangement,
    pub(crate) input: Columns,
    pub(crate) found: Columns,
    /// What is said of the buckets, where that was asked for: a word for each, and one more.
    pub(crate) told: Option<Vec<u32>>,
}

/// Fewer items than this are not worth a thread.
const CHUNK: usize = 1 << 16;

impl Output {
    /// But for what is grouped in any order, the whole output is determined: keys in order, those of one rank in the order of the input.
    pub(crate) fn check(&self) -> Result<(), String> {
        let has_values = self.items.value != ValueType::None;
        let complete = self.found.keys.is_some() != self.items.drop_keys && self.found.values.is_some() == has_values;
        let nothing = self.found.keys.is_none() && self.found.values.is_none();
        if !complete || nothing && self.told.is_none() {
            return Err(format!("{}: part of the output is missing", self.what));
        }
        let keys = self.input.keys.as_ref().ok_or_else(|| format!("{}: no keys", self.what))?;
        let key = |place: u32| keys.item(place as usize);
        self.problems.iter().try_for_each(|problem| match &self.arrangement {
            Arrangement::Copied => self.check_part(problem.start, problem.clone().zip(problem.clone())),
            // Narrow words: most of the time goes into moving them.
            Arrangement::Sorted(info) if info.key.bits() <= 32 => {
                self.check_order(problem, |place| low_32(number(info, key(place))))
            }
            Arrangement::Sorted(info) if info.key.bits() <= 64 => {
                self.check_order(problem, |place| low_64(number(info, key(place))))
            }
            Arrangement::Sorted(info) => self.check_order(problem, |place| number(info, key(place))),
            Arrangement::Split(info) => {
                let bucket = |place| bucket(info, key(place));
                match info.output {
                    SplitOutput::Bucket(one) => {
                        let sources = problem.clone().filter(|place| bucket(*place) == one);
                        self.check_part(problem.start, problem.clone().zip(sources))
                    }
                    SplitOutput::Counts => Ok(()),
                    SplitOutput::Ranks => self.check_ranks(info, problem, bucket),
                    // The last bucket first: see `starts` of a job.
                    SplitOutput::Placed => self.check_order(problem, |place| info.buckets - bucket(place)),
                    _ => self.check_order(problem, bucket),
                }
            }
            Arrangement::Grouped(info) => self.check_groups(info, problem),
        })?;
        match (&self.arrangement, &self.told) {
            (Arrangement::Split(info), Some(told)) => self.check_told(info, keys, told),
            _ => Ok(()),
        }
    }

    /// Sorts by `rank` in chunks, one a core; then merges them, each core so many of the keys.
    fn check_order<K: Copy + Ord + Send + Sync>(&self, problem: &Range<u32>, rank: impl Fn(u32) -> K + Sync) -> Result<(), String> {
        let chunk = chunk(problem.len());
        let starts = problem.clone().step_by(chunk);
        // The place below the rank makes an unstable sort stable.
        let runs: Vec<Vec<(K, u32)>> = in_parallel(starts.map(|start| {
            let (rank, end) = (&rank, problem.end);
            move || {
                let mut run: Vec<_> = (start..end).take(chunk).map(|place| (rank(place), place)).collect();
                run.sort_unstable();
                run
            }
        }));
        // As many parts as runs, between items of the first run: close to equal where the runs are alike.
        let parts = runs.len();
        let bounds = |run: &Vec<(K, u32)>| -> Vec<usize> {
            let first = &runs[0];
            let inner = (1..parts).map(|part| run.partition_point(|item| *item < first[first.len() * part / parts]));
            std::iter::once(0).chain(inner).chain([run.len()]).collect()
        };
        let bounds: Vec<Vec<usize>> = runs.iter().map(bounds).collect();
        let checks = (0..parts).map(|part| {
            let slices: Vec<_> = runs.iter().zip(&bounds).map(|(run, bounds)| &run[bounds[part]..bounds[part + 1]]).collect();
            let before: usize = bounds.iter().map(|bounds| bounds[part]).sum();
            // The sum of what lies before is less than the count.
            let places = problem.start + u32::try_from(before).unwrap_or(u32::MAX)..problem.end;
            move || self.check_part(problem.start, places.zip(merge(slices)))
        });
        in_parallel(checks).into_iter().collect()
    }

    /// That each bucket begins where all before it end, and the last one ends where keys of no bucket begin; or that each has so many items.
    fn check_told(&self, info: &SplitterInfo, keys: &Column, found: &[u32]) -> Result<(), String> {
        let buckets = info.buckets as usize;
        if found.len() != (buckets + 1) * self.problems.len() {
            return Err(format!("{}: {} words of {buckets} buckets", self.what, found.len()));
        }
        let (mut expected, what) = (Vec::new(), if Told::by(info) == Told::Counts { "count" } else { "offset" });
        for problem in &self.problems {
            let counts = &bucket_counts(info, keys, problem.clone())[..buckets];
            match Told::by(info) {
                Told::Counts => expected.extend(counts),
                Told::Offsets => {
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
            Some((index, (found, expected))) => Err(format!("{}: {what} {index} is {found}, not {expected}", self.what)),
            None => Ok(()),
        }
    }

    /// That each place holds how many of its bucket come before it.
    fn check_ranks(&self, info: &SplitterInfo, problem: &Range<u32>, bucket: impl Fn(u32) -> u32) -> Result<(), String> {
        let Some(found) = &self.found.values else { return Err(format!("{}: no ranks", self.what)) };
        let mut next = vec![0u32; info.buckets as usize + 1];
        problem.clone().try_for_each(|place| {
            let expected = &mut next[bucket(place) as usize];
            let rank = found.item(place as usize).next().unwrap_or(u32::MAX);
            if rank != *expected {
                return Err(format!("{}: rank {place} is {rank}, not {expected}", self.what));
            }
            *expected += 1;
            Ok(())
        })
    }

    /// That buckets come in their order, and that items are those of the input, each as often. Keys and values of a word.
    fn check_groups(&self, info: &SplitterInfo, problem: &Range<u32>) -> Result<(), String> {
        let columns = [&self.input, &self.found].map(|columns| columns.keys.as_ref().map(|keys| (keys, columns.values.as_ref())));
        let [Some(input), Some(found)] = columns else { return Err(format!("{}: no keys", self.what)) };
        let bucket = |place: u32| bucket(info, found.0.item(place as usize));
        if let Some(place) = problem.clone().skip(1).find(|place| bucket(place - 1) > bucket(*place)) {
            return Err(format!("{}: bucket {} comes before {} at {place}", self.what, bucket(place - 1), bucket(place)));
        }
        let sorted = in_parallel([input, found].into_iter().map(|(keys, values)| {
            move || {
                let word = |column: &Column, place: u32| u64::from(column.item(place as usize).next().unwrap_or(0));
                let item = |place| word(keys, place) << 32 | values.map_or(0, |values| word(values, place));
                let mut items: Vec<u64> = problem.clone().map(item).collect();
                items.sort_unstable();
                items
            }
        }));
        match sorted[0].iter().zip(&sorted[1]).find(|(input, found)| input != found) {
            Some((input, found)) => {
                let (number, what) = if input < found { (input, "missing") } else { (found, "no item of the input") };
                Err(format!("{}: {number:#018x} is {what}", self.what))
            }
            None => Ok(()),
        }
    }

    /// That each place of the output holds what the place of the input does that comes with it. Places given as values count from `start`.
    fn check_part(&self, start: u32, mut moves: impl Iterator<Item = (u32, u32)>) -> Result<(), String> {
        let wrong = |what, place, found, expected| Err(format!("{}: {what} {place} is {found}, not {expected}", self.what));
        let compare = |what, place: u32, found: &Column, source: u32, input: &Column| {
            let (found, expected) = (|| found.item(place as usize), || input.item(source as usize));
            if found().eq(expected()) { Ok(()) } else { wrong(what, place, Column::hex(found()), Column::hex(expected())) }
        };
        let is_permutation = self.items.value == ValueType::Index;
        moves.try_for_each(|(place, source)| {
            if let Some((found, input)) = self.found.keys.as_ref().zip(self.input.keys.as_ref()) {
                compare("key", place, found, source, input)?;
            }
            match (&self.found.values, &self.input.values) {
                (Some(found), _) if is_permutation => {
                    let index = found.item(place as usize).next().unwrap_or(u32::MAX);
                    let expected = source - start;
                    if index == expected { Ok(()) } else { wrong("index", place, index.to_string(), expected.to_string()) }
                }
                (Some(found), Some(input)) => compare("value", place, found, source, input),
                _ => Ok(()),
            }
        })
    }
}

/// The key as an unsigned number that has its place in the order, of the bits that are sorted by.
fn number(info: &SorterInfo, words: impl Iterator<Item = u32>) -> u128 {
    let bits = info.key.bits();
    let ones = |bits: u32| u128::MAX >> (128 - bits);
    let most_significant_first = matches!(info.key, KeyType::U32x2 | KeyType::U32x3 | KeyType::U32x4);
    let mut number = words.zip(0u32..).fold(0, |number, (word, index)| {
        if most_significant_first { number << 32 | u128::from(word) } else { number | u128::from(word) << (32 * index) }
    });
    let sign = 1 << (bits - 1);
    match info.key {
        KeyType::I8 | KeyType::I16 | KeyType::I32 | KeyType::I64 => number ^= sign,
        // Negative floats rise as they fall.
        KeyType::F16 | KeyType::Bf16 | KeyType::F32 | KeyType::F64 => number ^= if number & sign != 0 { ones(bits) } else { sign },
        _ => {}
    }
    if info.order == Order::Descending {
        number ^= ones(bits);
    }
    let end_bit = if info.end_bit == 0 { bits } else { info.end_bit };
    (number & ones(end_bit)) >> info.begin_bit
}

/// How many items each bucket has, and those of none behind them.
pub(crate) fn bucket_counts(info: &SplitterInfo, keys: &Column, of: Range<u32>) -> Vec<u32> {
    let (bins, chunk, end) = (info.buckets as usize + 1, chunk(of.len()), of.end);
    let counts = in_parallel(of.step_by(chunk).map(|start| {
        move || {
            let mut counts = vec![0; bins];
            (start..end).take(chunk).for_each(|place| counts[bucket(info, keys.item(place as usize)) as usize] += 1);
            counts
        }
    }));
    (0..bins).map(|bin| counts.iter().map(|counts| counts[bin]).sum()).collect()
}

/// The bucket of a key; as many as there are buckets, where it lies in none.
fn bucket(info: &SplitterInfo, words: impl Iterator<Item = u32>) -> u32 {
    let of_bits =
        |begin_bit, end_bit| low_32(number(&SorterInfo { key: info.key, begin_bit, end_bit, ..SorterInfo::default() }, words));
    match info.function {
        BucketFunction::Bits { begin_bit } => {
            let bits = info.buckets.next_power_of_two().ilog2();
            of_bits(begin_bit, begin_bit + bits).min(info.buckets)
        }
        // Splitters lie where ranges begin.
        BucketFunction::Range | BucketFunction::Splitters => (of_bits(0, 0) / range_width(info)).min(info.buckets - 1),
        _ => info.buckets,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the caller knows that there are no higher bits")]
fn low_32(number: u128) -> u32 {
    number as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the caller knows that there are no higher bits")]
fn low_64(number: u128) -> u64 {
    number as u64
}

/// Places by rising items of all of `runs`, each of which rises.
fn merge<K: Copy + Ord>(mut runs: Vec<&[(K, u32)]>) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let least = runs.iter_mut().filter(|run| !run.is_empty()).min_by_key(|run| run[0])?;
        let (first, rest) = least.split_first()?;
        *least = rest;
        Some(first.1)
    })
}

/// Items that one core takes of so many.
fn chunk(n: usize) -> usize {
    n.div_ceil(thread::available_parallelism().map_or(1, usize::from)).max(CHUNK)
}

/// What each of `jobs` gives, in their order.
fn in_parallel<T: Send>(jobs: impl ExactSizeIterator<Item = impl FnOnce() -> T + Send>) -> Vec<T> {
    // One alone, as of each of many small problems, is not worth a thread.
    if jobs.len() == 1 {
        return jobs.map(|job| job()).collect();
    }
    thread::scope(|scope| {
        let threads: Vec<_> = jobs.map(|job| scope.spawn(job)).collect();
        // A panic goes on in who asked.
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Outputs being checked, one at a time: a check has all cores, and takes memory as large as the case.
#[derive(Default)]
pub(crate) struct Verifier {
    running: Option<JoinHandle<Result<(), String>>>,
    right: usize,
    wrong: Vec<String>,
}

impl Verifier {
    /// Takes an output, as soon as the one before has been checked.
    pub(crate) fn take(&mut self, output: Output) {
        self.wait();
        self.running = Some(thread::spawn(move || output.check()));
    }

    fn wait(&mut self) {
        let Some(running) = self.running.take() else { return };
        match running.join().unwrap_or_else(|_| Err("a check did not end".into())) {
            Ok(()) => self.right += 1,
            Err(what) => self.wrong.push(what),
        }
    }

    /// Waits for all; tells how many were right, and what was wrong.
    pub(crate) fn finish(mut self) -> (usize, Vec<String>) {
        self.wait();
        (self.right, self.wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::{Layout, Placement};

    fn column(words: &[u32]) -> Column {
        Column { words: Arc::new(words.to_vec()), first: 0, step: 4, size: 4 }
    }

    fn columns(keys: &[u32], values: &[u32]) -> Columns {
        Columns { keys: Some(column(keys)), values: Some(column(values)) }
    }

    const PAIRS: Items = Items {
        key: KeyType::U32,
        value: ValueType::U32,
        drop_keys: false,
        layout: Layout::Separate,
        placement: Placement::Preserve,
    };

    fn output(keys: &[u32], values: &[u32]) -> Output {
        Output {
            what: "test".into(),
            problems: vec![0..3, 3..5],
            items: PAIRS,
            arrangement: Arrangement::Sorted(SorterInfo::pairs()),
            input: columns(&[2, 1, 2, 1, 0], &[10, 11, 12, 13, 14]),
            found: columns(keys, values),
            told: None,
        }
    }

    #[test]
    fn right_and_wrong_are_told_apart() {
        assert_eq!(output(&[1, 2, 2, 0, 1], &[11, 10, 12, 14, 13]).check(), Ok(()));
        let unstable = output(&[1, 2, 2, 0, 1], &[11, 12, 10, 14, 13]).check().unwrap_err();
        assert_eq!(unstable, "test: value 1 is 0x0000000c, not 0x0000000a");
        let lost = output(&[1, 2, 2, 1, 1], &[11, 10, 12, 14, 13]).check().unwrap_err();
        assert_eq!(lost, "test: key 3 is 0x00000001, not 0x00000000");
        let crossed = output(&[0, 1, 1, 2, 2], &[14, 11, 13, 10, 12]).check();
        assert!(crossed.is_err(), "problems are apart");
    }

    #[test]
    fn nothing_goes_unchecked() {
        let right = output(&[1, 2, 2, 0, 1], &[11, 10, 12, 14, 13]);
        let keys_only = Columns { values: None, ..right.found.clone() };
        assert_eq!(Output { found: keys_only, ..right }.check(), Err("test: part of the output is missing".into()));
    }

    #[test]
    fn what_is_copied_stays_where_it_is() {
        let copied = |keys: &[u32]| Output { arrangement: Arrangement::Copied, ..output(keys, &[10, 11, 12, 13, 14]) };
        assert_eq!(copied(&[2, 1, 2, 1, 0]).check(), Ok(()));
        assert!(copied(&[1, 2, 2, 1, 0]).check().is_err());
    }

    #[test]
    fn indices_count_from_the_problem() {
        let argsort = |indices: &[u32]| {
            let found = Columns { keys: None, values: Some(column(indices)) };
            let input = Columns { values: None, ..output(&[], &[]).input };
            let items = Items { value: ValueType::Index, drop_keys: true, ..PAIRS };
            Output { items, input, found, ..output(&[], &[]) }
        };
        assert_eq!(argsort(&[1, 0, 2, 1, 0]).check(), Ok(()));
        assert_eq!(argsort(&[1, 2, 0, 1, 0]).check(), Err("test: index 1 is 2, not 0".into()));
    }

    #[test]
    fn narrow_and_interleaved_items_are_found() {
        let bytes = Column { words: Arc::new(vec![0x0403_0201, 0x05]), first: 0, step: 1, size: 1 };
        assert!((0..5).map(|i| bytes.item(i).next()).eq((1..6).map(Some)));
        let items = Arc::new((0..6).collect::<Vec<_>>());
        let long = Column { words: items, first: 4, step: 12, size: 8 };
        assert_eq!(long.item(1).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn one_wrong_item_among_many_is_found() {
        // Several chunks, many equal keys, of which only the sorted bits count.
        let n = (5u32 << 16) + 7;
        let info = SorterInfo { begin_bit: 8, end_bit: 20, ..SorterInfo::pairs() };
        let keys: Vec<u32> = (0..n).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let mut order: Vec<u32> = (0..n).collect();
        order.sort_by_key(|i| keys[*i as usize] >> 8 & 0xfff);
        let sorted: Vec<u32> = order.iter().map(|i| keys[*i as usize]).collect();
        let made = |keys_found: &[u32], order: &[u32]| Output {
            what: "many".into(),
            problems: std::iter::once(0..n).collect(),
            items: PAIRS,
            arrangement: Arrangement::Sorted(info),
            input: columns(&keys, &(0..n).collect::<Vec<_>>()),
            found: columns(keys_found, order),
            told: None,
        };
        assert_eq!(made(&sorted, &order).check(), Ok(()));
        for wrong in [0, CHUNK, n as usize - 1] {
            let mut order = order.clone();
            order[wrong] ^= 1;
            assert!(made(&sorted, &order).check().is_err(), "value {wrong}");
            let mut sorted = sorted.clone();
            sorted[wrong] ^= 1;
            assert!(made(&sorted, &order).check().is_err(), "key {wrong}");
        }
    }

    #[test]
    fn splits_are_in_the_order_of_buckets_and_say_where_these_begin() {
        // Buckets 1, 0, 2, 0 and 1.
        let input = [0x6000_0000, 5, 0xffff_ffff, 3, 0x5555_5556];
        let split = |keys: &[u32], values: &[u32], offsets: &[u32]| Output {
            problems: std::iter::once(0..5).collect(),
            arrangement: Arrangement::Split(SplitterInfo::pairs(3, BucketFunction::Range)),
            input: columns(&input, &[10, 11, 12, 13, 14]),
            told: Some(offsets.to_vec()),
            ..output(keys, values)
        };
        let (keys, values) = ([5, 3, 0x6000_0000, 0x5555_5556, 0xffff_ffff], [11, 13, 10, 14, 12]);
        assert_eq!(split(&keys, &values, &[0, 2, 4, 5]).check(), Ok(()));
        assert_eq!(split(&keys, &values, &[0, 2, 4, 4]).check(), Err("test: offset 3 is 4, not 5".into()));
        assert_eq!(split(&keys, &values, &[0, 2, 4]).check(), Err("test: 3 words of 3 buckets".into()));
        let sorted = [3, 5, 0x5555_5556, 0x6000_0000, 0xffff_ffff];
        assert!(split(&sorted, &[13, 11, 14, 10, 12], &[0, 2, 4, 5]).check().is_err(), "sorted, not stable");
    }

    /// Buckets 1, 0, 2, 0 and 1 of three.
    const THREE: [u32; 5] = [0x6000_0000, 5, 0xffff_ffff, 3, 0x5555_5556];

    fn of_three(output_as: SplitOutput, keys: Option<&[u32]>, values: Option<&[u32]>, told: &[u32]) -> Result<(), String> {
        let info = SplitterInfo::keys(3, BucketFunction::Range).output(output_as);
        let value = if output_as == SplitOutput::Ranks { ValueType::Index } else { ValueType::None };
        Output {
            problems: std::iter::once(0..5).collect(),
            items: Items { value, drop_keys: keys.is_none(), ..Items::default() },
            arrangement: Arrangement::Split(info),
            input: Columns { values: None, ..columns(&THREE, &[]) },
            found: Columns { keys: keys.map(column), values: values.map(column) },
            told: Some(told.to_vec()),
            ..output(&[], &[])
        }
        .check()
    }

    #[test]
    fn one_bucket_alone_is_all_that_is_written() {
        let one = |keys: &[u32], counts: &[u32]| of_three(SplitOutput::Bucket(1), Some(keys), None, counts);
        assert_eq!(one(&[0x6000_0000, 0x5555_5556, 7, 7, 7], &[2, 2, 1, 7]), Ok(()), "what lies behind is of no matter");
        assert!(one(&[0x5555_5556, 0x6000_0000, 7, 7, 7], &[2, 2, 1, 7]).is_err(), "not stable");
        assert_eq!(one(&[0x6000_0000, 0x5555_5556, 7, 7, 7], &[2, 3, 1, 7]), Err("test: count 1 is 3, not 2".into()));
    }

    #[test]
    fn buckets_are_placed_the_last_one_first() {
        let placed = |keys: &[u32]| of_three(SplitOutput::Placed, Some(keys), None, &[0, 2, 4, 5]);
        assert_eq!(placed(&[0xffff_ffff, 0x6000_0000, 0x5555_5556, 5, 3]), Ok(()));
        assert!(placed(&[5, 3, 0x6000_0000, 0x5555_5556, 0xffff_ffff]).is_err());
    }

    #[test]
    fn counts_alone_are_checked_and_ranks_are() {
        assert_eq!(of_three(SplitOutput::Counts, None, None, &[2, 2, 1, 7]), Ok(()));
        assert!(of_three(SplitOutput::Counts, None, None, &[2, 1, 2, 7]).is_err());
        let ranks = |ranks: &[u32]| of_three(SplitOutput::Ranks, None, Some(ranks), &[0, 2, 4, 5]);
        assert_eq!(ranks(&[0, 0, 0, 1, 1]), Ok(()));
        assert_eq!(ranks(&[0, 0, 0, 1, 0]), Err("test: rank 4 is 0, not 1".into()));
    }

    #[test]
    fn groups_are_in_any_order_but_complete() {
        let grouped = |keys: &[u32], values: &[u32]| {
            let arrangement = Arrangement::Grouped(SplitterInfo::pairs(3, BucketFunction::Range));
            let (problems, input) = (std::iter::once(0..5).collect(), columns(&THREE, &[10, 11, 12, 13, 14]));
            Output { problems, arrangement, input, ..output(keys, values) }.check()
        };
        assert_eq!(grouped(&[3, 5, 0x5555_5556, 0x6000_0000, 0xffff_ffff], &[13, 11, 14, 10, 12]), Ok(()));
        let crossed = grouped(&[3, 0x6000_0000, 5, 0x5555_5556, 0xffff_ffff], &[13, 10, 11, 14, 12]);
        assert_eq!(crossed, Err("test: bucket 1 comes before 0 at 2".into()));
        let twice = grouped(&[3, 3, 0x5555_5556, 0x6000_0000, 0xffff_ffff], &[13, 13, 14, 10, 12]);
        assert_eq!(twice, Err("test: 0x000000030000000d is no item of the input".into()));
        let lost = grouped(&[5, 5, 0x5555_5556, 0x6000_0000, 0xffff_ffff], &[11, 11, 14, 10, 12]);
        assert_eq!(lost, Err("test: 0x000000030000000d is missing".into()));
        assert!(grouped(&[3, 5, 0x5555_5556, 0x6000_0000, 0xffff_ffff], &[11, 13, 14, 10, 12]).is_err(), "values go astray");
    }

    #[test]
    fn buckets_are_fields_or_ranges() {
        let field = |buckets, key| bucket(&SplitterInfo::keys(buckets, BucketFunction::Bits { begin_bit: 4 }), [key].into_iter());
        assert_eq!([field(4, 0x1ef), field(3, 0x12f), field(3, 0x13f)], [2, 2, 3], "a value that is no bucket lies behind");
        let range = |key| bucket(&SplitterInfo::keys(255, BucketFunction::Range), [key].into_iter());
        assert_eq!([range(0), range(u32::MAX)], [0, 254]);
        let long = SplitterInfo { key: KeyType::U64, ..SplitterInfo::keys(32, BucketFunction::Bits { begin_bit: 59 }) };
        assert_eq!(bucket(&long, [7, 0x1fff_ffff].into_iter()), 3);
    }

    #[test]
    fn numbers_have_the_order_of_their_keys() {
        let of = |key, words: &[u32]| number(&SorterInfo { key, ..SorterInfo::keys() }, words.iter().copied());
        let singles = [f32::NEG_INFINITY, -2.0, -0.0, 0.0, 1e-40, 3.0, f32::NAN];
        assert!(singles.is_sorted_by(|a, b| of(KeyType::F32, &[a.to_bits()]) < of(KeyType::F32, &[b.to_bits()])));
        let words = |wide: u64| [(wide & 0xffff_ffff) as u32, (wide >> 32) as u32];
        let doubles = [f64::NEG_INFINITY, -2.0, -1e-310, 0.0, 3.0, f64::NAN];
        assert!(doubles.is_sorted_by(|a, b| of(KeyType::F64, &words(a.to_bits())) < of(KeyType::F64, &words(b.to_bits()))));
        assert!(
            [-5i64, -1, 0, 1 << 40]
                .is_sorted_by(|a, b| { of(KeyType::I64, &words(a.cast_unsigned())) < of(KeyType::I64, &words(b.cast_unsigned())) })
        );
        assert!(of(KeyType::I8, &[0xff]) < of(KeyType::I8, &[0]), "-1 is less than 0");
        assert!(of(KeyType::U32x3, &[1, 9, 9]) < of(KeyType::U32x3, &[2, 0, 0]));
        assert!(of(KeyType::U64, &[0, 1]) > of(KeyType::U64, &[9, 0]));
        let descending = SorterInfo { order: Order::Descending, key: KeyType::U16, ..SorterInfo::keys() };
        assert_eq!(number(&descending, std::iter::once(1)), 0xfffe);
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
