//! Digit passes: constants, rows of problems, push constants, kernels. See src/shared.rs.

use super::interface::{Address, GlslType, SharedStruct, StructLayout, shared_constants, shared_structs};
use bytemuck::{Pod, Zeroable};

/// A pass in one word. Its index, the number of digits, the rows of the histogram and `FLAG_` bits have 8 bits each,
/// from the lowest on. See glsl/radix/pass.glsl.
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
    /// Maximum number of groups of tiles that free ring entries together. Each has a counter.
    const RING_GROUPS = 32;
    /// Bits of a ring word below its tag: half a count, and the state.
    const RING_TAG_SHIFT = 18;
    /// Maximum number of digits that one read of the keys counts.
    const DIGITS_COUNTED = 8;
    /// Status bit: the count on the device exceeded the maximum, and the maximum was used.
    const STATUS_COUNT_CLAMPED = 1;
    /// Minimum number of look-back words of a tile.
    const LEAST_LOOK_BACK_ROW = 32;
    /// Tiles of a block: see glsl/core/tile_prefixes.glsl.
    const LOOK_BACK_BLOCK = 32;
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
    const LAYOUT_KEYS_IN_SCRATCH = 16;
    /// Between passes and after the last one, values are in scratch only.
    const LAYOUT_VALUES_IN_SCRATCH = 32;
    /// Passes sort by labels in scratch, and move the caller's keys and values along: see glsl/radix/planes.glsl.
    const LAYOUT_LABELS = 64;
    /// With labels: from this bit on, the number of moved words in the key array. The others are in the value array.
    const LAYOUT_KEY_ARRAY_WORDS_SHIFT = 8;

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
    /// Modules with a comparator for sorts: the kernel is `merge_partition`; without this and the next bit, it is
    /// `merge_sort_run`.
    const MODE_PARTITION = 32;
    /// The kernel is `merge_join`.
    const MODE_JOIN = 64;

    /// Flag of a pass: the number of moving passes is even, since the result replaces the input.
    const FLAG_EVEN = 1;
    /// Flag of a pass: the number of moving passes is odd, since the input array is the alternate array.
    const FLAG_ODD = 2;
    /// Flag of a pass: the word of skipped digits is valid.
    const FLAG_SKIPS_DIGITS = 64;
    /// Flag of a pass: constant digits are among the skipped digits.
    const FLAG_SKIPS_CONSTANT_DIGITS = 128;
    /// In the word of skipped digits: items with equal key prefixes are sorted by the skipped lower digits at the end.
    const SORTED_BY_PREFIXES = 1 << 31;
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
    const RANKING_VERIFIED = 1;
    /// Tests only: as `RANKING_VERIFIED`, with lanes in a wrong order.
    const RANKING_WRONG = 2;
    /// Added to a verified ranking of tiles: source indices in the tile verify the order. Otherwise keys do.
    const RANKING_BY_SOURCE_INDEX = 4;
    /// Added to a verified ranking: counters are bank-swizzled, so that those of digits that differ by multiples of 32
    /// are in different banks.
    const RANKING_SWIZZLED = 8;
    /// Added to `RANKING_BALLOTS`: items are scattered in input order, without reordering in shared memory.
    const RANKING_UNORDERED = 16;
}

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
}

/// Passes the specialization constants of this folder on to the next folder's macro. The last macro of the chain
/// declares them.
macro_rules! folder_specialization {
    ([$($next:tt)*] $($others:tt)*) => {
        $($next)*! {
            $($others)*
            /// Invocations of a workgroup.
            Threads = 0 as "SPEC_THREADS",
            /// Lanes of a subgroup; 0 if the device chooses at dispatch.
            Lanes = 1 as "SPEC_LANES",
            /// Keys of a thread; in `rank`, items of a workgroup.
            Items = 2 as "SPEC_ITEMS",
            /// Rows of digit counters in a workgroup: one for each subgroup, or fewer, shared by neighboring subgroups.
            /// In the histogram: copies of each counter.
            Histograms = 3 as "SPEC_HISTOGRAMS",
            /// 32-bit words of a value, as passes move it; 0 without values.
            ValueWords = 4 as "SPEC_VALUE_WORDS",
            /// Keys of a tile, for kernels that read the keys of a tile without holding them; in `rank`, keys in shared
            /// memory at a time.
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
            Scan = 15 as "SPEC_SCAN" of "SCAN_",
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
            Function = 26 as "SPEC_FUNCTION" of "FUNCTION_",
            /// Bins that are buckets of a split.
            Buckets = 27 as "SPEC_BUCKETS",
            /// An `OUTPUT_` constant in the low byte; above it, the bucket of `OUTPUT_ONE`.
            Output = 30 as "SPEC_OUTPUT" of "OUTPUT_",
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
        }
    };
}

