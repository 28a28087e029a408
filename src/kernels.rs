//! The kernels of the library. A new primitive adds its kernels here; `VARIANTS` in each folder of glsl/ lists the sources.
//!
//! An entry names the module, the struct of its push constants, the structs that it reads or writes in memory (the rows of
//! its problems first), and its specialization constants. `tests/modules.rs` compares all of them with the module.

pub use crate::core::pipelines::Variant;

use crate::Result;
use crate::core::kernels::{inflate, kernels};
use crate::core::pipelines::MAX_CONSTANTS;
use crate::shared::{self, Constant, SharedStruct, StructLayout};
use std::ffi::CStr;

kernels! {
    native {
        /// Resolves counts, assigns tiles to problems, writes indirect arguments, clears state.
        RadixPrepare = "radix_prepare",
            push PreparePush, memory [RadixProblem, ProblemState, Segment],
            [Threads, Lanes, Mode, Bins, Tile, MaxGroupsX];
        /// Computes the histograms of all digits.
        RadixHistogram = "radix_histogram",
            push HistogramPush, memory [RadixProblem, ProblemState],
            [
                Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding,
                Layout, BeginBit, EndBit, Scan, RingEntries,
            ];
        /// Decides whether the sort goes by key prefixes.
        SortChoosePrefixPath = "sort_choose_prefix_path",
            push PathPush, memory [RadixProblem, ProblemState],
            [Threads, Lanes, Mode, Bins];
        /// Ranks and scatters by one digit, with decoupled look-back.
        RadixOnesweep = "radix_onesweep",
            push OnesweepPush, memory [RadixProblem, ProblemState],
            [
                Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords,
                KeyBits, Encoding, ValueWords, Layout, Wide, Scan, RingEntries, RingReach, Window, SpinLimit,
                DelayEvery, Output,
            ];
        /// As `RadixOnesweep`, with persistent workgroups: each takes one tile after the other.
        RadixOnesweepPersistent = "radix_onesweep_persistent",
            push OnesweepPush, memory [RadixProblem, ProblemState],
            [
                Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords,
                KeyBits, Encoding, ValueWords, Layout, Wide, Scan, RingEntries, RingReach, Window, SpinLimit,
                DelayEvery, Output,
            ];
        /// Counts one digit in each tile (reduce-then-scan).
        RadixCount = "radix_count",
            push ReorderPush, memory [RadixProblem, ProblemState],
            [
                Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding,
                ValueWords, Layout,
            ];
        /// Scans the counts of one digit over the tiles.
        RadixSpine = "radix_spine",
            push SpinePush, memory [RadixProblem, ProblemState],
            [Threads, Lanes, Mode, Bins, SegmentTile];
        /// Ranks and scatters by one digit, with scanned counts.
        RadixReorder = "radix_reorder",
            push ReorderPush, memory [RadixProblem, ProblemState],
            [
                Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords,
                KeyBits, Encoding, ValueWords, Layout, Wide, Output,
            ];
        /// Sorts a small problem with all workgroups: each item is compared with all others.
        SortRank = "sort_rank",
            push RankPush, memory [],
            [
                Threads, Lanes, Mode, Items, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit,
                EndBit,
            ];
        /// Sorts a small problem in one workgroup, digit by digit.
        SortSmall = "sort_small",
            push SmallPush, memory [RadixProblem],
            [
                Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding,
                ValueWords, Layout, Wide, BeginBit, EndBit,
            ];
        /// Sorts a small problem in one workgroup, by buckets of equal key ranges; digit by digit if a bucket is too
        /// full.
        SortBuckets = "sort_buckets",
            push SmallPush, memory [RadixProblem],
            [
                Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding,
                ValueWords, Layout, Wide, BeginBit, EndBit,
            ];
        /// Sorts a small problem, or one run of a larger problem, in one workgroup by merging.
        MergeSortRun = "merge_sort_run",
            push MergePush, memory [RadixProblem],
            [Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit];
        /// Finds the parts of the runs that each window of the merged output takes (merge path).
        MergePartition = "merge_partition",
            push MergePush, memory [RadixProblem],
            [Threads, Lanes, Mode, Tile, Fan, Step, KeyWords, ValueWords, KeyBits, Layout, BeginBit, EndBit];
        /// Merges runs: one workgroup for each window of the output.
        MergeJoin = "merge_join",
            push MergePush, memory [RadixProblem],
            [
                Threads, Lanes, Mode, Items, Fan, Step, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit,
                EndBit,
            ];
        /// Sorts every segment that fits a workgroup, and lists the longer ones.
        RadixSegments = "radix_segments",
            push SegmentsPush, memory [Segment],
            [
                Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, Ranking, KeyWords, KeyBits,
                Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
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
            [Threads, Lanes, Mode, Bins, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide];
        /// Sorts items with equal prefixes.
        SortEqualPrefixes = "sort_equal_prefixes",
            push PathPush, memory [RadixProblem, ProblemState],
            [
                Threads, Lanes, Mode, Bins, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit,
                EndBit,
            ];
        /// Packs sorted keys of 8 or 16 bits.
        RadixPack = "radix_pack",
            push PackPush, memory [RadixProblem, ProblemState, Segment],
            [Threads, Lanes, Mode, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// Gathers large values by the source index of their keys.
        RadixPermute = "radix_permute",
            push PermutePush, memory [RadixProblem, ProblemState, Segment],
            [Threads, Lanes, Mode, KeyWords, KeyBits, ValueWords, Layout];
        /// Writes the label (bucket number) of each item.
        SplitLabel = "split_label",
            push LabelPush, memory [LabelProblem, ProblemState],
            [Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, Layout, BeginBit, EndBit];
        /// Clears the look-back state of a split that skips the histogram.
        SplitClearLookBack = "split_clear_look_back",
            push ClearLookBackPush, memory [BucketInfoProblem, ProblemState],
            [Threads, Lanes, Mode, Bins, SegmentTile, Scan, RingEntries, Output];
        /// Scatters few items in a single dispatch: each workgroup computes the full histogram.
        SplitSingleDispatch = "split_single_dispatch",
            push SingleDispatchPush, memory [RadixProblem],
            [
                Threads, Lanes, Mode, Bins, Function, Items, Histograms, FullDigits, KeyWords, KeyBits, Encoding,
                ValueWords, Layout, Wide, Output,
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
        RadixOnesweepEmulated = "radix_onesweep_emulated", of RadixOnesweep;
        RadixOnesweepPersistentEmulated = "radix_onesweep_persistent_emulated", of RadixOnesweepPersistent;
        RadixSpineEmulated = "radix_spine_emulated", of RadixSpine;
        RadixReorderEmulated = "radix_reorder_emulated", of RadixReorder;
        SortSmallEmulated = "sort_small_emulated", of SortSmall;
        SortBucketsEmulated = "sort_buckets_emulated", of SortBuckets;
        RadixSegmentsEmulated = "radix_segments_emulated", of RadixSegments;
        RadixSegmentsMergeEmulated = "radix_segments_merge_emulated", of RadixSegmentsMerge;
        SplitSingleDispatchEmulated = "split_single_dispatch_emulated", of SplitSingleDispatch;
        SplitBucketInfoEmulated = "split_bucket_info_emulated", of SplitBucketInfo;
        SplitSingleDispatchInfoEmulated = "split_single_dispatch_info_emulated", of SplitSingleDispatchInfo;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_spirv_1_6() {
        for kernel in Kernel::ALL {
            let words = kernel.spirv().unwrap();
            assert_eq!(words[0], 0x0723_0203, "{} is not SPIR-V", kernel.name());
            assert_eq!(words[1], 0x0001_0600, "{} is not version 1.6: gl_SubgroupSize would lie", kernel.name());
        }
    }
}
