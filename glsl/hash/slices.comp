// Changes a table: one workgroup applies all items of a batch whose keys belong to its slice, in shared memory.
//
// In:  the hashes of the batch, sorted by their first bits, and by the order of the batch if these are equal; the
//      values of the items in this order, or their indices; the slice.
// Out: the slice, if some item belongs to it; a bit in `spilled` for each item that has no place in its path. With
//      OVERFLOW, these items are applied to the overflow slices: one workgroup for each. Those that have no place there
//      either are appended to the leftover items.
// Workgroups: one for each slice.
// Memory order: a workgroup is the only one that accesses its slice, except for overflow slices: home slices read them,
//               and a later dispatch writes them. Reserved entries of the header belong to the slice of their key.
//               Counters are atomic.
// Progress: never waits. Loops that take slots end: each repetition finds that another item has taken one.
//
// The order of a batch decides which item of several with equal keys provides the value. Each slot has an owner, an
// index that orders the possible sources of its value: the smallest one wins, whatever the order of execution.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "core/extensions.glsl"
#include "core/shared.glsl"
#include "core/memory.glsl"
#include "core/subgroup.glsl"
#define PUSH HashPush

layout(push_constant, scalar) uniform Push {
    PUSH args;
};

layout(constant_id = SPEC_BEGIN_BIT) const uint BEGIN_BIT = 16;
layout(constant_id = SPEC_OPERATION) const uint OPERATION = 0;

const bool ASSIGNS = OPERATION == HASH_ASSIGN;
const bool ERASES = OPERATION == HASH_ERASE;

#include "radix/scratch.glsl"
#include "hash/table.glsl"
#include "hash/count.glsl"

// Keys of one word and values of at most one are sorted with the hashes. Otherwise indices are.
const bool BY_INDEX = KEY_WORDS > 1 || VALUE_WORDS > 1;
const bool ONE_WORD = KEY_WORDS == 1;
const uint OWN_SLOTS = SLICE_SLOTS / THREADS;
// Most positions that the search for the items leaves undecided at either end. Their hashes are tested anyway.
const uint SLACK = 16;
// Items that a workgroup tests at a time.
const uint CHUNK_ITEMS = 4;
const uint CHUNK = CHUNK_ITEMS * THREADS;
// Slots are stored column by column: those of neighboring buckets are in neighboring banks.
const uint COLUMN = BUCKETS + 4;

// Owners: slots of the slice as it was, or items. All are below these two.
const uint NOBODY = 0xffffffffu;
const uint GONE = 0xfffffffeu;
const uint ITEMS_BEGIN = 0x80000000u;
// The last word of the keys EMPTY and ERASED.
const uint EMPTY_WORD = 0xffffffffu;
const uint ERASED_WORD = 0xfffffffeu;

// The key of each slot, of one word. Longer keys are read where their owner says.
shared uint sh_keys[ONE_WORD ? SLOTS * COLUMN : 1];
shared uint sh_owners[SLOTS * COLUMN];
shared uint sh_filters[BUCKETS];
shared uint sh_reserved[2];
// Positions of items of this slice, and their hashes.
shared uint sh_positions[CHUNK];
#ifdef OVERFLOW
shared uint sh_listed;
#else
shared uint sh_hashes[CHUNK];
#endif
// The range of positions, and the ranges that are left while it is being searched for.
shared uint sh_first[2];
shared uint sh_left[2];
shared uint sh_before[2];
shared uint sh_added;
shared uint sh_removed;
shared uint sh_reused;
shared uint sh_items;

// Positions are those in the order of the sort.
uint hash_at(uint position) { return Words(scratch_part(args.sorted_hashes)).v[position]; }

// The index of an item in the caller's arrays.
uint index_at(uint position) { return BEGIN_BIT == 32 ? position : Words(args.payload).v[position]; }

void key_at(uint position, out uint key[KEY_WORDS]) {
    if (ONE_WORD) key[0] = unmix_bits(hash_at(position));
    else load_key(index_at(position), key);
}

