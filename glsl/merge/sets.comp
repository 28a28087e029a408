// Set operations on two sorted sequences, step 2 of 2. Sequences are multisets: of m copies of a key in A and n in B,
// the union has max(m, n), the intersection min(m, n), the difference max(m - n, 0), and the symmetric difference
// |m - n|. OPERATION_UNIQUE takes the first item of each run of equal keys in A. B is empty then.
//
// In:  sequences A and B, sorted; their counts, if they are in device memory; co_ranks[2 * tile] and
//      co_ranks[2 * tile + 1]: the numbers of items of A and of B before each tile, balanced; tile_prefixes: cleared.
// Out: the keys (and values) of the result, sorted, in pairs of equal keys those of A; their number; the status of the
//      problem.
// Workgroups: args.groups for each problem (one operation): one for each tile at its maximum counts. If the actual
//             counts are smaller, the others exit.
// Memory order: inputs come from an earlier dispatch. Workgroups share only tile_prefixes (core/tile_prefixes.glsl).
// Progress: waits for preceding tiles, for a bounded number of polls. Then the workgroup counts a missing tile itself.
//
// A tile has at most TILE items of both sequences, and its end is balanced (merge/balance.glsl): copy i of a key in A
// and copy i in B are a pair, and both are in the tile, or neither. Each thread takes ITEMS items of the tile in the
// order of a merge.
//
// With OPERATION_UNIQUE, the first item of a tile is compared with the item before the tile, in device memory.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/scan_threads.glsl"
#include "core/tile_prefixes.glsl"
#include "radix/keys.glsl"
#define PUSH MergePathPush
#define ROW MergeProblem
#include "radix/problem.glsl"

PROBLEM_MEMBER(uint, co_ranks)
PROBLEM_MEMBER(uint, tile_prefixes)

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 7;
layout(constant_id = SPEC_OPERATION) const uint OPERATION = OPERATION_UNION;

const uint TILE = THREADS * ITEMS;
// Distance of neighboring tiles on the merge path. A balanced end may add an item.
const uint TILE_STEP = TILE - 1;

#include "merge/sequences.glsl"
#include "merge/status.glsl"

const bool STAGES_VALUES = false;

#include "merge/tile.glsl"

void load_sequence_key(uint items_a, bool of_a, uint index, out uint key[KEY_WORDS]) {
    load_item(of_a ? index : items_a + index, key);
}

#include "merge/equal_keys.glsl"

// Nothing but the number of items is written.
const bool ONLY_COUNTS = DROPS_KEYS && VALUE_WORDS == 0;
// Words that a thread holds of each item: its key, or the position in the tile that it comes from.
const uint HELD_WORDS = VALUE_WORDS == 0 ? KEY_WORDS : 1;
const uint ALL_HELD_WORDS = ITEMS * HELD_WORDS;
// Words with a bit for each item of a thread.
const uint MASK_WORDS = (ITEMS + 31) / 32;

// Returns the most items of the result, for which the output has room.
uint output_room(uint p) {
    uint most_a = problem_max_a(p);
    uint most_b = problem_max_count(p) - most_a;
    if (OPERATION == OPERATION_INTERSECTION) return min(most_a, most_b);
    return OPERATION == OPERATION_DIFFERENCE ? most_a : most_a + most_b;
}

// Whether the result has the first item of each run of equal keys in A. B is empty, and A may have any order.
const bool IS_UNIQUE = OPERATION == OPERATION_UNIQUE;
// Whether the result depends on pairs of items of B.
const bool PAIRS_B = OPERATION == OPERATION_UNION || OPERATION == OPERATION_SYMMETRIC_DIFFERENCE;

// Whether the result has an item of A or of B. `copies`: the number of copies before it in its sequence. `in_pair`: it
// has a counterpart with an equal key.
bool is_in_result(bool of_b, uint copies, bool in_pair) {
    if (IS_UNIQUE) return copies == 0;
    if (OPERATION == OPERATION_INTERSECTION) return !of_b && in_pair;
    if (OPERATION == OPERATION_DIFFERENCE) return !of_b && !in_pair;
    if (OPERATION == OPERATION_SYMMETRIC_DIFFERENCE) return !in_pair;
    return !of_b || !in_pair;
}

bool are_equal(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool equal = true;
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) equal = equal && a[w] == b[w];
    return equal;
}

// Returns whether an item of A, in device memory, has another key than the item before it. `key`: its key.
bool begins_run(uvec2 keys, uint index, uint key[KEY_WORDS]) {
    if (index == 0) return true;
    uint before[KEY_WORDS];
    load_key(keys, index - 1, before);
    return !are_equal(before, key);
}

