//! Sorts against the standard library's, in one buffer: guards around every array, poisoned scratch, every word compared.

use super::keys::Random;
use ash::vk;
use std::ops::Range;
use trommel::host::{Buffer, Context};
use trommel::{Count, Request, Result, STATUS_COUNT_CLAMPED, Scratch, SortInfo, Sorter, ValueType};

/// Where a count comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// All keys, as the host says.
    Host,
    /// A word of its own.
    Device(u32),
    /// A word that several jobs read; those of one slot agree on the value.
    Shared { slot: usize, value: u32 },
}

/// One sort.
#[derive(Clone)]
pub(crate) struct Job<'a> {
    pub(crate) sorter: &'a Sorter,
    /// As many as the maximum count.
    pub(crate) keys: Vec<u32>,
    pub(crate) count: Counted,
    pub(crate) status: bool,
}

impl<'a> Job<'a> {
    pub(crate) fn new(sorter: &'a Sorter, keys: Vec<u32>) -> Self {
        Self { sorter, keys, count: Counted::Host, status: false }
    }

    /// Counted on the device, with a status word.
    pub(crate) fn counted(self, count: Counted) -> Self {
        Self { count, status: true, ..self }
    }

    fn max(&self) -> u32 {
        u32::try_from(self.keys.len()).expect("tests are small")
    }

    fn has_values(&self) -> bool {
        self.sorter.info().value != ValueType::None
    }

    fn device_count(&self) -> Option<u32> {
        match self.count {
            Counted::Host => None,
            Counted::Device(value) | Counted::Shared { value, .. } => Some(value),
        }
    }

    /// Keys that are sorted; those behind them are left alone.
    fn sorted(&self) -> usize {
        self.device_count().unwrap_or(u32::MAX).min(self.max()) as usize
    }
}

/// What scratch holds before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Poison {
    Random(u64),
    Fill(u32),
}

/// Whether scratch is for one sort after the other or for all at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    Singles,
    Batch,
}

/// From this many jobs on, each kind of array lies by itself, in order, as parts of larger arrays do.
const MANY: usize = 32;

/// Memory for jobs.
pub(crate) struct Arena<'a> {
    context: &'a Context,
    jobs: &'a [Job<'a>],
    pub(crate) buffer: Buffer,
    pub(crate) infos: Vec<SortInfo>,
    pub(crate) scratch: Scratch,
    /// What scratch lies in, and what the other words are called, in order.
    scratch_words: Range<usize>,
    regions: Vec<(String, Range<usize>)>,
    before: Vec<u32>,
    expected: Vec<u32>,
}

struct Builder {
    before: Vec<u32>,
    expected: Vec<u32>,
    regions: Vec<(String, Range<usize>)>,
    random: Random,
}

impl Builder {
    fn guard(&mut self) {
        // An odd number of words, so that nothing is aligned to more than a word by chance alone.
        let words = 1 + 2 * self.random.below(3) as usize;
        let guard = self.random.words(words);
        self.add("guard".into(), &guard, &guard);
    }

    fn add(&mut self, name: String, before: &[u32], expected: &[u32]) -> usize {
        let start = self.before.len();
        self.before.extend_from_slice(before);
        self.expected.extend_from_slice(expected);
        self.regions.push((name, start..self.before.len()));
        start
    }
}

/// Adds one of a job's arrays.
type Step<'s> = &'s mut dyn FnMut(&mut Builder, usize, &mut Places);

/// First words of a job's arrays.
#[derive(Clone, Copy, Default)]
struct Places {
    keys: usize,
    values: usize,
    count: Option<usize>,
    status: Option<usize>,
}

