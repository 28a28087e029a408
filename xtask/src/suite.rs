//! `cargo xtask test`: the steps.

use crate::{
    apt, budgets,
    drivers::{self, Env, Validation},
    primitives,
    runner::{Runner, Step, TEST_THREADS, minutes_long},
    workspace,
};
use anyhow::{Context, Result};
use std::{
    env, fs,
    path::Path,
    process::{Command, ExitCode},
    time::Duration,
};

/// How long a run may take: CI ends one without a word after 90, of which some go into the build of this program.
const MINUTES: u64 = 84;

const INSTALL: &str = "install";
const BUILD: &str = "build tests";
const BUILD_COMPILER: &str = "build tests with shaderc";
const SWIFTSHADER: &str = "SwiftShader";
/// Tells tests to be brief: 1, or 2 for half of that.
const BRIEF: &str = "TROMMEL_TEST_BRIEF";

/// What to run, and how strictly.
pub(crate) struct Options {
    /// The whole product of test axes, without a limit of time.
    pub(crate) full: bool,
    /// Only what takes two minutes.
    pub(crate) quick: bool,
    /// Steps, or else tests, whose names contain this.
    pub(crate) filter: Option<String>,
    /// Whether a time far beyond its budget fails the run.
    pub(crate) budgets: bool,
    /// Minutes that the run may take, instead of the usual ones.
    pub(crate) minutes: Option<u64>,
}

impl Options {
    fn limit(&self) -> Option<Duration> {
        let usual = (!self.full).then_some(MINUTES);
        self.minutes.or(usual).map(minutes_long)
    }
}

