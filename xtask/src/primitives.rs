//! `cargo xtask primitive NAME`: the lines outside a primitive's own folders that name it.
//!
//! A primitive is a folder of `src/capi`. Its own files have its name, or are in a folder of its name. Other files are
//! the same for every primitive, except for the lines of [`LISTS`].

use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// The shared lists that a new primitive extends. Docs and tests aside, no other file changes.
const LISTS: [&str; 6] = [
    // The feature.
    "Cargo.toml",
    // The module, its public names, and a line of `primitives!`.
    "src/lib.rs",
    // The module, and the values of `TrmStructureType`.
    "src/capi/mod.rs",
    // The module with the cases of `trommel-bench`.
    "bench/src/primitives/mod.rs",
    // The module of the random testers.
    "fuzz/src/lib.rs",
    // The module with the functions that tests of the C ABI load.
    "ffi-tests/src/lib.rs",
];

/// What is the same for all primitives: folders and files in which only [`LISTS`] may name one. Other tests use
/// primitives and may name any, as examples do.
const SHARED: &[&str] = &[
    "Cargo.toml",
    "build.rs",
    "include/trommel",
    "include/trommel.hpp",
    "src",
    "glsl",
    "bench/src",
    "fuzz/src",
    "ffi-tests/src",
    "tests/common",
    "tests/no_alloc.rs",
    "tests/stack.rs",
    "xtask/src",
];

/// Primitives with ambiguous names: sorts merge runs, and the standard library has hash maps. Such a name may also mean
/// a folder, a verb or a noun. The primitive's own are the names of the handle, of public types and of the
/// constants in `interface.rs`, their prefixes, and paths ([`Primitive::is_path`]).
const ROOMS: &[&str] = &["merge", "hash"];

/// Primitives that are composed of others, and those others: their files name them.
const COMPOSED: &[(&str, &[&str])] = &[("hash", &["sort"])];

/// Tests below [`SHARED`].
const TESTS: &[&str] =
    &["src/radix/tests", "src/core/specialize/tests.rs", "bench/src/module_graph.rs", "xtask/src/primitives.rs"];

/// Generated from the files of all folders, below [`SHARED`].
const GENERATED: &[&str] = &["glsl/core/shared.glsl"];

/// Programs that name primitives, below [`SHARED`]: the compiler of user-defined functions, and drawings of the
/// approaches to a split, of the methods of a merge, and of insertions into hash tables.
const PROGRAMS: &[&str] = &["src/bin/trommel-kernel.rs", "bench/src/bin/trommel-plot"];

/// Folders in which the files of a primitive may use others: to compare with them, or to draw the same members.
const COMPARING: &[&str] = &["bench/src", "fuzz/src"];

/// A primitive's name and the names that it declares.
#[derive(Debug)]
struct Primitive {
    name: String,
    /// The name, unless it is one of [`ROOMS`], and the handle's name, in lower case.
    words: Vec<String>,
    /// Public names in Rust and C, and the constants of `interface.rs`.
    declared: BTreeSet<String>,
    /// Prefixes of constants that no shared folder has: `OPERATION_`.
    prefixes: BTreeSet<String>,
    /// Specialization constants: `Constant::Operation`.
    specialization: Vec<String>,
}

/// Names that a shared folder gives its own functions and files. They may have a primitive's name as a verb: the folder
/// glsl/radix has a function `sort_tile`.
#[derive(Debug, Default)]
struct Folder {
    name: String,
    /// Functions, and files without their extensions.
    own: BTreeSet<String>,
}

/// A line that names a primitive.
#[derive(Debug)]
struct Mention {
    file: String,
    number: usize,
    line: String,
}

pub(crate) fn run(name: &str) -> Result<()> {
    let primitives = primitives()?;
    let names: Vec<_> = primitives.iter().map(|primitive| primitive.name.as_str()).collect();
    let primitive = primitives.iter().find(|primitive| primitive.name == name);
    let primitive = primitive.with_context(|| format!("no primitive {name}: there are {}", names.join(", ")))?;
    let mentions = primitive.mentions(&primitives)?;
    let (listed, unlisted): (Vec<_>, Vec<_>) =
        mentions.iter().partition(|mention| LISTS.contains(&mention.file.as_str()));
    for (title, mentions) in [("lists", &listed), ("not listed", &unlisted)] {
        println!("{title}:");
        mentions.iter().for_each(|mention| println!("  {}:{}: {}", mention.file, mention.number, mention.line));
    }
    ensure!(unlisted.is_empty(), "{} lines of other files name {name}", unlisted.len());
    Ok(())
}

