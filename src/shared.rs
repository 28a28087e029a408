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
    /// Keys a thread; of `rank`, a workgroup.
    Items = 2 as "SPEC_ITEMS",
    /// Rows of digit counters a workgroup: one a subgroup, or fewer, which neighbouring subgroups share. Of the histogram, copies of each
    /// counter.
    Histograms = 3 as "SPEC_HISTOGRAMS",
    /// 32-bit words a value, as the passes move it; 0 for keys alone.
    ValueWords = 4 as "SPEC_VALUE_WORDS",
    /// Keys a tile, for kernels that go over the keys of one without holding them; of `rank`, keys in shared memory at a time.
    Tile = 5 as "SPEC_TILE",
    /// Turns that a look-back waits.
    SpinLimit = 6 as "SPEC_SPIN_LIMIT",
    /// Tests only: every so many tiles, one is late. 0 in use.
    DelayEvery = 7 as "SPEC_DELAY_EVERY",
    /// 32-bit words a key, as the passes move it.
    KeyWords = 8 as "SPEC_KEY_WORDS",
    /// Bits of a key's most significant word: 32, or 8 or 16 where keys are narrower than a word.
    KeyBits = 9 as "SPEC_KEY_BITS",
    /// `ENCODING_` bits: how the bits of a key order it.
    Encoding = 10 as "SPEC_ENCODING",
    /// `LAYOUT_` bits: how the caller's arrays hold the items.
    Layout = 11 as "SPEC_LAYOUT",
    /// 1 where places may lie beyond 2^30, so that addresses need 64 bits.
    Wide = 12 as "SPEC_WIDE",
    /// First bit that is sorted by.
    BeginBit = 13 as "SPEC_BEGIN_BIT",
    /// One past the last bit that is sorted by.
    EndBit = 14 as "SPEC_END_BIT",
    /// A `SCAN_` constant: how tiles learn what lies before them.
    Scan = 15 as "SPEC_SCAN",
    /// Entries of the ring, a power of two.
    RingEntries = 16 as "SPEC_RING_ENTRIES",
    /// Tiles that a look-back in the ring goes back at most.
    RingReach = 17 as "SPEC_RING_REACH",
    /// Tiles whose look-back words are read together.
    Window = 19 as "SPEC_WINDOW",
    /// 1 where every digit has all 8 bits.
    FullDigits = 20 as "SPEC_FULL_DIGITS",
    /// `MODE_` bits: what problems there are.
    Mode = 21 as "SPEC_MODE",
    /// Items that one workgroup sorts by itself where problems are segments.
    SegmentTile = 22 as "SPEC_SEGMENT_TILE",
    /// Bins that a pass takes items to.
    Bins = 23 as "SPEC_BINS",
    /// A `FUNCTION_` constant: what takes keys to bins.
    Function = 26 as "SPEC_FUNCTION",
    /// Bins that are buckets of a split.
    Buckets = 27 as "SPEC_BUCKETS",
    /// An `OUTPUT_` constant in the low byte: what becomes of the items of a split. Behind it, of one bucket alone, that.
    Output = 30 as "SPEC_OUTPUT",
    /// Of kernels of the caller alone: what they were compiled for, and the keys.
    Interface = 28 as "SPEC_INTERFACE",
    /// The words of a key in the low byte, then `ENCODING_` bits.
    InterfaceKey = 29 as "SPEC_INTERFACE_KEY",
    /// Runs that are merged into one.
    Fan = 24 as "SPEC_FAN",
    /// Of the items of a run that is merged, every so many one is a sample.
    Step = 25 as "SPEC_STEP",
    /// A `RANKING_` constant: how keys of a tile find their places.
    Ranking = 18 as "SPEC_RANKING",
    /// Workgroups that one dispatch takes in x.
    MaxGroupsX = 31 as "SPEC_MAX_GROUPS_X",
}

