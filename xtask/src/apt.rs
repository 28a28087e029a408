//! Debian and Ubuntu packages: which are missing, and their installation.

use crate::drivers;
use anyhow::{Context, Result, bail};
use std::{
    env, fs,
    path::Path,
    process::{Command, Stdio},
};

/// A package, and whether what it is wanted for is there, wherever it came from.
pub(crate) struct Package {
    name: &'static str,
    present: bool,
}

/// What `cargo xtask test` needs.
pub(crate) fn for_tests() -> Vec<Package> {
    let mut packages = vec![
        package("cmake", on_path("cmake")),
        package("g++", on_path("c++") && on_path("g++")),
        package("gcc", on_path("cc") && on_path("gcc")),
        // shaderc's build asks for it, although it has nothing to fetch.
        package("git", on_path("git")),
        package("libjemalloc2", drivers::allocator().is_some()),
        package("libvulkan-dev", Path::new("/usr/include/vulkan/vulkan_core.h").exists()),
        package("libvulkan1", drivers::loader_exists()),
        // CMake's default generator, which the package's users have.
        package("make", on_path("make")),
        package("mesa-vulkan-drivers", drivers::lavapipe().is_some()),
        package("ninja-build", on_path("ninja")),
        package("pkg-config", on_path("pkg-config")),
        package("python3", on_path("python3")),
        package("spirv-tools", on_path("spirv-val")),
        package("vulkan-validationlayers", drivers::debian_layer().exists()),
    ];
    // Ubuntu's archive has no SwiftShader.
    if distribution_is("debian") {
        packages.push(package("chromium-common", drivers::swiftshader().is_some()));
    }
    packages
}

/// What `cargo xtask demo` needs: a loader, and a driver for some device.
pub(crate) fn for_demo() -> Vec<Package> {
    vec![package("libvulkan1", drivers::loader_exists()), package("mesa-vulkan-drivers", drivers::any_device_has_one())]
}

fn package(name: &'static str, present: bool) -> Package {
    Package { name, present }
}

/// Installs those that are missing, or says how.
pub(crate) fn install(packages: &[Package]) -> Result<()> {
    let missing: Vec<_> = packages.iter().filter(|p| !p.present).map(|p| p.name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    let Some(prefix) = may_install() else {
        bail!("missing: {names}\nrun this as root, then try again:\n    apt-get update && apt-get install {names}");
    };
    println!("installing {names}");
    apt(prefix, &["update", "--quiet"])?;
    apt(prefix, &[&["install", "--yes", "--quiet", "--no-install-recommends", "--option=Dpkg::Use-Pty=0"], &missing[..]].concat())
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
