// Searches, insertions and erasures in an application's own shaders, in trommel's hash tables with linear probing
// (HashScheme::Linear, TRM_HASH_SCHEME_LINEAR) with keys of 4 bytes and values of at most 4.
//
// Before the file is included, a macro says what the table's hashers say, and four extensions are enabled:
//
//   #define TRM_HASH_VALUE_WORDS 1  // 1: 4 bytes of a value; 0: a set
//   #extension GL_EXT_buffer_reference : require
//   #extension GL_EXT_buffer_reference_uvec2 : require
//   #extension GL_EXT_scalar_block_layout : require
//   #extension GL_KHR_memory_scope_semantics : require
//
// All functions may run at the same time, and at the same time as operations of concurrent hashers
// (HasherInfo::concurrent, TRM_HASHER_CREATE_CONCURRENT_BIT). A barrier lies between them and all other operations.
//
//   TrmHashLinear table = trm_hash_linear(address);
//   uint vertex = index;
//   if (trm_hash_linear_insert(table, cell, vertex) == TRM_HASH_FULL) ...
//   if (trm_hash_linear_find(table, cell, vertex)) ...
//
// A search takes keys with a value of all ones as absent: they may be about to be inserted. So the application must not
// insert values of all ones. Of the two largest keys, a search may find an earlier value while the key is inserted
// again. Values are not published by a release: data that a value is an index of need a barrier of the application.
// Slots of erased keys are not used again until an insertion by a hasher that is not concurrent.

const uint TRM_HASH_LINEAR_HEADER_WORDS = 64;
const uint TRM_HASH_LINEAR_MOST_PROBES = 16384;
const uint TRM_HASH_LINEAR_SLOT_WORDS = 1 + TRM_HASH_VALUE_WORDS;

// What an insertion returns.
const uint TRM_HASH_INSERTED = 0;
// The table has the key. Its value stays as it is.
const uint TRM_HASH_PRESENT = 1;
// The key has found no slot.
const uint TRM_HASH_FULL = 2;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer TrmHashLinearWords { uint v[]; };

// A table in device memory.
struct TrmHashLinear {
    uvec2 address;
    // Number of slots: a power of two.
    uint slots;
};

// The table at an address (low word, high word). Reads its header.
TrmHashLinear trm_hash_linear(uvec2 address) {
    return TrmHashLinear(address, TrmHashLinearWords(address).v[1] * 1024);
}

