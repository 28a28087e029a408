//! The project's own tasks, run as `cargo xtask TASK`.

mod apt;
mod budgets;
mod demo;
mod drivers;
mod fuzz;
mod header;
mod log;
mod modules;
mod package;
mod primitives;
mod process;
mod progress;
mod report;
mod runner;
mod shaders;
mod suite;
#[cfg(test)]
mod widths;
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
    /// Check the modules under spirv/ with spirv-val
    Validate,
    /// Generate include/trommel.h from src/capi
    Header {
        /// Write nothing: generate and compare with what is committed
        #[arg(long)]
        check: bool,
    },
    /// Run every test, on every driver that is here
    Test {
        /// The whole product of test axes instead of its pairwise cover
        #[arg(long, conflicts_with = "budgets")]
        full: bool,
        /// Two minutes: lints, what needs no GPU, and ten tests on lavapipe
        #[arg(long, conflicts_with_all = ["full", "budgets"])]
        quick: bool,
        /// Fail when a step or a test binary takes more than 1.5 times its budget (xtask/budgets.txt, for two cores)
        #[arg(long)]
        budgets: bool,
        /// End after so many minutes [default: 84; with --full, no end]
        #[arg(long)]
        minutes: Option<u64>,
        /// Run only the steps whose name contains this; where there is none, only the tests whose name does
        filter: Option<String>,
    },
    /// Build a BVH over a mesh and draw it, on this machine's GPU or else its CPU
    Demo {
        /// Arguments of the example `lbvh`, for instance `-- --mesh FILE`
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Run random requests and batches on this machine's device: `cargo xtask fuzz --minutes 10 --seed 1`;
    /// `--help` lists the options
    #[command(disable_help_flag = true)]
    Fuzz {
        /// Arguments of `trommel-fuzz`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Build and install the CMake package
    Package {
        /// Where to [default: target/package]
        #[arg(long)]
        prefix: Option<PathBuf>,
    },
    /// Print the lines outside a primitive's own folders that name it
    Primitive {
        /// Its name, such as `split`
        name: String,
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
        Task::Validate => modules::validate()?,
        Task::Header { check } => header::run(check)?,
        Task::Test { full, quick, budgets, minutes, filter } => {
            return suite::run(&suite::Options { full, quick, filter, budgets, minutes });
        }
        Task::Demo { arguments } => demo::run(&arguments)?,
        Task::Fuzz { arguments } => return fuzz::run(&arguments),
        Task::Package { prefix } => package::run(prefix)?,
        Task::Primitive { name } => primitives::run(&name)?,
        Task::Install => apt::install(&apt::for_tests())?,
    }
    Ok(ExitCode::SUCCESS)
}
