// Finds the co-rank of each tile: the first dispatch of a merge. In an update, it runs beside merge_mark_ranks. With
// BALANCED, the first dispatch of a set operation: equal keys of both sequences are in the same tile in pairs.
//
// In:  keys of A and B; their counts, or the offsets of their segments, if they are in device memory.
// Out: co_ranks[tile]: the number of items of A before each tile. With BALANCED, co_ranks[2 * tile] and
//      co_ranks[2 * tile + 1]: the numbers of items of A and of B before it; tile_prefixes: cleared for these tiles.
// Workgroups: args.groups for each problem. A workgroup handles THREADS >> args.log2_searchers consecutive tiles.
// Memory order: inputs come from earlier commands; no workgroup accesses memory that another one writes.
// Progress: never waits.
//
// The workgroup first finds the co-ranks at both ends of its tiles. Those between are in these bounds. So a team
// searches at most (THREADS >> args.log2_searchers) * TILE items, not the whole sequence.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#define PUSH MergeSearchPush
#define ROW MergeProblem
#include "radix/problem.glsl"

PROBLEM_MEMBER(uint, co_ranks)

// Distance of neighboring tiles on the merge path. Tiles of set operations may have an item more.
layout(constant_id = SPEC_TILE) const uint TILE = 1024;

#include "merge/sequences.glsl"
#ifndef BALANCED
#include "merge/details.glsl"
#include "merge/segments.glsl"
#endif
const uint MOST_TEAMS = THREADS;
#include "merge/search.glsl"
#ifdef BALANCED
#include "core/tile_prefixes.glsl"

PROBLEM_MEMBER(uint, tile_prefixes)

void load_sequence_key(uint p, bool of_a, uint index, out uint key[KEY_WORDS]) {
    load_key(of_a ? problem_keys_a(p) : problem_keys_b(p), index, key);
}
#include "merge/balance.glsl"
#endif

void main() {
    uint p = linear_group() / args.groups;
    if (p >= args.problem_count) return;
    uint group_tiles = THREADS >> args.log2_searchers;
    uint first_tile = linear_group() % args.groups * group_tiles;
#ifdef BALANCED
    Counts counts = counts_of(p);
#else
    Counts counts = all_counts(p);
#endif
    uint count = counts.a + counts.b;
    uint tiles = tiles_of(count, TILE);
    if (first_tile >= tiles) return;

    // 1. Find the co-ranks of the first tile, and of the one after the last.
    uint last_tile = tiles - first_tile > group_tiles ? first_tile + group_tiles : tiles;
    Bounds ends =
        search_both_co_ranks(p, log2_half(), first_tile * TILE, last_tile == tiles ? count : last_tile * TILE, counts);
    barrier();

    // 2. Find the co-ranks of the tiles between them.
    uint tile = first_tile + (thread_id() >> args.log2_searchers);
    uint diagonal = tile * TILE;
    Bounds bounds;
    bounds.low = 0;
    bounds.high = 0;
    if (tile < last_tile) {
        bounds = own_bounds_of(p, diagonal, counts);
        bounds.low = max(bounds.low, ends.low);
        bounds.high = min(bounds.high, ends.high);
    }
    search_co_ranks(p, args.log2_searchers, diagonal, bounds, max(ends.high, ends.low) - ends.low);
    if (tile >= last_tile || (thread_id() & (1 << args.log2_searchers) - 1) != 0) return;
    uint a = sh_low[thread_id() >> args.log2_searchers];
    Words co_ranks = Words(scratch_part(problem_co_ranks(p)));
#ifdef BALANCED
    Cut cut = balanced_cut(p, diagonal, a, counts);
    co_ranks.v[2 * tile] = cut.a;
    co_ranks.v[2 * tile + 1] = cut.b + (cut.parts_pair ? 1 : 0);
    clear_tile_prefix(TilePrefixes(Words(scratch_part(problem_tile_prefixes(p))), tiles), tile);
#else
    co_ranks.v[tile] = a;
#endif
}
