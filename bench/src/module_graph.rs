//! Tests that the modules of this program use each other without a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules that each module uses, by paths such as `primitives::sort`. The path of main.rs is empty.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Reads the sources below `folder`, except other programs and this file: its tests contain paths.
fn read(folder: &Path, module: &str, sources: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let child = if module.is_empty() { stem.to_owned() } else { format!("{module}::{stem}") };
        if path.is_dir() {
            if child != "bin" {
                read(&path, &child, sources);
            }
        } else if child != "module_graph" {
            let module = if matches!(stem, "main" | "mod") { module.to_owned() } else { child };
            sources.insert(module, fs::read_to_string(&path).unwrap());
        }
    }
}

/// Finds every path of `source` into this program, as paths from its root: those that begin with `crate`, `super` or a
/// child module.
fn paths(module: &str, source: &str) -> Vec<String> {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let code: Vec<_> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let children: Vec<_> =
        code.iter().filter_map(|line| line.strip_suffix(';')?.rsplit_once("mod ")).map(|(_, name)| name).collect();
    // A list of primitives names each child module by the same variable of a macro.
    let expanded = code.iter().flat_map(|line| match line.contains("$module") {
        true => children.iter().map(|child| line.replace("$module", child)).collect(),
        false => vec![(*line).to_owned()],
    });
    let mut paths = Vec::new();
    for line in expanded {
        for path in line.split(|c| !is_path(c)).filter(|path| path.contains("::")) {
            let (first, rest) = path.split_once("::").unwrap();
            // In a nested module of the file, `super` is the file's module.
            let is_nested = line.starts_with(' ');
            let base = match first {
                "crate" => String::new(),
                "super" if !is_nested => module.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned(),
                child if children.contains(&child) => format!("{module}::{child}"),
                _ => continue,
            };
            assert!(!rest.is_empty() || first != "crate", "{module}: name one module in each `use crate::`");
            paths.push(format!("{base}::{rest}"));
        }
    }
    paths
}

fn graph(sources: &BTreeMap<String, String>) -> Graph {
    let uses = |module: &String, source: &String| {
        let targets = paths(module, source).into_iter().map(|path| {
            let mut target = path.trim_matches(':');
            while !sources.contains_key(target) {
                target = target.rsplit_once("::").map_or("", |(parent, _)| parent);
            }
            target.to_owned()
        });
        (module.clone(), targets.filter(|target| target != module).collect())
    };
    sources.iter().map(|(module, source)| uses(module, source)).collect()
}

/// A cycle, as the modules on it. The first is also the last.
fn cycle(graph: &Graph) -> Option<Vec<String>> {
    fn visit(
        graph: &Graph,
        module: &String,
        path: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(start) = path.iter().position(|earlier| earlier == module) {
            return Some(path[start..].iter().chain([module]).cloned().collect());
        }
        if done.contains(module) {
            return None;
        }
        path.push(module.clone());
        let found = graph.get(module)?.iter().find_map(|used| visit(graph, used, path, done));
        path.pop();
        done.insert(module.clone());
        found
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|module| visit(graph, module, &mut Vec::new(), &mut done))
}

fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    sources
}

#[test]
fn modules_have_no_cycle() {
    let graph = graph(&sources());
    assert!(graph["job"].contains("workload") && graph["primitives"].contains("primitives::sort"), "{graph:#?}");
    let cycle = cycle(&graph).map(|cycle| cycle.join(" -> "));
    assert_eq!(cycle, None, "a cycle of modules");
}

#[test]
fn modules_outside_primitives_know_none() {
    for (module, used) in graph(&sources()).iter().filter(|(module, _)| !module.starts_with("primitives")) {
        let inner: Vec<_> = used.iter().filter(|used| used.starts_with("primitives::")).collect();
        assert!(inner.is_empty(), "{module} uses {inner:?}");
    }
}

#[test]
fn the_drawing_in_main_has_every_module_above_those_that_it_uses() {
    let sources = sources();
    let graph = graph(&sources);
    let drawing = sources[""].split("//! ```").nth(1).unwrap();
    let top = |module: &str| module.split("::").next().unwrap().to_owned();
    let line = |module: &str| drawing.lines().position(|line| line.split_whitespace().any(|word| word == module));
    for (module, used) in graph.iter().filter(|(module, _)| !module.is_empty()) {
        let module = top(module);
        let own = line(&module).unwrap_or_else(|| panic!("{module} is not in the drawing"));
        for used in used.iter().map(|used| top(used)).filter(|used| *used != module) {
            assert!(line(&used).is_some_and(|line| line > own), "{module} uses {used}, which is not below");
        }
    }
}

#[test]
fn a_cycle_is_named() {
    let sources = [
        ("", "mod a;\nmod b;\nuse a::A;"),
        ("a", "use crate::b::B;"),
        ("b", "// use crate::nothing;\nuse crate::b::c::C;\nmod tests {\n    use super::*;\n}"),
        ("b::c", "use super::d::D;\nfn f() -> crate::a::A {}"),
        ("b::d", ""),
    ];
    let sources = sources.map(|(module, source)| (module.to_owned(), source.to_owned())).into();
    let graph = graph(&sources);
    assert_eq!(graph["b::c"], ["a".to_owned(), "b::d".to_owned()].into());
    assert_eq!(cycle(&graph).unwrap(), ["a", "b", "b::c", "a"]);
    let listed = paths("b", "mod c;\nmod d;\nmacro_rules! all {\n    () => { &[$(&$module::ALL),*] };\n}");
    assert_eq!(listed, ["b::c::ALL", "b::d::ALL"]);
    let without_a = graph.into_iter().filter(|(module, _)| module != "a").collect();
    assert_eq!(cycle(&without_a), None);
}
