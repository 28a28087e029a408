// Changes a table: each workgroup applies the items of a batch that belong to its slice, in shared memory.
//
// Terms: slice           1024 slots. The home slice of a key is selected by its first hash; 32 home slices share an
//                        overflow slice, for keys that find no slot in theirs. See table.glsl.
//        bucket, path    64 or 128 bytes of slots; the buckets that are probed for a key, one after the other
//        mark            bit of a home slice: some key of it lies in the overflow slice
//        filter          bits of a full bucket, by which a search for an absent key ends there
//        owner           where the value of a slot comes from: an item of the batch, or a slot before the batch
//        waiting item    an item that found no slot in the first bucket of its path, see place.glsl; of an erasure, one
//                        with a key that may lie in the overflow slice
//
// In:  the hashes of the batch, sorted by their first bits, and by the order of the batch if these are equal; the
//      values of the items in this order, or their indices; the slice.
// Out: the slice, if some item belongs to it; a bit in `spilled` for each item that has no place in its path. With
//      OVERFLOW, these items are applied to the overflow slices: one workgroup for each, which also writes the marks of
//      its home slices. Items that have no place there either are appended to the leftover items.
// Workgroups: one for each slice; with OVERFLOW, one for each overflow slice.
// Memory order: a workgroup is the only one that writes its slice. In the first dispatch, home slices also read
//               overflow slices and marks; in the second one, overflow slices also read home slices. Reserved entries
//               of the header belong to the slice of their key. Counters are atomic, and so are combinations of values
//               after the slice has been stored. All workgroups that store STATE_MOVED store the same value.
// Progress: no workgroup waits for another one.
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

layout(constant_id = SPEC_CHANGE) const uint CHANGE = HASH_INSERT;

const bool ASSIGNS = CHANGE == HASH_ASSIGN;
const bool ERASES = CHANGE == HASH_ERASE;
const bool COMBINES = CHANGE >= HASH_ADD;

#include "radix/scratch.glsl"
#include "hash/table.glsl"
#include "hash/batch.glsl"
#include "hash/values.glsl"
#include "hash/leftovers.glsl"
#include "hash/sorted.glsl"
#include "hash/positions.glsl"
#include "hash/slice.glsl"

const uint NO_SLOT = 0xffffffffu;

// The owners of the reserved keys.
shared uint sh_reserved[2];
// Whether an item has no place in the slice.
shared uint sh_spilled;
// Whether the workgroup has items.
shared uint sh_has_items;
#ifdef OVERFLOW
// A bit for each home slice that has keys here.
shared uint sh_homes;
#endif

// Sets a bit of a position for the workgroup of the overflow slice.
void mark(uint part, uint position) {
    atomicOr(Words(scratch_part(part)).v[position / 32], 1u << (position % 32));
}