shared_constants! {
    /// Bits of a digit.
    const RADIX_BITS = 8;
    /// Values of a digit.
    const RADIX = 1 << RADIX_BITS;
    /// Most words of a key.
    const MAX_KEY_WORDS = 4;
    /// Most words of a value that passes move.
    const MAX_VALUE_WORDS = 4;
    /// Topmost digits of a key that are its prefix. An odd number, so that with the move that finishes there is an even one.
    const PREFIX_DIGITS = 3;
    /// Bits of a prefix's bin.
    const PREFIX_BIN_BITS = 12;
    /// Bins that prefixes are counted in.
    const PREFIX_BINS = 1 << PREFIX_BIN_BITS;
    /// Items beside a tile of keys with the same prefix that are at hand.
    const FINISH_MARGIN = 32;
    /// Most groups of tiles that a ring's tail moves over, each with a counter.
    const RING_GROUPS = 32;
    /// Bits of a ring's word below its tag: half a count, and its state.
    const RING_TAG_SHIFT = 18;
    /// The most steps for each key that finish keys of the same prefix: by then passes by every digit are as fast.
    const MOST_STEPS = 24;
    /// Most digits that one reading of the keys counts.
    const DIGITS_COUNTED = 8;
    /// Status bit: the count on the device was above the maximum; the maximum was used.
    const STATUS_COUNT_CLAMPED = 1;
    /// Fewest look-back words of a tile.
    const LEAST_LOOK_BACK_ROW = 32;
    /// Status bit: some keys belong to no bucket; they lie behind those of the last one.
    const STATUS_NO_BUCKET = 2;
    /// Status bit: where buckets begin, some items have no room in what is written; they are not written.
    const STATUS_OUTPUT_CLAMPED = 4;
    /// Bins are the values of a digit.
    const FUNCTION_DIGIT = 0;
    /// The same, of fewer bins than the digit has values: all others belong to the last.
    const FUNCTION_FIELD = 1;
    /// Bins are ranges of keys of equal width.
    const FUNCTION_RANGE = 2;
    /// Of labels alone: a key's bin is the number of splitters that are not above it.
    const FUNCTION_SPLITTERS = 3;
    /// Of labels alone: a bit for each of a key's words, its uppermost one, the first word's the lowest.
    const FUNCTION_SIGNS = 4;
    /// Of labels alone: what a kernel of the caller says.
    const FUNCTION_USER = 5;
    /// Items go bin by bin, one bin behind the other.
    const OUTPUT_BUCKETS = 0;
    /// Those of one bucket alone are written, from the beginning on.
    const OUTPUT_ONE = 1;
    /// Items go bin by bin, and where each begins the caller says.
    const OUTPUT_PLACED = 2;
    /// Items stay; where each would be among those of its bin is written for it.
    const OUTPUT_RANKS = 3;
    /// Items stay, and nothing is written for them. (Which plans know, and no kernel.)
    const OUTPUT_NONE = 4;
    /// The most words of splitters that a workgroup keeps.
    const SPLITTERS_KEPT = 3072;
    /// Index of the indirect command with one group a tile.
    const ARGUMENTS_TILES = 0;
    /// Index of the indirect command with one group a chunk of tiles.
    const ARGUMENTS_CHUNKS = 1;
    /// Index of the indirect command with one group for each digit of each segment.
    const ARGUMENTS_DIGITS = 2;
    /// Indirect commands of a plan.
    const ARGUMENTS = 3;

    /// The most significant bit of a key is a sign.
    const ENCODING_SIGNED = 1;
    /// Keys are IEEE 754 numbers, or bfloat16: signs turn all other bits.
    const ENCODING_FLOAT = 2;
    /// Largest first.
    const ENCODING_DESCENDING = 4;
    /// The first word of a key is the most significant one, not the last.
    const ENCODING_BIG_END_FIRST = 8;

    /// Each key lies beside its value.
    const LAYOUT_INTERLEAVED = 1;
    /// Values are not read: they are the places 0, 1, ... of the keys.
    const LAYOUT_INDICES = 2;
    /// Sorted keys are not written.
    const LAYOUT_DROP_KEYS = 4;
    /// Keys or values that are read lie further apart than they are long.
    const LAYOUT_STRIDED = 8;
    /// Keys between passes lie in scratch alone, never where sorted keys will.
    const LAYOUT_KEYS_APART = 16;
    /// Values between passes, and after the last, lie in scratch alone.
    const LAYOUT_VALUES_APART = 32;
    /// What passes take for keys are labels, which lie in scratch, and what they take for values the caller's keys and values: see
    /// glsl/sort/planes.glsl.
    const LAYOUT_LABELS = 64;
    /// Of labels: from this bit on, how many of the words that follow them lie in the array of keys.
    const LAYOUT_LEAD_SHIFT = 8;

    /// There is one problem, in the push constants.
    const MODE_SINGLE = 1;
    /// Nothing has been prepared: no states, no zeroed histogram.
    const MODE_DIRECT = 2;
    /// Problems are segments of the arrays in the push constants, found on the device.
    const MODE_SEGMENTS = 4;
    /// Passes may sort by prefixes alone.
    const MODE_PREFIXES = 8;
    /// Problems are sorted as runs that are then merged; planes lie in scratch alone.
    const MODE_MERGED = 16;

    /// In `SortPush::flags`: moves are even in number, since the result lies where the input did.
    const FLAG_EVEN = 1;
    /// In `SortPush::flags`: moves are odd in number, since the alternate arrays lie where the input did.
    const FLAG_ODD = 2;
    /// In `SortPush::flags`: which digits no pass sorts by is known.
    const FLAG_PASSES_OVER = 64;
    /// In `SortPush::flags`: those that all keys share are among them.
    const FLAG_SHARED_DIGITS = 128;
    /// Beside the digits that no pass sorts by: what has the same digits in those that are left is sorted by those below, at the end.
    const PASSED_OVER_PREFIXES = 1 << 31;
    /// In `SortPush::flags`: `prepare` writes indirect commands.
    const FLAG_INDIRECT = 8;
    /// In `SortPush::flags`: `prepare` clears tickets.
    const FLAG_TICKETS = 16;
    /// In `SortPush::flags`: `prepare` clears histograms.
    const FLAG_HISTOGRAMS = 32;
    /// In `SortPush::flags`: `MODE_DIRECT`, for kernels whose pipelines serve both.
    const FLAG_DIRECT = 256;

    /// Tiles look back over the counts of those before them, to the nearest prefix.
    const SCAN_LOOK_BACK = 0;
    /// Each tile waits for the prefix of the tile before it.
    const SCAN_CHAINED = 1;
    /// Look-back in a ring whose entries are freed in groups of tiles.
    const SCAN_RING = 2;
    /// Look-back in a ring whose entries are freed tile by tile, in order.
    const SCAN_RING_IN_ORDER = 3;

    /// `SortPush::digit` of `permute`: values to where they are wanted.
    const PERMUTE_TO_OUTPUT = 0;
    /// `SortPush::digit` of `permute`: values to scratch.
    const PERMUTE_TO_SCRATCH = 1;
    /// `SortPush::digit` of `permute`: values from scratch, as they lie there.
    const PERMUTE_FROM_SCRATCH = 2;

    /// Ballots find the lanes with the same digit.
    const RANKING_BALLOTS = 0;
    /// Lanes count in the order that shared memory serves them, which is proven afterwards.
    const RANKING_PROVEN = 1;
    /// Tests only: as `RANKING_PROVEN`, with lanes served in a wrong order.
    const RANKING_DISPROVEN = 2;
    /// Beside one of these, of tiles: what proves it are the places in the tile that items came from. Otherwise keys do.
    const RANKING_BY_PLACES = 4;
    /// And counters of digits that are multiples of 32 apart lie in different banks of shared memory.
    const RANKING_SPREAD = 8;
    /// Beside ballots: items leave for where they belong as they lie in the tile, which is not put in order before.
    const RANKING_UNORDERED = 16;
}

