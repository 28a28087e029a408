// A tile of THREADS * ITEMS items that one workgroup sorts stably by one digit of up to BIN_BITS bits.
//
// The word with the digit sits in registers in subgroup-striped order: subgroup s owns a contiguous run of the tile, and item k of
// its lane l is place k * lanes + l of that run. So the order (subgroup, item, lane) is the input order, and ranking in that
// order is stable. The other words follow later, one after another, through the same shared memory (scatter.glsl).
//
// HISTOGRAMS rows of counters: one for each subgroup, or, where so many would not fit, fewer, each of which a few neighbouring subgroups use
// in turns.
//
// Work: count_digits, then sum_rows and place_rows turn the counts into places, then rank_keys walks the items and
// moves each key to its place in sh_keys, by ballots or, where that is proven, in the order of shared memory. (Ranking by ballots: Merrill and
// Garland, "Single-pass parallel prefix scan", 2016, and Adinets and Merrill, "Onesweep", 2022.)
//
// A kernel may define HELD, the items that each thread holds of those it has room for; CARRIES, whether places are told: other words
// follow; and LEAST_COUNTERS, how many counters it has another use for.
//
// Where ranks are proven by places (prove.glsl), what goes to its place at first is not the key, but the digit and where the item came from.

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 8;
layout(constant_id = SPEC_HISTOGRAMS) const uint HISTOGRAMS = 8;
layout(constant_id = SPEC_RANKING) const uint RANKING = 0;

#ifdef HELD
#define HOLDS(k) (k < HELD)
#else
#define HELD ITEMS
#define HOLDS(k) true
#endif
// By the order of shared memory, which is proven, or by ballots.
const bool PROVES = (RANKING & (RANKING_PROVEN | RANKING_DISPROVEN)) != 0;
const bool BY_PLACES = (RANKING & RANKING_BY_PLACES) != 0;
// Items are told their places and stay where they are.
const bool UNORDERED = (RANKING & RANKING_UNORDERED) != 0;
#ifndef CARRIES
#define CARRIES (ITEM_WORDS != 1 || BY_PLACES || UNORDERED)
#endif

// Whether places that are a multiple of 128 apart lie in different banks of shared memory: see key_word.
#ifndef SPREADS_PLACES
#define SPREADS_PLACES false
#endif

// 1 where every digit has all RADIX_BITS: it saves an instruction for each use of each key.
layout(constant_id = SPEC_FULL_DIGITS) const uint FULL_DIGITS = 0;

const uint TILE = THREADS * ITEMS;
// A digit of more than this share of the keys is hot: lanes that meet in one counter wait for one another, more of them than a ballot
// costs.
const uint HOT_SHARE = 12;
// Two places in one register: a tile has at most 2^16 of them.
const uint PLACE_WORDS = !CARRIES ? 1 : (ITEMS + 1) / 2;

// Counters while a tile is ordered; then, where other words follow, the digits of its places, some to a word (scatter.glsl).
const uint COUNTER_WORDS = HISTOGRAMS * BINS;
const uint DIGITS_A_WORD = BIN_BITS > 8 ? 3 : 4;
const uint DIGIT_WORDS = ITEM_WORDS == 1 ? 0 : (ITEMS + DIGITS_A_WORD - 1) / DIGITS_A_WORD * THREADS;
#ifndef LEAST_COUNTERS
#define LEAST_COUNTERS DIGIT_WORDS
#endif

shared uint sh_counts[COUNTER_WORDS > LEAST_COUNTERS ? COUNTER_WORDS : LEAST_COUNTERS];
shared uint sh_shift;
shared uint sh_out_of_order;
// Of a digit that many keys of the tile share, how many and which is its counter: (count << BIN_BITS | counter). 0: there is none.
shared uint sh_hot_digit;
shared uint sh_keys[SPREADS_PLACES ? TILE + TILE / 128 : TILE];

// Subgroups that share a row.
uint histogram_turns() { return (THREADS / lane_count() - 1) / HISTOGRAMS + 1; }
uint histogram_row() { return subgroup_id() / histogram_turns(); }

// Where counters are spread, keys have the number of their digit's counter in its place while they are counted and ranked. (To turn it again
// for each use takes registers: 123 instead of 101 with 36 keys on NVIDIA.)
const bool SPREADS = (RANKING & RANKING_SPREAD) != 0;
uint counter_of(uint digit) { return SPREADS ? counter_word(digit) : digit; }
uint turned(uint key, uint shift, uint mask) { return SPREADS ? turn_digit(key, shift, mask) : key; }
uint own_counter(uint counter) { return histogram_row() * BINS + counter; }

