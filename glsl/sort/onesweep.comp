// Sort by look-back, step 2, once a digit: reads each key once and writes it once.
//
// In:  keys (and values), histogram[digit][BINS], look-back words. Of a split whose bins do not begin one behind the other, no counts, but
//      where the caller says that they begin, if it does, in the second row of histogram.
// Out: keys (and values) stably sorted by the digit, in the other planes. Of a split, as OUTPUT has it: those of one bucket alone; all, where
//      the caller says that buckets begin; or, in place of values, each item's place among those of its bin. Of these histogram[BINS], in
//      the first row.
// Paper: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", 2022.
// Groups: one a tile; a tile is taken from a ticket, so every tile before it has been taken by a group that has started. (Not where
//   tiles are few: see take_tile.) With PERSISTENT, so many as fill the device, each of which takes one tile after the other, the next while it
//   sorts one, and its keys on their way before that has left. What waits for a tile that has been taken so early waits for one before it, too,
//   and that of the first tile of all waits for nothing.
// Memory order: a look-back word carries its state and its count together, or its half of it, so relaxed atomics at device scope suffice;
//   keys and values come from earlier dispatches.
// Progress: waits on earlier tiles, for SPIN_LIMIT turns; then it counts what they have not published by itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/bins.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "lib/lookback.glsl"
#include "lib/keys.glsl"
#include "lib/counters.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"
#include "sort/planes.glsl"
#include "sort/tile.glsl"
#include "sort/load.glsl"
#include "sort/prove.glsl"
#include "sort/scatter.glsl"

#ifdef PERSISTENT
const bool GOES_ON = true;
#else
const bool GOES_ON = false;
#endif

layout(constant_id = SPEC_DELAY_EVERY) const uint DELAY_EVERY = 0;

// Where bins begin one behind the other, all keys have been counted before; where they begin is part of the prefixes that tiles publish.
// Otherwise those begin at 0: they end as the counts that nobody has made, and no place that a caller names is too far for their bits.
const bool COUNTED = OUTPUT_KIND == OUTPUT_BUCKETS;
// And nothing else has been prepared.
const bool ONLY_COUNTED = COUNTED && DIRECT;

shared uint sh_tile;
shared uint sh_may_publish;
shared uint sh_gave_up;
shared uint sh_vote;

// Tails of the ring lie behind the tickets, one a pass as well, and behind them each pass's counters of groups.
Tail tail_of_pass() { return Tail(pass_digits() + pass_index(), 2 * pass_digits() + pass_index() * RING_GROUPS); }

uint take_ticket() { return atomicAdd(tickets().v[pass_index()], 1, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed); }

// Leaves in shared memory the group's tile in the line, once its entry in the ring is free. Where nothing has been prepared but counts,
// tiles are so few that all run at once: then the group's own number serves. (Whoever waits in vain counts for itself.)
void take_tile() {
    if (thread_id() != 0) return;
    sh_gave_up = 0;
    sh_may_publish = 1;
    if (ONLY_COUNTED && !IN_RING) {
        sh_tile = linear_group();
        return;
    }
    // On its way together with the ticket.
    uint seen = IN_RING ? ring_tail(tickets(), tail_of_pass()) : 0;
    uint line = take_ticket();
    if (IN_RING && !wait_for_entry(tickets(), tail_of_pass(), seen, line)) sh_may_publish = 0;
    sh_tile = line;
}

// The ring is one for all. (A choice of parts, not of references: SwiftShader falls over those.)
Words look_back_words(uint p) { return Words(scratch_part(IN_RING ? problem_tile_words(p) : tile_words_part(p))); }

uint line_tiles(Tile tile) { return SINGLE ? tile.tiles : states().v[args.problem_count].first_tile; }

Place place_of_tile(Tile tile, uint line, Move move) {
    Place place;
    place.tile = tile.index;
    place.line = line;
    place.turn = move.turn << 31;
    place.lap = IN_RING ? pass_index() * tiles_of(line_tiles(tile), RING_ENTRIES) : 0;
    return place;
}

