//! Merges: constants, rows of problems, push constants, kernels. See src/shared.rs.

use super::interface::{
    Address, GlslType, SharedStruct, StructLayout, UserFunction, shared_constants, shared_structs, user_function,
};
use super::radix::*;
use bytemuck::{Pod, Zeroable};

shared_constants! {
    /// Bit in an index that names the source of an item: the item is one of sequence B, otherwise of A.
    const SOURCE_B = 1 << 31;
    /// Tiles of the output that a workgroup merges one after the other, in kernels that exist for comparison.
    const SECTION_TILES = 8;
    /// Offsets of segments in the output that a thread writes.
    const THREAD_OFFSETS = 16;
    /// All items of A and of B.
    const OPERATION_MERGE = 0;
    /// The items that are in A or in B.
    const OPERATION_UNION = 1;
    /// The items of A that are also in B.
    const OPERATION_INTERSECTION = 2;
    /// The items of A that are not in B.
    const OPERATION_DIFFERENCE = 3;
    /// The items that are in one sequence only.
    const OPERATION_SYMMETRIC_DIFFERENCE = 4;
    /// The items of A that are not marked, and all items of B.
    const OPERATION_UPDATE = 5;
    /// As `OPERATION_UPDATE`: an item of A is marked if its value is.
    const OPERATION_UPDATE_BY_VALUE = 6;
    /// The first item of each run of equal keys in A.
    const OPERATION_UNIQUE = 7;
    /// The sequences consist of segments, which are merged one by one.
    const OPERATION_SEGMENTS = 1 << 8;
}

shared_structs! {
    /// A merge of two sequences.
    struct MergeProblem {
        /// The keys of sequence A, or {key, value} items.
        keys_a: Address,
        /// The values of A. Of interleaved items: the first value.
        values_a: Address,
        keys_b: Address,
        values_b: Address,
        keys_out: Address,
        values_out: Address,
        /// Address of the number of items of A; null: it is `max_a`.
        count_a: Address,
        /// Address of the number of items of B; null: it is `max_count - max_a`.
        count_b: Address,
        status: Address,
        /// Address of the number of written items; may be null.
        count_out: Address,
        /// Number of items of both sequences, or its maximum.
        max_count: u32,
        /// Number of items of A, or its maximum.
        max_a: u32,
        /// Part of scratch: for each tile of the output, the number of items of A before it. For set operations, the
        /// numbers of items of A and of B before each tile.
        co_ranks: u32,
        /// Part of scratch: the state of a look-back, see glsl/core/tile_prefixes.glsl. Its aggregates are numbers of
        /// items of the result, for set operations, or of marked items, for updates.
        tile_prefixes: u32,
    }

    /// The additional parameters of merges of segments, of merges with a comparator, and of updates.
    struct MergeDetails {
        /// Address of the offsets of segments in A, one more than segments.
        offsets_a: Address,
        offsets_b: Address,
        /// Address of the offsets of segments in the output; may be null.
        offsets_out: Address,
        /// Address of the number of segments; null: it is `max_segments`.
        segment_count: Address,
        /// Number of segments, or its maximum.
        max_segments: u32,
        /// Words of `marks`.
        mark_words: u32,
        /// A bit for each item of A, or for each value.
        marks: Address,
        /// Part of scratch: for each 32 items of A, and for its end, a word with a bit for each of them, and the number
        /// of marked items before them.
        marked: u32,
        /// Number of tiles with marks, at the maximum count of A.
        mark_tiles: u32,
        /// Input of a comparator.
        user_address: Address,
        /// More input of a comparator.
        user_words: [u32; 4],
    }

    /// Push constants of merges of two sequences.
    struct MergePathPush {
        problem: MergeProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        groups: u32,
        /// Part of scratch: `MergeDetails` of each problem.
        details: u32,
    }

    /// Push constants of kernels that search for co-ranks.
    struct MergeSearchPush {
        problem: MergeProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        groups: u32,
        details: u32,
        /// Binary logarithm of the number of threads that search for the co-rank of one tile; in one dispatch, for each
        /// of its two co-ranks.
        log2_searchers: u32,
    }

    /// Push constants of merge sorts.
    struct MergePush {
        problem: RadixProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        groups: u32,
        /// Number of levels after this one. The first level sorts runs, the others merge them.
        levels_after: u32,
        /// Items of a run.
        run_items: u32,
        /// With a comparator: part of scratch, `UserInput` of each problem.
        user_inputs: u32,
    }

    /// Input of a comparator of a sort.
    struct UserInput {
        address: Address,
        words: [u32; 4],
    }
}

/// Compares two keys: `bool trm_less(KEY a, KEY b, TrmUserData data)`. The kernel is [`crate::kernels::Kernel`]'s
/// `MergeDetailedFused` with this function.
pub const COMPARATOR: UserFunction = user_function! {
    "trm_less", "merges",
    "merge/detailed_tiles.comp"
    "core/extensions.glsl" "core/memory.glsl" "core/pairs.glsl" "core/subgroup.glsl" "merge/comes_after.glsl"
    "merge/compare.glsl" "merge/details.glsl" "merge/find_tile.glsl" "merge/marks.glsl" "merge/path.glsl"
    "merge/search.glsl" "merge/segments.glsl" "merge/sequences.glsl" "merge/status.glsl" "merge/tile.glsl"
    "merge/user.glsl" "merge/user_order.glsl" "radix/keys.glsl" "radix/problem.glsl" "radix/scratch.glsl"
    "radix/user_data.glsl" "radix/user_key.glsl"
};

