// Merge of two sequences with segments (SEGMENTED), without the marked items of A (UPDATES), or both; the last step. As
// tiles.comp: a workgroup loads the keys of its tile into shared memory, A's first. Each thread finds by binary search
// where its ITEMS items begin in both, and merges these one after the other. With USER_FUNCTION, a user-defined
// comparator is the order (merge/user.glsl): such a kernel is FUSED, so that it is the only one that compares keys.
//
// In:  sequences A and B, sorted, or with sorted segments; their counts, or the offsets of their segments; with
//      UPDATES, marked (merge/marks.glsl); without FUSED, co_ranks[tile]: the number of items of A before the tile.
// Out: the merged keys (and values), of equal keys those of A first, without the marked items of A; their number; the
//      offsets of segments in the output; the status of the problem.
// Workgroups: args.groups for each problem (one merge): one for each tile of THREADS * ITEMS items, and one for each
//             THREADS * THREAD_OFFSETS offsets, at its maximum counts. If the actual counts are smaller, the others
//             exit.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
//
// A thread merges up to the end of a segment, then goes on with the next one that has items. The index of an item in
// the output is its index in the merge minus the number of marked items of A before it. So no thread or tile waits for
// the count of another one.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#ifdef USER_FUNCTION
#define FUSED
#include "merge/user.glsl"
#endif
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
#include "merge/details.glsl"
#include "merge/segments.glsl"
#include "merge/marks.glsl"
#ifdef USER_FUNCTION
MERGE_DETAIL(uvec2, user_address)
MERGE_DETAIL(uvec4, user_words)
#endif
#include "merge/status.glsl"
#ifdef FUSED
const uint MOST_TEAMS = 2;
#include "merge/search.glsl"
#endif

// As in tiles.comp.
#ifdef FUSED
const bool STAGES_VALUES = false;
#else
const bool STAGES_VALUES = VALUE_WORDS == 1 && !VALUES_ARE_INDICES;
#endif

#include "merge/tile.glsl"
#include "merge/find_tile.glsl"

// Words with a bit for each item of a thread.
const uint MASK_WORDS = (ITEMS + 31) / 32;

// The marks of a tile's items of A: words of `marked`, from that of the first item on.
shared uint sh_marked[UPDATES ? 2 * (TILE / 32 + 2) : 1];

void load_marks(OutputTile tile) {
    Words marked = Words(scratch_part(merge_marked(tile.problem)));
    uint first = tile.first_a / 32;
    uint words = (tile.first_a + tile.items_a) / 32 - first + 1;
    for (uint i = thread_id(); i < 2 * words; i += THREADS) sh_marked[i] = marked.v[2 * first + i];
}

bool is_marked(OutputTile tile, uint position) {
    uint item = tile.first_a % 32 + position;
    return (sh_marked[item / 32 * 2] >> item % 32 & 1) != 0;
}

// Returns the number of marked items of A before a position of the tile, those of preceding tiles included.
uint marked_before(OutputTile tile, uint position) {
    uint item = tile.first_a % 32 + position;
    return sh_marked[item / 32 * 2 + 1] + bitCount(sh_marked[item / 32 * 2] & bits_before(item));
}

// The positions of a tile that are merged with one another: those of A are [a, end_a), those of B [b, end_b).
struct Runs {
    uint segment;
    uint a;
    uint end_a;
    uint b;
    uint end_b;
};

// Returns the position of an item relative to the tile's first item of its sequence, clamped to [0, items].
uint position_of(uint item, uint first, uint items) { return min(item - min(item, first), items); }

// Returns the ranges that are merged at a diagonal of the tile: the whole tile, or with SEGMENTED the segment that
// contains it. The search for this segment begins with `segment`: see find_segment().
Runs runs_at(OutputTile tile, uint diagonal, Counts counts, uint segment, uint step) {
    Runs runs;
    runs.segment = segment;
    runs.a = 0;
    runs.end_a = tile.items_a;
    runs.b = tile.items_a;
    runs.end_b = tile.items;
    if (!SEGMENTED) return runs;
    runs.segment = find_segment(tile.problem, tile.first + diagonal, counts, segment, step);
    Counts start = segment_start(tile.problem, runs.segment, counts);
    Counts end = segment_start(tile.problem, runs.segment + 1, counts);
    uint items_b = tile.items - tile.items_a;
    runs.a = position_of(start.a, tile.first_a, tile.items_a);
    runs.end_a = max(position_of(end.a, tile.first_a, tile.items_a), runs.a);
    runs.b += position_of(start.b, tile.first_b, items_b);
    runs.end_b = max(tile.items_a + position_of(end.b, tile.first_b, items_b), runs.b);
    return runs;
}