/// Passes the kernels of this folder on to the next folder's macro. The last macro of the chain declares them.
macro_rules! folder_kernels {
    ([$($next:tt)*] $($others:tt)*) => {
        $($next)*! {
            $($others)*
            native {
                /// Resolves counts, assigns tiles to problems, writes indirect arguments, clears state.
                RadixPrepare = "radix_prepare",
                    push PreparePush, memory [RadixProblem, ProblemState, Segment],
                    [Threads, Lanes, Mode, Bins, Tile, MaxGroupsX];
                /// Computes the histograms of all digits.
                RadixHistogram = "radix_histogram",
                    push HistogramPush, memory [RadixProblem, ProblemState],
                    [
                        Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits,
                        Encoding, Layout, BeginBit, EndBit, Scan, RingEntries,
                    ];
                /// Ranks and scatters by one digit, with decoupled look-back.
                RadixOnesweep = "radix_onesweep",
                    push OnesweepPush, memory [RadixProblem, ProblemState],
                    [
                        Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking,
                        KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, Scan, RingEntries, RingReach, Window,
                        SpinLimit, DelayEvery, Output,
                    ];
                /// As `RadixOnesweep`, with persistent workgroups: each takes one tile after the other.
                RadixOnesweepPersistent = "radix_onesweep_persistent",
                    push OnesweepPush, memory [RadixProblem, ProblemState],
                    [
                        Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking,
                        KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, Scan, RingEntries, RingReach, Window,
                        SpinLimit, DelayEvery, Output,
                    ];
                /// Counts one digit in each tile (reduce-then-scan).
                RadixCount = "radix_count",
                    push ReorderPush, memory [RadixProblem, ProblemState],
                    [
                        Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits,
                        Encoding, ValueWords, Layout,
                    ];
                /// Scans the counts of one digit over the tiles.
                RadixSpine = "radix_spine",
                    push SpinePush, memory [RadixProblem, ProblemState],
                    [Threads, Lanes, Mode, Bins, SegmentTile];
                /// Ranks and scatters by one digit, with scanned counts.
                RadixReorder = "radix_reorder",
                    push ReorderPush, memory [RadixProblem, ProblemState],
                    [
                        Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking,
                        KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, Output,
                    ];
                /// Sorts every segment that fits a workgroup, and lists the longer ones.
                RadixSegments = "radix_segments",
                    push SegmentsPush, memory [Segment],
                    [
                        Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, Ranking, KeyWords,
                        KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
                    ];
                /// As `RadixSegments`, by merging.
                RadixSegmentsMerge = "radix_segments_merge",
                    push SegmentsPush, memory [Segment],
                    [
                        Threads, Lanes, Mode, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
                        BeginBit, EndBit,
                    ];
                /// Copies items to the output arrays.
                RadixCopy = "radix_copy",
                    push PathPush, memory [RadixProblem, ProblemState],
                    [
                        Threads, Lanes, Mode, Bins, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout,
                        Wide,
                    ];
                /// Packs sorted keys of 8 or 16 bits.
                RadixPack = "radix_pack",
                    push PackPush, memory [RadixProblem, ProblemState, Segment],
                    [Threads, Lanes, Mode, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// Gathers large values by the source index of their keys.
                RadixPermute = "radix_permute",
                    push PermutePush, memory [RadixProblem, ProblemState, Segment],
                    [Threads, Lanes, Mode, KeyWords, KeyBits, ValueWords, Layout];
            }
            emulated {
                RadixOnesweepEmulated = "radix_onesweep_emulated", of RadixOnesweep;
                RadixOnesweepPersistentEmulated = "radix_onesweep_persistent_emulated", of RadixOnesweepPersistent;
                RadixSpineEmulated = "radix_spine_emulated", of RadixSpine;
                RadixReorderEmulated = "radix_reorder_emulated", of RadixReorder;
                RadixSegmentsEmulated = "radix_segments_emulated", of RadixSegments;
                RadixSegmentsMergeEmulated = "radix_segments_merge_emulated", of RadixSegmentsMerge;
            }
        }
    };
}

pub(crate) use {folder_kernels, folder_specialization};
