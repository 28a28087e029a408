//! Problems in one buffer: guards around every array, poisoned scratch, every byte compared.

use super::coverage;
use super::keys::Random;
use super::problem::{Array, Places, Problem};
use ash::vk;
use std::ops::Range;
use trommel::host::{Buffer, Context};
use trommel::{Request, Result, Scratch};

/// Byte pattern of scratch before a run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Poison {
    Random(u64),
    Fill(u32),
}

/// Whether problems run one after the other in the same scratch, or together as a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    Singles,
    Batch,
}

/// From this many problems on, arrays of the same role are consecutive in memory, as parts of one large array would be.
const MANY: usize = 32;

/// A buffer with the arrays of all problems.
pub(crate) struct Arena<'a> {
    context: &'a Context,
    problems: Vec<&'a dyn Problem>,
    /// The places of each problem.
    pub(crate) places: Vec<Places>,
    buffer: Buffer,
    scratch: Scratch,
    image: Image,
}

/// The content of the buffer before and after a run.
struct Image {
    before: Vec<u8>,
    expected: Vec<u8>,
    regions: Vec<Region>,
    random: Random,
}

/// A named range of bytes.
struct Region {
    name: String,
    bytes: Range<usize>,
    /// Whether the content after the run is undefined.
    undefined: bool,
}

impl Image {
    /// Appends a guard of some bytes or words. So an array is sometimes aligned to more than its elements require, and
    /// sometimes not. `behind_8`: how many bytes behind a multiple of 8 the guard ends, if it matters.
    fn add_guard(&mut self, alignment: usize, behind_8: Option<usize>) {
        let units = 1 + self.random.below(6) as usize;
        let mut bytes = units * alignment + (alignment - self.before.len() % alignment) % alignment;
        if let Some(wanted) = behind_8 {
            bytes += (8 + wanted - (self.before.len() + bytes) % 8) % 8;
        }
        let guard = self.noise(bytes);
        self.add("guard".into(), &guard, &guard, false);
    }

    fn noise(&mut self, bytes: usize) -> Vec<u8> {
        self.random.words(bytes.div_ceil(4)).into_iter().flat_map(u32::to_le_bytes).take(bytes).collect()
    }

    /// Appends bytes and returns their range.
    fn add(&mut self, name: String, before: &[u8], expected: &[u8], undefined: bool) -> Range<usize> {
        let bytes = self.before.len()..self.before.len() + before.len();
        self.before.extend_from_slice(before);
        self.expected.extend_from_slice(expected);
        self.regions.push(Region { name, bytes: bytes.clone(), undefined });
        bytes
    }

    /// Appends an array after a guard.
    fn add_array(&mut self, array: &Array, problem: usize) -> Range<usize> {
        self.add_guard(array.alignment, array.behind_8);
        let mut before = self.noise(array.len());
        array.write(&array.before, &mut before);
        let mut expected = before.clone();
        array.write(&array.expected, &mut expected);
        let (name, end) = (format!("{} of problem {problem}", array.role), array.undefined * array.stride);
        let undefined = self.add(name.clone(), &before[..end], &expected[..end], true);
        let defined = self.add(name, &before[end..], &expected[end..], false);
        undefined.start..defined.end
    }

    /// Appends arrays and returns the range of each, with its problem and its role.
    fn add_arrays(&mut self, arrays: Vec<(usize, Array)>) -> Vec<(usize, &'static str, Range<usize>)> {
        let mut slots: Vec<(usize, Range<usize>)> = Vec::new();
        let mut place = |(i, array): (usize, Array)| {
            let shared = slots.iter().find(|(slot, _)| Some(*slot) == array.slot).map(|(_, bytes)| bytes.clone());
            let bytes = shared.unwrap_or_else(|| self.add_array(&array, i));
            slots.extend(array.slot.map(|slot| (slot, bytes.clone())));
            (i, array.role, bytes)
        };
        arrays.into_iter().map(&mut place).collect()
    }

    /// Appends scratch with a guard on either side.
    fn add_scratch(&mut self, size: u64, poison: Poison) -> Range<usize> {
        let words = usize::try_from(size.div_ceil(4)).expect("tests are small");
        let poisoned = match poison {
            Poison::Random(seed) => Random::new(seed).words(words),
            Poison::Fill(word) => vec![word; words],
        };
        let poisoned: Vec<u8> = poisoned.into_iter().flat_map(u32::to_le_bytes).collect();
        self.add_guard(4, None);
        let bytes = self.add("scratch".into(), &poisoned, &poisoned, true);
        self.add_guard(4, None);
        bytes
    }

    /// Compares every byte with defined content.
    fn compare(&self, found: &[u8]) {
        let expected = &self.expected;
        for Region { name, bytes, .. } in self.regions.iter().filter(|region| !region.undefined) {
            let differs = |i: &usize| found[*i] != expected[*i];
            let Some(first) = bytes.clone().find(differs) else { continue };
            let wrong = bytes.clone().filter(differs).count();
            let window = |from: &[u8]| format!("{:02x?}", &from[first..bytes.end.min(first + 16)]);
            panic!(
                "{name} is wrong at byte {} of {}, {wrong} bytes in all: found {}, expected {}",
                first - bytes.start,
                bytes.len(),
                window(found),
                window(expected),
            );
        }
    }
}

