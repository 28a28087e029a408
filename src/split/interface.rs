//! Kernels of splits, their constants, rows of problems and push constants. See src/shared.rs.

use super::interface::{
    Address, GlslType, SharedStruct, StructLayout, UserFunction, shared_constants, shared_structs, user_function,
};
use super::radix::*;
use bytemuck::{Pod, Zeroable};

shared_constants! {
    // Further `FUNCTION_` constants: the first are in src/radix/interface.rs.
    /// Labels only: a key's bin is the number of splitters less than or equal to it.
    const FUNCTION_SPLITTERS = 3;
    /// Labels only: the uppermost bit of each of the key's words, the first word's bit the lowest.
    const FUNCTION_SIGNS = 4;
    /// Labels only: a user-defined function.
    const FUNCTION_USER = 5;
    /// Maximum number of words of splitters in the shared memory of a workgroup.
    const SPLITTERS_KEPT = 3072;
}

shared_structs! {
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
        /// The array that the bucket function reads, with an input for each item.
        inputs: Address,
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
        /// Distance of neighbors in `inputs`, in words, or in bytes if they are narrower.
        input_stride: u32,
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

/// Maps an item to its bucket: `uint trm_bucket(KEY key, uint index, TrmUserData data)`.
pub const BUCKET_FUNCTION: UserFunction = user_function! {
    "trm_bucket", "splits",
    "split/label.comp"
    "core/extensions.glsl" "core/memory.glsl" "core/subgroup.glsl" "radix/bins.glsl" "radix/counts.glsl"
    "radix/input.glsl" "radix/keys.glsl" "radix/problem.glsl" "radix/scratch.glsl" "radix/segment_offsets.glsl"
    "radix/share.glsl" "radix/tile_map.glsl" "radix/user_data.glsl" "radix/user_key.glsl" "split/functions.glsl"
    "split/user.glsl"
};

/// The user-defined functions of this folder.
pub(super) const USER_FUNCTIONS: &[UserFunction] = &[BUCKET_FUNCTION];

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
                /// Writes the label (bucket number) of each item.
                SplitLabel = "split_label",
                    push LabelPush, memory [LabelProblem, ProblemState],
                    [
                        Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, Layout, BeginBit,
                        EndBit,
                    ];
                /// Clears the look-back state of a split that skips the histogram.
                SplitClearLookBack = "split_clear_look_back",
                    push ClearLookBackPush, memory [BucketInfoProblem, ProblemState],
                    [Threads, Lanes, Mode, Bins, SegmentTile, Scan, RingEntries, Output];
                /// Scatters few items in a single dispatch: each workgroup computes the full histogram.
                SplitSingleDispatch = "split_single_dispatch",
                    push SingleDispatchPush, memory [RadixProblem],
                    [
                        Threads, Lanes, Mode, Bins, Function, Items, Histograms, FullDigits, KeyWords, KeyBits,
                        Encoding, ValueWords, Layout, Wide, Output,
                    ];
                /// Writes bucket offsets, counts and indirect commands.
                SplitBucketInfo = "split_bucket_info",
                    push BucketInfoPush, memory [BucketInfoProblem, ProblemState],
                    [Threads, Lanes, Mode, Bins, Buckets, Output, MaxGroupsX];
                /// As `SplitBucketInfo` for few items: computes the histogram itself.
                SplitSingleDispatchInfo = "split_single_dispatch_info",
                    push CountingInfoPush, memory [CountingInfoProblem],
                    [Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, Layout, MaxGroupsX];
                /// As `SplitBucketInfo` for more than 256 buckets.
                SplitBounds = "split_bounds",
                    push BoundsPush, memory [BucketInfoProblem, ProblemState],
                    [Threads, Lanes, Mode, Buckets, MaxGroupsX];
            }
            emulated {
                SplitSingleDispatchEmulated = "split_single_dispatch_emulated", of SplitSingleDispatch;
                SplitBucketInfoEmulated = "split_bucket_info_emulated", of SplitBucketInfo;
                SplitSingleDispatchInfoEmulated = "split_single_dispatch_info_emulated", of SplitSingleDispatchInfo;
            }
        }
    };
}

pub(crate) use {folder_kernels, folder_specialization};
