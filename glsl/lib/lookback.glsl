// What lies before a tile, for BINS counters at once: each tile publishes its counts and, once it knows what lies before it, its
// prefix, for the tiles after it.
//
// SCAN_LOOK_BACK: a tile adds up its predecessors' counts, back to the nearest prefix (Merrill and Garland, "Single-pass parallel
//   prefix scan with decoupled look-back", 2016).
// SCAN_CHAINED: a tile waits for the prefix of the one before it (Yan, Long, Zhang, "StreamScan", 2013).
//   Both keep a word for each tile and digit: two bits of state, 30 bits of count. Counts are taken modulo 2^30, which is exact for
//   every place below 2^30. The meaning of the state bits turns with every pass that sorts, and after a pass every word holds a prefix,
//   which the next reads as empty: so the words are cleared once for all passes.
// SCAN_RING: look-back whose words are a ring of RING_ENTRIES tiles, whatever the number of tiles. (The fixed-size circular buffer of the
//   radix sort in Orochi's parallel primitives.) A tile's own count has 16 bits and goes into one word, beside the same two bits of
//   state and 14 bits of tag: which lap of the ring, over all passes, has written it. A prefix has 32 bits, and its upper half the
//   next word, beside the same tag and state. Both are read together, and a prefix whose halves are not of the same lap is not there yet. A
//   tile looks back RING_REACH tiles at most, the last of which must have its prefix. So an entry may be written again once the tile
//   RING_REACH behind it has looked back, which the tail tells: the number of tiles that have, in whole groups of RING_GROUP. Within a
//   group tiles count themselves in any order and wait for nobody; who needs the tail further on moves it over groups that are whole.
//   Tags keep all this right whoever comes too late or too early: a tail that is wrong costs time.
// SCAN_RING_IN_ORDER: the tail moves tile by tile, each waiting for the one before it.
//
// The kernel says which tile of which pass it is: Place.

layout(constant_id = SPEC_SPIN_LIMIT) const uint SPIN_LIMIT = 4096;
layout(constant_id = SPEC_SCAN) const uint SCAN = 0;
layout(constant_id = SPEC_RING_ENTRIES) const uint RING_ENTRIES = 1024;
layout(constant_id = SPEC_RING_REACH) const uint RING_REACH = 64;

const bool IN_RING = SCAN >= SCAN_RING;
// Counters of a pass: of the groups that the ring holds, one lap upon the other.
const uint RING_GROUP = RING_ENTRIES > 2 * RING_GROUPS ? RING_ENTRIES / RING_GROUPS : 2;
// Groups that are looked at together.
const uint RING_AHEAD = 4;

const uint LOOK_BACK_EMPTY = 0;
const uint LOOK_BACK_COUNT = 1;
const uint LOOK_BACK_PREFIX = 2;
const uint LOOK_BACK_MASK = 0x3fffffffu;

// Words read in one turn: their latencies overlap.
layout(constant_id = SPEC_WINDOW) const uint LOOK_BACK_WINDOW = 4;

// A tile as its look-back words name it.
struct Place {
    uint tile;  // within its problem
    uint line;  // within the line of all problems' tiles
    uint turn;  // 0 or 1 << 31: what turns the state bits of words that are not cleared between passes
    uint lap;   // laps of the ring before this pass
};

// What lies there of a digit, and what that says.
struct Seen {
    uint word;
    uint rest;
};

struct Known {
    uint state;
    uint count;
};

// Side by side, so that the second is read from where the first was.
uint ring_word(uint line, uint digit) { return 2 * (line % RING_ENTRIES * BINS + digit); }
uint ring_tag(uint lap, uint line) { return (lap + line / RING_ENTRIES + 1) << RING_TAG_SHIFT; }

