//! Every module and the MANIFEST beside them, written or compared.

use super::{
    compile::{FLAGS, compile},
    variants::{Set, sets},
};
use crate::{modules, workspace};
use anyhow::{Context, Result, ensure};
use shaderc::Compiler;
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};
use trommel::shared;

/// A generated file and its content.
struct Output {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// Compression of modules that the library embeds: the best.
const LEVEL: u8 = 10;

impl Output {
    /// A compressed file is current if its content is: releases of the compressor may write other bytes.
    fn is_current(&self) -> bool {
        modules::read(&self.path).is_ok_and(|old| old == self.bytes)
    }

    fn write(&self) -> Result<()> {
        fs::create_dir_all(self.path.parent().unwrap_or(Path::new(".")))?;
        let compressed =
            modules::is_compressed(&self.path).then(|| miniz_oxide::deflate::compress_to_vec_zlib(&self.bytes, LEVEL));
        let bytes = compressed.as_ref().unwrap_or(&self.bytes);
        fs::write(&self.path, bytes).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

pub(super) fn run(check: bool) -> Result<()> {
    let shared = Output { path: workspace::root().join("glsl/core/shared.glsl"), bytes: shared::glsl().into_bytes() };
    // Kernels include it, so it is put down before they are compiled.
    let mut differing = settle(&[shared], check)?;
    let compiler = Compiler::new()?;
    for set in sets()? {
        let outputs = compile_set(&compiler, &set)?;
        differing.extend(settle(&outputs, check)?);
        differing.extend(remove_stale(&set, &outputs, check)?);
    }
    for path in &differing {
        println!("{} {}", if check { "differs" } else { "updated" }, workspace::shown(path));
    }
    ensure!(
        !check || differing.is_empty(),
        "the committed modules are not those of the sources: run `cargo xtask shaders`"
    );
    Ok(())
}

fn compile_set(compiler: &Compiler, set: &Set) -> Result<Vec<Output>> {
    let mut manifest = format!(
        "# Written by `cargo xtask shaders`; `cargo xtask shaders --check` compares.\n\
         compiler: shaderc {}\nflags: {FLAGS}\n\n# FNV-1a and length of the module, its name, file and macros\n",
        compiler_version()?
    );
    let mut outputs = Vec::new();
    for variant in &set.variants {
        let bytes = compile(compiler, set, variant)?;
        writeln!(manifest, "{:016x} {:6} {variant}", fnv1a(&bytes), bytes.len())?;
        outputs.push(Output { path: set.module(variant), bytes });
    }
    outputs.push(Output { path: set.spirv.join("MANIFEST"), bytes: manifest.into_bytes() });
    Ok(outputs)
}

/// The paths whose files differ from their outputs; unless `check`, they are written.
fn settle(outputs: &[Output], check: bool) -> Result<Vec<PathBuf>> {
    let mut differing = Vec::new();
    for output in outputs.iter().filter(|output| !output.is_current()) {
        if !check {
            output.write()?;
        }
        differing.push(output.path.clone());
    }
    Ok(differing)
}

/// Modules that no variant names any more; unless `check`, they are removed.
fn remove_stale(set: &Set, outputs: &[Output], check: bool) -> Result<Vec<PathBuf>> {
    let mut stale = modules::of_folder(&set.spirv)?;
    stale.retain(|path| outputs.iter().all(|output| output.path != *path));
    if !check {
        stale.iter().try_for_each(fs::remove_file)?;
    }
    Ok(stale)
}

/// The version of the crate, which carries the sources of the compiler.
fn compiler_version() -> Result<String> {
    let lock = fs::read_to_string(workspace::root().join("Cargo.lock"))?;
    let mut lines = lock.lines().skip_while(|line| *line != "name = \"shaderc\"").skip(1);
    let version = lines.next().and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    Ok(version.context("Cargo.lock has no shaderc")?.to_owned())
}

/// The 64-bit FNV-1a hash, after Fowler, Noll and Vo.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    #[test]
    fn hash_of_the_published_example() {
        assert_eq!(super::fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