pub(crate) fn run(options: &Options) -> Result<ExitCode> {
    // This program, by its present name: `shaders` replaces it by another build.
    let this = env::current_exe().context("who am I?")?;
    let runner = Runner::new(options.limit())?;
    // By itself, because what the other steps do depends on what is there then.
    runner.run(vec![Step::new(INSTALL, 15, [xtask(&this, &["install"]), components()])]);
    let mut steps = if options.quick { quick_steps(&this)? } else { steps(&this, options.full)? };
    if let Some(filter) = &options.filter {
        select(&mut steps, filter);
    }
    runner.run(steps);
    // The budgets are those of the usual steps.
    let budgets = if options.quick || options.full { None } else { Some(budgets::read()?) };
    let count = runner.finish(budgets.as_deref(), options.budgets)?;
    println!("{} passed, {} failed, {} skipped", count.passed, count.failed, count.skipped);
    Ok(if count.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn xtask(this: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(this);
    command.args(arguments).current_dir(workspace::root());
    command
}

fn steps(this: &Path, full: bool) -> Result<Vec<Step>> {
    let mut steps = vec![
        format_check(),
        lints(),
        Step::new("clippy, fewer features", 10, fewer_features()?),
        docs(),
        header_check(this),
        // The second, because the first builds examples without the tests in their files.
        Step::new(
            BUILD,
            20,
            [&[][..], &["--examples"]].map(|targets| cargo(&[&["test", "--workspace", "--no-run"], targets].concat())),
        ),
    ];
    steps.extend(gpu_steps(full)?);
    steps.push(licenses());
    // Last: the library has the same file name with all features. A build with other ones replaces it, and cargo then
    // builds everything that depends on it once more.
    steps.extend(compiler_builds());
    steps.extend(compiler_steps(this, full)?);
    Ok(steps)
}

fn format_check() -> Step {
    Step::new("format", 2, [cargo(&["fmt", "--all", "--check"])])
}

fn lints() -> Step {
    Step::new("clippy", 15, [clippy(&["--workspace", "--all-targets"])])
}

/// Lints of the library without primitives, and with each by itself.
fn fewer_features() -> Result<Vec<Command>> {
    const NONE: [&str; 3] = ["--package", "trommel", "--no-default-features"];
    let names = primitives::names()?;
    let each = names.iter().map(|name| clippy(&[&NONE[..], &["--features", name]].concat()));
    Ok(std::iter::once(clippy(&NONE)).chain(each).collect())
}

fn docs() -> Step {
    let mut command = cargo(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "--deny warnings");
    Step::new("docs", 10, [command])
}

fn header_check(this: &Path) -> Step {
    Step::new("header", 2, [xtask(this, &["header", "--check"])])
}

/// The steps that run beside one another: what tests the library on each driver, and what keeps few cores busy.
fn gpu_steps(full: bool) -> Result<Vec<Step>> {
    // First, when no other step begins for minutes: the package is built in the target folder, which cargo locks
    // meanwhile.
    let mut steps = vec![bindings(full)?];
    for configuration in configurations()? {
        steps.push(configuration.step(full)?);
    }
    if drivers::swiftshader().is_none() {
        steps.push(
            Step::unavailable(SWIFTSHADER, "it is in Debian's chromium-common and nowhere in Ubuntu's archive")
                .beside(),
        );
    }
    steps.extend(random_testers(full)?);
    steps.push(examples(full)?);
    // The tests of the library run with every driver.
    let unit_tests = on_lavapipe(cargo_test(&["--workspace", "--bins"], full))?;
    steps.push(Step::new("unit tests", 15, [unit_tests]).needs(&[INSTALL, BUILD]).beside());
    let doctests = on_lavapipe(cargo_test(&["--workspace", "--doc"], full))?;
    steps.push(Step::new("doctests", 15, [doctests]).needs(&[INSTALL, BUILD]).beside());
    Ok(steps)
}

/// Random requests and batches on lavapipe, and random calls of the C ABI. The seed is always the same: a run
/// fails because of a change.
fn random_testers(full: bool) -> Result<[Step; 2]> {
    let minutes = if full { "20" } else { "2" };
    let step = |name, program| -> Result<Step> {
        let mut run = Command::new(workspace::target().join("debug").join(program));
        run.args(["--minutes", minutes, "--seed", "1"]).current_dir(workspace::root());
        let commands = [cargo(&["build", "--workspace", "--bin", program]), on_lavapipe(run)?];
        Ok(Step::new(name, if full { 40 } else { 8 }, commands).needs(&[INSTALL, BUILD]).beside())
    };
    Ok([step("random cases", "trommel-fuzz")?, step("random calls", "trommel-fuzz-calls")?])
}

/// The tests within the examples' own files, and those that run them.
fn examples(full: bool) -> Result<Step> {
    let mut arguments = vec!["--workspace".to_owned()];
    for name in workspace::examples()? {
        arguments.extend(["--example", &name, "--test", &name].map(str::to_owned));
    }
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    Ok(Step::new("examples", 20, [validated(&arguments, full)?]).needs(&[INSTALL, BUILD]).beside())
}

/// Features that need the compiler of GLSL. One set for all commands: each set builds the library once more.
const COMPILER: [&str; 3] = ["--workspace", "--features", "trommel/runtime-shaders,xtask/shaders,ffi-tests/compiler"];

/// Lints and builds of what needs the compiler of GLSL, and of shaderc first.
fn compiler_builds() -> [Step; 2] {
    [
        Step::new("clippy, all features", 20, [clippy(&[&COMPILER[..], &["--all-targets"]].concat())]),
        Step::new(
            BUILD_COMPILER,
            20,
            [
                cargo(&[&["test", "--no-run"], &COMPILER[..], &WITH_COMPILER, &["--test", COMPILER_OF_C]].concat()),
                // Replaces this program, which has no compiler.
                cargo(&[&["build"], &COMPILER[..], &["--bin", "xtask"]].concat()),
            ],
        ),
    ]
}

/// Rust tests with the compiler of GLSL: of the compiling xtask, and of functions of the caller.
const WITH_COMPILER: [&str; 6] = ["--bin", "xtask", "--test", "user_functions", "--test", "comparators"];

/// The test binary in ffi-tests with the compiler of GLSL.
const COMPILER_OF_C: &str = "compiler";

/// Tests that compile GLSL, and the check of what has been compiled. They run beside one another.
fn compiler_steps(this: &Path, full: bool) -> Result<Vec<Step>> {
    let tests = validated(&[&COMPILER[..], &WITH_COMPILER, &["--test", COMPILER_OF_C]].concat(), full)?;
    let step = |name, minutes, command| Step::new(name, minutes, [command]).beside();
    Ok(vec![
        step("tests with shaderc", 25, tests).needs(&[INSTALL, BUILD, BUILD_COMPILER]),
        step("shaders", 15, xtask(this, &["shaders", "--check"])).needs(&[INSTALL, BUILD_COMPILER]),
        step("spirv-val", 5, xtask(this, &["validate"])).needs(&[INSTALL]),
    ])
}

/// What other languages call and what they install.
fn bindings(full: bool) -> Result<Step> {
    let tests = workspace::files(&workspace::root().join("ffi-tests/tests"), "rs")?;
    let names: Vec<_> =
        tests.iter().filter_map(|test| test.file_stem()?.to_str()).filter(|name| *name != COMPILER_OF_C).collect();
    let tests = validated(&tests_of_workspace(&names), full)?;
    Ok(Step::new("C, C++, Python and the package", 30, [tests]).needs(&[INSTALL, BUILD]).beside())
}

/// Test binaries, whichever package has them.
///
/// Packages are never named: a choice of packages makes other features of dependencies, and builds these once more.
fn tests_of_workspace<'a>(names: &[&'a str]) -> Vec<&'a str> {
    ["--workspace"].into_iter().chain(names.iter().flat_map(|name| ["--test", name])).collect()
}

