// Scatter: the last step of a pass. Items are in sh_keys, ordered by digit. Runs of equal digits are contiguous in the
//          tile and in memory, so stores coalesce. The other words of the items follow, one after the other, through
//          the same shared memory.
//
// Loops iterate over the positions that hold keys, a number that no compiler knows. Fully unrolled, they would hold two
// address registers for each key.
//
// Splits: OUTPUT selects the items of one bucket, all items, or the rank of each item in its bin. With given bucket
//         starts, items without room in the output are not written.
//
// The includer may define STORES_PAIRS, if registers suffice: then the last pass stores both words of some keys at once
// (stores_pairs).

#include "core/pairs.glsl"
#include "radix/capacity.glsl"

layout(constant_id = SPEC_OUTPUT) const uint OUTPUT = OUTPUT_BUCKETS;
const uint OUTPUT_KIND = OUTPUT & 0xff;

// Target index of a digit's keys minus their start in the tile: target index = sh_digit_scatter_base[digit] + position.
// Wraps by design.
shared uint sh_digit_scatter_base[BINS];

// Whether items may exceed the capacity of the output.
const bool LIMITED = OUTPUT_KIND == OUTPUT_PLACED;

// Positions that a thread moves at a time; their digits share a word.
const uint GROUP = DIGITS_A_WORD;

// Index in sh_keys of the k-th position of a thread. The distance of neighbors is constant if gaps divide it.
uint group_word(uint first, uint k) {
    if (POSITIONS_ARE_PADDED && THREADS % 128 != 0) return padded_position(first + k * THREADS + thread_id());
    return padded_position(first + thread_id()) + k * padded_position(THREADS);
}

uint target_of(uint digit, uint position) { return sh_digit_scatter_base[digit] + position; }

// Whether an item is written, by its bin and position.
bool is_wanted(uint bin, uint position) {
    if (LIMITED) return target_of(bin, position) < output_capacity;
    return OUTPUT_KIND != OUTPUT_ONE || bin == OUTPUT >> 8;
}

// Full groups need no check of each position. Not for 8-bit digits: the second loop takes registers, and pairs take
// longer (1907 instead of 1881 us at 2^26 on an H200).
const bool FULL_GROUPS = BINS < RADIX;

// Scatters the word with the digit for one group of positions from `first` on: for all of them, or for those below
// `valid`.
void scatter_keys_group(Plane target, bool stores, bool decodes, uint first, bool all, uint valid) {
    uint mask = digit_mask();
    bool is_top = digit_word() == TOP_WORD;
    uint keys[GROUP];
    uint digits = 0;
    [[unroll]] for (uint k = 0; k < GROUP; ++k) {
        uint position = first + k * THREADS + thread_id();
        if (all || position < valid) keys[k] = sh_keys[group_word(first, k)];
    }
    [[unroll]] for (uint k = 0; k < GROUP; ++k) {
        uint position = first + k * THREADS + thread_id();
        uint digit = digit_of(keys[k], digit_shift(), mask);
        uint key = keys[k];
        if (ENCODES && decodes) key = is_top ? decode_top(key) : transcode_low(key, false);
        if ((all || position < valid) && stores && is_wanted(digit, position)) {
            store_word(target, target_of(digit, position), key);
        }
        digits |= digit << k * BIN_BITS;
    }
    if (ITEM_WORDS > 1) sh_counts[first / GROUP + thread_id()] = digits;
}

// Scatters the word with the digit. If other words follow, each thread keeps the digits of its positions.
void scatter_keys(Plane target, bool stores, bool decodes, uint valid) {
    uint first = 0;
    for (; FULL_GROUPS && first + GROUP * THREADS <= valid; first += GROUP * THREADS) {
        scatter_keys_group(target, stores, decodes, first, true, valid);
    }
    for (; first < valid; first += GROUP * THREADS) scatter_keys_group(target, stores, decodes, first, false, valid);
}

// Scatters the word in sh_keys for one group of positions from `first` on.
void scatter_words_group(Plane target, uint first, bool all, uint valid) {
    uint digits = sh_counts[first / GROUP + thread_id()];
    [[unroll]] for (uint k = 0; k < GROUP; ++k) {
        uint position = first + k * THREADS + thread_id();
        uint digit = digits >> k * BIN_BITS & BIN_MASK;
        if ((all || position < valid) && is_wanted(digit, position)) {
            store_word(target, target_of(digit, position), sh_keys[group_word(first, k)]);
        }
    }
}

// Scatters a word in sh_keys, with the digits that scatter_keys or scatter_pairs has kept.
void scatter_words(Plane target, uint valid) {
    uint first = 0;
    for (; FULL_GROUPS && first + GROUP * THREADS <= valid; first += GROUP * THREADS) {
        scatter_words_group(target, first, true, valid);
    }
    for (; first < valid; first += GROUP * THREADS) scatter_words_group(target, first, false, valid);
}

