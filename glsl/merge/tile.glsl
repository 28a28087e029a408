// The items of a workgroup: consecutive ones of A and of B, with their keys in shared memory, A's first.
//
// The includer defines ITEMS, TILE = THREADS * ITEMS, the most items of a workgroup, and STAGES_VALUES: whether values,
// of one word, are loaded together with the keys.

#include "core/pairs.glsl"

// Words of the keys of a thread.
const uint ITEMS_WORDS = ITEMS * KEY_WORDS;
// Words of a value. 1 without values: code that is never executed divides by it.
const uint MOVED_WORDS = VALUE_WORDS == 0 ? 1 : VALUE_WORDS;

// Keys of the tile, one row for each word of a key. The padding of rows spreads the words that a subgroup stores at
// once over the banks.
const uint ROW_WORDS = TILE + 32 / KEY_WORDS;
shared uint sh_words[KEY_WORDS * ROW_WORDS];
shared uint sh_values[STAGES_VALUES ? TILE : 1];

// Loads the key at a position of the tile, encoded.
void load_item(uint position, out uint key[KEY_WORDS]) {
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = sh_words[memory_word(w) * ROW_WORDS + position];
    encode(key);
}

#include "merge/path.glsl"

// The items of a tile. In the tile, those of A have positions from 0 on, and those of B follow.
struct OutputTile {
    uint problem;
    uint first;  // index in the output of the first item that the tile writes
    uint items;
    uint first_a;  // index of the first item of A
    uint items_a;
    uint first_b;
};

// Where the words of a tile's items come from: the word at `w` of the item at position i is v[i * stride + w].
struct Source {
    uvec2 a;
    uvec2 b;
};

Source source_of(OutputTile tile, uvec2 a, uvec2 b, uint stride) {
    Source source;
    source.a = advance(a, bytes_of(tile.first_a, stride * 4));
    // Items of B have positions from items_a on. So the base is moved back by items_a items, and may lie before the
    // array. Addresses wrap modulo 2^64; every address that is accessed lies in B.
    uvec2 back = bytes_of(tile.items_a, stride * 4);
    source.b = advance(b, bytes_of(tile.first_b, stride * 4));
    uint borrow;
    source.b.x = usubBorrow(source.b.x, back.x, borrow);
    source.b.y -= back.y + borrow;
    return source;
}

// Whether both words of a key are loaded or stored at once (as a vector), if its array is aligned to 8 bytes.
const bool HAS_VECTORS = KEY_WORDS == 2 && KEY_STRIDE == 2;

// Words of keys that a thread loads before it stores the first. If it has more than 16, these are loaded in batches of
// at most 12 single words or 8 vectors: all at once took more registers. (So did a loop over a single batch.)
const uint MOST_LOADS = HAS_VECTORS ? 16 : 12;
const uint BATCHES = ITEMS_WORDS <= 16 ? 1 : (ITEMS_WORDS + MOST_LOADS - 1) / MOST_LOADS;
const uint VECTOR_WORDS = HAS_VECTORS ? 2 : 1;
const uint LOADS = (ITEMS_WORDS / VECTOR_WORDS + BATCHES - 1) / BATCHES * VECTOR_WORDS;

// Returns the number, among the words of the tile's keys, of word k of this thread's batch. `first`: words of a thread
// in earlier batches.
uint word_of(uint first, uint k) {
    return (first + k / VECTOR_WORDS * VECTOR_WORDS) * THREADS + thread_id() * VECTOR_WORDS + k % VECTOR_WORDS;
}

// Loads a batch of the words of a tile's keys from device memory, from word `first` of each thread on.
void load_words(OutputTile tile, Source source, uint first, out uint words[LOADS]) {
    if (HAS_VECTORS && is_aligned_to_pairs(source.a.x) && is_aligned_to_pairs(source.b.x)) {
        [[unroll]] for (uint k = 0; k < LOADS / 2; ++k) {
            uint position = min((first / 2 + k) * THREADS + thread_id(), tile.items - 1);
            uvec2 pair = Pairs(position < tile.items_a ? source.a : source.b).v[position];
            words[2 * k] = pair.x;
            words[2 * k + 1] = pair.y;
        }
        return;
    }
    [[unroll]] for (uint k = 0; k < LOADS; ++k) {
        uint word = word_of(first, k);
        uint position = min(word / KEY_WORDS, tile.items - 1);
        Words from = Words(position < tile.items_a ? source.a : source.b);
        words[k] = from.v[position * KEY_STRIDE + word % KEY_WORDS];
    }
}

