// A part that one workgroup orders without looking at digits, where its keys are spread well enough: as many buckets as a tile has items share
// the range of the keys evenly, so that few keys fall into each. (Address calculation sorting: Isaac and Singleton, 1956; Knuth, "The Art of
// Computer Programming" 3, 5.2.1.) Where too many fall into one, but no more than a part of all, each bucket's range is shared out again,
// among as many buckets as it has items: so keys may lie in a few places far apart, as floats of both signs do.
//
// An item takes whichever place of its bucket is free and then counts those of its bucket that belong before it, equal ones by the places
// they came from. So the order is stable, no matter who comes first. Keys are told apart by their topmost word in which they differ, and as
// many bits of the word below as that leaves room for; where two are the same in that, the words below are looked up.
//
// Where a bucket has more items than MOST_IN_BUCKET after all, nothing is moved: then keys are sorted by digits, and the time until it shows,
// about that of one digit for each attempt, is lost.

// Of a bucket. The work of a subgroup is that of its fullest bucket.
const uint MOST_IN_BUCKET = 16;
// A bucket with a larger share of all keys than one in so many is not likely to come apart.
const uint CROWD_SHARE = 4;
const bool BRINGS_VALUE = KEY_WORDS == 1 && VALUE_WORDS == 1;
// Equal keys of all bits and nothing else show no order.
const bool SHOWS_ORDER = ITEM_WORDS > 1 || BEGIN_BIT != 0 || END_BIT != KEY_BITS;

shared uint sh_least;
shared uint sh_most;
// Of the fullest bucket, its items, where they are too many.
shared uint sh_crowd;

// Of neighbouring buckets that one thread adds up, each has a place in another row: lanes find them in different banks. (There are as many as
// items: ITEMS a thread.)
uint bucket_word(uint bucket) { return bucket % ITEMS * THREADS + bucket / ITEMS; }

// For pads.
const uint NO_BUCKET = TILE;

// From the least key to the most.
struct Range {
    uint least;
    uint width;
    uint shift;    // takes the range's topmost bit to bit 31
    uint stretch;  // and what is beyond it: the share of itself, as a part of 2^32, that takes it up to 2^32 and no further
};

Range range_of(uint least, uint most) {
    Range range;
    range.least = least;
    range.width = most - least;
    range.shift = 31 - findMSB(range.width);
    uint shifted = range.width << range.shift;
    // Less by a part in 2^20, which is more than what rounding adds.
    range.stretch = uint(float(~shifted) / float(shifted) * 4294963200.0);
    return range;
}

// Where in its range a key lies, as a part of 2^32. Whole numbers: it rises with the key, and tells all keys apart.
uint part_of_range(uint key, Range range) {
    uint high, low;
    uint part = key - range.least << range.shift;
    umulExtended(part, range.stretch, high, low);
    return part + high;
}

// Barrier before: sh_least and sh_most are beyond every key. Barrier after.
void find_range(Part part, uint keys[ITEMS], uint bits) {
    uint least = 0xffffffffu;
    uint most = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        least = min(least, keys[k] & bits);
        most = max(most, keys[k] & bits);
    }
    atomicMin(sh_least, least);
    atomicMax(sh_most, most);
}

// The topmost of the words that are compared in which keys differ, or the lowest of all, and that word of each key.
uint load_telling_word(Part part, PassIo io, uint positions[ITEMS], out uint keys[ITEMS]) {
    uint w = COMPARED_WORDS;
    do {
        w -= 1;
        if (w + 1 < COMPARED_WORDS) barrier();
        if (thread_id() == 0) {
            sh_least = 0xffffffffu;
            sh_most = 0;
        }
        load_key_words(part, io, FIRST_WORD + w, positions, keys);
        barrier();
        find_range(part, keys, sorted_bits(w));
        barrier();
    } while (w > 0 && sh_least == sh_most);
    return w;
}

// Barrier after.
void clear_buckets() {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_counts[k * THREADS + thread_id()] = 0;
    if (thread_id() == 0) sh_crowd = 0;
}

// From counts to where each bucket begins, below, and its count, above. Barriers before and after.
void place_buckets() {
    uint counts[ITEMS];
    uint sum = 0;
    [[unroll]] for (uint i = 0; i < ITEMS; ++i) {
        counts[i] = sh_counts[i * THREADS + thread_id()];
        sum += counts[i];
    }
    uint all;
    uint first = scan_threads(sum, all);
    [[unroll]] for (uint i = 0; i < ITEMS; ++i) {
        sh_counts[i * THREADS + thread_id()] = counts[i] << 16 | first;
        first += counts[i];
    }
}

uint first_of(uint bounds) { return bounds & 0xffff; }
uint count_of(uint bounds) { return bounds >> 16; }

// In its bucket, the place of the `j`th item but the one that has `place`.
uint mate_of(uint bounds, uint position, uint j) {
    uint mate = first_of(bounds) + j;
    return mate + uint(mate >= position);
}

