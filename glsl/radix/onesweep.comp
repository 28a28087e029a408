// Onesweep: ranks and scatters by one digit, with decoupled look-back. Reads each key once and writes it once.
//
// In:  keys (and values); histogram[digit][BINS] with the counts of all keys; cleared look-back descriptors, and
//      tickets at 0. A split that skips the histogram has no counts. The second row of histogram then holds the bucket
//      starts of the caller, if there are any, followed by the capacity of the output.
// Out: keys (and values), stably sorted by the digit, in the target planes. Splits, by OUTPUT: the items of one bucket;
//      all items, in buckets at given starts; or, in place of values, the rank of each item in its bin. Splits without
//      a histogram also write histogram[BINS], in the first row.
// Paper: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", 2022.
// Workgroups: one for each tile. The tile index is an atomic ticket, so all preceding tiles belong to workgroups that
//             have started. (Few tiles need no ticket: see take_tile.) With PERSISTENT, as many workgroups as fill the
//             device take one tile after the other. A workgroup takes the next ticket while it sorts, and loads the
//             next keys before it scatters the current ones.
// Memory order: workgroups share only descriptors, tickets and the tail of the ring. A descriptor word holds state and
//               count together (in the ring, each of the two words holds the state), so a reader sees either a valid
//               count or the state INVALID. Relaxed atomics at device scope suffice. Keys and values come from earlier
//               dispatches, and each output index has one item.
// Progress: waits for preceding tiles, at most SPIN_LIMIT polls. Then the tile counts the keys of these tiles itself,
//           so no workgroup depends on the progress of another one. A tile waits only for preceding tiles, and the
//           first tile waits for none.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "core/scan.glsl"
#include "core/lookback.glsl"
#include "radix/keys.glsl"
#include "core/counters.glsl"
#define PUSH OnesweepPush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_words.glsl"
#include "radix/tickets.glsl"
#include "radix/tile_map.glsl"
#include "radix/function.glsl"
#include "radix/pass_io.glsl"
#include "radix/ping_pong.glsl"
#include "radix/planes.glsl"
#include "radix/digit.glsl"
#include "radix/tile.glsl"
#include "radix/load.glsl"
#include "radix/verify.glsl"
#ifndef PERSISTENT
// Persistent workgroups hold the next keys meanwhile.
#define STORES_PAIRS
#endif
#include "radix/scatter.glsl"

#ifdef PERSISTENT
const bool IS_PERSISTENT = true;
#else
const bool IS_PERSISTENT = false;
#endif

layout(constant_id = SPEC_DELAY_EVERY) const uint DELAY_EVERY = 0;

// Whether the histogram has counted all keys. Then the prefixes that tiles publish include the start of the bin.
// Otherwise they begin at 0: the last ones are the counts, and given bucket starts may exceed 30 bits.
const bool HAS_HISTOGRAM = OUTPUT_KIND == OUTPUT_BUCKETS;
// Whether the histogram is the only preceding pass. Tiles are then few enough to run all at once, so the index of the
// workgroup serves as tile index.
const bool NEEDS_NO_TICKET = HAS_HISTOGRAM && DIRECT;

shared uint sh_tile;         // the global index of the tile; with PERSISTENT, later that of the next one
shared uint sh_may_publish;  // 0: the ring entry of the tile is not free
shared uint sh_timed_out;    // 1: a look-back has timed out
shared uint sh_max;

// The tails of the ring follow the tickets, one for each pass; the group counters of each pass follow the tails.
Tail tail_of_pass() { return Tail(pass_digits() + pass_index(), 2 * pass_digits() + pass_index() * RING_GROUPS); }

uint take_ticket() {
    return atomicAdd(
        tickets().v[pass_index()], 1, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed
    );
}

// Takes the tile of the workgroup. In the ring, waits until the entry of the tile is free. (If this wait times out,
// the tile does not publish, and its successors count its keys themselves.)
void take_tile() {
    if (thread_id() != 0) return;
    sh_timed_out = 0;
    sh_may_publish = 1;
    if (NEEDS_NO_TICKET && !IN_RING) {
        sh_tile = linear_group();
        return;
    }
    // The load is in flight together with the ticket.
    uint seen = IN_RING ? ring_tail(tickets(), tail_of_pass()) : 0;
    uint global_tile = take_ticket();
    if (IN_RING && !wait_for_entry(tickets(), tail_of_pass(), seen, global_tile)) sh_may_publish = 0;
    sh_tile = global_tile;
}

// All problems share the ring. (This selects offsets, not references: SwiftShader crashes on those.)
Words look_back_words(uint p) { return Words(scratch_part(IN_RING ? problem_tile_words(p) : tile_words_part(p))); }

// Number of tiles of all problems.
uint global_tiles(Tile tile) { return SINGLE ? tile.tiles : all_tiles(); }