/// Tests in `src` folders that need a device. The others run without one.
const ON_DEVICES: [&str; 7] = [
    "tests::kernels::",
    "tests::recording::",
    "tests::segments::",
    "tests::plans_of_device::",
    "session::tests::",
    "a_crossover_is_searched_on_the_device",
    "wrong_candidates_are_left_out",
];

/// Instead of the manifest of a driver: tests that need a device fail.
const NO_DRIVER: &str = "/dev/null";

/// Ten tests from end to end, each with the test binary that has it.
fn named_tests() -> Result<Vec<(String, String)>> {
    let path = workspace::root().join("tests/quick.txt");
    let text = fs::read_to_string(&path).with_context(|| workspace::shown(&path))?;
    let tests = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (binary, test) = line.split_once(' ').with_context(|| format!("{line}: a binary and a test"))?;
        Ok((binary.to_owned(), test.to_owned()))
    });
    tests.collect()
}

/// Lints, what needs no device, and ten tests that do.
fn quick_steps(this: &Path) -> Result<Vec<Step>> {
    let mut without_device =
        cargo_test(&["--workspace", "--lib", "--bins", "--test", "plans", "--test", "modules"], false);
    without_device
        .args(["--"])
        .args(ON_DEVICES.iter().flat_map(|tests| ["--skip", tests]))
        .envs(drivers::select(Path::new(NO_DRIVER)));

    // One by one: test binaries with a harness of their own take a single name.
    let named = named_tests()?;
    let command = |(binary, test): &(String, String)| {
        validated(&[&tests_of_workspace(&[binary])[..], &["--", "--exact", test]].concat(), false)
    };
    let commands = named.iter().map(command).collect::<Result<Vec<_>>>()?;
    let tests: Vec<_> = named.iter().map(|(_, test)| test.as_str()).collect();
    Ok(vec![
        format_check(),
        lints(),
        docs(),
        header_check(this),
        Step::new(BUILD, 20, [cargo(&["test", "--workspace", "--no-run"])]),
        Step::new("tests without a device", 10, [without_device]).needs(&[BUILD]),
        Step::new("ten tests on lavapipe", 10, commands).needs(&[INSTALL, BUILD]).expects(&tests),
    ])
}

