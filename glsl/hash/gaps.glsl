// Closes the gaps that erased keys leave in a slice: keys move to earlier buckets of their paths, until no key has
// passed an erased slot. Keys of this home slice that lie in its overflow slice move too. Then erased slots become
// empty ones, and filters have no bits of keys that are gone. So a table keeps its speed, however often its keys
// change.

// Most rounds. Each one moves every key that can move. Erased slots stay where they are if more would be necessary.
const uint MOST_ROUNDS = 16;
// The bucket of a key outside of the slice.
const uint NO_BUCKET = 0xffffffffu;

shared uint sh_moved;

// Moves a key from a bucket to an erased slot of an earlier bucket of its path. Returns whether there was one.
bool moves(uint key[KEY_WORDS], uint owner, uint bucket) {
    uint first, second;
    hash_key(key, first, second);
    Probe probe = own_probe(first, second);
    for (uint k = 0; k < MOST_PROBES && probe.bucket != bucket; ++k) {
        [[unroll]] for (uint s = 0; s < SLOTS; ++s) {
            uint target = s * COLUMN + probe.bucket;
            if (shared_owner(target) != ERASED) continue;
            if (atomicCompSwap(sh_owners[target], ERASED, owner) == ERASED) {
                set_shared_key(target, tag_of(key, second));
                return true;
            }
        }
        advance_probe(probe);
    }
    return false;
}

// Sets the bits of a key in the filters of the buckets before its own.
void add_to_filters(uint key[KEY_WORDS], uint bucket) {
    uint first, second;
    hash_key(key, first, second);
    Probe probe = own_probe(first, second);
    for (uint k = 0; k < MOST_PROBES && probe.bucket != bucket; ++k) {
        atomicOr(sh_filters[probe.bucket], 1u << probe.match);
        advance_probe(probe);
    }
}

// Moves the keys of a bucket to its first slots. The others become empty.
void close_bucket(uint bucket) {
    uint end = bucket;
    for (uint at = bucket; at < SLOTS * COLUMN; at += COLUMN) {
        if (sh_owners[at] >= ERASED) continue;
        sh_owners[end] = sh_owners[at];
        sh_keys[end] = sh_keys[at];
        end += COLUMN;
    }
    for (uint at = end; at < SLOTS * COLUMN; at += COLUMN) {
        sh_owners[at] = EMPTY;
        sh_keys[at] = EMPTY;
    }
}

// The slot of this thread with the number of the lowest bit of a mask.
uint own_slot(uint mask) { return findLSB(mask) * THREADS + thread_id(); }

// A bit for each slot of this thread in the overflow slice: whether the key there has this slice as its home.
uint find_overflow_keys() {
    uint found = 0;
    for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint key[KEY_WORDS];
        uint first, second;
        key_of(owner_of_slot(SLICE_SLOTS + k * THREADS + thread_id()), key);
        hash_key(key, first, second);
        if (reserved_index(key) == NOT_RESERVED && slice_of(first) == own_slice()) found |= 1u << k;
    }
    return found;
}

// `outside`: the keys of this slice in the overflow slice, as find_overflow_keys() returns them.
void close_gaps(uint outside) {
    bool is_done = false;
    for (uint round = 0; round < MOST_ROUNDS && !is_done; ++round) {
        // Keys that are there before the round, a bit each. Slots that keys leave are free in the next round.
        barrier();
        if (thread_id() == 0) sh_moved = 0;
        uint inside = 0;
        uint moved = 0;
        uint key[KEY_WORDS];
        for (uint k = 0; k < OWN_SLOTS; ++k) {
            if (sh_owners[place_of(k * THREADS + thread_id())] < ERASED) inside |= 1u << k;
        }
        barrier();
        for (; inside != 0; inside &= inside - 1) {
            uint at = place_of(own_slot(inside));
            slot_key(at, key);
            if (moves(key, sh_owners[at], at % COLUMN)) moved |= inside & (0 - inside);
        }
        bool has_moved = moved != 0;
        for (uint left = outside; left != 0; left &= left - 1) {
            uint owner = owner_of_slot(SLICE_SLOTS + own_slot(left));
            key_of(owner, key);
            if (moves(key, owner, NO_BUCKET)) {
                outside &= ~(left & (0 - left));
                has_moved = true;
                // Unlike the keys of the slice, it leaves no erased slot here.
                atomicAdd(sh_erased, 0xffffffffu);
            }
        }
        if (has_moved) atomicOr(sh_moved, 1u);
        barrier();
        for (; moved != 0; moved &= moved - 1) {
            uint at = place_of(own_slot(moved));
            sh_owners[at] = ERASED;
            sh_keys[at] = ERASED;
        }
        is_done = sh_moved == 0;
    }
    barrier();
    if (!is_done) return;
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) sh_filters[bucket] = 0;
    if (thread_id() == 0) sh_erased = 0;
    barrier();
    uint key[KEY_WORDS];
    for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint at = place_of(k * THREADS + thread_id());
        if (sh_owners[at] >= ERASED) continue;
        slot_key(at, key);
        add_to_filters(key, at % COLUMN);
    }
    for (; outside != 0; outside &= outside - 1) {
        key_of(owner_of_slot(SLICE_SLOTS + own_slot(outside)), key);
        add_to_filters(key, NO_BUCKET);
    }
    barrier();
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) close_bucket(bucket);
    barrier();
}
