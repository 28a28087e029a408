// Searches of trommel's hash tables in an application's own shaders.
//
// Before the file is included, two macros say what the table's hashers say, and four extensions are enabled:
//
//   #define TRM_HASH_KEY_WORDS 1    // words of 4 bytes of a key: 1 to 4
//   #define TRM_HASH_VALUE_WORDS 1  // words of a value: 0 to 4
//   #extension GL_EXT_buffer_reference : require
//   #extension GL_EXT_buffer_reference_uvec2 : require
//   #extension GL_EXT_control_flow_attributes : require
//   #extension GL_EXT_scalar_block_layout : require
//
// A search only reads the table. A barrier lies between it and an operation that changes the table:
//
//   TrmHashTable table = trm_hash_table(address);
//   uint key[1] = uint[](cell);
//   uint value[1] = uint[](0);
//   if (trm_hash_find(table, key, value)) ...
//
// docs/hash.md describes the layout of tables. `Hasher` (`trmCmdHash`) is the first choice for many keys at once: four
// lanes read a bucket.

const uint TRM_HASH_FORMAT = 2;
const uint TRM_HASH_HEADER_BYTES = 256;
const uint TRM_HASH_SLICE_SLOTS = 1024;
const uint TRM_HASH_LEAST_BUCKET_WORDS = 16;
const uint TRM_HASH_LEAST_BUCKET_SLOTS = 4;
const uint TRM_HASH_OVERFLOW_SHARE = 32;
const uint TRM_HASH_HOME_PROBES = 2;
const uint TRM_HASH_OVERFLOW_PROBES = 16;

const uint TRM_HASH_RESULT_WORDS = TRM_HASH_VALUE_WORDS == 0 ? 1 : TRM_HASH_VALUE_WORDS;
const uint TRM_HASH_ITEM_WORDS = TRM_HASH_KEY_WORDS + TRM_HASH_VALUE_WORDS;
const uint TRM_HASH_SLOT_WORDS = TRM_HASH_ITEM_WORDS > 4 ? 8 : TRM_HASH_ITEM_WORDS > 2 ? 4 : TRM_HASH_ITEM_WORDS;
const uint TRM_HASH_BUCKET_WORDS = TRM_HASH_LEAST_BUCKET_SLOTS * TRM_HASH_SLOT_WORDS > TRM_HASH_LEAST_BUCKET_WORDS
    ? TRM_HASH_LEAST_BUCKET_SLOTS * TRM_HASH_SLOT_WORDS
    : TRM_HASH_LEAST_BUCKET_WORDS;
const uint TRM_HASH_BUCKET_BYTES = 4 * TRM_HASH_BUCKET_WORDS;
const uint TRM_HASH_SLOTS = TRM_HASH_BUCKET_WORDS / TRM_HASH_SLOT_WORDS;
const uint TRM_HASH_FILTER_BITS = TRM_HASH_SLOTS / 2;
const uint TRM_HASH_BUCKETS = TRM_HASH_SLICE_SLOTS / TRM_HASH_SLOTS;
const uint TRM_HASH_BUCKET_SHIFT = TRM_HASH_SLOT_WORDS == 1 ? 26 : TRM_HASH_SLOT_WORDS == 2 ? 25 : 24;

