// Clears the look-back state, in the kernel that runs before the passes.

layout(constant_id = SPEC_SCAN) const uint SCAN = 0;
layout(constant_id = SPEC_RING_ENTRIES) const uint RING_ENTRIES = 1024;

// Clears the descriptors of `tiles` tiles, from this one on.
void clear_look_back(Tile tile, uint tiles) {
    Words words = tile_words_of(tile.problem);
    for (uint i = thread_id(); i < tiles * LOOK_BACK_ROW; i += THREADS) words.v[tile.index * LOOK_BACK_ROW + i] = 0;
}

// Clears the ring, together with all other workgroups of the dispatch.
void clear_ring() {
    Words words = Words(scratch_part(problem_tile_words(0)));
    uint step = gl_NumWorkGroups.x * gl_NumWorkGroups.y * THREADS;
    for (uint i = linear_group() * THREADS + thread_id(); i < RING_ENTRIES * BINS * 2; i += step) words.v[i] = 0;
}

// Workgroup 0: writes the status and clears the tickets. Only without a prepare pass, which otherwise does both.
void write_status_and_clear_tickets() {
    if (linear_group() != 0) return;
    for (uint i = thread_id(); i < ticket_words(); i += THREADS) tickets().v[i] = 0;
    if (thread_id() == 0) write_status(0);
}
