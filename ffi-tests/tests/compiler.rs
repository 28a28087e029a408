//! The package with a compiler of user-defined functions: the tool, its CMake function, and C and C++ programs that
//! compile GLSL at run time.

use anyhow::{Result, ensure};
use ffi_tests::{Package, empty_folder, own_target, run, run_quietly, workspace};
use std::fs;
use std::process::Command;

/// Installs the package with the profile of these tests: their target folder already has the compiler.
fn package() -> Result<Package> {
    Package::install(
        "package-with-compiler",
        &own_target()?,
        &["-DTROMMEL_RUNTIME_SHADERS=ON", "-DTROMMEL_CARGO_PROFILE=dev"],
    )
}

/// Reads a committed module from tests/kernels.
fn committed(name: &str) -> Result<Vec<u8>> {
    Ok(fs::read(workspace().join("tests/kernels").join(name))?)
}

#[test]
fn functions_are_compiled_by_the_package() -> Result<()> {
    let package = package()?;
    by_cmake(&package)?;
    let function = "by a function of the caller, 0 wrong";
    for (compiler, standard, source, function, result) in [
        ("cc", "c99", "c/split.c", "spread.glsl", function),
        ("c++", "c++20", "cpp/split.cpp", "spread.glsl", function),
        ("c++", "c++17", "cpp/merge.cpp", "ranked.glsl", "by a comparator of the caller, 0 wrong"),
    ] {
        let program = package.compiled(compiler, standard, source)?;
        let text = run_quietly(Command::new(&program).arg(workspace().join("tests/kernels").join(function)))?;
        ensure!(text.contains(result), "{text}");
    }
    Ok(())
}

/// Compiles kernels for two key types and a comparator as users of CMake do, and one of them again after its function
/// has changed.
fn by_cmake(package: &Package) -> Result<()> {
    let folder = empty_folder("kernels")?;
    let function = folder.join("function.glsl");
    for copy in [&function, &folder.join("other.glsl")] {
        fs::copy(workspace().join("tests/kernels/spread.glsl"), copy)?;
    }
    for comparator in ["ranked.glsl", "masked.glsl"] {
        fs::copy(workspace().join("tests/kernels").join(comparator), folder.join(comparator))?;
    }
    fs::write(
        folder.join("CMakeLists.txt"),
        "cmake_minimum_required(VERSION 3.22)\n\
         project(kernels LANGUAGES C)\n\
         find_package(trommel REQUIRED)\n\
         trommel_add_kernel(words function.glsl)\n\
         trommel_add_kernel(doubles other.glsl KEY f64 OUTPUT kernels/of_doubles.spv)\n\
         trommel_add_kernel(ranked ranked.glsl FUNCTION trm_less)\n\
         trommel_add_kernel(masked masked.glsl FUNCTION trm_less FOR sorter)\n\
         get_target_property(kernel words TROMMEL_KERNEL)\n\
         file(WRITE \"${CMAKE_BINARY_DIR}/path\" \"${kernel}\")\n",
    )?;
    let build = folder.join("build");
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&folder).arg("-B").arg(&build);
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", package.folder().display())))?;
    let make = || run(Command::new("cmake").arg("--build").arg(&build));
    make()?;
    let words = fs::read_to_string(build.join("path"))?;
    ensure!(fs::read(&words)? == committed("spread_u32.spv")?, "another kernel than the tests'");
    ensure!(
        fs::read(build.join("kernels/of_doubles.spv"))? == committed("spread_f64.spv")?,
        "another kernel than the tests'"
    );
    for (kernel, committed_as) in [("ranked.spv", "ranked_u32.spv"), ("masked.spv", "sort_masked_u32.spv")] {
        ensure!(fs::read(build.join(kernel))? == committed(committed_as)?, "another {kernel} than the tests'");
    }

    fs::copy(workspace().join("tests/kernels/backwards.glsl"), &function)?;
    make()?;
    ensure!(fs::read(&words)? == committed("backwards_u32.spv")?, "the kernel has not been compiled again");
    fs::write(&function, "uint trm_bucket(KEY key, uint index, TrmUserData data) {\n    return color;\n}\n")?;
    let why = make().err().map(|error| error.to_string()).unwrap_or_default();
    ensure!(why.contains("trm_bucket.glsl:2: error: 'color'"), "{why}");
    Ok(())
}