// Whether a pass stores both words of its keys at once, if they are aligned. The stores of one word after the other
// would each fill half of twice as many sectors of memory: the last pass over 2^26 keys with indices took 967 instead
// of 596 us on an H200. With values of the caller it would take 130 registers, and so only half as many workgroups.
bool stores_pairs(PassIo io) {
#ifdef STORES_PAIRS
    bool has_values = VALUE_WORDS != 0 && !VALUES_ARE_INDICES;
    return KEY_WORDS == 2 && !has_values && !INTERLEAVED && !DROPS_KEYS && !KEYS_IN_SCRATCH && io.last;
#else
    return false;
#endif
}

// Number of groups of positions: a thread holds their keys while the other words of these keys replace them in sh_keys.
const uint PAIRED_GROUPS = 3;

// Scatters keys of two words to an array that is aligned to them. If indices follow, each thread keeps the digits of
// its positions.
void scatter_pairs(Tile tile, PassIo io, bool decodes, uint positions[POSITION_WORDS], uint valid) {
    uint word = digit_word();
    uint mask = digit_mask();
    uvec2 target = to_keys_of(tile.problem);
    uint others[ITEMS];
    load_words_for_scatter(tile, KEY_WORDS - 1 - word, io, others);
    [[dont_unroll]] for (uint begin = 0; begin < valid; begin += PAIRED_GROUPS * GROUP * THREADS) {
        uint keys[PAIRED_GROUPS * GROUP];
        uint end = min(begin + PAIRED_GROUPS * GROUP * THREADS, valid);
        [[unroll]] for (uint k = 0; k < PAIRED_GROUPS * GROUP; ++k) {
            if (begin + k * THREADS + thread_id() < end) keys[k] = sh_keys[group_word(begin, k)];
        }
        barrier();
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint position = position_of(positions, k);
            if (position - begin < end - begin) sh_keys[padded_position(position)] = others[k];
        }
        barrier();
        [[unroll]] for (uint g = 0; g < PAIRED_GROUPS; ++g) {
            uint digits = 0;
            [[unroll]] for (uint k = 0; k < GROUP; ++k) {
                uint position = begin + (g * GROUP + k) * THREADS + thread_id();
                if (position >= end) continue;
                uint key = keys[g * GROUP + k];
                uint other = sh_keys[group_word(begin, g * GROUP + k)];
                uint digit = digit_of(key, digit_shift(), mask);
                if (ENCODES && decodes) key = word == TOP_WORD ? decode_top(key) : transcode_low(key, false);
                if (is_wanted(digit, position)) {
                    uvec2 address = advance(target, bytes_of(target_of(digit, position), 8));
                    Pairs(address).v[0] = memory_word(word) == 0 ? uvec2(key, other) : uvec2(other, key);
                }
                digits |= digit << k * BIN_BITS;
            }
            bool has_digits = begin + g * GROUP * THREADS < end;
            if (ITEM_WORDS > KEY_WORDS && has_digits) sh_counts[begin / GROUP + g * THREADS + thread_id()] = digits;
        }
    }
}

// Whether the next word is loaded early: for shapes with registers to spare, whose tiles keep their keys.
const bool READS_AHEAD = BY_SOURCE_INDEX && KEY_WORDS == 1 && VALUE_WORDS != 0;

// Scatters all words of the items. Barrier before: sh_keys and sh_digit_scatter_base are written. `words`: the next
// word, if READS_AHEAD.
void scatter(Tile tile, PassIo io, uint positions[POSITION_WORDS], inout uint words[ITEMS]) {
    uint valid = min(TILE, tile.count - tile.index * TILE);
    bool drops = DROPS_KEYS && io.last;
    bool decodes = io.last && !KEYS_IN_SCRATCH;
    // Decoding the low word of a float needs its top word. Then the word is scattered later, like those that follow.
    bool scatters_again = SIGN_FLIPS_LOW_WORDS && decodes && digit_word() != TOP_WORD;
    bool pairs = stores_pairs(io) && !scatters_again && is_aligned_to_pairs(to_keys_of(tile.problem).x);
    if (pairs) {
        scatter_pairs(tile, io, decodes, positions, valid);
    } else {
        Plane keys = target_plane(tile.problem, digit_word(), io, tile.count);
        scatter_keys(keys, !drops && !scatters_again, decodes, valid);
    }
    if (ITEM_WORDS == 1) return;

    for (uint w = KEY_WORDS == 1 || drops || pairs ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
        if (KEY_WORDS > 1 && w == digit_word() && !scatters_again) continue;
        if (!READS_AHEAD || w != KEY_WORDS) load_words_for_scatter(tile, w, io, words);
        barrier();
        store_at_positions(words, positions);
        barrier();
        scatter_words(target_plane(tile.problem, w, io, tile.count), valid);
    }
}

// Writes the rank of each item in its bin, at the index of the item in the input.
void write_ranks(Tile tile, PassIo io, uint keys[ITEMS], uint positions[POSITION_WORDS]) {
    Plane target = target_plane(tile.problem, VALUE_ARRAY_BEGIN, io, tile.count);
    uint first = tile.index * TILE;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint digit = digit_of(keys[k], digit_shift(), digit_mask());
        if (striped(k) < tile.count - first) {
            store_word(target, first + striped(k), target_of(digit, position_of(positions, k)));
        }
    }
}
