// Bucket information of splits with more than 256 buckets or with segments, after the scatter passes.
//
// In:  sorted labels, one word each; for segments, their offsets and their number if it is in device memory.
// Out: offsets[BUCKETS + 1], counts[BUCKETS] and a VkDispatchIndirectCommand for each bucket, if requested, for each
//      segment; in the status, whether there are items without a bucket.
// Workgroups: the same number for each problem; one invocation for each bucket. With segments, any number: each
//             invocation takes one bucket after the other.
// Memory order: inputs come from earlier dispatches. Invocations set the status by relaxed atomics; each other word of
//               the output belongs to one invocation.
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

// Returns the index of the first label in [first, end) that is not less than `label` (lower bound).
uint lower_bound(Words labels, uint first, uint end, uint label) {
    uint low = first;
    uint high = end;
    while (low < high) {
        uint middle = low + (high - low) / 2;
        if (labels.v[middle] < label) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Finds the labels of a bucket among labels [first, end) and writes its information.
void find_bucket(uint p, uint segment, uint bucket, uint first, uint end) {
    Words labels = Words(problem_labels(p));
    uint start = lower_bound(labels, first, end, bucket);
    uint last = lower_bound(labels, start, end, bucket + 1);
    write_bucket(p, segment, bucket, start, last - start);
    if (bucket == BUCKETS - 1 && last != end) set_no_bucket(p);
}

// The same for a bucket of a segment. Segments beyond the actual number have empty buckets, which begin after all items
// of the others.
void find_bucket_of_segment(uint segment, uint segments, uint bucket) {
    uint first = segment_begin(min(segment, segments));
    uint end = segment < segments ? segment_begin(segment + 1) : first;
    find_bucket(0, segment, bucket, first, max(first, end));
}

// Checks only whether a segment has items without a bucket: such items are the last ones of their segment.
void find_items_without_bucket(uint segment, uint segments) {
    uint end = segment < segments ? segment_begin(segment + 1) : 0;
    if (end > segment_begin(segment) && Words(problem_labels(0)).v[end - 1] == BUCKETS) set_no_bucket(0);
}

// Writes the information of all buckets of all segments. If none is requested, only checks for items without a bucket.
// No index overflows: the host has checked that segments, and their buckets if requested, number less than 2^30.
void find_buckets_of_segments() {
    uint segments = segment_count();
    bool writes = !is_null(problem_offsets(0)) || !is_null(problem_counts(0)) || !is_null(problem_commands(0));
    uint all = writes ? args.segments.max_count * BUCKETS : args.segments.max_count;
    uint step = gl_NumWorkGroups.x * gl_NumWorkGroups.y * THREADS;
    for (uint i = linear_group() * THREADS + thread_id(); i < all; i += step) {
        if (writes) find_bucket_of_segment(i / BUCKETS, segments, i % BUCKETS);
        else find_items_without_bucket(i, segments);
    }
}

void main() {
    // 1. With segments: each invocation takes one bucket after the other.
    if (SEGMENTS) {
        find_buckets_of_segments();
        return;
    }

    // 2. Otherwise: each invocation takes one bucket.
    uint groups = BUCKETS / THREADS + (BUCKETS % THREADS != 0 ? 1 : 0);
    uint p = linear_group() / groups;
    if (p >= args.problem_count) return;
    uint bucket = linear_group() % groups * THREADS + thread_id();
    if (bucket < BUCKETS) find_bucket(p, 0, bucket, 0, resolved_count(p));
}
