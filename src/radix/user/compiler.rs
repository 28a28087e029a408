//! Compiles a user-defined function in GLSL to a kernel.

use super::malformed;
use crate::shared::{UserFunction, glsl};
use crate::{KeyType, Result};
use shaderc::{
    CompileOptions, Compiler, EnvVersion, IncludeCallbackResult, OptimizationLevel, ResolvedInclude, ShaderKind,
    SpirvVersion, TargetEnv,
};

/// Returns the GLSL type of a key, and the expression that makes it from `words`.
fn key_type(key: KeyType) -> Result<(&'static str, &'static str)> {
    Ok(match key {
        KeyType::U32 => ("uint", "words[0]"),
        KeyType::I32 => ("int", "int(words[0])"),
        KeyType::F32 => ("float", "uintBitsToFloat(words[0])"),
        KeyType::U64 | KeyType::I64 | KeyType::F64 | KeyType::U32x2 => ("uvec2", "uvec2(words[0], words[1])"),
        KeyType::U32x3 => ("uvec3", "uvec3(words[0], words[1], words[2])"),
        KeyType::U32x4 => ("uvec4", "uvec4(words[0], words[1], words[2], words[3])"),
        _ => return Err(malformed("keyType", format!("{key:?} are narrower than a word"))),
    })
}

pub(super) fn compile(function: &UserFunction, key: KeyType, source: &str) -> Result<Vec<u32>> {
    let (name, of_words) = key_type(key)?;
    if source.contains('\0') {
        return Err(malformed("source", "it contains a NUL character"));
    }
    let plain = key.plain();
    let macros = [
        ("USER_FUNCTION", format!("{}u", function.number())),
        ("USER_INTERFACE", format!("{}u", function.interface)),
        ("USER_KEY", format!("{}u", plain.words | plain.encoding << 8)),
        ("USER_KEY_OF(words)", of_words.to_owned()),
        ("KEY", name.to_owned()),
    ];
    let failed = |error: shaderc::Error| malformed("source", error.to_string());
    let mut options = CompileOptions::new().map_err(failed)?;
    options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_3 as u32);
    options.set_target_spirv(SpirvVersion::V1_6);
    options.set_optimization_level(OptimizationLevel::Performance);
    options.set_include_callback(|requested, _, from, _| include(function, requested, from, source));
    macros.iter().for_each(|(name, value)| options.add_macro_definition(name, Some(value)));
    let compiler = Compiler::new().map_err(failed)?;
    let (name, kernel) = function.files[0];
    let artifact = compiler.compile_into_spirv(kernel, ShaderKind::Compute, name, "main", Some(&options));
    Ok(artifact.map_err(failed)?.as_binary().to_vec())
}

/// Resolves includes of the library's files. The user's function may not include files.
fn include(function: &UserFunction, requested: &str, from: &str, source: &str) -> IncludeCallbackResult {
    let of_user = format!("{}.glsl", function.name);
    let found = if from == of_user {
        None
    } else if requested == of_user {
        Some(source.to_owned())
    } else if requested == "core/shared.glsl" {
        Some(glsl())
    } else {
        function.files.iter().find(|(name, _)| *name == requested).map(|(_, content)| (*content).to_owned())
    };
    let content = found.ok_or_else(|| format!("{requested}: a function includes no files"))?;
    Ok(ResolvedInclude { resolved_name: requested.to_owned(), content })
}
