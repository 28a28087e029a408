//! Structs and constants shared by host and shaders, declared once: in Rust and, through [`glsl`], in
//! `glsl/core/shared.glsl`. A test compares both with every compiled module by reflection. Each folder declares those
//! of its kernels, and their specialization constants, in its `interface.rs`.
//!
//! Builds with other features have the same structs and constants. `cargo xtask shaders` uses the library without any
//! feature: see [`crate::kernels`].

// Paths, because the modules of the folders depend on features.
#[path = "core/interface.rs"]
mod interface;
#[path = "radix/interface.rs"]
pub(crate) mod radix;

use interface::specialization_constants;
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
// that a strategy does not use may be null. These members mean the same in all rows of digit passes, sorts and splits:
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
// 256 bytes. These members mean the same in all push constants of digit passes, sorts and splits:
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

// Ids are distinct in all folders: a new constant takes the next one.
macro_rules! specialization_constants_of_all {
    ($(
        $feature:literal: $module:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        radix::folder_specialization! { $([$module::folder_specialization])* [specialization_constants] }
    };
}
primitives!(specialization_constants_of_all);

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
