// The values of keys in trommel's multimaps (HasherInfo::multimap, TRM_HASHER_CREATE_MULTIMAP_BIT), for shaders of an
// application: keys and values of 4 bytes.
//
// Before the file is included, three extensions are enabled:
//
//   #extension GL_EXT_buffer_reference : require
//   #extension GL_EXT_buffer_reference_uvec2 : require
//   #extension GL_EXT_scalar_block_layout : require
//
// A barrier lies between these functions and operations that change the table.
//
//   TrmHashMultimap table = trm_hash_multimap(address);
//   TrmHashValues particles = trm_hash_values(table, cell);
//   uint particle;
//   while (trm_hash_next_value(particles, particle)) ...
//
// The values of a key come in any order. A search reads slots up to an empty one, and at most 16384.

const uint TRM_HASH_MULTIMAP_HEADER_WORDS = 64;
const uint TRM_HASH_MULTIMAP_MOST_PROBES = 16384;
// A slot: a fingerprint of the key, or all ones if it is empty; the key; its value.
const uint TRM_HASH_MULTIMAP_SLOT_WORDS = 3;

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer TrmHashMultimapWords { uint v[]; };

// A table in device memory.
struct TrmHashMultimap {
    uvec2 address;
    // Number of slots: a power of two.
    uint slots;
};

// The values of a key that are left.
struct TrmHashValues {
    TrmHashMultimap table;
    uint key;
    uint fingerprint;
    // The next slot, and the number of slots that are left.
    uint slot;
    uint left;
};

// The table at an address (low word, high word). Reads its header.
TrmHashMultimap trm_hash_multimap(uvec2 address) {
    return TrmHashMultimap(address, TrmHashMultimapWords(address).v[1] * 1024);
}

// The finalizer of MurmurHash3.
uint trm_hash_multimap_mix(uint h) {
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

TrmHashMultimapWords trm_hash_multimap_slot(TrmHashMultimap table, uint slot) {
    uint high, low, carry;
    umulExtended(slot, TRM_HASH_MULTIMAP_SLOT_WORDS * 4, high, low);
    low = uaddCarry(table.address.x, low, carry);
    high += table.address.y + carry;
    low = uaddCarry(low, TRM_HASH_MULTIMAP_HEADER_WORDS * 4, carry);
    return TrmHashMultimapWords(uvec2(low, high + carry));
}

// All values of a key.
TrmHashValues trm_hash_values(TrmHashMultimap table, uint key) {
    uint fingerprint = trm_hash_multimap_mix(0x9e3779b9u ^ key) & 0x7fffffffu;
    uint slot = trm_hash_multimap_mix(key) & (table.slots - 1);
    return TrmHashValues(table, key, fingerprint, slot, min(table.slots, TRM_HASH_MULTIMAP_MOST_PROBES));
}

// Reads the next value. Returns false if there is none; `value` is unchanged then.
bool trm_hash_next_value(inout TrmHashValues values, inout uint value) {
    while (values.left != 0) {
        TrmHashMultimapWords words = trm_hash_multimap_slot(values.table, values.slot);
        uint state = words.v[0];
        values.slot = (values.slot + 1) & (values.table.slots - 1);
        values.left = state == 0xffffffffu ? 0 : values.left - 1;
        if (state == values.fingerprint && words.v[1] == values.key) {
            value = words.v[2];
            return true;
        }
    }
    return false;
}
