// Split into more buckets than a digit has values, behind its moves: what is known of the buckets.
//
// In:  labels in their order, a word each.
// Out: offsets[BUCKETS + 1], counts[BUCKETS] and a VkDispatchIndirectCommand for each bucket, where they are wanted; in the status, whether
//      there are items of no bucket.
// Groups: as many for each problem; an invocation a bucket.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/commands.glsl"
#include "sort/problem.glsl"
#include "split/tell.glsl"

// How many labels are below this one.
uint labels_below(Words labels, uint count, uint label) {
    uint below = 0;
    uint above = count;
    while (below < above) {
        uint middle = below + (above - below) / 2;
        if (labels.v[middle] < label) below = middle + 1;
        else above = middle;
    }
    return below;
}

void main() {
    uint groups = BUCKETS / THREADS + (BUCKETS % THREADS != 0 ? 1 : 0);
    uint p = linear_group() / groups;
    if (p >= args.problem_count) return;
    uint bucket = linear_group() % groups * THREADS + thread_id();
    if (bucket >= BUCKETS) return;
    uint count = resolved_count(p);
    Words labels = Words(problem_alternate_keys(p));
    uint start = labels_below(labels, count, bucket);
    uint end = labels_below(labels, count, bucket + 1);
    tell_bucket(p, bucket, start, end - start);
    if (bucket == BUCKETS - 1 && end != count) tell_strays(p);
}
