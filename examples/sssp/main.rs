//! Single-source shortest paths on the GPU: delta-stepping with buckets by trommel's split.
//!
//! The program represents an engine: its instance, device, memory, barriers and kernels use plain `ash`, and it records
//! `Splitter::cmd_split` between its own dispatches. `record` describes the scheme.
//!
//! `cargo run --release --example sssp -- --generate grid --vertices 4000000 --json grid.json`

#[path = "../common/compute.rs"]
mod compute;
mod dijkstra;
mod generate;
#[path = "../common/gpu.rs"]
mod gpu;
mod graph;
mod input;
mod method;
mod record;
mod report;

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, ValueEnum};
use graph::Graph;
use method::Method;
use std::path::PathBuf;
use std::process::ExitCode;

/// Finds the shortest paths from one vertex to all others on the GPU, by several methods, and checks each result
/// against Dijkstra's algorithm on the CPU.
#[derive(Parser, Debug)]
struct Options {
    /// Graph to load: DIMACS .gr, or .csv with one edge a line.
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    graph: Option<PathBuf>,
    /// The edges of the file lead one way only.
    #[arg(long, requires = "graph")]
    directed: bool,
    /// Graph to generate if none is loaded.
    #[arg(long, value_enum, default_value = "grid")]
    generate: generate::Kind,
    /// Approximate number of vertices to generate [default: 1048576, on a CPU 16384].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    vertices: Option<u32>,
    /// Average number of edges per vertex of a power-law graph.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    degree: u32,
    /// Weights that the graph does not have are random, from 1 to this number.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    max_weight: u32,
    /// The source vertex [default: the first vertex with the most edges].
    #[arg(long)]
    source: Option<u32>,
    /// Methods to run, separated by commas [default: all].
    #[arg(long, value_enum, value_delimiter = ',')]
    method: Vec<MethodOption>,
    /// Width of a bucket [default: 32 times the mean weight by the mean degree].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    delta: Option<u32>,
    /// Number of buckets of the methods with many buckets.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=256))]
    buckets: u32,
    /// Buckets are relaxed together until they have this many items.
    #[arg(long, default_value_t = 0)]
    fill: u32,
    /// Rounds per step: items that fall into the current bucket are relaxed again, up to this many times, before the
    /// next split.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    rounds: u32,
    /// Number of steps in a submission.
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    batch: u32,
    /// Number of runs of each method; times are medians.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    /// JSON file for the results.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A method, or all of them.
#[derive(Clone, Copy, Debug)]
enum MethodOption {
    All,
    One(Method),
}

impl ValueEnum for MethodOption {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [MethodOption; 6] = {
            let mut all = [MethodOption::All; 6];
            let mut i = 0;
            while i < Method::ALL.len() {
                all[i + 1] = MethodOption::One(Method::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        match self {
            Self::All => Some("all".into()),
            Self::One(method) => method.to_possible_value(),
        }
    }
}

fn main() -> ExitCode {
    gpu::end(run(&Options::parse()))
}

fn run(options: &Options) -> Result<()> {
    // A bad file is reported before a device is opened.
    let loaded =
        options.graph.as_deref().map(|path| input::load(path, options.directed, options.max_weight)).transpose()?;
    let gpu = gpu::Gpu::new(c"sssp")?;
    let vertices = options.vertices.unwrap_or(if gpu.is_cpu { 1 << 14 } else { 1 << 20 });
    let generated = || generate::generate(options.generate, vertices, options.degree, options.max_weight);
    let graph = loaded.map_or_else(generated, Ok)?;
    let settings = record::Settings {
        source: options.source.unwrap_or_else(|| graph.hub()),
        delta: options.delta.unwrap_or_else(|| likely_delta(&graph)),
        buckets: options.buckets,
        fill: options.fill,
        rounds: options.rounds,
        steps_a_submission: options.batch,
    };
    ensure!(settings.source < graph.vertices(), "vertex {} is none of {}", settings.source, graph.vertices());
    let expected = dijkstra::distances(&graph, settings.source)?;
    let reached = expected.iter().filter(|distance| **distance != dijkstra::UNREACHED);
    let (reached, farthest) = (reached.clone().count(), reached.max().copied().unwrap_or(0));
    println!("{}", gpu.name);
    println!(
        "{} vertices, {} edges, {reached} vertices reached from {}, the farthest at {farthest}, delta {}",
        graph.vertices(),
        graph.arcs.len(),
        settings.source,
        settings.delta
    );

    let field = record::Field::new(&gpu, &graph, options.rounds)?;
    report::print_heading();
    let mut rows = Vec::new();
    for method in methods(&options.method) {
        let row = measure(&field, method, settings, options.repeat, &expected).with_context(|| method.name())?;
        row.print();
        rows.push(row);
    }
    report::print_speed_ups(&rows);
    if let Some(path) = &options.json {
        let json = serde_json::json!({
            "device": gpu.name,
            "graph": graph_name(options),
            "vertices": graph.vertices(),
            "edges": graph.arcs.len(),
            "source": settings.source,
            "reached": reached,
            "farthest": farthest,
            "delta": settings.delta,
            "fill": settings.fill,
            "rounds": settings.rounds,
            "methods": rows.iter().map(|row| row.to_json(&rows)).collect::<Vec<_>>(),
        });
        std::fs::write(path, format!("{json:#}\n")).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn graph_name(options: &Options) -> String {
    let kind = || options.generate.to_possible_value().map(|kind| kind.get_name().to_owned()).unwrap_or_default();
    options.graph.as_ref().map_or_else(kind, |path| path.display().to_string())
}

fn methods(chosen: &[MethodOption]) -> Vec<Method> {
    let wanted = |method: &Method| {
        chosen.iter().any(|c| matches!(c, MethodOption::All) || matches!(c, MethodOption::One(m) if m == method))
    };
    Method::ALL.into_iter().filter(|method| chosen.is_empty() || wanted(method)).collect()
}

/// A width that gives a bucket enough work for a subgroup of 32 lanes (Davidson et al.).
fn likely_delta(graph: &Graph) -> u32 {
    let delta = 32.0 * graph.mean_weight() / graph.mean_degree().max(1.0);
    // The result is far below the width of 256 buckets of 32 bits.
    #[allow(clippy::cast_possible_truncation, reason = "clamped just before")]
    let delta = delta.clamp(1.0, f64::from(1 << 23)) as u32;
    delta
}

/// Runs a method `repeat` times and compares every distance of every run.
fn measure(
    field: &record::Field<'_>,
    method: Method,
    settings: record::Settings,
    repeat: u32,
    expected: &[u32],
) -> Result<report::Row> {
    let search = record::Search::new(field, method, settings)?;
    let mut outcomes = Vec::new();
    for _ in 0..repeat {
        let (distances, outcome) = search.run()?;
        let wrong = (0u32..).zip(expected.iter().zip(&distances)).filter(|(_, (right, found))| right != found);
        let count = wrong.clone().count();
        if let Some((vertex, (right, found))) = wrong.clone().next() {
            anyhow::bail!(
                "{count} distances are wrong, the first that of vertex {vertex}: {found} in place of {right}"
            );
        }
        outcomes.push(outcome);
    }
    report::Row::new(method, method.buckets(settings.buckets), &outcomes).context("no run")
}
