//! The installed package, as its users find it: CMake, pkg-config, C, C++, Python.

use anyhow::{Result, ensure};
use ffi_tests::{Package, empty_folder, library, run, run_quietly, scratch_folder, target, workspace};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use trommel::{BucketFunction, Count, SplitInfo, Splitter, SplitterInfo};

/// The package, once it has been installed.
fn package() -> Result<&'static Package> {
    static PACKAGE: OnceLock<Result<Package, String>> = OnceLock::new();
    let install = || Package::install("package", &target()?, &[]);
    let package = PACKAGE.get_or_init(|| install().map_err(|error| format!("{error:#}")));
    package.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
}

/// Builds the examples of a folder against the package and runs them, shared and static.
fn examples(folder: &str, names: &[&str]) -> Result<()> {
    let build = empty_folder(&format!("example-{folder}"))?;
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(workspace().join("examples").join(folder)).arg("-B").arg(&build);
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", package()?.folder().display())))?;
    run(Command::new("cmake").arg("--build").arg(&build))?;
    for (name, kind) in names.iter().flat_map(|name| ["shared", "static"].map(|kind| (name, kind))) {
        let program = build.join(format!("{name}_{kind}"));
        let needed = run(Command::new("readelf").arg("--dynamic").arg(&program))?;
        ensure!(needed.contains("libtrommel.so") == (kind == "shared"), "{kind}: {needed}");
        let text = run_quietly(&mut Command::new(&program))?;
        ensure!(text.contains(" 0 ") && text.contains("wrong"), "{text}");
    }
    Ok(())
}

#[test]
fn c_programs_find_both_libraries() -> Result<()> {
    examples("c", &["merge", "sort"])
}

#[test]
fn cpp_programs_find_both_libraries() -> Result<()> {
    examples("cpp", &["batch", "merge", "weld"])
}

/// The digest of seven arrays: sorted keys and values, split keys and values, bucket offsets, merged keys and values.
fn digest(parts: [&[u32]; 7]) -> u64 {
    // Fowler, Noll and Vo's hash (FNV-1a), a word at a time.
    let hash = |digest: u64, word: &u32| (digest ^ u64::from(*word)).wrapping_mul(0x100_0000_01b3);
    parts.into_iter().flatten().fold(0xcbf2_9ce4_8422_2325_u64, hash)
}

/// Buckets: values of a field of three bits, from bit 7 on. Keys with larger values have no bucket.
const BUCKETS: u32 = 5;

fn bucket(key: u32) -> u32 {
    (key >> 7 & 7).min(BUCKETS)
}

/// Sorted items that are merged with all of them.
const LAST: usize = 5000;

/// Every language sorts, splits and merges the same keys with their indices, and gets the same digest. Many keys are
/// equal.
#[test]
fn every_language_gets_the_same_bytes() -> Result<()> {
    let keys: Vec<u32> = (0..20_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 20) * 0x0008_0401).collect();
    let indices: Vec<u32> = (0..20_000).collect();

    let mut expected: Vec<_> = keys.iter().copied().zip(indices.iter().copied()).collect();
    expected.sort_by_key(|item| item.0);
    let (sorted, moved): (Vec<u32>, Vec<u32>) = expected.iter().copied().unzip();
    let offsets: Vec<u32> =
        (0..=BUCKETS).map(|first| sorted.iter().map(|key| u32::from(bucket(*key) < first)).sum()).collect();
    // Stable: the items of the first sequence come first.
    let mut merged = [&expected[..], &expected[expected.len() - LAST..]].concat();
    merged.sort_by_key(|item| item.0);
    let (merged, moved_last): (Vec<u32>, Vec<u32>) = merged.into_iter().unzip();
    expected.sort_by_key(|item| bucket(item.0));
    let (split, moved_again): (Vec<u32>, Vec<u32>) = expected.into_iter().unzip();
    let expected = digest([&sorted, &moved, &split, &moved_again, &offsets, &merged, &moved_last]);
    ensure!(digest_of_rust(keys, indices)? == expected, "Rust");

    let expected = format!("{expected:016x}");
    let c = package()?.compiled("cc", "c11", "c/digest.c")?;
    let cpp = package()?.compiled("c++", "c++17", "cpp/wrapper.cpp")?;
    for command in [&mut Command::new(c), &mut Command::new(cpp), &mut python()?] {
        let text = run_quietly(command)?;
        ensure!(text.contains(&expected), "{command:?}: {text} instead of {expected}");
    }
    Ok(())
}

