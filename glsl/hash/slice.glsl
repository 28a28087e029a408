// A slice in shared memory, while one workgroup changes it.
//
// Each slot has an owner, the source of its value: an item of the batch, or a slot of the slice as it was, or of the
// overflow slice. The order of the batch decides which of several items with equal keys provides the value. Owners are
// numbered in this order: the smallest one wins an atomic minimum, whatever the order of execution.
//
// If values are combined, new keys have the identity at first: see combine.glsl.
//
// Each slot also has its key. Keys of several words are represented by their two hashes, of which the second one is
// called the tag. The hashes of a key of two words identify it.

// Values of one word are sorted with hashes that identify keys, otherwise indices. Sets need neither if hashes do.
const bool BY_INDEX = !HASH_IS_KEY || VALUE_WORDS > 1;
const bool ONE_WORD = KEY_WORDS == 1;
// Slots of a thread.
const uint OWN_SLOTS = SLICE_SLOTS / THREADS;
// Slots are stored column by column: those of neighboring buckets are in neighboring banks.
const uint COLUMN = BUCKETS + 4;

// The owner, key or tag of a slot without a key. EMPTY and ERASED are also the last words of the two reserved keys.
const uint EMPTY = 0xffffffffu;
const uint ERASED = 0xfffffffeu;
// Owners of slots are below those of items, or above if later values replace earlier ones.
const uint ITEMS_BEGIN = 0x80000000u;
// The largest owner of an item, if later items have smaller ones: that of position 0. Positions are below 2^30.
const uint LAST_ITEM = ITEMS_BEGIN + (1u << 30) - 1;
// Where a bucket's word has the number of its slots in use.
const uint COUNT_SHIFT = 16;
const uint ONE_SLOT = 1u << COUNT_SHIFT;
// While the slice is being stored, the bit of a bucket that is full without erased slots.
const uint HAS_FILTER = 1u << 31;

shared uint sh_keys[SLOTS * COLUMN];
shared uint sh_firsts[ONE_WORD ? 1 : SLOTS * COLUMN];
shared uint sh_owners[SLOTS * COLUMN];
// For each bucket the number of its slots in use, in the upper half, which may be too large if the bucket is full. The
// lower half is its filter, a bit for each two slots. The bits of buckets with erased slots are all set.
shared uint sh_buckets[BUCKETS];
// Whether some slot may be that of an erased key.
shared uint sh_has_erased;
// Numbers of keys before and after the batch, and of erased slots as they are stored.
shared uint sh_keys_before;
shared uint sh_keys_after;
shared uint sh_erased_before;
shared uint sh_erased_after;

// The place in shared memory of a slot.
uint place_of(uint slot) { return slot % SLOTS * COLUMN + slot / SLOTS; }

// Slots k * THREADS + thread_id() of a thread, for each k below OWN_SLOTS, have the same number in their buckets.
const uint OWN_BUCKETS = THREADS / SLOTS;
uint own_place(uint k) { return place_of(thread_id()) + k * OWN_BUCKETS; }
uint own_bucket(uint k) { return thread_id() / SLOTS + k * OWN_BUCKETS; }

// The index of an item in the caller's arrays. Items that need no sort are in their order.
uint index_at(uint position) { return is_null(args.payload) ? position : Words(args.payload).v[position]; }

void key_at(uint position, out uint key[KEY_WORDS]) {
    if (HASH_IS_KEY) unhash_key(hash_at(position), second_hash_at(position), key);
    else load_key(index_at(position), key);
}

// The key of an item with this first hash, and its second hash.
void hashed_key(uint position, uint first, out uint key[KEY_WORDS], out uint second) {
    second = second_hash_at(position);
    if (HASH_IS_KEY) unhash_key(first, second, key);
    else key_at(position, key);
    if (KEY_WORDS != 2) hash_key(key, first, second);
}

