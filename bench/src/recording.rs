//! Times the host as it records batches, with their arrays in several orders in memory. Nothing is executed, so the arrays need not exist.

use crate::gpu::Gpu;
use crate::inputs::splitmix64;
use crate::report::Report;
use crate::timing::Samples;
use crate::workload::{Primitive, Recorder};
use ash::vk;
use std::time::Instant;
use trommel::{Device, Request, Scratch, batch_scratch_size, cmd_batch};

/// Problems of a batch.
const PROBLEMS: [usize; 3] = [1000, 10_000, 1 << 20];
/// Keys of a problem.
const KEYS: u32 = 1000;
/// Bytes from the keys of a problem to those of the next.
const STRIDE: u64 = 4096;
/// Address of the first problem's keys.
const BASE: u64 = 1 << 40;
/// Recordings that count. One before them does not.
const RUNS: usize = 7;

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

/// Prints the median time of each primitive's batches in each order.
pub(crate) fn measure(gpu: &Gpu, library: &Device, primitives: &[&dyn Primitive], report: &Report) -> anyhow::Result<()> {
    let pool = Pool::new(gpu.context.vk(), gpu.context.queue_family())?;
    for primitive in primitives {
        if let Some(recorder) = primitive.recorder(library, KEYS)? {
            measure_batches(gpu, &pool, recorder.as_ref(), report)?;
        }
    }
    Ok(())
}

fn measure_batches(gpu: &Gpu, pool: &Pool<'_>, recorder: &dyn Recorder, report: &Report) -> anyhow::Result<()> {
    for problems in PROBLEMS {
        for order in Order::ALL {
            let requests: Vec<_> =
                order.indices(problems).into_iter().map(|index| recorder.request(BASE + index as u64 * STRIDE)).collect();
            let buffer = gpu.context.buffer(batch_scratch_size(&requests)?)?;
            let mut times = (0..=RUNS).map(|_| pool.record(&requests, buffer.scratch())).collect::<anyhow::Result<Vec<_>>>()?;
            let median = Samples::new(times.split_off(1)).median();
            let (label, order) = (recorder.label(), format!("{order:?}").to_lowercase());
            report.print(&format!("{label} {order:<10} n={problems:<10} {median:9.4} ms"));
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

    /// Milliseconds of the recording alone.
    fn record(&self, requests: &[Request<'_>], scratch: Scratch) -> anyhow::Result<f64> {
        // SAFETY: the command buffer is this pool's only one and is never submitted, so that no array need exist at the addresses.
        unsafe {
            self.vk.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())?;
            self.vk.begin_command_buffer(self.commands, &vk::CommandBufferBeginInfo::default())?;
            let started = Instant::now();
            cmd_batch(self.commands, requests, scratch)?;
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
