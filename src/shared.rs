//! Structs and constants shared by host and shaders, declared once: in Rust and, through [`glsl`], in
//! `glsl/core/shared.glsl`. A test compares both with every compiled module by reflection.

use bytemuck::{Pod, Zeroable};
use std::fmt::Write as _;

/// A device address in shaders: two words, so that 4-byte alignment suffices and no module needs 64-bit integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Address([u32; 2]);

impl From<u64> for Address {
    fn from(address: u64) -> Self {
        Self(bytemuck::cast(address.to_le_bytes()))
    }
}

impl From<Address> for u64 {
    fn from(Address(words): Address) -> Self {
        Self::from_le_bytes(bytemuck::cast(words))
    }
}

/// A field type of a shared struct: its GLSL name.
pub trait GlslType {
    /// The type in GLSL.
    const GLSL: &'static str;
}

impl GlslType for u32 {
    const GLSL: &'static str = "uint";
}

impl GlslType for f32 {
    const GLSL: &'static str = "float";
}

impl GlslType for Address {
    const GLSL: &'static str = "uvec2";
}

impl GlslType for [u32; 2] {
    const GLSL: &'static str = "uvec2";
}

impl GlslType for [u32; 4] {
    const GLSL: &'static str = "uvec4";
}

/// A pass in one word. Its index, the number of digits, the rows of the histogram and `FLAG_` bits have 8 bits each, from
/// the lowest on. See glsl/radix/pass.glsl.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct PackedPass(u32);

impl GlslType for PackedPass {
    const GLSL: &'static str = u32::GLSL;
}

impl PackedPass {
    /// Packs values below 256.
    pub const fn new(index: u32, digits: u32, rows: u32, flags: u32) -> Self {
        debug_assert!(index | digits | rows | flags < 256);
        Self(index | digits << 8 | rows << 16 | flags << 24)
    }

    /// Index of the pass. The number of digits: the final copy, if there is one.
    pub const fn index(self) -> u32 {
        self.0 & 0xff
    }

