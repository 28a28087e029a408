// The words of a key that are compared, and of those the bits.
//
// Before it: BEGIN_BIT and END_BIT.

const uint FIRST_WORD = BEGIN_BIT / 32;
const uint COMPARED_WORDS = (END_BIT - 1) / 32 - FIRST_WORD + 1;

// The bits of a compared word that keys are sorted by.
uint sorted_bits(uint w) {
    uint bits = 0xffffffffu;
    if (w == 0) bits = bits << BEGIN_BIT % 32;
    if (w == COMPARED_WORDS - 1) bits &= 0xffffffffu >> (31 - (END_BIT - 1) % 32);
    return bits;
}
