//! Every kernel of the library. A primitive adds its own here; what a module is compiled from is in `glsl/VARIANTS`.

pub use crate::core::pipelines::Variant;

use crate::Result;
use crate::core::kernels::{inflate, kernels};
use crate::core::pipelines::MAX_CONSTANTS;
use crate::shared::Constant;
use std::ffi::CStr;

kernels! {
    native {
        /// Resolves counts, lays out tiles, writes indirect arguments, clears.
        SortPrepare = "sort_prepare", [Threads, Lanes, Mode, Bins, MaxGroupsX];
        /// Histograms of all digits.
        SortHistogram = "sort_histogram", [
            Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, KeyWords, KeyBits, Encoding, ValueWords, Layout, BeginBit, EndBit, Scan, RingEntries,
        ];
        /// Whether to sort by prefixes.
        SortChoose = "sort_choose", [Threads, Lanes, Mode, Bins];
        /// One digit, by look-back.
        SortOnesweep = "sort_onesweep", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Scan, RingEntries, RingReach, Window, SpinLimit, DelayEvery, Output,
        ];
        /// The same by workgroups that take one tile after the other.
        SortOnesweepPersistent = "sort_onesweep_persistent", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Scan, RingEntries, RingReach, Window, SpinLimit, DelayEvery, Output,
        ];
        /// One digit's counts a tile.
        SortCount = "sort_count", [Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// One digit's sums over the tiles.
        SortSpine = "sort_spine", [Threads, Lanes, Mode, Bins, SegmentTile];
        /// One digit, to the places that the sums tell.
        SortReorder = "sort_reorder", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Output,
        ];
        /// A whole problem by all workgroups, each of which compares its items with all of them.
        SortRank = "sort_rank", [
            Threads, Lanes, Mode, Items, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// A whole problem in one workgroup, digit by digit.
        SortSmall = "sort_small", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// The same by buckets, where keys are spread well enough.
        SortBuckets = "sort_buckets", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// A whole problem in one workgroup, by merging; or a run of one.
        SortMerge = "sort_merge", [
            Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Where windows of runs begin once they are merged.
        SortPartition = "sort_partition", [
            Threads, Lanes, Mode, Tile, Fan, Step, KeyWords, ValueWords, KeyBits, Layout, BeginBit, EndBit,
        ];
        /// Runs merged, a window in one workgroup.
        SortJoin = "sort_join", [
            Threads, Lanes, Mode, Items, Fan, Step, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Every segment that fits a workgroup, and where the others lie.
        SortSegments = "sort_segments", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit,
            EndBit,
        ];
        /// The same by merging.
        SortSegmentsMerge = "sort_segments_merge", [
            Threads, Lanes, Mode, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Items to where they are wanted.
        SortCopy = "sort_copy", [Threads, Lanes, Mode, Bins, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide];
        /// Keys of the same prefix.
        SortFinish = "sort_finish", [
            Threads, Lanes, Mode, Bins, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Sorted keys to the bytes or halves that they are.
        SortPack = "sort_pack", [Threads, Lanes, Mode, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// Values to the places of their keys.
        SortPermute = "sort_permute", [Threads, Lanes, Mode, KeyWords, KeyBits, ValueWords, Layout];
        /// Which bucket each item goes to.
        SplitLabel = "split_label", [
            Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, ValueWords, Layout, BeginBit, EndBit,
        ];
        /// What tiles of a split meet in, cleared, where nobody counts keys before.
        SplitBegin = "split_begin", [Threads, Lanes, Mode, Bins, SegmentTile, Scan, RingEntries, Output];
        /// Few items to their buckets, by tiles each of which counts all.
        SplitSmall = "split_small", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, FullDigits, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, Output,
        ];
        /// What is known of the buckets of a split.
        SplitResults = "split_results", [Threads, Lanes, Mode, Bins, Buckets, Output, MaxGroupsX];
        /// The same of few items, which are counted for it.
        SplitSmallResults = "split_small_results", [
            Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, ValueWords, Layout, MaxGroupsX,
        ];
        /// The same of more buckets than a digit has values.
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
