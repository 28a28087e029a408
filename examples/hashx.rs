use ash::vk;
use trommel::host::Context;
use trommel::*;

fn main() {
    let args: Vec<u32> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let log2 = args.first().copied().unwrap_or(20);
    let first = Context::new().unwrap();
    let mut profile = first.device().profile().clone();
    if args.len() > 1 {
        profile.hash.slice_threads = args[1];
        profile.hash.find_threads = args[2];
    }
    let context = Context::with(&trommel::host::ContextInfo { profile: Some(profile), ..Default::default() }).unwrap();
    println!("{}", context.name());
    let vk = context.vk().clone();
    let n: u32 = 1 << log2;
    let mix = |mut h: u32| {
        h = (h ^ (h >> 15)).wrapping_mul(0x2c1b3c6d);
        h = (h ^ (h >> 12)).wrapping_mul(0x297a2d39);
        h ^ (h >> 15)
    };
    let keys: Vec<u32> = (0..n).map(mix).collect();
    let values: Vec<u32> = (0..n).collect();
    let queries: Vec<u32> = (0..n).map(|i| mix(mix(i) % n)).collect();
    let absent: Vec<u32> = (0..n).map(|i| mix(n + i)).collect();
    let [keys, values, queries, absent] = [keys, values, queries, absent].map(|w| context.upload(&w).unwrap());
    let out = context.buffer(u64::from(n) * 4).unwrap();
    let left = context.buffer(256).unwrap();
    let make = |op| Hasher::new(context.device(), &HasherInfo::pairs().operation(op)).unwrap();
    let [clear, insert, find] = [HashOperation::Clear, HashOperation::Insert, HashOperation::Find].map(make);
    let scratch = context.buffer(insert.scratch_size(n).unwrap()).unwrap();
    let pool = unsafe {
        vk.create_query_pool(
            &vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(64),
            None,
        )
    }
    .unwrap();
    for load in [50u32, 80, 90, 95] {
        let capacity = (u64::from(n) * 100 / u64::from(load)) as u32;
        let table = context.buffer(insert.table_size(capacity)).unwrap();
        let base = HashInfo { table: table.range(), capacity, ..HashInfo::default() };
        let time = |hasher: &Hasher, info: &HashInfo, before: Option<(&Hasher, &HashInfo)>, verbose: bool| {
            let mut best = f64::MAX;
            let mut lines = String::new();
            for _ in 0..7 {
                let queries = hasher.timestamp_count(info.count.max).unwrap();
                let info = HashInfo { timestamps: Some(Timestamps { pool, first: 0 }), ..*info };
                context
                    .run(|commands| unsafe {
                        vk.cmd_reset_query_pool(commands, pool, 0, 64);
                        if let Some((hasher, info)) = before {
                            hasher.cmd_hash(commands, info)?;
                        }
                        let barrier = vk::MemoryBarrier2::default()
                            .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                            .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
                            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE);
                        let barriers = [barrier];
                        vk.cmd_pipeline_barrier2(commands, &vk::DependencyInfo::default().memory_barriers(&barriers));
                        hasher.cmd_hash(commands, &info)
                    })
                    .unwrap();
                let mut ticks = vec![0u64; queries as usize];
                unsafe {
                    vk.get_query_pool_results(
                        pool,
                        0,
                        &mut ticks,
                        vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT,
                    )
                }
                .unwrap();
                let us = (ticks[ticks.len() - 1] - ticks[0]) as f64 / 1000.0;
                if us < best {
                    best = us;
                    lines = ticks.windows(2).map(|t| format!(" {:.1}", (t[1] - t[0]) as f64 / 1000.0)).collect();
                }
            }
            if verbose {
                format!("{:.1} us {:.2} G/s [{lines} ]", best, f64::from(n) / best / 1000.0)
            } else {
                format!("{:.1} us {:.2} G/s", best, f64::from(n) / best / 1000.0)
            }
        };
        let counted = HashInfo { count: Count::host(n), keys: keys.range(), values: values.range(), ..base };
        let inserted = HashInfo { scratch: scratch.scratch(), leftover_count: left.address(), ..counted };
        println!("load {load} clear {}", time(&clear, &base, None, false));
        println!("load {load} insert {}", time(&insert, &inserted, Some((&clear, &base)), true));
        println!("  left over {}", context.download::<u32>(&left, 1).unwrap()[0]);
        let found = HashInfo { values: out.range(), ..counted };
        println!("load {load} hit {}", time(&find, &HashInfo { keys: queries.range(), ..found }, None, false));
        println!("load {load} miss {}", time(&find, &HashInfo { keys: absent.range(), ..found }, None, false));
    }
    for (variant, _) in context.device().pipelines() {
        if variant.kernel.name().starts_with("hash") {
            println!("{}", variant.kernel.name());
        }
    }
}
