//! `trommel-kernel FUNCTION.glsl -o KERNEL.spv [--function trm_bucket] [--for splitter] [--key u32]`: compiles a
//! user-defined function to SPIR-V, for engines without a shader compiler.

use std::env;
use std::fs;
use std::process::ExitCode;
use trommel::{BucketKernel, ComparatorKernel, KeyType, Result as Compiled, SortComparatorKernel};

const USAGE: &str = "trommel-kernel FUNCTION.glsl -o KERNEL.spv [--function NAME] [--for HANDLE] [--key TYPE]

Compiles a user-defined function to a kernel. NAME is one of:
  trm_bucket  `uint trm_bucket(KEY key, uint index, TrmUserData data)`, the default
  trm_less    `bool trm_less(KEY a, KEY b, TrmUserData data)`
HANDLE is what the kernel is for:
  splitter    trmCreateSplitterFromSpirv(), BucketKernel::from_spirv(): the default of trm_bucket
  merger      trmCreateMergerFromSpirv(), ComparatorKernel::from_spirv(): the default of trm_less
  sorter      trmCreateSorterFromSpirv(), SortComparatorKernel::from_spirv(): with trm_less
TYPE: u32 (the default), i32, f32, u64, i64, f64, u32x2, u32x3 or u32x4.";

/// Compiles the text of a function for keys of one type.
type Compile = fn(KeyType, &str) -> Compiled<Vec<u32>>;

/// The functions that users define, the handles that call them, and their compilers.
const FUNCTIONS: [(&str, &str, Compile); 3] = [
    ("trm_bucket", "splitter", |key, source| Ok(BucketKernel::from_glsl(key, source)?.spirv().to_vec())),
    ("trm_less", "merger", |key, source| Ok(ComparatorKernel::from_glsl(key, source)?.spirv().to_vec())),
    ("trm_less", "sorter", |key, source| Ok(SortComparatorKernel::from_glsl(key, source)?.spirv().to_vec())),
];

struct Options {
    source: String,
    output: String,
    compile: Compile,
    key: KeyType,
}

/// Parses the command line. `None`: print the usage text.
fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let (mut source, mut output, mut handle, mut key) = (None, None, None, KeyType::U32);
    let mut function = FUNCTIONS[0].0.to_owned();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "-h" | "--help" => return Ok(None),
            "-o" => output = Some(value()?),
            "--function" => function = value()?,
            "--for" => handle = Some(value()?),
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
    let mut of_name = FUNCTIONS.into_iter().filter(|(name, ..)| *name == function).peekable();
    of_name.peek().ok_or_else(|| format!("{function} is no function that users define"))?;
    let (.., compile) = of_name
        .find(|(_, known, _)| handle.as_ref().is_none_or(|handle| handle == known))
        .ok_or_else(|| format!("{function} is no function for a {}", handle.unwrap_or_default()))?;
    Ok(Some(Options { source, output, compile, key }))
}

fn run() -> Result<(), String> {
    let Some(Options { source, output, compile, key }) =
        options(env::args().skip(1)).map_err(|why| format!("{why}\n\n{USAGE}"))?
    else {
        println!("{USAGE}");
        return Ok(());
    };
    let text = fs::read_to_string(&source).map_err(|error| format!("{source}: {error}"))?;
    let kernel = compile(key, &text).map_err(|error| format!("{source}: {error}"))?;
    let bytes: Vec<u8> = kernel.iter().flat_map(|word| word.to_le_bytes()).collect();
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