uint owner_of_item(uint position) {
    if (CHANGE == HASH_INSERT_LAST) return LAST_ITEM - position;
    return ASSIGNS ? ITEMS_BEGIN - 1 - position : ITEMS_BEGIN + position;
}
uint owner_of_slot(uint slot) { return ASSIGNS ? ITEMS_BEGIN + slot : slot; }
bool is_item(uint owner) { return ASSIGNS ? owner < ITEMS_BEGIN : owner >= ITEMS_BEGIN && owner < ERASED; }
uint position_of(uint owner) {
    if (CHANGE == HASH_INSERT_LAST) return LAST_ITEM - owner;
    return ASSIGNS ? ITEMS_BEGIN - 1 - owner : owner - ITEMS_BEGIN;
}
uint slot_of(uint owner) { return ASSIGNS ? owner - ITEMS_BEGIN : owner; }

uint own_slice() {
#ifdef OVERFLOW
    return table_slices() + linear_group();
#else
    return linear_group();
#endif
}

// Most buckets of this slice that are probed for a key.
#ifdef OVERFLOW
const uint OWN_PROBES = OVERFLOW_PROBES;
#else
const uint OWN_PROBES = HOME_PROBES;
#endif

Probe own_probe(uint first, uint second) {
#ifdef OVERFLOW
    return overflow_probe(first, second);
#else
    return home_probe(first, second);
#endif
}

// The slice that a slot belongs to: this one, or its overflow slice. Slots of those have numbers from SLICE_SLOTS on.
uint slice_of_slot(uint slot) {
    return slot < SLICE_SLOTS ? own_slice() : table_slices() + linear_group() / OVERFLOW_SHARE;
}