/// The user-defined functions of this folder.
pub(super) const USER_FUNCTIONS: &[UserFunction] = &[COMPARATOR];

/// Passes the specialization constants of this folder on to the next folder's macro. The last macro of the chain
/// declares them.
macro_rules! folder_specialization {
    ([$($next:tt)*] $($others:tt)*) => {
        $($next)*! {
            $($others)*
            /// An `OPERATION_` constant in the low byte: the result of two sequences. Above it, `OPERATION_SEGMENTS`.
            Operation = 32 as "SPEC_OPERATION" of "OPERATION_",
        }
    };
}

/// Passes the kernels of this folder on to the next folder's macro. The last macro of the chain declares them.
macro_rules! folder_kernels {
    ([$($next:tt)*] $($others:tt)*) => {
        $($next)*! {
            $($others)*
            native {
                /// Sorts a small problem, or one run of a larger problem, in one workgroup by merging.
                MergeSortRun = "merge_sort_run",
                    push MergePush, memory [RadixProblem],
                    [
                        Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit,
                        EndBit,
                    ];
                /// Finds the parts of the runs that each window of the merged output takes (merge path).
                MergePartition = "merge_partition",
                    push MergePush, memory [RadixProblem],
                    [Threads, Lanes, Mode, Tile, Fan, Step, KeyWords, ValueWords, KeyBits, Layout, BeginBit, EndBit];
                /// Merges runs: one workgroup for each window of the output.
                MergeJoin = "merge_join",
                    push MergePush, memory [RadixProblem],
                    [
                        Threads, Lanes, Mode, Items, Fan, Step, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
                        BeginBit, EndBit,
                    ];
                /// Finds the items that each tile of a merge takes from each sequence.
                MergeCoRanks = "merge_co_ranks",
                    push MergeSearchPush, memory [MergeProblem, MergeDetails],
                    [Threads, Lanes, Mode, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Operation];
                /// Finds the marked items of A, and how many of them precede each item.
                MergeMarkRanks = "merge_mark_ranks",
                    push MergePathPush, memory [MergeProblem, MergeDetails],
                    [Threads, Lanes, Mode, KeyWords, ValueWords, Layout, Operation, SpinLimit, DelayEvery];
                /// As `MergeCoRanks`, for set operations: from both sequences, with equal keys in pairs.
                MergeBalancedCoRanks = "merge_balanced_co_ranks",
                    push MergeSearchPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// Writes the items of a set operation's result: one workgroup for each tile.
                MergeSets = "merge_sets",
                    push MergePathPush, memory [MergeProblem],
                    [
                        Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Operation,
                        SpinLimit, DelayEvery,
                    ];
                /// Merges two sequences: one workgroup for each tile of the output.
                MergeTiles = "merge_tiles",
                    push MergePathPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// As `MergeTiles`, in one dispatch: each workgroup finds the items of its tile.
                MergeFused = "merge_fused",
                    push MergeSearchPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// Checks the counts of merges of more than two sequences.
                MergeStatus = "merge_status",
                    push MergePathPush, memory [MergeProblem],
                    [Threads, Lanes, Mode];
                /// As `MergeTiles`, with segments or without the marked items of A.
                MergeDetailedTiles = "merge_detailed_tiles",
                    push MergePathPush, memory [MergeProblem, MergeDetails],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Operation];
                /// As `MergeDetailedTiles`, in one dispatch: each workgroup finds the items of its tile. User-defined
                /// comparators have modules of their own, which replace this one.
                MergeDetailedFused = "merge_detailed_fused",
                    push MergeSearchPush, memory [MergeProblem, MergeDetails],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Operation];
                /// Finds the lower bound of each needle in a sorted sequence.
                MergeLowerBound = "merge_lower_bound",
                    push MergePathPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// As `MergeLowerBound`, the upper bound.
                MergeUpperBound = "merge_upper_bound",
                    push MergePathPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// Merges two sequences, for comparison: each thread merges its items in device memory.
                MergeBasic = "merge_basic",
                    push MergePathPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// Merges two sequences, for comparison: each workgroup a section, one tile after the other.
                MergeTiled = "merge_tiled",
                    push MergePathPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// As `MergeTiled`, with the items that a tile leaves kept in circular buffers.
                MergeCircularBuffer = "merge_circular_buffer",
                    push MergePathPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout];
            }
            emulated {
                MergeMarkRanksEmulated = "merge_mark_ranks_emulated", of MergeMarkRanks;
                MergeSetsEmulated = "merge_sets_emulated", of MergeSets;
            }
        }
    };
}

pub(crate) use {folder_kernels, folder_specialization};
