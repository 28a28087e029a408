// Set operations on two sorted sequences: step 2 of 4 with COUNTS, otherwise step 4. (Baxter, "Modern GPU", chapter
// "Set operations", 2013.) Sequences are multisets: of m copies of a key in A and n in B, the union has max(m, n), the
// intersection min(m, n), the difference max(m - n, 0), and the symmetric difference |m - n|.
//
// In:  sequences A and B, sorted; their counts, if they are in device memory; co_ranks[2 * tile] and
//      co_ranks[2 * tile + 1]: the numbers of items of A and of B before each tile, balanced. Without COUNTS,
//      tile_counts[tile]: the number of items of the result before the tile.
// Out: with COUNTS, tile_counts[tile]: the number of items of the result from the tile. Otherwise the keys (and values)
//      of the result, sorted; of each pair, those of A.
// Workgroups: args.groups for each problem (one operation): one for each tile at its maximum counts. If the actual
//             counts are smaller, the others exit.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// A tile has at most TILE items of both sequences, and its end is balanced: see merge/balance.glsl. In the balanced
// order, the copies of a pair are neighbors. So a thread compares one item of A with one of B at a time, and takes both
// if their keys are equal.
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

PROBLEM_MEMBER(uint, co_ranks)
PROBLEM_MEMBER(uint, tile_counts)

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 7;

const uint TILE = THREADS * ITEMS;
// Distance of neighboring tiles on the merge path. A balanced end may add an item.
const uint TILE_STEP = TILE - 1;

#include "merge/sequences.glsl"
#include "merge/operation.glsl"

const bool STAGES_VALUES = false;

#include "merge/tile.glsl"

void load_sequence_key(uint items_a, bool of_a, uint index, out uint key[KEY_WORDS]) {
    load_item(of_a ? index : items_a + index, key);
}

#include "merge/balance.glsl"

// Whether the result has an item that is next in A, in B, or in both with equal keys.
bool is_in_result(bool next_in_a, bool next_in_b) {
    if (OPERATION == OPERATION_INTERSECTION) return next_in_a && next_in_b;
    if (OPERATION == OPERATION_DIFFERENCE) return next_in_a && !next_in_b;
    if (OPERATION == OPERATION_SYMMETRIC_DIFFERENCE) return next_in_a != next_in_b;
    return true;
}

// No item of the result.
const uint NONE = 0xffffffffu;

// Finds the items of the result among those of this thread: their positions in the tile, or NONE. Returns their number.
uint find_items(OutputTile tile, out uint positions[ITEMS]) {
    // 1. Find the balanced cut at the first diagonal of this thread.
    uint first = min(thread_id() * ITEMS, tile.items);
    uint end = min(first + ITEMS, tile.items);
    Counts counts;
    counts.a = tile.items_a;
    counts.b = tile.items - tile.items_a;
    Cut cut;
    cut.a = co_rank(first, 0, counts.a, counts.a, counts.b);
    cut.b = first - cut.a;
    cut = balance(counts.a, cut, counts);

    // 2. Walk along the path to the next thread's diagonal, or one behind it.
    uint last = tile.items - 1;
    uint a_next = cut.a;
    uint b_next = counts.a + cut.b;
    uint key_a[KEY_WORDS];
    uint key_b[KEY_WORDS];
    load_item(min(a_next, last), key_a);
    load_item(min(b_next, last), key_b);
    uint found = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        bool walks = a_next + (b_next - counts.a) < end;
        bool has_a = a_next < counts.a;
        bool has_b = b_next < tile.items;
        bool takes_a = walks && has_a && (!has_b || !comes_after(key_a, key_b));
        bool takes_b = walks && has_b && (!has_a || !comes_after(key_b, key_a));
        bool finds = walks && is_in_result(takes_a, takes_b);
        positions[k] = finds ? (takes_a ? a_next : b_next) : NONE;
        found += finds ? 1 : 0;
        if (takes_a) load_item(min(++a_next, last), key_a);
        if (takes_b) load_item(min(++b_next, last), key_b);
    }
    return found;
}

