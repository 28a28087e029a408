// A tile of THREADS * ITEMS keys that one workgroup sorts stably by one digit of RADIX_BITS bits.
//
// Keys sit in registers in subgroup-striped order: subgroup s owns a contiguous run of the tile, and item k of its lane l is
// place k * lanes + l of that run. So the order (subgroup, item, lane) is the input order, and ranking in that order is stable.
//
// HISTOGRAMS rows of counters: one for each subgroup, or, where subgroups are narrow and rows would not fit, a single row
// that the subgroups use in turns.
//
// Work: count_digits, then sum_rows and place_rows turn the counts into places, then rank_keys walks the items and
// moves each key to its place in sh_keys. (Ranking by ballots: Merrill and Garland, "Single-pass parallel prefix scan", and
// Adinets and Merrill, "Onesweep", 2022.)

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 8;
layout(constant_id = SPEC_HISTOGRAMS) const uint HISTOGRAMS = 8;
layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 0;

const uint TILE = THREADS * ITEMS;
const uint PAD = 0xffffffffu;
// Two places in one register: a tile has at most 2^16 of them.
const uint PLACE_WORDS = VALUE_WORDS == 0 ? 1 : (ITEMS + 1) / 2;

// Counters while a tile is ordered; then, with values, the digits of its places, four to a word (scatter.glsl).
const uint COUNTER_WORDS = HISTOGRAMS * RADIX;
const uint DIGIT_WORDS = VALUE_WORDS == 0 ? 0 : (ITEMS + 3) / 4 * THREADS;

shared uint sh_counts[COUNTER_WORDS > DIGIT_WORDS ? COUNTER_WORDS : DIGIT_WORDS];
shared uint sh_shift;
shared uint sh_keys[TILE];

uint histogram_row() { return HISTOGRAMS == 1 ? 0 : subgroup_id(); }
uint digit_of(uint key, uint shift) { return (key >> shift) & (RADIX - 1); }

// Place of this thread's item k in the tile.
uint striped(uint k) {
    uint lanes = lane_count();
    return subgroup_id() * (ITEMS * lanes) + k * lanes + lane_id();
}

// Barrier after: before digits are counted.
void begin_digit(uint shift) {
    for (uint i = thread_id(); i < COUNTER_WORDS; i += THREADS) sh_counts[i] = 0;
    if (thread_id() == 0) sh_shift = shift;
}

void load_keys(Words source, uint first, uint count, out uint keys[ITEMS]) {
    if (first + TILE <= count) {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) keys[k] = source.v[first + striped(k)];
    } else {
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            uint i = first + striped(k);
            keys[k] = i < count ? source.v[i] : PAD;
        }
    }
}

// Barrier before: begin_digit. Barrier after: before any row is read.
void count_digits(uint keys[ITEMS], uint shift) {
    uint row = histogram_row() * RADIX;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) atomicAdd(sh_counts[row + digit_of(keys[k], shift)], 1);
}

// Leaves in each row the count of the rows before it; gives the tile's count of each digit.
void sum_rows(out uint totals[MAX_DIGITS]) {
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        totals[j] = 0;
        if (digit < RADIX) {
            [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) {
                uint count = sh_counts[row * RADIX + digit];
                sh_counts[row * RADIX + digit] = totals[j];
                totals[j] += count;
            }
        }
    }
}

// Adds each digit's first place, so that a row's counter is the place of the next such key of its subgroup.
void place_rows(uint starts[MAX_DIGITS]) {
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit < RADIX) {
            [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) sh_counts[row * RADIX + digit] += starts[j];
        }
    }
}

// Lanes of the subgroup whose digit equals this lane's.
uvec4 match_digit(uint digit) {
    uvec4 peers = ballot(true);
    [[unroll]] for (uint bit = 0; bit < RADIX_BITS; ++bit) {
        bool set = (digit >> bit & 1) != 0;
        uvec4 with = ballot(set);
        peers &= set ? with : ~with;
    }
    return peers;
}

// The place of a key, and the counter moved past it and its peers. All peers read the counter before the last of them
// stores it, and the store is seen by the next call: hence the two subgroup barriers.
uint rank_key(uint key, uint shift) {
    uint digit = digit_of(key, shift);
    uvec4 peers = match_digit(digit);
    uint before = count_bits(peers & lanes_below());
    uint counter = histogram_row() * RADIX + digit;
    uint place = sh_counts[counter] + before;
    subgroup_sync();
    if (before + 1 == count_bits(peers)) sh_counts[counter] = place + 1;
    subgroup_sync();
    return place;
}

void rank_row(uint keys[ITEMS], uint shift, inout uint places[PLACE_WORDS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint place = rank_key(keys[k], shift);
        sh_keys[place] = keys[k];
        if (VALUE_WORDS != 0) places[k / 2] = (k & 1) == 0 ? place : places[k / 2] | place << 16;
    }
}

// Barrier before: the rows hold places. Barrier after: before sh_keys is read.
//
// The shift comes from shared memory, which no compiler sees through: knowing that the digits are those that count_digits had, it
// would keep them all, a register a key (101 instead of 70 at 22 keys on NVIDIA, and half the workgroups).
void rank_keys(uint keys[ITEMS], out uint places[PLACE_WORDS]) {
    uint shift = sh_shift;
    if (HISTOGRAMS > 1 || THREADS == lane_count()) {
        rank_row(keys, shift, places);
    } else {
        uint turns = THREADS / lane_count();
        for (uint turn = 0; turn < turns; ++turn) {
            if (turn == subgroup_id()) rank_row(keys, shift, places);
            barrier();
        }
    }
}

uint place_of(uint places[PLACE_WORDS], uint k) { return places[k / 2] >> (k & 1) * 16 & 0xffffu; }
