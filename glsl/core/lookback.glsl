// Scan across tiles: computes the exclusive prefix of each tile, for BINS bins at once. The aggregate of a tile is its
// count of a bin; the exclusive prefix is the sum of the aggregates of all preceding tiles of the problem; the
// inclusive prefix also includes the tile itself. Each tile publishes its aggregates and, once known, its inclusive
// prefixes, in a descriptor for each bin.
//
// SCAN selects one of four methods:
// SCAN_LOOK_BACK: a tile adds the aggregates of its predecessors, back to the nearest inclusive prefix (Merrill and
// Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016).
// SCAN_CHAINED: a tile waits for the inclusive prefix of its predecessor (Yan, Long, Zhang, "StreamScan", 2013).
//   Both use one descriptor word for each tile and bin: two bits of state, 30 bits of count. Counts are taken modulo
//   2^30, which is exact for indices below 2^30. The meaning of the state bits alternates between passes
//   (state_parity): after a pass, every word holds an inclusive prefix, which the next pass reads as invalid. So one
//   clear serves all passes.
// SCAN_RING: look-back in a circular buffer of RING_ENTRIES tiles, for any number of tiles. (The fixed-size circular
// buffer of the radix sort in Orochi's parallel primitives.)
//   Descriptor: two words, each with two bits of state and 14 bits of tag. The tag is the lap: how often the ring has
//   been filled before, in all passes. An aggregate has 16 bits, in the first word. An inclusive prefix has 32 bits:
//   the lower half in the first word, the upper half in the second. A prefix with different tags in its two words is
//   invalid.
//   Reuse: a tile looks back at most RING_REACH tiles, and the last of these must have its inclusive prefix. So a
//   tile's entry may be reused after the RING_REACH tiles that follow have looked back.
//   Tail: the number of tiles that have looked back, in full groups of RING_GROUP. Tiles of a group increment its
//   counter in any order, without waiting. A tile that waits for the tail advances it over full groups. An entry that
//   is read too late has another tag and is invalid: a stale tail costs time, not correctness.
// SCAN_RING_IN_ORDER: as SCAN_RING, but the tail advances tile by tile, and each tile waits for its predecessor.
//
// Memory order: each descriptor word holds its state (and tag) together with its count. A reader needs no other memory
// of the writer, so relaxed atomics at device scope suffice.
//
// The kernel provides the position of its tile: LookBackSlot. A digit here is a bin.

layout(constant_id = SPEC_SPIN_LIMIT) const uint SPIN_LIMIT = 4096;
layout(constant_id = SPEC_SCAN) const uint SCAN = 0;
layout(constant_id = SPEC_RING_ENTRIES) const uint RING_ENTRIES = 1024;
layout(constant_id = SPEC_RING_REACH) const uint RING_REACH = 64;

const bool IN_RING = SCAN >= SCAN_RING;
// Tiles of a group, which share a counter.
const uint RING_GROUP = RING_ENTRIES > 2 * RING_GROUPS ? RING_ENTRIES / RING_GROUPS : 2;
// Groups that move_tail checks at a time.
const uint RING_AHEAD = 4;

const uint LOOK_BACK_INVALID = 0;
const uint LOOK_BACK_AGGREGATE = 1;
const uint LOOK_BACK_PREFIX = 2;
const uint LOOK_BACK_MASK = 0x3fffffffu;

// Descriptors that a thread reads at a time: their latencies overlap.
layout(constant_id = SPEC_WINDOW) const uint LOOK_BACK_WINDOW = 4;

// Position of a tile in the look-back state.
struct LookBackSlot {
    uint tile;          // index in its problem
    uint global_tile;   // index among the tiles of all problems
    uint state_parity;  // 0 or 1 << 31: XORed with the state bits, see above
    uint lap;           // laps of the ring before this pass
};

// The words of a descriptor, as loaded.
struct Descriptor {
    uint word;
    uint rest;  // ring only: the upper half of an inclusive prefix
};

// The meaning of a descriptor.
struct Decoded {
    uint state;
    uint count;
};

// Index of the first word of a descriptor in the ring. The second word follows.
uint ring_word(uint global_tile, uint digit) { return 2 * (global_tile % RING_ENTRIES * BINS + digit); }
uint ring_tag(uint lap, uint global_tile) { return (lap + global_tile / RING_ENTRIES + 1) << RING_TAG_SHIFT; }

