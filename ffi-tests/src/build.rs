//! Folders of the workspace and of tests, and the library as a plain `cargo build` builds it.

use anyhow::{Context, Result, ensure};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The workspace's root.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The text of the C header.
///
/// # Errors
/// The file cannot be read.
pub fn header() -> Result<String> {
    fs::read_to_string(workspace().join("include/trommel.h")).context("include/trommel.h")
}

/// Cargo's target folder, and the profile's name. A test lies in TARGET/PROFILE/deps.
fn folders() -> Result<(PathBuf, String)> {
    let test = env::current_exe()?;
    let profile = test.parent().and_then(Path::parent).context("a test lies in deps")?;
    let target = profile.parent().context("a profile lies in the target folder")?;
    Ok((target.to_owned(), profile.file_name().unwrap_or_default().to_string_lossy().into_owned()))
}

/// The target folder for builds by tests. It differs from the target folder of the tests themselves: the names of the
/// library's files do not depend on its features, and the tests' own build must stay unchanged.
///
/// # Errors
/// The folder cannot be created.
pub fn target() -> Result<PathBuf> {
    scratch_folder("cargo")
}

/// The target folder of the tests themselves, for builds that would take minutes in another folder. Such a build
/// replaces the library's files there.
///
/// # Errors
/// The program is no test in a target folder.
pub fn own_target() -> Result<PathBuf> {
    Ok(folders()?.0)
}

/// An empty folder of this name for files of tests.
///
/// # Errors
/// The folder cannot be created.
pub fn empty_folder(name: &str) -> Result<PathBuf> {
    let folder = scratch_folder(name)?;
    fs::remove_dir_all(&folder)?;
    scratch_folder(name)
}

/// A folder of this name for files of tests. Its content is kept from run to run.
///
/// # Errors
/// The folder cannot be created.
pub fn scratch_folder(name: &str) -> Result<PathBuf> {
    let folder = folders()?.0.join("ffi-tests").join(name);
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Runs a command to its end and returns its standard output.
///
/// # Errors
/// The command cannot be started or fails. The message contains all its output.
pub fn run(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}\n{text}\n{errors}", output.status);
    Ok(text)
}

/// The shared library with all its features.
///
/// # Errors
/// Cargo's.
pub fn library() -> Result<&'static Path> {
    static LIBRARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&LIBRARY, "all", &[])
}

/// The shared library with none.
///
/// # Errors
/// Cargo's.
pub fn library_without_primitives() -> Result<&'static Path> {
    static LIBRARY: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    once(&LIBRARY, "none", &["--no-default-features"])
}

pub(crate) fn once(
    built: &'static OnceLock<Result<PathBuf, String>>,
    name: &str,
    arguments: &[&str],
) -> Result<&'static Path> {
    let path = built.get_or_init(|| build(name, arguments).map_err(|error| format!("{error:#}")));
    path.as_deref().map_err(|error| anyhow::anyhow!("{error}"))
}

static TURN: Mutex<()> = Mutex::new(());

/// Builds the library and returns a copy, which later builds into the same folder leave unchanged.
fn build(name: &str, arguments: &[&str]) -> Result<PathBuf> {
    let (target, profile) = (target()?, folders()?.1);
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(workspace()).env("CARGO_TARGET_DIR", &target);
    cargo.args(["build", "--locked", "--package", "trommel", "--lib"]).args(arguments);
    if profile == "release" {
        cargo.arg("--release");
    }
    // Cargo runs one test program at a time, but its tests run on several threads.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    run(&mut cargo)?;
    let copy = scratch_folder(name)?.join("libtrommel.so");
    // A rename replaces the copy, so programs that have loaded the previous file keep it.
    fs::copy(target.join(profile).join("libtrommel.so"), copy.with_extension("new"))?;
    fs::rename(copy.with_extension("new"), &copy)?;
    Ok(copy)
}
