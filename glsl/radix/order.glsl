// Sorts a part by several digits within one workgroup. The part has at most as many items as a tile.
//
// Keys of one word pass through registers and shared memory from digit to digit, together with one carried word. This
// is the value, if it has one word and ranks are not verified. Otherwise it is the source index of the item. Each
// further key word is then loaded when its digits come up, and all words are moved by source index at the end.
//
// With atomic ranking, the order is verified once, at the end. Neighbors are compared by the sorted bits, and equal
// keys by their source indices. A part that fails is sorted again with ballots. (Keys without values carry no index.
// All their bits are sorted by, so equal keys are identical.)

const bool CARRIES_VALUE = KEY_WORDS == 1 && VALUE_WORDS == 1 && !VERIFIES_ORDER;

// Sorts keys by one digit into sh_keys. Returns the position of each key, for the carried words.
void sort_by_digit(uint keys[ITEMS], Digit digit, bool by_ballots, out uint positions[POSITION_WORDS]) {
    uint mask = (1u << digit.bits) - 1;
    begin_digit(digit.shift);
    barrier();
    count_digits(keys, digit.shift, mask);
    barrier();
    uint totals[MAX_DIGITS];
    sum_rows(totals);
    find_hot_digit(totals);
    scan_digits(totals);
    start_rows(totals);
    barrier();
    rank_keys(keys, mask, by_ballots, positions);
    barrier();
}

// Moves carried words to the positions of their keys.
void move_carried_words(uint positions[POSITION_WORDS], inout uint carried[ITEMS]) {
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k)) sh_keys[position_of(positions, k)] = carried[k];
    }
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k)) carried[k] = sh_keys[striped(k)];
    }
    barrier();
}

// Returns for each item the word of its predecessor. The first item gets its own word.
void load_preceding_words(uint words[ITEMS], out uint before[ITEMS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k)) sh_keys[striped(k)] = words[k];
    }
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k)) before[k] = sh_keys[max(striped(k), 1) - 1];
    }
    barrier();
}

// Whether a part is in order, with pads at the end.
bool is_in_order(uint keys[ITEMS], uint carried[ITEMS]) {
    uint sorted_by = ITEM_WORDS == 1 ? 0xffffffffu : 0xffffffffu >> (32 - (END_BIT - BEGIN_BIT)) << BEGIN_BIT;
    uint keys_before[ITEMS];
    uint carried_before[ITEMS];
    load_preceding_words(keys, keys_before);
    if (ITEM_WORDS > 1) load_preceding_words(carried, carried_before);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (!HOLDS(k)) continue;
        uint before = keys_before[k] & sorted_by;
        uint key = keys[k] & sorted_by;
        if (before > key || ITEM_WORDS > 1 && before == key && carried_before[k] > carried[k]) {
            sh_out_of_order = 1;
        }
    }
    barrier();
    bool in_order = sh_out_of_order == 0;
    // The next attempt clears it.
    barrier();
    return in_order;
}

// Loads word `w` of the keys with these source indices, and PAD for indices past the last item.
void load_key_words(Part part, PassIo io, uint w, uint sources[ITEMS], out uint keys[ITEMS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k)) keys[k] = sources[k] < part.items ? load_key_word(part, io, w, sources[k]) : PAD;
    }
}

// Loads values of one word.
void load_values(Part part, PassIo io, inout uint values[ITEMS]) {
    Plane plane = source_plane(part.problem, KEY_WORDS, io, part.count);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k) && striped(k) < part.items) {
            values[k] = load_word(KEY_WORDS, plane, io.first, part.first + striped(k));
        }
    }
}

// Loads the lowest sorted key word of each item, and its carried word.
void load_part(Part part, PassIo io, out uint keys[ITEMS], out uint carried[ITEMS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) carried[k] = striped(k);
    load_key_words(part, io, BEGIN_BIT / 32, carried, keys);
    if (CARRIES_VALUE) load_values(part, io, carried);
}

// Sorts by all digits, through shared memory.
void sort_by_digits(
    Part part, PassIo io, uint digits, bool by_ballots, inout uint keys[ITEMS], inout uint carried[ITEMS]
) {
    uint word = BEGIN_BIT / 32;
    [[dont_unroll]] for (uint d = 0; d < digits; ++d) {
        Digit digit = digit_at(d, BEGIN_BIT, END_BIT);
        if (KEY_WORDS > 1 && digit.word != word) {
            word = digit.word;
            load_key_words(part, io, word, carried, keys);
        }
        uint positions[POSITION_WORDS];
        sort_by_digit(keys, digit, by_ballots, positions);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (HOLDS(k)) keys[k] = sh_keys[striped(k)];
        }
        if (ITEM_WORDS > 1) move_carried_words(positions, carried);
        else barrier();
    }
}

// Stores the sorted items: keys of one word from registers; values, or all words, by source index.
void store_part(Part part, PassIo io, uint keys[ITEMS], uint carried[ITEMS], bool carries_value) {
    if (KEY_WORDS == 1 && !DROPS_KEYS) {
        Plane target = target_plane(part.problem, 0, io, part.count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (HOLDS(k) && striped(k) < part.items) {
                store_word(target, part.first + striped(k), KEYS_IN_SCRATCH ? keys[k] : decode_top(keys[k]));
            }
        }
    }
    if (carries_value) {
        Plane target = target_plane(part.problem, KEY_WORDS, io, part.count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (HOLDS(k) && striped(k) < part.items) store_word(target, part.first + striped(k), carried[k]);
        }
    } else {
        for (uint w = KEY_WORDS == 1 || DROPS_KEYS ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) {
            permute_word(part, io, w, carried);
        }
    }
}

// Sorts a part by its lowest `digits` digits, from source to target of `io`.
void sort_part(Part part, PassIo io, uint digits) {
    uint keys[ITEMS];
    uint carried[ITEMS];
    [[dont_unroll]] for (uint attempt = 0; attempt < 2; ++attempt) {
        load_part(part, io, keys, carried);
        sort_by_digits(part, io, digits, !VERIFIES_ORDER || attempt == 1, keys, carried);
        if (!VERIFIES_ORDER || attempt == 1 || is_in_order(keys, carried)) break;
    }
    store_part(part, io, keys, carried, CARRIES_VALUE);
}