// Words that other invocations change at the same time.
uint trm_hash_linear_load(TrmHashLinearWords words, uint index) {
    return atomicLoad(words.v[index], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void trm_hash_linear_store(TrmHashLinearWords words, uint index, uint value) {
    atomicStore(words.v[index], value, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// A slot: its key, then its value.
TrmHashLinearWords trm_hash_linear_slot(TrmHashLinear table, uint slot) {
    uint high, low, carry;
    umulExtended(slot, TRM_HASH_LINEAR_SLOT_WORDS * 4, high, low);
    low = uaddCarry(table.address.x, low, carry);
    high += table.address.y + carry;
    low = uaddCarry(low, TRM_HASH_LINEAR_HEADER_WORDS * 4, carry);
    return TrmHashLinearWords(uvec2(low, high + carry));
}

// The first slot of the path of a key, by the finalizer of MurmurHash3.
uint trm_hash_linear_home(TrmHashLinear table, uint key) {
    uint h = (key ^ (key >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return (h ^ (h >> 16)) & (table.slots - 1);
}

// Two keys are the states of empty and of erased slots. The header has them.
bool trm_hash_linear_is_reserved(uint key) { return key >= 0xfffffffeu; }

// The flag of a reserved key in the header.
uint trm_hash_linear_flag(uint key) { return 5 + (0xffffffffu - key); }

// Its value.
uint trm_hash_linear_reserved_value(uint key) { return 7 + 4 * (0xffffffffu - key); }

// Finds a key. `value`: its value; unchanged if the table does not have the key.
bool trm_hash_linear_find(TrmHashLinear table, uint key, inout uint value) {
    uint found = 0xffffffffu;
    bool has_key = false;
    if (trm_hash_linear_is_reserved(key)) {
        TrmHashLinearWords header = TrmHashLinearWords(table.address);
        has_key = trm_hash_linear_load(header, trm_hash_linear_flag(key)) != 0;
        if (TRM_HASH_VALUE_WORDS != 0 && has_key) {
            found = trm_hash_linear_load(header, trm_hash_linear_reserved_value(key));
        }
    } else {
        uint slot = trm_hash_linear_home(table, key);
        uint most = min(table.slots, TRM_HASH_LINEAR_MOST_PROBES);
        for (uint probe = 0; probe < most; ++probe) {
            TrmHashLinearWords words = trm_hash_linear_slot(table, slot);
            uint state = trm_hash_linear_load(words, 0);
            if (state == key) {
                has_key = true;
                if (TRM_HASH_VALUE_WORDS != 0) found = trm_hash_linear_load(words, TRM_HASH_VALUE_WORDS);
            }
            if (has_key || state == 0xffffffffu) break;
            slot = (slot + 1) & (table.slots - 1);
        }
    }
    if (TRM_HASH_VALUE_WORDS == 0) return has_key;
    if (found == 0xffffffffu) return false;
    value = found;
    return true;
}

// Inserts a key with its value, unless the table has the key. A value of all ones is not available.
uint trm_hash_linear_insert(TrmHashLinear table, uint key, uint value) {
    TrmHashLinearWords header = TrmHashLinearWords(table.address);
    if (trm_hash_linear_is_reserved(key)) {
        if (atomicExchange(header.v[trm_hash_linear_flag(key)], 1u) != 0) return TRM_HASH_PRESENT;
        if (TRM_HASH_VALUE_WORDS != 0) trm_hash_linear_store(header, trm_hash_linear_reserved_value(key), value);
        atomicAdd(header.v[3], 1u);
        return TRM_HASH_INSERTED;
    }
    uint slot = trm_hash_linear_home(table, key);
    uint most = min(table.slots, TRM_HASH_LINEAR_MOST_PROBES);
    for (uint probe = 0; probe < most; ++probe) {
        TrmHashLinearWords words = trm_hash_linear_slot(table, slot);
        uint state = trm_hash_linear_load(words, 0);
        bool is_empty = state == 0xffffffffu;
        if (is_empty) {
            state = atomicCompSwap(words.v[0], 0xffffffffu, key);
            is_empty = state == 0xffffffffu;
        }
        if (state == key) return TRM_HASH_PRESENT;
        if (is_empty) {
            if (TRM_HASH_VALUE_WORDS != 0) trm_hash_linear_store(words, TRM_HASH_VALUE_WORDS, value);
            atomicAdd(header.v[3], 1u);
            return TRM_HASH_INSERTED;
        }
        slot = (slot + 1) & (table.slots - 1);
    }
    return TRM_HASH_FULL;
}

// Erases a key. Returns whether this invocation has erased it.
bool trm_hash_linear_erase(TrmHashLinear table, uint key) {
    TrmHashLinearWords header = TrmHashLinearWords(table.address);
    if (trm_hash_linear_is_reserved(key)) {
        if (atomicExchange(header.v[trm_hash_linear_flag(key)], 0u) == 0) return false;
        atomicAdd(header.v[3], 0xffffffffu);
        return true;
    }
    uint slot = trm_hash_linear_home(table, key);
    uint most = min(table.slots, TRM_HASH_LINEAR_MOST_PROBES);
    for (uint probe = 0; probe < most; ++probe) {
        TrmHashLinearWords words = trm_hash_linear_slot(table, slot);
        uint state = trm_hash_linear_load(words, 0);
        if (state == key) {
            if (atomicCompSwap(words.v[0], key, 0xfffffffeu) != key) return false;
            atomicAdd(header.v[3], 0xffffffffu);
            atomicAdd(header.v[4], 1u);
            return true;
        }
        if (state == 0xffffffffu) return false;
        slot = (slot + 1) & (table.slots - 1);
    }
    return false;
}