// Words that other threads change meanwhile.
uint shared_key(uint at) {
    return atomicLoad(sh_keys[at], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}
uint shared_first(uint at) {
    return atomicLoad(sh_firsts[at], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}
uint shared_owner(uint at) {
    return atomicLoad(sh_owners[at], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}
void set_shared_key(uint at, uint key) {
    atomicStore(sh_keys[at], key, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}
void set_shared_first(uint at, uint first) {
    atomicStore(sh_firsts[at], first, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}
uint shared_bucket(uint bucket) {
    return atomicLoad(sh_buckets[bucket], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// The key of an owner.
void key_of(uint owner, out uint key[KEY_WORDS]) {
    if (is_item(owner)) {
        key_at(position_of(owner), key);
    } else {
        uint slot = slot_of(owner);
        Words words = Words(slice_address(slice_of_slot(slot)));
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = words.v[slot % SLICE_SLOTS * SLOT_WORDS + w];
    }
}

// Whether the slot of an owner has a key with this tag and this first hash.
bool has_key(uint at, uint owner, uint key[KEY_WORDS], uint tag, uint first) {
    if (shared_key(at) != tag || !ONE_WORD && sh_firsts[at] != first) return false;
    if (HASH_IS_KEY) return true;
    uint other[KEY_WORDS];
    key_of(owner, other);
    return keys_equal(other, key);
}

uint tag_of(uint key[KEY_WORDS], uint second) { return ONE_WORD ? key[0] : second; }

// The key of a slot that has one.
void slot_key(uint at, out uint key[KEY_WORDS]) {
    if (ONE_WORD) key[0] = sh_keys[at];
    else if (HASH_IS_KEY) unhash_key(sh_firsts[at], sh_keys[at], key);
    else key_of(sh_owners[at], key);
}

// The hashes of the key of a slot.
void slot_hashes(uint at, out uint first, out uint second) {
    if (ONE_WORD) {
        uint key[KEY_WORDS];
        key[0] = shared_key(at);
        hash_key(key, first, second);
    } else {
        first = shared_first(at);
        second = shared_key(at);
    }
}

// Stores a key in a slot that this thread has taken.
void fill_slot(uint at, uint owner, uint first, uint tag) {
    sh_keys[at] = tag;
    if (!ONE_WORD) sh_firsts[at] = first;
    sh_owners[at] = owner;
}

void free_slot(uint at, uint owner) { fill_slot(at, owner, owner, owner); }

bool is_above(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool above = false;
    // From the last word, the least significant here, to the first.
    [[unroll]] for (uint k = KEY_WORDS; k-- != 0;) above = a[k] == b[k] ? above : a[k] > b[k];
    return above;
}

// Whether the first key of the two slots of a filter bit is the larger one. They belong to neighboring lanes.
bool is_first_larger(uint key[KEY_WORDS]) {
    uint other[KEY_WORDS];
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) other[w] = shuffle(key[w], lane_id() ^ 1);
    bool above = is_above(key, other);
    bool below = is_above(other, key);
    return thread_id() % 2 == 0 ? above : below;
}

bool is_full(uint bucket) { return sh_owners[(SLOTS - 1) * COLUMN + bucket] != EMPTY; }

bool has_erased(uint bucket) {
    bool erased = false;
    [[unroll]] for (uint s = 0; s < SLOTS; ++s) erased = erased || sh_owners[s * COLUMN + bucket] == ERASED;
    return erased;
}

// Sets a slot of this thread to its content in memory. Returns reserved_index() of its key.
uint set_own_slot(uint k, uint key[KEY_WORDS]) {
    uint reserved = reserved_index(key);
    if (reserved == NOT_RESERVED) {
        uint first, second;
        hash_key(key, first, second);
        fill_slot(own_place(k), owner_of_slot(k * THREADS + thread_id()), first, tag_of(key, second));
    } else {
        free_slot(own_place(k), EMPTY - reserved);
    }
    return reserved;
}

// Loads the slice. A table that has not been used since it was cleared is known to be empty.
void load_slice(bool is_used) {
    uvec2 slice = slice_address(own_slice());
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) sh_buckets[bucket] = 0;
    if (thread_id() == 0) {
        sh_has_erased = 0;
        sh_keys_before = 0;
        sh_keys_after = 0;
        sh_erased_before = 0;
        sh_erased_after = 0;
    }
    if (!is_used) {
        for (uint at = thread_id(); at < SLOTS * COLUMN; at += THREADS) free_slot(at, EMPTY);
        barrier();
        return;
    }
    barrier();
    uint keys = 0;
    uint erased = 0;
    [[unroll]] for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint slot[SLOT_WORDS];
        uint key[KEY_WORDS];
        load_slot(slice, k * THREADS + thread_id(), slot);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = slot[w];
        uint reserved = set_own_slot(k, key);
        keys += reserved == NOT_RESERVED ? 1 : 0;
        erased += reserved == NOT_RESERVED ? 0 : reserved;
        uint bits = reserved == 0 ? 0 : ONE_SLOT;
        if (is_first_larger(key) && thread_id() % 2 == 0) bits |= 1u << (thread_id() % SLOTS / 2);
        if (bits != 0) atomicAdd(sh_buckets[own_bucket(k)], bits);
    }
    if (keys != 0) atomicAdd(sh_keys_before, keys);
    if (erased != 0) atomicAdd(sh_erased_before, erased);
    barrier();
    if (thread_id() == 0) sh_has_erased = sh_erased_before;
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) {
        uint count = sh_buckets[bucket] >> COUNT_SHIFT << COUNT_SHIFT;
        if (!is_full(bucket)) sh_buckets[bucket] = count;
        else if (sh_erased_before != 0 && has_erased(bucket)) sh_buckets[bucket] = count | (1u << FILTER_BITS) - 1;
    }
    barrier();
}

// The index of the value of an owner in the caller's array, if items are sorted with their indices.
uint value_index(uint owner) { return BY_INDEX && is_item(owner) ? index_at(position_of(owner)) : 0; }

// Loads the value of an owner. `index`: its value_index().
void load_value_at(uint owner, uint index, out uint value[MOST_VALUE_WORDS]) {
    uvec2 address;
    if (!is_item(owner)) {
        uvec2 slice = slice_address(slice_of_slot(slot_of(owner)));
        address = advance(slice, uvec2((slot_of(owner) % SLICE_SLOTS * SLOT_WORDS + KEY_WORDS) * 4, 0));
    } else if (BY_INDEX) {
        address = advance(args.problem.values, bytes_of(index, VALUE_WORDS * 4));
    } else {
        address = advance(args.payload, uvec2(position_of(owner) * 4, 0));
    }
    if (VALUE_WORDS == 2 && is_aligned_to_pairs(args.problem.values.x) && (KEY_WORDS % 2 == 0 || is_item(owner))) {
        // One request instead of two. Slots are aligned; their values are loaded in the same way, without a branch.
        uvec2 words = Pairs(address).v[0];
        value[0] = words.x;
        value[1] = words.y;
        return;
    }
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) value[w] = Words(address).v[w];
}

void load_value(uint owner, out uint value[MOST_VALUE_WORDS]) { load_value_at(owner, value_index(owner), value); }

// Loads the value that the slot of an owner has at first.
void load_first_value_at(uint owner, uint index, out uint value[MOST_VALUE_WORDS]) {
    if (COMBINES && is_item(owner)) {
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) value[w] = IDENTITY;
    } else {
        load_value_at(owner, index, value);
    }
}

void load_first_value(uint owner, out uint value[MOST_VALUE_WORDS]) {
    load_first_value_at(owner, value_index(owner), value);
}

// Stores the slice. The order of the keys in each full bucket has the bits of its filter. A value may come from another
// slot of the slice, so all are loaded first. If values are combined, keys and owners in shared memory are those of the
// stored slice afterwards. Returns the home slices of the keys, if they share the slice: a bit for each.
uint store_slice() {
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) {
        bool has_filter = is_full(bucket) && !(sh_has_erased != 0 && has_erased(bucket));
        sh_buckets[bucket] = has_filter ? sh_buckets[bucket] | HAS_FILTER : 0;
    }
    barrier();
    uvec2 slice = slice_address(own_slice());
    uint slots[OWN_SLOTS * SLOT_WORDS];
    uint homes = 0;
    uint keys = 0;
    uint erased = 0;
    // Reads through indices wait longest, so they are all under way before the first slot is put together.
    uint indices[OWN_SLOTS];
    [[unroll]] for (uint k = 0; BY_INDEX && k < OWN_SLOTS; ++k) indices[k] = value_index(sh_owners[own_place(k)]);
    [[unroll]] for (uint k = 0; BY_INDEX && k < OWN_SLOTS; ++k) {
        uint owner = sh_owners[own_place(k)];
        uint value[MOST_VALUE_WORDS];
        if (VALUE_WORDS != 0 && owner < ERASED) load_first_value_at(owner, indices[k], value);
        [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) slots[k * SLOT_WORDS + KEY_WORDS + w] = value[w];
    }
    [[unroll]] for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint owner = sh_owners[own_place(k)];
        uint slot[SLOT_WORDS];
        uint key[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slot[w] = 0xffffffffu;
        if (owner < ERASED) {
            uint value[MOST_VALUE_WORDS];
            slot_key(own_place(k), key);
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) slot[w] = key[w];
            if (VALUE_WORDS != 0 && !BY_INDEX) load_first_value(owner, value);
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) {
                slot[KEY_WORDS + w] = BY_INDEX ? slots[k * SLOT_WORDS + KEY_WORDS + w] : value[w];
            }
            ++keys;
        } else {
            slot[KEY_WORDS - 1] = owner;
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = slot[w];
            erased += EMPTY - owner;
        }
