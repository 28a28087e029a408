// Closes the gaps that erased keys leave in a slice: keys move to earlier buckets of their paths, until no key has passed
// an erased slot. Then erased slots become empty ones, and filters have no bits of keys that are gone. So a table keeps
// its speed, however often its keys change.
//
// Only for slices that all their keys are in: a key in the overflow slice needs full buckets on its path.

// Most rounds. Each one moves every key that can move. Erased slots stay where they are if more would be necessary.
const uint MOST_ROUNDS = 16;

shared uint sh_moved;

// Moves a key to an erased slot of an earlier bucket. Returns whether there was one.
bool moves(uint at) {
    uint key[KEY_WORDS];
    uint first, second;
    slot_key(at, key, first, second);
    Probe probe = own_probe(first, second);
    for (uint k = 0; k < MOST_PROBES && probe.bucket != at % COLUMN; ++k) {
        [[unroll]] for (uint s = 0; s < SLOTS; ++s) {
            uint target = s * COLUMN + probe.bucket;
            if (shared_owner(target) != ERASED) continue;
            if (atomicCompSwap(sh_owners[target], ERASED, sh_owners[at]) == ERASED) {
                set_shared_key(target, sh_keys[at]);
                return true;
            }
        }
        advance_probe(probe);
    }
    return false;
}

// Sets the bits of a key in the filters of the buckets before its own.
void add_to_filters(uint at) {
    uint key[KEY_WORDS];
    uint first, second;
    slot_key(at, key, first, second);
    Probe probe = own_probe(first, second);
    for (uint k = 0; k < MOST_PROBES && probe.bucket != at % COLUMN; ++k) {
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

void close_gaps() {
    bool is_done = false;
    for (uint round = 0; round < MOST_ROUNDS && !is_done; ++round) {
        // Keys that are there before the round, a bit each. Slots that keys leave are free in the next round.
        barrier();
        if (thread_id() == 0) sh_moved = 0;
        uint present = 0;
        uint moved = 0;
        for (uint k = 0; k < OWN_SLOTS; ++k) {
            if (sh_owners[place_of(k * THREADS + thread_id())] < ERASED) present |= 1u << k;
        }
        barrier();
        for (uint left = present; left != 0; left &= left - 1) {
            if (moves(place_of(findLSB(left) * THREADS + thread_id()))) moved |= left & (0 - left);
        }
        if (moved != 0) atomicOr(sh_moved, 1u);
        barrier();
        for (; moved != 0; moved &= moved - 1) {
            uint at = place_of(findLSB(moved) * THREADS + thread_id());
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
    for (uint k = 0; k < OWN_SLOTS; ++k) {
        uint at = place_of(k * THREADS + thread_id());
        if (sh_owners[at] < ERASED) add_to_filters(at);
    }
    barrier();
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) close_bucket(bucket);
    barrier();
}
