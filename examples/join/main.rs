//! A hash join and a grouped sum with trommel, as a query engine runs them:
//!
//! ```sql
//! SELECT city, COUNT(*), SUM(amount) FROM orders JOIN customers USING (customer) GROUP BY city ORDER BY city
//! ```
//!
//! 1. `Hasher::cmd_hash` inserts the customers into a table, with the numbers of their rows (`HashOperation::Insert`).
//! 2. It looks up the customer of each order (`HashOperation::Find`): the rows of the join.
//! 3. `gather`: a kernel of the application loads the city of each row.
//! 4. A table of cities adds up the amounts of their orders (`HashOperation::Add`), and another one counts them
//!    (`HashOperation::Increment`).
//! 5. Both tables are exported (`HashOperation::Export`), and `Sorter::cmd_sort` sorts the groups by city. The host
//!    does not know their number.
//!
//! The program represents an application: its instance, device, memory and barriers use plain `ash`. Maps of the
//! standard library check the result.
//!
//! `cargo run --release --example join`

#[path = "../common/compute.rs"]
mod compute;
#[path = "../common/gpu.rs"]
mod gpu;
mod record;
mod relations;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use record::{Join, STAGES};
use relations::{NO_CITY, Relations};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Joins two generated relations, and groups the result.
#[derive(Parser, Debug)]
struct Options {
    /// Rows of each relation.
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1..=1 << 28))]
    rows: u32,
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
    let relations = Relations::generate(options.rows);
    let start = Instant::now();
    let expected = relations.join();
    let cpu_ms = start.elapsed().as_secs_f64() * 1e3;
    let gpu = gpu::Gpu::new(c"join")?;
    let join = Join::new(&gpu, &relations)?;
    let start = Instant::now();
    while !gpu.is_cpu && start.elapsed() < Duration::from_secs(1) {
        // The clocks of an idle GPU are low.
        join.run()?;
    }
    let mut times = Vec::new();
    for _ in 0..options.runs {
        let (groups, stages) = join.run()?;
        ensure!(groups.len() == expected.len(), "{} groups, not {}", groups.len(), expected.len());
        for (found, expected) in groups.iter().zip(&expected) {
            ensure!((&found.0, &found.1) == expected, "the group is {found:?}, not {expected:?}");
        }
        times.extend(stages);
    }
    let unmatched = expected.get(&NO_CITY).map_or(0, |group| group.orders);
    let cities = expected.keys().filter(|city| **city != NO_CITY).count();
    println!("{}", gpu.name);
    println!("{} customers, {} orders, {unmatched} of them without a customer", options.rows, options.rows);
    println!("{cities} cities with orders");
    let stage_ms: Vec<f64> = (0..STAGES.len()).map(|stage| compute::median(times.iter().map(|of| of[stage]))).collect();
    if !times.is_empty() {
        println!("median ms");
        for (stage, ms) in STAGES.iter().zip(&stage_ms) {
            println!("  {stage:8} {ms:9.4}");
        }
        println!("  {:8} {:9.4}", "all", stage_ms.iter().sum::<f64>());
    }
    println!("CPU, one thread: {cpu_ms:.0} ms");
    if let Some(path) = &options.json {
        let json = serde_json::json!({
            "device": gpu.name,
            "rows": options.rows,
            "unmatched": unmatched,
            "cities": cities,
            "stages": STAGES,
            "ms": if times.is_empty() { None } else { Some(stage_ms) },
            "cpu_ms": cpu_ms,
        });
        std::fs::write(path, format!("{json:#}\n")).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}
