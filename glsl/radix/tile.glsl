// Ranking of a tile: one workgroup sorts THREADS * ITEMS items stably by one digit of up to BIN_BITS bits.
//
// Registers hold the word with the digit in subgroup-striped order. Subgroup s owns a contiguous part of the tile, and
// item k of its lane l is item k * lanes + l of that part. The order (subgroup, item, lane) is the input order, so
// ranking in this order is stable. The other words follow later, one after the other, through the same shared memory
// (scatter.glsl).
//
// The position of an item is its index in the sorted tile. Steps:
//   1. count_digits: counts the digits in HISTOGRAMS rows of counters. Each subgroup has its own row. If these do not
//      fit, a few neighboring subgroups share a row and rank one after the other.
//   2. sum_rows, start_rows: replace each count by the position of the first key with this digit in this row.
//   3. rank_keys: each key takes the next position of its digit and row, and is stored there in sh_keys. Positions come
//      from ballots, or from atomic counters with verification (verify.glsl).
// (Ranking with ballots: Merrill and Garland, "Single-pass parallel prefix scan", 2016, and Adinets and Merrill,
// "Onesweep", 2022.)
//
// The includer may define:
//   HELD, the number of items that a thread holds, if that is not always ITEMS;
//   CARRIES, whether positions are kept because other words follow;
//   LEAST_COUNTERS, a minimum size of the counter array;
//   POSITIONS_ARE_PADDED, see padded_position.
//
// With verification by source index, sh_keys holds the digit and the source index of each item instead of its key.

layout(constant_id = SPEC_ITEMS) const uint ITEMS = 8;
layout(constant_id = SPEC_HISTOGRAMS) const uint HISTOGRAMS = 8;
layout(constant_id = SPEC_RANKING) const uint RANKING = 0;

#ifdef HELD
#define HOLDS(k) (k < HELD)
#else
#define HELD ITEMS
#define HOLDS(k) true
#endif
// Whether ranks come from atomic counters, which are verified, instead of ballots.
const bool VERIFIES_ORDER = (RANKING & (RANKING_VERIFIED | RANKING_WRONG)) != 0;
const bool BY_SOURCE_INDEX = (RANKING & RANKING_BY_SOURCE_INDEX) != 0;
// Items get positions, but are scattered directly, without being reordered in sh_keys.
const bool UNORDERED = (RANKING & RANKING_UNORDERED) != 0;
#ifndef CARRIES
#define CARRIES (ITEM_WORDS != 1 || BY_SOURCE_INDEX || UNORDERED)
#endif

#ifndef POSITIONS_ARE_PADDED
#define POSITIONS_ARE_PADDED false
#endif

const uint TILE = THREADS * ITEMS;
// A digit with more than 1 / HOT_SHARE of the keys is hot: lanes that increment the same counter wait for each other,
// which costs more than a ballot.
const uint HOT_SHARE = 12;
// Two positions in one register: a tile has at most 2^16.
const uint POSITION_WORDS = !CARRIES ? 1 : (ITEMS + 1) / 2;

// During ranking, sh_counts holds the counters. Afterwards, if other words follow, it holds the digit of each position,
// several in a word (scatter.glsl).
const uint COUNTER_WORDS = HISTOGRAMS * BINS;
const uint DIGITS_A_WORD = BIN_BITS > 8 ? 3 : 4;
const uint DIGIT_WORDS = ITEM_WORDS == 1 ? 0 : (ITEMS + DIGITS_A_WORD - 1) / DIGITS_A_WORD * THREADS;
#ifndef LEAST_COUNTERS
#define LEAST_COUNTERS DIGIT_WORDS
#endif

shared uint sh_counts[COUNTER_WORDS > LEAST_COUNTERS ? COUNTER_WORDS : LEAST_COUNTERS];
shared uint sh_shift;
shared uint sh_out_of_order;
// The hot digit as (count << BIN_BITS | counter). 0: none.
shared uint sh_hot_digit;
shared uint sh_keys[POSITIONS_ARE_PADDED ? TILE + TILE / 128 : TILE];

// Number of subgroups that share a row of counters.
uint subgroups_per_row() { return (THREADS / lane_count() - 1) / HISTOGRAMS + 1; }
uint histogram_row() { return subgroup_id() / subgroups_per_row(); }

