// What takes a key to its bucket, or to BUCKETS where it belongs to none.

// Words of all splitters, and whether a workgroup keeps them.
const uint SPLITTER_WORDS = FUNCTION == FUNCTION_SPLITTERS ? (BUCKETS - 1) * KEY_WORDS : 0;
const bool KEEPS_SPLITTERS = SPLITTER_WORDS != 0 && SPLITTER_WORDS <= SPLITTERS_KEPT;
shared uint sh_splitters[KEEPS_SPLITTERS ? SPLITTER_WORDS : 1];

PROBLEM_MEMBER(uvec2, splitters)
PROBLEM_MEMBER(uvec2, user_address)
PROBLEM_MEMBER(uvec4, user_words)
PROBLEM_PART(uvec2, low, ranges.low)
PROBLEM_PART(uvec2, width, ranges.width)
PROBLEM_PART(float, reciprocal, ranges.reciprocal)

// As it is ordered; where signs are all that counts, and for the caller's own functions, as it comes.
uint load_key_word(uint p, uint w, uint i) {
    if (FUNCTION == FUNCTION_SIGNS || FUNCTION == FUNCTION_USER) return load_word(w, key_plane(p, w), true, i);
    return load_encoded(p, w, i);
}

// A word of splitter i, encoded like the keys'. (The table lies as dense keys do; narrow ones are refused.)
uint load_splitter_word(uint p, uint i, uint w) {
    Words words = Words(problem_splitters(p));
    uint word = words.v[i * KEY_WORDS + memory_word(w)];
    if (w == TOP_WORD) return encode_top(word);
    bool negative = SIGN_TURNS_LOW_WORDS && is_negative(words.v[i * KEY_WORDS + memory_word(TOP_WORD)]);
    return turn_low(word, negative);
}

// Barrier after.
void begin_function(uint p) {
    if (!KEEPS_SPLITTERS) return;
    for (uint i = thread_id(); i < SPLITTER_WORDS; i += THREADS) sh_splitters[i] = load_splitter_word(p, i / KEY_WORDS, i % KEY_WORDS);
}

bool is_above(uint p, uint i, uint key[KEY_WORDS]) {
    bool above = false;
    // From the least significant word on, each overrules those before it.
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        uint word = KEEPS_SPLITTERS ? sh_splitters[i * KEY_WORDS + w] : load_splitter_word(p, i, w);
        above = word != key[w] ? word > key[w] : above;
    }
    return above;
}

uint count_splitters(uint p, uint key[KEY_WORDS]) {
    uint below = 0;
    uint above = BUCKETS - 1;
    while (below < above) {
        uint middle = (below + above) / 2;
        if (is_above(p, middle, key)) above = middle;
        else below = middle + 1;
    }
    return below;
}

bool is_less(uvec2 a, uvec2 b) { return a.y != b.y ? a.y < b.y : a.x < b.x; }

uvec2 minus(uvec2 a, uvec2 b) {
    uint borrow;
    uint low = usubBorrow(a.x, b.x, borrow);
    return uvec2(low, a.y - b.y - borrow);
}

// A quotient of no more than 17 bits out of floats of 24 is wrong by one at most: from one less than it on, what is left tells.
uint count_ranges(uint p, uint key[KEY_WORDS]) {
    uvec2 position = uvec2(key[0], KEY_WORDS > 1 ? key[KEY_WORDS - 1] : 0);
    uvec2 low = problem_low(p);
    uvec2 width = problem_width(p);
    if (is_less(position, low)) return 0;
    uvec2 left = minus(position, low);
    float quotient = (float(left.y) * 4294967296.0 + float(left.x)) * problem_reciprocal(p);
    uint bucket = max(uint(min(quotient, float(BUCKETS))), 1) - 1;
    uvec2 taken = bytes_of(bucket, width.x);
    taken.y += bucket * width.y;
    left = minus(left, taken);
    [[unroll]] for (uint i = 0; i < 2; ++i) {
        if (!is_less(left, width)) {
            left = minus(left, width);
            bucket += 1;
        }
    }
    return min(bucket, BUCKETS - 1);
}

#ifdef USER_FUNCTION

// What host and kernel agree on, for who loads a module that has been compiled before: not only told but used, or it would be dropped.
layout(constant_id = SPEC_INTERFACE) const uint INTERFACE = KERNEL_INTERFACE;
layout(constant_id = SPEC_INTERFACE_KEY) const uint INTERFACE_KEY = USER_KEY;
const bool IS_OF_THIS_INTERFACE = INTERFACE == KERNEL_INTERFACE && INTERFACE_KEY == USER_KEY;

// Of the caller's function: see split/user.glsl.
uint bucket_of(uint p, uint i, uint key[KEY_WORDS]) {
    uint words[MAX_KEY_WORDS] = uint[MAX_KEY_WORDS](0, 0, 0, 0);
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) words[memory_word(w)] = key[w];
    TrmUserData data;
    data.address = problem_user_address(p);
    data.words = problem_user_words(p);
    return min(trm_bucket(USER_KEY_OF(words), i, data), BUCKETS);
}

#else

uint bucket_of(uint p, uint i, uint key[KEY_WORDS]) {
    if (FUNCTION == FUNCTION_SPLITTERS) return count_splitters(p, key);
    if (FUNCTION == FUNCTION_RANGE) return count_ranges(p, key);
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
