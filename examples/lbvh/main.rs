//! A renderer's BVH builder on top of trommel: from a triangle mesh to a ray-traced picture in one command buffer.
//!
//! The program stands for an engine that the library knows nothing of: instance, device, memory, barriers and kernels are
//! its own, by plain `ash`, and `Sorter::cmd_sort` is recorded between its dispatches.
//!
//! `cargo run --release --example lbvh -- --mesh bunny.obj --out bunny.png --heat heat.png --json bunny.json`

mod camera;
#[path = "../common/compute.rs"]
mod compute;
#[path = "../common/gpu.rs"]
mod gpu;
mod mesh;
mod morton;
mod pebbles;
mod picture;
mod record;
mod tree;

use anyhow::{Context as _, Result};
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
    /// Where the shaded picture goes.
    #[arg(long, value_name = "FILE.png", default_value = "lbvh.png")]
    out: PathBuf,
    /// Where the heat map goes: nodes visited by the rays from the eye.
    #[arg(long, value_name = "FILE.png", default_value = "lbvh-heat.png")]
    heat: PathBuf,
    /// Bits of a Morton code: 63 tell apart what 30 take for one place, and sort in twice the passes.
    #[arg(long, value_enum, default_value = "30")]
    morton: Morton,
    /// Width and height of the pictures [default: 1280x800, on a CPU 960x600].
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    size: Option<[u32; 2]>,
    /// Where the numbers go as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The mesh's upward axis; auto takes z where the mesh stands taller along z than along y by a quarter.
    #[arg(long, value_enum, default_value = "auto")]
    up: UpOption,
    /// Degrees by which the mesh is turned about its upward axis before the picture is taken.
    #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
    turn: f32,
    /// Rays from the eye a pixel, rounded up to a power of two [default: 64, on a CPU 8].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    samples: Option<u32>,
    /// How often the tree is built, one build after the other in the same command buffer; times are medians
    /// [default: 9, on a CPU 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    builds: Option<u32>,
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
    // A bad file is reported before any device is touched.
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
    let elevation = if options.mesh.is_some() { 14.0 } else { 36.0 };
    let view = camera::frame(&mesh, up, options.turn, elevation, size, samples);

    let result = record::Job::new(&gpu, &mesh, &view, options.morton, builds)?.run().context("cannot build the tree")?;
    let stats = tree::check(&mesh, &result.tree);

    picture::write(&options.out, width, height, &result.picture)?;
    picture::write(&options.heat, width, height, &result.heat)?;
    let known = stats.as_ref().ok();
    if let Some(path) = &options.json {
        let json = serde_json::json!({
            "triangles": mesh.triangles.len(),
            "morton_bits": options.morton.bits(),
            "sort_ms": result.sort_ms,
            "build_ms": result.build_ms,
            "sah_cost": known.map(|s| s.sah_cost),
            "depth": known.map(|s| s.depth),
            "ties": known.map(|s| s.ties),
            "valid": stats.is_ok(),
            "device": gpu.name,
        });
        std::fs::write(path, format!("{json:#}\n")).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print_table(&gpu.name, mesh.triangles.len(), options.morton, &result, known);
    println!("{}  {}", options.out.display(), options.heat.display());
    stats.map(|_| ()).map_err(|fault| anyhow::anyhow!("the tree is wrong: {fault}"))
}

fn print_table(device: &str, triangles: usize, morton: Morton, result: &record::Outcome, stats: Option<&tree::Stats>) {
    let or_dash = |value: Option<f64>, decimals: usize| value.map_or("-".into(), |v| format!("{v:.decimals$}"));
    let total = result.sort_ms.zip(result.build_ms).map(|(sort, build)| sort + build);
    let rate = total.filter(|ms| *ms > 0.0).map(|ms| triangles as f64 / ms / 1e3);
    let sah_cost = or_dash(stats.map(|s| s.sah_cost), 1);
    let depth = stats.map_or("-".into(), |s| s.depth.to_string());
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
