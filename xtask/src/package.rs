//! `cargo xtask package`: the CMake package, built and installed.

use crate::workspace;
use anyhow::{Result, ensure};
use std::{path::PathBuf, process::Command};

pub(crate) fn run(prefix: Option<PathBuf>) -> Result<()> {
    let target = workspace::target();
    let build = target.join("cmake");
    let prefix = std::path::absolute(prefix.unwrap_or_else(|| target.join("package")))?;
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(workspace::root()).arg("-B").arg(&build);
    let mut make = Command::new("cmake");
    make.arg("--build").arg(&build);
    let mut install = Command::new("cmake");
    install.arg("--install").arg(&build).arg("--prefix").arg(&prefix);
    for mut command in [configure, make, install] {
        ensure!(command.env("CARGO_TARGET_DIR", &target).status()?.success(), "cmake failed");
    }
    println!("installed in {}", prefix.display());
    Ok(())
}