// Tiles of few items have registers to spare, and are those of problems that nothing prepares.
const uint MAX_ROWS = ITEMS <= 8 ? 16 : 1;
#include "sort/totals.glsl"

void load_totals(uint p, out uint totals[MAX_DIGITS]) {
    Words histogram = histogram_of(p);
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        totals[j] = digit < BINS ? total_of(histogram, pass_index() * BINS + digit) : 0;
    }
}

// Where the caller says that the digits' keys begin, or nowhere.
void load_starts(uint p, out uint starts[MAX_DIGITS]) {
    Words histogram = histogram_of(p);
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        starts[j] = OUTPUT_KIND == OUTPUT_PLACED && digit < BINS ? histogram.v[BINS + digit] : 0;
    }
}

// Tests only: some tiles are late, by far more turns than their successors wait, which then count for themselves.
void delay(uint tile) {
    if (DELAY_EVERY == 0 || tile % DELAY_EVERY != DELAY_EVERY - 1) return;
    for (uint turn = 0; turn < 32 * max(SPIN_LIMIT, 64); ++turn) {
        if (load_relaxed(tickets(), pass_index()) == 0xffffffffu) break;
    }
}

// The largest value of any thread.
uint max_of_threads(uint value) {
    barrier();
    if (thread_id() == 0) sh_vote = 0;
    barrier();
    if (value != 0) atomicMax(sh_vote, value);
    barrier();
    return sh_vote;
}

// What tile `t` would have published for each digit, left in sh_offsets, which every digit is settled in afterwards. (Not in sh_counts:
// whoever proves its ranks may need the counters once more.)
void recount_tile(Tile tile, Move move, uint t) {
    for (uint d = thread_id(); d < BINS; d += THREADS) sh_offsets[d] = 0;
    barrier();
    uint first = t * TILE;
    uint valid = min(TILE, tile.count - first);
    Plane plane = source_plane(tile.problem, digit_word(), move, tile.count);
    [[dont_unroll]] for (uint i = thread_id(); i < valid; i += THREADS) {
        uint key = move.first ? load_encoded(tile.problem, digit_word(), move, tile.count, first + i) : load_strided(plane, first + i);
        atomicAdd(sh_offsets[digit_of(key, digit_shift(), digit_mask())], 1);
    }
    barrier();
}

// The first place of a digit's keys in the output, where all keys have been counted: the sum of the counts of smaller digits. The tile that
// needs it has waited long enough already: a short loop is worth more than a fast one, for what it takes to compile.
uint digit_base(uint p, uint digit) {
    Words histogram = histogram_of(p);
    uint base = 0;
    [[dont_unroll]] for (uint smaller = 0; smaller < digit; ++smaller) base += total_of(histogram, pass_index() * BINS + smaller);
    return base;
}

const uint WALK_ENDS = 0;
const uint WALK_GOES_ON = 1;
const uint WALK_COUNTS = 2;

// Replaces a look-back that has waited in vain: walks back over the tiles, takes the words that are published, and counts the tiles that have
// published nothing. The walk ends at tile 0 at the latest, whose prefix begins at the digit's base.
void count_predecessors(Tile tile, Move move, Place place, out uint exclusive[MAX_DIGITS]) {
    bool open[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        exclusive[j] = 0;
        open[j] = digit_of_thread(j) < BINS;
    }
    Words words = look_back_words(tile.problem);
    [[dont_unroll]] for (uint t = tile.index; t-- > 0;) {
        Known seen[MAX_DIGITS];
        uint wanted = WALK_ENDS;
        for (uint j = 0; j < DIGITS; ++j) {
            if (!open[j]) continue;
            seen[j] = known_of(look_at(words, place, tile.index - t, digit_of_thread(j)), place, tile.index - t);
            wanted = max(wanted, seen[j].state == LOOK_BACK_EMPTY ? WALK_COUNTS : WALK_GOES_ON);
        }
        wanted = max_of_threads(wanted);
        if (wanted == WALK_ENDS) return;
        if (wanted == WALK_COUNTS) recount_tile(tile, move, t);
        for (uint j = 0; j < DIGITS; ++j) {
            if (!open[j]) continue;
            uint state = seen[j].state;
            exclusive[j] += state == LOOK_BACK_EMPTY ? sh_offsets[digit_of_thread(j)] : seen[j].count;
            if (COUNTED && t == 0 && state != LOOK_BACK_PREFIX) exclusive[j] += digit_base(tile.problem, digit_of_thread(j));
            open[j] = state != LOOK_BACK_PREFIX;
        }
        barrier();
    }
}