// Returns whether the next item of a merge is one of B.
bool takes_from_b(bool has_a, bool has_b, uint key_a[KEY_WORDS], uint key_b[KEY_WORDS]) {
    return !IS_UNIQUE && has_b && (!has_a || comes_after(key_a, key_b));
}

// Finds the items of the result among those of this thread. Returns their number. `mask`: a bit for each of the
// thread's items. `held`: their words, see HELD_WORDS; keys are encoded.
uint find_items(OutputTile tile, out uint mask[MASK_WORDS], out uint held[ALL_HELD_WORDS]) {
    // 1. Find the thread's first items in the order of a merge.
    uint diagonal = min(thread_id() * ITEMS, tile.items);
    uint end_a = tile.items_a;
    uint end_b = tile.items;
    uint last = tile.items - 1;
    uint a_next = co_rank(diagonal, 0, end_a, end_a, end_b - end_a);
    uint b_next = end_a + diagonal - a_next;
    uint key_a[KEY_WORDS];
    uint key_b[KEY_WORDS];
    load_item(min(a_next, last), key_a);
    load_item(min(b_next, last), key_b);

    // 2. Count the copies of the next item's key before it in its sequence. The next item of the other sequence has no
    // copies before it there: all copies in A precede those in B. For unique items, one copy suffices, but it may be in
    // the preceding tile.
    uint copies = 0;
    if (diagonal < tile.items) {
        if (takes_from_b(a_next < end_a, b_next < end_b, key_a, key_b)) {
            copies = count_copies(end_a, false, false, b_next - end_a, b_next - end_a, key_b);
        } else {
            uint most = IS_UNIQUE ? min(a_next, 1) : a_next;
            copies = count_copies(end_a, true, false, a_next, most, key_a);
            if (IS_UNIQUE && a_next == 0) {
                copies = begins_run(problem_keys_a(tile.problem), tile.first_a, key_a) ? 0 : 1;
            }
        }
    }

    // 3. Take one item after the other. Before the copies of a key in B, all those in A have been taken.
    uint previous_a[KEY_WORDS];
    if (PAIRS_B && KEY_WORDS > 1) load_item(max(a_next, 1) - 1, previous_a);
    [[unroll]] for (uint w = 0; w < MASK_WORDS; ++w) mask[w] = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        bool takes_b = takes_from_b(a_next < end_a, b_next < end_b, key_a, key_b);
        uint key[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = takes_b ? key_b[w] : key_a[w];
        // Copy i of a key is in a pair if the other sequence has more than i copies. The item that shows it for copy 0
        // is in registers: the next one of B, or the previous one of A. Keys of one word are loaded all the same: the
        // branch took 2 % more time.
        bool of_b = PAIRS_B && takes_b;
        uint other[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) other[w] = of_b ? previous_a[w] : key_b[w];
        bool in_pair = of_b ? a_next != 0 : b_next < end_b;
        if (KEY_WORDS == 1 || copies != 0) {
            uint tested = of_b ? a_next - 1 - copies : b_next + copies;
            in_pair = tested < (of_b ? end_a : end_b);
            load_item(min(tested, last), other);
        }
        in_pair = in_pair && are_equal(other, key);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) previous_a[w] = takes_b ? previous_a[w] : key_a[w];
        if (is_in_result(takes_b, copies, in_pair)) mask[k / 32] |= 1 << k % 32;
        if (VALUE_WORDS == 0) {
            [[unroll]] for (uint w = 0; w < HELD_WORDS; ++w) held[k * HELD_WORDS + w] = key[w];
        } else {
            held[k] = takes_b ? b_next : a_next;
        }
        take_item(takes_b, a_next, b_next, last, key_a, key_b);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) other[w] = takes_b ? key_b[w] : key_a[w];
        bool repeats = (takes_b ? b_next < end_b : a_next < end_a) && are_equal(other, key);
        copies = repeats ? copies + 1 : 0;
    }

    // 4. Count them. The last thread may have fewer than ITEMS items.
    uint own = min(tile.items - diagonal, ITEMS);
    uint found = 0;
    [[unroll]] for (uint w = 0; w < MASK_WORDS; ++w) {
        uint bits = own - min(own, 32 * w);
        if (bits < 32) mask[w] &= (1 << bits) - 1;
        found += bitCount(mask[w]);
    }
    return found;
}