uint owner_of_item(uint position) { return ASSIGNS ? ITEMS_BEGIN - 1 - position : ITEMS_BEGIN + position; }
uint owner_of_slot(uint slot) { return ASSIGNS ? ITEMS_BEGIN + slot : slot; }
bool is_item(uint owner) { return ASSIGNS ? owner < ITEMS_BEGIN : owner >= ITEMS_BEGIN && owner < GONE; }
uint position_of(uint owner) { return ASSIGNS ? ITEMS_BEGIN - 1 - owner : owner - ITEMS_BEGIN; }
uint slot_of(uint owner) { return ASSIGNS ? owner - ITEMS_BEGIN : owner; }

// Number of slices of this dispatch. Dispatches may have more workgroups.
uint slice_count() {
#ifdef OVERFLOW
    return (args.problem.slices + OVERFLOW_SHARE - 1) / OVERFLOW_SHARE;
#else
    return args.problem.slices;
#endif
}

uint own_slice() {
#ifdef OVERFLOW
    return args.problem.slices + linear_group();
#else
    return linear_group();
#endif
}

// The home slices of the items that this workgroup may have.
uint first_home() {
#ifdef OVERFLOW
    return linear_group() * OVERFLOW_SHARE;
#else
    return linear_group();
#endif
}

uint last_home() {
#ifdef OVERFLOW
    return linear_group() * OVERFLOW_SHARE + OVERFLOW_SHARE - 1;
#else
    return linear_group();
#endif
}

uint value_word(uint position, uint w) {
    if (!BY_INDEX) return Words(args.payload).v[position];
    return Words(advance(args.problem.values, bytes_of(index_at(position), VALUE_WORDS * 4))).v[w];
}

// The key of an owned slot.
void key_of(uint owner, out uint key[KEY_WORDS]) {
    if (is_item(owner)) {
        key_at(position_of(owner), key);
    } else {
        uint slot[SLOT_WORDS];
        load_slot(slice_address(own_slice()), slot_of(owner), slot);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = slot[w];
    }
}

// Finds positions around the hashes that may belong to the slices from first_home() to last_home(): those of their
// first bits, by which they are sorted, and less than SLACK others at either end. Half of the threads search for either
// end.
void find_positions(uint count) {
    const uint SEARCHERS = THREADS / 2;
    uint end = thread_id() / SEARCHERS;
    uint searcher = thread_id() % SEARCHERS;
    uint mask = BEGIN_BIT == 32 ? 0xffffffffu : (1u << (BEGIN_BIT % 32)) - 1;
    // Hashes are distributed evenly: the end is near the same share of all positions. If it is not in the window around
    // there, the first round excludes the window.
    float share = float(end == 0 ? first_home() : last_home() + 1) / float(args.problem.slices);
    float reach = 2 * sqrt(float(count)) + 64;
    float guess = min(share, 1) * float(count);
    uint first = uint(max(guess - reach, 0));
    first = min(first, count);
    uint step = uint(2 * reach) / SEARCHERS + 1;
    uint left = count - first;
    bool is_first_round = true;
    if (searcher == 0) sh_left[end] = left;
    barrier();
    while (is_first_round || max(sh_left[0], sh_left[1]) > SLACK) {
        // The end is in [first, first + left]. Each searcher tests one position; `before` of them lie before the end.
        if (!is_first_round) step = left / (SEARCHERS + 1) + 1;
        barrier();
        if (searcher == 0) sh_before[end] = 0;
        barrier();
        uint tested = (searcher + 1) * step - 1;
        if (tested < left) {
            uint hash = hash_at(first + tested);
            bool is_before = end == 0 ? slice_of(hash | mask) < first_home() : slice_of(hash & ~mask) <= last_home();
            if (is_before) atomicAdd(sh_before[end], 1u);
        }
        barrier();
        uint before = sh_before[end] * step;
        if (is_first_round && before == 0) {
            // The end may be before the window.
            left = first + min(step - 1, left);
            first = 0;
        } else {
            bool is_last = is_first_round && sh_before[end] == SEARCHERS;
            first += before;
            left = is_last ? left - before : min(step - 1, left - before);
        }
        if (searcher == 0) sh_left[end] = left;
        is_first_round = false;
        barrier();
    }
    if (searcher == 0) sh_first[end] = end == 0 ? first : first + left;
    barrier();
}

