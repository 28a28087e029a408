// Sort by count, scan and reorder, step 1 of a digit: how many keys of each digit every tile holds.
//
// In:  keys.
// Out: tile_words[RADIX][tiles] of the problem, digit-major, so that each digit's row can be summed in place.
// Paper: Blelloch, "Prefix sums and their applications", 1990; Merrill and Grimshaw, "Revisiting sorting for GPGPU", 2010.
// Groups: one a tile.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "sort/problem.glsl"
#include "sort/stream.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

shared uint sh_histogram[RADIX];

void main() {
    Tile tile;
    if (!find_tile(linear_group(), TILE, tile)) return;

    // 1. Count.
    for (uint d = thread_id(); d < RADIX; d += THREADS) sh_histogram[d] = 0;
    barrier();
    Words keys = Words(source_keys(tile.problem));
    uint first = tile.index * TILE;
    uint end = min(first + TILE, tile.count);
    for (uint from = first; from < end; from += BATCH_KEYS) {
        uint batch[BATCH];
        load_batch(keys, from, end, batch);
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            if (batch_index(from, k) < end) atomicAdd(sh_histogram[batch[k] >> args.shift & (RADIX - 1)], 1);
        }
    }
    barrier();

    // 2. Store.
    Words counts = Words(problem_tile_words(tile.problem));
    for (uint d = thread_id(); d < RADIX; d += THREADS) counts.v[d * tile.tiles + tile.index] = sh_histogram[d];
}
