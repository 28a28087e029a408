//! Files of compiled modules: plain SPIR-V, or compressed (zlib), as the library embeds them.

use crate::workspace;
use anyhow::{Context, Result, anyhow, ensure};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

pub(crate) const PLAIN: &str = "spv";
pub(crate) const COMPRESSED: &str = "spv.z";

pub(crate) fn is_compressed(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.ends_with(&format!(".{COMPRESSED}")))
}

/// The modules of a folder.
pub(crate) fn of_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = workspace::files(folder, PLAIN)?;
    files.extend(workspace::files(folder, "z")?.into_iter().filter(|path| is_compressed(path)));
    Ok(files)
}

/// The content of a file, decompressed.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !is_compressed(path) {
        return Ok(bytes);
    }
    miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).map_err(|error| anyhow!("{}: {error}", path.display()))
}

/// Runs spirv-val on every committed module.
pub(crate) fn validate() -> Result<()> {
    let mut modules = of_folder(&workspace::root().join("spirv"))?;
    for program in workspace::programs()? {
        modules.extend(of_folder(&program.join("spirv"))?);
    }
    for path in &modules {
        let mut validator = Command::new("spirv-val")
            .args(["--target-env", "vulkan1.3", "--scalar-block-layout", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .context("cannot run spirv-val")?;
        let mut input = validator.stdin.take().context("no pipe to spirv-val")?;
        input.write_all(&read(path)?).with_context(|| format!("spirv-val left {}", path.display()))?;
        drop(input);
        ensure!(validator.wait()?.success(), "{} is invalid", path.display());
    }
    println!("{} modules are valid", modules.len());
    Ok(())
}