    /// Number of digits, each of which may have a pass.
    pub const fn digits(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    /// Rows of the histogram.
    pub const fn rows(self) -> u32 {
        self.0 >> 16 & 0xff
    }

    /// Whether a `FLAG_` bit is set.
    pub const fn has(self, flag: u32) -> bool {
        self.0 >> 24 & flag != 0
    }
}

/// Fields of a struct: GLSL type, name, byte offset.
type Fields = [(&'static str, &'static str, usize)];

/// The layout of a shared struct.
#[derive(Clone, Copy, Debug)]
pub struct StructLayout {
    /// The name in Rust and GLSL.
    pub name: &'static str,
    /// GLSL type, name and byte offset of each field.
    pub fields: &'static Fields,
    /// Size in bytes: the distance of neighbors in an array.
    pub size: usize,
}

/// A struct in device memory or push constants, with scalar layout.
pub trait SharedStruct: Pod {
    /// The layout in Rust and GLSL.
    const LAYOUT: StructLayout;
}

macro_rules! shared_structs {
    ($($(#[$struct_doc:meta])* struct $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$struct_doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
            pub struct $name { $($(#[$doc])* pub $field: $type,)* }

            impl GlslType for $name {
                const GLSL: &'static str = stringify!($name);
            }

            impl SharedStruct for $name {
                const LAYOUT: StructLayout = StructLayout {
                    name: stringify!($name),
                    fields: &[$((<$type as GlslType>::GLSL, stringify!($field), std::mem::offset_of!($name, $field)),)*],
                    size: size_of::<$name>(),
                };
            }
        )*

        /// All shared structs, in an order in which GLSL can declare them.
        pub const STRUCTS: &[StructLayout] = &[$(<$name as SharedStruct>::LAYOUT),*];
    };
}

macro_rules! shared_constants {
    ($($(#[$doc:meta])* const $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*

        /// All shared constants.
        pub const CONSTANTS: &[(&str, u32)] = &[$((stringify!($name), $name),)*];
    };
}

macro_rules! specialisation_constants {
    ($($(#[$doc:meta])* $variant:ident = $id:literal as $glsl:literal,)*) => {
        /// A specialization constant; the number is its `constant_id`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum Constant { $($(#[$doc])* $variant = $id,)* }

        /// GLSL name and id of each specialization constant.
        pub const SPECIALISATION: &[(&str, u32)] = &[$(($glsl, $id),)*];
    };
}

specialisation_constants! {
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
    /// Keys of a tile, for kernels that read the keys of a tile without holding them; in `rank`, keys in shared memory at a time.
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
    /// Runs that are merged into one.
    Fan = 24 as "SPEC_FAN",
    /// Distance of samples in a run that is merged, in items.
    Step = 25 as "SPEC_STEP",
    /// A `RANKING_` constant: the algorithm that ranks the keys of a tile.
    Ranking = 18 as "SPEC_RANKING",
    /// Maximum number of workgroups of a dispatch in x.
    MaxGroupsX = 31 as "SPEC_MAX_GROUPS_X",
}

shared_constants! {
    /// Bits of a digit.
    const RADIX_BITS = 8;
    /// Values of a digit.
    const RADIX = 1 << RADIX_BITS;
    /// Maximum number of words of a key.
    const MAX_KEY_WORDS = 4;
    /// Maximum number of words of a value that passes move.
    const MAX_VALUE_WORDS = 4;
    /// Topmost digits that form the key prefix. An odd number: together with the pass over equal prefixes, the number
    /// of passes is even.
    const PREFIX_DIGITS = 3;
    /// Bits of the bin of a key prefix.
    const PREFIX_BIN_BITS = 12;
    /// Bins of the histogram of key prefixes.
    const PREFIX_BINS = 1 << PREFIX_BIN_BITS;
    /// Items on either side of a tile that the sort of equal prefixes keeps in shared memory.
    const FINISH_MARGIN = 32;
    /// Maximum number of groups of tiles that free ring entries together. Each has a counter.
    const RING_GROUPS = 32;
    /// Bits of a ring word below its tag: half a count, and the state.
    const RING_TAG_SHIFT = 18;
    /// Maximum number of steps for each key in the sort of equal prefixes. Beyond it, passes over every digit are as
    /// fast.
    const MOST_STEPS = 24;
    /// Maximum number of digits that one read of the keys counts.
    const DIGITS_COUNTED = 8;
    /// Status bit: the count on the device exceeded the maximum, and the maximum was used.
    const STATUS_COUNT_CLAMPED = 1;
    /// Minimum number of look-back words of a tile.
    const LEAST_LOOK_BACK_ROW = 32;
    /// Status bit: some keys have no bucket; they were placed after the last bucket.
    const STATUS_NO_BUCKET = 2;
    /// Status bit: by the starts of the buckets, some items belong past the end of the output; they were not written.
    const STATUS_OUTPUT_CLAMPED = 4;
    /// Bins are the values of a digit.
    const FUNCTION_DIGIT = 0;
    /// Bins are values of a digit, but fewer than the digit has: all other values map to the last bin.
    const FUNCTION_FIELD = 1;
    /// Bins are ranges of keys of equal width.
    const FUNCTION_RANGE = 2;
    /// Labels only: a key's bin is the number of splitters less than or equal to it.
    const FUNCTION_SPLITTERS = 3;
    /// Labels only: the uppermost bit of each of the key's words, the first word's bit the lowest.
    const FUNCTION_SIGNS = 4;
    /// Labels only: a user-defined function.
    const FUNCTION_USER = 5;
    /// Items are grouped by bin, without gaps.
    const OUTPUT_BUCKETS = 0;
    /// Only the items of one bucket are written, from the start of the output.
    const OUTPUT_ONE = 1;
    /// Items are grouped by bin; the caller gives the start of each bin.
    const OUTPUT_PLACED = 2;
    /// No items are written, but each item's rank in its bin.
    const OUTPUT_RANKS = 3;
    /// Nothing is written for items. (Plans use it, kernels do not.)
    const OUTPUT_NONE = 4;
    /// Maximum number of words of splitters in the shared memory of a workgroup.
    const SPLITTERS_KEPT = 3072;
    /// Index of the indirect command with one workgroup for each tile.
    const ARGUMENTS_TILES = 0;
    /// Index of the indirect command with one workgroup for each chunk of tiles.
    const ARGUMENTS_CHUNKS = 1;
    /// Index of the indirect command with one workgroup for each digit of each segment.
    const ARGUMENTS_DIGITS = 2;
    /// Number of indirect commands of a plan.
    const ARGUMENTS = 3;

    /// The most significant bit of a key is a sign bit.
    const ENCODING_SIGNED = 1;
    /// Keys are IEEE 754 or bfloat16 numbers: the encoding of negative keys inverts all bits.
    const ENCODING_FLOAT = 2;
    /// Descending order.
    const ENCODING_DESCENDING = 4;
    /// The first word of a key is its most significant one, not the last.
    const ENCODING_BIG_END_FIRST = 8;

    /// Each key is followed by its value in memory.
    const LAYOUT_INTERLEAVED = 1;
    /// Values are not read: they are the indices 0, 1, ... of the keys.
    const LAYOUT_INDICES = 2;
    /// Sorted keys are not written.
    const LAYOUT_DROP_KEYS = 4;
    /// Keys or values that are read have strides.
    const LAYOUT_STRIDED = 8;
    /// Between passes, keys are in scratch only, never in the output array.
    const LAYOUT_KEYS_APART = 16;
    /// Between passes and after the last one, values are in scratch only.
    const LAYOUT_VALUES_APART = 32;
    /// Passes sort by labels in scratch, and move the caller's keys and values along: see glsl/radix/planes.glsl.
    const LAYOUT_LABELS = 64;
    /// With labels: from this bit on, the number of moved words in the key array. The others are in the value array.
    const LAYOUT_LEAD_SHIFT = 8;

    /// There is a single problem, in the push constants.
    const MODE_SINGLE = 1;
    /// There was no prepare pass: no states, no zeroed histogram.
    const MODE_DIRECT = 2;
    /// Problems are segments of the arrays in the push constants. The device finds them.
    const MODE_SEGMENTS = 4;
    /// Passes may sort by key prefixes only.
    const MODE_PREFIXES = 8;
    /// Problems are sorted as runs and merged; planes are in scratch only.
    const MODE_MERGED = 16;

    /// Flag of a pass: the number of moving passes is even, since the result replaces the input.
    const FLAG_EVEN = 1;
    /// Flag of a pass: the number of moving passes is odd, since the input array is the alternate array.
    const FLAG_ODD = 2;
    /// Flag of a pass: the word of skipped digits is valid.
    const FLAG_PASSES_OVER = 64;
    /// Flag of a pass: constant digits are among the skipped digits.
    const FLAG_SHARED_DIGITS = 128;
    /// In the word of skipped digits: items with equal key prefixes are sorted by the skipped lower digits at the end.
    const PASSED_OVER_PREFIXES = 1 << 31;
    /// Flag of a pass: `prepare` writes indirect commands.
    const FLAG_INDIRECT = 8;
    /// Flag of a pass: `prepare` clears tickets.
    const FLAG_TICKETS = 16;
    /// Flag of a pass: `prepare` clears histograms.
    const FLAG_HISTOGRAMS = 32;

    /// Tiles look back over the aggregates of preceding tiles, to the nearest inclusive prefix.
    const SCAN_LOOK_BACK = 0;
    /// Each tile waits for the inclusive prefix of its predecessor.
    const SCAN_CHAINED = 1;
    /// Look-back in a ring; entries are freed in groups of tiles.
    const SCAN_RING = 2;
    /// Look-back in a ring; entries are freed tile by tile, in order.
    const SCAN_RING_IN_ORDER = 3;

    /// `PermutePush::step`: gather values into the output.
    const PERMUTE_TO_OUTPUT = 0;
    /// `PermutePush::step`: gather values into scratch.
    const PERMUTE_TO_SCRATCH = 1;
    /// `PermutePush::step`: copy values from scratch to the output.
    const PERMUTE_FROM_SCRATCH = 2;

    /// Ballots find the lanes with the same digit.
    const RANKING_BALLOTS = 0;
    /// Atomic counters rank in the order in which shared memory serves the lanes. The order is verified afterwards.
    const RANKING_PROVEN = 1;
    /// Tests only: as `RANKING_PROVEN`, with lanes in a wrong order.
    const RANKING_DISPROVEN = 2;
    /// Added to a verified ranking of tiles: source indices in the tile verify the order. Otherwise keys do.
    const RANKING_BY_PLACES = 4;
    /// Added to a verified ranking: counters are bank-swizzled, so that those of digits that differ by multiples of 32
    /// are in different banks.
    const RANKING_SPREAD = 8;
    /// Added to `RANKING_BALLOTS`: items are scattered in input order, without reordering in shared memory.
    const RANKING_UNORDERED = 16;
}

// Rows of problems. A kernel reads one row from its push constants, or a table of rows in scratch. Addresses that a
// strategy does not use may be null. Members of the same name mean the same in every struct:
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
// states         part of scratch: a word, the number of problems; then `ProblemState[problem_count + 1]`. A prepare pass
//                writes them.
// windows        part of scratch: `Segment[problem_count + 1]`: for each window, the longer segment that begins in it, if
//                any; then the items of all segments
// commands       part of scratch: indirect commands, for counts on the device
// tickets        part of scratch: tickets of the look-back, one for each pass; as many tails of the ring;
//                `[passes][RING_GROUPS]` counters
// segments       the caller's segments
// chunk          number of consecutive tiles that one workgroup counts or clears
// groups         number of workgroups of each problem
// tile_items     items of a tile, for kernels that do not have them as a constant of their pipeline
// pass           the pass
// digit          the digit of the pass: its first bit in its word in the low byte, then the word, then the number of bits
shared_structs! {
    /// Ranges of keys of equal width. A key's bin is its distance from `first`, times `multiplier`, divided by 2^32,
    /// shifted right by `shift`.
    struct KeyRange {
        /// A key of the first bin; lower keys count as this one. With two bins, all higher keys belong to the second.
        first: u32,
        /// A key of the last bin; higher keys count as this one.
        last: u32,
        /// Reciprocal of the width.
        multiplier: u32,
        /// Shift of the product in the low 5 bits; above them, what is added to the distance.
        shift: u32,
    }

    /// The caller's segments.
    struct SegmentList {
        /// Address of `offsets[segments + 1]`.
        offsets: Address,
        /// Address of the number of segments; null: it is `max_count`.
        count: Address,
        /// Number of segments, or its maximum.
        max_count: u32,
    }

    /// A problem, as kernels that move items see it. An item has key words, least significant first, and value words.
    /// Between passes, each word has an array of its own, a *plane*.
    struct RadixProblem {
        /// The caller's array of keys.
        keys: Address,
        /// The caller's array of values.
        values: Address,
        /// The sorted keys; between passes, key planes.
        to_keys: Address,
        /// The sorted values; between passes, value planes.
        to_values: Address,
        /// Planes of the words that are sorted by, keys or labels. Key planes alternate with those at `to_keys`
        /// (ping-pong).
        alternate_keys: Address,
        /// Planes of the words that follow. Value planes alternate with those at `to_values`.
        alternate_values: Address,
        count: Address,
        status: Address,
        range: KeyRange,
        max_count: u32,
        /// Strides of the input: of keys in the low half, of values in the high half. In words, or in bytes for keys
        /// narrower than a word.
        strides: u32,
        histogram: u32,
        tile_words: u32,
    }

    /// All segments as one problem: the members of [`RadixProblem`] that the kernel reads that sorts short segments.
    struct SegmentedProblem {
        keys: Address,
        values: Address,
        to_keys: Address,
        to_values: Address,
        alternate_keys: Address,
        alternate_values: Address,
        status: Address,
        max_count: u32,
        strides: u32,
        /// Histograms of longer segments.
        histogram: u32,
    }

    /// The members of [`RadixProblem`] that the prepare pass reads.
    struct CountedProblem {
        count: Address,
        status: Address,
        max_count: u32,
        histogram: u32,
    }

    /// Buckets of equal width, for keys of up to 64 bits.
    struct BucketRanges {
        /// The lowest key of the first bucket, encoded.
        low: [u32; 2],
        /// Number of keys of a bucket.
        width: [u32; 2],
        /// The nearest float to 1 / width.
        reciprocal: f32,
    }

    /// A problem, as kernels that write labels see it: the inputs of the bucket function and the labels.
    struct LabelProblem {
        /// The words that the bucket function reads: keys or ids of buckets.
        keys: Address,
        /// The labels, an output.
        labels: Address,
        /// The caller's splitters.
        splitters: Address,
        /// The caller's address for a user-defined function.
        user_address: Address,
        /// The caller's words for a user-defined function.
        user_words: [u32; 4],
        ranges: BucketRanges,
        count: Address,
        max_count: u32,
        /// Distance of neighbors in `keys`, in words, or in bytes if they are narrower.
        key_stride: u32,
    }

    /// A problem, as kernels that write bucket information see it, and the one that takes given bucket starts.
    struct BucketInfoProblem {
        /// Address of `offsets[BUCKETS + 1]`, an output; may be null.
        offsets: Address,
        /// Address of `counts[BUCKETS]`, an output; may be null.
        counts: Address,
        /// Address of indirect commands, an output; may be null.
        commands: Address,
        /// The caller's bucket starts.
        starts: Address,
        /// Sorted labels, a word each.
        labels: Address,
        count: Address,
        status: Address,
        max_count: u32,
        /// Items of a workgroup in `commands`.
        command_items: u32,
        /// Capacity of the output in items, with bucket starts of the caller.
        capacity: u32,
        histogram: u32,
        tile_words: u32,
    }

    /// As [`BucketInfoProblem`], for the kernel that counts few items itself.
    struct CountingInfoProblem {
        /// The caller's array of keys.
        keys: Address,
        /// Labels, in place of keys.
        labels: Address,
        offsets: Address,
        counts: Address,
        commands: Address,
        count: Address,
        status: Address,
        range: KeyRange,
        max_count: u32,
        command_items: u32,
        /// Stride of `keys`, in words, or in bytes if they are narrower.
        key_stride: u32,
    }

    /// The state of a problem in the tile map. One more state follows the last: its `first_tile` is the number of all
    /// tiles.
    struct ProblemState {
        /// Number of items.
        count: u32,
        /// Number of tiles of all preceding problems.
        first_tile: u32,
        /// Index of the first item: not 0 for segments.
        first: u32,
    }

    /// Consecutive items.
    struct Segment {
        /// Index of the first item.
        first: u32,
        /// Number of items.
        count: u32,
    }

    /// Push constants of `radix_prepare`.
    struct PreparePush {
        problem: CountedProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        windows: u32,
        commands: u32,
        tickets: u32,
        chunk: u32,
        pass: PackedPass,
    }

    /// Push constants of `radix_histogram`.
    struct HistogramPush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        tickets: u32,
        chunk: u32,
        pass: PackedPass,
    }

    /// Push constants of `radix_onesweep`.
    struct OnesweepPush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        tickets: u32,
        pass: PackedPass,
        digit: u32,
    }

    /// Push constants of `radix_count` and `radix_reorder`.
    struct ReorderPush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        chunk: u32,
        pass: PackedPass,
        digit: u32,
    }

    /// Push constants of `radix_spine`.
    struct SpinePush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        chunk: u32,
        tile_items: u32,
        pass: PackedPass,
    }

    /// Push constants of kernels before and after the passes over digits: `radix_copy`, `sort_choose_prefix_path` and
    /// `sort_equal_prefixes`.
    struct PathPush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        pass: PackedPass,
    }

    /// Push constants of `radix_segments`.
    struct SegmentsPush {
        problem: SegmentedProblem,
        scratch: Address,
        segments: SegmentList,
        windows: u32,
        problem_count: u32,
        pass: PackedPass,
    }

    /// Push constants of `radix_pack`.
    struct PackPush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        windows: u32,
        pass: PackedPass,
    }

    /// Push constants of `radix_permute`.
    struct PermutePush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        windows: u32,
        pass: PackedPass,
        /// A `PERMUTE_` constant.
        step: u32,
    }

    /// Push constants of `sort_small` and `sort_buckets`.
    struct SmallPush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
    }

    /// Push constants of `sort_rank`.
    struct RankPush {
        problem: RadixProblem,
        pass: PackedPass,
    }

    /// Push constants of the merge kernels.
    struct MergePush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        groups: u32,
        /// Number of preceding levels. Level 0 sorts runs, the others merge them.
        level: u32,
        /// Number of the last level.
        levels: u32,
        /// Items of a run.
        run_items: u32,
    }