layout(buffer_reference, scalar, buffer_reference_align = 16) readonly buffer TrmHashQuads { uvec4 v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer TrmHashWords { uint v[]; };

// A table in device memory.
struct TrmHashTable {
    uvec2 address;
    // Number of slices, without overflow slices.
    uint slices;
    // Number of keys.
    uint count;
};

// The table at an address (low word, high word). Reads its header.
TrmHashTable trm_hash_table(uvec2 address) {
    TrmHashWords header = TrmHashWords(address);
    return TrmHashTable(address, header.v[1], header.v[3]);
}

uvec2 trm_hash_advance(uvec2 address, uint count, uint bytes) {
    uint high, low, carry;
    umulExtended(count, bytes, high, low);
    low = uaddCarry(address.x, low, carry);
    return uvec2(low, address.y + high + carry);
}

// The finalizer of MurmurHash3.
uint trm_hash_mix(uint h) {
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

void trm_hash_key(uint key[TRM_HASH_KEY_WORDS], out uint first, out uint second) {
    if (TRM_HASH_KEY_WORDS == 2) {
        uint last = key[TRM_HASH_KEY_WORDS - 1];
        first = key[0] ^ trm_hash_mix(last ^ 0x9e3779b9u);
        second = last ^ trm_hash_mix(first);
        first ^= trm_hash_mix(second ^ 0x7f4a7c15u);
        return;
    }
    first = 0;
    second = 0x9e3779b9u;
    [[unroll]] for (uint w = 0; w < TRM_HASH_KEY_WORDS; ++w) {
        first = trm_hash_mix(first ^ key[w]);
        second = trm_hash_mix(second ^ key[w]);
    }
}

// Whether a key, which begins at a word of a bucket, is all ones (an empty slot), or all ones but the last bit.
bool trm_hash_is_free(uint words[TRM_HASH_BUCKET_WORDS], uint begin, uint last_word) {
    bool all = words[begin + TRM_HASH_KEY_WORDS - 1] == last_word;
    [[unroll]] for (uint w = 0; w + 1 < TRM_HASH_KEY_WORDS; ++w) all = all && words[begin + w] == 0xffffffffu;
    return all;
}

// Finds a key. `value`: its value; unchanged if the table does not have the key.
bool trm_hash_find(TrmHashTable table, uint key[TRM_HASH_KEY_WORDS], inout uint value[TRM_HASH_RESULT_WORDS]) {
    // 1. Two keys cannot be in slots: the header has them.
    bool reserved = key[TRM_HASH_KEY_WORDS - 1] >= 0xfffffffeu;
    [[unroll]] for (uint w = 0; w + 1 < TRM_HASH_KEY_WORDS; ++w) reserved = reserved && key[w] == 0xffffffffu;
    if (reserved) {
        TrmHashWords header = TrmHashWords(table.address);
        uint number = 0xffffffffu - key[TRM_HASH_KEY_WORDS - 1];
        if (header.v[5 + number] == 0) return false;
        [[unroll]] for (uint w = 0; w < TRM_HASH_VALUE_WORDS; ++w) value[w] = header.v[7 + 4 * number + w];
        return true;
    }

    // 2. The path of the key: buckets of its home slice, then buckets of the overflow slice.
    uint first, second, home, rest;
    trm_hash_key(key, first, second);
    umulExtended(first, table.slices, home, rest);
    uint overflow_slices = (table.slices + TRM_HASH_OVERFLOW_SHARE - 1) / TRM_HASH_OVERFLOW_SHARE;
    uint mark_buckets = (overflow_slices + TRM_HASH_BUCKET_WORDS - 1) / TRM_HASH_BUCKET_WORDS;
    uvec2 base = trm_hash_advance(table.address, TRM_HASH_HEADER_BYTES / TRM_HASH_BUCKET_BYTES + mark_buckets,
                                  TRM_HASH_BUCKET_BYTES);
    uint slice = home;
    uint bucket = rest >> TRM_HASH_BUCKET_SHIFT;
    uint step = (second % TRM_HASH_BUCKETS) | 1;
    uint filter_bit = ((second >> 16) * TRM_HASH_FILTER_BITS) >> 16;
    for (uint probe = 0; probe < TRM_HASH_HOME_PROBES + TRM_HASH_OVERFLOW_PROBES; ++probe) {
        if (probe == TRM_HASH_HOME_PROBES) {
            slice = table.slices + home / TRM_HASH_OVERFLOW_SHARE;
            bucket = (second * 0x9e3779b9u) >> TRM_HASH_BUCKET_SHIFT;
            step = (first % TRM_HASH_BUCKETS) | 1;
            filter_bit = ((first & 0xffffu) * TRM_HASH_FILTER_BITS) >> 16;
        }
        uint index = slice * TRM_HASH_BUCKETS + bucket;
        TrmHashQuads quads = TrmHashQuads(trm_hash_advance(base, index, TRM_HASH_BUCKET_BYTES));
        uint words[TRM_HASH_BUCKET_WORDS];
        [[unroll]] for (uint q = 0; q < TRM_HASH_BUCKET_WORDS / 4; ++q) {
            uvec4 quad = quads.v[q];
            [[unroll]] for (uint w = 0; w < 4; ++w) words[4 * q + w] = quad[w];
        }

        // 3. The slots of the bucket.
        bool goes_on = false;
        [[unroll]] for (uint s = 0; s < TRM_HASH_SLOTS; ++s) {
            uint begin = s * TRM_HASH_SLOT_WORDS;
            bool equal = true;
            [[unroll]] for (uint w = 0; w < TRM_HASH_KEY_WORDS; ++w) equal = equal && words[begin + w] == key[w];
            if (equal) {
                [[unroll]] for (uint w = 0; w < TRM_HASH_VALUE_WORDS; ++w) {
                    value[w] = words[begin + TRM_HASH_KEY_WORDS + w];
                }
                return true;
            }
            goes_on = goes_on || trm_hash_is_free(words, begin, 0xfffffffeu);
            // The order of two neighboring keys is a bit: whether the key may lie in a later bucket.
            if (s % 2 == 0 && s / 2 == filter_bit) {
                bool above = false;
                [[unroll]] for (uint k = TRM_HASH_KEY_WORDS; k-- != 0;) {
                    uint a = words[begin + k], b = words[begin + TRM_HASH_SLOT_WORDS + k];
                    above = a == b ? above : a > b;
                }
                goes_on = goes_on || above;
            }
        }

        // 4. A bucket with an empty slot is the last one of the path.
        if (!goes_on || trm_hash_is_free(words, TRM_HASH_BUCKET_WORDS - TRM_HASH_SLOT_WORDS, 0xffffffffu)) return false;
        bucket = (bucket + step) % TRM_HASH_BUCKETS;
    }
    return false;
}