// Of two items whose keys are the same in word w and above, whether the one that came from `mate` belongs before the one from `own`.
bool comes_before(Part part, PassIo io, uint w, uint mate, uint own) {
    while (w-- > 0) {
        uint mate_word = load_key_word(part, io, FIRST_WORD + w, mate) & sorted_bits(w);
        uint own_word = load_key_word(part, io, FIRST_WORD + w, own) & sorted_bits(w);
        if (mate_word != own_word) return mate_word < own_word;
    }
    return mate < own;
}

// Below the bits in which word w differs, the topmost of the word below, as many as there is room for.
void fill_up(Part part, PassIo io, uint w, inout Range range, uint positions[ITEMS], inout uint keys[ITEMS]) {
    uint bits = sorted_bits(w);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        uint below = load_key_word(part, io, FIRST_WORD + w - 1, positions[k]) & sorted_bits(w - 1);
        keys[k] = (keys[k] & bits) - range.least << range.shift | below >> 32 - range.shift;
    }
    range = range_of(0, range.width << range.shift | (1u << range.shift) - 1);
}

// A bucket for each item: of its bucket so far, that part in which its key lies. And whichever place there is free. Barrier after: before
// sh_crowd is read.
void take_places(
    Part part, Range range, uint bits, bool again, uint keys[ITEMS], uint bounds[ITEMS], out uint buckets[ITEMS], out uint positions[ITEMS]
) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint high, low;
        uint part_of_bucket = part_of_range(keys[k] & bits, range) * (again ? TILE : 1);
        umulExtended(part_of_bucket, count_of(bounds[k]), high, low);
        buckets[k] = striped(k) < part.items ? bucket_word(first_of(bounds[k]) + high) : NO_BUCKET;
        positions[k] = atomicAdd(sh_counts[buckets[k]], 1);
    }
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (buckets[k] != NO_BUCKET && positions[k] >= MOST_IN_BUCKET) atomicMax(sh_crowd, positions[k] + 1);
    }
}

// Orders keys of which word w lies from `least` to `most`, and what they carry. False where it has done nothing.
bool spread_keys(Part part, PassIo io, uint w, uint least, uint most, inout uint keys[ITEMS], inout uint carried[ITEMS]) {
    // 1. A place in its bucket for each.
    Range range = range_of(least, most);
    uint bits = sorted_bits(w);
    if (w > 0 && range.shift != 0) {
        fill_up(part, io, w, range, carried, keys);
        bits = 0xffffffffu;
    }
    uint positions[ITEMS];
    uint buckets[ITEMS];
    uint bounds[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) bounds[k] = TILE << 16;
    [[dont_unroll]] for (uint turn = 0; turn < 2; ++turn) {
        take_places(part, range, bits, turn != 0, keys, bounds, buckets, positions);
        barrier();
        uint crowd = sh_crowd;
        if (crowd != 0 && (turn != 0 || crowd > part.items / CROWD_SHARE)) return false;
        place_buckets();
        barrier();
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) bounds[k] = buckets[k] != NO_BUCKET ? sh_counts[buckets[k]] : 0;
        if (crowd == 0) break;
        barrier();
        clear_buckets();
        barrier();
    }
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) positions[k] += first_of(bounds[k]);
    if (SHOWS_ORDER) barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        sh_keys[positions[k]] = keys[k] & bits;
        if (SHOWS_ORDER) sh_counts[positions[k]] = striped(k);
    }
    barrier();

    // 2. Its place among those: one of the others at a time, of all the thread's items together, all loads before any branch. Lanes that
    // have seen all of theirs read one word, and none waits for another's bank.
    uint before[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) before[k] = 0;
    bool more = true;
    for (uint j = 0; more; ++j) {
        uint others[ITEMS];
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            others[k] = sh_keys[j + 1 < count_of(bounds[k]) ? mate_of(bounds[k], positions[k], j) : 0];
        }
        more = false;
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint mate = mate_of(bounds[k], positions[k], j);
            bool is_mate = j + 1 < count_of(bounds[k]);
            bool comes = others[k] < (keys[k] & bits);
            if (is_mate && others[k] == (keys[k] & bits)) {
                comes = SHOWS_ORDER ? comes_before(part, io, w, sh_counts[mate], striped(k)) : mate < positions[k];
            }
            before[k] += uint(is_mate && comes);
            more = more || j + 2 < count_of(bounds[k]);
        }
    }
    barrier();

    // 3. There it goes.
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        uint position = first_of(bounds[k]) + before[k];
        sh_keys[position] = keys[k];
        if (ITEM_WORDS > 1) sh_counts[position] = carried[k];
    }
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        keys[k] = sh_keys[striped(k)];
        if (ITEM_WORDS > 1) carried[k] = sh_counts[striped(k)];
    }
    return true;
}

// False where it has done nothing.
bool order_by_buckets(Part part, PassIo io) {
    uint keys[ITEMS];
    uint carried[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) carried[k] = striped(k);
    clear_buckets();
    uint w = load_telling_word(part, io, carried, keys);
    if (BRINGS_VALUE) load_values(part, io, carried);
    uint least = sh_least;
    uint most = sh_most;
    if (least != most && !spread_keys(part, io, w, least, most, keys, carried)) return false;
    store_part(part, io, keys, carried, BRINGS_VALUE);
    return true;
}