    /// Push constants of `split_label`.
    struct LabelPush {
        problem: LabelProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        segments: SegmentList,
    }

    /// Push constants of `split_clear_look_back`.
    struct ClearLookBackPush {
        problem: BucketInfoProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        tickets: u32,
        chunk: u32,
        tile_items: u32,
        pass: PackedPass,
    }

    /// Push constants of `split_bucket_info`.
    struct BucketInfoPush {
        problem: BucketInfoProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        pass: PackedPass,
    }

    /// Push constants of `split_bounds`.
    struct BoundsPush {
        problem: BucketInfoProblem,
        scratch: Address,
        problems: u32,
        states: u32,
        problem_count: u32,
        segments: SegmentList,
    }

    /// Push constants of `split_single_dispatch`.
    struct SingleDispatchPush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        groups: u32,
        digit: u32,
    }

    /// Push constants of `split_single_dispatch_info`.
    struct CountingInfoPush {
        problem: CountingInfoProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        digit: u32,
    }
}

/// Identifies the interface of user-defined kernels. The library refuses a module that was compiled with another value.
///
/// The value is a hash (FNV-1a) of the tokens of their source files and of the structs and constants that these files name. Comments,
/// white space and other parts of the library do not change it.
pub const KERNEL_INTERFACE: u32 = {
    #[allow(long_running_const_eval, reason = "some ten thousand tokens")]
    const INTERFACE: u32 = interface::<MAX_IDENTIFIERS>(KERNEL_FILES, STRUCTS, &[SPECIALISATION, CONSTANTS]);
    INTERFACE
};

