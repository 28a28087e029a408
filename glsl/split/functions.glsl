// Bucket functions: map an item to its bucket, or to BUCKETS if it has no bucket.
//
// The includer defines BUCKETS, BEGIN_BIT and END_BIT.

// Number of words of all splitters, and whether a workgroup holds them in shared memory.
const uint SPLITTER_WORDS = FUNCTION == FUNCTION_SPLITTERS ? (BUCKETS - 1) * KEY_WORDS : 0;
const bool SPLITTERS_ARE_SHARED = SPLITTER_WORDS != 0 && SPLITTER_WORDS <= SPLITTERS_KEPT;
shared uint sh_splitters[SPLITTERS_ARE_SHARED ? SPLITTER_WORDS : 1];

PROBLEM_MEMBER(uvec2, splitters)
PROBLEM_MEMBER(uvec2, user_address)
PROBLEM_MEMBER(uvec4, user_words)
// FUNCTION_RANGE: the first key of bucket 0, the width of a bucket, and its reciprocal, rounded to a float.
PROBLEM_PART(uvec2, low, ranges.low)
PROBLEM_PART(uvec2, width, ranges.width)
PROBLEM_PART(float, reciprocal, ranges.reciprocal)

// Loads a key word: encoded, or as it is in memory for functions of signs and for user-defined functions.
uint load_key_word(uint p, uint w, uint i) {
    if (FUNCTION == FUNCTION_SIGNS || FUNCTION == FUNCTION_USER) return load_word(w, key_plane(p, w), true, i);
    return load_encoded(p, w, i);
}

// Loads word `w` of splitter `i`, encoded. Splitters are dense keys of whole words; the host rejects narrow ones.
uint load_splitter_word(uint p, uint i, uint w) {
    Words words = Words(problem_splitters(p));
    uint word = words.v[i * KEY_WORDS + memory_word(w)];
    if (w == TOP_WORD) return encode_top(word);
    bool negative = SIGN_FLIPS_LOW_WORDS && is_negative(words.v[i * KEY_WORDS + memory_word(TOP_WORD)]);
    return transcode_low(word, negative);
}

// Loads the splitters into shared memory. Barrier after.
void load_splitters(uint p) {
    if (!SPLITTERS_ARE_SHARED) return;
    for (uint i = thread_id(); i < SPLITTER_WORDS; i += THREADS) {
        sh_splitters[i] = load_splitter_word(p, i / KEY_WORDS, i % KEY_WORDS);
    }
}

// Whether splitter `i` is greater than the key.
bool is_splitter_greater(uint p, uint i, uint key[KEY_WORDS]) {
    bool greater = false;
    // From the least significant word on: each word that differs overrides the lower ones.
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        uint word = SPLITTERS_ARE_SHARED ? sh_splitters[i * KEY_WORDS + w] : load_splitter_word(p, i, w);
        greater = word != key[w] ? word > key[w] : greater;
    }
    return greater;
}

// Returns the number of splitters less than or equal to the key (upper bound).
uint count_splitters(uint p, uint key[KEY_WORDS]) {
    uint low = 0;
    uint high = BUCKETS - 1;
    while (low < high) {
        uint middle = (low + high) / 2;
        if (is_splitter_greater(p, middle, key)) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Numbers of 64 bits as (low, high).
bool is_less(uvec2 a, uvec2 b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }

uvec2 subtract(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

// Returns the bucket of a key among buckets of equal width. Keys outside of the range go to the first or last bucket.
//
// The quotient has at most 17 bits and is computed with floats of 24 bits, so its error is at most 1. The search starts
// one bucket below it, and the remaining distance corrects it in at most two steps.
uint divide_by_width(uint p, uint key[KEY_WORDS]) {
    uvec2 position = uvec2(key[0], KEY_WORDS > 1 ? key[KEY_WORDS - 1] : 0);
    uvec2 low = problem_low(p);
    uvec2 width = problem_width(p);
    if (is_less(position, low)) return 0;
    uvec2 distance = subtract(position, low);
    float quotient = (float(distance.y) * 4294967296.0 + float(distance.x)) * problem_reciprocal(p);
    uint bucket = max(uint(min(quotient, float(BUCKETS))), 1) - 1;
    uvec2 bucket_start = bytes_of(bucket, width.x);
    bucket_start.y += bucket * width.y;
    distance = subtract(distance, bucket_start);
    [[unroll]] for (uint i = 0; i < 2; ++i) {
        if (!is_less(distance, width)) {
            distance = subtract(distance, width);
            bucket += 1;
        }
    }
    return min(bucket, BUCKETS - 1);
}

#ifdef USER_FUNCTION

#include "radix/user_key.glsl"

// Calls the user-defined bucket function: see split/user.glsl.
uint bucket_of(uint p, uint i, uint key[KEY_WORDS]) {
    TrmUserData data;
    data.address = problem_user_address(p);
    data.words = problem_user_words(p);
    return min(trm_bucket(user_key(key), i, data), BUCKETS);
}

#else

// Returns the bucket of item `i` with this key.
uint bucket_of(uint p, uint i, uint key[KEY_WORDS]) {
    if (FUNCTION == FUNCTION_SPLITTERS) return count_splitters(p, key);
    if (FUNCTION == FUNCTION_RANGE) return divide_by_width(p, key);
    if (FUNCTION == FUNCTION_SIGNS) {
        uint signs = 0;
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) signs |= key[w] >> 31 << memory_word(w);
        return signs;
    }
    Digit field;
    field.word = BEGIN_BIT / 32;
    field.shift = BEGIN_BIT % 32;
    return min(key[field.word] >> field.shift & 0xffffffffu >> (32 - (END_BIT - BEGIN_BIT)), BUCKETS);
}

#endif
