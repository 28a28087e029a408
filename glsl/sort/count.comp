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
    for (uint i = first + thread_id(); i < end; i += THREADS) {
        atomicAdd(sh_histogram[keys.v[i] >> args.shift & (RADIX - 1)], 1);
    }
    barrier();

    // 2. Store.
    Words counts = Words(tile.problem.tile_words);
    for (uint d = thread_id(); d < RADIX; d += THREADS) counts.v[d * tile.tiles + tile.index] = sh_histogram[d];
}