/// The source files of user-defined kernels, except for the generated glsl/core/shared.glsl.
const KERNEL_FILES: &[&[u8]] = &[
    include_bytes!("../glsl/radix/bins.glsl"),
    include_bytes!("../glsl/core/extensions.glsl"),
    include_bytes!("../glsl/radix/keys.glsl"),
    include_bytes!("../glsl/core/memory.glsl"),
    include_bytes!("../glsl/core/subgroup.glsl"),
    include_bytes!("../glsl/radix/counts.glsl"),
    include_bytes!("../glsl/radix/input.glsl"),
    include_bytes!("../glsl/radix/problem.glsl"),
    include_bytes!("../glsl/radix/scratch.glsl"),
    include_bytes!("../glsl/radix/segment_offsets.glsl"),
    include_bytes!("../glsl/radix/share.glsl"),
    include_bytes!("../glsl/radix/tile_map.glsl"),
    include_bytes!("../glsl/split/functions.glsl"),
    include_bytes!("../glsl/split/label.comp"),
    include_bytes!("../glsl/split/user.glsl"),
];

/// Capacity for the identifiers in [`KERNEL_FILES`].
const MAX_IDENTIFIERS: usize = 8192;

/// Continues a hash with `bytes` (FNV-1a, 32 bits).
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