// Of bins that others look back for: keys in the tile, and where they begin there, less what is added to prefixes.
shared uint sh_totals[LOOKS_TOGETHER ? BINS : 1];
shared uint sh_origins[LOOKS_TOGETHER ? BINS : 1];

// Where a digit's keys go, less where they begin in the tile; and for the tiles after this one, the prefix.
void settle(Words words, Place place, uint digit, uint exclusive, uint total, uint origin) {
    if (digit >= BINS) return;
    if (sh_may_publish != 0) publish_digit(words, place, digit, exclusive + total, LOOK_BACK_PREFIX);
    sh_offsets[digit] = exclusive - origin;
}

// For every bin, and whether to give up for any.
void look_back(Words words, Place place, uint totals[MAX_DIGITS], uint origins[MAX_DIGITS]) {
    uint exclusive;
#ifndef EMULATED
    if (LOOKS_TOGETHER) {
        uint bin = bin_of_looker();
        // The whole subgroup, where it is for none.
        if (all_lanes(bin >= BINS)) return;
        bool found = look_back_together(words, place, bin, exclusive);
        if (lane_id() % lookers() != 0 || bin >= BINS) return;
        if (found) settle(words, place, bin, exclusive, sh_totals[bin], sh_origins[bin]);
        else atomicOr(sh_gave_up, 1);
        return;
    }
#endif
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit >= BINS) continue;
        if (look_back_digit(words, place, digit, exclusive)) settle(words, place, digit, exclusive, totals[j], origins[j]);
        else atomicOr(sh_gave_up, 1);
    }
}

// From the problem's last tile, what nobody has counted before: the digits' prefixes, less its pads.
void leave_totals(Tile tile, uint totals[MAX_DIGITS], uint origins[MAX_DIGITS]) {
    if (tile.index + 1 != tile.tiles) return;
    Words histogram = histogram_of(tile.problem);
    uint pads = TILE - (tile.count - tile.index * TILE);
    uint padded = digit_of(PAD, digit_shift(), digit_mask());
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit < BINS) histogram.v[digit] = sh_offsets[digit] + origins[j] + totals[j] - (digit == padded ? pads : 0);
    }
}

// Which of the tile's keys have room in the output, once it is settled where they go.
void limit_digits(Tile tile, uint totals[MAX_DIGITS], uint origins[MAX_DIGITS]) {
    uint bases[MAX_DIGITS];
    load_starts(tile.problem, bases);
    uint items = histogram_of(tile.problem).v[2 * BINS];
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit >= BINS) continue;
        uint before = sh_offsets[digit] + origins[j];
        sh_ends[digit] = origins[j] + bases[j] + items_with_room(bases[j], before, totals[j], items);
    }
    barrier();
}

// The keys of the tile that the group sorts next, if there is one.
void load_next_keys(Tile tile, Move move, inout uint keys[ITEMS]) {
    tile.index = sh_tile;
    if (GOES_ON && tile.index < tile.tiles) load_keys(tile, digit_word(), move, keys);
}

