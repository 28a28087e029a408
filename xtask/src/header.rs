//! `cargo xtask header`: include/trommel.h out of src/capi and src/core/ffi.rs.

use crate::workspace;
use anyhow::{Context, Result, anyhow, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
};

pub(crate) fn run(check: bool) -> Result<()> {
    let path = workspace::root().join("include/trommel.h");
    let text = generate()?;
    if fs::read(&path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    ensure!(!check, "include/trommel.h is not that of src/capi: run `cargo xtask header`");
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("updated include/trommel.h");
    Ok(())
}

fn generate() -> Result<Vec<u8>> {
    let root = workspace::root();
    let folder = root.join("src/capi");
    let mut config =
        cbindgen::Config::from_file(root.join("cbindgen.toml")).map_err(|e| anyhow!("cbindgen.toml: {e}"))?;
    // The aliases of ash's types stand for the real ones, which <vulkan/vulkan_core.h> declares.
    for source in workspace::files(&folder, "rs")? {
        config.export.exclude.extend(vulkan_aliases(&fs::read_to_string(source)?));
    }
    // Functions name some structs nowhere: those that only the device writes.
    for source in sources(&folder)? {
        config.export.include.extend(structs(&fs::read_to_string(source)?));
    }
    // From mod.rs on and not from lib.rs: of the rest of the crate, only the shared structs are C's business.
    let builder = cbindgen::Builder::new().with_config(config).with_src(folder.join("mod.rs"));
    let builder = builder.with_src(root.join("src/core/ffi.rs"));
    let mut text = Vec::new();
    builder.generate().context("cbindgen cannot read src/capi")?.write(&mut text);
    Ok(text)
}

/// Names of `pub type Vk... =` and `pub type PFN_vk... =`.
fn vulkan_aliases(source: &str) -> impl Iterator<Item = String> {
    source.lines().filter_map(|line| {
        let name = line.trim().strip_prefix("pub type ")?.split([' ', '=', '<']).next()?;
        (name.starts_with("Vk") || name.starts_with("PFN_vk")).then(|| name.to_owned())
    })
}

/// The files of a folder and of the folders in it.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = workspace::files(folder, "rs")?;
    for entry in fs::read_dir(folder)? {
        all.extend(workspace::files(&entry?.path(), "rs")?);
    }
    Ok(all)
}

/// Names of `pub struct Trm... {`: all structs but those behind handles, which have no named members.
fn structs(source: &str) -> impl Iterator<Item = String> {
    source.lines().filter_map(|line| {
        let name = line.strip_prefix("pub struct ")?.strip_suffix(" {")?;
        name.starts_with("Trm").then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_structs_with_members_are_included() {
        let source =
            "pub struct TrmCount {\n}\npub struct TrmDevice_T(pub(super) crate::Device);\nstruct TrmPart {\n}\n";
        assert_eq!(super::structs(source).collect::<Vec<_>>(), ["TrmCount"]);
    }

    #[test]
    fn only_vulkan_aliases_are_excluded() {
        let source =
            "pub type VkBuffer = vk::Buffer;\npub type TrmSorter = *mut Sorter;\npub type PFN_vkX = Option<vk::X>;";
        assert_eq!(super::vulkan_aliases(source).collect::<Vec<_>>(), ["VkBuffer", "PFN_vkX"]);
    }
}
