// Closes the gaps that erased keys leave in a slice: keys move to earlier buckets of their paths, until no key has
// passed an erased slot. Keys of this home slice that lie in its overflow slice move too. Then erased slots become
// empty ones, and filters have no bits of keys that are gone. So a table keeps its speed, however often its keys
// change.

// The bucket of a key outside of the slice.
const uint NO_BUCKET = 0xffffffffu;

shared uint sh_moved;

// Moves a key from a bucket to an erased slot of an earlier bucket of its path. Returns whether there was one.
bool moves(uint first, uint second, uint tag, uint owner, uint bucket) {
    Probe probe = own_probe(first, second);
    for (uint k = 0; k < OWN_PROBES && probe.bucket != bucket; ++k) {
        [[dont_unroll]] for (uint s = 0; s < SLOTS; ++s) {
            uint target = s * COLUMN + probe.bucket;
            if (shared_owner(target) != ERASED) continue;
            if (atomicCompSwap(sh_owners[target], ERASED, owner) == ERASED) {
                fill_slot(target, owner, first, tag);
                return true;
            }
        }
        advance_probe(probe);
    }
    return false;
}

// Sets the bits of a key in the filters of the buckets before its own.
void add_to_filters(uint first, uint second, uint bucket) {
    Probe probe = own_probe(first, second);
    for (uint k = 0; k < OWN_PROBES && probe.bucket != bucket; ++k) {
        atomicOr(sh_buckets[probe.bucket], 1u << probe.filter_bit);
        advance_probe(probe);
    }
}

// Moves the keys of a bucket to its first slots. The others become empty.
void close_bucket(uint bucket) {
    uint end = bucket;
    for (uint at = bucket; at < SLOTS * COLUMN; at += COLUMN) {
        uint owner = sh_owners[at];
        if (owner >= ERASED) continue;
        fill_slot(end, owner, ONE_WORD ? 0 : sh_firsts[at], sh_keys[at]);
        sh_buckets[bucket] += ONE_SLOT;
        end += COLUMN;
    }
    for (uint at = end; at < SLOTS * COLUMN; at += COLUMN) free_slot(at, EMPTY);
}

// The slot of this thread with the number of the lowest bit of a mask.
uint own_slot(uint mask) { return findLSB(mask) * THREADS + thread_id(); }

// A bit for each slot of this thread in the overflow slice: whether the key there has this slice as its home, and is
// not about to be erased.
uint find_overflow_keys() {
    uint found = 0;
    for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint key[KEY_WORDS];
        uint first, second;
        key_of(owner_of_slot(SLICE_SLOTS + k * THREADS + thread_id()), key);
        hash_key(key, first, second);
        bool is_own = reserved_index(key) == NOT_RESERVED && slice_of(first) == own_slice();
        if (is_own && !(ERASES && is_waiting(key, first, second))) found |= 1u << k;
    }
    return found;
}

// `outside`: the keys of this slice in the overflow slice, as find_overflow_keys() returns them. Returns how many
// of them this thread has moved here. Each move brings a key nearer to the begin of its path, so the rounds end.
uint close_gaps(uint outside) {
    uint come = 0;
    bool is_done = false;
    while (!is_done) {
        // Keys that are there before the round, a bit each. Slots that keys leave are free in the next round.
        barrier();
        if (thread_id() == 0) sh_moved = 0;
        uint inside = 0;
        uint moved = 0;
        for (uint k = 0; k < OWN_SLOTS; ++k) {
            if (sh_owners[own_place(k)] < ERASED) inside |= 1u << k;
        }
        barrier();
        uint first, second;
        for (; inside != 0; inside &= inside - 1) {
            uint at = place_of(own_slot(inside));
            slot_hashes(at, first, second);
            if (moves(first, second, sh_keys[at], sh_owners[at], at % COLUMN)) moved |= inside & (0 - inside);
        }
        bool has_moved = moved != 0;
        for (uint left = outside; left != 0; left &= left - 1) {
            uint owner = owner_of_slot(SLICE_SLOTS + own_slot(left));
            uint key[KEY_WORDS];
            key_of(owner, key);
            hash_key(key, first, second);
            if (moves(first, second, tag_of(key, second), owner, NO_BUCKET)) {
                outside &= ~(left & (0 - left));
                has_moved = true;
                ++come;
            }
        }
        if (has_moved) atomicOr(sh_moved, 1u);
        barrier();
        for (; moved != 0; moved &= moved - 1) free_slot(place_of(own_slot(moved)), ERASED);
        is_done = sh_moved == 0;
    }
    barrier();
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) sh_buckets[bucket] = 0;
    if (thread_id() == 0) sh_has_erased = 0;
    barrier();
    uint first, second;
    for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint at = own_place(k);
        if (sh_owners[at] >= ERASED) continue;
        slot_hashes(at, first, second);
        add_to_filters(first, second, at % COLUMN);
    }
    for (; outside != 0; outside &= outside - 1) {
        uint key[KEY_WORDS];
        key_of(owner_of_slot(SLICE_SLOTS + own_slot(outside)), key);
        hash_key(key, first, second);
        add_to_filters(first, second, NO_BUCKET);
    }
    barrier();
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) close_bucket(bucket);
    barrier();
    return come;
}
