// Update of a sequence, beside merge_co_ranks: finds the marked items of A, and how many of them precede each item.
//
// In:  the marks: a bit for each item of A; with MARKS_VALUES, a bit for each value, and the values of A; the count of
//      A, or the offsets of segments, if they are in device memory; tile_prefixes: cleared by a transfer.
// Out: marked[2 * i]: a bit for each of the items of A from 32 * i on; marked[2 * i + 1]: the number of marked items
//      before these (merge/marks.glsl).
// Workgroups: args.groups for each problem: max_a / (32 * THREADS) + 1, one for each tile of 32 * THREADS items of A.
//             If the actual count is smaller, the others exit.
// Memory order: inputs come from earlier commands. Workgroups share only tile_prefixes (core/tile_prefixes.glsl).
// Progress: waits for preceding tiles, for a bounded number of polls. Then the workgroup counts a missing tile itself.
//
// Each thread has 32 consecutive items: a word of marks.
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

PROBLEM_MEMBER(uint, tile_prefixes)

#include "merge/sequences.glsl"
#include "merge/details.glsl"
#include "merge/segments.glsl"
#include "merge/marks.glsl"

MERGE_DETAIL(uvec2, marks)
MERGE_DETAIL(uint, mark_words)
MERGE_DETAIL(uint, mark_tiles)

const uint TILE_ITEMS = 32 * THREADS;

// With MARKS_VALUES: word t has the marks of items 32 * t to 32 * t + 31 of the tile.
shared uint sh_marked[THREADS];

// Items of a thread in a round: their values are loaded at once, then their marks.
const uint LOADS = 16;

// Finds the marked values of the tile that begins with item `first`, and sets the bits of these items in sh_marked.
void mark_values(uint p, uint first, uint count) {
    Words values = Words(advance(problem_values_a(p), bytes_of(first, VALUE_STRIDE * 4)));
    Words marks = Words(merge_marks(p));
    uint items = min(count - min(count, first), TILE_ITEMS);
    uint mark_words = merge_mark_words(p);
    if (items == 0 || mark_words == 0) return;
    [[dont_unroll]] for (uint round = 0; round < 32; round += LOADS) {
        uint loaded[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            uint item = (round + k) * THREADS + thread_id();
            loaded[k] = values.v[min(item, items - 1) * VALUE_STRIDE];
        }
        // Values past the end of the marks are not marked.
        uint words[LOADS];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) words[k] = marks.v[min(loaded[k] / 32, mark_words - 1)];
        [[unroll]] for (uint k = 0; k < LOADS; ++k) {
            uint item = (round + k) * THREADS + thread_id();
            bool is_marked = loaded[k] / 32 < mark_words && (words[k] >> loaded[k] % 32 & 1) != 0;
            if (item < items && is_marked) atomicOr(sh_marked[item / 32], 1 << item % 32);
        }
    }
}

// Returns the marks of this thread's items in a tile. The whole workgroup must call it.
uint own_marks(uint p, uint tile, uint count) {
    uint first = tile * TILE_ITEMS;
    uint own = first + thread_id() * 32;
    if (!MARKS_VALUES) {
        if (own >= count) return 0;
        uint marks = Words(merge_marks(p)).v[own / 32];
        return count - own < 32 ? marks & bits_before(count) : marks;
    }
    sh_marked[thread_id()] = 0;
    barrier();
    mark_values(p, first, count);
    barrier();
    uint marks = sh_marked[thread_id()];
    barrier();
    return marks;
}

void main() {
    // 1. Find the marks of this workgroup.
    uint p = linear_group() / args.groups;
    uint group = linear_group() % args.groups;
    if (p >= args.problem_count) return;
    uint count = all_counts(p).a;
    if (group > count / TILE_ITEMS) return;
    TilePrefixes prefixes = TilePrefixes(Words(scratch_part(problem_tile_prefixes(p))), merge_mark_tiles(p));
    uint tile = take_tile(prefixes);
    delay(prefixes, tile);
    uint marks = own_marks(p, tile, count);
    uint found;
    uint preceding = scan_threads(bitCount(marks), found);
    if (thread_id() == 0) publish_aggregate(prefixes, tile, found);

    // 2. Look back: sum the aggregates of the preceding tiles.
    LookBack before = begin_look_back(tile);
    [[dont_unroll]] while (before.next != 0) {
        look_back(prefixes, before);
        if (before.next == 0) break;
        before.next -= 1;
        uint missing;
        scan_threads(bitCount(own_marks(p, before.next, count)), missing);
        if (thread_id() == 0) publish_missing_aggregate(prefixes, before.next, missing);
        before.sum += missing;
    }
    if (thread_id() == 0) publish_inclusive_prefix(prefixes, tile, before.sum + found);

    // 3. Store each word of marks with its exclusive prefix, up to the word of the end of A.
    uint row = tile * THREADS + thread_id();
    if (row > count / 32) return;
    Words marked = Words(scratch_part(merge_marked(p)));
    marked.v[2 * row] = marks;
    marked.v[2 * row + 1] = before.sum + preceding;
}
