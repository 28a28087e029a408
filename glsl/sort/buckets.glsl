// Bucket sort of a part by one workgroup, for keys that are spread evenly enough. (Address calculation sorting: Isaac
// and Singleton, 1956; Knuth, "The Art of Computer Programming" 3, 5.2.1.)
//
// There are as many buckets as items in a tile. The buckets divide the range of the keys evenly, so few keys are in
// each. If a bucket has too many keys, but not too large a share of all, every bucket is divided again, into as many
// buckets as it has items. So keys may lie in a few narrow ranges, such as floats of both signs.
//
// Each item takes any free position of its bucket by an atomic addition. Then it counts the items of its bucket that
// precede it: those with smaller keys, and those with equal keys and smaller source indices. So the sort is stable,
// whatever the order of the atomics.
//
// Keys are compared by one 32-bit word: the most significant key word that differs among the keys, shifted to drop its
// constant top bits and filled with bits of the next word. If two keys are equal in this word, their lower words are
// loaded.
//
// If a bucket still has more than MOST_IN_BUCKET items, the caller sorts by digits instead, and nothing has been moved.
// The failed attempt costs about the time of one digit for each division.

// Maximum number of items of a bucket. The largest bucket determines the time of a subgroup.
const uint MOST_IN_BUCKET = 16;
// Buckets are not divided again if one of them has more than 1 / LARGEST_SHARE of the keys.
const uint LARGEST_SHARE = 4;
const bool BUCKETS_CARRY_VALUE = KEY_WORDS == 1 && VALUE_WORDS == 1;
// Whether items with equal keys may differ: not if the key is the whole item and all its bits are sorted by.
const bool EQUAL_ITEMS_DIFFER = ITEM_WORDS > 1 || BEGIN_BIT != 0 || END_BIT != KEY_BITS;

// The least and the greatest key word of the part.
shared uint sh_least;
shared uint sh_greatest;
// Number of items of the largest bucket, if it has more than MOST_IN_BUCKET; otherwise 0.
shared uint sh_largest;

// Returns the index of a bucket's counter in sh_counts. A thread scans ITEMS consecutive buckets. Their counters are in
// different rows of THREADS words, so the lanes of a subgroup access different banks.
uint bucket_word(uint bucket) { return bucket % ITEMS * THREADS + bucket / ITEMS; }

// The counter that pads increment.
const uint NO_BUCKET = TILE;

// The range of the key words, and the parameters of its map onto [0, 2^32): a shift, then a multiplication.
struct BucketRange {
    uint least;
    uint width;
    uint shift;  // left shift that brings the top bit of the width to bit 31
    uint scale;  // (2^32 - shifted width) / shifted width, as a fraction of 2^32
};

BucketRange bucket_range(uint least, uint greatest) {
    BucketRange range;
    range.least = least;
    range.width = greatest - least;
    range.shift = 31 - findMSB(range.width);
    uint shifted = range.width << range.shift;
    // Less than 2^32 by one part in 2^20, which exceeds all rounding errors: the mapped keys stay below 2^32.
    range.scale = uint(float(~shifted) / float(shifted) * 4294963200.0);
    return range;
}

// Maps a key to its relative position in the range, as a fraction of 2^32. The map is strictly increasing.
uint fraction_of_range(uint key, BucketRange range) {
    uint high, low;
    uint shifted = key - range.least << range.shift;
    umulExtended(shifted, range.scale, high, low);
    return shifted + high;
}

// Computes the least and the greatest key. Barrier before: sh_least and sh_greatest are initialized. Barrier after.
void find_range(Part part, uint keys[ITEMS], uint bits) {
    uint least = 0xffffffffu;
    uint greatest = 0;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        least = min(least, keys[k] & bits);
        greatest = max(greatest, keys[k] & bits);
    }
    atomicMin(sh_least, least);
    atomicMax(sh_greatest, greatest);
}

// Loads the most significant compared word that differs among the keys, or the lowest word if all keys are equal.
// Returns its number. `sources`: source indices of the keys.
uint load_distinguishing_word(Part part, PassIo io, uint sources[ITEMS], out uint keys[ITEMS]) {
    uint w = COMPARED_WORDS;
    do {
        w -= 1;
        if (w + 1 < COMPARED_WORDS) barrier();
        if (thread_id() == 0) {
            sh_least = 0xffffffffu;
            sh_greatest = 0;
        }
        load_key_words(part, io, FIRST_WORD + w, sources, keys);
        barrier();
        find_range(part, keys, compared_bits(w));
        barrier();
    } while (w > 0 && sh_least == sh_greatest);
    return w;
}

// Clears the counters of the buckets. Barrier after.
void clear_buckets() {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_counts[k * THREADS + thread_id()] = 0;
    if (thread_id() == 0) sh_largest = 0;
}

