// A hash table in device memory: a header, marks, slices of SLICE_SLOTS slots, and overflow slices of the same form.
//
// A slice is a small table of its own. It consists of buckets of BUCKET_WORDS words: two sectors of 32 bytes, or four
// if slots have 8 words. The hash of a key selects its home slice, a bucket in it, and an odd distance between the
// HOME_PROBES buckets that are probed. A key that finds no slot there lies in one of OVERFLOW_PROBES buckets of the
// overflow slice of its home slice, which it shares with OVERFLOW_SHARE - 1 other slices. The marks are a word for each
// overflow slice, a bit for each home slice: whether some key of it lies there.
//
// The slots of a bucket are filled in order. An empty slot holds EMPTY, all ones; the slot of an erased key holds
// ERASED, all ones but for the last bit of the last word. These two keys have entries in the header instead.
//
// A slot has the words of its key, then those of its value. The words that remain are unused.
//
// A full bucket without erased slots also holds a filter of FILTER_BITS bits. Bit i is the order of the keys in slots 2
// i and 2 i + 1: it is set if the first key is the larger one. A key selects one bit of each bucket of its path. The
// bit is set if a key that selects it lies in a later bucket. So a search ends at a full bucket without its bit.

#include "hash/hashes.glsl"

const uint SCHEME = SCHEME_BUCKETED;

// Words of a slot: 1, 2, 4 or 8.
const uint SLOT_WORDS = KEY_WORDS + VALUE_WORDS > 4 ? 8 : KEY_WORDS + VALUE_WORDS > 2 ? 4 : KEY_WORDS + VALUE_WORDS;
// Words of a bucket.
const uint BUCKET_WORDS =
    LEAST_BUCKET_SLOTS * SLOT_WORDS > LEAST_BUCKET_WORDS ? LEAST_BUCKET_SLOTS * SLOT_WORDS : LEAST_BUCKET_WORDS;
// Slots of a bucket.
const uint SLOTS = BUCKET_WORDS / SLOT_WORDS;
// Bits of the filter of a full bucket, each in the order of two keys.
const uint FILTER_BITS = SLOTS / 2;
// Buckets of a slice: 2^BUCKET_BITS.
const uint BUCKETS = SLICE_SLOTS / SLOTS;
const uint BUCKET_BITS = SLOT_WORDS == 1 ? 6 : SLOT_WORDS == 2 ? 7 : 8;

// Index of the home slice of a key with this first hash.
uint slice_of(uint first) {
    uint slice, rest;
    umulExtended(first, table_slices(), slice, rest);
    return slice;
}

// The buckets that are probed for a key in one slice.
struct Probe {
    uint slice;       // overflow slices follow the others
    uint bucket;      // of the slice
    uint step;        // to the next bucket
    uint filter_bit;  // the bit that the key selects in full buckets
};

Probe home_probe(uint first, uint second) {
    uint slice, rest;
    umulExtended(first, table_slices(), slice, rest);
    return Probe(slice, rest >> (32 - BUCKET_BITS), (second % BUCKETS) | 1, ((second >> 16) * FILTER_BITS) >> 16);
}

Probe overflow_probe(uint first, uint second) {
    uint slice = table_slices() + slice_of(first) / OVERFLOW_SHARE;
    uint bucket = (second * 0x9e3779b9u) >> (32 - BUCKET_BITS);
    return Probe(slice, bucket, (first % BUCKETS) | 1, ((first & 0xffff) * FILTER_BITS) >> 16);
}

void advance_probe(inout Probe probe) { probe.bucket = (probe.bucket + probe.step) % BUCKETS; }

// Number of overflow slices.
uint overflow_slices() { return (table_slices() + OVERFLOW_SHARE - 1) / OVERFLOW_SHARE; }

// Number of slices of a table, with overflow slices.
uint with_overflow_slices(uint slices) { return slices + (slices + OVERFLOW_SHARE - 1) / OVERFLOW_SHARE; }

uint all_slices() { return with_overflow_slices(table_slices()); }

// The marks of all overflow slices.
Words marks() { return Words(advance(args.problem.table, uvec2(HEADER_BYTES, 0))); }

// Words of the marks, rounded up to whole buckets.
uint mark_words() { return (overflow_slices() + BUCKET_WORDS - 1) / BUCKET_WORDS * BUCKET_WORDS; }

// Address of the first bucket of a slice.
uvec2 slice_address(uint slice) {
    uvec2 slices = advance(args.problem.table, uvec2(HEADER_BYTES + mark_words() * 4, 0));
    return advance(slices, bytes_of(slice, SLICE_SLOTS * SLOT_WORDS * 4));
}

// Blocks of 16 bytes of a slot of 4 words or more.
const uint SLOT_QUADS = SLOT_WORDS / 4;

void load_slot(uvec2 address, uint index, out uint slot[SLOT_WORDS]) {
    if (SLOT_WORDS == 1) {
        slot[0] = Words(address).v[index];
    } else if (SLOT_WORDS == 2) {
        uvec2 words = Pairs(address).v[index];
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slot[w] = words[w % 2];
    } else {
        uvec4 words;
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) {
            if (w % 4 == 0) words = Quads(address).v[index * SLOT_QUADS + w / 4];
            slot[w] = words[w % 4];
        }
    }
}

void store_slot(uvec2 address, uint index, uint slot[SLOT_WORDS]) {
    if (SLOT_WORDS == 1) {
        Words(address).v[index] = slot[0];
    } else if (SLOT_WORDS == 2) {
        Pairs(address).v[index] = uvec2(slot[0], slot[SLOT_WORDS - 1]);
    } else {
        uvec4 words;
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) {
            words[w % 4] = slot[w];
            if (w % 4 == 3) Quads(address).v[index * SLOT_QUADS + w / 4] = words;
        }
    }
}

// Loads the key of a slot of a slice. Returns whether it has one.
bool load_slot_key(uvec2 slice, uint slot, out uint key[KEY_WORDS]) {
    uint words[SLOT_WORDS];
    load_slot(slice, slot, words);
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = words[w];
    return reserved_index(key) == NOT_RESERVED;
}

// Address of the value of a slot. `slice`: address of the slice.
uvec2 slot_value(uvec2 slice, uint slot) { return advance(slice, bytes_of(slot * SLOT_WORDS + KEY_WORDS, 4)); }
