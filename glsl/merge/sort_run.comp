// Merge sort of THREADS * ITEMS items in one workgroup. Sorts a small problem completely, or sorts the runs of a larger
// problem: the first step of a merge sort by levels. The time depends on the number of keys, not on their bits.
//
// In:  keys (and values), the count if it is in device memory.
// Out: sorted keys (and values), or sorted runs in planes; the status of the problem.
// Workgroups: one for each problem; or, with MERGED, args.groups for each problem: one for each run.
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
#include "radix/keys.glsl"
#define PUSH MergePush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#include "radix/pass_io.glsl"
#include "merge/levels.glsl"
#include "radix/planes.glsl"

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

const uint TILE = THREADS * ITEMS;

uint striped(uint k) { return k * THREADS + thread_id(); }

#include "radix/whole.glsl"
#include "merge/merging.glsl"

#include "merge/sort_run.glsl"
