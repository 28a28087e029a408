//! Coverage of kernels and of their specialized branches by a test binary, compared with a table of the branches that
//! the binary must run.
//!
//! A branch is a kernel, a specialization constant that it declares, and a class of that constant's values. A table is
//! a text file. A line has a kernel, a constant and its classes. `class@4+16` must run with subgroups of 4 or 16 lanes,
//! a class without `@` with all subgroup sizes. With `TROMMEL_UPDATE_COVERAGE` set, a whole run replaces the entries of
//! the table for its own subgroup size.

use super::contexts::{Setup, context};
use ash::vk::Handle as _;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};
use trommel::host::Context;
use trommel::kernels::{Kernel, Variant};
use trommel::shared::{self, Constant};

/// Subgroup sizes of the drivers that share the tests.
const LANES: [u32; 3] = [4, 8, 16];

/// Names of a kernel, a constant and a class.
type Branch = (String, String, String);
/// Branches, with the subgroup sizes that run each.
type Table = BTreeMap<Branch, BTreeSet<u32>>;

/// Recorded variants, each with its device.
static RECORDED: LazyLock<Mutex<HashSet<(u64, Variant)>>> = LazyLock::new(Mutex::default);

/// Collects the variants that have been recorded so far. Pipelines are created on first use, so each existing one has
/// been recorded.
pub(crate) fn collect(context: &Context) {
    let mut recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    let device = context.vk().handle().as_raw();
    recorded.extend(context.device().pipelines().into_iter().map(|(variant, _)| (device, variant)));
}

/// Names of the set bits; `none` if no bit is set.
fn bits(value: u32, none: &str, names: &[(u32, &str)]) -> Vec<String> {
    let set: Vec<String> =
        names.iter().filter(|(bit, _)| value & bit != 0).map(|(_, name)| (*name).to_owned()).collect();
    if set.is_empty() { vec![none.to_owned()] } else { set }
}

/// Names and values of the kernels' constants with a prefix, without the prefix.
fn constants(prefix: &str) -> impl Iterator<Item = (String, u32)> {
    let all = shared::CONSTANTS.iter().copied().flatten();
    all.filter_map(move |(name, value)| Some((name.strip_prefix(prefix)?.to_lowercase(), *value)))
}

/// The name of the constant with this prefix and value.
fn one_of(value: u32, prefix: &str) -> Vec<String> {
    let name = constants(prefix).find(|(_, known)| *known == value).map(|(name, _)| name);
    vec![name.unwrap_or_else(|| value.to_string())]
}

/// Names of the constants with this prefix that a value has: the low byte, and the flags above it. If there are flags
/// and none is set, `no_flags`.
fn named(value: u32, prefix: &str) -> Vec<String> {
    let flags: Vec<_> = constants(prefix).filter(|(_, bit)| bit.is_power_of_two() && *bit > 0xff).collect();
    let flags: Vec<_> = flags.iter().map(|(name, bit)| (*bit, name.as_str())).collect();
    let flags = if flags.is_empty() { Vec::new() } else { bits(value, "no_flags", &flags) };
    [one_of(value & 0xff, prefix), flags].concat()
}

