// Merge of two sequences, step 2 of 2: merges the items of each tile of the output by merge path. (Green, McColl and
// Bader, "GPU merge path: a GPU merging algorithm", 2012.) With FUSED, this is the only step: each workgroup also finds
// the items of its tile.
//
// In:  sequences A and B, sorted; their counts, if they are in device memory; without FUSED, co_ranks[tile]: the number
//      of items of A before the tile.
// Out: the merged keys (and values), of equal keys those of A first; the status of the problem.
// Workgroups: args.groups for each problem (one merge): one for each tile of THREADS * ITEMS items at its maximum
//             counts. If the actual counts are smaller, the others exit.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
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
#define PUSH MergePathPush
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

// Words of the keys of a thread.
const uint ITEMS_WORDS = ITEMS * KEY_WORDS;
// Words of a value. 1 without values: code that is never executed divides by it.
const uint MOVED_WORDS = VALUE_WORDS == 0 ? 1 : VALUE_WORDS;

// Values of one word are loaded together with the keys. Longer ones are loaded from device memory after the merge, when
// it is known which thread stores them. So are those of a fused merge: this took the least time (docs/merge.md).
#ifdef FUSED
const bool STAGES_VALUES = false;
#else
const bool STAGES_VALUES = VALUE_WORDS == 1 && !VALUES_ARE_INDICES;
#endif

// Keys of the tile, one row for each word of a key. The padding of rows spreads the words that a subgroup stores at
// once over the banks.
const uint ROW_WORDS = TILE + 32 / KEY_WORDS;
shared uint sh_words[KEY_WORDS * ROW_WORDS];
shared uint sh_values[STAGES_VALUES ? TILE : 1];
// With values: for each item of the output, the position that it comes from.
shared uint sh_positions[VALUE_WORDS == 0 ? 1 : TILE];

// Loads the key at a position of the tile, encoded.
void load_item(uint position, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = sh_words[memory_word(w) * ROW_WORDS + position];
    encode(key);
}

#include "merge/path.glsl"

// The items of a tile. In the tile, those of A have positions from 0 on, and those of B follow.
struct OutputTile {
    uint problem;
    uint first;  // index of the first item in the output
    uint items;
    uint first_a;  // index of the first item of A
    uint items_a;
    uint first_b;
};

// Where the words of a tile's items come from: the word at `w` of the item at position i is v[i * stride + w].
struct Source {
    uvec2 a;
    uvec2 b;
};

Source source_of(OutputTile tile, uvec2 a, uvec2 b, uint stride) {
    Source source;
    source.a = advance(a, bytes_of(tile.first_a, stride * 4));
    // Items of B have positions from items_a on. So the base is moved back by items_a items, and may lie before the
    // array. Addresses wrap modulo 2^64; every address that is accessed lies in B.
    uvec2 back = bytes_of(tile.items_a, stride * 4);
    source.b = advance(b, bytes_of(tile.first_b, stride * 4));
    uint borrow;
    source.b.x = usubBorrow(source.b.x, back.x, borrow);
    source.b.y -= back.y + borrow;
    return source;
}

uvec2 target_of(OutputTile tile, uvec2 array, uint stride) { return advance(array, bytes_of(tile.first, stride * 4)); }

// Loads the keys of a tile, and values of one word, into shared memory, with coalesced accesses. All loads precede the
// stores.
void load_items(OutputTile tile) {
    uint last = tile.items - 1;
    Source keys_source = source_of(tile, problem_keys_a(tile.problem), problem_keys_b(tile.problem), KEY_STRIDE);
    uint keys[ITEMS_WORDS];
    [[unroll]] for (uint k = 0; k < ITEMS_WORDS; ++k) {
        uint word = k * THREADS + thread_id();
        uint position = min(word / KEY_WORDS, last);
        Words from = Words(position < tile.items_a ? keys_source.a : keys_source.b);
        keys[k] = from.v[position * KEY_STRIDE + word % KEY_WORDS];
    }
    uint values[ITEMS];
    if (STAGES_VALUES) {
        Source source = source_of(tile, problem_values_a(tile.problem), problem_values_b(tile.problem), VALUE_STRIDE);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint position = min(k * THREADS + thread_id(), last);
            values[k] = Words(position < tile.items_a ? source.a : source.b).v[position * VALUE_STRIDE];
        }
    }
    [[unroll]] for (uint k = 0; k < ITEMS_WORDS; ++k) {
        uint word = k * THREADS + thread_id();
        uint position = word / KEY_WORDS;
        if (position < tile.items) sh_words[word % KEY_WORDS * ROW_WORDS + position] = keys[k];
    }
    if (!STAGES_VALUES) return;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint position = k * THREADS + thread_id();
        if (position < tile.items) sh_values[position] = values[k];
    }
}

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
        decode(key);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) sh_words[memory_word(w) * ROW_WORDS + diagonal + k] = key[w];
    }
}