// Merges ITEMS items, from `diagonal` on. With values, it writes the positions that they come from to shared memory.
// Otherwise it returns their keys, encoded, undefined past the last item; and `removed`, a bit for each of the thread's
// items. Returns the index in the tile's output of the first item that is left.
uint merge_items(
    OutputTile tile, uint diagonal, Counts counts, out uint removed[MASK_WORDS], out uint keys[ITEMS_WORDS]
) {
    uint last = tile.items - 1;
    Runs runs = runs_at(tile, diagonal, counts, 0, SEGMENTED ? segments_of(tile.problem) / 2 + 1 : 1);
    uint items_a = runs.end_a - runs.a;
    uint items_b = runs.end_b - runs.b;
    uint own = diagonal;
    if (SEGMENTED) own = min(diagonal - min(runs.a + (runs.b - tile.items_a), diagonal), items_a + items_b);
    uint from_a = co_rank(own, runs.a, items_a, runs.b, items_b);
    uint a_next = runs.a + from_a;
    uint b_next = runs.b + (own - from_a);
    uint first = diagonal;
    if (UPDATES) first -= min(marked_before(tile, a_next) - marked_before(tile, 0), diagonal);
    uint target = first;
    [[unroll]] for (uint w = 0; w < MASK_WORDS; ++w) removed[w] = 0;
    uint key_a[KEY_WORDS];
    uint key_b[KEY_WORDS];
    load_item(min(a_next, last), key_a);
    load_item(min(b_next, last), key_b);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        bool exists = diagonal + k < tile.items;
        if (SEGMENTED && exists && a_next >= runs.end_a && b_next >= runs.end_b) {
            runs = runs_at(tile, diagonal + k, counts, runs.segment, 1);
        }
        bool takes_b = b_next < runs.end_b && (a_next >= runs.end_a || comes_after(key_a, key_b));
        uint position = takes_b ? b_next : a_next;
        // Offsets of segments that are not sorted may name more items than the tile has.
        if (SEGMENTED) position = min(position, last);
        bool removes = UPDATES && position < tile.items_a && is_marked(tile, position);
        if (VALUE_WORDS == 0) {
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[k * KEY_WORDS + w] = takes_b ? key_b[w] : key_a[w];
            if (removes) removed[k / 32] |= 1 << k % 32;
        } else if (exists && !removes) {
            sh_positions[target] = position;
        }
        if (!removes) target += 1;
        take_item(takes_b, a_next, b_next, last, key_a, key_b);
    }
    return first;
}

// Replaces the keys in shared memory by this thread's merged keys, decoded, from place `target` on.
void stage_keys(OutputTile tile, uint diagonal, uint target, uint removed[MASK_WORDS], uint keys[ITEMS_WORDS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (diagonal + k >= tile.items || UPDATES && (removed[k / 32] >> k % 32 & 1) != 0) continue;
        uint key[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = keys[k * KEY_WORDS + w];
        stage_key(target, key);
        target += 1;
    }
}

// Writes the offsets of segments in the output, THREADS * THREAD_OFFSETS of them.
void write_offsets(uint p, uint group, Counts counts) {
    uvec2 offsets_out = merge_offsets_out(p);
    uint segments = segments_of(p);
    if (is_null(offsets_out) || group > segments / (THREADS * THREAD_OFFSETS)) return;
    for (uint k = 0; k < THREAD_OFFSETS; ++k) {
        uint s = (group * THREAD_OFFSETS + k) * THREADS + thread_id();
        if (s > segments) break;
        Counts start = segment_start(p, s, counts);
        Words(offsets_out).v[s] = start.a + start.b - (UPDATES ? marked_before(p, start.a) : 0);
    }
}

void main() {
    // 1. Find the items of this workgroup. The first workgroup of a problem writes its results.
    uint p = linear_group() / args.groups;
    uint index = linear_group() % args.groups;
    if (p >= args.problem_count) return;
#ifdef USER_FUNCTION
    if (!INTERFACE_MATCHES) return;
    user_data.address = merge_user_address(p);
    user_data.words = merge_user_words(p);
#endif
    Counts counts = all_counts(p);
    uint count = counts.a + counts.b;
    if (SEGMENTED) write_offsets(p, index, counts);
    if (index == 0 && thread_id() == 0) write_results(p, count - (UPDATES ? marked_before(p, counts.a) : 0));
    if (index >= tiles_of(count, TILE)) return;
    OutputTile tile = find_tile(p, index, counts);

    // 2. Load their keys, values of one word, and marks.
    load_items(tile);
    if (UPDATES) {
        load_marks(tile);
        // In sequences that are not sorted, threads may leave some of them unwritten.
        if (VALUE_WORDS != 0) {
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_positions[k * THREADS + thread_id()] = 0;
        }
    }
    barrier();

    // 3. Merge the items of each thread.
    uint keys[ITEMS_WORDS];
    uint diagonal = min(thread_id() * ITEMS, tile.items);
    uint removed[MASK_WORDS];
    uint first = merge_items(tile, diagonal, counts, removed, keys);
    barrier();
    if (VALUE_WORDS == 0) {
        stage_keys(tile, diagonal, first, removed, keys);
        barrier();
    }

    // 4. Copy them to the output. From here on, `tile` has the items that are left.
    if (UPDATES) {
        tile.first -= marked_before(tile, 0);
        tile.items -= marked_before(tile, tile.items_a) - marked_before(tile, 0);
        if (tile.items == 0) return;
    }
    if (!DROPS_KEYS) store_keys(tile);
    if (VALUE_WORDS != 0) store_values(tile);
}