/// Returns the start of the next token, after white space and line comments.
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

/// Returns the end of the token at `at`: an identifier, a number, or one other byte.
const fn token_end(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while is_identifier(text[at]) && end < text.len() && is_identifier(text[end]) {
        end += 1;
    }
    end
}

/// Computes [`KERNEL_INTERFACE`]. `N`: capacity for the identifiers of `files`. `constants`: lists of names and values.
const fn interface<const N: usize>(files: &[&[u8]], structs: &[StructLayout], constants: &[&[(&str, u32)]]) -> u32 {
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
    // From the last one on: the structs that a struct contains are declared before it.
    let mut i = structs.len();
    while i > 0 {
        i -= 1;
        let StructLayout { name, fields, .. } = structs[i];
        let mut f = 0;
        while f < fields.len() && contains(&identifiers, count, name) {
            let (glsl, field, offset) = fields[f];
            #[allow(clippy::cast_possible_truncation, reason = "offsets are small")]
            let offset = offset as u32;
            hash = add_bytes(add_bytes(add_bytes(hash, glsl.as_bytes()), field.as_bytes()), &offset.to_le_bytes());
            identifiers[count] = hash_of(glsl.as_bytes());
            count += 1;
            f += 1;
        }
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
    for StructLayout { name, fields, .. } in STRUCTS {
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
    use super::{CONSTANTS, Fields, StructLayout, interface};

    const FILE: &[u8] = b"// The radix.\nuint x = RADIX * args.keys; Row row;";
    const ROW: &Fields = &[("Keys", "keys", 0)];
    const KEYS: &Fields = &[("uvec2", "address", 0)];
    const MOVED: &Fields = &[("uvec2", "address", 8)];

    fn of(file: &[u8], [keys, row, unseen]: [&'static Fields; 3], radix: u32, other: u32) -> u32 {
        let structs = [("Keys", keys), ("Row", row), ("Other", unseen)];
        let structs = structs.map(|(name, fields)| StructLayout { name, fields, size: 0 });
        interface::<64>(&[file], &structs, &[&[("RADIX", radix), ("OTHER", other)]])
    }

    #[test]
    fn user_kernels_outlive_changes_that_they_do_not_see() {
        let structs = [KEYS, ROW, KEYS];
        let number = of(FILE, structs, 256, 1);
        assert_eq!(number, of(FILE, [KEYS, ROW, MOVED], 256, 2), "neither the struct nor the constant is named");
        assert_eq!(
            number,
            of(b"uint x=RADIX*args.keys;\n// A row.\nRow row;", structs, 256, 1),
            "comments and white space are no tokens"
        );
        for (other, what) in [
            (of(FILE, structs, 128, 1), "a constant that is named"),
            (of(FILE, [KEYS, &[("Keys", "keys", 8)], KEYS], 256, 1), "an offset of a struct that is named"),
            (of(FILE, [MOVED, ROW, KEYS], 256, 1), "an offset of a struct in a struct that is named"),
            (of(b"uint x = RADIX + args.keys; Row row;", structs, 256, 1), "a token"),
            (of(b"uint x = RADIX * args . key s; Row row;", structs, 256, 1), "a word in two"),
        ] {
            assert_ne!(number, other, "{what}");
        }
    }

    #[test]
    fn user_kernels_do_not_see_the_whole_library() {
        let seen = |name: &str| super::KERNEL_FILES.iter().any(|text| String::from_utf8_lossy(text).contains(name));
        let hidden: Vec<_> = CONSTANTS.iter().filter(|(name, _)| !seen(name)).collect();
        assert!(hidden.iter().any(|(name, _)| *name == "MOST_STEPS") && hidden.len() > 20, "{hidden:?}");
    }
}