// Only loads: where several tiles are looked at, no branch lies between one's and the next's.
Seen look_at(Words words, Place place, uint back, uint digit) {
    if (!IN_RING) return Seen(load_relaxed(words, (place.tile - back) * LOOK_BACK_ROW + digit), 0);
    uint word = ring_word(place.line - back, digit);
    return Seen(load_relaxed(words, word), load_relaxed(words, word + 1));
}

Known known_of(Seen seen, Place place, uint back) {
    Known known;
    if (!IN_RING) {
        known.state = (seen.word ^ place.turn) >> 30;
        known.count = seen.word & LOOK_BACK_MASK;
        return known;
    }
    known.state = ((seen.word ^ ring_tag(place.lap, place.line - back)) >> RING_TAG_SHIFT) == 0 ? seen.word >> 16 & 3 : LOOK_BACK_EMPTY;
    known.count = seen.word & 0xffff;
    if (known.state == LOOK_BACK_PREFIX) {
        known.count |= seen.rest << 16;
        if ((seen.rest ^ seen.word) >> 16 != 0) known.state = LOOK_BACK_EMPTY;
    }
    return known;
}

void publish_digit(Words words, Place place, uint digit, uint count, uint state) {
    if (IN_RING) {
        uint head = ring_tag(place.lap, place.line) | state << 16;
        uint word = ring_word(place.line, digit);
        // Who reads the one is likely to find the other. (A tile's own count has no upper half; what is there then nobody asks for.)
        store_relaxed(words, word + 1, head | count >> 16);
        store_relaxed(words, word, head | count & 0xffff);
    } else {
        store_relaxed(words, place.tile * LOOK_BACK_ROW + digit, (state << 30 ^ place.turn) | (count & LOOK_BACK_MASK));
    }
}

void publish(Words words, Place place, uint counts[MAX_DIGITS], uint state) {
    for (uint j = 0; j < DIGITS; ++j) {
        if (digit_of_thread(j) < BINS) publish_digit(words, place, digit_of_thread(j), counts[j], state);
    }
}

// Sums one digit's counts from the tile before this one back to the first prefix. False when it has waited long enough.
bool look_back_digit(Words words, Place place, uint digit, out uint exclusive) {
    exclusive = 0;
    uint back = 1;  // the next to be read
    uint most = IN_RING ? min(place.tile, RING_REACH) : place.tile;
    for (uint turn = 0; turn < SPIN_LIMIT; ++turn) {
        Seen window[LOOK_BACK_WINDOW];
        [[unroll]] for (uint i = 0; i < LOOK_BACK_WINDOW; ++i) window[i] = look_at(words, place, min(back + i, most), digit);
        bool waiting = false;
        [[unroll]] for (uint i = 0; i < LOOK_BACK_WINDOW; ++i) {
            // Until something is missing, this is the tile `back` before.
            Known known = known_of(window[i], place, back);
            bool furthest = IN_RING && back >= most;
            waiting = waiting || known.state == LOOK_BACK_EMPTY || furthest && known.state != LOOK_BACK_PREFIX;
            if (!waiting) {
                exclusive += known.count;
                back += 1;
                if (known.state == LOOK_BACK_PREFIX) return true;
            }
        }
    }
    return false;
}

// Where there are several threads for each bin, so many neighbouring lanes look at a tile each.
#ifdef EMULATED
const uint LOOKERS = 1;
#else
const uint LOOKERS = SCAN != SCAN_LOOK_BACK || BINS > 4 ? 1 : BINS > 2 ? 16 : 32;
#endif
const bool LOOKS_TOGETHER = LOOKERS > 1;

uint lookers() { return min(LOOKERS, lane_count()); }
// That this lane looks back for, with its neighbours: no fewer than there are bins in all.
uint bin_of_looker() { return thread_id() / lookers(); }

#ifndef EMULATED
// Those of the neighbours who look back for the same bin, the lowest bit for the first.
uint of_lookers(uvec4 lanes) {
    uint first = lane_id() / lookers() * lookers();
    return lanes[first / 32] >> first % 32 & 0xffffffffu >> (32 - lookers());
}

