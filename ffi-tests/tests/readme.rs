//! README's C examples, compiled as they stand.

use anyhow::{Context as _, Result, ensure};
use ffi_tests::{run, scratch_folder, workspace};
use std::fs;
use std::process::Command;

/// The function around the examples. Its parameters are variables of the engine.
const ENGINE: &str = "
void record(VkCommandBuffer command_buffer, TrmSorter sorter, VkDeviceAddress visible_count_address,
            VkDeviceAddress depths_address, VkDeviceSize depths_size, VkDeviceAddress ids_address,
            VkDeviceSize ids_size, VkBuffer scratch_buffer, VkDeviceSize scratch_size, TrmSplitter splitter,
            VkDeviceAddress keys_address, VkDeviceAddress rays_address, VkDeviceAddress keys_out_address,
            VkDeviceAddress rays_out_address, VkDeviceSize rays_size, VkDeviceAddress shade_address)
";

#[test]
fn the_c_examples_compile() -> Result<()> {
    let readme = fs::read_to_string(workspace().join("README.md"))?;
    // All examples form one text, in the order of the page.
    let blocks: String = readme.split("```c\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let (include, body) = blocks.split_once("\n\n").context("the first example begins with its include")?;
    ensure!(body.contains("trmCmdSort") && body.contains("trmCmdSplit"), "README lacks an example");
    let source = scratch_folder("readme")?.join("example.c");
    fs::write(&source, format!("#include <stdio.h>\n{include}\n{ENGINE}{{\n{body}}}\n"))?;
    let mut command = Command::new("cc");
    command.args([
        "-std=c99",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-missing-prototypes",
        "-fsyntax-only",
        "-I",
    ]);
    run(command.arg(workspace().join("include")).arg(&source))?;
    Ok(())
}