// The item has no place in this slice.
void spill(uint position) {
#ifdef OVERFLOW
    if (ERASES) return;
    uint key[KEY_WORDS];
    key_at(position, key);
    if (!is_null(args.problem.status)) atomicOr(Words(args.problem.status).v[0], STATUS_TABLE_FULL);
    if (is_null(args.problem.leftover_count)) return;
    uint index = atomicAdd(Words(args.problem.leftover_count).v[0], 1u);
    Words keys = Words(advance(args.problem.leftover_keys, bytes_of(index, KEY_WORDS * 4)));
    if (!is_null(args.problem.leftover_keys)) {
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys.v[w] = key[w];
    }
    if (VALUE_WORDS != 0 && !is_null(args.problem.leftover_values)) {
        Words values = Words(advance(args.problem.leftover_values, bytes_of(index, VALUE_WORDS * 4)));
        for (uint w = 0; w < VALUE_WORDS; ++w) values.v[w] = value_word(position, w);
    }
#else
    atomicOr(Words(scratch_part(args.spilled)).v[position / 32], 1u << (position % 32));
#endif
}

#ifndef OVERFLOW
// Whether the overflow slice has a key. No workgroup of this dispatch writes it.
bool is_in_overflow(uint key[KEY_WORDS], uint first, uint second) {
    Probe probe = overflow_probe(first, second);
    uvec2 slice = slice_address(probe.slice);
    for (uint k = 0; k < MOST_PROBES; ++k) {
        for (uint s = 0; s < SLOTS; ++s) {
            uint slot[SLOT_WORDS];
            uint found[KEY_WORDS];
            load_slot(slice, probe.bucket * SLOTS + s, slot);
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) found[w] = slot[w];
            if (keys_equal(found, key)) return true;
            if (reserved_index(found) == 0) return false;
        }
        advance_probe(probe);
    }
    return false;
}
#endif

