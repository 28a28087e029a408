//! `cargo xtask demo`: the example `lbvh` where it is fastest, with pictures.

use crate::{apt, drivers, workspace};
use anyhow::{Result, ensure};
use std::{fs, process::Command};

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    apt::install(&apt::for_demo())?;
    let folder = workspace::target().join("demo");
    fs::create_dir_all(&folder)?;
    let picture = |name: &str| folder.join(name).display().to_string();
    let lavapipe = drivers::lavapipe().filter(|_| !drivers::gpu_exists());
    // A quarter of the rays where a CPU traces them.
    let size = if lavapipe.is_some() { "800x600" } else { "1600x1200" };
    let defaults = [("--size", size.to_owned()), ("--out", picture("lbvh.png")), ("--heat", picture("heat.png"))];
    let mut arguments = arguments.to_vec();
    for (name, value) in defaults {
        if !arguments.iter().any(|a| a == name || a.starts_with(&format!("{name}="))) {
            arguments.extend([name.to_owned(), value]);
        }
    }

    // In the caller's folder, because files among the arguments are relative to it.
    let mut cargo = Command::new(workspace::cargo().get_program());
    cargo.args(["run", "--release", "--package", "trommel", "--example", "lbvh", "--manifest-path"]);
    cargo.arg(workspace::root().join("Cargo.toml")).arg("--").args(&arguments);
    if let Some(lavapipe) = lavapipe {
        println!("no GPU here: lavapipe draws on the CPU");
        cargo.envs(drivers::select(&lavapipe)).envs(drivers::caches("demo")?);
    }
    let status = cargo.status()?;
    ensure!(status.success(), "the example ended with {status}");
    Ok(())
}