shared_structs! {
    /// One sort, as kernels see it. Addresses may be null where a strategy does not use them. An item is so many key words,
    /// least significant first, and so many value words; between passes each word has an array of its own, a *plane*.
    struct SortProblem {
        /// Keys as they come.
        keys: Address,
        /// Values as they come.
        values: Address,
        /// Sorted keys; planes before. Of passes that tell the results of a split, `values`, this and `to_values` are where these go: offsets,
        /// counts, commands; `keys` is where the caller says that buckets begin, if it does, and `strides` how many items a workgroup of the
        /// commands takes; but where items are counted for it, `keys` and `strides` are theirs, and `tile_words` is that number. Of the pass that makes labels, `keys` are keys or ids,
        /// and behind them lies what its function is told: splitters, where ranges begin, how wide they are and the reciprocal of that, or what
        /// the caller's own is given (glsl/split/functions.glsl).
        to_keys: Address,
        /// Sorted values; planes before.
        to_values: Address,
        /// Key planes, in turn with those at `to_keys`. Of a split by ranges, the first key and the last. Of one by labels, these.
        alternate_keys: Address,
        /// Value planes, in turn with those at `to_values`. Of a split by ranges, what finds them: see glsl/lib/bins.glsl.
        alternate_values: Address,
        /// Where the count lies; null: it is `max_count`.
        count: Address,
        /// Where the status goes; may be null.
        status: Address,
        /// The count, or what it is clamped to.
        max_count: u32,
        /// Distance of one key from the next as they come, in the low half, and of values in the high one: in words, or, for keys
        /// narrower than a word, in bytes.
        strides: u32,
        /// `[rows][digits][BINS]` counts, a word with a bit for each digit that no pass sorts by, and `[PREFIX_BINS]` counts of
        /// prefixes. Where a split looks back and nobody counts before, the second row is where the caller says that bins begin. By 256 bytes into
        /// scratch.
        histogram: u32,
        /// Look-back: `[tiles][LOOK_BACK_ROW]` words. Reduce-then-scan: `[tiles][BINS]` sums of the tiles before, in the same chunk. Merging: `[windows][FAN]` counts. By 256 bytes
        /// into scratch.
        tile_words: u32,
    }

    /// What `prepare` resolves for a problem; one past the last holds the number of tiles in all and, as its count, that of segments.
    struct SortState {
        /// Keys.
        count: u32,
        /// Tiles of the problems before this one.
        first_tile: u32,
        /// Of a segment, its first item.
        first: u32,
    }

    /// Push constants of every sort kernel. Parts of scratch are named by 256 bytes into it.
    struct SortPush {
        /// The problem, where it is the only one.
        problem: SortProblem,
        /// Scratch.
        scratch: Address,
        /// `SortProblem[problem_count]`, where there are several. Of segments, `SortState[problem_count + 1]`: the one too long for a
        /// workgroup that begins in each window, or none; behind them, what all segments cover.
        problems: u32,
        /// `SortState[problem_count + 1]`, where counts have been prepared.
        states: u32,
        /// Indirect commands, where counts lie on the device. For `segments`: low word of the address of the offsets.
        arguments: u32,
        /// Tickets of the look-back, one a pass, then as many tails of the ring, then `[passes][RING_GROUPS]` counters. For `segments`:
        /// high word of that address.
        tickets: u32,
        /// Problems in the dispatch; windows, where they are segments.
        problem_count: u32,
        /// Tiles that one group counts, of the histogram or tile by tile. For `segments`: how many segments there are at most. Of sorts by merging: workgroups
        /// of each problem.
        chunk: u32,
        /// Items of a tile, for kernels that count tiles without holding one.
        tile_items: u32,
        /// The pass in the low byte, then the number of digits - the pass behind them is the last move where one is left -, then the rows of
        /// the histogram. Of sorts by merging: moves before this one, then moves in all but for the first.
        pass: u32,
        /// The pass's digit: first bit in its word in the low byte, then the word, then the number of bits. Of sorts by merging: items of
        /// the runs that are merged.
        digit: u32,
        /// `FLAG_` bits.
        flags: u32,
    }
}