fn digest_of_rust(mut keys: Vec<u32>, mut indices: Vec<u32>) -> Result<u64> {
    trommel::host::sort_pairs(&mut keys, &mut indices)?;
    let context = trommel::host::Context::new()?;
    let count = u32::try_from(keys.len())?;
    let splitter =
        Splitter::new(context.device(), &SplitterInfo::pairs(BUCKETS, BucketFunction::Bits { begin_bit: 7 }))?;
    let input = [context.upload(&keys)?, context.upload(&indices)?];
    let sizes = [u64::from(count) * 4, u64::from(count) * 4, u64::from(BUCKETS + 1) * 4];
    let output = [context.buffer(sizes[0])?, context.buffer(sizes[1])?, context.buffer(sizes[2])?];
    let scratch = context.buffer(splitter.scratch_size(count)?)?;
    let info = SplitInfo {
        count: Count::host(count),
        keys: input[0].range(),
        values: input[1].range(),
        keys_out: output[0].range(),
        values_out: output[1].range(),
        offsets: output[2].range(),
        scratch: scratch.scratch(),
        ..SplitInfo::default()
    };
    // SAFETY: the command buffer is recording, and the buffers live until it has executed.
    context.run(|commands| unsafe { splitter.cmd_split(commands, &info) })?;
    let read = |buffer, len| context.download::<u32>(buffer, len);
    let (split, moved) = (read(&output[0], keys.len())?, read(&output[1], keys.len())?);
    let offsets = read(&output[2], BUCKETS as usize + 1)?;
    let first = keys.len() - LAST;
    let (merged, moved_last) = trommel::host::merge_pairs((&keys, &indices), (&keys[first..], &indices[first..]))?;
    Ok(digest([&keys, &indices, &split, &moved, &offsets, &merged, &moved_last]))
}

#[test]
fn c_and_cpp_programs_split() -> Result<()> {
    for program in
        [package()?.compiled("cc", "c99", "c/split.c")?, package()?.compiled("c++", "c++20", "cpp/split.cpp")?]
    {
        let function = workspace().join("tests/kernels/spread_u32.spv");
        let text = run_quietly(Command::new(&program).arg(function))?;
        ensure!(
            text.contains("items split, 0 wrong") && text.contains("by a function of the caller, 0 wrong"),
            "{text}"
        );
    }
    Ok(())
}

#[test]
fn c_and_cpp_programs_merge() -> Result<()> {
    let text = run_quietly(&mut Command::new(package()?.compiled("cc", "c99", "c/merge.c")?))?;
    ensure!(text.contains("items merged, 0 wrong"), "{text}");
    let comparator = workspace().join("tests/kernels/ranked_u32.spv");
    let program = package()?.compiled("c++", "c++17", "cpp/merge.cpp")?;
    let text = run_quietly(Command::new(&program).arg(comparator))?;
    ensure!(
        text.contains("items merged, 0 wrong") && text.contains("by a comparator of the caller, 0 wrong"),
        "{text}"
    );
    Ok(())
}

#[test]
fn c_and_cpp_programs_hash() -> Result<()> {
    for program in [package()?.compiled("cc", "c99", "c/hash.c")?, package()?.compiled("c++", "c++17", "cpp/hash.cpp")?]
    {
        let text = run_quietly(&mut Command::new(program))?;
        ensure!(text.contains("keys inserted and found, 0 wrong"), "{text}");
    }
    Ok(())
}

#[test]
fn cmake_compares_versions() -> Result<()> {
    let folder = empty_folder("version")?;
    let (major, minor) = (env!("CARGO_PKG_VERSION_MAJOR"), env!("CARGO_PKG_VERSION_MINOR"));
    fs::write(
        folder.join("CMakeLists.txt"),
        format!(
            "cmake_minimum_required(VERSION 3.22)\n\
             project(version LANGUAGES C)\n\
             find_package(trommel 99.0 QUIET)\n\
             if(trommel_FOUND)\n    message(FATAL_ERROR \"another version has been found\")\nendif()\n\
             find_package(trommel {major}.{minor} REQUIRED)\n"
        ),
    )?;
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&folder).arg("-B").arg(folder.join("build"));
    run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", package()?.folder().display())))?;
    Ok(())
}

