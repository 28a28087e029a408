//! A top-level BVH of moving boxes with trommel: every frame, the sorted Morton codes are updated instead of sorted
//! again.
//!
//! A renderer keeps a BVH over the bounding boxes of its objects, the upper levels of its scene (TLAS). If 1 % of the
//! boxes move, 99 % of the sorted items remain valid. `Sorter::cmd_sort` therefore sorts the items of the moved boxes
//! only, and `Merger::cmd_merge` exchanges them in the items of the preceding frame (`MergeOperation::UpdateByValue`).
//! A full sort of all items is timed in the same frame: see `record`.
//!
//! Every frame rebuilds all levels above the boxes from the sorted items, as in the example `lbvh`: first the links of
//! all nodes, then their boxes. Links are not updated, because nodes have the numbers of items in sorted order: one
//! insertion changes the numbers of all items after it. The levels below the boxes, the geometry of objects (BLAS), do
//! not change, and the example has none.
//!
//! The program represents an engine: its instance, device, memory, barriers and kernels use plain `ash`.
//!
//! `cargo run --release --example tlas -- --boxes 1048576 --changed 0.01 --plot tlas.svg`

mod buffers;
#[path = "../common/bvh.rs"]
mod bvh;
mod check;
#[path = "../common/compute.rs"]
mod compute;
#[path = "../common/gpu.rs"]
mod gpu;
mod plot;
#[path = "../common/random.rs"]
mod random;
mod record;
mod report;
mod scene;
mod times;

use anyhow::{Context as _, Result, anyhow};
use clap::Parser;
use record::World;
use report::Measurement;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Updates the sorted Morton codes of moving boxes, builds a BVH over them, and compares the time with a full sort.
#[derive(Parser, Debug)]
struct Options {
    /// Number of boxes.
    #[arg(long, default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(1..=1 << 26))]
    boxes: u32,
    /// Share of the boxes that change in a frame, above 0 and at most 1.
    #[arg(long, value_name = "SHARE", default_value_t = 0.01, value_parser = parse_share)]
    changed: f64,
    /// Number of frames; times are medians.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frames: u32,
    /// File for a plot of the times over the share of changed boxes, from 0.1 % to 50 %.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// JSON file for the results.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if 0.0 < share && share <= 1.0 => Ok(share),
        _ => Err("expected a number above 0 and at most 1".into()),
    }
}

impl Options {
    /// Returns the number of boxes for a share of them: at least one.
    fn count(&self, share: f64) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "a share of a u32")]
        let count = (share * f64::from(self.boxes)).round() as u32;
        count.max(1)
    }
}

fn main() -> ExitCode {
    gpu::end(run(&Options::parse()))
}

fn run(options: &Options) -> Result<()> {
    let gpu = gpu::Gpu::new(c"tlas")?;
    let shares = || std::iter::once(options.changed).chain(options.plot.iter().flat_map(|_| plot::SHARES));
    let most_changed = shares().map(|share| options.count(share)).max().unwrap_or(1);
    let mut world = World::new(&gpu, &scene::generate(options.boxes), most_changed)?;
    if !gpu.is_cpu {
        warm_up(&mut world, options)?;
    }
    let mut measure = |share| measure(&mut world, options.count(share), options.frames);

    let measured = measure(options.changed)?;
    println!("{}", gpu.name);
    println!("{} boxes, {} of them change in a frame, {} frames", options.boxes, measured.changed, options.frames);
    println!("median ms; order: codes, sort and merge; frame: order and tree");
    measured.print();

    let mut series = Vec::new();
    if let Some(path) = &options.plot {
        series = plot::SHARES.into_iter().map(measure).collect::<Result<_>>()?;
        println!();
        report::print_series(&series, options.boxes);
        let svg = plot::draw(&format!("{} boxes on {}", options.boxes, gpu.name), &series, options.boxes)?;
        std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    if let Some(path) = &options.json {
        let json = serde_json::json!({
            "device": gpu.name,
            "boxes": options.boxes,
            "frames": options.frames,
            "measured": measured.to_json(),
            "series": series.into_iter().map(Measurement::to_json).collect::<Vec<_>>(),
        });
        std::fs::write(path, format!("{json:#}\n")).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Runs frames for a second: the clocks of an idle GPU are low.
fn warm_up(world: &mut World<'_>, options: &Options) -> Result<()> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        world.run(options.count(options.changed), options.frames)?;
    }
    Ok(())
}

/// Runs frames and checks the last one. Each frame begins with the items of the preceding one, so that most faults of
/// an earlier frame remain.
fn measure(world: &mut World<'_>, changed: u32, frames: u32) -> Result<Measurement> {
    let ways = world.run(changed, frames)?;
    let shape = check::check(&world.download()?).map_err(|fault| anyhow!("the frame is wrong: {fault}"))?;
    Ok(Measurement { changed, ways, shape })
}
