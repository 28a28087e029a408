//! A renderer's BVH builder with trommel: from a triangle mesh to a ray-traced picture in one command buffer.
//!
//! The program represents an engine: its instance, device, memory, barriers and kernels use plain `ash`, and it records
//! `Sorter::cmd_sort` between its own dispatches. `Splitter::cmd_split` then groups secondary rays, which are traced
//! with and without the grouping: see `secondary`.
//!
//! `cargo run --release --example lbvh -- --mesh bunny.obj --out bunny.png --heat heat.png --json bunny.json`

#[path = "../common/bvh.rs"]
mod bvh;
mod camera;
#[path = "../common/compute.rs"]
mod compute;
#[path = "../common/gpu.rs"]
mod gpu;
mod mesh;
mod morton;
mod pebbles;
mod picture;
#[path = "../common/random.rs"]
mod random;
mod rays;
mod record;
mod secondary;
mod tree;

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, ValueEnum};
use mesh::{Mesh, Up};
use morton::Morton;
use std::path::PathBuf;
use std::process::ExitCode;

/// Builds a BVH of a triangle mesh on the GPU and ray-traces a picture of it.
#[derive(Parser, Debug)]
struct Options {
    /// Mesh to load, Wavefront OBJ; without it a scene is generated.
    #[arg(long, value_name = "FILE")]
    mesh: Option<PathBuf>,
    /// File for the shaded picture.
    #[arg(long, value_name = "FILE.png", default_value = "lbvh.png")]
    out: PathBuf,
    /// File for the heat map: the number of nodes that the primary rays visit.
    #[arg(long, value_name = "FILE.png", default_value = "lbvh-heat.png")]
    heat: PathBuf,
    /// Bits of a Morton code. 63 bits distinguish triangles that share a cell of 30 bits, and need twice as many sort
    /// passes.
    #[arg(long, value_enum, default_value = "30")]
    morton: Morton,
    /// Width and height of the pictures [default: 1280x800, on a CPU 960x600].
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// JSON file for the results.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The mesh's upward axis; auto selects z if the mesh is a quarter taller along z than along y.
    #[arg(long, value_enum, default_value = "auto")]
    up: UpOption,
    /// Degrees by which the mesh is rotated about its upward axis.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    turn: f32,
    /// Primary rays per pixel, rounded up to a power of two [default: 64, on a CPU 8].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    samples: Option<u32>,
    /// Number of builds of the tree, one after another in the same command buffer, and of splits and traversals of the
    /// secondary rays; times are medians [default: 9, on a CPU 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    builds: Option<u32>,
    /// Secondary rays per pixel that shows the mesh. They are split by the octants of their directions, and traced in
    /// their own order and by octants. 0: none [default: 4, on a CPU 1, fewer for large pictures].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1024))]
    secondary: Option<u32>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UpOption {
    Auto,
    Y,
    Z,
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some([w.parse().ok()?, h.parse().ok()?]));
    match parsed {
        Some(size) if size.iter().all(|side| (1..=8192).contains(side)) => Ok(size),
        _ => Err("expected WIDTHxHEIGHT, each from 1 to 8192".into()),
    }
}

fn main() -> ExitCode {
    gpu::end(run(&Options::parse()))
}

