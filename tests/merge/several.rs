//! Merges of more than two sequences, against the standard library's stable sort of all of them one behind the other.

use crate::common::arena::{Arena, Poison, Together, run_and_check};
use crate::common::contexts::{Setup, assert_silence, context};
use crate::common::items::Counted;
use crate::common::keys::{Bits, Keys, bytes_of, number};
use crate::common::problem::{Array, Places, Problem};
use crate::common::{brief, full, very_brief};
use crate::problem::Job;
use crate::recording::check_queries;
use crate::roles::ROLES;
use crate::{Case, SETUPS, sort};
use ash::vk;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use trommel::{
    Count, KeyType, Layout, MergeInfo, MergeSequence, Merger, MergerInfo, Order, Range, Request, Result,
    STATUS_COUNT_CLAMPED, Sorter, SorterInfo, ValueType, batch_scratch_size,
};

/// A merge of two to sixteen sequences.
#[derive(Clone)]
struct Several<'a> {
    merger: &'a Merger,
    /// The sorted keys of each sequence. Their numbers are the maximum counts.
    keys: Vec<Vec<Bits>>,
    counts: Vec<Counted>,
    status: bool,
    /// Whether the sequences are not sorted: the content of the outputs is undefined.
    unsorted: bool,
}

impl<'a> Several<'a> {
    fn new(merger: &'a Merger, mut keys: Vec<Vec<Bits>>) -> Self {
        let MergerInfo { key, order, .. } = *merger.info();
        keys.iter_mut().for_each(|keys| keys.sort_unstable_by_key(|bits| number(key, order, *bits)));
        let counts = vec![Counted::Host; keys.len()];
        Self { merger, keys, counts, status: false, unsorted: false }
    }

    fn draw(merger: &'a Merger, keys: Keys, counts: &[usize], seed: u64) -> Self {
        let draw = |(of, count): (usize, &usize)| keys.draw(merger.info().key, *count, seed + 31 * of as u64);
        Self::new(merger, counts.iter().enumerate().map(draw).collect())
    }

    /// The same merge with the counts of some sequences in device memory, and a status word.
    fn counted(mut self, counts: impl IntoIterator<Item = (usize, Counted)>) -> Self {
        counts.into_iter().for_each(|(of, count)| self.counts[of] = count);
        Self { status: true, ..self }
    }

    /// The same merge of sequences in any order.
    fn unsorted(self, keys: Vec<Vec<Bits>>) -> Self {
        Self { keys, unsorted: true, ..self }
    }

    /// Items of a sequence that are merged.
    fn count(&self, of: usize) -> usize {
        self.counts[of].on_device().map_or(usize::MAX, |count| count as usize).min(self.keys[of].len())
    }

    fn max(&self) -> usize {
        self.keys.iter().map(Vec::len).sum()
    }

    /// The sequence and the index there of each item of the output.
    fn order(&self) -> Vec<(usize, usize)> {
        let MergerInfo { key, order, .. } = *self.merger.info();
        let mut all: Vec<_> =
            (0..self.keys.len()).flat_map(|of| (0..self.count(of)).map(move |index| (of, index))).collect();
        all.sort_by_key(|(of, index)| number(key, order, self.keys[*of][*index]));
        all
    }

    fn is_clamped(&self) -> bool {
        let exceeds =
            |(count, keys): (&Counted, &Vec<Bits>)| count.on_device().is_some_and(|n| n as usize > keys.len());
        self.counts.iter().zip(&self.keys).any(exceeds)
    }

