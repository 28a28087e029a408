//! Merges: constants, rows of problems, push constants, kernels. See src/shared.rs.

use super::interface::{Address, GlslType, SharedStruct, StructLayout, shared_constants, shared_structs};
use super::radix::*;
use bytemuck::{Pod, Zeroable};

shared_constants! {
    /// Bit in an index that names the source of an item: the item is one of sequence B, otherwise of A.
    const SOURCE_B = 1 << 31;
    /// Tiles of the output that a workgroup merges one after the other, in kernels that exist for comparison.
    const SECTION_TILES = 8;
    /// The items that are in A or in B.
    const OPERATION_UNION = 0;
    /// The items of A that are also in B.
    const OPERATION_INTERSECTION = 1;
    /// The items of A that are not in B.
    const OPERATION_DIFFERENCE = 2;
    /// The items that are in one sequence only.
    const OPERATION_SYMMETRIC_DIFFERENCE = 3;
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
        /// Part of scratch, for set operations: the number of tiles taken, and the prefix of each tile's number of
        /// items of the result. See glsl/core/tile_prefixes.glsl.
        tile_prefixes: u32,
    }

    /// Push constants of merges of two sequences.
    struct MergePathPush {
        problem: MergeProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        groups: u32,
    }

    /// Push constants of the search for co-ranks.
    struct MergeCoRanksPush {
        problem: MergeProblem,
        scratch: Address,
        problems: u32,
        problem_count: u32,
        groups: u32,
        /// Threads that search for one co-rank.
        searchers: u32,
    }

    /// Push constants of merge sorts.
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
                    push MergeCoRanksPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout];
                /// As `MergeCoRanks`, for set operations: from both sequences, with equal keys in pairs.
                MergeBalancedCoRanks = "merge_balanced_co_ranks",
                    push MergeCoRanksPush, memory [MergeProblem],
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
                    push MergePathPush, memory [MergeProblem],
                    [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout];
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
                MergeSetsEmulated = "merge_sets_emulated", of MergeSets;
            }
        }
    };
}

pub(crate) use folder_kernels;
