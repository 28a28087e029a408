// Sort of a problem that one workgroup holds, by merging: its time grows with the number of keys and not with their bits.
//
// In:  keys (and values), the count where it lies on the device.
// Out: keys (and values) sorted; the problem's status.
// Groups: one a problem.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/keys.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"
#include "sort/planes.glsl"

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

const uint TILE = THREADS * ITEMS;

uint striped(uint k) { return k * THREADS + thread_id(); }

#include "sort/whole.glsl"
#include "sort/merging.glsl"

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    uint count = told_count(p);
    if (thread_id() == 0) write_status(p);
    if (count == 0) return;
    merge_part(whole_problem(p, count), from_input_to_output());
}
