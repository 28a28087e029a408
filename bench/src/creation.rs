//! What sorters and splitters take to create: without any cache, and with a `VkPipelineCache` that an earlier run has filled.
//!
//! The driver's own cache on disk makes every later run warm: `__GL_SHADER_DISK_CACHE=0` turns NVIDIA's off. A process measures each
//! handle once, because drivers also keep caches in memory.

use crate::args::Args;
use crate::gpu::Gpu;
use ash::vk;
use std::time::{Duration, Instant};
use trommel::{BucketFunction, Device, KeyType, Profile, Sorter, SorterInfo, Splitter, SplitterInfo};

#[derive(Clone, Copy)]
enum Info {
    Sort(SorterInfo),
    Split(SplitterInfo),
}

/// Handles by name.
fn handles() -> [(&'static str, Info); 9] {
    let (keys, pairs) = (SorterInfo::keys(), SorterInfo::pairs());
    let field = BucketFunction::Bits { begin_bit: 0 };
    [
        ("create_sorter_keys_u32", Info::Sort(keys)),
        ("create_sorter_pairs_u32_u32", Info::Sort(pairs)),
        ("create_sorter_pairs_u32_u32_2^20", Info::Sort(SorterInfo { max_count: 1 << 20, ..pairs })),
        ("create_sorter_pairs_u32_u32_batches", Info::Sort(pairs.batches())),
        ("create_sorter_pairs_u32_u32_segmented", Info::Sort(SorterInfo { segmented: true, ..pairs })),
        ("create_sorter_keys_f64", Info::Sort(SorterInfo { key: KeyType::F64, ..keys })),
        ("create_splitter_keys_m2", Info::Split(SplitterInfo::keys(2, field))),
        ("create_splitter_pairs_m64", Info::Split(SplitterInfo::pairs(64, field))),
        ("create_splitter_keys_m4096", Info::Split(SplitterInfo::keys(4096, field))),
    ]
}

/// The time of one creation, and of each pipeline.
fn create(library: &Device, info: Info) -> trommel::Result<(Duration, Vec<(&'static str, Duration)>)> {
    let start = Instant::now();
    let (_sorter, _splitter);
    match info {
        Info::Sort(info) => _sorter = Sorter::new(library, &info)?,
        Info::Split(info) => _splitter = Splitter::new(library, &info)?,
    }
    let time = start.elapsed();
    let mut pipelines: Vec<_> = library.creation_times().into_iter().map(|(variant, time)| (variant.kernel.name(), time)).collect();
    pipelines.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    Ok((time, pipelines))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Prints a line a handle: the times of creation, then those of its slowest pipelines without a cache.
pub(crate) fn measure(args: &Args, gpu: &Gpu, profile: &Profile) -> anyhow::Result<()> {
    let device = gpu.context.vk();
    println!("# {}, {} threads (0: all)", gpu.context.name(), args.threads);
    for (name, info) in handles() {
        if !args.filter.is_empty() && !args.filter.iter().any(|part| name.contains(part)) {
            continue;
        }
        let create_with = |cache| create(&gpu.library_with(profile, cache, args.threads)?, info);
        let (cold, pipelines) = create_with(vk::PipelineCache::null())?;
        // SAFETY: the device is alive, and the caches go before it, after all that uses them.
        let warm = unsafe {
            let filling = device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None)?;
            create_with(filling)?;
            let data = device.get_pipeline_cache_data(filling)?;
            device.destroy_pipeline_cache(filling, None);
            let filled = device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default().initial_data(&data), None)?;
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
