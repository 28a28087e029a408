// Verifies the order of tiles that atomic counters have ranked. Tiles that are out of order are ranked again, by
// ballots.
//
// By keys: the tile arrives sorted by all bits below the digit. After a stable ranking by the digit, it is sorted by
//          those bits and the digit together. Only for keys without values that are sorted by all their bits: equal
//          keys are then identical, and their order does not matter.
//
// By source index, for all other items: each position holds the digit and the source index of its item in the tile.
// These words increase from position to position if and only if the ranking is stable. Keys stay in registers until
// then and are stored at their positions afterwards.

// Threads without a digit verify while the others look back, if they form whole subgroups.
const uint VERIFYING_THREADS = BINS == RADIX && THREADS > BINS ? THREADS - BINS : THREADS;
// Consecutive positions of a thread: an odd number, so that threads access different banks.
const uint VERIFIED_POSITIONS = (TILE - 1) / VERIFYING_THREADS + 1 | 1;
// Positions that a thread reads at a time.
const uint VERIFIED_AT_ONCE = 8;

// Returns the bits by which the words in sh_keys must be sorted.
uint verified_bits() {
    return BY_SOURCE_INDEX ? 0xffffffffu : 0xffffffffu >> (32 - (args.digit >> 16) - digit_shift());
}

// Sets sh_out_of_order if the tile is not in order. Barrier before: keys are at their positions. Barrier after: before
// sh_out_of_order is read.
void verify_order(uint valid) {
    if (!VERIFIES_ORDER || thread_id() < THREADS - VERIFYING_THREADS) return;
    uint verifier = thread_id() - (THREADS - VERIFYING_THREADS);
    uint bits = verified_bits();
    uint first = verifier * VERIFIED_POSITIONS;
    uint before = sh_keys[clamp(first, 1, TILE) - 1] & bits;
    bool wrong = false;
    for (uint from = first; from < min(first + VERIFIED_POSITIONS, TILE); from += VERIFIED_AT_ONCE) {
        uint keys[VERIFIED_AT_ONCE];
        [[unroll]] for (uint i = 0; i < VERIFIED_AT_ONCE; ++i) keys[i] = sh_keys[min(from + i, TILE - 1)] & bits;
        [[unroll]] for (uint i = 0; i < VERIFIED_AT_ONCE; ++i) {
            wrong = wrong || before > keys[i];
            before = keys[i];
        }
    }
    // Pads equal the largest key. In the last tile they must stay after all keys, as in the input.
    for (uint position = min(valid, TILE) + verifier; !BY_SOURCE_INDEX && position < TILE;
         position += VERIFYING_THREADS) {
        wrong = wrong || sh_keys[position] != PAD;
    }
    if (wrong) sh_out_of_order = 1;
}

// Ranks an out-of-order tile again, with ballots. After the first ranking, each counter is at the end of its positions,
// so keys are ranked from the last to the first. Barrier before: verify_order.
//
// Hardly any tile needs this, but every pipeline contains the code. A loop that is not unrolled keeps it small. Its
// operands pass through shared memory, each in a word that no other thread accesses.
void rerank_with_ballots(Tile tile, PassIo io, uint keys[ITEMS], inout uint positions[POSITION_WORDS]) {
    if (!VERIFIES_ORDER || sh_out_of_order == 0) return;
    if (BY_SOURCE_INDEX) {
        // From shared memory as well: see rank_keys.
        uint shift = sh_shift;
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[striped(k)] = digit_of(keys[k], shift, digit_mask());
        [[dont_unroll]] for (uint k = ITEMS; k-- > 0;) sh_keys[striped(k)] = rank_key_from_end(sh_keys[striped(k)]);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) set_position(positions, k, sh_keys[striped(k)]);
        barrier();
        return;
    }
    uint first = tile.index * TILE;
    Plane source = source_plane(tile.problem, 0, io, tile.count);
    [[dont_unroll]] for (uint k = ITEMS; k-- > 0;) {
        uint i = first + striped(k);
        uint key = PAD;
        if (striped(k) < tile.count - first) {
            if (io.first) key = load_encoded(tile.problem, 0, i);
            else key = load_strided(source, i);
        }
        uint position = rank_key_from_end(counter_of(digit_of(key, digit_shift(), digit_mask())));
        sh_keys[position] = key;
    }
    barrier();
}