// From its keys, in registers. Where the group is persistent, sh_tile is the next tile afterwards, and these its keys.
void sort_tile(Tile tile, Move move, Place place, inout uint keys[ITEMS]) {
    Words words = look_back_words(tile.problem);
    uint ticket = GOES_ON && thread_id() == 0 ? take_ticket() : 0;

    // 1. Count.
    uint bases[MAX_DIGITS];
    if (!COUNTED) load_starts(tile.problem, bases);
    else if (tile.index == 0) load_totals(tile.problem, bases);
    turn_digits(keys, digit_shift(), digit_mask());
    count_digits(keys, digit_shift(), digit_mask());
    barrier();

    // 2. Publish: the earlier, the shorter every later tile waits.
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    if (is_full(tile)) find_hot_digit(totals);
    delay(tile.index);
    if (SCAN != SCAN_CHAINED && tile.index != 0 && sh_may_publish != 0) publish(words, place, totals, LOOK_BACK_COUNT);
    uint starts[MAX_DIGITS] = totals;
    scan_digits(starts);

    // 3. Tile 0 begins at the digits' bases, and so has its prefix at once; or at 0, and every tile adds the bases by itself.
    uint origins[MAX_DIGITS] = starts;
    if (!COUNTED) {
        for (uint j = 0; j < DIGITS; ++j) {
            origins[j] -= bases[j];
            bases[j] = 0;
        }
    }
    if (tile.index == 0) {
        if (COUNTED) scan_digits(bases);
        for (uint j = 0; j < DIGITS; ++j) settle(words, place, digit_of_thread(j), bases[j], totals[j], origins[j]);
    }
    if (LOOKS_TOGETHER && thread_id() < BINS) {
        sh_totals[thread_id()] = totals[0];
        sh_origins[thread_id()] = origins[0];
    }

    // 4. Order the tile, while the tiles before this one publish theirs.
    place_rows(starts);
    if (GOES_ON && thread_id() == 0) sh_tile = ticket;
    barrier();
    uint places[PLACE_WORDS];
    rank_keys(keys, digit_mask(), !PROVES, places);
    if (!BY_PLACES) load_next_keys(tile, move, keys);

    // 5. Look back for the keys of each digit before this tile. Meanwhile, see that it is ordered.
    if (PROVES) {
        barrier();
        prove_order(tile.count - tile.index * TILE);
    }
    uint follower[ITEMS];
    if (READS_AHEAD) load_moving(tile, KEY_WORDS, move, follower);
    if (tile.index != 0) look_back(words, place, totals, origins);
    barrier();
    if (sh_gave_up != 0) {
        uint exclusive[MAX_DIGITS];
        count_predecessors(tile, move, place, exclusive);
        for (uint j = 0; j < DIGITS; ++j) settle(words, place, digit_of_thread(j), exclusive[j], totals[j], origins[j]);
        barrier();
    }

    if (!COUNTED) leave_totals(tile, totals, origins);
    if (LIMITED) limit_digits(tile, totals, origins);
    if (SCAN == SCAN_RING && thread_id() == 0) release_entry(tickets(), tail_of_pass(), place.line);

    // 6. Let it go.
    mend_order(tile, move, keys, places);
    if (BY_PLACES) {
        place_words(keys, places);
        load_next_keys(tile, move, keys);
        barrier();
    }
    if (OUTPUT_KIND == OUTPUT_RANKS) write_ranks(tile, move, keys, places);
    else scatter(tile, move, places, follower);
    // In order, this waits: where nobody waits for it.
    if (SCAN == SCAN_RING_IN_ORDER && thread_id() == 0) release_entry(tickets(), tail_of_pass(), place.line);
}

void main() {
    // What can be asked for without the tile is on its way together with the ticket.
    uint passed_over = SINGLE ? passed_over_by(0) : 0;
    take_tile();
    begin_digit(digit_shift());
    barrier();

    uint line = sh_tile;
    Tile tile;
    if (!find_tile(line, TILE, tile)) return;
    if (!SINGLE) passed_over = passed_over_by(tile.problem);
    Move move = move_of_pass(passed_over);
    if (!move.moves) {
        if (IN_RING && thread_id() == 0) release_entry(tickets(), tail_of_pass(), line);
        return;
    }
    uint keys[ITEMS];
    load_keys(tile, digit_word(), move, keys);
    // (A loop that never turns takes SwiftShader three times as long to compile as none.)
#ifdef PERSISTENT
    for (;;) {
        sort_tile(tile, move, place_of_tile(tile, line, move), keys);
        if (sh_tile >= tile.tiles) return;
        barrier();
        line = sh_tile;
        tile.index = line;
        if (thread_id() == 0) sh_gave_up = 0;
        begin_digit(digit_shift());
        barrier();
    }
#else
    sort_tile(tile, move, place_of_tile(tile, line, move), keys);
#endif
}
