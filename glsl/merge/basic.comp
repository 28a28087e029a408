// Merge of two sequences, to compare with merge path: each thread merges ITEMS items of the output on its own. The
// "basic kernel" of Kirk and Hwu, "Programming Massively Parallel Processors", chapter "Merge".
//
// In:  sequences A and B, sorted; their counts, if they are in device memory.
// Out: the merged keys (and values), of equal keys those of A first; their number; the status of the problem.
// Workgroups: args.groups for each problem: one for each THREADS * ITEMS items of the output.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// Each thread searches device memory for the co-rank of its first item. Its accesses are not coalesced with those of
// its neighbors.
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

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 7;

const uint TILE = THREADS * ITEMS;

#include "merge/sequences.glsl"
#include "merge/status.glsl"
const uint MOST_TEAMS = 2;
#include "merge/search.glsl"
#include "merge/direct.glsl"

void main() {
    // 1. Find the items of this thread. The first workgroup of a problem writes its results.
    uint p = linear_group() / args.groups;
    uint tile = linear_group() % args.groups;
    if (p >= args.problem_count) return;
    Counts counts = counts_of(p);
    uint count = counts.a + counts.b;
    if (tile == 0 && thread_id() == 0) write_results(p, count);
    if (tile >= tiles_of(count, TILE)) return;
    uint room = count - tile * TILE;
    if (thread_id() * ITEMS >= room) return;
    uint first = tile * TILE + thread_id() * ITEMS;
    uint items = min(room - thread_id() * ITEMS, ITEMS);

    // 2. Merge them, one after the other.
    uint a = search_co_rank(p, first, bounds_of(first, counts));
    uint b = first - a;
    for (uint k = 0; k < items; ++k) {
        bool takes_b = a >= counts.a;
        if (!takes_b && b < counts.b) {
            uint key_a[KEY_WORDS];
            uint key_b[KEY_WORDS];
            load_key(problem_keys_a(p), a, key_a);
            load_key(problem_keys_b(p), b, key_b);
            takes_b = comes_after(key_a, key_b);
        }
        move_item(p, takes_b, takes_b ? b : a, first + k);
        if (takes_b) b += 1;
        else a += 1;
    }
}
