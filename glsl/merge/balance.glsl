// Balanced co-ranks, for operations that compare equal keys of both sequences in pairs. (Baxter, "Modern GPU", chapter
// "Set operations", 2013: balanced path.)
//
// A merge takes all copies of a key in A before those in B. The balanced order takes them alternately: the first copy
// in A, the first in B, the second in A, and so on; then the rest of the sequence with more copies. A diagonal that
// would part two copies of a pair moves forward by one item. So each pair lies between the same two diagonals.
//
// The includer defines load_sequence_key(sequences, of_a, index, key), which loads a key of A or of B, encoded.
// `sequences` is a number that it interprets.

// Returns whether the item of a sequence at `index` has this key.
bool has_key(uint sequences, bool of_a, uint index, uint key[KEY_WORDS]) {
    uint other[KEY_WORDS];
    load_sequence_key(sequences, of_a, index, other);
    return !comes_after(key, other) && !comes_after(other, key);
}

// Counts the copies of a key among the `most` items before `begin`, or with `forward` among the `most` items from
// `begin` on. The copies adjoin `begin`. Runs are mostly short, so the distance of the tested items doubles from 1 on;
// then a binary search follows.
uint count_copies(uint sequences, bool of_a, bool forward, uint begin, uint most, uint key[KEY_WORDS]) {
    uint run = 0;
    // The run is shorter than this.
    uint end = most + 1;
    bool doubles = true;
    for (uint step = 1; run + 1 < end;) {
        uint tried = doubles ? min(run + step, most) : run + (end - run) / 2;
        if (has_key(sequences, of_a, forward ? begin + tried - 1 : begin - tried, key)) {
            run = tried;
            step *= 2;
        } else {
            end = tried;
            doubles = false;
        }
    }
    return run;
}

// The numbers of items of A and of B before a diagonal.
struct Cut {
    uint a;
    uint b;
};

// Returns the balanced form of a co-rank: the cut of the same diagonal, or of the next one. `counts`: items of both
// sequences.
Cut balance(uint sequences, Cut cut, Counts counts) {
    // In a merge, all copies of a key in A precede those in B. So a diagonal can part a pair only if the next key of B
    // has a copy in A before the diagonal.
    if (cut.b >= counts.b) return cut;
    uint key[KEY_WORDS];
    load_sequence_key(sequences, false, cut.b, key);
    uint run_a = count_copies(sequences, true, false, cut.a, cut.a, key);
    if (run_a == 0) return cut;
    uint run_b = count_copies(sequences, false, false, cut.b, cut.b, key);

    // 1. B has half of the copies before the diagonal, or all its copies if these are fewer. A has the others.
    uint run = run_a + run_b;
    uint wanted_b = max(run / 2, run_b);
    uint after = min(wanted_b + 1 - run_b, counts.b - cut.b);
    uint all_b = run_b + count_copies(sequences, false, true, cut.b, after, key);
    uint taken_b = min(wanted_b, all_b);
    uint taken_a = run - taken_b;

    // 2. The last copy in A brings its counterpart along.
    if (taken_a > taken_b && taken_b < all_b) taken_b += 1;
    cut.a = cut.a - run_a + taken_a;
    cut.b = cut.b - run_b + taken_b;
    return cut;
}
