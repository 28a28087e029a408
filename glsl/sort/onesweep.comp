// Sort by look-back, step 2, once a digit: reads each key once and writes it once.
//
// In:  keys (and values), histogram[pass][RADIX], look-back words.
// Out: keys (and values) stably sorted by the digit, in the other arrays.
// Paper: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", 2022.
// Groups: one a tile; a tile is taken from a ticket, so every tile before it has been taken by a group that has started.
// Memory order: a look-back word carries its state and its count together, so relaxed atomics at device scope suffice;
//   keys and values come from earlier dispatches.
// Progress: waits on earlier tiles, for SPIN_LIMIT turns; then it counts what they have not published by itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "sort/problem.glsl"
#include "sort/tile.glsl"
#include "lib/lookback.glsl"
#include "sort/scatter.glsl"

layout(constant_id = SPEC_DELAY_EVERY) const uint DELAY_EVERY = 0;

shared uint sh_tile;

uint take_ticket() {
    if (thread_id() == 0) {
        sh_tile = atomicAdd(Words(args.tickets).v[args.pass_index], 1, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    }
    barrier();
    return sh_tile;
}

// Where each digit of the whole problem begins.
void load_bases(uint p, out uint bases[MAX_DIGITS]) {
    Words histogram = Words(problem_histogram(p));
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        bases[j] = digit < RADIX ? histogram.v[args.pass_index * RADIX + digit] : 0;
    }
    scan_digits(bases);
}

// Tests only: some tiles are late, so that their successors wait, give up and count for themselves.
void delay(uint tile) {
    if (DELAY_EVERY == 0 || tile % DELAY_EVERY != DELAY_EVERY - 1) return;
    for (uint turn = 0; turn < 20000; ++turn) {
        if (load_relaxed(Words(args.tickets), args.pass_index) == 0) break;
    }
}

// What tile `t` would have published for each digit, left in sh_counts[0, RADIX), which is free once the own tile is ordered.
void recount_tile(Tile tile, uint t) {
    Words source = Words(source_keys(tile.problem));
    for (uint d = thread_id(); d < RADIX; d += THREADS) sh_counts[d] = 0;
    barrier();
    uint first = t * TILE;
    for (uint i = first + thread_id(); i < min(first + TILE, tile.count); i += THREADS) {
        atomicAdd(sh_counts[digit_of(source.v[i], args.shift)], 1);
    }
    barrier();
}

// The waiting that did not end, done again without waiting: walks back over the tiles, takes what is published and counts the
// rest. Ends at tile 0 at the latest, whose prefix is the digit's base.
void count_predecessors(Tile tile, out uint exclusive[MAX_DIGITS]) {
    load_bases(tile.problem, exclusive);
    uint bases[MAX_DIGITS] = exclusive;
    bool open[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        exclusive[j] = 0;
        open[j] = digit_of_thread(j) < RADIX;
    }
    Words words = Words(problem_tile_words(tile.problem));
    for (uint t = tile.index; t-- > 0;) {
        uint seen[MAX_DIGITS];
        bool missing = false;
        bool unfinished = false;
        for (uint j = 0; j < DIGITS; ++j) {
            if (!open[j]) continue;
            unfinished = true;
            seen[j] = load_relaxed(words, t * RADIX + digit_of_thread(j));
            if (look_back_state(seen[j]) == LOOK_BACK_EMPTY) missing = true;
        }
        if (!any_thread(unfinished)) return;
        if (any_thread(missing)) recount_tile(tile, t);
        for (uint j = 0; j < DIGITS; ++j) {
            if (!open[j]) continue;
            uint state = look_back_state(seen[j]);
            exclusive[j] += state == LOOK_BACK_EMPTY ? sh_counts[digit_of_thread(j)] : look_back_count(seen[j]);
            if (t == 0 && state != LOOK_BACK_PREFIX) exclusive[j] += bases[j];
            open[j] = state != LOOK_BACK_PREFIX;
        }
        barrier();
    }
}

void main() {
    Tile tile;
    if (!find_tile(take_ticket(), TILE, tile)) return;
    Words words = Words(problem_tile_words(tile.problem));

    // 1. Load and count.
    begin_digit(args.shift);
    uint keys[ITEMS];
    load_keys(Words(source_keys(tile.problem)), tile.index * TILE, tile.count, keys);
    barrier();
    count_digits(keys, args.shift);
    barrier();

    // 2. Publish: the earlier, the shorter every later tile waits.
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    delay(tile.index);
    if (tile.index != 0) publish(words, tile.index, totals, LOOK_BACK_COUNT);

    // 3. Order the tile, while the tiles before this one publish theirs.
    uint starts[MAX_DIGITS] = totals;
    scan_digits(starts);
    place_rows(starts);
    barrier();
    uint places[PLACE_WORDS];
    rank_keys(keys, places);

    // 4. Look back for the keys of each digit before this tile; tile 0 begins at the digits' bases.
    uint exclusive[MAX_DIGITS];
    if (tile.index == 0) {
        load_bases(tile.problem, exclusive);
    } else if (!look_back(words, tile.index, exclusive)) {
        count_predecessors(tile, exclusive);
    }
    uint prefix[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        prefix[j] = exclusive[j] + totals[j];
        if (digit_of_thread(j) < RADIX) sh_offsets[digit_of_thread(j)] = exclusive[j] - starts[j];
    }
    publish(words, tile.index, prefix, LOOK_BACK_PREFIX);
    barrier();

    // 5. Let it go.
    scatter(tile, places);
}