uint shared_key(uint at) {
    return atomicLoad(sh_keys[at], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

uint shared_owner(uint at) {
    return atomicLoad(sh_owners[at], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

bool is_empty(uint at) { return ONE_WORD ? shared_key(at) == EMPTY_WORD : shared_owner(at) == NOBODY; }
bool is_erased(uint at) { return ONE_WORD ? shared_key(at) == ERASED_WORD : shared_owner(at) == GONE; }

// Whether a slot has this key, or this thread has taken it for the key: it was empty, or, if `reuses`, that of an
// erased key. Of all items with the key, the one with the smallest owner will own the slot.
bool takes(uint at, uint key[KEY_WORDS], uint owner, bool reuses, out bool was_free) {
    was_free = false;
    if (ONE_WORD) {
        uint taken = reuses ? ERASED_WORD : EMPTY_WORD;
        uint found = shared_key(at);
        if (found == taken) {
            found = atomicCompSwap(sh_keys[at], taken, key[0]);
            was_free = found == taken;
        }
        if (!was_free && found != key[0]) return false;
    } else {
        uint taken = reuses ? GONE : NOBODY;
        uint found = shared_owner(at);
        if (found == taken) {
            found = atomicCompSwap(sh_owners[at], taken, owner);
            was_free = found == taken;
        }
        if (!was_free) {
            if (found >= GONE) return false;
            uint other[KEY_WORDS];
            key_of(found, other);
            if (!keys_equal(other, key)) return false;
        }
    }
    atomicMin(sh_owners[at], owner);
    return true;
}

// Finds the slot of a key, or takes one for it: an erased slot of its path, or the first empty one. All items with the
// same key take the same slot. Returns false if the path has none, or if the overflow slice may have the key.
bool insert(uint key[KEY_WORDS], uint first, uint second, uint position) {
    uint owner = owner_of_item(position);
    // Repeated if another key takes the erased slot first.
    for (uint attempt = 0; attempt < SLICE_SLOTS; ++attempt) {
#ifdef OVERFLOW
        Probe probe = overflow_probe(first, second);
#else
        Probe probe = home_probe(first, second);
#endif
        uint erased = NOBODY;
        bool is_open = false;
        for (uint k = 0; k < MOST_PROBES && !is_open; ++k) {
            // One bit for each slot that may have the key or is free. Keys never leave a slot, so a look without
            // atomics misses at most keys that have come since: a taken slot is compared again.
            uint candidates = 0;
            [[unroll]] for (uint s = 0; s < SLOTS; ++s) {
                uint found = ONE_WORD ? shared_key(s * COLUMN + probe.bucket) : 0;
                if (!ONE_WORD || found >= ERASED_WORD || found == key[0]) candidates |= 1u << s;
            }
            while (candidates != 0) {
                uint at = findLSB(candidates) * COLUMN + probe.bucket;
                candidates &= candidates - 1;
                if (is_erased(at)) {
                    erased = erased == NOBODY ? at : erased;
                    continue;
                }
                if (erased != NOBODY && is_empty(at)) {
                    is_open = true;
                    break;
                }
                bool was_free;
                if (takes(at, key, owner, false, was_free)) {
                    if (was_free) atomicAdd(sh_added, 1u);
                    return true;
                }
            }
            if (!is_open) {
                atomicOr(sh_filters[probe.bucket], 1u << probe.match);
                advance_probe(probe);
            }
        }
        if (erased == NOBODY) return false;
#ifndef OVERFLOW
        if (!is_open && is_in_overflow(key, first, second)) return false;
#endif
        bool was_erased;
        if (takes(erased, key, owner, true, was_erased)) {
            if (was_erased) {
                atomicAdd(sh_added, 1u);
                atomicAdd(sh_reused, 1u);
            }
            return true;
        }
    }
    return false;
}

// Erases a key. Returns false if the overflow slice may have it.
bool erase(uint key[KEY_WORDS], uint first, uint second) {
#ifdef OVERFLOW
    Probe probe = overflow_probe(first, second);
#else
    Probe probe = home_probe(first, second);
#endif
    for (uint k = 0; k < MOST_PROBES; ++k) {
        for (uint s = 0; s < SLOTS; ++s) {
            uint at = s * COLUMN + probe.bucket;
            uint owner = shared_owner(at);
            if (owner == NOBODY) return true;
            if (owner == GONE) continue;
            uint other[KEY_WORDS];
            if (ONE_WORD) other[0] = sh_keys[at];
            else key_of(owner, other);
            if (!keys_equal(other, key)) continue;
            if (atomicCompSwap(sh_owners[at], owner, GONE) == owner) atomicAdd(sh_removed, 1u);
            return true;
        }
        if ((sh_filters[probe.bucket] >> probe.match & 1) == 0) return true;
        advance_probe(probe);
    }
    return false;
}

// Words of the keys of a bucket.
const uint KEYS_OF_BUCKET = SLOTS * KEY_WORDS;

// Keys and owners of a full bucket, in registers.
void load_bucket(uint bucket, out uint keys[KEYS_OF_BUCKET], out uint owners[SLOTS]) {
    [[unroll]] for (uint s = 0; s < SLOTS; ++s) {
        uint at = s * COLUMN + bucket;
        uint key[KEY_WORDS];
        owners[s] = sh_owners[at];
        if (ONE_WORD) key[0] = sh_keys[at];
        else key_of(owners[s], key);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) keys[s * KEY_WORDS + w] = key[w];
    }
}

bool is_above(uint a[KEY_WORDS], uint b[KEY_WORDS]) {
    bool above = false;
    [[unroll]] for (uint k = KEY_WORDS; k-- != 0;) above = a[k] == b[k] ? above : a[k] > b[k];
    return above;
}

// Whether the first key of a match is the larger one.
bool is_set(uint keys[KEYS_OF_BUCKET], uint match) {
    uint a[KEY_WORDS];
    uint b[KEY_WORDS];
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) {
        a[w] = keys[2 * match * KEY_WORDS + w];
        b[w] = keys[(2 * match + 1) * KEY_WORDS + w];
    }
    return is_above(a, b);
}

// The bits of the matches in a full bucket without erased slots.
uint filter_of(uint bucket) {
    uint keys[KEYS_OF_BUCKET];
    uint owners[SLOTS];
    load_bucket(bucket, keys, owners);
    uint bits = 0;
    [[unroll]] for (uint m = 0; m < MATCHES; ++m) bits |= is_set(keys, m) ? 1u << m : 0;
    return bits;
}

// Orders the keys of a full bucket so that its matches have these bits.
void store_filter(uint bucket, uint bits) {
    uint keys[KEYS_OF_BUCKET];
    uint owners[SLOTS];
    load_bucket(bucket, keys, owners);
    [[unroll]] for (uint m = 0; m < MATCHES; ++m) {
        if (is_set(keys, m) == ((bits >> m & 1) != 0)) continue;
        uint a = 2 * m * COLUMN + bucket;
        uint b = a + COLUMN;
        sh_owners[a] = owners[2 * m + 1];
        sh_owners[b] = owners[2 * m];
        if (ONE_WORD) {
            sh_keys[a] = keys[(2 * m + 1) * KEY_WORDS];
            sh_keys[b] = keys[2 * m * KEY_WORDS];
        }
    }
}

// Whether a bucket has no empty slot, and whether it has erased ones.
bool is_full(uint bucket) { return sh_owners[(SLOTS - 1) * COLUMN + bucket] != NOBODY; }

bool has_erased(uint bucket) {
    bool erased = false;
    for (uint s = 0; s < SLOTS; ++s) erased = erased || sh_owners[s * COLUMN + bucket] == GONE;
    return erased;
}

// The place in shared memory of a slot.
uint place_of(uint slot) { return slot % SLOTS * COLUMN + slot / SLOTS; }

// Loads the slice. A table that has not been used since it was cleared is known to be empty.
void load_slice(bool is_used) {
    uvec2 slice = slice_address(own_slice());
    [[unroll]] for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint index = k * THREADS + thread_id();
        uint slot[SLOT_WORDS];
        uint key[KEY_WORDS];
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slot[w] = 0xffffffffu;
        if (is_used) load_slot(slice, index, slot);
        [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) key[w] = slot[w];
        uint reserved = reserved_index(key);
        sh_owners[place_of(index)] = reserved == NOT_RESERVED ? owner_of_slot(index) : NOBODY - reserved;
        if (ONE_WORD) sh_keys[place_of(index)] = key[0];
    }
    barrier();
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) {
        uint bits = 0;
        if (is_used && is_full(bucket)) bits = has_erased(bucket) ? (1u << MATCHES) - 1 : filter_of(bucket);
        sh_filters[bucket] = bits;
    }
}