// Loads the descriptor of the tile `back` tiles before this one. Does not decode: if several are loaded at a time, no
// branch separates the loads.
Descriptor load_descriptor(Words words, LookBackSlot slot, uint back, uint digit) {
    if (!IN_RING) return Descriptor(load_relaxed(words, (slot.tile - back) * LOOK_BACK_ROW + digit), 0);
    uint word = ring_word(slot.global_tile - back, digit);
    return Descriptor(load_relaxed(words, word), load_relaxed(words, word + 1));
}

// Decodes the descriptor of the tile `back` tiles before this one.
Decoded decode_descriptor(Descriptor seen, LookBackSlot slot, uint back) {
    Decoded known;
    if (!IN_RING) {
        known.state = (seen.word ^ slot.state_parity) >> 30;
        known.count = seen.word & LOOK_BACK_MASK;
        return known;
    }
    known.state = ((seen.word ^ ring_tag(slot.lap, slot.global_tile - back)) >> RING_TAG_SHIFT) == 0
        ? seen.word >> 16 & 3
        : LOOK_BACK_INVALID;
    known.count = seen.word & 0xffff;
    if (known.state == LOOK_BACK_PREFIX) {
        known.count |= seen.rest << 16;
        if ((seen.rest ^ seen.word) >> 16 != 0) known.state = LOOK_BACK_INVALID;
    }
    return known;
}

// Publishes the aggregate or the inclusive prefix of one bin of this tile.
void publish_digit(Words words, LookBackSlot slot, uint digit, uint count, uint state) {
    if (IN_RING) {
        uint head = ring_tag(slot.lap, slot.global_tile) | state << 16;
        uint word = ring_word(slot.global_tile, digit);
        // The upper half is stored first, so that a reader of the first word most likely finds it. (An aggregate has no
        // upper half. The second word is then not read.)
        store_relaxed(words, word + 1, head | count >> 16);
        store_relaxed(words, word, head | count & 0xffff);
    } else {
        store_relaxed(
            words, slot.tile * LOOK_BACK_ROW + digit, (state << 30 ^ slot.state_parity) | (count & LOOK_BACK_MASK)
        );
    }
}

// Publishes the aggregates or the inclusive prefixes of all bins.
void publish(Words words, LookBackSlot slot, uint counts[MAX_DIGITS], uint state) {
    for (uint j = 0; j < DIGITS; ++j) {
        if (digit_of_thread(j) < BINS) publish_digit(words, slot, digit_of_thread(j), counts[j], state);
    }
}

// Computes the exclusive prefix of one bin by one thread, which reads LOOK_BACK_WINDOW descriptors at a time. Returns
// false after SPIN_LIMIT polls.
bool look_back_digit(Words words, LookBackSlot slot, uint digit, out uint exclusive) {
    exclusive = 0;
    uint back = 1;  // distance of the next tile to add
    uint most = IN_RING ? min(slot.tile, RING_REACH) : slot.tile;
    for (uint poll = 0; poll < SPIN_LIMIT; ++poll) {
        Descriptor window[LOOK_BACK_WINDOW];
        [[unroll]] for (uint i = 0; i < LOOK_BACK_WINDOW; ++i) {
            window[i] = load_descriptor(words, slot, min(back + i, most), digit);
        }
        bool waiting = false;
        [[unroll]] for (uint i = 0; i < LOOK_BACK_WINDOW; ++i) {
            // Until a descriptor is invalid, window[i] belongs to the tile at distance `back`.
            Decoded known = decode_descriptor(window[i], slot, back);
            bool furthest = IN_RING && back >= most;
            waiting = waiting || known.state == LOOK_BACK_INVALID || furthest && known.state != LOOK_BACK_PREFIX;
            if (!waiting) {
                exclusive += known.count;
                back += 1;
                if (known.state == LOOK_BACK_PREFIX) return true;
            }
        }
    }
    return false;
}

// Number of neighboring lanes that look back for one bin, a tile each, if there are several threads for each bin.
#ifdef EMULATED
const uint LANES_PER_LOOK_BACK = 1;
#else
const uint LANES_PER_LOOK_BACK = SCAN != SCAN_LOOK_BACK || BINS > 4 ? 1 : BINS > 2 ? 16 : 32;
#endif
const bool COOPERATIVE_LOOK_BACK = LANES_PER_LOOK_BACK > 1;

uint lanes_per_look_back() { return min(LANES_PER_LOOK_BACK, lane_count()); }
// Returns the bin for which this lane looks back, together with its neighbors. It may be BINS or more: none.
uint look_back_bin() { return thread_id() / lanes_per_look_back(); }