/// The names of the primitives.
pub(crate) fn names() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(workspace::root().join("src/capi"))? {
        let entry = entry?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn primitives() -> Result<Vec<Primitive>> {
    let library = read("src/lib.rs")?;
    names()?.into_iter().map(|name| Primitive::read(name, &library)).collect()
}

fn read(file: &str) -> Result<String> {
    fs::read_to_string(workspace::root().join(file)).with_context(|| format!("cannot read {file}"))
}

impl Primitive {
    /// `library`: the source of src/lib.rs.
    fn read(name: String, library: &str) -> Result<Self> {
        // "sort": sort, Sort(Sorter, SortInfo), TrmSortInfo;
        let entry = library.lines().find(|line| line.trim_start().starts_with(&format!("\"{name}\": ")));
        let handle =
            entry.and_then(|line| line.split_once('(')?.1.split_once(',')).map(|(handle, _)| handle.to_lowercase());
        let handle = handle.with_context(|| format!("primitives! of src/lib.rs has no {name}"))?;
        let mut declared: BTreeSet<String> = BTreeSet::new();
        declared.extend(exports(library, &name).flat_map(identifiers).map(|(_, identifier)| identifier.to_owned()));
        for path in files(&workspace::root().join("src/capi").join(&name))? {
            let source = fs::read_to_string(&path)?;
            declared.extend(source.lines().filter_map(declaration).map(str::to_owned));
        }
        let interface = read(&format!("src/{name}/interface.rs"))?;
        let shared = read("src/radix/interface.rs")?;
        let [own, shared] = [&interface, &shared].map(|file| file.lines().filter_map(constant).collect::<Vec<_>>());
        declared.extend(own.iter().map(|constant| (*constant).to_owned()));
        let prefixes: BTreeSet<_> = own.into_iter().filter_map(prefix).collect();
        let prefixes = &prefixes - &shared.into_iter().filter_map(prefix).collect();
        let specialization = interface.lines().filter_map(specialization).collect();
        let words = if ROOMS.contains(&name.as_str()) { vec![handle] } else { vec![name.clone(), handle] };
        Ok(Self { words, name, declared, prefixes, specialization })
    }

    /// Whether a file is of this primitive.
    fn owns(&self, file: &str) -> bool {
        Path::new(file).iter().any(|part| Path::new(part).file_stem().is_some_and(|stem| stem == self.name.as_str()))
    }

    /// Whether code of a folder names this primitive by one of these words or by a declared name. Methods of the
    /// standard library, such as `.split_at()`, and their parallel forms are not its names.
    fn is_named_in(&self, names: &[String], code: &str, folder: &Folder) -> bool {
        let is_own = |word: &str| names.iter().any(|own| word == own || word.strip_suffix('s') == Some(own));
        identifiers(code).any(|(before, identifier)| {
            // A function of the name is a verb.
            let is_verb = identifier == self.name && code[before.len() + identifier.len()..].starts_with('(');
            let is_method = (before.ends_with('.') || before.ends_with("env::"))
                && names.iter().any(|own| identifier.trim_start_matches("par_").starts_with(own.as_str()));
            let named = || !is_verb && !is_method && words(identifier).iter().any(|word| is_own(word));
            let whole = &code[..before.len() + identifier.len()];
            let is_declared = self.declared.contains(identifier)
                || self.prefixes.contains(identifier)
                || self.specialization.iter().any(|constant| whole.ends_with(constant.as_str()));
            let is_path = identifier == self.name && self.is_path(before, &code[whole.len()..]);
            is_declared || is_path || named() && !folder.owns(identifier)
        })
    }

    /// Whether a name between these texts is a path to the primitive: `tests/hash` or `hash::tests`.
    fn is_path(&self, before: &str, after: &str) -> bool {
        let is_module = after.strip_prefix("::").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
        before.ends_with("tests/") || is_module && !["std::", "core::"].iter().any(|root| before.ends_with(root))
    }

    /// The lines of shared files, and of other primitives' files, that name this primitive.
    fn mentions(&self, primitives: &[Self]) -> Result<Vec<Mention>> {
        let mut mentions = Vec::new();
        let mut folders: BTreeMap<PathBuf, Folder> = BTreeMap::new();
        for path in shared_files()? {
            let file = workspace::shown(&path);
            let compares = COMPARING.iter().any(|folder| file.starts_with(folder));
            let is_composed = |other: &Self| {
                COMPOSED.iter().any(|(name, parts)| *name == other.name && parts.contains(&self.name.as_str()))
            };
            let may_name = |other: &Self| (compares || is_composed(other)) && other.owns(&file);
            if self.owns(&file) || primitives.iter().any(may_name) {
                continue;
            }
            let parent = path.parent().unwrap_or(Path::new("."));
            if !folders.contains_key(parent) {
                folders.insert(parent.to_owned(), Folder::read(parent)?);
            }
            let folder = &folders[parent];
            // A list has the primitive, whatever else its name may mean.
            let listed = [&self.words[..], std::slice::from_ref(&self.name)].concat();
            let names = if LISTS.contains(&file.as_str()) { &listed } else { &self.words };
            let source = fs::read_to_string(&path).with_context(|| file.clone())?;
            let code = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            for (index, line) in code.lines().enumerate() {
                if self.is_named_in(names, without_comment(line, &file), folder) {
                    mentions.push(Mention { file: file.clone(), number: index + 1, line: line.trim().to_owned() });
                }
            }
        }
        Ok(mentions)
    }
}

impl Folder {
    /// The names in the files of a folder. Folders in it have their own.
    fn read(path: &Path) -> Result<Self> {
        let mut own = BTreeSet::new();
        for entry in fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))? {
            let file = entry?.path();
            let is_code =
                file.extension().is_some_and(|ending| ["rs", "glsl", "comp"].iter().any(|one| ending == *one));
            // Modules of Rust are paths, not verbs.
            if is_code && file.is_file() {
                let is_module = file.extension().is_some_and(|ending| ending == "rs");
                own.extend(file.file_stem().filter(|_| !is_module).map(|stem| stem.to_string_lossy().into_owned()));
                own.extend(fs::read_to_string(&file)?.lines().filter_map(function).map(str::to_owned));
            }
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, own })
    }

    /// Whether a name is one of the folder's own, or begins with the folder's name: `merge_sort_run` in glsl/merge.
    fn owns(&self, identifier: &str) -> bool {
        self.own.contains(identifier) || words(identifier).first() == Some(&self.name)
    }
}

