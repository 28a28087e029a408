// Split by look-back, before its pass, where bins do not begin one behind the other and so nobody counts keys: clears what tiles meet in.
//
// In:  where the caller says that bins begin, starts[BINS] of each problem.
// Out: look-back words of every tile, or the whole ring, zeroed. starts, if they are told, in the second row of histogram, and behind them how many
//      items the output has room for: the first row is for what the pass leaves. Where nothing has been prepared, the problem's status, and tickets zeroed.
// Groups: one for every args.chunk tiles of the line.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "sort/problem.glsl"
#include "sort/clear.glsl"

layout(constant_id = SPEC_OUTPUT) const uint OUTPUT = OUTPUT_BUCKETS;

// As tell.glsl has them.
uvec2 starts_of(uint p) { return problem_keys(p); }
uint output_items_of(uint p) { return problem_alternate_values(p).x; }

void main() {
    uint first = linear_group() * args.chunk;
    uint end = first + args.chunk;
    Tile tile;
    for (uint t = first; t < end && find_tile(t, args.tile_items, tile);) {
        uint tiles = min(end - t, tile.tiles - tile.index);
        if (SCAN < SCAN_RING) clear_look_back(tile, tiles);
        if (OUTPUT == OUTPUT_PLACED && tile.index == 0) {
            Words histogram = histogram_of(tile.problem);
            for (uint bin = thread_id(); bin < BINS; bin += THREADS) histogram.v[BINS + bin] = Words(starts_of(tile.problem)).v[bin];
            if (thread_id() == 0) histogram.v[2 * BINS] = output_items_of(tile.problem);
        }
        t += tiles;
    }
    if (SCAN >= SCAN_RING) clear_ring();
    if (DIRECT) begin_alone();
}
