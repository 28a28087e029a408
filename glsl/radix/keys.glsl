// Keys as unsigned numbers whose order is the order that is sorted by.
//
// A key is KEY_WORDS words, word 0 the least significant. Encoded, it compares as one unsigned number, least significant word first
// sorted: a sign bit is turned, the bits of a negative float are turned too, and where the largest come first every bit is.
// So floats are in total order: -NaN, -inf, ..., -0, +0, ..., +inf, NaN. (Herf, "Radix tricks", 2001.)
//
// Where keys are narrower than a word, their one word holds them in its low KEY_BITS bits.

layout(constant_id = SPEC_KEY_WORDS) const uint KEY_WORDS = 1;
layout(constant_id = SPEC_KEY_BITS) const uint KEY_BITS = 32;
layout(constant_id = SPEC_ENCODING) const uint ENCODING = 0;

const uint KEY_MASK = 0xffffffffu >> (32 - KEY_BITS);
const uint KEY_SIGN = 1u << (KEY_BITS - 1);
const bool KEYS_ARE_FLOATS = (ENCODING & ENCODING_FLOAT) != 0;
const bool KEYS_ARE_SIGNED = (ENCODING & (ENCODING_SIGNED | ENCODING_FLOAT)) != 0;
const bool KEYS_DESCEND = (ENCODING & ENCODING_DESCENDING) != 0;
const uint TOP_WORD = KEY_WORDS - 1;

// Lower words of a float turn with its sign, which only the top word tells.
const bool SIGN_TURNS_LOW_WORDS = KEYS_ARE_FLOATS && KEY_WORDS > 1;

// What is sorted behind every key, encoded.
const uint PAD = 0xffffffffu;

bool is_negative(uint top) { return KEYS_ARE_SIGNED && (top & KEY_SIGN) != 0; }

uint encode_top(uint top) {
    if (KEYS_ARE_FLOATS) top ^= is_negative(top) ? KEY_MASK : KEY_SIGN;
    else if (KEYS_ARE_SIGNED) top ^= KEY_SIGN;
    if (KEYS_DESCEND) top ^= KEY_MASK;
    return top;
}

uint decode_top(uint top) {
    if (KEYS_DESCEND) top ^= KEY_MASK;
    if (KEYS_ARE_FLOATS) top ^= is_negative(top) ? KEY_SIGN : KEY_MASK;
    else if (KEYS_ARE_SIGNED) top ^= KEY_SIGN;
    return top;
}

// A word below the top one, encoded or back: turning twice is turning not at all.
uint turn_low(uint word, bool negative) {
    if (SIGN_TURNS_LOW_WORDS && negative) word = ~word;
    if (KEYS_DESCEND) word = ~word;
    return word;
}

// Where word w of a key lies among its words in memory.
uint memory_word(uint w) {
    if ((ENCODING & ENCODING_BIG_END_FIRST) != 0) return KEY_WORDS - 1 - w;
    return w;
}

// A digit: so many bits of one word, from its bit `shift` on. Digits begin at the first bit that is sorted by and never cross
// words. Host and kernels number them alike.
struct Digit {
    uint word;
    uint shift;
    uint bits;
};

Digit digit_at(uint index, uint begin_bit, uint end_bit) {
    uint word = begin_bit / 32;
    uint shift = begin_bit % 32 + index * RADIX_BITS;
    uint in_first = (32 - begin_bit % 32 + RADIX_BITS - 1) / RADIX_BITS;
    if (index >= in_first) {
        word += 1 + (index - in_first) / 4;
        shift = (index - in_first) % 4 * RADIX_BITS;
    }
    Digit digit;
    digit.word = word;
    digit.shift = shift;
    digit.bits = min(min(end_bit - word * 32, 32) - shift, RADIX_BITS);
    return digit;
}

// The topmost digits of a key, as a number.
uint prefix_of(uint key[KEY_WORDS], uint digits, uint begin_bit, uint end_bit) {
    uint prefix = 0;
    [[unroll]] for (uint d = 1; d <= PREFIX_DIGITS; ++d) {
        Digit digit = digit_at(digits - d, begin_bit, end_bit);
        prefix = prefix << RADIX_BITS | key[digit.word] >> digit.shift & (1u << digit.bits) - 1;
    }
    return prefix;
}

uint digit_count(uint begin_bit, uint end_bit) {
    if (end_bit <= begin_bit) return 0;
    uint in_first = (min(32 - begin_bit % 32, end_bit - begin_bit) + RADIX_BITS - 1) / RADIX_BITS;
    uint rest = end_bit - min(end_bit, begin_bit / 32 * 32 + 32);
    return in_first + rest / 32 * 4 + (rest % 32 + RADIX_BITS - 1) / RADIX_BITS;
}