/// Identifies what a kernel of the caller shares with the library. A module that was compiled with another number is refused.
///
/// The number depends on the tokens of [`KERNEL_FILES`], and on the structs and constants that these name. Comments, white space and the parts of
/// the library that such a kernel does not see leave it as it is.
pub const KERNEL_INTERFACE: u32 = {
    #[allow(long_running_const_eval, reason = "some ten thousand tokens")]
    const INTERFACE: u32 = interface::<MAX_IDENTIFIERS>(KERNEL_FILES, STRUCTS, &[SPECIALISATION, CONSTANTS]);
    INTERFACE
};

/// The files that a kernel of the caller is compiled from, besides `glsl/lib/shared.glsl`.
const KERNEL_FILES: &[&[u8]] = &[
    include_bytes!("../glsl/lib/bins.glsl"),
    include_bytes!("../glsl/lib/extensions.glsl"),
    include_bytes!("../glsl/lib/keys.glsl"),
    include_bytes!("../glsl/lib/memory.glsl"),
    include_bytes!("../glsl/lib/subgroup.glsl"),
    include_bytes!("../glsl/sort/cuts.glsl"),
    include_bytes!("../glsl/sort/moves.glsl"),
    include_bytes!("../glsl/sort/planes.glsl"),
    include_bytes!("../glsl/sort/problem.glsl"),
    include_bytes!("../glsl/split/functions.glsl"),
    include_bytes!("../glsl/split/label.comp"),
    include_bytes!("../glsl/split/user.glsl"),
];

/// Most identifiers in [`KERNEL_FILES`].
const MAX_IDENTIFIERS: usize = 8192;

/// Fields of a struct: GLSL type, name, offset.
type Fields = [(&'static str, &'static str, usize)];

/// Steps of FNV-1a, 32 bits.
const fn add_bytes(mut hash: u32, bytes: &[u8]) -> u32 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}

const fn hash_of(bytes: &[u8]) -> u32 {
    add_bytes(0x811c_9dc5, bytes)
}

const fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The beginning of the next token: behind white space and comments that run to the end of their line.
const fn skip_blank(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        if text[at] == b'/' && at + 1 < text.len() && text[at + 1] == b'/' {
            while at < text.len() && text[at] != b'\n' {
                at += 1;
            }
        } else if text[at].is_ascii_whitespace() {
            at += 1;
        } else {
            break;
        }
    }
    at
}

