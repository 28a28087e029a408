//! Where things are.

use anyhow::{Context, Result};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The folder of the workspace's Cargo.toml.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Cargo's target folder.
pub(crate) fn target() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The cargo that runs this, in the workspace.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// Files of a folder with this extension, sorted by name; none where there is no folder.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == extension) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The folders in `folder` that contain `part`, sorted by name.
fn folders_with(folder: &str, part: &str) -> Result<Vec<PathBuf>> {
    let folder = root().join(folder);
    let mut paths = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.join(part).exists());
    paths.sort();
    Ok(paths)
}

/// The names of the Rust examples: those folders of `examples` that have a program in them. A test of the same name
/// runs each.
pub(crate) fn examples() -> Result<Vec<String>> {
    let folders = folders_with("examples", "main.rs")?;
    Ok(folders.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())).collect())
}

/// The folders of programs and of tests that may have kernels of their own: `glsl`, and the modules in `spirv`.
pub(crate) fn programs() -> Result<Vec<PathBuf>> {
    let [examples, tests] = [folders_with("examples", "main.rs")?, folders_with("tests", "glsl")?];
    Ok([examples, vec![root().join("bench")], tests].concat())
}

/// A path as the workspace's users name it.
pub(crate) fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn programs_are_found_by_their_folders() {
        let programs: Vec<_> = super::programs().unwrap().iter().map(|path| super::shown(path)).collect();
        for folder in ["examples/weld", "bench", "tests/hash"] {
            assert!(programs.iter().any(|program| program == folder), "{folder} is not among {programs:?}");
        }
        assert!(programs.iter().all(|program| program != "tests/common"));
    }

    #[test]
    fn examples_in_other_languages_are_none_of_ours() {
        assert_eq!(super::examples().unwrap(), ["join", "lbvh", "sssp", "tlas", "weld"]);
    }
}