// Leaves an item to the overflow slice; with OVERFLOW, appends it to the leftover items.
void spill(uint position) {
    sh_spilled = 1;
#ifdef OVERFLOW
    if (ERASES) return;
    uint key[KEY_WORDS];
    key_at(position, key);
    uint index = append_leftover(key);
    if (!wants_leftover_value(index)) return;
    uint value[MOST_VALUE_WORDS];
    load_value(owner_of_item(position), value);
    store_leftover_value(index, value);
#else
    mark(args.spilled, position);
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

// Whether the slice of a path, another one than that of this workgroup, has a key. No workgroup of this dispatch writes
// it.
bool is_elsewhere(uint key[KEY_WORDS], Probe probe) {
    uvec2 slice = slice_address(probe.slice);
    for (uint k = 0; k < HOME_PROBES; ++k) {
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

// A bit for each slot of a bucket that is free, or may have a key with this tag. Between two barriers, keys leave their
// slots only if they are erased, or by move_and_place().
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
    for (uint k = 0; k < OWN_PROBES; ++k) {
        for (uint bits = candidates(probe.bucket, tag); bits != 0; bits &= bits - 1) {
            uint at = findLSB(bits) * COLUMN + probe.bucket;
            uint owner = shared_owner(at);
            if (owner == EMPTY) return NO_SLOT;
            if (owner == ERASED) continue;
            if (has_key(at, owner, key, tag, first)) return at;
        }
        if ((shared_bucket(probe.bucket) >> probe.filter_bit & 1) == 0) return NO_SLOT;
        advance_probe(probe);
    }
    is_bounded = false;
    return NO_SLOT;
}

bool has_spilled() {
    return atomicLoad(sh_spilled, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed) != 0;
}

void erase_slot(uint at) {
    atomicStore(sh_owners[at], ERASED, gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    sh_has_erased = 1;
}

#include "hash/place.glsl"
#include "hash/gaps.glsl"
#include "hash/combine.glsl"

#ifdef OVERFLOW
// Frees the slots of keys that have moved to their home slices in the dispatch before.
void free_moved_keys() {
    for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint at = own_place(k);
        if (sh_owners[at] >= ERASED) continue;
        uint key[KEY_WORDS];
        uint first, second;
        slot_key(at, key);
        hash_key(key, first, second);
        if (!is_elsewhere(key, home_probe(first, second))) continue;
        free_slot(at, ERASED);
        sh_has_erased = 1;
        atomicAdd(sh_keys_before, 0xffffffffu);
    }
    barrier();
}
#endif

// Closes all gaps of this slice, also with keys from its overflow slice. A bit makes the workgroup of that slice free
// their slots there and write the marks.
void close_all_gaps(bool overflows, uint begin) {
    uint outside = overflows ? find_overflow_keys() : 0;
    uint count = close_gaps(outside);
    if (count == 0) return;
    atomicAdd(sh_keys_before, count);
    Words(scratch_part(args.state)).v[STATE_MOVED] = 1;
    mark(args.moved, begin);
}

// Applies the items with one of the reserved keys. All of them belong to the same slice.
void apply_reserved(uint reserved) {
    uint owner = sh_reserved[reserved];
    if (owner == EMPTY) return;
    Header header = Header(args.problem.table);
    bool has_entry = header.v[0].reserved[reserved] != 0;
    header.v[0].reserved[reserved] = ERASES ? 0 : 1;
    if (has_entry == ERASES) atomicAdd(header.v[0].entries, ERASES ? 0xffffffffu : 1u);
    if (ERASES || has_entry && !ASSIGNS) return;
    uint value[MOST_VALUE_WORDS];
    load_first_value(owner, value);
    [[unroll]] for (uint w = 0; w < VALUE_WORDS; ++w) Words(reserved_value(reserved)).v[w] = value[w];
}

// Applies an item with this first hash. `searches`: an insertion first looks for the key. A slot that another thread is
// filling does no harm: keys are compared again behind a barrier. Returns false if the list of waiting items is full.
bool apply_item(uint position, uint first, bool overflows, bool searches) {
    uint key[KEY_WORDS];
    uint second;
    hashed_key(position, first, key, second);
    uint reserved = reserved_index(key);
    if (reserved != NOT_RESERVED) {
        atomicMin(sh_reserved[reserved], owner_of_item(position));
        return true;
    }
    uint tag = tag_of(key, second);
    bool is_bounded = true;
    uint at = NO_SLOT;
    if (ERASES || searches) at = find_slot(key, tag, first, own_probe(first, second), is_bounded);
    bool may_be_elsewhere = !is_bounded && (overflows || !ERASES && has_spilled());
    if (at == NO_SLOT && may_be_elsewhere) {
        spill(position);
        if (ERASES) add_waiting(position, first, second);
    } else if (ERASES) {
        if (at != NO_SLOT) erase_slot(at);
    } else if (at != NO_SLOT) {
        atomicMin(sh_owners[at], owner_of_item(position));
    } else {
        return place_or_wait(position, first, second, tag);
    }
    return true;
}

// Places the waiting items if their list is full, or if these are the last items. Returns whether it was full: then the
// list had no room for some of the items.
bool place_batch(bool is_last, bool overflows) {
    if (ERASES) return false;
    barrier();
    bool is_full = sh_waiting > MOST_WAITING;
    if (is_full || is_last) place_waiting(overflows);
    else barrier();  // before more items wait
    return is_full;
}

#ifdef OVERFLOW

// Applies the items that have found no place in their home slices.
void apply_items(uint begin, uint end, bool overflows) {
    Words spilled = Words(scratch_part(args.spilled));
    bool searches = false;
    for (uint first = begin / 32; first * 32 < end; first += THREADS) {
        uint index = first + thread_id();
        uint word = index * 32 < end ? spilled.v[index] : 0;
        bool again;
        do {
            bool is_applied = true;
            while (word != 0 && is_applied) {
                uint position = index * 32 + findLSB(word);
                bool is_inside = position >= begin && position < end;
                uint hash = is_inside ? hash_at(position) : 0;
                if (is_inside && is_own(hash)) is_applied = apply_item(position, hash, overflows, searches);
                if (is_applied) word &= word - 1;
            }
            again = place_batch(first * 32 + THREADS * 32 >= end, overflows);
            searches = searches || again;
        } while (again);
    }
}

// Whether an item of this workgroup, or of a neighbor, has been spilled, or a key has come home from this slice.
bool has_items(uint begin, uint end, bool have_moved) {
    if (thread_id() == 0) sh_has_items = 0;
    barrier();
    Words spilled = Words(scratch_part(args.spilled));
    Words moved = Words(scratch_part(args.moved));
    for (uint word = begin / 32 + thread_id(); word * 32 < end; word += THREADS) {
        if (spilled.v[word] != 0 || have_moved && moved.v[word] != 0) sh_has_items = 1;
    }
    barrier();
    return sh_has_items != 0;
}

#else

uvec4 load_hashes(uint chunk, uint end) {
    uvec4 hashes;
    [[unroll]] for (uint k = 0; k < CHUNK_ITEMS; ++k) {
        hashes[k] = hash_at(min(chunk + k * THREADS + thread_id(), end - 1));
    }
    return hashes;
}

// Tests the items of the bins of this slice, and applies those that belong to it.
void apply_items(uint begin, uint end, bool overflows) {
    bool searches = false;
    uvec4 next = load_hashes(begin, end);
    for (uint chunk = begin; chunk < end; chunk += CHUNK) {
        uvec4 hashes = next;
        next = load_hashes(chunk + CHUNK, end);
        uint own = 0;
        [[unroll]] for (uint k = 0; k < CHUNK_ITEMS; ++k) {
            uint position = chunk + k * THREADS + thread_id();
            if (position < end && is_own(hashes[k])) own |= 1u << k;
        }
        bool again;
        do {
            [[dont_unroll]] for (uint k = 0; k < CHUNK_ITEMS; ++k) {
                uint position = chunk + k * THREADS + thread_id();
                if ((own >> k & 1) == 0) continue;
                // Loaded again here, so that no register holds the hash until then.
                if (apply_item(position, hash_at(position), overflows, searches)) own &= ~(1u << k);
            }
            again = place_batch(chunk + CHUNK >= end, overflows);
            searches = searches || again;
        } while (again);
    }
}

// Whether the workgroup has items. Its bins are searched for one only if they have few items, as those of batches that
// are much smaller than the table.
bool has_items(uint begin, uint end, bool have_moved) {
    if (begin == end || end - begin > THREADS) return begin != end;
    if (thread_id() == 0) sh_has_items = 0;
    barrier();
    uint position = begin + thread_id();
    if (position < end && is_own(hash_at(position))) sh_has_items = 1;
    barrier();
    return sh_has_items != 0;
}

#endif

void main() {
    open_table();
    // 1. Find the items of this workgroup.
    if (linear_group() >= slice_count()) return;
    uvec2 positions = own_positions();
    uint begin = positions.x;
    uint end = positions.y;
    Words state = Words(scratch_part(args.state));
    bool have_moved = false;
#ifdef OVERFLOW
    have_moved = state.v[STATE_MOVED] != 0;
#endif
    if (!has_items(begin, end, have_moved)) return;
    if (thread_id() == 0) {
        sh_spilled = 0;
        sh_waiting = 0;
        sh_reserved[0] = EMPTY;
        sh_reserved[1] = EMPTY;
#ifdef OVERFLOW
        sh_homes = 0;
#endif
    }

    // 2. Load the slice. An insertion closes the gaps of earlier erasures, if some have been left.
    load_slice(state.v[STATE_USED] != 0);
    bool overflows = has_overflow_keys();
#ifdef OVERFLOW
    if (have_moved) free_moved_keys();
#endif
    if (!ERASES && sh_has_erased != 0) close_all_gaps(overflows, begin);

    // 3. Apply the items. Their order does not matter: owners decide.
    apply_items(begin, end, overflows);
    barrier();

    // 4. Close the gaps, unless so many keys may have to be erased from the overflow slice that the list has not all of
    //    them. Store the slice. Combine values.
    if (ERASES && sh_has_erased != 0 && sh_waiting <= MOST_WAITING) close_all_gaps(overflows, begin);
    if (thread_id() < 2) apply_reserved(thread_id());
    uint homes = store_slice();
    if (COMBINES) combine_items(begin, end);
#ifdef OVERFLOW
    if (homes != 0) atomicOr(sh_homes, homes);
    barrier();
    if (thread_id() == 0) marks().v[linear_group()] = sh_homes;
#endif
    if (thread_id() == 0) {
        Header header = Header(args.problem.table);
        if (sh_keys_after != sh_keys_before) atomicAdd(header.v[0].entries, sh_keys_after - sh_keys_before);
        if (sh_erased_after != sh_erased_before) atomicAdd(header.v[0].erased, sh_erased_after - sh_erased_before);
    }
}
