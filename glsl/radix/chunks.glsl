// Chunks of a reduce-then-scan pass. A chunk is a number of consecutive tiles that one workgroup counts, one after the
// other. For each tile, the workgroup stores a row of BINS counts: those of the preceding tiles of the chunk. For the
// first tile of a chunk these are zero, so its row holds the counts of the whole chunk instead. The spine scans the
// rows of the first tiles.
//
// If a chunk contains tiles of several problems, each problem has such a row for its share of the chunk.

// Returns the number of tiles of a chunk. For a single problem with its count in device memory, chunks shrink with the
// actual count: the number of counting workgroups stays the same.
uint chunk_tiles() {
    uint tiles = args.chunk;
    // Not flattened: every thread would do two divisions.
    [[dont_flatten]] if (SINGLE && DIRECT && !is_null(problem_count(0))) {
        uint groups = tiles_of(tiles_of(problem_max_count(0), TILE), args.chunk);
        tiles = max(tiles_of(tiles_of(requested_count(0), TILE), max(groups, 1)), 1);
    }
    return tiles;
}

// Returns the index of the tile whose row holds the counts of the chunk: the first tile of the chunk that belongs to
// the same problem. `global_tile`: index of `tile` among the tiles of all problems.
uint first_of_chunk(Tile tile, uint global_tile) {
    return tile.index - min(global_tile % chunk_tiles(), tile.index);
}