/// The end of the token that begins at `at`: an identifier, a number, or one other byte.
const fn token_end(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while is_identifier(text[at]) && end < text.len() && is_identifier(text[end]) {
        end += 1;
    }
    end
}

/// See [`KERNEL_INTERFACE`]. `N`: room for the identifiers of `files`. `constants`: lists of names with their numbers.
const fn interface<const N: usize>(files: &[&[u8]], structs: &[(&str, &Fields)], constants: &[&[(&str, u32)]]) -> u32 {
    let mut hash = hash_of(&[]);
    let (mut identifiers, mut count) = ([0; N], 0);
    let mut file = 0;
    while file < files.len() {
        let text = files[file];
        let mut at = skip_blank(text, 0);
        while at < text.len() {
            let end = token_end(text, at);
            let token = hash_of(text.split_at(end).0.split_at(at).1);
            hash = add_bytes(hash, &token.to_le_bytes());
            if is_identifier(text[at]) && !text[at].is_ascii_digit() {
                identifiers[count] = token;
                count += 1;
            }
            at = skip_blank(text, end);
        }
        file += 1;
    }
    let mut i = 0;
    while i < structs.len() {
        let (name, fields) = structs[i];
        let mut f = 0;
        while f < fields.len() && contains(&identifiers, count, name) {
            let (glsl, field, offset) = fields[f];
            #[allow(clippy::cast_possible_truncation, reason = "offsets are small")]
            let offset = offset as u32;
            hash = add_bytes(add_bytes(add_bytes(hash, glsl.as_bytes()), field.as_bytes()), &offset.to_le_bytes());
            f += 1;
        }
        i += 1;
    }
    let mut list = 0;
    while list < constants.len() {
        let mut i = 0;
        while i < constants[list].len() {
            let (name, value) = constants[list][i];
            if contains(&identifiers, count, name) {
                hash = add_bytes(add_bytes(hash, name.as_bytes()), &value.to_le_bytes());
            }
            i += 1;
        }
        list += 1;
    }
    hash
}

/// Whether `name` is among the first `count` identifiers.
const fn contains(identifiers: &[u32], count: usize, name: &str) -> bool {
    let wanted = hash_of(name.as_bytes());
    let mut i = 0;
    while i < count {
        if identifiers[i] == wanted {
            return true;
        }
        i += 1;
    }
    false
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
    for (name, value) in CONSTANTS.iter().chain(&[("KERNEL_INTERFACE", KERNEL_INTERFACE)]) {
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

#[cfg(test)]
mod tests {
    use super::{CONSTANTS, Fields, interface};

    const FILE: &[u8] = b"// The radix.\nuint x = RADIX * args.keys; Row row;";
    const ROW: &Fields = &[("uvec2", "keys", 0)];

    fn of(file: &[u8], fields: &Fields, radix: u32, other: u32) -> u32 {
        interface::<64>(
            &[file],
            &[("Row", fields), ("Other", &[("uint", "member", other as usize)])],
            &[&[("RADIX", radix), ("OTHER", other)]],
        )
    }

    #[test]
    fn kernels_of_the_caller_outlive_changes_of_what_they_do_not_see() {
        let number = of(FILE, ROW, 256, 1);
        assert_eq!(number, of(FILE, ROW, 256, 2), "neither the struct nor the constant is named");
        assert_eq!(
            number,
            of(b"uint x=RADIX*args.keys;\n// A row.\nRow row;", ROW, 256, 1),
            "comments and white space are no tokens"
        );
        for (other, what) in [
            (of(FILE, ROW, 128, 1), "a constant that is named"),
            (of(FILE, &[("uvec2", "keys", 8)], 256, 1), "an offset of a struct that is named"),
            (of(b"uint x = RADIX + args.keys; Row row;", ROW, 256, 1), "a token"),
            (of(b"uint x = RADIX * args . key s; Row row;", ROW, 256, 1), "a word in two"),
        ] {
            assert_ne!(number, other, "{what}");
        }
    }

    #[test]
    fn a_kernel_of_the_caller_does_not_see_the_whole_library() {
        let seen = |name: &str| super::KERNEL_FILES.iter().any(|text| String::from_utf8_lossy(text).contains(name));
        let hidden: Vec<_> = CONSTANTS.iter().filter(|(name, _)| !seen(name)).collect();
        assert!(hidden.iter().any(|(name, _)| *name == "MOST_STEPS") && hidden.len() > 20, "{hidden:?}");
    }
}