// Replaces the count of each bucket by its bounds: its first position (low half) and its count (high half). Barriers
// before and after.
void scan_buckets() {
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

// Returns the position of the j-th other item in the bucket of the item at `position`.
uint other_position(uint bounds, uint position, uint j) {
    uint other = first_of(bounds) + j;
    return other + uint(other >= position);
}

// Compares two items whose keys are equal from word `w` on. Returns whether the one with source index `other` precedes
// the one with source index `own`.
bool precedes(Part part, PassIo io, uint w, uint other, uint own) {
    while (w-- > 0) {
        uint other_word = load_key_word(part, io, FIRST_WORD + w, other) & compared_bits(w);
        uint own_word = load_key_word(part, io, FIRST_WORD + w, own) & compared_bits(w);
        if (other_word != own_word) return other_word < own_word;
    }
    return other < own;
}

// Drops the constant top bits of word `w` from the keys and fills up with the top bits of the next lower word. Updates
// the range accordingly.
void append_lower_bits(
    Part part, PassIo io, uint w, inout BucketRange range, uint sources[ITEMS], inout uint keys[ITEMS]
) {
    uint bits = compared_bits(w);
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        uint lower = load_key_word(part, io, FIRST_WORD + w - 1, sources[k]) & compared_bits(w - 1);
        keys[k] = (keys[k] & bits) - range.least << range.shift | lower >> 32 - range.shift;
    }
    range = bucket_range(0, range.width << range.shift | (1u << range.shift) - 1);
}

// Finds the bucket of each item and takes a free position in it, relative to its first. `bounds`: in the first round,
// the whole tile; when buckets are divided again (`again`), the bounds of the item's bucket so far. Barrier after:
// before sh_largest is read.
void take_positions(
    Part part, BucketRange range, uint bits, bool again, uint keys[ITEMS], uint bounds[ITEMS], out uint buckets[ITEMS],
    out uint positions[ITEMS]
) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint high, low;
        // Within a bucket of the first round: the fraction of the range, modulo the width of a bucket.
        uint fraction = fraction_of_range(keys[k] & bits, range) * (again ? TILE : 1);
        umulExtended(fraction, count_of(bounds[k]), high, low);
        buckets[k] = striped(k) < part.items ? bucket_word(first_of(bounds[k]) + high) : NO_BUCKET;
        positions[k] = atomicAdd(sh_counts[buckets[k]], 1);
    }
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (buckets[k] != NO_BUCKET && positions[k] >= MOST_IN_BUCKET) atomicMax(sh_largest, positions[k] + 1);
    }
}

// Sorts keys, whose word `w` ranges from `least` to `greatest`, and their carried words. Returns false if a bucket is
// too large; then nothing has changed.
bool sort_keys_by_buckets(
    Part part, PassIo io, uint w, uint least, uint greatest, inout uint keys[ITEMS], inout uint carried[ITEMS]
) {
    // 1. Find each item's bucket and a position in it.
    BucketRange range = bucket_range(least, greatest);
    uint bits = compared_bits(w);
    if (w > 0 && range.shift != 0) {
        append_lower_bits(part, io, w, range, carried, keys);
        bits = 0xffffffffu;
    }
    uint positions[ITEMS];
    uint buckets[ITEMS];
    uint bounds[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) bounds[k] = TILE << 16;
    [[dont_unroll]] for (uint round = 0; round < 2; ++round) {
        take_positions(part, range, bits, round != 0, keys, bounds, buckets, positions);
        barrier();
        uint largest = sh_largest;
        if (largest != 0 && (round != 0 || largest > part.items / LARGEST_SHARE)) return false;
        scan_buckets();
        barrier();
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) bounds[k] = buckets[k] != NO_BUCKET ? sh_counts[buckets[k]] : 0;
        if (largest == 0) break;
        barrier();
        clear_buckets();
        barrier();
    }
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) positions[k] += first_of(bounds[k]);
    if (EQUAL_ITEMS_DIFFER) barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        sh_keys[positions[k]] = keys[k] & bits;
        if (EQUAL_ITEMS_DIFFER) sh_counts[positions[k]] = striped(k);
    }
    barrier();

    // 2. Count the preceding items of its bucket. Each step compares all items of the thread with one other item of
    // their buckets. All loads of a step precede any branch. Lanes that are done read word 0, without bank conflicts.
    uint before[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) before[k] = 0;
    bool more = true;
    for (uint j = 0; more; ++j) {
        uint others[ITEMS];
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            others[k] = sh_keys[j + 1 < count_of(bounds[k]) ? other_position(bounds[k], positions[k], j) : 0];
        }
        more = false;
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint other = other_position(bounds[k], positions[k], j);
            bool exists = j + 1 < count_of(bounds[k]);
            bool is_less = others[k] < (keys[k] & bits);
            if (exists && others[k] == (keys[k] & bits)) {
                is_less =
                    EQUAL_ITEMS_DIFFER ? precedes(part, io, w, sh_counts[other], striped(k)) : other < positions[k];
            }
            before[k] += uint(exists && is_less);
            more = more || j + 2 < count_of(bounds[k]);
        }
    }
    barrier();

    // 3. Move each item to its position in the part.
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

// Sorts a part. Returns false if the keys are not spread evenly enough; then nothing has been stored.
bool sort_by_buckets(Part part, PassIo io) {
    uint keys[ITEMS];
    uint carried[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) carried[k] = striped(k);
    clear_buckets();
    uint w = load_distinguishing_word(part, io, carried, keys);
    if (BUCKETS_CARRY_VALUE) load_values(part, io, carried);
    uint least = sh_least;
    uint greatest = sh_greatest;
    if (least != greatest && !sort_keys_by_buckets(part, io, w, least, greatest, keys, carried)) return false;
    store_part(part, io, keys, carried, BUCKETS_CARRY_VALUE);
    return true;
}
