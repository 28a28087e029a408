// A hash table in device memory: a header, marks, slices of SLICE_SLOTS slots, and overflow slices of the same form.
//
// A slice is a small table of its own. It consists of buckets of BUCKET_WORDS words, so a bucket is two sectors of 32
// bytes. The hash of a key selects its home slice, a bucket in it, and an odd distance between the buckets that are
// probed (double hashing). A key that finds no slot in MOST_PROBES buckets lies in the overflow slice of its home
// slice, which it shares with OVERFLOW_SHARE - 1 other slices. The marks are a word for each overflow slice, a bit for
// each home slice: whether some key of it lies there.
//
// The slots of a bucket are filled in order. An empty slot holds EMPTY, all ones; the slot of an erased key holds
// ERASED, all ones but for the last bit of the last word. These two keys have entries in the header instead.
//
// A full bucket without erased slots also holds a filter: two neighboring slots, a match, may have their keys in either
// order, so the order of each match stores a bit. The bit is set if the first key is the larger one. Each key belongs
// to one match of every bucket that is probed for it. A key that lies in a later bucket has set the bit of its match: a
// search may end at a full bucket without this bit.

layout(constant_id = SPEC_KEY_WORDS) const uint KEY_WORDS = 1;
layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 1;

// Words of a slot: 1, 2 or 4.
const uint SLOT_WORDS = KEY_WORDS + VALUE_WORDS > 2 ? 4 : KEY_WORDS + VALUE_WORDS;
// Slots of a bucket.
const uint SLOTS = BUCKET_WORDS / SLOT_WORDS;
// Matches of a full bucket, each of two slots.
const uint MATCHES = SLOTS / 2;
// Buckets of a slice. Their number has BUCKET_BITS bits less one.
const uint BUCKETS = SLICE_SLOTS / SLOTS;
const uint BUCKET_BITS = SLOT_WORDS == 1 ? 6 : SLOT_WORDS == 2 ? 7 : 8;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Header {
    HashHeader v[];
};

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

uint slice_of(uint first) {
    uint slice, rest;
    umulExtended(first, args.problem.slices, slice, rest);
    return slice;
}

// The buckets that are probed for a key in one slice.
struct Probe {
    uint slice;   // overflow slices follow the others
    uint bucket;  // of the slice
    uint step;
    uint match;   // of a full bucket
};

Probe home_probe(uint first, uint second) {
    uint slice, rest;
    umulExtended(first, args.problem.slices, slice, rest);
    return Probe(slice, rest >> (32 - BUCKET_BITS), (second % BUCKETS) | 1, ((second >> 16) * MATCHES) >> 16);
}

Probe overflow_probe(uint first, uint second) {
    uint slice = args.problem.slices + slice_of(first) / OVERFLOW_SHARE;
    uint bucket = (second * 0x9e3779b9u) >> (32 - BUCKET_BITS);
    return Probe(slice, bucket, (first % BUCKETS) | 1, ((first & 0xffff) * MATCHES) >> 16);
}

void advance_probe(inout Probe probe) { probe.bucket = (probe.bucket + probe.step) % BUCKETS; }

// Number of overflow slices.
uint overflow_slices() { return (args.problem.slices + OVERFLOW_SHARE - 1) / OVERFLOW_SHARE; }

// The marks of all overflow slices.
Words marks() { return Words(advance(args.problem.table, uvec2(HEADER_BYTES, 0))); }

// Their number, rounded up to whole buckets.
uint mark_words() { return (overflow_slices() + BUCKET_WORDS - 1) / BUCKET_WORDS * BUCKET_WORDS; }

// Address of the first bucket of a slice.
uvec2 slice_address(uint slice) {
    uvec2 slices = advance(args.problem.table, uvec2(HEADER_BYTES + mark_words() * 4, 0));
    return advance(slices, bytes_of(slice, SLICE_SLOTS * SLOT_WORDS * 4));
}

void load_slot(uvec2 address, uint index, out uint slot[SLOT_WORDS]) {
    if (SLOT_WORDS == 1) {
        slot[0] = Words(address).v[index];
    } else if (SLOT_WORDS == 2) {
        uvec2 words = Pairs(address).v[index];
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slot[w] = words[w % 2];
    } else {
        uvec4 words = Quads(address).v[index];
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slot[w] = words[w];
    }
}

void store_slot(uvec2 address, uint index, uint slot[SLOT_WORDS]) {
    if (SLOT_WORDS == 1) {
        Words(address).v[index] = slot[0];
    } else if (SLOT_WORDS == 2) {
        Pairs(address).v[index] = uvec2(slot[0], slot[SLOT_WORDS - 1]);
    } else {
        uvec4 words;
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) words[w] = slot[w];
        Quads(address).v[index] = words;
    }
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