#ifdef OVERFLOW
        uint first, second;
        hash_key(key, first, second);
        if (owner < ERASED) homes |= 1u << (slice_of(first) % SHARE);
#endif
        // Two neighboring lanes exchange their slots, if the order of their keys does not store the filter's bit.
        uint bits = sh_buckets[own_bucket(k)];
        bool wants_set = (bits >> (thread_id() % SLOTS / 2) & 1) != 0;
        bool swaps = is_first_larger(key) != wants_set && (bits & HAS_FILTER) != 0;
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) {
            bool is_used = w < KEY_WORDS + VALUE_WORDS;
            uint other = is_used ? shuffle(slot[w], lane_id() ^ 1) : slot[w];
            slots[k * SLOT_WORDS + w] = swaps ? other : slot[w];
        }
    }
    if (keys != 0) atomicAdd(sh_keys_after, keys);
    if (erased != 0) atomicAdd(sh_erased_after, erased);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
                   gl_SemanticsAcquireRelease);
    [[unroll]] for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint slot[SLOT_WORDS];
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slot[w] = slots[k * SLOT_WORDS + w];
        store_slot(slice, k * THREADS + thread_id(), slot);
        if (COMBINES) {
            uint key[KEY_WORDS];
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = slot[w];
            set_own_slot(k, key);
        }
    }
    return homes;
}