// With swizzled counters, keys hold the index of their counter in place of the digit during counting and ranking.
// Swizzling at each use takes more registers (123 instead of 101 with 36 keys on NVIDIA).
const bool COUNTERS_ARE_SWIZZLED = (RANKING & RANKING_SWIZZLED) != 0;
uint counter_of(uint digit) { return COUNTERS_ARE_SWIZZLED ? counter_word(digit) : digit; }
uint swizzled(uint key, uint shift, uint mask) { return COUNTERS_ARE_SWIZZLED ? swizzle_digit(key, shift, mask) : key; }
uint own_counter(uint counter) { return histogram_row() * BINS + counter; }

uint digit_of(uint key, uint shift, uint mask) { return bin_of(key, shift, mask); }

// Index of this thread's item k in the tile.
uint striped(uint k) {
    uint lanes = lane_count();
    return subgroup_id() * (HELD * lanes) + k * lanes + lane_id();
}

// Clears the shared state of a digit. Barrier after: before digits are counted.
void begin_digit(uint shift) {
    for (uint i = thread_id(); i < COUNTER_WORDS; i += THREADS) sh_counts[i] = 0;
    if (thread_id() != 0) return;
    sh_shift = shift;
    sh_out_of_order = 0;
    sh_hot_digit = 0;
}

void swizzle_digits(inout uint keys[ITEMS], uint shift, uint mask) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) keys[k] = swizzled(keys[k], shift, mask);
}

// Counts the digits. Keys are swizzled here and below. Barrier before: begin_digit. Barrier after: before any row is
// read.
void count_digits(uint keys[ITEMS], uint shift, uint mask) {
    uint row = histogram_row() * BINS;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (HOLDS(k)) atomicAdd(sh_counts[row + digit_of(keys[k], shift, mask)], 1);
    }
}

// Sums the counts of each digit over the rows.
void sum_rows(out uint totals[MAX_DIGITS]) {
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        totals[j] = 0;
        if (digit < BINS) {
            [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) {
                totals[j] += sh_counts[row * BINS + counter_of(digit)];
            }
        }
    }
}

// Whether the tile is full. Pads make a digit of the last tile hot; that tile alone would then fetch the code for hot
// digits (7 us of 270 on an H200).
bool is_full(Tile tile) { return tile.count - tile.index * TILE >= TILE; }

// Finds a hot digit. Barrier before: begin_digit. Barrier after: before keys are ranked.
void find_hot_digit(uint totals[MAX_DIGITS]) {
    if (!VERIFIES_ORDER) return;
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit < BINS && totals[j] > THREADS * HELD / HOT_SHARE) {
            atomicMax(sh_hot_digit, totals[j] << BIN_BITS | counter_of(digit));
        }
    }
}

// Replaces the count in each row by the position of the first key of the digit in the subgroups of the row.
void start_rows(uint starts[MAX_DIGITS]) {
    for (uint j = 0; j < DIGITS; ++j) {
        uint digit = digit_of_thread(j);
        if (digit >= BINS) continue;
        uint position = starts[j];
        [[unroll]] for (uint row = 0; row < HISTOGRAMS; ++row) {
            uint count = sh_counts[row * BINS + counter_of(digit)];
            sh_counts[row * BINS + counter_of(digit)] = position;
            position += count;
        }
    }
}

// Returns the lanes of the subgroup with the same digit.
uvec4 match_digit(uint digit) {
    uvec4 peers = ballot(true);
    [[unroll]] for (uint bit = 0; bit < BIN_BITS; ++bit) {
        bool set = (digit >> bit & 1) != 0;
        uvec4 with = ballot(set);
        peers &= set ? with : ~with;
    }
    return peers;
}

// Returns the position of a key and moves the counter past the key and its peers. All peers read the counter before the
// last one stores it, and the next call sees the store: hence the two subgroup barriers.
uint rank_key(uint digit) {
    uvec4 peers = match_digit(digit);
    uint before = count_bits(peers & lanes_below());
    uint counter = own_counter(digit);
    uint position = sh_counts[counter] + before;
    subgroup_sync();
    if (before + 1 == count_bits(peers)) sh_counts[counter] = position + 1;
    subgroup_sync();
    return position;
}

// Takes the next position of a digit by an atomic addition. The result is stable if shared memory serves the lanes of a
// subgroup in order, which no standard guarantees. So the order is verified afterwards (verify.glsl, order.glsl), and a
// tile that is out of order is ranked again.
//
// Lanes without a key add 0 to distinct counters: without a branch, all atomics of a thread are in flight together.
uint take_position(uint digit, bool has_key) {
    uint counter = own_counter(digit);
    if ((RANKING & RANKING_VERIFIED) != 0) {
        return atomicAdd(
            sh_counts[has_key ? counter : histogram_row() * BINS + (BINS < 128 ? lane_id() % BINS : lane_id())],
            has_key ? 1 : 0
        );
    }
    uint position = 0;
    // Tests only: an order that is always wrong.
    bool odd = (lane_id() & 1) != 0;
    if (has_key && odd) position = atomicAdd(sh_counts[counter], 1);
    subgroup_sync();
    if (has_key && !odd) position = atomicAdd(sh_counts[counter], 1);
    subgroup_sync();
    return position;
}

