//! `cargo xtask test`: the steps.

use crate::{
    apt,
    drivers::{self, Env, Validation},
    runner::{Runner, Step},
    workspace,
};
use anyhow::{Context, Result};
use std::{
    env,
    path::Path,
    process::{Command, ExitCode},
    thread,
};

const INSTALL: &str = "install";
const BUILD: &str = "build tests";
/// What tells tests to be brief.
const BRIEF: &str = "TROMMEL_TEST_BRIEF";

pub(crate) fn run(full: bool, filter: Option<&str>) -> Result<ExitCode> {
    // This program, by its name of now: `shaders` puts another build of it in its place.
    let this = env::current_exe().context("who am I?")?;
    let mut runner = Runner::new()?;
    // By itself, because what the other steps do depends on what is there then.
    runner.run(vec![Step::new(INSTALL, 15, [xtask(&this, &["install"]), components()])])?;
    let mut steps = steps(&this, full)?;
    if let Some(filter) = filter {
        select(&mut steps, filter);
    }
    runner.run(steps)?;
    let count = runner.finish();
    if filter.is_none() {
        omissions().iter().for_each(|omission| println!("left out: {omission}"));
    }
    println!("{} passed, {} failed", count.passed, count.failed);
    Ok(if count.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn xtask(this: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(this);
    command.args(arguments).current_dir(workspace::root());
    command
}

fn steps(this: &Path, full: bool) -> Result<Vec<Step>> {
    let mut steps = vec![
        Step::new("format", 2, [cargo(&["fmt", "--all", "--check"])]),
        Step::new("clippy", 15, [clippy(&["--workspace", "--all-targets"])]),
        Step::new(
            "clippy, fewer features",
            10,
            [&[][..], &["--features", "sort"]]
                .map(|features| clippy(&[&["--package", "trommel", "--no-default-features"], features].concat())),
        ),
        Step::new("docs", 10, [docs()]),
        Step::new("header", 2, [xtask(this, &["header", "--check"])]),
        Step::new("spirv-val", 5, spirv_val()?).needs(&[INSTALL]),
        Step::new(BUILD, 20, [cargo(&["test", "--workspace", "--no-run"])]),
        // The library's own run with every driver, beside the tests of its kernels.
        Step::new("unit tests", 15, [on_lavapipe(cargo_test(&["--workspace", "--exclude", "trommel", "--lib", "--bins"], full))])
            .needs(&[INSTALL, BUILD]),
        Step::new("doctests", 15, [on_lavapipe(cargo_test(&["--workspace", "--doc"], full))]).needs(&[INSTALL, BUILD]),
    ];
    steps.extend(gpu_steps(full)?);
    // The tests within the examples' own files, and those that run them.
    let mut examples = vec!["--package".to_owned(), "trommel".to_owned()];
    for name in workspace::examples()? {
        examples.extend(["--example", &name, "--test", &name].map(str::to_owned));
    }
    let examples: Vec<_> = examples.iter().map(String::as_str).collect();
    steps.push(Step::new("examples", 20, [validated(&examples, full)?]).needs(&[INSTALL, BUILD]));
    steps.push(
        Step::new("C, C++, Python and the package", 20, [validated(&["--package", "ffi-tests"], full)?]).needs(&[INSTALL, BUILD]),
    );
    if cargo_deny_exists() {
        steps.push(Step::new("licences", 5, [cargo(&["deny", "--workspace", "check", "bans", "licenses", "sources"])]));
    }
    let with_compiler = ["--package", "xtask", "--features", "shaders"];
    let of_callers = ["--package", "trommel", "--features", "host,runtime-shaders"];
    let shaders = [
        xtask(this, &["shaders", "--check"]),
        clippy(&[&with_compiler[..], &["--all-targets"]].concat()),
        cargo_test(&with_compiler, full),
        clippy(&[&of_callers[..], &["--all-targets"]].concat()),
        // Functions of the caller, compiled.
        validated(&[&of_callers[..], &["--test", "user_functions"]].concat(), full)?,
        clippy(&["--package", "ffi-tests", "--features", "compiler", "--all-targets"]),
        validated(&["--package", "ffi-tests", "--features", "compiler", "--test", "compiler"], full)?,
    ];
    // Last, because the first time it builds the compiler.
    steps.push(Step::new("shaders", 25, shaders).needs(&[INSTALL, BUILD]));
    Ok(steps)
}

fn omissions() -> Vec<&'static str> {
    let mut omissions = Vec::new();
    if drivers::swiftshader().is_none() {
        omissions.push("SwiftShader, which is in Debian's chromium-common and nowhere in Ubuntu's archive");
    }
    if !cargo_deny_exists() {
        omissions.push("licences, since cargo-deny is not installed");
    }
    omissions
}

/// Those whose names contain the filter and what they need; where there is none, the tests whose names do.
fn select(steps: &mut Vec<Step>, filter: &str) {
    let mut wanted: Vec<String> = steps.iter().map(|s| s.name.clone()).filter(|name| name.contains(filter)).collect();
    if wanted.is_empty() {
        for step in steps.iter_mut().filter(|s| s.needs.iter().any(|need| need == BUILD)) {
            for command in &mut step.commands {
                command.arg(filter);
            }
            wanted.push(step.name.clone());
        }
    }
    let needed: Vec<_> = steps.iter().filter(|s| wanted.contains(&s.name)).flat_map(|s| s.needs.clone()).collect();
    steps.retain(|s| wanted.contains(&s.name) || needed.contains(&s.name));
}

/// The GPU suite, once a driver configuration.
fn gpu_steps(full: bool) -> Result<Vec<Step>> {
    let minutes = if full { 240 } else { 40 };
    let examples = workspace::examples()?;
    let mut steps = Vec::new();
    let mut step = |name: &str, validation: Validation, env: Env, skipped: &[&str], through_c: &[&str]| -> Result<()> {
        // With --lib, because the tests of single kernels are in the library.
        let mut command = cargo_test(&["--workspace", "--exclude", "ffi-tests", "--lib"], full);
        for test in workspace::files(&workspace::root().join("tests"), "rs")? {
            let name = test.file_stem().unwrap_or_default();
            // Examples have a step of their own.
            if examples.iter().all(|example| name != example.as_str()) {
                command.arg("--test").arg(name);
            }
        }
        if !full {
            command.arg("--").args(skipped.iter().flat_map(|test| ["--skip", test]));
        }
        let mut commands = vec![command];
        if !through_c.is_empty() {
            let mut command = cargo_test(&["--package", "ffi-tests"], full);
            command.args(through_c.iter().flat_map(|test| ["--test", test]));
            commands.push(command);
        }
        for command in &mut commands {
            command.envs(drivers::validate(validation)?).envs(env.iter().cloned());
        }
        steps.push(Step::new(name, minutes, commands).needs(&[INSTALL, BUILD]));
        Ok(())
    };
    // Kernels with subgroups out of shared memory are the same on every driver, and so is what the host does to record, and where dispatches go
    // on in y. Calls through C have a step of their own with subgroups of 8 lanes.
    const EMULATED: &str = "emulated_";
    const RECORDING: &str = "takes_no_heap";
    const LARGE: &str = "more_workgroups_than_one_dimension_has";
    let lavapipes: [(_, &[&str], &[&str]); 3] = [
        (4, &["emulated_subgroups", "emulated_small", RECORDING, LARGE], &["sorting", "formats"]),
        (8, &[], &[]),
        (16, &["emulated_subgroups", "emulated_small", RECORDING, LARGE], &["sorting"]),
    ];
    for (lanes, skipped, through_c) in lavapipes {
        step(&format!("lavapipe, {lanes} lanes"), Validation::CoreSyncBest, lavapipe(lanes), skipped, through_c)?;
    }
    if let Some(swiftshader) = drivers::swiftshader() {
        // Tiles that are lost take a pipeline more each, and so does each limit of waits.
        let waits = ["late::no_waiting_at_all", "late::waiting_for_long"];
        let skipped = [EMULATED, RECORDING, "lost_tiles", "a_prefix_that_many", waits[0], waits[1]];
        step("SwiftShader", Validation::CoreSyncBest, brief(on_cpu(&swiftshader)), &skipped, &[])?;
    }
    // What each kernel touches is proven by the other steps' tests of kernels. The layer looks up each address in a loop, whose turns count
    // as well: so nothing waits here, with one thread and without the test of long waits. And it does not outlive a device that is kept.
    let mut alone = brief(lavapipe(8));
    alone.push(("LP_NUM_THREADS", "1".to_owned()));
    let elsewhere = [EMULATED, RECORDING, "tests::kernels", "tests::segments", "late::waiting_for_long", "one_call"];
    step("lavapipe, GPU-assisted", Validation::GpuAssisted, alone, &elsewhere, &[])?;
    Ok(steps)
}

/// Lavapipe with this many 32-bit lanes, on as many threads as there are cores: workgroups then wait for one another in earnest. It ends
/// all loops of an invocation that has made 65,535 turns in all of them together, which no look-back here reaches.
fn lavapipe(lanes: u32) -> Env {
    let mut env = drivers::lavapipe().map(|manifest| on_cpu(&manifest)).unwrap_or_default();
    env.push(("LP_NATIVE_VECTOR_WIDTH", (32 * lanes).to_string()));
    // Most of the time goes into making pipelines, which then run once or twice: not worth LLVM's optimisations.
    env.push(("GALLIVM_PERF", "nopt".to_owned()));
    env
}

/// A CPU driver, with what suits it.
fn on_cpu(manifest: &Path) -> Env {
    let mut env = drivers::select(manifest);
    env.extend(drivers::allocator().map(|library| ("LD_PRELOAD", library.display().to_string())));
    // Tests wait for threads of the driver's: as many as there are cores kept 1.4 of two busy.
    let cores = thread::available_parallelism().map_or(1, usize::from);
    env.push(("RUST_TEST_THREADS", (2 * cores).to_string()));
    env
}

/// Where a pipeline takes several times as long to make, fewer formats meet fewer setups. All of them run on lavapipe.
fn brief(mut env: Env) -> Env {
    env.push((BRIEF, "1".to_owned()));
    env
}

fn on_lavapipe(mut command: Command) -> Command {
    command.envs(lavapipe(8));
    command
}

fn validated(arguments: &[&str], full: bool) -> Result<Command> {
    let mut command = on_lavapipe(cargo_test(arguments, full));
    command.envs(drivers::validate(Validation::CoreSyncBest)?);
    Ok(command)
}

fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = workspace::cargo();
    // One target folder for all, the CMake package included.
    cargo.args(arguments).env("CARGO_TERM_COLOR", "never").env("CARGO_TARGET_DIR", workspace::target());
    cargo
}

