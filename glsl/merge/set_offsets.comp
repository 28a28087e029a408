// Set operations on two sorted sequences, step 3 of 4: an exclusive scan of the counts of the tiles.
//
// In:  tile_counts[tile]: the number of items of the result from each tile; the counts of both sequences, if they are
//      in device memory.
// Out: tile_counts[tile]: the number of items of the result before each tile; the number of all items; the status of
//      the problem.
// Workgroups: one for each problem.
// Memory order: counts come from an earlier dispatch. Each thread alone accesses its tiles.
// Progress: never waits.
//
// A thread sums consecutive tiles, then the workgroup sums over the threads.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH MergePathPush
#define ROW MergeProblem
#include "radix/problem.glsl"

PROBLEM_MEMBER(uint, tile_counts)

// Distance of neighboring tiles on the merge path: one less than a tile has items.
layout(constant_id = SPEC_TILE) const uint TILE = 1024;

#include "merge/sequences.glsl"
#include "merge/operation.glsl"
#include "merge/status.glsl"
#include "merge/sum.glsl"

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    Counts counts = counts_of(p);
    uint tiles = tiles_of(counts.a + counts.b, TILE);
    Words tile_counts = Words(scratch_part(problem_tile_counts(p)));

    // 1. Sum the tiles of this thread.
    uint share = tiles_of(tiles, THREADS);
    uint first = min(thread_id() * share, tiles);
    uint end = min(first + share, tiles);
    uint sum = 0;
    for (uint tile = first; tile < end; ++tile) sum += tile_counts.v[tile];

    // 2. Sum over the threads.
    uint total;
    uint before = exclusive_sum(sum, total);
    // In sequences that are not sorted, tiles may share items.
    if (thread_id() == 0) write_results(p, min(total, output_room(p)));

    // 3. Replace counts by sums.
    for (uint tile = first; tile < end; ++tile) {
        uint count = tile_counts.v[tile];
        tile_counts.v[tile] = before;
        before += count;
    }
}
