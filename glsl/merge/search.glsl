// Searches for co-ranks among keys in device memory. The co-rank of a diagonal d is the number of items of A among the
// first d items of the merged output. The other d - co-rank items are the first ones of B.

// Bounds of a co-rank, both inclusive. The items [low, high) of A are the candidates of its search.
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

// The bounds within the segment of a diagonal, if the includer has segments (merge/segments.glsl).
Bounds own_bounds_of(uint p, uint diagonal, Counts counts) {
    Bounds bounds = bounds_of(diagonal, counts);
#ifdef MERGE_DETAIL
    if (SEGMENTED) {
        uint segment = find_segment(p, diagonal, counts, 0, segments_of(p) / 2 + 1);
        Counts start = segment_start(p, segment, counts);
        Counts end = segment_start(p, segment + 1, counts);
        // Offsets of segments that are not sorted may leave the bounds.
        bounds.low = clamp(max(start.a, diagonal - min(diagonal, end.b)), bounds.low, bounds.high);
        bounds.high = clamp(min(end.a, diagonal - min(diagonal, start.b)), bounds.low, bounds.high);
    }
#endif
    return bounds;
}

// Returns whether item `i` of A is among the first `diagonal` items of the output. It is, unless item diagonal - 1 - i
// of B precedes it: equal keys of A come first. True for all items before the co-rank, false from there on. Both items
// exist if `i` is a candidate (bounds_of).
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

// Teams of threads each search for a co-rank. Team t narrows the range [sh_low[t], sh_high[t]]. The includer defines
// MOST_TEAMS.
shared uint sh_low[MOST_TEAMS];
shared uint sh_high[MOST_TEAMS];

// Finds the co-rank of a diagonal for each of the first MOST_TEAMS teams of 2^log2_members threads: sh_low[team]. The
// whole workgroup must call it, with the same `most`: no range has more candidates. On return, all threads may read the
// results. A barrier must precede another call.
//
// In each round, the threads of a team test candidates at equal distances, and the range shrinks to the candidates
// between two of them: by the number of threads, which is a power of two, or by half for a single thread. The last
// thread of several has no candidate to test. With 64 threads, a range of 2^28 candidates takes five rounds. All
// threads run the rounds of `most`, so that they reach the same barriers. Tests are monotonic (is_among), so atomicMax
// and atomicMin leave the same range in any order.
void search_co_ranks(uint p, uint log2_members, uint diagonal, Bounds bounds, uint most) {
    uint team = thread_id() >> log2_members;
    uint member = thread_id() & (1 << log2_members) - 1;
    uint log2_parts = max(log2_members, 1);
    bool searches = team < MOST_TEAMS;
    if (searches && member == 0) {
        sh_low[team] = bounds.low;
        sh_high[team] = bounds.high;
    }
    barrier();
    [[dont_unroll]] for (; most != 0; most >>= log2_parts) {
        uint low = searches ? sh_low[team] : 0;
        // Bounds cross only in sequences that are not sorted.
        uint candidates = searches ? max(sh_high[team], low) - low : 0;
        // All threads have read the bounds before one changes them.
        barrier();
        uint offset = (member + 1) * ((candidates >> log2_parts) + 1) - 1;
        if (offset < candidates) {
            if (is_among(p, diagonal, low + offset)) atomicMax(sh_low[team], low + offset + 1);
            else atomicMin(sh_high[team], low + offset);
        }
        barrier();
    }
}

// Returns the co-ranks of two diagonals, by teams 0 and 1, which together have at most THREADS threads. The whole
// workgroup must call it. No range exceeds min(counts.a, counts.b).
Bounds search_both_co_ranks(uint p, uint log2_members, uint first_diagonal, uint second_diagonal, Counts counts) {
    uint diagonal = thread_id() >> log2_members == 0 ? first_diagonal : second_diagonal;
    search_co_ranks(p, log2_members, diagonal, own_bounds_of(p, diagonal, counts), min(counts.a, counts.b));
    // Not a constant: glslang compares constant indices with the size for the default number of threads.
    uint second = 1;
    Bounds found;
    found.low = sh_low[0];
    found.high = sh_low[second];
    return found;
}

// Binary logarithm of the number of threads of each of two teams of the whole workgroup.
uint log2_half() { return findMSB(THREADS / 2); }
