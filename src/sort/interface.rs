//! Kernels of sorts, their constants and push constants. See src/shared.rs.

use super::interface::{
    Address, GlslType, SharedStruct, StructLayout, UserFunction, shared_constants, shared_structs, user_function,
};
use super::radix::*;
use bytemuck::{Pod, Zeroable};

shared_constants! {
    /// Items on either side of a tile that the sort of equal prefixes keeps in shared memory.
    const FINISH_MARGIN = 32;
    /// Maximum number of steps for each key in the sort of equal prefixes. Beyond it, passes over every digit are as
    /// fast.
    const MOST_STEPS = 24;
}

shared_structs! {
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
}

/// Compares two keys: `bool trm_less(KEY a, KEY b, TrmUserData data)`. The module has the kernels of merge sorts:
/// [`crate::kernels::Kernel`]'s `MergeSortRun`, `MergePartition` and `MergeJoin`, with this function.
pub const SORT_COMPARATOR: UserFunction = user_function! {
    "trm_less", "sorts",
    "merge/user_sort.comp"
    "core/extensions.glsl" "core/memory.glsl" "core/subgroup.glsl" "merge/comes_after.glsl" "merge/compare.glsl"
    "merge/join.glsl" "merge/levels.glsl" "merge/merged.glsl" "merge/merging.glsl" "merge/partition.glsl"
    "merge/path.glsl" "merge/sort_run.glsl" "merge/user.glsl" "merge/user_order.glsl" "merge/windows.glsl"
    "radix/bins.glsl" "radix/counts.glsl" "radix/input.glsl" "radix/keys.glsl" "radix/pass_io.glsl"
    "radix/planes.glsl" "radix/problem.glsl" "radix/scratch.glsl" "radix/status.glsl" "radix/tile_words.glsl"
    "radix/user_data.glsl" "radix/user_key.glsl" "radix/whole.glsl"
};

/// The user-defined functions of this folder.
pub(super) const USER_FUNCTIONS: &[UserFunction] = &[SORT_COMPARATOR];

/// Passes the specialization constants of this folder on to the next folder's macro. The last macro of the chain
/// declares them.
macro_rules! folder_specialization {
    ([$($next:tt)*] $($others:tt)*) => {
        $($next)*! {
            $($others)*
        }
    };
}

/// Passes the kernels of this folder on to the next folder's macro. The last macro of the chain declares them.
macro_rules! folder_kernels {
    ([$($next:tt)*] $($others:tt)*) => {
        $($next)*! {
            $($others)*
            native {
                /// Decides whether the sort goes by key prefixes.
                SortChoosePrefixPath = "sort_choose_prefix_path",
                    push PathPush, memory [RadixProblem, ProblemState],
                    [Threads, Lanes, Mode, Bins];
                /// Sorts a small problem with all workgroups: each item is compared with all others.
                SortRank = "sort_rank",
                    push RankPush, memory [],
                    [
                        Threads, Lanes, Mode, Items, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
                        BeginBit, EndBit,
                    ];
                /// Sorts a small problem in one workgroup, digit by digit.
                SortSmall = "sort_small",
                    push SmallPush, memory [RadixProblem],
                    [
                        Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding,
                        ValueWords, Layout, Wide, BeginBit, EndBit,
                    ];
                /// Sorts a small problem in one workgroup, by buckets of equal key ranges; digit by digit if a bucket
                /// is too
                /// full.
                SortBuckets = "sort_buckets",
                    push SmallPush, memory [RadixProblem],
                    [
                        Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding,
                        ValueWords, Layout, Wide, BeginBit, EndBit,
                    ];
                /// Sorts items with equal prefixes.
                SortEqualPrefixes = "sort_equal_prefixes",
                    push PathPush, memory [RadixProblem, ProblemState],
                    [
                        Threads, Lanes, Mode, Bins, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
                        BeginBit, EndBit,
                    ];
            }
            emulated {
                SortSmallEmulated = "sort_small_emulated", of SortSmall;
                SortBucketsEmulated = "sort_buckets_emulated", of SortBuckets;
            }
        }
    };
}

pub(crate) use {folder_kernels, folder_specialization};