// The digit as the push constants have it. The bits of a digit, at most BIN_BITS, follow its shift and its word.
uint digit_shift() { return args.digit & 0xff; }
uint digit_word() { return KEY_WORDS == 1 ? 0 : args.digit >> 8 & 0xff; }
uint digit_mask() { return FULL_DIGITS != 0 ? RADIX - 1 : (1u << (args.digit >> 16)) - 1; }
uint digit_of(uint key, uint shift, uint mask) { return bin_of(key, shift, mask); }

// Place of this thread's item k in the tile.
uint striped(uint k) {
    uint lanes = lane_count();
    return subgroup_id() * (HELD * lanes) + k * lanes + lane_id();
}

// Barrier after: before digits are counted.
void begin_digit(uint shift) {
    for (uint i = thread_id(); i < COUNTER_WORDS; i += THREADS) sh_counts[i] = 0;
    if (thread_id() != 0) return;
    sh_shift = shift;
    sh_out_of_order = 0;
    sh_hot_digit = 0;
}

void turn_digits(inout uint keys[ITEMS], uint shift, uint mask) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) keys[k] = turned(keys[k], shift, mask);
}

// Barrier before: begin_digit. Barrier after: before any row is read. Here and below, keys have been turned.
void count_digits(uint keys[ITEMS], uint shift, uint mask) {
    uint row = histogram_row() * BINS;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k)) atomicAdd(sh_counts[row + digit_of(keys[k], shift, mask)], 1);
    }
}

// The tile's count of each digit.
void sum_rows(out uint totals[MAX_DIGITS]) {
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        totals[j] = 0;
        if (digit < BINS) {
            [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) totals[j] += sh_counts[row * BINS + counter_of(digit)];
        }
    }
}

// Pads make a digit of a problem's last tile hot, but one tile is done before the code for that is fetched (7 us of 270 on an H200).
bool is_full(Tile tile) { return tile.count - tile.index * TILE >= TILE; }

// Barrier before: begin_digit. Barrier after: before keys are ranked.
void find_hot_digit(uint totals[MAX_DIGITS]) {
    if (!PROVES) return;
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit < BINS && totals[j] > THREADS * HELD / HOT_SHARE) atomicMax(sh_hot_digit, totals[j] << BIN_BITS | counter_of(digit));
    }
}

// From each digit's first place on, its rows follow one another: a row's counter becomes the place of the next such key of its subgroups.
void place_rows(uint starts[MAX_DIGITS]) {
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit >= BINS) continue;
        uint place = starts[j];
        [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) {
            uint count = sh_counts[row * BINS + counter_of(digit)];
            sh_counts[row * BINS + counter_of(digit)] = place;
            place += count;
        }
    }
}

// Lanes of the subgroup whose digit equals this lane's.
uvec4 match_digit(uint digit) {
    uvec4 peers = ballot(true);
    [[unroll]] for (uint bit = 0; bit < BIN_BITS; ++bit) {
        bool set = (digit >> bit & 1) != 0;
        uvec4 with = ballot(set);
        peers &= set ? with : ~with;
    }
    return peers;
}

// The place of a key, and the counter moved past it and its peers. All peers read the counter before the last of them
// stores it, and the store is seen by the next call: hence the two subgroup barriers.
uint rank_key(uint digit) {
    uvec4 peers = match_digit(digit);
    uint before = count_bits(peers & lanes_below());
    uint counter = own_counter(digit);
    uint place = sh_counts[counter] + before;
    subgroup_sync();
    if (before + 1 == count_bits(peers)) sh_counts[counter] = place + 1;
    subgroup_sync();
    return place;
}

// Each key takes the next place of its digit. Stable where shared memory serves the lanes of a subgroup in their order, which no
// standard promises: whoever ranks so proves the order afterwards (prove.glsl, order.glsl), and ranks again where it is wrong.
//
// Lanes that want none add nothing to some counter, each to another: without a branch, all of a thread's atomics are on their way together.
uint take_place(uint digit, bool wanted) {
    uint counter = own_counter(digit);
    if ((RANKING & RANKING_PROVEN) != 0) {
        return atomicAdd(sh_counts[wanted ? counter : histogram_row() * BINS + (BINS < 128 ? lane_id() % BINS : lane_id())], wanted ? 1 : 0);
    }
    uint place = 0;
    // Tests only: an order that is always wrong.
    bool odd = (lane_id() & 1) != 0;
    if (wanted && odd) place = atomicAdd(sh_counts[counter], 1);
    subgroup_sync();
    if (wanted && !odd) place = atomicAdd(sh_counts[counter], 1);
    subgroup_sync();
    return place;
}