#[test]
fn pkg_config_finds_both_libraries() -> Result<()> {
    let folder = scratch_folder("pkg-config")?;
    ensure!(package()?.pkg_config(&["--modversion"])?.trim() == env!("CARGO_PKG_VERSION"));
    let compile = |name: &str, libraries: &str| -> Result<()> {
        let program = folder.join(name);
        let mut cc = Command::new("cc");
        cc.arg("-std=c99").args(package()?.pkg_config(&["--cflags"])?.split_whitespace());
        cc.arg(workspace().join("examples/c/sort.c")).arg("-o").arg(&program);
        run(cc.args(libraries.split_whitespace()).arg("-lvulkan"))?;
        run_quietly(
            Command::new(&program)
                .env("LD_LIBRARY_PATH", package()?.find("libtrommel.so")?.parent().unwrap_or(Path::new(""))),
        )?;
        Ok(())
    };
    compile("shared", &package()?.pkg_config(&["--libs"])?)?;
    compile("static", &package()?.static_libraries()?)
}

#[test]
fn the_shared_library_has_a_soname_needs_no_loader_and_keeps_to_itself() -> Result<()> {
    let dynamic = run(Command::new("readelf").arg("--dynamic").arg(package()?.find("libtrommel.so")?))?;
    ensure!(
        dynamic.contains(concat!(
            "soname: [libtrommel.so.",
            env!("CARGO_PKG_VERSION_MAJOR"),
            ".",
            env!("CARGO_PKG_VERSION_MINOR"),
            "]"
        )),
        "{dynamic}"
    );
    ensure!(!dynamic.contains("libvulkan"), "{dynamic}");
    // The library must stay loaded: threads that have called it run its thread-local destructors when they end.
    ensure!(dynamic.contains("NODELETE"), "{dynamic}");
    let symbols = run(Command::new("nm").args(["--dynamic", "--defined-only"]).arg(package()?.find("libtrommel.so")?))?;
    ensure!(symbols.lines().all(|line| line.contains(" T trm")), "{symbols}");
    Ok(())
}

#[test]
fn the_c_program_is_clean_under_sanitizers() -> Result<()> {
    let folder = scratch_folder("sanitizers")?;
    let flags = ["-g", "-std=c11", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    fs::write(folder.join("empty.c"), "int main(void)\n{\n    return 0;\n}\n")?;
    if run(Command::new("cc").args(flags).arg(folder.join("empty.c")).arg("-o").arg(folder.join("empty"))).is_err() {
        println!("left out: the compiler has no sanitizers");
        return Ok(());
    }
    let program = folder.join("sort");
    let mut cc = Command::new("cc");
    cc.args(flags).args(package()?.pkg_config(&["--cflags"])?.split_whitespace());
    cc.arg(workspace().join("examples/c/sort.c")).arg("-o").arg(&program);
    run(cc.args(package()?.static_libraries()?.split_whitespace()).arg("-lvulkan"))?;
    ensure!(run(Command::new("nm").arg(&program))?.contains("__asan_init"), "the program is not sanitized");
    // Drivers and the loader keep memory until the end. No other allocator may precede the sanitizers' allocator.
    run(Command::new(&program).env("ASAN_OPTIONS", "detect_leaks=0").env_remove("LD_PRELOAD"))?;
    Ok(())
}

/// A sort, a split and a merge through ctypes alone.
fn python() -> Result<Command> {
    let mut python = Command::new("python3");
    python.arg(workspace().join("ffi-tests/python/sort.py")).arg(library()?);
    Ok(python)
}

#[test]
fn the_shaders_of_the_examples_are_valid() -> Result<()> {
    let folder = scratch_folder("spirv")?;
    if Command::new("spirv-val").arg("--version").output().is_err() {
        println!("left out: spirv-val is not installed");
        return Ok(());
    }
    for name in ["generate", "check"] {
        let text = fs::read_to_string(workspace().join(format!("examples/c/{name}.spv.h")))?;
        let words = text.split([',', '\n']).filter_map(|word| word.trim().strip_prefix("0x"));
        let words = words.map(|word| u32::from_str_radix(word, 16)).collect::<Result<Vec<_>, _>>()?;
        let module = folder.join(name);
        fs::write(&module, words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>())?;
        run(Command::new("spirv-val").args(["--target-env", "vulkan1.3", "--scalar-block-layout"]).arg(&module))?;
    }
    Ok(())
}