// Stores the slice. A value may come from another slot of the slice, so all are loaded first.
void store_slice() {
    uvec2 slice = slice_address(own_slice());
    uint slots[OWN_SLOTS * SLOT_WORDS];
    [[unroll]] for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint at = place_of(k * THREADS + thread_id());
        uint owner = sh_owners[at];
        uint slot[SLOT_WORDS];
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slot[w] = 0xffffffffu;
        if (owner >= GONE) {
            slot[KEY_WORDS - 1] = owner == GONE ? ERASED_WORD : EMPTY_WORD;
        } else if (is_item(owner)) {
            uint key[KEY_WORDS];
            if (ONE_WORD) key[0] = sh_keys[at];
            else key_at(position_of(owner), key);
            [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) slot[w] = key[w];
            [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) slot[KEY_WORDS + w] = value_word(position_of(owner), w);
        } else if (ONE_WORD && VALUE_WORDS == 0) {
            slot[0] = sh_keys[at];
        } else {
            load_slot(slice, slot_of(owner), slot);
        }
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slots[k * SLOT_WORDS + w] = slot[w];
    }
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    [[unroll]] for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint slot[SLOT_WORDS];
        [[unroll]] for (uint w = 0; w < SLOT_WORDS; ++w) slot[w] = slots[k * SLOT_WORDS + w];
        store_slot(slice, k * THREADS + thread_id(), slot);
    }
}

// Applies the items with a reserved key. All of them belong to the same slice.
void apply_reserved(uint reserved) {
    uint owner = sh_reserved[reserved];
    if (owner == NOBODY) return;
    Header header = Header(args.problem.table);
    bool has_entry = header.v[0].reserved[reserved] != 0;
    header.v[0].reserved[reserved] = ERASES ? 0 : 1;
    if (has_entry == ERASES) atomicAdd(header.v[0].entries, ERASES ? 0xffffffffu : 1u);
    if (ERASES || has_entry && !ASSIGNS) return;
    for (uint w = 0; w < VALUE_WORDS; ++w) {
        store_reserved_value(reserved, w, value_word(position_of(owner), w));
    }
}

void apply_item(uint position, uint first) {
    uint key[KEY_WORDS];
    if (ONE_WORD) key[0] = unmix_bits(first);
    else key_at(position, key);
    uint reserved = reserved_index(key);
    if (reserved != NOT_RESERVED) {
        atomicMin(sh_reserved[reserved], owner_of_item(position));
        return;
    }
    uint second = second_hash(key);
    bool applied = ERASES ? erase(key, first, second) : insert(key, first, second, position);
    if (!applied) spill(position);
}

