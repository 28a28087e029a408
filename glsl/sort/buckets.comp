// Sort, the last move where the passes have left buckets of the topmost digit: each is sorted by all digits below it.
//
// In:  keys (and values) in the alternate planes; where the buckets begin.
// Out: keys (and values) sorted.
// Groups: one for each bucket of each problem.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "lib/keys.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"
#include "sort/planes.glsl"

// Of the items that a thread has room for, as many as it takes for those there are.
uint held = 0;
#define HELD held
#include "sort/tile.glsl"
#include "sort/whole.glsl"
#include "sort/order.glsl"

void main() {
    uint p = linear_group() / RADIX;
    uint bucket = linear_group() % RADIX;
    if (p >= args.problem_count) return;
    uint passed_over = passed_over_by(p);
    if (!in_buckets(passed_over)) return;
    Words begins = passed_over_of(p);
    Part part;
    part.problem = p;
    part.count = resolved_count(p);
    part.first = begins.v[1 + bucket];
    part.items = (bucket + 1 < RADIX ? begins.v[2 + bucket] : part.count) - part.first;
    if (part.items == 0) return;
    held = (part.items - 1) / THREADS + 1;
    order_part(part, move_of_pass(passed_over), findLSB(~passed_over));
}
