// The last step of a pass: the tile, ordered by digit in sh_keys, leaves for the places that its digits begin at. Runs of
// equal digits are contiguous in the tile and in memory, so stores coalesce. Then the other words of the items follow, one after
// another, through the same shared memory.
//
// Loops go over the places that hold keys, a number that no compiler knows: unrolled whole, they would hold two registers of
// address for each key.
//
// Of a split, OUTPUT says which of the items leave: those of one bucket alone, all, or none, but each one's place among those of its bin. Where the
// caller says that bins begin, items without room in the output stay behind.

#include "sort/room.glsl"

layout(constant_id = SPEC_OUTPUT) const uint OUTPUT = OUTPUT_BUCKETS;
const uint OUTPUT_KIND = OUTPUT & 0xff;

// Where a digit's keys go, less where they begin in the tile: target index = sh_offsets[digit] + place. Wraps by design.
shared uint sh_offsets[BINS];

// One past the last place in the tile of a digit's keys that leave.
const bool LIMITED = OUTPUT_KIND == OUTPUT_PLACED;
shared uint sh_ends[LIMITED ? BINS : 1];

// Places a thread moves at a time; their digits share a word.
const uint GROUP = DIGITS_A_WORD;

// Where the k-th of them lies, `first` being where the first does: so far away where gaps divide what threads move at a time.
uint group_word(uint first, uint k) {
    if (SPREADS_PLACES && THREADS % 128 != 0) return key_word(first + k * THREADS + thread_id());
    return key_word(first + thread_id()) + k * key_word(THREADS);
}

uint target_of(uint digit, uint place) { return sh_offsets[digit] + place; }

// Whether an item of a bin is wanted, by its place in the tile.
bool is_wanted(uint bin, uint place) {
    if (LIMITED) return place < sh_ends[bin];
    return OUTPUT_KIND != OUTPUT_ONE || bin == OUTPUT >> 8;
}

// Groups that are full, which all are but the last, have nothing to ask of each place. Not where a digit has all its bits: it takes registers,
// and pairs take longer (1907 instead of 1881 us at 2^26 on an H200).
const bool FULL_GROUPS = BINS < RADIX;

// The word with the digit, of the places from `first` on; of all, or of those that hold keys.
void scatter_keys_group(Plane target, bool stores, bool decodes, uint first, bool all, uint valid) {
    uint mask = digit_mask();
    bool is_top = digit_word() == TOP_WORD;
    uint keys[GROUP];
    uint digits = 0;
    [[unroll]] for (uint k = 0; k < GROUP; ++k) {
        uint place = first + k * THREADS + thread_id();
        if (all || place < valid) keys[k] = sh_keys[group_word(first, k)];
    }
    [[unroll]] for (uint k = 0; k < GROUP; ++k) {
        uint place = first + k * THREADS + thread_id();
        uint digit = digit_of(keys[k], digit_shift(), mask);
        uint key = keys[k];
        if (ENCODES && decodes) key = is_top ? decode_top(key) : turn_low(key, false);
        if ((all || place < valid) && stores && is_wanted(digit, place)) store_word(target, target_of(digit, place), key);
        digits |= digit << k * BIN_BITS;
    }
    if (ITEM_WORDS > 1) sh_counts[first / GROUP + thread_id()] = digits;
}

// The word with the digit. Where other words follow, each thread leaves the digits of its places for them.
void scatter_keys(Plane target, bool stores, bool decodes, uint valid) {
    uint first = 0;
    for (; FULL_GROUPS && first + GROUP * THREADS <= valid; first += GROUP * THREADS) {
        scatter_keys_group(target, stores, decodes, first, true, valid);
    }
    for (; first < valid; first += GROUP * THREADS) scatter_keys_group(target, stores, decodes, first, false, valid);
}

void scatter_words_group(Plane target, uint first, bool all, uint valid) {
    uint digits = sh_counts[first / GROUP + thread_id()];
    [[unroll]] for (uint k = 0; k < GROUP; ++k) {
        uint place = first + k * THREADS + thread_id();
        uint digit = digits >> k * BIN_BITS & BIN_MASK;
        if ((all || place < valid) && is_wanted(digit, place)) store_word(target, target_of(digit, place), sh_keys[group_word(first, k)]);
    }
}

// A word that lies in sh_keys at the places of its keys; each thread finds the digits that it left in scatter_keys.
void scatter_words(Plane target, uint valid) {
    uint first = 0;
    for (; FULL_GROUPS && first + GROUP * THREADS <= valid; first += GROUP * THREADS) scatter_words_group(target, first, true, valid);
    for (; first < valid; first += GROUP * THREADS) scatter_words_group(target, first, false, valid);
}

// Where a tile holds its keys all the while, which is for shapes that leave registers over, the word that follows first is asked for early on.
const bool READS_AHEAD = BY_PLACES && KEY_WORDS == 1 && VALUE_WORDS != 0;

// Barrier before: sh_keys and sh_offsets are written. Of words that follow, `words` are the first already where it is read ahead.
void scatter(Tile tile, Move move, uint places[PLACE_WORDS], inout uint words[ITEMS]) {
    uint valid = min(TILE, tile.count - tile.index * TILE);
    bool drops = DROPS_KEYS && move.last;
    bool decodes = move.last && !KEYS_APART;
    // What it takes to decode a float's low word lies in another word: then the word goes the way of those that follow.
    bool once_more = SIGN_TURNS_LOW_WORDS && decodes && digit_word() != TOP_WORD;
    Plane keys = target_plane(tile.problem, digit_word(), move, tile.count);
    scatter_keys(keys, !drops && !once_more, decodes, valid);
    if (ITEM_WORDS == 1) return;

    for (uint w = KEY_WORDS == 1 || drops ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
        if (KEY_WORDS > 1 && w == digit_word() && !once_more) continue;
        if (!READS_AHEAD || w != KEY_WORDS) load_moving(tile, w, move, words);
        barrier();
        place_words(words, places);
        barrier();
        scatter_words(target_plane(tile.problem, w, move, tile.count), valid);
    }
}

// In place of all that: each item's place among those of its bin, where the item lies in the input.
void write_ranks(Tile tile, Move move, uint keys[ITEMS], uint places[PLACE_WORDS]) {
    Plane target = target_plane(tile.problem, TRAIL, move, tile.count);
    uint first = tile.index * TILE;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint digit = digit_of(keys[k], digit_shift(), digit_mask());
        if (striped(k) < tile.count - first) store_word(target, first + striped(k), target_of(digit, place_of(places, k)));
    }
}