    /// The arrays of keys, of values, or of both interleaved: the size of an item, and the items of each sequence.
    fn columns(&self, problem: usize) -> Vec<(usize, Vec<Vec<u8>>)> {
        let info = self.merger.info();
        let (key_size, value_size) = (info.key.size() as usize, info.value.size() as usize);
        let keys: Vec<Vec<u8>> = self.keys.iter().map(|keys| bytes_of(keys, key_size)).collect();
        let mut next = 0x0100_0000_u32.wrapping_mul(problem as u32 + 1);
        let mut value = || {
            next = next.wrapping_add(1);
            next.to_le_bytes()
        };
        let mut values = |keys: &Vec<Bits>| (0..keys.len() * value_size / 4).flat_map(|_| value()).collect();
        let values: Vec<Vec<u8>> = self.keys.iter().map(&mut values).collect();
        if info.layout == Layout::Interleaved {
            let pairs = |(keys, values): (&Vec<u8>, &Vec<u8>)| {
                let pairs = keys.chunks_exact(key_size).zip(values.chunks_exact(value_size));
                pairs.flat_map(|(key, value)| [key, value].concat()).collect()
            };
            return vec![(key_size + value_size, keys.iter().zip(&values).map(pairs).collect())];
        }
        let mut columns = vec![(key_size, keys)];
        if value_size != 0 {
            columns.push((value_size, values));
        }
        columns
    }

    fn sequence(&self, of: usize, places: &Places) -> MergeSequence {
        let [keys, values, count] = ROLES[of];
        let count = places.count(count, self.keys[of].len() as u32);
        MergeSequence { count, keys: places.range(keys), values: places.range(values) }
    }

    /// The sequences after A and B stay for as long as the process.
    fn info(&self, places: &Places) -> MergeInfo<'static> {
        let all: Vec<_> = (0..self.keys.len()).map(|of| self.sequence(of, places)).collect();
        MergeInfo {
            count_a: all[0].count,
            keys_a: all[0].keys,
            values_a: all[0].values,
            count_b: all[1].count,
            keys_b: all[1].keys,
            values_b: all[1].values,
            more: all[2..].to_vec().leak(),
            keys_out: places.range("keys out"),
            values_out: places.range("values out"),
            scratch: places.scratch,
            status: places.address("status"),
            count_out: places.address("count out"),
            ..MergeInfo::default()
        }
    }
}

impl Problem for Several<'_> {
    fn arrays(&self, index: usize) -> Vec<Array> {
        let order = self.order();
        let mut all = Vec::new();
        for (nth, (size, items)) in self.columns(index).into_iter().enumerate() {
            all.extend(items.iter().zip(ROLES).map(|(items, roles)| Array::input(roles[nth], size, items.clone())));
            if nth == 0 && self.merger.info().drop_keys {
                continue;
            }
            let mut output = Array::input(["keys out", "values out"][nth], size, vec![0xcd; self.max() * size]);
            for (target, (of, index)) in output.expected.chunks_exact_mut(size).zip(&order) {
                target.copy_from_slice(&items[*of][index * size..][..size]);
            }
            output.undefined = if self.unsorted { order.len() } else { 0 };
            all.push(output);
        }
        all.extend(self.counts.iter().zip(ROLES).filter_map(|(count, roles)| count.array(roles[2])));
        if self.status {
            all.push(Array::status(if self.is_clamped() { STATUS_COUNT_CLAMPED } else { 0 }));
            all.push(Array::results("count out", &[order.len() as u32]));
        }
        all
    }

    fn scratch_size(&self) -> u64 {
        self.merger.scratch_size(self.max() as u32).expect("counts are small")
    }

    fn begins_with_transfer(&self) -> bool {
        self.keys.len() > 2
    }

    fn request(&self, places: &Places) -> Request<'_> {
        Request::Merge(self.merger, self.info(places))
    }

    unsafe fn record(&self, commands: vk::CommandBuffer, places: &Places) -> Result<()> {
        // SAFETY: as the caller's.
        unsafe { self.merger.cmd_merge(commands, &self.info(places)) }
    }
}