#ifndef EMULATED
// Returns the ballot of the lanes that look back for the same bin. Bit 0 is the first of them.
uint look_back_ballot(uvec4 lanes) {
    uint first = lane_id() / lanes_per_look_back() * lanes_per_look_back();
    return lanes[first / 32] >> first % 32 & 0xffffffffu >> (32 - lanes_per_look_back());
}

// Returns the sum over the lanes that look back for the same bin.
uint look_back_sum(uint value) {
    uint sums = inclusive_add(value);
    uint first = lane_id() / lanes_per_look_back() * lanes_per_look_back();
    uint before = shuffle(sums, max(first, 1) - 1);
    return shuffle(sums, first + lanes_per_look_back() - 1) - (first == 0 ? 0 : before);
}

uint lowest_bit(uint bits) { return bits == 0 ? 32 : findLSB(bits); }

// Computes the exclusive prefix of one bin by several lanes, each of which reads the descriptor of another tile. All
// lanes of a subgroup call this together. The results are equal for all lanes of a bin. Returns false after SPIN_LIMIT
// polls.
bool look_back_cooperatively(Words words, LookBackSlot slot, uint bin, out uint exclusive) {
    uint own = lane_id() % lanes_per_look_back();
    bool found = bin >= BINS;
    exclusive = 0;
    uint back = 1;  // distance of the tile that the first of these lanes reads
    for (uint poll = 0; poll < SPIN_LIMIT; ++poll) {
        uint distance = min(back + own, slot.tile);
        Decoded known = decode_descriptor(load_descriptor(words, slot, distance, min(bin, BINS - 1)), slot, distance);
        // Adds the tiles up to the first inclusive prefix, or up to the first invalid one.
        uint prefix = lowest_bit(look_back_ballot(ballot(known.state == LOOK_BACK_PREFIX)));
        uint valid = min(lowest_bit(look_back_ballot(ballot(known.state == LOOK_BACK_INVALID))), lanes_per_look_back());
        uint taken = found ? 0 : min(prefix + 1, valid);
        exclusive += look_back_sum(own < taken ? known.count : 0);
        back += taken;
        found = found || prefix < valid;
        if (all_lanes(found)) break;
    }
    return found;
}
#endif

// Indices of the tail of a pass and of its group counters, in the words of the tickets.
struct Tail {
    uint word;
    uint groups;
};

uint ring_tail(Words words, Tail tail) { return load_relaxed(words, tail.word); }

// Returns the current tail. Advances it first over full groups, if it still equals `seen`.
uint move_tail(Words words, Tail tail, uint seen) {
    uint now = ring_tail(words, tail);
    if (SCAN != SCAN_RING) return now;
    uint looked_back[RING_AHEAD];
    uint first = seen / RING_GROUP;
    const uint groups = RING_ENTRIES / RING_GROUP;
    [[unroll]] for (uint i = 0; i < RING_AHEAD; ++i) {
        looked_back[i] = load_relaxed(words, tail.groups + (first + i) % groups);
    }
    [[unroll]] for (uint i = 0; i < RING_AHEAD; ++i) {
        if (seen == (first + i) * RING_GROUP && looked_back[i] >= ((first + i) / groups + 1) * RING_GROUP) {
            seen += RING_GROUP;
        }
    }
    if (seen > now) atomicMax(words.v[tail.word], seen, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    return max(seen, now);
}

// Waits until the tail is at least `needed`. The tail never decreases, so `seen`, an earlier value, mostly suffices.
// Returns false after SPIN_LIMIT polls.
bool wait_for_tail(Words words, Tail tail, uint seen, uint needed) {
    for (uint poll = 0; poll < SPIN_LIMIT && seen < needed; ++poll) seen = move_tail(words, tail, seen);
    return seen >= needed;
}

// Waits until the ring entry of this tile is free. One thread. Returns false after SPIN_LIMIT polls: then this tile
// does not write the entry, and its successors count for themselves.
bool wait_for_entry(Words words, Tail tail, uint seen, uint global_tile) {
    return global_tile < RING_ENTRIES || wait_for_tail(words, tail, seen, global_tile - RING_ENTRIES + RING_REACH + 1);
}

// Marks the tile as done with its look-back. One thread.
void release_entry(Words words, Tail tail, uint global_tile) {
    if (SCAN == SCAN_RING_IN_ORDER && !wait_for_tail(words, tail, 0, global_tile)) return;
    uint word = SCAN == SCAN_RING_IN_ORDER ? tail.word : tail.groups + global_tile % RING_ENTRIES / RING_GROUP;
    atomicAdd(words.v[word], 1, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}
