//! Vertex welding with trommel: triangle soup becomes a mesh with shared vertices.
//!
//! Files and tools often deliver each triangle with three corners of its own. A renderer wants each vertex once, and
//! indices. Corners in the same cell of a fine grid are one vertex:
//!
//! 1. `cells`: each corner gets the key of its cell.
//! 2. `Hasher::cmd_hash` inserts all corners into a table. The first corner of a cell is inserted
//!    (`HashOperation::Insert`), so the result does not depend on the device.
//! 3. `corners`: each corner looks its cell up and finds the first one there. The kernel searches the table itself,
//!    with glsl/lib/trommel_hash.glsl.
//! 4. `Splitter::cmd_split` brings the first corners to the front, in their order: these are the vertices.
//! 5. `indices`: each corner gets the number of its vertex. The kernel also looks up the middle of each side: a vertex
//!    there is a T-corner.
//!
//! The program represents an engine: its instance, device, memory, barriers and kernels use plain `ash`. A weld on the
//! CPU checks the result.
//!
//! `cargo run --release --example weld -- bunny.obj`

mod check;
#[path = "../common/compute.rs"]
mod compute;
#[path = "../common/gpu.rs"]
mod gpu;
mod grid;
mod record;
mod soup;

use anyhow::{Context as _, Result, anyhow};
use clap::Parser;
use grid::Grid;
use record::{STAGES, Weld, Welded};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Welds the corners of a triangle mesh: corners in the same cell of a grid become one vertex.
#[derive(Parser, Debug)]
struct Options {
    /// Wavefront OBJ file. Without it: a terrain of two parts with T-corners between them.
    mesh: Option<PathBuf>,
    /// Logarithm of the cells of the generated terrain's side.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=12))]
    terrain: u32,
    /// Cells of the grid on the longest side of the mesh.
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=1 << 22))]
    cells: u32,
    /// Number of runs; times are medians.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// JSON file for the results.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    gpu::end(run(&Options::parse()))
}

fn run(options: &Options) -> Result<()> {
    let corners = match &options.mesh {
        Some(path) => soup::load(path)?,
        None => soup::generate(1 << options.terrain),
    };
    let grid = Grid::new(&corners, options.cells);
    let gpu = gpu::Gpu::new(c"weld")?;
    let weld = Weld::new(&gpu, &corners, grid)?;
    let start = Instant::now();
    while !gpu.is_cpu && start.elapsed() < Duration::from_secs(1) {
        // The clocks of an idle GPU are low.
        weld.run()?;
    }
    let (mut times, mut welded) = (Vec::new(), Welded::default());
    for _ in 0..options.runs {
        let (mesh, stages) = weld.run()?;
        check::check(&corners, &grid, &mesh).map_err(|fault| anyhow!("the mesh is wrong: {fault}"))?;
        times.extend(stages);
        welded = mesh;
    }
    let duplicates = corners.len() - welded.vertices.len();
    println!("{}", gpu.name);
    println!("{} triangles, {} of them degenerate", corners.len() / 3, welded.degenerate);
    println!("{} corners, {duplicates} of them duplicates: {} vertices", corners.len(), welded.vertices.len());
    println!("{} T-corners", welded.t_corners);
    let stage_ms: Vec<f64> = (0..STAGES.len()).map(|stage| compute::median(times.iter().map(|of| of[stage]))).collect();
    if !times.is_empty() {
        println!("median ms");
        for (stage, ms) in STAGES.iter().zip(&stage_ms) {
            println!("  {stage:8} {ms:9.4}");
        }
    }
    if let Some(path) = &options.json {
        let json = serde_json::json!({
            "device": gpu.name,
            "corners": corners.len(),
            "vertices": welded.vertices.len(),
            "degenerate": welded.degenerate,
            "t_corners": welded.t_corners,
            "stages": STAGES,
            "ms": if times.is_empty() { None } else { Some(stage_ms) },
        });
        std::fs::write(path, format!("{json:#}\n")).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