fn run(case: &Case, jobs: &[Several<'_>], seed: u64) {
    for together in [Together::Singles, Together::Batch] {
        run_and_check(&case.context, jobs, together, Poison::Random(seed));
    }
    assert_silence(&case.context);
}

const PAIRS: MergerInfo = MergerInfo::pairs().sequences(16);

/// Formats with keys of one word and of several, without values and with values of 4 to 36 bytes, in each layout.
const FORMATS: [MergerInfo; 8] = [
    PAIRS,
    MergerInfo::keys().sequences(16),
    MergerInfo { key: KeyType::I64, order: Order::Descending, ..PAIRS },
    MergerInfo { key: KeyType::F32, value: ValueType::Bytes(16), layout: Layout::Interleaved, ..PAIRS },
    MergerInfo { drop_keys: true, ..PAIRS },
    MergerInfo { key: KeyType::U32x4, ..MergerInfo::keys().sequences(16) },
    MergerInfo { key: KeyType::F64, value: ValueType::Bytes(36), drop_keys: true, ..PAIRS },
    MergerInfo { key: KeyType::U32x3, value: ValueType::Bytes(8), ..PAIRS },
];

/// Every number of sequences: of equal length, all with equal keys, of very unequal length, empty ones, and with all
/// keys behind those of the preceding one. Of equal keys, those of earlier sequences come first.
pub(crate) fn every_number_of_sequences() {
    let formats = if very_brief() {
        1
    } else if brief() {
        3
    } else {
        FORMATS.len()
    };
    for (nth, info) in FORMATS.into_iter().enumerate().take(formats) {
        let case = Case::new(SETUPS[(nth + 1) % 2], &info);
        // A few tiles; with tiny tiles, merges of one dispatch and of two.
        let n = (case.tile()[0] + 7).min(3000);
        let mut jobs = Vec::new();
        let draw = |keys: Keys, counts: &[usize], seed: usize| Several::draw(&case.merger, keys, counts, seed as u64);
        for k in (2..=16).filter(|k| nth == 0 || full() || (k + nth) % 3 == 0) {
            let uneven: Vec<usize> = (0..k).map(|of| if of % 5 == k % 5 { 3 * n } else { of * 37 % 90 }).collect();
            let some: Vec<usize> = (0..k).map(|of| if of * 7 % 3 == k % 3 { 0 } else { n / 3 + of }).collect();
            jobs.push(draw(Keys::Random, &vec![n; k], k));
            jobs.push(draw(Keys::Constant, &vec![n / 2 + k; k], 20 + k));
            jobs.push(draw(Keys::LowEntropy, &uneven, 40 + k));
            jobs.push(Several { status: true, ..draw(Keys::Special, &some, 60 + k) });
            let last: Vec<usize> = (0..k).map(|of| if of == k - 1 { n } else { 0 }).collect();
            jobs.push(draw(Keys::Random, &last, 80 + k));
        }
        let chain = |of: usize| (0..n / 4).map(|i| (of * n + i) as Bits).collect::<Vec<_>>();
        jobs.push(Several::new(&case.merger, (0..16).map(chain).collect()));
        jobs.push(Several::new(&case.merger, (0..13).rev().map(chain).collect()));
        jobs.push(draw(Keys::Random, &[0; 7], 1));
        jobs.push(Several { status: true, ..draw(Keys::Random, &[0; 9], 2) });
        run(&case, &jobs, nth as u64);
    }
}

/// Counts of any sequences on the device: below, at and above the maximum. A clamped count is flagged wherever its
/// sequence is first merged, and nothing past the counts is written.
pub(crate) fn counts_of_several_sequences() {
    for (setup, info) in SETUPS.into_iter().zip([FORMATS[1], PAIRS]) {
        let case = Case::new(setup, &info);
        let n = case.tile()[0].min(700) + 5;
        let most = n as u32;
        let mut jobs = Vec::new();
        for k in [3, 4, 5, 7, 10, 14, 16] {
            let job = |seed: usize| Several::draw(&case.merger, Keys::Random, &vec![n; k], seed as u64);
            // Each sequence alone is clamped; all others are below.
            for clamped in 0..k {
                let count = |of: usize| if of == clamped { most + 1 + of as u32 } else { most / 2 + of as u32 };
                jobs.push(job(clamped).counted((0..k).map(|of| (of, Counted::Device(count(of))))));
            }
            for count in [0, most, u32::MAX] {
                jobs.push(job(k).counted((0..k).map(|of| (of, Counted::Device(count)))));
                jobs.push(job(k + 1).counted((0..k).step_by(3).map(|of| (of, Counted::Device(count)))));
            }
            let shared = Counted::Shared { slot: 0, value: most - 2 };
            jobs.push(job(k + 2).counted((1..k).map(|of| (of, shared))));
        }
        jobs.push(Several::draw(&case.merger, Keys::Random, &[0; 5], 3).counted([(4, Counted::Device(1))]));
        run(&case, &jobs, 4);
    }
}

/// Batches of merges of two and of several sequences, of mergers for different numbers, and of sorts.
pub(crate) fn batches_of_several_sequences() {
    for (nth, setup) in SETUPS.into_iter().enumerate() {
        let case = Case::new(setup, &PAIRS);
        let device = case.context.device();
        let of_four = Merger::new(device, &MergerInfo::keys().sequences(4).batches()).expect("merger");
        let of_two = Merger::new(device, &MergerInfo::pairs().batches()).expect("merger");
        let sorter = Sorter::new(device, &SorterInfo::pairs().batches()).expect("sorter");
        let [tile, fused] = case.tile();
        let mut jobs: Vec<Box<dyn Problem>> = Vec::new();
        for (i, n) in [0, 5, tile / 2, 2 * tile, fused.min(8 * tile) + 1].into_iter().enumerate() {
            let counted = Counted::Shared { slot: 0, value: 600 };
            for k in [2, 3, 6, 11, 16] {
                let each = n / k + i;
                let job = Several::draw(&case.merger, Keys::LowEntropy, &vec![each; k], (k + i) as u64);
                jobs.push(Box::new(job.clone()));
                jobs.push(Box::new(job.counted([(k - 1, counted), (0, counted)])));
            }
            jobs.push(Box::new(Several::draw(&of_four, Keys::Random, &[n, n / 3, n / 2, 3], 9)));
            jobs.push(Box::new(Several::draw(&of_four, Keys::Random, &[n / 9, n, n], 10).counted([(2, counted)])));
            jobs.push(Box::new(Job::draw(&of_two, Keys::Random, [n, n / 2], 7).counted([counted, Counted::Host])));
            jobs.push(Box::new(sort::Job::draw(&sorter, Keys::Random, n, 8).counted(counted)));
        }
        let all = || jobs.iter().map(AsRef::as_ref);
        run_and_check(&case.context, all(), Together::Batch, Poison::Random(nth as u64));
        run_and_check(&case.context, all().rev(), Together::Batch, Poison::Random(8));
        assert_silence(&case.context);
    }
}

/// Sequences may be the same memory, and need not be sorted: nothing but the output is written.
pub(crate) fn sequences_of_any_content() {
    let case = Case::new(SETUPS[1], &FORMATS[1]);
    let n = 3 * case.tile()[0];
    let falling = || (0..n).rev().map(|i| i as Bits).collect::<Vec<_>>();
    let saw = |period: usize| (0..n).map(|i| (i % period) as Bits).collect::<Vec<_>>();
    let draw = |seed| Keys::Random.draw(KeyType::U32, n, seed);
    let jobs = [
        vec![falling(), falling(), falling()],
        vec![draw(1), saw(7), falling(), saw(n / 3), draw(2)],
        (0..16).map(draw).collect(),
    ];
    let any = |keys: Vec<Vec<Bits>>| {
        let job = Several::draw(&case.merger, Keys::Random, &vec![n; keys.len()], 1).unsorted(keys);
        job.counted([(1, Counted::Device(n as u32 - 1))])
    };
    run(&case, &jobs.map(any), 5);

    let keys = draw(3);
    let same = [Several::new(&case.merger, vec![keys; 5])];
    let arena = Arena::new(&case.context, &same, Together::Singles, Poison::Random(9));
    let info = same[0].info(&arena.places[0]);
    let a = MergeSequence { count: info.count_a, keys: info.keys_a, values: info.values_a };
    let info = MergeInfo { keys_b: a.keys, more: &[a; 3], ..info };
    // SAFETY: the command buffer is recording; the arena outlives its execution.
    case.context.run(|commands| unsafe { case.merger.cmd_merge(commands, &info) }).expect("the merge is valid");
    arena.check();
    assert_silence(&case.context);
}

/// Any number of sequences of any length, with any counts: every pipeline exists, and scratch suffices.
pub(crate) fn random_numbers_of_sequences() {
    let cases = if full() {
        300
    } else if brief() {
        4
    } else {
        24
    };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let most = prop_oneof![Just(3u32), Just(4), Just(5), Just(16)];
    let lengths = proptest::collection::vec((0..5u32, any::<u32>(), any::<u32>()), 2..=16);
    let drawn = (0..2usize, 0..2usize, most, lengths, 0..Keys::ALL.len(), any::<u64>());
    let ran = runner.run(&drawn, |(setup, kind, most, mut lengths, keys, seed)| {
        let items = [MergerInfo::keys(), MergerInfo { drop_keys: true, ..MergerInfo::pairs() }][kind];
        let case = Case::new(SETUPS[setup], &items.sequences(most));
        lengths.truncate(most as usize);
        let unit = case.tile()[0] as u32;
        let length = |(kind, any, _): &(u32, u32, u32)| match kind {
            0 => 0,
            1 => any % 9,
            2 => any % unit,
            3 => any % (3 * unit),
            _ => unit / 2,
        };
        let counts: Vec<usize> = lengths.iter().map(|drawn| length(drawn) as usize).collect();
        let job = Several::draw(&case.merger, Keys::ALL[keys], &counts, seed / 2);
        let on_device = lengths.iter().zip(&counts).enumerate().filter(|(_, ((kind, ..), _))| kind % 2 == 1);
        let on_device = on_device.map(|(of, ((_, _, any), n))| (of, Counted::Device(any % (*n as u32 + 3))));
        let counted = job.clone().counted(on_device.collect::<Vec<_>>());
        // Merges of any smaller number of sequences share the dispatches.
        let few = Several::draw(&case.merger, Keys::LowEntropy, &counts[..2.max(counts.len() / 2)], seed / 3);
        let jobs = [job, counted, few];
        run_and_check(&case.context, &jobs, Together::Singles, Poison::Random(seed));
        run_and_check(&case.context, &jobs, Together::Batch, Poison::Random(seed));
        assert_silence(&case.context);
        Ok(())
    });
    ran.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Every query is written, whatever the number of sequences: as many as the most sequences need.
pub(crate) fn timestamps_of_several_sequences() {
    let case = Case::new(SETUPS[1], &FORMATS[1]);
    let [tile, fused] = case.tile();
    // Four depths with one dispatch each, or with two; the status is checked beside the first one.
    for (n, queries) in [(tile / 2, 5), (fused + 17 * tile, 9)] {
        for k in [2, 3, 9, 16] {
            let mut counts = vec![n / k; k];
            counts[0] += n % k;
            let job = Several::draw(&case.merger, Keys::Random, &counts, 8);
            let jobs = [job.counted([(1, Counted::Device(7))])];
            assert_eq!(case.merger.timestamp_count(n as u32).expect("the count is small"), queries);
            let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(8));
            check_queries(&case, queries, &jobs[0].info(&arena.places[0]));
            arena.check();
        }
    }
    assert_silence(&case.context);
}

/// Invalid merges: their messages, and that nothing has been recorded.
pub(crate) fn refusals_of_several_sequences() {
    let context = context(Setup::Folded);
    let merger = |info: MergerInfo| Merger::new(context.device(), &info);
    let refused = merger(MergerInfo::pairs().sequences(17)).map(drop).map_err(|error| error.to_string());
    assert_eq!(refused, Err("sequenceCount 17 > 16, the most of one merge".into()));

    let case = Case::new(Setup::Folded, &MergerInfo { max_count: 100_000, ..MergerInfo::pairs().sequences(5) });
    let n = 300;
    let jobs = [Several::draw(&case.merger, Keys::Random, &[n; 5], 1).counted([(3, Counted::Device(5))])];
    let arena = Arena::new(&case.context, &jobs, Together::Singles, Poison::Random(1));
    let info = jobs[0].info(&arena.places[0]);
    let (bytes, all) = (4 * n as u64, 5 * n as u64);
    let required = case.merger.scratch_size(5 * n as u32).expect("few");
    assert!(required >= 2 * 8 * all, "two areas for all items");
    let change = |index: usize, change: &dyn Fn(&mut MergeSequence)| {
        let mut more = info.more.to_vec();
        change(&mut more[index]);
        MergeInfo { more: more.leak(), ..info }
    };
    let odd = |address: u64| format!("{address:#x} is not a multiple of 4");
    let (third, four) = (info.more[1], [MergeSequence::default(); 4]);
    let expected: Vec<(MergeInfo, String)> = vec![
        (
            MergeInfo { more: &four, ..info },
            "moreSequenceCount 4 > 3, the merger's sequenceCount without A and B".into(),
        ),
        (
            change(2, &|sequence| sequence.count = Count::host(99_000)),
            "countA.max + countB.max 100200 > 100000, the merger's maxCount".into(),
        ),
        (
            change(0, &|sequence| sequence.count = Count::host(u32::MAX)),
            "countA.max + countB.max 4294968495 > 4294967295, a 32-bit count".into(),
        ),
        (
            change(1, &|sequence| sequence.count.address += 2),
            format!("moreSequences.count.address {}", odd(third.count.address + 2)),
        ),
        (change(1, &|sequence| sequence.keys = Range::NONE), "moreSequences.keys.address is null".into()),
        (
            change(2, &|sequence| sequence.keys.size = bytes - 4),
            format!("moreSequences.keys.size {} < {bytes} required for maxCount {n}", bytes - 4),
        ),
        (
            change(1, &|sequence| sequence.values.address += 1),
            format!("moreSequences.values.address {}", odd(third.values.address + 1)),
        ),
        (
            MergeInfo { values_out: Range { size: 4 * all - 4, ..info.values_out }, ..info },
            format!("valuesOut.size {} < {} required for maxCount {all}", 4 * all - 4, 4 * all),
        ),
        (change(0, &|sequence| sequence.keys = info.keys_out), "keysOut and moreSequences.keys overlap".into()),
        (
            change(0, &|sequence| sequence.values.address = info.values_out.address + 4 * all - 4),
            "valuesOut and moreSequences.values overlap".into(),
        ),
        (MergeInfo { status: third.count.address, ..info }, "status and moreSequences.count overlap".into()),
        (MergeInfo { count_out: third.keys.address, ..info }, "countOut and moreSequences.keys overlap".into()),
        (
            MergeInfo { scratch: trommel::Scratch { size: required - 1, ..info.scratch }, ..info },
            format!("scratch.size {} < {required} required for maxCount {all}", required - 1),
        ),
    ];
    let wraps = batch_scratch_size(&[Request::Merge(&case.merger, expected[2].0)]);
    assert_eq!(wraps.map_err(|error| error.to_string()), Err(expected[2].1.clone()));
    let of_two = merger(MergerInfo::pairs()).expect("a merger");
    let run = case.context.run(|commands| {
        for (info, text) in &expected {
            // SAFETY: the command buffer is recording; refused calls record nothing.
            let refused = unsafe { case.merger.cmd_merge(commands, info) };
            assert_eq!(refused.map_err(|error| error.to_string()), Err(text.clone()));
        }
        // SAFETY: as above.
        let refused = unsafe { of_two.cmd_merge(commands, &info) }.map_err(|error| error.to_string());
        assert_eq!(refused, Err("moreSequenceCount 3 > 0, the merger's sequenceCount without A and B".into()));
        Ok(())
    });
    run.expect("an empty command buffer is submitted");
    arena.check_untouched();
    // In a batch, the output of one merge must not be a later sequence of another one.
    let other = change(0, &|sequence| sequence.keys = info.keys_out);
    let other = MergeInfo { keys_out: Range::new(1 << 40, 4 * all), values_out: Range::new(1 << 41, 4 * all), ..other };
    let other = MergeInfo { status: 0, count_out: 0, ..other };
    let requests = [Request::Merge(&case.merger, info), Request::Merge(&case.merger, other)];
    let run = case.context.run(|commands| {
        // SAFETY: as above.
        let refused = unsafe { trommel::cmd_batch(commands, &requests, info.scratch) };
        let message = refused.map_err(|error| error.to_string()).expect_err("they are not independent");
        assert!(message.contains("moreSequences.keys") && message.contains("keysOut"), "{message}");
        Ok(())
    });
    run.expect("an empty command buffer is submitted");
    arena.check_untouched();
    assert_silence(&case.context);
}
