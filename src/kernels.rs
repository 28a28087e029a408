//! The kernels of the library. A new primitive adds its kernels here; `glsl/VARIANTS` lists the sources of each module.

pub use crate::core::pipelines::Variant;

use crate::Result;
use crate::core::kernels::{inflate, kernels};
use crate::core::pipelines::MAX_CONSTANTS;
use crate::shared::Constant;
use std::ffi::CStr;

kernels! {
    native {
        /// Resolves counts, assigns tiles to problems, writes indirect arguments, clears state.
        SortPrepare = "sort_prepare", [Threads, Lanes, Mode, Bins, Tile, MaxGroupsX];
        /// Computes the histograms of all digits.
        SortHistogram = "sort_histogram", [
            Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, BeginBit, EndBit, Scan, RingEntries,
        ];
        /// Decides whether the sort goes by key prefixes.
        SortChoose = "sort_choose", [Threads, Lanes, Mode, Bins];
        /// Ranks and scatters by one digit, with decoupled look-back.
        SortOnesweep = "sort_onesweep", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Scan, RingEntries, RingReach, Window, SpinLimit, DelayEvery, Output,
        ];
        /// As `SortOnesweep`, with persistent workgroups: each takes one tile after the other.
        SortOnesweepPersistent = "sort_onesweep_persistent", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Scan, RingEntries, RingReach, Window, SpinLimit, DelayEvery, Output,
        ];
        /// Counts one digit in each tile (reduce-then-scan).
        SortCount = "sort_count", [Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// Scans the counts of one digit over the tiles.
        SortSpine = "sort_spine", [Threads, Lanes, Mode, Bins, SegmentTile];
        /// Ranks and scatters by one digit, with scanned counts.
        SortReorder = "sort_reorder", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Output,
        ];
        /// Sorts a small problem with all workgroups: each item is compared with all others.
        SortRank = "sort_rank", [
            Threads, Lanes, Mode, Items, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Sorts a small problem in one workgroup, digit by digit.
        SortSmall = "sort_small", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Sorts a small problem in one workgroup, by buckets of equal key ranges; digit by digit if a bucket is too
        /// full.
        SortBuckets = "sort_buckets", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Sorts a small problem, or one run of a larger problem, in one workgroup by merging.
        SortMerge = "sort_merge", [
            Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Finds the parts of the runs that each window of the merged output takes (merge path).
        SortPartition = "sort_partition", [
            Threads, Lanes, Mode, Tile, Fan, Step, KeyWords, ValueWords, KeyBits, Layout, BeginBit, EndBit,
        ];
        /// Merges runs: one workgroup for each window of the output.
        SortJoin = "sort_join", [
            Threads, Lanes, Mode, Items, Fan, Step, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Sorts every segment that fits a workgroup, and lists the longer ones.
        SortSegments = "sort_segments", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit,
            EndBit,
        ];
        /// As `SortSegments`, by merging.
        SortSegmentsMerge = "sort_segments_merge", [
            Threads, Lanes, Mode, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Copies items to the output arrays.
        SortCopy = "sort_copy", [Threads, Lanes, Mode, Bins, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide];
        /// Sorts items with equal prefixes.
        SortFinish = "sort_finish", [
            Threads, Lanes, Mode, Bins, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Packs sorted keys of 8 or 16 bits.
        SortPack = "sort_pack", [Threads, Lanes, Mode, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// Gathers large values by the source index of their keys.
        SortPermute = "sort_permute", [Threads, Lanes, Mode, KeyWords, KeyBits, ValueWords, Layout];
        /// Writes the label (bucket number) of each item.
        SplitLabel = "split_label", [
            Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, ValueWords, Layout, BeginBit, EndBit,
        ];
        /// Clears the look-back state of a split that skips the histogram.
        SplitBegin = "split_begin", [Threads, Lanes, Mode, Bins, SegmentTile, Scan, RingEntries, Output];
        /// Scatters few items in a single dispatch: each workgroup computes the full histogram.
        SplitSmall = "split_small", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, FullDigits, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, Output,
        ];
        /// Writes bucket offsets, counts and indirect commands.
        SplitResults = "split_results", [Threads, Lanes, Mode, Bins, Buckets, Output, MaxGroupsX];
        /// As `SplitResults` for few items: computes the histogram itself.
        SplitSmallResults = "split_small_results", [
            Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, ValueWords, Layout, MaxGroupsX,
        ];
        /// As `SplitResults` for more than 256 buckets.
        SplitBounds = "split_bounds", [Threads, Lanes, Mode, Buckets, MaxGroupsX];
    }
    emulated {
        SortOnesweepEmulated = "sort_onesweep_emulated", of SortOnesweep;
        SortOnesweepPersistentEmulated = "sort_onesweep_persistent_emulated", of SortOnesweepPersistent;
        SortSpineEmulated = "sort_spine_emulated", of SortSpine;
        SortReorderEmulated = "sort_reorder_emulated", of SortReorder;
        SortSmallEmulated = "sort_small_emulated", of SortSmall;
        SortBucketsEmulated = "sort_buckets_emulated", of SortBuckets;
        SortSegmentsEmulated = "sort_segments_emulated", of SortSegments;
        SortSegmentsMergeEmulated = "sort_segments_merge_emulated", of SortSegmentsMerge;
        SplitSmallEmulated = "split_small_emulated", of SplitSmall;
        SplitResultsEmulated = "split_results_emulated", of SplitResults;
        SplitSmallResultsEmulated = "split_small_results_emulated", of SplitSmallResults;
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