// Returns the index of a position in sh_keys. With few, evenly frequent digits, the first positions of the digits
// differ by multiples of a high power of two. Without a gap after every 128 words, they would be in the same bank.
uint padded_position(uint position) { return POSITIONS_ARE_PADDED ? position + position / 128 : position; }

void set_position(inout uint positions[POSITION_WORDS], uint k, uint position) {
    positions[k / 2] =
        (k & 1) == 0 ? positions[k / 2] & 0xffff0000u | position : positions[k / 2] & 0xffffu | position << 16;
}

// Stores a key at its position, unswizzled, and keeps the position for the words that follow.
void store_position(
    uint swizzled_key, uint shift, uint mask, uint k, uint position, inout uint positions[POSITION_WORDS]
) {
    if (!UNORDERED) {
        sh_keys[padded_position(position)] =
            BY_SOURCE_INDEX ? digit_of(swizzled_key, shift, mask) << 16 | striped(k)
                            : swizzled(swizzled_key, shift, mask);
    }
    if (CARRIES) positions[k / 2] = (k & 1) == 0 ? position : positions[k / 2] | position << 16;
}

// Ranks a row of a tile with a hot digit. Keys with the hot digit are ranked by ballots, with the counter in a
// register; all others by atomic counters.
void rank_row_with_hot_digit(
    uint keys[ITEMS], uint shift, uint mask, uint hot_digit, inout uint positions[POSITION_WORDS]
) {
    uint hot_counter = own_counter(hot_digit);
    uint next = sh_counts[hot_counter];
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (!HOLDS(k)) continue;
        uint digit = digit_of(keys[k], shift, mask);
        bool hot = digit == hot_digit;
        uvec4 peers = ballot(hot);
        uint taken = take_position(digit, !hot);
        store_position(keys[k], shift, mask, k, hot ? next + count_bits(peers & lanes_below()) : taken, positions);
        next += count_bits(peers);
    }
    subgroup_sync();
    // Ranking leaves each counter at the end of its positions.
    if (lane_id() == 0) sh_counts[hot_counter] = next;
}

// Returns the position of a key when keys are ranked from last to first: the counter is one past the last free position
// of the digit.
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

// Ranks this subgroup's keys, in its row of counters.
void rank_row(uint keys[ITEMS], uint shift, uint mask, bool by_ballots, inout uint positions[POSITION_WORDS]) {
    if (!by_ballots && sh_hot_digit != 0) {
        rank_row_with_hot_digit(keys, shift, mask, sh_hot_digit & BIN_MASK, positions);
        return;
    }
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        if (!HOLDS(k)) continue;
        uint digit = digit_of(keys[k], shift, mask);
        uint position = by_ballots ? rank_key(digit) : take_position(digit, true);
        store_position(keys[k], shift, mask, k, position, positions);
    }
}

// Ranks the keys. Barrier before: the rows hold positions. Barrier after: before sh_keys is read.
//
// The shift comes from shared memory, which no compiler sees through. A compiler that knew the digits to be those of
// count_digits would keep them all, one register for each key (101 instead of 70 at 22 keys on NVIDIA, and half the
// workgroups).
void rank_keys(uint keys[ITEMS], uint mask, bool by_ballots, out uint positions[POSITION_WORDS]) {
    uint shift = sh_shift;
    uint subgroups = subgroups_per_row();
    if (subgroups == 1) {
        rank_row(keys, shift, mask, by_ballots, positions);
        return;
    }
    for (uint i = 0; i < subgroups; ++i) {
        if (i == subgroup_id() % subgroups) rank_row(keys, shift, mask, by_ballots, positions);
        barrier();
    }
}

uint position_of(uint positions[POSITION_WORDS], uint k) { return positions[k / 2] >> (k & 1) * 16 & 0xffffu; }

// Stores a word of each item at its position in sh_keys. Barriers before and after.
void store_at_positions(uint words[ITEMS], uint positions[POSITION_WORDS]) {
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[padded_position(position_of(positions, k))] = words[k];
}