// Copies the merged keys to the output, with coalesced accesses.
void store_keys(OutputTile tile) {
    Words target = Words(target_of(tile, problem_keys_out(tile.problem), KEY_STRIDE));
    [[unroll]] for (uint k = 0; k < ITEMS_WORDS; ++k) {
        uint word = k * THREADS + thread_id();
        uint item = word / KEY_WORDS;
        if (item >= tile.items) continue;
        uint position = VALUE_WORDS == 0 ? item : sh_positions[item];
        target.v[item * KEY_STRIDE + word % KEY_WORDS] = sh_words[word % KEY_WORDS * ROW_WORDS + position];
    }
}

// Returns the value of the item at a position: the index of the item in its sequence, with SOURCE_B for items of B.
uint index_of(OutputTile tile, uint position) {
    if (position < tile.items_a) return tile.first_a + position;
    return tile.first_b + (position - tile.items_a) | SOURCE_B;
}

// Returns word `w` of the value of the item at a position. `source`: where values are in device memory.
uint value_word(OutputTile tile, Source source, uint position, uint w) {
    if (VALUES_ARE_INDICES) return index_of(tile, position);
    if (STAGES_VALUES) return sh_values[position];
    return Words(position < tile.items_a ? source.a : source.b).v[position * VALUE_STRIDE + w];
}

// Copies the values to the output. Loads from device memory precede the stores of a round.
void store_values(OutputTile tile) {
    Source source = source_of(tile, problem_values_a(tile.problem), problem_values_b(tile.problem), VALUE_STRIDE);
    Words target = Words(target_of(tile, problem_values_out(tile.problem), VALUE_STRIDE));
    [[dont_unroll]] for (uint round = 0; round < MOVED_WORDS; ++round) {
        uint words[ITEMS];
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint word = (round * ITEMS + k) * THREADS + thread_id();
            uint position = sh_positions[min(word / MOVED_WORDS, tile.items - 1)];
            words[k] = value_word(tile, source, position, word % MOVED_WORDS);
        }
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint word = (round * ITEMS + k) * THREADS + thread_id();
            if (word / MOVED_WORDS >= tile.items) continue;
            target.v[word / MOVED_WORDS * VALUE_STRIDE + word % MOVED_WORDS] = words[k];
        }
    }
}

// Finds the items of a tile. With FUSED, the whole workgroup must call it: it contains barriers.
OutputTile find_tile(uint p, uint index, Counts counts) {
    uint count = counts.a + counts.b;
    OutputTile tile;
    tile.problem = p;
    tile.first = index * TILE;
    tile.items = min(count - tile.first, TILE);
#ifdef FUSED
    Bounds ends = search_both_co_ranks(p, tile.first, tile.first + tile.items, counts);
    tile.first_a = ends.low;
    uint end_a = ends.high;
#else
    Words co_ranks = Words(scratch_part(problem_co_ranks(p)));
    tile.first_a = co_ranks.v[index];
    uint end_a = tile.items == count - tile.first ? counts.a : co_ranks.v[index + 1];
#endif
    // Co-ranks of sequences that are not sorted may decrease, or increase by more than a tile. Clamped, they still name
    // items of both sequences.
    tile.items_a = min(max(end_a, tile.first_a) - tile.first_a, tile.items);
    tile.first_b = tile.first - tile.first_a;
    return tile;
}

void main() {
    // 1. Find the items of this workgroup. The first workgroup of a problem writes its status.
    uint p = linear_group() / args.groups;
    uint index = linear_group() % args.groups;
    if (p >= args.problem_count) return;
    if (index == 0 && thread_id() == 0) write_status(p);
    Counts counts = counts_of(p);
    if (index >= tiles_of(counts.a + counts.b, TILE)) return;
    OutputTile tile = find_tile(p, index, counts);

    // 2. Load their keys, and values of one word.
    load_items(tile);
    barrier();

    // 3. Merge the items of each thread.
    uint keys[ITEMS_WORDS];
    uint diagonal = min(thread_id() * ITEMS, tile.items);
    merge_items(tile, diagonal, keys);
    barrier();
    if (VALUE_WORDS == 0) {
        stage_keys(tile, diagonal, keys);
        barrier();
    }

    // 4. Copy them to the output.
    if (!DROPS_KEYS) store_keys(tile);
    if (VALUE_WORDS != 0) store_values(tile);
}
