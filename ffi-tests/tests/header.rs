//! The header against the library: layouts and values in four dialects, and the list of functions.

use anyhow::{Result, ensure};
use ffi_tests::{Api, header, library, run, scratch_folder, workspace};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trommel::capi::layout;

const DIALECTS: &[(&str, &str)] = &[("cc", "c99"), ("cc", "c11"), ("c++", "c++11"), ("c++", "c++17")];

/// `s_type` as C spells it.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

/// A source file that compiles if the layouts and values in the header equal the library's.
fn assertions() -> Result<String> {
    let mut text = String::from("#include <trommel.h>\n\n");
    let mut number = 0;
    let mut assert = |condition: String| {
        number += 1;
        // C99 and C++11 have only this form of assertion in common.
        writeln!(text, "typedef char assertion_{number}[({condition}) ? 1 : -1];")
    };
    for s in layout::structs() {
        assert(format!("sizeof({}) == {}", s.name, s.size))?;
        for member in s.members {
            let name = camel_case(member.name);
            assert(format!("offsetof({}, {name}) == {}", s.name, member.offset))?;
            assert(format!("sizeof((({} *)0)->{name}) == {}", s.name, member.size))?;
        }
    }
    for (name, value) in layout::values() {
        assert(format!("{name} == {value}"))?;
    }
    text += "\nint main(void)\n{\n    return 0;\n}\n";
    Ok(text)
}

/// Argument names in errors of the Rust API alone.
const OF_RUST: [&str; 2] = ["buffer.size", "handle"];

/// Code before an argument's name, where an error is created or where the name is stored for an error.
const BEFORE_NAMES: [&str; 18] = [
    "argument: ",
    "argument = ",
    "first: ",
    "second: ",
    "address: ",
    "size: ",
    "argument(",
    "malformed(",
    "object(",
    "read(",
    "checked(",
    "optional(",
    "boolean(",
    "value_of(",
    "check_bits(",
    "check_alignment(",
    "check_multiple(",
    "check::<",
];

/// Names of arguments in the errors of a source file, with the lines that they are in.
fn argument_names(source: &str) -> Vec<(String, String)> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut names = Vec::new();
    for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let parts: Vec<&str> = line.split('"').collect();
        for pair in parts.chunks(2).filter(|pair| pair.len() == 2) {
            let (before, literal) = (pair[0], pair[1]);
            let is_name = literal.starts_with(|c: char| c.is_ascii_lowercase())
                && literal.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
            // In tuples of names and values, a literal in C spelling is a name.
            let spelled_as_c = literal.contains(|c: char| c.is_ascii_uppercase() || c == '.');
            let in_tuple = before.ends_with('(') && (spelled_as_c || line.contains("for (argument"));
            let known =
                |prefix: &&str| before.ends_with(*prefix) || before.contains("check::<") && before.ends_with(">(");
            if is_name && (in_tuple || BEFORE_NAMES.iter().any(known)) {
                names.push((literal.to_owned(), line.trim().to_owned()));
            }
            // A line of roles! names a range. The members of the range have names, too.
            let is_role = before.trim_start().starts_with(|c: char| c.is_ascii_uppercase()) && before.ends_with(" = ");
            if is_name && is_role {
                let members = ["", ".address", ".size"].map(|member| format!("{literal}{member}"));
                names.extend(members.map(|name| (name, line.trim().to_owned())));
            }
        }
    }
    names
}

/// Every `.rs` file below a folder, those of tests aside.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "tests") {
            files.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

/// Parameters of the header's functions.
fn parameters() -> Result<BTreeSet<String>> {
    let text = header()?;
    let functions = text.lines().filter(|line| !line.trim_start().starts_with(['/', '*']));
    let names =
        functions.flat_map(|line| line.split_inclusive([',', ')'])).filter_map(|part| part.strip_suffix([',', ')']));
    let last_words =
        names.map(|part| part.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_owned());
    Ok(last_words.collect())
}

#[test]
fn errors_name_members_and_parameters_of_the_header() -> Result<()> {
    let members: BTreeSet<String> =
        layout::structs().flat_map(|s| s.members).map(|member| camel_case(member.name)).collect();
    let parameters = parameters()?;
    let is_known = |name: &str| {
        let mut parts = name.split('.');
        let first = parts.next().unwrap_or_default();
        (members.contains(first) || parameters.contains(first)) && parts.all(|part| members.contains(part))
    };
    let (mut found, mut unknown) = (BTreeSet::new(), Vec::new());
    for file in sources(&workspace().join("src"))? {
        for (name, line) in argument_names(&fs::read_to_string(&file)?) {
            if !is_known(&name) && !OF_RUST.contains(&name.as_str()) {
                unknown.push(format!("{}: {name}, in {line}", file.display()));
            }
            found.insert(name);
        }
    }
    ensure!(unknown.is_empty(), "C has no such names:\n{}", unknown.join("\n"));
    // The test itself must be able to fail, and must find existing names.
    for name in
        ["keysOut", "segments.offsets.size", "keyStride", "queueFamilyIndex", "codeSize", "timestamps.first", "low"]
    {
        ensure!(found.contains(name), "{name} is not among {found:?}");
    }
    ensure!(!is_known("dropKeys") && !is_known("keys.stride") && is_known("splitters.address"));
    Ok(())
}