/// Classes of a constant's value; empty if kernels do not branch by the constant.
fn classes(constant: Constant, value: u32) -> Vec<String> {
    use shared::*;
    let below = |limits: &[u32]| {
        let class =
            limits.iter().find(|limit| value <= **limit).map_or("more".to_owned(), |limit| format!("<={limit}"));
        vec![class]
    };
    match constant {
        Constant::Mode => {
            let mut classes = bits(value, "several", &[(MODE_SINGLE, "single"), (MODE_SEGMENTS, "segments")]);
            classes.extend(bits(value, "plain", &[(MODE_PREFIXES, "prefixes"), (MODE_MERGED, "merged")]));
            classes.extend(bits(value, "prepared", &[(MODE_DIRECT, "direct")]));
            classes
        }
        Constant::Ranking => {
            let flags = [
                (RANKING_BY_SOURCE_INDEX, "by_source_index"),
                (RANKING_SWIZZLED, "swizzled"),
                (RANKING_UNORDERED, "unordered"),
            ];
            [one_of(value & 3, "RANKING_"), bits(value, "ordered_by_keys", &flags)].concat()
        }
        Constant::Encoding => bits(
            value,
            "unsigned",
            &[
                (ENCODING_SIGNED, "signed"),
                (ENCODING_FLOAT, "float"),
                (ENCODING_DESCENDING, "descending"),
                (ENCODING_BIG_END_FIRST, "big_end_first"),
            ],
        ),
        Constant::Layout => bits(
            value,
            "separate",
            &[
                (LAYOUT_INTERLEAVED, "interleaved"),
                (LAYOUT_INDICES, "indices"),
                (LAYOUT_DROP_KEYS, "drop_keys"),
                (LAYOUT_STRIDED, "strided"),
                (LAYOUT_KEYS_IN_SCRATCH, "keys_apart"),
                (LAYOUT_VALUES_IN_SCRATCH, "values_apart"),
                (LAYOUT_LABELS, "labels"),
            ],
        ),
        Constant::Lanes => vec![value.to_string()],
        Constant::KeyWords | Constant::ValueWords | Constant::Wide | Constant::FullDigits => vec![value.to_string()],
        Constant::KeyBits => below(&[8, 16, 32]),
        Constant::Bins => below(&[32, 255, 256]),
        Constant::Buckets => below(&[1, 255, 256]),
        Constant::BeginBit => below(&[0, 31]),
        Constant::Histograms | Constant::Window | Constant::Items => below(&[1]),
        Constant::DelayEvery => below(&[0]),
        _ => constant.prefix().map_or_else(Vec::new, |prefix| named(value, prefix)),
    }
}

/// Branches of all recorded variants. Hardware subgroups count with the driver's subgroup size.
fn branches() -> BTreeSet<Branch> {
    let recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |(_, variant): &(u64, Variant)| {
        let kernel = variant.kernel.name();
        let emulated = kernel.ends_with("_emulated");
        let constants: Vec<_> =
            variant.constants().filter(|(constant, _)| emulated || *constant != Constant::Lanes).collect();
        let named = constants
            .into_iter()
            .flat_map(|(constant, value)| classes(constant, value).into_iter().map(move |class| (constant, class)));
        let named = named.map(|(constant, class)| (kernel.to_owned(), format!("{constant:?}"), class));
        let named: Vec<Branch> = named.collect();
        // A kernel without branches has run, with any number of threads.
        if named.is_empty() { vec![(kernel.to_owned(), "Threads".to_owned(), "any".to_owned())] } else { named }
    };
    recorded.iter().flat_map(of).collect()
}

fn parse(text: &str) -> Table {
    let mut table = Table::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let [kernel, constant] = [words.next(), words.next()].map(|word| word.unwrap_or_default().to_owned());
        for word in words {
            let (class, lanes) = word.split_once('@').map_or((word, LANES.into()), |(class, lanes)| {
                (class, lanes.split('+').map(|lanes| lanes.parse().expect("lanes are numbers")).collect())
            });
            table.insert((kernel.clone(), constant.clone(), class.to_owned()), lanes);
        }
    }
    table
}

fn print(table: &Table) -> String {
    let mut lines: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for ((kernel, constant, class), lanes) in table {
        let line = lines.entry((kernel, constant)).or_default();
        *line += &format!(" {class}");
        if lanes.len() < LANES.len() {
            *line += &format!("@{}", lanes.iter().map(u32::to_string).collect::<Vec<_>>().join("+"));
        }
    }
    let head = "# What the tests of this binary are there for: see tests/common/coverage.rs.\n";
    lines
        .into_iter()
        .fold(head.to_owned(), |text, ((kernel, constant), line)| text + &format!("{kernel} {constant}{line}\n"))
}

fn listed<'a>(branches: impl Iterator<Item = &'a Branch>) -> String {
    let mut lines: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    branches.for_each(|(kernel, constant, class)| lines.entry((kernel, constant)).or_default().push(class));
    let lines = lines
        .into_iter()
        .map(|((kernel, constant), classes)| format!("  {kernel} {constant}: {}\n", classes.join(" ")));
    lines.collect()
}

