// Keys of hash tables: their hashes, the two reserved ones, and the header of a table.

layout(constant_id = SPEC_KEY_WORDS) const uint KEY_WORDS = 1;
layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 1;
// Arrays of the words of a value have room for all, and for one at least.
const uint MOST_VALUE_WORDS = 3;

// Whether the header has the number of slices, which resize.comp changes. Otherwise the host knows it.
layout(constant_id = SPEC_RESIZABLE) const uint RESIZABLE = 0;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Header {
    HashHeader v[];
};

uint resizable_slices;

// Reads the number of slices of a RESIZABLE table. Kernels that access slots call it first. The number is limited, so a
// corrupt header causes no access beyond the table.
void open_table() {
    if (RESIZABLE == 0) return;
    resizable_slices = clamp(Header(args.problem.table).v[0].slices, 1u, args.problem.slices);
}

// Number of slices of the table, without overflow slices.
uint table_slices() { return RESIZABLE != 0 ? resizable_slices : args.problem.slices; }

// Address of the value of a reserved key.
uvec2 reserved_value(uint reserved) {
    return advance(args.problem.table, uvec2((RESERVED_VALUES + 4 * reserved) * 4, 0));
}

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Pairs {
    uvec2 v[];
};
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Quads {
    uvec4 v[];
};

// The finalizer of MurmurHash3 (Appleby), a bijection.
uint mix_bits(uint h) {
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

// The inverse of mix_bits.
uint unmix_bits(uint h) {
    h = (h ^ (h >> 16)) * 0x7ed1b41du;
    h = (h ^ (h >> 13) ^ (h >> 26)) * 0xa5cb9243u;
    return h ^ (h >> 16);
}

const uint SECOND_SEED = 0x9e3779b9u;
const uint PAIR_SEED = 0x7f4a7c15u;

// The hashes of a key. The first one selects slice and bucket, and identifies a key of one word. Both identify a key of
// two words: they are a Feistel network, a bijection.
void hash_key(uint key[KEY_WORDS], out uint first, out uint second) {
    if (KEY_WORDS == 2) {
        first = key[0] ^ mix_bits(key[KEY_WORDS - 1] ^ SECOND_SEED);
        second = key[KEY_WORDS - 1] ^ mix_bits(first);
        first ^= mix_bits(second ^ PAIR_SEED);
        return;
    }
    first = 0;
    second = SECOND_SEED;
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        first = mix_bits(first ^ key[w]);
        second = mix_bits(second ^ key[w]);
    }
}

// Words of the hashes that batches are sorted by. They identify keys of one or two words.
const uint HASH_WORDS = KEY_WORDS == 2 ? 2 : 1;
const bool HASH_IS_KEY = KEY_WORDS <= 2;

// The inverse of hash_key, for keys of one or two words.
void unhash_key(uint first, uint second, out uint key[KEY_WORDS]) {
    if (KEY_WORDS == 1) {
        key[0] = unmix_bits(first);
        return;
    }
    first ^= mix_bits(second ^ PAIR_SEED);
    key[KEY_WORDS - 1] = second ^ mix_bits(first);
    key[0] = first ^ mix_bits(key[KEY_WORDS - 1] ^ SECOND_SEED);
}

const uint NOT_RESERVED = 2;

// Which of the keys EMPTY (0) and ERASED (1) a key is, or NOT_RESERVED.
uint reserved_index(uint key[KEY_WORDS]) {
    bool all = key[KEY_WORDS - 1] >= 0xfffffffeu;
    [[unroll]] for (uint w = 0; w + 1 < KEY_WORDS; ++w) all = all && key[w] == 0xffffffffu;
    return all ? 0xffffffffu - key[KEY_WORDS - 1] : NOT_RESERVED;
}

bool is_empty_key(uint key[KEY_WORDS]) {
    bool all = true;
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) all = all && key[w] == 0xffffffffu;
    return all;
}

bool keys_equal(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool equal = true;
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) equal = equal && a[w] == b[w];
    return equal;
}
