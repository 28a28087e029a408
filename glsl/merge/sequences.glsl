// Two sorted sequences, A and B, and their merged output.
//
// The arrays are dense: keys and values in arrays of their own, or {key, value} items (INTERLEAVED). Keys in memory,
// also in shared memory, have the caller's encoding. They are encoded to be compared (radix/keys.glsl), unless a
// user-defined comparator compares them (merge/user_order.glsl): then ENCODING is 0.

PROBLEM_MEMBER(uvec2, keys_a)
PROBLEM_MEMBER(uvec2, values_a)
PROBLEM_MEMBER(uvec2, keys_b)
PROBLEM_MEMBER(uvec2, values_b)
PROBLEM_MEMBER(uvec2, keys_out)
PROBLEM_MEMBER(uvec2, values_out)
PROBLEM_MEMBER(uvec2, count_a)
PROBLEM_MEMBER(uvec2, count_b)
PROBLEM_MEMBER(uint, max_a)

layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 0;
layout(constant_id = SPEC_LAYOUT) const uint LAYOUT = 0;

const bool INTERLEAVED = (LAYOUT & LAYOUT_INTERLEAVED) != 0;
const bool VALUES_ARE_INDICES = (LAYOUT & LAYOUT_INDICES) != 0;
const bool DROPS_KEYS = (LAYOUT & LAYOUT_DROP_KEYS) != 0;
// Distances of neighboring keys, and of neighboring values, in words.
const uint KEY_STRIDE = INTERLEAVED ? KEY_WORDS + VALUE_WORDS : KEY_WORDS;
const uint VALUE_STRIDE = INTERLEAVED ? KEY_STRIDE : VALUE_WORDS;

// All bits of a key are compared.
const uint BEGIN_BIT = 0;
const uint END_BIT = KEY_WORDS * 32;
#include "merge/compare.glsl"
// A macro, not a constant: glslang takes arrays of the sizes MERGED_WORDS and KEY_WORDS for different types otherwise,
// and silently does not copy such an argument back from an inout parameter.
#define MERGED_WORDS KEY_WORDS
#ifdef USER_FUNCTION
#include "merge/user_order.glsl"
#else
#include "merge/comes_after.glsl"
#endif

const bool ENCODES = KEYS_ARE_SIGNED || KEYS_DESCEND;

// Encodes a key: encoded keys compare as unsigned numbers.
void encode(inout uint key[KEY_WORDS]) {
    if (!ENCODES) return;
    bool negative = is_negative(key[TOP_WORD]);
    for (uint w = 0; w < TOP_WORD; ++w) key[w] = transcode_low(key[w], negative);
    key[TOP_WORD] = encode_top(key[TOP_WORD]);
}

void decode(inout uint key[KEY_WORDS]) {
    if (!ENCODES) return;
    key[TOP_WORD] = decode_top(key[TOP_WORD]);
    bool negative = is_negative(key[TOP_WORD]);
    for (uint w = 0; w < TOP_WORD; ++w) key[w] = transcode_low(key[w], negative);
}

// Loads a key of a sequence, encoded.
void load_key(uvec2 keys, uint index, out uint key[KEY_WORDS]) {
    Words words = Words(advance(keys, bytes_of(index, KEY_STRIDE * 4)));
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = words.v[memory_word(w)];
    encode(key);
}

// The number of items of each sequence.
struct Counts {
    uint a;
    uint b;
};

// Loads a count and clamps it to `most`. Returns `most` for a null address.
uint clamped_count(uvec2 address, uint most) {
    return is_null(address) ? most : min(Words(address).v[0], most);
}

Counts counts_of(uint p) {
    uint most_a = problem_max_a(p);
    Counts counts;
    counts.a = clamped_count(problem_count_a(p), most_a);
    counts.b = clamped_count(problem_count_b(p), problem_max_count(p) - most_a);
    return counts;
}
