//! The modules to compile: the rows of each `VARIANTS` below glsl/, and each kernel of an example or the bench.

use crate::{modules, workspace};
use anyhow::{Context, Result, bail, ensure};
use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// A folder of modules, and the kernels they come from.
pub(crate) struct Set {
    pub(crate) glsl: PathBuf,
    pub(crate) spirv: PathBuf,
    pub(crate) variants: Vec<Variant>,
    /// The library embeds its modules compressed.
    pub(crate) compressed: bool,
}

impl Set {
    /// The file of a variant's module.
    pub(crate) fn module(&self, variant: &Variant) -> PathBuf {
        let extension = if self.compressed { modules::COMPRESSED } else { modules::PLAIN };
        self.spirv.join(format!("{}.{extension}", variant.name))
    }
}

/// One module: a kernel under some macro definitions.
pub(crate) struct Variant {
    pub(crate) name: String,
    /// Relative to the set's `glsl`.
    pub(crate) file: String,
    /// `NAME` or `NAME=VALUE`.
    pub(crate) defines: Vec<String>,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", self.name, self.file)?;
        self.defines.iter().try_for_each(|define| write!(f, " {define}"))
    }
}

/// The library's set, then those of programs.
pub(crate) fn sets() -> Result<Vec<Set>> {
    let root = workspace::root();
    let glsl = root.join("glsl");
    let mut sets = vec![Set { variants: of_rooms(&glsl)?, glsl, spirv: root.join("spirv"), compressed: true }];
    for folder in workspace::programs()? {
        let glsl = folder.join("glsl");
        let variants = workspace::files(&glsl, "comp")?.iter().map(|path| of_file(path)).collect::<Result<_>>()?;
        sets.push(Set { variants, glsl, spirv: folder.join("spirv"), compressed: false });
    }
    sets.retain(|set| !set.variants.is_empty());
    Ok(sets)
}

/// The rows of each folder's `VARIANTS`, folders sorted by name.
fn of_rooms(glsl: &Path) -> Result<Vec<Variant>> {
    let mut rooms = Vec::new();
    for entry in fs::read_dir(glsl).with_context(|| format!("cannot list {}", glsl.display()))? {
        rooms.push(entry?.file_name().to_string_lossy().into_owned());
    }
    rooms.sort();
    let mut variants = Vec::new();
    for room in rooms {
        let table = glsl.join(&room).join("VARIANTS");
        if table.is_file() {
            parse(&fs::read_to_string(&table)?, &room, &mut variants)?;
        }
    }
    Ok(variants)
}

/// Adds the rows `name file DEFINE=VALUE ...` of a folder; `#` begins a comment.
fn parse(text: &str, room: &str, variants: &mut Vec<Variant>) -> Result<()> {
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace().map(str::to_owned);
        let Some(name) = words.next() else { continue };
        let Some(file) = words.next() else { bail!("glsl/{room}/VARIANTS:{number}: {name} has no file") };
        ensure!(variants.iter().all(|v| v.name != name), "glsl/{room}/VARIANTS:{number}: {name} is there twice");
        variants.push(Variant { name, file: format!("{room}/{file}"), defines: words.collect() });
    }
    Ok(())
}

fn of_file(path: &Path) -> Result<Variant> {
    let text = |part: Option<&std::ffi::OsStr>| {
        let part = part.and_then(|p| p.to_str());
        part.map(str::to_owned).with_context(|| format!("{} is no name for a kernel", path.display()))
    };
    Ok(Variant { name: text(path.file_stem())?, file: text(path.file_name())?, defines: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn rows_are_read() {
        let mut rows = Vec::new();
        parse("# a comment\n\na  a.comp  X=1 Y # why\n", "sort", &mut rows).unwrap();
        parse("b b.comp\n", "split", &mut rows).unwrap();
        assert_eq!(rows.iter().map(|v| v.to_string()).collect::<Vec<_>>(), ["a sort/a.comp X=1 Y", "b split/b.comp"]);
    }

    #[test]
    fn bad_rows_are_named() {
        for (text, word) in [
            ("a", "glsl/sort/VARIANTS:1: a has no file"),
            ("a a.comp\n\na b.comp", "glsl/sort/VARIANTS:3: a is there twice"),
        ] {
            let error = parse(text, "sort", &mut Vec::new()).err().unwrap().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
