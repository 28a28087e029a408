//! Jobs in one buffer: guards around every array, poisoned scratch, every byte compared.

pub(crate) use super::jobs::{Asked, Counted, Job, Mover};

use super::coverage;
use super::keys::Random;
use ash::vk;
use std::ops::Range;
use trommel::host::{Buffer, Context};
use trommel::{
    BucketFunction, Count, Layout, Placement, Request, Result, STATUS_COUNT_CLAMPED, STATUS_NO_BUCKET,
    STATUS_OUTPUT_CLAMPED, Scratch, Segments, SortInfo, SorterInfo, SplitInfo, ValueType,
};

/// Byte pattern of scratch before a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Poison {
    Random(u64),
    Fill(u32),
}

/// Whether jobs run one after the other in the same scratch, or together as a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    Singles,
    Batch,
}

/// From this many jobs on, arrays of the same role are consecutive in memory, as parts of one large array would be.
const MANY: usize = 32;

/// A buffer with the arrays of all jobs.
pub(crate) struct Arena<'a> {
    context: &'a Context,
    jobs: &'a [Job<'a>],
    pub(crate) buffer: Buffer,
    /// The arrays of items, as of a sort.
    pub(crate) infos: Vec<SortInfo>,
    /// Bucket information of splits: offsets, counts, commands.
    results: Vec<[trommel::Range; 3]>,
    /// Bucket ids or splitters.
    given: Vec<trommel::Range>,
    /// Bucket starts of the caller, for placed buckets.
    starts: Vec<trommel::Range>,
    pub(crate) scratch: Scratch,
    regions: Vec<Region>,
    before: Vec<u8>,
    expected: Vec<u8>,
}

/// A named range of bytes.
struct Region {
    name: String,
    bytes: Range<usize>,
    /// Whether the content after the run is undefined.
    free: bool,
}

struct Builder {
    before: Vec<u8>,
    expected: Vec<u8>,
    regions: Vec<Region>,
    random: Random,
}

impl Builder {
    /// Size of a guard: an odd number of bytes or words. So no array is aligned to more than its elements require.
    fn guard(&mut self, alignment: usize) {
        let units = 1 + 2 * self.random.below(3) as usize;
        let bytes = units * alignment + (alignment - self.before.len() % alignment) % alignment;
        let guard: Vec<u8> =
            self.random.words(bytes.div_ceil(4)).into_iter().flat_map(u32::to_le_bytes).take(bytes).collect();
        self.add("guard".into(), &guard, &guard, false);
    }

    fn add(&mut self, name: String, before: &[u8], expected: &[u8], free: bool) -> usize {
        let start = self.before.len();
        self.before.extend_from_slice(before);
        self.expected.extend_from_slice(expected);
        self.regions.push(Region { name, bytes: start..self.before.len(), free });
        start
    }

    fn noise(&mut self, bytes: usize) -> Vec<u8> {
        self.random.words(bytes.div_ceil(4)).into_iter().flat_map(u32::to_le_bytes).take(bytes).collect()
    }
}

/// An array of a job, with its content before the run and its expected content.
struct Array {
    name: &'static str,
    /// Size of an item and distance of neighboring items, in bytes.
    size: usize,
    stride: usize,
    alignment: usize,
    before: Vec<Vec<u8>>,
    /// For each index, the item that must be written, if any. None if the whole array must stay unchanged.
    written: Option<Vec<Option<Vec<u8>>>>,
    /// Whether the content after the run is undefined.
    free: bool,
}

impl Array {
    fn add(self, builder: &mut Builder, i: usize) -> usize {
        builder.guard(self.alignment);
        let bytes = if self.before.is_empty() { 0 } else { (self.before.len() - 1) * self.stride + self.size };
        let mut before = builder.noise(bytes);
        for (index, item) in self.before.iter().enumerate() {
            before[index * self.stride..][..self.size].copy_from_slice(item);
        }
        let mut expected = before.clone();
        let written = self.written.unwrap_or_default();
        for (index, item) in written.iter().enumerate().filter_map(|(index, item)| Some((index, item.as_ref()?))) {
            expected[index * self.stride..][..self.size].copy_from_slice(item);
        }
        let (name, end) =
            (format!("{} of job {i}", self.name), if self.free { written.len() * self.stride } else { 0 });
        let start = builder.add(name.clone(), &before[..end], &expected[..end], true);
        builder.add(name, &before[end..], &expected[end..], false);
        start
    }
}

