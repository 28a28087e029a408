// Merge of two sequences, to compare with merge path: each workgroup merges a section of the output, one tile after the
// other. The "tiled kernel" and, with CIRCULAR, the "circular buffer kernel" of Kirk and Hwu, "Programming Massively
// Parallel Processors", chapter "Merge".
//
// In:  sequences A and B, sorted; their counts, if they are in device memory.
// Out: the merged keys (and values), of equal keys those of A first; their number; the status of the problem.
// Workgroups: args.groups for each problem: one for each section of SECTION_TILES * TILE items of the output.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// Only the co-ranks at both ends of the section are searched for in device memory. For each tile, shared memory holds
// the next TILE keys of A and of B: as many as the tile may take from either. The tile takes TILE of these 2 * TILE.
// The tiled kernel loads the others again. The circular buffer keeps them, and loads only as many as the last tile
// took. Keys are stored from shared memory, and values are copied from device memory.
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

// Keys as they are in memory: those of A, then those of B, with room for TILE each.
shared uint sh_words[2 * TILE * KEY_WORDS];

// The next items of a sequence that shared memory holds.
struct Queue {
    uint first;  // index of the first one in the sequence
    uint end;    // index of the end of the section in the sequence
    uint held;   // number of items in shared memory
};

// The slot of each queue's first item, in its half of shared memory.
uint start_a = 0;
uint start_b = 0;

// Returns the slot in shared memory of a logical position. Items of A have positions from 0 on, those of B from TILE
// on.
uint slot_of(uint position) {
    bool of_b = position >= TILE;
    uint index = of_b ? position - TILE + start_b : position + start_a;
    if (index >= TILE) index -= TILE;
    return of_b ? TILE + index : index;
}

// Loads the key at a logical position, encoded.
void load_item(uint position, out uint key[KEY_WORDS]) {
    uint slot = slot_of(position);
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = sh_words[slot * KEY_WORDS + memory_word(w)];
    encode(key);
}

// Stores the key at a logical position as that of item `target` of the output.
void store_key(uint p, uint position, uint target) {
    uint slot = slot_of(position);
    Words to = item_of(problem_keys_out(p), target, KEY_STRIDE);
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) to.v[w] = sh_words[slot * KEY_WORDS + w];
}

#include "merge/path.glsl"

// Loads items until the queue holds TILE, or the rest of the section. `first_position`: logical position of the queue's
// first item.
void fill(inout Queue queue, uvec2 keys, uint first_position) {
    uint wanted = min(queue.end - queue.first, TILE);
#ifdef CIRCULAR
    uint loaded = queue.held;
#else
    uint loaded = 0;
#endif
    for (uint i = loaded + thread_id(); i < wanted; i += THREADS) {
        Words from = item_of(keys, queue.first + i, KEY_STRIDE);
        uint slot = slot_of(first_position + i);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) sh_words[slot * KEY_WORDS + w] = from.v[w];
    }
    queue.held = wanted;
}

// Removes the first `items` items of a queue.
void consume(inout Queue queue, uint items) {
    queue.first += items;
    queue.held -= items;
}

Queue queue_of(uint first, uint end) {
    Queue queue;
    queue.first = first;
    queue.end = end;
    queue.held = 0;
    return queue;
}

// Merges ITEMS items of a tile. `first`: index of the tile's first item in the output. `items`: items of the tile.
void merge_items(uint p, Queue a, Queue b, uint first, uint items) {
    uint diagonal = min(thread_id() * ITEMS, items);
    uint a_next = co_rank(diagonal, 0, a.held, TILE, b.held);
    uint b_next = diagonal - a_next;
    for (uint k = diagonal; k < min(diagonal + ITEMS, items); ++k) {
        bool takes_b = a_next >= a.held;
        if (!takes_b && b_next < b.held) {
            uint key_a[KEY_WORDS];
            uint key_b[KEY_WORDS];
            load_item(a_next, key_a);
            load_item(TILE + b_next, key_b);
            takes_b = comes_after(key_a, key_b);
        }
        if (!DROPS_KEYS) store_key(p, takes_b ? TILE + b_next : a_next, first + k);
        move_value(p, takes_b, takes_b ? b.first + b_next : a.first + a_next, first + k);
        if (takes_b) b_next += 1;
        else a_next += 1;
    }
}

void main() {
    // 1. Find the section of this workgroup. The first workgroup of a problem writes its results.
    uint p = linear_group() / args.groups;
    uint section = linear_group() % args.groups;
    if (p >= args.problem_count) return;
    Counts counts = counts_of(p);
    uint count = counts.a + counts.b;
    if (section == 0 && thread_id() == 0) write_results(p, count);
    if (section >= tiles_of(count, SECTION_TILES * TILE)) return;
    uint first = section * SECTION_TILES * TILE;
    uint end = first + min(count - first, SECTION_TILES * TILE);
    Bounds ends = search_both_co_ranks(p, log2_half(), first, end, counts);
    // Co-ranks of sequences that are not sorted may decrease, or increase by more than the section. Clamped, they still
    // name items of both sequences.
    uint first_a = ends.low;
    uint end_a = min(max(ends.high, first_a), first_a + (end - first));
    Queue a = queue_of(first_a, end_a);
    Queue b = queue_of(first - first_a, end - end_a);

    // 2. Merge it tile by tile.
    while (first < end) {
        fill(a, problem_keys_a(p), 0);
        fill(b, problem_keys_b(p), TILE);
        barrier();
        uint items = min(end - first, TILE);
        merge_items(p, a, b, first, items);
        // Number of items that the tile took from A. The others came from B.
        uint taken_a = co_rank(items, 0, a.held, TILE, b.held);
        // All threads have read the keys before the next tile replaces them.
        barrier();
        consume(a, taken_a);
        consume(b, items - taken_a);
#ifdef CIRCULAR
        start_a = (start_a + taken_a) % TILE;
        start_b = (start_b + items - taken_a) % TILE;
#endif
        first += items;
    }
}
