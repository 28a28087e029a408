// Small sort: one workgroup sorts a whole problem in shared memory, digit by digit, with one read and one write. With
//             BUCKETS: by buckets if the keys are spread evenly enough, otherwise digit by digit.
//
// In:  keys (and values), the count if it is in device memory.
// Out: sorted keys (and values); the status of the problem.
// Workgroups: one for each problem.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "lib/keys.glsl"
#include "lib/counters.glsl"
#include "sort/problem.glsl"
#include "sort/pass_io.glsl"
#include "sort/planes.glsl"
#ifdef BUCKETS
#define LEAST_COUNTERS (TILE + 1)
#endif
#include "sort/tile.glsl"
#include "sort/whole.glsl"
#include "sort/order.glsl"
#ifdef BUCKETS
#include "lib/scan_threads.glsl"
#include "sort/compare.glsl"
#include "sort/buckets.glsl"
#endif

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    uint count = requested_count(p);
    if (thread_id() == 0) write_status(p);
    if (count == 0) return;
    Part part = whole_problem(p, count);
    PassIo io = input_to_output();
#ifdef BUCKETS
    if (order_by_buckets(part, io)) return;
#endif
    order_part(part, io, digit_count(BEGIN_BIT, END_BIT));
}