fn cargo_test(arguments: &[&str], full: bool) -> Command {
    let mut command = cargo(&["test", "--no-fail-fast"]);
    command.args(arguments);
    if full {
        command.env("TROMMEL_TEST_FULL", "1");
    }
    command
}

fn clippy(arguments: &[&str]) -> Command {
    let mut command = cargo(&["clippy"]);
    command.args(arguments).args(["--", "--deny", "warnings"]);
    command
}

fn docs() -> Command {
    let mut command = cargo(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "--deny warnings");
    command
}

/// One command a module, because spirv-val takes one file.
fn spirv_val() -> Result<Vec<Command>> {
    let mut commands = Vec::new();
    let programs = workspace::programs()?;
    for folder in std::iter::once(workspace::root().to_owned()).chain(programs) {
        for module in workspace::files(&folder.join("spirv"), "spv")? {
            let mut command = Command::new("spirv-val");
            command.args(["--target-env", "vulkan1.3", "--scalar-block-layout"]).arg(module);
            commands.push(command);
        }
    }
    Ok(commands)
}

/// A toolchain of rustup's minimal profile lacks these two.
fn components() -> Command {
    let mut command = Command::new("sh");
    command
        .current_dir(workspace::root())
        .arg("-c")
        .arg("{ cargo fmt --version && cargo clippy --version; } || rustup component add rustfmt clippy");
    command
}

fn cargo_deny_exists() -> bool {
    apt::on_path("cargo-deny")
}