/// The arrays of a job: keys and values, of input and output.
fn arrays(i: usize, job: &Job<'_>) -> [Option<Array>; 4] {
    let info: &SorterInfo = &job.mover.items();
    let (key_size, value_size) = (info.key.size() as usize, info.value.size() as usize);
    let n = job.keys.len();
    let keys: Vec<Vec<u8>> = job.keys.iter().map(|bits| bits.to_le_bytes()[..key_size].to_vec()).collect();
    // Ascending, so that a swap of equal keys is found. Distinct for all jobs and words.
    let ranks = if job.mover.ranks() { job.ranks() } else { Vec::new() };
    let value = |item: usize| -> Vec<u8> {
        if let Some(rank) = ranks.get(item) {
            return rank.to_le_bytes().to_vec();
        }
        if info.value == ValueType::Index {
            return (item as u32).to_le_bytes().to_vec();
        }
        let word = |w: usize| (0x0100_0000 * (i as u32 + 1)).wrapping_add((item * (value_size / 4) + w) as u32);
        (0..value_size / 4).flat_map(|w| word(w).to_le_bytes()).collect()
    };
    let values: Vec<Vec<u8>> = (0..n).map(value).collect();
    let order = job.order();
    let ordered =
        |items: &[Vec<u8>]| -> Vec<_> { order.iter().map(|from| from.map(|from| items[from].clone())).collect() };
    let noise = |size: usize| vec![vec![0xcd; size]; n];

    let (side, preserved) = (job.mover.result_side(), info.placement == Placement::Preserve);
    let second = info.placement != Placement::InPlace;
    let array = |name, items: Vec<Vec<u8>>, size: usize, alignment: usize, array_side: u32, dropped: bool| {
        let result = side == array_side;
        let touched = !(preserved && array_side == 0);
        let input = array_side == 0 && name != "indices";
        Array {
            name,
            size,
            stride: size,
            alignment,
            written: touched.then(|| ordered(&items)),
            before: if input { items } else { noise(size) },
            free: touched && (!result || dropped),
        }
    };
    let key_alignment = key_size.min(4);
    if info.layout == Layout::Interleaved {
        let items: Vec<Vec<u8>> =
            keys.iter().zip(&values).map(|(key, value)| [&key[..], &value[..]].concat()).collect();
        let size = key_size + value_size;
        let out = second.then(|| array("items out", items.clone(), size, 4, 1, false));
        return [Some(array("items", items, size, 4, 0, false)), None, out, None];
    }
    let mut key_array = array("keys", keys.clone(), key_size, key_alignment, 0, info.drop_keys);
    let mut value_array = (value_size != 0).then(|| array("values", values.clone(), value_size, 4, 0, false));
    if info.value == ValueType::Index {
        value_array = (!preserved).then(|| array("indices", values.clone(), value_size, 4, 0, false));
    }
    if info.layout == Layout::Strided {
        key_array.stride = key_stride(info) as usize;
        if let Some(values) = &mut value_array {
            values.stride = value_stride(info) as usize;
        }
    }
    let keys_out = (second && !(preserved && info.drop_keys))
        .then(|| array("keys out", keys, key_size, key_alignment, 1, info.drop_keys));
    let values_out = (second && value_size != 0).then(|| array("values out", values, value_size, 4, 1, false));
    [Some(key_array), value_array, keys_out, values_out]
}

/// Distance of strided keys. Narrow keys: 7 keys, so that keys occur at every byte of a word. Others: 5 more words, so
/// that items occur at every word of a cache line.
fn key_stride(info: &SorterInfo) -> u32 {
    let size = info.key.size();
    if size < 4 { 7 * size } else { size + 20 }
}

fn value_stride(info: &SorterInfo) -> u32 {
    info.value.size() + 12
}

/// Adds an array of a job.
type Step<'s> = &'s mut dyn FnMut(&mut Builder, usize, &mut JobOffsets);

/// Offsets of a job's arrays in the buffer.
#[derive(Clone, Copy, Default)]
struct JobOffsets {
    arrays: [Option<usize>; 4],
    count: Option<usize>,
    status: Option<usize>,
    offsets: Option<usize>,
    results: [Option<usize>; 3],
    given: Option<usize>,
    starts: Option<usize>,
}

