// The words of a tile's items, from wherever they lie to registers, in striped order.

// Items from this one on lie in a dense array.
void load_dense(Words source, uint valid, uint pad, out uint words[ITEMS]) {
    if (valid >= TILE) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) words[k] = source.v[striped(k)];
    } else {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) words[k] = striped(k) < valid ? source.v[striped(k)] : pad;
    }
}

// Word w of the tile's items, as it lies, and past the last of them the pad.
void load_raw(Tile tile, uint w, Move move, uint pad, out uint words[ITEMS]) {
    uint first = tile.index * TILE;
    uint valid = tile.count - first;
    Plane plane = source_plane(tile.problem, w, move, tile.count);
    bool dense = w < KEY_WORDS ? KEYS_ARE_PLANES : VALUES_ARE_PLANES;
    if (dense || !move.first) {
        load_dense(Words(advance(plane.base, bytes_of(first, 4))), valid, pad, words);
    } else {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint place = striped(k);
            words[k] = place < valid ? load_word(w, plane, true, first + place) : pad;
        }
    }
}

// The word that holds the digit, encoded, and PAD past the last item.
//
// Keys of one word are encoded whether they are there or not, from a pad that becomes PAD: to ask each takes registers (82 instead of 64 with
// 22 floats a thread on NVIDIA, and half the workgroups).
void load_keys(Tile tile, uint w, Move move, out uint keys[ITEMS]) {
    bool encodes = ENCODES && move.first;
    load_raw(tile, w, move, KEY_WORDS == 1 && encodes ? decode_top(PAD) : PAD, keys);
    if (!encodes) return;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = tile.index * TILE + striped(k);
        if (KEY_WORDS == 1) keys[k] = encode_top(keys[k]);
        else if (i < tile.count) keys[k] = turn_word(tile.problem, w, move, true, tile.count, i, keys[k]);
    }
}

// A word that follows.
void load_moving(Tile tile, uint w, Move move, out uint words[ITEMS]) {
    load_raw(tile, w, move, PAD, words);
    if (!ENCODES || KEY_WORDS == 1 || w >= KEY_WORDS) return;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint i = tile.index * TILE + striped(k);
        if (i < tile.count) words[k] = turn_moving(tile.problem, w, move, tile.count, i, words[k]);
    }
}
