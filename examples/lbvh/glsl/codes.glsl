// Morton codes: x in the highest bit of each group of three. Of 30 bits they are words, of 63 bits pairs of words, the
// low one first: in memory the keys that the sort takes, here never 64-bit integers, which not every device has.

const uint AXIS_BITS = MORTON_BITS / 3;
const bool TWO_WORDS = MORTON_BITS > 32;

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer WordPairs { uvec2 v[]; };

// The high word is zero where codes have one.
uvec2 load_code(uint i) {
    return TWO_WORDS ? WordPairs(args.codes).v[i] : uvec2(Words(args.codes).v[i], 0u);
}

void store_code(uint i, uvec2 code) {
    if (TWO_WORDS) {
        WordPairs(args.codes).v[i] = code;
    } else {
        Words(args.codes).v[i] = code.x;
    }
}
