// Small split: scatters few items in a single dispatch. Each workgroup takes a tile and counts all other items itself.
//
// In:  keys (and values), or labels in place of keys; the count if it is in device memory.
// Out: keys (and values), stably ordered by bucket. By OUTPUT: those of one bucket; or, in place of values, the rank of
//      each item in its bucket.
// Paper: Ashkiani, Davidson, Meyer and Owens, "GPU multisplit", 2016; here each subproblem computes its own prefix.
// Workgroups: args.groups for each problem, one for each tile of the largest.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/scan.glsl"
#include "radix/keys.glsl"
#include "core/counters.glsl"
#define PUSH SingleDispatchPush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/function.glsl"
#include "radix/pass_io.glsl"
#include "radix/planes.glsl"
#include "radix/digit.glsl"
#define LEAST_COUNTERS 1
#include "radix/tile.glsl"
#include "split/redundant_histogram.glsl"

layout(constant_id = SPEC_OUTPUT) const uint OUTPUT = OUTPUT_BUCKETS;
const uint OUTPUT_KIND = OUTPUT & 0xff;

// Start of each bin.
shared uint sh_bases[BINS];

// Loads the word with the digit of this thread's items. Past the last item: the last bin, which does not affect the
// others.
void load_tile(Tile tile, out uint keys[ITEMS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = tile.index * TILE + striped(k);
        keys[k] = i < tile.count ? load_encoded(tile.problem, digit_word(), i) : PAD;
    }
}

// Ranks each item in its bin and row. The rows then hold the counts.
void rank_tile(uint bins[ITEMS], out uint ranks[ITEMS]) {
    uint turns = subgroups_per_row();
    for (uint turn = 0; turn < turns; ++turn) {
        if (turn == subgroup_id() % turns) {
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) ranks[k] = rank_key(bins[k]);
        }
        if (turns != 1) barrier();
    }
}

// Replaces the count of each row and bin by the exclusive sum over rows, and computes the starts of the bins.
void place_bins() {
    uint bases[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        if (bin >= BINS) continue;
        uint next = recounted(0, bin);
        uint counts[HISTOGRAMS];
        [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) counts[row] = sh_counts[row * BINS + bin];
        [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) {
            sh_counts[row * BINS + bin] = next;
            next += counts[row];
        }
        bases[j] = next + recounted(1, bin);
    }
    if (OUTPUT_KIND != OUTPUT_BUCKETS) return;
    scan_digits(bases);
    for (uint j = 0; j < DIGITS; ++j) {
        if (digit_of_thread(j) < BINS) sh_bases[digit_of_thread(j)] = bases[j];
    }
}

// Loads a word of the tile's items, decoded; any value past the last item.
void load_moving(Tile tile, PassIo io, uint w, out uint words[ITEMS]) {
    Plane source = source_plane(tile.problem, w, io, tile.count);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = tile.index * TILE + striped(k);
        if (i < tile.count) words[k] = turn_moving(tile.problem, w, io, tile.count, i, load_word(w, source, io.first, i));
    }
}

void split_tile(Tile tile, PassIo io) {
    // 1. Find each item's bin, rank the tile, count all other items. The first of those, and the words that follow the
    // keys, are in flight together with the tile.
    Rest rest;
    rest.problem = tile.problem;
    rest.count = tile.count;
    rest.first = tile.index * TILE;
    rest.items = TILE;
    uint keys[ITEMS];
    uint bins[ITEMS];
    uint ranks[ITEMS];
    uint followers[ITEMS];
    load_tile(tile, keys);
    if (VALUE_WORDS != 0) load_moving(tile, io, KEY_WORDS, followers);
    begin_digit(digit_shift());
    clear_recount();
    [[dont_unroll]] for (uint from = 0; from < tile.count; from += BATCH * THREADS) {
        uint others[BATCH];
        load_batch(rest, from, others);
        if (from == 0) {
            barrier();
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) bins[k] = digit_of(keys[k], digit_shift(), digit_mask());
            rank_tile(bins, ranks);
        }
        count_batch(rest, from, others);
    }
    barrier();

    // 2. Sum.
    place_bins();
    barrier();

    // 3. Scatter.
    uint targets[ITEMS];
    uint leaving = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        targets[k] = sh_counts[own_counter(bins[k])] + ranks[k];
        if (OUTPUT_KIND == OUTPUT_BUCKETS) targets[k] += sh_bases[bins[k]];
        bool wanted = OUTPUT_KIND != OUTPUT_ONE || bins[k] == OUTPUT >> 8;
        if (wanted && tile.index * TILE + striped(k) < tile.count) leaving |= 1u << k;
    }
    if (OUTPUT_KIND == OUTPUT_RANKS) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint i = tile.index * TILE + striped(k);
            if (i < tile.count) store_word(target_plane(tile.problem, TRAIL, io, tile.count), i, targets[k]);
        }
        return;
    }
    for (uint w = DROPS_KEYS ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
        uint words[ITEMS];
        if ((KEY_WORDS > 1 || w != 0) && w != KEY_WORDS) load_moving(tile, io, w, words);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (KEY_WORDS == 1 && w == 0) words[k] = KEYS_APART ? keys[k] : decode_top(keys[k]);
            if (w == KEY_WORDS) words[k] = followers[k];
            if ((leaving >> k & 1) != 0) store_word(target_plane(tile.problem, w, io, tile.count), targets[k], words[k]);
        }
    }
}

void main() {
    Tile tile;
    tile.problem = SINGLE ? 0 : linear_group() / args.groups;
    tile.index = SINGLE ? linear_group() : linear_group() % args.groups;
    if (tile.problem >= args.problem_count) return;
    tile.count = requested_count(tile.problem);
    tile.tiles = tiles_of(tile.count, TILE);
    if (tile.index >= tile.tiles) return;
    enter_function(tile.problem);
    split_tile(tile, input_to_output());
}