// Stores a batch into shared memory.
void stage_words(OutputTile tile, uint first, uint words[LOADS]) {
    [[unroll]] for (uint k = 0; k < LOADS; ++k) {
        uint word = word_of(first, k);
        uint position = word / KEY_WORDS;
        if (position < tile.items) sh_words[word % KEY_WORDS * ROW_WORDS + position] = words[k];
    }
}

// Loads the keys of a tile, and values of one word, into shared memory, with coalesced accesses. All loads of a batch
// precede its stores.
void load_items(OutputTile tile) {
    uint last = tile.items - 1;
    Source keys_source = source_of(tile, problem_keys_a(tile.problem), problem_keys_b(tile.problem), KEY_STRIDE);
    uint words[LOADS];
    if (BATCHES == 1) load_words(tile, keys_source, 0, words);
    uint values[ITEMS];
    if (STAGES_VALUES) {
        Source source = source_of(tile, problem_values_a(tile.problem), problem_values_b(tile.problem), VALUE_STRIDE);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint position = min(k * THREADS + thread_id(), last);
            values[k] = Words(position < tile.items_a ? source.a : source.b).v[position * VALUE_STRIDE];
        }
    }
    if (BATCHES == 1) stage_words(tile, 0, words);
    if (STAGES_VALUES) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint position = k * THREADS + thread_id();
            if (position < tile.items) sh_values[position] = values[k];
        }
    }
    if (BATCHES == 1) return;
    [[dont_unroll]] for (uint first = 0; first < ITEMS_WORDS; first += LOADS) {
        load_words(tile, keys_source, first, words);
        stage_words(tile, first, words);
    }
}

// Returns the value of the item at a position: the index of the item in its sequence, with SOURCE_B for items of B.
uint index_of(OutputTile tile, uint position) {
    if (position < tile.items_a) return tile.first_a + position;
    return tile.first_b + (position - tile.items_a) | SOURCE_B;
}

// Returns word `w` of the value of the item at a position. `source`: where values are in device memory.
uint value_word(OutputTile tile, Source source, uint position, uint w) {
    if (VALUES_ARE_INDICES) return index_of(tile, position);
    if (STAGES_VALUES) return sh_values[position];
    return Words(position < tile.items_a ? source.a : source.b).v[position * VALUE_STRIDE + w];
}

// With values: for each item of the output, the position that it comes from.
shared uint sh_positions[VALUE_WORDS == 0 ? 1 : TILE];

// Without values: writes an encoded key of the output to shared memory, decoded. All threads have read the tile's keys.
void stage_key(uint item, uint key[KEY_WORDS]) {
    decode(key);
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) sh_words[memory_word(w) * ROW_WORDS + item] = key[w];
}

uvec2 target_of(OutputTile tile, uvec2 array, uint stride) { return advance(array, bytes_of(tile.first, stride * 4)); }

// Copies the keys of the tile's items in the output, with coalesced accesses.
void store_keys(OutputTile tile) {
    uvec2 address = target_of(tile, problem_keys_out(tile.problem), KEY_STRIDE);
    if (HAS_VECTORS && is_aligned_to_pairs(address.x)) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint item = k * THREADS + thread_id();
            if (item >= tile.items) continue;
            uint position = VALUE_WORDS == 0 ? item : sh_positions[item];
            Pairs(address).v[item] = uvec2(sh_words[position], sh_words[(KEY_WORDS - 1) * ROW_WORDS + position]);
        }
        return;
    }
    Words target = Words(address);
    [[unroll]] for (uint k = 0; k < ITEMS_WORDS; ++k) {
        uint word = k * THREADS + thread_id();
        uint item = word / KEY_WORDS;
        if (item >= tile.items) continue;
        uint position = VALUE_WORDS == 0 ? item : sh_positions[item];
        target.v[item * KEY_STRIDE + word % KEY_WORDS] = sh_words[word % KEY_WORDS * ROW_WORDS + position];
    }
}

// Copies their values. Loads from device memory precede the stores of a round.
void store_values(OutputTile tile) {
    Source source = source_of(tile, problem_values_a(tile.problem), problem_values_b(tile.problem), VALUE_STRIDE);
    Words target = Words(target_of(tile, problem_values_out(tile.problem), VALUE_STRIDE));
    [[dont_unroll]] for (uint round = 0; round < MOVED_WORDS; ++round) {
        uint words[ITEMS];
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint word = (round * ITEMS + k) * THREADS + thread_id();
            uint position = sh_positions[min(word / MOVED_WORDS, tile.items - 1)];
            words[k] = value_word(tile, source, position, word % MOVED_WORDS);
        }
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint word = (round * ITEMS + k) * THREADS + thread_id();
            if (word / MOVED_WORDS >= tile.items) continue;
            target.v[word / MOVED_WORDS * VALUE_STRIDE + word % MOVED_WORDS] = words[k];
        }
    }
}
