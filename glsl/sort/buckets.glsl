// A part that one workgroup orders without looking at digits, where its keys are spread well enough: as many buckets as a tile has items share
// the range of the keys evenly, so that few keys fall into each. (Address calculation sorting: Isaac and Singleton, 1956; Knuth, "The Art of
// Computer Programming" 3, 5.2.1.)
//
// An item takes whichever place of its bucket is free and then counts those of its bucket that belong before it, equal ones by the places
// they came from. So the order is stable, no matter who comes first. Keys are told apart by their topmost word in which they differ; where two
// are the same in that, the words below are looked up.
//
// Where a bucket has more items than MOST_IN_BUCKET, nothing is moved: then keys are sorted by digits, and the time until it shows, about that of
// one digit, is lost.

// Of a bucket. The work of a subgroup is that of its fullest bucket.
const uint MOST_IN_BUCKET = 16;
const bool BRINGS_VALUE = KEY_WORDS == 1 && VALUE_WORDS == 1;
// Equal keys of all bits and nothing else show no order.
const bool SHOWS_ORDER = ITEM_WORDS > 1 || BEGIN_BIT != 0 || END_BIT != KEY_BITS;

shared uint sh_least;
shared uint sh_most;
shared uint sh_crowded;

// Of neighbouring buckets that one thread adds up, each has a place in another row: lanes find them in different banks. (There are as many as
// items: ITEMS a thread.)
uint bucket_word(uint bucket) { return bucket % ITEMS * THREADS + bucket / ITEMS; }

// For pads.
const uint NO_BUCKET = TILE;

// Rises with the key, however it is rounded: hence one order of operations for all keys.
uint bucket_of(uint key, uint least, float buckets_a_key) {
    precise float place = float(key - least) * buckets_a_key;
    return min(uint(place), TILE - 1);
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
    least = least_of_lanes(least);
    most = ~least_of_lanes(~most);
    if (lane_id() != 0) return;
    atomicMin(sh_least, least);
    atomicMax(sh_most, most);
}

// The topmost of the words that are compared in which keys differ, or the lowest of all, and that word of each key.
uint load_telling_word(Part part, Move move, uint places[ITEMS], out uint keys[ITEMS]) {
    uint w = COMPARED_WORDS;
    do {
        w -= 1;
        if (w + 1 < COMPARED_WORDS) barrier();
        if (thread_id() == 0) {
            sh_least = 0xffffffffu;
            sh_most = 0;
        }
        load_key_words(part, move, FIRST_WORD + w, places, keys);
        barrier();
        find_range(part, keys, sorted_bits(w));
        barrier();
    } while (w > 0 && sh_least == sh_most);
    return w;
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
uint mate_of(uint bounds, uint place, uint j) {
    uint mate = first_of(bounds) + j;
    return mate + uint(mate >= place);
}

// Of two items whose keys are the same in word w and above, whether the one that came from `mate` belongs before the one from `own`.
bool comes_before(Part part, Move move, uint w, uint mate, uint own) {
    while (w-- > 0) {
        uint mate_word = load_key_word(part, move, FIRST_WORD + w, mate) & sorted_bits(w);
        uint own_word = load_key_word(part, move, FIRST_WORD + w, own) & sorted_bits(w);
        if (mate_word != own_word) return mate_word < own_word;
    }
    return mate < own;
}

// Orders keys of which word w lies from `least` to `most`, and what they carry. False where it has done nothing.
bool spread_keys(Part part, Move move, uint w, uint least, uint most, inout uint keys[ITEMS], inout uint carried[ITEMS]) {
    // 1. A place in its bucket for each.
    precise float buckets_a_key = float(TILE - 1) / float(most - least);
    uint bits = sorted_bits(w);
    uint places[ITEMS];
    uint buckets[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        buckets[k] = bucket_word(bucket_of(keys[k] & bits, least, buckets_a_key));
        if (striped(k) >= part.items) buckets[k] = NO_BUCKET;
        places[k] = atomicAdd(sh_counts[buckets[k]], 1);
    }
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (buckets[k] != NO_BUCKET && places[k] >= MOST_IN_BUCKET) sh_crowded = 1;
    }
    barrier();
    if (sh_crowded != 0) return false;
    place_buckets();
    barrier();
    uint bounds[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        bounds[k] = buckets[k] != NO_BUCKET ? sh_counts[buckets[k]] : 0;
        places[k] += first_of(bounds[k]);
    }
    if (SHOWS_ORDER) barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        sh_keys[places[k]] = keys[k] & bits;
        if (SHOWS_ORDER) sh_counts[places[k]] = striped(k);
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
            others[k] = sh_keys[j + 1 < count_of(bounds[k]) ? mate_of(bounds[k], places[k], j) : 0];
        }
        more = false;
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint mate = mate_of(bounds[k], places[k], j);
            bool is_mate = j + 1 < count_of(bounds[k]);
            bool comes = others[k] < (keys[k] & bits);
            if (is_mate && others[k] == (keys[k] & bits)) {
                comes = SHOWS_ORDER ? comes_before(part, move, w, sh_counts[mate], striped(k)) : mate < places[k];
            }
            before[k] += uint(is_mate && comes);
            more = more || j + 2 < count_of(bounds[k]);
        }
    }
    barrier();

    // 3. There it goes.
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (striped(k) >= part.items) continue;
        uint place = first_of(bounds[k]) + before[k];
        sh_keys[place] = keys[k];
        if (ITEM_WORDS > 1) sh_counts[place] = carried[k];
    }
    barrier();
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        keys[k] = sh_keys[striped(k)];
        if (ITEM_WORDS > 1) carried[k] = sh_counts[striped(k)];
    }
    return true;
}

// False where it has done nothing.
bool order_by_buckets(Part part, Move move) {
    uint keys[ITEMS];
    uint carried[ITEMS];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        carried[k] = striped(k);
        sh_counts[k * THREADS + thread_id()] = 0;
    }
    if (thread_id() == 0) sh_crowded = 0;
    uint w = load_telling_word(part, move, carried, keys);
    if (BRINGS_VALUE) load_values(part, move, carried);
    uint least = sh_least;
    uint most = sh_most;
    if (least != most && !spread_keys(part, move, w, least, most, keys, carried)) return false;
    store_part(part, move, keys, carried, BRINGS_VALUE);
    return true;
}
