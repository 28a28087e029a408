// Chunks of reduce-then-scan. A workgroup counts the tiles of a chunk one after the other, and stores for each tile the
// counts of the preceding ones. The row of a chunk's first tile is therefore free for the counts of the whole chunk, as
// far as it belongs to the same problem. The spine scans these rows.

// For a single problem with its count in device memory, chunks shrink with the actual count: the number of counting
// workgroups stays the same.
uint chunk_tiles() {
    uint tiles = args.chunk;
    // (If flattened, every thread would do two divisions.)
    [[dont_flatten]] if (SINGLE && DIRECT && !is_null(problem_count(0))) {
        uint groups = tiles_of(tiles_of(problem_max_count(0), TILE), args.chunk);
        tiles = max(tiles_of(tiles_of(requested_count(0), TILE), max(groups, 1)), 1);
    }
    return tiles;
}

// Returns the tile of the same problem whose row holds the counts of the chunk. `line`: global tile index.
uint first_of_chunk(Tile tile, uint line) { return tile.index - min(line % chunk_tiles(), tile.index); }
