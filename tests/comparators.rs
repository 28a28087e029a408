//! Merges and sorts by user-defined comparators, against the standard library's stable sort: precompiled and, with the
//! feature `runtime-shaders`, compiled at run time.

#![allow(clippy::cast_possible_truncation, reason = "tests are small")]

mod common;
#[path = "merge/problem.rs"]
mod problem;
#[path = "sort/problem.rs"]
mod sort_problem;
#[path = "comparators/sorts.rs"]
mod sorts;

use common::arena::{Poison, Together, run_and_check};
use common::comparator::Comparator;
use common::contexts::{Setup, assert_silence, context};
use common::items::Counted;
use common::keys::{Bits, Keys, Random};
use common::spirv::words_of;
use common::{brief, full, very_brief};
use problem::Job;
use trommel::host::Context;
use trommel::{
    BucketKernel, ComparatorKernel, Count, KeyType, Layout, MergeInfo, MergeMethod, MergeOperation, Merger, MergerInfo,
    Order, ValueType,
};

/// Comparators of tests/kernels, their key types, and their compiled modules.
const COMPILED: [(&str, KeyType, &[u8]); 7] = [
    ("descending", KeyType::U32, include_bytes!("kernels/descending_u32.spv")),
    ("absolute", KeyType::F32, include_bytes!("kernels/absolute_f32.spv")),
    ("ranked", KeyType::U32, include_bytes!("kernels/ranked_u32.spv")),
    ("masked", KeyType::U32, include_bytes!("kernels/masked_u32.spv")),
    ("last_word", KeyType::I64, include_bytes!("kernels/last_word_i64.spv")),
    ("last_word", KeyType::U32x3, include_bytes!("kernels/last_word_u32x3.spv")),
    ("disorder", KeyType::U32, include_bytes!("kernels/disorder_u32.spv")),
];

/// Entries of the table of ranks.
const RANKS: Bits = 31;

fn kernel(name: &str, key: KeyType) -> ComparatorKernel {
    let (.., bytes) =
        COMPILED.into_iter().find(|(known, of, _)| (*known, *of) == (name, key)).expect("a kernel of such keys");
    ComparatorKernel::from_spirv(&words_of(bytes)).expect("a kernel of this version")
}

/// The same orders for the oracle.
fn comparator(name: &str) -> Comparator {
    let rank: fn(&Comparator, Bits) -> Bits = match name {
        "descending" => |_, key| !key,
        "absolute" => |_, key| key & 0x7fff_ffff,
        "ranked" => |comparator, key| comparator.table[(key % Bits::from(comparator.words[0])) as usize].into(),
        "indexed" => |comparator, key| comparator.table[key as usize].into(),
        "masked" => |comparator, key| key & Bits::from(comparator.words[3]),
        // The last word is the greatest bits of the number; the first word decides between keys with the same one.
        "last_word" => |_, key| {
            let last = if key >> 64 == 0 { key >> 32 } else { key >> 64 };
            (0xffff_ffff - last) << 32 | key & 0xffff_ffff
        },
        _ => |_, key| key,
    };
    let mut random = Random::new(5);
    match name {
        "ranked" | "indexed" => {
            let table = (0..RANKS).map(|_| random.below(12)).collect();
            Comparator { rank, table, words: [RANKS as u32, 0, 0, 0] }
        }
        "masked" => Comparator { rank, table: Vec::new(), words: [1, 2, 3, 0x30f] },
        _ => Comparator { rank, table: Vec::new(), words: [0; 4] },
    }
}

/// Floats from -500 to 500, also negative zeros.
fn small_floats(n: usize, seed: u64) -> Vec<Bits> {
    let mut random = Random::new(seed);
    let mut draw = || match random.below(1002) {
        1001 => -0.0,
        number => number as f32 - 500.0,
    };
    (0..n).map(|_| draw().to_bits().into()).collect()
}

/// Keys with few distinct words, so that many are equal, or differ in one word.
fn few_words(keys: Vec<Bits>, key: KeyType) -> Vec<Bits> {
    let words = key.size() / 4;
    let few = |key: Bits| (0..words).fold(0, |few, word| few | (key >> (32 * word) & 0x8000_0003 | 4) << (32 * word));
    keys.into_iter().map(few).collect()
}

