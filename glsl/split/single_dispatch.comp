// Split of few items in a single dispatch. Each workgroup ranks and scatters one tile. The positions of the tile's
// items depend on all other items, so each workgroup counts those itself (split/redundant_histogram.glsl).
//
// In:  keys (and values), or labels in place of keys; the count if it is in device memory.
// Out: keys (and values), stably ordered by bucket. By OUTPUT: those of one bucket; or, in place of values, the rank of
//      each item in its bucket.
// Paper: Ashkiani, Davidson, Meyer and Owens, "GPU multisplit", 2016. There, a separate kernel scans the histograms of
//        all subproblems; here, each workgroup computes its own prefix.
// Workgroups: args.groups for each problem, one for each tile of the largest.
// Memory order: inputs come from earlier dispatches; no workgroup accesses what another one writes. The output does not
//               overlap the input.
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

// Index of the first item of each bin in the output.
shared uint sh_bin_starts[BINS];

// Loads the word with the digit of this thread's items. Past the last item: PAD, whose bin is the last, so it does not
// affect others.
void load_tile(Tile tile, out uint keys[ITEMS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = tile.index * TILE + striped(k);
        keys[k] = i < tile.count ? load_encoded(tile.problem, digit_word(), i) : PAD;
    }
}

// Ranks each item among those of its bin and row of counters. The rows then hold the counts. Subgroups with the same
// row rank one after the other.
void rank_tile(uint bins[ITEMS], out uint ranks[ITEMS]) {
    uint subgroups = subgroups_per_row();
    for (uint i = 0; i < subgroups; ++i) {
        if (i == subgroup_id() % subgroups) {
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) ranks[k] = rank_key(bins[k]);
        }
        if (subgroups != 1) barrier();
    }
}

// Replaces the count of each row and bin by its exclusive prefix: the items of the bin in preceding tiles and rows.
// Then computes the starts of the bins.
void scan_bins() {
    uint bin_starts[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        uint bin = digit_of_thread(j);
        if (bin >= BINS) continue;
        uint next = redundant_count(0, bin);
        uint counts[HISTOGRAMS];
        [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) counts[row] = sh_counts[row * BINS + bin];
        [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) {
            sh_counts[row * BINS + bin] = next;
            next += counts[row];
        }
        bin_starts[j] = next + redundant_count(1, bin);
    }
    if (OUTPUT_KIND != OUTPUT_BUCKETS) return;
    scan_digits(bin_starts);
    for (uint j = 0; j < DIGITS; ++j) {
        if (digit_of_thread(j) < BINS) sh_bin_starts[digit_of_thread(j)] = bin_starts[j];
    }
}

// Loads word `w` of the tile's items, decoded. Past the last item, it is any value.
void load_words_for_scatter(Tile tile, PassIo io, uint w, out uint words[ITEMS]) {
    Plane source = source_plane(tile.problem, w, io, tile.count);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = tile.index * TILE + striped(k);
        if (i < tile.count) {
            words[k] = transcode_in_pass(tile.problem, w, io, tile.count, i, load_word(w, source, io.first, i));
        }
    }
}

void split_tile(Tile tile, PassIo io) {
    // 1. Rank the items of the tile, and count all other items. The loads of the tile, of the first other items and of
    // the words that follow the keys are in flight together.
    OtherItems others;
    others.problem = tile.problem;
    others.count = tile.count;
    others.own_first = tile.index * TILE;
    others.own_items = TILE;
    uint keys[ITEMS];
    uint bins[ITEMS];
    uint ranks[ITEMS];
    uint next_words[ITEMS];
    load_tile(tile, keys);
    if (VALUE_WORDS != 0) load_words_for_scatter(tile, io, KEY_WORDS, next_words);
    begin_digit(digit_shift());
    clear_redundant_histogram();
    [[dont_unroll]] for (uint from = 0; from < tile.count; from += BATCH * THREADS) {
        uint other_keys[BATCH];
        load_batch(others, from, other_keys);
        if (from == 0) {
            barrier();
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) bins[k] = digit_of(keys[k], digit_shift(), digit_mask());
            rank_tile(bins, ranks);
        }
        count_batch(others, from, other_keys);
    }
    barrier();

    // 2. Compute the exclusive prefix of each row and bin, and the starts of the bins.
    scan_bins();
    barrier();

    // 3. Scatter.
    uint targets[ITEMS];
    uint wanted_items = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        targets[k] = sh_counts[own_counter(bins[k])] + ranks[k];
        if (OUTPUT_KIND == OUTPUT_BUCKETS) targets[k] += sh_bin_starts[bins[k]];
        bool wanted = OUTPUT_KIND != OUTPUT_ONE || bins[k] == OUTPUT >> 8;
        if (wanted && tile.index * TILE + striped(k) < tile.count) wanted_items |= 1u << k;
    }
    if (OUTPUT_KIND == OUTPUT_RANKS) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint i = tile.index * TILE + striped(k);
            if (i < tile.count) {
                store_word(target_plane(tile.problem, VALUE_ARRAY_BEGIN, io, tile.count), i, targets[k]);
            }
        }
        return;
    }
    for (uint w = DROPS_KEYS ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
        uint words[ITEMS];
        if ((KEY_WORDS > 1 || w != 0) && w != KEY_WORDS) load_words_for_scatter(tile, io, w, words);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (KEY_WORDS == 1 && w == 0) words[k] = KEYS_IN_SCRATCH ? keys[k] : decode_top(keys[k]);
            if (w == KEY_WORDS) words[k] = next_words[k];
            if ((wanted_items >> k & 1) != 0) {
                store_word(target_plane(tile.problem, w, io, tile.count), targets[k], words[k]);
            }
        }
    }
}

void main() {
    // 1. Find the problem and the tile of this workgroup.
    Tile tile;
    tile.problem = SINGLE ? 0 : linear_group() / args.groups;
    tile.index = SINGLE ? linear_group() : linear_group() % args.groups;
    if (tile.problem >= args.problem_count) return;
    tile.count = requested_count(tile.problem);
    tile.tiles = tiles_of(tile.count, TILE);
    if (tile.index >= tile.tiles) return;

    // 2. Rank and scatter the tile.
    enter_function(tile.problem);
    split_tile(tile, input_to_output());
}