LookBackSlot look_back_slot(Tile tile, uint global_tile, PassIo io) {
    LookBackSlot slot;
    slot.tile = tile.index;
    slot.global_tile = global_tile;
    slot.state_parity = io.parity << 31;
    slot.lap = IN_RING ? pass_index() * tiles_of(global_tiles(tile), RING_ENTRIES) : 0;
    return slot;
}

// Small tiles have registers to spare. They also belong to problems without a prepare pass.
const uint MAX_ROWS = ITEMS <= 8 ? 16 : 1;
#include "radix/totals.glsl"

// Loads the counts of all keys from the histogram.
void load_totals(uint p, out uint totals[MAX_DIGITS]) {
    Words histogram = histogram_of(p);
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        totals[j] = digit < BINS ? total_of(histogram, pass_index() * BINS + digit) : 0;
    }
}

// Loads the bucket starts of the caller, or 0.
void load_starts(uint p, out uint starts[MAX_DIGITS]) {
    Words histogram = histogram_of(p);
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        starts[j] = OUTPUT_KIND == OUTPUT_PLACED && digit < BINS ? histogram.v[BINS + digit] : 0;
    }
}

// Tests only: delays some tiles for longer than their successors wait. These then count by themselves.
void delay(uint tile) {
    if (DELAY_EVERY == 0 || tile % DELAY_EVERY != DELAY_EVERY - 1) return;
    for (uint poll = 0; poll < 32 * max(SPIN_LIMIT, 64); ++poll) {
        if (load_relaxed(tickets(), pass_index()) == 0xffffffffu) break;
    }
}

// Returns the largest value of any thread.
uint max_of_threads(uint value) {
    barrier();
    if (thread_id() == 0) sh_max = 0;
    barrier();
    if (value != 0) atomicMax(sh_max, value);
    barrier();
    return sh_max;
}

// Counts the digits of tile `t` into sh_digit_scatter_base, which publish_inclusive_prefix fills afterwards. (sh_counts
// stays: a second ranking may need it.)
void recount_tile(Tile tile, PassIo io, uint t) {
    for (uint d = thread_id(); d < BINS; d += THREADS) sh_digit_scatter_base[d] = 0;
    barrier();
    uint first = t * TILE;
    uint valid = min(TILE, tile.count - first);
    Plane plane = source_plane(tile.problem, digit_word(), io, tile.count);
    [[dont_unroll]] for (uint i = thread_id(); i < valid; i += THREADS) {
        uint key = io.first ? load_encoded(tile.problem, digit_word(), first + i) : load_strided(plane, first + i);
        atomicAdd(sh_digit_scatter_base[digit_of(key, digit_shift(), digit_mask())], 1);
    }
    barrier();
}

// Returns the index of the first key of a digit in the output: the sum of the counts of smaller digits. This is a cold
// path; the loop is short so that it compiles fast.
uint digit_base(uint p, uint digit) {
    Words histogram = histogram_of(p);
    uint base = 0;
    [[dont_unroll]] for (uint smaller = 0; smaller < digit; ++smaller) {
        base += total_of(histogram, pass_index() * BINS + smaller);
    }
    return base;
}

// Source of a step of count_predecessors: none, published descriptors, or the keys.
const uint WALK_DONE = 0;
const uint WALK_READS = 1;
const uint WALK_COUNTS = 2;

// Replaces a look-back that has timed out. Walks back over the tiles, takes published descriptors, and counts the
// keys of other tiles. The walk ends at tile 0 at the latest, whose inclusive prefix begins at the base of the digit.
void count_predecessors(Tile tile, PassIo io, LookBackSlot slot, out uint exclusive[MAX_DIGITS]) {
    bool open[MAX_DIGITS];
    for (uint j = 0; j < DIGITS; ++j) {
        exclusive[j] = 0;
        open[j] = digit_of_thread(j) < BINS;
    }
    Words words = look_back_words(tile.problem);
    [[dont_unroll]] for (uint t = tile.index; t-- > 0;) {
        Decoded seen[MAX_DIGITS];
        uint wanted = WALK_DONE;
        for (uint j = 0; j < DIGITS; ++j) {
            if (!open[j]) continue;
            seen[j] = decode_descriptor(
                load_descriptor(words, slot, tile.index - t, digit_of_thread(j)), slot, tile.index - t
            );
            wanted = max(wanted, seen[j].state == LOOK_BACK_INVALID ? WALK_COUNTS : WALK_READS);
        }
        wanted = max_of_threads(wanted);
        if (wanted == WALK_DONE) return;
        if (wanted == WALK_COUNTS) recount_tile(tile, io, t);
        for (uint j = 0; j < DIGITS; ++j) {
            if (!open[j]) continue;
            uint state = seen[j].state;
            exclusive[j] += state == LOOK_BACK_INVALID ? sh_digit_scatter_base[digit_of_thread(j)] : seen[j].count;
            if (HAS_HISTOGRAM && t == 0 && state != LOOK_BACK_PREFIX) {
                exclusive[j] += digit_base(tile.problem, digit_of_thread(j));
            }
            open[j] = state != LOOK_BACK_PREFIX;
        }
        barrier();
    }
}

