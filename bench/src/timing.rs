//! Time on the device's own clock, around the work alone.

use crate::gpu::Gpu;
use crate::job::Job;
use ash::vk;
use std::time::{Duration, Instant};
use trommel::host::Buffer;
use trommel::{Count, Error, SortInfo, Sorter, SorterInfo, Timestamps};

/// Runs before those that count.
const WARM_UPS: usize = 3;
/// Runs that count.
pub(crate) const RUNS: usize = 15;
/// Around the work.
const OWN_QUERIES: u32 = 2;
/// Then those of its passes: one more than there are passes. Sixteen digits of three passes, and some around them, are the most.
const QUERIES: u32 = OWN_QUERIES + 62;

/// How long the device computes before anything is timed: an idle GPU lowers its clock, and takes most of a second of work to
/// raise it again.
const HEAT: Duration = Duration::from_secs(1);
/// Pauses shorter than this cost nothing.
const SHORT_PAUSE: Duration = Duration::from_millis(2);

/// Times of a case, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Samples in any order.
    pub(crate) fn new(mut times: Vec<f64>) -> Self {
        times.sort_by(f64::total_cmp);
        Self(times)
    }

    /// The middle one, the upper of two.
    pub(crate) fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// All of them, rising.
    pub(crate) fn all(&self) -> &[f64] {
        &self.0
    }
}

/// Runs jobs and takes their time.
pub(crate) struct Timer<'a> {
    gpu: &'a Gpu,
    pool: vk::QueryPool,
    heater: Option<Heater>,
    /// When the device last had work.
    last_busy: Option<Instant>,
}

impl<'a> Timer<'a> {
    pub(crate) fn new(gpu: &'a Gpu) -> trommel::Result<Self> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
        // SAFETY: the device is alive.
        let pool = unsafe { gpu.context.vk().create_query_pool(&info, None) }?;
        let mut timer = Self { gpu, pool, heater: None, last_busy: None };
        // A CPU has no clock to raise.
        if !gpu.context.device().facts().is_cpu {
            timer.heater = Some(Heater::new(gpu)?);
        }
        Ok(timer)
    }

    /// The time of each run.
    pub(crate) fn measure(&mut self, job: &Job) -> trommel::Result<Samples> {
        self.heat()?;
        let mut times = Vec::with_capacity(RUNS);
        for run in 0..WARM_UPS + RUNS {
            self.run(job, None)?;
            if run >= WARM_UPS {
                times.push(self.milliseconds(0)?);
            }
        }
        Ok(Samples::new(times))
    }

    /// The time of each pass in each run. The queries between passes take time themselves: the sum is more than the whole.
    pub(crate) fn measure_passes(&mut self, job: &Job) -> trommel::Result<Vec<(String, Samples)>> {
        let passes = job.passes()?;
        let (value, limit) = (job.timestamp_count()?.into(), u64::from(QUERIES - OWN_QUERIES));
        if value > limit {
            return Err(Error::TooLarge { argument: "timestamps", value, limit, why: "the queries of the pool" });
        }
        self.heat()?;
        let mut times = vec![Vec::with_capacity(RUNS); passes.len()];
        for run in 0..WARM_UPS + RUNS {
            self.run(job, Some(Timestamps { pool: self.pool, first: OWN_QUERIES }))?;
            if run >= WARM_UPS {
                for (times, (_, before)) in times.iter_mut().zip(&passes) {
                    times.push(self.milliseconds(OWN_QUERIES + before)?);
                }
            }
        }
        Ok(passes.into_iter().zip(times).map(|((name, _), times)| (name, Samples::new(times))).collect())
    }

