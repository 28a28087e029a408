// Runs of equal keys in a sorted sequence.
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
