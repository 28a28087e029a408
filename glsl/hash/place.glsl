// Inserts the items of a batch into a slice in shared memory.
//
// 1. Each item takes the next slot of the first bucket of its path, by an atomic addition and without a comparison of
//    keys. Items without a slot there wait in a list.
// 2. One thread for each bucket removes equal keys from it.
// 3. A waiting item is done if the slice has its key. Of waiting items with equal keys, one goes on.
// 4. It takes a slot that equal keys have left in the first bucket of its path, or a slot of the second one.
// 5. Otherwise a key of one of these two buckets moves to the other one of its own first two buckets, if that has room
//    (cuckoo hashing), and the item takes its slot.
// 6. Otherwise, if buckets are small, a key moves to the slot of another key, which moves to the other one of its own
//    first two buckets. A slice does so if more than MOST_UNPLACED items are left, or if keys of it may lie in its
//    overflow slice.
// 7. Otherwise the overflow slice receives the item: there it takes a slot of the rest of its path.
//
// The slice has no erased slots meanwhile, and no key lies behind a bucket of its path that has room.

// Instead of the position of a waiting item: it is done.
const uint DONE = 0xffffffffu;
// Bits of the position of a waiting item, one of them at most: another one with the same key goes on; only the overflow
// slice may have the key.
const uint IS_REPEATED = 1u << 31;
const uint IS_SPILLED = 1u << 30;
const uint POSITION_MASK = IS_SPILLED - 1;
// Hashes of waiting items that are loaded at a time: a divisor of MOST_WAITING.
const uint WAITING_STEP = 4;
// Whether two keys move for an item if one does not suffice. Without that, slices of small buckets may spill more keys
// at a load of .95 than an overflow slice has slots for.
const bool CHAINS = SLOTS == LEAST_BUCKET_SLOTS;
// Items without a place up to which a slice does without chains: a quarter of its share of an overflow slice.
const uint MOST_UNPLACED = 8;

// Number of waiting items. It may exceed the length of the list.
shared uint sh_waiting;
shared uint sh_positions[MOST_WAITING];
// Their first hashes, and the second ones of keys of several words. See kept_owner(), too.
shared uint sh_hashes[MOST_WAITING];
shared uint sh_tags[ONE_WORD && !CHAINS ? 1 : MOST_WAITING];
// The items of steps 5 to 7, from the lowest bit on: the index in the list (8 bits), whether the item has a place (1),
// which slot of its first two buckets that is (5), the slot of the second key that moves, plus 1, or 0 (3), and the
// place in shared memory that the last key moves to (11).
const uint ITEM_MASK = 0xff;
const uint HAS_PLACE = 1u << 8;
const uint SLOT_SHIFT = 9;
const uint SLOT_MASK = 2 * SLOTS - 1;
const uint CHAIN_SHIFT = 14;
const uint CHAIN_MASK = 7;
const uint TARGET_SHIFT = 17;
shared uint sh_left_items[MOST_WAITING];
shared uint sh_left;
// How many of them have no place after step 5.
shared uint sh_unplaced;
// Whether some item of the list is not done yet.
shared uint sh_has_rest;