    fn run(&mut self, job: &Job, timestamps: Option<Timestamps>) -> trommel::Result<()> {
        let vk = self.gpu.context.vk();
        self.gpu.context.run(|commands| {
            // SAFETY: the command buffer is recording; the pool is the timer's own and not in use.
            unsafe { vk.cmd_reset_query_pool(commands, self.pool, 0, QUERIES) };
            job.restore(commands);
            barrier(vk, commands);
            // SAFETY: as above; the queries have been reset.
            unsafe { vk.cmd_write_timestamp2(commands, vk::PipelineStageFlags2::ALL_COMMANDS, self.pool, 0) };
            job.work(commands, timestamps)?;
            // SAFETY: as above.
            unsafe { vk.cmd_write_timestamp2(commands, vk::PipelineStageFlags2::ALL_COMMANDS, self.pool, 1) };
            Ok(())
        })?;
        self.last_busy = Some(Instant::now());
        Ok(())
    }

    /// From one query to the next.
    fn milliseconds(&self, first: u32) -> trommel::Result<f64> {
        let mut ticks = [0u64; 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: the run that wrote the queries has ended.
        unsafe { self.gpu.context.vk().get_query_pool_results(self.pool, first, &mut ticks, flags) }?;
        let about = &self.gpu.about;
        let mask = u64::MAX >> (64 - about.timestamp_bits.min(64));
        Ok((ticks[1].wrapping_sub(ticks[0]) & mask) as f64 * f64::from(about.timestamp_period) * 1e-6)
    }

    /// Brings the clock up again: for ten times as long as the device has been idle, and a second at most.
    fn heat(&mut self) -> trommel::Result<()> {
        let Some(heater) = &self.heater else { return Ok(()) };
        let idle = self.last_busy.map_or(HEAT, |last| last.elapsed());
        if idle > SHORT_PAUSE {
            let start = Instant::now();
            while start.elapsed() < HEAT.min(idle * 10) {
                heater.run(self.gpu)?;
            }
        }
        self.last_busy = Some(Instant::now());
        Ok(())
    }
}

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        // SAFETY: every run has been waited for.
        unsafe { self.gpu.context.vk().destroy_query_pool(self.pool, None) };
    }
}

/// Something to compute, on the context's own device: neither the profile nor the cases matter here.
struct Heater {
    sorter: Sorter,
    keys: Buffer,
    scratch: Buffer,
}

impl Heater {
    const COUNT: u32 = 1 << 22;
    /// Sorts a submission: enough to leave no pause between submissions worth the name.
    const SORTS: usize = 16;

    fn new(gpu: &Gpu) -> trommel::Result<Self> {
        let sorter = Sorter::new(gpu.context.device(), &SorterInfo::keys())?;
        let keys: Vec<u32> = (0..Self::COUNT).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        let keys = gpu.context.upload(&keys)?;
        let scratch = gpu.context.buffer(sorter.scratch_size(Self::COUNT)?)?;
        Ok(Self { sorter, keys, scratch })
    }

    fn run(&self, gpu: &Gpu) -> trommel::Result<()> {
        let info = SortInfo {
            count: Count::host(Self::COUNT),
            keys: self.keys.range(),
            scratch: self.scratch.scratch(),
            ..SortInfo::default()
        };
        gpu.context.run(|commands| {
            for _ in 0..Self::SORTS {
                barrier(gpu.context.vk(), commands);
                // SAFETY: the command buffer is recording; the memory is the heater's own.
                unsafe { self.sorter.cmd_sort(commands, &info)? };
            }
            Ok(())
        })
    }
}

/// Everything before is done, and seen, before anything after begins.
fn barrier(vk: &ash::Device, commands: vk::CommandBuffer) {
    let barriers = [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
        .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)];
    // SAFETY: the command buffer is recording, outside a render pass.
    unsafe { vk.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&barriers)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_of_the_sorted_times() {
        assert_eq!(Samples::new(vec![3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(Samples::new(vec![4.0, 1.0, 3.0, 2.0]).median(), 3.0, "the upper of two, as the peers have it");
        assert_eq!(Samples::new(vec![5.0]).median(), 5.0);
        assert!(Samples::new(Vec::new()).median().is_nan(), "nothing has no middle");
        assert_eq!(Samples::new(vec![2.0, 1.0]).all(), [1.0, 2.0]);
    }
}
