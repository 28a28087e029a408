// Merge sort, step 2 of a level: merges each group of FAN runs into one run.
//
// In:  runs, sorted, in planes; boundaries[window][FAN] from partition.comp. See merge/windows.glsl.
// Out: longer runs, sorted, in planes; after the last level, the sorted keys (and values).
// Workgroups: one for each window of the output; args.groups for each problem.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// A window takes a part of each run. The parts go to shared memory, one after the other. Then neighboring parts are
// merged pairwise by merge path, until one is left.
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

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 4;

const uint TILE = THREADS * ITEMS;
const uint WINDOW = TILE;

uint striped(uint k) { return k * THREADS + thread_id(); }

#include "radix/whole.glsl"

#include "merge/merging.glsl"
#include "merge/windows.glsl"
#include "merge/join.glsl"
