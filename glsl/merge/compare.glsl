// The words of a key that a sort compares, and the bits of these words.
//
// Word 0 of a compared key is word FIRST_WORD of the whole key. Words are compared as unsigned numbers, the last one is
// the most significant.
//
// The includer defines BEGIN_BIT and END_BIT, the bits to sort by.

const uint FIRST_WORD = BEGIN_BIT / 32;
const uint COMPARED_WORDS = (END_BIT - 1) / 32 - FIRST_WORD + 1;

// Returns a mask of the bits of compared word `w` that keys are sorted by.
uint compared_bits(uint w) {
    uint bits = 0xffffffffu;
    if (w == 0) bits = bits << BEGIN_BIT % 32;
    if (w == COMPARED_WORDS - 1) bits &= 0xffffffffu >> (31 - (END_BIT - 1) % 32);
    return bits;
}
