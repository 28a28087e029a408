// Hashes of keys.

layout(constant_id = SPEC_KEY_WORDS) const uint KEY_WORDS = 1;

bool keys_equal(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool equal = true;
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) equal = equal && a[w] == b[w];
    return equal;
}

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