/// A merger by a comparator in one setup.
struct Case {
    context: Context,
    merger: Merger,
    name: &'static str,
}

impl Case {
    fn new(setup: Setup, name: &'static str, info: &MergerInfo) -> Self {
        let context = context(setup);
        let (info, kernel) = (info.batches(), kernel(name, info.key));
        println!("{} {name} {info:?}", context.name());
        // SAFETY: the compiler has created the modules from valid functions.
        let merger = unsafe { Merger::with_comparator(context.device(), &info, &kernel) };
        Self { context, merger: merger.expect("a kernel for such keys"), name }
    }

    fn draw(&self, [a, b]: [usize; 2], seed: u64) -> Job<'_> {
        let draw = |n, seed| match self.name {
            "absolute" => small_floats(n, seed),
            "last_word" => {
                let key = self.merger.info().key;
                few_words(Keys::Random.draw(key, n, seed), key)
            }
            _ => Keys::Random.draw(self.merger.info().key, n, seed),
        };
        Job::new(&self.merger, [draw(a, seed), draw(b, seed + 1)]).compared(comparator(self.name))
    }

    fn check(&self, jobs: &[Job<'_>], seed: u64) {
        for together in [Together::Singles, Together::Batch] {
            run_and_check(&self.context, jobs, together, Poison::Random(seed));
        }
        assert_silence(&self.context);
    }
}

fn keyed(key: KeyType) -> MergerInfo {
    MergerInfo { key, ..MergerInfo::keys() }
}

/// Every comparator, layouts, values of any size, counts on the device; alone and in batches. Values show from which
/// sequence equal keys come, and in which order.
#[test]
fn merges_by_comparators() {
    let cases = [
        ("descending", MergerInfo::keys()),
        ("absolute", MergerInfo { value: ValueType::U32, ..keyed(KeyType::F32) }),
        ("ranked", MergerInfo { value: ValueType::Bytes(8), layout: Layout::Interleaved, ..MergerInfo::keys() }),
        ("masked", MergerInfo { value: ValueType::Index, ..MergerInfo::keys() }),
        ("last_word", MergerInfo { value: ValueType::Bytes(20), ..keyed(KeyType::I64) }),
        ("last_word", MergerInfo { value: ValueType::Index, drop_keys: true, ..keyed(KeyType::U32x3) }),
        ("last_word", keyed(KeyType::U32x3)),
    ];
    let one_of = if very_brief() { 4 } else { 2 };
    for (i, (name, info)) in cases.into_iter().enumerate().filter(|(i, _)| full() || !brief() || i % one_of == 0) {
        let case = Case::new([Setup::Folded, Setup::Native][i % 2], name, &info);
        // One tile, and more than one dispatch takes by default.
        let jobs = [
            case.draw([300, 20], 1),
            case.draw([7001, 9000], 3),
            case.draw([5000, 4000], 5).counted([Counted::Device(4001), Counted::Device(9999)]),
            case.draw([1000, 0], 7),
            case.draw([0, 0], 9).counted([Counted::Device(3), Counted::Host]),
        ];
        case.check(&jobs, i as u64);
    }
}

#[test]
fn segments_by_comparators() {
    let cases = [(Setup::Folded, "masked"), (Setup::Native, "ranked")];
    for (setup, name) in cases.into_iter().take(if brief() { 1 } else { 2 }) {
        let case = Case::new(setup, name, &MergerInfo::pairs().segmented());
        let cut = |n: u32| vec![0, 0, 7, n / 9, n / 2, n / 2 + 1, n];
        let jobs = [
            case.draw([4000, 3000], 1).cut([cut(4000), cut(3000)], Counted::Host),
            case.draw([900, 5000], 3).cut([cut(900), cut(5000)], Counted::Device(4)),
        ];
        case.check(&jobs, 3);
    }
}

