// Sort by count, scan and reorder, step 1 of a digit: how many keys of each digit every tile holds.
//
// In:  keys; the digits that all keys share.
// Out: tile_words[BINS][tiles] of the problem, digit-major, so that each digit's row can be summed in place. Where nothing has been
//      prepared, the problem's status.
// Paper: Blelloch, "Prefix sums and their applications", 1990; Merrill and Grimshaw, "Revisiting sorting for GPGPU", 2010.
// Groups: one a tile.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/keys.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"
#include "sort/planes.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;

// Keys in flight a thread: enough to cover memory latency, few enough to stay in registers.
const uint BATCH = 8;
const uint BATCH_KEYS = BATCH * THREADS;

shared uint sh_histogram[BINS];

uint load_key(Tile tile, Move move, Plane plane, uint word, uint i) {
    uint place = tile.index * TILE + i;
    if (move.first) return load_encoded(tile.problem, word, move, tile.count, place);
    return load_strided(plane, place);
}

void count_tile(Tile tile, Move move) {
    uint word = KEY_WORDS == 1 ? 0 : args.digit >> 8 & 0xff;
    uint mask = (1u << (args.digit >> 16)) - 1;
    Plane plane = source_plane(tile.problem, word, move, tile.count);
    uint valid = min(TILE, tile.count - tile.index * TILE);
    for (uint from = 0; from < valid; from += BATCH_KEYS) {
        uint keys[BATCH];
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            uint i = from + k * THREADS + thread_id();
            if (i < valid) keys[k] = load_key(tile, move, plane, word, i);
        }
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            uint i = from + k * THREADS + thread_id();
            if (i < valid) atomicAdd(sh_histogram[bin_of(keys[k], args.digit & 0xff, mask)], 1);
        }
    }
}

void main() {
    if (DIRECT && pass_index() == 0 && linear_group() == 0 && thread_id() == 0) write_status(0);
    Tile tile;
    if (!find_tile(linear_group(), TILE, tile)) return;
    Move move = move_of_pass(passed_over_by(tile.problem));
    if (!move.moves) return;

    // 1. Count.
    for (uint d = thread_id(); d < BINS; d += THREADS) sh_histogram[d] = 0;
    barrier();
    count_tile(tile, move);
    barrier();

    // 2. Store.
    Words counts = tile_words_of(tile.problem);
    for (uint d = thread_id(); d < BINS; d += THREADS) counts.v[d * tile.tiles + tile.index] = sh_histogram[d];
}
