// Changes a table: each workgroup applies the items of a batch that belong to its slice, in shared memory.
//
// In:  the hashes of the batch, sorted by their first bits, and by the order of the batch if these are equal; the
//      values of the items in this order, or their indices; the slice.
// Out: the slice, if some item belongs to it; a bit in `spilled` for each item that has no place in its path. With
//      OVERFLOW, these items are applied to the overflow slices: one workgroup for each, which also writes the marks of
//      its home slices. Items that have no place there either are appended to the leftover items.
// Workgroups: one for each slice.
// Memory order: a workgroup is the only one that accesses its slice, except for overflow slices and marks: home slices
//               read them, and a later dispatch writes them. Reserved entries of the header belong to the slice of
//               their key. Counters are atomic.
// Progress: never waits.
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
#include "hash/positions.glsl"
#include "hash/slice.glsl"
#include "hash/gaps.glsl"

const uint NO_SLOT = 0xffffffffu;

// The owners of the reserved keys.
shared uint sh_reserved[2];
// Numbers of keys that have come and gone.
shared uint sh_added;
shared uint sh_removed;
// Whether an item has no place in the slice.
shared uint sh_spilled;
#ifdef OVERFLOW
shared uint sh_homes;
#endif

void mark_spilled(uint position) {
    atomicOr(Words(scratch_part(args.spilled)).v[position / 32], 1u << (position % 32));
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
    mark_spilled(position);
    sh_spilled = 1;
#endif
}

// Whether some key of this home slice lies in its overflow slice.
bool has_overflow_keys() {
#ifdef OVERFLOW
    return false;
#else
    return (marks().v[linear_group() / OVERFLOW_SHARE] >> (linear_group() % OVERFLOW_SHARE) & 1) != 0;
#endif
}

