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
        RadixPrepare = "radix_prepare", [Threads, Lanes, Mode, Bins, Tile, MaxGroupsX];
        /// Computes the histograms of all digits.
        RadixHistogram = "radix_histogram", [
            Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, BeginBit, EndBit, Scan, RingEntries,
        ];
        /// Decides whether the sort goes by key prefixes.
        SortChoosePrefixPath = "sort_choose_prefix_path", [Threads, Lanes, Mode, Bins];
        /// Ranks and scatters by one digit, with decoupled look-back.
        RadixOnesweep = "radix_onesweep", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Scan, RingEntries, RingReach, Window, SpinLimit, DelayEvery, Output,
        ];
        /// As `RadixOnesweep`, with persistent workgroups: each takes one tile after the other.
        RadixOnesweepPersistent = "radix_onesweep_persistent", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, FullDigits, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide,
            Scan, RingEntries, RingReach, Window, SpinLimit, DelayEvery, Output,
        ];
        /// Counts one digit in each tile (reduce-then-scan).
        RadixCount = "radix_count", [Threads, Lanes, Mode, Bins, Function, Histograms, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// Scans the counts of one digit over the tiles.
        RadixSpine = "radix_spine", [Threads, Lanes, Mode, Bins, SegmentTile];
        /// Ranks and scatters by one digit, with scanned counts.
        RadixReorder = "radix_reorder", [
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
        MergeSortRun = "merge_sort_run", [
            Threads, Lanes, Mode, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Finds the parts of the runs that each window of the merged output takes (merge path).
        MergePartition = "merge_partition", [
            Threads, Lanes, Mode, Tile, Fan, Step, KeyWords, ValueWords, KeyBits, Layout, BeginBit, EndBit,
        ];
        /// Merges runs: one workgroup for each window of the output.
        MergeJoin = "merge_join", [
            Threads, Lanes, Mode, Items, Fan, Step, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Sorts every segment that fits a workgroup, and lists the longer ones.
        RadixSegments = "radix_segments", [
            Threads, Lanes, Mode, Bins, Function, SegmentTile, Items, Histograms, Ranking, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit,
            EndBit,
        ];
        /// As `RadixSegments`, by merging.
        RadixSegmentsMerge = "radix_segments_merge", [
            Threads, Lanes, Mode, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Copies items to the output arrays.
        RadixCopy = "radix_copy", [Threads, Lanes, Mode, Bins, SegmentTile, Tile, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide];
        /// Sorts items with equal prefixes.
        SortEqualPrefixes = "sort_equal_prefixes", [
            Threads, Lanes, Mode, Bins, SegmentTile, Items, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, BeginBit, EndBit,
        ];
        /// Packs sorted keys of 8 or 16 bits.
        RadixPack = "radix_pack", [Threads, Lanes, Mode, KeyWords, KeyBits, Encoding, ValueWords, Layout];
        /// Gathers large values by the source index of their keys.
        RadixPermute = "radix_permute", [Threads, Lanes, Mode, KeyWords, KeyBits, ValueWords, Layout];
        /// Writes the label (bucket number) of each item.
        SplitLabel = "split_label", [
            Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, ValueWords, Layout, BeginBit, EndBit,
        ];
        /// Clears the look-back state of a split that skips the histogram.
        SplitClearLookBack = "split_clear_look_back", [Threads, Lanes, Mode, Bins, SegmentTile, Scan, RingEntries, Output];
        /// Scatters few items in a single dispatch: each workgroup computes the full histogram.
        SplitSingleDispatch = "split_single_dispatch", [
            Threads, Lanes, Mode, Bins, Function, Items, Histograms, FullDigits, KeyWords, KeyBits, Encoding, ValueWords, Layout, Wide, Output,
        ];
        /// Writes bucket offsets, counts and indirect commands.
        SplitBucketInfo = "split_bucket_info", [Threads, Lanes, Mode, Bins, Buckets, Output, MaxGroupsX];
        /// As `SplitBucketInfo` for few items: computes the histogram itself.
        SplitSingleDispatchInfo = "split_single_dispatch_info", [
            Threads, Lanes, Mode, Bins, Function, Buckets, KeyWords, KeyBits, Encoding, ValueWords, Layout, MaxGroupsX,
        ];
        /// As `SplitBucketInfo` for more than 256 buckets.
        SplitBounds = "split_bounds", [Threads, Lanes, Mode, Buckets, MaxGroupsX];
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