impl<'a> Arena<'a> {
    pub(crate) fn new(context: &'a Context, jobs: &'a [Job<'a>], together: Together, poison: Poison) -> Self {
        let mut builder =
            Builder { before: Vec::new(), expected: Vec::new(), regions: Vec::new(), random: Random::new(jobs.len() as u64) };
        let mut places = vec![Places::default(); jobs.len()];
        let mut slots = Vec::new();
        let steps: [Step<'_>; 4] = [
            &mut |builder, i, places| places.keys = add_keys(builder, i, &jobs[i]),
            &mut |builder, i, places| places.values = add_values(builder, i, &jobs[i]),
            &mut |builder, i, places| places.count = add_count(builder, i, &jobs[i], &mut slots),
            &mut |builder, i, places| places.status = add_status(builder, i, &jobs[i]),
        ];
        if jobs.len() >= MANY {
            for step in steps {
                places.iter_mut().enumerate().for_each(|(i, places)| step(&mut builder, i, places));
            }
        } else {
            for (i, places) in places.iter_mut().enumerate() {
                for step in [0, 1, 2, 3] {
                    steps[step](&mut builder, i, places);
                }
            }
        }
        builder.guard();

        let scratch_size = scratch_size(jobs, together);
        let words = usize::try_from(scratch_size.div_ceil(4)).expect("tests are small");
        let poisoned = match poison {
            Poison::Random(seed) => Random::new(seed).words(words),
            Poison::Fill(word) => vec![word; words],
        };
        let scratch_start = builder.add("scratch".into(), &poisoned, &poisoned);
        builder.guard();

        let Builder { before, expected, regions, .. } = builder;
        let buffer = context.upload(&before).expect("test buffers fit");
        let at = |word: usize| buffer.address() + word as u64 * 4;
        let range = |word: usize, words: usize| trommel::Range::new(at(word), words as u64 * 4);
        let scratch = Scratch { buffer: buffer.handle(), offset: scratch_start as u64 * 4, size: scratch_size };
        let infos = jobs.iter().zip(&places).map(|(job, places)| SortInfo {
            count: places.count.map_or(Count::host(job.max()), |word| Count::device(at(word), job.max())),
            keys: range(places.keys, job.keys.len()),
            values: if job.has_values() { range(places.values, job.keys.len()) } else { trommel::Range::NONE },
            scratch,
            status: places.status.map_or(0, at),
            ..SortInfo::default()
        });
        let infos = infos.collect();
        let scratch_words = scratch_start..scratch_start + words;
        Self { context, jobs, infos, buffer, scratch, scratch_words, regions, before, expected }
    }

    pub(crate) fn requests(&self) -> Vec<Request<'a>> {
        self.jobs.iter().zip(&self.infos).map(|(job, info)| Request::Sort(job.sorter, *info)).collect()
    }

    /// Records the jobs, as one batch or one after the other with the barrier that the documentation asks for.
    pub(crate) fn record(&self, commands: vk::CommandBuffer, together: Together) -> Result<()> {
        match together {
            // SAFETY: the command buffer is recording; the arena outlives its execution.
            Together::Batch => unsafe { trommel::cmd_batch(commands, &self.requests(), self.scratch) },
            Together::Singles => self.jobs.iter().zip(&self.infos).enumerate().try_for_each(|(i, (job, info))| {
                if i != 0 {
                    barrier(self.context, commands);
                }
                // SAFETY: as above.
                unsafe { job.sorter.cmd_sort(commands, info) }
            }),
        }
    }

    /// Puts everything back as it was.
    pub(crate) fn reset(&self) {
        self.context.write(&self.buffer, &self.before).expect("the buffer is as large");
    }

    /// Compares every word that is not scratch.
    pub(crate) fn check(&self) {
        self.compare(&self.expected, "sorted");
    }

    /// Compares every word, scratch too, with what was there before.
    pub(crate) fn check_untouched(&self) {
        let found: Vec<u32> = self.context.download(&self.buffer, self.before.len()).expect("download");
        assert!(found == self.before, "something was recorded and has run");
    }

