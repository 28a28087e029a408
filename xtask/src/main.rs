//! The project's own tasks, run as `cargo xtask TASK`.

mod apt;
mod demo;
mod drivers;
mod header;
mod package;
mod process;
mod runner;
mod shaders;
mod suite;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The project's own tasks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compile glsl/ to spirv/ (the first time this builds shaderc, which takes several minutes)
    Shaders {
        /// Write nothing: compile and compare with what is committed
        #[arg(long)]
        check: bool,
    },
    /// Generate include/trommel.h from src/capi
    Header {
        /// Write nothing: generate and compare with what is committed
        #[arg(long)]
        check: bool,
    },
    /// Run every test, on every driver that is here
    Test {
        /// The whole product of test axes instead of its pairwise cover
        #[arg(long)]
        full: bool,
        /// Run only the steps whose name contains this; where there is none, only the tests whose name does
        filter: Option<String>,
    },
    /// Build a BVH over a mesh and draw it, on this machine's GPU or else its CPU
    Demo {
        /// Arguments of the example `lbvh`, for instance `-- --mesh FILE`
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Build and install the CMake package
    Package {
        /// Where to [default: target/package]
        #[arg(long)]
        prefix: Option<PathBuf>,
    },
    /// Install what the tests need
    Install,
}

fn main() -> ExitCode {
    run(Arguments::parse().task).unwrap_or_else(|error| {
        // Not by Debug, whose backtrace says nothing about what a user did wrong.
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run(task: Task) -> Result<ExitCode> {
    match task {
        Task::Shaders { check } => shaders::run(check)?,
        Task::Header { check } => header::run(check)?,
        Task::Test { full, filter } => return suite::run(full, filter.as_deref()),
        Task::Demo { arguments } => demo::run(&arguments)?,
        Task::Package { prefix } => package::run(prefix)?,
        Task::Install => apt::install(&apt::for_tests())?,
    }
    Ok(ExitCode::SUCCESS)
}
