// Reorder of reduce-then-scan: ranks and scatters by one digit. The scanned counts give the prefix of each tile.
//
// In:  keys (and values). tile_words[tiles][BINS]: in the row of a chunk's first tile, the counts of all preceding
//      chunks; in every other row, the counts of preceding tiles of the chunk. histogram[digit][BINS]: the totals, or
//      the bucket starts of the caller, followed by the capacity of the output in items.
// Out: keys (and values), stably sorted by the digit, in the target planes. Splits, by OUTPUT: the items of one bucket;
//      all items, in buckets at given starts; or, in place of values, the rank of each item in its bin.
// Paper: Merrill and Grimshaw, "Revisiting sorting for GPGPU", 2010.
// Workgroups: one for each tile.
// Memory order: inputs come from earlier dispatches. Each output index has one item, so no two workgroups write the
//               same word.
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
#define PUSH ReorderPush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_words.glsl"
#include "radix/tile_map.glsl"
#include "radix/function.glsl"
#include "radix/pass_io.glsl"
#include "radix/ping_pong.glsl"
#include "radix/planes.glsl"
#include "radix/digit.glsl"
// With fewer bins than shared memory is sized for, positions have gaps.
#define POSITIONS_ARE_PADDED (!VERIFIES_ORDER && BINS <= RADIX / 2)
#include "radix/tile.glsl"
#include "radix/load.glsl"
#include "radix/verify.glsl"
#include "radix/scatter.glsl"
#include "radix/chunks.glsl"

// Whether bins have different bases: consecutive, or given by the caller. Otherwise all begin at 0.
const bool HAS_BASES = OUTPUT_KIND == OUTPUT_BUCKETS || OUTPUT_KIND == OUTPUT_PLACED;

// Scatters items without reordering the tile.
void scatter_unordered(Tile tile, PassIo io, uint keys[ITEMS], uint positions[POSITION_WORDS]) {
    uint first = tile.index * TILE;
    uint targets[ITEMS];
    uint wanted_items = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint digit = digit_of(keys[k], digit_shift(), digit_mask());
        targets[k] = target_of(digit, position_of(positions, k));
        if (striped(k) < tile.count - first && is_wanted(digit, position_of(positions, k))) wanted_items |= 1u << k;
    }
    bool decodes = ENCODES && io.last && !KEYS_IN_SCRATCH;
    for (uint w = DROPS_KEYS && io.last ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
        Plane target = target_plane(tile.problem, w, io, tile.count);
        uint words[ITEMS];
        if (KEY_WORDS > 1 || w != 0) load_words_for_scatter(tile, w, io, words);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (KEY_WORDS == 1 && w == 0) words[k] = decodes ? decode_top(keys[k]) : keys[k];
            if ((wanted_items >> k & 1) != 0) store_word(target, targets[k], words[k]);
        }
    }
}

// Sorts a tile by the digit and scatters it.
void sort_tile(Tile tile, PassIo io) {
    // 1. Load and count. Loads of bases and of scanned counts are in flight together with the keys.
    uint chunk = first_of_chunk(tile, linear_group());
    Words rows = tile_words_of(tile.problem);
    Words histogram = histogram_of(tile.problem);
    uint bases[MAX_DIGITS];
    uint before_chunk[MAX_DIGITS];
    uint before_tile_in_chunk[MAX_DIGITS];
    if (LIMITED) output_capacity = histogram.v[BINS];
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        bases[j] = HAS_BASES && digit < BINS ? histogram.v[pass_index() * BINS + digit] : 0;
        before_chunk[j] = digit < BINS ? rows.v[chunk * BINS + digit] : 0;
        before_tile_in_chunk[j] = digit < BINS ? rows.v[tile.index * BINS + digit] : 0;
    }
    begin_digit(digit_shift());
    uint keys[ITEMS];
    load_keys(tile, digit_word(), io, keys);
    barrier();
    swizzle_digits(keys, digit_shift(), digit_mask());
    count_digits(keys, digit_shift(), digit_mask());
    barrier();

    // 2. Compute the start of each digit in the tile and in the output.
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    if (is_full(tile)) find_hot_digit(totals);
    uint starts[MAX_DIGITS] = totals;
    scan_digits(starts);
    if (OUTPUT_KIND == OUTPUT_BUCKETS) scan_digits(bases);
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        uint before = before_chunk[j] + (tile.index == chunk ? 0 : before_tile_in_chunk[j]);
        if (digit >= BINS) continue;
        if (LIMITED) {
            bases[j] = min(bases[j], output_capacity);
            before = min(before, room_from(bases[j], output_capacity));
        }
        sh_digit_scatter_base[digit] = bases[j] + before - starts[j];
    }

    // 3. Rank, reorder and scatter.
    start_rows(starts);
    barrier();
    uint positions[POSITION_WORDS];
    rank_keys(keys, digit_mask(), !VERIFIES_ORDER, positions);
    barrier();
    if (OUTPUT_KIND == OUTPUT_RANKS) {
        write_ranks(tile, io, keys, positions);
        return;
    }
    if (UNORDERED) {
        scatter_unordered(tile, io, keys, positions);
        return;
    }
    uint next_words[ITEMS];
    if (READS_AHEAD) load_words_for_scatter(tile, KEY_WORDS, io, next_words);
    if (VERIFIES_ORDER) {
        verify_order(tile.count - tile.index * TILE);
        barrier();
        rerank_with_ballots(tile, io, keys, positions);
    }
    if (BY_SOURCE_INDEX) {
        store_at_positions(keys, positions);
        barrier();
    }
    scatter(tile, io, positions, next_words);
}

void main() {
    // 1. Find the tile of this workgroup, and where the pass reads and writes.
    Tile tile;
    if (!find_tile(linear_group(), TILE, tile)) return;
    enter_function(tile.problem);
    PassIo io = pass_io(load_skipped_digits(tile.problem));

    // 2. Sort and scatter the tile, unless the pass is skipped.
    if (io.is_active) sort_tile(tile, io);
}