uint shared_position(uint item) {
    return atomicLoad(sh_positions[item], gl_ScopeWorkgroup, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// The key, the second hash and the tag of a waiting item.
void waiting_key(uint item, uint position, out uint key[KEY_WORDS], out uint second, out uint tag) {
    uint first = sh_hashes[item];
    if (HASH_IS_KEY) unhash_key(first, ONE_WORD ? 0 : sh_tags[item], key);
    else key_at(position & POSITION_MASK, key);
    if (ONE_WORD) hash_key(key, first, second);
    else second = sh_tags[item];
    tag = tag_of(key, second);
}

// The path and the tag of a waiting item.
Probe waiting_probe(uint item, out uint tag) {
    uint first = sh_hashes[item];
    uint key[KEY_WORDS];
    uint second = ONE_WORD ? 0 : sh_tags[item];
    if (ONE_WORD) {
        unhash_key(first, 0, key);
        hash_key(key, first, second);
    }
    tag = ONE_WORD ? key[0] : second;
    return own_probe(first, second);
}

bool has_room(uint bucket) { return shared_bucket(bucket) < SLOTS * ONE_SLOT; }

// Takes the next slot of a bucket. Returns its place in shared memory, or NO_SLOT.
uint take_slot(uint bucket) {
    uint slot = atomicAdd(sh_buckets[bucket], ONE_SLOT) >> COUNT_SHIFT;
    return slot < SLOTS ? slot * COLUMN + bucket : NO_SLOT;
}

// Adds an item to the list. Returns false if it is full.
bool add_waiting(uint position, uint first, uint second) {
    uint item = atomicAdd(sh_waiting, 1u);
    if (item >= MOST_WAITING) return false;
    sh_positions[item] = position;
    sh_hashes[item] = first;
    if (!ONE_WORD) sh_tags[item] = second;
    return true;
}

// Takes a slot for an item, or adds it to the list. Returns false if neither has room.
bool place_or_wait(uint position, uint first, uint second, uint tag) {
    uint at = take_slot(own_probe(first, second).bucket);
    if (at == NO_SLOT) return add_waiting(position, first, second);
    fill_slot(at, owner_of_item(position), first, tag);
    return true;
}

// Whether two slots have equal keys.
bool have_equal_keys(uint a, uint b) {
    if (sh_keys[a] != sh_keys[b] || !ONE_WORD && sh_firsts[a] != sh_firsts[b]) return false;
    if (HASH_IS_KEY) return true;
    uint keys[2][KEY_WORDS];
    slot_key(a, keys[0]);
    slot_key(b, keys[1]);
    return keys_equal(keys[0], keys[1]);
}

// Removes equal keys of a bucket one after the other: the smallest owner of each key stays.
void remove_from_bucket(uint bucket, uint count) {
    uint end = bucket;
    for (uint s = 0; s < count; ++s) {
        uint at = s * COLUMN + bucket;
        uint owner = sh_owners[at];
        uint same = bucket;
        while (same != end && !have_equal_keys(same, at)) same += COLUMN;
        if (same != end) {
            sh_owners[same] = min(sh_owners[same], owner);
        } else {
            if (end != at) fill_slot(end, owner, ONE_WORD ? 0 : sh_firsts[at], sh_keys[at]);
            end += COLUMN;
        }
    }
    for (uint at = end; at < SLOTS * COLUMN; at += COLUMN) free_slot(at, EMPTY);
    atomicAdd(sh_buckets[bucket], ((end - bucket) / COLUMN - count) * ONE_SLOT);
}

// Removes equal keys of all buckets, and corrects the numbers of slots of full ones.
void remove_equal_keys() {
    for (uint bucket = thread_id(); bucket < BUCKETS; bucket += THREADS) {
        uint word = sh_buckets[bucket];
        uint count = min(word >> COUNT_SHIFT, SLOTS);
        sh_buckets[bucket] = word & (ONE_SLOT - 1) | count << COUNT_SHIFT;
        uint tags[SLOTS];
        bool repeats = false;
        [[unroll]] for (uint s = 0; s < SLOTS; ++s) {
            tags[s] = sh_keys[s * COLUMN + bucket];
            bool is_equal = false;
            [[unroll]] for (uint t = 0; t < s; ++t) is_equal = is_equal || tags[t] == tags[s];
            repeats = repeats || is_equal && s < count;
        }
        if (repeats) remove_from_bucket(bucket, count);
    }
}

// Ends the wait of an item with a key that the slice has.
void find_waiting(uint item, bool overflows) {
    uint key[KEY_WORDS];
    uint second, tag;
    uint position = sh_positions[item];
    waiting_key(item, position, key, second, tag);
    bool is_bounded;
    uint at = find_slot(key, tag, sh_hashes[item], own_probe(sh_hashes[item], second), is_bounded);
    if (at != NO_SLOT) {
        atomicMin(sh_owners[at], owner_of_item(position & POSITION_MASK));
        sh_positions[item] = DONE;
    } else if (overflows && !is_bounded && position < IS_SPILLED) {
        sh_positions[item] = position | IS_SPILLED;
    }
}

// Whether another waiting item with the same first hash has the same key.
bool have_same_key(uint item, uint other) {
    if (ONE_WORD) return true;
    if (sh_tags[item] != sh_tags[other]) return false;
    if (HASH_IS_KEY) return true;
    // The slice has the key of an item that is done. It does not have that of `item`, so they differ.
    uint position = shared_position(other);
    if (position == DONE) return false;
    uint keys[2][KEY_WORDS];
    key_at(shared_position(item) & POSITION_MASK, keys[0]);
    key_at(position & POSITION_MASK, keys[1]);
    return keys_equal(keys[0], keys[1]);
}

// Whether an item of the list has this key, which has these hashes. Without `continue` and `return` in the loop: see
// docs/portability.md.
bool is_waiting(uint key[KEY_WORDS], uint first, uint second) {
    bool is_there = false;
    for (uint item = 0; item < sh_waiting && !is_there; ++item) {
        bool is_same = sh_hashes[item] == first && (ONE_WORD || sh_tags[item] == second);
        if (is_same && !HASH_IS_KEY) {
            uint other[KEY_WORDS];
            key_at(sh_positions[item], other);
            is_same = keys_equal(other, key);
        }
        is_there = is_same;
    }
    return is_there;
}

// Whether an earlier item of the list has the same key. Several hashes are loaded at a time.
bool is_repeated(uint item) {
    for (uint begin = 0; begin < item; begin += WAITING_STEP) {
        uint equal = 0;
        [[unroll]] for (uint k = 0; k < WAITING_STEP; ++k) {
            if (sh_hashes[begin + k] == sh_hashes[item]) equal |= 1u << k;
        }
        for (; equal != 0; equal &= equal - 1) {
            uint other = begin + findLSB(equal);
            if (other < item && have_same_key(item, other)) return true;
        }
    }
    return false;
}

// Takes a slot of one of the first two buckets of an item's path.
bool place_near(uint item) {
    uint tag;
    Probe probe = waiting_probe(item, tag);
    uint at = NO_SLOT;
    if (has_room(probe.bucket)) at = take_slot(probe.bucket);
    if (at == NO_SLOT) {
        uint bucket = probe.bucket;
        uint filter_bit = probe.filter_bit;
        advance_probe(probe);
        if (has_room(probe.bucket)) at = take_slot(probe.bucket);
        if (at == NO_SLOT) return false;
        atomicOr(sh_buckets[bucket], 1u << filter_bit);
    }
    fill_slot(at, owner_of_item(sh_positions[item]), sh_hashes[item], tag);
    return true;
}

// The path of the key of a slot; any path if the slot has none.
Probe slot_probe(uint at) {
    uint first, second;
    slot_hashes(at, first, second);
    return own_probe(first, second);
}

// The other one of the first two buckets of the key of a slot; the first one if the key lies behind both.
uint other_bucket(uint at) {
    Probe probe = slot_probe(at);
    uint bucket = probe.bucket;
    advance_probe(probe);
    return bucket == at % COLUMN ? probe.bucket : bucket;
}

// The place in shared memory of a slot of the first two buckets of a path.
uint slot_place(Probe probe, uint slot) {
    if (slot >= SLOTS) advance_probe(probe);
    return slot % SLOTS * COLUMN + probe.bucket;
}

// Plans to place a waiting item in a slot of its first two buckets, which is `from` in shared memory: the key there
// will move to its other bucket. Returns whether it has planned this. No key moves until move_and_place(). Until then
// the owner of such a slot is EMPTY, and sh_keys of the slot that the key moves to has the owner.
bool plan_move(uint left_item, uint slot, uint from) {
    uint owner = shared_owner(from);
    uint other = other_bucket(from);
    if (owner == EMPTY || !has_room(other)) return false;
    if (atomicCompSwap(sh_owners[from], owner, EMPTY) != owner) return false;
    uint target = take_slot(other);
    if (target == NO_SLOT) {
        atomicExchange(sh_owners[from], owner);
        return false;
    }
    set_shared_key(target, owner);
    sh_left_items[left_item] |= HAS_PLACE | slot << SLOT_SHIFT | target << TARGET_SHIFT;
    return true;
}

// Plans a move for an item that is left. Returns whether it has a place.
bool plan_any_move(uint left_item) {
    uint tag;
    Probe probe = waiting_probe(sh_left_items[left_item], tag);
    bool has_place = false;
    // Without slot_place(): the branch there costs an insertion up to 5 % of its speed.
    for (uint slot = 0; slot < 2 * SLOTS && !has_place; ++slot) {
        if (slot == SLOTS) advance_probe(probe);
        has_place = plan_move(left_item, slot, slot % SLOTS * COLUMN + probe.bucket);
    }
    return has_place;
}

// The owner of the first key of a chain, until it moves: in a word that is not used otherwise. `target`: the place that
// the second key moves to.
void keep_owner(uint item, uint target, uint owner) {
    if (ONE_WORD) sh_tags[item] = owner;
    else set_shared_first(target, owner);
}
uint kept_owner(uint item, uint target) { return ONE_WORD ? sh_tags[item] : sh_firsts[target]; }

// As plan_move(), if the other bucket of the key is full: the key will move to the slot of a second key, which will
// move to its own other bucket. Several threads plan for one item: the one that sets HAS_PLACE goes on.
void plan_chain(uint left_item, Probe probe, uint slot) {
    uint from = slot_place(probe, slot);
    uint owner = shared_owner(from);
    uint middle = other_bucket(from);
    if (owner == EMPTY || has_room(middle)) return;
    [[dont_unroll]] for (uint s = 0; s < SLOTS; ++s) {
        uint second = s * COLUMN + middle;
        uint second_owner = shared_owner(second);
        uint other = other_bucket(second);
        if (second_owner == EMPTY || !has_room(other)) continue;
        uint word = atomicOr(sh_left_items[left_item], HAS_PLACE);
        if ((word & HAS_PLACE) != 0) continue;
        bool has_first = atomicCompSwap(sh_owners[from], owner, EMPTY) == owner;
        bool has_both = has_first && atomicCompSwap(sh_owners[second], second_owner, EMPTY) == second_owner;
        uint target = has_both ? take_slot(other) : NO_SLOT;
        if (target != NO_SLOT) {
            set_shared_key(target, second_owner);
            keep_owner(word & ITEM_MASK, target, owner);
            uint chain = slot << SLOT_SHIFT | s + 1 << CHAIN_SHIFT | target << TARGET_SHIFT;
            atomicOr(sh_left_items[left_item], chain);
            return;
        }
        if (has_both) atomicExchange(sh_owners[second], second_owner);
        if (has_first) atomicExchange(sh_owners[from], owner);
        atomicAnd(sh_left_items[left_item], ~HAS_PLACE);
    }
}

// Plans chains for the items that have no place: one thread for each slot of their first two buckets.
void plan_chains() {
    for (uint task = thread_id(); task < sh_left * (2 * SLOTS); task += THREADS) {
        uint left_item = task / (2 * SLOTS);
        uint word = atomicOr(sh_left_items[left_item], 0u);
        if ((word & HAS_PLACE) != 0) continue;
        uint tag;
        Probe probe = waiting_probe(word & ITEM_MASK, tag);
        plan_chain(left_item, probe, task % (2 * SLOTS));
    }
}

// Moves the key of a slot to another slot.
void move_key(uint from, uint to, uint owner) {
    Probe probe = slot_probe(from);
    if (probe.bucket == from % COLUMN) atomicOr(sh_buckets[probe.bucket], 1u << probe.filter_bit);
    fill_slot(to, owner, ONE_WORD ? 0 : sh_firsts[from], sh_keys[from]);
}

// Moves one or two keys as planned, and places the item.
void move_and_place(uint word) {
    uint item = word & ITEM_MASK;
    uint tag;
    Probe probe = waiting_probe(item, tag);
    uint slot = word >> SLOT_SHIFT & SLOT_MASK;
    uint from = slot_place(probe, slot);
    uint to = word >> TARGET_SHIFT;
    uint owner = sh_keys[to];
    uint chain = CHAINS ? word >> CHAIN_SHIFT & CHAIN_MASK : 0;
    if (chain != 0) {
        uint second = (chain - 1) * COLUMN + other_bucket(from);
        uint first_owner = kept_owner(item, to);
        move_key(second, to, owner);
        to = second;
        owner = first_owner;
    }
    move_key(from, to, owner);
    if (slot >= SLOTS) atomicOr(sh_buckets[probe.bucket], 1u << probe.filter_bit);
    fill_slot(from, owner_of_item(sh_positions[item]), sh_hashes[item], tag);
}

// Takes a slot behind the second bucket of an item's path, which home slices do not have. Sets the item's bit in the
// filters of the buckets that it passes, all of them if it finds no slot.
bool place_far(uint item) {
    uint tag;
    Probe probe = waiting_probe(item, tag);
    uint at = NO_SLOT;
    for (uint k = 0; k < OWN_PROBES && at == NO_SLOT; ++k) {
        if (k > 1 && has_room(probe.bucket)) at = take_slot(probe.bucket);
        if (at == NO_SLOT) atomicOr(sh_buckets[probe.bucket], 1u << probe.filter_bit);
        advance_probe(probe);
    }
    if (at != NO_SLOT) fill_slot(at, owner_of_item(sh_positions[item]), sh_hashes[item], tag);
    return at != NO_SLOT;
}

// Places the items that are left, as far as there is room. `overflows`: the overflow slice may have keys of this slice.
void place_left(bool overflows) {
    for (uint k = thread_id(); k < sh_left; k += THREADS) {
        if (!plan_any_move(k)) atomicAdd(sh_unplaced, 1u);
    }
    barrier();
    if (CHAINS && sh_unplaced > (overflows ? 0 : MOST_UNPLACED)) {
        plan_chains();
        barrier();
    }
    for (uint k = thread_id(); k < sh_left; k += THREADS) {
        uint word = sh_left_items[k];
        uint item = word & ITEM_MASK;
        bool is_placed = true;
        if ((word & HAS_PLACE) != 0) move_and_place(word);
        else is_placed = place_far(item);
        if (is_placed) sh_positions[item] = DONE;
        else sh_has_rest = 1;
    }
    barrier();
}

// Places all waiting items, or spills them. The list is empty then. Barrier before: after the last place_or_wait().
void place_waiting(bool overflows) {
    if (thread_id() == 0) {
        sh_left = 0;
        sh_unplaced = 0;
        sh_has_rest = 0;
    }
    remove_equal_keys();
    barrier();
    uint count = min(sh_waiting, MOST_WAITING);
    if (count == 0) return;
    // A key that has been spilled before may be in the overflow slice.
    bool only_there = overflows || has_spilled();
    for (uint item = thread_id(); item < count; item += THREADS) {
        find_waiting(item, only_there);
        if (sh_positions[item] == DONE) continue;
        if (sh_positions[item] < IS_SPILLED && is_repeated(item)) atomicOr(sh_positions[item], IS_REPEATED);
        if (sh_positions[item] >= IS_SPILLED) sh_has_rest = 1;
    }
    barrier();
    if (thread_id() == 0) sh_waiting = 0;
    for (uint item = thread_id(); item < count; item += THREADS) {
        if (sh_positions[item] >= IS_SPILLED) continue;
        if (place_near(item)) sh_positions[item] = DONE;
        else sh_left_items[atomicAdd(sh_left, 1u)] = item;
    }
    barrier();
    if (sh_left != 0) place_left(only_there);
    if (sh_has_rest == 0) return;
    // The keys of repeated items are there now, or are spilled, too.
    for (uint item = thread_id(); item < count; item += THREADS) {
        uint position = sh_positions[item];
        if (position == DONE) continue;
        if ((position & IS_REPEATED) != 0) find_waiting(item, only_there);
        if (sh_positions[item] != DONE) spill(position & POSITION_MASK);
    }
    barrier();
}
