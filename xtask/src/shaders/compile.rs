//! One kernel to one module.

use super::variants::{Set, Variant};
use crate::workspace;
use anyhow::{Context, Result};
use shaderc::{
    CompileOptions, Compiler, EnvVersion, IncludeCallbackResult, OptimizationLevel, ResolvedInclude, ShaderKind,
    SpirvVersion, TargetEnv,
};
use std::{fs, path::Path};

/// What `options` sets, as MANIFEST says it.
pub(super) const FLAGS: &str = "target vulkan1.3, SPIR-V 1.6, optimized for performance, warnings are errors";

/// The SPIR-V of a variant, in little-endian bytes.
pub(super) fn compile(compiler: &Compiler, set: &Set, variant: &Variant) -> Result<Vec<u8>> {
    let path = set.glsl.join(&variant.file);
    let source = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    // The name leads includes; relative, it leaves no folder of this machine in a message or a module.
    let name = workspace::shown(&path);
    let artifact = compiler
        .compile_into_spirv(&source, ShaderKind::Compute, &name, "main", Some(&options(&variant.defines)?))
        .with_context(|| format!("{} does not compile", variant.name))?;
    Ok(artifact.as_binary().iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn options(defines: &[String]) -> Result<CompileOptions<'static>> {
    let mut options = CompileOptions::new()?;
    // Below SPIR-V 1.6, gl_SubgroupSize need not be the size that was dispatched.
    options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_3 as u32);
    options.set_target_spirv(SpirvVersion::V1_6);
    options.set_optimization_level(OptimizationLevel::Performance);
    options.set_warnings_as_errors();
    options.set_include_callback(|requested, _, from, _| include(requested, from));
    for define in defines {
        let (name, value) = define.split_once('=').map_or((define.as_str(), None), |(name, value)| (name, Some(value)));
        options.add_macro_definition(name, value);
    }
    Ok(options)
}

/// Looks beside the including file, then in glsl/core, then in glsl.
fn include(requested: &str, from: &str) -> IncludeCallbackResult {
    let root = workspace::root();
    let beside = root.join(from).parent().map(Path::to_owned).unwrap_or_default();
    for folder in [beside, root.join("glsl/core"), root.join("glsl")] {
        let path = folder.join(requested);
        if path.is_file() {
            let content = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            return Ok(ResolvedInclude { resolved_name: workspace::shown(&path), content });
        }
    }
    Err(format!("{requested} is neither beside {from} nor in glsl/core or glsl"))
}
