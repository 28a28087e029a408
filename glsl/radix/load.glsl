// Loads words of a tile's items into registers, in striped order.

// Loads from a dense array. The offsets from a thread's first item are constant, so items need no address each.
void load_dense(uvec2 base, uint valid, uint pad, out uint words[ITEMS]) {
    Words source = Words(advance(base, uvec2(striped(0) * 4, 0)));
    uint lanes = lane_count();
    if (valid >= TILE) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) words[k] = source.v[k * lanes];
    } else {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) words[k] = striped(k) < valid ? source.v[k * lanes] : pad;
    }
}

// Loads from an array of strided items, or of keys narrower than a word. The items of a thread are a constant number of
// whole words apart, at the same byte offset within a word: a subgroup has at least four lanes.
void load_strided_items(Plane plane, uint first, uint valid, bool narrow, uint pad, out uint words[ITEMS]) {
    uint bytes = plane.stride * (narrow ? 1 : 4);
    uvec2 address = advance(plane.base, bytes_of(first + striped(0), bytes));
    Words source = Words(uvec2(address.x & ~3u, address.y));
    uint shift = narrow ? (address.x & 3) * 8 : 0;
    uint mask = narrow ? KEY_MASK : 0xffffffffu;
    uint step = lane_count() * bytes / 4;
    if (valid >= TILE) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) words[k] = source.v[k * step] >> shift & mask;
    } else {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            words[k] = striped(k) < valid ? source.v[k * step] >> shift & mask : pad;
        }
    }
}

// Fills `words` with the indices of the items.
void fill_indices(uint first, out uint words[ITEMS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) words[k] = (SEGMENTS ? segment_first : 0) + first + striped(k);
}

// Loads word w of the tile's items without encoding. Past the last item: the pad, or any value for indices.
void load_raw(Tile tile, uint w, PassIo io, uint pad, out uint words[ITEMS]) {
    uint first = tile.index * TILE;
    uint valid = tile.count - first;
    Plane plane = source_plane(tile.problem, w, io, tile.count);
    if (is_plane(w) || !io.first) load_dense(advance(plane.base, bytes_of(first, 4)), valid, pad, words);
    else if (is_index(w)) fill_indices(first, words);
    else load_strided_items(plane, first, valid, w < KEY_WORDS && NARROW, pad, words);
}

// Loads the word with the digit, encoded, and PAD past the last item.
//
// Keys of one word are encoded unconditionally, from a pad that becomes PAD. A check of each item takes registers (82
// instead of 64 with 22 floats for each thread on NVIDIA, and half the workgroups).
void load_keys(Tile tile, uint w, PassIo io, out uint keys[ITEMS]) {
    bool encodes = ENCODES && io.first;
    load_raw(tile, w, io, KEY_WORDS == 1 && encodes ? decode_top(PAD) : PAD, keys);
    if (!encodes) return;
    // With almost 2^32 items, the last tile may end beyond 2^32.
    uint first = tile.index * TILE;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (KEY_WORDS == 1) keys[k] = encode_top(keys[k]);
        else if (striped(k) < tile.count - first) {
            keys[k] = transcode_word(tile.problem, w, io, true, tile.count, first + striped(k), keys[k]);
        }
    }
}

// Loads word `w` of the tile's items, in the encoding of the target plane. Not for the word with the digit, which
// load_keys loads.
void load_words_for_scatter(Tile tile, uint w, PassIo io, out uint words[ITEMS]) {
    load_raw(tile, w, io, PAD, words);
    if (!ENCODES || KEY_WORDS == 1 || w >= KEY_WORDS) return;
    uint first = tile.index * TILE;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) < tile.count - first) {
            words[k] = transcode_in_pass(tile.problem, w, io, tile.count, first + striped(k), words[k]);
        }
    }
}