impl<'a> Arena<'a> {
    pub(crate) fn new(context: &'a Context, jobs: &'a [Job<'a>], together: Together, poison: Poison) -> Self {
        let mut builder = Builder {
            before: Vec::new(),
            expected: Vec::new(),
            regions: Vec::new(),
            random: Random::new(jobs.len() as u64),
        };
        let mut job_offsets = vec![JobOffsets::default(); jobs.len()];
        let mut slots = Vec::new();
        let add_array = |which: usize| {
            move |builder: &mut Builder, i: usize, job_offsets: &mut JobOffsets| {
                let [keys, values, keys_out, values_out] = arrays(i, &jobs[i]);
                let array = [keys, values, keys_out, values_out].into_iter().nth(which).flatten();
                job_offsets.arrays[which] = array.map(|array| array.add(builder, i));
            }
        };
        let max_groups_x = context.device().profile().max_groups_x;
        let mut steps: [Step<'_>; 10] = [
            &mut add_array(0),
            &mut add_array(1),
            &mut add_array(2),
            &mut add_array(3),
            &mut |builder, i, job_offsets| job_offsets.count = add_count(builder, i, &jobs[i], &mut slots),
            &mut |builder, i, job_offsets| job_offsets.status = add_status(builder, i, &jobs[i]),
            &mut |builder, i, job_offsets| job_offsets.offsets = add_offsets(builder, i, &jobs[i]),
            &mut |builder, i, job_offsets| job_offsets.given = add_given(builder, i, &jobs[i]),
            &mut |builder, i, job_offsets| job_offsets.starts = add_starts(builder, i, &jobs[i]),
            &mut |builder, i, job_offsets| {
                job_offsets.results = jobs[i].results(max_groups_x).map(|words| add_result(builder, i, &words))
            },
        ];
        if jobs.len() >= MANY {
            for step in steps {
                job_offsets.iter_mut().enumerate().for_each(|(i, job_offsets)| step(&mut builder, i, job_offsets));
            }
        } else {
            for (i, job_offsets) in job_offsets.iter_mut().enumerate() {
                for step in &mut steps {
                    step(&mut builder, i, job_offsets);
                }
            }
        }
        builder.guard(4);

        let scratch_size = scratch_size(jobs, together);
        let bytes = usize::try_from(scratch_size.next_multiple_of(4)).expect("tests are small");
        let poisoned = match poison {
            Poison::Random(seed) => Random::new(seed).words(bytes / 4),
            Poison::Fill(word) => vec![word; bytes / 4],
        };
        let poisoned: Vec<u8> = poisoned.into_iter().flat_map(u32::to_le_bytes).collect();
        let scratch_start = builder.add("scratch".into(), &poisoned, &poisoned, true);
        builder.guard(4);

        let Builder { before, expected, regions, .. } = builder;
        let buffer = context.upload(&before).expect("test buffers fit");
        let at = |byte: usize| buffer.address() + byte as u64;
        let scratch = Scratch { buffer: buffer.handle(), offset: scratch_start as u64, size: scratch_size };
        let infos = jobs.iter().zip(&job_offsets).map(|(job, job_offsets)| {
            let info = job.mover.items();
            let strided = info.layout == Layout::Strided;
            let item =
                if info.layout == Layout::Interleaved { info.key.size() + info.value.size() } else { info.key.size() };
            let sizes = [item, info.value.size(), item, info.value.size()];
            let strides = [key_stride(&info), value_stride(&info)];
            let range = |which: usize| {
                let stride = if strided && which < 2 { strides[which] } else { sizes[which] };
                let bytes = u64::from(job.max()) * u64::from(stride);
                let short = if job.keys.is_empty() { 0 } else { u64::from(stride - sizes[which]) };
                job_offsets.arrays[which]
                    .map_or(trommel::Range::NONE, |byte| trommel::Range::new(at(byte), bytes - short))
            };
            let counted = job_offsets.count.map_or(Count::host(job.most()), |byte| Count::device(at(byte), job.most()));
            let offsets = |byte| trommel::Range::new(at(byte), job.offsets.len() as u64 * 4);
            SortInfo {
                count: if info.segmented { Count::host(job.max()) } else { counted },
                segments: job_offsets
                    .offsets
                    .map_or(Segments::default(), |byte| Segments { offsets: offsets(byte), count: counted }),
                keys: range(0),
                values: range(1),
                keys_out: range(2),
                values_out: range(3),
                key_stride: if strided { strides[0] } else { 0 },
                value_stride: if strided && job_offsets.arrays[1].is_some() { strides[1] } else { 0 },
                scratch,
                status: job_offsets.status.map_or(0, at),
                ..SortInfo::default()
            }
        });
        let infos = infos.collect();
        let results = jobs.iter().zip(&job_offsets).map(|(job, job_offsets)| {
            let words = job.results(max_groups_x).map(|words| words.len() as u64);
            let of = |which: usize| {
                job_offsets.results[which]
                    .map_or(trommel::Range::NONE, |byte| trommel::Range::new(at(byte), words[which] * 4))
            };
            [of(0), of(1), of(2)]
        });
        let results = results.collect();
        let given = jobs.iter().zip(&job_offsets).map(|(job, job_offsets)| {
            let bytes = (job.given.len() * job.mover.given_size()) as u64;
            job_offsets.given.map_or(trommel::Range::NONE, |byte| trommel::Range::new(at(byte), bytes))
        });
        let given = given.collect();
        let starts = jobs.iter().zip(&job_offsets).map(|(job, job_offsets)| {
            let bytes = job.starts().len() as u64 * 4;
            job_offsets.starts.map_or(trommel::Range::NONE, |byte| trommel::Range::new(at(byte), bytes))
        });
        let starts = starts.collect();
        Self { context, jobs, infos, results, given, starts, buffer, scratch, regions, before, expected }
    }

    pub(crate) fn requests(&self) -> Vec<Request<'a>> {
        (0..self.jobs.len()).map(|i| self.request(i)).collect()
    }

