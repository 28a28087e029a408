// The kernels of merge sorts, with a user-defined comparator: sort_run.comp, partition.comp and join.comp in one
// module. MODE selects the kernel, and pipelines have nothing of the others.
//
// In, out, workgroups, memory order, progress: those of the selected kernel.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "merge/user.glsl"
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
#include "radix/tile_words.glsl"
#include "radix/pass_io.glsl"
#include "merge/levels.glsl"
#include "radix/planes.glsl"

// Partitions hold no items. A driver that gets the whole module then finds small arrays in shared memory.
layout(constant_id = SPEC_ITEMS) const uint ITEMS = 1;
// Items of a window, where the workgroup does not hold them.
layout(constant_id = SPEC_TILE) const uint WINDOW_OF_OTHERS = 2048;

const bool PARTITIONS = (MODE & MODE_PARTITION) != 0;
const bool JOINS = (MODE & MODE_JOIN) != 0;
const uint TILE = THREADS * ITEMS;
const uint WINDOW = PARTITIONS ? WINDOW_OF_OTHERS : TILE;

uint striped(uint k) { return k * THREADS + thread_id(); }

#include "radix/whole.glsl"
#include "merge/merging.glsl"
#include "merge/windows.glsl"

#define main sort_run
#include "merge/sort_run.glsl"
#undef main
#define main partition_windows
#include "merge/partition.glsl"
#undef main
#define main join_windows
#include "merge/join.glsl"
#undef main

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer UserInputs {
    UserInput v[];
};

void main() {
    if (!INTERFACE_MATCHES) return;
    uint p = linear_group() / args.groups;
    if (p >= args.problem_count) return;
    UserInput user_input = UserInputs(scratch_part(args.user_inputs)).v[p];
    user_data.address = user_input.address;
    user_data.words = user_input.words;
    if (PARTITIONS) partition_windows();
    else if (JOINS) join_windows();
    else sort_run();
}