/// The files of [`SHARED`], sorted.
fn shared_files() -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in SHARED {
        all.extend(files(&workspace::root().join(path))?);
    }
    all.retain(|path| {
        !TESTS.iter().chain(GENERATED).chain(PROGRAMS).any(|own| path.starts_with(workspace::root().join(own)))
    });
    Ok(all)
}

/// A file, or all files below a folder, sorted.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))? {
        all.extend(files(&entry?.path())?);
    }
    all.sort();
    Ok(all)
}

/// The identifiers of a text, with what precedes each.
fn identifiers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(is_part)?;
        let end = text[start..].find(|letter| !is_part(letter)).map_or(text.len(), |length| start + length);
        at = end;
        Some((&text[..start], &text[start..end]))
    })
}

/// The words of an identifier in any style, in lower case.
fn words(identifier: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = '_';
    for letter in identifier.chars() {
        if last == '_' || letter.is_ascii_uppercase() && !last.is_ascii_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter != '_') {
            word.push(letter.to_ascii_lowercase());
        }
        last = letter;
    }
    words
}

/// The lists of names that a library's source exports from a module. A list may have several lines.
fn exports<'a>(library: &'a str, module: &str) -> impl Iterator<Item = &'a str> {
    let lists = library.split(&format!("\npub use {module}::{{")).skip(1).collect::<Vec<_>>().into_iter();
    lists.filter_map(|list| Some(list.split_once("};")?.0))
}

