//! What host and shaders must agree on, said once: the structs and constants here are Rust and, through [`glsl`], the text of
//! `glsl/lib/shared.glsl`. A test compares both with every compiled module by reflection.

use bytemuck::{Pod, Zeroable};
use std::fmt::Write as _;

/// A device address as shaders see it: two words, so that 4-byte alignment does and no module needs 64-bit integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Address([u32; 2]);

impl From<u64> for Address {
    fn from(address: u64) -> Self {
        Self(bytemuck::cast(address.to_le_bytes()))
    }
}

/// A field type of a shared struct: its GLSL name.
pub trait GlslType {
    /// The type as a shader writes it.
    const GLSL: &'static str;
}

impl GlslType for u32 {
    const GLSL: &'static str = "uint";
}

impl GlslType for Address {
    const GLSL: &'static str = "uvec2";
}

/// A struct that lies in device memory or push constants, with scalar layout.
pub trait SharedStruct: Pod {
    /// Its name, in Rust and GLSL.
    const NAME: &'static str;
    /// GLSL type, name and byte offset of each field.
    const FIELDS: &'static [(&'static str, &'static str, usize)];
}

macro_rules! shared_structs {
    ($($(#[$struct_doc:meta])* struct $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$struct_doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
            pub struct $name { $($(#[$doc])* pub $field: $type,)* }

            impl GlslType for $name {
                const GLSL: &'static str = stringify!($name);
            }

            impl SharedStruct for $name {
                const NAME: &'static str = stringify!($name);
                const FIELDS: &'static [(&'static str, &'static str, usize)] = &[
                    $((<$type as GlslType>::GLSL, stringify!($field), std::mem::offset_of!($name, $field)),)*
                ];
            }
        )*

        /// Every shared struct, in an order in which GLSL can declare them.
        pub const STRUCTS: &[(&str, &[(&str, &str, usize)])] = &[$((<$name as SharedStruct>::NAME, <$name as SharedStruct>::FIELDS),)*];
    };
}

macro_rules! shared_constants {
    ($($(#[$doc:meta])* const $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*

        /// Every shared constant.
        pub const CONSTANTS: &[(&str, u32)] = &[$((stringify!($name), $name),)*];
    };
}

macro_rules! specialisation_constants {
    ($($(#[$doc:meta])* $variant:ident = $id:literal as $glsl:literal,)*) => {
        /// A specialisation constant; the number is its `constant_id`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum Constant { $($(#[$doc])* $variant = $id,)* }

        /// GLSL name and id of each specialisation constant.
        pub const SPECIALISATION: &[(&str, u32)] = &[$(($glsl, $id),)*];
    };
}

specialisation_constants! {
    /// Invocations a workgroup.
    Threads = 0 as "SPEC_THREADS",
    /// Lanes a subgroup; 0 where the device chooses at dispatch.
    Lanes = 1 as "SPEC_LANES",
    /// Keys a thread.
    Items = 2 as "SPEC_ITEMS",
    /// Rows of digit counters a workgroup: one a subgroup, or 1.
    Histograms = 3 as "SPEC_HISTOGRAMS",
    /// 32-bit words a value; 0 for keys alone.
    ValueWords = 4 as "SPEC_VALUE_WORDS",
    /// Keys a tile, for kernels that count tiles without holding one.
    Tile = 5 as "SPEC_TILE",
    /// Turns that a look-back waits.
    SpinLimit = 6 as "SPEC_SPIN_LIMIT",
    /// Tests only: every so many tiles, one is late. 0 in use.
    DelayEvery = 7 as "SPEC_DELAY_EVERY",
}

shared_constants! {
    /// Bits of a digit.
    const RADIX_BITS = 8;
    /// Values of a digit.
    const RADIX = 1 << RADIX_BITS;
    /// Digits of a 32-bit key.
    const PASSES = 32 / RADIX_BITS;
    /// Status bit: the count on the device was above the maximum; the maximum was used.
    const STATUS_COUNT_CLAMPED = 1;
    /// Index of the indirect command with one group a tile.
    const ARGUMENTS_TILES = 0;
    /// Index of the indirect command with one group a chunk of tiles.
    const ARGUMENTS_CHUNKS = 1;
}

shared_structs! {
    /// One sort, as kernels see it. Addresses may be null where a strategy does not use them.
    struct SortProblem {
        /// Keys, sorted in place.
        keys: Address,
        /// As many keys of scratch.
        alternate_keys: Address,
        /// Values, moved with the keys.
        values: Address,
        /// As many values of scratch.
        alternate_values: Address,
        /// Look-back: `[PASSES][RADIX]` counts of all digits. Reduce-then-scan: `[RADIX]` counts of this pass's digit.
        histogram: Address,
        /// Look-back: `[tiles][RADIX]` look-back words. Reduce-then-scan: `[RADIX][tiles]` counts.
        tile_words: Address,
        /// Where the count lies; null: it is `max_count`.
        count: Address,
        /// Where the status goes; may be null.
        status: Address,
        /// The count, or what it is clamped to.
        max_count: u32,
    }

    /// What `prepare` resolves for a problem; one past the last holds the number of tiles in all.
    struct SortState {
        /// Keys.
        count: u32,
        /// Tiles of the problems before this one.
        first_tile: u32,
    }

    /// Push constants of every sort kernel.
    struct SortPush {
        /// The problem, where it is the only one.
        problem: SortProblem,
        /// `SortProblem[problem_count]`, where there are several.
        problems: Address,
        /// `SortState[problem_count + 1]`.
        states: Address,
        /// Indirect commands that `prepare` writes; null: dispatches are fixed.
        arguments: Address,
        /// `[PASSES]` tickets of the look-back; null otherwise.
        tickets: Address,
        /// Problems in the dispatch.
        problem_count: u32,
        /// Position of the pass's digit in the key, in bits.
        shift: u32,
        /// Which pass: its parity tells the direction.
        pass_index: u32,
        /// Tiles that one group of the histogram reads.
        chunk: u32,
        /// Groups that one dispatch takes in x.
        max_groups_x: u32,
    }
}

/// The text of `glsl/lib/shared.glsl`.
pub fn glsl() -> String {
    let mut text = String::from("// Generated from src/shared.rs by `cargo xtask shaders`. Do not edit.\n\n");
    let mut line = |args: std::fmt::Arguments| {
        // Writing to a String cannot fail.
        let _ = text.write_fmt(args);
        text.push('\n');
    };
    for (name, id) in SPECIALISATION {
        line(format_args!("#define {name} {id}"));
    }
    line(format_args!(""));
    for (name, value) in CONSTANTS {
        line(format_args!("const uint {name} = {value};"));
    }
    for (name, fields) in STRUCTS {
        line(format_args!("\nstruct {name} {{"));
        for (glsl, field, _) in *fields {
            line(format_args!("    {glsl} {field};"));
        }
        line(format_args!("}};"));
    }
    text
}
