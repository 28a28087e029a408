// Bucket information of splits with more than 256 buckets or with segments, after the scatter passes.
//
// In:  sorted labels, one word each; for segments, their offsets and their number if it is in device memory.
// Out: offsets[BUCKETS + 1], counts[BUCKETS] and a VkDispatchIndirectCommand for each bucket, if requested, for each
//      segment; in the status, whether there are items without a bucket.
// Workgroups: the same number for each problem; one invocation for each bucket. With segments, any number: each
//             invocation takes one bucket after the other.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/commands.glsl"
#define PUSH BoundsPush
#define ROW BucketInfoProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#include "radix/tile_map.glsl"
#include "radix/segment_offsets.glsl"
#include "split/bucket_info.glsl"

PROBLEM_MEMBER(uvec2, labels)

// Returns the index of the first label from `first` on that is not less than this one (lower bound).
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
    Words labels = Words(problem_labels(p));
    uint start = labels_below(labels, first, end, bucket);
    uint last = labels_below(labels, start, end, bucket + 1);
    tell_bucket(p, segment, bucket, start, last - start);
    if (bucket == BUCKETS - 1 && last != end) tell_strays(p);
}

// Buckets of segments beyond the count are empty, after all others.
void tell_segment(uint segment, uint segments, uint bucket) {
    uint first = begin_of(min(segment, segments));
    uint end = segment < segments ? begin_of(segment + 1) : first;
    tell(0, segment, bucket, first, max(first, end));
}

// If nothing else is requested: items without a bucket are the last of their segment.
void tell_strays_of(uint segment, uint segments) {
    uint end = segment < segments ? begin_of(segment + 1) : 0;
    if (end > begin_of(segment) && Words(problem_labels(0)).v[end - 1] == BUCKETS) tell_strays(0);
}

// The number of segments, and of all their buckets if information is requested, is less than 2^30: the host has
// checked.
void tell_segments() {
    uint segments = told_segments();
    bool tells = !is_null(problem_offsets(0)) || !is_null(problem_counts(0)) || !is_null(problem_commands(0));
    uint all = tells ? args.segments.max_count * BUCKETS : args.segments.max_count;
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
