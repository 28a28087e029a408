//! `cargo xtask fuzz`: the random tester, optimized.

use crate::workspace;
use anyhow::{Context, Result};
use std::process::{Command, ExitCode};

const PROGRAM: &str = "trommel-fuzz";

/// Builds the tester and runs it with these arguments, on this machine's device.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let target = workspace::target();
    let built = workspace::cargo()
        .args(["build", "--release", "--package", PROGRAM, "--bin", PROGRAM])
        .env("CARGO_TARGET_DIR", &target)
        .status()
        .context("cannot run cargo")?;
    anyhow::ensure!(built.success(), "{PROGRAM} does not build");
    let program = target.join("release").join(PROGRAM);
    let status =
        Command::new(&program).args(arguments).status().with_context(|| format!("cannot run {}", program.display()))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
