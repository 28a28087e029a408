// Sort by count, scan and reorder, step 3 of a digit: every tile's keys go to the places that the scan has found.
//
// In:  keys (and values), tile_words[BINS][tiles], histogram[digit][BINS].
// Out: keys (and values) stably sorted by the digit, in the other planes.
// Groups: one a tile.
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "lib/keys.glsl"
#include "lib/counters.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"
#include "sort/planes.glsl"
#include "sort/tile.glsl"
#include "sort/load.glsl"
#include "sort/prove.glsl"
#include "sort/scatter.glsl"

void sort_tile(Tile tile, Move move) {
    // 1. Load and count.
    begin_digit(digit_shift());
    uint keys[ITEMS];
    load_keys(tile, digit_word(), move, keys);
    barrier();
    turn_digits(keys, digit_shift(), digit_mask());
    count_digits(keys, digit_shift(), digit_mask());
    barrier();

    // 2. Where the tile's digits begin, in the tile and in the problem.
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    if (is_full(tile)) find_hot_digit(totals);
    uint starts[MAX_DIGITS] = totals;
    scan_digits(starts);
    uint bases[MAX_DIGITS];
    Words words = tile_words_of(tile.problem);
    Words histogram = histogram_of(tile.problem);
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        bases[j] = digit < BINS ? histogram.v[pass_index() * BINS + digit] : 0;
    }
    scan_digits(bases);
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit < BINS) sh_offsets[digit] = bases[j] + words.v[digit * tile.tiles + tile.index] - starts[j];
    }

    // 3. Order the tile and let it go.
    place_rows(starts);
    barrier();
    uint places[PLACE_WORDS];
    rank_keys(keys, digit_mask(), !PROVES, places);
    barrier();
    uint follower[ITEMS];
    if (READS_AHEAD) load_moving(tile, KEY_WORDS, move, follower);
    if (PROVES) {
        prove_order(tile.count - tile.index * TILE);
        barrier();
        mend_order(tile, move, keys, places);
    }
    if (BY_PLACES) {
        place_words(keys, places);
        barrier();
    }
    scatter(tile, move, places, follower);
}

void main() {
    Tile tile;
    if (!find_tile(linear_group(), TILE, tile)) return;
    Move move = move_of_pass(passed_over_by(tile.problem));
    if (move.moves) sort_tile(tile, move);
}
