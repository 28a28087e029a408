// Merge of two sequences, step 2 of 2: merges the items of each tile of the output by merge path. (Green, McColl and
// Bader, "GPU merge path: a GPU merging algorithm", 2012.) With FUSED, this is the only step: each workgroup also finds
// the items of its tile.
//
// In:  sequences A and B, sorted; their counts, if they are in device memory; without FUSED, co_ranks[tile]: the number
//      of items of A before the tile.
// Out: the merged keys (and values), of equal keys those of A first; their number; the status of the problem.
// Workgroups: args.groups for each problem (one merge): as many as the largest problem of the dispatch has tiles of
//             THREADS * ITEMS items at its maximum counts. Workgroups without a tile exit.
// Memory order: inputs come from earlier commands; no workgroup accesses what another one writes.
// Progress: never waits.
//
// A tile takes consecutive items of A and of B. Their keys go to shared memory, A's first. Each thread finds by binary
// search where its ITEMS items of the output begin in both, and merges these one after the other.
//
// Keys without values: the merged keys go back to shared memory, so that stores are coalesced. With values, the
// position in the tile that each item comes from goes to shared memory instead. Then keys and values are copied by
// these positions. Within A, and within B, positions increase, so the copies are nearly coalesced.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#ifdef FUSED
#define PUSH MergeSearchPush
#else
#define PUSH MergePathPush
#endif
#define ROW MergeProblem
#include "radix/problem.glsl"

PROBLEM_MEMBER(uint, co_ranks)

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 7;

const uint TILE = THREADS * ITEMS;

#include "merge/sequences.glsl"
#include "merge/status.glsl"
#ifdef FUSED
const uint MOST_TEAMS = 2;
#include "merge/search.glsl"
#endif

// Values of one word are loaded together with the keys. Longer ones are loaded from device memory after the merge, when
// it is known which thread stores them. So are those of a fused merge: this took the least time (docs/merge.md).
#ifdef FUSED
const bool STAGES_VALUES = false;
#else
const bool STAGES_VALUES = VALUE_WORDS == 1 && !VALUES_ARE_INDICES;
#endif

#include "merge/tile.glsl"
#include "merge/find_tile.glsl"

// Merges ITEMS items of the output, from `diagonal` on. With values, it writes the positions that they come from to
// shared memory. Otherwise it returns their keys, encoded; past the last item, these are undefined.
void merge_items(OutputTile tile, uint diagonal, out uint keys[ITEMS_WORDS]) {
    uint last = tile.items - 1;
    uint a_next = co_rank(diagonal, 0, tile.items_a, tile.items_a, tile.items - tile.items_a);
    uint b_next = tile.items_a + diagonal - a_next;
    uint key_a[KEY_WORDS];
    uint key_b[KEY_WORDS];
    load_item(min(a_next, last), key_a);
    load_item(min(b_next, last), key_b);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        bool takes_b = b_next < tile.items && (a_next >= tile.items_a || comes_after(key_a, key_b));
        if (VALUE_WORDS == 0) {
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[k * KEY_WORDS + w] = takes_b ? key_b[w] : key_a[w];
        } else if (diagonal + k < tile.items) {
            sh_positions[diagonal + k] = takes_b ? b_next : a_next;
        }
        take_item(takes_b, a_next, b_next, last, key_a, key_b);
    }
}

// Replaces the keys in shared memory by this thread's merged keys, decoded.
void stage_keys(OutputTile tile, uint diagonal, uint keys[ITEMS_WORDS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (diagonal + k >= tile.items) continue;
        uint key[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = keys[k * KEY_WORDS + w];
        stage_key(diagonal + k, key);
    }
}

void main() {
    // 1. Find the items of this workgroup. The first workgroup of a problem writes their number and the status.
    uint p = linear_group() / args.groups;
    uint index = linear_group() % args.groups;
    if (p >= args.problem_count) return;
    Counts counts = counts_of(p);
    if (index == 0 && thread_id() == 0) write_results(p, counts.a + counts.b);
    if (index >= tiles_of(counts.a + counts.b, TILE)) return;
    OutputTile tile = find_tile(p, index, counts);

    // 2. Load their keys, and values that are staged.
    load_items(tile);
    barrier();

    // 3. Merge the items of each thread.
    uint keys[ITEMS_WORDS];
    uint diagonal = min(thread_id() * ITEMS, tile.items);
    merge_items(tile, diagonal, keys);
    // All keys have been read, and all positions written.
    barrier();
    if (VALUE_WORDS == 0) {
        stage_keys(tile, diagonal, keys);
        barrier();
    }

    // 4. Copy them to the output.
    if (!DROPS_KEYS) store_keys(tile);
    if (VALUE_WORDS != 0) store_values(tile);
}
