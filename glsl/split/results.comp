// Split, beside its move: what is known of the buckets, for whoever comes next.
//
// In:  histogram[rows][BINS] of each problem; where the caller says that bins begin, starts[BINS].
// Out: offsets[BUCKETS + 1], counts[BUCKETS] and a VkDispatchIndirectCommand for each bucket, where they are wanted; in the status, whether
//      there are items of no bucket. histogram[BINS], where the caller says that bins begin: what it says.
// Groups: one a problem.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "lib/commands.glsl"
#include "sort/problem.glsl"
#include "split/tell.glsl"

layout(constant_id = SPEC_OUTPUT) const uint OUTPUT = OUTPUT_BUCKETS;

const uint MAX_ROWS = 16;
#include "sort/totals.glsl"

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;

    // 1. Count. Where there is nothing, nothing has been counted.
    bool counted = resolved_count(p) != 0;
    Words histogram = histogram_of(p);
    uint counts[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        counts[j] = counted && bin < BINS ? total_of(histogram, bin) : 0;
    }
    uint starts[MAX_DIGITS] = counts;
    scan_digits(starts);

    // 2. Tell.
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        if (bin < BUCKETS) tell_bucket(p, 0, bin, starts[j], counts[j]);
        else if (bin < BINS && counts[j] != 0) tell_strays(p);
        if (OUTPUT == OUTPUT_PLACED && bin < BINS && counted) histogram.v[bin] = Words(starts_of(p)).v[bin];
    }
}