/// The name that a line of Rust declares to other files.
fn declaration(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?.trim_start_matches("unsafe ").trim_start_matches("extern \"C\" ");
    let (kind, rest) = rest.split_once(' ')?;
    ["struct", "enum", "type", "const", "fn"].contains(&kind).then(|| identifiers(rest).next().map(|(_, name)| name))?
}

/// The constant that a line of an `interface.rs` declares: `const NAME = 1;`.
fn constant(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix("const ")?.split_once(" = ")?.0;
    identifiers(name).next().map(|(_, first)| first).filter(|first| *first == name)
}

/// The specialization constant that a line of an `interface.rs` declares, in Rust: `Name = 1 as "SPEC_NAME",`.
fn specialization(line: &str) -> Option<String> {
    let (name, rest) = line.trim_start().split_once(" = ")?;
    rest.contains(" as \"SPEC_").then(|| format!("Constant::{name}"))
}

/// The prefix of a constant: `OPERATION_` of `OPERATION_MERGE`.
fn prefix(constant: &str) -> Option<String> {
    constant.split_once('_').map(|(prefix, _)| format!("{prefix}_"))
}

/// The name of a function that a line of Rust or GLSL declares. A single word may also be a path: it is none.
fn function(line: &str) -> Option<&str> {
    let declared = |rest| identifiers(rest).next().filter(|(before, _)| before.is_empty()).map(|(_, name)| name);
    let name = match line.split_once("fn ") {
        Some((_, rest)) => declared(rest)?,
        // GLSL: a type at the start of the line, the name, parentheses.
        None => {
            let (kind, rest) = line.split_once(' ')?;
            let name = declared(rest).filter(|name| rest[name.len()..].starts_with('('))?;
            declared(kind).filter(|whole| *whole == kind).and(Some(name))?
        }
    };
    name.contains('_').then_some(name)
}

