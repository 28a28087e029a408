//! Times the creation of handles: without any cache, and with a `VkPipelineCache` that an earlier creation has filled.
//!
//! The driver's own cache on disk makes every later run warm: `__GL_SHADER_DISK_CACHE=0` turns NVIDIA's off. A process
//! measures each handle once, because drivers also keep caches in memory.

use crate::args::Args;
use crate::gpu::Gpu;
use crate::workload::{Creation, Primitive};
use ash::vk;
use std::time::{Duration, Instant};
use trommel::{Device, Profile};

/// The time of one creation, and of each pipeline.
fn create(library: &Device, creation: &Creation) -> trommel::Result<(Duration, Vec<(&'static str, Duration)>)> {
    let start = Instant::now();
    let _handle = (creation.create)(library)?;
    let time = start.elapsed();
    let mut pipelines: Vec<_> =
        library.creation_times().into_iter().map(|(variant, time)| (variant.kernel.name(), time)).collect();
    pipelines.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    Ok((time, pipelines))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Prints a line a handle: the times of creation, then those of its slowest pipelines without a cache.
pub(crate) fn measure(args: &Args, gpu: &Gpu, profile: &Profile, primitives: &[&dyn Primitive]) -> anyhow::Result<()> {
    let device = gpu.context.vk();
    println!("# {}, {} threads (0: all)", gpu.context.name(), args.threads);
    for creation in primitives.iter().flat_map(|primitive| primitive.creations()) {
        let name = creation.name;
        if !args.filter.is_empty() && !args.filter.iter().any(|part| name.contains(part)) {
            continue;
        }
        let create_with = |cache| create(&gpu.library_with(profile, cache, args.threads)?, &creation);
        let (cold, pipelines) = create_with(vk::PipelineCache::null())?;
        // SAFETY: the device outlives the caches, and each cache is destroyed after its last use.
        let warm = unsafe {
            let filling = device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None)?;
            create_with(filling)?;
            let data = device.get_pipeline_cache_data(filling)?;
            device.destroy_pipeline_cache(filling, None);
            let filled =
                device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default().initial_data(&data), None)?;
            let warm = create_with(filled)?.0;
            device.destroy_pipeline_cache(filled, None);
            warm
        };
        let slowest: Vec<_> = pipelines.iter().map(|(name, time)| format!("{name} {:.0}", ms(*time))).collect();
        println!("{name:<38} cold {:.1} ms  warm {:.1} ms  {} pipelines", ms(cold), ms(warm), pipelines.len());
        println!("#   {}", slowest.join(", "));
    }
    Ok(())
}