uint sum_of_lookers(uint value) {
    uint sums = inclusive_add(value);
    uint first = lane_id() / lookers() * lookers();
    uint before = shuffle(sums, max(first, 1) - 1);
    return shuffle(sums, first + lookers() - 1) - (first == 0 ? 0 : before);
}

uint lowest_bit(uint bits) { return bits == 0 ? 32 : findLSB(bits); }

// As look_back_digit, by all lanes of a subgroup, for a bin that there is or for none. The same for all who look back for one.
bool look_back_together(Words words, Place place, uint bin, out uint exclusive) {
    uint mine = lane_id() % lookers();
    bool found = bin >= BINS;
    exclusive = 0;
    uint back = 1;  // what the first of them looks at
    for (uint turn = 0; turn < SPIN_LIMIT; ++turn) {
        uint at = min(back + mine, place.tile);
        Known known = known_of(look_at(words, place, at, min(bin, BINS - 1)), place, at);
        // Up to the first prefix, where nothing is missing before it.
        uint prefix = lowest_bit(of_lookers(ballot(known.state == LOOK_BACK_PREFIX)));
        uint there = min(lowest_bit(of_lookers(ballot(known.state == LOOK_BACK_EMPTY))), lookers());
        uint taken = found ? 0 : min(prefix + 1, there);
        exclusive += sum_of_lookers(mine < taken ? known.count : 0);
        back += taken;
        found = found || prefix < there;
        if (all_lanes(found)) break;
    }
    return found;
}
#endif

// Where a pass's tail lies, and behind it the counters of groups.
struct Tail {
    uint word;
    uint groups;
};

uint ring_tail(Words words, Tail tail) { return load_relaxed(words, tail.word); }

// The tail as it is now; moved, where it is still where it has been seen, over groups of which every tile has looked back.
uint move_tail(Words words, Tail tail, uint seen) {
    uint now = ring_tail(words, tail);
    if (SCAN != SCAN_RING) return now;
    uint looked_back[RING_AHEAD];
    uint first = seen / RING_GROUP;
    const uint groups = RING_ENTRIES / RING_GROUP;
    [[unroll]] for (uint i = 0; i < RING_AHEAD; ++i) looked_back[i] = load_relaxed(words, tail.groups + (first + i) % groups);
    [[unroll]] for (uint i = 0; i < RING_AHEAD; ++i) {
        if (seen == (first + i) * RING_GROUP && looked_back[i] >= ((first + i) / groups + 1) * RING_GROUP) seen += RING_GROUP;
    }
    if (seen > now) atomicMax(words.v[tail.word], seen, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    return max(seen, now);
}

// Waits until the tail is at least so far. It never goes back: what has been `seen` of it some time ago, while there was other work to
// do, is mostly enough. False when it has waited long enough.
bool wait_for_tail(Words words, Tail tail, uint seen, uint needed) {
    for (uint turn = 0; turn < SPIN_LIMIT && seen < needed; ++turn) seen = move_tail(words, tail, seen);
    return seen >= needed;
}

// Waits until the entry of the tile that had it a lap ago is needed by nobody. One thread. False where it has not been: then the entry is
// not this tile's to write, and those after it will count for themselves.
bool wait_for_entry(Words words, Tail tail, uint seen, uint line) {
    return line < RING_ENTRIES || wait_for_tail(words, tail, seen, line - RING_ENTRIES + RING_REACH + 1);
}

// Tells that this tile has looked back. One thread.
void release_entry(Words words, Tail tail, uint line) {
    if (SCAN == SCAN_RING_IN_ORDER && !wait_for_tail(words, tail, 0, line)) return;
    uint word = SCAN == SCAN_RING_IN_ORDER ? tail.word : tail.groups + line % RING_ENTRIES / RING_GROUP;
    atomicAdd(words.v[word], 1, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}
