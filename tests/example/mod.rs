//! Examples, run as a user runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// An example by its name.
pub(crate) struct Example {
    name: &'static str,
    program: OnceLock<PathBuf>,
}

impl Example {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, program: OnceLock::new() }
    }

    pub(crate) fn run(&self, arguments: &[&str], folder: &Path) -> Output {
        Command::new(self.program())
            .args(arguments)
            .current_dir(folder)
            .output()
            .expect("the example was built and starts")
    }

    /// Checks that each call ends with one line that begins with `error: ` and contains the given text.
    pub(crate) fn assert_refused(&self, refused: &[(&[&str], &str)], folder: &Path) {
        for (arguments, said) in refused {
            let output = self.run(arguments, folder);
            let error = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
            assert!(error.starts_with("error: ") && error.trim_end().lines().count() == 1, "{arguments:?}: {error}");
            assert!(error.contains(said), "{arguments:?}: {said:?} is not in {error}");
        }
    }

    /// `target/<profile>/examples/<name>`. A run of all tests builds the examples first, a run of one alone does not.
    fn program(&self) -> &Path {
        self.program.get_or_init(|| {
            let test = std::env::current_exe().expect("a test knows its own path");
            let profile = test.parent().and_then(Path::parent).expect("the test lies in target/<profile>/deps");
            let program = profile.join("examples").join(format!("{}{}", self.name, std::env::consts::EXE_SUFFIX));
            if !program.exists() {
                let mut build = Command::new(std::env::var("CARGO").unwrap_or("cargo".into()));
                build.args(["build", "--quiet", "--example", self.name, "--target-dir"]).arg(profile.join(".."));
                if profile.ends_with("release") {
                    build.arg("--release");
                }
                assert!(build.status().is_ok_and(|status| status.success()), "the example must build");
            }
            program
        })
    }
}

pub(crate) fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for this test");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file in it");
    }
    folder
}

/// A folder of real data. If the folder is missing, prints a line and returns none.
pub(crate) fn data(folder: &str) -> Option<PathBuf> {
    let data = std::env::var("TROMMEL_DATA").map_or_else(|_| PathBuf::from("../shared/data"), PathBuf::from);
    let found = data.join(folder).canonicalize().ok();
    if found.is_none() {
        eprintln!("left out: {} holds no {folder} (set TROMMEL_DATA)", data.display());
    }
    found
}
