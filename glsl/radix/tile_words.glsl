// Words of each tile in scratch; in merges, words of each window.

PROBLEM_MEMBER(uint, tile_words)

// Not for the ring, which all problems share.
uint tile_words_part(uint p) {
    uint part = problem_tile_words(p);
    if (SEGMENTS) part += segment_first_tile * PARTS_A_DIGIT;
    return part;
}

Words tile_words_of(uint p) { return Words(scratch_part(tile_words_part(p))); }