// Whether another slice has a key on a path. No workgroup of this dispatch writes it.
bool is_elsewhere(uint key[KEY_WORDS], Probe probe) {
    uvec2 slice = slice_address(probe.slice);
    for (uint k = 0; k < MOST_PROBES; ++k) {
        [[unroll]] for (uint s = 0; s < SLOTS; ++s) {
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

// A bit for each slot of a bucket that is free, or may have a key with this tag. Keys never leave a slot while items
// are applied, except if they are erased.
uint candidates(uint bucket, uint tag) {
    uint bits = 0;
    [[unroll]] for (uint s = 0; s < SLOTS; ++s) {
        uint found = shared_key(s * COLUMN + bucket);
        if (found == tag || found >= ERASED) bits |= 1u << s;
    }
    return bits;
}

// Finds the slot of a key. `is_bounded`: the path ends in this slice, so the overflow slice does not have the key.
uint find_slot(uint key[KEY_WORDS], uint tag, uint first, Probe probe, out bool is_bounded) {
    is_bounded = true;
    for (uint k = 0; k < MOST_PROBES; ++k) {
        for (uint bits = candidates(probe.bucket, tag); bits != 0; bits &= bits - 1) {
            uint at = findLSB(bits) * COLUMN + probe.bucket;
            uint owner = shared_owner(at);
            if (owner == EMPTY) return NO_SLOT;
            if (owner == ERASED) continue;
            if (ONE_WORD ? shared_key(at) == key[0] : owner_has_key(owner, key, first)) return at;
        }
        if ((shared_filter(probe.bucket) >> probe.match & 1) == 0) return NO_SLOT;
        advance_probe(probe);
    }
    is_bounded = false;
    return NO_SLOT;
}

// Takes a free slot for an item, or meets its key there. Of all items with the key, the one with the smallest owner
// will own the slot. Returns false if the slot has another key.
bool takes(uint at, uint key[KEY_WORDS], uint tag, uint first, uint owner) {
    uint found = ONE_WORD ? shared_key(at) : shared_owner(at);
    if (found >= ERASED) {
        uint free = found;
        found = ONE_WORD ? atomicCompSwap(sh_keys[at], free, tag) : atomicCompSwap(sh_owners[at], free, owner);
        if (found == free) {
            if (ONE_WORD) atomicMin(sh_owners[at], owner);
            else set_shared_key(at, tag);
            atomicAdd(sh_added, 1u);
            if (free == ERASED) atomicAdd(sh_erased, 0xffffffffu);
            return true;
        }
    }
    if (ONE_WORD ? found != tag : !owner_has_key(found, key, first)) return false;
    atomicMin(sh_owners[at], owner);
    return true;
}

// Finds the slot of a key, or takes one for it: the first free one of its path. Free slots only become fewer, so all
// items with the same key take the same slot. Returns false if the path has none, or if the overflow slice has the key.
bool insert(uint key[KEY_WORDS], uint first, uint second, uint position, bool has_gaps, bool overflows) {
    uint owner = owner_of_item(position);
    uint tag = tag_of(key, second);
    Probe probe = own_probe(first, second);
    if (has_gaps) {
        // The key may lie behind an erased slot.
        bool is_bounded;
        uint at = find_slot(key, tag, first, probe, is_bounded);
        if (at != NO_SLOT) {
            atomicMin(sh_owners[at], owner);
            return true;
        }
        if (overflows && !is_bounded && is_elsewhere(key, overflow_probe(first, second))) return false;
    }
    for (uint k = 0; k < MOST_PROBES; ++k) {
        for (uint bits = candidates(probe.bucket, tag); bits != 0; bits &= bits - 1) {
            if (takes(findLSB(bits) * COLUMN + probe.bucket, key, tag, first, owner)) return true;
        }
        atomicOr(sh_filters[probe.bucket], 1u << probe.match);
        advance_probe(probe);
    }
    return false;
}

// Erases a key. Returns false if the overflow slice may have it.
bool erase(uint key[KEY_WORDS], uint first, uint second, bool overflows) {
    bool is_bounded;
    uint at = find_slot(key, tag_of(key, second), first, own_probe(first, second), is_bounded);
    if (at == NO_SLOT) return is_bounded || !overflows;
    if (atomicExchange(sh_owners[at], ERASED) != ERASED) {
        set_shared_key(at, ERASED);
        atomicAdd(sh_removed, 1u);
        atomicAdd(sh_erased, 1u);
    }
    return true;
}

#ifdef OVERFLOW
// Frees the slots of keys that have moved to their home slices in the dispatch before.
void free_moved_keys() {
    // The number of erased slots before has been read.
    barrier();
    for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint at = place_of(k * THREADS + thread_id());
        if (sh_owners[at] >= ERASED) continue;
        uint key[KEY_WORDS];
        uint first, second;
        slot_key(at, key);
        hash_key(key, first, second);
        if (!is_elsewhere(key, home_probe(first, second))) continue;
        sh_owners[at] = ERASED;
        sh_keys[at] = ERASED;
        atomicAdd(sh_erased, 1u);
    }
    barrier();
}
#endif

// Applies the items with a reserved key. All of them belong to the same slice.
void apply_reserved(uint reserved) {
    uint owner = sh_reserved[reserved];
    if (owner == EMPTY) return;
    Header header = Header(args.problem.table);
    bool has_entry = header.v[0].reserved[reserved] != 0;
    header.v[0].reserved[reserved] = ERASES ? 0 : 1;
    if (has_entry == ERASES) atomicAdd(header.v[0].entries, ERASES ? 0xffffffffu : 1u);
    if (ERASES || has_entry && !ASSIGNS) return;
    for (uint w = 0; w < VALUE_WORDS; ++w) {
        store_reserved_value(reserved, w, value_word(position_of(owner), w));
    }
}

void apply_item(uint position, uint first, bool has_gaps, bool overflows) {
    uint key[KEY_WORDS];
    if (HASH_IS_KEY) unhash_key(first, second_hash_at(position), key);
    else key_at(position, key);
    uint reserved = reserved_index(key);
    if (reserved != NOT_RESERVED) {
        atomicMin(sh_reserved[reserved], owner_of_item(position));
        return;
    }
    uint unused, second;
    hash_key(key, unused, second);
    bool applied = ERASES ? erase(key, first, second, overflows)
                          : insert(key, first, second, position, has_gaps, overflows);
    if (!applied) spill(position);
}

void main() {
    // 1. Find the items of this workgroup.
    if (linear_group() >= slice_count()) return;
    uint count = batch_count();
    if (thread_id() == 0) {
        sh_added = 0;
        sh_removed = 0;
        sh_spilled = 0;
        sh_items = 0;
        sh_reserved[0] = EMPTY;
        sh_reserved[1] = EMPTY;
#ifdef OVERFLOW
        sh_homes = 0;
#endif
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

    // 2. Load the slice. An insertion closes the gaps of earlier erasures, if some have been left.
    load_slice(Words(scratch_part(args.state)).v[0] != 0);
    uint erased_before = sh_erased;
    bool overflows = has_overflow_keys();
    if (!ERASES && !overflows && erased_before != 0) close_gaps(0);
#ifdef OVERFLOW
    if (ERASES) free_moved_keys();
#endif
    bool has_gaps = sh_erased != 0;
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
                if (position >= begin && position < end && is_own(hash)) apply_item(position, hash, has_gaps, false);
            }
        } while (!is_last);
    }
    barrier();
#else
    uint some_item = begin;
    for (uint chunk = begin; chunk < end; chunk += CHUNK) {
        if (chunk != begin) list_items(chunk, end);
        if (sh_items != 0) some_item = sh_positions[0];
        for (uint i = thread_id(); i < sh_items; i += THREADS) {
            apply_item(sh_positions[i], sh_hashes[i], has_gaps, overflows);
        }
        barrier();
    }
#endif

    // 4. Close the gaps, and store the slice. Keys come home from the overflow slice, unless they may be among those to
    //    be erased there. Its workgroup has an item then, frees their slots, and writes the marks.
    if (ERASES && sh_erased != 0 && (!overflows || sh_spilled == 0)) {
        uint outside = 0;
#ifndef OVERFLOW
        if (overflows) outside = find_overflow_keys();
        if (overflows && thread_id() == 0) mark_spilled(some_item);
#endif
        close_gaps(outside);
    }
    if (thread_id() < 2) apply_reserved(thread_id());
    uint homes = store_slice();
#ifdef OVERFLOW
    if (homes != 0) atomicOr(sh_homes, homes);
    barrier();
    if (thread_id() == 0) marks().v[linear_group()] = sh_homes;
#endif
    if (thread_id() == 0) {
        Header header = Header(args.problem.table);
        if (sh_added != sh_removed) atomicAdd(header.v[0].entries, sh_added - sh_removed);
        if (sh_erased != erased_before) atomicAdd(header.v[0].erased, sh_erased - erased_before);
    }
}
