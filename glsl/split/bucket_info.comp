// Bucket information of a split: writes offsets, counts and indirect commands. Runs concurrently with the scatter pass,
// with two exceptions:
// - Reduce-then-scan with given starts: runs before the scatter pass, which reads the copy of the starts.
// - Look-back without a histogram: runs after the scatter pass, which writes the counts.
//
// In:  histogram[rows][BINS] of each problem; given bucket starts, starts[BINS]. With COUNTS_ITEMS, for few items: keys
//      or labels, and the count if it is in device memory.
// Out: offsets[BUCKETS + 1], counts[BUCKETS] and a VkDispatchIndirectCommand for each bucket, if requested; in the
//      status, whether there are items without a bucket. With given starts: histogram[BINS + 1], a copy of them and the
//      capacity of the output in items; in the status, whether an item exceeds the capacity. With COUNTS_ITEMS: the
//      whole status.
// Workgroups: one for each problem.
// Memory order: inputs come from earlier dispatches. A concurrent scatter pass writes none of this kernel's inputs and
//               reads none of its outputs. Workgroups share nothing: each has a problem of its own.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/scan.glsl"
#include "core/commands.glsl"
#ifdef COUNTS_ITEMS
#define PUSH CountingInfoPush
#define ROW CountingInfoProblem
#else
#define PUSH BucketInfoPush
#define ROW BucketInfoProblem
#endif
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#ifdef COUNTS_ITEMS
#include "radix/function.glsl"
#include "radix/keys.glsl"

PROBLEM_MEMBER(uvec2, keys)
PROBLEM_MEMBER(uvec2, labels)
PROBLEM_MEMBER(uint, key_stride)
#include "radix/input.glsl"
#include "split/redundant_histogram.glsl"
#else
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_map.glsl"
#include "split/given_starts.glsl"
#endif
#include "split/bucket_info.glsl"

layout(constant_id = SPEC_OUTPUT) const uint OUTPUT = OUTPUT_BUCKETS;

#ifdef COUNTS_ITEMS
// Counts the items of each bin. The workgroup builds its own histogram, as the scattering workgroups do.
void count_bins(uint p, out uint counts[MAX_DIGITS]) {
    enter_function(p);
    OtherItems all;
    all.problem = p;
    all.count = requested_count(p);
    all.own_first = 0;
    all.own_items = 0;
    clear_redundant_histogram();
    [[dont_unroll]] for (uint from = 0; from < all.count; from += BATCH * THREADS) {
        uint keys[BATCH];
        load_batch(all, from, keys);
        if (from == 0) barrier();
        count_batch(all, from, keys);
    }
    barrier();
    for (uint j = 0; j < DIGITS; ++j) {
        counts[j] = digit_of_thread(j) < BINS ? redundant_count(1, digit_of_thread(j)) : 0;
    }
}
#else
const uint MAX_ROWS = 16;
#include "radix/totals.glsl"
#include "radix/capacity.glsl"

// Copies the given start of a bin for the scatter pass, and reports items that exceed the capacity.
void copy_start(uint p, Words histogram, uint bin, uint count) {
    uint start = Words(problem_starts(p)).v[bin];
    uint items = problem_capacity(p);
    histogram.v[bin] = start;
    if (bin == 0) histogram.v[BINS] = items;
    if (count > room_from(start, items)) set_status(p, STATUS_OUTPUT_CLAMPED);
}

// Loads the number of items of each bin from the histogram; with given starts, also copies these.
void count_bins(uint p, out uint counts[MAX_DIGITS]) {
    // Without items, nothing has been counted.
    bool counted = resolved_count(p) != 0;
    Words histogram = histogram_of(p);
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        counts[j] = counted && bin < BINS ? total_of(histogram, bin) : 0;
        if (OUTPUT == OUTPUT_PLACED && bin < BINS && counted) copy_start(p, histogram, bin, counts[j]);
    }
}
#endif

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;

    // 1. Count the items of each bin.
    uint counts[MAX_DIGITS];
    count_bins(p, counts);

    // 2. Compute the starts of the bins, and write what the caller requests.
    uint starts[MAX_DIGITS] = counts;
    scan_digits(starts);
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        bool has_no_bucket = bin >= BUCKETS && bin < BINS && counts[j] != 0;
        if (bin < BUCKETS) write_bucket(p, 0, bin, starts[j], counts[j]);
#ifdef COUNTS_ITEMS
        if (bin == BINS - 1) write_status(p, has_no_bucket ? STATUS_NO_BUCKET : 0);
#else
        if (has_no_bucket) set_no_bucket(p);
#endif
    }
}