fn run(options: &Options) -> Result<()> {
    // A bad file is reported before a device is opened.
    let loaded = options.mesh.as_deref().map(Mesh::load).transpose()?;
    let gpu = gpu::Gpu::new(c"lbvh")?;
    let mesh = loaded.unwrap_or_else(|| pebbles::generate(if gpu.is_cpu { 4 } else { 5 }));
    let up = match options.up {
        UpOption::Auto => mesh.likely_up(),
        UpOption::Y => Up::Y,
        UpOption::Z => Up::Z,
    };
    let samples = options.samples.unwrap_or(if gpu.is_cpu { 8 } else { 64 }).next_power_of_two();
    let builds = options.builds.unwrap_or(if gpu.is_cpu { 1 } else { 9 });
    let size = options.size.unwrap_or(if gpu.is_cpu { [960, 600] } else { [1280, 800] });
    let [width, height] = size;
    let most = u32::try_from(secondary::MOST_RAYS / (u64::from(width) * u64::from(height)))?;
    let rays_a_pixel = options.secondary.unwrap_or(most.min(if gpu.is_cpu { 1 } else { 4 }));
    ensure!(
        rays_a_pixel <= most,
        "{rays_a_pixel} secondary rays a pixel are more than the {most} that a picture of this size may have"
    );
    let elevation = if options.mesh.is_some() { 14.0 } else { 36.0 };
    let view = camera::frame(&mesh, up, options.turn, elevation, size, samples);

    let job = record::Job::new(&gpu, &mesh, &view, options.morton, builds, rays_a_pixel)?;
    let result = job.run().context("cannot build the tree")?;
    let stats = tree::check(&mesh, &result.tree);
    // Rays are checked only with a correct tree.
    let secondary = result.secondary.as_ref().filter(|_| stats.is_ok());
    let facts = secondary.map(|rays| rays::check(&mesh, &result.tree, rays, rays_a_pixel)).transpose();
    let known_rays = facts.as_ref().ok().copied().flatten();

    picture::write(&options.out, width, height, &result.picture)?;
    picture::write(&options.heat, width, height, &result.heat)?;
    let known = stats.as_ref().ok();
    if let Some(path) = &options.json {
        let json = serde_json::json!({
            "triangles": mesh.triangles.len(),
            "morton_bits": options.morton.bits(),
            "sort_ms": result.sort_ms,
            "build_ms": result.build_ms,
            "sah_cost": known.map(|s| s.shape.sah_cost),
            "depth": known.map(|s| s.shape.depth),
            "ties": known.map(|s| s.ties),
            "valid": stats.is_ok(),
            "secondary": secondary.map(|rays| secondary_json(rays, known_rays)),
            "device": gpu.name,
        });
        std::fs::write(path, format!("{json:#}\n")).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print_table(&gpu.name, mesh.triangles.len(), options.morton, &result, known);
    if let Some(rays) = secondary {
        print_secondary(rays, known_rays);
    }
    println!("{}  {}", options.out.display(), options.heat.display());
    stats.map_err(|fault| anyhow::anyhow!("the tree is wrong: {fault}"))?;
    facts.map_err(|fault| anyhow::anyhow!("the secondary rays are wrong: {fault}"))?;
    Ok(())
}

/// Without facts (wrong rays), the JSON has only the times and that the rays are wrong.
fn secondary_json(outcome: &secondary::Outcome, facts: Option<rays::Facts>) -> serde_json::Value {
    let times = outcome.times;
    serde_json::json!({
        "rays": outcome.rays.len(),
        "hits": facts.map(|f| f.hits),
        "octants": facts.map(|f| f.octants),
        "split_ms": times.map(|t| t.split),
        "as_they_lie_ms": times.map(|t| t.as_they_lie),
        "by_octants_ms": times.map(|t| t.by_octants),
        "change": times.and_then(|t| t.change()),
        "change_with_split": times.and_then(|t| t.change_with_split()),
        "valid": facts.is_some(),
    })
}

fn or_dash(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".into(), |v| format!("{v:.decimals$}"))
}

fn print_table(device: &str, triangles: usize, morton: Morton, result: &record::Outcome, stats: Option<&tree::Stats>) {
    let total = result.sort_ms.zip(result.build_ms).map(|(sort, build)| sort + build);
    let rate = total.filter(|ms| *ms > 0.0).map(|ms| triangles as f64 / ms / 1e3);
    let sah_cost = or_dash(stats.map(|s| s.shape.sah_cost), 1);
    let depth = stats.map_or("-".into(), |s| s.shape.depth.to_string());
    let ties = stats.map_or("-".into(), |s| s.ties.to_string());
    println!("{device}");
    println!(
        "{:>10} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6} {:>8} {:>6}",
        "triangles", "morton", "sort ms", "build ms", "total ms", "Mtris/s", "SAH cost", "depth", "ties", "valid"
    );
    println!(
        "{triangles:>10} {:>6} {:>9} {:>9} {:>9} {:>9} {sah_cost:>9} {depth:>6} {ties:>8} {:>6}",
        morton.bits(),
        or_dash(result.sort_ms, 3),
        or_dash(result.build_ms, 3),
        or_dash(total, 3),
        or_dash(rate, 1),
        if stats.is_some() { "yes" } else { "NO" },
    );
}

/// The change is that of the traversal time, from the rays' own order to the order by octants, without and with the
/// split.
fn print_secondary(outcome: &secondary::Outcome, facts: Option<rays::Facts>) {
    let times = outcome.times;
    let percent = |change: Option<f64>| change.map_or("-".into(), |c| format!("{:+.1} %", 100.0 * c));
    println!(
        "{:>14} {:>9} {:>9} {:>15} {:>14} {:>9} {:>11} {:>6}",
        "secondary rays", "hits", "split ms", "as they lie ms", "by octants ms", "change", "with split", "valid"
    );
    println!(
        "{:>14} {:>9} {:>9} {:>15} {:>14} {:>9} {:>11} {:>6}",
        outcome.rays.len(),
        facts.map_or("-".into(), |f| f.hits.to_string()),
        or_dash(times.map(|t| t.split), 3),
        or_dash(times.map(|t| t.as_they_lie), 3),
        or_dash(times.map(|t| t.by_octants), 3),
        percent(times.and_then(|t| t.change())),
        percent(times.and_then(|t| t.change_with_split())),
        if facts.is_some() { "yes" } else { "NO" },
    );
}
