// The last step of a pass: the tile, ordered by digit in sh_keys, leaves for the places that its digits begin at. Runs of
// equal digits are contiguous in the tile and in memory, so stores coalesce. Then the other words of the items follow, one after
// another, through the same shared memory.
//
// Loops go over the places that hold keys, a number that no compiler knows: unrolled whole, they would hold two registers of
// address for each key.

// Where a digit's keys go, less where they begin in the tile: target index = sh_offsets[digit] + place. Wraps by design.
shared uint sh_offsets[RADIX];

// Places a thread moves at a time; their digits share a word.
const uint GROUP = 4;

uint target_of(uint digit, uint place) { return sh_offsets[digit] + place; }

// Whether ranks are to be proven. A tile comes sorted by all bits below its digit's, so one that is stably ordered by its digit is
// sorted by those and the digit's together; and keys of one word that are sorted by all of their bits show no other order among equals.
const bool PROVES = RANKING != RANKING_BALLOTS;

// The bits that the keys of a tile are sorted by once it is ordered. Where buckets are to be sorted by the digits below, it comes in any order,
// and leaves in any that keeps the buckets apart: equal keys are the same.
uint sorted_bits(bool buckets) {
    uint bits = 0xffffffffu >> (32 - (args.digit >> 16) - digit_shift());
    return buckets ? bits & 0xffffffffu << digit_shift() : bits;
}

bool out_of_order(uint place, uint key, bool buckets) {
    return place != 0 && (sh_keys[place - 1] & sorted_bits(buckets)) > (key & sorted_bits(buckets));
}

// The word with the digit. Where other words follow, each thread leaves the digits of its places for them.
void scatter_keys(Plane target, bool stores, bool decodes, bool buckets, uint valid) {
    uint mask = digit_mask();
    bool is_top = digit_word() == TOP_WORD;
    for (uint first = 0; first < valid; first += GROUP * THREADS) {
        uint keys[GROUP];
        uint digits = 0;
        [[unroll]] for (uint k = 0; k < GROUP; ++k) {
            uint place = first + k * THREADS + thread_id();
            if (place < valid) keys[k] = sh_keys[place];
        }
        [[unroll]] for (uint k = 0; k < GROUP; ++k) {
            uint place = first + k * THREADS + thread_id();
            uint digit = digit_of(keys[k], digit_shift(), mask);
            uint key = keys[k];
            if (PROVES && place < valid && out_of_order(place, key, buckets)) sh_out_of_order = 1;
            if (ENCODES && decodes) key = is_top ? decode_top(key) : turn_low(key, false);
            if (place < valid && stores) store_word(target, target_of(digit, place), key);
            digits |= digit << k * RADIX_BITS;
        }
        if (ITEM_WORDS > 1) sh_counts[first / GROUP + thread_id()] = digits;
    }
}

// The pads of the last tile, which equal the largest key, stay behind all keys.
void prove_pads(uint valid) {
    for (uint place = valid + thread_id(); place < TILE; place += THREADS) {
        if (sh_keys[place] != PAD) sh_out_of_order = 1;
    }
}

// Ranks the tile again, by ballots: from the counters, which ranking has left at the end of each row's places, and so from the last key on.
void rank_again(Tile tile, Move move) {
    uint first = tile.index * TILE;
    Plane source = source_plane(tile.problem, 0, move, tile.count);
    [[dont_unroll]] for (uint k = ITEMS; k-- > 0;) {
        uint i = first + striped(k);
        uint key = PAD;
        if (striped(k) < tile.count - first) {
            if (move.first) key = load_encoded(tile.problem, 0, move, tile.count, i);
            else key = load_strided(source, i);
        }
        uint place = rank_key_from_end(digit_of(key, digit_shift(), digit_mask()));
        sh_keys[place] = key;
    }
}

// A word that lies in sh_keys at the places of its keys; each thread finds the digits that it left in scatter_keys.
void scatter_words(Plane target, uint valid) {
    for (uint first = 0; first < valid; first += GROUP * THREADS) {
        uint digits = sh_counts[first / GROUP + thread_id()];
        [[unroll]] for (uint k = 0; k < GROUP; ++k) {
            uint place = first + k * THREADS + thread_id();
            uint digit = digits >> k * RADIX_BITS & (RADIX - 1);
            if (place < valid) store_word(target, target_of(digit, place), sh_keys[place]);
        }
    }
}

// Barrier before: sh_keys and sh_offsets are written.
void scatter(Tile tile, Move move, uint places[PLACE_WORDS]) {
    uint valid = min(TILE, tile.count - tile.index * TILE);
    bool drops = DROPS_KEYS && move.last;
    bool decodes = move.last && !KEYS_APART;
    // What it takes to decode a float's low word lies in another word: then the word goes the way of those that follow.
    bool once_more = SIGN_TURNS_LOW_WORDS && decodes && digit_word() != TOP_WORD;
    Plane keys = target_plane(tile.problem, digit_word(), move, tile.count);
    scatter_keys(keys, !drops && !once_more, decodes, move.buckets, valid);
    if (PROVES) {
        prove_pads(valid);
        barrier();
        if (sh_out_of_order != 0) {
            // What is stored again, perhaps by others, goes to the same places.
            memoryBarrierBuffer();
            barrier();
            rank_again(tile, move);
            barrier();
            scatter_keys(keys, true, decodes, move.buckets, valid);
        }
    }
    if (ITEM_WORDS == 1) return;

    for (uint w = KEY_WORDS == 1 || drops ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
        if (KEY_WORDS > 1 && w == digit_word() && !once_more) continue;
        uint words[ITEMS];
        load_moving(tile, w, move, words);
        barrier();
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[place_of(places, k)] = words[k];
        barrier();
        scatter_words(target_plane(tile.problem, w, move, tile.count), valid);
    }
}
