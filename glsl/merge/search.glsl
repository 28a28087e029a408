// Searches for co-ranks among keys in device memory. The co-rank of a diagonal d is the number of items of A among the
// first d items of the merged output. The other d - co-rank items are the first ones of B.

// The range [low, high] that contains a co-rank.
struct Bounds {
    uint low;
    uint high;
};

Bounds bounds_of(uint diagonal, Counts counts) {
    Bounds bounds;
    bounds.low = diagonal > counts.b ? diagonal - counts.b : 0;
    bounds.high = min(diagonal, counts.a);
    return bounds;
}

// Returns whether item `i` of A is among the first `diagonal` items of the output. It is, unless item diagonal - 1 - i
// of B precedes it: equal keys of A come first. True for all items before the co-rank, false from there on.
bool is_among(uint p, uint diagonal, uint i) {
    uint key_a[KEY_WORDS];
    uint key_b[KEY_WORDS];
    load_key(problem_keys_a(p), i, key_a);
    load_key(problem_keys_b(p), diagonal - 1 - i, key_b);
    return !comes_after(key_a, key_b);
}

// Returns the co-rank of a diagonal, by binary search.
uint search_co_rank(uint p, uint diagonal, Bounds bounds) {
    while (bounds.low < bounds.high) {
        uint middle = bounds.low + (bounds.high - bounds.low) / 2;
        if (is_among(p, diagonal, middle)) bounds.low = middle + 1;
        else bounds.high = middle;
    }
    return bounds.low;
}

// The search ranges of two co-ranks. Half 0 of the workgroup narrows range 0, half 1 range 1.
shared uint sh_low[2];
shared uint sh_high[2];

// Finds the co-ranks of two diagonals: sh_low[0] and sh_low[1]. The whole workgroup must call it, and its number of
// threads is even. On return, all threads may read the results. A barrier must precede another call.
//
// Each half of the workgroup searches for one co-rank. In each round, its threads test candidates at equal distances,
// and the range shrinks to the candidates between two of them. With halves of 64 threads, a range of 2^28 candidates
// takes five rounds.
void search_co_ranks(uint p, uint first_diagonal, uint second_diagonal, Counts counts) {
    const uint HALF = THREADS / 2;
    uint side = thread_id() / HALF;
    uint thread = thread_id() % HALF;
    uint diagonal = side == 0 ? first_diagonal : second_diagonal;
    if (thread == 0) {
        Bounds bounds = bounds_of(diagonal, counts);
        sh_low[side] = bounds.low;
        sh_high[side] = bounds.high;
    }
    barrier();
    while (sh_low[0] < sh_high[0] || sh_low[1] < sh_high[1]) {
        uint low = sh_low[side];
        // Bounds cross only in sequences that are not sorted.
        uint candidates = max(sh_high[side], low) - low;
        // All threads have read the bounds before one changes them.
        barrier();
        // Does not overflow: the offset is below candidates + HALF, and far below candidates if these are near 2^32.
        uint offset = thread * tiles_of(candidates, HALF);
        if (offset < candidates) {
            if (is_among(p, diagonal, low + offset)) atomicMax(sh_low[side], low + offset + 1);
            else atomicMin(sh_high[side], low + offset);
        }
        barrier();
    }
}
