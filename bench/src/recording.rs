//! The time that the host takes to record batches whose arrays lie in several orders. Nothing is executed, so the arrays need not exist.

use crate::gpu::Gpu;
use crate::inputs::splitmix64;
use crate::report::Report;
use crate::timing::Samples;
use ash::vk;
use std::time::Instant;
use trommel::{Count, Device, Range, Request, Scratch, SortInfo, Sorter, SorterInfo, batch_scratch_size, cmd_batch};

/// Sorts of a batch.
const SORTS: [usize; 3] = [1000, 10_000, 1 << 20];
/// Keys of a sort.
const KEYS: u32 = 1000;
/// From one sort's keys to the next.
const STRIDE: u64 = 4096;
/// Where the keys of the first sort lie.
const BASE: u64 = 1 << 40;
/// Recordings that count. One before them does not.
const RUNS: usize = 7;

/// In what order the arrays of a batch lie.
#[derive(Clone, Copy, Debug)]
enum Order {
    Rising,
    Falling,
    /// Rising, but for two neighbors in the middle.
    Exchanged,
    Shuffled,
}

impl Order {
    const ALL: [Self; 4] = [Self::Rising, Self::Falling, Self::Exchanged, Self::Shuffled];

    /// The place of each sort's keys.
    fn places(self, sorts: usize) -> Vec<usize> {
        let mut places: Vec<_> = (0..sorts).collect();
        match self {
            Self::Rising => {}
            Self::Falling => places.reverse(),
            Self::Exchanged => places.swap(sorts / 2, sorts / 2 + 1),
            Self::Shuffled => places.sort_by_key(|place| splitmix64(*place as u64)),
        }
        places
    }
}

/// Prints the median time of each batch in each order.
pub(crate) fn measure(gpu: &Gpu, library: &Device, report: &Report) -> anyhow::Result<()> {
    let sorter = Sorter::new(library, &SorterInfo { max_count: KEYS, ..SorterInfo::keys() }.batches())?;
    let pool = Pool::new(gpu.context.vk(), gpu.context.queue_family())?;
    for sorts in SORTS {
        for order in Order::ALL {
            let request = |place: usize| {
                let keys = Range::new(BASE + place as u64 * STRIDE, u64::from(KEYS) * 4);
                Request::Sort(&sorter, SortInfo { count: Count::host(KEYS), keys, ..SortInfo::default() })
            };
            let requests: Vec<_> = order.places(sorts).into_iter().map(request).collect();
            let buffer = gpu.context.buffer(batch_scratch_size(&requests)?)?;
            let mut times = (0..=RUNS).map(|_| pool.record(&requests, buffer.scratch())).collect::<anyhow::Result<Vec<_>>>()?;
            let median = Samples::new(times.split_off(1)).median();
            report.print(&format!("record {:<10} n={sorts:<10} {median:9.4} ms", format!("{order:?}").to_lowercase()));
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
        // SAFETY: the command buffer is this pool's only one and is never submitted, so addresses of no array do no harm.
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
        // SAFETY: nothing of it is pending.
        unsafe { self.vk.destroy_command_pool(self.pool, None) };
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn every_order_has_each_place_once() {
        for order in Order::ALL {
            let mut places = order.places(100);
            let rises = places.is_sorted();
            assert_eq!(rises, matches!(order, Order::Rising), "{order:?}");
            places.sort_unstable();
            assert!(places.into_iter().eq(0..100), "{order:?}");
        }
    }
}
