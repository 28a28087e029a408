// Encoding of keys as unsigned numbers, and digits of keys.
//
// A key is KEY_WORDS words, word 0 the least significant. Encoded keys compare as unsigned numbers of KEY_WORDS * 32
// bits:
// - Signed integers: the sign bit is flipped.
// - Floats: the sign bit is flipped; if the key is negative, all other bits are flipped too. This is the total order
//   -NaN, -inf, ..., -0, +0, ..., +inf, NaN. (Herf, "Radix tricks", 2001.)
// - Descending order: all bits are flipped in addition.
//
// A key narrower than a word is in the low KEY_BITS bits of its word.

layout(constant_id = SPEC_KEY_WORDS) const uint KEY_WORDS = 1;
layout(constant_id = SPEC_KEY_BITS) const uint KEY_BITS = 32;
layout(constant_id = SPEC_ENCODING) const uint ENCODING = 0;

const uint KEY_MASK = 0xffffffffu >> (32 - KEY_BITS);
const uint KEY_SIGN = 1u << (KEY_BITS - 1);
const bool KEYS_ARE_FLOATS = (ENCODING & ENCODING_FLOAT) != 0;
const bool KEYS_ARE_SIGNED = (ENCODING & (ENCODING_SIGNED | ENCODING_FLOAT)) != 0;
const bool KEYS_DESCEND = (ENCODING & ENCODING_DESCENDING) != 0;
const uint TOP_WORD = KEY_WORDS - 1;

// Whether the encoding of the lower words depends on the sign, which is in the top word.
const bool SIGN_FLIPS_LOW_WORDS = KEYS_ARE_FLOATS && KEY_WORDS > 1;

// The encoded word of pads. No encoded key is greater, and pads follow all keys in the input: so they stay last.
const uint PAD = 0xffffffffu;

// `top`: the raw top word of a key.
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

// Encodes or decodes a word below the top one: this function is its own inverse. `negative`: whether the key is.
uint transcode_low(uint word, bool negative) {
    if (SIGN_FLIPS_LOW_WORDS && negative) word = ~word;
    if (KEYS_DESCEND) word = ~word;
    return word;
}

// Returns the index of word `w` of a key among the words of a key in memory.
uint memory_word(uint w) {
    if ((ENCODING & ENCODING_BIG_END_FIRST) != 0) return KEY_WORDS - 1 - w;
    return w;
}

// A digit: `bits` bits of one word of the key, from bit `shift` on. Digit 0 begins at the first bit to sort by, and no
// digit crosses words. Format::digit() in src/radix/format.rs numbers digits in the same way.
struct Digit {
    uint word;
    uint shift;
    uint bits;
};

// Returns digit `index` of keys that are sorted by the bits [begin_bit, end_bit).
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

// Returns the prefix of a key: its PREFIX_DIGITS most significant digits, as one number. `digits`: the number of all
// digits.
uint prefix_of(uint key[KEY_WORDS], uint digits, uint begin_bit, uint end_bit) {
    uint prefix = 0;
    [[unroll]] for (uint d = 1; d <= PREFIX_DIGITS; ++d) {
        Digit digit = digit_at(digits - d, begin_bit, end_bit);
        prefix = prefix << RADIX_BITS | key[digit.word] >> digit.shift & (1u << digit.bits) - 1;
    }
    return prefix;
}

// Returns the number of digits in the bits [begin_bit, end_bit).
uint digit_count(uint begin_bit, uint end_bit) {
    if (end_bit <= begin_bit) return 0;
    uint in_first = (min(32 - begin_bit % 32, end_bit - begin_bit) + RADIX_BITS - 1) / RADIX_BITS;
    uint rest = end_bit - min(end_bit, begin_bit / 32 * 32 + 32);
    return in_first + rest / 32 * 4 + (rest % 32 + RADIX_BITS - 1) / RADIX_BITS;
}