    fn compare(&self, expected: &[u32], what: &str) {
        let found: Vec<u32> = self.context.download(&self.buffer, expected.len()).expect("download");
        let differs = |i: &usize| found[*i] != expected[*i] && !self.scratch_words.contains(i);
        let Some(first) = (0..found.len()).find(differs) else { return };
        let (name, range) = self.regions.iter().find(|(_, range)| range.contains(&first)).expect("regions cover the arena");
        let wrong = range.clone().filter(differs).count();
        let window = |words: &[u32]| format!("{:x?}", &words[first..range.end.min(first + 8)]);
        panic!(
            "not {what}: {name} at {} of {}, {wrong} words wrong: found {}, expected {}",
            first - range.start,
            range.len(),
            window(&found),
            window(expected),
        );
    }
}

fn add_keys(builder: &mut Builder, i: usize, job: &Job<'_>) -> usize {
    builder.guard();
    let mut expected = job.keys.clone();
    expected[..job.sorted()].sort();
    builder.add(format!("keys of job {i}"), &job.keys, &expected)
}

fn add_values(builder: &mut Builder, i: usize, job: &Job<'_>) -> usize {
    builder.guard();
    if !job.has_values() {
        return 0;
    }
    // Rising, so that a swap of equal keys shows, and different from every other job's.
    let first = 0x0100_0000 * (i as u32 + 1);
    let values: Vec<u32> = (first..).take(job.keys.len()).collect();
    let mut order: Vec<usize> = (0..job.keys.len()).collect();
    order[..job.sorted()].sort_by_key(|i| job.keys[*i]);
    let expected: Vec<u32> = order.iter().map(|i| values[*i]).collect();
    builder.add(format!("values of job {i}"), &values, &expected)
}

fn add_count(builder: &mut Builder, i: usize, job: &Job<'_>, slots: &mut Vec<(usize, usize)>) -> Option<usize> {
    let value = job.device_count()?;
    let shared = match job.count {
        Counted::Shared { slot, .. } => Some(slot),
        _ => None,
    };
    if let Some((_, word)) = slots.iter().find(|(slot, _)| Some(*slot) == shared) {
        return Some(*word);
    }
    builder.guard();
    let word = builder.add(format!("count of job {i}"), &[value], &[value]);
    slots.extend(shared.map(|slot| (slot, word)));
    Some(word)
}

fn add_status(builder: &mut Builder, i: usize, job: &Job<'_>) -> Option<usize> {
    if !job.status {
        return None;
    }
    builder.guard();
    let clamped = job.device_count().is_some_and(|count| count > job.max());
    let expected = if clamped { STATUS_COUNT_CLAMPED } else { 0 };
    Some(builder.add(format!("status of job {i}"), &[0xdead_beef], &[expected]))
}

fn scratch_size(jobs: &[Job<'_>], together: Together) -> u64 {
    match together {
        Together::Singles => {
            jobs.iter().map(|job| job.sorter.scratch_size(job.max()).expect("counts are small")).max().unwrap_or(0)
        }
        Together::Batch => {
            // Sizes are asked for before there are addresses, of the counts neither.
            let info = |job: &Job<'_>| SortInfo { count: Count::host(job.max()), ..SortInfo::default() };
            let requests: Vec<_> = jobs.iter().map(|job| (job, info(job))).collect();
            let requests: Vec<_> = requests.iter().map(|(job, info)| Request::Sort(job.sorter, *info)).collect();
            trommel::batch_scratch_size(&requests).expect("counts are small")
        }
    }
}

/// The barrier that a caller owes between two calls.
pub(crate) fn barrier(context: &Context, commands: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .dst_access_mask(vk::AccessFlags2::SHADER_STORAGE_READ | vk::AccessFlags2::SHADER_STORAGE_WRITE)];
    let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the command buffer is recording, outside a render pass.
    unsafe { context.vk().cmd_pipeline_barrier2(commands, &dependency) };
}

/// Runs the jobs once and checks them.
pub(crate) fn sort(context: &Context, jobs: &[Job<'_>], together: Together, poison: Poison) {
    let arena = Arena::new(context, jobs, together, poison);
    context.run(|commands| arena.record(commands, together)).expect("the jobs are valid");
    arena.check();
}