/// Mergers that differ only in their comparators, and two that are equal, also beside one without.
#[test]
fn several_comparators_in_a_batch() {
    let cases = ["descending", "ranked", "masked", "descending"]
        .map(|name| Case::new(Setup::Folded, name, &MergerInfo::pairs()));
    let plain = Merger::new(cases[0].context.device(), &MergerInfo::pairs().batches()).expect("a merger");
    let mut jobs: Vec<_> = cases.iter().map(|case| case.draw([2000, 1500], 4)).collect();
    jobs.push(Job::draw(&plain, Keys::Random, [2000, 1500], 4));
    cases[0].check(&jobs, 6);
}

/// A comparator without an order, and sequences that are not sorted by theirs: nothing but the outputs is written, and
/// every merge ends.
#[test]
fn comparators_without_an_order() {
    for name in ["disorder", "ranked"].into_iter().take(if very_brief() { 1 } else { 2 }) {
        for info in [MergerInfo::pairs(), MergerInfo::keys().segmented()] {
            let case = Case::new(Setup::Folded, name, &info);
            let job = |n: usize, seed| {
                let draw = |seed| Keys::Random.draw(KeyType::U32, n, seed);
                let job = Job { status: true, ..case.draw([n, n], seed) };
                let all = n as u32;
                let cut = || vec![0, all / 3, all / 2, all];
                let job = if info.segmented { job.cut([cut(), cut()], Counted::Host) } else { job };
                job.unsorted([draw(seed), draw(seed + 9)])
            };
            case.check(&[job(200, 1), job(9000, 2)], 4);
        }
    }
}

#[test]
fn refusals() {
    let context = context(Setup::Native);
    let kernel = kernel("descending", KeyType::U32);
    // SAFETY: every creation is refused before the kernel is used.
    let made = |info: &MergerInfo| unsafe { Merger::with_comparator(context.device(), info, &kernel) };
    let refused = |info: &MergerInfo| made(info).map(drop).map_err(|error| error.to_string());
    let keys = MergerInfo::keys();
    assert_eq!(
        refused(&keyed(KeyType::I32)),
        Err("keyType is malformed: I32 is not the key type of the kernel".into())
    );
    assert_eq!(
        refused(&keyed(KeyType::U16)),
        Err("keyType is malformed: keys narrower than a word are not merged".into())
    );
    assert_eq!(
        refused(&keys.operation(MergeOperation::Update)),
        Err("operation is malformed: comparators are of merges alone".into())
    );
    assert_eq!(
        refused(&keys.method(MergeMethod::Tiled)),
        Err("method is malformed: merges with a comparator are by merge path".into())
    );
    assert_eq!(
        refused(&MergerInfo { order: Order::Descending, ..keys }),
        Err("order is malformed: the comparator is the order".into())
    );

    // Kernels with other functions.
    let bucket = words_of(include_bytes!("kernels/spread_u32.spv"));
    assert_eq!(
        ComparatorKernel::from_spirv(&bucket).map(drop).map_err(|error| error.to_string()),
        Err("code is malformed: it is a kernel with another function than the trm_less of merges".into())
    );
    assert_eq!(
        BucketKernel::from_spirv(kernel.spirv()).map(drop).map_err(|error| error.to_string()),
        Err("code is malformed: it is a kernel with another function than the trm_bucket of splits".into())
    );

    // Input for a comparator that does not exist.
    let plain = Merger::new(context.device(), &keys).expect("a merger");
    let info = MergeInfo { count_a: Count::host(0), ..MergeInfo::default() };
    context
        .run(|commands| {
            let refused = |info: &MergeInfo| {
                // SAFETY: every recording is refused.
                unsafe { plain.cmd_merge(commands, info) }.map_err(|error| error.to_string())
            };
            assert_eq!(
                refused(&MergeInfo { user_address: 64, ..info }),
                Err("userAddress is malformed: the merger has no comparator".into())
            );
            assert_eq!(
                refused(&MergeInfo { user_words: [0, 0, 0, 1], ..info }),
                Err("userWords is malformed: the merger has no comparator".into())
            );
            Ok(())
        })
        .expect("nothing was recorded");
}

#[cfg(feature = "runtime-shaders")]
mod compiled_here {
    use super::*;
    use trommel::SortComparatorKernel;

