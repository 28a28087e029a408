//! Times the host as it records requests: alone, and in batches with their arrays in several orders in memory. Nothing
//! is executed, so the arrays need not exist.
//!
//! A request alone has three times: as an engine records it; with commands that go nowhere, which is the library's own
//! part; and of its commands alone, recorded by the driver's functions.

use crate::commands::Commands;
use crate::gpu::Gpu;
use crate::inputs::splitmix64;
use crate::report::Report;
use crate::timing::Samples;
use crate::workload::{Primitive, Recorder};
use ash::vk;
use std::time::Instant;
use trommel::{Profile, batch_scratch_size, cmd_batch};

/// Problems of a batch.
const PROBLEMS: [usize; 3] = [1000, 10_000, 1 << 20];
/// Keys of a problem.
const KEYS: u32 = 1000;
/// Bytes from the keys of a problem to those of the next.
const STRIDE: u64 = 4096;
/// Address of the first problem's keys.
const BASE: u64 = 1 << 40;
/// Keys of a request that is recorded alone.
const ALONE: [u32; 4] = [1000, 1 << 16, 1 << 20, 1 << 28];
/// Requests that are recorded alone, one after the other, for one time.
const ALONE_AT_ONCE: u32 = 100;
/// Recordings that count of requests alone, and most of a batch. One before them does not.
const MOST_RUNS: usize = 101;
/// Fewest recordings of a batch that count.
const FEWEST_RUNS: usize = 7;
/// Problems of the recordings of one size and order, unless these are fewer or more recordings.
const PROBLEMS_IN_ALL: usize = 1 << 20;

/// The order of a batch's arrays in memory.
#[derive(Clone, Copy, Debug)]
enum Order {
    Rising,
    Falling,
    /// Rising, except two neighbors in the middle.
    Exchanged,
    Shuffled,
}

impl Order {
    const ALL: [Self; 4] = [Self::Rising, Self::Falling, Self::Exchanged, Self::Shuffled];

    /// The index in memory of each problem's keys.
    fn indices(self, problems: usize) -> Vec<usize> {
        let mut indices: Vec<_> = (0..problems).collect();
        match self {
            Self::Rising => {}
            Self::Falling => indices.reverse(),
            Self::Exchanged => indices.swap(problems / 2, problems / 2 + 1),
            Self::Shuffled => indices.sort_by_key(|index| splitmix64(*index as u64)),
        }
        indices
    }
}

/// Prints median times: of each primitive's requests alone, and of its batches in each order.
pub(crate) fn measure(
    gpu: &Gpu,
    profile: &Profile,
    primitives: &[&dyn Primitive],
    report: &Report,
) -> anyhow::Result<()> {
    let pool = Pool::new(gpu.context.vk(), gpu.context.queue_family())?;
    let (library, listing) = (gpu.library(profile)?, gpu.library_without_commands(profile)?);
    for primitive in primitives {
        if let Some(recorder) = primitive.recorder(&library)? {
            if let Some(lister) = primitive.recorder(&listing)? {
                measure_alone(gpu, &pool, recorder.as_ref(), lister.as_ref(), report)?;
            }
            measure_batches(gpu, &pool, recorder.as_ref(), report)?;
        }
    }
    Ok(())
}

/// `lister`: the same as `recorder`, on a device that records no command.
fn measure_alone(
    gpu: &Gpu,
    pool: &Pool<'_>,
    recorder: &dyn Recorder,
    lister: &dyn Recorder,
    report: &Report,
) -> anyhow::Result<()> {
    for count in ALONE {
        let buffer = gpu.context.buffer(recorder.scratch_size(count)?)?;
        let times = |record: &dyn Fn() -> trommel::Result<()>| (0..ALONE_AT_ONCE).try_for_each(|_| record());
        // SAFETY: the pool's command buffer is recording and is never submitted.
        let record = |recorder: &dyn Recorder, to| unsafe { recorder.record(to, BASE, count, buffer.scratch()) };
        let commands = Commands::of(|| record(lister, pool.commands))?;
        let medians: [f64; 3] = medians(MOST_RUNS, |part| {
            pool.record(|to| match part {
                0 => times(&|| record(recorder, to)),
                1 => times(&|| record(lister, to)),
                _ => times(&|| {
                    // SAFETY: as above.
                    unsafe { commands.replay(gpu.context.vk(), to) };
                    Ok(())
                }),
            })
        })?;
        let [all, own, driver] = medians.map(|median| median / f64::from(ALONE_AT_ONCE) * 1e3);
        let (label, calls) = (recorder.label(), commands.len());
        let parts = format!("own {own:.2} us, the driver's {calls} calls {driver:.2} us");
        report.print(&format!("record {label} alone n={count:<10} {all:9.2} us: {parts}"));
    }
    Ok(())
}

