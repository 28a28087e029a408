//! Splits by user-defined functions: precompiled and, with the feature `runtime-shaders`, compiled at run time.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

mod common;
#[path = "split/problem.rs"]
mod problem;

use common::arena::{Poison, Together, run_and_check};
use common::contexts::{Setup, assert_silence, context};
use common::items::Counted;
use common::keys::Keys;
use common::spirv::words_of;
use common::{brief, full, very_brief};
use problem::{Asked, Job};
use trommel::{BucketFunction, BucketKernel, KeyType, Layout, Splitter, SplitterInfo, Strategy, ValueType};

/// Functions of tests/kernels, their key types, and their compiled modules.
const COMPILED: [(&str, KeyType, &[u8]); 4] = [
    ("spread", KeyType::U32, include_bytes!("kernels/spread_u32.spv")),
    ("spread", KeyType::F64, include_bytes!("kernels/spread_f64.spv")),
    ("spread", KeyType::U32x3, include_bytes!("kernels/spread_u32x3.spv")),
    ("backwards", KeyType::U32, include_bytes!("kernels/backwards_u32.spv")),
];

fn kernel(key: KeyType) -> BucketKernel {
    kernel_of("spread", key)
}

fn kernel_of(name: &str, key: KeyType) -> BucketKernel {
    let (.., bytes) =
        COMPILED.into_iter().find(|(known, of, _)| (*known, *of) == (name, key)).expect("a kernel of such keys");
    let words = words_of(bytes);
    BucketKernel::from_spirv(&words).expect("a kernel of this version")
}

fn by_user(key: KeyType, buckets: u32, value: ValueType) -> SplitterInfo {
    SplitterInfo { key, value, ..SplitterInfo::keys(buckets, BucketFunction::User) }.batches()
}

#[test]
fn kernels_compiled_before() {
    let setups = [Setup::Native, Setup::Folded, Setup::Emulated(32), Setup::Late(16)];
    let cases = [
        by_user(KeyType::U32, 5, ValueType::U32),
        by_user(KeyType::F64, 255, ValueType::None),
        SplitterInfo { drop_keys: true, layout: Layout::Strided, ..by_user(KeyType::U32x3, 1000, ValueType::Index) },
        SplitterInfo { layout: Layout::Interleaved, ..by_user(KeyType::U32, 256, ValueType::Bytes(8)) },
        by_user(KeyType::U32, 1, ValueType::None),
    ];
    let one_of = if very_brief() { 4 } else { 2 };
    for (i, info) in cases.into_iter().enumerate().filter(|(i, _)| full() || !brief() || i % one_of == 0) {
        let context = context(setups[i % setups.len()]);
        let info = info.strategy([Strategy::Auto, Strategy::ReduceThenScan, Strategy::Ring][i % 3]);
        println!("{} {info:?}", context.name());
        // SAFETY: the compiler has created the modules from valid functions.
        let splitter = unsafe { Splitter::with_kernel(context.device(), &info, &kernel(info.key)) };
        let splitter = splitter.expect("a kernel for such keys");
        let asked = Asked { offsets: true, counts: true, command_items: 7, ..Asked::default() };
        let job = |n: usize, seed| Job::draw(&splitter, Keys::Random, n, seed).asked(asked);
        let jobs = [
            job(20_011, 1),
            job(7000, 2).counted(Counted::Device(6001)),
            job(3, 3).counted(Counted::Device(9)),
            job(0, 4),
        ];
        for together in [Together::Singles, Together::Batch] {
            run_and_check(&context, &jobs, together, Poison::Random(i as u64));
        }
        assert_silence(&context);
    }
}

/// The function receives the index of an item in the whole array, not in its segment.
#[test]
fn kernels_that_serve_segments() {
    let context = context(Setup::Native);
    let info = SplitterInfo { segmented: true, ..by_user(KeyType::U32, 20, ValueType::U32) };
    // SAFETY: as above.
    let splitter = unsafe { Splitter::with_kernel(context.device(), &info, &kernel(KeyType::U32)) };
    let splitter = splitter.expect("a kernel for such keys");
    let asked = Asked { offsets: true, ..Asked::default() };
    let job =
        Job::draw(&splitter, Keys::Random, 30_000, 3).asked(asked).cut(vec![3, 10, 10, 1001, 1030, 25_000, 29_000]);
    run_and_check(&context, &[job.counted(Counted::Device(6))], Together::Singles, Poison::Random(8));
    assert_silence(&context);
}

/// Splitters that differ only in their functions, and two that are equal.
#[test]
fn several_kernels_on_one_device() {
    let context = context(Setup::Native);
    let of = |(name, key)| {
        // SAFETY: as above.
        unsafe { Splitter::with_kernel(context.device(), &by_user(key, 20, ValueType::U32), &kernel_of(name, key)) }
    };
    let functions =
        [("spread", KeyType::U32), ("backwards", KeyType::U32), ("spread", KeyType::F64), ("spread", KeyType::U32)];
    let splitters: Vec<Splitter> =
        functions.into_iter().map(of).collect::<Result<_, _>>().expect("kernels for such keys");
    let jobs = splitters.iter().zip(functions).map(|(splitter, (name, _))| {
        let asked = Asked { offsets: true, backwards: name == "backwards", ..Asked::default() };
        Job::draw(splitter, Keys::Random, 5000, 5).asked(asked)
    });
    let jobs: Vec<Job<'_>> = jobs.collect();
    run_and_check(&context, &jobs, Together::Batch, Poison::Random(7));
    assert_silence(&context);
}

