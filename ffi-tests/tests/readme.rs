//! README's C example, compiled as it stands.

use anyhow::{Context as _, Result};
use ffi_tests::{run, scratch_folder, workspace};
use std::fs;
use std::process::Command;

/// What the example takes from the engine around it.
const ENGINE: &str = "
void record(VkCommandBuffer command_buffer, TrmSorter sorter, VkDeviceAddress visible_count_address,
            VkDeviceAddress depths_address, VkDeviceSize depths_size, VkDeviceAddress ids_address, VkDeviceSize ids_size,
            VkBuffer scratch_buffer, VkDeviceSize scratch_size)
";

#[test]
fn the_c_example_compiles() -> Result<()> {
    let readme = fs::read_to_string(workspace().join("README.md"))?;
    let block = readme.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).context("README has no C example")?;
    let (include, body) = block.split_once("\n\n").context("the example begins with its include")?;
    let source = scratch_folder("readme")?.join("example.c");
    fs::write(&source, format!("#include <stdio.h>\n{include}\n{ENGINE}{{\n{body}}}\n"))?;
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-missing-prototypes", "-fsyntax-only", "-I"]);
    run(command.arg(workspace().join("include")).arg(&source))?;
    Ok(())
}
