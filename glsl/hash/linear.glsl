// A hash table with linear probing, in device memory: a header, and slots, a power of two of them.
//
// The slots that are probed for a key are consecutive. The first hash selects the first one, and the first slot of the
// table follows the last one. A search ends at an empty slot, or after MOST_LINEAR_PROBES slots. Keys never move.
//
// The first word of a slot is its state. EMPTY_SLOT: no key has been there since the slot was last empty. ERASED_SLOT:
// the key has been erased; searches go on. Other states identify a key:
// - A key of one word is the state. The two keys that are equal to EMPTY_SLOT and ERASED_SLOT have entries in the
//   header instead. These entries have the numbers after the last slot.
// - A longer key follows the state, which is a fingerprint: 31 bits of its second hash. While a batch is inserted, the
//   state of a new slot has the bit CLAIMED, and the index of an item with the key. So no invocation waits for another
//   one that writes a key: it reads the key from the batch.
//
// The value follows the key. Empty slots have values of all ones.
//
// MULTIMAP: a key may have several slots, one for each of its values. All keys have fingerprints, so none is reserved.

#include "hash/hashes.glsl"

layout(constant_id = SPEC_MULTIMAP) const uint MULTIMAP = 0;

const uint SCHEME = MULTIMAP != 0 ? SCHEME_MULTIMAP : SCHEME_LINEAR;

const bool HAS_TAG = KEY_WORDS > 1 || MULTIMAP != 0;
// The words of a slot from which on it has its key and its value.
const uint KEY_BEGIN = HAS_TAG ? 1 : 0;
const uint VALUE_BEGIN = KEY_BEGIN + KEY_WORDS;
const uint SLOT_WORDS = VALUE_BEGIN + VALUE_WORDS;

const uint EMPTY_SLOT = 0xffffffffu;
const uint ERASED_SLOT = 0xfffffffeu;
const uint CLAIMED = 0x80000000u;
const uint NO_SLOT = 0xffffffffu;

// Number of slices of a table, with overflow slices, which it does not have.
uint with_overflow_slices(uint slices) { return slices; }

uint all_slices() { return table_slices(); }

uint slot_count() { return table_slices() * SLICE_SLOTS; }

uint most_probes() { return min(slot_count(), MOST_LINEAR_PROBES); }

// Address of the first slot of a slice.
uvec2 slice_address(uint slice) {
    uvec2 slots = advance(args.problem.table, uvec2(HEADER_BYTES, 0));
    return advance(slots, bytes_of(slice, SLICE_SLOTS * SLOT_WORDS * 4));
}

// A slot from a word on.
Words slot_words(uint slot, uint begin) {
    uvec2 slots = advance(args.problem.table, uvec2(HEADER_BYTES + begin * 4, 0));
    return Words(advance(slots, bytes_of(slot, SLOT_WORDS * 4)));
}

bool is_in_header(uint slot) { return !HAS_TAG && slot >= slot_count(); }

// The flag of the header that says whether the table has a reserved key.
Words reserved_flag(uint reserved) {
    return Words(advance(args.problem.table, uvec2((RESERVED_FLAGS + reserved) * 4, 0)));
}

// The value of a slot, or of an entry of the header.
Words value_of(uint slot) {
    uvec2 slots = advance(args.problem.table, uvec2(HEADER_BYTES + VALUE_BEGIN * 4, 0));
    uvec2 address = advance(slots, bytes_of(slot, SLOT_WORDS * 4));
    if (is_in_header(slot)) address = reserved_value(slot - slot_count());
    return Words(address);
}

// Loads the key of a slot of a slice. Returns whether it has one.
bool load_slot_key(uvec2 slice, uint slot, out uint key[KEY_WORDS]) {
    Words words = Words(advance(slice, bytes_of(slot, SLOT_WORDS * 4)));
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = words.v[KEY_BEGIN + w];
    return words.v[0] < ERASED_SLOT;
}

// The value of a slot of a slice.
uvec2 slot_value(uvec2 slice, uint slot) { return advance(slice, bytes_of(slot * SLOT_WORDS + VALUE_BEGIN, 4)); }

// What a search for a key compares.
struct Wanted {
    uint state;
    // The first slot of the path.
    uint home;
    // The number of the reserved key, or NOT_RESERVED.
    uint reserved;
};

