// That a tile whose ranks were taken in the order of shared memory is ordered as it should be; and what orders it where it is not.
//
// By keys: a tile comes sorted by all bits below its digit's, so one that is stably ordered by its digit is sorted by those and the digit's
// together; and keys of one word that are sorted by all of their bits show no other order among equals.
//
// By places, whatever the items are and whatever they are sorted by: each place tells its digit and, below, where in the tile its item came
// from. These words rise from place to place if the tile is stably ordered, and only then. Keys stay in registers meanwhile and go to
// their places afterwards.

// Threads that look back for no digit do it meanwhile, where there are such and they are whole subgroups.
const uint PROVERS = BINS == RADIX && THREADS > BINS ? THREADS - BINS : THREADS;
// Neighbouring places of a thread: an odd number, which sends threads to different banks.
const uint PROVEN_PLACES = (TILE - 1) / PROVERS + 1 | 1;
// Places that are read together.
const uint PROVEN_AT_ONCE = 8;

// The bits of what lies in the tile that it is sorted by once it is ordered.
uint sorted_bits() { return BY_PLACES ? 0xffffffffu : 0xffffffffu >> (32 - (args.digit >> 16) - digit_shift()); }

// Barrier before: keys have gone to their places. Barrier after: before it is asked whether they are out of order.
void prove_order(uint valid) {
    if (!PROVES || thread_id() < THREADS - PROVERS) return;
    uint prover = thread_id() - (THREADS - PROVERS);
    uint bits = sorted_bits();
    uint first = prover * PROVEN_PLACES;
    uint before = sh_keys[clamp(first, 1, TILE) - 1] & bits;
    bool wrong = false;
    for (uint from = first; from < min(first + PROVEN_PLACES, TILE); from += PROVEN_AT_ONCE) {
        uint keys[PROVEN_AT_ONCE];
        [[unroll]] for (uint i = 0; i < PROVEN_AT_ONCE; ++i) keys[i] = sh_keys[min(from + i, TILE - 1)] & bits;
        [[unroll]] for (uint i = 0; i < PROVEN_AT_ONCE; ++i) {
            wrong = wrong || before > keys[i];
            before = keys[i];
        }
    }
    // The pads of the last tile, which equal the largest key, stay behind all keys. (They come from behind all keys.)
    for (uint place = min(valid, TILE) + prover; !BY_PLACES && place < TILE; place += PROVERS) wrong = wrong || sh_keys[place] != PAD;
    if (wrong) sh_out_of_order = 1;
}

// Ranks a tile again, by ballots, that is out of order: from the counters, which ranking has left at the end of each row's places, and so from
// the last key on. Barrier before: prove_order.
//
// Hardly any tile comes here, but every pipeline has to be compiled. So the ballots are a loop, and what it takes from registers and puts there goes
// through shared memory, each item through a word that no other thread touches.
void mend_order(Tile tile, Move move, uint keys[ITEMS], inout uint places[PLACE_WORDS]) {
    if (!PROVES || sh_out_of_order == 0) return;
    if (BY_PLACES) {
        // From shared memory as well: see rank_keys.
        uint shift = sh_shift;
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[striped(k)] = digit_of(keys[k], shift, digit_mask());
        [[dont_unroll]] for (uint k = ITEMS; k-- > 0;) sh_keys[striped(k)] = rank_key_from_end(sh_keys[striped(k)]);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) set_place(places, k, sh_keys[striped(k)]);
        barrier();
        return;
    }
    uint first = tile.index * TILE;
    Plane source = source_plane(tile.problem, 0, move, tile.count);
    [[dont_unroll]] for (uint k = ITEMS; k-- > 0;) {
        uint i = first + striped(k);
        uint key = PAD;
        if (striped(k) < tile.count - first) {
            if (move.first) key = load_encoded(tile.problem, 0, move, tile.count, i);
            else key = load_strided(source, i);
        }
        uint place = rank_key_from_end(counter_of(digit_of(key, digit_shift(), digit_mask())));
        sh_keys[place] = key;
    }
    barrier();
}