#[test]
fn layouts_and_values_are_the_same_in_every_dialect() -> Result<()> {
    let folder = scratch_folder("header")?;
    let text = assertions()?;
    for (compiler, dialect) in DIALECTS {
        let extension = if compiler.ends_with("++") { "cpp" } else { "c" };
        let source = folder.join(format!("abi.{extension}"));
        fs::write(&source, &text)?;
        let mut command = Command::new(compiler);
        command.arg(format!("-std={dialect}")).args([
            "-pedantic",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-I",
        ]);
        run(command.arg(workspace().join("include")).arg(&source))?;

        // The test itself must be able to fail.
        fs::write(&source, format!("{text}typedef char wrong[(sizeof(TrmCount) == 12) ? 1 : -1];\n"))?;
        ensure!(!command.output()?.status.success(), "{dialect} lets a wrong size pass");
    }
    Ok(())
}

macro_rules! headers_of_primitives {
    ($(
        $feature:literal: $primitive:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        /// The C++ header of each primitive.
        const HEADERS: &[&str] = &[$(concat!("trommel/", stringify!($primitive), ".hpp")),*];
    };
}
trommel::primitives!(headers_of_primitives);

#[test]
fn each_cpp_header_stands_alone() -> Result<()> {
    let include = workspace().join("include");
    let source = scratch_folder("header")?.join("alone.cpp");
    let mut headers = BTreeSet::new();
    for entry in fs::read_dir(include.join("trommel"))? {
        headers.insert(format!("trommel/{}", entry?.file_name().to_string_lossy()));
    }
    let expected: BTreeSet<_> = HEADERS.iter().map(|header| (*header).to_owned()).collect();
    ensure!(headers == expected, "each primitive has a header: {headers:?} instead of {expected:?}");
    headers.insert("trommel.hpp".to_owned());
    for (header, dialect) in headers.iter().flat_map(|header| [(header, "c++17"), (header, "c++20")]) {
        fs::write(&source, format!("#include <{header}>\n"))?;
        let mut command = Command::new("c++");
        command.arg(format!("-std={dialect}")).args([
            "-pedantic",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fsyntax-only",
            "-I",
        ]);
        run(command.arg(&include).arg(&source))?;
    }
    Ok(())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

#[test]
fn nothing_of_the_header_is_left_unchecked() -> Result<()> {
    let header = header()?;
    let code: String = header
        .lines()
        .filter(|line| !line.trim_start().starts_with(['/', '*']))
        .fold(String::new(), |s, l| s + l + "\n");
    let values: BTreeSet<_> = words(&code).filter(|word| word.starts_with("TRM_")).collect();
    let known: BTreeSet<_> = layout::values().map(|(name, _)| *name).collect();
    ensure!(values == known, "header and layouts differ in {:?}", values.symmetric_difference(&known));

    let structs = code.lines().filter_map(|line| line.strip_prefix("typedef struct ")?.strip_suffix(" {"));
    let structs: BTreeSet<_> = structs.collect();
    let known: BTreeSet<_> = layout::structs().map(|s| s.name).collect();
    ensure!(structs == known, "header and layouts differ in {:?}", structs.symmetric_difference(&known));

    for s in layout::structs() {
        let start = code.find(&format!("typedef struct {} {{", s.name)).unwrap();
        let body = &code[start..start + code[start..].find('}').unwrap()];
        ensure!(body.matches(';').count() == s.members.len(), "a member of {} has no layout", s.name);
    }
    Ok(())
}

#[test]
fn the_library_exports_the_functions_of_the_header_and_nothing_else() -> Result<()> {
    let header = header()?;
    let declared: BTreeSet<_> =
        words(&header).filter(|word| word.starts_with("trm") && header.contains(&format!("{word}("))).collect();
    // Comments speak of families of functions, and of those that callers write.
    let declared: BTreeSet<_> = declared.into_iter().filter(|name| *name != "trmCmd" && !name.contains('_')).collect();
    let called: BTreeSet<_> = Api::names().collect();
    ensure!(declared == called, "header and tests differ in {:?}", declared.symmetric_difference(&called));

    for library in [library()?, ffi_tests::library_without_primitives()?] {
        let symbols = run(Command::new("nm").args(["--dynamic", "--defined-only"]).arg(library))?;
        let exported: BTreeSet<_> = symbols.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
        ensure!(exported == declared, "header and library differ in {:?}", exported.symmetric_difference(&declared));
    }
    Ok(())
}
