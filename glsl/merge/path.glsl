// Merge path of two sorted runs in shared memory. (Green, McColl and Bader, "GPU merge path: a GPU merging algorithm",
// 2012.)
//
// Of equal keys, those of the first run come first, so the merge is stable. The includer defines MERGED_WORDS,
// comes_after(a, b), and load_item(position, item), which loads the item at a position of shared memory.

// Returns how many of the first `diagonal` items of a merge come from run [a, a + a_count) (co-rank). The others come
// from run [b, b + b_count).
uint co_rank(uint diagonal, uint a, uint a_count, uint b, uint b_count) {
    uint low = diagonal > b_count ? diagonal - b_count : 0;
    uint high = min(diagonal, a_count);
    while (low < high) {
        uint middle = (low + high) / 2;
        uint item_a[MERGED_WORDS];
        uint item_b[MERGED_WORDS];
        load_item(a + middle, item_a);
        load_item(b + diagonal - 1 - middle, item_b);
        if (comes_after(item_a, item_b)) high = middle;
        else low = middle + 1;
    }
    return low;
}

// Advances the run that an item was taken from, and loads the next item of that run. Both runs share a single load, so
// lanes do not wait for one another. `last`: the last position.
void take_item(
    bool takes_b, inout uint a_next, inout uint b_next, uint last, inout uint item_a[MERGED_WORDS],
    inout uint item_b[MERGED_WORDS]
) {
    if (takes_b) b_next += 1;
    else a_next += 1;
    uint next[MERGED_WORDS];
    load_item(min(takes_b ? b_next : a_next, last), next);
    [[unroll]] for (uint w = 0; w < MERGED_WORDS; ++w) {
        item_a[w] = takes_b ? item_a[w] : next[w];
        item_b[w] = takes_b ? next[w] : item_b[w];
    }
}
