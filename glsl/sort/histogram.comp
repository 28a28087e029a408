// Sort by look-back, step 1: the histograms of all digits in one read of the keys.
//
// In:  keys.
// Out: histogram[PASSES][RADIX] of each problem, added to; look-back words of every tile, zeroed.
// Groups: one for every args.chunk tiles of the line. A chunk may cross problems: the counts are handed over at each border.
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

shared uint sh_histogram[PASSES * RADIX];

void clear_counts() {
    for (uint i = thread_id(); i < PASSES * RADIX; i += THREADS) sh_histogram[i] = 0;
}

void count_key(uint key) {
    [[unroll]] for (uint pass = 0; pass < PASSES; ++pass) {
        atomicAdd(sh_histogram[pass * RADIX + (key >> pass * RADIX_BITS & (RADIX - 1))], 1);
    }
}

void count_tile(Tile tile) {
    Words keys = Words(problem_keys(tile.problem));
    uint first = tile.index * TILE;
    uint end = min(first + TILE, tile.count);
    for (uint from = first; from < end; from += BATCH_KEYS) {
        uint batch[BATCH];
        load_batch(keys, from, end, batch);
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            if (batch_index(from, k) < end) count_key(batch[k]);
        }
    }
}

void clear_look_back(Tile tile) {
    Words words = Words(problem_tile_words(tile.problem));
    for (uint d = thread_id(); d < RADIX; d += THREADS) words.v[tile.index * RADIX + d] = 0;
}

void hand_over(uint p) {
    barrier();
    Words histogram = Words(problem_histogram(p));
    for (uint i = thread_id(); i < PASSES * RADIX; i += THREADS) {
        uint count = sh_histogram[i];
        if (count != 0) atomicAdd(histogram.v[i], count, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
    barrier();
}

void main() {
    uint first = linear_group() * args.chunk;
    clear_counts();
    barrier();

    // Every branch depends on the tile alone, so the whole workgroup takes it.
    Tile tile;
    for (uint t = first; t < first + args.chunk; ++t) {
        if (!find_tile(t, TILE, tile)) break;
        count_tile(tile);
        clear_look_back(tile);
        bool last_of_chunk = t + 1 == first + args.chunk;
        bool last_of_problem = tile.index + 1 == tile.tiles;
        if (last_of_chunk || last_of_problem) {
            hand_over(tile.problem);
            clear_counts();
            barrier();
        }
    }
}
