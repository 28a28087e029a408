//! Files of compiled modules: plain SPIR-V, or compressed (zlib), as the library embeds them.

use crate::workspace;
use anyhow::{Context, Result, anyhow};
use std::{
    fs,
    path::{Path, PathBuf},
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