/// Those whose names contain the filter and what they need; where there is none, the tests whose names do.
fn select(steps: &mut Vec<Step>, filter: &str) {
    let mut wanted: Vec<String> = steps.iter().map(|s| s.name.clone()).filter(|name| name.contains(filter)).collect();
    if wanted.is_empty() {
        for step in steps.iter_mut().filter(|s| s.needs.iter().any(|need| need == BUILD)) {
            // Not lints and compilations, which take no names of tests.
            step.commands.retain(|command| command.get_args().next().is_some_and(|first| first == "test"));
            for command in &mut step.commands {
                command.arg(filter);
            }
            wanted.push(step.name.clone());
        }
    }
    let needed: Vec<_> = steps.iter().filter(|s| wanted.contains(&s.name)).flat_map(|s| s.needs.clone()).collect();
    steps.retain(|s| wanted.contains(&s.name) || needed.contains(&s.name));
}

/// A driver, and what of the library's tests runs with it.
struct Configuration {
    name: String,
    validation: Validation,
    env: Env,
    /// Test binaries that other configurations run; with `--full` this one does, too.
    left_out: Vec<&'static str>,
    /// As `left_out`, single tests.
    skipped: Vec<&'static str>,
}

/// Test binaries of what the host does, which is the same with every driver.
const OF_THE_HOST: [&str; 6] = ["host", "lifetimes", "modules", "no_alloc", "plans", "stack"];

/// Every driver in every form.
fn configurations() -> Result<Vec<Configuration>> {
    // Kernels with subgroups out of shared memory are the same on every driver, and so are plans.
    const EMULATED: &str = "emulated_";
    const PLANNING: [&str; 3] = ["tests::hazards", "tests::plans", "tests::merges"];
    let mut configurations = Vec::new();
    for lanes in [4, 8, 16] {
        let eight = lanes == 8;
        configurations.push(Configuration {
            name: format!("lavapipe, {lanes} lanes"),
            validation: if eight { Validation::CoreSyncBest } else { Validation::CoreSyncBestOfCheckedModules },
            env: lavapipe(lanes)?,
            left_out: if eight { vec![] } else { [&OF_THE_HOST[..], &["user_functions"]].concat() },
            skipped: if eight { vec![] } else { [&["emulated_subgroups", "emulated_small"][..], &PLANNING].concat() },
        });
    }
    if let Some(swiftshader) = drivers::swiftshader() {
        configurations.push(Configuration {
            name: SWIFTSHADER.to_owned(),
            validation: Validation::CoreSyncBestOfCheckedModules,
            env: brief(on_cpu(&swiftshader, "swiftshader")?),
            left_out: OF_THE_HOST.to_vec(),
            // Stalled tiles take a pipeline more each, and so does each limit of waits.
            skipped: [
                &[EMULATED, "stalled_tiles", "a_prefix_that_many", "late::no_waiting_at_all", "late::waiting_for_long"]
                    [..],
                &PLANNING,
            ]
            .concat(),
        });
    }
    // What each kernel touches is proven by the other steps' tests of kernels. The layer looks up each address in a
    // loop over all buffers of the device, and its iterations count as well: so one test runs at a time, and nothing
    // waits, with one thread and without the test of long waits. And it does not outlive a device that is kept. Random
    // problems use the kernels of the other tests.
    let mut alone = lavapipe(8)?;
    alone.extend([BRIEF, "LP_NUM_THREADS", TEST_THREADS].into_iter().zip(["2", "1", "1"].map(str::to_owned)));
    configurations.push(Configuration {
        name: "lavapipe, GPU-assisted".to_owned(),
        validation: Validation::GpuAssisted,
        env: alone,
        left_out: OF_THE_HOST.to_vec(),
        skipped: [
            &[EMULATED, "tests::kernels", "tests::segments", "late::waiting_for_long", "random_", "twenty_runs"][..],
            &PLANNING,
        ]
        .concat(),
    });
    Ok(configurations)
}