/// A line without its comment.
fn without_comment<'a>(line: &'a str, file: &str) -> &'a str {
    let mark = if [".rs", ".glsl", ".comp", ".hpp"].iter().any(|ending| file.ends_with(ending)) { "//" } else { "#" };
    let is_code = |(at, _): &(usize, &str)| line[..*at].matches('"').count().is_multiple_of(2);
    line.match_indices(mark).find(is_code).map_or(line, |(at, _)| &line[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_files_name_no_primitive_outside_their_lists() {
        let primitives = primitives().unwrap();
        assert!(primitives.len() >= 2, "{primitives:?}");
        let mut unlisted = Vec::new();
        for primitive in &primitives {
            for Mention { file, number, line } in primitive.mentions(&primitives).unwrap() {
                if !LISTS.contains(&file.as_str()) {
                    unlisted.push(format!("{file}:{number} names {}: {line}", primitive.name));
                }
            }
        }
        assert!(unlisted.is_empty(), "shared files are the same for every primitive:\n{}", unlisted.join("\n"));
    }

    #[test]
    fn each_list_has_each_primitive() {
        let primitives = primitives().unwrap();
        for primitive in &primitives {
            let mentions = primitive.mentions(&primitives).unwrap();
            for list in LISTS {
                assert!(mentions.iter().any(|mention| mention.file == list), "{list} lacks {}", primitive.name);
            }
        }
    }

    #[test]
    fn exports_may_have_several_lines() {
        let library =
            "\npub use sort::{SortInfo, Sorter};\npub use merge::{\n    MergeInfo,\n    Merger,\n};\npub use a::{B};\n";
        let names = |module| exports(library, module).flat_map(identifiers).map(|(_, name)| name).collect::<Vec<_>>();
        assert_eq!(names("sort"), ["SortInfo", "Sorter"]);
        assert_eq!(names("merge"), ["MergeInfo", "Merger"]);
        assert_eq!(names("split"), [""; 0]);
        // Every list is found, however it is wrapped.
        for primitive in primitives().unwrap() {
            let info = primitive.declared.iter().filter(|name| !name.starts_with("Trm") && name.ends_with("Info"));
            assert!(info.count() >= 2, "{primitive:?}");
        }
    }

    #[test]
    fn names_are_distinguished_from_methods() {
        let primitives = primitives().unwrap();
        let split = primitives.iter().find(|primitive| primitive.name == "split").unwrap();
        for code in [
            "Splitter::new()",
            "mod split;",
            "split_small",
            "TRM_SPLITTER_X",
            "trmCmdSplit(",
            "BucketFunction",
            "by_splits",
        ] {
            assert!(split.is_named_in(&split.words, code, &Folder::default()), "{code} and {:?}", split.declared);
        }
        for code in [
            "line.split_once(':')",
            "splitmix64",
            "is_sorted",
            "Sorter",
            "text.split(' ')",
            "text.par_split(' ')",
            "fn sort(",
        ] {
            assert!(!split.is_named_in(&split.words, code, &Folder::default()), "{code}");
        }
        assert!(split.owns("src/split/mod.rs") && split.owns("fuzz/src/split.rs") && !split.owns("src/core/plan.rs"));
        assert_eq!(words("TrmSplitInfo"), ["trm", "split", "info"]);
        assert_eq!(words("TRM_SPLIT_X"), ["trm", "split", "x"]);
        assert_eq!(without_comment("let a = \"//\"; // Split", "a.rs"), "let a = \"//\"; ");
    }

    #[test]
    fn ambiguous_names_are_distinguished_by_their_context() {
        let primitives = primitives().unwrap();
        let is_named = |name: &str, code: &str| {
            let primitive = primitives.iter().find(|primitive| primitive.name == name).unwrap();
            primitive.is_named_in(&primitive.words, code, &Folder::default())
        };
        for code in ["\"HASH_\"", "HASH_INSERT", "Constant::Change => 0", "\"hash::tests::plans::\"", "\"tests/hash\""]
        {
            assert!(is_named("hash", code), "{code}");
        }
        for code in ["HashMap", "std::hash::Hash", "hash::<8>(files)", "let hash = 1", "Change"] {
            assert!(!is_named("hash", code), "{code}");
        }
        for code in ["\"OPERATION_\"", "Constant::Operation => 0", "OPERATION_SEGMENTS", "MergeSequence"] {
            assert!(is_named("merge", code), "{code}");
        }
        for code in ["Operation<Sorting>", "merge_runs(keys)", "\"FUNCTION_\""] {
            assert!(!is_named("merge", code), "{code}");
        }
        assert!(!is_named("split", "\"FUNCTION_\""));
    }

    #[test]
    fn verbs_of_a_folder_are_distinguished_from_names() {
        let primitives = primitives().unwrap();
        let sort = primitives.iter().find(|primitive| primitive.name == "sort").unwrap();
        let folder = |path: &str| Folder::read(&workspace::root().join(path)).unwrap();
        let (radix, merge, host) = (folder("glsl/radix"), folder("glsl/merge"), folder("src/radix"));
        for (code, folder) in [
            ("void sort_tile(Tile tile) {", &radix),
            ("    sort_by_digit(keys, digit);", &radix),
            ("merge_sort_run   sort_run.comp", &merge),
        ] {
            assert!(!sort.is_named_in(&sort.words, code, folder), "{code} and {folder:?}");
        }
        for code in [
            "use crate::sort::Sorting;",
            "use super::super::sort;",
            "mod sort;",
            "#[cfg(feature = \"sort\")]",
            "info: SortInfo,",
            "Kernel::SortSmall",
            "#include \"sort/counting.glsl\"",
            "sort_small(keys);",
            "pub sort_keys: ItemShapes,",
            "sort_run();",
        ] {
            assert!([&radix, &host].iter().all(|folder| sort.is_named_in(&sort.words, code, folder)), "{code}");
        }
        assert_eq!(function("    pub(crate) const fn sort_shapes<T>(&self) {"), Some("sort_shapes"));
        assert_eq!(function("void sort_tile("), Some("sort_tile"));
        for line in ["    sort_tile(tile);", "    return sort_tile(tile);", "let x = sort_keys(", "void main() {"] {
            assert_eq!(function(line), None, "{line}");
        }
    }
}