    pub(crate) fn request(&self, i: usize) -> Request<'a> {
        match self.jobs[i].mover {
            Mover::Sorter(sorter) => Request::Sort(sorter, self.infos[i]),
            Mover::Splitter(splitter) => Request::Split(splitter, self.split_info(i)),
        }
    }

    pub(crate) fn split_info(&self, i: usize) -> SplitInfo {
        let Asked { low, width, command_items, .. } = self.jobs[i].asked;
        let ([offsets, counts, commands], info) = (self.results[i], self.infos[i]);
        let starts = self.starts[i];
        let split = SplitInfo { starts, offsets, counts, commands, command_items, ..split_info(&info, low, width) };
        match self.jobs[i].mover {
            Mover::Splitter(splitter) => match splitter.info().function {
                BucketFunction::Ids(_) => SplitInfo { bucket_ids: self.given[i], ..split },
                BucketFunction::User => {
                    let user_words = [self.jobs[i].given.len() as u32, 0, 0, 1];
                    SplitInfo { user_address: self.given[i].address, user_words, ..split }
                }
                _ => SplitInfo { splitters: self.given[i], ..split },
            },
            Mover::Sorter(_) => split,
        }
    }

    /// Records one job.
    pub(crate) fn record_one(&self, commands: vk::CommandBuffer, i: usize) -> Result<()> {
        // SAFETY: the command buffer is recording; the arena outlives its execution.
        unsafe {
            match self.jobs[i].mover {
                Mover::Sorter(sorter) => sorter.cmd_sort(commands, &self.infos[i]),
                Mover::Splitter(splitter) => splitter.cmd_split(commands, &self.split_info(i)),
            }
        }
    }

    /// Records the jobs: as one batch, or one after the other with the documented barrier in between.
    pub(crate) fn record(&self, commands: vk::CommandBuffer, together: Together) -> Result<()> {
        match together {
            // SAFETY: the command buffer is recording; the arena outlives its execution.
            Together::Batch => unsafe { trommel::cmd_batch(commands, &self.requests(), self.scratch) },
            Together::Singles => (0..self.jobs.len()).try_for_each(|i| {
                if i != 0 {
                    barrier(self.context, commands);
                }
                self.record_one(commands, i)
            }),
        }
    }

    /// Restores the initial content of the buffer.
    pub(crate) fn reset(&self) {
        self.context.write(&self.buffer, &self.before).expect("the buffer is as large");
    }

    /// Compares every byte whose content is defined.
    pub(crate) fn check(&self) {
        self.compare(&self.expected, "sorted");
    }

    /// Checks that no byte has changed, scratch included.
    pub(crate) fn check_untouched(&self) {
        let found: Vec<u8> = self.context.download(&self.buffer, self.before.len()).expect("download");
        assert!(found == self.before, "something was recorded and has run");
    }

    fn compare(&self, expected: &[u8], what: &str) {
        let found: Vec<u8> = self.context.download(&self.buffer, expected.len()).expect("download");
        for Region { name, bytes, .. } in self.regions.iter().filter(|region| !region.free) {
            let differs = |i: &usize| found[*i] != expected[*i];
            let Some(first) = bytes.clone().find(differs) else { continue };
            let wrong = bytes.clone().filter(differs).count();
            let window = |from: &[u8]| format!("{:02x?}", &from[first..bytes.end.min(first + 16)]);
            panic!(
                "not {what}: {name} at byte {} of {}, {wrong} bytes wrong: found {}, expected {}",
                first - bytes.start,
                bytes.len(),
                window(&found),
                window(expected),
            );
        }
    }
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
    builder.guard(4);
    let word = builder.add(format!("count of job {i}"), &value.to_le_bytes(), &value.to_le_bytes(), false);
    slots.extend(shared.map(|slot| (slot, word)));
    Some(word)
}

