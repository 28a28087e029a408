// Small sort: one workgroup sorts a whole problem in shared memory, with one read and one write. It sorts digit by
// digit. With BUCKETS, it sorts by buckets if the keys are spread evenly enough, and otherwise digit by digit.
//
// In:  keys (and values), the count if it is in device memory.
// Out: sorted keys (and values); the status of the problem.
// Workgroups: one for each problem.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes. If the arrays are
//               sorted in place, a barrier separates reads from writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/scan.glsl"
#include "radix/keys.glsl"
#include "core/counters.glsl"
#define PUSH SmallPush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#include "radix/pass_io.glsl"
#include "radix/planes.glsl"
#ifdef BUCKETS
#define LEAST_COUNTERS (TILE + 1)
#endif
#include "radix/tile.glsl"
#include "radix/whole.glsl"
#include "radix/order.glsl"
#ifdef BUCKETS
#include "core/scan_threads.glsl"
#include "merge/compare.glsl"
#include "sort/buckets.glsl"
#endif

void main() {
    // 1. Find the problem of this workgroup, and write its status.
    uint p = linear_group();
    if (p >= args.problem_count) return;
    uint count = requested_count(p);
    if (thread_id() == 0) write_status(p);
    if (count == 0) return;

    // 2. Sort it by buckets if that suits the keys, otherwise by digits.
    Part part = whole_problem(p, count);
    PassIo io = input_to_output();
#ifdef BUCKETS
    if (sort_by_buckets(part, io)) return;
#endif
    sort_part(part, io, digit_count(BEGIN_BIT, END_BIT));
}