#[test]
fn refusals() {
    let context = context(Setup::Native);
    // SAFETY: every creation is refused before the kernel is used.
    let made = |info: &SplitterInfo| unsafe { Splitter::with_kernel(context.device(), info, &kernel(KeyType::U32)) };
    let refused = |info: &SplitterInfo| made(info).map(drop).map_err(|error| error.to_string());
    let user = by_user(KeyType::U32, 5, ValueType::None);
    assert_eq!(
        Splitter::new(context.device(), &user).map(drop).map_err(|error| error.to_string()),
        Err("bucketFunction is malformed: a user-defined function needs a kernel".into())
    );
    assert_eq!(
        refused(&SplitterInfo { function: BucketFunction::Signs, ..user }),
        Err("bucketFunction is malformed: a kernel needs a user-defined function".into())
    );
    assert_eq!(
        refused(&SplitterInfo { key: KeyType::F32, ..user }),
        Err("keyType is malformed: F32 is not the key type of the kernel".into())
    );
}

#[cfg(feature = "runtime-shaders")]
mod compiled_here {
    use super::*;

    const SOURCE: &str = include_str!("kernels/spread.glsl");

    fn source(name: &str) -> &'static str {
        if name == "backwards" { include_str!("kernels/backwards.glsl") } else { SOURCE }
    }

    /// With `TROMMEL_UPDATE_KERNELS` set, writes the modules instead.
    #[test]
    fn committed_kernels_are_those_of_the_source() {
        for (function, key, bytes) in COMPILED {
            let kernel = BucketKernel::from_glsl(key, source(function)).expect("a valid function");
            let found: Vec<u8> = kernel.spirv().iter().flat_map(|word| word.to_le_bytes()).collect();
            if std::env::var_os("TROMMEL_UPDATE_KERNELS").is_some() {
                let key = format!("{key:?}").to_lowercase();
                let name = format!("{}/tests/kernels/{function}_{key}.spv", env!("CARGO_MANIFEST_DIR"));
                std::fs::write(name, found).expect("a file that can be written");
            } else {
                assert!(found == bytes, "{function}, {key:?}: set TROMMEL_UPDATE_KERNELS and run this test again");
            }
        }
    }

    fn tool(arguments: &[&str]) -> (bool, String) {
        let run = std::process::Command::new(env!("CARGO_BIN_EXE_trommel-kernel"))
            .args(arguments)
            .output()
            .expect("the tool runs");
        (run.status.success(), String::from_utf8_lossy(&run.stderr).into_owned())
    }

    #[test]
    fn the_tool_compiles_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, output) = (folder.path().join("spread.glsl"), folder.path().join("spread.spv"));
        std::fs::write(&source, SOURCE).expect("a file that can be written");
        let [source, output] = [&source, &output].map(|path| path.to_str().expect("a path"));
        for (_, key, bytes) in COMPILED.into_iter().filter(|(function, ..)| *function == "spread") {
            let name = format!("{key:?}").to_lowercase();
            assert_eq!(tool(&[source, "-o", output, "--key", &name]), (true, String::new()));
            assert!(std::fs::read(output).expect("a kernel") == bytes, "{name}");
        }
        let refused = |arguments: &[&str], why: &str| {
            let (success, text) = tool(arguments);
            assert!(!success && text.contains(why), "{arguments:?}: {text}");
        };
        refused(&[source], "-o KERNEL.spv");
        refused(&["-o", output], "the function is missing");
        refused(&[source, "-o", output, "--key", "u7"], "u7 is not a key type");
        refused(&[source, "-o", output, "--key", "u8"], "U8 are narrower than a word");
        refused(&["nowhere.glsl", "-o", output], "nowhere.glsl: ");
    }

    #[test]
    fn every_type_of_key_has_a_function() {
        for key in KeyType::ALL {
            let compiled = BucketKernel::from_glsl(key, SOURCE).map(drop).map_err(|error| error.to_string());
            let narrow = format!("keyType is malformed: {key:?} are narrower than a word");
            assert_eq!(compiled, if key.bits() < 32 { Err(narrow) } else { Ok(()) });
        }
    }

    #[test]
    fn errors_name_the_functions_own_lines() {
        let refused = |source: &str| BucketKernel::from_glsl(KeyType::U32, source).unwrap_err().to_string();
        let unknown =
            refused("// One,\n// two,\nuint trm_bucket(KEY key, uint index, TrmUserData data) { return color; }\n");
        assert!(
            unknown.starts_with("source is malformed: ") && unknown.contains("trm_bucket.glsl:3: error: 'color'"),
            "{unknown}"
        );
        let none = refused("uint bucket(KEY key) { return key; }\n");
        assert!(none.contains("'trm_bucket' : no matching overloaded function found"), "{none}");
        for file in ["/etc/passwd", "trm_bucket.glsl", "radix/keys.glsl"] {
            let other = refused(&format!("#include \"{file}\"\n"));
            assert!(other.contains(&format!("{file}: a function includes no files")), "{other}");
        }
        assert_eq!(refused("uint trm_bucket\0"), "source is malformed: it contains a NUL character");
        let bound = refused(
            "layout(set = 0, binding = 0) buffer Table { uint of[]; } table;\n\
             uint trm_bucket(KEY key, uint index, TrmUserData data) { return table.of[key]; }\n",
        );
        assert_eq!(bound, "code is malformed: it has descriptors, and the library binds none");
    }
}
