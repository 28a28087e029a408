//! The width of lines: at most 120 columns in code, 100 in Markdown.

use crate::workspace;
use anyhow::{Context, Result};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Extensions of files with code. Snapshots and records have others.
const CODE: &[&str] = &["rs", "glsl", "comp", "h", "hpp", "c", "cpp", "py", "toml", "cmake"];
const CODE_COLUMNS: usize = 120;
const MARKDOWN_COLUMNS: usize = 100;

/// The maximum width of a line in a file of this name; none for other files.
fn limit(path: &Path) -> Option<usize> {
    match path.extension()?.to_str()? {
        "md" => Some(MARKDOWN_COLUMNS),
        extension => CODE.contains(&extension).then_some(CODE_COLUMNS),
    }
}

/// Whether Markdown cannot break this line: a row of a table, an image.
fn is_whole(line: &str) -> bool {
    ["|", "!["].iter().any(|start| line.trim_start().starts_with(start))
}

/// The numbers of the lines that are too wide, counted from 1.
fn wide_lines(path: &Path, text: &str) -> Vec<usize> {
    let Some(limit) = limit(path) else { return Vec::new() };
    let is_markdown = limit == MARKDOWN_COLUMNS;
    let lines = text.lines().enumerate();
    let wide = lines.filter(|(_, line)| line.chars().count() > limit && !(is_markdown && is_whole(line)));
    wide.map(|(index, _)| index + 1).collect()
}

/// Every file of the repository with a limit: not those that git ignores, nor those in hidden folders.
fn files() -> Result<Vec<PathBuf>> {
    let ignored = fs::read_to_string(workspace::root().join(".gitignore"))?;
    let ignored: BTreeSet<_> = ignored.lines().filter_map(|line| line.strip_prefix('/')?.strip_suffix('/')).collect();
    let mut files = Vec::new();
    let mut folders = vec![workspace::root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let entry = entry?;
            let (path, kind, name) = (entry.path(), entry.file_type()?, entry.file_name());
            let name = name.to_string_lossy();
            if kind.is_dir() && !name.starts_with('.') && !ignored.contains(&*workspace::shown(&path)) {
                folders.push(path);
            } else if kind.is_file() && limit(&path).is_some() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[test]
fn lines_fit_the_width() {
    let files = files().unwrap();
    for known in ["src/lib.rs", "include/trommel.h", "glsl/core/shared.glsl", "README.md", "docs/design.md"] {
        assert!(files.contains(&workspace::root().join(known)), "{known} is not among {} files", files.len());
    }
    let wide_lines = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        wide_lines(path, &text).into_iter().map(|line| format!("{}:{line}", workspace::shown(path))).collect::<Vec<_>>()
    };
    let wide: Vec<_> = files.iter().flat_map(wide_lines).collect();
    assert!(wide.is_empty(), "more than {CODE_COLUMNS} columns, in Markdown {MARKDOWN_COLUMNS}: {}", wide.join(", "));
}

#[test]
fn wide_lines_are_found() {
    let text = |columns: usize| format!("short\n{}\n", "\u{e9}".repeat(columns));
    let found = |name: &str, text: &str| wide_lines(Path::new(name), text);
    assert!(found("a.rs", &text(120)).is_empty());
    assert_eq!(found("a.rs", &text(121)), [2]);
    assert!(found("a.md", &text(100)).is_empty());
    assert_eq!(found("a.md", &text(101)), [2]);
    assert!(found("a.snap", &text(200)).is_empty());
    let (row, image) = (format!("| {} |", "a".repeat(100)), format!("![{}](a.png)", "a".repeat(100)));
    assert!(found("a.md", &format!("{row}\n{image}")).is_empty());
    assert_eq!(found("a.rs", &format!("{row}{image}")), [1]);
}
