// Split into more buckets than a digit has values, or of segments, behind its moves: what is known of the buckets.
//
// In:  labels in their order, a word each; of segments, their offsets and their number, where it lies on the device.
// Out: offsets[BUCKETS + 1], counts[BUCKETS] and a VkDispatchIndirectCommand for each bucket, where they are wanted, of segments as many for
//      each; in the status, whether there are items of no bucket.
// Groups: as many for each problem; an invocation a bucket. Of segments any number, each of which takes one bucket after the other.
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
#include "sort/cuts.glsl"
#include "split/tell.glsl"

// Where the first label from `first` on lies that is not below this one.
uint labels_below(Words labels, uint first, uint end, uint label) {
    uint below = first;
    uint above = end;
    while (below < above) {
        uint middle = below + (above - below) / 2;
        if (labels.v[middle] < label) below = middle + 1;
        else above = middle;
    }
    return below;
}

void tell(uint p, uint segment, uint bucket, uint first, uint end) {
    Words labels = Words(problem_alternate_keys(p));
    uint start = labels_below(labels, first, end, bucket);
    uint last = labels_below(labels, start, end, bucket + 1);
    tell_bucket(p, segment, bucket, start, last - start);
    if (bucket == BUCKETS - 1 && last != end) tell_strays(p);
}

// What there is not is told to be empty, behind all others.
void tell_segment(uint segment, uint segments, uint bucket) {
    uint first = begin_of(min(segment, segments));
    uint end = segment < segments ? begin_of(segment + 1) : first;
    tell(0, segment, bucket, first, max(first, end));
}

// Where nobody asks for more: items of no bucket are the last of their segment.
void tell_strays_of(uint segment, uint segments) {
    uint end = segment < segments ? begin_of(segment + 1) : 0;
    if (end > begin_of(segment) && Words(problem_alternate_keys(0)).v[end - 1] == BUCKETS) tell_strays(0);
}

// Segments and, where anything is told of their buckets, these are fewer than 2^30, as has been checked.
void tell_segments() {
    uint segments = told_segments();
    bool tells = !is_null(offsets_of(0)) || !is_null(counts_of(0)) || !is_null(commands_of(0));
    uint all = tells ? args.chunk * BUCKETS : args.chunk;
    uint step = gl_NumWorkGroups.x * gl_NumWorkGroups.y * THREADS;
    for (uint i = linear_group() * THREADS + thread_id(); i < all; i += step) {
        if (tells) tell_segment(i / BUCKETS, segments, i % BUCKETS);
        else tell_strays_of(i, segments);
    }
}

void main() {
    if (SEGMENTS) {
        tell_segments();
        return;
    }
    uint groups = BUCKETS / THREADS + (BUCKETS % THREADS != 0 ? 1 : 0);
    uint p = linear_group() / groups;
    if (p >= args.problem_count) return;
    uint bucket = linear_group() % groups * THREADS + thread_id();
    if (bucket < BUCKETS) tell(p, 0, bucket, 0, resolved_count(p));
}
