// Sort by count, scan and reorder, step 2 of a digit: where in its digit each tile's keys begin.
//
// In:      the digits that all keys share.
// In, out: tile_words[BINS][tiles]: each row becomes its exclusive sum.
// Out:     histogram[BINS] of the digit: the sum of each row. The same numbers, where the histogram has been counted.
// Groups:  one for each digit of each problem.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan_threads.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

// Neighbouring words a thread sums by itself before the workgroup scans.
const uint RUN = 4;

void main() {
    uint group = linear_group();
    uint p = group / BINS;
    uint digit = group % BINS;
    if (p >= problems()) return;
    enter_segment(p);
    Move move = move_of_pass(passed_over_by(p));
    if (!move.moves) return;

    uint tiles = tiles_of(resolved_count(p), TILE);
    Words row = tile_words_of(p);
    uint base = digit * tiles;

    uint sum = 0;
    for (uint first = 0; first < tiles; first += THREADS * RUN) {
        uint start = first + thread_id() * RUN;
        uint run[RUN];
        uint value = 0;
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            run[i] = start + i < tiles ? row.v[base + start + i] : 0;
            value += run[i];
        }
        uint total;
        uint before = sum + scan_threads(value, total);
        [[unroll]] for (uint i = 0; i < RUN; ++i) {
            if (start + i < tiles) row.v[base + start + i] = before;
            before += run[i];
        }
        sum += total;
    }
    if (thread_id() == 0) histogram_of(p).v[pass_index() * BINS + digit] = sum;
}