    fn source(name: &str) -> String {
        let file = format!("{}/tests/kernels/{name}.glsl", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(file).expect("a comparator")
    }

    /// With `TROMMEL_UPDATE_KERNELS` set, writes the modules instead.
    #[test]
    fn committed_kernels_are_those_of_the_source() {
        let of_merges = COMPILED.into_iter().map(|(name, key, bytes)| {
            let kernel = ComparatorKernel::from_glsl(key, &source(name)).expect("a valid comparator");
            ("", name, key, bytes, kernel.spirv().to_vec())
        });
        let of_sorts = sorts::COMPILED.into_iter().map(|(name, key, bytes)| {
            let kernel = SortComparatorKernel::from_glsl(key, &source(name)).expect("a valid comparator");
            ("sort_", name, key, bytes, kernel.spirv().to_vec())
        });
        for (prefix, name, key, bytes, code) in of_merges.chain(of_sorts) {
            let found: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
            if std::env::var_os("TROMMEL_UPDATE_KERNELS").is_some() {
                let key = format!("{key:?}").to_lowercase();
                let file = format!("{}/tests/kernels/{prefix}{name}_{key}.spv", env!("CARGO_MANIFEST_DIR"));
                std::fs::write(file, found).expect("a file that can be written");
            } else {
                assert!(found == bytes, "{name}, {key:?}: set TROMMEL_UPDATE_KERNELS and run this test again");
            }
        }
    }

    #[test]
    fn the_tool_compiles_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("kernel.spv");
        let tool = |key: &str, arguments: &[&str]| {
            let run = std::process::Command::new(env!("CARGO_BIN_EXE_trommel-kernel"))
                .arg(format!("{}/tests/kernels/last_word.glsl", env!("CARGO_MANIFEST_DIR")))
                .arg("-o")
                .arg(&output)
                .args(["--key", key])
                .args(arguments)
                .output()
                .expect("the tool runs");
            (run.status.success(), String::from_utf8_lossy(&run.stderr).into_owned())
        };
        let written = || words_of(&std::fs::read(&output).expect("a kernel"));
        assert_eq!(tool("i64", &["--function", "trm_less"]), (true, String::new()));
        let compiled = ComparatorKernel::from_spirv(&written()).expect("a comparator");
        assert!(compiled.spirv() == kernel("last_word", KeyType::I64).spirv());
        assert_eq!(tool("u32x3", &["--function", "trm_less", "--for", "sorter"]), (true, String::new()));
        let compiled = SortComparatorKernel::from_spirv(&written()).expect("a comparator of sorts");
        assert!(sorts::COMPILED.iter().any(|(.., bytes)| compiled.spirv() == words_of(bytes)));
        for (arguments, why) in [
            (&["--function", "trm_more"][..], "trm_more is no function that users define"),
            (&["--function", "trm_less", "--for", "splitter"], "trm_less is no function for a splitter"),
            (&["--function", "trm_bucket"], "trm_bucket"),
        ] {
            let (success, text) = tool("i64", arguments);
            assert!(!success && text.contains(why), "{text}");
        }
    }

    #[test]
    fn every_type_of_key_has_comparators() {
        let same = "bool trm_less(KEY a, KEY b, TrmUserData data) { return a != b; }";
        for key in KeyType::ALL {
            let compiled = ComparatorKernel::from_glsl(key, same).map(drop).map_err(|error| error.to_string());
            let narrow = format!("keyType is malformed: {key:?} are narrower than a word");
            assert_eq!(compiled, if key.bits() < 32 { Err(narrow) } else { Ok(()) });
        }
    }

    #[test]
    fn errors_name_the_comparators_own_lines() {
        let refused = |source: &str| ComparatorKernel::from_glsl(KeyType::U32, source).unwrap_err().to_string();
        let unknown = refused("// One.\nbool trm_less(KEY a, KEY b, TrmUserData data) { return a < color; }\n");
        assert!(unknown.contains("trm_less.glsl:2: error: 'color'"), "{unknown}");
        let none = refused("bool less(KEY a, KEY b) { return a < b; }\n");
        assert!(none.contains("'trm_less' : no matching overloaded function found"), "{none}");
        let file = refused("#include \"merge/path.glsl\"\n");
        assert!(file.contains("merge/path.glsl: a function includes no files"), "{file}");
    }
}
