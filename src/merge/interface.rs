//! Merges of sorted runs: push constants, kernels. See src/shared.rs.

use super::interface::{Address, GlslType, SharedStruct, StructLayout, shared_constants, shared_structs};
use super::radix::*;
use bytemuck::{Pod, Zeroable};

shared_constants! {}

shared_structs! {
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
            }
            emulated {}
        }
    };
}

pub(crate) use folder_kernels;
