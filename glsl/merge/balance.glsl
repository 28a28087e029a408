// Balanced co-ranks, for operations that compare equal keys of both sequences in pairs. (Baxter, "Modern GPU", chapter
// "Set operations", 2013: balanced path.)
//
// A merge takes all copies of a key in A before those in B. The balanced order takes them alternately: the first copy
// in A, the first in B, the second in A, and so on; then the rest of the sequence with more copies. So the copies of a
// pair are neighbors.

#include "merge/equal_keys.glsl"

// The numbers of items of A and of B before a diagonal.
struct Cut {
    uint a;
    uint b;
    bool parts_pair;  // the last item of A before the diagonal and the next one of B are a pair
};

// Returns the balanced cut of a diagonal. `a`: its co-rank in the merge. `counts`: items of both sequences.
Cut balanced_cut(uint sequences, uint diagonal, uint a, Counts counts) {
    Cut cut;
    cut.a = a;
    cut.b = diagonal - a;
    cut.parts_pair = false;
    // In a merge, all copies of a key in A precede those in B. So orders differ only if the next key of B has a copy in
    // A before the diagonal.
    if (cut.b >= counts.b) return cut;
    uint key[KEY_WORDS];
    load_sequence_key(sequences, false, cut.b, key);
    uint run_a = count_copies(sequences, true, false, cut.a, cut.a, key);
    if (run_a == 0) return cut;
    uint run_b = count_copies(sequences, false, false, cut.b, cut.b, key);

    // B has half of the copies before the diagonal, but at most all its copies, and at least those that exceed A's. A
    // has the others.
    uint run = run_a + run_b;
    uint wanted_b = max(run / 2, run_b);
    uint after = min(wanted_b + 1 - run_b, counts.b - cut.b);
    uint all_b = run_b + count_copies(sequences, false, true, cut.b, after, key);
    uint taken_b = min(wanted_b, all_b);
    uint taken_a = run - taken_b;
    cut.a = cut.a - run_a + taken_a;
    cut.b = cut.b - run_b + taken_b;
    cut.parts_pair = taken_a > taken_b && taken_b < all_b;
    return cut;
}
