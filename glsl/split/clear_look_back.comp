// Clears the look-back state of a split that skips the histogram. (Its bins are not consecutive in the output, so the
// scatter needs no totals; but the histogram is the pass that otherwise clears this state.)
//
// In:  starts[BINS] of each problem, if the caller gives bucket starts.
// Out: cleared look-back descriptors of every tile, or of the whole ring. Given starts are copied to the second row of
//      histogram, followed by the capacity of the output. (The scatter pass later stores the counts in the first row.)
//      Without a prepare pass, also the status of the problem and cleared tickets.
// Workgroups: one for every args.chunk tiles.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH ClearLookBackPush
#define ROW BucketInfoProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_words.glsl"
#include "radix/tickets.glsl"
#include "radix/tile_map.glsl"
#include "radix/clear.glsl"
#include "split/given_starts.glsl"

layout(constant_id = SPEC_OUTPUT) const uint OUTPUT = OUTPUT_BUCKETS;

void main() {
    // 1. Clear the descriptors of this workgroup's tiles. The workgroup of a problem's first tile copies its starts.
    uint first = linear_group() * args.chunk;
    uint end = first + args.chunk;
    Tile tile;
    for (uint t = first; t < end && find_tile(t, args.tile_items, tile);) {
        uint tiles = min(end - t, tile.tiles - tile.index);
        if (SCAN < SCAN_RING) clear_look_back(tile, tiles);
        if (OUTPUT == OUTPUT_PLACED && tile.index == 0) {
            Words histogram = histogram_of(tile.problem);
            Words starts = Words(problem_starts(tile.problem));
            for (uint bin = thread_id(); bin < BINS; bin += THREADS) histogram.v[BINS + bin] = starts.v[bin];
            if (thread_id() == 0) histogram.v[2 * BINS] = problem_capacity(tile.problem);
        }
        t += tiles;
    }

    // 2. Clear the ring; without a prepare pass, also write the status and clear the tickets.
    if (SCAN >= SCAN_RING) clear_ring();
    if (DIRECT) write_status_and_clear_tickets();
}