// For cooperative look-back, of each bin: the number of its keys in the tile, and the start of these keys in the tile,
// minus the caller's bucket start if there is one.
shared uint sh_totals[COOPERATIVE_LOOK_BACK ? BINS : 1];
shared uint sh_digit_start_in_tile[COOPERATIVE_LOOK_BACK ? BINS : 1];

// With a limited capacity: the number of items from the start of each bucket to the end of the output.
shared uint sh_rooms[LIMITED ? BINS : 1];

// Stores the number of keys of a bin, without the pads. `total`: with those of the last tile.
void store_bucket_total(Tile tile, uint digit, uint total) {
    uint pads = TILE - (tile.count - tile.index * TILE);
    bool has_pads = digit == digit_of(PAD, digit_shift(), digit_mask());
    histogram_of(tile.problem).v[digit] = total - (has_pads ? pads : 0);
}

// Stores the scatter base of a digit and publishes the inclusive prefix for the following tiles. Without a histogram,
// the inclusive prefixes of the last tile are the totals.
void publish_inclusive_prefix(
    Tile tile, Words words, LookBackSlot slot, uint digit, uint exclusive, uint total, uint digit_start
) {
    if (digit >= BINS) return;
    if (sh_may_publish != 0) publish_digit(words, slot, digit, exclusive + total, LOOK_BACK_PREFIX);
    if (!HAS_HISTOGRAM && tile.index + 1 == tile.tiles) store_bucket_total(tile, digit, exclusive + total);
    if (LIMITED) exclusive = min(exclusive, sh_rooms[digit]);
    sh_digit_scatter_base[digit] = exclusive - digit_start;
}

// Looks back for every bin. Sets sh_timed_out if the wait of a bin timed out.
void look_back(
    Tile tile, Words words, LookBackSlot slot, uint totals[MAX_DIGITS], uint digit_start_in_tile[MAX_DIGITS]
) {
    uint exclusive;
#ifndef EMULATED
    if (COOPERATIVE_LOOK_BACK) {
        uint bin = look_back_bin();
        // The whole subgroup returns if it has no bin.
        if (all_lanes(bin >= BINS)) return;
        bool found = look_back_cooperatively(words, slot, bin, exclusive);
        if (lane_id() % lanes_per_look_back() != 0 || bin >= BINS) return;
        if (found) {
            publish_inclusive_prefix(
                tile, words, slot, bin, exclusive, sh_totals[bin], sh_digit_start_in_tile[bin]
            );
        } else {
            atomicOr(sh_timed_out, 1);
        }
        return;
    }
#endif
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit >= BINS) continue;
        if (look_back_digit(words, slot, digit, exclusive)) {
            publish_inclusive_prefix(tile, words, slot, digit, exclusive, totals[j], digit_start_in_tile[j]);
        } else {
            atomicOr(sh_timed_out, 1);
        }
    }
}

// Clamps bucket starts to the capacity, and stores the rooms.
void limit_starts(inout uint bases[MAX_DIGITS]) {
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit >= BINS) continue;
        bases[j] = min(bases[j], output_capacity);
        sh_rooms[digit] = room_from(bases[j], output_capacity);
    }
}

// Loads the keys of the next tile, if there is one.
void load_next_keys(Tile tile, PassIo io, inout uint keys[ITEMS]) {
    tile.index = sh_tile;
    if (IS_PERSISTENT && tile.index < tile.tiles) load_keys(tile, digit_word(), io, keys);
}

