//! Time on the device's own clock, around the work alone.

use crate::gpu::Gpu;
use crate::handles::Handles;
use crate::inputs::Sources;
use crate::job::Job;
use crate::workload::Case;
use ash::vk;
use std::time::{Duration, Instant};
use trommel::{Error, Strategy, Timestamps};

/// Runs before those that count.
const WARM_UPS: usize = 3;
/// Runs that count.
pub(crate) const RUNS: usize = 15;
/// Queries around the work: one before and one after.
const OWN_QUERIES: u32 = 2;
/// All queries. The passes write one query more than passes, after the two around the work. The maximum is sixteen
/// digits of three passes each, and a few more passes.
const QUERIES: u32 = OWN_QUERIES + 62;

/// The device computes for this long before the first measurement. An idle GPU lowers its clock, and raises it again
/// after most of a second of work.
const HEAT: Duration = Duration::from_secs(1);
/// Runs of the heating work in a submission, so many that pauses between submissions do not matter.
const HEATING_RUNS: usize = 16;
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

    /// Returns the median; for an even number of samples, the upper one of the middle two.
    pub(crate) fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// All samples, ascending.
    pub(crate) fn all(&self) -> &[f64] {
        &self.0
    }
}

/// Runs jobs and takes their time.
pub(crate) struct Timer<'a> {
    gpu: &'a Gpu,
    pool: vk::QueryPool,
    /// Work that raises the clock. None on a CPU.
    heater: Option<Job>,
    /// When the device last had work.
    last_busy: Option<Instant>,
}

impl<'a> Timer<'a> {
    /// `heating` is the work of the device before it measures.
    pub(crate) fn new(gpu: &'a Gpu, heating: Case) -> trommel::Result<Self> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
        // SAFETY: the device is alive.
        let pool = unsafe { gpu.context.vk().create_query_pool(&info, None) }?;
        let mut timer = Self { gpu, pool, heater: None, last_busy: None };
        // A CPU has no clock to raise. Neither the profile nor the strategy of cases matters for this work.
        if !gpu.context.device().facts().is_cpu {
            let mut handles = Handles::new(&gpu.context, gpu.context.device(), Strategy::Auto);
            let operation = heating.work.prepare(heating.n, &mut handles)?;
            let job = Job::new(&gpu.context, &mut Sources::default(), heating, operation)?;
            gpu.context.run(|commands| job.restore(commands))?;
            timer.heater = Some(job);
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

    /// The time of each pass in each run. The queries between passes take time themselves: the sum is more than the
    /// whole.
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
            job.restore(commands)?;
            barrier(vk, commands);
            // SAFETY: as above; the queries have been reset.
            unsafe { vk.cmd_write_timestamp2(commands, vk::PipelineStageFlags2::ALL_COMMANDS, self.pool, 0) };
            job.record(commands, timestamps)?;
            // SAFETY: as above.
            unsafe { vk.cmd_write_timestamp2(commands, vk::PipelineStageFlags2::ALL_COMMANDS, self.pool, 1) };
            Ok(())
        })?;
        self.last_busy = Some(Instant::now());
        Ok(())
    }

    /// Milliseconds from query `first` to the next.
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
                self.gpu.context.run(|commands| {
                    (0..HEATING_RUNS).try_for_each(|_| {
                        barrier(self.gpu.context.vk(), commands);
                        heater.record(commands, None)
                    })
                })?;
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

/// All commands before complete, and their writes are visible, before any command after begins.
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