/// Replaces the entries of the table for these subgroup sizes by the branches that have run.
fn update(path: &str, ran: BTreeSet<Branch>, lanes: u32) -> std::io::Result<()> {
    let mut table = parse(&std::fs::read_to_string(path)?);
    table.values_mut().for_each(|of| of.retain(|known| *known != lanes));
    for branch in ran {
        table.entry(branch).or_default().insert(lanes);
    }
    table.retain(|_, of| !of.is_empty());
    std::fs::write(path, print(&table))
}

/// Checks that every branch that the binary's table lists for this subgroup size has run. Prints the branches that only
/// other subgroup sizes run.
///
/// # Errors
/// The branches that have not run, as text.
pub(crate) fn prove(binary: &str, text: &str) -> Result<(), String> {
    let facts = context(Setup::Native).device().facts().clone();
    // If pipelines are created early, or tests are omitted, coverage cannot be compared with the table.
    if !facts.is_cpu || super::full() || super::brief() {
        return Ok(());
    }
    let (lanes, ran, table) = (facts.max_lanes, branches(), parse(text));
    let kernels = ran.iter().map(|(kernel, ..)| kernel).collect::<BTreeSet<_>>().len();
    println!(
        "{} pipelines, {} branches of {kernels} kernels",
        RECORDED.lock().unwrap_or_else(PoisonError::into_inner).len(),
        ran.len()
    );
    if std::env::var_os("TROMMEL_UPDATE_COVERAGE").is_some() {
        let path = format!("{}/tests/{binary}/coverage.txt", env!("CARGO_MANIFEST_DIR"));
        return update(&path, ran, lanes).map_err(|error| format!("{path}: {error}"));
    }
    if table.is_empty() {
        return Err(format!("tests/{binary}/coverage.txt lists nothing"));
    }
    let wanted = |lanes: u32| table.iter().filter(move |(_, of)| of.contains(&lanes)).map(|(branch, _)| branch);
    let elsewhere = listed(table.keys().filter(|branch| !ran.contains(*branch)));
    if !elsewhere.is_empty() {
        println!("run only with other subgroup sizes:\n{elsewhere}");
    }
    let missing = listed(wanted(lanes).filter(|branch| !ran.contains(*branch)));
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("tests/{binary}/coverage.txt lists what has not run\n{missing}"))
    }
}

macro_rules! tables {
    ($(
        $feature:literal: $module:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        /// The table of the test binary of each primitive.
        const TABLES: &[&str] = &[$(include_str!(concat!("../", $feature, "/coverage.txt"))),*];
    };
}
trommel::primitives!(tables);

/// Checks that every kernel, and every class of the constants with most branches, is in one of the tables.
pub(crate) fn tables_leave_nothing_out() {
    let known: BTreeSet<Branch> = TABLES.iter().flat_map(|table| parse(table).into_keys()).collect();
    for kernel in Kernel::ALL {
        assert!(known.iter().any(|(of, ..)| of == kernel.name()), "no test binary runs {}", kernel.name());
    }
    // Other test binaries cover user-defined functions.
    let functions: Vec<String> = constants("FUNCTION_").map(|(name, _)| name).filter(|name| name != "user").collect();
    for (constant, wanted) in [
        ("Mode", "single several segments direct prepared prefixes merged"),
        ("Ranking", "ballots verified wrong by_source_index swizzled unordered"),
        ("Encoding", "unsigned signed float descending big_end_first"),
        ("Layout", "separate interleaved indices drop_keys strided keys_apart values_apart labels"),
        ("Scan", "look_back chained ring ring_in_order"),
        ("Function", &*functions.join(" ")),
        ("Output", "buckets one placed ranks"),
        ("KeyWords", "1 2 3 4"),
        ("ValueWords", "0 1 2 3 4"),
        ("KeyBits", "<=8 <=16 <=32"),
        ("Wide", "0 1"),
        ("FullDigits", "0 1"),
        ("Lanes", "32 64 128"),
    ] {
        for class in wanted.split(' ') {
            assert!(
                known.iter().any(|(_, of, known)| (of.as_str(), known.as_str()) == (constant, class)),
                "{constant} {class}"
            );
        }
    }
}