/// Returns the median time of each of `N` measurements. Their runs alternate, so that a change of the clock affects all
/// medians alike.
fn medians<const N: usize>(
    runs: usize,
    mut time: impl FnMut(usize) -> anyhow::Result<f64>,
) -> anyhow::Result<[f64; N]> {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..=runs {
        for (thing, times) in times.iter_mut().enumerate() {
            times.push(time(thing)?);
        }
    }
    Ok(times.map(|mut times| Samples::new(times.split_off(1)).median()))
}

fn measure_batches(gpu: &Gpu, pool: &Pool<'_>, recorder: &dyn Recorder, report: &Report) -> anyhow::Result<()> {
    for problems in PROBLEMS {
        let request = |index| recorder.request(BASE + index as u64 * STRIDE, KEYS);
        // The requests of the largest batch take 200 MB for each order.
        let orders = Order::ALL.map(|order| order.indices(problems).into_iter().map(request).collect::<Vec<_>>());
        let buffer = gpu.context.buffer(batch_scratch_size(&orders[0])?)?;
        let runs = (PROBLEMS_IN_ALL / problems).clamp(FEWEST_RUNS, MOST_RUNS);
        let medians: [_; Order::ALL.len()] = medians(runs, |order| {
            // SAFETY: the pool's command buffer is recording and is never submitted.
            pool.record(|commands| unsafe { cmd_batch(commands, &orders[order], buffer.scratch()) })
        })?;
        for (order, median) in Order::ALL.into_iter().zip(medians) {
            let (label, order) = (recorder.label(), format!("{order:?}").to_lowercase());
            let ratio = median / medians[0];
            report.print(&format!("record {label} batch {order:<10} n={problems:<10} {median:9.4} ms {ratio:6.2} x"));
        }
    }
    Ok(())
}

/// A command buffer that is recorded again and again.
struct Pool<'a> {
    vk: &'a ash::Device,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
}

impl<'a> Pool<'a> {
    fn new(vk: &'a ash::Device, family: u32) -> anyhow::Result<Self> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: the device is alive.
        let pool = unsafe { vk.create_command_pool(&info, None) }?;
        let mut created = Self { vk, pool, commands: vk::CommandBuffer::null() };
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: as above.
        let buffers = unsafe { vk.allocate_command_buffers(&info) }?;
        created.commands = buffers.first().copied().unwrap_or_default();
        Ok(created)
    }

    /// Milliseconds of `record`, which gets the command buffer.
    fn record(&self, record: impl Fn(vk::CommandBuffer) -> trommel::Result<()>) -> anyhow::Result<f64> {
        // SAFETY: the command buffer is this pool's only one and is never submitted, so that no array need exist at the
        // addresses.
        unsafe {
            self.vk.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())?;
            self.vk.begin_command_buffer(self.commands, &vk::CommandBufferBeginInfo::default())?;
            let started = Instant::now();
            record(self.commands)?;
            let time = started.elapsed();
            self.vk.end_command_buffer(self.commands)?;
            Ok(time.as_secs_f64() * 1e3)
        }
    }
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        // SAFETY: the pool's command buffer is never submitted.
        unsafe { self.vk.destroy_command_pool(self.pool, None) };
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn every_order_is_a_permutation() {
        for order in Order::ALL {
            let mut indices = order.indices(100);
            let rises = indices.is_sorted();
            assert_eq!(rises, matches!(order, Order::Rising), "{order:?}");
            indices.sort_unstable();
            assert!(indices.into_iter().eq(0..100), "{order:?}");
        }
    }
}