impl Configuration {
    fn step(self, full: bool) -> Result<Step> {
        // With --lib, because the tests of single kernels are in the library.
        let mut command = cargo_test(&["--workspace", "--exclude", "ffi-tests", "--lib"], full);
        let examples = workspace::examples()?;
        for test in workspace::files(&workspace::root().join("tests"), "rs")? {
            let name = test.file_stem().unwrap_or_default();
            let is_elsewhere = !full && self.left_out.iter().any(|test| name == *test);
            // Examples have a step of their own.
            if !is_elsewhere && examples.iter().all(|example| name != example.as_str()) {
                command.arg("--test").arg(name);
            }
        }
        if !full {
            command.arg("--").args(self.skipped.iter().flat_map(|test| ["--skip", test]));
        }
        command.envs(drivers::validate(self.validation)?).envs(self.env);
        let minutes = if full { 240 } else { 40 };
        Ok(Step::new(self.name, minutes, [command]).needs(&[INSTALL, BUILD]).beside())
    }
}

/// Lavapipe with this many 32-bit lanes, on as many threads as there are cores: workgroups then wait for one another in
/// earnest. It ends all loops of an invocation that has made 65,535 iterations in all of them together, which no
/// look-back here reaches.
fn lavapipe(lanes: u32) -> Result<Env> {
    let caches = format!("lavapipe-{lanes}");
    let mut env =
        drivers::lavapipe().map_or_else(|| drivers::caches(&caches), |manifest| on_cpu(&manifest, &caches))?;
    env.push(("LP_NATIVE_VECTOR_WIDTH", (32 * lanes).to_string()));
    // Most of the time goes into making pipelines, which then run once or twice: not worth LLVM's optimizations.
    env.push(("GALLIVM_PERF", "nopt".to_owned()));
    Ok(env)
}

/// A CPU driver, with what suits it. `caches` names its folder of caches.
fn on_cpu(manifest: &Path, caches: &str) -> Result<Env> {
    let mut env = drivers::select(manifest);
    env.extend(drivers::caches(caches)?);
    env.extend(drivers::allocator().map(|library| ("LD_PRELOAD", library.display().to_string())));
    Ok(env)
}

/// Where a pipeline takes several times as long to make, fewer formats meet fewer setups. All of them run on lavapipe.
fn brief(mut env: Env) -> Env {
    env.push((BRIEF, "1".to_owned()));
    env
}

fn on_lavapipe(mut command: Command) -> Result<Command> {
    command.envs(lavapipe(8)?);
    Ok(command)
}