/// The arrays of all problems in the order of memory, each with the index of its problem.
fn arrays_of(problems: &[&dyn Problem]) -> Vec<(usize, Array)> {
    let arrays = |(i, problem): (usize, &&dyn Problem)| problem.arrays(i).into_iter().map(move |array| (i, array));
    let mut all: Vec<(usize, Array)> = problems.iter().enumerate().flat_map(arrays).collect();
    if problems.len() >= MANY {
        all.sort_by_key(|(_, array)| array.role);
    }
    all
}

/// Arrays with other content have other guards, and so are aligned in other ways.
fn seed_of(arrays: &[(usize, Array)]) -> u64 {
    let size: usize = arrays.iter().map(|(_, array)| array.len()).sum();
    let bytes = arrays.iter().flat_map(|(_, array)| array.before.iter().take(64));
    bytes.fold(size as u64, |seed, byte| seed.wrapping_mul(31).wrapping_add((*byte).into()))
}

impl<'a> Arena<'a> {
    pub(crate) fn new(
        context: &'a Context,
        problems: impl IntoIterator<Item: Into<&'a dyn Problem>>,
        together: Together,
        poison: Poison,
    ) -> Self {
        let problems: Vec<&'a dyn Problem> = problems.into_iter().map(Into::into).collect();
        let arrays = arrays_of(&problems);
        let random = Random::new(seed_of(&arrays));
        let mut image = Image { before: Vec::new(), expected: Vec::new(), regions: Vec::new(), random };
        let arrays = image.add_arrays(arrays);
        let size = scratch_size(&problems, together);
        let offset = image.add_scratch(size, poison).start as u64;
        let buffer = context.upload(&image.before).expect("test buffers fit");
        let scratch = Scratch { buffer: buffer.handle(), offset, size };
        let mut places = vec![Places { arrays: Vec::new(), scratch }; problems.len()];
        for (problem, role, bytes) in arrays {
            let range = trommel::Range::new(buffer.address() + bytes.start as u64, bytes.len() as u64);
            places[problem].arrays.push((role, range));
        }
        Self { context, problems, places, buffer, scratch, image }
    }

    pub(crate) fn requests(&self) -> Vec<Request<'a>> {
        self.problems.iter().zip(&self.places).map(|(problem, places)| problem.request(places)).collect()
    }

    /// Records one problem.
    pub(crate) fn record_one(&self, commands: vk::CommandBuffer, i: usize) -> Result<()> {
        // SAFETY: the command buffer is recording; the arena outlives its execution.
        unsafe { self.problems[i].record(commands, &self.places[i]) }
    }

    /// Records the problems: as one batch, or one after the other with the documented barrier in between.
    pub(crate) fn record(&self, commands: vk::CommandBuffer, together: Together) -> Result<()> {
        match together {
            // SAFETY: the command buffer is recording; the arena outlives its execution.
            Together::Batch => unsafe { trommel::cmd_batch(commands, &self.requests(), self.scratch) },
            Together::Singles => (0..self.problems.len()).try_for_each(|i| {
                if i != 0 {
                    barrier(self.context, commands, self.problems[i].begins_with_transfer());
                }
                self.record_one(commands, i)
            }),
        }
    }

    /// Restores the initial content of the buffer.
    pub(crate) fn reset(&self) {
        self.context.write(&self.buffer, &self.image.before).expect("the buffer is as large");
    }

    /// Compares every byte with defined content.
    pub(crate) fn check(&self) {
        self.image.compare(&self.download());
    }

    /// Checks that no byte has changed, scratch included.
    pub(crate) fn check_untouched(&self) {
        assert!(self.download() == self.image.before, "something was recorded and has run");
    }

    fn download(&self) -> Vec<u8> {
        self.context.download(&self.buffer, self.image.before.len()).expect("download")
    }
}

fn scratch_size(problems: &[&dyn Problem], together: Together) -> u64 {
    match together {
        Together::Singles => problems.iter().map(|problem| problem.scratch_size()).max().unwrap_or(0),
        Together::Batch => {
            let requests: Vec<_> = problems.iter().map(|problem| problem.request(&Places::default())).collect();
            trommel::batch_scratch_size(&requests).expect("counts are small")
        }
    }
}

/// The barrier that the caller records between two calls. `to_transfer`: the second one begins with a transfer to
/// scratch.
pub(crate) fn barrier(context: &Context, commands: vk::CommandBuffer, to_transfer: bool) {
    let (mut stages, mut accesses) = (
        vk::PipelineStageFlags2::COMPUTE_SHADER,
        vk::AccessFlags2::SHADER_STORAGE_READ | vk::AccessFlags2::SHADER_STORAGE_WRITE,
    );
    if to_transfer {
        stages |= vk::PipelineStageFlags2::ALL_TRANSFER;
        accesses |= vk::AccessFlags2::TRANSFER_WRITE;
    }
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
        .dst_stage_mask(stages)
        .dst_access_mask(accesses)];
    let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
    // SAFETY: the command buffer is recording, outside a render pass.
    unsafe { context.vk().cmd_pipeline_barrier2(commands, &dependency) };
}

/// Runs the problems once and checks them.
pub(crate) fn run_and_check<'a>(
    context: &'a Context,
    problems: impl IntoIterator<Item: Into<&'a dyn Problem>>,
    together: Together,
    poison: Poison,
) {
    let arena = Arena::new(context, problems, together, poison);
    context.run(|commands| arena.record(commands, together)).expect("the problems are valid");
    coverage::collect(context);
    arena.check();
}
