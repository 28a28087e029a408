// Merge sort, step 1 of a level: finds the window boundaries of each group of runs.
//
// In:  runs, sorted, in planes.
// Out: boundaries[window][FAN]: for each window and run, the number of items of the run before the window. See
//      merge/windows.glsl.
// Workgroups: the same number for each problem. A workgroup handles THREADS / FAN samples. Each sample has one thread
//             for each run of its group.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// Samples are ranked without being sorted. Each thread searches one run for the number of its samples before the
// thread's sample. The sum over the runs is the rank of the sample in its group. If the rank is a multiple of SPACING,
// the sample begins a window. Then each thread also searches the items between two samples of its run.
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
#include "radix/tile_words.glsl"
#include "radix/pass_io.glsl"
#include "merge/levels.glsl"
#include "radix/planes.glsl"

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;
layout(constant_id = SPEC_TILE) const uint WINDOW = 2048;

#include "merge/merged.glsl"
#include "merge/windows.glsl"
#include "merge/partition.glsl"