#ifdef COUNTS
shared uint sh_found;
#else
// For each item of the result from this tile, its position in the tile.
shared uint sh_positions[TILE];
#include "merge/sum.glsl"

// Copies the keys of `items` items to the output, with coalesced accesses.
void store_keys(OutputTile tile, uint items) {
    Words target = Words(advance(problem_keys_out(tile.problem), bytes_of(tile.first, KEY_STRIDE * 4)));
    [[dont_unroll]] for (uint word = thread_id(); word < items * KEY_WORDS; word += THREADS) {
        uint item = word / KEY_WORDS;
        target.v[item * KEY_STRIDE + word % KEY_WORDS] = sh_words[word % KEY_WORDS * ROW_WORDS + sh_positions[item]];
    }
}

void store_values(OutputTile tile, uint items) {
    Source source = source_of(tile, problem_values_a(tile.problem), problem_values_b(tile.problem), VALUE_STRIDE);
    Words target = Words(advance(problem_values_out(tile.problem), bytes_of(tile.first, VALUE_STRIDE * 4)));
    [[dont_unroll]] for (uint word = thread_id(); word < items * MOVED_WORDS; word += THREADS) {
        uint item = word / MOVED_WORDS;
        uint value = value_word(tile, source, sh_positions[item], word % MOVED_WORDS);
        target.v[item * VALUE_STRIDE + word % MOVED_WORDS] = value;
    }
}
#endif

// Returns the items of a tile. Cuts of sequences that are not sorted may decrease, or increase by more than a tile.
// Clamped, they still name items of both sequences.
OutputTile find_tile(uint p, uint index, Counts counts) {
    Words co_ranks = Words(scratch_part(problem_co_ranks(p)));
    bool is_last = counts.a + counts.b - index * TILE_STEP <= TILE_STEP;
    uint end_a = is_last ? counts.a : co_ranks.v[2 * index + 2];
    uint end_b = is_last ? counts.b : co_ranks.v[2 * index + 3];
    OutputTile tile;
    tile.problem = p;
    tile.first = 0;
    tile.first_a = co_ranks.v[2 * index];
    tile.first_b = co_ranks.v[2 * index + 1];
    tile.items_a = min(max(end_a, tile.first_a) - tile.first_a, TILE);
    tile.items = tile.items_a + min(max(end_b, tile.first_b) - tile.first_b, TILE - tile.items_a);
    return tile;
}

void main() {
    // 1. Find the items of this workgroup.
    uint p = linear_group() / args.groups;
    uint index = linear_group() % args.groups;
    if (p >= args.problem_count) return;
    Counts counts = counts_of(p);
    if (index >= tiles_of(counts.a + counts.b, TILE_STEP)) return;
    OutputTile tile = find_tile(p, index, counts);
    Words tile_counts = Words(scratch_part(problem_tile_counts(p)));

    // 2. Find those of the result.
#ifdef COUNTS
    if (thread_id() == 0) sh_found = 0;
#endif
    // The balanced end of the preceding tile may leave no item.
    if (tile.items != 0) load_items(tile);
    barrier();
    uint positions[ITEMS];
    uint found = tile.items == 0 ? 0 : find_items(tile, positions);

#ifdef COUNTS
    // 3. Count them.
    if (found != 0) atomicAdd(sh_found, found);
    barrier();
    if (thread_id() == 0) tile_counts.v[index] = sh_found;
#else
    // 3. Copy them to the output. In sequences that are not sorted, tiles may share items: these may exceed the room.
    uint items;
    uint at = exclusive_sum(found, items);
    if (tile.items == 0) return;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (positions[k] != NONE) sh_positions[at++] = positions[k];
    }
    barrier();
    tile.first = tile_counts.v[index];
    uint room = output_room(p);
    items = min(items, room - min(tile.first, room));
    if (!DROPS_KEYS) store_keys(tile, items);
    if (VALUE_WORDS != 0) store_values(tile, items);
#endif
}