// Sorts a tile whose keys are in registers. With PERSISTENT, `tile` and `keys` are the next ones afterwards: sh_tile is
// the next tile.
void sort_tile(Tile tile, PassIo io, LookBackSlot slot, inout uint keys[ITEMS]) {
    Words words = look_back_words(tile.problem);
    uint ticket = IS_PERSISTENT && thread_id() == 0 ? take_ticket() : 0;

    // 1. Count digits.
    uint bases[MAX_DIGITS];
    if (LIMITED) output_capacity = histogram_of(tile.problem).v[2 * BINS];
    if (!HAS_HISTOGRAM) load_starts(tile.problem, bases);
    else if (tile.index == 0) load_totals(tile.problem, bases);
    swizzle_digits(keys, digit_shift(), digit_mask());
    count_digits(keys, digit_shift(), digit_mask());
    barrier();

    // 2. Publish aggregates early: later tiles wait for them.
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    if (is_full(tile)) find_hot_digit(totals);
    delay(tile.index);
    if (SCAN != SCAN_CHAINED && tile.index != 0 && sh_may_publish != 0) {
        publish(words, slot, totals, LOOK_BACK_AGGREGATE);
    }
    uint starts[MAX_DIGITS] = totals;
    scan_digits(starts);

    // 3. Tile 0 begins at the bases of the digits and publishes inclusive prefixes at once. Without a histogram it
    // begins at 0, and every tile adds the given starts.
    uint digit_start_in_tile[MAX_DIGITS] = starts;
    if (LIMITED) limit_starts(bases);
    if (!HAS_HISTOGRAM) {
        for (uint j = 0; j < DIGITS; ++j) {
            digit_start_in_tile[j] -= bases[j];
            bases[j] = 0;
        }
    }
    if (tile.index == 0) {
        if (HAS_HISTOGRAM) scan_digits(bases);
        for (uint j = 0; j < DIGITS; ++j) {
            publish_inclusive_prefix(
                tile, words, slot, digit_of_thread(j), bases[j], totals[j], digit_start_in_tile[j]
            );
        }
    }
    if (COOPERATIVE_LOOK_BACK && thread_id() < BINS) {
        sh_totals[thread_id()] = totals[0];
        sh_digit_start_in_tile[thread_id()] = digit_start_in_tile[0];
    }

    // 4. Rank, while preceding tiles publish their prefixes.
    start_rows(starts);
    if (IS_PERSISTENT && thread_id() == 0) sh_tile = ticket;
    barrier();
    uint positions[POSITION_WORDS];
    rank_keys(keys, digit_mask(), !VERIFIES_ORDER, positions);
    if (!BY_SOURCE_INDEX) load_next_keys(tile, io, keys);

    // 5. Look back. Meanwhile, verify the order of the tile.
    if (VERIFIES_ORDER) {
        barrier();
        verify_order(tile.count - tile.index * TILE);
    }
    uint next_words[ITEMS];
    if (READS_AHEAD) load_words_for_scatter(tile, KEY_WORDS, io, next_words);
    if (tile.index != 0) look_back(tile, words, slot, totals, digit_start_in_tile);
    barrier();
    if (sh_timed_out != 0) {
        uint exclusive[MAX_DIGITS];
        count_predecessors(tile, io, slot, exclusive);
        for (uint j = 0; j < DIGITS; ++j) {
            publish_inclusive_prefix(
                tile, words, slot, digit_of_thread(j), exclusive[j], totals[j], digit_start_in_tile[j]
            );
        }
        barrier();
    }

    if (SCAN == SCAN_RING && thread_id() == 0) release_entry(tickets(), tail_of_pass(), slot.global_tile);

    // 6. Scatter.
    rerank_with_ballots(tile, io, keys, positions);
    if (BY_SOURCE_INDEX) {
        store_at_positions(keys, positions);
        load_next_keys(tile, io, keys);
        barrier();
    }
    if (OUTPUT_KIND == OUTPUT_RANKS) write_ranks(tile, io, keys, positions);
    else scatter(tile, io, positions, next_words);
    // With RING_IN_ORDER, release_entry waits. Here no other tile waits for this one.
    if (SCAN == SCAN_RING_IN_ORDER && thread_id() == 0) release_entry(tickets(), tail_of_pass(), slot.global_tile);
}

void main() {
    // 1. Take a tile. The load is in flight together with the ticket.
    uint skipped_digits = SINGLE ? load_skipped_digits(0) : 0;
    take_tile();
    begin_digit(digit_shift());
    barrier();

    // 2. Find the problem of the tile, and where the pass reads and writes.
    uint global_tile = sh_tile;
    Tile tile;
    if (!find_tile(global_tile, TILE, tile)) return;
    enter_function(tile.problem);
    if (!SINGLE) skipped_digits = load_skipped_digits(tile.problem);
    PassIo io = pass_io(skipped_digits);
    if (!io.is_active) {
        if (IN_RING && thread_id() == 0) release_entry(tickets(), tail_of_pass(), global_tile);
        return;
    }

    // 3. Sort the tile; with PERSISTENT, then the tiles of further tickets. (Not one loop for both: a loop of one
    // iteration takes SwiftShader three times as long to compile.)
    uint keys[ITEMS];
    load_keys(tile, digit_word(), io, keys);
#ifdef PERSISTENT
    for (;;) {
        sort_tile(tile, io, look_back_slot(tile, global_tile, io), keys);
        if (sh_tile >= tile.tiles) return;
        barrier();
        global_tile = sh_tile;
        tile.index = global_tile;
        if (thread_id() == 0) sh_timed_out = 0;
        begin_digit(digit_shift());
        barrier();
    }
#else
    sort_tile(tile, io, look_back_slot(tile, global_tile, io), keys);
#endif
}