Wanted wanted_of(uint key[KEY_WORDS]) {
    uint first, second;
    hash_key(key, first, second);
    return Wanted(HAS_TAG ? second & ~CLAIMED : key[0], first & (slot_count() - 1),
                  HAS_TAG ? NOT_RESERVED : reserved_index(key));
}

// Whether these words are a key. Searches have no loop within their loop: lavapipe limits the iterations of an
// invocation, of all its loops together.
bool are_key(Words words, uint key[KEY_WORDS]) {
    bool equal = words.v[0] == key[0];
    if (KEY_WORDS > 1) equal = equal && words.v[1] == key[1 % KEY_WORDS];
    if (KEY_WORDS > 2) equal = equal && words.v[2] == key[2 % KEY_WORDS];
    if (KEY_WORDS > 3) equal = equal && words.v[3] == key[3 % KEY_WORDS];
    return equal;
}

// Whether the slot, which has the state that is wanted, has the key.
bool has_key(uint slot, uint key[KEY_WORDS]) { return !HAS_TAG || are_key(slot_words(slot, KEY_BEGIN), key); }

// Slots that a search reads at a time, if nothing changes them: up to 32 bytes, which is a sector of a cache line. One
// slot if its state is a fingerprint, which other keys may have.
const uint GROUP = !HAS_TAG && SLOT_WORDS <= 2 ? 4 : 1;

// The states of a group of slots. The last ones are EMPTY_SLOT if the group has one slot.
uvec4 load_states(uint group) {
    uvec2 address = advance(slice_address(0), bytes_of(group, GROUP * SLOT_WORDS * 4));
    if (GROUP == 1) return uvec4(Words(address).v[0], uvec3(EMPTY_SLOT));
    uvec4 first = Quads(address).v[0];
    return SLOT_WORDS == 1 ? first : uvec4(first.xz, Quads(address).v[1].xz);
}

// A bit for each component that is set.
uint bits_of(bvec4 set) {
    uvec4 bits = mix(uvec4(0), uvec4(1, 2, 4, 8), set);
    return bits.x | bits.y | bits.z | bits.w;
}

// A bit for each slot of group `number` of a path that lies on the path. The last group may have those before its first
// slot.
uint on_path(Wanted wanted, uint number) {
    uint before = (1u << (wanted.home % GROUP)) - 1;
    uint all = (1u << GROUP) - 1;
    return number == 0 ? all & ~before : number == most_probes() / GROUP ? before : all;
}

// The entry of the header of a reserved key, or NO_SLOT.
uint find_reserved(uint reserved) {
    return load_relaxed(reserved_flag(reserved), 0) != 0 ? slot_count() + reserved : NO_SLOT;
}

// Finds the slot of a key, or the entry of the header, while no invocation changes states. NO_SLOT: the table does not
// have the key.
uint find_slot(uint key[KEY_WORDS]) {
    Wanted wanted = wanted_of(key);
    if (wanted.reserved != NOT_RESERVED) return find_reserved(wanted.reserved);
    for (uint number = 0; number <= most_probes() / GROUP; ++number) {
        uint group = (wanted.home / GROUP + number) & (slot_count() / GROUP - 1);
        uvec4 states = load_states(group);
        uint path = on_path(wanted, number);
        uint hits = bits_of(equal(states, uvec4(wanted.state))) & path;
        uint ends = bits_of(equal(states, uvec4(EMPTY_SLOT))) & path;
        if (HAS_TAG && hits != 0 && !has_key(group, key)) hits = 0;
        if ((hits | ends) != 0) {
            uint first = findLSB(hits | ends);
            return (hits >> first & 1) != 0 ? group * GROUP + first : NO_SLOT;
        }
    }
    return NO_SLOT;
}

// As find_slot, while other invocations change states.
uint find_changing_slot(uint key[KEY_WORDS]) {
    Wanted wanted = wanted_of(key);
    if (wanted.reserved != NOT_RESERVED) return find_reserved(wanted.reserved);
    for (uint probe = 0; probe < most_probes(); ++probe) {
        uint slot = (wanted.home + probe) & (slot_count() - 1);
        uint state = load_relaxed(slot_words(slot, 0), 0);
        if (state == EMPTY_SLOT) return NO_SLOT;
        if (state == wanted.state && has_key(slot, key)) return slot;
    }
    return NO_SLOT;
}