// Whether an item with this hash belongs to this workgroup.
bool is_own(uint hash) {
    uint home = slice_of(hash);
    return home >= first_home() && home <= last_home();
}

#ifdef OVERFLOW

// Takes the next bits of `spilled` from each thread's word, and lists those that are own items. A word whose bits find
// no room in the list waits for the next turn. Returns whether no thread has a bit left.
bool list_items(inout uint word, uint base) {
    barrier();
    if (thread_id() == 0) {
        sh_items = 0;
        sh_listed = CHUNK;
    }
    barrier();
    uint bits = bitCount(word);
    uint start = bits == 0 ? 0 : atomicAdd(sh_items, bits);
    bool has_room = start + bits <= CHUNK;
    // Those behind the first one without room have none either.
    if (!has_room) atomicMin(sh_listed, start);
    while (has_room && word != 0) {
        sh_positions[start++] = base + findLSB(word);
        word &= word - 1;
    }
    barrier();
    return sh_items <= CHUNK;
}

#else

// Lists the items of this workgroup among the next CHUNK positions.
void list_items(uint begin, uint end) {
    uint hashes[CHUNK_ITEMS];
    if (thread_id() == 0) sh_items = 0;
    [[unroll]] for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        uint position = begin + k * THREADS + thread_id();
        hashes[k] = position < end ? hash_at(position) : 0;
    }
    barrier();
    [[unroll]] for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        uint position = begin + k * THREADS + thread_id();
        if (position < end && is_own(hashes[k])) {
            uint index = atomicAdd(sh_items, 1u);
            sh_positions[index] = position;
            sh_hashes[index] = hashes[k];
        }
    }
    barrier();
}

#endif

void main() {
    // 1. Find the items of this workgroup.
    if (linear_group() >= slice_count()) return;
    uint count = batch_count();
    if (thread_id() == 0) {
        sh_added = 0;
        sh_removed = 0;
        sh_reused = 0;
        sh_items = 0;
        sh_reserved[0] = NOBODY;
        sh_reserved[1] = NOBODY;
    }
    find_positions(count);
    uint begin = sh_first[0];
    uint end = sh_first[1];
#ifdef OVERFLOW
    Words spilled = Words(scratch_part(args.spilled));
    for (uint word = begin / 32 + thread_id(); word * 32 < end; word += THREADS) {
        if (spilled.v[word] != 0) sh_items = 1;
    }
    barrier();
    if (sh_items == 0) return;
#else
    if (begin == end) return;
    list_items(begin, end);
    if (sh_items == 0 && end - begin <= CHUNK) return;
#endif

    // 2. Load the slice.
    load_slice(Words(scratch_part(args.state)).v[0] != 0);
    barrier();

    // 3. Apply the items, as many at a time as the list has room for. Its order does not matter: positions decide.
#ifdef OVERFLOW
    for (uint first = begin / 32; first * 32 < end; first += THREADS) {
        uint index = first + thread_id();
        uint word = index * 32 < end ? spilled.v[index] : 0;
        bool is_last;
        do {
            is_last = list_items(word, index * 32);
            uint listed = min(sh_items, sh_listed);
            for (uint i = thread_id(); i < listed; i += THREADS) {
                uint position = sh_positions[i];
                uint hash = hash_at(min(position, end - 1));
                if (position >= begin && position < end && is_own(hash)) apply_item(position, hash);
            }
        } while (!is_last);
    }
    barrier();
#else
    for (uint chunk = begin; chunk < end; chunk += CHUNK) {
        if (chunk != begin) list_items(chunk, end);
        for (uint i = thread_id(); i < sh_items; i += THREADS) apply_item(sh_positions[i], sh_hashes[i]);
        barrier();
    }
#endif

    // 4. Store the filters of full buckets, then the slice.
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) {
        if (is_full(bucket) && !has_erased(bucket)) store_filter(bucket, sh_filters[bucket]);
    }
    if (thread_id() < 2) apply_reserved(thread_id());
    barrier();
    store_slice();
    if (thread_id() == 0) {
        Header header = Header(args.problem.table);
        if (sh_added != sh_removed) atomicAdd(header.v[0].entries, sh_added - sh_removed);
        if (sh_removed != sh_reused) atomicAdd(header.v[0].erased, sh_removed - sh_reused);
    }
}
