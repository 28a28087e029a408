//! `trommel-kernel FUNCTION.glsl -o KERNEL.spv [--key u32]`: compiles a user-defined bucket function to SPIR-V, for
//! engines without a shader compiler.

use std::env;
use std::fs;
use std::process::ExitCode;
use trommel::{BucketKernel, KeyType};

const USAGE: &str = "trommel-kernel FUNCTION.glsl -o KERNEL.spv [--key TYPE]

Compiles `uint trm_bucket(KEY key, uint index, TrmUserData data)` to the kernel that trmCreateSplitterFromSpirv() and
BucketKernel::from_spirv() take. TYPE: u32 (the default), i32, f32, u64, i64, f64, u32x2, u32x3 or u32x4.";

struct Options {
    source: String,
    output: String,
    key: KeyType,
}

/// Parses the command line. `None`: print the usage text.
fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let (mut source, mut output, mut key) = (None, None, KeyType::U32);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "-h" | "--help" => return Ok(None),
            "-o" => output = Some(value()?),
            "--key" => {
                let name = value()?;
                let known = KeyType::ALL.into_iter().find(|key| format!("{key:?}").eq_ignore_ascii_case(&name));
                key = known.ok_or_else(|| format!("{name} is not a key type"))?;
            }
            option if option.starts_with('-') => return Err(format!("{option} is no option")),
            _ if source.is_some() => return Err(format!("{argument}: only one function is allowed")),
            _ => source = Some(argument),
        }
    }
    let source = source.ok_or("the function is missing: FUNCTION.glsl")?;
    let output = output.ok_or("the output is missing: -o KERNEL.spv")?;
    Ok(Some(Options { source, output, key }))
}

fn run() -> Result<(), String> {
    let Some(Options { source, output, key }) =
        options(env::args().skip(1)).map_err(|why| format!("{why}\n\n{USAGE}"))?
    else {
        println!("{USAGE}");
        return Ok(());
    };
    let text = fs::read_to_string(&source).map_err(|error| format!("{source}: {error}"))?;
    let kernel = BucketKernel::from_glsl(key, &text).map_err(|error| format!("{source}: {error}"))?;
    let bytes: Vec<u8> = kernel.spirv().iter().flat_map(|word| word.to_le_bytes()).collect();
    fs::write(&output, bytes).map_err(|error| format!("{output}: {error}"))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("trommel-kernel: {why}");
            ExitCode::FAILURE
        }
    }
}
