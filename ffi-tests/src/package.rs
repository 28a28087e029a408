//! The installed package, as its users find it.

use crate::build::{empty_folder, run, workspace};
use anyhow::{Result, bail, ensure};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An installed package, moved out of the folder of its installation.
#[derive(Debug)]
pub struct Package(PathBuf);

impl Package {
    /// Builds and installs one, in a folder of that name.
    ///
    /// # Errors
    /// CMake's and cargo's.
    pub fn install(name: &str, target: &Path, options: &[&str]) -> Result<Self> {
        let folder = empty_folder(name)?;
        let (build, installed, moved) = (folder.join("build"), folder.join("installed"), folder.join("moved"));
        let cmake = || {
            let mut command = Command::new("cmake");
            command.env("CARGO_TARGET_DIR", target);
            command
        };
        run(cmake().arg("-S").arg(workspace()).arg("-B").arg(&build).args(options))?;
        run(cmake().arg("--build").arg(&build))?;
        run(cmake().arg("--install").arg(&build).arg("--prefix").arg(&installed))?;
        fs::rename(installed, &moved)?;
        Ok(Self(moved))
    }

    /// The folder of the package.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// The first file of that name in the package.
    ///
    /// # Errors
    /// There is none.
    pub fn find(&self, name: &str) -> Result<PathBuf> {
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if entry.file_name() == name {
                    return Ok(entry.path());
                }
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        bail!("the package has no {name}")
    }

    /// Output of pkg-config about the package.
    ///
    /// # Errors
    /// pkg-config's.
    pub fn pkg_config(&self, arguments: &[&str]) -> Result<String> {
        let description = self.find("trommel.pc")?;
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", description.parent().unwrap_or(Path::new(""))).args(arguments).arg("trommel");
        run(&mut command)
    }

    /// Linker arguments for the static library.
    ///
    /// # Errors
    /// pkg-config's.
    pub fn static_libraries(&self) -> Result<String> {
        Ok(self.pkg_config(&["--libs", "--static"])?.replace("-ltrommel", "-l:libtrommel.a"))
    }

    /// Builds a program from one source file of these tests and the package's static library.
    ///
    /// # Errors
    /// The compiler's.
    pub fn compiled(&self, compiler: &str, standard: &str, source: &str) -> Result<PathBuf> {
        // Tests of several sources run at the same time.
        let program = self.0.with_file_name(format!("{}-{standard}", source.replace('/', "-")));
        let mut compile = Command::new(compiler);
        compile.arg(format!("-std={standard}")).args([
            "-pedantic",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-function",
        ]);
        compile.args(self.pkg_config(&["--cflags"])?.split_whitespace());
        compile.arg(workspace().join("ffi-tests").join(source)).arg("-o").arg(&program);
        run(compile.args(self.static_libraries()?.split_whitespace()).arg("-lvulkan"))?;
        Ok(program)
    }
}

/// Runs a program that must succeed and, if the tests are validated, without messages of the validation layer.
///
/// # Errors
/// The output of the program and of the layer.
pub fn run_quietly(command: &mut Command) -> Result<String> {
    if env::var("TROMMEL_VALIDATION").is_ok_and(|value| !value.is_empty() && value != "0") {
        command.env("VK_INSTANCE_LAYERS", "VK_LAYER_KHRONOS_validation");
    }
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}\n{text}", output.status);
    ensure!(!text.contains("Validation"), "{text}");
    Ok(text)
}