// Puts the items of this thread into shared memory, behind `before` items of the tile's result.
void stage_items(uint before, uint mask[MASK_WORDS], uint held[ALL_HELD_WORDS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if ((mask[k / 32] >> k % 32 & 1) == 0) continue;
        if (VALUE_WORDS == 0) {
            uint key[KEY_WORDS];
            [[unroll]] for (uint w = 0; w < HELD_WORDS; ++w) key[w] = held[k * HELD_WORDS + w];
            stage_key(before, key);
        } else {
            sh_positions[before] = held[k];
        }
        before += 1;
    }
}

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

// Returns the index of the first item in [begin, end) with a key that is not less than `key`, or `end`.
uint lower_bound(uvec2 keys, uint begin, uint end, uint key[KEY_WORDS]) {
    while (begin < end) {
        uint middle = begin + (end - begin) / 2;
        uint other[KEY_WORDS];
        load_key(keys, middle, other);
        if (comes_after(key, other)) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

// Counts the items of the result in a tile of another workgroup, in device memory: by its items of A in pairs, or those
// that begin a run. Copy i of a key in A is in a pair if B has more than i copies. The whole workgroup must call it.
uint count_tile(OutputTile tile) {
    uvec2 keys_a = problem_keys_a(tile.problem);
    uvec2 keys_b = problem_keys_b(tile.problem);
    uint end_b = tile.first_b + tile.items - tile.items_a;
    uint counted = 0;
    [[dont_unroll]] for (uint i = thread_id(); i < tile.items_a; i += THREADS) {
        uint a = tile.first_a + i;
        uint key[KEY_WORDS];
        load_key(keys_a, a, key);
        if (IS_UNIQUE) {
            counted += begins_run(keys_a, a, key) ? 1 : 0;
            continue;
        }
        uint copy = a - lower_bound(keys_a, tile.first_a, a, key);
        uint b = lower_bound(keys_b, tile.first_b, end_b, key) + copy;
        if (b >= end_b) continue;
        uint other[KEY_WORDS];
        load_key(keys_b, b, other);
        counted += are_equal(key, other) ? 1 : 0;
    }
    uint total;
    scan_threads(counted, total);
    if (OPERATION == OPERATION_INTERSECTION || IS_UNIQUE) return total;
    if (OPERATION == OPERATION_DIFFERENCE) return tile.items_a - total;
    return tile.items - (OPERATION == OPERATION_UNION ? 1 : 2) * total;
}

void main() {
    // 1. Find the items of this workgroup.
    uint p = linear_group() / args.groups;
    uint group = linear_group() % args.groups;
    if (p >= args.problem_count) return;
    Counts counts = counts_of(p);
    uint tiles = tiles_of(counts.a + counts.b, TILE_STEP);
    if (group >= tiles) {
        if (group == 0 && thread_id() == 0) write_results(p, 0);
        return;
    }
    TilePrefixes prefixes = TilePrefixes(Words(scratch_part(problem_tile_prefixes(p))), tiles);
    uint index = take_tile(prefixes);
    OutputTile tile = find_tile(p, index, counts);
    delay(prefixes, index);

    // 2. Stage the items of the result in shared memory. The balanced end of the preceding tile may leave no item.
    if (tile.items != 0) load_items(tile);
    barrier();
    uint mask[MASK_WORDS];
    uint held[ALL_HELD_WORDS];
    uint own = 0;
    if (tile.items != 0) own = find_items(tile, mask, held);
    uint found;
    uint preceding = scan_threads(own, found);
    if (thread_id() == 0) publish_aggregate(prefixes, index, found);
    if (own != 0 && !ONLY_COUNTS) stage_items(preceding, mask, held);

    // 3. Look back: sum the aggregates of preceding tiles.
    LookBack before = begin_look_back(index);
    look_back(prefixes, before);
    [[dont_unroll]] while (before.next != 0) {
        before.next -= 1;
        uint missing = count_tile(find_tile(p, before.next, counts));
        if (thread_id() == 0) publish_missing_aggregate(prefixes, before.next, missing);
        before.sum += missing;
        look_back(prefixes, before);
    }
    if (thread_id() == 0) {
        publish_inclusive_prefix(prefixes, index, before.sum + found);
        // In sequences that are not sorted, tiles may share items.
        if (index == tiles - 1) write_results(p, min(before.sum + found, output_room(p)));
    }

    // 4. Copy the staged items to the output, as far as it has room. Since they were staged, all threads have passed a
    // barrier.
    // From here on, `tile` has the items of the result.
    uint room = output_room(p);
    tile.first = before.sum;
    tile.items = min(found, room - min(before.sum, room));
    if (ONLY_COUNTS || tile.items == 0) return;
    if (!DROPS_KEYS) store_keys(tile);
    if (VALUE_WORDS != 0) store_values(tile);
}