fn validated(arguments: &[&str], full: bool) -> Result<Command> {
    let mut command = on_lavapipe(cargo_test(arguments, full))?;
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

/// A toolchain of rustup's minimal profile lacks these two.
fn components() -> Command {
    let mut command = Command::new("sh");
    command
        .current_dir(workspace::root())
        .arg("-c")
        .arg("{ cargo fmt --version && cargo clippy --version; } || rustup component add rustfmt clippy");
    command
}

fn licenses() -> Step {
    const NAME: &str = "licenses";
    if !apt::on_path("cargo-deny") {
        return Step::unavailable(NAME, "cargo-deny is not installed");
    }
    Step::new(NAME, 5, [cargo(&["deny", "--workspace", "check", "bans", "licenses", "sources"])])
}

#[cfg(test)]
mod tests {
    use super::{NO_DRIVER, SWIFTSHADER, named_tests, quick_steps, steps};
    use crate::{budgets, workspace};
    use std::{collections::BTreeSet, ffi::OsStr, path::Path, process::Command};

    fn variable<'a>(command: &'a Command, name: &str) -> Option<&'a OsStr> {
        command.get_envs().find(|(key, _)| *key == name)?.1
    }

    #[test]
    fn every_width_has_caches_of_its_own() {
        let steps = steps(Path::new("xtask"), false).unwrap();
        let mut folders = BTreeSet::new();
        for command in steps.iter().flat_map(|step| &step.commands) {
            let Some(lanes) = variable(command, "LP_NATIVE_VECTOR_WIDTH") else { continue };
            let caches = variable(command, "MESA_SHADER_CACHE_DIR").unwrap();
            assert!(Path::new(caches).starts_with(workspace::target()), "{caches:?}");
            assert_eq!(variable(command, "XDG_CACHE_HOME"), Some(caches));
            folders.insert((lanes, caches));
        }
        // Widths, and pairs of a width and a folder.
        assert_eq!(folders.iter().map(|(lanes, _)| lanes).collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(folders.iter().map(|(_, caches)| caches).collect::<BTreeSet<_>>().len(), 3);
        assert_eq!(folders.len(), 3);
    }

    #[test]
    fn tests_on_a_driver_have_its_caches() {
        let xtask = Path::new("xtask");
        let commands: Vec<_> = steps(xtask, false)
            .unwrap()
            .into_iter()
            .chain(quick_steps(xtask).unwrap())
            .flat_map(|step| step.commands)
            .collect();
        let on_drivers = commands
            .iter()
            .filter(|command| variable(command, "VK_DRIVER_FILES").is_some_and(|files| files != NO_DRIVER));
        assert!(on_drivers.clone().count() > 8);
        on_drivers.for_each(|command| assert!(variable(command, "MESA_SHADER_CACHE_DIR").is_some(), "{command:?}"));
    }

    #[test]
    fn filters_that_name_no_step_are_for_tests() {
        let mut steps = steps(Path::new("xtask"), false).unwrap();
        super::select(&mut steps, "random_sorts");
        assert!(steps.iter().any(|step| step.name == "tests with shaderc"));
        for command in steps
            .iter()
            .filter(|step| ![super::BUILD, super::BUILD_COMPILER].contains(&step.name.as_str()))
            .flat_map(|step| &step.commands)
        {
            let arguments: Vec<_> = command.get_args().collect();
            assert_eq!(
                (arguments[0], arguments[arguments.len() - 1]),
                (OsStr::new("test"), OsStr::new("random_sorts"))
            );
        }
    }

    #[test]
    fn steps_build_nothing_of_single_packages() {
        for command in steps(Path::new("xtask"), false).unwrap().iter().flat_map(|step| &step.commands) {
            let arguments: Vec<_> = command.get_args().filter_map(OsStr::to_str).collect();
            if arguments.first() == Some(&"test") {
                assert!(arguments.contains(&"--workspace"), "{arguments:?}");
            }
        }
    }

    #[test]
    fn budgets_are_of_steps() {
        let mut names: Vec<_> = steps(Path::new("xtask"), false).unwrap().into_iter().map(|step| step.name).collect();
        names.extend([super::INSTALL, SWIFTSHADER, budgets::WHOLE_RUN].map(str::to_owned));
        for budget in budgets::read().unwrap() {
            let step = budget.name.split(": ").next().unwrap();
            assert!(names.iter().any(|name| name == step), "no step `{step}`");
        }
    }

    #[test]
    fn quick_tests_are_ten_that_exist() {
        let named = named_tests().unwrap();
        assert_eq!(named.len(), 10);
        for (binary, test) in named {
            let folder = workspace::root().join("tests");
            let mut files = workspace::files(&folder.join(&binary), "rs").unwrap();
            files.push(folder.join(&binary).with_extension("rs"));
            let name = test.rsplit("::").next().unwrap();
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let has = |text: String| text.split(|c| !is_word(c)).any(|word| word == name);
            assert!(files.iter().any(|file| has(std::fs::read_to_string(file).unwrap())), "{binary} {test}");
        }
    }
}
