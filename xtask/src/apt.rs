//! Debian and Ubuntu packages: which are missing, and their installation.

use crate::drivers;
use anyhow::{Context, Result, bail, ensure};
use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

const INSTALL: [&str; 5] = ["install", "--yes", "--quiet", "--no-install-recommends", "--option=Dpkg::Use-Pty=0"];

/// A package of the distribution.
pub(crate) struct Package {
    name: &'static str,
    /// Whether its programs and libraries are on this machine, from this package or another source.
    present: bool,
    /// The effect of its absence. Without this, the package is required.
    optional: Option<&'static str>,
}

/// The packages of `cargo xtask test`.
pub(crate) fn for_tests() -> Vec<Package> {
    let mut packages = vec![
        required("cmake", on_path("cmake")),
        required("g++", on_path("c++") && on_path("g++")),
        required("gcc", on_path("cc") && on_path("gcc")),
        // shaderc's build asks for it, although it has nothing to fetch.
        required("git", on_path("git")),
        required("libvulkan-dev", Path::new("/usr/include/vulkan/vulkan_core.h").exists()),
        required("libvulkan1", drivers::loader_exists()),
        // CMake's default generator, which the package's users have.
        required("make", on_path("make")),
        required("mesa-vulkan-drivers", drivers::lavapipe().is_some()),
        required("pkg-config", on_path("pkg-config")),
        required("python3", on_path("python3")),
        required("spirv-tools", on_path("spirv-val")),
        required("vulkan-validationlayers", drivers::debian_layer().exists()),
        optional("libjemalloc2", drivers::allocator().is_some(), "tests on CPU drivers take a seventh longer"),
        optional("ninja-build", on_path("ninja"), "make builds shaderc instead"),
    ];
    // Ubuntu's archive has no SwiftShader.
    if distribution_is("debian") {
        let without = "no tests on SwiftShader, and the validation layer is the distribution's older one";
        packages.push(optional("chromium-common", drivers::swiftshader().is_some(), without));
    }
    packages
}

/// The packages of `cargo xtask demo`: a loader, and a driver for some device.
pub(crate) fn for_demo() -> Vec<Package> {
    vec![
        required("libvulkan1", drivers::loader_exists()),
        required("mesa-vulkan-drivers", drivers::any_device_has_one()),
    ]
}

fn required(name: &'static str, present: bool) -> Package {
    Package { name, present, optional: None }
}

fn optional(name: &'static str, present: bool, without: &'static str) -> Package {
    Package { name, present, optional: Some(without) }
}

/// Installs the missing packages. Fails when that is not possible for a required one; reports the optional ones.
pub(crate) fn install(packages: &[Package]) -> Result<()> {
    let missing: Vec<_> = packages.iter().filter(|package| !package.present).collect();
    if missing.is_empty() {
        return Ok(());
    }
    install_missing(&missing, may_install().map(|prefix| move |arguments: &[&str]| apt(prefix, arguments)))
}

/// `apt_get` runs the program of that name with these arguments. `None`: this program may not.
fn install_missing(missing: &[&Package], apt_get: Option<impl FnMut(&[&str]) -> Result<()>>) -> Result<()> {
    let required: Vec<_> =
        missing.iter().filter(|package| package.optional.is_none()).map(|package| package.name).collect();
    let optional = missing.iter().filter_map(|package| Some((package.name, package.optional?)));
    let Some(mut apt_get) = apt_get else {
        optional.for_each(|(name, without)| println!("without {name}: {without}"));
        let names = required.join(" ");
        ensure!(
            names.is_empty(),
            "missing: {names}\nrun this as root, then try again:\n    apt-get update && apt-get install {names}"
        );
        return Ok(());
    };
    println!("installing {}", missing.iter().map(|package| package.name).collect::<Vec<_>>().join(" "));
    // Installation may succeed with the lists that are there.
    if let Err(error) = apt_get(&["update", "--quiet"]) {
        println!("{error:#}");
    }
    if !required.is_empty() {
        apt_get(&[&INSTALL[..], &required].concat())?;
    }
    for (name, without) in optional {
        // A command of its own, because apt-get installs all packages of a command or none.
        if let Err(error) = apt_get(&[&INSTALL[..], &[name]].concat()) {
            println!("without {name}: {without} ({error:#})");
        }
    }
    Ok(())
}

/// How to become root without a question: nothing to do, or sudo. `None`: not at all.
fn may_install() -> Option<&'static [&'static str]> {
    if !on_path("apt-get") {
        return None;
    }
    if rustix::process::geteuid().is_root() {
        return Some(&[]);
    }
    let sudo = Command::new("sudo").args(["-n", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    sudo.is_ok_and(|status| status.success()).then_some(&["sudo", "-n"])
}

fn apt(prefix: &[&str], arguments: &[&str]) -> Result<()> {
    // Through env, because sudo does not pass variables on.
    let words = [prefix, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat();
    let status = Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).status();
    let command = words.join(" ");
    if !status.with_context(|| format!("cannot run {command}"))?.success() {
        bail!("`{command}` failed");
    }
    Ok(())
}

/// Whether a program is there.
pub(crate) fn on_path(program: &str) -> bool {
    env::var_os("PATH").is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Whether /etc/os-release names this distribution.
pub(crate) fn distribution_is(id: &str) -> bool {
    fs::read_to_string("/etc/os-release").is_ok_and(|text| text.lines().any(|line| line == format!("ID={id}")))
}

#[cfg(test)]
mod tests {
    use super::{Package, install_missing, optional, required};
    use anyhow::{Result, bail};

    /// What apt-get was asked to do for these packages, in an archive without `absent`, and the result.
    fn installed(packages: &[Package], absent: &[&str]) -> (Vec<String>, Result<()>) {
        let mut commands = Vec::new();
        let apt_get = |arguments: &[&str]| {
            // The names are last.
            let names: Vec<_> =
                arguments.iter().filter(|a| **a != "install" && !a.starts_with("--")).copied().collect();
            commands.push(names.join(" "));
            if names.iter().any(|name| absent.contains(name)) {
                bail!("no such package");
            }
            Ok(())
        };
        let result = install_missing(&packages.iter().collect::<Vec<_>>(), Some(apt_get));
        (commands, result)
    }

    fn packages() -> [Package; 4] {
        [
            required("cmake", false),
            optional("jemalloc", false, "slow"),
            required("mesa", false),
            optional("chromium", false, "less"),
        ]
    }

    #[test]
    fn optional_packages_are_optional() {
        let (commands, result) = installed(&packages(), &["update", "jemalloc"]);
        assert_eq!(commands, ["update", "cmake mesa", "jemalloc", "chromium"]);
        result.unwrap();
    }

    #[test]
    fn required_packages_are_required() {
        let (_, result) = installed(&packages(), &["mesa"]);
        assert!(result.is_err());
    }

    #[test]
    fn without_rights_only_required_packages_are_asked_for() {
        type Never = fn(&[&str]) -> Result<()>;
        let packages = packages();
        let error = install_missing(&packages.iter().collect::<Vec<_>>(), None::<Never>).unwrap_err().to_string();
        assert!(error.ends_with("apt-get install cmake mesa"), "{error}");
        install_missing(&[&packages[1]], None::<Never>).unwrap();
    }
}