// Where a place lies in sh_keys. Of few digits that come in turns, each as often, the first places are a multiple of a high power of two apart:
// without a gap behind each 128 words all lie in one bank, and lanes wait for one another.
uint key_word(uint place) { return SPREADS_PLACES ? place + place / 128 : place; }

void set_place(inout uint places[PLACE_WORDS], uint k, uint place) {
    places[k / 2] = (k & 1) == 0 ? places[k / 2] & 0xffff0000u | place : places[k / 2] & 0xffffu | place << 16;
}

// A key goes to its place as it was, and the place is told for what it carries.
void tell_place(uint turned_key, uint shift, uint mask, uint k, uint place, inout uint places[PLACE_WORDS]) {
    if (!UNORDERED) sh_keys[key_word(place)] = BY_PLACES ? digit_of(turned_key, shift, mask) << 16 | striped(k) : turned(turned_key, shift, mask);
    if (CARRIES) places[k / 2] = (k & 1) == 0 ? place : places[k / 2] | place << 16;
}

// Ranks where one digit is hot: its keys are counted by ballots, in a register, all others by the order of shared memory.
void rank_row_around(uint keys[ITEMS], uint shift, uint mask, uint hot_digit, inout uint places[PLACE_WORDS]) {
    uint hot_counter = own_counter(hot_digit);
    uint next = sh_counts[hot_counter];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (!HOLDS(k)) continue;
        uint digit = digit_of(keys[k], shift, mask);
        bool hot = digit == hot_digit;
        uvec4 peers = ballot(hot);
        uint taken = take_place(digit, !hot);
        tell_place(keys[k], shift, mask, k, hot ? next + count_bits(peers & lanes_below()) : taken, places);
        next += count_bits(peers);
    }
    subgroup_sync();
    // Where ranking leaves every counter: at the end of its places.
    if (lane_id() == 0) sh_counts[hot_counter] = next;
}

// The place of a key, where keys are ranked last to first: the counter is one past the last free place of the digit.
uint rank_key_from_end(uint digit) {
    uvec4 peers = match_digit(digit);
    uint before = count_bits(peers & lanes_below());
    uint counter = own_counter(digit);
    uint first = sh_counts[counter] - count_bits(peers);
    subgroup_sync();
    if (before == 0) sh_counts[counter] = first;
    subgroup_sync();
    return first + before;
}

void rank_row(uint keys[ITEMS], uint shift, uint mask, bool by_ballots, inout uint places[PLACE_WORDS]) {
    if (!by_ballots && sh_hot_digit != 0) {
        rank_row_around(keys, shift, mask, sh_hot_digit & BIN_MASK, places);
        return;
    }
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (!HOLDS(k)) continue;
        uint digit = digit_of(keys[k], shift, mask);
        uint place = by_ballots ? rank_key(digit) : take_place(digit, true);
        tell_place(keys[k], shift, mask, k, place, places);
    }
}

// Barrier before: the rows hold places. Barrier after: before sh_keys is read.
//
// The shift comes from shared memory, which no compiler sees through: knowing that the digits are those that count_digits had, it
// would keep them all, a register a key (101 instead of 70 at 22 keys on NVIDIA, and half the workgroups).
void rank_keys(uint keys[ITEMS], uint mask, bool by_ballots, out uint places[PLACE_WORDS]) {
    uint shift = sh_shift;
    uint turns = histogram_turns();
    if (turns == 1) {
        rank_row(keys, shift, mask, by_ballots, places);
        return;
    }
    for (uint turn = 0; turn < turns; ++turn) {
        if (turn == subgroup_id() % turns) rank_row(keys, shift, mask, by_ballots, places);
        barrier();
    }
}

uint place_of(uint places[PLACE_WORDS], uint k) { return places[k / 2] >> (k & 1) * 16 & 0xffffu; }

// Barriers before and after.
void place_words(uint words[ITEMS], uint places[PLACE_WORDS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[key_word(place_of(places, k))] = words[k];
}
