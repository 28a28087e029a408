// Histogram: counts all digits in one read of the keys (two reads if keys have more than two words).
//
// In:  keys.
// Out: histogram[digits][BINS] of each problem, followed by a bit for each constant digit, and by the counts of prefix
//      bins if the sort may go by prefixes. Look-back descriptors of every tile, or of the whole ring, are cleared.
//      Without a prepare pass, each workgroup writes a row of its own; the first one writes the status and clears the
//      tickets.
// Paper: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", 2022.
// Workgroups: one for every args.chunk tiles. A chunk may contain tiles of several problems; after the last tile of
//             each problem, its counts are added to its histogram.
// Memory order: workgroups add to a histogram by relaxed atomics at device scope. Additions to one counter have a total
//               order, so exactly one of them reaches the count of all keys and marks the constant digit. No workgroup
//               reads a counter otherwise. Without a prepare pass, each row belongs to one workgroup.
// Progress: never waits.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "radix/bins.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#include "radix/keys.glsl"
#include "core/counters.glsl"
#define PUSH HistogramPush
#define ROW RadixProblem
#include "radix/problem.glsl"
#include "radix/counts.glsl"
#include "radix/status.glsl"
#include "radix/pass.glsl"
#include "radix/histograms.glsl"
#include "radix/tile_words.glsl"
#include "radix/tickets.glsl"
#include "radix/tile_map.glsl"
#include "radix/function.glsl"
#include "radix/pass_io.glsl"
#include "radix/planes.glsl"
#include "radix/clear.glsl"

layout(constant_id = SPEC_TILE) const uint TILE = 2048;
layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 0;
layout(constant_id = SPEC_END_BIT) const uint END_BIT = 32;

// Keys in flight for each thread: enough to hide memory latency, few enough for the registers.
const uint BATCH = KEY_WORDS == 1 ? 8 : 4;
const uint BATCH_KEYS = BATCH * THREADS;

// The same as digit_count() in radix/keys.glsl, which cannot size an array.
const uint FIRST_WORD_END = BEGIN_BIT / 32 * 32 + 32 < END_BIT ? BEGIN_BIT / 32 * 32 + 32 : END_BIT;
const uint FIRST_WORD_DIGITS = (FIRST_WORD_END - BEGIN_BIT + RADIX_BITS - 1) / RADIX_BITS;
const uint DIGIT_COUNT = FIRST_WORD_DIGITS + (END_BIT - FIRST_WORD_END + RADIX_BITS - 1) / RADIX_BITS;
// Digits that one read of the keys counts. Keys of more than two words are read twice.
const uint COUNTED = DIGIT_COUNT < DIGITS_COUNTED ? DIGIT_COUNT : DIGITS_COUNTED;

#include "radix/copies.glsl"

// Hashes a prefix to its bin. (The finalizer of Appleby's MurmurHash3, public domain.)
uint prefix_bin(uint prefix) {
    prefix = (prefix ^ prefix >> 16) * 0x85ebca6bu;
    prefix = (prefix ^ prefix >> 13) * 0xc2b2ae35u;
    return prefix >> (32 - PREFIX_BIN_BITS);
}

// Counts the digits of a key, from `from_digit` on, and its prefix.
void count_key(uint key[KEY_WORDS], uint from_digit) {
    [[unroll]] for (uint d = 0; d < COUNTED; ++d) {
        uint index = from_digit + d;
        if (index < DIGIT_COUNT) {
            Digit digit = digit_at(index, BEGIN_BIT, END_BIT);
            // The extra bin of a split takes one more bit of the last digit.
            uint bits = BINS > RADIX && index == DIGIT_COUNT - 1 ? digit.bits + 1 : digit.bits;
            uint bin = bin_of(key[digit.word], digit.shift, (1u << bits) - 1);
            atomicAdd(sh_histogram[own_counter(d * BINS + bin)], 1);
        }
    }
    // In the first read, if there are several.
    if (PREFIXES && from_digit == 0) {
        atomicAdd(sh_histogram[COUNTER_WORDS + prefix_bin(prefix_of(key, DIGIT_COUNT, BEGIN_BIT, END_BIT))], 1);
    }
}

// Consecutive items of one problem.
struct Items {
    uint problem;
    uint count;  // items of the problem
    uint first;
    uint end;
};

