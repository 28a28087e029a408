//! `cargo xtask shaders`: the modules under spirv/ out of the kernels under glsl/.

#[cfg(feature = "shaders")]
mod build;
#[cfg(feature = "shaders")]
mod compile;
#[cfg(feature = "shaders")]
mod variants;

use anyhow::Result;

/// Compiles every variant; with `check`, compares with the committed modules instead of writing.
#[cfg(feature = "shaders")]
pub(crate) fn run(check: bool) -> Result<()> {
    build::run(check)
}

/// The same, by an xtask that has the compiler in it.
#[cfg(not(feature = "shaders"))]
pub(crate) fn run(check: bool) -> Result<()> {
    use crate::workspace;
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--package", "xtask", "--features", "shaders", "--", "shaders"]);
    if check {
        cargo.arg("--check");
    }
    anyhow::ensure!(cargo.status()?.success(), "cargo xtask shaders failed");
    Ok(())
}
