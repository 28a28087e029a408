// Morton codes in `args.codes`: x in the highest bit of each group of three. Codes of 30 bits are words. Codes of 63
// bits are pairs of words, low word first, which the sort reads as 64-bit keys. Kernels use no 64-bit integers, because
// not every device has them. The including file includes tree.glsl.
//
// Paper: G. M. Morton, "A computer oriented geodetic data base and a new technique in file sequencing", IBM 1966.

const uint AXIS_BITS = MORTON_BITS / 3;
const bool TWO_WORDS = MORTON_BITS > 32;

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer WordPairs { uvec2 v[]; };

// The high word of a 30-bit code is zero.
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

// Moves bit i of the low ten bits to bit 3i: each step halves the runs and opens a gap of twice their length.
uint spread(uint x) {
    x = (x | (x << 16)) & 0x030000ffu;
    x = (x | (x << 8)) & 0x0300f00fu;
    x = (x | (x << 4)) & 0x030c30c3u;
    x = (x | (x << 2)) & 0x09249249u;
    return x;
}

// The Morton code of the low ten bits of each axis.
uint interleave(uvec3 cell) {
    cell &= 1023u;
    return (spread(cell.x) << 2) | (spread(cell.y) << 1) | spread(cell.z);
}

// Ten bits per axis make thirty bits of the code. The highest bit per axis of 63-bit codes makes three.
uvec2 encode(uvec3 cell) {
    uint low = interleave(cell);
    if (!TWO_WORDS) {
        return uvec2(low, 0u);
    }
    uint middle = interleave(cell >> 10);
    uint high = interleave(cell >> 20);
    return uvec2(low | (middle << 30), (middle >> 2) | (high << 28));
}

// The code of a position, which is given as a share of the grid's extent along each axis. The last cell takes its upper
// border.
uvec2 encode_share(vec3 share) {
    float cells = float(1u << AXIS_BITS);
    return encode(uvec3(clamp(share * cells, vec3(0.0), vec3(cells - 1.0))));
}
