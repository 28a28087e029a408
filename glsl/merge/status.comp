// The status of merges of more than two sequences, which are carried out as merges of two: whether any count exceeds
// its maximum.
//
// In:  problems: a row for each two sequences of a merge, with their counts. The first row of a merge has the address
//      of its status, the others have none. Counts in device memory.
// Out: the statuses.
// Workgroups: args.groups, with an invocation for each row. That of a merge's first row reads all rows of the merge and
//             writes its status; the others return.
// Memory order: inputs come from earlier commands; no workgroup accesses memory that another one writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH MergePathPush
#define ROW MergeProblem
#include "radix/problem.glsl"

PROBLEM_MEMBER(uvec2, count_a)
PROBLEM_MEMBER(uvec2, count_b)
PROBLEM_MEMBER(uint, max_a)
#include "merge/status.glsl"

// Returns whether a count of a row exceeds its maximum.
bool exceeds_maximum(uint row) {
    uint most_a = problem_max_a(row);
    uint most_b = problem_max_count(row) - most_a;
    return is_clamped(problem_count_a(row), most_a) || is_clamped(problem_count_b(row), most_b);
}

void main() {
    uint first = linear_group() * THREADS + thread_id();
    if (first >= args.problem_count) return;
    uvec2 status = problem_status(first);
    if (is_null(status)) return;
    bool clamped = false;
    uint row = first;
    do {
        clamped = clamped || exceeds_maximum(row);
        ++row;
    } while (row < args.problem_count && is_null(problem_status(row)));
    Words(status).v[0] = clamped ? STATUS_COUNT_CLAMPED : 0;
}
