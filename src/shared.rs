//! Structs and constants shared by host and shaders, declared once: in Rust and, through [`glsl`], in
//! `glsl/core/shared.glsl`. A test compares both with every compiled module by reflection. Each folder declares those
//! of its kernels, in its `interface.rs`.
//!
//! Builds with other features have the same structs and constants. `cargo xtask shaders` uses the library without any
//! feature: see [`crate::kernels`].

// Paths, because the modules of the folders depend on features.
#[path = "core/interface.rs"]
mod interface;
#[path = "radix/interface.rs"]
pub(crate) mod radix;

pub use interface::{Address, GlslType, SharedStruct, StructLayout, UserFunction};
pub use radix::*;

macro_rules! interfaces {
    ($(
        $feature:literal: $module:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        $(
            #[path = $interface]
            pub(crate) mod $module;
            pub use $module::*;
        )*

        /// The shared structs of each folder, in an order in which GLSL can declare them.
        pub const STRUCTS: &[&[StructLayout]] = &[radix::STRUCTS, $($module::STRUCTS),*];

        /// The shared constants of each folder.
        pub const CONSTANTS: &[&[(&str, u32)]] = &[radix::CONSTANTS, $($module::CONSTANTS),*];

        /// The user-defined functions of each folder.
        pub const USER_FUNCTIONS: &[&[UserFunction]] = &[$($module::USER_FUNCTIONS),*];
    };
}
primitives!(interfaces);

// Members of rows of problems. A kernel reads one row from its push constants, or a table of rows in scratch. Addresses
// that a strategy does not use may be null. Members of the same name mean the same in every struct:
//
// count         address of the count; null: the count is `max_count`
// max_count     the count, or its maximum
// status        address of the status word; may be null
// range         the ranges of keys that are bins
// histogram     part of scratch: `[rows][digits][BINS]` counts; a word with a bit for each skipped digit;
//               `[PREFIX_BINS]` counts of key prefixes. Splits that skip the counting of keys have a row of counts and
//               a row of bucket starts: see glsl/split/clear_look_back.comp.
// tile_words    part of scratch: for each tile, `[LOOK_BACK_ROW]` descriptors, or `[BINS]` sums of the preceding tiles
//               of the same chunk; for each window of a merge, `[FAN]` counts
//
// Push constants are those of one kernel, or of a few kernels. Parts of scratch are offsets from `scratch` in units of
// 256 bytes. Members of the same name mean the same here, too:
//
// problem        the row, if there is only one; with segments, the problem that contains all of them
// scratch        address of scratch
// problems       part of scratch: the table of rows, if there are several
// problem_count  number of problems in the dispatch; with segments, their maximum: one for each window
// states         part of scratch: a word, the number of problems; then `ProblemState[problem_count + 1]`. A prepare
//                pass writes them.
// windows        part of scratch: `Segment[problem_count + 1]`: for each window, the longer segment that begins in it,
//                if any; then the items of all segments
// commands       part of scratch: indirect commands, for counts on the device
// tickets        part of scratch: tickets of the look-back, one for each pass; as many tails of the ring;
//                `[passes][RING_GROUPS]` counters
// segments       the caller's segments
// chunk          number of consecutive tiles that one workgroup counts or clears
// groups         number of workgroups of each problem
// tile_items     items of a tile, for kernels that do not have them as a constant of their pipeline
// pass           the pass
// digit          the digit of the pass: its first bit in its word in the low byte, then the word, then the number of
//                bits

macro_rules! specialization_constants {
    ($($(#[$doc:meta])* $variant:ident = $id:literal as $glsl:literal,)*) => {
        /// A specialization constant; the number is its `constant_id`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum Constant { $($(#[$doc])* $variant = $id,)* }

        /// GLSL name and id of each specialization constant.
        pub const SPECIALIZATION: &[(&str, u32)] = &[$(($glsl, $id),)*];
    };
}

specialization_constants! {
    /// Invocations of a workgroup.
    Threads = 0 as "SPEC_THREADS",
    /// Lanes of a subgroup; 0 if the device chooses at dispatch.
    Lanes = 1 as "SPEC_LANES",
    /// Keys of a thread; in `rank`, items of a workgroup.
    Items = 2 as "SPEC_ITEMS",
    /// Rows of digit counters in a workgroup: one for each subgroup, or fewer, shared by neighboring subgroups. In the
    /// histogram: copies of each counter.
    Histograms = 3 as "SPEC_HISTOGRAMS",
    /// 32-bit words of a value, as passes move it; 0 without values.
    ValueWords = 4 as "SPEC_VALUE_WORDS",
    /// Keys of a tile, for kernels that read the keys of a tile without holding them; in `rank`, keys in shared memory
    /// at a time.
    Tile = 5 as "SPEC_TILE",
    /// Iterations that a look-back waits.
    SpinLimit = 6 as "SPEC_SPIN_LIMIT",
    /// Tests only: one tile in this many is late. Otherwise 0.
    DelayEvery = 7 as "SPEC_DELAY_EVERY",
    /// 32-bit words of a key, as passes move it.
    KeyWords = 8 as "SPEC_KEY_WORDS",
    /// Bits of a key's most significant word: 32, or 8 or 16 for keys narrower than a word.
    KeyBits = 9 as "SPEC_KEY_BITS",
    /// `ENCODING_` bits: the order of the keys.
    Encoding = 10 as "SPEC_ENCODING",
    /// `LAYOUT_` bits: the layout of the caller's arrays.
    Layout = 11 as "SPEC_LAYOUT",
    /// 1 if indices may exceed 2^30, so that addresses need 64 bits.
    Wide = 12 as "SPEC_WIDE",
    /// First bit to sort by.
    BeginBit = 13 as "SPEC_BEGIN_BIT",
    /// One past the last bit to sort by.
    EndBit = 14 as "SPEC_END_BIT",
    /// A `SCAN_` constant: the algorithm by which tiles find their exclusive prefixes.
    Scan = 15 as "SPEC_SCAN",
    /// Entries of the ring: a power of two.
    RingEntries = 16 as "SPEC_RING_ENTRIES",
    /// Largest distance of a look-back in the ring, in tiles.
    RingReach = 17 as "SPEC_RING_REACH",
    /// Tiles that a look-back reads at a time.
    Window = 19 as "SPEC_WINDOW",
    /// 1 if every digit has all 8 bits.
    FullDigits = 20 as "SPEC_FULL_DIGITS",
    /// `MODE_` bits: the number and origin of problems.
    Mode = 21 as "SPEC_MODE",
    /// Items that one workgroup sorts in a segmented sort.
    SegmentTile = 22 as "SPEC_SEGMENT_TILE",
    /// Bins of a pass.
    Bins = 23 as "SPEC_BINS",
    /// A `FUNCTION_` constant: maps keys to bins.
    Function = 26 as "SPEC_FUNCTION",
    /// Bins that are buckets of a split.
    Buckets = 27 as "SPEC_BUCKETS",
    /// An `OUTPUT_` constant in the low byte; above it, the bucket of `OUTPUT_ONE`.
    Output = 30 as "SPEC_OUTPUT",
    /// User-defined kernels only: the interface that they were compiled for.
    Interface = 28 as "SPEC_INTERFACE",
    /// User-defined kernels only: words of a key in the low byte, then `ENCODING_` bits.
    InterfaceKey = 29 as "SPEC_INTERFACE_KEY",
    /// User-defined kernels only: the number of the function ([`UserFunction::number`]).
    InterfaceFunction = 33 as "SPEC_INTERFACE_FUNCTION",
    /// Runs that are merged into one.
    Fan = 24 as "SPEC_FAN",
    /// Distance of samples in a run that is merged, in items.
    Step = 25 as "SPEC_STEP",
    /// A `RANKING_` constant: the algorithm that ranks the keys of a tile.
    Ranking = 18 as "SPEC_RANKING",
    /// Maximum number of workgroups of a dispatch in x.
    MaxGroupsX = 31 as "SPEC_MAX_GROUPS_X",
    /// An `OPERATION_` constant in the low byte: the result of two sequences. Above it, `OPERATION_SEGMENTS`.
    Operation = 32 as "SPEC_OPERATION",
    /// A `HASH_` constant: the change of a table.
    Change = 34 as "SPEC_CHANGE",
    /// Whether other dispatches change the table at the same time.
    Concurrent = 35 as "SPEC_CONCURRENT",
    /// Whether a table may have a key several times.
    Multimap = 36 as "SPEC_MULTIMAP",
    /// Whether an export selects keys by their values.
    Selects = 37 as "SPEC_SELECTS",
    /// Whether a table has its number of slots in device memory.
    Resizable = 38 as "SPEC_RESIZABLE",
    /// Whether a stencil selects the keys of a batch.
    Stencil = 39 as "SPEC_STENCIL",
    /// Whether a kernel of tables with linear probing names keys by the numbers of their slots.
    BySlot = 40 as "SPEC_BY_SLOT",
}

/// Returns [`UserFunction::interface`] of a kernel with these files.
const fn kernel_interface(files: &[(&str, &str)]) -> u32 {
    /// Capacity for the identifiers of all files.
    const MAX_IDENTIFIERS: usize = 8192;
    interface::hash::<MAX_IDENTIFIERS>(files, STRUCTS, SPECIALIZATION, CONSTANTS)
}

/// The declarations in GLSL.
pub fn glsl() -> String {
    interface::glsl(SPECIALIZATION, CONSTANTS, STRUCTS)
}

#[cfg(test)]
mod tests {
    use super::{CONSTANTS, USER_FUNCTIONS, UserFunction};
    use std::collections::BTreeSet;
    use std::path::Path;

    /// The declarations, which are generated: not among the files of a kernel.
    const GENERATED: &str = "core/shared.glsl";

    /// Adds a file of glsl/ and the files that it includes, but for the text of the user.
    fn add_included(name: &str, function: &UserFunction, files: &mut BTreeSet<(String, String)>) {
        if name == GENERATED || name == format!("{}.glsl", function.name) {
            return;
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("glsl").join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        if !files.insert((name.to_owned(), text.clone())) {
            return;
        }
        let included = |line: &str| Some(line.trim().strip_prefix("#include \"")?.trim_end_matches('"').to_owned());
        text.lines().filter_map(included).for_each(|name| add_included(&name, function, files));
    }

    /// A file that the hash leaves out could change, and modules of users would still be accepted.
    #[test]
    fn the_interface_of_user_kernels_covers_their_sources() {
        for function in USER_FUNCTIONS.iter().copied().flatten() {
            let mut included = BTreeSet::new();
            add_included(function.files[0].0, function, &mut included);
            let listed = function.files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
            assert!(
                included.len() > 10 && included == listed.collect(),
                "{}: not the files that {} includes",
                function.name,
                function.files[0].0
            );
        }
    }

    #[test]
    fn user_kernels_do_not_see_the_whole_library() {
        for function in USER_FUNCTIONS.iter().copied().flatten() {
            let seen = |name: &str| function.files.iter().any(|(_, text)| text.contains(name));
            let hidden: Vec<_> = CONSTANTS.iter().copied().flatten().filter(|(name, _)| !seen(name)).collect();
            assert!(hidden.iter().any(|(name, _)| *name == "MOST_STEPS") && hidden.len() > 20, "{hidden:?}");
        }
    }
}