fn add_status(builder: &mut Builder, i: usize, job: &Job<'_>) -> Option<usize> {
    if !job.status {
        return None;
    }
    builder.guard(4);
    let requested = job.device_count().unwrap_or(0);
    // Includes offsets past the end of the arrays.
    let beyond = job
        .offsets
        .get(job.device_count().unwrap_or(u32::MAX).min(job.most()) as usize)
        .is_some_and(|end| *end > job.max());
    let clamped = requested > job.most() || beyond;
    let without_bucket = job.bucket_counts().iter().any(|counts| counts.last().is_some_and(|count| *count != 0));
    let flags =
        [(clamped, STATUS_COUNT_CLAMPED), (without_bucket, STATUS_NO_BUCKET), (job.overflows(), STATUS_OUTPUT_CLAMPED)];
    let expected: u32 = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum();
    Some(builder.add(format!("status of job {i}"), &0xdead_beef_u32.to_le_bytes(), &expected.to_le_bytes(), false))
}

fn add_offsets(builder: &mut Builder, i: usize, job: &Job<'_>) -> Option<usize> {
    if !job.mover.items().segmented {
        return None;
    }
    builder.guard(4);
    let bytes: Vec<u8> = job.offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    Some(builder.add(format!("offsets of job {i}"), &bytes, &bytes, false))
}

fn add_given(builder: &mut Builder, i: usize, job: &Job<'_>) -> Option<usize> {
    let size = job.mover.given_size();
    if job.given.is_empty() {
        return None;
    }
    builder.guard(size.min(4));
    let bytes: Vec<u8> = job.given.iter().flat_map(|given| given.to_le_bytes()[..size].to_vec()).collect();
    Some(builder.add(format!("ids or splitters of job {i}"), &bytes, &bytes, false))
}

fn add_starts(builder: &mut Builder, i: usize, job: &Job<'_>) -> Option<usize> {
    let starts: Vec<u8> = job.starts().iter().flat_map(|start| start.to_le_bytes()).collect();
    if starts.is_empty() {
        return None;
    }
    builder.guard(4);
    Some(builder.add(format!("where buckets of job {i} begin"), &starts, &starts, false))
}

fn add_result(builder: &mut Builder, i: usize, words: &[u32]) -> Option<usize> {
    if words.is_empty() {
        return None;
    }
    builder.guard(4);
    let before = builder.noise(words.len() * 4);
    let expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Some(builder.add(format!("bucket information of job {i}"), &before, &expected, false))
}

/// The request of a split with these arrays.
fn split_info(info: &SortInfo, low: u64, width: u64) -> SplitInfo {
    let SortInfo { count, keys, values, keys_out, values_out, key_stride, value_stride, segments, scratch, .. } = *info;
    let items =
        SplitInfo { count, keys, values, keys_out, values_out, key_stride, value_stride, ..SplitInfo::default() };
    SplitInfo { segments, low, width, scratch, status: info.status, timestamps: info.timestamps, ..items }
}

fn scratch_size<'a>(jobs: &[Job<'a>], together: Together) -> u64 {
    match together {
        Together::Singles => jobs.iter().map(|job| job.mover.scratch_size(job.max())).max().unwrap_or(0),
        Together::Batch => {
            // Scratch sizes are computed before any address is known, also those of counts.
            let info = |job: &Job<'_>| SortInfo { count: Count::host(job.max()), ..SortInfo::default() };
            let requests: Vec<_> = jobs.iter().map(|job| (job, info(job))).collect();
            let request = |(job, info): &(&Job<'a>, SortInfo)| match job.mover {
                Mover::Sorter(sorter) => Request::Sort(sorter, *info),
                Mover::Splitter(splitter) => Request::Split(splitter, split_info(info, 0, 0)),
            };
            let requests: Vec<_> = requests.iter().map(request).collect();
            trommel::batch_scratch_size(&requests).expect("counts are small")
        }
    }
}

/// The barrier that the caller records between two calls.
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
    coverage::collect(context);
    arena.check();
}
