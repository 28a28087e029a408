// Sort of a problem that one workgroup holds, by digits: all of them in shared memory, one read and one write. With BUCKETS, by buckets where
// keys are spread well enough, and by digits where they are not.
//
// In:  keys (and values), the count where it lies on the device.
// Out: keys (and values) sorted; the problem's status.
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
