//! The header against the library: layouts and values in four dialects, and the list of functions.

use anyhow::{Result, ensure};
use ffi_tests::{Api, header, library, run, scratch_folder, workspace};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use trommel::capi::layout::{STRUCTS, VALUES};

const DIALECTS: &[(&str, &str)] = &[("cc", "c99"), ("cc", "c11"), ("c++", "c++11"), ("c++", "c++17")];

/// `s_type` as C spells it.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

/// A source file that compiles where the header says what the library does.
fn assertions() -> Result<String> {
    let mut text = String::from("#include <trommel.h>\n\n");
    let mut number = 0;
    let mut assert = |condition: String| {
        number += 1;
        // C99 and C++11 have no assertion in common but this one.
        writeln!(text, "typedef char assertion_{number}[({condition}) ? 1 : -1];")
    };
    for s in STRUCTS {
        assert(format!("sizeof({}) == {}", s.name, s.size))?;
        for member in s.members {
            let name = camel_case(member.name);
            assert(format!("offsetof({}, {name}) == {}", s.name, member.offset))?;
            assert(format!("sizeof((({} *)0)->{name}) == {}", s.name, member.size))?;
        }
    }
    for (name, value) in VALUES {
        assert(format!("{name} == {value}"))?;
    }
    text += "\nint main(void)\n{\n    return 0;\n}\n";
    Ok(text)
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
        command.arg(format!("-std={dialect}")).args(["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"]);
        run(command.arg(workspace().join("include")).arg(&source))?;

        // The test itself must be able to fail.
        fs::write(&source, format!("{text}typedef char wrong[(sizeof(TrmCount) == 12) ? 1 : -1];\n"))?;
        ensure!(!command.output()?.status.success(), "{dialect} lets a wrong size pass");
    }
    Ok(())
}

#[test]
fn the_cpp_header_stands_alone() -> Result<()> {
    let source = scratch_folder("header")?.join("alone.cpp");
    fs::write(&source, "#include <trommel.hpp>\n")?;
    for dialect in ["c++17", "c++20"] {
        let mut command = Command::new("c++");
        command.arg(format!("-std={dialect}")).args(["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"]);
        run(command.arg(workspace().join("include")).arg(&source))?;
    }
    Ok(())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

#[test]
fn nothing_of_the_header_is_left_unchecked() -> Result<()> {
    let header = header()?;
    let code: String =
        header.lines().filter(|line| !line.trim_start().starts_with(['/', '*'])).fold(String::new(), |s, l| s + l + "\n");
    let values: BTreeSet<_> = words(&code).filter(|word| word.starts_with("TRM_")).collect();
    let known: BTreeSet<_> = VALUES.iter().map(|(name, _)| *name).collect();
    ensure!(values == known, "header and layout.rs differ in {:?}", values.symmetric_difference(&known));

    let structs = code.lines().filter_map(|line| line.strip_prefix("typedef struct ")?.strip_suffix(" {"));
    let structs: BTreeSet<_> = structs.collect();
    let known: BTreeSet<_> = STRUCTS.iter().map(|s| s.name).collect();
    ensure!(structs == known, "header and layout.rs differ in {:?}", structs.symmetric_difference(&known));

    for s in STRUCTS {
        let start = code.find(&format!("typedef struct {} {{", s.name)).unwrap();
        let body = &code[start..start + code[start..].find('}').unwrap()];
        ensure!(body.matches(';').count() == s.members.len(), "a member of {} is not in layout.rs", s.name);
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
    let called: BTreeSet<_> = Api::NAMES.iter().copied().collect();
    ensure!(declared == called, "header and tests differ in {:?}", declared.symmetric_difference(&called));

    for library in [library()?, ffi_tests::library_without_primitives()?] {
        let symbols = run(Command::new("nm").args(["--dynamic", "--defined-only"]).arg(library))?;
        let exported: BTreeSet<_> = symbols.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
        ensure!(exported == declared, "header and library differ in {:?}", exported.symmetric_difference(&declared));
    }
    Ok(())
}