// Counts dense keys of one word. All loads of a batch are in flight before the first is used.
void count_dense(Items items, uint from_digit) {
    uvec2 base = advance(keys_of(items.problem), bytes_of(items.first, 4));
    for (uint from = thread_id(); from < items.end - items.first; from += BATCH_KEYS) {
        // Constant offsets from the first key: no address for each key.
        Words source = Words(advance(base, uvec2(from * 4, 0)));
        uint valid = items.end - items.first - from;
        uint batch[BATCH];
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            if (k * THREADS < valid) batch[k] = source.v[k * THREADS];
        }
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            // Writes every word, although only keys of one word come here: Mesa 22.3 crashes on words that are never
            // written, even in dead code.
            uint key[KEY_WORDS];
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = encode_top(batch[k]);
            if (k * THREADS < valid) count_key(key, from_digit);
        }
    }
}

// Counts keys of any layout.
void count_any(Items items, uint from_digit) {
    uint valid = items.end - items.first;
    for (uint from = 0; from < valid; from += BATCH_KEYS) {
        uint batch[BATCH * KEY_WORDS];
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            uint i = from + k * THREADS + thread_id();
            if (i < valid) {
                [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
                    batch[k * KEY_WORDS + w] = load_encoded(items.problem, w, items.first + i);
                }
            }
        }
        [[unroll]] for (uint k = 0; k < BATCH; ++k) {
            uint i = from + k * THREADS + thread_id();
            uint key[KEY_WORDS];
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = batch[k * KEY_WORDS + w];
            if (i < valid) count_key(key, from_digit);
        }
    }
}

// Adds the counts in shared memory to the histogram of the problem. If a bin then holds all keys of the problem, the
// digit is constant and is marked as skipped.
void add_to_histogram(Tile tile, uint from_digit) {
    barrier();
    Words histogram = histogram_of(tile.problem);
    for (uint i = thread_id(); i < COUNTED * BINS; i += THREADS) {
        uint count = count_of(i);
        uint digit = from_digit + i / BINS;
        if (count == 0) continue;
        uint before = atomicAdd(
            histogram.v[from_digit * BINS + i], count, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed
        );
        if (before + count == tile.count) {
            atomicOr(
                histogram.v[DIGIT_COUNT * BINS], 1u << digit, gl_ScopeDevice, gl_StorageSemanticsNone,
                gl_SemanticsRelaxed
            );
        }
    }
    if (PREFIXES && from_digit == 0) {
        for (uint i = thread_id(); i < PREFIX_BINS; i += THREADS) {
            uint count = sh_histogram[COUNTER_WORDS + i];
            uint bin = DIGIT_COUNT * BINS + 1 + i;
            if (count != 0) {
                atomicAdd(histogram.v[bin], count, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
            }
        }
    }
    barrier();
}

// Writes the counts in shared memory to this workgroup's row of the histogram.
void write_row(uint from_digit) {
    barrier();
    // Dispatches with several rows (y) may have excess workgroups.
    if (linear_group() >= histogram_rows()) return;
    Words histogram = histogram_of(0);
    uint first = (linear_group() * DIGIT_COUNT + from_digit) * BINS;
    uint words = min(COUNTED, DIGIT_COUNT - from_digit) * BINS;
    for (uint i = thread_id(); i < words; i += THREADS) histogram.v[first + i] = count_of(i);
    barrier();
}

// Counts COUNTED digits, from `from_digit` on, of all keys of the chunk. In the first read, also clears the look-back
// descriptors of its tiles.
void count_chunk(uint from_digit) {
    bool clears = from_digit == 0 && has_flag(FLAG_TICKETS) && SCAN < SCAN_RING;
    uint first = linear_group() * args.chunk;
    clear_counts();
    barrier();

    // Branches depend on the tile only, so they are uniform for the workgroup.
    uint end = first + args.chunk;
    Tile tile;
    for (uint t = first; t < end && find_tile(t, TILE, tile);) {
        enter_function(tile.problem);
        uint tiles = min(end - t, tile.tiles - tile.index);
        Items items;
        items.problem = tile.problem;
        items.count = tile.count;
        items.first = tile.index * TILE;
        items.end = tiles == tile.tiles - tile.index ? tile.count : items.first + tiles * TILE;
        if (KEYS_ARE_PLANES) count_dense(items, from_digit);
        else count_any(items, from_digit);
        if (clears) clear_look_back(tile, tiles);
        t += tiles;
        if (!DIRECT) {
            add_to_histogram(tile, from_digit);
            clear_counts();
            barrier();
        }
    }
    if (DIRECT) write_row(from_digit);
}

void main() {
    // 1. Count the digits of this workgroup's chunk, COUNTED at a time.
    for (uint digit = 0; digit < DIGIT_COUNT; digit += COUNTED) count_chunk(digit);

    // 2. Clear the ring; without a prepare pass, also write the status and clear the tickets.
    if (SCAN >= SCAN_RING) clear_ring();
    if (DIRECT) write_status_and_clear_tickets();
}
